"""Many Laplace mechanisms on the same number: correct, but no simple event shows the full privacy loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from dpaudit.language import (
    ANSWERS_L1,
    DP_SNIPER,
    Card,
    Claim,
    DatasetError,
    FloatArray,
    KnownBug,
    Laplace,
    Mechanism,
    Product,
    checks,
    independent,
)
from dpaudit_algorithms.corpus.noisy_histogram import laplace_log_density


@dataclass(frozen=True)
class LaplaceParallel(Mechanism):
    """One number, answered k times with independent noise Lap(1/ε₀): kε₀-DP by composition, and no less.

    Args:
        epsilon_each: ε₀ > 0, the privacy loss of one answer.
        copies: k ≥ 1, the number of answers.

    Raises:
        ParameterError: a parameter outside its range.
        DatasetError: from `run`: the dataset is not one number.

    Source: Bichsel et al., DP-Sniper (S&P 2021), evaluation; Dwork and Roth (2014), basic composition.
    """

    epsilon_each: checks.Positive = 0.005
    copies: checks.Count = 20

    @property
    def claim(self) -> Claim:
        """kε₀."""
        return Claim(self.copies * self.epsilon_each, 0.0, ANSWERS_L1)

    def run(self, dataset: tuple[float, ...]) -> Product:
        return independent(Laplace(_number(dataset), 1 / self.epsilon_each), self.copies)

    def log_density(self, dataset: tuple[float, ...], outputs: NDArray[Any]) -> FloatArray:
        """Log density of vectors of answers, shape (r, copies) → (r,)."""
        return laplace_log_density(outputs - _number(dataset), 1 / self.epsilon_each)


def _number(dataset: tuple[float, ...]) -> float:
    if len(dataset) != 1:
        raise DatasetError(f"LaplaceParallel answers one number, but the dataset has {len(dataset)} entries.")
    return dataset[0]


# --- cards: claims, sources and deviations from the papers ---

LaplaceParallel.card = Card(
    name="LaplaceParallel",
    system="corpus",
    title="20 Laplace mechanisms on one number",
    paper=DP_SNIPER,
    place="evaluation, LaplaceParallel",
    claim="kε₀-DP for k = 20 uses of ε₀ = 0.005 (basic composition)",
    inputs="one number that a record moves by at most 1; epsilon_each > 0, copies ≥ 1",
    output="a vector of 20 real numbers",
    deviations=(
        "The dataset is the number itself; neighbours move it by at most 1.",
        "The output is a vector of doubles; the claim is about real numbers.",
    ),
    known_bug=KnownBug(
        bug="",
        effect="None, but a single answer shows little: the evidence is spread over 20 coordinates.",
        epsilon="0.1 = kε₀: where all answers lie outside the interval between the two numbers, each has a density "
        "ratio of e^0.005",
    ),
)
