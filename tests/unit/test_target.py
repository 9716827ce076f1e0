"""Targets: signatures, outputs in every form, and loading what a user names."""

from __future__ import annotations

import functools
import itertools
import pickle
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_toys import Breaks, Response
from numpy.random import Generator, SeedSequence

from dpaudit.errors import DatasetError, MechanismError, OutputError, ParameterError, UsageError
from dpaudit.interpret import Outputs, merged
from dpaudit.language import BOTTOM, Mechanism
from dpaudit.outputs.canonical import Raised
from dpaudit.subjects import by_value, user_errors
from dpaudit.subjects.target import MechanismTarget, blocks, function_target, instantiate, load_object, with_parameters

SEED = SeedSequence(5)


def runs(function: Callable[..., Any], size: int = 50, dataset: Any = (0, 1)) -> Outputs:
    return function_target(function, "it", "here").runs(dataset, size, SEED)


# --- signatures -------------------------------------------------------------------------------------------------


def _more(dataset: Any, rng: Generator, scale: float = 1.0) -> int:
    return 0


def _named(dataset: Any, rng: Generator, *, scale: float = 1.0) -> int:
    return 0


@pytest.mark.parametrize(
    ("function", "vectorised"),
    [
        (lambda dataset, rng: 0, False),
        (lambda d, r: 0, False),
        (lambda d, r, size: [0] * size, True),
        (lambda d, r, size=1: [0] * size, True),
        (lambda *everything: 0, False),
        (_more, False),
        (_named, False),
        (functools.partial(_more, scale=2.0), False),
    ],
)
def test_forms(function: Any, vectorised: bool) -> None:
    target = function_target(function, "it", "here")
    assert target.vectorised is vectorised
    assert target.block == (100_000 if vectorised else 10)
    assert target.runs((0,), 7, SEED).counts == {0: 7}


@pytest.mark.parametrize(
    ("subject", "block"),
    [(lambda data, rng: rng.normal(), 10), (lambda data, rng, size: rng.normal(size=size), 7),
     (lambda data, rng: int(rng.integers(5)), 10), (lambda data, rng, size: rng.integers(5, size=size), 7),
     (lambda data, rng: rng.spawn(1)[0].normal(), 10), (Response(), 7)],
    ids=["reals", "reals at once", "counts", "counts at once", "spawned", "mechanism"],
)
def test_outputs_do_not_depend_on_which_are_made_together(
    subject: Any, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpaudit.subjects.target.LARGE_BLOCK", 7)
    monkeypatch.setattr(MechanismTarget, "block", 7)
    mechanism = isinstance(subject, Mechanism)
    target = MechanismTarget("it", "here", subject) if mechanism else function_target(subject, "it", "here")
    assert target.block == block
    seed = SeedSequence([3, 1, 4])
    whole = target.runs((0, 1), 95, seed)
    assert whole.runs == 95
    for cuts in ([9], [1, 2], [3, 4, 5]):
        ends = [0, *(block * cut for cut in cuts), 95]
        parts = [target.runs((0, 1), end - begin, seed, begin) for begin, end in itertools.pairwise(ends)]
        together = merged(parts)
        assert list(together.each()) == list(whole.each())
        if whole.first is not None:
            assert together.first is not None
            assert list(together.first.each()) == list(whole.first.each())
    reals = [value for block in whole.blocks for value in block.tolist()]
    assert len(reals) == len(set(reals)), "each block has a stream of its own"


def test_blocks_have_seeds_of_their_own() -> None:
    seeds = [seed for _, seed in blocks(1_000, SeedSequence([1, 2]), 0, 10)]
    assert [size for size, _ in blocks(25, SeedSequence(7), 10, 10)] == [10, 10, 5]
    assert len({tuple(seed.generate_state(4)) for seed in seeds}) == 100
    spawned = {tuple(seed.generate_state(4)) for seed in SeedSequence([1, 2]).spawn(200)}
    assert not spawned & {tuple(seed.generate_state(4)) for seed in seeds}, "nor those that a program spawns"


class Callable3:
    def __call__(self, dataset: Any, rng: Generator, size: int) -> Any:
        return np.zeros(size)


def test_a_callable_object() -> None:
    assert function_target(Callable3(), "it", "here").vectorised


@pytest.mark.parametrize(
    "function",
    [lambda: 0, lambda d: 0, lambda a, b, c: 0, lambda a, b, c, d: 0, dict, lambda d, rng, size, more: 0],
)
def test_other_signatures(function: Any) -> None:
    with pytest.raises(UsageError, match=r"f\(dataset, rng\)"):
        function_target(function, "it", "here")


# --- outputs ----------------------------------------------------------------------------------------------------


def test_discrete_outputs_are_counted() -> None:
    found = runs(lambda d, rng: [BOTTOM, "a", 3, None, (1, "x"), True][int(rng.integers(6))], 600)
    assert found.runs == 600
    assert set(found.counts) <= {BOTTOM, "a", 3, None, (1, "x"), True}
    assert len(found.reals) == 0


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda d, rng: float(rng.random()), (50,)),
        (lambda d, rng: rng.random(), (50,)),
        (lambda d, rng: np.float32(rng.random()), (50,)),
        (lambda d, rng: np.array(rng.random()), (50,)),
        (lambda d, rng: rng.random(3), (50, 3)),
        (lambda d, rng: rng.random((2, 3)), (50, 2, 3)),
        (lambda d, rng: [rng.random(), 1.0], (50, 2)),
        (lambda d, rng: (float(rng.random()), np.float64(2)), (50, 2)),
        (lambda d, rng, size: rng.random(size), (50,)),
        (lambda d, rng, size: rng.random((size, 2)).tolist(), (50, 2)),
        (lambda d, rng, size: rng.random((size, 2, 2)), (50, 2, 2)),
        (lambda d, rng, size: tuple(rng.random(size)), (50,)),
    ],
)
def test_reals_of_every_form(function: Any, shape: tuple[int, ...]) -> None:
    found = runs(function)
    assert found.counts == {}
    assert found.reals.shape == shape


