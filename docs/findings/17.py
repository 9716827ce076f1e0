"""Finding 17: A_SimpleH as printed, exactly, with MakeData's noise. Needs numpy. A point is its angle, in degrees."""
from functools import cache
from itertools import product
from math import asin, atan, cos, degrees, exp, log, sin

import numpy as np

NODES, WEIGHTS = ((v + shift) / 2 for v, shift in zip(np.polynomial.legendre.leggauss(60), (1, 0), strict=True))
KINDS = [(turns, shifts) for turns in ((0,), (90,), (90, -90)) for shifts in ((0,), (0, 360, -360))]  # the six φ(x)
@cache
def copies(n, e, taken=0):
    """Algorithm 1: Pr[max(⌈n + Lap(1/ε)⌉, 1) = taken + j], j = 0, 1, …; Σ Pr·s^j and its derivative at s = NODES."""
    below = [0, 0] + [1 - exp(-e * z) / 2 if z >= 0 else exp(e * z) / 2 for z in range(1 - n, 101 - n)]
    law, j = np.diff(below)[taken:], np.arange(101 - taken)
    return law, law @ NODES ** j[:, None], law[1:] * j[1:] @ NODES ** j[:-1, None]

def choices(order, n, e, C, p=1.0, kept=()):
    """Algorithm 2: Pr, max_C(S_H) as (angle, copies), and φ′, one of the t elements left; 1/t is ∫ s^(t - 1) ds."""
    i, *rest = order
    for m in range(1, C):  # m copies of the angle i, and C - m of the next ones; below, C copies or more of i
        yield from choices(rest, n, e, C - m, p * copies(n[i], e)[0][m], (*kept, (i, m)))
    left = {i: copies(n[i], e, C)} | {a: copies(n[a], e) for a in rest}
    every = p * WEIGHTS * np.prod([mean for _, mean, _ in left.values()], axis=0)
    yield from ((slope / mean @ every, (*kept, (i, C)), a) for a, (_, mean, slope) in left.items())
@cache
def a_thr(sample, e, thresholds):  # the exponential mechanism by the examples labelled correctly; a coin for e = 0
    return (w := np.exp([e / 2 * sum(m for at, y, m in sample if (at <= u) == y) for u in thresholds])) / w.sum()
def needed(k, S, x, gamma, e, C, step=1, pick="largest before", back=True, kind=KINDS[0], own=None):
    """Algorithm 3 on S and on S + (x, −1), its output as a map h_φ* on {−k, …, k}²: ε at δ = 0, δ at ε = 0.9."""
    laws, own = np.zeros((2, N := int(360 / gamma + 1e-9) + 1)), e if own is None else own
    for law, D in zip(laws, (S, [*S, (x, -1)]), strict=True):
        right = [[(abs((i * gamma - z + 180) % 360 - 180) <= 90) == (y == 1) for z, y in D] for i in range(N)]
        q = [sum(row) for row in right]
        n = [sum(ok and any(abs(i * gamma - (z + t) % 360 - s) < gamma for t in kind[0] for s in kind[1])
                 for ok, (z, _) in zip(right[i], D, strict=True)) for i in range(N)]
        for p, kept, anchor in choices(sorted(range(N), key=lambda i: (-q[i], -i)), n, e, C):
            at = {i: (i - anchor) % N for i, _ in kept}  # rotated
            best = {i: at[i] if "after" in pick else i for i in at if q[i] == max(q)}
            star = at[(max if "largest" in pick else min)(best, key=best.get)]  # φ*
            sample = tuple((at[i], at[i] <= star, m) for i, m in kept)
            law[(np.arange(0, N, step) + anchor * back) % N] += p * a_thr(sample, own, range(0, N, step))
    square = [*product(range(-k, k + 1), repeat=2)]
    maps = [tuple(a * cos(to) + b * sin(to) > -1e-9 for a, b in square) for to in np.radians(gamma * np.arange(N))]
    P, Q = laws @ np.array([[f == g for g in dict.fromkeys(maps)] for f in maps])
    return np.abs(np.log(P / Q)).max(), max((P - exp(0.9) * Q).clip(0).sum(), (Q - exp(0.9) * P).clip(0).sum())
r, least, fine = exp(-0.9), (degrees(atan(1 / 3)), 20), (degrees(asin(1 / 8)), 51)
most, halves = r**9 * (3 - 2.25 * r), needed(2, [], 45, least[0], 0.45, 10, 19, own=0)[0]
print(f"r = {r:.6f}, r^9·(3 - 2.25r) = {most:.8f}; a coin, ε/2 in both parts: {halves:.6f}")
for A, own, top, (gamma, N) in ("coin", 0, r**5 / 2, least), ("exp.", 0.9, most, least), ("exp.", 0.9, most, fine):
    print(f"A_Thr {A} γ = {gamma:.4f}°, N = {N}: angle a ε ≥ {log(1 / N / top) - 5e-5:.4f}, δ ≥ {1 / N - top / r:.6f};",
          "of h_φ* {:.6f}, {:.6f}".format(*needed(2, [], 45, gamma, 0.9, 10, N - 1, own=own)))
print("\nk = 1, all thresholds, no logarithm: ε, δ of h_φ*, D + (x, −1) against D or (replace one) D + ((0, 0), 1)\n"
      "φ*, before or after rotation;       | γ = 30°, C = 6 | γ = 45°, C = 6 | γ = 30°, C = 11, ε/2 for both parts\n"
      "turned back?; D + angle of x        | least of the six φ(x)           | φ(x) of x, as numbers")
NAMES = "largest before", "least before", "largest after", "least after"
for x, (pick, back) in zip((315, 225, 180, 180, 315, 0, 270, 270), product(NAMES, (True, False)), strict=True):
    S = [] if back or "before" in pick else [(315, 1)]
    cells = [np.min([needed(1, S, x, *which, 1, pick, back, kind) for kind in KINDS[:kinds]], axis=0)
             for *which, kinds in ((30, 0.9, 6, 6), (45, 0.9, 6, 6), (30, 0.45, 11, 1))]
    print(f"{pick}; {'yes' if back else 'no'}; {S} + {x}°".ljust(35), *(f"| {a:.4f}, {b:.4f}" for a, b in cells))
