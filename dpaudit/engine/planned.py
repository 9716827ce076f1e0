"""What `dpaudit check` would take, before it is run: samples, tasks, bytes, time on many workers, and power."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from dpaudit.adversary import Pair
from dpaudit.engine.orchestrator import IMPORTS_GRACE
from dpaudit.errors import DatasetError, DpauditError, MechanismError, OutputError, TimeLimitError
from dpaudit.evidence import chains, estimate, search
from dpaudit.evidence.needed import detectable
from dpaudit.evidence.pace import SEARCH_SHARE, foreseen, measure
from dpaudit.evidence.success import Judged
from dpaudit.evidence.utility import utility_jobs
from dpaudit.interpret import Outputs
from dpaudit.language import Dataset
from dpaudit.plans.alpha_shares import shares
from dpaudit.plans.chain_jobs import all_jobs
from dpaudit.plans.job import GroupChains, Job, PairSearch, PrivacyJob, RecordedSamples, UtilityJob
from dpaudit.plans.request import Request
from dpaudit.subjects import by_value
from dpaudit.subjects.recorded import RecordedTarget
from dpaudit.subjects.runner import TASK, Runner
from dpaudit.subjects.target import FunctionTarget, MechanismTarget

WORKERS = (1, 16, 256, 4_096)
"""Numbers of workers for which times are planned."""
SIZED = 1_000
"""Outputs whose bytes are counted one by one."""


@dataclass(frozen=True)
class PlannedCase:
    """One case, as it is audited if its claim is not refuted: then all samples are drawn.

    Args:
        name, case, claim: as in its result.
        unsampled: why nothing is sampled; "" where something is.
        failure: why it could not be measured; None where it was.
        runs: samples of each dataset of a pair, or of each kind of inputs of a utility guarantee.
        pairs: how many of these are tested.
        search: samples to find pairs, at most; 0 where they are given.
        learning, certification: samples of all datasets to learn and to test an event, and to count it.
        measured: samples that were drawn to measure.
        pace: seconds of a sample.
        size: bytes of an output; None if they cannot be counted.
        tasks: that workers are given, of all samples.
        longest: samples of a task.
        portable: whether workers can draw them.
        detectable: the smallest ε of a violation that is detected with probability 0.9 on an event of probability ½ at
            the claim's limit; None if there is none.
    """

    name: str
    case: str
    claim: str
    unsampled: str = ""
    failure: DpauditError | None = None
    runs: int = 0
    pairs: int = 0
    search: int = 0
    learning: int = 0
    certification: int = 0
    measured: int = 0
    pace: float = 0.0
    size: float | None = None
    tasks: int = 0
    longest: int = 1
    portable: bool = True
    detectable: float | None = None

    @property
    def samples(self) -> int:
        """All that are drawn for the evidence."""
        return self.search + self.learning + self.certification

    def seconds(self, workers: int) -> float:
        """The time that the samples take on so many workers.

        Search, learning and certification come one after another. In each of them all workers are busy, but none of
        them is faster than one of its tasks.
        """
        used = workers if self.portable else 1
        phases = [samples for samples in (self.search, self.learning, self.certification) if samples]
        return sum(self.pace * max(samples / used, min(samples, self.longest)) for samples in phases)


def planned(request: Request) -> Iterator[PlannedCase]:
    """Every case of a request, measured when it is asked for.

    Args:
        request: of `dpaudit check`.

    Raises:
        UsageError and its kinds: as of `orchestrator.check`; TimeLimitError: what is named is not imported in time.
    """
    with Runner(1, request.time).limited(IMPORTS_GRACE):
        jobs: list[Job] = [*(all_jobs(request) if request.only != "utility" else []), *utility_jobs(request)]
    tests = max(1, sum(job.tests for job in jobs))
    rest = tests
    for job in jobs:
        # as if every case before it had used all of its time
        left = math.inf if request.time is None else request.time * rest / tests
        yield _case(job, request, request.alpha * job.tests / tests, left, job.tests / max(1, rest))
        rest -= job.tests


def _case(job: Job, request: Request, alpha: float, left: float, share: float) -> PlannedCase:
    """One case, when so many seconds are left, of which a share is for it."""
    made = PlannedCase(job.target.name, job.label, str(job.claim))
    if isinstance(job, RecordedSamples) or isinstance(job.target, RecordedTarget):
        return replace(made, unsampled="its outputs are recorded")
    if not job.tests:
        return replace(made, unsampled="its output distributions are computed")
    sources = _sources(job)
    target = sources[0][0]
    try:
        with Runner(1, request.time).guarded(target.name):
            some = measure(sources, seed=request.seed)
    except (MechanismError, DatasetError, OutputError, TimeLimitError) as error:
        return replace(made, failure=error)
    sizes = [_bytes(outputs) for outputs in some.outputs]
    size = None if None in sizes else fmean(one for one in sizes if one is not None)
    block = target.block
    longest = max(1, -(-round(TASK / some.seconds) // block)) * block if some.seconds else block
    of_one = 0.0
    if not isinstance(job, UtilityJob):
        final = shares(alpha, certify=request.certify, bits=job.bits or request.bits).final
        if math.isfinite(left) and request.runs is None:
            job = foreseen(
                job, pace=some.seconds, seconds=left, workers=request.jobs, final=final,
                min_power=request.min_power, share=share,
            )
        of_one = final / job.tests
    made = replace(
        made, runs=job.runs, measured=some.drawn, pace=some.seconds, size=size, portable=target.portable,
        longest=longest,
    )
    if isinstance(job, UtilityJob):
        kinds = len(job.case.instances)
        made = replace(made, pairs=kinds, certification=kinds * job.runs)
    else:
        made = replace(
            made, pairs=job.tests, search=_searched(job, share * left, some.seconds),
            learning=2 * job.tests * job.learning, certification=2 * job.tests * (job.runs - job.learning),
            detectable=detectable(job.claim, job.runs, alpha=of_one),
        )
    return replace(made, tasks=-(-made.samples // min(longest, made.runs)))


def _searched(job: PrivacyJob, limit: float, pace: float) -> int:
    """Samples that a search for pairs takes at most, in an audit with so many seconds."""
    match job:
        case PairSearch():
            each = max(estimate.LEAST_RUNS, job.runs // search.ESTIMATES)
            most = 2 * each * math.ceil((1 + search.TESTED) * search.ESTIMATES)
        case GroupChains():
            each = max(chains.LEAST_RUNS, job.runs // chains.ESTIMATES)
            most = 2 * each * (chains.ESTIMATES + chains.LINK_RUNS * len(job.claims))
        case _:
            most = 0
    return most if math.isinf(limit) else min(most, int(SEARCH_SHARE * limit / max(pace, 1e-9)))


def _sources(job: Job) -> list[tuple[MechanismTarget | FunctionTarget, Dataset]]:
    """What samples are drawn from: both datasets of a pair, or the kinds of inputs of a guarantee."""
    if isinstance(job, UtilityJob):
        subject, goal = job.target.subject, job.claim.goal
        return [(MechanismTarget(job.target.name, "", Judged(one, subject, goal)), ()) for one in job.case.instances]
    target = job.target
    assert not isinstance(target, RecordedTarget)
    pairs: Sequence[Pair] = job.starts if isinstance(job, GroupChains) else job.pairs
    return [(target, pairs[0].left), (target, pairs[0].right)]


def _bytes(outputs: Outputs) -> float | None:
    """Of an output: numbers as they lie in memory, all else as it is pickled; None if that is not possible."""
    others = [*outputs.counts.items(), *((outcome, 1) for outcome in outputs.others)]
    some = others[:SIZED]
    try:
        sizes = sum(times * len(by_value.dumps(outcome)) for outcome, times in some)
    except Exception:
        return None
    each = sizes / max(1, sum(times for _, times in some))
    whole = sum(block.nbytes for block in outputs.blocks) + each * sum(times for _, times in others)
    return whole / outputs.runs
