"""What outcomes leave out, and an attacker sees: types of containers and numbers, and messages of exceptions."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, SeedSequence, default_rng

import dpaudit
from dpaudit.errors import NotEnumerableError
from dpaudit.evidence import law_table, symmetries
from dpaudit.interpret import LawCache, Tally, interval_law, sample
from dpaudit.interpret.released import released
from dpaudit.language import Bernoulli, Claim, Laplace, Mechanism, Symmetry
from dpaudit.outputs.failures import raised
from dpaudit.outputs.form import MOST_FORMS, Form, Forms, form
from dpaudit.results.model import Verdict
from dpaudit.subjects.target import Unit, function_target

PAIR: tuple[Any, Any] = ([1], [0])
Point = namedtuple("Point", "x y")


class Text(str):
    """A string of a class of its own."""


def audited(f: Any, epsilon: float | None = 1.0, runs: int = 2_000, **settings: Any) -> Any:
    return dpaudit.audit(f, epsilon=epsilon, pair=PAIR, runs=runs, seed=5, progress=False, **settings)


def noisy(data: Any, rng: Generator) -> float:
    return float(data[0] + rng.laplace())


TWO: dict[str, tuple[Callable[[float], Any], Callable[[float], Any]]] = {
    "list and tuple": (lambda x: [x, 1.0], lambda x: (x, 1.0)),
    "array and tuple": (lambda x: np.array([x, 1.0]), lambda x: (x, 1.0)),
    "width of a number": (lambda x: np.float32(x), lambda x: float(np.float32(x))),
    "number of numpy": (np.float64, float),
    "width of an array": (
        lambda x: np.array([x, 1.0], dtype=np.float32), lambda x: np.array([x, 1.0], dtype=np.float32).astype(float)
    ),
    "list of numpy numbers": (lambda x: [np.float64(x)], lambda x: [x]),
    "one part of a list": (lambda x: [x, np.int64(1), 1], lambda x: [x, 1, np.int64(1)]),
    "inside a dict": (lambda x: {"a": [x]}, lambda x: {"a": (x,)}),
    "OrderedDict": (lambda x: OrderedDict(a=x), lambda x: {"a": x}),
    "bytearray": (lambda x: (x, bytearray(b"a")), lambda x: (x, b"a")),
    "set": (lambda x: {round(x)}, lambda x: frozenset({round(x)})),
    "subclass of str": (lambda x: Text(round(x)), lambda x: str(round(x))),
    "named tuple": (lambda x: Point(round(x), 1), lambda x: (round(x), 1)),
}


@pytest.mark.slow(fast=["set"])
@pytest.mark.parametrize("which", TWO)
def test_types_that_tell_the_dataset(which: str) -> None:
    found = audited(lambda data, rng: TWO[which][data[0]](noisy([0], rng)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "return one type" in found.reason


@pytest.mark.slow(fast=["number of numpy"])
@pytest.mark.parametrize("which", ["list and tuple", "number of numpy", "OrderedDict"])
def test_types_by_a_coin(which: str) -> None:
    found = audited(lambda data, rng: TWO[which][int(rng.integers(2))](noisy(data, rng)), 1.1, 3_000)
    assert found.verdict is Verdict.PASS


def test_the_sentence() -> None:
    reason = audited(lambda data, rng: TWO["list and tuple"][data[0]](noisy([0], rng))).reason
    assert "0 % of the samples on D and 100 % on D′" in reason or "100 % of the samples on D and 0 % on D′" in reason


def test_vectorised() -> None:
    def widths(data: Any, rng: Generator, size: int) -> Any:
        return np.round(rng.laplace(size=size)).astype(np.float32 if data[0] else np.float64)

    def list_or_array(data: Any, rng: Generator, size: int) -> Any:
        drawn = rng.laplace(size=size)
        return drawn if data[0] else drawn.tolist()

    def honest(data: Any, rng: Generator, size: int) -> Any:
        return rng.laplace(data[0], 1.0, size)

    assert audited(widths).verdict is Verdict.INCONCLUSIVE
    assert audited(list_or_array).verdict is Verdict.INCONCLUSIVE
    assert audited(honest, 1.1).verdict is Verdict.PASS


class Odd(Exception):
    """It shows nothing of what it holds."""

    def __init__(self, held: Any) -> None:
        super().__init__("odd")
        self.held = held


def _plain(bit: int, noise: float) -> None:
    raise ValueError(f"no record {bit}")


def _beside_noise(bit: int, noise: float) -> None:
    raise ValueError(f"no record {bit} at {noise}")


def _as_a_cause(bit: int, noise: float) -> None:
    try:
        raise KeyError(bit)
    except KeyError as error:
        raise ValueError("no record") from error


def _as_a_note(bit: int, noise: float) -> None:
    error = ValueError("no record")
    error.add_note(str(bit))
    raise error


def _as_an_attribute(bit: int, noise: float) -> None:
    raise Odd(bit)


MESSAGES = [_plain, _beside_noise, _as_a_cause, _as_a_note, _as_an_attribute]


@pytest.mark.slow(fast=["_as_an_attribute"])
@pytest.mark.parametrize("fails", MESSAGES)
def test_messages(fails: Callable[[int, float], None]) -> None:
    def leaks(data: Any, rng: Generator) -> float:
        if rng.random() < 0.3:
            fails(data[0], rng.random())
        return noisy([0], rng)

    def private(data: Any, rng: Generator) -> float:
        if rng.random() < 0.3:
            fails(int(rng.integers(2)), rng.random())
        return noisy(data, rng)

    found = audited(leaks)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "keep data out of messages" in found.reason
    assert audited(private, 1.1, 3_000).verdict is Verdict.PASS


def test_what_refutes_refutes() -> None:
    def leaks(data: Any, rng: Generator) -> Any:
        return [data[0] + rng.laplace() / 5] if data[0] else (data[0] + rng.laplace() / 5,)

    assert audited(leaks).verdict is Verdict.FAIL


@dataclasses.dataclass(frozen=True)
class Part(Mechanism):
    """Fails half of the time, with a message that names its data where it says so."""

    names: bool = True

    def run(self, data: Any) -> Any:
        """One draw."""
        coin = yield Bernoulli(0.5)
        other = yield Bernoulli(0.5)
        if coin:
            raise ValueError(f"record {sum(data) if self.names else other}")
        return 0


@dataclasses.dataclass(frozen=True)
class Program(Mechanism):
    """Another form, or another message, on every dataset; or the message of a part."""

    how: str

    @property
    def claim(self) -> Claim:
        """Holds for outcomes."""
        return Claim(0.5)

    def run(self, data: Any) -> Any:
        """One draw."""
        bit = sum(data)
        coin = yield Bernoulli(0.5)
        if self.how == "list":
            return [coin] if bit else (coin,)
        if self.how == "message" and coin:
            raise ValueError(f"record {bit}")
        if self.how in ("names", "does not"):
            yield Part(self.how == "names").on(data)
        if self.how == "rarely":
            odd = yield Bernoulli(0.75 if bit else 0.25)
            raise ValueError(f"odd {odd}")
        return coin


@pytest.mark.parametrize("how", ["list", "message", "names"])
def test_mechanisms_that_are_sampled(how: str) -> None:
    assert audited(Program(how), None, black_box=True).verdict is Verdict.INCONCLUSIVE


def test_messages_of_parts_that_are_honest() -> None:
    assert audited(Program("does not"), None, 6_000, black_box=True).verdict is Verdict.PASS
    counts = sample(Program("does not"), (1,), 1_000, seed=1).forms.whole.counts
    assert len(counts) == 2


def test_draws_of_the_language_have_no_form() -> None:
    @dataclasses.dataclass(frozen=True)
    class Draws(Mechanism):
        def run(self, data: Any) -> Any:
            if data:
                return Laplace(0.0, 1.0)
            x = yield Laplace(0.0, 1.0)
            return x

    assert [sample(Draws(), data, 10).forms.special for data in ((1,), ())] == [0, 0]


def test_any_number_of_workers() -> None:
    def forms(data: Any, rng: Generator) -> Any:
        x = rng.random()
        if x < 0.2:
            raise ValueError(f"{x}")
        return [x] if x < 0.5 else np.float32(x)

    target = function_target(forms, "forms", "here")
    units = [Unit(([1],), 1_500, SeedSequence([1, at])) for at in range(3)]
    found = []
    for _ in range(2):
        tally = Tally()
        for unit in units:
            tally.merge(target.runs(unit.dataset, unit.runs, unit.seed))
        found.append(tally.outputs().forms)
    assert found[0] == found[1]
    assert found[0].special == 4_500
    assert found[0].whole.counts[Form("list")] > 1_000


def test_the_most_frequent_are_kept() -> None:
    """True counts are between those that are kept and these and what was missed."""
    forms, rng, truth = Forms(), default_rng(1), 0
    for at in range(6_000):
        often = rng.random() < 0.05
        truth += often
        forms.see(raised(ValueError("often" if often else f"message {at}")), 1)
    assert len(forms.whole.counts) <= 2 * MOST_FORMS
    kept = forms.words.counts[Form("often", "word", "ValueError")]
    assert kept <= truth <= kept + forms.words.missed
    assert forms.words.missed < 20


def test_the_forms_of_plain_values() -> None:
    for value in (1, 1.0, "x", None, True, (1, (2.0, "x")), {"a": 1}, frozenset({1}), (), {}):
        assert form(value) == ""
    assert form([]) == "list"
    assert form([1, [2]]) == "list of plain, list"
    assert form(np.zeros(3)) == "numpy.ndarray of numpy float64"
    assert form((np.float64(1), 2, 3)) == "tuple of numpy float64, 2 × plain"
    assert form(np.datetime64("2020-01-01")) == "numpy datetime64[D]"


@pytest.mark.slow
def test_messages_of_exact_output_distributions() -> None:
    for how in ("message", "names", "rarely"):
        assert audited(Program(how), None).verdict is Verdict.INCONCLUSIVE
        found = dpaudit.verify(Program(how), domain=2, size=1, progress=False)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert how == "rarely" or "keep data out of messages" in found.reason
    assert audited(Program("does not"), None).verdict is Verdict.PASS
    assert dpaudit.verify(Program("does not"), domain=2, size=1, progress=False).verdict is Verdict.PASS


@dataclasses.dataclass(frozen=True)
class Alike(Mechanism):
    """Its messages have two distributions, or one; it needs ε = ln 2 for its failures alone."""

    epsilon: float = 0.7
    same: bool = True

    @property
    def claim(self) -> Claim:
        """Of outcomes."""
        return Claim(self.epsilon)

    def run(self, data: Any) -> Any:
        """One draw."""
        fails = yield Bernoulli(0.5 if sum(data) else 0.25)
        if fails:
            odd = yield Bernoulli(0.25 if self.same or sum(data) else 0.75)
            raise ValueError(f"odd {odd}")
        return fails


def test_distributions_of_messages() -> None:
    def verdict(mechanism: Mechanism) -> Verdict:
        return dpaudit.verify(mechanism, domain=2, size=1, progress=False).verdict  # type: ignore[no-any-return]

    assert verdict(Alike()) is Verdict.PASS
    assert verdict(Alike(same=False)) is Verdict.INCONCLUSIVE
    assert verdict(Alike(0.6)) is verdict(Alike(0.6, same=False)) is Verdict.FAIL


EXACT: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
    "list and tuple": (lambda x: [x, 1], lambda x: (x, 1)),
    "array and list": (lambda x: np.array([x, 1]), lambda x: [x, 1]),
    "width of an array": (lambda x: np.array([x], dtype=np.int32), lambda x: np.array([x], dtype=np.int64)),
    "number of numpy": (np.int64, int),
    "inside a dict": (lambda x: {"a": [x]}, lambda x: {"a": (x,)}),
    "OrderedDict": (lambda x: OrderedDict(a=x), lambda x: {"a": x}),
    "named tuple": (lambda x: Point(x, 1), lambda x: (x, 1)),
    "set": (lambda x: {x}, lambda x: frozenset({x})),
}


@dataclasses.dataclass(frozen=True)
class Returns(Mechanism):
    """A coin in one form or the other, by the dataset or by a second coin; at once, or from a part."""

    which: str
    how: str = "data"

    @property
    def claim(self) -> Claim:
        """Of outcomes."""
        return Claim(0.5)

    def run(self, data: Any) -> Any:
        """Two draws."""
        if self.how == "part":
            return Returns(self.which).on(data)
        coin = int((yield Bernoulli(0.5)))
        other = yield Bernoulli(0.75 if sum(data) and self.how == "more often" else 0.25)
        return EXACT[self.which][min(1, sum(data)) if self.how in ("data", "part") else other](coin)


@pytest.mark.slow(fast=["list and tuple", "named tuple", "number of numpy"])
@pytest.mark.parametrize("which", EXACT)
def test_types_in_exact_output_distributions(which: str) -> None:
    for data in ((0,), (1,)):
        here, of_part = (interval_law(Returns(which, how), data, cache=LawCache("x")).forms for how in ("data", "part"))
        assert here == of_part
    for how in ("data", "part", "more often"):
        assert audited(Returns(which, how), None).verdict is Verdict.INCONCLUSIVE
        found = dpaudit.verify(Returns(which, how), domain=2, size=1, progress=False)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "return one type" in found.reason
    if which == "named tuple":
        # equal to a tuple, and another text: refused on any dataset
        return
    assert audited(Returns(which, "coin"), None).verdict is Verdict.PASS
    assert dpaudit.verify(Returns(which, "coin"), domain=2, size=1, progress=False).verdict is Verdict.PASS


@dataclasses.dataclass(frozen=True)
class Symmetrical(Mechanism):
    """Says that 1 and 2 may be exchanged, which holds of outcomes alone."""

    @property
    def claim(self) -> Claim:
        """Of outcomes."""
        return Claim(0.5)

    def symmetries(self, domain: Any) -> Any:
        """All permutations of its domain."""
        return (Symmetry("exchange", lambda record: {1: 2, 2: 1}.get(record, record)),)

    def run(self, data: Any) -> Any:
        """One draw."""
        coin = yield Bernoulli(0.5)
        return [coin] if 1 in tuple(data) else (coin,)


def test_symmetries_of_outcomes_alone() -> None:
    relation = Claim(0.5).relation
    action = symmetries.declared(Symmetrical(), relation, (0, 1, 2))
    assert action.symmetries
    datasets = tuple(relation.scope((0, 1, 2), 2, ordered=False))
    usable, _ = symmetries.confirmed(Symmetrical(), action, datasets, "Symmetrical", LawCache())
    assert not usable.symmetries
    found = dpaudit.verify(Symmetrical(), domain=3, size=2, progress=False)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "list" in found.reason


@dataclasses.dataclass(frozen=True)
class Largest(Mechanism):
    """Asks numpy for a largest number: of exact ones its type is another than of doubles."""

    number: float = 0.1

    @property
    def claim(self) -> Claim:
        """Holds."""
        return Claim(0.5)

    def run(self, data: Any) -> Any:
        """One draw."""
        coin = yield Bernoulli(0.5)
        largest = np.max([self.number]) if sum(data) else np.float64(self.number)
        return largest if coin else 0


def test_types_of_exact_numbers_are_not_compared() -> None:
    exact, doubles = (
        [interval_law(Largest(), data, cache=LawCache(why)).forms for data in ((0,), (1,))] for why in ("", "asked for")
    )
    assert exact[0] != exact[1]
    assert doubles[0] == doubles[1]
    found = dpaudit.verify(Largest(), domain=2, size=1, progress=False)
    assert found.verdict is Verdict.PASS


@dataclasses.dataclass(frozen=True)
class Noisy(Mechanism):
    """Laplace noise in one container or the other."""

    one: str
    other: str

    @property
    def claim(self) -> Claim:
        """Holds for outcomes."""
        return Claim(1.0)

    def run(self, data: Any) -> Any:
        """One draw."""
        x = yield Laplace(float(sum(data)), 1.0)
        forms = {"list": [x, 1.0], "tuple": (x, 1.0), "array": np.array([x, 1.0]), "numpy": (x, np.float64(1))}
        return forms[self.one if sum(data) else self.other]


@pytest.mark.slow(fast=["list"])
@pytest.mark.parametrize("other", ["list", "array", "numpy"])
def test_types_beside_released_noise(other: str) -> None:
    with pytest.raises(NotEnumerableError):
        released(Noisy("tuple", other), (1,), (0,))
    assert audited(Noisy("tuple", other), None).verdict is Verdict.INCONCLUSIVE
    assert dpaudit.verify(Noisy("tuple", other), domain=2, size=1, progress=False).verdict is not Verdict.PASS
    assert audited(Noisy(other, other), None).verdict is Verdict.PASS


def test_forms_that_were_kept_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the cache says that all outputs are lists, of a program that returns tuples too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    part = law_table._laws(Returns("list and tuple"), [(0,), (1,)], LawCache())
    assert len(part.outcomes) == 4
    assert law_table._agrees(Returns("list and tuple"), part, [(0,), (1,)], "")
    lists = part._replace(forms=("list",) * 4)
    assert not any(law_table._agrees(Returns("list and tuple", "coin"), lists, [(0,), (1,)], "") for _ in range(5))
    assert not all(law_table._agrees(Returns("list and tuple"), lists, [(0,), (1,)], "") for _ in range(30))
