"""`dpaudit list` and `dpaudit show`: what is known of the catalogue, read from its cards."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from typed_commands import Typed

from dpaudit.cli import cards
from dpaudit.plans import registry

ROOT = Path(__file__).resolve().parents[2]


def listed(text: str) -> list[str]:
    """The names of the algorithms in a list."""
    names = set(registry.names())
    rows = re.split(r"\d+ of \d+ algorithms, ", text)[0]  # without the legend
    lines = (re.match(r"(?:  )?(?:PASS|FAIL|not private).*", line) for line in rows.splitlines())
    # a title may have the name of another one
    return [
        next(word for word in line[0].replace("…", " ").split() if word in names) for line in lines if line is not None
    ]


@pytest.fixture(autouse=True)
def _read_anew() -> None:
    """What another test of this process has read, while it had other packages, is not what is listed here."""
    registry.evidence.cache_clear()


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_every_algorithm_has_a_line(typed: Typed, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    said = typed("list")
    assert said.code == 0
    assert max(map(cell_len, said.out.splitlines())) <= columns
    assert sorted(listed(said.out)) == sorted(registry.names())
    families = [line for line in said.out.splitlines() if re.match(r"[a-z-]+  [A-Z]", line)]
    assert len(said.out.splitlines()) <= len(registry.names()) + 2 * len(families) + 6


@pytest.mark.parametrize(
    ("words", "some", "none"),
    [
        ("threshold", ["LearnThresholds", "ThresholdRelease", "ASimpleH"], ["RecPrefix"]),
        ("THRESHOLD learn", ["LearnThresholds", "ASimpleH"], ["ThresholdRelease"]),
        ("treshold", ["LearnThresholds"], ["RecPrefix"]),
        ("interior-point", ["RecPrefix", "TreeLog"], ["ADist"]),
        ("--family interior_points", ["RecPrefix", "NoisyMedian"], ["ADist", "LearnPoints"]),
        ("--family HalfSpaces learning", ["ASimpleH"], ["MakeData", "LearnThresholds"]),
        ("--failing", ["ADist", "RecPrefix", "NoisyMedian"], ["ADistCorrected", "Minimum"]),
    ],
)
def test_filters(typed: Typed, words: str, some: list[str], none: list[str]) -> None:
    found = listed(typed(f"list {words}").out)
    assert set(some) <= set(found)
    assert not set(none) & set(found)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("zzzzzz", "No algorithm has 'zzzzzz' in its name or title; `dpaudit list` shows all."),
        ("--failing --family mixtures zzzzzz", "of which a claim is refuted in the family mixtures has 'zzzzzz'"),
        ("--family interior", ""),
        ("--family intrior-point", "There is no family 'intrior-point'; there are foundations,"),
        ("--family intrior-point", "Did you mean interior-points?"),
        ("--family ''", "There is no family ''"),
        ("--corpus --family pac", "--family is about algorithms; leave it or --corpus out."),
        ("--corpus zzzzzz", "No algorithm has 'zzzzzz'"),
    ],
)
def test_what_matches_nothing(typed: Typed, words: str, says: str) -> None:
    said = typed(f"list {words}")
    assert said.code == (2 if says else 0)
    assert says in said.err


def test_the_corpus_is_filtered_too(typed: Typed) -> None:
    both, broken = typed("list --corpus svt").out, typed("list --corpus svt --failing").out
    assert "SVT1  " in both
    assert "SVT3  " in broken
    assert "correct" not in broken


def test_a_line_has_the_verdicts(typed: Typed) -> None:
    lines = {name: line for line in typed("list").out.splitlines() for name in listed(line)}
    assert lines["ADist"].startswith("  FAIL 1 ")
    assert lines["RecPrefix"].startswith("  PASS finite  FAIL 7 ")
    assert lines["MakeData"].startswith("  FAIL 15      FAIL 16 ")
    assert lines["Minimum"].startswith("  not private ")
    assert lines["NoisyMedian"].startswith("  FAIL  ")


def test_show_begins_with_what_it_does(typed: Typed) -> None:
    lines = typed("show RecPrefix").out.splitlines()
    assert lines[0].split(maxsplit=1) == ["RecPrefix", "a private interior point by recursion on prefix lengths"]
    headings = [line.split("  ")[0] for line in lines if line[:1].strip()]
    assert headings == ["RecPrefix", "Claim", "Evidence", "Findings", "Versions", "Parameters", "Sample size", "More"]
    text = " ".join(" ".join(lines).split())
    assert "7. The number of records of Theorem 7.8 goes to 0 at large ε (utility)" in text
    assert "Details: dpaudit finding 7" in text
    assert "Reproduce with: dpaudit check RecPrefix --utility" in text
    assert "delta = 1e-06: of the whole, in (0, 1)." in text
    assert "n ≥ 22,366,571 for an interior point" in text
    assert "10 deviations from the source, 11 audits, 5 utility audits: dpaudit show RecPrefix -v" in text
    assert "Deviation" not in text


def test_show_verbosely(typed: Typed) -> None:
    short, long = (" ".join(typed(f"show ADist {option}").out.split()) for option in ("", "-v"))
    assert long == " ".join(typed("show ADist --verbose").out.split())
    assert long.startswith(short[: short.index(" More ")])
    assert "Deviation 1" in long
    assert "Audit 1" in long
    assert " More " not in long


@pytest.mark.parametrize("name", ["Minimum", "LaplaceMechanism", "SVT3"])
def test_show_says_what_is_known_in_every_case(typed: Typed, name: str) -> None:
    says = {
        "Minimum": "none: it claims no privacy", "LaplaceMechanism": "none: no audit refutes a claim", "SVT3": "Effect",
    }
    assert says[name] in typed(f"show {name}").out


def test_words_of_a_title_may_be_misspelt() -> None:
    every = [card for name in registry.names() if (card := registry.algorithm(name).card) is not None]
    assert [card.name for card in cards.matching(every, ["RecPrefx"])] == ["RecPrefix"]
    assert cards.matching(every, []) == every


def test_the_evidence_is_that_of_the_committed_verdicts() -> None:
    """What `list` says of proofs is in the table of verdicts, of an audit that passed."""
    with (ROOT / "reports" / "verdicts.csv").open(encoding="utf-8") as file:
        proved = {
            (row["algorithm"], row["evidence"]) for row in csv.DictReader(file) if row["verdict"] == "pass"
        }
    evidence = registry.evidence()
    assert set(evidence.items()) <= proved
    assert {name for name, kind in proved if kind in cards.PROVED} == set(evidence)
    for name, shown in (("ExponentialMechanism", "PASS all"), ("ADistCorrected", "PASS finite")):
        assert shown in str(cards.listing([name], family=None, failing=False).families)
