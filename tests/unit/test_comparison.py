"""Comparisons: every algorithm at every size, on the same inputs, with evidence in the same result."""

from __future__ import annotations

import json
import re
from functools import cache

import pytest

import dpaudit
from dpaudit.errors import ParameterError, UnknownNameError, UsageError
from dpaudit.plans import registry
from dpaudit.plans.command import command_line
from dpaudit.plans.comparison import comparison_entries, timed
from dpaudit.plans.jobs import comparison_of
from dpaudit.plans.request import ComparisonSpec, Request
from dpaudit.report.comparison import comparison_block, lines
from dpaudit.report.figures.comparison import comparison_figure
from dpaudit.report.html import to_html
from dpaudit.results.comparison import ONE_RUN
from dpaudit.results.json_form import from_json, to_json
from dpaudit.results.model import Result

NAME = "interior-points"
SIZES = (10, 100)


@cache
def compared() -> Result:
    return dpaudit.compare(NAME, sizes=SIZES, parameters={"size": 1024}, runs=2000, seed=4)


@pytest.mark.slow
def test_every_algorithm_has_a_row_for_every_size() -> None:
    comparison = compared().comparison
    assert comparison is not None
    assert len(comparison.rows) == len({row.algorithm for row in comparison.rows}) * len(SIZES)
    for row in comparison.rows:
        assert row.utility is not None
        assert row.audit is not None
        success, privacy = compared().utility[row.utility], compared().audits[row.audit]
        assert (success.name, privacy.name) == (row.algorithm, row.algorithm)
        assert success.case == privacy.case == f"{row.records:,} records"


def test_all_are_run_on_the_same_inputs_and_claim_the_same() -> None:
    found = comparison_entries(comparison_of(ComparisonSpec(NAME)), ComparisonSpec(NAME, (1000,)))
    inputs = {tuple(str(source) for source in entry.utility.instances) for entry in found if entry.utility is not None}
    assert len(inputs) == 1
    claims = {entry.method: entry.privacy.tested for entry in found if entry.privacy is not None}
    for name, claim in claims.items():
        assert claim is not None
        assert claim.epsilon == pytest.approx(1.0), name
        assert claim.delta == pytest.approx(0.0 if name == "ExponentialMechanism" else 1e-6), name


@pytest.mark.slow
def test_success_is_exact_and_grows() -> None:
    comparison = compared().comparison
    assert comparison is not None
    exponential = [compared().utility[row.utility or 0].deciding for row in comparison.rows[: len(SIZES)]]
    small, large = (one.exact for one in exponential if one is not None)
    assert small is not None
    assert large is not None
    # |X|·e^{−εn/4}: nothing at 10 records, all but 1e-8 at 100
    assert small < 0.05
    assert large > 1 - 1e-7


@pytest.mark.slow
def test_it_is_reproducible_whatever_the_number_of_workers() -> None:
    other = dpaudit.compare(NAME, sizes=SIZES, parameters={"size": 1024}, runs=2000, seed=4, jobs=2)
    assert (other.comparison, other.utility, other.audits) == (
        compared().comparison, compared().utility, compared().audits,
    )


@pytest.mark.slow
def test_times_stand_among_the_timings_alone() -> None:
    comparison = comparison_of(ComparisonSpec(NAME, parameters=(("size", 1024),)))
    result = timed(comparison, ComparisonSpec(NAME, SIZES), compared())
    assert (result.comparison, result.utility, result.audits) == (
        compared().comparison, compared().utility, compared().audits,
    )
    spent = {key: value for key, value in result.timings.audits.items() if key.endswith(ONE_RUN)}
    assert len(spent) == len(compared().utility)
    assert all(0 < value < 60 for value in spent.values())
    assert all(line.seconds for line in lines(result, times=True))
    assert not any(line.seconds for line in lines(result, times=False))


@pytest.mark.slow
def test_reports() -> None:
    result = compared()
    assert dpaudit.Result.from_json(to_json(result)) == result
    page = to_html(result)
    assert "4 algorithms compared" in page
    assert 'href="#utility-1"' in page
    drawn = comparison_figure(result, prefix="x")
    assert drawn.startswith("<svg")
    # all colours are variables of the page, which has others when it is dark
    assert not re.search(r"#[0-9a-f]{6}\b", re.sub(r"var\([^)]*\)", "", drawn))
    assert any("RecPrefix" in str(text) for _, _, text in comparison_block(result).rows)


def test_its_command_makes_it_again() -> None:
    comparison = ComparisonSpec(NAME, (10, 100), (("epsilon", 0.5),))
    request = Request((NAME,), seed=3, runs=500, comparison=comparison)
    assert command_line(request) == f"dpaudit compare {NAME} --n 10,100 --param epsilon=0.5 --runs 500 --seed 3"
    assert Request.from_json(request.to_json()) == request


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(UnknownNameError, match="interior-points"):
        registry.comparison("interior-point")
    with pytest.raises(ParameterError, match="size must be at least 16"):
        dpaudit.compare(NAME, parameters={"size": 3})
    with pytest.raises(ParameterError, match="no parameter"):
        dpaudit.compare(NAME, parameters={"nothing": 3})
    with pytest.raises((ParameterError, UsageError), match="sizes"):
        dpaudit.compare(NAME, sizes=(0,))


def test_a_place_that_is_not_there_is_refused() -> None:
    value = json.loads(to_json(compared()))
    value["comparison"]["rows"][0]["utility"] = 99
    with pytest.raises(Exception, match="there is no place 99"):
        from_json(json.dumps(value), where="x")
