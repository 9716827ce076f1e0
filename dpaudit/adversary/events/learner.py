"""The witness learner: from past runs on one pair of datasets, the event that tells them apart best.

Outputs are scored on many axes (the output itself, its coordinates and their differences, classifiers, a density that
the mechanism supplies), every axis is cut into cells, and an event is a half-line of cells or a union of them. What is
learned (weights, trees, the order of cells by likelihood ratio) is learned on some folds of the runs and counted on the
others, so that the counts of an event are those of fresh runs but for the choice of the event itself; that choice is
paid for in nats, as in minimum description length: a family with more events to choose from must show more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from scipy import special

from dpaudit.adversary.events.blocks import FOLDS, Atoms, Block, joined
from dpaudit.adversary.events.candidates import Candidates, Hope, Offers, Worth, atom_sets, half_lines, unions
from dpaudit.adversary.events.event import Event
from dpaudit.adversary.events.fitting import FITTED, LOOKED_AT, fitted
from dpaudit.adversary.events.mixed import hidden_texts, unread
from dpaudit.adversary.events.optimistic_bound import (
    CHOICE,
    RARITY,
    discounted,
    evidence,
    expected_bound,
    foreseen_bound,
    score_bound,
)
from dpaudit.adversary.events.scales import Scale, count
from dpaudit.interpret import Outputs
from dpaudit.outputs.columns import Floats, Values, one_thread

POOL = 400_000
"""Runs a side that are remembered."""
REFIT, REFIT_LATE = 1.5, 2.0
"""Growth of the pool after which everything is learned anew; the second from LATE runs on, both sides together."""
LATE = 50_000
REFIT_LAST = 1.2
"""The same when an event is frozen, and no runs to come will teach anything."""
CAUTION = 0.5
"""By how much of what chance may have added an event's shares are mistrusted when its bound is foreseen. At 1 rare
events never won, and they are what certifies most; at 0 the luckiest would."""
FORESIGHT = 0.5
"""Standard errors by which a foreseen log-ratio is mistrusted, and more for what its scale costs. A posterior needs no
discount for the choice among thresholds; this is for priors that are not quite right. At 0 kinks were taken for the
start of a slope (Laplace noise), at 1 rare events and small differences between atoms lost."""
FEW_ALIKE = 5
"""Outputs that are alike from which they can be counted."""
CHUNK = 1 << 16
"""Outputs in a block, at most."""


@dataclass(frozen=True)
class Witness:
    """An event, the direction in which it is likelier, and how often it was seen out of fold.

    Args:
        event: the event.
        reverse: False: likelier on the left dataset; True: on the right one.
        p: its estimated probability on the side where it is likelier, (x + ½) / (n + 1).
        q: on the other side, (y + ½) / (m + 1).
        x, n: hits and runs on the side where it is likelier.
        y, m: on the other side.
        family: "atoms", "half-line", "bins", "logistic", "boosting", "density" or "bits".
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


