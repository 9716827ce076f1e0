"""What to try against permute-and-flip and the exponential mechanism."""

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
BALANCED = Pair((1, 0), (0, 1), "the two candidates change places")


def cases() -> tuple[Case, ...]:
    """Its ε is attained; three candidates besides."""
    three = Pair((0, 0, 0), (1, -1, 0), "three equal candidates, of which one rises and one falls")
    return (
        Case("two candidates", PermuteAndFlip(), (PAIR,)),
        Case("three candidates", PermuteAndFlip(), (three,)),
    )


def bounded_range_cases() -> tuple[Case, ...]:
    """ε²/8-zCDP, tested at 0.3, where a few hundred runs can see that it fails."""
    return (Case("two candidates", PermuteAndFlipBoundedRange(), (PAIR,), runs=100_000, expected=Verdict.FAIL),)


def exponential_cases() -> tuple[Case, ...]:
    """The mechanism to which the bound belongs, on the same pair and on its own worst one."""
    return (Case("two candidates", ExponentialZCDP(), (BALANCED, PAIR), runs=100_000),)


def flip_law(scores: tuple[float, ...], epsilon: float) -> dict[Hashable, float]:
    """The law of permute-and-flip, summed over all permutations."""
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
    """By its law on two candidates."""
    return Oracle.of_laws(flip_law((0, 0), PermuteAndFlip().epsilon), flip_law((1, -1), PermuteAndFlip().epsilon))


def bounded_range_oracle() -> Oracle:
    """The same law: only the claim differs."""
    epsilon = PermuteAndFlipBoundedRange().epsilon
    return Oracle.of_laws(flip_law((0, 0), epsilon), flip_law((1, -1), epsilon))


def exponential_oracle() -> Oracle:
    """Two candidates that change places: the first has odds e^(ε/2), then e^-(ε/2)."""
    ahead = 1 / (1 + math.exp(-ExponentialZCDP().epsilon / 2))
    return Oracle.of_laws({0: ahead, 1: 1 - ahead}, {0: 1 - ahead, 1: ahead})


PLAN = Plan("PermuteAndFlip", cases)
BOUNDED_RANGE_PLAN = Plan("PermuteAndFlipBoundedRange", bounded_range_cases)
EXPONENTIAL_PLAN = Plan("ExponentialZCDP", exponential_cases)
