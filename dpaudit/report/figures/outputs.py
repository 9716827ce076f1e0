"""The figure of the output's distribution on both datasets, with the event marked.

Both datasets are evidence and so of one colour: left is filled (or solid), right is hatched (or dashed).
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
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from dpaudit.report.figures.svg import EVIDENCE, GRID, HEIGHT, INK, PAPER, RC, WIDTH, Style, new_figure, to_svg
from dpaudit.report.numbers import count, power_of_ten, small
from dpaudit.results.figures import OutputPlot

_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 38, 46  # margins; the top one holds the legend
_FEW = 14  # outcomes drawn as pairs of bars
_LEFT_STYLE: Style = {"facecolor": EVIDENCE, "edgecolor": EVIDENCE, "linewidth": 0.9}
_RIGHT_STYLE: Style = {"facecolor": PAPER, "edgecolor": EVIDENCE, "hatch": "////", "linewidth": 0.9}
_LEFT_LINE: Style = {"linewidth": 1.7, "linestyle": "-"}
_RIGHT_LINE: Style = {"linewidth": 1.4, "linestyle": (0, (2.2, 1.4))}
_EVENT_STYLE: Style = {"facecolor": GRID, "edgecolor": "none", "alpha": 0.5}
_EVENT_RULE: Style = {"color": INK, "linewidth": 3.0, "solid_capstyle": "butt"}


def output_figure(plot: OutputPlot, *, prefix: str) -> str:
    """The output's distribution on both datasets: filled for left, hatched for right, the event shaded."""
    plot = replace(plot, labels=[_printable(label) for label in plot.labels])
    few = len(plot.labels) <= _FEW
    with rc_context(RC):
        figure, axes = _lying_axes(plot) if few and not _upright(plot) else _upright_axes()
        draw_outputs(axes, plot)
        _legend(figure, bars=few)
    inside = [i for i, marked in enumerate(plot.event) if marked]
    masses = [sum(law[i] for i in inside) for law in (plot.left, plot.right)]
    how = "Exact" if plot.kind == "exact" else "Observed"
    description = f"{how} distribution over {count(len(plot.labels) + plot.omitted)} outcomes"
    description += f"; the event has probability {small(masses[0])} under D and {small(masses[1])} under D′."
    return to_svg(figure, prefix=prefix, title="Output on both datasets", description=description)


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
    return sum(max(len(label), 3) for label in plot.labels) <= 44


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
    names = _short(plot.labels, 26)
    left = min(20 + 6.2 * max(map(len, names)), 190)
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
    axes.bar(at - 0.19, _raised(plot.left, floor), 0.36, label="D", **_LEFT_STYLE)
    axes.bar(at + 0.19, _raised(plot.right, floor), 0.36, label="D′", **_RIGHT_STYLE)
    slack = max(4 - len(plot.labels), 0) / 2  # one or two outcomes need not be as broad as the page
    axes.set_xlim(-0.5 - slack, len(plot.labels) - 0.5 + slack)
    axes.set_xticks(at, plot.labels)


def _lying_bars(axes: Axes, plot: OutputPlot, floor: float | None) -> None:
    names = _short(plot.labels, 26)
    axes.set_xlabel("probability")
    at = np.arange(len(names))
    _probability_axis(axes.xaxis, axes.set_xscale, axes.set_xlim, plot, floor)
    for start, stop in _runs_of_true(plot.event):
        _mark(axes, start - 0.5, stop - 0.5, lying=True)
    axes.barh(at - 0.19, _raised(plot.left, floor), 0.36, label="D", **_LEFT_STYLE)
    axes.barh(at + 0.19, _raised(plot.right, floor), 0.36, label="D′", **_RIGHT_STYLE)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(at, names)


def _steps(axes: Axes, plot: OutputPlot, floor: float | None) -> None:
    size = len(plot.labels)
    edges = np.arange(size + 1) - 0.5
    for start, stop in _runs_of_true(plot.event):
        _mark(axes, start - 0.5, stop - 0.5)
    base = floor or 0.0
    for name, values, line in (("D", plot.left, _LEFT_LINE), ("D′", plot.right, _RIGHT_LINE)):
        axes.stairs(_raised(values, floor), edges, baseline=base, color=EVIDENCE, fill=False, label=name, **line)
    axes.set_xlim(-0.5, size - 0.5)
    # as many tick labels as fit without overlap
    for number in (5, 3, 2):
        ticks = sorted({round(i * (size - 1) / (number - 1)) for i in range(number)})
        names = [plot.labels[i] for i in ticks]
        if sum(map(len, names)) <= 46:
            break
    texts = axes.set_xticks(ticks, _short(names, 28))
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


def _legend(figure: Figure, *, bars: bool) -> None:
    """The legend of D, D′ and the event, in one row at the top."""
    width, height = (float(inches) * 72 for inches in figure.get_size_inches())
    level = height - 14
    for start, name, style in ((_LEFT, "D", _LEFT_STYLE), (_LEFT + 70, "D′", _RIGHT_STYLE)):
        if bars:
            box = ((start / width, (level - 5) / height), 20 / width, 10 / height)
            figure.add_artist(Rectangle(*box, transform=figure.transFigure, **style))
        else:
            line = _LEFT_LINE if name == "D" else _RIGHT_LINE
            ends = [start / width, (start + 20) / width], [level / height] * 2
            figure.add_artist(Line2D(*ends, transform=figure.transFigure, color=EVIDENCE, **line))
        figure.text((start + 26) / width, level / height, name, va="center", size=11)
    start = _LEFT + 148
    box = ((start / width, (level - 6) / height), 20 / width, 12 / height)
    figure.add_artist(Rectangle(*box, transform=figure.transFigure, **_EVENT_STYLE))
    ends = [start / width, (start + 20) / width], [(level - 6) / height] * 2
    figure.add_artist(Line2D(*ends, transform=figure.transFigure, **_EVENT_RULE))
    figure.text((start + 26) / width, level / height, "event", va="center", size=11)


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
