"""Symmetries: exchanges of records that correspond to an exchange of outputs.

A mechanism, quality or query declares them in `symmetries`; exhaustive verification computes one law (output
distribution) for all datasets that they map to each other. Each needs a proof where it is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dpaudit.language.records import Record
from dpaudit.outputs.canonical import Outcome, Output, Raised, canonical
from dpaudit.outputs.ranges import IntegerRange


@dataclass(frozen=True)
class Symmetry:
    """Mapping every record x of a dataset to record(x) maps the output distribution by `output`:

        Pr[M(record(S)) = output(h)] = Pr[M(S) = h]   for every dataset S and every h, exactly.

    Both are bijections. Declaring generators is enough: all their compositions are symmetries too.

    Args:
        name: a few words for reports; symmetries that belong together share it.
        record: record → record.
        output: output → output; None if outputs stay unchanged.
        cuts: whole numbers such that between two consecutive ones, before the first and after the last, `output` is
            h → c ± h for a constant c; it then acts on integer ranges cut at these points. None if there are no such
            numbers; the symmetry is then not used on laws with integer ranges.
    """

    name: str
    record: Callable[[Record], Record]
    output: Callable[[Output], Output] | None = None
    cuts: tuple[int, ...] | None = None

    @property
    def moves_ranges(self) -> bool:
        """Whether it acts on laws with integer ranges."""
        return self.output is None or self.cuts is not None

    def on(self, outcome: Outcome) -> Outcome:
        """The image of an outcome of a law; a range must not cross a cut. A failure stays unchanged."""
        if self.output is None or isinstance(outcome, Raised):
            return outcome
        if isinstance(outcome, IntegerRange):
            ends = sorted((self.output(outcome.start), self.output(outcome.stop - 1)))
            return IntegerRange(ends[0], ends[1] + 1)
        return canonical(self.output(outcome))

    def keeping(self, fixed: Hashable) -> Symmetry:
        """The same symmetry, except that one output (⊥) stays unchanged."""
        return self if self.output is None else replace(self, output=_Keeping(self.output, fixed))


@dataclass(frozen=True)
class Exchange:
    """a ↔ b; everything else stays."""

    a: Record
    b: Record

    def __call__(self, x: Record) -> Record:
        return self.b if x == self.a else self.a if x == self.b else x


@dataclass(frozen=True)
class _Keeping:
    output: Callable[[Output], Output]
    fixed: Hashable

    def __call__(self, h: Output) -> Output:
        return h if h == self.fixed else self.output(h)


def exchanges(name: str, records: Sequence[Record]) -> tuple[Symmetry, ...]:
    """Any permutation of these records, the output unchanged: for records that a mechanism does not distinguish."""
    return tuple(Symmetry(name, Exchange(a, b)) for a, b in pairwise(records))


def relabellings(name: str, records: Sequence[Record]) -> tuple[Symmetry, ...]:
    """Any permutation of these records, and the same permutation of the outputs."""
    symmetries = []
    for a, b in pairwise(records):
        whole = all(isinstance(x, int) and not isinstance(x, bool) for x in (a, b))
        cuts = (a, a + 1, b, b + 1) if whole else None
        symmetries.append(Symmetry(name, Exchange(a, b), Exchange(a, b), cuts))
    return tuple(symmetries)
