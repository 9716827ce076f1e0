"""dpaudit: tests claims of differential privacy.

From Python, `audit` audits a function or mechanism and `assert_private` does so in a test; `verify` proves or refutes a
claim on a small scope, `worst` searches for the worst pair where the scope is too large, `compare` sets algorithms side
by side; each returns a `Result`, which `load` reads from a file. `audit_samples` audits recorded outputs,
`audit_scores` and `audit_guesses` what canaries of a training run say, `audit_stability` functions without noise.
`trace` names the lines of a function that no noise protects; `command` makes a function of another program. `prove`
proves a claim for every dataset of a scope (`Answers`, `Stream`, `Records`, `Domain`).
`dpaudit --help` is the command line.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.api.canaries import GuessesResult, ScoresResult
    from dpaudit.api.functions import assert_private, audit, audit_samples, compare, trace, verify, worst
    from dpaudit.api.guesses import audit_guesses, count_guesses
    from dpaudit.api.outcomes import InconclusiveAudit, Interrupted, PrivacyViolation
    from dpaudit.api.result import Result, load
    from dpaudit.api.scores import audit_scores
    from dpaudit.api.stability import StabilityResult, StabilityViolation, assert_stable, audit_stability
    from dpaudit.language import Claim, GaussianDP, Profile, Renyi, TradeOff, ZeroConcentrated
    from dpaudit.proofs.check import check_certificate
    from dpaudit.proofs.prove import prove
    from dpaudit.proofs.results import Proof, Refuted, Unknown
    from dpaudit.proofs.scopes import Answers, Domain, Records, Stream
    from dpaudit.subjects import adapters
    from dpaudit.subjects.command import command

__all__ = [
    "Answers", "Claim", "Domain", "GaussianDP", "GuessesResult", "InconclusiveAudit", "Interrupted",
    "PrivacyViolation", "Profile", "Proof", "Records", "Refuted", "Renyi", "Result", "ScoresResult",
    "StabilityResult", "StabilityViolation", "Stream", "TradeOff", "Unknown", "ZeroConcentrated", "adapters",
    "assert_private", "assert_stable", "audit", "audit_guesses", "audit_samples", "audit_scores", "audit_stability",
    "check_certificate", "command", "compare", "count_guesses", "load", "prove", "trace", "verify", "worst",
]  # fmt: skip

# imported when they are first asked for: pytest loads this package (for its plugin) in every run of every project, and
# numpy and what comes with it take a second
_WHERE = {
    "Answers": "dpaudit.proofs.scopes",
    "Domain": "dpaudit.proofs.scopes",
    "Proof": "dpaudit.proofs.results",
    "Records": "dpaudit.proofs.scopes",
    "Refuted": "dpaudit.proofs.results",
    "Stream": "dpaudit.proofs.scopes",
    "Unknown": "dpaudit.proofs.results",
    "check_certificate": "dpaudit.proofs.check",
    "prove": "dpaudit.proofs.prove",
    "Claim": "dpaudit.language",
    "GaussianDP": "dpaudit.language",
    "Profile": "dpaudit.language",
    "Renyi": "dpaudit.language",
    "TradeOff": "dpaudit.language",
    "ZeroConcentrated": "dpaudit.language",
    "InconclusiveAudit": "dpaudit.api.outcomes",
    "Interrupted": "dpaudit.api.outcomes",
    "PrivacyViolation": "dpaudit.api.outcomes",
    "GuessesResult": "dpaudit.api.canaries",
    "Result": "dpaudit.api.result",
    "ScoresResult": "dpaudit.api.canaries",
    "StabilityResult": "dpaudit.api.stability",
    "StabilityViolation": "dpaudit.api.stability",
    "assert_private": "dpaudit.api.functions",
    "assert_stable": "dpaudit.api.stability",
    "audit": "dpaudit.api.functions",
    "audit_guesses": "dpaudit.api.guesses",
    "audit_samples": "dpaudit.api.functions",
    "audit_scores": "dpaudit.api.scores",
    "command": "dpaudit.subjects.command",
    "audit_stability": "dpaudit.api.stability",
    "compare": "dpaudit.api.functions",
    "count_guesses": "dpaudit.api.guesses",
    "load": "dpaudit.api.result",
    "trace": "dpaudit.api.functions",
    "verify": "dpaudit.api.functions",
    "worst": "dpaudit.api.functions",
}
_MODULES = {"adapters": "dpaudit.subjects.adapters"}


def __getattr__(name: str) -> object:
    if name not in _WHERE and name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_WHERE.get(name) or _MODULES[name])
    value = globals()[name] = module if name in _MODULES else getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE, *_MODULES})
