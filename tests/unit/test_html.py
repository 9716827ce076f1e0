"""The HTML report: one well-formed file that fetches nothing, and is the same but for its timings."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from html import escape, unescape
from html.parser import HTMLParser

import example_results
import pytest

from dpaudit.report import wording
from dpaudit.report.figures import plot_figures
from dpaudit.report.html import embedded_json, groups, to_html
from dpaudit.report.method import method
from dpaudit.report.plain_words import meaning
from dpaudit.results.json_form import from_json, to_json
from dpaudit.results.model import Audit, Result, Timings, UtilityAudit, Verdict

EXAMPLES: dict[str, Result] = {
    **example_results.every(),
    "three": example_results.result(*example_results.many(3)),
    "many": example_results.result(*example_results.many(20)),
}  # fmt: skip
VOID = {"meta", "br", "link", "img", "input", "hr", "wbr"}
FETCHING = {"src", "srcset", "action", "poster", "background"}


class _Page(HTMLParser):
    """Checks nesting while it collects ids, links, headings, fetched addresses and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.tags: Counter[str] = Counter()
        self.levels: list[int] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"] or "")
        if "href" in values:
            self.links.append(values["href"] or "")
        self.fetched += [
            value or "" for name, value in attrs if name in FETCHING or tag in ("link", "img", "iframe")
        ]
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)


@cache
def _html(name: str) -> str:
    return to_html(EXAMPLES[name])


