"""Write `reports/proofs.csv`: which claims of the catalogue and the corpus are proved for every dataset of a scope.

    python tools/proofs.py          write the file
    python tools/proofs.py --check  exit 1 when the file is not what the programs give
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

from dpaudit.plans import registry
from dpaudit.proofs.claimed import ANSWERS, answers_of, scopes_of_claim
from dpaudit.proofs.paths import Limits
from dpaudit.proofs.prove import claimed, prove_widest
from dpaudit.proofs.results import Place, Proof, Unknown
from dpaudit.whole_files import write_file

FILE = Path(__file__).parents[1] / "reports" / "proofs.csv"
FEW = Limits(steps=1_000_000)
"""So that the table takes less than a minute."""
COLUMNS = ("algorithm", "case", "claimed", "scope", "outcome", "epsilon", "mu_squared", "line", "why")


def rows(group: str) -> list[dict[str, str]]:
    """A row for every algorithm whose claim has a scope: its first case with a finite domain, or its first one."""
    found = []
    for name in registry.names(group):
        cases = [
            case for case in registry.plan(name).cases() if case.mechanism.claim is not None and not case.deliberate
            and (case.mechanism.claim.epsilon > 0 or case.mechanism.claim.delta)
        ]
        if not cases:
            continue
        case = next((case for case in cases if case.scope is not None), cases[0])
        domain, records = (case.scope.domain, case.scope.records) if case.scope is not None else ((), 0)
        answers = min(answers_of(case.pairs), ANSWERS)
        scopes = scopes_of_claim(case.mechanism, domain=domain, records=records, answers=answers)
        if not scopes:
            continue
        outcome = prove_widest(case.mechanism, scopes, claimed(case.mechanism), refute=False, limits=FEW)
        assert isinstance(outcome, Proof | Unknown)
        if isinstance(outcome, Unknown) and outcome.place is None and outcome.least is None:
            # too long: another case may be shorter
            for other in (each for each in cases if each is not case):
                shorter = prove_widest(
                    other.mechanism, scopes_of_claim(other.mechanism), claimed(other.mechanism), refute=False,
                    limits=FEW,
                )
                if isinstance(shorter, Proof):
                    case, outcome = other, shorter
                    break
        row = {
            "algorithm": name, "case": case.label, "claimed": outcome.goal or str(outcome.claimed),
            "scope": outcome.scope, "outcome": "proved", "epsilon": "", "mu_squared": "", "line": "", "why": "",
        }
        if isinstance(outcome, Proof):
            row["epsilon"] = str(outcome.epsilon)
            row["mu_squared"] = str(outcome.mu_squared or "")
        else:
            row |= {"outcome": "unknown", "line": shown(outcome.place), "why": outcome.reason}
            row["epsilon"] = "" if outcome.least is None else str(outcome.least)
        found.append(row)
    return found


def shown(place: Place | None) -> str:
    """A line of an algorithm; of dpaudit's own code the file alone, as its lines move with every change."""
    if place is None:
        return ""
    own = (path.read_text(encoding="utf-8").splitlines() for path in (FILE.parents[1] / "dpaudit").rglob(place.file))
    return place.file if any(line.strip() == place.source for lines in own for line in lines) else str(place)


def text() -> str:
    """The file."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for group in (registry.ALGORITHMS, registry.CORPUS):
        writer.writerows(rows(group))
    return out.getvalue()


def main() -> int:
    """Writes or checks the file."""
    found = text()
    if "--check" in sys.argv[1:]:
        same = FILE.exists() and FILE.read_text(encoding="utf-8") == found
        if not same:
            print("reports/proofs.csv is not what the programs give: run `python tools/proofs.py`.", file=sys.stderr)
        return 0 if same else 1
    write_file(FILE, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
