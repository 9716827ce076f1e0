"""What scores of canaries say: an attack that calls a canary "in" if its score is high.

Scores of canaries that were in the training data are independent draws from one distribution, scores of canaries that
were left out from another one; every test of "out" against "in" is an event of the score. With FPR = P(out ≥ t) and
FNR = P(in < t) at a threshold t, (ε, δ)-DP implies, for the events {score ≥ t} and {score < t},

    1 − FNR ≤ e^ε FPR + δ   and   1 − FPR ≤ e^ε FNR + δ.

`upper_errors` has upper limits of FPR and FNR that hold at all thresholds at once (`bands`), so the bounds on ε and μ
that it gives may take the best threshold of the same scores, at every δ. Both need only the *upper* limits of both
errors; mirroring an attack that is worse than guessing would need lower ones. A score that is low for canaries in the
data has to be negated.

Each limit is of one error and uses scores of one kind, so these limits hold whatever the dependence between scores "in"
and "out": pairs of dependent scores are allowed if the pairs are independent. AUROC and TPR need independent kinds.

AUROC: P(in > out) + P(in = out) / 2, a two-sample U-statistic. A mean over all pairings of min(n, m) independent terms,
it has the tails of one such mean: W. Hoeffding, "Probability inequalities for sums of bounded random variables",
Journal of the American Statistical Association 58 (1963), Theorem 1 and Section 5b.

TPR at FPR: a threshold that is an order statistic of the scores "out" alone is independent of those "in", so its FPR
has a beta limit (S. Wilks, "Determination of sample sizes for setting tolerance limits", Annals of Mathematical
Statistics 12, 1941), and its TPR a Clopper-Pearson limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpaudit.stats import bands
from dpaudit.stats.arrays import FloatArray, IntArray
from dpaudit.stats.clopper_pearson import check_alpha, check_delta, lower, upper

__all__ = [
    "Band", "Best", "Excess", "Interval", "UpperErrors", "auroc", "tpr_at_fpr", "tradeoff_band", "upper_errors",
]

_ROUNDING = 1e-12
"""Of trade-off functions in doubles: an excess that is smaller counts as none."""


@dataclass(frozen=True)
class Interval:
    """An estimate between two confidence limits, which hold together with probability at least 1 − alpha."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Best:
    """The threshold event with the largest bound on ε.

    Args:
        epsilon: lower confidence bound, at least 0.
        threshold: of the scores.
        above: whether the event is {score ≥ threshold}, more likely for canaries in the data; otherwise it is {score <
            threshold}, more likely for those left out.
    """

    epsilon: float
    threshold: float
    above: bool


@dataclass(frozen=True)
class Excess:
    """The threshold at which the errors are farthest below a trade-off function.

    Args:
        threshold: of the scores.
        fpr, fnr: upper limits of both errors there.
        least: the FNR that the trade-off function leaves to every test with this FPR; it is above `fnr`.
    """

    threshold: float
    fpr: float
    fnr: float
    least: float


