"""Finding 1: A_dist as printed costs 2ε where a record is replaced. Python's standard library alone."""

from decimal import Decimal as D
from decimal import getcontext
from itertools import product

getcontext().prec = 40
EPSILON, DELTA = D(1), D("1e-6")


def a_dist(counts, threshold, epsilon=EPSILON):
    """Pr[0], Pr[1], Pr[⊥] where so many records are 0 and so many 1: gap + Lap(1/ε) against the threshold."""
    lead = abs(counts[0] - counts[1])
    tail = (-abs(threshold - lead) * epsilon).exp() / 2
    answered = tail if threshold >= lead else 1 - tail
    return [answered, D(0), 1 - answered] if counts[0] >= counts[1] else [D(0), answered, 1 - answered]


def epsilon_needed(p, q, delta):
    """The least ε′ with P[F] ≤ e^ε′·Q[F] + δ for every event F, in both directions."""
    least = D(0)
    for inside in product([0, 1], repeat=len(p)):
        for one, other in ((p, q), (q, p)):
            a = sum(x for x, i in zip(one, inside, strict=True) if i)
            b = sum(x for x, i in zip(other, inside, strict=True) if i)
            if a > delta:
                least = max(least, ((a - delta) / b).ln() if b else D("inf"))
    return least


def worst(pairs, threshold):
    return max((epsilon_needed(a_dist(s, threshold), a_dist(t, threshold), DELTA), s, t) for s, t in pairs)


replaced = [((n - k, k), (n - k - 1, k + 1)) for n in range(1, 25) for k in range(n)]
added = [((a, n - a), (a + i, n - a + 1 - i)) for n in range(24) for a in range(n + 1) for i in (0, 1)]
t2, te = (1 / DELTA).ln() / D(2).ln() / EPSILON, (1 / DELTA).ln() / EPSILON
print("ε = 1, δ = 1e-6, threshold t = log2(1/δ)/ε =", f"{t2:.8f}")
s, t = a_dist((22, 0), t2), a_dist((21, 1), t2)
print(f"22 records 0:             Pr[⊥] = {s[2]:.8f}   (½·e^-(22 - t))")
print(f"21 records 0, one 1:      Pr[⊥] = {t[2]:.8f}   (½·e^-(20 - t)), {t[2] / s[2]:.6f} = e² times as much")
print(f"allowed: e·Pr[⊥ | 22 of 0] + δ  = {s[2] * D(1).exp() + DELTA:.8f}")
print(f"least ε for this pair: {epsilon_needed(s, t, DELTA):.10f}")
closed = 2 + (1 - 2 * DELTA * (22 - 2 - t2).exp()).ln()
print(f"2ε + ln(1 - 2δ·e^(⌈t⌉ - t))   = {closed:.10f}")
few = [epsilon_needed(a_dist((n, 0), t2), a_dist((n - 1, 1), t2), DELTA) for n in (7, 8)]
print(f"7 records: {few[0]:.6f}; 8 records, the fewest that refute: {few[1]:.6f}")
print(f"1/ln 2 = {1 / D(2).ln():.4f}, so e^-t = δ^1.4427 at ε = 1")
print("\nworst of all datasets of up to 24 records of two values, ε needed (1 claimed)")
print("neighbours        log to base 2                  natural logarithm")
for name, pairs in (("replace one", replaced), ("add or remove one", added)):
    cells = [f"{e:.8f} {s} {t}" for e, s, t in (worst(pairs, t2), worst(pairs, te))]
    print(f"{name:<17} {cells[0]:<30} {cells[1]}")
