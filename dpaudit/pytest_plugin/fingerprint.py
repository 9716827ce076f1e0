"""What a function is, for evidence about it: its text, and the plain values that it was made with."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from typing import Any

_PLAIN = (bool, int, float, str, bytes, type(None))
_DEEPEST = 5


def fingerprint(subject: Any) -> str | None:
    """A text that changes where the function does; None where that cannot be told, and no evidence may be kept.

    Of a function: its source, its defaults and what it closes over; of a `functools.partial` and of a bound method also
    what they bind; of a dataclass with a repr of its own, as mechanisms are, that and the source of its class. Helpers
    that it calls, and globals, are not part of it.
    """
    found = _described(subject, _DEEPEST)
    return None if found is None else hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]


def _described(value: Any, depth: int) -> Any:
    """Nested lists of strings; None where something in it cannot be told."""
    if depth == 0:
        return None
    if isinstance(value, _PLAIN):
        return ["value", type(value).__name__, repr(value)]
    if isinstance(value, list | tuple):
        return _all(type(value).__name__, value, depth)
    if isinstance(value, dict):
        return _all("dict", [part for item in value.items() for part in item], depth)
    if isinstance(value, functools.partial):
        return _all("partial", [value.func, value.args, value.keywords], depth)
    if inspect.ismethod(value):
        return _all("method", [value.__func__, value.__self__], depth)
    if inspect.isfunction(value):
        try:
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
        except ValueError:
            # a name that is not bound yet
            return None
        parts = [value.__defaults__ or (), value.__kwdefaults__ or {}, cells]
        return _with_source("function", value, _all("made of", parts, depth))
    if inspect.ismodule(value):
        return ["module", value.__name__]
    if inspect.isclass(value):
        return _with_source("class", value, [])
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        # numpy's, of which repr leaves the middle out
        if value.dtype.hasobject:
            return None
        return ["array", str(value.dtype), str(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    try:
        shown = repr(value)
    except Exception:
        return None
    # an address says nothing of what stands there
    return None if " at 0x" in shown else _with_source("object", type(value), [shown])


def _all(kind: str, parts: Any, depth: int) -> Any:
    found = [_described(part, depth - 1) for part in parts]
    return None if None in found else [kind, *found]


def _with_source(kind: str, definition: Any, parts: Any) -> Any:
    if parts is None:
        return None
    try:
        return [kind, inspect.getsource(definition), parts]
    except (OSError, TypeError):
        module = getattr(definition, "__module__", None)
        # of a compiled library: its name says what it is, and its version is not known here
        return [kind, f"{module}.{definition.__qualname__}", parts] if kind == "class" and module else None
