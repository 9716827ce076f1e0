"""Audit plan for noisy prefix sums."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.prefix_sum import PrefixSum
from dpaudit_audits.corpus.noisy_histogram import laplace_oracle
from dpaudit_audits.corpus.oracle import Oracle

PAIR = Pair((1,) * 10, (2,) * 10, "all 10 answers move by 1 (published pattern)")


def cases() -> tuple[Case, ...]:
    """All answers move."""
    return (
        Case("all answers move", PrefixSum(), (PAIR,), runs=1_000_000, expected=Verdict.FAIL),
    )


def oracle() -> Oracle:
    """The oracle of the differences of the prefix sums: 10 independent answers that all change by 1."""
    return laplace_oracle(1.0, 1 / PrefixSum().epsilon, len(PAIR.left))


PLAN = Plan("PrefixSum", cases)
