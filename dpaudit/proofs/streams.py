"""Proofs for streams of every length.

The program's one loop over the stream is cut at its head: what the loop carries from turn to turn is a state, a turn
is a step from state to state. One linear program finds a shift of each draw, one for all lengths, and a potential of
each state that pays for every step. Draws that a state carries keep one shift.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import numpy as np

from dpaudit.language.mechanism import Mechanism
from dpaudit.proofs.alignment import DENOMINATORS, SOLVED, Constraint, keeps, price
from dpaudit.proofs.arrays import Array
from dpaudit.proofs.attempt import Attempt
from dpaudit.proofs.certificate import aligned_rows, head
from dpaudit.proofs.exact import ROUNDING, exactly
from dpaudit.proofs.forms import Cell, Condition, Draw, Form
from dpaudit.proofs.functions import Piecewise
from dpaudit.proofs.interpreter import Interpreter, Leave, LeaveLoop, NextTurn, Scope, local_names, yields
from dpaudit.proofs.library import LIBRARY
from dpaudit.proofs.liveness import changed_lists, live_at_head
from dpaudit.proofs.neighbours import Vector, differences
from dpaudit.proofs.paths import LIMITS, Finished, Limits, Path, explore
from dpaudit.proofs.program import answers_queries, assumptions, refusals, released
from dpaudit.proofs.public import FINITE, Public, public
from dpaudit.proofs.queries import answered_by
from dpaudit.proofs.results import NoiseLine, Place, Proof, Unknown, Unsupported
from dpaudit.proofs.scopes import Answers, Stream
from dpaudit.proofs.values import (
    Bound,
    Instance,
    Interpreted,
    KeptInstance,
    NamedInstance,
    Native,
    Noise,
    Random,
    Started,
    concrete,
    is_deep_plain,
    is_plain,
    name_of,
    type_name,
)

UNROLLED = (1, 2, 4)
"""Numbers of answers for which a proof is compared with that of the stream, in which loops have states."""
REPLAYED = 4
"""Answers of the streams on which the program itself is run."""


class Data(Public):
    """The stream itself."""

    is_public: ClassVar[bool] = False

    def __init__(self, numbered: bool = False, start: int = 0) -> None:
        self.numbered = numbered

    def refused(self, interpreter: Interpreter) -> Unsupported:
        return interpreter.refused("The stream is used other than by one loop over it.", FINITE)

    def __dpaudit_items__(self, interpreter: Interpreter) -> Iterator[Any]:
        raise self.refused(interpreter)

    def __dpaudit_item__(self, interpreter: Interpreter, index: Any) -> Public:
        raise self.refused(interpreter)

    def __dpaudit_enumerate__(self, interpreter: Interpreter, start: Any) -> Data:
        if self.numbered or not concrete(start):
            raise self.refused(interpreter)
        return Data(numbered=True)


@dataclass(eq=False)
class Log(Public):
    """A list that the loop only appends to: everything in it counts as released.

    Args:
        counts: of the values whose number was asked for, and of all under "all".
        asked: these values; shared by all states.
    """

    counts: dict[Any, int]
    asked: set[Any]

    def __dpaudit_length__(self, interpreter: Interpreter) -> Any:
        return Public() if interpreter.returning else self._count("all")

    def __dpaudit_method__(self, interpreter: Interpreter, name: str) -> Any:
        match name:
            case "append":
                return Native("append", lambda value: self.append(interpreter, value))
            case "extend":
                return Native("extend", lambda values: self.extend(interpreter, values))
            case "count":
                return Native("count", lambda value: self.count(interpreter, value))
        raise interpreter.refused(f"The method {name} of a list that the loop appends to is not followed.", FINITE)

    def extend(self, interpreter: Interpreter, values: Any) -> None:
        # what an iterator computes sees what was appended before
        items = interpreter.iterate(values)
        for value in items if isinstance(values, Iterator) else list(items):
            self.append(interpreter, value)

    def append(self, interpreter: Interpreter, value: Any) -> None:
        interpreter.changing(self)
        if isinstance(value, Condition | Cell):
            value = interpreter.truth(value)
        if isinstance(value, Public) and value.is_public:
            value = None if not self.asked - {"all"} else self._not_counted(interpreter)
        if not _is_unchanging(value):
            raise interpreter.refused("A list that the loop appends to holds something that may change.", FINITE)
        released(interpreter, value)
        for each in self.asked:
            if each == "all":
                self.counts[each] += 1
            elif concrete(value):
                self.counts[each] += value == each[1]
            elif isinstance(value, tuple) or not isinstance(each[1], str | type(None)):
                self._not_counted(interpreter)

    def _not_counted(self, interpreter: Interpreter) -> NoReturn:
        raise interpreter.refused("What the loop appends to a list is not counted.", FINITE)

    def count(self, interpreter: Interpreter, value: Any) -> Any:
        if interpreter.returning:
            return Public()
        if not isinstance(value, bool | int | float | str | type(None)):
            raise interpreter.refused("This value is not counted in a list.", FINITE)
        return self._count((type(value), value))

    def _count(self, key: Any) -> int:
        if key not in self.asked:
            self.asked.add(key)
            raise Restart
        return self.counts[key]


def _is_unchanging(value: Any) -> bool:
    if isinstance(value, tuple):
        return type(value) is tuple and all(map(_is_unchanging, value))
    return isinstance(value, Form) or (is_plain(value) and not isinstance(value, list | dict | set))


class Restart(Exception):
    """States have to record something more: the search for states begins again."""


def _refuse_aliases(interpreter: Interpreter, values: list[Any]) -> None:
    """Two names of one container, or one from outside the program, cannot be told from copies at the next turn."""
    seen: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, list | dict | set | Log | Array | np.ndarray):
            if id(value) in seen or isinstance(value, Array | np.ndarray) or not interpreter.owns(value):
                raise interpreter.refused(
                    "The loop carries an array, a container with two names, or one from outside the program.", FINITE
                )
            seen.add(id(value))
        if isinstance(value, list | tuple | set):
            waiting += value
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]


def _holds_container(value: Any) -> bool:
    return isinstance(value, list | dict | set | Log | Array | np.ndarray) or (
        isinstance(value, tuple) and any(map(_holds_container, value))
    )


@dataclass(frozen=True, eq=False)
class State:
    """What the loop carries.

    Args:
        key: equal for equal states.
        values: of the variables; draws are numbered from 0.
        draws: those that the variables mention.
    """

    key: object
    values: dict[str, Any]
    draws: tuple[Draw, ...]


@dataclass(frozen=True, eq=False)
class Step:
    """A turn of the loop, its beginning or its end.

    Args:
        before, after: numbers of states; None after the end.
        path: draws that `before` carries come first.
        carries: for each draw that `after` carries, its number on the path.
        constraints, vectors: as in `Aligned`.
    """

    before: int
    after: int | None
    path: Finished
    carries: tuple[int, ...]
    constraints: tuple[Constraint, ...]
    vectors: tuple[Vector, ...]


@dataclass(eq=False)
class Loop:
    """A program with one loop over a stream.

    Args:
        target: a mechanism or a function.
        by: by how much an answer may differ.
        limits: beyond which it is given up.
    """

    target: Any
    by: Fraction
    limits: Limits = LIMITS
    states: list[State] = field(default_factory=list)
    numbers: dict[object, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    asked: dict[str, set[Any]] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    body: list[ast.stmt] = field(default_factory=list)
    found: tuple[int, bool, ast.AST] | None = None

    def explore(self) -> None:
        """Finds all states and steps."""
        for _ in range(50):
            self.states, self.numbers, self.steps = [State((), {}, ())], {(): 0}, []
            try:
                self._steps_from(0)
                done = 1
                while done < len(self.states):
                    self._steps_from(done)
                    done += 1
                    if len(self.states) > self.limits.states:
                        self._forget()
                return
            except Restart:
                continue
        raise Unsupported("The states of the loop are not followed.", FINITE)

    def _forget(self) -> None:
        """Whole numbers that go on growing are no longer carried."""
        growing = set()
        for name in self.states[-1].values:
            held = {
                state.values[name] for state in self.states[1:]
                if type(state.values.get(name)) is int
            }
            if len(held) > self.limits.states // 4:
                growing.add(name)
        if not growing - self.forgotten:
            raise Unsupported(f"The loop has more than {self.limits.states} states.", FINITE)
        self.forgotten |= growing
        raise Restart

    def _steps_from(self, number: int) -> None:
        reached: list[tuple[int | None, tuple[int, ...]]] = []

        def run(path: Path) -> tuple[Any, Any]:
            after, carries = self._follow(number, path)
            reached.append((after, carries))
            return (), None

        endings: tuple[bool, ...] = (False, True) if number else (False,)
        for ending in endings:
            self.ending = ending
            reached.clear()
            finished = explore(run, limits=self.limits)
            for path, (after, carries) in zip(finished, reached, strict=True):
                if path.maxima:
                    raise Unsupported("The largest of several numbers is not followed in a stream.", FINITE)
                forms = [row.form for row in path.rows]
                constraints = tuple(Constraint(row.form.draws, row.kind == "equal", row.place) for row in path.rows)
                found = differences(
                    forms, [constraint.equal for constraint in constraints], Answers(1, by=self.by)
                )
                if not found.is_finite and any(
                    path.draws[index].is_whole for constraint in constraints for index in constraint.noise
                ):
                    raise Unsupported("Whole noise is added to numbers that are not whole.", FINITE)
                self.steps.append(Step(number, after, path, carries, constraints, found.vectors))

    def _follow(self, number: int, path: Path) -> tuple[int | None, tuple[int, ...]]:
        interpreter = Interpreter(path, LIBRARY)
        interpreter.of_stream = True
        if isinstance(self.target, Mechanism) and answers_queries(self.target):
            interpreter.answering = self.target
        with refusals(interpreter):
            return self._turn(number, path, interpreter)

    def _turn(self, number: int, path: Path, interpreter: Interpreter) -> tuple[int | None, tuple[int, ...]]:
        state = self.states[number]
        path.draws += state.draws
        if not number:
            scope, body = self._begun(interpreter)
        else:
            scope, body = self.scope(interpreter, state), self.body
        try:
            if not number:
                place = self._up_to_loop(interpreter, body, scope)
                if place is None:
                    raise interpreter.refused("The program has no loop over the stream.", FINITE)
                found = (place, self.numbered, self.source.node)
                if self.found not in (None, found):
                    raise interpreter.refused("Two paths lead to two loops over the stream.", FINITE)
                self.found, self.body, self.at = found, body, place
                return self._arrived(interpreter, scope)
            loop = self.body[self.at]
            assert isinstance(loop, ast.For)
            if not self.ending:
                answer = Form(records={0: Piecewise.identity(None, None)}, is_mixed=True)
                interpreter.step(loop, scope)
                interpreter.assign(loop.target, (Public(), answer) if self.numbered else answer, scope)
                try:
                    interpreter.execute(loop.body, scope)
                    return self._arrived(interpreter, scope)
                except NextTurn:
                    return self._arrived(interpreter, scope)
                except LeaveLoop:
                    rest: Sequence[ast.stmt] = self.body[self.at + 1:]
            else:
                rest = [*loop.orelse, *self.body[self.at + 1:]]
            interpreter.returning += 1
            interpreter.execute(rest, scope)
            result = None
        except Leave as left:
            result = left.value
        self._output(interpreter, result)
        return None, ()

    def _begun(self, interpreter: Interpreter) -> tuple[Scope, list[ast.stmt]]:
        if isinstance(self.target, Mechanism):
            bound = interpreter.attribute(self.target, "run")
            if not isinstance(bound, Bound):
                raise Unsupported("The mechanism's run is not followed.")
            data_or_queries = Data() if interpreter.answering is None else answered_by(self.target, Data())
            function, args = interpreter.interpreted(bound.function), (self.target, data_or_queries)
        else:
            target = getattr(self.target, "__func__", self.target)
            first = (self.target.__self__,) if hasattr(self.target, "__self__") else ()
            if not hasattr(target, "__code__"):
                raise Unsupported("The program is no function.")
            function, args = interpreter.interpreted(target), (*first, Data(), Random())
        keywords: dict[str, Any] = {}
        while True:
            node = function.source.node
            if not isinstance(node, ast.FunctionDef):
                raise Unsupported("A lambda has no loop over the stream.", FINITE)
            if yields(node) and not isinstance(self.target, Mechanism):
                raise Unsupported("A generator is followed as the run of a mechanism only.", FINITE)
            scope = interpreter.entered(function, args, keywords)
            interpreter.main = scope
            self.source, self.function = function.source, function
            last = [each for each in node.body if not _is_text(each)]
            tail = last[0].value if len(last) == 1 and isinstance(last[0], ast.Return) else None
            if not isinstance(tail, ast.Call) or any(
                isinstance(each, ast.ListComp | ast.GeneratorExp | ast.Yield) for each in ast.walk(tail)
            ):
                break
            # a tail call: the loop is in the function that is called
            interpreter.step(tail, scope)
            started = interpreter.calling(tail, scope)
            if not isinstance(started, Started):
                raise interpreter.refused("The program has no loop over the stream.", FINITE)
            function, args, keywords = started.function, started.args, started.keywords
        data = next((name for name, value in scope.values.items() if isinstance(value, Data)), "")
        return scope, _without_comprehensions(node, data, scope)

    def _up_to_loop(self, interpreter: Interpreter, body: list[ast.stmt], scope: Scope) -> int | None:
        for place, statement in enumerate(body):
            if isinstance(statement, ast.For):
                interpreter.step(statement, scope)
                values = interpreter.evaluate(statement.iter, scope)
                if isinstance(values, Data):
                    self.numbered = values.numbered
                    return place
                again = ast.For(
                    target=statement.target, iter=ast.Name(id=_ITERABLE, ctx=ast.Load(), lineno=statement.lineno),
                    body=statement.body, orelse=statement.orelse, lineno=statement.lineno,
                )
                scope.values[_ITERABLE] = values
                interpreter.execute_one(again, scope)
                scope.values.pop(_ITERABLE)
            else:
                interpreter.step(statement, scope)
                interpreter.execute_one(statement, scope)
        return None

    # --- states ---

    def _arrived(self, interpreter: Interpreter, scope: Scope) -> tuple[int, tuple[int, ...]]:
        """The state at the head of the loop, and the draws that it carries."""
        loop = self.body[self.at]
        assert isinstance(loop, ast.For)
        live, logs = live_at_head(loop, self.body[self.at + 1:]), changed_lists(loop)
        path = interpreter.path
        _refuse_aliases(interpreter, [scope.values[name] for name in sorted(live & scope.values.keys())])
        carried: dict[int, int] = {}
        values: dict[str, Any] = {}
        keys = []
        for name in sorted(live & scope.values.keys()):
            value = scope.values[name]
            if name in logs and type(value) is list:
                value = self._log(interpreter, name, value)
            if name in self.forgotten and type(value) is int:
                value = Public()
            values[name], key = self._carried(interpreter, value, carried, path)
            keys.append((name, key))
        full = (tuple(keys), tuple(str(path.draws[index]) for index in carried))
        number = self.numbers.get(full)
        if number is None:
            number = self.numbers[full] = len(self.states)
            self.states.append(State(full, values, tuple(path.draws[index] for index in carried)))
        return number, tuple(carried)

    def _log(self, interpreter: Interpreter, name: str, value: list[Any]) -> Log:
        if not interpreter.owns(value):
            raise interpreter.refused(
                "A list from outside the program is changed.",
                "Keep all state inside the function.",
            )
        asked = self.asked.setdefault(name, set())
        log = Log(dict.fromkeys(asked, 0), asked)
        interpreter.own(log)
        for each in value:
            log.append(interpreter, each)
        return log

    def _carried(
        self, interpreter: Interpreter, value: Any, carried: dict[int, int], path: Path
    ) -> tuple[Any, object]:
        """A value as the next turn gets it, and its key."""
        match value:
            case Form():
                if value.has_data:
                    raise interpreter.refused("The loop carries a number that depends on the data.", FINITE)
                draws = {
                    carried.setdefault(index, len(carried)): coefficient for index, coefficient in value.draws.items()
                }
                made = Form(value.constant, {}, draws)
                return made, ("form", made.key())
            case Cell() | Condition():
                raise interpreter.refused("The loop carries a condition.", FINITE)
            case Log():
                return Log(dict(value.counts), value.asked), ("log", tuple(sorted(value.counts.items(), key=repr)))
            case Data():
                return value, "data"
            case Public():
                # another one for each variable: states have one key whether or not two variables are one value
                return Public(), "public"
            case Random():
                return value, "random"
            case Noise():
                if value.location.has_data or value.location.has_noise:
                    raise interpreter.refused("The loop carries a distribution.", FINITE)
                return value, ("noise", value.kind, value.scale, value.location.constant)
            case Instance() if not isinstance(value, NamedInstance):
                if any(map(_holds_container, value.values.values())):
                    # its methods could change it
                    raise interpreter.refused("The loop carries an object that holds a container.", FINITE)
                held = {
                    name: self._carried(interpreter, each, carried, path) for name, each in value.values.items()
                }
                kept = KeptInstance(value.kind, {name: each for name, (each, _) in held.items()})
                return kept, ("instance", value.kind, *((name, key) for name, (_, key) in held.items()))
            case Interpreted():
                raise interpreter.refused(
                    "The loop uses a function that the program defines.", "Define the function outside."
                )
            case list() | tuple() if type(value) in (list, tuple):
                parts = [self._carried(interpreter, each, carried, path) for each in value]
                return type(value)(each for each, _ in parts), (type(value).__name__, *(key for _, key in parts))
            case dict() if type(value) is dict:
                pairs = {name: self._carried(interpreter, each, carried, path) for name, each in value.items()}
                return (
                    {name: each for name, (each, _) in pairs.items()},
                    ("dict", *((name_of(name), key) for name, (_, key) in pairs.items())),
                )
        if not concrete(value):
            raise interpreter.refused(f"The loop carries a value of type {type_name(value)}.", FINITE)
        if isinstance(value, set) and not is_deep_plain(value):
            raise interpreter.refused("The loop carries a set of objects of other classes.")
        return value, name_of(value)

    def scope(self, interpreter: Interpreter, state: State) -> Scope:
        """The variables of a state, with containers of their own."""
        scope = Scope(self.names, self.function.variables, self.source)
        interpreter.main = scope
        scope.values = {name: self._fresh(interpreter, value, scope) for name, value in state.values.items()}
        return scope

    @property
    def names(self) -> frozenset[str]:
        node = self.source.node
        extra = {
            each.id for statement in self.body for each in ast.walk(statement)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        return local_names(node) | extra

    def _fresh(self, interpreter: Interpreter, value: Any, scope: Scope) -> Any:
        match value:
            case Log():
                return interpreter.own(Log(dict(value.counts), value.asked))
            case list():
                return interpreter.own([self._fresh(interpreter, each, scope) for each in value])
            case tuple():
                return tuple(self._fresh(interpreter, each, scope) for each in value)
            case dict():
                return interpreter.own({name: self._fresh(interpreter, each, scope) for name, each in value.items()})
            case set():
                return interpreter.own(set(value))
        return value

    def _output(self, interpreter: Interpreter, value: Any) -> None:
        """Releases what of an output is not public."""
        if public(value):
            return
        if isinstance(value, list | tuple):
            for each in value:
                self._output(interpreter, each)
            return
        if isinstance(value, Data):
            raise interpreter.refused("The stream itself is returned.")
        released(interpreter, value)


_ITERABLE = "·iterable"


def _without_comprehensions(node: ast.FunctionDef, data: str, scope: Scope) -> list[ast.stmt]:
    """The body with a comprehension over the stream, the whole value of a statement, as a loop before it."""
    body: list[ast.stmt] = []
    for statement in node.body:
        value = statement.value if isinstance(statement, ast.Assign | ast.Return) else None
        comprehension = _whole_comprehension(value, scope)
        if comprehension is None or not _over(comprehension.generators[0].iter, data):
            body.append(statement)
            continue
        clause, line = comprehension.generators[0], comprehension.lineno
        names = {each.id for each in ast.walk(clause.target) if isinstance(each, ast.Name)}
        if names & scope.names:
            raise Unsupported("This comprehension over the stream is not followed.", "Write a loop over the stream.")
        inner: list[ast.stmt] = [ast.Expr(value=ast.Call(
            func=ast.Attribute(value=ast.Name(id=_LIST, ctx=ast.Load(), lineno=line), attr="append", lineno=line),
            args=[comprehension.elt], keywords=[], lineno=line,
        ), lineno=line)]
        for condition in reversed(clause.ifs):
            inner = [ast.If(test=condition, body=inner, orelse=[], lineno=line)]
        body.append(ast.Assign(
            targets=[ast.Name(id=_LIST, ctx=ast.Store(), lineno=line)], value=ast.List(elts=[], lineno=line),
            lineno=line,
        ))
        body.append(ast.For(target=clause.target, iter=clause.iter, body=inner, orelse=[], lineno=line))
        whole = ast.Name(id=_LIST, ctx=ast.Load(), lineno=line)
        if isinstance(statement, ast.Assign):
            body.append(ast.Assign(targets=statement.targets, value=whole, lineno=line))
        else:
            body.append(ast.Return(value=whole, lineno=line))
        scope.names = scope.names | names | {_LIST}
    return body


def _whole_comprehension(value: ast.expr | None, scope: Scope) -> ast.ListComp | ast.GeneratorExp | None:
    """[… for …], or list or tuple of such a generator, which is evaluated at once."""
    match value:
        case ast.ListComp(generators=[_]):
            return value
        case ast.Call(
            func=ast.Name(id="list" | "tuple" as name), args=[ast.ListComp() | ast.GeneratorExp() as inner], keywords=[]
        ) if len(inner.generators) == 1 and name not in scope.names:
            return inner if scope.variables(name) in (list, tuple) else None
    return None


_LIST = "·released"


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _over(values: ast.expr, data: str) -> bool:
    if isinstance(values, ast.Call) and isinstance(values.func, ast.Name) and values.func.id == "enumerate":
        return bool(values.args) and _over(values.args[0], data)
    return isinstance(values, ast.Name) and values.id == data


# --- the linear program ---


def prove_stream(attempt: Attempt) -> Proof | Unknown:
    """A proof for every length of the stream."""
    scope = attempt.scope
    assert isinstance(scope, Stream)
    loop = Loop(attempt.target, exactly(scope.by), attempt.limits)
    try:
        loop.explore()
        found = solve(loop)
    except Unsupported as error:
        return attempt.unknown(error.reason, error.remedy, error.place)
    if found is None:
        place = _unprotected(loop)
        return attempt.unknown(
            "No shift of the noise works for streams of every length: no ε can be proved.",
            "Prove it for a number of answers to see how ε grows.", place,
        )
    carried, shifts, potentials = found
    least = potentials[0]
    if least > attempt.claimed * (1 + ROUNDING):
        return attempt.too_much(least)
    try:
        attempt.replay(Answers(REPLAYED, by=scope.by))
    except Unsupported as error:
        return attempt.unknown(error.reason, error.remedy, error.place)
    for length in UNROLLED:
        # the shifts of the stream are some for these answers too, so they cannot need more
        few = replace(attempt, scope=Answers(length, by=scope.by), claimed=least)
        if not isinstance(few.tried({}), Proof) and few.is_followed:
            return attempt.unknown(
                f"{length} answers need a larger ε than streams of every length, which they are.",
                "Report this as a bug of dpaudit.", None,
            )
    return Proof(
        least, attempt.claimed, attempt.name, str(scope), _lines(loop, shifts), len(loop.steps),
        assumptions(attempt.target, scope), _certificate(attempt, loop, carried, shifts, potentials),
    )


def _unprotected(loop: Loop) -> Place | None:
    for step in loop.steps:
        for number, row in enumerate(step.constraints):
            moves = [vector[number] for vector in step.vectors]
            if not row.noise and any(each < 0 or (row.equal and each) for each in moves):
                return row.place
    return None


def solve(loop: Loop) -> tuple[list[Vector], list[tuple[Vector, ...]], list[Fraction]] | None:
    """Shifts of the draws that each state carries, shifts of each step for each difference, potentials of the states.

    None where no shift works, or no ε is enough.

    Raises:
        Unsupported: the solver's answer is not confirmed.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    columns = len(loop.states)
    slots: list[int] = []
    for state in loop.states:
        slots.append(columns)
        columns += 2 * len(state.draws)
    places: dict[tuple[int, int], int] = {}
    for number, step in enumerate(loop.steps):
        for place in range(len(step.vectors)):
            places[number, place] = columns
            columns += 2 * len(step.path.draws)
    below: list[dict[int, float]] = []
    bounds_below: list[float] = []
    exact: list[dict[int, float]] = []
    bounds_exact: list[float] = []
    upper: list[float | None] = [None] * columns
    tie = np.zeros(columns)
    for number, step in enumerate(loop.steps):
        draws = step.path.draws
        kept = len(loop.states[step.before].draws)
        for place, vector in enumerate(step.vectors):
            at = places[number, place]
            for index, draw in enumerate(draws):
                if draw.moves == "none":
                    upper[at + 2 * index] = 0.0
                if draw.moves != "both":
                    upper[at + 2 * index + 1] = 0.0
            for index in range(kept):
                exact.append({
                    at + 2 * index: 1.0, at + 2 * index + 1: -1.0, slots[step.before] + 2 * index: -1.0,
                    slots[step.before] + 2 * index + 1: 1.0,
                })
                bounds_exact.append(0.0)
            if step.after is not None:
                for slot, index in enumerate(step.carries):
                    exact.append({
                        at + 2 * index: 1.0, at + 2 * index + 1: -1.0, slots[step.after] + 2 * slot: -1.0,
                        slots[step.after] + 2 * slot + 1: 1.0,
                    })
                    bounds_exact.append(0.0)
            for row, difference in zip(step.constraints, vector, strict=True):
                line: dict[int, float] = {}
                for index, coefficient in row.noise.items():
                    line[at + 2 * index], line[at + 2 * index + 1] = -float(coefficient), float(coefficient)
                if row.equal:
                    exact.append(line)
                    bounds_exact.append(float(difference))
                elif line or difference < 0:
                    below.append(line)
                    bounds_below.append(float(difference))
            pays: dict[int, float] = {}
            if step.before != step.after:
                pays[step.before] = -1.0
                if step.after is not None:
                    pays[step.after] = 1.0
            for index in range(kept, len(draws)):
                for side in (0, 1):
                    pays[at + 2 * index + side] = 1 / float(draws[index].scale)
                    tie[at + 2 * index + side] = 1e-7
            below.append(pays)
            bounds_below.append(0.0)
    cost = tie
    cost[0] = 1.0
    cost[1:len(loop.states)] = 1e-7

    def sparse(rows: list[dict[int, float]]) -> Any:
        values = np.array([value for row in rows for value in row.values()])
        down = np.array([number for number, row in enumerate(rows) for _ in row])
        across = np.array([column for row in rows for column in row])
        return coo_matrix((values, (down, across)), shape=(len(rows), columns))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = linprog(
            cost, A_ub=sparse(below) if below else None, b_ub=bounds_below or None,
            A_eq=sparse(exact) if exact else None, b_eq=bounds_exact or None,
            bounds=[(0.0, each) for each in upper], method="highs",
        )
    if result.x is None:
        if result.status == 2:
            return None
        raise Unsupported("The solver found no shift of the noise, and did not say that there is none.")
    best = None
    for denominator in DENOMINATORS:
        rounded = _rounded(loop, result.x, slots, places, denominator)
        if rounded is not None and (best is None or rounded[2][0] < best[2][0]):
            best = rounded
        if best is not None and best[2][0] <= float(result.fun or 0) * (1 + SOLVED):
            break
    if best is None:
        raise Unsupported("The solver's shift of the noise could not be confirmed with exact numbers.")
    return best


