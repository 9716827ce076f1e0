"""The numbers behind the figures of a report, and an audits file's own drawing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit.adversary import Event
from dpaudit.evidence.density import Exact
from dpaudit.evidence.exact import PairLaws
from dpaudit.evidence.findings import Findings
from dpaudit.evidence.sampled import Certified
from dpaudit.evidence.sequential import Sequential
from dpaudit.interpret import Outputs
from dpaudit.language import Claim, Curve, IntegerRange, ZeroConcentrated
from dpaudit.language.distributions import plain
from dpaudit.outputs.canonical import label
from dpaudit.outputs.plain_json import abridged
from dpaudit.outputs.ranges import wholes
from dpaudit.plans.plan import Seen
from dpaudit.results.figures import BoundPlot, Drawing, EvidencePlot, OutputPlot, ProfilePlot, rounded
from dpaudit.results.model import ExactEvidence, SampledEvidence
from dpaudit.stats import clopper_pearson
from dpaudit.stats.arrays import FloatArray

POINTS = 81
SHOWN_OUTCOMES = 40
BINS = 40
FARTHEST = 1e307
WIDE = 1 << 32
"""A range wider than this has bins of about equal mass: in those of equal width all that matters might be one bin."""
WITHOUT_SCORE = "other outputs"
"""Label of real outputs that the event's score cannot read; they are outside."""


def profile(
    claim: Claim, exact: ExactEvidence | None, comparison: Exact | None, sampled: SampledEvidence | None
) -> ProfilePlot:
    """δ against ε: the claim's profile, the pair's exact one, and what the counts certify."""
    epsilons = [claim.epsilon]
    if exact is not None and exact.epsilon is not None:
        epsilons.append(exact.epsilon)
    if sampled is not None:
        epsilons.append(sampled.epsilon_lower)
    # the exponential of all that is drawn must be a float
    end = min(700.0, 1.25 * max(*epsilons, 0.1) if len(epsilons) > 1 else 1.5 * max(epsilons[0], 0.1))
    grid = np.unique(rounded(np.linspace(0, end, POINTS)))
    curve = certified = None
    if exact is not None and comparison is not None:
        curve = rounded(comparison.profile(exact.direction, grid))
    if sampled is not None:
        low, _ = clopper_pearson.interval(sampled.x, sampled.n, alpha=sampled.alpha)
        _, high = clopper_pearson.interval(sampled.y, sampled.m, alpha=sampled.alpha)
        certified = rounded(np.clip(low - np.exp(grid) * high, 0, 1))
    drawn = drawn_curve(claim)
    allowed = [claim.delta_at(e) for e in grid.tolist()] if drawn is None else drawn.drawn(grid.tolist())
    return ProfilePlot(grid.tolist(), rounded(allowed), curve, certified)


def drawn_curve(claim: Claim) -> Curve | None:
    """The curve that figures draw for a claim; None for one (ε, δ). A δ of zCDP takes 30 ms, so few are computed."""
    return claim.curve if claim.rho is None else ZeroConcentrated(claim.rho)


def bound(certified: Certified, delta: float) -> BoundPlot:
    """The Clopper–Pearson bound after every chunk."""
    alpha = certified.evidence.alpha
    bounds = [clopper_pearson.epsilon_lower(*counts, delta=delta, alpha=alpha) for counts in certified.trail]
    return BoundPlot([min(counts.n, counts.m) for counts in certified.trail], bounds)


def evidence(state: Sequential) -> EvidencePlot:
    """The e-process at the claimed ε after every batch."""
    ten = math.log(10)
    return EvidencePlot(
        [n for n, _ in state.trail], rounded(log_e / ten for _, log_e in state.trail), state.threshold / ten
    )


