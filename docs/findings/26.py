"""Finding 26: an α is missing in Pr[E_3] ≥ 1 - |H|·e^(-εn/2). Python's standard library alone."""

from fractions import Fraction
from math import exp, floor

ALPHA = Fraction(1, 20)


def e3(n, wrong, epsilon, alpha=ALPHA):
    """Pr[E_3] for H = {f, g}: f right on all n examples, g wrong on `wrong`; exponential mechanism on n - errors."""
    g = exp(-epsilon * wrong / 2) / (1 + exp(-epsilon * wrong / 2))
    return 1.0 if wrong <= alpha * n else 1 - g


def printed(n, epsilon, size=2):
    return 1 - size * exp(-epsilon * n / 2)


def corrected(n, epsilon, size=2, alpha=ALPHA):
    return 1 - size * exp(-float(alpha) * epsilon * n / 2)


def smallest(epsilon, alpha=ALPHA):
    """The least n at which some number of errors refutes the printed bound: the fewest above αn are the worst."""
    n = 1
    while e3(n, floor(alpha * n) + 1, epsilon, alpha) >= printed(n, epsilon):
        n += 1
    return n, floor(alpha * n) + 1


print(f"α = {float(ALPHA)}, H = two thresholds, E_3: errors of the output ≤ αn + errors of the best")
print("ε    n    αn    wrong   Pr[E_3]     1 - |H|e^(-εn/2)   1 - |H|e^(-αεn/2), or 0")
for epsilon, n, wrong in ((1, 3, 1), (1, 4, 1), (1, 40, 3)):
    last = max(0.0, corrected(n, epsilon))
    print(f"{epsilon:<4} {n:<4} {float(ALPHA * n):<5} {wrong:<7} {e3(n, wrong, epsilon):.7f}   "
          f"{printed(n, epsilon):.10f}       {last:.6f}")
print(f"by hand, n = 4: e^(1/2) = {exp(0.5):.6f}, 1/(1 + that) = {1 / (1 + exp(0.5)):.6f}, 2e^-2 = {2 * exp(-2):.6f}")
print(f"by hand, n = 40: e^(3/2) = {exp(1.5):.6f}, 2e^-20 = {2 * exp(-20):.3g}, 2e^-1 = {2 * exp(-1):.6f}")
print("\nfewest examples that refute it, for every ε there are some:")
for epsilon in (0.01, 0.1, 0.5, 1, 2, 3, 10):
    n, wrong = smallest(epsilon)
    print(f"  ε = {epsilon:<5} n = {n:<4} wrong {wrong}: {e3(n, wrong, epsilon):.7f} < {printed(n, epsilon):.7f}")
print("\nnever below the corrected bound, α = 0.05, n ≤ 400, any number of errors, ε in 0.01, 0.1, 1, 10:",
      all(e3(n, w, e) >= corrected(n, e) for e in (0.01, 0.1, 1, 10) for n in range(1, 401) for w in range(n + 1)))
print("\nreadings")
print("  E_3 with < for ≤: the same here, as the errors, 1 of 4 and 3 of 40, are above αn")
print("  relation: none, a utility claim; logarithm: none occurs in this bound")
