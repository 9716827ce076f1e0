"""Parts of figures for audits in the plane: records, a dial of angles, and intersections of halfplanes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from dpaudit.language import Dataset, Multiset
from dpaudit.results.figures import Layer, Panel, area, dots, line

Place: TypeAlias = tuple[float, float]
Halfplane: TypeAlias = tuple[float, float, float]
"""(w₀, w₁, w₂): the points with w₁·x + w₂·y ≥ w₀."""
BINS = 96
"""Largest number of bars of a dial; with more angles, neighbours are merged."""
LONGEST = 0.55
"""Length of the longest bar of a dial, whose circle has radius 1."""


def records(groups: Sequence[tuple[str, str, Iterable[Place]]], changed: Iterable[Place] = ()) -> list[Layer]:
    """Records as dots whose size grows with the number of records.

    Args:
        groups: (label, mark, places) of every kind of record.
        changed: places of records that differ between the two datasets; they get a halo.
    """
    layers = []
    for label, mark, places in groups:
        counts = Counter(places)
        if counts:
            layers.append(dots(counts, "data", label, mark=mark, sizes=counts.values()))
    halo = list(dict.fromkeys(changed))
    if halo:
        layers.append(dots(halo, "left", "differs", mark="halo"))
    return layers


def only_one_has(left: Dataset, right: Dataset) -> list[object]:
    """Records that occur more often in one dataset than in the other."""
    a, b = dict(Multiset.of(left).items), dict(Multiset.of(right).items)
    return [value for value in dict.fromkeys([*a, *b]) if a.get(value, 0) != b.get(value, 0)]


def dial(
    title: str, angles: Sequence[float], left: Sequence[float], right: Sequence[float], event: Sequence[bool]
) -> Panel:
    """Output angles around a circle: bars outward for D, inward for D′, with lengths proportional to probability.

    Args:
        angles: angle of every output in radians, shape (k,).
        left, right: probability of every output under D and D′, shape (k,).
        event: whether every output is in the event, shape (k,); each is drawn as an arc of the circle.
    """
    full = 2 * math.pi
    different = len({round(a % full, 9) for a in angles})
    together = -(-different // BINS)
    bins = max(8, different // together)
    # a bar for one angle points at the angle, a merged bar at the middle of its angles
    shift = 0.0 if together > 1 else 0.5
    at = [int((a % full) / full * bins + shift + 1e-9) % bins for a in angles]
    masses = [[0.0] * bins, [0.0] * bins]
    inside, outside = [0.0] * bins, [0.0] * bins
    for place, p, q, marked in zip(at, left, right, event, strict=True):
        masses[0][place] += p
        masses[1][place] += q
        (inside if marked else outside)[place] += p + q + 1e-12
    longest = max(max(side) for side in masses) or 1.0
    half = 0.42 * full / bins

    def bar(place: int, height: float, inward: bool) -> list[Place]:
        middle, reach = (place + 0.5 - shift) * full / bins, LONGEST * height / longest
        far = 1 - reach if inward else 1 + reach
        return [_on(middle - half, 1), _on(middle - half, far), _on(middle + half, far), _on(middle + half, 1)]

    circle = [_on(i * full / 180, 1.0) for i in range(181)]
    layers = [line(circle, style="quiet"), line([(-1.6, 0), (1.6, 0)], [(0, -1.6), (0, 1.6)], style="quiet")]
    for style, inward in (("left", False), ("right", True)):
        bars = [bar(i, mass, inward) for i, mass in enumerate(masses[inward]) if mass > longest / 400]
        if bars:
            layers.append(area(*bars, style=style, label="D′ (inward)" if inward else "D (outward)"))
    arcs = [
        [_on((i - shift + step / 4) * full / bins, 1.0) for step in range(5)]
        for i in range(bins)
        if inside[i] > outside[i]
    ]
    if arcs:
        layers.append(line(*_together(arcs), style="event", label="event"))
    return Panel(f"{title}; longest bar {longest:.2g}", "", "", layers, square=True)


def arrow(angle: float, length: float = 1.0) -> list[Place]:
    """An arrow from the origin in a direction."""
    tip = _on(angle, length)
    heads = [(tip[0] - 0.12 * length * math.cos(angle + turn), tip[1] - 0.12 * length * math.sin(angle + turn))
             for turn in (0.4, -0.4)]
    return [(0.0, 0.0), tip, heads[0], tip, heads[1]]


def region(halfplanes: Iterable[Halfplane], box: tuple[float, float, float, float]) -> list[Place]:
    """The corners of the intersection of halfplanes with a box (x₀, y₀, x₁, y₁); [] if it is empty.

    The corners are rounded, for figures only.
    """
    x0, y0, x1, y1 = box
    corners: list[Place] = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    for w0, w1, w2 in halfplanes:
        kept: list[Place] = []
        for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
            a, b = w1 * ax + w2 * ay - w0, w1 * bx + w2 * by - w0
            if a >= 0:
                kept.append((ax, ay))
            if (a > 0 > b) or (a < 0 < b):
                share = a / (a - b)
                kept.append((ax + share * (bx - ax), ay + share * (by - ay)))
        corners = kept
    return corners


def box_around(places: Iterable[Place], room: float = 0.15) -> tuple[float, float, float, float]:
    """A square around places, with a margin."""
    known = list(places) or [(0.0, 0.0)]
    xs, ys = [x for x, _ in known], [y for _, y in known]
    reach = (max(max(xs) - min(xs), max(ys) - min(ys)) or 2.0) * (0.5 + room)
    x, y = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    return x - reach, y - reach, x + reach, y + reach


def _on(angle: float, radius: float) -> Place:
    return radius * math.cos(angle), radius * math.sin(angle)


def _together(arcs: list[list[Place]]) -> list[list[Place]]:
    """Join arcs that touch."""
    joined: list[list[Place]] = []
    for arc in arcs:
        if joined and math.dist(joined[-1][-1], arc[0]) < 1e-9:
            joined[-1] += arc[1:]
        else:
            joined.append(list(arc))
    return joined
