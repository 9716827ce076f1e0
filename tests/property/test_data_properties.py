"""Datasets and results as data, multisets as counters, shrinkers, and the limits of confidence bounds."""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit import strategies as dst
from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.description import parse_records
from dpaudit.adversary.pairs.minimize import minimize, size_of
from dpaudit.engine.orchestrator import run
from dpaudit.language import ADD_REMOVE_ONE, ANSWERS_LINF, PRIVATE_ROWS, REPLACE_ONE, Mechanism, Multiset, Relation
from dpaudit.plans.request import Request
from dpaudit.results.datasets import as_dataset, dataset_from_json, dataset_to_json, parse_dataset
from dpaudit.results.json_form import from_json, to_json
from dpaudit.stats import clopper_pearson, score_test

quick = settings(max_examples=40)
few = settings(quick, max_examples=12)
KINDS = st.sampled_from(
    ["integers(-9, 9)", "floats(-1, 1)", "booleans()", "sampled_from(['a', 'b', ''])", "just('é')",
     "tuples(integers(0, 3), floats(0, 1))", "lists(tuples(integers(0, 1), booleans()), 0, 3)"]
)
INTEGERS = dst.datasets("integers(0, 4)", ordered=False)


# --- data ----------------------------------------------------------------------------------------------------------


@quick
@given(st.data(), KINDS, st.booleans())
def test_datasets_come_back_from_json(data: st.DataObject, kind: str, ordered: bool) -> None:
    dataset = data.draw(dst.datasets(kind, ordered=ordered))
    written = json.dumps(dataset_to_json(dataset), ensure_ascii=False)
    assert parse_dataset(written) == dataset_from_json(json.loads(written)) == dataset
    assert type(parse_dataset(written)) is type(dataset)
    assert as_dataset(dataset) == dataset
    if ordered:
        # as somebody else would write it
        assert as_dataset(json.loads(written)) == dataset


@pytest.mark.slow
@settings(quick, max_examples=4)
@given(dst.mechanisms("ExponentialMechanism"), dst.neighbours(REPLACE_ONE, "integers(0, 2)", max_size=3))
def test_results_come_back_from_json(mechanism: Mechanism, pair: dst.Neighbours) -> None:
    result = run(Request((mechanism,), runs=200, pairs=(pair, (pair.right, pair.left))))
    assert from_json(to_json(result), where="here") == result


@quick
@given(INTEGERS, INTEGERS, st.integers(-1, 5))
def test_multisets_behave_as_counters(a: Multiset, b: Multiset, value: int) -> None:
    left, right = Counter(a), Counter(b)
    assert dict(a.items) == left
    assert len(a) == left.total()
    assert list(a) == sorted(left.elements())
    assert (a == b) == (left == right)
    assert a != b or hash(a) == hash(b)
    assert a.at_most(value) + a.at_least(value + 1) == len(a)
    assert dict(a.changed(add=b).items) == left + right
    assert dict(a.changed(add=b).changed(remove=a).items) == right
    assert REPLACE_ONE.distance(a, b) == ((left - right).total() if len(a) == len(b) else None)
    assert ADD_REMOVE_ONE.distance(a, b) == (left - right).total() + (right - left).total()


# --- relations and shrinkers ---------------------------------------------------------------------------------------

WHERE = {
    REPLACE_ONE.group(2): "integers(0, 9)",
    ADD_REMOVE_ONE.group(2): "integers(0, 9)",
    ANSWERS_LINF: "integers(0, 9)",
    PRIVATE_ROWS: "tuples(integers(0, 2), booleans(), sampled_from(['priv', 'pub']))",
}