@pytest.mark.parametrize("output", [(1, 2), [1, 2], ("a", True), [], ()])
def test_tuples_without_reals_are_counted(output: Any) -> None:
    found = runs(lambda d, rng: output)
    assert found.counts == {tuple(output): 50}
    assert found.runs == 50


@pytest.mark.parametrize("output", [(True, 0.5), ("a", 0.5), (0.5, None), [0.5, "a"], (1, (0.5,)), [0.5, 1]])
def test_tuples_that_hold_reals_and_are_no_vectors_are_kept_one_by_one(output: Any) -> None:
    found = runs(lambda d, rng: output)
    assert found.counts == {}
    assert len(found.reals) == 0
    assert found.others == (tuple(output),) * 50


def test_the_input_is_fresh_for_every_run_and_never_the_pair_itself() -> None:
    given = [1, 2, 3]

    def greedy(dataset: list[int], rng: Generator) -> int:
        dataset.append(0)
        return len(dataset)

    assert runs(greedy, dataset=given).counts == {4: 50}
    assert given == [1, 2, 3]


def test_same_seed_same_outputs() -> None:
    def noisy(dataset: Any, rng: Generator) -> float:
        return float(rng.normal())

    assert np.array_equal(runs(noisy).reals, runs(noisy).reals)
    other = function_target(noisy, "it", "here").runs((0,), 50, SeedSequence(6))
    assert not np.array_equal(runs(noisy).reals, other.reals)


def test_printing_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    runs(lambda d, rng: print("noise"), 2)
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "noise\nnoise\n")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda d, rng, size: [0] * (size + 1), "asked for 50 outputs and returned 51"),
        (lambda d, rng, size: np.zeros(0), "returned 0"),
        (lambda d, rng, size: {i: i for i in range(size)}, "returned one dict"),
        (lambda d, rng, size: set(range(size)), "returned one set"),
        (lambda d, rng, size: "x" * size, "returned one str"),
        (lambda d, rng, size: (0 for _ in range(size)), "returned one generator"),
        (lambda d, rng, size: None, "returned one NoneType"),
        (lambda d, rng: lambda: 0, "function"),
    ],
)
def test_outputs_that_cannot_be_counted(function: Any, says: str) -> None:
    with pytest.raises(OutputError, match=says):
        runs(function)


# --- blame ------------------------------------------------------------------------------------------------------


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (SystemExit(3), r"^it called sys\.exit\(3\)"),
        (GeneratorExit(), r"^it raised GeneratorExit\.$"),
        (MemoryError(), r"^it raised MemoryError\.$"),
    ],
)
def test_blame(error: BaseException, says: str) -> None:
    with pytest.raises(MechanismError, match=says) as caught:
        runs(lambda d, rng: _raise(error))
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    ("error", "where"),
    [
        (
            ValueError("a\n  b"),
            r"^ValueError: a b \(test_target.py, line \d+, in _raise: `raise error`; called at test_target.py, ",
        ),
        (ValueError(), r"^ValueError \(test_target"),
        (Mute(), r"^Mute \(test_target"),
        (ValueError("x" * 999), "^ValueError: x+… "),
        (RecursionError("deep"), r"^RecursionError: deep \(test_target"),
        (TimeoutError("mine"), r"^TimeoutError: mine \(test_target"),
    ],
)
def test_a_failure_is_an_outcome(error: Exception, where: str) -> None:
    [(outcome, times)] = runs(lambda d, rng: _raise(error)).counts.items()
    assert (outcome, times) == (Raised(type(error).__name__), 50)
    assert re.search(where, outcome.where)  # type: ignore[attr-defined]
    assert repr(outcome) == f"raises {type(error).__name__}"


