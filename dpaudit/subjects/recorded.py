"""Recorded outputs as a target: values that another system wrote, each of which an audit uses once.

A function can be called again; recorded values cannot. So the target hands out every value exactly once, in an order
that the seed fixes: learning, sequential test and certification never share one. Fresh independent samples are what
the statistics need, and independent recorded values that nobody has looked at are fresh, in every order that does not
depend on the values.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from dpaudit.errors import DatasetError, NoMoreOutputsError
from dpaudit.interpret import Outputs, Tally
from dpaudit.language import Dataset
from dpaudit.stats.arrays import IntArray

Values: TypeAlias = NDArray[Any] | list[Any]
"""Recorded outputs, one each: an array along its first axis, or a list."""
D, D_PRIME = ("D",), ("D′",)
"""Stand for the two datasets, of which nothing is known but outputs."""
RECORDED = "recorded outputs"
"""What is audited where it has no other name."""
LEAST = 10
"""Outputs on each dataset; with fewer there is nothing to learn an event from."""
_ORDER, _CHOICE = 0x0DE5, 0xB10C
"""Random streams of the orders, and of the choice of one value per block."""
_BOTH = ("D", "D′")
_PEEKED = 100
"""Outputs of a stream that are read before the first is used: they show whether its numbers are floats."""
_MANTISSA = 1 << 53
_SCALARS = (np.bool_, np.integer, np.floating)
MOST_FOLLOWED = 10**9
"""Outputs of each dataset of followed files, where nobody gave a number: more than there will be."""
KEPT = 200_000
"""Outputs of each dataset of a stream that are kept, to be examined at the end."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """Outputs of one mechanism on two datasets, as somebody recorded them.

    Args:
        left, right: the outputs on D and on D′, at least `LEAST` of each; made by `recorded_outputs`.
        name: of what was recorded, in messages and reports.
        labels: what the outputs on D and on D′ came from: names of files, for instance.
        digests: SHA-256 of the two, or of every file, in hexadecimal: what a replay is held against.
        sources: the name of what each digest is of.
        blocks: numbers of blocks, one for each output on D and on D′; values of one block may depend on each other, and
            a number that both datasets have is one block. None where every value is a block of its own.
        shuffled: whether the values are used in an order drawn from the seed; otherwise as recorded.
        words: of the command line, where it named files: from these the values can be read again.
    """

    left: Values
    right: Values
    name: str = RECORDED
    labels: tuple[str, str] = _BOTH
    digests: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    blocks: tuple[IntArray, IntArray] | None = None
    shuffled: bool = True
    words: RecordedFiles | None = None
    stream: Stream | None = None
    """Outputs that arrive while they are audited; `left` and `right` are then the first of those that have arrived."""

    def __post_init__(self) -> None:
        if self.stream is not None:
            return
        for label, values in zip(self.labels, self.both, strict=True):
            if len(values) < LEAST:
                number = f"{len(values)} output{'s' * (len(values) != 1)}"
                raise DatasetError(
                    f"There {'is' if len(values) == 1 else 'are'} {number} of {label}; an audit needs at least {LEAST} "
                    "independent outputs on each dataset."
                )
        for label, values, blocks in zip(self.labels, self.both, self.blocks or (), strict=False):
            if len(values) != len(blocks):
                raise DatasetError(
                    f"There are {len(values):,} outputs of {label} and {len(blocks):,} labels of blocks; give one "
                    "label for each output."
                )

    @property
    def both(self) -> tuple[Values, Values]:
        """The outputs on D, and those on D′; of a stream the first of those that have arrived."""
        if self.stream is not None:
            return _stacked(self.stream.first[0]), _stacked(self.stream.first[1])
        return self.left, self.right

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of outputs on D and on D′; of a stream, of those that have arrived."""
        if self.stream is not None:
            return self.stream.arrived[0], self.stream.arrived[1]
        return len(self.left), len(self.right)

    @property
    def shown(self) -> str:
        """What was recorded, with hashes, for reports."""
        if isinstance(self.stream, Followed):
            return f"outputs of {len(self.stream.read):,} files, in the order in which they came"
        if self.stream is not None:
            return "a stream of outputs"
        sizes = [f"{len(values):,} outputs of {label}" for label, values in zip(self.labels, self.both, strict=True)]
        return f"{' and '.join(sizes)} (SHA-256 {', '.join(one[:16] for one in self.digests)})"

    @property
    def recordings(self) -> list[str]:
        """What an e-value of these outputs rests on, for later audits: each counts once."""
        return [f"{source} {digest[:16]}" for source, digest in self.files]

    @property
    def files(self) -> list[tuple[str, str]]:
        """Sources and digests; where files are followed, of those that have been read."""
        if isinstance(self.stream, Followed):
            return list(self.stream.read)
        return list(zip(self.sources, self.digests, strict=True))

    @property
    def number(self) -> int:
        """Stands for these outputs where functions have the seed of their samples."""
        return int(hashlib.sha256("".join(digest for _, digest in self.files).encode()).hexdigest()[:12], 16)

    def image(self) -> dict[str, object]:
        """JSON of all that a result depends on."""
        blocks = None if self.blocks is None else list(map(_digest, self.blocks))
        return {"name": self.name, "sha256": list(self.digests), "blocks": blocks, "shuffled": self.shuffled}

    def orders(self, seed: int) -> tuple[IntArray, IntArray]:
        """The indices of the outputs on D, and on D′, in the order in which an audit uses them, each at most once.

        Where blocks are declared, one value of each is chosen, whatever the dataset, by a draw that does not depend on
        the values: values of different blocks are independent, so the chosen ones are.

        Raises:
            DatasetError: the blocks leave too few values of one dataset.
        """
        rng = default_rng([seed, _ORDER])
        sizes = len(self.left), len(self.right)
        if self.blocks is None:
            chosen = [np.arange(size) for size in sizes]
        else:
            every = np.concatenate(self.blocks)
            mixed = default_rng([seed, _CHOICE]).permutation(len(every))
            _, first = np.unique(every[mixed], return_index=True)
            places = np.sort(mixed[first])
            chosen = [places[places < sizes[0]], places[places >= sizes[0]] - sizes[0]]
            for label, at in zip(self.labels, chosen, strict=True):
                if len(at) < LEAST:
                    raise DatasetError(
                        f"One value per block leaves {len(at)} outputs of {label}; an audit needs at least {LEAST} "
                        "independent outputs on each dataset."
                    )
        left, right = (rng.permutation(at) if self.shuffled else at for at in chosen)
        return left, right


