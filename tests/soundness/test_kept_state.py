"""Mechanisms in dpaudit's language that keep something between their runs: on one dataset that is not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpaudit
from dpaudit.errors import NotEnumerableError
from dpaudit.evidence.kept_state import is_examined
from dpaudit.interpret import law
from dpaudit.language import Bernoulli, Claim, Mechanism, Multiplicity
from dpaudit.results.model import Verdict
from dpaudit.subjects.target import FunctionTarget, MechanismTarget
from dpaudit_algorithms.foundations.a_dist import ADist

SUBJECTS = '''
from dataclasses import dataclass, field
from functools import lru_cache
from dpaudit.language import Bernoulli, Claim, Laplace, Mechanism

SEEN = []
BY_SIZE = {}

@lru_cache
def total(records):
    return sum(records)

class Base(Mechanism):
    @property
    def claim(self):
        return Claim(1.0)

@dataclass(frozen=True)
class Attribute(Base):
    """Its first dataset's sum, for ever: a fresh one reveals its own."""
    def run(self, data):
        bit = yield Bernoulli(0.5)
        return (bit, self.__dict__.setdefault("first", sum(data)))

@dataclass(frozen=True)
class Global(Base):
    def run(self, data):
        bit = yield Bernoulli(0.5)
        SEEN.append(sum(data))
        return (bit, SEEN[0])

@dataclass(frozen=True)
class Field(Base):
    kept: list = field(default_factory=list, compare=False, hash=False)
    def run(self, data):
        bit = yield Bernoulli(0.5)
        self.kept.append(sum(data))
        return (bit, self.kept[0])

@dataclass(frozen=True)
class KeyTooSmall(Base):
    def run(self, data):
        bit = yield Bernoulli(0.75)
        return bit ^ bool(BY_SIZE.setdefault(len(data), sum(data)) % 2)

@dataclass(frozen=True)
class Noisy(Base):
    """Its output has no exact distribution."""
    def run(self, data):
        noise = yield Laplace(0.0, 100.0)
        SEEN.append(sum(data))
        return noise + 1000.0 * SEEN[0]

@dataclass(frozen=True)
class Cached(Base):
    """What it keeps is a function of the dataset."""
    def run(self, data):
        bit = yield Bernoulli(0.5)
        return bit ^ bool(total(tuple(data)) < 0)
'''
KEPT = ("Attribute", "Global", "Field", "KeyTooSmall")


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "m.py").write_text(SUBJECTS)
    return str(tmp_path / "m.py")


@pytest.mark.parametrize("name", KEPT)
def test_nothing_is_proved_of_a_mechanism_that_keeps_something(file: str, name: str) -> None:
    found = dpaudit.verify(f"{file}:{name}", domain=2, size=2, progress=False)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "keep no state between runs" in found.reason
    assert found.audit.exact == []


@pytest.mark.parametrize("name", [*KEPT, "Noisy"])
@pytest.mark.parametrize("black_box", [False, True])
def test_nothing_is_said_of_a_pair_either(file: str, name: str, black_box: bool) -> None:
    found = dpaudit.audit(
        f"{file}:{name}", pair=([0, 1], [1, 1]), runs=2_000, progress=False, black_box=black_box
    )  # fmt: skip
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "keep no state between runs" in found.reason


def test_a_cache_of_a_function_of_the_dataset_does_no_harm(file: str) -> None:
    assert dpaudit.verify(f"{file}:Cached", domain=2, size=2, progress=False).verdict is Verdict.PASS
    found = dpaudit.audit(f"{file}:Cached", pair=([0, 1], [1, 1]), runs=5_000, progress=False, black_box=True)
    assert found.verdict is Verdict.PASS


def test_installed_catalogues_are_left_to_their_tests() -> None:
    assert not is_examined(MechanismTarget("ADist", "", ADist(1.0, 0.1, Multiplicity((0, 1)))))
    assert is_examined(MechanismTarget("Endless", "", Endless()))
    assert not is_examined(FunctionTarget("f", "", lambda data, rng: 0))


class Endless(Mechanism):
    """Counts coins until the first tail."""

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: object) -> object:
        heads = 0
        while (yield Bernoulli(0.5)):
            heads += 1
        return heads


@pytest.mark.slow
def test_a_loop_that_may_go_on_for_ever_is_refused() -> None:
    with pytest.raises(NotEnumerableError, match="more than 10,000 times on one execution path"):
        law(Endless(), ())