def exact_outputs(comparison: PairLaws, event: Event) -> OutputPlot:
    """The laws of both datasets, the event marked."""
    values = plain(comparison.values)
    if len(values) > SHOWN_OUTCOMES and all(map(_binnable, values)):
        return _binned("exact", values, comparison.left, comparison.right, event)
    order = _reading_order(values)
    heavy = set(np.argsort(-(comparison.left + comparison.right), kind="stable")[:SHOWN_OUTCOMES].tolist())
    kept = [i for i in order if i in heavy]
    return OutputPlot(
        "exact",
        [abridged(label(values[i])) for i in kept],
        rounded(comparison.left[kept]),
        rounded(comparison.right[kept]),
        event.marks([values[i] for i in kept]).tolist(),
        len(values) - len(kept),
    )


def sampled_outputs(left: Outputs, right: Outputs, event: Event) -> OutputPlot:
    """Observed shares of both datasets' outputs, reals in bins, the event marked."""
    if any(outputs.blocks or outputs.others for outputs in (left, right)):
        return _real_bins(left, right, event)
    values = list(dict.fromkeys([*left.counts, *right.counts]))
    # `runs` adds up all counts, so it is asked once
    p, q = (np.array([outputs.counts.get(v, 0) for v in values]) / outputs.runs for outputs in (left, right))
    if len(values) > SHOWN_OUTCOMES and all(map(_binnable, values)):
        return _binned("sampled", values, p, q, event)
    heavy = set(np.argsort(-(p + q), kind="stable")[:SHOWN_OUTCOMES].tolist())
    kept = [i for i in _reading_order(values) if i in heavy]
    return OutputPlot(
        "sampled", [abridged(label(values[i])) for i in kept], rounded(p[kept]), rounded(q[kept]),
        event.marks([values[i] for i in kept]).tolist(), len(values) - len(kept),
    )


def drawing(draw: Callable[[Seen], Drawing | None], findings: Findings) -> Drawing | None:
    """What a case draws of its deciding pair: by the laws where they are known, else by runs."""
    best = findings.collected.best if findings.collected is not None else None
    worst = findings.worst
    if worst is not None and isinstance(exact := worst.comparison, PairLaws):
        marks = worst.event.marks(plain(exact.values)).tolist()
        values, left, right = plain(exact.values), exact.left.tolist(), exact.right.tolist()
        return draw(Seen(worst.pair, "exact", values, left, right, marks))
    if best is not None and best.shown is not None and not any(one.blocks or one.others for one in best.shown):
        counts = [outputs.counts for outputs in best.shown]
        values = list(dict.fromkeys([*counts[0], *counts[1]]))
        marks = best.learned.event.marks(values).tolist()
        # `runs` adds up all counts, so it is asked once
        runs = [outputs.runs for outputs in best.shown]
        left, right = ([c.get(v, 0) / n for v in values] for c, n in zip(counts, runs, strict=True))
        return draw(Seen(best.pair, "sampled", values, left, right, marks))
    pair = worst.pair if worst is not None else best.pair if best is not None else None
    return draw(Seen(pair, "")) if pair is not None else None


