"""How far numbers of a program differ between a dataset and its neighbour: the extreme points of all differences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dpaudit.proofs.forms import Form
from dpaudit.proofs.functions import Curved, Piecewise, RecordFunction, Rounded, Table
from dpaudit.proofs.paths import Maximum
from dpaudit.proofs.results import Unsupported
from dpaudit.proofs.scopes import Answers, Domain, Moves, Records, Scope

Vector: TypeAlias = tuple[Fraction, ...]
"""One difference for each row."""
Column: TypeAlias = tuple[RecordFunction | None, ...]
"""What each row is of one record."""
MOST_VECTORS = 1_100
"""Extreme differences beyond which each row's least one is taken for all, which can only raise ε."""
MOST_ATOMS = 6
"""Functions of one record that are not linear."""
ZERO = Fraction(0)


@dataclass(frozen=True)
class Differences:
    """The extreme differences of some rows.

    Args:
        vectors: every difference is at least a convex combination of these: equal to it in rows of the output, and at
            least as large in the others.
        is_finite: whether every difference is at least one of these, without taking combinations.
    """

    vectors: tuple[Vector, ...]
    is_finite: bool


def differences(forms: Sequence[Form], equal: Sequence[bool], scope: Scope) -> Differences:
    """The extreme differences of forms between D and D′, two neighbours on which the same path is followed.

    Args:
        forms: the rows.
        equal: which rows are of the output.
        scope: the datasets and their neighbours.
    """
    records = sorted({index for form in forms for index in form.records})
    columns = {index: tuple(form.records.get(index) for form in forms) for index in records}
    distinct: dict[object, int] = {}
    for index, column in columns.items():
        distinct.setdefault(tuple(None if each is None else each.key() for each in column), index)
    none = (ZERO,) * len(forms)
    stepwise = all(_is_step(function) for column in columns.values() for function in column)
    if isinstance(scope, Answers):
        total = [none]
        for places, moves, by in scope.blocks:
            mine = [columns[index] for index in places if index in columns]
            for part in [[column] for column in mine] if moves == "each" else [mine]:
                total = least([added(x, y) for x in total for y in _block(part, moves, by, equal, scope)], equal)
        return Differences(tuple(total), scope.whole or stepwise)
    found: list[Vector] = [none]
    for index in distinct.values():
        values = points(columns[index])
        found += [tuple(y - x for x, y in zip(one, other, strict=True)) for one in values for other in values]
        found = least(found, equal)
    return Differences(tuple(found), isinstance(scope, Domain) or stepwise)


def with_changes(found: Differences, changes: Sequence[Fraction]) -> Differences:
    """The differences of rows that change by some constants beside.

    Args:
        found: of the rows, and of others after them.
        changes: of each row.
    """
    if not any(changes):
        return found
    return Differences(
        tuple(
            (*(x + change for x, change in zip(vector, changes, strict=False)), *vector[len(changes):])
            for vector in found.vectors
        ),
        found.is_finite,
    )


def _block(
    columns: Sequence[Column], moves: Moves, by: Fraction, equal: Sequence[bool], scope: Answers
) -> list[Vector]:
    """The extreme differences of functions of some answers, of which one moves by at most `by`, or all in total."""
    # where a single answer may move, the others stay
    found: list[Vector] = [] if moves == "each" else [(ZERO,) * len(equal)]
    for column in {tuple(None if each is None else each.key() for each in one): one for one in columns}.values():
        if moves == "total" and len(columns) > 1 and (_jumps(column) or (scope.whole and by != 1)):
            raise Unsupported(
                "Several answers may differ a little, and an answer is rounded or compared before noise is added.",
                "Prove it for one answer that differs.",
            )
        found = least([*found, *answer_moves(column, by, whole=scope.whole)], equal)
    return found


