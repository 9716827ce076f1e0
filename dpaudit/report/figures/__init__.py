"""The figures of audits as SVG: most of the work of a report, so that several processes may share it.

From the plots and drawings of a result; `on_axes` draws the same plots on a user's own axes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from joblib import Parallel, delayed

from dpaudit.report import numbers, wording
from dpaudit.report.figures.curves import bound_figure, evidence_figure, profile_figure
from dpaudit.report.figures.losses import broken_by, loss_figure, tradeoff_figure
from dpaudit.report.figures.outputs import output_figure
from dpaudit.report.figures.panels import panel_figures
from dpaudit.report.figures.svg import TITLES
from dpaudit.results.figures import (
    BoundPlot,
    EvidencePlot,
    LossPlot,
    OutputPlot,
    Plot,
    ProfilePlot,
    TradeoffPlot,
    columns,
)
from dpaudit.results.model import Audit, Verdict

SHARED_FROM = 40
"""Audits; fewer are drawn before other processes are ready."""
_SEEN = 0.01
"""Of an axis; a smaller gap is stated in words."""


@dataclass(frozen=True)
class Figure:
    """A plot that is drawn.

    Args:
        name: of the plot, in `PLOTS`.
        title: of the plot, for its reader.
        svg: an element.
        caption: what is to be seen.
        plot: its numbers.
    """

    name: str
    title: str
    svg: str
    caption: str
    plot: Plot


@dataclass(frozen=True)
class AuditFigures:
    """All that is drawn of an audit: its plots, and the panels of its drawing."""

    plots: list[Figure]
    panels: list[str]


def figures_of_pages(pages: Sequence[Sequence[Audit]], *, jobs: int = 1) -> Iterator[AuditFigures]:
    """The figures of the audits of all pages, one audit after the other.

    Args:
        pages: audits that stand on one page together; ids are unique within it.
        jobs: processes that draw, where there are many audits.
    """
    work = [(audit, number) for audits in pages for number, audit in enumerate(audits, 1)]
    if jobs == 1 or len(work) < SHARED_FROM:
        yield from (figures_of(audit, number) for audit, number in work)
    else:
        yield from Parallel(n_jobs=jobs, return_as="generator")(delayed(figures_of)(*one) for one in work)


def figures_of(audit: Audit, number: int) -> AuditFigures:
    """The figures of one audit.

    Args:
        number: of the audit on its page, in ids.
    """
    panels = panel_figures(audit.drawing, prefix=f"d{number}") if audit.drawing is not None else []
    return AuditFigures(plot_figures(audit, f"a{number}"), panels)


def plot_figures(audit: Audit, prefix: str) -> list[Figure]:
    """The plots of one audit, drawn, but a course of bounds that has one point alone.

    Args:
        prefix: of all ids.
    """
    return [
        Figure(name, TITLES[name], *_drawn(audit, plot, prefix=f"{prefix}{name[0]}"), plot)
        for name, plot in audit.plots.items()
        if not (isinstance(plot, BoundPlot) and len(plot.runs) == 1)
    ]


def data_csv(plot: Plot) -> str:
    """The data of a plot as CSV with a header: one column for each of its lists."""
    table = columns(plot)
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return out.getvalue()


def _drawn(audit: Audit, plot: Plot, *, prefix: str) -> tuple[str, str]:
    """A plot as SVG, and its caption."""
    match plot:
        case ProfilePlot():
            caption = "Of the pair; hatched where the evidence is above the claim."
            if plot.certified is not None:
                caption += " Triangles: what Clopper–Pearson limits show, without the other tests."
            return profile_figure(plot, audit.claim, prefix=prefix), caption
        case TradeoffPlot():
            return tradeoff_figure(plot, prefix=prefix), _tradeoff_caption(audit, plot)
        case LossPlot():
            return loss_figure(plot, prefix=prefix), _loss_caption(plot)
        case OutputPlot():
            how = "Exact distributions" if plot.kind == "exact" else "Observed frequencies"
            left_out = f"; {numbers.count(plot.omitted)} least likely outcomes not shown" if plot.omitted else ""
            event = _event(audit, plot)
            shaded = f" The event, shaded: {event}." if event else ""
            return output_figure(plot, prefix=prefix, event=event), f"{how}{left_out}.{shaded}"
        case EvidencePlot():
            at = audit.sequential.refuted_at if audit.sequential is not None else None
            marked = f"; the circle: refuted after {numbers.count(at)} samples per dataset" if at is not None else ""
            caption = f"The e-process, averaged over pairs. Dashed: the threshold{marked}."
            return evidence_figure(plot, refuted_at=at, prefix=prefix), caption
        case BoundPlot():
            caption = "Against samples per dataset; only the last point, filled, is a confidence bound"
            if plot.runs and audit.epsilon_lower_clopper_pearson is not None:
                bound = numbers.lower(audit.epsilon_lower_clopper_pearson, audit.claim.epsilon)
                caption += f": ε ≥ {bound} after {numbers.count(plot.runs[-1])} samples"
            svg = bound_figure(plot, claim=audit.claim.epsilon, exact=audit.epsilon_exact, prefix=prefix)
            return svg, f"{caption}."


def _event(audit: Audit, plot: OutputPlot) -> str:
    """How likely the marked event is, in the numbers of the verdict: bins need not end where the event does."""
    if not any(plot.event):
        return ""
    if plot.kind == "exact":
        exact = wording.reported_exact(audit)
        return "" if exact is None else wording.probabilities_sentence(exact)
    counted = wording.deciding(audit)
    return "" if counted is None else wording.counts_sentence(counted)


def _tradeoff_caption(audit: Audit, plot: TradeoffPlot) -> str:
    """What the curves show, and whether a violation is too small to be visible."""
    text = "Errors of the best tests that distinguish D from D′ by the output"
    by = broken_by(plot)
    if by:
        text += "; hatched where they are smaller than the claim allows"
        text += f" (by {numbers.small(by)} at most)." if by < _SEEN else "."
    elif audit.verdict is Verdict.FAIL and _drawn_refutes(audit):
        text += "; the event that refutes the claim is too rare to be visible here; see the profile."
    elif audit.verdict is Verdict.FAIL and plot.certified is not None:
        text += "; the Clopper–Pearson limits of the counted event alone do not refute the claim."
    else:
        text += "."
    if plot.certified is not None:
        text += " Triangle: confidence bounds on the errors of the counted event; box: Clopper–Pearson limits."
    return text


def _drawn_refutes(audit: Audit) -> bool:
    """Whether the exact curve or the limits of the counted event refute the claim; other tests may before they do."""
    found = (audit.epsilon_exact, audit.epsilon_lower_clopper_pearson)
    beyond = audit.delta_exact is not None and audit.delta_exact > audit.claim.delta
    return beyond or any(epsilon is not None and epsilon > audit.claim.epsilon for epsilon in found)


def _loss_caption(plot: LossPlot) -> str:
    """δ(ε) = E[max(0, 1 − e^(ε − loss))] is at most the probability of a loss beyond ε."""
    about = "about " if plot.kind == "density" else ""
    beyond, delta = [
        numbers.small(left) if numbers.small(left) == numbers.small(right)
        else f"{numbers.small(left)} under D, {numbers.small(right)} under D′"
        for left, right in ((plot.beyond_left, plot.beyond_right), (plot.delta_left, plot.delta_right))
    ]
    return (
        f"Privacy loss of the output. Pr[loss > ε] at the claimed ε: {about}{beyond}; δ(ε) there, "
        f"which is never larger: {delta}."
    )
