"""Deterministic representations: the best mixture of a class for every distribution, and the least class that there is.

Definition 5.1 is about every distribution D. A mixture μ over H that errs with probability at most α at every point has
error at most α on average under every D, so some h ∈ H has; and if no mixture does so, the minimax theorem gives a D
under which every h ∈ H has error above α. Both are found and checked in fractions.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, compress, permutations
from typing import Any

import numpy as np

from dpaudit.language import Goal, Instance, IntArray, ParameterError, UtilityClaim, as_written, checks
from dpaudit_algorithms.pac.concepts import ConceptClass, Truth
from dpaudit_algorithms.representations.representation import Hypotheses, OnesAt, Representation, Represents, labels_at

QUARTER = Fraction(1, 4)
"""The α of DRepDim (Definition 5.3)."""
MOST_SEARCHED = 7
"""Points of X up to which the least representation is searched for: there are 2^|X| hypotheses."""
_DEFINITION = "§5.2, Definition 5.1"


class DeterministicTheory(Representation):
    """One hypothesis class, which is drawn with certainty; subclasses give it as `hypotheses`."""

    @property
    @abstractmethod
    def hypotheses(self) -> Hypotheses:
        """H."""

    @property
    def place(self) -> str:
        """Where it is said that C is represented."""
        return _DEFINITION if self.card is None else self.card.place

    @property
    def size(self) -> float:
        """size(H) = ln|H|, Definition 5.3."""
        return self.hypotheses.size

    @property
    def represents(self) -> UtilityClaim:
        """For every c and D: some h ∈ H has error ≤ α. Nothing is drawn, so with probability 1."""
        return UtilityClaim(Represents(self.concepts, self.alpha), 1.0, self.place)

    @property
    def everywhere(self) -> UtilityClaim:
        """The same of all c and D at once, by a mixture for every c."""
        return UtilityClaim(RepresentsEverywhere(self.concepts, self.alpha), 1.0, _DEFINITION)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """It represents C, for any number of records: none is read."""
        return (self.represents, self.everywhere)


@dataclass(frozen=True)
class Mixture:
    """The best mixture of a class against a target, and the worst distribution; each is the other's certificate.

    Args:
        error: v: at every point the mixture errs with probability ≤ v; under D every hypothesis has error ≥ v.
        weights: μ, in the order of the class; they sum to 1.
        distribution: D, in the order of the points; it sums to 1.
    """

    error: Fraction
    weights: tuple[Fraction, ...]
    distribution: tuple[Fraction, ...]


@dataclass(frozen=True)
class RepresentsEverywhere(Goal):
    """The output is an α-representation of C: for every c ∈ C and every D some h has error_D(c, h) ≤ α.

    Source: thesis, Definition 5.1.
    """

    concepts: ConceptClass
    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        return counterexample(output, self.concepts, as_written(self.alpha)) is None

    def __str__(self) -> str:
        return f"an α-representation for every concept and distribution, α = {self.alpha:.4g}"


def counterexample(H: Hypotheses, concepts: ConceptClass, alpha: Fraction) -> Truth | None:
    """A target and a distribution under which every h ∈ H has error above α; None where there are none.

    For each concept it first tries the even mixture of the hypotheses that are 1 wherever the concept is, which is the
    one of the proofs about codes, and then the best one.

    Args:
        H: finite, not empty.
        concepts: C, over a domain small enough to be listed.
        alpha: ≥ 0.
    """
    points = tuple(concepts.points)
    labels = np.array([labels_at(H.labelling, name, points) for name in H.members], dtype=np.int64)
    for concept in concepts.concepts:
        target = np.array([concepts.label(concept, x) for x in points], dtype=np.int64)
        right = labels[(labels >= target).all(axis=1)]
        if len(right) and int((right != target).sum(axis=0).max()) <= alpha * len(right):
            continue
        best = _game(labels != target)
        if best.error > alpha:
            kept = [(x, weight) for x, weight in zip(points, best.distribution, strict=True) if weight]
            return Truth(tuple(x for x, _ in kept), _whole([weight for _, weight in kept]), concept)
    return None


def best_mixture(H: Hypotheses, concepts: ConceptClass, concept: Any) -> Mixture:
    """The mixture over H that errs least at its worst point, and the distribution that is worst for H, for one concept.

    Args:
        H: finite, not empty.
        concepts: C, over a domain small enough to be listed.
        concept: c ∈ C.
    """
    points = tuple(concepts.points)
    target = [concepts.label(concept, x) for x in points]
    wrong = [
        [label != right for label, right in zip(labels_at(H.labelling, name, points), target, strict=True)]
        for name in H.members
    ]
    return _game(wrong)


def _whole(weights: Sequence[Fraction]) -> tuple[int, ...]:
    unit = math.lcm(*(weight.denominator for weight in weights))
    return tuple(int(weight * unit) for weight in weights)


def _game(wrong: IntArray | Sequence[Sequence[bool]]) -> Mixture:
    """The value of the zero-sum game in which one player mixes rows and pays 1 where wrong[h][y], in fractions.

    The simplex algorithm on: maximise Σ u_h such that Σ_h u_h·(1 + wrong[h][y]) ≤ 1 for every y, u ≥ 0; with Bland's
    rule, so that it ends. The optimum is 1/(v + 1), μ = (v + 1)·u, and D is made of the dual solution alike.
    """
    payments = [[int(entry) for entry in row] for row in wrong]
    k, n = len(payments), len(payments[0])
    rows = [
        [Fraction(1 + payments[h][y]) for h in range(k)] + [Fraction(int(i == y)) for i in range(n)] + [Fraction(1)]
        for y in range(n)
    ]
    gains = [Fraction(-1)] * k + [Fraction(0)] * (n + 1)
    basis = list(range(k, k + n))
    while (enters := next((j for j, gain in enumerate(gains[:-1]) if gain < 0), None)) is not None:
        _, _, at = min((row[-1] / row[enters], basis[i], i) for i, row in enumerate(rows) if row[enters] > 0)
        pivot = rows[at][enters]
        rows[at] = [entry / pivot for entry in rows[at]]
        for i, row in enumerate(rows):
            if i != at and row[enters]:
                rows[i] = [a - row[enters] * b for a, b in zip(row, rows[at], strict=True)]
        gains = [a - gains[enters] * b for a, b in zip(gains, rows[at], strict=True)]
        basis[at] = enters
    solution = dict(zip(basis, (row[-1] for row in rows), strict=True))
    total = gains[-1]
    weights = tuple(solution.get(h, Fraction(0)) / total for h in range(k))
    distribution = tuple(dual / total for dual in gains[k:-1])
    error = 1 / total - 1
    # the certificates, which need no trust in the algorithm
    for y in range(n):
        if sum(compress(weights, (row[y] for row in payments))) > error:
            raise AssertionError(f"The mixture errs with probability above {error} at point {y}.")
    if any(sum(compress(distribution, row)) < error for row in payments):
        raise AssertionError(f"A hypothesis has error below {error} under the distribution.")
    return Mixture(error, weights, distribution)


# --- what is needed --------------------------------------------------------------------------------------------------


def indistinct(H: Hypotheses, points: Sequence[Any]) -> Truth | None:
    """Points x ≠ y such that no h ∈ H has h(x) = 1 and h(y) = 0, the target c_x, and D half on each; None without any.

    Then every h is wrong at x or at y, so that no h has error below 1/2 for the point function c_x. If |H| < log|X|,
    two points have the same labels by all h, and they are such points. H has none of them only if the sets
    {h : h(x) = 1} form an antichain; so |X| ≤ C(|H|, ⌊|H|/2⌋) by Sperner's theorem.

    Source: thesis, Example 5.2, the lower bound.
    """
    known: dict[int, Any] = {}
    for x in points:
        mask = sum(H.label(name, x) << i for i, name in enumerate(H.members))
        if mask in known:
            return Truth((known[mask], x), (1, 1), known[mask])
        known[mask] = x
    pair = next(((a, b) for a, b in permutations(known, 2) if not a & ~b), None)
    return None if pair is None else Truth((known[pair[0]], known[pair[1]]), (1, 1), known[pair[0]])


def least_by_pairs(size: int) -> int:
    """The least k with C(k, ⌊k/2⌋) ≥ |X|: every α-representation of POINT_X with α < 1/2 has so many hypotheses.

    By `indistinct`; at least log|X|, as C(k, ⌊k/2⌋) ≤ 2^k.

    Args:
        size: |X| ≥ 1.
    """
    k = 1
    while math.comb(k, k // 2) < size:
        k += 1
    return k


def least_representation(concepts: ConceptClass, alpha: Fraction = QUARTER) -> Hypotheses:
    """The smallest α-representation of a class, among all hypothesis classes H ⊆ 2^X; DRepDim(C) is its size at 1/4.

    Every pair (c, D) asks for one of the hypotheses of error ≤ α. For k = 1, 2, … it looks for k hypotheses that give
    all pairs in hand what they ask for, by trying all: no k hypotheses will do if these do not exist. Those that it
    finds are tried on every distribution (`best_mixture`), and a pair on which they fail joins the pairs in hand. It
    begins with the even distributions on all sets of points.

    For α = 1/4, POINT_X and THRESH_X on up to 7 points need as many hypotheses as they have concepts; POINT_X with the
    concept 0 on 4 points needs 4, one fewer.

    Args:
        concepts: C, over at most 7 points.
        alpha: in [0, 1).

    Raises:
        ParameterError: more points.

    Source: thesis, Definition 5.3.
    """
    points = tuple(concepts.points)
    if len(points) > MOST_SEARCHED:
        raise ParameterError(f"concepts must be over at most {MOST_SEARCHED} points, not {len(points)}.")
    every = tuple(range(1 << len(points)))
    targets = [sum(concepts.label(c, x) << i for i, x in enumerate(points)) for c in concepts.concepts]

    def asked(target: int, weights: Sequence[Fraction]) -> int:
        """The hypotheses of error ≤ α, one bit each."""
        return sum(1 << h for h in every if sum(w for i, w in enumerate(weights) if (h ^ target) >> i & 1) <= alpha)

    even = [
        [Fraction(int(i in chosen), count) for i in range(len(points))]
        for count in range(1, len(points) + 1)
        for chosen in combinations(range(len(points)), count)
    ]
    pairs = {asked(target, weights) for target in targets for weights in even}
    k = 1
    while True:
        chosen = _hitting(_minimal(pairs), k, 0)
        if chosen is None:
            k += 1
            continue
        failures = set[int]()
        for target in targets:
            best = _game([[bool((h ^ target) >> i & 1) for i in range(len(points))] for h in chosen])
            if best.error > alpha:
                failures.add(asked(target, best.distribution))
        if not failures:
            names = (tuple(x for i, x in enumerate(points) if h >> i & 1) for h in chosen)
            return Hypotheses.of(OnesAt(), names)
        pairs |= failures


def dimension(concepts: ConceptClass) -> float:
    """DRepDim(C), the size ln|H| of the smallest 1/4-representation; for classes as of `least_representation`.

    Source: thesis, Definition 5.3.
    """
    return least_representation(concepts).size


def _minimal(sets: Iterable[int]) -> list[int]:
    """The sets, as bits, that contain no other."""
    kept: list[int] = []
    for one in sorted(sets, key=lambda bits: (bits.bit_count(), bits)):
        if not any(other & one == other for other in kept):
            kept.append(one)
    return kept


def _hitting(sets: Sequence[int], k: int, banned: int) -> list[int] | None:
    """At most k elements, none of them banned, that hit all sets; None if there are none."""
    if not sets:
        return []
    if not k:
        return None
    smallest = min(sets, key=lambda one: (one & ~banned).bit_count())
    options = [(h, frozenset(one for one in sets if one >> h & 1)) for h in _bits(smallest & ~banned)]
    kept: list[tuple[int, frozenset[int]]] = []
    # one that hits nothing more than another can be exchanged for it
    for h, hit in sorted(options, key=lambda option: -len(option[1])):
        if not any(hit <= other for _, other in kept):
            kept.append((h, hit))
    for h, hit in kept:
        rest = _hitting([one for one in sets if one not in hit], k - 1, banned)
        if rest is not None:
            return [h, *rest]
        banned |= 1 << h
    return None


def _bits(mask: int) -> Iterator[int]:
    return (i for i in range(mask.bit_length()) if mask >> i & 1)
