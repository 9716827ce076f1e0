"""Finding 15: MakeData as printed needs 2ε. Python's standard library alone; angles are in degrees."""

from itertools import combinations
from math import asin, atan2, degrees, exp, log

TINY = 1e-9  # two angles here are equal or differ by more: the last line printed shows it
PRINTED, LEAST = "γ with sin γ = 1/(2k²)", "γ the minimum angle"
KINDS = {"x's polar angle": (0,), "x on h's border: + 90°": (90,), "x on h's border: ± 90°": (90, -90)}


def points(k):
    return [(a, b) for a in range(-k, k + 1) for b in range(-k, k + 1) if (a, b) != (0, 0)]


def angle(x):
    return degrees(atan2(x[1], x[0])) % 360


def apart(one, other):
    """The distance of two angles on the circle."""
    return abs((one - other + 180) % 360 - 180)


def discretize(k, reading):
    """γ in a reading of Lemma 11, and the angles 0, γ, 2γ, …, ⌊360°/γ⌋·γ."""
    least = min(d for v, w in combinations(points(k), 2) if (d := apart(angle(v), angle(w))) > TINY)
    gamma = degrees(asin(1 / (2 * k * k))) if reading == PRINTED else least
    return gamma, [i * gamma for i in range(int(360 / gamma + TINY) + 1)]


def counted(gamma, grid, x, y, turns=(0,), circle=False):
    """Algorithm 1: the i for which (x, y) counts in n_φ, φ = iγ: |φ(x) − φ| < γ and h_φ(x) = y."""
    own = [(angle(x) + turn) % 360 for turn in turns]
    near = [min(apart(phi, a) if circle else abs(phi - a) for a in own) < gamma - TINY for phi in grid]
    label = [1 if apart(phi, angle(x)) <= 90 + TINY else -1 for phi in grid]
    return {i for i in range(len(grid)) if near[i] and label[i] == y}


e = 0.5
p, q = exp(-e) / 2, 1 / 2
for reading in (PRINTED, LEAST):
    gamma, grid = discretize(2, reading)
    near = ", ".join(f"{i}γ = {grid[i]:.4f}°" for i in sorted(counted(gamma, grid, (1, 1), 1)))
    print(f"k = 2, {reading}: γ = {gamma:.4f}°; ((1, 1), 1), at 45°, counts at {near}")
print(f"ε = {e}: two copies or more of one angle: {p:.8f} at count 0, {q:.8f} at count 1")
print(f"of both: {p * p:.8f} on ∅, {q * q:.8f} on the example; e^ε·{p * p:.8f} = {exp(e) * p * p:.8f}")
print(f"ε needed: ln({q * q / p / p:.6f}) = {log(q * q / p / p):.6f}; δ needed at ε: {q * q - exp(e) * p * p:.8f}")
print("\nε needed by the worst pair, in multiples of ε: one example added / one replaced; Algorithm 1 has no logarithm")
grids = [(k, *discretize(k, reading)) for reading in (PRINTED, LEAST) for k in (1, 2, 3)]
print(f"{'':<42}{PRINTED:<24}{LEAST}\n{'φ(x), and |φ(x) − φ|':<42}" + "k = 1   k = 2   k = 3   " * 2)
for name, turns in KINDS.items():
    for circle in (False, True):
        sets = [[counted(*g, x, y, turns, circle) for x in points(k) for y in (1, -1)] for k, *g in grids]
        cells = [f"{max(map(len, s))} / {max(len(a ^ b) for a in s for b in s)}" for s in sets]
        print(f"{name + (', on the circle' if circle else ', as numbers'):<41}", "   ".join(cells))
gaps = [apart(phi, angle(x)) for k, _, grid in grids for phi in grid for x in points(k)]
least = min(g for g in gaps if g > TINY)
print(f"angles of grids and points are equal or at least {least:.2f}° apart, so rounding cannot change a count")
