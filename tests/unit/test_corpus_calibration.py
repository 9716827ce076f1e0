"""The corpus: floating point, calibration, zCDP of selection, subsampling, post-processing.

Oracles are derived without the mechanisms' `run` and `bulk`; samples are held against them here. Every statistical test
has a fixed seed, and a false-alarm rate of ALARM for each of at most 30 comparisons a test.
"""

from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import binomtest, ks_2samp

from dpaudit.errors import DatasetError, ParameterError
from dpaudit.interpret import law, sample
from dpaudit.language import Claim, Mechanism, zcdp_delta
from dpaudit.plans import registry
from dpaudit.results.model import Verdict
from dpaudit.stats.hockey_stick import hockey_stick
from dpaudit.testing import WithoutBulk
from dpaudit_algorithms.corpus.floating_point import DiscreteLaplaceMechanism, FloatingPointLaplace, SnappingLaplace
from dpaudit_algorithms.corpus.gaussian import (
    GaussianAnalytic,
    GaussianClassical,
    GaussianClassicalLargeEpsilon,
    GaussianHalfSigma,
    classical_sigma,
    gaussian_delta,
)
from dpaudit_algorithms.corpus.not_post_processing import ClampedToPublicBounds, ClampedToTruth, RoundedToData
from dpaudit_algorithms.corpus.permute_and_flip import ExponentialZCDP, PermuteAndFlip, PermuteAndFlipBoundedRange
from dpaudit_algorithms.corpus.subsampling import SubsampledLaplace, SubsampledLaplacePoisson
from dpaudit_audits import corpus as audits
from dpaudit_audits.corpus import floating_point, permute_and_flip
from dpaudit_audits.corpus.oracle import Oracle

ALARM = 1e-7
RUNS = 300_000
BROKEN = (
    FloatingPointLaplace, GaussianHalfSigma, GaussianClassicalLargeEpsilon, PermuteAndFlipBoundedRange,
    SubsampledLaplace, ClampedToTruth, RoundedToData,
)  # fmt: skip
CORRECT = (
    SnappingLaplace, DiscreteLaplaceMechanism, GaussianClassical, GaussianAnalytic, PermuteAndFlip, ExponentialZCDP,
    SubsampledLaplacePoisson, ClampedToPublicBounds,
)  # fmt: skip
MEMBERS = (*BROKEN, *CORRECT)
DENSE = (
    FloatingPointLaplace, DiscreteLaplaceMechanism, GaussianClassical, GaussianHalfSigma, GaussianAnalytic,
    GaussianClassicalLargeEpsilon, SubsampledLaplace, SubsampledLaplacePoisson,
)  # fmt: skip
"""Those with a density."""


def named(table: dict[str, str], kind: type[Mechanism]) -> Any:
    module, _, attribute = table[kind.__name__].partition(":")
    return getattr(import_module(module), attribute)


def oracle_of(kind: type[Mechanism]) -> Oracle:
    found = named(audits.ORACLES, kind)()
    assert isinstance(found, Oracle)
    return found


def agrees(hits: int, runs: int, p: float) -> bool:
    return bool(binomtest(hits, runs, min(1.0, max(0.0, p))).pvalue > ALARM)


def outputs_of(mechanism: Mechanism, dataset: Any, seed: int, runs: int = RUNS) -> NDArray[np.float64]:
    """All outputs as numbers, sorted."""
    found = sample(mechanism, dataset, runs, seed=seed)
    atoms = np.repeat(
        np.array([float(value) for value in found.counts]),  # type: ignore[arg-type]
        list(found.counts.values()),
    )
    return np.sort(np.concatenate([found.reals, atoms]))


# --- all members -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MEMBERS)
def test_registered(kind: type[Mechanism]) -> None:
    assert registry.algorithm(kind.__name__) is kind
    plan = registry.plan(kind.__name__)
    assert plan.name == kind.__name__ == kind.card.name  # type: ignore[union-attr]
    assert kind.card is not None
    assert kind.card.known_bug is not None
    assert kind.card.known_bug.broken == (kind in BROKEN)
    for case in plan.cases():
        assert isinstance(case.mechanism, kind)
        assert case.expected is (Verdict.FAIL if kind in BROKEN else Verdict.PASS)
        for pair in case.pairs:
            assert pair.distance(case.tested.relation) == 1
    for other in kind.card.variants:
        assert other in registry.names(registry.CORPUS)


