"""E-values that accumulate across sessions, in a file that the project commits or caches.

Samples of different sessions are independent, so their e-values multiply, and the product is again an e-process: if the
claim holds, it ever reaches 1/α with probability at most α, over all sessions. This requires that every session's
factor is multiplied in, whatever its value, so every session with the file writes to it, whether its tests passed or
failed.

- The e-process has one part of a test's share of α for all sessions. What a session tests independently of the others
  (confidence bounds from its own samples, low-order bits, levels above the claim) has its part in the first session,
  and 1 % of the share in all later sessions together (`dpaudit.plans.alpha_shares`). A correct test suite therefore
  ever fails, in any number of sessions, with probability at most α.
- A test's share is α divided by the number of tests, and this number is never lower than the largest in the file. No
  later session has a larger share of the e-process than an earlier one. If tests are added, a test keeps the largest
  share that it ever had; tests added one by one up to N use at most 1 + ln N times as much. `--dp-items=N` with a large
  enough N keeps the shares fixed.
- Evidence is about one function (`dpaudit.subjects.code_key`: its code, helpers, values and libraries) against one
  claim in one test. If any of these changes, it starts again. If this cannot be determined, nothing is kept.
- Until then a refutation is final: an e-process may stop at any time, so no later session withdraws it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from dpaudit.errors import UsageError
from dpaudit.pytest_plugin.record import Record
from dpaudit.whole_files import write_file

FORMAT_VERSION = "2.0"
KEPT = 100
"""Sessions after which evidence that was not added to is dropped: of deleted tests and functions."""
_LARGEST = 1e9
"""Logarithms are cut here, so that they stay numbers in JSON."""


@dataclass(frozen=True)
class Row:
    """The e-value of one audit's own samples.

    Args:
        session: the session, counted from 1.
        seed: of the audit.
        log_e: natural logarithm of its factor.
        log_peak: of the largest value that the product up to then reached.
        alpha: share of the error that the e-process had.
    """

    session: int
    seed: int
    log_e: float
    log_peak: float
    alpha: float


@dataclass(frozen=True)
class PriorEvidence:
    """The evidence of earlier sessions.

    Args:
        log_e: natural logarithm of their product.
        seeds: of their audits.
        log_peak: of the largest value that the product reached.
        peaked: the session in which it did.
        alpha: smallest share of the error that the e-process had.
    """

    log_e: float
    seeds: tuple[int, ...]
    log_peak: float
    peaked: int
    alpha: float = 1.0


_Entries: TypeAlias = dict[str, dict[str, tuple[str, list[Row]]]]


@dataclass(frozen=True)
class Evidence:
    """An evidence file.

    Args:
        path: where it is.
        sessions: how many sessions wrote to it.
        items: most tests that α was shared over.
        entries: by test and key: what it is about, and one row for every audit.
    """

    path: Path
    sessions: int = 0
    items: int = 0
    entries: _Entries = field(default_factory=dict)

    def prior(self, test: str, key: str, *, session: int) -> PriorEvidence | None:
        """The evidence of the sessions before `session` about one test's function; None without any."""
        _, rows = self.entries.get(test, {}).get(key, ("", []))
        before = [row for row in rows if row.session < session]
        if not before:
            return None
        highest = max(before, key=lambda row: row.log_peak)
        total = sum(row.log_e for row in before)
        alpha = min(row.alpha for row in before)
        return PriorEvidence(total, tuple(row.seed for row in before), highest.log_peak, highest.session, alpha)

    def after(self, records: Iterable[Record]) -> Evidence:
        """The file with one more session.

        Entries without additions in `KEPT` sessions are dropped. Others are kept, also for tests that this session did
        not run. The same samples (of a plugin that reruns failed tests) count once.
        """
        session, items = self.sessions + 1, self.items
        entries = {test: {key: (about, list(rows)) for key, (about, rows) in keys.items()}
                   for test, keys in self.entries.items()}
        for record in records:
            items = max(items, record.items)
            if record.session is None:
                continue
            own = record.session
            _, rows = entries.setdefault(record.test, {}).setdefault(own.key, (own.about, []))
            if all(row.seed != own.seed for row in rows):
                rows.append(Row(session, own.seed, _cut(own.log_e), _cut(own.log_peak), own.alpha))
        kept = {
            test: {key: entry for key, entry in keys.items() if entry[1] and entry[1][-1].session > session - KEPT}
            for test, keys in entries.items()
        }
        return Evidence(self.path, session, items, {test: keys for test, keys in kept.items() if keys})

    def write(self) -> None:
        """Put the file in the place of the old one, whole or not at all.

        Raises:
            UsageError: it cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_file(self.path, self._text())
        except OSError as error:
            raise UsageError(
                f"The evidence file {self.path} cannot be written ({error.strerror or error}), so the e-values of "
                "this session are lost; name a writable file with --dp-evidence."
            ) from None

    def _text(self) -> str:
        """JSON with one line for every audit, so that diffs are readable."""
        head = {"format_version": FORMAT_VERSION, "sessions": self.sessions, "items": self.items}
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
        tests = []
        for test, keys in sorted(self.entries.items()):
            parts = []
            for key, (about, rows) in sorted(keys.items()):
                listed = ",\n".join(
                    f"        {json.dumps([row.session, row.seed, row.log_e, row.log_peak, row.alpha])}" for row in rows
                )
                about_text = json.dumps(about, ensure_ascii=False)
                parts.append(f'      {json.dumps(key)}: {{"about": {about_text}, "rows": [\n{listed}\n      ]}}')
            tests.append(f"    {json.dumps(test, ensure_ascii=False)}: {{\n" + ",\n".join(parts) + "\n    }")
        body = "{\n" + ",\n".join(tests) + "\n  }" if tests else "{}"
        return "{\n" + "\n".join(lines) + f'\n  "tests": {body}\n}}\n'


def read(path: Path) -> Evidence:
    """The evidence in a file; none where there is no file yet.

    Raises:
        UsageError: it cannot be read, or is of another form.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Evidence(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"Cannot read the evidence file {path}: {why}.") from None
    try:
        value = json.loads(text)
        version = value["format_version"]
        if str(version).partition(".")[0] != FORMAT_VERSION.partition(".")[0]:
            raise UsageError(
                f"The evidence file {path} is of format {version}, and this dpaudit reads {FORMAT_VERSION}; use the "
                "dpaudit that wrote it."
            )
        return Evidence(path, _count(value["sessions"]), _count(value["items"]), _entries(value["tests"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise UsageError(
            f"{path} is not a complete evidence file of the pytest plugin; restore an earlier version, or delete it to "
            "start again."
        ) from None


def _entries(value: dict[str, dict[str, dict[str, Any]]]) -> _Entries:
    return {
        test: {key: (str(entry["about"]), [_row(row) for row in entry["rows"]]) for key, entry in keys.items()}
        for test, keys in value.items()
    }


def _row(value: list[object]) -> Row:
    session, seed, log_e, log_peak, alpha = value
    if not isinstance(alpha, int | float) or not 0 < alpha <= 1:
        raise ValueError("no share")
    return Row(_count(session), _count(seed), _finite(log_e), _finite(log_peak), float(alpha))


def _finite(value: object) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("no number")
    return float(value)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("no count")
    return value


def _cut(log: float) -> float:
    return max(-_LARGEST, min(_LARGEST, log))
