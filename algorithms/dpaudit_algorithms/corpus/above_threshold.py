"""AboveThreshold with discrete noise, on the grid of the answers and on a grid coarser than the sensitivity."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

from dpaudit.language import DWORK_ROTH, Card, KnownBug, Laplace, Program, checks
from dpaudit_algorithms.corpus.sparse_vector import INPUTS, SYMBOLIC, OnAnswers
from dpaudit_algorithms.foundations.sparse_vector_outputs import ABOVE, BELOW, padded


@dataclass(frozen=True)
class AboveThresholdDiscretised(OnAnswers):
    """AboveThreshold with both noises rounded down to whole numbers; it stops at the first answer above.

    Args:
        epsilon: > 0.
        threshold: T.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Dwork and Roth, AboveThreshold and its privacy theorem.
    """

    def run(self, answers: Any) -> Program:
        return _rounded(self, 1, answers)


@dataclass(frozen=True)
class AboveThresholdCoarse(OnAnswers):
    """AboveThreshold with both noises rounded down to multiples of a step that is larger than the sensitivity.

    Args:
        epsilon: > 0.
        threshold: T.
        step: grid of the noise, a whole number ≥ 2.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Dwork and Roth, AboveThreshold and its privacy theorem, with noise on too coarse a grid.
    """

    step: Annotated[int, checks.least(2)] = 4

    def run(self, answers: Any) -> Program:
        return _rounded(self, self.step, answers)


def _rounded(mechanism: OnAnswers, step: int, answers: Any) -> Program:
    """AboveThreshold with noise rounded down to multiples of the step; ⌊Lap(b)/step⌋ is ⌊Lap(b/step)⌋."""
    steps = yield Laplace(0, 2 / mechanism.epsilon / step).floor()
    outputs: list[str] = []
    for answer in answers:
        # answer + ⌊ν⌋ ≥ T + ρ if and only if ν is at least the next multiple
        needed = math.ceil((mechanism.threshold - answer) / step) + steps
        if (yield Laplace(0, 4 / mechanism.epsilon / step) >= needed):
            outputs.append(ABOVE)
            break
        outputs.append(BELOW)
    return padded(outputs, len(answers))


# --- cards: claims, sources and deviations from the papers ---

AboveThresholdDiscretised.card = Card(
    name="AboveThresholdDiscretised",
    system="corpus",
    title="AboveThreshold with noise in whole numbers",
    paper=DWORK_ROTH,
    place="AboveThreshold and its privacy theorem",
    claim="ε-DP for queries of sensitivity 1",
    inputs=INPUTS,
    output=SYMBOLIC,
    deviations=(
        "Lap(2/ε) and Lap(4/ε) are rounded down to whole numbers, which makes them two-sided geometric.",
        "The dataset is the vector of true answers.",
        "After the stop the remaining answers are the symbol aborted, so that outputs have one length.",
    ),
    variants=("AboveThresholdCoarse", "SVT1"),
    known_bug=KnownBug(
        bug="",
        effect="Correct: shifting rounded noise by a whole number costs no more than shifting unrounded noise, and "
        "the proof shifts it by 1 and 2.",
        epsilon="at most 0.1: neighbouring masses of ⌊Lap(b)⌋ differ by a factor of at most e^(1/b), so the proof "
        "of the theorem holds word for word; 0.0878 on the audited pair",
    ),
)

AboveThresholdCoarse.card = replace(
    AboveThresholdDiscretised.card,
    name="AboveThresholdCoarse",
    title="AboveThreshold with noise on too coarse a grid",
    inputs=f"{INPUTS}, a whole number step ≥ 2",
    deviations=(
        "Lap(2/ε) and Lap(4/ε) are rounded down to multiples of the step; the book has no such rounding.",
        "The dataset is the vector of true answers.",
        "After the stop the remaining answers are the symbol aborted, so that outputs have one length.",
    ),
    variants=("AboveThresholdDiscretised", "SVT1"),
    known_bug=KnownBug(
        bug="noise on a grid coarser than the sensitivity",
        effect="The noise is a multiple of the step, so an answer matters only through its grid cell, and one record "
        "can move an answer by a whole cell. The scale must be calibrated to the step, not to 1.",
        epsilon="at most 0.4 (step · ε: the proof with noise shifted by step and 2·step); 0.3928 on the audited "
        "pair, exact",
    ),
)
