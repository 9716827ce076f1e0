"""Finding 21: 2δτ is too little for one or two iterations of ReorderSliceCompute. Python's standard library alone."""

from math import comb, exp, log

DELTA, PRIME = 0.01, 1e-4


def slices(order, m, S, epsilon):
    """An iteration of Algorithm 7: (Pr, max_m̃(S), the rest) for m̃ = m + Geom(1 - e^-ε); at most all records."""
    largest = [x for x in order if x in S]
    spare, q = max(0, len(largest) - m), exp(-epsilon)
    for g in range(spare + 1):
        yield q**g * (1 - q if g < spare else 1), frozenset(largest[: m + g]), frozenset(largest[m + g :])


def seen(orders, m, S):
    """All slices that a run on S can pass to A."""
    return {t for order in orders[:1] for _, a, rest in slices(order, m, S, 1) for t in {a} | seen(orders[1:], m, rest)}


def mean(orders, m, S, epsilon, weights):
    """E[Π of weights[i](slice i)] over a run on S; with the Pr[False] of A for weights it is Pr[no answer is True]."""
    return sum(w * weights[0](a) * mean(orders[1:], m, rest, epsilon, weights[1:])
               for w, a, rest in slices(orders[0], m, S, epsilon)) if orders else 1


def some_true(orders, m, S, epsilon):
    """Pr[some r_i = True] on S and on S′ = S + 0; A says True with 0, δ, (1 + e^ε)δ at distance 0, 1, ≥ 2 from S's."""
    silent, steps = seen(orders, m, S), [0, DELTA, (1 + exp(epsilon)) * DELTA]
    false = [lambda a: 1 - steps[min(2, min(len(a ^ z) for z in silent))]] * len(orders)
    return [1 - mean(orders, m, T, epsilon, false) for T in (S, S | {0})]


def replaced(allowed, epsilon):
    """Least τ for which τ answers of ratio e^±ε each (replace one) are not (allowed, δ′)-DP."""
    tau, needed, p = 0, 0, 1 / (1 + exp(-epsilon))
    while needed <= PRIME:
        tau += 1
        needed = sum(comb(tau, k) * (p**k * (1 - p)**(tau - k) - exp(allowed) * (1 - p)**k * p**(tau - k))
                     for k in range(tau + 1) if (2 * k - tau) * epsilon > allowed)
    return tau


print(f"thresholds: ln 2 = {log(2):.4f} (τ = 1), ln 2.5 = {log(2.5):.4f} (τ = 2); δ = {DELTA}, δ′ = {PRIME}")
for e, orders, m, S in ((0.9, [range(9)], 1, {1}), (0.9, [range(9)], 1, {1, 2, 3, 4, 5, 6, 7, 8}),
                        (0.95, [range(6), [2, 4, 5, 3, 0, 1]], 2, {1, 2, 3, 4, 5})):
    tau, p, one, (before, after) = len(orders), 1 - exp(-e), exp(e) * DELTA, some_true(orders, m, S, e)
    by_hand = "e^ε·δ", one, "e^ε·δ·(1 + p·(1 - (1 + e^ε)δ))", one * (1 + p * (1 - DELTA - one))
    print(f"S = {S}, τ = {tau}, m = {m}, ε = {e}: e^ε = {exp(e):.6f}, p = {p:.6f}, 1 - p = {1 - p:.6f}")
    print(f"  (1 + e^ε)δ = {one + DELTA:.8f}; Pr[some True] = {before:.8f} on S, {after:.8f} on S + 0; "
          f"{by_hand[2 * tau - 2]} = {by_hand[2 * tau - 1]:.8f}; allowed {PRIME + 2 * DELTA * tau:.4f}")
print("\nin every reading\nadd or remove one, any constant and any log in O(·), at most all records taken: as above\n"
      "replace one: slices are one step apart, so (τε, τδ), and 2δτ is enough; but that ε grows with τ:")
for name, base in (("log2", 2), ("ln", exp(1))):
    print(f"  δ = 0, ε = 0.9: ε·{name}(1/δ′) is too little from τ = {replaced(.9 * log(1 / PRIME, base), .9)} on")
print("\nδ = 0, ε = 0.9, least first, m = 3, {1, …, n} and 0 more: ε needed for the answers 1, …, τ (2τε proved)")
for tau, n, cuts in ((1, 20, [2]), (2, 30, [1, 6]), (3, 32, [2, 6, 9])):
    weights = [lambda a, cut=cut: exp(.9 * sum(1 if x < cut else -1 for x in a)) for cut in cuts]
    after, before = (mean([range(n + 1)] * tau, 3, set(range(i, n + 1)), 0.9, weights) for i in (0, 1))
    print(f"  τ = {tau}: {log(after / before):.6f} of {2 * tau * .9:.1f}")
