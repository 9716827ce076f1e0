"""Drawings of guarantees: from runs with the audit's seed, in JSON and HTML; the verdict stands without."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import example_results
import pytest
from jsonschema import Draft202012Validator
from numpy.random import Generator

from dpaudit.evidence.utility import audit_utility
from dpaudit.language import Fixed, Multiset
from dpaudit.plans.job import UtilityJob
from dpaudit.plans.plan import UtilityCase
from dpaudit.plans.request import Request
from dpaudit.report.html import to_html
from dpaudit.results.figures import Drawing, Panel, line
from dpaudit.results.json_form import from_json, schema, to_json
from dpaudit.results.model import UtilityAudit
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget
from dpaudit_algorithms.foundations.laplace_mechanism import Count, LaplaceMechanism

CURVE = line([(0, 1), (1, 2)], style="left")
PICTURE = Drawing("What is seen.", "The same in words.", [Panel("", "k", "error", [CURVE])])


def drawn(rng: Generator) -> Drawing:
    """A line whose height is a draw."""
    return Drawing("c", "d", [Panel("", "x", "y", [line([(0.0, 0.0), (1.0, float(rng.random()))], style="left")])])


def broken(rng: Generator) -> Drawing:
    raise ValueError("no picture")


def tried(drawing: Any, seed: int = 0) -> UtilityAudit:
    count = LaplaceMechanism(1.0, Count(1))
    case = UtilityCase(
        "count", count, count.guarantee(3.0), (Fixed(Multiset.counted({0: 2, 1: 1})),), 100, exact=False,
        drawing=drawing,
    )
    job = UtilityJob(
        target=MechanismTarget("LaplaceMechanism", "", case.mechanism), case=case, replay="0" * 12, expected=None,
        runs=100,
    )
    steps = audit_utility(job, Request(targets=("LaplaceMechanism",), seed=seed), 0.05, Runner(1))
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found = end.value
            assert isinstance(found, UtilityAudit)
            return found


def test_a_picture_follows_from_the_seed() -> None:
    first, again, other = tried(drawn), tried(drawn), tried(drawn, 1)
    assert first.drawing == again.drawing
    assert first.drawing is not None
    assert first.drawing != other.drawing
    assert tried(None).drawing is None


def test_the_verdict_stands_without_its_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPAUDIT_TRACEBACK", raising=False)
    found = tried(broken)
    assert found.drawing is None
    assert found.verdict is tried(None).verdict
    assert any("no picture" in note.sentence for note in found.notes)


@pytest.mark.slow
def test_json_and_html_hold_it() -> None:
    guarantee = replace(example_results.certified_guarantee(), drawing=PICTURE)
    result = replace(example_results.every()["utility"], utility=[guarantee])
    text = to_json(result)
    Draft202012Validator(schema()).validate(json.loads(text))
    assert from_json(text, where="x").utility[0].drawing == PICTURE
    page = to_html(result)
    assert page.count("What is seen.") >= 1
    assert "The same in words." in page
    many = to_html(replace(result, utility=[guarantee] * 4))
    assert many.count('<figure class="drawing">') == 4
