"""Queries with a stated sensitivity: what the Laplace mechanism and the sparse vector techniques answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from dpaudit.language.checks import Checked
from dpaudit.language.symmetry import Symmetry


class Query(Checked, ABC):
    """f: X^n → ℝ^ℓ: a frozen dataclass called on a dataset."""

    @property
    @abstractmethod
    def sensitivity(self) -> float:
        """k: the largest L1 distance of the answers on two neighbours under replace-one.

        Source: Stemmer's thesis, Definition 3.24.
        """

    @property
    def coordinates(self) -> int:
        """ℓ."""
        return 1

    @abstractmethod
    def __call__(self, dataset: Any) -> tuple[float, ...]:
        """f(dataset), shape (ℓ,)."""

    def symmetries(self, domain: Sequence[Any]) -> tuple[Symmetry, ...]:
        """Of the answers: f(record(S)) = output(f(S)), where `output` permutes coordinates."""
        return ()
