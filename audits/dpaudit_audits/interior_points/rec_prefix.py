"""Audits of RecPrefix (thesis §7.3.2)."""

from __future__ import annotations

import math

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Fixed, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.interior_points.rec_prefix import RecPrefix, RecPrefixLevel

# two values with a common prefix of 4 bits, one far above, and the greatest element, which is its own L₁
A, B, C, TOP = 0x1000, 0x1800, 0x9C40, 0xFFFF


def cases() -> tuple[Case, ...]:
    """The paper's constants, exhaustive finite domains, specified pairs at small k, and groups."""
    return (
        Case(
            "paper constants",
            RecPrefix(),
            pairs=_at_the_papers_sample_size(),
            runs=100_000,
            exact=False,
            note="n is the least at which Lemma 7.14 applies to both calls; few distinct values, so that runs share "
            "paths. Its own ledger shows that the recursion uses 3/8 of the claimed ε at this size.",
        ),
        Case(
            "paper constants, few records left to pair",
            RecPrefix(),
            pairs=_near_2k(),
            runs=100_000,
            note="n close to 2k or below it: S′ has at most two records, so every draw matters.",
        ),
        *(
            Case(
                f"small domain, exhaustive: {label}",
                mechanism,
                runs=0,
                scope=Scope((0, 1, 32, 33, 63), records),
                note="k and the base case are not used by the privacy proof, so they are made small.",
            )
            for label, mechanism, records in (
                ("ε = 1/2 a level, 4 records", small(0.5, 1e-4), 4),
                ("ε = 1 a level, 5 records", small(1.0, 0.01), 5),
                ("ε = 2 a level, 6 records", small(2.0, 0.001), 6),
                ("Theorem 7.8's shares, 5 records", RecPrefix(64, 16.0, 1e-3, 0.9, k=1, base=8), 5),
                ("three calls, 5 records", RecPrefixLevel(64, 2.0, 0.01, 0.9, k=1, base=4), 5),
            )
        ),
        Case("small k, specified pairs", small(2.0, 1e-4, k=2), pairs=_small_pairs(), runs=50_000),
        Case("small k, thresholds of steps 5 and 8", small(2.0, 1e-4, k=20), pairs=_threshold_pairs(), runs=50_000),
        *(
            Case(f"group of {g}", small(1.0, 1e-9, k=2), _group_pairs(g), small(1.0, 1e-9, k=2).claim.group(g), 50_000)
            for g in (2, 3)
        ),
    )


