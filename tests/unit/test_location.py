"""Where the text of what is audited stands: lines that are right, and the path of no machine."""

from __future__ import annotations

import functools
import math
import statistics
import sys
from pathlib import Path
from typing import Any

import audit_toys
import pytest
from typed_commands import Register, Typed

from dpaudit.plans import registry
from dpaudit.plans.location import location_of
from dpaudit.plans.play import Called
from dpaudit.results.model import Location
from dpaudit.subjects.target import load_object

REPOSITORY = Path(__file__).resolve().parents[2]
MINE = '''"""Mine."""
import functools


def wrapped(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)
    return inner


@wrapped
def noisy(data, rng):
    return 0


class Counter:
    def __call__(self, data, rng):
        return 0


count = Counter()
'''


def _text(found: Location | None, root: Path) -> str:
    assert found is not None
    lines = (root / found.file).read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[found.line - 1 : found.end_line])


def test_a_function_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mine.py").write_text(MINE)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    noisy, _ = load_object("sub/mine.py:noisy")
    assert location_of(noisy) == Location("sub/mine.py", 12, 14, "mine.noisy")
    assert location_of(functools.partial(noisy, [1])) == location_of(noisy)
    assert location_of(Called(noisy, "noisy")) == location_of(noisy)
    count, _ = load_object("sub/mine.py:count")
    assert location_of(count) == Location("sub/mine.py", 18, 19, "mine.Counter")
    monkeypatch.chdir(tmp_path / "sub")
    assert location_of(noisy) == Location("mine.py", 12, 14, "mine.noisy")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert location_of(noisy) == Location("mine.py", 12, 14, "mine.noisy"), "no path of this machine"


def test_every_registered_mechanism_has_a_place_that_is_the_same_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (REPOSITORY, tmp_path):
        monkeypatch.chdir(folder)
        for group in (registry.ALGORITHMS, registry.CORPUS):
            for name in registry.names(group):
                kind = registry.algorithm(name)
                found = location_of(_instance(name))
                assert found is not None, name
                assert found.file.startswith("dpaudit_"), found
                assert found.file.endswith(".py")
                text = _text(found, REPOSITORY / "algorithms")
                assert "def run(" in text or f"class {kind.__name__}" in text, (name, found)


def _instance(name: str) -> Any:
    return registry.plan(name).cases()[0].mechanism


def test_a_package_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, register: Register) -> None:
    package = tmp_path / "src" / "dpaudit_mine"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("def top(data, rng):\n    return 0\n")
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "means.py").write_text("def mean(data, rng):\n    return 0\n")
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    monkeypatch.chdir(tmp_path)
    mean, _ = load_object("dpaudit_mine.inner.means:mean")
    top, _ = load_object("dpaudit_mine:top")
    named = "dpaudit_mine.inner.means.mean"
    assert location_of(mean) == Location("src/dpaudit_mine/inner/means.py", 1, 2, named)
    register([{"Mean": "dpaudit_mine.inner.means:mean"}], [{}])
    from dpaudit.plans import location

    location._located.cache_clear()
    assert location_of(mean) == Location("dpaudit_mine/inner/means.py", 1, 2, named)
    assert location_of(top) == Location("dpaudit_mine/__init__.py", 1, 2, "dpaudit_mine.top")
    location._located.cache_clear()


def test_what_has_no_text() -> None:
    assert location_of(len) is None
    assert location_of(math.floor) is None
    assert location_of(print) is None
    typed: dict[str, Any] = {"__name__": "__main__"}
    exec("def f(data, rng): return 0", typed)
    assert location_of(typed["f"]) is None
    library = location_of(statistics.mean)
    assert library is not None
    assert (library.file, library.name) == ("statistics.py", "statistics.mean")


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_a_replay_does_not_mind_a_line_more(typed: Typed) -> None:
    from dpaudit.report import files as report_files

    asked = "check u.py:fair --epsilon 1 --pair [0] [1] --runs 500 --json r.json"
    assert typed(asked).code == 0
    (audit,) = report_files.read("r.json").audits
    assert audit.location is not None
    assert audit.location.file == "u.py"
    text = Path("u.py").read_text(encoding="utf-8")
    assert text.splitlines()[audit.location.line - 1].startswith("def fair(")
    Path("u.py").write_text("# a line more\n" + text, encoding="utf-8")
    said = typed(f"replay {audit.replay}")
    assert said.code == 0
    assert "Reproduced" in said.err


def test_toys_are_found() -> None:
    found = location_of(audit_toys.Response())
    assert found is not None
    assert found.name == "audit_toys.Response"
