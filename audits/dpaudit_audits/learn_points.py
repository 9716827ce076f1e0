"""What to try against LearnPoints (thesis §6.2) and its version on the mended A_dist."""

from __future__ import annotations

from collections.abc import Callable

from dpaudit.adversary.pairs import Pair
from dpaudit.audit.plan import Case, Plan, Scope
from dpaudit.audit.results import Verdict
from dpaudit.language import Mechanism, Multiset
from dpaudit_algorithms.learn_points import LearnPoints, LearnPointsCorrected

EXAMPLES = ((0, 0), (0, 1), (1, 0), (1, 1))


def cases() -> tuple[Case, ...]:
    """As printed: A_dist's violation shows through the random concept."""
    default = LearnPoints(1.0, 1e-6, 256)
    return (
        Case("default", default, pairs=(_positive(22, 1),), expected=Verdict.FAIL),
        Case("fewest records at |X| = 2", LearnPoints(1.0, 1e-6, 2), (_positive(21, 1),), expected=Verdict.FAIL),
        Case(
            "every pair of 22 positive examples",
            LearnPoints(1.0, 1e-6, 2),
            runs=0,
            scope=Scope(((0, 1), (1, 1)), 22),
            expected=Verdict.FAIL,
        ),
        Case("group of 2", default, (_positive(24, 2),), default.claim.group(2), expected=Verdict.FAIL),
        Case("group of 3", default, (_positive(26, 3),), default.claim.group(3), expected=Verdict.FAIL),
    )


def corrected_cases() -> tuple[Case, ...]:
    """On the mended A_dist."""
    default = LearnPointsCorrected(1.0, 1e-6, 256)
    small = LearnPointsCorrected(1.0, 0.05, 2)
    return (
        Case("default", default, pairs=(_positive(32, 1), _positive(22, 1))),
        Case("every pair of 32 positive examples", default, runs=0, scope=Scope(((0, 1), (1, 1)), 32)),
        Case("every pair of 7 examples, δ = 0.05", small, runs=0, scope=Scope(EXAMPLES, 7)),
        Case("group of 2", default, (_positive(34, 2),), default.claim.group(2)),
        Case("group of 3", default, (_positive(36, 3),), default.claim.group(3)),
    )


def _positive(records: int, moved: int) -> Pair:
    """All examples (0, 1), against `moved` of them (1, 1)."""
    left, right = Multiset.counted({(0, 1): records}), Multiset.counted({(0, 1): records - moved, (1, 1): moved})
    return Pair(left, right, f"{records} positive examples of one point, {moved} moved to another")


def _small(
    kind: type[LearnPoints] | type[LearnPointsCorrected],
) -> Callable[[int, int], tuple[Mechanism, Scope]]:
    """δ is so large that few records pass A_dist's threshold."""

    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        return kind(1.0, 0.05, domain), Scope(tuple((x, y) for x in range(domain) for y in (0, 1)), records)

    return small


PLAN = Plan("LearnPoints", cases, _small(LearnPoints))
CORRECTED_PLAN = Plan("LearnPointsCorrected", corrected_cases, _small(LearnPointsCorrected))
