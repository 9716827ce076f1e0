"""Games against anybody's mechanism or function: the subject is wrapped, and audited on the game's two datasets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from numpy.random import Generator

from dpaudit.adversary import Pair
from dpaudit.errors import UsageError
from dpaudit.language import Dataset, Distribution, Game, Mechanism, Output
from dpaudit.options import GAME
from dpaudit.plans import registry
from dpaudit.subjects.target import function_target, instantiate


@dataclass(frozen=True)
class Play:
    """A game that is wanted, as "digit:2" writes it.

    Args:
        name: of the registered game.
        n: its size, the field `n`.
    """

    name: str
    n: int

    @classmethod
    def parse(cls, text: str) -> Play:
        """From the form "name:n".

        Raises:
            UsageError: it is of another form.
        """
        name, colon, n = text.partition(":")
        if not colon or not name or not n.isdecimal():
            raise UsageError("{} takes NAME:N, e.g. digit:2, not {!r}.", GAME, text)
        return cls(name, int(n))

    def against(self, subject: Mechanism | Callable[..., object], name: str) -> Game:
        """The game with this subject.

        Raises:
            UnknownNameError: there is no such game.
            ParameterError: it refuses the subject or the size.
        """
        mechanism = subject if isinstance(subject, Mechanism) else Called(subject, name)
        return instantiate(registry.game(self.name), {"subject": mechanism, "n": self.n})

    @property
    def pair(self) -> Pair:
        """Its two datasets."""
        return Pair(*Game.sides, f"game {self.name}, n = {self.n}", "given")


@dataclass(frozen=True)
class Called(Mechanism):
    """A function of the user's own as a mechanism: its output is one draw."""

    function: Callable[..., object]
    label: str

    def run(self, dataset: Dataset) -> Distribution:
        return _Call(self.function, tuple(dataset), self.label)

    @property
    def name(self) -> str:
        """The function's."""
        return self.label


@dataclass(frozen=True)
class _Call(Distribution):
    """What a function returns on a dataset."""

    function: Callable[..., object]
    dataset: tuple[object, ...] = field(repr=False)
    label: str

    def draw(self, rng: Generator, size: int) -> Output:
        target = function_target(self.function, self.label, "")
        if target.vectorised:
            return self.function(list(self.dataset), rng, size)
        return [self.function(list(self.dataset), rng) for _ in range(size)]

    @property
    def remedy(self) -> str:
        return "the output distribution of a function is unknown; write it as a Mechanism"
