"""Audit plans for answers to adaptively chosen statistical queries (thesis §4.5): the two games, and privacy."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import get_args

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed, Multiset, UtilityClaim
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.goals import all_but
from dpaudit_algorithms.generalization.accuracy_games import AccuracyGame, OverfittingGame, WithinError
from dpaudit_algorithms.generalization.analysts import AskingAll, LossHunter, Overfitter, RandomSubsets
from dpaudit_algorithms.generalization.interaction import AccurateAnswers, Population, Samples
from dpaudit_algorithms.generalization.predicates import Among
from dpaudit_algorithms.generalization.statistical_queries import (
    Calibration,
    GaussianAnswers,
    LaplaceAnswers,
    NaiveAnswers,
    NoisyAnswers,
)
from dpaudit_audits.generalization.query_figures import error_against_k

NOMINAL = Claim(1.0, 1e-6)
RECORDS = 20
FRESH = (Fixed((), label="a fresh sample of the analyst's distribution"),)
GAME = "§4.5.2, Corollary 4.10"
UNPRIVATE = "Not a guarantee of this non-private mechanism: the overfitter violates what the private ones satisfy."
REAL = "The answers are real numbers, so the output distribution is not computed."
Noisy = type[LaplaceAnswers] | type[GaussianAnswers]


# --- exact answers ----------------------------------------------------------------------------------------------------


def naive_cases() -> tuple[Case, ...]:
    """Any analyst who asks about the differing record distinguishes the datasets."""
    hunter, overfitter = NaiveAnswers(_hunter(4)), NaiveAnswers(Overfitter(4))
    cells = NaiveAnswers(AskingAll(tuple(_cell(i) for i in range(3))))
    fails = Verdict.FAIL
    return (
        Case("default", hunter, (_pair(1),), NOMINAL, runs=20_000, expected=fails),
        Case("the overfitter", overfitter, (_pair(1),), NOMINAL, runs=5_000, expected=fails),
        Case("subsets drawn in advance", NaiveAnswers(RandomSubsets((0, 1, 2), 2)), (_pair(1),), NOMINAL, runs=20_000,
             expected=fails),
        Case("every pair of 3 records", cells, (), NOMINAL, runs=0, scope=Scope((0, 1, 2), 3), expected=fails),
        *(
            Case(f"group of {k}", hunter, (_pair(k),), NOMINAL.group(k), runs=20_000, expected=fails) for k in (2, 3)
        ),
    )


def naive_utility() -> tuple[UtilityCase, ...]:
    """Accurate on the sample and for queries fixed in advance, but not for the overfitter."""
    few = NaiveAnswers(Overfitter(8))
    subsets = NaiveAnswers(RandomSubsets(tuple(range(10)), 8))
    n = math.ceil(math.log(2 * 8 / 0.05) / (2 * 0.15**2))
    hoeffding = UtilityClaim(AccurateAnswers(subsets.analyst, 0.15), all_but(0.05), "§3.2.3, Hoeffding's bound")
    assert few.analyst.population is not None
    assert subsets.analyst.population is not None
    return (
        UtilityCase(
            "SampAcc, the overfitter", few, few.utility(4)[0], (Samples(few.analyst.population, 4),), runs=1_000
        ),
        UtilityCase(
            "Acc, 8 subsets drawn in advance", subsets, hoeffding, (Samples(subsets.analyst.population, n),),
            runs=1_000, exact=False,
            note="Without adaptivity, exact answers are accurate from ln(2k/β)/(2α²) records on.",
        ),
        _overfitted("Acc, 8 cells, 4 records", AccuracyGame(few, 4), 0.5),
        _overfitted("Acc, 1,000 cells, 10,000 records", OverfittingGame(NaiveAnswers(Overfitter(1_000)), 10_000)),
        _overfitted("Acc, 10,000 cells, 1,000 records", OverfittingGame(NaiveAnswers(Overfitter(10_000)), 1_000)),
        *(_lost(game) for game in boards()),
    )


def _overfitted(label: str, game: AccuracyGame, failure: float = 0.05) -> UtilityCase:
    """The gap is at least its mean minus t with probability 1 − e^{−2nt²}: a record changes it by at most 1/n."""
    analyst = game.answers.analyst
    assert isinstance(analyst, Overfitter)
    t = math.sqrt(math.log(1 / failure) / (2 * game.records))
    goal = WithinError(float(analyst.gap(game.records)) - t)
    claim = UtilityClaim(goal, failure, "§4.5.1, Figure 4.1; McDiarmid's bound", at_most=True)
    note = f"Derived by hand; the expected error of the last answer is {float(analyst.gap(game.records)):.4g}."
    return UtilityCase(label, game, claim, FRESH, 2_000, exact=not isinstance(game, OverfittingGame), note=note)


def _lost(private: OverfittingGame) -> UtilityCase:
    """The game that a private mechanism wins, played with exact answers."""
    game = OverfittingGame(NaiveAnswers(private.answers.analyst), private.records)
    won = _won(private)
    label = f"Acc, exact answers in the game of {_named(private.answers)}"
    return replace(
        won, label=label, mechanism=game, runs=100, expected=Verdict.FAIL, deliberate=True, note=UNPRIVATE,
        drawing=None,
    )


# --- noisy answers ----------------------------------------------------------------------------------------------------


def cases(kind: Noisy) -> tuple[Case, ...]:
    """Repeated queries for the differing record, which no adaptive analyst beats, and adaptive analysts."""
    cases: list[Case] = []
    for calibration in get_args(Calibration):
        default = kind(1.0, 1e-6, 10, RECORDS, _again(10), calibration)
        large = kind(3.0, 1e-3, 3, RECORDS, _again(3), calibration)
        one = replace(default, analyst=_again(1))
        calm = kind(0.3, 1e-3, 5, RECORDS, _again(5), calibration)
        adaptive = kind(1.0, 1e-3, 6, RECORDS, _hunter(6), calibration)
        cases += [
            Case(f"{calibration}, 10 queries for one record", default, (_pair(1),), runs=0),
            Case(f"{calibration}, ε = 3", large, (_pair(1),), runs=0),
            Case(f"{calibration}, one of 10 answers", one, (_pair(1),), _once(default), runs=0),
            Case(f"{calibration}, the hunter", adaptive, (_pair(1),), runs=4_000, exact=False),
            Case(f"{calibration}, group of 2", calm, (_pair(2),), calm.claim.group(2), runs=0),
            Case(f"{calibration}, group of 3", calm, (_pair(3),), calm.claim.group(3), runs=0),
            Case(
                f"{calibration}, claim of one answer, 10 asked", default, (_pair(1),), _once(default), runs=0,
                expected=Verdict.FAIL, deliberate=True, note="The claim for one answer does not hold for ten.",
            ),
        ]
    zcdp = kind(1.0, 1e-6, 10, RECORDS, _again(10), "zcdp")
    fooled = kind(1.0, 1e-3, 4, RECORDS, Overfitter(3), "zcdp")
    hunted = kind(8.0, 1e-2, 8, RECORDS, _hunter(8), "zcdp")
    return (
        *cases,
        Case("ρ-zCDP", zcdp, (_pair(1),), Claim.zcdp(zcdp.rho, epsilon=1.0), runs=0),
        Case("the overfitter", fooled, (_pair(1),), runs=4_000, exact=False),
        Case(
            "claim of one answer, the hunter", hunted, (_pair(1),), _once(hunted), runs=4_000, exact=False,
            expected=Verdict.FAIL, deliberate=True, note="The claim for one answer does not hold for eight.",
        ),
    )


def _once(mechanism: NoisyAnswers) -> Claim:
    """The claim of one answer, at a single (ε, δ): a zCDP claim would be tested at every ε."""
    return Claim(mechanism.each.epsilon, mechanism.each.delta)


def utility(kind: Noisy) -> tuple[UtilityCase, ...]:
    """SampAcc from the tails; Acc at the printed n, and where α + 10ε is below the gap of exact answers."""
    cases: list[UtilityCase] = []
    S = Multiset.counted({0: 9, 1: 6, 2: 5})
    for calibration in get_args(Calibration):
        fixed = kind(1.0, 1e-6, 10, RECORDS, _again(10), calibration)
        cases.append(
            UtilityCase(f"SampAcc, {calibration}, 10 answers", fixed, fixed.utility(RECORDS)[0], (Fixed(S),), 5_000,
                        exact=False, note=f"{REAL} Derived by hand: success has probability (1 − 0.05/k)^k.")
        )
        for epsilon, cells in ((0.09, 10), (0.05, 4)):
            draft = kind(epsilon, epsilon / 20, cells + 1, 1, Overfitter(cells), calibration)
            printed = replace(draft, records=draft.sample_sizes[0].records)
            enough = replace(draft, records=max(printed.records, draft.records_for(0.05, 0.05)))
            cases += [
                _acc(f"Acc, {calibration}, ε = {epsilon:g}, the printed n = {printed.records:,}", printed),
                _acc(f"Acc, {calibration}, ε = {epsilon:g}, n = {enough.records:,} for α = 0.05", enough),
            ]
    return (*cases, *(_won(game) for game in boards() if isinstance(game.answers, kind)))


def _acc(label: str, mechanism: NoisyAnswers) -> UtilityCase:
    """Corollary 4.10 against the overfitter, with the mechanism's own program."""
    population = mechanism.analyst.population
    assert population is not None
    claim = mechanism.utility(mechanism.records)[1]
    return UtilityCase(
        label, mechanism, claim, (Samples(population, mechanism.records),), 400, exact=False, note=REAL
    )


