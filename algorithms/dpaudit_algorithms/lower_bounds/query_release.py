"""Query release for classes of predicates: one for thresholds, its refinement, and a learner made of two releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Annotated, Any

from dpaudit.language import (
    THESIS,
    Card,
    Claim,
    DatasetError,
    DiscreteLaplace,
    Mechanism,
    Multiset,
    ParameterError,
    Product,
    Program,
    cached,
    checks,
)
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.lower_bounds.query_release_theory import (
    PRINTED,
    LearnerFromReleaseTheory,
    RefinedReleaseTheory,
    ThresholdReleaseTheory,
    exactly,
)
from dpaudit_algorithms.pac.concepts import ConceptClass


@dataclass(frozen=True)
class ThresholdRelease(ThresholdReleaseTheory):
    """Releases all thresholds on X = {0, …, size − 1}: sums of noisy counts.

    The counts of all elements but the greatest get two-sided geometric noise of scale 2/ε and are moved into
    {0, …, n}; a_j is the sum of those up to j, over n, and the last answer is 1. Replacing a record moves two of these
    counts by 1 at most (one, if |X| = 2): ε. If every noise is at most αn/(|X| − 1), all answers are within α.

    Args:
        epsilon: > 0.
        size: |X| ≥ 2.
        alpha: of the utility claim alone, in (0, 1).

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Definition 6.21 and section 7.6 (the task), Theorem 3.25 (the noise).
    """

    epsilon: checks.Positive
    size: Annotated[int, checks.least(2)]
    alpha: Annotated[float | Fraction, checks.OPEN_UNIT] = PRINTED

    @property
    def claim(self) -> Claim:
        """ε, Theorem 3.25 with k = 2."""
        return Claim(self.epsilon)

    @property
    def scale(self) -> float:
        """2/ε, in records."""
        return 2 / self.epsilon

    def run(self, D: Any) -> Program:
        records = Multiset.of(D)
        n, counts = len(records), _counts(self.size, records)
        # noisy counts of all elements but the greatest, moved into {0, …, n}
        noise = yield _noise(self.scale, self.size - 1, n, self.claim)
        noisy = (min(max(count + int(z), 0), n) for count, z in zip(counts, noise, strict=False))
        # a_j: the sum of those up to j, over n; and 1 for the greatest element
        return (*(Fraction(total, n) for total in accumulate(noisy)), Fraction(1))


def _counts(size: int, records: Multiset) -> list[int]:
    """How often each element occurs, shape (|X|,)."""
    outside = [x for x in records.values if x not in range(size)]
    if outside or not records.items:
        raise DatasetError(f"The records must be at least one, in 0, …, {size - 1}, not {outside[:1] or 'none'}.")
    counts = dict(records.items)
    return [counts.get(x, 0) for x in range(size)]


@cached(maxsize=64)
def _noise(scale: float, counts: int, records: int, claim: Claim) -> Product:
    """Cut off where the noisy counts would be: one draw, for any dataset, as its values may be many."""
    return Product((DiscreteLaplace(0, scale).clip(-records, records),) * counts).spending(claim)


@dataclass(frozen=True)
class RefinedRelease(RefinedReleaseTheory):
    """The α-refinement: on 150αn records, runs Ã on them with (1 − 150α)n copies of min X, and stretches its answers.

    If Ã is α-accurate on n records, this is 1/150-accurate on 150αn: c(D̃) = t/n + 1 − 150α for c(D) = t/(150αn), so
    that a_c − c(D) = (ã_c − c(D̃))/(150α), from above and from below.

    Args:
        inner: Ã, a release of answers for a class of concepts that all label min X with 1.
        alpha: α in (0, 1/150], exactly as written in decimals, or a fraction.
        least: min X.

    Raises:
        ParameterError: Ã claims nothing, or alpha outside its range.

    Source: Stemmer's thesis, section 7.6, proof of Theorem 7.29.
    """

    inner: Mechanism
    alpha: checks.ExactPositive
    least: Any = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        claim_of(self.inner)
        if exactly(self.alpha) > PRINTED:
            raise ParameterError(f"alpha must be at most 1/150, not {self.alpha!r}.")

    @property
    def claim(self) -> Claim:
        """That of Ã: one record of D is one record of D̃."""
        return claim_of(self.inner)

    def padded(self, records: int) -> int:
        """n, for 150αn records.

        Raises:
            DatasetError: it is not whole.
        """
        n = records / (150 * exactly(self.alpha))
        if n.denominator != 1:
            raise DatasetError(f"With alpha = {self.alpha}, {records} records are 150αn for no whole n.")
        return n.numerator

    def run(self, D: Any) -> Program:
        records, stretch = Multiset.of(D), 150 * exactly(self.alpha)
        n = self.padded(len(records))
        # ã_c ← Ã(D̃), D̃ the elements of D and (1 − 150α)n copies of min X
        answers = yield self.inner.on(_joined(records, ((self.least, n - len(records)),)))
        # a_c = (ã_c − 1 + 150α)/(150α)
        return tuple((a - 1 + stretch) / stretch for a in answers)


@dataclass(frozen=True)
class LearnerFromRelease(LearnerFromReleaseTheory):
    """A proper learner from a release: two releases, of the positive and of the negative examples.

    D₁ holds x for every example (x, 1) and p₁ for every (x, 0); D₀ the other way round. Every concept labels p₁ with
    1, so n·c(D₁) = #{(x, 1): c(x) = 1} + #neg and n·c(D₀) = #{(x, 0): c(x) = 1} + #pos, and the number of errors is

        n·err_S(c) = #pos − (n·c(D₁) − #neg) + n·c(D₀) − #pos = n·c(D₀) − n·c(D₁) + #neg.

    The output is the first concept with the least a₀ − a₁. Where both releases are within α₀, its empirical error
    is at most 4α₀ above the least: 4/150 for Lemma 7.30's release, with probability 1 − 2/150; Theorem 3.17 then gives
    error ≤ 1/5 with probability 4/5. One example is one record of D₁ and one of D₀: (2ε, 2δ), at (1/150, δ) less than
    the (1/5, 5δ) of the lemma.

    Args:
        inner: a release of answers, in the order of the class.
        concepts: C.
        p1: an element that every concept labels with 1 (min X for thresholds).

    Raises:
        ParameterError: the release claims nothing, or a concept labels p1 with 0.

    Source: Stemmer's thesis, section 7.6, Lemma 7.30; the construction, which is cited there and not printed, is ours.
    """

    inner: Mechanism
    concepts: ConceptClass
    p1: Any = 0

    def __post_init__(self) -> None:
        claim_of(self.inner)
        if not all(self.concepts.label(c, self.p1) == 1 for c in self.concepts.concepts):
            raise ParameterError(f"p1 must be labelled 1 by every concept; {self.p1!r} is not.")

    @property
    def claim(self) -> Claim:
        """(2ε, 2δ), two releases."""
        return claim_of(self.inner).scaled(2)

    def run(self, S: Any) -> Program:
        examples = Multiset.of(S).items
        positive, negative = (tuple((x, k) for (x, y), k in examples if y == label) for label in (1, 0))
        n_positive, n_negative = (sum(k for _, k in part) for part in (positive, negative))
        # answers on D₁: x for every (x, 1), p₁ for every (x, 0); and on D₀, the other way round
        a1: tuple[Fraction, ...] = yield self.inner.on(_joined(positive, ((self.p1, n_negative),)))
        a0: tuple[Fraction, ...] = yield self.inner.on(_joined(negative, ((self.p1, n_positive),)))
        # the first concept with the least a₀ − a₁
        errors = [zero - one for zero, one in zip(a0, a1, strict=True)]
        return self.concepts.concepts[errors.index(min(errors))]


def _joined(records: Multiset | Sequence[tuple[Any, int]], more: Sequence[tuple[Any, int]]) -> Multiset:
    """Records with their multiplicities, put together."""
    counts: dict[Any, int] = {}
    for value, count in (*(records.items if isinstance(records, Multiset) else records), *more):
        counts[value] = counts.get(value, 0) + count
    return Multiset.counted(counts)


# --- cards: what is claimed where, and where the text here departs from the print ---

ThresholdRelease.card = Card(
    name="ThresholdRelease",
    system="L5",
    title="Query release for thresholds by a noisy histogram",
    paper=THESIS,
    place="Definition 6.21, with Theorem 3.25",
    claim="ε-DP under replace-one",
    inputs="n ≥ 1 records in {0, …, size − 1}; epsilon > 0, size ≥ 2; alpha enters the utility claim alone",
    output="a_j for j = 0, …, size − 1: fractions, the share of records ≤ j up to noise",
    deviations=(
        "The thesis takes any release: this one is ours, made so that its output distribution is finite.",
        "The noise is two-sided geometric in place of Laplace, and noisy counts are moved into {0, …, n}.",
        "The number of records is public, so that the last answer is 1.",
    ),
    variants=("RefinedRelease", "LearnerFromRelease"),
)

RefinedRelease.card = Card(
    name="RefinedRelease",
    system="L5",
    title="A coarse release of few records from a fine release of many",
    paper=THESIS,
    place="§7.6, proof of Theorem 7.29",
    claim="(ε, δ)-DP if the inner release is; (1/150, β)-accurate on 150αn records if that is (α, β)-accurate on n",
    inputs="150αn records, such that n is whole; a release of answers for a class with c(min X) = 1; 0 < α ≤ 1/150",
    output="an answer for every concept, a fraction",
    deviations=("150αn and (1 − 150α)n must be whole: other numbers of records are refused.",),
    variants=("ThresholdRelease", "LearnerFromRelease"),
)

LearnerFromRelease.card = Card(
    name="LearnerFromRelease",
    system="L5",
    title="A private learner from a private query release",
    paper=THESIS,
    place="§7.6, Lemma 7.30",
    claim="(1/5, 5δ)-DP, a (1/5, 1/5)-accurate PAC learner, of a (1/150, δ)-DP, (1/150, 1/150)-accurate release",
    inputs="n labelled examples (x, y), y in {0, 1}; a release for n records, a class C, p1 with c(p1) = 1 always",
    output="the name of a concept of C",
    deviations=(
        "The thesis cites the construction and prints none: this one is ours, of two releases.",
        "It is (2ε, 2δ)-DP where the release is (ε, δ)-DP, which is less than the lemma allows.",
        "It needs an element that every concept labels with 1; the lemma speaks of any class.",
        "The release and the learner take the same number of examples (the lemma: O(n)).",
    ),
    variants=("ThresholdRelease", "RefinedRelease"),
)
