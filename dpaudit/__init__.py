"""dpaudit: tests claims of differential privacy.

From Python, `check` audits a function or mechanism and `verify` proves or refutes a claim on a small scope;
`dpaudit --help` is the command line.
"""

from dpaudit.api import check, verify

__all__ = ["check", "verify"]
