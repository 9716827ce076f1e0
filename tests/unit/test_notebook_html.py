"""What a notebook shows of a result: well-formed, escaped, without script, and shut off from the page around it."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import example_results
import pytest

from dpaudit.api.result import Result
from dpaudit.report import wording
from dpaudit.report.notebook import MOST_ROWS, MOST_SHOWN

EXAMPLES = {name: Result.of(result) for name, result in example_results.every().items()}
VOID = {"br", "path", "use", "line", "rect", "circle", "image"}


class _Tags(HTMLParser):
    """Every tag, in order; raises where one is closed that was not opened last."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.ids: list[str] = []
        self.classes: set[str] = set()
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.classes |= set((given.get("class") or "").split())
        assert not any(name.startswith("on") for name in given)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.slow(fast=["proved", "inconclusive", "crashed", "none", "utility_alone", "utility"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_well_formed_and_inert(name: str) -> None:
    text = EXAMPLES[name]._repr_html_()
    tags = _Tags(text)
    assert not set(tags.names) & {"script", "link", "iframe", "img", "html", "body"}
    assert len(tags.ids) == len(set(tags.ids))
    assert all(identifier.startswith("dpa-") for identifier in tags.ids)
    assert all(kind.startswith(("dpa-", "dpaudit-result")) for kind in tags.classes)
    assert "http" not in text
    assert len(text) < 100_000
    assert text == EXAMPLES[name]._repr_html_(), "the same bytes each time"


def test_styles_reach_nothing_outside() -> None:
    text = EXAMPLES["fail"]._repr_html_()
    css = text.partition("<style>")[2].partition("</style>")[0]
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", re.sub(r"@media[^{]*\{", "", css))
    selectors = [one for rule in rules for one in re.split(r",(?![^(]*\))", rule)]
    assert len(selectors) > 15
    assert all(".dpaudit-result" in one for one in selectors), "and above the notebook's own"
    assert "var(--claim" in text


@pytest.mark.slow(fast=["proved", "crashed", "prior", "utility_alone"])
@pytest.mark.parametrize("name", [name for name, result in EXAMPLES.items() if len(result) == 1])
def test_one_audit_is_told(name: str) -> None:
    result = EXAMPLES[name]
    text = "".join(_Tags(result._repr_html_()).text)
    audit = result.every[0]
    assert audit.name in text
    assert audit.reason in text
    assert "dpaudit replay" in text
    if result.audits:
        assert result.claim.statement in text
        headline = wording.headline(result.audit)
        assert headline[1:] in text
        figures = result._repr_html_().count("<svg")
        bounds = result.audit.bound_plot
        drawn = {"profile", "outputs", "evidence", "bound"} & set(result.plot.names)
        # a course of bounds that has one point is no picture
        drawn -= {"bound"} if bounds is not None and len(bounds.runs) == 1 else set()
        assert figures == len(drawn)
        if result.audit.event is not None and "PASS · proved" not in text:
            assert result.audit.event.description in text


@pytest.mark.slow
def test_several_are_a_table_and_what_does_not_pass() -> None:
    several = EXAMPLES["several"]
    html = several._repr_html_()
    text = "".join(_Tags(html).text)
    assert all(wording.full_name(audit) in text for audit in several.audits)
    assert html.count("<details") == MOST_SHOWN == 3
    assert html.count("<details open") == 1
    many = replace(several, audits=several.audits * 20)
    html = many._repr_html_()
    assert html.count('<th scope="row">') < MOST_ROWS + 40
    assert f"and {120 - MOST_ROWS} more audits" in html
    assert "57 more that do not pass" in html
    assert len(html) < 100_000


def test_names_of_the_users_are_escaped() -> None:
    audit = replace(
        EXAMPLES["fail"].audit, name="<b>f</b>", reason="</style><script>alert(1)</script>",
        notes=[example_results.stated("a & b")],
    )
    evil = replace(EXAMPLES["fail"], audits=[audit], command="dpaudit.audit(<lambda>, 1.0)")
    html = evil._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;lambda&gt;" in html
    _Tags(html)


def test_two_results_share_no_ids() -> None:
    first, second = (_Tags(EXAMPLES[name]._repr_html_()).ids for name in ("fail", "not_refuted"))
    assert not set(first) & set(second)


def test_an_interrupted_result_says_so() -> None:
    assert "interrupted, so these are the audits that had ended" in replace(
        EXAMPLES["several"], interrupted=True
    )._repr_html_()
