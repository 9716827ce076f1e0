"""A_LearnHalf: its numbers, errors and law against a text without tricks; Lemma 4.5 on every small dataset."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import DatasetError, NotEnumerableError, ParameterError
from dpaudit.interpret import law, sample
from dpaudit.language import BOTTOM, PRIVATE_ROWS, Multiset
from dpaudit.plans.plan import Seen
from dpaudit_algorithms.mixtures.mixtures import ConstrHalf, LearnHalf, private_points, public_points
from dpaudit_algorithms.mixtures.mixtures_class import Hypothesis
from dpaudit_algorithms.mixtures.mixtures_data import best_errors, sample_errors
from dpaudit_algorithms.mixtures.mixtures_geometry import constr_half, contains, on
from dpaudit_audits.mixtures.mixture_figures import MixtureFigure
from dpaudit_audits.mixtures.mixtures import published, relabelled, rows

quick = settings(max_examples=60)

READINGS: tuple[dict[str, Any], ...] = (
    {}, {"supports": "aligned"}, {"empty_subset": "axis"}, {"all_ones": "steps"}, {"private_label": 0},
)  # fmt: skip


def errors(g: Hypothesis, S: Any) -> int:
    return sum(g.label(x) != y for x, y, _ in S)


def records(d: int, most: int) -> Any:
    row = st.tuples(st.tuples(*[st.integers(-2, 2)] * d), st.integers(0, 1), st.sampled_from(["priv", "pub"]))
    return st.lists(row, min_size=1, max_size=most).map(tuple)


@quick
@given(
    st.one_of(
        st.tuples(st.just(1), records(1, 8)), st.tuples(st.just(2), records(2, 7)), st.tuples(st.just(3), records(3, 5))
    ),
    st.sampled_from(READINGS),
)
def test_numbers_errors_and_law_are_those_of_the_text(case: tuple[int, Any], reading: dict[str, Any]) -> None:
    d, S = case
    learner = LearnHalf(0.7, d, **reading)
    expected = learner.printed(S)
    levels = learner.levels(S)
    assert levels.size == len(expected)
    if not expected:
        assert law(learner, S).as_dict() == {BOTTOM: 1.0}
        return
    few = range(len(expected)) if len(expected) < 300 else [*range(50), *range(50, len(expected), 97)]
    assert [levels.hypothesis(i) for i in few] == [expected[i] for i in few]
    wrong = np.array([errors(expected[i], S) for i in few])
    np.testing.assert_array_equal(levels.base + levels.of(np.array(few)), wrong)
    draw = learner.chooser(S)
    assert draw is not None
    np.testing.assert_array_equal(levels.base + draw.each[np.array(few)], wrong)
    np.testing.assert_array_equal(
        levels.tally, [np.bincount(levels.block(i), minlength=levels.tally.shape[1]) for i in range(len(levels.tally))]
    )
    if len(few) == len(expected):
        weights = np.exp(-0.35 * (wrong - wrong.min()))
        np.testing.assert_allclose(law(learner, S).probs, weights / weights.sum(), rtol=1e-12)
        assert levels.least == wrong.min()
    np.testing.assert_allclose(np.exp(learner.log_density(S, np.array(few))), draw.probs[np.array(few)], rtol=1e-9)
    assert learner.log_density(S, np.array([len(expected), -1])).tolist() == [-math.inf, -math.inf]
    for i in [*few][:5]:
        assert sample_errors(learner, S, i) == errors(expected[i], S)


def test_printed_labels_by_hand() -> None:
    S = (((0,), 0, "pub"), ((2,), 0, "pub"), ((5,), 1, "priv"))
    learner = LearnHalf(1.0, 1)
    # 1(x ∉ h): everything, x < 0, x > 0, x < 2, x > 2
    assert [learner.hypothesis(S, i).halfspaces for i in range(5)] == [
        None,
        ((0, 1),),
        ((0, -1),),
        ((2, 1),),
        ((-2, -1),),
    ]
    assert [[learner.hypothesis(S, i).label((x,)) for x in (-1, 0, 1, 2, 3)] for i in range(5)] == [
        [1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [0, 0, 1, 1, 1], [1, 1, 1, 0, 0], [0, 0, 0, 0, 1],
    ]  # fmt: skip
    # errors 2, 1, 1, 2, 0
    weights = [math.exp(-k / 2) for k in (2, 1, 1, 2, 0)]
    assert law(learner, S).probs.tolist() == pytest.approx([w / sum(weights) for w in weights])


def test_off_the_affine_hull_everything_is_labelled_1() -> None:
    S = (((0, 0), 0, "pub"), ((2, 2), 0, "pub"))
    learner = LearnHalf(1.0, 2)
    for i in range(learner.levels(S).size):
        g = learner.hypothesis(S, i)
        assert g.label((1, 0)) == 1
        assert g.label((1, 1)) == int(not (g.halfspaces and all(contains(h, (1, 1)) for h in g.halfspaces)))


def datasets(domain: tuple[Any, ...], most: int) -> Iterator[Multiset]:
    for n in range(1, most + 1):
        yield from map(Multiset.of, combinations_with_replacement(domain, n))


def model(grid: range, d: int, kinds: set[tuple[int, str]]) -> tuple[Any, ...]:
    return tuple(row for row in rows(grid, d) if row[1:] in kinds)


LABEL_DETERMINED = {(0, "pub"), (1, "priv")}
RELAXED = LABEL_DETERMINED | {(1, "pub")}
MIRRORED = {(1, "pub"), (0, "priv")}
EVERYTHING = RELAXED | {(0, "priv")}
SCOPES = ((1, range(3), 4), (2, range(2), 4), (2, range(3), 2), (3, range(2), 2))


def excess(learner: LearnHalf, S: Multiset) -> float:
    """Errors of the best hypothesis of 𝒢 above those of the best halfspace."""
    levels = learner.levels(S)
    return levels.least - best_errors(S) if levels.size else math.inf


@pytest.mark.slow(only=["axis-2-grid1-*", "skip-2-grid1-4"])
@pytest.mark.parametrize(("d", "grid", "most"), SCOPES)
@pytest.mark.parametrize("empty_subset", ["skip", "axis"])
def test_lemma_4_5_on_every_dataset(d: int, grid: range, most: int, empty_subset: str) -> None:
    learner = LearnHalf(1.0, d, empty_subset=empty_subset)
    for S in datasets(model(grid, d, RELAXED), most):
        assert excess(learner, S) <= 0
    exchanged = LearnHalf(1.0, d, empty_subset=empty_subset, private_label=0)
    for S in datasets(model(grid, d, MIRRORED), most):
        assert excess(exchanged, S) <= 0


@pytest.mark.parametrize(("d", "grid", "most"), SCOPES[:2])
def test_relaxation_i_costs_at_most_the_flipped_records(d: int, grid: range, most: int) -> None:
    found = Counter[bool]()
    for S in datasets(model(grid, d, EVERYTHING), min(most, 3)):
        private_zeros = sum(count for (_, y, p), count in S.items if (y, p) == (0, "priv"))
        assert excess(LearnHalf(1.0, d), S) <= private_zeros
        found[excess(LearnHalf(1.0, d), S) == private_zeros > 0] += 1
    assert found[True]


@pytest.mark.slow(only=["3"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_lemma_4_5_whatever_halfspaces_support_if_the_public_points_span_the_space(d: int) -> None:
    rng = np.random.default_rng(d)
    simplex = [tuple(int(i == k) for i in range(d)) for k in range(-1, d)]
    for _ in range(60):
        extra = [tuple(x) for x in rng.integers(-1, 3, (int(rng.integers(1, 4)), d)).tolist()]
        private = [tuple(x) for x in rng.integers(-1, 3, (int(rng.integers(1, 5)), d)).tolist()]
        S = Multiset.of([*((x, 0, "pub") for x in (*simplex, *extra)), *((x, 1, "priv") for x in private)])
        assert excess(LearnHalf(1.0, d, supports="aligned"), S) <= 0


def test_lemma_4_5_fails_for_aligned_supports() -> None:
    aligned = LearnHalf(1.0, 2, supports="aligned")
    S = Multiset.of((((0, 0), 0, "pub"), ((1, 0), 0, "pub"), ((2, 0), 1, "priv")))
    assert (best_errors(S), aligned.levels(S).least, LearnHalf(1.0, 2).levels(S).least) == (0, 1, 0)
    # no smaller label-determined dataset does it; half of any number of records goes wrong
    assert all(excess(aligned, T) <= 0 for T in datasets(model(range(3), 2, LABEL_DETERMINED), 2))
    for k in (1, 10, 1000):
        T = Multiset.counted({((0, 0), 0, "pub"): k, ((1, 0), 0, "pub"): k, ((2, 0), 1, "priv"): 2 * k})
        assert excess(aligned, T) == 2 * k


def test_the_hypothesis_that_labels_everything_1() -> None:
    S = Multiset.counted({((0,), 0, "pub"): 1, ((0,), 1, "priv"): 5})
    assert excess(LearnHalf(1.0, 1), S) == 0
    assert excess(LearnHalf(1.0, 1, all_ones="steps"), S) == 4
    # in the plane two disjoint halfspaces make it: step 8 has it where the public points give such
    strip = (((0, 0), 0, "pub"), ((0, 1), 0, "pub"), ((1, 0), 0, "pub"), ((1, 1), 0, "pub"))
    learner = LearnHalf(1.0, 2, all_ones="steps")
    everywhere = [
        i for i in range(learner.levels(strip).size)
        if all(learner.hypothesis(strip, i).label(x) for x in product(range(-3, 4), repeat=2))
    ]  # fmt: skip
    assert everywhere
    nobody = (((0,), 1, "priv"),)
    assert law(LearnHalf(1.0, 1, all_ones="steps"), nobody).as_dict() == {BOTTOM: 1.0}
    assert law(LearnHalf(1.0, 1), nobody).as_dict() == {0: 1.0}
    assert not math.isfinite(excess(LearnHalf(1.0, 1, all_ones="steps"), Multiset.of(nobody)))


def test_the_mirror_image_fails_without_exchanging_labels() -> None:
    alone = Multiset.of((((0,), 0, "priv"),))
    assert excess(LearnHalf(1.0, 1), alone) == 1
    assert excess(LearnHalf(1.0, 1, private_label=0), alone) == 0


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_loss_comes_near_epsilon_and_stays_below(epsilon: float) -> None:
    learner = LearnHalf(epsilon, 2)
    losses = []
    for others in (1, 10, 40):
        pair = relabelled((((0, 0), 0, "pub"), ((4, 0), 0, "pub"), ((0, 4), 0, "pub")), (1, 1), others)
        left, right = law(learner, pair.left), law(learner, pair.right)
        losses.append(float(np.max(np.abs(np.log(left.probs) - np.log(right.probs)))))
    assert losses[0] < losses[1] < epsilon
    assert losses[1] < losses[2] < epsilon * (1 + 1e-12)  # below by less than doubles tell
    assert losses[2] > 0.99 * epsilon


@pytest.mark.slow
def test_sixty_public_points() -> None:
    pair = published()
    learner = LearnHalf(1.0, 2)
    levels = learner.levels(pair.left)
    assert len(levels.family.halfspaces) == 3_660
    assert levels.size == 1 + 3_660 + 3_660 * 3_659 // 2
    with pytest.raises(NotEnumerableError, match="6,699,631 labels"):
        law(learner, pair.left)
    outputs = sample(learner, pair.left, 20_000, seed=2).counts
    numbers = np.array([i for i, k in outputs.items() for _ in range(k)])
    shares = np.bincount(levels.of(numbers), minlength=levels.tally.shape[1]) / len(numbers)
    weights = levels.tally.sum(axis=0) * np.exp(-0.5 * (np.arange(levels.tally.shape[1]) - levels.least + levels.base))
    # by error level; six standard deviations at the worst, false alarms below 1e-6 with all levels
    assert np.abs(shares - weights / weights.sum()).max() < 6 * 0.5 / math.sqrt(20_000)
    for i in numbers[:20].tolist():
        assert sample_errors(learner, pair.left, i) == levels.base + int(levels.of(np.array([i]))[0])
    # every level's hypotheses come alike: the numbers of the commonest are uniform by the largest halfspace
    common = int(np.argmax(weights))
    of_level = numbers[levels.of(numbers) == common]
    expected = levels.tally[:, common] / levels.tally[:, common].sum()
    blocks = np.searchsorted(levels.starts, of_level, side="right") - 1
    halves = (expected.cumsum() < 0.5).nonzero()[0][-1] + 1
    share, p = float(np.mean(blocks < halves)), float(expected[:halves].sum())
    assert abs(share - p) < 6 * math.sqrt(p * (1 - p) / len(of_level))


def test_construction_is_a_function_of_the_public_part() -> None:
    S = (((0, 0), 0, "pub"), ((1, 0), 1, "pub"), ((5, 5), 1, "priv"))
    T = (((0, 0), 0, "pub"), ((1, 0), 1, "pub"), ((-7, 5), 0, "priv"))
    (value, p) = next(iter(law(ConstrHalf(), S).as_dict().items()))
    assert (law(ConstrHalf(), T).as_dict(), p) == ({value: 1.0}, 1.0)
    family = constr_half(((0, 0), (1, 0)), 2)
    assert value == (family.halfspaces, family.equations)
    assert on(family.equations, (17, 0))
    assert LearnHalf(1.0).claim.relation == ConstrHalf().claim.relation == PRIVATE_ROWS
    assert (public_points(S), private_points(S)) == (((0, 0), (1, 0)), ((5, 5),))


def test_the_drawing_has_both_datasets_and_the_region_that_is_labelled_0() -> None:
    learner = LearnHalf(1.0)
    pair = relabelled((((0, 0), 0, "pub"), ((1, 0), 0, "pub"), ((0, 1), 0, "pub")), (5, 5), 2)
    exact = [law(learner, side) for side in (pair.left, pair.right)]
    values = range(len(exact[0].values))
    left, right = (found.probs.tolist() for found in exact)
    drawing = MixtureFigure(learner)(Seen(pair, "exact", values, left, right, [i == 1 for i in values]))
    assert drawing is not None
    assert [panel.title for panel in drawing.panels] == ["D: 6 records", "D′: 6 records"]
    private = [layer for layer in drawing.panels[0].layers if layer.label.startswith("private")]
    assert {layer.label: sum(layer.sizes) for layer in private} == {"private, label 0": 2, "private, label 1": 1}
    # dark where many hypotheses label 0: on left (5, 5) has label 0 twice and 1 once
    assert any(layer.kind == "area" for layer in drawing.panels[0].layers)
    assert f"{right[1]:.3g}" in drawing.description


@pytest.mark.parametrize(
    ("change", "name"),
    [({"dimension": 0}, "dimension"), ({"dimension": 4}, "dimension"), ({"supports": "any"}, "supports"),
     ({"empty_subset": ""}, "empty_subset"), ({"all_ones": "no"}, "all_ones"), ({"private_label": 2}, "private_label"),
     ({"private_label": True}, "private_label"), ({"epsilon": 0}, "epsilon")],
)  # fmt: skip
def test_bad_parameters(change: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        LearnHalf(**{"epsilon": 1.0, **change})


@pytest.mark.parametrize(
    "bad", [(1, 2), (((0, 0), 2, "pub"),), (((0, 0), True, "priv"),), (((0,), 0, "pub"),), (((0, 0), 0, "private"),),
            (((0.5, 0), 0, "priv"),)],
)  # fmt: skip
def test_bad_records(bad: Any) -> None:
    with pytest.raises(DatasetError):
        law(LearnHalf(1.0), bad)
