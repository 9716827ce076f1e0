"""Batches of runs on both datasets of a pair, with seeds that depend on what they are for alone."""

from __future__ import annotations

import contextlib
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from numpy.random import SeedSequence

from dpaudit.adversary import Pair
from dpaudit.interpret import Outputs
from dpaudit.plans.job import PrivacyJob
from dpaudit.subjects.recorded import Followed
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import Unit

SEARCH, LEARN, MINIMIZE, CERTIFY = range(4)
"""Phases of an audit; each has random streams of its own."""

Samples = tuple[Outputs, Outputs]
"""Outputs on the left and on the right dataset."""

FIRST_BATCH = 5
LEAST_NEW = 0.01
GROWTH = 1.15
"""Each batch brings the runs to this multiple: late batches are large enough to be cheap, and a test that needs n runs
spends at most a seventh more by waiting for the end of its batch."""


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
    """

    pair: Pair
    runs: int
    index: int
    phase: int
    number: int


class Draws:
    """Batches that are planned ahead, drawn in their order.

    Args:
        job: whose target is sampled.
        runner: what runs it.
        planned: read as they are needed.
        seed: of all streams.
        runs: of both datasets in all batches together, if they can be drawn ahead; None if they cannot.
        noted: called with every unit of runs and its outputs.
    """

    def __init__(
        self, job: PrivacyJob, runner: Runner, planned: Iterable[Batch], *, seed: int, runs: int | None = None,
        noted: Callable[[Unit, Outputs], None] | None = None,
    ) -> None:
        self._key = zlib.crc32(f"{job.target.name}/{job.label}".encode())
        self._seed, self._noted = seed, noted
        self._units = deque[Unit]()
        self._outputs = runner.run(job.target, self._units_of(planned), runs)

    def next(self) -> Samples:
        """The samples of the next batch.

        Raises:
            TimeLimitError: the limit came before all were done.
            MechanismError, OutputError: as `Target.runs`.
        """
        left, right = self._one(), self._one()
        return left, right

    def close(self) -> None:
        """Nothing more will be drawn."""
        self._outputs.close()

    def _one(self) -> Outputs:
        outputs = next(self._outputs)
        unit = self._units.popleft()
        if self._noted is not None:
            self._noted(unit, outputs)
        return outputs

    def _units_of(self, planned: Iterable[Batch]) -> Iterator[Unit]:
        for batch in planned:
            for which, dataset in enumerate((batch.pair.left, batch.pair.right)):
                name = [self._seed, self._key, batch.index, which, batch.phase, batch.number, 0]
                unit = Unit(dataset, batch.runs, SeedSequence(name))
                self._units.append(unit)
                yield unit


def draw(
    job: PrivacyJob, pair: Pair, runs: int, runner: Runner, *, seed: int, index: int, phase: int, batch: int
) -> Samples:
    """`runs` fresh samples of each dataset; otherwise as `Batch` and `Draws.next`."""
    batches = [Batch(pair, runs, index, phase, batch)]
    with contextlib.closing(Draws(job, runner, batches, seed=seed, runs=2 * runs)) as draws:
        return draws.next()
