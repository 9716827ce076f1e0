"""One audit as the session keeps it: plain values, which pass from xdist's workers to the process that reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class SessionEvidence:
    """What one audit adds to an evidence file.

    Args:
        key: what it is evidence about, besides the test.
        about: the same in words.
        seed: of the audit.
        log_e: natural logarithm of the e-value of its own runs.
        log_peak: of the largest value that it reached, prior evidence included.
        alpha: share of the error that the e-process had.
    """

    key: str
    about: str
    seed: int
    log_e: float
    log_peak: float
    alpha: float = 1.0


@dataclass(frozen=True)
class Record:
    """One audit of a session.

    Args:
        test: node id.
        call: which of the test's audits, from 1.
        name: the function's or mechanism's.
        verdict: "fail", "pass" or "inconclusive"; `phrase` is what reports call it.
        claim: "(1.0, 0)"; `bound` is what was certified, "≥ 0.71" or "= 0.69"; `shown` the two for a table.
        epsilon_lower: the certified lower bound on ε; None where nothing was sampled.
        runs: in total.
        alpha: what this audit may err with.
        seed: its own.
        replay: its id in JSON and HTML.
        again: the command that makes it again.
        items: over how many tests α was shared.
        leaks: whether the low bits of its doubles give away more than is claimed, and that does not count.
        session: what it adds to an evidence file; None where there is none.
        result: the whole result as JSON; None where no report is written.
    """

    test: str
    call: int
    name: str
    verdict: str
    phrase: str
    claim: str
    bound: str
    epsilon_lower: float | None
    runs: int
    alpha: float
    seed: int
    replay: str
    again: str
    items: int
    leaks: bool = False
    session: SessionEvidence | None = None
    result: str | None = None

    def to_plain(self) -> dict[str, object]:
        """As dicts, strings and numbers."""
        return asdict(self)

    @classmethod
    def from_plain(cls, value: Mapping[str, Any]) -> Record:
        """From what `to_plain` gave."""
        session = value["session"]
        return cls(**{**value, "session": None if session is None else SessionEvidence(**session)})

    def properties(self, place: int) -> list[tuple[str, str]]:
        """For JUnit: "dp.verdict" and so on; of a test's second audit "dp.2.verdict".

        Args:
            place: which of the test's results it is, from 1.
        """
        prefix = "dp" if place == 1 else f"dp.{place}"
        lower = "" if self.epsilon_lower is None else repr(self.epsilon_lower)
        values = {
            "verdict": self.verdict, "mechanism": self.name, "claim": self.claim, "epsilon_lower": lower,
            "runs": str(self.runs), "alpha": repr(self.alpha), "seed": str(self.seed), "replay": self.replay,
            "again": self.again,
        }
        return [(f"{prefix}.{key}", value) for key, value in values.items()]
