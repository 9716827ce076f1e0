"""dpaudit: tests claims of differential privacy.

From Python, `audit` audits a function or mechanism and `assert_private` does so in a test, `verify` proves or refutes a
claim on a small scope, `worst` searches for the worst pair where the scope is too large, `compare` sets algorithms side
by side; each returns a `Result`, which `load` reads from a file. `dpaudit --help` is the command line.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.api.functions import assert_private, audit, compare, verify, worst
    from dpaudit.api.outcomes import InconclusiveAudit, Interrupted, PrivacyViolation
    from dpaudit.api.result import Result, load
    from dpaudit.api.stability import StabilityResult, StabilityViolation, assert_stable, audit_stability
    from dpaudit.language import Claim

__all__ = [
    "Claim", "InconclusiveAudit", "Interrupted", "PrivacyViolation", "Result", "StabilityResult", "StabilityViolation",
    "assert_private", "assert_stable", "audit", "audit_stability", "compare", "load", "verify", "worst",
]  # fmt: skip

# imported when they are first asked for: pytest loads this package (for its plugin) in every run of every project, and
# numpy and what comes with it take a second
_WHERE = {
    "Claim": "dpaudit.language",
    "InconclusiveAudit": "dpaudit.api.outcomes",
    "Interrupted": "dpaudit.api.outcomes",
    "PrivacyViolation": "dpaudit.api.outcomes",
    "Result": "dpaudit.api.result",
    "StabilityResult": "dpaudit.api.stability",
    "StabilityViolation": "dpaudit.api.stability",
    "assert_private": "dpaudit.api.functions",
    "assert_stable": "dpaudit.api.stability",
    "audit": "dpaudit.api.functions",
    "audit_stability": "dpaudit.api.stability",
    "compare": "dpaudit.api.functions",
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
