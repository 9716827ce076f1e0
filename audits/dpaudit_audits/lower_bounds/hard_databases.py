"""Audits by the lower bound for interior points (thesis §7.2): games on D_n, the reduction M(S), the success bound.

The games need no pair of datasets: the two datasets of a game only say whether the secret is in the data.
"""

from __future__ import annotations

from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Game, InteriorPoint, Mechanism, UtilityClaim
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.interior_points.interior_point import InteriorPointByMedianCorrected
from dpaudit_algorithms.interior_points.interior_point_baselines import Maximum, Median, Minimum, NoisyMedian
from dpaudit_algorithms.interior_points.rec_prefix import RecPrefix
from dpaudit_algorithms.lower_bounds.hard_databases import DigitGuessing, HardDatabase, HardReduction, OnHardDomain
from dpaudit_algorithms.lower_bounds.hard_distributions import base_at, success_bound

EPSILON = 0.2
"""Below 1/4, as the lemma asks."""
SIDES = Pair(*Game.sides, "the secret digit is in the data, or another one")
RUNS = {1: 20_000, 2: 2_000, 3: 120}
"""Samples per dataset at most: a number of D_3 has 40,000 digits, and a run takes ten milliseconds."""
FEW = {1: 20_000, 2: 300, 3: 30}
"""Where nothing is refuted, so that all are made; benchmarks/games.md has more."""
UNDECIDED: dict[str, Any] = {
    "expected": Verdict.INCONCLUSIVE, "note": "Too few games to test the claim; for the numbers of the lemma.",
}


def nominal(n: int) -> Claim:
    """(ε, δ(n)), what the lemma speaks about."""
    return Claim(EPSILON, 1 / base_at(n))


def by_depth(n: int, base: int | None = None, epsilon: float = EPSILON) -> OnHardDomain:
    """The exponential mechanism with the depth as its score, on [T(n)]."""
    return OnHardDomain(InteriorPointByMedianCorrected(epsilon, 2), "domain", n, base, first=1)


def rec_prefix(n: int) -> OnHardDomain:
    """RecPrefix at (ε, δ(n)) on [T(n)]."""
    return OnHardDomain(RecPrefix(2, EPSILON, 1 / base_at(n)), "size", n)


def short_rec_prefix(n: int, base: int) -> OnHardDomain:
    """RecPrefix on a small [T(n)], with two calls and nothing trimmed."""
    return OnHardDomain(RecPrefix(2, 4.0, 1e-3, 0.9, k=0, base=4), "size", n, base)


def baselines() -> dict[str, Mechanism]:
    """Interior points without privacy."""
    return {"median": Median(), "minimum": Minimum(), "maximum": Maximum(), "noisy median": NoisyMedian()}


def game_cases() -> tuple[Case, ...]:
    """D_n alone refutes what is not private, at n = 1, 2, 3, and not what is."""
    short = by_depth(2, 40)
    return (
        Case("default", DigitGuessing(short, 2, 40), (SIDES,), runs=1_000, exact=False, **UNDECIDED),
        *(
            Case(
                f"{name}, D_{n}",
                DigitGuessing(subject, n),
                (SIDES,),
                nominal(n),
                runs=RUNS[n],
                expected=Verdict.FAIL,
                deliberate=True,
            )
            for name, subject in baselines().items()
            for n in ((1, 2) if name == "maximum" else (1, 2, 3))  # the mirror image of the minimum, and slow
        ),
        Case("depth, D_1", DigitGuessing(by_depth(1), 1), (SIDES,), runs=FEW[1]),
        *(Case(f"depth, D_{n}", DigitGuessing(by_depth(n), n), (SIDES,), runs=FEW[n], **UNDECIDED) for n in (2, 3)),
        *(
            Case(f"RecPrefix, D_{n}", DigitGuessing(rec_prefix(n), n), (SIDES,), runs=FEW[n], **UNDECIDED)
            for n in (2, 3)
        ),
        Case("depth, D_2 to the base 3, exactly", DigitGuessing(by_depth(2, 3), 2, 3), (SIDES,), runs=0),
        Case(
            "median, D_2 to the base 3, exactly",
            DigitGuessing(Median(), 2, 3),
            (SIDES,),
            Claim(EPSILON, 0.1),
            runs=0,
            expected=Verdict.FAIL,
            deliberate=True,
        ),
        *(
            Case(
                f"group of {k}",
                DigitGuessing(short, 2, 40),
                (SIDES,),
                claim_of(short).group(k),
                runs=200,
                exact=False,
                expected=Verdict.INCONCLUSIVE,
                note="The two databases of a secret differ in one record, and so in at most as many as the group has.",
            )
            for k in (2, 3)
        ),
    )