@pytest.mark.parametrize("kind", MEMBERS)
def test_values(kind: type[Mechanism]) -> None:
    mechanism = kind()
    copy = pickle.loads(pickle.dumps(mechanism))
    assert copy == mechanism
    assert repr(copy) == repr(mechanism)
    assert hash(copy) == hash(mechanism)
    with pytest.raises(FrozenInstanceError):
        mechanism.epsilon = 2.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", MEMBERS)
def test_same_seed_same_outputs(kind: type[Mechanism]) -> None:
    pair = registry.plan(kind.__name__).cases()[0].pairs[0]
    first, again, other = (outputs_of(kind(), pair.left, seed, 500) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("bad", [0.0, -0.5, math.nan, math.inf, "0.1", True])
def test_bad_epsilon(kind: Any, bad: object) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        kind(bad)


@pytest.mark.parametrize(
    ("kind", "parameters", "what"),
    [
        (SnappingLaplace, {"bound": 5.0}, "bound"),
        (SnappingLaplace, {"bound": 1e300}, "bound"),
        (GaussianHalfSigma, {"delta": 0.0}, "delta"),
        (GaussianHalfSigma, {"epsilon": 1.5}, "epsilon"),
        (GaussianClassical, {"epsilon": 1.5}, "epsilon"),
        (GaussianAnalytic, {"delta": 1.0}, "delta"),
        (GaussianClassicalLargeEpsilon, {"delta": math.nan}, "delta"),
        (PermuteAndFlipBoundedRange, {"tested": -1.0}, "tested"),
        (ExponentialZCDP, {"tested": math.inf}, "tested"),
        (SubsampledLaplace, {"rate": 0.0}, "rate"),
        (SubsampledLaplacePoisson, {"rate": 1.5}, "rate"),
        (ClampedToPublicBounds, {"low": 10.0}, "low"),
    ],
)
def test_bad_parameters(kind: Any, parameters: dict[str, Any], what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        kind(**parameters)


@pytest.mark.parametrize("kind", CORRECT)
def test_correct_members_keep_their_claims_on_their_pairs(kind: type[Mechanism]) -> None:
    """No event of the oracle refutes; where ε is attained, rounding leaves a relative 1e-9."""
    claim = kind().claim
    assert claim is not None
    for p, q in oracle_of(kind).events():
        assert p <= math.exp(claim.epsilon) * q * (1 + 1e-9) + claim.delta * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (FloatingPointLaplace, 200, 300),
        (GaussianHalfSigma, 90_000, 130_000),
        (GaussianClassicalLargeEpsilon, 55_000, 75_000),
        (PermuteAndFlipBoundedRange, 400, 480),
        (SubsampledLaplace, 60, 80),
        (ClampedToTruth, 8, 13),
        (RoundedToData, 14, 20),
    ],
)
def test_broken_members_are_seen_in_their_runs(kind: type[Mechanism], low: float, high: float) -> None:
    """n*: what the best event needs at α = 0.01, and the budget of the case is at least five times as much."""
    case = registry.plan(kind.__name__).cases()[0]
    needed = oracle_of(kind).information_limit(case.tested, 0.01)
    assert low < needed < high
    assert case.runs > 5 * needed


@pytest.mark.parametrize("kind", DENSE)
def test_density_is_that_of_the_samples(kind: Any) -> None:
    """Cells between quantiles: their frequencies against the integral of the density."""
    mechanism, pair = kind(), registry.plan(kind.__name__).cases()[0].pairs[0]
    for seed, dataset in ((21, pair.left), (22, pair.right)):
        drawn = outputs_of(mechanism, dataset, seed)
        if kind is DiscreteLaplaceMechanism:
            for k in (-9, -1, 0, 1, 4):
                p = math.exp(mechanism.log_density(dataset, np.array([k]))[0])
                assert agrees(int((drawn == k).sum()), RUNS, p)
            continue
        edges = np.quantile(drawn, [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]).round(1 if np.ptp(drawn) > 30 else 2)
        for a, b in pairwise(edges.tolist()):
            kinks = [x for x in (0.0, 1.0) if a < x < b] or None
            p, _ = quad(lambda x: math.exp(mechanism.log_density(dataset, np.array([x]))[0]), a, b, points=kinks)  # noqa: B023
            assert agrees(int(((drawn > a) & (drawn <= b)).sum()), RUNS, p), (a, b)


# --- floating point ------------------------------------------------------------------------------------------------


