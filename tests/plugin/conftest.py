"""The fixture that runs pytest inside tests of its plugin."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis.database import InMemoryExampleDatabase
from plugin_runs import Runs


@pytest.fixture
def kept() -> Iterator[InMemoryExampleDatabase]:
    """Hypothesis's example database, of this test alone."""
    before, database = settings.get_current_profile_name(), InMemoryExampleDatabase()
    settings.register_profile("of one plugin test", database=database, derandomize=False)
    settings.load_profile("of one plugin test")
    yield database
    settings.load_profile(before)


@pytest.fixture
def runs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, kept: InMemoryExampleDatabase) -> Runs:
    """See `Runs`."""
    return Runs(pytester, monkeypatch)
