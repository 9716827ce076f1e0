"""Hostile texts in a result: no format shows them as they are."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from dpaudit.engine.orchestrator import run
from dpaudit.plans.request import Request
from dpaudit.report.console import ConsoleReporter
from dpaudit.report.html import to_html
from dpaudit.report.junit import to_junit
from dpaudit.report.markdown import to_markdown
from dpaudit.report.ndjson import to_line
from dpaudit.report.notebook import to_fragment
from dpaudit.report.sarif import to_sarif
from dpaudit.report.short import audit_text
from dpaudit.results import json_form
from dpaudit.results.model import EventRecord, NoteRecord, Result
from dpaudit.results.plain import flat, in_json, visible
from dpaudit.results.stream import AuditFinished

HOSTILE = "a\x1b[2J\u202egnp\u200b\u2066\x07\x85\ud800\U000e0041[red]b\nPASS · proved\x9b"
SIGNS = "\x1b\u202e\u200b\u2066\x07\x85\ud800\U000e0041\x9b"


@pytest.fixture(scope="module")
def hostile() -> Result:
    """A result of an audit whose every text is hostile."""
    found = run(Request((lambda data, rng: sum(data) + rng.laplace(0, 1),), epsilon=1.0, pair=((0,), (1,)), runs=2_000))
    audit = found.audits[0]
    pair = replace(audit.pair, label=HOSTILE, left=[HOSTILE], right=[HOSTILE + "1"])  # type: ignore[type-var]
    audit = replace(
        audit, name=HOSTILE, case=HOSTILE, reason=HOSTILE, notes=[NoteRecord("stated", {"text": HOSTILE}, HOSTILE)],
        pair=pair, title=HOSTILE, source=HOSTILE,
        event=EventRecord(HOSTILE, {"atoms": [HOSTILE]}), mechanism=HOSTILE, deviations=[HOSTILE], scope=HOSTILE,
        claim=replace(audit.claim, statement=HOSTILE), location=None,
    )  # fmt: skip
    return replace(found, audits=[audit], command=HOSTILE, environment={"python": HOSTILE})


def _terminal(result: Result, *, quiet: bool = False) -> str:
    out = StringIO()
    console = Console(file=out, width=80, color_system=None)
    ConsoleReporter(console, console, quiet=quiet).show(result)
    return out.getvalue()


WRITERS: dict[str, Any] = {
    "terminal": _terminal,
    "quiet": lambda result: _terminal(result, quiet=True),
    "html": to_html,
    "notebook": to_fragment,
    "markdown": to_markdown,
    "junit": to_junit,
    "sarif": to_sarif,
    "json": json_form.to_json,
    "ndjson": lambda result: to_line(AuditFinished(result.audits[0], 0.0), 0),
    "short": lambda result: audit_text(result.audits[0], again=HOSTILE),
}


@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_shown_as_it_is(hostile: Result, name: str) -> None:
    text = WRITERS[name](hostile)
    assert not set(SIGNS) & set(text)
    assert "\\x1b" in text or "\\u001b" in text
    assert "\\u202e" in text
    assert "[red]" in text.replace("\\[", "[").replace("\\]", "]")
    text.encode("utf-8")


@pytest.mark.parametrize("name", ["terminal", "quiet", "short", "markdown"])
def test_no_line_is_forged(hostile: Result, name: str) -> None:
    assert not any(line.startswith("PASS · proved") for line in WRITERS[name](hostile).splitlines())


def test_json_stays_the_same_value(hostile: Result) -> None:
    assert json_form.from_json(json_form.to_json(hostile), where="here") == hostile
    text = json.dumps([HOSTILE], ensure_ascii=False)
    assert json.loads(in_json(text)) == [HOSTILE]


def test_what_can_be_seen_stays() -> None:
    text = "ε ≥ 1.42 · naïve, 日本語, 💥 [bold] \\x1b"
    assert visible(text) == flat(text) == text
    assert flat("a\nb\tc\x1b") == "a\\nb\\tc\\x1b"
