"""The composition tree of a mechanism as lines of a report: claims, their composition and the privacy loss."""

from __future__ import annotations

import math
from dataclasses import replace

from dpaudit.errors import DpauditError
from dpaudit.evidence.density import ComparedPair
from dpaudit.evidence.exact import LEFT_RIGHT, PATHS, pair_record
from dpaudit.evidence.findings import Findings
from dpaudit.interpret import Entry, LawCache, LossTerm, grouped, ledger, loss_breakdown
from dpaudit.language import Mechanism
from dpaudit.plans.job import PrivacyJob
from dpaudit.results.model import LedgerRow, LossBreakdown
from dpaudit.stats import hockey_stick
from dpaudit.subjects.target import MechanismTarget

RUNS = 4
"""Runs of which the one with the largest privacy loss is shown."""
_VALUE, _NAME = 24, 60
"""Most characters of what a draw gave, and of what it is called."""


def ledger_rows(job: PrivacyJob, findings: Findings) -> tuple[list[LedgerRow], LossBreakdown | None]:
    """The tree, depth first, and the execution path that it shows; nothing where there is no tree.

    On the worst pair of the exact laws it is the path to the worst event, with the privacy loss of every part. Without
    laws it is the costliest of a few sampled runs on the first pair, with claims alone.
    """
    worst = findings.worst
    pairs = job.pairs if worst is None else (worst.pair, *job.pairs)
    if not isinstance(job.target, MechanismTarget) or not pairs:
        return [], None
    mechanism = job.target.subject
    try:
        costliest = grouped(ledger(mechanism, pairs[0].left, runs=RUNS, seed=0), job.claim.relation.size)
    except DpauditError:
        return [], None
    losses = None if worst is None else _breakdown(mechanism, job, worst, findings.laws)
    if worst is None or losses is None or not losses.parts:
        return (_rows(costliest, 0) if costliest.parts else []), None
    pair = pair_record(worst.pair, job.claim)
    # other execution paths may use more mechanisms than this one, and the claim covers them as well
    most = costliest.worst(losses.entry)
    losses = replace(losses, entry=replace(losses.entry, composed=most.composed, parts=most.parts))
    return _loss_rows(losses, 0), LossBreakdown(pair, worst.evidence.direction, losses.share)


def _breakdown(mechanism: Mechanism, job: PrivacyJob, worst: ComparedPair, laws: LawCache) -> LossTerm | None:
    """The execution path to the worst event, on the dataset under which it is more likely."""
    pair, exact = worst.pair, worst.evidence
    datasets = (pair.left, pair.right) if exact.direction == LEFT_RIGHT else (pair.right, pair.left)
    try:
        return loss_breakdown(
            mechanism, *datasets, worst.event.marks, leak=exact.epsilon is None, claim=job.claim,
            group=job.claim.relation.size, cache=laws, path_limit=PATHS,
        )
    except DpauditError:
        return None


def _rows(entry: Entry, depth: int) -> list[LedgerRow]:
    return [_row(entry, depth), *(row for part in entry.parts for row in _rows(part, depth + 1))]


def _loss_rows(term: LossTerm, depth: int) -> list[LedgerRow]:
    row = _row(term.entry, depth)
    p, q = term.left, term.right
    # a claim binds both directions, so both are held against it
    epsilon = hockey_stick.epsilon_at_symmetric(p, q, row.delta)
    delta = max(hockey_stick.hockey_stick(*laws, row.epsilon) for laws in ((p, q), (q, p)))
    row = replace(
        row,
        exact_epsilon=_finite(epsilon),
        exact_delta=delta,
        value=_short(repr(term.value), _VALUE),
        loss=_finite(term.loss),
        impossible=term.loss == math.inf,
        remark=term.remark,
    )
    return [row, *(line for part in term.parts for line in _loss_rows(part, depth + 1))]


def _row(entry: Entry, depth: int) -> LedgerRow:
    claim = entry.claim or entry.composed
    text, parts = entry.text, entry.composed
    if claim is None:
        text += " (not accounted for)"
    elif parts is not None and entry.claim is not None:
        relation = "within its claim" if entry.balanced else "EXCEEDS its claim"
        text += f": its parts compose to ({parts.epsilon:.6g}, {parts.delta:.6g}), {relation}"
    return LedgerRow(
        depth,
        text,
        claim.epsilon if claim else 0.0,
        claim.delta if claim else 0.0,
        name=_short(entry.text, _NAME),
        claimed=entry.claim is not None,
        composed_epsilon=parts.epsilon if parts else None,
        composed_delta=parts.delta if parts else None,
    )


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
