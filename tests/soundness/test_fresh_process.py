"""Calls are repeated in a process that has never called the function: state that shows there refutes independence."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

import dpaudit
from dpaudit.evidence.assumptions import INDEPENDENT, SEEDED
from dpaudit.results.model import Verdict
from dpaudit.subjects import fresh_process
from dpaudit.subjects.target import load_object


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What fresh processes answered; None where one did not."""
    found: list[Any] = []
    repeat = fresh_process.FreshProcess.repeat
    monkeypatch.setattr(fresh_process.FreshProcess, "repeat", lambda *args: found.append(repeat(*args)) or found[-1])
    return found


def audited(f: Any, runs: int = 4_000, **settings: Any) -> Any:
    return dpaudit.audit(f, epsilon=1.0, pair=([1, 1], [1, 0]), runs=runs, seed=3, progress=False, **settings)


def record(found: Any, name: str = INDEPENDENT) -> Any:
    return next(one for one in found.audit.assumptions if one.name == name)


def honest(data: Any, rng: Generator) -> float:
    return float(sum(data) + rng.laplace())


def honest_vectors(data: Any, rng: Generator, size: int) -> Any:
    return sum(data) + rng.laplace(size=(size, 2)) * 2


def honest_texts(data: Any, rng: Generator) -> Any:
    return {"answer": [f"{sum(data) + rng.laplace():.3f}", rng.random() < 0.5]}


def raises_sometimes(data: Any, rng: Generator) -> float:
    if rng.random() < 0.1:
        raise ValueError("too few")
    return honest(data, rng)


@pytest.mark.slow(fast=["honest", "raises_sometimes"])
@pytest.mark.parametrize("f", [honest, honest_vectors, honest_texts, raises_sometimes])
def test_a_function_of_its_data_and_generator_gives_the_same_in_a_fresh_process(f: Any, answers: list[Any]) -> None:
    found = audited(f)
    assert found.verdict is Verdict.PASS
    assert record(found).holds is True
    (answer,) = answers
    assert len(answer) >= 6


class Calls:
    """What a function keeps."""

    made = 0


def quiet_after_a_while(data: Any, rng: Generator) -> float:
    Calls.made += 1
    return float(sum(data) + rng.laplace() * (1e-3 if Calls.made > 2_000 else 1))


def budget_of_calls(data: Any, rng: Generator, size: int) -> Any:
    Calls.made += size
    return sum(data) + rng.laplace(size=size) * (1e-3 if Calls.made > 2_000 else 1)


@pytest.mark.parametrize("f", [quiet_after_a_while, budget_of_calls])
def test_state_that_shows_after_thousands_of_calls(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Calls, "made", 0)
    found = audited(f, runs=20_000)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert record(found).holds is False
    assert "depends on earlier calls" in found.reason
    assert found.audit.epsilon_lower in (None, 0.0)


AT_IMPORT = """
import numpy as np
SHIFT = float(np.random.default_rng().laplace())
def f(data, rng):
    return sum(data) + SHIFT + rng.laplace()
"""
ORDER = """
words = {f"word {i}" for i in range(64)}
def f(data, rng):
    return list(words)[rng.integers(64)]
"""


@pytest.mark.parametrize("text", [AT_IMPORT, ORDER])
def test_what_is_drawn_once_for_a_process(text: str, tmp_path: Path) -> None:
    file = tmp_path / f"drawn_once_{len(text)}.py"
    file.write_text(text, encoding="utf-8")
    f, _ = load_object(f"{file}:f")
    # hashes of texts differ from process to process; that six calls meet the same words in both has probability < 1e-9
    found = audited(f)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert record(found).holds is False


def of_two_generators(data: Any, rng: Generator) -> float:
    return float(sum(data) + rng.laplace() + np.random.laplace())  # noqa: NPY002


def of_the_system(data: Any, rng: Generator) -> float:
    if rng.random() < 0.5:
        return float(sum(data) + rng.laplace())
    return float(sum(data) + np.random.default_rng().laplace())


def test_randomness_that_is_not_the_generators_refutes_nothing() -> None:
    found = audited(of_two_generators)
    assert found.verdict is Verdict.PASS
    assert record(found, SEEDED).holds is False
    found = audited(of_the_system)
    assert found.verdict is Verdict.PASS
    assert record(found).holds is not False


