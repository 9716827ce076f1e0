"""The tree of errors, and the checks that raise them."""

from __future__ import annotations

import ast
import pickle
import re
import string
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpaudit import errors
from dpaudit.language import ceil_log2, checks, log_star
from dpaudit.options import CERTIFY, PAIR, RUNS, SEED, Door

ALL = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]


def test_one_tree_with_exit_codes() -> None:
    assert all(issubclass(kind, errors.DpauditError) for kind in ALL)
    codes = {kind.__name__: kind.exit_code for kind in ALL}
    assert set(codes.values()) == {2, 3, 4}
    assert {name for name, code in codes.items() if code == 4} == {
        "InternalError", "MechanismError", "NondeterministicMechanismError", "OutputError", "SymmetryError",
        "WriterError",
    }
    assert {name for name, code in codes.items() if code == 3} == {"TimeLimitError"}
    assert all(kind.__doc__ for kind in ALL)


def test_mistakes_in_values_are_value_errors_too() -> None:
    for kind in (errors.ParameterError, errors.DatasetError, errors.PairError):
        assert issubclass(kind, ValueError)


def test_unknown_names_say_what_is_close() -> None:
    assert str(errors.UnknownNameError("algorithm", "RecPrefx", ("RecPrefix",))) == (
        "There is no algorithm called 'RecPrefx'. Did you mean RecPrefix?"
    )
    assert "Did you mean a or b?" in str(errors.UnknownNameError("algorithm", "x", ("a", "b")))
    assert "`dpaudit list`" in str(errors.UnknownNameError("algorithm", "x"))
    assert errors.UnknownNameError("algorithm", "x", ("a",)).closest == ("a",)


@pytest.mark.parametrize(
    ("door", "said"),
    [
        ("command line", "Leave --pair, --certify or --runs out: choose another --seed."),
        ("Python", "Leave pair, certify=True or runs out: choose another seed."),
        ("pytest", "Leave pair, certify or runs (--dp-runs) out: choose another --dp-seed."),
    ],
)
def test_every_front_end_names_options_in_its_own_way(door: Door, said: str) -> None:
    inner = errors.UsageError("choose another {}", SEED)
    error = errors.UsageError("Leave {}, {} or {} out: {}.", PAIR, CERTIFY, RUNS, inner)
    assert error.at(door) == pickle.loads(pickle.dumps(error)).at(door) == said
    assert str(error) == error.at("command line")


def test_braces_of_a_sentence_without_values_stay() -> None:
    assert str(errors.DatasetError("{0} is a set.")) == "{0} is a set."


SOURCES = [path for path in sorted(Path(errors.__file__).parent.rglob("*.py")) if "cli" not in path.parts]


def calls(path: Path) -> Iterator[ast.Call]:
    """Calls that make an error from a sentence with values."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            kind = getattr(errors, node.func.id, None)
            if kind in ALL and "__init__" not in vars(kind):
                yield node


def test_sentences_have_a_place_for_each_value() -> None:
    found = 0
    for path in SOURCES:
        for call in calls(path):
            text, *values = call.args
            assert isinstance(text, ast.Constant), f"{path.name}:{call.lineno}: the sentence is no plain text"
            places = [name for _, name, _, _ in string.Formatter().parse(text.value) if name is not None]
            assert len(places) == len(values), f"{path.name}:{call.lineno}"
            found += 1
    assert found > 40


def test_sentences_take_the_names_of_options_from_the_table() -> None:
    """Only what the command line or pytest alone shows writes their options out; `dpaudit …` is a command."""
    option = re.compile(r"(?<![\w`-])--(?!dp-)[a-z]+")
    for path in SOURCES:
        if path.parent.name == "pytest_plugin" or path.name in ("options.py", "files.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            texts = node.args if isinstance(node, ast.Call) else []
            for text in (part for one in texts for part in ast.walk(one)):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    without_commands = re.sub(r"`[^`]*`", "", text.value)
                    assert not option.search(without_commands), f"{path.name}:{text.lineno}: {text.value}"


NO_NUMBERS = [True, "1", None, float("nan"), float("inf"), -float("inf"), 10**400, 1j, [1]]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_no_number(value: object) -> None:
    for check in (checks.number, checks.positive, checks.probability, lambda n, v: checks.at_least(n, v, 0)):
        with pytest.raises(errors.ParameterError, match=r"^alpha must be "):
            check("alpha", value)  # type: ignore[operator]


@pytest.mark.parametrize("value", [0.5, np.float64(0.5), np.float32(0.5), Fraction(1, 2)])
def test_numbers(value: object) -> None:
    assert checks.number("a", value) == checks.positive("a", value) == checks.probability("a", value) == 0.5
    assert type(checks.number("a", value)) is float


def test_ranges() -> None:
    assert checks.probability("p", 0) == 0.0
    assert checks.probability("p", 1) == 1.0
    assert checks.at_least("p", 2, 2) == 2.0
    for refused in (
        lambda: checks.positive("a", 0), lambda: checks.positive("a", -1), lambda: checks.at_least("a", 1, 2),
        lambda: checks.probability("a", 1.01), lambda: checks.probability("a", -0.01),
        lambda: checks.probability("a", 0, open_ends=True), lambda: checks.probability("a", 1.0, open_ends=True),
        lambda: checks.whole("a", -1, least=0),
    ):
        with pytest.raises(errors.ParameterError, match=r"^a must .*\.$"):
            refused()


@pytest.mark.parametrize("value", [True, 2.0, "2", None, np.float64(2), np.array([1, 2]), np.bool_(True)])
def test_no_whole_number(value: object) -> None:
    with pytest.raises(errors.ParameterError, match="whole number"):
        checks.whole("n", value)


def test_whole_numbers() -> None:
    assert checks.whole("n", np.int64(3), least=3) == 3
    assert type(checks.whole("n", np.int64(3))) is int
    assert checks.whole("n", 10**400) == 10**400


def test_logarithms() -> None:
    assert [ceil_log2(n) for n in (1, 2, 3, 4, 5, 1 << 60, (1 << 60) + 1)] == [0, 1, 2, 2, 3, 60, 61]
    assert [log_star(n) for n in (0.5, 1, 2, 4, 5, 16, 17, 65536, 65537, 10**400)] == [0, 0, 1, 2, 3, 3, 4, 4, 5, 5]
    for bad in (float("inf"), float("nan")):
        with pytest.raises(errors.ParameterError, match="finite"):
            log_star(bad)
    with pytest.raises(errors.ParameterError, match="at least 1"):
        ceil_log2(0)
