"""Audit plan for algorithm B (thesis, Theorem 4.3), with its lemma and its claim; `generalisation` has the theorem."""

from __future__ import annotations

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Claim, Mechanism, Multiplicity
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit_algorithms.foundations.dominating import DominatingMechanism
from dpaudit_algorithms.foundations.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.generalization.algorithm_b import AlgorithmB
from dpaudit_algorithms.generalization.algorithm_b_theory import SoftChoice, SubDatabases, Thresholded
from dpaudit_algorithms.generalization.interaction import Population
from dpaudit_algorithms.generalization.predicates import GuessedBits, ItsPoint, ItsPoints, PredicatesOf
from dpaudit_algorithms.generalization.tightness import GeneralizationTightness
from dpaudit_audits.generalization.generalisation import FAIR, SKEWED, generalisation_cases

RARE = Population((0, 1), (1, 99))


def guessing(
    epsilon: float,
    delta: float,
    population: Population = FAIR,
    *,
    k: int = 1,
    hidden: bool = True,
    leak: float | None = None,
) -> AlgorithmB:
    """A reports each of its k records as accurately as (ε, δ) allows; F reveals the report unless `hidden`."""
    inner = DominatingMechanism(epsilon, delta if leak is None else leak)
    reading = GuessedBits() if hidden else GuessedBits(((), (1,)))
    return AlgorithmB(PredicatesOf(inner, reading), population, epsilon, delta, k)


def revealing(epsilon: float, delta: float, population: Population) -> AlgorithmB:
    """A outputs its whole sub-database with probability δ."""
    return AlgorithmB(
        PredicatesOf(GeneralizationTightness(1.0, delta), ItsPoints()), population, epsilon, delta
    )


def choosing(epsilon: float, delta: float, population: Population) -> AlgorithmB:
    """A outputs a frequent point, by the exponential mechanism."""
    inner = ExponentialMechanism(epsilon, Multiplicity(population.points))
    return AlgorithmB(PredicatesOf(inner, ItsPoint()), population, epsilon, delta)


def cases() -> tuple[Case, ...]:
    """A uses all of (ε, δ), only δ, or only ε; D is uniform or skewed; one sub-database and several."""
    default, pair = (guessing(0.1, 0.02, k=k, hidden=False) for k in (1, 2))
    return (
        Case("default", default, (_turned(5, 1),), runs=2_000),
        Case("two predicates per sub-database", pair, (_turned(10, 1),), runs=0),
        _scope("every pair, one record per sub-database", default, 5),
        _scope("every pair, D skewed", guessing(0.3, 0.07, SKEWED), 4),
        _scope(
            "every pair, one sub-database, A pure: 2ε and no δ",
            guessing(0.5, 0.4, RARE, hidden=False, leak=0.0),
            1,
            Claim(1.0),
            "Stronger than the claim: a step of the proof, in which the choice adds ε and no δ.",
        ),
        _scope("every pair, ε = 1.5", guessing(1.5, 0.5, RARE, hidden=False), 3),
        _scope("every pair, two predicates per sub-database", guessing(0.5, 0.2, SKEWED, k=2, hidden=False), 4),
        _scope(
            "every pair, two predicates, A pure: 2ε and no δ",
            guessing(0.5, 0.4, RARE, k=2, hidden=False, leak=0.0),
            2,
            Claim(1.0),
        ),
        _scope("every pair, two records per sub-database, A leaks", revealing(0.3, 0.07, SKEWED), 8),
        _scope("every pair, two records per sub-database, A chooses", choosing(0.5, 0.2, FAIR), 4),
        *(
            Case(f"group of {k}", default, (_turned(5, k),), default.claim.group(k), runs=2_000)
            for k in (2, 3)
        ),
    )


def utility_cases() -> tuple[UtilityCase, ...]:
    """Lemma 4.2, Claim 4.4, and Theorems 4.1, 4.3 and 4.7."""
    return (*_expectations(), *_soft_choices(), *generalisation_cases())


def _expectations() -> tuple[UtilityCase, ...]:
    """Both directions of Lemma 4.2; and the sharpened upper bound, where B finds what A reports."""
    cases = []
    for label, mechanism, n in (
        ("A guesses", guessing(0.1, 0.024), 1),
        ("A guesses, D skewed", guessing(0.1, 0.024, SKEWED), 1),
        ("A guesses, k = 2", guessing(0.1, 0.04, k=2), 2),
        ("A leaks", revealing(0.1, 0.024, SKEWED), 1),
        ("A leaks, one sub-database", revealing(0.1, 0.09, Population.uniform(range(8))), 1),
        ("A chooses, one sub-database", choosing(0.1, 0.06, FAIR), 3),
    ):
        records = n * mechanism.parts
        above, below, sharp, _ = mechanism.utility(records)
        source = (SubDatabases(mechanism.population, mechanism.parts, n),)
        cases += [
            UtilityCase(f"Lemma 4.2, from above: {label}", mechanism, above, source, runs=100),
            UtilityCase(f"Lemma 4.2, from below: {label}", mechanism, below, source, runs=100),
            UtilityCase(f"Lemma 4.2 sharpened: {label}", mechanism, sharp, source, runs=100),
        ]
    return tuple(cases)


def _soft_choices() -> tuple[UtilityCase, ...]:
    """One best element, with the gap to the others that minimises E[f(Y)]; and all elements equal."""
    return tuple(
        UtilityCase(
            f"Claim 4.4: {label}", choice, choice.utility(0)[0], (Thresholded(choice.unit),), runs=2_000
        )
        for label, choice in (
            ("two elements", SoftChoice((10, 0), 10, 1.3)),
            ("100 elements", SoftChoice((10, *[6] * 99), 10, 9.0)),
            ("100 elements, a large η", SoftChoice((1, *[0] * 99), 1, 6.5)),
            ("1,000 elements", SoftChoice((1, *[0] * 999), 1, 8.0)),
            ("a ladder", SoftChoice(tuple(range(11)), 10, 5.0)),
            ("all equal", SoftChoice((7,) * 20, 10, 40.0)),
        )
    )


def _scope(
    label: str, mechanism: AlgorithmB, records: int, claim: Claim | None = None, note: str = ""
) -> Case:
    scope = Scope(mechanism.population.points, records, ordered=True)
    return Case(label, mechanism, claim=claim, runs=0, scope=scope, note=note)


def _turned(n: int, k: int) -> Pair:
    """n zeros; on D′ the first k are ones."""
    return Pair((0,) * n, (1,) * k + (0,) * (n - k), f"{k} of {n} zeros changed to ones")


def _small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    population = Population.uniform(range(domain))
    return revealing(0.5, 0.4, population), Scope(population.points, records, ordered=True)


PLAN = Plan("AlgorithmB", cases, _small, utility=utility_cases)