def reduction_cases() -> tuple[Case, ...]:
    """Every pair of databases of small [T(n)], with inner mechanisms that keep their claims and one that does not."""
    one, two = HardReduction(by_depth(2, 3, 2.0), 1, 3), HardReduction(by_depth(3, 2, 1.0), 2, 2)
    prefix = HardReduction(short_rec_prefix(2, 3), 1, 3)
    false = HardReduction(NoisyMedian(EPSILON, 0.005, 0.5), 1, 3)
    either, prefixes = Pair((0,), (1,), "the two records"), Scope((2, 3), 2)
    return (
        Case("default", one, (either,), scope=Scope((0, 1), 1), runs=2_000),
        Case("two records to the base 2", two, runs=0, scope=prefixes),
        Case("RecPrefix inside", prefix, runs=0, scope=Scope((0, 1), 1)),
        Case(
            "a noisy median inside",
            false,
            (either,),
            runs=20_000,
            expected=Verdict.FAIL,
            deliberate=True,
            note="The claim is computed from the inner one, which is false.",
        ),
        Case("as printed, one record", HardReduction(by_depth(2), 1), (either,), runs=FEW[2], **UNDECIDED),
        *(Case(f"group of {k}", one, (either,), claim_of(one).group(k), runs=0) for k in (2, 3)),
    )


def database_cases() -> tuple[Case, ...]:
    """D_n reads no data."""
    default, pair = HardDatabase(2, 3), Pair((0,), (1,), "whatever the data")
    return (
        Case("default", default, (pair,), runs=5_000),
        *(
            Case(f"group of {k}", default, (Pair((0,) * k, (1,) * k, "whatever the data"),), Claim(0.0).group(k), 5_000)
            for k in (2, 3)
        ),
    )


def success_cases() -> tuple[UtilityCase, ...]:
    """P_n: what is not private succeeds more often, what is (ε, δ(n))-DP does not."""
    return (
        *(
            UtilityCase(
                f"{name}, D_{n}",
                subject,
                bound(n),
                (HardDatabase(n),),
                RUNS[n],
                exact=n == 1,
                # noise of scale 1 hides a bit, so that the noisy median misses the only point of D_1 half of the time
                expected=Verdict.PASS if (name, n) == ("noisy median", 1) else Verdict.FAIL,
                deliberate=(name, n) != ("noisy median", 1),
                note="Not private; the bound holds for private mechanisms alone.",
            )
            for name, subject in baselines().items()
            for n in (1, 2, 3)
        ),
        *(
            UtilityCase(f"depth, D_{n}", by_depth(n), bound(n), (HardDatabase(n),), FEW[n], exact=n == 1)
            for n in (1, 2, 3)
        ),
        *(
            UtilityCase(f"RecPrefix, D_{n}", rec_prefix(n), bound(n), (HardDatabase(n),), FEW[n], exact=False)
            for n in (2, 3)
        ),
    )


def bound(n: int) -> UtilityClaim:
    """An interior point with probability at most P_n."""
    return UtilityClaim(InteriorPoint(), success_bound(n, EPSILON), "§7.2, Lemma 7.6", at_most=True)


DATABASE_PLAN = Plan("HardDatabase", database_cases, utility=success_cases)
REDUCTION_PLAN = Plan("HardReduction", reduction_cases)
GAME_PLAN = Plan("DigitGuessing", game_cases)
