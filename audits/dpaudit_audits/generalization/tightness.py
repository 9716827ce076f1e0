"""Audit plans for the tightness algorithm (thesis, Theorem 4.5): distinct records, equal records, misfit blocks.

Its probabilities are the same for all sequences of distinct records, so one sequence represents U[0, 1]^n exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed, Mechanism
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.generalization.tightness import GeneralizationTightness, GeneralizationTightnessCorrected
from dpaudit_algorithms.generalization.tightness_theory import UnitInterval

Kind: TypeAlias = type[GeneralizationTightness] | type[GeneralizationTightnessCorrected]
SHORT = "Blocks of ⌈αn⌉ records: there are {}, and {} are not enough."


def cases(kind: Kind) -> tuple[Case, ...]:
    """One record in one block, or one in each of several; a duplicate of a record hides the other."""
    default, singles, large = kind(0.25, 0.1), kind(0.125, 0.1), kind(0.5, 0.4)
    return (
        Case("default", default, _pairs(8, 1), runs=5_000),
        Case("every pair of 4 records, 1/α = 4", default, runs=0, scope=Scope((0, 1, 2), 4, ordered=True)),
        Case("every pair of 6 records, 1/α = 2", large, runs=0, scope=Scope((0, 1), 6, ordered=True)),
        Case(
            "every pair of 5 records, blocks that do not fit",
            kind(0.3, 0.29),
            runs=0,
            scope=Scope((0, 1, 2), 5, ordered=True),
        ),
        Case("a single block", kind(1.0, 0.9), _pairs(5, 1), runs=5_000),
        Case(
            "less than δ",
            default,
            _pairs(8, 1)[:2],
            Claim(0.0, 0.099),
            runs=5_000,
            expected=Verdict.FAIL,
            deliberate=True,
        ),
        *(Case(f"group of {k}", singles, _pairs(8, k), singles.claim.group(k), runs=2_000) for k in (2, 3)),
        Case("group of 2 in one block", large, _pairs(8, 2), large.claim.group(2), runs=5_000),
    )


def utility(kind: Kind) -> tuple[UtilityCase, ...]:
    """1/α and αn whole or not, α near δ and near 1; and the printed bound on samples of U[0, 1]."""
    refuted = Verdict.FAIL if kind is GeneralizationTightness else Verdict.PASS
    return (
        _tried("default", kind(0.25, 0.1), 8),
        _tried("one record per block", kind(0.1, 0.05), 10),
        _tried("1/α not whole", kind(0.4, 0.39), 5),
        _tried("1/α not whole, δ near α", kind(0.3, 0.299), 10),
        _tried("α near δ", kind(0.126, 0.125), 1000),
        _tried("α near 1", kind(0.999, 0.9), 1000),
        _tried("α = 1, one record", kind(1.0, 0.5), 1),
        _tried("small δ", kind(0.125, 1e-6), 16),
        _tried("αn not whole, three records", kind(0.34, 0.1), 3, refuted, SHORT.format("one", "its")),
        _tried("αn not whole, α near δ", kind(0.101, 0.1), 10, refuted, SHORT.format("five", "they")),
        *(
            UtilityCase(f"S from U[0, 1], {label}", one, one.utility(n)[0], (UnitInterval(n),), runs=1_000, exact=False)
            for label, one, n in (
                ("1/α = 4", kind(0.25, 0.1), 8),
                ("1/α not whole", kind(0.4, 0.39), 5),
                ("α = 1, one record", kind(1.0, 0.5), 1),
            )
        ),
    )


def _tried(
    label: str,
    mechanism: GeneralizationTightness | GeneralizationTightnessCorrected,
    n: int,
    expected: Verdict = Verdict.PASS,
    note: str = "",
) -> UtilityCase:
    """The last, strongest guarantee, or the first, refuted one: exact on n distinct records."""
    instances = (Fixed(tuple(range(n)), "U", f"{n:,} distinct records"),)
    printed = mechanism.utility(n)
    claim = printed[-1] if expected is Verdict.PASS else printed[0]
    return UtilityCase(label, mechanism, claim, instances, runs=2_000, expected=expected, note=note)


def _pairs(n: int, k: int) -> tuple[Pair, ...]:
    """k of n distinct records replaced, two positions apart or adjacent; and k of n equal records replaced."""
    plain = tuple(i / n for i in range(n))
    even = tuple(0.5 for _ in range(n))
    apart, together = tuple(range(0, 2 * k, 2)), tuple(range(k))
    return (
        Pair(plain, _replaced(plain, apart), f"{k} of {n} distinct records replaced, apart"),
        Pair(plain, _replaced(plain, together), f"{k} of {n} distinct records replaced, together"),
        Pair(even, _replaced(even, apart), f"{k} of {n} equal records replaced"),
    )


def _replaced(records: tuple[float, ...], places: tuple[int, ...]) -> tuple[float, ...]:
    return tuple(2.0 + i if i in places else x for i, x in enumerate(records))


def _small(kind: Kind) -> Callable[[int, int], tuple[Mechanism, Scope]]:
    return lambda domain, records: (kind(0.25, 0.1), Scope(tuple(range(domain)), records, ordered=True))


PLAN = Plan(
    "GeneralizationTightness",
    lambda: cases(GeneralizationTightness),
    _small(GeneralizationTightness),
    utility=lambda: utility(GeneralizationTightness),
)
CORRECTED_PLAN = Plan(
    "GeneralizationTightnessCorrected",
    lambda: cases(GeneralizationTightnessCorrected),
    _small(GeneralizationTightnessCorrected),
    utility=lambda: utility(GeneralizationTightnessCorrected),
)
