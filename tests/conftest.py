"""The two tiers of tests, their Hypothesis profile, and snapshots of whole outputs.

`@pytest.mark.slow` keeps a test out of the fast tier. With arguments it is about some instances of a parametrised test.
Patterns (fnmatch) of ids name them: `slow(only=["RecPrefix-*"])` makes these slow, `slow(fast=["1.0-*"])` all others.

Snapshots are files under `tests/snapshots/`; `pytest --update-snapshots` rewrites them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import settings

from dpaudit.interpret import Outputs
from dpaudit.subjects import runner

pytest_plugins = "pytester"  # for tests of the pytest plugin, in folders and sessions of their own

# the same examples in every run: a test that fails for one reader fails for all
settings.register_profile("dpaudit", derandomize=True, deadline=None)
settings.load_profile("dpaudit")

# what a test that was killed has left must not be what the next one reads
os.environ["DPAUDIT_JOURNAL"] = "off"


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Worker processes take over after the first part of a unit; the names of the targets that they ran."""
    ran: list[str] = []
    ready, on_workers = runner.Runner.are_ready, runner._Ahead.on_workers

    def started(self: runner.Runner) -> bool:
        ready(self)
        wait(self._ready)
        return True

    def spy(self: runner._Ahead) -> Iterator[tuple[int, Outputs]]:
        ran.append(self.target.name)
        return on_workers(self)

    monkeypatch.setattr(runner, "WORTH_A_POOL", 0.0)
    monkeypatch.setattr(runner, "WORTH_STARTING", -1.0)
    monkeypatch.setattr(runner.Runner, "are_ready", started)
    monkeypatch.setattr(runner._Ahead, "on_workers", spy)
    return ran


_SNAPSHOTS = Path(__file__).parent / "snapshots"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-snapshots`."""
    parser.addoption(
        "--update-snapshots", action="store_true", help="write what is printed now as the snapshots"
    )


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Take the mark `slow` from instances of tests that it is not about."""
    for item in items:
        item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "slow" or _is_slow(item, mark)]


def _is_slow(item: pytest.Item, mark: pytest.Mark) -> bool:
    name = item.callspec.id if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ""
    if "only" in mark.kwargs:
        return any(fnmatchcase(name, pattern) for pattern in mark.kwargs["only"])
    return not any(fnmatchcase(name, pattern) for pattern in mark.kwargs.get("fast", ()))


def _blank(text: str) -> str:
    """The text with zeros for the digits of its floats, so that columns keep their width."""
    return re.sub(r"\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+", lambda found: re.sub(r"\d", "0", found[0]), text)


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`snapshot(name, text)` compares the text with the file of that name."""
    update = request.config.getoption("--update-snapshots")

    def compare(name: str, text: str) -> None:
        path = _SNAPSHOTS / name
        if update:
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"there is no {name}; run pytest --update-snapshots and read what it writes"
        # structure, not floats: other tests hold numbers against what they must be
        kept = path.read_text(encoding="utf-8")
        assert _blank(text) == _blank(kept), f"{name} differs; see pytest --update-snapshots"

    return compare
