"""The report as one self-contained HTML file: no JavaScript needed, nothing fetched from anywhere.

The same result gives the same bytes, except for the text of `<p id="timings">`.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dpaudit.report import alignment, chains, loss_breakdown, numbers, plain_words, stability, utility, wording
from dpaudit.report.comparison import HEADING, lines
from dpaudit.report.datasets import Part, compare
from dpaudit.report.figures import AuditFigures, Figure, data_csv, figures_of_pages
from dpaudit.report.figures.comparison import comparison_figure
from dpaudit.report.figures.page import PageFigures, page_figures
from dpaudit.report.figures.panels import panel_figures
from dpaudit.report.method import method
from dpaudit.results.figures import PLOTS
from dpaudit.results.json_form import to_object
from dpaudit.results.model import (
    Attempt,
    Audit,
    CurveRecord,
    ExactEvidence,
    Result,
    SampledEvidence,
    Timings,
    UtilityAudit,
    Verdict,
)
from dpaudit.results.plain import in_json, visible
from dpaudit.results.stability import StabilityRecord

_FOLDED_FROM = 4  # audits; fewer are unfolded
_GROUPED_FROM = 20  # audits; the overview of fewer is one table
_CHART = re.compile(r'(?<=<td><svg>)[^\n]*?(?=</svg></td>)')
"""What is drawn in a row of a table."""
_SHORT = 60  # characters of a text that is not worth a reference
_MOST_ROWS = 12  # of an evidence table; the data has them all


@dataclass(frozen=True)
class _Plot:
    """A figure with its title, its caption and its data."""

    title: str
    svg: Markup
    caption: str
    field: str
    """Of the audit, where its data are."""
    csv_uri: str | None
    """They as a link; None in a page of many audits, which holds them as JSON alone."""
    csv_name: str


@dataclass(frozen=True)
class _ScaleRow:
    """One row of the chart of ε; positions in percent of its width."""

    kind: str
    label: str
    value: str
    start: float
    stop: float
    beyond: bool
    """Whether it goes on past the right edge."""


@dataclass(frozen=True)
class _StabilityView:
    """What the template needs to know of an audit of stability beyond its fields; as of `_View`."""

    parts: list[Part]
    scale: list[_ScaleRow]
    claim_at: float


@dataclass(frozen=True)
class _View:
    """What the template needs to know of one audit beyond its fields."""

    id: str
    audit: Audit
    folded: bool
    open: bool
    """Whether a folded audit begins unfolded: the first of one algorithm's, which is its main case."""
    parts: list[Part]
    scale: list[_ScaleRow]
    scale_of: str
    claim_at: float
    plots: list[_Plot]
    panels: list[Markup]
    """Of its drawing."""
    method: list[str]
    notes: list[str]
    sampled: Sequence[SampledEvidence]
    exact: Sequence[ExactEvidence]
    facts: list[tuple[str, str]]
    """(name, value) of the sequential evidence; empty where there is none."""
    ledger: list[loss_breakdown.Line]
    alignment: list[alignment.Row]
    """Of a proof that the verdict rests on; empty where there is none."""


@dataclass(frozen=True)
class _Alike:
    """What several audits of a page say alike: a section of its own states it, and they refer to it.

    Args:
        paragraphs: of their methods, notes and sources.
        deviations: a list of deviations → the first algorithm that has it.
    """

    paragraphs: list[str]
    deviations: dict[tuple[str, ...], str]

    def own(self, paragraphs: Sequence[str]) -> list[str]:
        """The paragraphs of one audit that no other has."""
        return [text for text in paragraphs if text not in self.paragraphs]

    def references(self, paragraphs: Sequence[str]) -> Markup:
        """Links to the others, with a space before each."""
        numbers = [self.paragraphs.index(text) + 1 for text in paragraphs if text in self.paragraphs]
        return Markup("").join(Markup(' <a href="#m{0}">[{0}]</a>').format(number) for number in numbers)

    def said(self, text: str) -> Markup:
        """A text, or the link to it."""
        return self.references([text])[1:] or escape(text)

    def listed(self, audit: Audit | UtilityAudit) -> int | None:
        """The number, from 1, of an audit's deviations in that section; None if they are not there."""
        texts = tuple(audit.deviations)
        return [*self.deviations].index(texts) + 1 if texts in self.deviations else None


