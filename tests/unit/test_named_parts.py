"""Outputs whose parts have names: dicts, Series, data frames, records; what is learned from them, in which words."""

from __future__ import annotations

import math
import pickle
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.adversary.events.keyed import Feature, Keyed
from dpaudit.adversary.events.mixed import Mixed
from dpaudit.errors import OutputError
from dpaudit.language import BOTTOM
from dpaudit.outputs.canonical import Outcome, canonical
from dpaudit.outputs.columns import Column
from dpaudit.outputs.form import form
from dpaudit.outputs.parts import interval, layout, subject, taken_apart
from dpaudit.results.model import Verdict

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

Point = namedtuple("Point", "x y")


@dataclass
class Report:
    count: float
    bins: list[float]


def keyed(*outputs: Any) -> tuple[Keyed, list[Outcome]]:
    values = [canonical(output) for output in outputs]
    return Keyed.of(values, np.ones((2, len(values)), dtype=np.int64)), values


def sentences(encoder: Keyed | Mixed) -> set[str]:
    """What the upper half of each single column says."""
    return {encoder.sentence(j, 0.5, math.inf) for j in encoder.single}


# --- places and words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ({"x": 1}, ["the value at 'x'"]),
        ({1: 1}, ["the value at 1"]),
        ({("f", 2020): 1}, ["the value at ('f', 2020)"]),
        ({"a": {"mean": 1.0}}, ["the value at 'a'['mean']"]),
        ({"hist": [3, 4]}, ["the value at 'hist'[0]", "the value at 'hist'[1]"]),
        ({"p": Point(1, [2])}, ["the value at 'p'.x", "the value at 'p'.y[0]"]),
        (Report(1.0, [2.0]), ["output.count", "output.bins[0]"]),
        ((1, {"n": 2}), ["output[0]", "output[1]['n']"]),
        (1 + 2j, ["output.real", "output.imag"]),
        (pd.Series({"a": 1, "b": 2}), ["the value at 'a'", "the value at 'b'"]),
        (pd.DataFrame({"age": [3, 4]}), ["column 'age', row 0", "column 'age', row 1"]),
        (pd.DataFrame({"n": [3]}, index=["f"]), ["column 'n', row 'f'"]),
        ({"t": pd.DataFrame({"n": [3]})}, ["the value at 't', column 'n', row 0"]),
        (pd.DataFrame({"n": [3, 4]}, index=["f", "f"]), ["column 'n', row 'f'", "column 'n', row 'f' (number 2)"]),
        (pl.DataFrame({"n": [3, 4]}), ["column 'n', row 0", "column 'n', row 1"]),
        (pd.Series([1], index=["a"], name="n"), ["the value at 'a'", "the names of the output[0]"]),
    ],
    ids=repr,
)
def test_places_in_words(output: Any, words: list[str]) -> None:
    value = canonical(output)
    skeleton, leaves = taken_apart(value)
    places = layout(value, skeleton).places
    assert [subject(place) for place in places] == words
    assert len(leaves) == len(words)


def test_features_in_words() -> None:
    encoder, _ = keyed({"x": 1.0}, {"x": 2.5, "y": "a"}, {"y": "b"}, {"x": 2.5, "y": None}, {"z": 1.0, "y": "a"})
    assert {
        "key 'x' is present", "key 'y' is present", "number of keys > 0.5", "the value at 'x' > 0.5",
        "the value at 'y' is 'a'", "the value at 'y' is None",
    } <= sentences(encoder)  # fmt: skip


def test_absence_in_words() -> None:
    encoder, _ = keyed({"x": 1.0}, {})
    assert encoder.sentence(0, -math.inf, 0.0) == "key 'x' is missing"
    assert Feature("is", (("key", "x"),), "'a'", "'a'").sentence(-math.inf, 0.5) == "the value at 'x' is not 'a'"
    assert encoder.sentence(0, -math.inf, math.inf) == "any output"


def test_frames_in_words() -> None:
    one, two = pd.DataFrame({"n": [1.0]}, index=["m"]), pd.DataFrame({"n": [1.0, 2.0]}, index=["m", "f"])
    assert {"row with index 'f' is present"} <= sentences(keyed(one, two, one)[0])
    frame = pd.DataFrame({"sex": ["f", "m"], "n": [1.0, 2.0]})
    assert "column 'n', row 1 > 0.5" in sentences(keyed(frame, frame * 2, pd.DataFrame({"sex": ["x"], "n": [3.0]}))[0])
    assert "column 'age' is present" in sentences(keyed(one, one.assign(age=2))[0])


