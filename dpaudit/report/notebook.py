"""A result as a self-contained fragment of HTML for a notebook, without scripts.

Its styles apply to nothing outside it and override those of the notebook. It follows the notebook's light or dark
theme if the notebook declares one, and reads as plain headings and tables without styles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from markupsafe import Markup

from dpaudit.report import stability, utility, wording
from dpaudit.report.datasets import Part, compare
from dpaudit.report.figures import plot_figures
from dpaudit.report.figures.comparison import comparison_figure
from dpaudit.report.html import environment
from dpaudit.results.model import Audit, Result, UtilityAudit, Verdict
from dpaudit.results.plain import visible
from dpaudit.results.stability import StabilityRecord

MOST_ROWS = 40
"""Audits in the overview."""
MOST_SHOWN = 3
"""Number of audits shown in full; those that do not pass come first."""
_PIECES = 12
_SHOWN = ("profile", "outputs", "evidence", "bound")
_WORST_FIRST = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS)
_SIGNS = {Verdict.FAIL: "✗", Verdict.PASS: "✓", Verdict.INCONCLUSIVE: "?"}


@dataclass(frozen=True)
class _Row:
    """One audit in the overview."""

    badge: Markup
    name: str
    claim: str
    result: str


@dataclass(frozen=True)
class _View:
    """One audit in full: facts as (name, lines of text), datasets, and figures with captions."""

    badge: Markup
    name: str
    headline: str
    facts: list[tuple[str, list[str]]]
    pair: str
    parts: list[Part]
    after: list[tuple[str, list[str]]]
    again: str
    figures: list[tuple[Markup, str]]
    open: bool


def to_fragment(result: Result) -> str:
    """The fragment of a result."""
    every = result.every
    several = len(every) != 1
    ranked = sorted(every, key=lambda audit: _WORST_FIRST.index(audit.verdict))
    shown = [audit for audit in ranked if audit.verdict is not Verdict.PASS][:MOST_SHOWN] if several else every
    text = environment().get_template("notebook.html.j2").render(
        css=_css(),
        title=wording.title(result),
        error=wording.error_sentence(result),
        several=several,
        interrupted=result.interrupted,
        rows=[_row(audit) for audit in every[:MOST_ROWS]] if several else [],
        omitted=max(len(every) - MOST_ROWS, 0),
        hidden=sum(audit.verdict is not Verdict.PASS for audit in every) - len(shown) if several else 0,
        comparison=_inlined(comparison_figure(result, prefix="dpa-comparison")) if result.comparison is not None else
        "", views=[_view(result, audit, open=place == 0) for place, audit in enumerate(shown)],
    )
    return visible(text.removesuffix("\n"))


def stability_to_fragment(result: StabilityRecord) -> str:
    """The fragment of an audit of stability."""
    phrase, pair = stability.verdict_phrase(result), result.pair
    badge = _badge_of(result.verdict, phrase, weak=result.verdict is Verdict.PASS and not result.proved)
    sides = [f"{name} {output}" for name, output in zip(("D", "D′"), result.outputs, strict=False)]
    view = _View(
        badge=badge,
        name=f"{result.name} · stability",
        headline=result.reason,
        facts=[("claim", [result.claim])],
        pair="" if pair is None else wording.pair_name(pair),
        parts=[] if pair is None else compare(pair.left, pair.right, columns=pair.columns, limit=_PIECES),
        after=[(name, lines) for name, lines in (("outputs", sides), ("notes", result.notes)) if lines],
        again=result.command,
        figures=[],
        open=True,
    )
    text = environment().get_template("notebook.html.j2").render(
        css=_css(), title="", error=stability.assurance(result).removesuffix("."), several=False, interrupted=False,
        rows=[], omitted=0, hidden=0, comparison="", views=[view],
    )
    return visible(text.removesuffix("\n"))


@cache
def _css() -> Markup:
    return Markup(files("dpaudit.report").joinpath("templates/notebook.css").read_text(encoding="utf-8"))


def _badge(audit: Audit | UtilityAudit) -> Markup:
    """The verdict with a sign and a frame, so that it does not depend on colour."""
    phrase = wording.verdict_phrase(audit) if isinstance(audit, Audit) else utility.verdict_phrase(audit)
    return _badge_of(audit.verdict, phrase, weak=audit.verdict is Verdict.PASS and not wording.is_proved(audit))


def _badge_of(verdict: Verdict, phrase: str, *, weak: bool) -> Markup:
    shade = " dpa-weak" if weak else ""
    return Markup('<span class="dpa-badge dpa-{}{}">{} {}</span>').format(
        verdict.value, shade, _SIGNS[verdict], phrase
    )


def _row(audit: Audit | UtilityAudit) -> _Row:
    if isinstance(audit, UtilityAudit):
        success = "" if audit.deciding is None else f"success {utility.success(audit.deciding)}"
        return _Row(_badge(audit), f"utility of {wording.full_name(audit)}", utility.guaranteed(audit), success)
    exact, bound = wording.exact_epsilon(audit), wording.certified_epsilon(audit)
    parts = [f"exact ε = {exact}" if exact else "", f"ε ≥ {bound} by samples" if bound else ""]
    return _Row(_badge(audit), wording.full_name(audit), audit.claim.statement, ", ".join(filter(None, parts)))


def _view(result: Result, audit: Audit | UtilityAudit, *, open: bool) -> _View:
    again = wording.again(result, audit)
    if isinstance(audit, UtilityAudit):
        facts = [("guarantee", [f"{audit.claim.statement} ({audit.claim.place})"]), ("reason", [audit.reason])]
        name = f"utility of {wording.full_name(audit)}"
        return _View(_badge(audit), name, utility.headline(audit), facts, "", [], [], again, [], open)
    headline = wording.headline(audit)
    exact = wording.exact_sentence(audit)
    before = [("claim", [audit.claim.statement])]
    if exact and exact not in headline:
        before.append(("exact", [exact]))
    if (scope := wording.scope_line(audit)) is not None:
        before.append(("domain", [scope]))
    after = [] if wording.is_proved(audit) else [("event", _event(audit))] if audit.event is not None else []
    if wording.leaks(audit):
        after.append(("floats", [wording.floating_point_sentence(audit) or ""]))
    after.append(("reason", [audit.reason]))
    if audit.notes:
        after.append(("notes", [note.sentence for note in audit.notes]))
    pair = audit.pair
    return _View(
        badge=_badge(audit),
        name=wording.full_name(audit),
        headline=headline,
        facts=before,
        pair="" if pair is None else wording.pair_name(pair),
        parts=[] if pair is None else compare(pair.left, pair.right, columns=pair.columns, limit=_PIECES),
        after=after,
        again=again,
        figures=_figures(audit),
        open=open,
    )


def _event(audit: Audit) -> list[str]:
    exact, evidence = wording.reported_exact(audit), wording.deciding(audit)
    learned = evidence if exact is None else None
    lines = [wording.event_phrase(audit.event, wording.more_likely_under(audit), learned)]
    if exact is not None and exact.event is not None:
        lines.append(wording.probabilities_sentence(exact))
    elif evidence is not None:
        lines.append(wording.counts_sentence(evidence))
    return lines


def _figures(audit: Audit) -> list[tuple[Markup, str]]:
    """Some of the report's figures, with ids that are unique in a notebook."""
    drawn = plot_figures(audit, f"dpa-{audit.replay}")
    return [(_inlined(one.svg), f"{one.title}. {one.caption}") for one in drawn if one.name in _SHOWN]


def _inlined(svg: str) -> Markup:
    """A figure with a class of its own, as pages have rules for `.figure`."""
    return Markup(svg.replace('class="figure"', 'class="dpa-svg"', 1))
