"""What README.md shows is what the program does."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.cli import commands

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def block(language: str, containing: str) -> str:
    """The one code block of a language that holds a text."""
    blocks = [b for b in re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL) if containing in b]
    assert len(blocks) == 1, f"README.md has {len(blocks)} {language} blocks with {containing!r}"
    return str(blocks[0])


@pytest.fixture
def own_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the README's my.py, as the working directory."""
    (tmp_path / "my.py").write_text(block("python", "# my.py"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_the_terminal_output_is_real(
    own_function: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    command = block("sh", "my.py:noisy_count").splitlines()[0]
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        commands.main()
    shown = [line.rstrip() for line in capfd.readouterr().out.strip().splitlines()]
    assert shown == block("text", "Reproduce with").rstrip().splitlines()
    assert ended.value.code == 1


def test_the_python_example_catches_it(own_function: Path) -> None:
    with pytest.raises(AssertionError, match=r"bound   ε ≥ 1\.\d+ at δ = 0 .*\(claim 1\.0\)"):
        exec(block("python", "import dpaudit"), {})


@pytest.mark.slow
def test_the_test_fails_with_the_pair_and_passes_when_fixed(tmp_path: Path) -> None:
    file, corrected = tmp_path / "test_counts.py", tmp_path / "test_corrected.py"
    text = block("python", "# test_counts.py")
    file.write_text(text, encoding="utf-8")
    corrected.write_text(text.replace("1 / 2", "1"), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly"]
    failed = subprocess.run([*words, file.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    shown = [line.rstrip() for line in failed.stdout.splitlines() if line.startswith("E ")]
    assert shown == block("text", "PrivacyViolation").rstrip().splitlines()
    # α = 0.001 is its chance of a false alarm, and the seed is fixed
    passed = subprocess.run([*words, corrected.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert passed.returncode == 0, passed.stdout


@pytest.mark.slow
def test_the_strategy_finds_the_pair_and_the_property_holds(tmp_path: Path) -> None:
    (tmp_path / "test_ages.py").write_text(block("python", "# test_ages.py"), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", "test_ages.py"]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed" in ran.stdout, ran.stdout
    # two datasets of one record each; where CI is set, pytest's summary repeats them
    sides = [line for line in ran.stdout.splitlines() if line.startswith("E ") and "]  (1 record)" in line]
    assert len(sides) == 2, ran.stdout
    assert "PrivacyViolation: noisy_ages" in ran.stdout
