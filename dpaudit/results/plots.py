"""The numbers behind the plots of a report, as plain frozen dataclasses.

Probabilities and curves are rounded to `DIGITS` significant digits: they are pictures, and what is stated of an audit
stands beside them in full.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

DIGITS = 6
"""A thousand times finer than what is drawn."""


def rounded(values: Iterable[float]) -> list[float]:
    """To the digits that pictures keep."""
    return [float(f"{value:.{DIGITS}g}") for value in values]


@dataclass(frozen=True)
class ProfilePlot:
    """δ against ε on the deciding pair.  All lists have the length of `epsilon`."""

    epsilon: list[float]
    claim: list[float]
    exact: list[float] | None
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
    left: list[float]
    right: list[float]
    event: list[bool]
    omitted: int
    """Outcomes of least probability left out of the picture (0 = none)."""


@dataclass(frozen=True)
class BoundPlot:
    """Certified lower bound against runs a side (Clopper–Pearson at the test's α; only the last point counts)."""

    runs: list[int]
    bound: list[float]


@dataclass(frozen=True)
class EvidencePlot:
    """The e-process at the claimed ε: log10 of its value against runs a side, and the height at which it refutes."""

    runs: list[int]
    log10_e: list[float]
    log10_threshold: float


@dataclass(frozen=True)
class CertifiedTest:
    """Clopper–Pearson limits of both errors of the test "the output is in the event", each limit at `alpha` / 2.

    The corner (`alpha_high`, `beta_high`) is what the counts certify: with error at most `alpha` the trade-off curve
    does not run above it.  All four limits hold together with error at most 2·`alpha`.
    """

    alpha: float
    alpha_low: float
    alpha_high: float
    beta_low: float
    beta_high: float


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
    width: float
    left: list[float]
    right: list[float]
    infinite_left: float
    """Probability of outputs that the other dataset does not have."""
    infinite_right: float
    epsilon: float
    """The claimed one."""
    beyond_left: float
    """Probability of a loss above the claimed ε, infinite ones with it: at least `delta_left`."""
    beyond_right: float
    delta_left: float
    """The least δ at the claimed ε in this direction."""
    delta_right: float


Plot: TypeAlias = ProfilePlot | TradeoffPlot | LossPlot | OutputPlot | EvidencePlot | BoundPlot
