"""Fields that state their check in their annotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from dpaudit.language import ParameterError, checks


@dataclass(frozen=True)
class Parent(checks.Checked):
    epsilon: checks.Positive
    size: Annotated[int, checks.least(2)] = 2
    most: checks.Count | None = None
    ties: Literal["first", "last"] = "first"
    free: int = 0


@dataclass(frozen=True)
class Child(Parent):
    delta: checks.OpenUnit = 0.5
    size: checks.Natural = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta > self.epsilon:
            raise ParameterError("delta must be at most epsilon.")


@dataclass(frozen=True)
class Defaults(Parent):
    epsilon: float = 1.0
    most: int | None = 3


@pytest.mark.parametrize("kwargs", [{}, {"most": None}, {"most": 1, "ties": "last"}, {"free": "unchecked"}])
def test_values_in_range_pass(kwargs: dict[str, Any]) -> None:
    assert Parent(1.0, **kwargs).epsilon == 1
    assert Child(1.0, **kwargs).size == 0


@pytest.mark.parametrize(
    ("kind", "kwargs", "sentence"),
    [
        (Parent, {"epsilon": 0}, "epsilon must be above 0, not 0."),
        (Parent, {"epsilon": "1"}, "epsilon must be a number, not '1'."),
        (Parent, {"epsilon": 1.0, "size": 1}, "size must be at least 2, not 1."),
        (Parent, {"epsilon": 1.0, "most": 0}, "most must be at least 1, not 0."),
        (Parent, {"epsilon": 1.0, "most": 1.0}, "most must be a whole number, not 1.0."),
        (Parent, {"epsilon": 1.0, "ties": "none"}, "ties must be 'first' or 'last', not 'none'."),
        (Child, {"epsilon": 0}, "epsilon must be above 0, not 0."),
        (Child, {"epsilon": 1.0, "size": -1}, "size must be at least 0, not -1."),
        (Child, {"epsilon": 1.0, "delta": 1.0}, "delta must lie strictly between 0 and 1, not 1.0."),
        (Child, {"epsilon": 0.1, "delta": 0.2}, "delta must be at most epsilon."),
    ],
)
def test_values_outside_are_refused_with_one_sentence(kind: Any, kwargs: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as raised:
        kind(**kwargs)
    assert str(raised.value) == sentence


@pytest.mark.parametrize("kwargs", [{"epsilon": 0}, {"most": 0}])
def test_another_default_keeps_the_check(kwargs: dict[str, Any]) -> None:
    assert Defaults() == Defaults(1.0, 2, 3)
    with pytest.raises(ParameterError, match="must be"):
        Defaults(**kwargs)


def test_an_annotation_that_only_type_checkers_know_is_documentation() -> None:
    @dataclass(frozen=True)
    class Local(checks.Checked):
        pair: NoSuchName  # type: ignore[name-defined]  # noqa: F821
        note: "any text at all"  # type: ignore[valid-type]  # noqa: F722
        epsilon: checks.Positive

    assert Local((), 3, 1.0).pair == ()
    with pytest.raises(ParameterError):
        Local((), 3, 0)
