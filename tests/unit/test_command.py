"""The command line of a request, read back by the real parser, is the request."""

from __future__ import annotations

import inspect
import math
import shlex
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import typer
from audit_toys import PAIR, Response, response
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit
from dpaudit.api.functions import Settings
from dpaudit.cli import commands
from dpaudit.cli.requests import request_of
from dpaudit.errors import UsageError
from dpaudit.language import Claim, Multiset
from dpaudit.options import OPTIONS
from dpaudit.plans.command import command_line
from dpaudit.plans.request import ComparisonSpec, PriorEvidence, Request, VerifyMode, WorstCaseMode
from dpaudit.results.datasets import as_dataset

_numbers = st.floats(allow_nan=False, allow_infinity=False)
_plain = st.none() | st.booleans() | st.integers() | _numbers | st.text(st.characters(exclude_categories=["Cs"]))
_records = st.recursive(_plain, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
_sequences = st.lists(_records, max_size=4).map(tuple)
_multisets = st.dictionaries(st.integers(-5, 5), st.integers(1, 9), max_size=4).map(Multiset.counted) | st.lists(
    st.tuples(st.integers(0, 3), st.text("ab'\" ", max_size=3)), max_size=4
).map(Multiset.of)
_pairs = st.tuples(_sequences | _multisets, _sequences | _multisets)
_values = st.none() | st.booleans() | st.integers() | _numbers | st.text(st.characters(exclude_categories=["Cs"]))
_parameters = st.dictionaries(
    st.sampled_from(["epsilon", "k", "name_2"]), _values | st.lists(_values, max_size=2) | st.tuples(_values)
)


@st.composite
def _requests(draw: st.DrawFn) -> Request:
    words = st.text("abcdXYZ_/. 'é", min_size=1, max_size=6)
    target = st.builds("{}.py:{}".format, words, st.from_regex("[a-z]{1,5}", fullmatch=True)) | st.sampled_from(
        ["RecPrefix", "package.module:function"]
    )
    settings: dict[str, Any] = {
        "targets": tuple(draw(st.lists(target, min_size=1, max_size=3, unique=True))),
        "seed": draw(st.integers(0, 2**80)),
        "alpha": draw(st.just(0.001) | st.floats(1e-9, 0.49)),
        "runs": draw(st.none() | st.integers(1, 10**12)),
        "time": draw(st.none() | st.floats(1e-3, 1e6)),
        "epsilon": draw(st.none() | st.floats(0, 1e300)),
        "delta": draw(st.none() | st.floats(0, 1)),
        "relation": draw(st.none() | st.sampled_from(["replace-one", "add-remove-one:3"])),
        "parameters": draw(_parameters),
        "groups": draw(st.none() | st.integers(2, 99)),
    }
    match draw(st.integers(0, 2)):
        case 1:
            settings["pair"] = draw(_pairs)
        case 2:
            settings["data"] = draw(st.sampled_from(["integers(0, 9)", 'sampled_from(["a b", "c"])', "booleans()"]))
            settings["size"] = draw(st.none() | st.integers(1, 99))
    return Request(**settings)


def _parsed(line: str) -> Request:
    """The request of a line, by the parser that the terminal's words go through."""
    _, name, *words = shlex.split(line)
    group: Any = typer.main.get_command(commands.app)
    given = {**group.commands[name].make_context(name, words).params, "jobs": 1}
    return request_of(name, [given["name"]] if name == "compare" else given["targets"], given)


@settings(max_examples=120)
@given(_requests())
def test_round_trip(wanted: Request) -> None:
    line = command_line(wanted)
    assert line.startswith("dpaudit check ")
    read = _parsed(line)
    assert read == wanted
    assert read.image() == wanted.image()
    assert command_line(read) == line
    assert Request.from_json(wanted.to_json()) == wanted


@pytest.mark.parametrize(
    "more",
    [
        {"verify": VerifyMode(None, 3, 2, True, False)},
        {"worst_case": WorstCaseMode(8, 5, None, True, True, 77, True)},
        {"comparison": ComparisonSpec("interior-points", (10, 100), (("epsilon", 0.5), ("sizes", (1, 2))))},
        {"prior": {"ab": PriorEvidence(-math.inf, (0, 7), "f against ε = 1", 0.1)}, "prior_from": "e.json"},
        {"min_power": math.inf, "parameters": {"most": math.inf, "nested": ((1, "a"), [None])}},
        {"spelled": frozenset({"alpha", "bits"}), "only": "utility", "certify": True, "jobs": 3},
    ],
    ids=lambda more: next(iter(more)),
)
def test_every_part_of_a_request_is_written_and_read(more: dict[str, Any]) -> None:
    wanted = Request(("A",), **more)
    assert Request.from_json(wanted.to_json()) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (
            "dpaudit verify A --domain 3 --size 2 --groups 1 --ordered --no-symmetries --epsilon 0.5 --time 9.0",
            Request(("A",), epsilon=0.5, time=9.0, verify=VerifyMode(3, 2, 1, True, False)),
        ),
        ("dpaudit verify A --size 4 --groups 3", Request(("A",), verify=VerifyMode(None, 4, 3))),
        (
            "dpaudit worst A --size 5 --case x --scores --realised --pairs 7 --delta 0.1 --seed 3",
            Request(("A",), seed=3, delta=0.1, worst_case=WorstCaseMode(None, 5, "x", True, True, 7)),
        ),
        (
            "dpaudit compare A --n 10,20 --param epsilon=0.5 --runs 9 --alpha 0.01 --seed 0",
            Request(("A",), runs=9, alpha=0.01, comparison=ComparisonSpec("A", (10, 20), (("epsilon", 0.5),))),
        ),
        (
            "dpaudit check A --alpha 0.001 --bits --min-power inf --black-box --seed 0",
            Request(("A",), bits=True, min_power=math.inf, black_box=True, spelled=frozenset({"alpha", "bits"})),
        ),
        ("dpaudit check A --no-bits --seed 0", Request(("A",), spelled=frozenset({"bits", "jobs", "time"}))),
    ],
)
def test_command_lines(line: str, wanted: Request) -> None:
    assert command_line(wanted) == line
    assert _parsed(line) == replace(wanted, spelled=frozenset())


