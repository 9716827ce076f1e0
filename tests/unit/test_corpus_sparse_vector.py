"""Sparse vector techniques of the corpus: laws against samples, text against samplers, the true ε of the cards.

Statistical tests have fixed seeds; each comparison has a false-alarm rate of 1e-6, and there are fewer than 200.
"""

from __future__ import annotations

import math
import pickle
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpaudit.errors import ParameterError
from dpaudit.interpret import Outputs, sample
from dpaudit.language import ANSWERS_LINF, Claim, Dataset, Mechanism
from dpaudit.testing import WithoutBulk
from dpaudit_algorithms.corpus.above_threshold import AboveThresholdCoarse, AboveThresholdDiscretised
from dpaudit_algorithms.corpus.numerical_sparse_vector import NumericalSVT, SVT34Parallel
from dpaudit_algorithms.corpus.sparse_vector import SVT1, SVT2, SVT3, SVT4, SVT5, SVT6
from dpaudit_algorithms.foundations.sparse_vector_outputs import ABORTED, ABOVE, BELOW, as_symbols, until_stop
from dpaudit_audits.corpus import sparse_vector as audits
from dpaudit_audits.corpus import sparse_vector_laws as laws

ALARM = 1e-6
ALL = (
    SVT1, SVT2, SVT3, SVT4, SVT5, SVT6, NumericalSVT, SVT34Parallel, AboveThresholdDiscretised, AboveThresholdCoarse,
)
STOPPING = (SVT1, SVT2, SVT3, SVT4, NumericalSVT, SVT34Parallel)
# the published patterns (StatDP) and the pairs of the audits
ONES = (1,) * 10
PATTERNS = [
    (ONES, (0,) + (1,) * 9),
    (ONES, (2,) + (1,) * 9),
    (ONES, (2,) + (0,) * 9),
    (ONES, (0,) + (2,) * 9),
    (ONES, (2,) * 5 + (0,) * 5),
    (ONES, (2,) * 10),
    (ONES, (0,) * 10),
    (audits.HALVES.left, audits.HALVES.right),
    (audits.LAST_DOWN.left, audits.LAST_DOWN.right),
    (audits.LAST_UP.left, audits.LAST_UP.right),
]
SWAPPED = tuple(audits.HALVES.left)
Law = dict[laws.Pattern, float]
SYMBOLIC: list[tuple[Mechanism, Callable[[Dataset], Law]]] = [
    (SVT1(), audits.law_1),
    (SVT2(), audits.law_2),
    (SVT4(), audits.law_4),
    (SVT5(), audits.law_5),
    (SVT6(), audits.law_6),
    (AboveThresholdDiscretised(), audits.law_discretised),
    (AboveThresholdCoarse(), audits.law_coarse),
    # stopping later: redrawn noise, noise that scales with c
    (SVT1(1.0, 0.5, 3), lambda a: laws.pattern_law(tuple(a), 0.5, 2, 12, 3)),
    (SVT2(1.0, 1.0, 3), lambda a: laws.pattern_law(tuple(a), 1.0, 6, 12, 3, redrawn=True)),
    (SVT4(1.0, 1.0, 2), lambda a: laws.pattern_law(tuple(a), 1.0, 4, 1 / 0.75, 2)),
]


def chi_square(law: Mapping[Hashable, float], counts: Mapping[Hashable, int]) -> float:
    """p-value of counts under a law; atoms expected fewer than 20 times are one atom."""
    assert set(counts) <= {value for value, p in law.items() if p > 0}, "an output that the law excludes"
    runs = sum(counts.values())
    large = [value for value, p in law.items() if p * runs >= 20]
    expected = [law[value] * runs for value in large]
    seen: list[float] = [counts.get(value, 0) for value in large]
    if (rest := runs - sum(expected)) >= 20:
        expected, seen = [*expected, rest], [*seen, runs - sum(seen)]
    assert len(expected) > 1
    statistic = sum((s - e) ** 2 / e for s, e in zip(seen, expected, strict=True))
    return float(stats.chi2.sf(statistic, len(expected) - 1))


def binomial(hits: int, runs: int, p: float) -> float:
    return float(stats.binomtest(hits, runs, p).pvalue)


