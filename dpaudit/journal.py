"""The journal: what commands have computed until now, so that one that was killed goes on where it was.

One SQLite file in `.dpaudit/` of the working directory ($DPAUDIT_JOURNAL names another one; "off" is none), in WAL
mode: it is whole at whatever moment a process or a machine gives up. A row is found by the content of what it depends
on, and checked by a checksum that is keyed with a secret of this user (`dpaudit.user_key`): samples become evidence.

Nothing depends on the journal. Rows are written about every second, so short audits never touch the disk; rows of what
is finished are deleted; a row that is damaged or somebody else's is computed anew; on a full or read-only disk, or
without a home directory, nothing is kept. See decisions/0076.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dpaudit.errors import UsageError
from dpaudit.user_key import keyed_checksum, new_user_secret, user_secret

SAMPLES, LAWS, COMPARISONS, AUDIT = "samples", "distributions", "comparisons", "audit"
"""Kinds of rows."""
WRITTEN_EVERY = 1.0
"""Seconds between two times that rows are written."""
WRITTEN_FROM = 2.0
"""Seconds after which they are written for the first time."""
_BUSY = 10.0
"""Seconds to wait while another process writes."""
_FORMAT = "dpaudit journal 1"
_TABLES = """
CREATE TABLE IF NOT EXISTS commands1 (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS rows1 (
    kind TEXT NOT NULL, key TEXT NOT NULL, first INTEGER NOT NULL, size INTEGER NOT NULL, command INTEGER NOT NULL,
    written REAL NOT NULL, checksum BLOB NOT NULL, body BLOB NOT NULL, UNIQUE (kind, key, first, size)
);
"""
_UNUSED = "DELETE FROM commands1 WHERE id NOT IN (SELECT command FROM rows1)"
_FAILURES = (sqlite3.Error, OSError)


class Place(NamedTuple):
    """Where in a stream a row stands: so many things come before it, and it has so many."""

    first: int
    size: int


class _Row(NamedTuple):
    kind: str
    key: str
    place: Place
    body: bytes
    written: float


@dataclass(frozen=True)
class Kept:
    """What the journal holds of one command.

    Args:
        command: its command line.
        samples, distributions, comparisons, audits: how many.
        size: bytes.
        written: when the last row was, in seconds since 1970.
    """

    command: str
    samples: int
    distributions: int
    comparisons: int
    audits: int
    size: int
    written: float


def location() -> Path | None:
    """The file: $DPAUDIT_JOURNAL, or .dpaudit/journal.sqlite3 in the working directory; None where it is "off"."""
    given = os.environ.get("DPAUDIT_JOURNAL", "")
    return None if given == "off" else Path(given or ".dpaudit/journal.sqlite3").absolute()


class Journal:
    """The journal, as one command reads and writes it.

    Args:
        command: the command line.
        path: the file; None for none.
    """

    def __init__(self, command: str, path: Path | None) -> None:
        self.command = command
        self.trouble = ""
        """Why rows that are there are not used, or nothing more is written; "" while there is no reason."""
        self._path = path
        self._open: sqlite3.Connection | None = None
        self._secret: bytes | None = None
        self._rows: list[_Row] = []
        self._finished: list[tuple[str, set[str]]] = []
        self._replaced: list[tuple[str, set[str]]] = []
        self._written = time.monotonic() + WRITTEN_FROM - WRITTEN_EVERY

    @property
    def is_off(self) -> bool:
        """Whether nothing is kept."""
        return self._path is None

    @property
    def is_due(self) -> bool:
        """Whether it is time to write."""
        return self._path is not None and time.monotonic() - self._written >= WRITTEN_EVERY

    @property
    def is_there(self) -> bool:
        """Whether there is anything that might be read."""
        return self._path is not None and (self._open is not None or self._path.exists())

    def places(self, kind: str, key: str) -> list[Place]:
        """The rows of one stream, in order."""
        asked = "SELECT first, size FROM rows1 WHERE kind = ? AND key = ? ORDER BY first, size"
        return [Place(*row) for row in self._select(asked, (kind, key))]

    def body(self, kind: str, key: str, place: Place) -> bytes | None:
        """The content of a row; None where it is not what this user has written."""
        asked = "SELECT checksum, body FROM rows1 WHERE kind = ? AND key = ? AND first = ? AND size = ?"
        for checksum, body in self._select(asked, (kind, key, *place)):
            if self._secret is None:
                self._secret = user_secret()
            whole = self._secret is not None and type(checksum) is type(body) is bytes
            if whole and hmac.compare_digest(checksum, self._checksum(kind, key, place, body)):
                content: bytes = body
                return content
            self.trouble = "it is damaged, or was not written with this user's key"
        return None

    def keep(self, kind: str, key: str, place: Place, body: bytes) -> None:
        """Keep a row; about every second, rows are written."""
        if self._path is None:
            return
        self._rows.append(_Row(kind, key, place, body, time.time()))
        if self.is_due:
            self.write()

    def write(self) -> None:
        """Write what is not yet written; what cannot be kept is no reason to stop."""
        rows, self._rows = self._rows, []
        replaced, self._replaced = self._replaced, []
        self._written = time.monotonic()
        if not rows or self._path is None:
            return
        try:
            if self._secret is None:
                self._secret = user_secret() or new_user_secret()
            connection = self._connected(make=True)
            assert connection is not None
            with connection:
                number = self._number(connection)
                connection.executemany("INSERT OR REPLACE INTO rows1 VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [
                    (kind, key, *place, number, written, self._checksum(kind, key, place, body), body)
                    for kind, key, place, body, written in rows
                ])
                for kind, gone in replaced:
                    _delete(connection, kind, gone)
        except _FAILURES as error:
            self._give_up(f"it cannot be written ({error})")

    def finished(self, kind: str, keys: Iterable[str]) -> None:
        """What some rows were for is finished: no more of them are written.

        Those that are will be deleted when its result is kept (`keep_result`), or written to its files (`settle`):
        until then a killed command needs them.
        """
        gone = set(keys)
        self._drop(kind, gone)
        self._finished.append((kind, gone))

    def keep_result(self, kind: str, key: str, place: Place, body: bytes) -> None:
        """Keep a row that replaces those of what is finished."""
        self._replaced += self._finished
        self._finished = []
        self.keep(kind, key, place, body)

    def settle(self) -> None:
        """Delete the rows of what is finished."""
        finished, self._finished, self._replaced = self._replaced + self._finished, [], []
        for kind, keys in finished:
            self.forget(kind, keys)

    def forget(self, kind: str, keys: Iterable[str]) -> None:
        """Delete rows at once."""
        gone = set(keys)
        self._drop(kind, gone)
        if not gone or self._path is None or not self._path.exists():
            return
        try:
            connection = self._connected(make=False)
            if connection is not None:
                with connection:
                    _delete(connection, kind, gone)
                # a script is stepped to its end
                connection.executescript("PRAGMA incremental_vacuum")
        except _FAILURES as error:
            self._give_up(f"it cannot be written ({error})")

    def close(self) -> None:
        """Write what there is, if anything was written before or is worth it, and close the file."""
        if self._rows and (self._open is not None or time.monotonic() - self._written >= 0):
            self.write()
        if self._open is not None:
            with contextlib.suppress(*_FAILURES):
                self._open.close()
            self._open = None

    def _drop(self, kind: str, gone: set[str]) -> None:
        self._rows = [row for row in self._rows if row.kind != kind or row.key not in gone]

    # --- the file ---

    def _select(self, asked: str, given: tuple[object, ...]) -> list[tuple[Any, ...]]:
        if not self.is_there:
            return []
        try:
            connection = self._connected(make=False)
            return [] if connection is None else connection.execute(asked, given).fetchall()
        except _FAILURES as error:
            self._give_up(f"it cannot be read ({error})")
            return []

    def _connected(self, *, make: bool) -> sqlite3.Connection | None:
        if self._open is None:
            assert self._path is not None
            self._open = _connection(self._path, make=make)
        return self._open

    def _number(self, connection: sqlite3.Connection) -> int:
        text = (_text(self.command),)
        connection.execute("INSERT OR IGNORE INTO commands1 (text) VALUES (?)", text)
        number: int = connection.execute("SELECT id FROM commands1 WHERE text = ?", text).fetchone()[0]
        return number

    def _checksum(self, kind: str, key: str, place: Place, body: bytes) -> bytes:
        assert self._secret is not None
        return keyed_checksum(self._secret, json.dumps([_FORMAT, kind, key, *place]), body)

    def _give_up(self, why: str) -> None:
        self.trouble = why
        with contextlib.suppress(*_FAILURES):
            if self._open is not None:
                self._open.close()
        self._open, self._path, self._rows = None, None, []


def _connection(path: Path, *, make: bool) -> sqlite3.Connection | None:
    """The file, opened; None where it is not there and is not to be made.

    Raises:
        sqlite3.Error, OSError: it cannot be.
    """
    if make:
        path.parent.mkdir(parents=True, exist_ok=True)
    elif not path.is_file():
        # a pipe would be waited for for ever
        return None
    connection = sqlite3.connect(path, timeout=_BUSY, check_same_thread=False)
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        # after a power cut the last second may be missing, and nothing is damaged
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_TABLES)
    except BaseException:
        connection.close()
        raise
    return connection


def _delete(connection: sqlite3.Connection, kind: str, gone: set[str]) -> None:
    connection.executemany("DELETE FROM rows1 WHERE kind = ? AND key = ?", [(kind, key) for key in gone])
    connection.execute(_UNUSED)


def _text(command: str) -> str:
    # SQLite refuses halves of surrogate pairs
    return command.encode(errors="replace").decode()


# --- for `dpaudit journal` ---


def contents() -> list[Kept]:
    """What the journal holds, by command, the latest first.

    Raises:
        UsageError: it cannot be read.
    """
    with _opened() as connection:
        if connection is None:
            return []
        rows = connection.execute(
            "SELECT text, SUM(CASE kind WHEN 'samples' THEN size ELSE 0 END), "
            "SUM(CASE kind WHEN 'distributions' THEN size ELSE 0 END), "
            "SUM(CASE kind WHEN 'comparisons' THEN size ELSE 0 END), SUM(kind = 'audit'), "
            "SUM(LENGTH(body)), MAX(written) FROM rows1 JOIN commands1 ON commands1.id = command "
            "GROUP BY command ORDER BY MAX(written) DESC"
        ).fetchall()
        return [Kept(*row) for row in rows]


def prune(*, older: float = 0.0) -> tuple[int, int]:
    """Delete rows; returns how many, and their bytes.

    Args:
        older: seconds; only rows that were written longer ago are deleted.

    Raises:
        UsageError: the journal cannot be written.
    """
    with _opened() as connection:
        if connection is None:
            return 0, 0
        before = time.time() - older
        asked = "SELECT COUNT(*), COALESCE(SUM(LENGTH(body)), 0) FROM rows1 WHERE written <= ?"
        number, size = connection.execute(asked, (before,)).fetchone()
        with connection:
            connection.execute("DELETE FROM rows1 WHERE written <= ?", (before,))
            connection.execute(_UNUSED)
        connection.execute("VACUUM")
        return number, size


def export(to: Path) -> int:
    """Copy the journal to a new file; returns the number of rows.

    Raises:
        UsageError: there is no journal, the file is there already, or one of them cannot be used.
    """
    if os.path.lexists(to):
        raise UsageError(f"{to} is there already.")
    with _opened() as connection:
        if connection is None:
            raise UsageError(f"There is no journal at {location() or 'all'}, so there is nothing to export.")
        number: int = connection.execute("SELECT COUNT(*) FROM rows1").fetchone()[0]
        connection.execute("VACUUM INTO ?", (str(to),))
        return number


def add(source: Path) -> int:
    """Take the rows of an exported journal over, as if this user had computed them; returns how many.

    Raises:
        UsageError: it is no journal, or one of the files cannot be used.
    """
    if not source.is_file():
        raise UsageError(f"There is no file {source}.")
    path = location()
    if path is None:
        raise UsageError("The journal is off (DPAUDIT_JOURNAL), so nothing can be added to it.")
    try:
        secret = user_secret() or new_user_secret()
        with closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as other:
            rows = other.execute(
                "SELECT kind, key, first, size, text, written, body FROM rows1 JOIN commands1 ON commands1.id = command"
            ).fetchall()
        connection = _connection(path, make=True)
        assert connection is not None
        with closing(connection), connection:
            for kind, key, first, size, text, written, body in rows:
                connection.execute("INSERT OR IGNORE INTO commands1 (text) VALUES (?)", (text,))
                about = json.dumps([_FORMAT, kind, key, first, size])
                connection.execute(
                    "INSERT OR REPLACE INTO rows1 SELECT ?, ?, ?, ?, id, ?, ?, ? FROM commands1 WHERE text = ?",
                    (kind, key, first, size, written, keyed_checksum(secret, about, body), body, text),
                )
        return len(rows)
    except (*_FAILURES, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"{source} cannot be added to the journal ({error}).") from None


@contextlib.contextmanager
def _opened() -> Iterator[sqlite3.Connection | None]:
    """The journal of this folder; None where there is none.

    Raises:
        UsageError: it cannot be used.
    """
    path = location()
    try:
        connection = None if path is None else _connection(path, make=False)
        if connection is None:
            yield None
            return
        with closing(connection):
            yield connection
    except _FAILURES as error:
        raise UsageError(f"The journal {path} cannot be used ({error}); delete it if it is damaged.") from None
