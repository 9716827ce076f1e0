"""Batches of runs on both datasets of a pair, with seeds that depend on what they are for alone."""

from __future__ import annotations

import contextlib
import itertools
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from numpy.random import SeedSequence

from dpaudit.adversary import Pair
from dpaudit.interpret import Drawn, Outputs
from dpaudit.plans.job import PrivacyJob
from dpaudit.subjects.recorded import Followed, RecordedTarget
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import Unit

SEARCH, LEARN, MINIMIZE, CERTIFY = range(4)
"""Phases of an audit; each has random streams of its own."""

Samples = tuple[Outputs, Outputs]
"""Outputs on the left and on the right dataset."""

FIRST_BATCH = 5
LEAST_NEW = 0.01
GROWTH = 1.1
"""Each batch brings the runs to this multiple: late batches are large enough to be cheap, and a test that needs n runs
spends at most an eleventh more by waiting for the end of its batch."""


def batches(runs: int, *, growth: float = GROWTH) -> Iterator[int]:
    """Sizes that add up to `runs`: a few runs to learn from, then one at a time, then a share of what there is."""
    done = 0
    while done < runs:
        size = FIRST_BATCH if not done else max(1, int(done * (growth - 1)))
        # a rest that is not worth a batch of its own goes with the last one
        if runs - done < 1.5 * size:
            size = runs - done
        yield size
        done += size


def following(files: Followed, *, seed: int, most: int) -> Iterator[int | None]:
    """Sizes of batches of outputs that come with files; None where there is no new file yet.

    After every file, what it brought is used up, unless it is less than a hundredth of what there was: every batch
    costs as much as learning an event.
    """
    done = 0
    for new in files.coming(seed):
        while (ready := min(files.ready, most - done)) >= max(1, LEAST_NEW * done) or 0 < ready == most - done:
            size = min(ready, _next(done))
            yield size
            done += size
        if done == most:
            return
        if not new:
            yield None
    if rest := min(files.ready, most - done):
        yield rest


def _next(done: int) -> int:
    return FIRST_BATCH if not done else max(1, int(done * (GROWTH - 1)))


@dataclass(frozen=True)
class Batch:
    """Fresh samples of both datasets of a pair.

    Args:
        pair: the pair.
        runs: of each dataset.
        index: the pair's number; with seed, phase and number it names the random stream.
        phase: of the audit.
        number: of the batch.
        whole: so many outputs of each dataset are wanted as they are, of the others only what is counted; None for all.
            A multiple of `target.LARGE_BLOCK`, unless it is all.
    """

    pair: Pair
    runs: int
    index: int
    phase: int
    number: int
    whole: int | None = None


class Draws:
    """Batches that are planned ahead, drawn in their order.

    Args:
        job: whose target is sampled.
        runner: what runs it.
        planned: read as they are needed.
        seed: of all streams.
        runs: of both datasets in all batches together, if they can be drawn ahead; None if they cannot.
        noted: called with every unit of runs and its outputs.
        count: counts an event in outputs that are not wanted as they are.
    """

    def __init__(
        self, job: PrivacyJob, runner: Runner, planned: Iterable[Batch], *, seed: int, runs: int | None = None,
        noted: Callable[[Unit, Drawn], None] | None = None, count: Callable[[Outputs], int] | None = None,
    ) -> None:
        self._key = zlib.crc32(f"{job.target.name}/{job.label}".encode())
        self._seed, self._noted, self._count = seed, noted, count
        self._recorded = isinstance(job.target, RecordedTarget)
        self._units = deque[list[Unit]]()
        """By batch and dataset."""
        self._outputs = runner.run(job.target, self._units_of(planned), runs)

    def next(self) -> Samples:
        """The samples of the next batch, all of which are wanted as they are.

        Raises:
            TimeLimitError: the limit came before all were done.
            MechanismError, OutputError: as `Target.runs`.
        """
        ((left, right),) = self.next_parts()
        assert isinstance(left, Outputs)
        assert isinstance(right, Outputs)
        return left, right

    def next_parts(self) -> list[tuple[Drawn, Drawn]]:
        """The samples of the next batch: those that are wanted as they are, if any, and those that were counted.

        Raises:
            TimeLimitError, MechanismError, OutputError: as of `next`.
        """
        left, right = self._of_dataset(), self._of_dataset()
        return list(zip(left, right, strict=True))

    def close(self) -> None:
        """Nothing more will be drawn."""
        self._outputs.close()

    def _of_dataset(self) -> list[Drawn]:
        # with the first of them the others are planned too
        found = [next(self._outputs)]
        units = self._units.popleft()
        found += itertools.islice(self._outputs, len(units) - 1)
        if self._noted is not None:
            for unit, outputs in zip(units, found, strict=True):
                self._noted(unit, outputs)
        return found

    def _units_of(self, planned: Iterable[Batch]) -> Iterator[Unit]:
        for batch in planned:
            whole = batch.runs if batch.whole is None or self._recorded else batch.whole
            for which, dataset in enumerate((batch.pair.left, batch.pair.right)):
                name = [self._seed, self._key, batch.index, which, batch.phase, batch.number, 0]
                unit = Unit(dataset, batch.runs, SeedSequence(name))
                units = [
                    replace(unit, runs=runs, first=first, count=count)
                    for runs, first, count in ((whole, 0, None), (batch.runs - whole, whole, self._count)) if runs
                ]
                self._units.append(units)
                yield from units


def draw(
    job: PrivacyJob, pair: Pair, runs: int, runner: Runner, *, seed: int, index: int, phase: int, batch: int
) -> Samples:
    """`runs` fresh samples of each dataset; otherwise as `Batch` and `Draws.next`."""
    batches = [Batch(pair, runs, index, phase, batch)]
    with contextlib.closing(Draws(job, runner, batches, seed=seed, runs=2 * runs)) as draws:
        return draws.next()
