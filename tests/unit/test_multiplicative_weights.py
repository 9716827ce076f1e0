"""Private multiplicative weights: its steps by brute force, its proof's steps, and its law by quadrature."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpaudit.errors import DatasetError, ParameterError
from dpaudit.interpret import sample
from dpaudit.language import BOTTOM, Applied, Instance, Mechanism, Multiset
from dpaudit.testing import WithoutBulk
from dpaudit_algorithms.generalization.analysts import AskingAll, Overfitter, RandomSubsets
from dpaudit_algorithms.generalization.interaction import AccurateAnswers, Population, queries_of
from dpaudit_algorithms.generalization.multiplicative_weights import (
    PrivateMultiplicativeWeights,
    Weights,
    mean,
    mw,
    uniform,
    values,
)
from dpaudit_algorithms.generalization.multiplicative_weights_theory import potential
from dpaudit_algorithms.generalization.predicates import Among
from dpaudit_algorithms.generalization.statistical_queries import NaiveAnswers
from dpaudit_algorithms.generalization.weights_analysts import Hovering, WorstFor, followed, subsets
from dpaudit_algorithms.generalization.weights_game import WeightsGame
from dpaudit_audits.corpus.sparse_vector_laws import Pattern, pattern_law
from dpaudit_audits.generalization.weights_figures import errors_by_round

X = (0, 1, 2)
S = Multiset.counted({0: 9, 1: 8, 2: 3})
S_NEXT = S.changed(remove=(0,), add=(1,))


def among(*points: int) -> Among:
    return Among(frozenset(points))


def transcripts(mechanism: Mechanism, dataset: Multiset, runs: int, seed: int) -> list[tuple[Any, ...]]:
    found = sample(mechanism, dataset, runs, seed=seed)
    assert not found.counts or all(isinstance(output, tuple) for output in found.counts)
    counted = [output for output, times in found.counts.items() for _ in range(times)]
    rows = np.atleast_2d(found.reals.T).T if len(found.reals) else []
    return [tuple(row) for row in (*map(tuple, rows), *found.others, *counted)]  # type: ignore[arg-type]


def drawn(rng: np.random.Generator, size: int) -> Weights:
    return tuple(rng.dirichlet(np.full(size, 0.5)).tolist())


def test_the_step_against_exact_arithmetic() -> None:
    """Algorithm 5 by hand: η = ln 2 halves what loses."""
    x = (0.5, 0.25, 0.25)
    assert mw(x, (1, 0, 0), 0.4, math.log(2)) == pytest.approx((1 / 3, 1 / 3, 1 / 3))  # v < f(x) = 0.5: f loses
    assert mw(x, (1, 0, 0), 0.5, math.log(2)) == pytest.approx((2 / 3, 1 / 6, 1 / 6))  # else 1 − f loses
    assert mw(x, (1, 1, 1), 0.5, 0.3) == pytest.approx(x)
    rng = np.random.default_rng(1)
    for _ in range(50):
        x, f = drawn(rng, 5), tuple(rng.integers(0, 2, 5).tolist())
        v, eta = float(rng.random()), float(rng.random())
        r = np.array(f) if v < float(np.dot(f, x)) else 1 - np.array(f)
        weights = np.array(x) * np.exp(-eta * r)
        assert mw(x, f, v, eta) == pytest.approx(weights / weights.sum(), rel=1e-12)


def test_the_potential_falls_as_the_proof_says() -> None:
    """Lemma 4.12: Ψ_t − Ψ_{t+1} ≥ η(⟨r, x^t⟩ − ⟨r, x⟩) − η², and α²/4 at gaps of α with η = α/2."""
    rng = np.random.default_rng(2)
    points = tuple(range(6))
    for _ in range(400):
        times = rng.multinomial(60, rng.dirichlet(np.full(6, 0.3)))
        records = Multiset.counted({p: t for p, t in zip(points, times.tolist(), strict=True) if t})
        x, f, alpha = drawn(rng, 6), tuple(rng.integers(0, 2, 6).tolist()), float(rng.uniform(0.05, 0.95))
        true, here = float(np.dot(f, times)) / 60, mean(f, x)
        for v in (0.0, 1.0, true):
            r = np.array(f) if v < here else 1 - np.array(f)
            fall = potential(records, points, x) - potential(records, points, mw(x, f, v, alpha / 2))
            assert fall >= alpha / 2 * float(r @ np.array(x) - r @ times / 60) - alpha**2 / 4 - 1e-12
        if abs(true - here) >= alpha:
            moved = mw(x, f, true, alpha / 2)
            assert potential(records, points, x) - potential(records, points, moved) >= alpha**2 / 4 - 1e-12
    assert potential(Multiset.counted({0: 5}), points, uniform(points)) == pytest.approx(math.log(6))


@pytest.mark.parametrize(("size", "alpha"), [(2, 0.1), (4, 0.2), (8, 0.3), (16, 0.45)])
def test_no_more_updates_than_the_theorem_allows(size: int, alpha: float) -> None:
    """Theorem 4.10, greedily: the least gap above α each time, and the answer that is furthest off, by less than α."""
    points = tuple(range(size))
    limit = 4 * math.log(size) / alpha**2
    for times in ({0: 16}, dict.fromkeys(points[: size // 2], 2), {0: 11, 1: 5}):
        records = Multiset.counted(times)
        shares = np.array([times.get(p, 0) for p in points]) / len(records)
        x, updates = uniform(points), 0
        while True:
            gaps = [(abs(gap), f) for f in masks(points) if abs(gap := mean(f, tuple(shares - np.array(x)))) > alpha]
            if not gaps:
                break
            _, f = min(gaps)
            true = float(np.dot(f, shares))
            v = true + 0.999 * alpha * (1 if true < mean(f, x) else -1)
            x, updates = mw(x, f, v, alpha / 2), updates + 1
        assert 0 < updates <= limit


def masks(points: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All subsets, or of many points those of the first that count."""
    if len(points) <= 8:
        return list(subsets(points))
    return [tuple(int(i < j) for i in range(len(points))) for j in range(1, len(points))]


