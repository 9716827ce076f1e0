"""Functions of Python, numpy and the generator that are followed on symbols.

They are found by identity: a name that the program gives to something else is something else.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.proofs import postprocessing
from dpaudit.proofs.arrays import Array, Selected, array, convert, dot, join, kind_of, scalar
from dpaudit.proofs.exact import exactly
from dpaudit.proofs.forms import Cell, Condition, Form, is_symbolic
from dpaudit.proofs.functions import Atom, Curved, Piecewise, Table, curved, extreme, limited, rising
from dpaudit.proofs.interpreter import Interpreter
from dpaudit.proofs.paths import CannotMerge
from dpaudit.proofs.results import Unsupported
from dpaudit.proofs.values import (
    Answered,
    Library,
    Native,
    Random,
    Unseen,
    concrete,
    is_fixed,
    is_own,
    is_plain,
    is_truth,
    type_name,
)
from dpaudit.stats import enclosed

MOST_SORTED = 6
"""Numbers that depend on noise, beyond which they are not sorted."""
MOST_OPTIONS = 64
"""Values of a uniform draw of a whole number beyond which it is not followed."""
MOST_ITEMS = 100_000
"""Items of a range beyond which it is not followed."""
Handler = Callable[..., Any]


def known(callee: Any) -> Handler | None:
    """How a function is followed; None where it is not known."""
    # by identity: an object may say that it is equal to a function
    function, handler = _BY_ID.get(id(callee), (None, None))
    if function is not callee or handler is None:
        return None

    def checked(interpreter: Interpreter, *args: Any, **keywords: Any) -> Any:
        try:
            inspect.signature(handler).bind(interpreter, *args, **keywords)
        except TypeError:
            raise interpreter.refused(
                f"{getattr(callee, '__name__', callee)} is called with arguments that are not followed."
            ) from None
        return handler(interpreter, *args, **keywords)

    return checked


# --- Python ---


def _sum(interpreter: Interpreter, values: Any, start: Any = 0) -> Any:
    total = start
    # an empty sum is the whole number 0
    every = values.or_zero(0) if isinstance(values, Selected) else None
    for value in interpreter.iterate(values) if every is None else every:
        total = interpreter.operate(ast.Add, total, value)
    return total


def _fsum(interpreter: Interpreter, values: Any) -> Any:
    return _sum(interpreter, values, 0.0)


def _extreme(sign: int) -> Handler:
    def handler(interpreter: Interpreter, *values: Any, key: Any = None, default: Any = ...) -> Any:
        items: list[Any] = []
        keys = items if key is None else []
        for item in interpreter.iterate(values[0]) if len(values) == 1 else values:
            items.append(item)
            if key is not None:
                keys.append(interpreter.call(key, (item,), {}))
        if not items:
            if default is ...:
                raise interpreter.refused("The program raises ValueError: max or min of nothing.")
            return default
        if all(map(concrete, keys)):
            interpreter.only_plain(*keys)
            # Python's own comparison
            best = 0
            for index in range(1, len(keys)):
                better = interpreter.plainly(_greater if sign > 0 else _less, keys[index], keys[best])
                best = index if better else best
            return items[best]
        if any(map(is_truth, keys)):
            raise interpreter.refused("The largest or smallest of conditions is not followed.", "Use any or all.")
        if key is not None and all(map(is_fixed, items)) and (
            (place := _place_by_record(interpreter, keys, sign)) is not None
        ):
            return interpreter.looked_up(items, place)
        merged = _merged_extreme(interpreter, keys, sign) if key is None else None
        if merged is None and key is None and len(items) > 1:
            path, forms = interpreter.path, [interpreter.number(item).scaled(Fraction(sign)) for item in items]
            path.seen.maxima_at.add(interpreter.place)
            if interpreter.place in path.manner.whole_maxima:
                return path.maximum(forms, interpreter.place).scaled(Fraction(sign))
        return merged if merged is not None else items[_choose(interpreter, keys, sign)]

    return handler


def _place_by_record(interpreter: Interpreter, keys: list[Any], sign: int) -> Form | None:
    """The first place of the largest (or smallest) of numbers that depend on one record; None for other numbers."""
    forms = [interpreter.number(each) for each in keys]
    records = {index for form in forms for index in form.records}
    if len(records) != 1 or any(form.has_noise for form in forms):
        return None
    place, best = Form(is_int=True), forms[0]
    try:
        for index, form in enumerate(forms[1:], 1):
            better = interpreter.compare(form, ">" if sign > 0 else "<", best)
            if isinstance(better, Cell):
                place = interpreter.where(better, index, place)
                best = interpreter.number(interpreter.where(better, form, best))
            elif interpreter.truth(better):
                place, best = Form(Fraction(index), is_int=True), form
    except CannotMerge:
        return None
    return place


def _greater(x: Any, y: Any) -> bool:
    return bool(x > y)


def _less(x: Any, y: Any) -> bool:
    return bool(x < y)


def _clipped(interpreter: Interpreter, one: Any, other: Any, sign: int) -> Form | None:
    """The larger (or smaller) of a constant and a number of one record that is not linear; None for other numbers.

    Where noise in it counts as released, it is a function of the record alone, of which the bound is known.
    """
    values = [each for each in (one, other) if isinstance(each, Form) and (each.has_data or each.has_noise)]
    bounds = [each for each in (one, other) if is_plain(each) and isinstance(each, int | float) and not is_truth(each)]
    if len(values) != 1 or len(bounds) != 1:
        return None
    (value,), (bound,), path = values, bounds, interpreter.path
    # max(x, 0) is an int or a float
    mixed = value.is_mixed or (value.is_int != isinstance(bound, int | np.integer))
    if not value.has_noise:
        single = value.single()
        if single is None or not isinstance(single[1], Curved):
            return None
        return Form(records={single[0]: extreme(sign, single[1], exactly(bound))}, is_mixed=mixed)
    rest = value.beside_noise()
    single = rest.single()
    if not value.noisy or rest.has_noise or single is None or isinstance(single[1], Table) or interpreter.of_stream:
        return None
    path.seen.clips = True
    if not path.manner.clipping or not all(postprocessing.is_released(interpreter, part) for part, _ in value.noisy):
        return None
    key = (
        sign, exactly(bound), single[1].key(),
        tuple((path.name_released(part, interpreter.place), factor) for part, factor in value.noisy),
    )
    atom, like = Atom(key, *limited(sign, (None, None), exactly(bound)), None), single[1]
    if not isinstance(like, Piecewise | Curved):
        return None
    return Form(records={single[0]: curved(atom, like)}, is_mixed=mixed)


def _merged_extreme(interpreter: Interpreter, values: list[Any], sign: int) -> Any:
    """The largest (or smallest) of numbers that depend on one record, as one number; None where this is none."""
    if len(values) == 2 and (found := _clipped(interpreter, values[0], values[1], sign)) is not None:
        return found
    best = interpreter.number(values[0])
    if interpreter.path.is_noisy(best):
        return None
    for value in values[1:]:
        other = interpreter.number(value)
        if interpreter.path.is_noisy(other):
            return None
        better = interpreter.compare(other, ">" if sign > 0 else "<", best)
        if isinstance(better, bool):
            best = other if better else best
        elif isinstance(better, Cell):
            best = interpreter.number(interpreter.where(better, other, best))
        else:
            return _of_several_records(interpreter, values, sign)
    return best


def _of_several_records(interpreter: Interpreter, values: list[Any], sign: int) -> Form:
    """The largest (or smallest) of numbers that depend on several records, as one number."""
    forms = [interpreter.number(value).scaled(Fraction(sign)) for value in values]
    return interpreter.path.maximum(forms, interpreter.place).scaled(Fraction(sign))


def _choose(interpreter: Interpreter, values: list[Any], sign: int, last: bool = False) -> int:
    """The place of the first largest (or smallest) of some numbers: one path for each."""
    forms = [interpreter.number(value).scaled(Fraction(sign)) for value in values]
    candidates = []
    for index, form in enumerate(forms):
        beaten = False
        for other, rival in enumerate(forms):
            if other == index or rival.draws != form.draws:
                # noise is between them
                continue
            gap = rival.plus(form, Fraction(-1))
            if not gap.has_data:
                beaten = beaten or gap.constant > 0 or (gap.constant == 0 and other < index)
        if not beaten:
            candidates.append(index)
    chosen = candidates[interpreter.path.choose(len(candidates))] if len(candidates) > 1 else candidates[0]
    for other in candidates:
        if other != chosen:
            gap = forms[chosen].plus(forms[other], Fraction(-1))
            interpreter.path.assume(gap, interpreter.place, strict=other < chosen)
    return chosen


def _sorted(interpreter: Interpreter, values: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
    items = list(interpreter.iterate(values))
    keys = items if key is None else [interpreter.call(key, (item,), {}) for item in items]
    if not concrete(reverse):
        raise interpreter.refused("The order of sorting depends on the data or on noise.")
    if all(map(concrete, keys)):
        interpreter.only_plain(*keys)
        order = interpreter.plainly(lambda: sorted(range(len(items)), key=lambda index: keys[index], reverse=reverse))
    else:
        order = _order(interpreter, keys, -1 if not reverse else 1)
    return interpreter.own([items[index] for index in order])  # type: ignore[no-any-return]


def _order(interpreter: Interpreter, keys: list[Any], sign: int) -> list[int]:
    if len(keys) > MOST_SORTED:
        raise interpreter.refused(f"More than {MOST_SORTED} numbers that depend on the data or on noise are sorted.")
    left, order = list(range(len(keys))), []
    while len(left) > 1:
        first = left[_choose(interpreter, [keys[index] for index in left], sign)]
        order.append(first)
        left.remove(first)
    return order + left


def _abs(interpreter: Interpreter, value: Any) -> Any:
    if isinstance(value, Array | np.ndarray):
        return Array.each(interpreter, lambda each: _abs(interpreter, each), value)
    if is_truth(value):
        raise interpreter.refused("abs of a condition is not the same in Python and in numpy.", "Write int(...).")
    if not is_symbolic(value):
        interpreter.only_plain(value)
        return interpreter.plainly(abs, value)
    sign = interpreter.compare(value, ">=", 0)
    negative = interpreter.binary(ast.Mult, -1, value)
    if isinstance(sign, Cell):
        return interpreter.where(sign, value, negative)
    if isinstance(sign, Condition) and isinstance(value, Form) and not value.has_noise and not interpreter.of_stream:
        # of several records: a branch on it would be one on data without noise
        return _of_several_records(interpreter, [value, negative], 1)
    return value if interpreter.truth(sign) else negative


def _math_fabs(interpreter: Interpreter, value: Any) -> Any:
    return _float(interpreter, _abs(interpreter, value))


def _len(interpreter: Interpreter, value: Any) -> Any:
    return interpreter.length(value)


def _range(interpreter: Interpreter, *bounds: Any) -> Any:
    bounds = tuple(map(interpreter.plain, bounds))
    if len(bounds) == 1 and is_own(bounds[0], "__dpaudit_range__"):
        return bounds[0].__dpaudit_range__(interpreter)
    if not all(map(concrete, bounds)):
        raise interpreter.refused("A range depends on the data or on noise.")
    interpreter.only_plain(*bounds)
    made = interpreter.plainly(range, *bounds)
    if len(made[:MOST_ITEMS + 1]) > MOST_ITEMS:
        raise interpreter.refused(f"A range has more than {MOST_ITEMS:,} numbers.")
    return made


def _enumerate(interpreter: Interpreter, values: Any, start: Any = 0) -> Any:
    if is_own(values, "__dpaudit_enumerate__"):
        return values.__dpaudit_enumerate__(interpreter, start)
    interpreter.only_plain(start)
    return enumerate(interpreter.iterate(values), start)


def _zip(interpreter: Interpreter, *values: Any, strict: bool = False) -> Iterator[Any]:
    iterators = [iter(interpreter.iterate(value)) for value in values]
    if not strict:
        return zip(*iterators, strict=False)

    def turns() -> Iterator[Any]:
        try:
            yield from zip(*iterators, strict=strict)
        except ValueError:
            raise interpreter.refused("The program raises ValueError: zip of other lengths.") from None

    return turns()


def _list(interpreter: Interpreter, values: Any = ()) -> Any:
    return interpreter.own(list(interpreter.iterate(values)))


def _tuple(interpreter: Interpreter, values: Any = ()) -> Any:
    if is_own(values, "__dpaudit_released__"):
        return values
    return tuple(interpreter.iterate(values))


def _dict(interpreter: Interpreter, values: Any = (), /, **named: Any) -> Any:
    if isinstance(values, dict):
        return interpreter.own({**values, **named})
    made: dict[Any, Any] = {}
    for pair in interpreter.iterate(values):
        key, value = interpreter.iterate(pair)
        made[interpreter.hashable(key)] = value
    return interpreter.own({**made, **named})


def _frozenset(interpreter: Interpreter, values: Any = ()) -> Any:
    return frozenset(interpreter.hashable(each) for each in interpreter.iterate(values))


def _set(interpreter: Interpreter, values: Any = ()) -> Any:
    return interpreter.own({interpreter.hashable(value) for value in interpreter.iterate(values)})


def _float(interpreter: Interpreter, value: Any = 0.0) -> Any:
    if isinstance(value, Array):
        value = _item(interpreter, value)
    if is_symbolic(value):
        return interpreter.number(value).typed()
    if not is_plain(value):
        raise interpreter.refused(f"A value of type {type_name(value)} is made a float.")
    return interpreter.plainly(float, value)


def _int(interpreter: Interpreter, value: Any = 0) -> Any:
    if isinstance(value, Array):
        value = _item(interpreter, value)
    if is_symbolic(value):
        return truncated(interpreter, value)
    if not is_plain(value):
        raise interpreter.refused(f"A value of type {type_name(value)} is made an int.")
    return interpreter.plainly(int, value)


def _numpy_scalar(handler: Handler, kind: type) -> Handler:
    def of_scalars(interpreter: Interpreter, value: Any) -> Any:
        if isinstance(value, Array | np.ndarray | list | tuple | str):
            raise interpreter.refused("np.float64 or np.int64 of something that is no number is not followed.")
        made = handler(interpreter, value)
        return interpreter.plainly(kind, made) if isinstance(made, int | float) else made

    return of_scalars


def truncated(interpreter: Interpreter, value: Any) -> Any:
    """int(value)."""
    try:
        whole = _truncated(interpreter, value)
    except Unsupported as refusal:
        if not postprocessing.depends_on_noise(value):
            raise
        try:
            return postprocessing.called(interpreter, int, (value,), {})
        except Unsupported:
            raise refusal from None
    return whole.typed(is_int=True) if isinstance(whole, Form) else whole


def _truncated(interpreter: Interpreter, value: Any) -> Any:
    if not is_symbolic(value):
        return interpreter.plainly(int, value)
    if isinstance(value, Cell) and isinstance(value.function, Table):
        return interpreter.cell(value, interpreter._each(value, None, lambda x, _: int(x), swapped=False))
    form = interpreter.number(value)
    if interpreter.is_whole(form):
        return form
    low, high = (None, None) if form.has_noise else form.extremes()
    if low is not None and low >= 0:
        return interpreter.floor(form)
    negated = form.scaled(Fraction(-1))
    if high is not None and high <= 0:
        return interpreter.binary(ast.Mult, -1, interpreter.floor(negated))
    positive = interpreter.compare(form, ">=", 0)
    if not isinstance(positive, Cell):
        raise interpreter.refused("A sum of several records, or noise, is rounded.", "Release it as it is.")
    return interpreter.where(
        positive, interpreter.floor(form), interpreter.binary(ast.Mult, -1, interpreter.floor(negated))
    )


def _bool(interpreter: Interpreter, value: Any = False) -> Any:
    if isinstance(value, Array):
        value = _item(interpreter, value)
    if isinstance(value, Condition) or (isinstance(value, Cell) and value.is_condition):
        return value
    if is_symbolic(value):
        return interpreter.compare(value, "!=", 0)
    return interpreter.truth(value)


def _round(interpreter: Interpreter, value: Any, digits: Any = None) -> Any:
    if not concrete(value) or not concrete(digits):
        raise interpreter.refused("A number that depends on the data or on noise is rounded.", "Release it as it is.")
    interpreter.only_plain(value, digits)
    if digits is not None and not isinstance(value, int):
        raise interpreter.refused("round to digits is not the same in Python and in numpy.", "Release it as it is.")
    return interpreter.plainly(round, value, digits)


def _any(interpreter: Interpreter, values: Any) -> Any:
    return any(interpreter.truth(value) for value in interpreter.iterate(values))


def _all(interpreter: Interpreter, values: Any) -> Any:
    return all(interpreter.truth(value) for value in interpreter.iterate(values))


def _reversed(interpreter: Interpreter, values: Any) -> Any:
    if type(values) not in (list, tuple, range, str):
        raise interpreter.refused("reversed of this value is not followed.")
    return reversed(values)


def _map(interpreter: Interpreter, function: Any, *values: Any) -> Any:
    iterators = [iter(interpreter.iterate(value)) for value in values]
    return map(lambda *parts: interpreter.call(function, parts, {}), *iterators)


def _filter(interpreter: Interpreter, function: Any, values: Any) -> Any:
    return filter(
        lambda value: interpreter.truth(value if function is None else interpreter.call(function, (value,), {})),
        iter(interpreter.iterate(values)),
    )


def _next(interpreter: Interpreter, values: Any, default: Any = ...) -> Any:
    interpreter.advancing(values)
    if not isinstance(values, Iterator):
        raise interpreter.refused("next of this value is not followed.")
    for value in values:
        return value
    if default is ...:
        raise interpreter.refused("The program raises StopIteration.")
    return default


def _iter(interpreter: Interpreter, values: Any) -> Any:
    return iter(interpreter.iterate(values))


def _isinstance(interpreter: Interpreter, value: Any, kinds: Any) -> bool:
    if isinstance(value, Unseen):
        raise value.refused(interpreter)
    if not concrete(value) and not isinstance(value, list | tuple | dict | set):
        raise interpreter.refused("The type of a number that depends on the data or on noise is asked for.",
                           "Let all records have one type.")
    if isinstance(value, bool | int | float | np.generic):
        raise interpreter.refused("The type of a number is not the same in Python and in numpy.")
    types = kinds if isinstance(kinds, tuple) else (kinds,)
    if not all(type(kind) is type for kind in types):
        raise interpreter.refused("isinstance of this class is not followed.")
    return isinstance(value, types)


def _print(interpreter: Interpreter, *values: Any, **keywords: Any) -> None:
    raise interpreter.refused("The program prints.", "Remove the print.")


_RISING = (
    math.exp, math.expm1, math.log, math.log2, math.log10, math.log1p, math.sqrt,
)
"""Functions of a record on an interval that are bounded by their values at its ends."""


def _plain(function: Callable[..., Any]) -> Handler:
    def handler(interpreter: Interpreter, *values: Any, **keywords: Any) -> Any:
        if function in _RISING and len(values) == 1 and not keywords and isinstance(values[0], Form):
            single = values[0].single()
            if single is not None and not isinstance(single[1], Table):
                return Form(records={single[0]: rising(function.__name__, function, single[1])})
        if function not in (str, repr):
            values = tuple(map(interpreter.plain, values))
        elif not all(isinstance(value, str) or (function is str and type(value) is int) for value in values):
            raise interpreter.refused("A number or a container is made a string.", "Release it as it is.")
        if len(values) == 1 and isinstance(values[0], Cell) and isinstance(values[0].function, Table) and not keywords:
            return interpreter.cell(
                values[0], interpreter._each(values[0], None, lambda x, _: function(x), swapped=False)
            )
        if not all(is_plain(value) and concrete(value) for value in (*values, *keywords.values())):
            raise interpreter.refused(
                f"{function.__name__} of a number that depends on the data or on noise is not linear.",
                "Give a finite domain of records.",
            )
        return interpreter.plainly(function, *values, **keywords)

    return handler


def _np_plain(function: Callable[..., Any]) -> Handler:
    plain = _plain(function)

    def handler(interpreter: Interpreter, value: Any) -> Any:
        if isinstance(value, Array | np.ndarray):
            return Array.each(interpreter, lambda each: handler(interpreter, each), value, kind="float")
        if is_truth(value):
            raise interpreter.refused("numpy computes a function of a condition with 16 bits.", "Write float(...).")
        return plain(interpreter, value)

    return handler


def _math_floor(interpreter: Interpreter, value: Any) -> Any:
    if not is_symbolic(value):
        interpreter.only_plain(value)
        return interpreter.plainly(math.floor, value)
    return _as_int(interpreter.floor(interpreter.number(value)))


def _as_int(value: Any) -> Any:
    return value.typed(is_int=True) if isinstance(value, Form) else value


def _math_ceil(interpreter: Interpreter, value: Any) -> Any:
    if not is_symbolic(value):
        interpreter.only_plain(value)
        return interpreter.plainly(math.ceil, value)
    return interpreter.binary(
        ast.Mult, -1, _as_int(interpreter.floor(interpreter.number(value).scaled(Fraction(-1))))
    )


def _chain(interpreter: Interpreter, *values: Any) -> Any:
    return itertools.chain(*(interpreter.iterate(value) for value in values))


def _pairwise(interpreter: Interpreter, values: Any) -> Any:
    return itertools.pairwise(interpreter.iterate(values))


def _accumulate(interpreter: Interpreter, values: Any) -> Any:
    return itertools.accumulate(iter(interpreter.iterate(values)), lambda x, y: interpreter.operate(ast.Add, x, y))


def _islice(interpreter: Interpreter, values: Any, *bounds: Any) -> Any:
    if not all(each is None or isinstance(each, int) for each in bounds):
        raise interpreter.refused("The bounds of islice depend on the data or on noise.")
    return interpreter.plainly(itertools.islice, interpreter.iterate(values), *bounds)


def _itertool(function: Callable[..., Any]) -> Handler:
    def handler(interpreter: Interpreter, *values: Any) -> Any:
        return interpreter.plainly(
            function, *(each if isinstance(each, int) else list(interpreter.iterate(each)) for each in values)
        )

    return handler


# --- numpy ---

_DTYPES: dict[Any, str] = {
    float: "float", int: "int", bool: "bool", np.float64: "float", np.int64: "int", np.bool_: "bool",
    "float": "float", "int": "int", "bool": "bool", "float64": "float", "int64": "int",
}


def _kind(interpreter: Interpreter, dtype: Any) -> str | None:
    if dtype is None:
        return None
    for known_type, kind in _DTYPES.items():
        if dtype is known_type or (isinstance(dtype, str) and dtype == known_type):
            return kind
    raise interpreter.refused("This dtype is not followed.", "Use float, int or bool.")


def _np_array(interpreter: Interpreter, value: Any, dtype: Any = None) -> Array:
    kind = _kind(interpreter, dtype)
    if isinstance(value, Answered):
        value = list(value.numbers)
    if not isinstance(value, Array | np.ndarray | list | tuple | range) and not is_symbolic(value) and hasattr(
        value, "__iter__"
    ):
        raise interpreter.refused(f"An array of a {type_name(value)} is not followed.", "Make it a list first.")
    return array(interpreter, value, kind)


def _np_asarray(interpreter: Interpreter, value: Any, dtype: Any = None) -> Array:
    kind = _kind(interpreter, dtype)
    if isinstance(value, Array) and value.kind == "unknown" and kind is not None:
        raise interpreter.refused("np.asarray gives the array itself or a copy, by the type of its numbers.",
                                  "Use np.array, which copies.")
    if isinstance(value, Array) and kind in (None, value.kind):
        return value
    if isinstance(value, np.ndarray):
        mine = Array.of(interpreter, value)
        if kind in (None, mine.kind):
            return mine
    return _np_array(interpreter, value, dtype)


def _shape(interpreter: Interpreter, shape: Any) -> tuple[int, ...]:
    shape = interpreter.plain(shape)
    parts = tuple(map(interpreter.plain, shape)) if isinstance(shape, tuple | list) else (shape,)
    if not all(isinstance(part, int | np.integer) and not isinstance(part, bool) and part >= 0 for part in parts):
        raise interpreter.refused("The shape of an array depends on the data or on noise, or is no whole number.")
    if math.prod(parts) > 20_000:
        raise interpreter.refused("An array has more than 20,000 elements.")
    return tuple(int(part) for part in parts)


def _full(value: Any) -> Handler:
    def handler(interpreter: Interpreter, shape: Any, dtype: Any = float) -> Array:
        kind = _kind(interpreter, dtype) or "float"
        made = np.empty(_shape(interpreter, shape), dtype=object)
        made.fill({"float": float, "int": int, "bool": bool}[kind](value))
        return Array(made, kind)

    return handler


def _np_full(interpreter: Interpreter, shape: Any, fill_value: Any, dtype: Any = None) -> Array:
    made = np.empty(_shape(interpreter, shape), dtype=object)
    made.fill(fill_value)
    kind = kind_of(interpreter, fill_value)
    return convert(interpreter, Array(made, kind), _kind(interpreter, dtype))


def _like(value: Any) -> Handler:
    def handler(interpreter: Interpreter, like: Any, dtype: Any = None) -> Array:
        mine = Array.of(interpreter, like)
        kind = _kind(interpreter, dtype) or mine.kind
        made = np.empty(mine.values.shape, dtype=object)
        made.fill({"float": float, "int": int, "bool": bool, "unknown": int}[kind](value))
        return Array(made, kind)

    return handler


def _evaluated(function: Callable[..., Any]) -> Handler:
    """A function of numpy without symbols."""
    def handler(interpreter: Interpreter, *values: Any, **keywords: Any) -> Any:
        values = tuple(map(interpreter.plain, values))
        if not all(is_plain(value) and concrete(value) for value in (*values, *keywords.values())):
            raise interpreter.refused(f"np.{function.__name__} of numbers that depend on the data or on noise.")
        if any(isinstance(value, int | float) and abs(value) > MOST_ITEMS for value in values):
            raise interpreter.refused(f"np.{function.__name__} of numbers above {MOST_ITEMS:,}.")
        if function is np.arange and len(values) > 2 and abs(values[1] - values[0]) > MOST_ITEMS * abs(values[2]):
            raise interpreter.refused(f"np.arange of more than {MOST_ITEMS:,} numbers.")
        result = interpreter.plainly(function, *values, **keywords)
        return array(interpreter, result) if isinstance(result, np.ndarray) else result.item() if isinstance(
            result, np.generic
        ) else result

    return handler


def _reduction(function: Callable[[Interpreter, list[Any]], Any], kind: Callable[[str], str]) -> Handler:
    def handler(interpreter: Interpreter, value: Any, axis: Any = None) -> Any:
        mine = Array.of(interpreter, value)
        made = kind(mine.kind)

        def one(parts: list[Any]) -> Any:
            result = function(interpreter, parts)
            return float(result) if type(result) is int and made == "float" else result

        if isinstance(mine, Selected) and axis is None and function in (_total, _np_count_nonzero):
            every = mine.or_zero(0.0 if mine.kind == "float" else 0)
            if every is not None:
                return scalar(one(every), made)
        return mine.reduced(interpreter, one, axis, made)

    return handler


def _total(interpreter: Interpreter, parts: list[Any]) -> Any:
    total: Any = 0
    for part in parts:
        total = interpreter.binary(ast.Add, total, part)
    return total


def _np_mean(interpreter: Interpreter, value: Any, axis: Any = None) -> Any:
    def average(parts: list[Any]) -> Any:
        if not parts:
            raise interpreter.refused("The mean of nothing.")
        return interpreter.binary(ast.Div, _total(interpreter, parts), len(parts))

    return Array.of(interpreter, value).reduced(interpreter, average, axis, "float")


def _largest(sign: int) -> Callable[[Interpreter, list[Any]], Any]:
    return lambda interpreter, parts: _extreme(sign)(interpreter, parts)


def _np_arg(sign: int) -> Handler:
    def handler(interpreter: Interpreter, value: Any, axis: Any = None) -> Any:
        mine = Array.of(interpreter, value)

        def place(parts: list[Any]) -> int | Form:
            if not parts:
                raise interpreter.refused("The place of the largest of nothing.")
            if (by_record := _place_by_record(interpreter, parts, sign)) is not None:
                return by_record
            return _choose(interpreter, parts, sign)

        return mine.reduced(interpreter, place, axis, "int")

    return handler


def _np_clip(interpreter: Interpreter, value: Any, *bounds: Any, **named: Any) -> Any:
    low, high = postprocessing.clip_bounds(interpreter, bounds, named)
    if low is None and high is None:
        raise interpreter.refused("np.clip without bounds is not followed.")
    # numpy's order: a value above both bounds is the upper one
    result = value if low is None else _np_maximum(interpreter, value, low)
    return result if high is None else _np_minimum(interpreter, result, high)


def _np_norm(interpreter: Interpreter, value: Any, ord: Any = None) -> Any:
    mine = Array.of(interpreter, value)
    if mine.values.ndim != 1 or type(ord) is not int or ord != 1:
        raise interpreter.refused("Only the norm of a vector with ord=1 is followed.", "Write it with np.sqrt and sum.")
    return scalar(_total(interpreter, [_abs(interpreter, each) for each in mine.values]), "float")


def _elementwise_extreme(sign: int) -> Handler:
    def one(interpreter: Interpreter, x: Any, y: Any) -> Any:
        if is_truth(x) or is_truth(y):
            raise interpreter.refused("The largest or smallest of conditions is not followed.", "Use np.any or np.all.")
        if not is_symbolic(x) and not is_symbolic(y):
            return interpreter.plainly(max if sign > 0 else min, x, y)
        if (found := _clipped(interpreter, x, y, sign)) is not None:
            return found
        larger = interpreter.compare(x, ">=" if sign > 0 else "<=", y)
        if isinstance(larger, Cell):
            return interpreter.number(interpreter.where(larger, interpreter.number(x), interpreter.number(y)))
        if isinstance(larger, Condition) and not interpreter.path.is_noisy(larger.form):
            return _of_several_records(interpreter, [x, y], sign)
        return x if interpreter.truth(larger) else y

    return one


def _np_maximum(interpreter: Interpreter, left: Any, right: Any) -> Any:
    return _with_kinds(interpreter, lambda x, y: _elementwise_extreme(1)(interpreter, x, y), left, right)


def _np_minimum(interpreter: Interpreter, left: Any, right: Any) -> Any:
    return _with_kinds(interpreter, lambda x, y: _elementwise_extreme(-1)(interpreter, x, y), left, right)


def _joined_kind(interpreter: Interpreter, *values: Any) -> str:
    """numpy's kind of what holds all of these values."""
    return join(
        Array.of(interpreter, value).kind if isinstance(value, Array | np.ndarray | list | tuple)
        else kind_of(interpreter, value) for value in values
    )


