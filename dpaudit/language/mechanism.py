"""Mechanisms: the algorithm's text, with every use of randomness a `yield`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from dpaudit.language.card import Card
from dpaudit.language.checks import Checked
from dpaudit.language.claim import Claim
from dpaudit.language.distributions import Distribution
from dpaudit.language.symmetry import Symmetry
from dpaudit.language.utility import SampleSize, UtilityClaim


class Mechanism(Checked, ABC):
    """A randomised algorithm, as a frozen dataclass of its parameters.

    `run(dataset)` is a generator that yields distributions and applied mechanisms and is sent what they drew; it
    may return an output, a distribution (the last draw) or an applied mechanism (a tail call). It must be a
    function of the dataset and of its draws alone: the interpreters replay it. A mechanism without any draw before
    the last may return it from a plain function.

    A subclass may add `bulk(dataset, size, rng)`, which returns `size` outputs at once, for algorithms whose
    continuous draws feed later ones; a contract test holds it against `run`. One that knows its density may add
    `log_density(dataset, outputs)`: outputs of shape (r, d) or (r,) → their log densities (or log probabilities) on
    the dataset, shape (r,), −inf where impossible; a witness search then orders outputs by the true likelihood ratio.
    """

    card: ClassVar[Card | None] = None

    @abstractmethod
    def run(self, dataset: Any) -> Program | Draw | Hashable:
        """The algorithm."""

    @property
    def claim(self) -> Claim | None:
        """What is claimed of this instance; None where nothing is."""
        return None

    def group_claim(self, k: int) -> Claim | None:
        """What the source claims for groups of k records; None where nothing is claimed.

        That is Theorem 3.7 on the claim for neighbours (`Claim.group`). A mechanism whose source prints another claim
        about groups overrides it, and it is that claim which audits of groups test.

        Args:
            k: ≥ 1; the claim for groups of 1 is `claim`.
        """
        return None if self.claim is None else self.claim.group(k)

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """What may be exchanged in datasets of these records; each needs a proof where it is declared.

        `dpaudit verify` confirms them on some datasets, then computes one law for all datasets that they make equal.
        A subclass with a `run` of its own does not inherit them.

        Args:
            domain: the records that occur, distinct.
        """
        return ()

    def utility(self, records: int) -> tuple[UtilityClaim, ...]:
        """What the source promises of the output on so many records, with the printed probabilities; () for nothing."""
        return ()

    @property
    def sample_sizes(self) -> tuple[SampleSize, ...]:
        """The printed numbers of records from which something is promised, with this instance's parameters."""
        return ()

    def on(self, dataset: Any) -> Applied:
        """This mechanism applied to data: what another mechanism yields to use it."""
        return Applied(self, dataset)

    @property
    def name(self) -> str:
        """The card's name, or the class's."""
        return self.card.name if self.card is not None else type(self).__name__


@dataclass(frozen=True)
class Applied:
    """A mechanism applied to a dataset, to be drawn from."""

    mechanism: Mechanism
    dataset: Any


Draw: TypeAlias = Distribution | Applied
Program: TypeAlias = Generator[Draw, Any, Any]
