"""Audits of stability: what is asked for, and what it is made ready as."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.random import Generator

from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.description import Description, parse_description
from dpaudit.adversary.pairs.observed import observed_records
from dpaudit.errors import ParameterError, UsageError
from dpaudit.language import REPLACE_ONE, Dataset, Mechanism, Record, Relation, Users, relation_named
from dpaudit.language.checks import positive, whole
from dpaudit.language.containers import Container, container_from_json
from dpaudit.language.unordered import unordered
from dpaudit.options import (
    AT_MOST,
    COMPARED,
    DATA,
    DEFAULT_COMPARED,
    METRIC,
    OPTIONS,
    PAIR,
    RELATION,
    SEED,
    SIZE,
    TIME,
    Door,
)
from dpaudit.plans.command import option_words
from dpaudit.plans.registry import in_catalogue
from dpaudit.plans.subject import name_of
from dpaudit.results.datasets import dataset_from_json, dataset_to_json
from dpaudit.subjects.adapters import Transformed, transformed
from dpaudit.subjects.read import reader_of, reads
from dpaudit.subjects.target import FunctionTarget, load_object

KIND = "stability"
"""Of a request in the store, which has those of audits of privacy, too."""
METRICS = (
    "absolute", "l1", "l2", "linf", "symmetric", "insert-delete", "change-one", "hamming", "discrete",
)
"""Names of output metrics, as OpenDP has them: of one number, of vectors, of datasets (without and with an order), of
any values."""

Stability: TypeAlias = float | Fraction | Callable[[int], object]
"""c, for a function that is c-stable: inputs d steps apart give outputs at most c·d apart; or the map d → distance."""


@dataclass(frozen=True)
class StabilityRequest:
    """One audit of stability.

    Args:
        target: "module:function", "file.py:function", a function f(dataset), or a transformation of OpenDP.
        at_most: c as text, "2", "0.5" (the double next to it) or "1/3"; None for the map or the target's own.
        map: the distance of inputs → the largest of outputs; None for c, or the target's own.
        metric: one of `METRICS`; None for the target's own, or absolute.
        relation: None for the target's own, or replace-one.
        any_order: whether D and D′ may list their records in different orders.
        pair: the two datasets to test on; None to search.
        data: a description of records; with a table, its name.
        size: records of a dataset.
        pairs: most pairs that are tried.
        time: time limit in seconds.
        seed: of the search.
        read: what turns an output into what is compared, or its name.
        container, table, files: as of a `Request`.
        call: source of the Python call that made the request.
        door: the front end.
    """

    target: str | Callable[..., object]
    at_most: str | None = None
    map: Callable[[int], object] | None = None
    metric: str | None = None
    relation: str | None = None
    any_order: bool = False
    pair: tuple[Dataset, Dataset] | None = None
    data: str | None = None
    size: int | None = None
    pairs: int = DEFAULT_COMPARED
    time: float | None = None
    seed: int = 0
    read: str | Callable[..., object] | None = None
    container: Container | None = None
    table: tuple[Record, ...] | None = None
    files: tuple[str, ...] = ()
    call: str | None = None
    door: Door = "command line"

    def __post_init__(self) -> None:
        whole(SEED, self.seed, least=0)
        whole(COMPARED, self.pairs, least=1)
        if self.size is not None:
            whole(SIZE, self.size, least=1)
        if self.time is not None:
            positive(TIME, self.time)
        if self.pair is not None and self.data is not None:
            raise UsageError("Give {} or {}, not both.", PAIR, DATA)
        if self.metric is not None and self.metric not in METRICS:
            named = f"{', '.join(METRICS[:-1])} or {METRICS[-1]}"
            raise UsageError("{} must be {}, not {!r}.", METRIC, named, self.metric)
        if self.at_most is not None:
            rational(self.at_most)

    # what a command line is made from, as of a `Request`
    spelled = frozenset[str]()

    @property
    def given_pairs(self) -> tuple[tuple[Dataset, Dataset], ...]:
        """The pair, where one is given."""
        return () if self.pair is None else (self.pair,)

    def command(self) -> str:
        """What to type to get the same result again."""
        if self.call is not None:
            return self.call
        target = self.target if isinstance(self.target, str) else name_of(self.target)
        words = ["dpaudit", KIND, target]
        for option in OPTIONS[KIND]:
            words += option_words(option, self)
        return shlex.join(words)

    def image(self) -> dict[str, object]:
        """JSON of all that the result depends on."""
        return {
            "kind": KIND,
            "target": _named(self.target),
            "at_most": self.at_most,
            "map": None if self.map is None else _named(self.map),
            "metric": self.metric,
            "relation": self.relation,
            "any_order": self.any_order,
            "pair": None if self.pair is None else [dataset_to_json(one) for one in self.pair],
            "data": self.data,
            "size": self.size,
            "pairs": self.pairs,
            "time": self.time,
            "seed": self.seed,
            "read": None if self.read is None else _named(self.read),
            "container": None if self.container is None else self.container.to_json(),
            "table": None if self.table is None else dataset_to_json(self.table),
        }

    def to_json(self) -> str:
        """The request as JSON, which `from_json` reads.

        Raises:
            UsageError: it holds a function itself, which only the program that made it has.
        """
        if self.map is not None or not all(one is None or isinstance(one, str) for one in (self.target, self.read)):
            raise UsageError("A request with a function itself cannot be serialised; name it.")
        return json.dumps({**self.image(), "files": list(self.files)})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The request that `to_json` wrote.

        Raises:
            UsageError: it is no such text.
        """
        try:
            value: dict[str, Any] = json.loads(text)
            if value.pop("kind") != KIND:
                raise ValueError("it is of another kind")
            for name, read in _READ.items():
                if value[name] is not None:
                    value[name] = read(value[name])
            return cls(**{one.name: value[one.name] for one in fields(cls) if one.name in value})
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise UsageError(f"This is not a request written by dpaudit ({type(error).__name__}: {error}).") from None