def _with_kinds(interpreter: Interpreter, function: Callable[..., Any], *values: Any) -> Any:
    """A function that gives one of its arguments: numpy's kind of the result is that of all of them."""
    return Array.each(interpreter, function, *values, kind=_joined_kind(interpreter, *values))


def _np_where(interpreter: Interpreter, condition: Any, yes: Any, no: Any) -> Any:
    def one(test: Any, x: Any, y: Any) -> Any:
        if isinstance(test, Cell) and test.is_condition:
            try:
                return interpreter.where(test, x, y)
            except CannotMerge:
                pass
        return x if interpreter.truth(test) else y

    arrays = [each for each in (condition, yes, no) if isinstance(each, Array | np.ndarray | list | tuple)]
    if not any(Array.of(interpreter, each).values.ndim for each in arrays):
        raise interpreter.refused(
            "np.where of numbers makes an array of no dimension.", "Write `a if condition else b`."
        )
    return Array.each(interpreter, one, condition, yes, no, kind=_joined_kind(interpreter, yes, no))


def _np_cumsum(interpreter: Interpreter, value: Any) -> Array:
    mine = Array.of(interpreter, value)
    totals: list[Any] = []
    total: Any = 0
    for part in mine.values.ravel():
        total = interpreter.binary(ast.Add, total, part)
        totals.append(total)
    return Array(_column(totals), "int" if mine.kind == "bool" else mine.kind)


