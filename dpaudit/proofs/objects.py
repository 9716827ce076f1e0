"""Objects that the program makes: counters, and instances of plain classes."""

from __future__ import annotations

import ast
import inspect
import types
from collections import Counter, defaultdict, namedtuple
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeAlias

from dpaudit.proofs.forms import Cell, Form
from dpaudit.proofs.functions import Table
from dpaudit.proofs.paths import CannotMerge
from dpaudit.proofs.results import Unsupported
from dpaudit.proofs.values import Instance, NamedInstance, Native, is_fixed

Interpreter: TypeAlias = Any
"""`interpreter.Interpreter`, which imports this module."""
_OF_NAMED_TUPLES = frozenset({
    "__doc__", "__slots__", "_fields", "_field_defaults", "__new__", "_make", "_replace", "__repr__", "_asdict",
    "__getnewargs__", "__match_args__", "__module__", "__annotations__", "__orig_bases__", "__replace__",
    "__annotate__", "__annotate_func__", "__annotations_cache__", "__static_attributes__", "__firstlineno__",
})
_FIELD = type(vars(namedtuple("_Named", "field"))["field"])
"""What reads a field of a named tuple."""
"""What Python puts into a class of named tuples."""


class Tally:
    """A Counter, or a defaultdict of numbers: of each key, the sum of what was added.

    Which keys it has depends on the data, so it can be asked for given keys alone.

    Args:
        start: 0 or 0.0, the value of a key that was not counted.
    """

    def __init__(self, start: float) -> None:
        self.start = start
        self.entries: list[tuple[Any, Any]] = []

    def add(self, interpreter: Interpreter, key: Any, amount: Any) -> None:
        """self[key] += amount."""
        if interpreter.path.merging:
            raise CannotMerge
        values = key.function.values if isinstance(key, Cell) and isinstance(key.function, Table) else (key,)
        if isinstance(key, Form) or not all(is_fixed(each) and each == each for each in values):
            raise interpreter.refused("A key of this kind is not counted.", "Use a finite domain, or np.histogram.")
        interpreter.number(amount)
        self.entries.append((key, amount))

    def __dpaudit_item__(self, interpreter: Interpreter, key: Any) -> Any:
        if not is_fixed(key):
            raise interpreter.refused("A count is looked up by a key that depends on the data or on noise.")
        total: Any = self.start
        for each, amount in self.entries:
            equal = interpreter.one_comparison(ast.Eq(), each, key)
            if isinstance(equal, Cell):
                amount = interpreter.where(equal, amount, type(self.start)(0))
            elif not interpreter.truth(equal):
                continue
            total = interpreter.binary(ast.Add, total, amount)
        return total

    def refused(self, interpreter: Interpreter) -> Unsupported:
        refusal: Unsupported = interpreter.refused(
            "Which keys were counted depends on the data.", "Ask for the count of every possible key."
        )
        return refusal

    def __dpaudit_items__(self, interpreter: Interpreter) -> Iterator[Any]:
        raise self.refused(interpreter)

    def __dpaudit_length__(self, interpreter: Interpreter) -> Any:
        raise self.refused(interpreter)

    def __dpaudit_method__(self, interpreter: Interpreter, name: str) -> Any:
        if name != "get":
            raise self.refused(interpreter)

        def get(key: Any, default: Any = None) -> Any:
            if type(default) is not type(self.start) or default != 0:
                raise interpreter.refused("A count is looked up with another default than 0.")
            return self.__dpaudit_item__(interpreter, key)

        return Native("get", get)


def tallied(interpreter: Interpreter, kind: type, args: tuple[Any, ...], keywords: dict[str, Any]) -> Tally | None:
    """A Counter of values, or a defaultdict of numbers; None for other classes and arguments."""
    if keywords:
        return None
    if kind is defaultdict and len(args) == 1 and (args[0] is int or args[0] is float):
        return Tally(args[0]())
    if kind is not Counter or len(args) > 1 or (args and isinstance(args[0], dict | str | Tally)):
        return None
    made = Tally(0)
    for value in interpreter.iterate(args[0]) if args else ():
        made.add(interpreter, value, 1)
    return made


