"""What a proof ends with: a `Proof`, a `Refuted` claim, or `Unknown` with the reason and the line."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from dpaudit.proofs.scopes import Stated


@dataclass(frozen=True)
class Place:
    """A line of the program.

    Args:
        file: its name, without folders.
        line: its number, from 1.
        source: its text, stripped.
    """

    file: str
    line: int
    source: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class NoiseLine:
    """How far the draws of one line of noise move in the alignment.

    Args:
        place: the line that draws.
        noise: the distribution, such as "Laplace(20)", or the mechanism.
        shifts: the distinct shifts over all paths and differences of D and D′, ascending; none for a mechanism that is
            proved by itself.
        cost: the largest cost of this line's draws on one path, in units of ε; of Gaussian noise, of μ².
    """

    place: Place
    noise: str
    shifts: tuple[Fraction, ...]
    cost: Fraction

    @property
    def is_gaussian(self) -> bool:
        """Whether it is Gaussian noise."""
        return self.noise.startswith("Normal(")


@dataclass(frozen=True)
class LowerBound:
    """A lower confidence bound on a program's ε, from samples of one pair.

    Args:
        epsilon: of the bound.
        pair: D and D′.
        event: the outputs that are counted, in words.
        counts: outputs in the event on D and on D′.
        samples: samples of each of the two datasets.
        confidence: such as 0.999.
    """

    epsilon: float
    pair: tuple[Any, Any]
    event: str
    counts: tuple[int, int]
    samples: int
    confidence: float


@dataclass(frozen=True)
class Proof:
    """The claim holds for every dataset of the scope.

    Args:
        epsilon: the program is ε-DP with this ε, which is at most the claimed one; beside Gaussian noise, that of the
            rest.
        claimed: the claimed ε.
        program: its name.
        scope: the datasets and neighbours, in words.
        alignment: how the noise moves, line by line.
        paths: execution paths that were aligned.
        assumptions: what the proof takes for granted.
        certificate: what `check_certificate` verifies, as JSON values.
        goal: the claim where it is no ε alone, such as "(1, 1e-05)-DP" or "0.1-zCDP"; "" otherwise.
        mu_squared: μ² of the Gaussian noise: the program is a composition of an ε-DP and a μ-GDP one.
        rho: where the claim is of zCDP, or follows by it: the program is ρ-zCDP.
        lower: what ε is at least, where that was asked for and found.
        stated: the queries and quality functions whose stated sensitivities are among the assumptions.
        seconds: time taken.
    """

    epsilon: Fraction
    claimed: Fraction
    program: str
    scope: str
    alignment: tuple[NoiseLine, ...]
    paths: int
    assumptions: tuple[str, ...]
    certificate: dict[str, Any] = field(repr=False)
    goal: str = ""
    mu_squared: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    lower: LowerBound | None = None
    stated: tuple[Stated, ...] = field(compare=False, repr=False, default=())
    seconds: float = field(compare=False, default=0.0)


@dataclass(frozen=True)
class Refuted:
    """The claim is violated: an event is more likely on D than ε allows.

    Args:
        epsilon: lower confidence bound on ε.
        claimed: the claimed ε.
        program: its name.
        scope: the datasets and neighbours, in words.
        pair: D and D′.
        event: the outputs that are counted, in words.
        counts: outputs in the event on D and on D′.
        samples: samples of each of the two datasets.
        confidence: of the bound, such as 0.999.
        least: the least ε that the alignment can prove; None where there is none at all.
        seconds: time taken.
    """

    epsilon: float
    claimed: Fraction
    program: str
    scope: str
    pair: tuple[Any, Any]
    event: str
    counts: tuple[int, int]
    samples: int
    confidence: float
    least: Fraction | None
    seconds: float = field(compare=False, default=0.0)


@dataclass(frozen=True)
class Unknown:
    """Neither proved nor refuted.

    Args:
        reason: one sentence.
        remedy: what to try; "" where there is nothing to advise.
        place: the line that could not be followed; None where there is none.
        claimed: the claimed ε.
        program: its name.
        scope: the datasets and neighbours, in words.
        least: the least ε that the alignment can prove; None where none was found.
        goal: as of a `Proof`.
        seconds: time taken.
    """

    reason: str
    remedy: str
    place: Place | None
    claimed: Fraction
    program: str
    scope: str
    least: Fraction | None = None
    goal: str = ""
    seconds: float = field(compare=False, default=0.0)


Outcome: TypeAlias = Proof | Refuted | Unknown


class Unsupported(Exception):
    """The program cannot be followed on symbols; ends in `Unknown`.

    Args:
        reason: one sentence, without the line.
        remedy: what to try.
        place: the line; filled in by the interpreter where the code that raises does not know it.
    """

    def __init__(self, reason: str, remedy: str = "", place: Place | None = None) -> None:
        super().__init__(reason)
        self.reason, self.remedy, self.place = reason, remedy, place
