"""Scores that are learned do not depend on the order in which a processor sums."""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng

from dpaudit.adversary.classifiers import linear
from dpaudit.adversary.features import Vectors


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
