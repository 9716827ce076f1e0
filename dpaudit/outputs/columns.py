"""Features for learners: encoders turn outputs into rows of numbers, axes turn rows into one score.

Outcomes come in two forms: an array of reals, shape (r, *d), or a sequence of any outcomes. An output that an encoder
cannot read (another shape, not a number) has NaN in all its columns, and a score of NaN lies in no interval.
Everything here pickles and is a function of its input alone, because an event must count the same in every process.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from ipaddress import IPv4Address, IPv6Address
from pathlib import PurePath
from typing import Any, ClassVar, Protocol
from uuid import UUID

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from dpaudit.outputs.canonical import KEYED, Outcome, Raised, Structure, real_shape, shown
from dpaudit.outputs.parts import has_names, interval, layout, taken_apart
from dpaudit.stats.arrays import BoolArray, FloatArray, IntArray

Floats = FloatArray
Values = Floats | Sequence[Outcome]
"""Real outputs, shape (r, *d), or r outcomes of any kind. The encoding of an outcome must not depend on this form, nor
on the other outcomes, because an event must not either."""

Rows = IntArray | slice
"""Indices of some encoded rows, shape (k,), or all of them."""
EVERY = slice(None)

MOST_COORDINATES = 256
"""Up to this many coordinates of a vector all get columns: a regression on thousands takes minutes and gigabytes."""
KEPT_COORDINATES = 32
"""Coordinates of a longer vector that get columns; its totals use all coordinates."""
READ_BITS = 36
"""Bits to which sums and differences are rounded: finer differences are rounding errors of doubles. Those depend on the
low-order bits of the summands, which leak with textbook noise (see `bits`)."""
_BETWEEN = 0.381966
"""Offset of the rounding thresholds, in steps: whole and simple numbers are far from them."""
SHARP = 4.0
"""Slope of the squashed columns: close to a sign, which is the log-likelihood ratio of a small Laplace shift."""


class Encoder(ABC):
    """Encodes outputs as rows of numbers."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """A description of each column, for sentences: "output[3]"."""

    @abstractmethod
    def encode(self, values: Values) -> Floats:
        """Shape (r, columns)."""

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """Named groups of columns from which to learn linear scores."""
        return {"features": tuple(range(len(self.names)))}

    @property
    def single(self) -> tuple[int, ...]:
        """Columns for which to try thresholds."""
        return tuple(range(len(self.names)))

    @property
    def totals(self) -> tuple[int, ...]:
        """The few single columns that describe the whole output."""
        return ()

    @property
    def distinct(self) -> tuple[int, ...]:
        """Columns that are not monotone functions of another one, which trees could not tell from it."""
        return tuple(range(len(self.names)))

    readable: ClassVar[bool] = False
    """Whether a threshold on one column is preferred to a learned score, or to a list of outputs, of equal evidence."""

    def sentence(self, column: int, low: float, high: float) -> str:
        """What it means that a column is in (low, high]: "output[3] > 1.5"."""
        return interval(self.names[column], low, high)


@dataclass(frozen=True)
class Numbers(Encoder):
    """The output itself, if it is a number or a vector of one number."""

    @property
    def names(self) -> tuple[str, ...]:
        return ("output",)

    def encode(self, values: Values) -> Floats:
        return _rows(values, 1)


@dataclass(frozen=True)
class Density(Encoder):
    """The log-likelihood ratio supplied by the mechanism; infinities become huge numbers."""

    log_ratio: Callable[[Floats], Floats]

    @property
    def names(self) -> tuple[str, ...]:
        return ("log-likelihood ratio",)

    def encode(self, values: Values) -> Floats:
        ratios = np.full((len(values), 1), np.nan)
        for at, rows in _arrays(values):
            if len(at):
                ratios[at, 0] = np.asarray(self.log_ratio(rows), dtype=np.float64)
        finite: Floats = np.nan_to_num(ratios, nan=np.nan, posinf=1e300, neginf=-1e300)
        return finite


@dataclass(frozen=True)
class Vectors(Encoder):
    """Vectors of d reals: coordinates, differences of adjacent ones (the first against 0), order and totals.

    Args:
        middles: midpoints of the two datasets' medians, for the coordinates and then the differences, shape (2d,).
        scales: their mean absolute deviations, shape (2d,).
        length: the length of the vectors.
        kept: the d coordinates that get columns, for vectors longer than `MOST_COORDINATES`; () for all.
    """

    middles: tuple[float, ...]
    scales: tuple[float, ...]
    length: int
    kept: tuple[int, ...] = ()

    @classmethod
    def of(cls, left: Floats, right: Floats) -> Vectors:
        """An encoder centred between the medians of both datasets; arrays of shape (r, length)."""
        length, kept = left.shape[1], _most_different(left, right)
        if kept:
            left, right = left[:, kept], right[:, kept]
        a, b = (np.hstack([rows, steps(rows)]) for rows in (left, right))
        ends = [np.median(rows, axis=0) for rows in (a, b) if len(rows)]
        middle = np.mean(ends, axis=0)
        scale = np.abs(np.vstack([a, b]) - middle).mean(axis=0)
        scale[~(scale > 0)] = 1.0
        return cls(tuple(middle.tolist()), tuple(scale.tolist()), length, kept)

    @property
    def size(self) -> int:
        """d."""
        return len(self.middles) // 2

    @property
    def names(self) -> tuple[str, ...]:
        d, at = self.size, self.kept or range(self.size)
        base = [f"output[{i}]" for i in at]
        base += [f"output[{at[i]}] − output[{at[i - 1]}]" if i else f"output[{at[0]}] − 0" for i in range(d)]
        names = [*base, *(f"squashed {b}" for b in base), *(f"|{b} − {m:.3g}|" for b, m in
                                                          zip(base, self.middles, strict=True))]
        names += [f"rank {i} of the sorted output" for i in range(d)]
        return (*names, "sum", "largest step", "largest − smallest", "place of the largest", "place of the smallest",
                "sum of squashed coordinates", "sum of squashed differences", "sum of squares")

    def sentence(self, column: int, low: float, high: float) -> str:
        # the first difference is the coordinate itself
        return super().sentence(0 if column == self.size else column, low, high)

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        d = self.size
        place = {name: tuple(range(i * d, (i + 1) * d)) for i, name in enumerate(
            ("coordinates", "differences", "squashed coordinates", "squashed differences", "distances of coordinates",
             "distances of differences", "sorted coordinates"))}
        place["features"] = tuple(range(len(self.names)))
        return place

    @property
    def single(self) -> tuple[int, ...]:
        d = self.size
        extremes = (6 * d, 7 * d - 1)
        return (*range(2 * d), *extremes, *range(7 * d, 7 * d + 8))

    @property
    def totals(self) -> tuple[int, ...]:
        return tuple(range(7 * self.size, 7 * self.size + 8))

    @property
    def distinct(self) -> tuple[int, ...]:
        # the first difference is the first coordinate; squashed columns are monotone
        d = self.size
        return (*range(d), *range(d + 1, 2 * d), *range(4 * d, 7 * d + 8))

    def encode(self, values: Values) -> Floats:
        whole = _rows(values, self.length)
        rows = whole[:, self.kept] if self.kept else whole
        base = np.hstack([rows, steps(rows)])
        z = np.clip((base - np.asarray(self.middles)) / np.asarray(self.scales), -8, 8)
        squashed = np.tanh(SHARP * z)
        d = self.size
        ends = np.column_stack([whole.min(axis=1), whole.max(axis=1)])
        # coordinates that are equal up to rounding count as equally large
        level = coarse(whole, np.abs(ends).max(axis=1, keepdims=True))
        level = np.where(_whole(whole).all(axis=1, keepdims=True), whole, level)
        with np.errstate(invalid="ignore", over="ignore"):
            totals = [
                sums(whole), np.abs(steps(whole)[:, 1:]).max(axis=1, initial=0.0), steps(ends)[:, 1],
                level.argmax(axis=1), level.argmin(axis=1), sums(squashed[:, :d]), sums(squashed[:, d:]),
                sums(np.square(z[:, :d])),
            ]
        # differences keep their unit for readability; learners do their own scaling
        columns = np.hstack([base, squashed, np.abs(z), np.sort(rows, axis=1), np.column_stack(totals)])
        columns[np.isnan(rows[:, 0])] = np.nan
        return columns


class Axis(ABC):
    """One score for every output; NaN if it has none."""

    encoder: Encoder

    @abstractmethod
    def of(self, columns: Floats, rows: Rows = EVERY) -> Floats:
        """Scores, shape (r,), of all or some encoded rows; the score of a row depends on no other row."""

    def scores(self, values: Values) -> Floats:
        """Scores of outputs, shape (r,)."""
        return self.of(self.encoder.encode(values)) if len(values) else np.empty(0)

    @property
    @abstractmethod
    def name(self) -> str:
        """A name for the score, as the subject of a sentence."""

    @property
    @abstractmethod
    def spec(self) -> dict[str, object]:
        """JSON form."""

    def sentence(self, low: float, high: float) -> str:
        """What it means that the score is in (low, high]."""
        return interval(self.name, low, high)


@dataclass(frozen=True)
class Column(Axis):
    """One column of an encoder."""

    encoder: Encoder
    column: int = 0

    def of(self, columns: Floats, rows: Rows = EVERY) -> Floats:
        return columns[rows, self.column]

    @property
    def name(self) -> str:
        return self.encoder.names[self.column]

    @property
    def spec(self) -> dict[str, object]:
        return {"family": "column", "features": [self.name]}

    def sentence(self, low: float, high: float) -> str:
        return self.encoder.sentence(self.column, low, high)


@dataclass(frozen=True)
class Linear(Axis):
    """The log-odds of a logistic regression.

    Args:
        columns: indices of the encoder's columns, shape (k,).
        weights: shape (k,).
        bias: added to weights · columns.
    """

    encoder: Encoder
    columns: tuple[int, ...]
    weights: tuple[float, ...]
    bias: float

    def of(self, columns: Floats, rows: Rows = EVERY) -> Floats:
        # element by element: a matrix product may round differently for another number of rows
        length = len(columns) if isinstance(rows, slice) else len(rows)
        scores, size = np.full(length, self.bias), np.full(length, abs(self.bias))
        with np.errstate(invalid="ignore", over="ignore"):
            for column, weight in zip(self.columns, self.weights, strict=True):
                term = weight * columns[rows, column]
                scores += term
                size += np.abs(term)
        return coarse(scores, size)

    @property
    def name(self) -> str:
        largest = np.argsort(-np.abs(self.weights), kind="stable")[:3].tolist()
        names = self.encoder.names
        shown = ", ".join(f"{self.weights[i]:.3g} · {names[self.columns[i]]}" for i in largest if self.weights[i])
        number = sum(1 for w in self.weights if w)
        text = f"score of a logistic regression on {number} feature{'s' * (number != 1)}"
        return f"{text} (largest weights {shown})" if shown else text

    @property
    def spec(self) -> dict[str, object]:
        names = self.encoder.names
        return {
            "family": "linear", "features": [names[i] for i in self.columns], "weights": list(self.weights),
            "bias": self.bias,
        }


class Classifier(Protocol):
    """A fitted classifier of scikit-learn."""

    def decision_function(self, X: Floats) -> Floats:
        """Log-odds, shape (r,), of encoded rows."""


@dataclass(frozen=True)
class Boosted(Axis):
    """The mean log-odds of gradient-boosted trees.

    Args:
        columns: indices of the encoder's columns that they use, shape (k,).
        models: fitted classifiers with `decision_function`.
        digest: SHA-256 of their scores on training rows.
    """

    encoder: Encoder
    columns: tuple[int, ...]
    models: tuple[Classifier, ...] = field(compare=False)
    digest: str = ""

    @classmethod
    def on(cls, encoder: Encoder, columns: tuple[int, ...], models: Sequence[Classifier], rows: Floats) -> Boosted:
        """An axis whose digest is that of the scores of the given rows."""
        made = cls(encoder, columns, tuple(models))
        scores = np.round(made.of(rows), 9) + 0.0
        return cls(encoder, columns, tuple(models), hashlib.sha256(scores.tobytes()).hexdigest())

    def of(self, columns: Floats, rows: Rows = EVERY) -> Floats:
        columns = columns[rows]
        if not len(columns):
            return np.empty(0)
        used = columns if len(self.columns) == columns.shape[1] else columns[:, self.columns]
        with one_thread():
            scores: Floats = np.mean([model.decision_function(used) for model in self.models], axis=0)
        unread = np.isnan(columns).all(axis=1)
        scores[unread] = np.nan
        return scores

    @property
    def name(self) -> str:
        return f"score of boosted trees on {len(self.columns)} features"

    @property
    def spec(self) -> dict[str, object]:
        return {"family": "boosting", "features": len(self.columns), "sha": self.digest}


@dataclass(frozen=True)
class Table(Axis):
    """A score for every value of one column, NaN for values that are not in the table."""

    encoder: Encoder
    column: int
    values: tuple[float, ...]
    """Ascending."""
    points: tuple[float, ...]

    def of(self, columns: Floats, rows: Rows = EVERY) -> Floats:
        known, points = np.asarray(self.values), np.asarray(self.points)
        keys = columns[rows, self.column]
        at = np.clip(np.searchsorted(known, keys), 0, len(known) - 1)
        return np.where(known[at] == keys, points[at], np.nan)

    @property
    def name(self) -> str:
        return f"log-likelihood ratio of the {self.encoder.names[self.column]}"

    @property
    def spec(self) -> dict[str, object]:
        text = json.dumps([self.values, self.points])
        return {
            "family": "table", "features": [self.encoder.names[self.column]],
            "sha": hashlib.sha256(text.encode()).hexdigest(),
        }


def one_thread() -> AbstractContextManager[object]:
    """A context in which numerical libraries use one thread.

    Sums round differently with other numbers of threads, and threads do not speed up small sums.
    """
    limited: AbstractContextManager[object] = _libraries("sklearn.ensemble" in sys.modules).limit(limits=1)
    return limited


@cache
def _libraries(with_trees: bool) -> ThreadpoolController:
    """The thread controller, cached because finding the libraries is slow; scikit-learn loads another one later."""
    return ThreadpoolController()


def has_parts(value: Outcome) -> bool:
    """Whether an outcome has parts that are useful as features: letters, members, fields."""
    return isinstance(value, str | bytes | PurePath) or _parted(value)


def flat(value: Outcome) -> tuple[Outcome, ...]:
    """The leaves of an outcome: of tuples, sets, dataclasses and structures at any depth; the letters of a string."""
    if isinstance(value, bytes):
        return tuple(value.decode("latin-1"))
    if isinstance(value, str | PurePath):
        return tuple(str(value))
    if not _parted(value):
        return (value,)
    leaves: list[Outcome] = []
    for part in _parts(value):
        if type(part) not in _ATOMS and _parted(part):
            leaves += flat(part)
        else:
            # an infinite number is a symbol, because sums and means cannot use it
            leaves.append(repr(part) if type(part) is float and math.isinf(part) else part)
    return tuple(leaves)


def placed(outcome: Hashable) -> Sequence[tuple[Hashable, Hashable]]:
    """The leaves of an outcome with their places: a dict that lacks a key has the same values at its other keys."""
    if not has_names(outcome):
        return list(enumerate(flat(outcome)))
    skeleton, parts = taken_apart(outcome)
    of = layout(outcome, skeleton)
    leaves: list[tuple[Hashable, Hashable]] = list(zip(of.places, parts, strict=True))
    if not of.texts:
        leaves += [("keys", key) for key in flat(skeleton) if key is not None and not isinstance(key, type)]
    return leaves


def _parted(value: Outcome) -> bool:
    """Whether an outcome has parts; an atom such as ⊥ has none."""
    return isinstance(value, tuple | frozenset) or (is_dataclass(value) and not isinstance(value, type | Raised))


_ATOMS = frozenset({float, int, str, bool, type(None)})
"""Types that have no parts; others take longer to decide."""


def _parts(value: Any) -> tuple[Outcome, ...]:
    if isinstance(value, tuple):
        return value
    if isinstance(value, frozenset):
        return tuple(sorted(value, key=_rank))
    if isinstance(value, Structure):
        # keys distinguish dicts of the same kind; field names are the same within a kind
        keyed = value.kind in KEYED
        return tuple(leaf for key, part in value.parts for leaf in ((key, part) if keyed else (part,)))
    return tuple(getattr(value, part.name) for part in fields(value))


def _rank(member: Outcome) -> tuple[float, str]:
    """Sort key: numbers first, by size."""
    number = as_number(member)
    return (math.inf, shown(member)) if math.isnan(number) else (number, "")


def as_number(value: Outcome) -> float:
    """The value of an outcome as a finite float; NaN if it is not a number, or not finite as a float.

    True is 1, as in Python: equal values are the same outcome, and must be encoded equally. A date or time is its
    seconds.
    """
    try:
        number = float(value) if isinstance(value, int | float | Fraction | Decimal) else _seconds(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _seconds(value: Outcome) -> float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, datetime):
        begin = datetime(1970, 1, 1, tzinfo=None if value.utcoffset() is None else UTC)
        return (value - begin).total_seconds()
    if isinstance(value, date):
        return 86_400.0 * value.toordinal()
    if isinstance(value, time):
        return 3600.0 * value.hour + 60 * value.minute + value.second + value.microsecond / 1e6
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(value.astype(np.int64))
    if isinstance(value, UUID | IPv4Address | IPv6Address):
        return float(int(value))
    return math.nan


def _arrays(values: Values) -> list[tuple[IntArray, Floats]]:
    """The numbers, vectors and arrays among some outcomes as arrays, each with the indices of its rows."""
    if isinstance(values, np.ndarray):
        return [(np.arange(len(values)), values)]
    shapes: dict[tuple[int, ...], list[int]] = {}
    for i, value in enumerate(values):
        shape = () if not math.isnan(as_number(value)) else real_shape(value) or _vector_shape(value)
        if shape is not None:
            shapes.setdefault(shape, []).append(i)
    return [(np.array(at), _numbers([values[i] for i in at])) for at in shapes.values()]


def _numbers(values: list[Outcome]) -> Floats:
    """An array of numbers, or of vectors or arrays of equal shape."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError):  # dates among them
        return np.array([list(map(as_number, v)) if type(v) is tuple else as_number(v) for v in values])


