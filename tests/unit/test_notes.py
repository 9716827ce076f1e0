"""Notes and reasons: each kind has a code, a form in JSON, and a sentence that names options for its reader."""

from __future__ import annotations

import inspect
import json
import typing
from dataclasses import replace
from typing import Any

import example_results
import pytest

from dpaudit.errors import DpauditError, MechanismError, NotEnumerableError
from dpaudit.options import CALL_TIME, DATA, GROUPS, Door
from dpaudit.results import notes, reasons
from dpaudit.results.json_form import from_json, to_json
from dpaudit.results.notes import Note, NoteRecord

DOORS: tuple[Door, ...] = typing.get_args(Door)
EXAMPLES: dict[str, Any] = {
    "str": "a", "int": 3, "float": 0.25, "float | None": None, "int | None": None, "bool": True,
    "list[str]": ["a", "b"], "list[int]": [3, 4], "list[float]": [0.5, 0.25],
    "DpauditError": MechanismError("f raised."),
}
"""A value of every type that a note has."""


def _kinds(base: type[reasons.Statement]) -> list[type[Any]]:
    return [kind for kind in base.__subclasses__() if not inspect.isabstract(kind)]


def _example(kind: type[Note]) -> Note:
    return kind(*(EXAMPLES[name] for field, name in kind.__annotations__.items() if field != "code"))


@pytest.mark.parametrize(("base", "codes"), [(reasons.Reason, reasons.Code), (Note, notes.NoteCode)])
def test_every_kind_has_a_code_of_its_own(base: type[reasons.Statement], codes: Any) -> None:
    assert sorted(kind.code for kind in _kinds(base)) == sorted(typing.get_args(codes))


@pytest.mark.parametrize("kind", _kinds(Note))
@pytest.mark.parametrize("door", DOORS)
def test_every_kind_is_written_and_read(kind: type[Note], door: Door) -> None:
    record = _example(kind).record(door)
    assert record.sentence.rstrip()
    audit = example_results.fail()
    result = example_results.result(replace(audit, notes=[record]))
    text = to_json(result)
    assert from_json(text, where="results.json") == result
    (written,) = json.loads(text)["audits"][0]["notes"]
    assert written == {"code": kind.code, "values": record.values, "sentence": record.sentence}


@pytest.mark.parametrize("kind", _kinds(Note))
def test_only_the_command_line_is_told_of_its_options(kind: type[Note]) -> None:
    for door in ("Python", "pytest"):
        for option in (CALL_TIME, DATA):
            said = _example(kind).sentence(door)
            assert option.flag not in said.replace(f"--dp-{option.key}", "")


def test_errors_in_notes_name_options_as_their_reader_does() -> None:
    note = notes.NotExact(NotEnumerableError("It is too large; lower {}.", GROUPS))
    assert note.record("command line") == NoteRecord(
        "not_exact", {"error": "It is too large; lower --groups."},
        "Not computed exactly: It is too large; lower --groups.",
    )
    assert note.sentence("Python") == "Not computed exactly: It is too large; lower groups."


def test_the_order_of_records_is_compared_by_the_command_or_the_function() -> None:
    note = notes.OrderMatters("(1, 0)")
    assert "; `dpaudit verify --ordered` compares every sequence." in note.sentence("command line")
    assert "; `dpaudit.verify(…, ordered=True)` compares every sequence." in note.sentence("Python")
    assert "; `dpaudit verify --ordered` compares every sequence." in note.sentence("pytest")


@pytest.mark.parametrize(
    ("door", "called"), [("command line", "--data"), ("Python", "data"), ("pytest", "data")]
)
def test_a_description_is_named_as_the_reader_gave_it(door: Door, called: str) -> None:
    note = notes.ExceptionalFloat("NaN", "allow_nan", "floats(0, 1)")
    assert f"so {called} 'floats(0, 1)' includes it" in note.sentence(door)


def test_values_hold_numbers_and_errors_become_texts() -> None:
    failures = notes.SampledFailures(["raises KeyError"], ["line 3"], [5], [0], n=1000, m=1000, by_the_clock=False)
    assert failures.values("Python") == {
        "failures": ["raises KeyError"], "where": ["line 3"], "left": [5], "right": [0], "n": 1000, "m": 1000,
        "by_the_clock": False, "pairs": 1,
    }
    assert failures.sentence("Python") == (
        "A failure counts as an output, as an attacker can see it: it raises KeyError 5 of 1,000 times on D and 0 of "
        "1,000 on D′ (as in line 3)."
    )
    # D and D′ may have changed places where the pair was minimised, so of several pairs there is one count
    said = replace(failures, pairs=2).sentence("Python")
    assert "raises KeyError 5 of 2,000 times on the 2 pairs that were sampled (as" in said
    assert notes.NotMinimized(DpauditError("It failed.")).values("pytest") == {
        "error": "It failed.", "further": False, "by_the_clock": False,
    }


@pytest.mark.parametrize(("number", "said"), [(1, "(a)"), (3, "(a; b; c)"), (5, "(a; b; c; and 2 more)")])
def test_few_roundings_are_named(number: int, said: str) -> None:
    assert said in notes.Rounded.of(list("abcde")[:number]).sentence("command line")
