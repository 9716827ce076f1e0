"""Histograms, noisy maxima, local and parallel members of the corpus: laws, oracles, true ε.

Every test of samples has a false-alarm rate of at most 1e-6 a parameter (5e-7 where two sides are tested), with fixed
seeds.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import trapezoid

from dpaudit.errors import MechanismError
from dpaudit.interpret import Outputs, law, sample
from dpaudit.language import DatasetError, Mechanism, ParameterError
from dpaudit.plans import registry
from dpaudit.plans.plan import Case
from dpaudit.results.model import Verdict
from dpaudit.testing import WithoutBulk
from dpaudit_algorithms.corpus.laplace_parallel import LaplaceParallel
from dpaudit_algorithms.corpus.noisy_histogram import NoisyHist1, NoisyHist2
from dpaudit_algorithms.corpus.prefix_sum import PrefixSum
from dpaudit_algorithms.corpus.rappor import OneTimeRappor, Rappor, bloom_filter
from dpaudit_algorithms.corpus.report_noisy_max import (
    Exponential,
    ReportNoisyMax1,
    ReportNoisyMax2,
    ReportNoisyMax3,
    ReportNoisyMax4,
)
from dpaudit_algorithms.corpus.truncated_geometric import TruncatedGeometric, TruncatedGeometricBase2
from dpaudit_audits.corpus import ORACLES
from dpaudit_audits.corpus import report_noisy_max as noisy_max
from dpaudit_audits.corpus.noisy_histogram import CELLS, laplace_cell_sums
from dpaudit_audits.corpus.oracle import Oracle
from dpaudit_audits.corpus.rappor import differing_bits
from dpaudit_audits.corpus.truncated_geometric import truncated_geometric

TRUTHS = {
    "NoisyHist1": 0.1,
    "NoisyHist2": 10.0,
    "PrefixSum": 1.0,
    "TruncatedGeometric": math.log(9 / 8),
    "TruncatedGeometricBase2": math.log(33 / 32),
    "ReportNoisyMax1": 0.0946,
    "ReportNoisyMax2": 0.1,
    "ReportNoisyMax3": 0.25,
    "ReportNoisyMax4": math.inf,
    "Rappor": 6 * math.log(0.5125 / 0.4875),
    "OneTimeRappor": 6 * math.log(0.525 / 0.475),
    "LaplaceParallel": 0.1,
}
"""The true ε of every pair: published, or derived by hand."""
BROKEN = {"NoisyHist2", "PrefixSum", "TruncatedGeometric", "ReportNoisyMax3", "ReportNoisyMax4"}
ALARM = 5e-7


def loaded(where: str) -> Any:
    module, _, attribute = where.partition(":")
    return getattr(import_module(module), attribute)


def case(name: str) -> Case:
    (only,) = registry.plan(name).cases()
    return only  # type: ignore[no-any-return]


def oracle(name: str) -> Oracle:
    """Without the event of everything: rounding of its 1 must not be taken for a rare complement."""
    found = loaded(ORACLES[name])()
    some = (found.p < 1 - 1e-12) | (found.q < 1 - 1e-12)
    return Oracle(found.p[some], found.q[some], found.exact)


def sides(name: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    (pair,) = case(name).pairs
    return tuple(pair.left), tuple(pair.right)


def agrees(hits: int, runs: int, p: float) -> bool:
    """A two-sided binomial test at ALARM."""
    return float(stats.binomtest(hits, runs, min(1.0, p)).pvalue) > ALARM


def fits(counts: dict[Hashable, int], expected: dict[Hashable, float]) -> bool:
    """A chi-square test at ALARM, and nothing impossible; all expected counts must be at least 20."""
    runs = sum(counts.values())
    means = np.array([p * runs for p in expected.values()])
    assert means.min() >= 20
    seen = np.array([counts.get(value, 0) for value in expected])
    statistic = float(((seen - means) ** 2 / means).sum())
    return set(counts) <= set(expected) and float(stats.chi2.sf(statistic, len(means) - 1)) > ALARM


# --- the tables and the plans ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRUTHS)
def test_tables_cards_and_plans(name: str) -> None:
    kind, tried = registry.algorithm(name), case(name)
    card: Any = kind.card
    assert type(tried.mechanism) is kind
    assert card.name == registry.plan(name).name == name
    assert card.known_bug.broken == (name in BROKEN)
    assert tried.expected is (Verdict.FAIL if name in BROKEN else Verdict.PASS)
    assert tried.tested is not None
    assert tried.pairs[0].distance(tried.tested.relation) == 1
    assert pickle.loads(pickle.dumps(tried.mechanism)) == tried.mechanism
    assert all(variant in TRUTHS for variant in card.variants)


@pytest.mark.parametrize("name", TRUTHS)
def test_true_epsilon(name: str) -> None:
    found = oracle(name).epsilon()
    # a privacy loss is known up to a cell's width in the oracles that cut the line
    assert found == pytest.approx(TRUTHS[name], rel=1e-3)
    claim = case(name).tested
    assert claim is not None
    assert (found > claim.epsilon * (1 + 1e-9)) == (name in BROKEN)


@pytest.mark.slow(fast=["PrefixSum-*"])
@pytest.mark.parametrize(("name", "least"), [("NoisyHist2", 9.4), ("OneTimeRappor", 0.55), ("PrefixSum", 0.65)])
def test_a_million_runs_can_show_the_targets(name: str, least: float) -> None:
    assert oracle(name).bound(10**6, 0.0, 0.05) > least


@pytest.mark.parametrize(
    ("name", "power", "epsilon"),
    [("PrefixSum", 0.01, 0.757), ("LaplaceParallel", 0.01, 0.055), ("ReportNoisyMax4", 0.01, 0.36)],
)
def test_published_powers(name: str, power: float, epsilon: float) -> None:
    """ln(p/q) of the best event with q = `power`, as published for DP-Sniper, to the digits given."""
    curve = oracle(name)
    p = float(np.interp(power, curve.q, curve.p))
    assert math.log(p / power) == pytest.approx(epsilon, abs=0.006)


@pytest.mark.parametrize("power", [0.1, 0.01, 1e-4, 1e-6])
def test_smallest_maxima_in_closed_form(power: float) -> None:
    """{maximum of five ≤ t}: of exponential noise (1 − e^−z)^5 on both sides, with z moved by ε/2."""
    curve = oracle("ReportNoisyMax4")
    z = -math.log1p(-(power ** (1 / 5)))
    expected = 5 * math.log(-math.expm1(-z - 0.05) / -math.expm1(-z))
    assert math.log(float(np.interp(power, curve.q, curve.p)) / power) == pytest.approx(expected, rel=1e-3)


# --- samples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRUTHS)
def test_the_same_seed_gives_the_same_outputs(name: str) -> None:
    mechanism, (left, _) = case(name).mechanism, sides(name)
    one, two, other = (sample(mechanism, left, 500, seed=seed) for seed in (3, 3, 4))
    assert one.counts == two.counts
    assert np.array_equal(one.reals, two.reals)
    assert (one.counts, one.reals.tolist()) != (other.counts, other.reals.tolist())


@pytest.mark.slow(only=["Rappor"])
@pytest.mark.parametrize("name", [n for n in TRUTHS if hasattr(registry.algorithm(n), "bulk")])
def test_bulk_draws_what_the_text_draws(name: str) -> None:
    """Kolmogorov–Smirnov on every coordinate of the outputs at 1e-6 in all."""
    mechanism = case(name).mechanism
    for side, dataset in enumerate(sides(name)):
        text = columns(sample(WithoutBulk(mechanism), dataset, 1_500, seed=10 + side))
        bulk = columns(sample(mechanism, dataset, 30_000, seed=20 + side))
        assert len(text) == 1_500
        assert len(bulk) == 30_000
        d = text.shape[1]
        assert min(stats.ks_2samp(text[:, i], bulk[:, i]).pvalue for i in range(d)) > ALARM / d


def columns(outputs: Outputs) -> NDArray[np.float64]:
    """All outputs as vectors, one a row."""
    if len(outputs.reals):
        return outputs.reals.reshape(len(outputs.reals), -1)
    values = np.array(list(outputs.counts), dtype=np.float64).reshape(len(outputs.counts), -1)
    return np.repeat(values, list(outputs.counts.values()), axis=0)


LAPLACE_SCALES = {"NoisyHist1": 10.0, "NoisyHist2": 0.1, "PrefixSum": 10.0, "LaplaceParallel": 200.0}


@pytest.mark.parametrize("name", LAPLACE_SCALES)
def test_laplace_oracles_against_samples(name: str) -> None:
    """The oracle's own events, on samples: 8 events on both sides, 16 binomial tests."""
    mechanism, scale, (left, right) = case(name).mechanism, LAPLACE_SCALES[name], sides(name)
    moved = [i for i in range(len(left)) if left[i] != right[i]]
    coordinates = mechanism.copies if isinstance(mechanism, LaplaceParallel) else len(moved)
    p, q = laplace_cell_sums(1.0, scale, coordinates)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    assert q.sum() == pytest.approx(1, abs=1e-9)
    runs, low = 100_000, left[moved[0]]
    edges = np.linspace(low, low + 1, CELLS + 1)
    for seed, (dataset, exact) in enumerate(((left, p), (right, q))):
        outputs = sample(mechanism, dataset, runs, seed=30 + seed).reals
        answers = np.diff(outputs, axis=1, prepend=0.0) if name == "PrefixSum" else outputs
        answers = answers if isinstance(mechanism, LaplaceParallel) else answers[:, moved]
        sums = np.searchsorted(edges, answers).sum(axis=1)
        assert answers.shape == (runs, coordinates)
        for power in (0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
            most = int(np.searchsorted(np.cumsum(p), power))
            assert agrees(int((sums <= most).sum()), runs, float(exact[: most + 1].sum()))


@pytest.mark.parametrize("name", LAPLACE_SCALES)
def test_laplace_densities(name: str) -> None:
    """On the pair their ratio is e^ε at outputs below both datasets, and the density of one coordinate sums to 1."""
    mechanism, (left, right) = case(name).mechanism, sides(name)
    assert isinstance(mechanism, NoisyHist1 | NoisyHist2 | PrefixSum | LaplaceParallel)
    d = 20 if name == "LaplaceParallel" else len(left)
    low = -np.arange(1.0, d + 1)[None] if name == "PrefixSum" else np.full((1, d), -1.0)
    loss = mechanism.log_density(left, low) - mechanism.log_density(right, low)
    assert loss == pytest.approx([TRUTHS[name]])
    alone = replace(mechanism, copies=1) if isinstance(mechanism, LaplaceParallel) else mechanism
    scale = LAPLACE_SCALES[name]
    grid = np.linspace(1 - 40 * scale, 1 + 40 * scale, 200_001)
    assert trapezoid(np.exp(alone.log_density((1,), grid[:, None])), grid) == pytest.approx(1, abs=1e-6)


def test_prefix_sum_density_is_that_of_its_noise() -> None:
    """Against the product of Laplace densities of the answers that were summed."""
    noise = np.random.default_rng(1).laplace(0, 10, (7, 10))
    sums = np.cumsum(noise + 2, axis=1)
    expected = stats.laplace.logpdf(noise, scale=10).sum(axis=1)
    assert PrefixSum().log_density((2,) * 10, sums) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("mechanism", "noise"),
    [(ReportNoisyMax1(), noisy_max.laplace), (ReportNoisyMax2(), noisy_max.exponential)],
)
@pytest.mark.parametrize("answers", [(1,) * 5, (0, 2, 2, 2, 2), (2, 0, 0, 0, 0), (1, 1, 0, 0, 0), (30, 0, 7, 0, -50)])
def test_index_laws_against_samples(mechanism: Mechanism, noise: noisy_max.Noise, answers: tuple[int, ...]) -> None:
    exact = noisy_max.index_law(answers, noise)
    assert exact.sum() == pytest.approx(1, abs=1e-9)
    outputs = sample(mechanism, answers, 200_000, seed=5)
    assert fits(outputs.counts, dict(enumerate(exact.tolist())))


