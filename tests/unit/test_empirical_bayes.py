"""Shrunk log-ratios predict sets of atoms without selection bias."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import default_rng

from dpaudit.adversary.events.empirical_bayes import sets, shrunk

RUNS = 100_000


def drawn(p: np.ndarray, q: np.ndarray, seed: int) -> list[np.ndarray]:
    rng = default_rng([seed, 5])
    return [rng.multinomial(RUNS, share).astype(float) for share in (p, q)]


def test_of_atoms_without_a_difference_the_best_guarantee_little() -> None:
    p = np.full(300, 1 / 300)
    x, y = drawn(p, p, 100)
    order, found = sets(x, y, (RUNS, RUNS))
    picked = order[:20]
    assert np.log(x[picked].sum() / y[picked].sum()) > 0.08
    assert abs(np.log(found.left[19] / found.right[19])) < 0.02


def test_the_foreseen_shares_are_those_of_fresh_runs() -> None:
    rng = default_rng(101)
    p = rng.dirichlet(np.full(200, 2.0))
    q = p * np.exp(rng.choice([-0.1, 0.1], 200))
    q /= q.sum()
    off = []
    for seed in range(100, 110):
        x, y = drawn(p, q, seed)
        order, found = sets(x, y, (RUNS, RUNS))
        true = np.log(np.cumsum(p[order]) / np.cumsum(q[order]))
        off.append(np.log(found.left / found.right)[20:150] - true[20:150])
    assert abs(np.mean(off)) < 0.01


def test_an_atom_of_one_side_alone_stays_far_from_zero() -> None:
    mean, variance = shrunk(np.array([5_000.0, 2_000, 2_000]), np.array([0.0, 4_400, 4_600]), (10_000, 10_000))
    assert mean[0] > 0.999
    assert (variance >= 0).all()
    assert mean[1] == pytest.approx(0.31, abs=0.02)


def test_all_atoms_are_in_the_order_and_all_runs_in_the_last_set() -> None:
    order, found = sets(np.array([3.0, 5.0, 92.0]), np.array([9.0, 1.0, 190.0]), (100, 200))
    assert sorted(order.tolist()) == [0, 1, 2]
    assert found.left[-1] <= 1
    assert found.right[-1] <= 1
    assert found.left[-1] * 100 + found.right[-1] * 200 == pytest.approx(300, rel=0.02)
