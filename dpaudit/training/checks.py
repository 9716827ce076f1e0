"""Direct checks of a transcript against the DP-SGD that was claimed: exact tests of one property each.

The null hypothesis is the claim: given the past, a released sum is

    others + B·c + N(0, σ²C² I),  ‖c‖ ≤ C,

where c is the canary's clipped gradient and B is 1 with probability q on D, and 0 on D′. Write r for a released sum
without `others`, in the canary's direction. All p-values below are exact or upper bounds under this hypothesis, also
if the loop adapts to what it released, because noise and sampling are independent of the past.

More noise than claimed is no violation. Every check is valid for any noise of at least the claimed standard deviation
(that of `contribution` estimates it from above), so that a loop that adds too much is not accused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpaudit.api.canaries import ScoresResult
from dpaudit.api.result import Result
from dpaudit.stats.arrays import BoolArray, FloatArray, IntArray
from dpaudit.stats.clopper_pearson import lower
from dpaudit.training.transcript import SGDTranscript

__all__ = [
    "Check", "background", "contribution", "denominator", "noise", "places", "reuse", "sampling", "scale", "steps",
]  # fmt: skip

_CLOSE = 1e-4
"""Noise values closer than this, in standard deviations of the claimed noise, coincide: far above what rounding to
32-bit floats moves them, and rare among independent values."""
_MOST_LAGS = 200
_NEAR = 0.05
"""For hints, numbers this close, relative, are the same."""
_BACKGROUND = 1e-3
"""Error of the test whether other records have a gradient in the canary's direction, which only withholds checks."""


@dataclass(frozen=True)
class Check:
    """One property of the loop, tested.

    Args:
        name: "contribution", "noise", "scale", "denominator", "sampling", "steps", "reuse", "step-epsilon" or
            "run-epsilon".
        found: whether it is violated, at this check's share of α.
        says: what was measured, a sentence.
        p_value: an upper bound on the p-value; None if the check has no error probability, or was not made.
        remedy: what to look for in the loop; empty if nothing was found.
        made: whether it was made; `says` has the reason if not.
        result: that of `audit_samples` or `audit_scores`, of a check that bounds ε.
    """

    name: str
    found: bool
    says: str
    p_value: float | None = None
    remedy: str = ""
    made: bool = True
    result: Result | ScoresResult | None = None

    def __str__(self) -> str:
        mark = "FOUND" if self.found else "ok" if self.made else "not made"
        return f"{self.name + ':':14} {mark:9} {self.says}" + (f" {self.remedy}" if self.found else "")


def _skipped(name: str, why: str) -> Check:
    return Check(name, found=False, says=why, made=False)


def _tested(name: str, p_value: float, alpha: float, says: str, remedy: str) -> Check:
    found = p_value <= alpha
    return Check(name, found, says, p_value, remedy if found else "")


