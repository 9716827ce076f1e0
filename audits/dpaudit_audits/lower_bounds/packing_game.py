"""Audits by the packing argument (Sivakumar, §3.2): learners without privacy against all datasets of a packing."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Game
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.lower_bounds.packing_game import Packing, PackingGame
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholds, LearnThresholdsCorrected
from dpaudit_algorithms.pac.non_private import ConsistentThreshold, EmpiricalRiskMinimizer, thresholds

NOMINAL = Claim(1.0, 1e-6)
"""Theorem 3.4 has ε = 1."""
SIDES = Pair(*Game.sides, "the data are S_j, or S, which is the same for all j")
SIZE = 64
"""Points of the domain; the catalogue's learners have c_t(x) = 1 iff x ≤ t, so that the lower half is labelled 1."""


def packing(vertices: int | tuple[int, ...], records: int, colour: int) -> Packing:
    """Vertices of which all datasets of so many records have one colour; a number stands for 0, …, vertices − 1.

    The search (`packing_search`) takes seconds, so that what it finds first is written down in the cases below; a test
    searches again.
    """
    return Packing(tuple(range(vertices)) if isinstance(vertices, int) else vertices, records, colour, lower=1)


def cases() -> tuple[Case, ...]:
    """Two learners without privacy are refuted at (1, 10⁻⁶), those that keep their claims are not."""
    caught = (
        (
            "consistent threshold, 30 points, 2 records",
            PackingGame(ConsistentThreshold(SIZE), packing(30, 2, 0)),
        ),
        (
            "consistent threshold, 15 points, 4 records",
            PackingGame(ConsistentThreshold(SIZE), packing(15, 4, 1)),
        ),
        (
            "empirical risk, 15 points, 4 records",
            PackingGame(EmpiricalRiskMinimizer(thresholds(SIZE)), packing(15, 4, 1)),
        ),
    )
    default = PackingGame(by_consistency(6.0), packing(12, 4, 1))
    few = packing((0, 1, 2, 4, 9, 23), 4, 2)
    kept = (
        ("default", default),
        ("exponential mechanism, 6 points, 4 records", PackingGame(by_consistency(1.0), few)),
        ("exponential mechanism, 30 points, 2 records", PackingGame(by_consistency(1.0), packing(30, 2, 0))),
    )
    slower = (
        ("LearnThresholds, 20 points, 2 records", PackingGame(LearnThresholds(SIZE), packing(20, 2, 0))),
        (
            "LearnThresholdsCorrected, 20 points, 2 records",
            PackingGame(LearnThresholdsCorrected(SIZE), packing(20, 2, 0)),
        ),
    )
    return (
        *(Case(label, game, (SIDES,), runs=20_000) for label, game in kept),
        *(Case(label, game, (SIDES,), runs=0) for label, game in slower),
        *(
            Case(
                label,
                game,
                (SIDES,),
                NOMINAL.chained(2),
                runs=20_000,
                expected=Verdict.FAIL,
                deliberate=True,
            )
            for label, game in caught
        ),
        Case(
            "exponential mechanism at ε = 6, claimed at 1/2",
            default,
            (SIDES,),
            Claim(0.5).chained(2),
            runs=20_000,
            expected=Verdict.FAIL,
            deliberate=True,
        ),
        *(
            Case(f"group of {k}", default, (SIDES,), claim_of(default.subject).group(k), runs=5_000)
            for k in (2, 3)
        ),
    )


def by_consistency(epsilon: float) -> ExponentialMechanism:
    """The generic private learner of thresholds."""
    return ExponentialMechanism(epsilon, Consistency(SIZE))


PLAN = Plan("PackingGame", cases)
