"""Limits that hold for all thresholds at once: exact probabilities for few values, simulation for more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpaudit.stats import bands, clopper_pearson


def test_one_value_is_one_clopper_pearson_limit() -> None:
    assert bands.local_level(1, 0.05) == pytest.approx(0.05)
    assert bands.upper_limits(0, 1, alpha=0.05) == pytest.approx(clopper_pearson.upper(0, 1, alpha=0.05))


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-3])
def test_two_values_in_closed_form(alpha: float) -> None:
    """P(U_(1) ≥ a, U_(2) ≥ b) = (1 − a)² − (b − a)² for a ≤ b; the limit of count k is about U_(n−k)."""
    b, a = 1 - bands.upper_limits([0, 1], 2, alpha=alpha)
    assert (1 - a) ** 2 - (b - a) ** 2 == pytest.approx(1 - alpha, abs=0.01 * alpha)
    assert (1 - a) ** 2 - (b - a) ** 2 >= 1 - alpha


@pytest.mark.parametrize(("n", "sets"), [(10, 40_000), (60, 20_000), (1_500, 4_000)])
def test_all_limits_hold_together(n: int, sets: int) -> None:
    """Both sides are wrong with a frequency of α, within 4 standard errors (1 in 16,000 by chance, for each)."""
    alpha = 0.1
    ordered = np.sort(np.random.default_rng(n).random((sets, n)), axis=1)
    counts = np.arange(n)
    # k values lie below the (k + 1)-th
    high = (ordered > bands.upper_limits(counts, n, alpha=alpha)).any(axis=1).mean()
    low = (ordered < bands.lower_limits(counts + 1, n, alpha=alpha)).any(axis=1).mean()
    deviation = 4 * np.sqrt(alpha * (1 - alpha) / sets)
    assert abs(high - alpha) < deviation
    assert abs(low - alpha) < deviation


def test_values_with_atoms_are_covered_too() -> None:
    rng = np.random.default_rng(0)
    alpha, n, sets = 0.1, 40, 5_000
    values = rng.poisson(2.0, (sets, n))
    thresholds = np.arange(12)
    above = (values[:, :, None] > thresholds).sum(axis=1)
    truth = stats.poisson.sf(thresholds, 2.0)
    assert (bands.upper_limits(above, n, alpha=alpha) < truth).any(axis=1).mean() <= alpha


@pytest.mark.parametrize("n", [1, 7, 300, 5_000])
def test_limits_rise_and_lie_outside_those_of_one_threshold(n: int) -> None:
    counts = np.arange(n + 1)
    upper, lower = bands.upper_limits(counts, n, alpha=0.05), bands.lower_limits(counts, n, alpha=0.05)
    assert (np.diff(upper) >= 0).all()
    assert (np.diff(lower) >= 0).all()
    for k in (0, n // 2, n):
        low, high = clopper_pearson.lower(k, n, alpha=0.05), clopper_pearson.upper(k, n, alpha=0.05)
        assert lower[k] <= low + 1e-12
        assert upper[k] >= high - 1e-12
    assert lower[0] == 0
    assert upper[n] == 1


def test_small_probabilities_are_far_sharper_than_by_dkw() -> None:
    n, alpha = 1_000, 0.05
    width = float(bands.upper_limits(0, n, alpha=alpha))
    assert width < bands.dkw_width(n, alpha=alpha) / 5


@pytest.mark.parametrize("counts", [[0.5], [-1], [4]])
def test_bad_counts(counts: list[float]) -> None:
    with pytest.raises(ValueError, match="counts must"):
        bands.upper_limits(counts, 3, alpha=0.05)
