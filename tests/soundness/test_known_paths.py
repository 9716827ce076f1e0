"""Runs that follow known paths give what runs of the program would: the same outputs from the same seed."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.random import SeedSequence
from numpy.typing import NDArray

from dpaudit.errors import NondeterministicMechanismError
from dpaudit.interpret import Outputs, known_paths
from dpaudit.interpret.known_paths import AGREEING, Known, KnownPaths, Room
from dpaudit.interpret.sample import sample_along
from dpaudit.language import Bernoulli, Distribution, Laplace, Mechanism, Softmax, Uniform
from dpaudit.subjects.target import LARGE_BLOCK, MechanismTarget

Program = Any
"""Of a mechanism: a generator."""
BLOCKS = 5
RUNS = 2_000


@dataclass(frozen=True)
class Counted(Mechanism):
    """It counts how often its program is started."""

    starts: Counter[str] = field(default_factory=Counter, compare=False)

    def run(self, dataset: Any) -> Program:
        self.starts[""] += 1
        first = yield Bernoulli(0.3)
        second = yield Uniform((0, 1, 2)) if first else Bernoulli(0.5)
        return first, second, sum(dataset)


@dataclass(frozen=True)
class Nested(Mechanism):
    """It applies others, and continues a draw; some of its draws are real numbers."""

    def run(self, dataset: Any) -> Program:
        first, second, _ = yield Counted().on(dataset)
        noisy = yield Laplace(float(sum(dataset)), 1.0) if second == 2 else Bernoulli(0.1)
        if noisy > 1:
            return noisy
        return Bernoulli(0.5).then(lambda value: Counted().on((first,)) if value else Uniform(("a", "b")))


@dataclass(frozen=True)
class Reused(Mechanism):
    """It computes the scores of each run in one array."""

    scores: NDArray[np.float64] = field(default_factory=lambda: np.zeros(2), compare=False)

    def run(self, dataset: Any) -> Program:
        self.scores[:] = (0.0, float(sum(dataset)))
        first = yield _Choice(self.scores)
        self.scores[:] = (3.0, 0.0)
        second = yield _Choice(self.scores)
        return first, second


@dataclass(frozen=True)
class _Choice(Distribution):
    """A distribution that does not copy its array, as one of dpaudit's might not."""

    scores: NDArray[np.float64] = field(compare=False)

    def draw(self, rng: np.random.Generator, size: int) -> Any:
        return Softmax(self.scores, 1.0).draw(rng, size)

    def grouped(self, rng: np.random.Generator, size: int) -> Any:
        return Softmax(self.scores, 1.0).grouped(rng, size)


@dataclass(frozen=True)
class Alternating(Mechanism):
    """It draws from another distribution in every run, which no comparison of the two shows."""

    starts: list[int] = field(default_factory=list, compare=False)

    def run(self, dataset: Any) -> Program:
        self.starts.append(1)
        return (yield _Choice(np.array([0.0, float(len(self.starts) % 7)])))


@dataclass(frozen=True)
class Returned(Mechanism):
    """It returns a list that it goes on to use."""

    parts: list[int] = field(default_factory=list, compare=False)

    def run(self, dataset: Any) -> Program:
        self.parts.clear()
        self.parts.append((yield Bernoulli(0.5)))
        self.parts.append((yield Bernoulli(0.2)))
        return self.parts


@dataclass(frozen=True)
class Failing(Mechanism):
    """It fails with one of several messages, and so does what it applies."""

    inner: bool = True

    def run(self, dataset: Any) -> Program:
        value = yield Uniform((0, 1, 2))
        if value == 0:
            raise ValueError(f"no {yield Bernoulli(0.5)}")
        if self.inner:
            yield Failing(inner=False).on(dataset)
        return value


MECHANISMS = [Counted(), Nested(), Reused(), Alternating(), Returned(), Failing()]


def drawn(mechanism: Mechanism, known: Known | None, dataset: object = (1, 0, 1)) -> Iterator[Outputs]:
    for seed in range(BLOCKS):
        yield sample_along(known or Known(), mechanism, dataset, RUNS, seed=seed)


