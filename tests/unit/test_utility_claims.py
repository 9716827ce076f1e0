"""Printed utility guarantees: held against exact laws on the worst inputs known, the refuted ones by hand too."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import pytest

from dpaudit.errors import ParameterError
from dpaudit.interpret import law, sample
from dpaudit.language import (
    BOTTOM,
    Fixed,
    Given,
    Goal,
    Instance,
    InteriorPoint,
    Mechanism,
    Multiplicity,
    Multiset,
    Scores,
    StepScores,
    Trial,
)
from dpaudit.plans import registry
from dpaudit.plans.plan import UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.a_dist import ADist, ADistCorrected
from dpaudit_algorithms.foundations.choosing import ChoosingMechanism
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.goals import (
    ClearBest,
    DeepPoint,
    NearBest,
    NearBestOrBottom,
    PromiseKept,
    Supported,
    all_but,
)
from dpaudit_algorithms.foundations.laplace_mechanism import AnswersWithin, Count, Histogram, LaplaceMechanism
from dpaudit_algorithms.interior_points.interior_point import InteriorPointByMedian, InteriorPointByMedianCorrected
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_algorithms.interior_points.rec_prefix import RecPrefix, RecPrefixLevel
from dpaudit_algorithms.pac.concepts import Examples, GeneralisationError, Points, Thresholds, Truth
from dpaudit_algorithms.pac.learn_points import LearnPoints, LearnPointsCorrected
from dpaudit_algorithms.pac.learn_thresholds import LearnThresholds, LearnThresholdsCorrected

PLANS = (
    "LaplaceMechanism", "ExponentialMechanism", "ADist", "ADistCorrected", "ChoosingMechanism",
    "InteriorPointByMedian", "InteriorPointByMedianCorrected", "RecPrefix", "RecConcave", "RecConcaveCorrected",
    "LearnThresholds", "LearnThresholdsCorrected", "LearnPoints", "LearnPointsCorrected",
)  # fmt: skip


def cases(name: str) -> tuple[UtilityCase, ...]:
    plan = registry.plan(name)
    assert plan.utility is not None
    return plan.utility()


def success(mechanism: Mechanism, goal: Goal, source: Mechanism) -> float:
    """Exactly, over the instance and the coins."""
    return law(Trial(source, mechanism, goal), ()).as_dict().get(True, 0.0)


@pytest.mark.slow(only=["LearnPoints*", "LearnThresholds*", "RecConcave"])
@pytest.mark.parametrize("name", PLANS)
def test_every_guarantee_of_the_plans_exactly(name: str) -> None:
    found = cases(name)
    assert len({case.label for case in found}) == len(found)
    for case in found:
        if not case.exact:
            assert case.expected is Verdict.PASS
            continue
        worst = min(success(case.mechanism, case.claim.goal, source) for source in case.instances)
        if case.expected is Verdict.FAIL:
            assert worst < case.claim.probability - 1e-6, case.label  # exact: beyond rounding
        else:
            assert worst >= case.claim.probability - 1e-12, case.label


@pytest.mark.slow(only=["RecPrefix-Lemma 7.14, three calls", "LearnPoints-*"])
@pytest.mark.parametrize(
    ("name", "label"), [(name, case.label) for name in PLANS for case in cases(name) if not case.exact]
)
def test_guarantees_without_a_law_sampled(name: str, label: str) -> None:
    (case,) = (case for case in cases(name) if case.label == label)
    runs = min(case.runs, 2_000 if "Laplace" in name else 200)
    for source in case.instances:
        reached = sample(Trial(source, case.mechanism, case.claim.goal), (), runs, seed=5).counts.get(True, 0)
        # Hoeffding: a false alarm with probability 1e-9 at most for each source
        assert reached >= runs * case.claim.probability - math.sqrt(runs * math.log(1e9) / 2), source


# --- how near the guarantees are to being attained --------------------------------------------------------------------


def test_exponential_mechanism_nearly_attains_its_bound() -> None:
    mechanism = ExponentialMechanism(1.0, Multiplicity(tuple(range(64))))
    failure = 1 - success(mechanism, NearBest(mechanism.quality, 12), Fixed(Multiset.counted({0: 12})))
    weight = 63 * math.exp(-6)
    assert failure == pytest.approx(weight / (1 + weight))
    assert failure > 0.85 * (1 - mechanism.guarantee(64, 12.0).probability)


@pytest.mark.parametrize("beta", [0.05, 0.5])
def test_a_dist_at_the_printed_lead(beta: float) -> None:
    for base, power in ((2.0, 1 / math.log(2)), (math.e, 1.0)):
        mechanism = ADist(1.0, 1e-3, Given(), base)
        goal = mechanism.guarantee(beta).goal
        assert isinstance(goal, ClearBest)
        assert 1 - success(mechanism, goal, Fixed((goal.lead, 0.0))) == pytest.approx(beta**power / 2)
    corrected = ADistCorrected(1.0, 1e-3, Given())
    goal = corrected.guarantee(beta).goal
    assert isinstance(goal, ClearBest)
    assert 1 - success(corrected, goal, Fixed((goal.lead, 0.0))) == pytest.approx(beta / 2)


def test_choosing_mechanism_at_the_printed_optimum() -> None:
    mechanism = ChoosingMechanism(0.9, 2.0, 0.9, Multiplicity((0,)))
    # the noise has to fall by θ = (8/ε)·ln(4k/(βεδ)): probability ½·(βεδ/4k)²
    optimum = 2 * mechanism.threshold
    records = math.ceil(optimum)
    failure = 1 - success(mechanism, Supported(mechanism.quality, optimum), Fixed(Multiset.counted({0: records})))
    assert failure <= 0.5 * (0.9 * 2 * 0.9 / 4) ** 2
    assert failure == pytest.approx(0.5 * math.exp(-(records - mechanism.threshold) / 2))


# --- the guarantees that fail------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("domain", "fails"), [(2, False), (3, False), (4, True), (5, True)])
def test_learn_points_where_ties_prefer_a_bad_point(domain: int, fails: bool) -> None:
    # all examples are (0, 0): every quality is 0, and A_dist gives 0 with probability π = ½·2^{-log₂(1/δ)·log₂e}
    delta, alpha = 0.999999, 0.99999
    beta = 2 / (alpha * domain)
    learner = LearnPoints(1.0, delta, domain)
    ties = delta ** (1 / math.log(2)) / 2
    source = Examples(Points(domain), Truth((0,), (1,), 1), 5)
    failure = 1 - success(learner, GeneralisationError(Points(domain), alpha), source)
    assert failure == pytest.approx(ties + (1 - ties) / domain)
    # the least β that |X| ≥ 2/(αβ) allows
    assert (failure > beta) == fails


def test_learn_points_at_a_usual_accuracy() -> None:
    printed, corrected = LearnPoints(1.0, 0.25, 400), LearnPointsCorrected(1.0, 0.25, 400)
    n, beta = printed.sample_size(0.1, 0.05), 0.05
    claim = printed.guarantee(0.1, n)
    assert claim is not None
    assert claim.probability == pytest.approx(1 - beta)
    source = Examples(Points(400), Truth((0,), (1,), 1), n)
    failure = 1 - success(printed, claim.goal, source)
    assert failure == pytest.approx(0.0699985, abs=5e-8)
    runs = 100_000
    seen = sample(Trial(source, printed, claim.goal), (), runs, seed=3).counts[False]
    assert abs(seen - runs * failure) < 5 * math.sqrt(runs * failure * (1 - failure))  # false alarms: 6e-7
    # the corrected lemma guarantees no more than 1 − δ
    other = corrected.guarantee(0.1, 10**6)
    assert other is not None
    assert other.probability == pytest.approx(0.75)
    assert 1 - success(corrected, other.goal, source) == pytest.approx(0.25 * math.exp(-1) / 2 * 399 / 400 + 1 / 400)


def test_rec_prefix_where_the_printed_number_of_records_is_negative() -> None:
    for domain, fails in ((8, False), (9, True)):
        mechanism = RecPrefix(domain, 24.05, 0.999, 0.5)
        (size,) = mechanism.sample_sizes
        assert 4 * mechanism.levels / (0.5 * 24.05 * 0.999) < 1
        assert size.records == 1
        (claim,) = mechanism.utility(1)
        failure = 1 - success(mechanism, claim.goal, Fixed(Multiset.of([domain - 1])))
        weight = math.exp(24.05 / (2 * mechanism.levels) / 2)
        assert failure == pytest.approx((domain - 1) / (domain - 1 + weight))
        assert (failure > 0.5) == fails


@pytest.mark.parametrize(("version", "fails"), [(LearnThresholds, True), (LearnThresholdsCorrected, False)])
def test_learn_thresholds_at_large_epsilon(
    version: type[LearnThresholds] | type[LearnThresholdsCorrected], fails: bool
) -> None:
    learner = version(2, 0.5, 1e4, 0.5, N=1)
    n = learner.sample_size(0.2)
    assert n == (1 if fails else 48)
    claim = learner.utility(n)[1]
    # a sample without the point 1 leaves a fair coin
    failure = 1 - success(learner, claim.goal, Examples(Thresholds(2), Truth((0, 1), (49, 51), 0), n))
    assert failure == pytest.approx(0.49**n / 2, abs=1e-12)
    assert (failure > 0.2) == fails
    assert claim.probability >= 0.8


@pytest.mark.parametrize(("domain", "n"), [(2, 7), (3, 6), (4, 5)])
def test_median_utility_is_the_only_one_to_fail_on_some_dataset(domain: int, n: int) -> None:
    for kind, fails in ((InteriorPointByMedian, True), (InteriorPointByMedianCorrected, False)):
        mechanism = kind(2.0, domain)
        (claim,) = mechanism.utility(n)
        every = combinations_with_replacement(range(1, domain + 1), n)
        worst = min(success(mechanism, claim.goal, Fixed(Multiset.of(S))) for S in every)
        assert (worst < claim.probability) == fails


# --- calculators ------------------------------------------------------------------------------------------------------


def test_sample_sizes_as_printed() -> None:
    (median,) = InteriorPointByMedian(0.5, 1000).sample_sizes
    assert median.records == math.ceil(4 * math.log(1000 / 0.05) / 0.5)
    (level,) = RecPrefix().level.sample_sizes
    share = RecPrefix().level
    logs = math.log(4 / (share.beta * share.epsilon * share.delta))
    assert level.records == math.ceil(16 * 2312 / share.epsilon * logs)
    thresholds = LearnThresholds(2**16, 0.1, 1.0, 1e-6, N=2)
    assert thresholds.sample_sizes[0].records == math.ceil(64 * 144 / 0.1 * (math.log2(24 / 5e-8) + 4))
    points = LearnPoints(1.0, 1e-6, 400)
    assert points.sample_sizes[0].records == math.ceil(max(80 * math.log(4 / 5e-8), 160 * math.log(40)))
    assert LearnPoints(1.0, 1e-6, 20).sample_sizes == ()
    concave = RecConcave(40, Given(), 1.0, 0.5, 1.0, 1e-6)
    # two calls: log^⌈2⌉(40) = ⌈log 6⌉ = 3
    assert concave.least_promise(0.01) == pytest.approx(64 * 8 * (math.log2(32 / 1e-8) + 3))


def test_guarantees_begin_at_their_sample_sizes() -> None:
    whole = RecPrefix()
    n = whole.sample_sizes[0].records
    assert whole.utility(n)[0].probability == pytest.approx(0.9)
    assert whole.utility(n - 1) == ()
    assert RecPrefix(k=5).utility(n) == ()
    level = RecPrefixLevel(64, 2.0, 0.5, 0.05)
    least = 2 * math.ceil(level.least) + 2 * level.trim
    assert level.utility(least)[0].goal == DeepPoint(level.trim)
    assert level.utility(least)[0].probability == pytest.approx(1 - 3 * 0.05 * 2)
    assert level.utility(least - 1) == ()
    for kind in (LearnThresholds, LearnThresholdsCorrected):
        learner = kind(1024, 0.1, 1.0, 1e-6, N=2)
        claims = learner.utility(learner.sample_size(0.05))
        assert [claim.probability for claim in claims] == pytest.approx([0.975, 0.95], abs=1e-4)
        assert learner.utility(1000) == ()
    for version in (RecConcave, RecConcaveCorrected):
        promise = version(40, Given(), 1.0, 0.5, 1.0, 1e-6).least_promise(0.01)
        found = version(40, Given(), promise, 0.5, 1.0, 1e-6).utility(0)
        assert found[0].probability == pytest.approx(1 - 2 * 0.01 * 2)
        assert version(40, Given(), promise / 10, 0.5, 1.0, 1e-6).utility(0) == ()
        assert version(40, Given(), promise, 0.6, 1.0, 1e-6).utility(0) == ()
    for learner_kind in (LearnPoints, LearnPointsCorrected):
        learner_ = learner_kind(1.0, 1e-6, 400)
        claim = learner_.guarantee(0.1, learner_.sample_size(0.1, 0.05))
        assert claim is not None
        assert claim.probability == pytest.approx(0.95)
        assert learner_.guarantee(0.1, 100) is None


@pytest.mark.parametrize("beta", [0.0, 1.0, -1.0])
def test_beta_is_checked(beta: float) -> None:
    for call in (
        ADist(1.0, 0.1, Given()).guarantee,
        ADistCorrected(1.0, 0.1, Given()).guarantee,
        LearnThresholds().sample_size,
        RecConcave(40, Given(), 1.0, 0.5, 1.0, 0.1).least_promise,
    ):
        with pytest.raises(ParameterError, match="beta"):
            call(beta)


# --- goals ------------------------------------------------------------------------------------------------------------


def test_goals_by_hand() -> None:
    counts, S = Multiplicity((0, 1, 2)), Instance(Multiset.counted({0: 5, 1: 3}))
    assert [NearBest(counts, 2.0).reached(S, x) for x in (0, 1, 2, BOTTOM)] == [True, False, False, False]
    assert [NearBest(counts, 2.5).reached(S, x) for x in (0, 1, 2)] == [True, True, False]
    assert [ClearBest(counts, 2.0).reached(S, x) for x in (0, 1, BOTTOM)] == [True, False, False]
    assert ClearBest(counts, 2.5).reached(S, BOTTOM)
    assert [NearBestOrBottom(counts, 2.0).reached(S, x) for x in (1, 2, BOTTOM)] == [True, False, False]
    assert NearBestOrBottom(counts, 5.5).reached(S, BOTTOM)
    assert [Supported(counts, 5.0).reached(S, x) for x in (1, 2, BOTTOM)] == [True, False, False]
    assert Supported(counts, 5.5).reached(S, BOTTOM)
    deep = DeepPoint(3)
    assert [deep.reached(S, x) for x in (0, 1, 2)] == [True, True, False]
    assert not deep.reached(Instance(Multiset.of([1, 1, 1])), 0)
    kept = PromiseKept(Given(), 4.0, 0.5)
    assert [kept.reached(Instance((1.0, 2.0, 4.0, 0.0)), x) for x in range(4)] == [False, True, True, False]
    assert kept.reached(Instance((3.0, 2.0, 4.0, 0.0)), 3), "not quasi-concave"
    assert kept.reached(Instance((1.0, 2.0, 3.9, 0.0)), 3), "the promise is void"
    within = AnswersWithin(Count(0), 1.0)
    assert [within.reached(S, x) for x in (4.0, 6.0, 6.1)] == [True, True, False]
    assert not AnswersWithin(Histogram((0, 1)), 1.0).reached(S, (5.0, 1.5))


def test_bounds_of_probability_round_down() -> None:
    assert 0.95 - 1e-15 < all_but(0.05) < 0.95
    assert all_but(1e-300) < 1
    assert all_but(0.0) < 1
    assert all_but(7.0) == 0


def test_the_score_of_a_solution() -> None:
    listed, pieces = Scores([1.0, 5.0], ["a", "b"]), StepScores([2, 5], [1.0, 3.0], 9)
    assert [listed.of(x) for x in ("a", "b", "c", BOTTOM)] == [1.0, 5.0, None, None]
    assert [pieces.of(x) for x in (1, 2, 4, 5, 8, 9, BOTTOM)] == [None, 1.0, 1.0, 3.0, 3.0, None, None]


def test_laplace_bound_is_attained_by_one_coordinate() -> None:
    claim = LaplaceMechanism(2.0, Count(1)).guarantee(1.5)
    assert claim.probability == pytest.approx(1 - math.exp(-3))
    three = LaplaceMechanism(2.0, Histogram((0, 1, 2))).guarantee(1.5)
    assert three.probability == pytest.approx(1 - 3 * math.exp(-1.5))
    # a wrong scale would be seen: at twice the noise the bound is missed by far
    runs, noisy = 4_000, LaplaceMechanism(1.0, Count(1))
    source = Fixed(Multiset.counted({1: 4}))
    reached = sample(Trial(source, noisy, claim.goal), (), runs, seed=2).counts[True]
    assert reached < runs * claim.probability - math.sqrt(runs * math.log(1e9) / 2)


def test_interior_point_needs_a_record() -> None:
    assert InteriorPointByMedian(1.0, 4).utility(0)[0].probability == 0
    assert not InteriorPoint().reached(Instance(()), 1)
