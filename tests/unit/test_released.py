"""Which draws a text releases: what is followed, with which distances, and everything that is refused."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import NotEnumerableError
from dpaudit.interpret.released import Moved, Released, released
from dpaudit.language import Mechanism, Product
from dpaudit.language.distributions import DiscreteLaplace, Gaussian, Laplace, independent

LEFT, RIGHT = (0, 0, 1), (0, 1, 1)


@dataclass(frozen=True)
class Text(Mechanism):
    """A mechanism of one function."""

    text: Callable[[Any], Any]

    def run(self, dataset: Any) -> Any:
        return self.text(dataset)


@dataclass(frozen=True)
class Answer:
    """An output with a name."""

    value: Any
    words: str = "noisy"


def of(text: Callable[[Any], Any], left: Any = LEFT, right: Any = RIGHT) -> Released:
    return released(Text(text), left, right)


def moved(kind: Any, gap: Any, scale: Any = 1) -> Moved:
    return Moved(kind, Fraction(gap), Fraction(scale))


# -- followed


def last(S: Any) -> Any:
    return Laplace(sum(S), 2.0)


def added(S: Any) -> Any:
    return sum(S) + (yield Laplace(0, 2.0))


def negative(S: Any) -> Any:
    return -(sum(S) - (yield Laplace(0, 2.0)))


def scaled(S: Any) -> Any:
    return np.float64(0.5) * (2 * sum(S) + (yield Laplace(0.0, 4))) / 3 + 7


def of_a_sub_mechanism(S: Any) -> Any:
    return (yield Text(added).on(S))


def tail_call(S: Any) -> Any:
    return Text(last).on(S)


def continued(S: Any) -> Any:
    return Laplace(0, 2.0).then(lambda x: x + sum(S))


def mapped(S: Any) -> Any:
    return Laplace(0, 2.0).map(lambda x: x + sum(S))


@pytest.mark.parametrize("text", [last, added, tail_call, of_a_sub_mechanism, continued, mapped])
def test_one_number(text: Callable[[Any], Any]) -> None:
    found = of(text)
    assert found.draws == (moved(Laplace, 1, 2),)
    assert found.line is not None
    assert found.line[0] == 1


@pytest.mark.parametrize(("text", "c"), [(negative, 1), (scaled, Fraction(1, 6))])
def test_a_scaled_number(text: Callable[[Any], Any], c: Fraction) -> None:
    found = of(text)
    ((gap, scale),) = [(abs(draw.gap), draw.scale) for draw in found.draws]
    assert gap / scale == Fraction(1, 2)
    assert found.line is not None
    assert found.line[0] == c


@dataclass(frozen=True)
class Sums(Mechanism):
    """Sums of noise that the output tells all of: its matrix is triangular."""

    def run(self, S: Any) -> Any:
        total, sums = 0.0, []
        for value in S:
            total += yield Gaussian(value, 3.0)
            sums.append(total)
        return np.array(sums)


def test_prefix_sums_tell_every_draw() -> None:
    assert released(Sums(), (1, 2, 3), (1, 4, 3)).draws == tuple(moved(Gaussian, gap, 3) for gap in (0, 2, 0))


def test_a_matrix_that_mixes_the_draws() -> None:
    def mixes(S: Any) -> Any:
        x, y = yield independent(Laplace(0, 1), 2)
        return x + y + S[0], x - y + S[1], 2 * x + S[0] + S[1]

    # x + y and x − y move by 1 and 3, so x by 2 and y by −1
    assert of(mixes, (0, 0), (1, 3)).draws == (moved(Laplace, 2), moved(Laplace, -1))
    with pytest.raises(NotEnumerableError, match="for every value of its noise"):
        released(Text(lambda S: mixed_up(S)), (0, 0), (1, 3))


def mixed_up(S: Any) -> Any:
    x, y = yield independent(Laplace(0, 1), 2)
    return x + y + S[0], x - y + S[1], 2 * x


def test_kinds_side_by_side() -> None:
    def three(S: Any) -> Any:
        noise = yield Product((Laplace(sum(S), 1), Gaussian(sum(S), 2), DiscreteLaplace(sum(S), Fraction(1, 3))))
        return Answer(list(noise))

    expected = (moved(Laplace, 1), moved(Gaussian, 1, 2), moved(DiscreteLaplace, 1, Fraction(1, 3)))
    assert of(three).draws == expected
    assert of(three).line is None


def test_a_draw_that_is_thrown_away_does_not_count() -> None:
    def wasteful(S: Any) -> Any:
        yield Laplace(sum(S), 1)
        yield Laplace(0, 1 + sum(S))
        return (yield Laplace(5 * sum(S), 1))

    assert of(wasteful).draws == (moved(Laplace, 5),)


def test_an_array_of_answers() -> None:
    def vector(S: Any) -> Any:
        noise = yield independent(Laplace(0, 1), 3)
        return np.array(S, dtype=float) + np.array(noise)

    assert of(vector).draws == (moved(Laplace, 0), moved(Laplace, 1), moved(Laplace, 0))


@given(st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=3), min_size=1, max_size=4))
def test_elimination_agrees_with_numpy(rows: list[list[int]]) -> None:
    columns = min(map(len, rows))
    matrix = np.array([row[:columns] for row in rows], dtype=float)
    shift = np.arange(1, columns + 1)

    def text(S: Any) -> Any:
        noise = yield independent(Laplace(0, 1), columns)
        # the output's own shift is A·shift on the right dataset, 0 on the left
        sums = [sum(int(a) * x for a, x in zip(row, noise, strict=True)) for row in matrix]
        return tuple(s + S[0] * float(row @ shift) for s, row in zip(sums, matrix, strict=True))

    used = [j for j in range(columns) if matrix[:, j].any()]
    if not used or np.linalg.matrix_rank(matrix) < len(used):
        if used:
            with pytest.raises(NotEnumerableError, match="upper bound"):
                of(text, (0,), (1,))
        return
    assert [draw.gap for draw in of(text, (0,), (1,)).draws] == [shift[j] for j in used]


# -- refused


def clipped(S: Any) -> Any:
    return max(0.0, (yield Laplace(sum(S), 1)))


def rounded(S: Any) -> Any:
    return round((yield Laplace(sum(S), 1)))


def adaptive(S: Any) -> Any:
    first = yield Laplace(sum(S), 1)
    second = yield Laplace(first, 1)
    return first, second


def adaptive_scale(S: Any) -> Any:
    first = yield Laplace(sum(S), 1)
    second = yield Laplace(sum(S), 1 + abs(first))
    return first, second


def branching(S: Any) -> Any:
    first = yield Laplace(sum(S), 1)
    return (first, (yield Laplace(sum(S), 1)) if first > 0 else 0.0)


def secretly_branching(S: Any) -> Any:
    first = yield Laplace(sum(S), 1)
    try:
        wide = first > 0
    except Exception:
        wide = True
    return first, (yield Laplace(sum(S), 1 if wide else 9))


def by_class(S: Any) -> Any:
    first = yield Laplace(sum(S), 1)
    return first if isinstance(first, float) else -first


def by_type(S: Any) -> Any:
    first = yield Laplace(sum(S), 1)
    return math.floor(first) if type(first) is float else first


def by_hash(S: Any) -> Any:
    return {(yield Laplace(sum(S), 1)): 0}.popitem()[0]


def written(S: Any) -> Any:
    return f"{(yield Laplace(sum(S), 1)):.2f}"


def copied(S: Any) -> Any:
    return float(copy.deepcopy((yield Laplace(sum(S), 1))))


def exponential(S: Any) -> Any:
    return np.exp(np.array([(yield Laplace(sum(S), 1))]))


def squared(S: Any) -> Any:
    noise = yield Laplace(sum(S), 1)
    return noise * noise


def until_positive(S: Any) -> Any:
    while True:
        noise = yield Laplace(sum(S), 1)
        if noise > 0:
            return noise


def endless(S: Any) -> Any:
    noise = []
    for _ in range(10_000):
        noise.append((yield Laplace(sum(S), 1)))  # noqa: PERF401
    return noise


def sum_alone(S: Any) -> Any:
    return sum((yield independent(Laplace(sum(S), 1), 2)))


def other_scale(S: Any) -> Any:
    return Laplace(0, 1 + sum(S))


def other_kind(S: Any) -> Any:
    return Laplace(0, 1) if sum(S) == 1 else Gaussian(0, 1)


def other_sign(S: Any) -> Any:
    return (1 if sum(S) == 1 else -1) * (yield Laplace(0, 1))


def tells(S: Any) -> Any:
    return (yield Laplace(0, 1)), sum(S)


def tells_in_words(S: Any) -> Any:
    return (yield Laplace(0, 1)), str(sum(S))


def half_steps(S: Any) -> Any:
    return (yield DiscreteLaplace(0, 1.0)) + sum(S) / 2


def coin(S: Any) -> Any:
    heads = yield Laplace(sum(S), 1) < 0
    return heads, (yield Laplace(0, 1))


def clipped_noise(S: Any) -> Any:
    return Laplace(sum(S), 1).clip(0, 1)


def rounded_noise(S: Any) -> Any:
    return Laplace(sum(S), 1).floor()


REFUSED = [
    (clipped, "compares a draw"),
    (rounded, "rounds a draw"),
    (adaptive, "asks what a draw is an instance of"),
    (adaptive_scale, "applies a nonlinear operation to a draw"),
    (branching, "compares a draw"),
    (secretly_branching, "compares a draw"),
    (by_class, "asks what a draw is an instance of"),
    (by_type, "returns different values on numbers"),
    (by_hash, "reads a draw"),
    (written, "reads a draw"),
    (copied, "reads a draw"),
    (exponential, "asks a draw for its exp"),
    (squared, "multiplies a draw by another draw"),
    (until_positive, "compares a draw"),
    (endless, "more than 2,000 draws"),
    (sum_alone, "upper bound"),
    (other_scale, "different scales"),
    (other_kind, "different noise"),
    (other_sign, "in the same way"),
    (tells, "for every value of its noise"),
    (tells_in_words, "in the same way"),
    (half_steps, "for every value of its noise"),
    (coin, "draws Bernoulli"),
    (clipped_noise, "draws Clipped"),
    (rounded_noise, "draws Integer"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text.__name__ for text, _ in REFUSED])
def test_refused(text: Callable[[Any], Any], reason: str) -> None:
    with pytest.raises(NotEnumerableError, match=reason):
        of(text)


def test_a_text_with_randomness_of_its_own_is_refused() -> None:
    def own(S: Any) -> Any:
        return (yield Laplace(np.random.random(), 1))  # noqa: NPY002

    with pytest.raises(NotEnumerableError, match="requests different draws"):
        of(own)


def test_a_text_that_raises_is_refused_not_crashed() -> None:
    def broken(S: Any) -> Any:
        yield Laplace(0, 1)
        raise ValueError("no")

    with pytest.raises(NotEnumerableError, match="does not run"):
        of(broken)
