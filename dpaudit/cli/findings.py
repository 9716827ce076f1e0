"""`dpaudit finding`: printed claims that do not hold, each with its witness and the audit that shows it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dpaudit.errors import UsageError
from dpaudit.evidence.utility import utility_jobs
from dpaudit.plans.chain_jobs import all_jobs
from dpaudit.plans.findings import Located, findings
from dpaudit.plans.request import Request
from dpaudit.report.terminal_text import CardText


def listing() -> CardText:
    """Every finding by number: severity, title, where the claim is printed."""
    rows = [
        (str(number), f"{one.finding.title}\n{one.finding.severity}; {one.finding.place}")
        for number, one in findings().items()
    ]
    return CardText([*rows, ("", "`dpaudit finding NUMBER` shows one, and runs the audit that shows it.")])


def card(located: Located) -> CardText:
    """What one finding says, and where its page and its script are."""
    one = located.finding
    rows = [
        (f"Finding {one.number}", one.title),
        ("Severity", f"{one.severity}: {one.severity.meaning}"),
        ("Where", one.place),
        ("For", one.epsilon),
        ("Witness", one.witness),
        ("Algorithm", ", ".join(located.algorithms)),
        ("Shown by", f"{located.algorithms[0]} · {one.case}" if one.case else "the script alone: no audit is about it"),
    ]
    if located.page is not None:
        rows.append(("Page", _shown(located.page)))
    if located.script is not None:
        rows.append(("Without dpaudit", f"python {_shown(located.script)}"))
    return CardText([*rows, ("", "")])


def audit_of(located: Located, jobs: int) -> tuple[Request, str]:
    """The request whose audits the one of a finding is among, and the id of that one.

    Args:
        located: the finding.
        jobs: worker processes.

    Raises:
        UsageError: the plan of its algorithm has no such audit.
    """
    one, name = located.finding, located.algorithms[0]
    request = Request(targets=(name,), only=one.kind, jobs=jobs)
    every = all_jobs(request) if one.kind == "privacy" else utility_jobs(request)
    for job in every:
        if job.label == one.case:
            return request, job.replay
    raise UsageError(f"Finding {one.number} names the case {one.case!r}, and the plan of {name} has none.")


def run_script(located: Located) -> str:
    """What the script of a finding prints.

    Raises:
        UsageError: the catalogue came without it, or it failed.
    """
    number = located.finding.number
    if located.script is None:
        raise UsageError(f"No audit shows finding {number}, and the catalogue came without its script.")
    ran = subprocess.run(
        [sys.executable, "-X", "utf8", str(located.script)], capture_output=True, text=True, encoding="utf-8",
        check=False,
    )
    if ran.returncode:
        raise UsageError(f"The script of finding {number} failed: {ran.stderr.strip().splitlines()[-1]}")
    return ran.stdout


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
