"""Runs the real program, and compares it with the paths that were found on symbols.

A proof rests on the interpreter. Here the program itself runs on datasets of the scope, with noise that is recorded:
the draws have to be those of a path, the decisions of that path have to hold for these data and draws, and the output
has to be the one that the path computes.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
import sys
import time
import types
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator

from dpaudit.language.distributions import Bernoulli, Distribution, Product, Real, Repeated, Softmax, Uniform
from dpaudit.language.distributions.base import Tail
from dpaudit.language.distributions.real import Integer
from dpaudit.language.mechanism import Applied, Mechanism
from dpaudit.proofs.arrays import Array
from dpaudit.proofs.exact import exactly, is_short
from dpaudit.proofs.forms import KINDS, Cell, Condition, Form, Part, PostProcessed
from dpaudit.proofs.functions import Curved, NotOfRecord, Piecewise, RecordFunction, Rounded, Table
from dpaudit.proofs.interpreter import key_of
from dpaudit.proofs.paths import Finished
from dpaudit.proofs.postprocessing import Unclear, candidates
from dpaudit.proofs.program import answers_queries
from dpaudit.proofs.queries import answered
from dpaudit.proofs.results import Unsupported
from dpaudit.proofs.scopes import Answers, Asked, Container, Domain, Records, Scope
from dpaudit.proofs.values import Instance, Output, Solution

DATASETS = 60
"""Datasets that are tried."""
RUNS = 180
"""Runs on them."""
LEAST = 10
"""Runs that are compared even if they take longer than `SECONDS`."""
SECONDS = 0.5
"""CPU time after which no more runs are made."""
GUIDED, TRIED = 60, 6
"""Paths into which the noise is led, and datasets on which that is tried."""
FURTHEST = 1e7
"""Largest draw that leads into a path."""
CLOSE = 1e-9
"""Relative difference of two numbers that counts as rounding."""
MOST_POINTS = 40
"""Special values of records that are tried."""
GRID = 64
"""Random records are multiples of 1 / GRID, which floats add without rounding."""
FACTORS = (1.0, 1.0, 0.1, 10.0)
"""Multiples of the noise, so that rare branches are reached."""
Dataset: TypeAlias = tuple[Any, ...]
Shape: TypeAlias = tuple[tuple[tuple[str, Fraction], ...], tuple[Fraction, ...]]
"""Kinds and scales of draws, and probabilities of coins."""


def replayed(
    target: Any, scope: Scope, finished: Sequence[Finished], n: int, *, datasets: Iterable[Dataset] | None = None,
    container: Container | None = None,
) -> None:
    """Compares the paths of a program with what it does on datasets of n answers or records.

    Args:
        target, scope: as in `prove`; a stream is compared as `Answers`.
        finished: all of its paths, neither merged nor with whole maxima.
        n: number of answers or records.
        datasets: to run it on; by default random ones, and special values of the functions in the rows.
        container: as of an `Attempt`.

    Raises:
        Unsupported: the program raised, or did something else than any path.
    """
    rng = np.random.default_rng(0)
    tried = list(datasets) if datasets is not None else chosen_datasets(scope, n, finished, rng)
    runs = RUNS if datasets is None else LEAST * len(tried)
    program = Followed(finished, scope)
    parts = {key_of(draw.part.target): draw.part for path in finished for draw in path.draws if draw.part is not None}
    begun = time.process_time()
    for number, dataset in enumerate(itertools.islice(itertools.cycle(tried), runs)):
        if number >= LEAST and time.process_time() - begun > SECONDS:
            break
        tape = Tape(rng, FACTORS[int(rng.integers(len(FACTORS)))], parts=parts)
        program.compare(dataset, tape, real_output(target, scope, dataset, tape, container))
    begun = time.process_time()
    for number, place in enumerate(np.linspace(0, len(finished) - 1, min(len(finished), GUIDED)).astype(int).tolist()):
        if number >= LEAST and time.process_time() - begun > SECONDS:
            return
        for dataset in itertools.islice(tried, TRIED):
            noise = noise_into(finished[place], program.state(dataset))
            if noise is not None:
                tape = Tape(rng, 1.0, noise, parts)
                program.compare(dataset, tape, real_output(target, scope, dataset, tape, container))


def noise_into(path: Finished, state: State) -> list[float] | None:
    """Draws with which a dataset takes a path, well inside of it; None where there are none.

    A branch that noise takes once in e¹⁰⁰⁰⁰ runs is part of the proof, and no random draw reaches it.
    """
    from scipy.optimize import linprog

    if path.maxima or not path.draws:
        return None
    n = len(path.draws)
    rows, bounds = [], []
    for row in path.rows:
        if row.kind != "keep":
            continue
        constant = state.value(Form(row.form.constant, row.form.records)).number
        if not row.form.draws and (constant < 0 or (row.strict and not constant)):
            return None
        if row.form.draws:
            rows.append([*(-float(row.form.draws.get(index, 0)) for index in range(n)), 1.0])
            bounds.append(float(constant))
    limits = {"exponential": (0.0, FURTHEST), "one-sided": (0.0, FURTHEST), "uniform": (0.0, 1.0)}
    found: Any = linprog(
        [*[0.0] * n, -1.0], A_ub=np.array(rows) if rows else None, b_ub=bounds or None,
        bounds=[*(limits.get(draw.kind, (-FURTHEST, FURTHEST)) for draw in path.draws), (0.0, 1.0)], method="highs",
    )
    if found.x is None or found.x[-1] <= CLOSE:
        return None
    return [
        float(round(value)) if draw.is_whole else float(value)
        for value, draw in zip(found.x.tolist(), path.draws, strict=False)
    ]


def real_output(target: Any, scope: Scope, dataset: Dataset, tape: Tape, container: Container | None = None) -> Any:
    """The output of the real program with recorded noise.

    Raises:
        Unsupported: it raised, or drew something that is not recorded.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if isinstance(scope, Asked):
                with answered(scope, dataset) as unseen:
                    return tape.run(target, unseen)
            if isinstance(target, Mechanism):
                tape.dataset = dataset = tuple(dataset)
                return tape.run(on_answers(target) if isinstance(scope, Answers) else target, dataset)
            tape.dataset = put_in(handed_in(target, scope, container), dataset)
            output = tape.call(target, tape.dataset)
    except Unsupported:
        raise
    except Exception as error:
        raise Unsupported(f"The program raises {type(error).__name__} on {dataset!r}.") from error
    if tape.refused:
        raise tape.refused[0]
    return output