def with_maxima(
    forms: Sequence[Form], equal: Sequence[bool], maxima: Sequence[Maximum], scope: Scope
) -> tuple[Differences, int]:
    """The extreme differences of forms that mention maxima, and how many rows keep their draws from moving.

    With the noise of its members unmoved, a maximum moves by no less and no more than its members.
    """
    members = [member for maximum in maxima for member in maximum.members]
    found = differences([*forms, *members], [*equal, *[True] * len(members)], scope)
    vectors = list(found.vectors)
    place = len(forms)
    for maximum in maxima:
        coefficients = [form.draws.get(maximum.draw, ZERO) for form in (*forms, *members)]
        spread = []
        for vector in vectors:
            spread += [
                tuple(value + coefficient * move for value, coefficient in zip(vector, coefficients, strict=True))
                for move in set(vector[place:place + len(maximum.members)])
            ]
        vectors, place = list(dict.fromkeys(spread)), place + len(maximum.members)
    frozen = len({index for maximum in maxima for index in maximum.frozen})
    rows = least((vector[:len(forms)] for vector in vectors), equal)
    return Differences(tuple(vector + (ZERO,) * frozen for vector in rows), False), frozen


def sums(forms: Sequence[Form], equal: Sequence[bool]) -> Differences:
    """The extreme values of forms without noise over all datasets."""
    total: list[Vector] = [tuple(form.constant for form in forms)]
    records = sorted({index for form in forms for index in form.records})
    finite = True
    for index in records:
        column = tuple(form.records.get(index) for form in forms)
        finite = finite and all(map(_is_step, column))
        total = least([added(x, y) for x in total for y in points(column)], equal)
    return Differences(tuple(total), finite)


def added(one: Vector, other: Vector) -> Vector:
    """The sum of two vectors."""
    # most numbers are 0, and to add a fraction takes much longer than to see that
    return tuple([x + y if x and y else x or y for x, y in zip(one, other, strict=True)])


def least(vectors: Iterable[Vector], equal: Sequence[bool]) -> list[Vector]:
    """Without vectors that another one is at most as large as, in rows that are no output, and equal to in the others.

    A row that is no output has to be kept ≥ 0, so a larger difference is easier.
    """
    groups: dict[Vector, list[Vector]] = {}
    for vector in dict.fromkeys(vectors):
        groups.setdefault(tuple(x for x, is_equal in zip(vector, equal, strict=True) if is_equal), []).append(vector)
    kept: list[Vector] = []
    for group in groups.values():
        lowest = tuple(map(min, zip(*group, strict=True)))
        if lowest in group or len(group) > MOST_VECTORS:
            kept.append(lowest)
            continue
        group.sort(key=sum)
        front: list[Vector] = []
        for vector in group:
            if not any(all(x <= y for x, y in zip(other, vector, strict=True)) for other in front):
                front.append(vector)
        kept += front
    if len(kept) > 4 * MOST_VECTORS:
        raise Unsupported(
            "The program releases too many numbers that all differ between neighbours.",
            "Prove it for fewer answers, or for one that differs.",
        )
    return kept


def points(column: Sequence[RecordFunction | None]) -> list[Vector]:
    """The values, and one-sided limits, of functions of one record between which all their values lie."""
    tables = [function for function in column if isinstance(function, Table)]
    if tables:
        return list(dict.fromkeys(zip(*(
            (ZERO,) * len(tables[0].values) if function is None else tuple(map(Fraction, function.values))  # type: ignore[attr-defined]
            for function in column
        ), strict=True)))
    if any(isinstance(function, Curved) for function in column):
        return _curved_points(column)
    fine = refined(column)
    sample = next(function for function in fine if function is not None)
    found = [
        tuple(ZERO if function is None else function.at[place] for function in fine)
        for place in range(len(sample.cuts))
    ]
    found += [
        tuple(
            ZERO if function is None else function.between[piece][0] * end + function.between[piece][1]
            for function in fine
        )
        for piece, ends in enumerate(itertools.pairwise(sample.cuts)) for end in ends
    ]
    return list(dict.fromkeys(found))


def _curved_points(column: Sequence[RecordFunction | None]) -> list[Vector]:
    """The same, where nothing is known of atoms but their intervals."""
    atoms = {atom.key: atom for function in column if isinstance(function, Curved) for atom, _ in function.atoms}
    if len(atoms) > MOST_ATOMS:
        raise Unsupported("A record is computed with in too many ways that are not linear.",
                          "Give a finite domain of records.")
    found = points(tuple(function.base if isinstance(function, Curved) else function for function in column))
    for key, atom in atoms.items():
        if atom.low is None or atom.high is None:
            raise Unsupported("A number of a record has no bounds.", "Clip it on both sides.")
        factors = [
            next((factor for each, factor in function.atoms if each.key == key), ZERO)
            if isinstance(function, Curved) else ZERO for function in column
        ]
        found = [
            tuple(x + factor * end for x, factor in zip(vector, factors, strict=True))
            for vector in found for end in (atom.low, atom.high)
        ]
    return list(dict.fromkeys(found))


