"""The figures of an audit as data: the numbers of its plots, and an algorithm's own drawing.

Probabilities and curves are rounded to `DIGITS` significant digits: they are for looking at, and what is stated of an
audit stands beside them in full. A drawing is what an audits file makes of what was `Seen` of a pair: panels of dots,
lines and areas, in the terms of the problem. A report renders both.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dpaudit.errors import ParameterError
from dpaudit.results.kinds import Count, NonNegative, Positive, Probability

DIGITS = 6
"""A thousand times finer than what is drawn."""


def rounded(values: Iterable[float]) -> list[float]:
    """To the digits that figures keep."""
    return [float(f"{value:.{DIGITS}g}") for value in values]


@dataclass(frozen=True)
class ProfilePlot:
    """δ against ε on the deciding pair.  All lists have the length of `epsilon`."""

    epsilon: list[float]
    """The values of ε."""
    claim: list[float]
    """δ that the claim allows at each ε."""
    exact: list[float] | None
    """Exact δ at each ε; None without a law."""
    certified: list[float] | None
    """Lower bound on δ(ε) that the counts certify (Clopper–Pearson)."""


@dataclass(frozen=True)
class OutputPlot:
    """The output's distribution on both datasets, the event marked.

    `labels` are outcomes or bins in the order drawn; `left`, `right` their probabilities (exact or observed).
    """

    kind: str
    """"exact" or "sampled"."""
    labels: list[str]
    """Outcomes or bins, in the order drawn."""
    left: list[float]
    """Probability of each outcome on the left dataset."""
    right: list[float]
    """Probability of each outcome on the right dataset."""
    event: list[bool]
    """Whether each outcome is in the event."""
    omitted: Count
    """Outcomes of least probability left out of the figure (0 = none)."""


@dataclass(frozen=True)
class BoundPlot:
    """Clopper–Pearson lower bound on ε, at the test's α, against samples per dataset; only the last point counts."""

    runs: list[Count]
    """Samples per dataset."""
    bound: list[float]
    """Certified lower bound on ε after that many runs."""


@dataclass(frozen=True)
class EvidencePlot:
    """log10 of the e-process at the claimed ε against samples per dataset, and the height at which it refutes."""

    runs: list[Count]
    """Samples per dataset."""
    log10_e: list[float]
    """Logarithm to base 10 of its value after that many runs."""
    log10_threshold: float
    """Logarithm to base 10 of the value at which it refutes the claim."""


@dataclass(frozen=True)
class CertifiedTest:
    """Clopper–Pearson limits of both errors of the test "the output is in the event", each limit at `alpha` / 2.

    The corner (`alpha_high`, `beta_high`) is what the counts certify: with error at most `alpha` the trade-off curve
    does not run above it.  All four limits hold together with error at most 2·`alpha`.
    """

    alpha: Positive
    """Share of the family-wise error."""
    alpha_low: NonNegative
    """Lower limit of the error of the first kind."""
    alpha_high: NonNegative
    """Upper limit of it."""
    beta_low: NonNegative
    """Lower limit of the error of the second kind."""
    beta_high: NonNegative
    """Upper limit of it."""


@dataclass(frozen=True)
class TradeoffPlot:
    """Errors of the best tests that tell the deciding pair apart.  All lists have the length of `alpha`.

    What tests of both directions reach together: a curve is its own mirror in the diagonal.
    """

    alpha: list[float]
    """Error of the first kind, from 0 to 1."""
    claim: list[float]
    """The least error of the second kind that the claim leaves to any test."""
    exact: list[float] | None
    """The least one that there is on the pair; None without laws or densities."""
    certified: CertifiedTest | None
    """Of the event that was counted; None without runs."""


@dataclass(frozen=True)
class LossPlot:
    """Exact distribution of the privacy loss of the deciding pair, in bins (`above`, `above` + `width`].

    `left` is that of ln(left : right) under the left dataset, `right` that of ln(right : left) under the right one.
    The first bin also holds what is below it, the last one what is finite and above it.
    """

    kind: str
    """"exact": of enumerated laws; "density": of noise with a density."""
    above: list[float]
    """Where each bin begins."""
    width: Positive
    """Of a bin."""
    left: list[float]
    """Probability of each bin under the left dataset."""
    right: list[float]
    """Probability of each bin under the right dataset."""
    infinite_left: NonNegative
    """Probability of outputs that the other dataset does not have."""
    infinite_right: NonNegative
    """Probability under the right dataset of outputs that the left one does not have."""
    epsilon: NonNegative
    """The claimed one."""
    beyond_left: NonNegative
    """Probability of a loss above the claimed ε, infinite ones with it: at least `delta_left`."""
    beyond_right: NonNegative
    """The same under the right dataset."""
    delta_left: NonNegative
    """The least δ at the claimed ε in this direction."""
    delta_right: NonNegative
    """The least δ at the claimed ε, right against left."""


Plot: TypeAlias = ProfilePlot | TradeoffPlot | LossPlot | OutputPlot | EvidencePlot | BoundPlot
"""What belongs to one kind of chart each: its columns are lists of one length."""

PLOTS = {
    "profile": "profile_plot",
    "tradeoff": "tradeoff_plot",
    "loss": "loss_plot",
    "outputs": "output_plot",
    "evidence": "evidence_plot",
    "bound": "bound_plot",
}
"""Name of a plot → field of an audit, in the order shown."""


def columns(plot: Plot) -> dict[str, list[Any]]:
    """The lists of a plot, all of one length, by name."""
    values = {column.name: getattr(plot, column.name) for column in dataclasses.fields(plot)}
    return {name: value for name, value in values.items() if isinstance(value, list)}


KINDS = ("dots", "line", "area")
STYLES = ("left", "right", "event", "claim", "data", "quiet")
"""left, right: of the two datasets; event: shaded; claim: what is claimed; data: records; quiet: axes and the like."""
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
    """A chart with axes named `x` and `y`, or with none where both names are "".

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
    """The charts, from left to right."""


def dots(
    points: Iterable[tuple[float, float]], style: str, label: str = "", *, mark: str = "dot",
    sizes: Iterable[float] = (),
) -> Layer:
    """Points (x, y)."""
    at = list(points)
    xs, ys = [float(x) for x, _ in at], [float(y) for _, y in at]
    return Layer("dots", style, list(xs), list(ys), label, mark, [float(s) for s in sizes])


def line(*paths: Iterable[tuple[float, float]], style: str, label: str = "") -> Layer:
    """Lines through points (x, y), each path apart from the others."""
    return Layer("line", style, *_joined(paths), label)


def area(*borders: Iterable[tuple[float, float]], style: str, label: str = "", strength: float = 1.0) -> Layer:
    """Areas within borders through points (x, y)."""
    return Layer("area", style, *_joined(borders), label, strength=strength)


def _joined(paths: Iterable[Iterable[tuple[float, float]]]) -> tuple[list[float | None], list[float | None]]:
    x: list[float | None] = []
    y: list[float | None] = []
    for path in paths:
        if x:
            x.append(None)
            y.append(None)
        for a, b in path:
            x.append(float(a))
            y.append(float(b))
    return x, y
