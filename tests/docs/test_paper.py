"""The report: its numbers are made, and none is typed in."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from docs_blocks import DOCS

sys.path.insert(0, str(DOCS.parent / "tools"))

import paper

TYPED = {
    "60",  # lines of a script, at most: a test of the scripts holds it
    "22", "21", "0", "1",  # records of a witness
    "9", "0.9",  # the power that a PASS needs
    "2", "4", "7",  # "by two", and the thesis's chapters
}
"""Numbers of the text that were not measured."""


def prose() -> str:
    """The text without formulas, code, references and what LaTeX itself reads."""
    text = paper.SOURCE.read_text(encoding="utf-8").partition(r"\begin{document}")[2].partition(r"\begin{thebib")[0]
    for pattern in (
        r"%.*", r"\\begin\{verbatim\}.*?\\end\{verbatim\}", r"\\begin\{(equation|longtable|tabular)\}.*?\\end\{\1\}",
        r"\\\[.*?\\\]", r"\$[^$]*\$", r"\\(datum|cite|ref|label|code|includegraphics|rows)(\[[^\]]*\])?\{[^}]*\}",
        r"(Lemma|Theorem|Section|Finding)s?[~ ][\d.()]+", r"\(?findings? \d+[\d, and]*\)?", r"\\multicolumn\{\d\}",
        r"\(\d+\)", r"8\{,\}000",  # enumerations, a finding by its number; examples of a witness
    ):
        text = re.sub(pattern, " ", text, flags=re.DOTALL)
    return text


def test_no_measured_number_is_typed_in() -> None:
    assert set(re.findall(r"\d+(?:[.,]\d+)*", prose())) <= TYPED


def test_all_parts_are_made(tmp_path: Path) -> None:
    paper.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "numbers.tex", "findings.tex", "systems.tex", "peers.tex", "exact.pdf", "peers.pdf"
    }
    known = paper.numbers()
    assert set(paper.used(paper.SOURCE.read_text(encoding="utf-8"))) <= set(known)
    for name in ("findings.tex", "systems.tex", "peers.tex"):
        assert (tmp_path / name).read_text(encoding="utf-8").isascii(), name
    assert all(value.isascii() and value for value in known.values())


def test_a_number_that_there_is_none_of_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "report.tex"
    source.write_text(r"\datum{nothing}", encoding="utf-8")
    monkeypatch.setattr(paper, "SOURCE", source)
    monkeypatch.setattr(paper, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="names nothing"):
        paper.write(tmp_path / "made")


def test_text_as_latex() -> None:
    assert paper.tex("e^{−n/8} & 10^4") == r"e\ensuremath{^{\ensuremath{-}n/8}} \& 10\ensuremath{^{4}}"
    assert paper.tex("A_dist, ε ≥ 2") == r"A\_dist, \ensuremath{\varepsilon} \ensuremath{\ge} 2"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here")
def test_the_pdf_is_made(tmp_path: Path) -> None:
    paper.write(tmp_path)
    made = paper.pdf(tmp_path)
    assert made is not None
    assert made.read_bytes().startswith(b"%PDF")
