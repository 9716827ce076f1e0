"""The form that an adapter gives a library's mechanism, and how a library is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, TypeVar

from numpy.random import Generator

from dpaudit.errors import DatasetError, UsageError
from dpaudit.extras import install_command
from dpaudit.language import Claim, Relation
from dpaudit.options import DATA, SIZE

_Record = TypeVar("_Record")

Draw = Callable[[Sequence[object], Generator, int], Sequence[object]]
"""(dataset, generator, runs) → one output per run."""


@dataclass(frozen=True)
class Adapted:
    """A library's mechanism as a function f(dataset, rng, size) that states its claim.

    Args:
        name: as in reports.
        claim: what the library says of it, under which relation.
        source: the library, its version, and where the claim is read.
        draw: (dataset, generator, runs) → one output per run.
        notes: sentences for the report.
        reproducible: whether all its randomness comes from the generator.
        portable: whether it can be sent to another process.
    """

    name: str
    claim: Claim
    source: str
    draw: Draw
    notes: tuple[str, ...] = ()
    reproducible: bool = True
    portable: bool = True

    @property
    def __name__(self) -> str:
        """Of the instance, as a function has one; the class keeps its own."""
        return self.name

    def __call__(self, dataset: Sequence[object], rng: Generator, size: int) -> list[object]:
        """`size` outputs of independent runs."""
        # one by one as the library returned them: their types are part of what an attacker sees
        return list(self.draw(dataset, rng, size))


@dataclass(frozen=True)
class Transformed:
    """A library's deterministic transformation as a function f(dataset), with the stability that it states.

    Args:
        name: as in reports.
        source: the library, its version, and where the claim is read.
        function: the records → the output.
        relation: of the inputs.
        any_order: whether records have no order.
        metric: of the outputs.
        map: steps of the relation → the largest distance of the outputs.
        size: the number of records that its domain fixes; None for any.
        data: a description of its records; None where it is not known.
        notes: sentences for the report.
    """

    name: str
    source: str
    function: Callable[[list[Any]], object]
    relation: Relation
    any_order: bool
    metric: str
    map: Callable[[int], object]
    size: int | None = None
    data: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def __name__(self) -> str:
        """Of the instance, as a function has one; the class keeps its own."""
        return self.name

    def __call__(self, dataset: Sequence[object]) -> object:
        """The output."""
        return self.function(list(dataset))


def library(module: str, package: str, extra: str) -> ModuleType:
    """A library's module, imported when it is wanted.

    Args:
        module: to import.
        package: as it is called in the index of packages.
        extra: of dpaudit, that installs it.

    Raises:
        UsageError: it is not installed, or does not import with the other packages that are.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and module.partition(".")[0] == error.name.partition(".")[0]:
            raise UsageError(f"{package} is not installed; {install_command(extra)}.") from None
        raise UsageError(_broken(package, extra, error)) from error
    except ImportError as error:
        raise UsageError(_broken(package, extra, error)) from error


def _broken(package: str, extra: str, error: ImportError) -> str:
    return f"{package} cannot be imported ({error}); {install_command(extra)} installs versions that go together."


def version_of(package: str) -> str:
    """The installed version of a package; "" where that is not known."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def only_record(dataset: Sequence[_Record], name: str) -> _Record:
    """The one record of a dataset of one.

    Raises:
        DatasetError: it has another number of records.
    """
    if len(dataset) != 1:
        raise DatasetError(
            "{} takes one value, so its dataset has one record, such as [0] (with {}, {} 1); not {}.",
            name, DATA, SIZE, len(dataset),
        )
    return dataset[0]