def test_c_and_T_by_hand() -> None:
    """|X| = 4, α = 0.5, k = 10, β = 0.1, n = 1,000, ε = 2: c = ⌈16·ln 4⌉ = 23, ln 20 + ln 920 = 9.8201."""
    analyst = AskingAll((among(0),) * 10)
    mechanism = PrivateMultiplicativeWeights(2.0, 0.0, 0.5, (0, 1, 2, 3), 1_000, analyst, 0.1)
    assert mechanism.updates == 23
    assert pytest.approx(18 * 23 * 9.820105 / 2_000, rel=1e-6) == mechanism.T
    assert mechanism.noise.threshold == pytest.approx(2 * 23 / (8 * 2 / 9) / 1_000)
    assert mechanism.noise.compared == pytest.approx(2 * mechanism.noise.threshold)
    assert mechanism.noise.released == pytest.approx(2 * 23 / (2 * 2 / 9) / 1_000)
    by_delta = PrivateMultiplicativeWeights(2.0, 1e-6, 0.5, (0, 1, 2, 3), 1_000, analyst, 0.1)
    root = math.sqrt(23 * math.log(2e6))
    assert pytest.approx((2 + 32 * math.sqrt(2)) * root * 9.820105 / 2_000, rel=1e-6) == by_delta.T


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(("size", "alpha", "k"), [(4, 0.05, 20), (100, 0.02, 10_000)])
def test_what_the_printed_n_makes_of_the_threshold(delta: float, size: int, alpha: float, k: int) -> None:
    """"T = 2α" is T = 2.25α at Theorem 4.14's n, which has 32 for 36; at Theorem 4.15's, α² for α, T is 2α² only."""
    analyst = AskingAll((among(0),) * k)
    draft = PrivateMultiplicativeWeights(1.0, delta, alpha, tuple(range(size)), 1, analyst)
    mechanism = PrivateMultiplicativeWeights(1.0, delta, alpha, tuple(range(size)), draft.printed_records(), analyst)
    assert pytest.approx(2 * alpha**2 if delta else 2.25 * alpha, rel=0.005) == mechanism.T
    assert pytest.approx(2 * mechanism.noise.accuracy(2 * k, 0.05)) == mechanism.T