@dataclass(frozen=True)
class _AttemptRow:
    """A guarantee on one source of inputs; positions in percent of the width, None where there are none."""

    attempt: Attempt
    worst: bool
    start: float | None
    width: float
    exact: float | None


@dataclass(frozen=True)
class Row:
    """A line of the overview; `id` is that of its audit's article."""

    id: str
    audit: Audit | UtilityAudit


@dataclass(frozen=True)
class Group:
    """The audits of one algorithm in the overview, or all of a few.

    Args:
        name: of the algorithm, or of the whole.
        title: what it does; empty where that is its name.
        audits, guarantees: those that are not as expected first.
        wrong: how many of them are not as expected.
    """

    name: str
    title: str
    audits: list[Row]
    guarantees: list[Row]
    wrong: int

    @property
    def tally(self) -> str:
        """All verdicts, worst first, and that they are as expected."""
        every = [row.audit for row in (*self.audits, *self.guarantees)]
        parts = [wording.tally([audit for audit in every if isinstance(audit, Audit)])]
        utilities = utility.tally([audit for audit in every if isinstance(audit, UtilityAudit)])
        parts += [f"utility: {utilities}"] if utilities else []
        parts += ["as expected"] if all(audit.as_expected for audit in every) else []
        return "; ".join(filter(None, parts))


def groups(result: Result) -> list[Group]:
    """The audits of a result by algorithm, in their order, or all of a few; what is not as expected comes first."""
    few = len(result.every) < _GROUPED_FROM
    rows: dict[str, tuple[list[Row], list[Row]]] = {}
    kinds: tuple[tuple[str, Sequence[Audit | UtilityAudit]], ...] = (
        ("audit", result.audits), ("utility", result.utility)
    )
    for place, (kind, audits) in enumerate(kinds):
        for number, audit in enumerate(audits, 1):
            of = wording.subject(result) if few else audit.name
            rows.setdefault(of, ([], []))[place].append(Row(f"{kind}-{number}", audit))
    made = []
    for name, both in rows.items():
        privacy, guarantees = (sorted(some, key=lambda row: row.audit.as_expected is not False) for some in both)
        every = [row.audit for row in (*privacy, *guarantees)]
        title = every[0].title if every[0].title != name else ""
        made.append(Group(name, title, privacy, guarantees, sum(audit.as_expected is False for audit in every)))
    return sorted(made, key=lambda group: group.wrong == 0)


@dataclass(frozen=True)
class _Guarantee:
    """What the template needs to know of one utility guarantee."""

    id: str
    audit: UtilityAudit
    folded: bool
    rows: list[_AttemptRow]
    guaranteed_at: float
    panels: list[Markup]
    """Of its drawing."""


@dataclass(frozen=True)
class Within:
    """The run that a page shows a part of.

    Args:
        result: the whole of it.
        home: the relative link to its first page.
    """

    result: Result
    home: str


