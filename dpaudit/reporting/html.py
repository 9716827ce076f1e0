"""The report as one self-contained HTML file: no JavaScript needed, nothing fetched from anywhere.

The same result gives the same bytes, except for the text of `<p id="timings">`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dpaudit.audit.results import (
    Audit,
    EvidenceKind,
    ExactEvidence,
    Result,
    SampledEvidence,
    Timings,
    Verdict,
)
from dpaudit.reporting import numbers, wording
from dpaudit.reporting.datasets import Part, compare
from dpaudit.reporting.figures import bound_figure, data_csv, evidence_figure, output_figure, profile_figure
from dpaudit.reporting.json_form import to_json
from dpaudit.reporting.method import method

_FOLDED_FROM = 4  # audits; fewer stand open
_MOST_ROWS = 12  # of an evidence table; the data has them all


@dataclass(frozen=True)
class _Plot:
    """A figure with its caption and its data as a link."""

    svg: Markup
    caption: str
    csv_uri: str
    csv_name: str


@dataclass(frozen=True)
class _ScaleRow:
    """One row of the picture of claim against certified and exact; positions in percent of its width."""

    kind: str
    label: str
    value: str
    start: float
    stop: float
    beyond: bool
    """Whether it goes on past the right edge."""


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
    claim_at: float
    plots: list[_Plot]
    method: list[str]
    sampled: Sequence[SampledEvidence]
    exact: Sequence[ExactEvidence]
    facts: list[tuple[str, str]]
    """(name, value) of the sequential evidence; empty where there is none."""


def to_html(result: Result) -> str:
    """The report as the text of one HTML file.

    Raises `ReportError` when the result cannot be written as JSON (the report holds its own data).
    """
    # The data in the page goes without timings, so that these stay in one element.
    timeless = to_json(replace(result, timings=Timings("", 0.0, 0, {})))
    total, one_name = len(result.audits), len({audit.name for audit in result.audits}) == 1
    views = [_view(audit, i, total, result.alpha, one_name=one_name) for i, audit in enumerate(result.audits, 1)]
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            result=result,
            views=views,
            timings=_timings(result),
            data=_for_reading(timeless),
            data_in_script=_for_script(timeless),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("dpaudit.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    tools: dict[str, Callable[..., object]] = {
        **{
            name: getattr(numbers, name)
            for name in ("count", "exactly", "lower", "nearest", "small", "stated", "upper", "error")
        },
        "badge": _badge,
        "share": lambda hits, runs: numbers.small(hits / runs) if runs else "",
    }
    environment.globals.update(tools, w=wording)
    environment.filters["sentence"] = lambda text: f"{text[:1].upper()}{text[1:]}."
    # A title breaks between its counts, not within one.
    environment.filters["unbroken"] = lambda text: text.replace(" ", "\u00a0").replace(",\u00a0", ", ")
    return environment


def _view(audit: Audit, number: int, total: int, alpha: float, *, one_name: bool) -> _View:
    identifier = f"audit-{number}"
    scale, claim_at = _scale(audit)
    sampled = sorted(audit.sampled, key=lambda e: -e.epsilon_lower)
    exact = sorted(audit.exact, key=lambda e: (e.epsilon is not None, -(e.epsilon or 0.0), -e.delta))
    return _View(
        id=identifier,
        audit=audit,
        folded=total >= _FOLDED_FROM,
        open=number == 1 and one_name,
        parts=compare(audit.pair.left, audit.pair.right) if audit.pair else [],
        scale=scale,
        claim_at=claim_at,
        plots=_plots(audit, identifier),
        method=method(audit, alpha),
        sampled=sampled[:_MOST_ROWS],
        exact=exact[:_MOST_ROWS],
        facts=_sequential_facts(audit),
    )


def _sequential_facts(audit: Audit) -> list[tuple[str, str]]:
    """What a reader may check of the e-process beyond its sentence."""
    found = audit.sequential
    if found is None:
        return []
    refuted = "no" if found.refuted_at is None else f"after {numbers.count(found.refuted_at)} runs a side and pair"
    return [
        ("e-value at the end", wording.e_value(audit)),
        ("refutes at 1/α′", f"{wording.threshold(audit)} (α′ = {numbers.small(found.alpha)})"),
        ("refuted", refuted),
        ("bet on", f"{numbers.count(found.runs)} runs a side of the pair that has most"),
        ("its bound", f"ε ≥ {numbers.lower(found.epsilon_lower, audit.claim.epsilon)}"),
        ("seeds in it", ", ".join(map(str, found.seeds))),
        ("evidence about", found.key),
    ]


def _plots(audit: Audit, prefix: str) -> list[_Plot]:
    plots = []
    stem = re.sub(r"[^a-z0-9]+", "-", f"{audit.name} {audit.case}".lower()).strip("-") or "audit"

    def add(kind: str, svg: str, caption: str, csv: str) -> None:
        uri = "data:text/csv;charset=utf-8," + quote(csv)
        plots.append(_Plot(Markup(svg), caption, uri, f"{stem}-{kind}.csv"))

    if (profile := audit.profile_plot) is not None:
        svg = profile_figure(profile, audit.claim, prefix=f"{prefix}-profile")
        caption = "Privacy profile of the pair; hatched where the evidence is above the claim."
        add("profile", svg, caption, data_csv(profile))
    if (output := audit.output_plot) is not None:
        svg = output_figure(output, prefix=f"{prefix}-output")
        how = "Exact law" if output.kind == "exact" else "Observed frequencies"
        left_out = (
            f"; {numbers.count(output.omitted)} least likely outcomes not drawn" if output.omitted else ""
        )
        add("output", svg, f"{how} of the output on both datasets{left_out}.", data_csv(output))
    if (evidence := audit.evidence_plot) is not None:
        at = audit.sequential.refuted_at if audit.sequential is not None else None
        svg = evidence_figure(evidence, refuted_at=at, prefix=f"{prefix}-evidence")
        marked = f"; the circle: refuted after {numbers.count(at)} runs a side" if at is not None else ""
        caption = f"Evidence against the claim: the e-process, averaged over the pairs. Dashed: it refutes{marked}."
        add("evidence", svg, caption, data_csv(evidence))
    if (bound := audit.bound_plot) is not None:
        svg = bound_figure(
            bound, claim=audit.claim.epsilon, exact=audit.epsilon_exact, prefix=f"{prefix}-bound"
        )
        caption = "Clopper–Pearson bound after so many runs a side; only the last point counts."
        add("bound", svg, caption, data_csv(bound))
    return plots


def _scale(audit: Audit) -> tuple[list[_ScaleRow], float]:
    """The rows of the picture, and where the claim lies in it."""
    claim, certified = audit.claim.epsilon, audit.epsilon_lower
    exact, detectable = audit.epsilon_exact, audit.detectable_epsilon
    known = [x for x in (claim, certified, exact, detectable) if x is not None]
    end = max(max(known) * 1.18, 1e-9)

    def at(x: float) -> float:
        return round(min(max(100 * x / end, 0.0), 100.0), 2)

    rows = [_ScaleRow("claim", "claim", f"ε = {numbers.stated(claim)}", 0.0, at(claim), beyond=False)]
    if certified is not None:
        value = f"ε ≥ {wording.certified_epsilon(audit)}"
        rows.append(_ScaleRow("certified", "certified", value, 0.0, at(certified), beyond=False))
    if wording.has_exact(audit):
        value, infinite = f"ε = {wording.exact_epsilon(audit)}", wording.exact_is_infinite(audit)
        rows.append(
            _ScaleRow("exact", "exact", value, 0.0, 100.0 if infinite else at(exact or 0.0), infinite)
        )
    if audit.sampled:
        value = "none" if detectable is None else f"ε ≥ {numbers.upper(detectable, claim)}"
        start = 100.0 if detectable is None else at(detectable)
        rows.append(_ScaleRow("detectable", "detectable", value, start, 100.0, detectable is not None))
    return rows, at(claim)


def _badge(audit: Audit) -> Markup:
    """The verdict with a sign and a frame of its own, so that it does not rest on colour."""
    sign = {"fail": "✗", "pass": "✓", "inconclusive": "?"}[audit.verdict.value]
    weak = (
        " refutable"
        if audit.verdict is Verdict.PASS and audit.evidence is not EvidenceKind.EXHAUSTIVE
        else ""
    )
    return Markup('<span class="badge {}{}">{} {}</span>').format(
        audit.verdict.value, weak, sign, wording.verdict_phrase(audit)
    )


def _timings(result: Result) -> str:
    timings = result.timings
    workers = f"{timings.jobs} worker{'' if timings.jobs == 1 else 's'}"
    text = f"Started {timings.started}, took {timings.seconds:.1f} s with {workers}."
    names = {audit.replay: wording.full_name(audit) for audit in result.audits}
    slowest = sorted(timings.audits.items(), key=lambda item: (-item[1], item[0]))[:5]
    if len(names) > 1 and slowest:
        text += (
            f" Slowest: {'; '.join(f'{names.get(key, key)} {seconds:.1f} s' for key, seconds in slowest)}."
        )
    return text


def _for_reading(text: str) -> str:
    """Indented JSON with each list of numbers on one line: no real newline stands within a JSON string."""
    return re.sub(r'\[\n\s*([^][{}"]*?)\n\s*\]', lambda m: "[" + re.sub(r",\s+", ", ", m[1]) + "]", text)


def _for_script(text: str) -> Markup:
    """JSON for a script element: compact, and without anything that could end the element."""
    compact = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        compact = compact.replace(character, f"\\u{ord(character):04x}")
    return Markup(compact)
