"""The table of audits at the end of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpaudit.pytest_plugin.record import Record
from dpaudit.report.wording import PROOFS

_HEADS = ("test", "verdict", "claim", "certified ε", "runs")
_LEAST = 24
"""Characters of a test's name that a row has to have room for; with fewer it takes a line of its own."""


def summary(records: Sequence[Record], shared: str, *, width: int, quiet: bool) -> list[str]:
    """A title ("" for none), the table, and the totals.

    Args:
        records: of all audits, in the order in which they are shown.
        shared: how α is shared.
        width: characters of a line.
        quiet: the totals alone.
    """
    totals = [_totals(records), *_leaks(records), *_wrapped(shared, width)]
    return ["", *totals] if quiet else ["dp audits", *_table(records, width), *totals]


def _table(records: Sequence[Record], width: int) -> list[str]:
    names = [_name(record, records[:at], records) for at, record in enumerate(records)]
    rows = [(r.phrase, r.claim, r.bound, f"{r.runs:,}") for r in records]
    widths = [max(map(len, column)) for column in zip(_HEADS[1:], *rows, strict=True)]
    room = width - sum(widths) - 2 * len(widths)
    longest = max(map(len, (_HEADS[0], *names)))
    beside = room >= min(longest, _LEAST)
    first = min(longest, room)
    lines = []
    for name, row in zip((_HEADS[0], *names), (_HEADS[1:], *rows), strict=True):
        *texts, runs = (cell.ljust(size) for cell, size in zip(row, widths, strict=True))
        cells = (*texts, runs.strip().rjust(widths[-1]))
        if beside:
            lines.append("  ".join((_cut(name, first).ljust(first), *cells)).rstrip())
        else:
            lines += [_cut(name, width), "  " + "  ".join(cell.strip() for cell in cells)]
    return lines


def _name(record: Record, before: Sequence[Record], records: Sequence[Record]) -> str:
    """The test, and which of its audits where it made several."""
    several = sum(other.test == record.test for other in records) > 1
    place = 1 + sum(other.test == record.test for other in before)
    return f"{record.test} ({place})" if several else record.test


def _cut(name: str, room: int) -> str:
    """The end of a long name, where tests of one file differ."""
    return name if len(name) <= room else "…" + name[len(name) - room + 1 :]


def _totals(records: Sequence[Record]) -> str:
    counted = Counter(record.phrase for record in records)
    order = ("FAIL", "ERROR", "INCONCLUSIVE", "PASS · not refuted", *PROOFS.values())
    said = ", ".join(f"{counted[phrase]} {phrase}" for phrase in order if counted[phrase])
    return f"dp: {len(records)} audit{'' if len(records) == 1 else 's'}: {said}"


def _leaks(records: Sequence[Record]) -> list[str]:
    leaking = sum(record.leaks for record in records)
    return [f"dp: {leaking} with a floating-point vulnerability, which counts only with bits=True"] if leaking else []


def _wrapped(text: str, width: int) -> list[str]:
    """Split at its semicolons if it is too long for one line."""
    return [text] if len(text) <= width else [f"dp: {part.removeprefix('dp: ')}" for part in text.split("; ")]
