"""What runs say of one pair before it is tested: an estimate of ε, and whether it seems to refute.

Searches and minimisers ask these questions of many pairs. Nothing rests on their answers: the verdict on the pair that
they lead to comes from runs of a phase of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpaudit.adversary import Pair
from dpaudit.adversary.events.learner import Learner
from dpaudit.evidence.sampling import GROWTH, SEARCH, batches, draw
from dpaudit.evidence.sequential import MOST_EPSILON, grid, update
from dpaudit.language import Claim
from dpaudit.plans.job import PrivacyJob
from dpaudit.stats import clopper_pearson, eprocess
from dpaudit.subjects.runner import Runner

LEAST_RUNS = 50
"""Samples per dataset of the cheapest estimate of a pair."""
SUSPICION = 0.001
"""Error of the bound that must exceed the claim before it is tested on a pair at once."""
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
    suspicious: bool = False
    """Whether the claim would be rejected at an error of `SUSPICION`, if the event had not been chosen on the way."""

    @property
    def height(self) -> float:
        """One number to climb by: the bound, and below 0 how far the event is from having one."""
        return self.epsilon if self.epsilon > 0 else self.gap - 1


@dataclass(frozen=True)
class Tried:
    """A pair on which the claim was tested.

    Args:
        refuted: whether the e-process rejected the claim.
        runs: samples per dataset.
        learner: what they taught.
    """

    refuted: bool
    runs: int
    learner: Learner


@dataclass(frozen=True)
class SampledObjective:
    """What samples say of a pair: for every search that knows a program by its outputs alone, ours and Hypothesis's.

    Args:
        job: the subject, the claim, and the samples of its audit, which must be enough for the learned events.
        runner: takes the samples.
        seed: of all samples and of the learners' folds.
    """

    job: PrivacyJob
    runner: Runner
    seed: int

    def estimate(self, pair: Pair, runs: int, *, index: int, claim: Claim | None = None) -> Estimate:
        """How far some samples are from the claim.

        Args:
            runs: of each dataset.
            index: of the random stream, as in `draw`.
            claim: against which the event is chosen; the job's without it.

        Raises:
            TimeLimitError, MechanismError, OutputError: as `draw`.
        """
        claim = self.job.claim if claim is None else claim
        samples = draw(self.job, pair, runs, self.runner, seed=self.seed, index=index, phase=SEARCH, batch=0)
        delta = claim.delta
        learner = Learner(seed=self.seed)
        learner.add(*samples)
        w = learner.certify(
            epsilon=min(claim.epsilon, MOST_EPSILON), delta=delta, runs=self.job.runs, alpha=OPTIMISM, thorough=False
        )
        if not w.n or not w.m:
            return Estimate(0.0, -1.0)
        bound, strict = clopper_pearson.epsilon_lower(w.x, w.n, w.y, w.m, delta=delta, alpha=OPTIMISM), 0.0
        if bound > claim.epsilon:
            strict = clopper_pearson.epsilon_lower(w.x, w.n, w.y, w.m, delta=delta, alpha=SUSPICION)
        return Estimate(bound, w.x / w.n - w.y / w.m - delta, strict > claim.epsilon)

    def test(
        self,
        pair: Pair,
        runs: int,
        *,
        index: int,
        phase: int,
        alpha: float,
        stop_early: bool = False,
        growth: float = GROWTH,
    ) -> Tried:
        """Test the claim on one pair, as the audit itself does.

        Args:
            runs: of each dataset, at most.
            index, phase: of the random streams, as in `draw`.
            alpha: error of the e-process.
            stop_early: end with the batch that rejects the claim; otherwise all samples are taken, and learned from.
            growth: of the samples from batch to batch; fewer batches cost less, and stop later.

        Raises:
            TimeLimitError, MechanismError, OutputError: as `draw`.
        """
        job = self.job
        epsilon, delta = min(job.claim.epsilon, MOST_EPSILON), job.claim.delta
        epsilons, at = grid(epsilon, job.runs, delta)
        learner, process = Learner(seed=self.seed), eprocess.EProcess(epsilons, delta)
        refuted, used = False, 0
        for batch, size in enumerate(batches(runs, growth=growth)):
            samples = draw(job, pair, size, self.runner, seed=self.seed, index=index, phase=phase, batch=batch)
            used += size
            if batch:
                update(process, learner.choose_event(epsilon=epsilon, delta=delta), samples)
                # by the peak too: where nothing is rejected the bound is 0, which is no refutation of a claim of ε = 0
                refuted = (
                    float(process.log_peaks[at]) >= math.log(1 / alpha)
                    and eprocess.largest_rejected(epsilons, process.log_peaks, alpha=alpha) >= epsilon
                )
            learner.add(*samples)
            if refuted and stop_early:
                break
        return Tried(refuted, used, learner)