@pytest.mark.slow(only=["several", "three", "many"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_is_well_formed_accessible_and_alone(name: str) -> None:
    text = _html(name)
    page = _Page(text)
    assert page.open == []
    assert [i for i, times in Counter(page.ids).items() if times > 1] == []
    assert page.fetched == []
    for link in page.links:
        assert link.startswith(("#", "data:text/csv", "data:application/gzip"))
        if link.startswith("#"):
            assert link[1:] in page.ids
    assert not re.search(r"url\((?!#)|@import|https?://", text)
    for reference in re.findall(r'aria-labelledby="([^"]*)"', text):
        assert set(reference.split()) <= set(page.ids)
    assert page.tags["main"] == page.tags["header"] == page.tags["footer"] == page.tags["h1"] == 1
    assert page.tags["table"] == page.tags["caption"]
    assert all(b <= a + 1 for a, b in zip(page.levels, page.levels[1:], strict=False))


@pytest.mark.slow(fast=["proved", "inconclusive", "crashed", "none", "utility_alone"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_timings_are_the_only_difference_and_stand_in_one_place(name: str) -> None:
    result = EXAMPLES[name]
    other = replace(result, timings=Timings("2031-01-01T00:00:00+00:00", 98765.4, 64, {"x": 1.0}))
    pattern = re.compile(r'<p id="timings">.*?</p>', re.DOTALL)
    assert len(pattern.findall(_html(name))) == 1
    assert pattern.sub("", to_html(other)) == pattern.sub("", _html(name))
    assert "98765.4 s with 64 workers" in to_html(other)


@pytest.mark.slow(only=["three", "many"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_holds_its_data_once(name: str) -> None:
    timeless = replace(EXAMPLES[name], timings=Timings("", 0.0, 0, {}))
    assert _html(name).count('id="dpaudit-result"') == 1
    # as a file that a reader can save without a script, and that a program reads
    assert re.findall(r'href="data:application[^"]*" download="([^"]*)"', _html(name)) == ["dpaudit-result.json.gz"]
    held = embedded_json(_html(name))
    assert "NaN" not in held
    assert from_json(held, where="report") == timeless
    assert json.loads(held) == json.loads(to_json(timeless))


@pytest.mark.slow(only=["many"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_plot_has_its_data(name: str) -> None:
    text, plots = _html(name), [a for a in EXAMPLES[name].audits if a.profile_plot is not None]
    inline = len(re.findall(r'href="data:text/csv[^"]*" download="[^"]*-profile\.csv"', text))
    linked = text.count('href="#data" data-plot="profile_plot"')
    few = len(EXAMPLES[name].every) < 4
    assert (inline, linked) == ((len(plots), 0) if few else (0, len(plots)))


def test_figures_share_their_styles() -> None:
    text = _html("many")
    head, body = text.split("<body>")
    used = set(re.findall(r'class="(f\d+)"', body))
    assert used == set(re.findall(r"^\.(f\d+) \{", head, re.MULTILINE))
    assert 0 < len(used) < 60
    assert re.findall(r'<(?:path|use|text|g) [^>]*style="([^"]*)"', body) == []


def test_figures_refer_to_what_the_page_draws_once() -> None:
    text = _html("many")
    named = Counter(re.findall(r'(?<= )id="([a-z]+\d+|[a-z]+-[a-z]+|tick|axis)"', text))
    used = set(re.findall(r'(?<=<use href="#)[^"]+|(?<=url\(#)[^)]+', text))
    assert all(named[name] == 1 for name in used)
    alone = len(re.findall("<text", _html("fail")))
    assert len(re.findall("<text", text)) < 20 * alone / 2


def test_what_several_audits_say_is_said_once() -> None:
    page = _Page(_html("many"))
    items = Counter(text for text in page.texts["li"] + page.texts["p"] if len(text) > 120)
    said = {text for audit in EXAMPLES["many"].audits for text in (*method(audit, 0.001), *audit.deviations)}
    # raised exponents are elements of their own
    said = {text for text in said if "^" not in text}
    assert said
    assert [text for text in said if len(text) > 120 and items[text] != 1] == []
    assert "Common to several audits" not in _html("three")


def test_users_text_cannot_become_markup() -> None:
    text = _html("infinite")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("fail", "NoisyMax: FAIL"),
        ("proved", "ExponentialMechanism: PASS, proved"),
        ("not_refuted", "noisy_mean: PASS, not refuted"),
        ("leaks", "LaplaceTextbook: PASS, not refuted; floating-point vulnerability"),
        ("none", "No audits"),
    ],
)
def test_total_is_in_the_title(name: str, title: str) -> None:
    assert f"<title>{title} – dpaudit</title>" in _html(name)
    assert title in "".join(_Page(_html(name)).texts["h1"]).replace("\u00a0", " ")


def test_several_audits_begin_with_what_they_show() -> None:
    text = _html("several")
    assert (
        '<p class="lead">Privacy: 2 of 6 audits find a violation; no violation found in 3 (1 proves the claim on a '
        "finite domain); 1 inconclusive.</p>"
        in text
    )
    assert "<h1>6\u00a0audits\u00a0of\u00a06\u00a0algorithms</h1>" in text
    assert '<p class="lead">Utility: ' in _html("utility")
    assert "Utility: " not in text


def test_order_of_one_audit() -> None:
    audit = EXAMPLES["fail"].audits[0]
    headings = [
        "Distinguishing event", "Output under D and D′", "Claimed, measured and exact ε", "Plots",
        "Privacy profile: δ against ε", "Method and assumptions", "Deviations from the paper",
        "Environment, seed, versions", "Data",
    ]  # fmt: skip
    text = _html("fail")
    places = [text.index(f">{heading}</h") for heading in headings]
    assert places == sorted(places)
    lead = meaning(audit)
    assert lead is not None
    assert text.index(f'<p class="lead">{escape(lead)}</p>') < places[0]
    assert "dpaudit replay 7f3a-c01d" in text


def test_the_verdict_of_one_audit_is_said_once() -> None:
    before = _html("fail").split("</head>")[1].split("Distinguishing event")[0]
    assert before.count("FAIL") == 1


def test_method_and_deviations_are_folded_and_nothing_stated_is_not_said() -> None:
    folds = re.findall(r"<details class=\"more\"[^>]*>\n<summary><h3[^>]*>([^<]*)", _html("fail"))
    assert folds == ["Method and assumptions", "Deviations from the paper"]
    assert "Deviations" not in _body("not_refuted")


def test_no_carets() -> None:
    text = _html("several") + _html("fail") + _html("prior")
    shown = re.sub(r"<script.*?</script>|<style.*?</style>|href=\"data:[^\"]*\"", "", text, flags=re.DOTALL)
    # a case is called so
    assert re.findall(r".{9}\^.{5}", shown.replace("[3]^2", "")) == []
    assert "p ≤ e<sup>ε</sup> q + δ" in text


def test_what_is_expected_is_no_alarm_and_what_is_not_comes_first() -> None:
    proofs = [replace(example_results.proved(), case=str(i)) for i in range(20)]
    audits = [*proofs, replace(example_results.fail(), name="Unexpected", expected=Verdict.PASS)]
    made = groups(example_results.result(*audits))
    assert made[0].name == "Unexpected"
    assert [(group.name, group.wrong) for group in made[1:]] == [("ExponentialMechanism", 0)]
    page = to_html(example_results.result(replace(example_results.fail(), expected=Verdict.FAIL), *audits))
    assert '<span class="badge fail expected">✗ FAIL</span> <span class="quiet">as expected</span>' in page
    assert '<span class="badge fail">✗ FAIL</span> <strong class="wrong">✗ NOT as expected (expected PASS)' in page
    assert page.count('<details class="group" open>') == 1


def test_the_shaded_event_has_the_numbers_of_the_verdict() -> None:
    audit = example_results.fail()
    outputs = next(figure for figure in plot_figures(audit, "a") if figure.name == "outputs")
    exact = wording.reported_exact(audit)
    shown = wording.counts_sentence(audit.sampled[0]) if exact is None else wording.probabilities_sentence(exact)
    assert f"The event, shaded: {shown}." in outputs.caption
    assert f"the event: {shown}." in outputs.svg


def test_many_audits_are_folded_and_few_are_open() -> None:
    assert 'class="fold"' not in _html("three")
    assert _html("many").count('<details class="fold">') == 20
    assert 'class="overview privacy"' in _html("three")
    assert 'class="overview' not in _html("fail")


def test_multisets_are_short_on_the_page() -> None:
    before_data = _html("huge_multiset").split('<h2 id="data">')[0]
    assert len(re.sub(r"<svg.*?</svg>|data:text/csv[^\"]*", "", before_data, flags=re.DOTALL)) < 40_000
    assert "<mark>17 × 1,002</mark>" in before_data
    assert "<mark>17 × 1,003</mark>" in before_data


def _body(name: str) -> str:
    """The page without its data."""
    return _html(name).split('<h2 id="data">')[0]


def test_evidence_and_floating_point_are_among_the_details() -> None:
    for name, says in {
        "fail": ["E-value 2.3 × 10¹⁶¹ against the claim; refuted after 13,750 samples per dataset."],
        "leaks": ["by the event “lowest set bit of the output in {-53, -52}”", "with the option bits this counts"],
        "bits_counted": ["this counts in the verdict", "which does not refute the claim by itself."],
        "prior": ["140 of it from earlier results (seeds in all: 1, 2, 20250711)"],
        "not_refuted": ["no vulnerability found in the low-order bits, 4,000 samples per dataset."],
    }.items():
        details = _body(name).split('<details class="more">')[1]
        assert all(text in details for text in says), name
    lead = _body("leaks").split("<h3>Distinguishing event")[0]
    assert "The output's last digits reveal more than is claimed" in unescape(lead)
    assert "floating point" not in _body("proved").lower()
    assert "E-value" not in _body("proved")
    # of the PASS alone: in the overview and beside its name
    assert _body("floats").count("⚠ floating-point vulnerability") == 2


def test_sequential_facts() -> None:
    page = _body("prior")
    assert '<th>refutes at 1/α′</th><td>2,220 (α′ = 0.00045)</td>' in page
    assert '<th>refuted</th><td>after 2,310 samples per dataset</td>' in page
    assert '<th>seeds</th><td>1, 2, 20250711</td>' in page
    assert "noisy-mean-evidence.csv" in page


def test_method_says_what_was_done() -> None:
    assert "e-values of independent samples multiply" in _body("prior")
    assert "e-values of independent samples multiply" not in _body("fail")
    assert "No event was counted on fresh samples" in _body("prior")
    assert "do not count in the verdict" in _body("leaks")
    assert "so they count in the verdict" in _body("bits_counted")


def test_not_a_proof_is_said() -> None:
    assert "not a proof" in _html("not_refuted")
    assert "not a proof" not in re.sub(r"<script.*?</script>", "", _html("proved"), flags=re.DOTALL)


def test_conclusions() -> None:
    def concluded(*audits: Audit, utility: tuple[UtilityAudit, ...] = ()) -> list[str]:
        return wording.conclusion(replace(example_results.result(*audits), utility=list(utility)))

    fail, proved, kept = example_results.fail(), example_results.proved(), example_results.not_refuted()
    open_ = example_results.inconclusive()
    foreseen = replace(fail, expected=Verdict.FAIL)
    assert concluded() == []
    assert concluded(proved, kept) == [
        "Privacy: no violation found in 2 audits (1 proves the claim on a finite domain)."
    ]
    assert concluded(foreseen, foreseen, kept) == [
        "Privacy: 2 of 3 audits find a violation, as expected; no violation found in 1."
    ]
    assert concluded(fail, foreseen) == ["Privacy: 2 of 2 audits find a violation."]
    assert concluded(open_, kept) == ["Privacy: no violation found in 1 audit; 1 inconclusive."]
    assert concluded(open_, open_) == ["Privacy: 2 audits inconclusive."]
    holds, broken = example_results.certified_guarantee(), example_results.broken_guarantee()
    assert concluded(kept, utility=(holds, holds)) == [
        "Privacy: no violation found in 1 audit.", "Utility: 2 guarantees hold on the inputs tried."
    ]
    assert concluded(utility=(replace(broken, expected=None), holds)) == [
        "Utility: 1 of 2 guarantees fails; 1 holds on the inputs tried."
    ]
