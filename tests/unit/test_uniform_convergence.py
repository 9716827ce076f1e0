"""Generalisation bounds: the calculators by hand, and which printed guarantee fails where."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from dpaudit.errors import DpauditError
from dpaudit.interpret import law, sample
from dpaudit.language import Instance, ParameterError, Trial
from dpaudit_algorithms.generalization import bounds
from dpaudit_algorithms.generalization.uniform_convergence import UniformConvergence, UniformConvergenceCorrected
from dpaudit_algorithms.generalization.uniform_convergence_theory import NoBadConcept
from dpaudit_algorithms.pac.concepts import AgnosticExamples, AnyLabels, Examples, Points, Thresholds, Truth
from dpaudit_audits.generalization.uniform_convergence import utility


def test_calculators_by_hand() -> None:
    assert bounds.generalisation(1, 0.1, 0.05).records == math.ceil(640 * math.log(512 / 0.005)) == 7384
    assert bounds.agnostic_generalisation(2, 0.1, 0.05).records == math.ceil(10_000 * math.log(200)) == 52984
    assert bounds.threshold_generalisation(0.1, 0.05).records == math.ceil(80 * math.log(40)) == 296
    assert bounds.agnostic_generalisation(0, 0.1, 0.05).records == 1
    assert bounds.agnostic_generalisation_corrected(0, 0.1, 0.05).records == math.ceil(5000 * math.log(800))
    assert bounds.sauer(2, 4) == 11
    assert bounds.sauer(5, 3) == 8


@pytest.mark.parametrize("name", ["alpha", "beta"])
@pytest.mark.parametrize("bad", [0.0, -1.0, 1.5, math.nan])
def test_bad_input(name: str, bad: float) -> None:
    wrong = {"alpha": 0.1, "beta": 0.1, name: bad}
    for formula in (bounds.generalisation, bounds.agnostic_generalisation, bounds.agnostic_generalisation_corrected):
        with pytest.raises(ParameterError, match=name):
            formula(1, **wrong)
    with pytest.raises(ParameterError, match=name):
        bounds.threshold_generalisation(**wrong)
    with pytest.raises(ParameterError, match=name):
        UniformConvergence(Points(3), **wrong)


def test_bad_dimension_and_truth() -> None:
    with pytest.raises(ParameterError, match="vc"):
        bounds.generalisation(-1, 0.1, 0.1)
    with pytest.raises(DpauditError, match="Examples"):
        NoBadConcept(Thresholds(2), 0.1).reached(Instance(((0, 1),)), (0, 0))


# --- Lemma 3.19 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.3, 0.1), (0.2, 0.05), (0.9, 0.9), (1.0, 1.0)])
def test_lemma_3_19_at_its_worst(alpha: float, beta: float) -> None:
    # a bad concept on either side: both tails Pr[Bin(n, α) ≤ αn/2], which e^{−αn/8} bounds
    n = bounds.threshold_generalisation(alpha, beta).records
    tail = float(stats.binom.cdf(math.floor(alpha * n / 2 + 1e-12), n, alpha))
    assert 2 * tail <= 2 * math.exp(-alpha * n / 8) <= beta + 1e-12


@pytest.mark.slow
def test_lemma_3_19_exactly() -> None:
    mechanism = UniformConvergence(Thresholds(8), 0.3, 0.1)
    truth = Truth((0, 3, 4), (0.399998, 0.300001, 0.300001), 3)
    assert mechanism.sample_sizes[2].records == 80
    (claim,) = mechanism.utility(80)
    success = law(Trial(Examples(Thresholds(8), truth, 80), mechanism, claim.goal), ()).probability(bool)
    tail = float(stats.binom.cdf(12, 80, 0.300001))
    assert 1 - 2 * tail <= success <= 1 - 2 * tail + tail**2 + 1e-9
    assert success == pytest.approx(0.99695765, abs=1e-7)


# --- Theorem 3.18 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.3, 0.49])
def test_theorem_3_18_fails_for_one_concept(alpha: float) -> None:
    mechanism = UniformConvergence(Thresholds(1), alpha, 0.05)
    claim = mechanism.utility(1)[1]
    assert claim.probability == 0.95
    trial = Trial(AgnosticExamples(AnyLabels(((0, 0), (0, 1)), (1, 1)), 1), mechanism, claim.goal)
    assert law(trial, ()).probability(bool) == 0
    assert sample(trial, (), 1_000, seed=1).counts == {False: 1_000}
    assert len(UniformConvergenceCorrected(Thresholds(1), alpha, 0.05).utility(1)) == 1


def test_theorem_3_18_fails_near_alpha_beta_1() -> None:
    mechanism = UniformConvergence(Points(126), 0.992, 0.992)
    size = mechanism.sample_sizes[1]
    assert size.records == 1
    assert 50 / 0.992**2 * math.log(1 / 0.992**2) < 1
    claim = next(c for c in mechanism.utility(1) if c.place == size.place)
    scattered = AnyLabels(tuple((x, 0) for x in range(126)), (1,) * 126)
    assert law(Trial(AgnosticExamples(scattered, 1), mechanism, claim.goal), ()).probability(bool) == 0
    # one point fewer: 1 − 1/125 = 0.992 is no more than α
    fewer = UniformConvergence(Points(125), 0.992, 0.992)
    goal = next(c for c in fewer.utility(1) if c.place == size.place).goal
    sources = AgnosticExamples(AnyLabels(scattered.examples[:125], (1,) * 125), 1)
    assert law(Trial(sources, fewer, goal), ()).probability(bool) == pytest.approx(1)


@pytest.mark.parametrize("vc", [1, 2, 5, 50])
def test_constants_of_the_proofs(vc: int) -> None:
    # 4·Π(2n)·e^{−nα²/8} ≤ β, Π(2n) ≤ (2en/d)^d: Theorem 3.18 as printed for αβ ≤ 0.16, as corrected everywhere;
    # Theorem 3.17 by 4·Π(2n)·e^{−nα/16} ≤ β
    grid = (1e-6, 1e-3, 0.01, 0.1, 0.16, 0.4, 0.7, 1.0)
    for alpha in grid:
        for beta in grid:
            for size, rate, holds in (
                (bounds.agnostic_generalisation_corrected(vc, alpha, beta), alpha**2 / 8, True),
                (bounds.agnostic_generalisation(vc, alpha, beta), alpha**2 / 8, alpha * beta <= 0.16),
                (bounds.generalisation(vc, alpha, beta), alpha / 16, True),
            ):
                n = size.records
                log_failure = math.log(4) + vc * math.log(2 * math.e * n / vc) - n * rate
                assert log_failure <= math.log(beta) or not holds, (alpha, beta, n)


@pytest.mark.slow(only=["UniformConvergence"])
@pytest.mark.parametrize("kind", [UniformConvergence, UniformConvergenceCorrected])
def test_guarantees_hold_where_expected(kind: type[UniformConvergence]) -> None:
    for case in utility(kind):
        if not case.exact or (kind is UniformConvergenceCorrected and "3.18" not in case.label):
            continue  # the other guarantees are the same
        worst = min(law(Trial(i, case.mechanism, case.claim.goal), ()).probability(bool) for i in case.instances)
        assert (worst >= case.claim.probability) == (case.expected == "pass"), case.label
    assert sum(case.expected == "fail" for case in utility(kind)) == (2 if kind is UniformConvergence else 0)
