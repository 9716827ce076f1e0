"""The verdicts in `reports/` are of this catalogue: every case of every plan, with the verdict that the plan expects.

`make report` writes them anew; what they say of two findings is compared with what is computed today.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import example_results
import pytest
from sample_audits import sample_audits

from dpaudit.engine.orchestrator import run
from dpaudit.plans import registry
from dpaudit.plans.comparison import comparison_entries
from dpaudit.plans.plan import UtilityCase
from dpaudit.plans.request import ComparisonSpec, Request
from dpaudit.report.html import embedded_json
from dpaudit.results import json_form
from dpaudit.results.model import Result, Verdict

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import verdict_rows  # noqa: E402
import verdicts  # noqa: E402
from verdict_rows import FILES, REPORTS, PrivacyRow, UtilityRow, Verdicts, fingerprint  # noqa: E402

PAGES = ["RecPrefix", "ASimpleH", "interior-points"]


@cache
def committed() -> Verdicts:
    """The committed rows."""
    return verdict_rows.load()


@cache
def audited() -> list[str]:
    """The algorithms that have rows. One without is new, and gets them with the next `make report`."""
    rows = {row.algorithm for row in committed().every}
    return [name for name in registry.names() if name in rows]


@cache
def shown(page: str) -> Result:
    """The result that a committed page holds as JSON."""
    text = (REPORTS / f"{page}.html").read_text(encoding="utf-8")
    return json_form.from_json(embedded_json(text), where=page)


def test_only_new_algorithms_have_no_rows() -> None:
    """New are those of the changelog's unreleased part."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = text.split("## [Unreleased]", 1)[1].split("\n## [", 1)[0]
    without = set(registry.names()) - set(audited())
    assert {name for name in without if not re.search(rf"\b{name}\b", unreleased)} == set()


def test_there_is_a_row_for_every_case_and_no_other() -> None:
    planned = [
        (name, case.label, str(case.tested), case.expected.value, fingerprint(repr(case.mechanism)))
        for name in audited()
        for case in registry.plan(name).cases()
    ]
    assert [(r.algorithm, r.case, r.claim, r.expected, r.mechanism) for r in committed().privacy] == planned


def test_there_is_a_row_for_every_utility_guarantee_and_no_other() -> None:
    planned = [
        (
            *(name, case.label, str(case.claim), case.expected.value, len(case.instances)),
            fingerprint(repr(case.mechanism), map(str, case.instances)),
        )
        for name in audited()
        for case in _guarantees(name)
    ]
    rows = committed().utility
    assert [(r.algorithm, r.case, r.guarantee, r.expected, r.inputs, r.mechanism) for r in rows] == planned


def test_every_verdict_is_as_expected() -> None:
    assert [f"{row.algorithm}: {row.case}" for row in committed().unexpected] == []
    assert all(row.as_expected == (row.verdict == row.expected) for row in committed().every)


@pytest.mark.parametrize("page", PAGES)
def test_a_committed_page_is_at_most_600_kb(page: str) -> None:
    assert (REPORTS / f"{page}.html").stat().st_size <= 600_000


@pytest.mark.slow
def test_findings_are_what_is_computed_today() -> None:
    fresh = verdict_rows.from_result(run(Request(("ADist", "LearnPoints"), runs=1_000))).privacy
    rows = [row for row in committed().privacy if row.algorithm in ("ADist", "LearnPoints")]
    assert len(rows) == len(fresh) > 0
    for row, now in zip(rows, fresh, strict=True):
        assert (now.case, now.verdict, now.evidence) == (row.case, row.verdict, row.evidence)
        assert now.epsilon_exact == pytest.approx(row.epsilon_exact, rel=1e-6)


def test_the_files_are_small_and_hold_no_json() -> None:
    files = [path for path in REPORTS.iterdir() if path.is_file()]
    pages = {f"{page}.html" for page in PAGES}
    assert {path.name for path in files} == {"README.md", "proofs.csv", *FILES.values(), *pages}
    assert sum(path.stat().st_size for path in files) <= 4_000_000


