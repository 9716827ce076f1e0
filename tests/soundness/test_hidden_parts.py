"""What an output says beside its values, and what `==` leaves out: it is tested, or the verdict is no PASS."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

import dpaudit
from dpaudit.language import Bernoulli, Claim, Laplace, Mechanism
from dpaudit.outputs.canonical import Kinds, canonical
from dpaudit.results.model import Verdict

PAIR: tuple[Any, Any] = ([1], [0])


@dataclasses.dataclass(frozen=True)
class Tagged:
    """Two of these are equal whatever is hidden in them."""

    shown: int
    hidden: Any = dataclasses.field(compare=False, repr=False)


def audited(f: Any, epsilon: float | None = 1.0, runs: int = 2_000, **settings: Any) -> Any:
    return dpaudit.audit(f, epsilon=epsilon, pair=PAIR, runs=runs, seed=5, progress=False, **settings)


CATEGORIES = (["a"], ["a", "b"])
ROWS = pd.DataFrame({"value": [0.0, 0.0]}, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]))
OTHER_ROWS = ROWS.rename(index={"b": "c"})

BESIDE: dict[str, Callable[[int, float], Any]] = {
    "order of a dict": lambda bit, x: {"a": x, "b": 1.0} if bit else {"b": 1.0, "a": x},
    "order of a Series": lambda bit, x: pd.Series({"a": x, "b": 1.0} if bit else {"b": 1.0, "a": x}),
    "name of a Series": lambda bit, x: pd.Series([x], name="xy"[bit]),
    "name of an index": lambda bit, x: pd.DataFrame({"v": [x]}, index=pd.Index([0], name="xy"[bit])),
    "attributes": lambda bit, x: _with_attributes(pd.DataFrame({"v": [x]}), bit),
    "categories of a Series": lambda bit, x: pd.DataFrame({"v": [x], "c": pd.Categorical(["a"], CATEGORIES[bit])}),
    "categories": lambda bit, x: (pd.Categorical(["a"], CATEGORIES[bit]), x),
    "unused levels": lambda bit, x: (ROWS if bit else OTHER_ROWS).iloc[:1] + x,
    "masked values": lambda bit, x: np.ma.array([x, float(bit)], mask=[False, True]),
    "field that is not compared": lambda bit, x: Tagged(int(x > 0), bit),
    "1 and True": lambda bit, x: (x, 1 if bit else True),
    "two Decimals": lambda bit, x: {"a": x, "b": Decimal("1.0" if bit else "1.00")},
    "sign of a zero": lambda bit, x: {"a": [x], "b": 0.0 if bit else -0.0},
    "sign of a complex zero": lambda bit, x: [x, complex(0.0 if bit else -0.0, 1.0)],
}


def _with_attributes(frame: pd.DataFrame, bit: int) -> pd.DataFrame:
    frame.attrs["source"] = bit
    return frame


@pytest.mark.slow(fast=["field that is not compared", "order of a dict", "sign of a zero"])
@pytest.mark.parametrize("where", BESIDE)
def test_what_is_said_beside_values(where: str) -> None:
    def leaks(data: Any, rng: Generator) -> Any:
        return BESIDE[where](data[0], float(rng.laplace()))

    assert audited(leaks).verdict is not Verdict.PASS


BY_A_COIN = ("order of a dict", "order of a Series", "masked values", "field that is not compared")


@pytest.mark.slow(fast=["field that is not compared"])
@pytest.mark.parametrize("where", BY_A_COIN)
def test_what_is_said_by_a_coin(where: str) -> None:
    def private(data: Any, rng: Generator) -> Any:
        return BESIDE[where](int(rng.random() < 0.5), float(data[0] + rng.laplace()))

    assert audited(private, 1.1, alpha=0.001).verdict is not Verdict.FAIL


TEXTS: dict[str, Callable[[float], Any]] = {
    "in a list": lambda x: [f"{x:.6f}"],
    "as a key": lambda x: {f"{x:.6f}": 1},
    "in a set": lambda x: {f"{x:.6f}"},
    "in an array": lambda x: np.array([f"{x:.6f}".encode()]),
    "beside a symbol": lambda x: ("yes", f"{x:.6f}"),
    "within JSON": lambda x: [json.dumps({"value": x})],
    "within a sentence": lambda x: {"message": f"the count is {x:.6f}"},
}


@pytest.mark.slow(fast=["in an array"])
@pytest.mark.parametrize("where", TEXTS)
def test_numbers_that_are_written_in_parts(where: str) -> None:
    def noisy(scale: float) -> Any:
        return lambda data, rng: TEXTS[where](float(data[0] + rng.laplace() * scale))

    for scale, wrong in ((0.05, Verdict.PASS), (1.0, Verdict.FAIL)):
        assert audited(noisy(scale), 1.1, 3_000).verdict is not wrong


def test_words_in_parts_are_read() -> None:
    def words(data: Any, rng: Generator) -> Any:
        return ("yes" if rng.random() < (0.73 if data[0] else 0.27) else "no", float(rng.laplace()))

    assert audited(words, runs=4_000).verdict is Verdict.PASS


class Never:
    """Equal to nothing, itself included, and no number."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 0


