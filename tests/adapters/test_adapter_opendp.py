"""Measurements of OpenDP: claims, relations, refusals, and audits of a true and of a wrong claim."""

from __future__ import annotations

import math
from typing import Any

import pytest
from numpy.random import default_rng

import dpaudit
from dpaudit.errors import DatasetError, UsageError
from dpaudit.language import (
    ADD_REMOVE_ONE,
    ANSWERS_L1,
    ANSWERS_L2,
    ANSWERS_LINF,
    REPLACE_ONE,
    AnswersL1,
    Claim,
    Relation,
)
from dpaudit.results.model import Verdict
from dpaudit.subjects.adapters import adapted
from dpaudit.subjects.adapters.opendp import wrap

dp: Any = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed (extra opendp)")
dp.enable_features("contrib", "honest-but-curious")

NUMBER = (dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float))
UNIT = dp.atom_domain(bounds=(0.0, 1.0), nan=False)
SOME = (dp.vector_domain(UNIT), dp.symmetric_distance())
FOUR = (dp.vector_domain(UNIT, size=4), dp.symmetric_distance())
SCORES = (dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float))


def laplace(scale: float = 1.0) -> Any:
    return dp.m.make_laplace(*NUMBER, scale=scale)


def total() -> Any:
    return SOME >> dp.t.then_sum() >> dp.m.then_laplace(scale=1.0)


def mean() -> Any:
    return FOUR >> dp.t.then_mean() >> dp.m.then_laplace(scale=0.25)


@pytest.mark.parametrize(
    ("measurement", "options", "epsilon", "relation"),
    [
        (laplace(), {}, 1.0, ANSWERS_L1),
        (laplace(0.5), {"d_in": 0.25}, 0.5, AnswersL1(reach=0.25)),
        (dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=2.0), {}, 0.5, ANSWERS_L1),
        (dp.m.make_laplace(SCORES[0], dp.l1_distance(T=float), scale=1.0), {}, 1.0, ANSWERS_L1),
        (dp.m.make_noisy_max(*SCORES, dp.max_divergence(), scale=2.0), {}, 1.0, ANSWERS_LINF),
        (dp.m.make_randomized_response_bool(prob=0.75), {}, math.log(3), REPLACE_ONE),
        (total(), {}, 1.0, ADD_REMOVE_ONE),
        (total(), {"d_in": 3}, 3.0, ADD_REMOVE_ONE.group(3)),
        (mean(), {}, 1.0, REPLACE_ONE),
        (mean(), {"d_in": 4}, 2.0, REPLACE_ONE.group(2)),
    ],
)  # fmt: skip
def test_map_is_the_claim(measurement: Any, options: dict[str, Any], epsilon: float, relation: Relation) -> None:
    claim = wrap(measurement, **options).claim
    assert claim == Claim(measurement.map(_typed(measurement, options, relation)), 0.0, relation)
    assert claim.epsilon == pytest.approx(epsilon, rel=1e-6)


def _typed(measurement: Any, options: dict[str, Any], relation: Relation) -> float:
    """d_in as the measurement counts it."""
    own = 2 if relation == REPLACE_ONE and "Symmetric" in str(measurement.input_metric) else 1
    d_in: float = options.get("d_in", own)
    return float(d_in) if "f64" in str(measurement.input_distance_type) else d_in


def test_curves_are_tested_at_one_epsilon() -> None:
    gaussian = dp.m.make_gaussian(*NUMBER, scale=1.0)
    assert wrap(gaussian).claim == Claim.zcdp(0.5, epsilon=1.0, relation=ANSWERS_L1)
    assert wrap(gaussian, at=2.0).claim == Claim.zcdp(0.5, epsilon=2.0, relation=ANSWERS_L1)
    vector = dp.m.make_gaussian(SCORES[0], dp.l2_distance(T=float), scale=1.0)
    assert wrap(vector).claim.relation == ANSWERS_L2
    profile = dp.c.make_zCDP_to_approxDP(gaussian)
    assert wrap(profile).claim.delta == pytest.approx(0.01, rel=1e-3)
    assert wrap(profile, at=1.0).claim == Claim(1.0, profile.map(1.0).delta(1.0), ANSWERS_L1)
    fixed = dp.c.make_fix_delta(profile, 0.05)
    assert wrap(fixed).claim == Claim(*fixed.map(1.0), ANSWERS_L1)


@pytest.mark.parametrize(
    ("make", "options", "sentence"),
    [
        (lambda: SOME >> dp.t.then_sum(), {}, "makes no private release; chain a measurement"),
        (mean, {"d_in": 1}, "two are at least 2 apart by SymmetricDistance; d_in must be 2 or more"),
        (total, {"d_in": 1.5}, "counts in whole numbers; d_in cannot be 1.5"),
        (
            lambda: dp.m.make_noisy_max(
                SCORES[0], dp.linf_distance(T=float, monotonic=True), dp.max_divergence(), scale=1.0
            ),
            {}, "has no counterpart among dpaudit's relations",
        ),
    ],
)  # fmt: skip
def test_refusals_are_one_sentence(make: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        wrap(make(), **options)


@pytest.mark.parametrize(
    ("measurement", "dataset", "sentence"),
    [
        (laplace(), [0.0, 1.0], "takes one value"),
        (laplace(), ["a"], "takes records of type f64, not 'a'"),
        (mean(), [0.0], "takes 4 records, as its domain says; not 1"),
        (dp.m.make_randomized_response_bool(prob=0.75), [0], "takes records of type bool, not 0"),
    ],
)
def test_datasets_out_of_the_domain_are_refused(measurement: Any, dataset: list[Any], sentence: str) -> None:
    with pytest.raises(DatasetError, match=sentence):
        adapted(measurement)(dataset, default_rng(0), 1)


def test_outputs_that_are_no_values_are_read() -> None:
    composed = dp.c.make_composition([laplace(2.0), laplace(2.0)])
    one = wrap(composed, read=lambda released: released[0], name="first of two")
    assert [type(output) for output in one([0], default_rng(0), 4)] == [float] * 4
    assert one.__name__ == "first of two"


def test_histograms_with_keys_are_outcomes() -> None:
    ints = (dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
    keys = ints >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=1.0, threshold=4)
    one = adapted(keys)
    assert one.claim == Claim(*keys.map(1), ADD_REMOVE_ONE)
    assert set(one([7] * 50, default_rng(0), 3)[0]) == {7}


def test_true_claim_passes() -> None:
    """A false alarm has probability at most 1e-6."""
    (audit,) = dpaudit.audit(laplace(), pair=([0], [1]), runs=2_000, alpha=1e-6).audits
    assert audit.verdict is Verdict.PASS
    assert audit.source.startswith("OpenDP ")
    assert "map(1.0) = 1.0" in audit.source
    assert audit.notes[-1].code == "own_randomness"


def test_half_the_claim_is_refuted() -> None:
    """ε = 0.5 is claimed for ε = 2 (0.73 : 0.1 on a threshold event): 2,000 samples miss it with probability 1e-20."""
    (audit,) = dpaudit.audit(laplace(0.5), epsilon=0.5, pair=([0], [1]), runs=2_000).audits
    assert audit.verdict is Verdict.FAIL


def test_claim_under_the_metrics_relation_only() -> None:
    with pytest.raises(UsageError, match="2 answers-l1 steps apart"):
        dpaudit.audit(laplace(), pair=([0], [2]), runs=50)