class Learner:
    """Learns from past runs on one pair of datasets; deterministic for its seed and the runs in their batches."""

    def __init__(
        self, *, log_ratio: Callable[[Floats], Floats] | None = None, bits: bool = False, seed: int
    ) -> None:
        """
        Args:
            log_ratio: the mechanism's own ln(density on the left : on the right) of outputs of shape (r,) or (r, d).
            bits: look at the bits of doubles, and at nothing else.
            seed: of the folds.
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
        """Runs on the left and on the right so far."""
        return self._seen[0], self._seen[1]

    def add(self, left: Outputs, right: Outputs) -> None:
        """More past runs, any number on each side; beyond POOL a side they teach nothing more."""
        for side, outputs in enumerate((left, right)):
            self._seen[side] += outputs.runs
            if self._kept[side] >= POOL:
                continue
            self._kept[side] += outputs.runs
            if outputs.counts:
                times = np.zeros((2, FOLDS, len(outputs.counts)), dtype=np.int64)
                for at, number in enumerate(outputs.counts.values()):
                    times[side, :, at] = self._rng.multinomial(number, np.full(FOLDS, 1 / FOLDS))
                block = Block(list(outputs.counts), times)
                self._atoms.add(block)
                self._uncounted.append(block)
            for values in outputs.uncounted:
                for start in range(0, len(values), CHUNK):
                    block = self._block(values[start : start + CHUNK], side)
                    self._rows.append(block)
                    self._uncounted.append(block)

    def settle(self) -> None:
        """Learn from all runs so far, before an event is frozen: scales are a little behind them otherwise."""
        if min(self._kept):
            self._learn(self._atoms.block, growth=REFIT_LAST)

    def grow(self, *, epsilon: float, delta: float) -> Witness:
        """The event that promises the e-process of H0: p ≤ e^ε q + δ the fastest growth.

        Growth is the least KL(p‖p′) + KL(q‖q′) over H0, at the out-of-fold shares; every family pays for its choice.
        When nothing promises growth, the event nearest to it. Its counts are drawn towards H0 by what the choice costs.
        """
        ratio = math.exp(epsilon)

        def worth(of: Offers) -> tuple[Floats, Floats]:
            shown = evidence(of.x, of.n, of.y, of.m, ratio=ratio, delta=delta)
            return shown - of.cost - RARITY * of.rarity, shown

        witness, cost = self._best(worth)
        if min(witness.n, witness.m) == 0:
            return witness
        x, n, y, m = witness.x, witness.n, witness.y, witness.m
        x, y = discounted(x, n, y, m, price=CHOICE + max(cost, 0.0), ratio=ratio, delta=delta)
        return _witness(witness.event, witness.reverse, x, n, y, m, witness.family)

    def certify(
        self, *, epsilon: float, delta: float, runs: int, alpha: float, thorough: bool = True
    ) -> Witness:
        """The event with the largest expected certified lower bound on ε from `runs` fresh runs a side.

        Rare half-lines are foreseen by their neighbours (`tails`), sets of a few atoms by shrinkage, all others by
        their own counts. Among events without a positive bound, the one that differs most significantly from the
        claim (ε, δ), or from (1, δ) where ε is larger.

        Args:
            epsilon, delta: the claim.
            runs, alpha: of the certificate.
            thorough: whether anything is foreseen; it takes up to a second.
        """
        ratio = math.exp(min(epsilon, 1.0))

        def worth(of: Offers) -> tuple[Floats, Floats]:
            price = CHOICE + np.maximum(of.cost + of.rarity, 0.0)
            bound = expected_bound(
                of.x / of.n, of.y / of.m, trained=min(of.n, of.m), runs=runs, delta=delta, alpha=alpha,
                caution=CAUTION * np.sqrt(2 * price),
            )
            told = foreseen_bound(
                of.foreseen, runs=runs, delta=delta, alpha=alpha,
                caution=FORESIGHT + CAUTION * np.sqrt(2 * np.maximum(of.cost, 0.0)),
            )
            bound = np.where(np.isnan(told), bound, told)
            shown = evidence(of.x, of.n, of.y, of.m, ratio=ratio, delta=delta)
            return np.maximum(bound, 0.0), shown - of.cost

        def hope(x: Floats, n: int, y: Floats, m: int) -> Floats:
            return score_bound(x / n, (y + 1) / (m + 1), runs=runs, delta=delta, alpha=alpha)

        return self._best(worth, hope if thorough else None)[0]

    def base_rates(self) -> Floats:
        """The shares of all events on the dataset on which each is less likely, shape (k,), 95 % upper limits.

        What a violation on one of them must exceed to be seen depends on these alone.
        """
        n, m = self._kept
        if not min(n, m):
            return np.empty(0)
        found = self._candidates()
        if not found.left:
            return np.empty(0)
        reverse = np.concatenate(found.reverse)
        hits = np.where(reverse, np.concatenate(found.left), np.concatenate(found.right))
        # many events have the same share
        hits, sizes = (a for a in np.unique(np.stack([hits, np.where(reverse, n, m)]), axis=1))
        limits: Floats = np.where(hits >= sizes, 1.0, special.betaincinv(hits + 1, np.maximum(sizes - hits, 1), 0.95))
        return limits

    def unread(self) -> tuple[float, str]:
        """The share of past outputs that nothing is learned from, and the type of a part that is not read.

        That are outputs with such a part of which there are hardly two alike; a text among other parts is one that is
        not read where hardly two outputs have it, unless such texts are few. Of many outputs the first are looked at.
        """
        hidden = total = 0
        kind = ""
        blocks = [self._atoms.block, *(block for block in self._rows if block.shape is None)]
        looked_at = [
            list(zip(block.listed(LOOKED_AT), block.times.sum(axis=(0, 1))[:LOOKED_AT].tolist(), strict=True))
            for block in blocks
        ]
        texts: Counter[str | bytes] = Counter()
        for pairs in looked_at:
            for value, often in pairs:
                texts.update(dict.fromkeys(hidden_texts(value), often))
        rare = {text for text, times in texts.items() if times < FEW_ALIKE}
        if len(rare) <= FEW_ALIKE:
            # rare words, and no noise that is written out
            rare.clear()
        for pairs in looked_at:
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

    def _best(self, worth: Worth, hope: Hope | None = None) -> tuple[Witness, float]:
        """The candidate that is worth most, and what its choice costs a bet; no output at all when there is none.

        Args:
            hope: what events promise at best, where fresh shares are to be foreseen.
        """
        n, m = self._kept
        chosen = None
        if min(n, m):
            found = self._candidates(last=hope is not None)
            if hope is not None:
                found.foresee((n, m), hope)
            chosen = found.best((n, m), worth)
        if chosen is None:
            return _witness(Event(), False, 0, n, 0, m, "atoms"), 0.0
        sides = ((chosen.hits[0], n), (chosen.hits[1], m))
        (x, n), (y, m) = sides[::-1] if chosen.reverse else sides
        witness = _witness(chosen.event, chosen.reverse, x, n, y, m, chosen.family)
        return witness, chosen.cost + RARITY * chosen.rarity

    def _candidates(self, *, last: bool = False) -> Candidates:
        atoms = self._atoms.block
        self._learn(atoms)
        sizes = (self._kept[0], self._kept[1])
        found = Candidates()
        for scale in self._scales:
            half_lines(found, scale)
            if scale.binned:
                unions(found, scale, atoms, sizes)
        if not self._bits and len(atoms.values):
            atom_sets(found, atoms, self._rows, sizes, last=last)
        return found

    def _learn(self, atoms: Block, *, growth: float | None = None) -> None:
        """Bring the scales up to date with the pool, where that grew by this factor."""
        pool = sum(self._kept)
        if growth is None:
            growth = REFIT if pool < LATE else REFIT_LATE
        # with twice the rows that are used at most there is nothing new to learn from
        if pool >= growth * self._fitted and (self._fitted < 4 * FITTED or not self._rows):
            with one_thread():
                self._scales = fitted(atoms, self._rows, log_ratio=self._log_ratio, bits=self._bits)
            self._fitted = pool
            self._uncounted = [atoms, *self._rows] if len(atoms.values) else list(self._rows)
        # a scale takes as long for a few outputs as for some thousand
        for block in joined(self._uncounted, CHUNK):
            count(self._scales, block)
        self._uncounted = []

    def _block(self, values: Values, side: int) -> Block:
        times = np.zeros((2, FOLDS, len(values)), dtype=np.int64)
        times[side, self._rng.integers(FOLDS, size=len(values)), np.arange(len(values))] = 1
        return Block(values, times)


def _witness(event: Event, reverse: bool, x: int, n: int, y: int, m: int, family: str) -> Witness:
    return Witness(event, reverse, (x + 0.5) / (n + 1), (y + 0.5) / (m + 1), x, n, y, m, family)
