"""Descriptions of data: what they draw, and that nothing else is understood or run."""

from __future__ import annotations

from typing import Any

import pytest
from numpy.random import default_rng

from dpaudit.adversary.pairs.describe import Floats, Integers, SampledFrom, Tuples
from dpaudit.adversary.pairs.description import parse_records
from dpaudit.errors import DatasetError


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ("integers(0, 100)", Integers(0, 100)),
        ("  integers( -5,5 ) ", Integers(-5, 5)),
        (f"integers({-2**63}, {2**63 - 1})", Integers(-(2**63), 2**63 - 1)),
        ("floats(0, 1.5)", Floats(0.0, 1.5)),
        ("booleans()", SampledFrom((False, True))),
        ('sampled_from(["a", "b"])', SampledFrom(("a", "b"))),
        ("sampled_from((1, None, True and 2.5))", None),
        ("sampled_from([[1, [2]], (3, 4)])", SampledFrom(((1, (2,)), (3, 4)))),
        ("sampled_from([None, -1, 0.5])", SampledFrom((None, -1, 0.5))),
        ("tuples(integers(0, 9), booleans())", Tuples((Integers(0, 9), SampledFrom((False, True))))),
        ("tuples(tuples(floats(0, 1)))", Tuples((Tuples((Floats(0.0, 1.0),)),))),
    ],
)
def test_what_is_understood(text: str, records: Any) -> None:
    if records is None:
        with pytest.raises(DatasetError):
            parse_records(text)
    else:
        assert parse_records(text) == records


@pytest.mark.parametrize(
    "text",
    [
        "", "integers", "integers()", "integers(1)", "integers(1, 1)", "integers(2, 1)", "integers(0, 1.5)",
        "integers(0, 1, 2)", "integers('a', 'b')", "integers(*[0, 1])", "integers(0, high=1)", "floats(1, 0)",
        "floats(0, 1e400)", "floats(-1e308, 1e308)", f"integers(0, {2**63})", f"integers(0, {10**400})",
        "booleans(1)", "sampled_from([])", "sampled_from([1])", "sampled_from([1, 1.0])", "sampled_from([1, True])",
        "sampled_from('ab')", "sampled_from([{1: 2}, 3])", "sampled_from([{1}, 3])", "sampled_from([b'x', 3])",
        "sampled_from([1j, 3])", "sampled_from([1e999, 3])", "tuples()", "tuples(3)", "tuples(integers(1, 0))",
        "other(0, 1)", "a.integers(0, 1)", "integers(0, 1); integers(0, 1)", "integers(0, 1) or 3", "lambda: 0",
        "integers(0, ", "\x00", "(" * 400, "integers(" + "(" * 300 + "0" + ")" * 300 + ", 1)", "-" * 5000 + "1",
    ],
)  # fmt: skip
def test_what_is_refused(text: str) -> None:
    with pytest.raises(DatasetError, match=r"^--data "):
        parse_records(text)


@pytest.mark.parametrize(
    "code",
    ["__import__('os').getpid()", "open('pwned', 'w')", "exec('pwned = 1')", "[x for x in (1, 2)]", "print('pwned')"],
)
@pytest.mark.parametrize("form", ["{}", "integers({}, 5)", "sampled_from([{}, 1])", "tuples({})", "sampled_from({})"])
def test_no_code_is_run(form: str, code: str, capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    with pytest.raises(DatasetError):
        parse_records(form.format(code))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("integers(3, 7)", lambda v: type(v) is int and 3 <= v <= 7),
        ("floats(-1, 1)", lambda v: type(v) is float and -1 <= v <= 1),
        ("sampled_from(['a', 'b', 'c'])", lambda v: v in "abc"),
        ("tuples(integers(0, 1), floats(0, 1))", lambda v: type(v) is tuple and v[0] in (0, 1) and 0 <= v[1] <= 1),
    ],
)
def test_draws(text: str, good: Any) -> None:
    records = parse_records(text)
    rng = default_rng(0)
    drawn = [records.draw(rng) for _ in range(200)]
    assert all(good(v) for v in drawn)
    assert len(set(drawn)) > 1
    again = default_rng(0)
    assert drawn == [records.draw(again) for _ in range(200)]


def test_every_value_can_be_drawn() -> None:
    rng = default_rng(1)
    for text, values in [("integers(3, 5)", {3, 4, 5}), ("booleans()", {False, True})]:
        assert {parse_records(text).draw(rng) for _ in range(200)} == values


def test_extremes() -> None:
    assert parse_records("integers(3, 7)").extremes == (3, 7)
    assert parse_records("tuples(integers(0, 9), booleans())").extremes == ((0, False), (9, True))
    assert parse_records("sampled_from(['m', 'a', 'z'])").extremes == ("m", "z")
