"""The bounds around Algorithm B: Lemma 4.2, Theorem 4.3 with the numbers of its proof, and Claim 4.4."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.language import (
    Bernoulli,
    Categorical,
    Goal,
    Instance,
    Mechanism,
    ParameterError,
    Program,
    SampleSize,
    Scores,
    Softmax,
    Uniform,
    UtilityClaim,
    as_written,
    checks,
    exp,
    expm1,
    independent,
    log,
    log1p,
    tanh,
    to_float,
)
from dpaudit_algorithms.foundations.goals import all_but
from dpaudit_algorithms.generalization.interaction import Population
from dpaudit_algorithms.generalization.predicates import Generalises

THEOREM = "§4.2, Theorem 4.3"
_LEMMA = "§4.2, Lemma 4.2"


class AlgorithmBTheory(Mechanism):
    """Of `AlgorithmB`, whose parameters these are."""

    population: Population
    epsilon: float
    delta: float
    k: int

    @property
    @abstractmethod
    def parts(self) -> int:
        """T = ⌊ε/δ⌋."""

    @property
    def gap(self) -> float:
        """e^{2ε} − 1 + Tδ: the bound of Lemma 4.2 for B."""
        return expm1(2 * self.epsilon) + self.parts * self.delta

    @property
    def sharpened(self) -> float:
        """tanh(ε) + 2Tδ/(1 + e^{2ε}): the sharpened bound of Lemma 4.2 for B."""
        return tanh(self.epsilon) + 2 * self.parts * self.delta / (1 + exp(2 * self.epsilon))

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """|E[h*(S_t*) − h*(D)]| ≤ e^{2ε} − 1 + Tδ on T·n records, from above and below; then both bounds sharpened."""
        n, rest = divmod(records, self.parts)
        if rest or not n:
            return ()
        goal = PicksOnItsOwn(self.population.points, n)
        return tuple(
            claim
            for bound, place in ((self.gap, _LEMMA), (self.sharpened, f"{_LEMMA}, sharpened"))
            for claim in (
                UtilityClaim(goal, min(1.0, math.nextafter((1 + bound) / 2, 2.0)), place, at_most=True),
                UtilityClaim(goal, all_but((1 + bound) / 2), place),
            )
        )

    def generalises(self, records: int) -> UtilityClaim | None:
        """Theorem 4.3 for A on n records: max |h_i(S) − h_i(D)| < 10ε with probability > 1 − δ/ε; None for small n."""
        if not self.in_range or records < self.printed_size:
            return None
        below = float(10 * as_written(self.epsilon))
        return UtilityClaim(Generalises(below), all_but(self.delta / self.epsilon), THEOREM)

    @property
    def in_range(self) -> bool:
        """ε < 1/3 and δ < ε/4."""
        epsilon = as_written(self.epsilon)
        return epsilon < Fraction(1, 3) and 4 * as_written(self.delta) < epsilon

    @property
    def printed_size(self) -> int:
        """The least n ≥ ln(2εk/δ)/ε²."""
        return math.ceil(log(2 * self.epsilon * self.k / self.delta) / self.epsilon**2)

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The printed n, and the n at which the proof works with 1/2 and with the exact probability."""
        if not self.in_range:
            return ()
        half, exact = (self.closing_size(some) for some in (0.5, self.some_is_far))
        guarantee = "every |h_i(S) − h_i(D)| < 10ε with probability > 1 − δ/ε"
        need = "5ε − (2/(εn))·ln(2Tk) > e^{2ε} − 1 + Tδ, where the proof ends"
        return (
            SampleSize(self.printed_size, "(1/ε²)·log(2εk/δ)", guarantee, THEOREM),
            SampleSize(half, "2·ln(2Tk)/(ε·(5ε − e^{2ε} + 1 − Tδ))", need, f"{THEOREM}, the proof's numbers"),
            SampleSize(
                exact,
                "2·ln(2Tk)/(ε·(10ε·p − e^{2ε} + 1 − Tδ)), p = 1 − (1 − δ/ε)^T",
                need.replace("5ε", "10ε·p"),
                f"{THEOREM}, the proof's numbers corrected",
            ),
        )

    @property
    def some_is_far(self) -> float:
        """1 − (1 − δ/ε)^T, which the proof bounds from below by 1/2; at least 1 − (4/5)^4 = 0.5904 if δ < ε/4."""
        return -expm1(self.parts * log1p(-self.delta / self.epsilon)) if self.delta < self.epsilon else 1.0

    def closing_size(self, some: float) -> int:
        """The least n > 2·ln(2Tk)/(ε·(10ε·some − (e^{2ε} − 1) − Tδ)), from which the two bounds are contradictory.

        Args:
            some: a lower bound on the probability that some sub-database has a predicate with error 10ε.

        Raises:
            ParameterError: no n is enough.
        """
        slack = 10 * self.epsilon * some - self.gap
        if slack <= 0:
            raise ParameterError(f"The bounds never contradict each other with some = {some!r}.")
        return math.floor(2 * log(2 * self.parts * self.k) / (self.epsilon * slack)) + 1


