"""The events of a run as NDJSON: one JSON object a line, in order, each with a number and the version of this form.

The same request gives the same lines, but for `seconds` and `timings`, and for progress where several workers take
their cases as they come. The engine reports progress some twenty to seventy times an audit, each time after more
samples than the last; nothing is left out by the clock.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import TypeAlias

import msgspec

from dpaudit.results import json_form, stream
from dpaudit.results.kinds import Count, NonNegative, Probability, Version
from dpaudit.results.model import Audit, Header, UtilityAudit
from dpaudit.results.plain import in_json

EVENT_VERSION = "2.0"
"""Version of this form, major.minor, apart from that of the results in it.  2.0: the form of dpaudit 0.1."""


class _Line(msgspec.Struct, kw_only=True, tag_field="event"):
    format_version: Version = EVENT_VERSION
    """Version of this form, major.minor; the results in it have their own."""
    sequence: Count
    """The number of the line, from 0."""


class CheckStarted(_Line, tag="check_started"):
    """The whole invocation begins."""

    audits: Count
    """How many audits of privacy and of utility will be tried."""
    seed: Count
    """The seed of the run."""
    alpha: Probability
    """Family-wise error over everything."""


class AuditStarted(_Line, tag="audit_started"):
    """One audit begins; the progress that follows is of it."""

    name: str
    """Name of the algorithm or function."""
    case: str
    """Which of its cases."""
    claim: str
    """What is claimed, in words."""
    steps: Count
    """Units of work: `done` counts up to this."""


class Progress(_Line, tag="progress"):
    """Some samples are drawn, or some datasets enumerated."""

    done: Count
    """Units of work that are done."""
    of: Count
    """Units of work in all."""
    what: str
    """What was done last, in words."""
    bound: float | None
    """The best lower confidence bound on ε so far; null where there is none, or no finite one."""


class AuditFinished(_Line, tag="audit_finished"):
    """An audit of privacy ended with its verdict."""

    audit: Audit
    """As in a result."""
    seconds: NonNegative
    """How long it took."""


class UtilityAuditFinished(_Line, tag="utility_audit_finished"):
    """An audit of utility ended with its verdict."""

    audit: UtilityAudit
    """As in a result."""
    seconds: NonNegative
    """How long it took."""


class CheckFinished(_Line, tag="check_finished"):
    """All is done, or was cut short."""

    audits: Count
    """How many ended."""
    result: Header
    """The result without its audits, which the lines before have."""


Line: TypeAlias = CheckStarted | AuditStarted | Progress | AuditFinished | UtilityAuditFinished | CheckFinished


def to_line(event: stream.Recorded, sequence: int) -> str:
    """One event as a line of NDJSON, with its line feed.

    Args:
        event: of the engine's stream.
        sequence: its number in the stream, from 0.

    Raises:
        ReportError: it holds NaN, infinity, or anything else that plain JSON cannot hold.
    """
    line = _line(event, sequence)
    # what all lines have comes first
    names = dict.fromkeys((*_Line.__struct_fields__, *line.__struct_fields__))
    value = {"event": line.__struct_config__.tag, **json_form.plain_fields(line, names)}
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # among others, signs that some readers take for the end of a line, and halves of surrogate pairs
    return in_json(text) + "\n"


def event_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of a line, as a fresh dict."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpaudit:event:{EVENT_VERSION.partition('.')[0]}",
        "$comment": f"Format version {EVENT_VERSION}. Minor versions may add events and keys, which readers pass over.",
        "description": "One line of `dpaudit check --events`: what happens while audits run.",
        **json_form.described_schema(Line),
    }


def _line(event: stream.Recorded, sequence: int) -> Line:
    match event:
        case stream.CheckStarted():
            return CheckStarted(sequence=sequence, audits=event.audits, seed=event.seed, alpha=event.alpha)
        case stream.AuditStarted():
            return AuditStarted(
                sequence=sequence, name=event.name, case=event.case, claim=event.claim, steps=event.steps
            )
        case stream.Progress():
            bound = None if event.bound is None or math.isinf(event.bound) else event.bound
            return Progress(sequence=sequence, done=event.done, of=event.of, what=event.what, bound=bound)
        case stream.AuditFinished(audit=audit):
            if isinstance(audit, Audit):
                return AuditFinished(sequence=sequence, audit=audit, seconds=event.seconds)
            return UtilityAuditFinished(sequence=sequence, audit=audit, seconds=event.seconds)
        case stream.CheckFinished(result=result):
            header = Header(**{field.name: getattr(result, field.name) for field in fields(Header)})
            return CheckFinished(sequence=sequence, audits=len(result.every), result=header)
