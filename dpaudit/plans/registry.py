"""Finding algorithms and their audits through entry points.

The entry points `dpaudit.algorithms`, `dpaudit.corpus` (mechanisms known to be broken) and `dpaudit.audits` name a
package or module, whose files are searched for cards and plans, or a dictionary from an algorithm's name to
"module:attribute". Comparisons of several algorithms and games against any mechanism are registered as
`dpaudit.comparisons` and `dpaudit.games`, with a dictionary. Modules are imported when they are wanted.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from dpaudit.errors import UnknownNameError, UsageError

# a command line asks for names alone; what is registered brings the language with it, and numpy
if TYPE_CHECKING:
    from dpaudit.language import Game, Mechanism
    from dpaudit.plans.comparison import Comparison
    from dpaudit.plans.plan import Plan

_Kind = TypeVar("_Kind")
ALGORITHMS = "dpaudit.algorithms"
CORPUS = "dpaudit.corpus"
AUDITS = "dpaudit.audits"
COMPARISONS = "dpaudit.comparisons"
GAMES = "dpaudit.games"


@lru_cache(maxsize=8)
def names(group: str = ALGORITHMS) -> dict[str, str]:
    """Every registered name and where it is defined, by package; algorithms in the order of their cards' systems.

    Raises:
        UsageError: a package's table cannot be imported, or two packages register one name.
    """
    table: dict[str, str] = {}
    for point in sorted(entry_points(group=group), key=lambda p: p.name):
        try:
            registered = point.load()
            rows = defined_in(registered, group) if isinstance(registered, ModuleType) else dict(registered)
        except Exception as error:
            raise _unloadable(f"The entry point {point.value} ({group})", error) from error
        for name, where in rows.items():
            if table.setdefault(name, where) != where:
                raise UsageError(f"{name} is registered twice, as {table[name]} and as {where}.")
    return table


@lru_cache(maxsize=1)
def evidence() -> dict[str, str]:
    """Algorithm → "alignment" or "exhaustive", where a claim of it was proved so; by the `evidence.csv` of packages.

    Lines are "name,kind"; a package without the file has no proofs.
    """
    found: dict[str, str] = {}
    for point in entry_points(group=ALGORITHMS):
        for folder in map(Path, getattr(point.load(), "__path__", ())):
            file = folder / "evidence.csv"
            if file.exists():
                found |= dict(line.split(",") for line in file.read_text(encoding="utf-8").splitlines())
    return found


_CARD = re.compile(
    r'^(\w+)\.card = (?:Card|replace)\(\s*(?:(\w+)\.card,\s*)?name="\w+"(?:,\s*system="(\w*)")?', re.MULTILINE
)
_PLAN = re.compile(r'^(\w+)(?:: Plan)? = \w*[Pp]lan\(\s*"?(\w+)', re.MULTILINE)


def defined_in(package: ModuleType, group: str) -> dict[str, str]:
    """The algorithms or plans that the files of a package or module define, by their source, without an import.

    An algorithm is recognised by its card, at the left margin: `Name.card = Card(name="Name", system="F1", …`, or
    `Name.card = replace(Other.card, name="Name", …`; a plan by what it is given first: `PLAN = Plan("Name", …`, or the
    call of a function whose name ends in plan.

    Args:
        package: without its subpackage `corpus`, which is registered for itself, as mechanisms known to be broken.
        group: `AUDITS` for plans; anything else for algorithms.
    """
    defined: list[tuple[tuple[str, int], str, str]] = []
    for file, module in _files(package):
        source = file.read_text(encoding="utf-8")
        if group == AUDITS:
            defined += ((("", 0), plan, f"{module}:{attribute}") for attribute, plan in _PLAN.findall(source))
        else:
            systems: dict[str, str] = {}
            for name, other, system in _CARD.findall(source):
                systems[name] = system or systems.get(other, "")
                defined.append((_place(systems[name]), name, f"{module}:{name}"))
    return {name: where for _, name, where in sorted(defined, key=lambda row: row[0])}


def _files(package: ModuleType) -> Iterator[tuple[Path, str]]:
    if not hasattr(package, "__path__"):
        file = Path(str(getattr(package, "__file__", "")))
        if file.suffix == ".py":
            yield file, package.__name__
        return
    for folder in map(Path, package.__path__):
        for file in sorted(folder.rglob("*.py")):
            inside = file.relative_to(folder).with_suffix("").parts
            if inside[0] != "corpus":
                yield file, ".".join((package.__name__, *(part for part in inside if part != "__init__")))


def _place(system: str) -> tuple[str, int]:
    """F2 comes before F10, and what is of no system last."""
    letters = system.rstrip("0123456789")
    return letters or "~", int(system[len(letters) :] or 0)


def algorithm(name: str) -> type[Mechanism]:
    """The mechanism class of a registered name.

    Raises:
        UnknownNameError: no such name; it carries the closest ones.
    """
    from dpaudit.language import Mechanism

    registered = _load(CORPUS if name in names(CORPUS) else ALGORITHMS, name)
    if not isinstance(registered, type) or not issubclass(registered, Mechanism):
        raise UsageError(f"{name} is registered as an algorithm, and {registered!r} is no mechanism class.")
    return registered


def plan(name: str) -> Plan:
    """The audits of a registered name.

    Raises:
        UnknownNameError: no such name.
        UsageError: it has no plan.
    """
    from dpaudit.plans.plan import Plan

    canonical_name(name)
    registered = _load(AUDITS, name)
    if not isinstance(registered, Plan):
        raise UsageError(f"The audits of {name} are registered, and {registered!r} is no plan.")
    return registered


def comparison(name: str) -> type[Comparison]:
    """The comparison of a registered name.

    Raises:
        UnknownNameError: no such name; it carries the closest ones.
    """
    from dpaudit.plans.comparison import Comparison

    return _of_kind(COMPARISONS, "comparison", name, Comparison)  # type: ignore[type-abstract]  # what is found is concrete


def game(name: str) -> type[Game]:
    """The game of a registered name.

    Raises:
        UnknownNameError: no such name; it carries the closest ones.
    """
    from dpaudit.language import Game

    return _of_kind(GAMES, "game", name, Game)  # type: ignore[type-abstract]  # as above


def _of_kind(group: str, what: str, name: str, kind: type[_Kind]) -> type[_Kind]:
    table = names(group)
    if name not in table:
        close = difflib.get_close_matches(name, list(table), n=2, cutoff=0.3) or list(table)[:2]
        raise UnknownNameError(what, name, tuple(close))
    registered = _load(group, name)
    if not isinstance(registered, type) or not issubclass(registered, kind):
        raise UsageError(f"{name} is registered as a {what}, and {registered!r} is none.")
    return registered


def in_catalogue(target: str | Callable[..., object] | Mechanism) -> TypeGuard[str]:
    """Whether it is a name of the catalogue, and not the place of a user's own function or mechanism."""
    return isinstance(target, str) and ":" not in target and not target.endswith(".py")


def canonical_name(name: str) -> str:
    """The registered name that `name` is, exactly.

    Raises:
        UnknownNameError: none; the closest matches ignore case, hyphens and underscores.
    """
    table = names() | names(CORPUS)
    if name in table:
        return name
    plain = {_plain(known): known for known in table}
    if _plain(name) in plain:
        raise UnknownNameError("algorithm", name, (plain[_plain(name)],))
    close = difflib.get_close_matches(_plain(name), list(plain), n=2, cutoff=0.55)
    raise UnknownNameError("algorithm", name, tuple(plain[c] for c in close))


def _load(group: str, name: str) -> object:
    table = names(group)
    if name not in table and group == AUDITS:
        raise UsageError(f'{name} has no audits: no file of an installed catalogue has its plan, Plan("{name}", …).')
    if name not in table:
        raise UnknownNameError("algorithm", name)
    module, _, attribute = table[name].partition(":")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:
        raise _unloadable(f"{name} ({table[name]})", error) from error


def _unloadable(what: str, error: Exception) -> UsageError:
    from dpaudit.subjects.user_errors import described, sentence

    return UsageError(sentence(f"{what} cannot be loaded: {described(error)}"))


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
