"""The data model of private-public mixtures: records whose privacy depends on their label."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.language import (
    MIXTURES,
    PRIVATE,
    PRIVATE_ROWS,
    Card,
    Claim,
    Goal,
    Instance,
    Mechanism,
    Program,
    SampleSize,
    UtilityClaim,
    checks,
)
from dpaudit_algorithms.foundations.goals import BETA
from dpaudit_algorithms.generalization import bounds
from dpaudit_algorithms.mixtures.record_sources import Mixed, Mixture

ALPHA, EPSILON = 0.1, 1.0
"""Parameters for the sample sizes of Theorems 4.9 and 4.10; `LearnHalf` uses its own ε."""


@dataclass(frozen=True)
class MixtureModel(Mechanism):
    """n records (x, y, p) drawn independently from a mixture D of a private and a public population. It reads no data.

    Models: `label_determined` (p = priv iff y = 1), `flipped_bits` (relaxation (i): sufficiently correlated),
    `private_ones` (relaxation (ii): private records have one label, public ones both); labels are those of a concept
    (realizable) or have noise (`noisy_labels`, agnostic).

    Args:
        truth: D.
        records: n ≥ 0.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Bassily, Moran and Nandi, section 3, and section 4, "Relaxations".
    """

    truth: Mixture
    records: checks.Natural

    @property
    def claim(self) -> Claim:
        """0: no data is read."""
        return Claim(0.0, relation=PRIVATE_ROWS)

    @property
    def determined(self) -> Fraction:
        """The probability that one record is private if and only if its label is 1."""
        rows = zip(self.truth.rows, self.truth.weights, strict=True)
        return Fraction(sum(w for (_, y, p), w in rows if (p == PRIVATE) == (y == 1)), sum(self.truth.weights))

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """All n records are label-determined: with probability 1 in the strict model, less in the relaxations."""
        guaranteed = float(self.determined**self.records)
        return (UtilityClaim(LabelDetermined(), guaranteed, "§3, label-determined privacy model"),)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """Theorems 4.9 and 4.10 for d = 1, 2, 3 at ε = 1, α = 0.1, β = 0.05."""
        return tuple(
            size(d, EPSILON, ALPHA, BETA)
            for d in (1, 2, 3)
            for size in (bounds.mixture_realisable, bounds.mixture_agnostic)
        )

    def run(self, dataset: Any) -> Program:
        instance = yield Mixed(self.truth, self.records).on(())
        return instance.dataset


@dataclass(frozen=True)
class LabelDetermined(Goal):
    """Every record of the sample is private if and only if its label is 1.

    Source: Bassily, Moran and Nandi, section 3, "Label-determined privacy model".
    """

    def reached(self, instance: Instance, output: Any) -> bool:
        return all((p == PRIVATE) == (y == 1) for _, y, p in output.values)

    def __str__(self) -> str:
        return "private if and only if the label is 1, for every record"


# --- cards: claims, sources and deviations from the papers ---

MixtureModel.card = Card(
    name="MixtureModel",
    system="H8",
    title="The data model of private-public mixtures, and the printed sample sizes",
    paper=MIXTURES,
    place="§3, §4, Theorems 4.9 and 4.10",
    claim="0-DP: it reads no data; label-determined: every record is private if and only if its label is 1",
    inputs="a distribution of examples (x, y), a privacy model, n; it ignores the dataset",
    output='n records (x, y, p), p = "priv" or "pub", as a multiset',
    deviations=(
        "Distributions are finite, with weights that are whole numbers.",
        "Theorems 4.9 and 4.10 have O(·); the sample sizes here use the constants of their proofs.",
    ),
    variants=("LearnHalf",),
)
