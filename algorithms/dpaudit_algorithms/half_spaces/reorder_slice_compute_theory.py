"""The privacy loss of ReorderSliceCompute: an explicit bound instead of Lemma 20's O(·), with its proof."""

from __future__ import annotations

import math

from dpaudit.language import ADD_REMOVE_ONE, Claim, cached, exp, expm1, fsum, log, log1p

_ROUNDED = 1e-12
"""Relative error, far above that of doubles, by which computed bounds are rounded up."""


def unsynchronised(epsilon: float, factor: float) -> float:
    """ρ(λ): the probability that a hit leaves both runs unsynchronised, if a hit may cost the factor λ (see the proof).

    With c = e^{2ε}, β₀ = 1 and β_{j+1} = max(0, 1 − λ + cβ_j), it is Σ_j (1 − e^{−ε})e^{−εj}·β_j. The closed form uses
    the fixed point B = (λ − 1)/(c − 1), because β_j = B − (B − 1)c^j while that is positive.

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
    """The (ε, δ) of ReorderSliceCompute under add/remove-one, for sorters that map neighbours to neighbours.

    It is (2τε, τ(1 + e^ε)δ), or if that has a smaller ε, (max(2ε, h·ln λ), δ′ + δ(1 + ρe^ε)(1 + ρ + … + ρ^{τ−1})) for
    the best h < τ and λ with ρ(λ)^{h+1} ≤ δ′. For small ε the best h·ln λ is about 2.234·ε·ln(1/δ′).

    Proof. Let S′ = S + x, q = e^{−ε}, g_j = (1 − q)q^j (Geom). Call an iteration that starts with datasets
    T and T′ = T + x a *hit at j* in the run on T′, if m̃ ≥ r, r = max(m, records before x in E(T′)), and j = m̃ − r.
    If m̃ < r, the slices are equal and T, T′ lose the same records: there is no privacy loss. Geom is memoryless, so j
    has the distribution g on both datasets, given m̃ ≥ r. Write a_j and a′_j for the slices of T and T′ at j. E(T′) is
    E(T) with x inserted, so
    (i) a′_j and a_j are equal or at most two steps apart (x in; the last one out, if any), and the rest of T′ is the
        rest of T and at most one more record;
    (ii) a′_{j+1} = a_j + x, and the rest is the same: the runs are *synchronised*.

    S against S′: by (ii), Σ g_j A(a_j) ≤ Σ g_j (e^ε A(a′_{j+1}) + δ) = e^ε Σ g_{j+1} e^ε A(a′_{j+1}) + δ, and all later
    iterations are the same. Before the first hit there is no loss. So Pr ≤ e^{2ε}Pr′ + δ for every τ.

    S′ against S: in the run on S′ mark each hit at j with probability α_j = 1 − β_j as synchronised, otherwise as not
    synchronised; α₀ = 0. Let P′_h be the probability of an event and of at most h marks "not" before the runs are
    synchronised, and P that of the event on S. Claim: P′_h ≤ λ^h P + D. By induction over iterations: given a hit,
    apply (ii) to the marked ones, and (i) and the induction hypothesis to the others:

        P′_h ≤ Σ_j g_j·(1 − α_j)·(e^{2ε}λ^{h−1}X_j + (1 + e^ε)δ + D′) + Σ_j g_{j+1}·α_{j+1}·(e^ε X_j + δ),

    where X_j is the event on S with slice a_j. Because g_{j+1}e^ε = g_j and λ^{h−1} ≥ 1, the factor of g_j X_j is at
    most λ^{h−1}·(cβ_j + α_{j+1}) ≤ λ^h, by the choice of β. For h = 0 there is only the second sum: a factor of 1. And
    D = ρ(1 + e^ε)δ + (1 − ρ)δ + ρD′, which after τ iterations is δ(1 + ρe^ε)(1 + ρ + … + ρ^{τ−1}). There are more than
    h marks "not" with probability at most ρ^{h+1}, and with probability 0 for h = τ, where λ = c, ρ = 1 is allowed. ∎

    Args:
        epsilon: of the inner algorithm and of Geom, > 0.
        delta: of the inner algorithm, in [0, 1].
        tau: τ ≥ 1.
        delta_prime: δ′ in [0, 1); with 0 the first bound is used.

    Source: the idea of Lemma 20 (Cohen, Lyu, Nelson, Sarlós and Stemmer 2023); the constants are derived here.
    """
    best, chosen = 2 * tau * epsilon, (0.0, 1.0)  # ε, (δ′ used, ρ)
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
    composed = delta * (1 + rho * exp(epsilon)) * fsum(rho**i for i in range(tau))
    return Claim(best, min(1.0, used + composed), ADD_REMOVE_ONE)


def _least_exponent(epsilon: float, rho: float) -> float | None:
    """The least ln λ with ρ(λ) ≤ rho, rounded up; None if there is no such λ."""
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
    `Alarm` for A this much is necessary at every ε: exactly for τ = 1, and nearly for τ = 2.
    """
    p = -expm1(-epsilon)
    return delta * exp(epsilon) * fsum(p**i for i in range(tau))