def _np_diff(interpreter: Interpreter, value: Any) -> Array:
    mine = Array.of(interpreter, value)
    if mine.values.ndim != 1 or mine.kind == "bool":
        raise interpreter.refused("np.diff of this array is not followed.")
    parts = list(mine.values)
    return Array(_column([interpreter.binary(ast.Sub, y, x) for x, y in itertools.pairwise(parts)]), mine.kind)


def _np_bincount(interpreter: Interpreter, value: Any, *, minlength: Any = 0) -> Array:
    mine = Array.of(interpreter, value)
    if mine.values.ndim != 1 or mine.kind not in ("int", "unknown"):
        raise interpreter.refused("np.bincount needs a vector of whole numbers.")
    parts = list(mine.values)
    length = interpreter.plain(minlength)
    if not isinstance(length, int):
        raise interpreter.refused("minlength depends on the data or on noise.")
    for part in parts:
        form = interpreter.number(part)
        if form.has_noise or form.is_mixed:
            raise interpreter.refused("np.bincount of noise, or of numbers that may be floats, is not followed.")
        low, high = form.extremes()
        if low is None or high is None or low < 0 or not interpreter.is_whole(form):
            raise interpreter.refused("np.bincount of numbers that may be below 0 or no whole numbers.")
        if high >= length and form.has_data:
            raise interpreter.refused(
                "The length of np.bincount depends on the data.", "Set minlength to the number of possible values."
            )
        length = max(length, int(high) + 1)
    counts: list[Any] = []
    for place in range(length):
        total: Any = 0
        for part in parts:
            total = interpreter.binary(ast.Add, total, _indicator(interpreter, interpreter.compare(part, "==", place)))
        counts.append(total)
    return Array(_column(counts), "int")


