"""Empirical and PAC learners: Lemma 7.20's construction leaves (ε, δ) at large ε, and the guarantees of accuracy."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from dpaudit.interpret import law, sample
from dpaudit.language import Claim, DatasetError, Fixed, Multiset, ParameterError, Trial
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.foundations.subsampling import kept
from dpaudit_algorithms.interior_points.interior_point_baselines import Median
from dpaudit_algorithms.pac.concepts import EmpiricalError, Examples, GeneralisationError, Points, Thresholds, Truth
from dpaudit_algorithms.pac.learn_thresholds import Consistency
from dpaudit_algorithms.pac.learner_conversions import EmpiricalLearner, EmpiricalLearnerCorrected, PacLearner
from dpaudit_audits.pac.learner_conversions import empirical_utility, four_samples, pac_learner, pac_utility

TWO = Thresholds(2)


def learner(epsilon: float, m: int) -> EmpiricalLearner:
    return EmpiricalLearner(ExponentialMechanism(epsilon, Consistency(2)), TWO, m, 0.25, 0.25)


def needed(mechanism: EmpiricalLearner | EmpiricalLearnerCorrected) -> float:
    """The ε of the pair on which c_0 is nearly impossible, and one relabelled row makes it less so."""
    n = mechanism.n
    p = law(mechanism, Multiset.counted({(1, 1): n})).as_dict()[0]
    q = law(mechanism, Multiset.counted({(1, 1): n - 1, (1, 0): 1})).as_dict()[0]
    return math.log(q / p)


def by_hand(epsilon: float, m: int) -> float:
    """Σ_k p_k·q_k/q_0 with k ~ Bin(m, 1/(9m)) and q_k = 1/(1 + e^{ε(m − 2k)/2})."""
    q = [1 / (1 + math.exp(epsilon * (m - 2 * k) / 2)) for k in range(m + 1)]
    return math.log(math.fsum(stats.binom.pmf(k, m, 1 / (9 * m)) * q[k] for k in range(m + 1)) / q[0])


# --- Lemma 7.20: privacy ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "m"), [(11.0, 3), (8.0, 4), (6.0, 4), (5.0, 6), (3.75, 12), (3.6, 30)])
def test_a_real_learner_needs_more_than_it_claims(epsilon: float, m: int) -> None:
    assert needed(learner(epsilon, m)) == pytest.approx(by_hand(epsilon, m), rel=1e-9)
    assert by_hand(epsilon, m) > epsilon
    corrected = EmpiricalLearnerCorrected(ExponentialMechanism(epsilon, Consistency(2)), TWO, m, 0.25, 0.25)
    assert corrected.n > 9 * m
    assert needed(corrected) <= epsilon


def test_no_threshold_learner_with_two_draws_does() -> None:
    assert all(by_hand(e / 10, 2) < e / 10 for e in range(1, 400))
    assert all(by_hand(e / 10, 3) < e / 10 for e in range(1, 108))


def test_the_learners_are_learners_of_sivakumars_definition() -> None:
    # error ≤ 1/4 with probability 3/4 over sample and coins; only a point of mass > 1/4 can be got wrong, and the
    # more mass it has the surer it is seen
    for epsilon, m in ((11.0, 3), (8.0, 4), (5.0, 6)):
        goal, worst = GeneralisationError(TWO, 0.25), 1.0
        for share in (0.250001, 0.26, 0.3, 0.5, 0.9, 1.0):
            for target in (0, 1):
                samples = Examples(TWO, Truth((0, 1), (1 - share, share), target), m)
                trial = Trial(samples, ExponentialMechanism(epsilon, Consistency(2)), goal)
                worst = min(worst, law(trial, ()).probability(bool))
        seen = stats.binom.pmf(range(m + 1), m, 0.250001)
        assert worst == pytest.approx(1 - math.fsum(p / (1 + math.exp(epsilon * k / 2)) for k, p in enumerate(seen)))
        assert worst >= 0.75


def test_the_refutation_sampled() -> None:
    # m = 4, ε = 8: c_0 has probability 1.125e-7 and 2.307e-3; e⁸ = 2981
    mechanism, runs = four_samples(EmpiricalLearner), 20_000_000
    n = mechanism.n
    low = sample(mechanism, Multiset.counted({(1, 1): n}), runs, seed=5).counts.get(0, 0)
    high = sample(mechanism, Multiset.counted({(1, 1): n - 1, (1, 0): 1}), runs, seed=6).counts.get(0, 0)
    # Clopper–Pearson at 99.9 % together
    upper = stats.beta.ppf(1 - 0.0005, low + 1, runs - low)
    lower = stats.beta.ppf(0.0005, high, runs - high + 1)
    assert lower > math.exp(8) * upper


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_worst_mechanism_of_two_draws(delta: float) -> None:
    start = 0.0 if delta else 1e-6
    for epsilon, holds in ((5.6, True), (6.0, False)):
        mechanism = EmpiricalLearner(GroupPrivacy(epsilon, delta, start), TWO, 2, 1.0, 1.0)
        q = law(mechanism, Multiset.counted({0: 17, 1: 1})).as_dict()[True]
        grown = (1 + math.expm1(epsilon) / 18) ** 2
        assert q == pytest.approx(start * grown + delta * (grown - 1) / math.expm1(epsilon), rel=1e-9)
        assert (q <= math.exp(epsilon) * start + delta) == holds


def test_nine_m_rows_are_enough_up_to_3_474() -> None:
    sizes = (1, 2, 5, 20, 100, 1000, 10**6)
    assert all(kept(e, m, 9 * m) for e in (0.1, 1.0, 2.0, 3.0, 3.474) for m in sizes)
    assert not kept(3.475, 10**6, 9 * 10**6)
    assert math.expm1(3.474) < 9 * 3.474
    assert math.expm1(3.4741) > 9 * 3.4741


def test_corrected_is_the_printed_one_where_that_holds() -> None:
    for epsilon, m in ((1.0, 60), (3.4, 5), (5.0, 2), (20.0, 1)):
        inner = GroupPrivacy(epsilon, 0.0, 0.1)
        assert EmpiricalLearnerCorrected(inner, TWO, m, 0.5, 0.5).n == 9 * m
    assert EmpiricalLearnerCorrected(GroupPrivacy(8.0, 0.0, 0.1), TWO, 4, 0.5, 0.5).n == 467


# --- utility ---------------------------------------------------------------------------------------------------------


def test_accuracy_is_that_on_samples_from_the_rows() -> None:
    # on D as the PAC learner is under the uniform distribution on D's rows, dataset by dataset
    mechanism, alpha = learner(8.0, 4), 0.25
    for count in range(1, 36):
        for target in (0, 1):
            rows = Fixed(Multiset.counted({(0, 1): 36 - count, (1, target): count}))
            samples = Examples(TWO, Truth((0, 1), (36 - count, count), target), 4)
            on_rows = law(Trial(rows, mechanism, EmpiricalError(TWO, alpha)), ()).probability(bool)
            on_samples = law(Trial(samples, mechanism.learner, GeneralisationError(TWO, alpha)), ()).probability(bool)
            assert on_rows == pytest.approx(on_samples, rel=1e-12)
            assert (on_rows > 1 - 1e-12) == (count <= 9)  # an error of at most 9/36 = α


@pytest.mark.slow
@pytest.mark.parametrize("kind", [EmpiricalLearner, EmpiricalLearnerCorrected])
def test_guarantees_hold_where_expected(kind: type[EmpiricalLearner] | type[EmpiricalLearnerCorrected]) -> None:
    for case in empirical_utility(kind):
        worst = min(law(Trial(i, case.mechanism, case.claim.goal), ()).probability(bool) for i in case.instances)
        assert (worst >= case.claim.probability) == (case.expected == "pass"), case.label


@pytest.mark.slow
def test_pac_guarantees_hold_where_expected() -> None:
    for case in pac_utility():
        few = [i for i in case.instances if len(i.truth.points) < 3]  # type: ignore[attr-defined]
        worst = min(law(Trial(i, case.mechanism, case.claim.goal), ()).probability(bool) for i in few)
        assert (worst >= case.claim.probability) == (case.expected == "pass"), case.label


def test_sample_sizes_by_hand() -> None:
    default = pac_learner()
    assert default.n == 37
    assert default.samples == 60 == math.ceil(4 * math.log(20) / 0.2)
    assert default.sample_sizes[0].records == 60
    assert default.utility(59) == ()
    assert default.utility(60)[0].probability == pytest.approx(0.8)
    assert "≤ 0.4" in str(default.utility(60)[0])
    assert learner(1.0, 4).sample_sizes[0].records == 36
    assert learner(1.0, 4).utility(35) == ()
    assert "Theorem 3.5" in learner(1.0, 4).utility(36)[0].place
    assert default.claim == Claim(1.0)


# --- bad input -------------------------------------------------------------------------------------------------------


def test_bad_input() -> None:
    inner = ExponentialMechanism(1.0, Consistency(2))
    with pytest.raises(ParameterError, match="claims nothing"):
        EmpiricalLearner(Median(), TWO, 4, 0.25, 0.25)
    with pytest.raises(ParameterError, match="beta"):
        EmpiricalLearner(inner, TWO, 4, 0.25, 1.5)
    with pytest.raises(ParameterError, match="m must be at least 1"):
        EmpiricalLearner(inner, TWO, 0, 0.25, 0.25)
    with pytest.raises(ParameterError, match="epsilon"):
        EmpiricalLearnerCorrected(ExponentialMechanism(800.0, Consistency(2)), TWO, 4, 0.25, 0.25)
    with pytest.raises(ParameterError, match="Thresholds"):
        PacLearner(inner, Points(2), 4, 0.25, 0.25, 0.25)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="beta_prime"):
        PacLearner(inner, TWO, 4, 0.25, 0.25, 0.0)
    with pytest.raises(DatasetError, match="n = 36 rows"):
        law(learner(1.0, 4), ((1, 1),) * 35)
