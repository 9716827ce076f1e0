"""dpaudit: tests claims of differential privacy.

`check` audits a function or mechanism from Python; `dpaudit --help` is the command line.
"""

from dpaudit.api import check

__all__ = ["check"]
