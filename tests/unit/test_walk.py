"""Replays, the watch over them, fingerprints, and blame."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pytest
import toy_mechanisms as toys
from numpy.random.mtrand import get_bit_generator

from dpaudit.errors import DatasetError, MechanismError, NondeterministicMechanismError
from dpaudit.interpret import Law, law, ledger, sample
from dpaudit.interpret.walk import Last, Run, Step, _global_generators, in_short
from dpaudit.language import (
    BOTTOM,
    Bernoulli,
    Categorical,
    Laplace,
    Mechanism,
    Multiset,
    Program,
    Scores,
    Softmax,
    Uniform,
)
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.fingerprint import fingerprint

# --- texts that are not functions of their draws ---------------------------------------------------------------


@pytest.mark.parametrize("mechanism", toys.NONDETERMINISTIC, ids=lambda m: f"{type(m).__name__}{vars(m) or ''}"[:40])
@pytest.mark.parametrize("reading", ["sample", "law"])
def test_other_randomness_is_caught(mechanism: Mechanism, reading: str) -> None:
    getattr(mechanism, "calls", []).clear()
    with pytest.raises(NondeterministicMechanismError) as caught:
        READINGS[reading](mechanism)
    text = str(caught.value)
    assert type(mechanism).__name__ in text
    assert "yield every use of randomness" in text
    assert "\n" not in text


def test_other_randomness_of_bulk_is_caught() -> None:
    with pytest.raises(NondeterministicMechanismError, match="global generator"):
        sample(toys.BulkWithLegacyNumpy(), (), 100)


@contextmanager
def _thread_that_draws() -> Iterator[None]:
    """As those of a dask worker do, to estimate sizes."""
    ended = threading.Event()

    def draw() -> None:
        while not ended.wait(0.01):
            random.random()

    thread = threading.Thread(target=draw)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@dataclass(frozen=True)
class _DrawsMore(Mechanism):
    """Takes a while; may draw from `random`, to no effect."""

    also: bool

    def run(self, dataset: object) -> Any:
        bit = yield Categorical((0, 1), (0.5, 0.5))
        time.sleep(0.001)
        return bit + 0 * (random.random() if self.also else 1.0)


def test_another_thread_that_draws_is_not_the_mechanism() -> None:
    with _thread_that_draws():
        for _ in range(10):
            before = random.getstate()
            sample(_DrawsMore(False), (), 100)
            time.sleep(0.02)
            assert random.getstate() != before
        with pytest.raises(NondeterministicMechanismError, match="global generator"):
            sample(_DrawsMore(True), (), 100)


@pytest.mark.parametrize("part", toys.NONDETERMINISTIC, ids=lambda m: f"{type(m).__name__}{vars(m) or ''}"[:40])
def test_other_randomness_of_a_part_is_its_own_fault(part: Mechanism) -> None:
    """All parts are watched together, and the one to blame is named."""
    getattr(part, "calls", []).clear()
    with pytest.raises(NondeterministicMechanismError, match=rf"^{type(part).__name__}"):
        sample(toys.Outer(part), (), 100)


def test_a_clean_text_leaves_the_global_generators_alone() -> None:
    before = np.random.get_state(legacy=True)[1].tolist()  # type: ignore[index]  # noqa: NPY002
    sample(toys.Outer(toys.RandomizedResponse()), 1, 1000)
    assert np.random.get_state(legacy=True)[1].tolist() == before  # type: ignore[index]  # noqa: NPY002


def test_numpys_memory_holds_what_its_getter_says() -> None:
    """What is read in place of `np.random.get_state`, which takes fifty times as long."""
    np.random.random(3)  # noqa: NPY002
    _, words, position, *_ = np.random.get_state(legacy=True)  # noqa: NPY002
    expected = np.asarray(words, dtype=np.uint32).tobytes() + np.int32(position).tobytes()  # type: ignore[arg-type]
    assert _global_generators()[1] == expected


@pytest.mark.parametrize("bits", [np.random.MT19937, np.random.PCG64, np.random.SFC64])
def test_one_draw_from_any_global_generator_is_noticed(bits: Any) -> None:
    own = get_bit_generator()
    np.random.set_bit_generator(bits(3))
    try:
        before = _global_generators()
        assert _global_generators() == before
        np.random.random()  # noqa: NPY002
        assert _global_generators() != before
    finally:
        np.random.set_bit_generator(own)


def test_normals_that_the_legacy_generator_has_kept_are_noticed_with_the_next() -> None:
    np.random.normal()  # noqa: NPY002
    before = _global_generators()
    np.random.normal(size=2)  # noqa: NPY002
    assert _global_generators() != before


# --- blame -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["plain", "start", "draw", "continuation", "map", "last map"])
@pytest.mark.parametrize("reading", ["sample", "law", "ledger"])
def test_a_mechanism_that_raises(where: str, reading: str) -> None:
    if reading == "ledger" and where == "last map":
        # the ledger does not draw the last draw
        assert ledger(toys.Raising(where), ()).claim is None
        return
    if where in ("map", "last map"):
        # a mapped draw has all of its values at once, so that a failure is that of no path
        with pytest.raises(MechanismError, match=r"^Raising raised KeyError: 'k'") as caught:
            READINGS[reading](toys.Raising(where))
        assert isinstance(caught.value.__cause__, KeyError)
        return
    found = READINGS[reading](toys.Raising(where))
    if reading != "ledger":
        assert found == {Raised("KeyError"): 10 if reading == "sample" else 1.0}
        assert all("KeyError: 'k' (toy_mechanisms.py, line " in outcome.where for outcome in found)


READINGS: dict[str, Any] = {
    "sample": lambda mechanism: sample(mechanism, (), 10).counts,
    "law": lambda mechanism: law(mechanism, ()).as_dict(),
    "ledger": lambda mechanism: ledger(mechanism, ()),
}


def test_a_part_that_raises_is_named() -> None:
    (outcome,) = sample(toys.Outer(toys.Raising("draw")), (), 10).counts
    assert isinstance(outcome, Raised)
    assert "toy_mechanisms.py, line " in outcome.where


@dataclass(frozen=True)
class RefusesData(Mechanism):
    def run(self, dataset: Any) -> Program:
        yield Bernoulli(0.5)
        raise DatasetError("Not these.")


def test_dpaudits_own_errors_pass_as_they_are() -> None:
    with pytest.raises(DatasetError, match="Not these") as caught:
        sample(RefusesData(), (), 10)
    assert caught.value.__cause__ is None


def test_a_long_draw_is_shortened_in_a_message() -> None:
    assert in_short(Bernoulli(0.5)) == repr(Bernoulli(0.5))
    long = tuple(range(1000))
    assert in_short(long) == f"{repr(long)[:70]} … {repr(long)[-40:]}"


@pytest.mark.parametrize("thing", [3, None, 0.5, "x", toys.NoisyCount(), Laplace], ids=repr)
def test_yielding_what_is_no_draw(thing: Any) -> None:
    for reading in (lambda m: sample(m, (), 10), lambda m: law(m, ())):
        with pytest.raises(MechanismError, match=r"neither a distribution nor an applied mechanism \(draw 2\)"):
            reading(toys.Tree((Bernoulli(0.5), {True: (thing, {}), False: (thing, {})})))


@dataclass(frozen=True)
class Swallows(Mechanism):
    """Stops the wrong way."""

    def run(self, dataset: Any) -> Program:
        yield Bernoulli(0.5)
        raise StopIteration


def test_stop_iteration_is_an_error_too() -> None:
    assert sample(Swallows(), (), 1).counts == {Raised("RuntimeError"): 1}


# --- a run -------------------------------------------------------------------------------------------------------


def test_a_run_follows_its_path() -> None:
    mechanism = toys.Tree((Uniform("ab"), {"a": (Bernoulli(0.5), {True: 1, False: 2}), "b": 3}))
    run = Run(mechanism, ())
    run.send("a")
    run.send(False)
    assert run.node == Last(2)
    again = Run(mechanism, (), run.path)
    assert again.node == Last(2)
    assert again.path == run.path
    other = (Step(fingerprint(Uniform("xy")), "a"),)
    with pytest.raises(NondeterministicMechanismError, match="draw 1 was different"):
        Run(mechanism, (), other)


def test_a_mechanism_without_draws() -> None:
    assert Run(toys.Returns(4), ()).node == Last(4)
    assert sample(toys.Returns(4), (), 10).counts == {4: 10}
    assert law(toys.Returns(4), ()).as_dict() == {4: 1.0}
    assert isinstance(law(toys.Returns(Uniform(range(3))), ()), Law)


# --- fingerprints --------------------------------------------------------------------------------------------------


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value

    def method(self) -> None:
        """Bound to what it belongs to."""


class Colour(Enum):
    RED = 1


@lru_cache
def cached(value: int) -> int:
    return value


def shifted(k: Any) -> Any:
    return lambda v: v + k


def defaulted(k: Any) -> Any:
    return lambda v, by=k: v + by


def recursive() -> Any:
    def down(n: int) -> int:
        return down(n - 1) if n else 0

    return down


SAME: list[Any] = [
    lambda: 1, lambda: 1.5, lambda: float("nan"), lambda: (1, (2.0, "x")), lambda: [1, [2]], lambda: {"a": [1]},
    lambda: {1, 2, 3}, lambda: np.arange(10), lambda: np.array(["x", [1]], dtype=object), lambda: Softmax([1, 2], 0.5),
    lambda: Softmax([1, 2], 0.5, np.array(["a", None], dtype=object)), lambda: Multiset.of((1, 2, 2)),
    lambda: Scores([1, 2], ("a", "b")), lambda: Laplace(0, 1).then(shifted(3)),
    lambda: Uniform((0, 1)).map(defaulted(1)),
    lambda: partial(max, 3), lambda: Plain([1]), lambda: Plain(2).method, recursive, lambda: BOTTOM, lambda: Colour.RED,
    lambda: toys.Outer(toys.RandomizedResponse()).on((1, 2)), lambda: cached, lambda: math, lambda: Plain,
    lambda: np.float64("nan"), lambda: shifted(recursive()), lambda: (True,) * 1000, lambda: max,
]


@pytest.mark.parametrize("make", SAME)
def test_made_afresh_it_is_the_same(make: Any) -> None:
    assert fingerprint(make()) == fingerprint(make())
    hash(fingerprint(make()))


DIFFERENT: list[Any] = [
    1, 1.0, True, np.int64(1), 0.0, -0.0, float("nan"), "1", b"1", None, (1,), [1], (1.0,), (True,), ((1,),), {1: 1},
    {1: 2}, {1}, np.array([1]), np.array([1.0]), np.array([[1]]), np.array([1], dtype=object), Uniform((1,)),
    Uniform((True,)), Bernoulli(0.5), Bernoulli(0.5, 0.5), Laplace(0, 1), Laplace(0, 1.0), Laplace(0, 1).ceil(),
    shifted(1), shifted(2), shifted(1.0), defaulted(1), defaulted(2), partial(max, 3), partial(max, 4), Plain(1).method,
    Plain(2).method, Plain(1), Plain(2), BOTTOM, Colour.RED, Scores([1, 2]), Scores([1, 2], ("a", "b")), (1, 2), (2, 1),
    ((True,),), ((1.0,),), ((),), ((1,), (2,)), ((1, 2),), [(1,)], ((1, True),), ((True, 1),), ((True, True),),
    (("1",),), np.zeros(3), np.zeros(4), max, min, toys.RandomizedResponse(), toys.NoisyCount(),
    toys.RandomizedResponse(2.0),
]


def test_different_things_have_different_images() -> None:
    images = [fingerprint(thing) for thing in DIFFERENT]
    for i, image in enumerate(images):
        for j in range(i):
            assert image != images[j], (DIFFERENT[i], DIFFERENT[j])


def test_claims_are_no_part_of_a_draw() -> None:
    from dpaudit.language import Claim

    assert fingerprint(Bernoulli(0.5)) == fingerprint(Bernoulli(0.5).spending(Claim(1)))


def test_equal_names_in_different_modules() -> None:
    one = type("Twin", (), {"__module__": "a", "__qualname__": "Twin"})
    two = type("Twin", (), {"__module__": "b", "__qualname__": "Twin"})
    assert fingerprint(one()) != fingerprint(two())
