"""dpaudit: tests claims of differential privacy.

From Python, `audit` audits a function or mechanism, `verify` proves or refutes a claim on a small scope, and `worst`
searches for the worst pair where the scope is too large, `compare` sets algorithms side by side; `dpaudit --help` is
the command line.
"""

from dpaudit.api import audit, compare, verify, worst

__all__ = ["audit", "compare", "verify", "worst"]
