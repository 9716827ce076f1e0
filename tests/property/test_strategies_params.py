"""Parameters of mechanisms as strategies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import hypothesis
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dpaudit import strategies as dst
from dpaudit.errors import ParameterError, UnknownNameError
from dpaudit.language import Bernoulli, Mechanism, checks
from dpaudit.plans import registry

quick = settings(max_examples=40)
ONE = settings(phases=[Phase.generate])


@dataclass(frozen=True)
class Answer(Mechanism):
    """Somebody's own mechanism."""

    epsilon: float
    records: int
    loud: bool
    share: float = 0.5

    def __post_init__(self) -> None:
        if self.records % 2:
            raise ParameterError("records must be even.")

    def run(self, dataset: Any) -> Any:
        return Bernoulli(0.5)


@dataclass(frozen=True)
class Fussy(Mechanism):
    """One that takes nothing that is drawn for it."""

    weight: float

    def __post_init__(self) -> None:
        if checks.number("weight", self.weight) < 1e9:
            raise ParameterError("weight must be at least 1e9.")

    def run(self, dataset: Any) -> Any:
        return 0


@dataclass(frozen=True)
class Wrapped(Mechanism):
    """One with a field of no known kind."""

    inner: Mechanism

    def run(self, dataset: Any) -> Any:
        return 0


@quick
@given(dst.mechanism_params(Answer), dst.mechanisms(Answer, epsilon=st.floats(0.1, 0.2), records=6))
def test_a_class_of_ones_own(params: dict[str, Any], made: Answer) -> None:
    assert set(params) == {"epsilon", "records", "loud"}
    assert 0.05 <= params["epsilon"] <= 4
    assert params["records"] % 2 == 0
    assert Answer(**params).share == 0.5
    assert 0.1 <= made.epsilon <= 0.2
    assert made.records == 6


@pytest.mark.parametrize("name", ["ADist", "TreeLog", "RecPrefix", "GaussianClassical", "Rappor", "Median"])
def test_the_catalogue_by_name_class_and_instance(name: str) -> None:
    cls = registry.algorithm(name)
    instance = registry.plan(name).cases()[0].mechanism

    @settings(quick, max_examples=15)
    @given(dst.mechanisms(name), dst.mechanisms(cls), dst.mechanisms(instance))
    def every_one(a: Mechanism, b: Mechanism, c: Mechanism) -> None:
        assert {type(a), type(b)} == {cls}
        assert type(c) is type(instance)

    every_one()


def test_whatever_its_parameters_are() -> None:
    """Of the catalogue and of the corpus a tenth; all of it takes a minute, most of which is making the plans."""
    for name in [*registry.names(), *registry.names(registry.CORPUS)][::10]:
        found = hypothesis.find(dst.mechanisms(name), lambda made: True, settings=settings(ONE, max_examples=20))
        assert isinstance(found, registry.algorithm(name))


def test_epsilon_and_delta_vary() -> None:
    for wanted in (lambda m: m.epsilon > 3, lambda m: m.epsilon < 0.2, lambda m: m.delta <= 1e-9):
        assert wanted(hypothesis.find(dst.mechanisms("ADist"), wanted, settings=ONE))


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: dst.mechanism_params(Answer, epsilom=1.0), ParameterError, "did you mean epsilon"),
        (lambda: dst.mechanism_params(Wrapped), ParameterError, r"mechanism_params\(Wrapped, inner=…\)"),
        (lambda: dst.mechanism_params("Adist"), UnknownNameError, "ADist"),
    ],
)
def test_refused_at_once(make: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        make()


def test_parameters_that_are_all_refused_say_so() -> None:
    with pytest.raises(ParameterError, match=r"rejected all \d+ drawn parameters, the last because: weight must be"):
        hypothesis.find(
            dst.mechanism_params(Fussy), lambda params: True, settings=settings(ONE, max_examples=500)
        )
    fixed = dst.mechanism_params(Fussy, weight=2e9)
    assert hypothesis.find(fixed, lambda params: True, settings=ONE) == {"weight": 2e9}
