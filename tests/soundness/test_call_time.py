"""A call that takes longer than it may is an outcome, as an exception is: counted, tested, and reported apart."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from numpy.random import Generator

import dpaudit
from dpaudit.cli import commands
from dpaudit.errors import TimeLimitError, UsageError
from dpaudit.language import Bernoulli, Claim, Mechanism
from dpaudit.outputs.canonical import Raised, TookLonger
from dpaudit.results.model import Verdict
from dpaudit.subjects.call_time import called_within
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import function_target
from dpaudit.subjects.user_errors import StopNow

PAIR: tuple[Any, Any] = ([1], [0])
LIMIT = 0.02


def wait() -> None:
    time.sleep(30)


def sleeps_where_a_record_is(data: Any, rng: Generator) -> int:
    answer = int(rng.random() < 0.5)
    if 1 in data and rng.random() < 0.1:
        wait()
    return answer


def sleeps_alike(data: Any, rng: Generator) -> int:
    if rng.random() < 0.1:
        wait()
    return int(rng.random() < (0.7 if 1 in data else 0.3))


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """The timer is off and its handler is as before, whatever happened."""
    before = signal.getsignal(signal.SIGALRM)
    yield
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


@pytest.mark.slow
def test_a_function_that_sleeps_where_a_record_is_fails() -> None:
    """Its answers are the same on both datasets: time alone tells them apart."""
    result = dpaudit.audit(sleeps_where_a_record_is, epsilon=1.0, pair=PAIR, runs=600, call_time=LIMIT)
    (audit,) = result.audits
    assert audit.verdict is Verdict.FAIL
    assert audit.event is not None
    assert "took longer than 0.02 s" in audit.event.description
    (note,) = [note for note in audit.notes if "took longer than 0.02 s" in note.sentence]
    assert "of 0 on D′" not in note.sentence
    assert " 0 of " in note.sentence, "on D′ none took long"
    assert "sleeps_where_a_record_is: `wait()`" in note.sentence, "the line of the user's own code"
    assert note.sentence.endswith("The clock decides which calls took too long, so another run may count differently.")


@pytest.mark.slow
def test_a_private_one_passes() -> None:
    result = dpaudit.audit(sleeps_alike, epsilon=1.0, pair=PAIR, runs=400, call_time=LIMIT, min_power=100.0)
    (audit,) = result.audits
    assert audit.verdict is Verdict.PASS
    assert any(note.values.get("by_the_clock") for note in audit.notes)


def test_one_that_takes_long_in_every_call_is_told_at_once() -> None:
    def sleeps(data: Any, rng: Generator) -> int:
        wait()
        return 0

    begun = time.monotonic()
    result = dpaudit.audit(sleeps, epsilon=1.0, pair=PAIR, runs=100_000, call_time=LIMIT)
    assert time.monotonic() - begun < 20
    (audit,) = result.audits
    assert (audit.verdict, audit.crashed) == (Verdict.INCONCLUSIVE, True)
    assert audit.reason.startswith("sleeps took longer than 0.02 s in every call (test_call_time.py, line ")


def test_without_a_limit_nothing_is_timed() -> None:
    result = dpaudit.audit(lambda data, rng: int(rng.random() < 0.5), epsilon=1.0, pair=PAIR, runs=2000)
    assert not any("took longer" in note.sentence for note in result.audits[0].notes)


def swallows_exceptions() -> str:
    try:
        wait()
    except Exception:
        return "swallowed"
    return "slept"


def swallows_everything() -> str:
    for _ in range(3):
        try:  # noqa: SIM105
            wait()
        except BaseException:
            pass
    return "swallowed"


def raises_instead() -> None:
    try:
        wait()
    except BaseException:
        raise ValueError("instead") from None


def test_a_broad_except_does_not_swallow_it() -> None:
    assert called_within(LIMIT, swallows_exceptions) == TookLonger("0.02 s")


def test_what_swallows_everything_is_told_again() -> None:
    """It took longer, whatever it returns or raises in the end; its waits of 30 seconds end at once."""
    begun = time.monotonic()
    assert called_within(LIMIT, swallows_everything) == TookLonger("0.02 s", "")
    assert called_within(LIMIT, raises_instead) == TookLonger("0.02 s", "")
    assert time.monotonic() - begun < 10


def test_fast_calls_are_left_alone() -> None:
    assert called_within(5.0, lambda: "fast") == "fast"
    with pytest.raises(ValueError, match="mine"):
        called_within(5.0, _raises)


def _raises() -> None:
    raise ValueError("mine")


def test_at_the_very_limit_nothing_escapes() -> None:
    """Calls that end when the timer comes: each is an output or took longer, and no exception is left over."""
    seen = set()
    for at in range(400):
        seconds = 0.001
        end = time.monotonic() + seconds + (at % 40 - 20) * 2e-5

        def busy(end: float = end) -> str:
            while time.monotonic() < end:
                pass
            return "in time"

        seen.add(called_within(seconds, busy))
    assert seen == {"in time", TookLonger("0.001 s")}


def test_the_outcome_is_of_its_own_kind() -> None:
    assert repr(TookLonger("0.5 s")) == "took longer than 0.5 s"
    assert isinstance(TookLonger("0.5 s"), Raised)
    assert TookLonger("0.5 s") != Raised("0.5 s")
    assert TookLonger("0.5 s", "here") == TookLonger("0.5 s", "there")


# -- beside --time, which uses the same timer


def test_the_time_limit_goes_on_meanwhile() -> None:
    seen: list[Any] = []
    begun = time.monotonic()

    def again_and_again() -> None:
        with Runner(seconds=0.3).limited():
            # four seconds at least
            while len(seen) < 200:
                seen.append(called_within(LIMIT, wait))

    with pytest.raises(TimeLimitError):
        again_and_again()
    assert time.monotonic() - begun < 5
    assert len(seen) > 1
    assert set(seen) == {TookLonger("0.02 s")}


def test_the_time_limit_comes_within_a_call() -> None:
    runner, begun = Runner(seconds=0.1), time.monotonic()
    with pytest.raises(TimeLimitError), runner.limited():
        called_within(60.0, wait)
    assert time.monotonic() - begun < 5


def test_the_time_limit_after_fast_calls() -> None:
    """Arming the timer anew for every call must not put the limit off."""
    begun = time.monotonic()

    def again_and_again() -> None:
        with Runner(seconds=0.2).limited():
            while time.monotonic() - begun < 20:
                called_within(60.0, lambda: None)

    with pytest.raises(TimeLimitError):
        again_and_again()
    assert time.monotonic() - begun < 5


def test_a_time_limit_whose_signal_is_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer that came this instant has no time left; it must not count as no timer."""
    real, states = signal.setitimer, iter([(0.0, 0.5)])

    def expired(which: int, seconds: float, interval: float = 0.0) -> tuple[float, float]:
        return next(states, real(which, seconds, interval))

    def called() -> None:
        with Runner(seconds=30).limited():
            monkeypatch.setattr(signal, "setitimer", expired)
            called_within(60.0, lambda: time.sleep(5))

    begun = time.monotonic()
    with pytest.raises(TimeLimitError):
        called()
    assert time.monotonic() - begun < 5


