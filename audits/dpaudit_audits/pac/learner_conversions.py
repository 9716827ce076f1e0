"""Audits of the conversions between PAC and empirical learners (thesis, Lemmas 7.18 and 7.20)."""

from __future__ import annotations

import math
from typing import TypeAlias

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Fixed, Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy
from dpaudit_algorithms.pac.concepts import Examples, Thresholds, Truth, all_examples
from dpaudit_algorithms.pac.learn_thresholds import Consistency, LearnThresholdsCorrected
from dpaudit_algorithms.pac.learner_conversions import EmpiricalLearner, EmpiricalLearnerCorrected, PacLearner
from dpaudit_audits.foundations.overclaiming import Overclaiming
from dpaudit_audits.foundations.subsampling import ones

Kind: TypeAlias = type[EmpiricalLearner] | type[EmpiricalLearnerCorrected]

RUNS = 50_000
TWO, FOUR = Thresholds(2), Thresholds(4)
EXAMPLES = all_examples(range(2))
FOUR_SAMPLES = "A learner by Sivakumar's Definition 1.1: error ≤ 1/4 with probability 0.83 from 4 samples."


def empirical_cases(kind: Kind) -> tuple[Case, ...]:
    """Both versions face the same inner mechanisms, on their own numbers of rows."""
    refuted = Verdict.FAIL if kind is EmpiricalLearner else Verdict.PASS
    default = kind(pac_learner(), FOUR, pac_learner().samples, 0.4, 0.2)
    brief = kind(_exponential(1.0, 2), TWO, 2, 0.5, 0.5)
    eager = four_samples(kind)
    # Pr[1] = ¾·e^{ε(k − 2)} at k ones: a proper PAC learner of the two constants on one point, β = 1/4
    smallest = kind(GroupPrivacy(6.0, 0.0, 0.75 * math.exp(-12)), TWO, 2, 1.0, 0.25)
    leaking = kind(GroupPrivacy(6.0, 1e-6), TWO, 2, 1.0, 1.0)
    too_much = kind(Overclaiming(GroupPrivacy(4.0, 0.0, 1e-3), Claim(1.0)), TWO, 5, 1.0, 1.0)
    recursive = kind(LearnThresholdsCorrected(8, 0.5, 1.0, 1e-6), Thresholds(8), 10, 0.5, 0.5)
    return (
        Case("default", default, (_relabelled(default.n, 1),), runs=20_000),
        Case("LearnThresholds, corrected", recursive, (_relabelled(90, 1),), runs=0),
        Case("every pair of 18 examples", brief, runs=0, scope=Scope(EXAMPLES, 18)),
        Case(
            "the worst mechanism of ε = 3.47, m = 400",
            kind(GroupPrivacy(3.47, 0.0, 1e-50), TWO, 400, 1.0, 1.0),
            (ones(3600, 0, 1),),
            runs=0,
            note="e^ε < 1 + 9ε here: 9m rows are enough for every m.",
        ),
        Case(
            "a learner of two thresholds, m = 4, ε = 8",
            eager,
            (_relabelled(eager.n, 1),),
            runs=100_000,
            expected=refuted,
            note=FOUR_SAMPLES,
        ),
        Case(
            "every pair, m = 4, ε = 8",
            eager,
            runs=0,
            scope=Scope(((1, 0), (1, 1)), eager.n),
            expected=refuted,
        ),
        Case(
            "the worst mechanism, m = 2, ε = 6",
            smallest,
            (ones(smallest.n, 0, 1),),
            runs=200_000,
            expected=refuted,
            note="m = 2 is the least m that fails, from ε = ln 289 = 5.666 on: (1 + (e^ε − 1)/18)² > e^ε.",
        ),
        Case(
            "the worst mechanism, m = 2, ε = 6, δ = 1e-6", leaking, (ones(leaking.n, 0, 1),), runs=0, expected=refuted
        ),
        Case(
            "an inner mechanism of ε = 4 that claims 1",
            too_much,
            (ones(too_much.n, 0, 1),),
            runs=0,
            expected=Verdict.FAIL,
            deliberate=True,
        ),
        *(
            Case(f"group of {k}", default, (_relabelled(default.n, k),), default.claim.group(k), runs=20_000)
            for k in (2, 3)
        ),
    )


