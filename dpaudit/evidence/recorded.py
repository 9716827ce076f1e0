"""What recorded outputs assume, and what the data themselves say of it.

No call can be repeated, so independence is taken on trust. Data can contradict it: values that came from a store,
copies of whole stretches, outputs that depend on the one before, datasets recorded with the same seeds. Then no bound
is valid. What may be harmless is noted: a file that is sorted, for which shuffling makes up.
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit.evidence.assumptions import INDEPENDENT, seems_continuous, stored_value
from dpaudit.outputs.canonical import canonical
from dpaudit.results.notes import Assumption
from dpaudit.results.records import AssumptionRecord
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.subjects.recorded import Recorded, Values

NEIGHBOURS = "neighbours"
MOST = 200_000
"""Values of each dataset, the first ones, that are tested; doubles of a continuous distribution do not repeat in so few
(probability about MOST² / 2^54 = 2e-6)."""
DECIMALS_TESTED = 200
CONTINUOUS = 0.9
"""Share of values that must be different ones for outputs to look continuous."""
SHARED = 5
"""Values that both datasets must share to show the same random numbers."""
LEAST_TESTED = 30
SERIAL = 5.0
"""Standard scores from which a rank correlation counts: 6e-7 by chance, for each of three."""
COPIES = 1e-9
"""Expected number of repeated windows, by chance, from which a repeated one is a copy."""
FREQUENT = 0.9
"""Probability that two values are equal, beyond which windows are not compared."""
_BASE = np.uint64(0x9E3779B97F4A7C15)


def examine_recorded(recorded: Recorded) -> list[AssumptionRecord]:
    """The assumptions of an audit of recorded outputs, which nothing but the data can contradict."""
    contradiction = _contradiction(recorded)
    if contradiction is not None:
        return [AssumptionRecord(INDEPENDENT, False, contradiction)]
    within = (
        "different blocks: taken on trust. One value of each block is used"
        if recorded.blocks is not None else "the samples: taken on trust"
    )
    return [
        AssumptionRecord(INDEPENDENT, None, (
            f"Independence of {within}; recorded outputs cannot be drawn again. A value that was recorded once and "
            "handed over twice, or training runs that share a seed, would make the bounds invalid."
        )),
        AssumptionRecord(NEIGHBOURS, None, (
            "That D and D′ are neighbours, and that nothing else differed between the recordings, was not checked: of "
            "the datasets only outputs are known."
        )),
    ]


def _contradiction(recorded: Recorded) -> str | None:
    """Why the samples cannot be independent; None where nothing says so."""
    both = [_numbers(values) for values in recorded.both]
    left, right = both
    if left is not None and right is not None and recorded.blocks is None and not _decimals(left, right):
        if (shared := _same_draws(left, right)) is not None:
            return shared
        for label, own, other in zip(recorded.labels, (left, right), (right, left), strict=True):
            value = stored_value(own, other)
            if value is not None:
                times = int((own == value).sum())
                return (
                    f"The value {value!r} is among the outputs of {label} {times} times, although the outputs look "
                    "continuous: values seem to have been drawn from a store, or recorded once and written twice. Each "
                    "recorded output counts once, so no bound on ε is valid; hand over the stored values themselves."
                )
    if recorded.blocks is not None:
        return None
    for label, values in zip(recorded.labels, both, strict=True):
        if values is not None and not _sorted(values) and abs(score := _serial(values)) >= SERIAL:
            return (
                f"Outputs of {label} that were recorded one after another are correlated (rank correlation with a "
                f"standard score of {score:.1f}): they are not independent, and no bound on ε is valid. If several "
                "belong to one run, declare blocks. If the order is only one in which they were put, such as by kind, "
                "shuffle them first."
            )
    codes = _codes(recorded.both)
    if len(codes[0]) == len(codes[1]) and _certainly_equal(*codes):
        return (
            f"The outputs of {recorded.labels[0]} and of {recorded.labels[1]} are the same, one by one: one of them is "
            "a copy of the other, or both were recorded with the same seeds. Record them separately, or declare them "
            "paired."
        )
    for label, one in zip(recorded.labels, codes, strict=True):
        if abs(_serial(one.astype(np.float64))) < SERIAL and (at := _copied(one)) is not None:
            return (
                f"The outputs of {label} from number {at[0] + 1:,} on are repeated from number {at[1] + 1:,} on: part "
                "of the recording is there twice, or its random numbers repeat. No bound on ε is valid; remove copies."
            )
    return None


def dependence(recorded: Recorded) -> list[Assumption]:
    """Notes on outputs that depend on those recorded next to them, which may or may not be harmless."""
    if recorded.blocks is not None:
        return []
    both = [_numbers(values) for values in recorded.both]
    ordered = [
        label for label, values in zip(recorded.labels, both, strict=True)
        if values is not None and abs(_serial(values)) >= SERIAL
    ]
    found = [
        Assumption(INDEPENDENT, (
            f"The outputs of {label} are sorted. That is harmless if they were sorted after they had been recorded"
            f"{': they are used in an order drawn from the seed' if recorded.shuffled else ''}."
        ))
        for label in ordered
    ]
    left, right = both
    if not found and left is not None and right is not None and len(left) == len(right):
        score = _correlation(left, right)
        if abs(score) >= SERIAL:
            found.append(Assumption(INDEPENDENT, (
                f"Outputs of {recorded.labels[0]} and {recorded.labels[1]} in the same place are correlated (rank "
                f"correlation with a standard score of {score:.1f}). If they were recorded in pairs, for instance "
                "with the same seed or on the same day, declare them paired: the bounds assume independent samples."
            )))
    return found


def _numbers(values: Values) -> FloatArray | None:
    """The first scalar outputs as floats; None where outputs are not numbers."""
    head = values[:MOST]
    if isinstance(head, np.ndarray):
        if head.ndim != 1 or head.dtype.kind not in "biuf":
            return None
    elif not {bool, int, float} >= set(map(type, head)):
        return None
    try:
        numbers = np.asarray(head, dtype=np.float64)
    except OverflowError:
        return None
    return numbers[np.isfinite(numbers)]


def _codes(both: tuple[Values, Values]) -> tuple[IntArray, IntArray]:
    """The first outputs as whole numbers, equal outputs as equal numbers."""
    known: dict[object, int] = {}
    parts = []
    for values in both:
        head = values[:MOST]
        if isinstance(head, np.ndarray):
            plain = head.tolist() if head.ndim == 1 else [row.tobytes() for row in np.ascontiguousarray(head)]
        else:
            plain = [canonical(value) for value in head]
        # NaN does not equal itself
        parts.append(np.array([known.setdefault(value if value == value else "nan", len(known)) for value in plain]))
    return parts[0], parts[1]


def _decimals(*samples: FloatArray) -> bool:
    """Whether values were rounded to decimals when they were written, which makes continuous ones repeat."""
    heads = np.concatenate([values[:DECIMALS_TESTED] for values in samples]).tolist()
    return all(float(f"{value:.12g}") == value for value in heads)


def _same_draws(left: FloatArray, right: FloatArray) -> str | None:
    """Why both datasets seem to have been recorded with the same random numbers."""
    once = _once(left), _once(right)
    shared = np.intersect1d(*once)
    continuous = all(len(one) > CONTINUOUS * len(values) for one, values in zip(once, (left, right), strict=True))
    if not continuous or len(shared) < SHARED or not seems_continuous(np.union1d(*once)):
        return None
    return (
        f"{len(shared):,} values, such as {float(shared[0])!r}, are among the outputs on both datasets, although the "
        "outputs look continuous: both were recorded with the same seeds, or one is partly a copy of the other. If "
        "outputs were recorded in pairs with the same seed, declare them paired; then one of each pair is used."
    )


def _once(values: FloatArray) -> FloatArray:
    distinct, counts = np.unique(values, return_counts=True)
    once: FloatArray = distinct[counts == 1]
    return once


def _certainly_equal(left: IntArray, right: IntArray) -> bool:
    if len(left) < LEAST_TESTED or not np.array_equal(left, right):
        return False
    return len(left) * math.log(_collision(left)) < math.log(COPIES)


def _collision(codes: IntArray) -> float:
    """Probability that two values are equal."""
    shares = np.bincount(codes) / len(codes)
    return float((shares**2).sum())


def _sorted(values: FloatArray) -> bool:
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _serial(values: FloatArray) -> float:
    """Standard score of the rank correlation of values with those after them; 0 for a few or equal values."""
    return _correlation(values[:-1], values[1:])


def _correlation(some: FloatArray, others: FloatArray) -> float:
    if len(some) < LEAST_TESTED or some.min() == some.max() or others.min() == others.max():
        return 0.0
    return float(np.corrcoef(_ranks(some), _ranks(others))[0, 1] * math.sqrt(len(some)))


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks, from 1; equal values have their mean."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: FloatArray = (last - (counts - 1) / 2)[places]
    return ranks


def _copied(codes: IntArray) -> tuple[int, int] | None:
    """Two places, from 0, from which the same values follow for longer than chance allows; None without any.

    Two windows of w independent values that do not overlap are equal with probability c^w, c being the probability that
    two values are. So w is chosen for an expected number n²/2 · c^w of equal windows of at most `COPIES`.
    """
    n = len(codes)
    if n < LEAST_TESTED or (collision := _collision(codes)) > FREQUENT:
        return None
    width = math.ceil((2 * math.log(n) - math.log(2 * COPIES)) / -math.log(collision))
    if 2 * width > n:
        return None
    windows = np.zeros(n - width + 1, dtype=np.uint64)
    values = codes.astype(np.uint64) + np.uint64(1)
    for offset in range(width):
        windows = windows * _BASE + values[offset : offset + len(windows)]
    order = np.argsort(windows, kind="stable")
    ordered = windows[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ends = np.append(starts[1:], len(ordered)) - 1
    # a stable sort keeps places in order, so the first and the last of a group are farthest apart
    apart = order[ends] - order[starts] >= width
    if not apart.any():
        return None
    group = int(np.flatnonzero(apart)[np.argmin(order[starts][apart])])
    return int(order[starts[group]]), int(order[ends[group]])