def test_the_functions_take_the_options_of_the_table() -> None:
    """They are written out for editors; names and defaults are the table's, but for `groups` of `verify`."""
    others = {"target", "name", "claim", "progress", "only", "D_outputs", "Dprime_outputs"}
    functions = {"check": "audit", "plan": "audit", "samples": "audit_samples", "stability": "audit_stability"}
    for name, options in OPTIONS.items():
        # columns and what is followed are parts of files; a name is no option but of recorded outputs
        options = [option for option in options if option.name not in ("column", "follow", "name")]
        function = getattr(dpaudit, functions.get(name, name))
        taken = inspect.signature(function).parameters
        # ε, (ε, δ) and curves are one argument in Python
        assert set(taken) - others == {option.name for option in options} - ({"jobs", "claim"} - (set(taken) - others))
        for option in options:
            if option.kind in ("number", "count", "flag") and option.name not in ("jobs", "groups", "symmetries"):
                assert taken[option.name].default == option.default, f"{name}: {option.name}"
    options = {option.name for option in OPTIONS["check"]} - {"claim"}
    assert set(Settings.__annotations__) == options | {"only", "progress"}


def test_a_request_that_cannot_be_written_or_read() -> None:
    for held in (Request((response,), pair=PAIR), Request(("A",), claim=Claim(1.0))):
        with pytest.raises(UsageError, match="cannot be serialised; name them"):
            held.to_json()
    for text in ("", "[]", "{}", Request(("A",)).to_json().replace('"pairs": []', '"pairs": [1]')):
        with pytest.raises(UsageError, match=r"^This is not a request written by dpaudit \(.*\)\.$"):
            Request.from_json(text)


@pytest.mark.parametrize("value", ["1", "None", "a=b", " padded ", "'quoted'", "[0]", "-1", 1, 1.0, True, None, ""])
def test_a_parameter_keeps_its_type(value: Any) -> None:
    read = _parsed(command_line(Request(("A",), parameters={"x": value})))
    assert read.parameters == {"x": value}
    assert type(read.parameters["x"]) is type(value)


def test_numbers_of_numpy_are_numbers() -> None:
    wanted = Request(
        ("m:f",), epsilon=np.float64(0.5), delta=np.float64(0.1), alpha=np.float64(0.01), time=np.float64(3),
        pair=(as_dataset(np.array([0, 1])), as_dataset([np.int64(0), np.float64(2.5), np.bool_(True)])),
    )
    line = command_line(wanted)
    assert "np." not in line
    assert _parsed(line) == wanted


def test_a_tuple_of_records_is_not_a_list_of_lists() -> None:
    wanted = Request(("m:f",), pair=(((1, (2, 3)), (4,)), ()))
    assert _parsed(command_line(wanted)).pair == wanted.pair


def test_what_does_not_change_the_result_is_left_out() -> None:
    assert command_line(Request(("A",), jobs=7)) == "dpaudit check A --seed 0"


def test_functions_and_mechanisms_are_named() -> None:
    assert command_line(Request((response,), pair=PAIR)).startswith("dpaudit check response --pair")
    assert command_line(Request((Response(),))) == "dpaudit check Response --seed 0"
