"""Group privacy as an audit of its own: chains of neighbours are walked to the pair that tells a group apart best.

Where there are laws (or densities), every step is chosen by them, and every link of the chain is held against the claim
for neighbours; otherwise runs estimate, and what they suggest is tested on fresh ones.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.random import Generator as Random
from numpy.random import default_rng

from dpaudit.adversary import Event, Pair
from dpaudit.adversary.pairs.chains import Chain, ChainMutations, chain_between, longer, pieces
from dpaudit.adversary.pairs.climb import climb
from dpaudit.errors import MechanismError, NotEnumerableError, OutputError, TimeLimitError
from dpaudit.evidence.density import compared
from dpaudit.evidence.estimate import SampledObjective
from dpaudit.evidence.exact import LEFT_RIGHT, PATHS, claim_record, finite, pair_record
from dpaudit.evidence.findings import Findings
from dpaudit.evidence.pace import FOR_SAMPLES, SEARCH_SHARE, measure
from dpaudit.evidence.worst_pair import Subject, needed
from dpaudit.interpret import LawCache, law
from dpaudit.interpret.range_laws import has_ranges
from dpaudit.language import Claim, Mechanism
from dpaudit.language.distributions import plain
from dpaudit.options import DATA, GROUPS
from dpaudit.plans.job import GroupChains
from dpaudit.results import model
from dpaudit.results.model import ChainLink, ExactEvidence, Verdict
from dpaudit.results.notes import ChainLinkRefutes, ChainsCompared, SearchTimeLimit
from dpaudit.results.refutation import ROUNDING, refutes
from dpaudit.results.stream import Progress
from dpaudit.subjects.recorded import RecordedTarget
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget
from dpaudit.subjects.user_errors import guarded

COMPARED = 800
"""Pairs whose laws are compared for one chain, at most; fewer where laws are large."""
DEAR = 10_000
"""A distribution with this many outcomes counts as one extra comparison."""
ESTIMATES = 250
"""The cheapest estimates that a walk may cost; together as many runs as one pair may have."""
LEAST_RUNS = 100
"""Samples per dataset of the cheapest estimate."""
WIDTH = 6
"""Chains that are kept at every length."""
LONGER = 16
"""Chains that are tried from every kept one by another link."""
PATIENCE = 6
"""Rounds without a worse chain after which the last climb ends."""
LINK_RUNS = 8
"""Factor on the samples of the cheapest estimate, for both datasets of every link of the kept chain."""
LEAK = 1e9
"""Stands for an infinite ε in a ranking."""
TIE = 1e-10
"""Times the logarithm of its records is taken from a chain's score: of equally bad ones the smallest is kept."""
CHAIN = 0xC4A1
"""Marks the walk's own stream of random numbers."""


def find_chain(
    job: GroupChains, runner: Runner, findings: Findings, *, seed: int
) -> Generator[Progress, None, GroupChains]:
    """The job with the ends of the worst chain that was found; `findings.chain` holds its links.

    The search takes at most half of the time that is left; the ends are audited with the rest.

    Where the exact law of a link refutes the claim for neighbours although the ends keep that for groups, it is the
    job of that link and that claim: a group's claim rests on it.

    Raises:
        NotEnumerableError: no chain of that length was found on which the mechanism runs.
        MechanismError: it fails on all of them.
    """
    mechanism = _with_law(job, runner, findings)
    search: _Search = (
        _Runs(job, runner, findings, seed) if mechanism is None else _Laws(job, mechanism, runner, findings)
    )
    try:
        with runner.within(SEARCH_SHARE * runner.share):
            yield from _walk(search, job, default_rng([seed, CHAIN, len(job.claims)]))
    except TimeLimitError:
        if search.best is None:
            raise
        findings.notes.append(SearchTimeLimit("chains"))
    if search.best is None:
        if search.crash is not None:
            raise search.crash
        raise NotEnumerableError(
            "No chain of {} neighbours was found on which {} runs; name other records with {}, or fewer {}.",
            len(job.claims), job.target.name, DATA, GROUPS,
        )
    chain = search.best
    if not any((chain.pair.left, chain.pair.right) == (pair.left, pair.right) for pair in job.starts):
        chain = replace(chain, source="found")
    findings.notes.append(ChainsCompared(search.exact, search.compared, len(chain)))
    yield search.progress()
    with runner.limited():
        return search.settled(chain)


