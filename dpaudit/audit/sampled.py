"""Sampled evidence: train an event on some runs, certify it on fresh ones."""

from __future__ import annotations

import math
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from numpy.random import SeedSequence

from dpaudit.adversary import Event, Pair, Witness, search
from dpaudit.audit.events import Progress
from dpaudit.audit.exact import LEFT_RIGHT, RIGHT_LEFT, pair_record
from dpaudit.audit.request import TESTS_OF_FOUND_PAIRS, Job
from dpaudit.audit.results import EventRecord, SampledEvidence
from dpaudit.audit.runner import Runner, Unit
from dpaudit.errors import TimeLimitError
from dpaudit.interpret import Outputs, Tally
from dpaudit.stats import clopper_pearson, power, score_test

CHECKPOINTS = 10
"""Chunks of a certification at least: points of the plot of the bound against runs."""
LEAST_TRAINING = 500
SHOWN = 200_000
"""Certifying runs, both sides together, whose outputs are kept for the picture."""
MOST_EPSILON = 300.0

RANK, SELECT, CERTIFY = range(3)


@dataclass
class Certified:
    """One certified pair: its witness and counts, chunk by chunk."""

    pair: Pair
    witness: Witness
    evidence: SampledEvidence
    trail: list[tuple[int, int, int]] = field(default_factory=list)
    """(runs a side, x, y) after every chunk."""
    shown: tuple[Outputs, Outputs] | None = None
    """Certifying outputs on left and right, for the picture."""


@dataclass
class Collected:
    """What sampling one case gave."""

    certified: list[Certified] = field(default_factory=list)
    runs: int = 0
    cut_short: bool = False

    @property
    def best(self) -> Certified | None:
        """The strongest evidence: highest bound, then smallest p-value."""
        return max(
            self.certified, key=lambda c: (c.evidence.epsilon_lower, -c.evidence.p_value), default=None
        )