def _vector_shape(value: Outcome) -> tuple[int, ...] | None:
    """The shape of a vector that contains whole numbers, which is not stored in an array."""
    if type(value) is not tuple or any(math.isnan(as_number(part)) for part in value):
        return None
    return (len(value),)


def _rows(values: Values, size: int) -> Floats:
    """Numbers, vectors and arrays of `size` numbers in total as rows; NaN for anything else."""
    encoded = np.full((len(values), size), np.nan)
    for at, rows in _arrays(values):
        flattened = rows.reshape(len(rows), -1)
        if flattened.shape[1] == size:
            encoded[at] = flattened
    return encoded


def _most_different(left: Floats, right: Floats) -> tuple[int, ...]:
    """Coordinates of long vectors whose means or spreads differ most between the datasets; () for short vectors."""
    if left.shape[1] <= MOST_COORDINATES:
        return ()
    score = np.zeros(left.shape[1])
    if min(len(left), len(right)) > 1:
        with np.errstate(all="ignore"):
            n = 1 / (1 / len(left) + 1 / len(right))
            a, b = left.std(axis=0), right.std(axis=0)
            shift = np.abs(left.mean(axis=0) - right.mean(axis=0)) / np.hypot(a, b)
            score = np.sqrt(n) * np.fmax(shift, np.abs(np.log(a / b)))
    score = np.nan_to_num(np.round(score, 6), nan=0.0, posinf=1e9)
    return tuple(sorted(np.argsort(-score, kind="stable")[:KEPT_COORDINATES].tolist()))


