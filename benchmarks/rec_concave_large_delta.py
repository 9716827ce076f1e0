"""From which δ on (3Nε, 3Nδ) holds for RecConcave as printed, and up to which δ pairs refute it.

python benchmarks/rec_concave_large_delta.py > benchmarks/rec_concave_large_delta.md

Upper bounds compose the worst-case curves of A_dist and of the exponential mechanism; lower bounds are exact
distributions of the catalogue. Nothing is drawn at random but the pairs that test the curves. Progress on stderr.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from dpaudit.interpret import align, law
from dpaudit.language import FloatArray, PiecewiseConstantScore
from dpaudit.stats.hockey_stick import epsilon_at_symmetric, profile_symmetric
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_audits.interior_points.rec_concave import four_calls, three_calls_at_large_delta

POINTS = 60
"""Grid points per ε of a curve's argument."""
SLACK = 1e-6
"""A bound counts only if it holds with this relative margin: far more than the rounding of doubles."""
RATIO = 1.01
"""Between neighbouring δ of the walk down from 1/(3N)."""

Piece = tuple[int, int, float, int, bool]
"""Start; how many t its score is below H; what is added to that; its change for record 1; whether it is a comb."""

CLIMBED: dict[float, tuple[float, float, tuple[Piece, ...]]] = {
    0.1: (
        1.36e-5,
        0.2,
        (
            (0, 0, -9, -1, False),
            (14, 0, 0, -1, True),
            (60, 0, 0, -1, True),
            (485, 2, 0, -1, False),
            (1586, 1, -3, -1, False),
            (1792, 1, -2, -1, False),
            (2048, 1, -1.8, 1, False),
            (2304, 2, 5, -1, False),
            (2559, 2, 0, -1, False),
        ),
    ),
    0.5: (
        6.36e-5,
        1,
        (
            (0, 0, 0, -1, False),
            (4, 0, -3, -1, False),
            (8, 0, 0, -1, True),
            (506, 2, 0, -1, False),
            (1536, 1, -2, -1, False),
            (2048, 1, -1.8, 1, False),
            (2304, 1, -2, -1, False),
            (2560, 2, 0, -1, False),
        ),
    ),
    1.0: (
        3.69e-5,
        2.26,
        (
            (0, 0, -2.1, -1, False),
            (8, 0, -0.1, -1, False),
            (12, 0, -0.1, -1, True),
            (1024, 1, -2, -1, True),
            (2048, 1, -2, 1, False),
            (2304, 1, -2, -1, False),
            (3065, 1, -2, -1, True),
            (3072, 2, -0.1, -1, False),
        ),
    ),
}
"""By ε: δ; c, the difference of k = 0 and k = 1 in the last call times ε; the scores of record 0, found by climbing."""


def pi(epsilon: float, delta: float) -> float:
    """Pr[Lap(1/ε) ≥ t − 2], t = log₂(1/δ)/ε: the most that A_dist outputs at a gap of 2."""
    over = epsilon * (math.log2(1 / delta) / epsilon - 2)
    return 0.5 * math.exp(-over) if over >= 0 else 1 - 0.5 * math.exp(over)


# --- worst-case curves: the greatest Pr[M(S) ∈ E] − e^x·Pr[M(S′) ∈ E] over all neighbours and events ---


def a_dist_curve(x: float, epsilon: float, p: float) -> float:
    """Of A_dist on 1-sensitive scores, p = `pi`.

    If the maximiser stays, the output is a function of the noisy gap, which moves by at most 2: the Laplace mechanism's
    curve, 1 − e^{(x − 2ε)/2} for |x| ≤ 2ε. If it changes, both gaps are at most 2. Then the old maximiser comes out
    with probability P ≤ p on S and never on S′, the new one never on S and with probability P′ ≤ p on S′: for x ≥ 0 the
    difference is at most max(P, 1 − e^x·(1 − P′)) ≤ p. Gaps of 2 and 0 attain p. For x < 0 exchange S and S′.
    """
    if x < 0:
        return 1 - math.exp(x) + math.exp(x) * a_dist_curve(-x, epsilon, p)
    return max(1 - math.exp((x - 2 * epsilon) / 2), p)


