"""A user's script, under strict types: `test_typed_use` gives it to mypy, which says what is not as it is meant."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from matplotlib.axes import Axes
from numpy.random import Generator
from numpy.typing import NDArray

import dpaudit
from dpaudit.results.model import Verdict


def one(data: list[int], rng: Generator) -> float:
    return sum(data) + rng.laplace(0, 1)


def many(data: list[int], rng: Generator, size: int) -> NDArray[np.float64]:
    return sum(data) + rng.laplace(0, 1, size)


pair = ([0, 1, 1], [0, 1, 0])
result = dpaudit.audit(one, 1.0, pair=pair, seed=3)
assert_type(result, dpaudit.Result)
assert_type(result.verdict, Verdict)
assert_type(result.epsilon_lower, float | None)
assert_type(result.plot.profile(), Axes)
assert_type(result.plot.data("profile")["epsilon"][0], object)  # type: ignore[assert-type]  # of any kind
assert_type(dpaudit.Result.from_json(result.to_json()), dpaudit.Result)
assert_type(dpaudit.load("result.json"), dpaudit.Result)
assert_type([part for part in result], list[dpaudit.Result])  # noqa: C416  (its type is what is asked)
assert_type(dpaudit.assert_private(many, (1.0, 1e-6), pair=pair, runs=1_000), dpaudit.Result)
dpaudit.audit(many, dpaudit.Claim.zcdp(0.5, epsilon=1.0), data="integers(0, 1)", size=4, evidence=result)

try:
    dpaudit.assert_private(one, dpaudit.Claim(1.0), pair=pair, allow_inconclusive=True)
except dpaudit.PrivacyViolation as error:
    assert_type(error.result, dpaudit.Result)

dpaudit.audit(one, b"1.0", pair=pair)  # type: ignore[arg-type]
dpaudit.assert_private(one, 1.0, pairs=pair)  # type: ignore[call-arg]
result.save(3)  # type: ignore[arg-type]
