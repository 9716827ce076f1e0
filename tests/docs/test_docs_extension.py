"""What the Sphinx extension makes of pages and docstrings before Sphinx reads them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docs_blocks import DOCS, blocks, pages

pytest.importorskip("sphinx", reason="Sphinx comes with the docs extra")
sys.path.insert(0, str(DOCS / "_ext"))

import dpaudit_docs


def test_the_name_of_a_file_is_shown() -> None:
    source = ["Text.\n\n<!-- file: my.py -->\n```python\nx = 1\n```\n\n<!-- run -->\n```sh\nls\n```\n"]
    dpaudit_docs.file_names(None, "page", source)
    assert source == [
        "Text.\n\n```{code-block} python\n:caption: my.py\n\nx = 1\n```\n\n<!-- run -->\n```sh\nls\n```\n"
    ]


def test_every_name_of_a_file_in_the_pages_is_shown() -> None:
    for page in pages():
        named = [block.mark for block in blocks(page) if block.mark.startswith("file: ")]
        source = [page.read_text(encoding="utf-8")]
        dpaudit_docs.file_names(None, page.stem, source)
        assert source[0].count("\n:caption: ") == len(named)
        assert "<!-- file: " not in source[0]


def test_patterns_that_match_nothing_leave_the_table_of_contents() -> None:
    app: Any = SimpleNamespace(env=SimpleNamespace(found_docs={"how-to/pytest", "notebooks/tutorial"}))
    source = ["```{toctree}\n:glob:\n\npytest\nlibraries*\n/notebooks/*\n```\n\nlibraries*\n"]
    dpaudit_docs.optional_pages(app, "how-to/index", source)
    assert source == ["```{toctree}\n:glob:\n\npytest\n/notebooks/*\n```\n\nlibraries*\n"]


@pytest.mark.parametrize("built", [False, True])
def test_reports_are_copied_beside_the_pages(built: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import docs_catalogue

    monkeypatch.setattr(docs_catalogue, "BUILT", tmp_path / "report")
    if built:
        (tmp_path / "report").mkdir()
        (tmp_path / "report" / "index.html").write_text("", encoding="utf-8")
    app: Any = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path / "site")
    for _ in range(2):  # of an earlier build nothing is left
        dpaudit_docs.copy_reports(app, None)
        assert (tmp_path / "site" / "reports" / "RecPrefix.html").is_file()
        assert (tmp_path / "site" / "reports" / "catalogue" / "index.html").is_file() == built


def test_docstrings_are_plain_text() -> None:
    lines = ["log*|X| and x_, `a_|b`.", "", "    a | b"]
    dpaudit_docs.as_rst(None, "function", "f", len, None, lines)
    assert lines[0] == r"log\*\|X\| and x\_, `a_|b`."
    assert lines[2:5] == ["::", "", "    a | b"]
