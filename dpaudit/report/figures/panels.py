"""Drawings of audits as inline SVG, one for each panel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon
from matplotlib.ticker import MaxNLocator

from dpaudit.report.figures.svg import CLAIM, GRID, INK, LEFT, PAPER, RC, RIGHT, WIDTH, Style, new_figure, to_svg
from dpaudit.results.figures import Drawing, Layer, Panel

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = WIDTH, 52, 14, 30, 44
_LEGEND_ROW = 19
_PLOT = 276  # height of the axes, and width of square ones
_FLAT = 210  # height of axes that are no plane

_LINES: dict[str, Style] = {
    "left": {"color": LEFT, "linewidth": 1.8, "linestyle": "-"},
    "right": {"color": RIGHT, "linewidth": 1.8, "linestyle": (0, (2.2, 1.4))},
    # what is too narrow to be seen is seen by its ends
    "event": {"color": INK, "linewidth": 4.0, "linestyle": "-", "solid_capstyle": "projecting"},
    "claim": {"color": CLAIM, "linewidth": 1.8, "linestyle": (0, (5, 2.2))},
    "data": {"color": INK, "linewidth": 1.2, "linestyle": "-"},
    "quiet": {"color": GRID, "linewidth": 1.0, "linestyle": "-"},
}
_AREAS: dict[str, Style] = {
    "left": {"facecolor": LEFT, "edgecolor": "none"},
    "right": {"facecolor": "none", "edgecolor": RIGHT, "hatch": "////", "linewidth": 0.9},
    "event": {"facecolor": GRID, "edgecolor": "none"},
    "claim": {"facecolor": CLAIM, "edgecolor": "none"},
    "data": {"facecolor": INK, "edgecolor": "none"},
    "quiet": {"facecolor": GRID, "edgecolor": "none"},
}
_MARKS: dict[str, tuple[str, bool, float]] = {
    "dot": ("o", True, 1.0),
    "ring": ("o", False, 1.0),
    "square": ("s", True, 0.95),
    "box": ("s", False, 0.95),
    "cross": ("x", True, 1.0),
    "halo": ("o", False, 2.4),
}
"""Shape, whether it is filled, and how large."""
_LARGEST = 3.0  # a dot that stands for the most records, times the size of one


def panel_figures(drawing: Drawing, *, prefix: str) -> list[str]:
    """Every panel as an `<svg>`; D is filled or solid, D′ hatched or dashed, as in all figures."""
    return [
        _panel(panel, drawing.description, f"{prefix}{chr(ord('a') + i)}") for i, panel in enumerate(drawing.panels)
    ]


def _panel(panel: Panel, description: str, prefix: str) -> str:
    title = panel.title or panel.y or "Drawing"  # every figure has a name, for whoever does not see it
    panel = replace(
        panel, title=_short(panel.title, 52), x=_short(panel.x, 44), y=_short(panel.y, 40 if panel.square else 30),
        layers=[replace(layer, label=_short(layer.label, 44)) for layer in panel.layers],
    )
    labelled = list({layer.label: layer for layer in panel.layers if layer.label}.values())
    longest = max((len(layer.label) for layer in labelled), default=0)
    across_legend = min(max(int(_WIDTH / (6.6 * longest + 40)), 1), 3)
    rows = -(-len(labelled) // across_legend)
    plot = _PLOT if panel.square else _FLAT
    height = _TOP + plot + _BOTTOM + rows * _LEGEND_ROW
    with rc_context(RC):
        figure = new_figure(_WIDTH, height)
        across = plot if panel.square else _WIDTH - _LEFT - _RIGHT
        start = _LEFT + (_WIDTH - _LEFT - _RIGHT - across) / 2
        box = (start / _WIDTH, (height - _TOP - plot) / height, across / _WIDTH, plot / height)
        axes = figure.add_axes(box)
        axes.set_xlabel(panel.x)
        axes.set_ylabel(panel.y)
        axes.set_title(panel.title, fontsize=11.5, color=INK, pad=9)
        most = max((max(layer.sizes, default=1.0) for layer in panel.layers), default=1.0)
        for at, layer in enumerate(panel.layers):
            _draw(axes, layer, most, at)
        if panel.square:
            _frame(axes, panel)
        else:
            axes.grid(visible=False, axis="x")
            axes.margins(x=0.02, y=0.08)
            axes.autoscale_view()
        if not panel.x and not panel.y:
            axes.set_axis_off()
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=_whole(panel, "x")))
        axes.yaxis.set_major_locator(MaxNLocator(6, integer=_whole(panel, "y")))
        if labelled:
            figure.legend(
                [_sample(layer) for layer in labelled], [layer.label for layer in labelled],
                loc="lower center", bbox_to_anchor=(0.5, 0.0), ncols=min(across_legend, len(labelled)), frameon=False,
                fontsize=11, borderaxespad=0.2, columnspacing=1.4, handlelength=1.9, labelspacing=0.35,
            )
    return to_svg(figure, prefix=prefix, title=title, description=description)


def _short(text: str, most: int) -> str:
    """What has room in a panel."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _whole(panel: Panel, axis: str) -> bool:
    """Whether an axis is about whole numbers, more than one of them; dots say so, where there are some."""
    telling = [layer for layer in panel.layers if layer.kind == "dots"] or panel.layers
    values = {v for layer in telling if layer.style != "quiet" for v in getattr(layer, axis) if v is not None}
    return len(values) > 1 and all(v == round(v) for v in values)


