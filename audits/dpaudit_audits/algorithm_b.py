"""What to try against algorithm B (thesis, Theorem 4.3), its lemma, its claim, and the theorem on all algorithms."""

from __future__ import annotations

from dpaudit.adversary.pairs import Pair
from dpaudit.auditing.plan import Case, Plan, Scope, UtilityCase
from dpaudit.auditing.results import Verdict
from dpaudit.language import Claim, Fixed, Mechanism, Multiplicity, Population, Samples, Thresholds, UtilityClaim
from dpaudit_algorithms.algorithm_b import AlgorithmB, SoftChoice, Thresholded, Witnesses
from dpaudit_algorithms.dominating import DominatingMechanism
from dpaudit_algorithms.exponential_mechanism import ExponentialMechanism
from dpaudit_algorithms.finite_class import FiniteClassLearner, FiniteClassLearnerCorrected
from dpaudit_algorithms.laplace_mechanism import Histogram, LaplaceMechanism
from dpaudit_algorithms.predicates import GuessedBits, ItsErrors, ItsPoint, ItsPoints, LargestCell, PredicatesOf
from dpaudit_algorithms.tightness import GeneralizationTightness, GeneralizationTightnessCorrected, UnitInterval

FAIR, SKEWED, RARE = (Population((0, 1), weights) for weights in ((1, 1), (9, 1), (1, 99)))
TWENTY = tuple(range(20))


def guessing(
    epsilon: float, delta: float, population: Population = FAIR, *, hidden: bool = True, leak: float | None = None
) -> AlgorithmB:
    """A tells its record as well as (ε, δ) allows; F is the same whatever it says, or shows what it said."""
    inner = DominatingMechanism(epsilon, delta if leak is None else leak)
    reading = GuessedBits() if hidden else GuessedBits(((), (1,)))
    return AlgorithmB(PredicatesOf(inner, reading), population, epsilon, delta)


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
    """A that uses all of (ε, δ), or δ alone, or ε alone; D even and skewed; one sub-database and several."""
    default = guessing(0.1, 0.02, hidden=False)
    return (
        Case("default", default, (_turned(5, 1), _turned(10, 1)), runs=20_000),
        _scope("every pair, one record a sub-database", default, 5),
        _scope("every pair, D skewed", guessing(0.3, 0.07, SKEWED), 4),
        _scope(
            "every pair, one sub-database, A pure: 2ε alone",
            guessing(0.5, 0.4, RARE, hidden=False, leak=0.0),
            1,
            Claim(1.0),
            "More than is claimed: a step of the proof, by which the choice adds ε and no δ.",
        ),
        _scope("every pair, ε = 1.5", guessing(1.5, 0.5, RARE, hidden=False), 3),
        _scope("every pair, two records a sub-database, A leaks", revealing(0.3, 0.07, SKEWED), 8),
        _scope("every pair, two records a sub-database, A chooses", choosing(0.5, 0.2, FAIR), 4),
        *(
            Case(f"group of {k}", default, (_turned(5, k),), default.claim.group(k), runs=20_000)
            for k in (2, 3)
        ),
    )


def utility_cases() -> tuple[UtilityCase, ...]:
    """Lemma 4.2, Claim 4.4, and Theorems 4.1, 4.3 and 4.7."""
    return (*_expectations(), *_soft_choices(), *_generalisation())


def _expectations() -> tuple[UtilityCase, ...]:
    """Both directions of Lemma 4.2; sharpened, from above, where B finds what A tells."""
    found = []
    for label, mechanism, n in (
        ("A guesses", guessing(0.1, 0.024), 1),
        ("A guesses, D skewed", guessing(0.1, 0.024, SKEWED), 1),
        ("A leaks", revealing(0.1, 0.024, SKEWED), 1),
        ("A leaks, one sub-database", revealing(0.1, 0.09, Population.uniform(range(8))), 1),
        ("A chooses, one sub-database", choosing(0.1, 0.06, FAIR), 3),
    ):
        records = n * mechanism.parts
        above, below, sharp, _ = mechanism.utility(records)
        source = (Witnesses(mechanism.population, mechanism.parts, n),)
        found += [
            UtilityCase(f"Lemma 4.2, from above: {label}", mechanism, above, source, runs=500),
            UtilityCase(f"Lemma 4.2, from below: {label}", mechanism, below, source, runs=500),
            UtilityCase(f"Lemma 4.2 sharpened: {label}", mechanism, sharp, source, runs=500),
        ]
    return tuple(found)


