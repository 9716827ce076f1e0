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


def test_a_page(programs: Path, tmp_path: Path) -> None:
    file = tmp_path / "proof.html"
    words = (f"{programs}:word", "--epsilon", 1.5, "--records", 3, "--domain", "a,b", "--relation", "add-remove-one")
    code, _ = run(*words, "--html", file)
    assert code == 0
    text = file.read_text(encoding="utf-8")
    assert f"<code>dpaudit prove {' '.join(map(str, words))}</code>" in text
    assert "PROVED" in text


def test_a_line_with_brackets_is_shown_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "brackets.py"
    source = "def f(data, rng):\n    red = 0\n    return data[red] * data[red] + rng.laplace()\n"
    file.write_text(source, encoding="utf-8")
    code, text = run(f"{file}:f", "--epsilon", 1, "--answers", 2, "--no-refute")
    assert code == 3
    assert "return data[red] * data[red] + rng.laplace()" in text


def test_parameters_of_an_algorithm(tmp_path: Path) -> None:
    code, text = run("SVT1", "--param", "epsilon=0.5", "--quiet")
    assert code == 0
    assert text == "PROVED · SVT1 is ε-DP with ε = 1/2 (0.5), claimed 1/2\n"
    file = tmp_path / "own_mechanism.py"
    file.write_text("from dpaudit_algorithms.corpus.sparse_vector import SVT1\n", encoding="utf-8")
    code, text = run(f"{file}:SVT1", "--param", "epsilon=2", "--quiet")
    assert code == 0
    assert text.startswith("PROVED · SVT1 is ε-DP with ε = 2")


def test_a_printed_result_can_be_checked(programs: Path, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    _, text = run(f"{programs}:total", *SUM, "--json", "-")
    file.write_text(text, encoding="utf-8")
    assert run("--check", file)[0] == 0
    values = json.loads(text)
    values["certificate"]["epsilon"] = "1/2"
    file.write_text(json.dumps(values), encoding="utf-8")
    code, text = run("--check", file)
    assert code == 1
    assert "more than ε = 1/2" in text


def test_nothing_is_written_where_nothing_is_proved(programs: Path, tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    assert run(f"{programs}:average", *SUM, "--no-refute", "--certificate", file)[0] == 3
    assert not file.exists()


def test_json(programs: Path) -> None:
    code, text = run(f"{programs}:word", "--epsilon", 1, "--records", 3, "--domain", "a,b", "--json", "-")
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
        (("{file}:total", "--epsilon", 1, "--one", "--stream"), "--one, --total and --whole need --answers"),
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
        (("--check", "{results}"), "is no certificate"),
        (("{file}:total", "--epsilon", "nan", "--stream"), "finite numbers"),
        (("{file}:total", "--epsilon", 1, "--answers", 2, "--by", "nan"), "by must be a number above 0"),
        (("{file}:total", "--epsilon", 1, "--records", 2, "--between", 0, "inf"), "finite numbers"),
        (("{file}:total", "--epsilon", 1, "--stream", "--param", "a=1"), "--param changes a parameter"),
        (("SVT1", "--param", "epsilom=1"), "did you mean epsilon"),
        (("SVT1", "--certificate", "{folder}/none/p.json"), "there is no folder"),
        (("SVT1", "--html", "{folder}/a", "--certificate", "{folder}/a"), "cannot both write"),
        (("{file}:total", "--html", "{file}"), "would overwrite"),
    ],
)  # fmt: skip
def test_wrong_uses(programs: Path, tmp_path: Path, words: tuple[object, ...], about: str) -> None:
    results = tmp_path / "results.json"
    results.write_text('{"verdict": "unknown"}', encoding="utf-8")
    code, text = run(*(str(word).format(file=programs, folder=tmp_path, results=results) for word in words))
    assert code == 2
    assert about in text
    assert "Traceback" not in text
