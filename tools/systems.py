"""The table of all systems: what `algorithms/systems.toml` lists, with the verdicts of `reports/*.csv`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dpaudit.plans import registry
from dpaudit.report.numbers import small, stated
from dpaudit.results.model import Verdict
from verdict_rows import PrivacyRow, UtilityRow, Verdicts

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "algorithms" / "systems.toml"
DOCUMENTS = {
    "notes": "lecture notes", "overview": "overview", "half-spaces": "half-spaces paper", "thesis": "thesis",
    "mixtures": "mixtures paper",
}
OTHERS = "others"
"""In place of a document, for algorithms whose cards name no system of the list."""
RELATIONS = {"RO": "replace-one", "AR": "add-remove-one", "PRIV": "private rows", "": "–"}


@dataclass(frozen=True)
class System:
    """One entry of the list, or an algorithm that belongs to none of them, `only`."""

    id: str
    name: str
    document: str
    place: str
    claim: str
    relation: str
    only: str = ""

    @property
    def algorithms(self) -> list[str]:
        """The registered names whose cards say that they belong to it; none: not built yet."""
        return [self.only] if self.only else _algorithms().get(self.id, [])

    @property
    def findings(self) -> dict[str, list[int]]:
        """The numbers of the findings about its algorithms, by name; only of those that have some."""
        cards = [registry.algorithm(name).card for name in self.algorithms]
        found = [(card.name, card.findings) for card in cards if card is not None and card.findings]
        return {name: [one.number for one in findings] for name, findings in found}

    @property
    def source(self) -> str:
        """Document and place."""
        return self.place if self.document == OTHERS else f"{DOCUMENTS[self.document]}, {self.place}"


@cache
def _algorithms() -> dict[str, list[str]]:
    """A system's id → names."""
    by_system: dict[str, list[str]] = {}
    for name in registry.names():
        card = registry.algorithm(name).card
        assert card is not None  # it was found by its card
        by_system.setdefault(card.system, []).append(name)
    return by_system


def systems() -> list[System]:
    """The list, in its order, and then the algorithms that belong to none of it."""
    with LIST.open("rb") as file:
        listed = [System(**entry) for entry in tomllib.load(file)["system"]]
    cards = [card for name in _algorithms().get("", []) if (card := registry.algorithm(name).card) is not None]
    return listed + [
        System("–", card.title, OTHERS, card.source, card.claim, "", only=card.name) for card in cards
    ]


def table(verdicts: Verdicts, link: str) -> str:
    """Every system with its algorithms that were audited, their verdicts and findings.

    Cases that run something wrong on purpose are left out, but of what is always wrong.

    Args:
        verdicts: of the whole catalogue.
        link: path from where the table is to the folder of docs/.
    """
    columns = (
        *("id", "system", "where", "claim as printed", "relation", "algorithm", "privacy"),
        *("ε, worst case of its audits", "utility", "finding"),
    )
    lines = [f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
    audited = {row.algorithm for row in verdicts.every}
    for system in systems():
        head = [system.id, system.name, system.source, system.claim, RELATIONS[system.relation]]
        for name in [name for name in system.algorithms if name in audited] or [""] * (not system.only):
            numbers = system.findings.get(name, [])
            findings = ", ".join(f"[{number}]({link}docs/findings/{number:02}.md)" for number in numbers)
            outcome = [f"`{name}`", *cells(name, verdicts), findings] if name else ["*none*", "", "", "", ""]
            lines.append("| " + " | ".join(_plain(cell) for cell in (*head, *outcome)) + " |")
            head = [""] * len(head)
    return "\n".join(lines) + "\n"


def cells(name: str, verdicts: Verdicts) -> list[str]:
    """What came out of one algorithm: privacy, worst ε, utility.

    Args:
        name: of the algorithm.
        verdicts: of the whole catalogue.
    """
    plan = registry.plan(name)
    deliberate = {case.label for case in plan.cases() if case.deliberate}
    broken = {case.label for case in (plan.utility() if plan.utility is not None else ()) if case.deliberate}
    every = [row for row in verdicts.privacy if row.algorithm == name]
    rows = [row for row in every if row.case not in deliberate] or every
    guarantees = [row for row in verdicts.utility if row.algorithm == name and row.case not in broken]
    card = registry.algorithm(name).card
    if card is not None and not card.private:
        return ["not private", "", _utility(guarantees)]
    return [_privacy(rows), _worst(rows), _utility(guarantees)]


def _privacy(rows: Sequence[PrivacyRow]) -> str:
    counts = {
        "**FAIL**": sum(row.verdict == Verdict.FAIL for row in rows),
        "proved": sum(row.proved for row in rows),
        "not refuted": sum(row.verdict == Verdict.PASS and not row.proved for row in rows),
        "inconclusive": sum(row.verdict == Verdict.INCONCLUSIVE for row in rows),
    }
    return _counted(counts.items()) or "no audit in the report"


def _worst(rows: Sequence[PrivacyRow]) -> str:
    """The case that needs most of its claim: of those that fail, if any do."""
    failed = [row for row in rows if row.verdict == Verdict.FAIL]
    row = max(failed or rows, key=_share, default=None)
    if row is None or not row.epsilon_text:
        return ""
    return f"{row.epsilon_text} of {stated(row.epsilon)} at δ = {small(row.delta)}"


def _share(row: PrivacyRow) -> float:
    epsilon = row.epsilon_lower or 0.0 if row.epsilon_exact is None else row.epsilon_exact
    return epsilon / max(row.epsilon, 1e-9)


def _utility(rows: Sequence[UtilityRow]) -> str:
    counts = {
        "**FAIL**": sum(row.verdict == Verdict.FAIL for row in rows),
        "kept": sum(row.verdict == Verdict.PASS for row in rows),
        "inconclusive": sum(row.verdict == Verdict.INCONCLUSIVE for row in rows),
    }
    return _counted(counts.items())


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{word} {number}" for word, number in counts if number)


def _plain(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
