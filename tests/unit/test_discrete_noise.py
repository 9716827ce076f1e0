"""Discrete Laplace noise and snapped noise: samples against closed forms, rounding against a wide logarithm.

Statistical tests have fixed seeds; each compares at most 40 frequencies with exact binomial tests at ALARM each, so
that a correct sampler fails one of them with probability below 4e-6.
"""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import binomtest, chisquare

from dpaudit.errors import ParameterError
from dpaudit.interpret import law, sample
from dpaudit.language import DiscreteLaplace, Mechanism, Snapping
from dpaudit.language.distributions.discrete_noise import correctly_rounded_log, uniform_doubles

ALARM = 1e-7
RUNS = 400_000


def agrees(hits: int, runs: int, p: float) -> bool:
    return bool(binomtest(hits, runs, min(1.0, p)).pvalue > ALARM)


@pytest.mark.parametrize("scale", [10.0, 1 / 0.3, 0.5, 0.01, Fraction(7, 3), 1e6])
def test_discrete_draws_follow_the_closed_form(scale: float | Fraction) -> None:
    noise = DiscreteLaplace(3, scale)
    drawn = noise.draw(default_rng(1), RUNS)
    assert drawn.dtype == np.int64
    for t in (-5, 2, 3, 4, 11, 3 + int(scale)):
        assert agrees(int((drawn == t).sum()), RUNS, noise.at(t)), t
        assert agrees(int((drawn < t).sum()), RUNS, noise.below(t)), t
        assert agrees(int((drawn > t).sum()), RUNS, noise.above(t)), t


def test_a_wrong_scale_is_seen() -> None:
    """The power of the test above: a scale off by 2 %."""
    drawn = DiscreteLaplace(0, 10.2).draw(default_rng(2), RUNS)
    assert not agrees(int((np.abs(drawn) > 10).sum()), RUNS, 2 * DiscreteLaplace(0, 10.0).above(10))


def test_discrete_draws_as_a_whole() -> None:
    """Chi-square over 41 integers and both tails; a correct sampler fails with probability 1e-6."""
    noise = DiscreteLaplace(0, 5.0)
    drawn = noise.draw(default_rng(3), RUNS)
    means = [noise.below(-20), *(noise.at(k) for k in range(-20, 21)), noise.above(20)]
    seen = [(drawn < -20).sum(), *((drawn == k).sum() for k in range(-20, 21)), (drawn > 20).sum()]
    assert chisquare(seen, RUNS * np.array(means)).pvalue > 1e-6


@pytest.mark.parametrize("scale", [10.0, 0.7, Fraction(1, 3)])
def test_discrete_law(scale: float | Fraction) -> None:
    """The definition: probabilities fall by a = exp(−1/scale) a step, and sum to 1."""
    noise = DiscreteLaplace(-2, scale)
    assert math.fsum(noise.at(k) for k in range(-1000, 1000)) == pytest.approx(1, abs=1e-13)
    a = math.exp(-1 / scale)
    for k in range(-2, 8):
        assert noise.at(k + 1) == pytest.approx(noise.at(k) * a, rel=1e-13)
        assert noise.at(-4 - k) == pytest.approx(noise.at(k), rel=1e-13)
    for t in (-9, -2.5, -2, -1.1, 0, 5, 5.5):
        assert noise.below(t) == pytest.approx(math.fsum(noise.at(k) for k in range(-900, math.ceil(t))), rel=1e-12)
        assert noise.above(t) == pytest.approx(
            math.fsum(noise.at(k) for k in range(math.floor(t) + 1, 900)), rel=1e-12
        )
    assert noise.at(0.5) == 0
    assert (noise.below(math.inf), noise.above(-math.inf), noise.at(math.inf)) == (1, 1, 0)


def test_discrete_comparisons_know_the_atom() -> None:
    noise = DiscreteLaplace(0, 1.0)
    below, at_most = (noise < 0).probs, (noise <= 0).probs
    assert at_most[0] - below[0] == pytest.approx(noise.at(0))
    assert (noise >= 0).probs[0] == pytest.approx(at_most[0])
    assert (noise + 4).below(4) == noise.below(0)
    assert (noise - 4).loc == -4


def test_clipped_discrete_noise_is_finite() -> None:
    noise = DiscreteLaplace(1, 2.0)
    clipped = noise.clip(-3, 4)
    assert clipped.finite
    probs = dict(zip(clipped.values, clipped.probs.tolist(), strict=True))
    assert probs[-3] == pytest.approx(noise.below(-2), rel=1e-14)
    assert probs[4] == pytest.approx(noise.above(3), rel=1e-14)
    for k in range(-2, 4):
        assert probs[k] == pytest.approx(noise.at(k), rel=1e-13)


class _Clipped(Mechanism):
    def run(self, dataset: int) -> object:
        return DiscreteLaplace(dataset, 2.0).clip(-3, 4)


