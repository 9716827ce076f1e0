"""Replay a mechanism's generator along a path of draws; shared by the three interpreters.

A generator cannot be copied, so a new path restarts the program and sends it the draws made so far. That is sound
only if the generator is a function of its dataset and draws; every replay checks that the program requests the same
draws again, and a `Watch` reruns some finished paths.
"""

from __future__ import annotations

import ctypes
import random
import threading
from collections.abc import Generator, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from numpy.random import MT19937
from numpy.random.mtrand import get_bit_generator

from dpaudit.errors import DpauditError, MechanismError, NondeterministicMechanismError
from dpaudit.language import Applied, Distribution, Draw, Mechanism
from dpaudit.language.distributions import Then
from dpaudit.outputs.canonical import Outcome, Output, Raised, as_sent
from dpaudit.outputs.failures import raised
from dpaudit.outputs.fingerprint import fingerprint
from dpaudit.outputs.form import SEVERAL


@dataclass(frozen=True)
class Last:
    """The end of a path: an output, or the distribution or applied mechanism that the output is drawn from."""

    value: Output


class Step(NamedTuple):
    """One draw of a path: its node and its value."""

    image: Hashable
    value: Output


Path = tuple[Step, ...]
_NOT_ITS_OWN = (DpauditError, MemoryError, RecursionError)
"""Exceptions that do not depend on the program's logic."""
_QUIET = frozenset({"dpaudit-parent", "ExecutorManagerThread", "QueueFeederThread"})
"""Threads beside worker processes of this machine, which draw nothing."""
_MT19937 = 624 * 4 + 4
"""Bytes of the state of numpy's Mersenne Twister: its words and its position."""
_REPLAYS = 10
"""Replays all of which must draw from the generator of `random`, where other threads may."""


class Run:
    """One execution of a mechanism's program along a path of draws.

    Args:
        mechanism: the mechanism to run.
        dataset: the dataset to run it on.
        path: draws already made; they are sent to the generator at once.

    Raises:
        NondeterministicMechanismError: the program requests different draws than before on the same path.
        MechanismError: the program yielded something other than a draw, or caught the failure of a sub-mechanism.

    If the program raises, the path ends there: the failure is its output, which an attacker sees. dpaudit's own errors,
    and errors for lack of memory or stack, propagate.
    """

    def __init__(self, mechanism: Mechanism, dataset: object, path: Path = ()) -> None:
        self._mechanism = mechanism
        self._program: Generator[Draw, Output, Output] | None = None
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
                raise nondeterministic(mechanism, f"draw {len(self.path) + 1} was different")
            self.send(step.value, step.image)

    def send(self, value: Output, image: Hashable | None = None) -> None:
        """Continue with the value of the current draw."""
        self.path = (*self.path, Step(fingerprint(self.node) if image is None else image, value))
        # only its type: a symbolic draw (`released`) must not be asked what it is
        if type(value) is Raised:
            self._fail(value)
        else:
            self._advance(as_sent(value))

    def _fail(self, failure: Raised) -> None:
        """The draw is a sub-mechanism that raised: raise at its place in this program."""
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
                    f"{self._mechanism.name} raises {type(error).__name__} in place of the {failure.error} of a "
                    "sub-mechanism, whose message varies; make the sub-mechanism always fail with the same message."
                ) from None
            if error is not failure.cause:
                # its own exception in place of the sub-mechanism's
                self.node = Last(_failure(self._mechanism, error))
            failure.cause.__traceback__ = failure.cause.__context__ = None
            return
        raise MechanismError(
            f"{self._mechanism.name} catches the {failure.error} of a sub-mechanism (draw {len(self.path)}), which is "
            "not supported; make the sub-mechanism return a value, such as None, instead of failing."
        )

    def _advance(self, value: Output, *, first: bool = False) -> None:
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
                f"{self._mechanism.name} yielded {in_short(node)}, which is neither a distribution nor an applied "
                f"mechanism (draw {len(self.path) + 1}); yield a distribution, or `mechanism.on(data)`."
            )
        self.node = node


