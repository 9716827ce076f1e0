"""Subsampling with replacement: Ã runs a private algorithm on a random sample of the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.language import (
    REPLACE_ONE,
    THESIS,
    Card,
    Claim,
    DatasetError,
    Mechanism,
    Multinomial,
    Multiset,
    ParameterError,
    Program,
    SampleSize,
    checks,
    exp,
    expm1,
    log,
    log1p,
)
from dpaudit_algorithms.foundations.composition import claim_of

_ROUNDED = Fraction(1, 10**15)
"""The relative rounding error of doubles."""


@dataclass(frozen=True)
class Subsampled(Mechanism):
    """Ã: draws m of the n rows, independently and with replacement, and runs the inner mechanism A on them.

    A row is drawn several times with some probability, which costs privacy, and mostly not at all, which saves some.

    Args:
        inner: A, (ε, δ)-DP under replace-one with ε ≤ 1, for datasets of m records, of which it looks at the
            multiplicities only.
        m: rows drawn, ≥ 1.
        n: rows of the dataset, ≥ 2m; it is public.

    Raises:
        ParameterError: m or n outside its range, or A claims nothing, or something of another kind, or ε > 1.

    Source: Stemmer's thesis, section 7.4, Lemma 7.19.
    """

    inner: Mechanism
    m: checks.Count
    n: checks.Count

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n < 2 * self.m:
            raise ParameterError(f"n must be at least 2m = {2 * self.m}, not {self.n}.")
        if replace_one_claim(self.inner).epsilon > 1:
            raise ParameterError(
                f"Lemma 7.19 needs an inner mechanism with epsilon ≤ 1, not {replace_one_claim(self.inner).epsilon!r}."
            )

    @property
    def claim(self) -> Claim:
        """(6εm/n, e^{6εm/n}·(4m/n)·δ), Lemma 7.19."""
        inner = replace_one_claim(self.inner)
        epsilon = 6 * inner.epsilon * self.m / self.n
        return Claim(epsilon, min(1.0, exp(epsilon) * 4 * self.m / self.n * inner.delta))

    @property
    def tight(self) -> Claim:
        """The claim that the proof shows before it rounds: see `tight_claim`."""
        return tight_claim(replace_one_claim(self.inner), self.m, self.n)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """2m rows, from which on the lemma speaks."""
        return (SampleSize(2 * self.m, "n ≥ 2m", f"{self.claim} at n = {self.n:,}", "§7.4, Lemma 7.19"),)

    def run(self, D: Any) -> Program:
        sample = yield rows_drawn(D, self.m, self.n)
        return self.inner.on(sample)


def rows_drawn(D: Any, m: int, n: int) -> Multinomial:
    """m rows of a dataset of n, drawn with replacement.

    Raises:
        DatasetError: D has not n rows.
    """
    rows = Multiset.of(D)
    if len(rows) != n:
        raise DatasetError(f"The dataset must have n = {n} rows, which is a parameter, not {len(rows)}.")
    return Multinomial(rows.values, tuple(count for _, count in rows.items), m)


def replace_one_claim(mechanism: Mechanism) -> Claim:
    """The mechanism's claim, which must be (ε, δ) under replace-one.

    Raises:
        ParameterError: it has none, or one of zCDP or under another relation.
    """
    claim = claim_of(mechanism)
    if claim.rho is not None or claim.relation != REPLACE_ONE:
        raise ParameterError(f"Subsampling needs an inner claim of (ε, δ)-DP under replace-one, not {claim}.")
    return claim


def tight_claim(inner: Claim, m: int, n: int) -> Claim:
    """The claim that (7.2) and (7.3) give together, for every ε ≥ 0 and n ≥ 1. With A₊ = 1 + (e^ε − 1)/n and
    A₋ = 1 + (e^{−ε} − 1)/n,

        ε̃ = m·ln(A₊/A₋),   δ̃ = (A₊/A₋)^m · (1 − A₋^m)/(1 − e^{−ε}) · δ + (A₊^m − 1)/(e^ε − 1) · δ.

    The printed ε̃ is at least 2.55 times this one where ε ≤ 1: with s = 1/n, u = e^ε − 1 and v = 1 − e^{−ε}, so that
    uv = u − v, the derivative of ln(A₊/A₋) in s is (u + v)/(1 + (u − v)·s·(1 − s)) ≤ u + v; hence
    m·ln(A₊/A₋) ≤ 2·sinh(ε)·m/n ≤ 2.3505·εm/n. The printed δ̃ is at least twice this one where also n ≥ 2m: by
    Bernoulli's inequality the first fraction is at most m/n, and the second is at most e^{um/n}·m/n.
    """
    up, down = _grown(inner.epsilon, m, n), _grown(-inner.epsilon, m, n)
    epsilon = up - down
    if inner.epsilon == 0:
        factor = 2 * m / n
    else:
        above, below = expm1(up) / expm1(inner.epsilon), expm1(down) / expm1(-inner.epsilon)
        factor = exp(epsilon) * below + above
    return Claim(epsilon, min(1.0, factor * inner.delta))


def kept(epsilon: float, m: int, n: int) -> bool:
    """Whether Ã keeps (ε, δ) for every (ε, δ)-DP mechanism A on m rows: if and only if (1 + (e^ε − 1)/n)^m ≤ e^ε.

    Proof. Let D, D′ differ in one row, let k be how often it is drawn, p_k its probability, and q_k, q′_k those of an
    event then; q₀ = q′₀. With k draws the two samples are k rows apart, and by the lemma's coupling q_k and q_{k−1}
    belong to samples one row apart. So with δ_k = δ·(e^{kε} − 1)/(e^ε − 1) both q_k ≤ e^{kε}q₀ + δ_k and
    q_k ≤ e^{kε}q′_k + δ_k. Hence q_k − e^ε·q′_k ≤ δ_k + e^{kε}·min(q₀, q′_k) − e^ε·q′_k, which for k ≥ 1 is largest
    at q′_k = q₀ (for k = 1 it is δ there too). Altogether, with E = Σ p_k·e^{kε} = (1 + (e^ε − 1)/n)^m,

        Σ p_k·(q_k − e^ε·q′_k) ≤ (E − e^ε)·q₀ + δ·(E − 1)/(e^ε − 1),

    at most δ where E ≤ e^ε. It is attained: `GroupPrivacy` with a small start has q_k = e^{kε}q₀ + δ_k and q′_k = q₀
    on no ones against one, and needs more than (ε, δ) where E > e^ε, with δ = 0 < q₀ or with q₀ = 0 < δ.
    """
    if m == 1 or n == 1:
        return m == 1  # both sides are equal, or E = e^{mε}
    return _grown(epsilon, m, n) <= epsilon * (1 + _ROUNDED)


def least_rows(epsilon: float, m: int) -> int:
    """The least n of which m rows drawn with replacement keep every (ε, δ): ⌈(e^ε − 1)/(e^{ε/m} − 1)⌉, see `kept`.

    Raises:
        ParameterError: ε > 700, where there are no so large datasets.
    """
    if epsilon > 700:
        raise ParameterError(f"epsilon must be at most 700 for a dataset of e^epsilon rows, not {epsilon!r}.")
    if epsilon == 0:
        return m
    n = max(1, math.ceil(expm1(epsilon) / expm1(epsilon / m)) - 1)
    while not kept(epsilon, m, n):
        n += 1
    return n


def _grown(epsilon: float, m: int, n: int) -> float:
    """ln E e^{kε} = m·ln(1 + (e^ε − 1)/n), k ~ Bin(m, 1/n) the multiplicity of one row; ε of either sign."""
    if epsilon > 700:
        return m * (epsilon - log(n))
    return m * log1p(expm1(epsilon) / n)


# --- cards: what is claimed where, and where the text here departs from the print ---

Subsampled.card = Card(
    name="Subsampled",
    system="F7",
    title="Secrecy of the sample: a private algorithm on rows drawn with replacement",
    paper=THESIS,
    place="§7.4, Lemma 7.19",
    claim="(6εm/n, e^{6εm/n}·(4m/n)·δ)-DP under replace-one, if A is (ε, δ)-DP with ε ≤ 1 and n ≥ 2m",
    inputs="n records that A takes and that can be ordered; A on m records, n ≥ 2m",
    output="what A puts out",
    deviations=(
        "The print samples a sequence of indices; here A is given the multiset of the rows drawn, so that it must "
        "look at multiplicities only.",
        "n is a parameter, and a dataset of another size is refused, as the lemma speaks of databases of size n.",
        "An A with ε > 1 is refused, since nothing is printed for it; `tight` has the proof's own bound.",
    ),
)
