"""Write what is made of the findings: their index, and the facts and the script's output on each page.

    python tools/findings.py          write docs/findings/: the index, and on every page its facts and output
    python tools/findings.py 1 17     these pages alone
    python tools/findings.py --check  exit 1 when anything of it is not what the table and the scripts give

The table is `dpaudit_algorithms.findings`; a page's prose is written by hand, and so is its script.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from dpaudit.language import Finding, Severity
from dpaudit.plans import registry
from dpaudit.whole_files import write_file
from dpaudit_algorithms.findings import FINDINGS

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "findings"
INDEX = PAGES / "index.md"
LIMIT = 60
"""Seconds that a script may take."""
_ALONE = "import runpy, sys; sys.modules['dpaudit'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"
"""Runs a script as if dpaudit were not installed."""


def page_of(number: int) -> Path:
    """The page of a finding."""
    return PAGES / f"{number:02}.md"


def script_of(number: int) -> Path:
    """The script that shows it without dpaudit."""
    return PAGES / f"{number:02}.py"


def output(number: int) -> str:
    """What its script prints, run without dpaudit.

    Raises:
        subprocess.CalledProcessError: it failed; its stderr is in the error.
        subprocess.TimeoutExpired: it took more than a minute.
    """
    ran = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-c", _ALONE, str(script_of(number))],
        capture_output=True, text=True, encoding="utf-8", check=True, timeout=LIMIT, cwd=PAGES,
    )
    return "".join(f"{line.rstrip()}\n" for line in ran.stdout.splitlines())


def filled(page: str, finding: Finding, printed: str) -> str:
    """The text of a page with its facts and its script's output."""
    page = _between(page, "facts", facts(finding))
    return _between(page, "script output", f"```text\n{printed}```\n")


def facts(finding: Finding) -> str:
    """The first lines of a page: where the claim is, what the finding means for it, how to see it."""
    number = f"{finding.number:02}"
    rows = [
        ("where", finding.place), ("severity", f"*{finding.severity}*: {finding.severity.meaning}"),
        ("for", finding.epsilon), ("witness", finding.witness),
        ("algorithm", ", ".join(f"`{name}`" for name in algorithms(finding.number))),
        ("replay", f"`dpaudit finding {finding.number}`"),
        ("without dpaudit", f"`python {number}.py` ([{number}.py]({number}.py)); its output is below"),
    ]
    return "| | |\n| --- | --- |\n" + "".join(f"| {name} | {_cell(text)} |\n" for name, text in rows)


def index() -> str:
    """The table of all findings."""
    rows = [
        f"| [{n}]({n:02}.md) | {_cell(one.title)} | *{one.severity}* | {_cell(one.place)} | {_cell(one.epsilon)} "
        f"| {_cell(one.witness)} |\n"
        for n, one in FINDINGS.items()
    ]
    counts = [(severity, sum(one.severity == severity for one in FINDINGS.values())) for severity in Severity]
    meanings = "".join(f"| *{severity}* | {severity.meaning} | {count} |\n" for severity, count in counts)
    return (
        f"| severity | meaning | findings |\n| --- | --- | --- |\n{meanings}\n"
        f"| | finding | severity | where | for | witness |\n| --- | --- | --- | --- | --- | --- |\n{''.join(rows)}"
    )


@cache
def _algorithms() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name in registry.names():
        card = registry.algorithm(name).card
        for one in card.findings if card is not None else ():
            found.setdefault(one.number, []).append(name)
    return found


def algorithms(number: int) -> list[str]:
    """Names of the algorithms whose cards have this finding."""
    return _algorithms().get(number, [])


def made(numbers: Iterable[int]) -> dict[Path, str]:
    """Path → text of the index and of these pages."""
    texts = {INDEX: _between(INDEX.read_text(encoding="utf-8"), "index", index())}
    for number in numbers:
        page = page_of(number).read_text(encoding="utf-8")
        texts[page_of(number)] = filled(page, FINDINGS[number], output(number))
    return texts


def _between(text: str, name: str, new: str) -> str:
    """The text with what stands between its two marks of this name replaced."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->\n)", re.DOTALL)
    if len(marks.findall(text)) != 1:
        raise SystemExit(f"A page has no part between <!-- {name} --> and <!-- end of {name} -->, or several.")
    return marks.sub(lambda match: f"{match[1]}\n{new}\n{match[2]}", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*|X", "\\*|X")


def main(arguments: list[str]) -> int:
    """Write, or check."""
    numbers = [int(text) for text in arguments if text != "--check"] or list(FINDINGS)
    texts = made(numbers)
    stale = [path for path, text in texts.items() if path.read_text(encoding="utf-8") != text]
    if "--check" in arguments:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what `python tools/findings.py` writes.", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        write_file(path, texts[path])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
