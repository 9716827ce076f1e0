"""The exponential mechanism among labels that are given in blocks, against the table of all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from flint import ctx
from numpy.typing import NDArray
from scipy import stats

from dpaudit.errors import NotEnumerableError, ParameterError
from dpaudit.interpret.enclosures import probabilities
from dpaudit.language import Levels, LevelSoftmax, Softmax
from dpaudit.language.distributions import levels as module
from dpaudit.stats.arb import PRECISION


@dataclass(frozen=True)
class Given(Levels):
    """Levels written out."""

    blocks: tuple[tuple[int, ...], ...]

    @property
    def starts(self) -> NDArray[np.int64]:
        return np.cumsum([0, *(len(block) for block in self.blocks)])

    @property
    def tally(self) -> NDArray[np.int64]:
        return np.array([np.bincount(np.array(block, dtype=int), minlength=9) for block in self.blocks])

    def block(self, at: int) -> NDArray[np.int64]:
        return np.array(self.blocks[at], dtype=np.int64)


SOME = Given(((3, 3, 5), (), (1,), (8, 1, 3, 3)))


@pytest.mark.parametrize("coefficient", [-0.5, 0.0, 0.7, -900.0])
def test_probabilities_are_those_of_a_softmax(coefficient: float) -> None:
    draw, table = LevelSoftmax(SOME, coefficient), Softmax(np.array([3, 3, 5, 1, 8, 1, 3, 3.0]), coefficient)
    assert draw.finite
    np.testing.assert_array_equal(draw.values, np.arange(8))
    np.testing.assert_allclose(draw.probs, table.probs, rtol=1e-14)
    np.testing.assert_allclose(np.exp(draw.log_probs(draw.each)), table.probs, rtol=1e-12)
    with ctx.workprec(PRECISION):
        for mine, other in zip(probabilities(draw), probabilities(table), strict=True):
            assert mine.overlaps(other)
            assert float(mine.rad()) < 1e-30


@pytest.mark.parametrize("coefficient", [-0.5, 0.7, -900.0])
def test_draws_of_many_labels_follow_the_table(coefficient: float, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = LevelSoftmax(SOME, coefficient)
    probs = draw.probs
    monkeypatch.setattr(module, "ENUMERATED_LABELS", 4)
    assert not draw.finite
    with pytest.raises(NotEnumerableError, match="8 labels are too many"):
        _ = LevelSoftmax(SOME, coefficient).each
    drawn = draw.draw(np.random.default_rng(3), 20_000)
    seen = np.bincount(drawn, minlength=8)
    assert not seen[probs == 0].any()
    possible = probs > 0
    # chi-square with a false alarm of 1e-6
    if possible.sum() > 1:
        assert stats.chisquare(seen[possible], probs[possible] * 20_000).pvalue > 1e-6
    assert dict(draw.grouped(np.random.default_rng(3), 20_000)) == {i: k for i, k in enumerate(seen.tolist()) if k}


def test_what_it_refuses() -> None:
    with pytest.raises(ParameterError, match="at least one label"):
        LevelSoftmax(Given(()), -1.0)
    with pytest.raises(ParameterError, match="coefficient"):
        LevelSoftmax(SOME, math.nan)
