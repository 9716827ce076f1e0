"""What `dpaudit journal` says: what is kept of commands that have not ended."""

from __future__ import annotations

import time
from pathlib import Path

from dpaudit import journal
from dpaudit.journal import Kept, location
from dpaudit.report.numbers import in_bytes

_DAY = 86_400.0


def listed() -> str:
    """Every command of which something is kept, and what."""
    path = location()
    if path is None:
        return "The journal is off (DPAUDIT_JOURNAL)."
    kept = journal.contents()
    if not kept:
        return f"Nothing is kept in {path}: every command here has ended, or was short."
    blocks = "\n".join(f"{one.command}\n  {_about(one)}" for one in kept)
    return f"{blocks}\n\nGiven again in this folder, these commands go on from there."


def pruned(days: float) -> str:
    """Delete what is older."""
    rows, size = journal.prune(older=days * _DAY)
    return f"{rows:,} rows deleted, {in_bytes(size)}."


def exported(file: str) -> str:
    """Copy the journal to a file."""
    return f"{journal.export(Path(file)):,} rows copied to {file}."


def added(file: str) -> str:
    """Take over what another journal has."""
    return f"{journal.add(Path(file)):,} rows taken over from {file}."


def _about(one: Kept) -> str:
    parts = [
        f"{number:,} {what if number != 1 else what.removesuffix('s')}"
        for number, what in (
            (one.audits, "finished audits"), (one.samples, "samples"), (one.distributions, "output distributions"),
            (one.comparisons, "comparisons"),
        ) if number
    ]
    return f"{', '.join(parts)}; {in_bytes(one.size)}, {_ago(time.time() - one.written)}"


def _ago(seconds: float) -> str:
    for size, what in ((_DAY, "day"), (3600.0, "hour"), (60.0, "minute")):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {what}{'s' * (number != 1)} ago"
    return "less than a minute ago"