@dataclass(frozen=True)
class UpperErrors:
    """Upper limits of both errors of the attack "in if the score is at least the threshold", at all thresholds at once.

    With probability at least 1 − alpha all limits hold together. Arrays have the length of `threshold`, descending.
    """

    threshold: FloatArray
    fpr: FloatArray
    """Upper limit of P(out ≥ threshold)."""
    fnr: FloatArray
    """Upper limit of P(in < threshold)."""

    def best(self, delta: float) -> Best:
        """The largest lower bound on ε at δ over all thresholds, and where it is; the bounds at all δ hold together.

        Raises ValueError if delta is not in [0, 1].
        """
        check_delta(delta)
        with np.errstate(divide="ignore"):
            above = np.log(np.maximum(1 - self.fnr - delta, 0.0)) - np.log(self.fpr)
            below = np.log(np.maximum(1 - self.fpr - delta, 0.0)) - np.log(self.fnr)
        values, is_above = (above, True) if above.max() >= below.max() else (below, False)
        at = int(values.argmax())
        return Best(max(0.0, float(values[at])), float(self.threshold[at]), is_above)

    def epsilon(self, delta: float) -> float:
        """The `epsilon` of `best`."""
        return self.best(delta).epsilon

    def excess(self, least: FloatArray) -> Excess | None:
        """Where the errors are below a trade-off function f, or None where they are nowhere.

        Every test has FNR ≥ f(FPR) if the mechanism is f-DP, and f does not increase. So limits with fnr < f(fpr) at
        one threshold refute f-DP; as all limits hold together, f is compared at all thresholds with one alpha.

        Args:
            least: f at every `fpr`, of a symmetric f (or an f of both directions): one comparison covers both.

        Source: J. Dong, A. Roth and W. Su, "Gaussian differential privacy", Journal of the Royal Statistical Society B
        84 (2022), Definition 2.3.
        """
        gaps = least - self.fnr
        at = int(gaps.argmax())
        if gaps[at] <= _ROUNDING:
            return None
        return Excess(*(float(one[at]) for one in (self.threshold, self.fpr, self.fnr, least)))

    @property
    def mu(self) -> float:
        """The largest lower bound on μ: being μ-GDP for a smaller μ is refuted, whatever the trade-off curve."""
        # as gdp.mu_of_errors, at all thresholds; the first has an upper limit of 1 for the FNR
        return max(0.0, float(np.max(-special.ndtri(self.fpr) - special.ndtri(self.fnr))))


@dataclass(frozen=True)
class Band:
    """The trade-off curve of the attack and a simultaneous confidence band.

    With probability at least 1 − alpha the true errors at every threshold lie between their limits, all at once. Arrays
    have the length of `threshold`, descending. The band is about this attack: that its errors are not smaller says
    nothing about other attacks.
    """

    threshold: FloatArray
    fpr: FloatArray
    fpr_low: FloatArray
    fpr_high: FloatArray
    fnr: FloatArray
    fnr_low: FloatArray
    fnr_high: FloatArray


def upper_errors(in_scores: ArrayLike, out_scores: ArrayLike, *, alpha: float) -> UpperErrors:
    """Upper limits of both errors at every threshold; half of alpha for each error.

    Args:
        in_scores: scores of canaries in the training data, shape (n,), independent draws; higher means "in".
        out_scores: scores of canaries that were left out, shape (m,).
        alpha: in (0, 1).

    Raises ValueError if a score is NaN, if there is none, or if alpha is out of range.
    """
    inside, outside = _scores(in_scores, "in_scores"), _scores(out_scores, "out_scores")
    check_alpha(alpha)
    threshold, positives, negatives = _counts(inside, outside)
    return UpperErrors(
        threshold=threshold,
        fpr=bands.upper_limits(positives, outside.size, alpha=alpha / 2),
        fnr=bands.upper_limits(negatives, inside.size, alpha=alpha / 2),
    )


def tradeoff_band(in_scores: ArrayLike, out_scores: ArrayLike, *, alpha: float) -> Band:
    """The trade-off curve with a two-sided band; a quarter of alpha for each side of each error.

    Arguments and errors as for `upper_errors`.
    """
    inside, outside = _scores(in_scores, "in_scores"), _scores(out_scores, "out_scores")
    check_alpha(alpha)
    threshold, positives, negatives = _counts(inside, outside)
    n, m, share = inside.size, outside.size, alpha / 4
    return Band(
        threshold=threshold,
        fpr=positives / m,
        fpr_low=bands.lower_limits(positives, m, alpha=share),
        fpr_high=bands.upper_limits(positives, m, alpha=share),
        fnr=negatives / n,
        fnr_low=bands.lower_limits(negatives, n, alpha=share),
        fnr_high=bands.upper_limits(negatives, n, alpha=share),
    )


