"""Where privacy goes: the composition tree of one course of draws, followed on both datasets of a pair side by side.

Which course: the likeliest outcome of a given event on the left dataset, and at every mechanism of the tree the
likeliest draws (on the left) that end in what it gave. Laws say which that is, so that an event of probability 10⁻⁶ has
one as well as any other, and no seed chooses it. A sub-mechanism is then compared on the two inputs that it has there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.random import default_rng

from dpaudit.errors import NotEnumerableError
from dpaudit.interpret.law import PATH_LIMIT, Law, LawCache, Support, align, courses, law_of
from dpaudit.interpret.ledger import FOLLOWED, Entry, composed, spend
from dpaudit.interpret.walk import Last, Path, Run, blaming
from dpaudit.language import Applied, Bernoulli, Claim, Distribution, Mechanism, Span, canonical
from dpaudit.language.distributions import Product, Then, plain
from dpaudit.language.relation import plain_records
from dpaudit.outputs.fingerprint import fingerprint
from dpaudit.stats.arrays import BoolArray, FloatArray

WORK = 3_000_000
"""Outcomes looked at on the way to the likeliest courses, about a second's worth; what costs more is not opened."""
CANDIDATES = 32
"""So many of the likeliest courses are tried on the other dataset, where they may be impossible."""
LEAST = 0.1
"""A course that is not even so likely, relative to the likeliest, says little about the outcome."""

Floats = FloatArray


@dataclass(frozen=True)
class Spent:
    """A mechanism or draw of the tree, on one course of draws.

    Args:
        entry: what it claims, and what its parts on this course compose to.
        value: what it gave; the first of a long range of whole numbers stands for all that share its probability.
        left, right: its laws on its two inputs, over the same outcomes, shape (k,).
        loss: ln of how much likelier its draws on this course are on the left, where it was opened the sum over its
            parts; infinite where they are impossible on the right.
        remark: why it was not opened or not compared; "" where nothing is to be said.
        parts: in the order drawn; empty for what spends as a whole.
        share: of the probability that the left gives `value`, how much this course has; 1 where nothing was opened.
    """

    entry: Entry
    value: Any
    left: Floats
    right: Floats
    loss: float
    remark: str = ""
    parts: tuple[Spent, ...] = ()
    share: float = 1.0