def _rounded(
    loop: Loop, solution: Any, slots: list[int], places: dict[tuple[int, int], int], denominator: int
) -> tuple[list[Vector], list[tuple[Vector, ...]], list[Fraction]] | None:
    def value(column: int) -> Fraction:
        return Fraction(float(solution[column] - solution[column + 1])).limit_denominator(denominator)

    carried = [
        tuple(value(slots[number] + 2 * index) for index in range(len(state.draws)))
        for number, state in enumerate(loop.states)
    ]
    shifts: list[tuple[Vector, ...]] = []
    costs: list[tuple[int, int | None, Fraction]] = []
    for number, step in enumerate(loop.steps):
        kept = len(loop.states[step.before].draws)
        of_step = []
        for place, vector in enumerate(step.vectors):
            at = places[number, place]
            shift = [value(at + 2 * index) for index in range(len(step.path.draws))]
            shift[:kept] = carried[step.before]
            if step.after is not None:
                for slot, index in enumerate(step.carries):
                    if index < kept and shift[index] != carried[step.after][slot]:
                        return None
                    shift[index] = carried[step.after][slot]
            prices = [price(draw, each) for draw, each in zip(step.path.draws, shift, strict=True)]
            if None in prices or not keeps(step.constraints, vector, shift):
                return None
            total = sum((each for each in prices[kept:] if each is not None), Fraction(0))
            costs.append((step.before, step.after, total))
            of_step.append(tuple(shift))
        shifts.append(tuple(of_step))
    potentials = _potentials(len(loop.states), costs)
    return None if potentials is None else (carried, shifts, potentials)


