"""A figure of the accuracy game: the largest error against the number of queries, for exact and noisy answers."""

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
"""Games per number of queries."""
POINTS = 15


def error_against_k(private: NoisyAnswers, rng: Generator) -> Drawing:
    """The mean and the largest error of games with the same n, and the guaranteed error.

    Args:
        private: the mechanism at its own k; at other k it is calibrated again, for the same (ε, δ) and n.
        rng: random generator for the games.
    """
    n, logs = private.records, np.linspace(2, np.log10(private.k), POINTS)
    exact: list[tuple[float, float]] = []
    noisy: list[tuple[float, float]] = []
    guaranteed: list[tuple[float, float]] = []
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
        guaranteed.append((at, mechanism.sample_accuracy(0.05) + 10 * private.epsilon))
    layers = [
        line(exact, style="left", label="exact answers, mean"),
        line(noisy, style="right", label="noisy answers, mean"),
        line(guaranteed, style="claim", label="guarantee for noisy answers"),
        dots(worst, "data", f"the largest of {GAMES} games", mark="cross"),
    ]
    setting = (
        f"Largest error of k answers to the analyst who overfits, n = {n:,}, ε = {private.epsilon:g}, "
        f"δ = {private.delta:g}, {GAMES} games at every k."
    )
    result = (
        f"At k = {private.k:,} exact answers are off by {exact[-1][1]:.3g} on average, noisy ones by "
        f"{noisy[-1][1]:.3g}; the guarantee for noisy answers is at most {guaranteed[-1][1]:.3g}."
    )
    return Drawing(f"{setting} {result}", f"{setting} {result}", [Panel("", "log₁₀ k", "largest error", layers)])


def _errors(game: OverfittingGame, rng: Generator) -> FloatArray:
    """The errors of the games, one number each, in no order."""
    return np.asarray(game.bulk((), GAMES, rng), dtype=np.float64)
