"""What a proof ended with, as text and as JSON values."""

from __future__ import annotations

import textwrap
from fractions import Fraction
from typing import Any

from dpaudit.proofs.results import Outcome, Proof, Refuted, Unknown

VERDICTS: dict[type, str] = {Proof: "PROVED", Refuted: "REFUTED", Unknown: "UNKNOWN"}
EXIT_CODES: dict[type, int] = {Proof: 0, Refuted: 1, Unknown: 3}


def in_words(outcome: Outcome) -> str:
    """Several lines: the verdict, the scope, and what it rests on."""
    match outcome:
        case Proof():
            lines = [f"PROVED · {outcome.program} is ε-DP with ε = {number(outcome.epsilon)}, {_claim(outcome)}"]
            lines.append(_line("for", outcome.scope))
            for noise in outcome.alignment:
                shifts = ", ".join(f"{'+' if shift > 0 else ''}{shift}" for shift in noise.shifts)
                lines.append(_line(
                    "noise", f"{noise.noise} at {noise.place}: shifted by {shifts}; costs at most {noise.cost}"
                ))
            lines.append(_line("paths", str(outcome.paths)))
            lines += [_line("assumed" if not place else "", text) for place, text in enumerate(outcome.assumptions)]
        case Refuted():
            lines = [
                f"REFUTED · {outcome.program} is not ε-DP with ε = {number(outcome.claimed)}: "
                f"ε ≥ {outcome.epsilon:.4g} ({outcome.confidence:.1%} confidence)",
                _line("D", repr(outcome.pair[0])), _line("D′", repr(outcome.pair[1])),
                _line("event", outcome.event),
                _line("counts", f"{outcome.counts[0]:,} of {outcome.samples:,} samples of D, {outcome.counts[1]:,} of "
                                f"{outcome.samples:,} of D′"),
            ]
            if outcome.least is not None:
                lines.append(_line("bounds", f"an alignment proves ε = {number(outcome.least)} for {outcome.scope}"))
        case Unknown():
            lines = [f"UNKNOWN · {outcome.program}, {_claim(outcome)}, is neither proved nor refuted"]
            lines += [_line("for", outcome.scope), _line("why", outcome.reason)]
            if outcome.place is not None:
                lines.append(_line("line", f"{outcome.place}: {outcome.place.source}"))
            if outcome.remedy:
                lines.append(_line("remedy", outcome.remedy))
            if outcome.least is not None:
                lines.append(_line("bounds", f"an alignment proves ε = {number(outcome.least)}"))
    return "\n".join(lines)


def as_json(outcome: Outcome) -> dict[str, Any]:
    """The same as JSON values; fractions as text."""
    values: dict[str, Any] = {
        "format_version": "1.0", "verdict": VERDICTS[type(outcome)].lower(), "program": outcome.program,
        "scope": outcome.scope, "claimed": str(outcome.claimed), "seconds": round(outcome.seconds, 3),
    }
    match outcome:
        case Proof():
            values |= {
                "epsilon": str(outcome.epsilon), "paths": outcome.paths, "assumptions": list(outcome.assumptions),
                "alignment": [
                    {
                        "line": str(noise.place), "source": noise.place.source, "noise": noise.noise,
                        "shifts": [str(shift) for shift in noise.shifts], "cost": str(noise.cost),
                    }
                    for noise in outcome.alignment
                ],
                "certificate": outcome.certificate,
            }
        case Refuted():
            values |= {
                "epsilon_at_least": outcome.epsilon, "confidence": outcome.confidence, "event": outcome.event,
                "pair": [repr(dataset) for dataset in outcome.pair], "counts": list(outcome.counts),
                "samples": outcome.samples, "least": _text(outcome.least),
            }
        case Unknown():
            values |= {
                "reason": outcome.reason, "remedy": outcome.remedy, "least": _text(outcome.least),
                "line": _text(outcome.place), "source": "" if outcome.place is None else outcome.place.source,
            }
    return values


def number(value: Fraction) -> str:
    """A fraction, with its decimal where that helps."""
    if value.denominator == 1:
        return str(value)
    return f"{value} = {float(value):.6g}" if value.denominator <= 10**6 else f"{float(value):.6g}"


def _claim(outcome: Proof | Unknown) -> str:
    return f"claimed {outcome.claimed if outcome.claimed.denominator <= 10**6 else float(outcome.claimed)}"


def _line(name: str, text: str) -> str:
    return textwrap.fill(
        f"  {name:8} {text}", 78, subsequent_indent=" " * 11, break_long_words=False, break_on_hyphens=False
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