def is_stability(text: str) -> bool:
    """Whether the JSON of a request is one of stability."""
    return bool(json.loads(text).get("kind") == KIND)


@dataclass(frozen=True)
class StabilityJob:
    """An audit of stability made ready.

    Args:
        target: the function, which takes no generator: it is called with None in its place.
        subject: the function itself, as it was given or loaded; None for a transformation of another library.
        relation: of the inputs; one of `language.unordered` where records may come in any order.
        any_order: whether they may.
        metric: of the outputs.
        allowed: steps of the relation → the largest distance of outputs.
        claim: as a sentence.
        pair: to test on; None to search.
        records: what records are; None where a pair is given.
        table: a real dataset to start from.
        size: records of a dataset that the search begins with.
        sizes: least and most records of a dataset; None for any.
        source: where the function or its claim is defined.
        notes: sentences for the report.
        replay: its id.
    """

    target: FunctionTarget
    subject: object
    relation: Relation
    any_order: bool
    metric: str
    allowed: Callable[[int], Fraction]
    claim: str
    pair: tuple[Dataset, Dataset] | None
    records: Records | None
    table: tuple[Record, ...] | None
    size: int
    sizes: tuple[int, int] | None
    source: str
    notes: tuple[str, ...]
    replay: str


DEFAULT_SIZE = 6
"""Records of a dataset that a search begins with; it tries smaller ones, too."""


def stability_job(request: StabilityRequest) -> StabilityJob:
    """What a request asks for, made ready.

    Raises:
        UsageError and its kinds: there is no such function, it takes other arguments, the claim or the datasets are
            missing or do not go together.
    """
    if in_catalogue(request.target):
        raise UsageError(f"{request.target} is an algorithm of the catalogue; stability is about functions f(dataset).")
    subject, source = load_object(request.target) if isinstance(request.target, str) else (request.target, "python")
    stated = transformed(subject)
    name = request.target.rpartition(":")[2] if isinstance(request.target, str) else name_of(stated or subject)
    description = None if request.data is None or request.table is not None else parse_description(request.data)
    if stated is not None:
        if request.data is None and request.pair is None and stated.data is not None:
            description = parse_description(stated.data)
    else:
        _refuse_form(subject, name)
    container = request.container if description is None else description.container
    function = stated if stated is not None else subject
    assert callable(function)
    notes = () if stated is None else stated.notes
    if request.read is not None:
        function = _Composed(function, reads(reader_of(request.read), name))
        notes = (*notes, f"Compared is what {_named(request.read)} makes of each output.")
    relation, any_order = _relation(request, stated, container)
    metric = request.metric or (stated.metric if stated is not None else "absolute")
    steps, said = _claim(request, stated, name)
    size, sizes = _sizes(request, stated, relation)
    return StabilityJob(
        target=FunctionTarget(name, source, _WithoutGenerator(function), container=None if stated else container),
        subject=None if stated is not None else subject,
        relation=relation,
        any_order=any_order,
        metric=metric,
        allowed=steps,
        claim=f"{said} ({metric}) under {relation.name}{', records in any order' if any_order else ''}",
        pair=request.pair,
        records=_records(request, description, name),
        table=request.table,
        size=size,
        sizes=sizes,
        source=stated.source if stated is not None else source,
        notes=notes,
        replay=_replay(request, name, source),
    )


def rational(text: str) -> Fraction:
    """A number of a claim: "2", "1/3", or a decimal, which stands for the double next to it, as in a program.

    Raises:
        ParameterError: it is none, or below 0.
    """
    try:
        value = Fraction(text) if "/" in text or text.strip().isdigit() else Fraction(float(text))
        if value >= 0:
            return value
    except (ValueError, OverflowError, ZeroDivisionError):
        pass
    raise ParameterError("{} must be a number ≥ 0, such as 2, 0.5 or 1/3, not {!r}.", AT_MOST, text)


@dataclass(frozen=True)
class _WithoutGenerator:
    """f(dataset) as f(dataset, rng)."""

    function: Callable[..., object]

    def __call__(self, dataset: object, rng: Generator | None) -> object:
        return self.function(dataset)


