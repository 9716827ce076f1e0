"""The command line of a request, read back by the real parser, is the request."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from audit_toys import PAIR, Response, response
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.cli import commands
from dpaudit.language import Multiset
from dpaudit.plans.command import command_line
from dpaudit.plans.request import Request
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
        "seconds": draw(st.none() | st.floats(1e-3, 1e6)),
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


@settings(max_examples=120)
@given(_requests())
def test_round_trip(wanted: Request) -> None:
    line = command_line(wanted)
    assert line.startswith("dpaudit check ")
    read = commands._parsed(line, jobs=1)
    assert read == wanted
    assert read.image() == wanted.image()
    assert command_line(read) == line


@pytest.mark.parametrize("value", ["1", "None", "a=b", " padded ", "'quoted'", "[0]", "-1", 1, 1.0, True, None, ""])
def test_a_parameter_keeps_its_type(value: Any) -> None:
    read = commands._parsed(command_line(Request(("A",), parameters={"x": value})), jobs=1)
    assert read.parameters == {"x": value}
    assert type(read.parameters["x"]) is type(value)


def test_numbers_of_numpy_are_numbers() -> None:
    wanted = Request(
        ("m:f",), epsilon=np.float64(0.5), delta=np.float64(0.1), alpha=np.float64(0.01), seconds=np.float64(3),
        pair=(as_dataset(np.array([0, 1])), as_dataset([np.int64(0), np.float64(2.5), np.bool_(True)])),
    )
    line = command_line(wanted)
    assert "np." not in line
    assert commands._parsed(line, jobs=1) == wanted


def test_a_tuple_of_records_is_not_a_list_of_lists() -> None:
    wanted = Request(("m:f",), pair=(((1, (2, 3)), (4,)), ()))
    assert commands._parsed(command_line(wanted), jobs=1).pair == wanted.pair


def test_what_does_not_change_the_result_is_left_out() -> None:
    assert command_line(Request(("A",), jobs=7)) == "dpaudit check A --seed 0"


def test_functions_and_mechanisms_are_named() -> None:
    assert command_line(Request((response,), pair=PAIR)).startswith("dpaudit check response --pair")
    assert command_line(Request((Response(),))) == "dpaudit check Response --seed 0"
