"""Proofs of (ε, δ), zCDP and μ-GDP: one shift of all noise that works on every execution path.

If one vector s, the same on every path, turns the noise of D into noise with which D′ gives the same output, then the
two outputs are one function of Z and of Z − s. Gaussian coordinates of Z with standard deviations σ then make the pair
μ-GDP with μ² = Σ (s/σ)²; Laplace coordinates with scales b cost Σ |s|/b. Nothing is assumed of the paths.

Source: Dong, Roth and Su, Gaussian Differential Privacy (JRSS B 2022), Theorem 2.7 and Corollary 3.3; Bun and Steinke,
Concentrated Differential Privacy (2016), Propositions 1.4 and 1.6 and Lemma 1.7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpaudit.language.claim import Claim
from dpaudit.language.curves import GaussianDP, ZeroConcentrated
from dpaudit.proofs.alignment import DENOMINATORS, Aligned, Constraint, NoShift, keeps
from dpaudit.proofs.attempt import Attempt, PathPair, noise_lines
from dpaudit.proofs.certificate import aligned_rows, head
from dpaudit.proofs.exact import ROUNDING, exactly
from dpaudit.proofs.forms import Draw
from dpaudit.proofs.neighbours import Vector, differences, sums
from dpaudit.proofs.program import assumptions
from dpaudit.proofs.results import Proof, Unknown, Unsupported
from dpaudit.proofs.scopes import Scope

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
        mu = _root_above(self.mu_squared)
        if curve is None:
            spare = exactly(claim.epsilon) - self.epsilon
            if spare < 0 or not mu:
                return spare >= -exactly(claim.epsilon) * ROUNDING and not mu
            # δ falls with ε, so ε is rounded down and μ up
            delta = GaussianDP(mu).delta_at(max(0.0, math.nextafter(float(spare), 0.0)))
            return delta <= float(claim.delta) * (1 + float(ROUNDING))
        if self.epsilon:
            return False
        if isinstance(curve, GaussianDP):
            return self.mu_squared <= exactly(curve.mu) ** 2 * (1 + ROUNDING)
        return not mu or GaussianDP(mu).implies(curve) or ZeroConcentrated(_above(self.rho)).implies(curve)

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
    label = label_of(claim)
    try:
        found = [_aligned(group, attempt.scope) for group in attempt.groups()]
        loss = Loss()
        for aligned in found:
            for shift in aligned.shifts:
                loss = loss.worse(cost(aligned.draws, shift))
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
        loss.epsilon, attempt.claimed, attempt.name, str(attempt.scope), noise_lines(found),
        sum(len(group) for group in attempt.groups()), assumptions(attempt.target, attempt.scope),
        {
            **head(attempt.target, attempt.name, str(attempt.scope), label), "kind": "translation",
            "epsilon": str(loss.epsilon), "mu_squared": str(loss.mu_squared),
            "paths": [aligned_rows(each.draws, each.constraints, each.vectors, each.shifts) for each in found],
        },
        label, loss.mu_squared,
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
            symmetric = symmetric and (not moved or draw.kind == "laplace")
    return Loss(loss, squares, everything / 2, symmetric)


def _aligned(group: Sequence[PathPair], scope: Scope) -> Aligned:
    """One shift of the noise of all paths, for every extreme difference of D and D′.

    Raises:
        NoShift: there is none.
        Unsupported: paths draw different noise, or the solver's answer is not confirmed.
    """
    draws: tuple[Draw, ...] = ()
    rows: dict[object, tuple[Constraint, object]] = {}
    forms = []
    for pair in group:
        if pair.path.maxima:
            raise Unsupported("The largest of several numbers is not followed beside Gaussian noise.")
        shorter, longer = sorted((draws, pair.path.draws), key=len)
        if any((one.kind, one.scale) != (other.kind, other.scale) for one, other in zip(shorter, longer, strict=False)):
            raise Unsupported("Paths draw different noise, and Gaussian noise needs one shift for all paths.",
                              "Draw the same noise on every path.", longer[len(shorter) - 1].place)
        draws = longer
        for place, row in enumerate(pair.path.rows):
            form = row.form if pair.forms is None else pair.forms[place]
            key = (form.key(), tuple(sorted(row.form.draws.items())), row.kind)
            if key not in rows:
                rows[key] = Constraint(row.form.draws, row.kind == "equal", row.place), form
                forms.append(form)
    if len(rows) > MOST_ROWS:
        raise Unsupported(f"The paths have more than {MOST_ROWS:,} different rows.", "Prove it for fewer records.")
    constraints = tuple(constraint for constraint, _ in rows.values())
    equal = [constraint.equal for constraint in constraints]
    own = group[0].forms is not None if group else False
    vectors = sums(forms, equal).vectors if own else differences(forms, equal, scope).vectors
    shifts = tuple(smallest(draws, constraints, vector) for vector in vectors)
    return Aligned(draws, constraints, vectors, shifts, (Fraction(0),) * len(shifts))


def smallest(draws: Sequence[Draw], constraints: Sequence[Constraint], vector: Vector) -> Vector:
    """The shift with the least Σ (s/scale)² that keeps every row for one difference.

    It is the solution of a problem of least distance, by non-negative least squares.

    Raises:
        NoShift: there is none.
        Unsupported: it is not confirmed with exact numbers.

    Source: Lawson and Hanson, Solving Least Squares Problems (1974), chapter 23.
    """
    from scipy.optimize import nnls

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
    sides: list[list[float]] = []
    for row, difference in zip(constraints, vector, strict=True):
        side = [0.0] * (len(used) + 1)
        for index, coefficient in row.noise.items():
            if index in at:
                side[at[index]] = float(coefficient * draws[index].scale)
        side[-1] = -float(difference)
        sides += [side, [-value for value in side]] if row.equal else [side]
    for index in used:
        if draws[index].moves == "up":
            sides.append([1.0 if place == at[index] else 0.0 for place in range(len(used))] + [0.0])
    system = np.array(sides).T
    goal = np.zeros(len(used) + 1)
    goal[-1] = 1.0
    try:
        weights, _ = nnls(system, goal, maxiter=50 * system.shape[1])
    except RuntimeError:
        raise Unsupported("The solver found no shift of the noise, and did not say that there is none.") from None
    residual = system @ weights - goal
    if abs(residual[-1]) < FEASIBLE:
        raise NoShift(next((row for row, each in zip(constraints, vector, strict=True) if each), None), vector)
    found = -residual[:-1] / residual[-1]
    confirmed = []
    for denominator in DENOMINATORS:
        shift = list(zero)
        for index, value in zip(used, found.tolist(), strict=True):
            shift[index] = Fraction(value * float(draws[index].scale)).limit_denominator(denominator)
        upwards = all(moved >= 0 or draw.moves != "up" for draw, moved in zip(draws, shift, strict=True))
        if upwards and keeps(constraints, vector, shift):
            confirmed.append(tuple(shift))
    if not confirmed:
        raise Unsupported("The solver's shift of the noise could not be confirmed with exact numbers.")
    return min(confirmed, key=lambda each: cost(draws, each).rho)
