"""Sample a mechanism: runs that have drawn the same values so far share one execution."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from dpaudit.errors import MechanismError
from dpaudit.interpret.known_paths import Known
from dpaudit.interpret.walk import (
    Last,
    Path,
    Run,
    Step,
    Watch,
    blaming,
    continued,
    ended_otherwise,
    nondeterministic,
)
from dpaudit.language import Applied, Distribution, Finite, Mechanism, canonical
from dpaudit.language.checks import whole
from dpaudit.language.distributions import Then
from dpaudit.language.distributions.base import Values
from dpaudit.language.relation import plain_records
from dpaudit.outputs.canonical import (
    Outcome,
    Output,
    Raised,
    Structure,
    equal_and_different,
    kinds_of,
    real_shape,
    shown,
)
from dpaudit.outputs.form import PLAIN, Forms
from dpaudit.stats.arrays import FloatArray

Reals = FloatArray


@dataclass(frozen=True)
class Outputs:
    """The canonical outcomes of many independent runs; their order carries no information.

    The container of an outcome only affects speed; an event treats it equally in all of them.

    Args:
        counts: outcome → count, for outcomes without floats, for infinite numbers, and for tuples with floats that
            several runs share.
        blocks: finite real numbers, vectors and arrays of them: for every shape d a block of shape (r, *d).
        others: other outcomes that contain floats (⊥ next to floats, dicts), one by one.
        first: the first few of them again, if runs were made one after another.
        forms: counts of the output forms that the outcomes omit.
    """

    counts: dict[Hashable, int]
    blocks: tuple[Reals, ...] = ()
    others: tuple[Hashable, ...] = ()
    first: Outputs | None = None
    forms: Forms = field(default_factory=Forms, compare=False)

    @property
    def runs(self) -> int:
        """The number of runs."""
        return sum(self.counts.values()) + sum(map(len, self.blocks)) + len(self.others)

    @property
    def uncounted(self) -> tuple[Reals | tuple[Hashable, ...], ...]:
        """All outcomes stored one by one: the blocks, and the others if there are any."""
        return (*self.blocks, self.others) if self.others else self.blocks

    @property
    def reals(self) -> Reals:
        """The real outcomes if all have one shape d, shape (r, *d); shape (0,) if there are none.

        Raises:
            ValueError: they have several shapes.
        """
        if len(self.blocks) > 1:
            raise ValueError(f"There are real outcomes of {len(self.blocks)} shapes; read `blocks`.")
        return self.blocks[0] if self.blocks else np.empty(0)

    def each(self) -> Iterator[tuple[Hashable, int]]:
        """Pairs (outcome, count); those with floats one by one."""
        yield from self.counts.items()
        for block in self.blocks:
            yield from ((value, 1) for value in outcomes(block))
        yield from ((value, 1) for value in self.others)


def outcomes(block: Reals) -> list[Hashable]:
    """A block of reals, shape (r, *d), as r outcomes: floats, or tuples of them."""
    return [_tuple(row) for row in block.tolist()]


def _tuple(row: object) -> Outcome:
    return tuple(map(_tuple, row)) if isinstance(row, list) else row


@dataclass
class Tally:
    """Collects outputs as canonical outcomes.

    Args:
        strict: whether outcomes that are equal and not the same, such as 1 and True, are refused; otherwise they are
            counted as the first of them.
    """

    strict: bool = False
    counts: dict[Hashable, int] = field(default_factory=dict)
    blocks: dict[tuple[int, ...], list[Reals]] = field(default_factory=dict)
    """Reals by the shape of one outcome."""
    singles: dict[tuple[int, ...], list[object]] = field(default_factory=dict)
    """Reals that were added one by one, by their shape."""
    others: list[Hashable] = field(default_factory=list)
    forms: Forms = field(default_factory=Forms)
    alike: dict[type | np.dtype[Any], int] = field(default_factory=dict)
    """Counts of outputs whose form is that of their type, or of an array's, and is counted at the end."""
    kinds: dict[Hashable, Hashable] = field(default_factory=dict)
    """What outcomes among the counts are, that others are equal to and not the same: True, which is equal to 1."""

    @property
    def floats(self) -> list[object]:
        """Finite floats that were added one by one; more may be appended, as `add` does."""
        return self.singles.setdefault((), [])

    def add(self, output: Output, times: int) -> None:
        """Add an output that `times` runs returned.

        Raises:
            OutputError: the output cannot be counted.
        """
        kind = type(output)
        if kind is float and math.isfinite(output):
            # what most functions return: its own canonical form
            self.floats.extend([output] * times)
            return
        if kind is str or (kind is int and output not in self.kinds):
            self.counts[output] = self.counts.get(output, 0) + times
            return
        if kind is np.float64 and math.isfinite(output):
            self.floats.extend([float(output)] * times)
            self.alike[kind] = self.alike.get(kind, 0) + times
            return
        if kind is np.ndarray and output.dtype.kind == "f" and output.size and _finite(output):
            # a copy: the program may use the same array for its next output
            self.singles.setdefault(output.shape, []).extend([np.array(output, dtype=np.float64)] * times)
            self.alike[output.dtype] = self.alike.get(output.dtype, 0) + times
            return
        if kind is tuple and set(map(type, output)) == _FLOAT and all(map(math.isfinite, output)):
            self.singles.setdefault((len(output),), []).extend([output] * times)
            return
        outcome = canonical(output)
        if kind is Raised or kind not in PLAIN:
            self.forms.see(output, times)
        if not _holds_float(outcome):
            self._count(outcome, times)
        elif (shape := real_shape(outcome)) is not None:
            self.singles.setdefault(shape, []).extend([outcome] * times)
        elif type(outcome) is float or times > 1:
            # infinite numbers and shared outputs are few; the container only affects speed
            self._count(outcome, times)
        else:
            self.others.append(outcome)

    def _count(self, outcome: Outcome, times: int) -> None:
        """Add to the count of an outcome.

        Raises:
            OutputError: it is equal to an earlier one, and not the same, if that is refused.
        """
        known = self.counts.get(outcome)
        if self.strict:
            kinds = kinds_of(outcome)
            if known is not None and self.kinds.get(outcome) != kinds:
                raise equal_and_different(shown(next(one for one in self.counts if one == outcome)), shown(outcome))
            if kinds is not None:
                self.kinds[outcome] = kinds
        self.counts[outcome] = (known or 0) + times

    def add_reals(self, block: NDArray[np.generic]) -> None:
        """Add a block of real outputs, shape (r, *d); the caller must not modify the block afterwards."""
        finite = np.isfinite(block)
        rows = finite if block.ndim == 1 else finite.reshape(len(block), -1).all(axis=1)
        if block.size == 0 and len(block):
            self.add(block[0], len(block))
            return
        if not rows.all():
            for row in block[~rows]:
                self.add(row, 1)
            block = block[rows]
        if len(block):
            self.blocks.setdefault(block.shape[1:], []).append(block.astype(np.float64, copy=False))

    def add_many(self, drawn: Values) -> None:
        """Add values drawn in bulk: an array with one output per row, or a list.

        The form of an array's rows is not counted: it depends only on how the draw is implemented.
        """
        if isinstance(drawn, np.ndarray) and not drawn.dtype.hasobject:
            forms, self.forms, alike, self.alike = self.forms, Forms(), self.alike, {}
            self._add_many(drawn)
            self.forms, self.alike = forms, alike
        else:
            self._add_many(drawn)

    def _add_many(self, drawn: Values) -> None:
        if isinstance(drawn, np.ndarray) and drawn.dtype.kind == "f" and not isinstance(drawn, np.ma.MaskedArray):
            self.add_reals(drawn)
        elif isinstance(drawn, np.ndarray) and drawn.ndim == 1 and drawn.dtype.kind in "biuUS":
            values, counts = np.unique(drawn, return_counts=True)
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                self.add(value, count)
        elif isinstance(drawn, np.ndarray) and drawn.ndim == 2 and drawn.shape[1] and drawn.dtype.kind in "biu":
            # rows of whole numbers are plain tuples, which need no canonical form
            for row, times in Counter(map(tuple, drawn.tolist())).items():
                self._count(row, times)
        else:
            several = list(drawn)
            if set(map(type, several)) == {int}:  # of any size: whole numbers are their own canonical form
                for value, times in Counter(several).items():
                    self.add(value, times)
                return
            # if few objects occur many times (symbols, shared tuples), process each once
            objects = {id(value): value for value in several}
            if 2 * len(objects) > len(several):
                for value in several:
                    self.add(value, 1)
            else:
                for at, times in Counter(map(id, several)).items():
                    self.add(objects[at], times)

    def merge(self, other: Outputs) -> None:
        """Add all runs of other outputs."""
        for value, count in other.counts.items():
            self._count(value, count)
        for block in other.blocks:
            self.blocks.setdefault(block.shape[1:], []).append(block)
        self.others.extend(other.others)
        self.forms.merge(other.forms)

    def outputs(self) -> Outputs:
        """The collected outputs; the container of each outcome does not depend on the order of the runs."""
        for kind, times in self.alike.items():
            one = np.zeros(1, dtype=kind)
            self.forms.see(one if isinstance(kind, np.dtype) else one[0], times)
        singles, self.singles, self.alike = self.singles, {}, {}
        for shape, values in singles.items():
            if values:
                self.blocks.setdefault(shape, []).append(np.array(values, dtype=np.float64))
        blocks = tuple(np.concatenate(self.blocks[shape]) for shape in sorted(self.blocks))
        return Outputs(self.counts, blocks, tuple(self.others), forms=self.forms)


