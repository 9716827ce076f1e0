"""Finding 30: the releases of NumericSparse are less accurate than stated where δ > 0. The standard library alone."""

from math import exp, expm1, log, log1p, sqrt

DELTA, BETA, ROOT = 1e-6, 0.05, sqrt(512)


def shares(epsilon, reading):
    """Algorithm 3, line 1, for δ > 0: ε_1 and ε_2."""
    return {"ε_2 with ε": (ROOT * epsilon / (ROOT + 1), 2 * epsilon / (ROOT + 1)),
            "ε_2 as printed, without ε": (ROOT * epsilon / (ROOT + 1), 2 / (ROOT + 1)),
            "releases with ε/√512": (ROOT * epsilon / (ROOT + 1), 2 * epsilon / ROOT),
            "corrected": (8 * epsilon / 9, 2 * epsilon / 9)}[reading]


def sigma(epsilon, c):
    """Algorithm 3, line 2, for δ > 0."""
    return sqrt(32 * c * log(2 / DELTA)) / epsilon


def alpha(epsilon, c, k, reading):
    """Theorem 3.28, and the corrected one."""
    factor = 9 * ROOT / 8 if reading == "corrected" else ROOT + 1
    return (log(k) + log(4 * c / BETA)) * sqrt(c * log(2 / DELTA)) * factor / epsilon


def off(epsilon, c, k, reading):
    """Pr[|Lap(σ(ε_2))| > α] of one release."""
    return exp(-alpha(epsilon, c, k, reading) / sigma(shares(epsilon, reading)[1], c))


def below(distance, scale):
    """Pr[f + Lap(2b) < T + Lap(b)] for f - T = distance ≥ 0: the answer is ⊥."""
    return (4 * exp(-distance / (2 * scale)) - exp(-distance / scale)) / 6


name = "ε_2 with ε"
(e1, e2), a, x = shares(1, name), alpha(1, 1, 1, name), off(1, 1, 1, name)
s, low = sigma(e2, 1), below(1579 - 1184, sigma(e1, 1))
print(f"c = k = 1, ε = 1, δ = {DELTA}, β = {BETA}")
print(f"Λ = ln(4c/β) = {log(4 / BETA):.6f}, √(ln(2/δ)) = {sqrt(log(2 / DELTA)):.6f}, √512 + 1 = {ROOT + 1:.6f}")
print(f"α = {a:.3f}, corrected {alpha(1, 1, 1, 'corrected'):.3f}, {alpha(1, 1, 1, 'corrected') / a:.3f} times as much")
print(f"σ(ε_1) = {sigma(e1, 1):.3f}, σ(ε_2) = {s:.3f} = √8·α/Λ; α/σ(ε_2) = {a / s:.6f} = Λ/√8")
print(f"Pr[a release is off by more than α] = {x:.6f} = (β/4)^(1/√8); allowed in all: {BETA}")
print(f"f_1 = 1,579, T = 1,184: Pr[⊥] = {low:.6f}, Pr[not accurate] = {low + (1 - low) * x:.6f}")
print(f"c = k = 1: (β/4)^(1/√8) > β for β < 4^(-1/(√8 - 1)) = {exp(log(4) / (1 - sqrt(8))):.6f}")
print("\nin every reading (relation: none, a utility claim; all logarithms are natural), answers far above T")
print("Pr[some of c = k releases is off by more than α], β = 0.05     c = 1      10         100        1000")
for name, e in (("ε_2 with ε", 1), ("ε_2 with ε", 0.1), ("ε_2 as printed, without ε", 1),
                ("ε_2 as printed, without ε", 0.5), ("releases with ε/√512", 1), ("corrected", 1)):
    some = (-expm1(c * log1p(-off(e, c, c, name))) for c in (1, 10, 100, 1000))
    print(f"{name + f', ε = {e}':<61}" + "  ".join(f"{p:<9.6f}" for p in some))
