"""Figures for audits of A_LearnHalf in the plane: public and private points, and the learned regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.language import PRIVATE, PUBLIC, Dataset, Multiset
from dpaudit.plans.plan import Seen
from dpaudit.results.figures import Drawing, Layer, Panel, area, line
from dpaudit_algorithms.mixtures.mixtures import LearnHalf
from dpaudit_algorithms.mixtures.mixtures_class import Hypothesis
from dpaudit_audits.half_spaces.plane_figures import Halfplane, Place, box_around, only_one_has, records, region

REGIONS = 10
"""Number of most probable hypotheses drawn."""


@dataclass(frozen=True)
class MixtureFigure:
    """Both datasets, with the regions that the most probable hypotheses label 0; darker means more probable.

    Args:
        learner: a learner in the plane.
    """

    learner: LearnHalf

    def __call__(self, seen: Seen) -> Drawing | None:
        pair = seen.pair
        places = [_at(row) for data in (pair.left, pair.right) for row in Multiset.of(data).values]
        box = box_around(places, 0.25)
        changed = [_at(row) for row in only_one_has(pair.left, pair.right)]
        panels = [
            self._side(name, style, data, seen.values, masses, box, changed)
            for name, style, data, masses in (
                ("D", "left", pair.left, seen.left),
                ("D′", "right", pair.right, seen.right),
            )
        ]
        best = [max(masses, default=0.0) for masses in (seen.left, seen.right)]
        p, q = seen.probability
        summary = f"The most probable hypothesis has probability {best[0]:.2g} under D and {best[1]:.2g} under D′"
        if seen.kind:
            summary += f"; the event has {p:.3g} and {q:.3g}"
        return Drawing(
            f"The regions that the {REGIONS} most probable hypotheses label 0 on each dataset; darker means more "
            f"probable. The rest of the plane is labelled 1. {summary}.",
            f"{summary}.",
            panels,
        )

    def _side(
        self,
        name: str,
        style: str,
        data: Dataset,
        values: Sequence[int],
        masses: Sequence[float],
        box: tuple[float, float, float, float],
        changed: list[Place],
    ) -> Panel:
        top = sorted(range(len(values)), key=lambda i: -masses[i])[:REGIONS]
        together = sum(masses[i] for i in top)
        layers: list[Layer] = []
        for i in top:
            if masses[i] > 0:
                # keep the layers transparent even if all overlap
                strength = max(0.04, 0.6 * masses[i] / together)
                g = self.learner.hypothesis(data, int(values[i]))
                layers += _labelled_0(g, box, style, "" if layers else "labelled 0", strength)
        rows = [row for row, times in Multiset.of(data).items for _ in range(times)]
        groups = [
            (f"{kind}, label {y}", mark, [_at(row) for row in rows if row[2] == bit and row[1] == y])
            for kind, bit, marks in (("public", PUBLIC, ("box", "square")), ("private", PRIVATE, ("ring", "dot")))
            for y, mark in enumerate(marks)
        ]
        return Panel(f"{name}: {len(rows)} records", "x₁", "x₂", layers + records(groups, changed), square=True)


def _labelled_0(
    g: Hypothesis, box: tuple[float, float, float, float], style: str, label: str, strength: float
) -> list[Layer]:
    if g.halfspaces is None or g.flipped:
        return []
    planes: list[Halfplane] = [(float(a), float(b), float(c)) for a, b, c in g.halfspaces]
    for a, b, c in g.equations:
        planes += [(float(a), float(b), float(c)), (-float(a), -float(b), -float(c))]
    corners = region(planes, box)
    if not corners:
        return []
    if g.equations:
        return [line(corners, style=style, label=label)]
    return [area(corners, style=style, label=label, strength=strength)]


def _at(row: object) -> Place:
    assert isinstance(row, tuple)
    x, y = row[0]
    return float(x), float(y)
