"""Audit plans for permute-and-flip and the exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Hashable
from itertools import permutations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.permute_and_flip import ExponentialZCDP, PermuteAndFlip, PermuteAndFlipBoundedRange
from dpaudit_audits.corpus.oracle import Oracle

PAIR = Pair((0, 0), (1, -1), "two equal candidates against one that leads by 2")
BALANCED = Pair((1, 0), (0, 1), "the two candidates swap scores")


def cases() -> tuple[Case, ...]:
    """A pair that attains ε, and one with three candidates."""
    three = Pair((0, 0, 0), (1, -1, 0), "three equal candidates; one rises, one falls")
    return (
        Case("two candidates", PermuteAndFlip(), (PAIR,)),
        Case("three candidates", PermuteAndFlip(), (three,)),
    )


def bounded_range_cases() -> tuple[Case, ...]:
    """ε²/8-zCDP, tested at ε = 0.3, where a few hundred samples detect the violation."""
    return (Case("two candidates", PermuteAndFlipBoundedRange(), (PAIR,), runs=100_000, expected=Verdict.FAIL),)


def exponential_cases() -> tuple[Case, ...]:
    """The mechanism that the bound is for, on the same pair and on its own worst pair."""
    return (Case("two candidates", ExponentialZCDP(), (BALANCED, PAIR), runs=100_000),)


def flip_law(scores: tuple[float, ...], epsilon: float) -> dict[Hashable, float]:
    """The output distribution of permute-and-flip, summed over all permutations."""
    best = max(scores)
    heads = [math.exp(epsilon / 2 * (score - best)) for score in scores]
    orders = list(permutations(range(len(scores))))
    chosen: dict[Hashable, float] = dict.fromkeys(range(len(scores)), 0.0)
    for order in orders:
        reached = 1 / len(orders)
        for candidate in order:
            chosen[candidate] += reached * heads[candidate]
            reached *= 1 - heads[candidate]
    return chosen


def oracle() -> Oracle:
    """Exact, for two candidates."""
    return Oracle.of_laws(flip_law((0, 0), PermuteAndFlip().epsilon), flip_law((1, -1), PermuteAndFlip().epsilon))


def bounded_range_oracle() -> Oracle:
    """The same output distributions: only the claim differs."""
    epsilon = PermuteAndFlipBoundedRange().epsilon
    return Oracle.of_laws(flip_law((0, 0), epsilon), flip_law((1, -1), epsilon))


def exponential_oracle() -> Oracle:
    """Two candidates that swap scores: the first has odds e^(ε/2) under D and e^-(ε/2) under D′."""
    ahead = 1 / (1 + math.exp(-ExponentialZCDP().epsilon / 2))
    return Oracle.of_laws({0: ahead, 1: 1 - ahead}, {0: 1 - ahead, 1: ahead})


PLAN = Plan("PermuteAndFlip", cases)
BOUNDED_RANGE_PLAN = Plan("PermuteAndFlipBoundedRange", bounded_range_cases)
EXPONENTIAL_PLAN = Plan("ExponentialZCDP", exponential_cases)