def test_index_laws_of_two_answers() -> None:
    """Closed forms: the difference of two noises. Exponential: 1 − e^−z/2. Laplace: 1 − (1 + z/2)·e^−z/2."""
    z = 3 / noisy_max.SCALE
    assert noisy_max.index_law((4, 1), noisy_max.exponential)[0] == pytest.approx(1 - math.exp(-z) / 2, abs=1e-12)
    expected = 1 - (1 + z / 2) * math.exp(-z) / 2
    assert noisy_max.index_law((4, 1), noisy_max.laplace)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("noise", "least"), [(noisy_max.laplace, 0.07), (noisy_max.exponential, 0.0999)])
def test_indices_keep_the_claim(noise: noisy_max.Noise, least: float) -> None:
    """On all pairs of neighbours with three answers in {0, 1, 2}, and the worst comes near it."""
    claim, laws = ReportNoisyMax1().claim, dict[tuple[int, ...], NDArray[np.float64]]()
    for answers in product((0, 1, 2), repeat=3):
        laws[answers] = noisy_max.index_law(answers, noise)
    worst = max(
        float(np.log(laws[a] / laws[b]).max())
        for a, b in product(laws, repeat=2)
        if claim.relation.related(a, b) and a != b
    )
    assert least < worst < 0.1 * (1 + 1e-9)


