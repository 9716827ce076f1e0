"""The engine: from a request to a stream of events that ends in a result."""

from dpaudit.audit.engine import check, run
from dpaudit.audit.plan import Case, Plan, Scope
from dpaudit.audit.request import Request
from dpaudit.audit.results import Audit, EvidenceKind, Result, Verdict

__all__ = ["Audit", "Case", "EvidenceKind", "Plan", "Request", "Result", "Scope", "Verdict", "check", "run"]
