"""Small mistakes in correct algorithms are refuted exactly, on datasets of at most four records.

Every original is proved on the same scopes first. A mistake that the claim's slack swallows is no violation and is not
here: the choosing mechanism costs at most 3ε/4, RecConcave (3N − 2)ε of 3Nε, RecPrefix (2N − 1)ε of 2Nε and
LearnThresholds of at most four examples a tenth of ε, so a tenth less noise there breaks nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dpaudit.engine import orchestrator
from dpaudit.language import (
    BOTTOM,
    Bernoulli,
    Laplace,
    Mechanism,
    Multiplicity,
    Multiset,
    Program,
    Quality,
    RandomPairing,
    Scores,
    Softmax,
)
from dpaudit.plans.request import Request, VerifyMode
from dpaudit.results.model import Audit, Verdict
from dpaudit_algorithms.foundations.a_dist import ADistCorrected
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism
from dpaudit_algorithms.foundations.composition import BasicComposition, Interactions
from dpaudit_algorithms.foundations.dominating import DominatingMechanism
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.foundations.laplace_mechanism import Count, Histogram, LaplaceMechanismRounded
from dpaudit_algorithms.interior_points.interior_point import Depth, InteriorPointByMedianCorrected
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_algorithms.interior_points.rec_prefix import Agreements, CommonPrefix, RecPrefixLevel
from dpaudit_algorithms.pac.learn_points import LearnPoints, LearnPointsCorrected
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholdsCorrected

MOST_RECORDS = 4
TWO = Multiplicity((0, 1))


@dataclass(frozen=True)
class HeadStart(Quality):
    """Multiplicities, and public points that every solution has of its own: 1-sensitive, of 1-bounded growth."""

    points: tuple[float, ...]
    growth = 1

    def __call__(self, dataset: Any) -> Scores:
        counts = dict(Multiset.of(dataset).items)
        return Scores([p + counts.get(i, 0) for i, p in enumerate(self.points)])


@dataclass(frozen=True)
class Peaks(Quality):
    """Scores of 0, …, T that a record's sign moves: 1-sensitive, whatever the heights."""

    heights: tuple[float, ...]
    changes: tuple[float, ...]

    def __call__(self, dataset: Any) -> Scores:
        (record,) = dataset
        return Scores(np.array(self.heights) + record * np.array(self.changes))


# --- mutants ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LessNoise(ExponentialMechanism):
    def run(self, S: Any) -> Softmax:
        scores = self.quality(S)
        return Softmax(scores.values, self.epsilon / (2 * 0.9), scores.solutions)


@dataclass(frozen=True)
class WithoutTheTwo(ExponentialMechanism):
    def run(self, S: Any) -> Softmax:
        scores = self.quality(S)
        return Softmax(scores.values, self.epsilon, scores.solutions)


@dataclass(frozen=True)
class TieBreakByData(ExponentialMechanism):
    """Of the solutions within a point of the best, one that the data orders comes for sure."""

    def run(self, S: Any) -> Any:
        scores = self.quality(S)
        if float(np.ptp(scores.values)) <= 1:
            return int(scores.values[0] < scores.values[1])
        return Softmax(scores.values, self.epsilon / 2, scores.solutions)


@dataclass(frozen=True)
class RoundedLessNoise(LaplaceMechanismRounded):
    def run(self, S: Any) -> Any:
        return Laplace(self.query(S)[0], 0.9 / self.epsilon).floor().clip(self.low, self.high)


@dataclass(frozen=True)
class SensitivityOfOne(LaplaceMechanismRounded):
    """A histogram's sensitivity is 2."""

    def run(self, S: Any) -> Program:
        first, second = self.query(S)
        one = yield Laplace(first, 1 / self.epsilon).floor().clip(self.low, self.high)
        other = yield Laplace(second, 1 / self.epsilon).floor().clip(self.low, self.high)
        return one, other


@dataclass(frozen=True)
class InteriorWithoutTheTwo(InteriorPointByMedianCorrected):
    def run(self, S: Any) -> Softmax:
        return Softmax(Depth(self.domain)(S).values, self.epsilon, range(1, self.domain + 1))


@dataclass(frozen=True)
class DistLessNoise(ADistCorrected):
    less: float = 0.9

    def run(self, S: Any) -> Program:
        h1, h2 = self.quality(S).two_highest()
        if (yield Laplace(h1.score - h2.score, self.less * 2 / self.epsilon) < self.threshold):
            return BOTTOM
        return h1.solution


