"""The command line that a request corresponds to."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from dpaudit.options import OPTIONS, Option
from dpaudit.plans.registry import in_catalogue
from dpaudit.plans.request import Request
from dpaudit.results.datasets import dataset_to_json, json_text


def command_of(request: Request) -> str:
    """The command that makes such requests: "check", "verify", "worst" or "compare"."""
    return next((name for name, part in _PARTS.items() if getattr(request, part) is not None), "check")


_PARTS_CHECKED = {"privacy": (), "utility": ("--utility",), None: ("--privacy", "--utility")}
"""What of an algorithm of the catalogue is audited, by the field `only`."""
_PARTS = {"verify": "verify", "worst": "worst_case", "compare": "comparison"}


def command_line(request: Request) -> str:
    """What to type to get the same result again (number of workers and report files left out).

    Of several pairs, which only Python can give, it names the first: the worst of those that were found.
    """
    if request.call is not None:
        return request.call
    command = command_of(request)
    words = ["dpaudit", command]
    words += [t if isinstance(t, str) else getattr(t, "__name__", type(t).__name__) for t in request.targets]
    for option in OPTIONS[command]:
        if not option.silent:
            words += option_words(option, request)
    if command == "check":
        words += _PARTS_CHECKED[request.only] if any(map(in_catalogue, request.targets)) else ()
    return shlex.join(words)


def option_words(option: Option, request: Any) -> Iterator[str]:
    """The option and its value, where it has to be named."""
    value: Any = request
    for part in option.place.split("."):
        value = getattr(value, part)
    # a project may have set another default than dpaudit's
    named = option.always or option.key in request.spelled
    match option.kind:
        case "pair":
            if request.files:
                yield from (option.flag, *request.files)
            elif request.given_pairs:
                yield from (option.flag, *(json_text(dataset_to_json(dataset)) for dataset in request.given_pairs[0]))
        case "parameters":
            for name, given in value.items() if isinstance(value, dict) else value:
                # a text is quoted, so that "1" does not come back as 1
                yield from (option.flag, f"{name}={given!r}")
        case "sizes":
            if value:
                yield from (option.flag, ",".join(map(str, value)))
        case "flag":
            if bool(value) != option.negates:
                yield option.flag
            elif named and option.off:
                yield f"--no-{option.flag.removeprefix('--')}"
        case _:
            if value is not None and (named or value != option.default):
                yield from (option.flag, repr(float(value)) if option.kind == "number" else str(value))
