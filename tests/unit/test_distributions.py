"""Distributions against scipy's closed forms, far into the tails, and their draws against their laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpaudit.errors import MechanismError, NotEnumerableError, ParameterError
from dpaudit.language import (
    Bernoulli,
    Categorical,
    Claim,
    Finite,
    Gaussian,
    Laplace,
    Multiset,
    Product,
    RandomPairing,
    Real,
    Softmax,
    Uniform,
    independent,
)

FALSE_ALARM = 1e-6
"""Of every chi-square test here; seeds are fixed, so an outcome does not change from run to run."""


def fits(law: Finite, seed: int, runs: int = 20_000) -> None:
    """Chi-square of `grouped` and of `draw` against the law."""
    expected: dict[object, float] = {}
    for value, p in zip(np.asarray(law.values).tolist() if isinstance(law.values, np.ndarray) else law.values,
                        law.probs.tolist(), strict=True):
        expected[value] = expected.get(value, 0.0) + p * runs
    grouped: dict[object, int] = {}
    for value, times in law.grouped(np.random.default_rng(seed), runs):
        grouped[value] = grouped.get(value, 0) + times
    drawn: dict[object, int] = {}
    draws = law.draw(np.random.default_rng(seed + 1), runs)
    for value in draws.tolist() if isinstance(draws, np.ndarray) else draws:
        drawn[value] = drawn.get(value, 0) + 1
    for counts in (grouped, drawn):
        assert sum(counts.values()) == runs
        assert all(expected.get(value, 0) > 0 for value in counts)
        common = [value for value, mean in expected.items() if mean >= 5]
        rest = [value for value, mean in expected.items() if mean < 5]
        bins = [([v], expected[v]) for v in common] + ([(rest, sum(expected[v] for v in rest))] if rest else [])
        bins = [(values, mean) for values, mean in bins if mean > 0]
        statistic = sum((sum(counts.get(v, 0) for v in values) - mean) ** 2 / mean for values, mean in bins)
        assert stats.chi2.sf(statistic, max(1, len(bins) - 1)) > FALSE_ALARM


# --- noise on the line ---------------------------------------------------------------------------------------

T = [-700.0, -600.5, -300.25, -37.0, -20.0, -5.0, -1.0, -1e-9, 0.0, 1e-9, 0.5, 1.0, 7.0, 30.0, 300.0, 690.0]


@pytest.mark.parametrize("t", T)
@pytest.mark.parametrize(("loc", "scale"), [(0.0, 1.0), (3.0, 0.25), (-2.0, 40.0)])
def test_laplace_tails(t: float, loc: float, scale: float) -> None:
    t = loc + t * scale
    reference = stats.laplace(loc, scale)
    noise = Laplace(loc, scale)
    assert noise.below(t) == pytest.approx(float(reference.cdf(t)), rel=1e-12, abs=0)
    assert noise.above(t) == pytest.approx(float(reference.sf(t)), rel=1e-12, abs=0)


@pytest.mark.parametrize("z", [-37.0, -30.0, -12.0, -5.0, -1.0, 0.0, 0.3, 2.0, 8.0, 25.0, 36.5])
@pytest.mark.parametrize(("mean", "sigma"), [(0.0, 1.0), (10.0, 0.5), (-3.0, 17.0)])
def test_gaussian_tails(z: float, mean: float, sigma: float) -> None:
    t = mean + z * sigma
    noise = Gaussian(mean, sigma)
    exact = (t - mean) / sigma
    # the logarithm of the tail is computed by another formula than the tail
    assert noise.below(t) == pytest.approx(math.exp(float(stats.norm.logcdf(exact))), rel=1e-11, abs=0)
    assert noise.above(t) == pytest.approx(math.exp(float(stats.norm.logsf(exact))), rel=1e-11, abs=0)


@pytest.mark.parametrize("noise", [Laplace(0, 1), Laplace(-1e300, 1e-300), Laplace(1e307, 5e-324), Gaussian(0, 1e-300)])
@pytest.mark.parametrize("t", [-1e308, -1e5, 1e5, 1e308])
def test_nothing_overflows_far_out(noise: Real, t: float) -> None:
    for event in (noise < t, noise <= t, noise > t, noise >= t):
        p, q = event.probs
        assert p + q == 1
        assert {p, q} == {0.0, 1.0}


@pytest.mark.parametrize("noise", [Laplace(0.5, 2), Gaussian(0.5, 2)])
def test_comparisons_are_bernoullis(noise: Real) -> None:
    for t in (-40.0, 0.0, 0.5, 3, np.float64(3), np.int64(2), Fraction(1, 3)):
        assert (noise < t).p == (noise <= t).p == pytest.approx(noise.below(float(t)))
        assert (noise > t).p == (noise >= t).p == pytest.approx(noise.above(float(t)))
        # a number on the left is the same comparison
        assert (t > noise).p == (noise < t).p
        assert (~(noise < t)).p == (noise >= t).p


def test_a_complement_keeps_its_digits() -> None:
    event = Laplace(0, 1) < 600
    assert event.p == 1.0
    assert event.probs[1] == pytest.approx(0.5 * math.exp(-600), rel=1e-12, abs=0)
    assert (~event).p == pytest.approx(0.5 * math.exp(-600), rel=1e-12, abs=0)
    assert (~~event).probs.tolist() == event.probs.tolist()


@pytest.mark.parametrize("t", [float("nan"), float("inf"), "1", None, True, 10**400])
def test_comparison_with_no_number(t: object) -> None:
    with pytest.raises(ParameterError, match="the number that noise is compared with"):
        bool(Laplace(0, 1) < t)  # type: ignore[operator]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Laplace(0, 0), lambda: Laplace(0, -1), lambda: Laplace(0, float("nan")), lambda: Laplace("0", 1),
        lambda: Laplace(float("inf"), 1), lambda: Gaussian(0, 0), lambda: Gaussian(0, None),
        lambda: Laplace(0, 1).clip(2, 1), lambda: Laplace(0, 1).clip(0, float("inf")),
        lambda: Laplace(0, 1).ceil().clip(3, 2), lambda: Laplace(0, 1).ceil().clip(0.5, 2),
        lambda: Bernoulli(1.1), lambda: Bernoulli(-0.1), lambda: Bernoulli(float("nan")),
        lambda: Bernoulli(0.5, 0.1), lambda: Bernoulli("x"),
        lambda: Categorical((1, 2), (0.5,)), lambda: Categorical((), ()), lambda: Categorical((1, 2), (0.5, 0.6)),
        lambda: Categorical((1, 2), (1.5, -0.5)), lambda: Categorical((1, 2), (float("nan"), 1.0)),
        lambda: Uniform(()), lambda: Uniform(range(0)), lambda: Softmax([], 1), lambda: Softmax([1, math.inf], 1),
        lambda: Softmax([1, 2], float("nan")), lambda: Softmax([1, 2], 1, (0,)), lambda: Softmax([[1, 2]], 1),
        lambda: Product(()), lambda: Product((Uniform((0, 1)).then(lambda v: v),)),
    ],
)
def test_bad_parameters(make: object) -> None:
    with pytest.raises(ParameterError) as caught:
        make()  # type: ignore[operator]
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text


def test_an_undrawn_comparison_is_no_truth_value() -> None:
    with pytest.raises(MechanismError, match="yield"):
        bool(Laplace(0, 1) < 3)
    with pytest.raises(MechanismError, match="yield"):
        assert 0 < Laplace(0, 1) < 3  # type: ignore[operator]


# --- rounded and clipped -------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [Laplace(0.3, 1.0), Laplace(0, 1), Laplace(2.5, 0.4), Gaussian(0.3, 5.0)])
@pytest.mark.parametrize("up", [True, False])
def test_rounded_and_clipped_pmf_in_both_tails(noise: Real, up: bool) -> None:
    low, high = -170, 170
    law = (noise.ceil() if up else noise.floor()).clip(low, high)
    values, probs = np.asarray(law.values), law.probs
    assert values.tolist() == list(range(low, high + 1))
    assert probs.sum() == pytest.approx(1, abs=1e-12)
    for v, p in zip(values.tolist(), probs.tolist(), strict=True):
        left, right = (v - 1, v) if up else (v, v + 1)
        if v == low:
            exact = noise.below(right)
        elif v == high:
            exact = noise.above(left)
        elif isinstance(noise, Laplace):
            exact = laplace_between(noise, left, right)
        elif right <= noise.mean:
            exact = noise.below(right) * -math.expm1(log_ratio(noise, left, right))
        else:
            exact = noise.above(left) - noise.above(right) if left >= noise.mean else None
        if exact is not None:
            assert p == pytest.approx(exact, rel=1e-9, abs=0)
            assert p > 0 or exact == 0


def laplace_between(noise: Laplace, left: float, right: float) -> float:
    a, b = (left - noise.loc) / noise.scale, (right - noise.loc) / noise.scale
    if b <= 0:
        return 0.5 * math.exp(b) * -math.expm1(a - b)
    if a >= 0:
        return 0.5 * math.exp(-a) * -math.expm1(a - b)
    return 1 - 0.5 * math.exp(a) - 0.5 * math.exp(-b)


def log_ratio(noise: Real, left: float, right: float) -> float:
    assert isinstance(noise, Gaussian)
    logs = stats.norm.logcdf((np.array([left, right]) - noise.mean) / noise.sigma)
    return float(logs[0] - logs[1])


def test_tail_atoms_near_the_smallest_floats() -> None:
    law = Laplace(0, 1).ceil().clip(-700, 700)
    p = dict(zip(np.asarray(law.values).tolist(), law.probs.tolist(), strict=True))
    assert p[-690] == pytest.approx(0.5 * math.exp(-690) * -math.expm1(-1), rel=1e-12, abs=0)
    assert p[691] == pytest.approx(0.5 * math.exp(-690) * -math.expm1(-1), rel=1e-12, abs=0)
    assert p[-690] < 1e-299


@pytest.mark.parametrize("up", [True, False])
def test_rounding_noise_that_was_clipped_first(up: bool) -> None:
    clipped = Laplace(0, 1).clip(-1, 1.5)
    law = (clipped.ceil() if up else clipped.floor()).clip(-3, 3)  # type: ignore[attr-defined]
    p = dict(zip(np.asarray(law.values).tolist(), law.probs.tolist(), strict=True))
    noise = Laplace(0, 1)
    if up:
        exact = {-1: noise.below(-1), 0: noise.below(0) - noise.below(-1), 1: noise.below(1) - 0.5, 2: noise.above(1)}
    else:
        exact = {-1: noise.below(0), 0: noise.below(1) - 0.5, 1: noise.above(1)}
    for v in range(-3, 4):
        assert p[v] == pytest.approx(exact.get(v, 0.0), abs=1e-15)


def test_closed_and_strict_comparisons_at_the_atoms_of_clipped_noise() -> None:
    noise = Laplace(0, 1)
    clipped = noise.clip(-2, 3)
    assert (clipped < -2).p == 0
    assert (clipped <= -2).p == pytest.approx(noise.below(-2), rel=1e-14)
    assert (clipped >= -2).p == 1
    assert (clipped > -2).p == pytest.approx(noise.above(-2), rel=1e-14)
    assert (clipped > 3).p == 0
    assert (clipped >= 3).p == pytest.approx(noise.above(3), rel=1e-14)
    assert (clipped <= 3).p == 1
    assert (clipped < 3).p == pytest.approx(noise.below(3), rel=1e-14)
    assert (clipped < 1).p == (clipped <= 1).p == noise.below(1)
    assert (clipped < -5).p == (clipped > 5).p == 0
    assert (clipped < 5).p == (clipped > -5).p == 1
    point = noise.clip(1, 1)
    assert [(point < 1).p, (point <= 1).p, (point > 1).p, (point >= 1).p] == [0, 1, 0, 1]
    assert set(point.draw(np.random.default_rng(0), 10)) == {1.0}
    # clipped twice, at an atom and inside
    twice = clipped.clip(-2, 1)  # type: ignore[attr-defined]
    assert (twice >= 1).p == pytest.approx(noise.above(1), rel=1e-14)
    assert (twice <= -2).p == pytest.approx(noise.below(-2), rel=1e-14)


@settings(max_examples=200)
@given(
    st.floats(-20, 20), st.floats(0.05, 20), st.integers(-8, 8), st.integers(0, 12), st.booleans(),
    st.sampled_from([Laplace, Gaussian]),
)
def test_rounded_law_agrees_with_comparisons(
    loc: float, scale: float, low: int, width: int, up: bool, kind: type[Laplace] | type[Gaussian]
) -> None:
    noise = kind(loc, scale)
    law = (noise.ceil() if up else noise.floor()).clip(low, low + width)
    assert law.probs.sum() == pytest.approx(1, abs=1e-12)
    assert np.all(law.probs >= 0)
    for t in range(low, low + width):
        at_most = law.probs[np.asarray(law.values) <= t].sum()
        assert at_most == pytest.approx((noise <= t).p if up else (noise < t + 1).p, abs=1e-12)


def test_huge_noise_rounds_without_wrapping() -> None:
    drawn = Laplace(0, 1e25).ceil().draw(np.random.default_rng(0), 100)
    assert all(isinstance(value, int) for value in drawn.tolist())
    assert max(abs(value) for value in drawn.tolist()) > 2**63
    assert Laplace(0, 3).floor().draw(np.random.default_rng(0), 4).dtype == np.int64


@pytest.mark.parametrize("noise", [Laplace(1, 2), Gaussian(1, 2), Laplace(1, 2).clip(-1, 4)])
def test_real_draws_follow_their_distribution_function(noise: Real) -> None:
    drawn = noise.draw(np.random.default_rng(3), 50_000)
    for t in (-3.0, 0.0, 1.0, 2.5, 6.0):
        hits = int((drawn < t).sum())
        assert stats.binomtest(hits, len(drawn), (noise < t).p).pvalue > FALSE_ALARM


def test_shifts() -> None:
    assert Laplace(1, 2) + 3 == Laplace(4, 2)
    assert Gaussian(1, 2) - 3 == Gaussian(-2, 2)


# --- finite ones ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "law",
    [
        Bernoulli(0.3), Bernoulli(0.0), Bernoulli(1), Bernoulli(1.0, 1e-20), Categorical("abc", (0.2, 0.5, 0.3)),
        Categorical((1, 2, 3), (0.5, 0.5, 0.0)), Categorical((1, 2, 3), (0.0, 1.0, 0.0)),
        Uniform(range(7)), Uniform(("x", "x", "y")), Uniform(np.arange(5)), Softmax([0, 1, 2, 5], 0.7),
        Softmax([0, 0, 3], 1, ("a", "b", "c")), Laplace(0, 2).ceil().clip(-4, 4),
        Uniform(range(6)).map(lambda v: v % 4),
        Product((Bernoulli(0.2), Uniform((1, 2, 3)))), independent(Bernoulli(0.4), 3),
        RandomPairing(Multiset.of((1, 1, 2, 3, 3)), max),
    ],
    ids=repr,
)
def test_draws_follow_the_law(law: Finite) -> None:
    assert law.probs.dtype == np.float64
    assert law.probs.sum() == pytest.approx(1, abs=1e-12)
    fits(law, 5)


def test_more_values_than_draws() -> None:
    law = Uniform(range(10_000))
    counts = np.zeros(10)
    for seed in range(300):
        for value, times in law.grouped(np.random.default_rng(seed), 7):
            counts[value // 1000] += times
    assert counts.sum() == 2100
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


def test_what_cannot_happen_is_never_drawn() -> None:
    # the multinomial's last entry takes what rounding leaves over; it must not be one of probability 0
    law = Categorical(tuple(range(11)), (*[0.1] * 10, 0.0))
    for seed in range(50):
        assert 10 not in dict(law.grouped(np.random.default_rng(seed), 10**15))
    assert dict(Bernoulli(0.0).grouped(np.random.default_rng(0), 10**12)) == {False: 10**12}


def test_categorical_is_scaled_to_sum_to_one() -> None:
    law = Categorical((0, 1, 2), (0.2, 0.3, 0.5 + 9e-10))
    assert law.probs.sum() == pytest.approx(1, abs=1e-15)
    assert law.probs[2] / law.probs[0] == pytest.approx((0.5 + 9e-10) / 0.2, rel=1e-15)


def test_softmax_against_exact_arithmetic() -> None:
    scores = np.array([1e15, 1e15 + 2, 1e15 - 3])
    expected = np.exp(0.1 * np.array([0.0, 2.0, -3.0]))
    assert Softmax(scores, 0.1).probs == pytest.approx(expected / expected.sum(), rel=1e-13)
    assert Softmax([1e308, -1e308 / 2], 10).probs.tolist() == [1.0, 0.0]
    assert Softmax([1, 5, 9], 0).probs == pytest.approx([1 / 3] * 3)
    assert Softmax([0, 1], -2).probs[0] == pytest.approx(1 / (1 + math.exp(-2)))
    assert Softmax([0, 700, 0], 1).probs[0] == pytest.approx(math.exp(-700), rel=1e-12, abs=0)


def test_a_range_of_any_length() -> None:
    huge = Uniform(range(2**61))
    assert not huge.finite
    assert "at most" in huge.remedy
    drawn = huge.draw(np.random.default_rng(0), 1000)
    assert all(0 <= value < 2**61 and isinstance(value, int) for value in drawn)
    assert sum(value < 2**60 for value in drawn) == pytest.approx(500, abs=100)
    far = Uniform(range(2**70, 2**70 + 3))
    assert set(far.draw(np.random.default_rng(0), 100)) == {2**70, 2**70 + 1, 2**70 + 2}
    assert Uniform(range(10, 0, -3)).values.tolist() == [10, 7, 4, 1]  # type: ignore[union-attr]


def test_mapped_merges_equal_images_and_keeps_the_claim() -> None:
    claim = Claim(0.5)
    square = Uniform(range(-2, 3)).spending(claim).map(lambda v: [v * v])
    assert square.claim is claim
    assert isinstance(square, Finite)
    assert dict(zip(square.values, square.probs, strict=True)) == pytest.approx({(4,): 0.4, (1,): 0.4, (0,): 0.2})
    noise = Laplace(0, 1).map(round)
    assert not noise.finite
    assert len(noise.draw(np.random.default_rng(0), 5)) == 5
    with pytest.raises(NotEnumerableError, match="compare it with a number"):
        noise.probs  # type: ignore[attr-defined]  # noqa: B018


def test_claims_survive_what_is_made_of_a_draw() -> None:
    claim = Claim(1.0)
    noise = Laplace(0, 1).spending(claim)
    events = (noise < 0, ~(noise < 0))
    for made in (noise + 1, noise - 1, *events, noise.ceil(), noise.clip(0, 1), noise.floor().clip(0, 1)):
        assert made.claim is claim
    assert noise == Laplace(0, 1)


def test_products() -> None:
    joint = Product((Uniform((1, 2)), Categorical("ab", (0.25, 0.75))))
    assert dict(zip(joint.values, joint.probs, strict=True)) == {
        (1, "a"): 0.125, (1, "b"): 0.375, (2, "a"): 0.125, (2, "b"): 0.375
    }
    reals = independent(Laplace(0, 1), 3)
    assert not reals.finite
    assert reals.draw(np.random.default_rng(0), 5).shape == (5, 3)
    mixed = Product((Laplace(0, 1), Bernoulli(0.5)))
    assert {type(part) for row in mixed.draw(np.random.default_rng(0), 5) for part in row} == {float, bool}
    nested = Product((reals, reals))
    assert len(nested.grouped(np.random.default_rng(0), 4)) == 4
    large = independent(Uniform(range(100)), 4)
    assert not large.finite
    assert "100000000 joint values" in large.remedy
    assert len(large.draw(np.random.default_rng(0), 3)) == 3


def test_a_continuation_is_unfolded_and_never_drawn() -> None:
    with pytest.raises(TypeError, match="cannot be drawn directly"):
        Uniform((0, 1)).then(lambda v: v).draw(np.random.default_rng(0), 1)
