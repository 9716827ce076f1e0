"""What the packing argument finds (Sivakumar, §3.2): learners without privacy against all datasets of a packing."""

from __future__ import annotations

from functools import lru_cache

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Game, Mechanism
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.lower_bounds.packing_game import PackingGame
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholds, LearnThresholdsCorrected
from dpaudit_algorithms.pac.non_private import ConsistentThreshold, EmpiricalRiskMinimizer, thresholds
from dpaudit_audits.lower_bounds.packing_search import packing_pair

NOMINAL = Claim(1.0, 1e-6)
"""Theorem 3.4 has ε = 1."""
SIDES = Pair(*Game.sides, "the data are S_j, or S, which is the same for all j")
SIZE = 64
"""Points of the domain; the catalogue's learners have c_t(x) = 1 iff x ≤ t, so that the lower half is labelled 1."""
LIMIT = 4_500
"""Datasets looked at in a search, for all three colours of 4 records together."""


def cases() -> tuple[Case, ...]:
    """Two learners without privacy are refuted at (1, 10⁻⁶), those that keep their claims are not."""
    caught: tuple[tuple[str, Mechanism, int, int], ...] = (
        ("consistent threshold, 30 points, 2 records", ConsistentThreshold(SIZE), 2, 30),
        ("consistent threshold, 15 points, 4 records", ConsistentThreshold(SIZE), 4, 15),
        ("empirical risk, 15 points, 4 records", EmpiricalRiskMinimizer(thresholds(SIZE)), 4, 15),
    )
    kept: tuple[tuple[str, Mechanism, int, int], ...] = (
        ("default", by_consistency(6.0), 4, 12),
        ("exponential mechanism, 6 points, 4 records", by_consistency(1.0), 4, 6),
        ("exponential mechanism, 30 points, 2 records", by_consistency(1.0), 2, 30),
    )
    slower: tuple[tuple[str, Mechanism, int, int], ...] = (
        ("LearnThresholds, 20 points, 2 records", LearnThresholds(SIZE), 2, 20),
        ("LearnThresholdsCorrected, 20 points, 2 records", LearnThresholdsCorrected(SIZE), 2, 20),
    )
    default = by_consistency(6.0)
    return (
        *(Case(label, against(subject, n, m), (SIDES,), runs=20_000) for label, subject, n, m in kept),
        *(Case(label, against(subject, n, m), (SIDES,), runs=0) for label, subject, n, m in slower),
        *(
            Case(
                label,
                against(subject, n, m),
                (SIDES,),
                NOMINAL.chained(2),
                runs=20_000,
                expected=Verdict.FAIL,
                deliberate=True,
            )
            for label, subject, n, m in caught
        ),
        Case(
            "exponential mechanism at ε = 6, claimed at 1/2",
            against(default, 4, 12),
            (SIDES,),
            Claim(0.5).chained(2),
            runs=20_000,
            expected=Verdict.FAIL,
            deliberate=True,
        ),
        *(
            Case(f"group of {k}", against(default, 4, 12), (SIDES,), claim_of(default).group(k), runs=5_000)
            for k in (2, 3)
        ),
    )


def by_consistency(epsilon: float) -> ExponentialMechanism:
    """The generic private learner of thresholds."""
    return ExponentialMechanism(epsilon, Consistency(SIZE))


@lru_cache(maxsize=16)
def against(subject: Mechanism, records: int, vertices: int) -> PackingGame:
    """The game on the first vertices of one colour that the search finds."""
    found = packing_pair(subject, range(SIZE), records, vertices=vertices, lower=1, limit=LIMIT)
    assert found.game is not None, found.text
    return found.game


PLAN = Plan("PackingGame", cases)