def test_buffers_are_copied() -> None:
    """The function may use the same array or list for its next output."""
    buffer, held = np.zeros(2), [0.0]

    def array(dataset: Any, rng: Generator) -> Any:
        buffer[:] = rng.random(2)
        return buffer

    def listed(dataset: Any, rng: Generator) -> Any:
        held[0] = float(rng.random())
        return held

    def many(dataset: Any, rng: Generator, size: int) -> Any:
        return shared[:size]

    shared = np.arange(60.0)
    for function in (array, listed):
        assert len(np.unique(runs(function).reals[:, 0])) == 50
    drawn = runs(many)
    shared[:] = 0
    assert drawn.reals.tolist() == list(range(50))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), user_errors.StopNow(), DatasetError("no.")])
def test_nobody_is_blamed_for(error: BaseException) -> None:
    with pytest.raises(type(error)):
        runs(lambda d, rng: _raise(error))


def test_exceptions_of_mechanisms_are_outcomes_too() -> None:
    ((outcome, times),) = MechanismTarget("Breaks", "here", Breaks()).runs((1,), 5, SEED).counts.items()
    assert (outcome, times) == (Raised("RuntimeError"), 5)
    assert isinstance(outcome, Raised)
    assert outcome.where.startswith("RuntimeError: no ones, please (")


def test_only_the_first_lines_that_a_function_prints_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def talks(dataset: Any, rng: Generator) -> int:
        print(f"the count is {len(dataset)}")
        return 0

    user_errors.show_first_lines_again()
    for _ in range(3):
        runs(talks)
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[:-1] == [f"the count is {2}"] * user_errors.PRINTED
    assert "prints from here on is not shown" in lines[-1]


# --- loading ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "beside_it.py").write_text("VALUE = 42\n")
    text = "from beside_it import VALUE\nprint('noise')\n"
    text += "class Space:\n    def f(d, rng): return VALUE\ndef g(d, rng): return 1\n"
    (tmp_path / "user_file.py").write_text(text)
    return tmp_path


def test_a_file_a_module_and_an_attribute(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, where = load_object("user_file.py:Space.f")
    assert (found(None, None), where) == (42, "user_file.py")
    found, where = load_object("user_file:g")
    assert (found(None, None), where) == (1, "user_file")
    assert load_object(f"{folder / 'user_file.py'}:g")[0](None, None) == 1
    assert capsys.readouterr().out == "", "what a file prints on import goes to stderr"


def test_two_files_of_one_name(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "same.py").write_text(f"NAME = '{name}'\ndef f(d, rng): return NAME\n")
    found = [load_object(f"{name}/same.py:f")[0] for name in ("a", "b")]
    assert [f(None, None) for f in found] == ["a", "b"]


def test_a_function_of_a_file_travels_by_value(folder: Path) -> None:
    found, _ = load_object("user_file.py:g")
    payload = by_value.dumps(function_target(found, "g", "here"))
    del sys.modules["_dpaudit_user_user_file"]
    assert pickle.loads(payload).runs((0,), 3, SEED).counts == {1: 3}


def test_code_that_travels_keeps_the_name_of_its_file() -> None:
    def outer() -> tuple[Callable[[], int], Callable[[], int]]:
        def inner() -> int:
            return 1

        return inner, lambda: 2

    for function in (outer, *pickle.loads(by_value.dumps(outer))()):
        assert pickle.loads(by_value.dumps(function)).__code__.co_filename == __file__


# --- parameters -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Needs(Response):
    weight: float | None = None

    def __post_init__(self) -> None:
        if self.weight is None:
            raise ValueError("a weight is needed")


class Plain(Mechanism):
    def __init__(self, size: int) -> None:
        self.size = size

    def run(self, dataset: Any) -> Any:
        return self.size


def test_parameters() -> None:
    assert with_parameters(Response(1.0), {"epsilon": 2.0}) == Response(2.0)
    assert instantiate(Response, {"epsilon": 2.0}) == Response(2.0)
    assert isinstance(instantiate(Plain, {"size": 3}), Plain)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: with_parameters(Response(), {"epsilo": 1}), "did you mean epsilon"),
        (lambda: with_parameters(Response(), {"epsilon": -1}), "above 0"),
        (lambda: with_parameters(Plain(1), {"size": 1}), "it has none"),
        (lambda: instantiate(Response, {"zzz": 1}), "it has epsilon, claimed"),
        (lambda: instantiate(Response, {"epsilon": -1}), "above 0"),
        (lambda: instantiate(Needs, {}), r"refuses \{\}: ValueError: a weight is needed\."),
        (lambda: with_parameters(Needs(weight=1.0), {"weight": None}), "a weight is needed"),
        (lambda: instantiate(Plain, {}), "missing 1 required positional argument: 'size'; give them with --param"),
        (lambda: instantiate(Mechanism, {}), "cannot be made"),  # type: ignore[type-abstract]
    ],
)
def test_parameters_refused(call: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        call()
