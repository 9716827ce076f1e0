"""What a mechanism may output: ⊥, and the canonical hashable form of everything that is counted."""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import Any

import numpy as np

from dpaudit.errors import OutputError


class Bottom(Enum):
    """The output ⊥: "no answer".  One value, equal to itself across processes."""

    BOTTOM = "⊥"

    def __repr__(self) -> str:
        return "⊥"

    __str__ = __repr__


BOTTOM = Bottom.BOTTOM


def canonical(output: Any) -> Hashable:
    """The form under which equal outputs are counted together.

    Numpy scalars become Python's, arrays and lists become tuples (recursively); anything else must hash.

    Raises:
        OutputError: it does not hash (dict, set, an object without a value).
    """
    kind = type(output)
    if kind in _PLAIN:
        return output  # type: ignore[no-any-return]
    if isinstance(output, np.generic):
        return canonical(output.item())
    if isinstance(output, np.ndarray):
        return tuple(canonical(part) for part in output.tolist())
    if kind in (list, tuple):
        return tuple(canonical(part) for part in output)
    try:
        hash(output)
    except TypeError:
        raise OutputError(
            f"An output of type {kind.__name__} cannot be counted because it does not hash; "
            "return a number, a string, a tuple, a numpy array or a frozen dataclass."
        ) from None
    return output  # type: ignore[no-any-return]


_PLAIN = frozenset({int, float, bool, str, bytes, type(None), Bottom})
