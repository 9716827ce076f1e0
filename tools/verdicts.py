"""Write `reports/`: the verdicts of the whole catalogue, an overview of them, and three reports.

    python tools/verdicts.py build/report   write all files from the results in this folder (`make report`)
    python tools/verdicts.py                write README.md from the CSV files (`make tables`)
    python tools/verdicts.py --check        exit 1 when README.md is not what the CSV files give
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import systems
import verdict_rows
from dpaudit.report.html import Within, to_html
from dpaudit.report.wording import PROOFS
from dpaudit.results.json_form import from_json
from dpaudit.results.model import Audit, EvidenceKind, Result, UtilityAudit, Verdict
from dpaudit.whole_files import write_file
from verdict_rows import FILES, REPORTS, PrivacyRow, UtilityRow, Verdicts

EVIDENCE = REPORTS.parent / "algorithms" / "dpaudit_algorithms" / "evidence.csv"
"""What `dpaudit list` says of the claims that are not refuted."""
CATALOGUE, COMPARISON, OVERVIEW = "result.json", "interior-points.json", "README.md"
SHOWN = {
    "RecPrefix": "an algorithm that is not refuted: proofs on small domains, samples at the paper's constants, the "
    "privacy loss of every step",
    "ASimpleH": "an algorithm that is refuted, with drawings of the examples and of the outputs",
}
"""Algorithm → why its report is committed."""
PHRASES = ("FAIL", *PROOFS.values(), "PASS · not refuted", "INCONCLUSIVE")
_INTRO = """# Verdicts of the whole catalogue

<!-- Written by tools/verdicts.py from the CSV files; `make report` writes all of them anew. -->

The results of `dpaudit check --all --expect` (seed 0) for every algorithm of the catalogue.

"""
_FILES = """
| file | |
| --- | --- |
| [verdicts.csv](verdicts.csv) | audits of privacy: claim, verdict, exact ε and lower confidence bound on ε |
| [utility.csv](utility.csv) | audits of utility guarantees: probability of success on the worst inputs |
| [proofs.csv](proofs.csv) | claims that `dpaudit prove` proves for every dataset of a scope, or why not |
"""
_SYSTEMS = """
`make report` repeats all audits, in half an hour on two cores, and writes a page for each algorithm and all results
as JSON to `build/report/`.

## Every system

How many of an algorithm's audits of privacy fail, are proved (for every dataset, or on a finite domain), are not
refuted, or are inconclusive; the ε that the worst of them needs (exact, or ≥ a lower confidence bound) of the claimed
one; and how many utility guarantees hold on the inputs tried. Cases that are wrong on purpose are not counted here.
The [findings](../docs/findings/index.md) explain the failures.

"""


def overview(verdicts: Verdicts) -> str:
    """`reports/README.md`.

    Args:
        verdicts: of the whole catalogue.
    """
    counts = (
        f"| | audits | {' | '.join(PHRASES)} |\n" + "| --- " * (len(PHRASES) + 2) + "|\n"
        + _counts("privacy", [row.phrase for row in verdicts.privacy])
        + _counts("utility", [row.phrase for row in verdicts.utility])
    )
    reports = {**SHOWN, Path(COMPARISON).stem: "a comparison: `dpaudit compare interior-points`"}
    files = "".join(f"| [{name}.html]({name}.html) | {about} |\n" for name, about in reports.items())
    return f"{_INTRO}{counts}\n{_unexpected(verdicts)}\n{_FILES}{files}{_SYSTEMS}{systems.table(verdicts, '../')}"


def evidence(verdicts: Verdicts) -> str:
    """`evidence.csv`: algorithm → the best evidence of a claim of it that passes."""
    best: dict[str, str] = {}
    order = [EvidenceKind.ALIGNMENT, EvidenceKind.EXHAUSTIVE]
    for kind in order:
        for row in verdicts.privacy:
            if row.verdict == Verdict.PASS and row.evidence == kind:
                best.setdefault(row.algorithm, kind.value)
    names = dict.fromkeys(row.algorithm for row in verdicts.privacy)
    return "".join(f"{name},{best[name]}\n" for name in names if name in best)


def part(result: Result, name: str) -> str:
    """The HTML report of one algorithm.

    Args:
        result: of the whole catalogue.
        name: of the algorithm.
    """
    shown = replace(
        result,
        audits=[audit for audit in result.audits if audit.name == name],
        utility=[audit for audit in result.utility if audit.name == name],
    )
    return to_html(shown, within=Within(result, FILES[PrivacyRow]))


def texts(folder: Path) -> dict[str, str]:
    """Name → text of every file of `reports/`.

    Args:
        folder: what `dpaudit check --all --report` and `dpaudit compare --json` wrote.

    Raises:
        SystemExit: the run was interrupted, or an audit gave up.
    """
    result, comparison = _result(folder / CATALOGUE), _result(folder / COMPARISON)
    verdicts = verdict_rows.from_result(result)
    return {
        FILES[PrivacyRow]: verdict_rows.to_csv(verdicts.privacy, PrivacyRow),
        FILES[UtilityRow]: verdict_rows.to_csv(verdicts.utility, UtilityRow),
        OVERVIEW: overview(verdicts),
        **{f"{name}.html": part(result, name) for name in SHOWN},
        f"{Path(COMPARISON).stem}.html": to_html(comparison),
    }


def main(arguments: list[str]) -> int:
    """Write or check; the exit code."""
    if arguments == ["--check"]:
        verdicts = verdict_rows.load()
        made = {REPORTS / OVERVIEW: overview(verdicts), EVIDENCE: evidence(verdicts)}
        stale = [path for path, text in made.items() if path.read_text(encoding="utf-8") != text]
        for path in stale:
            print(f"{path.name} is out of date: run `make tables` and commit what it writes.", file=sys.stderr)
        return int(bool(stale))
    if len(arguments) > 1 or arguments[:1] == ["--help"]:
        print(__doc__, file=sys.stderr)
        return 2
    texts_of = texts(Path(arguments[0])) if arguments else {OVERVIEW: overview(verdict_rows.load())}
    for name, text in texts_of.items():
        write_file(REPORTS / name, text)
        print(f"wrote reports/{name}")
    write_file(EVIDENCE, evidence(verdict_rows.load()))
    print(f"wrote {EVIDENCE.name} of the catalogue")
    return 0


def _result(path: Path) -> Result:
    result = from_json(path.read_text(encoding="utf-8"), where=path.name)
    if result.interrupted:
        raise SystemExit(f"{path} is of a run that was interrupted; run `make report` again.")
    audits: list[Audit | UtilityAudit] = [*result.audits, *result.utility]
    for audit in audits:
        if audit.crashed:  # no case of the catalogue does so by itself: its process was ended, for want of memory say
            raise SystemExit(f"{path}: {audit.name} · {audit.case} gave up: {audit.reason} Run `make report` again.")
    return result


def _counts(name: str, phrases: Iterable[str]) -> str:
    counted = Counter(phrases)
    return f"| {name} | {counted.total()} | " + " | ".join(str(counted[phrase]) for phrase in PHRASES) + " |\n"


def _unexpected(verdicts: Verdicts) -> str:
    rows = verdicts.unexpected
    if not rows:
        return (
            "Every verdict is as expected: FAIL where a printed claim is wrong, or where a case is wrong on purpose."
        )
    listing = "".join(f"\n- {row.algorithm}, {row.case}: {row.verdict}, expected {row.expected}" for row in rows)
    return f"**Not as expected: {len(rows)}**\n{listing}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
