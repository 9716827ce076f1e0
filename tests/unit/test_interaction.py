"""Interactive mechanisms, analysts and accuracy games: what the text must do, against brute force and closed forms."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.errors import DatasetError, ParameterError
from dpaudit.evidence.density import losses_of
from dpaudit.interpret import law, sample
from dpaudit.language import (
    BOTTOM,
    Fixed,
    Instance,
    Multiset,
    advanced_composition,
    advanced_share,
    zcdp_budget,
    zcdp_delta,
)
from dpaudit_algorithms.generalization.accuracy_games import AccuracyGame, OverfittingGame, conditioned, occupancies
from dpaudit_algorithms.generalization.analysts import AskingAll, LossHunter, Overfitter, RandomSubsets
from dpaudit_algorithms.generalization.interaction import (
    AccurateAnswers,
    Analyst,
    Interactive,
    Population,
    Predicate,
    Samples,
    queries_of,
)
from dpaudit_algorithms.generalization.predicates import Among
from dpaudit_algorithms.generalization.statistical_queries import (
    GaussianAnswers,
    LaplaceAnswers,
    NaiveAnswers,
    NoisyAnswers,
)

KINDS = (LaplaceAnswers, GaussianAnswers)
S = Multiset.counted({0: 3, 1: 2, 2: 1})


def among(*points: int) -> Among:
    return Among(frozenset(points))


class Halting(Interactive):
    """Counts its answers, and halts after two."""

    analyst = AskingAll((among(0), among(1), among(2)))

    def begin(self, S: Any) -> Any:
        return 0
        yield

    def answer(self, S: Any, state: int, query: Predicate) -> Any:
        return (BOTTOM if state == 2 else query.count(S)), state + 1
        yield


def test_share_and_mass_are_exact() -> None:
    assert among(0, 2).share(S) == Fraction(4, 6)
    assert Population((0, 1, 2), (0.1, 0.2, 0.1)).mass(among(1)) == Fraction(0.2) / (2 * Fraction(0.1) + Fraction(0.2))
    with pytest.raises(ParameterError):
        Population((0, 0), (1, 1))


def test_samples_are_independent_draws() -> None:
    found = law(Samples(Population((0, 1), (1, 3)), 3), ()).as_dict()
    assert {len(instance.dataset) for instance in found} == {3}
    for instance, p in found.items():
        ones = instance.dataset.at_least(1)
        assert p == pytest.approx(stats.binom.pmf(ones, 3, 0.75), abs=1e-12)


def test_a_conversation_halts_with_bottom() -> None:
    ((transcript, p),) = law(Halting(), S).as_dict().items()
    assert transcript == (3, 2, BOTTOM)
    assert p == 1
    assert queries_of(Halting.analyst, transcript) == Halting.analyst.queries
    goal = AccurateAnswers(Halting.analyst, 100.0, "sample")
    assert not goal.reached(Instance(S), transcript)
    assert goal.reached(Instance(S), transcript[:2])


def test_coins_come_first_in_the_transcript() -> None:
    analyst = RandomSubsets((0, 1, 2), 2)
    found = law(NaiveAnswers(analyst), S).as_dict()
    assert len(found) == 64
    for coins, answers in found:
        queries = queries_of(analyst, (coins, answers))
        assert answers == tuple(float(query.share(S)) for query in queries)
        assert [sum(1 << x for x in query.points) for query in queries] == list(coins)


def test_accuracy_is_within_alpha_and_no_more() -> None:
    analyst = AskingAll((among(0),))
    at_the_edge = AccurateAnswers(analyst, 0.25, "sample")
    assert at_the_edge.reached(Instance(S), (0.75,))
    assert not at_the_edge.reached(Instance(S), (math.nextafter(0.75, 1),))
    of_the_distribution = AccurateAnswers(analyst, 0.25)
    truth = Population.uniform((0, 1))
    assert of_the_distribution.reached(Instance(S, truth), (0.25,))
    assert not of_the_distribution.reached(Instance(S, truth), (0.2,))


@pytest.mark.parametrize(("cells", "records"), [(2, 1), (2, 5), (3, 4), (4, 3), (5, 2)])
def test_gap_of_the_overfitter_against_every_sample(cells: int, records: int) -> None:
    analyst, total = Overfitter(cells), Fraction(0)
    errors: Counter[float] = Counter()
    for xs in product(range(cells), repeat=records):
        gap = sum(max(Fraction(0), Fraction(xs.count(i), records) - Fraction(1, cells)) for i in range(cells))
        total += gap
        errors[round(float(gap), 12)] += 1
    assert analyst.gap(records) == total / cells**records
    if records < cells:
        assert analyst.gap(records) == (1 - Fraction(1, cells)) ** records
    # the last error is the largest: the law of the game is that of the gap
    found: Counter[float] = Counter()
    for error, p in law(AccuracyGame(NaiveAnswers(analyst), records), ()).as_dict().items():
        found[round(float(error), 12)] += p
    assert found == pytest.approx({gap: times / cells**records for gap, times in errors.items()}, abs=1e-12)


def test_gap_where_cells_are_few() -> None:
    assert float(Overfitter(100).gap(100_000)) == pytest.approx(math.sqrt(100 / (2 * math.pi * 100_000)), rel=0.01)


def test_hunter_asks_for_what_the_evidence_speaks_for() -> None:
    hunter = LossHunter("a", "b", 0.5, 0.25, 10, 4)
    assert hunter.query(None, ()) == Among(frozenset("a"))
    assert hunter.query(None, (0.44,)) == Among(frozenset("b"))  # below 0.45: the right dataset
    assert hunter.query(None, (0.44, 0.2)) == Among(frozenset("a"))  # 0.1 below 0.3 outweighs it
    assert hunter.query(None, (0.44, 0.2, 0.2)) == Among(frozenset("b"))


@pytest.mark.parametrize(("epsilon", "delta", "k"), [(1.0, 1e-6, 20), (0.04, 0.002, 6_000_000), (500.0, 0.5, 3)])
def test_calibration_uses_all_that_is_claimed(epsilon: float, delta: float, k: int) -> None:
    share = advanced_share(epsilon, delta, k)
    spent = math.sqrt(2 * k * math.log(1 / delta)) * share + 2 * k * share * share
    assert spent <= epsilon
    assert share == 1 or spent == pytest.approx(epsilon, rel=1e-12)
    rho = zcdp_budget(epsilon, delta) if epsilon < 10 else None
    if rho is not None:
        assert zcdp_delta(rho, epsilon) <= delta < zcdp_delta(rho * 1.001, epsilon)


@pytest.mark.parametrize("kind", KINDS)
def test_each_answer_composes_to_the_claim(kind: type[NoisyAnswers]) -> None:
    mechanism = kind(1.0, 1e-6, 20, 6, AskingAll((among(1),) * 20))
    rest = 1e-6 - 20 * mechanism.each.delta
    assert advanced_composition(mechanism.each, 20, rest).implies(mechanism.claim)
    calm = kind(1.0, 1e-6, 20, 6, AskingAll((among(1),) * 20), "zcdp")
    if kind is GaussianAnswers:
        assert 20 * (1 / 6) ** 2 / (2 * calm.scale**2) == pytest.approx(calm.rho)
    else:
        assert 20 * calm.each.epsilon**2 / 2 == pytest.approx(calm.rho)


@pytest.mark.slow(only=["zcdp-LaplaceAnswers"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("calibration", ["advanced", "zcdp"])
def test_exact_delta_of_fixed_queries_is_below_the_claim(kind: type[NoisyAnswers], calibration: str) -> None:
    mechanism = kind(1.0, 1e-4, 10, 6, AskingAll((among(1),) * 10), calibration)
    pair = Pair(S, S.changed(remove=(0,), add=(1,)), "")
    delta = losses_of(mechanism, pair).noise.delta(1.0)
    assert 0 <= delta.low <= delta.high <= 1e-4
    if kind is GaussianAnswers:
        mu = math.sqrt(10) / (6 * mechanism.scale)  # ten moves of 1/6
        exact = stats.norm.cdf(mu / 2 - 1 / mu) - math.e * stats.norm.cdf(-mu / 2 - 1 / mu)
        assert delta.low <= exact * (1 + 1e-6)
        assert delta.high >= exact * (1 - 1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_sample_accuracy_is_the_tail(kind: type[NoisyAnswers]) -> None:
    mechanism = kind(1.0, 1e-4, 5, 6, AskingAll((among(1),) * 5))
    alpha = mechanism.sample_accuracy(0.3)
    noise = mechanism.noisy(0.0)
    assert noise.above(alpha) + noise.below(-alpha) == pytest.approx(0.3 / 5)
    n = mechanism.records_for(alpha / 7, 0.3)
    assert n == math.ceil(7 * 6 * (1 - 1e-12))
    # false-alarm rate 1e-6: 20,000 runs, the tail's own standard deviation
    kept = (np.abs(sample(mechanism, S, 20_000, seed=1).reals - 1 / 3) <= alpha).all(axis=1).mean()
    p = (1 - 0.06) ** 5
    assert abs(kept - p) < 4.9 * math.sqrt(p * (1 - p) / 20_000)


@pytest.mark.parametrize("kind", KINDS)
def test_log_density_is_that_of_the_noise(kind: type[NoisyAnswers]) -> None:
    hunter = LossHunter(0, 1, 3 / 6, 2 / 6, 6, 3)
    mechanism = kind(1.0, 1e-2, 3, 6, hunter)
    outputs = np.array([[0.2, 0.5, 0.9], [0.6, 0.1, 0.3]])
    found = mechanism.log_density(S, outputs)
    law_of = stats.laplace if kind is LaplaceAnswers else stats.norm
    by_hand = []
    for row in outputs.tolist():
        means = [float(query.share(S)) for query in queries_of(hunter, tuple(row))]
        by_hand.append(law_of.logpdf(row, means, mechanism.scale).sum())
    assert found[0] - found[1] == pytest.approx(by_hand[0] - by_hand[1])


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="k must be"):
        LaplaceAnswers(1.0, 1e-6, 1, 6, AskingAll((among(1),) * 2))
    with pytest.raises(ParameterError, match="calibration"):
        LaplaceAnswers(1.0, 1e-6, 2, 6, AskingAll((among(1),) * 2), "none")
    with pytest.raises(DatasetError):
        sample(LaplaceAnswers(1.0, 1e-6, 1, 7, AskingAll((among(1),))), S, 1)
    with pytest.raises(ParameterError):
        AccuracyGame(NaiveAnswers(AskingAll((among(1),))), 3)
    with pytest.raises(ParameterError):
        OverfittingGame(NaiveAnswers(RandomSubsets((0, 1), 2)), 3)


@pytest.mark.slow(only=["210-*"])
@pytest.mark.parametrize(("cells", "records"), [(300, 700), (250, 40), (210, 2000)])
def test_tables_given_their_sum_are_those_of_thrown_records(cells: int, records: int) -> None:
    """False-alarm rate at most 1e-6 for each of the tests below."""
    rng = np.random.default_rng(5)
    tables = [conditioned(cells, records, 4_000, rng), occupancies(cells, records, 4_000, rng)]
    for of in tables:
        assert all(t.sum() == cells and t @ np.arange(len(t)) == records for t in of)
    for r in range(int(records / cells) + 3):
        mine, thrown = ([int(t[r]) if r < len(t) else 0 for t in of] for of in tables)
        assert stats.ks_2samp(mine, thrown, method="asymp").pvalue > 1e-6
        p = stats.binom.pmf(r, records, 1 / cells)
        assert abs(np.mean(mine) - cells * p) < 5 * max(1e-3, np.std(mine)) / math.sqrt(4_000)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", [2, 6])
def test_the_shortcut_has_the_law_of_the_game(kind: type[NoisyAnswers], cells: int) -> None:
    """False-alarm rate 1e-6."""
    mechanism = kind(5.0, 0.1, cells + 1, 40, Overfitter(cells), "zcdp")
    text = sample(AccuracyGame(mechanism, 40), (), 1_500, seed=1).reals
    short = sample(OverfittingGame(mechanism, 40), (), 4_000, seed=2).reals
    assert stats.ks_2samp(text, short).pvalue > 1e-6


def test_the_shortcut_of_exact_answers_has_the_law_of_the_game() -> None:
    """False-alarm rate 1e-6, by chi-square on the exact law."""
    analyst = Overfitter(5)
    exact = law(AccuracyGame(NaiveAnswers(analyst), 7), ()).as_dict()
    drawn = sample(OverfittingGame(NaiveAnswers(analyst), 7), (), 20_000, seed=3)
    counts = Counter(round(x, 9) for x in drawn.reals.tolist())
    expected: Counter[float] = Counter()
    for error, p in exact.items():
        expected[round(float(error), 9)] += p
    assert set(counts) <= set(expected)
    large = [error for error, p in expected.items() if 20_000 * p >= 20]
    statistic = sum((counts[e] - 20_000 * expected[e]) ** 2 / (20_000 * expected[e]) for e in large)
    assert stats.chi2.sf(statistic, len(large) - 1) > 1e-6


def test_the_game_is_won_and_lost_as_measured() -> None:
    """The board of decisions/0034: the same n and k; what is kept and broken has room of many standard deviations."""
    cells, n = 6_690_885, 1_338_177
    private = GaussianAnswers(0.04, 0.002, cells + 1, n, Overfitter(cells), "zcdp")
    rng = np.random.default_rng(6)
    kept = OverfittingGame(private, n).bulk((), 20, rng)
    lost = OverfittingGame(NaiveAnswers(Overfitter(cells)), n).bulk((), 20, rng)
    assert max(kept) < private.sample_accuracy(0.05) + 10 * 0.04 < min(lost)
    assert np.mean(lost) == pytest.approx(math.exp(-n / cells), abs=1e-3)


def test_fixed_instances_play_the_sample_game() -> None:
    analyst = AskingAll((among(0), among(1)), records=S)
    goal = AccurateAnswers(analyst, 1e-12, "sample")
    ((instance, _),) = law(Fixed(analyst.sample), ()).as_dict().items()
    ((transcript, _),) = law(NaiveAnswers(analyst), instance.dataset).as_dict().items()
    assert goal.reached(instance, transcript)
    assert isinstance(analyst, Analyst)
