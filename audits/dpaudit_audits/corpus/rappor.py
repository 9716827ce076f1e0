"""Audit plans for RAPPOR: two values whose filters differ in 6 bits."""

from __future__ import annotations

from collections.abc import Hashable

from scipy import stats

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.plans.plan import Case, Plan
from dpaudit_algorithms.corpus.rappor import OneTimeRappor, Rappor
from dpaudit_audits.corpus.oracle import Oracle

PAIR = Pair((0,), (5,), "two values whose filters differ in 6 bits, as in the published pair")
MOVED = 3
"""Number of bits set only in the filter of one value of the pair; the other bits are equal and carry no information."""


def cases() -> tuple[Case, ...]:
    """Steps 1–3."""
    return (Case("filters that differ in 6 bits", Rappor(), (PAIR,), runs=1_000_000, exact=False),)


def one_time_cases() -> tuple[Case, ...]:
    """Steps 1 and 2."""
    return (Case("filters that differ in 6 bits", OneTimeRappor(), (PAIR,), runs=1_000_000, exact=False),)


def oracle() -> Oracle:
    """The 6 bits: a fair coin with probability f, else the filter's bit; then 1 with probability q or p."""
    m = Rappor()
    zero, one = (m.f / 2 * (m.p + m.q) + (1 - m.f) * probability for probability in (m.p, m.q))
    return Oracle.of_laws(*(differing_bits(a, b) for a, b in ((one, zero), (zero, one))))


def one_time_oracle() -> Oracle:
    """The oracle of the 6 bits: a fair coin with probability f, else the filter's bit."""
    m = OneTimeRappor()
    zero, one = m.f / 2, m.f / 2 + (1 - m.f)
    return Oracle.of_laws(*(differing_bits(a, b) for a, b in ((one, zero), (zero, one))))


def differing_bits(own: float, others: float) -> dict[Hashable, float]:
    """The distribution of (ones among the 3 bits of D's value, ones among the 3 bits of D′'s), from the bits'.

    Given both counts, all reports are equally likely under both datasets, so the counts are a sufficient statistic.
    """
    return {
        (i, j): float(stats.binom.pmf(i, MOVED, own) * stats.binom.pmf(j, MOVED, others))
        for i in range(MOVED + 1)
        for j in range(MOVED + 1)
    }


PLAN = Plan("Rappor", cases)
ONE_TIME_PLAN = Plan("OneTimeRappor", one_time_cases)
