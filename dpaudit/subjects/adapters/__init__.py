"""Other libraries' mechanisms, audited at the claims that their own interfaces state.

`dpaudit.audit(measurement, pair=…)` and `dpaudit check my.py:measurement` recognise the objects of these libraries; the
modules have a `wrap` each, for what has to be said besides:

| library | module | extra |
| --- | --- | --- |
| OpenDP | `dpaudit.adapters.opendp` | `[opendp]` |
| diffprivlib | `dpaudit.adapters.diffprivlib` | `[diffprivlib]` |
| python-dp | `dpaudit.adapters.pydp` | `[python-dp]` |
| pipeline-dp | `dpaudit.adapters.pipeline_dp` | `[pipeline-dp]` |

An `AggregateParams` of pipeline-dp states no budget, so that it is always given to `wrap`.

`known()` lists them with those of other packages, `recognised(object)` says which one takes an object, and `adapted`
applies it. Other packages register adapters as entry points (`dpaudit.subjects.adapters.table`). Nothing of a library
is imported here before one of its objects is seen.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import TypeVar

from dpaudit.subjects.adapters.base import Adapted, Transformed
from dpaudit.subjects.adapters.table import OWN, Adapter, adapter_of, known

__all__ = ["LIBRARIES", "Adapted", "Adapter", "Transformed", "adapted", "known", "recognised", "transformed"]

_Target = TypeVar("_Target")

LIBRARIES = tuple(one.library for one in OWN)
"""Names of the libraries whose adapters are dpaudit's own, for messages."""
_COMPILED = {"_partition_selection": "pydp"}
"""Names of modules that compiled parts of a library take, and anybody may: the library must have been imported."""


def adapted(target: _Target) -> _Target | Adapted:
    """What a library's object is audited as; anything else as it is.

    A library is known by the module that defines the object's class, or one of the classes that it derives from, or
    the function (also under `functools.partial`).

    Raises:
        UsageError: an object of a library whose claim or relation cannot be read.
    """
    adapter = recognised(target)
    return target if adapter is None else adapter.adapted(target)


def recognised(target: object) -> Adapter | None:
    """The adapter that takes an object; None if it is audited as it is, or not at all.

    Raises:
        UsageError: two packages register adapters under one name.
    """
    return None if isinstance(target, Adapted | str) else adapter_of(_names(target))


def transformed(target: object) -> Transformed | None:
    """A transformation of OpenDP with the stability that it states; None for anything else.

    Raises:
        UsageError: an object of OpenDP of another kind, or whose metrics have no counterpart here.
    """
    if isinstance(target, str) or not any(name.partition(".")[0] == "opendp" for name in _names(target)):
        return None
    made: Transformed = import_module(f"{__name__}.opendp").transformation(target)
    return made


def _names(target: object) -> Iterator[str]:
    """Full names of the classes that define a target, or of the function."""
    inner = target.func if isinstance(target, functools.partial) else target
    kind = inner if isinstance(inner, type) else type(inner)
    defined: tuple[object, ...] = (inner,) if inspect.isroutine(inner) else kind.__mro__
    for one in defined:
        package, _, rest = str(getattr(one, "__module__", "")).partition(".")
        behind = _COMPILED.get(package)
        top = behind if behind in sys.modules and behind is not None else package
        yield ".".join(part for part in (top, rest, getattr(one, "__qualname__", "")) if part)


def __getattr__(name: str) -> object:
    """`dpaudit.adapters.opendp` and the others, imported when they are first asked for."""
    if name in {one.wrap.partition(":")[0].rpartition(".")[2] for one in OWN}:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
