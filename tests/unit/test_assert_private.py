"""`dpaudit.assert_private`: what it raises, in what words, and how short the traceback is."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import example_results
import pytest
from audit_toys import PAIR, Response, responses
from numpy.random import Generator

import dpaudit
from dpaudit.api.outcomes import refusal
from dpaudit.api.result import Result
from dpaudit.errors import DpauditError, UsageError
from dpaudit.results.model import Verdict

# `responses` is 1-DP; a true claim is refuted with probability at most 0.001 in each call, and seeds are fixed.


def test_it_returns_the_result() -> None:
    result = dpaudit.assert_private(responses, 1.0, pair=([0], [1]), runs=2_000)
    assert result.verdict is Verdict.PASS


def test_a_violation() -> None:
    with pytest.raises(dpaudit.PrivacyViolation) as raised:
        dpaudit.assert_private(responses, 0.3, pair=([0], [1]), runs=20_000, seed=3)
    error = raised.value
    assert isinstance(error, AssertionError)
    assert not isinstance(error, DpauditError)
    assert error.result.verdict is Verdict.FAIL
    text = str(error)
    for part in ("responses: P[output is ", "claim   0.3-DP", "D ", "D′", "counts", "bound   ε ≥"):
        assert part in text
    assert "again   dpaudit.audit(responses, 0.3, pair=([0], [1]), runs=20000, seed=3)" in text
    assert len(text.splitlines()) < 15


def test_undecided() -> None:
    slow = {"pair": PAIR, "time": 1e-9}
    with pytest.raises(dpaudit.InconclusiveAudit, match="time limit of 1e-09 s; raise"):
        dpaudit.assert_private(responses, 1.0, **slow)  # type: ignore[arg-type]
    result = dpaudit.assert_private(responses, 1.0, allow_inconclusive=True, **slow)  # type: ignore[arg-type]
    assert result.verdict is Verdict.INCONCLUSIVE


def test_a_crash_never_passes() -> None:
    def broken(data: Any, rng: Generator) -> float:
        raise ZeroDivisionError("of its own")

    with pytest.raises(dpaudit.InconclusiveAudit, match="of its own"):
        dpaudit.assert_private(broken, 1.0, pair=PAIR, allow_inconclusive=True)


def test_mistakes_are_no_assertions() -> None:
    with pytest.raises(UsageError):
        dpaudit.assert_private(responses, 1.0)


def test_a_name_is_audited_for_privacy_alone(catalogue: None) -> None:
    with pytest.raises(dpaudit.PrivacyViolation, match=r"again   dpaudit.audit\('Response', seed=0\)"):
        dpaudit.assert_private("Response")
    assert dpaudit.assert_private(Response(1.0), pair=PAIR, runs=500).utility == []


@pytest.mark.parametrize("name", example_results.every())
def test_results_that_pass_and_that_do_not(name: str) -> None:
    result = Result.of(example_results.every()[name])
    verdicts = {audit.verdict for audit in result.audits}
    strict, lenient = refusal(result), refusal(result, allow_inconclusive=True)
    if Verdict.FAIL in verdicts:
        assert type(strict) is type(lenient) is dpaudit.PrivacyViolation
    elif not verdicts:
        assert "Nothing was audited" in str(strict) == str(lenient)
    elif Verdict.INCONCLUSIVE in verdicts:
        assert type(strict) is dpaudit.InconclusiveAudit
        assert (lenient is None) is not any(audit.crashed for audit in result.audits)
    else:
        assert strict is lenient is None


def test_every_refuted_audit_is_told() -> None:
    several = Result.of(example_results.every()["several"])
    assert str(refusal(several, again="run it again")).count("again   run it again") == 2
    passing = replace(several, audits=[a for a in several.audits if a.verdict is not Verdict.FAIL])
    assert isinstance(refusal(passing), dpaudit.InconclusiveAudit)
    assert refusal(passing, allow_inconclusive=True) is None


BROKEN = """
    import unittest
    import dpaudit

    def noisy_count(data, rng):
        return sum(data) + rng.laplace(0, 1 / 2)

    class Private(unittest.TestCase):
        def test_private(self):
            dpaudit.assert_private(noisy_count, 1.0, pair=([0, 1, 1], [0, 1, 0]))

    def test_private():
        dpaudit.assert_private(noisy_count, 1.0, pair=([0, 1, 1], [0, 1, 0]))

    if __name__ == "__main__":
        test_private()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "fails"),
    [
        (["-m", "unittest", "-q", "broken"], "FAILED (failures=1)"),
        (["-m", "pytest", "-q", "-p", "no:cacheprovider", "broken.py::test_private"], "1 failed"),
        (["broken.py"], "dpaudit.api.outcomes.PrivacyViolation: noisy_count"),
    ],
    ids=["unittest", "pytest", "script"],
)
def test_in_any_runner(words: list[str], fails: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(textwrap.dedent(BROKEN), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    said = ran.stdout + ran.stderr
    assert ran.returncode == 1
    assert fails in said
    assert "bound   ε ≥ 1." in said
    assert "again   dpaudit.audit(noisy_count, 1.0" in said
    frames = 0 if "pytest" in words else 1
    assert said.count("functions.py") == frames, "of dpaudit's own frames a traceback has the one that raises"
    assert "outcomes.py" not in said