def test_floating_point_text_and_bulk() -> None:
    """As real numbers both are Laplace noise (Kolmogorov–Smirnov at 1e-6)."""
    for dataset in ((0,), (1,)):
        text = outputs_of(WithoutBulk(FloatingPointLaplace()), dataset, 1)
        bulk = outputs_of(FloatingPointLaplace(), dataset, 2)
        assert ks_2samp(text, bulk).pvalue > 1e-6


def test_floating_point_leaks() -> None:
    """The event of the oracle: about 3 % at a count of 0, and never at a count of 1."""
    mechanism = FloatingPointLaplace()
    oracle = oracle_of(FloatingPointLaplace)
    zero, one = (mechanism.bulk(dataset, 2_000_000, default_rng(31)) for dataset in ((0,), (1,)))
    hits = int(floating_point.fine(zero).sum())
    spread = math.sqrt(2 * oracle.p[0] / 2_000_000)
    assert abs(hits / 2_000_000 - oracle.p[0]) < 6 * spread  # both are estimates; 6 σ
    assert 0.02 < oracle.p[0] < 0.05
    assert not floating_point.fine(one).any()
    assert oracle.epsilon() == math.inf


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_the_proof_of_the_leak_is_about_every_scale(epsilon: float) -> None:
    assert not floating_point.fine(FloatingPointLaplace(epsilon).bulk((1,), 500_000, default_rng(32))).any()


def test_floating_point_keeps_its_claim_on_the_reals() -> None:
    """Half-lines, by frequencies: the oracle of real noise has e^ε as its largest ratio."""
    mechanism = FloatingPointLaplace()
    x = np.linspace(-300, 300, 6001)
    ratio = mechanism.log_density((0,), x) - mechanism.log_density((1,), x)
    assert np.abs(ratio).max() == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize(("kind", "unit"), [(SnappingLaplace, 16.0), (DiscreteLaplaceMechanism, 1.0)])
def test_the_corrected_ones_show_no_low_bits(kind: Any, unit: float) -> None:
    for dataset in ((0,), (1,)):
        drawn = outputs_of(kind(), dataset, 33)
        assert np.all(drawn % unit == 0)
        assert not floating_point.fine(drawn).any()


def test_snapping_oracle_against_samples() -> None:
    """Atoms, and the halves of the event with the largest ratio."""
    oracle = oracle_of(SnappingLaplace)
    assert oracle.p[-1] == pytest.approx(1, abs=1e-9)
    assert oracle.q[-1] == pytest.approx(1, abs=1e-9)
    left, right = outputs_of(SnappingLaplace(), (0,), 34), outputs_of(SnappingLaplace(), (1,), 35)
    at = int(np.searchsorted(left, -8.0)) / RUNS, int(np.searchsorted(right, -8.0)) / RUNS
    # answers ≤ −16 are noise below −8: e^-0.8/2 at a count of 0
    assert agrees(round(at[0] * RUNS), RUNS, 0.5 * math.exp(-0.8))
    assert agrees(round(at[1] * RUNS), RUNS, 0.5 * math.exp(-0.9))
    assert oracle.epsilon() == pytest.approx(0.1, rel=1e-9)


def test_snapping_claim_as_printed() -> None:
    claim = SnappingLaplace(0.5, 2.0**20).claim
    assert claim.epsilon == 0.5 + 2.0**-49 * 2.0**20 * 0.5
    assert claim.pure


def test_discrete_oracle_against_samples() -> None:
    oracle, thresholds = oracle_of(DiscreteLaplaceMechanism), np.arange(-150, 152)
    left, right = outputs_of(DiscreteLaplaceMechanism(), (0,), 36), outputs_of(DiscreteLaplaceMechanism(), (1,), 37)
    for t in (-30, -3, 0, 1, 2, 25):
        i = int(np.flatnonzero(thresholds == t)[0])
        assert agrees(int((left <= t).sum()), RUNS, oracle.p[i])
        assert agrees(int((right <= t).sum()), RUNS, oracle.q[i])
    assert oracle.epsilon() == pytest.approx(0.1, rel=1e-6)


def test_discrete_counts_are_whole() -> None:
    with pytest.raises(ParameterError, match="whole"):
        sample(DiscreteLaplaceMechanism(), (0.5,), 10)