def concluded(chain: model.Chain | None, verdict: Verdict) -> model.Chain | None:
    """What a verdict from runs says of a chain: if its ends refute more than the links give, some link refutes."""
    if chain is None or chain.delta is not None or verdict is not Verdict.FAIL:
        return chain
    tight, stated = chain.tight, chain.stated
    if tight.epsilon > stated.epsilon or tight.delta > stated.delta:
        return replace(chain, exceeded=True)
    estimates = [-math.inf if link.estimate is None else link.estimate for link in chain.links]
    return replace(chain, exceeded=True, tight_exceeded=True, named=1 + int(np.argmax(estimates)))


def _with_law(job: GroupChains, runner: Runner, findings: Findings) -> Mechanism | None:
    """The mechanism, if the first starting pair that it accepts has computable output distributions or densities."""
    if not isinstance(job.target, MechanismTarget) or job.black_box or not job.exact:
        return None
    mechanism = job.target.subject
    for pair in job.starts:
        try:
            with runner.guarded(job.target.name):
                needed(Subject(mechanism, pair), job.claims[0], findings.laws)
        except MechanismError:
            continue
        except NotEnumerableError:
            return None
        return mechanism
    return None


@dataclass
class _Search(ABC):
    """What a walk has compared, and the worst chain of the wanted length."""

    job: GroupChains
    runner: Runner
    findings: Findings
    compared: int = 0
    used: int = 0
    """Of `most`."""
    most: int = COMPARED
    best: Chain | None = None
    crash: MechanismError | OutputError | None = None
    exact: ClassVar[bool]
    """Whether it compares output distributions, and not samples."""

    @abstractmethod
    def score(self, chain: Chain, effort: int) -> float:
        """The ε of the ends, against the claim for this number of links; −∞ if the mechanism rejects them."""

    @abstractmethod
    def settled(self, chain: Chain) -> GroupChains:
        """The job of the chain, with every link compared."""

    def progress(self) -> Progress:
        """The progress so far."""
        what = f"searching chains of {len(self.job.claims)} neighbours, {self.compared:,} compared"
        return Progress(min(self.used, self.most), self.most, what, None)


