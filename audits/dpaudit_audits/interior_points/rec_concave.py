"""Audits of RecConcave (thesis §6.4) and its corrected version."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import DatasetError, Fixed, Given, Mechanism, Multiset, PiecewiseConstantScore
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_algorithms.pac.concepts import all_examples
from dpaudit_algorithms.pac.learn_thresholds import Consistency

EXAMPLES = all_examples((0, 3, 4, 7))


def three_calls(epsilon: float, delta: float, T: int = 4096) -> tuple[float, PiecewiseConstantScore]:
    """The promise r and the quality that refute (3Nε, 3Nδ) at N = 3, α = 1/2: with T = 4096 for base = 4, with T > 2^32
    for the printed base = 32.

    With t = log₂(1/δ)/ε, A_dist's threshold, replacing the record 0 by 1 moves every gap in the way of the event
    "j in [2048, 2303]" by 2 between t and t ± 2: see finding 3 for which, and why ε(5 + 4 + 1) comes near.
    """
    t, c = math.log2(1 / delta) / epsilon, 2 / epsilon
    r = 1000.0
    top = 0.71875 * r + c / 2  # makes k = 0 and k = 1 differ by c in the last call
    middle, low = top - t - 2, top - 2 * t
    return r, PiecewiseConstantScore(
        T + 1,
        (
            (0, top, -1),
            (2, top - 6 / epsilon, -1),
            (8, low, -1),
            (1024, middle, -1),
            (2048, middle, 1),
            (2304, middle, -1),
            (3072, low, -1),
        ),
    )


def three_calls_at_large_delta(epsilon: float, delta: float) -> tuple[float, PiecewiseConstantScore]:
    """The promise r and the quality that refute (3Nε, 3Nδ) at N = 3, T = 4096, base = 4, α = 1/2, up to δ = 3.155e-5.

    `three_calls` needs a smaller δ, because of other paths to the event: step 10 may choose a solution of the event,
    with score v, though one with score H is there too, and the weight of v is δ^0.72 of that of H. Here two of every
    three solutions in {8, …, 1023} have score H. They outweigh the event by their number, but no three of them are
    adjacent, so that the lengths of good intervals stay what they are in `three_calls`.
    """
    t = math.log2(1 / delta) / epsilon
    r = 200 * t + 1000
    top = 0.71875 * r + 0.5 / epsilon
    middle, low = top - t - 2, top - 2 * t
    comb = [(x, low if x % 3 == 2 else top, -1) for x in range(8, 1024) if x % 3 != 1]
    return r, PiecewiseConstantScore(
        4097,
        (
            (0, top - 3 / epsilon, -1),
            *comb,
            (1024, low, -1),
            (1536, middle, -1),
            (2048, middle, 1),
            (2304, middle, -1),
            (2560, low, -1),
        ),
    )


def four_calls(epsilon: float, delta: float) -> tuple[float, PiecewiseConstantScore]:
    """The promise r and the quality that refute (3Nε, 3Nδ) at N = 4, T = 2^260, base = 4, α = 1/2.

    The calls before the last have K = 2^256, 32 and 1 in the way of the event "j in [8K, 9K − 1]", K = 2^256, and both
    gaps of each move by 2 there. The promise is so small that low scores in the inner calls are below 0, where steps 2
    and 3 pad with the last score.
    """
    t = math.log2(1 / delta) / epsilon
    c, r, K = 4 / epsilon, 8 * t, 2**256
    # makes k = 0 and k = 1 differ by c in the last call: ⅞ of call 3's promise r/32, and (1 − α) of r/4 and of r
    top = 0.875 * r / 32 + c / 2 + 0.75 * r / 4 + 0.5 * r
    middle, low = top - t - 2, top - 2 * t
    return r, PiecewiseConstantScore(
        2**260 + 1,
        (
            (0, top, -1),
            (2, top - 2 * c, -1),
            (128, low, -1),
            (4 * K, middle, -1),
            (8 * K, middle, 1),
            (9 * K, middle, -1),
            (12 * K, low, -1),
        ),
    )


def three_calls_of_examples(epsilon: float, delta: float, alpha: float, n: int) -> Pair:
    """Two labelled datasets of n examples, one label apart, that refute (3Nε, 3Nδ) at N = 3, for the promise r = n.

    Turning the label of the example at 6144 moves Q by −1 below it and by +1 from it on. That one change of sign is
    enough: with t = ⌈log₂(1/δ)/ε⌉, both gaps of both outer calls move by 2 between t and t ± 2 in the way of the event
    "j in [6144, 7167]", B₂ of the lengths K = 256 from where the scores rise. Finding 4 goes through it.

    Args:
        epsilon, delta: of every private step.
        alpha: RecConcave's α.
        n: examples, enough of them for scores with room for 4t at the top: about 2t/α.

    Raises:
        DatasetError: too few examples.
    """
    t = math.ceil(math.log2(1 / delta) / epsilon - 1e-9)
    # makes k = 0 and k = 1 differ by 4/ε in the last call
    top = round((1 - alpha + 0.4375 * alpha) * n + 2 / epsilon)
    middle, low = top - t - 2, top - 2 * t
    scores = ((0, top), (2, top - round(4 / epsilon)), (8, low), (5120, middle), (6144, middle), (6400, low - t // 4))
    rest = [(start, score - (start < 6144)) for start, score in scores]
    counts = {(b[0], int(b[1] > a[1])): abs(b[1] - a[1]) for a, b in pairwise(rest)}
    always = rest[0][1] - sum(count for (_, label), count in counts.items() if not label)
    never = n - 1 - always - sum(counts.values())
    if min(always, never) < 0:
        raise DatasetError(f"{n:,} examples are too few for these scores.")
    shared = Multiset.counted({**counts, (0, 1): always, (0, 0): never})
    label = f"{n:,} examples, one label turned: every gap moves by 2"
    return Pair(shared.changed(add=((6144, 0),)), shared.changed(add=((6144, 1),)), label)


TWO_SPIKES = PiecewiseConstantScore(41, ((0, -1000, 0), (5, 99, 1), (6, -1000, 0), (20, 101, -1), (21, -1000, 0)))
"""The best intervals change from those of 20 to those of 5, which come first: the gap is 2, then 0."""

PRINTED_T = 2**33
"""Three calls with the base case of 32."""

BY_HAND = PiecewiseConstantScore(
    2**33 + 1, ((0, 300, -1), (7, 100, -1), (5120, 198, -1), (6144, 198, 1), (6400, 0, 1))
)
"""Scores of a record 0 or 1: (start, height, change) of every piece, on {0, …, 2^33}."""
ONE_RECORD = (Pair((0,), (1,), "every gap moves by 2"),)


def plan(name: str, refuted: bool, make: Callable[..., RecConcave | RecConcaveCorrected]) -> Plan:
    """Both versions face the same cases; the printed one fails where gaps move by 2.

    Args:
        make: the version's class.
    """
    fails = Verdict.FAIL if refuted else Verdict.PASS

    def cases() -> tuple[Case, ...]:
        labelled = make(255, Consistency(256), 1800.0, 0.5, 0.1, 1e-6)
        r, steps = three_calls(0.5, 1e-9)
        large_r, many = three_calls_at_large_delta(0.5, 3.155e-5)
        tower_r, tower = four_calls(0.5, 1e-130)
        scope = Scope(EXAMPLES, 3)
        two, three = (make(7, Consistency(8), 3.0, 0.5, 0.5, 1e-3, base=base) for base in (4, 2))
        group = make(63, Consistency(64), 30.0, 0.5, 0.1, 1e-6)
        natural: tuple[Case, ...] = ()
        if refuted:
            natural = (
                Case(
                    "two calls, A_dist's threshold with ln",
                    make(40, TWO_SPIKES, 100.0, 0.5, 1.0, 1e-3, log_base=math.e),
                    ONE_RECORD,
                    runs=400_000,
                    expected=Verdict.FAIL,
                    note="log(1/δ) read as ln(1/δ), the reading of Smith and Thakurta: refuted at ε = 1 a step.",
                ),
            )
        return (
            Case("thresholds on 256 points", labelled, _labelled_pairs(), runs=100_000),
            Case("small domain, exhaustive: two calls", two, runs=0, scope=scope),
            Case("small domain, exhaustive: three calls", three, runs=0, scope=scope),
            Case(
                "two calls, large ε",
                make(40, TWO_SPIKES, 100.0, 0.5, 2.5, 0.01),
                ONE_RECORD,
                runs=200_000,
                expected=fails,
                note="All constants as printed: a maximiser that changes costs more than 3δ once e^{2ε}·δ^0.44 > 6.",
            ),
            Case(
                "three calls",
                make(4096, steps, r, 0.5, 0.5, 1e-9, base=4),
                ONE_RECORD,
                runs=100_000_000,
                expected=fails,
                note="Both gaps of both outer calls move by 2; samples share paths, so a hundred million cost little.",
            ),
            Case(
                "three calls, by hand",
                make(PRINTED_T, BY_HAND, 400.0, 0.5, 1.0, 2.0**-100),
                ONE_RECORD,
                runs=0,
                expected=fails,
                note="Whole scores, and every constant as printed; finding 3 gives both probabilities by hand.",
            ),
            Case(
                "three calls, labelled examples",
                make(16383, Consistency(16384), 2048.0, 0.5, 0.5, 1e-9, base=4),
                (three_calls_of_examples(0.5, 1e-9, 0.5, 2048),),
                runs=100_000_000,
                expected=fails,
                note="The quality is the number of examples that a threshold labels rightly; one label is turned.",
            ),
            Case(
                "three calls, every constant as printed",
                make(PRINTED_T, three_calls(0.5, 1e-9, PRINTED_T)[1], r, 0.5, 0.5, 1e-9),
                runs=0,
                scope=Scope((0, 1), 1),
                expected=fails,
                note="Base case 32: three calls need T > 2^32. The domain is one record that is 0 or 1.",
            ),
            Case(
                "three calls, δ = 3.155e-5",
                make(4096, many, large_r, 0.5, 0.5, 3.155e-5, base=4),
                ONE_RECORD,
                runs=0,
                expected=fails,
                note="The same at a larger δ: solutions of high score outnumber the event, but make no long interval.",
            ),
            Case(
                "four calls",
                make(2**260, tower, tower_r, 0.5, 0.5, 1e-130, base=4),
                ONE_RECORD,
                runs=0,
                expected=fails,
                note="Both gaps of three calls move by 2; four calls of this kind need T ≥ 12·2^256.",
            ),
            *natural,
            *(
                Case(f"group of {g}", group, _group_pairs(g), group.claim.group(g), runs=100_000)
                for g in (2, 3)
            ),
        )

    def utility() -> tuple[UtilityCase, ...]:
        utility_cases = []
        for T, base, epsilon, delta, beta in (
            (31, 32, 1.0, 1e-6, 0.05),
            (40, 32, 1.0, 1e-6, 0.02),
            (40, 32, 0.1, 0.9, 0.2),
            (120, 4, 2.0, 0.9, 0.1),
        ):
            calls = make(T, Given(), 1.0, 0.5, epsilon, delta, base=base).calls
            least = make(T, Given(), 1.0, 0.5, epsilon, delta, base=base).least_promise(beta)
            mechanism = make(T, Given(), least, 0.5, epsilon, delta, base=base)
            lemma = mechanism.utility(0)[0]
            label = f"Lemma 6.13, T = {T}, {calls} call{'s' if calls > 1 else ''}, ε = {epsilon:g}, β = {beta:g}"
            utility_cases.append(UtilityCase(label, mechanism, lemma, peaks(T, least), runs=5_000))
        return tuple(utility_cases)

    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        # the promise is what a dataset that some threshold agrees with keeps
        examples = all_examples(range(domain))
        quality = Consistency(domain)
        return make(domain - 1, quality, float(records), 0.5, 0.5, 1e-6, base=2), Scope(examples, records)

    return Plan(name, cases, small, natural=Consistency, utility=utility)


def peaks(T: int, r: float) -> tuple[Fixed, ...]:
    """Quasi-concave scores that reach r, just: as few good solutions as may be, all others as near to good as may be.

    One solution with r and all others just below r/2, which is (1 − α)·r; the same with a slope of the heights that
    the proof compares, and plateaus as long as a block; at the ends, at the borders of blocks and between them.
    """
    bad = math.nextafter(r / 2, 0.0)
    instances = []
    for p in sorted({0, 1, T // 2, 8, 15, 16, T - 1, T}):
        slope = {0: r, 1: 13 / 16 * r, 2: 11 / 16 * r}
        instances += [
            Fixed(tuple(r if i == p else bad for i in range(T + 1)), label=f"r at {p}, just below r/2 elsewhere"),
            Fixed(tuple(slope.get(abs(i - p), bad - abs(i - p)) for i in range(T + 1)), label=f"a slope from r at {p}"),
            Fixed(
                tuple(r if p <= i < p + 8 else 13 / 16 * r if p - 8 <= i < p else -r for i in range(T + 1)),
                label=f"a plateau from {p} on",
            ),
        ]
    return tuple(instances)


def _labelled_pairs() -> tuple[Pair, ...]:
    consistent = Multiset.counted({(80, 1): 900, (120, 0): 900})
    gap = Multiset.counted({(80, 1): 900, (81, 0): 900})
    # the peaks at 40 and 200 are 203 apart, A_dist's threshold is 199
    two_peaks = Multiset.counted({(40, 1): 300, (41, 0): 300, (120, 1): 1, (200, 1): 502, (201, 0): 502})
    return (
        _replaced("consistent with a band of thresholds", consistent, (80, 1), (255, 0)),
        _replaced("one consistent threshold, label turned", gap, (80, 1), (80, 0)),
        _replaced("two peaks, one example moves the gap by 2", two_peaks, (120, 1), (120, 0)),
    )


def _group_pairs(g: int) -> tuple[Pair, ...]:
    data = Multiset.counted({(20, 1): 30, (30, 0): 30})
    return (
        _replaced("labels turned", data, (20, 1), (20, 0), g),
        _replaced("examples moved to the end", data, (30, 0), (63, 1), g),
    )


def _replaced(label: str, left: Multiset, old: Any, new: Any, times: int = 1) -> Pair:
    return Pair(left, left.changed(remove=(old,) * times, add=(new,) * times), label)


PLAN = plan("RecConcave", True, RecConcave)
CORRECTED_PLAN = plan("RecConcaveCorrected", False, RecConcaveCorrected)