def merged(parts: Sequence[Outputs], *, strict: bool = False) -> Outputs:
    """All runs of several outputs; of the first few calls, those of the first.

    Args:
        parts: at least one.
        strict: as of a `Tally`.
    """
    if len(parts) == 1:
        return parts[0]
    tally = Tally(strict=strict)
    for part in parts:
        tally.merge(part)
    return replace(tally.outputs(), first=parts[0].first)


_FLOAT = {float}
_PLAIN = frozenset({int, bool, str, bytes, type(None)})


def sample(mechanism: Mechanism, dataset: object, runs: int, *, seed: int | SeedSequence | Generator = 0) -> Outputs:
    """The outputs of `runs` independent runs on a dataset.

    Args:
        mechanism: any mechanism; `bulk` is used if it has one.
        dataset: the argument of its `run`.
        runs: ≥ 1.
        seed: same seed, same outputs.

    Raises:
        NondeterministicMechanismError: the generator is not a function of its draws.
        MechanismError: it raised, yielded something other than a draw, or its `bulk` returned the wrong number of
            outputs.
        OutputError: an output cannot be counted.
    """
    return sample_along(Known(), mechanism, dataset, runs, seed=seed)


def sample_along(
    known: Known, mechanism: Mechanism, dataset: object, runs: int, *, seed: int | SeedSequence | Generator = 0
) -> Outputs:
    """As `sample`, along what earlier runs on this dataset found, to which these add; the outputs are the same.

    Args:
        known: where its program begins.
        mechanism, dataset, runs, seed: as of `sample`.

    Raises:
        NondeterministicMechanismError, MechanismError, OutputError: as `sample`.
    """
    whole("runs", runs, least=1)
    watch = Watch(mechanism)
    outputs = _sample(mechanism, dataset, runs, default_rng(seed), watch, known)
    watch.close()
    return outputs


