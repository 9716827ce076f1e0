"""Output distributions and densities of the sparse vector techniques, by integration over the threshold's noise.

Given the threshold's noise ρ, the answers are independent, so every probability is a one-dimensional integral. It is
computed by Gauss–Legendre quadrature on panels that end at the kinks of the integrand (ρ = 0, and where the noisy
threshold meets an answer). The integrands are smooth inside every panel, and the distributions sum to 1 up to rounding.
This module does not use the mechanisms' source code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial import legendre
from scipy.interpolate import CubicHermiteSpline

from dpaudit.language import FloatArray

Floats = FloatArray
Pattern = tuple[bool, ...]
"""Whether each answer up to the stop was above; shorter than the answers after an early stop."""
ORDER = 20
"""Nodes per panel."""
REACH = 45.0
"""Scales by which the integrals extend beyond the outermost kink; the omitted mass is below e^−45."""


def below(t: Floats, scale: float) -> Floats:
    """Pr[Lap(scale) < t]."""
    tail = 0.5 * np.exp(-np.abs(t) / scale)
    return np.where(t < 0, tail, 1 - tail)


def density(x: Floats, scale: float) -> Floats:
    """The density of Lap(scale)."""
    values: Floats = np.exp(-np.abs(x) / scale) / (2 * scale)
    return values


@dataclass(frozen=True)
class Line:
    """The real line divided into panels.

    Args:
        nodes: quadrature nodes, ascending, shape (panels · ORDER,).
        weights: quadrature weights, same shape.
        halves: half the width of every panel, shape (panels,).
    """

    nodes: Floats
    weights: Floats
    halves: Floats

    @classmethod
    def around(cls, kinks: Iterable[float], rho: float, nu: float) -> Line:
        """Panels that end at every kink, are at most as wide as either noise scale, and extend far beyond the kinks."""
        inner, width, reach = sorted({0.0, *kinks}), min(rho, nu), REACH * max(rho, nu)
        ends = [inner[0] - reach, *inner, inner[-1] + reach]
        edges = np.concatenate(
            [np.linspace(a, b, math.ceil((b - a) / width) + 1)[:-1] for a, b in pairwise(ends)]
            + [np.array(ends[-1:])]
        )
        x, w = legendre.leggauss(ORDER)
        halves, middles = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
        return cls((middles[:, None] + halves[:, None] * x).ravel(), (halves[:, None] * w).ravel(), halves)

    def running(self, values: Floats) -> Floats:
        """The integral, from −∞ to every node, of a function given at the nodes (smooth in every panel)."""
        panels = values.reshape(-1, ORDER)
        whole = np.concatenate([[0.0], np.cumsum((self.weights * values).reshape(-1, ORDER).sum(axis=1))[:-1]])
        inside: Floats = whole[:, None] + self.halves[:, None] * (panels @ _RUNNING.T)
        return inside.ravel()


def _running_matrix() -> Floats:
    """(i, j): the integral from −1 to node i of the polynomial that is 1 at node j and 0 at the others."""
    x, _ = legendre.leggauss(ORDER)
    rows = np.stack(
        [legendre.legval(x, legendre.legint(np.eye(ORDER)[k], lbnd=-1)) for k in range(ORDER)], axis=1
    )
    integrals: Floats = rows @ np.linalg.inv(legendre.legvander(x, ORDER - 1))
    return integrals


_RUNNING = _running_matrix()


def pattern_law(
    answers: Sequence[float], threshold: float, rho: float, nu: float, c: int | None, *, redrawn: bool = False
) -> dict[Pattern, float]:
    """The distribution of the pattern of noisy answers that are at least the noisy threshold, until c of them are.

    Args:
        answers: shape (k,).
        threshold: t.
        rho, nu: noise scales of the threshold and of the answers.
        c: number of answers above after which it stops; None for never.
        redrawn: whether the threshold gets fresh noise after every answer above it.
    """
    line = Line.around([a - threshold for a in answers], rho, nu)
    weights = line.weights * density(line.nodes, rho)
    # Pr[answer below | ρ], shape (answers, nodes)
    under = np.stack([below(threshold + line.nodes - a, nu) for a in answers])
    over = np.stack([below(a - threshold - line.nodes, nu) for a in answers])
    law: dict[Pattern, float] = {}

    def walk(pattern: Pattern, mass: float, given: Floats, count: int) -> None:
        if count == c or len(pattern) == len(answers):
            law[pattern] = mass * float(weights @ given)
            return
        walk((*pattern, False), mass, given * under[len(pattern)], count)
        hit = given * over[len(pattern)]
        if redrawn:
            mass, hit = mass * float(weights @ hit), np.ones(len(weights))
        walk((*pattern, True), mass, hit, count + 1)

    walk((), 1.0, np.ones(len(weights)), 0)
    return law


def noiseless_law(answers: Sequence[float], threshold: float, rho: float) -> dict[Pattern, float]:
    """The distribution of the pattern of noiseless answers that are at least threshold + Lap(rho)."""
    levels = [-math.inf, *sorted({a - threshold for a in answers}), math.inf]
    law: dict[Pattern, float] = {}
    for low, high in pairwise(levels):
        # ρ in (low, high]; use the smaller tail for precision
        ends = np.array([low, high])
        under, over = below(ends, rho), below(-ends, rho)
        law[tuple(a - threshold >= high for a in answers)] = float(
            under[1] - under[0] if high <= 0 else over[0] - over[1]
        )
    return law


class ReusedNoise:
    """The density of outputs (pattern, noisy answers above) where the printed numbers are the ones compared.

    Args:
        answers, threshold, rho, nu: as for `pattern_law`.
        extra: other points at which integrands over the outputs have kinks (the other dataset's answers).

    An answer is above if the printed number v is at least t + ρ. So ρ is at most min v − t, and the density is
    ∏ f(v − a) times the integral, up to min v − t, of ρ's density times the probabilities of the answers below.
    """

    def __init__(
        self, answers: Sequence[float], threshold: float, rho: float, nu: float, extra: Sequence[float] = ()
    ) -> None:
        self.answers, self.threshold, self.nu = tuple(answers), threshold, nu
        self.line = Line.around([a - threshold for a in (*answers, *extra)], rho, nu)
        self._rho = density(self.line.nodes, rho)
        self._kept: dict[Pattern, Floats] = {}

    def quiet(self, pattern: Pattern) -> Floats:
        """ρ's density times the probability that every answer below in `pattern` is below, at the nodes of ρ."""
        values = self._rho.copy()
        for a, above in zip(self.answers, pattern, strict=False):
            if not above:
                values *= below(self.threshold + self.line.nodes - a, self.nu)
        return values

    def up_to(self, pattern: Pattern) -> Floats:
        """The integral of `quiet` from −∞ to every node."""
        if pattern not in self._kept:
            self._kept[pattern] = self.line.running(self.quiet(pattern))
        return self._kept[pattern]

    def silent(self, length: int) -> float:
        """Pr[all of the first `length` answers are below]."""
        return float(self.line.weights @ self.quiet((False,) * length))

    def atoms(self) -> Floats:
        """Probabilities of a stop at the first answer above (c = 1), with its number divided into one cell per node.

        Shape (1 + answers · nodes,): all below, then for every position of the stop the cells of v − t in order.
        """
        parts = [np.array([self.silent(len(self.answers))])]
        for place, a in enumerate(self.answers):
            reach = self.up_to((False,) * place + (True,))
            parts.append(self.line.weights * density(self.line.nodes + self.threshold - a, self.nu) * reach)
        return np.concatenate(parts)

    def log_density(self, pattern: Pattern, numbers: Floats) -> Floats:
        """Log densities of outputs with one pattern and given numbers, shape (r, answers above) → (r,)."""
        if not any(pattern):
            return np.full(len(numbers), math.log(self.silent(len(pattern))))
        reach, quiet = self.up_to(pattern), self.quiet(pattern)
        inner = reach > 1e-250
        spline = CubicHermiteSpline(self.line.nodes[inner], np.log(reach[inner]), quiet[inner] / reach[inner])
        logs: Floats = spline(numbers.min(axis=1) - self.threshold)
        above = [a for a, over in zip(self.answers, pattern, strict=False) if over]
        for column, a in enumerate(above):
            logs = logs + np.log(density(numbers[:, column] - a, self.nu))
        return logs


def coarse_law(answers: Sequence[float], threshold: float, rho: float, nu: float, step: int) -> dict[Pattern, float]:
    """The distribution of the pattern up to the first answer above, both noises rounded down to multiples of `step`.

    A multiple of the step is at least t − a if and only if it is at least the next multiple, so an answer matters only
    through ⌈(t − a)/step⌉. Computed by summation over the noise of the threshold.
    """
    needed = [math.ceil((threshold - a) / step) for a in answers]
    reach = math.ceil((REACH * max(rho, nu) + step) / step) + max(map(abs, needed))
    k: Floats = np.arange(-reach, reach + 1, dtype=np.float64) * step
    # Pr[ρ = k]: the mass of [k, k + step), from the smaller tail
    weights = np.where(
        k < 0, below(k + step, rho) - below(k, rho), below(-k, rho) - below(-k - step, rho)
    )
    given, law = np.ones(len(k)), dict[Pattern, float]()
    for place, whole in enumerate(needed):
        cut = k + step * whole
        law[(False,) * place + (True,)] = float(weights @ (given * below(-cut, nu)))
        given = given * below(cut, nu)
    law[(False,) * len(answers)] = float(weights @ given)
    return law
