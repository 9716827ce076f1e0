"""The value of the fixture `dp_stable`: searches for violations of stability, and raises where there is one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from dpaudit.api.stability import StabilityResult, StabilityViolation, audit_stability
from dpaudit.errors import DpauditError
from dpaudit.plans.stability import Stability
from dpaudit.pytest_plugin.arguments import STABLE_KEYWORDS, checked
from dpaudit.pytest_plugin.session import Session
from dpaudit.pytest_plugin.settings import audit_seed
from dpaudit.results.model import Verdict


class StabilityAuditor:
    """Audits the stability of functions in one test; see the fixture `dp_stable` for what it takes.

    Args:
        session: of this process.
        test: node id.
        keep: is called with what JUnit XML should have of every audit.
    """

    def __init__(self, session: Session, test: str, keep: Callable[[list[tuple[str, str]]], None]) -> None:
        self._session = session
        self._test = test
        self._keep = keep
        self._calls = 0

    def __repr__(self) -> str:
        return "dp_stable"

    def __call__(
        self, f: str | Callable[..., object], stability: Stability | None = None, /, **given: object
    ) -> StabilityResult:
        """Audit `f`, and return the result unless it fails the test."""
        __tracebackhide__ = True
        failure: Exception | None = None
        try:
            words: dict[str, Any] = checked(given, "dp_stable", keywords=STABLE_KEYWORDS)
            self._calls += 1
            settings = self._session.settings
            seed = audit_seed(settings.seed, self._test, self._calls, 0)
            result = audit_stability(f, stability, **{"time": settings.time, **words, "seed": seed, "progress": False})
        except DpauditError as error:
            failure = error
        if failure is not None:
            # without the frames of dpaudit's own code, which are no help
            raise failure.with_traceback(None)
        result = dataclasses.replace(result, command=self._session.repeated(self._test))
        self._keep(_properties(result, self._calls))
        if result.verdict is not Verdict.PASS:
            raise StabilityViolation(str(result), result)
        return result


def _properties(result: StabilityResult, call: int) -> list[tuple[str, str]]:
    """For JUnit: "dp.stable.verdict" and so on; of a test's second audit "dp.stable.2.verdict"."""
    prefix = "dp.stable" if call == 1 else f"dp.stable.{call}"
    values = {
        "verdict": result.verdict.value, "function": result.name, "claim": result.claim,
        "distance": result.distance or "", "allowed": result.allowed or "", "pairs": str(result.pairs),
        "again": result.command,
    }  # fmt: skip
    return [(f"{prefix}.{key}", value) for key, value in values.items()]
