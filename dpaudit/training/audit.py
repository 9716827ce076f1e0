"""The audit of a transcript: direct checks of the loop, and lower confidence bounds on ε by the engine, under one α."""

from __future__ import annotations

import dataclasses
import json
import math
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from scipy import special

from dpaudit.api.canaries import ScoresResult
from dpaudit.api.functions import audit_samples
from dpaudit.api.result import Result
from dpaudit.api.scores import audit_scores
from dpaudit.engine.orchestrator import environment
from dpaudit.errors import DpauditError, ParameterError
from dpaudit.options import DEFAULT_ALPHA
from dpaudit.report.files import save
from dpaudit.results.model import Verdict
from dpaudit.results.plain import in_json
from dpaudit.stats.arrays import BoolArray, FloatArray
from dpaudit.training import checks
from dpaudit.training.checks import Check
from dpaudit.training.claim import SGDClaim
from dpaudit.training.transcript import SGDTranscript

__all__ = ["TranscriptAudit", "audit_transcript"]

_TESTS = 7
"""Checks with an error probability: five direct ones and two bounds on ε."""
_NEED_INDEPENDENCE = {"contribution", "noise", "scale", "step-epsilon", "run-epsilon"}
_FEWEST_STEPS = 100
_FEWEST_RUNS = 100
_WIDTH = 100
_HANGING = 27
"""Columns before what a check says."""
_WEAKER = 0.5
"""The violation for which the point of a step's privacy profile is chosen: this part of the claimed noise."""