@pytest.mark.parametrize("mechanism", [ReportNoisyMax3(), ReportNoisyMax4()])
@pytest.mark.parametrize("answers", [(1, 1, 1, 1, 1), (2, 2, 2, 2, 2), (3, 0, 40, 0, -7)])
def test_values_against_samples_and_densities(
    mechanism: ReportNoisyMax3 | ReportNoisyMax4, answers: tuple[int, ...]
) -> None:
    """The oracle's cells against samples (chi-square) and against the integral of the density."""
    noise = noisy_max.exponential if isinstance(mechanism, ReportNoisyMax4) else noisy_max.laplace
    edges = np.array([12.0, 20, 30, 40, 45, 50, 60, 80, 120])
    cells = noisy_max.value_cells(answers, noise, edges)
    runs = 200_000
    values = sample(mechanism, answers, runs, seed=6).reals
    seen = np.bincount(np.searchsorted(edges, values), minlength=len(cells))
    possible = cells * runs >= 20
    assert seen[~possible].sum() <= 20
    assert fits(
        dict(enumerate(seen[possible].tolist())),
        dict(enumerate((cells[possible] / cells[possible].sum()).tolist())),
    )
    assert cells.sum() == pytest.approx(1, abs=1e-12)
    for low, high, cell in zip(edges[:-1], edges[1:], cells[1:-1], strict=True):
        grid = np.linspace(low, high, 20_001)
        middle = (grid[:-1] + grid[1:]) / 2
        inside = np.exp(mechanism.log_density(answers, middle)).sum() * (grid[1] - grid[0])
        assert inside == pytest.approx(cell, abs=1e-8)


