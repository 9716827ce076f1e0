"""NumericSparse against its law by quadrature, which knows nothing of its text, and against closed forms."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dpaudit.interpret import sample
from dpaudit.language import Instance, Mechanism, Multiset, ParameterError
from dpaudit.testing import WithoutBulk
from dpaudit_algorithms.foundations.above_threshold import CountAtMost
from dpaudit_algorithms.foundations.laplace_mechanism import Count, Histogram
from dpaudit_algorithms.foundations.sparse_vector_outputs import BELOW
from dpaudit_algorithms.generalization.numeric_sparse import NumericSparse, NumericSparseCorrected, SparseNoise
from dpaudit_algorithms.generalization.numeric_sparse_theory import AccurateNumbers
from dpaudit_audits.corpus.sparse_vector_laws import Pattern, ReusedNoise, pattern_law
from dpaudit_audits.generalization.wrong_sparse import Respun

KINDS = (NumericSparse, NumericSparseCorrected)
ZEROS, ONES = Count(0), Count(1)
FIRST: tuple[dict[int, int], dict[int, int]] = ({0: 1}, {1: 1})


def patterns(mechanism: NumericSparse, D: Multiset, *, once: bool = False) -> dict[Pattern, float]:
    """Which answers are above, up to the halt."""
    noise = mechanism.noise
    return pattern_law(
        mechanism.answers(D), mechanism.threshold, noise.threshold, noise.compared, mechanism.c, redrawn=not once
    )


def exact_epsilon(mechanism: NumericSparse, left: Multiset, right: Multiset, *, once: bool = False) -> float:
    """Of the pair, at δ = 0: a pattern's ratio, and the largest ratio of what is released with it."""
    p, q = (patterns(mechanism, D, once=once) for D in (left, right))
    moves = [abs(a - b) for a, b in zip(mechanism.answers(left), mechanism.answers(right), strict=True)]

    def released(pattern: Pattern) -> float:
        return sum(by for by, above in zip(moves, pattern, strict=False) if above) / mechanism.noise.released

    return max(abs(math.log(p[x] / q[x])) + released(x) for x in p)


@pytest.mark.slow(fast=["NumericSparse-0.1"])
@pytest.mark.parametrize(("kind", "delta"), list(product(KINDS, (0.0, 0.1))))
def test_samples_follow_the_law(kind: type[NumericSparse], delta: float) -> None:
    """Five standard deviations, and Kolmogorov–Smirnov at 1e-7: false alarms below 1e-5 in all."""
    mechanism = kind(4.0, delta, 3.0, 2, (ZEROS, ONES, CountAtMost(1), ZEROS))
    D, runs = Multiset.counted({0: 2, 1: 4, 7: 1}), 60_000
    answers = mechanism.answers(D)
    exact = patterns(mechanism, D)
    assert math.fsum(exact.values()) == pytest.approx(1)
    assert max(map(sum, exact)) == 2  # it halts after c
    found: Counter[Pattern] = Counter()
    released: list[float] = []
    outputs = sample(mechanism, D, runs, seed=5)
    listed = [(*outputs.others, *map(tuple, outputs.reals.tolist())), *([out] * n for out, n in outputs.counts.items())]
    for output in (out for some in listed for out in some):
        assert isinstance(output, tuple)
        found[tuple(said != BELOW for said in output)] += 1
        released += [said - answer for said, answer in zip(output, answers, strict=False) if said != BELOW]
    for pattern, p in exact.items():
        assert abs(found[pattern] / runs - p) < 5 * math.sqrt(p * (1 - p) / runs)
    assert stats.kstest(released, stats.laplace(scale=mechanism.noise.released).cdf).pvalue > 1e-7


@pytest.mark.slow(only=["NumericSparseCorrected"])
@pytest.mark.parametrize("kind", KINDS)
def test_samples_of_run_follow_the_law(kind: type[NumericSparse]) -> None:
    """If the first threshold is kept, two releases are more likely by 0.03; five standard deviations are 0.02."""
    mechanism, D, runs = kind(4.0, 0.0, 0.0, 2, (ZEROS, ZEROS)), Multiset.counted({1: 3}), 12_000
    both = patterns(mechanism, D)[(True, True)]
    found = len(sample(WithoutBulk(mechanism), D, runs, seed=4).reals) / runs
    assert abs(found - both) < 5 * math.sqrt(both * (1 - both) / runs)


