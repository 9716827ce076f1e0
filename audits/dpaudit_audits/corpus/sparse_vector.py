"""Audit plans for the sparse vector techniques, and the best events on their pairs.

Every pair has ten answers. SVT1, SVT2, SVT4, SVT6 and the rounded AboveThreshold use the StatDP pattern with the
largest lower confidence bound on ε from 10^6 samples per dataset, over shifts of all answers, or one within 0.002 of
it. SVT34Parallel and NumericalSVT use the pattern with the smallest n* of the seven compared. The other pairs are our
own; see the comments.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

import numpy as np

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Dataset, FloatArray, IntArray, Mechanism
from dpaudit.plans.plan import Case, Plan
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.above_threshold import AboveThresholdCoarse, AboveThresholdDiscretised
from dpaudit_algorithms.corpus.numerical_sparse_vector import NumericalSVT, SVT34Parallel
from dpaudit_algorithms.corpus.sparse_vector import SVT1, SVT2, SVT3, SVT4, SVT5, SVT6
from dpaudit_algorithms.foundations.sparse_vector_outputs import ABORTED, ABOVE, BELOW, Outputs
from dpaudit_audits.corpus import sparse_vector_laws as laws
from dpaudit_audits.corpus.oracle import Oracle

Floats = FloatArray
RUNS = 1_000_000
SEED = 20_170_601
DRAWN = 200_000
"""Samples per dataset for oracles that average over outputs."""

EQUAL_OR_HALVES = Pair((1,) * 10, (2,) * 5 + (0,) * 5, "all answers equal, or half of them up by 1 and half down by 1")
HALVES = Pair((1,) * 5 + (0,) * 5, (0,) * 5 + (1,) * 5, "the two halves of the answers swap")
# if nine answers are below and the last prints 1, every answer attains its largest ratio
LAST_DOWN = Pair((1,) * 10, (2,) * 9 + (0,), "all answers equal, or the last down by 1 and the others up by 1")
# a change by 1 moves every answer across a point of the grid: nine down, the last up
LAST_UP = Pair((1,) * 9 + (0,), (0,) * 9 + (1,), "the last answer up by 1, the others down by 1")
# for a noisy threshold without noise on the answers: a threshold between −4 and 6 splits one pair of answers of D and
# never splits one of D′
SPLIT_TIES = Pair(
    (-2, -4, 0, -2, 2, 0, 4, 2, 6, 4), (-3, -3, -1, -1, 1, 1, 3, 3, 5, 5), "five ties, each of them split by 2"
)


def _plan(mechanism: Mechanism, pair: Pair, expected: Verdict, runs: int = RUNS) -> Plan:
    case = Case("ten answers", mechanism, pairs=(pair,), runs=runs, exact=False, expected=expected)
    return Plan(mechanism.name, lambda: (case,))


PLAN_1 = _plan(SVT1(), EQUAL_OR_HALVES, Verdict.PASS)
PLAN_2 = _plan(SVT2(), EQUAL_OR_HALVES, Verdict.PASS)
PLAN_3 = _plan(SVT3(), LAST_DOWN, Verdict.FAIL, 2 * RUNS)
PLAN_4 = _plan(SVT4(), HALVES, Verdict.FAIL)
PLAN_5 = _plan(SVT5(), SPLIT_TIES, Verdict.FAIL)
PLAN_6 = _plan(SVT6(), EQUAL_OR_HALVES, Verdict.FAIL)
PARALLEL_PLAN = _plan(SVT34Parallel(), HALVES, Verdict.FAIL)
NUMERICAL_PLAN = _plan(NumericalSVT(), HALVES, Verdict.PASS)
DISCRETISED_PLAN = _plan(AboveThresholdDiscretised(), HALVES, Verdict.PASS)
COARSE_PLAN = _plan(AboveThresholdCoarse(), LAST_UP, Verdict.FAIL)


# --- exact distributions of the pattern of answers above, with the published constants (epsilon 0.1) ------------------


def law_1(answers: Dataset) -> dict[laws.Pattern, float]:
    """SVT1: ε1 = ε2 = 0.05, c = 1, scales 1/ε1 and 2c/ε2."""
    return laws.pattern_law(tuple(answers), 0.5, 20, 40, 1)


def law_2(answers: Dataset) -> dict[laws.Pattern, float]:
    """SVT2: scales c/ε1 and 2c/ε1, the threshold's noise redrawn."""
    return laws.pattern_law(tuple(answers), 1, 20, 40, 1, redrawn=True)


def law_4(answers: Dataset) -> dict[laws.Pattern, float]:
    """SVT4: ε1 = 0.025, ε2 = 0.075, scales 1/ε1 and 1/ε2."""
    return laws.pattern_law(tuple(answers), 1, 40, 1 / 0.075, 1)


def law_5(answers: Dataset) -> dict[laws.Pattern, float]:
    """SVT5: scale 1/ε1, no noise on the answers."""
    return laws.noiseless_law(tuple(answers), 1, 20)


def law_6(answers: Dataset) -> dict[laws.Pattern, float]:
    """SVT6: scales 1/ε1 and 1/ε2, no stop."""
    return laws.pattern_law(tuple(answers), 1, 20, 20, None)


def law_discretised(answers: Dataset) -> dict[laws.Pattern, float]:
    """AboveThresholdDiscretised: scales 2/ε and 4/ε, rounded down to whole numbers."""
    return laws.coarse_law(tuple(answers), 1, 20, 40, 1)


def law_coarse(answers: Dataset) -> dict[laws.Pattern, float]:
    """AboveThresholdCoarse: scales 2/ε and 4/ε, rounded down to multiples of 4."""
    return laws.coarse_law(tuple(answers), 1, 20, 40, 4)


