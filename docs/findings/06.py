"""Finding 6: LearnPoints fails with a probability that grows with δ. Python's standard library alone."""

from math import ceil, exp, log


def answered(gap, epsilon, delta, base):
    """A_dist: Pr[gap + Lap(1/ε) ≥ (1/ε)·log(1/δ)]."""
    t = log(1 / delta) / log(base) / epsilon
    return exp(-(t - gap) * epsilon) / 2 if gap <= t else 1 - exp(-(gap - t) * epsilon) / 2


def fails(size, bad, epsilon, delta, base, ties):
    """Pr[error > α] where no sample has a positive example and `bad` of the |X| concepts have error > α.

    All qualities are 0 and so is the gap; A_dist answers with the solution that wins the ties, or ⊥.
    """
    pi = answered(0, epsilon, delta, base)
    worst_tie = {"to a bad concept": 1.0, "to a good concept": 0.0, "at random": bad / size}[ties]
    return pi * worst_tie + (1 - pi) * bad / size


def sample_size(alpha, beta, epsilon, delta):
    """The numbers of the proof: (8/(αε))·ln(4/(βδ)) and (16/α)·ln(2/β)."""
    return ceil(max(8 / (alpha * epsilon) * log(4 / (beta * delta)), 16 / alpha * log(2 / beta)))


E = exp(1)
print("D at the point 0 alone, target c_1; ties go to 0; α = 0.1, β = 0.05, |X| = 2/(αβ) = 400, δ = 1/4, ε = 1")
print("examples that the proof asks for:", sample_size(0.1, 0.05, 1, 0.25))
print(f"π = Pr[Lap(1) ≥ log2(4)] = e^−2/2 = {answered(0, 1, 0.25, 2):.6f}")
print(f"(1 − π)/400 = {(1 - answered(0, 1, 0.25, 2)) / 400:.6f}")
print(f"Pr[error > α] = {fails(400, 1, 1, 0.25, 2, 'to a bad concept'):.6f}, allowed β = 0.05")
print(f"exponent 1/ln 2 = {1 / log(2):.4f}")
print("the same for ε = 0.1, 1, 10:",
      *(f"{fails(400, 1, epsilon, 0.25, 2, 'to a bad concept'):.6f}" for epsilon in (0.1, 1, 10)))
print(f"|X| = 4, α = 0.99, β = 0.51, δ = 0.9: {fails(4, 1, 1, 0.9, 2, 'to a bad concept'):.6f}, "
      f"least β for |X| = 4: {2 / (0.99 * 4):.6f}")

print("\nD uniform on ten points, α = 0.099, β = 0.05, |X| = 405: so ten concepts have error 0.1; 2/(αβ) = "
      f"{2 / (0.099 * 0.05):.1f}")
for delta, base in ((0.12, 2), (0.13, 2), (0.05, E), (0.06, E)):
    pi = answered(0, 1, delta, base)
    name = "base 2" if base == 2 else "natural"
    print(f"δ = {delta}, log {name:<8} π = {pi:.6f} (β/2 = 0.025): Pr[error > α] = "
          f"{fails(405, 10, 1, delta, base, 'to a bad concept'):.6f}")

print("\nα = 0.1, β = 0.05, |X| = 400, D at the point 0 alone: Pr[error > α]")
print("ties go           δ      log to base 2   natural logarithm")
for ties in ("to a bad concept", "to a good concept", "at random"):
    for delta in (0.25, 0.05, 1e-6):
        cells = [f"{fails(400, 1, 1, delta, base, ties):.6f}" for base in (2, E)]
        print(f"{ties:<17} {delta:<6} {cells[0]}        {cells[1]}")
print("relation: none, a utility claim")