def instance(kind: type, args: tuple[Any, ...], keywords: dict[str, Any]) -> Instance | None:
    """An instance of a dataclass or a class of named tuples as Python makes them; None for other classes."""
    named = _is_named_tuple(kind)
    if not named and not _is_plain_dataclass(kind):
        return None
    made = _plain(vars(kind)["__new__" if named else "__init__"])
    try:
        given = inspect.signature(made).bind(None, *args, **keywords)
    except TypeError:
        return None
    given.apply_defaults()
    first = next(iter(given.signature.parameters))
    values = {name: value for name, value in given.arguments.items() if name != first}
    names = kind._fields if named else tuple(each.name for each in fields(kind))  # type: ignore[attr-defined]
    if tuple(values) != names:
        return None
    return (NamedInstance if named else Instance)(kind, values)


def initialized(
    interpreter: Interpreter, kind: type, args: tuple[Any, ...], keywords: dict[str, Any]
) -> Instance | None:
    """An instance of a class that does no more than set attributes; None for other classes."""
    if not _is_plain_class(kind):
        return None
    made, begin = Instance(kind, {}), vars(kind).get("__init__")
    if begin is None:
        return made if not args and not keywords else None
    if interpreter.call(begin, (made, *args), keywords) is not None:
        raise interpreter.refused("The program raises TypeError: __init__ returns a value.")
    return made


def has_attribute(owner: Instance, name: str) -> bool:
    """Whether an attribute of an instance is one that can be set, and reads as it was set."""
    if is_dataclass(owner.kind):
        return name in owner.values and not vars(owner.kind)["__dataclass_params__"].frozen
    held = inspect.getattr_static(owner.kind, name, None)
    return not name.startswith("__") and not hasattr(type(held), "__set__") and not hasattr(type(held), "__delete__")


_OF_CLASSES = frozenset({
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__static_attributes__", "__firstlineno__",
})
"""What Python puts into every class."""


def _is_plain_class(kind: type) -> bool:
    own = vars(kind)
    return type(kind) is type and kind.__bases__ == (object,) and not is_dataclass(kind) and "__dict__" in own and all(
        name in _OF_CLASSES or (name in ("__init__", "__call__") and isinstance(value, types.FunctionType))
        for name, value in own.items() if name.startswith("__") and name.endswith("__")
    )


def _plain(function: Any) -> Any:
    return function.__func__ if type(function) is staticmethod else function


def _is_generated(function: Any) -> bool:
    code = getattr(_plain(function), "__code__", None)
    return code is not None and code.co_filename.startswith("<string>")


def _is_plain_dataclass(kind: type) -> bool:
    if type(kind) is not type or not is_dataclass(kind) or kind.__bases__ != (object,):
        return False
    own = vars(kind)
    changed = {"__new__", "__post_init__", "__getattribute__", "__getattr__", "__set_name__", "__init_subclass__",
               "__del__"}
    return not changed & own.keys() and _is_generated(own.get("__init__")) and (
        "__setattr__" not in own or (own["__dataclass_params__"].frozen and _is_generated(own["__setattr__"]))
    ) and all(
        each.default_factory is MISSING and (each.default is MISSING or is_fixed(each.default))
        and _is_no_descriptor(inspect.getattr_static(kind, each.name, None)) for each in fields(kind)
    )


def _is_no_descriptor(value: Any) -> bool:
    """Whether what a class has under a field's name leaves the field as it is."""
    return is_fixed(value) or isinstance(value, types.MemberDescriptorType)


def _is_named_tuple(kind: type) -> bool:
    if type(kind) is not type or kind.__bases__ != (tuple,) or not hasattr(kind, "_fields"):
        return False
    own = vars(kind)
    known = all(
        type(value) is _FIELD if name in kind._fields else name in _OF_NAMED_TUPLES or (
            not name.startswith("__") and type(value) in (types.FunctionType, property)
        )
        for name, value in own.items()
    )
    defaults = kind._field_defaults.values()  # type: ignore[attr-defined]
    return known and _is_generated(own.get("__new__")) and all(map(is_fixed, defaults))
