"""Which adapters there are: dpaudit's own, those that packages register, and what they are told to be wrong with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import pytest
from numpy.random import Generator

import dpaudit
from dpaudit.cli.cards import adapters_listing
from dpaudit.cli.doctor import _adapters
from dpaudit.errors import UsageError
from dpaudit.language import Claim
from dpaudit.subjects.adapters import Adapted, adapted, known, recognised, table
from dpaudit.subjects.adapters import opendp as opendp_adapter

Register = Callable[..., None]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A library with a mechanism, and its adapter in another package."""
    module, adapter = ModuleType("noiselib.core"), ModuleType("noiselib_dpaudit")
    exec("class Laplace:\n    epsilon = 2.0\nclass Own(Laplace):\n    pass\ndef release(): pass\n", vars(module))

    def wrap(target: Any) -> Adapted:
        claim = Claim(target.epsilon)
        return Adapted("noiselib Laplace", claim, "noiselib", draw)

    def draw(dataset: Any, rng: Generator, size: int) -> list[float]:
        return [float(one) for one in rng.laplace(dataset[0], 1, size)]

    vars(adapter).update(wrap=wrap, other=lambda target: 3, failing=lambda target: 1 / 0)
    monkeypatch.setitem(sys.modules, "noiselib.core", module)
    monkeypatch.setitem(sys.modules, "noiselib_dpaudit", adapter)
    return module


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """Registers adapters as installed packages do: (name, value), …"""

    def registered(*rows: tuple[str, str]) -> None:
        points = [EntryPoint(name, value, table.GROUP) for name, value in rows]
        monkeypatch.setattr(table, "entry_points", lambda group: points)
        table.registered.cache_clear()

    registered()
    yield registered
    monkeypatch.undo()
    table.registered.cache_clear()


def test_a_registered_adapter_takes_objects_of_its_module(library: Any, register: Register) -> None:
    register(("noiselib", "noiselib_dpaudit:wrap"))
    made = adapted(library.Laplace())
    assert isinstance(made, Adapted)
    assert made.claim == Claim(2.0)
    found = recognised(library.Own())
    assert found is not None
    assert (found.of, found.wrap) == ("noiselib", "noiselib_dpaudit:wrap")
    result = dpaudit.audit(library.Laplace(), pair=([0.0], [1.0]), runs=500)
    assert (result.audit.name, result.audit.claim.epsilon) == ("noiselib Laplace", 2.0)


def test_the_longest_name_wins(library: Any, register: Register) -> None:
    register(
        ("noiselib", "noiselib_dpaudit:other"), ("noiselib.core.Own", "noiselib_dpaudit:wrap"),
        ("noiselib.cor", "noiselib_dpaudit:failing"),
    )
    assert isinstance(adapted(library.Own()), Adapted)
    found = recognised(library.Laplace())
    assert found is not None
    assert found.of == "noiselib"


def test_an_adapter_that_fails_is_one_sentence(library: Any, register: Register) -> None:
    register(("noiselib", "noiselib_dpaudit:other"))
    said = "The adapter noiselib_dpaudit:other of noiselib returned .int.; it must return an Adapted"
    with pytest.raises(UsageError, match=said):
        adapted(library.Laplace())
    register(("noiselib", "noiselib_dpaudit:failing"))
    with pytest.raises(UsageError, match="The adapter noiselib_dpaudit:failing of noiselib failed: ZeroDivisionError"):
        adapted(library.Laplace())
    register(("noiselib", "no_such_module_at_all:wrap"))
    with pytest.raises(UsageError, match="failed: ModuleNotFoundError"):
        adapted(library.Laplace())


def test_two_adapters_of_one_name_are_refused_when_they_matter(library: Any, register: Register) -> None:
    register(("noiselib", "noiselib_dpaudit:wrap"), ("noiselib", "noiselib_dpaudit:other"))
    with pytest.raises(UsageError, match="Adapters of noiselib are registered twice"):
        adapted(library.Laplace())
    assert _adapters().good is False
    # functions of the user's own are audited as before
    user = ModuleType("__main__")
    exec("def f(data, rng): return 0", vars(user))
    assert adapted(user.f) is user.f


def test_what_nobody_registered_is_left_alone(library: Any, register: Register) -> None:
    target = library.Laplace()
    assert adapted(target) is target
    assert recognised(target) is None
    assert recognised("file.py:f") is None
    assert recognised(len) is None


def test_they_are_listed(register: Register) -> None:
    register(("noiselib", "noiselib_dpaudit:wrap"))
    assert [one.library for one in known()] == ["OpenDP", "diffprivlib", "python-dp", "pipeline-dp", "noiselib"]
    lines = adapters_listing().splitlines()
    assert lines[0].startswith("OpenDP ")
    assert "objects of noiselib, by noiselib_dpaudit:wrap" in lines[4]


def test_the_top_of_the_package_has_them() -> None:
    assert dpaudit.adapters.opendp is opendp_adapter
    assert dpaudit.adapters.recognised is recognised
    assert "adapters" in dir(dpaudit)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = dpaudit.adapters.nothing
