"""An algorithm's card as rows, and the sample sizes that its source prints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass

from dpaudit.language import Card, Mechanism, SampleSize
from dpaudit.plans.plan import Plan
from dpaudit.report.numbers import count
from dpaudit.report.terminal_text import Rows


def card_rows(kind: type[Mechanism], card: Card, plan: Plan) -> list[tuple[str, str]]:
    """(what, text) of all that a person must know before they trust an audit."""
    parameters: list[str] = [f.name for f in fields(kind) if f.init] if is_dataclass(kind) else []
    guarantees = plan.utility() if plan.utility is not None else ()
    return [
        ("Title", card.title),
        ("Source", card.source),
        ("Claim as printed", card.claim),
        ("Inputs", card.inputs),
        ("Output", card.output),
        *_known_bug(card),
        *((f"Deviation {i}", text) for i, text in enumerate(card.deviations, 1)),
        ("Variants", ", ".join(card.variants) or "none"),
        ("Parameters", ", ".join(parameters) or "none"),
        *((f"Audit {i}", f"{c.label}: {c.tested}, expected {c.expected.value}") for i, c in enumerate(plan.cases(), 1)),
        *((f"Utility {i}", f"{c.label}: {c.claim}, expected {c.expected.value}") for i, c in enumerate(guarantees, 1)),
    ]


def sizes_block(mechanism: Mechanism, sizes: Sequence[SampleSize]) -> Rows:
    """The printed numbers of records, worked out for one instance."""
    block = Rows(label_width=10)
    block.line(repr(mechanism), indent=0)
    for size in sizes:
        block.line("")
        block.line(f"n ≥ {count(size.records)}", style="bold")
        block.labelled("formula", size.formula)
        block.labelled("guarantee", size.guarantee)
        block.labelled("source", size.place)
    return block


def _known_bug(card: Card) -> Iterable[tuple[str, str]]:
    if card.known_bug is None:
        return []
    return [
        ("Bug", card.known_bug.bug or "none; it is the correct counterpart of broken mechanisms"),
        ("Effect", card.known_bug.effect),
        ("True ε", card.known_bug.epsilon),
    ]
