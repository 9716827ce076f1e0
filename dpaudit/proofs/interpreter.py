"""Follows a program's source on symbols.

Only what stands here is followed: anything else raises `Unsupported` with the line. Symbols never reach code that is
not interpreted, so nothing can look at them, hash them or convert them. What holds no symbols is computed by Python
itself, if it is known to have no side effects.
"""

from __future__ import annotations

import abc
import ast
import builtins
import enum
import functools
import inspect
import math
import operator
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.errors import DpauditError
from dpaudit.language.distributions import (
    Bernoulli,
    Distribution,
    Product,
    Real,
    Repeated,
    Softmax,
    Uniform,
    independent,
)
from dpaudit.language.mechanism import Applied, Mechanism
from dpaudit.language.quality import Quality
from dpaudit.language.query import Query
from dpaudit.proofs import postprocessing
from dpaudit.proofs.arrays import Array, scalar
from dpaudit.proofs.exact import exactly, is_short
from dpaudit.proofs.forms import (
    KINDS,
    Cell,
    Condition,
    Form,
    PostProcessed,
    combine,
    constant,
    identical,
    is_symbolic,
)
from dpaudit.proofs.functions import ONE, ZERO, Piecewise, RecordFunction, Table, ratio
from dpaudit.proofs.objects import Tally, has_attribute, initialized, instance, tallied
from dpaudit.proofs.parts import bound, output_of
from dpaudit.proofs.paths import CannotMerge, Path
from dpaudit.proofs.public import Public, public
from dpaudit.proofs.results import Place, Unsupported
from dpaudit.proofs.sources import Source, source_of
from dpaudit.proofs.values import (
    ITERATORS,
    NUMBERS,
    SCALARS,
    Answered,
    AppliedTo,
    Bound,
    Chosen,
    Compared,
    Independent,
    Instance,
    Interpreted,
    Library,
    Native,
    Noise,
    Output,
    Random,
    Scored,
    Solution,
    Started,
    Unseen,
    concrete,
    is_deep_plain,
    is_fixed,
    is_own,
    is_plain,
    is_truth,
    name_of,
    plain,
    type_name,
)
from dpaudit.stats import enclosed

_COMPUTES = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Tuple, ast.operator, ast.unaryop, ast.Load,
)
"""Expressions that change nothing."""
MOST_STEPS = 2_000_000
"""Expressions and statements evaluated on one path beyond which it is not followed."""
MOST_EXPONENT = 1_000
MOST_FACTORS = 9
"""Equal factors of a power of a record, less one, beyond which it is not followed."""
LONGEST = 1_000_000
"""Items of a sequence that is repeated."""
DEEPEST = 60
"""Calls inside each other."""
MOST_OPTIONS = 64
"""Values of a uniform draw beyond which it is not followed."""


