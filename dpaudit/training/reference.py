"""A small, exact DP-SGD in numpy, and the same loop with one known bug at a time.

It trains logistic regression with a canary whose gradient is fixed and lies in a coordinate of its own (a "Dirac
canary"), and records what it releases. It is written to be read beside Algorithm 1 of Abadi et al. 2016, and to show
what an audit finds; use a library for training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from dpaudit.errors import ParameterError, UnknownNameError
from dpaudit.stats.arrays import BoolArray, FloatArray
from dpaudit.training.claim import SGDClaim
from dpaudit.training.transcript import SGDTranscript

__all__ = ["BUGS", "KnownBug", "train"]

_PARTS = 4
"""Microbatches of a batch, and physical batches of an accumulated one."""
_LONG = 100.0
"""The norm of the canary's gradient, in clip norms."""


@dataclass(frozen=True)
class KnownBug:
    """A bug of DP-SGD that was reported.

    Args:
        what: what the loop does.
        effect: what follows for its privacy.
        source: the report.
    """

    what: str
    effect: str
    source: str


BUGS = {
    "clip-after-averaging": KnownBug(
        "averages the gradients of a batch and clips the average",
        "One record can move the sum by as many clip norms as a batch has records.",
        "ooples/AiDotNet pull request 1318 (review: \"the clipping happens after batch aggregation\")",
    ),
    "unscaled-noise": KnownBug(
        "adds noise of standard deviation σ instead of σ·C",
        "With a clip norm above 1 the noise is too small by that factor.",
        "tensorflow/privacy issue 104 (σ and the noise multiplier taken for one another); greenelab/SPRINT_gan issue 5 "
        "(a wrong power of the clip norm in the noise)",
    ),
    "noise-per-microbatch": KnownBug(
        f"adds noise of standard deviation σ·C/{_PARTS} to each of {_PARTS} microbatches",
        f"Variances add up, not standard deviations: the noise of the sum is too small by the factor √{_PARTS}.",
        "google-deepmind/optax issue 148 (noise on each device, the noise multiplier divided by their number); "
        "tensorflow/privacy issue 88 (the same question for microbatches)",
    ),
    "shuffled-batches": KnownBug(
        "shuffles the records and takes consecutive batches, with an accountant for Poisson sampling",
        "Each record is in exactly one batch of an epoch, which the accountant's amplification by sampling excludes.",
        "pytorch/opacus issue 80; tensorflow/privacy issue 483",
    ),
    "secret-batch-size": KnownBug(
        "divides by ⌊q·n⌋ of the number of records n",
        "One record more or less can change the scale of everything that is released.",
        "pytorch/opacus issues 571 and 819",
    ),
    "accumulation": KnownBug(
        f"accumulates the gradients of {_PARTS} batches and adds noise once, while the accountant counts batches",
        f"A noisy sum contains the canary with about {_PARTS} times the sampling rate, and up to {_PARTS} times.",
        "google-deepmind/jax_privacy issue 288 (two counts of steps that differ by the accumulation steps)",
    ),
    "seeded-noise": KnownBug(
        "seeds the generator of its noise with a constant",
        "Every run has the same noise, on D and on D′: who knows the code subtracts it.",
        "jax-ml/jax pull request 3646 (a key reused for the noise of several parameters)",
    ),
}
"""Name → bug, for `train(…, bug=name)`."""