def empirical_utility(kind: Kind) -> tuple[UtilityCase, ...]:
    """Datasets are rows of few points, where samples say least; also a learner that is less accurate than it says."""
    default = kind(pac_learner(), FOUR, pac_learner().samples, 0.4, 0.2)
    eager = four_samples(kind)
    useless = kind(_exponential(0.1, 2), TWO, 4, 0.25, 0.25)
    counts = sorted({*range(0, eager.n + 1, max(1, eager.n // 100)), eager.n // 4 + 1})
    return (
        UtilityCase("default", default, default.utility(default.n)[0], _just_wrong(FOUR, default.n, 0.4)),
        UtilityCase(
            "datasets of two points, m = 4, ε = 8",
            eager,
            eager.utility(eager.n)[0],
            tuple(_labelled(TWO, {0: eager.n - k, 1: k}, c) for k in counts for c in (0, 1)),
            runs=0,
            note=FOUR_SAMPLES,
        ),
        UtilityCase(
            "a learner of ε = 0.1 that says 1/4 and 1/4",
            useless,
            useless.utility(useless.n)[0],
            _just_wrong(TWO, useless.n, 0.25),
            expected=Verdict.FAIL,
            deliberate=True,
            note="It learns hardly anything from four examples at ε = 0.1: a false guarantee implies nothing.",
        ),
    )


def pac_cases() -> tuple[Case, ...]:
    """The learner's own privacy, on as many samples as the lemma asks for."""
    default = pac_learner()
    recursive = PacLearner(LearnThresholdsCorrected(8, 0.5, 1.0, 1e-6), Thresholds(8), 10, 0.25, 0.5, 0.1)
    return (
        Case("default", default, (_relabelled(default.samples, 1),), runs=RUNS),
        Case("every pair of 60 examples of one point", default, runs=0, scope=Scope(((3, 0), (3, 1)), 60)),
        Case("every pair of 6 examples", default, runs=0, scope=Scope(EXAMPLES, 6)),
        Case("LearnThresholds, corrected", recursive, (_relabelled(30, 1),), runs=0),
        Case(
            "a learner of ε = 3 that claims 1",
            PacLearner(Overclaiming(_exponential(3.0, 4), Claim(1.0)), FOUR, 10, 0.2, 0.1, 0.1),
            (_relabelled(4, 1),),
            runs=0,
            expected=Verdict.FAIL,
            deliberate=True,
        ),
        *(
            Case(f"group of {k}", default, (_relabelled(default.samples, k),), default.claim.group(k), runs=RUNS)
            for k in (2, 3)
        ),
    )


def pac_utility() -> tuple[UtilityCase, ...]:
    """Distributions with a little more than 2α beside the target; and a learner less accurate than it says."""
    default = pac_learner()
    useless = PacLearner(_exponential(0.01, 4), FOUR, 37, 0.2, 0.1, 0.1)
    return (
        UtilityCase("default", default, default.utility(60)[0], _distributions(60)),
        UtilityCase(
            "a learner of ε = 0.01 that says 0.2 and 0.1",
            useless,
            useless.utility(60)[0],
            _distributions(60),
            expected=Verdict.FAIL,
            deliberate=True,
            note="Sixty examples at ε = 0.01 tell it hardly anything.",
        ),
    )


def pac_learner() -> PacLearner:
    """The exponential mechanism at ε = 1 on four thresholds: α = 0.2 and β = 0.1 on 37 examples, by Proposition 3.27.

    |H|·exp(−εαn/2) ≤ β from n = (2/(εα))·ln(|H|/β) = 36.9 on.
    """
    return PacLearner(_exponential(1.0, 4), FOUR, math.ceil(2 / 0.2 * math.log(4 / 0.1)), 0.2, 0.1, 0.1)


def four_samples(kind: Kind) -> EmpiricalLearner | EmpiricalLearnerCorrected:
    """Of the exponential mechanism on two thresholds with ε = 8."""
    return kind(_exponential(8.0, 2), TWO, 4, 0.25, 0.25)


def _exponential(epsilon: float, size: int) -> ExponentialMechanism:
    return ExponentialMechanism(epsilon, Consistency(size))


def _relabelled(rows: int, k: int) -> Pair:
    """Positive examples at 1, where c_0 errs, against k of them negative."""
    left = Multiset.counted({(1, 1): rows})
    right = Multiset.counted({(1, 1): rows - k, (1, 0): k})
    return Pair(left, right, f"{rows} positive examples at 1, against {k} of them negative")


def _labelled(concepts: Thresholds, counts: dict[int, int], target: int) -> Fixed:
    """So many examples at each point, labelled by a concept."""
    shown = ", ".join(f"{x}×{count}" for x, count in counts.items())
    return Fixed(
        Multiset.counted({(x, concepts.label(target, x)): count for x, count in counts.items()}),
        label=f"{{{shown}}} labelled by c_{target}",
    )


def _just_wrong(concepts: Thresholds, rows: int, alpha: float) -> tuple[Mechanism, ...]:
    """Datasets of which one point, or two, hold just more than αn examples that a neighbouring threshold gets wrong."""
    above, top = math.floor(alpha * rows) + 1, concepts.size - 1
    return (
        _labelled(concepts, {0: rows - above, 1: above}, 0),
        _labelled(concepts, {0: rows - above, top: above}, top),
        _labelled(concepts, {top: rows}, top),
        _labelled(concepts, {0: rows}, 0),
        *((_labelled(concepts, {1: above, 2: above, 0: rows - 2 * above}, 1),) if top > 1 else ()),
    )


def _distributions(records: int) -> tuple[Mechanism, ...]:
    """On four points, for α = 0.2: just more than 2α left and right of the target, or on one side; one half; all."""
    truths = (
        Truth((0, 1, 2), (0.1998, 0.4001, 0.4001), 1),
        Truth((0, 3), (0.5999, 0.4001), 3),
        Truth((0, 1), (0.5999, 0.4001), 0),
        Truth((2, 3), (1, 1), 2),
        Truth((3,), (1,), 3),
    )
    return tuple(Examples(FOUR, truth, records) for truth in truths)


def _plan(kind: Kind) -> Plan:
    def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
        # nine rows for every draw; `domain` different examples, so that there are not too many datasets of them
        m, points = max(1, records // 9), (domain + 1) // 2
        mechanism = kind(_exponential(1.0, points), Thresholds(points), m, 0.5, 0.5)
        return mechanism, Scope(tuple((x // 2, x % 2) for x in range(domain)), 9 * m)

    return Plan(kind.__name__, lambda: empirical_cases(kind), small, utility=lambda: empirical_utility(kind))


def _small_pac(domain: int, records: int) -> tuple[Mechanism, Scope]:
    learner = PacLearner(_exponential(1.0, domain), Thresholds(domain), 10, 0.2, 0.1, 0.1)
    return learner, Scope(all_examples(range(domain)), records)


PLAN = _plan(EmpiricalLearner)
CORRECTED_PLAN = _plan(EmpiricalLearnerCorrected)
PAC_PLAN = Plan("PacLearner", pac_cases, _small_pac, utility=pac_utility)
