"""Audit plans for noisy histograms, and the exact distributions of the privacy loss of Laplace noise."""

from __future__ import annotations

import numpy as np

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import FloatArray
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.noisy_histogram import NoisyHist1, NoisyHist2
from dpaudit_audits.corpus.oracle import Oracle

Floats = FloatArray
PAIR = Pair((1, 1, 1, 1, 1), (2, 1, 1, 1, 1), "one count moves by 1 (published pattern)")
CELLS = 2_000
"""Number of cells between the two answers; a privacy loss is known up to the width of a cell."""


def cases() -> tuple[Case, ...]:
    """One count moves."""
    return (Case("one count moves", NoisyHist1(), (PAIR,)),)


def broken_cases() -> tuple[Case, ...]:
    """One count moves; the best event has probability 2e-5 on the dataset where it is rarer."""
    return (
        Case("one count moves", NoisyHist2(), (PAIR,), runs=1_000_000, expected=Verdict.FAIL),
    )


def oracle() -> Oracle:
    """The oracle of the count that moves; the others have the same distribution on both datasets."""
    return laplace_oracle(1.0, 1 / NoisyHist1().epsilon)


def broken_oracle() -> Oracle:
    """The oracle of the count that moves, with noise of scale ε."""
    return laplace_oracle(1.0, NoisyHist2().epsilon)


def laplace_oracle(gap: float, scale: float, coordinates: int = 1) -> Oracle:
    """The oracle of independent answers with noise Lap(scale) that are all larger by `gap` on D′ than on D."""
    return Oracle.of_atoms(*laplace_cell_sums(gap, scale, coordinates))


def laplace_cell_sums(gap: float, scale: float, coordinates: int) -> tuple[Floats, Floats]:
    """The exact distributions of the sum, over the coordinates, of the index of each noisy answer's cell.

    Let a be the answer on D and a′ the answer on D′. Cell 0 lies below a, cells 1 … CELLS divide the gap evenly, and
    the last cell lies above a′. A coordinate's loss, (|x − a′| − |x − a|)/scale, decreases linearly with its cell, so
    small sums are the best events up to the width of `coordinates` cells.

    Returns: probabilities of the sums 0, …, coordinates·(CELLS + 1), under D and under D′.
    """
    edges = np.linspace(0.0, gap / scale, CELLS + 1)
    inside = -np.expm1(-edges[1]) / 2  # mass of the cell that begins at the answer
    end = np.exp(-edges[-1]) / 2
    left = np.concatenate([[0.5], inside * np.exp(-edges[:-1]), [end]])
    right = left[::-1]
    p, q = left, right
    for _ in range(coordinates - 1):
        p, q = np.convolve(p, left), np.convolve(q, right)
    return p, q


PLAN = Plan("NoisyHist1", cases)
BROKEN_PLAN = Plan("NoisyHist2", broken_cases)
