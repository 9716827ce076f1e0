"""Run a request for the command line: show what comes, write the reports, keep the audits, find the exit code."""

from __future__ import annotations

import contextlib
import json as json_module
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import typer
from rich.console import Console

from dpaudit import config
from dpaudit.cli.out_console import OutConsole
from dpaudit.cli.terminal import complain
from dpaudit.engine import orchestrator, store
from dpaudit.engine.resumed import resumed
from dpaudit.errors import ReportError, UsageError
from dpaudit.plans.request import Request
from dpaudit.report import files
from dpaudit.report.comparison import comparison_block
from dpaudit.report.console import ConsoleReporter
from dpaudit.report.event_log import EventLog
from dpaudit.report.files import Outputs
from dpaudit.results import json_form
from dpaudit.results.faults import exit_code
from dpaudit.results.model import Result
from dpaudit.results.notes import Interrupted, OwnRandomness
from dpaudit.results.stream import AuditFinished, AuditStarted, CheckFinished, CheckStarted, Event
from dpaudit.supervision import AUDITING, WRITING, Supervised, supervised


def finish(
    request: Request, outputs: Outputs, *, quiet: bool, verbose: bool = False, expect: bool = False,
    only: str | None = None,
) -> None:
    """Run, show, write, keep, and exit with the code that the result asks for.

    Args:
        only: the replay id of the one audit to run.
    """
    stdout_taken = outputs.take_stdout
    afterwards: list[Callable[[], None]] = []
    with EventLog(outputs) as log:
        result, failures = run(
            request, log, quiet=quiet, verbose=verbose, stdout_taken=stdout_taken, only=only, afterwards=afterwards
        )
    if request.comparison is not None and not result.interrupted and not quiet and not stdout_taken and not failures:
        out = OutConsole()
        out.print(comparison_block(result))
        failures += out.failures
    # first: drawing a report may take minutes, in which much may happen
    try:
        _keep(request, result)
    except UsageError as error:
        complain(str(error))
    failures += written(
        result, outputs, log, quiet=quiet, expect=expect, jobs=request.jobs, evidence=request.prior_from
    )
    for failure in failures:
        complain(str(failure))
    if not failures:
        # where a report could not be written, the same command writes it at once from what is kept
        for step in afterwards:
            step()
    if result.interrupted:
        if quiet and stdout_taken:
            complain("Interrupted; the results of finished audits are written.")
        raise typer.Exit(130)
    raise typer.Exit(code_of(failures, exit_code(result, expect=expect)))


def code_of(failures: Sequence[ReportError], code: int) -> int:
    """The exit code: that of the verdicts, but 2 where a report could not be written, and 4 where anything crashed."""
    codes = {failure.exit_code for failure in failures}
    return 4 if 4 in (code, *codes) else 2 if codes else code


def written(
    result: Result, outputs: Outputs, log: EventLog, *, quiet: bool, expect: bool = False, jobs: int = 1,
    evidence: str | None = None,
) -> list[ReportError]:
    """Write the reports; what could not be written, the log of events among it, which is closed."""
    progress = None if quiet else Console(stderr=True)
    failures = files.write(result, outputs, expect=expect, jobs=jobs, progress=progress, evidence=evidence)
    return failures if log.failure is None else [log.failure, *failures]


