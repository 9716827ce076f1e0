"""Finding 4: LearnThresholds as printed, N = 3, α = 0.1. One event F with P′[F] > e^ε·P[F] + δ refutes."""

from decimal import Decimal as D
from itertools import pairwise

READ = {"base": 32, "tie": -1, "none": lambda T: (0, 1)}  # as in 03.py, with the next three functions
def exponential(Q, parts, eps):
    """Every piece's probability; Q is a step function of pieces (start, stop, score), the parts are disjoint."""
    w = [sum(max(0, min(b, d) - max(a, c)) for c, d in parts) * (eps / 2 * (h - Q[0][2])).exp() for a, b, h in Q]
    return [x / sum(w) for x in w]
def a_dist(Q, first, size, eps, t, how):
    """Steps 7 to 9 for the intervals of this size from first on: (start of the answer, None for ⊥; probability)."""
    # those of a piece's first or last point: any other is in one piece, between two of these that score no less
    near = {first + max(0, (x - first) // size) * size for a, b, _ in Q for x in (a, b - 1)}
    u = sorted((max(h for a, b, h in Q if a < s + size and s < b), how["tie"] * s) for s in near if s < Q[-1][1])[::-1]
    gap = u[0][0] - u[1][0] if len(u) > 1 else D("Infinity")
    bottom = (eps * (t - gap)).exp() / 2 if gap >= t else 1 - (eps * (gap - t)).exp() / 2
    return [(abs(u[0][1]), 1 - bottom), (None, bottom)] if u else [(None, D(1))]

def rec_concave(Q, T, r, alpha, eps, t, how):
    """Every piece's probability; t = log(1/δ)/ε is A_dist's threshold. The numbers are those of the printed steps."""
    if how["base"] >= T:  # 1; N = 1 in the third call, where T = 6
        return exponential(Q, [(0, T + 1)], eps)
    log = (T - 1).bit_length()
    Q = Q + [(T + 1, 2**log + 1, min(D(0), Q[-1][2]))] * (2**log > T)  # 2
    # 3: an interval of 2^j points grows to whole pieces with the same least score
    windows = [(d - c, min(h for a, b, h in Q if c <= a and b <= d)) for c, _, _ in Q for _, d, _ in Q if c < d]
    L = [max(h for length, h in windows if length >= 2**j) for j in range(log + 1)]
    q = [(j, j + 1, min(L[j] - (1 - alpha) * r, r - [*L, min(D(0), L[-1])][j + 1])) for j in range(log + 1)]  # 4
    found = [D(0)] * len(Q)
    for k, p in enumerate(rec_concave(q, log, alpha / 2 * r, D("0.25"), eps, t, how)):  # 5, 6
        for A, p_A in a_dist(Q, 0, 8 << k, eps, t, how):
            for B, p_B in a_dist(Q, 4 << k, 8 << k, eps, t, how):  # 10: A ∪ B within [0, T], as disjoint parts
                C = sorted((s, min(s + (8 << k), T + 1)) for s in (A, B) if s is not None and s <= T)
                C[1:] = [(max(a, C[0][1]), max(b, C[0][1])) for a, b in C[1:]]
                shares = exponential(Q if C else [(a, b, 0) for a, b, _ in Q], C or [how["none"](T)], eps)
                found = [x + p * p_A * p_B * y for x, y in zip(found, shares, strict=True)]
    return found
def needs(eps=D(1), delta=9 * D(2)**-100, b=2, n=36_000, c=D("112.5"), T=2**33, fall=None, drop=898, **how):
    t = round(threshold := -(delta / 9).ln() / D(b).ln() * 9 / eps, 6).to_integral_value("ROUND_CEILING")
    S = (fall or {(7, 0): 2 * t}) | {(5120, 1): t - 2, (6144, 0): 1, (6144, 1): 1, (6400, 0): t + drop}
    S[0, 1] = round(D("0.971875") * n + c / eps) - sum(m for (_, y), m in S.items() if not y)
    S[0, 0], found, ends = n - sum(S.values()), [], sorted({x for x, _ in S} | {T + 1})
    for data in S, S | {(6144, 0): 0, (6144, 1): 2}:  # c_j(x) = 1 iff x ≤ j
        Q = [(j, k, D(sum(m for (x, y), m in data.items() if (x <= j) == y))) for j, k in pairwise(ends)]
        found.append(rec_concave(Q, T, n, D("0.05"), eps / 9, threshold, READ | how)[ends.index(6144)])
    return S, f"{found[0]:.5e}  {found[1]:.5e}  {((found[1] - delta) / found[0]).ln():.6f}"
print("S:", ", ".join(f"{k}×{m}" for k, m in needs()[0].items()))
other = 257 * D(-50).exp() + 2 * D(-100).exp()
WAY = [(1 / (1 + (D("12.5") - x / D(9)).exp() + 5 * x * D(-37).exp()), ((2 * x - 2) / D(9)).exp() / 2, 1 / (5 + x * D(
    -50).exp() + 2 * (-x / D(9)).exp()), 1 / (1 + 4 * (-x / D(9)).exp() + 3 * x * D(-99).exp())) for x in (0, 1)]
p, q = (i * g**4 * j * f for i, g, j, f in WAY)  # i = 0; A, B; k = 8; F
print(*("way {:.4e}·{:.4f}⁴·{:.4f}·{:.4f}".format(*f) for f in WAY), f"ratio {q / p:.4f} = {q / p / D(1).exp():.4f}·e;"
      f" other ways {other:.3e}; so ε ≥ {((q - 9 * D(2)**-100) / (p + other)).ln() - D('5e-7'):.6f}\n", sep="\n")
print("one replaced             P[F | S]     P[F | S′]   least ε (added or removed: at most ε, by composition)")
R, OLD = {"fall": {(2, 0): 36, (8, 0): 380}}, {"n": 8000, "delta": D("1e-6"), "c": 18, "drop": 50}
ROWS = {"as printed": {}, "n = 120,165,518": {"n": 120_165_518}, "ln": {"b": D(1).exp()}, "last tie": {"tie": 1},
    "⊥, ⊥: any; |X|=2^64+1": {"T": 2**64, "none": lambda T: (0, T + 1)}, "δ=1e-6, n=8,000": OLD, "audits', n=8,000":
    OLD | R, "audits', n=35,121,921": OLD | R | {"n": 35_121_921}, "δ=1e-6, ε=4.5": OLD | {"eps": D("4.5")}}
print(*(f"{name:<25}{needs(**row)[1]}" for name, row in ROWS.items()), sep="\n")