@dataclass(frozen=True)
class RecordedFiles:
    """The words of a command line that named recorded outputs.

    Args:
        files: one or two paths.
        column: of a table or of objects, which part is the output; None for all of it.
        blocks: which part labels blocks; None for none.
        paired: whether the i-th outputs of both form a block.
        ordered: whether they are used in the order of the files.
        name: of what was recorded; None for `RECORDED`.
        follow: seconds without a new file after which folders are no longer followed; None where they are read once.
    """

    files: tuple[str, ...]
    column: str | None = None
    blocks: str | None = None
    paired: bool = False
    ordered: bool = False
    name: str | None = None
    follow: float | None = None


class Stream:
    """Outputs that arrive one after another, read when an audit needs them and not before.

    Args:
        lines: of every output, whether it is on D (0) or on D′ (1), and the output.
    """

    def __init__(self, lines: Iterator[tuple[int, Any]]) -> None:
        self._lines = lines
        self._waiting: tuple[deque[Any], deque[Any]] = (deque(), deque())
        self.arrived = [0, 0]
        """Outputs on D, and on D′, that have been read."""
        self.first: tuple[list[Any], list[Any]] = ([], [])
        """The first of them, as they arrived: what the data say of their own independence."""
        for _ in zip(range(_PEEKED), iter(self._read, False), strict=False):
            pass
        # JSON of some languages writes 3.0 as 3
        self._floats = any(type(value) is float for queue in self._waiting for value in queue)

    def take(self, which: int, size: int) -> list[Any]:
        """The next outputs on a dataset.

        Raises:
            NoMoreOutputsError: the stream ended before.
        """
        queue = self._waiting[which]
        while len(queue) < size:
            if not self._read():
                raise NoMoreOutputsError(f"The stream ended after {self.arrived[which]:,} outputs of {_BOTH[which]}.")
        taken = [queue.popleft() for _ in range(size)]
        return [float(value) if type(value) is int else value for value in taken] if self._floats else taken

    def _read(self) -> bool:
        """Read one output; whether there was one."""
        for which, value in self._lines:
            self._waiting[which].append(value)
            self._arrive(which, [value])
            return True
        return False

    def _arrive(self, which: int, values: list[Any]) -> None:
        self.arrived[which] += len(values)
        self.first[which].extend(values[: max(0, KEPT - len(self.first[which]))])


