"""Audits of synthetic data from released answers (thesis, Remark 6.22), with private and wrong releases."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import (
    Claim,
    DiscreteLaplace,
    Fixed,
    Mechanism,
    Multiset,
    Product,
    Program,
    UtilityClaim,
    cached,
    checks,
    exp,
)
from dpaudit.plans.plan import Case, Plan, Scope, UtilityCase
from dpaudit.results.model import Verdict
from dpaudit_algorithms.foundations.composition import claim_of
from dpaudit_algorithms.half_spaces.synthetic_data import SyntheticData, close_database
from dpaudit_algorithms.half_spaces.synthetic_data_theory import CloseDatabase
from dpaudit_algorithms.lower_bounds.query_release import ThresholdRelease
from dpaudit_algorithms.lower_bounds.query_release_theory import CloseAnswers, exactly, share
from dpaudit_algorithms.pac.concepts import ConceptClass, Points, Thresholds
from dpaudit_algorithms.pac.grid_concepts import ThresholdsND
from dpaudit_audits.lower_bounds.query_release import TooLittleNoise


@dataclass(frozen=True)
class NoisyAnswers(Mechanism):
    """The Laplace mechanism on all counting queries of a class, with two-sided geometric noise; answers in [0, 1].

    Args:
        epsilon: > 0.
        concepts: C.
        alpha: of the utility claim alone.
    """

    epsilon: checks.Positive
    concepts: ConceptClass
    alpha: checks.ExactUnit

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    @cached_property
    def scale(self) -> float:
        """Δ/ε, in records: replacing a record moves at most Δ of the counts, by 1."""
        label, names = self.concepts.label, self.concepts.concepts
        moved = (sum(label(c, x) != label(c, z) for c in names) for x, z in combinations(self.concepts.points, 2))
        return max(moved) / self.epsilon

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """All answers within α but with probability |C|·Pr[|noise| > αn]."""
        most = int(exactly(self.alpha) * records)
        tail = 2 * exp(-(most + 1) / self.scale) / (1 + exp(-1 / self.scale))
        guaranteed = max(0.0, 1 - len(self.concepts.concepts) * tail)
        return (UtilityClaim(CloseAnswers(self.concepts, self.alpha), guaranteed, "by its noise"),)

    def run(self, S: Any) -> Program:
        records = Multiset.of(S)
        n, counts = len(records), _counts(self.concepts, records)
        noise = yield _noise(self.scale, len(counts), n, self.claim)
        noisy = (min(max(count + int(z), 0), n) for count, z in zip(counts, noise, strict=True))
        return tuple(Fraction(count, n) for count in noisy)


@lru_cache(maxsize=256)
def _counts(concepts: ConceptClass, records: Multiset) -> tuple[int, ...]:
    """n·Q_c of every concept."""
    return tuple(int(share(concepts, c, records) * len(records)) for c in concepts.concepts)


@cached(maxsize=64)
def _noise(scale: float, counts: int, records: int, claim: Claim) -> Product:
    """Cut off where the noisy counts would be: one draw, for any dataset."""
    return Product((DiscreteLaplace(0, scale).clip(-records, records),) * counts).spending(claim)


@dataclass(frozen=True)
class Lowered(Mechanism):
    """A private release that is as wrong as it may be: the answers of a finer release, less what this one may err.

    Args:
        inner: α₀-accurate.
        by: subtracted from every answer that stays above 0 then: (α₀ + by)-accurate.
    """

    inner: ThresholdRelease
    by: Fraction

    @property
    def claim(self) -> Claim:
        return claim_of(self.inner)

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        (fine,) = self.inner.utility(records)
        goal = CloseAnswers(Thresholds(self.inner.size), exactly(self.inner.alpha) + self.by)
        return (UtilityClaim(goal, fine.probability, "by post-processing"),)

    def run(self, S: Any) -> Program:
        answers: tuple[Fraction, ...] = yield self.inner.on(S)
        return tuple(max(a - self.by, Fraction(0)) for a in answers)


@dataclass(frozen=True)
class ReturnsTheInput(SyntheticData):
    """A wrong algorithm: if no database is close to the answers it returns S, "as in particular S is α-close"."""

    def run(self, S: Any) -> Program:
        records = Multiset.of(S)
        answers = yield self.inner.on(records)
        found = close_database(self.concepts, answers, len(records), self.alpha)
        return records if found is None else found


def over_thresholds(epsilon: float, size: int, alpha: float) -> SyntheticData:
    """From the noisy histogram."""
    return SyntheticData(ThresholdRelease(epsilon, size, alpha), Thresholds(size), alpha)


def over(epsilon: float, concepts: ConceptClass, alpha: float) -> SyntheticData:
    """From noisy answers to all queries."""
    return SyntheticData(NoisyAnswers(epsilon, concepts, alpha), concepts, alpha)


def worst(alpha: float) -> SyntheticData:
    """Where the first database that is α-close to Est is at least 1.8α off: nine tenths of α are subtracted."""
    tenth = exactly(alpha) / 10
    return SyntheticData(Lowered(ThresholdRelease(1.0, 2, tenth), 9 * tenth), Thresholds(2), alpha)


def cases() -> tuple[Case, ...]:
    """Exact on small domains; sampled on a larger one; wrong releases and a wrong output must fail."""
    default = over_thresholds(1.0, 3, 0.25)
    wrong = SyntheticData(TooLittleNoise(1.0, 3, 0.25), Thresholds(3), 0.25)
    leaking = ReturnsTheInput(NoisyAnswers(1.0, Points(3), 0.05), Points(3), 0.05)
    return (
        Case("default", default, (_points(12, 0, 1), _points(12, 1, 2), _points(12, 2, 0)), runs=20_000),
        Case("|X| = 16", over_thresholds(1.0, 16, 0.25), (_points(200, 0, 15), _points(200, 9, 10)), runs=1_000),
        Case("every pair of 4 records, thresholds, |X| = 3", default, runs=0, scope=Scope((0, 1, 2), 4)),
        Case(
            "every pair of 10 records, thresholds, |X| = 2",
            over_thresholds(0.5, 2, 0.1),
            runs=0,
            scope=Scope((0, 1), 10),
        ),
        Case("every pair of 4 records, points, |X| = 3", over(1.0, Points(3), 0.25), runs=0, scope=Scope((0, 1, 2), 4)),
        Case(
            "every pair of 4 records, points, often none is close",
            over(1.0, Points(3), 0.05),
            runs=0,
            scope=Scope((0, 1, 2), 4),
        ),
        Case(
            "every pair of 2 records, thresholds in the plane",
            over(2.0, ThresholdsND(2, 2), 0.5),
            runs=0,
            scope=Scope(ThresholdsND(2, 2).points, 2),
        ),
        *(
            Case(f"group of {g}", default, (_points(12, 0, 1, g), _points(12, 2, 0, g)), default.claim.group(g), runs=0)
            for g in (2, 3)
        ),
        Case(
            "a wrong release", wrong, (_points(12, 0, 1),), runs=20_000, expected=Verdict.FAIL, deliberate=True,
            note="The inner release has a quarter of the noise that it needs.",
        ),
        Case(
            "the input where no database is close", leaking, (_points(4, 0, 1),), runs=20_000,
            expected=Verdict.FAIL, deliberate=True,
            note="A wrong algorithm under this name: S is close to Est only if the release has not failed.",
        ),
    )


def utility() -> tuple[UtilityCase, ...]:
    """2α-close as often as the answers are α-close; and not closer, after a release that errs to one side."""
    small, planar, points = over_thresholds(1.0, 3, 0.2), over(8.0, ThresholdsND(2, 2), 0.25), over(2.0, Points(2), 0.1)
    enough = ThresholdRelease(1.0, 2).sample_sizes[0].records
    large = over_thresholds(1.0, 256, 0.1)
    many = ThresholdRelease(1.0, 256, 0.1).sample_sizes[0].records
    one_sided, n = worst(0.1), 1_200
    printed = SyntheticData(ThresholdRelease(1.0, 2), Thresholds(2), Fraction(1, 150))
    return (
        UtilityCase("thresholds, |X| = 3, 40 records", small, small.utility(40)[0], _fixed({0: 14, 1: 13, 2: 13})),
        UtilityCase(
            "thresholds, α = β = 1/150",
            printed,
            printed.utility(enough)[0],
            _fixed({0: enough // 2, 1: enough - enough // 2}, {1: enough}),
        ),
        UtilityCase(
            "thresholds, |X| = 256, at the sample size of the release",
            large,
            large.utility(many)[0],
            (
                *_fixed({0: many // 2, 255: many - many // 2}, {128: many}),
                Fixed(Multiset.counted(dict.fromkeys(range(256), many // 256 + 1)), label="records spread out evenly"),
            ),
            runs=60,
            exact=False,
        ),
        UtilityCase("points, |X| = 2, 40 records", points, points.utility(40)[0], _fixed({0: 20, 1: 20}, {1: 40})),
        UtilityCase(
            "thresholds in the plane, 4 records",
            planar,
            planar.utility(4)[0],
            _fixed({(0, 0): 1, (0, 1): 2, (1, 0): 1}, {(1, 1): 4}),
        ),
        UtilityCase(
            "answers as low as they may be", one_sided, one_sided.utility(n)[0], _fixed({0: n // 2, 1: n // 2})
        ),
        UtilityCase(
            "1.8α in place of 2α",
            one_sided,
            UtilityClaim(
                CloseDatabase(Thresholds(2), Fraction(18, 100)), one_sided.utility(n)[0].probability, "not claimed"
            ),
            _fixed({0: n // 2, 1: n // 2}),
            expected=Verdict.FAIL, deliberate=True,
            note="No error of the algorithm: it guarantees 2α, which a release that errs to one side nearly attains.",
        ),
    )


def _fixed(*datasets: dict[Any, int]) -> tuple[Fixed, ...]:
    return tuple(Fixed(Multiset.counted(counts)) for counts in datasets)


def _points(records: int, old: int, new: int, moved: int = 1) -> Pair:
    left = Multiset.counted({old: records})
    return Pair(left, left.changed(remove=(old,) * moved, add=(new,) * moved), f"{moved} moved from {old} to {new}")


def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """Thresholds on so many points."""
    size = max(2, domain)
    return over_thresholds(1.0, size, 0.25), Scope(tuple(range(size)), records)


PLAN = Plan("SyntheticData", cases, small, utility=utility)