@dataclass(frozen=True)
class _Composed:
    """f, and a reader of its output."""

    function: Callable[..., object]
    read: Callable[[object], object]

    def __call__(self, dataset: object) -> object:
        return self.read(self.function(dataset))


@dataclass(frozen=True)
class _Steps:
    """Steps of the relation → the largest distance of outputs: c times, or by a map."""

    name: str
    map: Callable[[int], object]

    def __call__(self, steps: int) -> Fraction:
        """The distance that is allowed.

        Raises:
            UsageError: the map gives no number ≥ 0.
        """
        try:
            value = self.map(steps)
        except Exception as error:
            raise UsageError(
                f"The stability map of {self.name} raised {type(error).__name__} at {steps}: {error}"
            ) from None
        if isinstance(value, int | float | Fraction | np.number) and not isinstance(value, bool):
            number = value.item() if isinstance(value, np.number) else value
            if 0 <= number < math.inf:
                return Fraction(number)
        raise UsageError(f"The stability map of {self.name} gives {value!r} at {steps}; it must give a number ≥ 0.")


def _refuse_form(subject: object, name: str) -> None:
    """Refuse what is no function of one dataset."""
    if isinstance(subject, Mechanism) or not callable(subject):
        raise UsageError(f"{name} is a {type(subject).__name__}; stability is about functions f(dataset).")
    try:
        parameters = list(inspect.signature(subject).parameters.values())
    except (TypeError, ValueError):
        return
    needed = [
        p.name for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if len(needed) > 1:
        raise UsageError(
            f"{name} takes {', '.join(needed)}; stability is about deterministic functions f(dataset). A mechanism "
            "f(dataset, rng) is audited with `dpaudit check`."
        )
    if inspect.iscoroutinefunction(subject) or not parameters:
        raise UsageError(f"{name} must be a function f(dataset) that returns its output.")


def _relation(
    request: StabilityRequest, stated: Transformed | None, container: Container | None
) -> tuple[Relation, bool]:
    relation = stated.relation if stated is not None else REPLACE_ONE
    any_order = request.any_order or (stated is not None and request.relation is None and stated.any_order)
    if request.relation is not None:
        relation = relation_named(request.relation)
    if isinstance(relation, Users):
        relation = relation.located(None if container is None else container.fields)
    return (unordered(relation) if any_order else relation), any_order


def _claim(request: StabilityRequest, stated: Transformed | None, name: str) -> tuple[Callable[[int], Fraction], str]:
    """The claim, and its sentence."""
    if request.at_most is not None and request.map is not None:
        raise UsageError("Give {} or a map, not both.", AT_MOST)
    if request.at_most is not None:
        c = rational(request.at_most)
        shown = request.at_most if "/" in request.at_most or "." in request.at_most else str(c)
        return _Steps(name, lambda steps: c * steps), f"{name} is {shown}-stable"
    if request.map is not None:
        steps = _Steps(name, request.map)
        return steps, f"{name} has the stability map 1 → {_shown(steps(1))}"
    if stated is None:
        raise UsageError(
            "What does {} claim? Give {} 2 if outputs are at most 2 apart on neighbouring datasets.", name, AT_MOST
        )
    if request.relation is not None:
        raise UsageError(
            "The map of {} is about {}; give {} with {}.", name, stated.relation.name, AT_MOST, RELATION
        )
    steps = _Steps(name, stated.map)
    return steps, f"{name} has the stability map 1 → {_shown(steps(1))}"


def _shown(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else repr(float(value))


def _records(request: StabilityRequest, description: Description | None, name: str) -> Records | None:
    if request.table is not None:
        return observed_records(request.table, request.container)
    if description is not None:
        return description.records
    if request.pair is None:
        raise UsageError(
            "Which datasets should {} be tested on? Give {} 'integers(0, 100)' to let dpaudit search for pairs, or {} "
            "'[0, 1, 1]' '[0, 1, 0]'.",
            name, DATA, PAIR,
        )
    return None


def _sizes(
    request: StabilityRequest, stated: Transformed | None, relation: Relation
) -> tuple[int, tuple[int, int] | None]:
    known = request.size if stated is None or stated.size is None else stated.size
    if request.table is not None:
        return len(request.table), None
    if known is None:
        return max(DEFAULT_SIZE, relation.size), None
    room = {"add-remove-one": relation.size, "users": known}.get(relation.kind, 0)
    return known, (max(known - room, 0), known + room)


def _replay(request: StabilityRequest, name: str, source: str) -> str:
    image = {"request": request.image(), "name": name, "source": source, "format": "1.0"}
    return hashlib.sha256(json.dumps(image, sort_keys=True).encode()).hexdigest()[:12]


def _named(target: str | Callable[..., object]) -> str:
    return target if isinstance(target, str) else name_of(target)


_READ: dict[str, Callable[[Any], object]] = {
    "pair": lambda pair: tuple(map(dataset_from_json, pair)),
    "files": tuple,
    "container": container_from_json,
    "table": lambda table: tuple(dataset_from_json(table)),
}
