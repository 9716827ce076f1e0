"""A mechanism that raises on some of its execution paths: the exception is the outcome of those paths."""

from __future__ import annotations

import math
import pickle
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.random import SeedSequence

import dpaudit
from dpaudit.errors import DatasetError, MechanismError, NotEnumerableError
from dpaudit.interpret import LawCache, interval_law, law, ledger, sample
from dpaudit.interpret.released import released
from dpaudit.language import BOTTOM, Bernoulli, Categorical, Claim, Laplace, Mechanism
from dpaudit.language.symmetry import Symmetry
from dpaudit.outputs.canonical import Raised
from dpaudit.results.model import Audit, Verdict
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import Unit, function_target

Program = Generator[Any, Any, Any]
VALUE, KEY = Raised("ValueError"), Raised("KeyError")
PAIR: tuple[Any, Any] = ([1], [0])


@dataclass(frozen=True)
class Odd(Mechanism):
    """A fair bit; with probability `p` it raises where a 1 is in the data, and with probability `q` on any data."""

    p: float = 0.125
    q: float = 0.0
    epsilon: float = 0.5
    delta: float = 0.0
    kind: str = "text"

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon, self.delta)

    def run(self, data: Any) -> Program:
        chance = self.p if 1 in list(data) else self.q
        odd = yield Bernoulli(chance)
        bit = yield Bernoulli(0.5)
        if odd and self.kind == "text":
            raise ValueError(f"bit {bit}")
        if odd and self.kind == "part":
            yield Raises().on(bit)
            raise AssertionError("it goes on after its part has failed")
        if odd and self.kind == "last part":
            return Raises().on(bit)
        if odd and self.kind == "then":
            return Bernoulli(0.5).then(_raises)
        if odd and self.kind == "then after a failure":
            return Bernoulli(0.5).then(_raises).then(lambda value: "it goes on after its draw has failed")
        if odd and self.kind == "then on the way":
            yield Bernoulli(0.5).then(_raises)
            raise AssertionError("it goes on after its draw has failed")
        if odd and self.kind == "start":
            yield Raises("start").on(bit)
        if odd and self.kind == "other":
            try:
                yield Raises().on(bit)
            except ValueError as error:
                raise KeyError("in its place") from error
        return bit


def _raises(value: Any) -> Any:
    raise ValueError("no continuation")


@dataclass(frozen=True)
class Raises(Mechanism):
    where: str = "after a draw"

    def run(self, bit: Any) -> Any:
        if self.where == "start":
            raise ValueError("before any draw")
        return self._program(bit)

    def _program(self, bit: Any) -> Program:
        yield Bernoulli(0.25)
        raise ValueError("in a part")


KINDS = ("text", "part", "last part", "then", "then after a failure", "then on the way", "start")


@pytest.mark.parametrize("kind", KINDS)
def test_the_exact_output_distribution(kind: str) -> None:
    found = law(Odd(kind=kind), (1,)).as_dict()
    assert found == pytest.approx({0: 0.4375, 1: 0.4375, VALUE: 0.125})
    enclosed = interval_law(Odd(kind=kind), (1,)).as_dict()
    assert enclosed.keys() == found.keys()
    assert enclosed[VALUE].contains(0.125)
    assert law(Odd(kind=kind), (0,)).as_dict() == pytest.approx({0: 0.5, 1: 0.5})


@pytest.mark.parametrize("kind", KINDS)
def test_samples(kind: str) -> None:
    """The number of failures is binomial: within six standard deviations of its mean."""
    counts = sample(Odd(kind=kind), (1,), 40_000, seed=1).counts
    assert set(counts) == {0, 1, VALUE}
    assert abs(counts[VALUE] - 5000) < 6 * math.sqrt(40_000 * 0.125 * 0.875)
    assert VALUE not in sample(Odd(kind=kind), (0,), 1000, seed=1).counts


def test_another_exception_in_its_place() -> None:
    assert law(Odd(kind="other"), (1,)).as_dict()[KEY] == pytest.approx(0.125)


def test_where_it_was_raised() -> None:
    (failure,) = [value for value in law(Odd(kind="part"), (1,)).as_dict() if isinstance(value, Raised)]
    assert failure.where.startswith("ValueError: in a part (test_failures_of_mechanisms.py, line ")
    # for other processes the exception itself is left out: it may not pickle
    assert failure.cause is not None
    assert failure.cause.__traceback__ is None
    again = pickle.loads(pickle.dumps(failure))
    assert (again, again.where, again.cause) == (failure, failure.where, None)