def boards() -> tuple[OverfittingGame, ...]:
    """Games so large that a private mechanism's guarantee, α + 10ε = 0.8, is below the gap of exact answers.

    ε = 0.04, α = 0.4, β = 0.05, δ = ε/20; n is a fifth of the number of cells, so the gap is e^{−1/5} = 0.82.
    """
    return tuple(
        OverfittingGame(mechanism, mechanism.records)
        for kind in (LaplaceAnswers, GaussianAnswers)
        for calibration in get_args(Calibration)
        for mechanism in (_board(kind, calibration),)
    )


def _board(kind: Noisy, calibration: Calibration) -> NoisyAnswers:
    cells = 1_000_000
    while True:
        draft = kind(0.04, 0.002, cells + 1, 1, Overfitter(cells), calibration)
        n = draft.records_for(0.4, 0.05)
        if 5 * n <= cells:
            return replace(draft, records=n)
        cells = 5 * n


def _won(game: OverfittingGame) -> UtilityCase:
    """Corollary 4.10 at its printed n and more, with α = 0.4 from the tails."""
    private = game.answers
    assert isinstance(private, NoisyAnswers)
    assert game.records >= private.sample_sizes[0].records
    goal = WithinError(private.sample_accuracy(0.05) + 10 * private.epsilon)
    note = f"n = {game.records:,}, k = {private.k:,}; samples the largest error directly, from its exact distribution."
    claim = UtilityClaim(goal, private.confidence(0.05), GAME)
    return UtilityCase(
        f"Acc, {_named(private)}, k = {private.k:,}", game, claim, FRESH, 2_000, exact=False, note=note,
        drawing=partial(error_against_k, private) if private.calibration == "zcdp" else None,
    )


