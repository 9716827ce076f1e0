"""Relations that hold between audits, and between counts, whatever the right numbers are.

| relation | held here for |
| --- | --- |
| an event's count over a batch is the sum of those over single outputs | every kind of event, split, order, company |
| an output that the program changes after it returned it counts as it was | lists and arrays that share one buffer |
| relabelling outputs by a bijection | hits and bounds of whole audits; exact ε |
| swapping D and D′ | exact ε, and the bound on average |
| permuting the samples | hits of every event |
| adding a record that is ignored | whole audits |
| adding an independent public coordinate | exact ε, and the bound on average |
| post-processing | exact ε never rises |
| scaling query and noise together | hits and bounds of whole audits |
| monotone in hits, α and δ | whole audits; exact ε |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from helpers import count, families, learned_events
from kernels import RandomMechanism, kernel_of
from shapes import PAIR, SHAPES, Shape, present

import dpaudit
from dpaudit.adversary.events.event import Event
from dpaudit.language import Categorical, Claim, Mechanism


def drawn(shape: Shape, bit: int, number: int, seed: int) -> list[Any]:
    """Some outputs; a failure has no object, so those that fail are left out."""
    rng = np.random.default_rng([seed, bit])
    outputs = []
    for _ in range(number):
        try:
            output = shape.output(bit, rng)
        except Exception:
            continue
        outputs.append(output.copy() if "the same at every call" in shape.name else output)
    return outputs


READ = [shape for shape in present() if not shape.refusable]
BATCHES = {
    "floats": ("float", "float, by two paths", "0-d array of a float"),
    "numbers of every type": ("int", "float", "numpy scalars by coin", "int, float and bool by coin", "bool"),
    "numbers beyond doubles": ("int, beyond doubles", "int", "float"),
    "vectors": ("vector",),
    "vectors and their copies as lists": ("vector with Laplace noise", "vector"),
    "vectors of many lengths": ("float", "vector of 1 or 2 numbers", "list of 1 or 2 numbers", "vector of int"),
    "matrices": ("matrix", "matrix, transposed or not", "empty arrays of many shapes"),
    "NaN and infinities": ("NaN, ±inf and floats", "float", "0.0, −0.0 by coin, and 2.0", "None or a float"),
    "strings and bytes": ("str of varying length", "str with lone surrogates", "bytes", "numpy strings and bytes"),
    "tuples": ("tuple of many kinds", "tuples in tuples", "tuple of 1 or 2 parts", "ragged list", "array of objects"),
    "records": ("namedtuple", "frozen dataclass", "dataclass that is not frozen", "Enum"),
    "dicts and sets": ("dict, in any order", "dict with a key more", "set, in any order", "frozenset of tuples"),
    "kinds beside each other": ("float or str", "float, vector or matrix", "int, str, None or tuple", "bool", "float"),
    "pandas": ("Series, in any order", "DataFrame", "DataFrame of 1 or 2 rows", "pandas NA, NaT and Timestamp"),
}


def batch(name: str, bit: int, number: int, seed: int) -> list[Any]:
    """Outputs of the named shapes, mixed."""
    shapes = [SHAPES[one] for one in BATCHES[name] if SHAPES[one] in READ]
    if not shapes:
        pytest.skip("pandas is not installed")
    outputs = [one for shape in shapes for one in drawn(shape, bit, math.ceil(number / len(shapes)), seed)]
    order = np.random.default_rng(seed).permutation(len(outputs))
    return [outputs[i] for i in order]


def assert_adds_up(event: Event, outputs: Sequence[Any], company: Sequence[Any], *, seed: int) -> None:
    """One by one, split at random, in other orders, and beside outputs of other shapes."""
    alone = [count(event, [output]) for output in outputs]
    assert set(alone) <= {0, 1}
    whole = sum(alone)
    assert count(event, outputs) == whole, event
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(outputs))
    assert count(event, [outputs[i] for i in order]) == whole, event
    ends = np.sort(rng.integers(len(outputs), size=3))
    parts = np.split(order, ends)
    assert sum(count(event, [outputs[i] for i in part]) for part in parts) == whole, event
    among = [*outputs[: len(outputs) // 2], *company, *outputs[len(outputs) // 2 :]]
    assert count(event, among) == whole + sum(count(event, [one]) for one in company), event


COMPANY: list[Any] = [
    0, 1.0, True, 0.5, -2.5, "a", "", None, (), (0.5,), (0.5, 1.5), [1, 2.5, 3.0], np.array([0.25]), np.zeros((2, 2)),
    b"x", ("a", 0.5), 10**400, (0, (1.5, "b")),
]  # fmt: skip


@pytest.mark.slow(
    only=[
        "pandas",
        "matrices",
        "tuples",
        "dicts and sets",
        "records",
        "kinds beside each other",
        "vectors of many lengths",
        "strings and bytes",
        "vectors",
        "vectors and their copies as lists",
        "NaN and infinities",
    ]
)
@pytest.mark.parametrize("name", BATCHES)
def test_an_event_s_count_is_the_sum_over_single_outputs(name: str) -> None:
    """Learned on one batch, counted on another."""
    events = list(learned_events(batch(name, 0, 60, 1), batch(name, 1, 60, 2)))
    # each axis once for every kind: they differ in their column alone
    chosen = {(e.axis and (type(e.axis), type(e.axis.encoder)), i % 5): e for i, e in enumerate(events)}
    outputs = batch(name, 0, 16, 3) + batch(name, 1, 16, 4)
    for at, event in enumerate(chosen.values()):
        assert_adds_up(event, outputs, COMPANY, seed=at)


@pytest.mark.slow
def test_trees_and_every_other_kind_of_event_add_up() -> None:
    """From 1,000 samples on boosted trees take part; here every kind of event that there is."""
    events: list[Event] = []
    for name in ("vectors", "kinds beside each other"):
        events += learned_events(batch(name, 0, 1_010, 5), batch(name, 1, 1_010, 6))
    kinds = families(events)
    assert {kind.partition(" of ")[0] for kind in kinds} >= {"Column", "Linear", "Boosted", "atoms"}
    chosen = {str(families([event])): event for event in events}
    outputs = [one for name in ("vectors", "tuples", "floats") for one in batch(name, 1, 20, 7)]
    for at, event in enumerate(chosen.values()):
        assert_adds_up(event, outputs, COMPANY, seed=at)


def test_a_broken_count_would_be_seen() -> None:
    """The relation fails for an event that looks at the other outputs of its batch."""

    class Company(Event):
        def count(self, outputs: Any) -> int:
            return int(outputs.runs > 1)

    with pytest.raises(AssertionError):
        assert_adds_up(Company(), [1, 2, 3, 4], [5], seed=0)


@pytest.mark.slow
def test_a_buffer_counts_as_it_was_when_it_was_returned() -> None:
    """The same numbers in one list, in one array, and in a fresh one each time: the same audit."""
    kept: list[Any] = [0.0]
    array = np.zeros(1)

    def fresh(dataset: Any, rng: np.random.Generator) -> Any:
        return [dataset[0] + float(rng.laplace())]

    def in_list(dataset: Any, rng: np.random.Generator) -> Any:
        kept[0] = dataset[0] + float(rng.laplace())
        return kept

    def fresh_array(dataset: Any, rng: np.random.Generator) -> Any:
        return np.array(fresh(dataset, rng))

    def in_array(dataset: Any, rng: np.random.Generator) -> Any:
        array[0] = dataset[0] + rng.laplace()
        return array

    for one, other in ((fresh, in_list), (fresh_array, in_array)):
        for before, after in audits(one, other, seeds=1):
            assert numbers(before) == numbers(after)


def audits(
    f: Callable[..., Any], g: Callable[..., Any], *, seeds: int = 2, pairs: tuple[Any, Any] = (PAIR, PAIR),
    certify: bool = True, runs: int = 100, **more: Any,
) -> list[tuple[Any, Any]]:
    """Audits of two functions with the same seeds."""
    f.__name__ = f.__qualname__ = g.__name__ = g.__qualname__ = "subject"
    settings: dict[str, Any] = {"epsilon": 0.5, "alpha": 0.05, "runs": runs, "certify": certify, **more}

    def audit(one: Callable[..., Any], pair: tuple[Any, Any], seed: int) -> Any:
        return dpaudit.audit(one, pair=pair, seed=seed, progress=False, **settings).audit

    return [(audit(f, pairs[0], seed), audit(g, pairs[1], seed)) for seed in range(seeds)]


def numbers(audit: Any) -> tuple[Any, ...]:
    """What must be the same where two audits count the same."""
    return (audit.verdict, audit.epsilon_lower, [(one.x, one.n, one.y, one.m) for one in audit.sampled])


def same_on_average(found: Sequence[tuple[Any, Any]]) -> None:
    """The bounds of two kinds of audits do not differ by more than chance: five standard errors of the difference."""
    differences = np.array([(a.epsilon_lower or 0.0) - (b.epsilon_lower or 0.0) for a, b in found])
    error = differences.std(ddof=1) / math.sqrt(len(differences))
    assert abs(differences.mean()) <= 5 * max(error, 0.02), differences


FIVE = (0.35, 0.3, 0.2, 0.1, 0.05)
LABELS: dict[str, tuple[Any, ...]] = {
    "strings": ("v", "w", "x", "y", "z"),
    "other strings": ("no", "", "maybe", "\ud800", "yes"),
    "numbers backwards": (5, 4, 3, 2, 0),
    "records": (("a",), ("b", 1), None, frozenset({3}), b"x"),
}


@pytest.mark.slow(only=["other strings", "records"])
@pytest.mark.parametrize("labels", [labels for labels in LABELS if labels != "strings"])
def test_relabelling_outputs_leaves_the_audit_as_it_is(labels: str) -> None:
    """Few outcomes are distinguished by their identity alone, so a bijection changes nothing at all."""

    def named(outcomes: tuple[Any, ...]) -> Callable[..., Any]:
        def subject(dataset: Any, rng: np.random.Generator) -> Any:
            return outcomes[int(rng.choice(5, p=FIVE if dataset[0] else FIVE[::-1]))]

        return subject

    for before, after in audits(named(LABELS["strings"]), named(LABELS[labels]), seeds=2):
        assert numbers(before) == numbers(after)


@pytest.mark.slow
def test_an_ignored_record_leaves_the_audit_as_it_is() -> None:
    def subject(dataset: Any, rng: np.random.Generator) -> float:
        return dataset[0] + float(rng.laplace())

    def other(dataset: Any, rng: np.random.Generator) -> float:
        return dataset[0] + float(rng.laplace())

    more = ((0, 17, 4), (1, 17, 4))
    for before, after in audits(subject, other, seeds=2, pairs=(PAIR, more)):
        assert numbers(before) == numbers(after)


@pytest.mark.slow
def test_scaling_query_and_noise_leaves_the_audit_as_it_is() -> None:
    """By a power of two, so that doubles are scaled exactly."""

    def subject(dataset: Any, rng: np.random.Generator) -> list[float]:
        return [dataset[0] + float(rng.laplace()), float(rng.laplace())]

    def scaled(dataset: Any, rng: np.random.Generator) -> list[float]:
        return [1024.0 * part for part in subject(dataset, rng)]

    for before, after in audits(subject, scaled, seeds=2):
        assert numbers(before) == numbers(after)


@pytest.mark.slow
def test_swapping_the_datasets_leaves_the_bound_as_it_is_on_average() -> None:
    """Each dataset has random numbers of its own, so that a swapped audit sees other samples.

    False alarm: five standard errors, below 10⁻³ with ten pairs of audits.
    """

    def subject(dataset: Any, rng: np.random.Generator) -> Any:
        return None if rng.random() < (0.2, 0.6)[dataset[0]] else int(rng.integers(5))

    def other(dataset: Any, rng: np.random.Generator) -> Any:
        return subject(dataset, rng)

    same_on_average(audits(subject, other, seeds=10, pairs=(PAIR, PAIR[::-1])))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["word", "noise", "length"])
def test_a_public_coordinate_leaves_the_bound_as_it_is_on_average(kind: str) -> None:
    """What is independent of the data adds nothing: a constant, noise, and a length. False alarm: as above."""

    def subject(dataset: Any, rng: np.random.Generator) -> Any:
        rng.random(2)
        return "yes" if rng.random() < (0.2, 0.7)[dataset[0]] else "no"

    def beside(dataset: Any, rng: np.random.Generator) -> Any:
        public = {"word": "public", "noise": rng.random(), "length": [0.5] * int(2 * rng.random())}[kind]
        if kind != "noise":
            rng.random()
        return ("yes" if rng.random() < (0.2, 0.7)[dataset[0]] else "no", public)

    same_on_average(audits(subject, beside, seeds=6))


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["alpha", "delta"])
def test_bounds_grow_with_alpha_and_fall_with_delta(setting: str) -> None:
    """Of the same samples of a bit that is rare on one dataset alone, so that True is the best event at every level."""
    levels = {"alpha": (0.001, 0.01, 0.05, 0.2), "delta": (0.3, 0.1, 0.01, 0.0)}[setting]

    def subject(dataset: Any, rng: np.random.Generator) -> bool:
        return bool(rng.random() < (0.1, 0.6)[dataset[0]])

    for seed in range(2):
        bounds = [
            dpaudit.audit(
                subject, pair=PAIR, runs=200, seed=seed, certify=True, progress=False,
                **{"epsilon": 0.5, "delta": 0.0, "alpha": 0.05, setting: level},
            ).audit.epsilon_lower
            for level in levels
        ]
        assert bounds == sorted(bounds), bounds
        assert bounds[-1] > bounds[0]


@pytest.mark.slow
def test_bounds_grow_with_the_hits() -> None:
    """The same random numbers, and a threshold that lets more and more of them count on one dataset."""
    for seed in range(2):
        bounds = []
        for share in (0.25, 0.35, 0.5, 0.6, 0.7):  # beyond, the other outcome tells as much

            def subject(dataset: Any, rng: np.random.Generator, share: float = share) -> bool:
                return bool(rng.random() < (0.1, share)[dataset[0]])

            found = dpaudit.audit(
                subject, epsilon=0.5, pair=PAIR, runs=200, seed=seed, alpha=0.05, certify=True, progress=False
            )
            bounds.append(found.audit.epsilon_lower)
        assert bounds == sorted(bounds), bounds
        assert bounds[-1] > bounds[0]


@dataclass(frozen=True)
class Table(Mechanism):
    """Any two rows of probabilities, and any labels."""

    rows: tuple[tuple[float, ...], tuple[float, ...]]
    labels: tuple[Any, ...]
    delta: float = 0.0
    public: bool = False

    @property
    def claim(self) -> Claim:
        return Claim(1.0, self.delta)

    def run(self, dataset: Any) -> Any:
        """A draw, and if wanted another one that does not depend on the data."""
        row = self.rows[dataset[0]]
        outcome = yield Categorical(tuple(range(len(row))), row)
        if self.public:
            return (self.labels[outcome], (yield Categorical(("a", "b", 7), (0.25, 0.25, 0.5))))
        return self.labels[outcome]


def exact(mechanism: Mechanism, pair: tuple[Any, Any] = PAIR) -> float:
    """The exact ε of a pair at the mechanism's δ."""
    found = dpaudit.audit(mechanism, pair=pair, runs=20, progress=False).audit.epsilon_exact
    return math.inf if found is None else found