def _frame(axes: Axes, panel: Panel) -> None:
    """Equal units, with some room around everything."""
    ends = []
    for axis in ("x", "y"):
        values = [v for layer in panel.layers for v in getattr(layer, axis) if v is not None]
        ends.append((min(values, default=-1.0), max(values, default=1.0)))
    reach = max(high - low for low, high in ends) * 0.54 or 1.0
    (x0, x1), (y0, y1) = ends
    axes.set_xlim((x0 + x1) / 2 - reach, (x0 + x1) / 2 + reach)
    axes.set_ylim((y0 + y1) / 2 - reach, (y0 + y1) / 2 + reach)


def _lines(layer: Layer) -> Iterator[tuple[list[float], list[float]]]:
    """The lines of a layer, one after the other."""
    x: list[float] = []
    y: list[float] = []
    for a, b in zip(layer.x, layer.y, strict=True):
        if a is None or b is None:
            yield x, y
            x, y = [], []
        else:
            x.append(a)
            y.append(b)
    if x:
        yield x, y


def _draw(axes: Axes, layer: Layer, most: float, at: int) -> None:
    if layer.kind == "line":
        for x, y in _lines(layer):
            axes.plot(x, y, zorder=2 + at / 100, clip_on=layer.style == "quiet", **_LINES[layer.style])
    elif layer.kind == "area":
        for x, y in _lines(layer):
            style = {**_AREAS[layer.style], "alpha": layer.strength}
            axes.add_patch(Polygon(np.column_stack([x, y]), closed=True, zorder=1 + at / 100, **style))
            axes.update_datalim(np.column_stack([x, y]))
    else:
        shape, filled, scale = _MARKS[layer.mark]
        sizes = layer.sizes or [1.0] * len(layer.x)
        colour = _LINES[layer.style]["color"]
        grown = [26 * (scale * (1 + (_LARGEST - 1) * (np.sqrt(s / most) if most > 1 else 0))) ** 2 / 2 for s in sizes]
        at_x, at_y = (np.array(values, dtype=np.float64) for values in (layer.x, layer.y))
        face = colour if filled else "none" if layer.mark == "halo" else PAPER
        paint: Style = {"color": colour} if shape == "x" else {"facecolor": face, "edgecolor": colour}
        above = 5 if layer.mark == "halo" else 4
        axes.scatter(at_x, at_y, s=grown, marker=shape, linewidths=1.4, zorder=above, clip_on=False, **paint)


def _sample(layer: Layer) -> Artist:
    """What stands for a layer in the legend."""
    if layer.kind == "line":
        return Line2D([], [], **_LINES[layer.style])
    if layer.kind == "area":
        return Patch(**{**_AREAS[layer.style], "alpha": max(layer.strength, 0.35)})
    shape, filled, scale = _MARKS[layer.mark]
    colour = _LINES[layer.style]["color"]
    face = colour if filled else PAPER if layer.mark != "halo" else "none"
    return Line2D(
        [], [], linestyle="", marker=shape, color=colour, markerfacecolor=face, markeredgecolor=colour,
        markersize=6 if scale < 2 else 10, markeredgewidth=1.4,
    )