def handed_in(target: Any, scope: Scope, container: Container | None = None) -> Container:
    """What a program gets its answers or records in: if not known, a tuple, and real records of a function a vector."""
    if isinstance(target, Mechanism):
        return "tuple"
    return container or ("vector" if isinstance(scope, Records) else "tuple")


def put_in(container: Container, dataset: Dataset) -> Any:
    """A dataset in a container."""
    if container == "vector":
        return np.array(dataset, dtype=np.float64)
    return list(dataset) if container == "list" else tuple(dataset)


def on_answers(mechanism: Mechanism) -> Mechanism:
    """The mechanism, with the answers of its queries in place of the data."""
    if not answers_queries(mechanism):
        return mechanism
    return varied(mechanism, answers=lambda self, data: data)


def varied(mechanism: Mechanism, **attributes: Any) -> Mechanism:
    """A copy of a mechanism, of a subclass with other attributes.

    Raises:
        Unsupported: its class has no such subclass.
    """
    made, kind = copy.copy(mechanism), type(mechanism)
    try:
        object.__setattr__(made, "__class__", type(kind.__name__, (kind,), attributes))
    except TypeError as error:
        raise Unsupported(f"The class {kind.__name__} cannot be given other answers: {error}.") from None
    return made


class Tape:
    """The draws of one run.

    Args:
        rng: where they come from.
        factor: multiple of the noise.
        given: the first draws.
        parts: what is proved by itself, by its key.
    """

    def __init__(
        self, rng: Generator, factor: float, given: Sequence[float] = (), parts: Mapping[object, Part] | None = None
    ) -> None:
        self.rng, self.factor, self.given, self.parts = rng, factor, given, parts or {}
        self.dataset: Any = None
        """As the program got it."""
        self.outputs: list[Any] = []
        """Of the parts that were applied to it."""
        self.kinds: list[str] = []
        self.scales: list[float] = []
        self.noise: list[Fraction] = []
        self.coins: list[float] = []
        """The probability of each other random choice that was made."""
        self.refused: list[Unsupported] = []

    def draw(self, kind: str, scale: float) -> float:
        """A draw of noise around 0, of a kind in `forms.KINDS`."""
        factor = self.factor * (30.0 if self.rng.random() < 0.05 else 1.0)
        if len(self.noise) < len(self.given):
            return self.record(kind, scale, self.given[len(self.noise)])
        match kind:
            case "laplace":
                value = scale * factor * self.rng.laplace()
            case "exponential":
                value = scale * factor * self.rng.standard_exponential()
            case "gumbel":
                value = scale * factor * self.rng.gumbel()
            case "normal":
                value = scale * factor * self.rng.standard_normal()
            case "uniform":
                value = self.rng.random()
                if factor != 1:
                    value = value / 10 if self.rng.random() < 0.5 else 1 - value / 10
            case "geometric":
                value = float(round(scale * factor * self.rng.laplace()))
            case "one-sided":
                value = float(math.floor(scale * factor * self.rng.standard_exponential()))
            case _:
                raise Unsupported(f"Noise of the kind {kind} is not replayed.")
        return self.record(kind, scale, value)

    def record(self, kind: str, scale: float, value: float) -> float:
        self.kinds.append(kind)
        self.scales.append(float(scale))
        self.noise.append(Fraction(value))
        return value

    def refuse(self, what: str) -> Unsupported:
        """What to raise; it is kept, because the program might catch it."""
        self.refused.append(Unsupported(f"The program draws with {what}, which is not replayed."))
        return self.refused[-1]

    # --- parts ---

    def part(self, target: Any, dataset: Any) -> Part | None:
        """The part that is applied to the whole dataset."""
        return self.parts.get(key_of(target)) if self.parts and dataset is self.dataset else None

    def aside(self) -> Tape:
        """A tape for the draws of a part, which are not compared."""
        tape = Tape(self.rng, 1.0)
        tape.refused = self.refused
        return tape

    def applied(self, part: Part, output: Any) -> Any:
        """Records the output of a part."""
        self.record("mechanism", float(1 / (part.epsilon or 1)), 0.0)
        self.outputs.append(output)
        return output

    # --- functions ---

    def call(self, function: Any, dataset: Any) -> Any:
        """The output of a function, with the draws of its parts aside."""
        recorder = Recorder(self)
        if not self.parts:
            return function(dataset, recorder)
        codes = {getattr(part.target, "func", None) for part in self.parts.values()}
        functions = {each.__code__: each for each in codes if each is not None}
        inside: tuple[Any, Part] | None = None

        def look(frame: types.FrameType, event: str, output: Any) -> None:
            nonlocal inside
            if event == "call" and inside is None and frame.f_code in functions:
                given, code = frame.f_locals, frame.f_code
                names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
                others = {name: given[name] for name in names[2:]}
                part = self.part(functools.partial(functions[code], **others), given[names[0]])
                if part is not None and given[names[1]] is recorder:
                    inside, recorder._tape = (frame, part), self.aside()
            elif event == "return" and inside is not None and inside[0] is frame:
                recorder._tape = self
                self.applied(inside[1], output)
                inside = None

        before = sys.getprofile()
        sys.setprofile(look)
        try:
            return function(dataset, recorder)
        finally:
            sys.setprofile(before)

    # --- mechanisms ---

    def run(self, mechanism: Mechanism, dataset: Any) -> Any:
        """A mechanism's output, with every yielded distribution drawn from here."""
        value = mechanism.run(dataset)
        if isinstance(value, types.GeneratorType):
            try:
                node = next(value)
                while True:
                    node = value.send(self.drawn(node))
            except StopIteration as end:
                value = end.value
        return self.drawn(value) if isinstance(value, Distribution | Applied) else value

    def drawn(self, node: Any) -> Any:
        """A value of a distribution, or an output of an applied mechanism."""
        match node:
            case Applied():
                part = self.part(node.mechanism, node.dataset)
                if part is not None:
                    return self.applied(part, self.aside().run(node.mechanism, node.dataset))
                return self.run(node.mechanism, node.dataset)
            case Bernoulli() if node.event is not None:
                return self._indicator(node.event)
            case Bernoulli():
                if node.p in (0, 1):
                    return node.p == 1
                value = bool(self.rng.random() < 0.5)
                self.coins.append(float(node.p if value else 1 - node.p))
                return value
            case Uniform():
                options = list(node.values)
                return options[self.choose(len(options))]
            case Product() | Repeated():
                return tuple(map(self.drawn, node.parts))
            case Softmax():
                return self._softmax(node)
            case Integer():
                return self._rounded(node)
            case Real() if node.noise_kind is not None:
                location, scale = (getattr(node, each.name) for each in fields(node) if not each.kw_only)
                noise = self.draw(node.noise_kind, float(scale))
                return location + (int(noise) if KINDS[node.noise_kind].is_whole else noise)
        raise self.refuse(type(node).__name__)

    def choose(self, options: int, weights: Any = None) -> int:
        """One of some options, with equal probability or given ones."""
        if weights is None:
            self.coins.append(1 / options)
            return int(self.rng.integers(options))
        shares = np.asarray(weights, dtype=np.float64) / np.sum(weights)
        chosen = int(self.rng.choice(options, p=shares))
        self.coins.append(float(shares[chosen]))
        return chosen

    def _indicator(self, event: Tail) -> bool:
        noise = self.drawn(event.noise)
        if event.low:
            return bool(noise <= event.t if event.closed else noise < event.t)
        return bool(noise >= event.t if event.closed else noise > event.t)

    def _rounded(self, node: Integer) -> int:
        if node.base.noise_kind != "laplace":
            raise self.refuse(type(node.base).__name__)
        location, scale = (getattr(node.base, each.name) for each in fields(node.base) if not each.kw_only)
        noise = scale * self.factor * self.rng.laplace()
        value = int(math.ceil(location + noise) if node.up else math.floor(location + noise))
        self.record("rounded", scale, value - location)
        return value

    def _softmax(self, node: Softmax) -> Any:
        if not node.coefficient:
            raise self.refuse("Softmax with coefficient 0")
        scale = 1 / abs(float(node.coefficient))
        noisy = [math.copysign(1, node.coefficient) * score + self.draw("gumbel", scale)
                 for score in np.asarray(node.scores, dtype=np.float64).tolist()]
        place = noisy.index(max(noisy))
        return place if node.labels is None else tuple(node.labels)[place]


