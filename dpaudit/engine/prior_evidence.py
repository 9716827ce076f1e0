"""Prior evidence from earlier results: e-values of independent samples multiply."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpaudit.errors import UsageError
from dpaudit.options import EVIDENCE, NAME, SEED
from dpaudit.plans.job import PrivacyJob
from dpaudit.plans.request import PriorEvidence, Request
from dpaudit.results.model import Audit, Result, SequentialEvidence
from dpaudit.results.notes import Note, PriorOfOther, PriorOfUnknown, PriorUnused, RecordedEvidence, listed
from dpaudit.subjects.code_key import NoKeyError, code_key
from dpaudit.subjects.recorded import RECORDED, Recorded, RecordedTarget
from dpaudit.subjects.target import FunctionTarget

_LARGEST = 1e9
"""Logarithms are clipped here, so that e-values of 0 and infinity are kept too."""


@dataclass(frozen=True)
class EvidenceKey:
    """What an e-value is evidence about.

    Args:
        text: equal for two cases if evidence about the one is evidence about the other.
        unknown: why it cannot be known what the mechanism computes; then `text` is random, and equal to no other.
        code: `code_key` of the mechanism; None where it has none.
    """

    text: str
    unknown: str | None = None
    code: str | None = None


def evidence_key(job: PrivacyJob, *, bits: bool) -> EvidenceKey:
    """Of a case: this mechanism, as its code and parameters are now, against this claim.

    Pairs do not matter: any pair refutes the claim.

    Args:
        job: the case.
        bits: whether what the low bits of doubles give away counts, for all cases.
    """
    try:
        code = "recorded" if isinstance(job.target, RecordedTarget) else code_key(job.target.subject)
    except NoKeyError as error:
        return EvidenceKey(secrets.token_hex(8), str(error))
    claim = [float(job.claim.epsilon).hex(), float(job.claim.delta).hex(), job.claim.relation.name]
    if job.claim.curve is not None:
        claim.append(repr(job.claim.curve))
    # calls that may take only so long have other outcomes
    seconds = job.target.call_time if isinstance(job.target, FunctionTarget) else None
    limit = [] if seconds is None else [seconds]
    # a function of frames may do other things with lists
    container = job.target.container if isinstance(job.target, FunctionTarget) else None
    handed = [] if container is None else [container.to_json()]
    text = json.dumps([job.target.name, code, claim, bits or job.bits, *limit, *handed])
    return EvidenceKey(hashlib.sha256(text.encode()).hexdigest()[:16], code=code)


def evidence_keys(jobs: Sequence[PrivacyJob], request: Request, *, only: str | None = None) -> dict[str, EvidenceKey]:
    """The keys of all cases that are tested by sampling, by replay id.

    Args:
        jobs: all cases.
        request: that they are of.
        only: the one case whose key is wanted, where no evidence is given.
    """
    wanted = None if request.prior else only
    return {
        job.replay: evidence_key(job, bits=request.bits) for job in jobs if job.tests and wanted in (None, job.replay)
    }


def evidence_of(result: Result, *, where: str, seed: int) -> dict[str, PriorEvidence]:
    """The e-values of a result, by key, for a request with another seed.

    Raises:
        UsageError: the result holds no e-value, or one from the same seed, whose runs would be the same ones.
    """
    evidence_by_key: dict[str, PriorEvidence] = {}
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
        log_e, prior = _cut(evidence.log_e), _cut(evidence.prior)
        known = evidence_by_key.get(evidence.key)
        if known is None:
            before[evidence.key] = prior
            evidence_by_key[evidence.key] = PriorEvidence(
                log_e, tuple(evidence.seeds), about, evidence.alpha, recordings_of(audit)
            )
            continue
        # several cases of one mechanism against one claim are independent evidence about the same thing; their common
        # prior evidence is in each of them and counts once
        if prior != before[evidence.key] or set(evidence.seeds) != set(known.seeds):
            raise UsageError(
                f"{where} has two different histories of {about}, so their e-values cannot be multiplied; name a "
                "result of a single run."
            )
        evidence_by_key[evidence.key] = PriorEvidence(
            _cut(known.log_e + log_e - prior), known.seeds, about, min(known.alpha, evidence.alpha)
        )
    if not evidence_by_key:
        raise UsageError(f"{where} has no e-values; it must come from `dpaudit check --json`.")
    return evidence_by_key


def recordings_of(audit: Audit) -> tuple[str, ...]:
    """The recordings that the e-value of an audit rests on."""
    found = [note.values.get("files") for note in audit.notes if note.code == RecordedEvidence.code]
    return tuple(str(one) for files in found if isinstance(files, list) for one in files)


def recorded_prior(result: Result, recorded: Recorded, *, where: str) -> dict[str, PriorEvidence]:
    """The e-values of a result, by key, for a request with other recorded outputs of the same mechanism.

    Raises:
        UsageError: the mechanism has no name, the result holds no e-value, or it is of these outputs.
    """
    if recorded.name == RECORDED:
        raise UsageError("{} counts for the same mechanism alone; name it with {}.", EVIDENCE, NAME)
    known = {one.rpartition(" ")[2] for audit in result.audits for one in recordings_of(audit)}
    for one in recorded.recordings:
        source, _, digest = one.rpartition(" ")
        if digest in known:
            raise UsageError(f"{where} is of the outputs of {source} already, and every output counts once.")
    return evidence_of(result, where=where, seed=recorded.number)


def untouched(request: Request, key: str) -> SequentialEvidence | None:
    """The prior evidence of a case that ended before its first sample, so that it is not lost."""
    prior = request.prior.get(key)
    if prior is None:
        return None
    return SequentialEvidence(
        log_e=prior.log_e,
        log_peak=prior.log_e,
        alpha=prior.alpha,
        refuted_at=None,
        runs=0,
        epsilon_lower=0.0,
        prior=prior.log_e,
        key=key,
        seeds=sorted({request.seed, *prior.seeds}),
    )


def prior_notes(jobs: Sequence[PrivacyJob], request: Request, keys: Mapping[str, EvidenceKey]) -> dict[str, Note]:
    """Notes, by replay id, on audits that do not use the given evidence.

    Args:
        jobs: all cases.
        request: that they are of.
        keys: theirs (`evidence_keys`).

    Raises:
        UsageError: none of it is about anything that these jobs test.
    """
    if not request.prior:
        return {}
    where = request.prior_from or "the earlier result"
    texts = {key.text for key in keys.values()}
    left = {text: value for text, value in request.prior.items() if text not in texts}
    about = list(dict.fromkeys(value.about or "something else" for value in left.values()))
    if len(left) == len(request.prior):
        unknown = [
            f" It is unknown what {job.target.name} computes, as {keys[job.replay].unknown}."
            for job in jobs
            if job.replay in keys and keys[job.replay].unknown is not None
        ]
        raise UsageError(
            f"{where} has no evidence about this audit: it is about {listed(about)}. An e-value counts only "
            "for the same mechanism (the same code, helpers, values, parameters and libraries) and the same claim (ε, "
            f"δ and relation).{''.join(unknown[:1])}"
        )
    notes: dict[str, Note] = {}
    for replay, key in keys.items():
        if key.unknown is not None:
            notes[replay] = PriorOfUnknown(where, key.unknown)
        elif key.text not in request.prior:
            notes[replay] = PriorOfOther(where)
    if left:
        # noted once, in the first audit that uses some of it
        first = next(replay for replay, key in keys.items() if key.text in request.prior)
        notes[first] = PriorUnused(where, about)
    return notes


def _cut(log: float) -> float:
    return max(-_LARGEST, min(_LARGEST, log))
