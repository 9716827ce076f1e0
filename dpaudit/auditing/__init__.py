"""The engine: from a request to a stream of events that ends in a result."""

from dpaudit.auditing.engine import check, run
from dpaudit.auditing.plan import Case, Plan, Scope
from dpaudit.auditing.request import Request
from dpaudit.auditing.results import Audit, EvidenceKind, Result, Verdict

__all__ = ["Audit", "Case", "EvidenceKind", "Plan", "Request", "Result", "Scope", "Verdict", "check", "run"]
