"""python-dp: claims, relations, refusals, and audits of a true and of a wrong claim."""

from __future__ import annotations

from typing import Any

import pytest
from numpy.random import default_rng

import dpaudit
from dpaudit.errors import DatasetError, UsageError
from dpaudit.language import ADD_REMOVE_ONE, ANSWERS_L2, AnswersL1, Claim
from dpaudit.results.model import Verdict
from dpaudit.subjects.adapters import adapted
from dpaudit.subjects.adapters.pydp import wrap

laplacian: Any = pytest.importorskip(
    "pydp.algorithms.laplacian", reason="python-dp is not installed (extra python-dp)"
)
numerical: Any = pytest.importorskip("pydp.algorithms.numerical_mechanisms", reason="as above")
partitions: Any = pytest.importorskip("pydp.algorithms.partition_selection", reason="as above")

UNIT: dict[str, Any] = {"lower_bound": 0.0, "upper_bound": 1.0, "dtype": "float"}


@pytest.mark.parametrize(
    ("algorithm", "claim", "dataset"),
    [
        (laplacian.Count(epsilon=0.5), Claim(0.5, 0.0, ADD_REMOVE_ONE), [1, 2]),
        (laplacian.Count(epsilon=1.0, linf_sensitivity=2), Claim(1.0, 0.0, ADD_REMOVE_ONE.group(2)), [1]),
        (laplacian.BoundedSum(epsilon=1.0, **UNIT), Claim(1.0, 0.0, ADD_REMOVE_ONE), [0, 1]),
        (laplacian.Percentile(epsilon=1.0, percentile=0.5, **UNIT), Claim(1.0, 0.0, ADD_REMOVE_ONE), [0.5]),
        (numerical.LaplaceMechanism(1.0, 0.5), Claim(1.0, 0.0, AnswersL1(reach=0.5)), [0.0]),
        (numerical.GaussianMechanism(1.0, 0.01, 1.0), Claim(1.0, 0.01, ANSWERS_L2), [0.0]),
        (
            partitions.create_partition_strategy("truncated_geometric", 1.0, 0.01, 1),
            Claim(1.0, 0.01, ADD_REMOVE_ONE), [1, 2, 3],
        ),
    ],
)  # fmt: skip
def test_objects_claim_their_attributes(algorithm: Any, claim: Claim, dataset: list[Any]) -> None:
    one = adapted(algorithm)
    assert one.claim == claim
    assert type(algorithm).__name__ in one.source
    assert len(one(dataset, default_rng(0), 5)) == 5


def test_several_partitions_are_said() -> None:
    assert "l0_sensitivity 3" in adapted(laplacian.Count(epsilon=1.0, l0_sensitivity=3)).notes[0]
    assert adapted(laplacian.Count(epsilon=1.0)).notes == ()


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (laplacian.Count, "Count is a class of python-dp; give an instance"),
        (object(), "object of python-dp is not known here"),
    ],
)
def test_refusals_are_one_sentence(target: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        wrap(target)


def test_whole_numbers_are_taken_as_such() -> None:
    whole = laplacian.BoundedSum(epsilon=1.0, lower_bound=0, upper_bound=5, dtype="int")
    with pytest.raises(DatasetError, match=r"takes whole numbers, not 0\.5"):
        adapted(whole)([0.5], default_rng(0), 1)


def test_true_claim_passes() -> None:
    """A false alarm has probability at most 1e-6."""
    total = laplacian.BoundedSum(epsilon=1.0, **UNIT)
    (audit,) = dpaudit.audit(total, pair=([0], [0, 1]), runs=4_000, alpha=1e-6).audits
    assert audit.verdict is Verdict.PASS
    assert audit.notes[-1].code == "own_randomness"


def test_half_the_claim_is_refuted() -> None:
    """ε = 0.5 is claimed for ε = 2: 2,000 runs miss it with probability below 1e-20."""
    total = laplacian.BoundedSum(epsilon=2.0, **UNIT)
    (audit,) = dpaudit.audit(total, epsilon=0.5, pair=([0], [0, 1]), runs=2_000).audits
    assert audit.verdict is Verdict.FAIL


def test_gaussian_noise_gives_its_answer_away_in_its_low_bits() -> None:
    """Odd multiples of its granularity below 2^53 of them come out of the answer 0 in 5.3 % of runs, of 1 never.

    At δ = 1e-5 that is refuted; 5,000 runs miss it with probability below 1e-50. As numbers the claim holds (a false
    alarm has probability at most 1e-6).
    """
    gaussian = numerical.GaussianMechanism(1.0, 1e-5, 1.0)
    (counted,) = dpaudit.audit(gaussian, pair=([0.0], [1.0]), runs=5_000, bits=True).audits
    assert counted.verdict is Verdict.FAIL
    (audit,) = dpaudit.audit(gaussian, pair=([0.0], [1.0]), runs=2_000, alpha=1e-6).audits
    assert audit.verdict is Verdict.PASS
