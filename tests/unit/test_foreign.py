"""Objects that cannot be audited: the message shows the class, what was tried, and what to do."""

from __future__ import annotations

import functools
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from typed_commands import Typed

import dpaudit
from dpaudit.errors import UsageError
from dpaudit.subjects.foreign import class_name, refused

TRIED = (
    "which dpaudit cannot audit: it is not a function f(dataset, rng) or f(dataset, rng, size), not a Mechanism of "
    "dpaudit.language, and not an object of OpenDP, diffprivlib, python-dp or pipeline-dp."
)
FILE = """
import math

count = 5


class Counter:
    def __init__(self, epsilon):
        self.epsilon = epsilon

    def release(self, dataset, rng):
        return len(dataset)


class Pipeline:
    def fit(self, records):
        return self


class Called:
    def __call__(self, records):
        return 0


counter, pipeline, called = Counter(1), Pipeline(), Called()
"""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("count", f"count is an int, {TRIED} Write a function that takes a dataset and returns what you release."),
        ("counter", f"counter is a my.Counter, {TRIED} Did you mean its method, counter.release?"),
        (
            "pipeline",
            f"pipeline is a my.Pipeline, {TRIED} Write a function that fits it to the dataset and returns what you "
            "publish, such as its coefficients.",
        ),
        ("math", f"math is the module math, {TRIED} Name a function of it."),
        ("Counter", "Counter is the class my.Counter and takes (epsilon); dpaudit calls functions, as f(dataset, rng)"),
        ("called", "called (a my.Called) takes (records); dpaudit calls it as f(dataset, rng) → one output"),
        ("Counter.release", "It is a method: name that of an object, not of its class."),
        ("math.hypot", "math.hypot (builtin_function_or_method) has no readable signature; wrap it as f(dataset, rng)"),
    ],
)
def test_from_the_command_line(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.py").write_text(FILE, encoding="utf-8")
    if name == "math.hypot" and _has_signature(math.hypot):
        says = "math.hypot takes (coordinates)"
    said = typed(f"check my.py:{name} --epsilon 1 --pair [0] [1]")
    assert said.code == 2
    assert says in said.err


def _has_signature(function: object) -> bool:
    return getattr(function, "__text_signature__", None) is not None


def test_the_method_that_is_advised_is_audited(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.py").write_text(FILE, encoding="utf-8")
    assert typed("check my.py:counter.release --epsilon 1 --pair [0] [1] --runs 200").code in (0, 3)


@pytest.mark.parametrize("given", [{}, {"epsilon": 1, "pair": ([0], [1])}])
def test_from_python(given: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"What was given is a numpy\.ndarray, .* It is data: name the function"):
        dpaudit.audit(np.zeros(3), **given)  # type: ignore[arg-type]  # which is the mistake


def test_the_module_of_a_class_is_the_one_that_people_import_from(monkeypatch: pytest.MonkeyPatch) -> None:
    package, inner = ModuleType("frames"), ModuleType("frames._core.table")
    kind = type("Table", (), {"__module__": "frames._core.table"})
    monkeypatch.setattr(inner, "Table", kind, raising=False)
    monkeypatch.setitem(sys.modules, "frames", package)
    monkeypatch.setitem(sys.modules, "frames._core.table", inner)
    assert class_name(kind()) == "frames._core.table.Table"
    monkeypatch.setattr(package, "Table", kind, raising=False)
    assert class_name(kind()) == class_name(kind) == "frames.Table"
    assert class_name(functools.partial(print)) == "functools.partial"
    assert class_name(True) == "bool"


def test_nothing_of_the_object_is_run() -> None:
    class Trap:
        @property
        def released(self) -> int:
            raise AssertionError

    assert "Trap" in refused(Trap(), "trap")
    assert refused(None, "nothing").startswith("nothing is None, which")