# --- Gaussians -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [GaussianClassical, GaussianHalfSigma, GaussianClassicalLargeEpsilon, GaussianAnalytic]
)
def test_gaussian_oracle(kind: Any) -> None:
    """Its best event has the exact profile, and its threshold events the frequencies of samples."""
    mechanism, oracle = kind(), oracle_of(kind)
    for epsilon in (0.0, 0.5, mechanism.epsilon):
        best = float(np.max(oracle.p - math.exp(epsilon) * oracle.q))
        assert best == pytest.approx(gaussian_delta(mechanism.sigma, epsilon), rel=1e-3, abs=1e-15)
        assert best <= gaussian_delta(mechanism.sigma, epsilon) * (1 + 1e-9)
    left, right = outputs_of(mechanism, (0.0,), 41), outputs_of(mechanism, (1.0,), 42)
    thresholds = 0.5 + np.linspace(-12, 12, 8001) * max(mechanism.sigma, 0.5)
    for i in (3200, 3700, 4000, 4300, 4700):
        assert agrees(int(np.searchsorted(left, thresholds[i], side="right")), RUNS, oracle.p[i])
        assert agrees(int(np.searchsorted(right, thresholds[i], side="right")), RUNS, oracle.q[i])


def test_profile_by_quadrature() -> None:
    """Theorem 8 of Balle and Wang against the integral of max(0, density − e^ε density)."""
    for sigma, epsilon in ((0.3, 2.0), (1.0, 0.5), (4.8, 1.0)):
        def excess(x: float, sigma: float = sigma, epsilon: float = epsilon) -> float:
            a, b = -0.5 * (x / sigma) ** 2, -0.5 * ((x - 1) / sigma) ** 2 + epsilon
            return max(0.0, math.exp(a) - math.exp(b)) / (sigma * math.sqrt(2 * math.pi))

        edge = 0.5 - epsilon * sigma**2
        found, _ = quad(excess, edge - 12 * sigma, edge, epsabs=1e-14)
        assert gaussian_delta(sigma, epsilon) == pytest.approx(found, rel=1e-7)


def test_gaussian_cards() -> None:
    """What the cards say, by the exact profile: true ε and δ, and where the formula begins to fail."""
    for mechanism, epsilon, delta in (
        (GaussianClassical(), 0.751, 4.114e-8),
        (GaussianHalfSigma(), 1.610, 0.0017),
        (GaussianClassicalLargeEpsilon(), 8.875, 0.366),
        (GaussianAnalytic(), 7.0, 0.2),
    ):
        assert gaussian_delta(mechanism.sigma, epsilon + 6e-4) < mechanism.delta < gaussian_delta(
            mechanism.sigma, epsilon - 6e-4
        )
        assert gaussian_delta(mechanism.sigma, mechanism.epsilon) == pytest.approx(delta, rel=2e-3)
    for delta, first in ((1e-5, 8.42), (1e-3, 7.46), (0.01, 6.77), (0.2, 5.29)):
        assert gaussian_delta(classical_sigma(first - 0.01, delta), first - 0.01) < delta
        assert gaussian_delta(classical_sigma(first + 0.01, delta), first + 0.01) > delta


def test_classical_calibration_holds_up_to_one() -> None:
    for epsilon in (0.05, 0.3, 1.0):
        for delta in (1e-9, 1e-5, 1e-2, 0.2):
            assert gaussian_delta(classical_sigma(epsilon, delta), epsilon) < delta


def test_analytic_calibration_attains_its_claim() -> None:
    for epsilon, delta in ((0.01, 1e-6), (1.0, 1e-5), (7.0, 0.2), (30.0, 1e-3)):
        sigma = GaussianAnalytic(epsilon, delta).sigma
        assert gaussian_delta(sigma, epsilon) <= delta
        assert gaussian_delta(sigma, epsilon) == pytest.approx(delta, rel=1e-6)


# --- selection -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", [(0, 0), (1, -1), (0, 0, 0), (1, -1, 0), (0.3, -2, 1.5, 1)])
def test_permute_and_flip_by_enumeration(scores: tuple[float, ...]) -> None:
    """The text's law against the sum over all permutations, and against samples."""
    mechanism = PermuteAndFlip(0.7)
    expected = permute_and_flip.flip_law(scores, 0.7)
    found = law(mechanism, scores).as_dict()
    assert math.fsum(expected.values()) == pytest.approx(1, abs=1e-12)
    counts = sample(mechanism, scores, RUNS, seed=51).counts
    for candidate, p in expected.items():
        assert found[candidate] == pytest.approx(p, abs=1e-12)
        assert agrees(counts.get(candidate, 0), RUNS, p)