class Arrival(NamedTuple):
    """What one file brings."""

    left: object
    right: object
    name: str
    digest: str


class Followed(Stream):
    """Outputs of files that come one after another.

    What is tested together depends on the files and their order alone, not on when they came, so that an audit can be
    repeated.

    Args:
        arrivals: the files; None whenever there is none yet.
        idle: seconds without a new file that end it.
        shuffled: whether the outputs of a file are used in an order drawn from the seed.
    """

    def __init__(self, arrivals: Iterator[Arrival | None], *, idle: float, shuffled: bool = True) -> None:
        super().__init__(iter(()))
        self._arrivals = arrivals
        self._shuffled = shuffled
        self.idle = idle
        self.read: list[tuple[str, str]] = []
        """Names and SHA-256 of the files that have been read, in their order."""
        self._form: tuple[Values, str] | None = None

    @property
    def ready(self) -> int:
        """Outputs of each dataset that wait."""
        return min(map(len, self._waiting))

    def coming(self, seed: int) -> Iterator[bool]:
        """Read the files; whether there was one, after each.

        Raises:
            DatasetError: a file cannot be used.
        """
        for arrival in self._arrivals:
            if arrival is None:
                yield False
                continue
            rng = default_rng([seed, _ORDER, len(self.read)])
            self.read.append((arrival.name, arrival.digest))
            for which, given in enumerate((arrival.left, arrival.right)):
                self._add(which, _values(given, arrival.name), arrival.name, rng)
            yield True

    def _add(self, which: int, values: Values, name: str, rng: Generator) -> None:
        if not len(values):
            return
        if self._form is None:
            self._form = values[:1], name
        _refuse_unlike((self._form[0], values), (self._form[1], name))
        rows = _uniform(values)
        self._arrive(which, rows)
        self._waiting[which].extend([rows[at] for at in rng.permutation(len(rows))] if self._shuffled else rows)


def _uniform(values: Values) -> list[Any]:
    """Outputs one by one, with numbers as floats, whatever file they come from."""
    if isinstance(values, np.ndarray):
        numbers = values.astype(np.float64) if values.dtype.kind in "biuf" and _exact(values) else values
        return list(numbers) if numbers.ndim > 1 else list(numbers.tolist())
    return [float(one) if type(one) in (bool, int) and abs(one) <= _MANTISSA else one for one in values]


