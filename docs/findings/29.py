"""Finding 29: the size in the last line of the proof of Lemma 5.15. Python's standard library alone."""

from fractions import Fraction
from math import ceil, e, exp, floor, log, sqrt

LN4 = log(4)


def executions(x):
    """4·ln(4)·e^{8αεn} on zeros of either label, x = αεn."""
    return 4 * LN4 * exp(8 * x)


def distinct_at_most(draws, outcomes, most):
    """Pr[`draws` uniform draws from `outcomes` values have at most so many different ones]."""
    chances = [Fraction(1)] + [Fraction(0)] * draws
    for _ in range(draws):
        chances = [Fraction(0)] + [
            chances[d] * Fraction(d, outcomes) + chances[d - 1] * Fraction(outcomes - d + 1, outcomes)
            for d in range(1, draws + 1)
        ]
    return float(sum(chances[: most + 1]))


def corrected(alpha, n, epsilon):
    """⌈2·ln(4)·e^y⌉ executions on zeros of either label, y = ε·(4αn + 2√(αn)): how many, and Pr[all miss] at most."""
    y = epsilon * (4 * alpha * n + 2 * sqrt(alpha * n))
    times = ceil(2 * LN4 * exp(y))
    return y, times, (1 - exp(-y) / 2) ** times


print(f"ln(8·ln 4) = {log(8 * LN4):.4f}, 3 - ln(8·ln 4) = {3 - log(8 * LN4):.4f}: the last line needs 7αεn ≤ that")
least = 3 * LN4 / 4
start = (3 - log(8 * LN4)) / (7 * least)
print(f"the proof takes αn ≥ 3·ln(4)/4 = {least:.4f}: false for all n from ε = {start:.4f} on")
alpha, n, epsilon = 0.25, 5, 0.1
x = alpha * n * epsilon
print(f"\nα = {alpha}, n = {n} (at least {ceil(least / alpha)}), ε = {epsilon}: αεn = {x}, 8αεn = {8 * x}")
print(f"executions of either kind 4·ln(4)·e = {4 * LN4 * e:.4f}, both 8·ln(4)·e = {8 * LN4 * e:.4f}")
print(f"ln(8·ln 4) + 8αεn = {log(8 * LN4) + 8 * x:.4f} > nεα + 3 = {x + 3}; e^(nεα + 3) = {exp(x + 3):.4f}")
print("\nreadings of a number of executions that is not whole; learner: one of 1,000 hypotheses, uniformly")
for name, number in (("rounded up", 2 * ceil(executions(x))), ("rounded down", 2 * floor(executions(x))),
                     ("both together, rounded down", floor(2 * executions(x)))):
    few = distinct_at_most(number, 1000, floor(exp(x + 3)))
    print(f"  {name:<28} {number} executions; at most 22 different hypotheses with probability {few:.2g}")
print("  relation: replace-one, of the learner; the claim is one of size; logarithm: natural (Definition 5.3)")
y, times, miss = corrected(alpha, n, epsilon)
print(f"\nsmaller: ε(4αn + 2√(αn)) = {y:.4f}, 2·ln(4)·e^y = {2 * LN4 * exp(y):.4f}, so 2·{times} executions,"
      f" which all miss with probability ≤ {miss:.4f}")
print(f"e^3 = {exp(3):.4f}, 4·ln 4 = {4 * LN4:.4f}, ln((e^3 - 2)/(4·ln 4)) = {log((exp(3) - 2) / (4 * LN4)):.4f}")
print("α      n      ε      nεα     printed size  smaller size  nεα + 3")
small = [(0.25, 5, epsilon) for epsilon in (0.01, 0.1, 0.2, 0.3, 0.5)]
for alpha, n, epsilon in (*small, (0.01, 3000, 0.01)):
    x, times = alpha * n * epsilon, corrected(alpha, n, epsilon)[1]
    print(f"{alpha:<6} {n:<6} {epsilon:<6} {x:.4f}  {log(8 * LN4) + 8 * x:<13.4f} {log(2 * times):<13.4f} {x + 3:.4f}")
