"""What is wrong with an audit in the eyes of whoever waits for an exit code: one answer for all formats."""

from __future__ import annotations

from enum import StrEnum

from dpaudit.results.model import Audit, Result, UtilityAudit, Verdict


class Fault(StrEnum):
    """Why an audit is not in order."""

    CRASHED = "crashed"
    """The mechanism, or dpaudit itself, raised."""
    REFUTED = "refuted"
    """FAIL."""
    UNEXPECTED = "unexpected"
    """PASS, where the catalogue expects another verdict; only where that is asked for."""
    INCONCLUSIVE = "inconclusive"
    """The budget could not decide."""


def fault(audit: Audit | UtilityAudit, *, expect: bool = False) -> Fault | None:
    """What is wrong with one audit; None where nothing is.

    Args:
        audit: of privacy or of utility.
        expect: whether a verdict that the catalogue expects is in order, whatever it is, and one that it does not
            expect is not (`--expect`). An audit that nothing is expected of counts as ever.
    """
    if audit.crashed:
        return Fault.CRASHED
    if expect and audit.as_expected:
        return None
    if audit.verdict is Verdict.FAIL:
        return Fault.REFUTED
    if isinstance(audit, Audit) and audit.reason_code == "no_claim":
        # a bound was asked for, and nothing else
        return None
    if audit.verdict is Verdict.INCONCLUSIVE:
        return Fault.INCONCLUSIVE
    # a PASS that should have been something else is as bad as a FAIL
    return Fault.UNEXPECTED if expect and audit.as_expected is False else None


def exit_code(result: Result, *, expect: bool = False) -> int:
    """130 if it was interrupted, 4 if anything crashed, 1 if anything is refuted or unexpected, 3 if anything is
    inconclusive, else 0."""
    if result.interrupted:
        return 130
    faults = {fault(audit, expect=expect) for audit in result.every}
    if Fault.CRASHED in faults:
        return 4
    if faults & {Fault.REFUTED, Fault.UNEXPECTED}:
        return 1
    return 3 if Fault.INCONCLUSIVE in faults else 0