def exponential_curve(x: float, epsilon: float) -> float:
    """Of the exponential mechanism with weights e^{εq/2} on 1-sensitive scores, for |x| ≤ ε.

    Ratios of weights are in [e^{−ε/2}, e^{ε/2}], so those of probabilities in [e^{s − ε}, e^s] for an s in [0, ε]. The
    difference is the mean of a convex function of the ratio, whose mean is 1, so it is greatest if the ratio takes the
    two end values alone: (1 − e^{s − ε})(1 − e^{x − s})/(1 − e^{−ε}), and that is greatest at s = (x + ε)/2.
    """
    return float((1 - math.exp((x - epsilon) / 2)) ** 2 / -math.expm1(-epsilon))


def dominating(curve: Callable[[float], float], half_width: int, step: float) -> tuple[FloatArray, float]:
    """A pair whose curve is at least `curve`, a convex function of e^x: chords between the points of a grid.

    Returns:
        Probabilities of the privacy losses i·step, −half_width ≤ i ≤ half_width, under S; and that of infinite loss.
    """
    x = np.arange(-half_width, half_width + 1) * step
    at, heights = np.exp(x), np.array([curve(float(one)) for one in x])
    # from (0, 1) to the first point, and constant after the last
    slopes = np.concatenate([[(heights[0] - 1) / at[0]], np.diff(heights) / np.diff(at), [0.0]])
    bends = np.diff(slopes)
    assert bends.min() > -1e-9, "the curve is not convex"
    return np.maximum(bends, 0) * at, float(heights[-1])


@lru_cache
def exponentials(epsilon: float, times: int) -> FloatArray:
    """Probabilities of the privacy losses of so many exponential mechanisms."""
    one, infinite = dominating(lambda x: exponential_curve(x, epsilon), POINTS, epsilon / POINTS)
    assert infinite == 0
    total = np.ones(1)
    for _ in range(times):
        total = np.convolve(total, one)
    return total


