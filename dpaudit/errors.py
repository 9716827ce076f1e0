"""Every error that dpaudit raises on purpose, in one tree.

Each message is one sentence that says what was wrong, where, and what to do; each class knows the exit
code of the command line (0 no FAIL, 1 some FAIL, 2 usage or configuration, 3 some INCONCLUSIVE,
4 a mechanism or dpaudit itself crashed, 130 interrupted).
"""

from __future__ import annotations

from typing import ClassVar

from dpaudit.extras import install_command
from dpaudit.options import Door, Option


class DpauditError(Exception):
    """Base of all errors that are somebody's mistake rather than a bug of dpaudit.

    Args:
        text: one sentence; where there are values, each `{}` in it stands for one of them.
        values: options, which every front end names in its own way, errors that name options, and texts and numbers.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, text: str, *values: object) -> None:
        self._text, self._values = text, values
        super().__init__(self.at("command line"))

    def at(self, door: Door) -> str:
        """The sentence, with options named as this front end does."""
        return self._text.format(*(_named(value, door) for value in self._values)) if self._values else self._text

    def __reduce__(self) -> tuple[object, ...]:
        """For another process: the message as it is, whatever `__init__` makes it from."""
        return _rebuilt, (type(self), self.args, self.__dict__)


def _named(value: object, door: Door) -> object:
    match value:
        case Option():
            return value.called(door)
        case DpauditError():
            return value.at(door)
    return value


def _rebuilt(kind: type[DpauditError], args: tuple[object, ...], fields: dict[str, object]) -> DpauditError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


class UsageError(DpauditError):
    """A name, option or value from the user cannot be used as given."""


class UnknownNameError(UsageError):
    """A name matches nothing; carries the closest matches."""

    def __init__(self, kind: str, name: str, closest: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.name = name
        self.closest = closest
        everything = " `dpaudit list` shows all names." if kind == "algorithm" else ""
        hint = f" Did you mean {' or '.join(closest)}?" if closest else everything
        super().__init__(f"There is no {kind} called {name!r}.{hint}")


class ClusterError(DpauditError):
    """A cluster cannot be used, or does not answer any more."""


class ParameterError(UsageError, ValueError):
    """A parameter of a mechanism, distribution, claim or relation is outside its range."""


class DatasetError(UsageError, ValueError):
    """A dataset cannot be read, is of the wrong form, or does not suit the mechanism."""


class PairError(UsageError, ValueError):
    """Two datasets are not related by the claim's neighbouring relation."""


class MissingPackageError(UsageError, ImportError):
    """A part of dpaudit needs a package that comes with an extra, and it is not installed."""

    def __init__(self, part: str, package: str, extra: str) -> None:
        super().__init__(f"{part} needs {package}, which is not installed: run {install_command(extra)}.")


class ReportError(UsageError):
    """A report or result file cannot be read or written."""


class WriterError(ReportError):
    """A report could not be made, by a bug of dpaudit's own; the other reports were."""

    exit_code: ClassVar[int] = 4

    def __init__(self, option: str, path: str, cause: Exception) -> None:
        super().__init__(
            f"Cannot write {option} {path}: dpaudit itself failed ({type(cause).__name__}: {cause}); "
            "DPAUDIT_TRACEBACK=1 shows where."
        )


class NotEnumerableError(DpauditError):
    """The exact law was asked for, and a draw on the way cannot be enumerated."""


class MechanismError(DpauditError):
    """A mechanism raised, or behaved in a way that makes its runs unusable."""

    exit_code: ClassVar[int] = 4


class NondeterministicMechanismError(MechanismError):
    """A generator is not a function of its dataset and its draws."""


class SymmetryError(MechanismError):
    """A mechanism declares a symmetry that it does not have."""


class OutputError(MechanismError):
    """A mechanism returned something that cannot be compared or counted."""


class TimeLimitError(DpauditError):
    """A mechanism did not return within the time limit."""

    exit_code: ClassVar[int] = 3


class NoMoreOutputsError(DpauditError):
    """A stream of recorded outputs ended before the audit had all that it was to use."""


class InternalError(DpauditError):
    """A bug of dpaudit's own."""

    exit_code: ClassVar[int] = 4

    def __init__(self, what: str) -> None:
        super().__init__(f"dpaudit itself failed ({what}); DPAUDIT_TRACEBACK=1 shows where.")
