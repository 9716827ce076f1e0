"""Where the source of what is audited is, without the path of any machine."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.language import Game, Mechanism
from dpaudit.plans import registry
from dpaudit.plans.play import Called
from dpaudit.results.records import Location
from dpaudit.subjects.adapters import Adapted
from dpaudit.subjects.foreign import USER_MODULE
from dpaudit.subjects.recorded import Recorded

_INSTALLED = {"site-packages", "dist-packages"}


def location_of(subject: object) -> Location | None:
    """The file and the lines of a mechanism's `run`, or of a function; None where they cannot be read.

    A file is given below the working directory. That of an installed package, or of a registered catalogue, is given
    below the folder that the package is imported from: a catalogue's report is the same wherever it is made.

    Args:
        subject: a mechanism or a function; of a game its subject counts.
    """
    while isinstance(subject, Game | Called):
        subject = subject.subject if isinstance(subject, Game) else subject.function
    while isinstance(subject, functools.partial):
        subject = subject.func
    if isinstance(subject, Adapted | Recorded):
        # of another library's or system's, which its source names; what adapts it is no place to mend
        return None
    if isinstance(subject, Mechanism):
        named: Any = type(subject)
        # where `run` is inherited, the class says more than its ancestor's source
        program: Any = vars(named).get("run", named)
    else:
        named = subject if hasattr(subject, "__qualname__") else type(subject)
        program = subject if hasattr(subject, "__qualname__") else vars(named).get("__call__", named)
    try:
        return _located(inspect.unwrap(program), named.__module__, named.__qualname__, Path.cwd())
    except (OSError, TypeError, ValueError, AttributeError):
        # built in, typed at a prompt, or written in another language
        return None


@functools.lru_cache(maxsize=1024)
def _located(program: Callable[..., object], module: str, name: str, folder: Path) -> Location | None:
    path = inspect.getsourcefile(program)
    if path is None or not Path(path).is_file():
        return None
    lines, first = inspect.getsourcelines(program)
    own = module.startswith(USER_MODULE) or module == "__main__"
    file = Path(path).resolve()
    below = file.relative_to(folder) if file.is_relative_to(folder) else None
    if module.partition(".")[0] in _registered_packages() or below is None or _INSTALLED & set(below.parts):
        below = Path(file.name) if own else _below_its_package(module, file)
    # of a whole module the first line is 0
    first = max(first, 1)
    place = PurePosixPath(*below.parts).as_posix()
    return Location(place, first, first + len(lines) - 1, f"{file.stem if own else module}.{name}")


def _registered_packages() -> set[str]:
    """The packages, or modules, at the top of what is registered."""
    try:
        where = [*registry.names().values(), *registry.names(registry.CORPUS).values()]
    except UsageError:
        # what else is installed is no matter of this audit
        return set()
    return {text.partition(":")[0].partition(".")[0] for text in where}


def _below_its_package(module: str, file: Path) -> Path:
    """The file below the folder from which its package is imported."""
    parts = module.split(".")
    imported_from = getattr(sys.modules.get(module), "__file__", None)
    if imported_from is None or Path(imported_from).resolve() != file:
        return Path(file.name)
    depth = len(parts) + (file.name == "__init__.py")
    return Path(*file.parts[-depth:])