def outputs_of(drawn: Outputs) -> list[Any]:
    """Every run's output."""
    return [*Counter(drawn.counts).elements(), *drawn.others]


def worst(p: Law, q: Law) -> float:
    """The true ε of a pair: the largest ratio of probabilities, either way."""
    assert set(p) == set(q)
    return max(abs(math.log(p[pattern] / q[pattern])) for pattern in p)


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow(fast=["left0-*", "left9-*"])
@pytest.mark.parametrize(("left", "right"), PATTERNS)
def test_laws_sum_to_one(left: Dataset, right: Dataset) -> None:
    for _, law in SYMBOLIC:
        for side in (left, right):
            assert sum(law(side).values()) == pytest.approx(1, abs=1e-9)
    for density in (laws.ReusedNoise(tuple(left), 1, 20, 20, tuple(right)), laws.ReusedNoise(tuple(left), 1, 3, 7)):
        assert density.atoms().sum() == pytest.approx(1, abs=1e-9)


def test_reused_noise_stops_as_often_as_the_symbols_say() -> None:
    left = audits.LAST_DOWN.left
    law, atoms = laws.pattern_law(tuple(left), 1, 20, 20, 1), laws.ReusedNoise(tuple(left), 1, 20, 20).atoms()
    assert atoms[0] == pytest.approx(law[(False,) * 10], abs=1e-12)
    for place, mass in enumerate(atoms[1:].reshape(10, -1).sum(axis=1)):
        assert mass == pytest.approx(law[(False,) * place + (True,)], abs=1e-12)


@pytest.mark.slow(fast=["side0-SVT[1245]*", "side0-Above*", "side2-SVT5*"])
@pytest.mark.parametrize(("mechanism", "law"), SYMBOLIC, ids=lambda x: repr(x) if isinstance(x, Mechanism) else "")
@pytest.mark.parametrize("side", [audits.HALVES.left, audits.EQUAL_OR_HALVES.right, audits.SPLIT_TIES.left])
def test_samples_and_text_follow_the_law(mechanism: Mechanism, law: Callable[[Dataset], Law], side: Dataset) -> None:
    expected: dict[Hashable, float] = {audits.output(pattern, 10): p for pattern, p in law(side).items()}
    assert chi_square(expected, sample(mechanism, side, 30_000, seed=3).counts) > ALARM
    assert chi_square(expected, sample(WithoutBulk(mechanism), side, 1_500, seed=4).counts) > ALARM


@pytest.mark.parametrize(
    ("mechanism", "wrong"),
    [
        (SVT1(), laws.pattern_law(SWAPPED, 0.5, 20, 30, 1)),
        (SVT1(), laws.pattern_law(SWAPPED, 0.5, 27, 40, 1)),
        (SVT4(), laws.pattern_law(SWAPPED, 1, 40, 10, 1)),
        (SVT6(), laws.pattern_law(SWAPPED, 1, 20, 25, None)),
        (SVT2(1.0, 1.0, 3), laws.pattern_law(SWAPPED, 1.0, 6, 12, 3, redrawn=False)),
        (AboveThresholdDiscretised(), laws.coarse_law(SWAPPED, 1, 20, 30, 1)),
    ],
)
def test_the_comparison_with_the_law_can_fail(mechanism: Mechanism, wrong: Law) -> None:
    """A scale that is wrong by a quarter or a third, and a threshold that is not redrawn, are seen."""
    expected: dict[Hashable, float] = {audits.output(pattern, 10): p for pattern, p in wrong.items()}
    assert chi_square(expected, sample(mechanism, audits.HALVES.left, 30_000, seed=3).counts) < ALARM


# --- densities --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("text", [False, True])
def test_printed_numbers_follow_the_density(side: str, text: bool) -> None:
    """SVT3: at several places of the stop, how often the number is low, or between two cuts."""
    pair, runs = audits.LAST_DOWN, 1_500 if text else 30_000
    left, right = audits.reused_noise(pair, 20, 20)
    density = left if side == "left" else right
    mechanism: Mechanism = WithoutBulk(SVT3()) if text else SVT3()
    drawn = outputs_of(sample(mechanism, getattr(pair, side), runs, seed=5))
    cells, numbers = density.atoms()[1:].reshape(10, -1), density.line.nodes + 1
    for place in (0, 1, 4):
        stopped = [row[place] for row in drawn if isinstance(row[place], float)]
        # cuts at kinks, where panels end
        for low, high in ((-math.inf, 1), (1, math.inf), (1, 2)):
            p = float(cells[place][(numbers > low) & (numbers < high)].sum())
            assert binomial(sum(low < v < high for v in stopped), runs, p) > ALARM, (place, low, high)


