"""Bits of doubles: floating-point noise is told apart, noise on a grid is not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.typing import NDArray

from dpaudit.adversary.bits import Bits, lowest_set_bit
from dpaudit.adversary.learner import Learner
from dpaudit.interpret import Outputs


@pytest.mark.parametrize(
    ("number", "exponent"),
    [(1.0, 0), (-1.5, -1), (6.0, 1), (0.1, -55), (2.0**-1074, -1074), (3 * 2.0**100, 100), (0.0, -2000),
     (1 + 2.0**-52, -52)],
)
def test_lowest_set_bit(number: float, exponent: int) -> None:
    assert lowest_set_bit(np.array([number])).tolist() == [exponent]
    if number:
        scaled = math.ldexp(abs(number), -exponent) if exponent > -1000 else abs(number) * 2.0**537 * 2.0**537
        assert scaled == int(scaled)
        assert int(scaled) % 2 == 1


def test_columns() -> None:
    encoder = Bits(2)
    row = dict(zip(encoder.names, encoder.encode([(0.75, "x", 8.0)])[0].tolist(), strict=True))
    assert row["lowest set bit of output[0]"] == -2
    assert row["lowest set bit of output[1]"] == 3
    assert row["exponent of output[1]"] == 4
    assert encoder.encode([BOTTOM_LIKE]).tolist() == [[-1e4] * len(encoder.names)]
    assert np.array_equal(encoder.encode(np.array([[0.75, 8.0]])), encoder.encode([(0.75, 8.0)]))


BOTTOM_LIKE = "no answer"


Doubles = NDArray[np.float64]


def separation(left: Doubles, right: Doubles, fresh: tuple[Doubles, Doubles]) -> float:
    """Difference of an event's shares on fresh runs, in the direction it was learned for."""
    learner = Learner(bits=True, seed=0)
    learner.add(Outputs({}, left), Outputs({}, right))
    witness = learner.grow(epsilon=0.1, delta=0.0)
    assert witness.family == "bits"
    shares = [witness.event.count(Outputs({}, side)) / len(side) for side in fresh]
    return shares[1] - shares[0] if witness.reverse else shares[0] - shares[1]


@pytest.mark.parametrize(("scale", "runs", "least"), [(1.0, 300, 0.2), (10.0, 1_500, 0.02)])
def test_textbook_laplace_noise_leaks(scale: float, runs: int, least: float) -> None:
    """At scale 10 only the outputs between −1 and 1 leak, a tenth of them."""
    rng = default_rng(5)
    sides = [rng.laplace(center, scale, runs) for center in (0.0, 1.0)]
    fresh = (rng.laplace(0.0, scale, 20_000), rng.laplace(1.0, scale, 20_000))
    assert separation(sides[0], sides[1], fresh) > least


def test_nothing_is_found_on_a_grid() -> None:
    """The fresh difference of 20,000 runs a side lies within 0.03 but for 1e-9 if the event knows nothing."""
    rng = default_rng(6)

    def draw(size: int) -> NDArray[np.float64]:
        return np.asarray(np.round(rng.laplace(0.0, 10.0, size) * 1024) / 1024)

    assert abs(separation(draw(300), draw(300), (draw(20_000), draw(20_000)))) < 0.03
