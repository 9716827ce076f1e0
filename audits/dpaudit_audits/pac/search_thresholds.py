"""Audits of the threshold learner of thesis §6.3, by binary search for a length, and its corrected version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.pac.concepts import all_examples
from dpaudit_algorithms.pac.search_thresholds import SearchThresholds, SearchThresholdsCorrected

EXAMPLES = all_examples((0, 3, 4, 7))


def plan(name: str, refuted: bool, make: Callable[..., SearchThresholds | SearchThresholdsCorrected]) -> Plan:
    """Both versions face the same cases; as printed, A_dist costs twice its share on one of them.

    Args:
        make: the version's class.
    """

    def cases() -> tuple[Case, ...]:
        default, low = make(), make(16, 0.01)
        small = make(8, 0.5, 2.0, 0.05)
        return (
            Case(
                "one lead falls, the other rises", low, (two_families(),), runs=100_000,
                expected=Verdict.FAIL if refuted else Verdict.PASS,
                note="J = 2. The replaced example moves the lead among the A_i from 86 to 84 and that among the B_i "
                "from 81 to 83, and one of the last five concepts gains it. A_dist costs twice its ε/4.",
            ),
            Case("paper constants, 2^16 thresholds", default, _default_pairs(), runs=20_000),
            Case("every pair of 3 examples of 4 points", small, runs=0, scope=Scope(EXAMPLES, 3)),
            *(Case(f"group of {g}", default, _group_pairs(g), default.claim.group(g), runs=20_000) for g in (2, 3)),
        )

    def utility() -> tuple[UtilityCase, ...]:
        utility_cases = []
        for learner, beta in ((make(), 0.05), (make(1000, 0.2, 4.0, 1e-3), 0.1), (make(4, 0.1, 1.0, 1e-6), 0.05)):
            n = learner.sample_size(beta)
            (claim,) = learner.utility(n)
            label = f"|X| = {learner.size:,}, α = {learner.alpha:g}, ε = {learner.epsilon:g}, {n:,} examples"
            samples = diverse(learner.size, learner.alpha, n)
            utility_cases.append(
                UtilityCase(label, learner, claim, tuple(Fixed(S, label=about) for about, S in samples), runs=5_000)
            )
        return tuple(utility_cases)

    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        examples = all_examples(range(max(2, domain)))
        return make(max(2, domain), 0.5, 1.0, 0.05), Scope(examples, records)

    return Plan(name, cases, small, utility=utility)


def two_families() -> Pair:
    """16 points in eight cells of two, ones at the even ones and 1,000 zeros at each odd one.

    A_i is the cells 2i and 2i + 1, B_i the cells 2i + 1 and 2i + 2, and their ones, which are fewer, are the quality:
    206 of A_0 and 120 of A_2, 201 of B_2 and 120 of B_0. (2, 1) is in A_0 and B_0, (10, 1) in A_2 and B_2.
    """
    ones = {0: 203, 2: 3, 4: 117, 8: 33, 10: 87, 12: 114}
    counts: dict[Any, int] = {(x, 1): count for x, count in ones.items()} | {(x, 0): 1_000 for x in range(1, 16, 2)}
    counts[10, 0] = 127
    return _replaced("the leads of two families, moved against each other", counts, (2, 1), (10, 1))


def diverse(size: int, alpha: float, n: int) -> tuple[tuple[str, Multiset], ...]:
    """Samples that a threshold labels, with at least (3α/4)n of either label: where the search finds any length."""
    few = -(-int(3000 * alpha) * n // 4000) + 1
    half, end, middle = n // 2, size - 1, size // 2
    spread = {(i * (middle - 1) // 9, 1): half // 10 for i in range(10)}
    spread |= {(middle + 1 + i * (end - middle - 1) // 9, 0): half // 10 for i in range(10)}
    spread[0, 1] = spread.get((0, 1), 0) + n - sum(spread.values())
    return (
        ("a switch between neighbours", Multiset.counted({(middle, 1): half, (middle + 1, 0): n - half})),
        ("the first and the last point", Multiset.counted({(0, 1): half, (end, 0): n - half})),
        ("few ones", Multiset.counted({(0, 1): few, (1, 0): (n - few) // 2, (end, 0): n - few - (n - few) // 2})),
        ("both labels spread", Multiset.counted(spread)),
    )


def _default_pairs() -> tuple[Pair, ...]:
    apart = {(9_000, 1): 300, (9_001, 0): 300, (50_000, 1): 216, (50_001, 0): 300}
    return (
        _replaced("one switch, an example turned", {(9_000, 1): 500, (9_001, 0): 500}, (9_000, 1), (9_000, 0)),
        _replaced("two switches, a lead falls through A_dist's threshold", apart, (9_000, 1), (50_000, 1)),
        _replaced("a single example", {(9_000, 1): 1}, (9_000, 1), (9_000, 0)),
    )


def _group_pairs(g: int) -> tuple[Pair, ...]:
    apart = {(9_000, 1): 300, (9_001, 0): 300, (50_000, 1): 216 - g, (50_001, 0): 300}
    return (_replaced("a lead falls", apart, (9_000, 1), (50_000, 1), g),)


def _replaced(label: str, counts: dict[Any, int], old: Any, new: Any, times: int = 1) -> Pair:
    left = Multiset.counted(counts)
    return Pair(left, left.changed(remove=(old,) * times, add=(new,) * times), label)


PLAN = plan("SearchThresholds", True, SearchThresholds)
CORRECTED_PLAN = plan("SearchThresholdsCorrected", False, SearchThresholdsCorrected)
