"""Replaying a mechanism's generator along a path of draws: what the three interpreters share.

A generator cannot be copied, so a new path starts the text again and is sent the draws made so far. That is sound
only if the generator is a function of its dataset and draws; every replay checks that the same draws are asked for
again, and `audit_determinism` runs one path twice.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import DpauditError, MechanismError, NondeterministicMechanismError
from dpaudit.language import Applied, Distribution, Mechanism
from dpaudit.language.fingerprint import fingerprint


@dataclass(frozen=True)
class Last:
    """The end of a path: an output, or the distribution or application that the output is drawn from."""

    value: Any


@dataclass(frozen=True)
class Step:
    """One draw of a path: which draw it was, and what came."""

    image: Hashable
    value: Any


Path = tuple[Step, ...]


class Run:
    """One execution of a mechanism's text along a path of draws.

    Args:
        mechanism: what to run.
        dataset: on what.
        path: draws already made; they are sent to the generator at once.

    Raises:
        NondeterministicMechanismError: the text asks for other draws than it did before on the same path.
        MechanismError: the text raised.
    """

    def __init__(self, mechanism: Mechanism, dataset: Any, path: Path = ()) -> None:
        self._mechanism = mechanism
        self._program: Generator[Any, Any, Any] | None = None
        self.path: Path = ()
        try:
            started = mechanism.run(dataset)
        except Exception as error:
            raise _blame(mechanism, error) from error
        self.node: Distribution | Applied | Last
        if isinstance(started, Generator):
            self._program = started
            self._advance(None, first=True)
        else:
            self.node = Last(started)
        for step in path:
            if isinstance(self.node, Last) or fingerprint(self.node) != step.image:
                raise _nondeterministic(mechanism, f"draw {len(self.path) + 1} was another one")
            self.send(step.value, step.image)

    def send(self, value: Any, image: Hashable | None = None) -> None:
        """Go on with the value that the present draw gave."""
        self.path = (*self.path, Step(fingerprint(self.node) if image is None else image, value))
        self._advance(value)

    def _advance(self, value: Any, *, first: bool = False) -> None:
        assert self._program is not None
        try:
            node = next(self._program) if first else self._program.send(value)
        except StopIteration as stop:
            self.node = Last(stop.value)
            return
        except Exception as error:
            raise _blame(self._mechanism, error) from error
        if not isinstance(node, Distribution | Applied):
            raise MechanismError(
                f"{self._mechanism.name} yielded {node!r}, which is neither a distribution nor an applied mechanism "
                f"(draw {len(self.path) + 1}); yield a distribution, or `mechanism.on(data)`."
            )
        self.node = node


def audit_determinism(mechanism: Mechanism, dataset: Any, path: Path) -> None:
    """Run one finished path twice more and compare what it asks for and how it ends.

    Raises:
        NondeterministicMechanismError: the two differ, or the text used a global random number generator.
    """
    before = _global_generators()
    ends = [fingerprint(_end(mechanism, dataset, path)) for _ in range(2)]
    if ends[0] != ends[1]:
        raise _nondeterministic(mechanism, "its output was another one")
    if _global_generators() != before:
        raise _nondeterministic(mechanism, "it drew from the global generator of `random` or `numpy.random`")


def _end(mechanism: Mechanism, dataset: Any, path: Path) -> Any:
    run = Run(mechanism, dataset, path)
    if not isinstance(run.node, Last):
        raise _nondeterministic(mechanism, "it asked for a further draw")
    return run.node.value


def _global_generators() -> Hashable:
    legacy = np.random.get_state(legacy=True)  # noqa: NPY002 - the generator that must not have been used
    return (random.getstate(), fingerprint(legacy))


def _blame(mechanism: Mechanism, error: Exception) -> DpauditError:
    if isinstance(error, DpauditError):
        return error
    return MechanismError(f"{mechanism.name} raised {type(error).__name__}: {error}")


def _nondeterministic(mechanism: Mechanism, what: str) -> NondeterministicMechanismError:
    return NondeterministicMechanismError(
        f"{mechanism.name} is not a function of its dataset and its draws: replayed with the same draws, {what}; "
        "yield every use of randomness, and keep no state between runs."
    )
