"""Values that only the interpreter knows, and what holds symbols."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.proofs.forms import Cell, Condition, Form, PostProcessed, is_symbolic
from dpaudit.proofs.functions import Table
from dpaudit.proofs.sources import Source

NUMBERS = (bool, int, float, Fraction, np.bool_, np.integer, np.floating)
PLAIN = (*NUMBERS, str, bytes, type(None), tuple, list, dict, set, frozenset, range, slice, complex, type(Ellipsis))
"""Types whose operators are Python's own."""
_PLAIN_TYPES = frozenset({
    bool, int, float, Fraction, str, bytes, type(None), tuple, list, dict, set, frozenset, range, slice, complex,
    type(Ellipsis),
})


SCALARS = frozenset({bool, int, float, str, bytes, type(None), Fraction, np.float64, np.int64, np.bool_})
"""Types of values that hold nothing and cannot change."""
_NUMPY_SCALARS = (np.float64, np.int64, np.bool_, np.str_)
"""Numbers of other widths round or overflow early, and make arrays of their own dtype."""


def is_plain(value: Any) -> bool:
    """Whether a value's operators are Python's or numpy's own: subclasses may have others."""
    return type(value) in _PLAIN_TYPES or type(value) in _NUMPY_SCALARS
ITERATORS: tuple[type, ...] = (
    zip, enumerate, map, filter, reversed, type(iter([])), type(iter(())), type(iter(range(0))), type({}.items()),
    type({}.keys()), type({}.values()), itertools.chain, itertools.islice, itertools.pairwise, itertools.repeat,
    itertools.count, itertools.accumulate, itertools.product, itertools.combinations, itertools.permutations,
    type(iter({})), type(reversed([])), type(iter({}.items())), type(iter({}.values())), type(reversed(range(0))),
)


@dataclass(frozen=True, eq=False)
class Interpreted:
    """A function that is called by following its source.

    Args:
        source: its syntax tree.
        name: for messages.
        defaults: of its last positional parameters, and of its keyword-only ones by name.
        variables: looks up a name that is not local.
        function: the running function, if it is one.
    """

    source: Source
    name: str
    defaults: tuple[Any, ...]
    keyword_defaults: dict[str, Any]
    variables: Callable[[str], Any]
    function: types.FunctionType | None = None


@dataclass(frozen=True, eq=False)
class Native:
    """A function of the interpreter's own: it takes values as the program has them."""

    name: str
    call: Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Bound:
    """An interpreted function with its first argument."""

    function: Any
    first: Any


@dataclass(eq=False)
class Started:
    """A generator that yields its draws, not begun yet; it runs once."""

    function: Interpreted
    args: tuple[Any, ...]
    keywords: dict[str, Any]
    is_used: bool = False


@dataclass(frozen=True, eq=False)
class Unseen:
    """A dataset of which nothing is known but the answers of queries, and the scores of quality functions.

    Args:
        answers: of a query or quality function, or of a mechanism's method `answers`, as numbers or a stream of them.
    """

    answers: Callable[[Any], Any]

    def refused(self, interpreter: Any) -> Any:
        return interpreter.refused(
            "The program looks at the dataset other than through a query or a quality function.",
            "Give a finite domain, or put what it computes from the dataset into a Query.",
        )

    def __dpaudit_items__(self, interpreter: Any) -> Any:
        raise self.refused(interpreter)

    def __dpaudit_length__(self, interpreter: Any) -> Any:
        raise self.refused(interpreter)

    def __dpaudit_method__(self, interpreter: Any, name: str) -> Any:
        raise self.refused(interpreter)


