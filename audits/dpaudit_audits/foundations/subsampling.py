"""Audits of subsampling with replacement (thesis, Lemma 7.19)."""

from __future__ import annotations

import math

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Mechanism, Multiplicity, Multiset
from dpaudit.plans.plan import Case, Plan, Scope
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected
from dpaudit_algorithms.foundations.dominating import DominatingMechanism
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.foundations.subsampling import Subsampled
from dpaudit_audits.foundations.overclaiming import Overclaiming

RUNS = 50_000
TWO, THREE = Multiplicity((0, 1)), Multiplicity((0, 1, 2))


def cases() -> tuple[Case, ...]:
    """Worst cases inside the claim, nearest to it at ε = 1 and n = 2m; and inner mechanisms that claim too much."""
    leak, pure = GroupPrivacy(1.0, 1e-3), GroupPrivacy(1.0, 0.0, 1e-3)
    default = Subsampled(leak, 20, 40)
    sparse = Subsampled(leak, 20, 400)
    too_much = Subsampled(Overclaiming(GroupPrivacy(4.0, 0.0, 1e-3), Claim(1.0)), 5, 10)
    # its threshold, 43.3, is so far off that ⊥ gains e^{2ε} from every copy of the row
    printed = Subsampled(ADist(1.0, math.exp(-30), TWO), 64, 128)
    return (
        Case("default", default, (ones(40, 0, 1), ones(40, 39, 1)), runs=RUNS),
        Case("pure", Subsampled(pure, 20, 40), (ones(40, 0, 1),), runs=RUNS),
        Case("one of two rows", Subsampled(pure, 1, 2), runs=0, scope=Scope((0, 1), 2)),
        Case("many more rows than draws", sparse, (ones(400, 0, 1),), runs=RUNS),
        Case("every pair of 40 rows", default, runs=0, scope=Scope((0, 1), 40)),
        Case("every pair of 40 rows, pure", Subsampled(pure, 20, 40), runs=0, scope=Scope((0, 1), 40)),
        Case(
            "the proof's own bound",
            default,
            claim=default.tight,
            runs=0,
            scope=Scope((0, 1), 40),
            note="(7.2) and (7.3) before they are rounded to 6εm/n.",
        ),
        Case(
            "randomised response with a leak",
            Subsampled(DominatingMechanism(1.0, 1e-3), 3, 6),
            runs=0,
            scope=Scope((0, 1), 6),
        ),
        Case(
            "the exponential mechanism",
            Subsampled(ExponentialMechanism(1.0, THREE), 4, 8),
            (ones(8, 0, 1),),
            runs=20_000,
            scope=Scope((0, 1, 2), 8),
        ),
        Case(
            "A_dist, corrected",
            Subsampled(ADistCorrected(1.0, 1e-3, TWO), 20, 40),
            runs=0,
            scope=Scope((0, 1), 40),
        ),
        Case(
            "A_dist as printed",
            printed,
            (ones(128, 0, 1),),
            runs=0,
            expected=Verdict.FAIL, deliberate=True,
            note="Its own claim is false: m·ln(1 + (e^{2ε} − 1)/n) = 3.117 against 6εm/n = 3, in spite of the slack.",
        ),
        Case(
            "an inner mechanism of ε = 4 that claims 1",
            too_much,
            (ones(10, 0, 1),),
            runs=RUNS,
            expected=Verdict.FAIL, deliberate=True,
            note="A row that is drawn twice in five multiplies the probability of True by almost 1000.",
        ),
        *(Case(f"group of {k}", sparse, (ones(400, 0, k),), sparse.claim.group(k), runs=RUNS) for k in (2, 3)),
        Case(
            "every group of 3 of 40 rows, pure",
            Subsampled(pure, 20, 40),
            claim=Subsampled(pure, 20, 40).claim.group(3),
            runs=0,
            scope=Scope((0, 1), 40),
        ),
    )


def ones(rows: int, before: int, more: int) -> Pair:
    """So many rows equal to 1 against `more` of them more, the rest 0."""
    left = Multiset.counted({0: rows - before, 1: before})
    right = Multiset.counted({0: rows - before - more, 1: before + more})
    return Pair(left, right, f"{before} of {rows} rows are 1, against {before + more}")


def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """Half of the rows, which are two at least, are drawn; the exponential mechanism counts them."""
    values, n = tuple(range(domain)), max(2, records)
    return Subsampled(ExponentialMechanism(1.0, Multiplicity(values)), n // 2, n), Scope(values, n)


PLAN = Plan("Subsampled", cases, small)
