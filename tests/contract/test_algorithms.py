"""The contract, run over every registered algorithm: one row an algorithm, one column a check."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

import pytest
from contract import CHECKS, Catalogue, Subject, check_registered

CATALOGUE = Catalogue.of("dpaudit_algorithms", "dpaudit_audits")


@lru_cache(maxsize=8)
def subject(name: str) -> Subject:
    """An algorithm with what was computed of it."""
    return CATALOGUE.subject(name)


def test_every_algorithm_has_a_plan_and_every_plan_an_algorithm() -> None:
    assert CATALOGUE.algorithms
    check_registered(CATALOGUE)


@pytest.mark.parametrize("name", CATALOGUE.names)
def test_variants_are_registered_or_stand_in_the_same_file(name: str) -> None:
    kind = CATALOGUE.subject(name).kind
    known = {*CATALOGUE.names, *vars(sys.modules[kind.__module__])}
    unknown = set(kind.card.variants if kind.card is not None else ()) - known
    assert not unknown, f"{name}: there is no {', '.join(sorted(unknown))}"


# a name's checks come one after the other, so that its laws are computed once
@pytest.mark.slow(
    only=[
        "AHighH-samples", "ASimpleHCorrected-agreement", "ASimpleHCorrected-laws_sum_to_one",
        "AdvancedComposition-samples", "BasicComposition-samples", "DigitGuessing-samples", "EmpiricalLearner-ledger",
        "GaussianAnswers-bulk", "GaussianAnswers-ledger", "GaussianAnswers-plan", "GaussianAnswers-sample_sizes",
        "GaussianAnswers-utility", "GaussianAnswers-value", "HardReduction-laws_sum_to_one", "HardReduction-samples",
        "LaplaceAnswers-bulk", "LaplaceAnswers-ledger", "LaplaceAnswers-utility", "LearnHalf-ledger",
        "LearnRectangles-samples", "LearnRectangles-utility", "NaiveAnswers-utility", "NumericSparse-bulk",
        "NumericSparseCorrected-bulk", "PackingGame-plan", "PackingGame-sample_sizes", "PackingGame-value",
        "PointRepresentation-samples", "PointRepresentationHash-samples", "PrivateMultiplicativeWeights-bulk",
        "RepresentationFromLearnerRefined-samples", "RepresentationFromLearnerRefined-utility",
        "RepresentationLearner-ledger", "RepresentationLearnerCorrected-ledger", "RoundTrip-ledger",
        "RoundTrip-samples", "RoundTripCorrected-ledger", "RoundTripCorrected-samples",
        "ThresholdsFromInteriorPoint-ledger",
    ]
)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", CATALOGUE.names)
def test_contract(name: str, check: Any) -> None:
    assert name in CATALOGUE.audits, f"{name} has no plan"
    check(subject(name))
