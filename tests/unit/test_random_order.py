"""Random orders: all of them, equally likely, drawn as they are enumerated."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from dpaudit.errors import NotEnumerableError
from dpaudit.interpret.enclosures import probabilities
from dpaudit.language import Multiset, RandomOrder


@pytest.mark.parametrize("records", [(), (3,), (1, 1), (0, 1, 1, 2), (0, 0, 0, 5, 5), (4, 3, 2, 1)])
def test_every_order_once(records: tuple[int, ...]) -> None:
    order = RandomOrder(Multiset.of(records))
    every = Counter(permutations(records))
    assert set(order.values) == set(every)
    assert len(order.values) == len(every) == order.orders
    assert set(every.values()) == {math.factorial(len(records)) // len(every)}  # so they are equally likely
    assert order.probs.tolist() == [1 / len(every)] * len(every)
    assert all((to_interval * len(every)).contains(1) for to_interval in probabilities(order))


def test_draws_follow_the_law() -> None:
    # chi-square over 30 orders, false alarms 1e-6
    order = RandomOrder(Multiset.of((0, 0, 1, 1, 2)))
    drawn = Counter(order.draw(np.random.default_rng(5), 30_000))
    assert set(drawn) == set(order.values)
    assert stats.chisquare(list(drawn.values())).pvalue > 1e-6


def test_many_records_are_drawn_alone() -> None:
    order = RandomOrder(Multiset.of(range(9)))
    assert not order.finite
    assert sorted(order.draw(np.random.default_rng(1), 1)[0]) == list(range(9))
    with pytest.raises(NotEnumerableError, match="362,880"):
        _ = order.values
    long = RandomOrder(Multiset.counted({0: 1_500, 1: 1}))
    assert len(long.values) == long.orders == 1_501
