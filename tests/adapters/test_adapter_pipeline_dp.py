"""pipeline-dp: claims, datasets of people, refusals, and audits of true and of wrong claims.

Its noise cannot be seeded. A true claim fails with probability at most the α that is given, and a wrong one passes with
probability below 1e-6.
"""

from __future__ import annotations

from typing import Any

import pytest
from numpy.random import default_rng

# pytester forgets modules that an inner run has imported first, and numpy cannot be imported twice
import dpaudit.pytest_plugin.auditor
import dpaudit.pytest_plugin.reports
from dpaudit.errors import DatasetError, UsageError
from dpaudit.language import ADD_REMOVE_ONE, Claim
from dpaudit.results.model import Verdict
from dpaudit.subjects.adapters import adapted
from dpaudit.subjects.adapters.pipeline_dp import wrap

pdp: Any = pytest.importorskip("pipeline_dp", reason="pipeline-dp is not installed (extra pipeline-dp)")

ONE = [("shop", 1.0)]


def params(metric: str, **how: Any) -> Any:
    """Of one metric, to which each person contributes once."""
    bounds = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1, **how}
    return pdp.AggregateParams(metrics=[getattr(pdp.Metrics, metric)], **bounds)


SUITE = """
import pipeline_dp as pdp
from dpaudit.subjects.adapters.pipeline_dp import wrap

ONE = [("shop", 1.0)]


def params(metric, **how):
    bounds = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1, **how}
    return pdp.AggregateParams(metrics=[metric], **bounds)


def test_count_is_private(dp_audit):
    count = wrap(params(pdp.Metrics.COUNT), epsilon=1.0, public_partitions=["shop"])
    dp_audit(count, pair=([ONE], [ONE, ONE]))


def test_sum_of_clipped_values_is_private(dp_audit):
    total = wrap(params(pdp.Metrics.SUM, min_value=0.0, max_value=1.0), epsilon=1.0, public_partitions=["shop"])
    dp_audit(total, pair=([ONE], [ONE, [("shop", 100.0)]]))


def test_mean_is_private(dp_audit):
    mean = wrap(params(pdp.Metrics.MEAN, min_value=0.0, max_value=1.0), epsilon=1.0, public_partitions=["shop"])
    dp_audit(mean, pair=([ONE], [ONE, [("shop", 0.0)]]))


def test_selection_of_partitions_is_private(dp_audit):
    count = wrap(params(pdp.Metrics.COUNT, noise_kind=pdp.NoiseKind.GAUSSIAN), epsilon=1.0, delta=0.01)
    busy = [("shop", 1.0), ("shop", 1.0), ("market", 1.0)]
    dp_audit(count, pair=([ONE, ONE], [ONE, ONE, busy]))
"""


def test_four_audits_of_a_test_suite(pytester: pytest.Pytester) -> None:
    """With the default number of samples they take under 20 seconds on an idle core."""
    pytester.makepyprojecttoml("[tool.dpaudit]\n")
    pytester.makepyfile(SUITE)
    ran = pytester.runpytest_inprocess(
        "-p", "no:xdist", "-p", "no:cacheprovider", "--dp-alpha=1e-6", "--dp-runs=4000"
    )
    ran.assert_outcomes(passed=4)


# the adapter --------------------------------------------------------------------------------------------------------


def test_the_budget_is_the_claim() -> None:
    one = wrap(params("COUNT"), epsilon=0.5, delta=1e-3)
    assert one.claim == Claim(0.5, 1e-3, ADD_REMOVE_ONE)
    assert one.name == "pipeline-dp COUNT"
    assert adapted(one) is one


def test_outputs_are_metrics_by_partition() -> None:
    sums = wrap(params("SUM", min_value=0.0, max_value=1.0), epsilon=1e6, public_partitions=["shop", "none"])
    (output,) = sums([[("shop", 5.0)], (("shop", 0.5),), [("left out", 1.0)], []], default_rng(0), 1)
    assert isinstance(output, dict)
    assert output["shop"] == pytest.approx(1.5, abs=1e-3)
    assert output["none"] == pytest.approx(0, abs=1e-3)
    assert len(output) == 2
    both = pdp.AggregateParams(
        metrics=[pdp.Metrics.COUNT, pdp.Metrics.PRIVACY_ID_COUNT], max_partitions_contributed=1,
        max_contributions_per_partition=2,
    )  # fmt: skip
    counts: Any
    (counts,) = wrap(both, epsilon=1e6, public_partitions=["shop"])([ONE * 2], default_rng(0), 1)
    assert {name: round(value) for name, value in counts["shop"].items()} == {"count": 2, "privacy_id_count": 1}
    read = wrap(params("COUNT"), epsilon=1e6, public_partitions=["shop"], read=lambda found: found["shop"])
    assert read([ONE, ONE], default_rng(0), 1) == [pytest.approx(2, abs=1e-3)]


def test_refusals_are_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"state no budget: .* pipeline_dp\.wrap\(params, epsilon=…\)\.$"):
        dpaudit.audit(params("COUNT"), epsilon=1.0, pair=([ONE], []))
    with pytest.raises(UsageError, match="Metric of pipeline-dp is not known here: give AggregateParams"):
        wrap(pdp.Metrics.COUNT, epsilon=1.0)
    with pytest.raises(UsageError, match=r"Without public_partitions .* needs a delta above 0"):
        wrap(params("COUNT"), epsilon=1.0)
    count = wrap(params("COUNT"), epsilon=1.0, public_partitions=["shop"])
    for dataset in ([1], [["shop"]], [("shop", 1.0)]):
        with pytest.raises(DatasetError, match=r"takes people, each of them a list of \(partition, value\)"):
            count(dataset, default_rng(0), 1)


def test_half_the_budget_is_refuted() -> None:
    """ε = 0.5 is claimed for ε = 2."""
    count = wrap(params("COUNT"), epsilon=2.0, public_partitions=["shop"])
    (audit,) = dpaudit.audit(count, epsilon=0.5, pair=([ONE], [ONE, ONE]), runs=2_000).audits
    assert audit.verdict is Verdict.FAIL
    assert audit.notes[-1].code == "own_randomness"
