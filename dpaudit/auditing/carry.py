"""Evidence carried over from earlier results: e-values of independent runs multiply."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpaudit.auditing.job import Job
from dpaudit.auditing.request import Carried, Request
from dpaudit.auditing.results import Result
from dpaudit.errors import UsageError

_PROCESS = secrets.token_hex(8)
"""Another one in every process."""


@dataclass(frozen=True)
class _Key:
    """What an e-value is evidence about: this mechanism, as its text was, against this claim."""

    name: str
    subject: str
    claim: tuple[float, float, str]

    def digest(self) -> str:
        text = json.dumps([self.name, self.subject, self.claim], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def carry_key(job: Job) -> str:
    """The same for two cases if evidence about the one is evidence about the other.

    Pairs do not matter: any pair refutes the claim. The mechanism's parameters do, and of a function its text. Of an
    object of a compiled library neither is known, so that nothing is carried over to it.
    """
    subject = job.target.subject
    if job.target.mechanism is not None:
        text = repr(subject)
    else:
        try:
            text = inspect.getsource(subject)  # type: ignore[arg-type]
        except (OSError, TypeError):
            # what has no text and cannot be sent cannot be told from another: evidence about it is about itself alone
            text = job.target.source if job.target.portable else f"{job.target.source} {id(subject)} {_PROCESS}"
    claim = (float(job.claim.epsilon), float(job.claim.delta), job.claim.relation.name)
    return _Key(job.target.name, text, claim).digest()


def evidence_of(result: Result, *, where: str, seed: int) -> dict[str, Carried]:
    """The e-values of a result, by key, for a request with another seed.

    Raises:
        UsageError: the result holds no e-value, or one from the same seed, whose runs would be the same ones.
    """
    found: dict[str, Carried] = {}
    for audit in result.audits:
        evidence = audit.sequential
        if evidence is None:
            continue
        if seed in evidence.seeds:
            raise UsageError(
                f"{where} was made with seed {seed} too, so these runs would be the same ones and prove nothing new; "
                "choose another --seed."
            )
        about = f"{audit.name} against {audit.claim.statement}"
        known = found.get(evidence.key)
        # several cases of one mechanism against one claim are evidence about the same thing, and independent; but what
        # was carried over to them is in each, and counts once
        found[evidence.key] = (
            Carried(evidence.log_e, tuple(evidence.seeds), about)
            if known is None
            else Carried(
                known.log_e + evidence.log_e - evidence.carried,
                tuple(sorted({*known.seeds, *evidence.seeds})),
                about,
            )
        )
    if not found:
        raise UsageError(f"{where} holds no e-values to carry over; it must come from `dpaudit check --json`.")
    return {key: value for key, value in found.items() if math.isfinite(value.log_e)}


def carry_notes(jobs: Sequence[Job], request: Request) -> dict[str, str]:
    """What is to be said where evidence was given and only some of it is carried over: a note by replay id.

    Raises:
        UsageError: none of it is about anything that these jobs test.
    """
    if not request.carried:
        return {}
    where = request.carried_from or "the earlier result"
    keys = {job.replay: carry_key(job) for job in jobs if job.tests}
    left = {key: value for key, value in request.carried.items() if key not in keys.values()}
    if len(left) == len(request.carried):
        raise UsageError(
            f"Nothing in {where} can be carried over: it is about {_listed(left.values())}; an e-value counts for the "
            "same mechanism alone (with the same parameters, or text) and the same claim (ε, δ and relation)."
        )
    notes = {
        replay: f"Nothing was carried over from {where} to this audit: it holds no e-value of this mechanism, as it is "
        "now, against this claim."
        for replay, key in keys.items()
        if key not in request.carried
    }
    if left:
        # once, where the first of it was used: it is no matter of any other audit
        first = next(replay for replay, key in keys.items() if key in request.carried)
        notes[first] = f"Not carried over from {where}, as nothing tested here matches it: {_listed(left.values())}."
    return notes


def _listed(values: Iterable[Carried]) -> str:
    """The first few things that e-values are about."""
    about = list(dict.fromkeys(value.about or "something else" for value in values))
    more = f" and {len(about) - 2} more" if len(about) > 2 else ""
    return ", ".join(about[:2]) + more if more else " and ".join(about)
