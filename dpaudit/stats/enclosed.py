"""Numbers that a program computes without rounding: exact fractions, and Arb intervals after a logarithm.

To compute a rigorous interval for ε, dpaudit runs a copy of the mechanism whose parameters are `Enclosed` numbers
(`interpret.parameters`). They add, multiply and compare like floats, and can be passed to draws. Every rounding is
recorded in the run's `Roundings`: `float(x)`, `math.log(x)`, an array of floats, a comparison that the intervals do not
decide, and arithmetic with a float of many digits. A result with recorded roundings is not rigorous.
Algorithms call the functions of this module (`log`, `exp`, `sqrt`, …) instead of those of `math`: on floats they are
the functions of `math`, on enclosed numbers they return enclosures.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache, wraps
from hashlib import blake2b
from operator import add, mul, neg, sub, truediv
from typing import Any, SupportsFloat, TypeGuard, TypeVar

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from dpaudit.stats.arrays import FloatArray

PRECISION = 256
"""Precision of intervals in bits: much higher than that of the probabilities."""
MOST_BITS = 1 << 16
"""A power with more digits than this becomes an interval."""
_UNIT, _LARGEST = 1 << 10, 1 << 31

_F = TypeVar("_F", bound=Callable[..., Any])


class Roundings:
    """Descriptions of the numbers that a run rounded to doubles; its result is rigorous if there are none."""

    def __init__(self) -> None:
        self._notes: dict[str, None] = {}
        self.results: dict[Hashable, Any] = {}
        """Results of `cached` functions."""

    def note(self, what: str) -> None:
        """Record a rounding."""
        self._notes.setdefault(what)

    def forget(self, before: list[str]) -> None:
        """Restore earlier notes."""
        self._notes = dict.fromkeys(before)

    @property
    def notes(self) -> list[str]:
        """All recorded roundings, in order."""
        return list(self._notes)


_RUN: ContextVar[Roundings | None] = ContextVar("dpaudit roundings", default=None)
_KEYING: ContextVar[bool] = ContextVar("dpaudit keys", default=False)


@contextmanager
def watching(roundings: Roundings) -> Iterator[None]:
    """Context manager: the functions of this module return enclosures, and roundings are recorded here."""
    token = _RUN.set(roundings)
    try:
        yield
    finally:
        _RUN.reset(token)


@contextmanager
def unwatched() -> Iterator[None]:
    """Context manager for code outside a program: functions of floats are those of `math`."""
    token = _RUN.set(None)
    try:
        yield
    finally:
        _RUN.reset(token)


def watched() -> Roundings | None:
    """The roundings of the current run; None outside of enclosed runs."""
    return _RUN.get()


def note(what: str) -> None:
    """Record a rounding, if an enclosed run is active."""
    run = _RUN.get()
    if run is not None:
        run.note(what)


@contextmanager
def keying() -> Iterator[None]:
    """Context manager: hashes of enclosed numbers are dpaudit's own keys, not look-ups by the program."""
    token = _KEYING.set(True)
    try:
        yield
    finally:
        _KEYING.reset(token)


def cached(maxsize: int) -> Callable[[_F], _F]:
    """`functools.lru_cache` for a function of parameters: an enclosed run has its own results, with their notes."""

    def decorate(function: _F) -> _F:
        in_doubles = lru_cache(maxsize=maxsize)(function)

        @wraps(function)
        def call(*arguments: Hashable) -> Any:
            run = _RUN.get()
            if run is None:
                return in_doubles(*arguments)
            key = (call, *arguments)
            with keying():
                if key in run.results:
                    return run.results[key]
            result = function(*arguments)
            with keying():
                run.results[key] = result
            return result

        return call  # type: ignore[return-value]

    return decorate


def short(number: float) -> bool:
    """Whether a float has so few digits that it cannot be a rounded result: 3.0 and 0.5, but not 0.1 or log(2)."""
    number = float(number)
    return abs(number) < _LARGEST and (number * _UNIT).is_integer()


