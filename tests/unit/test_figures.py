"""The figures: well-formed, the same bytes each time, fit to stand in one page, and drawn from any data."""

from __future__ import annotations

import csv
import html
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import example_results
import matplotlib as mpl
import pytest

from dpaudit.report.figures import data_csv
from dpaudit.report.figures.curves import bound_figure, evidence_figure, profile_figure
from dpaudit.report.figures.losses import loss_figure, tradeoff_figure
from dpaudit.report.figures.outputs import output_figure
from dpaudit.results.figures import (
    BoundPlot,
    CertifiedTest,
    EvidencePlot,
    LossPlot,
    OutputPlot,
    ProfilePlot,
    TradeoffPlot,
)
from dpaudit.results.model import ClaimRecord

SIGNS = ["$1$", "<&>'\"", "\x00\n\ud800", "-->"]
CLAIM = ClaimRecord(1.0, 0.0, "replace-one", 1, "1-DP")


def _profile(plot: ProfilePlot) -> Callable[[str], str]:
    return lambda prefix: profile_figure(plot, CLAIM, prefix=prefix)


def _outputs(plot: OutputPlot) -> Callable[[str], str]:
    return lambda prefix: output_figure(plot, prefix=prefix)


def _bound(plot: BoundPlot, exact: float | None = None) -> Callable[[str], str]:
    return lambda prefix: bound_figure(plot, claim=1.0, exact=exact, prefix=prefix)


def _evidence(plot: EvidencePlot, refuted_at: int | None = None) -> Callable[[str], str]:
    return lambda prefix: evidence_figure(plot, refuted_at=refuted_at, prefix=prefix)


def _tradeoff(plot: TradeoffPlot) -> Callable[[str], str]:
    return lambda prefix: tradeoff_figure(plot, prefix=prefix)


def _loss(plot: LossPlot) -> Callable[[str], str]:
    return lambda prefix: loss_figure(plot, prefix=prefix)


def _losses(*values: float, epsilon: float = 1.0, infinite: float = 0.0) -> Callable[[str], str]:
    above = [-1 + 0.5 * i for i in range(len(values))]
    plot = LossPlot(
        *("exact", above, 0.5, list(values), list(values), infinite, 0.0, epsilon), *(infinite, 0.0, infinite, 0.0)
    )
    return _loss(plot)


def _examples() -> dict[str, Callable[[str], str]]:
    figures: dict[str, Callable[[str], str]] = {}
    for name, result in example_results.every().items():
        for audit in result.audits[:1]:
            if audit.profile_plot:
                figures[f"{name} profile"] = _profile(audit.profile_plot)
            if audit.tradeoff_plot:
                figures[f"{name} tradeoff"] = _tradeoff(audit.tradeoff_plot)
            if audit.loss_plot:
                figures[f"{name} loss"] = _loss(audit.loss_plot)
            if audit.output_plot:
                figures[f"{name} output"] = _outputs(audit.output_plot)
            if audit.bound_plot:
                figures[f"{name} bound"] = _bound(audit.bound_plot, audit.epsilon_exact)
            if audit.evidence_plot and audit.sequential:
                figures[f"{name} evidence"] = _evidence(audit.evidence_plot, audit.sequential.refuted_at)
    return figures


