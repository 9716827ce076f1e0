"""The result of a comparison of algorithms, as plain frozen dataclasses; its evidence is in the same result."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.results.kinds import Count, NonNegative, Ordinal, Probability

ONE_RUN = ": one run"
"""After a replay id, in the timings: seconds of one run alone."""


@dataclass(frozen=True)
class ComparisonRow:
    """One algorithm on inputs of one size."""

    algorithm: str
    """Which."""
    records: Ordinal
    """Records of its inputs."""
    utility: Count | None
    """Place in the result's `utility` of the audit of its success; None where it cannot be run."""
    audit: Count | None
    """Place in the result's `audits` of the audit of its privacy at this size."""
    note: str = ""
    """Why it cannot be run, in a sentence."""


@dataclass(frozen=True)
class ComparisonRecord:
    """Algorithms for one task, on the same inputs, with the same claim."""

    name: str
    """Of the comparison."""
    title: str
    """In a line."""
    goal: str
    """What all of them are to do."""
    epsilon: NonNegative
    """ε that they are given."""
    delta: Probability
    """δ that they are given."""
    rows: list[ComparisonRow]
    """One for each algorithm and size."""
