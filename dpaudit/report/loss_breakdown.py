"""Where privacy goes: the composition tree as a table and a picture, and the sentence that sums it up."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from dpaudit.report.numbers import nearest, small
from dpaudit.report.terminal_text import columns
from dpaudit.report.wording import exact_epsilon
from dpaudit.results.model import Audit, LedgerRow

_ROUNDING = 1e-9
_DEEPEST = 7
"""Levels that are indented; a recursion may be deeper."""
_GROUPS = 4
"""Kinds of parts that the sentence names."""
_TERMINAL_ROWS, _TERMINAL_NAME = 16, 32
_PAGE_ROWS = 40
COMPARED = (
    "Each part is compared on its two inputs on this path: exact ε is the smallest ε at its own δ, in both directions; "
    "the loss is the log-likelihood ratio of its draw, and losses add up along the tree."
)
"""What the table of a breakdown shows."""


@dataclass(frozen=True)
class Line:
    """One line of the table and its bar chart; positions in percent of the chart's width.

    Args:
        level: from 0, for the indent.
        exceeds: whether its exact ε exceeds its claim.
        outline, bar, tick: positions of claim, exact ε and loss; None if they are not drawn, e.g. a negative loss.
        beyond: whether the bar extends past the right edge.
    """

    level: int
    name: str
    value: str
    claimed: str
    composed: str
    exact: str
    loss: str
    remark: str
    exceeds: bool
    outline: float | None
    bar: float | None
    tick: float | None
    beyond: bool


def lines(audit: Audit) -> list[Line]:
    """The first lines of the table, depth first, as many as fit on a page; the data has all of them."""
    rows = audit.ledger[:_PAGE_ROWS]
    sizes = [x for row in rows for x in (row.epsilon, row.exact_epsilon, row.loss) if x is not None]
    end = max([*sizes, 1e-9]) * 1.06

    def at(x: float | None) -> float | None:
        return None if x is None else round(min(max(100 * x / end, 0.0), 100.0), 2)

    return [
        Line(
            level=min(row.depth, _DEEPEST),
            name=_name(row),
            value=row.value,
            claimed=_claimed(row),
            composed=_composed(row),
            exact=_exact(row),
            loss=_loss(row),
            remark=row.remark,
            exceeds=_exceeds(row),
            outline=at(row.epsilon) if row.claimed else None,
            bar=100.0 if _infinite(row) else at(row.exact_epsilon),
            tick=at(row.loss) if row.loss is not None and row.loss >= 0 else None,
            beyond=_infinite(row),
        )
        for row in rows
    ]


def left_out(audit: Audit) -> int:
    """How many lines of the table have no place on a page."""
    return max(0, len(audit.ledger) - _PAGE_ROWS)


def sentence(audit: Audit) -> str | None:
    """The privacy loss by part, in one sentence; None without a breakdown.

    E.g. "claimed (4.5, 9e-09), the parts compose to (4.5, 8e-09), and the worst pair has ε = 4.911503; on the most
    likely execution path to 2048 the loss is 4.93: ADist 4 (4 times, 2 claimed), Softmax 0.926 (3 times, 1.5 claimed)".
    """
    if audit.loss_breakdown is None or not audit.ledger:
        return None
    root = audit.ledger[0]
    claim = f"({nearest(audit.claim.epsilon)}, {small(audit.claim.delta)})"
    parts = f" the parts compose to {_composed(root)}, and" if _composed(root) else ""
    text = f"claimed {claim},{parts} the worst pair has ε = {exact_epsilon(audit)}"
    path = f"on the most likely execution path to {root.value} the loss is {_loss(root)}"
    return f"{text}; {path}: {_kinds(audit.ledger)}"


def path_sentence(audit: Audit) -> str | None:
    """The execution path of the table; None without a breakdown."""
    if audit.loss_breakdown is None or not audit.ledger:
        return None
    dataset = "D" if audit.loss_breakdown.direction.startswith("left/") else "D′"
    root = audit.ledger[0]
    return (
        f"The draws that lead to {root.value}, the most likely outcome in the worst event, under {dataset} of "
        f"“{audit.loss_breakdown.pair.label}”, on the most likely execution path "
        f"({_share(audit.loss_breakdown.share)} of its probability)."
    )


def terminal_table(audit: Audit) -> list[str]:
    """The table for a terminal of 80 columns; empty without a breakdown."""
    if audit.loss_breakdown is None:
        return []
    cells = [("part → draw", "claimed", "parts", "exact", "loss")]
    for row in audit.ledger[:_TERMINAL_ROWS]:
        name = f"{' ' * min(row.depth, _DEEPEST)}{_kind(row)} → {row.value}"
        short = name if len(name) <= _TERMINAL_NAME else f"{name[: _TERMINAL_NAME - 1]}…"
        claim = nearest(row.epsilon) if row.claimed else "–"
        parts = "" if row.composed_epsilon is None else nearest(row.composed_epsilon)
        cells.append((short, claim, parts, _exact(row) + (" !" if _exceeds(row) else ""), _loss(row)))
    hidden = len(audit.ledger) - _TERMINAL_ROWS
    more = [f"… {hidden} more in the HTML report and the JSON"] if hidden > 0 else []
    broken = any(_exceeds(row) for row in audit.ledger[:_TERMINAL_ROWS])
    return [*columns(cells), *more, *(["! exceeds its claim, at its own δ"] if broken else [])]


def _kinds(rows: list[LedgerRow]) -> str:
    """The leaves by kind, largest loss first."""
    by_kind: dict[str, list[LedgerRow]] = {}
    for row, below in zip(rows, [*rows[1:], None], strict=True):
        if below is None or below.depth <= row.depth:
            by_kind.setdefault(_kind(row), []).append(row)
    losses = {
        kind: math.fsum(math.inf if row.impossible else row.loss or 0.0 for row in of) for kind, of in by_kind.items()
    }
    order = sorted(by_kind, key=lambda kind: -losses[kind])
    texts = []
    for kind in order[:_GROUPS]:
        claims = [row.epsilon for row in by_kind[kind] if row.claimed or row.composed_epsilon is not None]
        times = f"{len(by_kind[kind])} times, " if len(by_kind[kind]) > 1 else ""
        claim = f"{nearest(math.fsum(claims))} claimed" if claims else "not accounted for"
        texts.append(f"{kind} {_number(losses[kind])} ({times}{claim})")
    rest = order[_GROUPS:]
    if rest:
        texts.append(f"the rest {_number(math.fsum(losses[kind] for kind in rest))}")
    return ", ".join(texts)


def _kind(row: LedgerRow) -> str:
    """A draw without its parameters: "Softmax over 9 outcomes …" and "Softmax(…)" are both Softmax."""
    return re.split(r"\(| over ", _name(row), maxsplit=1)[0]


def _name(row: LedgerRow) -> str:
    return row.name or row.text


def _claimed(row: LedgerRow) -> str:
    if row.claimed is False:
        return "none" if row.composed_epsilon is not None else "not accounted for"
    return f"({nearest(row.epsilon)}, {small(row.delta)})"


def _composed(row: LedgerRow) -> str:
    if row.composed_epsilon is None or row.composed_delta is None:
        return ""
    return f"({nearest(row.composed_epsilon)}, {small(row.composed_delta)})"


def _infinite(row: LedgerRow) -> bool:
    return row.exact_epsilon is None and row.exact_delta is not None


def _exact(row: LedgerRow) -> str:
    if _infinite(row):
        return "∞"
    if row.exact_epsilon is None:
        return ""
    return _number(row.exact_epsilon, row.epsilon if row.claimed else None)


def _exceeds(row: LedgerRow) -> bool:
    if not row.claimed:
        return False
    least = row.epsilon * (1 + _ROUNDING) + _ROUNDING
    return _infinite(row) or (row.exact_epsilon is not None and row.exact_epsilon > least)


def _loss(row: LedgerRow) -> str:
    return "∞" if row.impossible else "" if row.loss is None else _number(row.loss)


def _number(x: float, against: float | None = None) -> str:
    """Three digits; a number that equals 0 or `against` up to rounding is shown as that."""
    if abs(x) < _ROUNDING:
        return "0"
    if against is not None and math.isclose(x, against, rel_tol=_ROUNDING):
        against = None
    text = nearest(x, against)
    return f"−{text[1:]}" if text.startswith("-") else text


def _share(share: float) -> str:
    return "all" if share > 1 - _ROUNDING else f"{math.floor(1000 * share) / 10:g} %"
