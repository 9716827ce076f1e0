"""The same seed gives the same bytes, whatever the number of workers; another seed gives other counts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typed_commands import Typed

from dpaudit.report.html import to_html
from dpaudit.results import json_form
from dpaudit.results.model import Timings

USER = '''
from dataclasses import dataclass
import numpy as np
from helper import shift
from dpaudit.language import BOTTOM, Bernoulli, Claim, Laplace, Mechanism

def slow(d, rng):
    return float(sum(d) + rng.laplace())

def fast(d, rng, size):
    return shift(rng.normal(size=(size, 3)), d)

@dataclass(frozen=True)
class Mixed(Mechanism):
    epsilon: float = 1.0
    @property
    def claim(self): return Claim(self.epsilon)
    def run(self, d):
        if (yield Laplace(float(sum(d)), 1 / self.epsilon) < 0.5):
            return BOTTOM
        return Laplace(float(sum(d)), 1 / self.epsilon)
'''


@pytest.fixture
def folder(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder."""
    (tmp_path / "u.py").write_text(USER)
    (tmp_path / "helper.py").write_text("def shift(x, d): return x + sum(d)\n")
    return tmp_path


def _without_timings(folder: Path) -> tuple[str, str]:
    """JSON and HTML of the last run with its timings blanked out, and nothing else."""
    text = (folder / "r.json").read_text()
    blank = re.sub(r'"timings": \{.*\n  \}', '"timings": {}', text, flags=re.DOTALL)
    assert blank != text
    result = json_form.from_json(text, where="r.json")
    object.__setattr__(result, "timings", Timings("then", 0.0, 0, dict.fromkeys(result.timings.audits, 0.0)))
    return blank, to_html(result)


@pytest.mark.slow(only=["fast *", "Mixed"])
@pytest.mark.parametrize(
    "subject",
    [
        "u.py:slow --runs 11000 --pair [0,1] [0,0]",
        "u.py:fast --runs 3000 --data 'integers(0, 1)' --size 1",
        "u.py:Mixed --runs 6000 --pair [0] [1]",
    ],
    ids=lambda s: s[5:10],
)
def test_jobs_change_nothing(typed: Typed, folder: Path, pool: list[str], subject: str) -> None:
    found = []
    for jobs in (1, 2):
        typed(f"check {subject} --epsilon 2 --seed 5 --json r.json --html r.html --jobs {jobs}")
        found.append((*_without_timings(folder), (folder / "r.html").read_text()))
        assert bool(pool) == (jobs == 2), "the pool starts with two workers, and only then"
    assert found[0][0] == found[1][0]
    assert found[0][1] == found[1][1]


@pytest.mark.slow
def test_the_html_itself_differs_in_timings_alone(typed: Typed, folder: Path) -> None:
    pages = []
    for _ in range(2):
        typed("check u.py:slow --epsilon 2 --pair [0] [1] --runs 1000 --html r.html --json r.json")
        page = (folder / "r.html").read_text()
        timings = json.loads((folder / "r.json").read_text())["timings"]
        pages.append((page.splitlines(), timings))
    (first, _), (second, _) = pages
    assert len(first) == len(second)
    differ = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    assert len(differ) <= 8
    number = r"[\d.:T+-]+"
    for a, b in differ:
        assert re.sub(number, "", a) == re.sub(number, "", b), "but for numbers of time they are equal"


@pytest.mark.slow(fast=["u.py:slow"])
@pytest.mark.parametrize("subject", ["u.py:slow", "u.py:fast", "u.py:Mixed"])
def test_another_seed_gives_other_counts(typed: Typed, folder: Path, subject: str) -> None:
    counts = []
    for seed in (0, 1, 0):
        typed(f"check {subject} --epsilon 2 --pair [0] [1] --runs 3000 --seed {seed} --json r.json --jobs 1")
        (audit,) = json.loads((folder / "r.json").read_text())["audits"]
        (evidence,) = audit["sampled"]
        counts.append((evidence["x"], evidence["y"], evidence["event"]["description"]))
    assert counts[0] != counts[1]
    assert counts[0] == counts[2]


@pytest.mark.slow
def test_pairs_do_not_share_their_runs(typed: Typed, folder: Path) -> None:
    """Two pairs that are equal but for their place get different runs."""
    typed("check u.py:slow --epsilon 2 --data 'integers(0, 1)' --size 1 --runs 3000 --json r.json --jobs 1")
    (audit,) = json.loads((folder / "r.json").read_text())["audits"]
    assert len({(e["x"], e["y"]) for e in audit["sampled"]}) == len(audit["sampled"])