ROWS = ((0.25, 0.25, 0.375, 0.125), (0.5, 0.125, 0.125, 0.25))


def test_exact_epsilons_keep_to_the_relations() -> None:
    """Labels, datasets swapped, a public coordinate and δ, by the output distributions."""
    words = ("a", "b", "c", "d")
    base = exact(Table(ROWS, words))
    assert base == pytest.approx(math.log(3))
    assert exact(Table(ROWS, (None, 2.5, ("x", (1,)), "d"))) == base
    assert exact(Table(ROWS, words), PAIR[::-1]) == base
    assert exact(Table(ROWS, words, public=True)) == pytest.approx(base, rel=1e-12)
    by_delta = [exact(Table(ROWS, words, delta=delta)) for delta in (0.0, 0.05, 0.1, 0.2, 0.4)]
    assert by_delta == sorted(by_delta, reverse=True)
    assert by_delta[0] > by_delta[-1]


@pytest.mark.slow(fast=["0", "1"])
@pytest.mark.parametrize("seed", range(6))
def test_post_processing_never_raises_the_exact_epsilon(seed: int) -> None:
    """Labels of a random table are merged, one after the other."""
    rng = np.random.default_rng(seed)
    raw = rng.integers(1, 30, (2, 6))
    rows = tuple(tuple((row / row.sum()).tolist()) for row in raw)
    labels, last = list("abcdef"), math.inf
    for _ in range(4):
        found = exact(Table(rows, tuple(labels), delta=0.01))  # type: ignore[arg-type]
        assert found <= last + 1e-12
        last = found
        kinds = sorted(set(labels))
        labels = [kinds[0] if label == kinds[-1] else label for label in labels]


@pytest.mark.slow
def test_sampled_bounds_of_processed_outputs_keep_to_the_exact_epsilon_of_what_they_are_made_of() -> None:
    """Random kernels, whose objects merge outcomes, against the ε before merging.

    False alarm: at most 0.008, eight audits at α = 0.001.
    """
    for seed in range(8):
        kernel = kernel_of(seed)
        found = dpaudit.audit(
            RandomMechanism(seed, sampled=True), pair=kernel.pair(kernel.tried), runs=100, seed=seed,
            black_box=True, alpha=0.001, epsilon=0.0, progress=False,
        ).audit
        ratio = kernel.ratio(kernel.tried)
        if found.epsilon_lower is not None and ratio is not None:
            assert found.epsilon_lower <= math.log(ratio) + 1e-12
