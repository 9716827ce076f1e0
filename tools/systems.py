"""The table of all systems: what `algorithms/systems.toml` lists, with the verdicts of the committed report."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from dpaudit.auditing import registry
from dpaudit.auditing.results import Audit, EvidenceKind, Result, UtilityAudit, Verdict
from dpaudit.reporting import wording
from dpaudit.reporting.json_form import from_json
from dpaudit.reporting.numbers import small, stated

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "algorithms" / "systems.toml"
REPORT = ROOT / "reports" / "catalogue.json"
DOCUMENTS = {
    "notes": "lecture notes", "overview": "overview", "half-spaces": "half-spaces paper", "thesis": "thesis",
    "mixtures": "mixtures paper",
}
RELATIONS = {"RO": "replace-one", "AR": "add-remove-one", "PRIV": "private rows", "": "–"}
BEGIN, END = "<!-- systems: written by tools/tables.py -->", "<!-- end of systems -->"


@dataclass(frozen=True)
class System:
    """One entry of the list."""

    id: str
    name: str
    document: str
    place: str
    claim: str
    relation: str
    algorithms: list[str]
    findings: dict[str, list[int]] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Document and place."""
        return f"{DOCUMENTS[self.document]}, {self.place}"


def systems() -> list[System]:
    """The list, in its order."""
    with LIST.open("rb") as file:
        return [System(**entry) for entry in tomllib.load(file)["system"]]


def table(link: str) -> str:
    """Every system with its algorithms, their verdicts and findings, as the committed report has them.

    Cases that run something wrong on purpose are left out, but of what is always wrong.

    Args:
        link: path from where the table stands to the folder of FINDINGS.md.
    """
    result = from_json(REPORT.read_text(encoding="utf-8"), where=REPORT.name)
    columns = (
        *("id", "system", "where", "claim as printed", "relation", "algorithm", "privacy"),
        *("ε, worst case of its audits", "utility", "finding"),
    )
    lines = [f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
    for system in systems():
        head = [system.id, system.name, system.source, system.claim, RELATIONS[system.relation]]
        for name in system.algorithms or [""]:
            found = cells(name, system, result, link) if name else ["*not built yet*", "", "", "", ""]
            lines.append("| " + " | ".join(_plain(cell) for cell in (*head, *found)) + " |")
            head = [""] * len(head)
    return "\n".join(lines) + "\n"


def cells(name: str, system: System, result: Result, link: str) -> list[str]:
    """The cells of one algorithm's row: name, privacy, worst ε, utility, findings.

    Args:
        name: of the algorithm.
        system: whose implementation it is.
        result: the committed report.
        link: path from where the table stands to the folder of FINDINGS.md.
    """
    plan = registry.plan(name)
    meant = {case.label for case in plan.cases() if case.deliberate}
    broken = {case.label for case in (plan.utility() if plan.utility is not None else ()) if case.deliberate}
    every = [audit for audit in result.audits if audit.name == name]
    audits = [audit for audit in every if audit.case not in meant] or every
    promises = [audit for audit in result.utility if audit.name == name and audit.case not in broken]
    numbers = system.findings.get(name, [])
    findings = ", ".join(f"[{number}]({link}FINDINGS.md)" for number in numbers)
    card = registry.algorithm(name).card
    if card is not None and not card.private:
        return [f"`{name}`", "not private", "", _utility(promises), findings]
    return [f"`{name}`", _privacy(audits), _worst(audits), _utility(promises), findings]


def _privacy(audits: list[Audit]) -> str:
    failed = [audit for audit in audits if audit.verdict is Verdict.FAIL]
    proved = sum(a.verdict is Verdict.PASS and a.evidence is EvidenceKind.EXHAUSTIVE for a in audits)
    kept = len(audits) - len(failed) - proved
    parts = [f"**FAIL** {len(failed)}"] if failed else []
    parts += [f"proved {proved}"] if proved else []
    parts += [f"not refuted {kept}"] if kept else []
    return ", ".join(parts) or "no audit in the report"


def _worst(audits: list[Audit]) -> str:
    """The case that needs most of its claim: of those that fail, if any do."""
    failed = [audit for audit in audits if audit.verdict is Verdict.FAIL]
    audit = max(failed or audits, key=_share, default=None)
    if audit is None:
        return ""
    claim = f"of {stated(audit.claim.epsilon)} at δ = {small(audit.claim.delta)}"
    if wording.has_exact(audit):
        return f"{wording.exact_epsilon(audit)} {claim}"
    bound = wording.certified_epsilon(audit)
    return "" if bound is None else f"≥ {bound} {claim}"


def _share(audit: Audit) -> float:
    claimed = max(audit.claim.epsilon, 1e-9)
    if wording.exact_is_infinite(audit):
        return math.inf
    if audit.epsilon_exact is not None:
        return audit.epsilon_exact / claimed
    return (audit.epsilon_lower or 0.0) / claimed


def _utility(promises: list[UtilityAudit]) -> str:
    failed = sum(audit.verdict is Verdict.FAIL for audit in promises)
    parts = [f"**FAIL** {failed}"] if failed else []
    parts += [f"kept {len(promises) - failed}"] if len(promises) > failed else []
    return ", ".join(parts)


def _plain(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