def auroc(in_scores: ArrayLike, out_scores: ArrayLike, *, alpha: float) -> Interval:
    """The area under the ROC curve, P(in > out) + P(in = out) / 2, with limits that hold for every sample size.

    The limits are the values A with min(n, m) · KL(estimate ‖ A) ≤ ln(2 / alpha); they are about 1.7 times as wide as
    the asymptotic ones of DeLong for an area of 1/2, and need no normal approximation.

    Arguments and errors as for `upper_errors`.
    """
    inside, outside = _scores(in_scores, "in_scores"), _scores(out_scores, "out_scores")
    check_alpha(alpha)
    ordered = np.sort(outside)
    below, not_above = np.searchsorted(ordered, inside, "left"), np.searchsorted(ordered, inside, "right")
    estimate = float((below + not_above).sum()) / (2 * inside.size * outside.size)
    allowed = math.log(2 / alpha) / min(inside.size, outside.size)
    return Interval(estimate, _farthest(estimate, 0.0, allowed), _farthest(estimate, 1.0, allowed))


def tpr_at_fpr(in_scores: ArrayLike, out_scores: ArrayLike, fpr: float, *, alpha: float) -> Interval:
    """The largest TPR of a threshold with at most this FPR, with limits for both errors; a quarter of alpha for each.

    Both thresholds of the limits are order statistics of `out_scores`: one whose FPR is at most `fpr`, and one whose
    FPR is at least that, each with confidence 1 − alpha/4.

    Arguments and errors as for `upper_errors`; ValueError also if fpr is not in [0, 1].
    """
    inside, outside = _scores(in_scores, "in_scores"), _scores(out_scores, "out_scores")
    check_alpha(alpha)
    if not 0 <= fpr <= 1:
        raise ValueError(f"fpr must lie between 0 and 1, not be {fpr!r}")
    n, m, share = inside.size, outside.size, alpha / 4
    falling = np.sort(outside)[::-1]
    at_most, at_least = _order_limits(m, share)
    # {score > falling[k]} has at most k of the scores "out", {score >= falling[k]} at least k + 1
    few, many = int(np.searchsorted(at_most, fpr, "right")), int(np.searchsorted(at_least, fpr, "left"))
    low = lower(int((inside > falling[few - 1]).sum()), n, alpha=share) if few else 0.0
    high = upper(int((inside >= falling[many]).sum()), n, alpha=share) if many < m else 1.0
    allowed = math.floor(fpr * m * (1 + 1e-12))
    estimate = float((inside > falling[allowed]).mean()) if allowed < m else 1.0
    return Interval(estimate, min(low, estimate), max(high, estimate))


@lru_cache(maxsize=64)
def _order_limits(m: int, share: float) -> tuple[FloatArray, FloatArray]:
    """Limits of P(X > x) and P(X ≥ x) for x the k-th largest of m values, k from 0: an upper and a lower one."""
    above, below = np.arange(1.0, m + 1.0), np.arange(float(m), 0.0, -1.0)
    at_most = np.asarray(special.betainccinv(above, below, share), dtype=np.float64)
    return at_most, np.asarray(special.betaincinv(above, below, share), dtype=np.float64)


def _counts(inside: FloatArray, outside: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Thresholds descending, from above all scores to the least; scores "out" at or above each, "in" below it."""
    threshold = np.concatenate([[np.inf], np.unique(np.concatenate([inside, outside]))[::-1]])
    low, high = np.sort(outside), np.sort(inside)
    positives = outside.size - np.searchsorted(low, threshold, "left")
    negatives = np.searchsorted(high, threshold, "left")
    return threshold, positives, negatives


def _scores(scores: ArrayLike, name: str) -> FloatArray:
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be a one-dimensional array of at least one score, not of shape {array.shape}")
    if np.isnan(array).any():
        raise ValueError(f"{name} has {int(np.isnan(array).sum())} scores that are NaN")
    return array


def _farthest(estimate: float, end: float, allowed: float) -> float:
    """The value between the estimate and the end at which the divergence KL(estimate ‖ ·) is `allowed`; rounded out."""
    near, far = estimate, end
    for _ in range(60):
        middle = (near + far) / 2
        divergence = float(special.rel_entr(estimate, middle) + special.rel_entr(1 - estimate, 1 - middle))
        near, far = (middle, far) if divergence <= allowed else (near, middle)
    return far
