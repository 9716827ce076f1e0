"""Post-processing: what a program computes from noisy numbers, where that is not linear.

Numbers that are the same on D and on D′ give the same whatever is computed from them. So where a program rounds noisy
numbers, divides by them or shows them, they are taken for released at that line. That costs what releasing them costs,
and nothing needs to be known of the result: a branch on it is followed both ways.

D and D′ release equal numbers, not numbers of equal types: 1 may be an int, a float or numpy's. So only those functions
are followed that give the same for numbers of all types, or whose arguments have a known one.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dpaudit.proofs.arrays import Array
from dpaudit.proofs.forms import Form, Made, PostProcessed
from dpaudit.proofs.results import Unsupported
from dpaudit.proofs.values import NUMBERS, Recorded, is_fixed, is_plain, is_truth

Interpreter: TypeAlias = Any
"""`interpreter.Interpreter`, which imports this module."""
MOST_EXPONENT = 64
FORMAT = re.compile(r"[<>=^]?[-+ ]?#?0?\d{0,3}[,_]?(\.\d{1,3})?(?P<type>[eEfFgG%])?")
"""Formats of numbers."""
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}
_NAMES: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt, "==": operator.eq, "!=": operator.ne,
}


@dataclass(frozen=True)
class Pure:
    """A function that gives the same for equal numbers of all types, and changes nothing.

    Args:
        function: itself.
        name: of it.
        made: the type of what it gives.
        each: whether it is one of numpy's that takes arrays element by element.
        most: number of its arguments at most.
    """

    function: Callable[..., Any]
    name: str
    made: Made
    each: bool = False
    most: int = 1


def is_released(interpreter: Interpreter, value: Any) -> bool:
    """Whether a value is a constant, post-processed, or a number with noise, which may be released."""
    if isinstance(value, PostProcessed):
        return True
    if isinstance(value, Form):
        return (not value.has_data and not value.has_noise) or (
            value.has_noise and all(interpreter.path.draws[index].kind != "maximum" for index in value.draws)
        )
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return is_fixed(value) and not isinstance(value, tuple)


def depends_on_noise(value: Any) -> bool:
    """Whether a value is post-processed, or a number that depends on noise."""
    return isinstance(value, PostProcessed) or (isinstance(value, Form) and value.has_noise)


def made(interpreter: Interpreter, value: Any) -> Made:
    """The Python type of a value; "" if not known."""
    if isinstance(value, PostProcessed) and not (interpreter.elementwise and value.made in ("int", "float", "")):
        return value.made
    if interpreter.elementwise:
        return "numpy"
    return {bool: "truth", int: "int", float: "float", str: "text"}.get(  # type: ignore[return-value]
        type(value), "numpy" if isinstance(value, np.generic) else ""
    )


def is_float(interpreter: Interpreter, value: Any) -> bool:
    """Whether a value is a float, Python's or numpy's."""
    if isinstance(value, Form):
        return any(not interpreter.path.draws[index].is_whole for index in value.draws)
    return made(interpreter, value) == "float"


def is_positive(interpreter: Interpreter, value: Any) -> bool:
    """Whether a value is above 0, as far as is known."""
    if isinstance(value, PostProcessed):
        return value.is_positive
    if isinstance(value, Form):
        return not value.has_noise and not value.has_data and value.constant > 0
    return is_plain(value) and not isinstance(value, str) and value > 0


def is_zero(value: Any) -> bool:
    """Whether a number is the constant 0."""
    if isinstance(value, Form):
        return not value.has_data and not value.has_noise and not value.constant
    return isinstance(value, NUMBERS) and is_plain(value) and not value


def _check_released(interpreter: Interpreter, name: str, args: Sequence[Any]) -> None:
    if interpreter.of_stream:
        raise interpreter.refused("What is computed from noise is not linear.", "Give a number of answers instead.")
    if not all(is_released(interpreter, arg) for arg in args):
        raise interpreter.refused(
            f"{name} of a number that depends on the data, before noise is added to it, is not linear.",
            "Add noise first, or give a finite domain of records.",
        )


def computed(
    interpreter: Interpreter, name: str, function: Callable[..., Any], args: Sequence[Any], kind: Made, *,
    positive: bool = False,
) -> PostProcessed:
    """What a function gives for noisy numbers, which are released, and constants.

    Raises:
        Unsupported: some argument is not released by that, or the program follows a stream.
    """
    _check_released(interpreter, name, args)
    post: PostProcessed = interpreter.path.post_process(
        name, function, args, kind, interpreter.place, is_positive=positive
    )
    return post


# --- operators ---


def operated(interpreter: Interpreter, operation: type[ast.operator], left: Any, right: Any) -> PostProcessed:
    """left (operation) right.

    Raises:
        Unsupported: it is not followed, or its result may be another for another type of number.
    """
    _numbers(interpreter, (left, right))
    function = _ARITHMETIC.get(operation)
    if function is None:
        raise interpreter.refused("This operator of numbers that depend on noise is not followed.")
    _check_released(interpreter, _NAMES[operation], (left, right))
    kinds = {made(interpreter, left), made(interpreter, right)}
    if operation in (ast.Div, ast.FloorDiv, ast.Mod):
        _check_divisor(interpreter, operation, right, kinds)
    positive = False
    if operation is ast.Pow:
        _check_power(interpreter, left, right)
    if operation in (ast.Add, ast.Mult, ast.Div):
        positive = is_positive(interpreter, left) and is_positive(interpreter, right)
    kind: Made = ""
    if "numpy" in kinds:
        kind = "numpy"
    elif kinds == {"int"} and operation is not ast.Pow:
        kind = "float" if operation is ast.Div else "int"
    elif kinds <= {"int", "float"} and operation is not ast.Pow:
        kind = "float"
    return computed(interpreter, _NAMES[operation], function, (left, right), kind, positive=positive)


def _check_divisor(
    interpreter: Interpreter, operation: type[ast.operator], divisor: Any, kinds: set[Made]
) -> None:
    """Python raises where numpy gives inf or NaN: which of them it is must not depend on the data."""
    if isinstance(divisor, Form) and divisor.has_noise and is_float(interpreter, divisor):
        return  # 0 with probability 0
    if is_positive(interpreter, divisor) or (is_plain(divisor) and divisor < 0):
        return
    if ("numpy" in kinds and operation is ast.Div) or kinds <= {"int", "float"}:
        return
    raise interpreter.refused("A number is divided by one that may be 0.", "Divide by max(…, 1).")


def _check_power(interpreter: Interpreter, base: Any, exponent: Any) -> None:
    """Powers of negative numbers and negative powers of whole ones are others in Python and in numpy."""
    if is_plain(exponent) and not isinstance(exponent, np.generic) and 0 <= exponent <= MOST_EXPONENT and (
        exponent == int(exponent)
    ):
        return
    if type(exponent) is float and interpreter.elementwise and is_float(interpreter, base):
        return
    if type(base) is float and base > 0:
        return
    raise interpreter.refused("A number that depends on noise to this power is another in Python and in numpy.",
                              "Use np.sqrt or math.exp.")


def compared(interpreter: Interpreter, symbol: str, left: Any, right: Any) -> PostProcessed:
    """left (symbol) right, which counts as True or False.

    Raises:
        Unsupported: some side is no number, or not released.
    """
    _numbers(interpreter, (left, right))
    return computed(interpreter, symbol, _COMPARISONS[symbol], (left, right), "truth")


# --- functions ---


_INTEGER: dict[Any, str] = {math.floor: "math.floor", math.ceil: "math.ceil", int: "int"}
_FLOAT = (
    "exp", "exp2", "expm1", "sqrt", "cbrt", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "gamma", "lgamma", "degrees", "radians",
    "fabs", "pow", "hypot", "atan2", "copysign", "fmod",
)
_TWO = ("pow", "hypot", "atan2", "copysign", "fmod", "log")
_UFUNCS = (
    "exp", "exp2", "expm1", "sqrt", "cbrt", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos",
    "arctan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "rint", "sign", "fabs", "degrees", "radians",
)
_UFUNCS_OF_TWO = ("maximum", "minimum", "arctan2", "hypot", "copysign")
_WHOLE = ("median", "std", "var", "ptp", "prod", "cumprod", "sort", "max", "min", "argmax", "argmin")
"""numpy's functions of all elements of an array; what they give has the same shape for all values."""


