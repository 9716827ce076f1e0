"""Finding 8: the sample size of LearnThresholds at large ε. Python's standard library alone."""

from math import ceil, comb, exp, log, log2


def printed_n(size, alpha, beta, epsilon, delta, logarithm=log2):
    """8^N·(72N/(αε))·(log(12N/(βδ)) + log|X|) at N = 1, before it is rounded up."""
    return 8 * 72 / (alpha * epsilon) * (logarithm(12 / (beta * delta)) + logarithm(size))


def wrong(epsilon, right):
    """LearnThresholds at N = 1: the exponential mechanism at ε̂ = ε/3 on the numbers of right labels.

    Pr[an index other than the first of `right`], whose concept is the target.
    """
    weights = [exp(max(-700.0, epsilon / 6 * (q - max(right)))) for q in right]
    return sum(weights[1:]) / sum(weights)


def two_points(n, p, epsilon):
    """X = {0, 1}, target c_0, D(1) = p > α: Pr[c_1], which errs on 1. With k examples (1, 0) it is right on n − k."""
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) * wrong(epsilon, (n, n - k)) for k in range(n + 1))


def three_points(n, p, epsilon):
    """X = {0, 1, 2}, target c_1, D(1) = D(2) = p > α: c_0 errs on 1, and c_2 on 2."""
    return sum(comb(n, i) * comb(n - i, j) * p ** (i + j) * (1 - 2 * p) ** (n - i - j)
               * wrong(epsilon, (n, n - i, n - j)) for i in range(n + 1) for j in range(n - i + 1))


print("X = {0, 1}, N = log*|X| = 1, α = 1/2, β = 0.2, δ = 1/2, ε = 10,000; target c_0, D(0) = 0.49, D(1) = 0.51")
print(f"log2(12/(βδ)) = log2(120) = {log2(120):.4f}, log2|X| = 1, 8·72/(αε) = {8 * 72 / 5000:.4f}")
print(f"printed n ≥ {printed_n(2, 0.5, 0.2, 1e4, 0.5):.4f}, so one example")
print(f"(0, 1), probability 0.49: both concepts right, c_1 with probability {wrong(1e4, (1, 1)):.6f}")
print(f"(1, 0), probability 0.51: only c_0 right,     c_1 with probability {wrong(1e4, (1, 0)):.6f}")
print(f"Pr[error > α] = {two_points(1, 0.51, 1e4):.6f}, allowed β = 0.2")
print(f"least β that one example affords by the formula: {24 * 2 ** (1 - 5000 / 576):.6f}")
print(f"least ε with a printed n ≤ 1: {1152 * (log2(120) + 1):.0f}")
need = ceil(8 / 0.5 * log(4 / 0.2))
print(f"corrected: (8/α)·ln(4/β) = {16 * log(20):.2f}, so {need} examples: Pr[error > α] = "
      f"{two_points(need, 0.51, 1e4):.1e}")
print(f"\nN = 1: proved for ε ≤ 9·8/ln 2 = {72 / log(2):.2f} (natural logarithm: 72), "
      f"refuted for ε > 72·8/ln 2 = {576 / log(2):.2f} (576)")
print("\nfurther cases at N = 1: printed n with log to base 2 and natural, Pr[error > α] with as many examples")
for name, size, p, alpha, beta, epsilon, delta in (
    ("two points", 2, 0.51, 0.5, 0.2, 1e4, 0.5), ("two points", 2, 0.101, 0.1, 0.05, 1e4, 1e-6),
    ("three points", 3, 0.1001, 0.1, 0.05, 2200, 0.5), ("three points", 3, 0.1001, 0.1, 1e-6, 1200, 0.5),
    ("two points", 2, 0.101, 0.1, 0.05, 72, 0.5),
):
    cells = []
    for logarithm in (log2, log):
        n = ceil(printed_n(size, alpha, beta, epsilon, delta, logarithm))
        failure = (two_points if size == 2 else three_points)(n, p, epsilon)
        cells.append(f"n = {n:<4} {failure:.6g}")
    print(f"{name:<12} α = {alpha}, β = {beta}, ε = {epsilon:g}, δ = {delta}: {cells[0]:<22} | {cells[1]}")
print("relation: none, a utility claim")
