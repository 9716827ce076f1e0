"""The plots of one audit on a user's own matplotlib axes: for a paper, or a notebook.

They are the report's, by the same code, which draws in sentinel colours; here the sentinels become colours that suit
the axes, and labels what any font can show. Fonts, sizes and the grid stay the user's, and no global state is touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection
from matplotlib.colors import is_color_like, to_hex, to_rgb, to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import Formatter, FuncFormatter

from dpaudit.report.figures.curves import draw_bound, draw_evidence, draw_profile
from dpaudit.report.figures.losses import draw_losses, draw_tradeoff
from dpaudit.report.figures.outputs import draw_outputs
from dpaudit.report.figures.svg import CLAIM, EVIDENCE, GRID, INK, LEFT, PAPER, RIGHT
from dpaudit.results.figures import BoundPlot, EvidencePlot, LossPlot, OutputPlot, Plot, ProfilePlot, TradeoffPlot
from dpaudit.results.model import Audit

_LIGHT: Mapping[str, str] = {CLAIM: "#1a5fb4", EVIDENCE: "#a8470a", LEFT: "#4b2a80", RIGHT: "#c77316", GRID: "#c4c4c0"}
_DARK: Mapping[str, str] = {CLAIM: "#7cb2f7", EVIDENCE: "#f0a25f", LEFT: "#dccbff", RIGHT: "#c4701a", GRID: "#5a5b60"}
"""The colours of a report in light and in dark mode."""
_SUPERSCRIPT = re.compile("10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_BOUNDS = {" ≥": "lower bound", " ≤": "upper bound"}


def draw(axes: Axes, audit: Audit, name: str) -> None:
    """Draw one of the audit's plots on axes, with a legend."""
    before = set(axes.get_children())
    _draw(axes, audit, audit.plots[name])
    colours = _colours(axes)
    for artist in axes.get_children():
        if artist not in before:
            _recolour(artist, colours)
            # what the user cuts off with limits of their own must not show outside
            artist.set_clip_on(not isinstance(artist, Line2D) or len(artist.get_xydata()) > 1)  # type: ignore[arg-type]
    for axis, set_label in ((axes.xaxis, axes.set_xlabel), (axes.yaxis, axes.set_ylabel)):
        set_label(_in_mathtext(axis.get_label_text()))
        _say_in_mathtext(axis)
    handles, labels = axes.get_legend_handles_labels()
    named = {_legend_name(label): handle for handle, label in zip(handles, labels, strict=True)}
    if "event" in named:
        named["event"] = named.pop("event")  # it is drawn first, beneath the others, and named last
    axes.legend(list(named.values()), list(named))


def _draw(axes: Axes, audit: Audit, plot: Plot) -> None:
    match plot:
        case ProfilePlot():
            draw_profile(axes, plot)
        case TradeoffPlot():
            draw_tradeoff(axes, plot)
        case LossPlot():
            draw_losses(axes, plot)
        case OutputPlot():
            # "$" would begin a formula
            draw_outputs(axes, replace(plot, labels=[label.replace("$", r"\$") for label in plot.labels]))
        case EvidencePlot():
            draw_evidence(axes, plot, refuted_at=audit.sequential.refuted_at if audit.sequential is not None else None)
        case BoundPlot():
            draw_bound(axes, plot, claim=audit.claim.epsilon, exact=audit.epsilon_exact)


def _colours(axes: Axes) -> dict[str, str]:
    """Sentinel → colour, for a light or dark ground, which is the axes' or what shows through them."""
    ground: Any = axes.get_facecolor()
    if len(ground) == 4 and ground[3] == 0:
        ground = axes.get_figure(root=True).get_facecolor()  # type: ignore[union-attr]
    red, green, blue = to_rgb(ground)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    clear = len(ground) == 4 and ground[3] == 0
    paper = "#ffffff" if clear else to_hex(ground)
    ink = to_hex(axes.xaxis.label.get_color())
    return {**(_LIGHT if clear or luminance > 0.5 else _DARK), INK: ink, PAPER: paper}


def _recolour(artist: Artist, colours: Mapping[str, str]) -> None:
    """Whatever of a line, patch or collection is in a sentinel colour; transparency stays."""
    if isinstance(artist, Line2D):
        # in this order, as the colours of markers may follow the line's
        settings = ["markerfacecolor", "markeredgecolor", "color"]
    elif isinstance(artist, Patch | Collection):
        settings = ["edgecolor", "facecolor"]
    else:
        return
    for setting in settings:
        value: Any = getattr(artist, f"get_{setting}")()
        if isinstance(artist, Collection):
            value = value[0] if len(value) else "none"
        if not is_color_like(value) or to_rgba(value)[3] == 0:
            continue
        if (colour := colours.get(to_hex(value))) is not None:
            artist.set(**{setting: colour})


def _say_in_mathtext(axis: Axis) -> None:
    """Powers of ten as formulas: not every font has raised digits."""
    for formatter, put in (
        (axis.get_major_formatter(), axis.set_major_formatter), (axis.get_minor_formatter(), axis.set_minor_formatter)
    ):
        if isinstance(formatter, FuncFormatter):
            put(FuncFormatter(_translated(formatter)))


def _translated(formatter: Formatter) -> Callable[[float, int | None], str]:
    return lambda value, place: _in_mathtext(formatter(value, place))


def _in_mathtext(text: str) -> str:
    text = _SUPERSCRIPT.sub(lambda m: f"$10^{{{m[1].translate(_DIGITS)}}}$", text)
    return text.replace("δ(ε)", r"$\delta(\varepsilon)$").replace("ε", r"$\varepsilon$")


def _legend_name(label: str) -> str:
    """A sign at the end of a name says what kind of bound it is, beside the line; a legend has room to say it."""
    for sign, kind in _BOUNDS.items():
        if label.endswith(sign):
            return f"{label.removesuffix(sign)} ({kind})"
    return label
