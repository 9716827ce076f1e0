"""Several audits at once: the same results in the same order, and one that dies takes no other with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typed_commands import Typed

from dpaudit.engine import orchestrator
from dpaudit.plans.request import Request
from dpaudit.results.model import Result, Verdict
from dpaudit.results.stream import AuditFinished, AuditStarted, CheckFinished, Event

USER = """
import os
import time

def good(d, rng, size):
    return rng.laplace(sum(d), 1.0, size)

def bad(d, rng, size):
    return rng.laplace(sum(d), 0.2, size)

def dies(d, rng):
    if os.environ.get("LOKY_WORKER") or os.getppid() != PARENT:
        os._exit(3)
    return 0

def slow(d, rng):
    time.sleep(0.0005)
    return 0

PARENT = os.getppid()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder, where all audits go to the workers."""
    (tmp_path / "u.py").write_text(USER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(orchestrator, "WORTH_A_POOL", -1.0)
    return tmp_path


def _request(*names: str, jobs: int = 2, seconds: float | None = None) -> Request:
    targets = tuple(f"u.py:{name}" for name in names)
    return Request(targets, epsilon=1.0, pair=([0], [1]), runs=2_000, jobs=jobs, time=seconds)


def _result(events: Iterator[Event]) -> Result:
    return next(event.result for event in events if isinstance(event, CheckFinished))


@pytest.mark.slow
def test_the_same_results_in_the_same_order(typed: Typed, folder: Path) -> None:
    texts = []
    for jobs in (1, 2):
        typed(f"check u.py:bad u.py:good u.py:slow --pair [0] [1] --epsilon 1 --runs 1000 --jobs {jobs} --json r.json")
        text = (folder / "r.json").read_text()
        texts.append(re.sub(r'"timings": \{.*\n  \}', "", text, flags=re.DOTALL))
    assert texts[0] == texts[1]
    assert '"verdict": "fail"' in texts[0]


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_events_come_in_the_order_of_the_cases() -> None:
    told = [
        (type(event).__name__, event.audit.name if isinstance(event, AuditFinished) else event.name)
        for event in orchestrator.check(_request("slow", "good", "bad"))
        if isinstance(event, AuditStarted | AuditFinished)
    ]
    assert told == [(kind, name) for name in ("slow", "good", "bad") for kind in ("AuditStarted", "AuditFinished")]


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_worker_that_dies_takes_no_other_audit_with_it() -> None:
    audits = {audit.name: audit for audit in _result(orchestrator.check(_request("bad", "dies", "good"))).audits}
    assert audits["bad"].verdict is Verdict.FAIL
    assert audits["good"].verdict is Verdict.PASS
    assert audits["dies"].crashed
    assert audits["dies"].reason == "dies ended its worker process 4 times."


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_time_limit_is_for_all_together() -> None:
    audits = _result(orchestrator.check(_request("slow", "good", seconds=1.0))).audits
    assert next(audit.verdict for audit in audits) is Verdict.INCONCLUSIVE
    assert len(audits) == 2
