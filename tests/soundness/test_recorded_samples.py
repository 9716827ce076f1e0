"""Recorded outputs of mechanisms that meet their claim with equality: refuted no more often than α."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import Generator, default_rng
from scipy import stats

import dpaudit
from dpaudit.engine import orchestrator
from dpaudit.plans.request import Request
from dpaudit.results.model import Verdict
from dpaudit.subjects.recorded import Arrival, Followed, Recorded

ALPHA = 0.05
DATA_SETS = 150
MOST = int(stats.binom.ppf(1 - 1e-4, DATA_SETS, ALPHA))
"""Exceeded with probability below 1e-4 at an error of α."""


def response(rng: Generator, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    p = math.e / (1 + math.e)
    return (rng.random(n) < p).astype(int), (rng.random(m) < 1 - p).astype(int)


def laplace(rng: Generator, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.laplace(1, 1, n), rng.laplace(0, 1, m)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(60, 60), (40, 160)])
@pytest.mark.parametrize("make", [response, laplace])
def test_a_true_claim_at_its_boundary(
    make: Callable[[Generator, int, int], tuple[np.ndarray, np.ndarray]], n: int, m: int
) -> None:
    refuted = 0
    for seed in range(DATA_SETS):
        left, right = make(default_rng([seed, n, m]), n, m)
        audit = dpaudit.audit_samples(left, right, 1.0, alpha=ALPHA, min_power=math.inf).audit
        refuted += audit.verdict is Verdict.FAIL
    assert refuted <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("declared", ["paired", "blocks"])
def test_declared_dependence_is_harmless(declared: str) -> None:
    """Pairs in opposite directions, and ten copies of each output: without the declaration these accuse."""
    p, refuted = math.e / (1 + math.e), 0
    for seed in range(DATA_SETS):
        rng = default_rng([seed, 7])
        if declared == "paired":
            shared = rng.random(120)
            audit = dpaudit.audit_samples(shared < p, shared > p, 1.0, alpha=ALPHA, min_power=math.inf, paired=True)
        else:
            left, right = response(rng, 60, 60)
            labels = np.repeat(np.arange(60), 10)
            audit = dpaudit.audit_samples(
                np.repeat(left, 10), np.repeat(right, 10), 1.0, alpha=ALPHA, min_power=math.inf,
                blocks=(labels, labels + 60),
            )
        refuted += audit.verdict is Verdict.FAIL
    assert refuted <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("make", [response, laplace])
def test_files_that_come_at_the_boundary(
    make: Callable[[Generator, int, int], tuple[np.ndarray, np.ndarray]]
) -> None:
    """Refuted at any time, over files of one to twenty outputs, more on D than on D′."""
    refuted = 0
    for seed in range(DATA_SETS):
        rng = default_rng([seed, 5])
        files = [make(rng, int(rng.integers(1, 20)), int(rng.integers(1, 12))) for _ in range(30)]
        arrivals = iter([Arrival(left, right, str(at), str(at)) for at, (left, right) in enumerate(files)])
        recorded = Recorded([], [], stream=Followed(arrivals, idle=0.0))
        request = Request(targets=("m",), recorded=recorded, epsilon=1.0, alpha=ALPHA, seed=seed)
        refuted += orchestrator.run(request).audits[0].verdict is Verdict.FAIL
    assert refuted <= MOST