def contribution(transcript: SGDTranscript, alpha: float) -> Check:
    """Whether the canary adds more than C to a sum in which it is: the sum S of r over m steps on D is too far from 0.

    Under the claim |S| ≤ K·C + |N(0, m σ²C²)| with K = Σ B, so that P(|S| ≥ s) ≤ 2 E[Φ((K C − s) / (s' √m))] for the
    noise's standard deviation s'. Both signs count, in case the direction was given with the wrong one. If it was
    recorded in which steps the canary was sampled, S is over these, and K = m. If not, K ~ Bin(m, q), or, for shuffled
    batches, at most one in each epoch of a run. For s' stands the larger of σC and an upper confidence limit from the
    steps on D′ and the coordinates across the canary's direction, with half the check's error.
    """
    claim, inside = transcript.claim, transcript.canary_in
    if not inside.any() or inside.all():
        return _skipped("contribution", "It needs a run with the canary and one without.")
    squares, freedom = _noise_squares(transcript)
    if (obstacle := background(transcript)) is not None:
        return _skipped("contribution", obstacle)
    std = max(claim.noise_std, _std_upper(squares, freedom, alpha / 2))
    r, sampled = transcript.projection[inside], transcript.sampled[inside]
    weights = np.ones(1)
    if (sampled >= 0).all():
        r = r[sampled > 0]
        counts = np.array([r.size])
    elif claim.sampling == "shuffled":
        lengths = np.unique(transcript.run[inside], return_counts=True)[1]
        counts = np.array([np.ceil(lengths * claim.sampling_rate).sum()])
    else:
        counts, weights = np.arange(r.size + 1), _binomial_pmf(r.size, claim.sampling_rate)
    if not r.size:
        return _skipped("contribution", "The canary was in no batch.")
    total, spread = float(r.sum()), std * math.sqrt(r.size)
    tail = float(weights @ special.ndtr((counts * claim.clip_norm - abs(total)) / spread))
    p_value = min(1.0, 2 * tail + alpha / 2)
    expected = float(weights @ counts) * claim.clip_norm
    says = (
        f"the canary adds {abs(total) / expected:.3g} clip norms to a sum in which it is (standard error "
        f"{spread / expected:.2g}); at most 1 was claimed."
    )
    if total < -3 * spread:
        says += " It points against the direction given as canary_gradient."
    return _tested(
        "contribution", p_value, alpha, says,
        "Clip each record's gradient before gradients are summed or averaged, and let a record count once per sum.",
    )


def noise(transcript: SGDTranscript, alpha: float) -> Check:
    """Whether the noise is smaller than σC: the sum of its squares lies in the lower tail of a χ² distribution.

    The squares are those of the coordinates across the canary's direction, where they are known, and of r on D′. A mean
    that is not zero, given the past, only makes a square stochastically larger (Anderson 1955), so the lower tail stays
    valid whatever other records add.
    """
    claim = transcript.claim
    squares, freedom = _noise_squares(transcript)
    if not freedom:
        return _skipped("noise", "It needs a run without the canary, or others=.")
    ratio = squares / claim.noise_std**2
    p_value = float(special.gammainc(freedom / 2, ratio / 2))
    low, high = _std_lower(squares, freedom, alpha / 2), _std_upper(squares, freedom, alpha / 2)
    factor = math.sqrt(ratio / freedom)
    says = (
        f"the noise has standard deviation {factor:.4g} times the claimed σ·C ({low / claim.noise_std:.4g} to "
        f"{high / claim.noise_std:.4g})."
    )
    hints = []
    if low > claim.noise_std and (times := _whole(factor**2)):
        hints.append(f"it was added {times} times, or others= leaves out gradients")
    if high < claim.noise_std:
        if abs(factor * claim.clip_norm - 1) <= _NEAR:
            hints.append("it was not multiplied by the clip norm")
        if factor and (parts := _whole(1 / factor**2)):
            hints.append(f"each of {parts} parts of a batch got noise divided by {parts}")
    if hints:
        says += f" This is as if {', or '.join(hints)}."
    return _tested(
        "noise", p_value, alpha, says,
        "Add noise of standard deviation noise_multiplier × clip_norm to the sum of clipped gradients.",
    )


def scale(transcript: SGDTranscript, alpha: float) -> Check:
    """Whether the noise has another scale on D than on D′: a two-sided F test across the canary's direction."""
    rest, inside = transcript.rest, transcript.canary_in
    if np.isnan(rest).any():
        return _skipped("scale", "It needs others=, and gradients with more than one coordinate.")
    freedom = transcript.dimension - 1
    one, other = int(freedom[inside].sum()), int(freedom[~inside].sum())
    if not one or not other:
        return _skipped("scale", "It needs a run with the canary and one without.")
    outer = float(rest[~inside].sum()) / other
    if not outer:
        return _skipped("scale", "The runs without the canary have no noise.")
    ratio = float(rest[inside].sum()) / one / outer
    p_value = min(1.0, 2 * float(min(special.fdtr(one, other, ratio), special.fdtrc(one, other, ratio))))
    return _tested(
        "scale", p_value, alpha,
        f"on D the released noise has {math.sqrt(ratio):.4g} times its standard deviation on D′.",
        "Divide by a constant: a batch size computed from the number of records tells D from D′."
        + (" Or canary_gradient has not the direction of the canary's gradient." if ratio > 1 else ""),
    )


