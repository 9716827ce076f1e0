"""The example bugs of dp-recorder are found from their definitions: by samples, and in their deterministic parts."""

from __future__ import annotations

import pytest
from recorder_bugs import BUGS, RecorderBug

import dpaudit
from dpaudit.results.model import Verdict

named = pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
RELATION = "add-remove-one"


@pytest.mark.slow(only=["budget spent twice", "size taken for public"])
@named
def test_the_audit_finds_it(bug: RecorderBug) -> None:
    result = dpaudit.audit(bug.broken, 1.0, relation=RELATION, data=bug.data, runs=20_000)
    assert result.verdict is Verdict.FAIL


@named
def test_its_deterministic_part_is_not_as_stable_as_claimed(bug: RecorderBug) -> None:
    result = dpaudit.audit_stability(bug.part, bug.stability, metric=bug.metric, relation=RELATION, data=bug.data)
    assert result.verdict is Verdict.FAIL
    assert result.pair is not None
    assert abs(len(result.pair.left) - len(result.pair.right)) == 1
    assert len(result.pair.left) + len(result.pair.right) <= 3


@pytest.mark.slow(fast=["sensitivity computed as 0"])
@named
def test_the_fix_is_not_accused(bug: RecorderBug) -> None:
    # each with α = 0.001 and a fixed seed: a false alarm in one of the seven has a probability of at most 0.007
    result = dpaudit.audit(bug.fixed, 1.0, relation=RELATION, data=bug.data, runs=5_000)
    assert result.verdict is not Verdict.FAIL
    assert result.exit_code != 4
