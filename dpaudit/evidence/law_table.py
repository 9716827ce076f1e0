"""The laws of a mechanism on every dataset of a finite scope, enclosed by doubles; kept while they are computed."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import time
from bisect import bisect_left
from collections.abc import Generator, Hashable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field, replace

import flint
import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import MechanismError, TimeLimitError, UsageError
from dpaudit.evidence.kept_laws import KeptLaws, Part
from dpaudit.evidence.symmetries import (
    Action,
    Orbits,
    closed,
    closed_cuts,
    confirmed,
    declared,
    moves_all,
    order_seen,
    turns,
)
from dpaudit.interpret import LawCache, NotOnExact, interval_law
from dpaudit.interpret.range_laws import has_ranges
from dpaudit.journal import Journal
from dpaudit.language import Dataset, Mechanism, Relation
from dpaudit.outputs.canonical import Kinds
from dpaudit.outputs.fingerprint import key_of
from dpaudit.outputs.form import SameForms
from dpaudit.outputs.ranges import IntegerRange
from dpaudit.plans.plan import Scope
from dpaudit.results.stream import Progress
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.enclosure import outward
from dpaudit.subjects.code_key import NoKeyError, code_key, own_code
from dpaudit.subjects.executors import Shared
from dpaudit.subjects.runner import WORTH_A_POOL, Runner
from dpaudit.subjects.user_errors import guarded

Floats = FloatArray
Ints = IntArray

PATHS = 200_000
"""Paths of one law that an audit enumerates on its own account."""
MOST_ENTRIES = 400_000_000
"""Probabilities of a table: 6.4 GB."""
MOST_DATASETS = 20_000_000
MOST_KNOWN = 4_096
"""Rows of a table whose laws the audit keeps in interval arithmetic, for pairs that it compares later."""


@dataclass(frozen=True)
class LawTable:
    """Every law of a scope; one row for all datasets that symmetries make equal.

    Args:
        datasets: all of them.
        outcomes: all outputs that any of them has.
        low, high: doubles around the probabilities, shape (rows, outcomes).
        row, turn: of every dataset, shape (datasets,): its row, and which of `columns` is its order of outcomes.
        columns: shape (k, outcomes): outcome c of a dataset is in column columns[turn, c] of its row.
        action: the symmetries.
        confirmed: on how many datasets each of them was confirmed.
        order_seen: rows in an order that has another law than their multiset; None where none was found.
        complete: False where the time limit came before the last dataset.
        cache: which rows were read from the journal, or why what was there was not used, in words; "" for neither.
        rounded: what the program rounded to doubles, on any of the datasets.
        doubles: why the program ran on doubles; "" where it ran on exact numbers.
        differing: a sentence about forms of outputs that are not the same on every dataset; "" for none.
    """

    datasets: tuple[Dataset, ...]
    outcomes: tuple[Hashable, ...]
    low: Floats
    high: Floats
    row: Ints
    turn: Ints
    columns: NDArray[np.int32]
    action: Action = field(default_factory=Action)
    confirmed: int = 0
    order_seen: tuple[object, ...] | None = None
    complete: bool = True
    cache: str = ""
    rounded: tuple[str, ...] = ()
    doubles: str = ""
    differing: str = ""

    def laws(self, at: Ints) -> tuple[Floats, Floats]:
        """Lower and upper ends of the laws of datasets by number, shape (k, outcomes) each."""
        if len(self.columns) == 1:
            return self.low[self.row[at]], self.high[self.row[at]]
        rows, columns = self.row[at, None], self.columns[self.turn[at]]
        return self.low[rows, columns], self.high[rows, columns]


def law_table(
    mechanism: Mechanism, relation: Relation, scope: Scope, runner: Runner, name: str, cache: LawCache
) -> Generator[Progress, None, LawTable]:
    """The table; reports progress, and reuses what was computed before an interruption.

    Where the time limit comes first, the table is of the datasets whose laws are known by then.

    Args:
        cache: laws that the audit knows already; those of a small table are added.

    Raises:
        NotEnumerableError: the mechanism has no law, or too large a one.
        SymmetryError: the mechanism declares a symmetry that it does not have.
        UsageError: the scope is too large.
    """
    try:
        return (yield from _table(mechanism, relation, scope, runner, name, cache))
    except NotOnExact as error:
        # numbers computed exactly are never compared with numbers computed in doubles
        return (yield from _table(mechanism, relation, scope, runner, name, cache.on_doubles(str(error))))


def _table(
    mechanism: Mechanism, relation: Relation, scope: Scope, runner: Runner, name: str, cache: LawCache
) -> Generator[Progress, None, LawTable]:
    doubles = cache.doubles
    domain = tuple(dict.fromkeys(scope.domain))
    if _number(relation, len(domain), scope) > MOST_DATASETS:
        raise UsageError(f"There are more than {MOST_DATASETS:,} {scope}; make the domain or the size smaller.")
    key: Hashable = (key_of(mechanism), key_of(domain), scope.records, scope.ordered, relation.kind, scope.reduced)
    try:
        if key in _LATEST:
            return _LATEST[key]
    except TypeError:
        # of a mechanism that cannot be hashed nothing is kept
        key = object()
    datasets = tuple(relation.scope(domain, scope.records, ordered=scope.ordered))
    with guarded(name):
        action = declared(mechanism, relation, domain) if scope.reduced else Action()
    if action.symmetries:
        yield Progress(0, len(datasets), f"confirming {' and '.join(action.names)}", None)
    with runner.guarded(name):
        action, tried = confirmed(mechanism, action, datasets, name, cache)
        seen = order_seen(mechanism, datasets, cache)
        orbits = Orbits.of(datasets, action)
    firsts = [datasets[at] for at in orbits.firsts.tolist()]
    chunks = _chunks(len(firsts))
    about = _about(mechanism, relation, scope, doubles)
    journal = runner.journal if about else Journal("", None)
    kept = KeptLaws(journal, about or "", [stop - start for start, stop in chunks])
    parts: dict[int, Part] = dict(kept.parts)
    done = 0
    try:
        for i, part in kept.parts.items():
            with runner.guarded(name):
                same = _agrees(mechanism, part, firsts[slice(*chunks[i])], doubles)
            if not same:
                kept.drop()
                kept.refuse("its probabilities differ from those of this program")
                parts.clear()
                break
        read = sum(len(part.low) for part in parts.values())
        missing = [i for i in range(len(chunks)) if i not in parts]
        few = cache if len(firsts) <= MOST_KNOWN else LawCache(doubles)
        for part in _parts(mechanism, [firsts[slice(*chunks[i])] for i in missing], runner, name, few):
            parts[missing[done]] = part
            with runner.guarded(name):
                cache.note(mechanism, part.rounded)
            kept.keep(missing[done], part)
            done += 1
            ready = sum(len(part.low) for part in parts.values())
            yield Progress(ready, len(firsts), f"exact, {ready:,} of {len(firsts):,} datasets", None)
    except TimeLimitError:
        known = [at for i in sorted(parts) for at in range(*chunks[i])]
        there = [parts[i] for i in sorted(parts)]
        if not moves_all(action, there):
            datasets, action = tuple(firsts), Action()
            orbits = Orbits.of(datasets, action)
        with guarded(name):
            return replace(_joined(datasets, orbits, action, known, there, doubles), complete=False)
    except NotOnExact:
        kept.drop()
        raise
    ordered = [parts[i] for i in range(len(chunks))]
    if not moves_all(action, ordered):
        # some laws have integer ranges, and those that symmetries were confirmed on had none
        kept.drop()
        return (yield from _table(mechanism, relation, replace(scope, reduced=False), runner, name, cache))
    with guarded(name):
        table = _joined(datasets, orbits, action, list(range(len(firsts))), ordered, doubles)
    if table.differing and not doubles:
        # those of exact numbers are not what an attacker sees
        kept.drop()
        raise NotOnExact("the types of its outputs and messages are compared")
    table = replace(
        table, confirmed=tried, order_seen=seen, cache=_from_cache(read, len(firsts), kept.trouble)
    )
    kept.drop()
    _LATEST.clear()
    _LATEST[key] = table
    return table


def _parts(
    mechanism: Mechanism, chunks: Sequence[Sequence[Dataset]], runner: Runner, name: str, cache: LawCache
) -> Iterator[Part]:
    """The laws of every chunk in order; on worker processes once it is known that there is enough to do."""
    begun = time.monotonic()
    done = 0
    for chunk in chunks:
        rest = len(chunks) - done
        ahead = (time.monotonic() - begun) / max(1, done) * rest
        if runner.has_workers and rest > 1 and ahead > WORTH_A_POOL:
            break
        with runner.guarded(name):
            part = _laws(mechanism, chunk, cache)
        yield part
        done += 1
    else:
        return
    with guarded(name):
        shared = runner.workers().share(mechanism)
    try:
        yield from runner.calls(_shared_laws, ((shared, chunk, cache.doubles) for chunk in chunks[done:]))
    except BrokenExecutor as error:
        raise MechanismError(f"{name} ended its worker process.") from error


_LATEST: dict[Hashable, LawTable] = {}
"""The table that was made last: groups of 1, 2, 3 need the same one."""


def forget() -> None:
    """Let the last table go: it may be large."""
    _LATEST.clear()


def _about(mechanism: Mechanism, relation: Relation, scope: Scope, doubles: str) -> str | None:
    """A key for all that the laws of a table depend on; None where the mechanism has none, and nothing is kept."""
    try:
        code = code_key((mechanism, scope.domain, scope.records, scope.ordered, scope.reduced, relation.kind))
    except NoKeyError:
        return None
    return hashlib.sha256(json.dumps([code, own_code(), flint.__version__, doubles]).encode()).hexdigest()[:32]


def _agrees(mechanism: Mechanism, part: Part, datasets: Sequence[Dataset], doubles: str) -> bool:
    """Whether the law of one of the datasets, drawn at random, is what was read: it is computed anew.

    This finds a program that has changed in a way that `code_key` does not see. It is no proof against a forger, who
    may change one dataset's law alone: against that the cache has its key.
    """
    at = secrets.randbelow(len(datasets))
    anew = _laws(mechanism, [datasets[at]], LawCache(doubles))
    read, computed = _possible(part, at), _possible(anew, 0)
    return set(anew.rounded) <= set(part.rounded) and read.keys() == computed.keys() and all(
        low <= computed[column][1] and computed[column][0] <= high for column, (low, high) in read.items()
    )


def _possible(part: Part, at: int) -> dict[tuple[Hashable, str], tuple[float, float]]:
    """The ends of the probabilities of a dataset's outcomes and their forms, of those that may come."""
    each = zip(part.outcomes, part.forms, part.low[at].tolist(), part.high[at].tolist(), strict=True)
    return {(value, text): (low, high) for value, text, low, high in each if high > 0}