def _column(values: list[Any]) -> np.ndarray[Any, Any]:
    made = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        made[index] = value
    return made


def _indicator(interpreter: Interpreter, condition: Any) -> Any:
    if isinstance(condition, bool):
        return int(condition)
    if isinstance(condition, Cell):
        return condition.as_form()
    return int(interpreter.truth(condition))


def _np_histogram(interpreter: Interpreter, value: Any, bins: Any = 10, range: Any = None) -> Any:
    parts = list(Array.of(interpreter, value).values.ravel())
    bins = interpreter.plain(bins)
    if isinstance(bins, int) and not isinstance(bins, bool):
        if range is None or not concrete(range):
            raise interpreter.refused("The bins of np.histogram depend on the data.", "Give range=(low, high).")
        low_end, high_end = range
        if not low_end < high_end:
            raise interpreter.refused("The range of np.histogram is empty.")
        edges = interpreter.plainly(np.linspace, low_end, high_end, bins + 1).tolist()
    else:
        held = Array.of(interpreter, bins) if isinstance(bins, Array | np.ndarray | list | tuple) else None
        if held is None or any(map(is_symbolic, held.values.ravel())) or range is not None:
            raise interpreter.refused("The bins of np.histogram are not followed.")
        edges = list(held.values)
    if len(edges) < 2 or sorted(edges) != edges:
        raise interpreter.refused("The bins of np.histogram do not increase.")
    counts = []
    for index, (low, high) in enumerate(itertools.pairwise(edges)):
        total: Any = 0
        closed = index == len(edges) - 2
        for part in parts:
            above = _compare(interpreter, part, ">=", low)
            below = _compare(interpreter, part, "<=" if closed else "<", high)
            both = above and below if isinstance(above, bool) and isinstance(below, bool) else interpreter.bitwise(
                ast.BitAnd, above, below
            )
            total = interpreter.binary(ast.Add, total, _indicator(interpreter, both))
        counts.append(total)
    # an array of bins is returned as it is
    shown = Array.of(interpreter, bins) if isinstance(bins, Array | np.ndarray) else array(interpreter, edges)
    return Array(_column(counts), "int"), shown