def test_orders_in_words() -> None:
    encoder, _ = keyed({"a": 1, "b": 1}, {"b": 1, "a": 1})
    assert "the keys come in the order 'a', 'b'" in sentences(encoder)
    encoder, _ = keyed(*(dict.fromkeys(keys, 1) for keys in ("abc", "bac", "cab", "acb")))
    assert "the first key is 'a'" in sentences(encoder)
    one, two = pd.DataFrame({"n": [1, 1]}, index=["a", "b"]), pd.DataFrame({"n": [1, 1]}, index=["b", "a"])
    assert "the rows come in the order 'a', 'b'" in sentences(keyed(one, two)[0])


def test_an_order_that_follows_from_the_keys_is_no_feature() -> None:
    assert not any("order" in one for one in sentences(keyed({"a": 1}, {"b": 1}, {"a": 1, "b": 2})[0]))


def test_sets_and_lengths_in_words() -> None:
    encoder, _ = keyed({"tags": {"x", "y"}, "l": [1]}, {"tags": {"y"}, "l": [1, 2]})
    assert "the value at 'tags' contains 'x'" in sentences(encoder)
    assert "length of the value at 'l' > 0.5" in sentences(
        keyed({"l": [1, 1]}, {"l": [1]}, {"l": [1, 1, 1], "b": 2}, {"l": [], "b": 1})[0]
    )


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([(1.5, BOTTOM), (2.5, "a")], "output[1] is ⊥"),
        ([("a", "b"), ("a", "c")], "output[1] is 'b'"),
        ([Point("a", 1.5), Point("b", 2.5)], "output.x is 'a'"),
        (["ab", "cb"], "character 0 is 'a'"),
        ([frozenset("ab"), frozenset("b"), frozenset("c")], "output contains 'a'"),
        ([(1.0,), (1.0, 2.0), (1.0, 2.0, 3.0)], "length > 0.5"),
    ],
)  # fmt: skip
def test_outputs_by_position_in_words(values: list[Any], says: str) -> None:
    assert says in sentences(Mixed.of(values))


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (2.0, math.inf, "n > 2"), (math.nextafter(2.0, 0), math.inf, "n ≥ 2"), (-math.inf, 2.0, "n ≤ 2"),
        (-math.inf, math.nextafter(2.0, 0), "n < 2"), (1.0, 2.0, "1 < n ≤ 2"), (math.nextafter(2.0, 0), 2.0, "n = 2"),
        (math.nextafter(1.0, 0), 2.0, "1 ≤ n ≤ 2"), (-math.inf, math.inf, "n is any number"),
    ],
)  # fmt: skip
def test_intervals_in_words(low: float, high: float, says: str) -> None:
    assert interval("n", low, high) == says


# --- events depend on one output alone -----------------------------------------------------------------------------

OUTPUTS: list[Any] = [
    {"x": 1.5, "y": 2}, {"y": 2, "x": 1.5}, {"x": 0.5}, {}, {"x": None, "z": "a"}, {"x": [1.0, 2.0], "y": {"k": 0.5}},
    None, 0.5, (1.5, 2.5), "text", {"x": math.nan}, {"x": math.inf}, {"x": 10**400}, {1: 0.5}, {0.25: "a"},
    {"x": "3.5"}, pd.Series({"a": 1.0}), pd.Series([1.0, 2.0], name="n"),
    pd.DataFrame({"n": [1.0], "s": ["a"]}, index=["f"]), {"x": True},
    pd.DataFrame({"n": [1.0, 2.0]}), Report(1.0, [2.0]), Point(1, [2]), {"t": frozenset("ab")}, BOTTOM, True,
]  # fmt: skip


def test_rows_do_not_depend_on_their_neighbours() -> None:
    encoder, values = keyed(*OUTPUTS)
    whole = encoder.encode(values)
    alone = np.vstack([encoder.encode([value]) for value in values])
    assert np.array_equal(whole, alone, equal_nan=True)
    assert np.array_equal(pickle.loads(pickle.dumps(encoder)).encode(values[::-1]), whole[::-1], equal_nan=True)
    assert len(encoder.names) == whole.shape[1] > 20


def test_arrays_and_tuples_are_read_alike() -> None:
    encoder, _ = keyed(*OUTPUTS)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    assert np.array_equal(encoder.encode(rows), encoder.encode([tuple(row) for row in rows.tolist()]), equal_nan=True)


def test_equal_outputs_are_read_alike() -> None:
    encoder, _ = keyed(*OUTPUTS, {"x": 1}, {"x": 2}, {"x": 1})
    equal = [({"x": 1}, {"x": 1.0}), ({"x": 1}, {"x": True}), ({1: 0.5}, {True: 0.5}), ({"x": 0.0}, {"x": -0.0})]
    for one, other in equal:
        assert canonical(one) == canonical(other)
        rows = encoder.encode([canonical(one), canonical(other)])
        assert np.array_equal(rows[0], rows[1], equal_nan=True)


