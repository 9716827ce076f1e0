"""Answers to adaptively chosen statistical queries: exact, and with Laplace or Gaussian noise."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from dpaudit.language import (
    DWORK_ROTH,
    THESIS,
    Applied,
    Card,
    Claim,
    DatasetError,
    Draw,
    FloatArray,
    Gaussian,
    Laplace,
    Multiset,
    ParameterError,
    Program,
    UtilityClaim,
    advanced_share,
    checks,
    log,
    sqrt,
    to_float,
    zcdp_budget,
)
from dpaudit_algorithms.generalization.analysts import AskingAll
from dpaudit_algorithms.generalization.interaction import (
    AccurateAnswers,
    Analyst,
    Answering,
    Interactive,
    Predicate,
    Share,
    queries_of,
)
from dpaudit_algorithms.generalization.statistical_queries_theory import NoisyAnswersTheory

Floats = FloatArray
Calibration: TypeAlias = Literal["advanced", "zcdp"]


@dataclass(frozen=True)
class NaiveAnswers(Interactive):
    """Answers every query with q(S), exactly (as the nearest double).

    Accurate on the sample but not on the distribution: with the analyst `Overfitter` the expected last error is
    √(m/(2πn)) for m ≪ n cells and (1 − 1/m)^n for n < m. Independent queries only need n of order log(k)/α² records.

    Args:
        analyst: the analyst.

    Source: Stemmer's thesis, section 4.5, the non-private baseline for the games of Figures 4.1 and 4.2.
    """

    analyst: Analyst

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """(0, 0)-accurate with respect to the sample, up to the rounding of doubles."""
        return (UtilityClaim(AccurateAnswers(self.analyst, 1e-15, "sample"), 1.0, "§4.5.1, Definition 4.9"),)

    def begin(self, S: Any) -> Program:
        if not len(Multiset.of(S)):
            raise DatasetError("A share of records is undefined for the empty dataset.")
        return None
        yield

    def answer(self, S: Any, state: Any, query: Predicate) -> Answering:
        return to_float(query.share(S)), None
        yield


@dataclass(frozen=True)
class NoisyAnswers(NoisyAnswersTheory):
    """Answers each of k adaptively chosen queries with q(S) plus fresh noise, (ε, δ)-DP in total.

    One record changes q(S) by at most 1/n. With `calibration` "advanced" Theorem 3.6 divides (ε, δ); with "zcdp" every
    answer is (ρ/k)-zCDP, and ρ is the largest for which no event of a ρ-zCDP mechanism has p − e^ε q above δ.

    Args:
        epsilon: > 0, for the whole conversation.
        delta: in (0, 1), for the whole conversation.
        k: number of queries, ≥ 1.
        records: n ≥ 1, the size of the dataset.
        analyst: the analyst; at most k queries.
        calibration: "advanced" or "zcdp".

    Raises:
        ParameterError: a parameter outside its range, or an analyst with more queries.
    """

    epsilon: checks.Positive
    delta: checks.OpenUnit
    k: checks.Count
    records: checks.Count
    analyst: Analyst
    calibration: Calibration = "advanced"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.analyst.rounds > self.k:
            raise ParameterError(f"k must be at least the analyst's {self.analyst.rounds} queries, not {self.k!r}.")

    @property
    def claim(self) -> Claim:
        """(ε, δ), for k adaptively chosen queries."""
        return Claim(self.epsilon, self.delta)

    @property
    def rho(self) -> float:
        """ρ of the whole conversation, calibrated by zCDP."""
        return zcdp_budget(self.epsilon, self.delta)

    @property
    @abstractmethod
    def each(self) -> Claim:
        """The claim of one answer."""

    @abstractmethod
    def noisy(self, centre: float) -> Laplace | Gaussian:
        """An answer whose noiseless value is `centre`."""

    @abstractmethod
    def log_noise(self, z: Floats) -> Floats:
        """Log density of the noise in units of `scale`, any shape, up to a constant."""

    def answer(self, S: Any, state: Any, query: Predicate) -> Answering:
        (share,) = Share(query, self.records)(S)
        a = yield self.noisy(share)  # q(S) plus fresh noise
        return a, None

    def bulk(self, S: Any, size: int, rng: Generator) -> Any:
        analyst = self.analyst
        if isinstance(analyst, AskingAll):
            return self._shares(S) + self._noise(rng, size)
        shares: dict[Predicate, float] = {}
        drawn = analyst.coins()
        coins = [None] * size if drawn is None else _each(drawn, rng, size)
        transcripts: list[Any] = []
        for coin, row in zip(coins, self._noise(rng, size).tolist(), strict=True):
            answers: tuple[float, ...] = ()
            while len(answers) < analyst.rounds and (query := analyst.query(coin, answers)) is not None:
                if query not in shares:
                    (shares[query],) = Share(query, self.records)(S)
                answers = (*answers, shares[query] + row[len(answers)])
            transcripts.append(answers if drawn is None else (coin, answers))
        return transcripts

    def _noise(self, rng: Generator, size: int) -> Floats:
        drawn: Floats = self.noisy(0.0).draw(rng, size * self.analyst.rounds)
        return drawn.reshape(size, self.analyst.rounds)

    def _shares(self, S: Any) -> Floats:
        """q_j(S) for queries that are fixed in advance, shape (k,)."""
        assert isinstance(self.analyst, AskingAll)
        return np.array([Share(query, self.records)(S)[0] for query in self.analyst.queries])

    def log_density(self, S: Any, outputs: Floats) -> Floats:
        """Log density of transcripts without coins, shape (r, k), up to a constant."""
        if isinstance(self.analyst, AskingAll):
            means = self._shares(S)
        else:
            shares: dict[Predicate, float] = {}
            means = np.empty_like(outputs)
            for i, answers in enumerate(map(tuple, outputs.tolist())):
                for j, query in enumerate(queries_of(self.analyst, answers)):
                    if query not in shares:
                        (shares[query],) = Share(query, self.records)(S)
                    means[i, j] = shares[query]
        total: Floats = self.log_noise((outputs - means) / self.scale).sum(axis=-1)
        return total


@dataclass(frozen=True)
class LaplaceAnswers(NoisyAnswers):
    """Answers each of k adaptively chosen queries with q(S) + Lap(1/(ε₀n)).

    "advanced": ε₀ ≤ 1 is the largest with √(2k·ln(1/δ))·ε₀ + 2kε₀² ≤ ε (Theorem 3.6 with δ′ = δ). "zcdp": ε₀-DP is
    ε₀²/2-zCDP, ε₀ = √(2ρ/k).

    Source: Stemmer's thesis, section 4.5.2, Corollaries 4.10 and 4.11; Theorems 3.6 and 3.25.
    """

    @cached_property
    def _epsilon_each(self) -> float:
        if self.calibration == "zcdp":
            return sqrt(2 * self.rho / self.k)
        return advanced_share(self.epsilon, self.delta, self.k)

    @property
    def each(self) -> Claim:
        """ε₀, Theorem 3.25."""
        return Claim(self._epsilon_each)

    @property
    def scale(self) -> float:
        """1/(ε₀n)."""
        return 1 / (self._epsilon_each * self.records)

    def noisy(self, centre: float) -> Laplace:
        return Laplace(centre, self.scale)

    def quantile(self, p: float) -> float:
        return -log(p)

    def log_noise(self, z: Floats) -> Floats:
        return -np.abs(z)


@dataclass(frozen=True)
class GaussianAnswers(NoisyAnswers):
    """Answers each of k adaptively chosen queries with q(S) + N(0, σ²).

    "advanced": every answer is (ε₀, δ₀)-DP by σ = √(2·ln(1.25/δ₀))/(ε₀n) with δ₀ = δ/(2k), and ε₀ < 1 is from Theorem
    3.6 with δ′ = δ/2. "zcdp": σ = √(k/(2ρ))/n, because N(0, σ²) for sensitivity 1/n is 1/(2n²σ²)-zCDP.

    Source: Stemmer's thesis, section 4.5.2, Corollaries 4.10 and 4.11; Theorem 3.6.
    """

    @cached_property
    def _epsilon_each(self) -> float:
        share = advanced_share(self.epsilon, self.delta / 2, self.k)
        return share if share < 1 else math.nextafter(1.0, 0.0)

    @property
    def each(self) -> Claim:
        """(ε₀, δ₀), or ρ/k-zCDP tested at ε/k."""
        if self.calibration == "zcdp":
            return Claim.zcdp(self.rho / self.k, epsilon=self.epsilon / self.k)
        return Claim(self._epsilon_each, self.delta / (2 * self.k))

    @property
    def scale(self) -> float:
        """σ."""
        if self.calibration == "zcdp":
            return sqrt(self.k / (2 * self.rho)) / self.records
        return sqrt(2 * log(2.5 * self.k / self.delta)) / (self._epsilon_each * self.records)

    def noisy(self, centre: float) -> Gaussian:
        return Gaussian(centre, self.scale)

    def quantile(self, p: float) -> float:
        return -float(ndtri(p / 2))

    def log_noise(self, z: Floats) -> Floats:
        return -z * z / 2


def _each(drawn: Draw, rng: Generator, size: int) -> list[Any]:
    """The coins of `size` runs."""
    if isinstance(drawn, Applied):
        raise ParameterError("In bulk runs an analyst must draw its coins from a distribution.")
    return [coin for coin, times in drawn.grouped(rng, size) for _ in range(times)]


# --- cards: claims, sources and deviations from the papers ---

_INPUT = "n records; 0 < epsilon, 0 < delta < 1, k ≥ 1 queries, n ≥ 1 records (public), an analyst, the calibration"
_OUTPUT = "the transcript: at most k real numbers, with the analyst's coins before them if there are any"
_SOURCES = (
    "The corollary states that a mechanism exists and cites two papers; this mechanism is from Theorem 3.6, and its n "
    "has log k·√(log(1/δ)) where the corollary has √(log log k).",
    "n is public: a dataset of another size is rejected, and the neighbour relation is replace-one.",
)

NaiveAnswers.card = Card(
    name="NaiveAnswers",
    system="G2",
    title="Empirical answers to adaptively chosen queries: not private",
    paper=THESIS,
    place="§4.5.1, Figures 4.1 and 4.2",
    claim="none: answers are exact on the sample",
    inputs="n ≥ 1 records; an analyst",
    output="the transcript: q(S) of every query, with the analyst's coins before them if there are any",
    deviations=("The thesis prints the games but no mechanism that loses them; this is the obvious one.",),
    private=False,
)

LaplaceAnswers.card = Card(
    name="LaplaceAnswers",
    system="G3",
    title="Adaptive statistical queries with Laplace noise",
    paper=THESIS,
    place="§4.5.2, Corollaries 4.10 and 4.11; Theorems 3.6 and 3.25",
    claim="(ε, δ)-DP under replace-one over k adaptively chosen queries",
    inputs=_INPUT,
    output=_OUTPUT,
    deviations=(*_SOURCES, "The calibration by zCDP is from Bun and Steinke (2016), Proposition 1.4."),
    variants=("GaussianAnswers",),
)

GaussianAnswers.card = Card(
    name="GaussianAnswers",
    system="G3",
    title="Adaptive statistical queries with Gaussian noise",
    paper=THESIS,
    place="§4.5.2, Corollaries 4.10 and 4.11; Theorem 3.6",
    claim="(ε, δ)-DP under replace-one over k adaptively chosen queries",
    inputs=_INPUT,
    output=_OUTPUT,
    deviations=(
        *_SOURCES,
        f"The thesis prints no Gaussian mechanism: its (ε₀, δ₀) is that of {DWORK_ROTH}, Theorem A.1, for ε₀ < 1.",
        "The calibration by zCDP is from Bun and Steinke (2016), Proposition 1.6.",
    ),
    variants=("LaplaceAnswers",),
)
