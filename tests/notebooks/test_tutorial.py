"""The tutorial runs, and what stands in it is what it prints: `pytest --update-snapshots` writes its outputs anew.

Outputs are compared as text: figures and the HTML of results are made by every run, and tested elsewhere. All audits
have fixed seeds; the true claims among them are refuted with probability at most 0.001 each.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # it needs the packages of [dev]

pytest.importorskip("ipykernel", reason="the kernel of notebooks comes with the extra 'notebook'")
nbformat = pytest.importorskip("nbformat", reason="notebooks are read with the extra 'notebook'")
nbclient = pytest.importorskip("nbclient", reason="notebooks are run with the extra 'notebook'")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "notebooks" / "tutorial.ipynb"
LIMIT = 600
"""Seconds for one cell on a busy machine; the whole takes less than a minute on a quiet one."""
LARGEST = 300_000
"""Bytes of the file with its outputs."""


@pytest.fixture(scope="module")
def kept() -> Any:
    """The notebook as it is in the repository."""
    return nbformat.read(NOTEBOOK, as_version=4)


def test_it_runs_and_prints_what_it_shows(
    kept: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # the kernel imports what this process does, keeps its files to itself, and shows no progress, which varies
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    book = nbformat.from_dict(kept)
    # a busy machine sends what one cell prints in several pieces
    client = nbclient.NotebookClient(
        book, timeout=LIMIT, kernel_name="python3", coalesce_streams=True,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    if request.config.getoption("--update-snapshots"):
        _write(book)
    again = nbformat.read(NOTEBOOK, as_version=4)
    for cell, fresh in zip(again.cells, book.cells, strict=True):
        assert _texts(cell) == _texts(fresh), f"the output of {cell.source[:60]!r}… differs; see --update-snapshots"


def test_it_is_small_and_of_nobodys_machine(kept: Any) -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    assert set(kept.metadata) <= {"kernelspec", "language_info"}
    assert all("execution" not in cell.metadata for cell in kept.cells)
    assert all(cell.outputs or cell.source.endswith("plt.show()") for cell in kept.cells if cell.cell_type == "code")
    assert any("_repr_html_" not in html and "dpaudit-result" in html for html in _of_kind(kept, "text/html"))
    assert len(_of_kind(kept, "image/png")) == 1


def test_it_has_no_errors_and_no_progress(kept: Any) -> None:
    outputs = [output for cell in kept.cells if cell.cell_type == "code" for output in cell.outputs]
    assert {output.output_type for output in outputs} <= {"stream", "execute_result", "display_data"}
    assert all(output.name == "stdout" for output in outputs if output.output_type == "stream")


def _texts(cell: Any) -> list[str]:
    """What a cell shows as text, without the addresses of objects."""
    found = []
    for output in cell.get("outputs", []):
        text = output.text if output.output_type == "stream" else output.get("data", {}).get("text/plain", "")
        found.append(re.sub(r"0x[0-9a-f]+", "0x…", text))
    return [text for text in found if text]


def _of_kind(book: Any, kind: str) -> list[str]:
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def _write(book: Any) -> None:
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    book.metadata["language_info"] = {"name": "python"}
    nbformat.write(book, NOTEBOOK)
