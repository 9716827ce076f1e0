"""Every kind of page in a real browser: it opens alone and in peace, fits, and axe-core finds nothing in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from browser_pages import ALL, HOSTILE, PAGES, result_of

from dpaudit.report import wording
from dpaudit.results.plain import visible

pytestmark = pytest.mark.slow  # it needs the packages of [dev]

WIDTHS = (375, 720, 1040, 1160, 1440)  # telephone, tablet, overview as a table at its least, with more room, screen
LARGE = {"of 60 audits", "of a comparison", "example several"}
"""Pages that are looked at folded alone: a page of 60 audits unfolded takes axe-core a minute."""
AXE = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}
OVERFLOWING = """() => {
  const width = document.documentElement.clientWidth, out = [];
  const all = document.documentElement.scrollWidth;
  if (all > width) out.push(`the page is ${all} wide`);
  const scrolls = (e) => e && e !== document.documentElement
    && (/auto|scroll|hidden|clip/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  for (const e of document.body.querySelectorAll("*")) {
    const box = e.getBoundingClientRect();
    // what a clip-path cuts off is not seen
    if (!box.width || !box.height || e.matches(".skip, [clip-path], [clip-path] *, defs *")) continue;
    if ((box.right > width + 1 || box.left < -1) && !scrolls(e.parentElement) && !scrolls(e))
      out.push(`${e.outerHTML.slice(0, 60)}: ${e.textContent.trim().slice(0, 40)}: ${box.left} to ${box.right}`);
  }
  return out.slice(0, 8);
}"""
UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


@pytest.mark.parametrize("name", ALL)
def test_opens_alone_and_in_peace(opened: Callable[..., Any], name: str) -> None:
    found = opened(name)
    page = found.page
    page.evaluate(UNFOLD)
    assert found.complaints == []
    assert found.requests == []
    assert page.locator("h1").count() == 1
    # verdict first: nothing but the title stands before what was found
    assert page.locator("header h1").bounding_box()["y"] < 200


@pytest.mark.parametrize("name", ALL)
def test_nothing_overflows(opened: Callable[..., Any], name: str) -> None:
    page = opened(name).page
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(OVERFLOWING) == [], (width, "folded")
        page.evaluate(UNFOLD)
        assert page.evaluate(OVERFLOWING) == [], (width, "unfolded")


@pytest.mark.parametrize("name", ALL)
def test_axe_finds_nothing(opened: Callable[..., Any], name: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = opened(name).page
    folds = page.locator("details.fold").count() > 0
    # colours are those of all that is shown: unfolded, unless that takes too long
    for unfolded, scheme in (
        *([(False, "light")] if folds else []),
        *([(True, "light"), (True, "dark")] if name not in LARGE else [(False, "dark")]),
    ):
        if unfolded:
            page.evaluate(UNFOLD)
        page.emulate_media(color_scheme=scheme)
        # the dark page differs in its colours alone
        options = AXE if scheme == "light" else {"runOnly": ["color-contrast"]}
        found = Axe().run(page, options=options).response
        bad = [
            (v["id"], v["impact"], v["nodes"][0]["html"][:200], v["nodes"][0].get("failureSummary", "")[:300])
            for v in found["violations"]
        ]
        assert bad == [], (scheme, unfolded)
        # the rules were run
        assert len(found["passes"]) > 15 if scheme == "light" else found["passes"][0]["id"] == "color-contrast"


@pytest.mark.parametrize("name", PAGES)
def test_all_is_there_without_a_script(opened: Callable[..., Any], name: str) -> None:
    page = opened(name, java_script_enabled=False).page
    controls = page.locator("button, input, select, [role=button]")
    assert controls.count() == 0, "a control that does nothing"
    result = result_of(name)
    text = page.locator("body").text_content() or ""
    for audit in result.every:
        # what can move a cursor or turn the direction of a line is shown escaped
        for shown in (audit.reason, wording.again(result, audit)):
            assert " ".join(visible(shown).split()) in " ".join(text.split())
    plots = sum(getattr(audit, f"{kind}_plot") is not None for audit in result.audits for kind in KINDS)
    # a course of bounds that has one point is no picture
    plots -= sum(audit.bound_plot is not None and len(audit.bound_plot.runs) == 1 for audit in result.audits)
    panels = sum(len(audit.drawing.panels) for audit in result.every if audit.drawing is not None)
    assert page.locator("svg.figure").count() == plots + panels + (result.comparison is not None)
    # folds open by hand
    fold = page.locator("details.fold > summary")
    if fold.count():
        last = fold.last
        last.click()
        assert page.locator("details.fold").last.get_attribute("open") is not None


KINDS = ("profile", "tradeoff", "loss", "output", "bound", "evidence")


@pytest.mark.parametrize("name", ALL)
def test_figures_and_regions_have_names(opened: Callable[..., Any], name: str) -> None:
    page = opened(name).page
    page.evaluate(UNFOLD)
    unnamed = page.evaluate("""() => [...document.querySelectorAll("svg.figure, [role=group], table")].filter((e) => {
      if (e.matches("table")) return !e.caption || !e.caption.textContent.trim();
      if (e.matches("[role=group]")) return !e.getAttribute("aria-label") || e.tabIndex !== 0;
      const named = (e.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id));
      return e.getAttribute("role") !== "img" || named.length !== 2 || !named.every((n) => n && n.textContent.trim());
    }).map((e) => e.outerHTML.slice(0, 120))""")
    assert unnamed == []


@pytest.mark.parametrize("name", ["of untrusted strings", "folder index", "folder page"])
def test_untrusted_strings_stay_strings(opened: Callable[..., Any], name: str) -> None:
    found = opened(name)
    page = found.page
    page.evaluate(UNFOLD)
    if page.locator("#filter").count():
        page.fill("#filter", HOSTILE[0])
        # what is typed stands in the address, and is there again when that is opened
        page.reload()
        assert page.input_value("#filter") == HOSTILE[0]
    page.wait_for_timeout(50)
    assert page.evaluate("window.pwned") is None
    assert page.locator("img, b, iframe, object, embed, base, #injected").count() == 0
    assert page.locator("script").count() == 1
    assert page.locator("[onerror], [onload], [onclick]").count() == 0
    links = page.eval_on_selector_all("a", "(all) => all.map((a) => a.getAttribute('href'))")
    own = ("#", "data:text/csv", "data:application/gzip", "algorithms/", "result.json", "../index.html")
    assert all(link.startswith(own) for link in links)
    assert found.complaints == []
    assert found.requests == []
    shown = page.locator("main").text_content()
    assert any(markup in shown for markup in HOSTILE[:4]), "it is there, as text"
    assert "49" not in page.title()


def test_untrusted_data_comes_back_as_it_was(opened: Callable[..., Any]) -> None:
    from dpaudit.results.json_form import to_object
    from dpaudit.results.model import Timings

    page = opened("of untrusted strings").page
    page.locator("details.data > summary").click()
    page.wait_for_function("() => document.querySelector('details.data pre').textContent")
    shown = json.loads(page.evaluate("document.querySelector('details.data pre').textContent"))
    expected = to_object(result_of("of untrusted strings"))
    expected["timings"] = to_object(Timings("", 0.0, 0, {}))  # type: ignore[arg-type]
    assert shown == expected
