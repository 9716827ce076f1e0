"""Privacy profiles of independent shifted noise, in interval arithmetic: δ(ε) and ε(δ) with rigorous bounds.

The loss of an output is L = ln(density under D / density under D′); losses of independent draws add up, and

    δ(ε) = E[max(0, 1 − e^(ε − L))],  for outputs drawn on D.

All kinds of noise here are symmetric, so both directions have the same profile. For a draw shifted by `gap`:

* Laplace noise of scale b, r = gap/b: L = r with probability 1/2, −r with e^−r/2, and r − 2t with density e^−t/2 for
  t in (0, r). A single one has δ(ε) = 1 − e^((ε − r)/2) for |ε| ≤ r.
* Gaussian noise of standard deviation σ, μ = gap/σ: L is normal with mean μ²/2 and variance μ²; several are equivalent
  to one with μ² = Σμᵢ², and δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle and Wang 2018, Theorem 8).
* Two-sided geometric noise: finitely many losses (gap − 2j)/scale, enumerated.

Several Laplace draws, or Laplace and Gaussian draws together, are discretised: the Laplace losses are put on a grid of
step g, once from above and once from below, each with an error of order g²:

* from above, the mass of a cell of losses is split between its ends so that its masses under both distributions are
  preserved: the cell is a garbling of its ends ("connecting the dots": Doroshenko, Ghazi, Kamath, Kumar and Manurangsi,
  Connect the Dots: Tighter Discrete Approximations of Privacy Loss Distributions, PoPETs 2022);
* from below, a cell of width 2g counts as a single output, whose loss r − a − b for t in (a, b) is a grid point,
  or is rounded down to one: post-processing and smaller losses can only lower δ.

Both bounds extend to independent draws (a product of garblings is a garbling). Sums of losses on the grid are products
of polynomials with interval coefficients, which Arb multiplies with rigorous error bounds, so no Fourier transform
error has to be estimated. Doubles are used only to locate candidates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np
from flint import arb, arb_poly, ctx
from scipy.special import log_ndtr

from dpaudit.errors import NotEnumerableError
from dpaudit.stats.arb import HALF, to_interval
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.enclosure import PRECISION, Enclosure, outward

Floats = FloatArray

ATOMS = 200_000
"""Most losses of a table; with Gaussian noise beside it, each costs two values of Φ."""
SMOOTH_ATOMS = 40_000
"""Most losses of a table with Gaussian noise."""
CELLS = (64, 256, 1024, 4096, 16384)
"""Grid cells for the widest Laplace loss; finer grids are used until the bounds agree."""
AGREE = 2e-6
"""Target for the distance of the bounds: relative for δ, and for ε above 1."""
_RAISES = 40
"""Number of attempts to move a bound on ε, by a factor 8 each, until it is certain."""
_NEAR = 1e-9
"""For losses this close to ε (relative if above 1), the interval decides whether they count."""


@dataclass(frozen=True)
class Moves:
    """The shifts of independent draws between two datasets, in units of their scales.

    Args:
        laplace: gap/scale of every Laplace draw, > 0.
        gaussian: gap/σ of every Gaussian draw, > 0.
        geometric: (gap, scale) of every two-sided geometric draw, gap ≥ 1.
    """

    laplace: tuple[Fraction, ...] = ()
    gaussian: tuple[Fraction, ...] = ()
    geometric: tuple[tuple[int, Fraction], ...] = ()


@dataclass(frozen=True)
class _Table:
    """Losses with their masses under D; `losses` are descending, up to rounding."""

    losses: Sequence[arb]
    masses: Sequence[arb]

    @cached_property
    def rough(self) -> tuple[Floats, Floats]:
        """Losses and masses in doubles."""
        return np.array([float(x) for x in self.losses]), np.array([float(p) for p in self.masses])

    @cached_property
    def sums(self) -> tuple[list[arb], list[arb]]:
        """Masses of the first k losses under D and under D′, for k = 0, 1, …."""
        left, right = [arb(0)], [arb(0)]
        for loss, p in zip(self.losses, self.masses, strict=True):
            left.append(left[-1] + p)
            right.append(right[-1] + p * (-loss).exp())
        return left, right

    def excess(self, epsilon: arb) -> arb:
        """E[max(0, 1 − e^(ε − L))] for L of this table."""
        rough, at = self.rough[0], float(epsilon)
        near = _NEAR * max(1.0, abs(at))
        # losses certainly above ε are summed at once, uncertain ones one by one
        first, last = (int(np.searchsorted(-rough, -(at + sign * near))) for sign in (1, -1))
        left, right = self.sums
        total = left[first] - epsilon.exp() * right[first]
        for i in range(first, last):
            total += self.masses[i] * (1 - (epsilon - self.losses[i]).exp()).max(arb(0))
        return total

    def times(self, other: _Table) -> _Table:
        """The table of the sum of independent losses."""
        if len(other.losses) == 1 and other.masses[0] == 1 and other.losses[0].is_zero():
            return self
        losses = [x + y for x in self.losses for y in other.losses]
        masses = [p * q for p in self.masses for q in other.masses]
        order = np.argsort(-np.array([float(x) for x in losses]), kind="stable").tolist()
        return _Table([losses[i] for i in order], [masses[i] for i in order])


class NoiseProfile:
    """δ(ε) and ε(δ) of shifted noise.

    Args:
        moves: the shifts of all draws.

    Raises:
        NotEnumerableError: there are too many losses.
    """

    def __init__(self, moves: Moves) -> None:
        self._moves = moves
        self._limit = SMOOTH_ATOMS if moves.gaussian else ATOMS
        with ctx.workprec(PRECISION):
            self._widths = Counter(moves.laplace)
            squares = sum((mu * mu for mu in moves.gaussian), Fraction(0))
            self._mu = to_interval(squares).sqrt() if squares else None
            self._atoms = _geometric(moves.geometric)
            # the kind of noise with a closed-form profile; the losses of the others are in the tables
            self._lone = self._widths.total() == 1 and self._mu is None
            self._gridded = bool(self._widths) and not self._lone
            self._grid = 0
            if self._size(0) > self._limit:
                raise NotEnumerableError(
                    f"The noise has more than {self._limit:,} privacy losses, even on the coarsest grid; "
                    "use datasets that are closer to each other, or fewer draws."
                )
            self._tables = self._at_grid() if self._gridded else (self._atoms, self._atoms)

    @cached_property
    def supremum(self) -> Enclosure:
        """The supremum of the loss, which is ε at δ = 0; infinite with Gaussian noise."""
        if self._mu is not None:
            return Enclosure(math.inf, math.inf)
        return outward(self._top) if self._top > 0 else Enclosure(0.0, 0.0)

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Encloses δ(ε), ε ≥ 0 a double or a fraction."""
        if epsilon >= self.supremum.high:
            return Enclosure(0.0, 0.0)
        while True:
            with ctx.workprec(PRECISION):
                low, high = (self._delta(table, to_interval(epsilon)) for table in self._tables)
            enclosure = Enclosure(max(0.0, outward(low).low), 0.0 if high.is_zero() else min(1.0, outward(high).high))
            # this close to the largest loss a finer grid would not help
            agree = enclosure.high - enclosure.low <= AGREE * enclosure.high or epsilon >= self.supremum.low
            if agree or not self._refined():
                return enclosure

    def epsilon(self, delta: float | Fraction) -> Enclosure:
        """Encloses the least ε ≥ 0 with δ(ε) ≤ delta, for a double or a fraction in [0, 1]."""
        if delta <= 0:
            return self.supremum
        while True:
            low, high = (self._root(table, float(delta)) for table in self._tables)
            if high - low <= AGREE * max(1.0, high) or not self._refined():
                break
        with ctx.workprec(PRECISION):
            allowed = to_interval(delta)
            return Enclosure(
                self._moved(low, -1, lambda e: self._delta(self._tables[0], e) > allowed),
                min(self._moved(high, 1, lambda e: self._delta(self._tables[1], e) <= allowed), self.supremum.high),
            )

    def curve(self, epsilons: Floats) -> Floats:
        """The lower bound on δ at an array of ε, in doubles, for plots; shape as given."""
        flat = [max(0.0, self._rough(self._tables[0], float(e))) for e in np.ravel(epsilons)]
        return np.array(flat).reshape(np.shape(epsilons))

    @cached_property
    def _top(self) -> arb:
        with ctx.workprec(PRECISION):
            steps = sum((gap / scale for gap, scale in self._moves.geometric), Fraction(0))
            return to_interval(sum(self._moves.laplace, Fraction(0)) + steps)

    def _delta(self, table: _Table, epsilon: arb) -> arb:
        if self._mu is None and not self._lone:
            return table.excess(epsilon)
        total = arb(0)
        for loss, p in zip(table.losses, table.masses, strict=True):
            total += p * self._closed(epsilon - loss)
        return total

    def _closed(self, epsilon: arb) -> arb:
        """δ at any ε for the noise with a closed form."""
        if self._mu is not None:
            return _gaussian(self._mu, epsilon)
        ((width, _),) = self._widths.items()
        return _laplace(to_interval(width), epsilon)

    def _rough(self, table: _Table, epsilon: float) -> float:
        """`_delta` in doubles."""
        losses, masses = table.rough
        at = epsilon - losses
        if self._mu is not None:
            mu = float(self._mu)
            first, second = log_ndtr(mu / 2 - at / mu), at + log_ndtr(-mu / 2 - at / mu)
            return float(masses @ (-np.exp(first) * np.expm1(np.minimum(0.0, second - first))))
        if not self._lone:
            return float(masses @ -np.expm1(np.minimum(at, 0.0)))
        r = float(next(iter(self._widths)))
        return float(masses @ -np.expm1(np.minimum(0.0, np.where(at < -r, at, (at - r) / 2))))

    def _root(self, table: _Table, delta: float) -> float:
        """The ε where a bound on the profile crosses δ, in doubles; 0 if it is at most δ at 0, infinite on overflow."""
        if self._rough(table, 0.0) <= delta:
            return 0.0
        end = 1.0
        while not self._rough(table, end) <= delta:
            end *= 2
            if math.isinf(end):
                return end
        from scipy.optimize import brentq  # it takes a tenth of a second, and most audits never need it

        return float(brentq(lambda e: self._rough(table, e) - delta, 0.0, end, xtol=1e-15, rtol=1e-14, maxiter=5_000))

    def _moved(self, start: float, sign: int, certain: Callable[[arb], bool]) -> float:
        """The first number, from `start` on in the direction of `sign`, at which a bound is certain."""
        if (sign < 0 and start == 0) or math.isinf(start):
            return 0.0 if sign < 0 else math.inf
        at, step = start, 1e-15 * max(start, 1e-3)
        if sign > 0 and start == 0 and certain(arb(0)):
            return 0.0
        for _ in range(_RAISES):
            at += sign * step
            if at <= 0:
                return 0.0
            if certain(arb(at)):
                return at
            step *= 8
        return 0.0 if sign < 0 else math.inf

    def _refined(self) -> bool:
        """Switch to the next finer grid; False if there is none, or it is too large."""
        if not self._gridded or self._grid + 1 >= len(CELLS):
            return False
        if self._size(self._grid + 1) > self._limit:
            return False
        self._grid += 1
        with ctx.workprec(PRECISION):
            self._tables = self._at_grid()
        return True

    def _size(self, grid: int) -> float:
        """The number of losses in the tables for a grid."""
        if not self._gridded:
            return len(self._atoms.losses)
        step = self._step(grid)
        cells = sum((2 * width / step + 1) * times for width, times in self._widths.items())
        if self._on_grid(step):
            return float(cells + sum(2 * gap / scale / step for gap, scale in self._moves.geometric))
        return float(cells) * len(self._atoms.losses)

    def _step(self, grid: int) -> Fraction:
        """The step of a grid: all losses with positive probability lie on it, if their common divisor allows that."""
        widest = max(self._widths)
        steps = [1 / scale for _, scale in self._moves.geometric]
        for lengths in ([*self._widths, *steps], self._widths):
            measure = reduce(_common, lengths)
            multiple = int(widest / measure)
            if multiple <= CELLS[grid]:
                # they make kinks in the profile, which other grids would smooth; an even number of cells on both sides
                # of 0, so that the cells from below, which are twice as wide, fill both
                return measure / (2 * math.ceil(CELLS[grid] / (4 * max(1, multiple))))
        return 2 * widest / CELLS[grid]

    def _on_grid(self, step: Fraction) -> bool:
        """Whether the spacing of the losses of geometric draws is a multiple of the step."""
        return all((2 / scale / step).denominator == 1 for _, scale in self._moves.geometric)

    def _at_grid(self) -> tuple[_Table, _Table]:
        """The tables from below and from above on the current grid."""
        step = self._step(self._grid)
        one, together = to_interval(step), self._on_grid(step)
        start = self._top if together else to_interval(sum(self._moves.laplace, Fraction(0)))
        tables = []
        for masses_of in (_from_below, _from_above):
            factors = [arb_poly(masses_of(width, step)) ** times for width, times in self._widths.items()]
            if together:
                factors += [
                    arb_poly(_geometric_masses(gap, scale, int(2 / scale / step))) ** times
                    for (gap, scale), times in Counter(self._moves.geometric).items()
                ]
            masses = _coefficients(factors)
            grid = _Table([start - j * one for j in range(len(masses))], masses)
            tables.append(grid if together else grid.times(self._atoms))
        return tables[0], tables[1]


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The largest number that divides both."""
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


def _coefficients(factors: list[arb_poly]) -> list[arb]:
    """The coefficients of a product of polynomials: the masses of sums."""
    while len(factors) > 1:
        # multiply similar lengths: products of a long and a short polynomial are slow
        first, second, *factors = sorted(factors, key=lambda factor: int(factor.degree()))
        factors.append(first * second)
    return [c.max(arb(0)) for c in factors[0].coeffs()]


def _gaussian(mu: arb, epsilon: arb) -> arb:
    root, ratio = arb(2).sqrt(), epsilon / mu
    first = ((ratio - mu * HALF) / root).erfc()
    return (first - epsilon.exp() * ((ratio + mu * HALF) / root).erfc()) * HALF


def _laplace(r: arb, epsilon: arb) -> arb:
    inner, outer = 1 - ((epsilon - r) * HALF).exp(), 1 - epsilon.exp()
    if epsilon < -r:
        return outer
    if epsilon >= -r:
        return inner.max(arb(0))
    return outer.union(inner)  # the interval does not decide which


def _geometric(moves: Sequence[tuple[int, Fraction]]) -> _Table:
    """All losses of two-sided geometric draws, with their masses."""
    table = _Table([arb(0)], [arb(1)])
    for scale in dict.fromkeys(scale for _, scale in moves):
        gaps = Counter(gap for gap, other in moves if other == scale)
        total = sum(gap * times for gap, times in gaps.items())
        if (total + 1) * len(table.losses) > ATOMS:
            raise NotEnumerableError(
                f"Geometric noise with a total shift of {total:,} has more than {ATOMS:,} privacy losses; "
                "use datasets that are closer to each other."
            )
        factors = [arb_poly(_geometric_masses(gap, scale, 1)) ** times for gap, times in gaps.items()]
        losses = [to_interval(Fraction(total - 2 * j) / scale) for j in range(total + 1)]
        table = _Table(losses, _coefficients(factors)).times(table)
    return table


def _geometric_masses(gap: int, scale: Fraction, apart: int) -> list[arb]:
    """Masses of one geometric draw's losses (gap − 2j)/scale, at the indices j·apart."""
    a = (-1 / to_interval(scale)).exp()
    end, inside = 1 / (1 + a), (1 - a) / (1 + a)
    masses = [arb(0)] * (gap * apart + 1)
    masses[::apart] = [end, *[inside * a**j for j in range(1, gap)], end * a**gap]
    return masses


