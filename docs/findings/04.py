"""Finding 4: LearnThresholds as printed, N = 3, α = 0.1. One event F with P[F] > e^ε·Q[F] + δ is enough to refute."""

from decimal import Decimal as D


def exponential(Q, parts, eps):
    """Every piece's probability; Q is a step function of pieces (start, stop, score), the parts are disjoint."""
    w = [sum(max(0, min(b, d) - max(a, c)) for c, d in parts) * (eps / 2 * (h - Q[0][2])).exp() for a, b, h in Q]
    return [x / sum(w) for x in w]

def a_dist(Q, first, size, eps, t, tie):
    """Steps 7 to 9 for the intervals of this size from first on: (start of the answer, None for ⊥; probability)."""
    near = {first + max(0, (x - first) // size + d) * size for a, b, _ in Q for x in (a, b - 1) for d in (0, 1)}
    u = sorted((max(h for a, b, h in Q if a < s + size and s < b), tie * s) for s in near if s < Q[-1][1])[::-1]
    gap = u[0][0] - u[1][0] if len(u) > 1 else D("Infinity")
    bottom = (eps * (t - gap)).exp() / 2 if gap >= t else 1 - (eps * (gap - t)).exp() / 2
    return [(abs(u[0][1]), 1 - bottom), (None, bottom)] if u else [(None, D(1))]

def rec_concave(Q, T, r, alpha, eps, t, tie, none):
    """Every piece's probability; t = log(1/δ)/ε is A_dist's threshold. The numbers are those of the printed steps."""
    if T <= 32:  # 1
        return exponential(Q, [(0, T + 1)], eps)
    Q = Q + [(T + 1, 2**(log := (T - 1).bit_length()) + 1, min(D(0), Q[-1][2]))] * (2**log > T)  # 2
    windows = [(d - c, min(h for a, b, h in Q if c <= a and b <= d)) for c, _, _ in Q for _, d, _ in Q if c < d]
    L = [max(h for length, h in windows if length >= 2**j) for j in range(log + 1)]  # 3
    q = [(j, j + 1, min(L[j] - (1 - alpha) * r, r - [*L, min(D(0), L[-1])][j + 1])) for j in range(log + 1)]  # 4
    found = [D(0)] * len(Q)
    for k, p in enumerate(rec_concave(q, log, alpha / 2 * r, D("0.25"), eps, t, tie, none)):  # 5, 6
        for A, p_A in a_dist(Q, 0, 8 << k, eps, t, tie):
            for B, p_B in a_dist(Q, 4 << k, 8 << k, eps, t, tie):
                C = sorted((s, min(s + (8 << k), T + 1)) for s in (A, B) if s is not None and s <= T)
                C[1:] = [(max(a, C[0][1]), max(b, C[0][1])) for a, b in C[1:]]
                shares = exponential(Q if C else [(a, b, 0) for a, b, _ in Q], C or [(0, 1 + T * none)], eps)
                found = [x + p * p_A * p_B * y for x, y in zip(found, shares, strict=True)]  # 10
    return found

def needs(eps=D(1), delta=9 * D(2)**-100, b=2, n=40_000, c=125, T=2**33, at=5120, fall=None, drop=198, tie=-1, none=0):
    t = round(log := -(delta / 9).ln() / D(b).ln() * 9 / eps, 6).to_integral_value("ROUND_CEILING")
    S = (fall or {(7, 0): 2 * t}) | {(at, 1): t - 2, (6144, 1): 1, (6400, 0): t + drop}
    S = {(0, 1): round(D("0.971875") * n + c / eps) - 1 - sum(c for (_, y), c in S.items() if not y)} | S
    ends = [*sorted(x for x, _ in S), T + 1]
    p, q = (rec_concave([(j, ends[i + 1], D(sum(c for (x, y), c in S.items() if (x <= j) == y) + ((j >= 6144) == z)))
        for i, j in enumerate(ends[:-1])], T, n, D("0.05"), eps / 9, log, tie, none)[ends.index(6144)] for z in (0, 1))
    return {k: int(c) for k, c in S.items()}, f"{p:.5e}  {q:.5e}  {((q - delta) / p).ln():.6f}"
WAY = [(1 / (1 + ((125 - x) / D(9)).exp() + 5 * x * D(-36).exp()), ((2 * x - 2) / D(9)).exp() / 2, 1 / (5 + x * D(
    -50).exp() + 2 * (-x / D(9)).exp()), 1 / (1 + 4 * (-x / D(9)).exp() + 3 * x * D(-61).exp())) for x in (0, 1)]
(p, q), other = (i * g**4 * j * f for i, g, j, f in WAY), 257 * D(-50).exp() + 2 * D(-100).exp()
print(f"S: {needs()[0]}, (6144, 0) and (0, 0)×101",
      *("{}: {:.4e}·{:.4f}⁴·{:.4f}·{:.4f} = {:.3e}".format(*f) for f in (("S ", *WAY[0], p), ("S′", *WAY[1], q))),
      f"ratio {q / p:.4f} = {q / p / D(1).exp():.4f}·e; S, other ways: at most {other:.2e}; so ε ≥ "
      f"{((q - 9 * D(2)**-100) / (p + other)).ln():.6f}\n",
      f"{'one replaced':<25}P[F | S]     P[F | S′]   least ε (added or removed: at most ε, by composition)", sep="\n")
R, OLD = {"fall": {(2, 0): 36, (8, 0): 380}}, {"n": 8000, "delta": D("1e-6"), "c": 18, "drop": 50}
N = {"n": 35_121_921}
print(*(f"{n:<25}{needs(**k)[1]}" for n, k in {"as printed": {}, "n = 120,165,518": {"n": 120_165_518}, "last tie":
    {"tie": 1}, "ln": {"b": D(1).exp()}, "⊥, ⊥: any; |X|=2^64+1": {"T": 2**64, "none": 1}, "δ=1e-6, n=8,000": OLD,
    "δ=1e-6, n=35,121,921": OLD | N, "audits', n=8,000": OLD | R, "audits', n=35,121,921": OLD | R | N,
    "δ=1e-5, second pair": OLD | {"delta": D("1e-5"), "at": 5632}, "δ=1e-6, ln, second pair": OLD | {"b": D(1).exp(),
    "at": 5632}, "δ=1e-6, ε = 4.5": OLD | {"eps": D("4.5")}, "δ=1e-6, ε=0.5, n=16,000": OLD | {"eps": D("0.5"), "n":
    16000}}.items()), sep="\n")
