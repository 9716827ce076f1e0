"""Outcomes too rare for doubles refute nothing: 5e-324 beside 0 is no infinite ratio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import dpaudit
from dpaudit.evidence.exact import MOST_INTERVALS
from dpaudit.language import Claim, Mechanism, Softmax
from dpaudit.language.distributions import Distribution


@dataclass(frozen=True)
class Far(Mechanism):
    """The exponential mechanism for the place nearest to the sum, on a line so long that its end underflows."""

    places: int = 30_000
    slope: float = 0.03

    @property
    def claim(self) -> Claim:
        return Claim(2 * self.slope)

    def run(self, dataset: tuple[int, ...]) -> Distribution:
        return Softmax(-np.abs(np.arange(self.places) - float(sum(dataset))), self.slope)


def test_a_probability_that_is_rounded_to_zero_is_no_violation() -> None:
    far = Far()
    assert far.places > MOST_INTERVALS
    result = dpaudit.audit(far, pair=([0], [1]), runs=200)
    assert result.verdict == "pass"
    # ε of the pair: the ratio of two neighbouring weights, times that of the sums of the weights
    weights = [np.exp(-far.slope * np.abs(np.arange(far.places) - centre)).sum() for centre in (0, 1)]
    exact = far.slope + float(np.log(weights[1] / weights[0]))
    (evidence,) = result.audit.exact
    assert evidence.epsilon is not None
    assert abs(evidence.epsilon - exact) < 1e-9


def test_a_smaller_claim_is_refuted_by_an_outcome_that_doubles_know() -> None:
    result = dpaudit.audit(Far(), 0.05, pair=([0], [1]), runs=200)
    assert result.verdict == "fail"
    (evidence,) = result.audit.exact
    assert max(evidence.p, evidence.q) > 1e-250
