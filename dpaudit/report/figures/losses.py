"""The figures of a pair as a test and as a privacy loss: trade-off curve and loss histogram."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from dpaudit.report.figures.svg import (
    CERTIFIED_STYLE,
    CLAIM_STYLE,
    EVIDENCE,
    EXACT_STYLE,
    GRID,
    HEIGHT,
    INK,
    LEFT_BARS,
    RC,
    RIGHT_BARS,
    TITLES,
    WIDTH,
    Style,
    add_legend,
    new_figure,
    to_svg,
)
from dpaudit.report.numbers import power_of_ten, small, stated
from dpaudit.results.figures import LossPlot, TradeoffPlot

_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 14, 46
_KEY = 22  # more room above the histogram, for what its lines are
_SEEN = 2e-5  # rounding of the data may part curves that are one by less
_INFINITE = 0.09  # share of the axis that infinite losses have to themselves
_LOSS_LEFT: Style = {**LEFT_BARS, "alpha": 0.55}
_LOSS_RIGHT: Style = {**RIGHT_BARS, "facecolor": "none"}


def tradeoff_figure(plot: TradeoffPlot, *, prefix: str) -> str:
    """Type II against type I error: the claim's curve, the exact one, and the event that was counted."""
    with rc_context(RC):
        figure = new_figure(WIDTH, HEIGHT)
        axes = figure.add_axes(_box(_TOP))
        draw_tradeoff(axes, plot)
        # all curves run below the diagonal
        axes.legend(loc="upper right", frameon=False, fontsize=11, borderaxespad=0.1, handlelength=2.2)
    return to_svg(figure, prefix=prefix, title=TITLES["tradeoff"], description=_tradeoff_text(plot))


def draw_tradeoff(axes: Axes, plot: TradeoffPlot) -> None:
    """Draw the trade-off curves on any axes, in the sentinel colours."""
    axes.set_xlabel("type I error α")
    axes.set_ylabel("type II error β")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
        axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    # what guessing blindly reaches
    axes.plot([0, 1], [1, 0], color=GRID, linewidth=1.2)
    axes.plot(plot.alpha, plot.claim, label="claim", clip_on=False, **CLAIM_STYLE)
    if plot.exact is not None:
        _hatch_below(axes, plot.alpha, plot.claim, plot.alpha, plot.exact)
        axes.plot(plot.alpha, plot.exact, label="exact", clip_on=False, **EXACT_STYLE)
    if (certified := plot.certified) is not None:
        corner = certified.alpha_high, certified.beta_high
        if corner[0] + corner[1] < 1:
            path = [0.0, corner[0], 1.0], [1.0, corner[1], 0.0]
            if plot.exact is None:
                _hatch_below(axes, plot.alpha, plot.claim, *path)
            style = {**CERTIFIED_STYLE, "marker": "v", "markevery": [1]}
            axes.plot(*path, label="upper bound", clip_on=False, **style)
        size = (certified.alpha_high - certified.alpha_low, certified.beta_high - certified.beta_low)
        box: Style = {"facecolor": "none", "edgecolor": EVIDENCE, "linewidth": 1.1}
        axes.add_patch(Rectangle((certified.alpha_low, certified.beta_low), *size, label="limits of the event", **box))


def _hatch_below(
    axes: Axes, alpha: Sequence[float], claim: Sequence[float], others: Sequence[float], beta: Sequence[float]
) -> None:
    """Hatch where a curve lies below the claim's: there the claim is broken."""
    grid = np.union1d(alpha, others)
    above, below = np.interp(grid, alpha, claim), np.interp(grid, others, beta)
    broken = above - below > _SEEN
    if broken.any():
        style: Style = {"facecolor": "none", "edgecolor": EVIDENCE, "linewidth": 0.0, "alpha": 0.35}
        axes.fill_between(grid, below, np.maximum(above, below), hatch="////", **style)


def broken_by(plot: TradeoffPlot) -> float:
    """By how much what is known lies below the claim's curve at most; 0 where it nowhere does."""
    gaps = [0.0]
    if plot.exact is not None:
        gaps += [c - e for c, e in zip(plot.claim, plot.exact, strict=True)]
    if (certified := plot.certified) is not None:
        gaps.append(float(np.interp(certified.alpha_high, plot.alpha, plot.claim)) - certified.beta_high)
    return max(gaps) if max(gaps) > _SEEN else 0.0


def _tradeoff_text(plot: TradeoffPlot) -> str:
    def even(curve: Sequence[float]) -> str:
        """The error at which both are equal."""
        differences = [a - b for a, b in zip(plot.alpha, curve, strict=True)]
        return small(float(np.interp(0.0, differences, plot.alpha))) if plot.alpha else "unknown"

    parts = [f"at equal errors, the claim allows any test {even(plot.claim)}"]
    if plot.exact is not None:
        parts.append(f"the best test has {even(plot.exact)}")
    if (certified := plot.certified) is not None:
        parts.append(
            f"the counted event has errors of at most {small(certified.alpha_high)} and "
            f"{small(certified.beta_high)}"
        )
    by = broken_by(plot)
    text = "; ".join(parts)
    below = f"the pair's curve is below the claim's by up to {small(by)}" if by else ""
    return f"{text[:1].upper()}{text[1:]}; " + (below or "no point is below the claim's curve") + "."