def refined(column: Sequence[RecordFunction | None]) -> list[Piecewise | None]:
    """The functions with the cuts of all of them."""
    if any(isinstance(function, Curved) for function in column):
        raise Unsupported("A function of an answer is not linear.", "Give records between two numbers.")
    cuts = {cut for function in column if isinstance(function, Piecewise) for cut in function.cuts}
    return [function.refined(cuts) if isinstance(function, Piecewise) else None for function in column]


def answer_moves(column: Sequence[RecordFunction | None], by: Fraction, *, whole: bool) -> list[Vector]:
    """The extreme differences of functions of one real answer that moves by at most `by`."""
    rounded = [place for place, function in enumerate(column) if isinstance(function, Rounded)]
    if rounded:
        return _with_rounded(column, rounded, by, whole=whole)
    fine = refined(column)
    sample = next(function for function in fine if function is not None)
    slopes = {
        tuple(ZERO if function is None else function.between[piece][0] for function in fine)
        for piece in range(len(sample.between))
    }
    if whole and sample.cuts:
        raise Unsupported("A whole answer is clipped, rounded or compared before noise is added.",
                          "Give a finite domain of records.")
    steps = range(-int(by), int(by) + 1) if whole else (-by, by)
    moves = [tuple([step * slope if slope else ZERO for slope in vector]) for vector in slopes for step in steps]
    jumps = {(ZERO,) * len(column)}
    for first in range(len(sample.cuts)):
        for last in range(first, len(sample.cuts)):
            if sample.cuts[last] - sample.cuts[first] > by:
                break
            for from_cut, to_cut in itertools.product((False, True), repeat=2):
                jump = []
                for function in fine:
                    if function is None:
                        jump.append(ZERO)
                        continue
                    total = sum((_jump(function, place)[1] for place in range(first, last + 1)), ZERO)
                    total -= _jump(function, first)[0] if from_cut else 0
                    total -= _jump(function, last)[1] - _jump(function, last)[0] if to_cut else 0
                    jump.append(total)
                if first != last or not (from_cut and to_cut):
                    jumps |= {tuple(jump), tuple(-each for each in jump)}
    return list(dict.fromkeys(added(move, jump) for move in moves for jump in jumps))


def _jumps(column: Sequence[RecordFunction | None]) -> bool:
    """Whether a function of an answer jumps: then small differences of several answers may add up to more."""
    return any(
        isinstance(function, Rounded) or (
            isinstance(function, Piecewise) and any(any(_jump(function, i)) for i in range(len(function.cuts)))
        )
        for function in column
    )


def _with_rounded(
    column: Sequence[RecordFunction | None], rounded: list[int], by: Fraction, *, whole: bool
) -> list[Vector]:
    """Rounded answers move by whole numbers, all in one direction if their slopes have one sign."""
    others = [None if place in rounded else function for place, function in enumerate(column)]
    rest = [(ZERO,) * len(column)]
    if any(each is not None for each in others):
        rest = answer_moves(others, by, whole=whole)
    bases = {(column[place].slope, column[place].intercept) for place in rounded}  # type: ignore[union-attr]
    found = rest
    for base in bases:
        most = math.ceil(abs(base[0]) * by)
        steps = [
            tuple(
                function.factor * step if isinstance(function, Rounded) and (function.slope, function.intercept) == base
                else ZERO for function in column
            )
            for step in range(-most, most + 1)
        ]
        found = [added(x, y) for x in found for y in steps]
    return list(dict.fromkeys(found))


def _jump(function: Piecewise, place: int) -> tuple[Fraction, Fraction]:
    """At a cut: the value less the limit from the left, and the limit from the right less that from the left."""
    cut = function.cuts[place]
    left, right = function.between[place], function.between[place + 1]
    before, after = left[0] * cut + left[1], right[0] * cut + right[1]
    return function.at[place] - before, after - before


def _is_step(function: RecordFunction | None) -> bool:
    return function is None or isinstance(function, Table | Rounded) or (
        isinstance(function, Piecewise) and not any(slope for slope, _ in function.between)
    )


def has_records(scope: Scope) -> bool:
    """Whether the scope's datasets are of records, of which one is replaced, added or removed."""
    return isinstance(scope, Records | Domain)
