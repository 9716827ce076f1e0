"""Audits of DP-SGD: what a training loop released, step by step, against the DP-SGD that its accountant analysed.

    from dpaudit.training import SGDClaim, SGDTranscript, audit_transcript

    claim = SGDClaim(noise_multiplier=1.0, clip_norm=1.0, sampling_rate=0.01, steps=1000, denominator=64)
    transcript = SGDTranscript(claim)
    for canary_in in (True, False):
        transcript.begin(canary_in=canary_in)
        ...                                     # a training run, which calls after each step:
        transcript.step(noisy_gradient, canary_gradient, others=sum_of_the_clipped_gradients_of_the_other_records)
    print(audit_transcript(transcript, delta=1e-5))

Comes in: noisy gradients of any framework (numpy arrays, or what numpy can read), and the parameters of DP-SGD.
Goes out: a `TranscriptAudit`: named checks that share one α, and lower confidence bounds on ε.
May import: `api` and what is below it; dp-accounting, an extra, where a claim for the whole training is computed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpaudit.training.audit import TranscriptAudit, audit_transcript
    from dpaudit.training.checks import Check
    from dpaudit.training.claim import SGDClaim
    from dpaudit.training.reference import BUGS, KnownBug, train
    from dpaudit.training.transcript import SGDTranscript

__all__ = ["BUGS", "Check", "KnownBug", "SGDClaim", "SGDTranscript", "TranscriptAudit", "audit_transcript", "train"]

_WHERE = {
    "BUGS": "reference",
    "Check": "checks",
    "KnownBug": "reference",
    "SGDClaim": "claim",
    "SGDTranscript": "transcript",
    "TranscriptAudit": "audit",
    "audit_transcript": "audit",
    "train": "reference",
}


def __getattr__(name: str) -> object:
    # recording needs numpy alone; the engine is imported when a transcript is audited
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