def _from_cache(read: int, rows: int, trouble: str) -> str:
    """The use of the cache, as the end of a sentence."""
    if trouble:
        return f"all computed, because output distributions in the journal were refused: {trouble}"
    if not read:
        return ""
    which = f"all {rows:,}" if read == rows else f"the first {read:,} of {rows:,}"
    return f"{which} output distributions read from the journal of an interrupted run of the same program"


def _laws(mechanism: Mechanism, datasets: Sequence[Dataset], cache: LawCache) -> Part:
    place: dict[tuple[Hashable, str], int] = {}
    rows: list[list[tuple[int, float, float]]] = []
    rounded: dict[str, None] = {}
    for dataset in datasets:
        row = []
        law = interval_law(mechanism, dataset, cache=cache, path_limit=PATHS)
        rounded |= dict.fromkeys(law.rounded)
        for value, p in law.as_dict().items():
            around = outward(p)
            # outputs of other forms have columns of their own, for them to be compared
            at = place.setdefault((value, law.forms.get(value, "")), len(place))
            row.append((at, max(0.0, around.low), min(1.0, around.high)))
        rows.append(row)
    low, high = np.zeros((2, len(datasets), len(place)))
    for i, row in enumerate(rows):
        for at, below, above in row:
            low[i, at], high[i, at] = below, above
    outcomes, forms = (tuple(each) for each in zip(*place, strict=True))
    return Part(outcomes, forms, low, high, tuple(rounded))


