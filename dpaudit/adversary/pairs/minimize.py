"""Minimise a pair of datasets that refutes a claim.

Delta debugging on the records (Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 2002,
algorithm ddmin), then simpler values; a differing record may take the value of the other dataset. A step is kept only
if the caller's test says that the smaller pair still refutes. The test is statistical, so no pair is tested twice:
repeating a test until it succeeds would make it invalid. The result was selected by its outcomes, so the verdict on it
needs fresh samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from dpaudit.adversary.pairs.alignment import ABSENT, Slot, aligned, differing_places, joined, shared_places, usable
from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.pair import Pair, sized
from dpaudit.errors import DatasetError
from dpaudit.language import Dataset, Multiset, Relation
from dpaudit.language.checks import whole
from dpaudit.language.records import Record, as_record, is_number

MOST_TOGETHER = 6
"""Number of values from which two are tried together: 15 tests."""


@dataclass(frozen=True)
class Step:
    """A smaller pair that still refutes, and the change that led to it."""

    what: str
    pair: Pair


@dataclass(frozen=True)
class Minimized:
    """The result of `minimize`.

    Args:
        pair: the smallest pair that refuted; the given one if there are no steps.
        steps: the steps to it, in order.
        tried: the number of tests, at most the budget.
        complete: whether everything was tried; False if the budget ran out.
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
    sizes: tuple[int, int] | None = None,
) -> Minimized:
    """A pair of which no single simplification still refutes, or the smallest one when the budget runs out.

    Args:
        pair: a related pair that refutes; it is not tested again.
        refutes: whether a pair refutes; should return False if the mechanism cannot run on it.
        relation: every intermediate pair is related by it (a shared record is removed from both datasets).
        records: the kind of record; without it records are only removed, or replaced by values in the pair or by
            0 and ±1 for numbers.
        budget: maximum number of calls of `refutes`, ≥ 0.
        sizes: least and most records of a dataset; None for any.

    Raises:
        PairError: the given pair is not related, or its datasets are equal.
        ParameterError: a budget that is not a whole number ≥ 0.
    """
    pair.distance(relation)
    work = _Minimizing(pair, refutes, relation, records, whole("budget", budget, least=0), sizes)
    try:
        # simpler values may make records superfluous, and vice versa: repeat until nothing changes
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


def size_of(pair: Pair) -> tuple[object, ...]:
    """Sort key of pairs from small to large; two different pairs (ignoring labels) have different keys.

    Fewer records in total; then simpler values, compared from the least simple one down; then fewer differing records;
    then fewer distinct values; then simpler values earlier, and in the left dataset.
    """
    left, right = (_counts(dataset) for dataset in (pair.left, pair.right))
    counts = left + right
    values: Counter[tuple[object, ...]] = Counter()
    for value, count in counts.items():
        values[simplicity(value)] += count
    if isinstance(pair.left, tuple) and isinstance(pair.right, tuple) and len(pair.left) == len(pair.right):
        differing = sum(a != b for a, b in zip(pair.left, pair.right, strict=True))
    else:
        differing = sum(((left - right) + (right - left)).values())
    orders = tuple(_order(dataset) for dataset in (pair.left, pair.right))
    return counts.total(), tuple(sorted(values.items(), reverse=True)), differing, len(counts), orders


def _counts(dataset: Dataset) -> Counter[Record]:
    return Counter(dict(dataset.items)) if isinstance(dataset, Multiset) else Counter(dataset)


def _order(dataset: Dataset) -> tuple[object, ...]:
    if isinstance(dataset, Multiset):
        return 0, tuple((simplicity(value), count) for value, count in dataset.items)
    return 1, tuple(simplicity(value) for value in dataset)


