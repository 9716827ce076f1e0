"""Interior points by RecConcave: its quality, the promise, and the printed number of records."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import pytest

from dpaudit.interpret import law
from dpaudit.language import DatasetError, Fixed, InteriorPoint, Multiset, ParameterError, Trial
from dpaudit_algorithms.interior_points.interior_point_rec_concave import DepthFrom0, InteriorPointByRecConcave
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_the_promise_is_kept_and_the_quality_is_quasi_concave(n: int) -> None:
    mechanism = InteriorPointByRecConcave(5)
    for S in combinations_with_replacement(range(5), n):
        scores = DepthFrom0(5)(S).values.tolist()
        assert scores == [min(sum(x <= y for x in S), sum(x >= y for x in S)) for y in range(5)]
        assert max(scores) >= mechanism.maximiser(n).promise == math.ceil(n / 2)
        assert all(
            scores[i] >= min(scores[a], scores[b]) for a in range(5) for b in range(a, 5) for i in range(a, b + 1)
        )


def test_shares_of_theorem_6_14() -> None:
    corrected, printed = InteriorPointByRecConcave(N=3), InteriorPointByRecConcave(a_dist="printed")
    assert isinstance(corrected.maximiser(7), RecConcaveCorrected)
    assert isinstance(printed.maximiser(7), RecConcave)
    assert (corrected.calls, corrected.maximiser(7).N, printed.calls) == (3, 3, 2)
    assert corrected.maximiser(7).epsilon == pytest.approx(1 / 9)
    assert printed.maximiser(7).delta == pytest.approx(1e-6 / 6)


def test_sample_size_as_printed() -> None:
    mechanism = InteriorPointByRecConcave()
    logs = math.log2(12 / 1e-7) + math.log2(math.log2(65535))
    (size,) = mechanism.sample_sizes
    assert size.records == 2 * math.ceil(64 * 144 * logs) - 1
    (guarantee,) = mechanism.utility(size.records)
    assert 0.9 <= guarantee.probability < 0.9001
    assert mechanism.utility(size.records - 2)[0].probability < 0.9
    assert not mechanism.utility(1000)


@pytest.mark.parametrize("a_dist", ["corrected", "printed"])
def test_promise_exactly(a_dist: str) -> None:
    mechanism = InteriorPointByRecConcave(a_dist=a_dist)
    (size,) = mechanism.sample_sizes
    n = size.records
    for counts in ({40_000: n}, {0: n}, {65_535: n}, {9_999: n // 2, 10_000: n - n // 2}, {3: 1, 4: n - 1}):
        trial = Trial(Fixed(Multiset.counted(counts)), mechanism, InteriorPoint())
        assert law(trial, ()).probability(lambda reached: reached is True) >= 0.9


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="alpha"):
        InteriorPointByRecConcave(alpha=0.6)
    with pytest.raises(ParameterError, match="a_dist"):
        InteriorPointByRecConcave(a_dist="other")
    with pytest.raises(ParameterError, match="log\\*"):
        InteriorPointByRecConcave(8, N=4)
    with pytest.raises(DatasetError, match="whole numbers"):
        law(InteriorPointByRecConcave(8), (8,))
