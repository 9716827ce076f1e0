"""The accuracy game drawn: the largest error against the number of queries, for exact and for noisy answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from dpaudit.language import FloatArray
from dpaudit.results.figures import Drawing, Panel, dots, line
from dpaudit_algorithms.generalization.accuracy_games import OverfittingGame
from dpaudit_algorithms.generalization.analysts import Overfitter
from dpaudit_algorithms.generalization.statistical_queries import NaiveAnswers, NoisyAnswers

GAMES = 25
"""At every number of queries."""
POINTS = 15


def error_against_k(private: NoisyAnswers, rng: Generator) -> Drawing:
    """Games with the same n: the mean and the largest of the errors, and what is promised.

    Args:
        private: the mechanism at the k of its board; at other k it is calibrated anew, for the same (ε, δ) and n.
        rng: what the games are drawn with.
    """
    n, logs = private.records, np.linspace(2, np.log10(private.k), POINTS)
    exact: list[tuple[float, float]] = []
    noisy: list[tuple[float, float]] = []
    promised: list[tuple[float, float]] = []
    worst: list[tuple[float, float]] = []
    for at in logs.tolist():
        cells = round(10**at)
        analyst = Overfitter(cells)
        mechanism = replace(private, analyst=analyst, k=cells + 1)
        naive = _errors(OverfittingGame(NaiveAnswers(analyst), n), rng)
        kept = _errors(OverfittingGame(mechanism, n), rng)
        exact.append((at, float(naive.mean())))
        noisy.append((at, float(kept.mean())))
        worst += [(at, float(naive.max())), (at, float(kept.max()))]
        promised.append((at, mechanism.sample_accuracy(0.05) + 10 * private.epsilon))
    layers = [
        line(exact, style="left", label="exact answers, mean"),
        line(noisy, style="right", label="noisy answers, mean"),
        line(promised, style="claim", label="promised of the noisy ones"),
        dots(worst, "data", f"the largest of {GAMES} games", mark="cross"),
    ]
    what = (
        f"Largest error of k answers to the analyst who overfits, n = {n:,}, ε = {private.epsilon:g}, "
        f"δ = {private.delta:g}, {GAMES} games at every k."
    )
    seen = (
        f"At k = {private.k:,} exact answers are off by {exact[-1][1]:.3g} on average, noisy ones by "
        f"{noisy[-1][1]:.3g}, and at most {promised[-1][1]:.3g} is promised of those."
    )
    return Drawing(f"{what} {seen}", f"{what} {seen}", [Panel("", "log₁₀ k", "largest error", layers)])


def _errors(game: OverfittingGame, rng: Generator) -> FloatArray:
    """Of the games, one number each, in no order."""
    return np.asarray(game.bulk((), GAMES, rng), dtype=np.float64)
