"""Deterministic representations: one hypothesis class that has, for every concept and distribution, a hypothesis of
small error. For point functions they are made of codes in which different codewords seldom agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from dpaudit.language import (
    THESIS,
    Card,
    IntArray,
    ParameterError,
    UtilityClaim,
    as_written,
    ceil_log2,
    checks,
    log,
    next_prime,
)
from dpaudit_algorithms.foundations.goals import BETA
from dpaudit_algorithms.pac.concepts import ConceptClass, Points
from dpaudit_algorithms.representations.deterministic_representation_theory import DeterministicTheory, least_by_pairs
from dpaudit_algorithms.representations.representation import Hypotheses, Labelling
from dpaudit_algorithms.representations.representation_from_learner_theory import NoLarger

MOST_POINTS = 1 << 10
"""Points up to which a code is searched for: the search looks at all pairs."""
PER_LOG = 10
"""PointCode has at most 10·log|X|/α² hypotheses."""
LEAST_LETTERS = Fraction(11, 5)
"""αq is at least that, so that the search ends: αq·ln 4 > 3."""


@dataclass(frozen=True)
class DeterministicRepresentation(DeterministicTheory):
    """An α-representation given by its hypothesis class H.

    As a probabilistic representation it has r = 1 class and β = 0, so that it is one for every β > 0. That it
    represents C is what the user says of it, and what audits of `represents` and `everywhere` try.

    Args:
        concepts: C.
        H: the hypothesis class, not empty.
        alpha: in (0, 1).
        beta: in (0, 1), for which Lemma 5.12 is to count examples.

    Raises:
        ParameterError: outside these ranges.

    Source: Stemmer's thesis, section 5.2, Definitions 5.1 and 5.3.
    """

    concepts: ConceptClass
    H: Hypotheses
    alpha: checks.OpenUnit
    beta: checks.OpenUnit = BETA

    def __post_init__(self) -> None:
        super().__post_init__()
        if not len(self.H):
            raise ParameterError("A representation needs at least one hypothesis.")

    @property
    def hypotheses(self) -> Hypotheses:
        """H."""
        return self.H

    @property
    def labelling(self) -> Labelling:
        """That of H."""
        return self.H.labelling

    @property
    def printed_size(self) -> float:
        """ln|H|."""
        return self.size

    def run(self, dataset: Any) -> Hypotheses:
        return self.H


class _Code(DeterministicTheory):
    """The common part of both representations by codes: H = {h_{i,a}}, h_{i,a}(y) = 1 iff y's i-th letter is a."""

    domain: int
    alpha: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha < 0.5:
            raise ParameterError(f"alpha must lie strictly between 0 and 1/2, not {self.alpha!r}.")

    @property
    def concepts(self) -> Points:  # type: ignore[override]  # a property, as |X| is the field
        """POINT_X."""
        return Points(self.domain)

    @property
    def printed_size(self) -> float:
        """ln(10·log|X|/α²): the example's O(log|X|/α²) with a constant that `PointCode` proves."""
        return log(PER_LOG * math.log2(self.domain)) - 2 * log(self.alpha)

    @property
    def sized(self) -> UtilityClaim:
        """|H| ≤ 10·log|X|/α²."""
        return UtilityClaim(NoLarger(self.printed_size), 1.0, "§5.2, Example 5.2")

    @property
    def needed(self) -> int:
        """⌈log|X|⌉, the number of hypotheses that the example says every α-representation has, α < 1/2."""
        return ceil_log2(self.domain)

    @property
    def needed_by_pairs(self) -> int:
        """A larger number that every one has, too: see `least_by_pairs`."""
        return least_by_pairs(self.domain)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """It represents POINT_X; where X is small, also of all concepts and distributions at once."""
        return super().utility(records) if self.domain <= MOST_POINTS else (self.represents,)

    def run(self, dataset: Any) -> Hypotheses:
        return self.hypotheses


@dataclass(frozen=True)
class SearchedLetters:
    """Hypotheses named (i, a): 1 where the i-th letter of the codeword that `PointCode` finds for x is a.

    Args:
        domain: |X|.
        q: the number of letters.
    """

    domain: int
    q: int

    def label(self, concept: tuple[int, int], x: int) -> int:
        i, a = concept
        return int(_search(self.domain, self.q).row(i)[x] == a)

    def labels(self, concept: tuple[int, int], points: tuple[int, ...]) -> list[int]:
        """The same at many points."""
        i, a = concept
        labels: list[int] = (_search(self.domain, self.q).row(i)[list(points)] == a).astype(int).tolist()
        return labels


