"""The events of a run as NDJSON: one JSON object a line, in order, each with a number and the version of this form.

The published schema is `dpaudit/results/schema/event.schema.json`. The same request gives the same lines, but for
`seconds` and `timings`, and for progress where several workers take their cases as they come. Progress is told when
the engine tells it, some twenty to seventy times an audit, each time after more runs than the last; nothing is left out
by the clock.
"""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any

from dpaudit.results import json_form, stream
from dpaudit.results.model import Audit, Json
from dpaudit.results.plain import in_json

EVENT_VERSION = "1.0"
"""Version of this form, major.minor, apart from that of the results in it.  1.0: first published form."""


def to_line(event: stream.Event, sequence: int) -> str:
    """One event as a line of NDJSON, with its line feed.

    Args:
        event: of the engine's stream.
        sequence: its number in the stream, from 0.

    Raises:
        ReportError: it holds NaN, infinity, or anything else that plain JSON cannot hold.
    """
    value = {"format_version": EVENT_VERSION, "sequence": sequence, **_fields(event)}
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # among others, signs that some readers take for the end of a line, and halves of surrogate pairs
    return in_json(text) + "\n"


def event_schema() -> dict[str, Any]:
    """The published JSON Schema (2020-12) of a line, as a fresh dict; it refers to that of results."""
    text = files("dpaudit.results").joinpath("schema/event.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _fields(event: stream.Event) -> dict[str, Json]:
    match event:
        case stream.CheckStarted():
            return {"event": "check_started", "audits": event.audits, "seed": event.seed, "alpha": event.alpha}
        case stream.AuditStarted():
            return {
                "event": "audit_started",
                "name": event.name,
                "case": event.case,
                "claim": event.claim,
                "steps": event.steps,
            }
        case stream.Progress():
            bound = None if event.bound is None or math.isinf(event.bound) else event.bound
            return {"event": "progress", "done": event.done, "of": event.of, "what": event.what, "bound": bound}
        case stream.AuditFinished(audit=audit):
            return {
                "event": "audit_finished",
                "kind": "privacy" if isinstance(audit, Audit) else "utility",
                "audit": json_form.audit_object(audit),
                "seconds": event.seconds,
            }
        case stream.CheckFinished(result=result):
            header = json_form.to_object(result)
            # they have been told one by one
            del header["audits"], header["utility"]
            return {"event": "check_finished", "audits": len(result.every), "result": header}