def test_the_exact_law_takes_it() -> None:
    found = law(_Clipped(), 1).as_dict()
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    assert sample(_Clipped(), 1, 1000, seed=1).runs == 1000


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (partial(DiscreteLaplace, 0.5, 1.0), "loc"),
        (partial(DiscreteLaplace, 1 << 62, 1.0), "loc"),
        (partial(DiscreteLaplace, 0, 0.0), "scale"),
        (partial(DiscreteLaplace, 0, math.nan), "scale"),
        (partial(DiscreteLaplace, 0, 1e-30), "scale"),
        (partial(DiscreteLaplace, 0, 2.0**60), "scale"),
        (partial(Snapping, math.inf, 1.0, 10.0), "value"),
        (partial(Snapping, 0.0, -1.0, 10.0), "scale"),
        (partial(Snapping, 0.0, 1.0, 1.0), "bound"),
        (partial(Snapping, 0.0, 1.0, 2.0**46), "bound"),
        (partial(Snapping, 0.0, 1.0, "10"), "bound"),
    ],
)
def test_bad_parameters(make: partial[object], what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        make()


@pytest.mark.parametrize("noise", [DiscreteLaplace(2, 1.5), Snapping(2.0, 1.5, 40.0)])
def test_values_of_their_own(noise: DiscreteLaplace | Snapping) -> None:
    assert pickle.loads(pickle.dumps(noise)) == noise
    assert np.array_equal(noise.draw(default_rng(5), 1000), noise.draw(default_rng(5), 1000))
    assert len(noise.draw(default_rng(5), 0)) == 0


# --- snapping ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "noise", [Snapping(0.3, 10.0, 1000.0), Snapping(1.0, 1.0, 5.0), Snapping(-90.0, 3.0, 50.0), Snapping(2.5, 0.7, 6.2)]
)
def test_snapped_draws_follow_the_closed_form(noise: Snapping) -> None:
    drawn = noise.draw(default_rng(6), RUNS)
    atoms = [noise.step * k for k in range(-2, 3)] + [-noise.bound, noise.bound]
    for t in [*atoms, 0.9, -3.3]:
        assert agrees(int((drawn == t).sum()), RUNS, noise.at(t)), t
        assert agrees(int((drawn < t).sum()), RUNS, noise.below(t)), t
        assert agrees(int((drawn > t).sum()), RUNS, noise.above(t)), t
    inside = np.abs(drawn) < noise.bound
    assert np.all(drawn[inside] % noise.step == 0)
    assert np.all(np.abs(drawn) <= noise.bound)
    assert not np.any(np.signbit(drawn[drawn == 0]))


@pytest.mark.parametrize("noise", [Snapping(0.3, 10.0, 1000.0), Snapping(1.0, 1.0, 5.0), Snapping(2.5, 0.7, 6.2)])
def test_snapped_law_sums_to_one(noise: Snapping) -> None:
    most = math.ceil(noise.bound / noise.step)
    atoms = {min(max(k * noise.step, -noise.bound), noise.bound) for k in range(-most, most + 1)}
    assert math.fsum(noise.at(t) for t in atoms) == pytest.approx(1, abs=1e-12)
    for t in (-1.0, 0.0, 1.0, 3.0, noise.bound):
        assert noise.below(t) + noise.at(t) + noise.above(t) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(("scale", "step"), [(10.0, 16.0), (8.0, 8.0), (1.0, 1.0), (0.3, 0.5), (1.0000001, 2.0)])
def test_step_is_the_least_power_of_two(scale: float, step: float) -> None:
    assert Snapping(0.0, scale, 100.0).step == step


def test_uniform_doubles_have_full_precision() -> None:
    """Exponents are geometric and mantissas use all their bits, also far below 2^-53's grid."""
    u = uniform_doubles(default_rng(7), RUNS)
    assert np.all((u > 0) & (u < 1))
    mantissa, exponent = np.frexp(u)
    for k in range(12):
        assert agrees(int((exponent == -k).sum()), RUNS, 2.0 ** -(k + 1))
    low_bits = np.ldexp(mantissa, 53).astype(np.int64)
    for bit in range(8):
        assert agrees(int((low_bits >> bit & 1).sum()), RUNS, 0.5)


def test_uniform_doubles_go_on_below_64_bits() -> None:
    """An all-zero word asks for another one: exponents add up."""

    class Zeros:
        def __init__(self) -> None:
            self.words = [np.array([0], dtype=np.uint64), np.array([8], dtype=np.uint64)]

        def integers(self, low: int, high: int, size: int, dtype: object = None) -> object:
            return self.words.pop(0) if dtype is np.uint64 else np.array([1 << 52])

    assert uniform_doubles(Zeros(), 1)[0] == 2.0 ** -(64 + 3 + 1)  # type: ignore[arg-type]


def test_logarithm_is_correctly_rounded() -> None:
    """Against 240 bits, also on doubles near 1, where the logarithm itself is tiny."""
    u = uniform_doubles(default_rng(8), 3000)
    u = np.concatenate([u, 1 - np.ldexp(1.0, -np.arange(1, 54)), [2.0**-300, np.nextafter(1.0, 0.0)]])
    found = correctly_rounded_log(u)
    assert found.tolist() == [float(wide_log(x)) for x in u.tolist()]


def wide_log(x: float) -> Fraction:
    """ln x to 250 bits, by ln((1 + z)/(1 − z)) = 2(z + z³/3 + …) on mantissas in [1/2, 1); a fraction's float is
    rounded correctly.
    """
    mantissa, exponent = math.frexp(x)
    return exponent * series(Fraction(1, 3)) - (series((1 - Fraction(mantissa)) / (1 + Fraction(mantissa))))


def series(z: Fraction) -> Fraction:
    """ln((1 + z)/(1 − z)) for 0 ≤ z ≤ 1/3, in whole multiples of 2^-250 (the sum is off by less than 2^-240)."""
    power = (z.numerator << 250) // z.denominator
    square, total, k = z * z, 0, 1
    while power:
        total += power // k
        power, k = power * square.numerator // square.denominator, k + 2
    return Fraction(2 * total, 1 << 250)