@dataclass(frozen=True)
class PointCode(_Code):
    """h_{i,a} for the positions i and letters a of a code with a codeword for every point of X, found position by
    position; any two codewords agree in at most αm of the m positions, and |H| ≤ 10·log|X|/α².

    It represents POINT_X: for c_x and D let i be a random position and a the i-th letter of x. h_{i,a} is right at x,
    and wrong at y ≠ x where the codewords agree at i: with probability at most α. So its mean error under D is at most
    α, and some h_{i,a} has no more.

    Such a code exists with few positions, and the search finds it. Each pair of points has the weight 4^(number of
    positions at which it agrees), so at first all weights together are W = C(|X|, 2). At every position the points get
    their letters one after the other; a point takes the letter whose points, among those before it, have the least
    weight with it, which is at most 1/q of its weight with all points before it. So the pairs that then agree had at
    most 1/q of W, and W becomes at most (1 + 3/q)·W. A pair that agrees at more than αm of m positions has a weight
    above 4^{αm}; but no weight is above W ≤ C(|X|, 2)·e^{3m/q}. So there is no such pair once

        m ≥ ln C(|X|, 2)/(αf), where f = ln 4 − 3/(αq);

    the search stops at the first m without one. For q = ⌈4/α⌉, f ≥ 0.6362 and q ≤ 4.5/α, so that
    m ≤ 2·ln|X|/(0.6362·α) and |H| ≤ mq ≤ 9.9·log|X|/α². (ln 2 > 0.6362·α covers the rounding of m. If |X| ≤ q one
    position is enough, and H is POINT_X.)

    Args:
        domain: |X|, from 2 to 2^10.
        alpha: in (0, 1/2).
        letters: q ≥ 2.2/α; ⌈4/α⌉ without it.
        beta: in (0, 1), for which Lemma 5.12 is to count examples; H represents with probability 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 5.2, Definition 5.1 and Example 5.2.
    """

    domain: Annotated[int, checks.least(2)]
    alpha: checks.OpenUnit
    letters: checks.Count | None = None
    beta: checks.OpenUnit = BETA

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain > MOST_POINTS:
            raise ParameterError(f"domain must be at most {MOST_POINTS}, not {self.domain}: use PointPolynomials.")
        if as_written(self.alpha) * self.q < LEAST_LETTERS:
            raise ParameterError(f"letters must be at least 2.2/alpha, not {self.letters!r}.")

    @property
    def q(self) -> int:
        """The number of letters: ⌈4/α⌉, unless another was given."""
        return math.ceil(4 / as_written(self.alpha)) if self.letters is None else self.letters

    @property
    def m(self) -> int:
        """The number of positions."""
        return _search(self.domain, self.q).positions(as_written(self.alpha))

    @property
    def most_positions(self) -> int:
        """⌈ln C(|X|, 2)/(αf)⌉: m is at most that."""
        f = log(4) - 3 / (self.alpha * self.q)
        return max(1, math.ceil(log(math.comb(self.domain, 2)) / (self.alpha * f)))

    @property
    def labelling(self) -> Labelling:
        """Hypotheses are named (i, a)."""
        return SearchedLetters(self.domain, self.q)

    @property
    def hypotheses(self) -> Hypotheses:
        """H, without the letters that no point has at a position."""
        code = _search(self.domain, self.q)
        return Hypotheses.of(self.labelling, ((i, a) for i in range(self.m) for a in set(code.row(i).tolist())))


class _Search:
    """The code of a `PointCode`, which does not depend on α but for the number of positions."""

    def __init__(self, size: int, q: int) -> None:
        self._size, self._q = size, q
        self._rows: list[IntArray] = []
        self._agreements = np.zeros((size, size), dtype=np.int64)
        self._most: list[int] = []

    def row(self, i: int) -> IntArray:
        """The letters of all points at a position."""
        while len(self._rows) <= i:
            self._next()
        return self._rows[i]

    def positions(self, share: Fraction) -> int:
        """The least m such that any two codewords agree in at most `share` of the first m positions."""
        m = 1
        while True:
            self.row(m - 1)
            if self._most[m - 1] <= share * m:
                return m
            m += 1

    def _next(self) -> None:
        weights = 4.0**self._agreements
        loads, row = np.zeros((self._q, self._size)), np.zeros(self._size, dtype=np.int64)
        for x in range(self._size):
            row[x] = np.argmin(loads[:, x])
            loads[row[x]] += weights[x]
        same = row[:, None] == row[None, :]
        np.fill_diagonal(same, False)
        self._agreements += same
        self._rows.append(row)
        self._most.append(int(self._agreements.max()))


@lru_cache(maxsize=16)
def _search(size: int, q: int) -> _Search:
    return _Search(size, q)


@dataclass(frozen=True)
class PolynomialLetters:
    """Hypotheses named (i, a): 1 where the polynomial whose coefficients are the digits of x to base p is a at i.

    Args:
        p: a prime; where k = 1, |X|.
        k: the number of digits, ≥ 1.
        m: the number of positions i.
    """

    p: int
    k: int
    m: int

    def label(self, concept: tuple[int, int], x: int) -> int:
        i, a = concept
        return int(_values(self, x)[i] == a)

    def labels(self, concept: tuple[int, int], points: tuple[int, ...]) -> list[int]:
        """The same at many points."""
        i, a = concept
        return [int(_values(self, x)[i] == a) for x in points]


@lru_cache(maxsize=1 << 12)
def _values(code: PolynomialLetters, x: int) -> tuple[int, ...]:
    """The codeword of x: its polynomial at 0, …, m − 1."""
    digits = []
    for _ in range(code.k):
        x, digit = divmod(x, code.p)
        digits.append(digit)
    values = []
    for i in range(code.m):
        value = 0
        for digit in reversed(digits):
            value = (value * i + digit) % code.p
        values.append(value)
    return tuple(values)


