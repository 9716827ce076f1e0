"""What a reader does with a report of `--report DIR`: from the index to a page and back, with every link."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser_pages import folder_result
from test_browser_use import CELLS

pytestmark = pytest.mark.slow  # it needs the packages of [dev]

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def index(opened: Callable[..., Any]) -> Page:
    """The first page."""
    found: Page = opened("folder index").page
    return found


def test_the_index_sorts_and_filters(index: Page) -> None:
    audits = folder_result().audits
    assert index.locator("table.privacy tbody tr").count() == len(audits)
    name = audits[-1].name
    assert not index.locator("table.privacy tbody tr").last.is_visible()
    index.get_by_label("Filter").fill(name)
    # the algorithm is unfolded; what it is called counts as the text of its rows
    left = index.locator("table.privacy tbody tr:visible")
    assert left.count() == sum(name in f"{audit.name} {audit.case} {audit.title}" for audit in audits)
    assert 0 < left.count() < len(audits)
    group = index.locator("details.group:visible")
    assert name in str(group.first.text_content())
    button = group.first.locator("thead th").nth(2).locator("button")
    for turned in (False, True):
        button.click()
        values = index.evaluate(CELLS, 2)
        assert values == sorted(values, reverse=turned)
    index.get_by_label("Filter").fill("")
    assert index.locator("details.group:visible").count() == len({audit.name for audit in folder_result().every})
    assert not index.locator("table.privacy tbody tr").last.is_visible()


def test_every_link_of_the_index_leads_to_its_audit(index: Page, opened: Callable[..., Any]) -> None:
    links = index.eval_on_selector_all(
        "table.overview tbody a",
        "(all) => all.map((a) => [a.href, a.closest('details').querySelector('h3').textContent, a.textContent])",
    )
    result = folder_result()
    assert len(links) == len(result.every)
    page = opened("folder page").page
    # each page once, all its anchors; a name of several lines is shown on one
    for address in sorted({href.partition("#")[0] for href, _, _ in links}):
        page.goto(address)
        for href, name, case in links:
            here, _, anchor = href.partition("#")
            if here == address:
                article = page.locator(f"#{anchor}-article")
                assert article.count() == 1
                text = " ".join(str(article.text_content()).split())
                assert " ".join(name.split()) in text
                assert " ".join(case.split()) in text


def test_from_the_index_to_an_audit_and_back(index: Page) -> None:
    name = folder_result().audits[-1].name
    index.get_by_label("Filter").fill(name)
    link = index.locator("table.overview tbody tr:visible a").last
    anchor = str(link.get_attribute("href")).partition("#")[2]
    link.focus()
    index.keyboard.press("Enter")
    index.wait_for_url("**/algorithms/**")
    assert index.locator(f"#{anchor}").is_visible()
    assert index.locator(f"#{anchor}").evaluate("(e) => e.getBoundingClientRect().top") < 900
    index.go_back()
    index.wait_for_url("**/index.html*")
    # the rows that were asked for are still there
    assert index.get_by_label("Filter").input_value() == name
    index.locator("table.overview tbody tr:visible a").last.click()
    index.locator(".kicker a").click()
    index.wait_for_url("**/index.html")
    assert index.locator("details.group").first.is_visible()


def test_the_data_lies_beside_the_index(index: Page, written: Callable[[str], Path]) -> None:
    assert index.locator("#data ~ p a").get_attribute("href") == "result.json"
    data = json.loads((written("folder index").parent / "result.json").read_text(encoding="utf-8"))
    assert [audit["name"] for audit in data["audits"]] == [audit.name for audit in folder_result().audits]


def test_the_index_is_read_without_a_script(opened: Callable[..., Any]) -> None:
    page = opened("folder index", java_script_enabled=False).page
    assert page.locator("button, input, select").count() == 0
    # an algorithm is unfolded by hand
    group = page.locator("details.group").last
    assert group.get_attribute("open") is None
    group.locator("summary").click()
    link = group.locator("tbody a").first
    assert link.is_visible()
    link.click()
    page.wait_for_url("**/algorithms/**")
    assert page.locator("article.audit").count() >= 1