@dataclass(frozen=True)
class PicksOnItsOwn(Goal):
    """By a fair coin, h(x_{t,i}) = 1 for a random position i, or h(z) = 0 for a fresh z.

    E[h(S_t)] = Pr[h(x_{t,i}) = 1] and E[h(D)] = Pr[h(z) = 1], as in the proof of Lemma 4.2. So the goal has probability
    (1 + E[h(S_t) − h(D)])/2, and a bound on the expectation is a bound on this probability.

    Args:
        points: points of the population, in the order of the output's table.
        records: n, the size of one sub-database.

    Source: Stemmer's thesis, Lemma 4.2.
    """

    points: tuple[Any, ...]
    records: int

    def reached(self, instance: Instance, output: Any) -> bool:
        (table, t), (coin, seen) = output, instance.truth
        x = instance.dataset[(t - 1) * self.records + seen] if coin else seen
        return bool(table[self.points.index(x)] == coin)

    def __str__(self) -> str:
        return "h(x_{t,i}) = 1 or h(z) = 0, by a fair coin"


@dataclass(frozen=True)
class SubDatabases(Mechanism):
    """Instances of T·n records from D, in order, with a draw that turns an expectation into a probability.

    `Instance.truth` is (coin, seen): a fair coin, and a position i of a sub-database or a fresh z drawn from D.

    Args:
        population: D.
        parts: T ≥ 1.
        records: n ≥ 1, of one sub-database.
    """

    population: Population
    parts: int
    records: int

    def run(self, dataset: Any) -> Program:
        weights = [Fraction(w) for w in self.population.weights]
        one = Categorical(self.population.points, [to_float(w / sum(weights)) for w in weights])
        sample = yield independent(one, self.parts * self.records)
        coin = yield Bernoulli(0.5)
        # the coin decides which of the two is used
        seen = (yield Uniform(range(self.records))) if coin else (yield one)
        return Instance(tuple(sample), (coin, seen))

    def __str__(self) -> str:
        return f"{self.parts} sub-databases of {self.records} from {self.population}"


@dataclass(frozen=True)
class SoftChoice(Mechanism):
    """Y on F = {0, …, |F| − 1} with Pr[Y = y] = exp(η·f(y))/C, f(y) = values[y]/unit in [0, 1].

    Args:
        values: shape (|F|,), whole numbers in 0, …, unit.
        unit: ≥ 1.
        eta: η > 0.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Stemmer's thesis, Claim 4.4.
    """

    values: tuple[int, ...]
    unit: checks.Count
    eta: checks.Positive

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.values or not all(0 <= checks.whole("a value", v) <= self.unit for v in self.values):
            raise ParameterError(f"values must be whole numbers in 0, …, {self.unit}, not {self.values!r}.")

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """E[f(Y)] ≥ max f − ln|F|/η, as the probability that f(Y) is at least a uniform value in {1/unit, …, 1}."""
        guaranteed = max(self.values) / self.unit - log(len(self.values)) / self.eta
        return (UtilityClaim(ReachesDrawn(self.values), max(0.0, guaranteed), "§4.2, Claim 4.4"),)

    def run(self, dataset: Any) -> Softmax:
        return Scores([to_float(Fraction(v, self.unit)) for v in self.values]).softmax(self.eta)


@dataclass(frozen=True)
class ReachesDrawn(Goal):
    """f(Y) is at least the drawn threshold j/unit, `Instance.truth` = j; the probability is E[f(Y)]."""

    values: tuple[int, ...]

    def reached(self, instance: Instance, output: Any) -> bool:
        return bool(self.values[output] >= instance.truth)

    def __str__(self) -> str:
        return "f(Y) at least a threshold drawn from 1/unit, …, 1"


@dataclass(frozen=True)
class Thresholded(Mechanism):
    """Instances with j uniform in 1, …, unit."""

    unit: int

    def run(self, dataset: Any) -> Program:
        threshold = yield Uniform(range(1, self.unit + 1))
        return Instance((), threshold)

    def __str__(self) -> str:
        return f"a threshold of {self.unit}"
