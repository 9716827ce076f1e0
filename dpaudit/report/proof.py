"""What a proof ended with, on the console and as JSON, and the words that all formats share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from io import StringIO
from typing import Any

from rich.console import Console
from rich.text import Text

from dpaudit.proofs.results import LowerBound, Outcome, Place, Proof, Refuted, Unknown
from dpaudit.report.alignment import fraction, lines, number
from dpaudit.report.datasets import Part, compare
from dpaudit.report.numbers import count, lower, percent
from dpaudit.report.terminal_text import Rows
from dpaudit.results.datasets import dataset_to_json
from dpaudit.results.plain import flat

FORMAT_VERSION = "1.0"
VERDICTS: dict[type, str] = {Proof: "PROVED", Refuted: "REFUTED", Unknown: "UNKNOWN"}
EXIT_CODES: dict[type, int] = {Proof: 0, Refuted: 1, Unknown: 3}
_STYLES: dict[type, str] = {Proof: "bold green", Refuted: "bold red", Unknown: "bold yellow"}
_LABELS = 10
_MOST_QUERIES = 6
_LONGEST_QUERY = 72
_WIDTH = 80


def verdict(outcome: Outcome) -> str:
    """PROVED, REFUTED or UNKNOWN."""
    return VERDICTS[type(outcome)]


def headline(outcome: Outcome) -> str:
    """What is proved, refuted or unknown, without the verdict."""
    claimed = fraction(outcome.claimed)
    match outcome:
        case Proof() if outcome.goal:
            return f"{outcome.program} is {outcome.goal}: {cost_of(outcome)}"
        case Unknown() if outcome.goal:
            return f"that {outcome.program} is {outcome.goal} is neither proved nor refuted"
        case Proof():
            return f"{outcome.program} is ε-DP with ε = {number(outcome.epsilon)}, claimed {claimed}"
        case Refuted():
            return f"{outcome.program} is not ε-DP with the claimed ε = {claimed}"
        case Unknown():
            return f"{outcome.program} with ε = {claimed} is neither proved nor refuted"


def cost_of(proof: Proof) -> str:
    """What the shift costs: "μ² = 1/4 by Gaussian noise", "ρ = 1/8"."""
    if proof.rho:
        return f"ρ = {number(proof.rho)}"
    parts = [f"ε = {number(proof.epsilon)}"] * (proof.epsilon > 0 or not proof.mu_squared)
    if (delta := Fraction(proof.certificate.get("delta", "0"))) > 0:
        parts.append(f"δ = {number(delta)}")
    if proof.mu_squared:
        parts.append(f"μ² = {number(proof.mu_squared)} by Gaussian noise")
    return " and ".join(parts)


def proof_line(outcome: Outcome) -> str:
    """The verdict on one line."""
    return flat(f"{verdict(outcome)} · {headline(outcome)}")


def proof_block(outcome: Outcome) -> Rows:
    """The outcome as a block, laid out as an audit is."""
    block = Rows(label_width=_LABELS)
    head = Text(verdict(outcome), _STYLES[type(outcome)])
    head.append(f" · {flat(headline(outcome))}", "bold")
    block.line(head, indent=0)
    label = ""
    for name, text in _rows(outcome):
        block.labelled("" if name == label else name, flat(text))
        label = name
    return block


def proof_text(outcome: Outcome) -> str:
    """What the command line prints, without colour, 80 columns wide."""
    out = StringIO()
    Console(file=out, width=_WIDTH, color_system=None, force_jupyter=False).print(proof_block(outcome))
    return out.getvalue().rstrip("\n")


def _rows(outcome: Outcome) -> list[tuple[str, str]]:
    rows = [("for", outcome.scope)]
    match outcome:
        case Proof():
            if outcome.lower is not None:
                rows.append(("two sides", two_sides(outcome.lower.epsilon, outcome.epsilon, outcome.lower.confidence)))
                rows += [("pair", line) for line in _pair_lines(outcome.lower)]
                rows += [("event", outcome.lower.event), ("counts", counts(outcome.lower))]
            rows += [("noise", line) for line in lines(outcome.alignment)]
            if outcome.certificate.get("kind") == "coins" and outcome.alignment:
                rows.append(("choices", "count with their exact probabilities"))
            rows += [("queries", text) for text in stated(outcome)]
            rows += [("paths", count(outcome.paths)), *(("assumes", text) for text in outcome.assumptions)]
        case Refuted():
            rows += [
                *(("pair", line) for line in _pair_lines(outcome)), ("event", outcome.event),
                ("counts", counts(outcome)), ("bound", f"{bound(outcome)} (claim {fraction(outcome.claimed)})"),
            ]
            if outcome.least is not None:
                rows.append(("alignment", f"needs ε = {number(outcome.least)}"))
                rows.append(("two sides", two_sides(outcome.epsilon, outcome.least, outcome.confidence)))
        case Unknown():
            rows.append(("why", outcome.reason))
            if outcome.place is not None:
                rows.append(("line", f"{outcome.place}: {outcome.place.source}"))
            if outcome.remedy:
                rows.append(("remedy", outcome.remedy))
    return rows


def stated(proof: Proof) -> list[str]:
    """What each query and quality function states: "Count(value=1): its answers differ by at most 1 in total"."""
    what = {"total": "its answers differ by at most {} in total", "each": "each score differs by at most {}"}
    every = [
        f"{excerpt_of(each.subject)}: {what[each.moves].format(number(each.sensitivity))}" for each in proof.stated
    ]
    return every if len(every) <= _MOST_QUERIES else [*every[:_MOST_QUERIES - 1], f"… ({len(every)} in all)"]


def excerpt_of(subject: object) -> str:
    """An object in a few words."""
    shown = repr(subject)
    return shown if len(shown) <= _LONGEST_QUERY else f"{shown[:_LONGEST_QUERY - 1]}…"


def two_sides(least: float, most: Fraction, confidence: float) -> str:
    """The interval of ε: from below with confidence, from above for certain."""
    return f"ε ∈ [{lower(least, float(most))}, {fraction(most)}], the lower end with {percent(confidence)} confidence"


def bound(outcome: Refuted) -> str:
    """The lower confidence bound on ε, rounded down."""
    return f"ε ≥ {lower(outcome.epsilon, float(outcome.claimed))} with {percent(outcome.confidence)} confidence"


def counts(outcome: Refuted | LowerBound) -> str:
    """How often the event was seen on D and on D′."""
    (hits, others), samples = outcome.counts, count(outcome.samples)
    return f"{count(hits)} of {samples} samples of D, {count(others)} of {samples} of D′"


def pair_parts(outcome: Refuted | LowerBound, *, limit: int = 24) -> list[Part]:
    """D and D′ with what differs between them."""
    left, right = (json.loads(json.dumps(dataset_to_json(dataset))) for dataset in outcome.pair)
    return compare(left, right, limit=limit)


def _pair_lines(outcome: Refuted | LowerBound) -> list[str]:
    return [
        f"{name:3}{excerpt.text()}" + (f"  ({excerpt.size})" if excerpt.size else "")
        for part in pair_parts(outcome, limit=12) for name, excerpt in (("D", part.left), ("D′", part.right))
    ]


def proof_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON values; fractions are text."""
    values: dict[str, Any] = {
        "format_version": FORMAT_VERSION, "verdict": verdict(outcome).lower(), "program": outcome.program,
        "scope": outcome.scope, "claimed": str(outcome.claimed),
        "goal": "" if isinstance(outcome, Refuted) else outcome.goal, "seconds": round(outcome.seconds, 3),
    }
    match outcome:
        case Proof():
            values |= {
                "epsilon": str(outcome.epsilon), "mu_squared": str(outcome.mu_squared),
                "rho": str(outcome.rho), "paths": outcome.paths,
                "assumptions": list(outcome.assumptions), "queries": stated(outcome),
                "alignment": [
                    {
                        **_place(noise.place), "noise": noise.noise, "cost": str(noise.cost),
                        "shifts": [str(shift) for shift in noise.shifts],
                    }
                    for noise in outcome.alignment
                ],
                "certificate": outcome.certificate,
            }
            if outcome.lower is not None:
                below = outcome.lower
                values["lower"] = {
                    "epsilon_at_least": below.epsilon, "confidence": below.confidence, "event": below.event,
                    "pair": [dataset_to_json(dataset) for dataset in below.pair], "counts": list(below.counts),
                    "samples": below.samples,
                }
        case Refuted():
            values |= {
                "epsilon_at_least": outcome.epsilon, "confidence": outcome.confidence, "event": outcome.event,
                "pair": [dataset_to_json(dataset) for dataset in outcome.pair], "counts": list(outcome.counts),
                "samples": outcome.samples, "least": _text(outcome.least),
            }
        case Unknown():
            values |= {
                "reason": outcome.reason, "remedy": outcome.remedy, "least": _text(outcome.least),
                **_place(outcome.place),
            }
    return values


