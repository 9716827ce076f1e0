"""`read=`: outputs are turned into what is tested, and what goes wrong there is the reader's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, default_rng

import dpaudit
from dpaudit.engine import orchestrator
from dpaudit.errors import OutputError, UsageError
from dpaudit.language import Claim
from dpaudit.plans.request import Request
from dpaudit.results.json_form import from_json, to_json
from dpaudit.results.model import Verdict
from dpaudit.subjects.adapters import Adapted
from dpaudit.subjects.code_key import code_key
from dpaudit.subjects.read import reading

PAIR = ([0, 1], [1, 1])


class Model:
    def __init__(self, coefficient: float) -> None:
        self.coefficient = coefficient


def fit(dataset: list[int], rng: Generator) -> Model:
    return Model(sum(dataset) + rng.laplace(0, 0.5))


def fits(dataset: list[int], rng: Generator, size: int) -> list[Model]:
    return [Model(value) for value in sum(dataset) + rng.laplace(0, 0.5, size)]


def coefficient(model: Model) -> float:
    return model.coefficient


@pytest.mark.parametrize("f", [fit, fits])
def test_what_is_read_is_tested(f: Callable[..., object]) -> None:
    # ε is 2: missed with a probability far below 1e-6
    result = dpaudit.audit(f, 1.0, pair=PAIR, read=coefficient, runs=3_000)
    assert result.verdict is Verdict.FAIL
    assert result.audit.name == f.__name__
    assert result.audit.location is not None
    assert result.audit.location.name.endswith(f.__name__)
    assert "read=coefficient" in result.command
    (note,) = [note for note in result.audit.notes if note.code == "read_by"]
    assert note.values == {"reader": "coefficient"}
    assert from_json(to_json(result), where="text").audits == result.audits


def test_a_claim_that_holds_is_not_refuted() -> None:
    # alpha 0.001, fixed seed
    assert dpaudit.audit(fits, 2.0, pair=PAIR, read=coefficient, runs=5_000).verdict is not Verdict.FAIL


def test_as_if_the_function_returned_it() -> None:
    def direct(dataset: list[int], rng: Generator, size: int) -> Any:
        return list(sum(dataset) + rng.laplace(0, 0.5, size))

    direct.__name__ = "fits"
    read = dpaudit.audit(fits, 1.0, pair=PAIR, read=coefficient, runs=3_000)
    plain = dpaudit.audit(direct, 1.0, pair=PAIR, runs=3_000)
    assert read.epsilon_lower == plain.epsilon_lower
    assert read.audit.replay != plain.audit.replay


def test_a_function_of_several_kinds_of_output() -> None:
    def frame(dataset: list[int], rng: Generator, size: int) -> Any:
        pd = pytest.importorskip("pandas")
        return pd.DataFrame({"a": sum(dataset) + rng.laplace(0, 0.5, size), "b": "x"})

    made = reading(frame, lambda row: row["a"] > 0, "frame")([1, 1], default_rng(0), 4)
    assert isinstance(made, list)
    assert len(made) == 4
    array = reading(lambda dataset, rng, size: np.zeros((size, 2)), lambda row: row.sum(), "f")([0], default_rng(0), 3)
    assert array == [0.0, 0.0, 0.0]


def test_what_a_function_states_stays() -> None:
    def stating(dataset: list[int], rng: Generator) -> Model:
        return fit(dataset, rng)

    stating.claim = Claim(1.0)  # type: ignore[attr-defined]  # as docs say how a function states its claim
    result = dpaudit.audit(stating, pair=PAIR, read=coefficient, runs=3_000)
    assert result.verdict is Verdict.FAIL


def test_an_adapter_is_read() -> None:
    adapter = Adapted("fit of a library", Claim(1.0), "lib 1.0", fits)  # type: ignore[arg-type]  # as adapters draw
    result = dpaudit.audit(adapter, pair=PAIR, read=coefficient, runs=3_000)
    assert result.verdict is Verdict.FAIL
    assert result.audit.source == "lib 1.0"


@pytest.mark.parametrize("f", [fit, fits])
def test_an_error_of_the_reader_is_the_readers(f: Callable[..., object]) -> None:
    def weights(model: Any) -> float:
        return float(model.weights)

    result = dpaudit.audit(f, 1.0, pair=PAIR, read=weights, runs=500)
    assert result.exit_code == 4
    assert "read weights raised AttributeError" in result.reason
    assert f"on an output of {f.__name__}, which is of type Model" in result.reason
    with pytest.raises(OutputError, match="--read weights raised"):
        reading(f, weights, "f")([0], default_rng(0), *([1] if f is fits else []))


@pytest.mark.parametrize(
    ("read", "sentence"),
    [
        (lambda: 0, "read a lambda must take one argument, an output"),
        (3, "give a function of one output"),
        ("nowhere.py:coefficient", "There is no file nowhere.py"),
    ],
)
def test_readers_that_cannot_be(read: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        dpaudit.audit(fit, 1.0, pair=PAIR, read=read)


def test_mechanisms_are_not_read() -> None:
    with pytest.raises(UsageError, match="read is for functions of your own, and ADist"):
        dpaudit.audit("ADist", read=coefficient)


def test_replays_read_again(tmp_path: Path) -> None:
    file = tmp_path / "models.py"
    file.write_text(
        "def fit(dataset, rng):\n    return lambda: sum(dataset) + rng.laplace(0, 0.5)\n\n\n"
        "def called(model):\n    return model()\n"
    )
    request = Request(
        targets=(f"{file}:fit",), read=f"{file}:called", epsilon=1.0, pair=((0, 1), (1, 1)), runs=2_000
    )
    again = Request.from_json(request.to_json())
    assert again == request
    first, second = (orchestrator.run(one).audits[0] for one in (request, again))
    assert first == second
    assert first.verdict is Verdict.FAIL
    assert replace(request, read=None).image() != request.image()
    with pytest.raises(UsageError, match="cannot be serialised"):
        replace(request, read=coefficient).to_json()


def test_the_key_of_evidence_depends_on_the_reader() -> None:
    one, other = (reading(fit, read, "fit") for read in (coefficient, lambda model: -model.coefficient))
    assert code_key(one) == code_key(reading(fit, coefficient, "fit"))
    assert code_key(one) != code_key(other)