def to_html(
    result: Result,
    *,
    within: Within | None = None,
    drawn: Iterable[AuditFigures] | None = None,
    step: Callable[[], object] = lambda: None,
) -> str:
    """The report as the text of one HTML file.

    Args:
        result: what to show.
        within: the run that `result` is a part of; None where it is the whole.
        drawn: the figures of its audits of privacy, in their order, numbered from 1; None to draw them here.
        step: called after each audit of privacy; its figures take most of the time.

    Raises `ReportError` when the result cannot be written as JSON (the report holds its own data).
    """
    # The data in the page goes without timings, so that these stay in one element.
    timeless = to_object(replace(result, timings=Timings("", 0.0, 0, {})))
    data = in_json(json.dumps(timeless, ensure_ascii=False, separators=(",", ":")))
    total, one_name = len(result.every), len({audit.name for audit in result.every}) == 1
    made = []
    for _, figures in zip(result.audits, figures_of_pages([result.audits]) if drawn is None else drawn, strict=False):
        made.append(figures)
        step()
    pictures = [
        panel_figures(audit.drawing, prefix=f"u{i}") if audit.drawing is not None else []
        for i, audit in enumerate(result.utility, 1)
    ]
    comparison = [comparison_figure(result, prefix="c1")] if result.comparison is not None else []
    plots = [figure.svg for one in made for figure in one.plots]
    page = page_figures([*comparison, *plots, *(svg for one in made for svg in one.panels), *chain(*pictures)])
    alike = _alike(result) if total >= _FOLDED_FROM else _Alike([], {})
    text = _render(
        result,
        within=within,
        at=lambda anchor: f"#{anchor}",
        alike=alike,
        views=[
            _view(audit, figures, page, i, total, result.alpha, one_name=one_name)
            for i, (audit, figures) in enumerate(zip(result.audits, made, strict=True), 1)
        ],
        comparison_svg=Markup("".join(page.drawn[svg] for svg in comparison)),
        guarantees=[
            _guarantee(audit, i, total, [Markup(page.drawn[svg]) for svg in panels])
            for i, (audit, panels) in enumerate(zip(result.utility, pictures, strict=True), 1)
        ],
        shared_figures=Markup(page.shared),
        figure_rules=Markup(page.rules),
        data=_packed(data),
        data_file="",
    )
    return visible(_charts_once(text))


def stability_to_html(result: StabilityRecord) -> str:
    """An audit of stability as the text of one HTML file.

    Raises:
        ReportError: it cannot be written as JSON, which the page holds.
    """
    pair = result.pair
    text = environment().get_template("stability.html.j2").render(
        result=result,
        view=_StabilityView(
            [] if pair is None else compare(pair.left, pair.right, columns=pair.columns), *_distances(result)
        ),
        phrase=stability.verdict_phrase(result),
        badge=_badge(result.verdict, stability.verdict_phrase(result), refutable=not result.proved),
        assurance=stability.assurance(result),
        method=stability.method(result),
        data=_packed(replace(result, seconds=0.0).to_json()),
    )
    return visible(text)


def to_index(result: Result, *, places: Mapping[str, str], data_file: str) -> str:
    """The overview of a result alone, whose audits are on other pages.

    Args:
        result: what to show.
        places: the id of an audit → the relative link to it.
        data_file: the relative link to the result as JSON.
    """
    comparison = comparison_figure(result, prefix="c1") if result.comparison is not None else ""
    return visible(
        _render(
            result,
            within=None,
            at=lambda anchor: places[anchor],
            alike=_Alike([], {}),
            views=[],
            comparison_svg=Markup(comparison),
            guarantees=[],
            shared_figures="",
            figure_rules="",
            data="",
            data_file=data_file,
        )
    )


def _render(result: Result, **values: object) -> str:
    """The page of a result; `values` are those of the template that differ between a report and an index."""
    return environment().get_template("report.html.j2").render(
        result=result,
        several=len(result.every) > 1 or result.comparison is not None,
        groups=groups(result),
        comparison_heading=HEADING,
        comparison_lines=lines(result, times=False),
        timings=timings_text(result),
        **values,
    )


def _charts_once(page: str) -> str:
    """A page whose rows of tables refer to charts that are alike, which are drawn once."""
    drawn = Counter(_CHART.findall(page))
    names = {chart: f"t{i}" for i, chart in enumerate((chart for chart, times in drawn.items() if times > 1), 1)}
    page = _CHART.sub(lambda m: f'<use href="#{names[m[0]]}"/>' if m[0] in names else m[0], page)
    groups = "".join(f'<g id="{name}">{chart}</g>\n' for chart, name in names.items())
    return page.replace("<defs>\n", f"<defs>\n{groups}", 1)


def _packed(data: str) -> str:
    """The data of a page, for a link; the same bytes whenever it is made."""
    return b64encode(gzip.compress(data.encode(), mtime=0)).decode()


def embedded_json(page: str) -> str:
    """The result as JSON that a page of `to_html` holds."""
    match = re.search(r'href="data:application/gzip;base64,([^"]*)"', page)
    assert match is not None, "no page of to_html"
    return gzip.decompress(b64decode(match[1])).decode()


