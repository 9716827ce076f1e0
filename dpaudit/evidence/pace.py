"""How long a sample takes, and how many a time limit has time for."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from numpy.random import SeedSequence

from dpaudit.evidence.assumptions import always_fails, only_failures
from dpaudit.evidence.needed import POSSIBLE_RUNS, samples_needed
from dpaudit.interpret import Outputs
from dpaudit.language import Dataset
from dpaudit.plans.job import GroupChains, PairSearch, PrivacyJob
from dpaudit.subjects.runner import TASK
from dpaudit.subjects.target import LARGE_BLOCK, FunctionTarget, MechanismTarget

MEASURED = 2.0
"""Seconds that measuring may take, unless one call takes longer."""
FASTER = 4
"""Growth of the samples of a call, while calls are too fast to be measured."""
APART = 2.0
"""Seconds that are not for samples: what is imported, and learning events from the first few hundred samples."""
FOR_SAMPLES = 0.8
"""Share of the rest for samples: calls may turn out slower, and later events cost time too."""
SEARCH_SHARE = 0.5
"""Most of the time left to an audit which a search for pairs or chains, or a minimisation, may take."""
_PACE = 0x91A4
"""Marks the random streams of measurements."""


@dataclass(frozen=True)
class Pace:
    """Some samples, and how long they took.

    Args:
        drawn: number of samples.
        seconds: of one of them.
        outputs: of each dataset, or kind of inputs.
    """

    drawn: int
    seconds: float
    outputs: list[Outputs]


def measure(sources: Sequence[tuple[MechanismTarget | FunctionTarget, Dataset]], *, seed: int) -> Pace:
    """Draw samples until a call takes as long as a task of a worker, or `MEASURED` seconds are over.

    Raises:
        MechanismError: all of them failed.
    """
    size, drawn, begun = 1, 0, time.monotonic()
    while True:
        found: list[Outputs] = []
        paces: list[float] = []
        for number, (target, dataset) in enumerate(sources):
            at = time.monotonic()
            found.append(target.runs(dataset, size, SeedSequence([seed, _PACE, size, number])))
            paces.append((time.monotonic() - at) / size)
            drawn += size
            if time.monotonic() - begun > MEASURED:
                break
        enough = min(paces) * size >= TASK or size * FASTER > LARGE_BLOCK
        if enough or time.monotonic() - begun + FASTER * size * sum(paces) > MEASURED:
            break
        size *= FASTER
    if all((failure := only_failures(list(outputs.counts))) is not None and not outputs.uncounted for outputs in found):
        assert failure is not None
        raise always_fails(sources[0][0].name, failure, sources[0][1], calls=drawn)
    return Pace(drawn, fmean(paces), found)


def foreseen(
    job: PrivacyJob, *, pace: float, seconds: float, workers: int, final: float, min_power: float, share: float = 1.0
) -> PrivacyJob:
    """The job with as many pairs and samples as there will be time for after a search for pairs or chains.

    Args:
        pace, seconds, workers, min_power, share: as of `within_time`, before the search.
        final: the error of the last confidence bounds of all pairs together.
    """
    if isinstance(job, PairSearch | GroupChains):
        searching = SEARCH_SHARE * share * seconds
        if isinstance(job, PairSearch):
            needed = samples_needed(job.claim, alpha=final / job.tests, min_power=min_power).for_power
            after = share * seconds - searching
            job = replace(job, pairs=job.pairs[: pairs_in_time(job.tests, needed, seconds=after, pace=pace)])
        seconds -= searching
    return within_time(
        job, pace=pace, seconds=seconds, workers=workers, alpha=final / job.tests, min_power=min_power, share=share
    )


def pairs_in_time(most: int, needed: int | None, *, seconds: float, pace: float) -> int:
    """Of how many pairs there is time for samples with power; one if not even for that.

    Args:
        most: pairs that there are.
        needed: samples per dataset with which an audit of one pair has power; None if unknown.
        seconds, pace: as of `within_time`.
    """
    if needed is None or not pace:
        return most
    return max(1, min(most, int(_for_samples(seconds) / (2 * pace * needed))))


def within_time(
    job: PrivacyJob, *, pace: float, seconds: float, workers: int, alpha: float, min_power: float, share: float = 1.0
) -> PrivacyJob:
    """The job with the samples for which there is time; unchanged if these could not detect a large violation.

    Otherwise learning, a share of all samples, might take all of the time, and nothing would be counted. Where there is
    no time for a PASS, every sample tests the claim until the time limit. Audits that come later leave this one the
    samples with which it can PASS, whatever its share.

    Args:
        job: with at least one pair.
        pace: seconds of a sample.
        seconds: until the time limit.
        workers: how many draw samples at the same time, if the target is portable.
        alpha, min_power: as of `samples_needed`.
        share: the part of the time that is for this audit; the rest is for those after it.
    """
    runs = _runs_in_time(job, pace=pace, seconds=share * seconds, workers=workers)
    if runs >= job.runs or job.claim.delta >= 1:
        return job
    needed = samples_needed(job.claim, alpha=alpha, min_power=min_power)
    least = needed.least if needed.for_power is None else needed.for_power
    if least is None or _runs_in_time(job, pace=pace, seconds=seconds, workers=workers) < least:
        return job
    return replace(job, runs=min(max(runs, least), job.runs))


def _runs_in_time(job: PrivacyJob, *, pace: float, seconds: float, workers: int) -> int:
    """Samples per dataset of each pair, rounded down to two digits."""
    at_once = workers if job.target.portable else 1
    runs = _for_samples(seconds) * at_once / (2 * job.tests * pace) if pace else math.inf
    whole = int(min(runs, POSSIBLE_RUNS))
    step: int = 10 ** max(0, len(str(whole)) - 2)
    return whole // step * step


def _for_samples(seconds: float) -> float:
    """Of the time that is left, what samples may take."""
    return FOR_SAMPLES * max(0.0, seconds - APART)
