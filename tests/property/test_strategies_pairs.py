"""Strategies of datasets and neighbours: what they give, reach and shrink to, for every relation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import hypothesis
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from dpaudit import strategies as dst
from dpaudit.errors import DatasetError, ParameterError, UnknownNameError
from dpaudit.language import Dataset, Multiset, Relation, ReplaceOne, relation_named, relation_names

quick = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
ROWS = "tuples(integers(0, 2), booleans(), sampled_from(['priv', 'pub']))"
RECORDS = {
    "private-rows": ROWS, "users": "tuples(integers(0, 2), integers(0, 3))", "answers-linf": "integers(0, 9)",
    "answers-l1": "floats(-2, 2)", "answers-l2": "floats(-2, 2)",
}


def records_for(relation: Relation) -> str:
    return RECORDS.get(relation.kind, "integers(0, 4)")


@dataclass(frozen=True)
class LastOnly(ReplaceOne):
    """Somebody's own relation: the last record alone may differ, and by one step."""

    kind: ClassVar[str] = "last-only"

    def distance(self, left: Dataset, right: Dataset) -> int | None:
        a, b = tuple(left), tuple(right)
        return abs(a[-1] - b[-1]) if a and b and a[:-1] == b[:-1] else 0 if a == b else None

    def neighbours(self, dataset: Dataset, domain: Sequence[Any]) -> Iterator[Dataset]:
        records = tuple(dataset)
        for new in domain:
            if records and abs(new - records[-1]) == 1:
                yield (*records[:-1], new)

    def random_neighbour(self, dataset: Dataset, domain: Sequence[Any], rng: Generator) -> Dataset:
        return next(self.neighbours(dataset, domain), dataset)


EVERY = [*map(relation_named, relation_names()), LastOnly()]
REACHES = [relation_named(f"answers-{norm}@{reach}") for norm in ("linf", "l1", "l2") for reach in (0.25, 2)]
GROUPS = [relation.group(k) for relation in (*EVERY, *REACHES) for k in (1, 3)]


@pytest.mark.slow(
    fast=[
        "*-one", "*-one:3", "answers-linf", "answers-l?@0.25", "answers-l1@2.0:3", "last-only:3", "private-rows",
        "users", "users:3",
    ]
)
@pytest.mark.parametrize("relation", GROUPS, ids=lambda relation: relation.name)
@quick
@given(st.data())
def test_every_pair_is_related_both_ways_and_different(relation: Relation, data: st.DataObject) -> None:
    least, most = data.draw(st.sampled_from([(0, 10), (0, 3), (2, 5), (1, 2)]))
    ordered = relation.kind.startswith("answers") or data.draw(st.booleans())
    pair = data.draw(
        dst.neighbours(relation, records_for(relation), min_size=least, max_size=most, ordered=ordered)
    )
    left, right = pair
    # of −0.0 and 0.0 too, which Python's == takes for the same
    assert relation.distance(left, right) not in (0, None)
    assert relation.related(left, right)
    assert relation.distance(left, right) == relation.distance(right, left)
    for side in pair:
        assert least <= len(side) <= most
        assert isinstance(side, tuple if ordered else Multiset)


SMALLEST: dict[str, Any] = {
    "replace-one": (((0,), (1,)), ((1,), (0,))),
    "add-remove-one": (((), (0,)), ((0,), ())),
    "answers-linf": (((0,), (1,)), ((1,), (0,))),
    "answers-l1": (((0.0,), (1.0,)), ((1.0,), (0.0,))),
    "answers-l2": (((0.0,), (1.0,)), ((1.0,), (0.0,))),
    "private-rows": ((((0, False, "priv"),), ((0, True, "priv"),)), (((0, True, "priv"),), ((0, False, "priv"),))),
    "users": (((), ((0, 0),)), (((0, 0),), ())),
    "last-only": (((0,), (1,)), ((1,), (0,))),
}


def smallest(strategy: Any, condition: Any) -> Any:
    return hypothesis.find(
        strategy, condition, settings=settings(max_examples=3000)
    )


@pytest.mark.slow(fast=["replace-one"])
@pytest.mark.parametrize("relation", EVERY, ids=lambda relation: relation.name)
def test_pairs_shrink_to_the_smallest_in_both_directions(relation: Relation) -> None:
    strategy = dst.neighbours(relation, records_for(relation))
    forth, back = SMALLEST[relation.kind]
    if relation.kind in ("answers-l1", "answers-l2"):
        # whichever real numbers are simplest, they are one record and one step
        found = smallest(strategy, lambda pair: True)
        assert len(found.left) == len(found.right) == 1
        return
    assert smallest(strategy, lambda pair: True) in (forth, back)
    if relation.kind in ("add-remove-one", "users"):
        assert smallest(strategy, lambda pair: len(pair.left) > len(pair.right)) == back
    else:
        assert smallest(strategy, lambda pair: pair.left > pair.right) == back


