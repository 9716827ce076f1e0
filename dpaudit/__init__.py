"""dpaudit: tests claims of differential privacy.

From Python, `audit` audits a function or mechanism and `assert_private` does so in a test, `audit_samples` audits
outputs that were recorded, `verify` proves or refutes a claim on a small scope, `worst` searches for the worst pair
where the scope is too large, `compare` sets algorithms side by side; each returns a `Result`, which `load` reads from a
file. `audit_scores` and `audit_guesses` audit training by canaries. `dpaudit --help` is the command line.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.api.canaries import GuessesResult, ScoresResult, audit_guesses, audit_scores, count_guesses
    from dpaudit.api.functions import assert_private, audit, audit_samples, compare, verify, worst
    from dpaudit.api.outcomes import InconclusiveAudit, Interrupted, PrivacyViolation
    from dpaudit.api.result import Result, load
    from dpaudit.language import Claim

__all__ = [
    "Claim", "GuessesResult", "InconclusiveAudit", "Interrupted", "PrivacyViolation", "Result", "ScoresResult",
    "assert_private", "audit", "audit_guesses", "audit_samples", "audit_scores", "compare", "count_guesses",
    "load", "verify", "worst",
]  # fmt: skip

# imported when they are first asked for: pytest loads this package (for its plugin) in every run of every project, and
# numpy and what comes with it take a second
_WHERE = {
    "Claim": "dpaudit.language",
    "InconclusiveAudit": "dpaudit.api.outcomes",
    "Interrupted": "dpaudit.api.outcomes",
    "PrivacyViolation": "dpaudit.api.outcomes",
    "GuessesResult": "dpaudit.api.canaries",
    "Result": "dpaudit.api.result",
    "ScoresResult": "dpaudit.api.canaries",
    "assert_private": "dpaudit.api.functions",
    "audit": "dpaudit.api.functions",
    "audit_guesses": "dpaudit.api.canaries",
    "audit_samples": "dpaudit.api.functions",
    "audit_scores": "dpaudit.api.canaries",
    "compare": "dpaudit.api.functions",
    "count_guesses": "dpaudit.api.canaries",
    "load": "dpaudit.api.result",
    "verify": "dpaudit.api.functions",
    "worst": "dpaudit.api.functions",
}


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_WHERE[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
