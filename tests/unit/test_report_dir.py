"""A report as a folder: every link leads somewhere, nothing foreign is touched, and it is small enough."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import example_results
import pytest

from dpaudit.errors import ReportError
from dpaudit.report import files
from dpaudit.report.files import Outputs
from dpaudit.report.html import to_html
from dpaudit.report.report_dir import write_report
from dpaudit.report.wording import full_name
from dpaudit.results import json_form
from dpaudit.results.comparison import ComparisonRecord, ComparisonRow
from dpaudit.results.model import Audit, Result, Timings, UtilityAudit

COMPARED = replace(
    example_results.every()["utility"],
    comparison=ComparisonRecord(
        "interior-points", "Interior points", "an interior point", 1.0, 1e-6,
        [
            ComparisonRow("InteriorPointByMedian", 10, 0, None),
            ComparisonRow("Private", 100, 1, None),
            ComparisonRow("NoisyMax", 100, None, 0),
            ComparisonRow("NoisyMax", 1, None, None, "too few records"),
        ],
    ),
)  # fmt: skip
EXAMPLES: dict[str, Result] = {
    **example_results.every(),
    "many": example_results.result(*example_results.many(20)),
    "compared": COMPARED,
}


class _Links(HTMLParser):
    """Ids and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: Counter[str] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        values = dict(attrs)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values["href"] or ""] if tag == "a" and "href" in values else []
        assert tag not in ("link", "img", "iframe")
        assert "src" not in values


