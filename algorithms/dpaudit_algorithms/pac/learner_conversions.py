"""Private PAC learners as private empirical learners, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    PAC_OVERVIEW,
    THESIS,
    Applied,
    Card,
    Claim,
    Mechanism,
    ParameterError,
    Program,
    SampleSize,
    UtilityClaim,
    as_written,
    checks,
    log,
)
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.foundations.subsampling import least_rows, replace_one_claim, rows_drawn
from dpaudit_algorithms.pac.concepts import ConceptClass, EmpiricalError, GeneralisationError, Thresholds

_LEMMA = "§7.4, Lemma 7.20"
_OVERVIEW = f"{PAC_OVERVIEW}, §3.2, Theorem 3.5"


@dataclass(frozen=True)
class _Empirical(Mechanism):
    """What both versions share: everything but n."""

    learner: Mechanism
    concepts: ConceptClass
    m: checks.Count
    alpha: checks.Positive
    beta: checks.Probability

    def __post_init__(self) -> None:
        super().__post_init__()
        replace_one_claim(self.learner)

    @property
    def n(self) -> int:
        """Rows of the dataset."""
        raise NotImplementedError

    @property
    def claim(self) -> Claim:
        """The learner's."""
        return replace_one_claim(self.learner)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Empirical error at most α with probability 1 − β, on every dataset of n examples labelled by a concept.

        The m rows are independent draws from the uniform distribution on the rows of D, whose error is that on D.
        """
        if records != self.n:
            return ()
        place = f"{_LEMMA}; {_OVERVIEW}" if self.alpha == self.beta == 0.25 else _LEMMA
        return (UtilityClaim(EmpiricalError(self.concepts, self.alpha), float(1 - as_written(self.beta)), place),)

    def run(self, D: Any) -> Program:
        sample = yield rows_drawn(D, self.m, self.n)
        return self.learner.on(sample)


@dataclass(frozen=True)
class EmpiricalLearner(_Empirical):
    """Ã of a PAC learner: draws m of n = 9m rows with replacement and runs the learner on them.

    That the learner's (ε, δ) is kept is claimed for every ε, by Lemma 7.19, which is for ε ≤ 1. The construction keeps
    it if and only if (1 + (e^ε − 1)/(9m))^m ≤ e^ε (see `subsampling.kept`): for every m where ε ≤ 3.474, for m = 1
    always, for m = 2 where ε ≤ ln 289 = 5.666; otherwise an A exists of which it loses more. See FINDINGS.md and
    `EmpiricalLearnerCorrected`.

    Args:
        learner: A, (ε, δ)-DP under replace-one, an (α, β)-accurate PAC learner with sample complexity m.
        concepts: the class that it learns.
        m: ≥ 1.
        alpha: α of the learner, > 0.
        beta: β of the learner, in [0, 1].

    Raises:
        ParameterError: a parameter outside its range, or a learner without a claim of (ε, δ) under replace-one.

    Source: Stemmer's thesis, section 7.4, Lemma 7.20; Sivakumar, section 3.2, Theorem 3.5.
    """

    @property
    def n(self) -> int:
        """9m."""
        return 9 * self.m

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """9m rows."""
        return (SampleSize(self.n, "n = 9m", f"{self.claim}, and accurate on every dataset as on samples", _LEMMA),)


@dataclass(frozen=True)
class EmpiricalLearnerCorrected(_Empirical):
    """Ã of a PAC learner on n = max{9m, ⌈(e^ε − 1)/(e^{ε/m} − 1)⌉} rows: then (ε, δ) is kept for every ε.

    Privacy: `subsampling.kept` has the proof that m of n rows drawn with replacement keep (ε, δ) for every A if and
    only if (1 + (e^ε − 1)/n)^m ≤ e^ε, which is n ≥ (e^ε − 1)/(e^{ε/m} − 1). Where the print keeps it, n is 9m as
    printed; m·(e^ε − 1)/ε rows are always enough. Utility: as printed, with n in place of 9m.

    Args:
        learner, concepts, m, alpha, beta: as in `EmpiricalLearner`.

    Raises:
        ParameterError: a parameter outside its range, or a learner without a claim of (ε, δ) under replace-one, or
            with ε > 700.

    Source: Stemmer's thesis, section 7.4, Lemma 7.20, corrected.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.n

    @property
    def n(self) -> int:
        """max{9m, ⌈(e^ε − 1)/(e^{ε/m} − 1)⌉}."""
        return max(9 * self.m, least_rows(self.claim.epsilon, self.m))

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """As many rows as ε asks for, 9m at least."""
        formula = "n = max{9m, ⌈(e^ε − 1)/(e^{ε/m} − 1)⌉}"
        return (SampleSize(self.n, formula, f"{self.claim}, and accurate on every dataset as on samples", _LEMMA),)


