"""What a mechanism may output: ⊥, and the canonical hashable form of everything that is counted."""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import Any

import numpy as np

from dpaudit.errors import OutputError
from dpaudit.language.spans import Span


class Bottom(Enum):
    """The output ⊥: "no answer".  One value, equal to itself across processes."""

    BOTTOM = "⊥"

    def __repr__(self) -> str:
        return "⊥"

    __str__ = __repr__


BOTTOM = Bottom.BOTTOM


def canonical(output: Any) -> Hashable:
    """The form under which equal outputs are counted together.

    Numpy scalars become Python's, arrays and lists become tuples (recursively); anything else must hash. Outputs
    that are equal are one output: 1, 1.0 and True, or 0.0 and −0.0.

    Raises:
        OutputError: NaN, or something that does not hash or is equal to itself alone (dict, set, a function, an
            object of a class without `__eq__`), or a `Span`.
    """
    kind = type(output)
    if kind in _PLAIN:
        if output != output:
            raise OutputError("A run returned NaN; return ⊥, None or a string for an answer that is no number.")
        return output  # type: ignore[no-any-return]
    if kind is Span:
        raise OutputError("A Span cannot be counted: laws have it for all its members; return (start, stop) instead.")
    if isinstance(output, np.generic):
        item = output.item()
        return output if isinstance(item, np.generic) else canonical(item)
    if isinstance(output, np.ndarray):
        return canonical(output.tolist())
    if kind in (list, tuple):
        return tuple(canonical(part) for part in output)
    if equals_itself_alone(output):
        raise OutputError(
            f"An output of type {kind.__name__} cannot be counted because it equals nothing but itself; "
            "return a number, a string, a tuple, a numpy array or a frozen dataclass."
        )
    try:
        hash(output)
    except TypeError:
        raise OutputError(
            f"An output of type {kind.__name__} cannot be counted because it does not hash; "
            "return a number, a string, a tuple, a numpy array or a frozen dataclass."
        ) from None
    return output  # type: ignore[no-any-return]


def equals_itself_alone(thing: Any) -> bool:
    """Whether its class leaves equality to identity, so that a copy made by another run would not equal it."""
    inherited: Any = object.__eq__
    return type(thing).__eq__ is inherited and not isinstance(thing, Enum | type)


_PLAIN = frozenset({int, float, bool, str, bytes, type(None), Bottom})
