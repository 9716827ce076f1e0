"""What a DP-SGD run claims: the parameters that its accountant was given, and the ε that follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpaudit.errors import MissingPackageError, ParameterError, UsageError
from dpaudit.stats.arrays import FloatArray

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["SGDClaim", "Sampling"]

Sampling = Literal["poisson", "without-replacement", "shuffled"]
"""How batches are drawn: each record independently with the sampling rate; a fixed number of records, anew in every
step; or consecutive parts of a permutation of the records."""

_SCHEMES: tuple[Sampling, ...] = get_args(Sampling)


@dataclass(frozen=True)
class SGDClaim:
    """DP-SGD with these parameters: in every step, a sum of clipped gradients plus N(0, (noise_multiplier·clip_norm)²).

    The relation is add-remove-one; for batches without replacement, D′ has a record without gradient in the place of
    the canary. Each coordinate of the sum gets its own noise, and steps are independent.

    Args:
        noise_multiplier: σ, the standard deviation of the noise over the clip norm; above 0.
        clip_norm: C, the largest Euclidean norm of one record's gradient; above 0.
        sampling_rate: q, the probability that a record is in a batch, in (0, 1].
        steps: number of noisy gradients that the accountant counted; at least 1.
        sampling: how batches are drawn: "poisson", "without-replacement" or "shuffled".
        denominator: what the noisy sum is divided by before it is released, e.g. the expected batch size; 1 if the
            sum itself is released. A constant, which must not depend on the data.

    Raises:
        ParameterError: one of them is outside its range.

    Source: Abadi et al., Deep Learning with Differential Privacy, 2016, Algorithm 1, with the batch size as a constant.
    """

    noise_multiplier: float
    clip_norm: float
    sampling_rate: float
    steps: int
    sampling: Sampling = "poisson"
    denominator: float = 1.0

    def __post_init__(self) -> None:
        for name in ("noise_multiplier", "clip_norm", "denominator"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise ParameterError(f"{name} must be a finite number above 0, not {value!r}.")
        if not 0 < self.sampling_rate <= 1:
            raise ParameterError(f"sampling_rate must lie in (0, 1], not be {self.sampling_rate!r}.")
        if isinstance(self.steps, bool) or int(self.steps) != self.steps or self.steps < 1:
            raise ParameterError(f"steps must be a whole number of at least 1, not {self.steps!r}.")
        if self.sampling not in _SCHEMES:
            raise ParameterError(f"sampling must be one of {', '.join(_SCHEMES)}, not {self.sampling!r}.")

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise in the sum of clipped gradients, σ·C."""
        return self.noise_multiplier * self.clip_norm

    @classmethod
    def from_event(
        cls, event: Any, *, clip_norm: float, sampling: Sampling = "poisson", denominator: float = 1.0
    ) -> Self:
        """The claim of a `DpEvent` of dp-accounting.

        Args:
            event: a Gaussian event, Poisson-sampled or not, composed with itself or not.
            clip_norm, sampling, denominator: what an event does not say.

        Raises:
            UsageError: the event is of another form.
        """
        steps, rate, inner = 1, 1.0, event
        if type(inner).__name__ == "SelfComposedDpEvent":
            steps, inner = int(inner.count), inner.event
        if type(inner).__name__ == "PoissonSampledDpEvent":
            rate, inner = float(inner.sampling_probability), inner.event
        if type(inner).__name__ != "GaussianDpEvent":
            raise UsageError(
                f"A claim is read from a Gaussian event, Poisson-sampled and composed with itself, not from {event!r}: "
                "make an SGDClaim from its noise multiplier, sampling rate and steps."
            )
        return cls(float(inner.noise_multiplier), clip_norm, rate, steps, sampling, denominator)

    @property
    def event(self) -> Any:
        """The `DpEvent` of dp-accounting for all steps.

        Raises:
            UsageError: batches are not drawn by Poisson sampling, for which alone it is an event.
            MissingPackageError: dp-accounting is not installed.
        """
        if self.sampling != "poisson":
            raise UsageError(
                f"dp-accounting's events of DP-SGD assume Poisson sampling, not {self.sampling} batches: state the "
                "epsilon that your own analysis gives."
            )
        events = _dp_accounting()
        gaussian = events.GaussianDpEvent(self.noise_multiplier)
        step = gaussian if self.sampling_rate == 1 else events.PoissonSampledDpEvent(self.sampling_rate, gaussian)
        return events.SelfComposedDpEvent(step, int(self.steps))

    def epsilon(self, delta: float) -> float:
        """ε of all steps at δ, by the privacy loss distributions of dp-accounting (an upper bound).

        Raises:
            UsageError, MissingPackageError: as `event` does.
        """
        return _epsilon(self, delta)

    def step_delta(self, epsilon: ArrayLike) -> FloatArray:
        """δ(ε) of one step, exactly, for an array of ε ≥ 0; shape as given.

        The pair N(0, σ²) against (1 − q) N(0, σ²) + q N(1, σ²) dominates a step under Poisson sampling, in one order
        where a record is added and in the other where one is removed. Both likelihood ratios are monotone, so the
        best events are half-lines; δ is the larger of the two.

        Source: Zhu, Dong and Wang, Optimal Accounting of Differential Privacy via Characteristic Function, 2022
        (dominating pairs of Poisson subsampling).
        """
        grid = np.minimum(np.asarray(epsilon, dtype=np.float64), 700.0)  # where the exponential is a float
        q, sigma = self.sampling_rate, self.noise_multiplier
        # removed: P = mixture, Q = N(0, σ²); P > e^ε Q beyond the threshold
        up = sigma**2 * np.log(np.expm1(grid) / q + 1) + 0.5
        removed = self._mixture_above(up) - np.exp(grid) * special.ndtr(-up / sigma)
        # added: P = N(0, σ²), Q = mixture; where e^-ε ≤ 1 − q no event has P > e^ε Q
        inside = np.expm1(-grid) / q + 1
        with np.errstate(divide="ignore"):
            down = np.where(inside > 0, sigma**2 * np.log(np.maximum(inside, 0)) + 0.5, -np.inf)
        added = special.ndtr(down / sigma) - np.exp(grid) * (1 - self._mixture_above(down))
        deltas: FloatArray = np.maximum(0.0, np.maximum(removed, np.where(np.isfinite(down), added, 0.0)))
        return deltas

    def _mixture_above(self, threshold: FloatArray) -> FloatArray:
        q, sigma = self.sampling_rate, self.noise_multiplier
        above: FloatArray = (1 - q) * special.ndtr(-threshold / sigma) + q * special.ndtr((1 - threshold) / sigma)
        return above


@lru_cache(maxsize=64)  # seconds where there are many steps
def _epsilon(claim: SGDClaim, delta: float) -> float:
    event = claim.event
    from dp_accounting.pld import pld_privacy_accountant

    return float(pld_privacy_accountant.PLDAccountant().compose(event).get_epsilon(delta))


def _dp_accounting() -> ModuleType:
    try:
        from dp_accounting import dp_event
    except ModuleNotFoundError as error:
        if error.name != "dp_accounting":
            raise
        raise MissingPackageError("The claim for a whole training", "dp-accounting", "dp-accounting") from None
    module: ModuleType = dp_event
    return module