def denominator(transcript: SGDTranscript) -> Check:
    """Whether the loop divides by something that depends on the data: by different numbers in the same step of runs."""
    divided = transcript.divided_by
    if np.isnan(divided).any():
        return _skipped("denominator", "It needs divided_by= of every step.")
    place = places(transcript.run)
    first: dict[int, float] = {}
    for at, by, inside in zip(place.tolist(), divided.tolist(), transcript.canary_in.tolist(), strict=True):
        if first.setdefault(at, by) != by:
            where = "on D" if inside else "on D′"
            return Check(
                "denominator", True,
                f"step {at + 1} of a run divides by {by:g} {where}, and by {first[at]:g} in another run.",
                remedy="Divide by a constant, not by the size of the batch or ⌊q·n⌋ of the number of records.",
            )
    return Check("denominator", False, f"every run divides by the same numbers ({divided[0]:g} in the first step).")


def sampling(transcript: SGDTranscript, alpha: float) -> Check:
    """Whether batches are not drawn as claimed: three tests, each with a third of the check's error.

    1. The canary is at most once in a batch, and in no more batches than Bin(m, q) allows (an exact binomial test).
       Also valid for batches without replacement.
    2. Under Poisson sampling the canary is in exactly one of L = round(1/q) consecutive batches with probability
       L q (1 − q)^(L−1) ≤ (1 − 1/L)^(L−1), so the number of such blocks is at most binomial. Shuffling gives one each.
    3. Two Poisson batches have equal sizes with probability Σ_k P(Bin(n, q) = k)², so the number of equal ones among
       disjoint pairs is binomial; q is replaced by a lower confidence limit, which makes equal sizes likelier.
    """
    claim, inside = transcript.claim, transcript.canary_in
    share = alpha / 3
    p_values: list[float] = []
    says: list[str] = []
    sampled = transcript.sampled[inside]
    counted = sampled.size > 0 and bool((sampled >= 0).all())
    if claim.sampling == "shuffled" and not (counted and sampled.max() > 1):
        return _skipped("sampling", "Shuffled batches were claimed, for which it has no test.")
    if counted and sampled.max() > 1:
        p_values.append(0.0)
        says.append(f"the canary was up to {int(sampled.max())} times in one batch")
    if counted:
        present, m = int((sampled > 0).sum()), sampled.size
        p_values.append(_at_least(present, m, claim.sampling_rate))
        says.append(f"the canary was in {present} of {m} batches, where {m * claim.sampling_rate:.4g} are expected")
    if counted and claim.sampling == "poisson" and claim.sampling_rate < 1:
        length = max(1, round(1 / claim.sampling_rate))
        blocks = _blocks(sampled, transcript.run[inside], length)
        if length > 1 and blocks.size:
            once = int((blocks == 1).sum())
            chance = (1 - 1 / length) ** (length - 1)
            p_values.append(_at_least(once, blocks.size, chance))
            says.append(
                f"the canary was in exactly one of {length} consecutive batches {once} times of {blocks.size}, where "
                f"at most {chance * blocks.size:.4g} are expected"
            )
    sizes = transcript.batch_size
    if claim.sampling == "poisson" and claim.sampling_rate < 1 and transcript.records and (sizes >= 0).all():
        equal, pairs = _equal_pairs(sizes, transcript.run)
        if pairs:
            chance = _equal_chance(sizes, transcript.records, claim.sampling_rate, share / 10)
            p_values.append(min(1.0, _at_least(equal, pairs, chance) + share / 10))
            says.append(
                f"{equal} of {pairs} pairs of consecutive batches have equal sizes, where "
                f"{chance * pairs:.4g} are expected"
            )
    if not p_values:
        return _skipped("sampling", "It needs sampled= of every step, or batch_size= and the number of records.")
    p_value = min(1.0, 3 * min(p_values))
    shown = [text for text, p in zip(says, p_values, strict=True) if p <= share] or says
    law = "independently (Poisson sampling)" if claim.sampling == "poisson" else "anew in each step"
    return _tested(
        "sampling", p_value, alpha, "; ".join(shown) + ".",
        f"The claim assumes that each record is in a batch with probability {claim.sampling_rate:.4g}, {law}: "
        "draw batches so, or account for what is drawn.",
    )


