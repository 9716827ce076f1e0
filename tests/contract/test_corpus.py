"""The contract, run over the corpus of known-broken mechanisms; and what a known bug must be."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from contract import CHECKS, Catalogue, Subject, check_registered, loaded

from dpaudit.plans import registry
from dpaudit.results.model import Verdict
from dpaudit_audits.corpus import ORACLES
from dpaudit_audits.corpus.oracle import Oracle

CORPUS = Catalogue.of("dpaudit_algorithms.corpus", "dpaudit_audits.corpus")


@lru_cache(maxsize=8)
def subject(name: str) -> Subject:
    """A known bug with what was computed of it."""
    return CORPUS.subject(name)


@lru_cache(maxsize=8)
def oracle(name: str) -> Oracle:
    """The best events on a known bug's pair."""
    found = loaded(ORACLES[name])()
    assert isinstance(found, Oracle)
    return found


def test_every_specimen_has_a_plan_and_every_plan_a_specimen() -> None:
    assert CORPUS.algorithms
    check_registered(CORPUS)


def test_no_name_is_in_the_catalogue_too() -> None:
    assert not set(registry.names()) & set(CORPUS.algorithms)
    assert set(ORACLES) <= set(CORPUS.algorithms)


@pytest.mark.slow(
    only=[
        "NumericalSVT-bulk", "PrefixSum-bulk", "Rappor-bulk", "SVT1-bulk", "SVT2-bulk", "SVT3-bulk",
        "SVT34Parallel-bulk", "SVT4-bulk", "SVT6-bulk",
    ]
)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", CORPUS.names)
def test_contract(name: str, check: Any) -> None:
    check(subject(name))


@pytest.mark.parametrize("name", CORPUS.names)
def test_specimen(name: str) -> None:
    """It is expected to fail if and only if its card names a bug, and then its first case has one pair."""
    card = subject(name).kind.card
    assert card is not None
    assert card.system == "corpus"
    assert card.known_bug is not None
    case = subject(name).cases[0]
    if card.known_bug.broken:
        assert len(case.pairs) == 1, "it is to be refuted with no hint but its pair"
    expected = Verdict.FAIL if card.known_bug.broken else Verdict.PASS
    # the bits of doubles are not looked at by its oracle, nor by an audit of the real numbers that they stand for
    assert case.expected is expected or case.bits


@pytest.mark.slow(only=["SVT34Parallel", "NumericalSVT"])
@pytest.mark.parametrize("name", sorted(ORACLES))
def test_oracle(name: str) -> None:
    """Probabilities of ever larger events, and a claim that they break if and only if the mechanism is broken."""
    found = oracle(name)
    assert found.p.shape == found.q.shape
    for side in (found.p, found.q):
        assert np.all(np.diff(side) >= -1e-12)
        assert side[0] >= 0
        assert side[-1] == pytest.approx(1, abs=1e-6 if found.exact else 0.01)
    case = subject(name).cases[0]
    assert case.tested is not None
    # correct ones attain their ε, so rounding leaves violations that no number of runs would show
    broken = found.information_limit(case.tested, 0.01) < 1e9
    if found.exact and not case.bits:
        assert broken is (case.expected is Verdict.FAIL)
    elif case.expected is Verdict.FAIL and not case.bits:
        assert broken
