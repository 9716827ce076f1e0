"""Finding 19: in three dimensions a best half-space need not be on the grid of pairs of angles. numpy alone."""

from itertools import product
from math import acos, asin, degrees, gcd, pi

import numpy as np

ZERO = 1e-13  # a ⟨n, x⟩ below this is rounding of 0: the output shows how far all others are from 0
S = {  # by k: three examples, and a normal that explains them with a margin
    1: ([((1, 0, 0), -1), ((1, -1, 0), 1), ((0, 1, 1), 1)], (-1, -2, 3)),
    2: ([((0, 2, -1), 1), ((-1, -1, 1), 1), ((2, -1, 0), 1)], (3, 5, 9)),
    3: ([((-1, 3, 1), 1), ((-1, -2, 0), 1), ((3, 0, -1), 1)], (7, -4, 20)),
}
OPPOSITE, WEDGE = [((1, 1, 1), 1), ((-1, -1, -1), 1)], [((0, -1, 1), -1), ((0, 0, -1), -1)]


def gammas(k):
    """γ as in Lemma 11 for {−k, …, k}: its bound, also for space, or the minimum angle of the plane, of space."""
    yield from ((f"sin γ = 1/({d}k²)", asin(1 / (d * k * k))) for d in (2, 3))
    for d, name in ((2, "minimum, plane"), (3, "minimum, space")):
        V = np.array([v for v in product(range(-k, k + 1), repeat=d) if gcd(*v) == 1])
        dot, squares = V @ V.T, (V * V).sum(1)
        cross = np.sqrt(np.outer(squares, squares) - dot * dot)
        yield name, float(np.arctan2(cross, dot)[cross > 0].min())


def right(n, sample):
    """The most examples that one of these normals labels rightly: 1 where ⟨n, x⟩ ≥ 0, else −1 (Definition 10)."""
    return max(sum(((n @ x >= -ZERO) == (y == 1)).astype(int) for x, y in sample))


def half_spaces(P):
    """How many half-spaces differ on {−k, …, k}³, and how many of them have no point on their border: the planes x⊥ cut
    the sphere into vertices, edges and cells; Euler's formula V − E + F = 2."""
    lines = {tuple(np.cross(a, b) // np.gcd.reduce(np.cross(a, b))) for i, a in enumerate(P) for b in P[:i]}
    vertices = list({ray for n in lines for ray in (n, tuple(-c for c in n))})
    edges = int((np.array(vertices) @ P.T == 0).sum())
    return 2 * edges + 2, 2 - len(vertices) + edges


for k, (sample, normal) in S.items():
    P = np.array([x for x in product(range(-k, k + 1), repeat=3) if x > (0, 0, 0) and gcd(*x) == 1])
    print("k = {}: S = {}, {}, {}".format(k, *sample), "explained by n =", normal, "⟨n, x⟩ =",
          *(int(np.dot(normal, x)) for x, _ in sample))
    print("    half-spaces on the points, of them without a point on the border: {}, {}".format(*half_spaces(P)))
    for name, gamma in gammas(k):
        phi = gamma * np.arange(int(2 * pi / gamma + ZERO) + 1)
        c, s = np.cos(phi), np.sin(phi)
        n = np.stack([np.repeat(c, len(c)), np.outer(s, c).ravel(), np.outer(s, s).ravel()], 1)  # all pairs of H_γ
        v = n @ P.T
        signs = np.unique(np.sign(np.where(abs(v) < ZERO, 0, v)).astype(np.int8), axis=0)
        print(f"  {name:15} {degrees(gamma):5.2f}°: best {right(n, sample)} of 3; opposite {right(n, OPPOSITE)}, "
              f"wedge {right(n, WEDGE)} of 2; on the grid: {len(signs)}, {(signs != 0).all(1).sum()}; "
              f"⟨n, x⟩ is 0 or from {abs(v)[abs(v) > ZERO].min():.0e}")
        if k == 1:  # n₁ < 0, n₂·n₃ < 0, |n₂| ≤ |n₃|, and then |n₁| ≤ |n₂|
            cot = abs(c / np.where(abs(s) < ZERO, ZERO, s))[c < -ZERO].min()
            cos = abs(c)[(c * s < -ZERO) & (abs(c) <= abs(s) + ZERO)].max()
            print(f"        least |cot φ_1|, cos φ_1 < 0: {cot:.4f} (φ_2 in {degrees(acos(-cot)):.1f}°–135°); largest"
                  f" |cos φ_2| ≤ |sin φ_2|, cos·sin < 0: {cos:.4f}; least |n₁ + n₂ + n₃|: {abs(n.sum(1)).min():.4f}")
print("relation: none, a utility claim; logarithm: none occurs")
