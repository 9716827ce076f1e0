"""A hashable image of a draw, by which two replays of the same path are compared."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

import numpy as np


def fingerprint(thing: Any) -> Hashable:
    """Equal for equal draws of equal parameters, across replays and processes.

    Arrays count by their bytes, functions by where they are defined (a lambda made afresh at every replay is the
    same function), dataclasses by their fields.
    """
    if isinstance(thing, np.ndarray):
        return (thing.shape, str(thing.dtype), blake2b(thing.tobytes(), digest_size=16).digest())
    image = getattr(thing, "__fingerprint__", None)
    if image is not None and not isinstance(thing, type):
        return (type(thing).__qualname__, image())
    if is_dataclass(thing) and not isinstance(thing, type):
        parts = tuple(fingerprint(getattr(thing, f.name)) for f in fields(thing) if f.compare)
        return (type(thing).__qualname__, parts)
    if isinstance(thing, tuple | list):
        return tuple(fingerprint(part) for part in thing)
    if callable(thing) and hasattr(thing, "__qualname__"):
        return (getattr(thing, "__module__", ""), thing.__qualname__)
    try:
        hash(thing)
    except TypeError:
        return repr(thing)
    # 1, 1.0 and True hash alike but are different draws
    return (type(thing).__name__, thing)
