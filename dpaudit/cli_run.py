"""Run a request for the command line: show what comes, write the reports, keep the audits, find the exit code."""

from __future__ import annotations

import json as json_module
import os
import sys
from dataclasses import replace

import typer
from rich.console import Console

from dpaudit import config
from dpaudit.auditing import engine, store
from dpaudit.auditing.contest import timed
from dpaudit.auditing.events import CheckFinished
from dpaudit.auditing.jobs import contest_of
from dpaudit.auditing.request import Request
from dpaudit.auditing.results import Result
from dpaudit.auditing.stated import OWN_RANDOMNESS
from dpaudit.errors import ReportError, UsageError
from dpaudit.reporting import files, json_form
from dpaudit.reporting.console import ConsoleReporter
from dpaudit.reporting.contest import contest_block
from dpaudit.reporting.event_log import EventLog
from dpaudit.reporting.faults import exit_code
from dpaudit.reporting.files import Outputs


class OutConsole(Console):
    """A console whose reader may go away (`| head`): what follows is dropped, and reports are still written."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def finish(request: Request, outputs: Outputs, *, quiet: bool, expect: bool = False) -> None:
    """Run, show, write, keep, and exit with the code that the result asks for."""
    stdout_taken = outputs.take_stdout
    with EventLog(outputs) as log:
        result = run(request, log, quiet=quiet, stdout_taken=stdout_taken)
    if request.versus is not None and not result.interrupted:
        result = timed(contest_of(request.versus), request.versus, result)
        if not quiet and not stdout_taken:
            OutConsole().print(contest_block(result))
    failures = written(result, outputs, log, quiet=quiet, expect=expect, jobs=request.jobs)
    try:
        _keep(result)
    except UsageError as error:
        complain(str(error))
    for failure in failures:
        complain(str(failure))
    if result.interrupted:
        if quiet and stdout_taken:
            complain("Interrupted; the results of the audits that had ended are written.")
        raise typer.Exit(130)
    raise typer.Exit(2 if failures else exit_code(result, expect=expect))


def written(
    result: Result, outputs: Outputs, log: EventLog, *, quiet: bool, expect: bool = False, jobs: int = 1
) -> list[ReportError]:
    """Write the reports; what could not be written, the log of events among it, which is closed."""
    progress = None if quiet else Console(stderr=True)
    failures = files.write(result, outputs, expect=expect, jobs=jobs, progress=progress)
    return failures if log.failure is None else [log.failure, *failures]


def run(
    request: Request, log: EventLog, *, quiet: bool, stdout_taken: bool, only: str | None = None
) -> Result:
    """Run, show and log."""
    # what the report tells to type must not depend on the folder it is typed in
    request = replace(request, spelled=frozenset(config.read().values))
    out = OutConsole(stderr=stdout_taken)
    stream = engine.check(request, only=only)
    with ConsoleReporter(out, Console(stderr=True), quiet=quiet) as reporter:
        event = next(stream)
        while True:
            try:
                log.on(event)
                if not (stdout_taken and quiet):
                    reporter.on(event)
                if isinstance(event, CheckFinished):
                    return event.result
                event = next(stream)
            except KeyboardInterrupt:
                if isinstance(event, CheckFinished):
                    return replace(event.result, interrupted=True)
                # it came while something was shown: the engine ends the stream with what is finished
                event = stream.throw(KeyboardInterrupt)


def _keep(result: Result) -> None:
    texts = audit_texts(result)
    store.put(
        store.Stored(audit.replay, audit.name, result.command, text)
        for audit, text in zip(result.every, texts, strict=True)
    )


def audit_texts(result: Result) -> list[str]:
    """Every audit as JSON, for comparing one run with another."""
    value = json_form.to_object(result)
    # where a mechanism's text stands is no part of what was found
    found = ({**audit, "location": None} for audit in (*value["audits"], *value["utility"]))
    return [json_module.dumps(audit) for audit in found]


def compared(result: Result, kept: str) -> tuple[bool, str]:
    """Whether a replayed audit came out as the kept one (its JSON), and what to say of it.

    Of a function whose randomness is its own the verdict is all that can be the same.
    """
    if audit_texts(result) == [kept]:
        return True, "Reproduced: the same result."
    (audit,) = result.every
    if not any(OWN_RANDOMNESS in note for note in audit.notes):
        return False, "NOT reproduced: the result differs."
    before, now = json_module.loads(kept)["verdict"], audit.verdict.value
    if before == now:
        return True, (
            f"Not reproduced: {audit.name} draws its randomness itself, so that the numbers differ; the verdict is "
            f"{now} again."
        )
    return False, (
        f"NOT reproduced: the verdict was {before} and is {now}; {audit.name} draws its randomness itself, so that no "
        "two audits of it have the same runs."
    )


def complain(message: str) -> None:
    """One sentence on stderr."""
    print(f"dpaudit: {message}", file=sys.stderr)
