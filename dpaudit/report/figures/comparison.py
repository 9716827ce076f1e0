"""The figure of a comparison of algorithms: success against the number of records."""

from __future__ import annotations

from matplotlib import rc_context

from dpaudit.report.figures.svg import CLAIM, EVIDENCE, GRID, INK, PAPER, RC, Style, new_figure, to_svg
from dpaudit.report.numbers import count
from dpaudit.results.model import Attempt, Result

_STYLES: tuple[Style, ...] = (
    {"color": EVIDENCE, "linestyle": "-", "marker": "o"},
    {"color": CLAIM, "linestyle": (0, (5, 2)), "marker": "s"},
    {"color": INK, "linestyle": (0, (1, 1.4)), "marker": "^"},
    {"color": EVIDENCE, "linestyle": (0, (1, 1.4)), "marker": "D"},
    {"color": CLAIM, "linestyle": "-", "marker": "v"},
    {"color": INK, "linestyle": (0, (5, 2)), "marker": "x"},
)
"""Distinguishable without colour: by dashes and by the shape of the markers."""


def comparison_figure(result: Result, *, prefix: str) -> str:
    """Probability of success on the worst inputs against the number of records."""
    assert result.comparison is not None
    strands: dict[str, list[tuple[int, Attempt]]] = {}
    for row in result.comparison.rows:
        audit = None if row.utility is None else result.utility[row.utility]
        if audit is not None and audit.deciding is not None:
            strands.setdefault(row.algorithm, []).append((row.records, audit.deciding))
    sizes = sorted({row.records for row in result.comparison.rows})
    with rc_context(RC):
        width, height = 720, 372
        figure = new_figure(width, height)
        axes = figure.add_axes((60 / width, 84 / height, 460 / width, 270 / height))
        axes.set_xscale("log")
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("records n")
        axes.set_ylabel("probability of success, worst inputs")
        axes.grid(color=GRID)
        axes.set_xticks(sizes, [count(size) for size in sizes], rotation=30 if len(sizes) > 6 else 0)
        axes.minorticks_off()
        for (name, points), style in zip(strands.items(), _STYLES * (1 + len(strands) // len(_STYLES)), strict=False):
            x, y = [n for n, _ in points], [_middle(one) for _, one in points]
            below = [max(0.0, v - one.low) if one.low is not None and one.exact is None else 0 for v, (_, one) in
                     zip(y, points, strict=True)]
            above = [max(0.0, one.high - v) if one.high is not None and one.exact is None else 0 for v, (_, one) in
                     zip(y, points, strict=True)]
            axes.errorbar(
                x, y, yerr=[below, above], label=name, linewidth=1.7, markersize=6, markerfacecolor=PAPER,
                markeredgewidth=1.4, capsize=2.5, clip_on=False, **style,
            )
        figure.legend(loc="center left", bbox_to_anchor=(530 / width, 0.56), frameon=False)
    ends = [f"{name}: {_middle(points[-1][1]):.3g} at n = {count(points[-1][0])}" for name, points in strands.items()]
    description = "; ".join(ends) + "." if ends else "Nothing could be run."
    return to_svg(figure, prefix=prefix, title="Success against the number of records", description=description)


def _middle(one: Attempt) -> float:
    return one.exact if one.exact is not None else one.hits / max(1, one.runs)
