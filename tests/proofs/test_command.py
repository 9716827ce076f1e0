"""`dpaudit prove` on the command line: outcomes, exit codes, files and wrong uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpaudit.cli.commands import app
from dpaudit.errors import DpauditError

PROGRAMS = '''
import numpy as np

def total(data, rng):
    return np.clip(data, 0, 1).sum() + rng.laplace(0, 1)

def half(data, rng):
    return np.clip(data, 0, 1).sum() + rng.laplace(0, 0.5)

def average(data, rng):
    return data.sum() / (1 + data[0]) + rng.laplace(0, 1)

def word(data, rng):
    return sum(v == "a" for v in data) + rng.laplace(0, 1)

NUMBER = 3
'''


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    file = tmp_path / "programs_to_prove.py"
    file.write_text(PROGRAMS, encoding="utf-8")
    return file


def run(*words: object) -> tuple[int, str]:
    """The exit code and what is printed; a mistake of the user is exit code 2."""
    result = CliRunner().invoke(app, ["prove", *map(str, words)])
    if isinstance(result.exception, DpauditError):
        return result.exception.exit_code, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


SUM = ("--epsilon", 1, "--records", 5, "--between", 0, 1)


def test_a_proof_and_its_certificate(programs: Path, tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    code, text = run(f"{programs}:total", *SUM, "--certificate", file)
    assert code == 0
    assert text.startswith("PROVED · total is ε-DP with ε = 1, claimed 1")
    code, text = run("--check", file)
    assert code == 0
    assert text.startswith("RIGHT")
    certificate = json.loads(file.read_text(encoding="utf-8"))
    certificate["paths"][0]["shifts"] = [["0"] for _ in certificate["paths"][0]["shifts"]]
    file.write_text(json.dumps(certificate), encoding="utf-8")
    code, text = run("--check", file)
    assert code == 1
    assert "output" in text


def test_a_refutation(programs: Path) -> None:
    code, text = run(f"{programs}:half", *SUM)
    assert code == 1
    assert text.startswith("REFUTED · half is not ε-DP")


def test_what_cannot_be_followed(programs: Path) -> None:
    code, text = run(f"{programs}:average", *SUM, "--no-refute")
    assert code == 3
    assert "programs_to_prove.py:11" in text


def test_json(programs: Path) -> None:
    code, text = run(f"{programs}:word", "--epsilon", 1, "--records", 3, "--domain", "a,b", "--json")
    assert code == 0
    values = json.loads(text)
    assert (values["verdict"], values["epsilon"]) == ("proved", "1")


def test_the_scope_of_an_algorithm_is_that_of_its_claim() -> None:
    code, text = run("SVT1", "--quiet")
    assert code == 0
    assert text.startswith("PROVED · SVT1")


@pytest.mark.parametrize(
    ("words", "about"),
    [
        ((), "Give an algorithm or a function"),
        (("{file}:total",), "Say for which datasets"),
        (("{file}:total", "--stream"), "Give the ε to prove"),
        (("{file}:total", "--epsilon", 1, "--records", 5), "--records needs --between"),
        (("{file}:total", "--epsilon", 1, "--between", 0, 1), "need --records"),
        (("{file}:total", "--epsilon", 1, "--records", 5, "--between", 1, 0), "low must be below high"),
        (("{file}:total", "--epsilon", 1, "--answers", 3, "--stream"), "Give one of"),
        (("{file}:total", "--epsilon", 1, "--one", "--stream"), "--one and --whole need --answers"),
        (("{file}:total", "--epsilon", -1, "--stream"), "epsilon must be above 0"),
        (("{file}:total", "--epsilon", 1, "--answers", 0), "k must be a whole number"),
        (("{file}:total", "--epsilon", 1, "--stream", "--relation", "replace-one"), "--relation needs --records"),
        (("{file}:total", "--epsilon", 1, "--records", 2, "--domain", "a,a"), "distinct"),
        (("{file}:NUMBER", "--epsilon", 1, "--stream"), "is no function"),
        (("{file}:nothing", "--epsilon", 1, "--stream"), "nothing"),
        (("NoSuchAlgorithm",), "NoSuchAlgorithm"),
        (("--check", "{folder}/nothing.json"), "cannot be read"),
        (("--check", "{file}"), "is no JSON file"),
        (("{file}:total", "--check", "{file}"), "not both"),
    ],
)  # fmt: skip
def test_wrong_uses(programs: Path, tmp_path: Path, words: tuple[object, ...], about: str) -> None:
    code, text = run(*(str(word).format(file=programs, folder=tmp_path) for word in words))
    assert code == 2
    assert about in text
    assert "Traceback" not in text
