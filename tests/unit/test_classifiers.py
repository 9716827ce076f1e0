"""Scores that are learned: not of the order in which a processor sums, nor of what an encoder cannot read."""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng

from dpaudit.adversary.events.classifiers import linear, trees
from dpaudit.adversary.events.event import Event
from dpaudit.language import BOTTOM
from dpaudit.outputs.columns import Boosted, Vectors


def test_weights_do_not_show_how_sums_were_rounded() -> None:
    generator = default_rng(20261122)
    left = generator.normal(size=(4_000, 30)) * np.geomspace(1e-6, 1e6, 30)
    right = generator.normal(0.05, 1, size=(4_000, 30)) * np.geomspace(1e-6, 1e6, 30)
    encoder = Vectors.of(left, right)
    columns = np.vstack([left, right])
    times = np.zeros((2, 8_000), dtype=np.int64)
    times[0, :4_000] = times[1, 4_000:] = 1
    js = tuple(range(30))
    expected = linear(encoder, js, columns, times)
    assert sum(1 for weight in expected.weights if weight) == 30
    for _ in range(5):
        # other orders round as other processors do
        order = generator.permutation(8_000)
        found = linear(encoder, js, columns[order], times[:, order])
        assert (found.weights, found.bias) == (expected.weights, expected.bias)


def test_trees_score_nothing_that_was_not_read() -> None:
    """Trees would give a row of NaN a score like any other; an output without a score is in no interval."""
    generator = default_rng(1)
    rows = np.vstack([generator.normal(side, 1, size=(300, 2)) for side in (0, 1)])
    encoder = Vectors.of(rows[:300], rows[300:])
    times = np.repeat(np.eye(2, dtype=np.int64), 300, axis=1)
    js = tuple(range(len(encoder.names)))
    axis = Boosted(encoder, js, (trees(encoder.encode(rows), times),))
    values = [(0.5, 1.0), BOTTOM, (0.5,), "ab", (0.5, BOTTOM), (1.0, 2.0, 3.0), None]
    assert np.isnan(axis.scores(values)).tolist() == [False, *[True] * 6]
    everywhere = Event(intervals=((-np.inf, np.inf),), axis=axis)
    assert everywhere.marks(values).tolist() == [True, *[False] * 6]