def spending(
    mechanism: Mechanism,
    left: Any,
    right: Any,
    inside: Callable[[Any], BoolArray],
    *,
    leak: bool = False,
    claim: Claim | None = None,
    group: int = 1,
    cache: LawCache | None = None,
    path_limit: int = PATH_LIMIT,
    work: int = WORK,
) -> Spent | None:
    """The tree of the course that leads into an event; None where the event has no probability on the left.

    Args:
        mechanism: with exact laws on both datasets.
        left, right: the datasets; the event is likelier on the left.
        inside: which of a list of outcomes (some may be a `Span`) are in the event, shape (k,).
        leak: whether to look for an outcome that is impossible on the right, or for one that is not; the other kind
            where the event has none.
        claim: to hold against the whole, in place of the mechanism's own.
        group: size of the groups in which the pair differs; every other claim is taken for groups of that size.
        cache: of the laws.
        path_limit: most paths to enumerate of one law.
        work: most outcomes to look at.

    Raises:
        NotEnumerableError: the whole has no law.
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
    likeliest = plain(values)[at]
    target = likeliest.start if isinstance(likeliest, Span) else likeliest
    whole = walk.mechanism(mechanism, left, right, target, laws)
    return whole if claim is None else replace(whole, entry=replace(whole.entry, claim=claim))


class _TooDear(Exception):
    """The likeliest course is too much work to find."""


class _Apart(Exception):
    """The two programs, sent the same draws, do not go the same way."""


_Laws = tuple[Support, Floats, Floats]
_Draw = Distribution | Applied


@dataclass(frozen=True)
class _Step:
    """A draw on both datasets, what it gave, and its laws."""

    left: _Draw
    right: _Draw
    value: Any
    laws: _Laws

    @property
    def loss(self) -> float:
        values, p, q = self.laws
        at = _place(values, self.value)
        assert at is not None, "a law has what it gave"
        return math.log(p[at]) - math.log(q[at]) if q[at] > 0 else math.inf


@dataclass
class _Walk:
    cache: LawCache
    path_limit: int
    group: int
    work: int

    def laws(self, left: Any, right: Any, mechanism: Mechanism) -> _Laws:
        """Two laws over the same outcomes."""
        with blaming(mechanism):
            return align(*(law_of(side, cache=self.cache, path_limit=self.path_limit) for side in (left, right)))

    def mechanism(self, mechanism: Mechanism, left: Any, right: Any, value: Any, laws: _Laws) -> Spent:
        """A mechanism that gave `value`, opened where its parts say what they spend."""
        claim = _for_group(mechanism.claim, self.group)
        step = _Step(mechanism.on(left), mechanism.on(right), value, laws)
        leaf = Spent(Entry(mechanism.name, claim, None, ()), value, laws[1], laws[2], step.loss)
        try:
            steps, share = self._course(mechanism, left, right, value, leaf)
        except _Apart as reason:
            return replace(leaf, remark=f"not comparable inside: {reason}")
        except (_TooDear, NotEnumerableError):
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

    def _part(self, step: _Step, outer: Mechanism) -> Spent:
        a, b = step.left, step.right
        _, p, q = step.laws
        if isinstance(a, Applied) and isinstance(b, Applied):
            if fingerprint(a.mechanism) == fingerprint(b.mechanism):
                return self.mechanism(a.mechanism, a.dataset, b.dataset, step.value, step.laws)
            return Spent(Entry(a.mechanism.name, None, None, ()), step.value, p, q, step.loss,
                         f"another mechanism on the other dataset: {b.mechanism.name}")
        if isinstance(a, Applied) or isinstance(b, Applied):
            name = a.mechanism.name if isinstance(a, Applied) else _called(a)
            return Spent(Entry(name, None, None, ()), step.value, p, q, step.loss,
                         "a mechanism on one dataset, a draw on the other")
        if isinstance(a, Product) and isinstance(b, Product) and len(a.parts) == len(b.parts) and a.claim is None:
            parts = tuple(
                self._part(_Step(one, other, value, self.laws(one, other, outer)), outer)
                for one, other, value in zip(a.parts, b.parts, step.value, strict=True)
            )
            if any(part.entry.claim is not None for part in parts):
                loss = math.fsum(part.loss for part in parts)
                return Spent(_joined("independent draws", None, parts), step.value, p, q, loss, parts=parts)
        if isinstance(a, Then) and isinstance(b, Then) and a.claim is None:
            # what it draws first stays inside and may differ between neighbours (a random pairing of their records)
            entry = grouped(spend(a, default_rng(0), drawn=False)[0], self.group)
            if entry.text == FOLLOWED:
                entry = replace(entry, text=f"{type(a.base).__name__}, then {entry.parts[1].text}"[:80])
            return Spent(entry, step.value, p, q, step.loss, "taken as one draw")
        claim = a.claim if a.claim == b.claim else None
        return Spent(Entry(_called(a), _for_group(claim, self.group), None, ()), step.value, p, q, step.loss)

    def _course(
        self, mechanism: Mechanism, left: Any, right: Any, value: Any, leaf: Spent
    ) -> tuple[list[_Step], float]:
        """The likeliest draws that end in `value`, and their share of its probability.

        Draws may be impossible on the right though what they end in is not (a subset of the records, that nobody
        sees): these are passed over, unless `value` alone tells more than the mechanism claims.
        """
        found: list[tuple[float, Path]] = []
        for path, mass, end in courses(mechanism, left, cache=self.cache, path_limit=self.path_limit):
            with blaming(mechanism):
                of_end = law_of(end, cache=self.cache, path_limit=self.path_limit)
            self.work -= len(of_end) + len(path)
            if self.work < 0:
                raise _TooDear
            chance = mass * _probability(of_end, value)
            if chance > 0:
                found.append((chance, path))
        total = math.fsum(chance for chance, _ in found)
        first: tuple[list[_Step], float] | None = None
        apart = None
        likeliest = nlargest(CANDIDATES, found, key=lambda one: one[0])
        for chance, path in likeliest:
            if chance < LEAST * likeliest[0][0]:
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
        if likeliest and not _speaks(mechanism, left, likeliest[0][1]):
            return [], 1.0
        raise apart or _Apart("its likeliest draws are impossible on the other dataset")

    def _steps(self, mechanism: Mechanism, left: Any, right: Any, path: Path, value: Any) -> list[_Step]:
        """The draws of a path on both datasets, up to one that is impossible on the right."""
        a, b = Run(mechanism, left), Run(mechanism, right)
        steps: list[_Step] = []
        for drawn in path:
            assert not isinstance(a.node, Last)
            if isinstance(b.node, Last):
                raise _Apart("on the other dataset it ends earlier")
            steps.append(_Step(a.node, b.node, drawn.value, self.laws(a.node, b.node, mechanism)))
            if steps[-1].loss == math.inf:
                return steps
            a.send(drawn.value)
            b.send(drawn.value)
        assert isinstance(a.node, Last)
        if not isinstance(b.node, Last):
            raise _Apart("on the other dataset it goes on")
        ends = a.node.value, b.node.value
        draws = [isinstance(end, Distribution | Applied) for end in ends]
        if all(draws):
            steps.append(_Step(*ends, value, self.laws(*ends, mechanism)))
        elif any(draws):
            raise _Apart("on one dataset it ends with a draw, on the other with an output")
        elif canonical(ends[0]) != canonical(ends[1]):
            raise _Apart("the same draws give another output on the other dataset")
        return steps


def grouped(entry: Entry, group: int) -> Entry:
    """The same tree with its claims taken for groups of so many records."""
    parts = tuple(grouped(part, group) for part in entry.parts)
    return Entry(entry.text, _for_group(entry.claim, group), composed(parts) if parts else None, parts)


def _for_group(claim: Claim | None, group: int) -> Claim | None:
    return claim if claim is None or claim.relation.size > 1 else claim.group(group)


def _called(draw: Distribution) -> str:
    """A comparison of noise by the noise and the number, any other draw by its parameters."""
    if isinstance(draw, Bernoulli) and (event := draw.event) is not None:
        sign = ("≤" if event.closed else "<") if event.low else ("≥" if event.closed else ">")
        return f"{event.noise!r} {sign} {event.t:.6g}"[:80]
    return repr(draw)[:80]


def _joined(name: str, claim: Claim | None, parts: tuple[Spent, ...]) -> Entry:
    entries = tuple(part.entry for part in parts)
    return Entry(name, claim, composed(entries), entries)


def _speaks(mechanism: Mechanism, dataset: Any, path: Path) -> bool:
    """Whether any draw on a path may have a claim, in itself or inside."""
    run = Run(mechanism, dataset)
    draws: list[Any] = []
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
    """Where an outcome, or the span that holds it, stands among others; None where it does not."""
    if isinstance(values, np.ndarray):
        if not isinstance(value, int | float):
            return None  # numpy would compare a tuple entry by entry
        found = np.flatnonzero(values == value)
        return int(found[0]) if len(found) else None
    same = (i for i, v in enumerate(values) if (value in v if isinstance(v, Span) else v == value))
    return next(same, None)


def _probability(of: Law, value: Hashable) -> float:
    """Of one outcome; a member of a span has its share."""
    at = _place(of.values, value)
    if at is None:
        return 0.0
    within = of.values[at]
    return float(of.probs[at]) / (within.size if isinstance(within, Span) else 1)