@dataclass(frozen=True, eq=False)
class Answered:
    """The answers of a query: a tuple or an array, so only what is the same for both is followed."""

    numbers: tuple[Form, ...]

    def __dpaudit_items__(self, interpreter: Any) -> Any:
        return iter(self.numbers)

    def __dpaudit_length__(self, interpreter: Any) -> int:
        return len(self.numbers)

    def __dpaudit_item__(self, interpreter: Any, index: Any) -> Form:
        if type(index) is not int or not -len(self.numbers) <= index < len(self.numbers):
            raise interpreter.refused("This index of a query's answers is not followed.")
        return self.numbers[index]

    def __dpaudit_method__(self, interpreter: Any, name: str) -> Any:
        raise interpreter.refused("The answers of a query may be a tuple or an array.", "Write tuple(…) first.")


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution of a quality function, of which nothing is known but its place in the order of all.

    Args:
        of: the first of the numbers of the function's scores.
        place: from 0.
    """

    of: int
    place: int


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of a quality function on an unseen dataset.

    Args:
        scores: one for each solution.
        solutions: in their order.
    """

    scores: tuple[Form, ...]
    solutions: tuple[Solution, ...]

    def __dpaudit_method__(self, interpreter: Any, name: str) -> Any:
        if name != "softmax":
            raise interpreter.refused(f"The attribute {name} of scores is not followed.")
        return Native(
            name, lambda coefficient: interpreter.exponential_mechanism(self.scores, coefficient, self.solutions)
        )


@dataclass(frozen=True)
class Recorded:
    """A value in the output of a part, which a run records.

    Args:
        place: of the part among those that the run applied.
        where: its index in the output, and in the containers in there.
        is_none: whether it is asked for whether the value is None.
    """

    place: int
    where: tuple[int, ...] = ()
    is_none: bool = False

    def __call__(self, outputs: Sequence[Any]) -> Any:
        """The value, from the outputs of a run."""
        value = outputs[self.place]
        for index in self.where:
            value = value.ravel()[index] if isinstance(value, np.ndarray) else value[index]
        return value is None if self.is_none else value


@dataclass(frozen=True, eq=False)
class Output:
    """A value in the output of a part that has no one shape: it can be released as it is.

    Args:
        name: one name is one value.
        recorded: where it is.
    """

    name: str
    recorded: Recorded

    def compared_with_none(self, path: Any, place: Any) -> Any:
        """Whether it is None."""
        return path.post_process(f"{self.name} is None", replace(self.recorded, is_none=True), (), "truth", place)


@dataclass(frozen=True, eq=False)
class Instance:
    """An instance of a class, which the program made.

    Args:
        kind: the class.
        values: of its attributes, in the order in which they were set.
    """

    kind: type
    values: dict[str, Any]


@dataclass(frozen=True, eq=False)
class NamedInstance(Instance):
    """A named tuple that the program made."""

    def __dpaudit_items__(self, interpreter: Any) -> Any:
        return iter(tuple(self.values.values()))

    def __dpaudit_length__(self, interpreter: Any) -> int:
        return len(self.values)

    def __dpaudit_item__(self, interpreter: Any, index: Any) -> Any:
        if type(index) is not int or not -len(self.values) <= index < len(self.values):
            raise interpreter.refused("This index of a named tuple is not followed.")
        return tuple(self.values.values())[index]


@dataclass(frozen=True, eq=False)
class KeptInstance(Instance):
    """An instance that a loop over a stream carries; the loop does not change it."""


@dataclass(frozen=True, eq=False)
class Noise:
    """A distribution that is not drawn from yet: location plus noise.

    Args:
        kind, scale: as in `Draw`.
        location: a number.
    """

    kind: str
    scale: Fraction
    location: Form


@dataclass(frozen=True, eq=False)
class Compared:
    """The comparison of noise that is not drawn yet with a number: noise (symbol) bound."""

    noise: Noise
    symbol: str
    bound: Form


@dataclass(frozen=True, eq=False)
class AppliedTo:
    """A mechanism applied to data."""

    mechanism: Any
    dataset: Any


class Random:
    """The generator that the program draws from."""


