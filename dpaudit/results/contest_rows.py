"""What a comparison of algorithms found, as plain frozen dataclasses; its evidence stands in the same result."""

from __future__ import annotations

from dataclasses import dataclass

ONE_RUN = ": one run"
"""After a replay id, in the timings: seconds of one run alone."""


@dataclass(frozen=True)
class ContestRow:
    """One algorithm on inputs of one size."""

    algorithm: str
    records: int
    utility: int | None
    """Place in the result's `utility` of the audit of its success; None where it cannot be run."""
    audit: int | None
    """Place in the result's `audits` of the audit of its privacy at this size."""
    note: str = ""
    """Why it cannot be run, in a sentence."""


@dataclass(frozen=True)
class ContestRecord:
    """Algorithms for one task, on the same inputs, with the same claim."""

    name: str
    title: str
    goal: str
    epsilon: float
    delta: float
    rows: list[ContestRow]
