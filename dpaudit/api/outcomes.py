"""What is raised where an outcome must not be passed over.

These are no mistakes of the caller, so they are outside the tree of `dpaudit.errors`: two are failed assertions,
which any test runner reports as such, one is an interrupt. Each holds the result, so that nothing computed is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.api.result import Result
from dpaudit.report.short import failure_text
from dpaudit.results import notes
from dpaudit.results.model import Audit, Verdict

__all__ = ["InconclusiveAudit", "Interrupted", "PrivacyViolation", "refusal"]


class PrivacyViolation(AssertionError):
    """A claim of differential privacy is refuted."""

    def __init__(self, text: str, result: Result) -> None:
        super().__init__(text)
        self.result = result


class InconclusiveAudit(AssertionError):
    """A claim was neither refuted nor tested as far as was asked for; or the mechanism crashed."""

    def __init__(self, text: str, result: Result) -> None:
        super().__init__(text)
        self.result = result


class Interrupted(KeyboardInterrupt):
    """An audit was interrupted; `result` holds the audits that had ended, and what the interrupted one had found."""

    def __init__(self, result: Result) -> None:
        partial = sum(any(note.code == notes.Interrupted.code for note in audit.notes) for audit in result.audits)
        ended = len(result) - partial
        kept = f"{ended} audit{'s' * (ended > 1)} had ended, and {'are' if ended > 1 else 'is'} in .result of this"
        before = f"interrupted; {kept}" if ended else "interrupted before any audit had ended"
        found = ", with what the interrupted one had found" if ended else "; what it had found is in .result of this"
        super().__init__(f"{before}{found}" if partial else before)
        self.result = result


def refusal(
    result: Result, *, again: str | None = None, allow_inconclusive: bool = False, verbose: bool = False
) -> PrivacyViolation | InconclusiveAudit | None:
    """What a test is to raise on a result; None where every audit of privacy in it passes.

    It is returned, so that the traceback of whoever raises it is short.

    Args:
        result: of one audit or several; utility guarantees are ignored.
        again: how to make it again, for the message; what the result says of itself without it.
        allow_inconclusive: pass where nothing was refuted but an audit could not be decided. One whose mechanism
            crashed never passes, nor does a result without any.
        verbose: whether the message says how each verdict was made, too.
    """
    how = again or result.command
    failed = [audit for audit in result.audits if audit.verdict is Verdict.FAIL]
    if failed:
        return PrivacyViolation(_text(failed, how, verbose=verbose), result)
    undecided = [
        audit
        for audit in result.audits
        if audit.crashed or (audit.verdict is Verdict.INCONCLUSIVE and not allow_inconclusive)
    ]
    if undecided:
        return InconclusiveAudit(_text(undecided, how, verbose=verbose), result)
    return None if result.audits else InconclusiveAudit("Nothing was audited for privacy.", result)


def _text(audits: Sequence[Audit], again: str, *, verbose: bool) -> str:
    return "\n".join(failure_text(audit, again=again, verbose=verbose) for audit in audits)
