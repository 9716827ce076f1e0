"""The pages of the findings: made of their table and their scripts, which need no dpaudit."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_blocks import DOCS

sys.path.insert(0, str(DOCS.parent / "tools"))

import findings
from dpaudit.language import Severity
from dpaudit_algorithms.findings import FINDINGS

PARTS = ("Statement", "Reading", "Witness", "Calculation", "Where the proof fails", "What survives", "Corrected",
         "Known before", "In every reading")
WORDS, LINES = 600, 60
ALLOWED = {"numpy", "mpmath", *sys.stdlib_module_names}
_MADE = re.compile(r"<!-- (facts|script output) -->.*?<!-- end of \1 -->", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*\.\d+(?:e[+-]?\d+)?(?![\w.]*\d)")
_REFERENCE = re.compile(
    r"(arXiv:?\s*\d{4}\.\d+|(?:§|Section|Lemma|Theorem|Corollary|Definition|Proposition)s?\s[\d.]+)"
)


def text_of(number: int) -> str:
    """The page up to its appendix, without what is made."""
    return _MADE.sub("", findings.page_of(number).read_text(encoding="utf-8").partition("\n## Appendix")[0])


def significant(number: str) -> int:
    """Its significant digits."""
    return len(re.sub(r"e.*|\D", "", number).lstrip("0"))


@pytest.mark.parametrize("number", FINDINGS)
def test_a_page_has_its_parts_in_order(number: int) -> None:
    text = text_of(number)
    assert text.startswith(f"(finding-{number})=\n# {number}. {FINDINGS[number].title}\n")
    assert tuple(re.findall(r"^## (.*)$", text, re.MULTILINE)) == PARTS
    assert len(text.split()) <= WORDS


@pytest.mark.parametrize("page", sorted(findings.PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_no_index_of_a_formula_begins_emphasis(page: Path) -> None:
    """In Markdown an underscore after a letter is one; after φ\\* or w′ the text up to the next one is italic."""
    code = re.compile(r"^```.*?^```|^ {4}.*?$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
    text = code.sub("", page.read_text(encoding="utf-8"))
    assert re.findall(r".{,20}(?<=[*′})\]])_.{,20}", text) == []


@pytest.mark.parametrize("number", FINDINGS)
def test_a_script_is_short_and_needs_nothing_of_ours(number: int) -> None:
    source = findings.script_of(number).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= LINES
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
            assert {name.partition(".")[0] for name in names} <= ALLOWED


@pytest.mark.parametrize("number", FINDINGS)
def test_a_script_prints_every_number_of_its_page(number: int) -> None:
    """With four significant digits or more; and the page shows all that the script prints."""
    page = findings.page_of(number).read_text(encoding="utf-8")
    printed = findings.output(number)
    assert findings.filled(page, FINDINGS[number], printed) == page, "python tools/findings.py writes it anew"
    said = [n for n in _NUMBER.findall(_REFERENCE.sub("", text_of(number))) if significant(n) >= 4]
    known = set(_NUMBER.findall(printed))
    assert [n for n in said if n not in known] == []


def test_the_index_is_made_of_the_table() -> None:
    assert findings.made([])[findings.INDEX] == findings.INDEX.read_text(encoding="utf-8")


def test_the_readme_counts_them() -> None:
    text = " ".join((DOCS.parent / "README.md").read_text(encoding="utf-8").split())
    words = {
        Severity.REFUTED: "statements that are false", Severity.CONSTRUCTION: "constructions that fail",
        Severity.STEP: "steps of proofs", Severity.RANGE: "degenerate ranges", Severity.TYPO: "misprints",
    }
    assert f"{len(FINDINGS)} findings" in text
    for severity, said in words.items():
        assert f"{sum(one.severity is severity for one in FINDINGS.values())} {said}" in text


def test_there_is_nothing_else() -> None:
    numbered = {path for path in findings.PAGES.iterdir() if re.fullmatch(r"\d+\.(md|py)", path.name)}
    assert numbered == {make(n) for n in FINDINGS for make in (findings.page_of, findings.script_of)}


def test_a_script_has_no_dpaudit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is how they are run, so that nothing of dpaudit can be in what they print."""
    monkeypatch.setattr(findings, "PAGES", tmp_path)
    findings.script_of(1).write_text("import dpaudit.language\n", encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        findings.output(1)
    assert "ModuleNotFoundError" in failed.value.stderr
