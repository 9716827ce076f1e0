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


@dataclass(frozen=True)
class Line:
    """One line of the table, and what is drawn beside it; positions in percent of the picture's width.

    Args:
        level: from 0, for the indent.
        exceeds: whether it spends more than it claims.
        outline, bar, tick: where claim, exact ε and loss lie; None where they are not drawn, as a gain of privacy.
        beyond: whether the bar goes on past the right edge.
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
    """The lines of the table, depth first, as many as a page holds; the data has them all."""
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
    """Where the budget went, in one sentence; None where no course was followed.

    E.g. "of (4.5, 9e-09) claimed the parts compose to (4.5, 8e-09) and the worst pair spends ε = 4.911503; on the
    likeliest course to 2048 the loss is 4.93: ADist 4 (4 times, 2 claimed), Softmax 0.926 (3 times, 1.5 claimed)".
    """
    if audit.spending is None or not audit.ledger:
        return None
    root = audit.ledger[0]
    claim = f"({nearest(audit.claim.epsilon)}, {small(audit.claim.delta)})"
    parts = f" the parts compose to {_composed(root)} and" if _composed(root) else ""
    text = f"of {claim} claimed{parts} the worst pair spends ε = {exact_epsilon(audit)}"
    return f"{text}; on the likeliest course to {root.value} the loss is {_loss(root)}: {_kinds(audit.ledger)}"


def course(audit: Audit) -> str | None:
    """Which course of draws the table is of; None where none was followed."""
    if audit.spending is None or not audit.ledger:
        return None
    side = audit.spending.direction.partition("/")[0]
    root = audit.ledger[0]
    return (
        f"The draws that lead to {root.value}, the likeliest outcome of the worst event, on the {side} dataset of "
        f"“{audit.spending.pair.label}”, by the likeliest course ({_share(audit.spending.share)} of its probability). "
        "Every part is compared on the two inputs that it has there: exact ε is the least at its own δ, in both "
        "directions; the loss is the logarithm of how much likelier its draw was, and losses add up along the tree."
    )


def terminal_table(audit: Audit) -> list[str]:
    """The table for a terminal of 80 columns; empty where no course was followed."""
    if audit.spending is None:
        return []
    cells = [("part → what it drew", "claimed", "parts", "exact", "loss")]
    for row in audit.ledger[:_TERMINAL_ROWS]:
        name = f"{' ' * min(row.depth, _DEEPEST)}{_kind(row)} → {row.value}"
        short = name if len(name) <= _TERMINAL_NAME else f"{name[: _TERMINAL_NAME - 1]}…"
        claim = nearest(row.epsilon) if row.claimed else "–"
        parts = "" if row.composed_epsilon is None else nearest(row.composed_epsilon)
        cells.append((short, claim, parts, _exact(row) + (" !" if _exceeds(row) else ""), _loss(row)))
    hidden = len(audit.ledger) - _TERMINAL_ROWS
    more = [f"… {hidden} more in the HTML report and the JSON"] if hidden > 0 else []
    broken = any(_exceeds(row) for row in audit.ledger[:_TERMINAL_ROWS])
    return [*columns(cells), *more, *(["! more than it claims, at its own δ"] if broken else [])]


def _kinds(rows: list[LedgerRow]) -> str:
    """The leaves by kind, those that lose most first."""
    found: dict[str, list[LedgerRow]] = {}
    for row, below in zip(rows, [*rows[1:], None], strict=True):
        if below is None or below.depth <= row.depth:
            found.setdefault(_kind(row), []).append(row)
    losses = {
        kind: math.fsum(math.inf if row.impossible else row.loss or 0.0 for row in of) for kind, of in found.items()
    }
    order = sorted(found, key=lambda kind: -losses[kind])
    texts = []
    for kind in order[:_GROUPS]:
        claims = [row.epsilon for row in found[kind] if row.claimed or row.composed_epsilon is not None]
        times = f"{len(found[kind])} times, " if len(found[kind]) > 1 else ""
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
    """Three digits; what is 0, or `against`, but for the rounding of doubles is shown as that."""
    if abs(x) < _ROUNDING:
        return "0"
    if against is not None and math.isclose(x, against, rel_tol=_ROUNDING):
        against = None
    text = nearest(x, against)
    return f"−{text[1:]}" if text.startswith("-") else text


def _share(share: float) -> str:
    return "all" if share > 1 - _ROUNDING else f"{math.floor(1000 * share) / 10:g} %"
