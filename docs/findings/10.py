"""Finding 10: no threshold labels a dataset whose middle records are equal. Python's standard library alone."""

from collections import Counter
from itertools import combinations_with_replacement, product
from math import exp


def printed(S, m, low, high):
    """D of the proof: the smaller half labelled 1, the larger half 0; pads (min X, 1), (max X, 0), to size m."""
    S, half = sorted(S), len(S) // 2
    return [(x, 1) for x in S[:half]] + [(x, 0) for x in S[half:]] + [(low, 1), (high, 0)] * ((m - len(S)) // 2)


def corrected(S, m, low, high):
    """The larger half moves up by one; (min X, 1), on which no c_z errs, stands for (max X + 1, 0) and for all pads."""
    S, half = sorted(S), len(S) // 2
    up = [(x + 1, 0) if x < high else (low, 1) for x in S[half:]]
    return [(x, 1) for x in S[:half]] + up + [(low, 1)] * (m - len(S))


def right(z, D):
    """How many examples c_z labels rightly, where c_z(x) = 1 iff x ≤ z (Definition 3.9)."""
    return sum((x <= z) == y for x, y in D)


def learner(D, X, epsilon, enough=10**9):
    """An ε-DP proper learner: Pr[c_z] ∝ exp((ε/2)·min(rightly labelled, enough)); enough is only for the notes."""
    scores = {z: min(right(z, D), enough) for z in X}
    weights = {z: exp(epsilon / 2 * (s - max(scores.values()))) for z, s in scores.items()}
    return {z: w / sum(weights.values()) for z, w in weights.items()}


def success(S, m, X, epsilon, make=printed, **more):
    """Pr[z is an interior point of S]."""
    p = learner(make(S, m, X[0], X[-1]), X, epsilon, **more)
    return sum(p[z] for z in X if min(S) <= z <= max(S))


X, S = (0, 1), (1, 1)
D = printed(S, 4, 0, 1)
print("X = {0, 1}, S = {1×2}, α = 1/6, n/(3α) = 4, ε = 1:  D =", D)
print("labelled rightly by c_0 and c_1:", [right(z, D) for z in X], f" success, Pr[c_1]: {success(S, 4, X, 1):.6f}")
fit = [[(x, int(x <= j)) for x in xs] for xs in combinations_with_replacement(X, 4) for j in X]
beta = max(sum(p for z, p in learner(E, X, 1).items() if right(z, E) < 4) for E in fit)
print(f"the learner's β on 4 examples that a threshold labels: {beta:.6f}; guaranteed: {1 - beta:.6f}")
print(f"corrected: D = {corrected(S, 4, 0, 1)}, success {success(S, 4, X, 1, corrected):.6f}\n")
for make, v in product((printed, corrected), (3, 7)):
    p = success([v] * 30, 80, range(8), 2, make)
    print(f"{make.__name__:<9}, |X| = 8, n = 30, α = 1/8, ε = 2, {{{v}×30}}: success {p:.6g}")
print("\nα = 1/6, every dataset of n records of {0, …, 3}: a threshold labels D; all c_z of error ≤ α are interior")
for make, n in product((printed, corrected), (2, 4)):
    made = {S: Counter(make(S, 2 * n, 0, 3)) for S in combinations_with_replacement(range(4), n)}
    fits = sum(any(right(z, D.elements()) == 2 * n for z in range(4)) for D in made.values())
    inside = all(S[0] <= z <= S[-1] for S, D in made.items() for z in range(4) if 3 * right(z, D.elements()) >= 5 * n)
    rows = max((made[S] - made[T]).total() for S in made for T in made if (Counter(S) - Counter(T)).total() == 1)
    print(f"{make.__name__:<9} n = {n}: {fits} of {len(made)}; {inside}; one record changes at most {rows} rows")
print("\nrelation: none, a utility claim; logarithm: none occurs. n = 24, α = 1/8, {31×12, 32×12}, |X| = 64, ε = 2:")
for name, m in (("notes, n/α examples", 192), ("thesis, n/(3α) examples", 64)):
    p = success([31] * 12 + [32] * 12, m, range(64), 2, enough=m - m // 16)
    print(f"{name:<23}: success {p:.6f}, guaranteed {1 - 63 * exp(-m // 16 - 1):.6f}")
