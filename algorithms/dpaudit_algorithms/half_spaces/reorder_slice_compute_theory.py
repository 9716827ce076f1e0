"""What ReorderSliceCompute spends: an explicit bound in place of Lemma 20's O(·), with its proof."""

from __future__ import annotations

import math

from dpaudit.language import ADD_REMOVE_ONE, Claim, cached, exp, expm1, fsum, log, log1p

_ROUNDED = 1e-12
"""Relative error, far above that of doubles, by which computed bounds are rounded up."""


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
