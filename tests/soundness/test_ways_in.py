"""The other front ends, at the boundary: search with Hypothesis, pytest, command line, evidence over sessions."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import refused
from shapes import ADAPTER, FUNCTION, MECHANISM, PAIR, RESPONSE, SHAPES, VECTORISED, Dressed
from typer.testing import CliRunner

import dpaudit
from dpaudit.cli.commands import app

st = pytest.importorskip("hypothesis.strategies", reason="hypothesis is an extra")

TRIED = ("bool", "list of 1 or 2 numbers", "float, by two paths", "tuple of many kinds", "dict, in any order")
ALPHA = 0.001


@pytest.mark.slow(only=["tuple of many kinds", "dict, in any order", "bool", "float, by two paths"])
@pytest.mark.parametrize("name", TRIED)
def test_pairs_that_hypothesis_finds_do_not_refute_a_claim_that_holds(name: str) -> None:
    """The search draws records 0 and 1, so that it ends with the pair of the boundary. False alarm: at most 0.001."""
    shape = SHAPES[name]
    found = dpaudit.audit(
        shape.subject(FUNCTION), epsilon=shape.epsilon, delta=shape.delta, data=st.integers(0, 1), size=1, runs=100,
        alpha=ALPHA, seed=3, progress=False,
    ).audit
    assert found.verdict != "fail", found.reason
    assert (found.epsilon_lower or 0.0) <= shape.epsilon
    assert not refused(found), found.reason


@pytest.mark.slow
def test_no_test_of_a_pytest_session_fails_a_claim_that_holds(pytester: pytest.Pytester) -> None:
    """Every way of giving a mechanism; the error is the session's. False alarm: at most 0.001."""
    pytester.makepyprojecttoml("[tool.dpaudit]\n")
    pytester.makepyfile(
        f"""
        import pytest
        from shapes import PAIR, SHAPES

        @pytest.mark.parametrize("way", {(FUNCTION, VECTORISED, MECHANISM, ADAPTER)!r})
        @pytest.mark.parametrize("name", {TRIED!r})
        def test_private(dp_audit, name, way):
            shape = SHAPES[name]
            dp_audit(shape.subject(way), epsilon=shape.epsilon, delta=shape.delta, pair=PAIR, allow_inconclusive=True,
                     black_box=True)
        """
    )
    ran = pytester.runpytest_inprocess(
        "-p", "no:xdist", "-p", "no:cacheprovider", f"--dp-alpha={ALPHA}", "--dp-runs=60"
    )
    ran.assert_outcomes(passed=4 * len(TRIED))


FILE = """
from shapes import SHAPES

one = SHAPES[{name!r}].subject("function")
several = SHAPES[{name!r}].subject("vectorised")
mechanism = SHAPES[{name!r}].subject("Mechanism")
"""


@pytest.mark.slow(fast=["bool"])
@pytest.mark.parametrize("name", TRIED)
def test_the_command_line_does_not_refute_a_claim_that_holds(
    name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three objects of a file in one command, which share α. False alarm: at most 0.001."""
    shape = SHAPES[name]
    monkeypatch.chdir(tmp_path)
    file = tmp_path / f"subjects_{TRIED.index(name)}.py"
    file.write_text(FILE.format(name=name), encoding="utf-8")
    targets = [f"{file.name}:{one}" for one in ("one", "several", "mechanism")]
    words = ["check", *targets, "--epsilon", str(shape.epsilon), "--delta", str(shape.delta), "--pair", "[0]", "[1]"]
    ran = CliRunner().invoke(app, [*words, "--runs", "100", "--alpha", str(ALPHA), "--seed", "1", "--black-box"])
    assert ran.exit_code in (0, 3), ran.output


@pytest.mark.slow
def test_evidence_over_sessions_does_not_refute_a_claim_that_holds() -> None:
    """Four chains of six sessions at α = 0.05, each with the evidence of the sessions before it.

    False alarm: one chain FAILs with probability at most 0.05, and more than two of four with at most 0.0005. The long
    version is in benchmarks/error_rates.py.
    """
    failed = 0
    for chain in range(4):
        evidence = None
        for session in range(6):
            evidence = dpaudit.audit(
                Dressed("bool"), epsilon=RESPONSE.epsilon, pair=PAIR, runs=60, alpha=0.05, seed=10 * chain + session,
                evidence=evidence, black_box=True, progress=False,
            )
            if evidence.verdict == "fail":
                failed += 1
                break
    assert failed <= 2
