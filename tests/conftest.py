"""Snapshots of whole outputs: files under `tests/snapshots/`, rewritten by `pytest --update-snapshots`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = "pytester"  # for tests of the pytest plugin, in folders and sessions of their own

_SNAPSHOTS = Path(__file__).parent / "snapshots"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-snapshots`."""
    parser.addoption(
        "--update-snapshots", action="store_true", help="write what is printed now as the snapshots"
    )


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`snapshot(name, text)` compares the text with the file of that name."""
    update = request.config.getoption("--update-snapshots")

    def compare(name: str, text: str) -> None:
        path = _SNAPSHOTS / name
        if update:
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"there is no {name}; run pytest --update-snapshots and read what it writes"
        assert text == path.read_text(encoding="utf-8"), f"{name} differs; see pytest --update-snapshots"

    return compare
