"""The pairs of datasets to try first on an unknown program.

The patterns of answers (one above the others, half and half, …) are those of Ding, Wang, Wang, Zhang, Kifer, "Detecting
violations of differential privacy" (CCS 2018), table 1; the ties, orders and outliers are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from numpy.random import Generator

from dpaudit.adversary.pairs.alignment import usable
from dpaudit.adversary.pairs.describe import Records
from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import PRIVATE, PUBLIC, Dataset, Relation, Users
from dpaudit.language.records import Record, is_number

RANDOM = 8
"""Number of random pairs among the starting ones."""
LONGEST_SHOWN = 30
"""Most characters of a record in a label."""


def starting_pairs(
    relation: Relation, records: Records, size: int, rng: Generator, *, random: int = RANDOM
) -> list[Pair]:
    """Everything a good tester would try first, most promising first; every pair once, in one direction.

    Args:
        relation: neighbours, or groups of its size.
        records: the kind of record.
        size: the number of records of a dataset (under add/remove-one, smaller and slightly larger ones occur too).
        rng: for the few random parts.
        random: the number of random pairs at the end.
    """
    chosen: dict[frozenset[Dataset], Pair] = {}

    def add(pairs: Iterable[Pair]) -> None:
        for pair in pairs:
            if usable(pair, relation) and inside(pair, records):
                chosen.setdefault(frozenset((pair.left, pair.right)), pair)

    low, high = records.extremes
    step, special = relation.size, records.special
    near = {value: records.nearest(value) for value in special}
    half = (size + 1) // 2
    add(_changed((low,) * size, high, step, "all low, {} high"))
    add(_changed((high,) * size, low, step, "all high, {} low"))
    for value in records.exceptional:
        shown = _shown(value)
        add(_changed((low,) * size, value, step, f"all low, {{}} {shown}", ends_only=True))
        add(_last_changed((value, *(low,) * size)[:size], value, step, f"one {shown} beside low ones, {{}} more"))
        add(_last_changed((value,) * size, low, step, f"all {shown}, {{}} low"))
    add(_changed((low,) * half + (high,) * (size - half), high, step, "half and half, {} moved up"))
    add(_changed((low,) * half + (high,) * (size - half), low, step, "half and half, {} moved down"))
    middle = records.between(low, high)
    ramp = _ramp(records, size, rng)
    if relation.kind != "add-remove-one":
        for base in ((middle,) * size, ramp, (high, *(middle,) * size), (middle, low) * half):
            add(_moved(base[:size], step))
    cluster = tuple((low, near[low])[i % 2] for i in range(size))
    add(_changed(cluster, high, step, "one far outlier, {} moved in and out"))
    add(_changed((high, *cluster)[:size], near[low], step, "a far outlier stays, {} near the others moved"))
    add(_ties(low, high, middle, size, step))
    add(_ties(low, near[low], high, size, step))
    for value in special:
        add(_small(value, step))
        label = f"all {_shown(value)}, {{}} to its nearest value"
        add(_changed((value,) * size, near[value], step, label, ends_only=True))
    for value in special:
        add(_changed((low,) * size, value, step, f"all low, {{}} the special value {_shown(value)}", ends_only=True))
        add(_changed((value,) * size, high, step, f"all the special value {_shown(value)}, {{}} high", ends_only=True))
        add(_changed((value,) * size, low, step, f"all the special value {_shown(value)}, {{}} low", ends_only=True))
    for base, order in ((ramp, "ascending"), (ramp[::-1], "descending")):
        for odd, where in ((low, "low"), (high, "high")):
            add(_changed(base, odd, step, f"{order}, {{}} moved {where}"))
    add(_duplicates(ramp, step))
    if isinstance(relation, Users):
        add(_users(relation, (*special, *records.exceptional, *(records.draw(rng) for _ in range(size))), size))
    if relation.kind == "private-rows":
        rows = (low, high, *records.exceptional[:2], *special, *(records.draw(rng) for _ in range(4 * size)))
        add(_mixtures(rows, size, step))
    add(random_related_pairs(relation, records, size, rng, random))
    return list(chosen.values())


def random_related_pairs(relation: Relation, records: Records, size: int, rng: Generator, number: int) -> list[Pair]:
    """Random datasets and random related ones; the extremes are in the domain, so that moved numbers stay inside."""
    pairs: list[Pair] = []
    for i in range(number):
        left: Dataset = tuple(records.draw(rng) for _ in range(size))
        if relation.distance(left, left) is None:
            # the relation is on another kind of dataset, such as vectors of numbers
            return []
        for _ in range(20):
            domain = [*records.extremes, *(records.draw(rng) for _ in range(8))]
            pair = Pair(left, relation.random_related(left, domain, rng), f"random {i + 1}", "random")
            if usable(pair, relation) and inside(pair, records):
                pairs.append(pair)
                break
    return pairs


def inside(pair: Pair, records: Records) -> bool:
    """Whether all records are of this kind."""
    return all(records.contains(value) for dataset in (pair.left, pair.right) for value in set(dataset))


def _changed(
    base: tuple[Record, ...], odd: Record, step: int, label: str, *, ends_only: bool = False
) -> Iterator[Pair]:
    """`step` records of the base replaced by the odd one, removed, or odd ones added: last, first, in the middle."""
    count = "one" if step == 1 else str(step)
    for place in ("last", "first", "middle")[: 2 if ends_only else 3]:
        k = min(step, len(base))
        at = {"last": len(base) - k, "first": 0, "middle": (len(base) - k) // 2}[place]
        name = label.replace("{}", count)
        yield Pair(base, (*base[:at], *(odd,) * k, *base[at + k :]), f"{name} ({place})", "extreme")
        into = {"last": len(base), "first": 0, "middle": len(base) // 2}[place]
        yield Pair(base, (*base[:into], *(odd,) * step, *base[into:]), f"{name}: added ({place})", "extreme")
        yield Pair(base, (*base[:at], *base[at + k :]), f"{name}: others removed ({place})", "extreme")
        if step > 1:
            # only one record of the group: a claim about groups also covers single records
            yield Pair(base, (*base[:at], odd, *base[at + 1 :]) if base else (odd,), f"{name}: only one", "extreme")


def _last_changed(base: tuple[Record, ...], odd: Record, step: int, label: str) -> Iterator[Pair]:
    """The last `step` records of the base replaced by the odd one."""
    k = min(step, len(base))
    count = "one" if step == 1 else str(step)
    yield Pair(base, (*base[: len(base) - k], *(odd,) * k), label.replace("{}", count), "extreme")


def _moved(base: tuple[Record, ...], step: int) -> Iterator[Pair]:
    """Numbers that move by the relation's size: patterns of neighbouring vectors of answers."""
    if not base or not all(map(is_number, base)):
        return
    n, rest = len(base), len(base) - 1
    patterns = {
        "all up": (1,) * n,
        "all down": (-1,) * n,
        "first up, others down": (1, *(-1,) * rest),
        "first down, others up": (-1, *(1,) * rest),
        "last up, others down": (*(-1,) * rest, 1),
        "last down, others up": (*(1,) * rest, -1),
        "half up, half down": (1,) * (n - n // 2) + (-1,) * (n // 2),
        "up and down in turn": tuple(1 - 2 * (i % 2) for i in range(n)),
        "first up": (1, *(0,) * rest),
        "first down": (-1, *(0,) * rest),
        "last up": (*(0,) * rest, 1),
        "last down": (*(0,) * rest, -1),
    }
    shape = "equal" if len(set(base)) == 1 else "different"
    for name, signs in patterns.items():
        right = tuple(value + step * sign for value, sign in zip(base, signs, strict=True))
        yield Pair(base, right, f"{shape} numbers, {name}", "extreme")


def _ties(a: Record, b: Record, third: Record, size: int, step: int) -> Iterator[Pair]:
    """Equal counts of two values and a deciding record, first, last or in the middle; or the tie itself broken."""
    for one, other in ((a, b), (b, a)):
        tied = f"{_shown(one)} and {_shown(other)} tie"
        most = max(0, size - step) // 2
        filler = (third,) * max(0, size - step - 2 * most)
        blocks = (*(one,) * most, *(other,) * most)
        for place, at in (("last", 2 * most), ("first", 0), ("middle", most)):
            for k in dict.fromkeys((min(step, size), min(1, size))):
                left = (*blocks[:at], *(one,) * k, *blocks[at:], *filler)
                right = (*blocks[:at], *(other,) * k, *blocks[at:], *filler)
                yield Pair(left, right, f"{tied}, the {place} record decides", "extreme")
                without = (*blocks, *filler)
                yield Pair(without, left, f"{tied}, a {place} record added decides", "extreme")
        tie = (*(one,) * (size // 2), *(other,) * (size // 2), *(third,) * (size % 2))
        yield from _changed(tie, other, step, f"{tied}, the tie broken by {{}}")


def _small(value: Record, step: int) -> Iterator[Pair]:
    """The empty dataset and the one-record dataset, for relations that change the number of records."""
    yield Pair((), (value,), f"empty, and one {_shown(value)}", "extreme")
    if step > 1:
        yield Pair((), (value,) * step, f"empty, and {step} {_shown(value)}", "extreme")
    yield Pair((value,), (value,) * (1 + step), f"one record {_shown(value)}, doubled", "extreme")


def _duplicates(ramp: tuple[Record, ...], step: int) -> Iterator[Pair]:
    """All records distinct except for one pair of equal ones, and every record twice except for one."""
    if len(ramp) < 2:
        return
    yield from _changed(ramp, ramp[0], step, "all different, {} made equal to the smallest")
    yield from _changed(ramp, ramp[-2], step, "all different, {} made equal to another", ends_only=True)
    twice = tuple(value for value in ramp[: (len(ramp) + 1) // 2] for _ in (0, 1))[: len(ramp)]
    yield from _changed(twice, ramp[-1], step, "every record twice, {} made single")


def _mixtures(rows: Iterable[Record], size: int, step: int) -> Iterator[Pair]:
    """Private rows that are equal except for the replaced ones, with none, one or half of the rows public."""
    rows = dict.fromkeys(row for row in rows if isinstance(row, tuple) and len(row) == 3)
    private = [row for row in rows if row[2] == PRIVATE]
    public = [row for row in rows if row[2] == PUBLIC]
    k = min(step, size)
    for number in dict.fromkeys((0, 1, size // 2, size - k)):
        if number > size - k or (number and not public):
            continue
        fixed = tuple(public[i % len(public)] for i in range(number))
        for one in private[:3]:
            for other in private[:4]:
                left, right = (one,) * (size - number), (other,) * k + (one,) * (size - number - k)
                label = f"{number} public rows, the others {_shown(one)}, {k} replaced by {_shown(other)}"
                yield Pair((*fixed, *left), (*fixed, *right), label, "extreme")


def _users(relation: Users, rows: Iterable[Record], size: int) -> Iterator[Pair]:
    """All records of one user removed, or of as many as the relation has: one record each, or several, equal or not."""
    of = relation.of(tuple(dict.fromkeys(rows)))
    known = list(of)
    for at, user in enumerate(known):
        gone = {known[(at + i) % len(known)] for i in range(relation.size)}
        others = [row for other in known if other not in gone for row in of[other]]
        mine = [row for one in known if one in gone for row in of[one]]
        bases = ((), tuple(others[:1]), tuple(others * size)[:size])
        lists = (tuple(mine), *((row,) * k for row in of[user] for k in (1, 2, size)))
        for base in dict.fromkeys(bases):
            for records in dict.fromkeys(lists):
                label = f"all {len(records)} records of user {_shown(user)}"
                yield Pair(base, (*base, *records), f"{label} added last", "extreme")
                yield Pair(base, (*records, *base), f"{label} added first", "extreme")


def _shown(value: Record) -> str:
    """A record as shown in a label."""
    shown = repr(value)
    return shown if len(shown) <= LONGEST_SHOWN else shown[: LONGEST_SHOWN - 1] + "…"


def _ramp(records: Records, size: int, rng: Generator) -> tuple[Record, ...]:
    """Ascending records, distinct as long as there are enough."""
    drawn = dict.fromkeys((*records.extremes[:size], *(records.draw(rng) for _ in range(4 * size))))
    values = list(drawn)[:size] or [records.extremes[0]]
    values = [values[i % len(values)] for i in range(size)]
    try:
        return tuple(sorted(values))
    except TypeError:
        # choices of mixed types have no other order
        return tuple(sorted(values, key=lambda value: (type(value).__name__, repr(value))))
