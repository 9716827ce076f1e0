"""The contract's check of symmetries is not about nothing: what the catalogue declares, and is held to."""

from __future__ import annotations

from typing import Any

import pytest
from contract import Catalogue, holding, loaded, places

from dpaudit.language import Mechanism
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_algorithms.pac.concepts import all_examples
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholds, LearnThresholdsCorrected

CATALOGUE = Catalogue.of("dpaudit_algorithms", "dpaudit_audits")
EXAMPLES = all_examples(range(5))
ONE_CALL: dict[str, Mechanism] = {
    "LearnThresholds": LearnThresholds(5, 0.5, 1.0, 1e-6),
    "LearnThresholdsCorrected": LearnThresholdsCorrected(5, 0.5, 1.0, 1e-6),
    "RecConcave": RecConcave(4, Consistency(5), 3.0, 0.5, 1.0, 1e-6),
    "RecConcaveCorrected": RecConcaveCorrected(4, Consistency(5), 3.0, 0.5, 1.0, 1e-6),
}
"""Of which the plans' small instances make more calls, to which their symmetries do not extend."""
DECLARING = [
    name for name, where in sorted(CATALOGUE.algorithms.items())
    if loaded(where).symmetries is not Mechanism.symmetries
]
OTHERS = "exchange of records that are "
EXPECTED: dict[str, set[str]] = {
    "ADist": {f"{OTHERS}not solutions"},
    "ADistCorrected": {f"{OTHERS}not solutions"},
    "ChoosingMechanism": {"relabelling", f"{OTHERS}not solutions"},
    "ExponentialMechanism": {"relabelling", f"{OTHERS}not solutions"},
    "GroupPrivacy": {f"{OTHERS}not counted"},
    "InteriorPointByMedian": {"reflection"},
    "InteriorPointByMedianCorrected": {"reflection"},
    "LaplaceMechanismRounded": {"relabelling", f"{OTHERS}not counted"},
    "LearnPoints": {"exchange of negative examples"},
    "LearnPointsCorrected": {"exchange of negative examples"},
    "LearnPointsZero": {"exchange of negative examples"},
    "LearnPointsZeroCorrected": {"exchange of negative examples"},
    "LearnThresholds": {"reflection", "exchange of labels at 0"},
    "LearnThresholdsCorrected": {"reflection", "exchange of labels at 0"},
    "RecConcave": {"reflection"},
    "RecConcaveCorrected": {"reflection"},
}


def test_these_declare_symmetries() -> None:
    assert set(EXPECTED) <= set(DECLARING)


@pytest.mark.slow(only=["ChoosingMechanism"])
@pytest.mark.parametrize("name", DECLARING)
def test_every_declared_symmetry_was_held_against_laws(name: str) -> None:
    tried: list[tuple[Mechanism, tuple[Any, ...]]] = list(places(CATALOGUE.subject(name)))
    if name in ONE_CALL:
        tried.append((ONE_CALL[name], EXAMPLES))
    elif hasattr(tried[0][0], "quality"):
        tried += [(mechanism, (*domain, 98, 99)) for mechanism, domain in tried]
    held = set[str]().union(*(holding(mechanism, domain) for mechanism, domain in tried))
    assert held
    assert held == EXPECTED.get(name, held)
