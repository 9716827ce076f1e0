"""Finding 14: the Chernoff bound on a bad sample is e^(−n/32), not e^(−n/8). The standard library, exact fractions."""

from fractions import Fraction as F
from math import ceil, comb, exp, log, log2


def term(n, k, p):
    """Pr[Bin(n, p) = k]."""
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def at_most(n, k, p):
    """Pr[Bin(n, p) ≤ k]: a hypothesis of true error p is wrong on at most k of n examples."""
    return sum((term(n, i, p) for i in range(k + 1)), F(0))


def bad_sample(n, p):
    """Pr[S ∈ S_bad]: one of two hypotheses of error p, wrong on disjoint parts of D, has training error ≤ 1/8."""
    both = sum((term(n, i, p) * at_most(n - i, n // 8, p / (1 - p)) for i in range(n // 8 + 1)), F(0))
    return 2 * at_most(n, n // 8, p) - both


def fails(event, last):
    """The n up to `last` at which an event of a hypothesis of error p has a probability above e^(−n/8), and p."""
    return [(n, p, k) for n in range(1, last + 1) for k, p in event(n) if at_most(n, k, p) > F(exp(-n / 8))]


p = F(2, 7)
parts = [term(14, k, p) for k in range(3)]
print("one hypothesis of true error 2/7, n = 14: err_S ≤ 1/7 is at most 2 wrong labels")
print(" + ".join(f"{float(x):.6f}" for x in parts), f"= {float(sum(parts)):.6f}; e^(-14/8) = {exp(-14 / 8):.6f}")
print(f"with the factor p: e^(-14·(2/7)/8) = {exp(-0.5):.6f}")
p = F(251, 1000)
print("|H| = 2, one bad hypothesis of true error 0.251, n = 24: at most 3 wrong labels")
parts = [term(24, k, p) for k in range(4)]
print(" + ".join(f"{float(x):.6f}" for x in parts), f"= {float(sum(parts)):.6f}; 2·e^(-24/8) = {2 * exp(-3):.6f}")
n = ceil(8 * log(24))
print(f"|H| = 3, two of them of error 0.251, n = {n} ≥ 8·ln 24: {float(bad_sample(n, p)):.6f}; 1/8 = 0.125")
rate = log(F(1, 2)) / 8 + log(F(7, 6)) * 7 / 8
print(f"rate per example, error 1/4: KL(1/8 || 1/4) = {rate:.5f}, printed 1/8; 2^(1/8)·7/8 = {2**0.125 * 7 / 8:.6f}, "
      f"e^(-1/32) = {exp(-1 / 32):.6f}")

print("\nthe step in every reading: the fewest n at which it fails")
half = fails(lambda n: [(k, F(2 * k, n)) for k in range(n // 8, n // 2 + 1) if F(2 * k, n) > F(1, 4)], 14)
print(f"Pr[err_S ≤ ½·err_D] ≤ e^(-n/8), any true error above 1/4:  n = {half[0][0]}, true error {half[0][1]}")
for name, wrong in (("≤", lambda n: n // 8), ("<", lambda n: ceil(n / 8) - 1)):
    found = fails(lambda n, wrong=wrong: [(wrong(n), F(1, 4))], 60)
    n, _, k = found[0]
    print(f"Pr[err_S {name} 1/8] ≤ e^(-n/8), true error just above 1/4:  n = {n}, {float(at_most(n, k, F(1, 4))):.6f} "
          f"against {exp(-n / 8):.6f}; holds again at {sorted({*range(n, 61)} - {m for m, *_ in found})}")
least = next(n for n in range(1, 60) if at_most(n, n // 8, F(1, 4)) > 2 * F(exp(-n / 8)))
print("Pr[S ∈ S_bad] ≤ |H|·e^(-n/8), |H| = 2, true error just above 1/4:  n =", least)
print("Pr[S ∈ S_bad] ≤ 1/8 from n = 8·log(8|H|) on, |H| − 1 hypotheses of error 0.251 that err independently")
for name, base in (("natural log", log), ("log to base 2", log2)):
    for size in range(2, 20):
        n = ceil(8 * base(8 * size))
        if (any_bad := 1 - (1 - at_most(n, n // 8, p)) ** (size - 1)) > F(1, 8):
            print(f"    {name}: fails at |H| = {size}, n = {n}: {float(any_bad):.6f}")
            break
print("relation: none, a statement about the sample")
