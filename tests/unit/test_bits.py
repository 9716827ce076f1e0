"""Bits of doubles: floating-point noise is distinguished, noise on a grid is not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.typing import NDArray

from dpaudit.adversary.events.bits import Bits, lowest_set_bit
from dpaudit.adversary.events.blocks import FOLDS
from dpaudit.adversary.events.candidates import UNREACHED, Candidates, Offers, threshold_events
from dpaudit.adversary.events.learner import Learner
from dpaudit.adversary.events.optimistic_bound import rarity
from dpaudit.adversary.events.scales import Scale
from dpaudit.interpret import Outputs
from dpaudit.outputs.columns import Column


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
    learner.add(Outputs({}, (left,)), Outputs({}, (right,)))
    learned = learner.choose_event(epsilon=0.1, delta=0.0)
    assert learned.family == "bits"
    shares = [learned.event.count(Outputs({}, (side,))) / len(side) for side in fresh]
    return shares[1] - shares[0] if learned.reverse else shares[0] - shares[1]


@pytest.mark.parametrize(("scale", "runs", "least"), [(1.0, 300, 0.2), (10.0, 1_500, 0.02)])
def test_textbook_laplace_noise_leaks(scale: float, runs: int, least: float) -> None:
    """At scale 10 only the outputs between −1 and 1 leak, a tenth of them."""
    rng = default_rng(5)
    sides = [rng.laplace(center, scale, runs) for center in (0.0, 1.0)]
    fresh = (rng.laplace(0.0, scale, 20_000), rng.laplace(1.0, scale, 20_000))
    assert separation(sides[0], sides[1], fresh) > least


def float32(numbers: Doubles) -> Doubles:
    return numbers.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize(
    ("draw", "least"),
    [
        (lambda rng, x, size: 0.1 + 0.2 * x + float32(rng.laplace(0.0, 10.0, size)), 0.99),
        (lambda rng, x, size: 0.1 + 0.2 * x + np.round(rng.laplace(0.0, 10.0, size) * 2**20) / 2**20, 0.99),
        (lambda rng, x, size: 0.1 + x + rng.laplace(0.0, 1.0, size), 0.17),
        (lambda rng, x, size: 0.1 + 0.2 * x - 10 * np.log((rng.integers(1, 2**24, size) + 0.5) / 2**24), 0.08),
        (lambda rng, x, size: x + 10 * rng.random(size), 0.08),
    ],
    ids=["single precision", "a coarse grid", "a sum that is no whole number", "24 random bits", "uniform"],
)
def test_noise_of_too_few_bits_leaks_without_trees(
    draw: Callable[[np.random.Generator, float, int], Doubles], least: float
) -> None:
    """Tables of the exponents separate them as well as trees on all bits do, so no tree is fitted to one float."""
    rng = default_rng(3)
    sides, fresh = ([draw(rng, x, size) for x in (0.0, 1.0)] for size in (5_000, 20_000))
    assert separation(sides[0], sides[1], (fresh[0], fresh[1])) > least


def test_nothing_is_found_on_a_grid() -> None:
    """The fresh difference of 20,000 samples per dataset lies within 0.03 but for 1e-9 if the event knows nothing."""
    rng = default_rng(6)

    def draw(size: int) -> NDArray[np.float64]:
        return np.asarray(np.round(rng.laplace(0.0, 10.0, size) * 1024) / 1024)

    assert abs(separation(draw(300), draw(300), (draw(20_000), draw(20_000)))) < 0.03


def runs_to_choose(centers: tuple[float, float], finest: int, *, most: int) -> int:
    """Samples per dataset, in steps of a quarter, until the event is "lowest set bit below 2^finest" on the left."""
    rng, learner = default_rng(7), Learner(bits=True, seed=0)
    inside = np.array([math.ldexp(1.0, finest - 1), math.ldexp(1.5, finest - 1)])
    outside = np.array([math.ldexp(1.0, finest), math.ldexp(1.5, finest + 1)])
    done, size = 0, 20
    while done < most:
        learner.add(*(Outputs({}, (rng.laplace(center, 10.0, size),)) for center in centers))
        done, size = done + size, max(1, (done + size) // 4)
        learned = learner.choose_event(epsilon=0.1, delta=0.0)
        chosen = (learned.event.count(Outputs({}, (inside,))), learned.event.count(Outputs({}, (outside,))))
        if not learned.reverse and chosen == (2, 0):
            return done
    return most


@pytest.mark.parametrize(("centers", "finest"), [((0.0, 1.0), -53), ((3.0, 4.0), -51)])
def test_what_the_other_side_never_reaches_is_chosen_soon(centers: tuple[float, float], finest: int) -> None:
    """The event has probability 0.03 or 0.017 on the left and 0 on the right: six runs of it say more than noise."""
    assert runs_to_choose(centers, finest, most=1_000) <= 400


def test_prices_on_a_stepped_scale() -> None:
    """Cells of 0.5, 1, 0, 6.5 % and the rest of the samples: the price counts threshold events, rarity is its limit."""
    hits = np.zeros((2, FOLDS, 5))
    hits[0, 0], hits[1, 0] = [1, 1, 0, 6, 92], [0, 1, 0, 7, 92]
    axis = Column(Bits(1))
    edges = np.array([-54.0, -53.0, -52.0, -51.0])
    scale = Scale(
        "bits", axis, (axis,) * FOLDS, edges, hits, 0.5, both=True, binned=False, unscored=False, stepped=True
    )
    found = Candidates()
    threshold_events(found, scale)
    below = {
        group.reverse: (np.asarray(group.cost), np.asarray(group.most_rare))
        for group in found.groups if group.left.tolist() == [1, 2, 2, 8]
    }
    cost, rare = below[False]
    assert cost.tolist() == [0.5 - UNREACHED, 0.5, 0.5, 0.5]
    assert rare.tolist() == pytest.approx([0.0, math.log(3), math.log(3), math.log(4)])
    cost, rare = below[True]
    assert cost.tolist() == [0.5] * 4
    assert rare[0] == pytest.approx(math.log(2))
    seen: list[list[float]] = []

    def worth(of: Offers) -> tuple[Doubles, Doubles]:
        seen.append(of.rarity.tolist())
        return of.x, of.y

    found.best((100, 100), worth)
    common = float(rarity(np.array([0.08]))[0])
    assert seen[0][-1] == pytest.approx(min(common, math.log(4)))
