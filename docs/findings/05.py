"""Finding 5: the median utility on equal records. Python's standard library alone."""

from itertools import combinations_with_replacement
from math import exp, log


def output(records, size, epsilon, count, sign=-1):
    """P(y) ∝ exp(−(ε/2)·|n/2 − count(y)|) for y = 1, …, |X|, as printed (sign = +1: the utility is not negated)."""
    n = len(records)
    weights = [exp(sign * epsilon / 2 * abs(n / 2 - count(records, y))) for y in range(1, size + 1)]
    return [w / sum(weights) for w in weights]


def corrected(records, size, epsilon):
    """P(y) ∝ exp((ε/2)·min(#{x_i ≥ y}, #{x_i ≤ y}))."""
    weights = [exp(epsilon / 2 * min(sum(x >= y for x in records), at_most(records, y))) for y in range(1, size + 1)]
    return [w / sum(weights) for w in weights]


def at_most(records, y):
    return sum(x <= y for x in records)


def below(records, y):
    return sum(x < y for x in records)


def misses(records, probabilities):
    """Pr[the output is below the least or above the greatest record]."""
    return sum(p for y, p in enumerate(probabilities, 1) if not min(records) <= y <= max(records))


def bound(size, n, epsilon):
    return size * exp(-epsilon * n / 4)


S = [1] * 6
print(f"X = {{1, 2}}, six records 1, ε = 1; enough for β = 0.45, as 6 ≥ 4·ln(2/β)/ε = {4 * log(2 / 0.45):.4f}")
for y, k in ((y, at_most(S, y)) for y in (1, 2)):
    print(f"y = {y}: #{{x_i ≤ y}} = {k}, |n/2 − {k}| = {abs(3 - k)}, weight e^−1.5 = {exp(-abs(3 - k) / 2):.6f}")
print(f"Pr[A(x) not an interior point] = {misses(S, output(S, 2, 1, at_most)):.6f}")
print(f"the bound |X|·e^(−εn/4)        = {bound(2, 6, 1):.6f}")
print(f"|X| = 2: refuted for εn > 4·ln 4 = {4 * log(4):.4f}; distinct, odd n: true for ε ≤ 4·ln 2 = {4 * log(2):.4f}")
worst = max(misses(d, output(d, m, 1, at_most)) - bound(m, n, 1)
            for m in range(1, 6) for n in range(1, 6) for d in combinations_with_replacement(range(1, m + 1), n))
print(f"up to 5 records of up to 5 points, ε = 1: at most the bound everywhere: {worst < 0}")
T = [32] * 100
print(f"|X| = 64, 100 records 32: {misses(T, output(T, 64, 1, at_most)):.6f}, bound {bound(64, 100, 1):.1e}")
U = [4, 5, 6]
print(f"|X| = 8, records 4, 5, 6, ε = 6: {misses(U, output(U, 8, 6, at_most)):.6f}, bound {bound(8, 3, 6):.6f}")
print(f"corrected score, X = {{1, 2}}, six records 1: {misses(S, corrected(S, 2, 1)):.6f}, "
      f"bound (|X| − 1)·e^(−εn/4) = {exp(-1.5):.6f}")
print("\nX = {1, 2}, all n records equal to v, ε = 1: Pr[not an interior point]")
print("weight of y                   v  n = 6     n = 7     bound at 6, at 7")
for name, count, sign in (("e^(−(ε/2)·|n/2 − #{x_i ≤ y}|)", at_most, -1), ("e^(−(ε/2)·|n/2 − #{x_i < y}|)", below, -1),
                          ("e^(+(ε/2)·|n/2 − #{x_i ≤ y}|)", at_most, 1)):
    for v in (1, 2):
        cells = [f"{misses([v] * n, output([v] * n, 2, 1, count, sign)):.6f}" for n in (6, 7)]
        print(f"{name:<29} {v}  {'  '.join(cells)}  {bound(2, 6, 1):.6f}, {bound(2, 7, 1):.6f}")
print("relation: none, a utility claim; logarithm: in n ≥ 4·log(|X|/β)/ε alone, and 0.5 is the same for every n")
