"""The wrong verdicts that were once found, each with the right one; every audit has a fixed seed and α = 0.001."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

import dpaudit
from dpaudit.adversary import Pair
from dpaudit.evidence import assumptions
from dpaudit.language import Bernoulli, Claim, Laplace, Mechanism
from dpaudit.results.model import Verdict
from dpaudit.subjects.target import function_target

PAIR: tuple[Any, Any] = ([1], [0])


def verdict(f: Any, epsilon: float | None = 1.0, runs: int = 4000, **settings: Any) -> tuple[Verdict, Any]:
    result = dpaudit.audit(f, epsilon=epsilon, pair=PAIR, runs=runs, **settings)
    return result.audits[0].verdict, result.audits[0]


def bins_over_a_threshold(data: Any, rng: Generator) -> list[float]:
    out = [10 + rng.laplace(0, 1)]
    if 1 in data and rng.random() < 0.01:
        out.append(12.0)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_1_lists_of_varying_length(seed: int) -> None:
    """(0, 0.01)-DP: the first bin has the same law on both datasets."""
    assert verdict(bins_over_a_threshold, 0.5, 20_000, delta=0.01, seed=seed)[0] is Verdict.PASS


@dataclass(frozen=True)
class Clamped(Mechanism):
    """0.0 on both datasets but for e^-40."""

    @property
    def claim(self) -> Claim:
        return Claim(0.1)

    def run(self, data: Any) -> Any:
        if (yield Bernoulli(0.5 if sum(data) else 0.8)):
            x = yield Laplace(0.0, 1.0)
            return min(max(x - 40.0, 0.0), 1.0)
        return 0.0


@pytest.mark.slow(fast=["0"])
@pytest.mark.parametrize("seed", range(3))
def test_2_one_value_by_two_paths(seed: int) -> None:
    found, audit = verdict(Clamped(), None, seed=seed)
    assert found is Verdict.INCONCLUSIVE
    assert audit.epsilon_lower == 0


BUFFER, LIST = np.zeros(1), [0.0]


def same_array(data: Any, rng: Generator) -> Any:
    BUFFER[0] = sum(data) + rng.laplace()
    return BUFFER


def same_list(data: Any, rng: Generator) -> Any:
    LIST[0] = sum(data) + rng.laplace()
    return LIST


@pytest.mark.parametrize("f", [same_array, same_list])
def test_3_outputs_that_alias_one_buffer(f: Any) -> None:
    found, audit = verdict(f)
    assert found is Verdict.PASS
    assert 0.5 < audit.epsilon_lower <= 1


def without_return(data: Any, rng: Generator) -> None:
    sum(data) + rng.laplace()


def always_three(data: Any, rng: Generator) -> float:
    return 3.0


@pytest.mark.parametrize(("f", "value"), [(without_return, "None"), (always_three, "3.0")])
def test_4_constant_outputs(f: Any, value: str) -> None:
    found, audit = verdict(f)
    assert found is Verdict.INCONCLUSIVE
    assert f"samples were {value}. Nothing was tested. Is a `return` missing" in audit.reason


def test_4_a_function_may_say_that_it_is_constant() -> None:
    def constant(data: Any, rng: Generator) -> int:
        return 3

    constant.constant = True  # type: ignore[attr-defined]
    assert verdict(constant)[0] is Verdict.PASS


ANSWERS: dict[Any, float] = {}
STORES: dict[Any, Any] = {}
POOL = np.random.default_rng(0).laplace(size=1000)


def cached(data: Any, rng: Generator) -> float:
    return ANSWERS.setdefault(tuple(data), sum(data) + rng.laplace())


def cached_and_drawn_when_missing(data: Any, rng: Generator) -> float:
    if tuple(data) not in ANSWERS:
        ANSWERS[tuple(data)] = sum(data) + np.random.laplace()  # noqa: NPY002
    return ANSWERS[tuple(data)]


def resampled(data: Any, rng: Generator) -> float:
    if tuple(data) not in STORES:
        STORES[tuple(data)] = sum(data) + rng.laplace(size=1000)
    return float(rng.choice(STORES[tuple(data)]))


def resampled_from_the_start(data: Any, rng: Generator) -> float:
    return float(sum(data) + rng.choice(POOL))


def one_noise_for_all(data: Any, rng: Generator, size: int) -> Any:
    return np.full(size, sum(data) + rng.laplace())


@pytest.mark.parametrize(
    "f", [cached, cached_and_drawn_when_missing, resampled, resampled_from_the_start, one_noise_for_all]
)
def test_5_samples_that_are_not_independent(f: Any) -> None:
    ANSWERS.clear()
    STORES.clear()
    found, audit = verdict(f)
    assert found is Verdict.INCONCLUSIVE
    assert "no bound on ε is valid" in audit.reason
    assert (audit.epsilon_lower, audit.sampled, audit.sequential) == (None, [], None)


def discrete_on_a_lattice(data: Any, rng: Generator) -> float:
    return 0.1 * (sum(data) + int(rng.geometric(1 - np.exp(-1))) - int(rng.geometric(1 - np.exp(-1))))


def irregular_candidates(data: Any, rng: Generator) -> float:
    return float(POOL[int(rng.integers(100))])


def own_randomness(data: Any, rng: Generator) -> float:
    return float(sum(data) + np.random.laplace())  # noqa: NPY002


@pytest.mark.parametrize("f", [discrete_on_a_lattice, irregular_candidates, own_randomness])
def test_5_what_repeats_or_is_not_seeded_and_is_independent(f: Any) -> None:
    assert verdict(f)[0] is Verdict.PASS


def test_12_too_few_samples() -> None:
    def count(data: Any, rng: Generator) -> float:
        return float(sum(data) + rng.laplace())

    found, audit = verdict(count, runs=100)
    assert found is Verdict.INCONCLUSIVE
    assert "raise runs to about" in audit.reason
    assert verdict(count, runs=100, min_power=float("inf"))[0] is Verdict.PASS


SETS = """
def letters(data, rng):
    return frozenset(c for c in "abcdefgh" if rng.random() < (.8 if 1 in data else .3))