def _functions() -> Iterator[Pure]:
    for function, name in _INTEGER.items():
        yield Pure(function, name, "int")
    for name in _FLOAT:
        if hasattr(math, name):
            yield Pure(getattr(math, name), f"math.{name}", "float", most=2 if name in _TWO else 1)
    yield Pure(builtins.float, "float", "float")
    for name in _UFUNCS:
        yield Pure(getattr(np, name), f"numpy.{name}", "numpy", each=True)
    for name in _UFUNCS_OF_TWO:
        yield Pure(getattr(np, name), f"numpy.{name}", "numpy", each=True, most=2)


_PURE = {id(pure.function): pure for pure in _functions()}
_OF_ARRAYS = {id(getattr(np, name)): (getattr(np, name), name) for name in _WHOLE}


_OTHERS = {id(each): each for each in (
    builtins.round, np.round, np.around, builtins.abs, np.abs, builtins.max, builtins.min, np.clip, builtins.str,
    builtins.format,
)}


def is_followed(callee: Any) -> bool:
    """Whether a function is followed for numbers with noise."""
    # by identity: an object may say that it is equal to a function
    pure, (function, _) = _PURE.get(id(callee)), _OF_ARRAYS.get(id(callee), (None, ""))
    return (pure is not None and pure.function is callee) or function is callee is not None or (
        _OTHERS.get(id(callee)) is callee
    )


