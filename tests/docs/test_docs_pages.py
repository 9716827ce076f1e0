"""The generated pages: everything registered has one, links lead somewhere, text stays text."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from docs_blocks import DOCS

from dpaudit.config import SETTINGS
from dpaudit.plans import registry

sys.path.insert(0, str(DOCS.parent / "tools"))

import docs_pages
import docs_records
import docs_reference
from docs_text import plain, table
from dpaudit_algorithms.findings import FINDINGS

PLACED = {
    "decisions/0011-one-alpha.md": "project/decisions/0011-one-alpha.md",
    "CHANGELOG.md": "project/changelog.md",
}


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    pages, problems = docs_pages.pages()
    assert not problems
    return pages


@pytest.mark.slow
def test_every_algorithm_and_every_member_of_the_corpus_has_a_page(made: dict[str, str]) -> None:
    for folder, group in (("algorithms", registry.ALGORITHMS), ("corpus", registry.CORPUS)):
        pages = {path for path in made if path.startswith(f"catalogue/{folder}/")}
        assert pages == {f"catalogue/{folder}/{name}.md" for name in registry.names(group)}


@pytest.mark.slow
def test_a_page_holds_the_card_and_what_came_out(made: dict[str, str]) -> None:
    page = made["catalogue/algorithms/ADist.md"]
    assert "Proposition 3.28" in page
    assert "Lap(1/ε)" in page
    assert "{ref}`1 <finding-1>`" in page
    row = next(line for line in page.splitlines() if line.startswith("| every pair of 22 records"))
    assert "**FAIL** | 1.999998" in row


@pytest.mark.slow
def test_every_finding_has_a_target(made: dict[str, str]) -> None:
    wanted = set(re.findall(r"<(finding-\d+)>", "".join(made.values())))
    assert wanted
    assert wanted <= {f"finding-{number}" for number in FINDINGS}


def test_every_option_and_setting_is_in_the_reference() -> None:
    made = docs_reference.pages()
    page = made["reference/generated/command-line.md"]
    for name, command in docs_reference.typed_commands().items():
        part = page.partition(f"## dpaudit {name}\n")[2].partition("\n## ")[0]
        options = [option for one in command.params for option in one.opts if option.startswith("--")]
        assert all(re.search(rf"`[^`]*{option}\b", part) for option in options), name
    assert all(f"| `{key}` |" in made["reference/generated/configuration.md"] for key in SETTINGS)


def test_links_of_records_lead_to_pages() -> None:
    text = "[one](decisions/0011-one-alpha.md), decisions/0011, [b](CHANGELOG.md#x), [web](https://example.org/a)\n"
    found, broken = docs_records.relinked(text, "CHANGELOG.md", "project/changelog.md", PLACED)
    assert not broken
    assert found == (
        "[one](decisions/0011-one-alpha.md), [decision 11](decisions/0011-one-alpha.md), "
        "[b](changelog.md#x), [web](https://example.org/a)\n"
    )


def test_pictures_of_a_record_are_found_from_its_page() -> None:
    text = "![A page](../docs/_static/report.png) and ![x](report.png)\n"
    found, broken = docs_records.relinked(text, "benchmarks/x.md", "project/benchmarks/x.md", PLACED)
    assert "![A page](../../_static/report.png)" in found
    assert broken == ["benchmarks/x.md: the picture report.png is not under docs/."]


def test_links_that_lead_nowhere_are_told() -> None:
    found, broken = docs_records.relinked("[a](nowhere.md) and decisions/0999\n", "X.md", "project/x.md", PLACED)
    assert broken == ["X.md: there is no decision 0999.", "X.md: the link to nowhere.md leads nowhere."]
    assert "nowhere" in found


def test_code_is_left_alone() -> None:
    text = "`decisions/0011`\n```\n[a](nowhere.md)\n```\n    decisions/0011\n"
    assert docs_records.relinked(text, "X.md", "project/x.md", PLACED) == (text, [])


def test_plain_text_stays_text() -> None:
    assert plain("log*|X| and a_b, `x_y`\n1") == r"log\*\|X\| and a\_b, `x_y` 1"
    assert plain("1. not a list") == r"1\. not a list"
    assert table(["a"], [["`x|y`"]]) == "| a |\n| --- |\n| `x\\|y` |\n"


def test_stale_pages_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_pages, "pages", lambda: ({"catalogue/new.md": "# New\n"}, []))
    (tmp_path / "catalogue").mkdir()
    (tmp_path / "catalogue" / "old.md").write_text("# Old\n", encoding="utf-8")
    (tmp_path / "mine.md").write_text("# Mine\n", encoding="utf-8")
    assert docs_pages.write(tmp_path) == []
    assert {path.name for path in tmp_path.rglob("*.md")} == {"new.md", "mine.md"}
