"""The results of audits by canaries, as plain frozen dataclasses: what `dpaudit scores` and `guesses --json` write.

They have the verdicts and exit codes of audits of privacy, and a form of their own: bounds with what each assumes.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from dpaudit.results import json_form, model
from dpaudit.results.model import Json, Verdict
from dpaudit.results.plain import in_json
from dpaudit.stats.membership import Band, Interval

__all__ = ["FORMAT_VERSION", "Bound", "CanaryRecord", "GuessesRecord", "ScoresRecord"]

Method: TypeAlias = Literal["binomial", "f-dp"]
"""By which theorem guesses are tested."""

FORMAT_VERSION = "1.1"
"""Of the JSON form of these results, major.minor: 1.1 added "claim", "relation", "environment", "claimed", and "mu" of
scores."""
THRESHOLDS, LEARNED = "all thresholds of the scores at once", "events learned on some of the scores"
GAUSSIAN = "the Gaussian trade-off curve"
"""Names of bounds."""
_DRAWN = 400
"""Most points of the trade-off curve in JSON."""


@dataclass(frozen=True)
class Bound:
    """A lower confidence bound, and what it assumes.

    Args:
        name: what it was made from.
        epsilon: lower bound on ε at `delta`; None for no bound on ε (δ = 0 in the Gaussian family).
        delta: at which ε is bounded.
        mu: lower bound on μ: being μ-GDP for a smaller μ is refuted; None where it is about ε alone.
        confidence: with which it holds, by itself.
        assumes: what it assumes, in words.
        decides: whether the verdict may rest on it.
    """

    name: str
    epsilon: float | None
    delta: float
    mu: float | None
    confidence: float
    assumes: str
    decides: bool


@dataclass(frozen=True, repr=False, kw_only=True)
class CanaryRecord:
    """What results of scores and of guesses have in common.

    Args:
        verdict: FAIL: the claim is refuted. PASS: it is not, though violations of it would have been detected.
            INCONCLUSIVE: `reason` says what is missing.
        reason: why, in words.
        claim: the claim in words; None where nothing is claimed.
        relation: which datasets are neighbours: the canary is in one and not in the other.
        epsilon, delta: the claim; epsilon is None where nothing, or μ, is claimed. For a claim that is a curve, the
            point of it that is reported.
        mu: the claim, where it is μ-GDP.
        alpha: the error of the verdict, and of each figure by itself.
        epsilon_lower: lower confidence bound on ε at `delta`, by what may decide the verdict; None where there is none.
        bounds: all bounds, with their assumptions.
        call: how to get the result again.
        environment: versions of what computed it.
    """

    verdict: Verdict
    reason: str
    claim: str | None
    relation: str
    epsilon: float | None
    delta: float
    mu: float | None
    alpha: float
    epsilon_lower: float | None
    bounds: list[Bound]
    call: str
    environment: dict[str, str]

    kind: ClassVar[str]

    @property
    def exit_code(self) -> int:
        """What the command line exits with: 1 for FAIL, 3 for INCONCLUSIVE, else 0."""
        return {Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 3, Verdict.PASS: 0}[self.verdict]

    @property
    def confidence(self) -> float:
        """1 − alpha."""
        return 1 - self.alpha

    def to_json(self) -> str:
        """The result as JSON: "kind", "format_version", and the fields; infinite numbers are null."""
        return in_json(json.dumps(self.to_object(), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"

    def to_object(self) -> dict[str, Json]:
        """The result as JSON's values."""
        fields: dict[str, Json] = {"kind": self.kind, "format_version": FORMAT_VERSION}
        for one in dataclasses.fields(self):
            fields[one.name] = _plain(getattr(self, one.name))
        return fields


@dataclass(frozen=True, repr=False, kw_only=True)
class ScoresRecord(CanaryRecord):
    """The audit of scores of canaries.

    Args:
        n_in, n_out: scores of each kind.
        auroc: area under the ROC curve, with limits at 1 − alpha.
        tpr_at_fpr: (FPR, TPR with limits at 1 − alpha) for a few low FPR.
        tradeoff: errors at every threshold, with a band that holds at all of them at once, at 1 − alpha.
        claimed: (FPR, least FNR) of the claimed trade-off function, FPR ascending; None where nothing is claimed.
        samples: the engine's audit of the scores as recorded samples, at a share of alpha: D is "in". Its verdict is
            about the events that it learned; the verdict here counts the bound at all thresholds too.
    """

    n_in: int
    n_out: int
    auroc: Interval
    tpr_at_fpr: list[tuple[float, Interval]]
    tradeoff: Band
    claimed: list[tuple[float, float]] | None
    samples: model.Result

    kind: ClassVar[str] = "scores"


@dataclass(frozen=True, repr=False, kw_only=True)
class GuessesRecord(CanaryRecord):
    """The audit of guesses from one training run.

    Args:
        n: canaries.
        guessed: guesses; the auditor abstained on the others.
        correct: guesses that are right.
        method: by which theorem: "binomial" or "f-dp".
        p_value: of the claim; None where nothing is claimed.
        detectable_epsilon: the least ε (or μ, for a claim of μ-GDP) that would have been detected with probability 0.9,
            if every guess were right as often as it allows for each canary alone; None where nothing is claimed, no
            number of right guesses refutes, or the claim is another curve.
    """

    n: int
    guessed: int
    correct: int
    method: Method
    p_value: float | None = field(default=None)
    detectable_epsilon: float | None = field(default=None)

    kind: ClassVar[str] = "guesses"


def kept(size: int) -> list[int]:
    """Places of the points of a curve that are drawn: all, or more at both ends than between."""
    if size <= _DRAWN:
        return list(range(size))
    near = np.unique(np.geomspace(1, size // 2, _DRAWN // 2).astype(int)) - 1
    return [int(place) for place in np.unique(np.concatenate([near, size - 1 - near]))]


def _plain(value: object) -> Json:
    """A field as JSON holds it."""
    if isinstance(value, model.Result):
        return json_form.to_object(value)
    if isinstance(value, Band):
        at = kept(value.threshold.size)
        return {one.name: _plain(getattr(value, one.name)[at].tolist()) for one in dataclasses.fields(value)}
    if isinstance(value, Bound | Interval):
        return {one.name: _plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    if isinstance(value, Verdict):
        return value.value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError(type(value).__name__)