DEGENERATE = {
    "no profile": _profile(ProfilePlot([], [], None, None)),
    "one point": _profile(ProfilePlot([1.0], [0.0], [0.0], [0.0])),
    "all zero": _profile(ProfilePlot([0.0, 1.0], [0.0, 0.0], [0.0, 0.0], None)),
    "delta zero and tiny": _profile(ProfilePlot([0.0, 1.0], [0.5, 0.0], [1e-300, 5e-324], None)),
    "all of one tiny delta": _profile(ProfilePlot([0.0, 1.0], [1e-30, 1e-30], [1e-40, 0.0], [0.0, 0.0])),
    "delta above one": _profile(ProfilePlot([0.0, 1.0], [1.0000001, 1e-9], None, None)),
    "no outcome": _outputs(OutputPlot("exact", [], [], [], [], 0)),
    "one outcome": _outputs(OutputPlot("exact", ["⊥"], [1.0], [1.0], [True], 0)),
    "no mass": _outputs(OutputPlot("sampled", ["a", "b"], [0.0, 0.0], [0.0, 0.0], [True, False], 0)),
    "many empty bins": _outputs(OutputPlot("sampled", [""] * 99, [0.0] * 99, [0.0] * 99, [False] * 99, 5)),
    "tiny event": _outputs(OutputPlot("exact", ["a", "b"], [1.0, 1e-300], [1.0, 0.0], [False, True], 0)),
    "signs": _outputs(OutputPlot("exact", SIGNS, [0.25] * 4, [0.25] * 4, [True] * 4, 0)),
    "no runs": _bound(BoundPlot([], [])),
    "zero runs": _bound(BoundPlot([0], [0.0]), exact=0.0),
    "one run": _bound(BoundPlot([1], [0.0])),
    "no evidence yet": _evidence(EvidencePlot([], [], 3.3)),
    "one batch": _evidence(EvidencePlot([10], [0.0], 3.3)),
    "runs of zero": _evidence(EvidencePlot([0, 0], [1.0, 2.0], 3.3)),
    "overwhelming evidence": _evidence(EvidencePlot([10, 10**6], [0.0, 12_345.6], 3.3), refuted_at=10**6),
    "evidence for the claim": _evidence(EvidencePlot([10, 20], [-0.001, -400.0], 1e-9)),
    "pairs counted in turn": _evidence(EvidencePlot([10, 80, 90, 80, 90], [0.0, 1.0, 2.0, 3.0, 4.0], 3.3), 90),
    "refuted at an unknown point": _evidence(EvidencePlot([10, 20], [0.0, 5.0], 3.3), refuted_at=15),
    "no curve": _tradeoff(TradeoffPlot([0.0, 1.0], [1.0, 0.0], None, None)),
    "nothing hidden": _tradeoff(TradeoffPlot([0.0, 1.0], [0.0, 0.0], [0.0, 0.0], None)),
    "no lower bound on ε": _tradeoff(
        TradeoffPlot([0.0, 1.0], [1.0, 0.0], [1.0, 0.0], CertifiedTest(0.1, 0.0, 1.0, 0.0, 1.0))
    ),
    "certified alone": _tradeoff(
        TradeoffPlot([0.0, 0.5, 1.0], [1.0, 0.5, 0.0], None, CertifiedTest(0.1, 0.1, 0.2, 0.1, 0.2))
    ),
    "no losses": _losses(),
    "infinite losses alone": _losses(infinite=1.0),
    "one loss": _losses(1.0),
    "a loss too rare to see": _losses(0.5, 0.5, 0.0, 0.0, 1e-9),
    "losses far below the claim": _losses(0.5, 0.5, epsilon=1e300),
    "tiny losses": _losses(1.0, 0.0, 0.0, 0.0, 1e-300, infinite=1e-200),
    "negative bound": _bound(BoundPlot([10, 20], [-3.0, -1.0])),
}  # fmt: skip
ALL = {**_examples(), **DEGENERATE}


@pytest.mark.slow(fast=["fail *", "not_refuted *", "several *", "one loss"])
@pytest.mark.parametrize("name", ALL)
def test_is_one_accessible_svg_with_ids_of_its_own(name: str) -> None:
    text = ALL[name]("fig-1")
    root = ET.fromstring(text)  # well-formed
    assert root.tag == "svg"
    assert root.attrib["role"] == "img"
    ids = re.findall(r'\sid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    assert all(identifier.startswith("fig-1-") for identifier in ids)
    assert set(root.attrib["aria-labelledby"].split()) <= set(ids)
    for a, b in re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text):
        assert (a or b) in ids
    assert root.findtext("title")
    assert root.findtext("desc")


@pytest.mark.slow(fast=["fail *", "several *", "one loss"])
@pytest.mark.parametrize("name", ALL)
def test_same_bytes_each_time_whatever_the_settings(name: str) -> None:
    first = ALL[name]("p")
    with mpl.rc_context(
        {"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path", "svg.hashsalt": None}
    ):
        assert ALL[name]("p") == first