def coin_of_the_system(data: Any, rng: Generator) -> bool:
    return bool(np.random.default_rng().random() < 0.5)


def missing_where_one_is(data: Any, rng: Generator) -> int:
    """As synthetic data of which none lacks a value unless a record does: the output is constant on one dataset."""
    return int(np.random.default_rng().binomial(20, 0.5)) if sum(data) else 0


def kept_number_of_the_system(data: Any, rng: Generator) -> int:
    return _NUMBERS.setdefault(tuple(data), int(np.random.default_rng().integers(1 << 20)))


_NUMBERS: dict[Any, int] = {}


@pytest.mark.parametrize("f", [coin_of_the_system, missing_where_one_is])
@pytest.mark.parametrize("pair", [([0], [1]), ([1], [0])])
def test_own_randomness_with_few_values_is_no_influence(f: Any, pair: Any) -> None:
    """A fair coin comes the same way for all of twelve seeds, or sixteen times, with probability below 1e-3."""
    found = dpaudit.audit(f, epsilon=1.0, pair=pair, runs=200).audits[0]
    assert [one.holds for one in found.assumptions if one.name == INDEPENDENT] == [None]


def test_a_number_that_is_drawn_once_is_an_influence() -> None:
    """Two copies keep the same number with probability 2^−20."""
    found = dpaudit.audit(kept_number_of_the_system, epsilon=1.0, pair=([0], [1]), runs=200).audits[0]
    assert found.verdict is Verdict.INCONCLUSIVE


def ends_elsewhere(data: Any, rng: Generator) -> float:
    if os.environ.get(fresh_process.INSIDE):
        os._exit(0)
    return honest(data, rng)


def hangs_elsewhere(data: Any, rng: Generator) -> float:
    while os.environ.get(fresh_process.INSIDE):
        pass
    return honest(data, rng)


@pytest.mark.slow(fast=["hangs_elsewhere"])
@pytest.mark.parametrize("f", [ends_elsewhere, hangs_elsewhere])
def test_a_function_that_does_not_run_there_is_audited_all_the_same(
    f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, answers: list[Any]
) -> None:
    monkeypatch.setattr(fresh_process, "PATIENCE", 2)
    found = audited(f)
    assert found.verdict is Verdict.PASS
    assert record(found).holds is True
    assert answers.pop() is None
    # the next function gets a server that works
    monkeypatch.setattr(fresh_process, "PATIENCE", 30)
    audited(honest)
    assert answers.pop() is not None


@pytest.mark.slow
def test_audits_at_once_and_within_each_other_have_their_own_answers() -> None:
    def outer(data: Any, rng: Generator) -> float:
        if not inner:
            inner.append(audited(honest).verdict)
        return honest(data, rng)

    inner: list[Any] = []
    assert audited(outer).verdict is Verdict.PASS
    found: list[Any] = []
    several = [threading.Thread(target=lambda: found.append(audited(honest))) for _ in range(3)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    assert [one.verdict for one in found] == [Verdict.PASS] * 3


PROGRAM = """
import dpaudit
def f(data, rng):
    return len(data) + rng.laplace()
found = dpaudit.audit(f, epsilon=1.0, pair=([0, 1], [0]), relation="add-remove-one", runs=2000, progress=False)
print(found.verdict, [one.text for one in found.audit.assumptions if one.name == "independent"])
import dpaudit.subjects.fresh_process as fresh
print(fresh._server[0].process.pid, flush=True)
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_the_server_ends_with_the_process_that_audits(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    ended = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False, timeout=120)
    verdict, number = ended.stdout.splitlines()
    assert verdict.startswith("pass")
    for _ in range(100):
        if not _runs(int(number)):
            return
        time.sleep(0.1)
    raise AssertionError("the server outlived its process")


def _runs(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_files_of_other_folders_do_not_stand_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, scale in (("first", 0.001), ("second", 1)):
        (tmp_path / name).mkdir()
        text = f"def f(data, rng):\n    return sum(data) + rng.laplace() * {scale}\n"
        (tmp_path / name / "same_name.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    load_object(f"{tmp_path / 'first' / 'same_name.py'}:f")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "second"), *(one for one in sys.path if "first" not in one)])
    f, _ = load_object("same_name:f")
    found = audited(f)
    assert found.verdict is Verdict.PASS
