"""What runs say of one pair before it is tested: an estimate of ε, and whether it seems to refute.

Searches and shrinks ask these questions of many pairs. Nothing rests on their answers: the verdict on the pair that
they lead to comes from runs of a phase of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpaudit.adversary import Pair
from dpaudit.adversary.events.learner import Learner
from dpaudit.evidence.sampling import GROWTH, Sides, batches, draw
from dpaudit.evidence.sequential import MOST_EPSILON, grid, stake
from dpaudit.language import Claim
from dpaudit.plans.job import PrivacyJob
from dpaudit.stats import clopper_pearson, eprocess
from dpaudit.stats.betting import Bets
from dpaudit.subjects.runner import Runner

LEAST_RUNS = 50
"""Runs a side behind the cheapest estimate of a pair."""
OPTIMISM = 0.3
"""Error of the bounds by which pairs are ranked: an estimate near the middle finds more than a safe one."""


@dataclass(frozen=True)
class Estimate:
    """What a few runs say of a pair.

    Args:
        epsilon: the bound on ε, at an error of `OPTIMISM`, of the event that the runs teach; 0 where they show nothing.
        gap: how far the event's frequencies are from a difference of δ, in [−2, 1]; what is left to climb by at ε = 0.
    """

    epsilon: float
    gap: float

    @property
    def height(self) -> float:
        """One number to climb by: the bound, and below 0 how far the event is from having one."""
        return self.epsilon if self.epsilon > 0 else self.gap - 1


def estimate(job: PrivacyJob, sides: Sides, claim: Claim, *, seed: int) -> Estimate:
    """What these runs say of a pair.

    Args:
        job: its runs say which event is wanted: one that so many can certify.
        sides: outputs on both datasets.
        claim: against which the event is chosen.
        seed: of the learner's folds.
    """
    delta = claim.delta
    learner = Learner(seed=seed)
    learner.add(*sides)
    w = learner.certify(
        epsilon=min(claim.epsilon, MOST_EPSILON), delta=delta, runs=job.runs, alpha=OPTIMISM, thorough=False
    )
    if not w.n or not w.m:
        return Estimate(0.0, -1.0)
    bound = clopper_pearson.epsilon_lower(w.x, w.n, w.y, w.m, delta=delta, alpha=OPTIMISM)
    return Estimate(bound, w.x / w.n - w.y / w.m - delta)


@dataclass(frozen=True)
class Tried:
    """A pair on which the claim was bet against.

    Args:
        refuted: whether the e-process rejected the claim.
        runs: runs a side that were spent.
        learner: what they taught.
    """

    refuted: bool
    runs: int
    learner: Learner


def try_refuting(
    job: PrivacyJob,
    pair: Pair,
    runs: int,
    runner: Runner,
    *,
    seed: int,
    index: int,
    phase: int,
    alpha: float,
    stop_early: bool = False,
    growth: float = GROWTH,
) -> Tried:
    """Bet against the claim on one pair, as the audit itself does.

    Args:
        runs: a side, at most.
        seed, index, phase: of the random streams, as in `draw`.
        alpha: error of the e-process.
        stop_early: end with the batch that rejects the claim; otherwise all runs are spent, and learned from.
        growth: of the runs from batch to batch; fewer batches cost less, and stop later.

    Raises:
        TimeLimitError, MechanismError, OutputError: as `draw`.
    """
    epsilon, delta = min(job.claim.epsilon, MOST_EPSILON), job.claim.delta
    epsilons, at = grid(epsilon, job.runs, delta)
    learner, process = Learner(seed=seed), Bets(epsilons, delta, at=at)
    refuted, spent = False, 0
    for batch, size in enumerate(batches(runs, growth=growth)):
        sides = draw(job, pair, size, runner, seed=seed, index=index, phase=phase, batch=batch)
        spent += size
        if batch:
            stake(process, learner.grow(epsilon=epsilon, delta=delta), sides)
            # by the peak too: where nothing is rejected the bound is 0, which is no refutation of a claim of ε = 0
            refuted = (
                float(process.log_peaks[at]) >= math.log(1 / alpha)
                and eprocess.largest_rejected(epsilons, process.log_peaks, alpha=alpha) >= epsilon
            )
        learner.add(*sides)
        if refuted and stop_early:
            break
    return Tried(refuted, spent, learner)
