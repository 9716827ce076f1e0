"""The privacy loss breakdown: the composition tree of one execution path, followed on both datasets of a pair.

The path ends in the most likely outcome of a given event under D. In every mechanism of the tree it follows the most
likely draws (under D) that end in the mechanism's value. Exact laws determine the path, so an event of probability 10⁻⁶
has one like any other event, and it does not depend on a seed. A sub-mechanism is compared on its two inputs there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

import numpy as np
from numpy.random import default_rng

from dpaudit.errors import NotEnumerableError
from dpaudit.interpret.law import PATH_LIMIT, Law, LawCache, Support, align, execution_paths, law_of
from dpaudit.interpret.ledger import FOLLOWED, Entry, composed, spend
from dpaudit.interpret.walk import Last, Path, Run, Watch, blaming
from dpaudit.language import Applied, Bernoulli, Claim, Distribution, IntegerRange, Mechanism, canonical
from dpaudit.language.distributions import Product, Then, plain
from dpaudit.language.relation import plain_records
from dpaudit.outputs.canonical import Outcome, Output
from dpaudit.outputs.fingerprint import fingerprint
from dpaudit.stats.arrays import BoolArray, FloatArray

WORK = 3_000_000
"""Most outcomes examined to find the most likely paths, about one second; mechanisms that need more are not opened."""
CANDIDATES = 32
"""This many of the most likely paths are tried on the other dataset, where they may be impossible."""
LEAST = 0.1
"""Paths less likely than this, relative to the most likely one, are ignored."""

Floats = FloatArray


@dataclass(frozen=True)
class LossTerm:
    """A mechanism or draw of the tree, on one execution path.

    Args:
        entry: its claim, and the composition of its parts on this path.
        value: its value; the first number of a long range represents all that share its probability.
        left, right: its laws on its two inputs, over the same outcomes, shape (k,).
        loss: ln of the likelihood ratio (D to D′) of its draws on this path: if opened, the sum over its parts;
            infinite if they are impossible under D′.
        remark: why it was not opened or not compared; "" otherwise.
        parts: in the order drawn; empty if its loss is not divided.
        share: the fraction of the probability of `value` under D that this path has; 1 if nothing was opened.
    """

    entry: Entry
    value: Output
    left: Floats
    right: Floats
    loss: float
    remark: str = ""
    parts: tuple[LossTerm, ...] = ()
    share: float = 1.0


def loss_breakdown(
    mechanism: Mechanism,
    left: object,
    right: object,
    inside: Callable[[Sequence[Outcome]], BoolArray],
    *,
    leak: bool = False,
    claim: Claim | None = None,
    group: int = 1,
    cache: LawCache | None = None,
    path_limit: int = PATH_LIMIT,
    work: int = WORK,
) -> LossTerm | None:
    """The tree of the execution path that leads into an event; None if the event has probability 0 under D.

    Args:
        mechanism: must have exact laws on both datasets.
        left, right: the datasets D and D′; the event is more likely under D.
        inside: mask of the outcomes (some may be an `IntegerRange`) in the event, shape (k,).
        leak: whether to prefer an outcome that is impossible under D′, or one that is possible; the other kind
            if the event has none.
        claim: the claim for the whole mechanism, instead of its own.
        group: the size of the group in which the pair differs; all other claims are converted to this group size.
        cache: the cache of laws.
        path_limit: most paths to enumerate for one law.
        work: most outcomes to examine.

    Raises:
        NotEnumerableError: the whole mechanism has no law.
        NondeterministicMechanismError, MechanismError: as in `law`.
    """
    left, right = plain_records(left), plain_records(right)
    walk = _Walk(LawCache() if cache is None else cache, path_limit, group, work)
    laws = walk.laws(mechanism.on(left), mechanism.on(right), mechanism)
    values, p, q = laws
    chances = np.where(inside(list(plain(values))), p, 0.0)
    wanted = np.where((q == 0) == leak, chances, 0.0)
    at = int(np.argmax(wanted if wanted.any() else chances))
    if not chances[at] > 0:
        return None
    most_likely = plain(values)[at]
    target = most_likely.start if isinstance(most_likely, IntegerRange) else most_likely
    whole = walk.mechanism(mechanism, left, right, target, laws)
    return whole if claim is None else replace(whole, entry=replace(whole.entry, claim=claim))


class _TooExpensive(Exception):
    """Finding the most likely path is too expensive."""


class _Apart(Exception):
    """The programs on the two datasets, sent the same draws, take different paths."""


_Laws = tuple[Support, Floats, Floats]
_Draw = Distribution | Applied


@dataclass(frozen=True)
class _Step:
    """A draw on both datasets, its value, and its laws."""

    left: _Draw
    right: _Draw
    value: Output
    laws: _Laws

    @property
    def loss(self) -> float:
        values, p, q = self.laws
        at = _place(values, self.value)
        assert at is not None, "a law contains the drawn value"
        return math.log(p[at]) - math.log(q[at]) if q[at] > 0 else math.inf


@dataclass
class _Walk:
    cache: LawCache
    path_limit: int
    group: int
    work: int

    def laws(self, left: object, right: object, mechanism: Mechanism) -> _Laws:
        """Two laws over the same outcomes."""
        with blaming(mechanism):
            return align(*(law_of(draw, cache=self.cache, path_limit=self.path_limit) for draw in (left, right)))

    def mechanism(self, mechanism: Mechanism, left: object, right: object, value: Output, laws: _Laws) -> LossTerm:
        """A mechanism with output `value`, opened if its parts declare their privacy loss."""
        claim = _for_group(mechanism.claim, self.group)
        step = _Step(mechanism.on(left), mechanism.on(right), value, laws)
        leaf = LossTerm(Entry(mechanism.name, claim, None, ()), value, laws[1], laws[2], step.loss)
        try:
            steps, share = self._most_likely_path(mechanism, left, right, value, leaf)
        except _Apart as reason:
            return replace(leaf, remark=f"its parts cannot be compared: {reason}")
        except (_TooExpensive, NotEnumerableError):
            return replace(leaf, remark="not opened: too many draws")
        parts = tuple(self._part(one, mechanism) for one in steps)
        if all(part.entry.claim is None and not part.entry.parts for part in parts):
            return leaf
        return replace(
            leaf,
            entry=_joined(mechanism.name, claim, parts),
            loss=math.fsum(part.loss for part in parts),
            remark="" if math.isfinite(steps[-1].loss) else "its last part here is impossible on the other dataset",
            parts=parts,
            share=share,
        )

    def _part(self, step: _Step, outer: Mechanism) -> LossTerm:
        a, b = step.left, step.right
        _, p, q = step.laws
        if isinstance(a, Applied) and isinstance(b, Applied):
            if fingerprint(a.mechanism) == fingerprint(b.mechanism):
                return self.mechanism(a.mechanism, a.dataset, b.dataset, step.value, step.laws)
            return LossTerm(Entry(a.mechanism.name, None, None, ()), step.value, p, q, step.loss,
                         f"another mechanism on the other dataset: {b.mechanism.name}")
        if isinstance(a, Applied) or isinstance(b, Applied):
            name = a.mechanism.name if isinstance(a, Applied) else _called(a)
            return LossTerm(Entry(name, None, None, ()), step.value, p, q, step.loss,
                         "a mechanism on one dataset, a draw on the other")
        if isinstance(a, Product) and isinstance(b, Product) and len(a.parts) == len(b.parts) and a.claim is None:
            parts = tuple(
                self._part(_Step(one, other, value, self.laws(one, other, outer)), outer)
                for one, other, value in zip(a.parts, b.parts, step.value, strict=True)
            )
            if any(part.entry.claim is not None for part in parts):
                loss = math.fsum(part.loss for part in parts)
                return LossTerm(_joined("independent draws", None, parts), step.value, p, q, loss, parts=parts)
        if isinstance(a, Then) and isinstance(b, Then) and a.claim is None:
            # its first draw is not output and may differ between neighbours (a random pairing of their records)
            entry = grouped(spend(a, default_rng(0), Watch(outer), drawn=False)[0], self.group)
            if entry.text == FOLLOWED:
                entry = replace(entry, text=f"{type(a.base).__name__}, then {entry.parts[1].text}"[:80])
            return LossTerm(entry, step.value, p, q, step.loss, "treated as one draw")
        claim = a.claim if a.claim == b.claim else None
        return LossTerm(Entry(_called(a), _for_group(claim, self.group), None, ()), step.value, p, q, step.loss)

    def _most_likely_path(
        self, mechanism: Mechanism, left: object, right: object, value: Output, leaf: LossTerm
    ) -> tuple[list[_Step], float]:
        """The most likely draws that end in `value`, and their share of its probability.

        Draws may be impossible under D′ although the value they end in is possible (an unpublished subset of the
        records). These are skipped, unless `value` alone has a larger loss than the mechanism claims.
        """
        paths: list[tuple[float, Path]] = []
        for path, mass, end in execution_paths(mechanism, left, cache=self.cache, path_limit=self.path_limit):
            with blaming(mechanism):
                of_end = law_of(end, cache=self.cache, path_limit=self.path_limit)
            self.work -= len(of_end) + len(path)
            if self.work < 0:
                raise _TooExpensive
            chance = mass * _probability(of_end, value)
            if chance > 0:
                paths.append((chance, path))
        total = math.fsum(chance for chance, _ in paths)
        first: tuple[list[_Step], float] | None = None
        apart = None
        candidates = nlargest(CANDIDATES, paths, key=lambda one: one[0])
        for chance, path in candidates:
            if chance < LEAST * candidates[0][0]:
                break
            try:
                steps = self._steps(mechanism, left, right, path, value)
            except _Apart as reason:
                apart = apart or reason
                continue
            if not steps or math.isfinite(steps[-1].loss):
                return steps, min(1.0, chance / total)
            first = first or (steps, min(1.0, chance / total))
        claim = leaf.entry.claim
        if first is not None and (leaf.loss == math.inf or (claim is not None and leaf.loss > claim.epsilon)):
            return first
        if candidates and not _may_have_claims(mechanism, left, candidates[0][1]):
            return [], 1.0
        raise apart or _Apart("its most likely draws are impossible on the other dataset")

    def _steps(self, mechanism: Mechanism, left: object, right: object, path: Path, value: Output) -> list[_Step]:
        """The draws of a path on both datasets, up to the first that is impossible under D′."""
        a, b = Run(mechanism, left), Run(mechanism, right)
        steps: list[_Step] = []
        for drawn in path:
            assert not isinstance(a.node, Last)
            if isinstance(b.node, Last):
                raise _Apart("the execution ends earlier on the other dataset")
            steps.append(_Step(a.node, b.node, drawn.value, self.laws(a.node, b.node, mechanism)))
            if steps[-1].loss == math.inf:
                return steps
            a.send(drawn.value)
            b.send(drawn.value)
        assert isinstance(a.node, Last)
        if not isinstance(b.node, Last):
            raise _Apart("the execution continues on the other dataset")
        ends = a.node.value, b.node.value
        draws = [isinstance(end, Distribution | Applied) for end in ends]
        if all(draws):
            steps.append(_Step(*ends, value, self.laws(*ends, mechanism)))
        elif any(draws):
            raise _Apart("the execution ends with a draw on one dataset, and with an output on the other")
        elif canonical(ends[0]) != canonical(ends[1]):
            raise _Apart("the same draws give a different output on the other dataset")
        return steps


def grouped(entry: Entry, group: int) -> Entry:
    """The same tree with its claims converted to groups of `group` records."""
    parts = tuple(grouped(part, group) for part in entry.parts)
    return Entry(entry.text, _for_group(entry.claim, group), composed(parts) if parts else None, parts)


def _for_group(claim: Claim | None, group: int) -> Claim | None:
    return claim if claim is None or claim.relation.size > 1 else claim.group(group)


def _called(draw: Distribution) -> str:
    """A description of a draw: a comparison by its noise and number, any other draw by its parameters."""
    if isinstance(draw, Bernoulli) and (event := draw.event) is not None:
        sign = ("≤" if event.closed else "<") if event.low else ("≥" if event.closed else ">")
        return f"{event.noise!r} {sign} {event.t:.6g}"[:80]
    return repr(draw)[:80]


def _joined(name: str, claim: Claim | None, parts: tuple[LossTerm, ...]) -> Entry:
    entries = tuple(part.entry for part in parts)
    return Entry(name, claim, composed(entries), entries)


def _may_have_claims(mechanism: Mechanism, dataset: object, path: Path) -> bool:
    """Whether any draw on a path may have a claim, itself or in a part."""
    run = Run(mechanism, dataset)
    draws: list[object] = []
    for drawn in path:
        draws.append(run.node)
        run.send(drawn.value)
    if isinstance(run.node, Last):
        draws.append(run.node.value)
    return any(
        isinstance(draw, Applied | Then)
        or (isinstance(draw, Distribution) and draw.claim is not None)
        or (isinstance(draw, Product) and any(part.claim is not None for part in draw.parts))
        for draw in draws
    )


def _place(values: Support, value: Hashable) -> int | None:
    """The index of an outcome, or of the range that contains it; None if absent."""
    if isinstance(values, np.ndarray):
        if not isinstance(value, int | float):
            return None  # numpy would compare a tuple entry by entry
        matches = np.flatnonzero(values == value)
        return int(matches[0]) if len(matches) else None
    same = (i for i, v in enumerate(values) if (value in v if isinstance(v, IntegerRange) else v == value))
    return next(same, None)


def _probability(of: Law, value: Hashable) -> float:
    """The probability of one outcome; a member of a range has its share."""
    at = _place(of.values, value)
    if at is None:
        return 0.0
    within = of.values[at]
    return float(of.probs[at]) / (within.size if isinstance(within, IntegerRange) else 1)
