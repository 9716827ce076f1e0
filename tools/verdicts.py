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
from dpaudit.results.json_form import from_json
from dpaudit.results.model import Result
from dpaudit.whole_files import write_file
from verdict_rows import FILES, REPORTS, PrivacyRow, UtilityRow, Verdicts

CATALOGUE, COMPARISON, OVERVIEW = "result.json", "interior-points.json", "README.md"
SHOWN = {
    "RecPrefix": "an algorithm that is not refuted: proofs on small domains, samples at the paper's constants, the "
    "privacy loss of every step",
    "ASimpleH": "an algorithm that is refuted, with drawings of the examples and of the outputs",
}
"""Algorithm → why its report is committed."""
PHRASES = ("FAIL", "PASS · proved", "PASS · not refuted", "INCONCLUSIVE")
_INTRO = """# Verdicts of the whole catalogue

<!-- Written by tools/verdicts.py from the CSV files; `make report` writes all of them anew. -->

The results of `dpaudit check --all --expect` (seed 0) for every algorithm of the catalogue.

"""
_FILES = """
| file | |
| --- | --- |
| [verdicts.csv](verdicts.csv) | audits of privacy: claim, verdict, exact ε and lower confidence bound on ε |
| [utility.csv](utility.csv) | audits of utility guarantees: probability of success on the worst inputs |
| [proofs.csv](proofs.csv) | claims with δ = 0 that `dpaudit prove` proves for every dataset of a scope, or why not |
"""
_SYSTEMS = """
`make report` repeats all audits, in half an hour on two cores, and writes a page for each algorithm and all results
as JSON to `build/report/`.

## Every system

How many of an algorithm's audits of privacy fail, are proved on a finite domain, are not refuted, or are inconclusive;
the ε that the worst of them needs (exact, or ≥ a lower confidence bound) of the claimed one; and how many utility
guarantees hold on the inputs tried. Cases that are wrong on purpose are not counted here. [FINDINGS.md](../FINDINGS.md)
explains the failures.

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
        SystemExit: the run was interrupted.
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
        stale = (REPORTS / OVERVIEW).read_text(encoding="utf-8") != overview(verdict_rows.load())
        if stale:
            print(f"reports/{OVERVIEW} is out of date: run `make tables` and commit what it writes.", file=sys.stderr)
        return int(stale)
    if len(arguments) > 1 or arguments[:1] == ["--help"]:
        print(__doc__, file=sys.stderr)
        return 2
    made = texts(Path(arguments[0])) if arguments else {OVERVIEW: overview(verdict_rows.load())}
    for name, text in made.items():
        write_file(REPORTS / name, text)
        print(f"wrote reports/{name}")
    return 0


def _result(path: Path) -> Result:
    result = from_json(path.read_text(encoding="utf-8"), where=path.name)
    if result.interrupted:
        raise SystemExit(f"{path} is of a run that was interrupted; run `make report` again.")
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
