"""The smallest pair of datasets that still shows a claim to be false.

Delta debugging on the records (Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 2002,
algorithm ddmin), then simpler values; a differing record may take the value of the other side. Every step is taken only
if the caller's test says that the smaller pair still refutes. The test is statistical, so no pair is asked about twice:
asking until it says yes is no test. What comes out has been chosen by its results; the verdict on it needs fresh runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from dpaudit.adversary.pairs.alignment import ABSENT, Slot, aligned, differing_places, joined, shared_places, usable
from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.pair import Pair
from dpaudit.errors import DatasetError
from dpaudit.language import Dataset, Multiset, Relation
from dpaudit.language.checks import whole
from dpaudit.language.records import as_record, is_number

MOST_TOGETHER = 6
"""Values of which two are tried together: 15 questions."""


@dataclass(frozen=True)
class Step:
    """One smaller pair that still refutes, and what made it smaller."""

    what: str
    pair: Pair


@dataclass(frozen=True)
class Minimized:
    """What `minimize` ends with.

    Args:
        pair: the smallest pair that was found to refute; the given one when there are no steps.
        steps: the path to it, in order.
        tried: how often the test was asked, at most the budget.
        complete: whether everything was tried; False when the budget ran out.
    """

    pair: Pair
    steps: tuple[Step, ...]
    tried: int
    complete: bool


def minimize(
    pair: Pair,
    refutes: Callable[[Pair], bool],
    *,
    relation: Relation,
    records: Records | None = None,
    budget: int = 200,
) -> Minimized:
    """A pair at which no single simplification refutes any more, or the smallest one when the budget is spent.

    Args:
        pair: a related pair that refutes; this is not asked again.
        refutes: whether a pair does; should say False where the mechanism cannot run on it.
        relation: every pair on the way is related by it (a shared record is removed from both sides).
        records: the kind of record; without it records are only removed, or replaced by values that the pair has or by
            0 and ±1 for numbers.
        budget: at most so many questions to `refutes`, ≥ 0.

    Raises:
        PairError: the given pair is not related, or its sides are equal.
        ParameterError: a budget that is no whole number ≥ 0.
    """
    pair.distance(relation)
    work = _Minimizing(pair, refutes, relation, records, whole("budget", budget, least=0))
    try:
        # simpler values may make records superfluous, and the other way round: until nothing changes any more
        size = None
        while size != (size := size_of(work.pair)):
            work.slots = aligned(work.pair, relation)
            work.fewer_records()
            work.renamed_values()
            work.simpler_values()
            work.tidier_order()
    except _BudgetSpentError:
        return work.result(complete=False)
    return work.result(complete=True)


def size_of(pair: Pair) -> tuple[Any, ...]:
    """What orders pairs from small to large; of two different pairs (labels apart) one is smaller.

    Fewer records on both sides together; then simpler values, compared from the least simple one down; then fewer
    records in which the two sides differ; then fewer different values; then simpler values earlier, and on the left.
    """
    left, right = (_counts(side) for side in (pair.left, pair.right))
    counts = left + right
    values: Counter[tuple[Any, ...]] = Counter()
    for value, count in counts.items():
        values[simplicity(value)] += count
    if isinstance(pair.left, tuple) and isinstance(pair.right, tuple) and len(pair.left) == len(pair.right):
        differing = sum(a != b for a, b in zip(pair.left, pair.right, strict=True))
    else:
        differing = sum(((left - right) + (right - left)).values())
    sides = tuple(_order(side) for side in (pair.left, pair.right))
    return counts.total(), tuple(sorted(values.items(), reverse=True)), differing, len(counts), sides


def _counts(dataset: Dataset) -> Counter[Any]:
    return Counter(dict(dataset.items)) if isinstance(dataset, Multiset) else Counter(dataset)


def _order(dataset: Dataset) -> tuple[Any, ...]:
    if isinstance(dataset, Multiset):
        return 0, tuple((simplicity(value), count) for value, count in dataset.items)
    return 1, tuple(simplicity(value) for value in dataset)


def simplicity(value: Any) -> tuple[Any, ...]:
    """What orders values from simple to not: None, False, True, 0, 1, −1, 2, …, short fractions, short strings, tuples.

    A tuple is as simple as it is short, then as its fields are.
    """
    if value is None or isinstance(value, bool):
        return 0, 0 if value is None else 1 + value
    if isinstance(value, int | float):
        if not is_number(value):
            return 2, repr(value)
        fraction = 0 if value == int(value) else len(repr(abs(value)))
        return 1, fraction, abs(value), value < 0
    if isinstance(value, str):
        return 3, len(value), value
    if isinstance(value, tuple):
        return 4, len(value), tuple(simplicity(field) for field in value)
    return 5, type(value).__name__, repr(value)


class _BudgetSpentError(Exception):
    """No questions are left."""


class _Minimizing:
    """A minimisation under way: the smallest pair so far as slots, and the questions that were asked."""

    def __init__(
        self,
        pair: Pair,
        refutes: Callable[[Pair], bool],
        relation: Relation,
        records: Records | None,
        budget: int,
    ) -> None:
        self.given = self.pair = pair
        self.slots = aligned(pair, relation)
        self.refutes, self.relation, self.records, self.budget = refutes, relation, records, budget
        self.size = size_of(pair)
        self.given_values = self.values = _values(self.slots)
        self.asked: set[tuple[Dataset, Dataset]] = {(pair.left, pair.right)}
        self.tried = 0
        self.steps: list[Step] = []

    def result(self, *, complete: bool) -> Minimized:
        """What there is now."""
        label = f"{self.given.label}, made smaller" if self.given.label else "made smaller"
        pair = replace(self.pair, label=label) if self.steps else self.given
        return Minimized(pair, tuple(self.steps), self.tried, complete)

    def take(self, slots: list[Slot], what: str) -> bool:
        """Go on with these slots if they are a smaller related pair that was not asked about, and it refutes.

        Raises:
            _BudgetSpentError: it would have to be asked, and no question is left.
        """
        try:
            other = joined(slots, self.given, what)
        except DatasetError:
            # values of several types have no order, so no multiset holds them
            return False
        key = (other.left, other.right)
        if key in self.asked or not usable(other, self.relation):
            return False
        size = size_of(other)
        if size >= self.size:
            return False
        if self.tried == self.budget:
            raise _BudgetSpentError
        self.asked.add(key)
        self.tried += 1
        if not self.refutes(other):
            return False
        self.slots, self.pair, self.size, self.values = slots, other, size, _values(slots)
        self.steps.append(Step(what, other))
        return True

    def fewer_records(self) -> None:
        """Shared records go: all, halves, quarters, …, single ones; then differing ones; then two at once."""
        self._remove(shared_places, "shared records removed")
        self._remove(differing_places, "differing records removed")
        while self._remove_two():
            pass

    def _remove(self, places: Callable[[list[Slot]], list[int]], what: str) -> None:
        parts = 1
        while at := places(self.slots):
            parts = min(parts, len(at))
            for part in range(parts):
                gone = set(at[part * len(at) // parts : (part + 1) * len(at) // parts])
                if self.take([slot for i, slot in enumerate(self.slots) if i not in gone], what):
                    # coarser again, but not back to everything
                    parts = max(parts - 1, 2)
                    break
            else:
                if parts == len(at):
                    return
                parts *= 2

    def _remove_two(self) -> bool:
        """One shared record of each of two values goes: ties break when only one does."""
        first: dict[Any, int] = {}
        for i in shared_places(self.slots):
            first.setdefault(self.slots[i][0], i)
        chosen = sorted(first, key=simplicity)[:MOST_TOGETHER]
        for a, b in combinations(chosen, 2):
            left = [slot for i, slot in enumerate(self.slots) if i not in (first[a], first[b])]
            if self.take(left, "two shared records removed"):
                return True
        return False

    def renamed_values(self) -> None:
        """A value gives way to a simpler one wherever it stands, then in all shared records."""
        for value in _values(self.slots):
            self._lower(value, _everywhere, "a value replaced everywhere")
        for value in _values([self.slots[i] for i in shared_places(self.slots)]):
            self._lower(value, shared_places, "a value replaced in the shared records")

    def _lower(self, value: Any, places: Callable[[list[Slot]], list[int]], what: str) -> None:
        """Replace the value in those places by simpler and simpler ones, as long as that goes on refuting."""
        lowered = True
        while lowered:
            lowered = False
            for new in self._simpler(value):
                slots = list(self.slots)
                for i in places(slots):
                    a, b = slots[i]
                    slots[i] = (new if a == value else a, new if b == value else b)
                if self.take(slots, what):
                    value, lowered = new, True
                    break

    def simpler_values(self) -> None:
        """One record after the other: a shared one on both sides, a differing one on either or by one step on both.

        A differing one may take the other side's value, and is shared from then on.
        """
        known = set[Slot]()
        for i in range(len(self.slots)):
            if isinstance(self.pair.left, Multiset) and self.slots[i] in known:
                # equal records of a multiset are the same record
                continue
            known.add(self.slots[i])
            while any(self._put(i, slot, "a record made simpler") for slot in self._simpler_slots(self.slots[i])):
                pass

    def tidier_order(self) -> None:
        """Sides swapped, records sorted, shared records sorted."""
        swapped = [(b, a) for a, b in self.slots]
        self.take(swapped, "sides swapped")
        self.take(sorted(self.slots, key=_slot_key), "records sorted")
        slots, places = list(self.slots), shared_places(self.slots)
        for i, slot in zip(places, sorted((slots[i] for i in places), key=_slot_key), strict=True):
            slots[i] = slot
        self.take(slots, "shared records sorted")

    def _put(self, at: int, slot: Slot, what: str) -> bool:
        return self.take([*self.slots[:at], slot, *self.slots[at + 1 :]], what)

    def _simpler_slots(self, slot: Slot) -> Iterator[Slot]:
        a, b = slot
        if a is not ABSENT and a == b:
            yield from ((new, new) for new in self._simpler(a))
            return
        if a is not ABSENT:
            yield from ((new, b) for new in self._simpler(a))
        if b is not ABSENT:
            yield from ((a, new) for new in self._simpler(b))
        if is_number(a) and is_number(b):
            # neighbouring answers to queries must stay as close as they are
            gap = b - a
            moved = [(new, new + gap) for new in self._simpler(a)] + [(new - gap, new) for new in self._simpler(b)]
            yield from (pair for pair in moved if self._allowed(pair))

    def _simpler(self, value: Any) -> Iterator[Any]:
        """Simpler values to try, the simplest ones first."""
        if value is ABSENT:
            return
        own = simplicity(value)
        candidates: list[Any] = []
        if self.records is not None and self.records.contains(value):
            candidates += self.records.simpler(value)
        elif self.records is None:
            if _number(value):
                candidates += map(float if isinstance(value, float) else int, (0, 1, -1))
            candidates += self.given_values
        candidates += self.values
        yield from (new for new in dict.fromkeys(map(as_record, candidates)) if simplicity(new) < own)

    def _allowed(self, slot: Slot) -> bool:
        """Whether moved numbers are records; where no kind of record is known, what the pair has, or 0 and ±1."""
        if self.records is not None:
            return all(self.records.contains(value) for value in slot)
        return all(value in (0, 1, -1) or value in self.given_values for value in slot)


def _values(slots: list[Slot]) -> list[Any]:
    """The different values, the simplest first."""
    return sorted({value for slot in slots for value in slot if value is not ABSENT}, key=simplicity)


def _everywhere(slots: list[Slot]) -> list[int]:
    return list(range(len(slots)))


def _slot_key(slot: Slot) -> tuple[Any, ...]:
    return tuple((0, ()) if value is ABSENT else (1, simplicity(value)) for value in slot)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
