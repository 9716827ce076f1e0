"""Finding 16: no angle of the grid is best. Python's standard library alone; angles are in degrees."""

from fractions import Fraction
from itertools import combinations, pairwise
from math import asin, atan, atan2, degrees, gcd

TINY = 1e-9  # two angles here are equal or differ by more: the last line printed shows it
ONE, TWO = [((1, 1), 1), ((-1, -1), 1)], [((0, -1), -1), ((-1, 1), -1)]


def angle(x):
    return degrees(atan2(x[1], x[0])) % 360


def apart(one, other):
    """The distance of two angles on the circle."""
    return abs((one - other + 180) % 360 - 180)


def directions(k):
    """The primitive vectors of {−k, …, k}², around the circle: directions of all points, and normals of all borders."""
    reach = range(-k, k + 1)
    return sorted(((a, b) for a in reach for b in reach if gcd(a, b) == 1), key=angle)


def tangent(k):
    """tan of the minimum angle between two vectors that are not collinear, |det|/⟨v, w⟩."""
    pairs = [(v[0] * w[0] + v[1] * w[1], abs(v[0] * w[1] - v[1] * w[0])) for v, w in combinations(directions(k), 2)]
    return min(Fraction(det, dot) for dot, det in pairs if dot > 0 and det)


def quality(S, phi):
    """q(S, φ): how many examples h_φ labels correctly; h_φ(x) = 1 within 90° of x, ends included."""
    return sum((1 if apart(phi, angle(x)) <= 90 + TINY else -1) == y for x, y in S)


def normals(k):
    """Corrected: the directions of all borders, and one vector between any two neighbours."""
    around = directions(k)
    return around + [(a + c, b + d) for (a, b), (c, d) in zip(around, around[1:] + around[:1], strict=True)]


print("q(S1, φ) at 0°, 30°, …, 360°:", *(quality(ONE, 30 * i) for i in range(13)), " at 135°:", quality(ONE, 135))
print("q(S2, φ) at 0°, 45°, …, 360°:", *(quality(TWO, 45 * i) for i in range(9)), " at 22.5°:", quality(TWO, 22.5))
print("\nrelation: none, a utility claim; ε: any, the angles of the grid have no noise; logarithm: none occurs")
print("largest q(S1), q(S2) on the grid (2 among all angles); open arcs between borders without an angle of the grid")
gaps, found = [], set()
for k in (1, 2, 3, 4, 5):
    around, row = [angle(v) for v in directions(k)] + [360], f"k = {k}:"
    found |= {max(quality(S, angle(w)) for w in normals(k)) for S in (ONE, TWO)}
    for name, value, inverse in (("sin", Fraction(1, 2 * k * k), asin), ("tan", tangent(k), atan)):
        gamma = degrees(inverse(value))
        grid = [i * gamma for i in range(int(360 / gamma + TINY) + 1)]
        gaps += [apart(phi, a) for phi in grid for a in around]
        empty = sum(not any(a + TINY < phi < b - TINY for phi in grid) for a, b in pairwise(around))
        best = [max(quality(S, phi) for phi in grid) for S in (ONE, TWO)]
        row += f"  {name} γ = {value!s:<4} = {name} {gamma:7.4f}°: {best[0]}, {best[1]}; {empty}  "
    print(row)
print("corrected: normals for k = 1, …, 5:", *(len(normals(k)) for k in range(1, 6)), "; largest q on them:", found)
print(f"angles of the grids and of points: equal, or at least {min(g for g in gaps if g > TINY):.4f}° apart")
