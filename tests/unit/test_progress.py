"""Progress: where it is shown, from when on, and that it is taken away."""

from __future__ import annotations

import io
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import dpaudit
from dpaudit.report.html import to_html
from dpaudit.report.progress import (
    BETWEEN_LINES,
    WAIT,
    LogLines,
    NotebookLine,
    TerminalBar,
    Watch,
    Writing,
    display_for,
)
from dpaudit.report.report_dir import write_report
from dpaudit.results import stream
from dpaudit.results.stream import AuditStarted, CheckStarted, Progress

STARTED = AuditStarted("f", "given pairs", "1-DP", 10)


class _Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class _Shown:
    """A display that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def begin(self, event: AuditStarted, *, place: str) -> None:
        self.told.append(f"begin {event.name} {place}".rstrip())

    def advance(self, event: Progress) -> None:
        self.told.append(f"{event.done}/{event.of}")

    def close(self) -> None:
        self.told.append("close")


def test_nothing_before_two_seconds_and_nothing_left() -> None:
    shown, clock = _Shown(), _Clock()
    with Watch(shown, clock) as watch:
        watch.on(CheckStarted(2, 0, 0.001))
        for seconds in (0.0, WAIT - 0.01):
            clock.now = seconds
            watch.on(STARTED)
            watch.on(Progress(1, 10, "testing", None))
        assert shown.told == []
        clock.now = WAIT
        watch.on(Progress(2, 10, "testing", 0.5))
        watch.on(Progress(3, 10, "testing", 0.5))
    assert shown.told == ["begin f 2/2", "2/10", "3/10", "close"]


def test_an_exception_takes_it_away() -> None:
    shown, clock = _Shown(), _Clock()

    def interrupted() -> None:
        with Watch(shown, clock) as watch:
            watch.on(STARTED)
            clock.now = 9
            watch.on(Progress(1, 10, "testing", None))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert shown.told[-1] == "close"


def test_each_audit_has_its_own() -> None:
    shown, clock = _Shown(), _Clock()
    with Watch(shown, clock) as watch:
        watch.on(CheckStarted(2, 0, 0.001))
        clock.now = 9
        for _ in range(2):
            watch.on(STARTED)
            watch.on(Progress(1, 10, "testing", None))
            watch.on(stream.AuditFinished(None, 1.0))  # type: ignore[arg-type]
    assert shown.told == ["begin f 1/2", "1/10", "close", "begin f 2/2", "1/10", "close"]


def test_lines_of_a_log_are_few() -> None:
    said: list[str] = []
    clock = _Clock()
    lines = LogLines(said.append, clock)
    lines.begin(STARTED, place="1/3")
    for tenth in range(101):
        clock.now = tenth / 10
        lines.advance(Progress(tenth, 100, "testing", 0.25))
    lines.close()
    assert said == [
        f"dpaudit: f 1/3: {percent} %, ε ≥ 0.25, testing" for percent in (0, round(10 * BETWEEN_LINES), 100)
    ]


def test_a_notebooks_line_is_rewritten_and_emptied() -> None:
    shown: list[Any] = []

    class Handle:
        def update(self, data: Any, raw: bool) -> None:
            assert raw
            shown.append(data["text/plain"])

    def display(data: Any, raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        shown.append(data["text/plain"])
        return Handle()

    line = NotebookLine(display)
    line.close()
    line.begin(STARTED, place="")
    line.advance(Progress(1, 4, "testing", None))
    line.advance(Progress(2, 4, "counting", 0.5))
    line.close()
    assert shown == ["f: 25 %, testing", "f: 50 %, ε ≥ 0.5, counting", ""]


def test_a_bar_on_a_terminal_goes_away() -> None:
    out = io.StringIO()
    bar = TerminalBar(Console(file=out, force_terminal=True, width=100))
    bar.begin(STARTED, place="")
    bar.advance(Progress(5, 10, "testing", 1.0))
    bar.close()
    bar.close()
    said = out.getvalue()
    assert "50 %" in said
    assert said.rstrip().endswith("\x1b[2K"), "the last thing written is that the line is erased"


@pytest.mark.parametrize(("waited", "terminal", "shown"), [
    (WAIT, True, True), (WAIT - 0.1, True, False), (WAIT, False, False),
])
def test_writing_shows_how_far_it_is_after_two_seconds(waited: float, terminal: bool, shown: bool) -> None:
    out, clock = io.StringIO(), _Clock()
    with Writing(Console(file=out, force_terminal=terminal, width=100), 4, clock) as writing:
        writing.step()
        assert out.getvalue() == ""
        clock.now = waited
        writing.step()
        assert ("50 %" in out.getvalue()) is shown
    assert out.getvalue().rstrip().endswith("\x1b[2K") is shown


def test_every_audit_drawn_is_a_step(tmp_path: Path) -> None:
    result = dpaudit.audit(lambda data, rng: rng.random() < 0.5 + data[0] / 4, 3.0, pair=([0], [1]), runs=200)
    steps = list[str]()
    to_html(result, step=lambda: steps.append("page"))
    write_report(tmp_path / "out", result, step=lambda: steps.append("folder"))
    assert steps == ["page", "folder"]


def test_where_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert display_for(None) is None, "never in a test of pytest's"
    assert display_for(False) is None
    assert isinstance(display_for(True), LogLines)
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert display_for(None) is None, "nobody looks"
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", terminal)
    assert isinstance(display_for(None), TerminalBar)
    ipython: Any = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.SimpleNamespace(display=print)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert isinstance(display_for(None), NotebookLine)
    ipython.get_ipython = lambda: types.SimpleNamespace()  # in a terminal's IPython
    assert isinstance(display_for(None), TerminalBar)


@pytest.mark.slow
def test_it_changes_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("dpaudit.report.progress.WAIT", 0.0)

    def f(data: list[int], rng: Any, size: int) -> Any:
        return sum(data) + rng.laplace(0, 1, size)

    audits = [
        dpaudit.audit(f, 1.0, pair=([0], [1]), runs=5_000, progress=shown).audits for shown in (True, False, None)
    ]
    assert audits[0] == audits[1] == audits[2]
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("dpaudit: f: ")
    assert said.err.count("\n") == 1, "only where it was asked for, and not more often than every few seconds"