class Enclosed:
    """A real number that is known exactly, or known to lie in an interval.

    Args:
        exact: its value; None if it is not known as a fraction.
        interval: an interval that contains it; required if `exact` is None.
        origin: for an inexact number, a digest of its computation: equal digests mean equal numbers.
        roundings: records the roundings.
    """

    __slots__ = ("_interval", "_origin", "exact", "roundings")

    exact: Fraction | None
    roundings: Roundings

    def __init__(
        self, exact: Fraction | None, roundings: Roundings, interval: arb | None = None, origin: bytes = b""
    ) -> None:
        self.exact, self.roundings = exact, roundings
        self._interval, self._origin = interval, origin

    @property
    def interval(self) -> arb:
        """An `arb` that contains the number."""
        if self._interval is None:
            assert self.exact is not None
            with _precise():
                self._interval = arb(fmpq(self.exact.numerator, self.exact.denominator))
        return self._interval

    @property
    def origin(self) -> bytes:
        """Equal for equal computations."""
        return self._origin or repr(self.exact).encode()

    @property
    def near(self) -> float:
        """A nearby double: for messages, and for uses that do not depend on the last digits."""
        if self.exact is None:
            return float(self.interval.mid())
        try:
            return float(self.exact)
        except OverflowError:
            return math.copysign(math.inf, self.exact)

    # --- arithmetic -----------------------------------------------------------------------------------------------

    def _with(
        self, other: object, name: str, does: Callable[[Any, Any], Any], *, swapped: bool = False
    ) -> Enclosed:
        if type(other) is int and self.exact is not None and not swapped:
            # most operations; a fraction of the number takes longer than the operation
            return Enclosed(does(self.exact, other), self.roundings)
        there = enclose(other, self.roundings)
        if there is None:
            beyond: Enclosed = _beyond(self, other, does, swapped=swapped)
            return beyond
        a, b = (there, self) if swapped else (self, there)
        if a.exact is not None and b.exact is not None:
            return Enclosed(does(a.exact, b.exact), self.roundings)
        known = _known(name, a, b)
        if known is not None:
            return known
        if name == "/" and b.interval.contains(0):
            self.roundings.note("a division by a number that may be 0")
            raise ZeroDivisionError("division by zero")
        with _precise():
            interval = does(a.interval, b.interval)
        return Enclosed(None, self.roundings, interval, _digest(name, a, b))

    def __add__(self, other: object) -> Enclosed:
        return self._with(other, "+", add)

    def __radd__(self, other: object) -> Enclosed:
        return self._with(other, "+", add, swapped=True)

    def __sub__(self, other: object) -> Enclosed:
        return self._with(other, "-", sub)

    def __rsub__(self, other: object) -> Enclosed:
        return self._with(other, "-", sub, swapped=True)

    def __mul__(self, other: object) -> Enclosed:
        return self._with(other, "*", mul)

    def __rmul__(self, other: object) -> Enclosed:
        return self._with(other, "*", mul, swapped=True)

    def __truediv__(self, other: object) -> Enclosed:
        return self._with(other, "/", truediv)

    def __rtruediv__(self, other: object) -> Enclosed:
        return self._with(other, "/", truediv, swapped=True)

    def __floordiv__(self, other: object) -> Enclosed:
        return _floored(self / other)

    def __rfloordiv__(self, other: object) -> Enclosed:
        return _floored(other / self)

    def __mod__(self, other: object) -> Enclosed:
        return self - other * (self // other)

    def __rmod__(self, other: object) -> Enclosed:
        return other - self * (other // self)

    def __divmod__(self, other: object) -> tuple[Enclosed, Enclosed]:
        return self // other, self % other

    def __rdivmod__(self, other: object) -> tuple[Enclosed, Enclosed]:
        return other // self, other % self

    def __pow__(self, other: object) -> float:
        power = enclose(other, self.roundings)
        return NotImplemented if power is None else _power(self, power)

    def __rpow__(self, other: object) -> float:
        base = enclose(other, self.roundings)
        return NotImplemented if base is None else _power(base, self)

    def __neg__(self) -> Enclosed:
        if self.exact is not None:
            return Enclosed(-self.exact, self.roundings)
        with _precise():
            return Enclosed(None, self.roundings, neg(self.interval), _digest("neg", self))

    def __pos__(self) -> Enclosed:
        return self

    def __abs__(self) -> Enclosed:
        return -self if self < 0 else self

    # --- comparisons ----------------------------------------------------------------------------------------------

    def _sign(self, other: object) -> int | None:
        """−1, 0 or 1 if it is below, equal to or above the other; None if the other is not a number."""
        if type(other) is int and self.exact is not None:
            return _sign_of(self.exact.numerator - other * self.exact.denominator)
        if isinstance(other, float | np.floating) and not isinstance(other, Enclosed) and not math.isfinite(other):
            return None if other != other else -1 if other > 0 else 1
        there = enclose(other, self.roundings)
        if there is None:
            return None
        if self.exact is not None and there.exact is not None:
            # denominators are positive
            a, b = self.exact, there.exact
            return _sign_of(a.numerator * b.denominator - b.numerator * a.denominator)
        if self.origin == there.origin:
            return 0
        if self.interval < there.interval:
            return -1
        if self.interval > there.interval:
            return 1
        self.roundings.note("a comparison of two numbers that are too close to distinguish")
        middle, other_middle = self.interval.mid(), there.interval.mid()
        return int(bool(middle > other_middle)) - int(bool(middle < other_middle))

    def __eq__(self, other: object) -> bool:
        return self is other or self._sign(other) == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: object) -> bool:
        sign = self._sign(other)
        return _uncompared(other) if sign is None else sign < 0

    def __le__(self, other: object) -> bool:
        sign = self._sign(other)
        return _uncompared(other) if sign is None else sign <= 0

    def __gt__(self, other: object) -> bool:
        sign = self._sign(other)
        return _uncompared(other) if sign is None else sign > 0

    def __ge__(self, other: object) -> bool:
        sign = self._sign(other)
        return _uncompared(other) if sign is None else sign >= 0

    def __hash__(self) -> int:
        # differs from the hash of an equal float, and between runs: so no cache returns a result computed in doubles,
        # or one whose roundings were recorded elsewhere; but a look-up in a table of floats fails, which is recorded
        if not _KEYING.get():
            self.roundings.note("a number of the program, looked up in a table, a set or a cache")
        return hash((id(self.roundings), self.exact if self.exact is not None else self._origin))

    def __bool__(self) -> bool:
        return self != 0

    # --- whole numbers --------------------------------------------------------------------------------------------

    def __floor__(self) -> int:
        if self.exact is not None:
            return math.floor(self.exact)
        with _precise():
            ends = (self.interval.lower(), self.interval.upper())
            low, high = (int(end.floor().fmpz()) for end in ends)
        if low != high:
            self.roundings.note("a number that is too close to a whole number to round up or down")
            return math.floor(self.near)
        return low

    def __ceil__(self) -> int:
        return -math.floor(-self)

    def __trunc__(self) -> int:
        return math.ceil(self) if self < 0 else math.floor(self)

    __int__ = __trunc__

    def __round__(self, digits: int | None = None) -> int | Enclosed:
        if digits is None:
            if self.exact is not None:
                return round(self.exact)
            return math.floor(self + Fraction(1, 2))  # one half itself is exact
        if self.exact is not None:
            return Enclosed(Fraction(round(self.exact, digits)), self.roundings)
        unit = Fraction(10) ** -digits
        return math.floor(self / unit + Fraction(1, 2)) * Enclosed(unit, self.roundings)

    def is_integer(self) -> bool:
        """Whether it is a whole number."""
        return self.exact.denominator == 1 if self.exact is not None else self == math.floor(self)

    def as_integer_ratio(self) -> tuple[int, int]:
        """Numerator and denominator; for a number that is not a fraction, those of a double."""
        return (Fraction(float(self)) if self.exact is None else self.exact).as_integer_ratio()

    @property
    def numerator(self) -> int:
        """Of a fraction."""
        return self._fraction("numerator").numerator

    @property
    def denominator(self) -> int:
        """Of a fraction."""
        return self._fraction("denominator").denominator

    def _fraction(self, name: str) -> Fraction:
        if self.exact is None:
            raise AttributeError(f"a number that is not a fraction has no {name}")
        return self.exact

    def conjugate(self) -> Enclosed:
        """The number itself, as for any real number."""
        return self

    @property
    def real(self) -> Enclosed:
        """Itself."""
        return self

    @property
    def imag(self) -> int:
        """0."""
        return 0

    # --- operations that round ------------------------------------------------------------------------------------

    def __float__(self) -> float:
        # recorded even if it is a double: later computations with it would round unnoticed
        self.roundings.note("a number of the program, converted to a double")
        return self.near

    @property
    def written(self) -> float | None:
        """The double whose decimal it is, such as 0.1 for one tenth; None if there is none."""
        double = self.near
        return double if math.isfinite(double) and self.exact == Fraction(repr(double)) else None

    def _text(self, what: str) -> str:
        if self.written is None:
            self.roundings.note("the decimal digits of a number")
        return what

    def __repr__(self) -> str:
        return self._text(repr(self.near))

    def __str__(self) -> str:
        return self._text(str(self.near))

    def __format__(self, how: str) -> str:
        return self._text(format(self.near, how))

    # --- other protocols ------------------------------------------------------------------------------------------

    @property  # type: ignore[misc]  # never set
    def __class__(self) -> type:
        """Read by `isinstance(x, float)`, so that a program takes the same branches as on doubles.

        Arithmetic of `Fraction` with a float would round; so `Fraction` sees the real type, except in its constructor.
        """
        frame = sys._getframe(1)
        asked = frame.f_globals.get("__name__") == "fractions" and frame.f_code.co_name != "__new__"
        return Enclosed if asked else float

    def __copy__(self) -> Enclosed:
        return self

    def __deepcopy__(self, memo: object) -> Enclosed:
        return self

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (float(self),)

    def __fingerprint__(self) -> Hashable:
        return ("exact", self.exact) if self.exact is not None else ("enclosed", self._origin)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> object:
        """Elementwise for the arithmetic above; all other numpy functions round."""
        if method == "__call__" and not options and ufunc in _ELEMENTWISE:
            return _plain(ufunc(*map(_boxed, inputs)))
        if method == "__call__" and not options and ufunc in _FUNCTIONS:
            (given,) = inputs
            return _plain(np.frompyfunc(_FUNCTIONS[ufunc], 1, 1)(_boxed(given)))
        self.roundings.note(f"numpy's {ufunc.__name__} of a number of the program")
        return getattr(ufunc, method)(*(x.near if is_enclosed(x) else x for x in inputs), **options)

    # methods that numpy calls on the elements of an object array
    def exp(self) -> float:
        """e to the power of this number."""
        return exp(self)

    def expm1(self) -> float:
        """As `expm1`."""
        return expm1(self)

    def log(self) -> float:
        """The natural logarithm."""
        return log(self)

    def log2(self) -> float:
        """As `log2`."""
        return log2(self)

    def sqrt(self) -> float:
        """The square root."""
        return sqrt(self)


_ELEMENTWISE = frozenset({
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.maximum, np.minimum, np.less, np.less_equal,
    np.greater, np.greater_equal, np.equal, np.not_equal, np.power, np.absolute,
})


def is_enclosed(thing: object) -> TypeGuard[Enclosed]:
    """Whether it is an `Enclosed`; `isinstance` reports a float."""
    return type(thing) is Enclosed


def _sign_of(number: int) -> int:
    return (number > 0) - (number < 0)


def enclose(number: object, roundings: Roundings) -> Enclosed | None:
    """A number without rounding; a float of many digits is recorded. None if it is not a finite real number."""
    if type(number) is Enclosed:
        return number
    if type(number) is int or type(number) is Fraction:
        return Enclosed(Fraction(number), roundings)
    if isinstance(number, float | np.floating):
        value = float(number)
        if not math.isfinite(value):
            return None
        if not short(value):
            roundings.note(f"the double {value!r}, which the program contains or has computed")
        return Enclosed(Fraction(value), roundings)
    if isinstance(number, int | np.integer | np.bool_):
        return Enclosed(Fraction(int(number)), roundings)
    return Enclosed(Fraction(number), roundings) if isinstance(number, Fraction) else None


def as_decimal(number: float, roundings: Roundings) -> Enclosed:
    """A parameter or a record as the decimal that it was written as: 0.1 is one tenth."""
    return Enclosed(Fraction(repr(number)), roundings)


def near(number: Any) -> Any:
    """A double near an enclosed number, without recording it; anything else unchanged."""
    return number.near if type(number) is Enclosed else number


def vector(values: object) -> FloatArray:
    """Numbers as an array of doubles; of objects, if some are enclosed or, in an enclosed run, fractions."""
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return np.array(values, dtype=np.float64)
    listed = list(values) if isinstance(values, Iterable) else []
    run = _RUN.get()
    if run is not None and any(isinstance(v, Fraction) for v in listed):
        listed = [Enclosed(v, run) if isinstance(v, Fraction) else v for v in listed]
    if any(type(v) is Enclosed for v in listed):
        objects = np.empty(len(listed), dtype=object)
        objects[:] = listed
        return objects
    return np.array(listed or values, dtype=np.float64)


def finite(values: FloatArray) -> bool:
    """Whether all numbers of a `vector` are finite."""
    if values.dtype.kind != "O":
        return bool(np.isfinite(values).all())
    return all(is_enclosed(v) or math.isfinite(v) for v in values.ravel().tolist())


def nears(values: FloatArray) -> FloatArray:
    """Doubles near the numbers of a `vector`."""
    return values if values.dtype.kind != "O" else np.array([near(v) for v in values.tolist()], dtype=np.float64)


def shorts(values: FloatArray) -> bool:
    """Whether all numbers of a `vector` that are doubles are `short`."""
    if values.dtype.kind == "O":
        return all(type(v) is not float or short(v) for v in values.tolist())
    return bool(np.all((np.abs(values) < _LARGEST) & (values * _UNIT == np.floor(values * _UNIT))))


# --- functions --------------------------------------------------------------------------------------------------------


def log(x: SupportsFloat, base: SupportsFloat | None = None) -> float:
    """`math.log`, enclosed if x or the base is."""
    given = _given(x)
    if base is None:
        return math.log(x) if given is None else _as_float(_natural(given))
    one = given if given is not None else _given(base)
    if one is None:
        return math.log(x, base)
    a, b = _both(x, base, one)
    power = _exact_log(a, b)
    return _as_float(_natural(a) / _natural(b) if power is None else _fraction(Fraction(power), a))


def log2(x: SupportsFloat) -> float:
    """`math.log2`, enclosed if x is."""
    return math.log2(x) if _given(x) is None else log(x, 2)


def log1p(x: SupportsFloat) -> float:
    """`math.log1p`, enclosed if x is."""
    given = _given(x)
    return math.log1p(x) if given is None else _as_float(_natural(1 + given))


def exp(x: SupportsFloat) -> float:
    """`math.exp`, enclosed if x is."""
    given = _given(x)
    if given is None:
        return math.exp(x)
    return _as_float(_fraction(Fraction(1), given) if given.exact == 0 else _function("exp", given, lambda z: z.exp()))


def expm1(x: SupportsFloat) -> float:
    """`math.expm1`, enclosed if x is."""
    given = _given(x)
    return math.expm1(x) if given is None else exp(given) - 1


def exp2(x: SupportsFloat) -> float:
    """`math.exp2`, enclosed if x is."""
    given = _given(x)
    return math.exp2(x) if given is None else _power(_fraction(Fraction(2), given), given)


def tanh(x: SupportsFloat) -> float:
    """`math.tanh`, enclosed if x is."""
    given = _given(x)
    return math.tanh(x) if given is None else _as_float(_function("tanh", given, lambda z: z.tanh()))


def sqrt(x: SupportsFloat) -> float:
    """`math.sqrt`, enclosed if x is."""
    given = _given(x)
    if given is None:
        return math.sqrt(x)
    if given < 0:
        raise ValueError("math domain error")
    if given.exact is not None:
        roots = tuple(map(math.isqrt, given.exact.as_integer_ratio()))
        if Fraction(*roots) ** 2 == given.exact:
            return _as_float(_fraction(Fraction(*roots), given))
    return _as_float(_function("sqrt", given, lambda z: z.sqrt()))


def as_chosen(number: float) -> float:
    """A parameter chosen by a search: it equals the double exactly, so nothing is rounded."""
    run = _RUN.get()
    return number if run is None else _as_float(Enclosed(Fraction(number), run))


def to_float(number: SupportsFloat) -> float:
    """`float(number)`; in an enclosed run the number itself, without rounding."""
    given = _given(number)
    return float(number) if given is None else _as_float(given)


def fsum(numbers: Iterable[SupportsFloat]) -> float:
    """`math.fsum`, enclosed if one of the numbers is."""
    listed = list(numbers)
    if _RUN.get() is None and Enclosed not in map(type, listed):  # most sums; no call for each number
        return math.fsum(listed)
    if any(_given(x) is not None for x in listed):
        return _as_float(sum(listed))
    return math.fsum(listed)


_FUNCTIONS: dict[np.ufunc, Callable[[Any], float]] = {
    np.exp: exp, np.expm1: expm1, np.log: log, np.log1p: log1p, np.log2: log2, np.sqrt: sqrt, np.tanh: tanh,
    np.floor: math.floor, np.ceil: math.ceil,
}


def _given(x: object) -> Enclosed | None:
    """The enclosed argument of a function in an enclosed run; None outside, if it is a plain number."""
    if type(x) is Enclosed:
        return x
    run = _RUN.get()
    return None if run is None or isinstance(x, np.ndarray) else enclose(x, run)


def _fraction(number: Fraction, like: Enclosed) -> Enclosed:
    return Enclosed(number, like.roundings)


def _as_float(number: Any) -> float:
    """For type checkers: an enclosed number behaves like a float."""
    return number  # type: ignore[no-any-return]


def _both(x: object, y: object, of: Enclosed) -> tuple[Enclosed, Enclosed]:
    a, b = enclose(x, of.roundings), enclose(y, of.roundings)
    if a is None or b is None:
        raise ValueError("math domain error")
    return a, b


def _natural(x: Enclosed) -> Enclosed:
    if not x > 0:
        raise ValueError("math domain error")
    return Enclosed(Fraction(0), x.roundings) if x.exact == 1 else _function("log", x, lambda z: z.log())


def _function(name: str, x: Enclosed, does: Callable[[arb], arb]) -> Enclosed:
    with _precise():
        interval = does(x.interval)
    if not interval.is_finite():
        raise OverflowError("math range error")
    return Enclosed(None, x.roundings, interval, _digest(name, x))




@lru_cache(maxsize=1024)
def _exact_log_of(x: Fraction, base: Fraction) -> int | None:
    if base <= 0 or base == 1:
        return None
    power = round(math.log(x) / math.log(base)) if x > 0 else 0
    return power if abs(power) < MOST_BITS and base**power == x else None


def _exact_log(x: Enclosed, base: Enclosed) -> int | None:
    """The n with x = baseⁿ; None if there is no whole n."""
    if x.exact is None or base.exact is None:
        return None
    try:
        return _exact_log_of(x.exact, base.exact)
    except (OverflowError, ZeroDivisionError):
        return None


def _known(name: str, a: Enclosed, b: Enclosed) -> Enclosed | None:
    """Results that need no interval: operations with 0 and 1, and of a number with itself."""
    if a.exact == 0 and name in "*/" and (name == "*" or not b.interval.contains(0)):
        return a
    if b.exact == 0 and name in "+-*":
        return b if name == "*" else a
    if a.exact == 0 and name == "+":
        return b
    if a.exact == 1 and name == "*":
        return b
    if b.exact == 1 and name in "*/":
        return a
    if a.origin == b.origin and name in "-/":
        return Enclosed(Fraction(0 if name == "-" else 1), a.roundings)
    return None


def _power(base: Enclosed, power: Enclosed) -> float:
    if power.exact is not None and power.exact.denominator == 1:
        n = int(power.exact)
        if base.exact is not None and abs(n) * max(map(int.bit_length, base.exact.as_integer_ratio())) <= MOST_BITS:
            return _as_float(Enclosed(base.exact**n, base.roundings))
        if n == 0:
            return _as_float(Enclosed(Fraction(1), base.roundings))
        with _precise():
            interval = base.interval**n
        return _as_float(Enclosed(None, base.roundings, interval, _digest("**", base, power)))
    if power.exact == Fraction(1, 2):
        return sqrt(base)
    if base.exact == 0:
        if power > 0:
            return _as_float(Enclosed(Fraction(0), base.roundings))
        raise ZeroDivisionError("0 cannot be raised to a negative power")
    return exp(power * _natural(base))


def _floored(quotient: Enclosed) -> Enclosed:
    return Enclosed(Fraction(math.floor(quotient)), quotient.roundings) if is_enclosed(quotient) else quotient // 1


def _beyond(own: Enclosed, other: object, does: Callable[[Any, Any], Any], *, swapped: bool) -> Any:
    """Operations with ±∞ and NaN as in doubles, if only the sign matters; with arrays, elementwise.

    A float or an array, which type checkers need not tell from an `Enclosed`.
    """
    if isinstance(other, float | np.floating):
        sign = 0.0 if own == 0 else math.copysign(1.0, -1.0 if own < 0 else 1.0)
        return does(float(other), sign) if swapped else does(sign, float(other))
    if isinstance(other, np.ndarray):
        return _plain(does(_boxed(other), _boxed(own)) if swapped else does(_boxed(own), _boxed(other)))
    return NotImplemented


def _uncompared(other: object) -> bool:
    """The result of a comparison with something that is not a number: False for NaN."""
    return False if isinstance(other, float | np.floating) else NotImplemented


def _boxed(value: object) -> NDArray[np.object_]:
    if isinstance(value, np.ndarray):
        return value.astype(object)
    box = np.empty((), dtype=object)
    box[()] = value.item() if isinstance(value, np.generic) else value
    return box


def _plain(value: Any) -> Any:
    """An array of truth values as a boolean array, and a zero-dimensional array as its number."""
    if isinstance(value, np.ndarray):
        if value.shape == ():
            return value[()]
        if all(type(v) is bool for v in value.ravel().tolist()):
            return value.astype(np.bool_)
    return value


def _digest(name: str, *of: Enclosed) -> bytes:
    image = blake2b(name.encode(), digest_size=20)
    for one in of:
        image.update(b"\0%d\0" % len(one.origin) + one.origin)
    return image.digest()


@contextmanager
def _precise() -> Iterator[None]:
    before = ctx.prec
    ctx.prec = PRECISION
    try:
        yield
    finally:
        ctx.prec = before