def train(
    claim: SGDClaim,
    features: FloatArray,
    labels: FloatArray,
    rng: Generator,
    *,
    canary_in: bool,
    transcript: SGDTranscript | None = None,
    bug: str | None = None,
    learning_rate: float = 0.5,
) -> FloatArray:
    """Train logistic regression by DP-SGD, with or without a canary.

    Args:
        claim: its parameters; `denominator` is what the noisy sum is divided by.
        features: shape (records, features).
        labels: 0 or 1, shape (records,).
        rng: for the batches, and for the noise.
        canary_in: whether the canary is in the dataset, beside the records.
        transcript: where to record the run; `begin` is called here.
        bug: a name of `BUGS`; None for the correct loop.
        learning_rate: of the steps.

    Returns:
        The weights, shape (features + 1,): the last is the canary's.

    Raises:
        UnknownNameError: there is no such bug.
        ParameterError: the correct loop draws Poisson batches, and the claim says otherwise.

    Source: Abadi et al., Deep Learning with Differential Privacy, 2016, Algorithm 1.
    """
    if bug is not None and bug not in BUGS:
        raise UnknownNameError("bug of DP-SGD", bug, tuple(BUGS))
    if claim.sampling != "poisson":
        raise ParameterError(f"sampling must be 'poisson', not {claim.sampling!r}: the loop draws such batches.")
    records, dimension = features.shape[0], features.shape[1] + 1
    inputs = np.column_stack([features, np.zeros(records)])
    canary = np.zeros(dimension)
    canary[-1] = _LONG * claim.clip_norm
    noise_rng = np.random.default_rng(0) if bug == "seeded-noise" else rng
    divisor = claim.denominator
    if bug == "secret-batch-size":
        divisor = float(np.floor(claim.sampling_rate * (records + canary_in)))
    if transcript is not None:
        transcript.begin(canary_in=canary_in)
    weights = np.zeros(dimension)
    for batches in _drawn(claim, records, canary_in, rng, bug):
        clipped = np.zeros(dimension)
        others = np.zeros(dimension)
        sampled = 0
        for batch, has_canary in batches:
            x, y = inputs[batch], labels[batch]
            gradients = (1 / (1 + np.exp(-x @ weights)) - y)[:, None] * x
            if has_canary:
                gradients = np.vstack([gradients, canary])
                sampled += 1
            each = _clip(gradients, claim.clip_norm)
            others += each[: x.shape[0]].sum(axis=0)
            if bug == "clip-after-averaging":
                clipped += _clip(gradients.sum(axis=0, keepdims=True) / divisor, claim.clip_norm)[0] * divisor
            else:
                clipped += each.sum(axis=0)
        noisy = (clipped + _noise(claim, dimension, noise_rng, bug)) / divisor
        if transcript is not None:
            transcript.step(
                noisy, canary, others=others, sampled=sampled, divided_by=divisor,
                batch_size=sum(int(batch.sum()) + has_canary for batch, has_canary in batches),
            )
        weights = weights - learning_rate * noisy
    return weights


def _drawn(
    claim: SGDClaim, records: int, canary_in: bool, rng: Generator, bug: str | None
) -> Iterator[list[tuple[BoolArray, bool]]]:
    """The batches of every step: which records are in them, and whether the canary is."""
    total = records + canary_in
    if bug == "shuffled-batches":
        size = round(claim.sampling_rate * total)
        order: list[int] = []
        for _ in range(claim.steps):
            if len(order) < size:
                order = rng.permutation(total).tolist()
            batch = np.zeros(records + 1, dtype=np.bool_)
            batch[[order.pop() for _ in range(size)]] = True
            yield [(batch[:records], bool(batch[records]))]
        return
    parts = _PARTS if bug == "accumulation" else 1
    for _ in range(claim.steps // parts):
        yield [
            (rng.random(records) < claim.sampling_rate, bool(rng.random() < claim.sampling_rate) and canary_in)
            for _ in range(parts)
        ]


def _clip(gradients: FloatArray, clip_norm: float) -> FloatArray:
    """Each row scaled to a norm of at most `clip_norm`."""
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    clipped: FloatArray = gradients / np.maximum(1.0, norms / clip_norm)
    return clipped


def _noise(claim: SGDClaim, dimension: int, rng: Generator, bug: str | None) -> FloatArray:
    if bug == "unscaled-noise":
        return rng.normal(0.0, claim.noise_multiplier, dimension)
    if bug == "noise-per-microbatch":
        total: FloatArray = rng.normal(0.0, claim.noise_std / _PARTS, (_PARTS, dimension)).sum(axis=0)
        return total
    return rng.normal(0.0, claim.noise_std, dimension)