class Recorder(Generator):
    """A generator whose noise goes to a tape; any method that is not followed on symbols is refused."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(np.random.PCG64(0))
        self._tape = tape

    def _noise(self, kind: str, location: Any, scale: Any, size: Any) -> Any:
        """Noise as an array of numpy's shape, or one number."""
        shape = np.broadcast_shapes(np.shape(location), np.shape(scale))
        if size is not None:
            wanted = tuple(np.atleast_1d(size).tolist())
            if np.broadcast_shapes(shape, wanted) != wanted:
                raise ValueError("Output size is not compatible with the broadcast dimensions of the inputs.")
            shape = wanted
        scales = np.broadcast_to(np.asarray(scale, dtype=np.float64), shape)
        drawn = np.array([self._tape.draw(kind, float(each)) for each in scales.ravel()]).reshape(shape)
        if size is None and not shape:
            return location + float(drawn)
        return np.asarray(location, dtype=np.float64) + drawn

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._noise("laplace", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._noise("gumbel", loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._noise("normal", loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._noise("exponential", 0.0, scale, size)

    def standard_exponential(self, size: Any = None) -> Any:  # type: ignore[override]
        return self._noise("exponential", 0.0, 1.0, size)

    def standard_normal(self, size: Any = None) -> Any:  # type: ignore[override]
        return self._noise("normal", 0.0, 1.0, size)

    def random(self, size: Any = None) -> Any:  # type: ignore[override]
        return self._noise("uniform", 0.0, 1.0, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        drawn = self._noise("uniform", 0.0, 1.0, size)
        return low + (high - low) * drawn

    def geometric(self, p: Any, size: Any = None) -> Any:
        drawn = self._noise("one-sided", 1.0, -1 / math.log1p(-float(p)), size)
        return drawn.astype(np.int64) if isinstance(drawn, np.ndarray) else int(drawn)

    def integers(self, low: Any, high: Any = None) -> Any:  # type: ignore[override]
        first, last = (0, low) if high is None else (low, high)
        return first + self._tape.choose(last - first)

    def choice(self, a: Any, *, p: Any = None) -> Any:  # type: ignore[override]
        values = np.arange(a) if isinstance(a, int) else np.asarray(a)
        return values[self._tape.choose(len(values), p)]


def _refusing(name: str) -> property:
    def refuse(self: Recorder) -> Any:
        raise self._tape.refuse(f"rng.{name}")

    return property(refuse)


for _name in dir(Generator):
    if not _name.startswith("_") and _name not in vars(Recorder):
        setattr(Recorder, _name, _refusing(_name))


# --- paths on data ---


@dataclass(frozen=True)
class Value:
    """A number, and what a float may differ from it by: 0 where floats compute it exactly."""

    number: Fraction
    rounding: float

    @property
    def is_close(self) -> bool:
        """Whether a float may be on either side of 0, or exactly 0, instead."""
        return abs(self.number) <= self.rounding and self.rounding > 0


class Followed:
    """The paths of a program, to be evaluated on data and draws.

    Args:
        finished: all of its paths.
        scope: the datasets.
    """

    def __init__(self, finished: Sequence[Finished], scope: Scope) -> None:
        self.scope = scope
        self.groups: dict[Shape, list[tuple[Finished, list[int]]]] = {}
        """Paths with the numbers of their rows, by their draws and coins."""
        self.rows: list[tuple[Form, bool]] = []
        """The distinct decisions: a form that is ≥ 0, or > 0 if strict."""
        self.cuts: dict[int, set[Fraction]] = {}
        """Where functions of each record have their pieces."""
        self.rounded = {cut for path in finished for cut, rounds in path.cuts.items() if rounds}
        """Numbers that records were compared with, where floats round what was compared."""
        numbers: dict[object, int] = {}
        for path in finished:
            mine = []
            for row in path.rows:
                self._add_cuts(row.form)
                if row.kind == "keep":
                    key = row.form.key(), row.strict
                    if key not in numbers:
                        numbers[key] = len(self.rows)
                        self.rows.append((row.form, row.strict))
                    mine.append(numbers[key])
            shape = tuple((draw.kind, draw.scale) for draw in path.draws), path.coins
            self.groups.setdefault(shape, []).append((path, mine))

    def _add_cuts(self, form: Form) -> None:
        for index, function in form.records.items():
            if isinstance(function, Piecewise):
                self.cuts.setdefault(index, set()).update(function.cuts)

    def state(self, dataset: Dataset, noise: Sequence[Fraction] = (), outputs: Sequence[Any] = ()) -> State:
        """A dataset, draws, and outputs of parts."""
        places = self.scope.values.index if isinstance(self.scope, Domain) else exactly
        return State([places(record) for record in dataset], noise, outputs)

    def compare(self, dataset: Dataset, tape: Tape, output: Any) -> None:
        """Raises Unsupported unless a run has the draws, the decisions and the output of a path."""
        state = self.state(dataset, tape.noise, tape.outputs)
        data = state.data
        certain: list[tuple[Finished, State]] = []
        possible: list[tuple[Finished, State]] = []
        same_draws = False
        for shape, paths in self.groups.items():
            if not _same_draws(shape, tape):
                continue
            same_draws = True
            known: dict[int, bool | None] = {}
            for path, rows in paths:
                here = state.with_maxima(path) if path.maxima else state
                holds = self._holds(rows, {} if path.maxima else known, here)
                if holds is not False and path.post_decided:
                    decided = here.decides(path)
                    holds = decided if holds or decided is False else None
                if holds:
                    certain.append((path, here))
                elif holds is None:
                    possible.append((path, here))
        shown = f"on the data {tuple(dataset)!r}"
        if not same_draws:
            raise _differs(f"{shown} it draws {', '.join(tape.kinds) or 'no noise'}, as no path does")
        # a branch on a number that floats round may go either way
        agree = [agrees(path.result, output, here) for path, here in certain or possible]
        agreed = all(agree) if certain and not tape.coins else any(agree)
        if (agree and agreed) or self._is_on_edge(data):
            return
        if not agree:
            raise _differs(f"{shown} no path makes its decisions")
        raise _differs(f"{shown} it returns {_short(output)}")

    def _holds(self, rows: Sequence[int], known: dict[int, bool | None], state: State) -> bool | None:
        """Whether decisions hold; None where floats may decide either way."""
        result: bool | None = True
        for number in rows:
            if number not in known:
                form, strict = self.rows[number]
                value = state.value(form)
                known[number] = None if value.is_close else value.number > 0 or (value.number == 0 and not strict)
            if known[number] is False:
                return False
            if known[number] is None:
                result = None
        return result

    def _is_on_edge(self, data: Sequence[Any]) -> bool:
        """Whether floats may see a record on the other side of a cut."""
        return not isinstance(self.scope, Domain) and any(
            abs(record - cut) <= CLOSE * (1 + abs(cut))
            for index, record in enumerate(data) for cut in self.cuts.get(index, ())
            if not is_short(record) or cut in self.rounded
        )


@dataclass(frozen=True)
class State:
    """Data and draws.

    Args:
        data: records as fractions, or their places in a finite domain.
        noise: of each draw.
        outputs: of the parts.
    """

    data: Sequence[Any]
    noise: Sequence[Fraction]
    outputs: Sequence[Any] = ()

    def with_maxima(self, path: Finished) -> State:
        """The same with the maxima of a path among the draws."""
        drawn, members = iter(self.noise), {maximum.draw: maximum.members for maximum in path.maxima}
        state = State(self.data, [], self.outputs)
        for index in range(len(path.draws)):
            noise = [*state.noise]
            noise.append(
                max(state.value(member).number for member in members[index]) if index in members else next(drawn)
            )
            state = State(self.data, noise, self.outputs)
        return state

    def candidates(self, value: PostProcessed) -> list[Any]:
        """The values that a post-processed value may have; none where it is not clear.

        Floats that are rounded otherwise may give another one.
        """
        def number(form: Form) -> tuple[Fraction, float]:
            found = self.value(form)
            return found.number, max(found.rounding, CLOSE * (1 + abs(float(found.number))))

        try:
            return candidates(value, number, self.outputs)
        except Unclear:
            return []

    def decides(self, path: Finished) -> bool | None:
        """Whether post-processed values decide as on a path; None where that is not clear."""
        result: bool | None = True
        for value, holds in path.post_decided:
            found = {bool(each) for each in self.candidates(value)}
            if found == {not holds}:
                return False
            if found != {holds}:
                result = None
        return result

    def value(self, form: Form) -> Value:
        """A form's value."""
        terms: list[Fraction] = [form.constant]
        try:
            terms += [of_record(function, self.data[index]) for index, function in form.records.items()]
        except NotOfRecord:
            return Value(Fraction(0), math.inf)
        terms += [coefficient * self.noise[index] for index, coefficient in form.draws.items()]
        exact = all(map(is_short, terms))
        return Value(sum(terms, Fraction(0)), 0.0 if exact else CLOSE * (1 + math.fsum(abs(float(x)) for x in terms)))


def of_record(function: RecordFunction, record: Any) -> Any:
    """The value of a function at a record."""
    match function:
        case Table():
            value = function.values[record]
            return Fraction(value) if isinstance(value, bool | int | float) else value
        case Piecewise() | Curved():
            return function.value(record)
        case Rounded():
            return function.factor * math.floor(function.slope * record + function.intercept) + function.shift
    raise AssertionError(function)


def agrees(result: Any, output: Any, state: State) -> bool:
    """Whether an output on symbols, evaluated, is the real one."""
    match result:
        case Output():
            return agrees(result.recorded(state.outputs), output, state)
        case Solution():
            return type(output) is int and output == result.place
        case Instance():
            return type(output) is result.kind and all(
                agrees(value, getattr(output, name), state) for name, value in result.values.items()
            )
        case PostProcessed():
            return _is_candidate(state.candidates(result), output)
        case Form():
            value = state.value(result)
            return _is_number(output) and _is_near(value.number, output, value.rounding)
        case Cell():
            if isinstance(result.function, Table):
                value = result.function.values[state.data[result.record]]
                return agrees(value, output, state)
            number = of_record(result.function, state.data[result.record])
            return _is_number(output) and _is_near(number, output, CLOSE)
        case Condition():
            value = state.value(result.form)
            holds = {
                ">=": value.number >= 0, ">": value.number > 0, "==": value.number == 0, "!=": value.number != 0,
            }[result.symbol]
            return isinstance(output, bool | np.bool_) and (value.is_close or bool(output) == holds)
        case Array() | np.ndarray():
            mine = result.values if isinstance(result, Array) else result
            return isinstance(output, np.ndarray | np.generic) and np.shape(output) == mine.shape and all(
                agrees(x, y, state) for x, y in zip(mine.ravel(), np.ravel(output).tolist(), strict=True)
            )
        case list() | tuple():
            return type(output) is type(result) and len(output) == len(result) and all(
                agrees(x, y, state) for x, y in zip(result, output, strict=True)
            )
        case dict():
            return type(output) is dict and [*map(_plain, result)] == [*map(_plain, output)] and all(
                agrees(x, y, state) for x, y in zip(result.values(), output.values(), strict=True)
            )
        case bool() | np.bool_():
            return isinstance(output, bool | np.bool_) and bool(output) == bool(result)
    if _is_number(result):
        return _is_number(output) and not isinstance(output, bool | np.bool_) and _is_near(
            exactly(result), output, CLOSE
        )
    if isinstance(result, str):
        return isinstance(output, str) and str(output) == result
    return type(output) is type(result) and (bool(output == result) or repr(output) == repr(result))


def _is_candidate(found: Sequence[Any], output: Any) -> bool:
    """Whether an output is one of the values that a post-processed value may have, or between them."""
    if not found or isinstance(found[0], str):
        return not found or (isinstance(output, str) and (output in found or len(set(found)) > 1))
    if isinstance(found[0], bool | np.bool_):
        return isinstance(output, bool | np.bool_) and bool(output) in {bool(each) for each in found}
    numbers = [float(each) for each in found]
    if not _is_number(output) or not all(map(math.isfinite, numbers)):
        return _is_number(output)
    far = CLOSE * (1 + max(map(abs, numbers)))
    return min(numbers) - far <= float(output) <= max(numbers) + far


# --- data ---


def chosen_datasets(scope: Scope, n: int, finished: Sequence[Finished], rng: Generator) -> list[Dataset]:
    """Datasets on which the program is run: random ones, and special values of the functions that occur."""
    if isinstance(scope, Domain):
        values = scope.values
        if len(values) ** n <= DATASETS:
            return list(itertools.product(values, repeat=n))
        made = [(value,) * n for value in values[:10]]
        while len(made) < DATASETS:
            some = rng.permutation(len(values))[: int(rng.integers(1, len(values) + 1))]
            made.append(tuple(values[int(rng.choice(some))] for _ in range(n)))
        return made
    special = special_points(scope, finished)
    if len(special) > MOST_POINTS:
        special = [special[place] for place in sorted(rng.choice(len(special), MOST_POINTS, replace=False).tolist())]
    return [_dataset(scope, n, special, number, rng) for number in range(DATASETS)]


def special_points(scope: Scope, finished: Sequence[Finished]) -> list[float]:
    """Ends of the interval, cuts of the functions in the rows, and roots of rows of one record."""
    points = {exactly(scope.low), exactly(scope.high)} if isinstance(scope, Records) else {
        Fraction(0), Fraction(1), Fraction(-1),
    }
    cuts = sorted({cut for path in finished for cut in path.cuts})
    points.update(cuts)
    # a band between two comparisons
    points.update((low + high) / 2 for low, high in itertools.pairwise(cuts))
    seen: set[object] = set()
    for path in finished:
        for row in path.rows:
            for function in row.form.records.values():
                if not isinstance(function, Piecewise) or (key := (function.key(), row.form.constant)) in seen:
                    continue
                seen.add(key)
                points.update(function.cuts)
                points.update(-(row.form.constant + c) / slope for slope, c in function.between if slope)
    if isinstance(scope, Records):
        points = {point for point in points if exactly(scope.low) <= point <= exactly(scope.high)}
    return [float(point) for point in sorted(points)]


def _dataset(scope: Scope, n: int, special: list[float], number: int, rng: Generator) -> Dataset:
    if isinstance(scope, Records):
        low, high = float(scope.low), float(scope.high)
    else:
        low, high = min(special) - 3, max(special) + 3

    def one(kind: int) -> float:
        match kind:
            case 0:
                return rng.uniform(low, high)
            case 1:
                return round(rng.uniform(low, high) * GRID) / GRID
            case 2:
                return special[int(rng.integers(len(special)))]
            case _:
                beside = 1e-3 * max(1.0, min(high - low, 10.0)) * (1 if rng.random() < 0.5 else -1)
                return special[int(rng.integers(len(special)))] + beside

    kind = number % 6
    if kind == 4:
        values = [one(2)] * n
    elif kind == 5:
        values = [one(int(rng.integers(4))) for _ in range(n)]
    else:
        values = [one(kind) for _ in range(n)]
    if isinstance(scope, Answers) and scope.whole:
        return tuple(round(value) for value in values)
    if isinstance(scope, Records):
        values = [min(max(value, low), high) for value in values]
    return tuple(float(value) for value in values)


# --- helpers ---


def _same_draws(shape: Shape, tape: Tape) -> bool:
    draws, coins = [draw for draw in shape[0] if draw[0] != "maximum"], shape[1]
    return len(draws) == len(tape.kinds) and len(coins) == len(tape.coins) and all(
        kind == drawn and abs(float(scale) - wide) <= CLOSE * wide
        for (kind, scale), drawn, wide in zip(draws, tape.kinds, tape.scales, strict=True)
    ) and all(abs(float(coin) - tossed) <= CLOSE for coin, tossed in zip(coins, tape.coins, strict=True))


def _differs(what: str) -> Unsupported:
    return Unsupported(f"The program does not do what was followed: {what}.", "Report this as a bug of dpaudit.")


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | Fraction | np.bool_ | np.integer | np.floating)


def _is_near(number: Fraction, output: Any, rounding: float) -> bool:
    real = float(output)
    return math.isfinite(real) and abs(float(number) - real) <= max(rounding, CLOSE * (1 + abs(real)))


def _plain(key: Any) -> str:
    return f"{type(key).__name__} {key!r}"


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"
