"""Sample a mechanism: runs that have drawn the same values so far share one execution."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from dpaudit.errors import MechanismError, OutputError
from dpaudit.interpret.walk import Last, Path, Run, Step, Watch, blaming
from dpaudit.language import Applied, Distribution, Finite, Mechanism, canonical
from dpaudit.language.checks import whole
from dpaudit.language.distributions import Then
from dpaudit.language.fingerprint import fingerprint


@dataclass(frozen=True)
class Outputs:
    """The outputs of many independent runs; their order carries no information and is not kept.

    `counts`: output → how often, for everything but reals. `reals`: shape (r,) or (r, d), outputs that are real
    numbers or vectors of them. The number of runs is the sum of both.
    """

    counts: dict[Hashable, int]
    reals: NDArray[np.float64]

    @property
    def runs(self) -> int:
        """How many runs there were."""
        return sum(self.counts.values()) + len(self.reals)


@dataclass
class Tally:
    """Collects outputs; a real is a float that came from a continuous draw or that a user's function returned."""

    counts: dict[Hashable, int] = field(default_factory=dict)
    blocks: list[NDArray[np.float64]] = field(default_factory=list)
    singles: list[Any] = field(default_factory=list)
    """Reals that came one by one."""

    def add(self, output: Any, times: int) -> None:
        """`times` runs returned this very output."""
        key = canonical(output)
        self.counts[key] = self.counts.get(key, 0) + times

    def add_reals(self, block: NDArray[np.float64]) -> None:
        """A block of real outputs, shape (r,) or (r, d)."""
        if not np.all(np.isfinite(block)):
            raise OutputError(
                "A run returned NaN or an infinite number; return ⊥, None or a string for an answer that is no number."
            )
        if self.blocks and self.blocks[0].shape[1:] != block.shape[1:]:
            raise OutputError(
                f"Runs returned real outputs of different shapes, {self.blocks[0].shape[1:]} and {block.shape[1:]}; "
                "return the same number of coordinates every time."
            )
        self.blocks.append(block.astype(np.float64, copy=False))

    def add_many(self, drawn: Any) -> None:
        """Values drawn in bulk: an array (floats are reals, integers are counted) or a list."""
        if isinstance(drawn, np.ndarray) and drawn.dtype.kind == "f":
            self.add_reals(drawn)
        elif isinstance(drawn, np.ndarray) and drawn.ndim == 1 and drawn.dtype.kind != "O":
            values, counts = np.unique(drawn, return_counts=True)
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                self.add(value, count)
        else:
            for value in drawn:
                if isinstance(value, float | np.floating) or (
                    isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim == 1
                ):
                    self.singles.append(value)
                else:
                    self.add(value, 1)

    def merge(self, other: Outputs) -> None:
        """All runs of another tally."""
        for value, count in other.counts.items():
            self.counts[value] = self.counts.get(value, 0) + count
        if len(other.reals):
            self.add_reals(other.reals)

    def outputs(self) -> Outputs:
        """What was collected, in a form that is independent of how it was collected."""
        singles, self.singles = self.singles, []
        for block in _same_shape(singles):
            self.add_reals(block)
        reals = np.concatenate(self.blocks) if self.blocks else np.empty(0)
        return Outputs(self.counts, reals)


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
    return [(value, times, False) for value, times in outputs.counts.items()] + [(value, 1, True) for value in reals]


def _holds_float(value: Any) -> bool:
    return any(map(_holds_float, value)) if isinstance(value, tuple) else isinstance(value, float)


def _same_shape(reals: list[Any]) -> list[NDArray[np.float64]]:
    """Blocks of equal shape, so that a mixture of shapes is reported as such."""
    blocks: dict[tuple[int, ...], list[Any]] = {}
    for value in reals:
        blocks.setdefault(np.shape(value), []).append(value)
    return [np.asarray(block, dtype=np.float64) for block in blocks.values()]