class Watch:
    """Checks, while the paths of programs are walked, that each is a function of its dataset and draws.

    Of the finished paths of each program the 1st, 2nd, 4th, 8th, … is immediately run again, and the first once more at
    the end. This detects counters, growing state and generators of their own with few replays. Where other threads run,
    they may have drawn from the generator of `random` (dask does in its workers): it was a mechanism if every further
    replay draws.

    Args:
        mechanism: the one that is run; those that it applies are watched with it.

    Raises:
        NondeterministicMechanismError: from `finished` and `close`.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self._before = _global_generators()
        self._finished: dict[Hashable, int] = {}
        self._checked: dict[Hashable, list[_Finished]] = {}

    def finished(self, mechanism: Mechanism, dataset: object, run: Run) -> None:
        """Called when a path of a mechanism is finished."""
        program = type(mechanism), mechanism.name
        paths = self._finished[program] = self._finished.get(program, 0) + 1
        if paths & (paths - 1):
            return
        path = _Finished(mechanism, dataset, run.path, fingerprint(run.node))
        self._checked.setdefault(program, []).append(path)
        path.again()

    def close(self) -> None:
        """Called when all paths are finished."""
        for program, paths in self._finished.items():
            if paths > 1:
                self._checked[program][0].again()
        now = _global_generators()
        if now == self._before:
            return
        if now[1:] != self._before[1:] or self._draws():
            raise nondeterministic(
                self._drawing(), "it drew from the global generator of `random` or `numpy.random`"
            )

    def _draws(self) -> bool:
        """Whether it was a mechanism that drew from the generator of `random`."""
        if all(thread is threading.current_thread() or thread.name in _QUIET for thread in threading.enumerate()):
            return True
        return all(self._drawn(self._again()) for _ in range(_REPLAYS))

    def _drawing(self) -> Mechanism:
        """The mechanism that drew from a global generator, if it does so again."""
        for path in self._again():
            if self._drawn([path]):
                return path.mechanism
        return self.mechanism

    def _again(self) -> Iterator[_Finished]:
        return (path for paths in self._checked.values() for path in paths)

    def _drawn(self, paths: Iterable[_Finished]) -> bool:
        """Whether a global generator moves while these paths are run again."""
        before = _global_generators()
        for path in paths:
            path.again()
        return _global_generators() != before


@dataclass(frozen=True)
class _Finished:
    """A finished path, with the fingerprint of its end."""

    mechanism: Mechanism
    dataset: object
    path: Path
    end: Hashable

    def again(self) -> None:
        """Run it again.

        Raises:
            NondeterministicMechanismError: it ends otherwise.
        """
        run = Run(self.mechanism, self.dataset, self.path)
        if fingerprint(run.node) != self.end:
            raise ended_otherwise(self.mechanism, run.node)


class blaming:
    """Attribute errors to the mechanism: those of functions that it maps, of continuations, of its `bulk`.

    Raises:
        MechanismError: in place of any error that is not dpaudit's own.
    """

    __slots__ = ("_mechanism",)

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, DpauditError):
            raise _blame(self._mechanism, error) from error


def continued(draw: Then, value: Output) -> Output:
    """The continuation of a draw on a value: a draw, an output, or a failure, which is an output."""
    if type(value) is Raised:
        return value
    try:
        return draw.continuation(value)
    except _NOT_ITS_OWN:
        raise
    except Exception as error:
        return raised(error)


def refuse_failures(name: str, outcomes: Iterable[Outcome]) -> None:
    """Raise if an outcome of a mechanism is a failure; for uses where a failure is an error, not an output.

    Raises:
        MechanismError: an outcome is a failure.
    """
    for outcome in outcomes:
        if type(outcome) is Raised:
            raise MechanismError(f"{name} raised {outcome.where.rstrip('.')}.")


def _failure(mechanism: Mechanism, error: Exception) -> Raised:
    """The failure for an exception of the program; reraises exceptions that are not the program's own."""
    if isinstance(error, DpauditError):
        raise error
    if isinstance(error, _NOT_ITS_OWN):
        raise _blame(mechanism, error) from error
    return raised(error)


def _global_generators() -> tuple[Hashable, ...]:
    # the states of the global generators, which must not be used; numpy's getter takes 50 µs, reading its memory one
    bits = get_bit_generator()
    if type(bits) is not MT19937:
        return random.getstate(), repr(bits.state)
    # the legacy generator keeps every second normal, so that one draw may not change the bits, but two do
    return random.getstate(), ctypes.string_at(bits.ctypes.state_address, _MT19937)


def _blame(mechanism: Mechanism, error: Exception) -> MechanismError:
    return MechanismError(f"{mechanism.name} raised {type(error).__name__}: {error}")


def in_short(node: object) -> str:
    """What a program draws, for a message: its repr, without the middle where it is long."""
    text = repr(node)
    return text if len(text) <= 120 else f"{text[:70]} … {text[-40:]}"


def ended_otherwise(mechanism: Mechanism, node: object) -> NondeterministicMechanismError:
    """The error for a program that did this in a rerun, where it had ended with something else."""
    ended = isinstance(node, Last)
    return nondeterministic(mechanism, "its output was different" if ended else "it requested another draw")


def nondeterministic(mechanism: Mechanism, what: str) -> NondeterministicMechanismError:
    """The error for a program that did something else in a rerun."""
    return NondeterministicMechanismError(
        f"{mechanism.name} is not a function of its dataset and its draws: when rerun with the same draws, {what}; "
        "yield every use of randomness, and keep no state between runs."
    )