def simplicity(value: object) -> tuple[object, ...]:
    """Sort key of values by simplicity: None, False, True, 0, 1, −1, 2, …, short fractions, short strings, tuples.

    Tuples are compared by length, then by their fields.
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
    """The budget of tests is used up."""


class _Minimizing:
    """A minimisation in progress: the smallest pair so far as slots, and the pairs already tested."""

    def __init__(
        self,
        pair: Pair,
        refutes: Callable[[Pair], bool],
        relation: Relation,
        records: Records | None,
        budget: int,
        sizes: tuple[int, int] | None,
    ) -> None:
        self.given = self.pair = pair
        self.slots = aligned(pair, relation)
        self.refutes, self.relation, self.records, self.budget = refutes, relation, records, budget
        self.sizes = sizes
        self.size = size_of(pair)
        self.given_values = self.values = _values(self.slots)
        self.asked: set[tuple[Dataset, Dataset]] = {(pair.left, pair.right)}
        self.tried = 0
        self.steps: list[Step] = []

    def result(self, *, complete: bool) -> Minimized:
        """The result so far."""
        label = f"{self.given.label}, minimised" if self.given.label else "minimised"
        pair = replace(self.pair, label=label) if self.steps else self.given
        return Minimized(pair, tuple(self.steps), self.tried, complete)

    def take(self, slots: list[Slot], what: str) -> bool:
        """Continue with these slots if they form a smaller related pair that is not tested yet, and it refutes.

        Raises:
            _BudgetSpentError: it would have to be tested, and the budget is used up.
        """
        try:
            other = joined(slots, self.given, what)
        except DatasetError:
            # values of mixed types have no order, so they cannot form a multiset
            return False
        key = (other.left, other.right)
        if key in self.asked or not sized(other, self.sizes) or not usable(other, self.relation):
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
        """Remove shared records: all, halves, quarters, …, single ones; then differing ones; then two at once."""
        self._remove(shared_places, "shared records removed")
        self._remove(differing_places, "differing records removed")
        while self._remove_two():
            pass

    def _remove(self, places: Callable[[list[Slot]], list[int]], what: str) -> None:
        parts = 1
        while at := places(self.slots):
            parts = min(parts, len(at))
            for part in range(parts):
                removed = set(at[part * len(at) // parts : (part + 1) * len(at) // parts])
                if self.take([slot for i, slot in enumerate(self.slots) if i not in removed], what):
                    # coarser again, but not back to the whole
                    parts = max(parts - 1, 2)
                    break
            else:
                if parts == len(at):
                    return
                parts *= 2

    def _remove_two(self) -> bool:
        """Remove one shared record of each of two values: removing only one would break a tie."""
        first: dict[Record, int] = {}
        for i in shared_places(self.slots):
            first.setdefault(self.slots[i][0], i)
        chosen = sorted(first, key=simplicity)[:MOST_TOGETHER]
        for a, b in combinations(chosen, 2):
            left = [slot for i, slot in enumerate(self.slots) if i not in (first[a], first[b])]
            if self.take(left, "two shared records removed"):
                return True
        return False

    def renamed_values(self) -> None:
        """Replace a value by a simpler one everywhere, then in all shared records."""
        for value in _values(self.slots):
            self._lower(value, _everywhere, "a value replaced everywhere")
        for value in _values([self.slots[i] for i in shared_places(self.slots)]):
            self._lower(value, shared_places, "a value replaced in the shared records")

    def _lower(self, value: Record, places: Callable[[list[Slot]], list[int]], what: str) -> None:
        """Replace the value in those places by ever simpler ones, as long as the pair still refutes."""
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
        """Simplify one record at a time: a shared one in both datasets, a differing one in either or by a step in both.

        A differing record may take the other dataset's value; it is shared from then on.
        """
        known = set[Slot]()
        for i in range(len(self.slots)):
            if isinstance(self.pair.left, Multiset) and self.slots[i] in known:
                # equal records of a multiset are interchangeable
                continue
            known.add(self.slots[i])
            while any(self._put(i, slot, "a record simplified") for slot in self._simpler_slots(self.slots[i])):
                pass

    def tidier_order(self) -> None:
        """Swap the datasets, sort the records, sort the shared records."""
        swapped = [(b, a) for a, b in self.slots]
        self.take(swapped, "datasets swapped")
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
            # neighbouring answers to queries must keep their distance
            gap = b - a
            moved = [(new, new + gap) for new in self._simpler(a)] + [(new - gap, new) for new in self._simpler(b)]
            yield from (pair for pair in moved if self._allowed(pair))

    def _simpler(self, value: Record) -> Iterator[Record]:
        """Simpler values to try, the simplest first."""
        if value is ABSENT:
            return
        own = simplicity(value)
        candidates: list[Record] = []
        if self.records is not None and self.records.contains(value):
            candidates += self.records.simpler(value)
        elif self.records is None:
            if _number(value):
                candidates += map(float if isinstance(value, float) else int, (0, 1, -1))
            candidates += self.given_values
        candidates += self.values
        yield from (new for new in dict.fromkeys(map(as_record, candidates)) if simplicity(new) < own)

    def _allowed(self, slot: Slot) -> bool:
        """Whether moved numbers are valid records; without a kind of record, values in the pair, or 0 and ±1."""
        if self.records is not None:
            return all(self.records.contains(value) for value in slot)
        return all(value in (0, 1, -1) or value in self.given_values for value in slot)


def _values(slots: list[Slot]) -> list[Record]:
    """The distinct values, the simplest first."""
    return sorted({value for slot in slots for value in slot if value is not ABSENT}, key=simplicity)


def _everywhere(slots: list[Slot]) -> list[int]:
    return list(range(len(slots)))


def _slot_key(slot: Slot) -> tuple[object, ...]:
    return tuple((0, ()) if value is ABSENT else (1, simplicity(value)) for value in slot)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
