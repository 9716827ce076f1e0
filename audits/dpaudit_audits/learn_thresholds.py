"""What to try against LearnThresholds (thesis §6.5) and its mended version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpaudit.adversary.pairs import Pair
from dpaudit.audit.plan import Case, Plan, Scope
from dpaudit.audit.results import Verdict
from dpaudit.language import Mechanism, Multiset
from dpaudit_algorithms.learn_thresholds import LearnThresholds, LearnThresholdsCorrected
from dpaudit_audits.rec_concave import three_calls_of_examples

EXAMPLES = tuple((x, y) for x in (0, 3, 4, 7) for y in (0, 1))


def plan(name: str, refuted: bool, make: Callable[..., LearnThresholds | LearnThresholdsCorrected]) -> Plan:
    """Both versions face the same cases; the printed one fails where ε̂ is large.

    Args:
        make: the version's class.
    """

    def cases() -> tuple[Case, ...]:
        scope = Scope(EXAMPLES, 3)
        group = make(64, 0.5, 2.0, 1e-6, N=2)
        deep = make(2**33 + 1, N=3)
        return (
            Case("paper constants, 2^16 thresholds", make(), _default_pairs(), runs=200_000),
            Case("small scope, exhaustive: two calls", make(8, 0.5, 3.0, 1e-3, N=2, base=4), runs=0, scope=scope),
            Case("small scope, exhaustive: three calls", make(8, 0.5, 4.5, 1e-3, N=3, base=2), runs=0, scope=scope),
            Case(
                "large ε",
                make(41, 1.0, 15.0, 0.06, N=2),
                (_two_peaks(),),
                runs=200_000,
                expected=Verdict.FAIL if refuted else Verdict.PASS,
                note="ε̂ = 2.5, δ̂ = 0.01: the best threshold moves from 20 to 5, which costs more than A_dist's δ̂.",
            ),
            Case(
                "three calls, every constant as printed",
                deep,
                tuple(
                    three_calls_of_examples(deep.epsilon / 9, deep.delta / 9, deep.alpha / 2, n)
                    for n in (8_000, deep.enough(0.05))
                ),
                runs=0,
                expected=Verdict.FAIL if refuted else Verdict.PASS,
                note="N = 3, |X| = 2^33 + 1; the larger datasets have the sample size of Theorem 6.17 for β = 0.05.",
            ),
            *(Case(f"group of {g}", group, _group_pairs(g), group.claim.group(g), runs=100_000) for g in (2, 3)),
        )

    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        # base 2 makes the recursion as deep as it can be; the privacy proof does not use it
        examples = tuple((x, y) for x in range(domain) for y in (0, 1))
        return make(domain, 0.5, 1.0, 1e-6, base=2), Scope(examples, records)

    return Plan(name, cases, small)


def _two_peaks() -> Pair:
    # Q peaks at 5 and 20 alone; turning the label between them moves their gap from 2 to 0, a tie that 5 wins
    data = {(5, 1): 100, (6, 0): 100, (13, 1): 1, (20, 1): 101, (21, 0): 101}
    return _replaced("the best of two peaks changes", data, (13, 1), (13, 0))


def _default_pairs() -> tuple[Pair, ...]:
    # ε̂ = 1/12 and δ̂ = 1e-6/12: A_dist's threshold is 282
    apart = {(9_000, 1): 300, (9_001, 0): 300, (20_000, 1): 1, (50_000, 1): 583, (50_001, 0): 583}
    return (
        _replaced("consistent with a band of thresholds", {(9_000, 1): 500, (50_000, 0): 500}, (9_000, 1), (65_535, 0)),
        _replaced("one consistent threshold, turned", {(9_000, 1): 500, (9_001, 0): 500}, (9_000, 1), (9_000, 0)),
        _replaced("two peaks, their gap falls through A_dist's threshold", apart, (20_000, 1), (20_000, 0)),
        _replaced("a single example", {(9_000, 1): 1}, (9_000, 1), (9_000, 0)),
    )


def _group_pairs(g: int) -> tuple[Pair, ...]:
    data = {(20, 1): 30, (30, 0): 30}
    return (
        _replaced("labels turned", data, (20, 1), (20, 0), g),
        _replaced("examples moved to the end", data, (30, 0), (63, 1), g),
    )


def _replaced(label: str, counts: dict[Any, int], old: Any, new: Any, times: int = 1) -> Pair:
    left = Multiset.counted(counts)
    return Pair(left, left.changed(remove=(old,) * times, add=(new,) * times), label)


PLAN = plan("LearnThresholds", True, LearnThresholds)
CORRECTED_PLAN = plan("LearnThresholdsCorrected", False, LearnThresholdsCorrected)
