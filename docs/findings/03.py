"""Finding 3: three calls of RecConcave as printed. One event F with P[F] > e^{9ε}·Q[F] + 9δ is enough to refute."""

from decimal import Decimal as D

READ = {"base": 32, "tie": -1, "none": lambda T: (0, 1)}  # of step 1, of A_dist (the first), of step 10 after ⊥ and ⊥
def exponential(Q, parts, eps):
    """Every piece's probability; Q is a step function of pieces (start, stop, score), the parts are disjoint."""
    w = [sum(max(0, min(b, d) - max(a, c)) for c, d in parts) * (eps / 2 * h).exp() for a, b, h in Q]
    return [x / sum(w) for x in w]

def a_dist(Q, first, size, eps, t, how):
    """Steps 7 to 9 for the intervals of this size from first on: (start of the answer, None for ⊥; probability)."""
    near = {first + max(0, (x - first) // size + d) * size for a, b, _ in Q for x in (a, b - 1) for d in (0, 1)}
    u = sorted((max(h for a, b, h in Q if a < s + size and s < b), how["tie"] * s) for s in near if s < Q[-1][1])[::-1]
    gap = u[0][0] - u[1][0] if len(u) > 1 else D("Infinity")
    bottom = (eps * (t - gap)).exp() / 2 if gap >= t else 1 - (eps * (gap - t)).exp() / 2
    return [(abs(u[0][1]), 1 - bottom), (None, bottom)] if u else [(None, D(1))]

def rec_concave(Q, T, r, alpha, eps, t, how):
    """Every piece's probability; t = log(1/δ)/ε is A_dist's threshold. The numbers are those of the printed steps."""
    if how["base"] >= T:  # 1
        return exponential(Q, [(0, T + 1)], eps)
    log = (T - 1).bit_length()
    Q = Q + [(T + 1, 2**log + 1, min(D(0), Q[-1][2]))] * (2**log > T)  # 2
    windows = [(d - c, min(h for a, b, h in Q if c <= a and b <= d)) for c, _, _ in Q for _, d, _ in Q if c < d]
    L = [max(h for length, h in windows if length >= 2**j) for j in range(log + 1)]  # 3
    q = [(j, j + 1, min(L[j] - (1 - alpha) * r, r - [*L, min(D(0), L[-1])][j + 1])) for j in range(log + 1)]  # 4
    found = [D(0)] * len(Q)
    for k, p in enumerate(rec_concave(q, log, alpha / 2 * r, D("0.25"), eps, t, how)):  # 5, 6
        for A, p_A in a_dist(Q, 0, 8 << k, eps, t, how):
            for B, p_B in a_dist(Q, 4 << k, 8 << k, eps, t, how):
                C = sorted((s, min(s + (8 << k), T + 1)) for s in (A, B) if s is not None and s <= T)
                C[1:] = [(max(a, C[0][1]), max(b, C[0][1])) for a, b in C[1:]]
                shares = exponential(Q if C else [(a, b, 0) for a, b, _ in Q], C or [how["none"](T)], eps)
                found = [x + p * p_A * p_B * y for x, y in zip(found, shares, strict=True)]  # 10
    return found

def needs(eps=D(1), delta=D(2)**-100, b=2, r=400, c=D("12.5"), T=2**33, ends=(7, 7, 1024, 2048, 2304, 3072), **how):
    t, H, ends, alpha = -delta.ln() / D(b).ln() / eps, D(23) / 32 * r + c / eps, (0, *ends, T + 1), D("0.5")
    scores = [H, H - 6 / eps, H - 2 * t, *[H - t - 2] * 3, H - 2 * t]
    Q = [(a, b, h, 1 if a == ends[4] else -1) for a, b, h in zip(ends, ends[1:], scores, strict=False) if a < b]
    p, q = (rec_concave([(a, b, h + x * s) for a, b, h, s in Q], T, r, alpha, eps, t, READ | how)[-3] for x in (0, 1))
    return f"{p:.5e}  {q:.5e}  {(e := ((q - 9 * delta) / p).ln()):.6f} = {e / eps:.4f}·{eps}"

WAY = [(1 / (1 + (D("12.5") - x).exp() + 5 * x * D(-38).exp()), (2 * x - 2).exp() / 2, 1 / (5 + 3 * (-x).exp()),
        1 / (1 + 7 * (-x).exp())) for x in (D(0), D(1))]  # i = 0; A, B; k = 8; F
(p, q), other = (i * g**4 * j * f for i, g, j, f in WAY), 257 * D(-51).exp() + 2 * D(-100).exp()
print("t = 100; (0): 300 from 0, 100 from 7, 198 from 1024, 100 from 3072; F = [2048, 2303]",
      *("({}): {:.4e}·{:.4f}⁴·{:.4f}·{:.4f} = {:.3e}".format(*f) for f in ((0, *WAY[0], p), (1, *WAY[1], q))), sep="\n")
print(f"ratio {q / p:.1f} = {q / p / D(9).exp():.4f}·e^9; (0), other ways: at most {other:.2e}; so ε ≥ "
      f"{((q - 9 * D(2)**-100) / (p + other)).ln():.4f}\n")
H, OLD = {"eps": D("0.5")}, {"delta": D(2)**-30, "r": 256, "c": 3}
ROWS = {"as on the page": {}, "ties: the last": {"tie": 1}, "⊥ and ⊥: T": {"none": lambda T: (T, T + 1)},
    "⊥ and ⊥: any, T = 2^64": {"T": 2**64, "none": lambda T: (0, T + 1)}, "base 4, T = 4096": {"T": 4096, "base": 4},
    "ln": {"b": D(1).exp()}, "ε=0.5": H | {"r": 800}, "ε=0.1": {"eps": D("0.1"), "r": 4000}, "δ=2^-30": OLD,
    "ε=0.5, δ=2^-30": H | OLD, "ε=0.1, δ=2^-30": OLD | {"eps": D("0.1"), "r": 1024}, "ε=0.5, δ=1e-5, 2nd pair":
    H | OLD | {"delta": D("1e-5"), "c": 2, "ends": (7, 7, 5632, 6016, 6272, 6655)}, "ε=0.5, δ=1e-9, audits'":
    H | {"delta": D("1e-9"), "r": 1000, "c": 1, "ends": (2, 8, 1024, 2048, 2304, 3072)}}
print("replaced: 0 by 1, or added: 1 to ∅  P[F], before and after    least ε = times a step's (9 claimed)",
      *(f"{n:<25}{needs(**k)}" for n, k in ROWS.items()), "added, Q counts records: at most 3 + 5 + 1 = 9", sep="\n")
