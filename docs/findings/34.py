"""Finding 34: the lower bound of Theorem 5.18 and two complementary concepts. Python's standard library alone."""

from fractions import Fraction as F
from math import ceil, comb, e, exp, log

LOST = log(8 * log(4))


def chosen(epsilon, n):
    """How often the exponential mechanism over {0, 1} on one point is right: n examples vote for the target."""
    return exp(epsilon * n / 2) / (exp(epsilon * n / 2) + 1)


def enough(epsilon, beta):
    """The least n with success ≥ 1 − β. α is nowhere in it: errors are 0 or 1."""
    return next(n for n in range(10**6) if chosen(epsilon, n) >= 1 - beta)


def most(epsilon, alpha, n):
    """What two concepts that agree on y and not on x allow, D(x) = 2α: E[min(1, e^{εk}/2)], k of n examples at x."""
    a, total = F(2 * alpha), 0.0
    for k in range(n + 1):
        total += float(comb(n, k) * a**k * (1 - a) ** (n - k)) * min(1.0, exp(epsilon * k) / 2)
    return total


print(f"ln(8·ln 4) = {LOST:.4f}, ln 11 = {log(11):.4f}, ln 12 = {log(12):.4f}; RepDim of {{0, 1}}: ln 2 = {log(2):.4f}")
print(f"ε = 1, β = 1/20: n = {enough(1, 1 / 20)} examples, success 1/(1 + e^-3) = {chosen(1, 6):.6f}")
print("α       RepDim/(αε)   divided by n")
for alpha in (F(1, 4), F(1, 1000), F(1, 10**6)):
    need = log(2) / float(alpha)
    print(f"{float(alpha):<7g} {need:<13.1f} {need / enough(1, 1 / 20):.1f}")
print("the least n: ", ", ".join(f"ε = {eps:g}, β = {b}: {enough(eps, float(b))}"
                                 for eps in (0.1, 1, 10) for b in (F(1, 2), F(1, 4), F(1, 20))))
low, high = ((log(K) - LOST) / 8 for K in (11, 12))
print(f"printed n·αε at RepDim = ln 11: {low:.6f}; at ln 12: {high:.6f}, a share of RepDim {high / log(12):.6f}")

print("\ncorrected: two concepts that agree somewhere, β = 1/4: the least n that D(x) = 2α allows, times αε")
for eps in (F(1, 10), F(1), F(4)):
    row = []
    for alpha in (F(1, 4), F(1, 20), F(1, 100)):
        n = next(n for n in range(2000) if most(float(eps), alpha, n) >= 0.75)
        proved = log(1.5) / (3.44 * float(alpha * eps)) if eps <= 1 else log(2) / (2.78 * float(alpha))
        assert n >= ceil(proved)
        row.append(f"α = {float(alpha):g}: n ≥ {n}, {float(n * alpha * eps):.4f} (proved: {proved:.2f})")
    print(f"  ε = {float(eps):g}  ", "; ".join(row))
print(f"constants: e − 1 = {e - 1:.4f} ≤ 1.72; −ln(1 − a)/a ≤ 2·ln 2 = {2 * log(2):.4f} ≤ 1.39 for a ≤ 1/2")

print("\nreadings")
print(f"  α fixed: true for β < 1/2: n ≥ ln((1 − β)/β)/ε, {log(19):.4f}/ε at β = 1/20; false at β = 1/2 (n = 0)")
print("  relation: the mechanism is ε-DP under both; logarithm: a factor; tilde: powers of ln(1/α), and not 1/α")
