"""Certifying samples of which only the event is counted: the same evidence as with all outputs at hand."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, SeedSequence

import dpaudit
from dpaudit.adversary.events.event import Event
from dpaudit.evidence import sampled
from dpaudit.interpret import Counted, Outputs, counted, summed
from dpaudit.interpret.stored import from_bytes, to_bytes
from dpaudit.subjects.target import LARGE_BLOCK, PIECE, Unit, drawn, function_target

ABOVE = Event(intervals=((0.5, float("inf")),))


def number(data: Any, rng: Generator) -> float:
    return float(len(data) + rng.normal())


def zeros(data: Any, rng: Generator) -> float:
    return -0.0 if rng.random() < 0.5 else float(rng.normal())


def whole(data: Any, rng: Generator) -> int:
    return int(rng.integers(3))


def vector(data: Any, rng: Generator) -> Any:
    return rng.normal(size=3)


def mixed(data: Any, rng: Generator) -> Any:
    return {"a": float(rng.normal()), "b": -0.0 if rng.random() < 0.5 else 1.0}


def failing(data: Any, rng: Generator) -> float:
    if rng.random() < 0.2:
        raise ValueError("too small")
    return float(rng.normal())


def still(data: Any, rng: Generator) -> Any:
    return np.array([1.0, 2.0])


def noisy(data: Any, rng: Generator, size: int) -> Any:
    return sum(data) + rng.laplace(0, 1, size)


EVENTS = {
    number: ABOVE, zeros: ABOVE, whole: Event(frozenset({1, 2})), vector: Event(intervals=((0, 1),), weights=(1, 2, 3)),
    mixed: Event(), failing: ABOVE, still: Event(frozenset({(1.0, 2.0)})), noisy: ABOVE,
}


@pytest.mark.parametrize("function", EVENTS, ids=lambda function: function.__name__)
def test_what_is_counted_in_pieces_is_what_all_outputs_have(function: Callable[..., Any]) -> None:
    target, event = function_target(function, function.__name__, "here"), EVENTS[function]
    runs = 2 * LARGE_BLOCK + 30 if target.vectorised else 2 * PIECE + 33
    unit = Unit((1,), runs, SeedSequence([1, 2]))
    outputs = drawn(target, unit)
    parts = drawn(target, Unit(unit.dataset, runs, unit.seed, count=event.count))
    assert isinstance(outputs, Outputs)
    assert isinstance(parts, Counted)
    # the bytes hold all fields, the forms too
    assert to_bytes(parts) == to_bytes(counted(outputs, event.count))
    assert parts.hits == event.count(outputs)
    assert (parts.failures != {}) == (function is failing)
    assert (parts.minus_zeros > 0) == (function in (zeros, mixed))
    assert parts.same == (((1.0, 2.0),) if function is still else ())
    assert to_bytes(from_bytes(to_bytes(parts))) == to_bytes(parts)


def test_a_few_bytes_are_left_of_many_outputs() -> None:
    target = function_target(noisy, "noisy", "here")
    sizes = [
        len(pickle.dumps(drawn(target, Unit((1,), runs, SeedSequence(1), count=ABOVE.count))))
        for runs in (LARGE_BLOCK, 10 * LARGE_BLOCK)
    ]
    assert max(sizes) < 1_000


def test_parts_with_one_outcome_each_are_not_all_the_same() -> None:
    one, other = (counted(Outputs({value: 3}), Event().count) for value in (1, 2))
    assert summed([one, one]).same == (1,)
    assert summed([one, other]).same == ()


def _audit(function: Callable[..., Any], **options: Any) -> dict[str, Any]:
    found = dpaudit.audit(function, pair=([1, 0], [1, 1]), epsilon=1.05, runs=500_000, progress=False, **options)
    result: dict[str, Any] = json.loads(found.to_json())
    for name in ("timings", "command"):
        result.pop(name, None)
    return result


@pytest.fixture(scope="module")
def counted_result() -> dict[str, Any]:
    return _audit(noisy)


def test_the_evidence_is_that_of_all_outputs(counted_result: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled, "SHOWN", 10**9)
    there = _audit(noisy)
    (one,), (other,) = copy.deepcopy(counted_result)["audits"], there["audits"]
    assert one["sampled"][0]["n"] > 2 * LARGE_BLOCK
    # the figure has the first outputs alone
    assert one.pop("output_plot") != other.pop("output_plot")
    assert one == other


def test_the_number_of_workers_does_not_matter(counted_result: dict[str, Any]) -> None:
    assert _audit(noisy, jobs=2) == counted_result