def training_runs(runs: int) -> int:
    """Training runs a side in each of the two phases: a tenth of the certifying ones, and enough to learn from."""
    return max(LEAST_TRAINING, runs // 10)


def collect(
    job: Job, seed: int, alpha: float, runner: Runner, out: Collected
) -> Generator[Progress, None, None]:
    """Train on every pair, certify the ones that go on, at error `alpha` each; `out` is filled on the way.

    Emits progress; what was certified before the time limit came, or before the mechanism crashed, is kept.
    """
    witnesses: list[tuple[int, Pair, Witness]] = []
    trained = training_runs(job.runs)
    steps = 2 * len(job.case.pairs) + CHECKPOINTS * job.tests
    done = 0
    try:
        for index, pair in enumerate(job.case.pairs):
            yield Progress(done, steps, f"learning events, pair {index + 1} of {len(job.case.pairs)}", None)
            phases = []
            for phase in (RANK, SELECT):
                sides = [
                    _join(runner.run(job.target, _units(job, seed, index, side, phase, trained))) for side in (0, 1)
                ]
                phases.append((sides[0], sides[1]))
                out.runs += 2 * trained
            witness = search(phases[0], phases[1], runs=job.runs, delta=job.claim.delta, alpha=alpha)
            witnesses.append((index, pair, witness))
            done += 2
        best = 0.0
        for number, (index, pair, witness) in enumerate(_kept(witnesses), 1):
            what = f"certifying, pair {number} of {job.tests}"
            certification = _certify(job, seed, index, pair, witness, alpha, trained, runner, out)
            for runs, bound in certification:
                best = max(best, bound)
                at = done + round(CHECKPOINTS * runs / job.runs)
                yield Progress(at, steps, f"{what}, {runs:,} of {job.runs:,} runs a side", best)
            if out.cut_short:
                return
            done += CHECKPOINTS
    except TimeLimitError:
        out.cut_short = True


def _kept(witnesses: list[tuple[int, Pair, Witness]]) -> list[tuple[int, Pair, Witness]]:
    """All given pairs, and of those that the tool found the most promising (training runs decide, so it is free)."""
    found = [w for w in witnesses if w[1].source in ("random", "extreme")]
    best = sorted(found, key=lambda w: -w[2].expected)[:TESTS_OF_FOUND_PAIRS]
    return [w for w in witnesses if w not in found or w in best]


def _certify(
    job: Job, seed: int, index: int, pair: Pair, witness: Witness, alpha: float, trained: int, runner: Runner,
    out: Collected,
) -> Generator[tuple[int, float], None, None]:
    """Fresh runs on both sides, chunk by chunk; appends what whole chunks there are to `out.certified`.

    Chunks before a crash are not counted: they were seen because nothing crashed in them, so their outputs are
    conditional on that, and the claim says nothing about conditional laws.
    """
    sides = [_units(job, seed, index, side, CERTIFY, job.runs) for side in (0, 1)]
    # both sides of a chunk follow each other, so that what is done when the time is up is balanced
    units = [unit for both in zip(*sides, strict=True) for unit in both]
    numerator, denominator = (1, 0) if witness.reverse else (0, 1)
    hits, runs, shown = [0, 0], [0, 0], [Tally(), Tally()]
    trail: list[tuple[int, int, int]] = []
    try:
        for i, outputs in enumerate(runner.run(job.target, units)):
            side = i % 2
            hits[side] += witness.event.count(outputs)
            runs[side] += outputs.runs
            out.runs += outputs.runs
            if i < 2 or sum(runs) <= SHOWN:
                shown[side].merge(outputs)
            if side == 1:
                trail.append((runs[0], hits[numerator], hits[denominator]))
                yield runs[0], clopper_pearson.epsilon_lower(
                    hits[numerator], runs[0], hits[denominator], runs[1], delta=job.claim.delta, alpha=alpha
                )
    except TimeLimitError:
        out.cut_short = True
    if trail:
        evidence = _weigh(job, pair, witness, trail[-1], alpha, trained)
        outputs_shown = (shown[0].outputs(), shown[1].outputs())
        out.certified.append(Certified(pair, witness, evidence, trail, outputs_shown))


def _weigh(
    job: Job, pair: Pair, witness: Witness, last: tuple[int, int, int], alpha: float, trained: int
) -> SampledEvidence:
    n, x, y = last
    claim = job.claim
    # beyond any bound that runs can reach, and its exponential is still a float when squared
    epsilon = min(claim.epsilon, MOST_EPSILON)
    # an upper limit of q at 95 %: the point estimate would promise too much
    likely = clopper_pearson.upper(y, n, alpha=0.05)
    detectable = power.detectable_epsilon(likely, n, n, epsilon=epsilon, delta=claim.delta, alpha=alpha)
    return SampledEvidence(
        pair=pair_record(pair, claim),
        direction=RIGHT_LEFT if witness.reverse else LEFT_RIGHT,
        event=event_record(witness.event),
        x=x,
        n=n,
        y=y,
        m=n,
        p_value=score_test.p_value(x, n, y, n, epsilon=epsilon, delta=claim.delta, berger_boos=alpha / 1000),
        epsilon_lower=score_test.epsilon_lower(x, n, y, n, delta=claim.delta, alpha=alpha),
        epsilon_lower_clopper_pearson=clopper_pearson.epsilon_lower(x, n, y, n, delta=claim.delta, alpha=alpha),
        alpha=alpha,
        detectable_epsilon=detectable if math.isfinite(detectable) else None,
        runs_trained=2 * trained,
    )


def event_record(event: Event) -> EventRecord:
    """The event as results hold it."""
    return EventRecord(event.description, event.spec)


def _units(job: Job, seed: int, index: int, side: int, phase: int, runs: int) -> list[Unit]:
    """Units of work whose seeds depend on what they are for alone: not on order, workers or other cases."""
    pair = job.case.pairs[index]
    key = zlib.crc32(f"{job.target.name}/{job.case.label}".encode())
    chunks = CHECKPOINTS if phase == CERTIFY else 1
    if job.target.chunk is not None:
        chunks = max(chunks, math.ceil(runs / job.target.chunk))
    chunks = min(chunks, runs)
    sizes = [runs // chunks + (i < runs % chunks) for i in range(chunks)]
    dataset = pair.left if side == 0 else pair.right
    return [
        Unit(dataset, size, SeedSequence([seed, key, index, side, phase, chunk])) for chunk, size in enumerate(sizes)
    ]


def _join(parts: Iterator[Outputs]) -> Outputs:
    tally = Tally()
    for part in parts:
        tally.merge(part)
    return tally.outputs()