@dataclass(frozen=True)
class PointPolynomials(_Code):
    """h_{i,a}(y) = 1 iff P_y(i) = a, where P_y is the polynomial of degree < k over Z_p with the digits of y to base p.

    The code of Reed and Solomon: P_x and P_y are equal at k − 1 points at most, so that two codewords agree in at most
    αm of the m = ⌈(k − 1)/α⌉ positions, and H represents POINT_X as in `PointCode`. Of all k and primes p ≥ m with
    p^k ≥ |X| those are taken that make |H| = m·p least. (k = 1, where H is POINT_X, needs no prime.)

    It is explicit, for X of any size, but not of size O(log|X|/α²): |H| is about (log|X|/(α·log p))², with p about
    log|X|/(α·log p), too. At α = 1/4 it has 2,068 hypotheses for |X| = 2^64, and no
    more than 10·log|X|/α² up to |X| = 2^696.

    Args:
        domain: |X| ≥ 2, of any size.
        alpha: in (0, 1/2).
        beta: in (0, 1), for which Lemma 5.12 is to count examples; H represents with probability 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 5.2, Definition 5.1 and Example 5.2.
    """

    domain: Annotated[int, checks.least(2)]
    alpha: checks.OpenUnit
    beta: checks.OpenUnit = BETA

    @property
    def labelling(self) -> PolynomialLetters:
        """Hypotheses are named (i, a)."""
        return _polynomials(self.domain, as_written(self.alpha))

    @property
    def size(self) -> float:
        """ln(m·p)."""
        return log(self.labelling.m * self.labelling.p)

    @property
    def hypotheses(self) -> Hypotheses:
        """H: every i and a."""
        code = self.labelling
        return Hypotheses(code, tuple((i, a) for i in range(code.m) for a in range(code.p)))


def _polynomials(size: int, share: Fraction) -> PolynomialLetters:
    """The k, p and m with the least m·p; the least k of several."""
    best = PolynomialLetters(size, 1, 1)
    for k in range(2, ceil_log2(size) + 1):
        m = math.ceil((k - 1) / share)
        if m * m >= best.m * best.p:  # p ≥ m, and m grows with k
            break
        p = _prime(size, k, m)
        if m * p < best.m * best.p:
            best = PolynomialLetters(p, k, m)
    return best


@lru_cache(maxsize=1 << 10)
def _prime(size: int, k: int, m: int) -> int:
    """The least prime p ≥ m with p^k ≥ |X|."""
    return next_prime(max(m, _root(size, k)))


def _root(n: int, k: int) -> int:
    """⌈n^{1/k}⌉ for n ≥ 1."""
    low, high = 1, 1 << -(-n.bit_length() // k)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**k >= n else (middle + 1, high)
    return low


# --- cards: what is claimed where, and where the text here departs from the print ---

_PLACE = "§5.2, Definitions 5.1 and 5.3, Examples 5.2 and 5.5"
_CLAIM = (
    "an α-representation of POINT_X of O(log|X|/α²) hypotheses, at least log|X| of which are needed for α < 1/2, so "
    "that DRepDim(POINT_X) = θ(log log|X|); it reads no data, so that it is 0-DP"
)
_INPUTS = "nothing: its dataset is ignored; |X| ≥ 2, 0 < alpha < 1/2"
_OUTPUT = "the hypothesis class, its hypotheses named (i, a): 1 where the i-th letter of a point's codeword is a"
_DEVIATIONS = (
    "The thesis cites the representation without its construction; here it is made of a code.",
    "log is to base 2, and O(log|X|/α²) is read as 10·log|X|/α².",
    "θ and O are for large |X|: log|X| = 0 for |X| = 1, which is refused, and log log|X| = 0 for |X| = 2, where "
    "DRepDim(POINT_X) = ln 2.",
    "It represents with probability 1; beta is for the learner of Lemma 5.12, which needs ln(1/β).",
)

PointCode.card = Card(
    name="PointCode",
    system="P7",
    title="A deterministic representation of point functions by a code, found position by position",
    paper=THESIS,
    place=_PLACE,
    claim=_CLAIM,
    inputs=f"{_INPUTS}; |X| ≤ 2^10",
    output=_OUTPUT,
    deviations=(
        *_DEVIATIONS,
        "The number of letters is a parameter, with a default for which 10·log|X|/α² is proved.",
    ),
    variants=("PointPolynomials", "DeterministicRepresentation"),
)

PointPolynomials.card = Card(
    name="PointPolynomials",
    system="P7",
    title="A deterministic representation of point functions by polynomials, for any domain",
    paper=THESIS,
    place=_PLACE,
    claim=_CLAIM,
    inputs=_INPUTS,
    output=_OUTPUT,
    deviations=(
        *_DEVIATIONS,
        "|H| is about (log|X|/(α·log p))², p the prime; for large |X| that is more than O(log|X|/α²).",
    ),
    variants=("PointCode", "DeterministicRepresentation"),
)