@pytest.mark.parametrize("name", verdicts.SHOWN)
def test_a_page_has_the_verdicts_of_the_rows(name: str) -> None:
    found = verdict_rows.from_result(shown(name))
    assert found.privacy == [row for row in committed().privacy if row.algorithm == name]
    assert found.utility == [row for row in committed().utility if row.algorithm == name]
    page = (REPORTS / f"{name}.html").read_text(encoding="utf-8")
    assert all(audit.replay in page for audit in shown(name).every)
    links = re.findall(r'href="([^#"][^":]*)"', page)
    assert links
    assert all((REPORTS / link).exists() for link in links)


def test_the_comparison_is_of_todays_algorithms() -> None:
    compared = shown("interior-points")
    assert compared.comparison is not None
    comparison = registry.comparison("interior-points")()  # type: ignore[call-arg]
    planned = comparison_entries(comparison, ComparisonSpec("interior-points"))
    rows = compared.comparison.rows
    assert [(row.algorithm, row.records, row.note) for row in rows] == [
        (entry.method, entry.records, entry.note) for entry in planned
    ]
    for row, entry in zip(rows, planned, strict=True):
        assert row.utility is not None
        assert entry.utility is not None
        assert compared.utility[row.utility].mechanism == repr(entry.utility.mechanism)


@pytest.mark.slow
def test_rows_there_and_back() -> None:
    for result in (sample_audits(), *example_results.every().values()):
        rows = verdict_rows.from_result(result)
        for kind, some in ((PrivacyRow, rows.privacy), (UtilityRow, rows.utility)):
            text = verdict_rows.to_csv(some, kind)
            assert verdict_rows.from_csv(text, kind) == list(some)
            # a change of one row is a change of one line
            assert text.count("\n") == len(some) + 1
            assert "\r" not in text


def test_other_columns_are_refused() -> None:
    with pytest.raises(SystemExit, match=r"verdicts\.csv has the columns a, b"):
        verdict_rows.from_csv("a,b\n1,2\n", PrivacyRow)


def test_numbers_keep_the_side_of_the_claim() -> None:
    (audit,) = example_results.every()["fail"].audits
    claim = replace(audit.claim, epsilon=1.0)
    for exact, lower, expected in (
        (1.00000004, 0.9999996, (1.00000004, 0.999999)),
        (0.99999996, 1.0000004, (0.99999996, 1.0000004)),
        (1 + 1e-12, 0.12345678, (1.0, 0.123456)),
        (None, None, (math.inf, None)),
    ):
        changed = replace(audit, claim=claim, epsilon_exact=exact, epsilon_lower=lower, delta_exact=0.5)
        (row,) = verdict_rows.from_result(example_results.result(changed)).privacy
        assert (row.epsilon_exact, row.epsilon_lower) == expected


def test_a_fingerprint_is_of_the_mechanism_and_its_inputs() -> None:
    assert fingerprint("M(1)") != fingerprint("M(2)") != fingerprint("M(2)", ["x"]) != fingerprint("M(2)", ["y"])
    assert re.fullmatch("[0-9a-f]{8}", fingerprint("M(1)"))


def test_the_overview_names_what_is_unexpected() -> None:
    rows = committed()
    first = replace(rows.privacy[0], verdict=Verdict.FAIL.value, as_expected=False)
    text = verdicts.overview(replace(rows, privacy=[first, *rows.privacy[1:]]))
    assert "**Not as expected: 1**" in text
    assert f"- {first.algorithm}, {first.case}: fail, expected pass" in text
    assert "Not as expected" not in verdicts.overview(rows)


def test_an_interrupted_run_is_refused(tmp_path: Path) -> None:
    result = replace(example_results.every()["fail"], interrupted=True)
    (tmp_path / verdicts.CATALOGUE).write_text(json_form.to_json(result), encoding="utf-8")
    with pytest.raises(SystemExit, match="interrupted"):
        verdicts.texts(tmp_path)


def test_a_run_with_an_audit_that_gave_up_is_refused(tmp_path: Path) -> None:
    result = example_results.every()["fail"]
    audits = [replace(result.audits[0], crashed=True, reason="Killed."), *result.audits[1:]]
    (tmp_path / verdicts.CATALOGUE).write_text(json_form.to_json(replace(result, audits=audits)), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"gave up: Killed\. Run"):
        verdicts.texts(tmp_path)


def _guarantees(name: str) -> tuple[UtilityCase, ...]:
    plan = registry.plan(name)
    return plan.utility() if plan.utility is not None else ()
