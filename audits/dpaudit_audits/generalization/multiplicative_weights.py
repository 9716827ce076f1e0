"""Audit plan for private multiplicative weights: conversations with a large privacy loss or a large error."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed, Mechanism, Multiset, UtilityClaim
from dpaudit.plans.plan import Case, Plan, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.generalization.accuracy_games import OverfittingGame, WithinError
from dpaudit_algorithms.generalization.analysts import AskingAll, Overfitter, RandomSubsets
from dpaudit_algorithms.generalization.interaction import AccurateAnswers, Analyst, Samples
from dpaudit_algorithms.generalization.multiplicative_weights import PrivateMultiplicativeWeights
from dpaudit_algorithms.generalization.multiplicative_weights_theory import COROLLARIES
from dpaudit_algorithms.generalization.predicates import Among
from dpaudit_algorithms.generalization.statistical_queries import NaiveAnswers
from dpaudit_algorithms.generalization.weights_analysts import Hovering, WorstFor
from dpaudit_algorithms.generalization.weights_game import WeightsGame
from dpaudit_audits.foundations.overclaiming import Overclaiming
from dpaudit_audits.generalization.weights_figures import errors_by_round
from dpaudit_audits.generalization.wrong_sparse import Quiet

X = (0, 1, 2)
LEFT = Multiset.counted({0: 9, 1: 8, 2: 3})
RUNS = 2_000
SLOW = 0.02
"""α for cases with a large privacy loss: x^t hardly moves, so every query stays at the threshold."""
REAL = "The answers are real numbers, so the output distribution is not computed."


def cases() -> tuple[Case, ...]:
    """f(S) − f(x^t) at the threshold; the changed record lowers all queries except the last."""
    default = _mechanism(1.0, 0.0, 2, _hunter(0.1, 6))
    large = _mechanism(4.0, 0.0, 1, _hunter(0.1, 5))
    below = _mechanism(4.0, 0.0, 6, _hunter(0.1, 3), threshold=-1.0)
    moved = replace(_mechanism(4.0, 0.0, 4, WorstFor(LEFT, X, 0.4, 5)), alpha=0.4)
    half = _mechanism(0.5, 0.0, 3, AskingAll((_among(0), _among(1), _among(0, 2), _among(1), _among(0))))
    drawn = _mechanism(1.0, 0.0, 2, RandomSubsets(X, 2))
    approximate = _mechanism(1.0, 1e-3, 2, _hunter(0.1, 6))
    loose = _mechanism(3.0, 0.01, 8, _hunter(0.1, 4), threshold=-1.0)
    printed = PrivateMultiplicativeWeights(1.0, 0.0, 0.5, X, 20, WorstFor(LEFT, X, 0.5, 4))
    again = AskingAll((_among(0),) * 44)
    inner = PrivateMultiplicativeWeights(88 * 4.0, 0.0, SLOW, X, 20, again, c=88, threshold=-20.0)
    unscaled = Overclaiming(inner, Claim(4.0))
    quiet = Quiet(1.0, 0.0, SLOW, X, 20, _hunter(0.1, 3), c=1, threshold=0.09)
    fails = Verdict.FAIL
    return (
        _case("default", default),
        _case("ε = 4, c = 1", large, runs=4 * RUNS),
        _case("ε = 4, two releases in every round", below),
        _case("ε = 4, after updates that move x^t far", moved),
        _case("ε = 0.5, queries fixed in advance", half),
        _case("subsets drawn in advance", drawn),
        # with these parameters there is never an update, so every transcript is the same
        replace(_case("c and T as printed, α = 0.5", printed), expected=Verdict.INCONCLUSIVE),
        _case("δ = 0.001", approximate),
        _case("ε = 3, δ = 0.01, two releases in every round", loose),
        replace(_case("group of 2", default, 2), claim=default.claim.group(2)),
        replace(_case("group of 3", approximate, 3), claim=approximate.claim.group(3)),
        replace(
            _case("noise of one update, c = 88", unscaled, runs=5_000), expected=fails, deliberate=True,
            note="Two releases in every round, each with noise for one.",
        ),
        replace(
            _case("no noise on the compared values", quiet), expected=fails, deliberate=True,
            note="Whether the first answer is f(x^0) reveals whether the share is above T.",
        ),
    )


def utility_cases() -> tuple[UtilityCase, ...]:
    """At the printed n, c and T: databases far from uniform; analysts who ask where x^t errs most, or by about 3α."""
    cases = []
    for alpha, size, k in ((0.2, 4, 20), (0.3, 2, 80), (0.25, 6, 60)):
        points = tuple(range(size))
        n = _printed(alpha, points, k)
        held = (
            ("one point", Multiset.counted({0: n})),
            ("half", Multiset.counted(dict.fromkeys(points[: size // 2], n * 2 // size))),
            ("uneven", _padded({point: int(n * 0.6 / 2**point) for point in points}, n)),
        )
        for label, S in held:
            worst = _at(alpha, points, WorstFor(S, points, alpha, k), S)
            case = _asked(f"worst queries, {label}, |X| = {size}, α = {alpha:g}", worst, S)
            cases.append(replace(case, drawing=partial(errors_by_round, worst)) if label == "one point" else case)
        S = held[2][1]
        near = _at(alpha, points, Hovering(S, points, alpha, k, 3 * alpha), S)
        cases.append(_asked(f"errors near 3α, |X| = {size}, α = {alpha:g}", near, S))
        doubt = _at(alpha, points, Hovering(S, points, alpha, k, near.T), S)
        cases.append(_asked(f"errors near T, |X| = {size}, α = {alpha:g}", doubt, S))
    points = tuple(range(4))
    n = _printed(0.2, points, 20, 1e-6)
    S = Multiset.counted({0: n})
    by_delta = _at(0.2, points, WorstFor(S, points, 0.2, 20), S, 1e-6)
    cases.append(_asked("worst queries, one point, δ = 1e-06", by_delta, S))
    return (*cases, tight(), starved(), *distribution(), *overfitted())


def tight() -> UtilityCase:
    """Theorem 4.15 with α instead of the printed α²: T = 2α, a fifth of the records; its proof would use Theorem 3.28.
    """
    points = tuple(range(4))
    S = Multiset.counted({0: math.ceil(_printed(0.2, points, 20, 1e-6) * 0.2)})
    mechanism = _at(0.2, points, WorstFor(S, points, 0.2, 20), S, 1e-6)
    claim = UtilityClaim(AccurateAnswers(mechanism.analyst, 3 * 0.2, "sample"), 0.95, "§4.2.2, Theorem 4.15, its proof")
    return UtilityCase(
        "T = 2α, δ = 1e-06", mechanism, claim, (Fixed(S, label=f"{len(S):,} records"),), 1_000, exact=False,
        note=f"T = {mechanism.T:.4g}. Each release errs by more than 3α with probability (β/(8ck))^(3/√8): enough.",
    )


def starved() -> UtilityCase:
    """A hundredth of the printed n: T is above every error, and x^t never learns."""
    points = tuple(range(4))
    S = Multiset.counted({0: _printed(0.2, points, 20) // 100})
    mechanism = _at(0.2, points, WorstFor(S, points, 0.2, 20), S)
    claim = UtilityClaim(AccurateAnswers(mechanism.analyst, 3 * 0.2, "sample"), 0.95, "§4.2.2, Theorem 4.14")
    return UtilityCase(
        "a hundredth of the printed n", mechanism, claim, (Fixed(S, label=f"{len(S):,} records"),), 300, exact=False,
        expected=Verdict.FAIL, deliberate=True, note="The theorem does not cover so few records.",
    )


def distribution() -> tuple[UtilityCase, ...]:
    """Corollary 4.10 at the smallest ε with a non-trivial guarantee, against the overfitter and random subsets."""
    cases = []
    points = tuple(range(8))
    for label, analyst in (("the overfitter", Overfitter(8)), ("random subsets", RandomSubsets(points, 6))):
        draft = PrivateMultiplicativeWeights(0.04, 0.0, 0.1, points, 1, analyst)
        mechanism = replace(draft, records=draft.printed_records())
        population = analyst.population
        assert population is not None
        claim = mechanism.utility(mechanism.records)[1]
        cases.append(
            UtilityCase(
                f"Acc, {label}, n = {mechanism.records:,}", mechanism, claim, (Samples(population, mechanism.records),),
                400, exact=False, note=REAL,
            )
        )
    return tuple(cases)


def overfitted() -> tuple[UtilityCase, ...]:
    """2·10⁹ cells, six times the printed n: the guaranteed error is below the gap of exact answers."""
    cells = 2_000_000_000
    draft = PrivateMultiplicativeWeights(0.033, 0.0, 0.13, range(cells), 1, Overfitter(cells))
    mechanism = replace(draft, records=draft.printed_records())
    n = mechanism.records
    claim = UtilityClaim(WithinError(3 * 0.13 + 10 * 0.033), 1 - 2 * mechanism.beta, COROLLARIES)
    won = UtilityCase(
        f"Acc, the overfitter, k = {cells + 1:,}", WeightsGame(mechanism, n), claim,
        (Fixed((), label="a fresh sample of the analyst's distribution"),), 500, exact=False,
        note=f"n = {n:,}; a game with an update of x^0 counts as lost. Noisy answers would need fresh noise for each.",
    )
    exact = OverfittingGame(NaiveAnswers(Overfitter(cells)), n)
    lost = replace(
        won, label=f"Acc, exact answers, k = {cells + 1:,}", mechanism=exact, runs=100, expected=Verdict.FAIL,
        deliberate=True, note="Exact answers do not have this guarantee: the overfitter violates it.",
    )
    return won, lost


# --- data -------------------------------------------------------------------------------------------------------------


def _mechanism(
    epsilon: float, delta: float, c: int, analyst: Analyst, threshold: float = 0.1
) -> PrivateMultiplicativeWeights:
    return PrivateMultiplicativeWeights(epsilon, delta, SLOW, X, len(LEFT), analyst, c=c, threshold=threshold)


def _hunter(target: float, k: int) -> Hovering:
    """An analyst who asks about 0 four times, then about 1, and starts again after every update."""
    return Hovering(LEFT, X, SLOW, k, target, 4, 0, 1)


def _case(label: str, mechanism: Mechanism, moved: int = 1, runs: int = RUNS) -> Case:
    right = LEFT.changed(remove=(0,) * moved, add=(1,) * moved)
    pair = Pair(LEFT, right, f"{moved} of 20 records moved from 0 to 1")
    return Case(label, mechanism, (pair,), runs=runs, exact=False)


def _among(*points: int) -> Among:
    return Among(frozenset(points))


def _printed(alpha: float, points: tuple[int, ...], k: int, delta: float = 0.0) -> int:
    """The theorem's n at ε = 1 for k queries, rounded up to a multiple of |X|."""
    draft = PrivateMultiplicativeWeights(1.0, delta, alpha, points, 1, AskingAll((_among(0),) * k))
    return -(-draft.printed_records() // len(points)) * len(points)


def _at(
    alpha: float, points: tuple[int, ...], analyst: Analyst, S: Multiset, delta: float = 0.0
) -> PrivateMultiplicativeWeights:
    return PrivateMultiplicativeWeights(1.0, delta, alpha, points, len(S), analyst)


def _asked(label: str, mechanism: PrivateMultiplicativeWeights, S: Multiset) -> UtilityCase:
    claim = mechanism.utility(len(S))[0]
    return UtilityCase(label, mechanism, claim, (Fixed(S, label=f"{len(S):,} records"),), 300, exact=False, note=REAL)


def _padded(times: dict[int, int], n: int) -> Multiset:
    """`times`, with the rest of the n records at 0."""
    return Multiset.counted({**times, 0: times[0] + n - sum(times.values())})


PLAN = Plan("PrivateMultiplicativeWeights", cases, utility=utility_cases)
