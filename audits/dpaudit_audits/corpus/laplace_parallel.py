"""Audit plan for parallel Laplace mechanisms."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.plans.plan import Case, Plan
from dpaudit_algorithms.corpus.laplace_parallel import LaplaceParallel
from dpaudit_audits.corpus.noisy_histogram import laplace_oracle
from dpaudit_audits.corpus.oracle import Oracle

PAIR = Pair((0,), (1,), "the number moves by 1")


def cases() -> tuple[Case, ...]:
    """The number moves by 1."""
    return (Case("the number moves by 1", LaplaceParallel(), (PAIR,)),)


def oracle() -> Oracle:
    """The oracle of 20 independent answers that all change by 1."""
    mechanism = LaplaceParallel()
    return laplace_oracle(1.0, 1 / mechanism.epsilon_each, mechanism.copies)


PLAN = Plan("LaplaceParallel", cases)
