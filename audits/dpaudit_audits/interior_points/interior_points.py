"""Algorithms for interior points, side by side on the same inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, InteriorPoint, Mechanism, Multiset, checks, log_star
from dpaudit.plans.comparison import Comparison, Method
from dpaudit_algorithms.interior_points.interior_point import InteriorPointByMedianCorrected
from dpaudit_algorithms.interior_points.interior_point_rec_concave import InteriorPointByRecConcave
from dpaudit_algorithms.interior_points.rec_prefix import RecPrefix
from dpaudit_algorithms.interior_points.tree_log import TreeLog


@dataclass(frozen=True)
class InteriorPoints(Comparison):
    """Interior points of n records of {0, …, size − 1}, given (ε, δ) and a failure probability β.

    TreeLog's claim is for add/remove-one, which costs half of replace-one; the pair of its privacy is of that kind.

    Args:
        size: |X|.
        epsilon, delta: that every algorithm is given; one of pure privacy uses ε alone.
        beta: failure probability, for the algorithms that ask for one.

    Raises:
        ParameterError: a parameter outside its range.
    """

    size: int = 2**16
    epsilon: float = 1.0
    delta: float = 1e-6
    beta: float = 0.1

    name: ClassVar[str] = "interior-points"
    title: ClassVar[str] = "Interior points"
    sizes: ClassVar[tuple[int, ...]] = (10, 30, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)

    def __post_init__(self) -> None:
        checks.whole("size", self.size, least=16)
        checks.positive("epsilon", self.epsilon)
        checks.probability("delta", self.delta, open_ends=True)
        checks.probability("beta", self.beta, open_ends=True)

    @property
    def goal(self) -> InteriorPoint:
        """min S ≤ output ≤ max S."""
        return InteriorPoint()

    def methods(self) -> tuple[Method, ...]:
        """The exponential mechanism (corrected, so that ties do not fool it), RecPrefix, RecConcave, TreeLog."""
        return (
            Method("ExponentialMechanism", lambda n: InteriorPointByMedianCorrected(self.epsilon, self.size)),
            Method("RecPrefix", lambda n: RecPrefix(self.size, self.epsilon, self.delta, self.beta)),
            Method(
                "RecConcave", lambda n: InteriorPointByRecConcave(self.size, self.epsilon, self.delta, beta=self.beta)
            ),
            Method("TreeLog", self._tree_log),
        )

    def _tree_log(self, n: int) -> TreeLog:
        """With the parameters of a step at which its claim for n records is (ε, δ).

        5ε′·log*|X|·log n = ε, and 3δ′n·log*|X|·e^{3ε/5} = δ.
        """
        levels = max(1, log_star(self.size))
        return TreeLog(
            self.size,
            self.epsilon / (5 * levels * math.log2(max(2, n))),
            self.delta / (3 * max(2, n) * levels * math.exp(0.6 * self.epsilon)),
            max(2, n),
            beta=self.beta,
        )

    def instances(self, records: int) -> tuple[Mechanism, ...]:
        """All equal; two neighbouring values that share no prefix; half at either end; sixteen values far apart."""
        middle, top = self.size // 2, self.size - 1
        half, sixteenth = records // 2, max(1, records // 16)
        spread = {1 + (top - 1) * i // 16: sixteenth for i in range(min(16, records))}
        return (
            Fixed(Multiset.counted({middle: records}), label="all equal"),
            Fixed(Multiset.counted({middle - 1: half, middle: records - half}), label="two neighbouring values"),
            Fixed(Multiset.counted({1: half, top: records - half}), label="half at either end"),
            Fixed(Multiset.counted(spread | {1: records - sum(spread.values()) + sixteenth}), label="sixteen values"),
        )

    def pairs(self, mechanism: Mechanism, records: int) -> tuple[Pair, ...]:
        """One record of two neighbouring values moved, or taken away."""
        middle = self.size // 2
        left = Multiset.counted({middle - 1: records // 2, middle: records - records // 2})
        claim = mechanism.claim
        if claim is not None and claim.relation.kind == "add-remove-one":
            return (Pair(left, left.changed(remove=(middle,)), "one record taken away"),)
        return (Pair(left, left.changed(remove=(middle,), add=(middle - 1,)), "one record moved"),)