def _real_bins(left: Outputs, right: Outputs, event: Event) -> OutputPlot:
    """The event's score in bins, and outcomes without a score one by one."""
    scores, times_of = [], []
    lone: dict[object, list[float]] = {}
    for which, outputs in enumerate((left, right)):
        values, runs = list(outputs.counts), outputs.runs
        counted, counts = event.scores(values), np.array(list(outputs.counts.values()), dtype=np.float64)
        for value, number, at in zip(values, counts.tolist(), counted.tolist(), strict=True):
            if not math.isfinite(at):
                lone.setdefault(value, [0.0, 0.0])[which] = number / runs
        uncounted = np.concatenate([np.empty(0), *map(event.scores, outputs.uncounted)])
        unscored = int(np.count_nonzero(~np.isfinite(uncounted)))
        if unscored:
            lone.setdefault(WITHOUT_SCORE, [0.0, 0.0])[which] = unscored / runs
        together, weights = np.concatenate([uncounted, counted]), np.concatenate([np.ones(len(uncounted)), counts])
        scores.append(together[np.isfinite(together)])
        times_of.append(weights[np.isfinite(together)])
    labels: list[str] = []
    p: list[float] = []
    q: list[float] = []
    marked: list[bool] = []
    # what lies farther out, beyond which differences of doubles overflow, is in the first and the last bin
    pooled = np.clip(np.concatenate(scores), -FARTHEST, FARTHEST)
    if len(pooled):
        low, high = np.quantile(pooled, [0.001, 0.999])
        if not high > low:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, BINS - 1)
        ends = np.concatenate([[-np.inf], edges, [np.inf]])
        labels += [f"≤ {edges[0]:.3g}"]
        labels += [f"{(u + v) / 2:.3g}" for u, v in pairwise(edges.tolist())]
        labels += [f"> {edges[-1]:.3g}"]
        middle = np.concatenate([[edges[0] - 1e-9], (edges[:-1] + edges[1:]) / 2, [edges[-1] + 1e-9]])
        marked += [any(u < m <= v for u, v in event.intervals) for m in middle.tolist()]
        p, q = (
            (np.histogram(at, ends, weights=many)[0] / outputs.runs).tolist()
            for at, many, outputs in zip(scores, times_of, (left, right), strict=True)
        )
    outcomes = list(lone)
    shown = _reading_order(outcomes)[:SHOWN_OUTCOMES]
    inside = event.marks(outcomes)
    for i in shown:
        labels.append(abridged(label(outcomes[i])))
        p.append(lone[outcomes[i]][0])
        q.append(lone[outcomes[i]][1])
        marked.append(bool(inside[i]))
    return OutputPlot("sampled", labels, rounded(p), rounded(q), marked, len(outcomes) - len(shown))


def _binned(
    kind: str, values: Sequence[Any], left: FloatArray, right: FloatArray, event: Event
) -> OutputPlot:
    """Whole numbers in bins, whatever their size; a bin is marked when most of its mass is in the event."""
    starts = wholes(value.start if isinstance(value, IntegerRange) else value for value in values)
    stops = wholes(value.stop if isinstance(value, IntegerRange) else value + 1 for value in values)
    low, stop = int(starts.min()), int(stops.max())
    if stop - low <= WIDE:
        ends = wholes([*range(low, stop, -(-(stop - low) // BINS)), stop])
    else:
        order = np.argsort(starts, kind="stable")
        before = np.cumsum((left + right)[order]) - (left + right)[order]
        _, fresh = np.unique((before * BINS / 2).astype(np.int64), return_index=True)
        ends = np.append(starts[order][fresh], wholes([stop]))
    first = np.searchsorted(ends, starts, side="right") - 1
    reach = np.searchsorted(ends, stops, side="left") - first
    # a range reaches into several bins of equal width
    part = np.repeat(np.arange(len(first)), reach)
    at = np.repeat(first - np.cumsum(reach) + reach, reach) + np.arange(reach.sum())
    overlap = np.minimum(stops[part], ends[at + 1]) - np.maximum(starts[part], ends[at])
    share = (overlap / (stops - starts)[part]).astype(np.float64)
    weights = (left, right, (left + right) * event.marks(values))
    p, q, inside = (np.bincount(at, share * masses[part], len(ends) - 1) for masses in weights)
    labels = [str(IntegerRange(*pair)) for pair in pairwise(ends.tolist())]
    return OutputPlot(kind, labels, rounded(p), rounded(q), (inside > (p + q) / 2).tolist(), 0)


def _binnable(value: object) -> bool:
    """Whether it is a whole number, or several."""
    return (isinstance(value, int) and not isinstance(value, bool)) or isinstance(value, IntegerRange)


def _reading_order(values: Sequence[object]) -> list[int]:
    """Indices: numbers ascending, then everything else by its name."""
    def key(i: int) -> tuple[int, float, str]:
        v = values[i]
        if isinstance(v, IntegerRange):
            v = v.start
        # whole numbers beyond floats are compared as they are
        return (0, v, "") if isinstance(v, int | float) else (1, 0.0, label(v))

    return sorted(range(len(values)), key=key)

