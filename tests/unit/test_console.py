"""The terminal: whole outputs against snapshots, and what goes where."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import example_results
import pytest
from rich.console import Console

from dpaudit.audit import events
from dpaudit.audit.results import Result
from dpaudit.reporting.console import ConsoleReporter, render_card, render_list

EXAMPLES = example_results.every()


def _console(width: int = 80, *, terminal: bool = False, colour: bool = False) -> Console:
    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=terminal,
        no_color=not colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
    )


def _text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _stream(result: Result) -> list[events.Event]:
    stream: list[events.Event] = [events.CheckStarted(len(result.audits), result.seed, result.alpha)]
    for audit in result.audits:
        stream += [
            events.AuditStarted(audit.name, audit.case, audit.claim.statement, 10),
            events.Progress(4, 10, "certifying, pair 2 of 5, 400,000 of 1,000,000 runs", 0.71),
            events.AuditFinished(audit, 1.25),
        ]
    return [*stream, events.CheckFinished(result)]


def _run(result: Result, out: Console, err: Console, *, quiet: bool = False) -> None:
    with ConsoleReporter(out, err, quiet=quiet) as reporter:
        for event in _stream(result):
            reporter.on(event)


@pytest.mark.parametrize("name", EXAMPLES)
def test_whole_output(name: str, snapshot: Callable[[str, str], None]) -> None:
    out, err = _console(), _console()
    _run(EXAMPLES[name], out, err)
    text = _text(out)
    assert _text(err) == ""  # not a terminal: no progress
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert all(line == line.rstrip() for line in text.splitlines())
    snapshot(f"console_{name}.txt", text)


def test_colour(snapshot: Callable[[str, str], None]) -> None:
    out = _console(terminal=True, colour=True)
    _run(EXAMPLES["fail"], out, _console())
    snapshot("console_fail_colour.txt", _text(out))
    assert "\x1b[1;31mFAIL\x1b[0m" in _text(out)


def test_quiet_is_one_line_an_audit() -> None:
    out, err = _console(width=120), _console(terminal=True)
    _run(EXAMPLES["several"], out, err, quiet=True)
    assert _text(out).splitlines() == [
        "FAIL  NoisyMax · paper constants  NOT as expected (expected PASS)",
        "PASS · proved  ExponentialMechanism · every pair of [3]^2",
        "PASS · not refuted  noisy_mean",
        "INCONCLUSIVE  LearnThresholds · group of 2  NOT as expected (expected PASS)",
        "FAIL  SVT3 · as printed",
        "PASS · not refuted  RecPrefix · |X| = 1024",
    ]
    assert _text(err) == ""


def test_progress_is_on_stderr_and_leaves_stdout_alone() -> None:
    out, plain, err = _console(), _console(), _console(terminal=True)
    _run(EXAMPLES["several"], out, err)
    _run(EXAMPLES["several"], plain, _console())
    assert _text(out) == _text(plain)
    assert "NoisyMax 1/6" in _text(err)
    assert "ε ≥ 0.71" in _text(err)


def test_progress_bar_is_taken_away_when_something_raises() -> None:
    err = _console(terminal=True)
    with pytest.raises(ZeroDivisionError), ConsoleReporter(_console(), err, quiet=False) as reporter:  # noqa: PT012
        reporter.on(events.AuditStarted("A", "b", "c", 3))
        raise ZeroDivisionError
    assert _text(err).endswith(("\x1b[?25h", "\x1b[2K"))  # cursor shown again, line erased


def test_interrupted() -> None:
    out, err = _console(), _console()
    with ConsoleReporter(out, err, quiet=False) as reporter:
        reporter.on(events.CheckStarted(6, 1, 0.001))
        reporter.on(events.CheckFinished(replace(EXAMPLES["fail"], interrupted=True)))
    assert _text(err) == "Interrupted: 1 of 6 audits ended; their results stand.\n"
    assert "NoisyMax: FAIL" in _text(out)


def test_show_is_what_the_stream_showed() -> None:
    streamed, shown = _console(), _console()
    _run(EXAMPLES["several"], streamed, _console())
    ConsoleReporter(shown, _console(), quiet=False).show(EXAMPLES["several"])
    assert _text(shown) == _text(streamed)


def test_an_encoding_without_greek() -> None:
    buffer = io.BytesIO()
    file = io.TextIOWrapper(buffer, encoding="ascii")
    console = Console(file=file, width=80, color_system=None)
    _run(EXAMPLES["several"], console, _console())
    file.flush()
    assert b"certified epsilon >= 1.37 at delta = 1e-06 (claim 1.0)" in buffer.getvalue()


def test_bounds_are_rounded_to_the_side_on_which_they_are_true() -> None:
    audit = replace(
        example_results.fail(), epsilon_lower=1.00049, detectable_epsilon=1.00001, confidence=0.99916667
    )
    out = _console()
    _run(example_results.result(audit), out, _console())
    assert "certified ε ≥ 1.0004 at δ = 1e-06 (claim 1.0), confidence 99.916 %" in _text(out)
    assert "have been seen: ε = 1.01" in _text(out)


ROWS = [
    (
        "RecPrefix",
        "Private interior point by recursion",
        "(ε, δ)",
        "Example, Author and Writer 2014, Thm 7.8",
    ),
    ("ADist", "Stable choice of the best solution", "(ε, δ)", "Example 2014, Algorithm 3"),
]


@pytest.mark.parametrize("width", [60, 120])
def test_list(width: int, snapshot: Callable[[str, str], None]) -> None:
    out = _console(width)
    out.print(render_list(ROWS))
    snapshot(f"console_list_{width}.txt", _text(out))


def test_empty_list_and_card() -> None:
    out = _console()
    out.print(render_list([]))
    out.print(render_card([]))
    assert _text(out).strip() == ""


def test_card(snapshot: Callable[[str, str], None]) -> None:
    out = _console()
    differs = (
        "1. Step 4 does not say what happens on a tie; the first maximum wins, as above.\n2. Nothing else."
    )
    out.print(
        render_card(
            [("name", "RecPrefix"), ("claim", "(ε, δ)-DP, [replace-one]"), ("differs", differs), ("", "")]
        )
    )
    snapshot("console_card.txt", _text(out))