def _from_above(width: Fraction, step: Fraction) -> list[arb]:
    """Masses at the losses width − j·step that bound those of one Laplace draw from above."""
    cells = math.ceil(2 * width / step)
    masses = [arb(0)] * (cells + 1)
    masses[0] = arb(0.5)
    whole, fall = 1 - (-to_interval(step)).exp(), (-to_interval(step / 2)).exp()

    def split(j: int, p: arb, over: Fraction) -> None:
        """Split a loss `over` above grid point j + 1: the part for point j preserves the mass under the other law."""
        up = p * (1 - (-to_interval(over)).exp()) / whole
        masses[j] += up
        masses[j + 1] += p - up

    tail = arb(0.5)  # mass of t above j·step/2
    half = (1 - fall) / whole
    for j in range(cells - 1):
        p = tail * (1 - fall)
        masses[j] += p * half
        masses[j + 1] += p * (1 - half)
        tail *= fall
    # the last cell ends at −width, possibly above its grid point
    end = (-to_interval(width)).exp() * HALF
    split(cells - 1, tail - end, (cells + 1) * step / 2 - width)
    split(cells - 1, end, cells * step - 2 * width)
    return masses


def _from_below(width: Fraction, step: Fraction) -> list[arb]:
    """Masses at the losses width − j·step that bound those of one Laplace draw from below."""
    cells = math.ceil(2 * width / step)
    masses = [arb(0)] * (cells + 1)
    masses[0] = arb(0.5)
    end, at = _last_output(width, step)
    masses[at] += (-to_interval(end)).exp() * HALF
    fall, tail = (-to_interval(step)).exp(), arb(0.5)
    whole = int(end / step)
    for i in range(whole):
        masses[2 * i + 1] += tail * (1 - fall)
        tail *= fall
    # the rest of the last cell has the loss width − whole·step − end, rounded down
    masses[math.ceil(whole + end / step)] += tail - (-to_interval(end)).exp() * HALF
    return masses


def _last_output(width: Fraction, step: Fraction) -> tuple[Fraction, int]:
    """(s, j): everything from t = s on, including the atom at the loss −width, is one output of loss ≥ width − j·step.

    Its loss is −s − ln(2 − e^(s − width)). If −width is not a grid point, s is chosen so that the loss is the next
    higher point.
    """
    at = int(2 * width / step)
    point = width - at * step
    if point == -width:
        return width, at

    def loss(s: float) -> float:
        return -s - math.log(2 - math.exp(s - float(width)))

    lowest = (width, math.ceil(2 * width / step))
    if loss(0.0) <= float(point):
        return lowest
    from scipy.optimize import brentq  # as above

    root = brentq(lambda s: loss(s) - float(point), 0.0, float(width), xtol=1e-15, maxiter=5_000)
    s = Fraction(float(root) * (1 - 1e-12))
    met = -to_interval(s) - (2 - (to_interval(s) - to_interval(width)).exp()).log() >= to_interval(point)
    return (s, at) if met else lowest
