"""The output ⊥, and the canonical outcome of an output.

An outcome is an immutable value that depends only on one output. This makes the counts of an event binomial: whether an
output lies in an event must not depend on the other outputs, nor on how the program produced it.
"""

from __future__ import annotations

import dataclasses
import math
import re
from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, MappingView
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import OutputError
from dpaudit.outputs.ranges import IntegerRange
from dpaudit.stats.enclosed import Enclosed, watched

Output: TypeAlias = Any
"""What a mechanism or an audited function returned, or the value of a draw: any object."""
Outcome: TypeAlias = Hashable
"""What `canonical` makes of an output."""


class Bottom(Enum):
    """The output ⊥: "no answer".  One value, equal to itself across processes."""

    BOTTOM = "⊥"

    def __repr__(self) -> str:
        return "⊥"

    __str__ = __repr__


BOTTOM = Bottom.BOTTOM
LONGEST = 1_000
"""Most bits of an integer that is written as a decimal."""
KEYED = frozenset({"dict", "Series"})
"""Kinds of structures whose parts are named by the user's keys, not by the fields of a class."""


class NotANumber(Enum):
    """The outcome of every NaN: one value that equals itself, even across processes."""

    NAN = "nan"

    def __repr__(self) -> str:
        return "nan"

    __str__ = __repr__

    def __float__(self) -> float:
        return float("nan")


NAN = NotANumber.NAN


@dataclass(frozen=True)
class Structure:
    """The outcome of an unhashable object with parts: a dict, a data frame, an array without elements.

    Args:
        kind: the type of the object, such as "dict".
        parts: (name, outcome) of every part; for a dict sorted by key, with the original order if that differs.
    """

    kind: str
    parts: tuple[tuple[Outcome, Outcome], ...]

    def __repr__(self) -> str:
        """As Python and pandas write it, with keys in the order in which they came."""
        if self.kind in KEYED:
            inside = ", ".join(f"{shown(key)}: {shown(part)}" for key, part in self.items())
            return f"{{{inside}}}" if self.kind == "dict" else f"Series({{{inside}}})"
        return f"{self.kind}({', '.join(f'{name}={shown(part)}' for name, part in self.parts)})"

    def items(self) -> list[tuple[Outcome, Outcome]]:
        """The keys and values of a dict or Series, in the order in which they came."""
        parts = list(self.parts)
        if not parts or parts[-1][0] != ORDER:
            return parts
        _, order = parts.pop()
        assert isinstance(order, tuple)
        came = dict(zip(order, parts, strict=True))
        return [came[at] for at in range(len(parts))]


@dataclass(frozen=True)
class Raised:
    """The outcome of a call, or of an execution path, that raised, which an attacker sees.

    Args:
        error: the name of the exception's class.
        where: message and location of one such exception, for the report; ignored when comparing outcomes.
    """

    error: str
    where: str = field(default="", compare=False)
    cause: Exception | None = field(default=None, compare=False)
    """The exception itself, in the process where it was raised."""
    message: str = field(default="", compare=False)
    """The full message, also ignored when comparing outcomes; it is tested separately (`output_form`)."""

    def __reduce__(self) -> tuple[type[Raised], tuple[str, str, None, str]]:
        """Without the exception, which may not pickle."""
        return type(self), (self.error, self.where, None, self.message)

    def __repr__(self) -> str:
        return f"raises {self.error}"


@dataclass(frozen=True)
class TookLonger(Raised):
    """The outcome of a call that exceeded its time limit; `error` is the limit, such as "0.5 s"."""

    def __repr__(self) -> str:
        return f"took longer than {self.error}"


@dataclass(frozen=True)
class Exited(Raised):
    """The outcome of a command that ended without an output; `error` says how, such as "exit code 3"."""

    def __repr__(self) -> str:
        return f"ends with {self.error}"