@pytest.mark.parametrize("threshold", [-10, 0, 2, 8])
@pytest.mark.parametrize(("c", "k"), [(1, 10), (2, 8), (3, 9)])
def test_epsilon_by_quadrature(threshold: int, c: int, k: int) -> None:
    stretch = (ZEROS,) * (k // c - 1) + (ONES,)
    for queries in (stretch * c, (ZEROS,) * (k - c) + (ONES,) * c, (ONES,) * k):
        mechanism = NumericSparse(1.0, 0.0, float(threshold), c, queries)
        left, right = map(Multiset.counted, FIRST)
        assert exact_epsilon(mechanism, left, right) <= 1 + 1e-9
        # one draw of T̂ is private too, and costs less
        assert exact_epsilon(mechanism, left, right, once=True) <= 1 + 1e-9


def test_epsilon_is_nearly_attained() -> None:
    left, right = map(Multiset.counted, FIRST)
    mechanism = NumericSparse(1.0, 0.0, -10.0, 1, (ZEROS,) * 9 + (ONES,))
    assert exact_epsilon(mechanism, left, right) == pytest.approx(0.996673, abs=1e-6)


def test_one_threshold_for_all_has_the_loss_worked_out_by_hand() -> None:
    """ε₁/(2c) for T̂ once, ε₁/2 for c answers above, ε/9 for the releases; the text with fresh noise costs ε."""
    left, right = map(Multiset.counted, FIRST)
    mechanism = NumericSparse(1.0, 0.0, -60.0, 3, ((ZEROS,) * 4 + (ONES,)) * 3)
    bound = (8 / 9) * (1 / 6 + 1 / 2) + 1 / 9
    assert exact_epsilon(mechanism, left, right, once=True) <= bound + 1e-9
    assert exact_epsilon(mechanism, left, right) > bound


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("epsilon", "delta", "c"), [(1.0, 1e-3, 1), (1.0, 0.1, 3), (4.0, 0.1, 3), (8.0, 0.01, 2)])
def test_few_answers_keep_epsilon_without_delta(
    kind: type[NumericSparse], epsilon: float, delta: float, c: int
) -> None:
    """Where c ≤ 8·ln(2/δ) the noise is enough by basic composition, and more than enough by the law."""
    left, right = map(Multiset.counted, FIRST)
    for threshold, queries in ((0.0, ((ZEROS,) * 2 + (ONES,)) * c), (-200.0, (ONES,) * c)):
        mechanism = kind(epsilon, delta, threshold, c, queries)
        assert exact_epsilon(mechanism, left, right) <= mechanism.noise.composed <= epsilon


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("c", [1, 2, 17])
def test_parts_compose_to_epsilon(epsilon: float, c: int) -> None:
    noise = SparseNoise(epsilon, 0.0, c)
    assert noise.composed == pytest.approx(epsilon)  # 8ε/9 and ε/9
    assert c * 2 / noise.threshold == pytest.approx(8 * epsilon / 9)
    assert c / noise.released == pytest.approx(epsilon / 9)


@pytest.mark.parametrize("printed", [True, False])
def test_parts_compose_below_epsilon_with_delta(printed: bool) -> None:
    """Corollary 3.21 asks for ε < 1; the same noise is enough up to 3.2·ln(2/δ), whatever c is."""
    for delta, c in product((0.99, 0.5, 0.1, 1e-6), (1, 2, 5, 10, 50, 100, 1_000, 10**6)):
        for epsilon in (0.1, 1.0, 3.2 * math.log(2 / delta)):
            assert SparseNoise(epsilon, delta, c, printed=printed).composed <= epsilon
    # and the halves cost exactly what Corollary 3.21 allows
    noise = SparseNoise(0.9, 1e-6, 40, printed=printed)
    first, second = 2 / noise.threshold, 1 / noise.released
    root = math.sqrt(8 * 40 * math.log(2 / 1e-6))
    assert (first + second) * root == pytest.approx(0.9)
    assert first / second == pytest.approx(math.sqrt(512) if printed else 8)


def test_not_far_beyond() -> None:
    """The bound has an end: parts that compose to more than ε are noticed."""
    assert SparseNoise(100.0, 0.5, 1_000).composed > 100


@pytest.mark.parametrize(("c", "k", "beta"), [(1, 1, 0.05), (10, 10, 0.05), (3, 12, 0.5), (40, 100, 1e-3)])
def test_releases_are_off_by_more_than_alpha(c: int, k: int, beta: float) -> None:
    each = beta / (4 * c * k)
    for delta, kind, exponent in (
        (0.0, NumericSparse, 1.0), (1e-6, NumericSparse, 1 / math.sqrt(8)), (1e-6, NumericSparseCorrected, 1.0)
    ):
        mechanism = kind(1.0, delta, 0.0, c, (ZEROS,) * k, beta)
        assert math.exp(-mechanism.alpha / mechanism.noise.released) == pytest.approx(each**exponent)
    assert c * each <= beta / 2


def test_theorem_3_28_fails_by_hand_and_sampled() -> None:
    """c = k = 1, β = 0.05, δ = 1e-6, far above: 1 − 80^{−1/√8}. False-alarm rate 1e-6."""
    mechanism = NumericSparse(1.0, 1e-6, 5_000.0, 1, (ONES,))
    D, runs = Multiset.counted({1: 50_000}), 20_000
    found = sample(mechanism, D, runs, seed=1).reals[:, 0]
    assert len(found) == runs
    kept = float((np.abs(found - 50_000) <= mechanism.alpha).mean())
    by_hand = 1 - 80 ** (-1 / math.sqrt(8))
    assert by_hand == pytest.approx(0.787599, abs=1e-6)
    assert abs(kept - by_hand) < 4.9 * math.sqrt(by_hand * (1 - by_hand) / runs)
    assert by_hand < mechanism.utility(0)[0].probability


