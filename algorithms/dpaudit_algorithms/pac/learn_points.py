"""LearnPoints: a proper learner for point functions by A_dist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpaudit.language import (
    BOTTOM,
    THESIS,
    AnyScores,
    Card,
    Claim,
    DatasetError,
    Multiset,
    Program,
    Quality,
    Symmetry,
    Uniform,
    checks,
    exchanges,
    step_scores,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected
from dpaudit_algorithms.pac.concepts import ALL_ZERO
from dpaudit_algorithms.pac.learn_points_theory import LearnPointsCorrectedTheory, LearnPointsTheory


@dataclass(frozen=True)
class PositiveExamples(Quality):
    """q(S, x) = how often (x, 1) occurs in S, for x in {0, …, domain − 1}; 1-sensitive, of 1-bounded growth.

    Source: Stemmer's thesis, LearnPoints, step 1.
    """

    domain: int
    growth = 1

    @property
    def n_solutions(self) -> int:
        return self.domain

    def __call__(self, dataset: Any) -> AnyScores:
        return _positive(self.domain, Multiset.of(dataset))

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Negative examples count nowhere, so which they are is all the same."""
        return exchanges("exchange of negative examples", [record for record in domain if record[1] != 1])


@lru_cache(maxsize=256)
def _positive(domain: int, dataset: Multiset) -> AnyScores:
    counts = {0: 0}
    for (x, y), count in dataset.items:
        if not 0 <= x < domain:
            raise DatasetError(f"The points must lie in 0, …, {domain - 1}; {x!r} does not.")
        if y == 1:
            counts[x] = count
            if x + 1 < domain:
                counts[x + 1] = 0
    return step_scores(list(counts), list(counts.values()), domain)


@dataclass(frozen=True)
class LearnPoints(LearnPointsTheory):
    """LearnPoints as printed.  It inherits the refutation of A_dist: see finding 2 and `LearnPointsCorrected`.

    Its accuracy is refuted where δ is large beside β: on a sample without positive examples all qualities are 0, and
    A_dist's possible outputs are not "ℓ, ⊥" but ⊥ and the solution that ties prefer, which comes out with probability
    δ^{log₂e}/2 however bad it is. Where δ ≤ β the lemma holds, by the proof at `LearnPointsCorrected`.

    Args:
        epsilon: > 0.
        delta: in (0, 1).
        domain: |X|.
        log_base: base of A_dist's log(1/δ), see `ADist`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.2, algorithm LearnPoints and Lemma 6.2.
    """

    epsilon: float
    delta: float
    domain: checks.Count
    log_base: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.chooser  # A_dist checks the rest

    @property
    def claim(self) -> Claim:
        """(ε, δ), Lemma 6.2."""
        return Claim(self.epsilon, self.delta)

    @property
    def chooser(self) -> ADist:
        """A_dist with the quality of step 1."""
        return ADist(self.epsilon, self.delta, PositiveExamples(self.domain), self.log_base)

    def run(self, S: Any) -> Program:
        j = yield self.chooser.on(S)  # steps 1 and 2
        if j is BOTTOM:
            return Uniform(range(self.domain)).spending(Claim(0.0))  # step 4
        return j  # step 3

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Those of A_dist: no other step uses the examples."""
        return self.chooser.symmetries(domain)


@dataclass(frozen=True)
class LearnPointsCorrected(LearnPointsCorrectedTheory):
    """LearnPoints on the corrected A_dist: (ε, δ)-DP as post-processing of `ADistCorrected`.

    The learner's lemma, (α, β)-PAC for |X| ≥ 2/(αβ), holds with n ≥ (16/α)·ln(2/β), αn/4 ≥ 2 + (2/ε)·ln(1/(βδ)), the
    gap at which `ADistCorrected` answers with probability 1 − β/2, and δ ≤ β. Let ℓ be the target and a = D(ℓ).

    1. a > α/2: as printed, ℓ comes at least αn/4 times but for e^{−αn/16} ≤ β/2, and then it is the answer but for β/2.
    2. a ≤ α/2. A concept c_i is bad only if D(i) > α − a, so that there are m ≤ (1 − a)/(α − a) of them. If ℓ does not
       come, with probability (1 − a)^n, A_dist gives ⊥ or, with probability π = (δ/2)·e^{−ε} ≤ β/2, the solution that
       ties prefer; if ℓ comes, ⊥ or ℓ. So it fails with probability ≤ Pr[⊥]·m/|X| + (1 − a)^n·π. With x = a/α,
       m/|X| ≤ (β/2)/(1 − x) and (1 − a)^n ≤ (β/2)^{16x} ≤ 2^{−16x}: at most β/2 times 1/(1 − x) + 2^{−16x}, which is
       convex, 2 at x = 0 and below 2 at x = 0.45. For x in (0.45, 0.5] ℓ comes 7.2·ln(2/β) > 4.9 times on average, and
       at least αn/4 times, 5/9 of that at most, with probability 1/2 or more (the median of a binomial is less than 1
       from its mean); so Pr[⊥] ≤ 1 − (1 − β/2)/2 ≤ 3/4, and it fails with at most (3/4)·β + (β/2)^{8.2} ≤ β.

    Args:
        epsilon: > 0.
        delta: in (0, 1).
        domain: |X|.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.2, algorithm LearnPoints, with step 2 on the corrected A_dist.
    """

    epsilon: float
    delta: float
    domain: checks.Count

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.chooser

    @property
    def claim(self) -> Claim:
        """(ε, δ), Lemma 6.2 on `ADistCorrected`."""
        return Claim(self.epsilon, self.delta)

    @property
    def chooser(self) -> ADistCorrected:
        """The corrected A_dist with the quality of step 1."""
        return ADistCorrected(self.epsilon, self.delta, PositiveExamples(self.domain))

    def run(self, S: Any) -> Program:
        j = yield self.chooser.on(S)  # steps 1 and 2, corrected
        if j is BOTTOM:
            return Uniform(range(self.domain)).spending(Claim(0.0))  # step 4
        return j  # step 3

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Those of A_dist: no other step uses the examples."""
        return self.chooser.symmetries(domain)


