"""Paths that differ in their decisions but have the same draws and output, as one path where their union is convex.

A loop that keeps the largest number so far reaches one output on several paths. Path by path its alignment costs more
than that of their union, the region in which this output is the largest.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.proofs.alignment import DENOMINATORS
from dpaudit.proofs.forms import Form
from dpaudit.proofs.functions import Piecewise
from dpaudit.proofs.paths import Finished, Row

MOST_COMPARED = 20_000
"""Linear programs beyond which paths are left as they are."""


@dataclass(frozen=True, eq=False)
class Linear:
    """A row as coefficients of independent symbols, and a constant."""

    row: Row
    coefficients: dict[object, Fraction]
    constant: Fraction

    @property
    def is_noisy(self) -> bool:
        """Whether it depends on a draw."""
        return self.row.form.has_noise


def merged(paths: Sequence[Finished]) -> list[Finished] | None:
    """The paths, with those of one output replaced by their union where it is convex; None where nothing changes.

    Every path's region is described by its rows, and all regions together are everything. So a convex region that
    contains the paths of one output, and meets the interior of no other path, is their union.
    """
    if not may_merge(paths):
        return None
    groups = _by_output(paths)
    linear = {id(path): [_linear(row) for row in path.rows if row.kind == "keep"] for path in paths}
    result: list[Finished] = []
    changed = False
    for group in groups.values():
        union = _union(group, [path for path in paths if not any(path is each for each in group)], linear)
        changed = changed or union is not None
        result += group if union is None else [union]
    return result if changed else None


def may_merge(paths: Sequence[Finished]) -> bool:
    """Whether some paths have the same draws and output, and few enough for their regions to be compared."""
    if len({path.draws for path in paths}) != 1 or any(draw.is_whole for draw in paths[0].draws):
        return False
    if any(path.coins or path.maxima or path.post_processed for path in paths):
        return False
    groups = len(_by_output(paths))
    return groups < len(paths) and groups * len(paths) <= MOST_COMPARED


def _by_output(paths: Sequence[Finished]) -> dict[object, list[Finished]]:
    groups: dict[object, list[Finished]] = {}
    for path in paths:
        released = tuple(row.form.key() for row in path.rows if row.kind == "equal")
        groups.setdefault((path.output, released), []).append(path)
    return groups


def _union(
    group: list[Finished], others: list[Finished], linear: dict[int, list[Linear]]
) -> Finished | None:
    if len(group) == 1:
        return None
    candidates: dict[object, Linear] = {}
    for path in group:
        for row in linear[id(path)]:
            candidates.setdefault(row.row.form.key(), row)
    hull = [
        row for row in candidates.values() if all(_implied(row, linear[id(path)]) for path in group)
    ]
    for other in others:
        if not _apart(hull, linear[id(other)]):
            return None
    first = group[0]
    return replace(
        first, rows=(*(row.row for row in hull), *(row for row in first.rows if row.kind == "equal"))
    )


def _linear(row: Row) -> Linear:
    coefficients: dict[object, Fraction] = {index: factor for index, factor in row.form.draws.items()}  # noqa: C416
    constant = row.form.constant
    for index, function in row.form.records.items():
        if isinstance(function, Piecewise) and not function.cuts:
            slope, intercept = function.between[0]
            coefficients["answer", index] = slope
            constant += intercept
        else:
            # any other function is a symbol of its own, which may take every value
            negative = Form(records={index: function}).scaled(Fraction(-1)).records[index].key()
            key = function.key()
            if repr(negative) < repr(key):
                coefficients["function", index, negative] = Fraction(-1)
            else:
                coefficients["function", index, key] = Fraction(1)
    return Linear(row, coefficients, constant)


def _implied(row: Linear, given: Sequence[Linear]) -> bool:
    """Whether a row is ≥ 0 wherever the given ones are."""
    key = row.row.form.key()
    if any(each.row.form.key() == key for each in given):
        return True
    weights = _combination(given, row.coefficients, row.constant)
    if weights is None:
        return False
    rest = row.constant - sum(
        (weight * each.constant for weight, each in zip(weights, given, strict=True)), Fraction(0)
    )
    return rest >= 0


def _apart(one: Sequence[Linear], other: Sequence[Linear]) -> bool:
    """Whether two regions have no interior in common: a sum of their rows is a constant that is not above 0."""
    both = [*one, *other]
    for row in one:
        for each in other:
            if _opposite(row, each) and row.is_noisy and row.constant + each.constant <= 0:
                return True
    weights = _combination(both, {}, Fraction(0), total=True)
    if weights is None or not any(weights):
        return False
    constant = sum((weight * each.constant for weight, each in zip(weights, both, strict=True)), Fraction(0))
    noisy = any(weight and each.is_noisy for weight, each in zip(weights, both, strict=True))
    return constant < 0 or (constant == 0 and noisy)


def _opposite(one: Linear, other: Linear) -> bool:
    return one.coefficients.keys() == other.coefficients.keys() and all(
        value == -other.coefficients[key] for key, value in one.coefficients.items()
    )


def _combination(
    rows: Sequence[Linear], target: dict[object, Fraction], constant: Fraction, *, total: bool = False
) -> list[Fraction] | None:
    """Weights ≥ 0 with which the rows sum to the target's coefficients, exactly; None where none were found.

    Of these, those with the least sum of constants; with `total`, weights that sum to 1.
    """
    from scipy.optimize import linprog

    if not rows:
        return [] if not target and not total else None
    symbols = sorted({key for row in rows for key in row.coefficients} | set(target), key=repr)
    matrix = np.array([[float(row.coefficients.get(key, 0)) for row in rows] for key in symbols])
    goal = np.array([float(target.get(key, 0)) for key in symbols])
    if total:
        matrix, goal = np.vstack([matrix, np.ones(len(rows))]), np.append(goal, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Any = linprog(
            [float(row.constant) for row in rows], A_eq=matrix, b_eq=goal, bounds=(0, None), method="highs"
        )
    if found.x is None:
        return None
    for denominator in DENOMINATORS:
        weights = [Fraction(float(value)).limit_denominator(denominator) for value in found.x]
        sums = {
            key: sum((weight * row.coefficients.get(key, 0) for weight, row in zip(weights, rows, strict=True)),
                     Fraction(0))
            for key in symbols
        }
        if all(weight >= 0 for weight in weights) and all(sums[key] == target.get(key, 0) for key in symbols):
            return weights
    return None