class Silent:
    """Its text raises."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Silent) and self.value == other.value

    def __hash__(self) -> int:
        return self.value

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Slotted:
    """Equal where their shown values are."""

    __slots__ = ("hidden", "shown")

    def __init__(self, shown: int, hidden: int) -> None:
        self.shown, self.hidden = shown, hidden

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slotted) and self.shown == other.shown

    def __hash__(self) -> int:
        return self.shown


@pytest.mark.slow
def test_objects_whose_equality_hides_their_value() -> None:
    found = audited(lambda data, rng: (Never(data[0]), float(rng.laplace())))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "does not equal itself" in found.reason
    found = audited(lambda data, rng: Slotted(int(rng.random() < 0.5), data[0]))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert audited(lambda data, rng: (Decimal("nan"), float(data[0] + rng.laplace())), 1.1).verdict is Verdict.PASS
    kinds = Kinds()
    kinds.see(canonical(Slotted(1, 1)))
    kinds.see(canonical(Slotted(1, 1)))


def test_objects_whose_text_raises() -> None:
    found = audited(lambda data, rng: Silent(int(data[0] == (rng.random() < 0.99))))
    assert found.verdict is Verdict.FAIL


@dataclasses.dataclass(frozen=True)
class Part(Mechanism):
    """A coin that equality leaves out."""

    def run(self, data: Any) -> Any:
        """One draw."""
        coin = yield Bernoulli(0.5)
        return Tagged(0, coin)


@dataclasses.dataclass(frozen=True)
class Reveals(Mechanism):
    """Its data, where the coin of its part is as it says: half of the time."""

    coin: int = 0

    @property
    def claim(self) -> Claim:
        """Not kept: it needs δ = 1/2."""
        return Claim(1.0)

    def run(self, data: Any) -> Any:
        """One draw."""
        tagged = yield Part().on(())
        return sum(data) if tagged.hidden == self.coin else 0


@pytest.mark.parametrize("coin", [0, 1])
def test_outcomes_of_parts_that_differ_in_what_is_not_compared(coin: int) -> None:
    """One of the two was once PASS · proved."""
    assert dpaudit.verify(Reveals(coin), domain=2, size=1, progress=False).verdict is not Verdict.PASS
    assert audited(Reveals(coin), None).verdict is not Verdict.PASS


@dataclasses.dataclass(frozen=True)
class Signed(Mechanism):
    """Noise, and beside it a constant that tells which dataset it is."""

    values: tuple[Any, Any] = (0.0, -0.0)

    @property
    def claim(self) -> Claim:
        """Holds for what Python calls equal."""
        return Claim(1.0)

    def run(self, data: Any) -> Any:
        """One draw."""
        noise = yield Laplace(0.0, 1.0)
        return (noise, self.values[sum(data)])


@pytest.mark.slow(fast=["values1"])
@pytest.mark.parametrize("values", [(0.0, -0.0), (1, 1.0), (0, False)])
def test_constants_beside_noise_that_are_equal(values: tuple[Any, Any]) -> None:
    assert audited(Signed(values), None).verdict is not Verdict.PASS
    assert audited(Signed((values[0], values[0])), None).verdict is Verdict.PASS


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_numbers_whose_differences_overflow(scale: float) -> None:
    def huge(data: Any, rng: Generator) -> float:
        return float(data[0] + rng.laplace() * scale) * math.ldexp(1.0, 1_022)

    assert audited(huge, 1.1).verdict is (Verdict.FAIL if scale < 1 else Verdict.PASS)
