"""Drawings: what a layer refuses, what is seen of a pair, and where the report shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpaudit.adversary import Pair
from dpaudit.engine import orchestrator
from dpaudit.errors import ParameterError
from dpaudit.plans.plan import Seen
from dpaudit.plans.request import Request
from dpaudit.report.figures.panels import panel_figures
from dpaudit.report.html import to_html
from dpaudit.results.figures import Drawing, Layer, Panel, area, dots, line
from dpaudit.results.json_form import from_json, to_json
from dpaudit.results.model import Audit, Result

QUALITIES = Request(targets=("InteriorPointByMedianCorrected",), only="privacy")


@pytest.fixture(scope="module")
def result() -> Result:
    return orchestrator.run(QUALITIES)


def test_layers_refuse_what_cannot_be_drawn() -> None:
    with pytest.raises(ParameterError, match="one of dots, line, area, not 'arc'"):
        Layer("arc", "left", [0.0], [0.0])
    with pytest.raises(ParameterError, match="one of left, right"):
        dots([(0, 0)], "red")
    with pytest.raises(ParameterError, match="2 values of x, 2 of y, 1 sizes"):
        dots([(0, 0), (1, 1)], "data", sizes=[3])
    with pytest.raises(ParameterError, match="finite"):
        line([(0, float("inf"))], style="left")


def test_curves_are_kept_apart() -> None:
    assert line([(0, 1), (2, 3)], [(4, 5)], style="left").x == [0, 2, None, 4]
    apart = area([(0, 0), (1, 0), (0, 1)], [(2, 2), (3, 2), (2, 3)], style="left")
    drawn = panel_figures(Drawing("", "", [Panel("p", "x", "y", [apart])]), prefix="t")
    assert len(drawn) == 1
    assert drawn[0].count("<title") == 1


def test_every_kind_style_and_mark_can_be_drawn() -> None:
    layers = [line([(0, 0), (1, 1)], style=s, label=s) for s in ("left", "right", "event", "claim", "data", "quiet")]
    layers += [area([(0, 0), (1, 0), (0, 1)], style=s, strength=0.3) for s in ("left", "right", "event", "claim")]
    marks = ("dot", "ring", "square", "box", "cross", "halo")
    layers += [dots([(0, 0), (1, 2)], "data", m, mark=m, sizes=[1, 9]) for m in marks]
    for square in (False, True):
        (svg,) = panel_figures(Drawing("", "<what>", [Panel("a < b", "x", "y", layers, square)]), prefix="t")
        assert "<what>" not in svg
        assert "a &lt; b" in svg


@pytest.mark.slow
def test_the_event_has_the_probabilities_of_the_exact_evidence(result: Result) -> None:
    audit = result.audits[0]
    assert audit.drawing is not None
    exact = next(e for e in audit.exact if e.pair == audit.pair)
    assert exact.p is not None
    assert exact.q is not None
    left, right = (exact.p, exact.q) if exact.direction == "left/right" else (exact.q, exact.p)
    assert f"{left:.3g} under D and {right:.3g} under D′" in audit.drawing.description


@pytest.mark.slow
def test_a_drawing_goes_through_json_and_stands_in_the_report(result: Result) -> None:
    again = from_json(to_json(result), where="test")
    assert again.audits[0].drawing == result.audits[0].drawing
    page = to_html(again)
    assert page.count('class="drawing"') == sum(a.drawing is not None for a in result.audits) == 1


@pytest.mark.slow
def test_few_audits_show_their_drawings_where_they_are(result: Result) -> None:
    page = to_html(replace(result, audits=result.audits[:1], utility=[]))
    assert page.count('class="drawing"') == 1


@pytest.mark.slow
def test_a_drawing_that_fails_leaves_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Drawing:
        raise ValueError("no paper")

    monkeypatch.setattr(orchestrator.figures, "drawing", broken)
    audit = orchestrator.run(QUALITIES).audits[0]
    assert isinstance(audit, Audit)
    assert audit.drawing is None
    assert audit.verdict.value == "pass"
    assert any("could not be made" in note.sentence and "no paper" in note.sentence for note in audit.notes)


def test_probabilities_of_the_event() -> None:
    seen = Seen(Pair((0,), (1,), "p"), "exact", ["a", "b", "c"], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [True, False, True])
    assert seen.probability == pytest.approx((0.7, 0.8))
