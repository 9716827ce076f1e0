"""The lines that a run of a function goes through, and the numbers that they assign: where a difference comes from."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from dpaudit.traces.recorder import Place, is_own_code, place_of

MOST_STEPS = 20_000
"""Lines after which the rest of a run is not followed."""
LARGEST = 256
"""Numbers of an array or a container that are kept."""
RETURNED = "the returned value"


@dataclass(frozen=True, eq=False)
class Step:
    """A line that gave a variable its value.

    Args:
        place: the line.
        name: of the variable, or `RETURNED`.
        value: its numbers.
        depth: how many functions of the user's were being called.
    """

    place: Place
    name: str
    value: tuple[float, ...]
    depth: int


@dataclass(eq=False)
class Steps:
    """What was followed of a run."""

    lines: list[Place] = field(default_factory=list)
    """Every line in its order."""
    assigned: list[Step] = field(default_factory=list)
    """Variables that hold numbers, whenever a line changes them."""

    def follow(self, call: Callable[[], Any]) -> Any:
        """What the call returns; nothing is followed where a debugger or a coverage tool follows already."""
        if sys.gettrace() is not None:
            return call()
        sys.settrace(self._enter)
        try:
            return call()
        finally:
            sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, arg: Any) -> Callable[[FrameType, str, Any], Any] | None:
        if not is_own_code(frame.f_code.co_filename) or len(self.lines) >= MOST_STEPS:
            return None
        depth, outer = 0, frame.f_back
        while outer is not None:
            depth += is_own_code(outer.f_code.co_filename)
            outer = outer.f_back
        known = {name: _numbers(value) for name, value in frame.f_locals.items()}
        last: list[Place] = []

        def assigned() -> None:
            if not last:
                return
            for name, value in frame.f_locals.items():
                numbers = _numbers(value)
                if numbers is not None and known.get(name) != numbers:
                    self.assigned.append(Step(last[0], name, numbers, depth))
                known[name] = numbers

        def local(frame: FrameType, event: str, arg: Any) -> Any:
            if len(self.lines) >= MOST_STEPS:
                return None
            assigned()
            if event == "line":
                last[:] = [place_of(frame.f_code.co_filename, frame.f_lineno)]
                self.lines.append(last[0])
            elif event == "return" and last and (numbers := _numbers(arg)) is not None:
                self.assigned.append(Step(last[0], RETURNED, numbers, depth))
            return local

        return local


def _numbers(value: Any) -> tuple[float, ...] | None:
    """The numbers in a value; None where it holds anything else, or too many."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        try:
            return (float(value),)
        except OverflowError:
            return None
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf" or value.size > LARGEST:
            return None
        return tuple(value.astype(np.float64).ravel().tolist())
    if type(value).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(value, "to_numpy"):
        array = value.to_numpy()
        return _numbers(array) if isinstance(array, np.ndarray) else None
    if type(value) in (list, tuple, dict) and len(value) <= LARGEST:
        parts = [_numbers(part) for part in (value.values() if type(value) is dict else value)]
        if any(part is None for part in parts):
            return None
        return tuple(number for part in parts if part is not None for number in part)
    return None