def test_permute_and_flip_is_pure() -> None:
    """McKenna and Sheldon, Theorem 1, on every pair of three small scores; ε is attained."""
    worst = 0.0
    moves = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)]
    for scores in ((0, 0, 0), (2, 0, -1), (0.5, 0, 0)):
        left = permute_and_flip.flip_law(scores, 1.0)
        for move in moves:
            right = permute_and_flip.flip_law(tuple(s + m for s, m in zip(scores, move, strict=True)), 1.0)
            worst = max(worst, *(abs(math.log(left[i] / right[i])) for i in left))
    assert worst == pytest.approx(1.0, abs=1e-12)


def test_permute_and_flip_exceeds_the_bounded_range() -> None:
    """Its law against what ε²/8-zCDP allows; and ρ is at least 0.255 at ε = 1, as the card says."""
    mechanism, (case,) = PermuteAndFlipBoundedRange(), registry.plan("PermuteAndFlipBoundedRange").cases()
    (pair,) = case.pairs
    p, q = (law(mechanism, dataset).as_dict() for dataset in (pair.left, pair.right))
    allowed = zcdp_delta(1 / 8, 0.3)
    assert mechanism.claim == Claim(0.3, allowed, mechanism.claim.relation, 1 / 8)
    found = hockey_stick([p[0], p[1]], [q[0], q[1]], 0.3)
    assert found == pytest.approx(0.2517, abs=5e-5)
    assert allowed == pytest.approx(0.1438, abs=5e-5)
    divergence = sum(p[i] * math.log(p[i] / q[i]) for i in p)  # the order 1: ρ-zCDP allows ρ
    assert divergence == pytest.approx((1 - math.log(2 - math.exp(-1))) / 2)
    assert divergence == pytest.approx(0.255, abs=5e-4)
    log_ratios = [math.log(p[i] / q[i]) for i in p]
    assert max(log_ratios) - min(log_ratios) == pytest.approx(1 + math.log(2 - math.exp(-1)))


def test_exponential_mechanism_keeps_the_bound() -> None:
    """By its laws: every gap of two candidates and every move, at several ε."""
    mechanism = ExponentialZCDP()
    for gap in np.linspace(-3, 3, 25).tolist():
        p, q = (law(mechanism, scores).probs for scores in ((gap, 0.0), (gap - 1, 1.0)))
        assert np.log(p / q).max() - np.log(p / q).min() == pytest.approx(1.0)  # ε-bounded range
        for epsilon in (0.0, 0.3, 0.6):
            assert max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)) <= zcdp_delta(1 / 8, epsilon)
    oracle = oracle_of(ExponentialZCDP)
    assert law(mechanism, (1, 0)).as_dict()[0] == pytest.approx(oracle.p[0])
    assert law(mechanism, (0, 1)).as_dict()[0] == pytest.approx(oracle.q[0])
    assert oracle.p[0] - math.exp(0.3) * oracle.q[0] == pytest.approx(0.1128, abs=5e-5)


# --- subsampling -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SubsampledLaplace, SubsampledLaplacePoisson])
def test_subsampling_oracle_against_samples(kind: Any) -> None:
    oracle, pair = oracle_of(kind), registry.plan(kind.__name__).cases()[0].pairs[0]
    thresholds = np.linspace(-40.0, 41.0, 8101)[::-1]
    left, right = outputs_of(kind(), pair.left, 61), outputs_of(kind(), pair.right, 62)
    for i in (3600, 3900, 4000, 4050, 4300):
        assert agrees(int((left > thresholds[i]).sum()), RUNS, oracle.p[i])
        assert agrees(int((right > thresholds[i]).sum()), RUNS, oracle.q[i])


def test_subsampling_true_epsilons() -> None:
    """ε₀ without amplification, ε with it, both attained."""
    mechanism = SubsampledLaplace()
    assert mechanism.unamplified == pytest.approx(0.7187, abs=5e-5)
    assert math.log(1 + 0.1 * math.expm1(mechanism.unamplified)) == pytest.approx(0.1)
    assert oracle_of(SubsampledLaplace).epsilon() == pytest.approx(mechanism.unamplified, rel=1e-6)
    assert oracle_of(SubsampledLaplacePoisson).epsilon() == pytest.approx(0.1, rel=1e-6)


def test_poisson_amplification_on_every_count() -> None:
    """The density ratio of K and K + 1 ones, K up to 20, stays within e^±ε, at several rates."""
    x = np.linspace(-40, 60, 2001)
    for epsilon, rate in ((0.1, 0.1), (1.0, 0.3), (0.5, 1.0)):
        mechanism = SubsampledLaplacePoisson(epsilon, rate)
        for ones in range(20):
            few, more = (1,) * ones + (0,) * (20 - ones), (1,) * (ones + 1) + (0,) * (19 - ones)
            ratio = mechanism.log_density(more, x) - mechanism.log_density(few, x)
            assert np.abs(ratio).max() <= epsilon * (1 + 1e-9)


