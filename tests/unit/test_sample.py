"""Sampling: shared execution, seeds, reals and atoms, and what cannot be counted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
import toy_mechanisms as toys
from scipy import stats

from dpaudit.errors import MechanismError, OutputError, ParameterError
from dpaudit.interpret import Outputs, Tally, law, sample
from dpaudit.language import (
    BOTTOM,
    Bernoulli,
    Categorical,
    Laplace,
    Mechanism,
    Multiset,
    Product,
    Uniform,
    canonical,
    independent,
)
from dpaudit.outputs.canonical import NAN, Structure


def executions(mechanism: Mechanism, label: str, runs: int) -> int:
    toys.EXECUTIONS[label] = 0
    assert sample(mechanism, (), runs, seed=1).runs == runs
    return toys.EXECUTIONS[label]


@pytest.mark.parametrize("bits", [0, 1, 4, 8])
def test_a_million_runs_share_their_executions(bits: int) -> None:
    """2^bits distinct paths; the watch adds the 1st, 2nd, 4th, … path again, and the first at the end."""
    count = executions(toys.Bits(bits, "shared"), "shared", 10**6)
    assert 2**bits < count <= 2**bits + bits + 2


def test_runs_in_a_part_share_too() -> None:
    count = executions(toys.Outer(toys.Bits(3, "part")), "part", 10**6)
    # the part is drawn once at the start, once for each of its 4 outputs, and once in the 4 equal pairs' tails
    assert count <= (1 + 4 + 4) * (2**3 + 3 + 2)


def test_a_single_run_does_not_walk_the_tree() -> None:
    assert executions(toys.Bits(12, "single"), "single", 1) == 2


@pytest.mark.parametrize(
    "mechanism",
    [toys.Outer(toys.RandomizedResponse()), toys.MidPath(), toys.NoisyCount(), toys.Bits(5, "seed"),
     toys.Returns(Uniform(range(2**61)))],
    ids=lambda m: type(m).__name__,
)
def test_same_seed_same_outputs(mechanism: Mechanism) -> None:
    def drawn(seed: Any) -> tuple[Any, bytes]:
        outputs = sample(mechanism, 1 if isinstance(mechanism, toys.Outer) else (), 500, seed=seed)
        return list(outputs.counts.items()), outputs.reals.tobytes()

    assert drawn(3) == drawn(3) == drawn(np.random.SeedSequence(3)) == drawn(np.random.default_rng(3))
    assert drawn(3) != drawn(4)


@pytest.mark.parametrize("runs", [0, -1, 1.0, True, "5"])
def test_bad_number_of_runs(runs: Any) -> None:
    with pytest.raises(ParameterError, match="runs"):
        sample(toys.NoisyCount(), (), runs)


def test_continuous_last_draws_are_reals() -> None:
    outputs = sample(toys.NoisyCount(0.5), (1, 2, 3), 20_000, seed=1)
    assert outputs.counts == {}
    assert outputs.reals.shape == (20_000,)
    assert stats.kstest(outputs.reals, stats.laplace(3, 2).cdf).pvalue > 1e-6
    vectors = sample(toys.Returns(independent(Laplace(0, 1), 3)), (), 100)
    assert vectors.reals.shape == (100, 3)


def test_mid_path_continuous_draws() -> None:
    """Floats that a continuous draw led to are reals, ⊥ is an atom."""
    outputs = sample(toys.MidPath(), (), 4000, seed=2)
    assert set(outputs.counts) == {BOTTOM}
    assert outputs.runs == 4000
    assert stats.binomtest(outputs.counts[BOTTOM], 4000, 0.5).pvalue > 1e-6
    # x + y with x exponential and y normal
    assert outputs.reals.mean() == pytest.approx(1.0, abs=6 * math.sqrt(2 / 2000))


def test_floats_of_finite_draws_are_reals_as_all_floats_are() -> None:
    """How a program came to a value plays no part."""
    outputs = sample(toys.Tree((Bernoulli(0.5), {True: 0.25, False: 0.75})), (), 100)
    assert outputs.counts == {}
    assert set(outputs.reals.tolist()) == {0.25, 0.75}


@dataclass(frozen=True)
class Uses(Mechanism):
    """The output of another mechanism, moved."""

    inner: Mechanism

    def run(self, dataset: Any) -> Any:
        value = yield self.inner.on(dataset)
        return value if value is BOTTOM else value + 1


def test_reals_of_a_part_are_reals() -> None:
    outputs = sample(Uses(toys.MidPath()), (), 300)
    assert set(outputs.counts) == {BOTTOM}
    assert len(outputs.reals) + outputs.counts[BOTTOM] == 300
    atoms = sample(Uses(toys.Tree((Bernoulli(0.5), {True: 0.25, False: 0.75}))), (), 300)
    assert set(atoms.reals.tolist()) == {1.25, 1.75}


def test_continuations_and_tail_calls() -> None:
    then = Uniform((0, 1)).then(lambda v: Categorical((v, v + 10), (0.25, 0.75))).map(lambda v: v * 2)
    outputs = sample(toys.Returns(then), (), 80_000, seed=3)
    for value, p in {0: 0.125, 2: 0.125, 20: 0.375, 22: 0.375}.items():
        assert stats.binomtest(outputs.counts[value], 80_000, p).pvalue > 1e-6
    nested = Uniform((0, 1)).then(lambda v: toys.RandomizedResponse(1.0).on(v)).then(lambda v: v + 5)
    assert set(sample(toys.Returns(nested), (), 1000).counts) == {5, 6}
    mixed = Bernoulli(0.5).then(lambda v: Laplace(0, 1) if v else "none")
    outputs = sample(toys.Returns(mixed), (), 1000)
    assert outputs.counts["none"] + len(outputs.reals) == 1000
    shifted = Laplace(0, 1).then(lambda x: x + 3)
    assert len(sample(toys.Returns(shifted), (), 50).reals) == 50


@dataclass(frozen=True)
class WithBulk(Mechanism):
    give: Any

    def run(self, dataset: Any) -> Any:
        return Uniform(range(2))

    def bulk(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        if self.give == "raise":
            raise ZeroDivisionError("by zero")
        return self.give(rng, size)


def test_bulk_of_every_form() -> None:
    def outputs(give: Any) -> Outputs:
        return sample(WithBulk(give), (), 60)

    assert sum(outputs(lambda rng, n: rng.integers(2, size=n)).counts.values()) == 60
    assert outputs(lambda rng, n: rng.random(n)).reals.shape == (60,)
    assert outputs(lambda rng, n: rng.random(n, dtype=np.float32)).reals.dtype == np.float64
    assert outputs(lambda rng, n: rng.random((n, 2))).reals.shape == (60, 2)
    assert set(outputs(lambda rng, n: rng.integers(1, 2, size=(n, 2))).counts) == {(1, 1)}
    assert set(outputs(lambda rng, n: rng.random(n) < 2).counts) == {True}
    assert outputs(lambda rng, n: np.array([BOTTOM, 1] * (n // 2), dtype=object)).counts == {BOTTOM: 30, 1: 30}
    assert outputs(lambda rng, n: ["a", "b"] * (n // 2)).counts == {"a": 30, "b": 30}
    mixed = outputs(lambda rng, n: [0.5, BOTTOM] * (n // 2))
    assert mixed.counts == {BOTTOM: 30}
    assert mixed.reals.tolist() == [0.5] * 30
    assert set(outputs(lambda rng, n: np.array(["x", "y"] * (n // 2))).counts) == {"x", "y"}


def test_bulk_with_a_wrong_number_of_outputs() -> None:
    with pytest.raises(MechanismError, match="bulk of WithBulk returned 59 outputs; return 60"):
        sample(WithBulk(lambda rng, n: rng.random(n - 1)), (), 60)
    with pytest.raises(MechanismError, match="WithBulk raised ZeroDivisionError: by zero"):
        sample(WithBulk("raise"), (), 60)


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("first", [True, False])
def test_reals_of_different_shapes_stand_in_blocks(size: int, first: bool) -> None:
    def give(rng: np.random.Generator, n: int) -> Any:
        return [rng.random(size) if (i == 0) == first else rng.random(2) for i in range(n)]

    outputs = sample(WithBulk(give), (), 10)
    assert outputs.runs == 10
    assert [block.shape for block in outputs.blocks] == ([(9, 2), (1, size)] if first else [(1, 2), (9, size)])
    assert outputs.others == ()
    with pytest.raises(ValueError, match="2 shapes"):
        outputs.reals  # noqa: B018


def test_tuples_that_hold_reals_are_no_atoms() -> None:
    def give(rng: np.random.Generator, n: int) -> Any:
        forms = [(BOTTOM, 0.5), (1, 2), ("a", (0.25,)), (0.5, 1), [0.75, 2.0], (True, 1.5)]
        return [forms[i % 6] for i in range(n)]

    outputs = sample(WithBulk(give), (), 60)
    assert outputs.counts == dict.fromkeys(((1, 2), (BOTTOM, 0.5), ("a", (0.25,)), (0.5, 1), (True, 1.5)), 10)
    assert outputs.reals.tolist() == [[0.75, 2.0]] * 10
    assert outputs.runs == 60


def test_tuples_with_floats_stand_apart_whatever_drew_them() -> None:
    finite = sample(toys.Tree((Bernoulli(0.5), {True: (BOTTOM, 0.25), False: (0.5, 0.75)})), (), 100)
    assert set(finite.counts) == {(BOTTOM, 0.25)}
    assert set(map(tuple, finite.reals.tolist())) == {(0.5, 0.75)}
    reals = sample(toys.Returns(Laplace(0, 1).then(lambda x: (BOTTOM, x))), (), 100)
    assert reals.counts == {}
    assert len(set(reals.others)) == 100


@dataclass(frozen=True)
class Passes(Mechanism):
    """The output of another mechanism, as it is."""

    inner: Mechanism

    def run(self, dataset: Any) -> Any:
        value = yield self.inner.on(dataset)
        return value


def test_others_reach_through_parts() -> None:
    outputs = sample(Passes(toys.Returns(Laplace(0, 1).then(lambda x: (BOTTOM, x)))), (), 40)
    assert outputs.counts == {}
    assert len(set(outputs.others)) == 40


@pytest.mark.parametrize(
    ("odd", "form"),
    [((BOTTOM, math.inf), (BOTTOM, math.inf)), ((1.0, math.nan), (1.0, NAN)), ([0.5, -math.inf], (0.5, -math.inf))],
)
def test_arrays_with_numbers_that_are_not_finite_stand_apart(odd: Any, form: Any) -> None:
    outputs = sample(WithBulk(lambda rng, n: [odd] * n), (), 10)
    assert dict(outputs.each()) == {form: 10}


def test_merging_does_not_depend_on_the_order_of_shapes() -> None:
    parts = [Tally(), Tally(), Tally()]
    parts[0].add_many(np.array([0.5, 1.5]))
    parts[1].add_many(np.array([[0.5, 1.5]]))
    parts[2].add_many([(BOTTOM, 0.5), BOTTOM])
    found = []
    for order in ((0, 1, 2), (2, 1, 0)):
        whole = Tally()
        for i in order:
            whole.merge(parts[i].outputs())
        outputs = whole.outputs()
        assert outputs.runs == 5
        found.append((outputs.counts, [block.tolist() for block in outputs.blocks], outputs.others))
    assert found[0] == found[1]


@pytest.mark.parametrize(("odd", "form"), [(math.nan, NAN), (math.inf, math.inf), (-math.inf, -math.inf)])
def test_numbers_that_are_not_finite_are_counted(odd: float, form: Any) -> None:
    assert sample(WithBulk(lambda rng, n: np.full(n, odd)), (), 10).counts == {form: 10}
    assert sample(WithBulk(lambda rng, n: [odd, np.float64(odd)] * (n // 2)), (), 10).counts == {form: 10}


def test_tallies_merge() -> None:
    one, two = Tally(), Tally()
    for tally in (one, two):
        tally.add("x", 2)
        tally.add_many([0.5, 1.5])
    one.merge(two.outputs())
    merged = one.outputs()
    assert merged.counts == {"x": 4}
    assert sorted(merged.reals.tolist()) == [0.5, 0.5, 1.5, 1.5]
    assert merged.runs == 8


# --- outputs -----------------------------------------------------------------------------------------------------


class Number(IntEnum):
    ONE = 1


@dataclass(frozen=True)
class Hypothesis:
    threshold: int


class Named(NamedTuple):
    a: Any
    b: Any


@dataclass
class Loose:
    a: Any
    b: Any


class ByIdentity:
    pass


@pytest.mark.parametrize(
    ("output", "form"),
    [
        (np.int64(3), 3), (np.float32(0.5), 0.5), (np.bool_(True), True), (np.str_("x"), "x"), (np.array(3), 3),
        (np.array([1, 2]), (1, 2)), (np.array([[1], [2]]), ((1,), (2,))), ([1, [2, np.int8(3)]], (1, (2, 3))),
        (np.array([1, "a"], dtype=object), (1, "a")), (BOTTOM, BOTTOM), (None, None), ((1, (2,)), (1, (2,))),
        (Fraction(1, 2), Fraction(1, 2)), (Hypothesis(3), Hypothesis(3)), (frozenset({1}), frozenset({1})),
        (Number.ONE, Number.ONE), (int, int), (Multiset.of((1,)), Multiset.of((1,))), (b"x", b"x"),
        (1j, Structure("complex", (("real", 0.0), ("imag", 1.0)))), ({1}, frozenset({1})), (float("nan"), NAN),
        (np.array([1, np.nan]), (1.0, NAN)), ({"a": [2], "b": 1}, Structure("dict", (("a", (2,)), ("b", 1)))),
        ({"b": 1, "a": [2]}, Structure("dict", (("a", (2,)), ("b", 1), (Structure("order", ()), (1, 0))))),
        (np.zeros((0, 3)), Structure("array", (("shape", (0, 3)),))), (np.zeros(0), ()), (bytearray(b"x"), b"x"),
        (Named(1, 2), Named(1, 2)), (Named(1, [2]), Structure("Named", (("a", 1), ("b", (2,))))),
        (Loose(1, [2]), Structure("Loose", (("a", 1), ("b", (2,))))), ("\ud800", "\ud800"),
        (Decimal("NaN"), Structure("Decimal", ())),
    ],
    ids=repr,
)
def test_canonical_forms(output: Any, form: Any) -> None:
    made = canonical(output)
    assert made == form
    assert hash(made) == hash(form)
    assert type(made) is type(form)


def test_long_doubles_are_rounded_to_doubles() -> None:
    assert canonical(np.longdouble(1) / 3) == 1 / 3
    assert canonical(np.array([np.longdouble(1) / 3])) == (1 / 3,)


@pytest.mark.parametrize(
    "output", [ByIdentity(), (1, ByIdentity()), lambda: 0, {1: ByIdentity()}, iter(())], ids=lambda o: type(o).__name__
)
def test_outputs_that_cannot_be_counted(output: Any) -> None:
    with pytest.raises(OutputError, match=r"return (a number|⊥)"):
        canonical(output)
    with pytest.raises(OutputError):
        sample(toys.Returns(output), (), 2)


def test_scalars_of_numpy_are_those_of_python_and_floats_are_no_whole_numbers() -> None:
    mechanism = toys.Tree((Uniform(range(4)), {0: 1, 1: 1.0, 2: np.int64(1), 3: np.float64(1)}))
    outputs = sample(mechanism, (), 50)
    assert set(outputs.counts) == {1}
    assert outputs.counts[1] + len(outputs.reals) == 50
    zeros = toys.Tree((Bernoulli(0.5), {True: 0.0, False: -0.0}))
    assert np.array_equal(sample(zeros, (), 50).reals, np.zeros(50))


def test_numpy_and_plain_outputs_are_counted_together() -> None:
    mechanism = toys.Tree((Uniform(range(3)), {0: np.array([1, 2]), 1: [1, 2], 2: (np.int8(1), 2)}))
    assert sample(mechanism, (), 60).counts == {(1, 2): 60}


def test_products_of_everything() -> None:
    product = Product((Laplace(0, 1), Uniform((1, 2))))
    outputs = sample(toys.Returns(product), (), 20)
    assert len(outputs.others) == 20
    assert {(type(x), y) for x, y in outputs.others} == {(float, 1), (float, 2)}  # type: ignore[misc]
    mid = sample(toys.Tree((independent(Bernoulli(0.5), 2), {(a, b): a + b for a in (0, 1) for b in (0, 1)})), (), 100)
    assert set(mid.counts) == {0, 1, 2}


class Dicts(Mechanism):
    """A dict, with its keys in an order that a coin decides."""

    def run(self, data: Any) -> Any:
        """One coin."""
        coin = yield Bernoulli(0.5)
        return {"b": (1, {"c": coin}), "a": 2} if coin else {"a": 2, "b": (1, {"c": coin})}


class Reads(Mechanism):
    """What becomes of a dict that a sub-mechanism returns."""

    def run(self, data: Any) -> Any:
        """One sub-mechanism."""
        found = yield Dicts().on(data)
        return list(found), found["b"][1]["c"]


def test_a_dict_of_a_sub_mechanism_is_a_dict() -> None:
    expected = {(("a", "b"), False), (("b", "a"), True)}
    assert set(sample(Reads(), (), 100, seed=1).counts) == expected
    assert set(law(Reads(), ()).as_dict()) == expected


def test_half_precision() -> None:
    assert Bernoulli(np.float16(0.3)).probs.sum() == 1.0
