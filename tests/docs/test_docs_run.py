"""What README.md and the pages of the site show is what the program does: their commands and their Python are run.

`pytest tests/docs --update-snapshots` writes what is printed now into the blocks marked `<!-- output -->`.
"""

from __future__ import annotations

import os
import shlex
import sys
import tomllib
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest
from docs_blocks import ROOT, RUNNABLE, Block, blocks, follow, lines, named, needs, pages

PAGES = [page for page in pages() if any(block.mark for block in blocks(page))]


def exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("page", pages(), ids=named)
def test_every_block_says_what_it_is(page: Path) -> None:
    marks = ("file: ", "run", "output", "not run: ")
    unmarked = [
        block.where for block in blocks(page) if block.language in RUNNABLE and not block.mark.startswith(marks)
    ]
    assert not unmarked, f"say before each block whether it is run, see docs_blocks.py: {', '.join(unmarked)}"


@pytest.mark.slow(fast=["explanation/*", "index.md"])
@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_page_holds(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    missing = [module for module in needs(page) if not exists(module)]
    if missing:
        pytest.skip(f"the page is about {', '.join(missing)}, which is not here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    modules, names = set(sys.modules), {"__name__": "page"}
    printed = ""
    try:
        for block in blocks(page):
            if block.mark == "output" and request.config.getoption("--update-snapshots"):
                rewrite(page, block, printed)
                continue
            printed = follow(block, printed, names, tmp_path)
            if block.mark == "file: pyproject.toml":
                install(tmp_path)
    finally:
        for name in set(sys.modules) - modules:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
                del sys.modules[name]


def install(folder: Path) -> None:
    """Make the entry points of a folder's pyproject.toml known, as an installation would."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8")
    points = [
        f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in table.items())
        for group, table in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(points), encoding="utf-8")


def rewrite(page: Path, block: Block, printed: str) -> None:
    """Write what was printed into the page (`--update-snapshots`)."""
    text = page.read_text(encoding="utf-8")
    was = f"<!-- output -->\n```{block.language}\n{block.text}```"
    assert text.count(was) == 1, f"{block.where} is not the only block with its text"
    now = f"<!-- output -->\n```{block.language}\n" + "\n".join(lines(printed)) + "\n```"
    page.write_text(text.replace(was, now), encoding="utf-8")


def environment(folder: Path) -> dict[str, str]:
    """`dpaudit` and `pytest` of this interpreter and this checkout, whatever is installed."""
    bin_folder = folder / ".bin"
    bin_folder.mkdir()
    plugin = "dpaudit.pytest_plugin"
    loaded = any(point.value == plugin for point in entry_points(group="pytest11"))
    with_plugin = f"pytest -p {plugin}" if exists(plugin) and not loaded else "pytest"
    for name, words in (("dpaudit", "-m dpaudit.cli.commands"), ("pytest", f"-m {with_plugin}"), ("python", "")):
        script = bin_folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    path = [str(folder), str(ROOT), str(ROOT / "algorithms"), str(ROOT / "audits"), os.environ.get("PYTHONPATH", "")]
    return {
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "PYTEST_ADDOPTS": "",
    }