class _Laws(_Search):
    """By exact laws or densities, each computed once."""

    exact = True

    def __init__(self, job: GroupChains, mechanism: Mechanism, runner: Runner, findings: Findings) -> None:
        super().__init__(job, runner, findings)
        self.mechanism = mechanism
        self.known: dict[Hashable, float] = {}
        self.stated = self.job.claims[-1]
        self.tight = self.job.claims[0].chained(len(self.job.claims))
        # where all of δ is on outcomes that the other dataset lacks, its rounding alone would need an infinite ε
        shade = min(1.0, self.tight.delta * (1 + ROUNDING))
        self.shaded = replace(self.tight, delta=shade)
        self.sharpest: tuple[float, Chain] | None = None
        """What needs most at the δ that the links give, which may be another chain than the worst."""

    def score(self, chain: Chain, effort: int) -> float:
        key = chain.datasets[0], chain.datasets[-1]
        if key not in self.known:
            self.compared += 1
            dear = 0
            claim, subject = self.job.claims[len(chain) - 1], Subject(self.mechanism, chain.pair)
            try:
                with self.runner.guarded(self.job.target.name):
                    score = needed(subject, claim, self.findings.laws)
                    if len(chain) == len(self.job.claims) and self.tight != self.stated:
                        sharp = needed(subject, self.shaded, self.findings.laws)
                        if self.sharpest is None or sharp > self.sharpest[0]:
                            self.sharpest = sharp, chain
                    dear = self._outcomes(chain) // DEAR
            except MechanismError as error:
                # it may ask for other numbers of records, or other records
                self.crash, score = error, -math.inf
            except NotEnumerableError:
                score = -math.inf
            self.used += 1 + dear
            # of equally bad ones the smallest
            self.known[key] = min(score, LEAK) - TIE * math.log2(2 + len(key[0]) + len(key[1]))
        return self.known[key]

    def _outcomes(self, chain: Chain) -> int:
        """Of the law at one end, which is known; 0 where there are densities instead."""
        try:
            return len(law(self.mechanism, chain.datasets[0], cache=self.findings.laws, path_limit=PATHS))
        except NotEnumerableError:
            return 0

    def settled(self, chain: Chain) -> GroupChains:
        job, laws, single, stated, tight = self.job, self.findings.laws, self.job.claims[0], self.stated, self.tight
        over = self.sharpest is not None and self.sharpest[0] > tight.epsilon * (1 + ROUNDING)
        if over and self.sharpest is not None and self.score(chain, 1) <= stated.epsilon * (1 + ROUNDING):
            chain = replace(self.sharpest[1], source="found")
        with guarded(job.target.name):
            links = [compared(self.mechanism, pair, single, laws).evidence for pair in chain.links]
            worst = compared(self.mechanism, chain.pair, stated, laws)
            ends = worst.evidence
            against_tight = ends if tight == stated else compared(self.mechanism, chain.pair, tight, laws).evidence
            losses = _losses(self.mechanism, chain, worst.event, ends, laws)
        refuting = [refutes(link, single) for link in links]
        exceeded, tight_exceeded = refutes(ends, stated), refutes(against_tight, tight)
        named = 1 + max(range(len(links)), key=lambda i: (_needs(links[i]), links[i].delta))
        broken = any(refuting) or tight_exceeded
        self.findings.chain = model.Chain(
            single=claim_record(single),
            stated=claim_record(stated),
            tight=claim_record(tight),
            pair=pair_record(chain.pair, stated),
            epsilon=ends.epsilon,
            delta=ends.delta,
            exceeded=exceeded,
            tight_exceeded=tight_exceeded,
            named=named if broken else None,
            walked=self.compared,
            links=[
                ChainLink(
                    link.pair, link.epsilon, link.delta, link.bounds, None if loss is None else finite(loss),
                    impossible=loss == math.inf, exceeds=refuted,
                )
                for link, loss, refuted in zip(links, losses, refuting, strict=True)
            ],
        )
        if broken and not exceeded:
            self.findings.notes.append(ChainLinkRefutes(named, str(stated), str(single)))
            pair = replace(chain.links[named - 1], source="found")
            return replace(job, claim=single, pairs=(pair,), runs=0)
        return replace(job, pairs=(chain.pair,), runs=0)


