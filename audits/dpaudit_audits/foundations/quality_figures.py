"""Drawings of audits of algorithms that choose by a quality: its two curves, and the outputs on both datasets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dpaudit.language import AnyScores, IntegerRange, Scores
from dpaudit.plans.plan import Seen
from dpaudit.results.figures import Drawing, Layer, Panel, area, line

MOST_POINTS = 240
"""Of a curve; more are not visible."""


@dataclass(frozen=True)
class QualityFigure:
    """The scores of all solutions, which are whole numbers, on both datasets; and the output's distribution function.

    Args:
        quality: dataset → scores.
        solution: what a solution is, for the axes: "threshold j".
        score: what a score is: "consistent examples".
    """

    quality: Callable[[Any], AnyScores]
    solution: str
    score: str

    def __call__(self, seen: Seen) -> Drawing | None:
        sides = [_pieces(self.quality(data)) for data in (seen.pair.left, seen.pair.right)]
        low = min(start for side in sides for start, _, _ in side)
        stop = max(end for side in sides for _, end, _ in side)
        # far more solutions than are chosen from: the part where something happens
        low, stop = _interesting(sides, low, stop)
        inside = _stretches(seen, low, stop)
        values = [v for side in sides for start, end, v in side if end > low and start < stop]
        bottom, top = min(values), max(values)
        top = max(top, bottom + 1)
        panels = [
            Panel(
                "Quality on the two datasets", self.solution, self.score,
                [
                    *_shaded(inside, bottom, top),
                    line(_course(sides[0], low, stop), style="left", label="D"),
                    line(_course(sides[1], low, stop), style="right", label="D′"),
                ],
            ),
            Panel(
                "Change of the score", self.solution, "D′ − D",
                [
                    *_shaded(inside, -1.0, 1.0),
                    line(_course(_difference(*sides), low, stop), style="left", label="difference"),
                ],
            ),
        ]
        p, q = seen.probability
        event_text = ""
        if seen.kind:
            panels.append(
                Panel(
                    "Outputs",
                    self.solution,
                    "Pr[output ≤ j]" if seen.kind == "exact" else "share of outputs ≤ j",
                    [
                        *_shaded(inside, 0.0, 1.0),
                        line(_below(seen.values, seen.left, low, stop), style="left", label="D"),
                        line(_below(seen.values, seen.right, low, stop), style="right", label="D′"),
                    ],
                )
            )
            event_text = f" The event has probability {p:.3g} under D and {q:.3g} under D′."
        caption = f"The quality on the two datasets, and the outputs of choosing by it.{event_text}"
        return Drawing(caption, f"Best score: {max(v for *_, v in sides[0]):g} under D, "
                       f"{max(v for *_, v in sides[1]):g} under D′.{event_text}", panels)


def _pieces(scores: AnyScores) -> list[tuple[int, int, float]]:
    """(start, stop, score), ascending."""
    steps = scores.steps if isinstance(scores, Scores) else scores
    return list(zip(steps.starts.tolist(), steps.stops.tolist(), steps.values.tolist(), strict=True))


def _difference(
    left: list[tuple[int, int, float]], right: list[tuple[int, int, float]]
) -> list[tuple[int, int, float]]:
    """The second less the first, in pieces."""
    ends = sorted({end for side in (left, right) for piece in side for end in piece[:2]})
    pieces: list[tuple[int, int, float]] = []
    i = j = 0
    for start, stop in pairwise(ends):
        while i < len(left) - 1 and left[i][1] <= start:
            i += 1
        while j < len(right) - 1 and right[j][1] <= start:
            j += 1
        value = right[j][2] - left[i][2]
        if pieces and pieces[-1][2] == value:
            pieces[-1] = (pieces[-1][0], stop, value)
        else:
            pieces.append((start, stop, value))
    return pieces


def _interesting(sides: Sequence[list[tuple[int, int, float]]], low: int, stop: int) -> tuple[int, int]:
    """All solutions where they are few; else those around the places where the scores change."""
    changes = sorted({start for side in sides for start, _, _ in side[1:]})
    if not changes or stop - low <= 64:
        return low, stop
    room = max(8, (changes[-1] - changes[0]) // 4)
    return max(low, changes[0] - room), min(stop, changes[-1] + room)


def _course(side: list[tuple[int, int, float]], low: int, stop: int) -> list[tuple[float, float]]:
    """The corners of the steps within [low, stop)."""
    corners: list[tuple[float, float]] = []
    for start, end, value in side:
        if end > low and start < stop:
            corners += [(max(start, low) - 0.5, value), (min(end, stop) - 0.5, value)]
    return corners if len(corners) <= MOST_POINTS else corners[:: -(-len(corners) // MOST_POINTS)]


def _below(values: Sequence[Any], masses: Sequence[float], low: int, stop: int) -> list[tuple[float, float]]:
    """The distribution function of outputs, within [low, stop): straight along a span."""
    ends = [(v.start, v.stop) if isinstance(v, IntegerRange) else (v, v + 1) for v in values if not isinstance(v, str)]
    order = sorted(range(len(ends)), key=lambda i: ends[i])
    total, corners = 0.0, [(low - 0.5, 0.0)]
    for i in order:
        start, end = ends[i]
        if start >= stop:
            break
        part = masses[i]
        if end - start > 1:
            corners += [(max(start, low) - 0.5, total), (min(end, stop) - 0.5, total + part)]
        elif end > low:
            corners += [(start, total), (start, total + part)]
        total += part
    corners.append((stop - 0.5, total))
    if len(corners) <= MOST_POINTS:
        return corners
    heights = np.array([y for _, y in corners])
    # as many steps up as can be seen
    kept = np.unique(np.concatenate([[0, len(corners) - 1], np.flatnonzero(np.diff(np.floor(heights * 100)) > 0) + 1]))
    return [corners[i] for i in kept.tolist()]


def _stretches(seen: Seen, low: int, stop: int) -> list[tuple[int, int]]:
    """The event as stretches of whole numbers within [low, stop)."""
    inside = sorted(
        (max(v.start, low), min(v.stop, stop)) if isinstance(v, IntegerRange) else (v, v + 1)
        for v, marked in zip(seen.values, seen.event, strict=True)
        if marked and isinstance(v, int | IntegerRange)
    )
    merged: list[tuple[int, int]] = []
    for start, end in inside:
        if start >= end or end <= low or start >= stop:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _shaded(stretches: list[tuple[int, int]], bottom: float, top: float) -> list[Layer]:
    boxes = [
        [(a - 0.5, bottom), (b - 0.5, bottom), (b - 0.5, top), (a - 0.5, top)] for a, b in stretches[:60]
    ]
    if not boxes:
        return []
    under = line(*([(a - 0.5, bottom), (b - 0.5, bottom)] for a, b in stretches[:60]), style="event")
    return [area(*boxes, style="event", label="event", strength=0.5), under]
