"""What a function states of itself (`claim`, `source`, `notes`, `reproducible`, `portable`), and how it is reported."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

import dpaudit
from dpaudit.cli.commands import main
from dpaudit.errors import UsageError
from dpaudit.language import ADD_REMOVE_ONE, REPLACE_ONE, Claim
from dpaudit.results.model import Verdict
from dpaudit.subjects.adapters import Adapted, adapted
from dpaudit.subjects.adapters import diffprivlib as diffprivlib_adapter
from dpaudit.subjects.adapters import opendp as opendp_adapter
from dpaudit.subjects.adapters import pipeline_dp as pipeline_dp_adapter
from dpaudit.subjects.adapters import pydp as pydp_adapter

PAIR = ([0], [1])


def noisy(dataset: list[float], rng: Generator, size: int) -> Any:
    return sum(dataset) + rng.laplace(0, 1, size)


def stating(**attributes: Any) -> Any:
    """A function with attributes."""

    def function(dataset: list[float], rng: Generator, size: int) -> Any:
        return noisy(dataset, rng, size)

    for name, value in attributes.items():
        setattr(function, name, value)
    return function


@pytest.mark.slow
def test_claim_is_the_functions_own() -> None:
    f = stating(claim=Claim(1.5, 0.0, ADD_REMOVE_ONE), source="a manual, page 3", notes=["Made for a test."])
    (audit,) = dpaudit.audit(f, pair=([], [1]), runs=50).audits
    assert (audit.claim.epsilon, audit.claim.relation) == (1.5, "add-remove-one")
    assert audit.source == "a manual, page 3"
    assert audit.notes[-1].sentence == "Made for a test."


@pytest.mark.slow
def test_stated_claim_serves_every_function_of_the_interface() -> None:
    """True: it fails with probability at most 1e-6. At a fifth of it: seeded, so that it fails every time."""
    f = stating(claim=Claim(1.0, 0.0, ADD_REMOVE_ONE))
    assert dpaudit.assert_private(f, pair=([], [1]), runs=2_000, alpha=1e-6).audits[0].claim.epsilon == 1.0
    f.claim = Claim(0.2, 0.0, ADD_REMOVE_ONE)
    with pytest.raises(dpaudit.PrivacyViolation):
        dpaudit.assert_private(f, pair=([], [1]), runs=4_000)


@pytest.mark.slow
def test_given_numbers_go_before() -> None:
    f = stating(claim=Claim(1.5, 0.0, ADD_REMOVE_ONE))
    (audit,) = dpaudit.audit(f, epsilon=0.5, pair=([], [1]), runs=50).audits
    assert (audit.claim.epsilon, audit.claim.relation) == (0.5, "add-remove-one")


def test_without_claim_it_is_asked_for() -> None:
    with pytest.raises(UsageError, match="What does function claim"):
        dpaudit.audit(stating(), pair=PAIR, runs=50)


def test_claim_of_another_type_is_refused() -> None:
    with pytest.raises(UsageError, match=r"function\.claim is a float; make it a Claim"):
        dpaudit.audit(stating(claim=1.0), pair=PAIR, runs=50)


@pytest.mark.slow
def test_own_randomness_is_said() -> None:
    (audit,) = dpaudit.audit(stating(claim=Claim(1.0)), pair=PAIR, runs=50).audits
    assert "own_randomness" not in [note.code for note in audit.notes]
    (audit,) = dpaudit.audit(stating(claim=Claim(1.0), reproducible=False), pair=PAIR, runs=50).audits
    assert audit.notes[-1].code == "own_randomness"


def test_what_cannot_be_sent_stays_here() -> None:
    """A generator does not pickle; with worker processes wanted, runs that take long stay in this one."""
    endless = (one for one in range(10**9))

    def slow(dataset: list[float], rng: Generator) -> float:
        next(endless)
        return float(sum(dataset) + rng.laplace(0, 1))

    setattr(slow, "portable", False)  # noqa: B010  # mypy knows no attribute of a function
    target = dpaudit.subjects.target.function_target(slow, "slow", "here")
    runner = dpaudit.subjects.runner.Runner(2)
    runner.pace["slow"] = 100.0
    units = [dpaudit.subjects.target.Unit([0], 3, dpaudit.subjects.target.SeedSequence(i)) for i in range(3)]
    assert [outputs.runs for outputs in runner.run(target, units, 9)] == [3, 3, 3]


OWN = """
import random
from dpaudit.language import Claim