def _shared_laws(mechanism: Shared, datasets: Sequence[Dataset], doubles: str) -> Part:
    """In a worker process."""
    return _laws(mechanism.value(), datasets, LawCache(doubles))


def _joined(
    datasets: tuple[Dataset, ...], orbits: Orbits, action: Action, known: Sequence[int], parts: Sequence[Part],
    doubles: str,
) -> LawTable:
    """The table, from the laws of the first datasets of some orbits.

    Args:
        known: of which orbits, as many as the parts have laws.
    """
    most = MOST_ENTRIES // max(1, len(known))
    parts = _refined(parts, action, most)
    kinds, forms = Kinds(), SameForms()
    for part in parts:
        for value, text in zip(part.outcomes, part.forms, strict=True):
            kinds.see(value)
            forms.see((value,), {value: text} if text else {})
    every = tuple(dict.fromkeys(value for part in parts for value in part.outcomes))
    if len(every) > most:
        raise UsageError(
            f"{len(known):,} datasets with {len(every):,} outcomes are too many probabilities for the memory; "
            "make the domain or the size smaller."
        )
    place = {value: at for at, value in enumerate(closed(every, action.symmetries, most))}
    low, high = np.zeros((2, len(known), len(place)))
    start = 0
    for part in parts:
        rows = slice(start, start + len(part.low))
        for column, value in enumerate(part.outcomes):
            # two ranges of a part may have a piece in common, and an outcome several forms, but not in one law
            low[rows, place[value]] += part.low[:, column]
            high[rows, place[value]] += part.high[:, column]
        start += len(part.low)
    columns, turn = turns(tuple(place), action.symmetries, orbits)
    row_of = np.full(len(datasets), -1)
    row_of[orbits.firsts[np.array(known, dtype=np.int64)]] = np.arange(len(known))
    row = row_of[orbits.first]
    there = np.flatnonzero(row >= 0)
    if len(there) < len(datasets):
        datasets = tuple(datasets[at] for at in there.tolist())
    rounded = tuple(dict.fromkeys(note for part in parts for note in part.rounded))
    return LawTable(
        datasets, tuple(place), low, high, row[there], turn[there], columns, action,
        rounded=rounded, doubles=doubles, differing=forms.differing,
    )


