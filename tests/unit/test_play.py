"""Games against anybody's function or mechanism, with no pair of theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.errors import ParameterError, UnknownNameError, UsageError
from dpaudit.plans.play import Play
from dpaudit.results.model import Verdict
from dpaudit_algorithms.interior_points.interior_point import InteriorPointByMedianCorrected
from dpaudit_algorithms.interior_points.interior_point_baselines import Median


def median(data: list[int], rng: np.random.Generator) -> int:
    return sorted(data)[len(data) // 2]


def at_random(data: list[int], rng: np.random.Generator, size: int) -> list[int]:
    """No data is looked at."""
    return rng.integers(0, 40_000, size=size).tolist()


def test_a_function_that_gives_a_record_away_is_refuted() -> None:
    result = dpaudit.audit(median, epsilon=0.2, delta=1 / 200, game="digit:2", runs=2000)
    (audit,) = result.audits
    assert audit.verdict is Verdict.FAIL
    assert audit.case == "game digit:2"
    assert audit.epsilon_lower is not None
    assert audit.epsilon_lower > 0.2


@pytest.mark.slow
def test_one_that_does_not_look_is_not() -> None:
    result = dpaudit.audit(at_random, epsilon=0.2, delta=1 / 200, game="digit:2", runs=2000, min_power=10)
    assert result.audits[0].verdict is Verdict.PASS


def test_mechanisms_and_names_of_the_catalogue() -> None:
    refused = dpaudit.audit(InteriorPointByMedianCorrected(0.2, 3), game="digit:1", runs=500).audits[0]
    # its domain is {1, …, 3}, and the game has the record 0
    assert refused.verdict is Verdict.INCONCLUSIVE
    assert "The records must lie in" in refused.reason
    named = dpaudit.audit("Median", epsilon=0.2, delta=0.02, game="digit:1", runs=500)
    assert named.audits[0].verdict is Verdict.FAIL
    assert named.audits[0].delta_exact == pytest.approx(1.0)
    assert named.utility == []
    assert dpaudit.audit(Median(), epsilon=0.2, delta=0.02, game="digit:1", runs=500).audits[0].verdict is Verdict.FAIL


def test_it_is_reproducible() -> None:
    first, second = (dpaudit.audit(median, epsilon=0.2, game="digit:2", runs=400, seed=3) for _ in range(2))
    assert first.audits == second.audits


@pytest.mark.parametrize("text", ["digit", "digit:", ":2", "digit:x", "digit:-1", ""])
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--game takes NAME:N"):
        Play.parse(text)


@pytest.mark.parametrize(("settings", "error", "words"), [
    ({"game": "digits:2"}, UnknownNameError, "digit"),
    ({"game": "digit:0"}, ParameterError, "n must be"),
    ({"game": "digit:2", "pair": ([0], [1])}, UsageError, "leave pair"),
    ({"game": "digit:2", "data": "integers(0, 1)"}, UsageError, "leave pair"),
    ({"game": "digit:2", "groups": 2}, UsageError, "leave groups or game out"),
])
def test_bad_input_is_one_sentence(settings: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        dpaudit.audit(median, epsilon=0.2, **settings)