@dataclass(frozen=True)
class DistThresholdLower(ADistCorrected):
    @property
    def threshold(self) -> float:
        return super().threshold - 1


@dataclass(frozen=True)
class DistTieBreakByData(ADistCorrected):
    """The one that is behind comes where the number of records at 0 is odd."""

    def run(self, S: Any) -> Program:
        scores = self.quality(S)
        h1, h2 = scores.two_highest()
        if scores.values[0] % 2 == 1:
            h1, h2 = h2, h1
        if (yield Laplace(abs(h1.score - h2.score), 2 / self.epsilon) < self.threshold):
            return BOTTOM
        return h1.solution


@dataclass(frozen=True)
class ChoosingWithoutTheFour(ChoosingMechanism):
    """Probability ∝ exp(ε·q) in place of exp((ε/2)·q/2)."""

    def run(self, S: Any) -> Any:
        scores = self.quality(S)
        if (yield Laplace(float(scores.values.max()), 4 / self.epsilon) < self.threshold):
            return BOTTOM
        return Softmax(scores.values, self.epsilon, scores.solutions)


@dataclass(frozen=True)
class GroupOneFurther(GroupPrivacy):
    """Counts one more where it counts any."""

    def run(self, S: Any) -> Bernoulli:
        return super().run(Multiset.of(S).changed(add=(1,)) if dict(Multiset.of(S).items).get(1) else S)


@dataclass(frozen=True)
class OneInteractionMore(BasicComposition):
    @property
    def interactions(self) -> Interactions:
        return Interactions(DominatingMechanism(self.epsilon, self.delta), self.k + 1)


@dataclass(frozen=True)
class FirstThatAgrees(LearnThresholdsCorrected):
    """Where a threshold labels all examples rightly, the first such one comes for sure."""

    def run(self, S: Any) -> Any:
        best = Consistency(self.size)(S).best()
        return best.solution if best.score == len(S) else super().run(S)


@dataclass(frozen=True)
class LastStepWithoutNoise(RecPrefixLevel):
    """Step 8 compares the count of step 7 itself, for |X| above the base case."""

    def run(self, dataset: Any) -> Program:
        S, k, bits = Multiset.of(dataset), self.trim, self.bits
        lengths = RandomPairing(S.smallest(len(S) - 2 * k), CommonPrefix(bits))
        length = min((yield lengths.then(self.next_level.on)) + 1, bits)
        L = yield ChoosingMechanism(self.beta, self.epsilon, self.delta, Agreements(bits, length)).on(S)
        L0 = (0 if L is BOTTOM else L) << (bits - length)
        L1 = min(L0 + (1 << (bits - length)) - 1, self.size - 1)
        return L1 if S.at_least(L1) >= 3 * k / 2 else L0


LEAD = HeadStart((24.0, 0.0))
"""Above A_dist's threshold, whatever four records do."""
SPIKES = Peaks(
    tuple({5: 99.0, 20: 101.0}.get(i, -1_000.0) for i in range(41)),
    tuple({5: 1.0, 20: -1.0}.get(i, 0.0) for i in range(41)),
)

