"""Finding 13: A′ with its printed weights prefers the hypothesis with the most wrong labels. The standard library."""

from math import ceil, comb, exp, log, log2


def size_of_proof(n_hypotheses, epsilon, logarithm):
    """Least n at which Lemma 3.2 with a = ln 8 gives training error ≤ 1/8: 2(ln|H| + a)/ε ≤ n/8."""
    return ceil(16 * logarithm(8 * n_hypotheses) / epsilon)


def weight(wrong, epsilon, reading):
    """Step of A′: the weight of a hypothesis with so many wrong labels, in three readings of the two minus signs."""
    score = wrong if reading == "score = n·err" else -wrong
    return exp(epsilon * score / 2) if reading == "weight e^(ε·score/2)" else exp(-epsilon * score / 2)


def success(n, p, epsilon, reading, bad=1):
    """Pr[the target comes out]: `bad` other hypotheses err on the same Bin(n, p) examples, the target on none."""
    total = 0.0
    for wrong in range(n + 1):
        chance = comb(n, wrong) * p**wrong * (1 - p) ** (n - wrong)
        good, other = weight(0, epsilon, reading), weight(wrong, epsilon, reading)
        total += chance * good / (good + bad * other)
    return total


def kept(epsilon):
    """q, with the right sign: an example multiplies the mean weight of a hypothesis of error > 1/4 by less than it."""
    return 1 - (1 - exp(-epsilon / 2)) / 4


PRINTED, MEANT = "as printed", "weight e^(ε·score/2)"
print("H = {c₀, c₁}, D all at 1, c₀(1) = 0, c₁(1) = 1, target c₀: c₁ is wrong on all n examples, its error is 1")
for epsilon in (1.0, 0.1):
    print(f"ε = {epsilon:g}: " + "; ".join(
        f"n = {n}: Pr[c₀] = {success(n, 1.0, epsilon, PRINTED):.6g}" for n in (1, 4, 45)
    ))
print(f"1/(1 + e^(45/2)) = {1 / (1 + exp(22.5)):.6g}; guaranteed: 0.75")
print(f"16·ln 16 = {16 * log(16):.4f}; Lemma 3.2 with a = ln 8, n = 45: training error ≤ {2 * log(16) / 45:.4f}")
worst = max(success(n, 1.0, e / 100, PRINTED) for n in range(200) for e in range(1, 101))
print(f"most over n < 200 and ε = 0.01, 0.02, …, 1: {worst:.6g} (n = 0)")
eight = [f"{success(67, 0.251, 1.0, reading, 7):.6g}" for reading in (PRINTED, MEANT)]
print(f"|H| = 8, seven hypotheses wrong on the same 0.251 of D, n = {size_of_proof(8, 1, log)}: "
      f"{eight[0]} as printed, {eight[1]} with the right sign")
q = kept(1.0)
print(f"corrected, ε = 1: q = {q:.6f}, ln(1/q) = {log(1 / q):.6f}; n from ln(4(|H| − 1))/ln(1/q) on: "
      + ", ".join(f"{ceil(log(4 * (m - 1)) / log(1 / q))} for |H| = {m}" for m in (2, 8)))
most = max((m - 1) * exp(-16 * log(8 * m) * log(1 / q)) for m in range(2, 10_000))
print(f"(|H| − 1)·q^n at n = 16·ln(8|H|), ε = 1, over |H| < 10,000: at most {most:.6f}")

print("\nPr[c₀] at the n of the proof, ε = 1 (guaranteed: 0.75)")
print("reading of the two signs        n = 45 (natural log)  n = 64 (log to base 2)")
assert [size_of_proof(2, 1, base) for base in (log, log2)] == [45, 64]
for reading in (PRINTED, "score = n·err", MEANT):
    bad = [success(n, 1.0, 1.0, reading) for n in (45, 64)]
    cells = [f"{x:.6g}" if x < 0.5 else f"1 − {1 / (1 + exp(n / 2)):.6g}" for x, n in zip(bad, (45, 64), strict=True)]
    print(f"{reading:<31} {cells[0]:<21} {cells[1]}")
print("relation: none, a utility claim")
