"""Finding 33: δ ≤ 1/(20n) in the lecture notes, 1/(50n²) in the thesis. Python's standard library alone."""

from fractions import Fraction as F
from math import e, exp, log, log2, pi


def printed_bound(n, epsilon, delta):
    """P_n = e^ε/(e^ε + 1) + (e^ε + 1)·Σ_{j ≤ n} δ(j), the success that Lemma 7.6 allows on D_n."""
    return exp(epsilon) / (exp(epsilon) + 1) + (exp(epsilon) + 1) * float(sum(delta(j) for j in range(1, n + 1)))


def one_delta(n, epsilon, delta):
    """Q_n, the same induction with δ = δ(n) at every level and the digits of the thesis, b(j) = 50j²."""
    factor, d = exp(epsilon), float(delta(n))
    return (factor + d) / (factor + 1) + sum(factor / (50 * j * j) + d for j in range(2, n + 1))


def first_failing(epsilon, delta):
    """The first n with P_n ≥ 3/4, if any up to 1,000."""
    total, factor = F(0), exp(epsilon)
    for n in range(1, 1001):
        total += delta(n)
        if factor / (factor + 1) + (factor + 1) * float(total) >= 0.75:
            return n
    return None


def log_star(x, logarithm):
    """How often the logarithm is taken until x ≤ 1."""
    times = 0
    while x > 1:
        x, times = logarithm(x), times + 1
    return times


notes, thesis = (lambda n: F(1, 20 * n)), (lambda n: F(1, 50 * n * n))
print("n = 100: 1/(20n) =", notes(100), "and 1/(50n²) =", thesis(100))
print("ε      δ(n) = 1/(50n²): P_1000   δ(n) = 1/(20n): P_2, P_3, P_6, P_7              first P_n ≥ 3/4")
for epsilon in (1e-9, 0.1, 0.2, 0.2499):
    row = ", ".join(f"{printed_bound(n, epsilon, notes):.6f}" for n in (2, 3, 6, 7))
    print(f"{epsilon:<6g} {printed_bound(1000, epsilon, thesis):<25.6f} {row:<48} n = {first_failing(epsilon, notes)}")
print("\none δ for all levels, δ = 1/(20n), b(j) = 50j²: Q_n")
for epsilon in (1e-9, 0.1, 0.2, 0.25):
    print(f"{epsilon:<6g}", ", ".join(f"n = {n}: {one_delta(n, epsilon, notes):.6f}" for n in (1, 2, 3, 7, 10_000)))
base, tail = exp(0.25) / (exp(0.25) + 1), exp(0.25) * (pi**2 / 6 - 1) / 50
print(f"for every n: e^(1/4)/(e^(1/4) + 1) + 1/20 + e^(1/4)·Σ_(j ≥ 2) 1/(50j²) = {base:.6f} + 0.05 + {tail:.6f} "
      f"= {base + 0.05 + tail:.6f} < 3/4")
print(f"the same for nδ ≤ c below 3/4 if c < {0.75 - base - tail:.4f}")
print(f"T(2) = 200² = 40000: log2 {log2(40000):.4f}, {log2(log2(40000)):.4f}, {log2(log2(log2(40000))):.4f}, below 1: "
      f"log* = {log_star(40000, log2)}; log2 b(3) = {log2(450):.4f}")
print("\nreadings")
print("  log*: 2^65536 has", 1 + log_star(65536, log2), "to base 2 (the notes: 5) and",
      1 + log_star(65536 * log(2), log), f"to base e = {e:.4f}; a bounded difference")
print("  relation: replace-one (Definition 3.1); datasets have n records, so that add or remove one does not apply")
print("  a published record: each with probability δ, one at most, finds an interior point with probability nδ = 1/20")