def test_stop_now_is_not_an_outcome() -> None:
    def stops() -> None:
        raise StopNow

    with pytest.raises(StopNow):
        called_within(5.0, stops)


@pytest.mark.slow
def test_an_audit_with_both_limits() -> None:
    result = dpaudit.audit(sleeps_alike, epsilon=1.0, pair=PAIR, runs=10**6, call_time=LIMIT, time=1.5)
    (audit,) = result.audits
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert "time limit" in audit.reason
    assert not audit.crashed


# -- where it cannot be


def vectorised(data: Any, rng: Generator, size: int) -> Any:
    return rng.laplace(sum(data), 1, size)


def test_a_function_that_takes_a_size_is_refused() -> None:
    with pytest.raises(UsageError, match=r"vectorised takes a size, .* or leave call_time out"):
        dpaudit.audit(vectorised, epsilon=1.0, pair=PAIR, call_time=1.0)
    with pytest.raises(UsageError, match="--call-time"):
        function_target(vectorised, "vectorised", "here", 1.0)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 1e9])
def test_a_limit_is_a_positive_number(value: float) -> None:
    with pytest.raises(UsageError):
        dpaudit.audit(sleeps_alike, epsilon=1.0, pair=PAIR, call_time=value)


def test_outside_of_the_main_thread_it_is_refused() -> None:
    said: list[Any] = []

    def elsewhere() -> None:
        try:
            dpaudit.audit(sleeps_alike, epsilon=1.0, pair=PAIR, runs=10, call_time=1.0)
        except UsageError as error:
            said.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(60)
    assert said == ["call_time works in the main thread alone, where signals arrive; call dpaudit there."]


@dataclass(frozen=True)
class Coin(Mechanism):
    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, data: Any) -> Any:
        return (yield Bernoulli(0.5))


def test_of_a_mechanism_in_the_language_a_note_says_that_time_is_no_outcome() -> None:
    (audit,) = dpaudit.audit(Coin(), pair=PAIR, runs=100, call_time=1.0).audits
    assert "call_time_of_mechanism" in [note.code for note in audit.notes]


# -- every way in


@pytest.mark.slow
def test_the_command_line_and_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "    if 1 in data and rng.random() < 0.2:\n        time.sleep(30)\n"
    (tmp_path / "u.py").write_text(f"import time\ndef f(data, rng):\n{slow}    return 0\n")
    (tmp_path / "pyproject.toml").write_text("[tool.dpaudit]\ncall_time = 0.02\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPAUDIT_STORE", str(tmp_path / "store"))
    words = ["dpaudit", "check", "u.py:f", "--epsilon", "1", "--pair", "[1]", "[0]", "--runs", "300", "--quiet"]
    for more, limit in (([], "0.02 s"), (["--call-time", "0.03"], "0.03 s")):
        monkeypatch.setattr(sys, "argv", [*words, *more, "--json", "r.json"])
        with pytest.raises(SystemExit) as ended:
            commands.main()
        assert ended.value.code == 1
        result = json.loads((tmp_path / "r.json").read_text())
        assert f"took longer than {limit}" in json.dumps(result["audits"][0]["notes"], ensure_ascii=False)
        assert f"--call-time {limit.partition(' ')[0]}" in result["command"]


@pytest.mark.slow
def test_assert_private() -> None:
    with pytest.raises(dpaudit.PrivacyViolation, match="took longer than"):
        dpaudit.assert_private(sleeps_where_a_record_is, 1.0, pair=PAIR, runs=600, call_time=LIMIT)


class Slow:
    """Takes a while to be finalised."""

    def __del__(self) -> None:
        """Longer than a call may take."""
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            pass


def test_an_interrupt_in_a_finaliser_prints_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)

    def call() -> None:
        Slow()
        time.sleep(5)

    assert isinstance(called_within(0.05, call), TookLonger)
    assert not said
    assert sys.unraisablehook == said.append
