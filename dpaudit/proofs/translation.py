"""Proofs of (ε, δ), zCDP and μ-GDP: a shift of all noise that is the same on every execution path, or adaptive.

If one vector s, the same on every path, turns the noise of D into noise with which D′ gives the same output, then the
two outputs are one function of Z and of Z − s. Gaussian coordinates of Z with standard deviations σ then make the pair
μ-GDP with μ² = Σ (s/σ)²; Laplace coordinates with scales b cost Σ |s|/b, or Σ (s/b)²/2 of zCDP. Nothing is assumed of
the paths.

The shift of a draw may also depend on what was decided before it is drawn. Then every draw is a step of an adaptive
composition, and the costs are those of the most expensive path: with Gaussian steps up to Σ (s/σ)² = μ² on every path,
E exp(it·Σ (s/σ)·(z/σ) + t²μ²/2) = 1, so the log-likelihood ratio is normal, as that of one draw.

Source: Dong, Roth and Su, Gaussian Differential Privacy (JRSS B 2022), Theorem 2.7 and Corollary 3.3; Bun and Steinke,
Concentrated Differential Privacy (2016), Propositions 1.4 and 1.6 and Lemma 1.7; Smith and Thakurta, Fully Adaptive
Composition for Gaussian Differential Privacy (2022); Feldman and Zrnic, Individual Privacy Accounting via a Rényi
Filter (NeurIPS 2021).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpaudit.language.claim import Claim
from dpaudit.language.curves import GaussianDP, ZeroConcentrated
from dpaudit.language.zcdp import zcdp_delta
from dpaudit.proofs.alignment import DENOMINATORS, Aligned, Constraint, NoShift, exact_in_equations, keeps
from dpaudit.proofs.attempt import Attempt, PathPair, noise_lines
from dpaudit.proofs.certificate import aligned_rows, head, of_parts
from dpaudit.proofs.exact import ROUNDING, exactly
from dpaudit.proofs.forms import Draw
from dpaudit.proofs.neighbours import Vector, differences, sums, with_changes
from dpaudit.proofs.program import assumptions
from dpaudit.proofs.results import Proof, Unknown, Unsupported
from dpaudit.proofs.scopes import Scope
from dpaudit.stats.arrays import FloatArray

MOST_ROWS = 2_000
"""Different rows of all paths beyond which no shift is looked for."""
FEASIBLE = 1e-9
"""Least residual of a system of inequalities that has a solution."""


@dataclass(frozen=True)
class Loss:
    """What a shift costs.

    Args:
        epsilon: Σ |s|/b of noise that is not Gaussian.
        mu_squared: Σ (s/σ)² of Gaussian noise.
        rho: half of the sum of the squares of both.
        is_symmetric: whether the shift backwards costs the same.
    """

    epsilon: Fraction = Fraction(0)
    mu_squared: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    is_symmetric: bool = True

    def worse(self, other: Loss) -> Loss:
        """The larger of each."""
        return Loss(
            max(self.epsilon, other.epsilon), max(self.mu_squared, other.mu_squared), max(self.rho, other.rho),
            self.is_symmetric and other.is_symmetric,
        )

    def keeps(self, claim: Claim) -> bool:
        """Whether it implies a claim."""
        curve = claim.curve
        rho = curve.rho if isinstance(curve, ZeroConcentrated) else claim.rho
        if rho is not None:
            return self.is_symmetric and self.rho <= exactly(rho) * (1 + ROUNDING)
        if curve is None:
            return self._keeps_by_profile(claim) or self._keeps_by_rho(claim)
        mu = _root_above(self.mu_squared)
        if self.epsilon:
            return False
        if isinstance(curve, GaussianDP):
            return self.mu_squared <= exactly(curve.mu) ** 2 * (1 + ROUNDING)
        return not mu or GaussianDP(mu).implies(curve) or ZeroConcentrated(_above(self.rho)).implies(curve)

    def rho_for(self, claim: Claim) -> Fraction:
        """ρ, where a claim is of zCDP, or one of (ε, δ) follows by nothing else; 0 elsewhere."""
        by_rho = claim.rho is not None or isinstance(claim.curve, ZeroConcentrated) or (
            claim.curve is None and not self._keeps_by_profile(claim)
        )
        return self.rho if by_rho else Fraction(0)

    def _keeps_by_profile(self, claim: Claim) -> bool:
        """(ε, δ) by the ε of Laplace noise and the profile of Gaussian noise."""
        mu, spare = _root_above(self.mu_squared), exactly(claim.epsilon) - self.epsilon
        if spare < 0 or not mu:
            return spare >= -exactly(claim.epsilon) * ROUNDING and not mu
        # δ falls with ε, so ε is rounded down and μ up
        delta = GaussianDP(mu).delta_at(max(0.0, math.nextafter(float(spare), 0.0)))
        return delta <= float(claim.delta) * (1 + float(ROUNDING))

    def _keeps_by_rho(self, claim: Claim) -> bool:
        """(ε, δ) by zCDP: better where many draws cost little each."""
        if not self.is_symmetric or not claim.delta or not self.rho:
            return False
        return zcdp_delta(_above(self.rho), float(claim.epsilon)) <= float(claim.delta) * (1 + float(ROUNDING))

    def at(self, claim: Claim) -> str:
        """The δ at the claimed ε, after ": "; "" for a curve."""
        spare = float(exactly(claim.epsilon) - self.epsilon)
        if claim.curve is not None or claim.rho is not None or spare < 0 or not self.mu_squared:
            return ""
        return f": δ = {GaussianDP(_root_above(self.mu_squared)).delta_at(spare):.3g} at ε = {claim.epsilon:.6g}"


def _above(value: Fraction) -> float:
    return math.nextafter(float(value), math.inf)


def _root_above(square: Fraction) -> float:
    """A double that is at least the square root; 0 for 0."""
    if not square:
        return 0.0
    root = math.sqrt(float(square))
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def label_of(claim: Claim) -> str:
    """A claim in a few words: "(1, 1e-05)-DP", "0.1-zCDP"; "" for an ε alone."""
    if claim.curve is not None:
        return claim.curve.label
    if claim.rho is not None:
        return f"{claim.rho:.6g}-zCDP"
    return f"({claim.epsilon:.6g}, {claim.delta:.6g})-DP" if claim.delta else ""


def prove_translation(attempt: Attempt, claim: Claim) -> Proof | Unknown:
    """A proof of a claim with δ or of a curve, for all datasets of a scope other than streams."""
    if not attempt.clipping and attempt.looks_at_clipping():
        attempt.clipping = True
        found = prove_translation(attempt, claim)
        if isinstance(found, Proof):
            return found
        attempt.follow_without_clipping()
    alike = _proved(attempt, claim, adaptive=False)
    if isinstance(alike, Proof) or not attempt.is_adaptive:
        return alike
    found = _proved(attempt, claim, adaptive=True)
    return found if isinstance(found, Proof) else alike


def _proved(attempt: Attempt, claim: Claim, *, adaptive: bool) -> Proof | Unknown:
    """As `prove_translation`, with shifts that are the same on all paths, or may depend on former decisions."""
    label = label_of(claim)
    try:
        found = [_shifted(group, attempt.scope, adaptive=adaptive) for group in attempt.groups()]
        loss = Loss()
        for shifted in found:
            for path in shifted.paths:
                for shift in path.shifts:
                    loss = loss.worse(cost(path.draws, shift))
        if not loss.keeps(claim):
            return replace(attempt.unknown(
                f"The shift costs ε = {float(loss.epsilon):.6g} and μ² = {float(loss.mu_squared):.6g}, which is not "
                f"{label}{loss.at(claim)}.",
                "", None,
            ), goal=label)
        attempt.replay(attempt.scope)
    except NoShift as failure:
        unknown = attempt.without_bound(failure)
        if unknown.reason.startswith("No shift"):
            unknown = replace(unknown, reason="No one shift of the noise gives a neighbouring dataset the same output "
                                              "on every path.")
        return replace(unknown, goal=label)
    except Unsupported as error:
        return replace(attempt.unknown(error.reason, error.remedy, error.place), goal=label)
    return Proof(
        loss.epsilon, attempt.claimed, attempt.name, str(attempt.scope),
        noise_lines([path for shifted in found for path in shifted.paths]),
        sum(len(group) for group in attempt.groups()), assumptions(attempt.target, attempt.scope),
        {
            **head(attempt.target, attempt.name, str(attempt.scope), label), "kind": "translation",
            "epsilon": str(loss.epsilon), "mu_squared": str(loss.mu_squared), "rho": str(loss.rho),
            "paths": [
                {
                    **aligned_rows(each.all.draws, each.all.constraints, each.all.vectors, each.all.shifts),
                    "drawn": [list(drawn) for drawn in each.drawn],
                }
                for each in found
            ],
            **of_parts(attempt.parts.list if attempt.parts is not None else ()),
        },
        label, loss.mu_squared, loss.rho_for(claim),
    )


def cost(draws: Sequence[Draw], shift: Sequence[Fraction]) -> Loss:
    """What a shift costs."""
    loss, squares, everything, symmetric = Fraction(0), Fraction(0), Fraction(0), True
    for draw, moved in zip(draws, shift, strict=True):
        share = abs(moved) / draw.scale
        everything += share**2
        if draw.kind == "normal":
            squares += share**2
        else:
            loss += share
            symmetric = symmetric and (not moved or draw.kind in ("laplace", "mechanism"))
    return Loss(loss, squares, everything / 2, symmetric)


@dataclass(frozen=True, eq=False)
class Shifted:
    """The shifts of the noise of all paths.

    Args:
        all: all draws and rows, and a shift for every extreme difference.
        drawn: the draws of each path, by their numbers; equal lists once.
    """

    all: Aligned
    drawn: tuple[tuple[int, ...], ...]

    @property
    def paths(self) -> list[Aligned]:
        """The draws of each path, with their shifts."""
        return [
            Aligned(
                tuple(self.all.draws[number] for number in drawn), (), self.all.vectors,
                tuple(tuple(shift[number] for number in drawn) for shift in self.all.shifts), self.all.costs,
            )
            for drawn in self.drawn
        ]


def _shifted(group: Sequence[PathPair], scope: Scope, *, adaptive: bool) -> Shifted:
    """The shifts of the noise of all paths, for every extreme difference of D and D′.

    Args:
        group: the paths.
        scope: the datasets.
        adaptive: whether the shift of a draw may depend on what was decided before it was drawn.

    Raises:
        NoShift: there is none.
        Unsupported: paths draw different noise, or the solver's answer is not confirmed.
    """
    numbers: dict[object, int] = {}
    draws: list[Draw] = []
    rows: dict[object, Constraint] = {}
    forms, changes, drawn = [], [], []
    for pair in group:
        path = pair.path
        if path.maxima:
            raise Unsupported("The largest of several numbers is not followed beside Gaussian noise.")
        mine = []
        for index, draw in enumerate(path.draws):
            before = path.decisions[:path.drawn_after[index]] if adaptive else ()
            number = numbers.setdefault((before, index), len(draws))
            if number == len(draws):
                draws.append(draw)
            elif (draws[number].kind, draws[number].scale, draws[number].part) != (draw.kind, draw.scale, draw.part):
                raise Unsupported("Paths draw different noise, and Gaussian noise needs one shift for all paths.",
                                  "Draw the same noise on every path.", draw.place)
            mine.append(number)
        drawn.append(tuple(mine))
        for place, row in enumerate(path.rows):
            form = row.form if pair.forms is None else pair.forms[place]
            noise = {mine[index]: coefficient for index, coefficient in row.form.draws.items()}
            key = (form.key(), tuple(sorted(noise.items())), row.kind)
            if key not in rows:
                rows[key] = Constraint(noise, row.kind == "equal", row.place)
                forms.append(form)
                changes.append(row.change)
    if len(rows) > MOST_ROWS:
        raise Unsupported(f"The paths have more than {MOST_ROWS:,} different rows.", "Prove it for fewer records.")
    constraints = tuple(rows.values())
    equal = [constraint.equal for constraint in constraints]
    own = group[0].forms is not None if group else False
    vectors = with_changes(sums(forms, equal) if own else differences(forms, equal, scope), changes).vectors
    often = [Fraction(sum(number in mine for mine in drawn), len(drawn)) for number in range(len(draws))]
    shifts = tuple(smallest(draws, constraints, vector, often) for vector in vectors)
    everything = Aligned(tuple(draws), constraints, vectors, shifts, (Fraction(0),) * len(shifts))
    return Shifted(everything, tuple(dict.fromkeys(drawn)))


def smallest(
    draws: Sequence[Draw], constraints: Sequence[Constraint], vector: Vector, often: Sequence[Fraction]
) -> Vector:
    """The shift with the least Σ (s/scale)², on average over paths, that keeps every row for one difference.

    Args:
        draws, constraints: of all paths.
        vector: the difference.
        often: the share of paths on which each draw is.

    Raises:
        NoShift: there is none.
        Unsupported: it is not confirmed with exact numbers.
    """
    zero = (Fraction(0),) * len(draws)
    if keeps(constraints, vector, zero):
        return zero
    used = sorted({
        index for row in constraints for index in row.noise if draws[index].kind == "normal" or
        draws[index].moves != "none"
    })
    if any(draws[index].is_whole for index in used):
        raise Unsupported("Whole noise is not followed beside Gaussian noise.", "", draws[used[0]].place)
    at = {index: place for place, index in enumerate(used)}
    units = [float(draw.scale) / math.sqrt(share) for draw, share in zip(draws, often, strict=True)]
    fixed: list[list[float]] = []
    above: list[list[float]] = []
    for row, difference in zip(constraints, vector, strict=True):
        side = [0.0] * (len(used) + 1)
        for index, coefficient in row.noise.items():
            if index in at:
                side[at[index]] = float(coefficient) * units[index]
        side[-1] = -float(difference)
        (fixed if row.equal else above).append(side)
    above += [
        [*np.eye(len(used))[at[index]].tolist(), 0.0] for index in used if draws[index].moves == "up"
    ]
    found = least_distance(np.array(fixed).reshape(-1, len(used) + 1), np.array(above).reshape(-1, len(used) + 1))
    if found is None:
        raise NoShift(next((row for row, each in zip(constraints, vector, strict=True) if each), None), vector)
    confirmed = []
    for denominator in DENOMINATORS:
        shift = list(zero)
        for index, value in zip(used, found.tolist(), strict=True):
            shift[index] = Fraction(value * units[index]).limit_denominator(denominator)
        shift = exact_in_equations(at, constraints, vector, shift)
        upwards = all(moved >= 0 or draw.moves != "up" for draw, moved in zip(draws, shift, strict=True))
        if upwards and keeps(constraints, vector, shift):
            confirmed.append(tuple(shift))
    if not confirmed:
        raise Unsupported("The solver's shift of the noise could not be confirmed with exact numbers.")
    return min(confirmed, key=lambda each: cost(draws, each).rho)


def least_distance(fixed: FloatArray, above: FloatArray) -> FloatArray | None:
    """The shortest x with A x = a and B x ≥ b, up to rounding; None where there is none.

    The equations are solved first, because pairs of inequalities are badly conditioned.

    Args:
        fixed: (A, a), shape (rows, n + 1).
        above: (B, b), shape (rows, n + 1).

    Raises:
        Unsupported: the solver gives up.

    Source: Lawson and Hanson, Solving Least Squares Problems (1974), chapter 23.
    """
    from scipy.linalg import null_space
    from scipy.optimize import nnls

    n = fixed.shape[1] - 1
    start, free = np.zeros(n), np.eye(n)
    if len(fixed):
        start = np.linalg.lstsq(fixed[:, :-1], fixed[:, -1], rcond=None)[0]
        if np.abs(fixed[:, :-1] @ start - fixed[:, -1]).max() > FEASIBLE * (1 + np.abs(fixed[:, -1]).max()):
            return None
        free = null_space(fixed[:, :-1])
    # |start + free y|² is |start|² + |y|²
    sides, least = above[:, :-1] @ free, above[:, -1] - above[:, :-1] @ start
    if not len(above) or least.max() <= FEASIBLE * (1 + np.abs(above[:, -1]).max()):
        return start
    # y is proportional to `least`, and the solver's tolerance is not
    lengths = np.linalg.norm(sides, axis=1)
    unit = float((np.abs(least) / np.where(lengths > 0, lengths, np.inf)).max()) or 1.0
    goal = np.append(np.zeros(free.shape[1]), 1.0)
    system = np.vstack([sides.T, least / unit])
    try:
        weights, _ = nnls(system, goal, maxiter=50 * system.shape[1])
    except RuntimeError:
        raise Unsupported("The solver found no shift of the noise, and did not say that there is none.") from None
    residual = system @ weights - goal
    if abs(residual[-1]) < FEASIBLE:
        return None
    shortest: FloatArray = start + free @ (-residual[:-1] / residual[-1] * unit)
    return shortest
