"""The bits of a double: textbook noise in floating point leaks through the low-order bits.

The sum of a number and noise lies on the grid of the larger of the two, so the set of possible doubles depends on the
number (I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.outputs.columns import Encoder, Floats, Values, flat
from dpaudit.stats.arrays import IntArray

LOW_BITS = 12
"""Number of low-order mantissa bits with their own columns."""
_ZERO = -2000.0
"""The exponent and the lowest set bit assigned to 0, below those of any other double."""
_PER_NUMBER = 4 + LOW_BITS


@dataclass(frozen=True)
class Bits(Encoder):
    """The bits of the first `places` floats of an output.

    Columns per float: the exponent of its lowest set bit, both exponents as one code, its own exponent, the number of
    trailing zeros of its mantissa, and the lowest mantissa bits. The columns of a missing float are −1e4.
    """

    places: int

    @property
    def names(self) -> tuple[str, ...]:
        names: list[str] = []
        for i in range(self.places):
            of = "of the output" if self.places == 1 else f"of output[{i}]"
            names += [f"lowest set bit {of}", f"exponent and lowest set bit {of}", f"exponent {of}",
                      f"trailing zeros of the mantissa {of}"]
            names += [f"mantissa bit {k} {of}" for k in range(LOW_BITS)]
        return tuple(names)

    @property
    def tables(self) -> tuple[int, ...]:
        """Columns with few enough values to count each one."""
        return tuple(_PER_NUMBER * i + k for i in range(self.places) for k in (0, 1))

    @property
    def ordered(self) -> tuple[int, ...]:
        """Columns for which thresholds are useful: the lowest set bits."""
        return tuple(_PER_NUMBER * i for i in range(self.places))

    def encode(self, values: Values) -> Floats:
        columns = _columns(_floats(values, self.places))
        return columns.reshape(len(values), self.places * _PER_NUMBER)


def lowest_set_bit(numbers: Floats) -> IntArray:
    """The k of the largest 2^k that divides a double; −2000 for 0. Shape as given."""
    mantissa, exponent = np.frexp(numbers)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1].astype(np.int64) - 1
    return np.where(whole == 0, int(_ZERO), exponent.astype(np.int64) - 53 + zeros)


def _columns(numbers: Floats) -> Floats:
    """The columns of every float, shape (*numbers.shape, columns)."""
    known = ~np.isnan(numbers)
    filled = np.where(known, numbers, 0.0)
    mantissa, exponent = np.frexp(filled)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    columns = np.empty((*numbers.shape, _PER_NUMBER))
    columns[..., 0] = lowest = lowest_set_bit(filled)
    columns[..., 2] = own = np.where(whole == 0, int(_ZERO), exponent)
    # both exponents lie within ±2100
    columns[..., 1] = own * 10_000 + lowest
    columns[..., 3] = lowest - own + 53
    for k in range(LOW_BITS):
        columns[..., 4 + k] = (whole >> k) & 1
    columns[~known] = -1e4
    return columns


def _floats(values: Values, places: int) -> Floats:
    """The floats of every output, in order, padded with NaN."""
    if isinstance(values, np.ndarray):
        rows = values.reshape(len(values), -1)
        floats = np.full((len(rows), places), np.nan)
        width = min(places, rows.shape[1])
        floats[:, :width] = rows[:, :width]
        return floats
    floats = np.full((len(values), places), np.nan)
    for r, value in enumerate(values):
        numbers = [part for part in flat(value) if isinstance(part, float) and math.isfinite(part)][:places]
        floats[r, : len(numbers)] = numbers
    return floats


def most_floats(values: Sequence[Hashable]) -> int:
    """The largest number of floats in one of the outputs."""
    numbers = (sum(isinstance(part, float) and math.isfinite(part) for part in flat(value)) for value in values)
    return max(numbers, default=0)
