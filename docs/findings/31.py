"""Finding 31: NumericSparse halts with its c-th answer above the threshold. Python's standard library alone."""

from math import exp, log, log10, sqrt

EPSILON, BETA, ROOT = 1.0, 0.05, sqrt(512)


def accuracy(k, c, delta):
    """α of Theorem 3.28."""
    logs = log(k) + log(4 * c / BETA)
    return logs * (sqrt(c * log(2 / delta)) * (ROOT + 1) if delta else 9 * c) / EPSILON


def scale(c, delta):
    """σ(ε_1) of Algorithm 3."""
    return (sqrt(32 * c * log(2 / delta)) * (ROOT + 1) / ROOT if delta else 2 * c * 9 / 8) / EPSILON


def below(distance, b):
    """Pr[f + Lap(2b) < T + Lap(b)] for f - T = distance: f is answered ⊥."""
    tail = (4 * exp(-abs(distance) / (2 * b)) - exp(-abs(distance) / b)) / 6
    return tail if distance >= 0 else 1 - tail


def second(f, T, c, delta):
    """Pr[f_2 is answered]: with c = 1 if f_1 is answered ⊥, with c = 2 always."""
    return below(f[0] - T, scale(c, delta)) if c == 1 else 1.0


print(f"ε = {EPSILON:g}, β = {BETA}, k = 2, c = 1, δ = 0: α = 9·ln(2·4/β) = {accuracy(2, 1, 0):.4f}, "
      f"σ(ε_1) = {scale(1, 0):.2f}")
print(f"f = (10000, 0), T = 5000: log10 Pr[f_2 is answered] = log10(2/3) - 5000/4.5·log10(e) = "
      f"{log10(2 / 3) - 5000 / 4.5 * log10(exp(1)):.2f}")
print(f"with δ = 1e-6: α = {accuracy(2, 1, 1e-6):.4f}, σ(ε_1) = {scale(1, 1e-6):.4f}, "
      f"Pr[f_2 is answered] = {second((10_000, 0), 5_000, 1, 1e-6):.3g}")
print(f"\nin every reading (relation: none, a utility claim; all logarithms are natural); {1 - BETA} is guaranteed")
print("                                   is the theorem's condition met?")
print("f            T     c  δ     L(T) ≤ c  L(T) < c  fewer than c before f_k   Pr[f_2 is answered]")
for f, T, c, delta in (((46, 0), 46, 1, 0), ((200, 0), 100, 1, 0), ((10_000, 0), 5_000, 1, 0),
                       ((10_000, 0), 5_000, 1, 1e-6), ((10_000, 0), 5_000, 2, 0), ((0, 10_000), 5_000, 1, 0)):
    near = [x >= T - accuracy(2, c, delta) for x in f]
    met = ["yes" if one else "no" for one in (sum(near) <= c, sum(near) < c, sum(near[:-1]) < c)]
    reached = f"{second(f, T, c, delta):.6g}" if second(f, T, c, delta) else "< 1e-300"
    print(f"{f!s:<12} {T:<5} {c}  {delta:<5} {met[0]:<9} {met[1]:<9} {met[2]:<25} {reached}")
