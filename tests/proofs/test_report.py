"""Proofs, refutations and unknowns as text, as JSON and as HTML."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pytest

from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import NoiseLine, Outcome, Place, Proof, Refuted, Unknown
from dpaudit.proofs.scopes import Answers, Stream
from dpaudit.report.alignment import number, shifts, signed
from dpaudit.report.proof import proof_block, proof_json, proof_line, proof_text
from dpaudit.report.proof_page import proof_page
from dpaudit_algorithms.corpus.sparse_vector import SVT1

TENTH = Fraction(1, 10)
PROOF = prove(SVT1(epsilon=0.1), Stream())
REFUTED = Refuted(
    0.17199, TENTH, "noisy", "all of them", ((0.0, 0.0, 1.0), (0.0, 1.0, 1.0)), "output > 0.5", (900, 700), 10_000,
    0.999, Fraction(7, 40),
)
UNKNOWN = Unknown(
    "A product is not linear.", "Clip it.", Place("m.py", 3, "x = [data[red] * data[red]]"), TENTH, "odd", "all of them"
)
OUTCOMES = {"proved": PROOF, "refuted": REFUTED, "unknown": UNKNOWN}


def page(outcome: Outcome) -> str:
    return proof_page(outcome, call="dpaudit prove it")


def test_a_proof_says_how_its_noise_moves() -> None:
    assert isinstance(PROOF, Proof)
    text = proof_text(PROOF)
    assert text.startswith("PROVED · SVT1 is ε-DP with ε = 1/10 (0.1), claimed 1/10\n")
    assert re.search(r"noise     Laplace\(20\)  sparse_vector.py:\d+  shift \+1     costs 1/20 \(0.05\)\n", text)
    assert re.search(r"\n            Laplace\(40\)  sparse_vector.py:\d+  shift 0, \+2  costs 1/20 \(0.05\)\n", text)
    assert all(assumption.split()[-1] in text for assumption in PROOF.assumptions)
    assert max(map(len, text.splitlines())) <= 80


def test_a_lower_bound_is_rounded_down() -> None:
    text = proof_text(REFUTED)
    assert "ε ≥ 0.171 with 99.9 % confidence (claim 1/10)" in text
    assert "900 of 10,000 samples of D, 700 of 10,000 of D′" in text
    assert "D  [0.0, ‹0.0›, 1.0]" in text
    assert "needs ε = 7/40 (0.175)" in text
    assert "needs" not in proof_text(replace(REFUTED, least=None))
    # no rounding puts it on the other side of the claim
    assert "ε ≥ 0.1001 " in proof_text(replace(REFUTED, epsilon=0.10019))


def test_a_line_of_source_is_shown_as_it_is() -> None:
    # rich would take [red] for a colour
    assert "m.py:3: x = [data[red] * data[red]]" in proof_text(UNKNOWN)
    assert "remedy    Clip it." in proof_text(UNKNOWN)


@pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)
def test_json(outcome: Outcome) -> None:
    values = json.loads(json.dumps(proof_json(outcome)))
    assert values["verdict"] == next(name for name, one in OUTCOMES.items() if one is outcome)
    assert Fraction(values["claimed"]) == TENTH
    match outcome:
        case Proof():
            assert sum(Fraction(line["cost"]) for line in values["alignment"]) == Fraction(values["epsilon"]) == TENTH
        case Refuted():
            assert (values["pair"], values["least"]) == ([[0, 0, 1], [0, 1, 1]], "7/40")
        case Unknown():
            assert (values["line"], values["least"]) == ("m.py:3", None)


def test_pairs_of_arrays_are_shown() -> None:
    pair = (np.array([0.0, 0.25]), np.array([0.0, 1.0]))
    outcome = replace(REFUTED, pair=pair)
    assert "‹0.25›" in proof_text(outcome)
    assert json.loads(json.dumps(proof_json(outcome)))["pair"] == [[0, 0.25], [0, 1]]


@pytest.mark.parametrize("pair", [(("a", "b"), ("a",)), (((1, "x"),), ((2, "x"),)), ((True, None), (False, None))])
def test_pairs_of_any_records_are_shown(pair: tuple[object, object]) -> None:
    text = proof_text(replace(REFUTED, pair=pair))
    assert "  pair      D  [" in text
    assert "D′ [" in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(3), "3"), (TENTH, "1/10 (0.1)"), (Fraction(1, 3), "1/3 (0.333333)"), (Fraction(0), "0"),
        (Fraction(7205759403805901, 72057594037927936), "0.1"),
    ],
)  # fmt: skip
def test_numbers(value: Fraction, shown: str) -> None:
    assert number(value) == shown


def test_signs_and_many_shifts() -> None:
    assert [signed(Fraction(n, 2)) for n in (-1, 0, 3)] == ["−1/2", "0", "+3/2"]
    line = NoiseLine(Place("m.py", 1, ""), "Laplace(1)", tuple(map(Fraction, range(-9, 10))), Fraction(9))
    assert shifts(line) == "−9, −8, −7, …, +7, +8, +9"


class Tags(HTMLParser):
    """Every tag that is opened, with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.opened.append((tag, dict(attributes)))

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)