@pytest.mark.slow(
    only=[
        "answers-l2:2-<lambda>-pair11",
        "answers-l1@0.25-<lambda>-None",
        "answers-l1-<lambda>-pair9",
        "answers-linf-<lambda>-None",
        "answers-linf-<lambda>-pair7",
    ]
)
@pytest.mark.parametrize(
    ("relation", "condition", "pair"),
    [
        ("replace-one", lambda p: 7 in p.left and 7 in p.right and p.left.count(3) < p.right.count(3),
         ((0, 7), (3, 7))),
        ("replace-one", lambda p: len(p.left) > 1 and len(set(p.left)) == 1, ((0, 0), (0, 1))),
        ("replace-one", lambda p: sum(p.left) - sum(p.right) == 50, ((50,), (0,))),
        ("replace-one:3", lambda p: sum(a != b for a, b in zip(*p, strict=True)) == 3, ((0, 0, 0), (1, 1, 1))),
        ("add-remove-one", lambda p: len(p.left) == 2 and len(p.right) == 3, ((0, 0), (0, 0, 0))),
        ("add-remove-one:2", lambda p: len(p.left) == len(p.right) == 1, ((0,), (1,))),
        ("add-remove-one:2", lambda p: len(p.left) == 0 and len(p.right) == 2, ((), (0, 0))),
        ("answers-linf", lambda p: all(b - a == 1 for a, b in zip(*p, strict=True)) and len(p.left) == 3,
         ((0, 0, 0), (1, 1, 1))),
        ("answers-linf", lambda p: len({b - a for a, b in zip(*p, strict=True)}) == 3, None),
        ("answers-l1", lambda p: p.left[-1] != p.right[-1] and len(p.left) == 3, ((0, 0, 0), (0, 0, 1))),
        ("answers-l1:2", lambda p: sum(abs(a - b) for a, b in zip(*p, strict=True)) == 2, None),
        ("answers-l2:2", lambda p: sum(a != b for a, b in zip(*p, strict=True)) == 4, ((0, 0, 0, 0), (1, 1, 1, 1))),
        ("answers-l1@0.25", lambda p: sum(abs(a - b) for a, b in zip(*p, strict=True)) == 0.25, None),
        ("answers-linf@3", lambda p: p.right[0] - p.left[0] == 3, ((0,), (3,))),
    ],
)
def test_edges_are_reached_and_shrunk(relation: str, condition: Any, pair: Any) -> None:
    found = smallest(dst.neighbours(relation, "integers(0, 50)"), condition)
    assert condition(found)
    if pair is not None:
        # the same up to which of two sides or places comes first
        assert sorted(map(sorted, found)) == sorted(map(sorted, pair))


@pytest.mark.slow
def test_groups_are_as_many_steps() -> None:
    found = smallest(
        dst.neighbours("replace-one", "booleans()", groups=4),
        lambda p: relation_named("replace-one").distance(*p) == 4,
    )
    assert len(found.left) == 4


@pytest.mark.slow
def test_real_answers_share_a_step() -> None:
    found = smallest(
        dst.neighbours("answers-l1", "floats(0, 10, allow_nan=False, allow_infinity=False)"),
        lambda p: sum(a != b for a, b in zip(*p, strict=True)) == 2,
    )
    assert sum(abs(a - b) for a, b in zip(*found, strict=True)) <= 1 + 1e-9


@pytest.mark.slow
def test_public_rows_stay() -> None:
    found = smallest(dst.neighbours("private-rows", ROWS), lambda p: any(row[2] == "pub" for row in p.left))
    assert len(found.left) == 2
    assert [row for row in found.left if row[2] == "pub"] == [row for row in found.right if row[2] == "pub"]


@quick
@given(st.data())
def test_datasets(data: st.DataObject) -> None:
    records = data.draw(st.sampled_from(["integers(-3, 3)", "floats(0, 1)", "booleans()", "sampled_from(['a', 'b'])",
                                         "tuples(integers(0, 1), just('x'))", "lists(integers(0, 1), 0, 2)"]))
    ordered = data.draw(st.booleans())
    dataset = data.draw(dst.datasets(records, min_size=1, max_size=4, ordered=ordered))
    assert 1 <= len(dataset) <= 4
    assert isinstance(dataset, tuple if ordered else Multiset)
    hash(dataset)


