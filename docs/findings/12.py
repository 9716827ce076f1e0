"""Finding 12: where Theorem 3.18 is false, and where it is proved. Python's standard library alone."""

from fractions import Fraction as F
from math import exp, floor, lgamma, log, sqrt

GHOSTS, CUT, RATIO = 5, 60, 12.2  # proof B: n′ = 5n ghosts; d ≤ 60 case by case; n/d ≤ 12.2, beyond that proof A


def formula(d, alpha, beta):
    """The printed (50·VC/α²)·ln(1/(αβ))."""
    return 50 * d / alpha**2 * log(1 / (alpha * beta))


def least_alpha(r, product):
    """The least α with α > e^{−rα²/50} (β < 1) and e^{−rα²/50} ≤ product, where n = rd; less 1e-9, for rounding."""
    low, high = 0.5, 1.0
    while high - low > 1e-12:
        a = (low + high) / 2
        low, high = (low, a) if a > exp(-r * a * a / 50) else (a, high)
    return max(low, sqrt(min(1, -50 * log(product) / r))) - 1e-9


def log_binomial(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def margin(n, d, product):
    """ln(e^{−n/(50d)} / (α^{−n′}·Σ_{i ≤ d} C(N, i)·C(n, i₀)/C(N, i₀))); where it is positive, proof B holds at n, d."""
    alpha, N = least_alpha(n / d, product), (GHOSTS + 1) * n
    least, term, patterns = min(n, floor(n * alpha) + 1), 1.0, 1.0
    for i in range(d):
        term *= (N - i) / (i + 1)
        patterns += term
    return log(alpha) * GHOSTS * n - log(patterns) - log_binomial(n, least) + log_binomial(N, least) - n / (50 * d)


def margin_beyond(r, product, step=0.002):
    """The same for every d > 60 and every n/d in [r, r + step]: binomials are e^{nh(k/n)}, but for a factor N + 1."""
    h = lambda p: -p * log(p) - (1 - p) * log(1 - p)  # noqa: E731
    k, r2, d, a = GHOSTS + 1, r + step, CUT + 1, least_alpha(r + step, product)
    slack = r * (k * h(a / k) - h(a) + GHOSTS * log(a)) - k * r2 * h(1 / (k * r2))
    return min(d * slack - log(k * r2 * d + 1) - r2 / 50, d * slack - 1)


print("1. one concept, VC = 0, α = 0.1, β = 0.05: formula", formula(0, 0.1, 0.05), "error 0 or 1, true 1/2")
a, apart = F(992, 1000), 1 - F(1, 126)
print(f"2. points, |X| = 126, α = β = 0.992, αβ = {float(a * a)}: formula {formula(1, 0.992, 0.992):.6f}, n = 1")
print(f"   errors of c_x: 1 and 1/126, {float(apart):.6f} apart, over α: {apart > a}; |X| = 125: {1 - F(1, 125) > a}")
print(f"β < 1 and αβ ≥ e^(-α²/50) need α > {least_alpha(1, 1):.5f}, and αβ > {exp(-1 / 50):.6f}")
value = log(8) + 4 + log(8.6) - 0.96 * 8.6
print(f"proof A, ln 4 + 4 + ln 2 + ln s - 0.96·s at s = 8.6: {value:.4f}; e^(-s/50) = {exp(-0.172):.6f}")
for product, top in ((1, 12), (0.976, CUT)):
    all_n = [(n, d) for d in range(1, top + 1) for n in range(d + 1, int(RATIO * d) + 1)]
    w = min((margin(n, d, product), n, d) for n, d in all_n if n / d >= -50 * log(product))
    print(f"proof B, αβ ≤ {product}, VC = 1, …, {top}: least margin {w[0]:.4f} (n = {w[1]}, VC = {w[2]})")
r = -50 * log(0.976)
w = min(margin_beyond(r + i / 500, 0.976) for i in range(5500))
print(f"proof B, αβ ≤ 0.976, VC > {CUT}: least margin {w:.4f}")
print("relation: none, no privacy; logarithm: ln is printed; n ≥ 1 or n ≥ 0: the same; VC = 0 excluded: case 2 remains")
