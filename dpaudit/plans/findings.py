"""Findings about the algorithms of a catalogue: which there are, and which audit shows them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from dpaudit.errors import UsageError
from dpaudit.language import Finding
from dpaudit.plans import registry
from dpaudit.plans.plan import Case, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit.results.notes import ShowsFinding, Stated

FOLDER = "docs/findings"
"""Where the pages and scripts are, in a checkout and in an installed catalogue."""


@dataclass(frozen=True)
class Located:
    """A finding, the first algorithm whose card has it, and its files on this machine.

    Args:
        finding: the finding.
        algorithms: whose cards have it, in the order of the registry.
        page, script: None where the catalogue came without them.
    """

    finding: Finding
    algorithms: tuple[str, ...]
    page: Path | None
    script: Path | None


def case_notes(name: str, case: Case | UtilityCase, expected: Verdict | None) -> tuple[Stated | ShowsFinding, ...]:
    """What a report says of a case: its own sentence, and the finding that it shows.

    Args:
        name: of the algorithm.
        case: of its plan.
        expected: the verdict that the catalogue expects of it as it is run; None for none.
    """
    stated = (Stated(case.note),) if case.note else ()
    found = shown_by(name, case) if expected is Verdict.FAIL else None
    if found is None:
        return stated
    page = f"{FOLDER}/{found.number:02}.md#finding-{found.number}"
    return (*stated, ShowsFinding(found.number, str(found.severity), found.title, page))


def shown_by(name: str, case: Case | UtilityCase) -> Finding | None:
    """The finding that the FAIL of a case shows; None for a case that runs something wrong on purpose."""
    card = registry.algorithm(name).card
    kind = "privacy" if isinstance(case, Case) else "utility"
    of_kind = [one for one in (card.findings if card is not None else ()) if one.kind == kind and one.case]
    if case.deliberate:
        return None
    return next((one for one in of_kind if one.number == case.finding or len(of_kind) == 1), None)


def findings() -> dict[int, Located]:
    """Every finding of the registered algorithms, by number."""
    about: dict[int, tuple[Finding, list[str]]] = {}
    for name in registry.names():
        card = registry.algorithm(name).card
        for one in card.findings if card is not None else ():
            about.setdefault(one.number, (one, []))[1].append(name)
    return {
        number: Located(one, tuple(names), *(_file(names[0], f"{number:02}.{kind}") for kind in ("md", "py")))
        for number, (one, names) in sorted(about.items())
    }


def finding(number: int) -> Located:
    """One of them.

    Raises:
        UsageError: there is none of this number.
    """
    every = findings()
    if number not in every:
        raise UsageError(f"There is no finding {number}; `dpaudit finding` lists all {len(every)}.")
    return every[number]


def _file(name: str, file: str) -> Path | None:
    """A file of the folder of findings that belongs to the package of an algorithm."""
    module = sys.modules.get(registry.names()[name].partition(":")[0])
    for folder in Path(str(getattr(module, "__file__", ""))).parents:
        if (folder / FOLDER / file).is_file():
            return folder / FOLDER / file
    return None