def canonical(output: Output) -> Outcome:
    """The outcome of one output: equal for equal outputs, immutable, and a function of this output alone.

    numpy scalars become Python scalars; every NaN becomes the same value; lists, tuples and arrays become tuples, at
    any depth (an array without elements keeps its shape); a set becomes a frozenset; a dict or pandas Series becomes
    its items by key, a data frame its columns, index and values, a complex number its parts, an unhashable dataclass
    or named tuple its fields. Enum members, frozen dataclasses and other objects that hash by value are outcomes
    themselves.

    Raises:
        OutputError: an object that equals only itself (a function, an object of a class without `__eq__`), an
            unhashable object, or an `IntegerRange`.
    """
    kind = type(output)
    if kind in _ATOMS:
        return output  # type: ignore[no-any-return]
    if kind is Enclosed:
        return _number(output)
    if kind is float:
        return output if output == output else NAN
    if kind is tuple or kind is list:
        return tuple(map(canonical, output))
    if kind is dict:
        return _items("dict", [(canonical(key), canonical(value)) for key, value in output.items()])
    if isinstance(output, np.generic):
        return _numpy_scalar(output)
    if isinstance(output, np.ndarray):
        return _array(output)
    if kind is IntegerRange:
        raise OutputError(
            "An IntegerRange cannot be counted, as in laws it represents all its members; return (start, stop) instead."
        )
    return _other(output)


def as_sent(outcome: Outcome) -> Output:
    """The outcome of a sub-mechanism as its program returned it: dicts are restored, at any depth."""
    if type(outcome) is tuple and any(type(part) in (tuple, Structure) for part in outcome):
        return tuple(map(as_sent, outcome))
    if type(outcome) is not Structure or outcome.kind != "dict":
        return outcome
    return {key: as_sent(value) for key, value in outcome.items()}


def _number(output: Enclosed) -> Outcome:
    """The float that an enclosed number was written as, else its fraction, else a nearby double."""
    if output.written is not None:
        return output.written
    return float(output) if output.exact is None else output.exact


def _without_enclosed(thing: Output) -> Output:
    """An object from an enclosed run, with its enclosed numbers replaced by their outcomes."""
    kind = type(thing)
    if kind is Enclosed:
        return _number(thing)
    if kind in (tuple, list):
        parts = [_without_enclosed(part) for part in thing]
        return thing if all(a is b for a, b in zip(parts, thing, strict=True)) else kind(parts)
    if not dataclasses.is_dataclass(thing) or isinstance(thing, type):
        return thing
    held = {one.name: getattr(thing, one.name) for one in dataclasses.fields(thing) if one.init}
    made = {name: _without_enclosed(part) for name, part in held.items()}
    same = all(made[name] is part for name, part in held.items())
    return thing if same else dataclasses.replace(thing, **made)


def equals_itself_alone(thing: object) -> bool:
    """Whether its class leaves equality to identity, so that a copy made by another run would not equal it."""
    inherited: object = object.__eq__
    return type(thing).__eq__ is inherited and not isinstance(thing, Enum | type)


@dataclass
class Kinds:
    """Raises for outcomes that are equal in Python but distinguishable by their repr, such as 1 and True.

    An attacker can distinguish them, but output distributions and counts would add them up.

    Args:
        zeros: whether 0.0 and −0.0 are different values.
        known: the outcomes so far, with their strings.
    """

    zeros: bool = True
    known: dict[Outcome, str | None] = field(default_factory=dict)

    def see(self, outcome: Outcome) -> None:
        """Add an outcome.

        Raises:
            OutputError: an earlier outcome is equal to it but a different value.
        """
        text = None if _is_plain(outcome) else likeness(outcome)
        if text is not None and not self.zeros:
            text = _MINUS_ZERO.sub("0.0", text)
        before = self.known.setdefault(outcome, text)
        if before != text:
            plain = next(shown(one) for one in self.known if one == outcome) if before is None else before
            raise equal_and_different(plain, shown(outcome))


def equal_and_different(one: str, other: str) -> OutputError:
    """The error for two outcomes that are equal in Python and not the same."""
    return OutputError(
        f"The outputs include {one} and {other}, which are equal in Python, but an attacker can distinguish them; "
        "return one type."
    )


def kinds_of(outcome: Any) -> Hashable:
    """What outcomes that are equal in Python may differ in, such as 1 and True; None for the usual ones."""
    kind: Any = type(outcome)
    if kind is tuple:
        if _PLAIN.issuperset(map(type, outcome)):
            return None
        parts = tuple(map(kinds_of, outcome))
        return None if set(parts) == {None} else parts
    if kind is Structure:
        return kind, kinds_of(outcome.parts)
    return None if kind in _PLAIN else kind


