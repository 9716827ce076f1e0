"""Every pair of a finite scope: its worst exact ε at the claimed δ, with certainty.

The laws are enclosed by doubles (`law_table`). A pair's profile is bounded from above with the upper ends of one law
and the lower ends of the other. A pair whose bound at the worst ε so far exceeds the claimed δ is the new worst; so the
last worst ε bounds all pairs, and in the end the worst pair is enclosed in interval arithmetic. Of pairs that
symmetries make equal, one is compared.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement

import numpy as np
from flint import arb

from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.pair import related
from dpaudit.errors import TimeLimitError
from dpaudit.evidence.assumptions import always_fails, only_failures
from dpaudit.evidence.exact import LEFT_RIGHT, RIGHT_LEFT
from dpaudit.evidence.law_table import LawTable, law_table
from dpaudit.evidence.symmetries import Orbits
from dpaudit.interpret import LawCache, interval_laws
from dpaudit.language import Claim, Mechanism, Multiset
from dpaudit.plans.plan import Scope
from dpaudit.results.refutation import TOLERANCE, tolerance
from dpaudit.results.stream import Progress
from dpaudit.stats import hockey_stick
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.enclosure import Enclosure, decimal, epsilon_at
from dpaudit.subjects.runner import Runner

Ints = IntArray
Floats = FloatArray

GUARD = 1e-12
"""Relative error of a sum of doubles, at most."""
TINY = 1e-290
"""Probabilities below it are near the end of the doubles, and compared in interval arithmetic."""
CELLS = 4_000_000
"""Differences of probabilities at once."""


@dataclass(frozen=True)
class Worst:
    """The worst pair of a scope.

    Args:
        pair: the two datasets.
        direction: under which dataset the event is more likely.
        epsilon: encloses the smallest ε that this pair needs at the claimed δ.
        at_least: this pair needs at least this ε, at δ(1 + TOLERANCE) too.
        at_most: no pair of the scope needs more at δ(1 + TOLERANCE).
        rounded: what the program rounded to doubles on the way, for any dataset of the scope.
    """

    pair: Pair
    direction: str
    epsilon: Enclosure
    at_least: float
    at_most: float
    rounded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Swept:
    """The result of a sweep.

    Args:
        datasets: how many there are.
        pairs: how many unordered pairs.
        delta: the largest δ at the claimed ε, up to rounding.
        worst: None where there is no pair.
        others: pairs that were the worst until a worse one came, the latest first.
        complete: False where the time limit came before the last pair; then `worst` is of those that were compared.
        laws: how many were computed; all others are those of a dataset that a symmetry makes equal.
        symmetries: what they are called.
        confirmed: on how many datasets each of them was confirmed.
        order_seen: rows in an order that has another law than their multiset; None where none was found.
        cache: what the journal was used for, in words; "" where it was not.
        differing: as of a `LawTable`.
    """

    datasets: int
    pairs: int
    delta: float
    worst: Worst | None
    others: tuple[Pair, ...] = ()
    complete: bool = True
    laws: int = 0
    symmetries: tuple[str, ...] = ()
    confirmed: int = 0
    order_seen: tuple[object, ...] | None = None
    cache: str = ""
    differing: str = ""


def sweep(
    mechanism: Mechanism, scope: Scope, claim: Claim, runner: Runner, name: str, cache: LawCache
) -> Generator[Progress, None, Swept]:
    """The worst of all pairs that the claim speaks about, both directions.

    Args:
        cache: as of `law_table`.

    Raises:
        NotEnumerableError: the mechanism has no law, or too large a one.
        SymmetryError: the mechanism declares a symmetry that it does not have.
        MechanismError: it raises on every path on every dataset.
        UsageError: the scope is too large.
    """
    table = yield from law_table(mechanism, claim.relation, scope, runner, name, cache)
    if (failure := only_failures(table.outcomes)) is not None:
        raise always_fails(name, failure)
    search = _Search(mechanism, table, claim, cache.on_doubles(table.doubles))
    pairs, complete, counted = 0, table.complete, Counted()
    for i, j in pairs_of(table, scope, claim, counted):
        pairs += len(i)
        try:
            # of the laws that are there in time, the comparison is not what takes long
            with runner.limited() if table.complete else nullcontext():
                search.examine(i, j)
        except TimeLimitError:
            complete = False
            break
        what = f"comparing output distributions, {pairs:,} comparisons"
        yield Progress(pairs, pairs, what, search.epsilon if search.at else None)
    how = table.action
    swept = Swept(
        len(table.datasets), 0, 0.0, None, (), complete, len(table.low), how.names, table.confirmed, table.order_seen,
        table.cache, table.differing,
    )
    if search.at is None:
        return swept
    cliques = _cliques(scope, claim)
    number = sum(_at_distance(scope, k) for k in range(1, claim.relation.size + 1)) if cliques else counted.pairs
    others = tuple(search.pair(at) for at in search.before[::-1])
    return replace(swept, pairs=number, delta=search.largest_delta, worst=search.worst(search.at), others=others)


def exceeds(worst: Worst, claim: Claim) -> bool:
    """Whether a pair refutes the claim, by more than what its program may have rounded."""
    return worst.at_least > claim.epsilon + 2 * tolerance(claim, worst.rounded) * max(1.0, claim.epsilon)


@dataclass
class _Search:
    """The worst pair so far, and the ε that no pair compared so far exceeds."""

    mechanism: Mechanism
    table: LawTable
    claim: Claim
    cache: LawCache
    epsilon: float = 0.0
    at: tuple[int, int] | None = None
    before: list[tuple[int, int]] = field(default_factory=list)
    largest_delta: float = 0.0
    rounded: dict[str, None] = field(default_factory=dict)
    enclosed: dict[tuple[int, int], Enclosure] = field(default_factory=dict)

    def examine(self, i: Ints, j: Ints) -> None:
        """At pairs of datasets by number, shape (k,) each, in both directions."""
        if not len(i):
            return
        if self.at is None:
            self.at = (int(i[0]), int(j[0]))
        both, place = np.unique(np.concatenate((i, j)), return_inverse=True)
        laws, (p, q) = self.table.laws(both), np.split(place, 2)
        for left, right, top, bottom in ((i, j, p, q), (j, i, q, p)):
            self._note_delta(laws, top, bottom)
            going = np.arange(len(i))
            while len(going) and math.isfinite(self.epsilon):
                excess = self._bound(laws, top[going], bottom[going])
                over = excess * (1 + GUARD) > self.allowed
                going, excess = going[over], excess[over]
                if not len(going):
                    break
                first = int(np.argmax(excess))
                a, b = int(left[going[first]]), int(right[going[first]])
                needed = self._needed(a, b)
                if needed > self.epsilon or (a, b) not in self.enclosed:
                    if needed >= self.epsilon:
                        self._lead(a, b)
                    raised = needed + TOLERANCE * max(1.0, needed)
                    if raised <= self.epsilon:
                        # the doubles around its laws are too far apart: this pair needs interval arithmetic
                        self._enclose(a, b)
                        raised = self.enclosed[a, b].high
                    self.epsilon = max(self.epsilon, raised)
                if (a, b) in self.enclosed:
                    going = np.delete(going, first)

    def worst(self, at: tuple[int, int]) -> Worst:
        """The worst pair, enclosed.

        Args:
            at: its two numbers.
        """
        a, b = at
        lenient, strict = self._enclose(a, b), epsilon_at(*self._laws(a, b), decimal(self.claim.delta))
        # a slightly larger δ may need less than this pair does without it; keep the upper end above the lower one
        most = max(self.epsilon, lenient.high, strict.high if math.isfinite(strict.high) else 0.0)
        direction = LEFT_RIGHT if a < b else RIGHT_LEFT
        rounded = tuple(dict.fromkeys([*self.table.rounded, *self.rounded]))
        return Worst(self.pair(at, "worst of the domain"), direction, strict, lenient.low, most, rounded)

    @property
    def allowed(self) -> float:
        """δ with the tolerance."""
        return self.claim.delta * (1 + TOLERANCE)

    def pair(self, at: tuple[int, int], label: str = "of the scope") -> Pair:
        """The pair of two numbers, in the order of the datasets."""
        return Pair(self.table.datasets[min(at)], self.table.datasets[max(at)], label, "exhaustive")

    def _lead(self, a: int, b: int) -> None:
        if self.at is not None and set(self.at) != {a, b}:
            self.before.append(self.at)
        self.at = (a, b)

    def _note_delta(self, laws: tuple[Floats, Floats], left: Ints, right: Ints) -> None:
        """The largest δ at the claimed ε; the middles of the enclosures are the laws but for their last digits."""
        if self.claim.epsilon < 700:
            twice = laws[0] + laws[1]
            other = math.exp(self.claim.epsilon) * twice[right]
            excess = np.maximum(twice[left] - other, 0.0).sum(axis=1) / 2
            self.largest_delta = max(self.largest_delta, float(excess.max()))

    def _bound(self, laws: tuple[Floats, Floats], left: Ints, right: Ints) -> Floats:
        """Upper bounds of the profile at the worst ε so far, but for the rounding of their sums."""
        # a shade less than e^ε: what its rounding and that of the products may have added
        ratio = math.exp(self.epsilon) * (1 - 4e-15) if self.epsilon < 700 else math.inf
        if math.isinf(ratio):
            outside: Floats = np.where(laws[0][right] > 0, 0.0, laws[1][left]).sum(axis=1)
            return outside
        deltas: Floats = np.maximum(laws[1][left] - ratio * laws[0][right], 0.0).sum(axis=1)
        return deltas

    def _needed(self, a: int, b: int) -> float:
        if (a, b) in self.enclosed:
            return self.enclosed[a, b].high
        low, high = self.table.laws(np.array([a, b]))
        if not np.any((high > 0) & (high < TINY)):
            p, q = (low + high) / 2
            needed = hockey_stick.epsilon_at(p, q, self.allowed)
            if math.isfinite(needed):
                return needed
        return self._enclose(a, b).high

    def _enclose(self, a: int, b: int) -> Enclosure:
        if (a, b) not in self.enclosed:
            self.enclosed[a, b] = epsilon_at(*self._laws(a, b), decimal(self.claim.delta) * (1 + TOLERANCE))
        return self.enclosed[a, b]

    def _laws(self, a: int, b: int) -> tuple[list[arb], list[arb]]:
        laws = interval_laws(self.mechanism, self.table.datasets[a], self.table.datasets[b], cache=self.cache)
        self.rounded |= dict.fromkeys(laws.rounded)
        return laws.left, laws.right


@dataclass
class Counted:
    """Unordered pairs of a scope, those included that a symmetry makes equal to another."""

    twice: int = 0

    @property
    def pairs(self) -> int:
        """How many."""
        return self.twice // 2


def pairs_of(table: LawTable, scope: Scope, claim: Claim, counted: Counted) -> Iterator[tuple[Ints, Ints]]:
    """At least one of the unordered pairs that symmetries make equal, by number, not too many at once.

    Groups may come more than once.

    Args:
        counted: where all pairs are counted, but where they are cliques (`_at_distance` says how many those are).
    """
    most = max(1, CELLS // max(1, len(table.outcomes)))
    numbers = {dataset: at for at, dataset in enumerate(table.datasets)}
    domain = tuple(dict.fromkeys(scope.domain))
    if not _cliques(scope, claim):
        # a symmetry leads from any pair to one with the first dataset of an orbit
        orbits = Orbits.of(table.datasets, table.action)
        pairs: list[tuple[int, int]] = []
        done: set[int] = set()
        for left in orbits.firsts.tolist():
            done.add(left)
            reached = [numbers[other] for other in related(claim.relation, table.datasets[left], domain, numbers)]
            counted.twice += int(orbits.size[left]) * len(reached)
            pairs += [(left, right) for right in reached if right not in done]
            if len(pairs) >= most:
                yield _columns(pairs)
                pairs = []
        if pairs:
            yield _columns(pairs)
        return
    moved = min(claim.relation.size, scope.records)
    others = list(combinations_with_replacement(domain, moved))
    upper = np.triu_indices(len(others), 1)
    # a symmetry leads from any pair to one whose common records are the first of an orbit
    shared = [Multiset.of(kept) for kept in combinations_with_replacement(domain, scope.records - moved)]
    for at in Orbits.of(shared, table.action).firsts.tolist():
        members = np.array([numbers.get(Multiset.of((*shared[at], *other)), -1) for other in others])
        for start in range(0, len(upper[0]), most):
            part = slice(start, start + most)
            i, j = members[upper[0][part]], members[upper[1][part]]
            known = (i >= 0) & (j >= 0)
            yield i[known], j[known]


def _cliques(scope: Scope, claim: Claim) -> bool:
    """Whether datasets that share all but k records are all related."""
    return not scope.ordered and claim.relation.kind == "replace-one"


def _columns(pairs: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    both = np.array(pairs)
    return both[:, 0], both[:, 1]


def _at_distance(scope: Scope, k: int) -> int:
    """Unordered pairs of multisets that share all but k records exactly."""
    d, n = len(set(scope.domain)), scope.records
    if k > n:
        return 0
    # k records of s different values, and k records of the d − s others
    apart = sum(
        math.comb(d, s) * math.comb(k - 1, s - 1) * math.comb(d - s + k - 1, k) for s in range(1, min(k, d - 1) + 1)
    )
    return math.comb(d + n - k - 1, n - k) * apart // 2
