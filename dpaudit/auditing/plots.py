"""The numbers behind the plots of a report, as plain frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass


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