@dataclass(frozen=True)
class TranscriptAudit:
    """What a transcript shows.

    Args:
        claim: the DP-SGD that was claimed.
        alpha: the probability that a loop as claimed has any finding is at most this.
        checks: all checks, also those that could not be made.
    """

    claim: SGDClaim
    alpha: float
    checks: tuple[Check, ...]

    @property
    def findings(self) -> tuple[Check, ...]:
        """The checks that found something, of which a correct loop has none (with probability 1 − α)."""
        return tuple(check for check in self.checks if check.found)

    def __getitem__(self, name: str) -> Check:
        """The check of that name.

        Raises:
            KeyError: there is none.
        """
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    def __str__(self) -> str:
        claim = self.claim
        count = len(self.findings)
        heading = (
            f"DP-SGD with σ = {claim.noise_multiplier:g}, C = {claim.clip_norm:g}, q = {claim.sampling_rate:g}, "
            f"{claim.steps:,} steps, {claim.sampling} sampling: "
        )
        heading += f"{count} finding{'s' if count > 1 else ''}" if count else "no finding, which is no proof"
        lines = [f"{heading} (α = {self.alpha:g})"]
        for check in self.checks:
            lines += textwrap.wrap(str(check), _WIDTH, initial_indent="  ", subsequent_indent=" " * _HANGING)
        return "\n".join(lines)

    def __bool__(self) -> NoReturn:
        raise TypeError("An audit has no truth value; in a test write `assert not audit.findings, audit`.")

    def to_json(self) -> str:
        """The audit as JSON text, indented by 2, ending in a newline.

        Its keys are the fields of the audit, of its claim and of each check; a check that bounds ε has `epsilon_lower`
        in the place of its whole result, which `check.result.to_json()` has. An infinite bound is null.
        """
        value = {
            "format_version": "1.0",
            "kind": "dp-sgd",
            "claim": dataclasses.asdict(self.claim),
            "alpha": self.alpha,
            "findings": [check.name for check in self.findings],
            "checks": [_plain(check) for check in self.checks],
            "environment": environment(),
        }
        return in_json(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"

    def save(self, path: str | Path) -> None:
        """Write it as JSON.

        Raises:
            ReportError: its name does not end in .json, or it cannot be written.
        """
        save(path, {".json": self.to_json})


def _plain(check: Check) -> dict[str, object]:
    fields = {one.name: getattr(check, one.name) for one in dataclasses.fields(check) if one.name != "result"}
    lower = None if check.result is None else check.result.epsilon_lower
    return {**fields, "epsilon_lower": lower if lower is not None and math.isfinite(lower) else None}


def audit_transcript(
    transcript: SGDTranscript,
    *,
    delta: float = 1e-5,
    epsilon: float | None = None,
    alpha: float = DEFAULT_ALPHA,
    seed: int = 0,
) -> TranscriptAudit:
    """Audit what a DP-SGD loop released against its claim.

    Direct checks test one property each (`dpaudit.training.checks`): the norm of the canary's contribution, the noise's
    standard deviation, its scale on D and D′, the denominator, the sampling, the number of steps, repeated noise. Two
    bounds are on ε: of one step, by `dpaudit.audit_samples` of all steps on D and D′, against a point of the exact
    privacy profile of a step; and of a whole run, by `dpaudit.audit_scores` of likelihood ratios, if there are at least
    100 runs of each. Each of the seven checks with an error probability has α/7. If noise repeats, checks that need
    independent noise are withheld.

    It assumes that runs are independent of each other, and, where `others` was not recorded, that no other record has a
    gradient in the canary's direction. If the canary's gradient is shorter than the clip norm, less is found.

    Args:
        transcript: at least one run with the canary and one without.
        delta: of the claim for whole runs.
        epsilon: that claim, at delta; None to compute it with dp-accounting, if it is installed.
        alpha: the probability that a loop as claimed has any finding is at most this; in (0, 0.5).
        seed: of the order of samples; the same seed gives the same result.

    Raises:
        ParameterError: alpha or delta is outside its range.
        UsageError: the transcript is empty.
    """
    if not 0 < alpha < 0.5:
        raise ParameterError(f"alpha must lie strictly between 0 and 0.5, not be {alpha!r}.")
    if not 0 <= delta < 1:
        raise ParameterError(f"delta must lie in [0, 1), not be {delta!r}.")
    if not len(transcript):
        raise ParameterError("The transcript has no steps: call begin(canary_in=…) and step(…) in a training run.")
    share = alpha / _TESTS
    reuse = checks.reuse(transcript, share)
    made = [
        checks.contribution(transcript, share), checks.noise(transcript, share), checks.scale(transcript, share),
        checks.denominator(transcript), checks.sampling(transcript, share), checks.steps(transcript), reuse,
        _step_epsilon(transcript, share, seed), _run_epsilon(transcript, share, seed, epsilon, delta),
    ]  # fmt: skip
    if reuse.found:
        # these assume that noise values are independent, so they would accuse a part of the loop that may be right
        made = [
            Check(check.name, False, "Noise repeats, and it needs independent noise.", made=False)
            if check.name in _NEED_INDEPENDENCE else check
            for check in made
        ]  # fmt: skip
    return TranscriptAudit(transcript.claim, alpha, tuple(made))


def _step_epsilon(transcript: SGDTranscript, alpha: float, seed: int) -> Check:
    """One step: the projections on D and D′, and beside each the noise across them where it is known."""
    claim, inside = transcript.claim, transcript.canary_in
    fewest = min(int(inside.sum()), int((~inside).sum()))
    if fewest < _FEWEST_STEPS:
        return Check("step-epsilon", False, f"It needs {_FEWEST_STEPS} steps on D and on D′.", made=False)
    if claim.sampling == "shuffled":
        return Check("step-epsilon", False, "The steps of shuffled batches are not independent samples.", made=False)
    if (obstacle := checks.background(transcript)) is not None:
        return Check("step-epsilon", False, obstacle, made=False)

    columns = [transcript.projection / claim.noise_std]
    if not np.isnan(transcript.rest).any():
        columns.append(np.sqrt(transcript.rest / (transcript.dimension - 1)) / claim.noise_std)
    values = np.column_stack(columns) if len(columns) > 1 else columns[0]
    epsilon = _step_point(claim)
    delta = float(claim.step_delta(epsilon))
    try:
        result = audit_samples(
            values[inside], values[~inside], epsilon=epsilon, delta=delta, relation="add-remove-one", alpha=alpha,
            seed=seed, name="one step of DP-SGD",
        )
    except DpauditError as error:
        return Check("step-epsilon", False, str(error), made=False)
    return _bounded("step-epsilon", "one step", result, epsilon, delta, inside)


def _run_epsilon(
    transcript: SGDTranscript, alpha: float, seed: int, epsilon: float | None, delta: float
) -> Check:
    """Whole runs: the logarithm of the likelihood ratio of their projections under the claim.

    All runs count up to the length of the shortest, so that lengths of interrupted runs do not distinguish D from D′.
    """
    claim, run = transcript.claim, transcript.run
    first, lengths = np.unique(run, return_index=True, return_counts=True)[1:]
    inside = transcript.canary_in[first]
    if min(int(inside.sum()), int((~inside).sum())) < _FEWEST_RUNS:
        return Check("run-epsilon", False, f"It needs {_FEWEST_RUNS} runs on D and on D′.", made=False)
    if epsilon is None:
        try:
            epsilon = claim.epsilon(delta)
        except DpauditError as error:
            return Check("run-epsilon", False, f"The claim for a whole run is unknown. {error}", made=False)
    r = transcript.projection / claim.clip_norm
    losses = np.logaddexp(
        np.log1p(-claim.sampling_rate) if claim.sampling_rate < 1 else -np.inf,
        np.log(claim.sampling_rate) + (r - 0.5) / claim.noise_multiplier**2,
    )
    counted = np.where(checks.places(run) < lengths.min(), losses, 0.0)
    scores: FloatArray = np.bincount(np.searchsorted(run[first], run), weights=counted).astype(np.float64)

    try:
        result = audit_scores(
            scores[inside], scores[~inside], epsilon=epsilon, delta=delta, alpha=alpha, seed=seed, name="DP-SGD"
        )
    except DpauditError as error:
        return Check("run-epsilon", False, str(error), made=False)
    return _bounded("run-epsilon", "a run", result, epsilon, delta, inside)


def _bounded(
    name: str, what: str, result: Result | ScoresResult, epsilon: float, delta: float, inside: BoolArray
) -> Check:
    found = result.verdict is Verdict.FAIL
    lower = result.epsilon_lower
    bound = "no bound" if lower is None else f"ε ≥ {lower:.3g}"
    return Check(
        name, found, f"{bound} for {what} at δ = {delta:.3g}, where ε = {epsilon:.3g} was claimed "
        f"({int(inside.sum())} and {int((~inside).sum())} samples).",
        remedy="This refutes the claim, whatever the cause." if found else "", result=result,
    )  # fmt: skip


def _step_point(claim: SGDClaim) -> float:
    """The ε of a step's profile at which half of the claimed noise would be seen with the fewest samples.

    For half-lines above a threshold, (p − e^ε q − δ)² / (p(1 − p) + e^2ε q(1 − q)) is the squared mean of the test's
    statistic per sample. The choice does not depend on the data. One point is enough: as a curve of three or five
    points under the same α, the check found none of the known bugs with fewer steps.
    """
    q, sigma = claim.sampling_rate, claim.noise_multiplier * _WEAKER
    thresholds = np.linspace(-2 * claim.noise_multiplier, 1 + 6 * claim.noise_multiplier, 400)
    out = special.ndtr(-thresholds / sigma)
    into = (1 - q) * out + q * special.ndtr((1 - thresholds) / sigma)
    grid = np.linspace(0.0, min(30.0, np.log1p(q * np.expm1(min(30.0, 4 / sigma + 2 / sigma**2)))), 60)[:, None]
    surplus = into - np.exp(grid) * out - claim.step_delta(grid)
    variance = into * (1 - into) + np.exp(2 * grid) * out * (1 - out)
    signal = np.where(surplus > 0, surplus, 0.0) ** 2 / np.maximum(variance, 1e-300)
    # near p = 1 the variance vanishes, but a sample's information does not grow without limit
    signal = np.where(variance > 1e-6, signal, 0.0)
    best: int = int(signal.max(axis=1).argmax())
    return float(grid[best, 0])
