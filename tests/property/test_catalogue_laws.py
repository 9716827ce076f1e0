"""Laws (in doubles and in intervals) and samples of the catalogue agree, with drawn parameters on drawn datasets."""

from __future__ import annotations

import dataclasses
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from dpaudit import strategies as dst
from dpaudit.errors import DpauditError, NotEnumerableError
from dpaudit.interpret import interval_law, law, sample
from dpaudit.language import Mechanism
from dpaudit.plans import registry
from dpaudit.plans.plan import Scope

quick = settings(
    max_examples=6, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
RUNS = 4_000
FALSE_ALARM = 1e-7
"""Of each goodness of fit: 3e-5 over all mechanisms and examples, which are the same every time."""
NAMES = [name for name in registry.names() if registry.plan(name).small is not None]
"""All that have a law on a small domain."""
assert len(NAMES) >= 50, "an algorithm has lost its small domain"
MADE_FOR_ONE = {"AlgorithmB"}
"""Whose parts are made for their ε and δ, so that no others are drawn."""


@cache
def small(name: str, points: int, records: int) -> tuple[Mechanism, Scope] | None:
    """The algorithm on a small domain, where it has one of that size."""
    made = registry.plan(name).small
    try:
        return made(points, records) if made is not None else None
    except DpauditError:
        return None


def drawn(data: st.DataObject, name: str) -> tuple[Mechanism, Any]:
    """An instance with drawn privacy parameters, and a dataset of its domain."""
    found = small(name, data.draw(st.integers(2, 4)), data.draw(st.integers(1, 4)))
    assume(found is not None)
    assert found is not None
    instance, scope = found
    vary = {f.name for f in dataclasses.fields(instance)} & {"epsilon", "delta"}  # type: ignore[arg-type]
    mechanism = data.draw(dst.mechanisms(instance)) if vary and name not in MADE_FOR_ONE else instance
    records = st.sampled_from(scope.domain)
    dataset = data.draw(
        dst.datasets(records, min_size=scope.records, max_size=scope.records, ordered=scope.ordered)
    )
    return mechanism, dataset


@pytest.mark.slow(only=["LearnerFromRelease", "ASimpleH"])
@pytest.mark.parametrize("name", NAMES)
def test_laws_sum_to_one_and_the_interpreters_agree(name: str) -> None:
    @quick
    @given(st.data(), st.integers(0, 2**32))
    def holds(data: st.DataObject, seed: int) -> None:
        mechanism, dataset = drawn(data, name)
        try:
            exact = law(mechanism, dataset, path_limit=3_000).as_dict()
        except NotEnumerableError:
            assume(False)
        assert math.fsum(exact.values()) == pytest.approx(1, abs=1e-9)
        assert min(exact.values()) >= 0
        enclosures = interval_law(mechanism, dataset, path_limit=3_000).as_dict()
        assert all(
            float(enclosures[value].mid()) == pytest.approx(p, rel=1e-9, abs=1e-12) for value, p in exact.items()
        )
        counts = sample(mechanism, dataset, RUNS, seed=seed).counts
        assert sum(counts.values()) == RUNS
        assert all(exact.get(value, 0) > 0 for value in counts)
        means = np.array([p * RUNS for p in exact.values()])
        seen = np.array([counts.get(value, 0) for value in exact])
        large = means >= 5
        bins, hits = np.append(means[large], means[~large].sum()), np.append(seen[large], seen[~large].sum())
        usable = bins > 1e-3
        statistic = float(((hits - bins)[usable] ** 2 / bins[usable]).sum())
        assert stats.chi2.sf(statistic, max(1, int(usable.sum()) - 1)) > FALSE_ALARM

    holds()
