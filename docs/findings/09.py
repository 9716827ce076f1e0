"""Finding 9: an interior point of D′ need not be a good threshold. Python's standard library alone."""

from itertools import combinations_with_replacement, product
from math import ceil, exp, log, log2


def reduced(D, n, low, high, zeros_down=0, pads=None):
    """D′: the largest n/2 elements of label 1 and the smallest n/2 of label 0, padded with min X and max X."""
    pad_ones, pad_zeros = pads or (low, high)
    ones = sorted((x for x, y in D if y == 1), reverse=True)[: n // 2]
    zeros = [max(low, x - zeros_down) for x in sorted(x for x, y in D if y == 0)[: n // 2]]
    return ones + [pad_ones] * (n // 2 - len(ones)) + zeros + [pad_zeros] * (n // 2 - len(zeros))


def median(S, X, epsilon):
    """An ε-DP interior-point algorithm: Pr[y] ∝ exp((ε/2)·min(#{x_i ≥ y}, #{x_i ≤ y}))."""
    weights = {y: exp(epsilon / 2 * min(sum(x >= y for x in S), sum(x <= y for x in S))) for y in X}
    return {y: w / sum(weights.values()) for y, w in weights.items()}


def errors(z, D):
    """How many examples c_z labels wrongly, where c_z(x) = 1 iff x ≤ z (Definition 3.9)."""
    return sum((x <= z) != y for x, y in D)


def success(D, n, alpha, X, epsilon, **reading):
    """Pr[error of c_z on D ≤ α], z the output of the algorithm on D′."""
    p = median(reduced(D, n, X[0], X[-1], **reading), X, epsilon)
    return sum(p[z] for z in X if errors(z, D) <= alpha * len(D) + 1e-9)


X, D = (1, 2), [(2, 0), (2, 0)]
inner = max(1 - sum(p for y, p in median(S, X, 1).items() if min(S) <= y <= max(S)) for S in product(X, X))
print("X = {1, 2}, D = {(2,0)×2}, n = 2, α = 1/2, ε = 1:  D′ =", reduced(D, 2, 1, 2))
print("errors of c_1 and c_2 on D:", [errors(z, D) for z in X], "of 2")
print("output of the algorithm on D′:", {y: round(p, 6) for y, p in median(reduced(D, 2, 1, 2), X, 1).items()})
print(f"error of the algorithm on its worst dataset of two records, 1/(1 + e): {inner:.6f}")
print(f"success: {success(D, 2, 0.5, X, 1):.6f}; guaranteed: {1 - inner:.6f}; corrected: "
      f"{success(D, 2, 0.5, X, 1, zeros_down=1):.6f}")
print("\nn      success   inner error 1/(1 + e^{n/2})   on {(2,0)×n}, α = 1/2, ε = 1")
for n in (2, 4, 6):
    print(f"{n}      {success([(2, 0)] * n, n, 0.5, X, 1):.6f}  {1 / (1 + exp(n / 2)):.6f}")
print("\n|X| = 64, n = 60, α = 0.1, ε = 1, m examples (2,0): Theorem 7.21(1) at β = 2e-5 in both logarithms")
for name, m in (("n/(2α)", 300), ("4·log2(2/β)/α", ceil(40 * log2(1e5))), ("4·ln(2/β)/α", ceil(40 * log(1e5)))):
    print(f"{name:<13} m = {m}: success {success([(2, 0)] * m, 60, 0.1, range(1, 65), 1):.6f}")
print("\nevery dataset of 4 examples of {1, …, 4} that a threshold labels: does every interior point of D′ do?")
for n, down in product((2, 4), (0, 1)):
    good = ties = 0
    for xs, j in product(combinations_with_replacement(range(1, 5), 4), range(1, 5)):
        S = reduced(D4 := [(x, int(x <= j)) for x in xs], n, 1, 4, down)
        zeros = sorted(x for x, y in D4 if y == 0)
        fine = all(errors(z, D4) <= n // 2 for z in range(min(S), max(S) + 1))
        good += fine
        ties += fine == (len(zeros) < n // 2 or sum(x <= zeros[n // 2 - 1] for x in zeros) <= n // 2)
    condition = "" if down else f"; the condition of the page is right on {ties}"
    print(f"n = {n}, {'(x,0) as x - 1' if down else 'as printed'}: {good} of 140{condition}")
print("\nrelation: none, a utility claim; logarithm: only in the sample size of Theorem 7.21(1), above")
print(f"{{(2,0)×2}}: pads min X for label 1 and max X for label 0, printed  {success(D, 2, 0.5, X, 1):.6f}")
print(f"           pads exchanged                                         {success(D, 2, 0.5, X, 1, pads=(2, 1)):.6f}")
print("           an algorithm that returns max D′, of error 0           0 (c_2)")