def test_a_page_draws_every_shift_and_the_shares_of_epsilon() -> None:
    assert isinstance(PROOF, Proof)
    opened = Tags(page(PROOF)).opened
    dots = [values["cx"] for tag, values in opened if tag == "circle"]
    # shifts +1, and 0 and +2, on one axis
    assert dots == ["50.0%", "6.0%", "94.0%"]
    bars = [values["width"] for tag, values in opened if tag == "rect" and values.get("class") == "bar"]
    assert bars == ["50.0%", "50.0%"]


def test_a_page_without_shifts_has_no_picture() -> None:
    def constant(answers: list[float], rng: np.random.Generator) -> float:
        return 3.0

    outcome = prove(constant, Answers(2), epsilon=1)
    assert isinstance(outcome, Proof)
    assert outcome.epsilon == 0
    assert not [tag for tag, _ in Tags(page(outcome)).opened if tag == "circle"]
    noisy = replace(outcome, alignment=(NoiseLine(Place("m.py", 1, "x"), "Laplace(1)", (Fraction(0),), Fraction(0)),))
    assert [values["cx"] for tag, values in Tags(page(noisy)).opened if tag == "circle"] == ["50.0%"]


@pytest.mark.parametrize(("least", "is_shown"), [(None, False), (Fraction(1, 20), False), (Fraction(7, 40), True)])
def test_an_alignment_is_drawn_if_it_needs_more_than_the_claim(least: Fraction | None, is_shown: bool) -> None:
    # one that needs less is of no program: it was found, and the program did something else
    assert ("ε = 7/40 (0.175)" in page(replace(UNKNOWN, least=least))) is is_shown
    assert ("the least ε with which shifts" in page(replace(UNKNOWN, least=least))) is is_shown


@pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)
def test_a_page_holds_its_data_and_how_to_get_it_again(outcome: Outcome) -> None:
    text = page(outcome)
    found = re.search(r'href="data:application/gzip;base64,([^"]*)"', text)
    assert found is not None
    assert json.loads(gzip.decompress(b64decode(found[1]))) == {**proof_json(outcome), "seconds": 0.0}
    assert "<code>dpaudit prove it</code>" in text
    assert re.sub("It took .*? s", "", text) == re.sub("It took .*? s", "", page(replace(outcome, seconds=99.0)))


@pytest.mark.parametrize("hostile", ["<script>x</script>", '"><img src=x>', "[red]a[/red]", "a\nb\x1b[31m", "{{7*7}}"])
def test_names_and_sources_are_text(hostile: str) -> None:
    place = Place(hostile, 3, hostile)
    outcomes: list[Outcome] = [
        replace(UNKNOWN, program=hostile, scope=hostile, reason=hostile, remedy=hostile, place=place),
        replace(REFUTED, program=hostile, scope=hostile, event=hostile, pair=((hostile,), ("b",))),
    ]
    assert isinstance(PROOF, Proof)
    line = replace(PROOF.alignment[0], place=place, noise=hostile)
    outcomes.append(replace(PROOF, program=hostile, scope=hostile, alignment=(line,), assumptions=(hostile,)))
    for outcome in outcomes:
        clean = Tags(page(replace(outcome, program="p"))).opened
        assert [tag for tag, _ in Tags(page(outcome)).opened] == [tag for tag, _ in clean]
        assert not [tag for tag, _ in clean if tag in ("script", "img")]
        assert "\x1b" not in page(outcome) + proof_text(outcome) + proof_line(outcome)
        assert len(proof_line(outcome).splitlines()) == 1
        heads = [row for row in proof_block(outcome).rows if row[0] == 0]
        assert len(heads) == 1
