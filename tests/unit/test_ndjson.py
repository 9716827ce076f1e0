"""Events as NDJSON: one object a line, of the published schema, and the result can be put together from them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import example_results
import pytest
from jsonschema import Draft202012Validator
from typed_commands import Typed

from dpaudit.errors import ReportError
from dpaudit.report.ndjson import EVENT_VERSION, event_schema, to_line
from dpaudit.results import json_form, stream
from dpaudit.results.model import Result

EXAMPLES = {**example_results.every(), "hostile": example_results.hostile()}


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    """Of a line."""
    schema = event_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _lines(result: Result) -> list[str]:
    events = [*stream.events_of(result)]
    events.insert(1, stream.Progress(4, 10, "certifying, pair 2 of 5", 0.71))
    return [to_line(event, number) for number, event in enumerate(events)]


def test_a_bound_that_is_infinite_is_null(validator: Draft202012Validator) -> None:
    value = json.loads(to_line(stream.Progress(10, 10, "exact, 10 of 10 datasets", math.inf), 0))
    validator.validate(value)
    assert value["bound"] is None


def test_whole_text(snapshot: Callable[[str, str], None]) -> None:
    short = replace(example_results.infinite(), profile_plot=None, output_plot=None)
    snapshot("events.ndjson", "".join(_lines(example_results.result(short))))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_line_is_of_the_schema_and_together_they_are_the_result(
    name: str, validator: Draft202012Validator
) -> None:
    result = EXAMPLES[name]
    audits: dict[str, list[Any]] = {"audit_finished": [], "utility_audit_finished": []}
    header: dict[str, Any] = {}
    for number, line in enumerate(_lines(result)):
        assert line.endswith("}\n")
        assert len(line.splitlines()) == 1
        line.encode()
        value = json.loads(line)
        validator.validate(value)
        assert (value["sequence"], value["format_version"]) == (number, EVENT_VERSION)
        if value["event"] in audits:
            audits[value["event"]].append(value["audit"])
        header = value.get("result", header)
    whole = {**header, "audits": audits["audit_finished"], "utility": audits["utility_audit_finished"]}
    assert json_form.from_json(json.dumps(whole), where="the events") == result


def test_schema_is_described_and_refuses_what_is_none(validator: Draft202012Validator) -> None:
    schema = event_schema()
    assert EVENT_VERSION in schema["$comment"]
    for definition in schema["$defs"].values():
        assert definition["description"]
        for key, value in definition.get("properties", {}).items():
            assert value.get("description") or key == "event", key
    good = json.loads(_lines(EXAMPLES["fail"])[0])
    for change in ({"event": "check_ended"}, {"sequence": -1}, {"format_version": 1}, {"audits": None}):
        assert not validator.is_valid({**good, **change}), change
    finished = json.loads(_lines(EXAMPLES["fail"])[3])
    assert finished["event"] == "audit_finished"
    assert not validator.is_valid({**finished, "event": "utility_audit_finished"})


def test_refuses_what_json_cannot_hold() -> None:
    audit = replace(example_results.fail(), epsilon_lower=float("nan"))
    with pytest.raises(ReportError, match=r"^audit\.epsilon_lower is nan"):
        to_line(stream.AuditFinished(audit, 1.0), 0)


@pytest.mark.usefixtures("files")
def test_lines_of_a_run(typed: Typed, validator: Draft202012Validator) -> None:
    asked = "check m.py:Flip u.py:fair --epsilon 1 --pair [0] [1] --runs 500"
    said = typed(f"{asked} --events e.ndjson --json r.json")
    assert said.code == 0
    lines = [json.loads(line) for line in Path("e.ndjson").read_text(encoding="utf-8").splitlines()]
    for line in lines:
        validator.validate(line)
    assert [line["sequence"] for line in lines] == list(range(len(lines)))
    assert [line["event"] for line in lines if line["event"] != "progress"] == [
        "check_started", "audit_started", "audit_finished", "audit_started", "audit_finished", "check_finished",
    ]  # fmt: skip
    result = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert [line["audit"] for line in lines if line["event"] == "audit_finished"] == result["audits"]
    # the same on stdout, where it is all there is
    streamed = typed(f"{asked} --events -")
    again = [json.loads(line) for line in streamed.out.splitlines()]
    timeless = {"seconds": 0, "result": None}
    assert [line | timeless for line in again] == [line | timeless for line in lines]
    assert "PASS" in streamed.err


@pytest.mark.usefixtures("files")
def test_lines_of_a_run_that_is_interrupted(typed: Typed) -> None:
    said = typed("check u.py:fair u.py:interrupts --epsilon 1 --pair [0] [1] --runs 500 --events e.ndjson")
    assert said.code == 130
    lines = [json.loads(line) for line in Path("e.ndjson").read_text(encoding="utf-8").splitlines()]
    assert lines[-1]["event"] == "check_finished"
    assert lines[-1]["result"]["interrupted"] is True
    assert lines[-1]["audits"] == 1


@pytest.mark.usefixtures("files")
def test_lines_of_a_stored_result(typed: Typed) -> None:
    assert typed("check u.py:fair --epsilon 1 --pair [0] [1] --runs 500 --json r.json").code == 0
    said = typed("report r.json --events -")
    assert (said.code, said.err) == (0, "")
    assert [json.loads(line)["event"] for line in said.out.splitlines()] == [
        "check_started", "audit_started", "audit_finished", "check_finished",
    ]  # fmt: skip


@pytest.mark.usefixtures("files")
def test_a_full_disk_does_not_end_the_run(typed: Typed) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    said = typed("check u.py:fair --epsilon 1 --pair [0] [1] --runs 500 --events /dev/full --json r.json")
    assert said.code == 2
    assert said.sentence == "Cannot write /dev/full: No space left on device."
    assert Path("r.json").exists()