class _Runs(_Search):
    """By estimates from runs, which are used for nothing else."""

    exact = False

    def __init__(self, job: GroupChains, runner: Runner, findings: Findings, seed: int) -> None:
        least, most = max(LEAST_RUNS, job.runs // ESTIMATES), ESTIMATES
        left, pace = runner.left, self._pace(job, runner, seed)
        if left is not None and pace:
            # fewer samples for each estimate, and fewer estimates, where calls are too slow for the time
            in_time = int(FOR_SAMPLES * SEARCH_SHARE * left / (2 * pace))
            least = max(LEAST_RUNS, min(least, in_time // ESTIMATES))
            most = min(ESTIMATES, in_time // least)
        super().__init__(job, runner, findings, most=most)
        self.objective = SampledObjective(job, runner, seed)
        self.least = least

    def _pace(self, job: GroupChains, runner: Runner, seed: int) -> float | None:
        """Seconds of a sample, if there is a time limit and the first pair does not fail."""
        target = job.target
        if runner.left is None or not job.starts or isinstance(target, RecordedTarget):
            return None
        try:
            with runner.guarded(target.name):
                return measure([(target, job.starts[0].left), (target, job.starts[0].right)], seed=seed).seconds
        except (MechanismError, OutputError):
            return None

    def score(self, chain: Chain, effort: int) -> float:
        self.used += effort
        try:
            return self._estimate(chain.pair, self.job.claims[len(chain) - 1], effort)
        except (MechanismError, OutputError) as error:
            # it may ask for more records than a dataset has; others are tried before that is the result
            self.crash = error
            return -math.inf

    def settled(self, chain: Chain) -> GroupChains:
        single, stated = self.job.claims[0], self.job.claims[-1]
        links = [
            ChainLink(
                pair_record(pair, single, self.job.target), None, None,
                estimate=max(0.0, self._estimate(pair, single, LINK_RUNS)),
            )
            for pair in chain.links
        ]
        self.findings.chain = model.Chain(
            single=claim_record(single),
            stated=claim_record(stated),
            tight=claim_record(single.chained(len(chain))),
            pair=pair_record(chain.pair, stated, self.job.target),
            epsilon=None,
            delta=None,
            exceeded=False,
            tight_exceeded=None,
            named=None,
            walked=self.compared,
            links=links,
        )
        return replace(self.job, pairs=(chain.pair,))

    def _estimate(self, pair: Pair, claim: Claim, effort: int) -> float:
        """A lower estimate of ε; where it is 0, how far the event's frequencies are from a violation, below 0."""
        self.compared += 1
        runs = self.least * effort
        height = self.objective.estimate(pair, runs, index=self.compared, claim=claim).height
        self.findings.searched += 2 * runs
        return height


def _walk(search: _Search, walk: GroupChains, rng: Random) -> Generator[Progress, None, None]:
    """Chains of one link, the best of them by another one, and so on; then other chains of the last length."""
    single, links = walk.claims[0].relation, len(walk.claims)
    begun = [chain_between(pair, single) for pair in walk.starts]
    known = [piece for chain in begun if chain is not None for piece in pieces(chain, links)]
    kept: list[Chain] = []
    # fewer records than links cannot all be replaced
    least = links if single.kind == "replace-one" else 0
    for length in range(1, links + 1):
        neighbourhood = ChainMutations(single, length, walk.records, least, walk.most)
        # a quarter each for neighbours, what is between, chains of the last length, and other such chains
        share = search.most // 4 // (1 if length in (1, links) else links - 2)
        chosen = [other for chain in kept for other in longer(chain, single, walk.records, rng, LONGER)]
        candidates = {
            neighbourhood.key(chain): chain
            for chain in (*chosen, *(chain for chain in known if len(chain) == length))
            if neighbourhood.admits(chain)
        }
        limit = search.used + share
        ranked = yield from _best(search, list(candidates.values()), neighbourhood, rng, limit, rounds=1)
        # a chain that was begun with goes on from what it is between its ends as well
        kept = ranked or kept
    if ranked := (yield from _best(search, kept, neighbourhood, rng, search.most, rounds=search.most)):
        search.best = ranked[0]


def _best(
    search: _Search, starts: Sequence[Chain], neighbourhood: ChainMutations, rng: Random, limit: int, *, rounds: int
) -> Generator[Progress, None, list[Chain]]:
    """The best few of them, or of what a climb from them finds; what the mechanism does not take is left out."""
    best: list[Chain] = []
    starts = [chain for chain in starts if len(chain) == neighbourhood.links]
    for state in climb(
        starts, search.score, neighbourhood, rng=rng, rounds=rounds, width=WIDTH, patience=PATIENCE,
        stop=lambda: search.used >= limit,
    ):
        best = [scored.item for scored in state.best if scored.score > -math.inf]
        if best and neighbourhood.links == len(search.job.claims):
            search.best = best[0]
        yield search.progress()
    return best


def _losses(
    mechanism: Mechanism, chain: Chain, event: Event, ends: ExactEvidence, laws: LawCache
) -> list[float | None]:
    """ln of the ratio of the event's probabilities on the two datasets of every link, from the end where it is more
    likely; None where it is impossible on both, or on the nearer one alone."""
    nothing: list[float | None] = [None] * len(chain)
    if ends.by_density or ends.event is None:
        return nothing
    shares = []
    for dataset in chain.datasets:
        one = law(mechanism, dataset, cache=laws, path_limit=PATHS)
        if has_ranges(one.values):
            # an event may cut the ranges of a law that it was not made from
            return nothing
        shares.append(math.fsum(one.probs[event.marks(plain(one.values))].tolist()))
    forward = ends.direction == LEFT_RIGHT
    return [_loss(*(link if forward else link[::-1])) for link in pairwise(shares)]


def _loss(near: float, far: float) -> float | None:
    if far == 0:
        return math.inf if near > 0 else None
    return math.log(near) - math.log(far) if near > 0 else None


def _needs(link: ExactEvidence) -> float:
    return math.inf if link.epsilon is None else link.epsilon