@pytest.mark.slow(fast=["fail *", "not_refuted *", "several *", "one loss"])
@pytest.mark.parametrize("name", ALL)
def test_colours_are_of_the_page_and_nothing_is_fetched(name: str) -> None:
    text = ALL[name]("p")
    assert not re.search(r"#[0-9a-f]{6}\b", re.sub(r"var\([^)]*\)", "", text))
    assert "var(--" in text
    assert "http" not in text
    assert "nan" not in text.lower().replace("covenant", "")
    assert "DejaVu" not in text
    assert "<style" not in text


def test_text_is_text_and_every_line_is_named() -> None:
    text = ALL["fail profile"]("p")
    for label in ("claim", "exact", "lower bound"):
        assert f">{label}</text>" in text
    assert all(f">{label}</text>" in ALL["fail output"]("p") for label in ("D", "D′", "event"))


def test_a_trade_off_curve_is_hatched_where_the_claim_is_broken() -> None:
    text = html.unescape(ALL["fail tradeoff"]("p"))
    assert "fill: url(#" in text or "fill:url(#" in text
    assert "the pair's curve is below the claim's by up to 0.259." in text
    for label in ("claim", "exact", "upper bound", "limits of the event"):
        assert f">{label}</text>" in text
    whole = ALL["proved tradeoff"]("p")
    assert "url(#" not in re.sub("clip-path=.*?[ >]", "", whole)
    assert "no point is below the claim's curve." in html.unescape(whole)
    assert ">certified" not in whole


def test_infinite_losses_stand_apart_and_beyond_is_not_delta() -> None:
    text = ALL["infinite loss"]("p")
    assert ">∞</text>" in text
    assert ">∞</text>" not in ALL["fail loss"]("p")
    assert "exceeds the claimed ε = 1.0 with probability 0.801 under D and 0.801 under D′" in ALL["fail loss"]("p")
    assert "δ at that ε: 0.259 and 0.259; an infinite loss has probability 0 and 0." in ALL["fail loss"]("p")
    # 1e-9 is not seen beside a half but on a logarithmic axis
    assert ">10⁻⁸</text>" in ALL["a loss too rare to see"]("p")


def test_names_that_only_differ_far_in_stay_different() -> None:
    names = [f"Hypothesis(threshold=0.25, label={i}, margin=0.125)" for i in (0, 1)]
    text = output_figure(OutputPlot("exact", names, [0.5, 0.5], [0.5, 0.5], [True, False], 0), prefix="p")
    assert "label=0" in text
    assert "label=1" in text


def test_zero_has_its_place_on_a_logarithmic_axis() -> None:
    plot = ProfilePlot([0.0, 1.0, 2.0], [0.5, 1e-6, 1e-6], [0.4, 1e-4, 0.0], None)
    text = profile_figure(plot, CLAIM, prefix="p")
    assert ">0</text>" in text
    assert ">10⁻⁶</text>" in text


def test_evidence_names_its_lines_and_tells_the_rest_in_words() -> None:
    text = ALL["fail evidence"]("p")
    assert ">evidence</text>" in text
    assert ">refutes</text>" in text
    assert (
        "E-value 2.3 × 10¹⁶¹ after 600,000 samples per dataset; 2,220 refutes the claim; refuted after 13,750 samples "
        "per dataset."
        in text
    )
    assert "; not refuted." in ALL["leaks evidence"]("p")
    assert ">10⁴</text>" in ALL["fail evidence"]("p")


@pytest.mark.parametrize(
    ("plot", "header", "rows"),
    [
        (ProfilePlot([0.0, 0.5], [0.1, 0.0], None, [0.0, 1e-9]), ["epsilon", "claim", "certified"], 2),
        (OutputPlot("exact", ['a,"b"', "c"], [0.5, 0.5], [1.0, 0.0], [True, False], 3), None, 2),
        (BoundPlot([], []), ["runs", "bound"], 0),
        (EvidencePlot([10, 20], [0.0, 1.5], 3.3), ["runs", "log10_e"], 2),
    ],
)
def test_data_csv(
    plot: ProfilePlot | OutputPlot | BoundPlot | EvidencePlot, header: list[str] | None, rows: int
) -> None:
    read = list(csv.reader(io.StringIO(data_csv(plot))))
    assert read[0] == (header or ["labels", "left", "right", "event"])
    assert len(read) == rows + 1
    if isinstance(plot, OutputPlot):
        assert read[1] == ['a,"b"', "0.5", "1.0", "True"]
