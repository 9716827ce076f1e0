"""What scores of canaries say, against the definitions and in simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from dpaudit.stats import bands, gdp, membership, tradeoff

ALPHA = 0.05


def normal(mean: float, n: int, seed: int, m: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(mean, 1, n), rng.normal(0, 1, n if m is None else m)


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("rounded", [False, True])
def test_the_best_threshold_by_trying_all(delta: float, rounded: bool) -> None:
    inside, outside = normal(1.5, 60, 0, 45)
    if rounded:
        inside, outside = inside.round(), outside.round()
    best = 0.0
    for threshold in {*inside, *outside}:
        fpr = bands.upper_limits(int((outside >= threshold).sum()), 45, alpha=ALPHA / 2)
        fnr = bands.upper_limits(int((inside < threshold).sum()), 60, alpha=ALPHA / 2)
        for one, two in ((fpr, fnr), (fnr, fpr)):
            if 1 - two > delta:
                best = max(best, math.log((1 - two - delta) / one))
    found = membership.upper_errors(inside, outside, alpha=ALPHA)
    assert found.epsilon(delta) == pytest.approx(best, rel=1e-12)
    mu = max(gdp.mu_of_errors(*errors) for errors in zip(found.fpr.tolist(), found.fnr.tolist(), strict=True))
    assert found.mu == pytest.approx(mu, rel=1e-12)


def test_the_best_threshold_is_an_event() -> None:
    inside, outside = normal(2.0, 500, 1)
    errors = membership.upper_errors(inside, outside, alpha=ALPHA)
    best = errors.best(0.0)
    chosen = (inside >= best.threshold, outside >= best.threshold) if best.above else (
        outside < best.threshold, inside < best.threshold
    )
    assert chosen[0].mean() / max(chosen[1].mean(), 1 / 500) > math.exp(best.epsilon)


@pytest.mark.parametrize("seed", range(20))
def test_a_curve_is_exceeded_where_a_bound_says_so(seed: int) -> None:
    """The trade-off function of μ-GDP is exceeded below the bound on μ and not above, that of (ε, δ) likewise."""
    errors = membership.upper_errors(*normal(1.0 + seed % 3, 200, seed, 150), alpha=ALPHA)
    assert errors.excess(gdp.tradeoff(errors.mu + 1e-6, errors.fpr)) is None
    found = errors.excess(gdp.tradeoff(errors.mu - 1e-6, errors.fpr))
    assert found is not None
    assert found.least > found.fnr
    assert gdp.mu_of_errors(found.fpr, found.fnr) == pytest.approx(errors.mu, abs=1e-5)
    for delta in (0.0, 0.05):
        epsilon = errors.epsilon(delta)
        assert epsilon > 0
        assert errors.excess(tradeoff.of_claim([epsilon + 1e-6], [delta], errors.fpr)) is None
        assert errors.excess(tradeoff.of_claim([epsilon - 1e-6], [delta], errors.fpr)) is not None


def test_the_tradeoff_function_of_gdp_is_its_profile() -> None:
    """δ(ε) = max over the curve of 1 − β − e^ε α."""
    alpha = np.concatenate([np.geomspace(1e-12, 0.5, 20_000), np.linspace(0.5, 1, 1_000)])
    for mu in (0.3, 1.0, 4.0):
        beta = gdp.tradeoff(mu, alpha)
        for epsilon in (0.0, 0.5, 2.0):
            assert float((1 - beta - math.exp(epsilon) * alpha).max()) == pytest.approx(
                gdp.delta_of(mu, epsilon), rel=1e-5
            )
    assert gdp.tradeoff(1.0, [0.0, 1.0]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("mean", [0.0, -1.0, -3.0])
def test_scores_that_are_no_better_than_guessing_say_nothing(mean: float) -> None:
    """Not even where canaries in the data have far lower scores: that would need lower limits of the errors."""
    errors = membership.upper_errors(*normal(mean, 1_000, 2), alpha=ALPHA)
    assert errors.epsilon(0.0) == 0
    assert errors.mu == 0


@pytest.mark.parametrize(("mean", "rounded"), [(0.0, False), (1.0, False), (1.0, True), (4.0, False)])
def test_auroc_is_mann_whitney(mean: float, rounded: bool) -> None:
    inside, outside = normal(mean, 80, 3, 50)
    if rounded:
        inside, outside = inside.round(), outside.round()
    area = membership.auroc(inside, outside, alpha=ALPHA)
    assert area.estimate == pytest.approx(stats.mannwhitneyu(inside, outside).statistic / (80 * 50))
    assert 0 <= area.low < area.estimate <= area.high <= 1


def test_auroc_of_separated_scores() -> None:
    """KL(1 ‖ A) = −ln A, so the lower limit is (α/2)^(1/n)."""
    area = membership.auroc(np.arange(20) + 100, np.arange(30), alpha=ALPHA)
    assert (area.estimate, area.high) == (1, 1)
    assert area.low == pytest.approx((ALPHA / 2) ** (1 / 20))


def test_tpr_at_an_fpr_of_few_scores() -> None:
    """Of 1,000 scores out, 5 may lie above the threshold at FPR 0.5 %."""
    inside, outside = normal(1.0, 1_000, 4)
    rate = membership.tpr_at_fpr(inside, outside, 0.005, alpha=ALPHA)
    assert rate.estimate == (inside > np.sort(outside)[-6]).mean()
    assert rate.low <= rate.estimate <= rate.high
    everything = membership.tpr_at_fpr(inside, outside, 1.0, alpha=ALPHA)
    assert (everything.estimate, everything.high) == (1, 1)
    assert membership.tpr_at_fpr(inside, outside, 0.0, alpha=ALPHA).low == 0


def test_what_covers_the_truth_covers_it_often_enough() -> None:
    """300 data sets each; a rate above α by more than 4 standard errors has a chance below 1 in 10,000."""
    mu, sets, most = 1.0, 300, ALPHA + 4 * math.sqrt(ALPHA / 300)
    wrong = dict.fromkeys(("area", "rate", "band", "mu"), 0)
    for seed in range(sets):
        pair = normal(mu, 200, seed, 300)
        area = membership.auroc(*pair, alpha=ALPHA)
        wrong["area"] += not area.low <= special.ndtr(mu / math.sqrt(2)) <= area.high
        rate = membership.tpr_at_fpr(*pair, 0.05, alpha=ALPHA)
        wrong["rate"] += not rate.low <= special.ndtr(special.ndtri(0.05) + mu) <= rate.high
        band = membership.tradeoff_band(*pair, alpha=ALPHA)
        fpr, fnr = special.ndtr(-band.threshold), special.ndtr(band.threshold - mu)
        inside = (band.fpr_low <= fpr) & (fpr <= band.fpr_high) & (band.fnr_low <= fnr) & (fnr <= band.fnr_high)
        wrong["band"] += not inside.all()
        wrong["mu"] += membership.upper_errors(*pair, alpha=ALPHA).mu > mu
    assert all(count / sets <= most for count in wrong.values()), wrong
    assert wrong["band"] > 0  # it is no wider than it has to be


def test_infinite_scores_are_scores() -> None:
    inside = np.array([math.inf] * 50)
    assert membership.upper_errors(inside, np.zeros(50), alpha=ALPHA).epsilon(0.0) > 1


@pytest.mark.parametrize("scores", [[], [[1.0]], [1.0, math.nan]])
def test_bad_scores(scores: list[float]) -> None:
    with pytest.raises(ValueError, match="in_scores"):
        membership.auroc(scores, [1.0], alpha=ALPHA)
