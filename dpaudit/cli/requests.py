"""From the words of a command line to a request."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpaudit.engine.prior_evidence import evidence_of, recorded_prior, recordings_of
from dpaudit.errors import UsageError
from dpaudit.options import DATA, EVIDENCE, OPTIONS, PAIR
from dpaudit.plans.recorded_files import STDIN, follow, live, read_recorded
from dpaudit.plans.request import ComparisonSpec, Request, VerifyMode, WorstCaseMode
from dpaudit.report import files
from dpaudit.results.given_data import parse_pair, table_of
from dpaudit.subjects.command import Command
from dpaudit.subjects.recorded import RecordedFiles


def request_of(
    command: str, targets: Sequence[str | Command], given: Mapping[str, Any], *, only: str | None = "privacy"
) -> Request:
    """What a command asks for.

    Args:
        command: one of `dpaudit.options.OPTIONS`.
        targets: what it names.
        given: values of its options, by key, as the parser has them.
        only: "privacy" or "utility" for one of them alone; None for both.

    Raises:
        UsageError and its kinds: options that do not go together, or values that cannot be.
    """
    parts: dict[str, dict[str, Any]] = {"": {"targets": tuple(targets), "only": only}}
    if command == "compare":
        parts["comparison"] = {"name": targets[0]}
    for option in OPTIONS[command]:
        value = given[option.key]
        part, _, field = option.place.rpartition(".")
        parts.setdefault(part, {})[field] = _READ[option.kind](value) if option.kind in _READ else value
        if option.negates:
            parts[part][field] = not value
    own = parts.pop("")
    if command == "check":
        own |= _datasets(own.pop("pair"), own.pop("data"))
    if (words := parts.pop("recorded.words", None)) is not None:
        files_of = RecordedFiles(tuple(one for one in targets if isinstance(one, str)), **words)
        # where a number is planned, a stream is tested while it arrives, and needs no more than refutes
        streamed = files_of.files == (STDIN,) and own["runs"] is not None
        earlier = own.get("prior_from")
        before = None if earlier is None else files.read(earlier)
        used = [] if before is None else [one for audit in before.audits for one in recordings_of(audit)]
        if files_of.follow is not None:
            recorded = follow(files_of, used=used)
        else:
            recorded = live(files_of) if streamed else read_recorded(files_of, used=used)
        if before is not None and earlier is not None:
            if streamed:
                raise UsageError("{} needs a recording, and a stream is none; record it in a file.", EVIDENCE)
            own["prior"] = recorded_prior(before, recorded, where=earlier)
        # of a bound alone there is nothing to refute, and nothing to stop for
        certify = not streamed if files_of.follow is None else own["epsilon"] is None
        own |= {"recorded": recorded, "certify": certify, "targets": (recorded.name,)}
    own["jobs"] = workers(given.get("jobs")) if "jobs" in given else 1
    if (evidence := own.get("prior_from")) is not None and "prior" not in own:
        own["prior"] = evidence_of(files.read(evidence), where=evidence, seed=own["seed"])
    if command == "compare":
        parts["comparison"]["parameters"] = tuple(parts["comparison"]["parameters"].items())
    return Request(**own, **{part: _PARTS[part](**held) for part, held in parts.items()})


def _datasets(pair: tuple[str, str] | None, data: str | None) -> dict[str, object]:
    """--pair and --data as fields of a request.

    Raises:
        UsageError: both name files.
    """
    if pair is not None:
        if data is not None:
            raise UsageError("Give {} or {}, not both.", PAIR, DATA)
        given = parse_pair(*pair)
        return {"pair": given.datasets, "container": given.container, "files": given.files}
    table = table_of(data)
    if table is None:
        return {"data": data}
    return {"data": table.name, "table": table.records, "container": table.container}


def _parameters(texts: list[str] | None) -> dict[str, object]:
    return dict(parameter(text) for text in texts or ())


def _sizes(text: str | None) -> tuple[int, ...]:
    """ "100,1000" → (100, 1000), ascending."""
    try:
        return tuple(sorted({int(part) for part in (text or "").split(",") if part.strip() or text}))
    except ValueError:
        raise UsageError(f"--n takes whole numbers with commas between them, not {text!r}.") from None


def workers(jobs: int | None) -> int:
    """--jobs, or all cores."""
    return jobs if jobs is not None else os.cpu_count() or 1


def parameter(text: str) -> tuple[str, object]:
    """The name and the value of --param NAME=VALUE.

    Raises:
        UsageError: it is of another form.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise UsageError(f"--param takes NAME=VALUE, not {text!r}.")
    power = re.fullmatch(r"(\d{1,4})\*\*(\d{1,4})", value.strip())
    if power is not None:  # sizes of domains are written so
        return name.strip(), int(power[1]) ** int(power[2])
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return name.strip(), value.strip()


_READ: Mapping[str, Callable[[Any], object]] = {"parameters": _parameters, "sizes": _sizes}
"""From what the parser has to what a request has, by kind of option."""
_PARTS: Mapping[str, Callable[..., Any]] = {
    "verify": VerifyMode,
    "worst_case": WorstCaseMode,
    "comparison": ComparisonSpec,
}
