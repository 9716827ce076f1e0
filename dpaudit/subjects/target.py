"""What is audited: a mechanism, or anybody's function, behind one interface."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import difflib
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, ClassVar, TypeAlias, TypeVar

import cloudpickle
import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from dpaudit.errors import DatasetError, DpauditError, MechanismError, OutputError, ParameterError, UsageError
from dpaudit.interpret import Drawn, Outputs, Tally, counted, merged, summed
from dpaudit.interpret.known_paths import KnownPaths
from dpaudit.interpret.sample import sample_along
from dpaudit.language import Card, Dataset, Mechanism, Output, Record
from dpaudit.language.containers import Container
from dpaudit.language.relation import plain_records
from dpaudit.options import CALL_TIME, PARAMETERS, PERSISTENT
from dpaudit.outputs.canonical import TookLonger
from dpaudit.outputs.failures import frames, raised
from dpaudit.outputs.form import row_form
from dpaudit.subjects.block_seeds import block_seeds
from dpaudit.subjects.call_time import called_within
from dpaudit.subjects.command import Command, Single
from dpaudit.subjects.foreign import FUNCTION_FORMS, USER_MODULE, class_name, refused_call
from dpaudit.subjects.recorded import RecordedTarget
from dpaudit.subjects.stated import is_portable
from dpaudit.subjects.user_errors import described, guarded, sentence
from dpaudit.supervision import importing

_Made = TypeVar("_Made")
BLOCK = 10
"""Outputs of calls one after another that share a random stream; the first of them are kept apart, to be repeated."""
LARGE_BLOCK = 100_000
"""Outputs of one call that share a random stream."""
PIECE = 1_000
"""Outputs that are there at once where they are only counted, unless one call gives more."""


def blocks(size: int, seed: SeedSequence, first: int, block: int) -> Iterator[tuple[int, SeedSequence]]:
    """(number of outputs, seed) of each block, so that outputs do not depend on which of them are made together.

    Args:
        size: number of outputs.
        seed: of the first block of all.
        first: how many outputs of this seed come before these: a multiple of `block`.
        block: outputs of a block; the last one may have fewer.
    """
    starts = range(first, first + size, block)
    for at, own in zip(starts, block_seeds(seed, range(first // block, first // block + len(starts))), strict=True):
        yield min(block, first + size - at), own


@dataclasses.dataclass(frozen=True)
class Unit:
    """Some runs on one dataset, with a seed of their own.

    Args:
        dataset: the argument of the runs.
        runs: how many.
        seed: of the first block of runs (`target.blocks`).
        first: runs of the same seed that come before these.
        count: counts an event in the outputs, of which only the counts are wanted then.
    """

    dataset: Dataset
    runs: int
    seed: SeedSequence
    first: int = 0
    count: Callable[[Outputs], int] | None = None


@dataclasses.dataclass(frozen=True)
class MechanismTarget:
    """A mechanism in dpaudit's language under audit; it has output distributions, a ledger and a card.

    Args:
        name: as in reports.
        source: paper and theorem, or where the mechanism is defined.
        subject: the mechanism.
    """

    name: str
    source: str
    subject: Mechanism
    portable: ClassVar[bool] = True
    block: ClassVar[int] = LARGE_BLOCK
    _known: KnownPaths = dataclasses.field(default_factory=KnownPaths, init=False, compare=False, repr=False)

    @property
    def shown(self) -> str:
        """The mechanism with its parameters, for reports."""
        return repr(self.subject)

    @property
    def card(self) -> Card | None:
        """What is known of it beside its program."""
        return self.subject.card

    def runs(self, dataset: Dataset, size: int, seed: SeedSequence, first: int = 0) -> Outputs:
        """`size` independent outputs; what the mechanism prints goes to stderr.

        Args:
            first: how many outputs of the same seed come before these: a multiple of `block`.

        Raises:
            MechanismError: it raised.
            OutputError: what it returned cannot be counted.
        """
        with guarded(self.name):
            known = self._known.on(dataset)
            parts = [
                sample_along(known, self.subject, dataset, number, seed=own)
                for number, own in blocks(size, seed, first, self.block)
            ]
            return merged(parts, strict=True)


@dataclasses.dataclass(frozen=True)
class FunctionTarget:
    """A function under audit, of which only samples are known.

    Args:
        name: as in reports.
        source: where the function is defined.
        subject: a function of one of the forms above.
        vectorised: whether the function takes a size.
    """

    name: str
    source: str
    subject: Callable[..., object]
    vectorised: bool = False
    call_time: float | None = None
    """Of a function that takes no size: how long one call may take; what takes longer is an outcome."""
    container: Container | None = None
    """What the records are handed over in; a list without one."""
    card: ClassVar[None] = None

    @property
    def shown(self) -> str:
        """What reports call the function."""
        return self.name

    @property
    def block(self) -> int:
        """Outputs that share a random stream."""
        return LARGE_BLOCK if self.vectorised else BLOCK

    @property
    def portable(self) -> bool:
        """Whether it can be run in worker processes."""
        return is_portable(self.subject)

    def runs(self, dataset: Dataset, size: int, seed: SeedSequence, first: int = 0) -> Outputs:
        """`size` independent outputs; what the function prints goes to stderr.

        Args:
            first: how many outputs of the same seed come before these: a multiple of `block`.

        Raises:
            MechanismError: it raised for all samples at once.
            OutputError: what it returned cannot be counted.
        """
        with guarded(self.name):
            parts = blocks(size, seed, first, self.block)
            return self._at_once(dataset, parts) if self.vectorised else self._one_by_one(dataset, parts)

    def _at_once(self, dataset: Dataset, parts: Iterable[tuple[int, SeedSequence]]) -> Outputs:
        given, drawn = self.given(dataset), []
        for number, seed in parts:
            tally, rows = Tally(), self.rows(self._several(given(), default_rng(seed), number), number)
            tally.add_many(rows)
            if isinstance(rows, np.ndarray):
                tally.forms.count(row_form(rows), number)
            drawn.append(tally.outputs())
        return merged(drawn)

    def _one_by_one(self, dataset: Dataset, parts: Iterable[tuple[int, SeedSequence]]) -> Outputs:
        tally, first, given = Tally(), Tally(), self.given(dataset)
        for part, (number, seed) in enumerate(parts):
            rng = default_rng(seed)
            if isinstance(self.subject, Single) and self.call_time is None:
                outputs: Iterable[Output] = self.subject.each(given(), rng, number)
            elif part and self.call_time is None:
                self._count(tally, given, rng, number)
                continue
            else:
                outputs = (self.outcome(given(), rng) for _ in range(number))
            for output in outputs:
                # counted at once: the function may use the same object for its next output
                tally.add(output, 1)
                if not part:
                    first.add(output, 1)
        return dataclasses.replace(tally.outputs(), first=first.outputs())

    def _count(self, tally: Tally, given: Callable[[], Any], rng: Generator, number: int) -> None:
        """Count so many outputs, as `outcome` and `Tally.add` do, without a call for each."""
        subject, floats, isfinite = self.subject, tally.floats, math.isfinite
        doubles = 0
        for _ in range(number):
            records = given()
            try:
                output = subject(records, rng)
            except (DpauditError, MemoryError):
                raise
            except Exception as error:
                output = raised(error)
            if type(output) is float and isfinite(output):
                floats.append(output)
            elif type(output) is np.float64 and isfinite(output):
                floats.append(output)
                doubles += 1
            else:
                tally.add(output, 1)
        if doubles:
            tally.alike[np.float64] = tally.alike.get(np.float64, 0) + doubles

    def given(self, dataset: Dataset) -> Callable[[], Any]:
        """Makes what the function gets, anew at each call: the function may change it.

        Raises:
            DatasetError: the records cannot be put into the container.
        """
        if isinstance(self.subject, Command):
            # it reads text, which is made once and cannot be changed
            prepared = self.subject.prepared(plain_records(dataset), self.container)
            return lambda: prepared
        if self.container is None:
            return copier(dataset)
        records = plain_records(dataset)
        try:
            return self.container.copier(tuple(records))
        except DpauditError:
            raise
        except Exception as error:
            raise DatasetError(
                sentence(f"The records cannot be made into {self.container.shown}: {described(error)}")
            ) from error

    def outcome(self, records: Any, rng: Generator) -> Output:
        """One output of a function that takes no size, on this very object.

        Where it raises or takes longer than it may, an attacker sees that, and it is the outcome.

        Raises:
            DpauditError: the function is an adapter, and refuses the dataset.
        """
        try:
            if self.call_time is None:
                return self.subject(records, rng)
            output = called_within(self.call_time, lambda: self.subject(records, rng))
            if isinstance(output, TookLonger) and isinstance(self.subject, Command):
                # where dpaudit waited says nothing of the program
                return dataclasses.replace(output, where="its process was ended")
            return output
        except (DpauditError, MemoryError):
            raise
        except Exception as error:
            return raised(error)

    def _several(self, records: Any, rng: Generator, size: int) -> Output:
        """What a function that takes a size returns.

        Raises:
            MechanismError: it raised; which sample raised cannot be known.
        """
        try:
            return self.subject(records, rng, size)
        except (DpauditError, MemoryError, RecursionError):
            raise
        except Exception as error:
            raise MechanismError(
                f"{self.name} raised {described(error)} ({frames(error)}), and a failure takes all samples of its call "
                "with it; write it as f(dataset, rng), one output at a time, to have failures counted as outcomes."
            ) from error

    def rows(self, drawn: Output, size: int) -> Output:
        """An array or list of one output per run, of which nobody else holds the array."""
        library = type(drawn).__module__.partition(".")[0]
        if library in ("pandas", "polars") and hasattr(drawn, "to_numpy"):
            drawn = _of_frame(drawn)
        several = drawn.ndim > 0 if isinstance(drawn, np.ndarray) else isinstance(drawn, list | tuple)
        if not several or len(drawn) != size:
            got = len(drawn) if several else f"one {type(drawn).__name__}"
            raise OutputError(
                f"{self.name} was asked for {size} outputs and returned {got}; return one per run: an array, list or "
                f"data frame of {size}."
            )
        return drawn.copy() if isinstance(drawn, np.ndarray) else drawn


def _of_frame(drawn: Output) -> Output:
    """The rows of a pandas or polars object, one output each: arrays, or dicts by column if not all are numbers."""
    rows = drawn.to_numpy()
    if rows.ndim != 2 or not rows.dtype.hasobject:
        return rows
    return drawn.to_dicts() if hasattr(drawn, "to_dicts") else drawn.to_dict("records")


Target: TypeAlias = MechanismTarget | FunctionTarget | RecordedTarget
"""What is audited."""


def drawn(target: Target, unit: Unit) -> Drawn:
    """The outputs of a unit, or what is counted in them; of these there are never many at once.

    Raises:
        MechanismError, OutputError: as of `FunctionTarget.runs`.
    """
    if unit.count is None or isinstance(target, RecordedTarget):
        outputs = target.runs(unit.dataset, unit.runs, unit.seed, unit.first)
        return outputs if unit.count is None else counted(outputs, unit.count)
    size = max(target.block, PIECE // target.block * target.block)
    places = range(unit.first, unit.first + unit.runs, size)
    return summed([
        counted(target.runs(unit.dataset, min(size, unit.first + unit.runs - at), unit.seed, at), unit.count)
        for at in places
    ])


def function_target(
    function: Callable[..., object],
    name: str,
    source: str,
    call_time: float | None = None,
    container: Container | None = None,
) -> FunctionTarget:
    """A target from a function; its form is read off its parameters.

    Args:
        function, name, source, call_time, container: as of a `FunctionTarget`.

    Raises:
        UsageError: it takes other arguments, or it takes a size and the time of its calls is to be limited.
    """
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        kind = "coroutine" if inspect.iscoroutinefunction(function) else "generator"
        raise UsageError(f"{name} is a {kind} function, so a call returns no output; wrap it as {FUNCTION_FORMS}.")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise UsageError(
            f"{name} ({class_name(function)}) has no readable signature; wrap it as {FUNCTION_FORMS}."
        ) from None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return FunctionTarget(name, source, function, call_time=call_time, container=container)
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in places if p.default is p.empty]
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    vectorised = len(places) >= 3 and places[2].name == "size"
    if keywords or len(places) < 2 or len(required) > (3 if vectorised else 2):
        raise UsageError(refused_call(function, name, [p.name for p in parameters]))
    if isinstance(function, Command) and vectorised and call_time is not None:
        raise UsageError(
            "{} is asked for many outputs at a time, and a request that takes too long takes all of them with it; ask "
            "for one at a time ({} single) to have such calls counted, or leave {} out.",
            name, PERSISTENT, CALL_TIME,
        )
    if vectorised and call_time is not None:
        raise UsageError(
            "{} takes a size, and a call that takes too long takes all samples of its call with it; write it as "
            "f(dataset, rng) to have such calls counted, or leave {} out.",
            name, CALL_TIME,
        )
    return FunctionTarget(name, source, function, vectorised, call_time, container)


def load_object(text: str) -> tuple[object, str]:
    """The object of "module:object" or "file.py:object", and its module or file.

    Raises:
        UsageError: no such file, module or object, or the file raises when imported.
    """
    where, _, attribute = text.rpartition(":")
    if not where or not attribute:
        raise UsageError(f"{text!r} names no object; write module:object or file.py:object.")
    try:
        with contextlib.redirect_stdout(sys.stderr), importing(where):
            module = module_of_file(Path(where)) if where.endswith(".py") else _module(where)
    except DpauditError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(sentence(f"{where} cannot be imported: {described(error)}")) from error
    value: object = module
    for part in attribute.split("."):
        if not hasattr(value, part):
            close = difflib.get_close_matches(part, [n for n in dir(value) if not n.startswith("_")], n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise UsageError(f"There is no {part!r} in {where}.{hint}")
        value = getattr(value, part)
    return value, where


def with_parameters(mechanism: Mechanism, parameters: dict[str, object]) -> Mechanism:
    """A copy of a mechanism with some fields changed.

    Raises:
        ParameterError: an unknown field, or a value that it refuses.
    """
    all_known(mechanism.name, type(mechanism), parameters)
    try:
        return dataclasses.replace(mechanism, **parameters)  # type: ignore[type-var]
    except DpauditError:
        raise
    except Exception as error:
        raise ParameterError(sentence(f"{mechanism.name} refuses {parameters!r}: {described(error)}")) from error


def instantiate(cls: type[_Made], parameters: dict[str, object]) -> _Made:
    """A mechanism, or anything else that is made from parameters, from its class.

    Raises:
        ParameterError: parameters are missing, unknown or refused.
    """
    if dataclasses.is_dataclass(cls):
        all_known(cls.__name__, cls, parameters)
    try:
        return cls(**parameters)
    except DpauditError:
        raise
    except TypeError as error:
        message = str(error).replace(f"{cls.__name__}.__init__() ", "")
        raise ParameterError(
            "{} cannot be made: {}; give them with {} name=value.", cls.__name__, message, PARAMETERS
        ) from None
    except Exception as error:
        raise ParameterError(sentence(f"{cls.__name__} refuses {parameters!r}: {described(error)}")) from error


def all_known(name: str, cls: type, parameters: Iterable[str]) -> None:
    """Refuse parameters that a class does not have.

    Raises:
        ParameterError: it has no such field; with the closest ones.
    """
    known = [f.name for f in dataclasses.fields(cls) if f.init] if dataclasses.is_dataclass(cls) else []
    for key in parameters:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(known) or 'none'}."
            raise ParameterError(f"{name} has no parameter {key!r}; {hint}")


def copier(dataset: Dataset) -> Callable[[], list[Record]]:
    """Makes fresh lists of the records: a function that changes its input must not change the next run's.

    What the records are is examined once, not in every run.
    """
    records = list(plain_records(dataset))
    return records.copy if all(map(_immutable, records)) else partial(copy.deepcopy, records)


def _immutable(record: Record) -> bool:
    return type(record) in _IMMUTABLE or (type(record) is tuple and all(map(_immutable, record)))


_IMMUTABLE = frozenset({int, float, bool, str, bytes, type(None)})


def _module(name: str) -> ModuleType:
    cwd = str(Path.cwd())
    if cwd not in sys.path:
        sys.path.insert(0, cwd)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise UsageError(f"There is no module {name!r}; is it installed, or is this the right folder?") from None
        raise


class _ReadSource(SourceFileLoader):
    """Compiles what the file says now.

    Bytecode that is kept is trusted while the file has the same size and the same second of change: of two versions
    saved within a second the first would be audited under the second's name.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def module_of_file(path: Path) -> ModuleType:
    """Import a file, under a name that no other module has.

    Raises:
        UsageError: there is none, or it is no Python file; and whatever the file raises.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    name = f"{USER_MODULE}{path.stem}"
    loader = _ReadSource(name, str(path.absolute())) if path.suffix == ".py" else None
    spec = spec_from_file_location(name, path, loader=loader)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file.")
    module = module_from_spec(spec)
    sys.modules[name] = module
    # relative helpers beside the file
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec.loader.exec_module(module)
    # worker processes cannot import it by name
    cloudpickle.register_pickle_by_value(module)
    return module
