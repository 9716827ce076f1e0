"""LearnPoints: a proper learner for point functions by A_dist."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from dpaudit.language import (
    BOTTOM,
    THESIS,
    AnyScores,
    Card,
    Claim,
    DatasetError,
    Mechanism,
    Multiset,
    Program,
    Quality,
    Symmetry,
    Uniform,
    checks,
    exchanges,
    step_scores,
)
from dpaudit_algorithms.a_dist import ADist, ADistCorrected

_INPUTS = (
    "n labelled examples (x, y), x in {0, …, |X| − 1}, y in {0, 1}; epsilon > 0, 0 < delta < 1, |X| ≥ 1. "
    "alpha and beta enter the sample size alone"
)
_OUTPUT = "j in {0, …, |X| − 1}, which stands for c_j (c_j(x) = 1 iff x = j)"


@dataclass(frozen=True)
class PositiveExamples(Quality):
    """q(S, x) = how often (x, 1) stands in S, for x in {0, …, domain − 1}; 1-sensitive, of 1-bounded growth.

    Source: Stemmer's thesis, LearnPoints, step 1.
    """

    domain: int
    growth = 1

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
class LearnPoints(Mechanism):
    """LearnPoints as printed.  It inherits the refutation of A_dist: see FINDINGS.md and `LearnPointsCorrected`.

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
    domain: int
    log_base: float = 2.0

    card: ClassVar[Card] = Card(
        name="LearnPoints",
        system="I5",
        title="LearnPoints: a proper learner for point functions",
        paper=THESIS,
        place="§6.2, Lemma 6.2",
        claim="(ε, δ)-DP under replace-one; an (α, β)-PAC proper learner for POINT_X if |X| ≥ 2/(αβ)",
        inputs=_INPUTS,
        output=_OUTPUT,
        differs=('A_dist\'s "log(1/δ)" is read to base 2 (log_base = 2).',),
        variants=("LearnPointsCorrected",),
    )

    def __post_init__(self) -> None:
        checks.whole("domain", self.domain, least=1)
        _ = self.chooser  # A_dist checks the rest

    @property
    def claim(self) -> Claim:
        """(ε, δ), Lemma 6.2."""
        return Claim(self.epsilon, self.delta)

    @property
    def chooser(self) -> ADist:
        """A_dist with the quality of step 1."""
        return ADist(self.epsilon, self.delta, PositiveExamples(self.domain), self.log_base)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Those of A_dist: of the examples, nothing else looks at them."""
        return self.chooser.symmetries(domain)

    def run(self, S: Any) -> Program:
        j = yield self.chooser.on(S)  # steps 1 and 2
        if j is BOTTOM:
            return Uniform(range(self.domain)).spending(Claim(0.0))  # step 4
        return j  # step 3


@dataclass(frozen=True)
class LearnPointsCorrected(Mechanism):
    """LearnPoints on the mended A_dist: (ε, δ)-DP as post-processing of `ADistCorrected`.

    The learner's lemma holds with n ≥ (16/α)·ln(2/β) and αn/4 ≥ 2 + (2/ε)·ln(1/(βδ)), the gap at which
    `ADistCorrected` answers with probability 1 − β/2.

    Args:
        epsilon: > 0.
        delta: in (0, 1).
        domain: |X|.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 6.2, algorithm LearnPoints, with step 2 on the mended A_dist.
    """

    epsilon: float
    delta: float
    domain: int

    card: ClassVar[Card] = Card(
        name="LearnPointsCorrected",
        system="I5",
        title="LearnPoints on the mended A_dist",
        paper=THESIS,
        place="§6.2, Lemma 6.2, mended",
        claim="(ε, δ)-DP under replace-one; an (α, β)-PAC proper learner for POINT_X if |X| ≥ 2/(αβ)",
        inputs=_INPUTS,
        output=_OUTPUT,
        differs=("Step 2 runs ADistCorrected.",),
        variants=("LearnPoints",),
    )

    def __post_init__(self) -> None:
        checks.whole("domain", self.domain, least=1)
        _ = self.chooser

    @property
    def claim(self) -> Claim:
        """(ε, δ), Lemma 6.2 on `ADistCorrected`."""
        return Claim(self.epsilon, self.delta)

    @property
    def chooser(self) -> ADistCorrected:
        """The mended A_dist with the quality of step 1."""
        return ADistCorrected(self.epsilon, self.delta, PositiveExamples(self.domain))

    def sample_size(self, alpha: float, beta: float) -> int:
        """Labelled examples that make it an (alpha, beta)-PAC learner where |X| ≥ 2/(alpha·beta).

        Raises:
            ParameterError: alpha or beta outside (0, 1).
        """
        checks.probability("alpha", alpha, open_ends=True)
        checks.probability("beta", beta, open_ends=True)
        gap = 2 + 2 / self.epsilon * math.log(1 / (beta * self.delta))
        return math.ceil(max(16 / alpha * math.log(2 / beta), 4 * gap / alpha))

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Those of A_dist: of the examples, nothing else looks at them."""
        return self.chooser.symmetries(domain)

    def run(self, S: Any) -> Program:
        j = yield self.chooser.on(S)  # steps 1 and 2, mended
        if j is BOTTOM:
            return Uniform(range(self.domain)).spending(Claim(0.0))  # step 4
        return j  # step 3
