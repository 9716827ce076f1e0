"""The test of Kruskal and Wallis against scipy's, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpaudit.stats import kruskal_wallis

KINDS = ["reals", "ties", "few values", "shifted", "infinite"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("among", "each"), [(2, 2), (3, 7), (16, 32), (16, 1000)])
def test_it_is_the_same_as_scipys(kind: str, among: int, each: int) -> None:
    rng = np.random.default_rng([KINDS.index(kind), among, each])
    groups = {
        "reals": lambda: rng.laplace(size=(among, each)),
        "ties": lambda: np.round(rng.normal(size=(among, each)), 1),
        "few values": lambda: rng.permuted(np.arange(among * each) % 3 == 0).reshape(among, each).astype(float),
        "shifted": lambda: rng.normal(size=(among, each)) + np.arange(among)[:, None],
        "infinite": lambda: np.where(rng.random((among, each)) < 0.3, -np.inf, rng.normal(size=(among, each))),
    }[kind]()
    expected = stats.kruskal(*groups).statistic
    assert kruskal_wallis.statistic(groups) == expected
    below, above = kruskal_wallis.tails(groups)
    assert (below, above) == (stats.chi2.cdf(expected, among - 1), stats.chi2.sf(expected, among - 1))


def test_groups_that_are_all_alike_have_no_lower_tail() -> None:
    below, above = kruskal_wallis.tails(np.tile([1.0, 2.0, 3.0], (4, 1)))
    assert below < 1e-9
    assert above > 1 - 1e-9
