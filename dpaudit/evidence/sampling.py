"""Batches of runs on both datasets of a pair, with seeds that depend on what they are for alone."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

from numpy.random import SeedSequence

from dpaudit.adversary import Pair
from dpaudit.interpret import Outputs, Tally
from dpaudit.plans.job import PrivacyJob
from dpaudit.subjects.recorded import Followed
from dpaudit.subjects.runner import Runner, Unit

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


def draw(
    job: PrivacyJob, pair: Pair, runs: int, runner: Runner, *, seed: int, index: int, phase: int, batch: int,
    noted: Callable[[Unit, Outputs], None] | None = None,
) -> Samples:
    """`runs` fresh samples of each dataset.

    Args:
        index: the pair's number; with seed, phase and batch it names the random stream.
        noted: called with every unit and its outputs.

    Raises:
        TimeLimitError: the limit came before all were done.
        MechanismError, OutputError: as `Target.runs`.
    """
    key = zlib.crc32(f"{job.target.name}/{job.label}".encode())
    chunk = job.target.chunk or runs
    sizes = [min(chunk, runs - start) for start in range(0, runs, chunk)]
    # both datasets of a part follow each other, so that a pool works on both
    units = [
        Unit(dataset, size, SeedSequence([seed, key, index, which, phase, batch, part]))
        for part, size in enumerate(sizes)
        for which, dataset in enumerate((pair.left, pair.right))
    ]
    tallies = (Tally(), Tally())
    for i, outputs in enumerate(runner.run(job.target, units)):
        tallies[i % 2].merge(outputs)
        if noted is not None:
            noted(units[i], outputs)
    return tallies[0].outputs(), tallies[1].outputs()