def _place(place: Place | None) -> dict[str, str | None]:
    return {"line": None if place is None else str(place), "source": None if place is None else place.source}


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


_ONE_SHIFT = (
    "The program's source is followed on symbols in place of the data. For every extreme difference of D and D′, one "
    "shift of all draws is found with which D′ takes the same path to the same output, on every path: the one with the "
    "least sum of squares, rounded to fractions and checked exactly. If there is none, the shift of a draw may depend "
    "on what was decided before it. Gaussian noise with standard deviation σ whose draw moves by s costs (s/σ)² of μ², "
    "and other noise with scale b costs |s|/b, on the most expensive path. The claim follows from μ and ε, with δ by "
    "the Gaussian profile in interval arithmetic, or from ρ, half of the sum of all squares."
)
_COINS = (
    "The program's source is followed on every dataset of the domain. Its random choices have exact probabilities, so "
    "that of each output is a fraction; every output is compared on every pair of neighbours. Where outputs have "
    "noise, the probability of each path on D flows to paths on D′ that have the same output with shifted noise. What "
    "flows to a path, times exp(cost of the shift), is compared with exp(ε) times its probability."
)


def method(outcome: Outcome) -> Sequence[str]:
    """How the verdict was made."""
    followed = (
        "The program's source is followed on symbols in place of the data. On every execution path, a linear program "
        "finds the cheapest shift of the noise with which D′ takes the same path to the same output. It is solved for "
        "every extreme difference of D and D′, rounded to fractions, and checked exactly. Noise with scale b whose "
        "draw moves by s costs |s|/b, and the costs on one path add up to ε."
    )
    match outcome:
        case Proof():
            followed = {"translation": _ONE_SHIFT, "coins": _COINS}.get(outcome.certificate.get("kind", ""), followed)
            if outcome.certificate.get("parts"):
                followed += (
                    " What is applied to the whole dataset is proved by itself, and costs the ε of its own proof, "
                    "whose certificate is part of this one."
                )
            return (
                followed, "Before the proof was given, the program itself ran on concrete datasets, and did what was "
                "followed."
            )
        case Refuted():
            return (
                followed, "No proof was found. Candidate pairs and events were compared on pilot samples; "
                "then one event was counted on fresh samples of one pair, and the bound on ε is by Clopper and "
                "Pearson, with the error shared among the interim analyses."
            )
        case Unknown():
            return followed, "Neither a proof nor a violation was found. This says nothing about the claim."
