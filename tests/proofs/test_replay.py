"""The real program against the paths that were found: right paths pass, and every kind of wrong path is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.language import DiscreteLaplace, Laplace, Mechanism
from dpaudit.language.distributions import Bernoulli, Softmax, Uniform
from dpaudit.proofs.paths import Finished
from dpaudit.proofs.program import paths, symbols
from dpaudit.proofs.replay import Recorder, Tape, handed_in, replayed
from dpaudit.proofs.results import Unsupported
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope

RECORDS = Records(3, 0, 1)
ANSWERS = Answers(4)


def followed(program: Any, scope: Scope) -> list[Finished]:
    size = scope.k if isinstance(scope, Answers) else scope.n  # type: ignore[union-attr]
    return paths(program, lambda: symbols(scope, size, handed_in(program, scope)))


def check(program: Any, scope: Scope, as_if: Any = None) -> None:
    """Replays a program on its own paths, or on those of another program."""
    size = scope.k if isinstance(scope, Answers) else scope.n  # type: ignore[union-attr]
    replayed(program, scope, followed(program if as_if is None else as_if, scope), size)


def noisy_sum(x, rng):
    return np.clip(x, 0.25, 1).sum() + rng.laplace(0, 1.0)


def at_the_edge(x, rng):
    return "zero" if x[0] <= 0.5 else "more"


def below_the_edge(x, rng):
    return "zero" if x[0] < 0.5 else "more"


def sparse(answers, rng):
    noisy_threshold = rng.laplace(1, 2.0)
    said = []
    for answer in answers:
        if answer + rng.laplace(0, 4.0) >= noisy_threshold:
            said.append(True)
            break
        said.append(False)
    return said


def everything(x, rng):
    picked = rng.choice(["a", "b"])
    place = rng.integers(3)
    noise = rng.laplace(np.array([1.0, 2.0]), 3.0) + rng.exponential(2.0, 2)
    return {
        "picked": picked, "place": place, "noise": noise, "uniform": rng.uniform(1, 3) + rng.normal(0, 1),
        "gumbel": list(rng.gumbel(0, 2.0, 2)), "sum": (x.sum() + rng.laplace(), x > 0.5),
        "coin": bool(rng.random() < 0.3), "geometric": rng.geometric(0.5) - rng.geometric(0.5),
        "standard": rng.standard_exponential() + rng.standard_normal(),
    }


@dataclass(frozen=True)
class Inner(Mechanism):
    def run(self, dataset):
        counts = [float(sum(value == each for value in dataset)) for each in range(3)]
        best = yield Softmax(counts, 0.5)
        worst = yield Softmax(counts, -0.5, ("x", "y", "z"))
        return best, worst


@dataclass(frozen=True)
class Outer(Mechanism):
    def run(self, dataset):
        found = yield Inner().on(dataset)
        rounded = yield Laplace(sum(dataset), 2.0).floor()
        above = yield DiscreteLaplace(rounded, 1.0) >= 3
        coin = yield Bernoulli(0.25)
        one = yield Uniform((1, 2, 3))
        return Laplace(sum(dataset), 1.0) if coin else (found, rounded, above, one)


@pytest.mark.parametrize(
    ("program", "scope"),
    [
        (noisy_sum, RECORDS), (noisy_sum, Records(2, -1, 3)), (at_the_edge, RECORDS), (below_the_edge, RECORDS),
        (sparse, ANSWERS), (everything, RECORDS), (Inner(), Domain(3, (0, 1, 2))), (Outer(), Domain(2, (0, 1, 2))),
    ],
)
def test_right_paths_pass(program: Any, scope: Scope) -> None:
    check(program, scope)


def less_clipped(x, rng):
    return np.clip(x, 0.2, 1).sum() + rng.laplace(0, 1.0)


def smaller_noise(x, rng):
    return np.clip(x, 0.25, 1).sum() + rng.laplace(0, 0.5)


def other_noise(x, rng):
    return np.clip(x, 0.25, 1).sum() + rng.gumbel(0, 1.0)


def second_draw(x, rng):
    return np.clip(x, 0.25, 1).sum() + rng.laplace(0, 1.0) + 0 * rng.laplace(0, 1.0)


def as_tuple(x, rng):
    return (np.clip(x, 0.25, 1).sum() + rng.laplace(0, 1.0),)


@pytest.mark.parametrize("as_if", [less_clipped, smaller_noise, other_noise, second_draw, as_tuple])
def test_another_program_is_noticed(as_if: Callable[..., Any]) -> None:
    with pytest.raises(Unsupported, match="does not do what was followed"):
        check(noisy_sum, RECORDS, as_if=as_if)


def test_a_decision_exactly_at_a_cut_is_noticed() -> None:
    with pytest.raises(Unsupported, match="it returns 'zero'"):
        check(at_the_edge, RECORDS, as_if=below_the_edge)


def test_an_edge_that_floats_round_is_no_difference() -> None:
    # 3 · 0.3 is below 0.9 as floats, and equal to it as real numbers
    check(rounded_edge, RECORDS)


def rounded_edge(x, rng):
    return "zero" if x[0] * 3 >= 0.9 else "more"


def test_a_missing_path_is_noticed() -> None:
    found = followed(sparse, ANSWERS)
    with pytest.raises(Unsupported, match=r"no path makes its decisions|as no path does"):
        replayed(sparse, ANSWERS, found[:-1], 4)


def test_a_wrong_row_is_noticed() -> None:
    found = followed(sparse, ANSWERS)
    turned = replace(found[0].rows[0], form=found[0].rows[0].form.scaled(Fraction(-1)))
    with pytest.raises(Unsupported, match="does not do what was followed"):
        replayed(sparse, ANSWERS, [replace(found[0], rows=(turned, *found[0].rows[1:])), *found[1:]], 4)


def test_an_exchanged_output_is_noticed() -> None:
    found = followed(sparse, ANSWERS)
    with pytest.raises(Unsupported, match="it returns"):
        replayed(sparse, ANSWERS, [replace(path, result=found[0].result) for path in found], 4)


class Counting:
    """A program whose output depends on how often it was called."""

    calls = 0

    def __call__(self, x, rng):
        Counting.calls += 1
        return noisy_sum(x, rng) + (1 if Counting.calls > 20 else 0)


def test_state_between_calls_is_noticed() -> None:
    with pytest.raises(Unsupported, match="it returns"):
        check(Counting(), RECORDS, as_if=noisy_sum)


def raising(x, rng):
    return "zero" if x[0] <= 0.5 else {}["more"]


def test_an_exception_is_named() -> None:
    with pytest.raises(Unsupported, match="raises KeyError"):
        check(raising, RECORDS, as_if=at_the_edge)


def with_gamma(x, rng):
    try:
        return rng.gamma(1.0)
    except Exception:
        return "zero"


def constant_zero(x, rng):
    return "zero"


def test_a_draw_that_is_not_recorded_is_refused_even_if_the_program_goes_on() -> None:
    with pytest.raises(Unsupported, match=r"rng\.gamma"):
        check(with_gamma, RECORDS, as_if=constant_zero)


def test_the_recorder_gives_what_numpy_gives() -> None:
    tape = Tape(np.random.default_rng(1), 1.0)
    rng = Recorder(tape)
    assert isinstance(rng, np.random.Generator)
    assert isinstance(rng.laplace(), float)
    assert rng.laplace(np.zeros(3), 1.0).shape == rng.gumbel(0, 1, 3).shape == (3,)
    assert rng.exponential(1.0, (2, 2)).shape == (2, 2)
    assert isinstance(rng.geometric(0.5), int)
    assert rng.geometric(0.5, 4).dtype == np.int64
    assert 1 <= rng.uniform(1, 2) <= 2
    assert tape.kinds[:7] == ["laplace"] * 4 + ["gumbel"] * 3
    with pytest.raises(ValueError, match=r"shape|size"):
        rng.laplace(np.zeros(3), 1.0, 2)


def test_datasets_can_be_given() -> None:
    found = paths(sparse, lambda: (5, 5, 5, 5))
    replayed(sparse, Domain(4, (0, 5)), found, 4, datasets=[(5, 5, 5, 5)])
    with pytest.raises(Unsupported, match="does not do what was followed"):
        replayed(sparse, Domain(4, (0, 5)), found, 4, datasets=[(0, 0, 0, 0)])
