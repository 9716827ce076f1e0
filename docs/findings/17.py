"""Finding 17: A_SimpleH as printed, with MakeData's noise, k = 1. Needs numpy. A point is its angle, in degrees."""
from functools import cache
from itertools import product

import numpy as np

NODES, WEIGHTS = ((v + shift) / 2 for v, shift in zip(np.polynomial.legendre.leggauss(60), (1, 0), strict=True))
KINDS = [(turns, shifts) for turns in ((0,), (90,), (90, -90)) for shifts in ((0,), (0, 360, -360))]  # the six φ(x)
def half_spaces(grid):  # h_φ on {−1, 0, 1}², for every φ of the grid
    return [{x: x[0] * n.real + x[1] * n.imag > -1e-9 for x in SQUARE} for n in np.exp(1j * np.radians(grid))]
def counts(D, grid, kind):  # q(S, φ), n_φ for every φ, and MakeThrData's order; D has (angle of x, y, how many)
    right = [[m * ((abs((g - z + 180) % 360 - 180) <= 90) == (y == 1)) for z, y, m in D] for g in grid]
    near = [[any(abs(g - (z + t) % 360 - s) < grid[1] for t in kind[0] for s in kind[1]) for z, *_ in D] for g in grid]
    q, n = np.sum(right, axis=1), np.sum(np.multiply(right, near), axis=1).astype(int)
    return q, n, sorted(range(len(grid)), key=lambda i: (-q[i], -i))
def coin(grid, e, m, C, replaced, z=20):
    """A_Thr a coin: Pr[h(1, 0) = h(1, 1) = 1] ≥ on D, ≤ on D′; |Lap| ≤ z at all N angles but with N·e^{−ez} or less."""
    event, P, rare = [int(h[1, 0] and h[1, 1]) for h in half_spaces(grid)], [], len(grid) * np.exp(-e * z)
    for a, b in (m, m), (m + 1, m - replaced):
        _, n, order = counts([(45, 1, a), (225, 1, b)], grid, KINDS[0])
        assert sum(max(v - z, 1) for v in n) > C  # some are left for φ′
        left = [i for j, i in enumerate(order) if sum(max(n[at] + z, 1) for at in order[: j + 1]) > C]  # may be φ′
        P.append([(event[i] + event[i - 1]) / 2 for i in left])
    return min(P[0]) - rare, max(P[1]) + rare
@cache
def copies(n, taken=0):
    """Algorithm 1: Pr[max(⌈n + Lap(1/ε)⌉, 1) = taken + j], j = 0, 1, …; Σ Pr·s^j and its derivative at s = NODES."""
    below = [0, 0] + [1 - np.exp(-0.9 * z) / 2 if z >= 0 else np.exp(0.9 * z) / 2 for z in range(1 - n, 101 - n)]
    law, j = np.diff(below)[taken:], np.arange(101 - taken)
    return law, law @ NODES ** j[:, None], law[1:] * j[1:] @ NODES ** j[:-1, None]
def choices(order, n, C, p=1.0, kept=()):
    """Algorithm 2: Pr, max_C(S_H) as (angle, copies), and φ′, one of the t elements left; 1/t is ∫ s^(t - 1) ds."""
    i, *rest = order
    for m in range(1, C):  # m copies of the angle i, and C - m of the next ones; below, C copies or more of i
        yield from choices(rest, n, C - m, p * copies(n[i])[0][m], (*kept, (i, m)))
    left = {i: copies(n[i], C)} | {a: copies(n[a]) for a in rest}
    every = p * WEIGHTS * np.prod([mean for _, mean, _ in left.values()], axis=0)
    yield from ((slope / mean @ every, (*kept, (i, C)), a) for a, (_, mean, slope) in left.items())
def output(D, grid, pick, back, kind):  # Algorithm 3, A_Thr by correct labels among all thresholds, C = 6: Pr[h_φ*]
    (q, n, order), maps, law = counts(D, grid, kind), half_spaces(grid), np.zeros(N := len(grid))
    for p, kept, anchor in choices(order, n, 6):
        at = {i: (i - anchor) % N for i, _ in kept}  # rotated
        best = {i: at[i] if "after" in pick else i for i in at if q[i] == max(q)}
        star = at[(max if "largest" in pick else min)(best, key=best.get)]  # φ*
        w = np.exp([0.45 * sum(m for i, m in kept if (at[i] <= u) == (at[i] <= star)) for u in range(N)])
        law[(np.arange(N) + anchor * back) % N] += p * w / w.sum()
    return law @ [[f == g for g in maps[:-1]] for f in maps]  # 360° is 0°
THIRTY, FORTY_FIVE, SQUARE = np.arange(0, 361, 30), np.arange(0, 361, 45), [*product((-1, 0, 1), repeat=2)]
for (m, grid), e, i in product(((200, THIRTY), (400, FORTY_FIVE)), (0.9, 0.45), (0, 1)):
    P, Q = coin(grid, e, m, 600, i)
    print(f"m = {m}, γ = {grid[1]}°, {e} for both parts, one {('added', 'replaced')[i]}: on D {P - 5e-8:.7f} or more, "
          f"on D′ {Q + 5e-8:.7f} or less; at 0.9 δ > {P - np.exp(0.9) * Q - 5e-5:.4f}")
READINGS = product(("largest before", "least before", "largest after", "least after"), (True, False))
for x, (pick, back) in zip((315, 225, 180, 180, 315, 0, 270, 270), READINGS, strict=True):
    S, cells = [] if back or "before" in pick else [(315, 1, 1)], []
    for grid, kind in product((THIRTY, FORTY_FIVE), KINDS):
        P, Q = (output(D, grid, pick, back, kind) for D in (S, [*S, (x, -1, 1)]))
        cells.append((abs(np.log(P / Q)).max(), max((A - np.exp(0.9) * B).clip(0).sum() for A, B in ((P, Q), (Q, P)))))
    print(f"φ* {pick} rotation, turned back: {back}; {S} + {x}°".ljust(71),
          *("| {:.4f}, {:.4f}".format(*np.min(some, 0)) for some in (cells[:6], cells[6:])))
