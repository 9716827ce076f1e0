"""Private PAC learners as private empirical learners, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    THESIS,
    Applied,
    Card,
    Claim,
    Mechanism,
    ParameterError,
    Program,
    checks,
    log,
)
from dpaudit_algorithms.findings import FINDINGS
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.foundations.subsampling import least_rows, replace_one_claim, rows_drawn
from dpaudit_algorithms.pac.concepts import ConceptClass, Thresholds
from dpaudit_algorithms.pac.learner_conversions_theory import (
    LEMMA,
    EmpiricalCorrectedTheory,
    EmpiricalTheory,
    PacTheory,
)


@dataclass(frozen=True)
class _Empirical(EmpiricalTheory):
    """Base class of both versions: everything but n."""

    learner: Mechanism
    concepts: ConceptClass
    m: checks.Count
    alpha: checks.Positive
    beta: checks.Probability

    def __post_init__(self) -> None:
        super().__post_init__()
        replace_one_claim(self.learner)

    @property
    def claim(self) -> Claim:
        """The learner's."""
        return replace_one_claim(self.learner)

    def run(self, D: Any) -> Program:
        sample = yield rows_drawn(D, self.m, self.n)  # subsamples, with replacement, m rows from D
        return self.learner.on(sample)  # and runs A on it


@dataclass(frozen=True)
class EmpiricalLearner(_Empirical):
    """Ã of a PAC learner: draws m of n = 9m rows with replacement and runs the learner on them.

    That the learner's (ε, δ) is kept is claimed for every ε, by Lemma 7.19, which is for ε ≤ 1. The construction keeps
    it if and only if (1 + (e^ε − 1)/(9m))^m ≤ e^ε (see `subsampling.kept`): for every m where ε ≤ 3.474, for m = 1
    always, for m = 2 where ε ≤ ln 289 = 5.666; otherwise an A exists of which it loses more. See finding 11 and
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


@dataclass(frozen=True)
class EmpiricalLearnerCorrected(EmpiricalCorrectedTheory, _Empirical):
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


@dataclass(frozen=True)
class PacLearner(PacTheory):
    """An empirical learner for thresholds, used as a PAC learner: nothing changes but the guarantee, and of what.

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

    def run(self, S: Any) -> Applied:
        return self.learner.on(S)  # the learner as it is


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
    place=LEMMA,
    claim="(ε, δ)-DP under replace-one and (α, β)-accurate on n = 9m rows, if the PAC learner is both on m",
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        "The lemma says that such a learner exists; this is the one that its proof constructs, for every ε.",
        *_DEVIATIONS,
    ),
    variants=("EmpiricalLearnerCorrected",),
    findings=(FINDINGS[11],),
)

EmpiricalLearnerCorrected.card = Card(
    name="EmpiricalLearnerCorrected",
    system="I7",
    title="An empirical learner from a PAC learner, with as many rows as its ε asks for",
    paper=THESIS,
    place=f"{LEMMA}, corrected",
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
