"""How large pages may be; needs no browser. Times to open stand in benchmarks/report_size.md, for they are no test."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from browser_pages import html_of, of_audits, result_of

from dpaudit.reporting.html import to_html


def test_a_report_of_60_audits_is_under_3_mb() -> None:
    assert len(result_of("of 60 audits").audits) == 60
    assert len(html_of("of 60 audits").encode()) < 3_000_000


@pytest.mark.parametrize("key", ["drawing", "ledger", "output_plot", "pair", "sampled"])
def test_the_report_of_one_audit_is_under_300_kb(key: str) -> None:
    """Of the audits of the catalogue that have most of something."""

    def size(audit: dict[str, object]) -> int:
        return len(json.dumps(audit[key]))

    largest = of_audits(lambda audits: sorted(audits, key=size)[-2:])
    for audit in largest.audits:
        assert len(to_html(replace(largest, audits=[audit])).encode()) < 300_000, f"{audit.name} · {audit.case}"
