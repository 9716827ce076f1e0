"""Exact evidence: the laws of both datasets, and what they say of a claim."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.adversary import Event, Pair
from dpaudit.interpret import IntervalLaws, LawCache, align, interval_laws, law, of_one_kind
from dpaudit.interpret.law import Support
from dpaudit.language import Claim, IntegerRange, Mechanism
from dpaudit.language.distributions import plain
from dpaudit.outputs.ranges import together
from dpaudit.results.datasets import dataset_to_json
from dpaudit.results.model import Bounds, ClaimRecord, EventRecord, ExactEvidence, PairRecord
from dpaudit.results.refutation import TOLERANCE
from dpaudit.stats import hockey_stick
from dpaudit.stats.arrays import BoolArray, FloatArray
from dpaudit.stats.enclosure import Enclosure, decimal, delta_at, epsilon_at, outward
from dpaudit.subjects.recorded import RecordedTarget
from dpaudit.subjects.target import FunctionTarget, Target

NOTHING = 1e-30
"""An ε below it, in an interval that contains 0, is what rounding has left of 0."""
PATHS = 200_000
"""Paths of one law that an audit enumerates on its own account."""
MOST_INTERVALS = 20_000
"""Outcomes of laws that are computed in intervals as well, about a second's worth."""

LEAST = 1e-250
"""Doubles do not compare the probabilities of an outcome that is rarer on both datasets: one may be 0 by rounding. If
one is 0 and the other is above this, their ratio is at least e^120."""

LEFT_RIGHT, RIGHT_LEFT = "left/right", "right/left"


@dataclass(frozen=True)
class PairLaws:
    """The laws of a pair over the same outcomes."""

    values: Support
    left: FloatArray
    right: FloatArray

    def oriented(self, direction: str) -> tuple[FloatArray, FloatArray]:
        """Numerator and denominator of a direction."""
        return (self.left, self.right) if direction == LEFT_RIGHT else (self.right, self.left)

    def profile(self, direction: str, epsilons: FloatArray) -> FloatArray:
        """δ at some ε, shape as given."""
        return hockey_stick.profile(*self.oriented(direction), epsilons)

    def event(self, chosen: BoolArray) -> Event:
        """The event of the chosen outcomes."""
        values = plain(self.values)
        inside = [values[i] for i in np.flatnonzero(chosen).tolist()]
        if not any(isinstance(value, IntegerRange) for value in inside):
            return Event(frozenset(inside))
        ranges = sorted(
            v if isinstance(v, IntegerRange) else IntegerRange(v, v + 1)
            for v in inside
            if isinstance(v, IntegerRange | int)
        )
        return Event(
            frozenset(v for v in inside if not isinstance(v, IntegerRange | int)), ranges=tuple(together(ranges))
        )


def compare(mechanism: Mechanism, pair: Pair, cache: LawCache) -> PairLaws:
    """The exact laws of both datasets of a pair.

    Raises:
        NotEnumerableError: the mechanism has no law, or too large a one.
    """
    laws = (law(mechanism, dataset, cache=cache, path_limit=PATHS) for dataset in (pair.left, pair.right))
    values, left, right = align(*laws)
    # doubles have the ratio of two probabilities, however small, until one of them is rounded to 0 or almost to 0
    lost = np.maximum(left, right) < LEAST
    return PairLaws(values, np.where(lost, 0.0, left), np.where(lost, 0.0, right))


def evidence(comparison: PairLaws, pair: Pair, claim: Claim) -> tuple[ExactEvidence, Event]:
    """Exact ε at the claimed δ and δ at the claimed ε of the worse direction, and the event that attains it."""
    directions = []
    for direction in (LEFT_RIGHT, RIGHT_LEFT):
        p, q = comparison.oriented(direction)
        epsilon = hockey_stick.epsilon_at(p, q, claim.delta)
        directions.append((hockey_stick.hockey_stick(p, q, claim.epsilon), epsilon, direction))
    # by ε first: at the claimed ε both deltas may be 0
    delta = max(f[0] for f in directions)
    _, epsilon, direction = max(directions, key=lambda f: (f[1], f[0]))
    # the event that shows it: at the exact ε the divergence is the claimed δ, a shade below there is room
    at = claim.epsilon if math.isinf(epsilon) or epsilon > claim.epsilon else max(0.0, epsilon * (1 - 1e-6))
    p, q = comparison.oriented(direction)
    chosen = hockey_stick.optimal_event(p, q, at)
    event = comparison.event(chosen)
    exact = ExactEvidence(
        pair=pair_record(pair, claim),
        direction=direction,
        event=EventRecord(event.description, event.spec),
        epsilon=None if math.isinf(epsilon) else epsilon,
        delta=delta,
        p=math.fsum(p[chosen]),
        q=math.fsum(q[chosen]),
    )
    return exact, event


