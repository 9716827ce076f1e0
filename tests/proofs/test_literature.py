"""Programs of the literature are proved with exactly their smallest ε, or not at all; certificates check."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.exact import exactly
from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Proof, Unknown
from dpaudit.proofs.scopes import Answers, Domain, Records, Scope, Stream
from dpaudit_algorithms.corpus.above_threshold import AboveThresholdCoarse, AboveThresholdDiscretised
from dpaudit_algorithms.corpus.noisy_histogram import NoisyHist1
from dpaudit_algorithms.corpus.numerical_sparse_vector import NumericalSVT
from dpaudit_algorithms.corpus.prefix_sum import PrefixSum
from dpaudit_algorithms.corpus.report_noisy_max import (
    ReportNoisyMax1,
    ReportNoisyMax2,
    ReportNoisyMax3,
    ReportNoisyMax4,
)
from dpaudit_algorithms.corpus.sparse_vector import SVT1, SVT2, SVT3, SVT4, SVT5, SVT6
from dpaudit_algorithms.foundations.above_threshold import AboveThreshold, CountAtMost
from dpaudit_algorithms.foundations.laplace_mechanism import Count, Histogram, LaplaceMechanism
from dpaudit_algorithms.generalization.numeric_sparse import NumericSparse
from tests.proofs import literature as programs

QUERIES = tuple(CountAtMost(value) for value in range(3))
ONE = Fraction(1)


def proof_of(target: Any, scope: Scope, epsilon: float | Fraction = 1) -> Proof:
    outcome = prove(target, scope, epsilon=epsilon, refute=False)
    assert isinstance(outcome, Proof), outcome
    assert check_certificate(json.loads(json.dumps(outcome.certificate))) is None
    return outcome


def least_of(target: Any, scope: Scope) -> Fraction | None:
    """What the alignment needs, for a claim that it does not prove."""
    outcome = prove(target, scope, epsilon=Fraction(1, 1000), refute=False)
    assert isinstance(outcome, Unknown), outcome
    return outcome.least


@pytest.mark.parametrize("c", [1, 3, 10])
@pytest.mark.parametrize("technique", [SVT1, SVT2, NumericalSVT])
def test_correct_sparse_vector_techniques_for_every_length(technique: Any, c: int) -> None:
    assert proof_of(technique(epsilon=1.0, c=c), Stream()).epsilon == 1


@pytest.mark.parametrize("c", [1, 3, 10])
def test_svt4_needs_exactly_its_epsilon(c: int) -> None:
    assert proof_of(SVT4(epsilon=1.0, c=c), Stream(), Fraction(1 + 6 * c, 4)).epsilon == Fraction(1 + 6 * c, 4)
    assert least_of(SVT4(epsilon=1.0, c=c), Stream()) == Fraction(1 + 6 * c, 4)


@pytest.mark.parametrize("technique", [SVT3(epsilon=1.0), SVT3(epsilon=1.0, c=3), SVT5(epsilon=1.0), SVT6(epsilon=1.0)])
def test_techniques_without_a_bound(technique: Any) -> None:
    assert least_of(technique, Stream()) is None
    outcome = prove(technique, Stream(), epsilon=1000, refute=False)
    assert isinstance(outcome, Unknown)


def test_claims_of_the_corpus_are_decimals() -> None:
    assert proof_of(SVT1(epsilon=0.1), Stream(), 0.1).epsilon == Fraction(1, 10)


@pytest.mark.parametrize(
    ("program", "scope", "epsilon"),
    [
        (programs.above_threshold, Stream(), ONE),
        (programs.gap_svt, Stream(), ONE),
        (programs.adaptive_svt, Stream(), ONE),
        (programs.numeric_sparse, Stream(), ONE),
        (programs.noisy_max, Answers(10), ONE),
        (programs.noisy_max_argmax, Answers(10), ONE),
        (programs.noisy_max_exponential, Answers(10), ONE),
        (programs.noisy_max_gumbel, Answers(10), ONE),
        (programs.noisy_max_geometric, Answers(10, whole=True), ONE),
        (programs.noisy_max_loop, Answers(5), ONE),
        (programs.noisy_max_with_gap, Answers(6), ONE),
        (programs.two_largest, Answers(4), ONE),
        (programs.partial_sum, Answers(10, "one"), ONE),
        (programs.partial_sum, Answers(10), 10 * ONE),
        (programs.smart_sum, Answers(20, "one"), 2 * ONE),
        (programs.binary_tree, Answers(8, "one"), ONE),
        (programs.prefix_sums, Answers(10, "one"), ONE),
        (programs.prefix_sums, Answers(8), 8 * ONE),
        (programs.histogram, Domain(50, (0, 1, 2)), ONE),
        (programs.histogram, Domain(50, (0, 1, 2), "add-remove-one"), ONE / 2),
        (programs.clipped_sum, Records(200, -5, 5), ONE),
        (programs.clipped_sum, Records(5, -5, 5, "add-remove-one"), ONE),
        (AboveThresholdDiscretised(epsilon=1.0), Stream(), ONE),
        (AboveThresholdCoarse(epsilon=1.0, step=4), Stream(), 4 * ONE),
        (AboveThreshold(1.0, 2.0, QUERIES), Stream(), ONE),
        (NumericSparse(1.0, 0.0, 2.0, 3, QUERIES), Stream(), ONE),
        (PrefixSum(epsilon=1.0), Answers(6), 6 * ONE),
        (PrefixSum(epsilon=1.0), Answers(6, "one"), ONE),
        (NoisyHist1(epsilon=1.0), Answers(6, "one"), ONE),
        (ReportNoisyMax1(epsilon=1.0), Answers(10), ONE),
        (ReportNoisyMax2(epsilon=1.0), Answers(10), ONE),
        (ReportNoisyMax3(epsilon=1.0), Answers(6), 3 * ONE),
        (LaplaceMechanism(1.0, Histogram((0, 1, 2))), Domain(3, (0, 1, 2, 3)), ONE),
        (LaplaceMechanism(1.0, Count(1)), Domain(3, (0, 1), "add-remove-one"), ONE),
    ],
    ids=lambda value: getattr(value, "__name__", None) or str(value)[:40],
)  # fmt: skip
def test_least_epsilon(program: Callable[..., Any], scope: Scope, epsilon: Fraction) -> None:
    assert proof_of(program, scope, epsilon).epsilon == epsilon
    lower = prove(program, scope, epsilon=epsilon * Fraction(99, 100), refute=False)
    assert isinstance(lower, Unknown)
    assert lower.least == epsilon


@pytest.mark.parametrize(
    ("program", "scope"),
    [
        (ReportNoisyMax4(epsilon=1.0), Answers(4)),
        (programs.histogram_of_present, Domain(4, ("a", "b"))),
        (programs.secret_denominator, Records(3, 0, 1)),
        (programs.edge, Records(2, 0, 1)),
    ],
    ids=lambda value: getattr(value, "__name__", None) or str(value)[:40],
)
def test_never_proved(program: Callable[..., Any], scope: Scope) -> None:
    outcome = prove(program, scope, epsilon=1000, refute=False)
    assert isinstance(outcome, Unknown)
    assert outcome.place is not None


def test_clip_after_mean_needs_more_noise() -> None:
    # the mean of n records in [−5, 5] moves by 10/n, and the clipped one by min(1, 10/n)
    assert proof_of(programs.mean_then_clip, Records(20, -5, 5), 10).epsilon == 10


@pytest.mark.parametrize("by", [1, 0.05, Fraction(1, 7), Fraction(13, 999), 3.7, 1 / 3])
def test_a_shift_of_any_length_is_exact(by: float | Fraction) -> None:
    """A shift is rounded to simple fractions, and no simpler one that costs more is taken."""

    def first_above(answers: Any, rng: Any) -> Any:
        threshold = 3 + rng.laplace(0, 2)
        out = []
        for answer in answers:
            if answer + rng.laplace(0, 4) >= threshold:
                out.append(True)
                break
            out.append(False)
        return out

    for scope in (Stream(by), Answers(9, by=by)):
        outcome = prove(first_above, scope, epsilon=10, refute=False)
        assert isinstance(outcome, Proof)
        assert outcome.epsilon == exactly(by)
