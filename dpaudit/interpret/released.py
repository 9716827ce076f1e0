"""Mechanisms that release all of their noise: their draws, and how far each moves from one dataset to the other.

Suppose every draw of a program is a real (or two-sided geometric) one whose parameters depend only on the dataset, and
the output is y = A·x + k for the vector x of all draws, with an injective matrix A that is the same on both datasets.
Then y reveals as much as x: the privacy loss of the pair is that of independent draws, each moved by a known distance
(k may differ by vectors in the image of A). This requires no enumeration and no sampling.

**Method.** The program runs on `Form`s instead of draws: objects that can be passed on, added and multiplied by
numbers, and that record every other operation. A program that does nothing else takes the same path for all values of
its draws, so its forms describe its output for all of them. Then it also runs on numbers, some of them extreme, and
must request the same draws and return the values of its forms.

**Limits.** A program may still evaluate `type(draw)` or `draw is other`, which no object can detect; only the runs on
numbers can reveal that. The program runs on exact parameters (`parameters`), so that 1/ε is not rounded; if it cannot,
it runs on doubles, which is recorded. Sums of draws and numbers are sums of reals, although doubles would round. The
result therefore holds for real-valued noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from flint import arb, ctx
from numpy.random import Generator, default_rng

from dpaudit.errors import DpauditError, MechanismError, NotEnumerableError, TimeLimitError
from dpaudit.interpret.forms import Form, Notebook, exact, is_form
from dpaudit.interpret.parameters import exact_dataset, exact_mechanism
from dpaudit.interpret.walk import Last, Run, Watch, in_short, refuse_failures
from dpaudit.language import Applied, Distribution, Draw, Mechanism
from dpaudit.language.distributions import DiscreteLaplace, Gaussian, Laplace, Mapped, Product, Real, Then
from dpaudit.language.distributions.real import rounded_noise
from dpaudit.language.relation import plain_records
from dpaudit.outputs.canonical import Output, canonical
from dpaudit.outputs.form import form as form_of
from dpaudit.stats.enclosed import PRECISION, Roundings, is_enclosed, unwatched, watched, watching

DRAWS = 2_000
"""Most draws that are followed."""
PROBES = 4
"""Runs on numbers, on each dataset."""
_FAR = (0.0, 1.0, 30.0, 1e4)
"""Largest distance from the centre, in scales, of the numbers in each of these runs."""
_AGREE = 1e-9
"""Relative tolerance for rounding on the way to an output."""

Row: TypeAlias = tuple[dict[int, Fraction], Fraction]


@dataclass(frozen=True)
class Moved:
    """A draw of the same scale on both datasets.

    Args:
        kind: Laplace, Gaussian or DiscreteLaplace.
        gap: from its centre on D to its centre on D′; a whole number for DiscreteLaplace.
        scale: > 0, the standard deviation for Gaussian; an approximation if it is not a fraction.
        around: in that case, fractions that enclose the scale.
    """

    kind: type[Real]
    gap: Fraction
    scale: Fraction
    around: tuple[Fraction, Fraction] | None = None


@dataclass(frozen=True)
class Released:
    """All draws that the output reveals.

    Args:
        draws: the draws; discarded ones are not listed.
        line: (c, k on D, the centre on D), if the output is a single number c·draw + k.
        rounded: descriptions of the numbers that the program rounded to doubles.
    """

    draws: tuple[Moved, ...]
    line: tuple[Fraction, Fraction, Fraction] | None = None
    rounded: tuple[str, ...] = ()


def released(mechanism: Mechanism, left: object, right: object) -> Released:
    """The draws that a mechanism releases on two datasets.

    Args:
        mechanism: draws Laplace, Gaussian or DiscreteLaplace noise, and products of it, also in sub-mechanisms.
        left, right: the arguments of its `run`.

    Raises:
        NotEnumerableError: its program does more with its draws than release them, it draws something else, or its
            outputs distinguish the datasets regardless of noise; the message says which.
    """
    left, right = plain_records(left), plain_records(right)
    roundings = Roundings()
    try:
        with watching(roundings):
            exact_one = exact_mechanism(mechanism, roundings)
            datasets = [exact_dataset(dataset, roundings) for dataset in (left, right)]
            result = _released(exact_one, *datasets)
    except TimeLimitError:
        raise
    except Exception as error:
        # perhaps the program does not run on exact numbers
        result = _released(mechanism, left, right)
        roundings.note(f"all of its numbers, because the program could not be analysed with exact ones ({error})")
    return replace(result, rounded=tuple(roundings.notes))


def _released(mechanism: Mechanism, left: object, right: object) -> Released:
    a, b = (_read(mechanism, dataset) for dataset in (left, right))
    name = mechanism.name
    if (a.frame, a.kinds) != (b.frame, b.kinds) or [row[0] for row in a.rows] != [row[0] for row in b.rows]:
        raise NotEnumerableError(f"The outputs of {name} do not depend on its draws in the same way on both datasets.")
    if [type(draw) for draw in a.draws] != [type(draw) for draw in b.draws]:
        raise NotEnumerableError(f"{name} draws different noise on the two datasets.")
    shifts = _solved(
        [(row[0], other[1] - row[1]) for row, other in zip(a.rows, b.rows, strict=True)], name
    )
    moved = []
    for at, shift in shifts.items():
        centre, other = _centre(a.draws[at]), _centre(b.draws[at])
        if _scale_of(a.draws[at]) != _scale_of(b.draws[at]):
            raise NotEnumerableError(f"Draw {at + 1} of {name} has different scales on the two datasets.")
        kind, gap = type(a.draws[at]), other + shift - centre
        if kind is DiscreteLaplace and gap.denominator != 1:
            raise NotEnumerableError(_DISTINGUISHED.format(name))
        moved.append(Moved(kind, gap, *_scale(a.draws[at])))
    line = None
    if a.lone and len(shifts) == 1:
        (parts, constant), = a.rows
        ((at, c),) = parts.items()
        line = (c, constant, _centre(a.draws[at]))
    return Released(tuple(moved), line)


_DISTINGUISHED = (
    "The outputs of {} on the two datasets differ for every value of its noise: the privacy loss is infinite."
)


@dataclass
class _Reading:
    """The draws that a program requested, and its output.

    Args:
        draws: the draws in order.
        rows: every number of the output, as coefficients of draws and a constant.
        frame: the output without its numbers.
        kinds: for each constant, whether it is a whole number, the sign of a zero, and its type.
        lone: whether the output is a single bare number.
    """

    draws: list[Real] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    frame: object = None
    kinds: list[object] = field(default_factory=list)
    lone: bool = False


def _read(mechanism: Mechanism, dataset: object) -> _Reading:
    """Run a program on forms, and compare the result with runs on numbers."""
    watch = Watch(mechanism)
    notebook = Notebook()
    reading = _Reading()

    def form(draw: Real) -> Form:
        reading.draws.append(draw)
        return Form({len(reading.draws) - 1: Fraction(1)}, Fraction(0), notebook)

    try:
        output = _output(mechanism, dataset, _Walk(form, mechanism.name))
        reading.lone = is_form(output)
        reading.frame = _frame(output, reading.rows, reading.kinds)
    except TimeLimitError:
        raise
    except DpauditError as error:
        if not notebook.offences:
            if isinstance(error, MechanismError):
                raise NotEnumerableError(f"{mechanism.name} does not run on symbolic draws.") from None
            raise
    if notebook.offences:
        raise NotEnumerableError(
            f"{mechanism.name} {notebook.offences[0]}; only draws that are released, moved or scaled are followed."
        )
    rng = default_rng(0)
    for far in _FAR:
        # here numbers of many digits are combined with its parameters; these are not roundings of the program
        with unwatched() if watched() is None else watching(Roundings()):
            _probe(mechanism, dataset, reading, rng, far)
    watch.close()
    return reading


def _probe(mechanism: Mechanism, dataset: object, reading: _Reading, rng: Generator, far: float) -> None:
    """Compare a reading with one run on numbers."""
    asked: list[Real] = []
    values: list[Fraction] = []

    def number(draw: Real) -> float | int:
        (value,) = rounded_noise(draw).draw(rng, 1).tolist()
        scale = _scale(draw)[0]
        if type(draw) is DiscreteLaplace:
            value += round(far * float(scale) * rng.uniform(-1, 1))
        else:
            value += far * float(scale) * rng.uniform(-1, 1)
        if not math.isfinite(value):
            raise NotEnumerableError(f"The noise of {mechanism.name} is too large: {draw!r}.")
        asked.append(draw)
        values.append(Fraction(value))
        return value  # type: ignore[no-any-return]  # a plain number, as the sampler sends it

    rows: list[Row] = []
    try:
        output = _output(mechanism, dataset, _Walk(number, mechanism.name))
        frame = _frame(output, rows, [])
    except TimeLimitError:
        raise
    except DpauditError as error:
        raise NotEnumerableError(f"{mechanism.name} failed on some numbers in place of its draws.") from error
    if asked != reading.draws or frame != reading.frame or len(rows) != len(reading.rows):
        raise NotEnumerableError(
            f"{mechanism.name} requests different draws, or returns another shape, on numbers than on symbolic draws."
        )
    for (_, got), (parts, constant) in zip(rows, reading.rows, strict=True):
        terms = [c * values[at] for at, c in parts.items()]
        size = sum((abs(term) for term in terms), abs(constant))
        if abs(got - sum(terms, constant)) > _AGREE * max(size, Fraction(1)):
            raise NotEnumerableError(f"{mechanism.name} returns different values on numbers than on symbolic draws.")


@dataclass
class _Walk:
    """One run of a program and of its sub-mechanisms.

    Args:
        draw: returns the object that replaces a draw.
        name: the mechanism's name, for messages.
        taken: the number of draws so far.
    """

    draw: Callable[[Real], Output]
    name: str
    taken: int = 0

    def value(self, node: Draw) -> Output:
        """The value of a draw or an applied mechanism, in the form that the sampler would send."""
        if isinstance(node, Applied):
            return _as_sent(_output(node.mechanism, node.dataset, self))
        if isinstance(node, Real) and type(node) in (Laplace, Gaussian, DiscreteLaplace):
            self.taken += 1
            if self.taken > DRAWS:
                raise NotEnumerableError(f"{self.name} makes more than {DRAWS:,} draws, too many to be followed.")
            return self.draw(node)
        if type(node) is Product:
            return tuple(self.value(part) for part in node.parts)
        if type(node) is Mapped:
            return _as_sent(_called_by(self.name, node.function, self.value(node.base)))
        if type(node) is Then:
            return self.end(_called_by(self.name, node.continuation, self.value(node.base)))
        raise NotEnumerableError(
            f"{self.name} draws {in_short(node)}; only Laplace, Gaussian and discrete Laplace noise is followed."
        )

    def end(self, last: Output) -> Output:
        """The output from the end of a program: an output already, or one more draw."""
        return self.value(last) if not is_form(last) and isinstance(last, Distribution | Applied) else last


def _output(mechanism: Mechanism, dataset: object, walk: _Walk) -> Output:
    run = Run(mechanism, dataset)
    while not isinstance(run.node, Last):
        run.send(walk.value(run.node), ())
    refuse_failures(mechanism.name, [run.node.value])
    return walk.end(run.node.value)


def _called_by(name: str, function: Callable[[Output], Output], value: Output) -> Output:
    try:
        return function(value)
    except DpauditError:
        raise
    except Exception as error:
        raise MechanismError(f"{name} raised {type(error).__name__}: {error}") from error


def _as_sent(value: Output) -> Output:
    """Arrays and lists as tuples."""
    if is_form(value):
        return value
    if isinstance(value, np.ndarray):
        return _as_sent(value.tolist())
    return tuple(map(_as_sent, value)) if type(value) in (list, tuple) else value


def _frame(output: Output, rows: list[Row], kinds: list[object]) -> object:
    """An output without its numbers; they are appended to `rows` in order, and the kinds of constants to `kinds`."""
    if is_form(output):
        rows.append((output.parts, output.constant))
        return "number"
    if isinstance(output, np.ndarray):
        # an attacker sees the type of numbers that do not come from draws
        kinds.append("" if output.dtype.hasobject else form_of(output))
        return ("array", _frame(output.tolist(), rows, kinds))
    if type(output) in (list, tuple):
        return (type(output).__name__, *[_frame(part, rows, kinds) for part in output])
    if is_dataclass(output) and not isinstance(output, type):
        return (type(output), *[_frame(getattr(output, part.name), rows, kinds) for part in fields(output)])
    number = None if isinstance(output, bool | np.bool_) else exact(output)
    if number is not None:
        rows.append(({}, number))
        plain = canonical(output)
        sign = math.copysign(1, plain) if number == 0 and isinstance(plain, float) else 1.0
        kinds.append((isinstance(plain, int), sign, form_of(output)))
        return "number"
    return ("constant", canonical(output), form_of(output))


def _solved(rows: list[Row], name: str) -> dict[int, Fraction]:
    """The unique solution of A·m = k by elimination, over the draws that occur.

    Raises:
        NotEnumerableError: there is no solution, or more than one.
    """
    pivots: dict[int, Row] = {}
    holding: dict[int, set[int]] = {}  # draw → the pivots whose rows contain it
    for parts, constant in rows:
        left, rest = dict(parts), constant
        for at in [at for at in left if at in pivots]:
            left, rest = _without(left, rest, at, pivots[at])
        if not left:
            if rest:
                raise NotEnumerableError(_DISTINGUISHED.format(name))
            continue
        at, c = next(iter(left.items()))
        row = {i: v / c for i, v in left.items()}, rest / c
        for other in holding.pop(at, set()):
            pivots[other] = _without(*pivots[other], at, row)
            for i in row[0]:
                if i != at:
                    holding.setdefault(i, set()).add(other)
        pivots[at] = row
        for i in row[0]:
            if i != at:
                holding.setdefault(i, set()).add(at)
    occurring = {at for parts, _ in rows for at in parts}
    if len(pivots) < len(occurring):
        raise NotEnumerableError(
            f"The output of {name} does not reveal all of its draws, so their privacy loss would only be an upper "
            "bound on its own."
        )
    return {at: pivots[at][1] for at in sorted(pivots)}


def _without(parts: dict[int, Fraction], constant: Fraction, at: int, pivot: Row) -> Row:
    """A row minus the multiple of a pivot row that eliminates draw `at`."""
    c = parts.get(at)
    if c is None:
        return parts, constant
    cleared = dict(parts)
    for i, v in pivot[0].items():
        rest = cleared.get(i, Fraction(0)) - c * v
        if rest:
            cleared[i] = rest
        else:
            cleared.pop(i, None)
    return cleared, constant - c * pivot[1]


def _centre(draw: Real) -> Fraction:
    """The exact centre of a draw."""
    assert isinstance(draw, Gaussian | Laplace | DiscreteLaplace)
    centre = exact(draw.mean if isinstance(draw, Gaussian) else draw.loc)
    if centre is None:
        raise NotEnumerableError(f"{draw!r} has a centre that is not a fraction.")
    return centre


def _scale_of(draw: Real) -> float | Fraction:
    assert isinstance(draw, Gaussian | Laplace | DiscreteLaplace)
    return draw.sigma if isinstance(draw, Gaussian) else draw.scale


def _scale(draw: Real) -> tuple[Fraction, tuple[Fraction, Fraction] | None]:
    """The scale of a draw; if it is not a fraction, an approximation and enclosing fractions."""
    scale = _scale_of(draw)
    fraction = exact(scale)
    if fraction is not None:
        return fraction, None
    if not is_enclosed(scale):
        raise NotEnumerableError(f"{draw!r} has a scale that is not a number.")
    with ctx.workprec(PRECISION):
        low, high = _fraction(scale.interval.lower()), _fraction(scale.interval.upper())
    return (low + high) / 2, (low, high)


def _fraction(point: arb) -> Fraction:
    """An end of an interval, which is a binary fraction."""
    mantissa, exponent = point.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
