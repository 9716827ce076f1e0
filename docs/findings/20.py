"""Finding 20: in A_HighH one example changes which angles are kept, and φ*. numpy alone."""

from itertools import islice, product
from math import asin, cos, degrees, exp, gcd, log, log2, pi

import numpy as np

EPSILON, DELTA, PRIME = 0.9, 0.01, 0.005  # PRIME: δ′


def gammas(k):
    """γ as in Lemma 11 for {−k, …, k}: its bound, or the minimum angle of two vectors of the plane, of space."""
    yield "sin γ = 1/(2k²)", asin(1 / (2 * k * k))
    for d, name in ((2, "minimum, plane"), (3, "minimum, space")):
        V = np.array([v for v in product(range(-k, k + 1), repeat=d) if gcd(*v) == 1])
        dot, long = V @ V.T, (V * V).sum(1)
        cross = np.sqrt(np.outer(long, long) - dot * dot)
        yield name, float(np.arctan2(cross, dot)[cross > 0].min())


def best(gamma, y):  # the places j with the largest Q(S, jγ), for S = {((1, 0, 0), y)}, or no example where y = 0
    return [j for j in range(int(2 * pi / gamma + 1e-9) + 1) if not y or (cos(j * gamma) >= -1e-9) == (y == 1)]


def learner(copies, star, share):
    """A_Thr on copies of the angles, label 1 up to star and −1 after: Pr[u] ∝ e^{−share·wrong(u)/2}."""
    wrong = np.array([sum(copies[u + 1 : star + 1]) + sum(copies[star + 1 : u + 1]) for u in range(len(copies))])
    return np.exp(-share / 2 * wrong) / np.exp(-share / 2 * wrong).sum()


def bounds(gamma, e, C):
    """With a coin for A_Thr, Pr[φ*_1 is the angle before the last]: at most without the example, at least with it."""
    N, M, r = len(best(gamma, 0)), len(best(gamma, -1)), exp(-e)
    return r ** (C // 2) / 2 + r ** (N - C), (1 - r ** (M - C + 1)) / N


def needed(P, Q):  # the least ε′ for which P and Q are (ε′, δ)-close
    sums = [(np.cumsum(A[o]) - DELTA, np.cumsum(B[o])) for A, B in ((P, Q), (Q, P)) for o in [np.argsort(B / A)]]
    return max(log(a / b) for over, under in sums for a, b in zip(over, under, strict=True) if a > 0)


for k, index, e, C, delta in ((4, 0, 0.9, 90, 1e-3), (5, 1, 0.9, 90, 1e-3), (5, 2, 0.9, 90, 1e-3),
                              (9, 0, 0.9 / log2(1 / 2.5e-4), 400, 5e-4), (9, 0, 0.9 / log(1 / 2.5e-4), 400, 5e-4)):
    name, gamma = next(islice(gammas(k), index, None))
    kept, (low, high) = best(gamma, -1), bounds(gamma, e, C)
    print(f"k = {k}, {name} {degrees(gamma):.4f}°, {len(best(gamma, 0))} angles, Q = 1 at {kept[0]}, …, {kept[-1]}; ε "
          f"of the parts {e:.4f}, δ = {delta:g}: ≤ {low:.1e}, ≥ {high:.5f}: ε ≥ {log((high - delta) / low) - 5e-2:.1f}")
print("\nall kept (n_Thr = 10⁶), no anchor: places of φ* on ∅, on ((1, 0, 0), 1), on ((1, 0, 0), −1)")
for k, base, share in ((1, "none", EPSILON), (4, "2", EPSILON / log2(1 / PRIME)), (4, "e", EPSILON / log(1 / PRIME))):
    r = exp(-share / 2)
    print(f"k = {k}, ε_T = {share:.6f} (logarithm: {base}), r = {r:.6f}, 1 - r = {1 - r:.4f}")
    for name, gamma in gammas(k):
        none, one, other = (best(gamma, y) for y in (0, -1, 1))
        n, m = len(none), none[-1] - one[-1]
        low, high = (1 - r) / (1 - r**n), r**m * (1 - r) / (1 - r ** (m + 1))
        P, Q = ([learner([1] * n, j, share) for j in some] for some in (none, one))
        print(f"  {name:15} {degrees(gamma):5.2f}°: {none[-1]}, {other[-1]}, {one[-1]}; Pr ≥ {low:.4f}, ≤ {high:.4f},"
              f" allowed {exp(EPSILON) * high + DELTA:.4f}: ε ≥ {log((low - DELTA) / high) - 5e-5:.4f}\n    one copy:"
              f" {P[-1][-1]:.4f}, {Q[-1][-1]:.4f}; ε needed, φ* the last {needed(P[-1], Q[-1]):.4f}, the least"
              f" {needed(P[0], Q[0]):.4f}, random {needed(np.mean(P, 0), np.mean(Q, 0)):.4f}")