@cache
def environment() -> Environment:
    """Templates, and what they may call."""
    templates = Environment(
        loader=PackageLoader("dpaudit.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    tools: dict[str, Callable[..., object]] = {
        **{
            name: getattr(numbers, name)
            for name in ("count", "exactly", "lower", "nearest", "percent", "small", "stated", "upper", "error")
        },
        "verdict": _verdict,
        "share": lambda hits, runs: numbers.small(hits / runs) if runs else "",
    }
    templates.globals.update(
        tools, w=wording, u=utility, plain_words=plain_words, loss_breakdown=loss_breakdown, chains=chains
    )
    templates.filters["raised"] = lambda text: Markup(
        _POWER.sub(lambda m: f"e<sup>{m[1] or m[2]}</sup>", str(escape(text)))
    )
    templates.filters["sentence"] = lambda text: f"{text[:1].upper()}{text[1:]}."
    # A title breaks between its counts, not within one.
    templates.filters["unbroken"] = lambda text: re.sub("(?<=[,;:])\u00a0", " ", text.replace(" ", "\u00a0"))
    return templates


def _alike(result: Result) -> _Alike:
    texts = [
        text
        for audit in result.audits
        for text in (*method(audit, result.alpha), *(note.sentence for note in audit.notes))
    ]
    texts += [loss_breakdown.COMPARED for audit in result.audits if audit.loss_breakdown is not None]
    texts += [utility.picture_sentence(audit) for audit in result.utility]
    texts += [audit.source for audit in result.every]
    lists = Counter(tuple(audit.deviations) for audit in result.every if audit.deviations)
    names = {tuple(audit.deviations): audit.name for audit in reversed(result.every)}
    return _Alike(
        [text for text, times in Counter(texts).items() if times > 1 and len(text) > _SHORT],
        {texts: names[texts] for texts, times in lists.items() if times > 1},
    )


def _view(
    audit: Audit, made: AuditFigures, page: PageFigures, number: int, total: int, alpha: float, *, one_name: bool
) -> _View:
    identifier = f"audit-{number}"
    scale, claim_at = _scale(audit)
    sampled = sorted(audit.sampled, key=lambda e: -e.epsilon_lower)
    exact = sorted(audit.exact, key=lambda e: (e.epsilon is not None, -(e.epsilon or 0.0), -e.delta))
    return _View(
        id=identifier,
        audit=audit,
        folded=total >= _FOLDED_FROM,
        open=number == 1 and one_name,
        parts=compare(audit.pair.left, audit.pair.right, columns=audit.pair.columns) if audit.pair else [],
        scale=scale,
        scale_of=audit.curve.parameter if audit.curve is not None and _of_parameter(audit) else "ε",
        claim_at=claim_at,
        plots=_plots(audit, made.plots, page, with_csv=total < _FOLDED_FROM),
        panels=[Markup(page.drawn[svg]) for svg in made.panels],
        method=method(audit, alpha),
        notes=[note.sentence for note in audit.notes],
        sampled=sampled[:_MOST_ROWS],
        exact=exact[:_MOST_ROWS],
        facts=_sequential_facts(audit),
        ledger=loss_breakdown.lines(audit),
        alignment=_alignment(audit),
    )


def _alignment(audit: Audit) -> list[alignment.Row]:
    proof = audit.alignment
    if proof is None or not wording.is_proved(audit):
        return []
    return alignment.rows(alignment.noise_lines(proof), Fraction(proof.epsilon), Fraction(proof.mu_squared))


def _guarantee(audit: UtilityAudit, number: int, total: int, panels: list[Markup]) -> _Guarantee:
    rows = [
        _AttemptRow(
            attempt=one,
            worst=i == audit.worst,
            start=None if one.low is None else _percent(one.low),
            # a box of no width would not be seen
            width=max(0.4, _percent(one.high - one.low)) if one.low is not None and one.high is not None else 0,
            exact=None if one.exact is None else _percent(one.exact),
        )
        for i, one in enumerate(audit.attempts)
    ]
    guaranteed_at = _percent(audit.claim.probability)
    return _Guarantee(f"utility-{number}", audit, total >= _FOLDED_FROM, rows, guaranteed_at, panels)


def _percent(share: float) -> float:
    """A place in a chart, which is at most 40 rem wide: a third of a pixel is not seen."""
    return round(100 * share, 1)


def _sequential_facts(audit: Audit) -> list[tuple[str, str]]:
    """Details of the e-process."""
    sequential = audit.sequential
    if sequential is None:
        return []
    at = sequential.refuted_at
    refuted = "no" if at is None else f"after {numbers.count(at)} samples per dataset"
    return [
        ("e-value at the end", wording.e_value(audit)),
        ("refutes at 1/α′", f"{wording.threshold(audit)} (α′ = {numbers.small(sequential.alpha)})"),
        ("refuted", refuted),
        ("samples", f"{numbers.count(sequential.runs)} per dataset, of the pair with the most"),
        ("lower bound", f"ε ≥ {numbers.lower(sequential.epsilon_lower, audit.claim.epsilon)}"),
        ("seeds", ", ".join(map(str, sequential.seeds))),
        ("evidence key", sequential.key),
    ]


def _plots(audit: Audit, drawn: Sequence[Figure], page: PageFigures, *, with_csv: bool) -> list[_Plot]:
    stem = re.sub(r"[^a-z0-9]+", "-", f"{audit.name} {audit.case}".lower()).strip("-") or "audit"
    plots = []
    for figure in drawn:
        uri = f"data:text/csv;charset=utf-8,{quote(visible(data_csv(figure.plot)))}" if with_csv else None
        svg, name = Markup(page.drawn[figure.svg]), f"{stem}-{figure.name}.csv"
        plots.append(_Plot(figure.title, svg, figure.caption, PLOTS[figure.name], uri, name))
    return plots


def _of_parameter(audit: Audit) -> bool:
    """Whether the chart shows the parameter of a curve: where it says more than ε at the one δ that was counted at."""
    curve = audit.curve
    if curve is None:
        return False
    return curve.exact is not None or (audit.verdict is Verdict.FAIL and curve.lower is not None)


def _curve_scale(curve: CurveRecord) -> tuple[list[_ScaleRow], float]:
    known = [x for x in (curve.claimed, curve.lower, curve.exact) if x is not None]
    end = max(max(known) * 1.18, 1e-9)
    claim_at = _percent(curve.claimed / end)
    rows = [_ScaleRow("claim", "claim", numbers.stated(curve.claimed), 0.0, claim_at, beyond=False)]
    if curve.lower is not None:
        value = f"≥ {numbers.lower(curve.lower, curve.claimed)}"
        rows.append(_ScaleRow("certified", "lower bound", value, 0.0, _percent(curve.lower / end), beyond=False))
    if curve.exact is not None:
        value = numbers.exactly(curve.exact, curve.claimed)
        rows.append(_ScaleRow("exact", "exact", value, 0.0, _percent(curve.exact / end), beyond=False))
    return rows, claim_at


def _scale(audit: Audit) -> tuple[list[_ScaleRow], float]:
    """The rows of the chart, and the position of the claim."""
    if audit.curve is not None and _of_parameter(audit):
        return _curve_scale(audit.curve)
    claim, certified = audit.claim.epsilon, audit.epsilon_lower
    exact, detectable = audit.epsilon_exact, audit.detectable_epsilon
    composed = audit.ledger[0].composed_epsilon if audit.ledger else None
    known = [x for x in (claim, composed, certified, exact, detectable) if x is not None]
    end = max(max(known) * 1.18, 1e-9)

    def at(x: float) -> float:
        return _percent(min(max(x / end, 0.0), 1.0))

    # nobody chose the ε of a curve
    as_text = numbers.stated(claim) if audit.curve is None else numbers.nearest(claim, audit.epsilon_lower)
    rows = [_ScaleRow("claim", "claim", f"ε = {as_text}", 0.0, at(claim), beyond=False)]
    if composed is not None:
        delta = audit.ledger[0].composed_delta or 0.0
        at_delta = "" if delta == audit.claim.delta else f" at δ = {numbers.small(delta)}"
        value = f"ε = {numbers.nearest(composed)}{at_delta}"
        rows.append(_ScaleRow("composed", "parts compose to", value, 0.0, at(composed), beyond=False))
    if certified is not None:
        value = f"ε ≥ {wording.certified_epsilon(audit)}"
        rows.append(_ScaleRow("certified", "lower bound", value, 0.0, at(certified), beyond=False))
    if wording.has_exact(audit):
        value, infinite = f"ε {wording.enclosed(audit)}", wording.exact_is_infinite(audit)
        rows.append(
            _ScaleRow("exact", "exact", value, 0.0, 100.0 if infinite else at(exact or 0.0), infinite)
        )
    if audit.sampled:
        value = "none" if detectable is None else f"ε ≥ {numbers.upper(detectable, claim)}"
        start = 100.0 if detectable is None else at(detectable)
        rows.append(_ScaleRow("detectable", "detectable", value, start, 100.0, detectable is not None))
    return rows, at(claim)


def _distances(result: StabilityRecord) -> tuple[list[_ScaleRow], float]:
    """The rows of the chart of an audit of stability, and the position of the claim."""
    allowed, distance = result.allowed_float or 0.0, result.distance_float
    end = max(allowed, distance or 0.0) * 1.18 or 1.0

    def at(x: float) -> float:
        # doubles near the largest overflow above
        return _percent(min(x / end, 1.0)) if math.isfinite(end) else 50.0

    claim = _ScaleRow("claim", "allowed", stability.allowed(result), 0.0, at(allowed), beyond=False)
    shown = 100.0 if distance is None else at(distance)
    return [
        claim, _ScaleRow("exact", "measured", stability.distance(result), 0.0, shown, beyond=distance is None)
    ], at(allowed)


_SIGNS = {Verdict.FAIL: "✗", Verdict.PASS: "✓", Verdict.INCONCLUSIVE: "?"}
_POWER = re.compile(r"\be\^(?:\{([^{}]*)\}|(-?(?:\d+(?:\.\d+)?|ε)))")
"""Of e, in a sentence."""


def _verdict(audit: Audit | UtilityAudit) -> Markup:
    """The verdict with a sign and a frame, so that it does not rest on colour, and whether it is expected."""
    phrase = wording.verdict_phrase(audit) if isinstance(audit, Audit) else utility.verdict_phrase(audit)
    text = _badge(
        audit.verdict, phrase, refutable=not wording.is_proved(audit),
        expected=" expected" if audit.as_expected else "",
    )
    if isinstance(audit, Audit) and wording.leaks_beside(audit):
        text += Markup(' <span class="wrong">⚠ {}</span>').format(wording.VULNERABLE)
    if audit.as_expected:
        return text + Markup(' <span class="quiet">as expected</span>')
    return text + Markup(' <strong class="wrong">✗ {}</strong>').format(expectation) if (
        expectation := wording.expectation(audit)
    ) else text


def _badge(verdict: Verdict, phrase: str, *, refutable: bool, expected: str = "") -> Markup:
    kind = (" refutable" if verdict is Verdict.PASS and refutable else "") + expected
    return Markup('<span class="badge {}{}">{} {}</span>').format(verdict.value, kind, _SIGNS[verdict], phrase)


def timings_text(result: Result) -> str:
    """When it began, how long it took, and what was slowest: all that differs between two runs of a seed."""
    timings = result.timings
    workers = f"{timings.jobs} worker{'' if timings.jobs == 1 else 's'}"
    text = f"Started {timings.started}, took {timings.seconds:.1f} s with {workers}."
    if timings.unused:
        text += f" {timings.unused:,} samples that were begun ahead of time were not needed."
    names = {audit.replay: wording.full_name(audit) for audit in result.every}
    timed = [item for item in timings.audits.items() if item[0] in names]
    slowest = sorted(timed, key=lambda item: (-item[1], item[0]))[:5]
    if len(names) > 1 and slowest:
        text += (
            f" Slowest: {'; '.join(f'{names[key]} {seconds:.1f} s' for key, seconds in slowest)}."
        )
    rows = [line for line in lines(result, times=True) if line.seconds]
    alone = [f"{line.algorithm} n = {line.records} {line.seconds}" for line in rows]
    if alone:
        text += f" One run alone: {'; '.join(alone)}."
    return text