@pytest.mark.slow(fast=["NumericalSVT"])
@pytest.mark.parametrize(
    ("mechanism", "log_ratio"),
    [(SVT34Parallel(), audits.parallel_log_ratio), (NumericalSVT(), audits.numerical_log_ratio)],
    ids=["SVT34Parallel", "NumericalSVT"],
)
def test_density_ratios_average_to_one(
    mechanism: SVT34Parallel | NumericalSVT, log_ratio: Callable[[list[Any]], Any]
) -> None:
    """The other side's density over this side's has mean 1 on this side's runs, also inside events: z below 4.9."""
    pair = audits.HALVES
    drawn = [outputs_of(sample(mechanism, side, 40_000, seed=6 + i)) for i, side in enumerate((pair.left, pair.right))]
    for here, there, sign in ((drawn[0], drawn[1], -1), (drawn[1], drawn[0], 1)):
        weights = np.exp(sign * log_ratio(here))
        events: tuple[Callable[[Any], bool], ...] = (
            lambda row: True,
            lambda row: isinstance(row[0], float) and row[0] > 3,
            lambda row: row[0] == row[1] == BELOW,
            lambda row: ABORTED in row[:5],
        )
        for event in events:
            inside = np.array([event(row) for row in here])
            share = float(np.mean([event(row) for row in there]))
            values = weights * inside
            error = math.sqrt(values.var() / len(values) + share * (1 - share) / len(there))
            assert abs(values.mean() - share) < 4.9 * error


@pytest.mark.slow(fast=["SVT3"])
@pytest.mark.parametrize("mechanism", [NumericalSVT(), SVT34Parallel(1.0), SVT3(1.0, 1.0, 2)], ids=lambda m: m.name)
def test_text_and_sampler_of_numbers_agree(mechanism: Mechanism) -> None:
    """Numbers by Kolmogorov–Smirnov place by place, symbols by the pattern of the first three places."""
    side = audits.HALVES.left
    text = outputs_of(sample(WithoutBulk(mechanism), side, 2_000, seed=8))
    bulk = outputs_of(sample(mechanism, side, 20_000, seed=9))
    for place in (0, 1, 6):
        a, b = ([row[place] for row in rows if isinstance(row[place], float)] for rows in (text, bulk))
        assert stats.ks_2samp(a, b).pvalue > ALARM
    kinds = [Counter(tuple(s if isinstance(s, str) else "" for s in row[:3]) for row in rows) for rows in (text, bulk)]
    common = [kind for kind in kinds[1] if kinds[1][kind] >= 400]
    table = np.array([[k[kind] for kind in common] + [k.total() - sum(k[kind] for kind in common)] for k in kinds])
    assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > ALARM


# --- the true ε -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [audits.law_1, audits.law_2, audits.law_discretised])
def test_correct_ones_keep_the_claim_on_every_pattern(law: Callable[[Dataset], Law]) -> None:
    assert all(worst(law(left), law(right)) <= 0.1 + 1e-12 for left, right in PATTERNS)


@pytest.mark.parametrize(
    ("law", "pair", "epsilon", "most"),
    [
        (audits.law_1, audits.EQUAL_OR_HALVES, 0.0885, 0.1),
        (audits.law_2, audits.EQUAL_OR_HALVES, 0.0882, 0.1),
        (audits.law_4, audits.HALVES, 0.1717, 0.175),
        (audits.law_6, audits.EQUAL_OR_HALVES, 0.4200, 0.5),
        (audits.law_discretised, audits.HALVES, 0.0878, 0.1),
        (audits.law_coarse, audits.LAST_UP, 0.3928, 0.4),
    ],
)
def test_true_epsilon_on_the_pair_of_the_audit(
    law: Callable[[Dataset], Law], pair: Any, epsilon: float, most: float
) -> None:
    assert worst(law(pair.left), law(pair.right)) == pytest.approx(epsilon, abs=5e-5)
    assert all(worst(law(left), law(right)) <= most + 1e-12 for left, right in PATTERNS)