def _named(private: object) -> str:
    assert isinstance(private, NoisyAnswers)
    return f"{private.name}, {private.calibration}"


# --- data -------------------------------------------------------------------------------------------------------------


def _cell(x: int) -> Among:
    return Among(frozenset((x,)))


def _again(k: int) -> AskingAll:
    """k queries for the record that changes."""
    return AskingAll((_cell(1),) * k, Population.uniform(range(3)))


def _hunter(k: int) -> LossHunter:
    """The loss hunter for `_pair(1)`."""
    return LossHunter(0, 1, 9 / RECORDS, 6 / RECORDS, RECORDS, k)


def _pair(moved: int) -> Pair:
    """Twenty records; some 0 become 1."""
    left, right = Multiset.counted({0: 9, 1: 6, 2: 5}), Multiset.counted({0: 9 - moved, 1: 6 + moved, 2: 5})
    return Pair(left, right, f"{moved} of 20 records moved from 0 to 1")


NAIVE_PLAN = Plan("NaiveAnswers", naive_cases, utility=naive_utility)
LAPLACE_PLAN = Plan("LaplaceAnswers", lambda: cases(LaplaceAnswers), utility=lambda: utility(LaplaceAnswers))
GAUSSIAN_PLAN = Plan("GaussianAnswers", lambda: cases(GaussianAnswers), utility=lambda: utility(GaussianAnswers))
