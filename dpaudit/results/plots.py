"""The numbers behind the plots of a report, as plain frozen dataclasses.

Probabilities and curves are rounded to `DIGITS` significant digits: they are pictures, and what is stated of an audit
stands beside them in full.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from dpaudit.results.kinds import Count, NonNegative, Positive

DIGITS = 6
"""A thousand times finer than what is drawn."""


def rounded(values: Iterable[float]) -> list[float]:
    """To the digits that pictures keep."""
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
    """Outcomes of least probability left out of the picture (0 = none)."""


@dataclass(frozen=True)
class BoundPlot:
    """Certified lower bound against runs a side (Clopper–Pearson at the test's α; only the last point counts)."""

    runs: list[Count]
    """Runs a side."""
    bound: list[float]
    """Certified lower bound on ε after that many runs."""


@dataclass(frozen=True)
class EvidencePlot:
    """The e-process at the claimed ε: log10 of its value against runs a side, and the height at which it refutes."""

    runs: list[Count]
    """Runs a side."""
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