def _compare(interpreter: Interpreter, left: Any, symbol: str, right: Any) -> Any:
    if not is_symbolic(left) and not is_symbolic(right):
        difference = exactly(left) - exactly(right)
        return {">=": difference >= 0, "<=": difference <= 0, "<": difference < 0, ">": difference > 0}[symbol]
    return interpreter.compare(left, symbol, right)


def _np_concatenate(interpreter: Interpreter, values: Any, axis: Any = 0) -> Array:
    parts = [Array.of(interpreter, value) for value in interpreter.iterate(values)]
    kinds = {part.kind for part in parts}
    if not parts or (len(kinds) > 1 and "bool" in kinds):
        raise interpreter.refused("np.concatenate of these arrays is not followed.")
    made = interpreter.plainly(np.concatenate, [part.values for part in parts], axis=axis)
    return convert(interpreter, Array(made, join(kinds)), None)


def _np_stack(interpreter: Interpreter, values: Any) -> Array:
    return array(interpreter, [Array.of(interpreter, value) for value in interpreter.iterate(values)])


def _np_any(interpreter: Interpreter, parts: list[Any]) -> bool:
    decided = [interpreter.truth(part) for part in parts]
    return any(decided)


def _np_all(interpreter: Interpreter, parts: list[Any]) -> bool:
    decided = [interpreter.truth(part) for part in parts]
    return all(decided)


