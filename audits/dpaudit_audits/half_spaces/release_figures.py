"""Figures for audits of query release and rectangles: cumulative shares, and boxes over labelled examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.language import Multiset
from dpaudit.plans.plan import Seen
from dpaudit.results.figures import Drawing, Layer, Panel, area, line
from dpaudit_algorithms.half_spaces.learn_rectangles import Cell
from dpaudit_algorithms.half_spaces.release_thresholds_theory import distance
from dpaudit_audits.half_spaces.plane_figures import Place, only_one_has, records

RELEASES = 3
"""Releases per dataset, drawn as lines."""
BOXES = 4
"""Rectangles per dataset, drawn as borders."""


@dataclass(frozen=True)
class ReleaseFigure:
    """For both datasets: the share of records up to x, ± α, in the data and in some releases.

    Args:
        size: |X|.
        alpha: the guaranteed accuracy of the releases.
    """

    size: int
    alpha: float

    def __call__(self, seen: Seen) -> Drawing | None:
        if not seen.kind:
            return None
        panels, errors = [], []
        for name, style, data, masses in (
            ("D", "left", seen.pair.left, seen.left),
            ("D′", "right", seen.pair.right, seen.right),
        ):
            data = Multiset.of(data)
            shown = _likeliest(seen.values, masses, RELEASES)
            off = [float(distance(data, value)) for value in shown]
            errors.append(f"on {name} by up to {max(off, default=0):.2g}")
            curve = shares(data, self.size)
            band = [(x, min(1.0, y + self.alpha)) for x, y in curve]
            band += [(x, max(0.0, y - self.alpha)) for x, y in reversed(curve)]
            layers = [area(band, style="event", label=f"± {self.alpha:g}", strength=0.35)]
            layers.append(line(curve, style=style, label=name))
            if shown:
                layers.append(line(*(shares(value, self.size) for value in shown), style="data", label="released"))
            panels.append(Panel(f"{len(data):,} records of {name}", "x", "share of records ≤ x", layers))
        caption = (
            f"The share of records up to every point, in the data and in {RELEASES} releases of each dataset; "
            f"the band is the guaranteed accuracy. The drawn releases err: {', '.join(errors)}."
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
    """Labelled examples in the plane, the target, and the rectangles learned from both datasets.

    Args:
        target: (a, b), the rectangle that labels the examples, except changed ones.
    """

    target: tuple[Cell, Cell]

    def __call__(self, seen: Seen) -> Drawing | None:
        if not seen.kind:
            return None
        both = [dict(Multiset.of(data).items) for data in (seen.pair.left, seen.pair.right)]
        most = {row: max(side.get(row, 0) for side in both) for row in dict.fromkeys([*both[0], *both[1]])}
        groups = [
            # the number of dots only sets their size; a hundred are enough
            (f"label {y}", mark, [x for (x, label), k in most.items() if label == y for _ in range(_few(k, most))])
            for y, mark in ((1, "dot"), (0, "ring"))
        ]
        changed = [row[0] for row in only_one_has(seen.pair.left, seen.pair.right)]  # type: ignore[index]
        examples = records(groups, changed)
        panels, descriptions = [], []
        for name, style, masses in (("D", "left", seen.left), ("D′", "right", seen.right)):
            shown = _likeliest(seen.values, masses, BOXES)
            mass = sum(masses[i] for i, value in enumerate(seen.values) if value in shown)
            boxes = [_border(value, 0.5 - 0.06 * i) for i, value in enumerate(shown) if not _empty(value)]
            layers: list[Layer] = [*examples, line(_border(self.target, 0.56), style="claim", label="target")]
            if boxes:
                layers.append(line(*boxes, style=style, label=f"learned, {name}"))
            empty = f", {sum(map(_empty, shown))} of them empty" if any(map(_empty, shown)) else ""
            some = f"{len(shown)} rectangle{'' if len(shown) == 1 else 's'}"
            descriptions.append(f"{name}: {some}{empty} with probability {mass:.2g}")
            panels.append(Panel(f"Learned on {name}", "x₁", "x₂", layers, square=True))
        p, q = seen.probability
        caption = (
            f"Examples, the target, and the most probable rectangles on each dataset ({'; '.join(descriptions)}). "
            f"The event has probability {p:.3g} under D and {q:.3g} under D′."
        )
        return Drawing(caption, caption, panels)


def _likeliest(values: Sequence[Any], masses: Sequence[float], many: int) -> list[Any]:
    order = sorted((i for i, mass in enumerate(masses) if mass > 0), key=lambda i: (-masses[i], i))
    return [values[i] for i in order[:many]]


def _few(count: int, most: dict[Any, int]) -> int:
    """`count` in hundredths of the largest count, at least 1."""
    unit = max(1, max(most.values()) // 100)
    return max(1, count // unit)


def _empty(box: Any) -> bool:
    return any(a > b for a, b in zip(*box, strict=True))


def _border(box: Any, reach: float) -> list[Place]:
    """A rectangle's border, `reach` outside its points."""
    (x0, y0), (x1, y1) = box
    x0, y0, x1, y1 = x0 - reach, y0 - reach, x1 + reach, y1 + reach
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
