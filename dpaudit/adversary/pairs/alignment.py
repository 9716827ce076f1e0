"""Align two datasets, so that both can be changed together and keep their distance."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import TypeAlias

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Dataset, Multiset, Relation
from dpaudit.language.records import Record

ABSENT: object = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()
"""Marks a record in a slot that one of the two datasets does not have."""

Slot: TypeAlias = tuple[Record, Record]
"""The same position in both datasets: (left record, right record), one of which may be `ABSENT`."""

LONGEST_TABLE = 4_000_000
"""Largest table for aligning two sequences; beyond this size, differing parts count as removed and added."""


def aligned(pair: Pair, relation: Relation) -> list[Slot]:
    """The two datasets aligned, so that both can be changed together.

    Tuples are aligned by position (where records are added and removed, along a longest common subsequence); in
    multisets the shared records come first.
    """
    if isinstance(pair.left, Multiset) or isinstance(pair.right, Multiset):
        return _aligned_multisets(Multiset.of(pair.left), Multiset.of(pair.right))
    if len(pair.left) == len(pair.right) and relation.kind not in ("add-remove-one", "users"):
        return list(zip(pair.left, pair.right, strict=True))
    return _aligned_sequences(pair.left, pair.right)


def joined(slots: Iterable[Slot], like: Pair, label: str) -> Pair:
    """The pair made of these slots: tuples or multisets as in `like`, with the same source."""
    slots = list(slots)
    left: Dataset = tuple(a for a, _ in slots if a is not ABSENT)
    right: Dataset = tuple(b for _, b in slots if b is not ABSENT)
    if isinstance(like.left, Multiset) or isinstance(like.right, Multiset):
        left, right = Multiset.of(left), Multiset.of(right)
    return Pair(left, right, label, like.source)


def usable(pair: Pair, relation: Relation) -> bool:
    """Whether the claim covers the pair, and the two datasets differ."""
    return pair.left != pair.right and relation.related(pair.left, pair.right)


def shared_places(slots: list[Slot]) -> list[int]:
    """The indices where both datasets have the same record."""
    return [i for i, (a, b) in enumerate(slots) if a is not ABSENT and a == b]


def differing_places(slots: list[Slot]) -> list[int]:
    """The indices where the datasets differ."""
    return [i for i, (a, b) in enumerate(slots) if a is ABSENT or b is ABSENT or a != b]


def _aligned_multisets(left: Multiset, right: Multiset) -> list[Slot]:
    """Shared records first, then the differing records, paired as far as possible."""
    a, b = dict(left.items), dict(right.items)
    shared = [(v, v) for v in left.values for _ in range(min(a[v], b.get(v, 0)))]
    only_left = [v for v in left.values for _ in range(a[v] - b.get(v, 0))]
    only_right = [v for v in right.values for _ in range(b[v] - a.get(v, 0))]
    return [*shared, *zip_longest(only_left, only_right, fillvalue=ABSENT)]


def _aligned_sequences(left: tuple[Record, ...], right: tuple[Record, ...]) -> list[Slot]:
    """Along a longest common subsequence; equal ends are stripped first, so similar datasets are fast."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    ends = list(zip(left[:start], right[:start], strict=True)), [(v, v) for v in left[len(left) - end :]]
    left, right = left[start : len(left) - end], right[start : len(right) - end]
    if len(left) * len(right) > LONGEST_TABLE:
        return [*ends[0], *((a, ABSENT) for a in left), *((ABSENT, b) for b in right), *ends[1]]
    # longest[i][j]: of left[i:] and right[j:]
    longest = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            longest[i][j] = (
                1 + longest[i + 1][j + 1] if left[i] == right[j] else max(longest[i + 1][j], longest[i][j + 1])
            )
    middle, i, j = list[Slot](), 0, 0
    while i < len(left) or j < len(right):
        if i < len(left) and j < len(right) and left[i] == right[j]:
            middle.append((left[i], right[j]))
            i, j = i + 1, j + 1
        elif j == len(right) or (i < len(left) and longest[i + 1][j] >= longest[i][j + 1]):
            middle.append((left[i], ABSENT))
            i += 1
        else:
            middle.append((ABSENT, right[j]))
            j += 1
    return [*ends[0], *middle, *ends[1]]