def _np_count_nonzero(interpreter: Interpreter, parts: list[Any]) -> Any:
    total: Any = 0
    for part in parts:
        condition = part if isinstance(part, bool | Condition) or (
            isinstance(part, Cell) and part.is_condition
        ) else _compare_any(interpreter, part)
        total = interpreter.binary(ast.Add, total, _indicator(interpreter, condition))
    return total


def _compare_any(interpreter: Interpreter, part: Any) -> Any:
    return interpreter.compare(part, "!=", 0) if is_symbolic(part) else bool(part)


def _np_logical(operation: type[ast.operator]) -> Handler:
    def handler(interpreter: Interpreter, left: Any, right: Any) -> Any:
        def one(x: Any, y: Any) -> Any:
            return interpreter.bitwise(operation, _bool(interpreter, x), _bool(interpreter, y))

        return Array.each(interpreter, one, left, right, kind="bool")

    return handler


def _np_logical_not(interpreter: Interpreter, value: Any) -> Any:
    return Array.each(interpreter, lambda each: interpreter.unary(ast.Not(), each), value, kind="bool")


def _np_floor(interpreter: Interpreter, value: Any) -> Any:
    def one(each: Any) -> Any:
        floor = _math_floor(interpreter, each)
        return interpreter.number(floor).typed() if is_symbolic(each) else float(floor)

    kind = _joined_kind(interpreter, value)
    if kind not in ("float", "unknown"):
        raise interpreter.refused("np.floor of whole numbers is of another type in some versions of numpy.")
    return Array.each(interpreter, one, value, kind=kind)


def _np_operation(operation: type[ast.operator]) -> Handler:
    def handler(interpreter: Interpreter, left: Any, right: Any) -> Any:
        left, right = (
            Array.of(interpreter, each) if isinstance(each, list | tuple) else each for each in (left, right)
        )
        for each in (left, right):
            if not isinstance(each, Array | np.ndarray):
                kind_of(interpreter, each)
        return interpreter.operate(operation, left, right)

    return handler


def _np_square(interpreter: Interpreter, value: Any) -> Any:
    return _np_operation(ast.Mult)(interpreter, value, value)


def _np_sort(interpreter: Interpreter, value: Any) -> Array:
    mine = Array.of(interpreter, value)
    if mine.values.ndim != 1:
        raise interpreter.refused("np.sort of this array is not followed.")
    return Array(_column(_sorted(interpreter, list(mine.values))), mine.kind)


def _np_argsort(interpreter: Interpreter, value: Any) -> Array:
    mine = Array.of(interpreter, value)
    if mine.values.ndim != 1:
        raise interpreter.refused("np.argsort of this array is not followed.")
    forms = [interpreter.number(part) for part in mine.values]
    if any(interpreter.path.draws[index].is_whole for form in forms for index in form.draws) or any(
        not form.has_noise for form in forms
    ):
        raise interpreter.refused("np.argsort of numbers that may be equal is not followed.", "Use sorted.")
    return array(interpreter, _order(interpreter, list(mine.values), -1))


def _np_ravel(interpreter: Interpreter, value: Any) -> Array:
    mine = Array.of(interpreter, value)
    return Array(mine.values.ravel(), mine.kind, writable=False)


def _flatten(interpreter: Interpreter, value: Any) -> Array:
    mine = Array.of(interpreter, value)
    return Array(mine.values.flatten(), mine.kind)


def _reshape(interpreter: Interpreter, value: Array, *shape: Any) -> Array:
    parts = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    if not all(isinstance(part, int) for part in parts):
        raise interpreter.refused("This shape is not followed.")
    made = interpreter.plainly(value.values.reshape, tuple(parts))
    return Array(made, value.kind, writable=value.writable and np.shares_memory(made, value.values))


def _copy(interpreter: Interpreter, value: Any) -> Array:
    return Array.of(interpreter, value).copy()


def _astype(interpreter: Interpreter, value: Array, dtype: Any) -> Array:
    kind = _kind(interpreter, dtype)
    made = convert(interpreter, value, kind)
    return made.copy()


def _tolist(interpreter: Interpreter, value: Array) -> Any:
    if value.values.ndim == 0:
        return value.values[()]
    # Python's numbers, and not numpy's
    return interpreter.own([
        _tolist(interpreter, Array(part, value.kind)) if isinstance(part, np.ndarray) else part
        for part in value.values
    ])


def _item(interpreter: Interpreter, value: Array) -> Any:
    if value.values.size != 1:
        raise interpreter.refused("An array of several elements is made one number.")
    return value.values.ravel()[0]


def _fill(interpreter: Interpreter, value: Array, number: Any) -> None:
    value.store(interpreter, slice(None), number)


NUMPY_METHODS: dict[str, Handler] = {}
"""Methods of arrays, by name."""


# --- methods ---


def method(interpreter: Interpreter, value: Any, name: str) -> Any:
    """A method of a value, if it is one that is followed; None otherwise."""
    if isinstance(value, Random):
        draw = _RANDOM.get(name)
        if draw is None:
            raise interpreter.refused(f"The generator's method {name} is not followed.",
                               "Use laplace, normal, exponential, gumbel, geometric, random, integers or choice.")
        return Native(name, lambda *args, **keywords: draw(interpreter, *args, **keywords))
    if is_own(value, "__dpaudit_method__"):
        return value.__dpaudit_method__(interpreter, name)
    if type(value) is list:
        function = _LIST.get(name)
    elif type(value) is dict:
        function = _DICT.get(name)
    elif type(value) is tuple:
        function = _TUPLE.get(name)
    elif type(value) is set:
        function = _SET.get(name)
    elif type(value) in (str, int, float) and hasattr(value, name) and not name.startswith("_"):
        held = getattr(value, name)
        if callable(held):
            return Native(name, lambda *args: _on_plain(interpreter, held, args))
        return held
    elif isinstance(value, np.generic) and name == "item":
        return Native(name, lambda: value.item())
    else:
        return None
    if function is None:
        raise interpreter.refused(f"The method {name} of a {type_name(value)} is not followed.")
    return Native(name, lambda *args, **keywords: function(interpreter, value, *args, **keywords))


