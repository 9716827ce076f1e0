"""The figure of the output's distribution on both datasets, with the event marked.

D is filled, D′ hatched or dashed, in colours of different lightness.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from dpaudit.report.figures.svg import (
    GRID,
    HEIGHT,
    INK,
    LEFT,
    LEFT_BARS,
    RC,
    RIGHT,
    RIGHT_BARS,
    TITLES,
    WIDTH,
    Style,
    add_legend,
    new_figure,
    to_svg,
)
from dpaudit.report.numbers import count, power_of_ten, small
from dpaudit.results.figures import OutputPlot

_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 36, 46  # margins; the top one holds the legend
_FEW = 14  # outcomes drawn as pairs of bars
_NAME = 22  # characters of an outcome beside its bars
_LEFT_STEPS: Style = {"facecolor": to_rgba(LEFT, 0.28), "edgecolor": LEFT, "linewidth": 1.7}
_RIGHT_STEPS: Style = {"facecolor": "none", "edgecolor": RIGHT, "linewidth": 1.9, "linestyle": (0, (3, 1.3))}
_EVENT_STYLE: Style = {"facecolor": GRID, "edgecolor": "none", "alpha": 0.5}
_EVENT_RULE: Style = {"color": INK, "linewidth": 3.0, "solid_capstyle": "butt"}


def output_figure(plot: OutputPlot, *, prefix: str, event: str = "") -> str:
    """The output's distribution on both datasets: filled for D, hatched or dashed for D′, the event shaded.

    Args:
        plot: what to draw.
        prefix: of all ids.
        event: how likely the event is under both; what the bars add up to without it.
    """
    plot = replace(plot, labels=[_printable(label) for label in plot.labels])
    with rc_context(RC):
        figure, axes = _lying_axes(plot) if len(plot.labels) <= _FEW and not _upright(plot) else _upright_axes()
        draw_outputs(axes, plot)
        add_legend(figure, figure.axes[0], last="event")
    if not event:
        left, right = (
            sum(p for p, marked in zip(law, plot.event, strict=True) if marked) for law in (plot.left, plot.right)
        )
        event = f"probability {small(left)} under D, {small(right)} under D′"
    how = "Exact" if plot.kind == "exact" else "Observed"
    description = f"{how} distribution over {count(len(plot.labels) + plot.omitted)} outcomes; the event: {event}."
    return to_svg(figure, prefix=prefix, title=TITLES["outputs"], description=description)


def draw_outputs(axes: Axes, plot: OutputPlot) -> None:
    """Draw the output's distribution on any axes, in the sentinel colours: bars where there are few outcomes."""
    plot = replace(plot, labels=[_printable(label) for label in plot.labels])
    floor = _probability_floor(plot)
    if len(plot.labels) <= _FEW and not _upright(plot):
        _lying_bars(axes, plot, floor)
        return
    axes.set_xlabel("output")
    axes.set_ylabel("probability")
    _probability_axis(axes.yaxis, axes.set_yscale, axes.set_ylim, plot, floor)
    (_upright_bars if len(plot.labels) <= _FEW else _steps)(axes, plot, floor)


def _upright(plot: OutputPlot) -> bool:
    """Whether the names of a few outcomes have room beside each other."""
    return sum(max(len(label), 3) for label in plot.labels) <= 32


