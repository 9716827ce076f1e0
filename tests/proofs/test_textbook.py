"""Programs as textbooks and libraries write them: masks, chains of comparisons, rows, tables, classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Proof, Unknown
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream

ROWS = Domain(5, ((0, 0), (0, 1), (1, 0), (1, 1)))
AGES = Records(30, 0, 50)
UNIT = Records(6, 0, 1)


# --- comparisons ---


def count_between(data: Any, rng: Any, low: float = 10) -> Any:
    return sum(1 for x in data if low <= x < low + 10) + rng.laplace(0, 1)


def five_counts(data: Any, rng: Any) -> Any:
    return [sum(low <= x < low + 10 for x in data) + rng.laplace(0, 2) for low in range(0, 50, 10)]


def chain_of_three(data: Any, rng: Any) -> Any:
    return sum(1 for x in data if 0 < x <= 2 * x < 30) + rng.laplace(0, 1)


def nearer(data: Any, rng: Any) -> Any:
    # at 0.5 floats decide for one side, though both are equally far
    return sum(1 for x in data if abs(x - 0.2) < abs(x - 0.8)) + rng.laplace(0, 1)


# --- masks ---


def length_of_selected(data: Any, rng: Any) -> Any:
    return len(data[data < 10]) + rng.laplace(0, 1)


def range_queries(data: Any, rng: Any) -> Any:
    return [len(data[(data >= low) & (data < low + 10)]) + rng.laplace(0, 2) for low in range(0, 50, 10)]


def sum_and_size_of_selected(data: Any, rng: Any) -> Any:
    small = data[data < 10]
    return small.sum() + rng.laplace(0, 10), small.size + rng.laplace(0, 1), np.count_nonzero(small) + rng.laplace(0, 1)


# --- rows ---


def sum_of_column(data: Any, rng: Any) -> Any:
    return sum(y for _, y in data) + rng.laplace(0, 1)


def contingency_table(data: Any, rng: Any) -> Any:
    table = [[0, 0], [0, 0]]
    for x, y in data:
        table[x][y] += 1
    return [[count + rng.laplace(0, 2) for count in row] for row in table]


def contingency_array(data: Any, rng: Any) -> Any:
    table = np.zeros((2, 2))
    for x, y in data:
        table[x, y] += 1
    return table + rng.laplace(0, 2, (2, 2))


def table_with_a_margin(data: Any, rng: Any) -> Any:
    table = [[0, 0], [0, 0]]
    for x, y in data:
        table[1][y] += 1
        table[x][0] += 1
    return [[count + rng.laplace(0, 2) for count in row] for row in table]


# --- lists and dicts ---


def peeled(answers: Any, rng: Any) -> Any:
    left, chosen = dict(enumerate(answers)), []
    for _ in range(2):
        noisy = {place: answer + rng.laplace(0, 4) for place, answer in left.items()}
        best = max(noisy, key=noisy.get)  # type: ignore[arg-type]
        chosen.append(best)
        del left[best]
    return chosen


def peeled_from_a_list(answers: Any, rng: Any) -> Any:
    left, chosen = list(range(len(answers))), []
    for _ in range(2):
        noisy = [answers[place] + rng.laplace(0, 4) for place in left]
        best = left[noisy.index(max(noisy))]
        chosen.append(best)
        left.remove(best)
    return chosen


def median_by_scores(data: Any, rng: Any) -> Any:
    scores = [-abs(sum(x < g for x in data) - sum(x > g for x in data)) for g in (1, 2)]
    noisy = [score + rng.gumbel(0, 4) for score in scores]
    return noisy.index(max(noisy))


def centers_by_min(data: Any, rng: Any, centers: tuple[float, ...] = (0.2, 0.8)) -> Any:
    sums, counts = [0.0] * len(centers), [0] * len(centers)
    for x in data:
        nearest = min(range(len(centers)), key=lambda j: abs(x - centers[j]))
        sums[nearest] += x
        counts[nearest] += 1
    totals = [total + rng.laplace(0, 2) for total in sums]
    return [total / max(1.0, count + rng.laplace(0, 2)) for total, count in zip(totals, counts, strict=True)]


def centers_by_argmin(data: Any, rng: Any) -> Any:
    centers = np.array((0.2, 0.8))
    labels, new = np.argmin(np.abs(data[:, None] - centers[None, :]), axis=1), []
    for j in range(len(centers)):
        members = data[labels == j]
        total, count = members.sum() + rng.laplace(0, 2), len(members) + rng.laplace(0, 2)
        new.append(total / max(count, 1.0))
    return new


# --- numpy ---


def clipped_by_name(data: Any, rng: Any) -> Any:
    return data.clip(min=0, max=1).sum() + np.clip(data, a_min=0, a_max=1).sum() + rng.laplace(0, 2)


def chosen_with_weights(data: Any, rng: Any) -> Any:
    weights = np.array([math.exp(sum(1 for x in data if x == r) / 2) for r in ("a", "b")])
    return rng.choice(["a", "b"], p=weights / np.linalg.norm(weights, ord=1))


# --- classes ---


class Mechanism:
    """Noise of a scale that is computed once."""

    sensitivity = 1

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self.scale = self.sensitivity / epsilon

    def __call__(self, value: Any, rng: Any) -> Any:
        return value + rng.laplace(0, self.scale)


def object_that_is_called(data: Any, rng: Any) -> Any:
    return Mechanism(1.0)(data.sum(), rng)


@dataclass
class Budget:
    left: float

    def spend(self, epsilon: float) -> float:
        self.left -= epsilon
        if self.left < 0:
            raise ValueError("The budget is spent.")
        return epsilon


def budget(data: Any, rng: Any) -> Any:
    own = Budget(1.0)
    return [data.sum() + rng.laplace(0, 1 / own.spend(0.5)) for _ in range(2)]


class Accumulator:
    """A sum."""

    def __init__(self) -> None:
        self.total = 0.0

    def add(self, value: Any) -> None:
        self.total += value

    @property
    def twice(self) -> Any:
        return 2 * self.total


def accumulated(data: Any, rng: Any) -> Any:
    own = Accumulator()
    for x in data:
        own.add(x)
    return own.twice + rng.laplace(0, 2)


class Threshold:
    """A noisy threshold."""

    def __init__(self, at: float, rng: Any) -> None:
        self.at = at + rng.laplace(0, 2)

    def is_below(self, answer: Any, rng: Any) -> Any:
        return answer + rng.laplace(0, 4) >= self.at


def sparse_vector_object(answers: Any, rng: Any) -> Any:
    threshold, out = Threshold(3.0, rng), []
    for answer in answers:
        above = threshold.is_below(answer, rng)
        out.append(above)
        if above:
            break
    return out


@pytest.mark.parametrize(
    ("program", "scope", "epsilon"),
    [
        (count_between, AGES, 1), (five_counts, AGES, 1), (chain_of_three, AGES, 1), (nearer, UNIT, 1),
        (length_of_selected, AGES, 1), (range_queries, AGES, 1), (sum_and_size_of_selected, AGES, 3),
        (length_of_selected, Records(6, 0, 50, "add-remove-one"), 1),
        (sum_of_column, ROWS, 1), (contingency_table, ROWS, 1), (contingency_array, ROWS, 1),
        (table_with_a_margin, ROWS, 2),
        (peeled, Answers(3), 1), (peeled_from_a_list, Answers(3), 1), (median_by_scores, Records(4, 0, 3), 1),
        (centers_by_min, Records(10, 0, 1), Fraction(7, 4)), (centers_by_argmin, Records(10, 0, 1), Fraction(7, 4)),
        (clipped_by_name, Records(6, -3, 3), 1),
        (object_that_is_called, UNIT, 1), (budget, UNIT, 1), (accumulated, UNIT, 1),
        (sparse_vector_object, Answers(4), 1), (sparse_vector_object, Stream(), 1),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_least_epsilon(program: Callable[..., Any], scope: Scope, epsilon: Fraction | int) -> None:
    outcome = prove(program, scope, epsilon=epsilon, refute=False)
    assert isinstance(outcome, Proof), outcome
    assert outcome.epsilon == epsilon
    assert check_certificate(outcome.certificate) is None
    lower = prove(program, scope, epsilon=Fraction(99, 100) * epsilon, refute=False)
    assert isinstance(lower, Unknown)
    assert lower.least == epsilon


def test_exponential_mechanism_with_a_norm() -> None:
    scope = Domain(4, ("a", "b"))
    assert isinstance(prove(chosen_with_weights, scope, epsilon=1, refute=False), Proof)
    assert isinstance(prove(chosen_with_weights, scope, epsilon=0.5, refute=False), Unknown)


# --- what is less private than claimed ---


def leaks_the_size(data: Any, rng: Any) -> Any:
    return data[data < 0.5].size


def loops_over_the_selected(data: Any, rng: Any) -> Any:
    selected = data[data < 0.5]
    noisy, seen = len(selected) + rng.laplace(0, 1), 0
    for _ in selected:
        seen += 1
    return noisy, seen


def changes_another_name(data: Any, rng: Any) -> Any:
    one = Accumulator()
    other = one
    other.total = data[0]
    return one.total + 0 * rng.laplace(0, 1)


def branches_into_an_object(data: Any, rng: Any) -> Any:
    own = Accumulator()
    if data[0] > 0.5:
        own.total = 1.0
    return data[0] + rng.laplace(0, 1 + own.total)


def frozen_scale(data: Any, rng: Any) -> Any:
    own = Frozen(0.1)
    own.scale = 10.0  # type: ignore[misc]
    return data.sum() + rng.laplace(0, own.scale)


@dataclass(frozen=True)
class Frozen:
    scale: float


class Counting:
    """Keeps state in its class."""

    made = 0

    def __init__(self) -> None:
        Counting.made += 1


def state_of_a_class(data: Any, rng: Any) -> Any:
    Counting()
    return data.sum() + rng.laplace(0, 1 / Counting.made)


class Doubles:
    """Sets other values than it is given."""

    def __init__(self) -> None:
        self.scale = 1.0

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value / 10)


def other_attributes(data: Any, rng: Any) -> Any:
    return data.sum() + rng.laplace(0, Doubles().scale)


class Computes:
    """Its scale is computed when it is set."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    @property
    def scale(self) -> float:
        return self._scale / 10

    @scale.setter
    def scale(self, scale: float) -> None:
        self._scale = scale


