"""Sample a mechanism: runs that have drawn the same values so far share one execution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field, fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from dpaudit.errors import MechanismError, OutputError
from dpaudit.interpret.walk import Last, Path, Run, Step, Watch, blaming
from dpaudit.language import Applied, Bottom, Distribution, Finite, Mechanism, canonical
from dpaudit.language.checks import whole
from dpaudit.language.distributions import Then
from dpaudit.language.fingerprint import fingerprint


@dataclass(frozen=True)
class Outputs:
    """The outputs of many independent runs; their order carries no information.

    `counts`: output → how often, for everything that holds no real. `reals`: shape (r,) or (r, d), outputs that are
    real numbers or vectors of them, all of one shape. `others`: outputs that hold reals and are no such vector
    (lists of varying length, ⊥ beside floats), one by one in their canonical form. The number of runs is the sum.
    """

    counts: dict[Hashable, int]
    reals: NDArray[np.float64]
    others: tuple[Hashable, ...] = ()

    @property
    def runs(self) -> int:
        """How many runs there were."""
        return sum(self.counts.values()) + len(self.reals) + len(self.others)


@dataclass
class Tally:
    """Collects outputs; a real is a float that came from a continuous draw or that a user's function returned."""

    counts: dict[Hashable, int] = field(default_factory=dict)
    blocks: dict[tuple[int, ...], list[NDArray[np.float64]]] = field(default_factory=dict)
    """Reals by the shape of one output."""
    singles: list[Any] = field(default_factory=list)
    """Reals that came one by one."""
    others: list[Hashable] = field(default_factory=list)

    def add(self, output: Any, times: int) -> None:
        """`times` runs returned this very output."""
        key = canonical(output)
        self.counts[key] = self.counts.get(key, 0) + times

    def add_reals(self, block: NDArray[np.float64]) -> None:
        """A block of real outputs, shape (r,) or (r, d)."""
        if not np.all(np.isfinite(block)):
            raise OutputError(_NO_NUMBER)
        self.blocks.setdefault(block.shape[1:], []).append(block.astype(np.float64, copy=False))

    def add_many(self, drawn: Any) -> None:
        """Values drawn in bulk: an array (floats are reals, integers are counted) or a list."""
        if isinstance(drawn, np.ndarray) and drawn.dtype.kind == "f":
            self.add_reals(drawn)
        elif isinstance(drawn, np.ndarray) and drawn.ndim == 1 and drawn.dtype.kind != "O":
            values, counts = np.unique(drawn, return_counts=True)
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                self.add(value, count)
        elif isinstance(drawn, np.ndarray) and drawn.ndim == 2 and drawn.dtype.kind in "biu":
            # rows of whole numbers are plain tuples, which need no canonical form
            for row, times in Counter(map(tuple, drawn.tolist())).items():
                self.counts[row] = self.counts.get(row, 0) + times
        else:
            several = list(drawn)
            if set(map(type, several)) == {int}:  # of any size: whole numbers are their own canonical form
                for value, times in Counter(several).items():
                    self.counts[value] = self.counts.get(value, 0) + times
                return
            # where few objects stand many times (symbols, shared tuples), each is looked at once
            objects = {id(value): value for value in several}
            if 2 * len(objects) > len(several):
                for value in several:
                    self._add_some(value, 1)
            else:
                for at, times in Counter(map(id, several)).items():
                    self._add_some(objects[at], times)

    def _add_some(self, value: Any, times: int) -> None:
        if isinstance(value, float | np.floating) or (
            isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim == 1
        ):
            self.singles.extend([value] * times)
            return
        if type(value) is tuple and (kinds := set(map(type, value))) <= _MIXED and float in kinds:
            # the common case, a flat tuple of symbols and doubles, is its own canonical form
            if not all(isfinite(part) for part in value if type(part) is float):
                raise OutputError(_NO_NUMBER)
            if len(kinds) > 1:
                self.others.extend([value] * times)
            else:
                self.singles.extend([np.array(value)] * times)
            return
        output = canonical(value)
        if not _holds_float(output):
            self.counts[output] = self.counts.get(output, 0) + times
        elif _is_vector(output):
            self.singles.extend([np.array(output, dtype=np.float64)] * times)
        elif not _finite(output):
            raise OutputError(_NO_NUMBER)
        else:
            self.others.extend([output] * times)

    def merge(self, other: Outputs) -> None:
        """All runs of another tally."""
        for value, count in other.counts.items():
            self.counts[value] = self.counts.get(value, 0) + count
        if len(other.reals):
            self.add_reals(other.reals)
        self.others.extend(other.others)

    def outputs(self) -> Outputs:
        """What was collected; where each output stands does not depend on the order in which they came."""
        singles, self.singles = self.singles, []
        for block in _same_shape(singles):
            self.add_reals(block)
        if len(self.blocks) <= 1:
            rows = next(iter(self.blocks.values()), [])
            return Outputs(self.counts, np.concatenate(rows) if rows else np.empty(0), tuple(self.others))
        # no shape is preferred: with several, every real is kept one by one
        others = list(self.others)
        for shape in sorted(self.blocks):
            for block in self.blocks[shape]:
                others.extend(canonical(row) for row in block.tolist())
        return Outputs(self.counts, np.empty(0), tuple(others))


