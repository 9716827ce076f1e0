"""How large pages may be; needs no browser. Times to open are in benchmarks/report_size.md, for they are no test."""

from __future__ import annotations

from dataclasses import replace

import pytest
from browser_pages import html_of, result_of
from sample_audits import largest_audit, sample_audits

from dpaudit.report.html import to_html


@pytest.mark.slow
def test_a_report_of_60_audits_is_under_3_mb() -> None:
    assert len(result_of("of 60 audits").audits) == 60
    assert len(html_of("of 60 audits").encode()) < 3_000_000


@pytest.mark.slow
def test_the_report_of_one_audit_is_under_300_kb() -> None:
    """`python benchmarks/report_size.py build/report/result.json` measures the audits of the whole catalogue."""
    result = sample_audits()
    for audit in [*result.audits, *largest_audit().audits]:
        page = to_html(replace(result, audits=[audit], utility=[]))
        assert len(page.encode()) < 300_000, f"{audit.name} · {audit.case}"