def _printable(label: str) -> str:
    """The label without control characters, which XML does not hold."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in label)


def _upright_axes() -> tuple[Figure, Axes]:
    figure = new_figure(WIDTH, HEIGHT)
    box = (_LEFT / WIDTH, _BOTTOM / HEIGHT, 1 - (_LEFT + _RIGHT) / WIDTH, 1 - (_TOP + _BOTTOM) / HEIGHT)
    axes = figure.add_axes(box)
    axes.grid(visible=False, axis="x")
    return figure, axes


def _lying_axes(plot: OutputPlot) -> tuple[Figure, Axes]:
    """Room on the left for names that are too long to stand side by side."""
    names = _short(plot.labels, _NAME)
    left = min(20 + 6.2 * max(map(len, names)), 165)
    height = max(HEIGHT, 62 + 24 * len(names))
    figure = new_figure(WIDTH, height)
    box = (left / WIDTH, _BOTTOM / height, 1 - (left + _RIGHT) / WIDTH, 1 - (_TOP + _BOTTOM) / height)
    axes = figure.add_axes(box)
    axes.grid(visible=False, axis="y")
    return figure, axes


def _probability_floor(plot: OutputPlot) -> float | None:
    """Where zeros are drawn on a logarithmic axis; None when a linear axis shows the event well enough."""
    values = [*plot.left, *plot.right]
    inside = [max(a, b) for a, b, marked in zip(plot.left, plot.right, plot.event, strict=True) if marked]
    top, seen = max(values, default=0.0), max(inside, default=0.0)
    if not 0 < seen < top / 50:
        return None
    least = max(min(v for v in values if v > 0), 1e-12)
    return 10.0 ** (math.floor(math.log10(least)) - 1)


def _probability_axis(
    axis: Axis,
    set_scale: Callable[..., object],
    set_limits: Callable[..., object],
    plot: OutputPlot,
    floor: float | None,
) -> None:
    top = max([*plot.left, *plot.right], default=0.0)
    if floor is None:
        set_limits(0, min(top * 1.18, 1.12) if top > 0 else 1)
        axis.set_major_locator(MaxNLocator(5))
        return
    set_scale("log")
    set_limits(floor, 2.5 * top)
    low, high = round(math.log10(floor)), math.floor(math.log10(top))
    step = max(math.ceil((high - low) / 5), 1)
    axis.set_major_locator(FixedLocator([floor, *(10.0**d for d in range(high, low, -step))]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda v, _: "0" if v < 3 * floor else power_of_ten(v)))


def _runs_of_true(flags: Sequence[bool]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff([False, *flags, False]))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _upright_bars(axes: Axes, plot: OutputPlot, floor: float | None) -> None:
    at = np.arange(len(plot.labels))
    for start, stop in _runs_of_true(plot.event):
        _mark(axes, start - 0.5, stop - 0.5)
    axes.bar(at - 0.19, _raised(plot.left, floor), 0.36, label="D", **LEFT_BARS)
    axes.bar(at + 0.19, _raised(plot.right, floor), 0.36, label="D′", **RIGHT_BARS)
    slack = max(4 - len(plot.labels), 0) / 2  # one or two outcomes need not be as broad as the page
    axes.set_xlim(-0.5 - slack, len(plot.labels) - 0.5 + slack)
    axes.set_xticks(at, plot.labels)


def _lying_bars(axes: Axes, plot: OutputPlot, floor: float | None) -> None:
    names = _short(plot.labels, _NAME)
    axes.set_xlabel("probability")
    at = np.arange(len(names))
    _probability_axis(axes.xaxis, axes.set_xscale, axes.set_xlim, plot, floor)
    for start, stop in _runs_of_true(plot.event):
        _mark(axes, start - 0.5, stop - 0.5, lying=True)
    axes.barh(at - 0.19, _raised(plot.left, floor), 0.36, label="D", **LEFT_BARS)
    axes.barh(at + 0.19, _raised(plot.right, floor), 0.36, label="D′", **RIGHT_BARS)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(at, names)


def _steps(axes: Axes, plot: OutputPlot, floor: float | None) -> None:
    size = len(plot.labels)
    edges = np.arange(size + 1) - 0.5
    for start, stop in _runs_of_true(plot.event):
        _mark(axes, start - 0.5, stop - 0.5)
    base = floor or 0.0
    for name, values, style in (("D", plot.left, _LEFT_STEPS), ("D′", plot.right, _RIGHT_STEPS)):
        axes.stairs(_raised(values, floor), edges, baseline=base, fill=True, label=name, **style)
    axes.set_xlim(-0.5, size - 0.5)
    # as many tick labels as fit without overlap
    for number in (5, 3, 2):
        ticks = sorted({round(i * (size - 1) / (number - 1)) for i in range(number)})
        names = [plot.labels[i] for i in ticks]
        if sum(map(len, names)) <= 34:
            break
    texts = axes.set_xticks(ticks, _short(names, 20))
    if len(ticks) > 1:
        texts[0].label1.set_horizontalalignment("left")
        texts[-1].label1.set_horizontalalignment("right")


def _mark(axes: Axes, start: float, stop: float, *, lying: bool = False) -> None:
    """Shade a stretch of the event, and underline it so that it shows in grey too."""
    span, transform = (
        (axes.axhspan, axes.get_yaxis_transform()) if lying else (axes.axvspan, axes.get_xaxis_transform())
    )
    span(start, stop, zorder=0, label="event", **_EVENT_STYLE)
    ends = ([0, 0], [start, stop]) if lying else ([start, stop], [0, 0])
    axes.plot(*ends, transform=transform, clip_on=False, **_EVENT_RULE)


def _raised(values: Sequence[float], floor: float | None) -> list[float]:
    return [max(v, floor) if floor is not None else v for v in values]


def _short(labels: Sequence[str], longest: int) -> list[str]:
    """The labels cut to a length, around the place where they differ if cutting made two of them equal."""
    cut = [_cut(label, longest) for label in labels]
    for text, times in Counter(cut).items():
        alike = [i for i, other in enumerate(cut) if other == text]
        if times > 1 and len({labels[i] for i in alike}) > 1:
            first, last = min(labels[i] for i in alike), max(labels[i] for i in alike)
            shared = next(k for k in range(len(last)) if first[k : k + 1] != last[k : k + 1])
            start = max(shared - longest // 2, 0)
            for i in alike:
                cut[i] = f"…{_cut(labels[i][start:], longest - 1)}"
    return cut


def _cut(label: str, longest: int) -> str:
    if len(label) <= longest:
        return label
    tail = (longest - 1) // 3
    return f"{label[: longest - 1 - tail]}…{label[-tail:]}"
