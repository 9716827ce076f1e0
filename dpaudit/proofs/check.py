"""Checks a certificate with fractions alone, without the program and without the code that made it."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

ROUNDING = Fraction(1, 10**12)


def check_certificate(certificate: dict[str, Any]) -> str | None:
    """None if every line of a certificate is right; otherwise a sentence that says which is not.

    It checks that on every listed path, and for every listed difference of D and D′, the shifted noise keeps each
    decision and each output, and that the shift costs at most ε, and Gaussian noise at most μ². It takes the list of
    paths for granted, and of a claim other than ε alone that ε and μ² imply it.
    """
    try:
        epsilon, kind = _number(certificate["epsilon"]), certificate["kind"]
        squares = _number(certificate["mu_squared"]) if kind == "translation" else Fraction(0)
        if kind != "translation" and epsilon > (claimed := _number(certificate["claimed"])) * (1 + ROUNDING):
            return f"ε = {epsilon} is above the claimed {claimed}."
        if kind in ("stream", "coins"):
            return _stream(certificate, epsilon) if kind == "stream" else _coins(certificate, epsilon)
        if kind not in ("paths", "translation") or not certificate["paths"]:
            return "It has no paths."
        for number, path in enumerate(certificate["paths"]):
            if not path["differences"]:
                return f"path {number}: it has no differences."
            for place, (difference, shift) in enumerate(zip(path["differences"], path["shifts"], strict=True)):
                where = f"path {number}, difference {place}"
                wrong = _step(path["draws"], path["rows"], difference, shift)
                if isinstance(wrong, str):
                    return f"{where}: {wrong}"
                if wrong[0] > epsilon or wrong[1] > squares:
                    return f"{where}: the shift costs {wrong[0]} (μ²: {wrong[1]}), more than ε = {epsilon} ({squares})."
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        return f"It is no certificate: {type(error).__name__} {error}."
    return None


def _coins(certificate: dict[str, Any], epsilon: Fraction) -> str | None:
    """Every list of probabilities sums to 1 on D and on D′, and exceeds e^ε times the other by at most δ in total."""
    power = term = Fraction(1)  # a beginning of the series of e^ε, so at most e^ε
    for k in range(1, 260):
        term *= min(epsilon, Fraction(50)) / k
        power += term
    for number, pair in enumerate(certificate["pairs"]):
        left, right = [_number(p) for p, _ in pair], [_number(q) for _, q in pair]
        if sum(left) != 1 or sum(right) != 1 or min(*left, *right) < 0:
            return f"pair {number}: its probabilities are below 0, or do not sum to 1."
        power_here, delta = power * (1 + ROUNDING), _number(certificate["delta"])
        if sum(max(p - power_here * q, Fraction(0)) for p, q in zip(left, right, strict=True)) > delta * (1 + ROUNDING):
            return f"pair {number}: its probabilities differ by more than ε = {epsilon} and δ = {delta} allow."
    return None if certificate["pairs"] else "It has no pairs."


def _number(text: Any) -> Fraction:
    if not isinstance(text, str) or not re.fullmatch(r"-?\d{1,400}(/\d{1,400})?", text):
        raise ValueError(f"{str(text)[:40]!r} is no fraction.")
    return Fraction(text)


def _step(draws: Any, rows: Any, difference: Any, shift: Any) -> tuple[Fraction, Fraction] | str:
    """What a shift costs: ε and, of Gaussian noise, μ²; or a sentence that says what is wrong with it."""
    moved = [_number(each) for each in shift]
    if len(moved) != len(draws) or len(difference) != len(rows):
        return "the numbers of draws and shifts, or of rows and differences, differ."
    for row, change in zip(rows, difference, strict=True):
        if any(int(index) < 0 for index in row["noise"]):
            return "the number of a draw is below 0."
        total = _number(change) + sum((_number(c) * moved[int(i)] for i, c in row["noise"].items()), Fraction(0))
        if total < 0 or (row["equal"] and total):
            return f"the {'output' if row['equal'] else 'decision'} of {row['line']} changes by {total}."
    cost = squares = Fraction(0)
    for draw, amount in zip(draws, moved, strict=True):
        scale, kind = _number(draw["scale"]), draw["kind"]
        if scale <= 0 or kind not in ("laplace", "exponential", "gumbel", "geometric", "rounded", "one-sided",
                                       "uniform", "normal", "maximum"):
            return f"noise {kind}({scale}) is not known."
        if amount and kind in ("uniform", "maximum"):
            return f"{kind} noise is shifted."
        if amount < 0 and kind in ("exponential", "gumbel", "one-sided"):
            return f"{kind} noise is shifted down by {-amount}."
        if kind in ("geometric", "rounded", "one-sided") and amount.denominator != 1:
            return f"whole noise is shifted by {amount}."
        if kind == "normal":
            squares += (amount / scale) ** 2
        else:
            cost += abs(amount) / scale
    return cost, squares


def _stream(certificate: dict[str, Any], epsilon: Fraction) -> str | None:
    """Each step from one state of the loop to another is paid for by the fall of the potential."""
    potential = [_number(each) for each in certificate["potentials"]]
    shifts = [[_number(each) for each in state] for state in certificate["carried"]]
    held = certificate["carried_draws"]
    if shifts[0] or [len(each) for each in held] != [len(each) for each in shifts]:
        return "the start carries draws, or the draws that states carry are not those that are shifted."
    if min(potential, default=Fraction(0)) < 0 or potential[0] > epsilon:
        return f"the potential of the start is {potential[0]}, or some potential is below 0; ε is {epsilon}."
    if not certificate["steps"] or not all(step["differences"] for step in certificate["steps"]):
        return "It has no steps, or a step without differences."
    for number, step in enumerate(certificate["steps"]):
        before, after = step["from"], step["to"]
        for difference, shift in zip(step["differences"], step["shifts"], strict=True):
            kept, fresh = len(shifts[before]), [_number(each) for each in shift]
            taken = [] if after is None else [int(index) for index in step["carries"]]
            if min(taken, default=0) < 0 or fresh[:kept] != shifts[before] or (
                after is not None and [fresh[index] for index in taken] != shifts[after]
            ):
                return f"step {number}: a carried draw has two shifts."
            noise = [{"kind": draw["kind"], "scale": draw["scale"]} for draw in step["draws"]]
            if noise[:kept] != held[before] or (after is not None and [noise[i] for i in taken] != held[after]):
                return f"step {number}: a carried draw has two distributions."
            paid = _step(step["draws"], step["rows"], difference, shift)
            if isinstance(paid, str) or paid[1]:
                return f"step {number}: {paid if isinstance(paid, str) else 'normal noise is shifted.'}"
            cost = paid[0]
            for draw, amount in zip(step["draws"][:kept], fresh, strict=False):
                cost -= abs(amount) / _number(draw["scale"])
            if cost + (potential[after] if after is not None else 0) > potential[before]:
                return f"step {number}: it costs {cost}, more than the potential falls."
    return None