def test_svt3_reaches_a_half() -> None:
    left, right = (side.atoms() for side in audits.reused_noise(audits.LAST_DOWN, 20, 20))
    seen = (left > 1e-12) & (right > 1e-12)
    assert np.abs(np.log(left[seen] / right[seen])).max() == pytest.approx(0.5, abs=1e-3)


def test_svt5_has_outputs_that_one_side_excludes() -> None:
    left, right = audits.law_5(audits.SPLIT_TIES.left), audits.law_5(audits.SPLIT_TIES.right)
    alone = [pattern for pattern in left if right.get(pattern, 0.0) == 0]
    # ρ + 1 in (−4, 6]
    assert sum(left[pattern] for pattern in alone) == pytest.approx(1 - math.exp(-5 / 20), abs=1e-12)
    assert audits.oracle_5().epsilon() == math.inf


@pytest.mark.slow
def test_svt34parallel_is_above_its_claim() -> None:
    oracle = audits.parallel_oracle()
    assert oracle.information_limit(Claim(0.1, 0.0, ANSWERS_LINF), 0.01) < math.inf
    p, q = (laws.pattern_law(tuple(side), 1, 40, 1 / 0.075, 2) for side in (audits.HALVES.left, audits.HALVES.right))
    assert worst(p, q) > 0.1


def test_numerical_svt_keeps_its_claim() -> None:
    """The pattern's ratio, and e^(1/60) for each number that is printed where an answer moved."""
    for left, right in PATTERNS:
        p, q = (laws.pattern_law(tuple(side), 1, 30, 120, 2) for side in (left, right))
        moved = [abs(a - b) for a, b in zip(left, right, strict=True)]
        for pattern in p:
            printed = sum(m for m, above in zip(moved, pattern, strict=False) if above) / 60
            assert abs(math.log(p[pattern] / q[pattern])) + printed <= 0.1 + 1e-12


@pytest.mark.parametrize("member", ALL)
def test_cards_say_whether_the_claim_is_false(member: type[Mechanism]) -> None:
    assert member.card is not None
    assert member.card.known_bug is not None
    correct = {SVT1, SVT2, NumericalSVT, AboveThresholdDiscretised}
    assert member.card.known_bug.broken is (member not in correct)


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("member", ALL)
def test_claims_pickles_and_repeats(member: type[Any]) -> None:
    mechanism = member()
    assert mechanism.claim == Claim(0.1, 0.0, ANSWERS_LINF)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    one, two = (sample(mechanism, audits.HALVES.left, 500, seed=1) for _ in range(2))
    assert (one.counts, one.others) == (two.counts, two.others)
    assert all(isinstance(row, tuple) and len(row) in (10, 20) for row in outputs_of(one))


@pytest.mark.parametrize("member", ALL)
@pytest.mark.parametrize(("name", "bad"), [("epsilon", 0), ("epsilon", math.nan), ("threshold", "1")])
def test_refuses_bad_parameters(member: type[Any], name: str, bad: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        member(**{name: bad})


@pytest.mark.parametrize("member", STOPPING)
@pytest.mark.parametrize("bad", [0, 1.5])
def test_refuses_bad_numbers_of_answers(member: type[Any], bad: Any) -> None:
    with pytest.raises(ParameterError, match=r"^c must"):
        member(c=bad)


@pytest.mark.parametrize("bad", [1, 2.5])
def test_refuses_a_bad_step(bad: Any) -> None:
    with pytest.raises(ParameterError, match="step"):
        AboveThresholdCoarse(step=bad)


def test_symbols_of_many_answers() -> None:
    """Rows longer than base-3 numbers of 64 bits; equal prefixes and suffixes stay apart."""
    above = np.random.default_rng(10).random((300, 90)) < 0.05
    codes = until_stop(above, 3)
    expected = []
    for row in above.tolist():
        seen: list[str] = []
        for one in row:
            seen.append(ABORTED if seen.count(ABOVE) >= 3 else ABOVE if one else BELOW)
        expected.append(tuple(seen))
    assert as_symbols(codes) == expected
