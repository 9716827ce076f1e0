"""The list of systems, the cards, the findings and the committed verdicts say the same."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

from dpaudit.language import Mechanism
from dpaudit.plans import registry
from dpaudit.results.model import Verdict
from dpaudit_algorithms.findings import FINDINGS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import systems as listing  # noqa: E402
import verdict_rows  # noqa: E402
from systems import systems, table  # noqa: E402
from verdict_rows import UtilityRow, Verdicts  # noqa: E402

RELATIONS = {"RO": {"replace-one"}, "AR": {"add-remove-one"}, "PRIV": {"private-rows"}, "": {"replace-one"}}
DOCUMENTS = {"notes", "overview", "half-spaces", "thesis", "mixtures"}


@cache
def verdicts() -> Verdicts:
    return verdict_rows.load()


def kinds() -> dict[str, type[Mechanism]]:
    return {name: registry.algorithm(name) for name in registry.names()}


@cache
def on_purpose() -> set[tuple[str, str]]:
    """(algorithm, case) of what runs something wrong to see it caught, or says of a private algorithm what is false."""
    found = set()
    for name in registry.names():
        plan = registry.plan(name)
        cases = (*plan.cases(), *(plan.utility() if plan.utility is not None else ()))
        found |= {(name, case.label) for case in cases if case.deliberate}
    return found


@pytest.mark.slow
def test_what_is_wrong_on_purpose_is_expected_to_fail() -> None:
    for name in registry.names():
        plan = registry.plan(name)
        for case in (*plan.cases(), *(plan.utility() if plan.utility is not None else ())):
            assert not case.deliberate or case.expected is Verdict.FAIL, (name, case.label)


def test_entries_are_whole_and_distinct() -> None:
    ids = [entry.id for entry in systems() if not entry.only]
    assert len(set(ids)) == len(ids)
    for entry in systems():
        assert entry.only or entry.document in DOCUMENTS, entry.id
        assert entry.relation in RELATIONS, entry.id
        assert all(text.strip() for text in (entry.name, entry.place, entry.claim)), entry.id


def test_every_algorithm_is_in_the_table_once() -> None:
    ids = {entry.id for entry in systems() if not entry.only} | {""}
    for name, kind in kinds().items():
        assert kind.card is not None
        assert kind.card.system in ids, f"the card of {name} names a system that algorithms/systems.toml does not list"
    assert sorted(name for entry in systems() for name in entry.algorithms) == sorted(registry.names())


def test_an_algorithm_of_no_system_has_a_row_of_its_own_once_it_was_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "_algorithms", lambda: {"": ["ADist"]})
    assert systems()[-1].algorithms == ["ADist"]
    assert systems()[-1].source == kinds()["ADist"].card.source  # type: ignore[union-attr]
    assert "\n| – |" in table(verdicts(), "")
    assert "\n| – |" not in table(Verdicts([], []), "")


@pytest.mark.slow(only=["PackingGame"])
@pytest.mark.parametrize("name", registry.names())
def test_claims_are_under_the_systems_relation(name: str) -> None:
    (entry,) = (entry for entry in systems() if name in entry.algorithms)
    if entry.only:
        return
    found = {case.tested.relation.kind for case in registry.plan(name).cases() if case.tested is not None}
    assert found & RELATIONS[entry.relation], f"{name} ({entry.id}, {entry.relation}) is audited under {found}"


def test_findings_are_of_what_fails_and_nothing_else() -> None:
    """Private algorithms that fail have a finding, those that don't have none; all exist."""
    found = {name: n for entry in systems() for name, n in entry.findings.items()}
    cards = {name: kind.card for name, kind in kinds().items()}
    failed = {
        row.algorithm for row in verdicts().every
        if row.verdict == Verdict.FAIL and cards[row.algorithm] is not None
        and (isinstance(row, UtilityRow) or cards[row.algorithm].private)  # type: ignore[union-attr]
        and (row.algorithm, row.case) not in on_purpose()
    }
    audited = {n for n, one in FINDINGS.items() if one.case}
    assert failed == {name for name, several in found.items() if audited & set(several)}
    assert {n for several in found.values() for n in several} == set(FINDINGS)


def test_verdicts_are_of_algorithms_that_there_are() -> None:
    """One without is new, and gets its rows with the next `make report`."""
    assert {row.algorithm for row in verdicts().privacy} <= set(registry.names())
    guaranteed = {name for name in registry.names() if registry.plan(name).utility is not None}
    assert {row.algorithm for row in verdicts().utility} <= guaranteed


def test_the_table_has_a_row_for_every_system_and_algorithm() -> None:
    rows = table(verdicts(), "").splitlines()[2:]
    audited = {row.algorithm for row in verdicts().every}
    listed = [entry for entry in systems() if not entry.only]
    names = [[name for name in entry.algorithms if name in audited] for entry in listed]
    others = [entry.only for entry in systems() if entry.only in audited]
    assert len(rows) == sum(max(1, len(several)) for several in names) + len(others)
    for entry in listed:
        assert any(row.startswith(f"| {entry.id} |") for row in rows)
