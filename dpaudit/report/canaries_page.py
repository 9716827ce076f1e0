"""The report of an audit by canaries as one self-contained HTML file, by the templates and the style of other reports.

The same result gives the same bytes.
"""

from __future__ import annotations

import csv
import gzip
import json
from base64 import b64encode
from dataclasses import dataclass, fields
from io import StringIO
from urllib.parse import quote

from markupsafe import Markup

from dpaudit.report import plain_words, wording
from dpaudit.report.canaries import bound_numbers, canaries_title, claimed_number, interval, notes
from dpaudit.report.figures.canaries import TITLES, roc_figure, tradeoff_figure
from dpaudit.report.figures.page import page_figures
from dpaudit.report.html import environment
from dpaudit.report.numbers import count, lower, nearest, percent, small, upper
from dpaudit.results.canaries import (
    FORMAT_VERSION,
    GAUSSIAN,
    LEARNED,
    THRESHOLDS,
    Bound,
    CanaryRecord,
    GuessesRecord,
    ScoresRecord,
    kept,
)
from dpaudit.results.plain import in_json, visible

_WIDER = 1.18
"""Than the largest value: the axis of the chart."""
_LABELS = {THRESHOLDS: "all thresholds", LEARNED: "learned events", GAUSSIAN: "if Gaussian"}
"""Name of a bound → what the chart calls it."""


@dataclass(frozen=True)
class _Plot:
    title: str
    svg: Markup
    caption: str
    csv_uri: str
    csv_name: str
    field: str = "tradeoff"


@dataclass(frozen=True)
class _Bar:
    """A row of the chart of bounds; positions in percent of its width."""

    kind: str
    label: str
    value: str
    stop: float
    start: float = 0.0
    beyond: bool = False


@dataclass(frozen=True)
class _View:
    """What the chart of bounds needs."""

    scale: list[_Bar]
    claim_at: float


def canaries_page(result: CanaryRecord) -> str:
    """The report as the text of one HTML file.

    Raises `ReportError` when the result cannot be written as JSON (the report holds its own data).
    """
    drawn = _figures(result) if isinstance(result, ScoresRecord) else {}
    page = page_figures(drawn.values())
    data = in_json(json.dumps(_timeless(result), ensure_ascii=False, separators=(",", ":")))
    title = canaries_title(result)
    text = environment().get_template("canaries.html.j2").render(
        result=result,
        title=f"{title[:1].upper()}{title[1:]}",
        notes=notes(result),
        view=_scale(result),
        measured=_measured(result),
        bounds=_bounds(result),
        plots=[
            _Plot(TITLES[name], Markup(page.drawn[svg]), _captions(result)[name], _csv_uri(result), "tradeoff.csv")
            for name, svg in drawn.items() if isinstance(result, ScoresRecord)
        ],
        facts=_facts(result),
        method=_method(result),
        seed=result.samples.seed if isinstance(result, ScoresRecord) else None,
        format_version=FORMAT_VERSION,
        data=b64encode(gzip.compress(data.encode(), mtime=0)).decode(),
        shared_figures=Markup(page.shared),
        figure_rules=Markup(page.rules),
    )
    return visible(text)


def _bounds(result: CanaryRecord) -> dict[str, list[tuple[Bound, str]]]:
    """The bounds with their numbers, by what they assume."""
    by: dict[str, list[tuple[Bound, str]]] = {}
    for bound in result.bounds:
        by.setdefault(bound.assumes, []).append((bound, bound_numbers(result, bound)))
    return by


def _timeless(result: CanaryRecord) -> dict[str, object]:
    """The result as JSON's values, without the time that it took."""
    value: dict[str, object] = {**result.to_object()}
    if isinstance(samples := value.get("samples"), dict):
        value["samples"] = {key: part for key, part in samples.items() if key != "timings"}
    return value


def _figures(result: ScoresRecord) -> dict[str, str]:
    return {"tradeoff": tradeoff_figure(result, prefix="c1t"), "roc": roc_figure(result, prefix="c1r")}


def _captions(result: ScoresRecord) -> dict[str, str]:
    confidence = percent(result.confidence)
    beyond = (
        "" if result.claimed is None
        else " Hatched: where the whole band is below the claim. The verdict uses one-sided upper limits, which are a "
        "little closer to the attack than the edge of this two-sided band."
    )
    return {
        "tradeoff": "The attack \"in if the score is at least a threshold\", at every threshold. The band holds at "
        f"all thresholds at once, with {confidence} confidence.{beyond}",
        "roc": f"The same curve and band on logarithmic axes. Marks: the TPR at some FPR, each with {confidence} "
        "confidence by itself. The straight line is guessing.",
    }


def _csv_uri(result: ScoresRecord) -> str:
    out, band = StringIO(), result.tradeoff
    names = [one.name for one in fields(band)]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    at = kept(band.threshold.size)
    writer.writerows(zip(*(getattr(band, name)[at].tolist() for name in names), strict=True))
    return f"data:text/csv;charset=utf-8,{quote(out.getvalue())}"