class Scope:
    """The variables of a call.

    Args:
        names: those that are local to the function.
        variables: looks up any other.
    """

    def __init__(self, names: frozenset[str], variables: Callable[[str], Any], source: Source) -> None:
        self.names, self.variables, self.source = names, variables, source
        self.values: dict[str, Any] = {}

    def read(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        if name in self.names:
            raise Unsupported(f"The variable {name} has no value on some path.")
        return self.variables(name)


class Leave(Exception):
    """A `return`; carries the value."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class LeaveLoop(Exception):
    """A `break`."""


class NextTurn(Exception):
    """A `continue`."""


class Interpreter:
    """Follows one path of a program.

    Args:
        path: takes decisions and records draws.
        library: the functions that are followed.
    """

    def __init__(self, path: Path, library: Library) -> None:
        self.path, self.library = path, library
        self.owned: dict[int, Any] = {}
        """Containers that the program made in this run, by id: only these may be changed."""
        self.iterators: dict[int, tuple[Any, int]] = {}
        """Iterators that the program made, by id, with the number of merges that were under way."""
        self.undo: list[tuple[Any, Any, Any]] = []
        """Changes of containers while both sides of a branch are merged: container, key, former value."""
        self.depth = 0
        self.whole_answers = False
        """Whether the data are whole numbers, which may be ints or floats."""
        self.answering: Any = None
        """The mechanism whose method `answers` gives the answers of a dataset of which nothing else is known."""
        self.main: Scope | None = None
        """The variables of the function with the loop over a stream."""
        self.returning = 0
        """Above 0 after the loop over a stream, and in a `return`: what was released is not counted any more."""
        self.of_stream = False
        """Whether the program is followed for streams of every length."""
        self.handed: Any = None
        """The dataset, as the program got it."""
        self.elementwise = 0
        """Above 0 while the elements of arrays are computed with, which are numpy's numbers."""
        self.here: Place | None = None

    # --- values ---

    def refused(self, reason: str, remedy: str = "") -> Unsupported:
        """What to raise where the program cannot be followed."""
        return Unsupported(reason, remedy, self.here)

    @property
    def place(self) -> Place:
        assert self.here is not None
        return self.here

    def own(self, value: Any) -> Any:
        """Marks a container as made by the program."""
        self.owned[id(value)] = value
        return value

    def owns(self, value: Any) -> bool:
        return id(value) in self.owned

    def number(self, value: Any) -> Form:
        """A number as a form."""
        if isinstance(value, Form):
            return value
        if isinstance(value, Cell):
            return value.as_form()
        if isinstance(value, Condition):
            return Form(Fraction(self.path.decide(value, self.place)))
        if isinstance(value, Random | Noise | Compared | AppliedTo | Native | Bound | Interpreted):
            raise self.refused("Something that is no number is computed with.", "Draw from it first.")
        if isinstance(value, NUMBERS) and is_plain(value):
            with suppress(DpauditError):
                return constant(value)
            raise self.refused(f"The number {value!r} is not finite.")
        raise self.refused(f"A value of type {type_name(value)} is used as a number.")

    def truth(self, value: Any) -> bool:
        """`bool(value)`, which decides where it depends on data or noise."""
        if isinstance(value, Condition):
            return self.path.decide(value, self.place)
        if isinstance(value, Form):
            return self.path.decide(Condition(value, "!="), self.place)
        if isinstance(value, PostProcessed):
            if value.made == "text":
                raise self.refused("Text that depends on noise is used as a condition.")
            return self.path.decide_post_processed(value)
        if isinstance(value, Cell):
            if not value.is_condition:
                if not isinstance(value.function, Table) or not all(map(is_fixed, value.function.values)):
                    raise self.refused("Records of this class are used as conditions.")
                value = self.cell(value, combine(value, None, lambda x, _: bool(x)))
            return value if isinstance(value, bool) else self.path.decide(value, self.place)
        if isinstance(value, Compared | Noise | Random | AppliedTo):
            raise self.refused(
                "A distribution is used as a condition before it is drawn from.",
                "Write `yield` before it.",
            )
        if is_own(value, "__dpaudit_truth__"):
            return self.truth(value.__dpaudit_truth__(self))
        if is_plain(value) or value is None:
            return bool(value)
        raise self.refused(f"A value of type {type_name(value)} is used as a condition.")

    def cell(self, like: Cell, function: Any) -> Any:
        """A cell of the same record; a plain value where the function is constant."""
        if isinstance(function, Table):
            first = function.values[0]
            if all(identical(value, first) for value in function.values):
                return first
        elif (value := function.constant()) is not None:
            return bool(value) if function.is_condition else Form(value)
        return Cell(like.record, function)

    def compare(self, left: Any, symbol: str, right: Any) -> Any:
        """left (symbol) right, as a condition."""
        if isinstance(left, PostProcessed) or isinstance(right, PostProcessed):
            return postprocessing.compared(self, symbol, left, right)
        if isinstance(left, Noise):
            return Compared(left, symbol, self.number(right))
        if isinstance(right, Noise):
            return Compared(right, {">=": "<=", "<=": ">=", ">": "<", "<": ">"}.get(symbol, symbol), self.number(left))
        for one, other, swapped in ((left, right, False), (right, left, True)):
            if isinstance(one, Cell) and isinstance(one.function, Table) and _of_one_record(one, other):
                pairs = [(x, y) for x in one.function.values for y in _possible(other)]
                if any(
                    isinstance(x, NUMBERS) and isinstance(y, tuple) for each in pairs for x, y in (each, each[::-1])
                ):
                    raise self.refused("A number is compared with a sequence.")
                return self.cell(one, self._each(one, other, _COMPARISONS[symbol], swapped=swapped))
        if symbol in ("==", "!=") and not (isinstance(left, NUMBERS) or is_symbolic(left)):
            raise self.refused(f"A number is compared with a value of type {type_name(left)}.")
        if symbol in ("==", "!=") and not (isinstance(right, NUMBERS) or is_symbolic(right)):
            raise self.refused(f"A number is compared with a value of type {type_name(right)}.")
        difference = self.number(left).plus(self.number(right), Fraction(-1))
        if symbol in ("<=", "<"):
            difference, symbol = difference.scaled(Fraction(-1)), ">=" if symbol == "<=" else ">"
        if (single := difference.single()) is not None:
            found = single[1].compared(symbol)
            if isinstance(found, Piecewise):
                rounds = not all(map(is_short, single[1].numbers()))
                self.path.cuts.update({cut: rounds or self.path.cuts.get(cut, False) for cut in found.cuts})
            return self.cell(Cell(single[0], single[1]), found)
        if not difference.has_data and not difference.has_noise:
            return bool(_OPERATORS[symbol](difference.constant, 0))
        return Condition(difference, symbol)

    def where(self, condition: Cell, yes: Any, no: Any) -> Any:
        """yes where a condition on one record holds, no elsewhere; CannotMerge where this is no single value."""
        if identical(yes, no):
            return yes
        of_record = all(not is_symbolic(each) or (isinstance(each, Cell) and each.record == condition.record)
                        for each in (yes, no))
        if isinstance(condition.function, Table) and of_record and all(
            isinstance(each, Cell) or is_fixed(each) for each in (yes, no)
        ) and all(not isinstance(each, Cell) or isinstance(each.function, Table) for each in (yes, no)):
            columns: list[tuple[Any, ...]] = [
                each.function.values if isinstance(each, Cell) and isinstance(each.function, Table)
                else (each,) * len(condition.function.values) for each in (yes, no)
            ]
            chosen = tuple(
                x if holds else y for holds, x, y in zip(condition.function.values, *columns, strict=True)
            )
            return self.cell(condition, Table(chosen))
        if plain(yes) and plain(no) and type(yes) is not type(no):
            # which of them it is can be seen from its type
            raise CannotMerge
        booleans = [is_truth(each) for each in (yes, no)]
        if any(booleans) and not all(booleans):
            raise CannotMerge
        for each in (yes, no):
            if not isinstance(each, (Form, Cell, *NUMBERS)):
                raise CannotMerge
        try:
            one, other = self.number(yes), self.number(no)
            value = other.plus(condition.as_form().times(one.plus(other, Fraction(-1))))
        except Unsupported:
            raise CannotMerge from None
        if all(booleans):
            return self.compare(value, ">", 0)
        return value.typed(
            is_int=one.is_int and other.is_int, is_mixed=one.is_mixed or other.is_mixed or one.is_int != other.is_int
        )

    def binary(self, operation: type[ast.operator], left: Any, right: Any) -> Any:
        """An arithmetic operation."""
        if isinstance(left, PostProcessed) or isinstance(right, PostProcessed):
            return postprocessing.operated(self, operation, left, right)
        if self.elementwise and operation is ast.Div and postprocessing.is_zero(right):
            # numpy's inf or NaN
            return postprocessing.operated(self, operation, left, right)
        try:
            return self._linear(operation, left, right)
        except Unsupported as refusal:
            if not any(map(postprocessing.depends_on_noise, (left, right))):
                raise
            try:
                return postprocessing.operated(self, operation, left, right)
            except Unsupported:
                raise refusal from None

    def _linear(self, operation: type[ast.operator], left: Any, right: Any) -> Any:
        if isinstance(left, Noise) or isinstance(right, Noise):
            return self._moved(operation, left, right)
        for value in (left, right):
            if isinstance(value, Compared | AppliedTo | Random | Native | Bound | Interpreted):
                raise self.refused("Something that is no number is computed with.", "Draw from it first.")
        if is_truth(left) and is_truth(right):
            raise self.refused("Arithmetic of two conditions is not the same in Python and in numpy.",
                               "Convert them with int(...) or .astype(int).")
        if _is_mixed(left) or _is_mixed(right):
            raise self.refused("Arithmetic of records that are conditions or numbers is another in numpy.",
                               "Convert them with int(...).")
        if operation is ast.Pow:
            if isinstance(right, int) and abs(right) > MOST_EXPONENT:
                raise self.refused(f"An exponent is above {MOST_EXPONENT}.")
            if any(isinstance(each, int | np.integer) and each < 0 for each in _possible(right)) and any(
                isinstance(each, int | np.integer) for each in _possible(left)
            ):
                raise self.refused("A whole number to a negative power raises an exception in numpy.",
                                   "Use a float.")
        if not is_symbolic(left) and not is_symbolic(right):
            for value in (left, right):
                if not is_plain(value):
                    raise self.refused(f"An operator of the class {type(value).__name__} is not followed.")
            return self.plainly(_BINARY[operation], left, right)
        for one, other, swapped in ((left, right, False), (right, left, True)):
            if isinstance(one, Cell) and isinstance(one.function, Table) and _of_one_record(one, other):
                return self.cell(one, self._each(one, other, _BINARY[operation], swapped=swapped))
        for value in (left, right):
            if not is_symbolic(value) and not is_plain(value):
                raise self.refused(f"An operator of the class {type(value).__name__} is not followed.")
        x, y = self.number(left), self.number(right)
        if operation is ast.Add:
            return x.plus(y)
        if operation is ast.Sub:
            return x.plus(y, Fraction(-1))
        if operation is ast.Mult:
            return x.times(y)
        if operation is ast.Div:
            below, above = y.single(), x.single()
            if below is not None and (above is None or above[0] == below[0]) and not x.has_noise and (
                above is not None or not x.has_data
            ) and not isinstance(below[1], Table):
                whole = below[1].combined(ZERO, ZERO, ZERO).combined(x.constant, ZERO, ONE)
                return Form(records={below[0]: ratio(above[1] if above is not None else whole, below[1])})
            if y.has_data or y.has_noise:
                raise self.refused("A number is divided by one that depends on the data or on noise.", _KNOWN_SIZE)
            if not y.constant:
                raise self.refused("A number is divided by zero.")
            return x.scaled(1 / y.constant).typed()
        if operation in (ast.FloorDiv, ast.Mod) and not y.has_data and not y.has_noise and y.constant:
            quotient = self.number(self.floor(x.scaled(1 / y.constant)))
            made = quotient if operation is ast.FloorDiv else x.plus(quotient, -y.constant)
            return made.typed(is_int=x.is_int and y.is_int, is_mixed=x.is_mixed or y.is_mixed)
        if operation is ast.Pow and type(right) in _NUMBERS and right in range(1, MOST_FACTORS):
            power = x
            for _ in range(int(right) - 1):
                power = power.times(x)
            return power.typed(is_int=x.is_int and isinstance(right, int | np.integer), is_mixed=x.is_mixed)
        symbol = _SYMBOLS.get(operation, operation.__name__)
        raise self.refused(f"The operator {symbol} of a number that depends on the data or on noise.", _LINEAR)

    def _each(self, one: Cell, other: Any, operation: Callable[[Any, Any], Any], *, swapped: bool) -> Table:
        if not all(map(is_fixed, one.function.values if isinstance(one.function, Table) else ())):
            raise self.refused("Records of this class are not computed with.")
        try:
            table = combine(one, other, operation, swapped=swapped)
            if not all(map(is_fixed, table.values)) or any(type(each) is complex for each in table.values):
                raise self.refused("A value that depends on a record may change, or is of an unknown class.")
            return table
        except (ArithmeticError, TypeError, ValueError, LookupError, OverflowError) as error:
            raise self.refused(f"The program raises {type(error).__name__} for some record.") from None

    def _moved(self, operation: type[ast.operator], left: Any, right: Any) -> Noise:
        if (isinstance(left, Noise) and isinstance(right, Noise)) or any(
            isinstance(each, Compared | AppliedTo | Random | Native | Bound | Interpreted) for each in (left, right)
        ):
            raise self.refused("Two distributions are added before they are drawn from.")
        if operation is ast.Add:
            noise, shift = (left, right) if isinstance(left, Noise) else (right, left)
            return Noise(noise.kind, noise.scale, noise.location.plus(self.number(shift)))
        if operation is ast.Sub and isinstance(left, Noise):
            return Noise(left.kind, left.scale, left.location.plus(self.number(right), Fraction(-1)))
        raise self.refused("A distribution is computed with before it is drawn from.")

    def rounded_noise(self, noise: Noise) -> Noise:
        """Noise rounded up or down: its shifts by whole numbers cost what those of the noise cost."""
        if noise.kind != "laplace" or not self.is_whole(noise.location):
            raise self.refused("Noise around a number that is not whole is rounded.")
        return Noise("rounded", noise.scale, noise.location)

    def floor(self, value: Form) -> Any:
        if (single := value.single()) is not None:
            function: RecordFunction = single[1].floored()
            constant_value = function.constant()
            return int(constant_value) if constant_value is not None else Form(records={single[0]: function})
        if not value.has_data and not value.has_noise:
            return math.floor(value.constant)
        if self.is_whole(value):
            return value
        raise self.refused(
            "A sum of several records, or noise, is rounded.",
            "Release it as it is, or round each record.",
        )

    def is_whole(self, value: Form) -> bool:
        """Whether a form has whole values alone."""
        return (
            value.constant.denominator == 1
            and all(
                function.is_whole or (self.whole_answers and function.keeps_whole)
                for function in value.records.values()
            )
            and all(
                self.path.draws[index].is_whole and coefficient.denominator == 1
                for index, coefficient in value.draws.items()
            )
        )

    def plainly(self, function: Callable[..., Any], *values: Any, **keywords: Any) -> Any:
        """Calls a function without side effects on values without symbols."""
        try:
            made = function(*values, **keywords)
        except (Unsupported, CannotMerge):
            raise
        except Exception as error:
            raise self.refused(f"The program raises {type(error).__name__}: {error}") from None
        if type(made) is complex:
            raise self.refused("A number is not real; numpy has NaN in its place.")
        return made

    def draw(self, kind: str, scale: Any, location: Any = 0) -> Form:
        """A draw of noise around a location."""
        wide = self.scale(scale)
        at = self.number(location)
        if KINDS[kind].is_whole and not self.is_whole(at):
            raise self.refused(
                "Whole noise is added to a number that is not whole.",
                "Give whole answers or a finite domain.",
            )
        return at.plus(self.path.draw(kind, wide, self.place))

    def drawn(self, value: Any) -> Any:
        """What `yield value` gives."""
        value = _as_noise(value)
        match value:
            case Noise():
                return self.draw(value.kind, Form(value.scale), value.location)
            case Compared():
                return self.compare(self.drawn(value.noise), value.symbol, value.bound)
            case AppliedTo():
                return self.applied(value.mechanism, value.dataset)
            case Product() | Independent() | Repeated():
                return tuple(self.drawn(part) for part in value.parts)
            case Chosen():
                noisy = [part.plus(self.path.draw("gumbel", value.scale, self.place)) for part in value.scores]
                return value.labels[self.library.chosen(self, noisy)]
            case Uniform() if len(value.values) <= MOST_OPTIONS:
                options = list(value.values)
                return options[self.path.toss([Fraction(1, len(options))] * len(options))]
            case Bernoulli() if value.event is None:
                p = exactly(value.p)
                return p > 0 if p in (0, 1) else self.path.toss([p, 1 - p]) == 0
        if isinstance(value, Applied):
            return self.applied(value.mechanism, value.dataset)
        raise self.refused(f"A draw from {type(value).__name__} cannot be followed.",
                    "Laplace, DiscreteLaplace and their comparisons can.")

    def applied(self, mechanism: Any, dataset: Any) -> Any:
        """The output of a mechanism that is applied to data."""
        found = self.part(mechanism, dataset) if isinstance(mechanism, Mechanism) else None
        return found if found is not None else self.run_mechanism(mechanism, dataset)

    def part(self, target: Any, dataset: Any) -> Any:
        """The output of what is applied to the whole dataset, where it is proved by itself; None where it is followed.

        Args:
            target: a mechanism or function.
            dataset: what it is applied to.
        """
        # before the first line, it is the program itself
        whole = self.here is not None and dataset is self.handed and (
            # what the program did not make, it cannot change
            type(dataset) in (tuple, list) or (isinstance(dataset, Array) and not dataset.writable)
        )
        found = self.path.apply(target, key_of(target), self.place) if whole and not self.of_stream else None
        return output_of(self.path, *found, self.place) if found is not None else None

    def run_mechanism(self, mechanism: Any, dataset: Any) -> Any:
        """A mechanism's output on data."""
        if not isinstance(mechanism, Mechanism):
            raise self.refused("A draw from something that is no mechanism.")
        run = self.attribute(mechanism, "run")
        value = self.call(run, (dataset,), {}, running=True)
        if isinstance(value, Started) and inspect.isgeneratorfunction(getattr(run, "function", run)):
            raise self.refused("A generator is returned, and not what it returns.", "Write `yield from`.")
        while isinstance(value, Started):
            value = self.begun(value)
        value = _as_noise(value)
        return self.drawn(value) if isinstance(
            value, Noise | Compared | AppliedTo | Applied | Independent | Chosen | Distribution
        ) else value

    def begun(self, started: Any) -> Any:
        """What a generator that yields its draws returns in the end."""
        if not isinstance(started, Started) or started.is_used:
            raise self.refused("`yield from` is followed for generators that yield their draws, once for each.")
        started.is_used = True
        return self.follow(started.function, started.args, started.keywords, running=True)

    # --- calls ---

    def call(self, callee: Any, args: tuple[Any, ...], keywords: dict[str, Any], *, running: bool = False) -> Any:
        """Calls what the program calls."""
        # what max, min and sum give may be a list of the program itself
        of_public = not keywords and any(callee is each for each in _OF_PUBLIC) and not any(
            isinstance(each, list) or (len(args) > 1 and hasattr(each, "extend")) for each in args
        )
        if of_public and any(isinstance(each, Public) for each in args) and public(args):
            return Public()
        if isinstance(callee, Native):
            try:
                inspect.signature(callee.call).bind(*args, **keywords)
            except TypeError:
                raise self.refused(f"{callee.name} is called with arguments that are not followed.") from None
            return callee.call(*args, **keywords)
        if isinstance(callee, Bound):
            return self.call(callee.function, (callee.first, *args), keywords, running=running)
        if isinstance(callee, Interpreted):
            return self.follow(callee, args, keywords, running=running)
        if isinstance(callee, types.MethodType):
            return self.call(callee.__func__, (callee.__self__, *args), keywords, running=running)
        if callee is independent and len(args) == 2 and isinstance(args[0], Noise | Compared) and not keywords:
            return Independent((args[0],) * self.plain(args[1]))
        if isinstance(callee, types.FunctionType) and (known := self.library.known(callee)) is None:
            given = (*args, *keywords.values())
            if _is_ours(callee) and not running and not inspect.isgeneratorfunction(callee) and all(
                map(is_frozen, given)
            ):
                return self.plainly(callee, *args, **keywords)
            if self.handed is not None and any(each is self.handed for each in given) and not running and (
                (found := bound(callee, args, keywords)) is not None and isinstance(found[1], Random)
                and (output := self.part(found[2], found[0])) is not None
            ):
                return output
            if callee.__code__ is _CACHED and _is_ours(callee):
                return self.call(vars(callee)["__wrapped__"], args, keywords)
            return self.follow(self.interpreted(callee), args, keywords, running=running)
        known = self.library.known(callee)
        if known is not None or postprocessing.is_followed(callee):
            return self.made(_of_numpy(callee, self._computed(callee, known, args, keywords)))
        if type(callee) is functools.partial:
            return self.call(callee.func, (*callee.args, *args), {**callee.keywords, **keywords})
        if isinstance(callee, type):
            return self.construct(callee, args, keywords)
        if isinstance(callee, Random | Noise | Form | Cell | Condition):
            raise self.refused("A number or generator is called.")
        if isinstance(callee, Query | Quality) and len(args) == 1 and isinstance(args[0], Unseen) and not keywords:
            answers = args[0].answers(callee)
            if isinstance(callee, Query):
                return Answered(answers)
            first = min(answers[0].records)
            return Scored(answers, tuple(Solution(first, place) for place in range(len(answers))))
        if isinstance(callee, Instance) and isinstance(
            method := inspect.getattr_static(callee.kind, "__call__", None), types.FunctionType
        ):
            return self.call(method, (callee, *args), keywords)
        if (method := _special(callee, "__call__")) is not None:
            return self.call(method, (callee, *args), keywords)
        if type(callee).__name__ == "_lru_cache_wrapper":
            if _is_ours(callee) and all(map(is_frozen, (*args, *keywords.values()))):
                return self.plainly(callee, *args, **keywords)
            raise self.refused(f"{_full_name(callee)} keeps its results.", "Remove the cache.")
        raise self.refused(f"The function {_full_name(callee)} is not followed.")

    def _computed(
        self, callee: Any, known: Callable[..., Any] | None, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """A function of the library, or post-processing where it is not followed for numbers with noise."""
        held = list(postprocessing.parts(args))
        if known is not None and not any(isinstance(each, PostProcessed) for each in held):
            try:
                return known(self, *args, **keywords)
            except Unsupported as refusal:
                if not any(map(postprocessing.depends_on_noise, held)):
                    raise
                try:
                    found = postprocessing.called(self, callee, args, keywords)
                except Unsupported:
                    found = None
                if found is None:
                    raise refusal from None
                return found
        found = postprocessing.called(self, callee, args, keywords)
        if found is None and known is not None:
            return known(self, *args, **keywords)
        if found is None:
            raise self.refused(f"The function {_full_name(callee)} is not followed.")
        return found

    def construct(self, kind: type, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Makes an object."""
        if _is_noise(kind):
            return self.noise(kind, args, keywords)
        if kind is Softmax:
            return self.exponential_mechanism(*args, **keywords)
        if kind is Applied:
            return AppliedTo(*args, **keywords)
        made: Any = tallied(self, kind, args, keywords)
        if made is not None:
            return made
        if _is_plainly_made(kind) and all(map(is_frozen, (*args, *keywords.values()))):
            return self.plainly(kind, *args, **keywords)
        if kind is Product and len(args) == 1 and isinstance(args[0], tuple):
            return Independent(args[0])
        made = instance(kind, args, keywords) or initialized(self, kind, args, keywords)
        if made is not None:
            return made
        if issubclass(kind, BaseException):
            raise self.refused("The program raises an exception on some path.", "Return a value instead.")
        raise self.refused(
            f"Objects of class {kind.__name__} are not followed.",
            "Those of dataclasses and of classes with __init__, __call__ and methods, without bases, are.",
        )

    def noise(self, kind: type[Real], args: tuple[Any, ...], keywords: dict[str, Any]) -> Noise:
        """A distribution of noise."""
        names = [each.name for each in fields(kind) if not each.kw_only]
        given = {**dict(zip(names, args, strict=False)), **keywords}
        if len(args) > len(names) or set(given) - set(names) or not set(names[:2]) <= set(given) or len(given) > 2:
            raise self.refused(f"{kind.__name__} is made with arguments that are not followed.")
        assert kind.noise_kind is not None
        return Noise(kind.noise_kind, self.scale(given[names[1]]), self.number(given[names[0]]))

    def scale(self, value: Any) -> Fraction:
        """The scale of noise, which depends on neither data nor noise."""
        form = self.number(value)
        if form.has_data or form.has_noise:
            what = "the data" if form.has_data else "noise"
            raise self.refused(
                f"The scale of noise depends on {what}.",
                "Use a scale that is the same for every dataset.",
            )
        if form.constant <= 0:
            raise self.refused(f"The scale of noise is {float(form.constant):g}, which is not above 0.")
        return form.constant

    def exponential_mechanism(self, scores: Any, coefficient: Any, labels: Any = None) -> Chosen:
        """A label with probability ∝ exp(coefficient · score): that of the largest score with Gumbel noise."""
        parts = tuple(self.number(each) for each in self.iterate(scores))
        names = tuple(range(len(parts))) if labels is None else tuple(self.iterate(labels))
        known = concrete(names) or all(isinstance(name, Solution) for name in names)
        if not known or len(names) != len(parts) or not parts:
            raise self.refused("The outputs of the exponential mechanism depend on the data or on noise.")
        factor = self.number(coefficient)
        if factor.constant < 0:
            parts, factor = tuple(part.scaled(Fraction(-1)) for part in parts), factor.scaled(Fraction(-1))
        return Chosen(parts, 1 / self.scale(factor), names)

    def interpreted(self, function: types.FunctionType) -> Interpreted:
        """A running function, to be followed."""
        try:
            source = source_of(function)
        except Unsupported as error:
            raise Unsupported(error.reason, error.remedy, error.place or self.here) from None
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

        def variables(name: str) -> Any:
            if name in cells:
                try:
                    return cells[name].cell_contents
                except ValueError:
                    raise Unsupported(f"The variable {name} has no value.") from None
            if name in function.__globals__:
                return function.__globals__[name]
            space = function.__builtins__ if hasattr(function, "__builtins__") else vars(builtins)
            if name in space:
                return space[name]
            raise Unsupported(f"The name {name} is not defined.")

        return Interpreted(
            source, function.__qualname__, function.__defaults__ or (), dict(function.__kwdefaults__ or {}), variables,
            function,
        )

    def follow(
        self, function: Interpreted, args: tuple[Any, ...], keywords: dict[str, Any], *, running: bool = False
    ) -> Any:
        """Calls a function by following its source."""
        node = function.source.node
        if isinstance(node, ast.FunctionDef) and yields(node) and not running:
            return Started(function, args, keywords)
        scope = self.entered(function, args, keywords)
        if self.depth >= DEEPEST:
            raise self.refused(f"Calls are nested more than {DEEPEST} deep.")
        self.depth += 1
        before = self.here
        try:
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, scope)
            self.execute(node.body, scope)
        except Leave as left:
            return left.value
        finally:
            self.depth -= 1
            if before is not None:
                self.here = before
        return None

    def entered(self, function: Interpreted, args: tuple[Any, ...], keywords: dict[str, Any]) -> Scope:
        """The variables of a call, with its arguments."""
        node = function.source.node
        scope = Scope(local_names(node), function.variables, function.source)
        if any(name.startswith("__") and not name.endswith("__") for name in scope.names):
            raise self.refused("A private name is another one inside of a class.", "Use names with one underscore.")
        names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        given = dict(zip(names, args, strict=False))
        rest = args[len(names):]
        if rest and node.args.vararg is None:
            raise self.refused(f"{function.name} is called with too many arguments.")
        if node.args.vararg is not None:
            given[node.args.vararg.arg] = tuple(rest)
        only = [each.arg for each in node.args.kwonlyargs]
        positional = {each.arg for each in node.args.posonlyargs}
        extra = {}
        for name, value in keywords.items():
            if (name in names or name in only) and name not in positional:
                if name in given:
                    raise self.refused(f"{function.name} gets {name} twice.")
                given[name] = value
            elif node.args.kwarg is not None:
                extra[name] = value
            else:
                raise self.refused(f"{function.name} has no parameter {name}.")
        if node.args.kwarg is not None:
            given[node.args.kwarg.arg] = self.own(extra)
        for name, value in zip(names[len(names) - len(function.defaults):], function.defaults, strict=True):
            given.setdefault(name, value)
        for name, value in function.keyword_defaults.items():
            given.setdefault(name, value)
        for name in (*names, *only):
            if name not in given:
                raise self.refused(f"{function.name} is called without {name}.")
        scope.values.update(given)
        return scope

    # --- statements ---

    def execute(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        """Follows statements in order."""
        for statement in statements:
            self.step(statement, scope)
            self.execute_one(statement, scope)

    def step(self, node: ast.AST, scope: Scope) -> None:
        self.path.steps += 1
        if self.path.steps > MOST_STEPS:
            raise self.refused(f"More than {MOST_STEPS:,} steps on one path.")
        if hasattr(node, "lineno") and (
            self.here is None or self.here.line != node.lineno or self.here.file not in scope.source.file
        ):
            self.here = scope.source.place(node)

    def execute_one(self, statement: ast.stmt, scope: Scope) -> None:
        match statement:
            case ast.Expr(value=value):
                self.evaluate(value, scope)
            case ast.Assign(targets=targets, value=value):
                result = self.evaluate(value, scope)
                for target in targets:
                    self.assign(target, result, scope)
            case ast.AnnAssign(target=target, value=value):
                if not isinstance(target, ast.Name):
                    raise self.refused("This annotation is not followed.")
                if value is not None:
                    self.assign(target, self.evaluate(value, scope), scope)
            case ast.AugAssign():
                self.augment(statement, scope)
            case ast.If():
                self.branch(statement, scope)
            case ast.For():
                self.loop(statement, scope)
            case ast.While():
                self.repeat(statement, scope)
            case ast.Return(value=value):
                if self.path.merging:
                    raise CannotMerge
                if scope is self.main:
                    self.returning += 1
                try:
                    result = None if value is None else self.evaluate(value, scope)
                finally:
                    if scope is self.main:
                        self.returning -= 1
                raise Leave(result)
            case ast.Break():
                if self.path.merging:
                    raise CannotMerge
                raise LeaveLoop
            case ast.Continue():
                if self.path.merging:
                    raise CannotMerge
                raise NextTurn
            case ast.Pass():
                pass
            case ast.Delete(targets=targets):
                for target in targets:
                    if not isinstance(target, ast.Subscript):
                        raise self.refused("`del` of a variable or an attribute is not followed.")
                    self.delete(self.evaluate(target.value, scope), self.evaluate(target.slice, scope))
            case ast.FunctionDef():
                if statement.decorator_list:
                    raise self.refused("A decorated function inside the program is not followed.")
                notes = [statement.returns, *(
                    each.annotation for each in ast.walk(statement.args) if isinstance(each, ast.arg)
                )]
                if any(note is not None and not isinstance(note, ast.Name | ast.Constant) for note in notes):
                    raise self.refused("This annotation is not followed.")
                scope.values[statement.name] = self.closure(statement, statement.name, scope)
            case ast.Assert(test=test):
                if __debug__ and not self.truth(self.evaluate(test, scope)):
                    raise self.refused("An assertion fails on some path.", "Return a value instead.")
            case ast.Import(names=names):
                for alias in names:
                    module = _imported(self, alias.name, whole=alias.asname is not None)
                    scope.values[alias.asname or alias.name.partition(".")[0]] = module
            case ast.ImportFrom(module=str(name), names=names, level=0):
                module = _imported(self, name, whole=True)
                for alias in names:
                    if alias.name == "*" or not hasattr(module, alias.name):
                        raise self.refused("An import inside the program is not followed.")
                    scope.values[alias.asname or alias.name] = getattr(module, alias.name)
            case ast.Match():
                self.choose(statement, scope)
            case ast.Raise():
                raise self.refused("The program raises an exception on some path.", "Return a value instead.")
            case _:
                keyword = {"ClassDef": "class", "AsyncFunctionDef": "async", "TryStar": "try"}
                name = type(statement).__name__
                raise self.refused(f"The statement `{keyword.get(name, name.lower())}` is not followed.")

    def choose(self, statement: ast.Match, scope: Scope) -> None:
        """`match`, for patterns that are values."""
        subject = self.evaluate(statement.subject, scope)
        for case in statement.cases:
            patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
            if any(self.fits(subject, pattern, scope) for pattern in patterns) and (
                case.guard is None or self.truth(self.evaluate(case.guard, scope))
            ):
                self.execute(case.body, scope)
                return

    def fits(self, subject: Any, pattern: ast.pattern, scope: Scope) -> bool:
        """Whether a value is that of a pattern."""
        match pattern:
            case ast.MatchValue(value=value):
                return self.truth(self.one_comparison(ast.Eq(), subject, self.evaluate(value, scope)))
            case ast.MatchAs(pattern=None, name=None):
                return True
        raise self.refused("This pattern of `match` is not followed.", "Use values and `_`, or if and elif.")

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                if name not in scope.names:
                    raise self.refused(f"The variable {name} outside the function is changed.", _STATE)
                scope.values[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                values = list(self.iterate(value))
                starred = [i for i, each in enumerate(targets) if isinstance(each, ast.Starred)]
                if starred:
                    after = len(targets) - starred[0] - 1
                    if len(values) < len(targets) - 1:
                        raise self.refused("Too few values to unpack.")
                    middle = self.own(values[starred[0]:len(values) - after])
                    values = [*values[:starred[0]], middle, *values[len(values) - after:]]
                if len(values) != len(targets):
                    raise self.refused("The number of values to unpack is not that of the targets.")
                for each, part in zip(targets, values, strict=True):
                    self.assign(each.value if isinstance(each, ast.Starred) else each, part, scope)
            case ast.Subscript(value=container, slice=index):
                self.store(self.evaluate(container, scope), self.evaluate(index, scope), value)
            case ast.Attribute(value=owner, attr=name):
                self.set_attribute(self.evaluate(owner, scope), name, value)
            case _:
                raise self.refused("This assignment is not followed.")

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """owner.name = value, of an object that the program made."""
        if type(owner) is not Instance:
            raise self.refused("An attribute is changed.", _STATE)
        if self.path.merging:
            raise CannotMerge
        if not has_attribute(owner, name):
            raise self.refused(f"The attribute {name} of a {owner.kind.__name__} cannot be changed, or is computed.")
        owner.values[name] = value

    def store(self, container: Any, index: Any, value: Any) -> None:
        """container[index] = value."""
        if isinstance(container, Array):
            container.store(self, index, value)
            return
        if type(container) not in (list, dict):
            raise self.refused(f"An item of a {type_name(container)} is changed.")
        if isinstance(container, dict) and not all(map(is_fixed, container)):
            raise self.refused("This change of a dict is not followed.")
        if not self.owns(container):
            raise self.refused("A container from outside the program, or the data, is changed.", _STATE)
        if not concrete(index):
            raise self.refused(
                "A place that depends on the data or on noise is written to.",
                "Use `+=`, or np.bincount.",
            )
        self.only_plain(*((index.start, index.stop, index.step) if isinstance(index, slice) else (index,)))
        if self.path.merging:
            if isinstance(index, slice) or (isinstance(container, dict) and index not in container):
                raise CannotMerge
            self.undo.append((container, index, self.plainly(operator.getitem, container, index)))
        if isinstance(index, slice):
            value = list(self.iterate(value))
        self.plainly(operator.setitem, container, index, value)

    def delete(self, container: Any, index: Any) -> None:
        """del container[index]."""
        if type(container) not in (list, dict):
            raise self.refused(f"An item of a {type_name(container)} is deleted.")
        self.changing(container)
        if not concrete(index):
            raise self.refused("A place that depends on the data or on noise is deleted.")
        if isinstance(container, dict):
            self.plainly(container.pop, self.hashable(index))
        else:
            self.only_plain(index)
            self.plainly(operator.delitem, container, self.plain(index))

    def augment(self, statement: ast.AugAssign, scope: Scope) -> None:
        target, operation = statement.target, type(statement.op)
        if isinstance(target, ast.Name):
            before = self.evaluate(ast.Name(id=target.id, ctx=ast.Load(), lineno=target.lineno), scope)
            value = self.evaluate(statement.value, scope)
            if isinstance(before, Array):
                if target.id not in scope.names:
                    raise self.refused(f"The variable {target.id} outside the function is changed.", _STATE)
                before.changed(self, operation, value)
                # the value may have given the name to something else
                self.assign(target, before, scope)
                return
            if isinstance(before, np.ndarray):
                raise self.refused("An array from outside the program is changed.", _STATE)
            if isinstance(before, list):
                # of an array or a number of numpy's, it would be numpy's addition
                if operation is not ast.Add or isinstance(value, Array | np.ndarray | np.generic):
                    raise self.refused("This change of a list is not followed.")
                self.extend(before, value)
                self.assign(target, before, scope)
                return
            if isinstance(before, Public) and hasattr(before, "extend"):
                if operation is not ast.Add:
                    raise self.refused("This change of a list is not followed.")
                before.extend(self, value)
                self.assign(target, before, scope)
                return
            if isinstance(before, dict | set):
                raise self.refused("This change of a container is not followed.")
            self.assign(target, self.operate(operation, before, value), scope)
        elif isinstance(target, ast.Subscript):
            container, indices = self.nested(target, scope)
            index = indices[-1]
            if len(indices) > 1 and (operation not in (ast.Add, ast.Sub) or isinstance(container, Tally)):
                raise self.refused("A place that depends on the data is written to.", "Use `+=` on lists or arrays.")
            if isinstance(container, Tally):
                if operation not in (ast.Add, ast.Sub):
                    raise self.refused("This change of a count is not followed.")
                amount = self.evaluate(statement.value, scope)
                container.add(self, index, amount if operation is ast.Add else self.binary(ast.Mult, -1, amount))
                return
            if any(isinstance(each, Cell | Form) for each in indices) and operation in (ast.Add, ast.Sub):
                if not isinstance(statement.value, ast.Constant | ast.Name):
                    raise self.refused("A place that depends on the data is written to.", "Use np.bincount.")
                value = self.evaluate(statement.value, scope)
                self.spread(container, indices, value if operation is ast.Add else self.binary(ast.Mult, -1, value))
                return
            before = self.item(container, index)
            value = self.evaluate(statement.value, scope)
            if isinstance(before, Array | list | dict | set | np.ndarray | Public):
                if not isinstance(before, Array):
                    raise self.refused("This change of a container is not followed.")
                before.changed(self, operation, value)
                # what a fancy index gives is a copy
                self.store(container, index, before)
                return
            self.store(container, index, self.operate(operation, before, value))
        elif isinstance(target, ast.Attribute):
            owner = self.evaluate(target.value, scope)
            before = self.attribute(owner, target.attr)
            if isinstance(before, Array | list | dict | set | np.ndarray | Public):
                raise self.refused("This change of a container is not followed.")
            value = self.evaluate(statement.value, scope)
            self.set_attribute(owner, target.attr, self.operate(operation, before, value))
        else:
            raise self.refused("This assignment is not followed.")

    def nested(self, target: ast.Subscript, scope: Scope) -> tuple[Any, list[Any]]:
        """(container, [i, j, …]) of container[i][j] or container[i, j] where an index but the last depends on a record.

        Otherwise the innermost container, and the last index alone.
        """
        if isinstance(target.value, ast.Subscript):
            container, indices = self.nested(target.value, scope)
            if not any(isinstance(each, Cell | Form) for each in indices):
                container, indices = self.item(container, indices[-1]), []
            elif not self.has_no_effect(target.slice, scope):
                # the rows are looked up afterwards
                raise self.refused("The index of a place that depends on the data is computed.", "Use a variable.")
        else:
            container, indices = self.evaluate(target.value, scope), []
        index = self.evaluate(target.slice, scope)
        by_record = type(index) is tuple and any(isinstance(each, Cell | Form) for each in index)
        return container, [*indices, *index] if by_record and isinstance(container, Array) else [*indices, index]

    def has_no_effect(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression only computes with variables."""
        return all(
            isinstance(each, _COMPUTES) or (
                isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
                and self.evaluate(each.func, scope) is builtins.int
            ) for each in ast.walk(node)
        )

    def extend(self, values: list[Any], more: Any) -> None:
        """Appends to a list; what an iterator computes sees what was appended before."""
        self.changing(values)
        items = self.iterate(more)
        values.extend(items if isinstance(more, Iterator) else list(items))

    def only_plain(self, *values: Any) -> None:
        """Refuses objects whose operators are the user's own, also inside of containers."""
        if not all(map(is_deep_plain, values)):
            raise self.refused("Operators of a class of your own are not followed.")

    def spread(self, container: Any, indices: Sequence[Any], value: Any) -> None:
        """container[i][j]… += value where some of the indices depend on one record."""
        index, *inner = indices
        for place, hit in self.places(index, container):
            added = self.where(hit, value, 0) if isinstance(hit, Cell) else value
            if inner:
                self.spread(self.item(container, place), inner, added)
            else:
                self.store(container, place, self.binary(ast.Add, self.item(container, place), added))

    def places(self, index: Any, container: Any) -> Iterator[tuple[Any, Any]]:
        """The places that an index may be, and whether it is that one."""
        if not isinstance(index, Cell | Form):
            yield index, True
            return
        single = self.number(index).single()
        if is_truth(index) or (isinstance(index, Form) and not index.is_int):
            raise self.refused("An item is looked up by a number that may be no whole number.", "Use int(...).")
        if single is None or not single[1].is_whole or isinstance(container, dict):
            raise self.refused("A place that depends on the data or on noise is written to.", "Use np.bincount.")
        length = self.length(container)
        low, high = single[1].extremes()
        if low is None or high is None or low < 0 or high >= length:
            raise self.refused("An index may be outside of the list for some record.")
        for place in range(int(low), int(high) + 1):
            hit = self.compare(index, "==", place)
            if isinstance(hit, Cell) or hit:
                yield place, hit

    def changing(self, container: Any) -> None:
        """A container is about to be changed."""
        if self.path.merging:
            raise CannotMerge
        if not self.owns(container):
            raise self.refused("A container from outside the program, or the data, is changed.", _STATE)
        self.only_fixed_keys(container)

    def only_fixed_keys(self, container: Any) -> None:
        """Refuses a dict that a lookup may find something in by code of its keys' classes."""
        if isinstance(container, dict) and not all(map(is_fixed, container)):
            raise self.refused("Keys of this class are not followed.")

    def branch(self, statement: ast.If, scope: Scope) -> None:
        test = self.evaluate(statement.test, scope)
        if isinstance(test, Cell) and test.is_condition and self.merged(test, statement, scope):
            return
        self.execute(statement.body if self.truth(test) else statement.orelse, scope)

    def merged(self, test: Cell, statement: ast.If, scope: Scope) -> bool:
        """Follows both sides of a branch on one record, and makes each variable one value; False where it cannot."""
        before, undone = dict(scope.values), self.undo
        self.path.merging += 1
        sides: list[tuple[dict[str, Any], dict[tuple[int, Any], tuple[Any, Any, Any]]]] = []
        try:
            for body in (statement.body, statement.orelse):
                self.undo = []
                try:
                    self.execute(body, scope)
                finally:
                    changes: dict[tuple[int, Any], tuple[Any, Any, Any]] = {}
                    for container, index, _ in self.undo:
                        changes[_slot(container, index)] = (container, index, container[index])
                    for container, index, former in reversed(self.undo):
                        container[index] = former
                    after, scope.values = scope.values, dict(before)
                sides.append((after, changes))
            (yes, first), (no, second) = sides
            values = {}
            for name in yes.keys() | no.keys():
                if name not in yes or name not in no:
                    raise CannotMerge
                values[name] = self.where(test, yes[name], no[name])
            stores = []
            for key in {**first, **second}:
                container, index, _ = first.get(key) or second[key]
                x = first[key][2] if key in first else container[index]
                y = second[key][2] if key in second else container[index]
                stores.append((container, index, self.where(test, x, y)))
        except (CannotMerge, Unsupported, NextTurn, LeaveLoop, Leave):
            scope.values = before
            if self.path.merging > 1:
                raise CannotMerge from None
            return False
        finally:
            self.path.merging -= 1
            self.undo = undone
        scope.values = values
        for container, index, value in stores:
            if self.path.merging:
                self.undo.append((container, index, container[index]))
            container[index] = value
        return True

    def both(self, test: Cell, yes: ast.expr, no: ast.expr, scope: Scope) -> Any:
        """`yes if test else no` as one value."""
        return self.attempt(scope, lambda: self.where(test, self.evaluate(yes, scope), self.evaluate(no, scope)))

    def attempt(self, scope: Scope, evaluate: Callable[[], Any]) -> Any:
        """The value of an expression that changes nothing, draws nothing and decides nothing.

        Raises:
            CannotMerge: it does one of these, or cannot be followed.
        """
        before, undone = dict(scope.values), self.undo
        self.path.merging += 1
        self.undo = []
        try:
            value = evaluate()
            if self.undo or scope.values.keys() != before.keys() or any(
                scope.values[name] is not held for name, held in before.items()
            ):
                raise CannotMerge
            return value
        except Unsupported:
            raise CannotMerge from None
        finally:
            for container, index, former in reversed(self.undo):
                container[index] = former
            self.undo = undone
            scope.values = before
            self.path.merging -= 1

    def loop(self, statement: ast.For, scope: Scope) -> None:
        for value in self.iterate(self.evaluate(statement.iter, scope)):
            self.assign(statement.target, value, scope)
            try:
                self.execute(statement.body, scope)
            except NextTurn:
                continue
            except LeaveLoop:
                return
            self.step(statement, scope)
        self.execute(statement.orelse, scope)

    def repeat(self, statement: ast.While, scope: Scope) -> None:
        while self.truth(self.evaluate(statement.test, scope)):
            try:
                self.execute(statement.body, scope)
            except NextTurn:
                pass
            except LeaveLoop:
                return
            self.step(statement, scope)
        self.execute(statement.orelse, scope)

    def closure(self, node: ast.FunctionDef | ast.Lambda, name: str, scope: Scope) -> Interpreted:
        """A function that the program defines."""
        defaults = tuple(self.evaluate(each, scope) for each in node.args.defaults)
        keywords = {
            each.arg: self.evaluate(value, scope)
            for each, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value is not None
        }
        source = Source(node, scope.source.file)
        return Interpreted(source, name, defaults, keywords, scope.read)

    # --- expressions ---

    def evaluate(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression."""
        self.step(node, scope)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                if name.startswith("__") and not name.endswith("__"):
                    raise self.refused(f"The name {name} may be another one inside a class.", "Rename it.")
                try:
                    return scope.read(name)
                except Unsupported as error:
                    raise Unsupported(error.reason, error.remedy, error.place or self.here) from None
            case ast.BinOp(left=left, op=op, right=right):
                return self.operate(type(op), self.evaluate(left, scope), self.evaluate(right, scope))
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(op, self.evaluate(operand, scope))
            case ast.Compare():
                return self.chain(node, scope)
            case ast.BoolOp():
                return self.logical(node, scope)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self.evaluate(test, scope)
                if isinstance(condition, Cell) and condition.is_condition:
                    try:
                        return self.both(condition, body, orelse, scope)
                    except CannotMerge:
                        if self.path.merging:
                            raise
                return self.evaluate(body if self.truth(condition) else orelse, scope)
            case ast.Call():
                return self.calling(node, scope)
            case ast.Attribute(value=value, attr=name):
                return self.attribute(self.evaluate(value, scope), name)
            case ast.Subscript(value=value, slice=index):
                return self.item(self.evaluate(value, scope), self.evaluate(index, scope))
            case ast.Slice(lower=lower, upper=upper, step=step):
                parts = [None if each is None else self.evaluate(each, scope) for each in (lower, upper, step)]
                if not all(map(concrete, parts)):
                    raise self.refused("The bounds of a slice depend on the data or on noise.")
                self.only_plain(*parts)
                return slice(*(self.plain(part) for part in parts))
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                made_of = self.parts(parts, scope)
                if isinstance(made_of, Public):
                    return made_of
                return tuple(made_of) if isinstance(node, ast.Tuple) else self.own(made_of)
            case ast.Dict(keys=keys, values=values):
                made: dict[Any, Any] = {}
                for key, value in zip(keys, values, strict=True):
                    if key is None:
                        raise self.refused("`**` in a dict is not followed.")
                    name = self.hashable(self.evaluate(key, scope))
                    made[name] = self.evaluate(value, scope)
                return self.own(made)
            case ast.Set(elts=parts):
                return self.own({self.hashable(part) for part in list(self.parts(parts, scope))})
            case ast.ListComp(elt=element, generators=generators):
                return self.own(list(self.comprehended(element, generators, scope)))
            case ast.GeneratorExp(elt=element, generators=generators):
                return self.made(self.comprehended(element, generators, scope))
            case ast.SetComp(elt=element, generators=generators):
                return self.own({self.hashable(part) for part in self.comprehended(element, generators, scope)})
            case ast.DictComp(key=key, value=value, generators=generators):
                pairs = self.comprehended(ast.Tuple(elts=[key, value], lineno=node.lineno), generators, scope)
                return self.own({self.hashable(name): held for name, held in pairs})
            case ast.Lambda() if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node)):
                raise self.refused("A lambda that yields is a generator.")
            case ast.Lambda():
                return self.closure(node, "<lambda>", scope)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                result = self.evaluate(value, scope)
                if name not in scope.names:
                    raise self.refused("A walrus inside a comprehension is not followed.")
                scope.values[name] = result
                return result
            case ast.Yield(value=value):
                if value is None:
                    raise self.refused("A `yield` without a distribution.")
                return self.drawn(self.evaluate(value, scope))
            case ast.YieldFrom(value=value):
                started = self.evaluate(value, scope)
                return self.begun(started)
            case ast.JoinedStr(values=values):
                return self.formatted(values, scope)
            case _:
                raise self.refused(f"The expression `{type(node).__name__}` is not followed.")

    def parts(self, nodes: list[ast.expr], scope: Scope) -> Any:
        """The elements of a display, as a list; `Public` if what was released is among them."""
        values: list[Any] = []
        released = False
        for node in nodes:
            if isinstance(node, ast.Starred):
                held = self.evaluate(node.value, scope)
                released = released or isinstance(held, Public)
                values += [held] if isinstance(held, Public) else self.iterate(held)
            else:
                values.append(self.evaluate(node, scope))
        if not released:
            return values
        if not public(values):
            raise self.refused("Released outputs are put together with numbers that are not released.")
        return Public()

    def formatted(self, values: list[ast.expr], scope: Scope) -> Any:
        parts: list[Any] = []
        for value in values:
            if isinstance(value, ast.Constant):
                parts.append(str(value.value))
                continue
            assert isinstance(value, ast.FormattedValue)
            shown = self.evaluate(value.value, scope)
            if postprocessing.depends_on_noise(shown) and value.conversion == -1:
                form = "" if value.format_spec is None else self.evaluate(value.format_spec, scope)
                if type(form) is not str:
                    raise self.refused("A format that depends on noise is not followed.")
                parts.append(postprocessing.shown(self, shown, form))
                continue
            if type(shown) not in (str, int) or value.format_spec is not None or value.conversion != -1:
                raise self.refused(
                    "A number that depends on the data or on noise is made a string.",
                    "Release the number.",
                )
            parts.append(str(shown))
        if any(isinstance(part, PostProcessed) for part in parts):
            return postprocessing.joined(self, parts)
        return "".join(parts)

    def operate(self, operation: type[ast.operator], left: Any, right: Any) -> Any:
        if isinstance(left, Public) or isinstance(right, Public):
            if not public(left) or not public(right):
                raise self.refused("A number is combined with one that depends on the length of the stream.")
            return Public()

        if isinstance(left, Array | np.ndarray) or isinstance(right, Array | np.ndarray):
            return Array.operated(self, operation, left, right)
        if isinstance(left, list | tuple | str) or isinstance(right, list | tuple | str):
            return self._of_sequences(operation, left, right)
        if operation in (ast.BitAnd, ast.BitOr, ast.BitXor) and (is_symbolic(left) or is_symbolic(right)):
            return self.bitwise(operation, left, right)
        return self.binary(operation, left, right)

    def bitwise(self, operation: type[ast.operator], left: Any, right: Any) -> Any:
        """`&`, `|` and `^` of conditions."""
        one, other = (
            each if isinstance(each, bool) or (isinstance(each, Cell) and each.is_condition)
            else self.truth(each) if isinstance(each, Condition) else None
            for each in (left, right)
        )
        if one is None or other is None:
            raise self.refused("`&`, `|` or `^` of something that is no condition.")
        if isinstance(one, bool) and isinstance(other, bool):
            return bool(_BINARY[operation](one, other))
        if isinstance(one, Cell) and isinstance(other, Cell) and one.record != other.record:
            return bool(_BINARY[operation](self.truth(one), self.truth(other)))
        cell, rest = (one, other) if isinstance(one, Cell) else (other, one)
        assert isinstance(cell, Cell)
        if operation is ast.BitAnd:
            return self.where(cell, rest, False)
        if operation is ast.BitOr:
            return self.where(cell, True, rest)
        opposite = rest.negated() if isinstance(rest, Cell) else not rest
        return self.where(cell, opposite, rest)

    def _of_sequences(self, operation: type[ast.operator], left: Any, right: Any) -> Any:
        if operation is ast.Mod and isinstance(left, str):
            raise self.refused("A string is formatted with `%`.", "Use an f-string.")
        if not all(is_plain(each) for each in (left, right)):
            symbol = _SYMBOLS.get(operation)
            raise self.refused(f"The operator {symbol} of a list and a number that depends on the data or on noise.")
        if operation is ast.Mult:
            sequence, times = (left, right) if hasattr(left, "__len__") else (right, left)
            if not isinstance(times, int) or len(sequence) * abs(times) > LONGEST:
                raise self.refused("A sequence is repeated too often.")
        if operation in (ast.Add, ast.Mult) or (concrete(left) and concrete(right)):
            made = self.plainly(_BINARY[operation], left, right)
            return self.own(made) if isinstance(made, list) else made
        raise self.refused("This operation on a list is not followed.")

    def unary(self, op: ast.unaryop, value: Any) -> Any:
        if isinstance(value, Array | np.ndarray):
            mine = Array.of(self, value)
            if mine.kind == "bool":
                if not isinstance(op, ast.Invert):
                    raise self.refused("This operator of an array of conditions is not followed.")
                return Array.each(self, lambda part: self.unary(ast.Not(), part), mine, kind="bool")
            return Array.each(self, lambda part: self.unary(op, part), mine, kind=mine.kind)
        if not is_symbolic(value) and not is_plain(value) and not isinstance(op, ast.Not):
            raise self.refused(f"An operator of the class {type(value).__name__} is not followed.")
        if not isinstance(op, ast.Not) and (is_truth(value) or _is_mixed(value)):
            raise self.refused("`~`, `-` or `+` of a condition is not the same in Python and in numpy.",
                               "Write `not`, np.logical_not or int(...).")
        match op:
            case ast.Not():
                if isinstance(value, Condition):
                    return value.negated()
                if isinstance(value, Cell) and value.is_condition:
                    return value.negated()
                return not self.truth(value)
            case ast.USub():
                if isinstance(value, Cell) and isinstance(value.function, Table):
                    return self.cell(value, self._each(value, None, lambda x, _: -x, swapped=False))
                return self.plainly(operator.neg, value) if not is_symbolic(value) else self.binary(ast.Mult, -1, value)
            case ast.UAdd():
                return value if is_symbolic(value) else self.plainly(operator.pos, value)
            case ast.Invert():
                if isinstance(value, Condition) or (isinstance(value, Cell) and value.is_condition):
                    raise self.refused("`~` of a condition is not the same in Python and in numpy.",
                                "Write `not`, or np.logical_not.")
                return self.plainly(operator.invert, value)
        raise self.refused("This operator is not followed.")

    def chain(self, node: ast.Compare, scope: Scope) -> Any:
        """left < middle < right: as `left < middle and middle < right`, in which middle is evaluated once."""
        operands = [self.evaluate(node.left, scope)]

        def link(index: int) -> Any:
            del operands[index + 1:]
            operands.append(self.evaluate(node.comparators[index], scope))
            return self.one_comparison(node.ops[index], operands[index], operands[index + 1])

        return self.all_or_any([functools.partial(link, index) for index in range(len(node.ops))], scope, every=True)

    def one_comparison(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            if left is None or right is None:
                other = right if left is None else left
                if isinstance(other, Public | Solution):
                    raise self.refused("What was released is compared with None.")
                if isinstance(other, Output):
                    same: Any = other.compared_with_none(self.path, self.place)
                elif isinstance(other, Cell) and isinstance(other.function, Table):
                    same = self.cell(other, combine(other, None, lambda x, _: x is None))
                else:
                    same = left is None and right is None
                return same if isinstance(op, ast.Is) else self.unary(ast.Not(), same)
            for one, other in ((left, right), (right, left)):
                # a symbol such as ⊥: there is one object of it, and no number of Python's own is it, but the largest of
                # some records may be
                drawn = isinstance(other, Form) and other.has_noise and all(
                    self.path.draws[index].kind != "maximum" for index in other.draws
                )
                number = is_plain(other) and isinstance(other, NUMBERS)
                if isinstance(one, enum.Enum) and (one is other or drawn or number):
                    return (one is other) is isinstance(op, ast.Is)
            raise self.refused("`is` compares objects, not values.", "Use `==`.")
        if isinstance(op, ast.In | ast.NotIn):
            found = self.contained(left, right)
            return found if isinstance(op, ast.In) else self.unary(ast.Not(), found)
        symbol = _COMPARED[type(op)]
        if isinstance(left, Array | np.ndarray) or isinstance(right, Array | np.ndarray):
            return Array.compared(self, symbol, left, right)
        if not is_symbolic(left) and not is_symbolic(right) and not isinstance(left, Noise) and not isinstance(
            right, Noise
        ):
            if not concrete(left) or not concrete(right):
                raise self.refused("Containers of numbers that depend on the data or on noise are compared.")
            if any(isinstance(each, list | tuple | dict | set) for each in (left, right)):
                self.only_plain(left, right)
            if isinstance(left, NUMBERS) != isinstance(right, NUMBERS) and any(
                isinstance(each, list | tuple) for each in (left, right)
            ):
                raise self.refused("A number is compared with a sequence.")
            for each in (left, right):
                if not is_plain(each) and not (isinstance(op, ast.Eq | ast.NotEq) and _is_ours(type(each))):
                    raise self.refused(f"A comparison with a value of type {type_name(each)} is not followed.")
            return self.plainly(_OPERATORS[symbol], left, right)
        return self.compare(left, symbol, right)

    def contained(self, value: Any, container: Any) -> Any:
        if type(container) not in (list, tuple, set, frozenset, dict, str):
            raise self.refused("`in` is followed for lists, tuples, sets and dicts.")
        if is_deep_plain(value) and is_deep_plain(container):
            return self.plainly(operator.contains, container, value)
        if type(container) is dict and all(map(is_fixed, container)) and is_fixed(value):
            return self.plainly(operator.contains, container, value)
        if concrete(value) and concrete(container):
            raise self.refused("`in` with objects of other classes is not followed.")
        if isinstance(container, str):
            raise self.refused("`in` of a string and a record is not followed.")
        found: Any = False
        for each in container:
            equal = self.one_comparison(ast.Eq(), value, each)
            if isinstance(equal, bool):
                if equal:
                    return True
                continue
            if found is False:
                found = equal
            elif isinstance(found, Cell) and isinstance(equal, Cell) and found.record == equal.record:
                found = self.where(found, True, equal)
            else:
                if self.truth(found):
                    return True
                found = equal
        return found

    def logical(self, node: ast.BoolOp, scope: Scope) -> Any:
        parts = [functools.partial(self.evaluate, part, scope) for part in node.values]
        return self.all_or_any(parts, scope, every=isinstance(node.op, ast.And))

    def all_or_any(self, parts: Sequence[Callable[[], Any]], scope: Scope, *, every: bool) -> Any:
        """`and` (every) or `or` of what the parts give; each is evaluated if those before it do not decide."""
        value: Any = None
        for index, part in enumerate(parts):
            if index and isinstance(value, Cell) and value.is_condition:
                # both sides as one condition, if the second is one of the same record
                try:
                    other = self.attempt(scope, part)
                except CannotMerge:
                    other = None
                if isinstance(other, bool) or (
                    isinstance(other, Cell) and other.is_condition and other.record == value.record
                ):
                    value = self.where(value, other, False) if every else self.where(value, True, other)
                    continue
                if self.path.merging:
                    raise CannotMerge
            if index:
                decided = self.truth(value)
                if decided != every:
                    return value if not is_symbolic(value) else self._operand(value, decided)
            value = part()
        return value

    def _operand(self, value: Any, decided: bool) -> Any:
        """The operand that `and` or `or` returns, once its truth is known."""
        if isinstance(value, Condition) or (isinstance(value, Cell) and value.is_condition):
            return decided
        return value

    def comprehended(self, element: ast.expr, generators: list[ast.comprehension], scope: Scope) -> Iterator[Any]:
        inner = Scope(
            frozenset(_targets(generators)), scope.read, scope.source
        )
        first = self.evaluate(generators[0].iter, scope)
        return self._turns(element, generators, inner, first)

    def _turns(
        self, element: ast.expr, generators: list[ast.comprehension], inner: Scope, values: Any
    ) -> Iterator[Any]:
        clause = generators[0]
        if clause.is_async:
            raise self.refused("An asynchronous comprehension is not followed.")
        for value in self.iterate(values):
            self.assign(clause.target, value, inner)
            if all(self.truth(self.evaluate(condition, inner)) for condition in clause.ifs):
                if len(generators) > 1:
                    yield from self._turns(
                        element, generators[1:], inner, self.evaluate(generators[1].iter, inner)
                    )
                else:
                    yield self.evaluate(element, inner)

    def made(self, value: Any) -> Any:
        """Notes where an iterator was made: one from outside a merge must not be advanced by one side of it."""
        if isinstance(value, Iterator):
            self.iterators.setdefault(id(value), (value, self.path.merging))
        return value

    def advancing(self, value: Any) -> None:
        """An iterator is about to be advanced."""
        if isinstance(value, Iterator):
            known, level = self.iterators.get(id(value), (None, 0))
            if known is not value:
                raise self.refused("An iterator from outside the program is advanced.", _STATE)
            if level < self.path.merging:
                raise CannotMerge

    def iterate(self, value: Any) -> Iterable[Any]:
        """The items of an iterable."""
        self.advancing(value)
        if isinstance(value, Array | np.ndarray):
            return Array.items(self, value)
        if type(value) in (list, tuple, range, str, dict, types.GeneratorType) or type(value) in ITERATORS:
            items: Iterable[Any] = iter(value)
            return items
        if type(value) in (set, frozenset):
            if len(value) > 1:
                raise self.refused("The order of a set is not followed.", "Sort it.")
            several: Iterable[Any] = iter(value)
            return several
        if is_own(value, "__dpaudit_items__"):
            return value.__dpaudit_items__(self)  # type: ignore[no-any-return]
        if isinstance(value, Cell) and isinstance(value.function, Table):
            sizes = {len(each) if type(each) is tuple else None for each in value.function.values}
            if len(sizes) == 1 and None not in sizes:
                return [self.item(value, place) for place in range(sizes.pop() or 0)]
            raise self.refused("A loop over a record that is not a tuple of the same length on every dataset.")
        raise self.refused(f"A loop over a value of type {type_name(value)} is not followed.")

    def length(self, value: Any) -> Any:
        if isinstance(value, Array):
            return value.length(self)
        if is_own(value, "__dpaudit_length__"):
            return value.__dpaudit_length__(self)
        if type(value) in (list, tuple, dict, set, frozenset, str, range):
            return len(value)
        if isinstance(value, np.ndarray) and value.ndim:
            return len(value)
        raise self.refused(f"The length of a value of type {type_name(value)} is not followed.")

    def plain(self, value: Any) -> Any:
        """A constant form as a number of Python; a float, unless it is known to be an int."""
        if isinstance(value, Form) and not value.has_data and not value.has_noise:
            if value.is_mixed:
                raise self.refused("A number that may be an int or a float is used.", "Convert it with int or float.")
            return int(value.constant) if value.is_int else float(value.constant)
        return value

    def hashable(self, value: Any) -> Any:
        if not concrete(value):
            raise self.refused("A value that depends on the data or on noise is used as a key.",
                        "Count with np.bincount, or over a fixed list of keys.")
        if not is_fixed(value) and not (type(value) is frozenset and is_deep_plain(value)):
            raise self.refused(f"A key of type {type_name(value)} is not followed.")
        self.plainly(hash, value)
        return value

    def item(self, container: Any, index: Any) -> Any:
        """container[index]."""
        index = self.plain(index)
        if isinstance(container, Array | np.ndarray):
            return Array.of(self, container).item(self, index)
        if is_own(container, "__dpaudit_item__"):
            return container.__dpaudit_item__(self, index)
        if isinstance(container, Cell) and isinstance(container.function, Table) and concrete(index):
            return self.cell(container, self._each(container, index, operator.getitem, swapped=False))
        if isinstance(index, Cell) and isinstance(index.function, Table) and concrete(container):
            if type(container) not in (list, tuple, dict, str) or not is_deep_plain(container):
                raise self.refused("This lookup by a record is not followed.")
            return self.cell(index, self._each(index, container, operator.getitem, swapped=True))
        if type(container) in (list, tuple, str, range, dict):
            if isinstance(index, Cell | Form) and isinstance(container, list | tuple) and concrete(container):
                return self.looked_up(container, index)
            if isinstance(container, dict) and not (is_fixed(index) and all(map(is_fixed, container))):
                raise self.refused("This lookup in a dict is not followed.")
            if not concrete(index):
                raise self.refused("An item is looked up by a number that depends on the data or on noise.")
            self.only_plain(*((index.start, index.stop, index.step) if isinstance(index, slice) else (index,)))
            made = self.plainly(operator.getitem, container, index)
            return self.own(made) if isinstance(index, slice) and isinstance(made, list) else made
        if any(container is each for each in (list, tuple, dict, set, frozenset, type)):
            return container  # list[float]
        raise self.refused(f"An item of a value of type {type_name(container)} is not followed.")

    def looked_up(self, container: list[Any] | tuple[Any, ...], index: Cell | Form) -> Any:
        """An item of a fixed list, by a whole number that depends on one record."""
        single = self.number(index).single()
        if single is None or not single[1].is_whole:
            raise self.refused("An item is looked up by a number that depends on the data or on noise.")
        low, high = single[1].extremes()
        if low is None or high is None or low < 0 or high >= len(container):
            raise self.refused("An index may be outside of the list for some record.")
        if len({type(each) for each in container[int(low):int(high) + 1]}) > 1:
            raise self.refused("Items of several types are looked up by a record.")
        if is_truth(container[int(low)]) or (isinstance(index, Form) and not index.is_int) or is_truth(index):
            raise self.refused("An item is looked up by a number that may be no whole number.", "Use int(...).")
        value = self.number(container[int(low)])
        for place in range(int(low) + 1, int(high) + 1):
            hit = self.compare(index, "==", place)
            if isinstance(hit, Cell):
                value = self.number(self.where(hit, self.number(container[place]), value))
        return value

    def attribute(self, value: Any, name: str) -> Any:
        """value.name."""
        if name.startswith("__"):
            raise self.refused(f"The attribute {name} is not followed.")
        if isinstance(value, Array | np.ndarray):
            return Array.of(self, value).attribute(self, name)
        if isinstance(value, Noise) and name in ("floor", "ceil"):
            return Native(name, lambda: self.rounded_noise(value))
        if isinstance(value, Form | Cell | Condition):
            what = "number that depends on the data or on noise"
            if isinstance(value, Cell) and isinstance(value.function, Table):
                what = f"value of type {type_name(value)} that depends on a record"
            raise self.refused(f"The attribute {name} of a {what} is not followed.")
        if isinstance(value, Instance):
            return self.of_instance(value, name)
        if (method := self.library.method(self, value, name)) is not None:
            return method
        if isinstance(value, types.ModuleType):
            # what a subclass or a module's __getattr__ computes may be another each time
            if type(value) is not types.ModuleType or name not in vars(value):
                raise self.refused(f"The module {value.__name__} has no attribute {name}, or computes it.")
            return vars(value)[name]
        if isinstance(value, type):
            if type(value) not in (type, abc.ABCMeta):
                raise self.refused(f"The class {value.__name__} has a metaclass.")
            found = inspect.getattr_static(value, name, None)
            if type(found) is staticmethod:
                return found.__func__
            if type(found) is classmethod:
                return Bound(found.__func__, value)
            if isinstance(found, types.FunctionType):
                return found
            if found is not None and not hasattr(type(found), "__get__"):
                return found
            raise self.refused(f"The attribute {name} of the class {value.__name__} is not followed.")
        if is_plain(value) or isinstance(value, Native | Bound | Interpreted | Noise | Compared | Random):
            raise self.refused(f"The attribute {name} of a value of type {type_name(value)} is not followed.")
        return self.member(value, name)

    def computed(self, function: Any, value: Any) -> Any:
        """A property."""
        result = self.call(function, (value,), {})
        if isinstance(result, Started):
            raise self.refused("A property that draws is not followed.")
        return result

    def answers(self, dataset: Any) -> Any:
        """The answers of the queries of the program on its dataset."""
        if not isinstance(dataset, Unseen):
            raise self.refused("The queries are answered on something other than the dataset.")
        return dataset.answers(self.answering)

    def of_instance(self, value: Instance, name: str) -> Any:
        """An attribute of an object that the program made."""
        if name in value.values:
            return value.values[name]
        found = inspect.getattr_static(value.kind, name, ...)
        if type(found) is property and found.fget is not None:
            return self.computed(found.fget, value)
        if isinstance(found, types.FunctionType):
            return Bound(found, value)
        if found is not ... and is_fixed(found):
            return found
        raise self.refused(f"The attribute {name} of a {value.kind.__name__} is not followed.")

    def member(self, value: Any, name: str) -> Any:
        """An attribute of an object that existed before the program ran."""
        kind = type(value)
        if isinstance(value, AppliedTo):
            raise self.refused("A mechanism applied to data is looked into.")
        if type(kind) not in (type, abc.ABCMeta) or any(
            "__dict__" in vars(each) and type(vars(each)["__dict__"]) is not types.GetSetDescriptorType
            for each in kind.__mro__
        ):
            raise self.refused(f"The class {kind.__name__} has a metaclass, or a __dict__ of its own.")
        if inspect.getattr_static(kind, "__getattribute__") is not _PLAIN_LOOKUP or hasattr(kind, "__getattr__"):
            raise self.refused(f"The class {kind.__name__} computes its attributes.")
        found = inspect.getattr_static(kind, name, None)
        if type(found) is property:
            if found.fget is None:
                raise self.refused(f"The property {name} cannot be read.")
            return self.computed(found.fget, value)
        if isinstance(found, types.MemberDescriptorType):
            return found.__get__(value)
        if found is not None and (hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")):
            raise self.refused(f"The attribute {name} of a {kind.__name__} is computed.")
        held = getattr(value, "__dict__", {})
        if name in held:
            return held[name]
        if type(found) is functools.cached_property:
            kept = self.computed(found.func, value)
            if not is_frozen(kept):
                raise self.refused(f"The property {name} keeps a value that may change.")
            return kept
        if value is self.answering and name == "answers":
            return Native(name, self.answers)
        if isinstance(value, Mechanism) and name == "on" and found is Mechanism.on:
            return Native("on", lambda dataset: AppliedTo(value, dataset))
        if isinstance(found, types.FunctionType):
            return Bound(found, value)
        if type(found) is staticmethod:
            return found.__func__
        if type(found) is classmethod:
            return Bound(found.__func__, kind)
        if found is not None and not hasattr(type(found), "__get__"):
            return found
        raise self.refused(f"The attribute {name} of a {kind.__name__} is not followed.")

    def calling(self, node: ast.Call, scope: Scope) -> Any:
        callee = self.evaluate(node.func, scope)
        counted = callee is builtins.sum or callee is builtins.len
        if counted and len(node.args) == 1 and not node.keywords:
            argument = node.args[0]
            if isinstance(argument, ast.GeneratorExp | ast.ListComp) and len(argument.generators) == 1 and (
                argument.generators[0].ifs
            ):
                return self.counted(argument, scope, by_length=callee is builtins.len)
        args: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                args += self.iterate(self.evaluate(argument.value, scope))
            else:
                args.append(self.evaluate(argument, scope))
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                more = self.evaluate(keyword.value, scope)
                if not isinstance(more, dict):
                    raise self.refused("`**` of something that is no dict is not followed.")
                keywords.update(more)
            else:
                keywords[keyword.arg] = self.evaluate(keyword.value, scope)
        before = self.here
        try:
            return self.call(callee, tuple(args), keywords)
        except Unsupported as error:
            if error.place is None:
                error.place = before
            raise
        finally:
            self.here = before

    def counted(self, node: ast.GeneratorExp | ast.ListComp, scope: Scope, *, by_length: bool) -> Any:
        """sum(element for … if condition), or len of such a list: a condition on one record counts as 0 or 1."""
        clause = node.generators[0]
        inner = Scope(frozenset(_targets([clause])), scope.read, scope.source)
        total: Any = 0
        for value in self.iterate(self.evaluate(clause.iter, scope)):
            self.assign(clause.target, value, inner)
            test: Any = True
            if len(clause.ifs) == 1:
                test = self.evaluate(clause.ifs[0], inner)
            elif clause.ifs:
                test = self.logical(ast.BoolOp(op=ast.And(), values=clause.ifs, lineno=node.lineno), inner)
            if isinstance(test, Cell) and test.is_condition:
                added_once = functools.partial(self._added, test, node.elt, inner, by_length=by_length)
                try:
                    added = self.attempt(inner, added_once)
                except CannotMerge:
                    if self.path.merging:
                        raise
                else:
                    total = self.operate(ast.Add, total, added)
                    continue
            if self.truth(test):
                element = self.evaluate(node.elt, inner)
                total = self.operate(ast.Add, total, 1 if by_length else element)
        return total

    def _added(self, test: Cell, element: ast.expr, inner: Scope, *, by_length: bool) -> Any:
        value = self.evaluate(element, inner)
        return self.where(test, 1 if by_length else value, 0)


# --- helpers ---


def _of_numpy(callee: Any, value: Any) -> Any:
    """What a function gives: Python's numbers from numpy's functions are numpy's."""
    if not isinstance(callee, np.ufunc) and not (getattr(callee, "__module__", None) or "").startswith("numpy"):
        return value
    kind = {bool: "bool", int: "int", float: "float"}.get(type(value))
    return value if kind is None else scalar(value, kind)


def _full_name(callee: Any) -> str:
    name = getattr(callee, "__qualname__", None) or type(callee).__name__
    module = getattr(callee, "__module__", None)
    return name if module in (None, "builtins") else f"{module}.{name}"


def _is_noise(kind: type) -> bool:
    """Whether a class is a distribution of noise of dpaudit or its catalogue; a subclass may be another one."""
    return issubclass(kind, Real) and vars(kind).get("noise_kind") is not None and _is_ours(kind)


def _as_noise(value: Any) -> Any:
    """A distribution of the language as noise of the interpreter."""
    if isinstance(value, Real) and value.noise_kind is not None and _is_noise(type(value)):
        location, scale = (getattr(value, each.name) for each in fields(value) if not each.kw_only)
        return Noise(value.noise_kind, exactly(scale), constant(location))
    if isinstance(value, Softmax):
        labels = tuple(range(len(value.scores))) if value.labels is None else tuple(value.labels)
        factor = exactly(value.coefficient)
        sign = 1 if factor > 0 else -1
        if factor:
            return Chosen(tuple(constant(sign * each) for each in value.scores.tolist()), 1 / abs(factor), labels)
    return value


def _slot(container: Any, index: Any) -> tuple[Any, Any]:
    """One key for each place, whatever names it has."""
    if isinstance(container, np.ndarray):
        place = int(index) % len(container)
        return "array", container.__array_interface__["data"][0] + place * container.strides[0]
    if isinstance(container, list):
        return id(container), index % len(container)
    return id(container), index


def _is_plainly_made(kind: type) -> bool:
    """Whether an object of a class is made by dataclasses and dpaudit alone."""
    if type(kind) not in (type, abc.ABCMeta) or not is_dataclass(kind):
        return False
    if _is_ours(kind):
        return True
    if any(each.default_factory is not MISSING for each in fields(kind)):
        return False
    made = inspect.getattr_static(kind, "__init__", None), inspect.getattr_static(kind, "__post_init__", None)
    return (
        issubclass(kind, Mechanism) and getattr(getattr(made[0], "__code__", None), "co_filename", "") == "<string>"
        and _is_ours(made[1]) and inspect.getattr_static(kind, "__new__") is object.__new__
    )


def is_frozen(value: Any) -> bool:
    """Whether a value holds no symbols and cannot change: plain scalars, dataclasses of dpaudit and its catalogue."""
    if type(value) in SCALARS:
        return True
    if type(value) is tuple:
        return all(map(is_frozen, value))
    if not concrete(value):
        return False
    if isinstance(value, type):
        return _is_ours(value)
    if _is_ours(type(value)) and is_dataclass(value):
        return all(is_frozen(getattr(value, each.name)) for each in fields(value))
    return is_fixed(value)


def key_of(value: Any) -> object:
    """Equal for one object, and for equal objects that cannot change."""
    if type(value) is functools.partial:
        return id(value.func), tuple((name, name_of(held)) for name, held in value.keywords.items())
    return _content(value) if is_frozen(value) else id(value)


def _content(value: Any) -> object:
    if type(value) is tuple:
        return tuple(map(_content, value))
    if is_dataclass(value):
        return type(value), tuple(_content(getattr(value, each.name)) for each in fields(value))
    return type(value), value


def _possible(value: Any) -> tuple[Any, ...]:
    """The values of a table, or the one value."""
    return value.function.values if isinstance(value, Cell) and isinstance(value.function, Table) else (value,)


def _is_mixed(value: Any) -> bool:
    """Whether it is a condition for some records, and something else for others."""
    kinds = {isinstance(each, bool | np.bool_) for each in _possible(value)}
    return len(kinds) > 1


def _of_one_record(one: Cell, other: Any) -> bool:
    """Whether an operation of a cell with another value can be done value by value."""
    if isinstance(other, Cell):
        return other.record == one.record and isinstance(other.function, Table)
    return is_fixed(other)


def _special(value: Any, name: str) -> types.FunctionType | None:
    found = inspect.getattr_static(type(value), name, None)
    return found if isinstance(found, types.FunctionType) else None


def _roots() -> tuple[str, ...]:
    """The folders of dpaudit and its catalogue."""
    packages = (sys.modules.get(name) for name in ("dpaudit", "dpaudit_algorithms"))
    return tuple(os.path.dirname(str(each.__file__)) + os.sep for each in packages if each is not None)


def _is_ours(value: Any) -> bool:
    """Whether a function or class belongs to dpaudit or its catalogue, whose helpers have no side effects."""
    name = getattr(value, "__module__", None)
    if type(name) is not str or name.partition(".")[0] not in ("dpaudit", "dpaudit_algorithms"):
        return False
    # functools.wraps gives the name of one function to another
    module = sys.modules.get(name)
    if isinstance(value, types.FunctionType):
        kept = vars(value).get("__wrapped__")
        return value.__code__.co_filename.startswith(_roots()) and (kept is None or _is_ours(kept))
    found: Any = module
    for part in getattr(value, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found is value


def _imported(interpreter: Interpreter, name: str, *, whole: bool = False) -> types.ModuleType:
    if name not in sys.modules:
        raise interpreter.refused("An import inside the program is not followed.", "Import at the top of the file.")
    return sys.modules[name if whole else name.partition(".")[0]]


@functools.lru_cache(maxsize=2_000)
def yields(node: ast.FunctionDef) -> bool:
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Yield | ast.YieldFrom):
            return True
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            # its defaults, decorators and annotations are evaluated where it is defined
            waiting += [part for part in ast.iter_child_nodes(each) if part not in (
                each.body if isinstance(each.body, list) else [each.body]
            )]
        else:
            waiting += ast.iter_child_nodes(each)
    return False


@functools.lru_cache(maxsize=1024)
def local_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    names = {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    names |= {each.arg for each in (node.args.vararg, node.args.kwarg) if each is not None}
    waiting: list[ast.AST] = list(node.body) if isinstance(node, ast.FunctionDef) else [node.body]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Global | ast.Nonlocal):
            raise Unsupported("Variables outside the function are changed.", _STATE)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
            names.add(each.id)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(each.name)
            continue
        if isinstance(each, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in each.names}
        if isinstance(each, ast.ExceptHandler) and each.name:
            names.add(each.name)
        if isinstance(each, ast.Lambda):
            continue
        if isinstance(each, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            # their targets are their own; walruses inside are refused where they are evaluated
            waiting.append(each.generators[0].iter)
            continue
        waiting += ast.iter_child_nodes(each)
    return frozenset(names)


def _targets(generators: list[ast.comprehension]) -> set[str]:
    return {
        node.id for clause in generators for node in ast.walk(clause.target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt, "==": operator.eq, "!=": operator.ne,
}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": lambda x, y: bool(x >= y), ">": lambda x, y: bool(x > y), "<=": lambda x, y: bool(x <= y),
    "<": lambda x, y: bool(x < y), "==": lambda x, y: bool(x == y), "!=": lambda x, y: bool(x != y),
}
_COMPARED: dict[type[ast.cmpop], str] = {
    ast.GtE: ">=", ast.Gt: ">", ast.LtE: "<=", ast.Lt: "<", ast.Eq: "==", ast.NotEq: "!=",
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.MatMult: operator.matmul,
}
_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Pow: "**", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
}
_PLAIN_LOOKUP = inspect.getattr_static(object, "__getattribute__")
_OF_PUBLIC = (tuple, list, len, sum, max, min, any, all, sorted, str, np.array, np.asarray)
"""Functions that make no more of what was released than a function of it."""
_NUMBERS = (int, float, np.int64, np.float64)
_CACHED = enclosed.cached(1)(lambda: None).__code__
"""The code of functions that dpaudit's `cached` makes."""
_STATE = "Keep all state inside the function."
_LINEAR = "Only sums of noise, of functions of single records, and of multiples of these can be followed."
_KNOWN_SIZE = "Divide by a number that is the same for every dataset."
