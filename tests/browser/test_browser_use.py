"""What a reader does with a page: sort, filter, go through it by keyboard, follow links, print it, take the data."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser_pages import result_of

pytestmark = pytest.mark.slow  # it needs the packages of [dev]

if TYPE_CHECKING:
    from playwright.sync_api import Page

MANY = "of 8 audits and guarantees"
CELLS = """(column) => {
  const table = [...document.querySelectorAll("table.privacy")].find((one) => one.checkVisibility());
  return [...table.tBodies[0].rows].map((row) => {
    const cell = row.cells[column];
    return "sort" in cell.dataset ? Number(cell.dataset.sort) : cell.textContent.trim().toLowerCase();
  });
}"""
CONTRAST = """(selector) => {
  const luminance = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = luminance(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll(selector)].slice(0, 40).map((e) => {
    const style = getComputedStyle(e), paint = style.stroke !== "none" ? style.stroke : style.fill;
    const one = luminance(paint);
    return (Math.max(one, paper) + 0.05) / (Math.min(one, paper) + 0.05);
  });
}"""


@pytest.fixture
def page(opened: Callable[..., Any]) -> Page:
    """A page of some audits and guarantees."""
    found: Page = opened(MANY).page
    return found


def test_every_column_sorts_both_ways(page: Page) -> None:
    headers = page.locator("table.privacy thead th")
    names = headers.all_text_contents()
    assert names == ["Privacy", "Claim (ε, δ)", "Lower bound on ε", "Exact ε", "Verdict"]
    before = page.locator("table.privacy tbody tr").count()
    for column in range(len(names)):
        button = headers.nth(column).locator("button")
        for direction, turned in (("ascending", False), ("descending", True)):
            button.click()
            assert headers.nth(column).get_attribute("aria-sort") == direction
            values = page.evaluate(CELLS, column)
            assert values == sorted(values, reverse=turned), (names[column], direction)
            assert len(values) == before
            assert page.locator("table.privacy [aria-sort]").count() == 1
    # the other table sorts by itself
    page.locator("table.utility thead th button").first.click()
    assert page.locator("table.privacy [aria-sort]").count() == 1


@pytest.mark.parametrize(
    ("typed", "left"),
    [("", 12), ("laplace", None), ("LAPLACE group", None), ("pass", None), ("nothing is called so", 0), ("<b>", 0)],
)
def test_the_filter_keeps_the_rows_that_have_all_words(page: Page, typed: str, left: int | None) -> None:
    rows = page.locator("table.overview tbody tr")
    texts = [text.lower() for text in rows.all_text_contents()]
    expected = [all(word in text for word in typed.lower().split()) for text in texts]
    if left is not None:
        assert sum(expected) == left
    else:
        assert sum(expected) > 0
    page.get_by_label("Filter").fill(typed)
    assert [rows.nth(i).is_visible() for i in range(len(texts))] == expected
    # what they are rows of goes with them
    assert page.locator("article.audit:visible").count() == sum(expected)
    said = page.locator("[role=status]").text_content()
    assert said == (f"{sum(expected)} of {len(texts)}" if typed else "")
    page.get_by_label("Filter").fill("")
    assert page.locator("article.audit:visible").count() == len(texts)


def test_a_verdict_is_chosen_and_kept_in_the_address(page: Page) -> None:
    rows = page.locator("table.overview tbody tr")
    choice = page.get_by_label("Verdict", exact=True)
    values = choice.locator("option").evaluate_all("(all) => all.map((one) => one.value)")
    assert values[0] == ""
    assert len(values) > 2
    for value in values[1:]:
        choice.select_option(value)
        kept = rows.evaluate_all("(all) => all.filter((row) => !row.hidden).map((row) => row.dataset.verdict)")
        assert kept
        assert set(kept) == {value}
        assert choice.locator("option:checked").text_content() == f"{value} ({len(kept)})"
    page.get_by_label("Filter").fill("laplace")
    asked = rows.evaluate_all("(all) => all.map((row) => row.hidden)")
    page.reload()
    assert rows.evaluate_all("(all) => all.map((row) => row.hidden)") == asked
    assert page.get_by_label("Filter").input_value() == "laplace"


FOCUS = """() => { const e = document.activeElement, style = getComputedStyle(e);
  return { text: e.textContent.trim().slice(0, 30), tag: e.tagName, id: e.id,
           ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1,
           there: e.getBoundingClientRect().width > 0 }; }"""


@pytest.mark.parametrize("width", [375, 1440])
def test_everything_is_reached_by_keyboard(opened: Callable[..., Any], width: int) -> None:
    page = opened(MANY, width=width).page
    seen: list[dict[str, Any]] = []
    for _ in range(15):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(FOCUS))
    assert seen[0]["text"] == "Skip to the result"
    assert seen[1]["id"] == "filter"
    assert seen[2]["id"] == "verdict"
    assert [one["text"] for one in seen[3:8]] == page.locator("table.privacy thead th").all_text_contents()
    assert all(one["ring"] and one["there"] for one in seen), [one for one in seen if not one["ring"]]
    page.locator("table.privacy thead button").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator("table.privacy thead th").nth(1).get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Space")
    assert page.locator("table.privacy thead th").nth(1).get_attribute("aria-sort") == "descending"


def test_the_skip_link_is_seen_when_it_is_reached_and_skips(page: Page) -> None:
    skip = page.locator(".skip")
    assert skip.bounding_box()["x"] < -100  # type: ignore[index]
    page.keyboard.press("Tab")
    assert skip.bounding_box()["x"] >= 0  # type: ignore[index]
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"


def test_scrolling_regions_are_scrolled_by_keyboard(opened: Callable[..., Any]) -> None:
    page = opened("example fail", width=375).page
    page.evaluate("document.querySelectorAll('details.more').forEach((one) => { one.open = true; })")
    regions = page.locator("[role=group][tabindex='0']")
    wide = [i for i in range(regions.count()) if regions.nth(i).evaluate("(e) => e.scrollWidth > e.clientWidth + 5")]
    assert wide, "some table is wider than a telephone"
    region = regions.nth(wide[0])
    region.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(e) => e.scrollLeft > 0", arg=region.element_handle(), timeout=2_000)


def test_a_link_unfolds_what_it_leads_to(page: Page) -> None:
    last = page.locator("table.privacy tbody a").last
    target = str(last.get_attribute("href")).removeprefix("#")
    fold = page.locator(f"#{target}-article details.fold")
    assert fold.get_attribute("open") is None
    last.click()
    page.wait_for_function("(e) => e.open", arg=fold.element_handle(), timeout=2_000)
    assert page.locator(f"#{target}").is_visible()


def test_print_unfolds_everything_and_leaves_controls_out(page: Page) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.fold:not([open])").count() == 0
    for control in (".filter", ".skip", ".data", "#download-place"):
        assert not page.locator(control).first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("svg.figure").last.is_visible()


def test_prints_without_a_script_what_is_folded(opened: Callable[..., Any]) -> None:
    page = opened(MANY, java_script_enabled=False).page
    page.emulate_media(media="print")
    assert all(page.locator("article.audit .lead").nth(i).is_visible() for i in range(12))
    assert len(page.pdf(format="A4")) > 20_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_of_figures_stand_out(opened: Callable[..., Any], scheme: str) -> None:
    """WCAG 2.2, 1.4.11: graphical objects have a contrast of 3 : 1; axe-core does not look into figures."""
    page = opened("example fail", color_scheme=scheme).page
    # those of claim, evidence, D and D′; not rules and grids
    classes = page.evaluate("""() => [...document.styleSheets[0].cssRules].filter((rule) =>
        /^\\.f\\d+$/.test(rule.selectorText) && /stroke:\\s*var\\(--(claim|evidence|left|right)/.test(rule.cssText)
        && !/opacity/.test(rule.cssText)).map((rule) => rule.selectorText)""")
    assert len(classes) >= 4
    found = page.evaluate(CONTRAST, ",".join(classes))
    assert len(found) >= 10
    assert min(found) >= 3


def test_forced_colours_and_reduced_motion(opened: Callable[..., Any]) -> None:
    page = opened("example several", forced_colors="active", reduced_motion="reduce").page
    badge = page.locator(".badge.fail").first
    assert badge.is_visible()
    # the verdict is a sign and a word in a frame, whatever the colours are
    assert "✗ FAIL" in str(badge.text_content())
    assert badge.evaluate("(e) => parseFloat(getComputedStyle(e).borderTopWidth)") >= 1
    moving = page.evaluate("""() => [...document.querySelectorAll("*")].filter((e) => {
      const style = getComputedStyle(e);
      return parseFloat(style.animationDuration) > 0 || parseFloat(style.transitionDuration) > 0;
    }).length""")
    assert moving == 0


def _downloaded(page: Page, click: Callable[[], None], folder: Path) -> str:
    with page.expect_download() as download:
        click()
    path = folder / "downloaded"
    download.value.save_as(path)
    return path.read_text(encoding="utf-8")


def test_the_data_is_taken_along(opened: Callable[..., Any], tmp_path: Path) -> None:
    page = opened(MANY).page
    text = _downloaded(page, page.get_by_role("button", name="Download the JSON").click, tmp_path)
    audits = result_of(MANY).audits
    assert [audit["name"] for audit in json.loads(text)["audits"]] == [audit.name for audit in audits]
    place = next(i for i, audit in enumerate(audits) if audit.profile_plot is not None)
    article = page.locator("article.audit").nth(place)
    article.locator("summary").first.click()
    text = _downloaded(page, article.locator("a[data-plot=profile_plot]").click, tmp_path)
    rows = list(csv.reader(io.StringIO(text)))
    plot = audits[place].profile_plot
    assert plot is not None
    assert rows[0][:2] == ["epsilon", "claim"]
    assert [float(row[0]) for row in rows[1:]] == plot.epsilon


def test_the_changed_record_is_marked_and_the_budget_is_a_picture(opened: Callable[..., Any]) -> None:
    page = opened("example fail").page
    marks = page.locator("table.pair td mark")
    assert marks.count() == 2
    assert [marks.nth(i).text_content() for i in range(2)] != [marks.nth(0).text_content()] * 2
    rows = page.locator("table.ledger tbody tr")
    assert rows.count() == 4
    for i in range(4):
        # what is drawn alike in several rows is drawn once and used
        boxes = [one.bounding_box() for one in rows.nth(i).locator("svg > *").all()]
        assert max(box["width"] for box in boxes if box is not None) > 5
    # the inputs are indented under what uses them
    padding = "(e) => parseFloat(getComputedStyle(e).paddingLeft)"
    assert rows.nth(0).locator("th").evaluate(padding) < rows.nth(1).locator("th").evaluate(padding)


def test_one_profile_has_claim_exact_and_bound(opened: Callable[..., Any]) -> None:
    page = opened("example fail").page
    figures = page.locator(".plots figure")
    titles = [figures.nth(i).locator("title").text_content() for i in range(figures.count())]
    assert titles == [
        *("Privacy profile: δ against ε", "Trade-off curve: errors of the best tests", "Privacy loss"),
        *("Evidence against the claim", "Clopper–Pearson bound on ε"),
    ]
    said = figures.nth(0).locator("text").all_text_contents()
    assert {"claim", "exact", "lower bound"} <= set(said)
    assert "after 500,000 samples" in str(figures.nth(4).text_content())
    assert "refuted after 13,750 samples per dataset" in str(figures.nth(3).text_content())
    # the outputs come first, beside what is said of the event
    assert page.locator(".shown figure title").all_text_contents() == ["Output under D and D′"]


TEXTS = """() => [...document.querySelectorAll("svg.figure text")].filter((e) => e.textContent.trim()).map((one) => {
  const size = parseFloat(getComputedStyle(one).fontSize), drawn = one.ownerSVGElement;
  return size * drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width;
})"""


@pytest.mark.parametrize("name", ["example fail", "with drawings", "of a comparison"])
def test_texts_of_figures_are_read_on_a_telephone(opened: Callable[..., Any], name: str) -> None:
    page = opened(name, width=390).page
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    sizes = page.evaluate(TEXTS)
    assert len(sizes) > 10
    assert min(sizes) >= 11


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_two_datasets_differ_in_grey(opened: Callable[..., Any], scheme: str) -> None:
    page = opened("example fail", color_scheme=scheme).page
    left, right, paper = page.evaluate("""() => ["--left", "--right", "--paper"].map((name) => {
      const text = getComputedStyle(document.documentElement).getPropertyValue(name);
      const [r, g, b] = text.match(text.length > 4 ? /\\w\\w/g : /\\w/g)
        .map((v) => parseInt(v.padStart(2, v), 16) / 255)
        .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    })""")
    assert max(left, right) / min(left, right) >= 2.3
    for colour in (left, right):
        assert max(colour, paper) / min(colour, paper) >= 3