def test_a_threshold_holds_for_no_output_without_the_number() -> None:
    encoder, values = keyed({"x": 1.0}, {"x": 2.0}, {"y": 1.0}, {"x": None})
    j = next(j for j in encoder.single if encoder.names[j] == "the value at 'x'")
    assert np.isnan(Column(encoder, j).scores(values)).tolist() == [False, False, True, True]
    for columns in encoder.groups.values():
        assert np.isfinite(encoder.encode(values)[:, columns]).all()


def test_of_many_keys_those_that_differ_get_columns() -> None:
    rng = np.random.default_rng(0)
    values = [canonical({f"k{i}": rng.laplace(5 * (i == 250 and row % 2)) for i in range(300)}) for row in range(200)]
    times = np.array([np.arange(200) % 2, 1 - np.arange(200) % 2])
    encoder = Keyed.of(values, times)
    assert "the value at 'k250'" in encoder.names
    assert len(encoder.names) < 200


def test_keys_that_are_all_different_are_read_as_numbers() -> None:
    rng = np.random.default_rng(0)
    encoder, values = keyed(*({float(rng.normal()): "a"} for _ in range(100)))
    assert "the first key" in encoder.names
    assert not any("is present" in name for name in encoder.names)
    assert np.isfinite(encoder.encode(values)).all()


# --- audits --------------------------------------------------------------------------------------------------------


def _noisy(counts: dict[Any, int], rng: Any, scale: float) -> dict[Any, float]:
    return {key: count + rng.laplace(0, scale) for key, count in counts.items()}


def _counts(data: list[str], keys: Any) -> dict[str, int]:
    return {key: data.count(key) for key in keys}


AUDITED: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any], str]] = {
    "a key without noise": (
        lambda data, rng: _noisy(_counts(data, "abc"), rng, 2),
        lambda data, rng: _noisy(_counts(data, sorted(set(data))), rng, 2),
        "key 'b' is present",
    ),
    "a row without noise": (
        lambda data, rng: pd.DataFrame({"n": _noisy(_counts(data, "abc"), rng, 2)}),
        lambda data, rng: pd.DataFrame({"n": _noisy(_counts(data, sorted(set(data))), rng, 2)}),
        "row with index 'b' is present",
    ),
    "too little noise on one key": (
        lambda data, rng: {"n": len(data), "b": data.count("b") + rng.laplace(0, 1)},
        lambda data, rng: {"n": len(data), "b": data.count("b") + rng.laplace(0, 0.2)},
        "the value at 'b' > ",
    ),
    "two keys with too little noise": (  # a score of both has a larger bound, but one of them is enough
        lambda data, rng: _noisy(_counts(data, "abc"), rng, 2),
        lambda data, rng: _noisy(_counts(data, "abc"), rng, 0.3),
        "the value at ",
    ),
    "the order of the keys": (
        lambda data, rng: _noisy(_counts(data, "abc"), rng, 2),
        lambda data, rng: dict.fromkeys(sorted("bc", key=data.count), rng.laplace()),
        "in the order 'b', 'c'",
    ),
    "the number of rows": (
        lambda data, rng: pd.DataFrame({"v": rng.laplace(size=2)}),
        lambda data, rng: pd.DataFrame({"v": [rng.laplace(0, 5) for one in data if one == "a"]}),
        "number of rows",
    ),
    "an answer in a dict": (
        lambda data, rng: {"b": "yes" if rng.random() < (0.6 if "b" in data else 0.4) else "no"},
        lambda data, rng: {"b": "yes" if rng.random() < (0.95 if "b" in data else 0.05) else "no"},
        "the value at 'b' is ",
    ),
}


@pytest.mark.parametrize("name", AUDITED)
def test_audits_of_named_parts(name: str) -> None:
    """A private function passes and one with a bug fails by an event that names the part; false alarm 10⁻³ each."""
    right, wrong, says = AUDITED[name]
    pair = ([*"aab"], [*"aac"]) if name != "the number of rows" else ([*"aab"], [*"abb"])
    passed = dpaudit.audit(right, epsilon=1.0, pair=pair, runs=1_000, seed=1, progress=False)
    assert passed.verdict is Verdict.PASS
    failed = dpaudit.audit(wrong, epsilon=1.0, pair=pair, runs=1_000, seed=1, progress=False)
    assert failed.verdict is Verdict.FAIL
    event = failed.audits[0].event
    assert event is not None
    assert says in event.description
    assert "score" not in event.description


