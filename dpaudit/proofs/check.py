"""Checks a certificate with fractions alone, without the program and without the code that made it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

ROUNDING = Fraction(1, 10**12)
WHOLE = ("geometric", "rounded", "one-sided")


def check_certificate(certificate: dict[str, Any]) -> str | None:
    """None if every line of a certificate is right; otherwise a sentence that says which is not.

    It checks that on every listed path, and for every listed difference of D and D′, the shifted noise keeps each
    decision and each output, and that the shift costs at most ε, Gaussian noise at most μ², and all noise at most ρ. It
    takes the list of paths for granted, and of a claim other than ε alone that these imply it.
    """
    try:
        epsilon, kind = _number(certificate["epsilon"]), certificate["kind"]
        limits = epsilon, Fraction(0), epsilon**2 / 2
        if kind == "translation":
            limits = epsilon, _number(certificate["mu_squared"]), _number(certificate["rho"])
        elif epsilon > (claimed := _number(certificate["claimed"])) * (1 + ROUNDING):
            return f"ε = {epsilon} is above the claimed {claimed}."
        if kind in ("stream", "coins"):
            return _stream(certificate, epsilon) if kind == "stream" else _coins(certificate, epsilon)
        if kind not in ("paths", "translation") or not certificate["paths"]:
            return "It has no paths."
        for number, path in enumerate(certificate["paths"]):
            if not path["differences"]:
                return f"path {number}: it has no differences."
            drawn = [set(each) for each in path.get("drawn", [range(len(path["draws"]))])]
            if any(not any({int(i) for i in row["noise"]} <= each for each in drawn) for row in path["rows"]):
                return f"path {number}: a row has draws of several paths."
            for place, (difference, shift) in enumerate(zip(path["differences"], path["shifts"], strict=True)):
                where = f"path {number}, difference {place}"
                paid = _step(path["draws"], path["rows"], difference, shift)
                if isinstance(paid, str):
                    return f"{where}: {paid}"
                for each in drawn:
                    costs = _costs([paid[index] for index in each])
                    if any(cost > limit for cost, limit in zip(costs, limits, strict=True)):
                        return f"{where}: the shift costs {costs[0]} (μ²: {costs[1]}), more than ε = {epsilon}."
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        return f"It is no certificate: {type(error).__name__} {error}."
    return None


def _costs(paid: Sequence[tuple[Fraction, bool]]) -> tuple[Fraction, Fraction, Fraction]:
    """ε of noise that is not Gaussian, μ² of noise that is, and ρ of both."""
    squares = sum((share**2 for share, normal in paid if normal), Fraction(0))
    others = [share for share, normal in paid if not normal]
    return sum(others, Fraction(0)), squares, (squares + sum(share**2 for share in others)) / 2


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


def _step(draws: Any, rows: Any, difference: Any, shift: Any) -> list[tuple[Fraction, bool]] | str:
    """Each draw's share, |shift| / scale, and whether it is Gaussian; or a sentence that says what is wrong."""
    moved = [_number(each) for each in shift]
    if len(moved) != len(draws) or len(difference) != len(rows):
        return "the numbers of draws and shifts, or of rows and differences, differ."
    for row, change in zip(rows, difference, strict=True):
        if any(int(index) < 0 for index in row["noise"]):
            return "the number of a draw is below 0."
        total = _number(change) + sum((_number(c) * moved[int(i)] for i, c in row["noise"].items()), Fraction(0))
        if total < 0 or (row["equal"] and total):
            return f"the {'output' if row['equal'] else 'decision'} of {row['line']} changes by {total}."
    paid = []
    for draw, amount in zip(draws, moved, strict=True):
        scale, kind = _number(draw["scale"]), draw["kind"]
        if scale <= 0 or kind not in (*WHOLE, "laplace", "exponential", "gumbel", "uniform", "normal", "maximum"):
            return f"noise {kind}({scale}) is not known."
        if amount and kind in ("uniform", "maximum"):
            return f"{kind} noise is shifted."
        if amount < 0 and kind in ("exponential", "gumbel", "one-sided"):
            return f"{kind} noise is shifted down by {-amount}."
        if kind in WHOLE and amount.denominator != 1:
            return f"whole noise is shifted by {amount}."
        paid.append((abs(amount) / scale, kind == "normal"))
    return paid


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
            if isinstance(paid, str) or any(share and normal for share, normal in paid):
                return f"step {number}: {paid if isinstance(paid, str) else 'normal noise is shifted.'}"
            cost = sum((share for share, _ in paid[kept:]), Fraction(0))
            if cost + (potential[after] if after is not None else 0) > potential[before]:
                return f"step {number}: it costs {cost}, more than the potential falls."
    return None
