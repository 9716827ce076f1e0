"""Checks a certificate with fractions alone, without the program and without the code that made it."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

ROUNDING = Fraction(1, 10**12)
SHIFTS = {"laplace": "any", "normal": "any", "exponential": "up", "gumbel": "up", "uniform": "no", "maximum": "no",
          "geometric": "whole", "rounded": "whole", "one-sided": "whole, up", "mechanism": "up"}
"""By which numbers noise may be shifted; a mechanism that has a certificate of its own by 1."""


def check_certificate(certificate: dict[str, Any]) -> str | None:
    """None if every line of a certificate is right; otherwise a sentence that says which is not.

    It checks that on every listed path, and for every listed difference of D and D′, the shifted noise keeps each
    decision and each output, and that the shift costs at most ε, Gaussian noise at most μ², and all noise at most ρ. It
    takes the list of paths for granted, and of a claim other than ε alone that these imply it.
    """
    try:
        epsilon, kind = _number(certificate["epsilon"]), certificate["kind"]
        _require(kind == "translation" or epsilon <= _number(certificate["claimed"]) * (1 + ROUNDING),
                 f"ε = {epsilon} is above the claimed {certificate['claimed']}.")
        _require(certificate[{"stream": "steps", "coins": "pairs"}.get(kind, "paths")], "It proves nothing.")
        {"stream": _stream, "coins": _coins, "paths": _paths, "translation": _paths}[kind](certificate, epsilon)
    except AssertionError as wrong:
        return str(wrong)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
        return f"It is no certificate: {type(error).__name__} {error}."
    return None


def _require(holds: object, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def _number(text: Any) -> Fraction:
    _require(isinstance(text, str) and re.fullmatch(r"-?\d{1,4000}(/\d{1,4000})?", text),
             f"It is no certificate: {str(text)[:40]!r} is no fraction.")
    return Fraction(text)


def _paths(certificate: dict[str, Any], epsilon: Fraction) -> None:
    """On every path, and for every difference, the shift keeps all rows and costs no more than it may."""
    limits = (epsilon, Fraction(0), epsilon**2 / 2) if certificate["kind"] == "paths" else (
        epsilon, _number(certificate["mu_squared"]), _number(certificate["rho"]))
    for number, costs in _costs(certificate):
        _require(all(cost <= limit for cost, limit in zip(costs, limits, strict=True)),
                 f"path {number}: a shift costs {costs[0]} (μ²: {costs[1]}), more than ε = {epsilon}.")


def _costs(certificate: dict[str, Any]) -> Any:
    """Of every shift the number of its path, ε of noise that is not Gaussian, μ² of noise that is, and ρ of both."""
    for number, part in enumerate(parts := certificate.get("parts", [])):
        _require(not (wrong := check_certificate(part)) and (part["kind"], part.get("delta", "0")) in (
            ("paths", "0"), ("coins", "0")), f"part {number}: {wrong or 'its certificate is not of an ε alone.'}")
    for number, path in enumerate(certificate["paths"]):
        _require(path["differences"], f"path {number}: it has no differences.")
        drawn = [set(each) for each in path.get("drawn", [range(len(path["draws"]))])]
        _require(all(any({int(i) for i in row["noise"]} <= each for each in drawn) for row in path["rows"]),
                 f"path {number}: a row has draws of several paths.")
        for place, (difference, shift) in enumerate(zip(path["differences"], path["shifts"], strict=True)):
            paid = list(_paid(path, difference, shift, f"path {number}, difference {place}", parts))
            for mine in ([paid[index] for index in each] for each in drawn):
                yield number, (sum((share for share, normal in mine if not normal), Fraction(0)), sum(
                    share**2 for share, normal in mine if normal), sum(share**2 for share, _ in mine) / Fraction(2))


def _power(epsilon: Fraction) -> Fraction:
    """A beginning of the series of e^ε, so at most e^ε; very near for ε up to 50."""
    return sum((min(epsilon, Fraction(50))**k / math.factorial(k) for k in range(260)), Fraction(0))


def _coins(certificate: dict[str, Any], epsilon: Fraction) -> None:
    """What flows to every path on D′, times e^cost of its shift, exceeds e^ε times its probability by δ in total."""
    worth, power = dict[int, Any]({-1: 1}), _power(epsilon) * (1 + ROUNDING)
    for number, (cost, gaussian, _) in _costs(certificate):
        _require(not gaussian and cost <= 50, f"path {number}: its shift is of Gaussian noise, or costs more than 50.")
        worth[number] = max(_power(cost) * (1 + ROUNDING), worth.get(number, 0))
    for number, pair in enumerate(certificate["pairs"]):
        left = [[(_number(flow), worth[path]) for flow, path in flows] for flows, _ in pair]
        right, out = [_number(probability) for _, probability in pair], [flow for flows in left for flow, _ in flows]
        _require(min(*out, *right) >= 0 and (sum(out) >= 1 if certificate["paths"] else sum(out) == 1 >= sum(right)),
                 f"pair {number}: its probabilities are below 0, or do not sum to 1.")
        more = sum(max(sum(f * cost for f, cost in flows) - power * q, 0) for flows, q in zip(left, right, strict=True))
        _require(more <= _number(certificate["delta"]) * (1 + ROUNDING),
                 f"pair {number}: its probabilities differ by more than ε = {epsilon} and δ allow.")


def _paid(path: Any, difference: Any, shift: Any, where: str, parts: Any) -> Any:
    """Each draw's share, |shift| / scale, and whether it is Gaussian, if the shift keeps every row."""
    moved = {str(index): _number(each) for index, each in enumerate(shift)}
    for row, change in zip(path["rows"], difference, strict=True):
        total = _number(change) + sum((_number(c) * moved[index] for index, c in row["noise"].items()), Fraction(0))
        _require(total == 0 or (total > 0 and not row["equal"]),
                 f"{where}: the {'output' if row['equal'] else 'decision'} of {row['line']} changes by {total}.")
    for draw, amount in zip(path["draws"], moved.values(), strict=True):
        scale, allowed = _number(draw["scale"]), SHIFTS[draw["kind"]]
        _require(scale > 0 and (not amount or (allowed != "no" and (amount > 0 or "up" not in allowed) and (
            amount.denominator == 1 or "whole" not in allowed))),
                 f"{where}: {draw['kind']} noise of scale {scale} is shifted by {amount}.")
        _require(draw["kind"] != "mechanism" or scale * _number(parts[draw["part"]]["epsilon"]) <= 1,
                 f"{where}: a mechanism costs less than its certificate says.")
        yield abs(amount) / scale, draw["kind"] == "normal"


