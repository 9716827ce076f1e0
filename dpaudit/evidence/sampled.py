"""Sampled evidence: certify, on fresh runs, the event that the sequential phase has learned."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

from dpaudit.adversary import Event, Pair
from dpaudit.adversary.events.learner import LearnedEvent, Learner
from dpaudit.errors import NoMoreOutputsError, TimeLimitError
from dpaudit.evidence.exact import LEFT_RIGHT, RIGHT_LEFT, pair_record
from dpaudit.evidence.sampling import CERTIFY, Batch, Draws
from dpaudit.evidence.sequential import MOST_EPSILON, Sequential, Track, choose
from dpaudit.interpret import Counted, Outputs, Tally
from dpaudit.plans.alpha_shares import INTERIM_ANALYSES
from dpaudit.plans.job import PrivacyJob
from dpaudit.results.model import EventRecord, SampledEvidence
from dpaudit.results.stream import Progress
from dpaudit.stats import clopper_pearson, power, score_test
from dpaudit.stats.eprocess import Counts
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import LARGE_BLOCK

PARTS = 4
"""Most batches between two interim analyses: points of the plot, and times at which the e-process is tested."""
LEAST_PART = 500
LARGEST_PART = 10_000_000
"""Samples of a batch, after which one sees how far it is."""
AFTER_REFUTATION = 0.5
"""Certifying samples of a refuted claim, relative to all that were needed for that. An anytime bound exceeds the claim
already; more samples are for a sharper one (`certify`)."""
SHOWN = LARGE_BLOCK
"""Certifying samples of each dataset whose outputs are kept for the figure; in later ones the event is counted."""


@dataclass
class Certified:
    """One certified pair: its distinguishing event and counts, batch by batch."""

    pair: Pair
    learned: LearnedEvent
    evidence: SampledEvidence
    trail: list[Counts] = field(default_factory=list)
    """After every batch."""
    shown: tuple[Outputs, Outputs] | None = None
    """Certifying outputs on left and right, for the figure."""


@dataclass
class Collected:
    """What sampling one case gave."""

    sequential: Sequential
    certified: list[Certified] = field(default_factory=list)
    cut_short: bool = False

    @property
    def best(self) -> Certified | None:
        """The strongest evidence: highest bound, then smallest p-value."""
        return max(
            self.certified, key=lambda c: (c.evidence.epsilon_lower, -c.evidence.p_value), default=None
        )

    @property
    def epsilon_lower(self) -> float:
        """The best lower bound on ε, of the e-process and of all certificates: they hold together."""
        return max([self.sequential.epsilon_lower, *(c.evidence.epsilon_lower for c in self.certified)])

    def exceeds(self, epsilon: float) -> bool:
        """Whether a certified bound is above it."""
        return any(certified.evidence.epsilon_lower > epsilon for certified in self.certified)


def settled(job: PrivacyJob, state: Sequential) -> PrivacyJob:
    """The job at the (ε, δ) of its curve that fresh samples are to be counted at: where the learning samples show most.

    Where they show nothing, the point stays that at which a violation would show first.
    """
    if state.points is None or job.claim.curve is None:
        return job
    track = state.smaller or state.strongest
    learner = _learner(state, track)
    learner.refit()
    chosen = learner.choose_on_curve(state.points)
    if chosen.point is None:
        return job
    return replace(job, claim=job.claim.at(chosen.point[0])) if chosen.significant or state.refuted else job


def certify(
    job: PrivacyJob, state: Sequential, runner: Runner, out: Collected, *, seed: int, used: int, certify: bool
) -> Generator[Progress, None, None]:
    """Freeze the learned event of every pair that goes on, and count it in fresh runs; `out` is filled on the way.

    Of a claim that is refuted the event is counted on the strongest pair alone, in half as many samples as were needed,
    unless `certify`. Otherwise the e-process goes on testing these samples, and the pair that refutes is the last.

    Args:
        used: samples per dataset of each pair in the sequential phase.
    """
    tracks = [state.smaller or state.strongest] if state.refuted else state.tracks
    out.cut_short = state.cut_short
    budget = job.runs - used
    if state.refuted and not certify:
        budget = min(budget, max(1, round(AFTER_REFUTATION * used * len(state.tracks))))
    if out.cut_short or state.ended or budget < 1:
        return
    for number, track in enumerate(tracks, 1):
        learned = _frozen(job, state, track, budget, len(tracks), certify=certify)
        what = f"counting, pair {number} of {len(tracks)}" if len(tracks) > 1 else "certifying"
        for runs, bound in _count(
            job, state, track, learned, runner, out, seed=seed, budget=budget, tests=len(tracks), certify=certify
        ):
            best = max(bound, out.epsilon_lower)
            yield Progress(used + runs, job.runs, f"{what}, {runs:,} of {budget:,} samples per dataset", best)
        if out.cut_short or (not certify and (state.refuted or out.exceeds(job.claim.epsilon))):
            return


def _frozen(
    job: PrivacyJob, state: Sequential, track: Track, budget: int, tests: int, *, certify: bool
) -> LearnedEvent:
    """The event to certify: the one whose bound is expected to be the largest, of bit patterns too where they count.

    Where the verdict matters and not the bound (not `certify`), it is the event that speaks most against the claim, if
    one significantly does: what certifies most may be much rarer, and known worse.
    """
    epsilon, delta = min(job.claim.epsilon, MOST_EPSILON), job.claim.delta
    if not certify:
        learner = _learner(state, track)
        learner.refit()
        chosen = learner.choose_event(epsilon=epsilon, delta=delta)
        if state.refuted or chosen.significant:
            return chosen
    # not that of the larger e-value: if the claim holds, e-values differ by chance
    learners = [track.learner, track.bits] if state.counted else [track.learner]
    for learner in learners:
        learner.refit()
    alpha = state.shares.final / tests
    events = [learner.certify(epsilon=epsilon, delta=delta, runs=budget, alpha=alpha) for learner in learners]
    return max(events, key=lambda event: event.score)


def _learner(state: Sequential, track: Track) -> Learner:
    return track.bits if state.by_bits(track) else track.learner


def _count(
    job: PrivacyJob,
    state: Sequential,
    track: Track,
    learned: LearnedEvent,
    runner: Runner,
    out: Collected,
    *,
    seed: int,
    budget: int,
    tests: int,
    certify: bool,
) -> Generator[tuple[int, float], None, None]:
    """Fresh samples of both datasets, batch by batch, up to the interim analysis that ends the certificate.

    Each interim analysis tests its counts at its own share of the error, so the phase may stop there, also where a time
    limit or a crash stops it. (A crash is an output like any other, in which no event holds; the counts of an analysis
    that was reached are those of a mechanism that may crash.) It also stops at the next one after the e-process refuted
    the claim.
    """
    sizes = _analyses(budget, certify=certify or state.refuted)
    numerator, denominator = (1, 0) if learned.reverse else (0, 1)
    hits, sampled, done, shown = [0, 0], [0, 0], 0, [Tally(), Tally()]
    trail: list[Counts] = []
    last = (0, 0.0)
    evidence: tuple[Counts, float] | None = None
    delta = job.claim.delta
    if state.points is not None:
        learned = replace(learned, point=(min(job.claim.epsilon, MOST_EPSILON), delta))
    # one event is counted
    learned = replace(learned, other=None)
    parts = [_parts(size - before) for before, size in pairwise([0, *(size for _, size in sizes)])]
    planned = _batches(track, list(chain(*parts)))
    draws = Draws(
        job, runner, planned, seed=seed, runs=2 * budget, noted=state.monitor.note, count=learned.event.count
    )
    try:
        for (analysis, _), its_parts in zip(sizes, parts, strict=True):
            alpha = state.shares.at_analysis(analysis, tests)
            for part in its_parts:
                fresh_hits, fresh_runs = [0, 0], [0, 0]
                for samples in draws.next_parts():
                    state.monitor.see(samples)
                    for which, some in enumerate(samples):
                        fresh_hits[which] += some.hits if isinstance(some, Counted) else learned.event.count(some)
                        fresh_runs[which] += some.runs
                        if isinstance(some, Outputs) and (not done or done + some.runs <= SHOWN):
                            shown[which].merge(some)
                # the event is fixed, so its counts so far give the next alternative
                seen = _with(learned, hits[numerator], sampled[numerator], hits[denominator], sampled[denominator])
                process = track.bits_process if learned.family == "bits" else track.process
                fresh = Counts(
                    fresh_hits[numerator], fresh_runs[numerator], fresh_hits[denominator], fresh_runs[denominator]
                )
                process.update(fresh, past=seen.counts, point=seen.point)
                for which in (0, 1):
                    hits[which] += fresh_hits[which]
                    sampled[which] += fresh_runs[which]
                done += part
                state.runs += sum(fresh_runs)
                if track is not state.smaller:
                    track.runs_certified += part
                    state.interim_analysis()
                trail.append(Counts(hits[numerator], sampled[numerator], hits[denominator], sampled[denominator]))
                bound = clopper_pearson.epsilon_lower(*trail[-1], delta=delta, alpha=alpha)
                last = (done, bound)
                yield last
            evidence = (trail[-1], alpha)
            if not certify and (state.refuted or last[1] > job.claim.epsilon):
                break
    except TimeLimitError:
        out.cut_short = True
    except NoMoreOutputsError:
        state.ended = True
    finally:
        draws.close()
        if evidence is not None:
            counts, alpha = evidence
            weighed = _weigh(job, track, learned, counts, alpha)
            outputs_shown = (shown[0].outputs(), shown[1].outputs())
            upto = [point for point in trail if point.n <= counts.n]
            out.certified.append(Certified(track.pair, learned, weighed, upto, outputs_shown))


def _analyses(budget: int, *, certify: bool) -> list[tuple[int, int]]:
    """(number of the interim analysis, samples per dataset at it): doubling; only the last if nothing stops early."""
    if certify:
        return [(INTERIM_ANALYSES - 1, budget)]
    # with few samples several analyses coincide: the latest has the largest share
    analyses = {
        math.ceil(budget / 2 ** (INTERIM_ANALYSES - 1 - analysis)): analysis for analysis in range(INTERIM_ANALYSES)
    }
    return [(analysis, size) for size, analysis in analyses.items()]


def _batches(track: Track, parts: Sequence[int]) -> Iterator[Batch]:
    """Certifying batches of so many samples of each dataset; outputs are wanted of the first ones alone."""
    done = 0
    for number, part in enumerate(parts):
        whole = part if done + part <= SHOWN else 0 if done else SHOWN
        yield Batch(track.pair, part, track.index, CERTIFY, number, whole)
        done += part


def _parts(runs: int) -> list[int]:
    parts = max(1, min(PARTS, runs // LEAST_PART), -(-runs // LARGEST_PART))
    return [runs // parts + (i < runs % parts) for i in range(parts)]


def _with(learned: LearnedEvent, x: int, n: int, y: int, m: int) -> LearnedEvent:
    return replace(learned, x=learned.x + x, n=learned.n + n, y=learned.y + y, m=learned.m + m)


def _rates(job: PrivacyJob, track: Track, last: Counts, alpha: float) -> tuple[float, ...]:
    """Of the certified event, and of the learned one on which a violation of the claim shows best.

    Upper limits at 95 %: point estimates would be too optimistic. The certified event is the one that the mechanism
    violates most, if it violates anything; another may be the one on which more is seen.
    """
    others, upper = track.learner.base_rates(), clopper_pearson.upper(last.y, last.m, alpha=0.05)
    if not len(others):
        return (upper,)
    epsilon = min(job.claim.epsilon, MOST_EPSILON)
    best = power.most_revealing(others, min(last.n, last.m), epsilon=epsilon, delta=job.claim.delta, alpha=alpha)
    return (upper, *(() if best is None else (float(others[best]),)))


def _weigh(
    job: PrivacyJob, track: Track, learned: LearnedEvent, last: Counts, alpha: float
) -> SampledEvidence:
    x, n, y, m = last
    claim = job.claim
    epsilon = min(claim.epsilon, MOST_EPSILON)
    detectable = min(
        power.detectable_epsilon(q, n, m, epsilon=epsilon, delta=claim.delta, alpha=alpha)
        for q in _rates(job, track, last, alpha)
    )
    return SampledEvidence(
        pair=pair_record(track.pair, claim, job.target),
        direction=RIGHT_LEFT if learned.reverse else LEFT_RIGHT,
        event=event_record(learned.event),
        x=x,
        n=n,
        y=y,
        m=m,
        p_value=score_test.p_value(x, n, y, m, epsilon=epsilon, delta=claim.delta, berger_boos=alpha / 1000),
        epsilon_lower=score_test.epsilon_lower(x, n, y, m, delta=claim.delta, alpha=alpha),
        epsilon_lower_clopper_pearson=clopper_pearson.epsilon_lower(x, n, y, m, delta=claim.delta, alpha=alpha),
        alpha=alpha,
        detectable_epsilon=detectable if math.isfinite(detectable) else None,
        runs_trained=track.runs,
        family=learned.family,
    )


def event_in_test(job: PrivacyJob, state: Sequential) -> EventRecord:
    """The event that the e-process would test next on the strongest pair, where none was counted."""
    return event_record(choose(_learner(state, state.strongest), job.claim).event)


def event_record(event: Event) -> EventRecord:
    """The event as results hold it."""
    return EventRecord(event.description, event.spec)
