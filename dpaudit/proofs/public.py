"""What is known to whoever sees the outputs and the length of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, TypeAlias

from dpaudit.proofs.results import Unsupported
from dpaudit.proofs.values import is_fixed

Interpreter: TypeAlias = Any
"""`interpreter.Interpreter`, which imports this module."""
FINITE = "Give a number of answers instead of a stream."


class Public:
    """A value that depends on nothing but the length of the stream, the place in it, and what was released.

    Which value it is, is not known: two of these may differ, and one object is one value.
    """

    is_public: ClassVar[bool] = True

    def refused(self, interpreter: Interpreter) -> Unsupported:
        refusal: Unsupported = interpreter.refused(
            "The program depends on the length of the stream, or on its former outputs.", FINITE
        )
        return refusal

    def __dpaudit_items__(self, interpreter: Interpreter) -> Iterator[Any]:
        raise self.refused(interpreter)

    def __dpaudit_length__(self, interpreter: Interpreter) -> Public:
        return Public()

    def __dpaudit_truth__(self, interpreter: Interpreter) -> Any:
        raise self.refused(interpreter)

    def __dpaudit_item__(self, interpreter: Interpreter, index: Any) -> Public:
        if not public(index):
            raise self.refused(interpreter)
        return Public()

    def __dpaudit_method__(self, interpreter: Interpreter, name: str) -> Any:
        raise self.refused(interpreter)


def public(value: Any) -> bool:
    """Whether a value is known to whoever sees the outputs and the length of the stream."""
    if isinstance(value, Public) and not value.is_public:
        return False
    if isinstance(value, list):
        # a list of the program inside of it could be changed under its other name
        return all((isinstance(each, Public) and each.is_public) or is_fixed(each) for each in value)
    if isinstance(value, tuple):
        return all(map(public, value))
    return isinstance(value, Public) or is_fixed(value)
