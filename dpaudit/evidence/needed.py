"""The number of samples that a claim needs to be tested at all, and with which a large violation shows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from dpaudit.evidence.sequential import MOST_EPSILON
from dpaudit.language import Claim
from dpaudit.plans.alpha_shares import learning_runs
from dpaudit.stats import power

POSSIBLE_RUNS = 10**12
"""No remedy names more runs than this."""
MANY = 10**5
"""From so many on, they are those of the test's limit distribution; the test itself takes minutes."""
SMALLEST = 0.1
"""The ε whose multiple must be detectable if the claim is ε = 0."""
POWER = 0.9
"""With which the violation must be detected."""


@dataclass(frozen=True)
class Needed:
    """Samples per dataset of a pair, those for learning included; None where no feasible number is enough.

    Args:
        least: with fewer, no outputs whatsoever could refute the claim.
        for_power: with these, a violation of `target` would be detected with probability `POWER`.
        target: the ε of that violation.
    """

    least: int | None
    for_power: int | None
    target: float


def samples_needed(claim: Claim, *, alpha: float, min_power: float) -> Needed:
    """What an audit of a claim takes.

    Args:
        claim: δ < 1.
        alpha: error of one confidence bound at the last sample size.
        min_power: the violation to detect, as a multiple of the claimed ε.
    """
    target = violation_to_detect(claim, min_power)
    counted = counted_for_power(claim, target, alpha=alpha)
    return Needed(_least(claim, alpha), None if counted is None else with_learning(counted), target)


def violation_to_detect(claim: Claim, min_power: float) -> float:
    """The ε of the violation that an audit must be able to detect; of a curve, at the δ that is reported."""
    if claim.curve is not None:
        if math.isinf(min_power):
            return math.inf
        return claim.curve.scaled(min_power).epsilon_at(claim.delta, tolerance=1e-3)
    return min_power * (claim.epsilon or SMALLEST)


def counted_for_power(claim: Claim, target: float, *, alpha: float) -> int | None:
    """Fresh samples per dataset that detect a violation of ε = `target`, learning not included; None if infeasible.

    The violation is taken to be on an event of probability ½ on one dataset and e^−target/2 on the other, as that of a
    noisy count is.
    """
    if not target < math.inf:
        return None
    p = 0.5 + claim.delta / 2
    q = (p - claim.delta) * math.exp(-target)
    limit = power.information_limit(p, q, epsilon=claim.epsilon, delta=claim.delta, alpha=alpha)
    if limit >= POSSIBLE_RUNS:
        return None
    if limit >= MANY:
        quantile = NormalDist().inv_cdf
        return math.ceil((quantile(1 - alpha) + quantile(POWER)) ** 2 / (2 * math.log(1 / alpha)) * limit)
    return power.runs_needed(p, q, epsilon=claim.epsilon, delta=claim.delta, alpha=alpha, power=POWER)


def detectable(claim: Claim, runs: int, *, alpha: float) -> float | None:
    """The smallest ε of a violation that an audit of so many samples per dataset detects with probability `POWER`.

    As of `counted_for_power`, the violation is on an event of probability ½ at the claim's limit. None if there is no
    such ε.
    """
    counted = runs - learning_runs(runs)
    if claim.delta >= 1 or claim.epsilon >= MOST_EPSILON or counted < 1:
        return None
    q = (1 - claim.delta) / 2 * math.exp(-claim.epsilon)
    found = power.detectable_epsilon(
        q, counted, counted, epsilon=claim.epsilon, delta=claim.delta, alpha=alpha, power=POWER
    )
    return found if math.isfinite(found) else None


def with_learning(counted: int) -> int:
    """The samples of a pair of which this many are fresh after learning."""
    runs = counted
    while runs - learning_runs(runs) < counted:
        runs = math.ceil(1.02 * runs)
    return runs


def _least(claim: Claim, alpha: float) -> int | None:
    low, high = 0, 1
    while power.largest_certifiable(high, alpha, delta=claim.delta) <= claim.epsilon:
        low, high = high, 2 * high
        if high > POSSIBLE_RUNS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if power.largest_certifiable(middle, alpha, delta=claim.delta) <= claim.epsilon:
            low = middle
        else:
            high = middle
    return with_learning(high)