@pytest.mark.parametrize("relation", WHERE, ids=lambda relation: relation.name)
@quick
@given(st.data())
def test_the_shrinker_keeps_the_relation_and_only_makes_smaller(relation: Relation, data: st.DataObject) -> None:
    ordered = relation == ANSWERS_LINF or data.draw(st.booleans())
    pair = Pair(*data.draw(dst.neighbours(relation, WHERE[relation], ordered=ordered)))
    salt = data.draw(st.integers(0, 9))
    asked: list[Pair] = []

    def refutes(other: Pair) -> bool:
        asked.append(other)
        return zlib.crc32(repr((other.left, other.right, salt)).encode()) % 2 == 0

    records = parse_records(WHERE[relation])
    found = minimize(pair, refutes, relation=relation, records=records, budget=60)
    for other in (*asked, found.pair):
        assert relation.related(other.left, other.right)
        assert other.left != other.right
        assert all(records.contains(value) for side in (other.left, other.right) for value in side)
    sizes = [size_of(step.pair) for step in found.steps]
    assert sizes == sorted(sizes, reverse=True)
    assert all(size < size_of(pair) for size in sizes)


# --- limits --------------------------------------------------------------------------------------------------------


@quick
@given(st.integers(1, 500), st.data(), st.floats(1e-9, 0.4))
def test_clopper_pearson_grows_with_the_counts_and_with_the_confidence(
    n: int, data: st.DataObject, alpha: float
) -> None:
    x = data.draw(st.integers(0, n - 1))
    low, high = clopper_pearson.interval(x, n, alpha=alpha)
    assert 0 <= low <= x / n <= high <= 1
    more = clopper_pearson.interval(x + 1, n, alpha=alpha)
    assert low < more[0]
    assert high <= more[1]
    surer = clopper_pearson.interval(x, n, alpha=alpha / 2)
    assert surer[0] <= low
    assert high <= surer[1]
    y = data.draw(st.integers(0, n - 1))
    bound = clopper_pearson.epsilon_lower(x, n, y, n, delta=0.01, alpha=alpha)
    assert clopper_pearson.epsilon_lower(x + 1, n, y, n, delta=0.01, alpha=alpha) >= bound
    assert clopper_pearson.epsilon_lower(x, n, y + 1, n, delta=0.01, alpha=alpha) <= bound


def binomial(n: int, p: float) -> list[float]:
    """The probabilities of 0, …, n successes; scipy's overflow at the smallest normal p."""
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


@few
@given(
    st.integers(1, 12), st.integers(1, 12), st.floats(0, 1.5), st.just(0.0) | st.floats(0, 0.3), st.floats(0, 1),
    st.floats(0, 1),
)
def test_the_p_value_of_the_score_test_is_one_by_enumeration(
    n: int, m: int, epsilon: float, delta: float, q: float, share: float
) -> None:
    """Pr[p-value ≤ a] ≤ a for every a that is reached, at a drawn point of the null hypothesis."""
    p = share * min(1.0, math.exp(epsilon) * q + delta)
    values = np.array(
        [[score_test.p_value(x, n, y, m, epsilon=epsilon, delta=delta) for y in range(m + 1)] for x in range(n + 1)]
    )
    weights = np.outer(binomial(n, p), binomial(m, q))
    order = np.argsort(values, axis=None)
    reached = np.cumsum(weights.ravel()[order])
    level = values.ravel()[order]
    # of equal p-values the last has them all
    last = np.append(np.diff(level) > 0, True)
    assert (reached[last] <= level[last] + 1e-12).all()


@quick
@given(st.integers(1, 300), st.data(), st.floats(0, 2), st.floats(0, 0.2))
def test_the_score_test_rejects_more_where_more_is_seen(
    n: int, data: st.DataObject, epsilon: float, delta: float
) -> None:
    x, y = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))

    def statistic(x: int, y: int) -> Any:
        return score_test.statistic(np.array([x]), n, np.array([y]), n, epsilon=epsilon, delta=delta)[0]

    assert statistic(x + 1, y) >= statistic(x, y) - 1e-9
    assert statistic(x, y + 1) <= statistic(x, y) + 1e-9