def test_theorem_4_14_holds_at_32() -> None:
    """By the docstring's count: a round ⊥ is off by more than 3α with (2/3)·e^{−(4/3)Λ} at most, in 2k comparisons."""
    for c, k, beta in product((1, 23, 5_000), (1, 20, 10**6), (0.9, 0.05, 1e-9)):
        logs = math.log(8 * c * k / beta)
        assert 2 * k * (2 / 3) * math.exp(-4 / 3 * logs) <= beta / 2
        # and the tail of Lap(a) + Lap(2a), exactly: (4/6)·e^{−t/(2a)} − (1/6)·e^{−t/a}
        a = (9 / 32) / logs  # in units of α
        t = 0.75
        tail = (4 * math.exp(-t / (2 * a)) - math.exp(-t / a)) / 6
        assert tail <= 2 / 3 * math.exp(-4 / 3 * logs) * (1 + 1e-9)
    rng = np.random.default_rng(3)
    noise = rng.laplace(0, 1, 400_000) + rng.laplace(0, 2, 400_000)
    tail = (4 * math.exp(-2) - math.exp(-4)) / 6
    assert abs((noise > 4).mean() - tail) < 5 * math.sqrt(tail / 400_000)  # false-alarm rate 1e-6


def test_the_transcript_says_what_x_is() -> None:
    """The text, driven by hand: its state is what an analyst who knows the transcript computes."""
    analyst = Hovering(S, X, 0.4, 12, 0.15)
    mechanism = PrivateMultiplicativeWeights(5.0, 0.0, 0.4, X, 20, analyst, c=6, threshold=0.15)
    rng = np.random.default_rng(4)
    updates = 0
    for _ in range(60):
        state, answers = drive(mechanism.begin(S), rng), tuple[Any, ...]()
        while len(answers) < 12 and BOTTOM not in answers:
            assert followed(analyst, answers) == state[0]
            before = state
            answer, state = drive(mechanism.answer(S, state, analyst.query(None, answers)), rng)
            answers = (*answers, answer)
            # T̂ is drawn anew with every release, and with nothing else
            assert (state[1] == before[1]) == (state[2] == before[2])
        updates += state[2]
        if BOTTOM not in answers:
            assert len(queries_of(analyst, answers)) == 12
    assert updates > 60


def drive(program: Any, rng: np.random.Generator) -> Any:
    value = None
    while True:
        try:
            draw = program.send(value)
        except StopIteration as end:
            return end.value
        assert not isinstance(draw, Applied)
        value = draw.draw(rng, 1)[0]


@pytest.mark.parametrize("c", [1, 2, 3])
def test_it_halts_after_c(c: int) -> None:
    """A threshold below everything: both queries of every round are above, and the second where c allows it."""
    analyst = AskingAll((among(0), among(1), among(2)))
    mechanism = PrivateMultiplicativeWeights(1.0, 0.0, 0.02, X, 20, analyst, c=c, threshold=-1e3)
    for subject in (mechanism, WithoutBulk(mechanism)):
        for answers in transcripts(subject, S, 50, 5):
            numbers = [a for a in answers if a is not BOTTOM]
            assert len(numbers) == math.ceil(c / 2)
            assert answers[len(numbers) :] == (BOTTOM,)