def test_a_key_that_is_missing_does_not_mix_the_types_of_others() -> None:
    """By position, the 1 at "a" of one output and the True at "b" of another would be at the same place."""

    def counts(data: Any, rng: Any) -> Any:
        every = {"a": 1, "b": True, "noise": sum(data) + rng.laplace(0, 2)}
        return every if rng.random() < 0.5 else {key: every[key] for key in ("b", "noise")}

    result = dpaudit.audit(counts, epsilon=1.0, pair=([0, 1], [0, 0]), runs=500, seed=0, progress=False)
    assert result.verdict is Verdict.PASS


# --- other libraries, and what cannot be counted -------------------------------------------------------------------


class Tensor:
    """An array as torch's: it hashes by identity, and `==` is elementwise."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)
        self.dtype, self.shape = f"tensor.{self.values.dtype}", self.values.shape

    def tolist(self) -> Any:
        return self.values.tolist()

    def __eq__(self, other: object) -> Any:
        return Tensor(self.values == other)

    __hash__ = object.__hash__


def test_arrays_of_other_libraries() -> None:
    assert canonical(Tensor([1.0, 2.0])) == (1.0, 2.0)
    assert canonical({"w": Tensor([[1, 2]])}) == canonical({"w": [[1, 2]]})
    assert canonical(Tensor(0.5)) == 0.5
    assert canonical(Tensor(np.zeros((0, 3)))) == canonical(np.zeros((0, 3)))
    assert form(Tensor([1.0])).endswith("Tensor of tensor.float64")


def test_polars() -> None:
    frame = pl.DataFrame({"k": ["a", None], "n": [1, 2]})
    assert canonical(frame) == canonical(pd.DataFrame({"k": ["a", None], "n": [1, 2]}, dtype=object))
    assert canonical(pl.Series([1, 2])) == (1, 2)
    assert canonical(pl.Series("n", [1])) != canonical(pl.Series("m", [1]))
    assert form(frame) != form(frame.with_columns(pl.col("n").cast(pl.Int32)))


class Number:
    def __float__(self) -> float:
        return 1.0


@pytest.mark.parametrize(
    ("output", "type_name", "instead"),
    [
        ((i for i in range(3)), "generator", "list(output)"), ({}.values(), "dict_values", "list(output)"),
        ({}.keys(), "dict_keys", "list(output)"), (Number(), "Number", "float(output)"),
        (pl.DataFrame({"a": [1]}).lazy(), "LazyFrame", "output.collect()"),
        (pd.DataFrame({"a": [1]}).groupby("a"), "DataFrameGroupBy", "output.sum()"),
        (lambda: 0, "function", "what it returns when it is called"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)  # fmt: skip
def test_errors_say_what_to_return_instead(output: Any, type_name: str, instead: str) -> None:
    with pytest.raises(OutputError) as caught:
        canonical(output)
    assert f"An output of type {type_name} cannot be counted" in str(caught.value)
    assert str(caught.value).endswith(f"such as {instead}.")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_rows_of_a_frame_are_outputs_of_a_vectorised_function(make: Any) -> None:
    def mixed(data: Any, rng: Any, size: int) -> Any:
        return make({"n": sum(data) + rng.laplace(0, 0.3, size), "label": rng.choice(["a", "b"], size).tolist()})

    result = dpaudit.audit(mixed, epsilon=1.0, pair=([0, 1], [0, 0]), runs=1_000, seed=0, progress=False)
    assert result.verdict is Verdict.FAIL
    assert result.audits[0].event is not None
    assert result.audits[0].event.description.startswith("the value at 'n'")

    def numbers(data: Any, rng: Any, size: int) -> Any:
        return make({"n": sum(data) + rng.laplace(0, 0.3, size), "m": rng.laplace(size=size)})

    result = dpaudit.audit(numbers, epsilon=1.0, pair=([0, 1], [0, 0]), runs=1_000, seed=0, progress=False)
    assert result.verdict is Verdict.FAIL


def test_random_strings_in_a_dict_are_said_to_be_untested() -> None:
    def counts(data: Any, rng: Any) -> Any:
        return {"id": str(rng.integers(2**40)) + "a", "n": sum(data) + rng.laplace(0, 2)}

    result = dpaudit.audit(counts, epsilon=1.0, pair=([0, 1], [0, 0]), runs=500, seed=0, progress=False)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "contain strings beside other parts" in str(result.audits[0].reason)


def test_a_call_that_raises_in_words() -> None:
    def one(data: Any, rng: Any) -> Any:
        if sum(data):
            raise ValueError(data)
        return 0

    result = dpaudit.audit(one, epsilon=1.0, pair=([0, 1], [0, 0]), runs=500, seed=0, progress=False)
    event = result.audits[0].event
    assert event is not None
    assert event.description in ("the call raises ValueError", "output is 0")
