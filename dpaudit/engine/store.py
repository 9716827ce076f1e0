"""The store: every audit's request and result in one SQLite file, for `dpaudit replay`."""

from __future__ import annotations

import difflib
import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from dpaudit.errors import UnknownNameError, UsageError

_TABLE = "CREATE TABLE IF NOT EXISTS kept (id TEXT PRIMARY KEY, name TEXT, command TEXT, request TEXT, audit TEXT)"


@dataclass(frozen=True)
class Stored:
    """One audit as it was kept.

    Args:
        id: its replay id.
        name: the algorithm's or function's name.
        command: the command line of the whole check, to be shown.
        request: what the check was asked, as JSON (`Request.to_json`), from which it is run again.
        audit: its result as JSON.
    """

    id: str
    name: str
    command: str
    request: str
    audit: str


def location() -> Path:
    """The file: $DPAUDIT_STORE, or .dpaudit/audits.sqlite3 in the working directory."""
    return Path(os.environ.get("DPAUDIT_STORE") or ".dpaudit/audits.sqlite3")


def put(audits: Iterable[Stored]) -> None:
    """Keep audits; an older one of the same id is replaced.

    Raises:
        UsageError: the file cannot be written.
    """
    path = location()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(_TABLE)
            rows = [(a.id, a.name, a.command, a.request, a.audit) for a in audits]
            connection.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?, ?)", rows)
    except (OSError, sqlite3.Error, UnicodeError) as error:
        raise UsageError(f"The store {path} cannot be written ({error}); set DPAUDIT_STORE to another file.") from None


def get(identifier: str) -> Stored:
    """The audit of an id.

    Raises:
        UnknownNameError: it is not there, with the closest ids that are.
        UsageError: the file cannot be read.
    """
    path = location()
    if not path.is_file():
        raise UsageError(f"There is no store at {path}: run `dpaudit check` here first, or the command of the report.")
    # SQLite refuses halves of surrogate pairs, which no id has
    wanted = identifier.encode(errors="replace").decode()
    try:
        with closing(sqlite3.connect(path)) as connection:
            row = connection.execute("SELECT * FROM kept WHERE id = ?", (wanted,)).fetchone()
            known = [r[0] for r in connection.execute("SELECT id FROM kept")]
    except sqlite3.Error as error:
        raise UsageError(f"The store {path} cannot be read ({error}).") from None
    if row is None:
        close = difflib.get_close_matches(identifier, known, n=2, cutoff=0.4)
        raise UnknownNameError("stored audit", identifier, tuple(close))
    return Stored(*row)