def _sample(
    mechanism: Mechanism, dataset: object, runs: int, rng: Generator, watch: Watch, known: Known
) -> Outputs:
    """The outputs of `runs` runs of a mechanism, perhaps one that the watched one applies."""
    # a program that applies it is sent what is counted here
    tally, dataset = Tally(strict=True), plain_records(dataset)
    bulk = getattr(mechanism, "bulk", None)
    if bulk is not None:
        with blaming(mechanism):
            tally.add_many(bulk(dataset, runs, rng))
    else:
        _walk(mechanism, dataset, runs, rng, tally, watch, known)
    outputs = tally.outputs()
    if outputs.runs != runs:
        raise MechanismError(f"bulk of {mechanism.name} returned {outputs.runs} outputs; return {runs}.")
    return outputs


def _walk(
    mechanism: Mechanism, dataset: object, runs: int, rng: Generator, tally: Tally, watch: Watch, first: Known
) -> None:
    pending: list[tuple[Known, Path, int]] = [(first, (), runs)]
    while pending:
        known, path, size = pending.pop()
        run: Run | None = None
        while True:
            if run is None and not known.is_certain():
                run = Run(mechanism, dataset, path)
            if run is not None and not known.reached(run.node):
                if isinstance(known.node, Last):
                    raise ended_otherwise(mechanism, run.node)
                raise nondeterministic(mechanism, f"draw {len(path) + 1} was different")
            if isinstance(known.node, Last):
                break
            with blaming(mechanism):
                (value, size), *others = split(known, size, rng, watch)
            image = known.image
            pending.extend((known.following(v), (*path, Step(image, v)), times) for v, times in others)
            known, path = known.following(value), (*path, Step(image, value))
            if run is not None:
                run.send(value, image)
        if run is not None:
            watch.finished(mechanism, dataset, run)
        with blaming(mechanism):
            _finish(known, size, rng, tally, watch)


