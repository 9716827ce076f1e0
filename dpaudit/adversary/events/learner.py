"""Learn the best distinguishing event from past samples of one pair of datasets.

Outputs are scored on many axes (the output itself, its coordinates and their differences, classifiers, a density that
the mechanism supplies). Every axis is cut into cells, and an event is a threshold event or a union of cells. Weights,
trees and the order of cells by likelihood ratio are learned on some folds of the samples and counted on the others. So
the counts of an event are those of fresh samples, except for the choice of the event itself. That choice has a cost in
nats, as in minimum description length: a family with more events to choose from needs more evidence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import default_rng
from scipy import special

from dpaudit.adversary.events.blocks import FOLDS, Atoms, Block, joined
from dpaudit.adversary.events.candidates import (
    BoundFunction,
    Candidates,
    Chosen,
    Offers,
    ScoreFunction,
    atom_sets,
    readable,
    threshold_events,
    unions,
)
from dpaudit.adversary.events.event import Event
from dpaudit.adversary.events.fitting import EXAMINED, fitted
from dpaudit.adversary.events.mixed import hidden_texts, unread
from dpaudit.adversary.events.optimistic_bound import (
    CHOICE,
    evidence,
    expected_bound,
    predicted_bound,
    score_bound,
)
from dpaudit.adversary.events.scales import Scale, count
from dpaudit.interpret import Outputs
from dpaudit.outputs.columns import Floats, Values, one_thread
from dpaudit.stats.eprocess import Counts

POOL = 400_000
"""Most samples per dataset that are kept."""
REFIT, REFIT_LATE = 1.5, 2.0
"""Relearn after the pool grew by this factor; the second applies from LATE samples on (of both datasets together)."""
LATE = 50_000
REFIT_LAST = 1.2
"""The same factor when the final event is chosen."""
CAUTION = 0.5
"""Fraction of the sampling error by which an event's shares are discounted when its bound is predicted. At 1 rare
events never won, although they give the best bounds; at 0 the luckiest event would win."""
FORESIGHT = 0.5
"""Standard errors by which a predicted log-ratio is discounted, plus a discount for the cost of its scale. A posterior
needs no discount for the choice among thresholds; this one covers misspecified priors. At 0 kinks were mistaken for the
start of a slope (Laplace noise), at 1 rare events and small differences between atoms lost."""
READABLE = 0.8
"""A threshold on one part of a dict or frame that clearly refutes the claim is preferred to a learned score whose bound
is larger, if it has at least this fraction of its bound: people can read it."""
CLEARLY = 1.1
"""Multiple of the claimed ε that such an event's expected bound must exceed."""
FEW_ALIKE = 5
"""An output can be counted from this many occurrences on."""
POINTS_COMPARED = 3
"""Points of a curve, those with the largest standard scores, at which the evidence of events is computed."""
CHUNK = 1 << 16
"""Most outputs in a block."""
LISTED = 4.0
"""Nats for a list of dicts or frames: of equal evidence, an event such as "key 'x' is present" is easier to read."""


@dataclass(frozen=True)
class LearnedEvent:
    """An event, the dataset under which it is more likely, and its out-of-fold counts.

    Args:
        event: the event.
        reverse: False: more likely under D; True: under D′.
        p: its estimated probability on the dataset where it is more likely, (x + ½) / (n + 1).
        q: on the other dataset, (y + ½) / (m + 1).
        x, n: hits and samples on the dataset where it is more likely.
        y, m: hits and samples on the other dataset.
        family: "atoms", "half-line", "bins", "logistic", "boosting", "density" or "bits".
        score: of an event that is to be tested, its nats against the claim less the cost of its choice.
        point: the (ε, δ) of a curve against which the event shows most; None where the claim is one (ε, δ).
        other: where it is to be tested, the event of the other direction that shows most there, if one shows anything.
    """

    event: Event
    reverse: bool
    p: float
    q: float
    x: int
    n: int
    y: int
    m: int
    family: str
    score: float = 0.0
    point: tuple[float, float] | None = None
    other: LearnedEvent | None = None

    @property
    def counts(self) -> Counts:
        """Of the samples that it was learned from."""
        return Counts(self.x, self.n, self.y, self.m)

    @property
    def significant(self) -> bool:
        """Whether an event that is to be tested shows more against the claim than the luckiest of many events would."""
        return self.score > CHOICE


