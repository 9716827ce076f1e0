"""A chain of neighbours in reports: the privacy loss of its links, and the consequences for the group claim."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from dpaudit.report.numbers import exactly, nearest, small, stated
from dpaudit.report.terminal_text import columns
from dpaudit.results.datasets import json_text
from dpaudit.results.model import Chain, ChainLink, ClaimRecord, Json

_TERMINAL_LINKS, _PAGE_LINKS = 12, 40
_LONGEST = 16
"""Characters of a record in a change."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Line:
    """One link of the table, in words; "" for unknown values."""

    number: int
    change: str
    epsilon: str
    delta: str
    loss: str
    exceeds: bool


def lines(chain: Chain) -> list[Line]:
    """The first links in order, as many as fit on a page; the data has all of them."""
    return [
        Line(
            number,
            _change(link),
            _epsilon(link, chain.single),
            "" if link.delta is None else _delta(link.delta, chain.single.delta),
            "∞" if link.impossible else "" if link.loss is None else _signed(link.loss),
            link.exceeds,
        )
        for number, link in enumerate(chain.links[:_PAGE_LINKS], 1)
    ]


def sentence(chain: Chain) -> str:
    """The claim for groups, the bound that the links imply, and the conclusion.

    E.g. "the claim for groups is (2.0, 0.04), and (1.0, 0.02) for every link implies (2.0, 0.07437) for the ends. The
    ends exceed the first and satisfy the second: the claim for groups is false, and the claim for neighbours is not
    refuted".
    """
    implied = f"{_pair(chain.single)} for every link implies {_pair(chain.tight)} for the ends"
    text = f"the claim for groups is {_pair(chain.stated)}, and {implied}"
    if chain.tight_exceeded:
        kept = "" if chain.exceeded else ", though not the claim for groups"
        return f"{text}. The ends exceed it{kept}: {_named(chain)} refutes the claim for neighbours"
    if chain.named is not None:
        kept = "exceed" if chain.exceeded else "satisfy"
        return f"{text}. The ends {kept} the first, and {_named(chain)} refutes the claim for neighbours"
    if chain.tight_exceeded is None:
        refuted = ". Samples refute the first" if chain.exceeded else ""
        return f"{text}{refuted}. Links are estimated from the samples of the search, which give no confidence bound"
    if chain.exceeded:
        return (
            f"{text}. The ends exceed the first and satisfy the second: the claim for groups is false, and the claim "
            "for neighbours is not refuted"
        )
    met = chain.tight.delta and math.isclose(chain.delta or 0.0, chain.tight.delta, rel_tol=_ROUNDING)
    return f"{text}. The ends satisfy both{', the second with equality' if met else ''}"


def losses(chain: Chain) -> str | None:
    """The group's loss as the sum of the links' losses; None if they are unknown."""
    known = [link.loss for link in chain.links if link.loss is not None]
    if len(known) < len(chain.links):
        return None
    return (
        f"the loss {_signed(math.fsum(known))} on the group's event is the sum of the links' losses "
        f"{', '.join(_signed(loss) for loss in known[:_TERMINAL_LINKS])}{', …' if len(known) > _TERMINAL_LINKS else ''}"
    )


def terminal_table(chain: Chain) -> list[str]:
    """The links for a terminal of 80 columns."""
    exact = any(link.delta is not None for link in chain.links)
    heads = ("link", "change", "exact ε", "exact δ", "loss") if exact else ("link", "change", "estimated ε")
    cells: list[tuple[str, ...]] = [heads]
    for line in lines(chain)[:_TERMINAL_LINKS]:
        mark = " !" if line.exceeds else ""
        numbers = (line.epsilon + mark, line.delta, line.loss) if exact else (line.epsilon,)
        cells.append((str(line.number), line.change, *numbers))
    hidden = len(chain.links) - _TERMINAL_LINKS
    more = [f"… {hidden} more in the HTML report and the JSON"] if hidden > 0 else []
    broken = any(link.exceeds for link in chain.links[:_TERMINAL_LINKS])
    return [*columns(cells), *more, *(["! exceeds the claim for neighbours"] if broken else [])]


def left_out(chain: Chain) -> int:
    """Number of links that do not fit on a page."""
    return max(0, len(chain.links) - _PAGE_LINKS)


def estimated(chain: Chain) -> bool:
    """Whether its links are known from samples only."""
    return all(link.delta is None for link in chain.links)


def _named(chain: Chain) -> str:
    assert chain.named is not None
    link = chain.links[chain.named - 1]
    if link.exceeds:
        return f"link {chain.named}"
    return f"some link (link {chain.named} by the estimates)" if estimated(chain) else f"some link, link {chain.named}"


def _epsilon(link: ChainLink, claim: ClaimRecord) -> str:
    if link.estimate is not None:
        return f"{link.estimate:.3g}"
    if link.delta is None:
        return ""
    return "∞" if link.epsilon is None else exactly(link.epsilon, claim.epsilon)


def _delta(delta: float, claimed: float) -> str:
    return nearest(delta) if math.isclose(delta, claimed, rel_tol=_ROUNDING) else nearest(delta, claimed)


def _pair(claim: ClaimRecord) -> str:
    return f"({stated(claim.epsilon)}, {nearest(claim.delta, digits=4) if claim.delta else small(claim.delta)})"


def _signed(loss: float) -> str:
    text = nearest(0.0 if abs(loss) < 1e-9 else loss)
    return f"−{text[1:]}" if text.startswith("-") else text


def _change(link: ChainLink) -> str:
    """The record that is replaced, added or removed, and its place if the order matters."""
    left, right = _counts(link.pair.left), _counts(link.pair.right)
    if left is None or right is None:
        return ""
    gone, come = (next(iter((a - b).elements()), None) for a, b in ((left, right), (right, left)))
    if gone is None or come is None:
        return f"{_short(come or '')} added" if gone is None else f"{_short(gone)} removed"
    text = f"{_short(gone)} → {_short(come)}"
    if isinstance(link.pair.left, list) and isinstance(link.pair.right, list):
        records = zip(link.pair.left, link.pair.right, strict=False)
        at = next((i for i, (a, b) in enumerate(records, 1) if a != b), None)
        return text if at is None else f"{text} (record {at})"
    return text


def _counts(dataset: Json) -> Counter[str] | None:
    """Records as JSON text, with multiplicities."""
    if isinstance(dataset, dict) and dataset.keys() == {"multiset"}:
        return Counter({json_text(value): times for value, times in dataset["multiset"]})
    if isinstance(dataset, list):
        return Counter(json_text(value) for value in dataset)
    return None


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
