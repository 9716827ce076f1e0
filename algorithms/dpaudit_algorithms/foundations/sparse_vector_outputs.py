"""The outputs of sparse vector techniques, one entry per answer, and samplers that build them in bulk."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.language import BoolArray, FloatArray

ABOVE, BELOW, ABORTED = "above", "below", "aborted"
SYMBOLS = (BELOW, ABOVE, ABORTED)
"""By the codes 0, 1, 2 that the samplers count with."""
Codes = NDArray[np.int8]
Outputs = list[tuple[Hashable, ...]]


def padded(outputs: Sequence[Hashable], length: int) -> tuple[Hashable, ...]:
    """Outputs up to the stop, then aborted up to the number of answers."""
    return (*outputs, *[ABORTED] * (length - len(outputs)))


def noisy_answers(answers: Any, scale: float, size: int, rng: Generator) -> FloatArray:
    """Answers with fresh Laplace noise, shape (size, answers)."""
    true = np.asarray(answers, dtype=np.float64)
    return true + rng.laplace(0, scale, (size, len(true)))


def until_stop(above: BoolArray, c: int) -> Codes:
    """Codes of what is seen, shape (runs, answers): everything after the c-th answer above is aborted."""
    hits = above.astype(np.int8)
    before = np.cumsum(hits, axis=1) - hits
    return np.where(before >= c, np.int8(2), hits)


def as_symbols(codes: Codes) -> Outputs:
    """Rows of codes as tuples of symbols; equal rows are one tuple."""
    key = np.zeros(len(codes), dtype=np.int64)
    for place in range(codes.shape[1]):
        if place % 20 == 19:
            # numbers in base 3 would grow out of 64 bits; ranks stay small
            key = np.unique(key, return_inverse=True)[1]
        key = 3 * key + codes[:, place]
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    rows: Outputs = [tuple(SYMBOLS[code] for code in row) for row in codes[first].tolist()]
    return [rows[i] for i in which.tolist()]


def with_numbers(codes: Codes, numbers: FloatArray) -> Outputs:
    """Rows of codes as tuples that hold numbers where an answer is above, and symbols elsewhere."""
    cells = np.array(SYMBOLS, dtype=object)[codes]
    above = codes == 1
    cells[above] = numbers[above]
    return list(map(tuple, cells.tolist()))
