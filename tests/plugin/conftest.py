"""The fixture that runs pytest inside tests of its plugin."""

from __future__ import annotations

import pytest
from plugin_runs import Runs


@pytest.fixture
def runs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """See `Runs`."""
    return Runs(pytester, monkeypatch)