def test_a_failed_part_from_a_shared_cache() -> None:
    cache = LawCache()
    first = law(Odd(kind="part"), (1,), cache=cache).as_dict()
    assert law(Odd(kind="part"), (1,), cache=cache).as_dict() == first


@dataclass(frozen=True)
class Catches(Mechanism):
    """Goes on after a failure of its part: which failure it was it may look at, and nobody can follow that."""

    goes_on: bool = True

    def run(self, data: Any) -> Program:
        try:
            yield Raises().on(0)
        except ValueError:
            if self.goes_on:
                yield Bernoulli(0.5)
        return "caught"


@pytest.mark.parametrize("goes_on", [True, False])
def test_catching_a_part_s_failure_is_refused(goes_on: bool) -> None:
    for reading in (lambda m: law(m, ()), lambda m: sample(m, (), 10), lambda m: ledger(m, ())):
        with pytest.raises(MechanismError, match=r"^Catches catches the ValueError of a sub-mechanism \(draw 1\)"):
            reading(Catches(goes_on))


@dataclass(frozen=True)
class Fails(Mechanism):
    error: BaseException

    def run(self, data: Any) -> Program:
        yield Bernoulli(0.5)
        raise self.error


@pytest.mark.parametrize("error", [DatasetError("Not these."), NotEnumerableError("No law."), MechanismError("Mine.")])
def test_dpaudits_own_errors_are_no_outcomes(error: Exception) -> None:
    for reading in (lambda m: law(m, ()), lambda m: sample(m, (), 10)):
        with pytest.raises(type(error)) as caught:
            reading(Fails(error))
        assert caught.value is error


@pytest.mark.parametrize("error", [MemoryError("full"), RecursionError("deep")])
def test_what_says_nothing_about_the_program_is_no_outcome(error: Exception) -> None:
    for reading in (lambda m: law(m, ()), lambda m: sample(m, (), 10)):
        with pytest.raises(MechanismError, match=rf"^Fails raised {type(error).__name__}"):
            reading(Fails(error))


# -- audits


def _audit(mechanism: Any, **more: Any) -> Audit:
    (audit,) = dpaudit.audit(mechanism, pair=PAIR, seed=3, **{"runs": 3000, **more}).audits
    return audit


@pytest.mark.parametrize("black_box", [False, True])
def test_raising_on_one_dataset_alone_is_refuted(black_box: bool) -> None:
    audit = _audit(Odd(), black_box=black_box)
    assert audit.verdict is Verdict.FAIL
    assert audit.event is not None
    assert "raises ValueError" in audit.event.description
    notes = [note for note in audit.notes if note.sentence.startswith("A failure counts as an output")]
    if black_box:
        (note,) = notes
        assert " times on D and 0 of " in note.sentence
    else:
        said = "it raises ValueError with probability 0.125 on D and 0 on D′ (as in ValueError: bit "
        assert said in notes[0].sentence
        assert audit.delta_exact == pytest.approx(0.125)


@pytest.mark.parametrize("black_box", [False, True])
def test_raising_on_both_alike_is_not(black_box: bool) -> None:
    audit = _audit(Odd(p=0.25, q=0.25), black_box=black_box, runs=6000)
    assert audit.verdict is Verdict.PASS
    if not black_box:
        assert audit.epsilon_exact == 0


@pytest.mark.parametrize(("delta", "verdict"), [(0.125, Verdict.PASS), (0.124, Verdict.FAIL)])
def test_verify_knows_its_delta(delta: float, verdict: Verdict) -> None:
    result = dpaudit.verify(Odd(delta=delta, epsilon=0.2), data="integers(0, 1)", size=1, groups=1)
    (audit,) = result.audits
    assert audit.verdict is verdict
    assert any("raises ValueError with probability" in note.sentence for note in audit.notes)


def test_verify_knows_its_epsilon() -> None:
    """Pr[raises] is 1/4 and 1/8: ε = ln 2 and no less."""
    for epsilon, verdict in ((math.log(2) + 1e-6, Verdict.PASS), (math.log(2) - 1e-6, Verdict.FAIL)):
        mechanism = Odd(p=0.25, q=0.125, epsilon=epsilon)
        (audit,) = dpaudit.verify(mechanism, data="integers(0, 1)", size=1, groups=1).audits
        assert audit.verdict is verdict


