"""The figures of scores of canaries: the trade-off curve of the attack and its ROC curve, each with a band.

Colours and lines are those of other figures: the claim is dashed, what was measured is a solid line.
"""

from __future__ import annotations

import math

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dpaudit.report.figures.svg import (
    CLAIM_STYLE,
    EVIDENCE,
    EXACT_STYLE,
    GRID,
    HEIGHT,
    PAPER,
    RC,
    WIDTH,
    Style,
    add_legend,
    new_figure,
    to_svg,
)
from dpaudit.report.numbers import percent, power_of_ten, small
from dpaudit.results.canaries import ScoresRecord, kept
from dpaudit.stats.arrays import FloatArray

TITLES = {"tradeoff": "Trade-off curve of the attack", "roc": "ROC curve at low false positive rates"}
"""Name of a figure → its title."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 36, 46  # margins; the top one holds the legend
_BAND: Style = {"facecolor": EVIDENCE, "edgecolor": EVIDENCE, "linewidth": 0.7, "alpha": 0.22}
_BEYOND: Style = {"facecolor": "none", "edgecolor": EVIDENCE, "linewidth": 0.0, "alpha": 0.55, "hatch": "////"}


def tradeoff_figure(result: ScoresRecord, *, prefix: str) -> str:
    """FNR against FPR: the attack at every threshold with its band, and what the claim leaves to any attack."""
    at = kept(result.tradeoff.threshold.size)
    band = result.tradeoff
    with rc_context(RC):
        figure = new_figure(WIDTH, HEIGHT)
        axes = figure.add_axes(_box())
        axes.set_xlabel("false positive rate")
        axes.set_ylabel("false negative rate")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
            axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        axes.plot([0, 1], [1, 0], color=GRID, linewidth=1.2)
        low, high = (band.fpr_low[at], band.fnr_low[at]), (band.fpr_high[at], band.fnr_high[at])
        _band(axes, low, high, result)
        if result.claimed is not None:
            fpr, least = np.array(result.claimed).T
            grid = np.union1d(fpr, high[0])
            claim, upper = np.interp(grid, fpr, least), _at(grid, *high)
            if (upper < claim - 1e-9).any():
                axes.fill_between(grid, upper, np.maximum(claim, upper), **_BEYOND)
            axes.plot(fpr, least, label="claim", clip_on=False, **CLAIM_STYLE)
        axes.plot(band.fpr[at], band.fnr[at], label="attack", clip_on=False, **EXACT_STYLE)
        add_legend(figure, axes, last=_band_label(result))
    return to_svg(figure, prefix=prefix, title=TITLES["tradeoff"], description=_even(result))


def roc_figure(result: ScoresRecord, *, prefix: str) -> str:
    """TPR against FPR on logarithmic axes, with the limits at the FPRs of the result."""
    band = result.tradeoff
    at = kept(band.threshold.size)
    least = 10.0 ** math.floor(math.log10(min(0.5 / max(result.n_out, result.n_in), result.tpr_at_fpr[0][0])))
    with rc_context(RC):
        figure = new_figure(WIDTH, HEIGHT)
        axes = figure.add_axes(_box())
        axes.set_xlabel("false positive rate")
        axes.set_ylabel("true positive rate")
        for axis, scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
            scale("log")
            decades = round(-math.log10(least))
            axis.set_major_locator(FixedLocator([10.0**-k for k in range(0, decades + 1, max(1, decades // 4))]))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda v, _: power_of_ten(v)))
        axes.set_xlim(least, 1)
        axes.set_ylim(least, 1)
        grid = np.geomspace(least, 1, 200)
        axes.plot(grid, grid, color=GRID, linewidth=1.2)
        low = np.maximum(band.fpr_low[at], least), np.maximum(1 - band.fnr_low[at], least)
        high = np.maximum(band.fpr_high[at], least), np.maximum(1 - band.fnr_high[at], least)
        _band(axes, low, high, result)
        if result.claimed is not None:
            fpr, fnr = np.array(result.claimed).T
            most = 1 - np.interp(grid, fpr, fnr)
            axes.plot(grid, np.maximum(most, least), label="claim", **CLAIM_STYLE)
        axes.plot(np.maximum(band.fpr[at], least), np.maximum(1 - band.fnr[at], least), label="attack", **EXACT_STYLE)
        mark: Style = {"color": EVIDENCE, "markerfacecolor": PAPER, "markersize": 5, "linewidth": 1.2, "capsize": 3}
        for fpr, tpr in result.tpr_at_fpr:
            middle, bottom = max(tpr.estimate, least), max(tpr.low, least)
            axes.errorbar([fpr], [middle], [[middle - bottom], [tpr.high - middle]], fmt="o", **mark)
        add_legend(figure, axes, last=_band_label(result))
    rates = "; ".join(f"TPR {small(tpr.estimate)} at FPR {small(fpr)}" for fpr, tpr in result.tpr_at_fpr)
    return to_svg(figure, prefix=prefix, title=TITLES["roc"], description=f"{rates}.")


def _band_label(result: ScoresRecord) -> str:
    return f"{percent(result.confidence)} band"


def _band(
    axes: Axes, low: tuple[FloatArray, FloatArray], high: tuple[FloatArray, FloatArray], result: ScoresRecord
) -> None:
    """The area between the curves of both limits, each a pair of errors at every threshold."""
    x, y = (np.concatenate([one, other[::-1]]) for one, other in zip(low, high, strict=True))
    axes.fill(x, y, label=_band_label(result), **_BAND)


def _at(grid: FloatArray, fpr: FloatArray, fnr: FloatArray) -> FloatArray:
    """The least upper limit of the FNR among thresholds with at most this upper limit of the FPR; 1 before the first.
    """
    last = np.searchsorted(fpr, grid, "right") - 1
    found: FloatArray = np.where(last >= 0, np.minimum.accumulate(fnr)[np.maximum(last, 0)], 1.0)
    return found


def _even(result: ScoresRecord) -> str:
    """The error at which both are equal."""
    band = result.tradeoff
    text = f"At equal errors, the attack has {small(float(np.interp(0.0, band.fpr - band.fnr, band.fpr)))}"
    if result.claimed is not None:
        fpr, least = np.array(result.claimed).T
        text += f"; the claim leaves any attack {small(float(np.interp(0.0, fpr - least, fpr)))}"
    return f"{text}."


def _box() -> tuple[float, float, float, float]:
    return _LEFT / WIDTH, _BOTTOM / HEIGHT, 1 - (_LEFT + _RIGHT) / WIDTH, 1 - (_TOP + _BOTTOM) / HEIGHT
