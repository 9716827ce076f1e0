"""What Python programs return besides numbers: it is read, or the verdict says that it was not tested."""

from __future__ import annotations

import dataclasses
import enum
import uuid
from array import array
from collections import deque
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator

import dpaudit
from dpaudit.errors import OutputError
from dpaudit.interpret import LawCache, NotOnExact, interval_law, interval_laws, of_one_kind
from dpaudit.interpret.law import COMPARED
from dpaudit.language import Bernoulli, Claim, Mechanism
from dpaudit.outputs.canonical import Kinds, canonical, shown
from dpaudit.results.model import Verdict

ALPHA = 0.001


@dataclasses.dataclass(frozen=True)
class Frozen:
    """A value in a field."""

    value: float


class Opaque:
    """Equal by value, and of no known type."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


READ: dict[str, Callable[[float], Any]] = {
    "long double": np.longdouble,
    "half": np.float16,
    "Decimal": Decimal,
    "Fraction": Fraction,
    "a text": str,
    "bytes": lambda x: str(x).encode(),
    "bytearray": lambda x: bytearray(str(x), "ascii"),
    "a path": lambda x: PurePosixPath(str(x)),
    "set": lambda x: {x},
    "dict, as a key": lambda x: {x: 1},
    "dict of Decimals": lambda x: {"a": Decimal(x)},
    "datetime": lambda x: datetime(2020, 1, 1) + timedelta(seconds=x),
    "aware datetime": lambda x: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=x),
    "date": lambda x: date.fromordinal(1_500_000 + round(100_000 * x)),
    "time": lambda x: (datetime(2020, 1, 1, 12) + timedelta(minutes=20 * x)).time(),
    "timedelta": lambda x: timedelta(seconds=x),
    "datetime64": lambda x: np.datetime64(int(x * 1e6), "us"),
    "datetime64 in nanoseconds, in a tuple": lambda x: (np.datetime64(int(x * 1e9), "ns"), 1),
    "Timestamp": lambda x: pd.Timestamp(int(x * 1e9)),
    "Interval": lambda x: pd.Interval(x, x + 1),
    "UUID": lambda x: uuid.UUID(int=int((x + 100) * 1e9)),
    "large integer": lambda x: int(x * 2.0**70),
    "frozen dataclass": Frozen,
    "deque": lambda x: deque([x, 1.0]),
    "array": lambda x: array("d", [x, 1.0]),
    "list of long doubles": lambda x: [np.longdouble(x), 1],
}


def audited(make: Callable[[float], Any], scale: float, runs: int = 4_000) -> Any:
    def f(data: Any, rng: Generator) -> Any:
        return make(float(data[0] + rng.laplace() * scale))

    # the doubles of Laplace noise leak in their last bits, which exact types show: a claim above that
    return dpaudit.audit(f, epsilon=1.1, pair=([1], [0]), runs=runs, seed=5, alpha=ALPHA, progress=False)


@pytest.mark.slow(fast=["Decimal", "half"])
@pytest.mark.parametrize("kind", READ)
def test_what_is_read(kind: str) -> None:
    # 26 private ones at α = 0.001 each
    assert audited(READ[kind], 1.0, runs=2_000).verdict is Verdict.PASS
    assert audited(READ[kind], 0.1, runs=1_000).verdict is Verdict.FAIL


UNREAD: dict[str, Callable[[float], Any]] = {
    "object": Opaque,
    "object beside a number": lambda x: (Opaque(x), 0.5),
    "integer beyond doubles": lambda x: int(x * 2**52) << 3_000,
}


@pytest.mark.slow(fast=["object"])
@pytest.mark.parametrize("kind", UNREAD)
def test_what_is_not_read_is_inconclusive(kind: str) -> None:
    for scale in (1.0, 0.1):
        found = audited(UNREAD[kind], scale)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "cannot read" in found.reason


@pytest.mark.parametrize(("share", "verdict"), [(0.03, Verdict.INCONCLUSIVE), (0.003, Verdict.PASS)])
def test_a_few_outputs_that_are_not_read_are_inconclusive(share: float, verdict: Verdict) -> None:
    """One in a hundred may be: what a claim says nothing of may hide there."""

    def f(data: Any, rng: Generator) -> Any:
        output = float(data[0] + rng.laplace())
        return Opaque(output) if rng.random() < share else output

    found = dpaudit.audit(f, epsilon=1.1, pair=([1], [0]), runs=4_000, seed=5, alpha=ALPHA, progress=False)
    assert found.verdict is verdict


@pytest.mark.slow(fast=["Opaque", "<lambda>0"])
@pytest.mark.parametrize("make", [Opaque, lambda x: (Opaque(x), "a"), lambda x: 10 ** (5_000 + int(x)), np.longdouble])
def test_few_values_of_any_type_are_counted(make: Callable[[float], Any]) -> None:
    def response(keep: float, data: Any, rng: Generator) -> Any:
        return make(data[0] if rng.random() < keep else 1 - data[0])

    for keep, verdict in ((0.731, Verdict.PASS), (0.99, Verdict.FAIL)):
        found = dpaudit.audit(
            partial(response, keep), epsilon=1.0, pair=([1], [0]), runs=4_000, seed=5, progress=False
        )
        assert found.verdict is verdict


def test_classes_that_are_copied_with_the_function_are_the_same() -> None:
    class Colour(enum.Flag):
        """Defined inside a function, so that a copy of the function has another one."""

        RED = 1
        BLUE = 2

    def f(data: Any, rng: Generator) -> Any:
        return Colour.RED if rng.random() < 0.731 else Colour.BLUE

    assert dpaudit.audit(f, epsilon=1.0, pair=([1], [0]), runs=4_000, progress=False).verdict is Verdict.PASS


class Number(enum.IntEnum):
    """An enumeration whose members equal integers."""

    ONE = 1


@pytest.mark.slow(only=["one3-*", "one9-*", "one10-*"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True), (1, 1.0), (True, 1.0), ((1, 2), (1, 2.0)), ((1, 2), (1.0, 2.0)), (Number.ONE, 1), (Fraction(1), 1),
        (Decimal("1.0"), Decimal("1.00")), ({1}, {True}), ({"a": 1}, {"a": 1.0}), (Frozen(1), Frozen(1.0)),
        (datetime(2020, 1, 1, 0, tzinfo=UTC), datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))),
    ],
)  # fmt: skip
def test_equal_values_that_can_be_distinguished_are_no_pass(one: Any, other: Any) -> None:
    for pair in ((one, other), (other, one)):
        kinds = Kinds()
        kinds.see(canonical(pair[0]))
        kinds.see(canonical(pair[0]))
        with pytest.raises(OutputError, match="an attacker can distinguish"):
            kinds.see(canonical(pair[1]))

    def f(data: Any, rng: Generator) -> Any:
        return (one if data[0] else other) if rng.random() < 0.5 else "neither"

    assert dpaudit.audit(f, epsilon=1.0, pair=([1], [0]), runs=2_000, progress=False).verdict is not Verdict.PASS


@pytest.mark.parametrize("leaks", [True, False])
def test_the_sign_of_zero(leaks: bool) -> None:
    def f(data: Any, rng: Generator) -> float:
        if rng.random() < 0.5:
            return 1.0
        return 0.0 if (data[0] if leaks else rng.random() < 0.5) else -0.0

    found = dpaudit.audit(f, epsilon=1.0, pair=([1], [0]), runs=2_000, progress=False)
    assert found.verdict is (Verdict.INCONCLUSIVE if leaks else Verdict.PASS)
    assert ("-0.0" in found.reason) == leaks


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_signs_of_zeros_are_held_against_the_claim(epsilon: float) -> None:
    """−0.0 comes with probabilities 0.6 and 0.4 of those of zeros: that is ε = ln 1.5."""

    def f(data: Any, rng: Generator) -> float:
        if rng.random() < 0.1:
            return 1.0
        return -0.0 if rng.random() < (0.6 if data[0] else 0.4) else 0.0

    found = dpaudit.audit(f, epsilon=epsilon, pair=([1], [0]), runs=10_000, seed=5, progress=False)
    assert found.verdict is (Verdict.PASS if epsilon == 1 else Verdict.INCONCLUSIVE)
    assert ("-0.0" in found.reason) == (epsilon < 1)


def test_integers_too_long_for_decimals_have_a_text() -> None:
    assert shown((10**5_000,)) == f"({hex(10**5_000)},)"
    assert shown(10**200) == str(10**200)


@dataclasses.dataclass(frozen=True)
class Typed(Mechanism):
    """Returns True on one dataset with the probability with which it returns 1 on the other."""

    epsilon: float = 1.0
    values: tuple[Any, Any] = (True, 1)

    @property
    def claim(self) -> Claim:
        """Holds for what Python calls equal."""
        return Claim(self.epsilon)

    def run(self, data: Any) -> Any:
        """One draw."""
        if (yield Bernoulli(0.5)):
            return self.values[sum(data)]
        return "neither"


@pytest.mark.parametrize("values", [(True, 1), (1, 1.0), ((1, True), (1, 1)), (0.0, -0.0)])
def test_equal_values_that_can_be_distinguished_are_not_proved(values: tuple[Any, Any]) -> None:
    found = dpaudit.verify(Typed(values=values), domain=2, size=1, progress=False)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "an attacker can distinguish" in found.reason
    found = dpaudit.audit(Typed(values=values), pair=([1], [0]), runs=2_000, progress=False)
    assert found.verdict is not Verdict.PASS
    assert dpaudit.verify(Typed(values=(2, 2)), domain=2, size=1, progress=False).verdict is Verdict.PASS


@dataclasses.dataclass(frozen=True)
class Picky(Mechanism):
    """Reveals its data with certainty, but on exact numbers: there it fails, or draws a coin."""

    epsilon: float = 1.0
    how: str = "raises"

    @property
    def claim(self) -> Claim:
        """Not kept."""
        return Claim(self.epsilon)

    def run(self, data: Any) -> Any:
        """One draw."""
        coin = yield Bernoulli(0.5)
        if type(self.epsilon) is not float:
            if self.how == "raises":
                raise TypeError("not a float")
            return coin
        return sum(data)


@dataclasses.dataclass(frozen=True)
class Late(Picky):
    """Keeps its claim, but on exact numbers it fails on the last of the datasets."""

    def run(self, data: Any) -> Any:
        """One draw."""
        coin = yield Bernoulli(0.5)
        if type(self.epsilon) is not float and sum(data) == RECORDS:
            raise TypeError("not a float")
        return coin


@dataclasses.dataclass(frozen=True)
class LateCoin(Picky):
    """On exact numbers it draws another coin on the last of the datasets."""

    def run(self, data: Any) -> Any:
        """One draw."""
        if type(self.epsilon) is not float and sum(data) == RECORDS:
            return Bernoulli(0.25)
        return Bernoulli(0.5)
        yield


@dataclasses.dataclass(frozen=True)
class Rounds(Picky):
    """0.1 + 0.2 is not 0.3 in doubles, which some datasets show; on exact numbers it keeps its claim."""

    parts: tuple[float, ...] = (0.1, 0.2, 0.3)

    def run(self, data: Any) -> Any:
        """One draw."""
        yield Bernoulli(0.5)
        first, second, both = self.parts
        return first + second if sum(data) > 2 else both


RECORDS = COMPARED + 2


@pytest.mark.parametrize("how", ["raises", "draws"])
def test_a_program_that_behaves_differently_on_exact_numbers(how: str) -> None:
    found = dpaudit.verify(Picky(how=how), domain=2, size=1, progress=False)
    assert found.verdict is Verdict.FAIL
    found = dpaudit.audit(Picky(how=how), pair=([1], [0]), runs=100, progress=False)
    assert found.verdict is Verdict.FAIL


def test_a_program_that_fails_late_on_exact_numbers() -> None:
    """The first distributions agree with those on doubles; a failure is compared whenever it comes."""
    each = [(0,) * (RECORDS - ones) + (1,) * ones for ones in range(RECORDS + 1)]
    laws = of_one_kind(lambda cache: [interval_law(Late(), dataset, cache=cache) for dataset in each])
    # and then none of them is on exact numbers
    assert {value for one in laws for value in one.values} == {False, True}
    assert all(one.rounded for one in laws)
    cache = LawCache()
    for dataset in each[:-1]:
        assert not interval_law(Late(), dataset, cache=cache).rounded
    with pytest.raises(NotOnExact):
        interval_law(Late(), each[-1], cache=cache)
    for jobs in (1, 2):
        found = dpaudit.verify(Late(), domain=2, size=RECORDS, jobs=jobs, progress=False)
        assert found.verdict is Verdict.PASS
        assert found.audit.proof is not None
        assert found.audit.proof.rounded


def test_the_distributions_of_a_pair_are_compared_however_many_came_before() -> None:
    each = [(0,) * (RECORDS - ones) + (1,) * ones for ones in range(RECORDS + 1)]
    cache = LawCache()
    for dataset in each:
        interval_law(LateCoin(), dataset, cache=cache)
    with pytest.raises(NotOnExact, match="different"):
        interval_laws(LateCoin(), each[-2], each[-1], cache=cache)
    # those that were compared do not count again
    for _ in range(2 * COMPARED):
        interval_law(LateCoin(), each[0], cache=cache)
    assert not interval_laws(LateCoin(), each[-3], each[-2], cache=cache).rounded


def test_a_program_that_doubles_make_leak_on_a_later_dataset() -> None:
    assert dpaudit.verify(Rounds(), domain=2, size=3, progress=False).verdict is Verdict.FAIL


def test_a_mechanism_may_output_what_is_neither_equal_nor_unequal_to_itself() -> None:
    found = dpaudit.audit(Typed(values=(pd.NA, pd.NaT)), pair=([1], [0]), runs=2_000, progress=False)
    assert found.verdict is Verdict.FAIL
    assert dpaudit.verify(Typed(values=(pd.NA, pd.NA)), domain=2, size=1, progress=False).verdict is Verdict.PASS


@pytest.mark.parametrize(("words", "verdict"), [(3, Verdict.PASS), (100_000, Verdict.INCONCLUSIVE)])
def test_seldom_words_beside_noise(words: int, verdict: Verdict) -> None:
    """Three words that come in few of 200 outputs are read; words that are all different are not."""

    def f(data: Any, rng: Generator) -> tuple[float, str]:
        seldom = rng.random() < (0.025 if words == 3 else 0.1)
        return float(rng.laplace()), f"word{int(rng.integers(words))}" if seldom else "usual"

    found = dpaudit.audit(f, epsilon=1.5, pair=([1], [0]), runs=200, alpha=0.05, progress=False, min_power=100.0)
    hidden = "almost all different" in found.reason
    assert hidden == (verdict is Verdict.INCONCLUSIVE), found.reason