def _on_plain(interpreter: Interpreter, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    args = tuple(list(interpreter.iterate(each)) if isinstance(each, Iterator) else each for each in args)
    if not all(map(_is_text, args)):
        raise interpreter.refused(
            "A number that depends on the data or on noise is made a string.",
            "Release the number.",
        )
    return interpreter.plainly(function, *args)


def _is_text(value: Any) -> bool:
    """Whether a value is shown alike by Python and by numpy."""
    return all(map(_is_text, value)) if type(value) in (list, tuple) else type(value) in (str, int)


def _append(interpreter: Interpreter, values: list[Any], value: Any) -> None:
    interpreter.changing(values)
    values.append(value)


def _extend(interpreter: Interpreter, values: list[Any], more: Any) -> None:
    interpreter.extend(values, more)


def _insert(interpreter: Interpreter, values: list[Any], index: Any, value: Any) -> None:
    interpreter.changing(values)
    if not isinstance(index, int):
        raise interpreter.refused("A place that depends on the data or on noise is written to.")
    values.insert(index, value)


def _pop(interpreter: Interpreter, values: list[Any], index: Any = -1) -> Any:
    interpreter.changing(values)
    if not isinstance(index, int):
        raise interpreter.refused("An item is looked up by a number that depends on the data or on noise.")
    return interpreter.plainly(values.pop, index)


def _remove(interpreter: Interpreter, values: list[Any], value: Any) -> None:
    interpreter.changing(values)
    del values[_index(interpreter, values, value)]


def _clear(interpreter: Interpreter, values: list[Any]) -> None:
    interpreter.changing(values)
    values.clear()


def _reverse(interpreter: Interpreter, values: list[Any]) -> None:
    interpreter.changing(values)
    values.reverse()


def _list_copy(interpreter: Interpreter, values: list[Any]) -> Any:
    return interpreter.own(values.copy())


def _sort(interpreter: Interpreter, values: list[Any], *, key: Any = None, reverse: Any = False) -> None:
    interpreter.changing(values)
    items = list(values)
    values.clear()  # as it is while keys are computed
    ordered = _sorted(interpreter, items, key=key, reverse=reverse)
    if values:
        raise interpreter.refused("The program raises ValueError: a list is changed while it is sorted.")
    values[:] = ordered


def _index(interpreter: Interpreter, values: Any, value: Any) -> int:
    for place, each in enumerate(values):
        if each is value or interpreter.truth(interpreter.one_comparison(ast.Eq(), each, value)):
            return place
    raise interpreter.refused("The program raises ValueError: the item is not in the list.")


def _count(interpreter: Interpreter, values: Any, value: Any) -> Any:
    total: Any = 0
    for each in values:
        if each is value and not is_symbolic(each):
            total = interpreter.binary(ast.Add, total, 1)
            continue
        if not is_symbolic(each) and not is_symbolic(value):
            total = interpreter.binary(ast.Add, total, int(interpreter.one_comparison(ast.Eq(), each, value)))
            continue
        if isinstance(each, Form) and isinstance(value, str):
            continue  # a number is no string
        equal = interpreter.one_comparison(ast.Eq(), each, value)
        total = interpreter.binary(ast.Add, total, _indicator(interpreter, equal))
    return total


def _get(interpreter: Interpreter, values: dict[Any, Any], key: Any, default: Any = None) -> Any:
    if isinstance(key, Cell) and isinstance(key.function, Table) and concrete(values) and concrete(default):
        return interpreter.cell(
            key, interpreter._each(key, values, lambda x, table: table.get(x, default), swapped=False)
        )
    interpreter.only_fixed_keys(values)
    return values.get(interpreter.hashable(key), default)


def _setdefault(interpreter: Interpreter, values: dict[Any, Any], key: Any, default: Any = None) -> Any:
    interpreter.changing(values)
    return values.setdefault(interpreter.hashable(key), default)


def _update(interpreter: Interpreter, values: dict[Any, Any], more: Any = (), /, **named: Any) -> None:
    interpreter.changing(values)
    if isinstance(more, Iterator):
        raise interpreter.refused("A dict is updated from an iterator.", "Update it from a list.")
    values.update(_dict(interpreter, more, **named))


def _dict_pop(interpreter: Interpreter, values: dict[Any, Any], key: Any, *default: Any) -> Any:
    interpreter.changing(values)
    return interpreter.plainly(values.pop, interpreter.hashable(key), *default)


def _add(interpreter: Interpreter, values: set[Any], value: Any) -> None:
    interpreter.changing(values)
    values.add(interpreter.hashable(value))


_LIST: dict[str, Handler] = {
    "append": _append, "extend": _extend, "insert": _insert, "pop": _pop, "remove": _remove, "clear": _clear,
    "reverse": _reverse, "copy": _list_copy, "sort": _sort, "index": _index, "count": _count,
}
_TUPLE: dict[str, Handler] = {"index": _index, "count": _count}
_DICT: dict[str, Handler] = {
    "get": _get, "setdefault": _setdefault, "update": _update, "pop": _dict_pop,
    "items": lambda interpreter, values: values.items(), "keys": lambda interpreter, values: values.keys(),
    "values": lambda interpreter, values: values.values(),
    "copy": lambda interpreter, values: interpreter.own(dict(values)),
}
_SET: dict[str, Handler] = {"add": _add}


# --- the generator ---


def _draws(
    interpreter: Interpreter, size: Any, location: Any, scale: Any, one: Callable[[Any, Any], Any], kind: str = "float"
) -> Any:
    """One draw, or an array of them, with numpy's broadcasting of location and scale."""
    if size is None and not isinstance(location, Array | np.ndarray | list | tuple) and not isinstance(
        scale, Array | np.ndarray | list | tuple
    ):
        return one(location, scale)
    shape = None if size is None else _shape(interpreter, size)
    parts = [
        Array.of(interpreter, value).values if isinstance(value, Array | np.ndarray | list | tuple)
        else _scalar(value) for value in (location, scale)
    ]
    try:
        whole = np.broadcast_shapes(*(part.shape for part in parts))
        if shape is None:
            shape = whole
        elif np.broadcast_shapes(whole, shape) != shape:
            raise ValueError
    except ValueError:
        raise interpreter.refused("The program raises ValueError: the sizes of noise and locations differ.") from None
    columns = [np.broadcast_to(part, shape).ravel() for part in parts]
    made = np.empty(math.prod(shape), dtype=object)
    for index, (at, wide) in enumerate(zip(*columns, strict=True)):
        made[index] = one(at, wide)
    return Array(made.reshape(shape), kind)


def _scalar(value: Any) -> np.ndarray[Any, Any]:
    made = np.empty((), dtype=object)
    made[()] = value
    return made


def _noise(kind: str) -> Handler:
    def handler(interpreter: Interpreter, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return _draws(interpreter, size, loc, scale, lambda at, wide: interpreter.draw(kind, wide, at))

    return handler


def _exponential(interpreter: Interpreter, scale: Any = 1.0, size: Any = None) -> Any:
    return _draws(interpreter, size, 0, scale, lambda at, wide: interpreter.draw("exponential", wide, at))


def _standard(kind: str) -> Handler:
    def handler(interpreter: Interpreter, size: Any = None) -> Any:
        return _draws(interpreter, size, 0, 1, lambda at, wide: interpreter.draw(kind, wide, at))

    return handler


def _uniform(interpreter: Interpreter, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    if not concrete(low) or not concrete(high):
        raise interpreter.refused("The bounds of a uniform draw depend on the data or on noise.")
    wide = interpreter.plainly(lambda: high - low)
    return _draws(
        interpreter, size, low, 1,
        lambda at, _: interpreter.number(interpreter.draw("uniform", 1)).scaled(exactly(wide)).plus(
            interpreter.number(at)
        ),
    )


def _random_integers(interpreter: Interpreter, low: Any, high: Any = None, size: Any = None) -> Any:
    first, last = (0, low) if high is None else (low, high)
    if size is not None or not all(isinstance(each, int) for each in (first, last)):
        raise interpreter.refused("This draw of whole numbers is not followed.")
    if not 0 < last - first <= MOST_OPTIONS:
        raise interpreter.refused(
            f"A uniform draw of a whole number with more than {MOST_OPTIONS} values is not followed."
        )
    return np.int64(first + interpreter.path.toss([Fraction(1, last - first)] * (last - first)))


_NUMPY_OF: dict[type, type] = {int: np.int64, float: np.float64, str: np.str_}
_OPTIONS = ({int}, {np.int64}, {np.float64}, {np.str_})


def _random_choice(interpreter: Interpreter, values: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
    options = list(range(values)) if isinstance(values, int) else [
        # numpy makes an array of a list
        _NUMPY_OF[type(each)](each) if type(each) in _NUMPY_OF else each for each in interpreter.iterate(values)
    ]
    if size is not None or replace is not True:
        raise interpreter.refused("Several choices at once are not followed.", "Choose one by one.")
    if not 0 < len(options) <= MOST_OPTIONS or {type(each) for each in options} not in _OPTIONS:
        raise interpreter.refused("This choice is not followed.", "Choose from an int, or a list of ints or floats.")
    if any(isinstance(each, str) and each.endswith("\0") for each in options):
        raise interpreter.refused("numpy cuts off zeros at the end of a string.")
    if p is None:
        return options[interpreter.path.toss([Fraction(1, len(options))] * len(options))]
    weights = [interpreter.number(each) for each in interpreter.iterate(p)]
    if any(each.has_data or each.has_noise for each in weights):
        raise interpreter.refused("The probabilities of a choice depend on the data or on noise.",
                                  "Give a small finite domain of records.")
    shares = [each.constant for each in weights]
    total = sum(shares, Fraction(0))
    if len(shares) != len(options) or min(shares) < 0 or abs(total - 1) > Fraction(1, 10**8):
        raise interpreter.refused("The probabilities of a choice are not one for each option, or do not sum to 1.")
    return options[interpreter.path.toss([each / total for each in shares])]


def _geometric(interpreter: Interpreter, p: Any, size: Any = None) -> Any:
    if not isinstance(p, int | float | np.floating) or not 0 < p < 1:
        raise interpreter.refused(
            "The probability of a geometric draw depends on the data or on noise, or is not in (0, 1)."
        )
    scale = 1 / _rate(float(p))
    return _draws(interpreter, size, 1, scale, lambda at, wide: interpreter.draw("one-sided", wide, at), "int")


def _rate(p: float) -> Fraction:
    """−ln(1 − p), as the simplest fraction within rounding of p, or else rounded up."""
    value = -math.log1p(-p)
    error = 4e-16 * (value + 1 / (1 - p))
    simple = Fraction(value).limit_denominator(10**5)
    return simple if abs(float(simple) - value) <= error else Fraction(value) + Fraction(error)


_RANDOM: dict[str, Handler] = {
    "laplace": _noise("laplace"), "exponential": _exponential, "gumbel": _noise("gumbel"), "normal": _noise("normal"),
    "standard_exponential": _standard("exponential"), "standard_normal": _standard("normal"),
    "random": _standard("uniform"), "uniform": _uniform, "integers": _random_integers, "choice": _random_choice,
    "geometric": _geometric,
}

_FUNCTIONS: dict[Any, Handler] = {
    builtins.sum: _sum, builtins.max: _extreme(1), builtins.min: _extreme(-1), builtins.abs: _abs, builtins.len: _len,
    builtins.range: _range, builtins.enumerate: _enumerate, builtins.zip: _zip, builtins.list: _list,
    builtins.tuple: _tuple, builtins.dict: _dict, builtins.set: _set, builtins.frozenset: _frozenset,
    builtins.float: _float, builtins.int: _int,
    builtins.bool: _bool, builtins.round: _round, builtins.any: _any, builtins.all: _all, builtins.sorted: _sorted,
    builtins.reversed: _reversed, builtins.map: _map, builtins.filter: _filter, builtins.next: _next,
    builtins.iter: _iter, builtins.isinstance: _isinstance, builtins.print: _print, builtins.str: _plain(str),
    builtins.repr: _plain(repr), builtins.divmod: _plain(divmod), builtins.pow: _plain(pow), builtins.chr: _plain(chr),
    builtins.ord: _plain(ord),
    math.fsum: _fsum, enclosed.fsum: _fsum, math.floor: _math_floor, math.ceil: _math_ceil, math.fabs: _math_fabs,
    itertools.chain: _chain, itertools.pairwise: _pairwise, itertools.accumulate: _accumulate,
    itertools.islice: _islice,
    itertools.product: _itertool(itertools.product), itertools.combinations: _itertool(itertools.combinations),
    np.array: _np_array, np.asarray: _np_asarray, np.zeros: _full(0), np.ones: _full(1), np.full: _np_full,
    np.zeros_like: _like(0), np.ones_like: _like(1), np.arange: _evaluated(np.arange),
    np.linspace: _evaluated(np.linspace), np.sum: _reduction(_total, lambda kind: "int" if kind == "bool" else kind),
    np.mean: _np_mean, np.max: _reduction(_largest(1), lambda kind: kind),
    np.min: _reduction(_largest(-1), lambda kind: kind), np.argmax: _np_arg(1), np.argmin: _np_arg(-1),
    np.linalg.norm: _np_norm,
    np.clip: _np_clip, np.where: _np_where, np.maximum: _np_maximum, np.minimum: _np_minimum, np.abs: _abs,
    np.cumsum: _np_cumsum, np.diff: _np_diff, np.bincount: _np_bincount, np.histogram: _np_histogram,
    np.concatenate: _np_concatenate, np.stack: _np_stack, np.any: _reduction(_np_any, lambda kind: "bool"),
    np.all: _reduction(_np_all, lambda kind: "bool"),
    np.count_nonzero: _reduction(_np_count_nonzero, lambda kind: "int"), np.logical_and: _np_logical(ast.BitAnd),
    np.logical_or: _np_logical(ast.BitOr), np.logical_not: _np_logical_not, np.floor: _np_floor,
    np.add: _np_operation(ast.Add), np.subtract: _np_operation(ast.Sub), np.multiply: _np_operation(ast.Mult),
    np.divide: _np_operation(ast.Div), np.square: _np_square,
    np.sort: _np_sort, np.argsort: _np_argsort, np.dot: dot, np.ravel: _np_ravel,
    np.copy: _copy, np.float64: _numpy_scalar(_float, np.float64), np.int64: _numpy_scalar(_int, np.int64),
    np.sqrt: _np_plain(math.sqrt), np.exp: _np_plain(math.exp), np.log: _np_plain(math.log),
    np.log1p: _np_plain(math.log1p), np.expm1: _np_plain(math.expm1), np.log2: _np_plain(math.log2),
    np.log10: _np_plain(math.log10),
}
for _function in (
    math.sqrt, math.exp, math.log, math.log2, math.log10, math.log1p, math.expm1, math.pow, math.gcd, math.comb,
    math.prod, math.trunc, math.isclose, math.isqrt,
):
    _FUNCTIONS[_function] = _plain(_function)

NUMPY_METHODS |= {
    "sum": _FUNCTIONS[np.sum], "mean": _np_mean, "max": _FUNCTIONS[np.max], "min": _FUNCTIONS[np.min],
    "argmax": _np_arg(1), "argmin": _np_arg(-1), "cumsum": _np_cumsum, "copy": _copy,
    "astype": _astype, "tolist": _tolist, "item": _item, "any": _FUNCTIONS[np.any], "all": _FUNCTIONS[np.all],
    "ravel": _np_ravel, "flatten": _flatten, "reshape": _reshape, "fill": _fill, "dot": dot, "argsort": _np_argsort,
}



_BY_ID = {id(function): (function, handler) for function, handler in _FUNCTIONS.items()}


def _chosen(interpreter: Interpreter, values: list[Any]) -> int:
    return _choose(interpreter, values, 1)


LIBRARY = Library(known, method, NUMPY_METHODS, truncated, _chosen)