MUTANTS: list[tuple[str, Mechanism, Mechanism, str]] = [
    ("exponential, noise × 0.9", ExponentialMechanism(2.0, TWO), LessNoise(2.0, TWO), "sampled_from([0, 1])"),
    ("exponential, factor 2", ExponentialMechanism(1.0, TWO), WithoutTheTwo(1.0, TWO), "sampled_from([0, 1])"),
    ("exponential, tie-break", ExponentialMechanism(1.0, TWO), TieBreakByData(1.0, TWO), "sampled_from([0, 1])"),
    (
        "Laplace, noise × 0.9",
        LaplaceMechanismRounded(1.0, Count(1), -2, 6),
        RoundedLessNoise(1.0, Count(1), -2, 6),
        "sampled_from([0, 1])",
    ),
    (
        "Laplace, sensitivity 1",
        LaplaceMechanismRounded(0.5, Histogram((0, 1)), -2, 6),
        SensitivityOfOne(0.5, Histogram((0, 1)), -2, 6),
        "sampled_from([0, 1])",
    ),
    (
        "interior point, factor 2",
        InteriorPointByMedianCorrected(1.0, 3),
        InteriorWithoutTheTwo(1.0, 3),
        "sampled_from([1, 2, 3])",
    ),
    ("A_dist, noise × 0.9", ADistCorrected(1.0, 1e-4, LEAD), DistLessNoise(1.0, 1e-4, LEAD), "sampled_from([0, 1])"),
    ("A_dist, factor 2", ADistCorrected(1.0, 1e-4, LEAD), DistLessNoise(1.0, 1e-4, LEAD, 0.5), "sampled_from([0, 1])"),
    (
        "A_dist, threshold one lower",
        ADistCorrected(2.0, 0.05, TWO),
        DistThresholdLower(2.0, 0.05, TWO),
        "sampled_from([0, 1])",
    ),
    ("A_dist, tie-break", ADistCorrected(1.0, 1e-4, LEAD), DistTieBreakByData(1.0, 1e-4, LEAD), "sampled_from([0, 1])"),
    (
        "choosing, factor 4",
        ChoosingMechanism(0.9, 2.0, 1e-3, HeadStart((60.0, 60.0))),
        ChoosingWithoutTheFour(0.9, 2.0, 1e-3, HeadStart((60.0, 60.0))),
        "sampled_from([0, 1])",
    ),
    (
        "RecConcave, factor 2 of A_dist",
        RecConcaveCorrected(40, SPIKES, 100.0, 0.5, 2.5, 0.01),
        RecConcave(40, SPIKES, 100.0, 0.5, 2.5, 0.01),
        "sampled_from([0, 1])",
    ),
]


MUTANTS += [
    ("group, one further", GroupPrivacy(0.5, 0.001), GroupOneFurther(0.5, 0.001), "sampled_from([0, 1])"),
    ("composition, k + 1", BasicComposition(0.5, 0.01, 2), OneInteractionMore(0.5, 0.01, 2), "sampled_from([0, 1])"),
    (
        "LearnPoints, factor 2 of A_dist",
        LearnPointsCorrected(2.0, 0.02, 2),
        LearnPoints(2.0, 0.02, 2),
        "sampled_from([(0, 1), (1, 1)])",
    ),
    (
        "RecPrefix, no noise in step 7",
        RecPrefixLevel(16, 1.0, 1e-3, 0.1, 1, 4),
        LastStepWithoutNoise(16, 1.0, 1e-3, 0.1, 1, 4),
        "sampled_from([0, 7, 15])",
    ),
    (
        "LearnThresholds, tie-break",
        LearnThresholdsCorrected(4, 0.5, 1.0, 1e-6, base=2),
        FirstThatAgrees(4, 0.5, 1.0, 1e-6, base=2),
        "tuples(integers(0, 3), integers(0, 1))",
    ),
]


@pytest.mark.slow(
    only=[
        "A_dist, factor 2", "A_dist, tie-break", "Laplace, sensitivity 1", "LearnPoints, factor 2 of A_dist",
        "LearnThresholds, tie-*", "RecPrefix, no noise in step 7", "composition, k + 1", "exponential, factor 2",
    ]
)
@pytest.mark.parametrize(("original", "mutant", "data"), [m[1:] for m in MUTANTS], ids=[m[0] for m in MUTANTS])
def test_a_mutant_is_refuted_and_the_original_proved(original: Mechanism, mutant: Mechanism, data: str) -> None:
    one_record = isinstance(getattr(original, "quality", None), Peaks)
    # a record of the composition has a transcript for each interaction: its domain is larger than the others
    most = MOST_RECORDS - 1 if isinstance(original, BasicComposition) else MOST_RECORDS
    sizes = [1] if one_record else range(1, most + 1)
    assert {verified(original, size, data).verdict for size in sizes} == {Verdict.PASS}
    found = [verified(mutant, size, data) for size in sizes]
    refuted = [audit for audit in found if audit.verdict is Verdict.FAIL]
    assert refuted
    proof, claim = refuted[0].proof, mutant.claim
    assert proof is not None
    assert claim is not None
    assert proof.epsilon_low is None or proof.epsilon_low > claim.epsilon * (1 + 1e-6)
    # by hand: the softmax's mutants cost up to 1/0.9 and 2 times ε
    if isinstance(mutant, LessNoise):
        assert proof.epsilon_high is not None
        assert proof.epsilon_high <= claim.epsilon / 0.9 + 1e-12
    assert math.isfinite(claim.epsilon)


def verified(mechanism: Mechanism, size: int, data: str) -> Audit:
    (audit,) = orchestrator.run(Request((mechanism,), data=data, verify=VerifyMode(None, size))).audits
    return audit
