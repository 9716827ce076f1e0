"""The pictures of audits as SVG: most of the work of a report, so that several processes may share it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from joblib import Parallel, delayed

from dpaudit.report import numbers
from dpaudit.report.drawings import panel_figures
from dpaudit.report.figures import bound_figure, evidence_figure, output_figure, profile_figure
from dpaudit.report.loss_figures import broken_by, loss_figure, tradeoff_figure
from dpaudit.results.model import Audit, Verdict
from dpaudit.results.plots import LossPlot, TradeoffPlot

SHARED_FROM = 40
"""Audits; fewer are drawn before other processes are ready."""
_SEEN = 0.01
"""Of an axis; a gap smaller than this is told."""


@dataclass(frozen=True)
class Picture:
    """A figure and its caption.

    Args:
        kind: the field of the audit that it draws is named after it, "profile" for `profile_plot`.
        svg: an element.
        caption: what is to be seen.
    """

    kind: str
    svg: str
    caption: str


@dataclass(frozen=True)
class Pictures:
    """All that is drawn of an audit: its plots, and the panels of its drawing."""

    plots: list[Picture]
    panels: list[str]


def pictures(pages: Sequence[Sequence[Audit]], *, jobs: int = 1) -> Iterator[Pictures]:
    """The pictures of the audits of all pages, one after the other.

    Args:
        pages: audits that stand on one page together; ids are unique within it.
        jobs: processes that draw, where there are many audits.
    """
    work = [(audit, number) for audits in pages for number, audit in enumerate(audits, 1)]
    if jobs == 1 or len(work) < SHARED_FROM:
        yield from (pictures_of(audit, number) for audit, number in work)
    else:
        yield from Parallel(n_jobs=jobs, return_as="generator")(delayed(pictures_of)(*one) for one in work)


def pictures_of(audit: Audit, number: int) -> Pictures:
    """What is drawn of one audit.

    Args:
        number: of the audit on its page, in ids.
    """
    panels = panel_figures(audit.drawing, prefix=f"d{number}") if audit.drawing is not None else []
    return Pictures(_plots(audit, number), list(panels))


def _plots(audit: Audit, number: int) -> list[Picture]:
    plots = []
    if (profile := audit.profile_plot) is not None:
        svg = profile_figure(profile, audit.claim, prefix=f"p{number}")
        caption = "Privacy profile of the pair; hatched where the evidence is above the claim."
        plots.append(Picture("profile", svg, caption))
    if (tradeoff := audit.tradeoff_plot) is not None:
        svg = tradeoff_figure(tradeoff, prefix=f"t{number}")
        plots.append(Picture("tradeoff", svg, _tradeoff_caption(audit, tradeoff)))
    if (loss := audit.loss_plot) is not None:
        plots.append(Picture("loss", loss_figure(loss, prefix=f"l{number}"), _loss_caption(loss)))
    if (output := audit.output_plot) is not None:
        svg = output_figure(output, prefix=f"o{number}")
        how = "Exact law" if output.kind == "exact" else "Observed frequencies"
        left_out = (
            f"; {numbers.count(output.omitted)} least likely outcomes not drawn" if output.omitted else ""
        )
        plots.append(Picture("output", svg, f"{how} of the output on both datasets{left_out}."))
    if (evidence := audit.evidence_plot) is not None:
        at = audit.sequential.refuted_at if audit.sequential is not None else None
        svg = evidence_figure(evidence, refuted_at=at, prefix=f"e{number}")
        marked = f"; the circle: refuted after {numbers.count(at)} runs a side" if at is not None else ""
        caption = f"Evidence against the claim: the e-process, averaged over the pairs. Dashed: it refutes{marked}."
        plots.append(Picture("evidence", svg, caption))
    if (bound := audit.bound_plot) is not None:
        svg = bound_figure(
            bound, claim=audit.claim.epsilon, exact=audit.epsilon_exact, prefix=f"b{number}"
        )
        stop = f" ({numbers.count(bound.runs[-1])} runs a side)" if bound.runs else ""
        caption = "Clopper–Pearson bound on ε against runs a side. "
        caption += f"Filled: where counting stopped{stop}; only that counts."
        plots.append(Picture("bound", svg, caption))
    return plots


def _tradeoff_caption(audit: Audit, plot: TradeoffPlot) -> str:
    """What is to be seen, and where a violation is too small to be."""
    text = "Errors of the best tests that tell the two datasets apart, from the output alone"
    by = broken_by(plot)
    if by:
        text += "; hatched where they are smaller than the claim allows"
        text += f" (by {numbers.small(by)} at most)." if by < _SEEN else "."
    elif audit.verdict is Verdict.FAIL:
        text += "; the event that breaks the claim is too rare to be seen here, see the profile."
    else:
        text += "."
    if plot.certified is not None:
        text += " Triangle: certified errors of the counted event; box: Clopper–Pearson limits."
    return text


def _loss_caption(plot: LossPlot) -> str:
    """The probability beyond ε and δ are two things: δ(ε) = E[max(0, 1 − e^(ε − loss))], which is less."""
    about = "about " if plot.kind == "density" else ""
    beyond, delta = [
        numbers.small(left) if numbers.small(left) == numbers.small(right)
        else f"{numbers.small(left)} on left, {numbers.small(right)} on right"
        for left, right in ((plot.beyond_left, plot.beyond_right), (plot.delta_left, plot.delta_right))
    ]
    return (
        f"Privacy loss of the output. Pr[loss > ε] at the claimed ε: {about}{beyond}; the δ needed there, "
        f"which is never more: {delta}."
    )