@quick
@given(dst.datasets("integers(0, 9)", unique=True), dst.datasets(st.lists(st.integers()), max_size=3))
def test_unique_records_and_records_of_ones_own(unique: Any, lists: Any) -> None:
    assert len(set(unique)) == len(unique)
    assert all(isinstance(record, tuple) for record in lists)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: dst.neighbours("swap-one", "booleans()"), UnknownNameError, "no relation called 'swap-one'"),
        (lambda: dst.neighbours("replace-one", "integers(0)"), DatasetError, "is not a description of data"),
        (lambda: dst.neighbours("replace-one", "booleans()", max_size=0), ParameterError, "raise max_size"),
        (lambda: dst.neighbours("replace-one", "booleans()", min_size=3, max_size=2), ParameterError, "max_size"),
        (lambda: dst.neighbours("replace-one", "just(1)"), ParameterError, "has only one record"),
        (lambda: dst.neighbours("add-remove-one", "just(1)", min_size=2, max_size=2), ParameterError, "raise it"),
        (lambda: dst.neighbours("replace-one", "booleans()", groups=0), ParameterError, "size of a group"),
        (lambda: dst.neighbours("answers-l1", "integers(0, 1)", ordered=False), ParameterError, "order matters"),
        (lambda: dst.neighbours("replace-one", 3), ParameterError, "a Hypothesis strategy or a description"),  # type: ignore[arg-type]
        (lambda: dst.datasets("booleans()", min_size=-1), ParameterError, "min_size"),
    ],
)
def test_what_cannot_be_is_refused_at_once(make: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        make()


@pytest.mark.slow(only=["answers-linf-records0-made of numbers"])
@pytest.mark.parametrize(
    ("relation", "records", "says"),
    [
        ("answers-linf", st.text(), "consist of numbers"),
        ("answers-l1", st.booleans(), "consist of numbers"),
        ("private-rows", st.integers(), r"is \(x, y, 'priv'\)"),
        ("replace-one", st.builds(dict), "not an object"),
    ],
)
def test_records_that_do_not_suit_the_relation(relation: str, records: Any, says: str) -> None:
    with pytest.raises(DatasetError, match=says):
        smallest(dst.neighbours(relation, records), lambda pair: True)


@pytest.mark.parametrize(
    ("described", "columns"),
    [("frame(age=integers(0, 9), sex=sampled_from(['f', 'm']))", ["age", "sex"]), ("series(floats(0, 1))", None)],
)
def test_a_described_table_is_drawn(described: str, columns: list[str] | None) -> None:
    pd = pytest.importorskip("pandas")
    kind = pd.Series if columns is None else pd.DataFrame
    pair = smallest(dst.neighbours("add-remove-one", described, min_size=2), lambda pair: len(pair.left) == 3)
    dataset = smallest(dst.datasets(described, min_size=3), lambda dataset: True)
    for table in (*pair, dataset):
        assert type(table) is kind
        assert columns is None or list(table.columns) == columns
    assert (len(pair.left), len(pair.right), len(dataset)) == (3, 2, 3)


def test_a_described_array_is_drawn_in_its_order() -> None:
    pair = smallest(dst.neighbours("replace-one", "array(tuples(integers(0, 3), integers(0, 3)))"), lambda pair: True)
    assert (pair.left.shape, pair.right.shape) == ((1, 2), (1, 2))
    with pytest.raises(ParameterError, match="a 2-D numpy array has its records in an order; omit ordered"):
        dst.datasets("array(tuples(integers(0, 3), integers(0, 3)))", ordered=False)


def test_one_record_may_be_added() -> None:
    assert smallest(dst.neighbours("add-remove-one", "just(1)"), lambda pair: True) in (((), (1,)), ((1,), ()))


@pytest.mark.parametrize("text", [
    "neighbours('replace-one:3', 'integers(0, 9)', min_size=1, max_size=4, ordered=False)",
    "neighbours('answers-l1@0.25', floats(min_value=0.0, max_value=1.0), min_size=0, max_size=10, ordered=True)",
])
def test_what_it_is_called_can_be_typed(text: str) -> None:
    names = {"neighbours": dst.neighbours, "floats": st.floats}
    shown = repr(eval(text, names))
    # names of arguments may stand in it
    assert shown.replace("relation=", "").replace("records=", "") == text
    assert repr(eval(shown, names)) == shown
