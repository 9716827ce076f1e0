"""Figures for audits of half-spaces: the examples, the best angles on both datasets, and the returned angles."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpaudit.language import Dataset, Multiset
from dpaudit.plans.plan import Seen
from dpaudit.results.figures import Drawing, Layer, Panel, line
from dpaudit_algorithms.half_spaces.angles import AngleGrid, Sine
from dpaudit_algorithms.half_spaces.half_spaces import examples, qualities
from dpaudit_audits.half_spaces.plane_figures import arrow, dial, only_one_has, records


@dataclass(frozen=True)
class AngleOf:
    """The angle of an output: an index into the grid, the first of several indices, or without a grid a vector."""

    sine: Sine | None

    def __call__(self, output: Any) -> float:
        if self.sine is None:
            return math.atan2(output[1], output[0])
        index: int = output[0] if isinstance(output, tuple) else output
        return index * AngleGrid(self.sine).gamma


@dataclass(frozen=True)
class HalfspaceFigure:
    """The examples of both datasets, with φ* of each if there is a grid; and the returned angles.

    Args:
        angle: maps an output to its angle.
        plane: whether the examples lie in the plane and can be drawn.
    """

    angle: AngleOf
    plane: bool = True

    def __call__(self, seen: Seen) -> Drawing | None:
        if not seen.kind:
            return None
        pair = seen.pair
        panels = [self._examples(pair.left, pair.right)] if self.plane else []
        angles = [self.angle(value) for value in seen.values]
        panels.append(dial("Angles returned", angles, seen.left, seen.right, seen.event))
        p, q = seen.probability
        summary = f"The event, an arc of angles, has probability {p:.3g} under D and {q:.3g} under D′."
        return Drawing(f"Outputs on both datasets, as directions of the normal vector. {summary}", summary, panels)

    def _examples(self, left: Dataset, right: Dataset) -> Panel:
        both = [*(row for data in (left, right) for row in Multiset.of(data).values)]
        most = {row: max(dict(Multiset.of(d).items).get(row, 0) for d in (left, right)) for row in dict.fromkeys(both)}
        groups = [
            (f"label {y}", mark, [row[0] for row, times in most.items() if row[1] == y for _ in range(times)])
            for y, mark in ((1, "dot"), (-1, "ring"))
        ]
        layers = records(groups, [row[0] for row in only_one_has(left, right)])  # type: ignore[index]
        reach = max((max(map(abs, x)) for x, _ in both), default=1)
        layers.append(line([(-reach, 0), (reach, 0)], [(0, -reach), (0, reach)], style="quiet"))
        if self.angle.sine is not None:
            layers += [self._star(left, "left", "D", reach), self._star(right, "right", "D′", reach)]
        return Panel(f"Examples: {len(left)} in D, {len(right)} in D′", "x₁", "x₂", layers, square=True)

    def _star(self, data: Dataset, style: str, name: str, reach: float) -> Layer:
        """The last of the best angles, φ*."""
        assert self.angle.sine is not None
        q = qualities(self.angle.sine, examples(data))
        best = max(i for i in range(len(q)) if q[i] == q.max())
        return line(arrow(best * AngleGrid(self.angle.sine).gamma, 0.8 * reach), style=style, label=f"φ*, {name}")


def angles_of(sine: Sine | None, *, plane: bool = True) -> Callable[[Seen], Drawing | None]:
    """The figure for outputs that are angles of a grid, or normal vectors if `sine` is None."""
    return HalfspaceFigure(AngleOf(sine), plane)
