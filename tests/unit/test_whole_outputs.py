"""What a user sees of real runs, whole: the terminal's text, the text of the HTML report, and the data in it.

Numbers are compared to seven digits: the last ones of a double may depend on the machine.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import example_results
import pytest

from dpaudit.cli import commands
from dpaudit.report.html import embedded_json, to_html

Snapshot = Callable[[str, str], None]

OWN = """\
def noisy_count(data, rng, size):
    return sum(data) + rng.laplace(0, 1 / 2, size)


def answers(data, rng, size):
    return (rng.random(size) < 0.25 + 0.5 * data[0]).tolist()
"""
RUNS = {
    "check_refuted": "check my.py:noisy_count --epsilon 1 --pair '[0,1,1]' '[0,1,0]' --runs 3000",
    "check_found": "check my.py:noisy_count --epsilon 1 --data 'integers(0, 1)' --size 3 --runs 3000",
    "check_kept": "check my.py:answers --epsilon 1.1 --pair '[0]' '[1]' --runs 3000",
    "check_catalogue": "check LaplaceMechanismRounded --runs 500",
    "verify": "verify LaplaceMechanismRounded --domain 3 --size 2",
    "worst": "worst ADist --domain 2 --size 12 --param delta=1e-3",
}
VERSIONS = r"(?m)^(?:\| )?(?:dpaudit|numpy|platform|python|python-flint|scikit-learn|scipy) \| .*\n|^Started .*\n"
"""What differs from machine to machine and from day to day."""


class _Reader(HTMLParser):
    """The text of a page by its blocks, and the data that it holds."""

    SKIPPED = ("style", "script", "title")
    BLOCKS = (
        "p", "h1", "h2", "h3", "h4", "tr", "li", "dt", "dd", "figcaption", "caption", "summary", "pre", "div", "desc",
    )

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self._inside: list[str] = []
        self._skipping = 0
        self.words: list[str] = []
        self.data = embedded_json(page)
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipping += tag in self.SKIPPED
        if tag in self.BLOCKS:
            self.words.append("\n")
        if tag in ("td", "th"):
            self.words.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        self._skipping -= tag in self.SKIPPED
        if tag in self.BLOCKS:
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self.words.append(data)

    @property
    def text(self) -> str:
        """A line for each block that has text."""
        lines = (" ".join(line.split()) for line in "".join(self.words).split("\n"))
        return "\n".join(line for line in lines if line.strip(" |")) + "\n"


def rounded(value: Any) -> Any:
    """The same with numbers of seven digits, and 0 for those below 1e-12."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    # what is left of differences of equal sums is the machine's too
    return (float(f"{value:.7g}") if abs(value) > 1e-12 else 0.0) if isinstance(value, float) else value


def shown(data: Any) -> str:
    """As JSON of one number or key a line; versions and the place of a text are the machine's."""
    audits = [{**one, "location": None} for one in data["audits"]]
    text = json.dumps(rounded({**data, "environment": {}, "audits": audits}), ensure_ascii=False, indent=1)
    # rows of numbers take a line
    return re.sub(r"\[\s+((?:-?[\d.e+-]+,?\s+)+)\]", lambda row: f"[{' '.join(row[1].split())}]", text) + "\n"


def settled(text: str) -> str:
    """Without what changes with the machine, the day and the format of JSON."""
    text = re.sub(r'(dpaudit replay |"replay": ")\w+', r"\1ID", re.sub(VERSIONS, "", text))
    # what evidence is about depends on the versions of libraries and of dpaudit itself
    text = re.sub(r'(evidence (?:about|key) \| |"key": ")[0-9a-f]{16}', r"\1KEY", text)
    return re.sub(r"\b[\d.]+e-1[5-9]\b", "(rounding)", text)


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """Runs `dpaudit …` in a folder with my.py, and gives what it prints."""
    (tmp_path / "my.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def ran(command: str) -> str:
        monkeypatch.setattr(sys, "argv", ["dpaudit", *shlex.split(command)])
        with pytest.raises(SystemExit):
            commands.main()
        out, err = capfd.readouterr()
        assert err == ""
        return "\n".join(line.rstrip() for line in out.splitlines()) + "\n"

    return ran


@pytest.mark.slow(fast=["check_refuted", "verify", "worst"])
@pytest.mark.parametrize("name", RUNS)
def test_real_runs(name: str, run: Callable[[str], str], snapshot: Snapshot) -> None:
    printed = run(f"{RUNS[name]} --html out.html")
    page = _Reader(Path("out.html").read_text(encoding="utf-8"))
    snapshot(f"whole_{name}.txt", settled(printed))
    snapshot(f"whole_{name}_html.txt", settled(page.text))
    snapshot(f"whole_{name}_html.json", settled(shown(json.loads(page.data))))


@pytest.mark.parametrize("name", ["infinite", "utility"])
def test_examples(name: str, snapshot: Snapshot) -> None:
    page = _Reader(to_html(example_results.every()[name]))
    snapshot(f"whole_{name}_html.txt", page.text)
    snapshot(f"whole_{name}_html.json", json.dumps(json.loads(page.data), ensure_ascii=False, indent=1) + "\n")