class Learner:
    """Learns from past samples of one pair of datasets; deterministic given its seed and the batches of samples."""

    def __init__(
        self, *, log_ratio: Callable[[Floats], Floats] | None = None, bits: bool = False, seed: int
    ) -> None:
        """
        Args:
            log_ratio: the mechanism's own ln(density under D / density under D′) of outputs of shape (r,) or (r, d).
            bits: use only the bits of doubles.
            seed: the seed of the folds.
        """
        self._log_ratio = log_ratio
        self._bits = bits
        self._rng = default_rng(seed)
        self._seen = [0, 0]
        self._kept = [0, 0]
        self._atoms = Atoms()
        self._rows: list[Block] = []
        self._uncounted: list[Block] = []
        self._scales: list[Scale] = []
        self._fitted = 0

    @property
    def runs(self) -> tuple[int, int]:
        """The numbers of samples of D and D′ so far."""
        return self._seen[0], self._seen[1]

    def add(self, left: Outputs, right: Outputs) -> None:
        """Add past samples, any number of each dataset; those beyond POOL per dataset are ignored."""
        for which, outputs in enumerate((left, right)):
            self._seen[which] += outputs.runs
            if self._kept[which] >= POOL:
                continue
            self._kept[which] += outputs.runs
            if outputs.counts:
                times = np.zeros((2, FOLDS, len(outputs.counts)), dtype=np.int64)
                for at, number in enumerate(outputs.counts.values()):
                    times[which, :, at] = self._rng.multinomial(number, np.full(FOLDS, 1 / FOLDS))
                block = Block(list(outputs.counts), times)
                self._atoms.add(block)
                self._uncounted.append(block)
            for values in outputs.uncounted:
                for start in range(0, len(values), CHUNK):
                    block = self._block(values[start : start + CHUNK], which)
                    self._rows.append(block)
                    self._uncounted.append(block)

    def refit(self) -> None:
        """Relearn from all samples so far, before the final event is chosen; the scales may lag behind otherwise."""
        if min(self._kept):
            self._learn(self._atoms.block, growth=REFIT_LAST)

    def choose_event(self, *, epsilon: float, delta: float) -> LearnedEvent:
        """The event with the fastest expected growth of the e-process of H0: p ≤ e^ε q + δ.

        Growth is the least KL(p‖p′) + KL(q‖q′) over H0, at the out-of-fold shares, minus the cost of the event. If no
        event has positive growth, the closest one. Its `other` is chosen in the same way.
        """
        ratio = math.exp(epsilon)

        def score(of: Offers) -> tuple[Floats, Floats]:
            shown = evidence(of.x, of.n, of.y, of.m, ratio=ratio, delta=delta)
            return shown - of.cost - of.rarity, shown

        first, *others = self._best(score)
        return replace(first, other=others[0] if others and others[0].p > ratio * others[0].q + delta else None)

    def choose_on_curve(self, points: Sequence[tuple[float, float]]) -> LearnedEvent:
        """The event and the (ε, δ) of a claim that show most against it, as `choose_event` does for one (ε, δ).

        Args:
            points: the (ε, δ), all of which follow from the claim.
        """
        ratios = np.exp(np.array([epsilon for epsilon, _ in points]))
        deltas = np.array([delta for _, delta in points])

        def shown(x: Floats, n: int, y: Floats, m: int) -> tuple[Floats, int]:
            """Evidence of each event at the best of the points, and the best point of all."""
            p, q = (x + 0.5) / (n + 1), (y + 0.5) / (m + 1)
            # standard scores, shape (points, events), choose the points that are worth the exact evidence
            noise = p * (1 - p) / max(n, 1) + np.multiply.outer(ratios**2, q * (1 - q) / max(m, 1))
            scores = (p - np.multiply.outer(ratios, q) - deltas[:, None]) / np.sqrt(noise)
            chosen = np.argsort(-scores.max(axis=1), kind="stable")[:POINTS_COMPARED]
            nats = np.array([
                evidence(x, n, y, m, ratio=float(ratios[i]), delta=float(deltas[i])) for i in chosen.tolist()
            ])
            return nats.max(axis=0), int(chosen[nats.max(axis=1).argmax()])

        def score(of: Offers) -> tuple[Floats, Floats]:
            most, _ = shown(of.x, of.n, of.y, of.m)
            return most - of.cost - of.rarity, most

        learned = self._best(score)[0]
        if min(learned.n, learned.m) == 0:
            return replace(learned, point=points[0])
        _, best = shown(np.array([learned.x]), learned.n, np.array([learned.y]), learned.m)
        epsilon, delta = points[best]
        return replace(self.choose_event(epsilon=epsilon, delta=delta), point=points[best])

    def certify(
        self, *, epsilon: float, delta: float, runs: int, alpha: float, thorough: bool = True
    ) -> LearnedEvent:
        """The event with the largest expected lower confidence bound on ε from `runs` fresh samples per dataset.

        Rare threshold events are predicted from their neighbours (`tail_extrapolation`), sets of a few atoms by
        empirical Bayes, all others by their own counts. Among events without a positive bound, the one that deviates
        most significantly from the claim (ε, δ), or from (1, δ) if ε is larger than 1.

        Args:
            epsilon, delta: the claim.
            runs, alpha: samples per dataset and error probability of the confidence bound.
            thorough: whether to predict any events; this takes up to a second.
        """
        ratio = math.exp(min(epsilon, 1.0))

        def score(of: Offers) -> tuple[Floats, Floats]:
            price = CHOICE + np.maximum(of.cost + of.rarity, 0.0)
            bound = expected_bound(
                of.x / of.n, of.y / of.m, trained=min(of.n, of.m), runs=runs, delta=delta, alpha=alpha,
                caution=CAUTION * np.sqrt(2 * price),
            )
            extrapolated = predicted_bound(
                of.predicted, runs=runs, delta=delta, alpha=alpha,
                caution=FORESIGHT + CAUTION * np.sqrt(2 * np.maximum(of.cost, 0.0)),
            )
            bound = np.where(np.isnan(extrapolated), bound, extrapolated)
            refutes = of.plain & (bound > CLEARLY * epsilon)
            bound = np.where(refutes, bound / READABLE, bound)
            shown = evidence(of.x, of.n, of.y, of.m, ratio=ratio, delta=delta)
            return np.maximum(bound, 0.0), shown - of.cost

        def optimistic(x: Floats, n: int, y: Floats, m: int) -> Floats:
            return score_bound(x / n, (y + 1) / (m + 1), runs=runs, delta=delta, alpha=alpha)

        return self._best(score, optimistic if thorough else None)[0]

    def base_rates(self) -> Floats:
        """95 % upper limits of the shares of all events on the dataset where each is less likely, shape (k,).

        The smallest detectable violation of each event depends only on these.
        """
        n, m = self._kept
        if not min(n, m):
            return np.empty(0)
        groups = self._candidates().groups
        if not groups:
            return np.empty(0)
        shares = [(group.left, n) if group.reverse else (group.right, m) for group in groups]
        # many events have the same share
        hits, sizes = np.unique(np.hstack([(hits, np.full(len(hits), size)) for hits, size in shares]), axis=1)
        limits: Floats = np.where(hits >= sizes, 1.0, special.betaincinv(hits + 1, np.maximum(sizes - hits, 1), 0.95))
        return limits

    def unread(self) -> tuple[float, str]:
        """The share of past outputs from which nothing can be learned, and the type of a part that cannot be read.

        These outputs have an unreadable part, and hardly any two are equal. A string among other parts counts as
        unreadable if hardly any two outputs share it, unless there are few such strings. Only the first outputs of each
        block are checked.
        """
        hidden = total = 0
        kind = ""
        blocks = [self._atoms.block, *(block for block in self._rows if block.shape is None)]
        examined = [
            list(zip(block.listed(EXAMINED), block.times.sum(axis=(0, 1))[:EXAMINED].tolist(), strict=True))
            for block in blocks
        ]
        texts: Counter[str | bytes] = Counter()
        for pairs in examined:
            for value, often in pairs:
                texts.update(dict.fromkeys(hidden_texts(value), often))
        rare = {text for text, times in texts.items() if times < FEW_ALIKE}
        if len(rare) <= FEW_ALIKE:
            # rare words, not noise formatted as a string
            rare.clear()
        for pairs in examined:
            for value, often in pairs:
                total += often
                name = unread(value) if often < FEW_ALIKE else None
                if rare and not rare.isdisjoint(hidden_texts(value)):
                    name = "str within another one"
                if name is not None:
                    hidden += often
                    kind = name
        total += sum(int(block.times.sum()) for block in self._rows if block.shape is not None)
        return (hidden / total if total else 0.0), kind

    def _best(
        self, score: ScoreFunction, optimistic: BoundFunction | None = None
    ) -> list[LearnedEvent]:
        """The candidate with the highest score in each direction, the better one first; the empty event if there is
        none.

        Args:
            optimistic: optimistic bounds of events, if fresh shares are to be predicted.
        """
        n, m = self._kept
        found: list[Chosen] = []
        if min(n, m):
            candidates = self._candidates(last=optimistic is not None)
            if optimistic is not None:
                candidates.predict((n, m), score, optimistic)
            found = candidates.best((n, m), score)
        if not found:
            return [_learned(Event(), False, 0, n, 0, m, "atoms")]
        return [self._as_learned(chosen) for chosen in found]

    def _as_learned(self, chosen: Chosen) -> LearnedEvent:
        samples = tuple(zip(chosen.hits, self._kept, strict=True))
        (x, n), (y, m) = samples[::-1] if chosen.reverse else samples
        event = chosen.event
        if chosen.family == "atoms" and not self._rows:
            block = self._atoms.block
            event = readable(event, self._scales, block.listed(len(block.values)))
        return replace(_learned(event, chosen.reverse, x, n, y, m, chosen.family), score=chosen.score)

    def _candidates(self, *, last: bool = False) -> Candidates:
        atoms = self._atoms.block
        self._learn(atoms)
        sizes = (self._kept[0], self._kept[1])
        candidates = Candidates()
        for scale in self._scales:
            threshold_events(candidates, scale)
            if scale.binned:
                unions(candidates, scale, atoms, sizes)
        if not self._bits and len(atoms.values):
            cost = LISTED if any(scale.axis.encoder.readable for scale in self._scales) else 0.0
            atom_sets(candidates, atoms, self._rows, sizes, last=last, cost=cost)
        return candidates

    def _learn(self, atoms: Block, *, growth: float | None = None) -> None:
        """Update the scales if the pool grew by this factor."""
        pool = sum(self._kept)
        if growth is None:
            growth = REFIT if pool < LATE else REFIT_LATE
        if pool >= growth * self._fitted:
            # frees the samples that the old scales hold
            self._scales = []
            with one_thread():
                self._scales = fitted(atoms, self._rows, log_ratio=self._log_ratio, bits=self._bits)
            self._fitted = pool
            self._uncounted = []
        # counting on a scale takes as long for a few outputs as for a few thousand
        for block in joined(self._uncounted, CHUNK):
            count(self._scales, block)
        self._uncounted = []

    def _block(self, values: Values, which: int) -> Block:
        times = np.zeros((2, FOLDS, len(values)), dtype=np.int64)
        times[which, self._rng.integers(FOLDS, size=len(values)), np.arange(len(values))] = 1
        return Block(values, times)


def _learned(event: Event, reverse: bool, x: int, n: int, y: int, m: int, family: str) -> LearnedEvent:
    return LearnedEvent(event, reverse, (x + 0.5) / (n + 1), (y + 0.5) / (m + 1), x, n, y, m, family)