def test_maximum_of_exponential_noise_cannot_be_small() -> None:
    mechanism = ReportNoisyMax4()
    assert np.isneginf(mechanism.log_density((2,) * 5, np.array([1.5, 2.0]))).all()
    assert np.isfinite(mechanism.log_density((1,) * 5, np.array([1.5, 1e4]))).all()
    rare = math.exp(float(noisy_max.exponential(np.array(1 / 20))[1]) * 5)
    assert rare == pytest.approx(2.8e-7, rel=0.02)


def test_exponential_distribution() -> None:
    noise = Exponential(3, 2)
    assert noise.below(3) == noise.below(-1) == 0
    assert noise.below(5) == pytest.approx(1 - math.exp(-1))
    assert noise.above(5) == pytest.approx(math.exp(-1))
    assert stats.kstest(noise.draw(np.random.default_rng(1), 20_000), stats.expon(3, 2).cdf).pvalue > 1e-6


# --- RAPPOR ---------------------------------------------------------------------------------------------------------


def test_filters_are_the_same_everywhere() -> None:
    """Known answers: blake2b does not depend on the machine, the process or Python's own hashes."""
    assert [i for i, bit in enumerate(bloom_filter(0, 20, 4)) if bit] == [4, 7, 10, 19]
    assert [i for i, bit in enumerate(bloom_filter(5, 20, 4)) if bit] == [1, 3, 7, 12]
    assert bloom_filter("0", 20, 4) == bloom_filter(0, 20, 4)
    assert sum(bloom_filter(0, 1, 4)) == 1