def plain(outputs: Outputs) -> Any:
    # the repr distinguishes 1 from True
    forms = outputs.forms.whole.counts, outputs.forms.special
    return repr(outputs.counts), [block.tolist() for block in outputs.blocks], outputs.others, forms


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: one.name)
def test_the_outputs_are_those_of_the_program(mechanism: Mechanism) -> None:
    without = [plain(outputs) for outputs in drawn(copy.deepcopy(mechanism), None)]
    assert [plain(outputs) for outputs in drawn(mechanism, Known(Room()))] == without


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: one.name)
@pytest.mark.parametrize("most", [0, 15, 45])
def test_so_they_are_where_there_is_no_room_for_all_paths(
    mechanism: Mechanism, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = [plain(outputs) for outputs in drawn(copy.deepcopy(mechanism), None)]
    monkeypatch.setattr(known_paths, "MOST", most)
    room = Room()
    assert [plain(outputs) for outputs in drawn(mechanism, Known(room))] == without
    # and what is held by the places that there was room for
    assert room.used <= most + known_paths.EACH + 3 * (1 + most // known_paths.EACH)


def test_known_paths_are_not_run() -> None:
    # five paths: each is run once in each of the first blocks, and to check that it is one
    mechanism, known = Counted(), Known(Room())
    starts = [mechanism.starts.pop("", 0) for _ in drawn(mechanism, known)]
    assert all(number >= 5 for number in starts[:AGREEING])
    assert starts[AGREEING:] == [0] * (BLOCKS - AGREEING)


def test_a_target_remembers_them_for_each_dataset_and_its_copies_begin_anew() -> None:
    mechanism = Counted()
    target, seed = MechanismTarget("it", "here", mechanism), SeedSequence(1)
    sums = set()
    for dataset in [(1,), (True,), (1, 1), (1,), (True,), (1, 1), (1,), (True,), (1, 1)]:
        sums |= {(dataset, value[2]) for value in target.runs(dataset, 500, seed).counts}
    assert sums == {((1,), 1), ((1, 1), 2)}
    before = mechanism.starts[""]
    target.runs((1,), 2 * LARGE_BLOCK, seed)
    assert mechanism.starts[""] == before
    replace(target).runs((1,), 500, seed)
    assert mechanism.starts[""] > before
    copied = pickle.loads(pickle.dumps(target))
    before = copied.subject.starts[""]
    copied.runs((1,), 500, seed)
    assert copied.subject.starts[""] > before


def test_equal_datasets_that_differ_are_two() -> None:
    known = KnownPaths()
    assert known.on((1,)) is known.on((1,))
    assert known.on((1,)) is not known.on((True,))
    assert known.on([1]) is not known.on([1]), "what cannot be hashed is not kept"


def test_the_datasets_used_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_paths, "MOST_DATASETS", 3)
    known = KnownPaths()
    one, two, three = (known.on((number,)) for number in range(3))
    assert known.on((0,)) is one
    known.on((3,))
    assert known.on((0,)) is one
    assert known.on((2,)) is three
    assert known.on((1,)) is not two


def test_little_is_kept_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_paths, "MOST_OF_ALL", 50)
    known = KnownPaths()
    first = known.on((0,))
    list(drawn(Counted(), first, (0,)))
    list(drawn(Counted(), known.on((1,)), (1,)))
    assert known.on((0,)) is not first


@dataclass(frozen=True)
class Drifting(Mechanism):
    """Its program is the same within the first block, and another in the next."""

    blocks: list[int] = field(default_factory=list, compare=False)
    where: str = "draw"

    def run(self, dataset: Any) -> Program:
        later = len(self.blocks) > 0
        if self.where == "draw":
            return (yield Bernoulli(0.5 if later else 0.25))
        if self.where == "continuation":
            return Bernoulli(0.5).then(lambda _: Bernoulli(0.5 if self.blocks else 0.25))
        value = yield Bernoulli(0.5)
        if later and self.where == "failure":
            raise ValueError("later")
        return value, later


@pytest.mark.parametrize("where", ["draw", "continuation", "output", "failure"])
def test_a_program_that_changes_between_blocks_is_found(where: str) -> None:
    # without known paths each block is right by itself, and nothing compares them
    mechanism, known = Drifting(where=where), Known(Room())
    sample_along(known, mechanism, (1,), RUNS)
    mechanism.blocks.append(1)
    with pytest.raises(NondeterministicMechanismError):
        sample_along(known, mechanism, (1,), RUNS)
