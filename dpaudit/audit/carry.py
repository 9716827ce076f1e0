"""Evidence carried over from earlier results: e-values of independent runs multiply."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from dataclasses import dataclass

from dpaudit.audit.request import Carried, Job
from dpaudit.audit.results import Result
from dpaudit.errors import UsageError


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

    Pairs do not matter: any pair refutes the claim. The mechanism's parameters do, and of a function its text.
    """
    subject = job.target.subject
    if job.target.mechanism is not None:
        text = repr(subject)
    else:
        try:
            text = inspect.getsource(subject)  # type: ignore[arg-type]
        except (OSError, TypeError):
            text = job.target.source
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
        known = found.get(evidence.key, Carried(0.0, ()))
        # several cases of one mechanism against one claim are evidence about the same thing, and independent
        found[evidence.key] = Carried(known.log_e + evidence.log_e, (*known.seeds, *evidence.seeds))
    if not found:
        raise UsageError(f"{where} holds no e-values to carry over; it must come from `dpaudit check --json`.")
    return {key: value for key, value in found.items() if math.isfinite(value.log_e)}
