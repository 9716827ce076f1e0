"""`dp_audit` on functions as people write them, in one session of pytest: exactly the wrong ones fail.

A correct claim is refuted with probability α = 0.001 a session at most; the seeds are fixed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from functions import CASES, Case

# pytester forgets modules that an inner run has imported first, and numpy cannot be imported twice
import dpaudit.pytest_plugin.auditor
import dpaudit.pytest_plugin.reports
import dpaudit.strategies  # noqa: F401

SUITE = """
import pytest
from functions import CASES

@pytest.mark.parametrize("case", [case for case in CASES if case.name in {names!r}], ids=lambda case: case.name)
def test_it(dp_audit, case):
    claim = dict(epsilon=case.epsilon, delta=case.delta, relation=case.relation)
    dp_audit(case.function, **claim, {where})
"""
QUICK = ["active_users", "dose", "winner", "adults", "bestseller", "colours_told", "counts_of_cities_seen"]


def failing(pytester: pytest.Pytester, names: list[str], where: str) -> set[str]:
    """The names of the functions whose tests fail in a session of their own, with `where` the audits look."""
    pytester.makepyprojecttoml("[tool.dpaudit]\n")
    pytester.syspathinsert(Path(__file__).parent)
    pytester.makepyfile(SUITE.format(names=names, where=where))
    ran = pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider", "-q", "-rfE")
    lines = ran.stdout.str().splitlines()
    assert ran.parseoutcomes().get("errors", 0) == 0
    return {line.partition("[")[2].partition("]")[0] for line in lines if line.startswith("FAILED ")}


def wrong(cases: tuple[Case, ...], names: list[str]) -> set[str]:
    """The names of the wrong ones."""
    return {case.name for case in cases if case.name in names and not case.correct}


def test_the_wrong_ones_fail_on_their_pairs(pytester: pytest.Pytester) -> None:
    assert failing(pytester, QUICK, "pair=case.pair, runs=1_000") == wrong(CASES, QUICK)


@pytest.mark.slow
def test_all_wrong_ones_fail_on_their_pairs(pytester: pytest.Pytester) -> None:
    names = [case.name for case in CASES]
    assert failing(pytester, names, "pair=case.pair, runs=5_000") == wrong(CASES, names)


@pytest.mark.slow
def test_the_wrong_ones_fail_on_pairs_that_are_found(pytester: pytest.Pytester) -> None:
    assert failing(pytester, QUICK, "data=case.data, size=case.size, runs=5_000") == wrong(CASES, QUICK)
