"""The sequential test of a case: test the claim on events learned from earlier samples, stop when it is refuted."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from itertools import tee

import numpy as np

from dpaudit.adversary import Pair
from dpaudit.adversary.events.learner import LearnedEvent, Learner
from dpaudit.errors import NoMoreOutputsError, TimeLimitError
from dpaudit.evidence.assumptions import Monitor
from dpaudit.evidence.sampling import LEARN, Batch, Draws, Samples, batches, following
from dpaudit.interpret import Outputs
from dpaudit.language import Claim
from dpaudit.language.relation import plain_records
from dpaudit.plans.alpha_shares import Shares
from dpaudit.plans.job import PrivacyJob, RecordedSamples
from dpaudit.plans.request import PriorEvidence
from dpaudit.results.reasons import rounded_down
from dpaudit.results.stream import Notice, Progress
from dpaudit.stats import eprocess, power
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.eprocess import Counts, EProcess
from dpaudit.subjects.recorded import MOST_FOLLOWED
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget

BITS_RUNS = 4_000
"""Samples per dataset whose bit patterns are tested where they do not count in the verdict: leaks there show early."""
MOST_EPSILON = 300.0
"""Beyond any bound that runs can reach, and its exponential is still a float when squared."""
DIGITS = 9
"""Decimals of a supplied log-likelihood ratio that count when outputs are compared."""
GRID = 160
MORE_TO_SAY = 1.1
"""Growth of the samples from files that are followed, from which the next interim verdict is shown."""


@dataclass
class Track:
    """One pair under test: what was learned of it, and its e-processes."""

    index: int
    pair: Pair
    learner: Learner
    process: EProcess
    bits: Learner
    bits_process: EProcess
    runs: int = 0
    """Samples per dataset in the sequential phase."""
    runs_certified: int = 0
    bits_runs: int = 0
    learned_bits: LearnedEvent | None = None
    real: bool = False
    """Whether an output so far was or held a double."""


@dataclass
class Sequential:
    """The evidence of one case, over all its pairs.

    Args:
        tracks: the pairs under test.
        shares: how the case's error is divided.
        counted: whether bit patterns count in the verdict.
        prior: the e-value of earlier results, if any.
        at: the claimed ε's place on the grid.
        points: the (ε, δ) of a claim that is a curve; the grid is then the claim alone. None for one (ε, δ).
    """

    tracks: list[Track]
    shares: Shares
    counted: bool
    prior: PriorEvidence | None
    epsilons: FloatArray
    at: int
    peaks: FloatArray
    runs: int = 0
    """In total: both datasets, all pairs, certification included."""
    refuted_at: int | None = None
    trail: list[tuple[int, float]] = field(default_factory=list)
    """(samples per dataset so far, averaged over the pairs; log e at the claimed ε) after every batch."""
    cut_short: bool = False
    ended: bool = False
    """Whether a stream of recorded outputs ended before the audit did."""
    monitor: Monitor = field(default_factory=Monitor)
    """What all samples of this audit say of the assumptions."""
    key: str = ""
    """What it is evidence about."""
    smaller: Track | None = None
    """The pair that the strongest one was shrunk to; it is certified in its place, and not part of the e-process."""
    points: tuple[tuple[float, float], ...] | None = None

    @property
    def threshold(self) -> float:
        """ln(1/α) of the e-process."""
        return math.log(1 / self.shares.sequential)

    @property
    def refuted(self) -> bool:
        """Whether the claim is."""
        return self.refuted_at is not None

    @property
    def log_e(self) -> float:
        """Its value now, at the claimed ε."""
        return float(self._values()[self.at])

    @property
    def epsilon_lower(self) -> float:
        """Lower bound on ε over the whole path; 0 where the claim is a curve, which has no single δ."""
        if self.points is not None:
            return 0.0
        lower = eprocess.largest_rejected(self.epsilons, self.peaks, alpha=self.shares.sequential)
        # what is refuted is exceeded, and the bound of a refuted claim is above it
        return math.nextafter(lower, math.inf) if self.refuted and lower == self.epsilons[self.at] else lower

    @property
    def strongest(self) -> Track:
        """The pair with most evidence."""
        return max(self.tracks, key=self._evidence)

    def by_bits(self, track: Track) -> bool:
        """Whether the bit patterns of a pair count in the verdict and show more than its other events."""
        bits, others = (float(each.log_values[self.at]) for each in (track.bits_process, track.process))
        return self.counted and bits > others

    @property
    def leaks(self) -> bool:
        """Whether bit patterns refute the claim, where they are kept apart."""
        return self.bits_peak >= math.log(1 / (self.shares.bits or self.shares.sequential))

    @property
    def bits_peak(self) -> float:
        """ln of the largest e-value that bit patterns gave, averaged over the pairs."""
        peaks = [float(track.bits_process.log_peaks[self.at]) for track in self.tracks]
        # an average of peaks would be none of an e-process: each pair is tested at its own share
        return max(peaks, default=0.0) - math.log(max(1, len(self.tracks)))

    def interim_analysis(self) -> None:
        """Update the evidence after a batch; time is the number of samples per dataset, averaged over the pairs."""
        values = self._values()
        runs = round(sum(track.runs + track.runs_certified for track in self.tracks) / len(self.tracks))
        self.peaks = np.maximum(self.peaks, values)
        self.trail.append((runs, float(values[self.at])))
        # a level gets at most the value of the levels below it, so the bound on ε reaches the claim at this point, and
        # one share of α covers both the verdict and the bound
        if self.refuted_at is None and self.peaks[self.at] >= self.threshold:
            self.refuted_at = runs

    def _values(self) -> FloatArray:
        """ln of the average over pairs (and bit patterns if they count) of the e-processes, times the prior evidence.

        A refutation of a level refutes every smaller one, so a level gets at most the value of the levels below it.
        Prior evidence is against the claimed ε, and so against every smaller one; with the former, the product over
        the sessions is at each of these levels at most that of the level's own processes. Above the claim every
        session starts again, with a share so small that all sessions together use no more than its part of α.
        """
        members = [track.process.log_values for track in self.tracks]
        if self.counted:
            members += [track.bits_process.log_values for track in self.tracks]
        mean: FloatArray = np.logaddexp.reduce(members, axis=0) - math.log(len(members))
        mean = np.minimum.accumulate(mean)
        if self.prior is not None:
            mean[: self.at + 1] += self.prior.log_e
            mean[self.at + 1 :] += math.log(self.shares.above / self.shares.sequential)
        return mean

    def _evidence(self, track: Track) -> float:
        own = float(track.process.log_values[self.at])
        return max(own, float(track.bits_process.log_values[self.at])) if self.counted else own


def begin(
    job: PrivacyJob, shares: Shares, *, seed: int, counted: bool, prior: PriorEvidence | None, key: str = ""
) -> Sequential:
    """The state before the first run."""
    claim = min(job.claim.epsilon, MOST_EPSILON)
    points = points_of(job.claim)
    epsilons, at = (np.array([claim]), 0) if points is not None else grid(claim, job.runs, job.claim.delta)
    tracks = [
        Track(
            index,
            pair,
            Learner(log_ratio=log_ratio(job, pair), seed=seed),
            EProcess(epsilons, job.claim.delta),
            Learner(bits=True, seed=seed),
            EProcess(epsilons, job.claim.delta),
        )
        for index, pair in enumerate(job.pairs)
    ]
    state = Sequential(tracks, shares, counted, prior, epsilons, at, np.zeros(len(epsilons)), key=key, points=points)
    state.peaks = state._values()
    return state


def points_of(claim: Claim) -> tuple[tuple[float, float], ...] | None:
    """The (ε, δ) of a claim that is a curve; None for a claim of one (ε, δ)."""
    if claim.curve is None:
        return None
    within = tuple(point for point in claim.points if point[0] <= MOST_EPSILON)
    # beyond it no samples can refute anything
    return within or ((MOST_EPSILON, 1.0),)


def choose(learner: Learner, claim: Claim) -> LearnedEvent:
    """The event to test next; of a curve with the (ε, δ) to test it at."""
    points = points_of(claim)
    if points is not None:
        return learner.choose_on_curve(points)
    return learner.choose_event(epsilon=min(claim.epsilon, MOST_EPSILON), delta=claim.delta)


def explore(
    job: PrivacyJob, state: Sequential, runner: Runner, *, seed: int, certify: bool
) -> Generator[Progress | Notice, None, int]:
    """Batches on every pair, each tested on the event learned from all earlier ones; returns the samples per dataset.

    Stops as soon as the claim is refuted, unless `certify`. The evidence collected before a time limit or a crash of
    the mechanism stays valid: an e-process may be stopped at any time.
    """
    files = job.followed if isinstance(job, RecordedSamples) else None
    sizes, ahead = tee(batches(job.learning) if files is None else following(files, seed=seed, most=job.runs))
    planned = (
        Batch(track.pair, size, track.index, LEARN, batch)
        for batch, size in enumerate(ahead) if size is not None for track in state.tracks
    )
    draws = Draws(
        job, runner, planned, seed=seed, runs=2 * job.learning * len(state.tracks) if files is None else None,
        noted=state.monitor.note,
    )
    done = said = 0
    try:
        for size in sizes:
            if size is None:
                if done > MORE_TO_SAY * said:
                    yield Notice(_interim(job, state, done))
                    said = done
                yield Progress(0, 1, f"waiting for new files, {done:,} samples per dataset so far", state.epsilon_lower)
                with runner.limited():
                    # the time limit
                    continue
            for track in state.tracks:
                what, of = _what(track, state, done, job.runs), job.runs
                if of >= MOST_FOLLOWED:
                    what, of = f"testing, {done:,} samples per dataset so far", 0
                yield Progress(min(done, of), max(of, 1), what, state.epsilon_lower)
                samples = draws.next()
                state.monitor.see(samples)
                # if they do not count, a few thousand samples are enough to find a leak
                bits = state.counted or (not state.leaks and track.runs < BITS_RUNS)
                _multiply(track, samples, job, bits=bits)
                track.learner.add(*samples)
                track.runs += size
                state.runs += sum(outputs.runs for outputs in samples)
            done += size
            state.interim_analysis()
            if state.refuted and not certify:
                break
    except TimeLimitError:
        state.cut_short = True
    except NoMoreOutputsError:
        state.ended = True
    finally:
        draws.close()
    state.ended = state.ended or files is not None
    return done


def _interim(job: PrivacyJob, state: Sequential, done: int) -> str:
    """What holds now, whenever the audit stops."""
    bound = None if state.points is not None else f"ε ≥ {rounded_down(state.epsilon_lower)}"
    claimed = not isinstance(job, RecordedSamples) or job.claimed
    verdict = None if not claimed else "the claim is refuted" if state.refuted else "the claim is not refuted"
    return f"After {done:,} samples per dataset: {', '.join(part for part in (verdict, bound) if part)}."


def _multiply(track: Track, samples: Samples, job: PrivacyJob, *, bits: bool) -> None:
    """Test the event learned from earlier batches, and only then learn from this one.

    Args:
        bits: whether low-order bits may still show something.
    """
    if track.runs:
        update(track.process, choose(track.learner, job.claim), samples)
    track.real = track.real or any(_holds_doubles(outputs) for outputs in samples)
    if bits and track.real:
        if track.runs:
            track.learned_bits = choose(track.bits, job.claim)
            update(track.bits_process, track.learned_bits, samples)
        track.bits.add(*samples)
        track.bits_runs += samples[0].runs


def update(process: EProcess, learned: LearnedEvent, samples: Samples) -> None:
    """Test an event, and that of the other direction, on fresh samples."""
    top, bottom = reversed(samples) if learned.reverse else samples
    n, m = top.runs, bottom.runs
    if learned.other is None:
        batch = Counts(learned.event.count(top), n, learned.event.count(bottom), m)
        process.update(batch, past=learned.counts, point=learned.point)
        return
    hits = [learned.event.count_with(learned.other.event, some) for some in (top, bottom)]
    (x, other_y, both_x), (y, other_x, both_y) = hits
    process.update(
        Counts(x, n, y, m), past=learned.counts, other=Counts(other_x, m, other_y, n),
        other_past=learned.other.counts, both=(both_x, both_y), point=learned.point,
    )


def log_ratio(job: PrivacyJob, pair: Pair) -> Callable[[FloatArray], FloatArray] | None:
    """ln(density on the left : on the right) of outputs, where the mechanism knows it and may tell."""
    density = getattr(job.target.subject, "log_density", None) if isinstance(job.target, MechanismTarget) else None
    if density is None or job.black_box:
        return None
    left, right = plain_records(pair.left), plain_records(pair.right)

    def ratio(outputs: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            loss: FloatArray = density(left, outputs) - density(right, outputs)
        # NaN: impossible on both datasets. Where the ratio is constant, its last digits are those of rounding,
        # which depend on the low bits of the output: an event cut between them would be a leak of doubles in disguise
        known: FloatArray = np.where(np.isnan(loss), 0.0, loss)
        return known.round(DIGITS)

    return ratio


def grid(claim: float, runs: int, delta: float) -> tuple[FloatArray, int]:
    """Levels ε at which the claim's family is tested: the claimed one, and up to what so many runs can ever certify."""
    most = max(claim, power.largest_certifiable(max(runs, 1), 0.05) + math.log1p(-min(delta, 0.999999)))
    # fine where ε is small, in steps of a percent or so where it is large
    spread = np.sinh(np.linspace(0, math.asinh(50 * most), GRID)) / 50
    epsilons = np.unique(np.append(spread, claim))
    return epsilons, int(np.searchsorted(epsilons, claim))


def _holds_doubles(outputs: Outputs) -> bool:
    return bool(outputs.blocks or outputs.others)


def _what(track: Track, state: Sequential, done: int, runs: int) -> str:
    pairs = f"pair {track.index + 1} of {len(state.tracks)}, " if len(state.tracks) > 1 else ""
    return f"testing, {pairs}{done:,} of {runs:,} samples per dataset"