_PLAIN = frozenset({int, bool, str, bytes, type(None)})
_MIXED = frozenset({float, str, type(None), Bottom})
_NO_NUMBER = (
    "A run returned NaN or an infinite number; return ⊥, None or a string for an answer that is no number."
)


def sample(mechanism: Mechanism, dataset: Any, runs: int, *, seed: int | SeedSequence | Generator = 0) -> Outputs:
    """The outputs of `runs` independent runs on a dataset.

    Args:
        mechanism: any mechanism; one with `bulk` is drawn by it.
        dataset: what its `run` takes.
        runs: ≥ 1.
        seed: same seed, same outputs.

    Raises:
        NondeterministicMechanismError: the generator is not a function of its draws.
        MechanismError: it raised, or yielded something else than a draw, or its `bulk` gave another number of outputs.
        OutputError: an output cannot be counted.
    """
    whole("runs", runs, least=1)
    rng = seed if isinstance(seed, Generator) else default_rng(seed)
    tally = Tally()
    bulk = getattr(mechanism, "bulk", None)
    if bulk is not None:
        watch = Watch(mechanism, dataset)
        with blaming(mechanism):
            tally.add_many(bulk(dataset, runs, rng))
        watch.close()
    else:
        _walk(mechanism, dataset, runs, rng, tally)
    outputs = tally.outputs()
    if outputs.runs != runs:
        raise MechanismError(f"bulk of {mechanism.name} returned {outputs.runs} outputs; return {runs}.")
    return outputs


def _walk(mechanism: Mechanism, dataset: Any, runs: int, rng: Generator, tally: Tally) -> None:
    # the last part: whether a real number was drawn on the path, so that a float at its end is no atom
    pending: list[tuple[Path, int, bool]] = [((), runs, False)]
    watch = Watch(mechanism, dataset)
    while pending:
        path, size, real = pending.pop()
        run = Run(mechanism, dataset, path)
        while not isinstance(run.node, Last):
            image = fingerprint(run.node)
            with blaming(mechanism):
                (value, size, is_real), *others = split(run.node, size, rng)
            pending.extend(((*run.path, Step(image, v)), times, real or r) for v, times, r in others)
            real = real or is_real
            run.send(value, image)
        watch.finished(run)
        with blaming(mechanism):
            _finish(run.node.value, size, rng, tally, real=real)
    watch.close()


def _finish(end: Any, size: int, rng: Generator, tally: Tally, *, real: bool) -> None:
    """Draw the outputs of `size` runs that share everything up to their last draw."""
    if isinstance(end, Applied):
        tally.merge(sample(end.mechanism, end.dataset, size, seed=rng))
    elif isinstance(end, Then):
        for value, times, is_real in split(end.base, size, rng):
            _finish(end.continuation(value), times, rng, tally, real=real or is_real)
    elif isinstance(end, Finite) and end.finite:
        for value, times in end.grouped(rng, size):
            tally.add(value, times)
    elif isinstance(end, Distribution):
        tally.add_many(end.draw(rng, size))
    elif real:
        tally.add_many([end] * size)
    else:
        tally.add(end, size)


def split(node: Distribution | Applied, size: int, rng: Generator) -> list[tuple[Any, int, bool]]:
    """Split `size` runs by what the draw gives them: value, how many, and whether it is a continuous real."""
    if isinstance(node, Finite) and node.finite:
        return [(value, times, False) for value, times in node.grouped(rng, size)]
    if isinstance(node, Distribution) and not isinstance(node, Then):
        return [(value, times, _holds_float(value)) for value, times in node.grouped(rng, size)]
    part = Tally()
    _finish(node, size, rng, part, real=False)
    outputs = part.outputs()
    reals = [tuple(row) if isinstance(row, list) else row for row in outputs.reals.tolist()]
    counted = [(value, times, False) for value, times in outputs.counts.items()]
    return counted + [(value, 1, True) for value in (*reals, *outputs.others)]


def _holds_float(value: Any) -> bool:
    if isinstance(value, tuple):
        # long tuples are mostly of plain parts: told by their types, without a call for each
        return not _PLAIN.issuperset(map(type, value)) and any(map(_holds_float, value))
    if is_dataclass(value) and not isinstance(value, type):
        return any(_holds_float(getattr(value, part.name)) for part in fields(value))
    return isinstance(value, float | np.floating)


def _is_vector(value: Any) -> bool:
    """Whether it is a flat tuple of numbers, all of which a float can hold."""
    return isinstance(value, tuple) and all(
        isinstance(part, float) or (type(part) is int and abs(part) <= 2**53) for part in value
    )


def _finite(value: Any) -> bool:
    if is_dataclass(value) and not isinstance(value, type):
        return all(_finite(getattr(value, part.name)) for part in fields(value))
    if isinstance(value, tuple):
        return all(map(_finite, value))
    return not isinstance(value, float | np.floating) or bool(np.isfinite(value))


def _same_shape(reals: list[Any]) -> list[NDArray[np.float64]]:
    """Blocks of equal shape."""
    blocks: dict[tuple[int, ...], list[Any]] = {}
    for value in reals:
        blocks.setdefault(np.shape(value), []).append(value)
    return [np.asarray(block, dtype=np.float64) for block in blocks.values()]
