"""Drawings of audits of query release and of rectangles: shares up to every point, and boxes over labelled examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.language import Multiset
from dpaudit.plans.plan import Seen
from dpaudit.results.figures import Drawing, Layer, Panel, area, line
from dpaudit_algorithms.half_spaces.learn_rectangles import Cell
from dpaudit_algorithms.half_spaces.release_thresholds import distance
from dpaudit_audits.half_spaces.plane_figures import Place, only_one_has, records

RELEASES = 3
"""Of each dataset, drawn as lines."""
BOXES = 4
"""Of each dataset, drawn as borders."""


@dataclass(frozen=True)
class ReleaseFigure:
    """For each of the two datasets: the share of its records up to x, ± α, and that of some of its releases.

    Args:
        size: |X|.
        alpha: what the releases are promised to be within.
    """

    size: int
    alpha: float

    def __call__(self, seen: Seen) -> Drawing | None:
        if not seen.kind:
            return None
        panels, told = [], []
        for side, data, masses in (("left", seen.pair.left, seen.left), ("right", seen.pair.right, seen.right)):
            data = Multiset.of(data)
            shown = _likeliest(seen.values, masses, RELEASES)
            off = [float(distance(data, value)) for value in shown]
            told.append(f"those of {side} by up to {max(off, default=0):.2g}")
            course = shares(data, self.size)
            band = [(x, min(1.0, y + self.alpha)) for x, y in course]
            band += [(x, max(0.0, y - self.alpha)) for x, y in reversed(course)]
            layers = [area(band, style="event", label=f"± {self.alpha:g}", strength=0.35)]
            layers.append(line(course, style=side, label=side))
            if shown:
                layers.append(line(*(shares(value, self.size) for value in shown), style="data", label="released"))
            panels.append(Panel(f"{len(data):,} records of {side}", "x", "share of records ≤ x", layers))
        caption = (
            f"The share of records up to every point, in the data and in {RELEASES} releases of each dataset; "
            f"the band is what is promised. The releases drawn are off by: {', '.join(told)}."
        )
        return Drawing(caption, caption, panels)


def shares(data: Multiset, size: int) -> list[Place]:
    """The corners of the share of records ≤ x, for x in 0, …, size − 1."""
    total, n, corners = 0, len(data), [(-0.5, 0.0)]
    for value, count in data.items:
        corners += [(value - 0.5, total / n), (value - 0.5, (total + count) / n)]
        total += count
    return [*corners, (size - 0.5, total / n)]


@dataclass(frozen=True)
class BoxFigure:
    """Labelled examples in the plane, the target, and the rectangles that are learned from either dataset.

    Args:
        target: (a, b), the rectangle that labels most of the examples.
    """

    target: tuple[Cell, Cell]

    def __call__(self, seen: Seen) -> Drawing | None:
        if not seen.kind:
            return None
        both = [dict(Multiset.of(data).items) for data in (seen.pair.left, seen.pair.right)]
        most = {row: max(side.get(row, 0) for side in both) for row in dict.fromkeys([*both[0], *both[1]])}
        groups = [
            # the number of dots is for their size alone: a hundred of them are enough
            (f"label {y}", mark, [x for (x, label), k in most.items() if label == y for _ in range(_few(k, most))])
            for y, mark in ((1, "dot"), (0, "ring"))
        ]
        changed = [row[0] for row in only_one_has(seen.pair.left, seen.pair.right)]  # type: ignore[index]
        examples = records(groups, changed)
        panels, told = [], []
        for side, masses in (("left", seen.left), ("right", seen.right)):
            shown = _likeliest(seen.values, masses, BOXES)
            mass = sum(masses[i] for i, value in enumerate(seen.values) if value in shown)
            boxes = [_border(value, 0.5 - 0.06 * i) for i, value in enumerate(shown) if not _empty(value)]
            layers: list[Layer] = [*examples, line(_border(self.target, 0.56), style="claim", label="target")]
            if boxes:
                layers.append(line(*boxes, style=side, label=f"learned, {side}"))
            empty = f", {sum(map(_empty, shown))} of them empty" if any(map(_empty, shown)) else ""
            some = f"{len(shown)} rectangle{'' if len(shown) == 1 else 's'}"
            told.append(f"{side}: {some}{empty} with {mass:.2g} of the outputs")
            panels.append(Panel(f"Learned on {side}", "x₁", "x₂", layers, square=True))
        p, q = seen.probability
        caption = (
            f"Examples, the target, and the likeliest rectangles on either dataset ({'; '.join(told)}). "
            f"The event has probability {p:.3g} on left and {q:.3g} on right."
        )
        return Drawing(caption, caption, panels)


def _likeliest(values: Sequence[Any], masses: Sequence[float], many: int) -> list[Any]:
    order = sorted((i for i, mass in enumerate(masses) if mass > 0), key=lambda i: (-masses[i], i))
    return [values[i] for i in order[:many]]


def _few(count: int, most: dict[Any, int]) -> int:
    """`count` in units of a hundredth of the greatest, at least 1."""
    unit = max(1, max(most.values()) // 100)
    return max(1, count // unit)


def _empty(box: Any) -> bool:
    return any(a > b for a, b in zip(*box, strict=True))


def _border(box: Any, reach: float) -> list[Place]:
    """A rectangle's border, `reach` outside of the points that it holds."""
    (x0, y0), (x1, y1) = box
    x0, y0, x1, y1 = x0 - reach, y0 - reach, x1 + reach, y1 + reach
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
