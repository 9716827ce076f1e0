"""LearnRectangles: its cells, its histogram, and its proof against an adversary."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest
from exact_pairs import exact_epsilon

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.interpret import law, ledger, sample
from dpaudit.language import Applied, Claim, DatasetError, DiscreteLaplace, Instance, Multiset, ParameterError
from dpaudit.plans.plan import Seen
from dpaudit_algorithms.half_spaces.learn_rectangles import LearnRectangles, SignificantCells, cells
from dpaudit_algorithms.half_spaces.release_thresholds import ReleaseThresholds
from dpaudit_algorithms.half_spaces.release_thresholds_theory import between, distance
from dpaudit_algorithms.pac.concepts import Examples, Truth
from dpaudit_algorithms.pac.grid_concepts import Rectangles
from dpaudit_audits.half_spaces.release_figures import BoxFigure, ReleaseFigure, shares


def test_cells_divide_the_axis_and_are_few() -> None:
    rng = random.Random(1)
    most_seen = 0
    for _ in range(500):
        n, size = rng.randint(1, 60), rng.randint(2, 25)
        data = Multiset.of(rng.choices(range(size), [rng.choice([0.05, 1, 20]) for _ in range(size)], k=n))
        w = Fraction(1, rng.randint(1, 12))
        found = cells(data, w * n, size)
        assert found[0][0] == 0
        assert found[-1][1] == size - 1
        assert all(a[1] + 1 == b[0] for a, b in pairwise(found))
        assert all(low <= high for low, high in found)
        masses = [between(data, low, high) for low, high in found]
        assert all(mass <= w * n for (low, high), mass in zip(found, masses, strict=True) if low < high)
        assert all(a + b > w * n for a, b in pairwise(masses))
        assert len(found) <= 2 * math.ceil(1 / w) - 1
        most_seen = max(most_seen, len(found))
    assert most_seen > 10


def test_histogram_by_hand() -> None:
    S = Multiset.counted({((0,), 1): 2, ((1,), 0): 5, ((2,), 1): 1})
    mechanism = SignificantCells(1.0, 0, ((0, 0), (1, 1), (2, 2)), 1.5)
    up = [1 - DiscreteLaplace(count, 2.0).below(2) for count in (2, 0, 1)]
    expected: dict[Any, float] = {}
    for signs in product((0, 1), repeat=3):
        p = math.prod(u if s else 1 - u for s, u in zip(signs, up, strict=True))
        marked = [i for i, s in enumerate(signs) if s]
        key = (marked[0], marked[-1]) if marked else None
        expected[key] = expected.get(key, 0.0) + p
    assert law(mechanism, S).as_dict() == pytest.approx(expected)


def test_histogram_attains_no_more_than_its_epsilon() -> None:
    mechanism = SignificantCells(1.0, 0, ((0, 0), (1, 1)), 3.5)
    left, right = Multiset.counted({((0,), 1): 4}), Multiset.counted({((0,), 1): 3, ((1,), 1): 1})
    found = exact_epsilon(mechanism, left, right, 0.0)
    assert 0.5 < found <= 1


class Adversary:
    """Synthetic data at the greatest distance allowed, and noises just below the threshold."""

    def __init__(self, mechanism: LearnRectangles, rng: random.Random) -> None:
        self.mechanism, self.rng = mechanism, rng

    def __call__(self, drawn: Any) -> Any:
        assert isinstance(drawn, Applied)
        if isinstance(drawn.mechanism, ReleaseThresholds):
            return self.release(Multiset.of(drawn.dataset), drawn.mechanism)
        assert isinstance(drawn.mechanism, SignificantCells)
        marked = []
        for i, (low, high) in enumerate(drawn.mechanism.cells):
            here = [(x, y) for x, y in drawn.dataset if low <= x[drawn.mechanism.axis] <= high]
            count, t = sum(y for _, y in here), drawn.mechanism.threshold
            # |noise| < t: a count of 0 is never significant, one of 2t always is
            if count and (count >= 2 * t or self.rng.random() < 0.3):
                marked.append(i)
        return (marked[0], marked[-1]) if marked else None

    def release(self, S: Multiset, release: ReleaseThresholds) -> Multiset:
        """Every record moved by some places, back towards S until it is α₁/2-close."""
        data, close = S, release.alpha / 2
        for _ in range(30):
            x = self.rng.choice(data.values)
            y = min(max(x + self.rng.randint(-4, 4), 0), release.size - 1)
            changed = data.changed(remove=(x,), add=(y,))
            if distance(S, changed) <= close:
                data = changed
        return data


@pytest.mark.slow
def test_training_error_is_half_alpha_whatever_the_noise_within_its_bounds() -> None:
    rng = random.Random(2)
    errors = 0
    for _ in range(150):
        ell, size = rng.choice([1, 2, 3]), rng.choice([3, 40])
        mechanism = LearnRectangles(size, ell, rng.choice([0.5, 1.0]))
        concepts, n = Rectangles(size, ell), 260
        points = [tuple(rng.randrange(size) for _ in range(ell)) for _ in range(120)]
        corners = [sorted(rng.choices(range(size), k=2)) for _ in range(ell)]
        target = (tuple(a for a, _ in corners), tuple(b for _, b in corners))
        S = Multiset.of((x, concepts.label(target, x)) for x in rng.choices(points, k=n))
        program = mechanism.run(S)
        adversary, draw = Adversary(mechanism, rng), next(program)
        while True:
            try:
                draw = program.send(adversary(draw))
            except StopIteration as stop:
                output = stop.value
                break
        wrong = concepts.wrong(output, S)
        assert wrong <= Fraction(str(mechanism.alpha)) / 2 * n
        errors = max(errors, wrong)
    assert errors > 10  # the adversary does harm


def test_no_positive_gives_the_empty_rectangle() -> None:
    mechanism = LearnRectangles(8, 2, 0.5)
    n = mechanism.least_records(0.05)
    S = Multiset.counted({((1, 1), 0): n // 2, ((5, 3), 0): n - n // 2})
    # a failure has probability below 0.05, and in truth far below 1e-6
    assert sample(mechanism, S, 20, seed=3).counts == {((1, 1), (0, 0)): 20}


def test_proper_and_learned_at_the_sample_size() -> None:
    mechanism = LearnRectangles(6, 2, 0.5)
    n, concepts = mechanism.least_records(0.05), Rectangles(6, 2)
    truth = Truth(concepts.points, (1.0,) * 36, ((1, 2), (4, 3)))
    instance = law_free(Examples(concepts, truth, n))
    outputs = sample(mechanism, instance.dataset, 20, seed=4)
    assert set(outputs.counts) <= set(concepts.concepts)
    # cells of single points, each far heavier than the threshold: the target itself
    assert outputs.counts == {((1, 2), (4, 3)): 20}


def law_free(source: Examples) -> Instance:
    """One instance, drawn."""
    ((found, _),) = sample(source, (), 1, seed=5).each()
    assert isinstance(found, Instance)
    return found


def test_budget() -> None:
    mechanism = LearnRectangles(4, 2, 1.0, 1.0, 0.01, base=1, steps=1, room=0)
    S = Multiset.counted({((0, 3), 1): 4, ((2, 1), 0): 2})
    entry = ledger(mechanism, S, runs=20, seed=6)
    assert entry.complete
    assert entry.balanced
    assert len(entry.parts) in (2, 4)
    assert all(part.claim is not None and part.claim.implies(mechanism.part) for part in entry.parts)
    assert mechanism.part == Claim(0.25, 0.0025)
    many = LearnRectangles(4, 40)
    assert many.part.epsilon > 1 / 80  # Theorem 3.6
    assert many.release.alpha == Fraction(1, 4) / 640


def test_sample_sizes() -> None:
    for mechanism in (LearnRectangles(8, 1, 0.5), LearnRectangles(8, 3, 0.5), LearnRectangles()):
        (size,) = mechanism.sample_sizes
        failure = mechanism.failure(size.records) + mechanism.overfits(size.records)
        assert failure <= 0.05
        assert mechanism.failure(size.records - 1) + mechanism.overfits(size.records - 1) > 0.05
        empirical, general = mechanism.utility(size.records)
        assert empirical.probability >= general.probability >= 0.95 - 1e-12
        # Theorem 3.17 as printed
        assert size.records >= 64 * mechanism.concepts.vc / mechanism.alpha * math.log(512 / (mechanism.alpha * 0.05))
    assert LearnRectangles(8, 1, steps=1).sample_sizes == ()


@pytest.mark.parametrize("dimension", [1, 2])
def test_claim_holds_exactly(dimension: int) -> None:
    mechanism = LearnRectangles(2, dimension, 1.0, 2.0, 1e-6, base=1, steps=1, room=0)
    zero, one = (0,) * dimension, (1,) * dimension
    left = Multiset.counted({(zero, 1): 2, (one, 0): 1})
    for new in ((zero, 0), (one, 1)):
        found = exact_epsilon(mechanism, left, left.changed(remove=((zero, 1),), add=(new,)), 1e-6)
        assert 0 < found <= 2


def test_bad_input() -> None:
    for wrong, name in (({"dimension": 0}, "dimension"), ({"alpha": 2}, "alpha"), ({"epsilon": -1}, "epsilon"),
                        ({"delta": 0.0}, "delta"), ({"size": 1}, "size"), ({"a_dist": ""}, "a_dist")):
        with pytest.raises(ParameterError, match=name):
            LearnRectangles(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="epsilon"):
        SignificantCells(0.0, 0, (), 1.0)
    for bad in ((), (((0, 1), 2),), (((0,), 1),), (((0, 4), 1),), (3,)):
        with pytest.raises(DatasetError):
            law(LearnRectangles(4, 2, steps=1, room=0), bad)


# --- drawings -------------------------------------------------------------------------------------------------------


def test_release_drawing_shows_both_datasets_and_how_far_off_releases_are() -> None:
    pair = Pair(Multiset.counted({1: 2, 3: 2}), Multiset.counted({1: 1, 3: 3}), "")
    assert shares(pair.left, 5)[-1] == (4.5, 1.0)  # type: ignore[arg-type]
    values = (Multiset.counted({1: 4}), Multiset.counted({1: 1, 3: 3}))
    drawing = ReleaseFigure(5, 0.25)(Seen(pair, "sampled", values, (0.5, 0.5), (0.0, 1.0), (True, False)))
    assert drawing is not None
    assert [panel.title for panel in drawing.panels] == ["4 records of D", "4 records of D′"]
    assert "on D by up to 0.5, on D′ by up to 0" in drawing.caption
    assert ReleaseFigure(5, 0.25)(Seen(pair, "")) is None


def test_box_drawing_leaves_out_empty_rectangles_and_marks_what_changed() -> None:
    left = Multiset.counted({((0, 0), 0): 300, ((1, 1), 1): 2})
    pair = Pair(left, left.changed(remove=(((1, 1), 1),), add=(((1, 1), 0),)), "")
    values = (((1, 1), (1, 1)), ((1, 1), (0, 0)))
    drawing = BoxFigure(((1, 1), (1, 1)))(Seen(pair, "exact", values, (0.75, 0.25), (0.0, 1.0), (True, False)))
    assert drawing is not None
    labels = [[layer.label for layer in panel.layers if layer.label] for panel in drawing.panels]
    assert labels[0] == ["label 1", "label 0", "differs", "target", "learned, D"]
    assert labels[1] == ["label 1", "label 0", "differs", "target"]  # right learns the empty one alone
    assert "1 of them empty" in drawing.caption