def run(
    request: Request, log: EventLog, *, quiet: bool, stdout_taken: bool, verbose: bool = False,
    only: str | None = None, afterwards: list[Callable[[], None]] | None = None,
) -> tuple[Result, list[ReportError]]:
    """Run, show and log: the result, and why it could not be shown to the end where it could not.

    Args:
        only, afterwards: as of `orchestrator.check`.
    """
    # what the report tells to type must not depend on the folder it is typed in
    request = replace(request, spelled=frozenset(config.read().values))
    out = OutConsole(stderr=stdout_taken)
    one = supervised()
    before = one.before if one is not None else None
    known = resumed(before)
    if before is not None:
        log.go_on(before.lines)
    with (
        contextlib.closing(
            orchestrator.check(request, only=only, resumed=known, afterwards=afterwards)
        ) as stream,
        ConsoleReporter(out, Console(stderr=True), quiet=quiet, verbose=verbose) as reporter,
    ):
        event = next(stream)
        while True:
            try:
                if known.reported(event):
                    reporter.count(event)
                else:
                    log.on(event)
                    if not (stdout_taken and quiet):
                        reporter.on(event)
                if one is not None:
                    _tell(one, event, log.written, kept=known.reported(event))
                if isinstance(event, CheckFinished):
                    return event.result, out.failures
                event = next(stream)
            except KeyboardInterrupt:
                if isinstance(event, CheckFinished):
                    return replace(event.result, interrupted=True), out.failures
                # it came while something was shown: the engine ends the stream with what is finished
                event = stream.throw(KeyboardInterrupt)


def _tell(one: Supervised, event: Event, lines: int, *, kept: bool) -> None:
    """Tell the supervisor what runs now, and what has ended."""
    match event:
        case CheckStarted():
            one.tell(phase=AUDITING)
        case AuditStarted():
            one.running(replay=event.replay, name=f"{event.name} ({event.case})" if event.case else event.name)
        case AuditFinished():
            one.running()
            if not kept:
                one.keep(pickle.dumps((event.audit, event.seconds)))
        case CheckFinished():
            one.tell(phase=WRITING)
    one.tell(lines=lines)


def _keep(request: Request, result: Result) -> None:
    texts, asked = audit_texts(result), request.to_json()
    store.put(
        store.Stored(audit.replay, audit.name, result.command, asked, text)
        for audit, text in zip(result.every, texts, strict=True)
    )


def audit_texts(result: Result) -> list[str]:
    """Every audit as JSON, for comparing one run with another."""
    value = json_form.to_object(result)
    return [json_module.dumps(_comparable(audit)) for audit in (*value["audits"], *value["utility"])]


def _comparable(audit: dict[str, Any]) -> dict[str, Any]:
    """An audit without what is not part of its result.

    This is the location of the mechanism, the state of the cache, and the key of its code, which is random where the
    code is not known.
    """
    made = {**audit, "location": None}
    if made.get("proof"):
        made["proof"] = {**made["proof"], "cache": ""}
    if made.get("sequential"):
        made["sequential"] = {**made["sequential"], "key": ""}
    return made


def compared(result: Result, kept: str) -> tuple[bool, str]:
    """Whether a replayed audit equals the stored one (its JSON), and a sentence about it.

    For a function with its own randomness, only the verdict can be reproduced.
    """
    (audit,) = result.every
    new, old = (_comparable(json_module.loads(text)) for text in (*audit_texts(result), kept))
    # as texts: a NaN equals itself
    if json_module.dumps(new) == json_module.dumps(old):
        return True, "Reproduced: the same result."
    before, now = old["verdict"], audit.verdict.value
    if any(note.code == OwnRandomness.code for note in audit.notes):
        why = f"{audit.name} draws its randomness itself"
    elif any(note["values"].get("assumption") == "seeded" for note in new["notes"]):
        why = f"not all of the randomness of {audit.name} follows the seed"
    elif any(note["values"].get("by_the_clock") for note in (*new["notes"], *old["notes"])):
        interrupted = any(note["code"] == Interrupted.code for note in (*new["notes"], *old["notes"]))
        clock = "the time that its calls take, or the search for pairs, depends on the machine"
        why = "one of them was interrupted" if interrupted else clock
    else:
        return False, "NOT reproduced: the result differs."
    if before == now:
        return True, f"Not reproduced: {why}, so the numbers differ; the verdict is {now} again."
    return False, (
        f"NOT reproduced: the verdict was {before} and is {now}; {why}, so no two audits have the same samples."
    )
