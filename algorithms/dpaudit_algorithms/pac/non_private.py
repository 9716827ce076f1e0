"""Baselines that claim no privacy and must be caught: empirical risk minimiser, consistent threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from dpaudit.language import (
    BOTTOM,
    PAC_OVERVIEW,
    THESIS,
    Bottom,
    Card,
    Mechanism,
    Multiset,
    ParameterError,
    SampleSize,
    UtilityClaim,
    checks,
    exp,
    log,
)
from dpaudit_algorithms.pac.concepts import ConceptClass, GeneralisationError

Hypothesis = tuple[int, ...]
"""A hypothesis on {0, …, d − 1} by its labels, each 0 or 1, shape (d,)."""
ROUGHLY = 10
"""Samples from which thresholds are learned: "roughly 10" before Theorem 2.2 of the overview."""


def thresholds(domain: int) -> tuple[Hypothesis, ...]:
    """THRESH_X on X = {0, …, domain − 1}: c_j labels the points ≤ j with 1; j = 0, …, domain − 1.

    Source: Stemmer's thesis, Definition 3.9.
    """
    checks.whole("domain", domain, least=1)
    return tuple(tuple(int(x <= j) for x in range(domain)) for j in range(domain))


@dataclass(frozen=True)
class ListedConcepts(ConceptClass):
    """A class on {0, …, d − 1} by the labels of its concepts, which are named by their place 0, …, |H| − 1.

    Args:
        hypotheses: shape (|H|, d), labels 0 or 1.

    Raises:
        ParameterError: no hypotheses, hypotheses on different domains, or a label that is neither 0 nor 1.
    """

    hypotheses: tuple[Hypothesis, ...]

    def __post_init__(self) -> None:
        if not self.hypotheses or len({len(h) for h in self.hypotheses}) != 1 or not self.hypotheses[0]:
            raise ParameterError("The class needs at least one hypothesis, all of them on the same domain.")
        if any(label not in (0, 1) for h in self.hypotheses for label in h):
            raise ParameterError("A hypothesis labels every point with 0 or 1.")

    @property
    def points(self) -> range:
        return range(len(self.hypotheses[0]))

    @property
    def concepts(self) -> range:
        return range(len(self.hypotheses))

    def label(self, concept: int, x: int) -> int:
        return self.hypotheses[concept][x]

    @property
    def vc(self) -> int:
        # 2^d behaviours on d points need as many hypotheses
        most = len(set(self.hypotheses)).bit_length() - 1
        return max(d for d in range(most + 1) if any(map(self._shatters, combinations(self.points, d))))

    def _shatters(self, points: tuple[int, ...]) -> bool:
        return len({tuple(h[x] for x in points) for h in self.hypotheses}) == 1 << len(points)

    @property
    def monotone(self) -> bool:
        """Whether all are thresholds that look the same way: labels only fall along the domain, or only rise."""
        falls = all(a >= b for h in self.hypotheses for a, b in pairwise(h))
        return falls or all(a <= b for h in self.hypotheses for a, b in pairwise(h))


@dataclass(frozen=True)
class EmpiricalRiskMinimizer(Mechanism):
    """Outputs the first hypothesis, in the order of the class, with no error on the sample; else the first with the
    fewest errors.

    Both utility claims hold. Theorem 2.1's has slack: (1 − 1/4)^n is e^{−0.2877n}. Of Theorem 2.2's "roughly 10": a
    threshold consistent with the sample is wrong on more than 1/4 only if no example fell into the quarter of D on one
    side of the target, or into that on the other: with probability at most 2·(3/4)^n − (1/2)^n, which is 0.1117 for
    n = 10, and at most 1/4 from n = 8 on. An order of the class that has both ends before the target attains it.

    Args:
        hypotheses: the finite class H in its fixed order, shape (|H|, d), labels 0 or 1.

    Raises:
        ParameterError: no hypotheses, hypotheses on different domains, or a label that is neither 0 nor 1.

    Source: Sivakumar, section 2, the algorithm of Theorems 2.1 and 2.2.
    """

    hypotheses: tuple[Hypothesis, ...] = thresholds(8)

    def __post_init__(self) -> None:
        _ = self.concepts

    @property
    def concepts(self) -> ListedConcepts:
        """H as a class whose concepts are named by their index."""
        return ListedConcepts(self.hypotheses)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """Error ≤ 1/4 with probability at least 1 − |H|·e^{−n/4}; for thresholds with 3/4 from n = 10 on."""
        good = GeneralisationError(self.concepts, 0.25)
        finite = 1 - len(self.hypotheses) * exp(-records / 4)
        guarantees = [UtilityClaim(good, max(0.0, finite), "§2, proof of Theorem 2.1")]
        if self.concepts.monotone and records >= ROUGHLY:
            guarantees.append(UtilityClaim(good, 0.75, '§2, Theorem 2.2, "roughly 10"'))
        return tuple(guarantees)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        learner = "a PAC learner: error ≤ 1/4 with probability at least 3/4"
        finite = math.ceil(4 * log(4 * len(self.hypotheses)))
        sizes = [SampleSize(finite, "O(log|H|); 4·ln(4|H|) by its proof", learner, "§2, Theorem 2.1")]
        if self.concepts.monotone:
            sizes.append(SampleSize(ROUGHLY, 'O(1), "roughly 10"', learner, "§2, Theorem 2.2"))
        return tuple(sizes)

    def run(self, S: Any) -> int:
        sample = Multiset.of(S).items
        errors = [sum(count for (x, y), count in sample if h[x] != y) for h in self.hypotheses]
        return errors.index(min(errors))


@dataclass(frozen=True)
class ConsistentThreshold(Mechanism):
    """Outputs a threshold c_j (c_j(x) = 1 iff x ≤ j) with no error on the sample: the least such j.

    Args:
        domain: |X|, X = {0, …, domain − 1}.

    Raises:
        ParameterError: domain < 1.

    Source: Stemmer's thesis, section 3.2.1, the learner for THRESH_X.
    """

    domain: checks.Count

    def run(self, S: Any) -> int | Bottom:
        values = Multiset.of(S).values
        j = max((x for x, y in values if y == 1), default=0)
        return BOTTOM if any(y == 0 and x <= j for x, y in values) else j


# --- cards: what is claimed where, and where the text here departs from the print ---

EmpiricalRiskMinimizer.card = Card(
    name="EmpiricalRiskMinimizer",
    system="P1",
    title="Empirical risk minimisation over a finite class: not private",
    paper=PAC_OVERVIEW,
    place="§2, Theorems 2.1 and 2.2",
    claim="none: it is deterministic; a PAC learner from O(log|H|) samples, for thresholds from O(1), roughly 10",
    inputs="n labelled examples (x, y), x in {0, …, d − 1}, y in {0, 1}; a class of shape (|H|, d)",
    output="the index of a hypothesis, 0, …, |H| − 1",
    deviations=(
        "A sample that no hypothesis is consistent with: the first hypothesis with the fewest errors.",
        "O(log|H|) is read as the n at which the bound of its proof is 1/4: 4·ln(4|H|).",
        "Theorem 2.2's class of thresholds over [0, 1] is a finite class of thresholds; its O(1) is read as 10.",
    ),
    private=False,
)

ConsistentThreshold.card = Card(
    name="ConsistentThreshold",
    system="L6",
    title="A threshold consistent with the sample: not private",
    paper=THESIS,
    place="§3.2.1",
    claim="none: it is deterministic",
    inputs="n labelled examples (x, y), x in {0, …, |X| − 1}, y in {0, 1}; |X| ≥ 1",
    output="j in {0, …, |X| − 1}, or ⊥ if no threshold is consistent",
    deviations=(
        "The print takes an arbitrary consistent threshold; here it is the least.",
        "A sample that no threshold is consistent with: ⊥.",
    ),
    private=False,
)
