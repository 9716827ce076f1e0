"""Finding 23: with one arbitrary supported half-space per subset, 𝒢 need not hold a good g. The standard library."""

from itertools import combinations
from math import comb, exp

POINTS, LABEL = ((0, 0), (1, 0), (2, 0)), {(0, 0): 0, (1, 0): 0, (2, 0): 1}  # label 1 is private


def family(public, choice, empty):
    """A_ConstrHalf for public points on the line x₂ = 0: C̃_pub as triples (w₁, w₂, w₀) for w₁x₁ + w₂x₂ ≥ w₀."""
    chosen = []
    for size in range(3):  # W: all subsets of at most d = 2 points
        for subset in combinations(sorted(public), size):
            along = choice == "transversal" and size < len(public)  # so that the boundary does not contain Aff
            if subset:
                chosen.append((1, 0, subset[0][0]) if along else (0, 1, 0))
            elif public and empty != "nothing":
                chosen.append((1, 0, 0) if empty == "x₁ ≥ 0" else (0, 1, 0))
    return sorted({h for a, b, c in chosen for h in ((a, b, c), (-a, -b, -c))})


def zeros(public, choice, empty, all_ones=True):
    """𝒢, step 8 of A_LearnHalf: for every g the points of POINTS that it labels 0, those of h₁ ∩ … ∩ h_j ∩ Aff."""
    aff = [x for x in POINTS if len(public) == 2 or x in public]
    sets = [()] if all_ones else []  # "𝒢 is assumed to also contain" the hypothesis that labels all points 1
    for j in (1, 2):
        collections = combinations(family(public, choice, empty), j)
        sets += [tuple(x for x in aff if all(a * x[0] + b * x[1] >= c for a, b, c in hs)) for hs in collections]
    return sets


def errors(zero, counts):
    """Wrong labels of a g, for so many records at each of the three points."""
    return sum(n for x, n in zip(POINTS, counts, strict=True) if (x not in zero) != LABEL[x])


def success(n, alpha, epsilon, choice, empty="nothing", all_ones=True):
    """Pr[err(ĝ; D) ≤ α] for n records of D = (1/4, 1/4, 1/2): step 9 weights g with e^(−ε·errors/2)."""
    total = 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a):
            counts, public = (a, b, n - a - b), [x for x, k in zip(POINTS, (a, b), strict=False) if k]
            weights = [(exp(-epsilon * errors(g, counts) / 2), g) for g in zeros(public, choice, empty, all_ones)]
            good = sum(w for w, g in weights if errors(g, (1, 1, 2)) / 4 <= alpha)
            chance = comb(n, a) * comb(n - a, b) * 0.25 ** (a + b) * 0.5 ** (n - a - b)
            total += chance * good / sum(w for w, _ in weights) if weights else 0
    return total


for choice in ("aligned", "transversal"):
    found = sorted({(z, errors(z, (1, 1, 1))) for z in zeros(POINTS[:2], choice, "nothing")})
    print(f"{choice}: (w₁, w₂, w₀) in C̃_pub: {family(POINTS[:2], choice, 'nothing')}")
    print("    x₁ that a g labels 0: " + "; ".join(f"{[x for x, _ in z]} errs on {e}" for z, e in found))
print("D = (1/4, 1/4, 1/2): Pr[err(ĝ; D) ≤ 0.2] = 0 for aligned, as the error is 1/4 or 1/2 for every sample and g")
print("\nPr[err(ĝ; D) ≤ 0.2] in every reading; relation: none, a utility claim; logarithm: none occurs")
print("choice       Ŝ = ∅ gives     all 1   ε = 0.5: n = 24, 48        ε = 0.9: n = 24, 48")
for choice in ("aligned", "transversal"):
    for empty, ones in (("nothing", True), ("x₁ ≥ 0", True), ("x₂ ≥ 0", True), ("nothing", False)):
        cells = [f"{success(n, 0.2, e, choice, empty, ones):<12.6g}" for e in (0.5, 0.9) for n in (24, 48)]
        print(f"{choice:<12} {empty:<15} {'yes' if ones else 'no':<7} {' '.join(cells)}")
