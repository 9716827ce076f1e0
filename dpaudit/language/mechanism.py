"""Mechanisms: the algorithm as a program, with every use of randomness a `yield`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from dpaudit.language.card import Card
from dpaudit.language.checks import Checked
from dpaudit.language.claim import Claim
from dpaudit.language.distributions import Distribution
from dpaudit.language.records import Record
from dpaudit.language.symmetry import Symmetry
from dpaudit.language.utility import SampleSize, UtilityClaim
from dpaudit.outputs.canonical import Output


class Mechanism(Checked, ABC):
    """A randomised algorithm, as a frozen dataclass of its parameters.

    `run(dataset)` is a generator that yields distributions and applied mechanisms and receives the drawn values. It
    may return an output, a distribution (the last draw) or an applied mechanism (a tail call). It must depend only on
    the dataset and its draws, because the interpreters replay it. A mechanism with a single draw may return it from a
    plain function.

    A subclass may add `bulk(dataset, size, rng)`, which returns `size` outputs at once, for algorithms whose
    continuous draws feed later ones; a contract test compares it with `run`. A subclass that knows its density may add
    `log_density(dataset, outputs)`: outputs of shape (r, d) or (r,) → their log densities (or log probabilities) on
    the dataset, shape (r,), −inf where impossible; the search for distinguishing events then orders outputs by the true
    likelihood ratio.
    """

    card: ClassVar[Card | None] = None

    @abstractmethod
    def run(self, dataset: Any) -> Program | Draw | Hashable:
        """The algorithm."""

    @property
    def claim(self) -> Claim | None:
        """The privacy claim of this instance; None if nothing is claimed."""
        return None

    def group_claim(self, k: int) -> Claim | None:
        """The source's claim for groups of k records; None if nothing is claimed.

        By default Theorem 3.7 applied to the claim for neighbours (`Claim.group`). A mechanism whose source prints
        another claim about groups overrides this method; audits of groups test the overriding claim.

        Args:
            k: ≥ 1; the claim for groups of 1 is `claim`.
        """
        return None if self.claim is None else self.claim.group(k)

    def symmetries(self, domain: Sequence[Record]) -> tuple[Symmetry, ...]:
        """Exchanges of records that leave the mechanism unchanged; each needs a proof where it is declared.

        `dpaudit verify` confirms them on some datasets, then computes one output distribution for all datasets that
        they map to each other. A subclass that overrides `run` does not inherit them.

        Args:
            domain: the records that occur, distinct.
        """
        return ()

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """The source's utility guarantees on this number of records, with the printed probabilities; () if none."""
        return ()

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The printed sample sizes of the utility guarantees, with this instance's parameters."""
        return ()

    def on(self, dataset: object) -> Applied:
        """This mechanism applied to data; another mechanism yields it to use it as a subroutine."""
        return Applied(self, dataset)

    @property
    def name(self) -> str:
        """The card's name, or the class's."""
        return self.card.name if self.card is not None else type(self).__name__


@dataclass(frozen=True)
class Applied:
    """A mechanism applied to a dataset, to be drawn from."""

    mechanism: Mechanism
    dataset: object


Draw: TypeAlias = Distribution | Applied
Program: TypeAlias = Generator[Draw, Output, Output]
