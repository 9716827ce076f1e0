"""`dpaudit stability`, from the words of the command line to the exit code."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NoReturn

import typer

from dpaudit.cli.out_console import show
from dpaudit.cli.run import code_of
from dpaudit.cli.terminal import complain, say
from dpaudit.engine import store
from dpaudit.engine.stability import check_stability
from dpaudit.errors import ReportError, UsageError
from dpaudit.options import DATA, OPTIONS, PAIR
from dpaudit.plans.stability import KIND, StabilityRequest
from dpaudit.report import files
from dpaudit.report.files import FileOutputs, Outputs
from dpaudit.report.progress import Watch, display_for
from dpaudit.report.stability import quiet_line, stability_block
from dpaudit.results.given_data import parse_pair, table_of
from dpaudit.results.plain import flat
from dpaudit.results.stability import StabilityRecord


def stability_request(target: str, given: Mapping[str, Any]) -> StabilityRequest:
    """What the command asks for.

    Raises:
        UsageError and its kinds: options that do not go together, or values that cannot be.
    """
    values: dict[str, Any] = {option.place: given[option.key] for option in OPTIONS[KIND]}
    pair, data = values["pair"], values["data"]
    if pair is not None and data is not None:
        raise UsageError("Give {} or {}, not both.", PAIR, DATA)
    if pair is not None:
        placed = parse_pair(*pair)
        values |= {"pair": placed.datasets, "container": placed.container, "files": placed.files}
    elif (table := table_of(data)) is not None:
        values |= {"data": table.name, "table": table.records, "container": table.container}
    return StabilityRequest(target=target, **values)


def finish_stability(request: StabilityRequest, outputs: FileOutputs, *, quiet: bool, verbose: bool) -> NoReturn:
    """Run, show, write, keep, and exit with the code of the verdict."""
    files.refuse_unwritable(outputs, _sources(request))
    result = _run(request, quiet=quiet)
    failures = _give(result, outputs, quiet=quiet, verbose=verbose)
    try:
        store.put([store.Stored(result.replay, result.name, result.command, request.to_json(), _kept(result))])
    except UsageError as error:
        complain(str(error))
    raise typer.Exit(code_of(failures, result.exit_code))


def replay_stability(kept: store.Stored, outputs: Outputs, *, quiet: bool, verbose: bool) -> NoReturn:
    """Run a stored audit again, and compare.

    Raises:
        UsageError: a report is asked for, which an audit of stability has not.
    """
    refuse_others(outputs)
    request = StabilityRequest.from_json(kept.request)
    files.refuse_unwritable(outputs, _sources(request))
    result = _run(request, quiet=quiet)
    failures = _give(result, outputs, quiet=quiet, verbose=verbose)
    same = _kept(result) == kept.audit
    print(flat("Reproduced: the same result." if same else "NOT reproduced: the result differs."), file=sys.stderr)
    raise typer.Exit(code_of(failures, result.exit_code if same else 4))


def report_stability(result: StabilityRecord, outputs: Outputs, *, quiet: bool, verbose: bool) -> NoReturn:
    """Show or write a result that `--json` wrote.

    Raises:
        UsageError: as `replay_stability` does.
    """
    refuse_others(outputs)
    raise typer.Exit(code_of(_give(result, outputs, quiet=quiet, verbose=verbose, shown=not outputs.named), 0))


def refuse_others(outputs: Outputs) -> None:
    """Refuse the reports that are of runs of many audits.

    Raises:
        UsageError: one is asked for.
    """
    for option in outputs.named:
        if option not in {f"--{one.name}" for one in fields(FileOutputs)}:
            raise UsageError(f"An audit of stability has no {option}; write it with --html, --json or another option.")


def _run(request: StabilityRequest, *, quiet: bool) -> StabilityRecord:
    steps = check_stability(request)
    with Watch(display_for(False if quiet else None)) as watch:
        while True:
            try:
                watch.on(next(steps))
            except StopIteration as end:
                record: StabilityRecord = end.value
                return record


def _give(
    result: StabilityRecord, outputs: FileOutputs, *, quiet: bool, verbose: bool, shown: bool = True
) -> list[ReportError]:
    """Show the result, unless a report takes stdout, and write it; what could not be written, which is said."""
    if shown and not outputs.take_stdout:
        if quiet:
            say(f"{quiet_line(result)}\n")
        else:
            show(stability_block(result, verbose=verbose))
    failures = files.write_stability(result, outputs)
    for failure in failures:
        complain(str(failure))
    return failures


def _kept(result: StabilityRecord) -> str:
    """The result as JSON, without what differs between two runs, and where the function is."""
    value = json_module.loads(result.to_json())
    return json_module.dumps({**value, "seconds": 0.0, "location": None})


def _sources(request: StabilityRequest) -> list[str]:
    named = [one for one in (request.target, request.read) if isinstance(one, str)]
    return [one.rpartition(":")[0] for one in named if ".py:" in one]