@dataclass(frozen=True, eq=False)
class Independent:
    """Distributions that are drawn from independently."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Chosen:
    """The exponential mechanism: a label with probability ∝ exp(score / scale).

    Args:
        scores: one for each label.
        scale: > 0.
        labels: the outputs.
    """

    scores: tuple[Form, ...]
    scale: Fraction
    labels: tuple[Any, ...]


def is_fixed(value: Any) -> bool:
    """Whether a value is a plain scalar, or a tuple of such, which nothing can change."""
    if type(value) is tuple:
        return all(map(is_fixed, value))
    return is_plain(value) and not isinstance(value, list | dict | set | tuple)


def is_deep_plain(value: Any) -> bool:
    """Whether a value and everything in it is Python's or numpy's own."""
    if type(value) in (list, tuple, set, frozenset):
        return all(map(is_deep_plain, value))
    if type(value) is dict:
        return all(is_deep_plain(key) and is_deep_plain(held) for key, held in value.items())
    return is_plain(value)


def name_of(value: Any) -> tuple[str, object]:
    """A name that is equal for the same values alone, as long as both exist.

    What a class says of its objects, in `__repr__` or `__eq__`, may be equal for different ones; an object is itself.
    """
    return type(value).__name__, repr(value) if is_deep_plain(value) else id(value)


def is_own(value: Any, method: str) -> bool:
    """Whether a value is the interpreter's own, and its class has a method: the user's objects may say so of any."""
    kind = type(value)
    module = sys.modules.get(kind.__module__) if kind.__module__.startswith("dpaudit.proofs.") else None
    return getattr(module, kind.__qualname__, None) is kind and hasattr(kind, method)


def concrete(value: Any) -> bool:
    """Whether a value holds no symbols."""
    if type(value) in SCALARS:
        return True
    if is_symbolic(value) or isinstance(value, _SYMBOLS):
        return False
    if is_own(value, "__dpaudit_items__") or is_own(value, "__dpaudit_array__"):
        return False
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(concrete, value))
    if isinstance(value, dict):
        return all(concrete(key) and concrete(held) for key, held in value.items())
    if isinstance(value, slice):
        return all(map(concrete, (value.start, value.stop, value.step)))
    return type(value) not in ITERATORS


def is_truth(value: Any) -> bool:
    """Whether a value is True or False, or depends on data or noise and is."""
    return isinstance(value, bool | np.bool_ | Condition) or (isinstance(value, Cell) and value.is_condition) or (
        isinstance(value, PostProcessed) and value.made == "truth"
    )


def plain(value: Any) -> bool:
    """Whether a value is Python's own and holds no symbols."""
    return is_plain(value) and concrete(value)


@dataclass(frozen=True)
class Library:
    """The functions of Python, numpy and the generator that are followed.

    Args:
        known: how a function is followed; None where it is not known.
        method: a method of a value; None where it has none of that kind.
        array_methods: methods of numpy's arrays, by name.
        truncated: int(value).
        chosen: the place of the largest of some numbers.
    """

    known: Callable[[Any], Callable[..., Any] | None]
    method: Callable[[Any, Any, str], Any]
    array_methods: dict[str, Callable[..., Any]]
    truncated: Callable[[Any, Any], Any]
    chosen: Callable[[Any, list[Any]], int]


_SYMBOLS = (
    Instance, Noise, Compared, AppliedTo, Independent, Chosen, Started, Unseen, Scored, Solution, Output, Random,
    Native, Bound, Interpreted, types.GeneratorType,
)


def type_name(value: Any) -> str:
    """The type that a value has for the program."""
    match value:
        case Cell() if isinstance(value.function, Table):
            return " or ".join(sorted({type(each).__name__ for each in value.function.values}))
        case Condition():
            return "bool"
        case Cell() | Form():
            return "bool" if is_truth(value) else "float"
        case Instance():
            return value.kind.__name__
        case Noise() | Compared() | Independent() | Chosen():
            return "distribution"
        case Native() | Bound() | Interpreted():
            return "function"
        case Random():
            return "Generator"
    return "ndarray" if hasattr(value, "__dpaudit_array__") else type(value).__name__