def output(pattern: laws.Pattern, length: int) -> tuple[str, ...]:
    """The output of the symbol-printing mechanisms for a pattern."""
    symbols = tuple(ABOVE if above else BELOW for above in pattern)
    return symbols + (ABORTED,) * (length - len(pattern))


# --- oracles ----------------------------------------------------------------------------------------------------------


def oracle_1() -> Oracle:
    """Exact."""
    return _exact_oracle(law_1, EQUAL_OR_HALVES)


def oracle_2() -> Oracle:
    """Exact."""
    return _exact_oracle(law_2, EQUAL_OR_HALVES)


def oracle_3() -> Oracle:
    """From its density in cells; an output is the position of the stop and one number (c = 1)."""
    left, right = reused_noise(LAST_DOWN, 20, 20)
    return Oracle.of_atoms(left.atoms(), right.atoms())


def oracle_4() -> Oracle:
    """Exact."""
    return _exact_oracle(law_4, HALVES)


def oracle_5() -> Oracle:
    """Exact."""
    return _exact_oracle(law_5, SPLIT_TIES)


def oracle_6() -> Oracle:
    """Exact."""
    return _exact_oracle(law_6, EQUAL_OR_HALVES)


def parallel_oracle() -> Oracle:
    """From the product of SVT3's density and SVT4's output distribution, over seeded runs."""
    return _sampled_oracle(SVT34Parallel(), HALVES, parallel_log_ratio)


def numerical_oracle() -> Oracle:
    """From its density, over seeded runs."""
    return _sampled_oracle(NumericalSVT(), HALVES, numerical_log_ratio)


def discretised_oracle() -> Oracle:
    """Exact."""
    return _exact_oracle(law_discretised, HALVES)


def coarse_oracle() -> Oracle:
    """Exact."""
    return _exact_oracle(law_coarse, LAST_UP)


# --- densities --------------------------------------------------------------------------------------------------------


def reused_noise(pair: Pair, rho: float, nu: float) -> tuple[laws.ReusedNoise, laws.ReusedNoise]:
    """SVT3's densities on both datasets, on the same cells."""
    left, right = tuple(pair.left), tuple(pair.right)
    return laws.ReusedNoise(left, 1, rho, nu, right), laws.ReusedNoise(right, 1, rho, nu, left)


def parallel_log_ratio(outputs: Outputs) -> Floats:
    """Log density ratio of D to D′ of HALVES for SVT34Parallel with c = 2."""
    ten = len(HALVES.left)
    left, right = reused_noise(HALVES, 20, 40)
    log_ratios = np.empty(len(outputs))
    for pattern, (rows, numbers) in by_pattern([row[:ten] for row in outputs]).items():
        log_ratios[rows] = left.log_density(pattern, numbers) - right.log_density(pattern, numbers)
    p, q = (laws.pattern_law(tuple(side), 1, 40, 1 / 0.075, 2) for side in (HALVES.left, HALVES.right))
    symbols = {output(pattern, ten): float(np.log(p[pattern] / q[pattern])) for pattern in p}
    return log_ratios + np.array([symbols[row[ten:]] for row in outputs])  # type: ignore[index]


def numerical_log_ratio(outputs: Outputs) -> Floats:
    """Log density ratio of D to D′ of HALVES for NumericalSVT: scales 30, 120 and 60."""
    p, q = (laws.pattern_law(tuple(side), 1, 30, 120, 2) for side in (HALVES.left, HALVES.right))
    log_ratios = np.empty(len(outputs))
    a, b = tuple(HALVES.left), tuple(HALVES.right)
    for pattern, (rows, numbers) in by_pattern(outputs).items():
        ratio = np.full(len(rows), np.log(p[pattern] / q[pattern]))
        places = [place for place, above in enumerate(pattern) if above]
        for column, place in enumerate(places):
            moved = np.abs(numbers[:, column] - b[place]) - np.abs(numbers[:, column] - a[place])
            ratio += moved / 60
        log_ratios[rows] = ratio
    return log_ratios


def by_pattern(outputs: Outputs) -> dict[laws.Pattern, tuple[IntArray, Floats]]:
    """Group outputs with numbers by pattern: row indices, and numbers of shape (rows, answers above)."""
    rows: dict[laws.Pattern, list[int]] = {}
    numbers: dict[laws.Pattern, list[list[float]]] = {}
    for i, row in enumerate(outputs):
        seen = row[: row.index(ABORTED)] if ABORTED in row else row
        pattern = tuple(isinstance(entry, float) for entry in seen)
        rows.setdefault(pattern, []).append(i)
        numbers.setdefault(pattern, []).append([entry for entry in seen if isinstance(entry, float)])
    return {
        pattern: (np.array(at), np.array(numbers[pattern], dtype=np.float64).reshape(len(at), -1))
        for pattern, at in rows.items()
    }


def _sampled_oracle(
    mechanism: NumericalSVT | SVT34Parallel, pair: Pair, log_ratio: Callable[[Outputs], Floats]
) -> Oracle:
    """The oracle over seeded samples of both datasets."""
    rng = np.random.default_rng(SEED)
    left, right = (log_ratio(mechanism.bulk(side, DRAWN, rng)) for side in (pair.left, pair.right))
    ratio = np.concatenate([left, right])
    # weight each output by its density ratio to the mixture; without normalising, missing mass would act as an event
    p, q = 2 / (1 + np.exp(-ratio)), 2 / (1 + np.exp(ratio))
    return replace(Oracle.of_atoms(p / p.sum(), q / q.sum()), exact=False)


def _exact_oracle(law: Callable[[Dataset], dict[laws.Pattern, float]], pair: Pair) -> Oracle:
    left, right = (dict[Hashable, float](law(side).items()) for side in (pair.left, pair.right))
    return Oracle.of_laws(left, right)
