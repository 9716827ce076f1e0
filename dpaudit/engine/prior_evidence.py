"""Evidence carried over from earlier results: e-values of independent runs multiply."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dpaudit.errors import UsageError
from dpaudit.options import SEED
from dpaudit.plans.job import PrivacyJob
from dpaudit.plans.request import Carried, Request
from dpaudit.results.model import Result, SequentialEvidence
from dpaudit.subjects.code_key import NoKeyError, code_key
from dpaudit.subjects.target import FunctionTarget

_LARGEST = 1e9
"""Logarithms are cut here: an e-value of 0 or infinity is carried over too, and not forgotten."""


@dataclass(frozen=True)
class CarryKey:
    """What an e-value is evidence about.

    Args:
        text: equal for two cases if evidence about the one is evidence about the other.
        unknown: why it cannot be known what the mechanism computes; then `text` is random, and equal to no other.
    """

    text: str
    unknown: str | None = None


def carry_key(job: PrivacyJob, *, bits: bool) -> CarryKey:
    """Of a case: this mechanism, as its code and parameters are now, against this claim.

    Pairs do not matter: any pair refutes the claim.

    Args:
        job: the case.
        bits: whether what the low bits of doubles give away counts, for all cases.
    """
    try:
        code = code_key(job.target.subject)
    except NoKeyError as error:
        return CarryKey(secrets.token_hex(8), str(error))
    claim = [float(job.claim.epsilon).hex(), float(job.claim.delta).hex(), job.claim.relation.name]
    # calls that may take only so long have other outcomes
    seconds = job.target.call_seconds if isinstance(job.target, FunctionTarget) else None
    limit = [] if seconds is None else [seconds]
    text = json.dumps([job.target.name, code, claim, bits or job.bits, *limit])
    return CarryKey(hashlib.sha256(text.encode()).hexdigest()[:16])


def carry_keys(jobs: Sequence[PrivacyJob], request: Request, *, only: str | None = None) -> dict[str, CarryKey]:
    """The keys of all cases that are tested by sampling, by replay id.

    Args:
        jobs: all cases.
        request: that they are of.
        only: the one case whose key is wanted, where no evidence is given.
    """
    wanted = None if request.carried else only
    return {job.replay: carry_key(job, bits=request.bits) for job in jobs if job.tests and wanted in (None, job.replay)}


def evidence_of(result: Result, *, where: str, seed: int) -> dict[str, Carried]:
    """The e-values of a result, by key, for a request with another seed.

    Raises:
        UsageError: the result holds no e-value, or one from the same seed, whose runs would be the same ones.
    """
    found: dict[str, Carried] = {}
    before: dict[str, float] = {}
    for audit in result.audits:
        evidence = audit.sequential
        if evidence is None:
            continue
        if seed in evidence.seeds:
            raise UsageError(
                "{} was made with seed {} too, so these runs would be the same ones and prove nothing new; choose "
                "another {}.",
                where, seed, SEED,
            )
        about = f"{audit.name} against {audit.claim.statement}"
        log_e, carried = _cut(evidence.log_e), _cut(evidence.carried)
        known = found.get(evidence.key)
        if known is None:
            before[evidence.key] = carried
            found[evidence.key] = Carried(log_e, tuple(evidence.seeds), about, evidence.alpha)
            continue
        # several cases of one mechanism against one claim are evidence about the same thing, and independent; but what
        # was carried over to them is in each, and counts once
        if carried != before[evidence.key] or set(evidence.seeds) != set(known.seeds):
            raise UsageError(
                f"{where} holds two different histories of {about}, so their e-values cannot be multiplied; name a "
                "result that one run wrote."
            )
        found[evidence.key] = Carried(
            _cut(known.log_e + log_e - carried), known.seeds, about, min(known.alpha, evidence.alpha)
        )
    if not found:
        raise UsageError(f"{where} holds no e-values to carry over; it must come from `dpaudit check --json`.")
    return found


def untouched(request: Request, key: str) -> SequentialEvidence | None:
    """What was carried over to a case that ended before its first sample: it must not be lost, nor its nights."""
    carried = request.carried.get(key)
    if carried is None:
        return None
    return SequentialEvidence(
        log_e=carried.log_e,
        log_peak=carried.log_e,
        alpha=carried.alpha,
        refuted_at=None,
        runs=0,
        epsilon_lower=0.0,
        carried=carried.log_e,
        key=key,
        seeds=sorted({request.seed, *carried.seeds}),
    )


def carry_notes(jobs: Sequence[PrivacyJob], request: Request, keys: Mapping[str, CarryKey]) -> dict[str, str]:
    """What is to be said where evidence was given and only some of it is carried over: a note by replay id.

    Args:
        jobs: all cases.
        request: that they are of.
        keys: theirs (`carry_keys`).

    Raises:
        UsageError: none of it is about anything that these jobs test.
    """
    if not request.carried:
        return {}
    where = request.carried_from or "the earlier result"
    texts = {key.text for key in keys.values()}
    left = {text: value for text, value in request.carried.items() if text not in texts}
    if len(left) == len(request.carried):
        unknown = [
            f" What {job.target.name} computes cannot be known here, as {keys[job.replay].unknown}."
            for job in jobs
            if job.replay in keys and keys[job.replay].unknown is not None
        ]
        raise UsageError(
            f"Nothing in {where} can be carried over: it is about {_listed(left.values())}; an e-value counts for the "
            "same mechanism alone (the same code, helpers, values, parameters and libraries) and the same claim (ε, δ "
            f"and relation).{''.join(unknown[:1])}"
        )
    notes = {}
    for replay, key in keys.items():
        if key.unknown is not None:
            notes[replay] = (
                f"Nothing was carried over from {where} to this audit, and nothing can be: what the mechanism computes "
                f"cannot be known here, as {key.unknown}."
            )
        elif key.text not in request.carried:
            notes[replay] = (
                f"Nothing was carried over from {where} to this audit: it holds no e-value of this mechanism, as it is "
                "now, against this claim."
            )
    if left:
        # once, where the first of it was used: it is no matter of any other audit
        first = next(replay for replay, key in keys.items() if key.text in request.carried)
        notes[first] = f"Not carried over from {where}, as nothing tested here matches it: {_listed(left.values())}."
    return notes


def _cut(log: float) -> float:
    return max(-_LARGEST, min(_LARGEST, log))


def _listed(values: Iterable[Carried]) -> str:
    """The first few things that e-values are about."""
    about = list(dict.fromkeys(value.about or "something else" for value in values))
    more = f" and {len(about) - 2} more" if len(about) > 2 else ""
    return ", ".join(about[:2]) + more if more else " and ".join(about)
