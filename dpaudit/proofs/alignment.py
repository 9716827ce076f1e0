"""The cheapest shift of the draws that keeps a path and its output on the neighbour."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.proofs.forms import Draw
from dpaudit.proofs.neighbours import Differences, Vector
from dpaudit.proofs.results import Place, Unsupported

DENOMINATORS = (1, 2, 12, 60, 720, 10**4, 10**6)
"""Largest denominators that a shift is rounded to, in this order, until the rounded shift keeps every row."""
SOLVED = 1e-9
"""Relative excess of a rounded shift's cost over the solver's that counts as none."""


@dataclass(frozen=True, eq=False)
class Constraint:
    """A row of a path without its data: coefficients of the draws, and whether it may not change."""

    noise: dict[int, Fraction]
    equal: bool
    place: Place


@dataclass(frozen=True, eq=False)
class Aligned:
    """A path with its shifts.

    Args:
        draws: of the path.
        constraints: its rows.
        vectors: the extreme differences of the rows.
        shifts: for each of them, one shift for each draw.
        costs: of each of them.
    """

    draws: tuple[Draw, ...]
    constraints: tuple[Constraint, ...]
    vectors: tuple[Vector, ...]
    shifts: tuple[Vector, ...]
    costs: tuple[Fraction, ...]

    @property
    def cost(self) -> Fraction:
        """The largest cost."""
        return max(self.costs)


class NoShift(Exception):
    """No shift of the draws keeps the path: there is no bound.

    Args:
        constraint: a row that no shift keeps, or the last one.
        vector: the differences.
    """

    def __init__(self, constraint: Constraint | None, vector: Vector) -> None:
        super().__init__()
        self.constraint, self.vector = constraint, vector


def align(draws: tuple[Draw, ...], constraints: tuple[Constraint, ...], differences: Differences) -> Aligned:
    """The cheapest shifts of a path.

    Raises:
        NoShift: for some difference there is none.
        Unsupported: whole noise is needed for differences that are not whole, or the solver's answer is not confirmed.
    """
    whole = any(draws[index].is_whole for row in constraints for index in row.noise)
    if whole and not differences.is_finite:
        raise Unsupported("Whole noise is added to numbers that are not whole.", "Give a finite domain of records.")
    shifts, costs = [], []
    for vector in differences.vectors:
        cost, shift = cheapest(draws, constraints, vector)
        shifts.append(shift)
        costs.append(cost)
    return Aligned(draws, constraints, differences.vectors, tuple(shifts), tuple(costs))


def price(draw: Draw, shift: Fraction) -> Fraction | None:
    """What a shift of a draw costs; None where it has no bounded cost."""
    if not shift:
        return Fraction(0)
    if draw.moves == "none" or (draw.moves == "up" and shift < 0) or (draw.is_whole and shift.denominator != 1):
        return None
    return abs(shift) / draw.scale


def keeps(constraints: Sequence[Constraint], vector: Vector, shift: Sequence[Fraction]) -> bool:
    """Whether a shift keeps every row."""
    for row, difference in zip(constraints, vector, strict=True):
        total = difference + sum((coefficient * shift[index] for index, coefficient in row.noise.items()), Fraction(0))
        if total < 0 or (row.equal and total > 0):
            return False
    return True


def cheapest(
    draws: tuple[Draw, ...], constraints: tuple[Constraint, ...], vector: Vector
) -> tuple[Fraction, Vector]:
    """The cheapest shift for one difference, and its cost.

    Raises:
        NoShift: there is none.
        Unsupported: the solver's answer is not confirmed.
    """
    zero = (Fraction(0),) * len(draws)
    if keeps(constraints, vector, zero):
        return Fraction(0), zero
    for row, difference in zip(constraints, vector, strict=True):
        usable = any(
            draws[index].moves == "both" or (draws[index].moves == "up" and (coefficient > 0 or (
                row.equal and difference > 0)))
            for index, coefficient in row.noise.items()
        )
        if not usable and (difference < 0 or (row.equal and difference)):
            raise NoShift(row, vector)
    used = sorted({index for row in constraints for index in row.noise})
    at = {index: place for place, index in enumerate(used)}
    solution = _solved([draws[index] for index in used], constraints, vector, at)
    if solution is None:
        raise NoShift(next((row for row, each in zip(constraints, vector, strict=True) if each), None), vector)
    goal = sum(abs(value) / float(draws[index].scale) for index, value in zip(used, solution, strict=True))
    best: tuple[Fraction, Vector] | None = None
    movable = [index for index in used if draws[index].moves != "none" and not draws[index].is_whole]
    for denominator in DENOMINATORS:
        shift = list(zero)
        for index, value in zip(used, solution, strict=True):
            shift[index] = Fraction(value).limit_denominator(1 if draws[index].is_whole else denominator)
        shift = exact_in_equations(movable, constraints, vector, shift)
        prices = [price(draw, each) for draw, each in zip(draws, shift, strict=True)]
        if all(each is not None for each in prices) and keeps(constraints, vector, shift):
            cost = sum((each for each in prices if each is not None), Fraction(0))
            if best is None or cost < best[0]:
                best = cost, tuple(shift)
            if cost <= goal * (1 + SOLVED):
                break
    if best is None:
        raise Unsupported("The solver's shift of the noise could not be confirmed with exact numbers.")
    return best


def exact_in_equations(
    movable: Collection[int], constraints: Sequence[Constraint], vector: Vector, shift: Sequence[Fraction]
) -> list[Fraction]:
    """A shift near to the given one that keeps every row that may not change, if that can be had by elimination.

    Args:
        movable: the draws that may be shifted by any number.
        constraints, vector: the rows and their difference.
        shift: near to one that keeps them.
    """
    moved = list(shift)
    pivots: list[tuple[int, dict[int, Fraction], Fraction]] = []
    for row, difference in zip(constraints, vector, strict=True):
        if not row.equal:
            continue
        noise, right = dict(row.noise), -difference
        for pivot, other, bound in pivots:
            if factor := noise.get(pivot, Fraction(0)) / other[pivot]:
                for index, coefficient in other.items():
                    noise[index] = noise.get(index, Fraction(0)) - factor * coefficient
                right -= factor * bound
        free = next((index for index, coefficient in noise.items() if coefficient and index in movable), None)
        if free is not None:
            pivots.append((free, noise, right))
    for pivot, noise, right in reversed(pivots):
        rest = sum((c * moved[index] for index, c in noise.items() if index != pivot), Fraction(0))
        moved[pivot] = (right - rest) / noise[pivot]
    return moved


def _solved(
    draws: Sequence[Draw], constraints: Sequence[Constraint], vector: Vector, at: dict[int, int]
) -> list[float] | None:
    """Approximate shifts from a linear program, or a mixed-integer one for whole noise; None if infeasible."""
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp

    n = len(draws)
    matrix = np.zeros((len(constraints), 2 * n))
    for row, constraint in enumerate(constraints):
        for index, coefficient in constraint.noise.items():
            matrix[row, at[index]] = float(coefficient)
            matrix[row, n + at[index]] = -float(coefficient)
    bound = np.array([-float(each) for each in vector])
    equal = np.array([constraint.equal for constraint in constraints])
    # among shifts of one cost, the draws that come first move: noise that several rows share
    prices = np.array([(1 + 1e-7 * place) / float(draw.scale) for place, draw in enumerate(draws)] * 2)
    most = [None if draw.moves != "none" else 0.0 for draw in draws]
    most += [None if draw.moves == "both" else 0.0 for draw in draws]
    whole = np.array([draw.is_whole for draw in draws] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if whole.any():
            upper = np.where(equal, bound, np.inf)
            result: Any = milp(
                prices, constraints=LinearConstraint(matrix, bound, upper), integrality=whole.astype(int),
                bounds=Bounds(0, [np.inf if each is None else each for each in most]),
            )
        else:
            keep = ~equal
            result = linprog(
                prices, A_ub=-matrix[keep] if keep.any() else None, b_ub=-bound[keep] if keep.any() else None,
                A_eq=matrix[equal] if equal.any() else None, b_eq=bound[equal] if equal.any() else None,
                bounds=[(0.0, each) for each in most], method="highs",
            )
    if result.x is None:
        if result.status == 2:
            return None
        raise Unsupported("The solver found no shift of the noise, and did not say that there is none.")
    return [float(result.x[i] - result.x[n + i]) for i in range(n)]
