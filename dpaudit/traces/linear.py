"""Outputs as functions of the noise: location plus a factor times each draw, found from a few runs.

Every run moves all draws at once. A part of the output that depends on at most a few draws, and linearly, is determined
by fewer runs than there are draws, and the runs that are left over show whether it is linear at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dpaudit.stats.arrays import BoolArray, FloatArray

CLOSE = 1e-9
"""Error of an output beyond rounding, relative to the largest of its values."""
SINGLE = 1e-6
"""The same of an output in single precision, such as torch's."""
ROUNDED = 0.03
"""Distance from a line up to which an output counts as rounded noise, relative to its range under pushed draws."""
CLEARLY = 5.0
"""How many times as far from its line the next best draw must be, before one counts as the draw that is rounded."""
PAIRS_AMONG = 12
"""Most draws among which pairs are tried."""
SPARE = 2
"""Runs beyond the unknowns that a fit needs, to be checked by."""


@dataclass(frozen=True, eq=False)
class Linear:
    """A number in the output: location + factors · standard draws.

    Args:
        location: without noise.
        factors: of each draw: the scale with which it reaches the output, with its sign.
        deviation: largest distance from this of the runs, by rounding or by single precision; or 0.
        everywhere: whether it also holds for draws that are pushed far out.
    """

    location: float
    factors: FloatArray
    deviation: float
    everywhere: bool

    @property
    def reached(self) -> bool:
        """Whether a draw reaches it."""
        return bool((self.factors != 0).any())


@np.errstate(over="ignore")  # differences of outputs near the largest double are infinite
def fitted(z: FloatArray, y: FloatArray) -> Linear | None:
    """The output as a function of the draws; None where it is not linear, or the runs cannot show it.

    Args:
        z: standard draws, one row for each run.
        y: the output of each run.
    """
    if not z.shape[1]:
        return None
    single = (y.astype(np.float32) == y).all() and (y != np.round(y)).any()
    tolerance = (SINGLE if single else CLOSE) * max(float(np.abs(y).max()), 1e-300)
    deviation = tolerance if single else 0.0
    if (exact := _exactly(z, y, tolerance)) is not None:
        return Linear(exact[0], exact[1], deviation, everywhere=True)
    if (rounded := _rounded(z, y)) is not None:
        return rounded
    # where a bound clips what is far out
    inside: BoolArray = (y > y.min()) & (y < y.max())
    if inside.sum() > SPARE + 1 and (exact := _exactly(z[inside], y[inside], tolerance)) is not None:
        return Linear(exact[0], exact[1], deviation, everywhere=False) if (exact[1] != 0).any() else None
    return None


def _exactly(z: FloatArray, y: FloatArray, tolerance: float) -> tuple[float, FloatArray] | None:
    runs, n = z.shape
    if np.ptp(y) <= tolerance:
        return float(y[0]), np.zeros(n)
    most = runs - 1 - SPARE
    if n <= most:
        return _solved(z, y, tuple(range(n)), tolerance)
    _, residuals = _one_by_one(z, y)
    if (found := _solved(z, y, (int(residuals.argmin()),), tolerance)) is not None:
        return found
    centred, rest = z - z.mean(axis=0), y - y.mean()
    lengths = np.sqrt((centred**2).sum(axis=0))
    lengths[lengths == 0] = np.inf
    chosen: list[int] = []
    for _ in range(most):
        # matching pursuit
        chosen.append(int(np.abs(centred.T @ rest / lengths).argmax()))
        support = tuple(sorted(set(chosen)))
        if (found := _solved(z, y, support, tolerance)) is not None:
            return found
        part, whole = centred[:, list(support)], y - y.mean()
        rest = whole - part @ np.linalg.lstsq(part, whole, rcond=None)[0]
    if n <= PAIRS_AMONG and most >= 2:
        for two in combinations(range(n), 2):
            if (found := _solved(z, y, two, tolerance)) is not None:
                return found
    return None


