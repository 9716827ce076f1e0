"""Finding 24: |err − err^| is above the bound without the square root. The standard library and numpy."""

import math

import numpy as np

LOGS = (("natural log", math.log), ("log to base 2", math.log2))


def bound(n, beta, log, err=0.0):
    """Lemma 4.8 for k = d² = 1 at failure probability beta; without its square root where err = 0."""
    return math.sqrt(err * 4 * log(n / beta) / n) + 8 * log(n / beta) / n + 2 / n


def failure(n, beta, log, root=False):
    """Pr[|K/n − 1/2| > bound], K ~ Bin(n, 1/2) the number of labels 1. With the root: err^ is K/n or 1 − K/n."""
    low = n // 2  # the smallest K that is not below n/2 by more than the bound allows
    if root:
        while low > 0 and 0.5 - (low - 1) / n <= bound(n, beta, log, (low - 1) / n):
            low -= 1
        ln_last = math.lgamma(n + 1) - math.lgamma(low) - math.lgamma(n - low + 2) - n * math.log(2)
        ratios = np.arange(low - 1, 0, -1) / np.arange(n - low + 2, n + 1)
        return 2 * math.exp(ln_last) * (1 + np.cumprod(ratios).sum())
    low = max(0, math.ceil(n / 2 - n * bound(n, beta, log)))
    middle = math.exp(math.lgamma(n + 1) - math.lgamma(n // 2 + 1) - math.lgamma(n - n // 2 + 1) - n * math.log(2))
    k = np.arange(n // 2, low, -1)
    inside = middle * (2 + 2 * np.cumprod(k / (n - k + 1)).sum()) - (middle if n % 2 == 0 else 0)
    return 1 - inside if low > 0 else 0.0


def by_hand(n, beta, log):
    """For even n: the number of K within the bound, and so the least failure, as each has probability ≤ √(2/(πn))."""
    values = 2 * math.floor(n * bound(n, beta, log)) + 1
    return values, 1 - values * math.sqrt(2 / (math.pi * n))


BETA = 1 / 8  # β/4 for β = 1/2
print("d = 1, x = 0 always, y a fair coin: |err − err^| = |K/n − 1/2|; β = 1/2, so a failure of 0.125 is allowed")
print(f"n = 100,000: √(2/(πn)) = {math.sqrt(2 / (math.pi * 100_000)):.8f}")
for name, log in LOGS:
    values, least = by_hand(100_000, BETA, log)
    print(f"{name}: log(8n) = {log(800_000):.6f}, bound {bound(100_000, BETA, log):.9f}, {values} values of K within")
    print(f"    failure at least {least:.6f}, exactly {failure(100_000, BETA, log):.6f}; "
          f"at n = 10⁶ {by_hand(10**6, BETA, log)[1]:.6f} and {failure(10**6, BETA, log):.6f}")
for n in (30_000, 100_000):
    print(f"n = {n:,} with the root: failure {failure(n, BETA, math.log, root=True):.1e}")
n, beta = 5_408, 4.46e-5 / 4
print(f"fewest n at any β: n = {n:,}, β = 4.46e-5: failure {failure(n, beta, math.log):.6g} of β/4 = {beta:.6g}")

print("\nβ = 1/2: the n at which the failure exceeds 0.125")
print("               first n   every n from   bound at 30,000   failure at 30,000")
for name, log in LOGS:
    above = [n for n in range(2, 45_000) if failure(n, BETA, log) > BETA]
    last = max(set(range(2, 45_000)) - set(above)) + 1
    print(f"{name:<14} {above[0]:,}    {last:,}         {bound(30_000, BETA, log):.6f}          "
          f"{failure(30_000, BETA, log):.6f}")
least = 1 - (2 * 45_000 * bound(45_000, BETA, math.log) + 1) * math.sqrt(2 / (math.pi * 45_000))
print(f"every n ≥ 45,000, natural log: failure ≥ 1 − (16·ln(8n) + 5)·√(2/(πn)) ≥ {least:.6f}, its value at 45,000")
print("relation: none, a statement about the sample and the output; ε does not occur")
