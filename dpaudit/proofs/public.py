"""What is known to whoever sees the outputs and the length of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn, TypeAlias

from dpaudit.proofs.values import concrete

Interpreter: TypeAlias = Any
"""`interpreter.Interpreter`, which imports this module."""
FINITE = "Give a number of answers instead of a stream."


class Public:
    """A value that depends on nothing but the length of the stream, the place in it, and what was released."""

    is_public: ClassVar[bool] = True

    def refuse(self, interpreter: Interpreter) -> NoReturn:
        interpreter.refuse("The program depends on the length of the stream, or on its former outputs.", FINITE)

    def __dpaudit_items__(self, interpreter: Interpreter) -> Iterator[Any]:
        if not interpreter.returning:
            self.refuse(interpreter)
        return iter([self])

    def __dpaudit_length__(self, interpreter: Interpreter) -> Public:
        return PUBLIC

    def __dpaudit_truth__(self, interpreter: Interpreter) -> Any:
        self.refuse(interpreter)

    def __dpaudit_item__(self, interpreter: Interpreter, index: Any) -> Public:
        if not interpreter.returning or not public(index):
            self.refuse(interpreter)
        return PUBLIC

    def __dpaudit_method__(self, interpreter: Interpreter, name: str) -> Any:
        self.refuse(interpreter)


PUBLIC = Public()


def public(value: Any) -> bool:
    """Whether a value is known to whoever sees the outputs and the length of the stream."""
    if isinstance(value, Public) and not value.is_public:
        return False
    if isinstance(value, list | tuple):
        return all(map(public, value))
    return isinstance(value, Public) or concrete(value)
