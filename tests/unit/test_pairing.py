"""Random pairings against all permutations of small datasets."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpaudit.errors import NotEnumerableError
from dpaudit.language import Multiset, RandomPairing
from dpaudit.language.distributions import pairing as pairing_module
from dpaudit.language.distributions.pairing import ENUMERATED_RECORDS


def gap(a: int, b: int) -> int:
    return abs(a - b)


def brute_force(records: tuple[int, ...], image: object) -> dict[Multiset, float]:
    """Read every order two by two; an odd last record is dropped."""
    found: Counter[Multiset] = Counter()
    for order in permutations(records):
        pairs = zip(order[::2], order[1::2], strict=False)
        found[Multiset.of([image(a, b) for a, b in pairs])] += 1  # type: ignore[operator]
    return {outcome: count / factorial(len(records)) for outcome, count in found.items()}


@settings(max_examples=60)
@given(st.lists(st.integers(0, 4), min_size=0, max_size=7), st.sampled_from([min, max, gap]))
def test_law_is_that_of_all_permutations(records: list[int], image: object) -> None:
    pairing = RandomPairing(Multiset.of(records), image)  # type: ignore[arg-type]
    law = dict(zip(pairing.values, pairing.probs.tolist(), strict=True))
    exact = brute_force(tuple(records), image)
    assert law.keys() == exact.keys()
    for outcome, p in exact.items():
        assert law[outcome] == pytest.approx(p, abs=1e-14)


@pytest.mark.slow(fast=["min-records1", "gap-records3"])
@pytest.mark.parametrize(
    "records", [(0, 0, 1, 1, 2, 2), (0, 1, 2, 3, 4, 5, 6), (0,) * 9 + (1,) * 4 + (5,), (3,), (1, 1)]
)
@pytest.mark.parametrize("image", [min, gap])
def test_draws_follow_the_law(records: tuple[int, ...], image: object) -> None:
    """False-alarm rate 1e-6 a test, at a fixed seed."""
    pairing = RandomPairing(Multiset.of(records), image)  # type: ignore[arg-type]
    runs = 50_000
    grouped = dict(pairing.grouped(np.random.default_rng(1), runs))
    drawn = Counter(pairing.draw(np.random.default_rng(2), runs))
    law = dict(zip(pairing.values, pairing.probs.tolist(), strict=True))
    for counts in (grouped, drawn):
        assert counts.keys() <= law.keys()
        assert sum(counts.values()) == runs
        means = np.array([p * runs for p in law.values()])
        seen = np.array([counts.get(outcome, 0) for outcome in law])
        large = means >= 5
        statistic = float((((seen - means) ** 2) / means)[large].sum())
        assert stats.chi2.sf(statistic, max(1, int(large.sum()) - 1)) > 1e-6


def test_large_datasets_are_drawn_and_not_enumerated() -> None:
    pairing = RandomPairing(Multiset.counted({0: 300_000, 1: 200_000, 7: 145_001}), max)
    assert not pairing.finite
    for outcome, times in pairing.grouped(np.random.default_rng(0), 5):
        assert len(outcome) == 645_001 // 2
        assert times >= 1
    with pytest.raises(NotEnumerableError, match=f"at most {ENUMERATED_RECORDS} records"):
        pairing.probs  # noqa: B018


def test_no_records() -> None:
    pairing = RandomPairing(Multiset.of(()), max)
    assert pairing.values == (Multiset.of(()),)
    assert pairing.grouped(np.random.default_rng(0), 3) == [(Multiset.of(()), 3)]


def test_too_many_states_name_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing_module, "ENUMERATED_STATES", 500)
    with pytest.raises(NotEnumerableError, match="fewer records or fewer distinct values"):
        RandomPairing(Multiset.of(range(40)), gap).probs  # noqa: B018


def test_many_draws_of_few_records_are_one_multinomial_draw() -> None:
    pairing = RandomPairing(Multiset.of((0, 1, 2, 3, 4)), max)
    counts = dict(pairing.grouped(np.random.default_rng(0), 10**12))
    assert sum(counts.values()) == 10**12
    for outcome, p in zip(pairing.values, pairing.probs, strict=True):
        assert counts[outcome] / 10**12 == pytest.approx(p, abs=1e-5)
