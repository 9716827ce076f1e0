"""The JSON form: what is written is read back, is of the published schema, and nothing else is read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import example_results
import numpy as np
import pytest
from jsonschema import Draft202012Validator

from dpaudit.errors import ReportError
from dpaudit.results import model
from dpaudit.results.json_form import from_json, schema, to_json

EXAMPLES = {**example_results.every(), "hostile": example_results.hostile()}
CONTRACT = [
    *("name", "verdict", "evidence", "claim", "epsilon_lower", "epsilon_exact", "detectable_epsilon"),
    *("confidence", "runs", "pair", "event", "replay", "expected"),
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_round_trip(name: str) -> None:
    text = to_json(EXAMPLES[name])
    again = from_json(text, where="results.json")
    assert again == EXAMPLES[name]
    assert to_json(again) == text


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_of_the_schema(name: str) -> None:
    Draft202012Validator(schema()).validate(json.loads(to_json(EXAMPLES[name])))


def test_schema_is_itself_valid_and_described() -> None:
    Draft202012Validator.check_schema(schema())
    assert model.FORMAT_VERSION in schema()["$comment"]
    objects = {name: part["properties"] for name, part in schema()["$defs"].items() if "properties" in part}
    assert len(objects) > 30
    for name, properties in objects.items():
        for key, value in properties.items():
            assert value.get("description"), f"{name}.{key}"


def test_schema_takes_descriptions_from_docstrings() -> None:
    definitions = schema()["$defs"]
    assert definitions["Audit"]["properties"]["replay"]["description"] == "Id for `dpaudit replay`."
    # of a base class, and of a class with a list of arguments, where one text is of two of them
    assert definitions["Result"]["properties"]["seed"]["description"] == "The one seed of all samples."
    bounds = definitions["Bounds"]["properties"]
    assert bounds["epsilon_low"]["description"] == bounds["epsilon_high"]["description"] != ""


def test_schema_states_ranges() -> None:
    properties = schema()["$defs"]["SampledEvidence"]["properties"]
    assert properties["x"]["minimum"] == 0
    assert (properties["p_value"]["minimum"], properties["p_value"]["maximum"]) == (0, 1)


def test_form_of_the_text() -> None:
    text = to_json(EXAMPLES["fail"])
    assert text.startswith('{\n  "format_version": "2.0",\n  "seed": ')
    assert text.endswith("}\n")
    value = json.loads(text)
    assert list(value)[:4] == ["format_version", "seed", "alpha", "command"]
    assert list(value)[-3:] == ["timings", "audits", "utility"]
    assert list(value["audits"][0])[: len(CONTRACT)] == CONTRACT
    assert list(value["audits"][0]["claim"])[:3] == ["epsilon", "delta", "relation"]


def test_order_of_free_keys_does_not_matter() -> None:
    result = EXAMPLES["fail"]
    turned = replace(result, environment=dict(reversed(result.environment.items())))
    assert to_json(turned) == to_json(result)


def test_numpy_numbers_are_numbers() -> None:
    audit = replace(example_results.fail(), runs=np.int64(7), epsilon_lower=np.float64(1.5))
    value = json.loads(to_json(example_results.result(audit)))
    assert (value["audits"][0]["runs"], value["audits"][0]["epsilon_lower"]) == (7, 1.5)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, {1: 2}, {1, 2}, b"x"])
def test_refuses_to_write_what_json_cannot_hold(bad: Any) -> None:
    audit = example_results.fail()
    assert audit.pair is not None
    audit = replace(audit, pair=replace(audit.pair, left=[0, bad]))
    with pytest.raises(ReportError, match=r"^result\.audits\[0\]\.pair\.left\[1\] .*\.$"):
        to_json(example_results.result(audit))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "results.json: this is not JSON: Expecting value (line 1, column 1)."),
        ('{"seed": 1,', "results.json: this is not JSON: "),
        ("[1]", "results.json is not a result of `dpaudit check --json`: expected `object`, got `array`."),
        ("null", "results.json is not a result of `dpaudit check --json`: expected `object`, got `null`."),
        ("{}", "results.json is not a result of `dpaudit check --json`: object missing required "),
        ('{"seed": NaN}', "results.json: NaN is no JSON number; "),
        ('{"seed": -Infinity}', "results.json: -Infinity is no JSON number; "),
        ('{"seed": 1e999}', "results.json: 1e999 is no JSON number; "),
        ("[" * 100_000, "results.json: this JSON is nested too deeply"),
        ('{"seed": ' + "1" * 5_000 + "}", "results.json: this JSON is nested too deeply or holds a number too long"),
    ],
)
def test_refuses_broken_text(text: str, message: str) -> None:
    with pytest.raises(ReportError) as caught:
        from_json(text, where="results.json")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def _put(*path: str | int, value: Any) -> Callable[[Any], None]:
    def change(root: Any) -> None:
        for part in path[:-1]:
            root = root[part]
        root[path[-1]] = value

    return change


def _remove(*path: str | int) -> Callable[[Any], None]:
    def change(root: Any) -> None:
        for part in path[:-1]:
            root = root[part]
        del root[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_put("audits", 2, "verdict", value="bad"), "audits[2].verdict: invalid enum value 'bad'"),
        (_put("audits", 0, "expected", value="x"), "audits[0].expected: invalid enum value 'x'"),
        (_put("audits", 0, "claim", value=3), "audits[0].claim: expected `object`, got `int`"),
        (_put("audits", value={}), "audits: expected `array`, got `object`"),
        (_put("audits", 1, "runs", value=1.5), "audits[1].runs: expected `int`, got `float`"),
        (_put("audits", 1, "runs", value=True), "audits[1].runs: expected `int`, got `bool`"),
        (_put("audits", 1, "runs", value=-1), "audits[1].runs: expected `int` >= 0"),
        (_put("audits", 1, "confidence", value=2), "audits[1].confidence: expected `float` <= 1.0"),
        (_put("audits", 0, "pair", value="x"), "audits[0].pair: expected `object | null`, got `str`"),
        (_put("audits", 0, "pair", "distance", value="x"), "audits[0].pair.distance: expected `int`, got `str`"),
        (_put("audits", 0, "notes", 0, value="x"), "audits[0].notes[0]: expected `object`, got `str`"),
        (_put("audits", 0, "notes", 0, "code", value="x"), "audits[0].notes[0].code: invalid enum value 'x'"),
        (_remove("audits", 0, "pair", "left"), "audits[0].pair: object missing required field `left`"),
        (_remove("audits", 3, "replay"), "audits[3]: object missing required field `replay`"),
        (_remove("timings"), "object missing required field `timings`"),
        (_put("environment", "python", value=3), "environment[...]: expected `str`, got `int`"),
        (
            _put("format_version", value="2"),
            "format_version: expected `str` matching regex '^[0-9]+\\\\.[0-9]+$'",
        ),
        (_put("format_version", value=1), "format_version: expected `str`, got `int`"),
        (
            _put("audits", 0, "bound_plot", "runs", value=[1]),
            "audits[0].bound_plot.bound: it has 7 entries, but runs has 1",
        ),
        (
            _put("audits", 0, "evidence_plot", "log10_e", value=[0.0, 1.0]),
            "audits[0].evidence_plot.log10_e: it has 2 entries, but runs has 51",
        ),
        (
            _put("audits", 0, "sequential", "refuted_at", value=600_001),
            "audits[0].sequential.refuted_at: 600001 is more than runs = 600000",
        ),
        (_put("audits", 0, "sequential", "alpha", value=0), "audits[0].sequential.alpha: expected `float` > 0.0"),
        (_remove("audits", 0, "sequential", "key"), "audits[0].sequential: object missing required field `key`"),
        (
            _put("audits", 0, "sampled", 1, "x", value=10**9),
            "audits[0].sampled[1].x: 1000000000 is more than n = 500000 runs",
        ),
        (
            _put("audits", 0, "sampled", 0, "direction", value="up"),
            "audits[0].sampled[0].direction: expected `str` matching regex '^(left/right|right/left)$'",
        ),
        (_put("audits", 0, "claim", "epsilon", value=10**400), "audits[0].claim.epsilon: number out of range"),
    ],
)  # fmt: skip
def test_refuses_wrong_content_in_one_sentence(change: Callable[[Any], None], message: str) -> None:
    value = json.loads(to_json(EXAMPLES["several"]))
    change(value)
    with pytest.raises(ReportError) as caught:
        from_json(json.dumps(value), where="results.json")
    assert str(caught.value) == f"results.json is not a result of `dpaudit check --json`: {message}."


def test_refuses_another_major_version() -> None:
    value = json.loads(to_json(EXAMPLES["fail"]))
    value["format_version"] = "1.9"
    with pytest.raises(ReportError, match=r"'1\.9' cannot be read by this dpaudit, which reads 2\.x; use"):
        from_json(json.dumps(value), where="results.json")


def test_reads_a_later_minor_version_and_ignores_its_new_keys() -> None:
    value = json.loads(to_json(EXAMPLES["fail"]))
    value["format_version"] = "2.9"
    value["new"] = value["audits"][0]["new"] = {"a": 1}
    assert from_json(json.dumps(value), where="x") == replace(EXAMPLES["fail"], format_version="2.9")
