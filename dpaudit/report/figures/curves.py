"""Curves: the privacy profile, and bound and evidence against runs.

Two colours everywhere, claim and evidence, and never colour alone: the claim is dashed, what is exact is a
plain line, lower bounds have markers pointing up; the legend names every line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from dpaudit.report.figures.svg import CERTIFIED_STYLE as _CERTIFIED_STYLE
from dpaudit.report.figures.svg import CLAIM_STYLE as _CLAIM_STYLE
from dpaudit.report.figures.svg import (
    EVIDENCE,
    GRID,
    HEIGHT,
    INK,
    PAPER,
    RC,
    TITLES,
    WIDTH,
    Style,
    add_legend,
    new_figure,
    to_svg,
)
from dpaudit.report.figures.svg import EXACT_STYLE as _EXACT_STYLE
from dpaudit.report.numbers import (
    count,
    lower,
    power_below,
    power_of_ten,
    power_rounded,
    power_text,
    small,
    stated,
    ten_to,
)
from dpaudit.results.figures import BoundPlot, EvidencePlot, ProfilePlot
from dpaudit.results.model import ClaimRecord

_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 36, 46  # margins; the top one holds the legend
_SMALLEST_DELTA = 1e-20  # a logarithmic axis that reaches further down shows nothing but itself


@dataclass(frozen=True)
class Line:
    """A line of a figure and what it is called; `style` is matplotlib's."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: Style


def profile_figure(plot: ProfilePlot, claim: ClaimRecord, *, prefix: str) -> str:
    """δ against ε: what is claimed, what is exact where there is a law, and what the counts certify."""
    with rc_context(RC):
        figure, axes = _canvas()
        draw_profile(axes, plot)
        add_legend(figure, axes)
    parts = [f"the claim allows δ = {small(claim.delta)} at ε = {stated(claim.epsilon)}"]
    at = min(range(len(plot.epsilon)), key=lambda i: abs(plot.epsilon[i] - claim.epsilon), default=None)
    if at is not None:
        evidence = _profile_lines(plot)[1:]
        parts += [f"{line.label.removesuffix(' ≥')} δ near it: {small(line.y[at])}" for line in evidence]
    return to_svg(figure, prefix=prefix, title=TITLES["profile"], description="; ".join(parts) + ".")


def draw_profile(axes: Axes, plot: ProfilePlot) -> list[Line]:
    """Draw δ against ε on any axes, in the sentinel colours; the lines as they were drawn."""
    axes.set_xlabel("ε")
    axes.set_ylabel("δ(ε)")
    lines = _profile_lines(plot)
    floor = _delta_axis(axes, [value for line in lines for value in line.y])
    drawn = [Line(n.label, n.x, [max(v, floor) for v in n.y], n.style) for n in lines]
    for above in drawn[1:]:
        _hatch_between(axes, plot.epsilon, drawn[0].y, above.y)
    _draw(axes, drawn)
    _widen(axes.set_xlim, plot.epsilon)
    return drawn


