"""Finding 3: three calls of RecConcave as printed. One event F with P′[F] > e^{9ε}·P[F] + 9δ refutes."""

from decimal import Decimal as D

READ = {"base": 32, "tie": -1, "none": lambda T: (0, 1)}  # of step 1, of A_dist (the first), of step 10 after ⊥ and ⊥
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
def needs(eps=D(1), delta=D(2)**-100, b=2, r=400, c=D("12.5"), T=2**33, ends=(7, 7, 5120, 6144, 6400, 6400), **how):
    t, H, up = -delta.ln() / D(b).ln() / eps, D(23) / 32 * r + c / eps, 1 if ends[4] == ends[5] else -1  # after F
    pieces = [(H, -1), (H - 6 / eps, -1), (H - 2 * t, -1), *[(H - t - 2, s) for s in (-1, 1, -1)]]
    data = [[(x, y, h + i * s) for x, y, (h, s) in zip((0, *ends), (*ends, T + 1), [*pieces, (H - (5 + up) * t / 2,
            up)], strict=True) if x < y] for i in (0, 1)]
    p, q = (rec_concave(one, T, r, D("0.5"), eps, t, READ | how)[-2 if up > 0 else -3] for one in data)
    return data, f"{p:.5e}  {q:.5e}  {(e := ((q - 9 * delta) / p).ln()):.6f} = {e / eps:.4f}·{eps}"
WAY = [(1 / (1 + (D("12.5") - x).exp() + 5 * x * D(-38).exp()), (2 * x - 2).exp() / 2, 1 / (5 + 2 * (-x).exp() + x * D(
    -50).exp()), 1 / (1 + 4 * (-x).exp() + 3 * x * D(-99).exp())) for x in (D(0), D(1))]  # i = 0; A, B; k = 8; F
(p, q), other = (i * g**4 * j * f for i, g, j, f in WAY), 257 * D(-51).exp() + 2 * D(-100).exp()
for x, (i, g, j, f) in enumerate(WAY):
    print(f"x = {x}:", *(f"{h:.0f} from {a}," for a, _, h in needs()[0][x]), f"way {i:.4e}·{g:.4f}⁴·{j:.4f}·{f:.4f}")
print(f"{p:.3e}, {q:.3e}: ratio {q / p:.1f} = {q / p / D(9).exp():.4f}·e^9; other ways {other:.4e}; so ε ≥ "
      f"{((q - 9 * D(2)**-100) / (p + other)).ln() - D('5e-5'):.4f}\n")
print("replaced: 0 by 1, or added: 1 to ∅  P[F], before and after    least ε = times a step's (9 claimed)")
H, OLD, ALONE = {"eps": D("0.5")}, {"delta": D(2)**-30, "r": 256, "c": 3}, {"ends": (7, 7, 1024, 2048, 2304, 3072)}
for name, row in {"as on the page": {}, "ties: the last": {"tie": 1}, "⊥ and ⊥: T": {"none": lambda T: (T, T + 1)},
        "⊥ and ⊥: any, T = 2^64": {"T": 2**64, "none": lambda T: (0, T + 1)}, "base 4, T=8192": {"T": 8192, "base": 4},
        "ln": {"b": D(1).exp()}, "ε=0.5": H | {"r": 800}, "δ=2^-30": OLD, "ε=0.5, δ=2^-30": H | OLD, "F alone": ALONE,
        "F alone, ε=0.1": ALONE | {"eps": D("0.1"), "r": 4000}, "ε=0.5, δ=1e-9, audits'": H | {"delta": D("1e-9"),
        "r": 1000, "c": 1, "ends": (2, 8, 1024, 2048, 2304, 3072)}}.items():
    print(f"{name:<25}{needs(**row)[1]}")
print("added, Q counts records: at most 3 + 5 + 1 = 9, by composition")
