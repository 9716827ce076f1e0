"""Private mechanisms at the boundary of their claims, for every shape of output and every way in.

Seeds are fixed, so every test is deterministic; a rate of false alarms is over the choice of seeds. The long version,
500 audits of every shape, is benchmarks/error_rates.py.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from helpers import audited, refused
from scipy import stats
from shapes import EVERY, FUNCTION, PAIR, PATHS, SHAPES, WITH_PANDAS, Finite, Opaque, Shape, present

import dpaudit

RUNS = 100
EACH = [
    pytest.param(
        shape, id=shape.name.encode("ascii", "replace").decode(),
        marks=pytest.mark.skipif(shape.needs_pandas and not WITH_PANDAS, reason="pandas is not installed"),
    )
    for shape in EVERY
]


def _delta(core: Finite, epsilon: float) -> float:
    """The least δ at an ε, by enumeration."""
    rows = core.rows
    if core is PATHS:  # the path is no part of the outcome
        rows = tuple((row[0] + row[1], row[2] + row[3]) for row in rows)  # type: ignore[assignment]
    return max(
        math.fsum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True))
        for p, q in (rows, rows[::-1])
    )


@pytest.mark.parametrize("shape", EACH)
def test_the_claim_is_exact_and_the_core_can_be_read_off(shape: Shape) -> None:
    """At the claimed ε all of δ is needed, and more at a smaller one; different draws of the core look different."""
    if not isinstance(shape.core, Finite):
        return
    assert _delta(shape.core, shape.epsilon) == pytest.approx(shape.delta, abs=1e-12)
    if shape.epsilon:
        assert _delta(shape.core, shape.epsilon - 0.01) > shape.delta + 1e-3
    if shape.core is PATHS:
        assert [shape.dress(k, 0.5, False) for k in range(4)] == [0.0, 0.0, 1.0, 1.0]
        return

    def shown(k: int) -> str:
        try:
            return repr(shape.dress(k, 0.5, False))
        except Exception as error:
            return repr(error)

    outcomes = len(shape.core.rows[0])
    assert len({shown(k) for k in range(outcomes)}) == outcomes


FAST = [
    "int", "float", "str of varying length", "NaN, ?inf and floats", "vector of 1 or 2 numbers", "tuples in tuples",
    "frozen dataclass", "set, in any order", "raises, or returns a str", "two numbers that add up to one",
]  # fmt: skip
"""Shapes that the fast tests try: each way of being read once."""


@pytest.mark.slow(fast=FAST)
@pytest.mark.parametrize("shape", EACH)
def test_no_claim_that_holds_is_refuted(shape: Shape) -> None:
    """An audit of every shape as a function at α = 0.001: no FAIL, no bound above the exact ε, nothing unreadable.

    False alarm: at most 0.06 for all shapes together, 0.001 for each audit.
    """
    found = audited(shape, FUNCTION, seed=EVERY.index(shape), alpha=0.001, runs=RUNS)
    assert found.verdict != "fail", found.reason
    assert found.epsilon_lower is None or found.epsilon_lower <= shape.epsilon
    assert shape.refusable or not refused(found), found.reason


@pytest.mark.slow
def test_few_claims_that_hold_are_refuted_at_a_larger_error() -> None:
    """One audit of every shape at α = 0.05, the other ways in turn: at most as many errors as chance allows.

    False alarm: the limit is the 1 − 10⁻⁴ quantile of the binomial distribution.
    """
    wrong, number = [], 0
    for at, shape in enumerate(present()):
        others = shape.ways[1:] or shape.ways
        way = others[at % len(others)]
        found = audited(shape, way, seed=1_000 + at, alpha=0.05, runs=RUNS)
        number += not refused(found)
        if found.verdict == "fail" or (found.epsilon_lower or 0.0) > shape.epsilon:
            wrong.append((shape.name, way))
    assert number >= 40
    assert len(wrong) <= stats.binom.ppf(1 - 1e-4, number, 0.05), wrong


FALSE = ("bool", "str with lone surrogates", "bytes", "Enum", "int", "tuple of many kinds", "None or a float",
         "dict, in any order", "frozen dataclass", "NaN, ±inf and floats", "raises, or returns a str")  # fmt: skip


@pytest.mark.slow
def test_false_claims_are_refuted_and_bounds_hold() -> None:
    """Two fifths of the exact ε are claimed, and audits go on: nearly all FAIL, and no bound is above the exact ε.

    False alarm: at most 0.011 at α = 0.001 for the bounds. The bound is expected well above 0.4 here.
    """
    refuted = []
    for at, name in enumerate(FALSE):
        shape = SHAPES[name]
        found = audited(shape, shape.ways[0], seed=2_000 + at, alpha=0.001, runs=600, claimed=0.4, certify=True)
        assert (found.epsilon_lower or 0.0) <= shape.epsilon, name
        if found.verdict == "fail":
            refuted.append(name)
    assert len(refuted) >= len(FALSE) - 2, sorted(set(FALSE) - set(refuted))


def test_objects_without_a_value_are_refused_by_type() -> None:
    """An address is another one in every call; the reason names the type and says what to return instead."""

    def opaque(dataset: Any, rng: Any) -> Opaque:
        return Opaque(rng.random() < 0.5)

    audit = dpaudit.audit(opaque, epsilon=1.0, pair=PAIR, runs=100, progress=False).audit
    assert refused(audit)
    assert audit.verdict == "inconclusive"
    assert "Opaque" in audit.reason
    assert "return" in audit.reason
