"""What `dpaudit plan` says: a block for each case, the time of all, and the same as JSON."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import NoReturn

import typer
from rich.text import Text

from dpaudit.cli.out_console import OutConsole
from dpaudit.cli.run import code_of
from dpaudit.cli.terminal import complain, say
from dpaudit.engine.planned import WORKERS, PlannedCase, planned
from dpaudit.errors import ReportError
from dpaudit.plans.command import command_line
from dpaudit.plans.request import Request
from dpaudit.report.files import STDOUT
from dpaudit.report.numbers import count, in_bytes, upper
from dpaudit.report.terminal_text import Rows, columns
from dpaudit.results.reasons import duration
from dpaudit.whole_files import write_file

FORMAT_VERSION = "1.0"
"""Of the JSON; fields are added, not renamed."""
_END = (
    "Expected times are of the samples, if nothing is refuted; a refuted claim ends sooner. What dpaudit computes from "
    "samples, exact output distributions and proofs come on top."
)


def finish_plan(request: Request, json: str | None) -> NoReturn:
    """Plan, show every case as soon as it is measured, write, and exit: with 0, unless a mechanism failed."""
    out = OutConsole(stderr=json == STDOUT)
    cases = []
    for case in planned(request):
        cases.append(case)
        out.print(_block(case))
    out.print(_whole(cases))
    failures = [*out.failures, *_written(cases, request, json)]
    for failure in failures:
        complain(str(failure))
    codes = [case.failure.exit_code for case in cases if case.failure is not None]
    raise typer.Exit(code_of(failures, max(codes, default=0)))


def to_json(cases: Sequence[PlannedCase], request: Request) -> str:
    """The plan as JSON."""
    value = {
        "format_version": FORMAT_VERSION, "command": command_line(request), "cases": [
            {
                **asdict(case), "failure": None if case.failure is None else str(case.failure),
                "samples": case.samples,
                "seconds": {str(number): seconds for number, seconds in _seconds([case]).items()},
            }
            for case in cases
        ],
    }
    return f"{json_module.dumps(value, indent=2, ensure_ascii=False)}\n"


def _seconds(cases: Sequence[PlannedCase]) -> dict[int, float]:
    return {number: sum(case.seconds(number) for case in cases) for number in WORKERS}


def _written(cases: Sequence[PlannedCase], request: Request, json: str | None) -> list[ReportError]:
    if json == STDOUT:
        say(to_json(cases, request))
    elif json is not None:
        try:
            write_file(json, to_json(cases, request))
        except OSError as error:
            return [ReportError(f"Cannot write {json}: {error.strerror or error}.")]
    return []


def _block(case: PlannedCase) -> Rows:
    block = Rows(label_width=11)
    block.line(Text.assemble((case.name, "bold"), f" · {case.case}"), indent=0)
    block.labelled("claim", case.claim)
    if case.failure is not None:
        block.labelled("failed", str(case.failure))
    elif case.unsampled:
        block.labelled("samples", f"none: {case.unsampled}")
    else:
        block.labelled("samples", _samples(case))
        size = "" if case.size is None else f"; {in_bytes(case.size)} an output, {in_bytes(case.size * case.samples)}"
        block.labelled("a sample", f"{duration(case.pace)}, measured on {count(case.measured)}{size}")
        each = "one sample" if case.longest == 1 else f"{count(min(case.longest, case.runs))} samples"
        block.labelled("tasks", f"{count(case.tasks)} of {each}" if case.portable else (
            "none: its samples are drawn in this process, whatever the number of workers"
        ))
        if case.learning:
            block.labelled("power", _power(case))
        _times(block, _seconds([case]))
    block.line("")
    return block


def _samples(case: PlannedCase) -> str:
    if not case.learning:
        return f"{count(case.runs)} on each of {count(case.pairs)} kinds of inputs, {count(case.samples)} in all"
    pairs = "one pair" if case.pairs == 1 else f"each of {count(case.pairs)} pairs"
    found = f", and at most {count(case.search)} to find them" if case.search else ""
    return f"{count(case.runs)} per dataset of {pairs}{found}: {count(case.samples)} in all"


def _power(case: PlannedCase) -> str:
    if case.detectable is None:
        return "these samples detect no violation with probability 0.9"
    return (
        f"a violation of ε ≥ {upper(case.detectable)} is detected with probability 0.9, if an event of probability ½ "
        "has it; by a rarer one it must be larger"
    )


def _times(block: Rows, seconds: Mapping[int, float]) -> None:
    rows = [["workers", *(count(number) for number in seconds)], ["time", *map(duration, seconds.values())]]
    widths = [max(len(row[at]) for row in rows) for at in range(1, len(rows[0]))]
    # numbers are aligned on the right
    lines = columns([
        [row[0], *(cell.rjust(width) for cell, width in zip(row[1:], widths, strict=True))] for row in rows
    ])
    for number, line in enumerate(lines):
        block.line(Text(line, "" if number else "dim"))


def _whole(cases: Sequence[PlannedCase]) -> Rows:
    block = Rows(label_width=11)
    sampled = [case for case in cases if case.samples]
    if len(sampled) > 1:
        block.line(Text(f"{count(len(cases))} cases, one after another", "bold"), indent=0)
        block.labelled("samples", f"{count(sum(case.samples for case in sampled))} in all")
        _times(block, _seconds(sampled))
        block.line("")
    if sampled:
        block.line(_END, indent=0)
    return block
