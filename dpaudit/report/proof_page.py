"""The report of a proof as one self-contained HTML file, by the templates and the style of other reports.

The same outcome gives the same bytes, except for the text of `<p id="timings">`.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from dataclasses import dataclass, replace

from dpaudit.proofs.results import Outcome, Proof, Refuted
from dpaudit.report.alignment import fraction, number, rows
from dpaudit.report.html import environment
from dpaudit.report.numbers import lower
from dpaudit.report.proof import (
    FORMAT_VERSION,
    bound,
    counts,
    headline,
    method,
    pair_parts,
    proof_json,
    stated,
    verdict,
)
from dpaudit.results.plain import in_json, visible

_WIDER = 1.18
"""Than the largest value: the axis of the chart."""
_KINDS = {"PROVED": ("pass", "✓"), "REFUTED": ("fail", "✗"), "UNKNOWN": ("inconclusive", "?")}
"""Verdict → its style, and its sign."""


@dataclass(frozen=True)
class _Bar:
    """A row of the chart of ε; positions in percent of its width."""

    kind: str
    label: str
    value: str
    stop: float
    start: float = 0.0
    beyond: bool = False


@dataclass(frozen=True)
class _View:
    """What the chart of ε needs."""

    scale: list[_Bar]
    claim_at: float


def proof_page(outcome: Outcome, *, call: str) -> str:
    """The report as the text of one HTML file.

    Args:
        outcome: what is shown.
        call: the command that gives it again.
    """
    kind, sign = _KINDS[verdict(outcome)]
    data = in_json(json.dumps(proof_json(replace(outcome, seconds=0.0)), ensure_ascii=False, separators=(",", ":")))
    certificate = outcome.certificate if isinstance(outcome, Proof) else {}
    text = environment().get_template("proof.html.j2").render(
        outcome=outcome,
        verdict=verdict(outcome),
        kind=kind,
        sign=sign,
        headline=headline(outcome),
        view=_scale(outcome),
        queries=stated(outcome) if isinstance(outcome, Proof) else [],
        rows=rows(outcome.alignment, outcome.epsilon, outcome.mu_squared) if isinstance(outcome, Proof) else [],
        parts=pair_parts(outcome) if isinstance(outcome, Refuted) else [],
        counts=counts(outcome) if isinstance(outcome, Refuted) else "",
        bound=bound(outcome) if isinstance(outcome, Refuted) else "",
        method=method(outcome),
        facts=[(name.replace("_", " "), str(certificate[name])) for name in ("parameters", "source_sha256")
               if certificate.get(name)],
        versions=certificate.get("versions", {}),
        call=call,
        format_version=FORMAT_VERSION,
        data=b64encode(gzip.compress(data.encode(), mtime=0)).decode(),
    )
    return visible(text)


def _scale(outcome: Outcome) -> _View:
    """The chart of the claim, the bound, and the ε of the alignment."""
    if not isinstance(outcome, Refuted) and outcome.goal:
        # an ε alone is no part of such a claim
        return _View([], 0.0)
    claim = float(outcome.claimed)
    proved = outcome.epsilon if isinstance(outcome, Proof) else outcome.least
    if not isinstance(outcome, Proof) and proved is not None and proved <= outcome.claimed:
        # found, but not what the program does
        proved = None
    least = float(outcome.epsilon) if isinstance(outcome, Refuted) else 0.0
    end = max(claim, least, 0.0 if proved is None else float(proved)) * _WIDER

    def at(value: float) -> float:
        return round(100 * value / end, 1)

    bars = [_Bar("claim", "claim", f"ε = {fraction(outcome.claimed)}", at(claim))]
    if isinstance(outcome, Proof) and outcome.lower is not None:
        bars.append(
            _Bar("certified", "lower bound", f"ε ≥ {lower(outcome.lower.epsilon, claim)}", at(outcome.lower.epsilon))
        )
    if isinstance(outcome, Refuted):
        bars.append(_Bar("certified", "lower bound", f"ε ≥ {lower(least, claim)}", at(least)))
    if proved is not None:
        label = "proved" if isinstance(outcome, Proof) else "alignment"
        bars.append(_Bar("exact", label, f"ε = {number(proved)}", at(float(proved))))
    return _View(bars if len(bars) > 1 else [], at(claim))
