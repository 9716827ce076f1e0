"""The packing argument against private learners of thresholds: datasets two records apart, with disjoint answers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

from dpaudit.errors import ParameterError
from dpaudit.language import PAC_OVERVIEW, Card, Claim, Game, Mechanism, Program, Uniform, checks

Example = tuple[Any, int]


def balanced(points: tuple[Any, ...], lower: int = 0) -> tuple[Example, ...]:
    """The balanced dataset of n points in ascending order: the first n/2 labelled `lower`, the rest 1 − `lower`."""
    half = len(points) // 2
    return tuple((x, lower if place < half else 1 - lower) for place, x in enumerate(points))


def interval_of(answer: Any, points: tuple[Any, ...], lower: int = 0) -> int | None:
    """Which interval of n ascending points an answer lies in, 0, …, n − 2; None for an answer in none of them, and ⊥.

    Interval i is (x_i, x_{i+1}] where c_t(x) = 1 iff x ≥ t (`lower` = 0), for these t label the points alike; and
    [x_i, x_{i+1}) where c_t(x) = 1 iff x ≤ t (`lower` = 1).
    """
    for i, (left, right) in enumerate(pairwise(points)):
        if lies_in(answer, left, right, lower):
            return i
    return None


def lies_in(answer: Any, left: Any, right: Any, lower: int = 0) -> bool:
    """Whether an answer is in (left, right], or in [left, right) with `lower` = 1; ⊥ is not."""
    try:
        return bool(left < answer <= right if lower == 0 else left <= answer < right)
    except TypeError:
        return False


@dataclass(frozen=True)
class Packing(checks.Checked):
    """A set of vertices v_0 < … < v_{m−1} whose balanced datasets of n points all have one colour a, and what follows.

    With J = m − n + 1: S has the points v_0, …, v_{a−1}, v_a, v_{a+J}, v_{a+J+1}, …, v_{m−1}, and S_j, j = 0, …, J − 1,
    has v_{a+j}, v_{a+j+1} in the place of v_a, v_{a+J}. Labels go by rank, so that S_j differs from S in at most two
    records; and the intervals I_j between v_{a+j} and v_{a+j+1}, of which colour a says that A(S_j) is likely in
    I_j, are disjoint.

    Args:
        vertices: distinct and ascending, at least n.
        records: n, even, ≥ 2.
        colour: a, in 0, …, n − 2.
        lower: label of the lower half: 0 where c_t(x) = 1 iff x ≥ t, 1 where c_t(x) = 1 iff x ≤ t.

    Raises:
        ParameterError: a parameter outside its range.

    Source: Sivakumar, section 3.2, proof of Theorem 3.4.
    """

    vertices: tuple[Any, ...]
    records: Annotated[int, checks.least(2)]
    colour: checks.Natural
    lower: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.records % 2:
            raise ParameterError(f"records must be even for balanced datasets, not {self.records}.")
        if len(self.vertices) < self.records or list(self.vertices) != sorted(set(self.vertices)):
            raise ParameterError(f"vertices must be at least {self.records} distinct values in ascending order.")
        if self.colour > self.records - 2:
            raise ParameterError(f"colour must be at most {self.records - 2}, not {self.colour}.")
        if self.lower not in (0, 1):
            raise ParameterError(f"lower must be 0 or 1, not {self.lower!r}.")

    @property
    def size(self) -> int:
        """J, how many datasets and intervals there are."""
        return len(self.vertices) - self.records + 1

    def interval(self, j: int) -> tuple[Any, Any]:
        """The ends of I_j."""
        return self.vertices[self.colour + j], self.vertices[self.colour + j + 1]

    def dataset(self, j: int) -> tuple[Example, ...]:
        """S_j."""
        return self._with(*self.interval(j))

    @property
    def centre(self) -> tuple[Example, ...]:
        """S."""
        return self._with(self.vertices[self.colour], self.vertices[self.colour + self.size])

    def _with(self, left: Any, right: Any) -> tuple[Example, ...]:
        below = self.vertices[: self.colour]
        above = self.vertices[self.colour + self.size + 1 :]
        return balanced((*below, left, right, *above), self.lower)


@dataclass(frozen=True)
class PackingGame(Game):
    """A learner against all datasets of a packing at once: does its answer on S_j lie in I_j?

    The secret j is uniform in {0, …, J − 1}. With it: the answer on S_j; without it: the answer on S, the same for
    all j. The view is whether the answer lies in I_j. The I_j are disjoint, so that without the secret this has
    probability Σ_j Pr[A(S) ∈ I_j]/J ≤ 1/J, and privacy for two records allows

        (1/J)·Σ_j Pr[A(S_j) ∈ I_j] ≤ e^{2ε}·(1/J)·Σ_j Pr[A(S) ∈ I_j] + (1 + e^ε)δ ≤ e^{2ε}/J + (1 + e^ε)δ.

    Args:
        subject: a learner: labelled examples (x, y) to a threshold, a value of the same order as the x.
        packing: the vertices, and their colour.

    Source: Sivakumar, section 3.2, proof of Theorem 3.4.
    """

    subject: Mechanism
    packing: Packing

    @property
    def claim(self) -> Claim | None:
        """The subject's for groups of two, along a chain of neighbours."""
        claim = self.subject.claim
        if claim is None:
            return None
        return claim.group(2) if claim.rho is not None else claim.chained(2)

    def play(self, secret_in: bool) -> Program:
        j = yield Uniform(range(self.packing.size))
        S = self.packing.dataset(j) if secret_in else self.packing.centre  # S_j, or S
        answer = yield self.subject.on(S)
        # whether the answer lies in I_j
        return lies_in(answer, *self.packing.interval(j), self.packing.lower)


# --- cards: what is claimed where, and where the text here departs from the print ---

PackingGame.card = Card(
    name="PackingGame",
    system="L3",
    title="The packing game against a learner of thresholds",
    paper=PAC_OVERVIEW,
    place="§3.2, proof of Theorem 3.4",
    claim="that of the subject for two records: (2ε, (1 + e^ε)δ), so that Σ_j Pr[A(S_j) ∈ I_j] ≤ e^{2ε} + "
    "J(1 + e^ε)δ for disjoint I_j",
    inputs='("with",) or ("without",): whether the data are S_j or S; a learner, and vertices of one colour',
    output="True where the answer lies in I_j",
    deviations=(
        "The intervals are half-open: the printed [x_j, x_{j+1}] share their ends.",
        "The printed indices are read with S = (x_0, …, x_i, x_{i+13n}, …, x_{14n−2}) and S_j = (x_0, …, x_{i−1}, "
        "x_{i−1+j}, x_{i+j}, x_{i+13n+1}, …, x_{14n−2}), j = 1, …, 13n: 14n − 1 vertices suffice.",
        "Any number J of datasets; the print has J = 13n.",
        "S and S_j differ in at most two records (in one for the first and the last j; the print: in two).",
        "The colour is the first index where the probability is largest, and answers outside all intervals count "
        "for none.",
        "A parameter says which half is labelled 1; here c_t(x) = 1 iff x ≥ t, in the thesis iff x ≤ t.",
    ),
)