def _stream(certificate: dict[str, Any], epsilon: Fraction) -> None:
    """Each step from one state of the loop to another is paid for by the fall of the potential."""
    potential = [_number(each) for each in certificate["potentials"]]
    shifts, held = [[_number(each) for each in state] for state in certificate["carried"]], certificate["carried_draws"]
    _require(not shifts[0] and [len(each) for each in held] == [len(each) for each in shifts],
             "the start carries draws, or the draws that states carry are not those that are shifted.")
    _require(min(potential, default=Fraction(0)) >= 0 and potential[0] <= epsilon,
             f"the potential of the start is {potential[0]}, or some potential is below 0; ε is {epsilon}.")
    _require(all(step["differences"] for step in certificate["steps"]), "It has a step without differences.")
    for number, step in enumerate(certificate["steps"]):
        before, after, where = step["from"], step["to"], f"step {number}"
        noise = [{"kind": draw["kind"], "scale": draw["scale"]} for draw in step["draws"]]
        taken, kept = [] if after is None else [int(index) for index in step["carries"]], len(shifts[before])
        _require(min(taken, default=0) >= 0 and noise[:kept] == held[before] and (
            after is None or [noise[i] for i in taken] == held[after]), f"{where}: a carried draw has two scales.")
        for difference, shift in zip(step["differences"], step["shifts"], strict=True):
            fresh = [_number(each) for each in shift]
            _require(fresh[:kept] == shifts[before] and (after is None or [fresh[i] for i in taken] == shifts[after]),
                     f"{where}: a carried draw has two shifts.")
            paid = list(_paid(step, difference, shift, where, ()))
            _require(not any(share and normal for share, normal in paid), f"{where}: normal noise is shifted.")
            cost = sum((share for share, _ in paid[kept:]), Fraction(0))
            _require(cost + (potential[after] if after is not None else 0) <= potential[before],
                     f"{where}: it costs {cost}, more than the potential falls.")
