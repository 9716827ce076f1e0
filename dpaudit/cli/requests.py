"""From the words of a command line to a request."""

from __future__ import annotations

import ast
import os
import re
from typing import Any

from dpaudit.engine.prior_evidence import evidence_of
from dpaudit.errors import UsageError
from dpaudit.plans import registry
from dpaudit.plans.request import Everything, Request, Seek, Versus
from dpaudit.report import files
from dpaudit.results.datasets import parse_dataset


def check_request(
    targets: list[str] | None,
    every: bool,
    corpus: bool,
    epsilon: float | None,
    delta: float | None,
    relation: str | None,
    pair: tuple[str, str] | None,
    data: str | None,
    size: int | None,
    param: list[str] | None,
    runs: int | None,
    time: float | None,
    call_time: float | None,
    alpha: float,
    certify: bool,
    bits: bool,
    min_power: float,
    black_box: bool,
    evidence: str | None,
    seed: int,
    jobs: int | None,
    privacy: bool,
    utility: bool,
    game: str | None,
    groups: int | None,
    **_: Any,
) -> Request:
    """What `dpaudit check` asks for; options that only say what to write are passed over.

    Raises:
        UsageError and its kinds: options that do not go together, or values that cannot be.
    """
    if sum((every, corpus, bool(targets))) > 1:
        raise UsageError("Give names, --all or --corpus, not several of them.")
    if privacy and utility:
        raise UsageError("--privacy and --utility each leave the other out; without both, both are audited.")
    whole = [group for group, wanted in ((registry.ALGORITHMS, every), (registry.CORPUS, corpus)) if wanted]
    carried = evidence_of(files.read(evidence), where=evidence, seed=seed) if evidence is not None else {}
    return Request(
        targets=tuple(registry.names(whole[0])) if whole else tuple(targets or ()),
        seed=seed,
        alpha=alpha,
        runs=runs,
        seconds=time,
        call_seconds=call_time,
        jobs=jobs if jobs is not None else os.cpu_count() or 1,
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        pair=None if pair is None else (parse_dataset(pair[0]), parse_dataset(pair[1])),
        data=data,
        size=size,
        parameters=dict(parameter(text) for text in param or ()),
        certify=certify,
        bits=bits,
        min_power=min_power,
        black_box=black_box,
        carried=carried,
        carried_from=evidence,
        game=game,
        only="privacy" if privacy else "utility" if utility else None,
        groups=groups,
    )


def verify_request(
    targets: list[str],
    domain: int | None,
    size: int,
    groups: int,
    data: str | None,
    ordered: bool,
    no_symmetries: bool,
    epsilon: float | None,
    delta: float | None,
    relation: str | None,
    param: list[str] | None,
    time: float | None,
    jobs: int | None,
    **_: Any,
) -> Request:
    """What `dpaudit verify` asks for.

    Raises:
        UsageError and its kinds: as for `check_request`.
    """
    return Request(
        targets=tuple(targets),
        seconds=time,
        jobs=jobs if jobs is not None else os.cpu_count() or 1,
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        data=data,
        parameters=dict(parameter(text) for text in param or ()),
        every=Everything(domain, size, groups, ordered, not no_symmetries),
    )


def worst_request(
    targets: list[str],
    domain: int | None,
    size: int,
    case: str | None,
    scores: bool,
    realised: bool,
    data: str | None,
    ordered: bool,
    pairs: int,
    epsilon: float | None,
    delta: float | None,
    relation: str | None,
    param: list[str] | None,
    time: float | None,
    seed: int,
    **_: Any,
) -> Request:
    """What `dpaudit worst` asks for.

    Raises:
        UsageError and its kinds: as for `check_request`.
    """
    return Request(
        targets=tuple(targets),
        seed=seed,
        seconds=time,
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        data=data,
        parameters=dict(parameter(text) for text in param or ()),
        seek=Seek(domain, size, case, scores, realised, pairs, ordered),
    )


def compare_request(
    name: str,
    n: str | None,
    param: list[str] | None,
    runs: int | None,
    time: float | None,
    alpha: float,
    seed: int,
    jobs: int | None,
    **_: Any,
) -> Request:
    """What `dpaudit compare` asks for.

    Raises:
        UsageError and its kinds: numbers of records that are none.
    """
    return Request(
        targets=(name,),
        seed=seed,
        alpha=alpha,
        runs=runs,
        seconds=time,
        jobs=jobs if jobs is not None else os.cpu_count() or 1,
        versus=Versus(name, _sizes(n), tuple(parameter(text) for text in param or ())),
    )


def _sizes(text: str | None) -> tuple[int, ...]:
    """ "100,1000" → (100, 1000), ascending."""
    try:
        return tuple(sorted({int(part) for part in (text or "").split(",") if part.strip() or text}))
    except ValueError:
        raise UsageError(f"--n takes whole numbers with commas between them, not {text!r}.") from None


def parameter(text: str) -> tuple[str, Any]:
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