def _of_mu(result: CanaryRecord) -> bool:
    """Whether the chart is of μ; otherwise of ε."""
    return result.mu is not None


def _measured(result: CanaryRecord) -> str:
    return "μ" if _of_mu(result) else f"ε at δ = {small(result.delta)}"


def _scale(result: CanaryRecord) -> _View:
    """The chart of the claim and the bounds; it has no rows where nothing is claimed, or another curve of guesses."""
    letter = "μ" if _of_mu(result) else "ε"
    claim = result.mu if _of_mu(result) else result.epsilon
    if claim is None:
        return _View([], 0.0)
    bars = [
        (bound, value)
        for bound in result.bounds
        for value in [bound.mu if _of_mu(result) else bound.epsilon]
        # beside a claim of μ-GDP the bound in the family is the same μ
        if value is not None and (bound.decides or not _of_mu(result))
    ]
    detectable = result.detectable_epsilon if isinstance(result, GuessesRecord) else None
    end = max(max(claim, detectable or 0.0, *(value for _, value in bars), 0.0) * _WIDER, 1e-9)

    def at(value: float) -> float:
        return round(100 * value / end, 1)

    rows = [_Bar("claim", "claim", f"{letter} = {claimed_number(claim)}", at(claim))]
    for bound, value in bars:
        shown = f"{letter} ≥ {lower(value, claim if bound.decides else None)}"
        rows.append(_Bar("certified", _LABELS.get(bound.name, "lower bound"), shown, at(value)))
    if detectable is not None:
        shown = f"{letter} ≥ {upper(detectable, claim)}"
        rows.append(_Bar("detectable", "detectable", shown, 100.0, at(detectable), beyond=True))
    return _View(rows, at(claim))


def _facts(result: CanaryRecord) -> list[tuple[str, str]]:
    if isinstance(result, ScoresRecord):
        (audit,) = result.samples.audits
        learned = plain_words.meaning(audit) or wording.headline(audit)
        counted = wording.deciding(audit)
        counts = "" if counted is None else f" Counts: {wording.counts_sentence(counted)}."
        return [
            ("scores", f"{count(result.n_in)} in the data, {count(result.n_out)} left out"),
            ("AUROC", interval(result.auroc)),
            *((f"TPR at FPR {small(fpr)}", interval(tpr)) for fpr, tpr in result.tpr_at_fpr),
            ("learned events", f"{wording.verdict_phrase(audit)}: {learned}{counts}"),
        ]
    assert isinstance(result, GuessesRecord)
    rows = [
        ("canaries", count(result.n)),
        ("guesses", f"{count(result.guessed)}; the auditor abstained on {count(result.n - result.guessed)}"),
        ("right", count(result.correct) + (
            f" ({percent(result.correct / result.guessed, digits=3)})" if result.guessed else ""
        )),
        ("theorem", result.method),
    ]
    if result.p_value is not None:
        rows.append(("p-value", nearest(result.p_value)))
    if result.detectable_epsilon is not None:
        letter = "μ" if result.mu is not None else "ε"
        rows.append((
            "detectable", f"{letter} ≥ {upper(result.detectable_epsilon)} with probability 0.9, if every guess were as "
            "good as it can be"
        ))
    return rows


def _method(result: CanaryRecord) -> list[str]:
    if isinstance(result, ScoresRecord):
        return [
            "All thresholds at once: Clopper–Pearson limits of both errors of the attack, with levels that make them "
            "hold at every threshold together, computed from the distribution of uniform order statistics (Berk and "
            "Jones 1979; Gontscharuk, Landwehr and Finner 2015; Moscovich and Nadler 2017). So the best threshold may "
            "be chosen on the same scores, at any δ, and a claim that is a curve is compared with its whole trade-off "
            "function (Dong, Roth and Su 2022, Definition 2.3). This test has 0.8 of α.",
            "Learned events: the engine learns an event on some of the scores and counts it on the others, as for "
            "recorded samples. It has the other 0.2 of α, and finds events that are no thresholds.",
            "AUROC: limits by Hoeffding's inequality for U-statistics (1963, Section 5b). TPR at FPR: order statistics "
            "of the scores left out (Wilks 1941) and Clopper–Pearson limits. Both hold for every sample size.",
            "An attack that fails proves nothing: a better one may find more.",
        ]
    assert isinstance(result, GuessesRecord)
    theorem = (
        "Right guesses are dominated by a binomial distribution with the success rate e^ε/(1 + e^ε), but for a term "
        "that grows with n·δ (Steinke, Nasr and Jagielski 2023, Theorems 5.2 and 5.3)."
        if result.method == "binomial" else
        "A recursion over the claimed trade-off function bounds the probability of so many right guesses (Mahloujifar, "
        "Melis and Chaudhuri 2024, Theorem 3.2 and Algorithm 3)."
    )
    return [theorem, "Guesses that fail prove nothing: better ones may find more."]