def test_rappor_claims() -> None:
    """Theorems 1 and 2 at the constants, and that the claim is attained by 2h different bits."""
    p, q = Rappor().reported
    assert (p, q) == pytest.approx((0.4875, 0.5125))
    assert Rappor().claim.epsilon == pytest.approx(4 * 2 * math.log(0.5125 / 0.4875))
    assert OneTimeRappor().claim.epsilon == pytest.approx(8 * math.log(0.525 / 0.475))


@pytest.mark.slow(fast=["Rappor"])
@pytest.mark.parametrize("name", ["Rappor", "OneTimeRappor"])
def test_differing_bits_against_samples(name: str) -> None:
    """Both oracle laws by chi-square over their 16 atoms; the pair's filters differ in 3 + 3 bits."""
    mechanism, (left, right) = case(name).mechanism, sides(name)
    filters = [np.array(bloom_filter(value, 20, 4)) for (value,) in (left, right)]
    own, others = filters[0] > filters[1], filters[1] > filters[0]
    assert own.sum() == others.sum() == 3
    one, zero = (0.5125, 0.4875) if name == "Rappor" else (0.525, 0.475)
    for seed, (dataset, exact) in enumerate(
        ((left, differing_bits(one, zero)), (right, differing_bits(zero, one)))
    ):
        outputs = sample(mechanism, dataset, 60_000, seed=7 + seed).counts
        counts: dict[Hashable, int] = {}
        for report, times in outputs.items():
            bits = np.array(report)
            key = (int(bits[own].sum()), int(bits[others].sum()))
            counts[key] = counts.get(key, 0) + times
        assert fits(counts, exact)


@pytest.mark.slow(only=["mechanism0"])
@pytest.mark.parametrize("mechanism", [Rappor(bits=5, hashes=2), OneTimeRappor(bits=5, hashes=2, f=0.4)])
def test_small_filters_have_the_law_of_their_density(mechanism: Rappor | OneTimeRappor) -> None:
    """Enumerated from the text, step by step, and held against `log_density` and the claim."""
    laws = []
    for value in range(12):
        exact = law(mechanism, (value,)).as_dict()
        reports = np.array(list(exact))
        assert np.exp(mechanism.log_density((value,), reports)) == pytest.approx(list(exact.values()))
        assert math.fsum(exact.values()) == pytest.approx(1)
        laws.append(exact)
    # 200,000 runs of `bulk` and of the text: the shares of single reports at 5e-7 each
    for runner in (mechanism, WithoutBulk(mechanism)):
        assert fits(sample(runner, (0,), 200_000, seed=8).counts, laws[0])
    worst = max(math.log(a[report] / b[report]) for a in laws for b in laws for report in a)
    # two filters of this size without a common bit and without collisions are among the 12: the claim is attained
    assert worst == pytest.approx(mechanism.claim.epsilon)


