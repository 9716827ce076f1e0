"""Numbers as reports print them: bounds are rounded to the side on which they stay true.

A certified lower bound is rounded down, the smallest violation that would have been seen is rounded up, and
no rounding may put a number on the other side of the claim it is compared with.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

_BYTES = ("B", "kB", "MB", "GB", "TB", "PB")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def stated(x: float) -> str:
    """A number that somebody chose (the claim's ε): all its digits, and "1.0" rather than "1"."""
    text = f"{x:.12g}"
    return f"{text}.0" if text.lstrip("-").isdigit() else text


def small(x: float) -> str:
    """A probability or δ: "0", "1e-06", "0.0123"."""
    return f"{x:.3g}"


def count(x: int) -> str:
    """A whole number with thousands separated: "1,000,000"."""
    return f"{x:,}"


def in_bytes(size: float) -> str:
    """A number of bytes with three digits: "8 B", "1.28 MB"."""
    step = 0
    while size >= 999.5 and step < len(_BYTES) - 1:
        size, step = size / 1000, step + 1
    return f"{size:.3g} {_BYTES[step]}"


def lower(x: float, against: float | None = None, *, digits: int = 3) -> str:
    """`x` rounded down to `digits` digits, or to as many as show on which side of `against` it lies.

    The next double above `against` is shown as `against`: a bound that is that number says no more.
    """
    if against is not None and x == math.nextafter(against, math.inf):
        x, against = against, None
    return _rounded(x, ROUND_FLOOR, against, digits)


def upper(x: float, against: float | None = None, *, digits: int = 3) -> str:
    """`x` rounded up to `digits` digits, or to as many as show on which side of `against` it lies."""
    return _rounded(x, ROUND_CEILING, against, digits)


def nearest(x: float, against: float | None = None, *, digits: int = 3) -> str:
    """`x` rounded to `digits` digits, or to as many as show on which side of `against` it lies."""
    return _rounded(x, ROUND_HALF_EVEN, against, digits)


def exactly(x: float, against: float | None = None) -> str:
    """A number that was computed, not sampled: seven digits.

    What agrees with `against` but for the rounding of sums of doubles is not shown as being on either side of it.
    """
    if against is not None and math.isclose(x, against, rel_tol=1e-9):
        against = None
    return nearest(x, against, digits=7)


def apart(*values: float, digits: int = 2) -> tuple[str, ...]:
    """Numbers rounded to `digits` digits, or to as many as show which ones differ, and which are below 1."""
    shown: tuple[str, ...] = ()
    for more in range(digits, 18):
        shown = tuple(nearest(value, 1.0, digits=more) for value in values)
        if len(set(shown)) == len(set(values)):
            break
    return shown


def percent(confidence: float, *, digits: int = 2) -> str:
    """A confidence as "99.9 %", never rounded up: the error 1 − confidence keeps `digits` digits, rounded up."""
    return f"{((1 - _error(confidence, digits)) * 100).normalize():f} %"


def error(confidence: float) -> str:
    """The error 1 − confidence, with two digits, rounded up: "0.001"."""
    return small(float(_error(confidence)))


def _error(confidence: float, digits: int = 2) -> Decimal:
    # In decimal: 1 − 0.999 in floating point is a little more than 0.001, and would be rounded up.
    exact = max(1 - Decimal(repr(float(confidence))), Decimal(0))
    return Context(prec=digits, rounding=ROUND_CEILING).plus(exact)


def power_of_ten(x: float) -> str:
    """A tick label on a logarithmic axis: "0.1", "10", "10⁻³"."""
    return ten_to(round(math.log10(x)))


def ten_to(exponent: int) -> str:
    """A whole power of ten, however large: "0.1", "10", "10⁻³", "10⁴⁰⁰"."""
    if -1 <= exponent <= 2:
        return f"{10.0**exponent:g}"
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def power_below(exponent: float, against: Decimal | None = None) -> str:
    """A number given by its logarithm to base 10, rounded down: "2,500", "5.1 × 10¹⁶", "1".

    It has two digits, or as many as show on which side of `against` it lies.
    """
    exact, shown = _tenth_power(exponent), Decimal(0)
    for digits in range(2, 18):
        shown = Context(prec=digits, rounding=ROUND_FLOOR).plus(exact)
        if against is None or (shown < against) == (exact < against):
            break
    return power_text(shown)


def power_rounded(exponent: float, *, up: bool) -> Decimal:
    """A number given by its logarithm to base 10, with three digits."""
    return Context(prec=3, rounding=ROUND_CEILING if up else ROUND_FLOOR).plus(_tenth_power(exponent))


def power_text(x: Decimal) -> str:
    """A positive number, however large or small: "2,500", "0.91", "5.1 × 10¹⁶"."""
    order = x.adjusted()
    if -4 < order < 6:
        return f"{x.normalize():,f}"
    return f"{x.scaleb(-order).normalize():f} × 10{str(order).translate(_SUPERSCRIPTS)}"


def _tenth_power(exponent: float) -> Decimal:
    return Context(prec=40).power(Decimal(10), Decimal(repr(float(exponent))))


def _rounded(x: float, rounding: str, against: float | None, least: int = 3) -> str:
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    exact = Decimal(repr(float(x)))
    text = ""
    for digits in range(least, 18):
        text = f"{float(Context(prec=digits, rounding=rounding).plus(exact)):.{digits}g}"
        if against is None or _sign(float(text), against) == _sign(x, against):
            break
    return text


def _sign(x: float, against: float) -> int:
    return (x > against) - (x < against)
