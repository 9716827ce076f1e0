"""Finding 11: m of 9m rows drawn with replacement do not keep ε at large ε. Python's standard library alone."""

from decimal import Decimal as D
from decimal import getcontext
from itertools import pairwise
from math import ceil, comb, exp, expm1, log, log1p

getcontext().prec = 40


def smallest(m, epsilon):
    """Pr[A says 1 | k of m labels are 1] = (3/4)·e^{(k − m)ε}: a learner of the two constants on one point."""
    return [D(3) / 4 * (D(epsilon) * (k - m)).exp() for k in range(m + 1)]


def two_thresholds(m, epsilon):
    """Pr[c_0 | k of m examples are (1,0), the rest (1,1)], exponential mechanism on the number labelled rightly."""
    return [1 / (1 + (D(epsilon) / 2 * (m - 2 * k)).exp()) for k in range(m + 1)]


def epsilon_of(p):
    """The least ε of an algorithm with these probabilities where one more row is odd."""
    return max(max((b / a).ln(), ((1 - a) / (1 - b)).ln()) for a, b in pairwise(p))


def sampled(p, n):
    """Pr[Ã says so] where one of n rows is odd: it is drawn k ~ Bin(m, 1/n) times."""
    m = len(p) - 1
    return sum(comb(m, k) * D(n - 1) ** (m - k) / D(n) ** m * p[k] for k in range(m + 1))


def breaks(m, per=9):
    """The ε from which on (1 + (e^ε − 1)/(9m))^m > e^ε, by bisection; m = inf: (e^ε − 1)/9 > ε."""
    low, high = 1.0, 50.0
    while high - low > 1e-12:
        e = (low + high) / 2
        cost = expm1(e) / per if m == float("inf") else m * log1p(expm1(e) / (per * m))
        low, high = (low, e) if cost > e else (e, high)
    return low


p = smallest(2, 6)
print("A, m = 2, ε = 6: Pr[1] with 0, 1, 2 labels 1:", *(f"{float(x):.6g}" for x in p), f" its ε: {epsilon_of(p):.6f}")
t = sampled(p, 18)
print(f"n = 18: Pr[1] on 18 rows (x,0) {float(p[0]):.6g}; on 17 of them and one (x,1) {float(t):.6g}")
print("drawn k = 0, 1, 2 times:", *(f"{comb(2, k) * 17 ** (2 - k)}/324·{float(p[k]):.6g}" for k in range(3)))
print(f"ratio (1 + (e^6 - 1)/18)^2 = {t / p[0]:.3f}, e^6 = {exp(6):.3f}; needed: ε = {(t / p[0]).ln():.6f}")
rows = ceil(expm1(6) / expm1(3))
print(f"corrected: n = max(18, (e^6 - 1)/(e^3 - 1)) = {max(18, rows)}: ε = {(sampled(p, rows) / p[0]).ln():.6f}")
print(f"\nn = 9m keeps every (ε, δ) if and only if ε is at most (m = 1: always; 2·ln 17 = {2 * log(17):.4f})")
print(*(f"m = {m}: {breaks(m):.4f}" for m in (2, 3, 4, 5, 6, 10, 100, float("inf"))), sep="; ")
print("\nexponential mechanism on two thresholds: (1,1)×9m against one relabelled, event c_0")
for m, epsilon in ((3, 11), (4, 6), (4, 8), (6, "4.5"), (6, 5), (12, "3.75"), (30, "3.6")):
    p = two_thresholds(m, epsilon)
    t = sampled(p, 9 * m)
    print(f"m = {m:>2}, n = {9 * m:>3}, ε = {epsilon:<4}: {p[0]:.5e}, {t:.5e}, needed ε = {(t / p[0]).ln():.5f}")
p = smallest(2, 6)
print("\nlogarithm: none occurs; relation: the first A needs")
print(f"replace one, 18 rows                              {(sampled(p, 18) / p[0]).ln():.6f}")
print(f"add or remove one, 18 and 19 rows, 2 drawn        {(sampled(p, 19) / p[0]).ln():.6f}")
