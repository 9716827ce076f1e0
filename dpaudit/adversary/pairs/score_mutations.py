"""Pairs of score vectors: the space of a search for the worst 1-sensitive quality.

A piecewise constant score has a height and a change in [−1, 1] on every run of solutions; the two resulting vectors are
all that a mechanism that chooses by scores sees of two neighbouring datasets. The search starts with the shapes that
are critical in published proofs: leads, ties, plateaus that rise in part, stairs that fall by halves and by doubled
steps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from numpy.random import Generator

from dpaudit.language import AnyScores, PiecewiseConstantScore

CHILDREN = 12
"""Mutations of every kept score in a round of a climb."""
RANDOM = 4
"""New random scores in a round."""
MOST_PIECES = 24
LEADS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Height differences between the pieces of a starting score."""
SIGNS = (-1, 0, 1)

Piece = tuple[int, float, float]


@dataclass(frozen=True)
class ScoreMutations:
    """Piecewise constant scores over the solutions 0, …, stop − 1: a neighbourhood to climb in.

    Args:
        stop: the number of solutions, ≥ 1.
        finest: heights change by this times powers of two; 1 keeps whole heights whole.
    """

    stop: int
    finest: float = 1.0

    def starts(self, rng: Generator) -> list[PiecewiseConstantScore]:
        """The starting scores of a search."""
        scores: dict[PiecewiseConstantScore, None] = {}
        wanted = {1, 2, self.stop // 4, self.stop // 2, self.stop - 1}
        cuts = sorted(cut for cut in wanted if 0 < cut < self.stop)
        for cut in cuts:
            for lead in LEADS:
                for here, there in ((-1, 1), (1, -1), (-1, 0), (0, 1)):
                    for up in ((lead, 0), (0, lead)):
                        scores[self._made([(0, up[0], here), (cut, up[1], there)])] = None
        for fall in (0, *LEADS[1::2]):
            for flip in (1, -1):
                ends = [0, *(cut for i in range(1, 6) if (cut := self.stop * i // 6) > 0)]
                stairs = [(cut, -i * fall, flip * (-1) ** i) for i, cut in enumerate(dict.fromkeys(ends))]
                scores[self._made(stairs)] = None
                middle = [(0, -fall, -flip), (self.stop // 3, 0, flip), (2 * self.stop // 3, -fall, -flip)]
                scores[self._made([*{piece[0]: piece for piece in middle}.values()])] = None
        return [*scores, *(self._random(rng) for _ in range(RANDOM))]

    def between(self, left: AnyScores, right: AnyScores) -> PiecewiseConstantScore | None:
        """The piecewise constant score with these two vectors; None if they differ by more than 1 somewhere."""
        a, b = left.steps, right.steps
        cuts = sorted({int(cut) for steps in (a, b) for cut in steps.starts})
        heights = [[float(s.values[bisect_right(s.starts, cut) - 1]) for cut in cuts] for s in (a, b)]
        if any(abs(y - x) > 1 for x, y in zip(*heights, strict=True)):
            return None
        return self._made([(cut, x, y - x) for cut, x, y in zip(cuts, *heights, strict=True)])

    def around(self, kept: Sequence[PiecewiseConstantScore], rng: Generator) -> list[PiecewiseConstantScore]:
        """Small changes of the kept scores, and some new ones."""
        near = [self._changed(one, rng) for one in kept for _ in range(CHILDREN)]
        return near + [self._random(rng) for _ in range(RANDOM)]

    def key(self, candidate: PiecewiseConstantScore) -> Hashable:
        """The score itself."""
        return candidate

    def _random(self, rng: Generator) -> PiecewiseConstantScore:
        number = min(self.stop, 2 + _pick(rng, 5))
        cuts = sorted({0, *(self._place(rng) for _ in range(number - 1))})
        return self._made([(cut, self._step(rng), SIGNS[_pick(rng, 3)]) for cut in cuts])

    def _changed(self, one: PiecewiseConstantScore, rng: Generator) -> PiecewiseConstantScore:
        """Up to three changes at once: two together may improve the score where each alone does not."""
        pieces = list(one.pieces)
        for _ in range(1 + _pick(rng, 3)):
            pieces = list(self._made(_CHANGES[_pick(rng, len(_CHANGES))](self, pieces, rng)).pieces)
        return self._made(pieces)

    def _made(self, pieces: Sequence[Piece]) -> PiecewiseConstantScore:
        """The pieces in order, with equal adjacent ones merged."""
        inside = sorted({piece[0]: piece for piece in pieces if 0 <= piece[0] < self.stop}.values())
        inside = inside or [(0, 0.0, 0)]
        inside[0] = (0, *inside[0][1:])
        kept = [inside[0], *(b for a, b in pairwise(inside) if a[1:] != b[1:])]
        return PiecewiseConstantScore(self.stop, tuple((s, float(h), float(c)) for s, h, c in kept[:MOST_PIECES]))

    def _step(self, rng: Generator) -> float:
        """A difference of heights, small or large."""
        return float((2 * _pick(rng, 2) - 1) * self.finest * 2 ** _pick(rng, 11))

    def _place(self, rng: Generator) -> int:
        """A solution: any, or one at a power of two, which matters to algorithms that halve and double."""
        bits = self.stop.bit_length()
        near = (1 << _pick(rng, bits)) * (1 + _pick(rng, 4))
        return min(self.stop - 1, near if _pick(rng, 2) else _pick(rng, self.stop))

    def _lift(self, pieces: list[Piece], rng: Generator) -> list[Piece]:
        i = _pick(rng, len(pieces))
        pieces[i] = (pieces[i][0], pieces[i][1] + self._step(rng), pieces[i][2])
        return pieces

    def _lift_rest(self, pieces: list[Piece], rng: Generator) -> list[Piece]:
        i, by = _pick(rng, len(pieces)), self._step(rng)
        return [(s, h + by if k >= i else h, c) for k, (s, h, c) in enumerate(pieces)]

    def _level(self, pieces: list[Piece], rng: Generator) -> list[Piece]:
        i, j = _pick(rng, len(pieces)), _pick(rng, len(pieces))
        by = self._step(rng) if _pick(rng, 2) else 0.0
        pieces[i] = (pieces[i][0], pieces[j][1] + by, pieces[i][2])
        return pieces

    def _turn(self, pieces: list[Piece], rng: Generator) -> list[Piece]:
        i = _pick(rng, len(pieces))
        pieces[i] = (*pieces[i][:2], SIGNS[_pick(rng, 3)])
        return pieces

    def _turn_rest(self, pieces: list[Piece], rng: Generator) -> list[Piece]:
        i = _pick(rng, len(pieces))
        return [(s, h, -c if k >= i else c) for k, (s, h, c) in enumerate(pieces)]

    def _move(self, pieces: list[Piece], rng: Generator) -> list[Piece]:
        i = _pick(rng, len(pieces))
        by = (2 * _pick(rng, 2) - 1) * (1 << _pick(rng, self.stop.bit_length()))
        pieces[i] = (pieces[i][0] + by if _pick(rng, 2) else self._place(rng), *pieces[i][1:])
        return pieces

    def _split(self, pieces: list[Piece], rng: Generator) -> list[Piece]:
        i = _pick(rng, len(pieces))
        start, height, _ = pieces[i]
        stop = pieces[i + 1][0] if i + 1 < len(pieces) else self.stop
        width = stop - start
        at = (start + stop) // 2 if _pick(rng, 2) else start + (1 << _pick(rng, max(1, width.bit_length())))
        if start < at < stop:
            pieces.append((at, height + (self._step(rng) if _pick(rng, 2) else 0.0), SIGNS[_pick(rng, 3)]))
        return pieces

    def _join(self, pieces: list[Piece], rng: Generator) -> list[Piece]:
        if len(pieces) > 1:
            del pieces[1 + _pick(rng, len(pieces) - 1)]
        return pieces


_CHANGES = (
    ScoreMutations._lift, ScoreMutations._lift, ScoreMutations._lift_rest, ScoreMutations._level, ScoreMutations._turn,
    ScoreMutations._turn_rest, ScoreMutations._move, ScoreMutations._split, ScoreMutations._join,
)


def _pick(rng: Generator, number: int) -> int:
    """A random index below `number`, which may be of any size."""
    if number <= 1 << 62:
        return int(rng.integers(number))
    return int.from_bytes(rng.bytes((number.bit_length() + 15) // 8), "little") % number