def _finish(known: Known, size: int, rng: Generator, tally: Tally, watch: Watch) -> None:
    """Draw the outputs of `size` runs that share everything up to their last draw."""
    end = known.node.value if isinstance(known.node, Last) else known.node
    if isinstance(end, Applied):
        tally.merge(_sample(end.mechanism, end.dataset, size, rng, watch, known.inside))
    elif isinstance(end, Then):
        base = known.inside
        if not base.is_certain():
            base.reached(end.base)
        for value, times in split(base, size, rng, watch):
            following = base.following(value)
            if not (following.is_certain() or following.reached(continued(end, value))):
                raise nondeterministic(watch.mechanism, "what follows a draw was different")
            _finish(following, times, rng, tally, watch)
    elif isinstance(end, Finite) and end.finite:
        for value, times in end.grouped(rng, size):
            tally.add(value, times)
    elif isinstance(end, Distribution):
        tally.add_many(end.draw(rng, size))
    else:
        tally.add(end, size)


def split(known: Known, size: int, rng: Generator, watch: Watch) -> list[tuple[Outcome, int]]:
    """Split `size` runs by the values they draw: pairs (value, count)."""
    if isinstance(known.node, Distribution) and not isinstance(known.node, Then):
        return list(known.node.grouped(rng, size))
    part = Tally(strict=True)
    _finish(known, size, rng, part, watch)
    each = part.outputs().each()
    if not part.forms.special:
        return list(each)
    # a program that fails because of its part reports the part's message
    return [
        one for value, times in each
        for one in (part.forms.failures(value, times) if type(value) is Raised else [(value, times)])
    ]


def _finite(array: Reals) -> bool:
    # a sum of squares takes a fifth of the time, and is finite only if all numbers are
    if array.dtype == np.float64 and math.isfinite(np.vdot(array, array)):
        return True
    return bool(np.isfinite(array).all())


def _holds_float(value: Outcome) -> bool:
    if isinstance(value, tuple):
        # long tuples mostly contain plain parts: decide by types, without a call for each
        return not _PLAIN.issuperset(map(type, value)) and any(map(_holds_float, value))
    if type(value) is Structure:
        return _holds_float(value.parts)
    if type(value) is float:
        return True
    if is_dataclass(value) and not isinstance(value, type):
        return any(_holds_float(getattr(value, part.name)) for part in fields(value))
    return isinstance(value, float | np.floating)