def _profile_lines(plot: ProfilePlot) -> list[Line]:
    lines = [Line("claim", plot.epsilon, plot.claim, _CLAIM_STYLE)]
    if plot.exact is not None:
        lines.append(Line("exact", plot.epsilon, plot.exact, _EXACT_STYLE))
    if plot.certified is not None:
        every = {"markevery": max(len(plot.epsilon) // 9, 1)}
        lines.append(Line("lower bound", plot.epsilon, plot.certified, {**_CERTIFIED_STYLE, **every}))
    return lines


def bound_figure(plot: BoundPlot, *, claim: float, exact: float | None, prefix: str) -> str:
    """Lower confidence bound on ε against samples per dataset; the claimed and the exact ε are horizontal lines."""
    with rc_context(RC):
        figure, axes = _canvas()
        draw_bound(axes, plot, claim=claim, exact=exact)
        add_legend(figure, axes)
    x, y = _after_runs(plot.runs, plot.bound)
    last = f"ε ≥ {lower(y[-1], claim)} after {count(round(x[-1]))} samples per dataset" if x else "no samples"
    description = f"Lower confidence bound: {last}; claimed ε = {stated(claim)}"
    description += "." if exact is None else f"; exact ε = {exact:.3g}."
    return to_svg(figure, prefix=prefix, title=TITLES["bound"], description=description)


def draw_bound(axes: Axes, plot: BoundPlot, *, claim: float, exact: float | None) -> list[Line]:
    """Draw the bound against samples on any axes, in the sentinel colours; returns the lines."""
    axes.set_xlabel("samples per dataset")
    axes.set_ylabel("ε")
    x, y = _after_runs(plot.runs, plot.bound)
    ends = _run_ends(x)
    lines = [Line("claim", ends, [claim, claim], _CLAIM_STYLE)]
    if exact is not None:
        lines.append(Line("exact", ends, [exact, exact], _EXACT_STYLE))
    if x:
        every = {"markevery": max(len(x) // 12, 1)}
        lines.append(Line("lower bound", x, y, {**_CERTIFIED_STYLE, **every}))
    _runs_axis(axes, ends)
    _widen(axes.set_ylim, [0.0, *(v for line in lines for v in line.y)], share=0.08)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    _draw(axes, lines)
    if x:  # only the last point is a confidence bound, so only it is filled
        axes.plot(x[-1:], y[-1:], color=EVIDENCE, marker="^", markersize=6.5, linestyle="", clip_on=False)
    return lines


def evidence_figure(plot: EvidencePlot, *, refuted_at: int | None, prefix: str) -> str:
    """The e-process against samples per dataset, on two logarithmic axes, with a line at the threshold that refutes.

    `refuted_at`, the samples per dataset at the refutation, is marked; the line ends where sampling stopped.
    """
    with rc_context(RC):
        figure, axes = _canvas()
        draw_evidence(axes, plot, refuted_at=refuted_at)
        add_legend(figure, axes)
    x, y = _after_runs(plot.runs, plot.log10_e)
    last = f"e-value {power_below(y[-1])} after {count(round(x[-1]))} samples per dataset" if x else "no samples"
    stopped = f"refuted after {count(refuted_at)} samples per dataset" if refuted_at is not None else "not refuted"
    needed = power_text(power_rounded(plot.log10_threshold, up=refuted_at is None))
    return to_svg(
        figure,
        prefix=prefix,
        title=TITLES["evidence"],
        description=f"{last[:1].upper()}{last[1:]}; {needed} refutes the claim; {stopped}.",
    )


def draw_evidence(axes: Axes, plot: EvidencePlot, *, refuted_at: int | None) -> list[Line]:
    """Draw the e-process on any axes, in the sentinel colours; the lines that want a label."""
    axes.set_xlabel("samples per dataset")
    axes.set_ylabel("e-value")
    x, y = _after_runs(plot.runs, plot.log10_e)
    ends = _run_ends(x)
    lines = [Line("refutes", ends, [plot.log10_threshold] * 2, _CLAIM_STYLE)]
    # pairs are counted one after the other, so the runs of a pair may begin anew: then so does the line
    turns = [0, *(i for i in range(1, len(x)) if x[i] < x[i - 1]), len(x)]
    strands = [Line("evidence", x[a:b], y[a:b], _EXACT_STYLE) for a, b in pairwise(turns) if a < b]
    lines += strands[-1:]
    reached = [(runs, value) for runs, value in zip(x, y, strict=True) if runs == refuted_at]
    stop = max(reached, key=lambda point: point[1], default=None)
    _runs_axis(axes, ends)
    # the value 1, no evidence at all, is always in the picture
    _widen(axes.set_ylim, [0.0, plot.log10_threshold, *y], share=0.08)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: ten_to(round(v))))
    axes.axhline(0.0, color=GRID, linewidth=1.6, zorder=0.9)
    if stop is not None:
        axes.plot([stop[0]] * 2, [axes.get_ylim()[0], stop[1]], color=INK, linewidth=0.9, linestyle=(0, (1, 2)))
    _draw(axes, [*(replace(strand, label="") for strand in strands[:-1]), *lines])
    if stop is not None:
        mark: Style = {"marker": "o", "markersize": 8, "markeredgewidth": 1.6, "linestyle": ""}
        mark |= {"color": EVIDENCE, "markerfacecolor": PAPER, "label": "refuted"}
        axes.plot([stop[0]], [stop[1]], clip_on=False, **mark)
    return lines


def _after_runs(runs: Sequence[int], values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Runs and values where there were any runs: a logarithmic axis has no place for 0."""
    points = [(float(n), value) for n, value in zip(runs, values, strict=True) if n > 0]
    return [n for n, _ in points], [value for _, value in points]


def _run_ends(runs: Sequence[float]) -> list[float]:
    """Where an axis of runs begins and ends."""
    ends = [min(runs, default=1.0), max(runs, default=10.0)]
    return ends if ends[0] < ends[1] else [ends[0] / 2, ends[1] * 2]


def _runs_axis(axes: Axes, ends: Sequence[float]) -> None:
    """A logarithmic axis of samples per dataset."""
    axes.set_xscale("log")
    axes.set_xlim(*ends)
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_minor_formatter(NullFormatter())
    decades = [d for d in range(-1, 20) if ends[0] <= 10.0**d <= ends[1]]
    if len(decades) < 2:  # less than two decades: say where the axis begins and ends instead
        axes.xaxis.set_major_locator(FixedLocator(ends))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: count(round(v))))
    else:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: power_of_ten(v)))


def _canvas() -> tuple[Figure, Axes]:
    figure = new_figure(WIDTH, HEIGHT)
    box = (_LEFT / WIDTH, _BOTTOM / HEIGHT, 1 - (_LEFT + _RIGHT) / WIDTH, 1 - (_TOP + _BOTTOM) / HEIGHT)
    axes = figure.add_axes(box)
    axes.grid(visible=False, axis="x")
    return figure, axes


def _draw(axes: Axes, lines: Sequence[Line]) -> None:
    for line in lines:
        style = dict(line.style)
        if len(line.x) == 1:
            style.setdefault("marker", "o")
        # a legend, where somebody wants one, names what has a label
        style["label"] = line.label or None
        axes.plot(line.x, line.y, clip_on=False, solid_capstyle="butt", **style)


def _hatch_between(axes: Axes, x: Sequence[float], claim: Sequence[float], evidence: Sequence[float]) -> None:
    """Hatch where the evidence lies above the claim: there the claim is broken."""
    above = [e > c for c, e in zip(claim, evidence, strict=True)]
    if any(above):
        style: Style = {
            "facecolor": "none",
            "edgecolor": EVIDENCE,
            "hatch": "////",
            "linewidth": 0.0,
            "alpha": 0.35,
        }
        axes.fill_between(list(x), list(claim), list(evidence), where=above, interpolate=True, **style)


def _delta_axis(axes: Axes, values: Sequence[float]) -> float:
    """Scale the δ axis; the value that zeros are drawn at.

    Logarithmic when the positive values span more than two decades. Its lowest decade is then the place of
    zero (and of everything too small to show), and is labelled so.
    """
    top, positive = max(values, default=0.0), [v for v in values if v > 0]
    if top <= 0:
        axes.set_ylim(0, 1)
        return 0.0
    least = max(min(positive), min(_SMALLEST_DELTA, top))
    if top / least <= 100:
        axes.set_ylim(0, min(top * 1.08, max(top, 1.0)))
        axes.yaxis.set_major_locator(MaxNLocator(5))
        return 0.0
    lowest = math.floor(math.log10(least))
    has_floor = min(values) < least
    bottom = lowest - 1 if has_floor else lowest
    axes.set_yscale("log")
    axes.set_ylim(10.0**bottom, max(top, 10.0 ** math.ceil(math.log10(top))))
    highest = math.ceil(math.log10(top))
    step = max(math.ceil((highest - lowest) / 5), 1)
    decades = list(range(highest, lowest - 1, -step))
    if has_floor:
        name = "0" if min(positive) >= least else f"< {power_of_ten(10.0**lowest)}"
        ticks = [10.0**bottom, *(10.0**d for d in decades)]
        edge = 10.0 ** (bottom + 0.5)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: name if v < edge else power_of_ten(v)))
    else:
        ticks = [10.0**d for d in decades]
        axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: power_of_ten(v)))
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_minor_locator(NullLocator())
    return 10.0**bottom


def _widen(set_limits: Callable[..., object], values: Sequence[float], share: float = 0.0) -> None:
    """Set the limits of an axis to the values' range, or about the one value there is."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        low, high = low - max(abs(low), 1.0) / 2, high + max(abs(high), 1.0) / 2
    set_limits(low, high + (high - low) * share)