def steps(transcript: SGDTranscript) -> Check:
    """Whether a run released more noisy gradients than the accountant counted."""
    most = int(np.unique(transcript.run, return_counts=True)[1].max(initial=0))
    counted = transcript.claim.steps
    says = f"a run has up to {most} noisy gradients; the accountant counted {counted}."
    return Check("steps", most > counted, says, remedy="Count every noisy gradient." if most > counted else "")


def reuse(transcript: SGDTranscript, alpha: float) -> Check:
    """Whether noise repeats: values that coincide in different steps, or in the same step of different runs.

    Two independent normal values of standard deviation at least σC, of whatever means, lie within τσC of each other
    with probability at most 2Φ(τ/√2) − 1. Counts over disjoint pairs are at most binomial: pairs of steps at a lag
    within a run, for every lag up to 200, and equal steps of two consecutive runs. The error is shared among them.
    Where only r is known, differences of ±C count too, so that a canary hides nothing.
    """
    claim = transcript.claim
    whole = not np.isnan(transcript.fingerprint).any()
    values = (transcript.fingerprint if whole else transcript.projection) / claim.noise_std
    offsets = np.zeros(1) if whole else np.array([0.0, 1.0, -1.0]) / claim.noise_multiplier
    chance = offsets.size * float(special.erf(_CLOSE / 2))
    runs = [values[transcript.run == run] for run in np.unique(transcript.run)]
    tried: list[tuple[float, str]] = []

    def count(one: FloatArray, other: FloatArray) -> int:
        return int((np.abs((one - other)[:, None] - offsets) <= _CLOSE).any(axis=1).sum())

    for lag in range(1, min(_MOST_LAGS, max((run.size for run in runs), default=0) // 2) + 1):
        close = pairs = 0
        for run in runs:
            folded = run[: run.size // (2 * lag) * 2 * lag].reshape(-1, 2, lag)
            close, pairs = close + count(folded[:, 0].ravel(), folded[:, 1].ravel()), pairs + folded.size // 2
        if pairs:
            tried.append((_at_least(close, pairs, chance), f"{close} of {pairs} pairs of steps {lag} apart"))
    close = pairs = 0
    for one, other in zip(runs[::2], runs[1::2], strict=False):
        length = min(one.size, other.size)
        close, pairs = close + count(one[:length], other[:length]), pairs + length
    if pairs:
        tried.append((_at_least(close, pairs, chance), f"{close} of {pairs} pairs of the same step in two runs"))
    if not tried:
        return _skipped("reuse", "It needs at least two steps.")
    least, where = min(tried)
    p_value = min(1.0, least * len(tried))
    says = f"{where} have the same noise." if p_value <= alpha else "no noise value repeats."
    return _tested(
        "reuse", p_value, alpha, says,
        "Draw new noise in every step of every run: a seed that is set in the loop, or a key that is not split, "
        "repeats it. If the runs of this audit were seeded, give each another seed.",
    )


def background(transcript: SGDTranscript) -> str | None:
    """Why checks of the canary's direction have to be left out: on D′ there is more in it than the claimed noise.

    Where `others` is unknown, other records may have a gradient there, which also moves with what was released before.
    The mean and the variance of r on D′ are tested, with an error that only withholds checks. None if there is nothing.
    """
    outside, std = transcript.projection[~transcript.canary_in], transcript.claim.noise_std
    if not np.isnan(transcript.rest).any() or not outside.size:
        return None
    mean = abs(float(outside.sum())) / (std * math.sqrt(outside.size))
    wide = float(special.gammaincc(outside.size / 2, float((outside**2).sum()) / std**2 / 2))
    if special.ndtr(-mean) > _BACKGROUND / 4 and wide > _BACKGROUND / 2:
        return None
    return (
        "On D′ there is more than the claimed noise in the canary's direction. If other records have a gradient there, "
        "give their sum as others=, or choose a canary whose direction they do not have."
    )


def _noise_squares(transcript: SGDTranscript) -> tuple[float, int]:
    """The sum of squares that are pure noise under the claim, and their number."""
    outside = ~transcript.canary_in
    known = ~np.isnan(transcript.rest)
    squares = float(transcript.rest[known].sum() + (transcript.projection[outside] ** 2).sum())
    return squares, int((transcript.dimension[known] - 1).sum() + outside.sum())


def _std_upper(squares: float, freedom: int, error: float) -> float:
    """An upper confidence limit of a normal standard deviation with known mean."""
    return math.sqrt(squares / (2 * float(special.gammaincinv(freedom / 2, error)))) if freedom else math.inf


def _std_lower(squares: float, freedom: int, error: float) -> float:
    return math.sqrt(squares / (2 * float(special.gammainccinv(freedom / 2, error)))) if freedom else 0.0


def _at_least(successes: int, trials: int, chance: float) -> float:
    """P(Bin(trials, chance) ≥ successes)."""
    return float(special.betainc(successes, trials - successes + 1, chance)) if successes else 1.0


def _binomial_pmf(trials: int, chance: float) -> FloatArray:
    k = np.arange(trials + 1)
    logs = special.gammaln(trials + 1) - special.gammaln(k + 1) - special.gammaln(trials - k + 1)
    logs = logs + special.xlogy(k, chance) + special.xlog1py(trials - k, -chance)
    masses: FloatArray = np.exp(logs)
    return masses


def places(run: IntArray) -> IntArray:
    """The step within its run, from 0, for rows in the order of recording."""
    starts = np.flatnonzero(np.concatenate([[True], run[1:] != run[:-1]]))
    lengths = np.diff(np.concatenate([starts, [run.size]]))
    places: IntArray = np.arange(run.size) - np.repeat(starts, lengths)
    return places


def _blocks(sampled: IntArray, run: IntArray, length: int) -> IntArray:
    """How many times the canary was sampled in each whole block of consecutive steps of a run."""
    found = [
        sampled[run == one][: (run == one).sum() // length * length].reshape(-1, length).sum(axis=1)
        for one in np.unique(run)
    ]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _equal_pairs(sizes: IntArray, run: IntArray) -> tuple[int, int]:
    place = places(run)
    first: BoolArray = (place[:-1] % 2 == 0) & (run[:-1] == run[1:])
    return int((sizes[:-1] == sizes[1:])[first].sum()), int(first.sum())


def _equal_chance(sizes: IntArray, records: int, rate: float, error: float) -> float:
    """The largest probability that two Poisson batches are equally large, for rates from a lower limit to the claim's.

    Σ_k P(Bin(n, q) = k)² = ∫ |1 − q + q e^it|^(2n) dt/2π falls in q up to 1/2 and is symmetric, so that the ends of the
    interval decide. With the canary, batches have one trial more, which makes equal sizes rarer; the limit counts one
    trial more for all.
    """
    trials = (records + 1) * sizes.size
    low = min(rate, lower(int(np.minimum(sizes, records + 1).sum()), trials, alpha=error))
    return min(1.0, max(float((_binomial_pmf(records, end) ** 2).sum()) for end in (low, rate)))


def _whole(ratio: float) -> int | None:
    """The whole number above 1 that a ratio of variances is close to; None if there is none."""
    near = round(ratio)
    return near if near >= 2 and abs(ratio - near) <= _NEAR * near else None
