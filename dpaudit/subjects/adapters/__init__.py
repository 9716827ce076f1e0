"""Other libraries' mechanisms, audited at the claims that their own interfaces state.

`dpaudit.audit(measurement, pair=…)` and `dpaudit check my.py:measurement` recognise the objects of these libraries; the
modules have a `wrap` each, for what has to be said besides:

| library | module | extra |
| --- | --- | --- |
| OpenDP | `dpaudit.subjects.adapters.opendp` | `[opendp]` |
| diffprivlib | `dpaudit.subjects.adapters.diffprivlib` | `[diffprivlib]` |
| python-dp | `dpaudit.subjects.adapters.pydp` | `[python-dp]` |
| pipeline-dp | `dpaudit.subjects.adapters.pipeline_dp` | `[pipeline-dp]` |

An `AggregateParams` of pipeline-dp states no budget, so that it is always given to `wrap`.

Nothing of a library is imported here before one of its objects is seen.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import TypeVar

from dpaudit.subjects.adapters.base import Adapted

__all__ = ["LIBRARIES", "Adapted", "adapted"]

_Target = TypeVar("_Target")

_ADAPTERS = {
    "opendp": "dpaudit.subjects.adapters.opendp",
    "diffprivlib": "dpaudit.subjects.adapters.diffprivlib",
    "pydp": "dpaudit.subjects.adapters.pydp",
    "pipeline_dp": "dpaudit.subjects.adapters.pipeline_dp",
}
LIBRARIES = ("OpenDP", "diffprivlib", "python-dp", "pipeline-dp")
"""Their names, for messages."""
_COMPILED = {"_partition_selection": "pydp"}
"""Names of modules that compiled parts of a library take, and anybody may: the library must have been imported."""


def adapted(target: _Target) -> _Target | Adapted:
    """What a library's object is audited as; anything else as it is.

    A library is known by the module that defines the object's class, or one of the classes that it derives from, or
    the function (also under `functools.partial`).

    Raises:
        UsageError: an object of a library whose claim or relation cannot be read.
    """
    if isinstance(target, Adapted | str):
        return target
    where = next((_ADAPTERS[name] for name in _libraries(target) if name in _ADAPTERS), None)
    if where is None:
        return target
    wrapped: Adapted = import_module(where).wrap(target)
    return wrapped


def _libraries(target: object) -> Iterator[str]:
    """The packages that define a target."""
    inner = target.func if isinstance(target, functools.partial) else target
    kind = inner if isinstance(inner, type) else type(inner)
    defined: tuple[object, ...] = (inner,) if inspect.isroutine(inner) else kind.__mro__
    for one in defined:
        package = str(getattr(one, "__module__", "")).partition(".")[0]
        behind = _COMPILED.get(package)
        yield behind if behind in sys.modules and behind is not None else package