def _refined(parts: Sequence[Part], action: Action, most: int) -> Sequence[Part]:
    """Integer ranges cut where those of any other law end, so that equal outcomes are equal numbers."""
    every = [value for part in parts for value in part.outcomes]
    if not has_ranges(tuple(every)):
        return parts
    cuts = closed_cuts(every, action.symmetries, most)
    refined: list[Part] = []
    for outcomes, forms, low, high, rounded in parts:
        values: list[Hashable] = []
        columns: list[int] = []
        shares: list[float] = []
        for at, value in enumerate(outcomes):
            if not isinstance(value, IntegerRange):
                values, columns, shares = [*values, value], [*columns, at], [*shares, 1.0]
                continue
            first, last = bisect_left(cuts, value.start), bisect_left(cuts, value.stop)
            for start, stop in zip(cuts[first:last], cuts[first + 1 : last + 1], strict=True):
                values.append(start if stop == start + 1 else IntegerRange(start, stop))
                columns.append(at)
                shares.append((stop - start) / value.size)
        # a share and its product are rounded by 2^-53 each
        below, above = np.array(shares) * (1 - 4e-16), np.array(shares) * (1 + 4e-16)
        one = np.array(shares) == 1.0
        refined.append(Part(
            tuple(values), tuple(forms[at] for at in columns), low[:, columns] * np.where(one, 1.0, below),
            high[:, columns] * np.where(one, 1.0, above), rounded,
        ))
    return refined


def _chunks(datasets: int) -> list[tuple[int, int]]:
    """Small ones first, so that progress and pace are known soon."""
    chunks, start, size = [], 0, 4
    while start < datasets:
        chunks.append((start, min(datasets, start + size)))
        start, size = start + size, min(128, 2 * size)
    return chunks


def _number(relation: Relation, domain: int, scope: Scope) -> float:
    """Datasets of a scope, or so."""
    if scope.ordered:
        return float(domain) ** scope.records
    multisets = math.comb(domain + scope.records - 1, scope.records)
    return float(multisets if relation.kind == "replace-one" else 2 * multisets)


