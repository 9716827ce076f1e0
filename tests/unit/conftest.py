"""Fixtures of the command line: typing a line in a folder of its own, and a toy catalogue."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import audit_toys
import pytest
from bad_files import write_files
from typed_commands import Register, Said, Typed

from dpaudit.cli import commands
from dpaudit.plans import registry


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Typed:
    """`typed("check", …)`, or one string that is split as a shell would: run the real entry point in tmp_path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DPAUDIT_STORE", raising=False)
    monkeypatch.delenv("DPAUDIT_TRACEBACK", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    path = list(sys.path)
    monkeypatch.setattr(sys, "path", path)

    def run(*words: str) -> Said:
        line = shlex.split(words[0]) if len(words) == 1 else list(words)
        monkeypatch.setattr(sys, "argv", ["dpaudit", *line])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            commands.main()
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Said(ended.value.code, said.out, said.err)

    return run


class _Point:
    """An entry point whose table is given."""

    def __init__(self, table: Any, value: str = "toys:TABLE") -> None:
        self.name = self.value = value
        self.table = table

    def load(self) -> Any:
        if isinstance(self.table, Exception):
            raise self.table
        return self.table


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Register]:
    """`register(algorithms=[table, …], audits=[…])` replaces what is installed."""

    def put(algorithms: list[Any], audits: list[Any], corpus: list[Any] | None = None) -> None:
        tables = {"dpaudit.algorithms": algorithms, "dpaudit.audits": audits, "dpaudit.corpus": corpus or []}
        registry.names.cache_clear()
        monkeypatch.setattr(
            registry, "entry_points", lambda group: [_Point(t, f"toys{i}:T") for i, t in enumerate(tables[group])]
        )

    yield put
    registry.names.cache_clear()


@pytest.fixture
def catalogue(register: Register) -> None:
    """The toy catalogue instead of the installed ones."""
    register([audit_toys.ALGORITHMS], [audit_toys.AUDITS])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder of bad (and some good) files in which the commands are typed."""
    write_files(tmp_path)
    return tmp_path
