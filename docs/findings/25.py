"""Finding 25: at large ε the sample size of Lemma 5.12 is too small. Python's standard library alone."""

from math import ceil, comb, exp, expm1, lgamma, log, log1p

ALPHA, BETA = 0.05, 0.01
P = 6 * ALPHA + 2**-20  # the mass on which the two thresholds differ: just above 6α


def printed_n(alpha, logs, epsilon):
    """n = (3/(αε))·(size(H) + ln(1/β)), the last line of the proof; `logs` is the bracket."""
    return ceil(3 / (alpha * epsilon) * logs)


def wrong_one(k, epsilon):
    return exp(-epsilon * k / 2) / (1 + exp(-epsilon * k / 2))


def success(n, epsilon):
    """Algorithm A on n examples, H = two thresholds: k examples tell them apart; exponential mechanism, score n - k."""
    return 1 - sum(comb(n, k) * P**k * (1 - P) ** (n - k) * wrong_one(k, epsilon) for k in range(n + 1))


def log_failure(N, log_beta, epsilon, k):
    """ln of a lower bound on the failure for H = {h_1, …, h_N, b}, c = 0, α = 1/N: h_i errs at point i, b at point z.

    D(z) is just above 6α, the rest even. The event: b errs on k examples and every h_i on more (Chernoff and a union
    bound), so that b is chosen with probability ≥ 1/(1 + N·e^{-ε/2}).
    """
    n = printed_n(1 / N, log(N + 1) - log_beta, epsilon)
    p, m = 6 / N * (1 + 1e-9), n - k
    a = k / m
    divergence = a * log(a * N) + (1 - a) * log((1 - a) / (1 - 1 / N))
    choose = lgamma(n + 1) - lgamma(k + 1) - lgamma(m + 1)
    at_z = choose + k * log(p) + m * log1p(-p)
    return n, at_z + log1p(-N * exp(-m * divergence)) - log1p(N * exp(-epsilon / 2))


LOGS = log(2) + log(1 / BETA)
print(f"α = {ALPHA}, β = {BETA}, THRESH on two points: size(H) + ln(1/β) = ln 200 = {LOGS:.6f}")
print(f"guaranteed: error ≤ 6α with probability ≥ 1 - 4β = {1 - 4 * BETA}")
print("ε      printed n   success    max{1, 1/ε} for 1/ε   success")
for epsilon in (1, 9.6, 45, 46, 300, 318):
    n, corrected = printed_n(ALPHA, LOGS, epsilon), printed_n(ALPHA, LOGS, min(1, epsilon))
    print(f"{epsilon:<6} {n:<11} {success(n, epsilon):.7f}  {corrected:<22} {success(corrected, epsilon):.7f}")
print("ε = 300, n = 2, term by term (k examples on the point where the concepts differ):")
for k in range(3):
    chance = comb(2, k) * P**k * (1 - P) ** (2 - k)
    print(f"  k = {k}: probability {chance:.7f}, wrong one chosen with {wrong_one(k, 300):.3g}")
LIMIT = 3 * (5 - log(6))
print(f"\nprinted n is enough up to ε = 3(5 - ln 6) = {LIMIT:.4f}; ln 6 = {log(6):.4f}, 5 - ln 6 = {5 - log(6):.4f}")
for epsilon in (0.5, 2, 2 * log(6)):
    rate = -6 * expm1(-epsilon / 2) - epsilon / 2
    print(f"  ε = {epsilon:.4f}: 6(1 - e^(-ε/2)) - ε/2 = {rate:.4f} ≥ ε/3 = {epsilon / 3:.4f}")
n, fails = log_failure(300, -30000.0, 10, 8645)
print(f"beyond it, ε = 10, α = 1/300, β = e^-30000, n = {n}:")
print(f"  ln Pr[failure] ≥ {fails:.3f}, allowed ln 4β = {log(4) - 30000:.3f}")
print("\nreadings")
print("  any constant in the O: at some ε it asks for one example; success then", f"{success(1, 318):.7f}")
print("  relation: none, a utility claim (privacy holds); logarithm: natural, size(H) = ln|H| (Definition 5.3)")
