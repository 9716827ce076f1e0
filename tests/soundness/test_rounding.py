"""What doubles round in sums and differences of an output is no event: in reals they are the same for every output.

Its size follows from the last bits of the output, and these tell the datasets apart wherever noise is textbook; that is
counted with `--bits` alone. A private function that releases numbers with a fixed sum or distance would be refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator

import dpaudit
from dpaudit.outputs.columns import READ_BITS, Linear, Vectors, coarse, steps, sums
from dpaudit.results.model import Verdict

RELATED: dict[str, Callable[[float, float], Any]] = {
    "a number beside a constant": lambda x, y: (x, 1.0),
    "two that add up to one": lambda x, y: (x, 1 - x),
    "shares": lambda x, y: tuple(np.array([x, y, 3.0]) / (x + y + 3.0)),
    "a fixed distance": lambda x, y: (x, x + 1.0),
    "shifted": lambda x, y: tuple(x + np.arange(5.0)),
    "shifted by tenths": lambda x, y: tuple(x + 0.1 * np.arange(5.0)),
    "the same twice": lambda x, y: (x, x * 3 / 3),
    "with their sum": lambda x, y: (x, y, -x - y),
    "in a dict": lambda x, y: {"a": x, "b": 1 - x},
    "beside symbols": lambda x, y: (x, 1 - x, None if x > 3 else "a"),
}


@pytest.mark.slow(fast=["two that add up to one"])
@pytest.mark.parametrize("which", RELATED)
def test_private_functions_whose_numbers_are_related(which: str) -> None:
    """Each needs exactly what it claims; an audit errs with probability 0.001."""

    def f(data: Any, rng: Generator) -> Any:
        return RELATED[which](data[0] + rng.laplace(), rng.laplace())

    for seed in (1, 2):
        found = dpaudit.audit(f, epsilon=1.0, pair=([1], [0]), runs=4_000, seed=seed, progress=False)
        assert found.verdict is Verdict.PASS, found.reason


def test_what_is_not_rounding_is_seen() -> None:
    """A sum that differs by a millionth from one dataset to the other."""

    def f(data: Any, rng: Generator) -> Any:
        x = rng.laplace()
        return (x, 1 - x + 1e-6 * data[0])

    assert dpaudit.audit(f, epsilon=1.0, pair=([1], [0]), runs=4_000, seed=1, progress=False).verdict is Verdict.FAIL


def test_whole_numbers_are_added_exactly() -> None:
    def f(data: Any, rng: Generator) -> Any:
        x = int(rng.integers(10**14))
        return (x, 10**15 - x + data[0])

    assert dpaudit.audit(f, epsilon=1.0, pair=([1], [0]), runs=4_000, seed=1, progress=False).verdict is Verdict.FAIL


@given(st.lists(st.integers(-(2**48), 2**48), min_size=1, max_size=8))
def test_sums_and_steps_of_whole_numbers(row: list[int]) -> None:
    rows = np.array([row], dtype=np.float64)
    assert sums(rows).tolist() == [float(sum(row))]
    assert steps(rows)[0].tolist() == [float(b - a) for a, b in zip([0, *row[:-1]], row, strict=True)]


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e300))
def test_coarse_is_near(value: float, more: float) -> None:
    size = abs(value) + more
    (found,) = coarse(np.array([value]), np.array([size])).tolist()
    assert abs(found - value) <= max(size, 5e-324) * 2.0 ** (1 - READ_BITS)
    assert coarse(np.array([value, 1.0]), np.array([size, 1.0]))[0] == found


def test_columns_that_are_constant_in_the_reals() -> None:
    rng = np.random.default_rng(1)
    x = rng.laplace(size=4_000) * 10.0 ** rng.integers(-3, 3, 4_000)
    rows = np.column_stack([x, 1 - x, x + 1])
    encoder = Vectors.of(rows[:2_000], rows[2_000:])
    columns = dict(zip(encoder.names, encoder.encode(rows).T, strict=True))
    assert len(np.unique((1 - x) + x)) > 1, "rounding is there"
    assert set(sums(rows[:, :2]).tolist()) == {1.0}
    assert set(steps(rows[:, [0, 2]])[:, 1].tolist()) == {1.0}
    assert set(columns["output[2] − output[1]"].tolist()) != {1.0}
    score = Linear(encoder, (0, 1), (1.0, 1.0), 0.0)
    assert set(score.of(encoder.encode(rows)).tolist()) == {1.0}
