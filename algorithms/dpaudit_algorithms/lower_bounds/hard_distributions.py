"""The hard databases D_n of the lower bound for interior points: their sizes, their digits, and how they are drawn.

D_1 is 0 or 1, each with probability 1/2. D_{n+1} takes S = (x_1, …, x_n) from D_n, a uniform y_0 of T(n) digits to the
base b(n+1), and numbers y_i that agree with y_0 on the first x_i digits and are uniform thereafter. Arithmetic is
exact: n = 3 as printed means numbers of 40,000 digits to the base 450.

Source: Stemmer's thesis, section 7.2, Lemma 7.6 and its proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from flint import fmpz

from dpaudit.errors import ParameterError
from dpaudit.language import Claim, Product, Program, Uniform, checks

MOST_BITS = 1 << 26
"""Numbers of more bits are not drawn."""
_SHORT = 1 << 1024
"""Python divides by less in no time; by more, in time that grows with the square of the length."""


def base_at(n: int, base: int | None = None) -> int:
    """b(n) = 1/δ(n) = 50n², or `base` at every n, which makes small cases that can be enumerated.

    Raises:
        ParameterError: n < 1, or a base below 2.
    """
    checks.whole("n", n, least=1)
    return 50 * n * n if base is None else checks.whole("base", base, least=2)


def universe(n: int, base: int | None = None) -> int:
    """T(n), with T(1) = 2 and T(n+1) = b(n+1)^T(n): databases of D_n hold numbers below it.

    Raises:
        ParameterError: as for `base_at`, or T(n) has more than 2^26 bits (n ≥ 4 as printed).
    """
    checks.whole("n", n, least=1)
    return 2 if n == 1 else numerals(n, base).size


@dataclass(frozen=True)
class Numerals(checks.Checked):
    """Whole numbers 0, …, base^length − 1 by their digits, which are counted from 1, the most significant.

    Args:
        base: ≥ 2.
        length: how many digits, ≥ 1.

    Raises:
        ParameterError: outside these ranges, or numbers of more than 2^26 bits.
    """

    base: Annotated[int, checks.least(2)]
    length: checks.Count

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length > MOST_BITS or self.length * math.log2(self.base) > MOST_BITS:
            raise ParameterError(f"Numbers of so many digits to the base {self.base} are too long: choose a smaller n.")

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return _power(self.base, self.length)

    def tails(self, kept: int) -> int:
        """How many numbers begin with the same `kept` digits."""
        return _power(self.base, self.length - kept)

    def prefix(self, y: int, kept: int) -> int:
        """The first `kept` digits, as the number that they spell."""
        by = self.tails(kept)
        return y // by if by < _SHORT else int(fmpz(y) // fmpz(by))

    def digit(self, y: int, place: int) -> int:
        """The digit at a place of 1, …, length."""
        return self.prefix(y, place) % self.base

    def completed(self, y: int, kept: int, tail: int) -> int:
        """The first `kept` digits of y, then those of `tail`."""
        by = self.tails(kept)
        return y - (y % by if by < _SHORT else int(fmpz(y) % fmpz(by))) + tail

    def agreement(self, y: int, z: int) -> int:
        """The length of the longest common prefix of two numbers, in {0, …, length}."""
        if y == z:
            return self.length
        # at most what their distance leaves room for, and that much but where a carry runs through
        most = self.length - self._digits_of(abs(y - z))
        if self._agree(y, z, most):
            return most
        low, high = 0, most  # they agree on `low` digits and not on `high`
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._agree(y, z, middle) else (low, middle)
        return low

    def _agree(self, y: int, z: int, kept: int) -> bool:
        return self.prefix(y, kept) == self.prefix(z, kept)

    def _digits_of(self, y: int) -> int:
        """With how many digits y > 0 is written."""
        digits = max(1, int((y.bit_length() - 1) / math.log2(self.base)))
        while digits > 1 and _power(self.base, digits - 1) > y:  # the quotient of floats may be off by one
            digits -= 1
        while _power(self.base, digits) <= y:
            digits += 1
        return digits

    def holds(self, y: Any) -> bool:
        """Whether y is one of the numbers."""
        return isinstance(y, int) and not isinstance(y, bool) and 0 <= y < self.size


def numerals(n: int, base: int | None = None) -> Numerals:
    """The digits of D_n's numbers, n ≥ 2: T(n − 1) of them to the base b(n).

    Raises:
        ParameterError: n < 2, or as for `universe`.
    """
    checks.whole("n", n, least=2)
    return Numerals(base_at(n, base), universe(n - 1, base))


def hard_database(n: int, base: int | None = None) -> Program:
    """A program that draws from D_n: the ordered database (y_0, …, y_{n−1}); for n = 1 (0,) or (1,)."""
    if n == 1:
        x = yield Uniform(range(2))
        return (x,)
    S = yield from hard_database(n - 1, base)
    y0, *tails = yield extension_draw(S, numerals(n, base))
    return extended(S, y0, tails, numerals(n, base))


def extension_draw(S: tuple[int, ...], digits: Numerals) -> Product:
    """All that is random when Ŝ is made of S: y_0, and for every x_i the digits of y_i after the first x_i."""
    tails = (Uniform(range(digits.tails(x))) for x in S)
    return Product((Uniform(range(digits.size)), *tails)).spending(Claim(0.0))


def extended(S: tuple[int, ...], y0: int, tails: list[int], digits: Numerals) -> tuple[int, ...]:
    """Ŝ = (y_0, …, y_n): y_i agrees with y_0 on the first x_i digits and goes on with its tail."""
    return (y0, *(digits.completed(y0, x, tail) for x, tail in zip(S, tails, strict=True)))


def success_bound(n: int, epsilon: float) -> float:
    """P_n = e^ε/(e^ε + 1) + (e^ε + 1)·Σ_{j ≤ n} δ(j) with δ(j) = 1/(50j²), as printed (0 < ε < 1/4).

    Raises:
        ParameterError: n < 1, or ε outside (0, 1/4).
    """
    if not checks.positive("epsilon", epsilon) < 0.25:
        raise ParameterError(f"Lemma 7.6 needs epsilon < 1/4, not {epsilon!r}.")
    factor = math.exp(epsilon)
    deltas = math.fsum(1 / base_at(j) for j in range(1, checks.whole("n", n, least=1) + 1))
    return factor / (factor + 1) + (factor + 1) * deltas


def success_bound_of(claim: Claim, n: int, base: int | None = None) -> float:
    """The bound by the proof of Lemma 7.6 for any (ε, δ)-DP mechanism on D_n with any bases; above 1 it says nothing:

        (e^ε + δ)/(e^ε + 1) + Σ_{j = 2}^{n} (e^ε/b(j) + δ).

    It is at most P_n for δ ≤ δ(n), for there e^ε/b(j) + δ ≤ (e^ε + 1)·δ(j).
    """
    factor = math.exp(claim.epsilon)
    guesses = math.fsum(factor / base_at(j, base) + claim.delta for j in range(2, n + 1))
    return (factor + claim.delta) / (factor + 1) + guesses


@lru_cache(maxsize=256)
def _power(base: int, exponent: int) -> int:
    return int(fmpz(base) ** exponent)
