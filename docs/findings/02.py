"""Finding 2: LearnPoints on A_dist costs 2ε where an example is replaced. Python's standard library alone."""

from decimal import Decimal as D
from decimal import getcontext
from itertools import product

getcontext().prec = 40
EPSILON, DELTA = D(1), D("1e-6")
LOG_2, LOG_E = (1 / DELTA).ln() / D(2).ln() / EPSILON, (1 / DELTA).ln() / EPSILON


def a_dist(counts, threshold):
    """Steps 1, 2: Pr[0], Pr[1], Pr[⊥] for so many examples (0, 1) and (1, 1); of equal counts the point 0 wins."""
    gap = abs(counts[0] - counts[1])
    tail = (-abs(threshold - gap) * EPSILON).exp() / 2
    answered = tail if threshold >= gap else 1 - tail
    return [answered, D(0), 1 - answered] if counts[0] >= counts[1] else [D(0), answered, 1 - answered]


def learn_points(counts, threshold, size):
    """Steps 3, 4: Pr[c_0], Pr[c_1], Pr[any other concept]; after ⊥ a random one of the |X| concepts."""
    p0, p1, none = a_dist(counts, threshold)
    return [p0 + none / size, p1 + none / size, none * (size - 2) / size]


def epsilon_needed(p, q, delta):
    """The least ε′ with P[F] ≤ e^ε′·Q[F] + δ for every event F, in both directions."""
    least = D(0)
    for inside in product([0, 1], repeat=len(p)):
        for one, other in ((p, q), (q, p)):
            a = sum(x for x, i in zip(one, inside, strict=True) if i)
            b = sum(x for x, i in zip(other, inside, strict=True) if i)
            if a > delta:
                least = max(least, ((a - delta) / b).ln() if b else D("inf"))
    return least


def of_pair(s, t, threshold=LOG_2, size=256):
    return epsilon_needed(learn_points(s, threshold, size), learn_points(t, threshold, size), DELTA)


grid = [(a, b) for a in range(25) for b in range(25 - a)]
relabelled = [((a, b), (a - 1, b + 1)) for a, b in grid if a] + [((a, b), (a + 1, b - 1)) for a, b in grid if b]
added = [((a, b), (a + i, b + 1 - i)) for a, b in grid for i in (0, 1)]
print(f"ε = 1, δ = 1e-6, |X| = 256, threshold t = log2(1/δ)/ε = {LOG_2:.8f}")
pr = []
for name, s in (("(0,1)×22", (22, 0)), ("(0,1)×21, (1,1)", (21, 1))):
    pr.append(sum(learn_points(s, LOG_2, 256)[1:]))
    print(f"{name:<16} Pr[⊥] = {a_dist(s, LOG_2)[2]:.8f}, Pr[not c_0] = {pr[-1]:.8f}")
print(f"ratio {pr[1] / pr[0]:.6f}; allowed: e·Pr + δ = {pr[0] * D(1).exp() + DELTA:.8f}")
print(f"least ε for this pair: {of_pair((22, 0), (21, 1)):.10f}; δ needed at ε = 1: {pr[1] - D(1).exp() * pr[0]:.6f}")
few = [of_pair((n, 0), (n - 1, 1)) for n in (16, 17)]
print(f"16 examples: {few[0]:.6f}; 17 examples: {few[1]:.6f}; 1/ln 2 = {1 / D(2).ln():.4f}")
print("\nworst of up to 24 positive examples at two points, any number of negative ones; ε needed (1 claimed)")
print("neighbours         |X|       log to base 2   natural logarithm")
rows = (("replace one", relabelled + added), ("add or remove one", added))
for (name, pairs), size in product(rows, (3, 256, 10**7)):
    cells = [max(of_pair(s, t, threshold, size) for s, t in pairs) for threshold in (LOG_2, LOG_E)]
    print(f"{name:<18} {size:<9} {cells[0]:.8f}      {cells[1]:.8f}")
print("ties to the greater point: the same, with the two points exchanged")