def f(dataset, rng):
    return dataset[0] + random.SystemRandom().{draw}

f.claim = Claim(1.0)
f.reproducible = False
"""


@pytest.mark.parametrize(
    ("before", "after", "code", "sentence"),
    [
        ("random()", "random()", 1, "Not reproduced: f draws its randomness itself, so the numbers differ; the "
         "verdict is fail again."),
        ("random()", "gauss(0, 1000)", 4, "NOT reproduced: the verdict was fail and is pass; f draws its randomness "
         "itself, so no two audits have the same samples."),
    ],
)  # fmt: skip
def test_replay_compares_the_verdict(
    before: str, after: str, code: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Uniform noise of width 1 is refuted for certain; Gaussian noise of deviation 1000 with probability ≤ 0.001."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPAUDIT_STORE", str(tmp_path / "store"))
    Path("own.py").write_text(OWN.format(draw=before), encoding="utf-8")
    monkeypatch.setattr(
        sys, "argv", ["dpaudit", "check", "own.py:f", "--pair", "[0]", "[1]", "--runs", "400", "--min-power", "inf"]
    )
    with pytest.raises(SystemExit):
        main()
    identifier = capsys.readouterr().out.partition("dpaudit replay ")[2].split()[0]
    Path("own.py").write_text(OWN.format(draw=after), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["dpaudit", "replay", identifier, "--jobs", "1"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert capsys.readouterr().err.strip().endswith(sentence)


def test_other_objects_are_left_alone() -> None:
    f = stating(claim=Claim(1.0))
    for target in (f, "my.py:f", lambda dataset, rng: 0, Claim, 3, None):
        assert adapted(target) is target
    # a module of this name is python-dp's only where python-dp is imported
    f.__module__ = "_algorithms"
    assert adapted(f) is f


@pytest.mark.parametrize(
    ("wrap", "module", "sentence"),
    [
        (opendp_adapter.wrap, "opendp", r"OpenDP is not installed; pip install 'opendp>=0\.14'\."),
        (diffprivlib_adapter.wrap, "diffprivlib", r"diffprivlib is not installed; pip install .diffprivlib"),
        (pydp_adapter.wrap, "pydp", r"python-dp is not installed; pip install 'python-dp>=1\.1\.5'\."),
        (pipeline_dp_adapter.wrap, "pipeline_dp", "pipeline-dp is not installed; pip install "),
    ],
)
def test_missing_library_is_one_sentence(
    wrap: Any, module: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=sentence):
        wrap(object())


def test_how_an_output_is_counted_does_not_depend_on_the_others() -> None:
    """A unit of floats alone, and one with a text in it."""

    def draw(dataset: Any, rng: Any, size: int) -> list[Any]:
        return [rng.laplace() if rng.random() > dataset[0] / 40 else "stopped" for _ in range(size)]

    one = Adapted("it", Claim(0.0, 0.05, REPLACE_ONE), "a source", draw)
    assert dpaudit.audit(one, pair=([0], [1]), runs=2_000, progress=False).verdict is Verdict.PASS


@pytest.mark.slow
def test_types_and_orders_are_those_of_the_library() -> None:
    def of(made: Any) -> Verdict:
        one = Adapted("it", Claim(0.5, 0.0, REPLACE_ONE), "a source", lambda dataset, rng, size: [
            made(dataset[0], float(rng.laplace())) for _ in range(size)
        ])
        return dpaudit.audit(one, pair=([0], [1]), runs=2_000, progress=False).verdict

    assert of(lambda bit, x: (x, 1.0)) is Verdict.PASS
    assert of(lambda bit, x: np.float64(x) if bit else x) is Verdict.INCONCLUSIVE
    assert of(lambda bit, x: {"a": x, "b": 1} if bit else {"b": 1, "a": x}) is Verdict.FAIL


def test_adapted_is_a_function_with_a_name() -> None:
    one = Adapted("it", Claim(1.0, 0.0, REPLACE_ONE), "a source", lambda dataset, rng, size: [0.5] * size)
    assert one.__name__ == "it"
    assert Adapted.__name__ != "it"
    (audit,) = dpaudit.audit(one, pair=PAIR, runs=50).audits
    assert (audit.name, audit.source, str(audit.verdict)) == ("it", "a source", "inconclusive")
