"""One pytest session: its settings, how α is shared, what was audited, and what is written at its end."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dpaudit.errors import DpauditError, UsageError
from dpaudit.pytest_plugin import evidence
from dpaudit.pytest_plugin.record import Record
from dpaudit.pytest_plugin.settings import LEAST_ALPHA, Settings, item_share

FIXTURES = ("dp_audit", "dp_samples")
MARK = "dp"


@dataclass
class Session:
    """What one process knows of the session; a worker of xdist makes audits, and the process that started it writes.

    Args:
        config: pytest's.
        tests: how many tests were collected, and not deselected, that may audit.
        records: of all audits so far, in the process that writes.
        trouble: why the settings or the number of tests cannot be used; None where they can.
    """

    config: pytest.Config
    tests: int = 0
    records: list[Record] = field(default_factory=list)
    trouble: str | None = None
    complaint: str | None = None
    """Why something could not be written at the end."""
    _settings: Settings | None = None
    _evidence: evidence.Evidence | None = None

    @property
    def worker(self) -> bool:
        """Whether this is a worker process of xdist."""
        return hasattr(self.config, "workerinput")

    @property
    def here(self) -> Path:
        """The folder in which pytest was called."""
        return Path(self.config.invocation_params.dir)

    @property
    def settings(self) -> Settings:
        """The settings.

        Raises:
            UsageError: they cannot be used.
        """
        if self._settings is None:
            self._settings = Settings.read(self.config.getoption, root=Path(self.config.rootpath), here=self.here)
        return self._settings

    @property
    def evidence(self) -> evidence.Evidence | None:
        """The evidence file as it was before this session; None without one.

        Raises:
            UsageError: it cannot be read, or does not have the session to repeat.
        """
        path = self.settings.evidence
        if path is None:
            return None
        if self._evidence is None:
            earlier = evidence.read(path)
            session = self.settings.session
            if session is not None and session > earlier.sessions:
                raise UsageError(
                    f"{path} has {earlier.sessions} sessions; there is no --dp-session={session} to repeat."
                )
            self._evidence = earlier
        return self._evidence

    @property
    def number(self) -> int:
        """Number of this session in the evidence file, from 1; 0 without one."""
        if self.evidence is None:
            return 0
        return self.settings.session or self.evidence.sessions + 1

    @property
    def items(self) -> int:
        """Over how many tests α is shared.

        Raises:
            UsageError: --dp-items is fewer than were collected.
        """
        wanted = self.settings.items
        if wanted is not None and wanted < self.tests:
            raise UsageError(
                f"{self.tests} tests of differential privacy were collected, and --dp-items={wanted} shares α over "
                f"fewer; raise it to at least {self.tests}."
            )
        if wanted is not None:
            return wanted
        seen = self.evidence.items if self.evidence is not None else 0
        return max(self.tests, seen, 1)

    @property
    def share(self) -> float:
        """Each test's share of α."""
        return item_share(self.settings.alpha, self.items)

    def collected(self, items: Sequence[pytest.Item]) -> None:
        """Count the tests that α is shared over.

        Raises:
            pytest.UsageError: the settings cannot be used; in a worker each test says so instead.
        """
        self.tests = sum(map(audits, items))
        if not self.tests:
            return
        try:
            _ = self.share, self.number
        except DpauditError as error:
            self.trouble = str(error)
            if not self.worker:
                raise pytest.UsageError(self.trouble) from None

    def shared(self, items: int) -> str:
        """The line on shares of α."""
        settings = self.settings
        if items == 1:
            text = f"dp: α = {settings.alpha:g} for 1 test"
        else:
            text = f"dp: α = {settings.alpha:g} shared over {items} tests: {item_share(settings.alpha, items):.2g} each"
        session = f", session {self.number} of {self._name(settings.evidence)}" if settings.evidence is not None else ""
        return f"{text}; seed {settings.seed}{session}"

    def again(self, test: str) -> str:
        """The command that repeats a test's audits with the same samples and shares of α."""
        settings = self.settings
        words = ["pytest", self._below_here(test), f"--dp-seed={settings.seed}"]
        # alone, the test has all of α: its share; but evidence remembers how many tests there were, and its file the α
        if settings.evidence is None and self.share >= LEAST_ALPHA:
            words.append(f"--dp-alpha={self.share!r}")
        else:
            words += [f"--dp-alpha={settings.alpha!r}", f"--dp-items={self.items}"]
        for name in ("dp_runs", "dp_time"):
            given = self.config.getoption(name)
            words += [] if given is None else [f"--{name.replace('_', '-')}={given!r}"]
        if settings.evidence is not None:
            words += [f"--dp-evidence={self._name(settings.evidence)}", f"--dp-session={self.number}"]
        return shlex.join(words)

    def repeated(self, test: str) -> str:
        """The command that repeats what a test does without α."""
        settings = self.settings
        words = ["pytest", self._below_here(test), f"--dp-seed={settings.seed}"]
        return shlex.join(words if settings.time is None else [*words, f"--dp-time={settings.time!r}"])

    def command(self) -> str:
        """The command that repeats the session."""
        return shlex.join(["pytest", *map(str, self.config.invocation_params.args)])

    def finished(self) -> None:
        """Write the files, and keep errors for the summary."""
        if self.worker or not self.records:
            return
        # a rerun of a failed test repeats the same audits
        latest = {(record.test, record.call, record.replay): record for record in self.records}
        self.records = sorted(latest.values(), key=lambda record: (record.test, record.call))
        steps = [self._write_evidence, self._write_report]
        for step in steps:
            try:
                step()
            except Exception as error:
                # an error in one step must not prevent the other
                what = str(error) if isinstance(error, DpauditError) else f"dpaudit itself failed ({error!r})."
                self.complaint = f"{self.complaint} {what}" if self.complaint else what

    def _write_evidence(self) -> None:
        # a repeated session is already in the file
        if self.evidence is not None and self.settings.session is None:
            self.evidence.after(self.records).write()

    def _write_report(self) -> None:
        if self.settings.report is not None:
            from dpaudit.pytest_plugin import reports

            reports.write(self.settings.report, self.records, command=self.command(), settings=self.settings)

    def _name(self, path: Path | None) -> str:
        return "" if path is None else os.path.relpath(path, self.here)

    def _below_here(self, test: str) -> str:
        """A node id as it is typed where pytest was called."""
        path, colons, rest = test.partition("::")
        return Path(os.path.relpath(Path(self.config.rootpath) / path, self.here)).as_posix() + colons + rest


SESSION = pytest.StashKey[Session]()


def session_of(config: pytest.Config) -> Session:
    """The session's state."""
    session = config.stash.get(SESSION, None)
    if session is None:
        session = config.stash[SESSION] = Session(config)
    return session


def audits(item: pytest.Item) -> bool:
    """Whether a test has a share of α: it asks for `dp_audit` or `dp_samples`, or bears the mark itself."""
    return any(name in FIXTURES for name in getattr(item, "fixturenames", ())) or own_mark(item)


def own_mark(item: pytest.Item) -> bool:
    """Whether the mark stands on the test itself, and not on its class or module."""
    return any(mark.name == MARK for mark in item.own_markers)


def test_name(item: pytest.Item) -> str:
    """The node id; what xdist appends for its groups is no part of it."""
    name = item.nodeid
    if any(True for _ in item.iter_markers("xdist_group")) and getattr(item.config.option, "loadgroup", False):
        name = name.rpartition("@")[0] or name
    return name