def _page(path: Path) -> _Links:
    return _Links(path.read_text(encoding="utf-8"))


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow(fast=["proved", "crashed", "none", "utility_alone", "utility"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_link_leads_somewhere(name: str, tmp_path: Path) -> None:
    result = EXAMPLES[name]
    index = write_report(tmp_path / "out", result)
    assert index == tmp_path / "out" / "index.html"
    reached = {index}
    for path in (tmp_path / "out").rglob("*.html"):
        page = _page(path)
        assert [i for i, times in Counter(page.ids).items() if times > 1] == []
        assert page.tags["main"] == page.tags["h1"] == 1
        assert page.tags["table"] == page.tags["caption"]
        for link in page.links:
            if link.startswith("data:"):
                continue
            assert not re.match(r"[a-z]+:|/", link), "relative"
            where, anchor = urldefrag(link)
            target = (path.parent / unquote(where)).resolve() if where else path
            assert target.is_file(), link
            reached.add(target)
            assert not anchor or anchor in _page(target).ids, link
    assert {path.resolve() for path in (tmp_path / "out").rglob("*.*") if path.is_file()} == reached
    names = {audit.name for audit in result.every}
    assert len(list((tmp_path / "out" / "algorithms").iterdir())) == len(names)


@pytest.mark.slow(only=["several"])
@pytest.mark.parametrize("name", ["several", "utility", "compared"])
def test_the_overview_leads_to_the_audit_that_it_names(name: str, tmp_path: Path) -> None:
    result = EXAMPLES[name]
    index = write_report(tmp_path, result).read_text(encoding="utf-8")
    row = r'<tr data-audit="([a-z]*)-(\d*)" data-verdict="([^"]*)">\n<th><a href="([^"#]*)#([^"]*)">([^<]*)<'
    rows = re.findall(row, index)
    assert len(rows) == len(result.every)
    for kind, number, verdict, page, anchor, shown in rows:
        audit: Audit | UtilityAudit = (result.audits if kind == "audit" else result.utility)[int(number) - 1]
        assert unescape(shown) == full_name(audit) or shown == audit.case
        text = (tmp_path / page).read_text(encoding="utf-8")
        article = re.search(rf'<article [^>]*id="{anchor}-article".*?</article>', text, re.DOTALL)
        assert article is not None
        assert f"dpaudit replay {audit.replay}" in article[0]
        assert verdict.startswith(audit.verdict.value.upper())


@pytest.mark.slow
def test_a_part_speaks_of_the_whole_run(tmp_path: Path) -> None:
    write_report(tmp_path, EXAMPLES["several"])
    page = (tmp_path / "algorithms" / "noisy-max.html").read_text(encoding="utf-8")
    assert '<a href="../index.html">All 6 audits of this run</a>' in page
    assert "family-wise error 0.001 over all audits" in page
    assert "over all audits of this run" in page
    alone = to_html(example_results.result(example_results.fail()))
    assert "of this run" not in alone
    assert "over this audit" in alone


@pytest.mark.slow
def test_holds_the_data(tmp_path: Path) -> None:
    write_report(tmp_path, EXAMPLES["utility"])
    text = (tmp_path / "result.json").read_text(encoding="utf-8")
    assert json_form.from_json(text, where="result.json") == EXAMPLES["utility"]


@pytest.mark.slow
def test_timings_are_the_only_difference(tmp_path: Path) -> None:
    other = replace(EXAMPLES["several"], timings=Timings("2031-01-01T00:00:00+00:00", 98765.4, 64, {"x": 1.0}))
    write_report(tmp_path / "a", EXAMPLES["several"])
    write_report(tmp_path / "b", other)
    assert _files(tmp_path / "a") == _files(tmp_path / "b")
    timeless = re.compile(r'<p id="timings">.*?</p>', re.DOTALL)
    for name in _files(tmp_path / "a"):
        texts = [(tmp_path / side / name).read_text(encoding="utf-8") for side in "ab"]
        if name == "result.json":
            values = [json.loads(text) | {"timings": None} for text in texts]
            assert values[0] == values[1]
        else:
            assert len(timeless.findall(texts[0])) == 1
            assert timeless.sub("", texts[0]) == timeless.sub("", texts[1])


@pytest.mark.slow
def test_names_of_pages(tmp_path: Path) -> None:
    names = ["RecPrefix", "rec_prefix", "REC-prefix", "..", "../../etc/passwd", "ε", "", "a" * 300, "CON", "<b>&\"'#?%"]
    audits = [replace(example_results.proved(), name=name, replay=f"id-{i}") for i, name in enumerate(names)]
    write_report(tmp_path / "out", example_results.result(*audits))
    assert _files(tmp_path) == sorted(
        [
            "out/index.html",
            "out/result.json",
            *(f"out/algorithms/{slug}.html" for slug in ("rec-prefix", "rec-prefix-2", "rec-prefix-3", "etc-passwd")),
            *(f"out/algorithms/{slug}.html" for slug in ("audit", "audit-2", "audit-3", "a" * 80, "con", "b")),
        ]
    )
    for link in _page(tmp_path / "out" / "index.html").links:
        where, anchor = urldefrag(link)
        assert not anchor.startswith("audit") or anchor in _page(tmp_path / "out" / where).ids


@pytest.mark.slow
def test_an_earlier_report_is_replaced_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    write_report(tmp_path, EXAMPLES["several"])
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "algorithms" / "mine.html").write_text("<p>mine")
    with pytest.raises(ReportError, match=r"mine\.html is not of a report that dpaudit wrote; name another folder"):
        write_report(tmp_path, EXAMPLES["fail"])
    (tmp_path / "algorithms" / "mine.html").rename(tmp_path / "algorithms" / "mine.htm")
    assert len(list((tmp_path / "algorithms").glob("*.html"))) == 6
    write_report(tmp_path, EXAMPLES["fail"])
    assert _files(tmp_path) == [
        "algorithms/mine.htm", "algorithms/noisy-max.html", "index.html", "notes.txt", "result.json",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["index.html", "result.json", "algorithms/noisy-max.html", "algorithms"])
def test_a_foreign_file_is_not_overwritten(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(ReportError, match="is not of a report that dpaudit wrote"):
        write_report(tmp_path, EXAMPLES["fail"])
    assert _files(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="it is a file; name a folder"):
        write_report(tmp_path / "file", EXAMPLES["fail"])
    with pytest.raises(ReportError, match=r"there is no folder .*missing\."):
        write_report(tmp_path / "missing" / "out", EXAMPLES["fail"])


def test_half_of_a_surrogate_pair_is_written_escaped(tmp_path: Path) -> None:
    result = example_results.hostile()
    index = write_report(tmp_path, result)
    assert "\\ud800" in "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "algorithms").iterdir())
    assert index.is_file()
    text = (tmp_path / "result.json").read_text(encoding="utf-8")
    assert json_form.from_json(text, where="result.json") == result


@pytest.mark.slow
def test_a_report_whose_writer_was_killed_before_the_index_is_made_again(tmp_path: Path) -> None:
    write_report(tmp_path, EXAMPLES["fail"]).unlink()
    assert write_report(tmp_path, EXAMPLES["fail"]).is_file()


def test_users_text_cannot_become_markup(tmp_path: Path) -> None:
    audit = replace(example_results.proved(), name="<script>alert(1)</script>", case="</table><script>x</script>")
    text = write_report(tmp_path, example_results.result(audit)).read_text(encoding="utf-8")
    assert text.count("<script") == 1
    assert "&lt;script&gt;alert(1)" in text


@pytest.mark.slow
def test_a_page_for_each_algorithm_costs_no_more_than_its_style(tmp_path: Path) -> None:
    many = example_results.result(*example_results.many(10))
    write_report(tmp_path, many)
    pages = list((tmp_path / "algorithms").glob("*.html"))
    whole = sum(page.stat().st_size for page in pages)
    assert whole < len(to_html(many).encode()) + 45_000 * len(pages)


@pytest.mark.slow
def test_pages_are_the_same_whoever_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.report.figures.SHARED_FROM", 2)
    result = example_results.result(*example_results.many(6), example_results.fail(), example_results.proved())
    for jobs in (1, 2):
        files.write(result, Outputs(html=str(tmp_path / f"{jobs}.html"), report=str(tmp_path / str(jobs))), jobs=jobs)
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()
    pages = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.*"))
    assert len(pages) > 4
    for page in pages:
        assert (tmp_path / "1" / page).read_bytes() == (tmp_path / "2" / page).read_bytes()