def enclosed(
    evidence: ExactEvidence, comparison: PairLaws, mechanism: Mechanism, pair: Pair, claim: Claim, known: LawCache
) -> ExactEvidence:
    """The same with its bounds in interval arithmetic, where the laws are small enough for that.

    Where no finite ε is seen to be enough, δ may be met with equality by outcomes that the other dataset lacks, which
    no interval can distinguish from a shade more: then the lower bound is that at a δ which is larger by a relative
    `TOLERANCE`, and the upper one holds if it is equality.

    Raises:
        NotEnumerableError: as `compare` does.
    """
    if len(comparison.left) > MOST_INTERVALS:
        return evidence
    laws = enclosed_laws(mechanism, pair, known)
    p, q, delta = laws.left, laws.right, decimal(claim.delta)
    epsilons = [epsilon_at(a, b, delta) for a, b in ((p, q), (q, p))]
    if any(math.isinf(e.high) for e in epsilons):
        strict, epsilons = epsilons, []
        for e, (a, b) in zip(strict, ((p, q), (q, p)), strict=True):
            more = epsilon_at(a, b, delta * (1 + TOLERANCE))
            met = math.isinf(e.high) and math.isfinite(e.low) and math.isfinite(more.high)
            both = [(x, y) for x, y in zip(a, b, strict=True) if not y.is_zero()] if met else []
            rest = epsilon_at([x for x, _ in both], [y for _, y in both], 0).high if both else 0.0
            epsilons.append(Enclosure(more.low, max(more.high, rest)))
    deltas = [outward(delta_at(a, b, decimal(claim.epsilon))) for a, b in ((p, q), (q, p))]
    low, high = max(e.low for e in epsilons), max(e.high for e in epsilons)
    # an e^ε that no interval holds leaves a δ without bounds, which is between 0 and 1 all the same
    delta_low = max((d.low for d in deltas if d.low >= 0), default=0.0)
    delta_high = max(d.high if d.high <= 1 else 1.0 for d in deltas)
    # the doubles may be off by a last digit, or have lost a probability below theirs
    epsilon = min(max(math.inf if evidence.epsilon is None else evidence.epsilon, low), high)
    if low == 0 and epsilon < NOTHING:
        epsilon = 0.0
    return replace(
        evidence,
        epsilon=finite(epsilon),
        delta=min(max(evidence.delta, delta_low), delta_high),
        bounds=Bounds(finite(low), finite(high), delta_low, delta_high, list(laws.rounded)),
    )


def enclosed_laws(mechanism: Mechanism, pair: Pair, known: LawCache) -> IntervalLaws:
    """The laws of a pair in interval arithmetic.

    Raises:
        NotEnumerableError: as `compare` does.
    """
    return of_one_kind(
        lambda cache: interval_laws(mechanism, pair.left, pair.right, cache=cache, path_limit=PATHS), known
    )


def finite(number: float) -> float | None:
    """None for infinity, as results hold it."""
    return number if math.isfinite(number) else None


def worse(evidence: ExactEvidence, other: ExactEvidence) -> bool:
    """Whether the first is stronger evidence than the other."""
    a, b = (math.inf if e.epsilon is None else e.epsilon for e in (evidence, other))
    return (a, evidence.delta) > (b, other.delta)


def claim_record(claim: Claim) -> ClaimRecord:
    """The claim as results hold it."""
    return ClaimRecord(claim.epsilon, claim.delta, claim.relation.name, claim.relation.size, str(claim))


def pair_record(pair: Pair, claim: Claim, target: Target | None = None) -> PairRecord:
    """The pair as results hold it; what is audited says whether its records are rows with named cells.

    Of datasets of which only recorded outputs are known it has the names of the recordings, and their sizes.
    """
    if isinstance(target, RecordedTarget):
        left, right = (
            {"recorded": label, "outputs": size}
            for label, size in zip(target.recorded.labels, target.recorded.sizes, strict=True)
        )
        return PairRecord(pair.label, pair.source, 0, left, right)
    container = target.container if isinstance(target, FunctionTarget) else None
    return PairRecord(
        pair.label, pair.source, claim.relation.distance(pair.left, pair.right) or 0,
        dataset_to_json(pair.left), dataset_to_json(pair.right),
        None if container is None or not container.fields else list(container.fields),
    )