def computed_scale(data: Any, rng: Any) -> Any:
    return data.sum() + rng.laplace(0, Computes(1.0).scale)


def shared_rows(data: Any, rng: Any) -> Any:
    table = [[0, 0]] * 2
    for x, y in data:
        table[x][y] += 1
    return [[count + rng.laplace(0, 2) for count in row] for row in table]


class Forgets:
    """A threshold that is drawn anew for each answer."""

    def __init__(self, at: Any) -> None:
        self.at = at

    def is_below(self, answer: Any) -> Any:
        return answer >= self.at


def answers_in_an_object(answers: Any, rng: Any) -> Any:
    threshold, out = Forgets(3.0 + rng.laplace(0, 1)), []
    for answer in answers:
        out.append(threshold.is_below(2))
        threshold = Forgets(answer)
    return out


@pytest.mark.parametrize(
    ("program", "scope", "epsilon"),
    [
        (leaks_the_size, UNIT, 9), (loops_over_the_selected, Records(3, 0, 1), 9), (changes_another_name, UNIT, 9),
        (branches_into_an_object, UNIT, 9), (frozen_scale, UNIT, 1), (state_of_a_class, UNIT, 1),
        (other_attributes, UNIT, 1), (computed_scale, UNIT, 1), (answers_in_an_object, Stream(), 9),
        (shared_rows, ROWS, Fraction(199, 100)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_not_proved(
    program: Callable[..., Any], scope: Scope, epsilon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpaudit.proofs.attempt.replayed", lambda *args, **options: None)
    assert isinstance(prove(program, scope, epsilon=epsilon, refute=False), Unknown)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (lambda data, rng: data[0].lower(), "The attribute lower of a value of type int that depends on a record"),
        (lambda data, rng: [x for x in data[0]], "A loop over a record that is not a tuple"),  # noqa: C416
    ],
)
def test_reasons(program: Callable[..., Any], reason: str) -> None:
    outcome = prove(program, Domain(40, (0, 1)), epsilon=1, refute=False)
    assert isinstance(outcome, Unknown)
    assert reason in outcome.reason
