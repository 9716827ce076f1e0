"""Probabilistic representations of point functions, of a size that does not depend on the domain: independent coins,
and hashes with a short description."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Any

from dpaudit.language import (
    THESIS,
    Bernoulli,
    Card,
    Draw,
    ParameterError,
    Repeated,
    Uniform,
    UtilityClaim,
    as_written,
    checks,
    expm1,
    log,
    log1p,
    next_prime,
)
from dpaudit_algorithms.pac.concepts import Points
from dpaudit_algorithms.representations.representation import Hypotheses, Labelling, OnesAt, Representation, Represents


@dataclass(frozen=True)
class _PointRepresentation(Representation):
    """The common part of both: everything but how one hypothesis is drawn."""

    domain: checks.Count
    alpha: checks.OpenUnit
    beta: checks.OpenUnit
    hypotheses: checks.Count | None = None

    @property
    def concepts(self) -> Points:  # type: ignore[override]  # a property, as |X| is the field
        """POINT_X."""
        return Points(self.domain)

    @property
    def M(self) -> int:
        """How many hypotheses are drawn: ⌈(4/α)·ln(1/β)⌉, unless another number was given."""
        if self.hypotheses is not None:
            return self.hypotheses
        return max(1, math.ceil(4 / self.alpha * log(1 / self.beta)))

    @property
    def printed_size(self) -> float:
        """ln(4/α) + ln ln(1/β)."""
        return log(4 / self.alpha) + log(log(1 / self.beta))

    @property
    def size(self) -> float:
        """ln M."""
        return log(self.M)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """It represents POINT_X, where M is as printed; and with any M, as far as the proof goes: 1 − (1 − α/4)^M."""
        proof = UtilityClaim(
            Represents(self.concepts, self.alpha),
            -expm1(self.M * log1p(-self.alpha / 4)),
            "§5.3, proof of Claim 5.19: a hypothesis is α-good with probability at least α/4",
        )
        return (self.represents, proof) if self.hypotheses is None else (proof,)


@dataclass(frozen=True)
class PointRepresentation(_PointRepresentation):
    """M hypotheses, each of which labels every point of X with 1 with probability α/2, independently.

    Of all distributions the claim asks the most of those with mass just above α on the target and on every other point:
    then h_i is good only if it hits the target and nothing else.

    Args:
        domain: |X| ≥ 1; a draw takes as many coins for each hypothesis.
        alpha: in (0, 1).
        beta: in (0, 1).
        hypotheses: M, ≥ 1; (4/α)·ln(1/β), rounded up, without it.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 5.3, Claim 5.19, the first construction.
    """

    @property
    def labelling(self) -> Labelling:
        """Hypotheses are named by their ones."""
        return OnesAt()

    def run(self, dataset: Any) -> Draw:
        # 1, 2. for i = 1, …, M and every x ∈ X: h_i(x) = 1 with probability α/2;  3. H = {h_1, …, h_M}
        return Repeated(Bernoulli(self.alpha / 2), self.M * self.domain).map(self._drawn)

    def _drawn(self, coins: tuple[bool, ...]) -> Hypotheses:
        """{h_1, …, h_M}, h_i named by where its coins are 1."""
        rows = (coins[i : i + self.domain] for i in range(0, len(coins), self.domain))
        return Hypotheses.of(OnesAt(), (tuple(compress(range(self.domain), row)) for row in rows))


@dataclass(frozen=True)
class LineHash:
    """Hypotheses named (a, b): h(x) = 1 if and only if (ax + b mod p) < q."""

    p: int
    q: int

    def label(self, concept: tuple[int, int], x: int) -> int:
        a, b = concept
        return int((a * x + b) % self.p < self.q)

    def labels(self, concept: tuple[int, int], points: tuple[int, ...]) -> list[int]:
        """The same at many points."""
        (a, b), p, q = concept, self.p, self.q
        return [1 if (a * x + b) % p < q else 0 for x in points]


@dataclass(frozen=True)
class PointRepresentationHash(_PointRepresentation):
    """M hypotheses h(x) = 1 iff (ax + b mod p) < q, with a and b uniform in Z_p: described by two numbers each.

    p is the least prime ≥ max(|X|, ⌈8/α⌉), q = ⌊αp/2⌋. Values at two different points are independent and uniform in
    Z_p, so that Pr[h(x) = 1] = q/p for every x, also given that h(j) = 1.

    The printed M is enough, although q/p falls short of α/2 by some t < 1/p. Let Y be the error of h on X∖{j} given
    h(j) = 1, and r = q/p. E[Y] ≤ r. With probability 1/p, a = 0: then h is 1 everywhere, Y = m, the mass of X∖{j}. So
    E[Y; a ≠ 0] = rm − m/p, and Pr[Y > α] ≤ 1/p + (r − 1/p)/α by Markov's inequality on a ≠ 0. Hence h is good with
    probability at least

        r·(1 − r/α + (1/α − 1)/p) ≥ (α/2 − t)·(1/2 + 2t/α − t) ≥ α/4 + t·(1/2 − α/2 − 2t/α + t),

    as 1/p ≥ t. With p ≥ 8/α, t ≤ α/8 and this is at least α/4 for α ≤ 1/2; for α < 1 it is at least
    1 − e^{−α/4}, which is all that (1 − s)^M ≤ β needs.

    Args:
        domain: |X| ≥ 1, of any size.
        alpha: in (0, 1).
        beta: in (0, 1).
        hypotheses: M, ≥ 1; (4/α)·ln(1/β), rounded up, without it.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, section 5.3, Claim 5.19, the second construction.
    """

    @property
    def p(self) -> int:
        """The least prime ≥ max(|X|, ⌈8/α⌉)."""
        return _prime(max(self.domain, math.ceil(8 / as_written(self.alpha))))

    @property
    def q(self) -> int:
        """⌊αp/2⌋, at least 4 as p ≥ 8/α."""
        return math.floor(as_written(self.alpha) * self.p / 2)

    @property
    def labelling(self) -> Labelling:
        """Hypotheses are named (a, b)."""
        return LineHash(self.p, self.q)

    def run(self, dataset: Any) -> Draw:
        # 1, 2. for i = 1, …, M: h_i(x) = 1 iff (ax + b mod p) < q, a and b uniform in Z_p;  3. H = {h_1, …, h_M}
        return Repeated(Uniform(range(self.p)), 2 * self.M).map(self._drawn)

    def _drawn(self, numbers: tuple[int, ...]) -> Hypotheses:
        """{h_1, …, h_M}, h_i named by its two numbers (a, b)."""
        return Hypotheses.of(self.labelling, zip(numbers[::2], numbers[1::2], strict=True))


@lru_cache(maxsize=64)
def _prime(least: int) -> int:
    if least > 1 << 4096:
        raise ParameterError(f"domain must be at most 2^4096, not a number of {least.bit_length()} bits.")
    return next_prime(least)


# --- cards: what is claimed where, and where the text here departs from the print ---

_PLACE = "§5.3, Claim 5.19"
_CLAIM = (
    "an (α, β)-probabilistic representation of POINT_X of size ln(4/α) + ln ln(1/β); "
    "it reads no data, so that it is 0-DP"
)
_INPUTS = "nothing: its dataset is ignored; |X| ≥ 1, 0 < alpha < 1, 0 < beta < 1"
_WHOLE = (
    "M = (4/α)·ln(1/β) is rounded up to a whole number: (1 − α/4)^M ≤ β needs it where β is near 1, while "
    "|H| ≤ (4/α)·ln(1/β) then breaks by less than one hypothesis; where β > e^{−α/4} the printed H would be empty."
)
_COPIES = "M is a parameter with the printed number as its default, so the proof's step about one h_i is computable."

PointRepresentation.card = Card(
    name="PointRepresentation",
    system="P4",
    title="A probabilistic representation of point functions by independent coins",
    paper=THESIS,
    place=_PLACE,
    claim=_CLAIM,
    inputs=_INPUTS,
    output="a hypothesis class of at most M hypotheses, each named by the points that it labels 1",
    deviations=(_WHOLE, _COPIES),
    variants=("PointRepresentationHash",),
)

PointRepresentationHash.card = Card(
    name="PointRepresentationHash",
    system="P4",
    title="A probabilistic representation of point functions by pairwise independent hashes, for any domain",
    paper=THESIS,
    place=_PLACE,
    claim=_CLAIM,
    inputs=_INPUTS,
    output="a hypothesis class of at most M hypotheses, each named (a, b) in Z_p²",
    deviations=(
        _WHOLE,
        _COPIES,
        'Pairwise independence by a random polynomial of degree 1: "degree 2", as printed, is not needed.',
        "h(x) = 1 iff (ax + b mod p) < q = ⌊αp/2⌋ with the least prime p ≥ max(|X|, ⌈8/α⌉), so that h(x) = 1 with "
        "probability q/p in (α/2 − 1/p, α/2]; that M need not grow for it is proved in the docstring.",
    ),
    variants=("PointRepresentation",),
)
