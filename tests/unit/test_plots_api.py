"""`result.plot`: figures on a user's own axes, without global state, the same numbers as the report's."""

from __future__ import annotations

import math
from io import BytesIO
from pathlib import Path

import example_results
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from dpaudit.api.result import Plots, Result
from dpaudit.errors import UnknownNameError, UsageError
from dpaudit.report.figures import data_csv
from dpaudit.report.figures.svg import CLAIM, EVIDENCE, GRID, INK, PAPER
from dpaudit.results.figures import PLOTS

EXAMPLES = {name: Result.of(result) for name, result in example_results.every().items()}
DRAWN = [
    (example, name)
    for example, result in EXAMPLES.items()
    if len(result.audits) == 1
    for name in Plots(result.audits[0]).names
]


def drawn(example: str, name: str, figure: Figure | None = None) -> Figure:
    figure = figure or Figure(layout="constrained")
    axes = figure.add_subplot()
    assert getattr(EXAMPLES[example].plot, name)(ax=axes) is axes
    return figure


def test_every_figure_is_drawn_from_some_example() -> None:
    assert {name for _, name in DRAWN} == set(PLOTS)
    assert all(callable(getattr(Plots, name)) for name in PLOTS)


@pytest.mark.slow(fast=["fail-*", "leaks-*", "prior-*"])
@pytest.mark.parametrize(("example", "name"), DRAWN)
def test_drawn_in_colours_of_its_own_and_named(example: str, name: str) -> None:
    svg = BytesIO()
    figure = drawn(example, name)
    figure.savefig(svg, format="svg")
    text = svg.getvalue().decode()
    assert not any(sentinel in text for sentinel in (CLAIM, EVIDENCE, INK, GRID, PAPER))
    (axes,) = figure.axes
    assert axes.get_xlabel()
    assert axes.get_ylabel() or name == "outputs"
    legend = axes.get_legend()
    assert legend is not None
    names = [entry.get_text() for entry in legend.get_texts()]
    assert len(names) == len(set(names)) >= 2
    assert names[0] in ("claim", "refutes", "D")


def test_the_claim_is_dashed_and_the_evidence_solid() -> None:
    lines = {line.get_label(): line for line in drawn("fail", "profile").axes[0].get_lines()}
    assert lines["claim"].get_linestyle() == "--"
    assert lines["exact"].get_linestyle() == "-"
    assert lines["lower bound"].get_marker() == "^"
    assert lines["claim"].get_color() == "#1a5fb4"
    assert lines["exact"].get_color() == "#a8470a"


def test_dark_axes_get_the_colours_of_dark_mode() -> None:
    with mpl.rc_context({"axes.facecolor": "black", "axes.labelcolor": "white"}):
        axes = drawn("fail", "evidence").axes[0]
    colours = {to_hex(line.get_color()) for line in axes.get_lines()}
    assert colours == {"#7cb2f7", "#f0a25f", "#5a5b60", "#ffffff"}


def test_the_line_is_the_data() -> None:
    result = EXAMPLES["fail"]
    data = result.plot.data("profile")
    assert list(data) == ["epsilon", "claim", "exact", "certified"]
    assert len({len(column) for column in data.values()}) == 1
    line = next(n for n in drawn("fail", "profile").axes[0].get_lines() if n.get_label() == "claim")
    np.testing.assert_array_equal(line.get_xdata(), data["epsilon"])
    np.testing.assert_array_equal(line.get_ydata(), data["claim"])
    assert result.audit.profile_plot is not None
    assert data_csv(result.audit.profile_plot).startswith(",".join(data))


def test_no_state_is_touched() -> None:
    from matplotlib import pyplot as plt

    before, open_figures = dict(mpl.rcParams), plt.get_fignums()
    for example, name in DRAWN:
        drawn(example, name)
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == open_figures


def test_without_axes_there_is_a_new_figure() -> None:
    from matplotlib import pyplot as plt

    with mpl.rc_context({"backend": "agg"}):
        axes = EXAMPLES["fail"].plot.profile()
    try:
        assert plt.gcf() is axes.get_figure()
    finally:
        plt.close(axes.get_figure())  # type: ignore[arg-type]


def test_limits_of_the_users_own_cut() -> None:
    figure = drawn("fail", "evidence")
    (axes,) = figure.axes
    axes.set_ylim(0, 10)
    assert all(line.get_clip_on() for line in axes.get_lines() if len(line.get_xydata()) > 1)  # type: ignore[arg-type]


def test_labels_are_for_any_font(tmp_path: Path) -> None:
    figure = drawn("fail", "profile")
    figure.canvas.draw()
    (axes,) = figure.axes
    ticks = [tick.get_text() for tick in axes.get_yticklabels()]
    assert "$10^{-6}$" in ticks
    assert axes.get_ylabel() == r"$\delta(\varepsilon)$"
    assert not any(sign in tick for tick in ticks for sign in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def test_names_of_outcomes_are_no_formulas() -> None:
    from dataclasses import replace

    from dpaudit.results.figures import OutputPlot

    plot = OutputPlot("exact", ["$1", r"$\x$"], [0.5, 0.5], [0.2, 0.8], [True, False], 0)
    audit = replace(EXAMPLES["fail"].audit, output_plot=plot)
    figure = Figure()
    Plots(audit).outputs(figure.add_subplot())
    figure.savefig(BytesIO(), format="png")  # a formula that is none would raise


def test_what_is_not_there_is_said() -> None:
    plots = EXAMPLES["crashed"].plot
    with pytest.raises(UsageError, match="no data for the figure 'profile'; nothing was sampled"):
        plots.profile(Figure().add_subplot())
    with pytest.raises(UsageError, match=r"it has profile, .*outputs\."):
        EXAMPLES["proved"].plot.data("evidence")
    with pytest.raises(UnknownNameError, match="no figure called 'profil'"):
        plots.data("profil")
    with pytest.raises(UsageError, match="take one"):
        _ = EXAMPLES["several"].plot
    assert all(math.isfinite(v) for v in EXAMPLES["several"][0].plot.data("bound")["bound"])


def test_trade_off_curve_and_losses_are_those_of_the_data() -> None:
    result = EXAMPLES["fail"]
    plot, loss = result.audit.tradeoff_plot, result.audit.loss_plot
    assert plot is not None
    assert plot.certified is not None
    assert loss is not None
    axes = drawn("fail", "tradeoff").axes[0]
    lines = {line.get_label(): np.column_stack(line.get_data()).tolist() for line in axes.get_lines()}
    assert list(result.plot.data("tradeoff")) == ["alpha", "claim", "exact"]
    assert lines["claim"] == [list(point) for point in zip(plot.alpha, plot.claim, strict=True)]
    assert lines["exact"] == [list(point) for point in zip(plot.alpha, plot.exact or [], strict=True)]
    assert lines["upper bound"][1] == [plot.certified.alpha_high, plot.certified.beta_high]
    axes = drawn("fail", "loss").axes[0]
    steps = {str(patch.get_label()): patch for patch in axes.patches if isinstance(patch, StepPatch)}
    for label, name in (("D", "left"), ("D′", "right")):
        values, edges, _ = steps[label].get_data()
        np.testing.assert_array_equal(values, result.plot.data("loss")[name])
        np.testing.assert_array_equal(edges[:-1], loss.above)
    claimed = next(line for line in axes.get_lines() if line.get_label() == "claimed ε")
    assert set(claimed.get_xdata()) == {loss.epsilon}