def _one_by_one(z: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of a line in each draw alone, by least squares: its slope, and the largest distance of a run from it."""
    centred, moved = z - z.mean(axis=0), y - y.mean()
    squares = (centred**2).sum(axis=0)
    slopes = np.where(squares > 0, centred.T @ moved / np.where(squares > 0, squares, 1.0), 0.0)
    return slopes, np.abs(moved[:, None] - centred * slopes).max(axis=0)


def _solved(
    z: FloatArray, y: FloatArray, support: tuple[int, ...], tolerance: float
) -> tuple[float, FloatArray] | None:
    design = np.column_stack([np.ones(len(y)), z[:, list(support)]])
    solution, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
    if rank < design.shape[1] or np.abs(design @ solution - y).max() > tolerance:
        return None
    factors = np.zeros(z.shape[1])
    reach = np.abs(z[:, list(support)]).max(axis=0)
    factors[list(support)] = np.where(np.abs(solution[1:]) * reach > 10 * tolerance, solution[1:], 0.0)
    used = np.nonzero(factors)[0]
    if used.size and (z[:, used] == np.round(z[:, used])).all():
        # small whole numbers lie on a line by chance: more runs must fit, and the factors
        steps = factors[used] / (_unit(y) or 1.0)
        if len(y) - design.shape[1] < 2 * SPARE or np.abs(steps - np.round(steps)).max() > 1e-6:
            return None
    return float(solution[0]), factors


def _rounded(z: FloatArray, y: FloatArray) -> Linear | None:
    """A multiple of a unit that stays within a unit of a line in one draw, however far the draw is pushed.

    Draws that are whole themselves are not rounded: an output that they follow nearly is of several draws.
    """
    slopes, distances = _one_by_one(z, y)
    order = np.argsort(distances)
    at, deviation = int(order[0]), float(distances[order[0]])
    if deviation > ROUNDED * np.ptp(y) or (len(order) > 1 and distances[order[1]] < CLEARLY * deviation):
        return None
    if deviation > _unit(y) or (z[:, at] == np.round(z[:, at])).all():
        return None
    factors = np.zeros(z.shape[1])
    factors[at] = slopes[at]
    return Linear(float(y.mean() - slopes[at] * z[:, at].mean()), factors, deviation, everywhere=True)


def _unit(y: FloatArray) -> float:
    """The largest number of which all differences of these numbers are multiples, up to rounding errors."""
    unit, least = 0.0, CLOSE * float(np.abs(y).max())
    for step in np.abs(np.diff(y)).tolist():
        larger, smaller = max(unit, step), min(unit, step)
        while smaller > least:
            larger, smaller = smaller, abs(larger - smaller * round(larger / smaller))
        unit = larger
    return unit


def cheapest_shift(
    factors: FloatArray, difference: FloatArray, slack: FloatArray, up: FloatArray, down: FloatArray
) -> tuple[float, FloatArray] | None:
    """The cheapest shift of the draws that moves the outputs by a difference, and its cost; None where there is none.

    Minimises Σ up·s⁺ + down·s⁻ over shifts s = s⁺ − s⁻ with |factors · s − difference| ≤ slack: a linear program.

    For a linear output this cost is the ε that the two datasets need at δ = 0. It is enough, because the shift maps
    the noise of one onto that of the other at this cost. It is necessary: let M be the moment generating function of
    the noise in the output. If p ≤ e^ε q then M(λ) e^(λ·g) ≤ e^ε M(λ) e^(λ·g′), so λ·(g − g′) ≤ ε for every λ at which
    M is finite; these are the λ with −down ≤ factorsᵀλ ≤ up, and the maximum of λ·(g − g′) over them is the dual of
    the linear program.

    Args:
        factors: one row for each number in the output, one column for each draw.
        difference: by which the outputs are to move; of shape (rows,).
        slack: by which they may miss it.
        up, down: cost of moving a draw up or down by one standard unit; infinite where it cannot be moved so.
    """
    n = factors.shape[1]
    alone = factors != 0
    if (alone.sum(axis=1) == 1).all() and (alone.sum(axis=0) <= 1).all():
        # each number has a draw of its own
        at = alone.argmax(axis=1)
        move = np.sign(difference) * np.maximum(0.0, np.abs(difference) - slack) / factors[np.arange(len(at)), at]
        price = np.where(move > 0, up[at], down[at])
        if np.isinf(price[move != 0]).any():
            return None
        shift = np.zeros(n)
        shift[at] = move
        return float((np.where(move == 0, 0.0, price) * np.abs(move)).sum()), shift
    from scipy.optimize import linprog  # it takes a tenth of a second, and most audits never need it

    costs = np.concatenate([up, down])
    bounds = [(0.0, 0.0 if math.isinf(cost) else None) for cost in costs]
    both = np.hstack([factors, -factors])
    solution = linprog(
        np.where(np.isinf(costs), 0.0, costs), A_ub=np.vstack([both, -both]),
        b_ub=np.concatenate([difference + slack, slack - difference]), bounds=bounds, method="highs",
    )
    if solution.status != 0 or solution.x is None or solution.fun is None:
        return None
    return float(solution.fun), solution.x[:n] - solution.x[n:]
