"""Finding 18: in MakeHighDimData an example counts at two angles, with noise for one. Standard library alone."""

from itertools import product
from math import acos, asin, atan2, cos, degrees, exp, gcd, hypot, log, pi, sin

EPSILON, TURN, ZERO = 0.9, 2 * pi, 1e-9  # ZERO: rounding; no other difference that decides is below 9e-6
NAMES = ("sin γ = 1/(2k²)", "minimum, plane", "minimum, space")
SIX = [(meant, circle) for circle in (False, True) for meant in ((), (pi / 2,), (pi / 2, -pi / 2))]


def grids(k):
    """H_γ, γ as in Lemma 11 for {−k, …, k}: its bound, or the minimum angle of two vectors of the plane, of space."""
    gammas = [asin(1 / (2 * k * k))]
    for d in (2, 3):
        V = [v for v in product(range(-k, k + 1), repeat=d) if gcd(*v) == 1]
        cosines = (sum(a * b for a, b in zip(v, w, strict=True)) / hypot(*v) / hypot(*w) for v in V for w in V)
        gammas.append(acos(max(c for c in cosines if c < 1 - ZERO)))
    return zip(NAMES, ([j * gamma for j in range(int(TURN / gamma + ZERO) + 1)] for gamma in gammas), strict=True)


def counted(x, y, i, H, meant, circle, completed=False):
    """The φ of H_γ at which (x, y) counts: |φ_i(x) − φ| < γ and h_φ(x) = y. φ_i(x) is the i-th angle of x (meant = ())
    or of its border(s); h_φ's normal is in the plane of coordinates i, i + 1, or completed by the other angle."""
    a, b = x[i - 1], x[i]
    phis = [atan2(b, a) + turn for turn in meant] if a or b else []
    phis += [atan2(hypot(*x[1:]) if i == 1 else b, a)] if not meant and any(x[i - 1 :]) else []
    gaps = {p: [abs(p - phi % TURN) for phi in phis] for p in H}
    near = [p for p in H if any((min(g, TURN - g) if circle else g) < H[1] - ZERO for g in gaps[p])]
    if not completed:
        return [p for p in near if (a * cos(p) + b * sin(p) >= -ZERO) == (y == 1)]
    side = {(p, t): x[0] * cos(p) + sin(p) * (x[1] * cos(t) + x[2] * sin(t)) >= -ZERO for p in H for t in H}
    if i == 1:  # by the best φ_2
        return [p for p in near if any(side[p, t] == (y == 1) for t in H)]
    return max(([p for p in near if side[t, p] == (y == 1)] for t in H), key=len)  # by the worst φ*_1


def copies(m, n):  # Pr[max(⌈n + Lap(1/ε)⌉, 1) = m]
    less, most = (1 - exp(EPSILON * (n - z)) / 2 if z >= n else exp(EPSILON * (z - n)) / 2 for z in (m - 1, m))
    return most - less * (m > 1)


def needed(D, E):  # the least ε′ for these counts n_φ: the noise is independent, so the largest log-ratios add up
    logs = [[log(copies(m, a) / copies(m, b)) for m in range(1, 9)] for a, b in zip(D, E, strict=True)]
    return max(sum(map(max, logs)), -sum(map(min, logs)))


low, x, z = exp(-EPSILON) / 2, (1, 1, 1), (-1, 0, 1)
print(f"φ_1(x) = {degrees(atan2(2**0.5, 1)):.4f}°. Pr[2 or more copies]: {low:.6f} at n = 0, 0.5 at n = 1; twice: "
      f"{low**2:.6f}, 0.25\nratio {1 / 4 / low**2:.6f}; e^0.9·{low**2:.6f} = {low / 2:.6f}; δ {0.25 - low / 2:.6f}")
for (name, H), (what, meant) in product(grids(1), (("x", ()), ("its border", (pi / 2,)))):
    at = [counted(v, 1, 1, H, meant, False) for v in (x, z)]
    n = [[sum(p in at[j] for j in S) for p in H] for S in ((), (0,), (0, 1), (1, 1))]
    print(f"{name}, φ_1(x) of {what:10}: ε needed {needed(*n[:2]):.6f} (x added), {needed(*n[2:]):.6f} (x, z → z, z);",
          "x counts at", *(f"{degrees(p):.2f}°" for p in at[0]))
print("\nε needed / ε; φ_i(x) of x, its border, both: |φ_i(x) − φ| of numbers, on the circle. logarithm: none occurs\n"
      f"{'γ':30}h_φ in the plane, i = 1; i = 2         completed, i = 1; i = 2")
for k, name, H in [(bound, *one) for bound in (1, 2) for one in grids(bound)]:
    X = [(v, y) for v in product(range(-k, k + 1), repeat=3) for y in (1, -1)]
    most = [[max(len(counted(*e, i, H, *six, c)) for e in X) for six in SIX] for c in (False, True) for i in (1, 2)]
    print(f"k = {k}, {name:15} {degrees(H[1]):5.2f}°", *(" {} {} {}, {} {} {}".format(*m) for m in most), sep="  ")