def _is_plain(outcome: Outcome) -> bool:
    """Whether its string follows from its value: integers, strings, and tuples of these."""
    if type(outcome) is tuple:
        return _PLAIN.issuperset(map(type, outcome)) or all(map(_is_plain, outcome))
    return type(outcome) in _PLAIN


_PLAIN = frozenset({int, str, bytes, type(None), Bottom})


def likeness(outcome: Outcome) -> str:
    """A string that is the same for the same outcome in another process, or from another copy of its class."""
    if isinstance(outcome, tuple):
        name = "" if type(outcome) is tuple else type(outcome).__qualname__
        return f"{name}({', '.join(map(likeness, outcome))})"
    text = shown(outcome)
    if " at 0x" in text:
        text = f"{type(outcome).__qualname__}{_ADDRESS.sub('', repr(_attributes(outcome) or text))}"
    return text


def _attributes(thing: object) -> dict[str, object]:
    """The instance attributes of an object, including slots."""
    slots = [name for kind in type(thing).__mro__ for name in np.atleast_1d(getattr(kind, "__slots__", ())).tolist()]
    held = {name: getattr(thing, name) for name in slots if not name.startswith("__") and hasattr(thing, name)}
    return {**held, **getattr(thing, "__dict__", {})}


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MINUS_ZERO = re.compile(r"-0\.0(?![\d.e])")


def shown(outcome: object) -> str:
    """The `repr` of an outcome, made the same in every process even if it contains sets."""
    if isinstance(outcome, frozenset | set):
        return f"{{{', '.join(sorted(map(shown, outcome)))}}}" if outcome else "{}"
    if type(outcome) is tuple:
        inside = ", ".join(map(shown, outcome))
        return f"({inside},)" if len(outcome) == 1 else f"({inside})"
    if type(outcome) is int and outcome.bit_length() > LONGEST:
        return hex(outcome)  # Python refuses to print longer ones as decimals
    return _text(outcome, repr)


def label(outcome: object) -> str:
    """The label of an outcome: a string without its quotes, else its `shown`."""
    whole = isinstance(outcome, tuple | frozenset) or type(outcome) is int
    return shown(outcome) if whole else _text(outcome, str)


def _text(outcome: object, written: Callable[[object], str]) -> str:
    try:
        return written(outcome)
    except Exception:
        # the class is defined by the mechanism
        return f"<{type(outcome).__qualname__} without a repr>"


def real_shape(outcome: Outcome) -> tuple[int, ...] | None:
    """The shape of a real outcome: () for a finite float; for a tuple of floats, or of arrays of equal shape, the array
    shape; None for any other outcome."""
    if type(outcome) is float:
        return () if math.isfinite(outcome) else None
    if type(outcome) is not tuple or not outcome:
        return None
    first = real_shape(outcome[0])
    if first is None or any(real_shape(part) != first for part in outcome[1:]):
        return None
    return (len(outcome), *first)


def _numpy_scalar(output: np.generic) -> Outcome:
    if isinstance(output, np.complexfloating):
        return canonical(complex(output))
    if isinstance(output, np.floating) and output != output:
        return NAN
    if isinstance(output, np.longdouble):
        return canonical(float(output))
    item = output.item()
    # a date with a unit that Python lacks stays unchanged
    return output if isinstance(item, np.generic) else canonical(item)