def loss_figure(plot: LossPlot, *, prefix: str) -> str:
    """The distribution of the privacy loss in both directions, with the claimed ε and infinite losses marked."""
    with rc_context(RC):
        figure = new_figure(WIDTH, HEIGHT)
        axes = figure.add_axes(_box(_KEY + _TOP))
        draw_losses(axes, plot)
        add_legend(figure, axes)
    description = (
        f"The loss exceeds the claimed ε = {stated(plot.epsilon)} with probability {small(plot.beyond_left)} under D "
        f"and {small(plot.beyond_right)} under D′; δ at that ε: {small(plot.delta_left)} and "
        f"{small(plot.delta_right)}; an infinite loss has probability {small(plot.infinite_left)} and "
        f"{small(plot.infinite_right)}."
    )
    return to_svg(figure, prefix=prefix, title=TITLES["loss"], description=description)


def draw_losses(axes: Axes, plot: LossPlot) -> None:
    """Draw the distribution of the privacy loss on any axes, in the sentinel colours."""
    axes.set_xlabel("privacy loss")
    axes.set_ylabel("probability")
    axes.grid(visible=False, axis="x")
    edges = np.append(plot.above, plot.above[-1] + plot.width) if plot.above else np.array([-0.5, 0.5])
    low, high = float(edges[0]), float(edges[-1])
    # a claim far beyond all losses would leave them no room
    near = plot.epsilon <= high + (high - low)
    high = max(high, plot.epsilon + 0.03 * (high - low)) if near else high
    infinite = max(plot.infinite_left, plot.infinite_right) > 0
    end = high + (high - low) * (2 * _INFINITE if infinite else 0.0)
    floor = _floor(axes, plot)
    for name, values, rest, style in (
        ("D", plot.left, plot.infinite_left, _LOSS_LEFT),
        ("D′", plot.right, plot.infinite_right, _LOSS_RIGHT),
    ):
        if plot.above:
            heights = [max(value, floor) for value in values]
            axes.stairs(heights, edges, baseline=floor, fill=True, label=name, **style)
        if rest:
            at = end - (high - low) * _INFINITE * (0.75 if name == "D" else 0.35)
            axes.bar([at], [max(rest, floor) - floor], (high - low) * _INFINITE * 0.36, bottom=floor, **style)
    top = axes.get_ylim()[1]
    if near:
        axes.plot([plot.epsilon] * 2, [floor, top], label="claimed ε", **CLAIM_STYLE)
    else:
        axes.plot([], [], label=f"claimed ε = {stated(plot.epsilon)}, beyond →", **CLAIM_STYLE)
    axes.set_xlim(low, end)
    ticks = [t for t in MaxNLocator(5).tick_values(low, high) if low <= t <= high]
    names = [f"{t:.6g}" for t in ticks]
    if infinite:
        middle = end - (high - low) * _INFINITE * 0.55
        axes.plot([(high + end - (high - low) * _INFINITE) / 2] * 2, [floor, top], color=INK, linewidth=0.8)
        ticks, names = [*ticks, middle], [*names, "∞"]
    axes.set_xticks(ticks, names)


def _floor(axes: Axes, plot: LossPlot) -> float:
    """Scale the axis of probabilities: logarithmic where what is beyond ε would not be seen; where 0 is drawn."""
    values = [*plot.left, *plot.right, plot.infinite_left, plot.infinite_right]
    top = max([value for value in values if value > 0], default=1.0)
    past = [
        value
        for masses in (plot.left, plot.right)
        for at, value in zip(plot.above, masses, strict=True)
        if at >= plot.epsilon - plot.width / 2 and value > 0
    ]
    beyond = max([*past, plot.infinite_left, plot.infinite_right], default=0.0)
    if not 0 < beyond < top / 50:
        axes.set_ylim(0, top * 1.08)
        axes.yaxis.set_major_locator(MaxNLocator(5))
        return 0.0
    least = max(min(value for value in values if value > 0), 1e-12, min(beyond, 1e-6))
    low, high = math.floor(math.log10(least)) - 1, math.ceil(math.log10(top))
    axes.set_yscale("log")
    axes.set_ylim(10.0**low, max(1.6 * top, 10.0 ** (low + 1)))
    step = max(math.ceil((high - low) / 5), 1)
    axes.yaxis.set_major_locator(FixedLocator([10.0**low, *(10.0**d for d in range(high, low, -step))]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: "0" if v < 3 * 10.0**low else power_of_ten(v)))
    return 10.0**low


def _box(top: int) -> tuple[float, float, float, float]:
    return _LEFT / WIDTH, _BOTTOM / HEIGHT, 1 - (_LEFT + _RIGHT) / WIDTH, 1 - (top + _BOTTOM) / HEIGHT
