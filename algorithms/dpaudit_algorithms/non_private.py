"""Baselines that claim no privacy and must be caught: empirical risk minimiser, median, consistent threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpaudit.language import (
    BOTTOM,
    INTERIOR_POINT_NOTES,
    PAC_OVERVIEW,
    THESIS,
    Bottom,
    Card,
    DatasetError,
    Mechanism,
    Multiset,
    ParameterError,
    checks,
)

Hypothesis = tuple[int, ...]
"""A hypothesis on {0, …, d − 1} by its labels, each 0 or 1, shape (d,)."""


def thresholds(domain: int) -> tuple[Hypothesis, ...]:
    """THRESH_X on X = {0, …, domain − 1}: c_j labels the points ≤ j with 1; j = 0, …, domain − 1.

    Source: Stemmer's thesis, Definition 3.9.
    """
    checks.whole("domain", domain, least=1)
    return tuple(tuple(int(x <= j) for x in range(domain)) for j in range(domain))


@dataclass(frozen=True)
class EmpiricalRiskMinimizer(Mechanism):
    """Outputs the first hypothesis, in the order of the class, with no error on the sample; else the first with the
    fewest errors.

    Args:
        hypotheses: the finite class H in its fixed order, shape (|H|, d), labels 0 or 1.

    Raises:
        ParameterError: no hypotheses, hypotheses on different domains, or a label that is neither 0 nor 1.

    Source: Sivakumar, section 2, the algorithm of Theorem 2.1.
    """

    hypotheses: tuple[Hypothesis, ...] = thresholds(8)

    card: ClassVar[Card] = Card(
        name="EmpiricalRiskMinimizer",
        system="P1",
        title="Empirical risk minimisation over a finite class: not private",
        paper=PAC_OVERVIEW,
        place="§2, Theorem 2.1",
        claim="none: it is deterministic",
        inputs="n labelled examples (x, y), x in {0, …, d − 1}, y in {0, 1}; a class of shape (|H|, d)",
        output="the index of a hypothesis, 0, …, |H| − 1",
        differs=("A sample that no hypothesis is consistent with: the first hypothesis with the fewest errors.",),
        private=False,
    )

    def __post_init__(self) -> None:
        if not self.hypotheses or len({len(h) for h in self.hypotheses}) != 1 or not self.hypotheses[0]:
            raise ParameterError("The class needs at least one hypothesis, all of them on the same domain.")
        if any(label not in (0, 1) for h in self.hypotheses for label in h):
            raise ParameterError("A hypothesis labels every point with 0 or 1.")

    def run(self, S: Any) -> int:
        sample = Multiset.of(S).items
        errors = [sum(count for (x, y), count in sample if h[x] != y) for h in self.hypotheses]
        return errors.index(min(errors))


@dataclass(frozen=True)
class Median(Mechanism):
    """Outputs the record of rank ⌈n/2⌉, an interior point without error and without privacy.

    Source: lecture notes on interior points (what the median utility approximates); a baseline.
    """

    card: ClassVar[Card] = Card(
        name="Median",
        system="L6",
        title="The median itself: not private",
        paper=INTERIOR_POINT_NOTES,
        place='"Algorithms for Interior Point", the median without noise',
        claim="none: it is deterministic",
        inputs="n ≥ 1 records that can be ordered",
        output="the record of rank ⌈n/2⌉",
        private=False,
    )

    def run(self, S: Any) -> Any:
        records = Multiset.of(S)
        if not len(records):
            raise DatasetError("The empty dataset has no median.")
        return next(x for x in records.values if records.at_most(x) >= (len(records) + 1) // 2)


@dataclass(frozen=True)
class ConsistentThreshold(Mechanism):
    """Outputs a threshold c_j (c_j(x) = 1 iff x ≤ j) with no error on the sample: the least such j.

    Args:
        domain: |X|, X = {0, …, domain − 1}.

    Raises:
        ParameterError: domain < 1.

    Source: Stemmer's thesis, section 3.2.1, the learner for THRESH_X.
    """

    domain: int

    card: ClassVar[Card] = Card(
        name="ConsistentThreshold",
        system="L6",
        title="A threshold consistent with the sample: not private",
        paper=THESIS,
        place="§3.2.1",
        claim="none: it is deterministic",
        inputs="n labelled examples (x, y), x in {0, …, |X| − 1}, y in {0, 1}; |X| ≥ 1",
        output="j in {0, …, |X| − 1}, or ⊥ if no threshold is consistent",
        differs=(
            "The print takes an arbitrary consistent threshold; here it is the least.",
            "A sample that no threshold is consistent with: ⊥.",
        ),
        private=False,
    )

    def __post_init__(self) -> None:
        checks.whole("domain", self.domain, least=1)

    def run(self, S: Any) -> int | Bottom:
        values = Multiset.of(S).values
        j = max((x for x, y in values if y == 1), default=0)
        return BOTTOM if any(y == 0 and x <= j for x, y in values) else j