"""


@pytest.mark.slow
def test_13_sets_under_another_hash_seed(tmp_path: Path) -> None:
    (tmp_path / "u.py").write_text(SETS)
    written = []
    for hash_seed in ("0", "1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed, "DPAUDIT_STORE": str(tmp_path / "store")}
        name = f"{hash_seed}.json"
        line = ["check", "u.py:letters", "--epsilon", "1", "--pair", "[1]", "[0]", "--runs", "2000", "--quiet"]
        ran = subprocess.run(
            [sys.executable, "-c", "from dpaudit.cli.commands import main; main()", *line, "--json", name],
            cwd=tmp_path, env=env, capture_output=True, text=True,
        )
        assert ran.returncode == 1, ran.stderr
        result = json.loads((tmp_path / name).read_text())
        result.pop("timings")
        written.append(json.dumps(result))
    assert written[0] == written[1] == written[2]


def fails(data: Any, rng: Generator) -> None:
    raise ValueError("no such record")


def fails_on_one(data: Any, rng: Generator) -> int:
    if 1 in data and rng.random() < 0.5:
        raise KeyError("x")
    return int(rng.random() < 0.5)


def test_failures() -> None:
    found, audit = verdict(fails)
    assert (found, audit.crashed) == (Verdict.INCONCLUSIVE, True)
    assert "ValueError: no such record (test_rows.py, line " in audit.reason
    found, audit = verdict(fails_on_one)
    assert found is Verdict.FAIL
    assert any("raises KeyError" in note.sentence for note in audit.notes)


# --- further: outputs of one call that share part of their noise ---------------------------------------------------


def one_coin_for_all(data: Any, rng: np.random.Generator, size: int) -> Any:
    flip = rng.random() < 0.2689
    return [int(bool(data[0]) ^ flip)] * size


def a_part_for_all(data: Any, rng: np.random.Generator, size: int) -> Any:
    return data[0] + 0.999 * rng.laplace(size=size) + 0.5 * rng.laplace()


def one_coordinate_for_all(data: Any, rng: np.random.Generator, size: int) -> Any:
    return np.column_stack([data[0] + rng.laplace(size=size), np.full(size, rng.integers(2))])


def antithetic(data: Any, rng: np.random.Generator, size: int) -> Any:
    half = rng.laplace(size=(size + 1) // 2)
    return data[0] + np.concatenate([half, -half])[:size]


@pytest.mark.parametrize("f", [one_coin_for_all, a_part_for_all, one_coordinate_for_all, antithetic])
@pytest.mark.parametrize("seed", range(3))
def test_outputs_of_one_call_that_depend_on_each_other(f: Any, seed: int) -> None:
    found = dpaudit.audit(f, epsilon=1.001, pair=([1], [0]), runs=5_000, seed=seed, progress=False)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "of one call" in found.reason


def sorted_outputs(data: Any, rng: np.random.Generator, size: int) -> Any:
    return np.sort(data[0] + rng.laplace(size=size))


def rare_coin(data: Any, rng: np.random.Generator, size: int) -> Any:
    return rng.random(size) < 0.001


def of_a_few(data: Any, rng: np.random.Generator, size: int) -> Any:
    flips, lengths = rng.random(size) < 0.27, rng.poisson(1, size)
    return [(int(data[0]) ^ int(flip), "a" * int(n)) for flip, n in zip(flips, lengths, strict=True)]


@pytest.mark.slow(fast=["0-*"])
@pytest.mark.parametrize("f", [sorted_outputs, rare_coin, of_a_few])
@pytest.mark.parametrize("seed", range(3))
def test_outputs_of_one_call_that_do_not(f: Any, seed: int) -> None:
    """False alarm: below 1e-9 each."""
    found = dpaudit.audit(f, epsilon=1.001, pair=([1], [0]), runs=2_000, seed=seed, progress=False)
    assert found.verdict is not Verdict.FAIL
    assert "of one call" not in found.reason


def test_calls_that_are_compared_leave_global_generators_as_they_were() -> None:
    def of_its_own(data: Any, rng: np.random.Generator, size: int) -> Any:
        return data[0] + np.random.laplace(size=size)  # noqa: NPY002

    target = function_target(of_its_own, "of_its_own", "")
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    assert assumptions._shared_noise(target, Pair([1], [0], "", ""), 2_000, 0) is None
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