def utility() -> tuple[UtilityCase, ...]:
    """Theorem 7.8 and Lemma 7.14 at their numbers of records, and Theorem 7.8 where its number is below 1."""
    whole, large = RecPrefix(), RecPrefix(9, 24.3, 0.99, 0.5)
    (size,) = whole.sample_sizes
    n = size.records
    (interior,), (at_large,) = whole.utility(n), large.utility(1)
    two, three = RecPrefixLevel(64, 2.0, 0.5, 0.05), RecPrefixLevel(64, 2.0, 0.5, 0.05, base=4)
    return (
        UtilityCase(
            "Theorem 7.8, equal records",
            whole,
            interior,
            tuple(Fixed(Multiset.counted({x: n})) for x in (0, 0x7FFF, A, TOP)),
        ),
        UtilityCase(
            "Theorem 7.8, few values",
            whole,
            interior,
            tuple(
                Fixed(Multiset.counted(counts))
                for counts in (
                    {0x7FFF: n // 2, 0x8000: n - n // 2},
                    {0: n - 2 * whole.level.trim, TOP: 2 * whole.level.trim},
                    {0: 1, A: n // 2, A + 1: n - n // 2 - 2, TOP: 1},
                )
            ),
            runs=1_000,
            exact=False,
            note="Few distinct values, so that 22 million records are a few counts; pairs of two values in balance, "
            "on either side of the middle of X, and as many records left out as share the greatest value.",
        ),
        UtilityCase(
            "Lemma 7.14, two calls",
            two,
            two.utility(least_records(two))[0],
            _deep(two),
            runs=1_000,
            exact=False,
            note="A group of k − 1 greatest records would be no good answer of step 5, which counts in S and not in Y.",
        ),
        UtilityCase(
            "Lemma 7.14, three calls",
            three,
            three.utility(least_records(three))[0],
            _deep(three),
            runs=300,
            exact=False,
            note="The base case ends at 4, so that 64 elements make three calls.",
        ),
        UtilityCase(
            "Theorem 7.8, large ε",
            large,
            at_large,
            tuple(Fixed(Multiset.counted({x: 1})) for x in (0, 4, 8)),
            expected=Verdict.FAIL,
            note="ε ≥ 4·log*|X|/(βδ): the printed number of records is below 0, so that one record is enough for it.",
        ),
    )


def least_records(level: RecPrefixLevel) -> int:
    """The fewest records at which every call gets the least number that Lemma 7.14 asks for."""
    n = math.ceil(level.least)
    for _ in range(level.calls - 1):
        n = 2 * n + 2 * level.trim
    return n


def _deep(level: RecPrefixLevel) -> tuple[Fixed, ...]:
    """Step 5 counts agreements in S and not in Y: a group of k − 1 greatest records is no good answer, but may win."""
    n, k, top = least_records(level), level.trim, level.size - 1
    rest = n - (k - 1)
    spread = dict.fromkeys((0, 9, 18, 27, 36), rest // 6)
    halves: dict[int, int] = {}
    for i in range(level.bits):
        halves[level.size - (level.size >> i)] = rest >> i + 1
    return tuple(
        Fixed(Multiset.counted(counts | {top: n - sum(counts.values())}))
        for counts in (
            spread | {45: rest - sum(spread.values())},
            halves | {0: rest - sum(halves.values()) + halves[0]},
            {top // 2: n // 2, top // 2 + 1: n - n // 2},
        )
    )


def small(epsilon: float, delta: float, k: int = 1) -> RecPrefixLevel:
    """The recursive algorithm on 64 elements, with two calls."""
    return RecPrefixLevel(64, epsilon, delta, 0.9, k=k, base=8)


def _at_the_papers_sample_size() -> tuple[Pair, ...]:
    k = RecPrefix().level.trim
    half, over = 3 * k // 2, 2 * k
    return (
        _moved("all equal but one", {A: 745_000}, A, C),
        _moved("a record crosses the trim n − 2k", {A: 745_000 - over, C: over}, A, C),
        _moved("a record comes into Y", {A: 745_000 - over + 1, C: over - 1}, A, C),
        # Y holds as many A as B, so z is the common prefix or the full length with even odds
        _moved("step 8: #≥L1 at 3k/2", {A: 300_000, B: 300_000 + over - half, C: half}, A, C),
        _moved("step 8: #≥L1 at 3k/2 + 1/ε", {A: 300_000, B: 300_000 + over - half, C: half + 8}, B, C),
        _moved("step 5: two prefixes with even odds", {A: 372_500, B: 372_500}, A, B),
        _moved("steps 1 and 4: lengths in balance", {A: 298_000, B: 298_000 + over}, A, B),
    )


def _near_2k() -> tuple[Pair, ...]:
    k = RecPrefix().level.trim
    half, over = 3 * k // 2, 2 * k
    return (
        _moved("OPT at the choosing mechanism's threshold", {A: 1545, C: 1545}, A, C),
        _moved("OPT crosses the threshold alone", {A: 1545}, A, C),
        # the greatest element is chosen in step 5 and is L₁ for every z; L₀ then gives z away
        _moved("one pair, and #≥L1 at 3k/2", {0: 1, 2: 1, C: over - half - 2, TOP: half + 2}, 0, TOP),
        _moved("two pairs, and #≥L1 at 3k/2", {0: 2, 2: 2, C: over - half - 2, TOP: half + 2}, 0, TOP),
        _moved("two far pairs, and #≥L1 at 3k/2", {0: 4, C: over - half - 2, TOP: half + 2}, 0, TOP),
    )


def _small_pairs() -> tuple[Pair, ...]:
    return (
        _moved("all equal but one", {2: 10}, 2, 48),
        _moved("a trimmed record moves up", {2: 8, 48: 2}, 2, 63),
        _moved("Y gets its first high record", {0: 5, 1: 5, 48: 2}, 0, 33),
        _moved("equal and unequal pairs in balance", {0: 6, 1: 2, 32: 1, 33: 1}, 0, 31),
        _moved("two halves", {0: 8, 63: 8}, 0, 63),
        _moved("odd: one record stays unpaired", {0: 6, 62: 7}, 0, 63),
    )


def _threshold_pairs() -> tuple[Pair, ...]:
    # OPT passes step 5 from about (8/ε)·ln(4/(βεδ)) = 40 on, #≥L1 passes step 8 from 3k/2 = 30 on
    return (
        _moved("all equal, OPT crosses the threshold", {0: 41, 63: 1}, 0, 63),
        _moved("two halves, OPT at the threshold", {0: 40, 63: 40}, 0, 63),
        _moved("OPT falls below the threshold, #≥L1 rises above 3k/2", {2: 41, 63: 30}, 2, 63),
        _moved("the same, with unequal pairs", {0: 12, 2: 30, 48: 10, 63: 30}, 0, 63),
        _moved("#≥L1 rises above 3k/2 and passes surely", {0: 2, 2: 2, 48: 9, 63: 31}, 0, 63),
    )


def _group_pairs(k: int) -> tuple[Pair, ...]:
    return (
        _moved("all equal but the group", {2: 10}, 2, 48, k),
        _moved("the trimmed records and Y's first high ones", {0: 5, 1: 5, 48: 2}, 0, 33, k),
        _moved("two halves", {0: 8, 63: 8}, 0, 63, k),
        _moved("fewer than 2k records", {0: 3}, 0, 63, min(k, 3)),
    )


def _moved(label: str, counts: dict[int, int], old: int, new: int, times: int = 1) -> Pair:
    left = Multiset.counted(counts)
    return Pair(left, left.changed(remove=(old,) * times, add=(new,) * times), label)


def verified(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """k and the base case are made small: the privacy proof does not use them."""
    return RecPrefix(domain, 4.0, 1e-3, 0.9, k=1, base=4), Scope(tuple(range(domain)), records)


PLAN = Plan("RecPrefix", cases, verified, utility=utility)