@pytest.mark.slow
def test_first_update_follows_the_law_by_quadrature() -> None:
    """c = 1, queries fixed: where the update comes. Five standard deviations: false alarms below 1e-5 in all."""
    queries = (among(0), among(1), among(0, 2))
    mechanism = PrivateMultiplicativeWeights(3.0, 0.0, 0.3, X, 20, AskingAll(queries), c=1, threshold=0.1)
    exact = conversation(mechanism, S, queries)
    runs = 30_000
    found: Counter[int | None] = Counter()
    for answers in transcripts(mechanism, S, runs, 6):
        here = [mean(values(q, X), uniform(X)) for q in queries]
        found[next((i for i, (a, b) in enumerate(zip(answers, here, strict=False)) if a != b), None)] += 1
    by_round: Counter[int | None] = Counter()
    for pattern, p in exact.items():
        by_round[(len(pattern) - 1) // 2 if pattern[-1] else None] += p  # type: ignore[assignment]
    for place, p in by_round.items():
        assert abs(found[place] / runs - p) < 5 * math.sqrt(p * (1 - p) / runs)


def conversation(
    mechanism: PrivateMultiplicativeWeights, dataset: Multiset, queries: tuple[Among, ...]
) -> dict[Pattern, float]:
    """The law of the comparisons until the first above, where x^t is x^0."""
    gaps = [float(q.share(dataset)) - mean(values(q, mechanism.points), uniform(mechanism.points)) for q in queries]
    signed = [sign * gap for gap in gaps for sign in (1, -1)]
    return pattern_law(signed, mechanism.T, mechanism.noise.threshold, mechanism.noise.compared, 1)


@pytest.mark.parametrize("threshold", [-0.5, 0.05, 0.1, 0.3])
def test_epsilon_of_conversations_by_quadrature(threshold: float) -> None:
    """c = 1: a pattern's ratio and a release moved by 1/n; many queries move down, and the last moves up."""
    for queries in ((among(0),) * 4 + (among(1),), (among(0),) * 9 + (among(1),), (among(0, 2), among(1), among(2))):
        mechanism = PrivateMultiplicativeWeights(1.0, 0.0, 0.02, X, 20, AskingAll(queries), c=1, threshold=threshold)
        p, q = (conversation(mechanism, dataset, queries) for dataset in (S, S_NEXT))
        moved = 1 / 20 / mechanism.noise.released
        assert moved == pytest.approx(1 / 9)
        assert max(abs(math.log(p[x] / q[x])) for x in p) + moved <= 1 + 1e-9


def test_epsilon_of_a_conversation_is_nearly_attained() -> None:
    """Gaps so far above 0 that the second query of a round is never above: the stream of NumericSparse."""
    left, queries = Multiset.counted({0: 200, 1: 199, 2: 1}), (among(0),) * 9 + (among(1),)
    right = left.changed(remove=(0,), add=(1,))
    mechanism = PrivateMultiplicativeWeights(1.0, 0.0, 0.02, X, 400, AskingAll(queries), c=1, threshold=0.1)
    p, q = (conversation(mechanism, dataset, queries) for dataset in (left, right))
    assert 0.9999 < max(abs(math.log(p[x] / q[x])) for x in p) + 1 / 9 <= 1 + 1e-9


@pytest.mark.slow
def test_bulk_and_text_after_updates() -> None:
    """Kolmogorov–Smirnov of every answer, and of how many there are, at 1e-7 each."""
    for analyst in (Hovering(S, X, 0.3, 4, 0.1), WorstFor(S, X, 0.3, 4)):
        mechanism = PrivateMultiplicativeWeights(20.0, 0.0, 0.3, X, 20, analyst, c=3, threshold=0.1)
        text, bulk = (transcripts(m, S, runs, 7) for m, runs in ((WithoutBulk(mechanism), 3_000), (mechanism, 12_000)))
        for i in range(5):
            mine, theirs = ([answer(t, i) for t in side] for side in (text, bulk))
            assert stats.ks_2samp(mine, theirs, method="asymp").pvalue > 1e-7


def answer(transcript: tuple[Any, ...], i: int) -> float:
    """As a number; 10 for ⊥, 20 where it has ended."""
    return 20.0 if i >= len(transcript) else 10.0 if transcript[i] is BOTTOM else transcript[i]


def test_the_worst_query_has_the_largest_gap() -> None:
    rng = np.random.default_rng(8)
    analyst, shares = WorstFor(S, X, 0.3, 4), (9 / 20, 8 / 20, 3 / 20)
    hovering = Hovering(S, X, 0.3, 4, 0.05)
    for _ in range(50):
        x = drawn(rng, 3)
        gaps = {f: sum(a * (b - c) for a, b, c in zip(f, shares, x, strict=True)) for f in subsets(X)}
        assert gaps[values(analyst.asked(x, ()), X)] == pytest.approx(max(gaps.values()))
        near = gaps[values(hovering.asked(x, ()), X)]
        assert abs(near - 0.05) == pytest.approx(min(abs(gap - 0.05) for gap in gaps.values()))


def test_turns() -> None:
    """Four queries with the suspect and without the other, then the other way until an update."""
    analyst = Hovering(S, X, 0.3, 8, 0.1, 4, 0, 1)
    answers: tuple[float, ...] = ()
    for _ in range(6):
        f = values(analyst.query(None, answers), X)
        assert (f[0], f[1]) == ((1, 0) if len(answers) < 4 else (0, 1))
        answers = (*answers, mean(f, uniform(X)))
    answers = (*answers[:5], 0.9)  # an update
    f = values(analyst.query(None, answers), X)
    assert (f[0], f[1]) == (1, 0)


def test_the_guarantee_at_the_printed_n() -> None:
    """All within 3α in 300 conversations with the worst queries; errors come near T, so that it is well tried."""
    points = (0, 1, 2, 3)
    draft = PrivateMultiplicativeWeights(1.0, 0.0, 0.2, points, 1, AskingAll((among(0),) * 20))
    records = Multiset.counted({0: draft.printed_records()})
    analyst = WorstFor(records, points, 0.2, 20)
    mechanism = PrivateMultiplicativeWeights(1.0, 0.0, 0.2, points, len(records), analyst)
    (claim,) = mechanism.utility(len(records))
    assert mechanism.sample_sizes[0].records == len(records)
    assert claim.goal == AccurateAnswers(analyst, 3 * 0.2, "sample")
    largest = []
    for answers in transcripts(mechanism, records, 300, 9):
        assert claim.goal.reached(Instance(records), answers)
        errors = [abs(a - float(q.share(records))) for a, q in zip(answers, queries_of(analyst, answers), strict=True)]
        largest.append(max(errors))
    assert max(largest) > 0.9 * mechanism.T
    scarce = PrivateMultiplicativeWeights(1.0, 0.0, 0.2, points, len(records) - 1, analyst)
    assert scarce.utility(len(records) - 1) == ()


def test_accuracy_on_the_distribution_is_guaranteed_for_pure_privacy() -> None:
    """Corollary 4.10 with δ′ = εβ; the distribution is the analyst's."""
    analyst = RandomSubsets((0, 1, 2, 3), 5)
    assert analyst.population == Population.uniform((0, 1, 2, 3))
    draft = PrivateMultiplicativeWeights(0.05, 0.0, 0.1, (0, 1, 2, 3), 1, analyst)
    mechanism = PrivateMultiplicativeWeights(0.05, 0.0, 0.1, (0, 1, 2, 3), draft.printed_records(), analyst)
    sample_claim, on_D = mechanism.utility(mechanism.records)
    assert sample_claim.probability == pytest.approx(0.95)
    assert on_D.probability == pytest.approx(0.9)
    assert on_D.goal == AccurateAnswers(analyst, 3 * 0.1 + 10 * 0.05)


def test_shares_are_exact() -> None:
    assert among(0).share(S) == Fraction(9, 20)
    assert values(among(0, 2), X) == (1, 0, 1)


def test_refusals() -> None:
    analyst = AskingAll((among(0),))
    with pytest.raises(ParameterError, match="points"):
        PrivateMultiplicativeWeights(1.0, 0.0, 0.1, (0, 0), 20, analyst)
    with pytest.raises(ParameterError, match="alpha"):
        PrivateMultiplicativeWeights(1.0, 0.0, 1.0, X, 20, analyst)
    with pytest.raises(DatasetError, match="20 records"):
        sample(PrivateMultiplicativeWeights(1.0, 0.0, 0.1, X, 20, analyst), Multiset.counted({0: 3}), 1)
    with pytest.raises(DatasetError, match="points"):
        sample(PrivateMultiplicativeWeights(1.0, 0.0, 0.1, X, 20, analyst), Multiset.counted({7: 20}), 1)
    with pytest.raises(ParameterError, match="held"):
        WorstFor(Multiset.counted({9: 1}), X, 0.1, 3)


@pytest.mark.slow
def test_the_game_at_scale_is_that_of_the_text() -> None:
    """8 cells: lost or won as often as the text has an update, or none. False-alarm rate 1e-6."""
    draft = PrivateMultiplicativeWeights(4.0, 0.0, 0.3, range(8), 60, Overfitter(8), c=1, threshold=0.1)
    game = WeightsGame(draft, 60)
    lost = float(np.mean(game.bulk((), 20_000, np.random.default_rng(11))))
    rng, updated, runs = np.random.default_rng(12), 0, 1_500
    for _ in range(runs):
        times = rng.multinomial(60, [1 / 8] * 8).tolist()
        dataset = Multiset.counted({x: t for x, t in enumerate(times) if t})
        (answers,) = draft.bulk(dataset, 1, rng)
        quiet = answers == (1 / 8,) * 8 + (0.0,)
        updated += not quiet
    assert 0.1 < lost < 0.9
    assert abs(updated / runs - lost) < 4.9 * math.sqrt(lost * (1 - lost) * (1 / runs + 1 / 20_000))
    calm = PrivateMultiplicativeWeights(4.0, 0.0, 0.3, range(8), 60, Overfitter(8), threshold=900.0)
    assert WeightsGame(calm, 60).bulk((), 50, rng) == [0.0] * 50


def test_the_game_takes_its_own_mechanism_only() -> None:
    with pytest.raises(ParameterError, match="Overfitter"):
        WeightsGame(NaiveAnswers(Overfitter(8)), 60)
    with pytest.raises(ParameterError, match="points"):
        WeightsGame(PrivateMultiplicativeWeights(4.0, 0.0, 0.3, range(9), 60, Overfitter(8)), 60)


def test_a_conversation_is_drawn_as_it_was() -> None:
    records = Multiset.counted({0: 60_000, 1: 12_000})
    analyst = WorstFor(records, (0, 1, 2, 3), 0.2, 15)
    mechanism = PrivateMultiplicativeWeights(1.0, 0.0, 0.2, (0, 1, 2, 3), 72_000, analyst)
    drawing = errors_by_round(mechanism, np.random.default_rng(13))
    (answers,) = mechanism.bulk(records, 1, np.random.default_rng(13))
    errors = [abs(a - float(q.share(records))) for a, q in zip(answers, queries_of(analyst, answers), strict=True)]
    kept, released = drawing.panels[0].layers[2:]
    assert sorted([*kept.y, *released.y]) == pytest.approx(sorted(errors))  # type: ignore[type-var]
    assert len(released.y) > 2
    (distance,) = drawing.panels[1].layers
    assert distance.y[0] == pytest.approx(math.log(4) - (math.log(6) - 5 / 6 * math.log(5)))