@dataclass(frozen=True)
class RecordedTarget:
    """Recorded outputs under audit: of the mechanism nothing else is known.

    One run of a target with n outputs on D and m on D′ stands for n/min(n, m) values of D and m/min(n, m) of D′, so
    that every value is used, and used once.

    Args:
        recorded: the outputs.
        seed: fixes the order.
        limit: most outputs of each dataset; None for all.
    """

    recorded: Recorded
    seed: int
    limit: int | None = None
    _orders: list[IntArray] = field(init=False, repr=False, compare=False)
    _used: list[int] = field(init=False, repr=False, compare=False)
    """Runs that have been handed out, on D and on D′."""
    card: ClassVar[None] = None
    portable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        live = self.recorded.stream is not None
        orders = [] if live else [order[: self.limit] for order in self.recorded.orders(self.seed)]
        object.__setattr__(self, "_orders", orders)
        object.__setattr__(self, "_used", [0, 0])

    @property
    def name(self) -> str:
        """As in reports."""
        return self.recorded.name

    @property
    def source(self) -> str:
        """Where the outputs come from."""
        return " and ".join(self.recorded.labels)

    @property
    def subject(self) -> Recorded:
        """The outputs."""
        return self.recorded

    @property
    def shown(self) -> str:
        """What was recorded, for reports."""
        return self.recorded.shown

    @property
    def total(self) -> int:
        """All runs that it has: as many as there are values of the dataset with fewer."""
        if self.recorded.stream is not None:
            return MOST_FOLLOWED if self.limit is None else self.limit
        return min(map(len, self._orders))

    def runs(self, dataset: Dataset, size: int, seed: SeedSequence, first: int = 0) -> Outputs:
        """The values of the next `size` runs on a dataset, which nothing has seen.

        Raises:
            DatasetError: there are no more.
            NoMoreOutputsError: the stream ended.
            OutputError: a value cannot be counted.
        """
        which = 0 if tuple(dataset) == D else 1
        tally = Tally()
        if self.recorded.stream is not None:
            taken = self.recorded.stream.take(which, size)
            tally.add_many(_stacked(taken))
            return tally.outputs()
        begin, end = self._used[which], self._used[which] + size
        if end > self.total:
            raise DatasetError(f"There are no more than {self.total:,} outputs of {self.recorded.labels[which]}.")
        self._used[which] = end
        order, values = self._orders[which], self.recorded.both[which]
        places = order[len(order) * begin // self.total : len(order) * end // self.total]
        tally.add_many(values[places] if isinstance(values, np.ndarray) else [values[at] for at in places.tolist()])
        return tally.outputs()


def recorded_outputs(
    left: object,
    right: object,
    *,
    name: str = RECORDED,
    labels: tuple[str, str] = _BOTH,
    digests: tuple[str, ...] = (),
    sources: tuple[str, ...] = (),
    paired: bool = False,
    blocks: tuple[Iterable[Hashable], Iterable[Hashable]] | None = None,
    shuffled: bool = True,
    words: RecordedFiles | None = None,
) -> Recorded:
    """Outputs as they are given: arrays, tensors, frames, series, or iterables of any outputs.

    Numbers that one dataset has as integers and the other as floats are floats in both: how they were stored says
    nothing about the mechanism.

    Args:
        left, right: outputs on D and on D′; rows of arrays with more than one axis are vectors.
        paired: whether the i-th outputs on both depend on each other.
        name, labels, digests, sources, blocks, shuffled, words: as of `Recorded`.

    Raises:
        DatasetError: they are no outputs, too few, or paired and of different numbers.
    """
    both = _alike(*(_values(given, label) for given, label in zip((left, right), labels, strict=True)))
    if any(hasattr(given, "__array__") for given in (left, right)):
        _refuse_unlike(both, labels)
    if blocks is not None and not (
        isinstance(blocks, Sequence) and len(blocks) == 2 and all(isinstance(one, Iterable) for one in blocks)
    ):
        raise DatasetError("Give the labels of blocks as a pair: those of the outputs on D, and those on D′.")
    if paired:
        if blocks is not None:
            raise DatasetError("Outputs are paired or in blocks, not both: a block may hold outputs on both datasets.")
        if len(both[0]) != len(both[1]):
            raise DatasetError(
                f"Paired outputs come in equal numbers, not {len(both[0]):,} of {labels[0]} and {len(both[1]):,} of "
                f"{labels[1]}."
            )
        blocks = np.arange(len(both[0])), np.arange(len(both[1]))
    return Recorded(
        *both, name, labels, digests or tuple(map(_digest, both)), sources or labels,
        None if blocks is None else _numbered(*blocks), shuffled, words,
    )


def _numbered(left: Iterable[Hashable], right: Iterable[Hashable]) -> tuple[IntArray, IntArray]:
    """Labels of blocks as whole numbers, equal ones as equal numbers."""
    first, second = (one if isinstance(one, np.ndarray) else np.asarray(list(map(str, one))) for one in (left, right))
    if first.dtype.kind not in "iu" or second.dtype.kind not in "iu":
        first, second = first.astype(str), second.astype(str)
    _, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
    return numbers[: len(first)], numbers[len(first) :]


def _values(given: Any, label: str) -> Values:
    if isinstance(given, str | bytes | dict) or (not hasattr(given, "__array__") and not isinstance(given, Iterable)):
        advice = ": read the file first, with numpy.load for instance" if isinstance(given, str) else ""
        raise DatasetError(
            f"The outputs of {label} must be an array, a series, a frame or a list with one output each, not "
            f"{type(given).__name__}{advice}."
        )
    if hasattr(given, "to_numpy"):
        given = of_frame(given)
    elif isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        # what is masked is missing
        given = list(given.tolist())
    elif hasattr(given, "__array__"):
        given = np.asarray(given)
    if not isinstance(given, np.ndarray):
        return as_array(list(given))
    if given.ndim == 0:
        raise DatasetError(f"The outputs of {label} are one number; give an array with one output each.")
    if given.dtype.names:
        return [dict(zip(given.dtype.names, row, strict=True)) for row in given.tolist()]
    # objects, dates and complex numbers one by one, as a function would return them
    return given if given.dtype.kind in "biufUS" else list(given.tolist())


def of_frame(given: Any) -> Any:
    """The rows of a frame or series of pandas or polars: one output each; dicts by column if not all are numbers."""
    rows = given.to_numpy()
    if rows.ndim != 2 or not rows.dtype.hasobject:
        return rows[:, 0] if rows.ndim == 2 and rows.shape[1] == 1 else rows
    return given.to_dicts() if hasattr(given, "to_dicts") else given.to_dict("records")


def _stacked(values: list[Any]) -> Values:
    """Outputs of a stream as an array, if all are doubles or all are arrays.

    Whether 3 is a float must not depend on the others in its batch, as what they are depends on the dataset.
    """
    kinds = set(map(type, values))
    return np.stack(values) if kinds == {np.ndarray} else np.array(values) if kinds == {float} else values


def as_array(values: list[Any]) -> Values:
    """Numbers as an array, which is counted faster; numpy's scalars are numbers like others."""
    kinds = set(map(type, values))
    if any(issubclass(kind, _SCALARS) for kind in kinds):
        if len(kinds) == 1:
            return np.array(values)
        values = [one.item() if isinstance(one, _SCALARS) else one for one in values]
        kinds = set(map(type, values))
    if kinds == {float} or (kinds == {int, float} and all(abs(one) <= _MANTISSA for one in values if type(one) is int)):
        return np.array(values, dtype=np.float64)
    return values


def _refuse_unlike(both: tuple[Values, Values], labels: tuple[str, str]) -> None:
    """Refuse an array or table beside outputs of another form: how they were stored would distinguish D from D′."""
    forms = [_form(values) for values in both]
    if None not in forms and forms[0] != forms[1]:
        raise DatasetError(
            f"The outputs of {labels[0]} are {forms[0]} and those of {labels[1]} are {forms[1]}. Record both in the "
            "same form; if the mechanism itself gives these forms, they distinguish D from D′ without any audit."
        )


def _form(values: Values) -> str | None:
    """What all outputs are; None where they differ, or where that is their own business."""
    if isinstance(values, np.ndarray):
        kind = "text" if values.dtype.kind in "US" else "numbers"
        return kind if values.ndim == 1 else f"arrays of {kind} of shape {values.shape[1:]}"
    kinds = set(map(type, values))
    if kinds <= {bool, int, float}:
        return "numbers"
    if kinds <= {str, bytes}:
        return "text"
    return f"of the type {kinds.pop().__name__}" if len(kinds) == 1 and not kinds & {tuple, list, type(None)} else None


def _alike(left: Values, right: Values) -> tuple[Values, Values]:
    """Numbers as both datasets can have them: integers as floats, and floats with as many digits."""
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        if left.dtype.kind == right.dtype.kind == "f" and left.dtype != right.dtype:
            narrow = min(left.dtype, right.dtype, key=lambda one: one.itemsize)
            with np.errstate(over="ignore"):
                return left.astype(narrow), right.astype(narrow)
        letters = {left.dtype.kind, right.dtype.kind}
        if "b" in letters and len(letters) == 2 and letters <= set("biuf"):
            kind = np.result_type(left, right)
            return left.astype(kind), right.astype(kind)
    kinds = [one.dtype.kind if isinstance(one, np.ndarray) else _kind(one) for one in (left, right)]
    if sorted(kinds) in (["f", "i"], ["f", "u"]):
        first, second = (
            one if kind == "f" or not _exact(one) else np.asarray(one, dtype=np.float64)
            for one, kind in zip((left, right), kinds, strict=True)
        )
        return first, second
    return left, right


def _kind(values: list[Any]) -> str:
    return "i" if set(map(type, values)) == {int} else ""


def _exact(values: Values) -> bool:
    """Whether integers are exact as doubles."""
    if isinstance(values, np.ndarray):
        return not values.size or (int(values.max()) <= _MANTISSA and int(values.min()) >= -_MANTISSA)
    return all(abs(value) <= _MANTISSA for value in values)


def _digest(values: Values) -> str:
    """SHA-256 of outputs in memory."""
    digest = hashlib.sha256()
    if isinstance(values, np.ndarray):
        digest.update(f"{values.dtype.str}{values.shape}".encode())
        for begin in range(0, len(values), 1 << 16):
            digest.update(np.ascontiguousarray(values[begin : begin + (1 << 16)]).tobytes())
    else:
        for value in values:
            digest.update(f"{value!r}\n".encode(errors="surrogatepass"))
    return digest.hexdigest()
