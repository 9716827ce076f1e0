"""Programs that are less private than claimed are never proved."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Any

import pytest

from dpaudit.proofs.interpreter import Interpreter
from dpaudit.proofs.prove import prove
from dpaudit.proofs.public import Public
from dpaudit.proofs.results import Proof, Unknown
from dpaudit.proofs.scopes import Domain, Records, Stream
from tests.proofs import (
    attacks_alike,
    attacks_hidden,
    attacks_language,
    attacks_late,
    attacks_numpy,
    attacks_objects,
    attacks_postprocessing,
    attacks_streams,
    attacks_tables,
    attacks_types,
)


@pytest.fixture(autouse=True)
def without_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the interpreter itself refuses, without the comparison with the real program."""
    monkeypatch.setattr("dpaudit.proofs.attempt.replayed", lambda *args, **options: None)


def programs(module: ModuleType, prefix: str) -> list[Any]:
    return [
        each for name, each in vars(module).items()
        if name.startswith(prefix) and inspect.isfunction(each) and each.__module__ == module.__name__
    ]


@pytest.mark.parametrize("program", programs(attacks_streams, "s"), ids=lambda each: each.__name__)
def test_streams(program: Any) -> None:
    assert isinstance(prove(program, Stream(), epsilon=2, refute=False), Unknown)


@pytest.mark.parametrize(("program", "scope"), attacks_tables.CASES, ids=lambda each: getattr(each, "__name__", ""))
def test_tables_masks_and_objects(program: Any, scope: Any) -> None:
    assert isinstance(prove(program, scope, epsilon=1, refute=False), Unknown)


PRIVATE = {"w25", "w26", "x26", "x37", "x59", "y4", "y7", "y8", "y10", "z62", "z67", "z68"}
"""Programs beside the attacks that are as private as claimed: their constants and shapes only look like data."""


@pytest.mark.parametrize(
    "program", [each for each in programs(attacks_numpy, "") if each.__name__[0] in "wxyz"],
    ids=lambda each: each.__name__,
)
def test_numpy_and_containers(program: Any) -> None:
    scope = attacks_numpy.WHERE.get(program.__name__, Records(1, 0, 1))
    outcome = prove(program, scope, epsilon=1, refute=False)
    assert isinstance(outcome, Proof if program.__name__ in PRIVATE else Unknown)


@pytest.mark.parametrize("program", programs(attacks_language, ""), ids=lambda each: each.__name__)
def test_language(program: Any) -> None:
    scope = {"neg": Domain(1, ("a", 0)), "looked": Records(1, 0, 1.5)}.get(program.__name__, Records(1, 0, 1))
    assert isinstance(prove(program, scope, epsilon=1, refute=False), Unknown)


@pytest.mark.parametrize(
    ("program", "scope"), [*attacks_hidden.PROGRAMS, *attacks_late.PROGRAMS],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_hidden(program: Any, scope: Any) -> None:
    assert isinstance(prove(program, scope, epsilon=1, refute=False), Unknown)


@pytest.mark.parametrize(
    ("program", "scope"), [*attacks_types.PROGRAMS, *attacks_postprocessing.PROGRAMS, *attacks_objects.PROGRAMS],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_types_objects_and_post_processing(program: Any, scope: Any) -> None:
    assert isinstance(prove(program, scope, epsilon=1, refute=False), Unknown)


@pytest.mark.parametrize(("program", "scope"), attacks_alike.PROGRAMS, ids=lambda each: getattr(each, "__name__", ""))
def test_values_that_look_alike(program: Any, scope: Any) -> None:
    assert isinstance(prove(program, scope, epsilon=0.1, refute=False), Unknown)


def test_a_stream_needs_no_less_than_a_few_of_its_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what is known of a loop's states is wrong, the paths of four answers say otherwise."""
    compared = Interpreter.one_comparison

    def never_none(self: Interpreter, op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(left, Public) and right is None:
            return isinstance(op, ast.IsNot)
        return compared(self, op, left, right)

    monkeypatch.setattr(Interpreter, "one_comparison", never_none)
    outcome = prove(attacks_types.e1_released_none, Stream(), epsilon=1, refute=False)
    assert isinstance(outcome, Unknown)
    assert "larger ε than streams" in outcome.reason
