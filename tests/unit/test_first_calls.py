"""The first calls of a user's function, the share of a search in the time, and what an interrupt leaves."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import dpaudit
from dpaudit.engine import orchestrator
from dpaudit.evidence.needed import samples_needed
from dpaudit.language import Claim
from dpaudit.plans.request import Request
from dpaudit.results.model import Result, Verdict
from dpaudit.results.stream import AuditFinished, CheckFinished, Event, Notice
from dpaudit.stats import power

COUNT = {"epsilon": 1.0, "data": "integers(0, 1)"}


def events_of(function: Any, **more: Any) -> list[Event]:
    return list(orchestrator.check(Request((function,), **{**COUNT, **more})))


def result_of(events: list[Event]) -> Result:
    (end,) = [event for event in events if isinstance(event, CheckFinished)]
    return end.result


def test_a_function_that_always_raises_is_called_a_few_times_and_shown_where() -> None:
    calls = []

    def misspelt(data: Any, rng: Any) -> Any:
        calls.append(len(data))
        return undefined_name + rng.laplace()  # type: ignore[name-defined]  # noqa: F821

    (audit,) = result_of(events_of(misspelt)).audits
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert audit.crashed
    assert "NameError: name 'undefined_name' is not defined (test_first_calls.py, line " in audit.reason
    assert "`return undefined_name + rng.laplace()" in audit.reason
    assert "for example on [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]" in audit.reason
    assert len(calls) < 100


@pytest.mark.parametrize(("seconds", "most"), [(0.05, 42), (0.6, 12)])
def test_a_slow_function_that_always_raises_is_told_at_once(seconds: float, most: int, tmp_path: Path) -> None:
    # in a file, because it is copies of the function that are called
    calls = tmp_path / "calls"

    def slow(data: Any, rng: Any) -> Any:
        with calls.open("a") as file:
            file.write("called\n")
        time.sleep(seconds)
        raise RuntimeError("no server")

    (audit,) = result_of(events_of(slow)).audits
    assert "RuntimeError: no server" in audit.reason
    assert len(calls.read_text().splitlines()) <= most


def test_a_list_that_is_used_as_an_array_gets_a_hint() -> None:
    def by_numpy(data: Any, rng: Any) -> Any:
        return data.sum() + rng.laplace()

    (audit,) = result_of(events_of(by_numpy)).audits
    assert "np.asarray(" in audit.reason


def test_a_function_that_raises_on_some_datasets_is_searched_on() -> None:
    def mean(data: Any, rng: Any) -> Any:
        return sum(data) / len(data) + rng.laplace(0, 1)

    (audit,) = result_of(events_of(mean, relation="add-remove-one", runs=2_000)).audits
    assert audit.verdict is Verdict.FAIL
    assert audit.pair is not None
    assert {len(audit.pair.left), len(audit.pair.right)} == {0, 1}  # type: ignore[arg-type]


def test_a_slow_function_is_told_what_it_needs() -> None:
    def slow(data: Any, rng: Any) -> Any:
        time.sleep(0.02)
        return sum(data) + rng.laplace(0, 1)

    said = [event for event in events_of(slow, runs=400, time=3.0) if isinstance(event, Notice)]
    assert said
    assert "samples per dataset" in said[0].text


def test_the_search_leaves_half_of_the_time_to_the_audit() -> None:
    """Half of the noise shows in a few dozen samples; a search that took all of the time would leave none."""

    def slow(data: Any, rng: Any) -> Any:
        time.sleep(0.002)
        return sum(data) + rng.laplace(0, 0.2)

    (audit,) = result_of(events_of(slow, time=10.0)).audits
    assert audit.verdict is Verdict.FAIL


def test_the_samples_that_are_needed_are_just_enough() -> None:
    needed = samples_needed(Claim(1.0), alpha=0.0005, min_power=2.0)
    assert needed.least is not None
    assert needed.for_power is not None
    assert needed.least < needed.for_power
    assert power.largest_certifiable(needed.least, 0.0005, delta=0.0) > 1.0


@pytest.mark.parametrize("door", ["data", "pair"])
def test_an_interrupted_audit_reports_what_it_had(door: str) -> None:
    calls = 0

    def interrupted(data: Any, rng: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 6_000:
            raise KeyboardInterrupt
        return sum(data) + rng.laplace(0, 1)

    more: dict[str, Any] = {} if door == "data" else {"data": None, "pair": ((0,), (1,))}
    events = events_of(interrupted, **more)
    result = result_of(events)
    assert result.interrupted
    (audit,) = result.audits
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert "interrupt" in audit.reason
    assert audit.pair is not None
    assert [event.audit for event in events if isinstance(event, AuditFinished)] == [audit]


def test_a_refutation_outlives_an_interrupt() -> None:
    """The e-process refutes within 200 samples per dataset; with certify the audit goes on, and is interrupted."""
    calls = 0

    def interrupted(data: Any, rng: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 20_000:
            raise KeyboardInterrupt
        return sum(data) + rng.laplace(0, 0.25)

    result = result_of(events_of(interrupted, data=None, pair=((0,), (1,)), certify=True))
    assert result.interrupted
    (audit,) = result.audits
    assert audit.verdict is Verdict.FAIL
    assert any(note.code == "interrupted" for note in audit.notes)


def test_python_gets_the_interrupted_result() -> None:
    def interrupted(data: Any, rng: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(dpaudit.Interrupted):
        dpaudit.audit(interrupted, 1.0, data="integers(0, 1)")
