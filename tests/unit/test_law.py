"""The exact law: sums, merging, refusals, and samples of random programs."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
import toy_mechanisms as toys
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpaudit.errors import NotEnumerableError, OutputError
from dpaudit.interpret import LawCache, align, law, sample
from dpaudit.interpret.law import Law, interval_law
from dpaudit.language import (
    BOTTOM,
    Bernoulli,
    Categorical,
    Laplace,
    Mechanism,
    Multiset,
    Program,
    RandomPairing,
    Softmax,
    Uniform,
    independent,
)

# --- random finite programs -----------------------------------------------------------------------------------------

OUTPUTS = st.sampled_from([BOTTOM, 0, 1, 2, -3, "x", (1, 2), 10**6, -(10**9), None, 0.5])
PROBABILITIES = st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 0.9, 1.0])


@st.composite
def distributions(draw: st.DrawFn) -> Any:
    kind = draw(st.integers(0, 7))
    if kind == 0:
        return Bernoulli(draw(PROBABILITIES))
    if kind == 1:
        weights = draw(st.lists(st.integers(0, 5), min_size=2, max_size=4).filter(any))
        return Categorical(tuple("abcd"[: len(weights)]), tuple(w / sum(weights) for w in weights))
    if kind == 2:
        return Uniform(range(draw(st.integers(-3, 0)), draw(st.integers(1, 3))))
    if kind == 3:
        return Softmax(draw(st.lists(st.floats(-2, 2), min_size=1, max_size=4)), 1.0)
    if kind == 4:
        return Laplace(draw(st.floats(-2, 2)), 1.0) < draw(st.floats(-2, 2))
    if kind == 5:
        return Laplace(0.3, 1.0).floor().clip(-1, draw(st.integers(-1, 2)))
    if kind == 6:
        return Uniform(range(6)).map(lambda v: v % 3)
    return independent(Bernoulli(0.3), 2)


@st.composite
def last_draws(draw: st.DrawFn) -> Any:
    """Draws whose values are outputs: True and 1 would be equal, and are refused."""
    found = draw(distributions())
    return found.map(str) if any(isinstance(value, bool) for value in values_of(found)) else found


def values_of(draw: Any) -> list[Any]:
    values = draw.values
    return list(dict.fromkeys(values.tolist() if isinstance(values, np.ndarray) else values))


@st.composite
def nodes(draw: st.DrawFn, depth: int) -> Any:
    """A leaf: an output, a last draw, a continuation or a tail call; or a draw with a child for each value."""
    kind = draw(st.integers(0, 5)) if depth else draw(st.integers(0, 3))
    if kind == 0:
        return draw(OUTPUTS)
    if kind == 1:
        return draw(last_draws())
    if kind == 2:
        children = draw(st.lists(st.one_of(OUTPUTS, last_draws()), min_size=1, max_size=3))
        return Uniform(range(len(children))).then(children.__getitem__)
    if kind == 3:
        return toys.Tree(draw(nodes(max(0, depth - 1)))).on(())
    node = draw(distributions())
    return (node, {value: draw(nodes(depth - 1)) for value in values_of(node)})


@settings(max_examples=200)
@given(nodes(3), st.integers(0, 2**32))
def test_samples_follow_the_law_of_random_programs(node: Any, seed: int) -> None:
    """Chi-square at 1e-7 each, 2e-5 over the 200 programs; derandomised, so the same programs every time."""
    mechanism = toys.Tree(node)
    exact = law(mechanism, ()).as_dict()
    assert math.fsum(exact.values()) == pytest.approx(1, abs=1e-12)
    assert min(exact.values()) >= 0
    runs = 20_000
    counts: Counter[Any] = Counter()
    for outcome, times in sample(mechanism, (), runs, seed=seed).each():
        counts[outcome] += times
    assert sum(counts.values()) == runs
    assert all(exact.get(value, 0) > 0 for value in counts)
    means = np.array([p * runs for p in exact.values()])
    seen = np.array([counts.get(value, 0) for value in exact])
    large = means >= 5
    bins, hits = np.append(means[large], means[~large].sum()), np.append(seen[large], seen[~large].sum())
    usable = bins > 1e-6
    statistic = float(((hits - bins)[usable] ** 2 / bins[usable]).sum())
    assert stats.chi2.sf(statistic, max(1, int(usable.sum()) - 1)) > 1e-7


@settings(max_examples=100)
@given(nodes(3))
def test_law_is_the_sum_over_paths(node: Any) -> None:
    """Against a plain recursion that knows nothing of generators."""
    exact: dict[Any, float] = {}

    def go(node: Any, mass: float) -> None:
        if isinstance(node, tuple) and len(node) == 2 and isinstance(node[1], dict):
            for value, p in zip(list(node[0].values), node[0].probs, strict=True):
                go(node[1][value], mass * p)
        elif hasattr(node, "mechanism"):
            go(node.mechanism.node, mass)
        elif hasattr(node, "continuation"):
            for value in values_of(node.base):
                go(node.continuation(value), mass / len(values_of(node.base)))
        elif hasattr(node, "probs"):
            for value, p in zip(list(node.values), node.probs, strict=True):
                exact[value] = exact.get(value, 0.0) + mass * p
        else:
            exact[node] = exact.get(node, 0.0) + mass

    go(node, 1.0)
    found = law(toys.Tree(node), ()).as_dict()
    for value in {*exact, *found}:
        assert found.get(value, 0.0) == pytest.approx(exact.get(value, 0.0), abs=1e-13)


# --- merging --------------------------------------------------------------------------------------------------------


def mixture(*parts: Any) -> Law:
    """Each part with the same probability."""
    return law(toys.Tree((Uniform(range(len(parts))), dict(enumerate(parts)))), ())


def test_integer_laws_stay_arrays() -> None:
    found = mixture(Uniform(range(3)), Uniform(range(-5, 2)), Uniform(range(100, 104)))
    assert isinstance(found.values, np.ndarray)
    assert found.values.tolist() == [*range(-5, 3), *range(100, 104)]
    assert found.probs.sum() == pytest.approx(1, abs=1e-15)
    assert found.as_dict()[0] == pytest.approx((1 / 3 + 1 / 7) / 3)
    assert found.as_dict()[-5] == pytest.approx(1 / 21)


def test_bottom_and_integers() -> None:
    found = mixture(Uniform(range(4)), BOTTOM, 2, Categorical((BOTTOM, 1), (0.5, 0.5)))
    assert found.as_dict() == pytest.approx({BOTTOM: 0.375, 0: 1 / 16, 1: 1 / 16 + 1 / 8, 2: 1 / 16 + 1 / 4, 3: 1 / 16})
    assert isinstance(found.values, tuple)


@pytest.mark.parametrize("offset", [10**6, 10**9, 2**40, 2**61, 2**62, 2**63 - 3, 2**64, 2**100])
@pytest.mark.parametrize("sign", [1, -1])
def test_huge_offsets(offset: int, sign: int) -> None:
    near, far = range(4), range(sign * offset, sign * offset + 3)
    found = mixture(Uniform(near), Uniform(far)).as_dict()
    assert found == pytest.approx({**dict.fromkeys(near, 1 / 8), **dict.fromkeys(far, 1 / 6)})
    assert all(isinstance(value, int) for value in found)


def test_spread_ranges_take_no_more_memory_than_they_have_entries() -> None:
    found = mixture(*(Uniform(range(60**k, 60**k + 5)) for k in range(1, 12)))
    assert len(found) == 55
    assert found.probs.sum() == pytest.approx(1, abs=1e-14)
    assert set(found.as_dict()) == {v for k in range(1, 12) for v in range(60**k, 60**k + 5)}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64, np.int64])
def test_integers_of_every_width(dtype: Any) -> None:
    low = Uniform(np.array([1, 2, 100], dtype=dtype))
    high = Uniform(np.array([-128 if np.issubdtype(dtype, np.signedinteger) else 0, 127], dtype=dtype))
    found = mixture(low, high, Uniform(range(-300, -290)), Uniform(range(1000, 1002)))
    assert found.probs.sum() == pytest.approx(1, abs=1e-14)
    assert found.as_dict()[100] == pytest.approx(1 / 12)
    assert found.as_dict()[127] == pytest.approx(1 / 8)
    assert found.as_dict()[-300] == pytest.approx(1 / 40)


def test_large_unsigned_integers() -> None:
    top = np.array([2**64 - 2, 2**64 - 1], dtype=np.uint64)
    assert mixture(Uniform(top), 3).as_dict() == {2**64 - 2: 0.25, 2**64 - 1: 0.25, 3: 0.5}


def test_repeated_labels_lose_no_mass() -> None:
    for labels in (np.array([4, 4, 5]), [4, 4, 5], ("x", "x", "y")):
        found = mixture(Softmax([0, 0, 0], 1.0, labels), BOTTOM)  # type: ignore[arg-type]
        assert sum(found.as_dict().values()) == pytest.approx(1)
        assert sorted(found.probs) == pytest.approx([1 / 6, 1 / 3, 1 / 2])


@pytest.mark.parametrize("parts", [(True, 1), (1.0, 1), (Uniform(range(2)), False), (0.0, -0.0), ((1, 2), (True, 2))])
def test_equal_outputs_that_can_be_distinguished_are_refused(parts: Any) -> None:
    for order in (parts, parts[::-1]):
        for find in (law, interval_law):
            with pytest.raises(OutputError, match="an attacker can distinguish them; return one type"):
                find(toys.Tree((Uniform(range(2)), dict(enumerate(order)))), ())


def test_branches_of_probability_zero_are_not_entered() -> None:
    node = (Bernoulli(1.0), {True: 1, False: (None, {})})
    assert law(toys.Tree(node), ()).as_dict() == {1: 1.0}
    assert sample(toys.Tree(node), (), 1000).counts == {1: 1000}
    tiny = (Laplace(0, 1) < 650, {True: 1, False: 2})
    assert law(toys.Tree(tiny), ()).as_dict()[2] == pytest.approx(0.5 * math.exp(-650), rel=1e-12, abs=0)


def test_tiny_probabilities_keep_their_digits() -> None:
    node: Any = "end"
    for _ in range(30):
        node = (Laplace(0, 1) > 20, {True: node, False: "other"})
    assert law(toys.Tree(node), ()).as_dict()["end"] == pytest.approx(0.5**30 * math.exp(-600), rel=1e-10, abs=0)


# --- parts ----------------------------------------------------------------------------------------------------------


def test_sub_mechanisms_and_tail_calls() -> None:
    p = 1 / (1 + math.exp(-1.0))
    found = law(toys.Outer(toys.RandomizedResponse()), 1).as_dict()
    one = 0.0
    for a, b in product((1, 0), repeat=2):
        mass = (p if a else 1 - p) * (p if b else 1 - p)
        one += mass * (p if a == b else 0.5)
    assert found == pytest.approx({1: one, 0: 1 - one})


def test_equal_states_are_merged_through_the_cache() -> None:
    toys.EXECUTIONS["merge"] = 0
    inner = toys.Bits(6, "merge")
    found = law(toys.Outer(inner, tail=True), ())
    assert toys.EXECUTIONS["merge"] <= 2**6 + 8
    assert sum(found.as_dict().values()) == pytest.approx(1)


def test_deep_recursion_is_linear_in_the_cache() -> None:
    @dataclass(frozen=True)
    class Down(Mechanism):
        depth: int

        def run(self, dataset: Any) -> Program:
            if self.depth == 0:
                return Uniform(range(2))
            a = yield Down(self.depth - 1).on(dataset)
            b = yield Down(self.depth - 1).on(dataset)
            return a ^ b

    cache = LawCache()
    assert law(Down(12), (), cache=cache).as_dict() == pytest.approx({0: 0.5, 1: 0.5})
    assert cache.paths <= 12 * 4 + 1


@dataclass(frozen=True)
class TypeOf(Mechanism):
    """Tells equal datasets apart."""

    def run(self, dataset: Any) -> Any:
        return type(dataset[0]).__name__


@dataclass(frozen=True)
class TypeOfOther(Mechanism):
    def run(self, dataset: Any) -> Any:
        return "other"


@dataclass(frozen=True)
class Unhashable(Mechanism):
    weights: Any

    def run(self, dataset: Any) -> Any:
        return Categorical(tuple(range(len(self.weights))), tuple(self.weights))


def test_the_cache_keeps_apart_what_is_equal_and_not_the_same() -> None:
    cache = LawCache()
    for dataset, name in (((1,), "int"), ((True,), "bool"), ((1.0,), "float"), ((0.0,), "float")):
        assert law(TypeOf(), dataset, cache=cache).as_dict() == {name: 1.0}
    assert law(TypeOfOther(), (1,), cache=cache).as_dict() == {"other": 1.0}
    assert law(TypeOf(), [1], cache=cache).as_dict() == {"int": 1.0}


@pytest.mark.parametrize("weights", [[0.25, 0.75], np.array([0.25, 0.75])])
def test_mechanisms_that_do_not_hash(weights: Any) -> None:
    cache = LawCache()
    assert law(Unhashable(weights), (), cache=cache).as_dict() == {0: 0.25, 1: 0.75}
    assert law(Unhashable([1.0, 0.0]), (), cache=cache).as_dict()[0] == 1.0
    assert set(law(toys.Outer(Unhashable(weights)), ()).as_dict()) == {0, 1}


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "names", "remedy"),
    [
        (Laplace(0, 1), "Laplace(loc=0, scale=1)", "compare it with a number"),
        (Laplace(0, 1).ceil(), "Integer(base=Laplace", r".clip(low, high)"),
        (Laplace(0, 1).map(round), "Mapped(base=Laplace", "compare it with a number"),
        (independent(Laplace(0, 1), 2), "Product(parts=", "compare it with a number"),
        (independent(Uniform(range(200)), 3), "Product(parts=", "use fewer parts"),
        (Uniform(range(0, 2**40, 2)), "Uniform(outcomes=range(0, 1099511627776, 2))", "at most 16,777,216 values"),
        (RandomPairing(Multiset.of(range(60)), max), "RandomPairing(records=", "at most 48 records"),
        (Laplace(0, 1).then(lambda v: v), "Laplace(loc=0, scale=1)", "compare it with a number"),
    ],
    ids=lambda v: type(v).__name__,
)
@pytest.mark.parametrize("last", [True, False])
def test_refusals_name_the_draw_and_the_remedy(node: Any, names: str, remedy: str, last: bool) -> None:
    tree = (Bernoulli(0.5), {True: 1, False: node if last else (node, {})})
    with pytest.raises(NotEnumerableError) as caught:
        law(toys.Tree(tree), ())
    text = str(caught.value)
    assert ("last draw of Tree" if last else "draw 2 of Tree") in text
    assert names in text
    assert remedy in text
    assert " at 0x" not in text


def test_a_part_that_is_refused_is_named() -> None:
    with pytest.raises(NotEnumerableError, match="last draw of NoisyCount is Laplace"):
        law(toys.Outer(toys.NoisyCount()), ())


def test_too_many_paths() -> None:
    with pytest.raises(NotEnumerableError, match="more than 100 paths on this dataset; use a smaller dataset"):
        law(toys.Bits(10, "limit"), (), path_limit=100)
    with pytest.raises(NotEnumerableError, match=r"draw 1 of Tree has 1,000 values, but at most 100 paths"):
        law(toys.Tree((Uniform(range(1000)), dict.fromkeys(range(1000), 1))), (), path_limit=100)


def test_the_limit_is_each_calls_own() -> None:
    cache = LawCache()
    for dataset in range(20):
        law(toys.Bits(4, "limit"), dataset, cache=cache, path_limit=20)
    assert cache.paths == 20 * 16


# --- the law itself --------------------------------------------------------------------------------------------------


def test_align() -> None:
    arrays = Law(np.array([1, 3]), np.array([0.25, 0.75])), Law(np.array([0, 3, 9]), np.array([0.5, 0.25, 0.25]))
    for left, right in (arrays, (arrays[0], Law((0, 3, 9), arrays[1].probs))):
        values, p, q = align(left, right)
        assert {v: (a, b) for v, a, b in zip(list(values), p, q, strict=True)} == {
            0: (0, 0.5), 1: (0.25, 0), 3: (0.75, 0.25), 9: (0, 0.25)
        }
    same = align(arrays[0], arrays[0])
    assert [list(part) for part in same] == [[1, 3], [0.25, 0.75], [0.25, 0.75]]


def test_probability_of_an_event() -> None:
    found = mixture(Uniform(range(4)), BOTTOM)
    assert found.probability(lambda v: v is BOTTOM) == 0.5
    assert found.probability(lambda v: v is not BOTTOM and v >= 2) == pytest.approx(0.25)
    assert len(found) == 5


def test_a_million_outcomes_are_mixed_as_arrays() -> None:
    scores = np.zeros(1 << 20)
    found = mixture(Softmax(scores, 1.0), Softmax(scores, 1.0, np.arange(5, (1 << 20) + 5)), Uniform(range(1 << 20)))
    assert isinstance(found.values, np.ndarray)
    assert len(found) == (1 << 20) + 5
    assert found.probs.sum() == pytest.approx(1, abs=1e-9)
