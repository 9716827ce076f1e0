"""What is learned of an event is honest: its counts are those of the past samples, in the direction that it names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpaudit.adversary import Event
from dpaudit.adversary.events.blocks import FOLDS, Block, Sample
from dpaudit.adversary.events.learner import LearnedEvent, Learner
from dpaudit.adversary.events.scales import count, cut
from dpaudit.interpret import Outputs, sample
from dpaudit.language import BOTTOM, Bernoulli, Laplace, Mechanism, Program
from dpaudit.outputs.columns import Column, Numbers

BATCHES = (5, 1, 1, 40, 300, 700, 1_000, 200)
"""The last one is too small for a new fit: it is counted by the scales of the one before."""


@dataclass(frozen=True)
class Noisy(Mechanism):
    """A bit with Laplace noise: a real number, a whole one, a response, or ⊥ now and then."""

    kind: str

    def run(self, dataset: Any) -> Program:
        (bit,) = dataset
        if self.kind == "response":
            return Bernoulli(0.6 if bit else 0.3)
        if self.kind == "whole":
            return Laplace(2 * bit, 1.0).floor().clip(-8, 9)
        if self.kind == "sometimes ⊥" and (yield Bernoulli(0.3 if bit else 0.25)):
            return BOTTOM
        return Laplace(bit, 1.0)


def trained(kind: str, top: int) -> tuple[Learner, list[Outputs], list[Outputs]]:
    """A learner that has seen all batches, and these, on the left (where the bit is `top`) and on the right."""
    learner, sides = Learner(seed=3), ([], [])
    batches: tuple[list[Outputs], list[Outputs]] = sides
    for number, size in enumerate(BATCHES):
        for side, bit in enumerate((top, 1 - top)):
            batches[side].append(sample(Noisy(kind), (bit,), size, seed=np.random.SeedSequence([number, bit])))
        learner.add(batches[0][-1], batches[1][-1])
        learner.choose_event(epsilon=0.5, delta=0.0)
    return learner, *batches


def counted(learned: LearnedEvent, left: list[Outputs], right: list[Outputs]) -> tuple[int, int, int, int]:
    """Hits and samples where the event is more likely, and on the other dataset."""
    top, bottom = (right, left) if learned.reverse else (left, right)
    x, y = (sum(learned.event.count(outputs) for outputs in side) for side in (top, bottom))
    return x, sum(outputs.runs for outputs in top), y, sum(outputs.runs for outputs in bottom)


@pytest.mark.parametrize("top", [0, 1])
@pytest.mark.parametrize("kind", ["real", "whole", "response", "sometimes ⊥"])
def test_learned_counts_are_those_of_the_event(kind: str, top: int) -> None:
    learner, left, right = trained(kind, top)
    learned = learner.certify(epsilon=0.0, delta=0.0, runs=10_000, alpha=0.05, thorough=False)
    assert learned.family in ("half-line", "atoms")
    assert (learned.x, learned.n, learned.y, learned.m) == counted(learned, left, right)
    assert learned.n == learned.m == sum(BATCHES)
    # the direction is the one in which it is more likely
    assert learned.x > 1.1 * learned.y
    assert (learned.p, learned.q) == ((learned.x + 0.5) / (learned.n + 1), (learned.y + 0.5) / (learned.m + 1))


def test_cells_hold_the_outputs_that_have_a_score_and_no_others() -> None:
    """Every threshold event of a scale counts what its event does: symbols have no score, and are in none.

    It counts the sample that it is cut by, and then every block once more.
    """
    values = [0.5, BOTTOM, 2, "x", -1.5, (1.0, 2.0), 7.25, None]
    times = np.arange(1, 2 * FOLDS * len(values) + 1).reshape(2, FOLDS, len(values))
    block, axis = Block(values, times), Column(Numbers())
    (scale,) = cut(Sample.of(Numbers(), [block]), "half-line", axis, both=True)
    assert len(scale.edges) >= 3
    for often in (1, 2):
        for at, edge in enumerate(scale.edges.tolist()):
            below = Event(intervals=((-math.inf, edge),), axis=axis).marks(values)
            above = Event(intervals=((edge, math.inf),), axis=axis).marks(values)
            assert not (below & above).any()
            assert (below | above).sum() == 4
            assert np.array_equal(scale.hits[:, :, : at + 1].sum(axis=2), often * times[:, :, below].sum(axis=2))
            assert np.array_equal(scale.hits[:, :, at + 1 :].sum(axis=2), often * times[:, :, above].sum(axis=2))
        count([scale], block)


@pytest.mark.parametrize("kind", ["real", "whole", "response"])
def test_swapping_the_datasets_swaps_the_direction_alone(kind: str) -> None:
    one, other = (trained(kind, top)[0].choose_event(epsilon=0.1, delta=0.0) for top in (0, 1))
    if kind == "response":
        # folds are drawn for one dataset after the other, which the event of a single outcome does not feel
        assert (one.event, one.x, one.n, one.y, one.m) == (other.event, other.x, other.n, other.y, other.m)
    ratios = [math.log(w.p / w.q) for w in (one, other)]
    assert ratios[0] == pytest.approx(ratios[1], rel=0.1)
    assert one.reverse != other.reverse


def test_the_event_of_the_other_direction_has_its_own_counts() -> None:
    """Of symmetric noise it shows as much; where a dataset has more of everything, there is none."""
    learner, left, right = trained("real", 1)
    learned = learner.choose_event(epsilon=0.5, delta=0.0)
    other = learned.other
    assert other is not None
    assert other.reverse != learned.reverse
    assert (other.x, other.n, other.y, other.m) == counted(other, left, right)
    assert other.x > math.exp(0.5) * other.y
    # far more shows in one direction
    response, *_ = trained("response", 1)
    assert response.choose_event(epsilon=0.65, delta=0.0).other is None
    assert learner.certify(epsilon=0.0, delta=0.0, runs=10_000, alpha=0.05).other is None
