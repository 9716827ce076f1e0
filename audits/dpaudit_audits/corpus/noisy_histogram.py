"""What to try against noisy histograms, and the exact laws of privacy losses of Laplace noise."""

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
"""Between the two answers the line is cut into as many cells; a privacy loss is known up to a cell's width."""


def cases() -> tuple[Case, ...]:
    """One count moves."""
    return (Case("one count moves", NoisyHist1(), (PAIR,)),)


def broken_cases() -> tuple[Case, ...]:
    """One count moves; the rare side of the best event has probability 2e-5."""
    return (
        Case("one count moves", NoisyHist2(), (PAIR,), runs=1_000_000, expected=Verdict.FAIL),
    )


def oracle() -> Oracle:
    """Of the one count that moves: the others have the same noise on both sides."""
    return laplace_oracle(1.0, 1 / NoisyHist1().epsilon)


def broken_oracle() -> Oracle:
    """Of the one count that moves, with noise of scale ε."""
    return laplace_oracle(1.0, NoisyHist2().epsilon)


def laplace_oracle(gap: float, scale: float, coordinates: int = 1) -> Oracle:
    """Of independent answers with noise Lap(scale) that all move up by `gap` from the left to the right dataset."""
    return Oracle.of_atoms(*laplace_cell_sums(gap, scale, coordinates))


def laplace_cell_sums(gap: float, scale: float, coordinates: int) -> tuple[Floats, Floats]:
    """The exact laws of the sum over the coordinates of the cell that each noisy answer falls into.

    Cell 0 is everything below the left answer, cells 1 … CELLS fill the gap evenly, the last lies above the right
    answer. A coordinate's loss ln(density on left : right) = (|x − right| − |x − left|)/scale falls linearly with its
    cell, so that small sums are the best events up to `coordinates` cells' width.

    Returns: probabilities of the sums 0, …, coordinates·(CELLS + 1), on the left and on the right.
    """
    edges = np.linspace(0.0, gap / scale, CELLS + 1)
    inside = -np.expm1(-edges[1]) / 2  # of the cell that begins at the answer
    end = np.exp(-edges[-1]) / 2
    left = np.concatenate([[0.5], inside * np.exp(-edges[:-1]), [end]])
    right = left[::-1]
    p, q = left, right
    for _ in range(coordinates - 1):
        p, q = np.convolve(p, left), np.convolve(q, right)
    return p, q


PLAN = Plan("NoisyHist1", cases)
BROKEN_PLAN = Plan("NoisyHist2", broken_cases)
