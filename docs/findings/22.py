"""Finding 22: sorters by Q do not map neighbours to neighbours. Python's standard library alone."""

from itertools import groupby
from math import acos, cos, exp, log, log2, pi, sin

EPSILON, PRIME, GAMMA = 0.5, 0.01, pi / 6
A, B, X = ((1, 0, 0), 1), ((0, 1, 0), 1), ((-1, 0, 0), -1)
NAMES = {A: "a", B: "b", X: "x"}
angle_1 = lambda example: acos(example[0][0])  # noqa: E731


def quality(S, angle, grid):
    """Q(S, φ_1) = max over φ_2 in H_γ of q(S, (φ_1, φ_2)), the number of examples with h_φ(x) = y."""
    normals = [(cos(angle), sin(angle) * cos(other), sin(angle) * sin(other)) for other in grid]
    label = lambda n, x: 1 if round(sum(u * v for u, v in zip(n, x, strict=True)), 9) >= 0 else -1  # noqa: E731
    return max(sum(label(n, x) == y for x, y in S) for n in normals)


def by_quality(S, items, angle_of, gamma):
    """Algorithm 5: the items in the lexicographical order of (Q(S, φ), φ), the largest first."""
    grid = [i * gamma for i in range(round(2 * pi / gamma) + 1)]
    value = {phi: quality(S, phi, grid) for phi in {angle_of(item) for item in items}}
    return sorted(items, key=lambda item: (value[angle_of(item)], angle_of(item)), reverse=True)


def reaches(order, m, count, least, noise):
    """Pr[count(slice) + Z ≥ least] for a slice of m + Geom(1 - e^-ε) items and Pr[Z = z] ~ e^-noise·|z|."""
    spare, q, r, total = len(order) - m, exp(-EPSILON), exp(-noise), 0.0
    for g in range(spare + 1):
        z = least - sum(count(item) for item in order[: m + g])
        total += q**g * (1 - q if g < spare else 1) * (r**z / (1 + r) if z > 0 else 1 - r ** (1 - z) / (1 + r))
    return total


def balance(example):
    return {A: 1, B: -1}.get(example, 0)


def show(before, after, m, count, least, noise=EPSILON):
    p, p2 = (reaches(order, m, count, least, noise) for order in (before, after))
    print(f"  Pr on S {p:.6e}, on S′ {p2:.6f}: ε ≥ {log(p2 / p):.4f} at δ = 0, "
          f"{log((p2 - PRIME) / p):.4f} at δ = {PRIME}; c ≥ {log((p2 - PRIME) / p) / (EPSILON * log2(1 / PRIME)):.2f}")


print(f"a = {A}, b = {B}, x = {X}\nγ = π/6, ε = {EPSILON}, δ′ = {PRIME}; c: the constant for O(·), log to base 2")
for m in (2, 10, 20, 40):
    S, q = [A] * m + [B] * m, exp(-EPSILON)
    lists = [by_quality(T, T, angle_1, GAMMA) for T in (S, [*S, X])]
    text = (" ".join(f"{len(list(same))} {NAMES[e]}" for e, same in groupby(order)) for order in lists)
    print(f"m = {m}, E(S) and E(S′): " + ", ".join(text))
    show(*lists, m, balance, m)
    print(f"  by hand {q**(2 * m) * (1 + m * (1 - q)) / (1 + q):.6e}, {(1 + q**(2 * m + 1)) / (1 + q)**2:.6f}")
print("in every reading, m = 20\nadd or remove one, slices of examples: as above; the logarithm is a factor of c\n"
      "replace one (an a more, which becomes x), A with noise for sensitivity 2:")
lists = [by_quality(T, T, angle_1, GAMMA) for T in ([A] * 21 + [B] * 20, [A] * 20 + [B] * 20 + [X])]
show(*lists, 20, balance, 20, EPSILON / 2)
print("slices of half-spaces, one copy of each, γ = π/60; no example against ((1, 0, 0), -1); A counts cos φ < 0:")
grid = [i * pi / 60 for i in range(121)]
lists = [by_quality(T, grid, lambda phi: phi, pi / 60) for T in ([], [((1, 0, 0), -1)])]
show(*lists, 20, lambda phi: round(cos(phi), 9) < 0, 20)
