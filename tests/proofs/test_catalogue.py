"""The committed table of proofs is what the programs give."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_table_is_up_to_date() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import proofs
    finally:
        sys.path.remove(str(ROOT / "tools"))
    assert (ROOT / "reports" / "proofs.csv").read_text(encoding="utf-8") == proofs.text()


def test_refuted_claims_of_the_corpus_are_not_proved() -> None:
    with (ROOT / "reports" / "proofs.csv").open(encoding="utf-8") as file:
        proved = {row["algorithm"] for row in csv.DictReader(file) if row["outcome"] == "proved"}
    broken = {
        "AboveThresholdCoarse", "NoisyHist2", "PrefixSum", "ReportNoisyMax3", "ReportNoisyMax4", "SVT3", "SVT4",
        "SVT34Parallel", "SVT5", "SVT6",
    }
    assert not proved & broken
    assert {"AboveThreshold", "NumericSparse", "NumericalSVT", "ReportNoisyMax1", "SVT1", "SVT2"} <= proved