def _lines(loop: Loop, shifts: list[tuple[Vector, ...]]) -> tuple[NoiseLine, ...]:
    """How far the draws of each line move, and what they cost at most on one stream."""
    moved: dict[tuple[Place, str], set[Fraction]] = {}
    costs: dict[tuple[Place, str], list[tuple[int, int | None, Fraction]]] = {}
    for step, of_step in zip(loop.steps, shifts, strict=True):
        kept = len(loop.states[step.before].draws)
        for shift in of_step:
            here: dict[tuple[Place, str], Fraction] = {}
            for draw, each in list(zip(step.path.draws, shift, strict=True))[kept:]:
                key = draw.place, str(draw)
                moved.setdefault(key, set()).add(each)
                here[key] = here.get(key, Fraction(0)) + abs(each) / draw.scale
            for key, cost in here.items():
                costs.setdefault(key, []).append((step.before, step.after, cost))
    between = [(step.before, step.after, Fraction(0)) for step in loop.steps]
    totals = {key: _potentials(len(loop.states), [*between, *found]) for key, found in costs.items()}
    return tuple(
        NoiseLine(place, noise, tuple(sorted(found)), (totals[place, noise] or [Fraction(0)])[0])
        for (place, noise), found in moved.items()
    )


def _potentials(states: int, costs: list[tuple[int, int | None, Fraction]]) -> list[Fraction] | None:
    """The largest total cost from each state to the end; None where a cycle has a cost."""
    potentials = [Fraction(0)] * states
    for _ in range(states + 1):
        changed = False
        for before, after, total in costs:
            needed = total + (potentials[after] if after is not None else 0)
            if needed > potentials[before]:
                potentials[before], changed = needed, True
        if not changed:
            return potentials
    return None


def _certificate(
    attempt: Attempt, loop: Loop, carried: list[Vector], shifts: list[tuple[Vector, ...]], potentials: list[Fraction]
) -> dict[str, Any]:
    return {
        **head(attempt.target, attempt.name, str(attempt.scope), attempt.claimed), "kind": "stream",
        "epsilon": str(potentials[0]), "potentials": [str(each) for each in potentials],
        "carried": [[str(each) for each in state] for state in carried],
        "carried_draws": [
            [{"kind": draw.kind, "scale": str(draw.scale)} for draw in state.draws] for state in loop.states
        ],
        "steps": [
            {
                "from": step.before, "to": step.after, "carries": list(step.carries),
                **aligned_rows(step.path.draws, step.constraints, step.vectors, of_step),
            }
            for step, of_step in zip(loop.steps, shifts, strict=True)
        ],
    }