@pytest.mark.parametrize("kind", KINDS)
def test_it_halts_before_the_last_query(kind: type[NumericSparse]) -> None:
    """One of two queries is far above, as c = 1 allows, and it is the first."""
    mechanism = kind(1.0, 0.0, 5_000.0, 1, (ONES, ZEROS))
    D = Multiset.counted({1: 10_000})
    outputs = sample(mechanism, D, 2_000, seed=2)
    assert outputs.reals.shape == (2_000, 1)
    reached = mechanism.goal.reached(Instance(D), (10_000.0,))
    assert reached is (kind is NumericSparseCorrected)  # where nothing is guaranteed
    assert not mechanism.goal.reached(Instance(Multiset.counted({0: 10_000})), (10_000.0,))


@pytest.mark.slow(fast=["1-*"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(("c", "k", "beta"), [(1, 1, 0.05), (3, 12, 0.5), (10, 10, 0.05)])
def test_the_corrected_accuracy_by_quadrature(delta: float, c: int, k: int, beta: float) -> None:
    """Patterns by their law, releases by their tails, on answers at the ends of the guarantee."""
    draft = NumericSparseCorrected(1.0, delta, 0.0, c, (ZEROS,) * (k - c) + (ONES,) * c, beta)
    T = math.ceil(3 * draft.alpha)
    mechanism = NumericSparseCorrected(1.0, delta, float(T), c, draft.queries, beta)
    kept = 1 - math.exp(-mechanism.alpha / mechanism.noise.released)
    low, high = math.ceil(T - mechanism.alpha) - 1, math.floor(T + mechanism.alpha) + 1
    for last in (low, T, high, 20 * T):
        D = Multiset.counted({0: low, 1: last})
        answers = mechanism.answers(D)
        success = math.fsum(
            p * kept ** sum(pattern)
            for pattern, p in patterns(mechanism, D).items()
            if mechanism.goal.reached(
                Instance(D), tuple(a if above else BELOW for a, above in zip(answers, pattern, strict=False))
            )
        )
        assert success >= 1 - beta


def test_what_is_accurate() -> None:
    goal = AccurateNumbers((ZEROS, ONES), 10.0, 3.0, 1)
    D = Instance(Multiset.counted({0: 6, 1: 14}))
    assert goal.reached(D, (BELOW, 17.0))
    assert not goal.reached(D, (BELOW, 17.1))
    assert not goal.reached(D, (BELOW, BELOW))
    assert not goal.reached(D, (6.0,))
    assert goal.reached(Instance(Multiset.counted({0: 8, 1: 14})), (BELOW,))  # two at least T − α, and c = 1


def test_a_compared_number_that_is_released_breaks_the_claim() -> None:
    """Nine answers fall by 1 and the last rises: below, …, below, and a number up to 0.5, at ε = 3 (by quadrature)."""
    epsilon, noise = 3.0, SparseNoise(3.0, 0.0, 1)
    scale = noise.compared
    sides = []
    for answers, other in (((0.0,) * 9 + (1 - scale,), 1.0), ((1.0,) * 9 + (-scale,), 0.0)):
        law = ReusedNoise(answers, 0.0, noise.threshold, scale, (other, 1 - scale, -scale))
        cells = law.atoms()[1:].reshape(len(answers), -1)[-1]
        sides.append(float(cells[law.line.nodes <= 0.5 * scale].sum()))
    p, q = sides
    assert 1 > p > 1e-4
    assert math.log(p / q) > 1.1 * epsilon


@pytest.mark.parametrize("once", [True, False])
def test_other_texts_follow_their_law(once: bool) -> None:
    """Five standard deviations: false alarms 6e-7 each."""
    mechanism = Respun(2.0, 0.0, 2.0, 2, (ZEROS, ONES, ZEROS), once=once)
    D, runs = Multiset.counted({0: 2, 1: 1}), 40_000
    exact = patterns(mechanism, D, once=once)
    found: Counter[Pattern] = Counter()
    for output in mechanism.bulk(D, runs, np.random.default_rng(3)):
        found[tuple(said != BELOW for said in output)] += 1
    for pattern, p in exact.items():
        assert abs(found[pattern] / runs - p) < 5 * math.sqrt(p * (1 - p) / runs)


def test_refusals() -> None:
    assert issubclass(NumericSparse, Mechanism)
    with pytest.raises(ParameterError, match="queries"):
        NumericSparse(1.0, 0.0, 0.0, 1, ())
    with pytest.raises(ParameterError, match="sensitivity"):
        NumericSparse(1.0, 0.0, 0.0, 1, (Histogram((0, 1)),))
    with pytest.raises(ParameterError, match="delta"):
        NumericSparse(1.0, 1.0, 0.0, 1, (ZEROS,))
    with pytest.raises(ParameterError, match="c"):
        NumericSparse(1.0, 0.0, 0.0, 0, (ZEROS,))
