"""Finding 7: the number of records of Theorem 7.8 at large ε. Python's standard library alone."""

from math import e, exp, log


def log_star(x, base=2):
    """How often log is applied until the result is ≤ 1."""
    times = 0
    while x > 1:
        x, times = log(x) / log(base), times + 1
    return times


def printed_n(size, epsilon, delta, beta, base=2):
    """(18500/ε)·2^{log*|X|}·log*|X|·ln(4·log*|X|/(βεδ)), before it is rounded up."""
    s = log_star(size, base)
    return 18500 / epsilon * 2**s * s * log(4 * s / (beta * epsilon * delta))


def rec_prefix(records, size, epsilon, base=2):
    """RecPrefix for |X| ≤ 32, step 1, with ε/(2·log*|X|): the output distribution on 0, …, |X| − 1."""
    share = epsilon / (2 * log_star(size, base))
    depths = [min(sum(x >= y for x in records), sum(x <= y for x in records)) for y in range(size)]
    weights = [exp(share * q / 2) for q in depths]
    return [w / sum(weights) for w in weights]


def misses(records, size, epsilon, base=2):
    p = rec_prefix(records, size, epsilon, base)
    return sum(p[y] for y in range(size) if not min(records) <= y <= max(records))


print("|X| = 9, ε = 24.3, δ = 0.99, β = 1/2, one record 4")
print("log*|X| =", log_star(9), f"  4·log*|X|/(βεδ) = {12 / (0.5 * 24.3 * 0.99):.6f}")
print(f"printed n ≥ {printed_n(9, 24.3, 0.99, 0.5):.2f}, which one record satisfies")
print(f"ε/(4·log*|X|) = {24.3 / 12:.4f}, weights: e^2.0250 = {exp(24.3 / 12):.6f} for the record, 1 for 8 other points")
print(f"Pr[not an interior point] = 8/(8 + {exp(24.3 / 12):.6f}) = {misses([4], 9, 24.3):.6f}, allowed β = 0.5")
print(f"e² = {e**2:.4f}; |X| = 8 instead: {misses([4], 8, 24.3):.6f}")
print(f"|X| = 32, ε = 36.5, δ = 0.99, β = 0.45: n ≥ {printed_n(32, 36.5, 0.99, 0.45):.1f}, "
      f"misses {misses([4], 32, 36.5):.6f}")
print(f"|X| = 16, ε = 14.9, δ = 0.999, β = 0.81: n ≥ {printed_n(16, 14.9, 0.999, 0.81):.1f}, "
      f"misses {misses([4], 16, 14.9):.6f}")
least = min((4 * log_star(m) / b, m, b) for m in range(2, 33) for b in (i / 1000 for i in range(20, 1000))
            if (m - 1) / (m - 1 + exp(1 / b)) > b)
print(f"least ε = 4·log*|X|/β (δ near 1) at which one record refutes it: {least[0]:.2f}, at |X| = {least[1]}")
print(f"\n18500/4624 = {18500 / 4624:.4f}")
print("log*|X|  (16·log*|X|/3)^(1/3): proved for βεδ up to here    the number is 0 at βεδ =")
for s in range(1, 6):
    print(f"{s:<8} {(16 * s / 3) ** (1 / 3):.4f}  {'':<42} {4 * s}")
print(f"|X| ≤ 32, β = 1/2: proved up to 4·log*|X|·(β/31)^(1/4625) = 4·log*|X|·{(1 / 62) ** (1 / 4625):.4f}")

print("\none record 4 of |X| = 9, δ = 0.99, β = 1/2: ε, printed n, Pr[not an interior point]")
for base, name, epsilons in ((2, "log* to base 2", (10, 24.2, 24.3)), (e, "natural log*", (8, 16.1, 16.2))):
    for epsilon in epsilons:
        print(f"{name:<15} ε = {epsilon:<5} n ≥ {printed_n(9, epsilon, 0.99, 0.5, base):>10.1f}   "
              f"{misses([4], 9, epsilon, base):.6f}")
print("relation: none, a utility claim")
