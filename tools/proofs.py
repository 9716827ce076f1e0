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
from dpaudit.proofs.prove import claimed, prove_widest
from dpaudit.proofs.results import Proof, Unknown
from dpaudit.whole_files import write_file

FILE = Path(__file__).parents[1] / "reports" / "proofs.csv"
COLUMNS = ("algorithm", "case", "claimed", "scope", "outcome", "epsilon", "mu_squared", "line", "why")


def rows(group: str) -> list[dict[str, str]]:
    """A row for the first case of every algorithm whose claim has a scope."""
    found = []
    for name in registry.names(group):
        for case in registry.plan(name).cases():
            claim = case.mechanism.claim
            if claim is None or case.deliberate or not (claim.epsilon > 0 or claim.delta):
                continue
            domain, records = (case.scope.domain, case.scope.records) if case.scope is not None else ((), 0)
            answers = min(answers_of(case.pairs), ANSWERS)
            scopes = scopes_of_claim(case.mechanism, domain=domain, records=records, answers=answers)
            if not scopes:
                continue
            outcome = prove_widest(case.mechanism, scopes, claimed(case.mechanism), refute=False)
            assert isinstance(outcome, Proof | Unknown)
            row = {
                "algorithm": name, "case": case.label, "claimed": outcome.goal or str(outcome.claimed),
                "scope": outcome.scope, "outcome": "proved", "epsilon": "", "mu_squared": "", "line": "", "why": "",
            }
            if isinstance(outcome, Proof):
                row["epsilon"] = str(outcome.epsilon)
                row["mu_squared"] = str(outcome.mu_squared or "")
            else:
                row |= {"outcome": "unknown", "line": str(outcome.place or ""), "why": outcome.reason}
                row["epsilon"] = "" if outcome.least is None else str(outcome.least)
            found.append(row)
            break
    return found


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
