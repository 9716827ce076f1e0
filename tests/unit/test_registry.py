"""Names, and the tables of installed packages that they come from."""

from __future__ import annotations

import audit_toys
import pytest
from typed_commands import Register

from dpaudit.errors import UnknownNameError, UsageError
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
    with pytest.raises(UnknownNameError, match="There is no audit called 'Broken'"):
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