def coarse(values: Floats, size: Floats) -> Floats:
    """Numbers rounded to `READ_BITS` bits relative to their inputs; small whole numbers stay unchanged.

    Args:
        values: of any shape.
        size: the largest absolute number in each computation, ≥ 0; broadcasts with `values`.
    """
    with np.errstate(all="ignore"):
        step = np.ldexp(1.0, np.frexp(size)[1] - READ_BITS)
        rounded = np.floor(values / step + _BETWEEN) * step
    return np.where(np.isfinite(rounded), rounded, values)


def sums(rows: Floats) -> Floats:
    """Sums of rows from left to right: numpy sums a single row in a different order, with different rounding."""
    if not rows.shape[1]:
        return np.zeros(len(rows))
    total, size = (np.cumsum(each, axis=1)[:, -1] for each in (rows, np.abs(rows)))
    return np.where(_whole(rows).all(axis=1), total, coarse(total, size))


def steps(rows: Floats) -> Floats:
    """Differences of adjacent coordinates, the first against 0."""
    before = np.hstack([np.zeros((len(rows), 1)), rows[:, :-1]])
    whole = _whole(rows)
    with np.errstate(invalid="ignore", over="ignore"):
        differences = coarse(rows - before, np.maximum(np.abs(rows), np.abs(before)))
        exact = whole & np.hstack([np.ones((len(rows), 1), dtype=bool), whole[:, :-1]])
        exact[:, 0] = True
        return np.where(exact, rows - before, differences)


def _whole(values: Floats) -> BoolArray:
    """A mask of the whole numbers that doubles can add exactly."""
    mask: BoolArray = np.equal(values, np.rint(values)) & (np.abs(values) < 2.0**53)
    return mask
