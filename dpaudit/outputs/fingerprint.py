"""A hashable image of a draw, for comparing two replays of the same path."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import blake2b, sha256
from itertools import chain
from operator import attrgetter
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from dpaudit.outputs.canonical import equals_itself_alone

_EVERY_FIELD = -1  # no object has this id


def fingerprint(thing: object, *, every_field: bool = False) -> Hashable:
    """Equal for equal draws of equal parameters, across replays and processes.

    Arrays are compared by their bytes, dataclasses by their fields, functions by their code and closure (a lambda
    recreated at every replay is the same function), other objects without value equality by their attributes. 1, 1.0
    and True are different, and so are 0.0 and −0.0; NaN equals itself.

    Args:
        every_field: also compare the fields of dataclasses that their `==` leaves out. A program may read them; or
            fill them, as a cache, so replays are compared without them.
    """
    return _image(thing, frozenset({_EVERY_FIELD}) if every_field else frozenset())


def key_of(thing: object) -> Hashable:
    """For results about a thing that are kept: it has the key of another only if it is equal, field by field.

    Equality alone is not enough: (1,) == (True,), and a class may leave fields out of its ==. The fingerprint alone is
    not either: two classes may have one name. It cannot be hashed where the thing cannot.
    """
    return thing, fingerprint(thing, every_field=True)


def may_change(thing: object) -> bool:
    """Whether a program could change it in place, so that its fingerprint later is another."""
    kind: Any = type(thing)
    if kind in _BY_VALUE or kind in _NUMBERS or isinstance(thing, Enum | type) or hasattr(kind, "__fingerprint__"):
        return False
    if isinstance(thing, tuple):
        kinds = set(map(type, thing))
        return not kinds <= _BY_VALUE and any(map(may_change, thing))
    if isinstance(thing, FunctionType):
        return bool(thing.__closure__ or thing.__defaults__ or thing.__kwdefaults__)
    return not _is_frozen(kind) or any(may_change(getattr(thing, f.name, None)) for f in fields(kind))


def _image(thing: Any, above: frozenset[int]) -> Hashable:
    """`above`: ids of the objects that contain this one, so that a function may refer to itself; and `_EVERY_FIELD`."""
    kind: Any = type(thing)
    if kind in _BY_VALUE:
        return (kind.__name__, thing)
    if kind is float or kind is np.float64:
        # zeros differ by their sign, and NaN is not equal to itself
        return (kind.__name__, thing if thing < 0 or thing > 0 else float(thing).hex())
    return _reader(kind)(thing, above)


def _images(things: Iterable[Any], above: frozenset[int]) -> Hashable:
    # as `_image`, without a call for what most parts are
    return tuple([
        (type(one).__name__, one) if type(one) in _BY_VALUE
        else ("float", one) if type(one) is float and (one < 0 or one > 0)
        else _image(one, above)
        for one in things
    ])


_Reader: TypeAlias = Callable[[Any, frozenset[int]], Hashable]


@lru_cache(maxsize=1024)
def _reader(kind: Any) -> _Reader:
    """How things of a type are compared; it is found once, as most draws are of a few types."""
    if issubclass(kind, tuple) or _is_frozen(kind):
        # made of what was there before it, it contains itself only through another thing that does
        return _reading(kind)
    read = _reading(kind)
    return lambda thing, above: "itself" if id(thing) in above else read(thing, above | {id(thing)})


def _is_frozen(kind: Any) -> bool:
    made = getattr(kind, "__dataclass_params__", None)
    return made is not None and bool(made.frozen)


def _reading(kind: Any) -> _Reader:
    name = _name(kind)
    if issubclass(kind, np.ndarray):
        return _array
    if issubclass(kind, type | Enum):
        return lambda thing, _: thing
    if issubclass(kind, ModuleType):
        return lambda thing, _: ("module", thing.__name__)
    if hasattr(kind, "__fingerprint__"):
        return lambda thing, _: (name, thing.__fingerprint__())
    if is_dataclass(kind):
        compared = tuple(f.name for f in fields(kind) if f.compare)
        others = tuple(f.name for f in fields(kind) if not f.compare)
        if not others and len(compared) > 1:
            values_of = attrgetter(*compared)
            return lambda thing, above: (name, _images(values_of(thing), above))
        return lambda thing, above: (
            name, tuple([
                _image(getattr(thing, one, "not yet set"), above)
                for one in ((*compared, *others) if _EVERY_FIELD in above else compared)
            ])
        )
    if issubclass(kind, tuple | list):
        return _sequence
    if issubclass(kind, dict):
        return lambda thing, above: (
            name, tuple((_image(key, above), _image(value, above)) for key, value in thing.items())
        )
    if issubclass(kind, set | frozenset):
        return lambda thing, above: (name, frozenset(_image(part, above) for part in thing))
    if issubclass(kind, FunctionType):
        return _function
    if issubclass(kind, MethodType):
        return lambda thing, above: ("method", _image(thing.__self__, above), thing.__name__)
    if issubclass(kind, partial):
        return lambda thing, above: (
            "partial", tuple(_image(part, above) for part in (thing.func, thing.args, thing.keywords))
        )
    return _other


def _array(thing: Any, above: frozenset[int]) -> Hashable:
    if thing.dtype.hasobject:
        return ("ndarray", thing.shape, _image(thing.tolist(), above))
    kind = thing.dtype.str if thing.dtype.names is None else str(thing.dtype)
    # of long arrays, two or three times as fast as blake2b where the processor has instructions for it
    return ("ndarray", thing.shape, kind, sha256(thing.tobytes()).digest())


def _sequence(thing: Any, above: frozenset[int]) -> Hashable:
    kind: Any = type(thing)
    name, kinds = _name(kind), set(map(type, thing))
    if len(kinds) == 1 and kinds <= _BY_VALUE:
        # a long dataset of plain records is compared directly
        return (name, kinds.pop().__name__, tuple(thing))
    if kinds == {tuple}:
        parts = set(map(type, chain.from_iterable(thing)))
        if len(parts) == 1 and parts <= _BY_VALUE:
            # and one of examples, or of names made of plain parts
            return (name, "tuple", parts.pop().__name__, tuple(thing))
    return (name, _images(thing, above))


def _function(thing: Any, above: frozenset[int]) -> Hashable:
    held = (*(_content(cell) for cell in thing.__closure__ or ()), *(thing.__defaults__ or ()), thing.__kwdefaults__)
    # two lambdas of one module have one name
    return (thing.__module__, thing.__qualname__, _code(thing.__code__), tuple(_image(part, above) for part in held))


@lru_cache(maxsize=1024)
def _code(code: CodeType) -> bytes:
    """A digest of what a function does, equal in every process."""
    constants = [_code(one) if isinstance(one, CodeType) else _constant(one) for one in code.co_consts]
    parts = (code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants)
    return blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=16).digest()


def _constant(one: object) -> object:
    # the order of a set of strings is not the same in every process
    return sorted(map(repr, one)) if isinstance(one, frozenset) else one


def _other(thing: Any, above: frozenset[int]) -> Hashable:
    kind: Any = type(thing)
    name = _name(kind)
    if equals_itself_alone(thing) and hasattr(thing, "__dict__"):
        return (name, _image(vars(thing), above))
    try:
        hash(thing)
    except TypeError:
        return (name, repr(thing))
    return (name, "no number" if _unequal_to_itself(thing) else thing)


def _unequal_to_itself(thing: object) -> bool:
    """Whether it is another library's NaN, such as Decimal's, or pandas' NA, which is neither equal nor unequal."""
    try:
        return bool(thing != thing)
    except TypeError:
        return True


_BY_VALUE = frozenset({int, bool, str, bytes, type(None)})
_NUMBERS = frozenset({float, complex, Fraction, range, np.float64})


@lru_cache(maxsize=1024)
def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return "not yet set"
