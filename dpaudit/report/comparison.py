"""A comparison of algorithms: its table, on the terminal and for the page, and its figure."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib import rc_context
from rich.text import Text

from dpaudit.report import utility, wording
from dpaudit.report.figures.svg import CLAIM, EVIDENCE, GRID, INK, PAPER, RC, Style, new_figure, to_svg
from dpaudit.report.numbers import count, small, stated
from dpaudit.report.terminal_text import Rows, columns
from dpaudit.results.comparison import ONE_RUN, ComparisonRow
from dpaudit.results.model import Attempt, Audit, Result, UtilityAudit

HEADING = ("algorithm", "n", "success", "guaranteed", "ε on the pair", "claimed (ε, δ)", "one run")
_STYLES: tuple[Style, ...] = (
    {"color": EVIDENCE, "linestyle": "-", "marker": "o"},
    {"color": CLAIM, "linestyle": (0, (5, 2)), "marker": "s"},
    {"color": INK, "linestyle": (0, (1, 1.4)), "marker": "^"},
    {"color": EVIDENCE, "linestyle": (0, (1, 1.4)), "marker": "D"},
    {"color": CLAIM, "linestyle": "-", "marker": "v"},
    {"color": INK, "linestyle": (0, (5, 2)), "marker": "x"},
)
"""Distinguishable without colour: by dashes and by the shape of the markers."""


@dataclass(frozen=True)
class Line:
    """One row as it is shown."""

    algorithm: str
    records: str
    success: str
    guaranteed: str
    epsilon: str
    claimed: str
    seconds: str
    note: str

    @property
    def cells(self) -> tuple[str, ...]:
        """In the order of `HEADING`."""
        return (
            self.algorithm, self.records, self.success, self.guaranteed, self.epsilon, self.claimed, self.seconds
        )


def lines(result: Result, *, times: bool) -> list[Line]:
    """The rows of a result's comparison; without `times`, only what is reproducible."""
    return [] if result.comparison is None else [_line(row, result, times=times) for row in result.comparison.rows]


def comparison_block(result: Result) -> Rows:
    """The table for a terminal."""
    block = Rows()
    if result.comparison is None:
        return block
    block.line(Text(_title(result), "bold"), indent=0)
    shown = lines(result, times=True)
    heading, *rows = columns([HEADING, *(line.cells for line in shown)])
    block.line(Text(heading, "dim"), indent=0)
    for row in rows:
        block.line(row, indent=0)
    for line in shown:
        if line.note:
            block.line(f"{line.algorithm}, n = {line.records}: {line.note}")
    return block


def comparison_figure(result: Result, *, prefix: str) -> str:
    """Probability of success on the worst inputs against the number of records."""
    assert result.comparison is not None
    strands: dict[str, list[tuple[int, Attempt]]] = {}
    for row in result.comparison.rows:
        audit = _utility(row, result)
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


def _title(result: Result) -> str:
    comparison = result.comparison
    assert comparison is not None
    return f"{comparison.title}, given ε = {stated(comparison.epsilon)}, δ = {small(comparison.delta)}"


def _line(row: ComparisonRow, result: Result, *, times: bool) -> Line:
    guarantee, audit = _utility(row, result), _audit(row, result)
    worst = guarantee.deciding if guarantee is not None else None
    seconds = result.timings.audits.get(guarantee.replay + ONE_RUN) if guarantee is not None and times else None
    guaranteed = guarantee is not None and guarantee.claim.probability > 0
    return Line(
        row.algorithm,
        count(row.records),
        "–" if worst is None else utility.success(worst),
        utility.guaranteed(guarantee) if guarantee is not None and guaranteed else "nothing",
        _epsilon(audit),
        "–" if audit is None else wording.claimed(audit),
        "" if seconds is None else f"{seconds * 1000:.3g} ms",
        row.note,
    )


def _epsilon(audit: Audit | None) -> str:
    if audit is None:
        return "–"
    if wording.has_exact(audit):
        return f"= {wording.exact_epsilon(audit)}"
    bound = wording.certified_epsilon(audit)
    return "–" if bound is None else f"≥ {bound}"


def _utility(row: ComparisonRow, result: Result) -> UtilityAudit | None:
    return None if row.utility is None else result.utility[row.utility]


def _audit(row: ComparisonRow, result: Result) -> Audit | None:
    return None if row.audit is None else result.audits[row.audit]


def _middle(one: Attempt) -> float:
    return one.exact if one.exact is not None else one.hits / max(1, one.runs)


