"""What a function gets its records in: frames, series and arrays, as they were given."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import Generator, SeedSequence, default_rng

import dpaudit
from dpaudit.adversary.pairs.description import parse_description
from dpaudit.adversary.pairs.observed import Observed, observed_records, table_pairs
from dpaudit.errors import DatasetError, UsageError
from dpaudit.language import ADD_REMOVE_ONE, REPLACE_ONE
from dpaudit.language.containers import Array, Column, Frame, container_from_json, container_of, in_common
from dpaudit.language.records import plain_record
from dpaudit.plans.command import command_line
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.request import Request
from dpaudit.report.datasets import compare
from dpaudit.results.given_data import given_pair, parse_pair, table_of
from dpaudit.subjects.target import FunctionTarget

try:
    import polars as pl
except ImportError:
    pl = None
needs_polars = pytest.mark.skipif(pl is None, reason="polars is not installed")
new_text = pytest.mark.skipif(pd.__version__ < "3", reason="before pandas 3 text in a frame is objects")

FRAME = pd.DataFrame({
    "age": [18.0, None, 40.0],
    "sex": ["f", None, "m"],
    "here": [True, False, True],
    "n": pd.array([1, None, 3], dtype="Int64"),
    "day": pd.to_datetime(["2024-01-01", "2024-02-03", None]),
    "zone": pd.to_datetime(["2024-03-31 01:00", "2024-07-01 00:00", None]).tz_localize("Europe/Berlin"),
    "class": pd.Categorical(["a", "b", None], categories=["b", "a"], ordered=True),
    "span": pd.to_timedelta(["1 days", "2h", None]),
    "any": ["x", 1, None],
    "month": pd.period_range("2024-01", periods=3, freq="M"),
    "maybe": pd.array([True, None, False], dtype="boolean"),
    "small": np.array([1, 2, 3], dtype="int8"),
    "zero": [-0.0, np.inf, np.nan],
    "date": [datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 2)],
    "price": [decimal.Decimal("1.10"), None, decimal.Decimal("2")],
})


def _again(value: Any) -> Any:
    """The object, taken apart and made again, with its container through JSON."""
    container = container_of(value)
    assert container is not None
    restored = container_from_json(json.loads(json.dumps(container.to_json())))
    assert restored == container
    return restored.copier(plain_record(container.records(value)))()


@pytest.mark.parametrize("frame", [
    FRAME, FRAME.iloc[:0], FRAME.iloc[1:2].reset_index(drop=True), FRAME.set_index("sex"), FRAME.set_index("day"),
    pd.DataFrame(np.zeros((2, 2))), pd.DataFrame({"a": [1, 2]}, index=["x", "y"]),
])  # fmt: skip
def test_a_frame_is_made_again_as_it_was(frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(_again(frame), frame)


@pytest.mark.parametrize("series", [
    FRAME["age"], FRAME["day"], FRAME["class"], FRAME.set_index("n")["small"], pd.Series([1, 2], name="x"),
    pd.Series(["a", "b"], index=["x", "y"]), pd.Series(["a", "b"], index=["x", "y"], dtype=object),
])  # fmt: skip
def test_a_series_is_made_again_as_it_was(series: pd.Series) -> None:
    pd.testing.assert_series_equal(_again(series), series)


def test_an_index_that_numbers_rows_is_made_anew() -> None:
    # as datasets are that were made by dropping a row
    assert _again(FRAME.drop(1)).index.tolist() == [0, 1]
    assert given_pair(FRAME, FRAME.drop(1)).datasets[1] == given_pair(FRAME, FRAME.drop(1)).datasets[0][::2]


@pytest.mark.parametrize("array", [
    np.array([0, 1, 1]), np.array([0.5, np.nan, -0.0]), np.zeros((3, 2)), np.zeros((0, 2)), np.zeros((2, 2, 2)),
    np.array(["a", "bb"]), np.array([True, False]), np.array([1, 2], dtype="int8"), np.array([1.5], dtype="float32"),
    np.array([(1,), "x", None], dtype=object), np.array(["2024-01-01", "NaT"], dtype="datetime64[ns]"),
    np.array([5], dtype="timedelta64[s]"),
])  # fmt: skip
def test_an_array_is_made_again_as_it_was(array: np.ndarray[Any, Any]) -> None:
    made = _again(array)
    assert made.dtype == array.dtype
    assert made.shape == array.shape
    np.testing.assert_array_equal(made, array)


@needs_polars
def test_polars_frames_are_made_again() -> None:
    frame = pl.DataFrame({
        "age": [18, None], "sex": ["f", None], "day": [datetime.date(2024, 1, 1), None],
        "at": [datetime.datetime(2024, 1, 1, 3), None], "here": [True, None], "x": [1.5, float("nan")],
        "span": [datetime.timedelta(1), None],
    }).with_columns(
        kind=pl.col("sex").cast(pl.Categorical), fixed=pl.col("sex").cast(pl.Enum(["f", "m"])),
        zone=pl.col("at").dt.replace_time_zone("Europe/Berlin"), small=pl.col("age").cast(pl.Int8),
    )
    for one in (frame, frame[:0]):
        assert _again(one).equals(one, null_equal=True)
        assert _again(one).schema == one.schema
    assert _again(frame["age"]).equals(frame["age"], null_equal=True)
    with pytest.raises(DatasetError, match="LazyFrame"):
        container_of(frame.lazy())
    with pytest.raises(DatasetError, match=r"List\(Int64\)"):
        container_of(pl.DataFrame({"a": [[1]]}))


@pytest.mark.parametrize(("value", "says"), [
    (pd.DataFrame(), "without columns"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns named 'a'"),
    (pd.DataFrame({"a": [[1]]}), "Column 'a' of the dataset holds a list"),
    (pd.DataFrame({"a": [pd.NA, 1]}), "convert_dtypes"),
    (FRAME.set_index(["sex", "here"]), "reset_index"),
    (pd.DataFrame({("a", "b"): [1]}), "columns of several levels"),
    (pd.DataFrame({1.5: [1]}), "a column named 1.5"),
    (np.array(3), "without an axis"),
    (np.zeros(2, dtype=[("a", int)]), "structured"),
    (np.ma.array([1]), "MaskedArray"),
    (np.array([[1], 2], dtype=object), "holds a list"),
])  # fmt: skip
def test_what_cannot_be_taken_apart_is_refused(value: Any, says: str) -> None:
    with pytest.raises(DatasetError, match=says):
        container_of(value)


@pytest.mark.parametrize(("left", "right", "says"), [
    (FRAME, [1], "D is a pandas DataFrame and D′ is a list"),
    (FRAME[["age", "sex"]], FRAME[["age"]], "D has the columns age, sex, and D′ has age; neighbours differ in rows"),
    (np.zeros((1, 2)), np.zeros((1, 3)), "rows of D have 2 entries and those of D′ 3"),
    (FRAME[["age"]], FRAME[["age"]].astype(str), "Column 'age' is float64 in D and str in D′"),
    (np.array([1]), np.array(["a"]), "The entries are int64 in D and str in D′"),
    (pd.Series(["a"], dtype="category"), pd.Series(["b"], dtype="category"), "other categories"),
])  # fmt: skip
def test_the_two_of_a_pair_go_together(left: Any, right: Any, says: str) -> None:
    if says.endswith("str in D′") and "Column" in says and pd.__version__ < "3":
        says = "Column 'age' is float64 in D"
    with pytest.raises(DatasetError, match=says):
        given_pair(left, right)


def test_whole_numbers_beside_floats_become_floats() -> None:
    # as pd.read_csv does where one file has a missing value
    pair = given_pair(pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, None]}))
    assert pair.container == Frame("pandas", (Column("a", "float64"),))
    assert [type(row[0]) for row in pair.datasets[0]] == [float, float]
    assert in_common(Array("int64"), Array("float64"), (2, 0)) == Array("int64")


def test_a_function_gets_a_fresh_object_for_every_call() -> None:
    seen: list[int] = []

    def spoils(frame: pd.DataFrame, rng: Generator) -> float:
        assert type(frame) is pd.DataFrame
        seen.append(len(frame))
        frame.loc[0, "age"] = -1.0
        frame["more"] = 1
        assert frame.loc[2, "age"] == 40.0
        return 0.0

    target = FunctionTarget("spoils", "", spoils, container=container_of(FRAME))
    outputs = target.runs(given_pair(FRAME, FRAME).datasets[0], 5, SeedSequence(0))
    assert seen == [3] * 5
    assert outputs.runs == 5


def test_a_request_keeps_its_container_and_other_ids_stay() -> None:
    given = given_pair(FRAME[["age", "sex"]], FRAME[["age", "sex"]].iloc[:2])
    request = Request(("f.py:f",), pair=given.datasets, container=given.container)
    again = Request.from_json(request.to_json())
    assert again == request
    assert request.image()["container"]
    assert request.image() != Request(("f.py:f",), pair=given.datasets).image()
    assert not {"container", "table", "sized"} & Request(("f.py:f",), pair=((0,), (1,))).image().keys()
    table = Request(("f.py:f",), data="t.csv", table=given.datasets[0], container=given.container)
    assert Request.from_json(table.to_json()) == table
    # one that was kept before there were containers
    old = {k: v for k, v in json.loads(request.to_json()).items() if k not in ("container", "table", "files")}
    assert Request.from_json(json.dumps(old)).container is None


def _written(folder: Path, name: str, frame: pd.DataFrame) -> str:
    frame.to_csv(folder / name, index=False)
    return str(folder / name)


def test_files_of_a_pair(tmp_path: Path) -> None:
    a = _written(tmp_path, "a.csv", pd.DataFrame({"x": [1, 2], "s": ["u", "v"]}))
    b = _written(tmp_path, "b.csv", pd.DataFrame({"x": [1, 3], "s": ["u", "v"]}))
    given = parse_pair(a, b)
    assert given.datasets == (((1, "u"), (2, "v")), ((1, "u"), (3, "v")))
    request = Request(("f.py:f",), epsilon=1.0, pair=given.datasets, container=given.container, files=given.files)
    assert f"--pair {a} {b}" in command_line(request)
    np.save(tmp_path / "a.npy", np.array([0, 1]))
    assert parse_pair(str(tmp_path / "a.npy"), str(tmp_path / "a.npy")).container == Array("int64")
    (tmp_path / "a.json").write_text("[0, 1]")
    assert parse_pair(str(tmp_path / "a.json"), "[0, 0]").datasets == ((0, 1), (0, 0))
    with pytest.raises(DatasetError, match=r"There is no file missing\.csv"):
        parse_pair("missing.csv", b)
    (tmp_path / "bad.npy").write_text("x")
    with pytest.raises(DatasetError, match="Cannot read"):
        parse_pair(str(tmp_path / "bad.npy"), b)


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    FRAME[["age", "sex", "day"]].to_parquet(tmp_path / "a.parquet")
    table = table_of(str(tmp_path / "a.parquet"))
    assert table is not None
    assert table.container == container_of(FRAME[["age", "sex", "day"]])


def test_a_missing_library_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a = _written(tmp_path, "a.csv", pd.DataFrame({"x": [1]}))
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(UsageError, match=r"pandas is needed to read .*a\.csv and is not installed: pip install pandas"):
        table_of(a)


def test_a_table_describes_its_records_by_what_was_observed() -> None:
    table = FRAME[["age", "sex", "small", "class"]]
    container = container_of(table)
    assert container is not None
    records = observed_records(container.records(table), container)
    assert isinstance(records, Observed)
    rng = default_rng(0)
    for record in [records.draw(rng) for _ in range(200)] + list(records.special) + list(records.exceptional):
        assert records.contains(record)
        age, sex, small, kind = record
        assert np.isnan(age) or 18 <= age <= 40
        assert sex in ("f", "m", None)
        assert 1 <= small <= 3
        assert kind in ("a", "b", None)
        container.made([plain_record(record)])


@pytest.mark.parametrize("relation", [REPLACE_ONE, ADD_REMOVE_ONE, REPLACE_ONE.group(2), ADD_REMOVE_ONE.group(2)])
def test_neighbours_of_a_table(relation: dpaudit.Relation) -> None:
    table = tuple((i, "fm"[i % 2]) for i in range(9))
    pairs = table_pairs(relation, observed_records(table, None), table, default_rng(0))
    assert all(relation.related(pair.left, pair.right) for pair in pairs)
    own = [pair for pair in pairs if pair.left == table]
    assert len(own) > 5
    if relation == ADD_REMOVE_ONE:
        assert any(len(pair.right) == 8 and (8, "f") not in pair.right for pair in own)
        assert any(len(pair.right) == 10 for pair in own)


@pytest.mark.parametrize(("data", "kind"), [
    pytest.param("frame(age=integers(18, 100), sex=sampled_from(['f', 'm']))", pd.DataFrame, marks=new_text),
    ("frame({'a b': booleans()})", pd.DataFrame),
    ("series(floats(0, 1))", pd.Series),
    ("array(integers(0, 1))", np.ndarray),
    ("array(tuples(floats(0, 1), floats(0, 1)))", np.ndarray),
    ("array(lists(integers(0, 9), 3, 3))", np.ndarray),
])  # fmt: skip
def test_descriptions_say_what_a_function_gets(data: str, kind: type) -> None:
    described = parse_description(data)
    assert described.container is not None
    rng = default_rng(0)
    rows = [plain_record(described.records.draw(rng)) for _ in range(3)]
    made = described.container.made(rows)
    assert type(made) is kind
    assert len(made) == 3
    assert container_of(made) == described.container


@pytest.mark.parametrize("data", ["frame()", "frame(1)", "frame(a=3)", "array()", "series(a=integers(0, 1))"])
def test_descriptions_of_no_table(data: str) -> None:
    with pytest.raises(DatasetError, match="frame"):
        parse_description(data)


def _sizes(relation: str, data: object, size: int | None) -> set[int]:
    table = table_of(data)
    request = Request(
        (_three,), epsilon=1.0, relation=relation, data=table.name if table else str(data), size=size,
        table=None if table is None else table.records, container=None if table is None else table.container,
    )
    (job,) = jobs_of(request)
    return {len(dataset) for pair in job.pairs for dataset in (pair.left, pair.right)}


def _three(data: Sequence[float], rng: Generator) -> float:
    if len(data) != 3:
        raise ValueError("three records")
    return float(np.sum(data) + rng.laplace(0, 0.4))


def test_a_size_that_is_given_is_kept() -> None:
    assert _sizes("replace-one", "integers(0, 1)", 3) == {3}
    assert _sizes("replace-one", "integers(0, 1)", 1) == {1}
    assert _sizes("add-remove-one", "integers(0, 1)", 3) == {2, 3, 4}
    assert 11 in _sizes("add-remove-one", "integers(0, 1)", None)
    assert _sizes("replace-one", np.arange(9), 4) == {4}
    with pytest.raises(UsageError, match="size is 12, and a 1-D numpy array has 9 rows"):
        dpaudit.audit(_three, 1.0, data=np.arange(9), size=12)


def test_the_search_and_the_minimiser_keep_the_size() -> None:
    result = dpaudit.audit(_three, 1.0, data="array(integers(0, 1))", size=3, runs=2000)
    assert result.verdict == "fail"
    assert result.audit.pair is not None
    assert len(result.audit.pair.left) == len(result.audit.pair.right) == 3
    assert result.audit.pair.left.count(0) >= 2  # minimised


def _women(frame: pd.DataFrame, rng: Generator, *, scale: float = 1.0) -> float:
    assert type(frame) is pd.DataFrame
    return float((frame["sex"] == "f").sum() + rng.laplace(0, scale))


PEOPLE = pd.DataFrame({"age": [18, 30, 40, 55], "sex": ["f", "m", "f", "m"]})


@pytest.mark.parametrize(("scale", "verdict"), [(1.0, "pass"), (0.3, "fail")])
@pytest.mark.parametrize("given", [
    {"pair": (PEOPLE, PEOPLE.drop(2)), "relation": "add-remove-one"},
    {"data": PEOPLE},
    {"data": "frame(age=integers(18, 100), sex=sampled_from(['f', 'm']))"},
])  # fmt: skip
def test_audits_of_functions_of_frames(scale: float, verdict: str, given: Any) -> None:
    function: Callable[..., float] = partial(_women, scale=scale)
    result = dpaudit.audit(function, 1.0, runs=3000, **given)
    assert result.verdict == verdict
    assert result.audit.pair is not None
    assert result.audit.pair.columns == ["age", "sex"]


def test_a_catalogue_mechanism_gets_records() -> None:
    result = dpaudit.audit(
        "LaplaceMechanism", pair=(np.array([0, 1]), np.array([0, 0])), relation="replace-one", runs=200, only="privacy"
    )
    assert not result.audit.crashed


@needs_polars
def test_polars_frames_go_in() -> None:
    frame = pl.DataFrame({"x": [0, 1, 1]})

    def count(given: Any, rng: Generator, size: int) -> Any:
        return given["x"].sum() + rng.laplace(0, 1, size)

    assert dpaudit.audit(count, 1.0, pair=(frame, frame[:2]), relation="add-remove-one", runs=1000).verdict == "pass"
    assert dpaudit.audit(count, 1.0, data="polars(x=integers(0, 1))", runs=1000).verdict == "pass"


def _lines(left: Any, right: Any, columns: list[str], width: int = 88) -> list[str]:
    (part,) = compare(left, right, columns=columns, limit=12)
    return ["".join(piece.text for piece in line) for line in part.lines(width=width)]


def test_pairs_are_shown_as_rows() -> None:
    assert _lines([[18, "f"], [40, "f"]], [[18, "f"], [100, "f"]], ["age", "sex"]) == [
        "D     age  sex  (2 rows)",
        "   0   18  f",
        "   1  ‹40› f",
        "D′    age  sex  (2 rows)",
        "   0   18  f",
        "   1 ‹100› f",
    ]
    removed = _lines([[18, "f"], [40, "m"]], [[18, "f"]], ["age", "sex"])
    assert removed[2:] == ["   1  ‹40›‹m›", "D′    age  sex  (1 row)", "   0   18  f"]


def test_long_and_wide_tables_are_elided() -> None:
    left = [[i, "x"] for i in range(200)]
    right = [[i, "y" if i == 120 else "x"] for i in range(200)]
    lines = _lines(left, right, ["n", "s"])
    assert any("‹y›" in line for line in lines)
    assert any("116 more rows" in line for line in lines)
    assert len(lines) < 30
    wide = _lines([[0] * 40], [[0] * 39 + [1]], [f"column {i}" for i in range(40)])
    assert max(map(len, wide)) < 130
    assert "‹1›" in wide[-1]
    assert "more columns" in wide[0]


def test_cells_are_what_they_look_like() -> None:
    (_, line, *_) = _lines([["1", "None", None, True, "", {"float": "nan"}]], [["2", "a", None, True, "", 1.0]],
                           ["a", "b", "c", "d", "e", "f"])
    assert line.split() == ["0", '‹"1"›‹"None"›', "None", "True", '""', "‹NaN›"]


def test_a_strategy_of_pairs_of_frames() -> None:
    pytest.importorskip("hypothesis")
    from dpaudit.strategies import Neighbours, neighbours

    rows = neighbours("replace-one", "tuples(integers(18, 100), sampled_from(['f', 'm']))", min_size=1, max_size=3)
    frames = rows.map(
        lambda pair: Neighbours(*(pd.DataFrame(list(one), columns=["age", "sex"]) for one in pair))
    )
    result = dpaudit.audit(partial(_women, scale=0.3), 1.0, data=frames, runs=2000)
    assert result.verdict == "fail"
    assert result.audit.pair is not None
    assert result.audit.pair.columns == ["age", "sex"]