def composed(N: int, epsilon: float, p: float) -> float:
    """At least the δ at 3Nε of N calls: 2(N − 1) times A_dist and N exponential mechanisms, chosen adaptively.

    Dominating pairs compose (Zhu, Dong and Wang, 2022, Theorem 10): add independent losses.
    """
    step, n_a_dist = epsilon / POINTS, 2 * (N - 1)
    one, infinite = dominating(lambda x: a_dist_curve(x, epsilon, p), 2 * POINTS, step)
    total = exponentials(epsilon, N)
    for _ in range(n_a_dist):
        total = np.convolve(total, one)
    over = (np.arange(len(total)) - len(total) // 2) * step - 3 * N * epsilon
    finite = float(np.sum(np.where(over > 0, total * -np.expm1(-np.maximum(over, 0)), 0)))
    return 1 - (1 - infinite) ** n_a_dist + finite


def proved_from(N: int, epsilon: float) -> float:
    """A δ from which on (3Nε, 3Nδ) is proved, up to 1/(3N), from where on it says nothing.

    The bound increases with p and p with δ. So if the bound of δ·RATIO is at most 3Nδ, the claim holds between.
    """
    delta = 1 / (3 * N)
    while composed(N, epsilon, pi(epsilon, delta)) * (1 + SLACK) <= 3 * N * delta / RATIO:
        delta /= RATIO
    return delta


def rounded_up(value: float) -> str:
    """To three digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{math.ceil(value / unit) * unit:.2e}"


def upper_bounds() -> Iterator[str]:
    """δ by ε and N."""
    yield "| ε | N = 3 | N = 4 | N = 5 | N = 6 |"
    yield "| ---: | ---: | ---: | ---: | ---: |"
    for epsilon in (0.01, 0.05, 0.1, 0.25, 0.5, 1.0):
        row = []
        for N in (3, 4, 5, 6):
            row.append(rounded_up(proved_from(N, epsilon)))
            print(f"proved: N = {N}, ε = {epsilon}: δ ≥ {row[-1]}", file=sys.stderr)
        yield f"| {epsilon:g} | {' | '.join(row)} |"


# --- both curves by brute force ---


def difference(left: FloatArray, right: FloatArray, x: float) -> float:
    """The greatest Pr[E] − e^x·Pr′[E] over events E."""
    return float(np.maximum(left - math.exp(x) * right, 0).sum())


def a_dist_output(scores: FloatArray, epsilon: float, t: float) -> FloatArray:
    """A_dist's output distribution: on the solutions, the first of equal ones, and ⊥."""
    second, first = np.sort(scores)[-2:]
    over = epsilon * (t - (first - second))
    passes = 0.5 * math.exp(-over) if over >= 0 else 1 - 0.5 * math.exp(over)
    output = np.zeros(len(scores) + 1)
    output[int(np.argmax(scores))], output[-1] = passes, 1 - passes
    return output


def brute_force() -> Iterator[str]:
    """How near random neighbouring scores come to the curves from below."""
    yield "| mechanism | x/ε | curve | the most of 40,000 pairs |"
    yield "| --- | ---: | ---: | ---: |"
    rng, epsilon, delta = np.random.default_rng(1), 0.5, 0.02
    t, p = math.log2(1 / delta) / epsilon, pi(epsilon, delta)
    pairs = []
    for _ in range(20_000):
        scores = rng.uniform(0, 2, int(rng.integers(2, 5)))
        scores[0] += rng.choice([0.0, 1.0, t, 2 * t])
        changed = scores + rng.choice([-1.0, 1.0, 0.3], len(scores))
        pairs += [(scores, changed), (changed, scores)]
    tops = [(a_dist_output(a, epsilon, t), a_dist_output(b, epsilon, t)) for a, b in pairs]
    soft = []
    for a, b in pairs:
        u, v = (np.exp(epsilon / 2 * scores) for scores in (4 * a, 4 * a + (b - a)))
        soft.append((u / u.sum(), v / v.sum()))
    for name, outputs, curve, reach in (
        ("A_dist", tops, lambda x: a_dist_curve(x, epsilon, p), 2.0),
        ("exponential mechanism", soft, lambda x: exponential_curve(x, epsilon), 1.0),
    ):
        for share in (-0.5, 0.0, 0.25, 0.5, 0.9, 1.0):
            x = share * reach * epsilon
            most = max(difference(left, right, x) for left, right in outputs)
            assert most <= curve(x) + 1e-12
            yield f"| {name} | {share * reach:g} | {curve(x):.5f} | {most:.5f} |"


# --- pairs that refute ---


def climbed(epsilon: float) -> tuple[float, float, PiecewiseConstantScore]:
    """δ, the promise and the quality of `CLIMBED`; in a comb, one of three solutions is 2t lower."""
    delta, c, pieces = CLIMBED[epsilon]
    t = math.log2(1 / delta) / epsilon
    r = 200 * t + 1000
    top = 0.71875 * r + c / (2 * epsilon)
    steps: list[tuple[int, float, float]] = []
    for (start, n_t, added, change, comb), stop in zip(pieces, [*(p[0] for p in pieces[1:]), 4097], strict=True):
        score = top - n_t * t + added
        if comb:
            steps += [
                (x, score if (x - start) % 3 else top - 2 * t, change)
                for x in range(start, stop)
                if (x - start) % 3 != 2
            ]
        else:
            steps.append((start, score, change))
    return delta, r, PiecewiseConstantScore(4097, tuple(steps))


def exact(mechanism: RecConcave | RecConcaveCorrected) -> tuple[float, float]:
    """δ at the claimed ε, and ε at the claimed δ, of the datasets (0) and (1)."""
    _, left, right = align(law(mechanism, (0,)), law(mechanism, (1,)))
    claim = mechanism.claim
    return float(profile_symmetric(left, right, [claim.epsilon])[0]), epsilon_at_symmetric(left, right, claim.delta)


def refuted() -> Iterator[str]:
    """The pairs of three calls."""
    yield "| pair | ε | δ | exact δ at 9ε | 9δ | least ε at 9δ, in ε | corrected, in ε |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    rows = [("climbed", epsilon, *climbed(epsilon)) for epsilon in CLIMBED]
    rows.append(("by hand", 0.5, 3.155e-5, *three_calls_at_large_delta(0.5, 3.155e-5)))
    for name, epsilon, delta, r, quality in rows:
        printed, corrected = (
            version(4096, quality, r, 0.5, epsilon, delta, base=4) for version in (RecConcave, RecConcaveCorrected)
        )
        assert printed.calls == 3
        at_claim, least = exact(printed)
        yield (
            f"| {name} | {epsilon:g} | {delta:.4g} | {at_claim:.4e} | {9 * delta:.4e} | {least / epsilon:.4f} "
            f"| {exact(corrected)[1] / epsilon:.4f} |"
        )


def two_calls() -> Iterator[str]:
    """The δ where 1 − (1 − π)² > 6δ, and the exact δ of the two spikes a tenth below the least and above it."""
    yield "| ε | fails from δ | to δ | δ tried | 1 − (1 − π)² | exact δ of the two spikes at 6ε | 6δ |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    low = -1e5
    spikes = PiecewiseConstantScore(41, ((0, low, 0), (5, 99, 1), (6, low, 0), (20, 101, -1), (21, low, 0)))
    for epsilon in (1.75, 2.0, 2.5, 3.0):
        # at t = 2 it fails for ε > 1.5
        middle = 2 ** (-2 * epsilon)
        least, greatest = _border(epsilon, 1e-9, middle), _border(epsilon, 1 / 6, middle)
        for delta in (least / 1.1, least * 1.1):
            at_claim, _ = exact(RecConcave(40, spikes, 100.0, 0.5, epsilon, delta))
            both = 1 - (1 - pi(epsilon, delta)) ** 2
            yield (
                f"| {epsilon:g} | {least:.3g} | {greatest:.3g} | {delta:.3g} | {both:.4g} | {at_claim:.4g} "
                f"| {6 * delta:.4g} |"
            )


def _border(epsilon: float, holds: float, failing: float) -> float:
    """Where 1 − (1 − π)² = 6δ, between a δ where it holds and one where it fails."""
    for _ in range(60):
        delta = math.sqrt(holds * failing)
        holds, failing = (holds, delta) if fails(epsilon, delta) else (delta, failing)
    return failing


def fails(epsilon: float, delta: float) -> bool:
    """Whether 1 − (1 − π)² > 6δ."""
    return 1 - (1 - pi(epsilon, delta)) ** 2 > 6 * delta


def more_calls() -> Iterator[str]:
    """The pair of four calls."""
    yield "| ε | δ | least ε at 12δ, in ε | claimed | as δ → 0, at least | at most, 5N − 4 | corrected |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    delta = 1e-130
    for epsilon in (0.1, 0.5, 1.0):
        r, quality = four_calls(epsilon, delta)
        least = [
            exact(version(2**260, quality, r, 0.5, epsilon, delta, base=4))[1] / epsilon
            for version in (RecConcave, RecConcaveCorrected)
        ]
        limit = 13 + math.log(8 / (1 + 7 * math.exp(-epsilon))) / epsilon
        yield f"| {epsilon:g} | {delta:g} | {least[0]:.4f} | 12 | {limit:.4f} | 16 | {least[1]:.4f} |"


def main() -> None:
    """Print the page."""
    print(
        f"""# RecConcave at large δ

`python benchmarks/rec_concave_large_delta.py > benchmarks/rec_concave_large_delta.md` made this page. It is about
[finding 3](../docs/findings/03.md): N calls of RecConcave as printed, every step at (ε, δ), claim (3Nε, 3Nδ). Here
t = log₂(1/δ)/ε and π = Pr[Lap(1/ε) ≥ t − 2], which is ½·e^{{2ε}}·δ^1.4427 for t ≥ 2.

## Three or more calls: proved from this δ on

{_lines(upper_bounds())}

For δ between the number in the table and 1/(3N) the claim holds, for every T, base, quality, α and r. N calls are an
adaptive composition of 2(N − 1) times A_dist and N exponential mechanisms. Their worst-case curves, with proofs in
the docstrings of `a_dist_curve` and `exponential_curve`, are

- A_dist: max(1 − e^{{(x − 2ε)/2}}, π) for x ≥ 0, and 1 − e^x + e^x times the value at −x for x < 0;
- the exponential mechanism: (1 − e^{{(x − ε)/2}})²/(1 − e^{{−ε}}) for |x| ≤ ε.

Chords between grid points ({POINTS} per ε) are above a curve, which is convex in e^x, and belong to a pair of
distributions; products of such pairs dominate an adaptive composition (Zhu, Dong and Wang, 2022). Below 1/(3N), δ
goes down by a factor of {RATIO}; the bound increases with δ, so that its value at the upper end of such a step, held
against 3Nδ at the lower end, covers the step. All this is rigorous but for rounding: the sums are in doubles, not in
interval arithmetic, and a bound counts only with a relative margin of {SLACK:g}. The numbers are upper bounds of the
least δ from which on the claim holds.

The curves against brute force, ε = 0.5, δ = 0.02 (π = {pi(0.5, 0.02):.5f}); their ends are x = 2ε and x = ε:

{_lines(brute_force())}

## Three calls: refuted at this δ

{_lines(refuted())}

T = 4096, base = 4, α = ½; the datasets are one record, 0 or 1. These are exact output distributions of the catalogue,
in doubles. The pairs found by climbing are in the script (`CLIMBED`), the one by hand is `three_calls_at_large_delta`
in audits/dpaudit_audits/interior_points/rec_concave.py, a case of `dpaudit check RecConcave` and refuted there in
interval arithmetic. Between the two tables N = 3 is open.

## Two calls: a characterisation

For N = 2 and T above the base case, (6ε, 6δ) holds if and only if 1 − (1 − π)² ≤ 6δ. *If*: the four steps are
(2ε, π), (2ε, π), (ε, 0) and (ε, 0)-DP, which compose to (6ε, 1 − (1 − π)²) (Kairouz, Oh and Viswanath, 2015, Theorem
3.5). *Only if*: the scores are very low but at 5 and 20. Those two score 99 and 101 on one dataset, both 100 on the
other; k = 0 but for a probability that goes to 0 as the low scores go down (here −1e5). Then 20 comes out with
probability 1 − (1 − π)² on the first dataset and never on the second, so the claim fails at *every* ε′ in place of 6ε.

{_lines(two_calls())}

For t ≥ 2, (1 − (1 − π)²)/δ is greatest where π = 0.8854/1.8854; for t < 2 it decreases in δ. So for ε ≤ 1.499 the
claim for N = 2 holds at every δ, although its proof does not; beyond, it fails for δ between the two numbers.

## Four calls

{_lines(more_calls())}

T = 2^260, base = 4, α = ½: `four_calls`. "As δ → 0, at least" is 4N − 3 + ln(8/(1 + 7e^{{−ε}}))/ε for N = 4, the limit
of this construction for a large last difference c; c = 4/ε here."""
    )


def _lines(rows: Iterator[str]) -> str:
    return "\n".join(rows)


if __name__ == "__main__":
    main()
