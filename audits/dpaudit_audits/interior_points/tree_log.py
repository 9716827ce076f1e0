"""Audits of TreeLog (Kaplan, Ligett, Mansour, Naor and Stemmer 2020, Algorithm 1)."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope
from dpaudit_algorithms.interior_points.tree_log import TreeLog

# two values that part at level 4, one far above
A, B, C = 0x1000, 0x1800, 0x9C40


def cases() -> tuple[Case, ...]:
    """The printed t at a δ where the claim says something, exhaustive finite domains at small t, and groups."""
    default, few = TreeLog(), small(64, 60)
    printed, hand_made = _at_the_printed_t(default.trim), _small_pairs(1)
    return (
        Case(
            "t as printed",
            default,
            printed[:2],
            runs=10_000,
            note="ε and δ are so small that the claim is not empty: 3δn·log*|X|·e^{3ε·log*|X|·log n} is below 1.",
        ),
        Case("t as printed, exact", default, printed[2:], runs=0),
        *(
            Case(
                f"small domain, exhaustive: {label}",
                mechanism,
                runs=0,
                scope=Scope(domain, records),
                note="t is small, so that few records are more than 3t.",
            )
            for label, mechanism, domain, records in (
                ("8 points, t = 0", small(8, 6, 0), (0, 3, 4), 6),
                ("8 points, t = 1", small(8, 6, 1), (0, 3, 7), 6),
                ("17 points, three calls", small(17, 5, 1), (0, 8, 16), 5),
            )
        ),
        Case("small t, specified pairs", few, hand_made[:1], runs=10_000),
        Case("small t, specified pairs, exact", few, hand_made[1:], runs=0),
        *(Case(f"group of {g}", few, _small_pairs(g), few.claim.group(g), runs=0) for g in (2, 3)),
    )


def small(size: int, n: int, t: int = 4) -> TreeLog:
    """On few records, with a δ at which the claim is not empty, for groups of three too; t does not follow it."""
    return TreeLog(size, 0.2, 1e-44, n, t, 0.9)


def _at_the_printed_t(t: int) -> tuple[Pair, ...]:
    return (
        _added("all equal but one", {A: 16_000}, C),
        _added("two halves that part late", {A: 8_000, B: 8_000}, B),
        _added("all equal", {A: 16_000}, A),
        _added("a path opens beside the trimmed records", {A: 16_000, C: t}, C),
        _added("two halves: a fair first step", {A: 8_000, C: 8_000}, A),
        _added("a node at the weight t", {A: 12 * t, B: t, C: t}, B),
        _added("D gets its first record", {A: 2 * t, C: t}, A),
    )


def _small_pairs(g: int) -> tuple[Pair, ...]:
    return (
        _added("all equal", {5: 30}, 5, g),
        _added("all equal but the group", {5: 30}, 40, g),
        _added("a path opens", {5: 26, 40: 4}, 40, g),
        _added("two halves", {5: 20, 40: 20}, 40, g),
        _added("the least that recurses", {0: 6, 63: 6}, 0, g),
        _added("spread over the tree", {0: 8, 9: 8, 18: 8, 27: 8, 36: 8, 45: 8}, 27, g),
    )


def _added(label: str, counts: dict[int, int], value: int, times: int = 1) -> Pair:
    left = Multiset.counted(counts)
    return Pair(left, left.changed(add=(value,) * times), label)


def verified(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """t is made small, so that few records are more than 3t."""
    return small(domain, max(2, records), 1), Scope(tuple(range(domain)), records)


PLAN = Plan("TreeLog", cases, verified)
