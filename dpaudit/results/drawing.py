"""Pictures of an audit in the terms of its problem: points, angles, regions, qualities, and what came out of them.

An audits file gives a case a function from what was `Seen` to a `Drawing`, which is made of dots, lines and areas
alone; it is data like all other results, and a report renders it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from dpaudit.errors import ParameterError
from dpaudit.results.kinds import NonNegative, Probability

KINDS = ("dots", "line", "area")
STYLES = ("left", "right", "event", "claim", "data", "quiet")
"""left, right: of the two datasets; event: shaded; claim: what is promised; data: records; quiet: axes and the like."""
MARKS = ("dot", "ring", "square", "box", "cross", "halo")
"""dot and square are filled, ring and box are not; halo is a wide ring about what changed."""


@dataclass(frozen=True)
class Layer:
    """One element of a panel.

    Args:
        kind: one of `KINDS`.
        style: one of `STYLES`.
        x, y: shape (k,); a line or area ends where both are None, and another begins.
        label: in the legend; "" for none.
        mark: of dots, one of `MARKS`.
        sizes: of dots, how many each stands for, shape (k,); empty for one each.
        strength: of an area, in [0, 1]: how dark it is.

    Raises:
        ParameterError: another kind, style or mark, numbers that are not finite, or lists of different lengths.
    """

    kind: str
    style: str
    x: list[float | None]
    y: list[float | None]
    label: str = ""
    mark: str = "dot"
    sizes: list[NonNegative] = field(default_factory=list)
    strength: Probability = 1.0

    def __post_init__(self) -> None:
        for what, given, known in (("kind", self.kind, KINDS), ("style", self.style, STYLES),
                                   ("mark", self.mark, MARKS)):
            if given not in known:
                raise ParameterError(f"The {what} of a layer is one of {', '.join(known)}, not {given!r}.")
        if len(self.x) != len(self.y) or (self.sizes and len(self.sizes) != len(self.x)):
            raise ParameterError(f"A layer has {len(self.x)} values of x, {len(self.y)} of y, {len(self.sizes)} sizes.")
        if not all(v is None or math.isfinite(v) for v in (*self.x, *self.y, *self.sizes, self.strength)):
            raise ParameterError("A layer takes finite numbers.")


@dataclass(frozen=True)
class Panel:
    """A picture with axes named `x` and `y`, or with none where both names are "".

    `square` where both axes have one unit and stand for a plane.
    """

    title: str
    """What it shows."""
    x: str
    """What the horizontal axis is of."""
    y: str
    """What the vertical axis is of."""
    layers: list[Layer]
    """From the back to the front."""
    square: bool = False
    """Whether both axes have one unit and stand for a plane."""


@dataclass(frozen=True)
class Drawing:
    """Panels side by side, under one caption.

    Args:
        caption: what is to be seen, and what it means; a sentence or two.
        description: the same for those who cannot see it: the numbers that matter.
    """

    caption: str
    description: str
    panels: list[Panel]
    """The pictures, from left to right."""


def dots(
    points: Iterable[tuple[float, float]], style: str, label: str = "", *, mark: str = "dot",
    sizes: Iterable[float] = (),
) -> Layer:
    """Points (x, y)."""
    at = list(points)
    xs, ys = [float(x) for x, _ in at], [float(y) for _, y in at]
    return Layer("dots", style, list(xs), list(ys), label, mark, [float(s) for s in sizes])


def line(*courses: Iterable[tuple[float, float]], style: str, label: str = "") -> Layer:
    """Lines through points (x, y), each course apart from the others."""
    return Layer("line", style, *_joined(courses), label)


def area(*borders: Iterable[tuple[float, float]], style: str, label: str = "", strength: float = 1.0) -> Layer:
    """Areas within borders through points (x, y)."""
    return Layer("area", style, *_joined(borders), label, strength=strength)


def _joined(courses: Iterable[Iterable[tuple[float, float]]]) -> tuple[list[float | None], list[float | None]]:
    x: list[float | None] = []
    y: list[float | None] = []
    for course in courses:
        if x:
            x.append(None)
            y.append(None)
        for a, b in course:
            x.append(float(a))
            y.append(float(b))
    return x, y