def test_worst_finds_it() -> None:
    (audit,) = dpaudit.worst(Odd(p=0.25, q=0.125), data="integers(0, 1)", size=3).audits
    assert audit.verdict is Verdict.FAIL
    assert audit.epsilon_exact == pytest.approx(math.log(2))


def test_raising_on_every_path_of_one_dataset_alone() -> None:
    """That a record is there can be seen with certainty."""
    audit = _audit(Odd(p=1.0))
    assert audit.verdict is Verdict.FAIL
    assert audit.delta_exact == pytest.approx(1.0)


@dataclass(frozen=True)
class Always(Mechanism):
    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, data: Any) -> Program:
        yield Bernoulli(0.5)
        raise ValueError("broken")


@pytest.mark.parametrize("black_box", [False, True])
def test_raising_on_every_path_is_a_crash(black_box: bool) -> None:
    audit = _audit(Always(), black_box=black_box)
    assert (audit.verdict, audit.crashed) == (Verdict.INCONCLUSIVE, True)
    assert audit.reason.startswith("Always raised ValueError: broken (test_failures_of_mechanisms.py, line ")
    assert audit.epsilon_exact is None


def test_verify_of_one_that_raises_on_every_path() -> None:
    (audit,) = dpaudit.verify(Always(), data="integers(0, 1)", size=2, groups=1).audits
    assert (audit.verdict, audit.crashed) == (Verdict.INCONCLUSIVE, True)
    assert "Always raised ValueError: broken (test_failures_of_mechanisms.py, line " in audit.reason


# -- what looks at outcomes otherwise


def test_symmetries_leave_failures_as_they_are() -> None:
    move = Symmetry("0 ↔ 1", lambda x: 1 - x, lambda h: 1 - h)
    assert (move.on(0), move.on(VALUE)) == (1, VALUE)


@dataclass(frozen=True)
class Noisy(Mechanism):
    """Real noise; raises where it is large."""

    raises: bool = True

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, data: Any) -> Program:
        x = yield Laplace(float(sum(data)), 1.0)
        if self.raises and x > 3:
            raise ValueError("large")
        return x


def test_noise_that_a_program_looks_at_is_not_released() -> None:
    with pytest.raises(NotEnumerableError):
        released(Noisy(), (1,), (0,))
    assert len(released(Noisy(raises=False), (1,), (0,)).draws) == 1


def test_failures_beside_real_noise() -> None:
    outputs = sample(Noisy(), (1,), 2000, seed=1)
    assert outputs.counts[VALUE] + len(outputs.reals) == 2000
    assert outputs.reals.max() <= 3
    assert _audit(Noisy(), runs=4000).verdict is Verdict.PASS


def test_by_hand_and_by_function() -> None:
    """The same program as a function: the same outcome, counted alike."""

    def f(data: Any, rng: np.random.Generator) -> int:
        if 1 in data and rng.random() < 0.125:
            raise ValueError("odd")
        return int(rng.random() < 0.5)

    (audit,) = dpaudit.audit(f, epsilon=0.5, pair=PAIR, runs=3000, seed=3).audits
    assert audit.verdict is Verdict.FAIL
    assert audit.event is not None
    assert _audit(Odd(), black_box=True).event == replace(audit.event)


def test_a_vectorised_function_says_what_to_do() -> None:
    def f(data: Any, rng: np.random.Generator, size: int) -> Any:
        if size > 100:
            raise ValueError("too many")
        return rng.laplace(sum(data), 1, size)

    (unit,) = [Unit((1,), 200, SeedSequence(1))]
    with pytest.raises(MechanismError, match=r"takes all samples of its call with it; write it as f\(dataset, rng\)"):
        list(Runner().run(function_target(f, "f", "here"), [unit]))
    (audit,) = dpaudit.audit(f, epsilon=1.0, pair=PAIR, runs=1000).audits
    assert audit.crashed
    assert "ValueError: too many (test_failures_of_mechanisms.py, line " in audit.reason


def test_outcomes_beside_failures_keep_their_kinds() -> None:
    @dataclass(frozen=True)
    class Mixed(Mechanism):
        table: tuple[Any, ...] = field(default=(BOTTOM, 1.5, "x", (1, 2)))

        def run(self, data: Any) -> Program:
            at = yield Categorical((0, 1, 2, 3, 4), (0.2,) * 5)
            return self.table[at]

    found = law(Mixed(), ()).as_dict()
    assert found == pytest.approx({BOTTOM: 0.2, 1.5: 0.2, "x": 0.2, (1, 2): 0.2, Raised("IndexError"): 0.2})
