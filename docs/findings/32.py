"""Finding 32: the last step of the proof of Theorem 4.3. Python's standard library alone."""

from fractions import Fraction as F
from math import ceil, exp, expm1, floor, log

EPSILON, DELTA, K = F("0.1"), F("0.02"), 1


def far(epsilon, delta):
    """1 - (1 - δ/ε)^⌊ε/δ⌋: Pr[some of the T sub-databases has a predicate off by 10ε] is at least this."""
    return 1 - (1 - delta / epsilon) ** floor(epsilon / delta)


def left(epsilon, some, loss):
    """E[h*(S_t*) - h*(D)] ≥ 10ε·some - (2/(εn))·log(2Tk), by Markov's inequality and Claim 4.4."""
    return 10 * epsilon * some - loss


def right(epsilon, t_delta):
    """Lemma 4.2 for B, which is (2ε, δ)-DP on T sub-databases."""
    return expm1(2 * epsilon) + t_delta


n = ceil(log(2 * EPSILON * K / DELTA) / EPSILON**2)
T = floor(EPSILON / DELTA)
loss = 2 / (float(EPSILON) * n) * log(2 * T * K)
print(f"ε = {float(EPSILON)}, δ = {float(DELTA)}, k = {K}: T = {T}, ln(2εk/δ) = {log(10):.6f}, n = {n}")
print(f"(2/(εn))·ln(2Tk) = {loss:.6f}; as printed 2ε = {float(2 * EPSILON)}")
low, high = left(0.1, 0.5, loss), right(0.1, T * float(DELTA))
print(f"proof: at least 5ε - that = {low:.6f}; Lemma 4.2: at most e^2ε - 1 + Tδ = {high:.6f}: no contradiction")
some = float(far(EPSILON, DELTA))
print(f"with 1 - (1 - δ/ε)^T = 1 - 0.8^5 = {some:.5f}: at least {left(0.1, some, loss):.6f}: a contradiction")
print("\nδ < ε/4: the least 1 - (1 - δ/ε)^⌊ε/δ⌋ for ⌊ε/δ⌋ = 4, 5, …, is at δ/ε → 1/(⌊ε/δ⌋ + 1):")
print("  ", ", ".join(f"{1 - (N / (N + 1)) ** N:.6f}" for N in (4, 5, 6, 100)), "→ 1 - 1/e =", f"{1 - exp(-1):.6f}")
print("   smallest on a grid of 100,000 values of δ/ε in (0, 1/4):",
      f"{min(1 - (1 - x) ** floor(1 / x) for x in (i / 400_000 for i in range(1, 100_000))):.4f}")
print("\nn as printed, ε/δ whole:     printed 1/2                 corrected 1 - (4/5)^4 = 0.5904")
print("ε      right side   ln: 3ε     log2 in n: 3.6137ε    ln: 3.904ε   log2 in n: 4.5177ε")
for epsilon in (0.01, 0.05, 0.1, 0.2, 0.25, 0.26, 0.3, 1 / 3):
    cells = [left(epsilon, p, 2 * epsilon * unit) for p in (0.5, 0.5904) for unit in (1, log(2))]
    marks = [f"{value:.6f} {'>' if value > right(epsilon, epsilon) else '<'}" for value in cells]
    print(f"{epsilon:<6.4g} {right(epsilon, epsilon):<12.6f} {marks[0]} {marks[1]:<21} {marks[2]:<12} {marks[3]}")
a, b = 0.1, 0.3  # where 5ε - 2ε·ln 2 = e^2ε - 1 + ε
while b - a > 1e-9:
    middle = (a + b) / 2
    a, b = (middle, b) if left(middle, 0.5, 2 * middle * log(2)) > right(middle, middle) else (a, middle)
print(f"log to base 2 in n, natural in Claim 4.4: the printed step holds up to ε = {a:.4f}; base 2 in both: as ln, 3ε")
print(f"what the printed step proves: c·ε for c > 2((e^2ε - 1)/ε + 3): {2 * (expm1(0.2) / 0.1 + 3):.3f} for ε ≤ 0.1, "
      f"{2 * (expm1(2 / 3) * 3 + 3):.3f} for ε < 1/3")
print(f"with 0.5904: {(expm1(0.2) / 0.1 + 3) / 0.5904:.3f} for ε ≤ 0.1, "
      f"{(expm1(2 / 3) * 3 + 3) / 0.5904:.3f} for ε < 1/3")
print(f"by hand: e^0.2 - 1 = {expm1(0.2):.6f}, e^(2/3) = {exp(2 / 3):.4f}, (4/5)^4 = {0.8**4:.4f}, "
      f"10·0.5904 = {5.904}, 5.904 - 2 = {5.904 - 2:.3f}, 3.904 - 1 = {3.904 - 1:.3f}")
print("relation: replace-one (Definition 3.1); A takes n records, so that add or remove one does not apply")
