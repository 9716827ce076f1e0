"""Finding 27: disjoint blocks are too few where αn is not a whole number. Python's standard library alone."""

from fractions import Fraction as F
from math import ceil


def success(blocks, delta, need):
    """Pr[at least `need` records published], blocks of these sizes, each published with probability δ on its own."""
    chances = {0: F(1)}  # records published → probability
    for size in blocks:
        after = {}
        for held, chance in chances.items():
            for more, p in ((size, delta), (0, 1 - delta)):
                after[held + more] = after.get(held + more, 0) + chance * p
        chances = after
    return sum(chance for held, chance in chances.items() if held >= need)


def partitions(n, largest=None):
    """All ways to cut n records into blocks."""
    if n == 0:
        yield ()
    for first in range(min(n, largest or n), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


def window(n, alpha, delta):
    """Corrected: one of the n cyclic windows of ⌈αn⌉ records, with probability δ·n/⌈αn⌉ in all."""
    return delta * n / ceil(alpha * n)


for n, alpha, delta in ((3, F("0.34"), F("0.1")), (10, F("0.101"), F("0.1"))):
    need, claimed = ceil(alpha * n), delta / (2 * alpha)
    print(f"n = {n}, α = {float(alpha)}, δ = {float(delta)}: 1/α = {float(1 / alpha):.4f} ≤ n, "
          f"αn = {float(alpha * n):.4f}, so h(S) ≥ α needs {need} records")
    printed = success((need,) * (n // need), delta, need)
    print(f"  claimed δ/(2α)                       = {float(claimed):.6f}")
    print(f"  {n // need} blocks of {need}, Pr[h(S) ≥ α]            = {float(printed):.6f}")
    best = max((success(cut, delta, need), cut) for cut in partitions(n))
    print(f"  best of all cuts into disjoint blocks = {float(best[0]):.6f}, blocks {best[1]}")
    print(f"  a window of {need}, δ·n/⌈αn⌉               = {float(window(n, alpha, delta)):.6f}, "
          f"at most δ/α = {float(delta / alpha):.6f}")

print("\nreadings of \"1/α databases of size αn each\" at n = 3, α = 0.34, δ = 0.1")
for name, cut in (("blocks of ⌈αn⌉ = 2, one fits", (2,)), ("the same, the last record a block too", (2, 1)),
                  ("⌊1/α⌋ = 2 blocks of ⌊αn⌋ = 1", (1, 1)), ("⌈1/α⌉ = 3 blocks of 1", (1, 1, 1)),
                  ("one block of 3", (3,))):
    print(f"  {name:<38} {float(success(cut, F('0.1'), 2)):.6f}")
print("  relation: a dataset has n records, replaced; add or remove one record does not apply; logarithm: none occurs")
whole = [(n, a, F(d, 100) * F(a, n)) for n in range(1, 31) for a in range(1, n + 1) for d in range(1, 100)]
print("\nαn whole, n ≤ 30, 99 values of δ < α: ⌊1/α⌋ blocks reach δ/(2α) in all",
      all(1 - (1 - d) ** (n // a) >= d * n / (2 * a) for n, a, d in whole), f"{len(whole)} cases")
tried = [(n, a, ceil(F(a, 1000) * n)) for n in range(1, 13) for a in range(ceil(1000 / n), 1000)]
short = [n for n, a, need in tried if success((need,) * (n // need), F(1, 1000), need) < F(1, 2 * a)]
print("fewest records short of δ/(2α), δ = 0.001, α a multiple of 0.001:", min(short), "records")
