"""Symmetries: what can be exchanged in the data if the same is exchanged in the output.

A mechanism declares them in `symmetries`, a quality or a query likewise; exhaustive verification computes one law for
all datasets that they make equal. They are statements about laws, so each needs a proof where it is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from dpaudit.outputs.canonical import Raised, canonical
from dpaudit.outputs.spans import Span


@dataclass(frozen=True)
class Symmetry:
    """If every record x of a dataset becomes record(x), the output has the law of output(h), h the output before:

        Pr[M(record(S)) = output(h)] = Pr[M(S) = h]   for every dataset S and every h, exactly.

    Both are bijections. A few symmetries stand for all their compositions.

    Args:
        name: what a report calls it, in a few words; those that belong together share it.
        record: record → record.
        output: output → output; None where outputs stay as they are.
        cuts: whole numbers c so that between two of them, and before and after all, `output` is h → c ± h: then it
            acts on spans that are cut there. None where that is not so; the symmetry is not used then on laws with
            spans.
    """

    name: str
    record: Callable[[Any], Any]
    output: Callable[[Any], Any] | None = None
    cuts: tuple[int, ...] | None = None

    @property
    def moves_spans(self) -> bool:
        """Whether it acts on laws with spans."""
        return self.output is None or self.cuts is not None

    def on(self, outcome: Any) -> Hashable:
        """An outcome of a law, moved; a span must not reach over a cut. A failure stays as it is."""
        if self.output is None or isinstance(outcome, Raised):
            moved: Hashable = outcome
            return moved
        if isinstance(outcome, Span):
            ends = sorted((self.output(outcome.start), self.output(outcome.stop - 1)))
            return Span(ends[0], ends[1] + 1)
        return canonical(self.output(outcome))

    def keeping(self, fixed: Hashable) -> Symmetry:
        """The same, but for one output (⊥) that stays as it is."""
        return self if self.output is None else replace(self, output=_Keeping(self.output, fixed))


@dataclass(frozen=True)
class Exchange:
    """a ↔ b; everything else stays."""

    a: Any
    b: Any

    def __call__(self, x: Any) -> Any:
        return self.b if x == self.a else self.a if x == self.b else x


@dataclass(frozen=True)
class _Keeping:
    output: Callable[[Any], Any]
    fixed: Hashable

    def __call__(self, h: Any) -> Any:
        return h if h == self.fixed else self.output(h)


def exchanges(name: str, records: Sequence[Any]) -> tuple[Symmetry, ...]:
    """Any permutation of these records, the output as it is: for records that are all the same to a mechanism."""
    return tuple(Symmetry(name, Exchange(a, b)) for a, b in pairwise(records))


def relabellings(name: str, records: Sequence[Any]) -> tuple[Symmetry, ...]:
    """Any permutation of these records, and of the outputs of the same names."""
    found = []
    for a, b in pairwise(records):
        whole = all(isinstance(x, int) and not isinstance(x, bool) for x in (a, b))
        cuts = (a, a + 1, b, b + 1) if whole else None
        found.append(Symmetry(name, Exchange(a, b), Exchange(a, b), cuts))
    return tuple(found)