@dataclass(frozen=True)
class PacLearner(Mechanism):
    """An empirical learner for thresholds, used as a PAC learner: nothing changes but what is promised, and of what.

    Args:
        learner: (α, β)-accurate on every database of n examples, and of more, that some threshold labels.
        concepts: the class THRESH_X.
        n: the learner's sample complexity, ≥ 1.
        alpha: α of the learner, > 0.
        beta: β of the learner, in [0, 1].
        beta_prime: β′, in (0, 1].

    Raises:
        ParameterError: a parameter outside its range, or a learner without a claim.

    Source: Stemmer's thesis, section 7.4, Lemma 7.18.
    """

    learner: Mechanism
    concepts: Thresholds
    n: checks.Count
    alpha: checks.Positive
    beta: checks.Probability
    beta_prime: checks.Unit

    def __post_init__(self) -> None:
        super().__post_init__()
        claim_of(self.learner)
        if not isinstance(self.concepts, Thresholds):
            raise ParameterError(f"Lemma 7.18 is about thresholds: concepts must be Thresholds, not {self.concepts!r}.")

    @property
    def claim(self) -> Claim:
        """The learner's: it is run as it is."""
        return claim_of(self.learner)

    @property
    def samples(self) -> int:
        """max{n, ⌈4·ln(2/β′)/α⌉}."""
        return max(self.n, math.ceil(4 * log(2 / self.beta_prime) / self.alpha))

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The printed number."""
        promise = f"generalisation error ≤ {2 * self.alpha:.4g} with probability {self._probability:.4g}"
        return (SampleSize(self.samples, "n ≥ max{n, 4·ln(2/β′)/α}", promise, "§7.4, Lemma 7.18"),)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Generalisation error at most 2α with probability 1 − β − β′, for every distribution and every target."""
        if records < self.samples:
            return ()
        goal = GeneralisationError(self.concepts, float(2 * as_written(self.alpha)))
        return (UtilityClaim(goal, self._probability, "§7.4, Lemma 7.18"),)

    @property
    def _probability(self) -> float:
        return max(0.0, float(1 - as_written(self.beta) - as_written(self.beta_prime)))

    def run(self, S: Any) -> Applied:
        return self.learner.on(S)


# --- cards: what is claimed where, and where the text here departs from the print ---

_INPUTS = "n examples (x, y), y in {0, 1}; a learner for m examples, its class, alpha > 0, beta in [0, 1]"
_OUTPUT = "the learner's hypothesis"
_DEVIATIONS = (
    "That the learner is (α, β)-accurate is what the user says of it; its own claim gives ε and δ.",
    "The learner is given the multiset of the rows drawn, so it may only use multiplicities.",
    "n is a parameter, and a dataset of another size is refused, as the lemma speaks of databases of size n.",
    "With α = β = 1/4 it is Theorem 3.5 of Sivakumar's overview, which has no proof of its own.",
)

EmpiricalLearner.card = Card(
    name="EmpiricalLearner",
    system="I7",
    title="An empirical learner from a PAC learner, by subsampling with replacement",
    paper=THESIS,
    place=_LEMMA,
    claim="(ε, δ)-DP under replace-one and (α, β)-accurate on n = 9m rows, if the PAC learner is both on m",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        "The lemma says that such a learner exists; this is the one that its proof constructs, for every ε.",
        *_DEVIATIONS,
    ),
    variants=("EmpiricalLearnerCorrected",),
)

EmpiricalLearnerCorrected.card = Card(
    name="EmpiricalLearnerCorrected",
    system="I7",
    title="An empirical learner from a PAC learner, with as many rows as its ε asks for",
    paper=THESIS,
    place=f"{_LEMMA}, corrected",
    claim="(ε, δ)-DP under replace-one and (α, β)-accurate on n rows, if the PAC learner is both on m",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=("n is max{9m, ⌈(e^ε − 1)/(e^{ε/m} − 1)⌉}, which is 9m for ε ≤ 3.474.", *_DEVIATIONS),
    variants=("EmpiricalLearner",),
)

PacLearner.card = Card(
    name="PacLearner",
    system="I7",
    title="An empirical learner for thresholds as a PAC learner",
    paper=THESIS,
    place="§7.4, Lemma 7.18",
    claim="the learner's own privacy; (2α, β + β′)-accurate on max{n, 4·ln(2/β′)/α} samples",
    inputs="examples (x, y), x in X, y in {0, 1}; n ≥ 1, alpha > 0, beta in [0, 1], 0 < beta_prime ≤ 1",
    output="the learner's hypothesis",
    deviations=(
        "That the learner is (α, β)-accurate on n examples is what the user says of it.",
        "It must be so on more than n examples too, where 4·ln(2/β′)/α is more: the print takes this for granted.",
    ),
)
