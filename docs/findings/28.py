"""Finding 28: the proof of Lemma 5.17 counts one round twice. Python's standard library alone."""

from fractions import Fraction as F
from math import log


def experiment(D, wrong):
    """The thought experiment for c = 0: D_1, D_2, …, D_{T+1}; `wrong[t]` holds the points on which h_t errs."""
    rounds = [list(D)]
    for errs in wrong:
        D = rounds[-1]
        e = sum(D[x] for x in errs)
        assert e <= F(1, 4)  # h_t is 1/4-good for D_t
        assert sum(D) == 1
        rounds.append([2 * p if x in errs else (1 - e / (1 - e)) * p for x, p in enumerate(D)])
    return rounds


def report(name, D, wrong):
    """R, the R_t, and both printed steps; R is where at least T/2 of the hypotheses err."""
    T, rounds = len(wrong), experiment(D, wrong)
    R = [x for x in range(len(D)) if sum(x in errs for errs in wrong) >= F(T, 2)]
    last = {x: max(t for t in range(T) if x in wrong[t]) for x in R}
    grows = (4 / 3) ** (T / 2)
    print(f"{name}: T = {T}, {len(D)} points, (4/3)^(T/2) = {grows:.6f}, half of it {grows / 2:.6f}")
    for t in sorted(set(last.values())):
        first, later = (sum(masses[x] for x in R if last[x] == t) for masses in (rounds[0], rounds[t]))
        show = f"  D(R_{t + 1}) = {first} = {float(first):.6f}, D_{t + 1}(R_{t + 1}) = {later} = {float(later):.6f}"
        print((show if len(show) < 90 else f"  t = {t + 1}") + f", ratio {float(later / first):.6f}")
    error, end = sum(D[x] for x in R), sum(rounds[-1][x] for x in R)
    print(f"  D(R) = {float(error):.6f}; printed (T/8)(3/4)^(T/2) = {T / 8 * 0.75 ** (T / 2):.6f}, "
          f"corrected (3/4)^(T/2) = {0.75 ** (T / 2):.6f}; D_(T+1)(R) = {float(end):.6f} ≤ 1")
    return rounds


few = report("two rounds", [F(3, 5), F(1, 5), F(1, 5)], [{1}, {2}])
for t, D in enumerate(few, 1):
    print(f"  D_{t} =", ", ".join(str(p) for p in D))
ten = report("\na printed T (α = 0.98)", [F(p, 45) for p in (6, 2, 9, 12, 16)], [{2}, {3}, {4}, {2}, {3}] + [{1}] * 5)
for t, (D, errs) in enumerate(zip(ten, [{2}, {3}, {4}, {2}, {3}] + [{1}] * 5, strict=False), 1):
    print(f"  round {t}: error {float(sum(D[x] for x in errs)):.6f}, D_{t}(x) = {float(D[1]):.6f}")
strings = [x for x in range(1 << 10) if x.bit_count() <= 5]  # h_t errs where digit t is 1
total = sum(3 ** (10 - x.bit_count()) for x in strings)
digits = [{i for i, x in enumerate(strings) if x >> t & 1} for t in range(10)]
report("\nall strings of at most 5 ones", [F(3 ** (10 - x.bit_count()), total) for x in strings], digits)
print(f"\nprinted T = 14·ln(2/α): {14 * log(2):.4f} as α → 1, {14 * log(2 / 0.98):.4f} at α = 0.98, so at least 10")
print(f"(3/4)^(T/2) = (α/2)^(7·ln(4/3)) = (α/2)^{7 * log(4 / 3):.4f}; 2/ln(4/3) = {2 / log(4 / 3):.4f}")
below = [T for T in range(1, 100) if 0.75 ** (T / 2) > T / 8 * 0.75 ** (T / 2)]
print("the corrected bound is above the printed one only for T =", below)
print("\nreadings: a tie of the majority is 1, as printed (≥ T/2); a tie to 0 would leave R empty for T = 2")
print("relation: none, a utility claim; logarithm: natural as printed, in T alone")
