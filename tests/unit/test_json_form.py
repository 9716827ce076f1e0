"""The JSON form: what is written is read back, is of the published schema, and nothing else is read."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import example_results
import numpy as np
import pytest
from jsonschema import Draft202012Validator

from dpaudit.errors import ReportError
from dpaudit.results import contest_rows, drawing, model, plots
from dpaudit.results.json_form import from_json, schema, to_json

EXAMPLES = example_results.every()
CONTRACT = [
    *("name", "verdict", "evidence", "claim", "epsilon_lower", "epsilon_exact", "detectable_epsilon"),
    *("confidence", "runs", "pair", "event", "replay", "expected"),
]


NEW_SINCE_1_0 = {
    "audit": {"sequential", "floating_point", "evidence_plot", "proof", "spending", "chain", "drawing", "location"}
    | {"tradeoff_plot", "loss_plot", "assumptions"},
    "sampled": {"family"},
    "exact": {"bounds", "by_density"},
    "ledger_row": {
        *("name", "claimed", "composed_epsilon", "composed_delta", "exact_epsilon", "exact_delta"),
        *("value", "loss", "impossible", "remark"),
    },
}
"""What a file of format 1.0 lacks."""
NEW_SINCE_1_2 = {
    "proof": {"laws", "symmetries", "confirmed", "cache", "rounded"},
    "bounds": {"rounded"},
    "attempt": {"rounded"},
    "utility": {"crashed", "location", "drawing"},
    "": {"utility", "contest"},
}
"""What one of format 1.2 lacks."""


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
    for properties in _objects(schema()):
        for key, value in properties.items():
            assert value.get("description"), key


def test_schema_has_the_fields_of_the_dataclasses() -> None:
    pairs = {
        "claim": model.ClaimRecord,
        "pair": model.PairRecord,
        "event": model.EventRecord,
        "sampled": model.SampledEvidence,
        "exact": model.ExactEvidence,
        "bounds": model.Bounds,
        "profile_plot": plots.ProfilePlot,
        "output_plot": plots.OutputPlot,
        "sequential": model.SequentialEvidence,
        "floating_point": model.FloatingPoint,
        "bound_plot": plots.BoundPlot,
        "evidence_plot": plots.EvidencePlot,
        "tradeoff_plot": plots.TradeoffPlot,
        "certified_test": plots.CertifiedTest,
        "loss_plot": plots.LossPlot,
        "ledger_row": model.LedgerRow,
        "spending": model.Spending,
        "chain": model.Chain,
        "chain_link": model.ChainLink,
        "proof": model.Proof,
        "timings": model.Timings,
        "utility": model.UtilityAudit,
        "promise": model.UtilityRecord,
        "attempt": model.Attempt,
        "contest": contest_rows.ContestRecord,
        "contest_row": contest_rows.ContestRow,
        "audit": model.Audit,
        "assumption": model.AssumptionRecord,
        "drawing": drawing.Drawing,
        "panel": drawing.Panel,
        "layer": drawing.Layer,
        "location": model.Location,
    }
    definitions = schema()["$defs"]
    assert definitions.keys() == pairs.keys()
    for (name, cls), of in zip(
        [*pairs.items(), ("", model.Result)], [*(definitions[n] for n in pairs), schema()], strict=True
    ):
        fields = {f.name for f in dataclasses.fields(cls)}
        assert set(of["properties"]) == fields, name
        assert set(of["required"]) == fields - NEW_SINCE_1_0.get(name, set()) - NEW_SINCE_1_2.get(name, set()), name


def test_form_of_the_text() -> None:
    text = to_json(EXAMPLES["fail"])
    assert text.startswith('{\n  "format_version": "1.9",\n  "seed": ')
    assert text.endswith("}\n")
    value = json.loads(text)
    assert list(value)[:5] == ["format_version", "seed", "alpha", "audits", "utility"]
    assert list(value)[-1] == "timings"
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
        ("[1]", "results.json: this JSON is a list, not an object with a result."),
        ("null", "results.json: this JSON is null, not an object with a result."),
        ("{}", "results.json is not a result of `dpaudit check --json`: the key 'format_version' is missing"),
        ('{"seed": NaN}', "results.json: NaN is no JSON number; "),
        ('{"seed": -Infinity}', "results.json: -Infinity is no JSON number; "),
        ('{"seed": 1e999}', "results.json: 1e999 is no JSON number; "),
        ("[" * 100_000, "results.json: this JSON is nested too deeply"),
        (
            '{"seed": ' + "1" * 5_000 + "}",
            "results.json: this JSON is nested too deeply or holds a number too long",
        ),
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
        (
            _put("audits", 2, "verdict", value="bad"),
            "audits[2].verdict: 'bad' is not one of fail, pass, inconclusive",
        ),
        (
            _put("audits", 0, "expected", value="x"),
            "audits[0].expected: 'x' is not one of fail, pass, inconclusive, null",
        ),
        (_put("audits", 0, "claim", value=3), "audits[0].claim: 3 is a number, not an object"),
        (_put("audits", value={}), "audits: {} is an object, not a list"),
        (_put("audits", 1, "runs", value=1.5), "audits[1].runs: 1.5 is a number, not a whole number"),
        (_put("audits", 1, "runs", value=True), "audits[1].runs: true is true or false, not a whole number"),
        (_put("audits", 1, "runs", value=-1), "audits[1].runs: -1 is less than 0"),
        (_put("audits", 1, "confidence", value=2), "audits[1].confidence: 2 is more than 1"),
        (_put("audits", 0, "pair", value="x"), "audits[0].pair: 'x' is a string, not an object or null"),
        (
            _put("audits", 0, "pair", "distance", value="x"),
            "audits[0].pair.distance: 'x' is a string, not a whole number",
        ),
        (_put("audits", 0, "notes", 0, value=None), "audits[0].notes[0]: null is null, not a string"),
        (_remove("audits", 0, "pair", "left"), "audits[0].pair: the key 'left' is missing"),
        (_remove("audits", 3, "replay"), "audits[3]: the key 'replay' is missing"),
        (_remove("timings"), "the key 'timings' is missing"),
        (_put("environment", "python", value=3), "environment.python: 3 is a number, not a string"),
        (_put("format_version", value="1"), "format_version: '1' is not of the form major.minor, as in 1.9"),
        (_put("format_version", value=1), "format_version: 1 is a number, not a string"),
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
        (
            _put("audits", 0, "sequential", "alpha", value=0),
            "audits[0].sequential.alpha: 0 is not more than 0",
        ),
        (_remove("audits", 0, "sequential", "key"), "audits[0].sequential: the key 'key' is missing"),
        (
            _put("audits", 0, "sampled", 1, "x", value=10**9),
            "audits[0].sampled[1].x: 1000000000 is more than n = 500000 runs",
        ),
        (_put("audits", 0, "claim", "epsilon", value=10**400), "a number is too large for a float"),
    ],
)  # fmt: skip
def test_refuses_wrong_content_in_one_sentence(change: Callable[[Any], None], message: str) -> None:
    value = json.loads(to_json(EXAMPLES["several"]))
    change(value)
    with pytest.raises(ReportError) as caught:
        from_json(json.dumps(value), where="results.json")
    assert str(caught.value) == f"results.json is not a result of `dpaudit check --json`: {message}."


def test_says_how_many_more_problems_there_are() -> None:
    value = json.loads(to_json(EXAMPLES["fail"]))
    value["seed"], value["alpha"] = "x", "y"
    with pytest.raises(ReportError, match=r"seed: 'x' is a string, not a whole number \(and 1 more\)\.$"):
        from_json(json.dumps(value), where="results.json")


def test_refuses_another_major_version() -> None:
    value = json.loads(to_json(EXAMPLES["fail"]))
    value["format_version"] = "2.0"
    with pytest.raises(ReportError, match=r"'2\.0' cannot be read by this dpaudit, which reads 1\.x; use"):
        from_json(json.dumps(value), where="results.json")


def test_reads_a_later_minor_version_and_ignores_its_new_keys() -> None:
    value = json.loads(to_json(EXAMPLES["fail"]))
    value["format_version"] = "1.9"
    value["new"] = value["audits"][0]["new"] = {"a": 1}
    assert from_json(json.dumps(value), where="x") == replace(EXAMPLES["fail"], format_version="1.9")


def test_reads_format_1_5() -> None:
    """Before 1.6 there were neither trade-off curves nor privacy losses."""
    value = json.loads(to_json(EXAMPLES["several"]))
    value["format_version"] = "1.5"
    for audit in value["audits"]:
        del audit["tradeoff_plot"], audit["loss_plot"]
    read = from_json(json.dumps(value), where="result_1_5.json")
    assert all(audit.tradeoff_plot is None and audit.loss_plot is None for audit in read.audits)
    bare = [replace(audit, tradeoff_plot=None, loss_plot=None) for audit in EXAMPLES["several"].audits]
    assert read == replace(EXAMPLES["several"], audits=bare, format_version="1.5")


def test_reads_format_1_3() -> None:
    """Before 1.4 no chains were walked."""
    value = json.loads(to_json(EXAMPLES["fail"]))
    value["format_version"] = "1.3"
    del value["audits"][0]["chain"]
    assert from_json(json.dumps(value), where="result_1_3.json") == replace(EXAMPLES["fail"], format_version="1.3")


def test_reads_format_1_2() -> None:
    """Before 1.3 nothing was said of what parts spend."""
    value = json.loads(to_json(EXAMPLES["fail"]))
    value["format_version"] = "1.2"
    (audit,) = value["audits"]
    del audit["spending"], audit["chain"], audit["drawing"]
    for row in audit["ledger"]:
        for key in NEW_SINCE_1_0["ledger_row"]:
            del row[key]
    (read,) = from_json(json.dumps(value), where="result_1_2.json").audits
    assert read.spending is None
    assert [(row.text, row.claimed, row.exact_delta, row.loss) for row in read.ledger] == [
        (row["text"], None, None, None) for row in audit["ledger"]
    ]


def test_reads_format_1_0() -> None:
    text = (Path(__file__).parents[1] / "snapshots" / "result_1_0.json").read_text(encoding="utf-8")
    value = json.loads(text)
    assert value["format_version"] == "1.0"
    assert not NEW_SINCE_1_0["audit"] & value["audits"][0].keys()
    read = from_json(text, where="result_1_0.json")
    audit = read.audits[0]
    assert (audit.sequential, audit.floating_point, audit.evidence_plot) == (None, None, None)
    assert [evidence.family for evidence in audit.sampled] == ["", ""]
    assert (audit.verdict, audit.epsilon_lower) == (model.Verdict.FAIL, 1.3741)
    # what it had is written as it was
    again = json.loads(to_json(read))
    for audit_again in again["audits"]:
        for key in NEW_SINCE_1_0["audit"]:
            assert not audit_again.pop(key)
        for evidence in audit_again["sampled"]:
            assert evidence.pop("family") == ""
        for row in audit_again["ledger"]:
            assert not any(row.pop(key) for key in NEW_SINCE_1_0["ledger_row"])
        for evidence in audit_again["exact"]:
            assert evidence.pop("bounds") is None
            assert evidence.pop("by_density") is False
    assert again.pop("utility") == []
    assert again.pop("contest") is None
    assert again == value


def test_reads_proofs_of_format_1_2() -> None:
    """A proof without what symmetries saved: all laws were computed."""
    value = json.loads(to_json(EXAMPLES["proved"]))
    value["format_version"] = "1.2"
    for key in NEW_SINCE_1_2["proof"]:
        del value["audits"][0]["proof"][key]
    proof = from_json(json.dumps(value), where="result.json").audits[0].proof
    assert proof is not None
    assert (proof.laws, proof.symmetries, proof.confirmed) == (None, [], 0)
    assert proof.datasets == 9


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "properties" in value:
            yield value["properties"]
        for inner in value.values():
            yield from _objects(inner)
