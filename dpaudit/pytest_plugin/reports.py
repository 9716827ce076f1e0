"""The session's audits as one result, written as JSON and as a page."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from dpaudit.errors import ReportError
from dpaudit.pytest_plugin.record import Record
from dpaudit.pytest_plugin.settings import Settings
from dpaudit.report.report_dir import write_report
from dpaudit.results import json_form
from dpaudit.results.model import Audit, Result
from dpaudit.results.notes import MadeInTest


def write(folder: Path, records: Sequence[Record], *, command: str, settings: Settings) -> None:
    """Write index.html, its pages and result.json of all audits into a folder.

    Args:
        folder: made where it is not there.
        records: with their results.
        command: what to type to have the session again.
        settings: of the session.

    Raises:
        ReportError: they cannot be written.
    """
    result = together(records, command=command, settings=settings)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(f"Cannot write reports to {folder}: {error.strerror or error}.") from None
    write_report(folder, result)


def together(records: Sequence[Record], *, command: str, settings: Settings) -> Result:
    """One result of all audits, in the records' order; each is called by its test."""
    results = [
        (record, json_form.from_json(record.result, where=record.test))
        for record in records
        if record.result is not None
    ]
    if not results:
        raise ReportError("There is no audit to report.")
    first = results[0][1]
    seconds = [one.timings for _, one in results]
    return dataclasses.replace(
        first,
        seed=settings.seed,
        alpha=settings.alpha,
        audits=[_named(audit, record) for record, one in results for audit in one.audits],
        command=command,
        timings=dataclasses.replace(
            first.timings,
            started=min(one.started for one in seconds),
            seconds=sum(one.seconds for one in seconds),
            audits={key: value for one in seconds for key, value in one.audits.items()},
            unused=sum(one.unused for one in seconds),
        ),
    )


def _named(audit: Audit, record: Record) -> Audit:
    case = record.test if audit.case in ("given pairs", "found pairs") else f"{record.test} · {audit.case}"
    note = MadeInTest(record.alpha, record.again).record("pytest")
    return dataclasses.replace(audit, case=case, notes=[*audit.notes, note])
