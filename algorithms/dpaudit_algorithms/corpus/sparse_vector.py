"""The six sparse vector techniques that Lyu, Su and Li compare: two satisfy their claims, four do not.

All report for each query of sensitivity 1 in a stream whether its answer is above a threshold. Most stop after c
answers above.
The dataset is the vector of true answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.language import (
    ANSWERS_LINF,
    UNDERSTANDING_SVT,
    Card,
    Claim,
    KnownBug,
    Laplace,
    Mechanism,
    Program,
    checks,
)
from dpaudit_algorithms.foundations.sparse_vector_outputs import (
    ABOVE,
    BELOW,
    Outputs,
    as_symbols,
    noisy_answers,
    padded,
    until_stop,
    with_numbers,
)

INPUTS = "k true answers to queries of sensitivity 1 (a tuple of numbers); epsilon > 0, a threshold"
SYMBOLIC = 'k symbols, "above", "below" or (after the stop) "aborted"'


@dataclass(frozen=True)
class OnAnswers(Mechanism):
    """Base class of all six: the claim, the threshold, and ε split over the noise of threshold and answers."""

    epsilon: checks.Positive = 0.1
    threshold: checks.Number = 1.0

    @property
    def claim(self) -> Claim:
        """ε if every answer changes by at most 1."""
        return Claim(self.epsilon, 0.0, ANSWERS_LINF)

    @property
    def epsilon_1(self) -> float:
        """ε1, for the noise of the threshold."""
        return self.epsilon / 2

    @property
    def epsilon_2(self) -> float:
        """ε2 = ε − ε1, for the noise of the answers."""
        return self.epsilon - self.epsilon_1


@dataclass(frozen=True)
class Stopping(OnAnswers):
    """Base class of the techniques that stop after c answers above."""

    c: checks.Count = 1


@dataclass(frozen=True)
class SVT1(Stopping):
    """The correct technique: the threshold's noise drawn once, noise of scale 2c/ε2 on the answers.

    Args:
        epsilon: > 0; half of it for the threshold.
        threshold: T.
        c: number of answers above after which it stops, ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Lyu, Su and Li, Algorithm 1.
    """

    threshold: float = 0.5

    @property
    def scale(self) -> float:
        """Scale of the noise on the answers."""
        return 2 * self.c / self.epsilon_2

    def run(self, answers: Any) -> Program:
        rho = yield Laplace(0, 1 / self.epsilon_1)
        outputs: list[str] = []
        for answer in answers:
            if (yield Laplace(answer, self.scale) >= self.threshold + rho):
                outputs.append(ABOVE)
                if outputs.count(ABOVE) >= self.c:
                    break
            else:
                outputs.append(BELOW)
        return padded(outputs, len(answers))

    def bulk(self, answers: Any, size: int, rng: Generator) -> Outputs:
        noisy_threshold = self.threshold + rng.laplace(0, 1 / self.epsilon_1, (size, 1))
        noisy = noisy_answers(answers, self.scale, size, rng)
        return as_symbols(until_stop(noisy >= noisy_threshold, self.c))


@dataclass(frozen=True)
class SVT2(Stopping):
    """Threshold noise of scale c/ε1, redrawn after every answer above: correct, but less accurate than SVT1.

    Args:
        epsilon: > 0; half of it for the threshold.
        threshold: T.
        c: number of answers above after which it stops, ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Lyu, Su and Li, Algorithm 2; Dwork and Roth, Algorithm 2.
    """

    def run(self, answers: Any) -> Program:
        rho = yield Laplace(0, self.c / self.epsilon_1)
        outputs: list[str] = []
        for answer in answers:
            if (yield Laplace(answer, 2 * self.c / self.epsilon_1) >= self.threshold + rho):
                outputs.append(ABOVE)
                if outputs.count(ABOVE) >= self.c:
                    break
                rho = yield Laplace(0, self.c / self.epsilon_2)
            else:
                outputs.append(BELOW)
        return padded(outputs, len(answers))

    def bulk(self, answers: Any, size: int, rng: Generator) -> Outputs:
        noisy = noisy_answers(answers, 2 * self.c / self.epsilon_1, size, rng)
        rho = rng.laplace(0, self.c / self.epsilon_1, size)
        above = np.zeros(noisy.shape, dtype=np.bool_)
        for place in range(len(answers)):
            above[:, place] = noisy[:, place] >= self.threshold + rho
            # noise drawn for runs that have stopped is ignored
            fresh = np.flatnonzero(above[:, place])
            rho[fresh] = rng.laplace(0, self.c / self.epsilon_2, len(fresh))
        return as_symbols(until_stop(above, self.c))


@dataclass(frozen=True)
class SVT3(Stopping):
    """Prints the noisy answer that was compared with the threshold.

    Args:
        epsilon: > 0; half of it for the threshold.
        threshold: T.
        c: number of answers above after which it stops, ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Lyu, Su and Li, Algorithm 3 (from Roth's lecture notes of 2011).
    """

    def run(self, answers: Any) -> Program:
        rho = yield Laplace(0, 1 / self.epsilon_1)
        outputs: list[str | float] = []
        count = 0
        for answer in answers:
            noisy = yield Laplace(answer, self.c / self.epsilon_2)
            if noisy >= self.threshold + rho:
                outputs.append(noisy)
                count += 1
                if count >= self.c:
                    break
            else:
                outputs.append(BELOW)
        return padded(outputs, len(answers))

    def bulk(self, answers: Any, size: int, rng: Generator) -> Outputs:
        noisy_threshold = self.threshold + rng.laplace(0, 1 / self.epsilon_1, (size, 1))
        noisy = noisy_answers(answers, self.c / self.epsilon_2, size, rng)
        return with_numbers(until_stop(noisy >= noisy_threshold, self.c), noisy)


@dataclass(frozen=True)
class SVT4(SVT1):
    """SVT1 with noise of scale 1/ε2 on the answers: it omits the factors c (answers above) and 2 (sign of the change).

    Args:
        epsilon: > 0; a quarter of it for the threshold.
        threshold: T.
        c: number of answers above after which it stops, ≥ 1.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Lyu, Su and Li, Algorithm 4 (from Lee and Clifton, KDD 2014).
    """

    threshold: float = 1.0

    @property
    def epsilon_1(self) -> float:
        """ε1 = ε/4, for the noise of the threshold."""
        return self.epsilon / 4

    @property
    def scale(self) -> float:
        """Scale of the noise on the answers."""
        return 1 / self.epsilon_2


@dataclass(frozen=True)
class SVT5(OnAnswers):
    """No noise on the answers, and no stop.

    Args:
        epsilon: > 0; half of it for the threshold, the other half unused.
        threshold: T.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Lyu, Su and Li, Algorithm 5 (from Stoddard, Chen and Machanavajjhala, 2014).
    """

    def run(self, answers: Any) -> Program:
        rho = yield Laplace(0, 1 / self.epsilon_1)
        return tuple(ABOVE if answer >= self.threshold + rho else BELOW for answer in answers)

    def bulk(self, answers: Any, size: int, rng: Generator) -> Outputs:
        noisy_threshold = self.threshold + rng.laplace(0, 1 / self.epsilon_1, (size, 1))
        return as_symbols((np.asarray(answers, dtype=np.float64) >= noisy_threshold).astype(np.int8))


@dataclass(frozen=True)
class SVT6(OnAnswers):
    """Never stops, though its noise does not depend on the number of answers above.

    Args:
        epsilon: > 0; half of it for the threshold.
        threshold: T.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Lyu, Su and Li, Algorithm 6 (from Chen et al., 2015).
    """

    def run(self, answers: Any) -> Program:
        rho = yield Laplace(0, 1 / self.epsilon_1)
        outputs = []
        for answer in answers:
            above = yield Laplace(answer, 1 / self.epsilon_2) >= self.threshold + rho
            outputs.append(ABOVE if above else BELOW)
        return tuple(outputs)

    def bulk(self, answers: Any, size: int, rng: Generator) -> Outputs:
        noisy_threshold = self.threshold + rng.laplace(0, 1 / self.epsilon_1, (size, 1))
        return as_symbols((noisy_answers(answers, 1 / self.epsilon_2, size, rng) >= noisy_threshold).astype(np.int8))


# --- cards: claims, sources and deviations from the papers ---

_VECTOR = "The dataset is the vector of true answers."
_ABORTED = "After the stop the remaining entries are the symbol aborted, so that all outputs have the same length."

SVT1.card = Card(
    name="SVT1",
    system="corpus",
    title="Sparse vector technique, as proposed by Lyu, Su and Li",
    paper=UNDERSTANDING_SVT,
    place="Algorithm 1",
    claim="ε-DP for queries of sensitivity 1",
    inputs=f"{INPUTS}, a number c ≥ 1 of answers above",
    output=SYMBOLIC,
    deviations=(
        "The dataset is the vector of true answers, and all answers have the same threshold.",
        _ABORTED,
    ),
    variants=("SVT2", "SVT3", "SVT4", "SVT5", "SVT6"),
    known_bug=KnownBug(
        bug="",
        effect="Correct: shifting the threshold's noise by 1 and the noise of the c answers above by 2 covers any "
        "number of answers below.",
        epsilon="at most 0.1 (ε1 for the threshold, c·2/(2c/ε2) = ε2 for the answers above); 0.0885 on the audited "
        "pair",
    ),
)

SVT2.card = replace(
    SVT1.card,
    name="SVT2",
    title="Sparse vector technique of Dwork and Roth's book",
    place="Algorithm 2",
    deviations=(_VECTOR, _ABORTED),
    variants=("SVT1", "SVT3", "SVT4", "SVT5", "SVT6"),
    known_bug=KnownBug(
        bug="",
        effect="Correct: c runs of a technique that stops at the first answer above, with ε/c each.",
        epsilon="at most 0.1 (c parts of ε/c); 0.0882 on the audited pair",
    ),
)

SVT3.card = replace(
    SVT2.card,
    name="SVT3",
    title="Sparse vector technique that prints the compared numbers",
    place="Algorithm 3",
    output='k entries: the noisy answer where it is above, "below", or (after the stop) "aborted"',
    variants=("SVT1", "SVT2", "SVT4", "SVT5", "SVT6"),
    known_bug=KnownBug(
        bug="noise used twice",
        effect="A printed number reveals that the noisy threshold is at most that number, so the threshold's noise no "
        "longer covers the answers below: each of them adds a loss of ε2/c.",
        epsilon="0.5 for ten answers and c = 1; it grows with their number without bound. Given ρ, each answer's ratio "
        "is at most e^(ε2/c). All ten attain it where nine answers of 1 against 2 are below and the last, 1 against 0, "
        "prints 1 (so ρ ≤ 0)",
    ),
)

SVT4.card = replace(
    SVT2.card,
    name="SVT4",
    title="Sparse vector technique with too little noise on the answers",
    place="Algorithm 4",
    variants=("SVT1", "SVT2", "SVT3", "SVT5", "SVT6"),
    known_bug=KnownBug(
        bug="wrong noise scale",
        effect="The noise of an answer has scale 1/ε2 instead of 2c/ε2, so an answer above has a loss of 2·ε2.",
        epsilon="at most 0.175 for c = 1: (1 + 6c)/4 · ε = ε1 + 2c·ε2; 0.1717 on the audited pair",
    ),
)

SVT5.card = replace(
    SVT2.card,
    name="SVT5",
    title="Sparse vector technique without noise on the answers",
    place="Algorithm 5",
    inputs=INPUTS,
    output='k symbols, "above" or "below"',
    deviations=(_VECTOR,),
    variants=("SVT1", "SVT2", "SVT3", "SVT4", "SVT6"),
    known_bug=KnownBug(
        bug="missing noise",
        effect="The answers have no noise and share one threshold, so the output never contradicts their order: an "
        "answer above is larger than an answer below.",
        epsilon="inf: only the first answer is above with positive probability on (1, −1), and never on (0, 0)",
    ),
)

SVT6.card = replace(
    SVT5.card,
    name="SVT6",
    title="Sparse vector technique without a stop",
    place="Algorithm 6",
    variants=("SVT1", "SVT2", "SVT3", "SVT4", "SVT5"),
    known_bug=KnownBug(
        bug="wrong noise scale",
        effect="The threshold's noise covers either the answers below or the answers above, not both; each of the "
        "others adds a loss of ε2, without a limit on their number.",
        epsilon="0.4200 on the audited pair (exact); at most 0.5 for ten answers, because given ρ each answer's ratio "
        "is at most e^ε2; it grows with their number without bound",
    ),
)
