"""Names, and the tables of installed packages that they come from."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import audit_toys
import pytest
from typed_commands import Register

from dpaudit.errors import UnknownNameError, UsageError
from dpaudit.language import Mechanism
from dpaudit.plans import registry


@pytest.mark.usefixtures("catalogue")
def test_names_and_what_they_are() -> None:
    assert list(registry.names()) == list(audit_toys.ALGORITHMS)
    assert registry.algorithm("Response") is audit_toys.Response
    assert registry.plan("Choice") is audit_toys.CHOICE
    assert registry.canonical_name("Choice") == "Choice"


@pytest.mark.usefixtures("catalogue")
@pytest.mark.parametrize(
    ("name", "closest"),
    [
        ("response", ("Response",)),
        ("RE-SPONSE", ("Response",)),
        ("Respnse", ("Response",)),
        ("choce", ("Choice",)),
        ("qqqqqq", ()),
        ("", ()),
    ],
)
def test_closest_names(name: str, closest: tuple[str, ...]) -> None:
    with pytest.raises(UnknownNameError) as caught:
        registry.canonical_name(name)
    assert caught.value.closest == closest
    assert str(caught.value).endswith("?" if closest else "`dpaudit list` shows all names.")


@pytest.mark.usefixtures("catalogue")
def test_an_algorithm_without_audits() -> None:
    with pytest.raises(UsageError, match="Broken has no audits"):
        registry.plan("Broken")


@pytest.mark.usefixtures("catalogue")
def test_rows_that_cannot_be_loaded() -> None:
    with pytest.raises(UsageError, match=r"Broken \(no_such_module_at_all:Broken\) cannot be loaded: ModuleNotFound"):
        registry.algorithm("Broken")
    with pytest.raises(UsageError, match="is no mechanism class"):
        registry.algorithm("NoClass")
    with pytest.raises(UsageError, match="is no plan"):
        registry.plan("NoClass")


def test_several_packages(register: Register) -> None:
    register([{"A": "a:A"}, {"B": "b:B", "A": "a:A"}], [{}])
    assert registry.names() == {"A": "a:A", "B": "b:B"}
    register([{"A": "a:A"}, {"A": "other:A"}], [{}])
    with pytest.raises(UsageError, match="A is registered twice, as a:A and as other:A"):
        registry.names()


@pytest.mark.parametrize("table", [ImportError("gone"), 3, "abc"])
def test_a_table_that_is_none(register: Register, table: object) -> None:
    register([table], [{}])
    with pytest.raises(UsageError, match=r"The entry point toys0:T \(dpaudit.algorithms\) cannot be loaded"):
        registry.names()


def test_nothing_installed(register: Register) -> None:
    register([], [])
    assert registry.names() == {}
    with pytest.raises(UnknownNameError):
        registry.canonical_name("A")


def test_a_module_is_searched_for_cards_and_plans(
    register: Register, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ours.py").write_text(OURS)
    monkeypatch.syspath_prepend(tmp_path)
    ours = importlib.import_module("ours")
    register([ours], [ours])
    assert registry.names() == {"Two": "ours:Two", "Ten": "ours:Ten", "Nine": "ours:Nine"}
    assert registry.names(registry.AUDITS) == {"Ten": "ours:TEN"}
    assert registry.algorithm("Ten") is ours.Ten


OURS = """
from dataclasses import replace
from dpaudit.language import Card, Mechanism
from dpaudit.plans.plan import Plan

def plane_of(name):
    return name

class Ten(Mechanism):
    def run(self, dataset):
        return 10

class Two(Ten):
    pass

class Nine(Ten):
    pass

class Part(Ten):
    pass

Ten.card = Card(
    name="Ten", system="O10", title="ten", paper="ours", place="1", claim="0-DP", inputs="any", output="10",
)
Two.card = Card(
    name="Two", system="O2", title="two", paper="ours", place="1", claim="0-DP", inputs="any", output="10",
)
Nine.card = replace(Ten.card, name="Nine")
_PART = replace(Ten.card, name="Part")
Part.card = _PART
TEN = Plan("Ten", lambda: ())
FIGURE = plane_of("Ten")
"""


@pytest.mark.parametrize(
    ("package", "unregistered"), [("dpaudit_algorithms", {"RecPrefixLevel"}), ("dpaudit_algorithms.corpus", set())]
)
def test_every_card_is_found_without_imports(package: str, unregistered: set[str]) -> None:
    top = importlib.import_module(package)
    carded = {
        kind.__name__
        for found in pkgutil.walk_packages(top.__path__, f"{package}.")
        if not found.name.startswith("dpaudit_algorithms.corpus") or package.endswith("corpus")
        for kind in vars(importlib.import_module(found.name)).values()
        if isinstance(kind, type) and "card" in vars(kind) and kind.__module__ == found.name and kind is not Mechanism
    }
    assert carded - unregistered == set(registry.defined_in(top, registry.ALGORITHMS))
