"""The interior-point baselines against specified pairs; the games on D_n, which need none, are in `hard_databases`."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope
from dpaudit.results.model import Verdict
from dpaudit_algorithms.interior_points.interior_point_baselines import Maximum, Median, Minimum, NoisyMedian

NOMINAL = Claim(1.0, 1e-6)


def minimum_cases() -> tuple[Case, ...]:
    """One record is the new minimum."""
    return _caught(Minimum(), NOMINAL, {k: _pair({5: 5, 9: 4}, 5, 0, k) for k in (1, 2, 3)})


def maximum_cases() -> tuple[Case, ...]:
    """One record is the new maximum."""
    return _caught(Maximum(), NOMINAL, {k: _pair({0: 5, 4: 4}, 4, 9, k) for k in (1, 2, 3)})


def median_cases() -> tuple[Case, ...]:
    """One record moves the median across the domain."""
    pairs = {
        k: Pair(Multiset.counted({0: 5, 9: 4}), Multiset.counted({0: 5 - k, 9: 4 + k}), "the median moves")
        for k in (1, 2, 3)
    }
    small = Scope((0, 1, 2), 3)
    every = Case("every pair of 3 records", Median(), (), NOMINAL, runs=0, scope=small, expected=Verdict.FAIL)
    cases = [
        Case(label, Median(), (pairs[k],), NOMINAL.group(k), runs=20_000, expected=Verdict.FAIL)
        for k, label in ((1, "default"), (2, "group of 2"), (3, "group of 3"))
    ]
    return (cases[0], every, *cases[1:])


def noisy_median_cases() -> tuple[Case, ...]:
    """One record moves the median across the domain, and the noise does not hide it."""
    default = NoisyMedian()
    assert default.claim is not None
    return _caught(default, default.claim, {k: _pair({0: 5, 9: 4}, 0, 9, k) for k in (1, 2, 3)})


def _pair(counts: dict[int, int], old: int, new: int, moved: int) -> Pair:
    left = Multiset.counted(counts)
    right = left.changed(remove=(old,) * moved, add=(new,) * moved)
    return Pair(left, right, f"{moved} of the records moved from {old} to {new}")


def _caught(mechanism: Mechanism, claim: Claim, pairs: dict[int, Pair]) -> tuple[Case, ...]:
    return (
        Case("default", mechanism, (pairs[1],), claim, runs=20_000, expected=Verdict.FAIL, deliberate=True),
        Case(
            "every pair of 3 records",
            mechanism,
            (),
            claim,
            runs=0,
            scope=Scope((0, 1, 2), 3),
            expected=Verdict.FAIL,
            deliberate=True,
        ),
        *(
            Case(
                f"group of {k}", mechanism, (pairs[k],), claim.group(k), runs=20_000, expected=Verdict.FAIL,
                deliberate=True,
            )
            for k in (2, 3)
        ),
    )


MEDIAN_PLAN = Plan("Median", median_cases)
MINIMUM_PLAN = Plan("Minimum", minimum_cases)
MAXIMUM_PLAN = Plan("Maximum", maximum_cases)
NOISY_MEDIAN_PLAN = Plan("NoisyMedian", noisy_median_cases)
