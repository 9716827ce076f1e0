"""Replaying a mechanism's generator along a path of draws: what the three interpreters share.

A generator cannot be copied, so a new path starts the text again and is sent the draws made so far. That is sound
only if the generator is a function of its dataset and draws; every replay checks that the same draws are asked for
again, and a `Watch` runs some finished paths once more.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.errors import DpauditError, MechanismError, NondeterministicMechanismError
from dpaudit.language import Applied, Distribution, Mechanism
from dpaudit.language.distributions import Then
from dpaudit.outputs.canonical import Raised, as_sent
from dpaudit.outputs.failures import raised
from dpaudit.outputs.fingerprint import fingerprint
from dpaudit.outputs.form import SEVERAL


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
_NOT_ITS_OWN = (DpauditError, MemoryError, RecursionError)
"""Exceptions that say nothing about what the text does."""


class Run:
    """One execution of a mechanism's text along a path of draws.

    Args:
        mechanism: what to run.
        dataset: on what.
        path: draws already made; they are sent to the generator at once.

    Raises:
        NondeterministicMechanismError: the text asks for other draws than it did before on the same path.
        MechanismError: the text yielded something else than a draw, or it caught the failure of a sub-mechanism.

    A path on which the text raises ends there: the failure is its output, which an attacker sees. Errors of dpaudit's
    own, and lack of memory or stack, are none of the text's and go on.
    """

    def __init__(self, mechanism: Mechanism, dataset: Any, path: Path = ()) -> None:
        self._mechanism = mechanism
        self._program: Generator[Any, Any, Any] | None = None
        self.path: Path = ()
        self.node: Distribution | Applied | Last
        try:
            started = mechanism.run(dataset)
        except Exception as error:
            started = _failure(mechanism, error)
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
        # its type alone: a draw that stands for all its values (`released`) must not be asked what it is
        if type(value) is Raised:
            self._fail(value)
        else:
            self._advance(as_sent(value))

    def _fail(self, failure: Raised) -> None:
        """The draw is a sub-mechanism that raised: so does this one, where the sub-mechanism stands."""
        assert self._program is not None
        self.node = Last(failure)
        if failure.cause is None:
            self._program.close()
            return
        try:
            self._program.throw(failure.cause.with_traceback(None))
        except StopIteration:
            pass
        except Exception as error:
            if error is not failure.cause and failure.message.startswith(SEVERAL):
                raise MechanismError(
                    f"{self._mechanism.name} raises {type(error).__name__} in place of {failure.error} of a "
                    "sub-mechanism, whose message varies; let the sub-mechanism fail with one message."
                ) from None
            if error is not failure.cause:
                # an exception of its own in place of that one
                self.node = Last(_failure(self._mechanism, error))
            failure.cause.__traceback__ = failure.cause.__context__ = None
            return
        raise MechanismError(
            f"{self._mechanism.name} catches {failure.error} of a sub-mechanism (draw {len(self.path)}), which cannot "
            "be followed; let the sub-mechanism return a value, such as None, where it fails."
        )

    def _advance(self, value: Any, *, first: bool = False) -> None:
        assert self._program is not None
        try:
            node = next(self._program) if first else self._program.send(value)
        except StopIteration as stop:
            self.node = Last(stop.value)
            return
        except Exception as error:
            self.node = Last(_failure(self._mechanism, error))
            return
        if not isinstance(node, Distribution | Applied):
            raise MechanismError(
                f"{self._mechanism.name} yielded {node!r}, which is neither a distribution nor an applied mechanism "
                f"(draw {len(self.path) + 1}); yield a distribution, or `mechanism.on(data)`."
            )
        self.node = node


class Watch:
    """Checks, while the paths of a text are walked, that it is a function of its dataset and draws.

    The 1st, 2nd, 4th, 8th, … finished path is run once more at once, and the first again at the end, so that a
    fresh generator, a counter and a state that grows are seen at the price of few replays.

    Raises:
        NondeterministicMechanismError: from `finished` and `close`.
    """

    def __init__(self, mechanism: Mechanism, dataset: Any) -> None:
        self._mechanism = mechanism
        self._dataset = dataset
        self._before = _global_generators()
        self._paths = 0
        self._first: tuple[Path, Hashable] = ((), None)

    def finished(self, run: Run) -> None:
        """A path has come to its end."""
        self._paths += 1
        if self._paths & (self._paths - 1):
            return
        end = fingerprint(run.node)
        if self._paths == 1:
            self._first = (run.path, end)
        self._again(run.path, end)

    def close(self) -> None:
        """All paths have come to their ends."""
        if self._paths > 1:
            self._again(*self._first)
        if _global_generators() != self._before:
            raise _nondeterministic(
                self._mechanism, "it drew from the global generator of `random` or `numpy.random`"
            )

    def _again(self, path: Path, end: Hashable) -> None:
        run = Run(self._mechanism, self._dataset, path)
        if fingerprint(run.node) != end:
            more = not isinstance(run.node, Last)
            raise _nondeterministic(
                self._mechanism, "it asked for a further draw" if more else "its output was another one"
            )


@contextmanager
def blaming(mechanism: Mechanism) -> Iterator[None]:
    """An error inside is the mechanism's: of a function that it maps, a continuation, its `bulk`.

    Raises:
        MechanismError: in place of any error that is not dpaudit's own.
    """
    try:
        yield
    except DpauditError:
        raise
    except Exception as error:
        raise _blame(mechanism, error) from error


def continued(draw: Then, value: Any) -> Any:
    """What follows on a value of a draw: a draw, an output, or a failure, which is an output."""
    if type(value) is Raised:
        return value
    try:
        return draw.continuation(value)
    except _NOT_ITS_OWN:
        raise
    except Exception as error:
        return raised(error)


def refuse_failures(name: str, outcomes: Iterable[Any]) -> None:
    """Refuse outcomes of a mechanism that are failures, where nobody asks what an attacker sees.

    Raises:
        MechanismError: one is.
    """
    for outcome in outcomes:
        if type(outcome) is Raised:
            raise MechanismError(f"{name} raised {outcome.where.rstrip('.')}.")


def _failure(mechanism: Mechanism, error: Exception) -> Raised:
    """The failure that an exception of the text is; raises those that are not the text's own."""
    if isinstance(error, DpauditError):
        raise error
    if isinstance(error, _NOT_ITS_OWN):
        raise _blame(mechanism, error) from error
    return raised(error)


def _global_generators() -> Hashable:
    # the generator that must not have been used: its words, its place in them, and a normal kept for later
    _, words, *rest = np.random.get_state(legacy=True)  # noqa: NPY002
    return (random.getstate(), np.asarray(words).tobytes(), *rest)


def _blame(mechanism: Mechanism, error: Exception) -> MechanismError:
    return MechanismError(f"{mechanism.name} raised {type(error).__name__}: {error}")


def _nondeterministic(mechanism: Mechanism, what: str) -> NondeterministicMechanismError:
    return NondeterministicMechanismError(
        f"{mechanism.name} is not a function of its dataset and its draws: run again with the same draws, {what}; "
        "yield every use of randomness, and keep no state between runs."
    )