@dataclass(frozen=True)
class LearnPointsZero(LearnPoints):
    """LearnPoints with the all-zero concept in place of a random one, so that nothing is asked of |X|.

    The output tells that A_dist gave ⊥, so its violation shows undiminished: see finding 2 and
    `LearnPointsZeroCorrected`. As in `LearnPoints` the accuracy is refuted where δ is large beside β (finding 6).

    Args:
        epsilon, delta, domain, log_base: as of `LearnPoints`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.2, Remark 6.3.
    """

    zero = True

    def run(self, S: Any) -> Program:
        j = yield self.chooser.on(S)  # steps 1 and 2
        return ALL_ZERO if j is BOTTOM else j  # step 3, and the remark in place of step 4

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Those of A_dist: no other step uses the examples."""
        return self.chooser.symmetries(domain)


@dataclass(frozen=True)
class LearnPointsZeroCorrected(LearnPointsCorrected):
    """`LearnPointsZero` on the corrected A_dist: (ε, δ)-DP as post-processing of `ADistCorrected`.

    It is (α, β)-PAC for every |X|, with the n of `LearnPointsCorrected` and δ ≤ β. Let a = D(ℓ) of the target c_ℓ, or 0
    if the target is c_0.

    1. a > α/2: as there.
    2. a ≤ α/2: c_ℓ and c_0 are good. Another concept comes out only if ℓ is not in the sample, so that all qualities
       are 0, and A_dist answers nevertheless, which has probability (δ/2)·e^{−ε} ≤ β.

    Args:
        epsilon, delta, domain: as of `LearnPointsCorrected`.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.2, Remark 6.3, with step 2 on the corrected A_dist.
    """

    zero = True

    def run(self, S: Any) -> Program:
        j = yield self.chooser.on(S)  # steps 1 and 2, corrected
        return ALL_ZERO if j is BOTTOM else j  # step 3, and the remark in place of step 4

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Those of A_dist: no other step uses the examples."""
        return self.chooser.symmetries(domain)


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = (
    "n labelled examples (x, y), x in {0, …, |X| − 1}, y in {0, 1}; epsilon > 0, 0 < delta < 1, |X| ≥ 1. "
    "alpha and beta enter the sample size alone"
)
_OUTPUT = "j in {0, …, |X| − 1}, which denotes c_j (c_j(x) = 1 iff x = j)"

LearnPoints.card = Card(
    name="LearnPoints",
    system="I5",
    title="LearnPoints: a proper learner for point functions",
    paper=THESIS,
    place="§6.2, Lemma 6.2",
    claim="(ε, δ)-DP under replace-one; an (α, β)-PAC proper learner for POINT_X if |X| ≥ 2/(αβ)",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        'A_dist\'s "log(1/δ)" is read to base 2 (log_base = 2).',
        "A_dist's ties go to the lesser point, independently of the data; random ties would not harm accuracy.",
    ),
    variants=("LearnPointsCorrected",),
    findings=(FINDINGS[2], FINDINGS[6]),
)

LearnPointsCorrected.card = Card(
    name="LearnPointsCorrected",
    system="I5",
    title="LearnPoints on the corrected A_dist",
    paper=THESIS,
    place="§6.2, Lemma 6.2, corrected",
    claim="(ε, δ)-DP under replace-one; an (α, β)-PAC proper learner for POINT_X if |X| ≥ 2/(αβ), δ ≤ β",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=("Step 2 runs ADistCorrected.", "The learner's lemma asks for δ ≤ β, too."),
    variants=("LearnPoints",),
)

_WITH_ZERO = f"{_OUTPUT}, or {ALL_ZERO}, which denotes c_0 ≡ 0"

LearnPointsZero.card = Card(
    name="LearnPointsZero",
    system="I11",
    title="LearnPoints with the all-zero hypothesis after ⊥",
    paper=THESIS,
    place="§6.2, Remark 6.3",
    claim="(ε, δ)-DP under replace-one; an (α, β)-PAC learner for POINT_X, proper for POINT_X with c_0",
    inputs=_INPUTS,
    output=_WITH_ZERO,
    deviations=LearnPoints.card.deviations,
    variants=("LearnPointsZeroCorrected", "LearnPoints"),
    findings=(FINDINGS[2], FINDINGS[6]),
)

LearnPointsZeroCorrected.card = Card(
    name="LearnPointsZeroCorrected",
    system="I11",
    title="LearnPoints with the all-zero hypothesis after ⊥, on the corrected A_dist",
    paper=THESIS,
    place="§6.2, Remark 6.3, corrected",
    claim="(ε, δ)-DP under replace-one; an (α, β)-PAC learner for POINT_X, proper for POINT_X with c_0, if δ ≤ β",
    inputs=_INPUTS,
    output=_WITH_ZERO,
    deviations=LearnPointsCorrected.card.deviations,
    variants=("LearnPointsZero", "LearnPointsCorrected"),
)