def parts(args: Sequence[Any]) -> Iterator[Any]:
    """The arguments of a function, and what is in the arrays and lists among them."""
    for arg in args:
        if isinstance(arg, Array):
            yield from arg.elements
        elif type(arg) in (list, tuple):
            yield from parts(arg)
        else:
            yield arg


def called(interpreter: Interpreter, callee: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What a function gives for noisy numbers, which are released; None where it is none that is followed so.

    Raises:
        Unsupported: some argument is not released.
    """
    if any(isinstance(each, Iterator) for each in args):
        return None
    if callee is builtins.round or callee is np.round or callee is np.around:
        return _rounded(interpreter, callee, *args, **keywords)
    if callee is builtins.abs or callee is np.abs:
        return _each(interpreter, Pure(abs, "abs", "numpy" if callee is np.abs else "", each=True), args, keywords)
    if callee is builtins.max or callee is builtins.min:
        return _extreme(interpreter, callee, args, keywords)
    if callee is np.clip:
        return _clipped(interpreter, *args, **keywords)
    if callee is builtins.str or callee is builtins.format:
        return shown(interpreter, args[0], args[1] if len(args) > 1 else "") if args and not keywords else None
    pure = _PURE.get(id(callee))
    if pure is not None and pure.function is callee:
        return _each(interpreter, pure, args, keywords)
    function, name = _OF_ARRAYS.get(id(callee), (None, ""))
    if function is callee and function is not None and len(args) == 1 and not keywords:
        return _of_array(interpreter, function, f"numpy.{name}", args[0])
    return None


def _each(interpreter: Interpreter, pure: Pure, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if keywords or not 1 <= len(args) <= pure.most:
        return None
    if pure.each and any(isinstance(arg, Array | np.ndarray | list | tuple) for arg in args):
        return Array.each(
            interpreter,
            lambda *parts: computed(interpreter, pure.name, pure.function, _numbers(interpreter, parts), "numpy"),
            *args,
        )
    kind = pure.made
    if not kind and len(args) == 1 and made(interpreter, args[0]) in ("int", "float", "numpy"):
        kind = made(interpreter, args[0])
    return computed(interpreter, pure.name, pure.function, _numbers(interpreter, args), kind)


def _numbers(interpreter: Interpreter, values: Sequence[Any]) -> Sequence[Any]:
    """The values, all of which are numbers.

    Raises:
        Unsupported: some value is none.
    """
    for value in values:
        if is_truth(value) or not isinstance(value, (Form, PostProcessed, *NUMBERS)) or (
            isinstance(value, PostProcessed) and value.made == "text"
        ):
            raise interpreter.refused("Conditions, text or containers that depend on noise are computed with.")
    return values


def _rounded(interpreter: Interpreter, callee: Any, value: Any, digits: Any = None, *, decimals: Any = None) -> Any:
    if callee is builtins.round and decimals is None:
        if digits is None:
            return computed(interpreter, "round", round, _numbers(interpreter, (value,)), "int")
        if type(digits) is not int:
            return None
        if isinstance(value, Form) and value.has_noise and is_float(interpreter, value):
            # ties, which Python and numpy round otherwise, have probability 0
            return computed(interpreter, f"round to {digits}", lambda x: round(x, digits), (value,), "")
        if made(interpreter, value) in ("int", "float"):
            return computed(interpreter, f"round to {digits}", lambda x: round(x, digits), (value,), value.made)
        raise interpreter.refused("round to digits is not the same in Python and in numpy.", "Release it as it is.")
    places = decimals if decimals is not None else digits if digits is not None else 0
    if type(places) is not int or places < 0 or (decimals is not None and digits is not None):
        return None
    pure = Pure(lambda x: np.round(x, places), f"numpy.round to {places}", "numpy", each=True)
    return _each(interpreter, pure, (value,), {})


def _extreme(interpreter: Interpreter, callee: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    values = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
    if keywords or len(values) < 2:
        return None
    kinds = {made(interpreter, value) for value in values}
    positive = (any if callee is max else all)(is_positive(interpreter, value) for value in values)
    # NaN, which numpy's numbers may be, is neither larger nor smaller
    positive = positive and all(
        isinstance(value, Form) or made(interpreter, value) in ("int", "float") for value in values
    )
    return computed(
        interpreter, callee.__name__, callee, _numbers(interpreter, values), kinds.pop() if len(kinds) == 1 else "",
        positive=positive,
    )


def clip_bounds(interpreter: Interpreter, bounds: Sequence[Any], named: dict[str, Any]) -> tuple[Any, Any]:
    """The bounds of np.clip.

    Raises:
        Unsupported: np.clip raises, in some version of numpy.
    """
    given = {**dict(zip(("a_min", "a_max"), bounds, strict=False)), **named}
    if len(bounds) > 2 or len(given) < len(bounds) + len(named) or given.keys() not in _BOUNDS:
        raise interpreter.refused(
            "np.clip with these arguments is not followed.", "Give it both bounds, or min and max by name."
        )
    low, high = (given.get(f"a_{name}", given.get(name)) for name in ("min", "max"))
    return low, high


_BOUNDS = ({"a_min", "a_max"}, {"min", "max"}, {"min"}, {"max"})
"""Names of the bounds that may be given together."""


def _clipped(interpreter: Interpreter, value: Any, *bounds: Any, **named: Any) -> Any:
    low, high = clip_bounds(interpreter, bounds, named)
    if not all(bound is None or (is_plain(bound) and not isinstance(bound, str)) for bound in (low, high)):
        return None
    pure = Pure(lambda x: np.clip(x, low, high), f"numpy.clip to {low!r}, {high!r}", "numpy", each=True)
    return _each(interpreter, pure, (value,), {})


def _of_array(interpreter: Interpreter, function: Callable[..., Any], name: str, value: Any) -> Any:
    mine = Array.of(interpreter, value)
    if mine.values.size == 0 or mine.kind == "bool":
        return None
    shape = mine.values.shape
    parts = tuple(mine.values.ravel())
    gives = np.shape(function(np.zeros(shape)))

    def element(place: int | None) -> PostProcessed:
        def compute(*numbers: float) -> Any:
            whole = function(np.array(numbers, dtype=np.float64).reshape(shape))
            return whole if place is None else np.ravel(whole)[place]

        where = "" if place is None else f", element {place}"
        return computed(interpreter, f"{name} of shape {shape}{where}", compute, parts, "numpy")

    if gives == ():
        return element(None)
    elements = np.empty(math.prod(gives), dtype=object)
    for place in range(len(elements)):
        elements[place] = element(place)
    return Array(elements.reshape(gives), "float" if mine.kind == "float" else "unknown")


# --- text ---


def shown(interpreter: Interpreter, value: Any, form: str = "") -> PostProcessed:
    """str(value), or format(value, form).

    Raises:
        Unsupported: the text may be another for another type of number.
    """
    found = FORMAT.fullmatch(form)
    if found is None:
        raise interpreter.refused(f"The format {form!r} of a number that depends on noise is not followed.")
    known = is_float(interpreter, value) or made(interpreter, value) in ("int", "float")
    if not known and found["type"] is None:
        raise interpreter.refused("A number that may be an int or a float is made a string.", "Use a format: .2f")
    _numbers(interpreter, (value,))
    return computed(interpreter, f"format {form!r}", lambda x: format(x, form), (value,), "text")


def joined(interpreter: Interpreter, parts: Sequence[Any]) -> PostProcessed:
    """The parts of a text, one after the other."""
    return computed(interpreter, "text", lambda *texts: "".join(texts), parts, "text")


# --- evaluation ---


class Unclear(Exception):
    """Floats may be rounded to another value, or the program raises."""


def candidates(
    value: PostProcessed, number: Callable[[Form], tuple[Fraction, float]], outputs: Sequence[Any] = ()
) -> list[Any]:
    """The values that it may have, for forms that are known up to rounding.

    Args:
        value: post-processed.
        number: the value of a form, and what a float may differ from it by.
        outputs: of the parts that a run applied.

    Raises:
        Unclear: it has none.
    """
    found = []
    for side in (0, 1, -1):
        known: dict[int, Any] = {}
        try:
            with np.errstate(all="ignore"):
                found.append(_evaluated(value, number, side, known, outputs))
        except Unsupported:
            raise
        except (ArithmeticError, ValueError, TypeError):
            raise Unclear from None
    return found


def _evaluated(
    value: Any, number: Callable[[Form], tuple[Fraction, float]], side: int, known: dict[int, Any],
    outputs: Sequence[Any],
) -> Any:
    if isinstance(value, Form):
        exact, rounding = number(value)
        return float(exact) + side * rounding
    if not isinstance(value, PostProcessed):
        return value
    if value.place not in known:
        args = (_evaluated(arg, number, side, known, outputs) for arg in value.args)
        known[value.place] = value.function(outputs) if isinstance(value.function, Recorded) else value.function(*args)
    return known[value.place]
