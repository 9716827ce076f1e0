"""The accuracy game against the distribution, with the largest error as its output; and a fast version for large k."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from dpaudit.language import (
    BOTTOM,
    Bottom,
    Goal,
    Instance,
    IntArray,
    Laplace,
    Mechanism,
    ParameterError,
    Program,
    checks,
    log,
    sqrt,
)
from dpaudit_algorithms.generalization.analysts import Overfitter
from dpaudit_algorithms.generalization.interaction import Interactive, Samples, queries_of
from dpaudit_algorithms.generalization.statistical_queries import NaiveAnswers, NoisyAnswers

FEW = 20_000
"""Up to this number of cells, the records of each cell are drawn directly."""
NEVER = 1e-30
"""A negligible probability: no draw meets it, and it is below the rounding error of other probabilities."""


@dataclass(frozen=True)
class AccuracyGame(Mechanism):
    """Acc_{n,k}[M, A]: A chooses D; M gets S ~ D^n; for j = 1, …, k A outputs q_j and M answers a_j.

    A mechanism from () to max_j |a_j − q_j(D)|, or to ⊥ if an answer is ⊥.

    Args:
        answers: M with its analyst A, who must have a population.
        records: n ≥ 1.

    Raises:
        ParameterError: records < 1, or an analyst without a population.

    Source: Stemmer's thesis, section 4.5.1, Figure 4.1.
    """

    answers: Interactive
    records: checks.Count

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.answers.analyst.population is None:
            raise ParameterError("The analyst must choose a population to play the game against the distribution.")

    def run(self, dataset: Any) -> Program:
        analyst = self.answers.analyst
        # A chooses D; S ~ D^n is given to M
        D = analyst.population
        assert D is not None
        S = yield Samples(D, self.records).on(())
        # for j = 1, …, k: A outputs q_j, M(S, q_j) outputs a_j
        transcript = yield self.answers.on(S.dataset)
        answers = transcript if analyst.coins() is None else transcript[1]
        if BOTTOM in answers:
            return BOTTOM
        # max_j |a_j − q_j(D)|
        queries = queries_of(analyst, transcript)
        return float(max(abs(Fraction(a) - D.mass(q)) for a, q in zip(answers, queries, strict=True)))


@dataclass(frozen=True)
class OverfittingGame(AccuracyGame):
    """`AccuracyGame` with the analyst `Overfitter`, with the same output distribution but sampled faster.

    It samples only the quantities that determine the largest error: (1) for every r, the number of cells with r
    records; (2) among those, the number of answers above 1/m, and the largest and smallest noise; (3) the noise of the
    last answer. The numbers of records in m cells are independent Poisson(n/m) conditioned on the sum n, so (1) is
    multinomial over r conditioned on that sum (`occupancies`). An answer is above 1/m with a probability that depends
    only on r, so the number of such answers is binomial. The largest of c independent values is the quantile at
    U^{1/c}. A game of 10⁷ queries takes less than a millisecond.

    Args:
        answers: `NaiveAnswers` or `NoisyAnswers` with an `Overfitter`.
        records: n ≥ 1.

    Raises:
        ParameterError: another mechanism or analyst, or noise for another number of records.
    """

    def __post_init__(self) -> None:
        checks.Checked.__post_init__(self)  # skips AccuracyGame's own check, which lists the population
        known = isinstance(self.answers, NaiveAnswers | NoisyAnswers)
        if not known or not isinstance(self.answers.analyst, Overfitter):
            raise ParameterError("The shortcut is for NaiveAnswers or NoisyAnswers with an Overfitter.")
        if isinstance(self.answers, NoisyAnswers) and self.answers.records != self.records:
            raise ParameterError(f"records must be the {self.answers.records} of the mechanism, not {self.records}.")

    @property
    def cells(self) -> int:
        """m."""
        return self.answers.analyst.rounds - 1

    def bulk(self, dataset: Any, size: int, rng: Generator) -> list[float | Bottom]:
        tables = occupancies(self.cells, self.records, size, rng)
        return [self._largest_error(table, rng) for table in tables]

    def _largest_error(self, cells: IntArray, rng: Generator) -> float:
        """The largest error of one game in which cells[r] cells hold r records."""
        m, n = self.cells, self.records
        r = np.flatnonzero(cells)
        held = cells[r]
        off = (r * m - n) / (float(n) * m)  # r/n − 1/m
        if isinstance(self.answers, NaiveAnswers):
            above = np.where(r * m > n, held, 0)
            return max(float(np.abs(off).max()), abs(float((above * off).sum())))
        assert isinstance(self.answers, NoisyAnswers)
        from scipy import stats  # it takes half a second, and `dpaudit list` imports this file

        scale = self.answers.scale
        noise = stats.laplace if isinstance(self.answers.noisy(0.0), Laplace) else stats.norm
        p, q = noise.sf(-off / scale), noise.cdf(-off / scale)  # probabilities of an answer above 1/m, and of ≤ 1/m
        above = rng.binomial(held, p)
        # 1 − U^{1/c}, without subtracting two nearly equal numbers
        high = -np.expm1(np.log(rng.random(len(r))) / np.maximum(above, 1))
        low = -np.expm1(np.log(rng.random(len(r))) / np.maximum(held - above, 1))
        largest = np.where(above > 0, off + scale * noise.isf(p * high), 0.0)
        least = np.where(held > above, off + scale * noise.ppf(q * low), 0.0)
        last = float((above * off).sum()) + float(self.answers.noisy(0.0).draw(rng, 1)[0])
        return max(float(largest.max()), -float(least.min()), abs(last))


@dataclass(frozen=True)
class WithinError(Goal):
    """The largest error of a game is at most α, and no answer is ⊥.

    Args:
        alpha: > 0, in units of q(D).

    Source: Stemmer's thesis, Definition 4.8.
    """

    alpha: checks.Positive

    def reached(self, instance: Instance, output: Any) -> bool:
        return output is not BOTTOM and output <= self.alpha

    def __str__(self) -> str:
        return f"all answers within {self.alpha:.4g} of the distribution"


def occupancies(cells: int, records: int, size: int, rng: Generator) -> list[IntArray]:
    """Draw `size` tables of the number of cells with 0, 1, 2, … records, for n records thrown uniformly into m cells.

    Args:
        cells: m ≥ 2.
        records: n ≥ 1.
        size: number of tables.
        rng: random generator.

    Returns:
        Tables t with t.sum() = m and Σ r·t[r] = n.
    """
    if cells > FEW:
        return conditioned(cells, records, size, rng)
    return [np.bincount(rng.multinomial(records, np.full(cells, 1 / cells))) for _ in range(size)]


def conditioned(cells: int, records: int, size: int, rng: Generator) -> list[IntArray]:
    """`occupancies` from independent Poisson(n/m) cells conditioned on their sum: fast for many cells.

    The numbers of cells with r ∉ {a, a + 1} records are drawn (a is near the mean). A draw is accepted with probability
    proportional to that of the only completion that makes the sum n.
    """
    from scipy import stats  # as above

    mean = records / cells
    r = np.arange(min(records, int(mean + 20 * sqrt(mean) + 60)) + 1)
    masses = np.exp(r * log(mean) - mean - gammaln(r + 1))
    r, masses = r[masses > NEVER / cells], masses[masses > NEVER / cells]
    # cells with a or a + 1 records fix the sum: given the others, only one split of them works, with a binomial mass
    a = min(int(mean), records - 1)
    pair = (r == a) | (r == a + 1)
    share = float(masses[r == a + 1].sum() / masses[pair].sum())
    others = masses[~pair] / masses.sum()
    left = float(masses[pair].sum() / masses.sum())
    fewest = max(0, int(cells * left - 20 * sqrt(cells * left * (1 - left)) - 1))
    highest = float(stats.binom.pmf(int((fewest + 1) * share), fewest, share))  # fewer cells give a higher mass
    tables: list[IntArray] = []
    while len(tables) < size:
        drawn = rng.multinomial(cells, np.append(others, left), 4 * (size - len(tables)))
        free = drawn[:, -1]
        more = records - drawn[:, :-1] @ r[~pair] - a * free
        kept = rng.random(len(drawn)) * highest < stats.binom.pmf(more, free, share)
        for row, rest, one in zip(drawn[kept], free[kept].tolist(), more[kept].tolist(), strict=True):
            table = np.zeros(int(r[-1]) + 1, dtype=np.int64)
            table[r[~pair]] = row[:-1]
            table[a], table[a + 1] = rest - one, one
            tables.append(table)
    return tables[:size]
