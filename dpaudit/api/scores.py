"""Audits of scores of canaries: how strongly each looks like a member of the training data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from dpaudit.api.arguments import ClaimLike, in_pythons_words
from dpaudit.api.call_text import call_text
from dpaudit.api.canaries import (
    CanaryClaim,
    ScoresResult,
    checked_alpha,
    checked_scores,
    in_family,
    unclaimed,
)
from dpaudit.api.functions import audit_recorded
from dpaudit.options import DEFAULT_ALPHA, DEFAULT_MIN_POWER, Door
from dpaudit.report.numbers import count, lower, percent, small, stated, upper
from dpaudit.results.canaries import LEARNED, THRESHOLDS, Bound
from dpaudit.results.model import Verdict
from dpaudit.stats import membership
from dpaudit.stats.arrays import FloatArray
from dpaudit.subjects.recorded import Recorded, recorded_outputs

__all__ = ["audit_recorded_scores", "audit_scores"]

FPRS = (0.001, 0.01, 0.1)
"""False positive rates at which `ScoresResult` has the true positive rate."""
THRESHOLDS_SHARE = 0.8
"""Of alpha, for the bound at all thresholds; the rest is for the events that the engine learns."""
_CURVE_POINTS = 200
"""Of the claimed trade-off function, half of them below 0.1."""
_INDEPENDENT = "The scores are independent draws, as those of one canary in each training run are."
_PAIRS = (
    "Pairs of scores are independent of each other; the scores of one pair may depend on each other. Limits of each "
    "error use all scores of one kind, everything else one score of each pair."
)
_BLOCKS = (
    "Scores of different blocks are independent; of each block one score is used, chosen by a draw that does not "
    "depend on the scores."
)


@in_pythons_words
def audit_scores(
    in_scores: object,
    out_scores: object,
    claim: ClaimLike | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    relation: str | None = None,
    alpha: float = DEFAULT_ALPHA,
    seed: int = 0,
    time: float | None = None,
    min_power: float = DEFAULT_MIN_POWER,
    paired: bool = False,
    blocks: tuple[Iterable[Hashable], Iterable[Hashable]] | None = None,
    name: str = "scores of canaries",
    progress: bool | None = None,
) -> ScoresResult:
    """Audit a claim on scores of canaries: how strongly each looks like a member of the training data.

    The claim is tested twice, with shares of alpha: at all thresholds of the scores at once, and by events that the
    engine learns on some of the scores and counts on the others (as `audit_samples`). Neither assumes a family of
    distributions. A claim that is a curve is compared at all thresholds with its whole trade-off function. Both assume
    that scores are independent, as those of one canary in each of many training runs are; for many canaries in one run
    use `count_guesses` and `audit_guesses`.

    Args:
        in_scores: scores of canaries in the training data, at least 10: an array, series or list of numbers. Higher
            means "in"; negate a loss.
        out_scores: scores of canaries that were left out.
        claim: ε, (ε, δ), a `Claim`, a curve such as `GaussianDP(0.5)` or its text, or an object of dp-accounting; None
            with `epsilon` for those parts, or for bounds without a verdict.
        epsilon, delta, relation: parts of the claim. A canary is in or out: the relation is add-remove-one by default.
        alpha: the error of the verdict, and that of each further figure, in (0, 0.5).
        seed: of the engine's order of the scores, and of the choice from pairs and blocks.
        time, min_power, progress: as of `audit`.
        paired: the i-th scores of both kinds depend on each other (the same seed, the same canary).
        blocks: labels of the blocks of both, where scores of one block may depend on each other (several canaries in
            one training run). A label that both have is one block. One score of each block is used; if no block has two
            scores of one kind, as in pairs, limits at all thresholds use every score.
        name: of the mechanism, in reports.

    Returns:
        Verdict, bounds, AUROC, TPR at low FPR, the trade-off curve with a simultaneous band, and the engine's result.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
        Interrupted: by the keyboard.
    """
    given = dict(locals())
    recorded = recorded_outputs(
        in_scores, out_scores, name=name, labels=("in_scores", "out_scores"), paired=paired, blocks=blocks
    )
    call = call_text(audit_scores, given)
    return audit_recorded_scores(
        recorded, claim, epsilon=epsilon, delta=delta, relation=relation, alpha=alpha, seed=seed, time=time,
        min_power=min_power, progress=progress, call=call,
    )


def audit_recorded_scores(
    recorded: Recorded,
    claim: ClaimLike | None = None,
    *,
    epsilon: float | None,
    delta: float | None,
    relation: str | None,
    alpha: float,
    seed: int,
    progress: bool | None,
    call: str,
    door: Door = "Python",
    **settings: Any,
) -> ScoresResult:
    """`audit_scores` of scores that have been read: those of canaries in the data are the outputs on D."""
    every = [checked_scores(values, label) for values, label in zip(recorded.both, recorded.labels, strict=True)]
    alpha = checked_alpha(alpha)
    claimed = CanaryClaim.of(claim, epsilon, delta, relation)
    result = audit_recorded(
        recorded, progress=progress, call=call, door=door, alpha=alpha * (1 - THRESHOLDS_SHARE), seed=seed,
        **settings, **_parts(claimed),
    )
    # without blocks this is an order of all scores, which changes nothing here
    chosen = [one[order] for one, order in zip(every, recorded.orders(seed), strict=True)]
    # each limit is of one error, and holds whatever the scores of the other kind are
    alone = recorded.blocks is not None and all(len(np.unique(labels)) == len(labels) for labels in recorded.blocks)
    inside, outside = every if alone else chosen
    one_in, one_out = chosen
    audit = result.audit
    at = claimed.claim if claimed.curve is None else audit.claim
    delta = claimed.delta if at is None else at.delta
    share = alpha * THRESHOLDS_SHARE
    errors = membership.upper_errors(inside, outside, alpha=share)
    assumed = _INDEPENDENT if recorded.blocks is None else _PAIRS if alone else _BLOCKS
    bounds, bound = [], None
    verdict, reason = audit.verdict, audit.reason
    # scores that are seen to depend on each other have no bounds
    if not (audit.crashed or any(one.holds is False for one in audit.assumptions)):
        best = errors.best(delta)
        gaussian = claimed.mu is not None
        bounds.append(
            Bound(THRESHOLDS, best.epsilon, delta, errors.mu if gaussian else None, 1 - share, assumed, True)
        )
        if audit.epsilon_lower is not None:
            mu = audit.curve.lower if gaussian and audit.curve is not None else None
            bounds.append(Bound(LEARNED, audit.epsilon_lower, delta, mu, audit.confidence, assumed, True))
        whole = membership.upper_errors(inside, outside, alpha=alpha)
        bounds.append(in_family(whole.mu, delta, alpha, assumed))
        bound = max(best.epsilon, audit.epsilon_lower or 0.0)
        sentence = _refuted(claimed, errors, inside, outside, 1 - share)
        if sentence is not None:
            verdict, reason = Verdict.FAIL, sentence
        elif claimed.claim is None:
            verdict, reason = Verdict.INCONCLUSIVE, unclaimed(door)
    return ScoresResult(
        verdict=verdict, reason=reason, claim=claimed.text, relation=claimed.relation,
        epsilon=None if at is None else at.epsilon, delta=delta, mu=claimed.mu, alpha=alpha, epsilon_lower=bound,
        bounds=bounds, call=call, environment=result.environment, n_in=inside.size, n_out=outside.size,
        auroc=membership.auroc(one_in, one_out, alpha=alpha),
        tpr_at_fpr=[(fpr, membership.tpr_at_fpr(one_in, one_out, fpr, alpha=alpha)) for fpr in FPRS],
        tradeoff=membership.tradeoff_band(inside, outside, alpha=alpha),
        claimed=None if claimed.claim is None else _curve(claimed),
        samples=result,
    )


def _parts(claimed: CanaryClaim) -> dict[str, Any]:
    """The claim as fields of a request."""
    claim = claimed.claim
    if claim is None:
        return {"delta": claimed.delta, "relation": claimed.relation}
    if claim.curve is not None or claim.rho is not None:
        return {"claim": claim}
    return {"epsilon": claim.epsilon, "delta": claim.delta, "relation": claimed.relation}


def _refuted(
    claimed: CanaryClaim, errors: membership.UpperErrors, inside: FloatArray, outside: FloatArray, confidence: float
) -> str | None:
    """Why a threshold refutes the claim; None where none does."""
    claim = claimed.claim
    if claim is None:
        return None
    if claimed.curve is None:
        best = errors.best(claim.delta)
        if best.epsilon <= claim.epsilon:
            return None
        return _threshold_sentence(best, inside, outside, claim.epsilon, claim.delta)
    excess = errors.excess(claimed.least_errors(errors.fpr))
    if excess is None:
        return None
    return (
        f"The attack \"in if score ≥ {excess.threshold:.6g}\" has a false positive rate of at most {upper(excess.fpr)} "
        f"and a false negative rate of at most {upper(excess.fnr, excess.least)}, with "
        f"{percent(confidence)} confidence for all thresholds at once. {claimed.curve.label} leaves a false negative "
        f"rate of at least {lower(excess.least, excess.fnr)} there."
    )


def _threshold_sentence(
    best: membership.Best, inside: FloatArray, outside: FloatArray, epsilon: float, delta: float
) -> str:
    """Why a threshold refutes (ε, δ)."""
    event = f"score {'≥' if best.above else '<'} {best.threshold:.6g}"
    counts = [int(((one >= best.threshold) == best.above).sum()) for one in (inside, outside)]
    totals = [inside.size, outside.size]
    places = ["in the data", "left out"]
    if not best.above:
        counts, totals, places = counts[::-1], totals[::-1], places[::-1]
    return (
        f"{event} for {count(counts[0])} of {count(totals[0])} canaries {places[0]} and {count(counts[1])} of "
        f"{count(totals[1])} {places[1]}: more than (ε, δ) = ({stated(epsilon)}, {small(delta)}) allows."
    )


def _curve(claimed: CanaryClaim) -> list[tuple[float, float]]:
    """The claimed trade-off function, as it is drawn."""
    half = _CURVE_POINTS // 2
    at = np.unique(np.concatenate([[0.0], np.geomspace(1e-5, 0.1, half), np.linspace(0.1, 1.0, half)]))
    return [(float(a), float(b)) for a, b in zip(at, claimed.least_errors(at), strict=True)]