def _array(output: NDArray[np.generic]) -> Outcome:
    if output is np.ma.masked:
        return Structure("masked", ())
    if isinstance(output, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(output)
        # including masked values: they are released with the array
        return Structure("masked array", (("data", _array(output.data)), ("mask", _array(mask))))
    if output.size == 0 and output.ndim != 1:
        return Structure("array", (("shape", tuple(output.shape)),))
    return canonical(output.tolist())


def _other(output: Output) -> Outcome:
    """Everything that is not a plain scalar, a tuple, a list or a numpy object."""
    if watched() is not None:
        output = _without_enclosed(output)
    kind = type(output)
    if isinstance(output, complex):
        return Structure("complex", (("real", canonical(output.real)), ("imag", canonical(output.imag))))
    if isinstance(output, Enum | type):
        return output
    if isinstance(output, float | int | str | bytes):
        # a subclass, such as a string with its own methods, becomes its plain value
        base: type = next(base for base in (float, int, str, bytes) if isinstance(output, base))
        return canonical(base.__new__(base, output))
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return _named(output, list(zip(output._fields, output, strict=True)))
    if isinstance(output, tuple | list | deque | array):
        return tuple(map(canonical, output))
    if isinstance(output, bytearray | memoryview):
        return bytes(output)
    if isinstance(output, set | frozenset):
        return frozenset(map(canonical, output))
    if isinstance(output, Mapping):
        return _items("dict", [(canonical(key), canonical(value)) for key, value in output.items()])
    library = kind.__module__.partition(".")[0]
    if library == "pandas":
        return _pandas(output)
    if library == "polars" and kind.__name__ in ("DataFrame", "Series"):
        return _polars(output)
    if dataclasses.is_dataclass(output):
        return _named(output, [(field.name, getattr(output, field.name)) for field in dataclasses.fields(output)])
    if is_array(output):
        # of another library, such as torch or jax
        shape = tuple(output.shape)
        return Structure("array", (("shape", shape),)) if 0 in shape and len(shape) > 1 else canonical(output.tolist())
    if equals_itself_alone(output):
        raise OutputError(
            f"An output of type {kind.__name__} cannot be counted because it equals only itself; {_remedy(output)}."
        )
    if not _hashes(output):
        raise OutputError(
            f"An output of type {kind.__name__} cannot be counted because it is not hashable; {_remedy(output)}."
        )
    if output != output:
        if not _is_nan(output):
            raise OutputError(
                f"An output of type {kind.__name__} cannot be counted because it does not equal itself; {_REMEDY}."
            )
        # another library's NaN, such as Decimal's
        return Structure(kind.__name__, ())
    return output  # type: ignore[no-any-return]


def _is_nan(output: Output) -> bool:
    try:
        return math.isnan(output)
    except (TypeError, ValueError):
        return False


def _named(output: Output, parts: list[tuple[str, Output]]) -> Outcome:
    """A named tuple or dataclass: itself if it is already an outcome, because programs use its attributes.

    A dataclass with fields that `==` ignores is not an outcome: different outputs would be counted together.
    """
    outcomes = [(name, canonical(part)) for name, part in parts]
    same = (type(part) is type(made) and part == made for (_, part), (_, made) in zip(parts, outcomes, strict=True))
    whole = not dataclasses.is_dataclass(output) or all(one.compare for one in dataclasses.fields(output))
    if whole and _hashes(output) and not equals_itself_alone(output) and all(same):
        return output  # type: ignore[no-any-return]
    return Structure(type(output).__qualname__, tuple(outcomes))


def _pandas(output: Output) -> Outcome:
    """Convert pandas objects, which are recognised by class name so that pandas is not imported."""
    name = type(output).__name__
    if name == "DataFrame":
        columns, index = _labels(output.columns), _labels(output.index)
        values = tuple(tuple(canonical(value) for value in output.iloc[:, at].tolist()) for at in range(len(columns)))
        parts = (("columns", columns), ("index", index), ("values", values))
        arrays = [output.iloc[:, at].array for at in range(len(columns))]
        return Structure("DataFrame", (*parts, *_beside(output, output.columns, output.index, *arrays)))
    if name == "Series":
        items = _items("Series", list(zip(_labels(output.index), map(canonical, output.tolist()), strict=True)))
        beside = _beside(output, output.index)
        return Structure("named Series", (("items", items), *beside)) if beside else items
    if name in ("NaTType", "NAType"):
        return Structure(name.removesuffix("Type"), ())
    if name == "Interval":
        ends = (("left", canonical(output.left)), ("right", canonical(output.right)))
        return Structure("Interval", (*ends, ("closed", output.closed)))
    if hasattr(output, "tolist") and hasattr(output, "dtype"):
        members, beside = _labels(output), _beside(output)
        return Structure(name, (("values", members), *beside)) if beside else members
    if equals_itself_alone(output) or not _hashes(output):
        raise OutputError(f"An output of type {name} cannot be counted; {_remedy(output)}.")
    return output  # type: ignore[no-any-return]


def _polars(output: Output) -> Outcome:
    """Convert polars objects, which are recognised by class name so that polars is not imported; rows have numbers."""
    name = type(output).__name__
    if name == "Series":
        members = canonical(output.to_list())
        return Structure("named Series", (("items", members), ("names 0", (output.name,)))) if output.name else members
    values = tuple(canonical(column.to_list()) for column in output.get_columns())
    parts = (("columns", tuple(output.columns)), ("index", tuple(range(output.height))), ("values", values))
    return Structure("DataFrame", parts)


def is_array(output: Output) -> bool:
    """Whether an object is an array of a library that is not known here."""
    return all(hasattr(output, name) for name in ("tolist", "dtype", "shape")) and not isinstance(output, type)


def _labels(index: Output) -> tuple[Outcome, ...]:
    return tuple(map(canonical, index.tolist()))


def _beside(*parts: Output) -> tuple[tuple[str, Outcome], ...]:
    """What pandas objects contain besides their values: names, attributes, categories and levels, used or not."""
    details: list[tuple[str, Outcome]] = []
    for at, part in enumerate(parts):
        names = getattr(part, "names", [getattr(part, "name", None)])
        categories = getattr(getattr(part, "dtype", None), "categories", None)
        extras = {
            "names": None if all(one is None for one in names) else canonical(list(names)),
            "categories": None if categories is None else _labels(categories),
            "levels": tuple(map(_labels, part.levels)) if hasattr(part, "levels") else None,
            "attributes": canonical(part.attrs) if getattr(part, "attrs", None) else None,
        }
        details += [(f"{name} {at}", outcome) for name, outcome in extras.items() if outcome is not None]
    return tuple(details)


def _items(kind: str, items: list[tuple[Outcome, Outcome]]) -> Structure:
    """The items in an order that depends only on the keys; equal keys of a Series keep their order.

    The original order is stored too: an attacker sees it, and it may be the order of the records.
    """
    keys = tuple([key for key, _ in items])
    # equal keys of other types may be sorted differently
    order = _sorted_texts(keys) if set(map(type, keys)) == {str} else _sorted(keys)
    if order is None:
        return Structure(kind, tuple(items))
    return Structure(kind, (*(items[at] for at in order), (ORDER, order)))


def _sorted(keys: tuple[Outcome, ...]) -> tuple[int, ...] | None:
    """The indices of keys in sorted order; None if they are sorted."""
    order = tuple(sorted(range(len(keys)), key=lambda at: (type(keys[at]).__name__, shown(keys[at]))))
    return None if order == tuple(range(len(keys))) else order


_sorted_texts = lru_cache(maxsize=1024)(_sorted)
"""The same for strings: most programs return the same keys in every call."""


ORDER = Structure("order", ())
"""The name of the part that holds the order of keys, if that is not the sorted one."""


def _hashes(output: object) -> bool:
    try:
        hash(output)
    except TypeError:
        return False
    return True


_ATOMS = frozenset({int, bool, str, bytes, type(None), Bottom, NotANumber, Structure, Raised, TookLonger, Exited})
_REMEDY = "return a number, a string, a tuple, a numpy array, a dict, a data frame or a dataclass"


def _remedy(output: Output) -> str:
    """What to return instead of an output that cannot be counted."""
    kind = type(output)
    methods = ("collect", "to_pandas", "to_pylist", "toarray")
    if "GroupBy" in kind.__name__:
        instead = "output.sum()"
    elif method := next((name for name in methods if callable(getattr(output, name, None))), None):
        instead = f"output.{method}()"
    elif isinstance(output, Iterator | MappingView):
        instead = "list(output)"
    elif hasattr(kind, "__float__"):
        instead = "float(output)"
    elif hasattr(output, "coef_"):
        instead = "output.coef_"
    elif callable(output):
        instead = "what it returns when it is called"
    else:
        return _REMEDY
    return f"{_REMEDY}, such as {instead}"