def test_fixed_sample_ignores_late_records() -> None:
    mechanism, x = SubsampledLaplace(), np.linspace(-5, 5, 11)
    late = (0,) * 19 + (1,)
    assert np.array_equal(mechanism.log_density(late, x), mechanism.log_density((0,) * 20, x))


@pytest.mark.parametrize("kind", [SubsampledLaplace, SubsampledLaplacePoisson])
def test_subsampling_needs_zeros_and_ones(kind: Any) -> None:
    with pytest.raises(DatasetError, match="0 and 1"):
        kind().log_density((2,) * 20, np.zeros(1))


# --- post-processing -------------------------------------------------------------------------------------------------


def test_clamped_to_truth_against_samples() -> None:
    oracle = oracle_of(ClampedToTruth)
    assert oracle.epsilon() == math.inf
    assert (oracle.p[-1], oracle.q[-1]) == pytest.approx((1, 1), abs=1e-9)
    six, five = outputs_of(ClampedToTruth(), (6,), 71), outputs_of(ClampedToTruth(), (5,), 72)
    above = 0.5 + 0.5 * -math.expm1(-0.1)
    assert above == pytest.approx(0.5476, abs=5e-5)
    assert agrees(int((six > 5).sum()), RUNS, above)
    assert five.max() == 5
    assert oracle.q[int(np.flatnonzero(np.isclose(oracle.p, above))[0])] == 0
    for drawn, count in ((six, 6), (five, 5)):
        assert agrees(int((drawn == count).sum()), RUNS, 0.5)
        assert agrees(int((drawn == 0).sum()), RUNS, 0.5 * math.exp(-0.1 * count))
        assert agrees(int((drawn <= 2).sum()), RUNS, 0.5 * math.exp(-0.1 * (count - 2)))


def test_clamped_to_truth_at_nothing() -> None:
    assert set(outputs_of(ClampedToTruth(), (0,), 73, 100).tolist()) == {0.0}
    with pytest.raises(ParameterError, match="count"):
        sample(ClampedToTruth(), (-1,), 10)


def test_rounded_to_data_against_samples_and_law() -> None:
    mechanism, oracle = RoundedToData(), oracle_of(RoundedToData)
    assert oracle.epsilon() == math.inf
    p = law(mechanism, (2, 8)).as_dict()
    assert p[8] == pytest.approx(0.5 * math.exp(-0.3))
    assert p[8] == pytest.approx(0.3704, abs=5e-5)
    assert oracle.p[0] == pytest.approx(p[8])
    assert law(mechanism, (2, 9)).as_dict().get(8, 0.0) == 0
    noisy = 2 + default_rng(74).laplace(0, 10, RUNS)  # noise drawn first, then rounded
    assert agrees(int((np.abs(noisy - 8) < np.abs(noisy - 2)).sum()), RUNS, p[8])
    three = law(mechanism, (3, 0, 9)).as_dict()
    noisy = 3 + default_rng(75).laplace(0, 10, RUNS)
    nearest = np.array([0, 3, 9])[np.abs(noisy[:, np.newaxis] - np.array([0, 3, 9])).argmin(axis=1)]
    for value in (0, 3, 9):
        assert agrees(int((nearest == value).sum()), RUNS, three[value])
    assert law(mechanism, (4, 4)).as_dict() == {4: 1.0}


def test_public_bounds_against_samples() -> None:
    oracle = oracle_of(ClampedToPublicBounds)
    assert oracle.epsilon() == pytest.approx(0.1, rel=1e-9)
    for seed, count in ((76, 6), (77, 5)):
        drawn = outputs_of(ClampedToPublicBounds(), (count,), seed)
        assert agrees(int((drawn == 0).sum()), RUNS, 0.5 * math.exp(-0.1 * count))
        assert agrees(int((drawn == 10).sum()), RUNS, 0.5 * math.exp(-0.1 * (10 - count)))
        assert agrees(int((drawn <= 3).sum()), RUNS, 0.5 * math.exp(-0.1 * (count - 3)))
    # its best event is {above 6}, or any part of it: e^-0.1 on the other side
    i = int(np.flatnonzero(np.isclose(oracle.p, 0.5))[0])
    assert oracle.q[i] == pytest.approx(0.5 * math.exp(-0.1))
