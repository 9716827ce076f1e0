"""The thought experiment of pairing twice: prefix lengths of neighbours in a random order, level by level."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from dpaudit.language import (
    REPLACE_ONE,
    THESIS,
    Card,
    Claim,
    Draw,
    Mechanism,
    Multiset,
    ParameterError,
    RandomOrder,
    ceil_log2,
    checks,
)
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.interior_points.rec_prefix import CommonPrefix, check_records

ONCE, EVERY_LEVEL = "once", "every level"


@dataclass(frozen=True)
class PairTwice(Mechanism):
    """Shuffles the records, replaces them `levels` times by the common prefix lengths of neighbours, y_i and y_{i+1},
    and hands what comes out to a private mechanism.

    How far one record reaches, in a fixed order: a changed y_i changes two neighbours at the next level, and a block of
    k changed ones k + 1. So with one shuffle at most t + 1 elements of depth t are others, which is the text's bound;
    with a shuffle at every level every one of them can change two, at most 2^t. The shuffles of neighbours correspond
    to each other, so the inner mechanism's claim for groups of t + 1, or 2^t, holds for the whole.

    Args:
        inner: a mechanism on prefix lengths 0, 1, …, private under replace-one.
        size: |X| ≥ 1; the records are 0, …, size − 1, written with ⌈log₂|X|⌉ bits.
        levels: t ≥ 0; the text has log*|X|.
        shuffle: "once", or "every level" for its second version.

    Raises:
        ParameterError: a parameter outside its range, or an inner mechanism without a claim under replace-one.

    Source: Stemmer's thesis, section 7.3.2, "Informal Discussion and Open Questions".
    """

    inner: Mechanism
    size: checks.Count
    levels: checks.Natural
    shuffle: str = ONCE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shuffle not in (ONCE, EVERY_LEVEL):
            raise ParameterError(f'shuffle must be "{ONCE}" or "{EVERY_LEVEL}", not {self.shuffle!r}.')
        if claim_of(self.inner).relation != REPLACE_ONE:
            raise ParameterError("The inner mechanism must be private under replace-one.")

    @property
    def reach(self) -> int:
        """How many elements of the last depth one record can change."""
        return self.levels + 1 if self.shuffle == ONCE else 1 << self.levels

    @property
    def claim(self) -> Claim:
        """The inner mechanism's, for groups of `reach`."""
        group = claim_of(self.inner).chained(self.reach)
        return Claim(group.epsilon, group.delta)

    @property
    def depth_sizes(self) -> tuple[int, ...]:
        """How many values elements have at depth 0, 1, …, t."""
        sizes = [self.size]
        for _ in range(self.levels):
            sizes.append(ceil_log2(sizes[-1]) + 1)
        return tuple(sizes)

    def run(self, dataset: Any) -> Draw:
        S = Multiset.of(dataset)
        check_records(S, self.size)
        if not self.levels:
            return self.inner.on(S)
        # 1. (y_1^0, …, y_n^0), a random permutation;  2. for t = 1, …, levels: y_i^t from y_i^{t−1} and y_{i+1}^{t−1}
        if self.shuffle == ONCE:
            return RandomOrder(S).map(Paired(self.depth_sizes[:-1])).then(self.inner.on)
        # with a permutation of its own for every t
        deeper = replace(self, size=self.depth_sizes[1], levels=self.levels - 1)
        return RandomOrder(S).map(Paired(self.depth_sizes[:1])).then(deeper.on)


@dataclass(frozen=True)
class Paired:
    """An order (y_1^0, …, y_n^0) → the multiset of the elements y_i^t of depth t, by step 2 alone.

    Args:
        sizes: how many values elements have at depth 0, …, t − 1.
    """

    sizes: tuple[int, ...]

    def __call__(self, order: tuple[int, ...]) -> Multiset:
        return Multiset.of(self.depth(order))

    def depth(self, order: tuple[int, ...]) -> tuple[int, ...]:
        """(y_1^t, …, y_{n−t}^t)."""
        y = order
        for size in self.sizes:
            prefix = CommonPrefix(ceil_log2(size))
            y = tuple(prefix(a, b) for a, b in pairwise(y))
        return y


# --- cards: what is claimed where, and where the text here departs from the print ---

PairTwice.card = Card(
    name="PairTwice",
    system="I8",
    title="The thought experiment of pairing every record twice",
    paper=THESIS,
    place='§7.3.2, "Informal Discussion and Open Questions"',
    claim="none printed; tested against (t + 1)ε after t levels with one shuffle, and 2^t·ε with one at every "
    "level, which the text suggests",
    inputs="n records in {0, …, size − 1}; a mechanism on the n − t lengths of depth t; size, levels = t, shuffle",
    output="an output of the inner mechanism",
    deviations=(
        "Nothing is claimed: \"the privacy loss is acceptable\" is read as the inner mechanism's claim for groups "
        "of t + 1, and \"might affect 2^t elements\" as that for groups of 2^t.",
        "The text stops at the elements of depth t; here a private mechanism looks at their multiset.",
        "Elements are written with ⌈log₂|X|⌉ bits, so that lengths of b bits take b + 1 values, as in RecPrefix.",
        "n ≤ t: nothing is left, and the inner mechanism gets the empty dataset.",
    ),
    variants=("RecPrefix",),
)
