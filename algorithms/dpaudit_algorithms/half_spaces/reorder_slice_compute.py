"""ReorderSliceCompute: an adaptive choice of disjoint slices, each handed to a private algorithm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpaudit.language import (
    ADD_REMOVE_ONE,
    HALFSPACES,
    Bernoulli,
    Card,
    Claim,
    CutGeometric,
    DiscreteLaplace,
    Mechanism,
    Multiset,
    ParameterError,
    Program,
    cached,
    checks,
    exp,
    expm1,
    fsum,
    log,
    log1p,
    log2,
)
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.half_spaces.sorters import Sorter, estranged

CHECKED_RECORDS = 4
"""Sorters that are no fixed order are tried on all datasets of at most so many records."""
_ROUNDED = 1e-12
"""Relative error, far above that of doubles, by which computed bounds are rounded up."""

# --- what it costs ---------------------------------------------------------------------------------------------------


def unsynchronised(epsilon: float, factor: float) -> float:
    """ρ(λ): the probability that a hit leaves both runs apart, where a hit may cost the factor λ (see the proof).

    With c = e^{2ε}, β₀ = 1 and β_{j+1} = max(0, 1 − λ + cβ_j), it is Σ_j (1 − e^{−ε})e^{−εj}·β_j; written in closed
    form with the fixed point B = (λ − 1)/(c − 1), for β_j = B − (B − 1)c^j as long as that is positive.

    Args:
        epsilon: ε > 0.
        factor: λ ≥ e^{2ε}; from e^{2ε} + 1 on, ρ is 1 − e^{−ε}.
    """
    fixed_point = (factor - 1) / expm1(2 * epsilon)
    if fixed_point <= 1:
        return 1.0
    steps = max(1, math.ceil(log(fixed_point / (fixed_point - 1)) / (2 * epsilon)))
    grown = expm1(epsilon * steps)
    rho = fixed_point * -expm1(-epsilon * steps) - (fixed_point - 1) * exp(-epsilon) * grown
    return min(1.0, rho * (1 + _ROUNDED))


@cached(maxsize=1024)
def slice_composition(epsilon: float, delta: float, tau: int, delta_prime: float) -> Claim:
    """What ReorderSliceCompute spends, for sorters that map neighbours to neighbours; add/remove-one.

    (2τε, τ(1 + e^ε)δ), or if it has the lesser ε, (max(2ε, h·ln λ), δ′ + δ(1 + ρe^ε)(1 + ρ + … + ρ^{τ−1})) for the best
    h < τ and λ with ρ(λ)^{h+1} ≤ δ′. For small ε the best h·ln λ is about 2.234·ε·ln(1/δ′).

    Proof. Let S′ = S + x, q = e^{−ε}, g_j = (1 − q)q^j the law of Geom. Call an iteration that starts with datasets
    T and T′ = T + x a *hit at j* in the run on T′, if m̃ ≥ r, r = max(m, records before x in E(T′)), and j = m̃ − r.
    Where m̃ < r, slices are equal and T, T′ lose the same records: nothing is spent. As Geom has no memory, j has the
    law g on either side, given m̃ ≥ r. Write a_j and a′_j for the slices of T and T′ at j. E(T′) is E(T) with x put in,
    so
    (i) a′_j and a_j are equal or at most two steps apart (x in; the last one out, where there is one), and what is left
        of T′ is what is left of T and at most one record more;
    (ii) a′_{j+1} = a_j + x, and what is left is the same: the runs are *synchronised*.

    S against S′: by (ii), Σ g_j A(a_j) ≤ Σ g_j (e^ε A(a′_{j+1}) + δ) = e^ε Σ g_{j+1} e^ε A(a′_{j+1}) + δ, and all that
    follows is the same. Before the first hit nothing is spent. So Pr ≤ e^{2ε}Pr′ + δ, whatever τ.

    S′ against S: in the run on S′ mark each hit at j with probability α_j = 1 − β_j as synchronised, the other
    ones as not; α₀ = 0. Let P′_h be the probability of an event and of at most h marks "not" before the runs are
    synchronised, and P that of the event on S. Claim: P′_h ≤ λ^h P + D. By induction over iterations; given a hit,
    the marked ones are held against (ii), the others against (i) and the induction hypothesis:

        P′_h ≤ Σ_j g_j·(1 − α_j)·(e^{2ε}λ^{h−1}X_j + (1 + e^ε)δ + D′) + Σ_j g_{j+1}·α_{j+1}·(e^ε X_j + δ),

    X_j being the event on S with slice a_j. As g_{j+1}e^ε = g_j and λ^{h−1} ≥ 1, the factor of g_j X_j is at most
    λ^{h−1}·(cβ_j + α_{j+1}) ≤ λ^h: that is how β was chosen. For h = 0 only the second sum is there: a factor of 1.
    And D = ρ(1 + e^ε)δ + (1 − ρ)δ + ρD′, which τ iterations make δ(1 + ρe^ε)(1 + ρ + … + ρ^{τ−1}). There are
    more than h marks "not" with probability at most ρ^{h+1}; for h = τ none, and λ = c, ρ = 1 is allowed. ∎

    Args:
        epsilon: of the inner algorithm and of Geom, > 0.
        delta: of the inner algorithm, in [0, 1].
        tau: τ ≥ 1.
        delta_prime: δ′ in [0, 1); with 0 the first bound is taken.

    Source: the idea is that of Lemma 20 (Cohen, Lyu, Nelson, Sarlós and Stemmer 2023); the constants are worked out
    here.
    """
    best, chosen = 2 * tau * epsilon, (0.0, 1.0)  # ε, (δ′ that is used, ρ)
    if 0 < delta_prime < 1:
        if -expm1(-epsilon) <= delta_prime and tau > 1:
            best, chosen = 2 * epsilon, (delta_prime, -expm1(-epsilon))
        for h in range(1, tau):
            if 2 * epsilon * h >= best:
                break
            exponent = _least_exponent(epsilon, delta_prime ** (1 / (h + 1)))
            if exponent is not None and max(2 * epsilon, h * exponent) < best:
                best = max(2 * epsilon, h * exponent)
                chosen = delta_prime, unsynchronised(epsilon, exp(exponent))
    used, rho = chosen
    spent = delta * (1 + rho * exp(epsilon)) * fsum(rho**i for i in range(tau))
    return Claim(best, min(1.0, used + spent), ADD_REMOVE_ONE)


def _least_exponent(epsilon: float, rho: float) -> float | None:
    """The least ln λ with ρ(λ) ≤ rho, rounded up; None where no λ does it."""
    low, high = 2 * epsilon, log1p(exp(2 * epsilon))
    if unsynchronised(epsilon, exp(high)) > rho:
        return None
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if unsynchronised(epsilon, exp(middle)) <= rho else (middle, high)
    return high


def least_delta(epsilon: float, delta: float, tau: int) -> float:
    """δe^ε(1 + p + … + p^{τ−1}), p = 1 − e^{−ε}: the D of the proof above with the least ρ.

    Lemma 20 has δ′ + 2δτ for any δ′ > 0, which is less for τ = 1 and ε > ln 2, and for τ = 2 and ε > ln 2.5. With an
    `Alarm` for A so much is needed at every ε: for τ = 1 exactly, for τ = 2 nearly.
    """
    p = -expm1(-epsilon)
    return delta * exp(epsilon) * fsum(p**i for i in range(tau))


# --- inner algorithms ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Balance(Mechanism):
    """How many more even records than odd ones there are, with noise, in {−bound, …, bound}.

    One record more moves it by 1: two-sided geometric noise of scale 1/ε makes that ε, and the extreme answers attain
    it. With probability `delta` the noise is forgotten: (ε, δ). Exchanging an even record for an odd one costs 2ε.

    Args:
        epsilon: > 0.
        bound: ≥ 0.
        delta: in [0, 1].
    """

    epsilon: checks.Positive
    bound: checks.Natural
    delta: checks.Probability = 0.0

    @property
    def claim(self) -> Claim:
        """(ε, δ)."""
        return Claim(self.epsilon, self.delta, ADD_REMOVE_ONE)

    def run(self, S: Any) -> Program:
        balance = sum(1 if record % 2 == 0 else -1 for record in Multiset.of(S))
        if self.delta and (yield Bernoulli(self.delta)):
            return ("exactly", balance)
        return (yield DiscreteLaplace(balance, 1 / self.epsilon).clip(-self.bound, self.bound))


@dataclass(frozen=True)
class Alarm(Mechanism):
    """Says True with a probability that grows as (ε, δ) lets it with the distance d to the nearest `silent` dataset:
    p(0) = start, p(d + 1) = e^ε·p(d) + δ, up to d = `farthest`.

    One record more moves d by at most 1; for the other answer, 1 − p(d) ≤ e^ε(1 − p(d + 1)) + δ as long as no p is
    above 1/2. Where the silent datasets are those that one run may see, it is the worst inner algorithm for that run.

    Args:
        epsilon: > 0.
        silent: at least one dataset.
        start: p(0), in [0, 1].
        delta: δ, in [0, 1).
        farthest: ≥ 1.

    Raises:
        ParameterError: a parameter outside its range, or a probability above 1/2.
    """

    epsilon: checks.Positive
    silent: tuple[Multiset, ...]
    start: checks.Probability = 0.0
    delta: checks.Probability = 0.0
    farthest: checks.Count = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.silent or self._said(self.farthest) > 0.5:
            raise ParameterError(
                "An Alarm needs a silent dataset, and start and delta so that Pr[True] is at most 1/2."
            )

    @property
    def claim(self) -> Claim:
        """(ε, δ)."""
        return Claim(self.epsilon, self.delta, ADD_REMOVE_ONE)

    def _said(self, d: int) -> float:
        grown = expm1(d * self.epsilon)
        return self.start * (1 + grown) + self.delta * grown / expm1(self.epsilon)

    def run(self, S: Any) -> Bernoulli:
        T = Multiset.of(S)
        return Bernoulli(self._said(min(self.farthest, *(_apart(T, other) for other in self.silent))))


def _apart(left: Multiset, right: Multiset) -> int:
    """Records to add and to remove from one to the other."""
    a, b = dict(left.items), dict(right.items)
    return sum(abs(a.get(record, 0) - b.get(record, 0)) for record in a.keys() | b.keys())


# --- the algorithm ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReorderSliceCompute(Mechanism):
    """Algorithm 7: τ times, the m̃ = m + Geom(1 − e^{−ε}) largest records by E_i leave the dataset and go to A.

    Its lemma as printed is a claim with an O(·), which is no number: `claim` is the explicit bound of
    `slice_composition`, and `lemma_20` the printed one for a constant of the reader's choice. Two things of Lemma 20
    are refuted, for every constant (FINDINGS.md): it does not ask that sorters map neighbours to neighbours, and its
    2δτ is too little for τ = 1, ε > ln 2 and τ = 2, ε > ln 2.5.

    A sorter that is no `FixedOrder` is tried when the mechanism is made, on all datasets of at most 4 records of
    `values`: public ones, for a refusal at run time would tell on the dataset. What passes is not proved.

    Args:
        epsilon: ε > 0, of A and of Geom.
        delta: δ in [0, 1), of A.
        tau: τ ≥ 1.
        m: ≥ 1.
        sorters: E_1, …, E_τ.
        inner: A, (ε, δ)-DP under add/remove-one.
        delta_prime: δ′ in [0, 1), of the claim; the algorithm does not use it.
        values: records on which sorters are tried.
        unchecked: take any sorters; the claim is then none that anybody has proved.

    Raises:
        ParameterError: a parameter outside its range, an inner algorithm whose claim is not (ε, δ), or a sorter that
            does not map neighbours to neighbours.

    Source: half-spaces paper, Algorithm 7 and Lemma 20, after Cohen, Lyu, Nelson, Sarlós and Stemmer (STOC 2023).
    """

    epsilon: checks.Positive
    delta: float
    tau: checks.Count
    m: checks.Count
    sorters: tuple[Sorter, ...]
    inner: Mechanism
    delta_prime: float = 0.01
    values: tuple[Any, ...] = ()
    unchecked: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("delta", "delta_prime"):
            if checks.probability(name, getattr(self, name)) == 1:
                raise ParameterError(f"{name} must be below 1.")
        if len(self.sorters) != self.tau:
            raise ParameterError(f"tau = {self.tau} needs as many sorters, not {len(self.sorters)}.")
        asked = Claim(self.epsilon, self.delta, ADD_REMOVE_ONE)
        if not claim_of(self.inner).implies(asked):
            raise ParameterError(f"The inner algorithm must be {asked}; {self.inner.name} is {self.inner.claim}.")
        for sorter in self.sorters if not self.unchecked else ():
            self._accept(sorter)

    def _accept(self, sorter: Sorter) -> None:
        if sorter.fixed:
            return
        if not self.values:
            raise ParameterError(f"{sorter!r} is no fixed order: give `values`, records on which it can be tried.")
        found = estranged(sorter, self.values, CHECKED_RECORDS)
        if found is not None:
            raise ParameterError(
                f"{sorter!r} does not map neighbours to neighbours: {found[0]!r} becomes {sorter(found[0])!r} and "
                f"{found[1]!r} becomes {sorter(found[1])!r}; use a fixed order, or unchecked=True to see what it costs."
            )

    @property
    def claim(self) -> Claim:
        """The explicit bound of `slice_composition`."""
        return slice_composition(self.epsilon, self.delta, self.tau, self.delta_prime)

    def lemma_20(self, constant: float) -> Claim:
        """Lemma 20 with this constant in place of its O(·), log to base 2: (constant·ε·log₂(1/δ′), δ′ + 2δτ).

        Raises:
            ParameterError: δ′ = 0, for which it says nothing.
        """
        if not self.delta_prime:
            raise ParameterError("delta_prime must be above 0 for Lemma 20 to say anything.")
        spent = checks.positive("constant", constant) * self.epsilon * log2(1 / self.delta_prime)
        return Claim(spent, min(1.0, self.delta_prime + 2 * self.delta * self.tau), ADD_REMOVE_ONE)

    def run(self, S: Any) -> Program:
        return (yield _Iterations(self, 1).on(Multiset.of(S)))


@dataclass(frozen=True)
class _Iterations(Mechanism):
    """Iterations i, …, τ of the loop, on S_{i−1}; its own mechanism, so that equal remainders share one law."""

    whole: ReorderSliceCompute
    i: int

    def run(self, S: Any) -> Program:
        largest = self.whole.sorters[self.i - 1](S)
        more: int = yield CutGeometric(self.whole.epsilon, max(0, len(largest) - self.whole.m))
        m = self.whole.m + more  # m̃
        r = yield self.whole.inner.on(Multiset.of(largest[:m]))
        if self.i == self.whole.tau:
            return (r,)
        later = yield _Iterations(self.whole, self.i + 1).on(Multiset.of(largest[m:]))
        return (r, *later)


# --- cards: what is claimed where, and where the text here departs from the print ---

ReorderSliceCompute.card = Card(
    name="ReorderSliceCompute",
    system="H6",
    title="Reorder, slice, compute: slices chosen one after the other, each for a private algorithm",
    paper=HALFSPACES,
    place="§3.2, Alg. 7, Lemma 20",
    claim="(O(ε·log(1/δ′)), δ′ + 2δτ)-DP for any δ′ > 0, under add/remove-one",
    inputs="n whole numbers; 0 < epsilon, 0 ≤ delta < 1, τ ≥ 1, m ≥ 1, τ sorters, an (ε, δ)-DP algorithm",
    output="(r_1, …, r_τ), what the inner algorithm said of each slice",
    deviations=(
        "Fewer than m̃ records left: all of them are taken.",
        "Geom is drawn up to the number of records that are left: a larger one would take no more.",
        "O(·) is no number: what is held against the laws is an explicit bound that is proved here.",
        "Sorters must map neighbours to neighbours, which the paper does not ask: without it nothing holds.",
        "A that is pure (δ = 0) and any ε > 0 will do, too.",
    ),
    variants=("BasicComposition", "AdvancedComposition"),
)