def _soft_choices() -> tuple[UtilityCase, ...]:
    """One best element, all others as far behind as makes E[f(Y)] least; and all alike."""
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
            ("all alike", SoftChoice((7,) * 20, 10, 40.0)),
        )
    )


def _generalisation() -> tuple[UtilityCase, ...]:
    """Private algorithms at the printed n; by law where samples are all alike. For ε > 1/10 nothing is said."""
    half = AlgorithmB(PredicatesOf(GeneralizationTightness(0.5, 0.012), ItsPoints()), FAIR, 0.05, 0.012)
    window = AlgorithmB(PredicatesOf(GeneralizationTightnessCorrected(0.5, 0.012), ItsPoints()), FAIR, 0.05, 0.012)
    corner = AlgorithmB(PredicatesOf(GeneralizationTightness(1.0, 0.0249), ItsPoints()), FAIR, 0.1, 0.0249)
    same = AlgorithmB(PredicatesOf(GeneralizationTightness(0.09, 0.0224), ItsPoints()), FAIR, 0.09, 0.0224)
    cells = choosing(0.05, 0.012, FAIR)
    noisy = AlgorithmB(
        PredicatesOf(LaplaceMechanism(0.05, Histogram(TWENTY)), LargestCell(TWENTY)),
        Population.uniform(TWENTY),
        0.05,
        0.012,
    )
    two = Thresholds(2)
    examples = Population(((0, 1), (1, 1)), (1, 1))
    learners = tuple(
        AlgorithmB(PredicatesOf(kind(0.05, two), ItsErrors(two)), examples, 0.05, 0.012)
        for kind in (FiniteClassLearnerCorrected, FiniteClassLearner)
    )
    n = window.printed_size
    wrong = PredicatesOf(GeneralizationTightness(1.0, 0.99), ItsPoints())
    return (
        _held("Theorem 4.1, all of S leaks", corner, _distinct(corner.printed_size)),
        _held("Theorem 4.1, half of S leaks", half, _distinct(half.printed_size)),
        _held("Theorem 4.1, half of S leaks as often as it can", window, _distinct(n)),
        _held("Theorem 4.1, S from U[0, 1]", same, (UnitInterval(same.printed_size),), runs=100),
        _held("Theorem 4.1, the likelier of two points", cells, (Samples(FAIR, n), Samples(SKEWED, n)), 300),
        _held("Theorem 4.1, the largest noisy count", noisy, (Samples(noisy.population, n),), 200, False),
        _held("Theorem 4.7, a private learner", learners[0], (Samples(examples, n),), 300),
        _held("Theorem 4.7, a useless private learner", learners[1], (Samples(examples, n),), 300),
        UtilityCase(
            "Theorem 4.1, an algorithm that is not private",
            wrong,
            _promised(half, n),
            _distinct(n),
            runs=2_000,
            expected=Verdict.FAIL,
            note="S itself is published, almost always: what the theorem says of private algorithms is false of it.",
            deliberate=True,
        ),
    )


def _held(
    label: str, mechanism: AlgorithmB, instances: tuple[Mechanism, ...], runs: int = 500, exact: bool = True
) -> UtilityCase:
    return UtilityCase(label, mechanism.inner, _promised(mechanism, mechanism.printed_size), instances, runs, exact)


def _promised(mechanism: AlgorithmB, records: int) -> UtilityClaim:
    promise = mechanism.generalises(records)
    assert promise is not None
    return promise


def _distinct(n: int) -> tuple[Mechanism, ...]:
    """All samples of U[0, 1] are alike to what publishes records."""
    return (Fixed(tuple(range(n)), "U", f"{n:,} distinct records, as from U[0, 1]"),)


def _scope(
    label: str, mechanism: AlgorithmB, records: int, claim: Claim | None = None, note: str = ""
) -> Case:
    scope = Scope(mechanism.population.points, records, ordered=True)
    return Case(label, mechanism, claim=claim, runs=0, scope=scope, note=note)


def _turned(n: int, k: int) -> Pair:
    """Zeros, of which the first k become ones."""
    return Pair((0,) * n, (1,) * k + (0,) * (n - k), f"{k} of {n} zeros turned")


def _small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    population = Population.uniform(range(domain))
    return revealing(0.5, 0.4, population), Scope(population.points, records, ordered=True)


PLAN = Plan("AlgorithmB", cases, _small, utility=utility_cases)
