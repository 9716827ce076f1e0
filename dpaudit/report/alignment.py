"""How the noise moves in a proof: a row for each line of the program that draws, as text and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.proofs.results import NoiseLine, Place
from dpaudit.report.numbers import nearest
from dpaudit.report.terminal_text import columns
from dpaudit.results.model import Alignment

_LONGEST = 10**6
"""Largest denominator of a fraction that is shown as one."""
_MOST_SHIFTS = 7
"""Shifts of one line that are listed."""
_MARGIN = 6.0
"""Percent of the picture of shifts beside the outermost ones."""
PROVED = "proved by itself"
"""Of a mechanism that a program applies to its whole dataset."""


@dataclass(frozen=True)
class Row:
    """A row of the picture of the alignment; positions in percent of its width."""

    noise: NoiseLine
    shifts: str
    cost: str
    zero: float
    at: list[float]
    share: float
    """Of ε, or of μ², in percent."""


def noise_lines(alignment: Alignment) -> list[NoiseLine]:
    """The lines of noise that the result of an audit holds."""
    found = []
    for line in alignment.noise:
        file, _, number = line.line.rpartition(":")
        place = Place(file, int(number), line.source)
        found.append(NoiseLine(place, line.noise, tuple(map(Fraction, line.shifts)), Fraction(line.cost)))
    return found


def lines(alignment: Sequence[NoiseLine]) -> list[str]:
    """Aligned lines of text."""
    return columns([
        (noise.noise, str(noise.place), f"shift {shifts(noise)}" if noise.shifts else PROVED, f"costs {cost(noise)}")
        for noise in alignment
    ]) if alignment else []


def rows(alignment: Sequence[NoiseLine], epsilon: Fraction, mu_squared: Fraction) -> list[Row]:
    """A row for each line of noise, all shifts on one axis.

    Args:
        alignment: the lines.
        epsilon, mu_squared: what is proved.
    """
    every = [float(shift) for noise in alignment for shift in noise.shifts]
    low, high = min([0.0, *every]), max([0.0, *every])

    def at(shift: Fraction | float) -> float:
        inside = 100 - 2 * _MARGIN
        return round(_MARGIN + inside * (float(shift) - low) / (high - low) if high > low else 50.0, 1)

    found = []
    for noise in alignment:
        whole = mu_squared if noise.is_gaussian else epsilon
        share = min(round(100 * float(noise.cost / whole), 1), 100.0) if whole else 0.0
        found.append(Row(noise, shifts(noise), cost(noise), at(0.0), [at(shift) for shift in noise.shifts], share))
    return found


def cost(noise: NoiseLine) -> str:
    """What a line costs: "1/2 (0.5)"; of Gaussian noise "1/4 (0.25) of μ²"."""
    return f"{number(noise.cost)} of μ²" if noise.is_gaussian else number(noise.cost)


def shifts(noise: NoiseLine) -> str:
    """The shifts of a line's draws: "0, +2"; of many, the first and the last ones; `PROVED` where there are none."""
    shown = [signed(shift) for shift in noise.shifts]
    if len(shown) > _MOST_SHIFTS:
        shown = [*shown[:3], "…", *shown[-3:]]
    return ", ".join(shown) or PROVED


def signed(shift: Fraction) -> str:
    """A shift with its sign: "0", "+2", "−1/3"."""
    sign = "+" if shift > 0 else "−" if shift < 0 else ""
    return sign + fraction(abs(shift))


def number(value: Fraction) -> str:
    """A fraction with its decimal: "1", "1/10 (0.1)"; the decimal alone where the fraction is long."""
    shown = fraction(value)
    return f"{shown} ({nearest(float(value), digits=6)})" if "/" in shown else shown


def fraction(value: Fraction) -> str:
    """A fraction: "1", "1/10"; a decimal where it is long."""
    return str(value) if value.denominator <= _LONGEST else nearest(float(value), digits=6)
