"""Finding 4: LearnThresholds as printed, N = 3, α = 0.1. One event F with P[F] > e^ε·Q[F] + δ is enough to refute."""

from decimal import Decimal as D
from math import ceil


def exponential(Q, parts, eps):
    """Every piece's probability; Q is a step function of pieces (start, stop, score), the parts are disjoint."""
    w = [sum(max(0, min(b, d) - max(a, c)) for c, d in parts) * (eps / 2 * h).exp() for a, b, h in Q]
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
                shares = exponential(Q if C else [(a, b, 0) for a, b, _ in Q], C or [none(T)], eps)
                found = [x + p * p_A * p_B * y for x, y in zip(found, shares, strict=True)]  # 10
    return found

def needs(eps=D(1), delta=D("1e-6"), b=2, n=8000, T=2**33, at=5120, fall=None, tie=-1, none=lambda T: (0, 1)):
    t, S = -(delta / 9).ln() / D(b).ln() * 9 / eps, {(0, 1): round(D("0.971875") * n + 18 / eps)}
    S |= {**(fall or {(7, 0): 2 * ceil(t)}), (at, 1): ceil(t) - 2, (6144, 1): 1, (6400, 0): ceil(t) * 5 // 4 - 2}
    S[0, 1] -= 1 + sum(c for (_, y), c in S.items() if not y)  # S but for (6144, 0), and for (0, 0) up to n examples
    ends = [*sorted(x for x, _ in S), T + 1]
    p, q = (rec_concave([(j, ends[i + 1], D(sum(c for (x, y), c in S.items() if (x <= j) == y) + ((j >= 6144) == z)))
        for i, j in enumerate(ends[:-1])], T, n, D("0.05"), eps / 9, t, tie, none)[ends.index(6144)] for z in (0, 1))
    return S, f"{p:.5e}  {q:.5e}  {((q - delta) / p).ln():.6f}"
s, v = (D(1) / 18).exp(), ((t := 9 * D(9_000_000).ln() / D(2).ln()) / 9).exp() / 2  # W: third call 0, ⊥, B, 8, F
W = [(1 / (1 + s**36 + 2 / s**174), v / s**420, s**412 / v / 4, 1 / (7 + 1 / s**206), 1 / (5 + 3 / s**258)), (1
    / (1 + s**34 + 2 / s**174), a := v / s**416, 1 - a, 1 / (5 + 2 / s**2 + s**-208), 1 / (1 + 4 / s**2 + 3 / s**258))]
(u, A, B, *_), (p, q), z = W[0], (i * (a * b)**2 * j * f for i, a, b, j, f in W), s**-210
most = (k8 := u * A * B / 7 + 3 * z) * A * B / 5 + (k := 3 * u * A * B / 7 + 4 * z) * (a := z * 256 / 7) + D("5e-11")
print(f"S: {needs()[0]}, (6144, 0)\nt = {t:.4f}", *("{:.6f}·({:.6f}·{:.6f})²·{:.6f}·{:.6f}".format(*f) for f in W),
      f"S: {p:.4e}; all ways: z = {z:.4e}, a = {a:.4e}, k = 8: {k8:.4e}, k ≥ 8: {k:.4e}, F: at most {most:.4e};",
      f"e of it, and δ: {most * D(1).exp() + D('1e-6'):.4e}; S′: {q:.4e}; so ε ≥ {((q - D('1e-6')) / most).ln():.4f}\n",
      f"{'one replaced':<25}P[F | S]    P[F | S′]   least ε (added or removed: at most ε, by composition)", sep="\n")
N, R = {"n": 35_121_921}, {"fall": {(2, 0): 36, (8, 0): 380}}
print(*(f"{n:<25}{needs(**k)[1]}" for n, k in {"as printed": {}, "n = 35,121,921": N, "audit's": R,
    "audit's, n as before": R | N, "ln, second pair": {"b": D(1).exp(), "at": 5632}, "δ=1e-5, second pair":
    {"delta": D("1e-5"), "at": 5632}, "ε = 4.5": {"eps": D("4.5")}, "ε=0.5, n=16,000": {"eps": D("0.5"), "n": 16000},
    "|X| = 2^32 + 2": {"T": 2**32 + 1}, "last tie": {"tie": 1}, "⊥, ⊥: any; |X|=2^64+1": {"T": 2**64, "none": lambda T:
    (0, T + 1)}}.items()), sep="\n")