# --- truncated geometric --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "k"), [(TruncatedGeometric, 3), (TruncatedGeometricBase2, 5)])
def test_geometric_law_is_exact(kind: type[TruncatedGeometric], k: int) -> None:
    """The printed F against the truncated two-sided geometric distribution with e^ε = 1 + 2^−k, in whole numbers."""
    mechanism = kind()
    assert mechanism.k == k
    laws = []
    for count in range(6):
        exact = truncated_geometric(1 + Fraction(1, 2**k), 5, count)
        assert sum(exact.values()) == 1
        masses = {z: Fraction(mechanism.F(z, count) - mechanism.F(z - 1, count), mechanism.d) for z in range(6)}
        assert masses == exact
        assert law(mechanism, (count,)).as_dict() == pytest.approx({z: float(p) for z, p in exact.items()}, rel=1e-14)
        laws.append(exact)
    worst = max(laws[c][z] / laws[d][z] for c in range(6) for d in (c - 1, c + 1) if 0 <= d < 6 for z in range(6))
    assert worst == 1 + Fraction(1, 2**k)
    assert (math.log(worst) > mechanism.epsilon) == (kind is TruncatedGeometric)


def test_geometric_text_as_printed() -> None:
    """Step by step as in the paper: all d = 111,537 values of u, the smallest z with F(z) ≥ u."""
    mechanism = TruncatedGeometric()
    u = np.arange(1, mechanism.d + 1)
    for count in range(6):
        z = np.searchsorted([mechanism.F(z, count) for z in range(6)], u)
        expected = dict(enumerate((np.bincount(z, minlength=6) / mechanism.d).tolist()))
        assert law(mechanism, (count,)).as_dict() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("mechanism", [TruncatedGeometric(), TruncatedGeometricBase2()])
def test_geometric_samples(mechanism: TruncatedGeometric) -> None:
    exact = truncated_geometric(1 + Fraction(1, 2**mechanism.k), 5, 2)
    assert fits(sample(mechanism, (2,), 200_000, seed=9).counts, {z: float(p) for z, p in exact.items()})


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 2.0])
def test_the_binary_logarithm_keeps_every_epsilon(epsilon: float) -> None:
    assert math.log1p(2.0 ** -TruncatedGeometricBase2(epsilon).k) <= epsilon / 2


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "field", "bad"),
    [
        *((kind, "epsilon", bad) for kind in (
            NoisyHist1, NoisyHist2, PrefixSum, ReportNoisyMax1, ReportNoisyMax2, ReportNoisyMax3, ReportNoisyMax4,
            TruncatedGeometric, TruncatedGeometricBase2,
        ) for bad in (0, -1, math.nan, "0.1")),
        (TruncatedGeometric, "epsilon", 2.5),
        (TruncatedGeometric, "n", 0),
        (LaplaceParallel, "epsilon_each", 0),
        (LaplaceParallel, "copies", 0),
        (Rappor, "bits", 0),
        (Rappor, "hashes", 1.5),
        (Rappor, "f", 1),
        (Rappor, "p", 0.55),
        (Rappor, "q", 1),
        (OneTimeRappor, "f", 0),
        (OneTimeRappor, "bits", -2),
    ],
)
def test_parameters(kind: type[Mechanism], field: str, bad: Any) -> None:
    with pytest.raises(ParameterError, match=field):
        kind(**{field: bad})


def test_exponential_parameters() -> None:
    with pytest.raises(ParameterError, match="scale"):
        Exponential(0, 0)
    with pytest.raises(ParameterError, match="start"):
        Exponential(math.inf, 1)


@pytest.mark.parametrize(
    ("mechanism", "dataset"),
    [
        (ReportNoisyMax1(), ()),
        (ReportNoisyMax4(), ()),
        (LaplaceParallel(), (1, 2)),
        (Rappor(), ()),
        (OneTimeRappor(), (1, 2)),
        (TruncatedGeometric(), (6,)),
        (TruncatedGeometric(), (1, 1)),
        (TruncatedGeometricBase2(), (0.5,)),
    ],
)
def test_datasets(mechanism: Mechanism, dataset: tuple[Any, ...]) -> None:
    with pytest.raises((DatasetError, MechanismError), match=r"dataset|count"):
        sample(mechanism, dataset, 10)
    with pytest.raises((DatasetError, MechanismError), match=r"dataset|count"):
        sample(WithoutBulk(mechanism), dataset, 10)
