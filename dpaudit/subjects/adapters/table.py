"""Which adapters there are: dpaudit's own, and those that other packages register.

A package registers a function `wrap(object) → Adapted` in the entry-point group `dpaudit.adapters`, under the name of
the module or class whose objects it takes: `mylib`, `mylib.mechanisms` or `mylib.mechanisms.Laplace`. The longest name
that fits an object wins. Nothing is imported before such an object is seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points

from dpaudit.errors import DpauditError, UsageError
from dpaudit.subjects.adapters.base import Adapted, version_of
from dpaudit.subjects.user_errors import described, sentence

GROUP = "dpaudit.adapters"
_NOBODYS = frozenset({"builtins", "__main__", "functools", "abc", "typing", "dpaudit"})
"""Packages of which nothing is registered, so that nobody waits for the entry points of all packages."""


@dataclass(frozen=True)
class Adapter:
    """What is recognised, and by what.

    Args:
        of: the module or class whose objects it takes.
        wrap: "module:function", which makes an `Adapted` of an object.
        library: as it is called in messages.
        package: the distribution that is installed for it, of the library, or of the adapter if it is registered.
        objects: in words.
        extra: of dpaudit, that installs the library; "" for a registered adapter.
    """

    of: str
    wrap: str
    library: str
    package: str
    objects: str
    extra: str = ""

    @property
    def version(self) -> str:
        """Of the package; "" if it is not installed."""
        return version_of(self.package) if self.package else ""

    def adapted(self, target: object) -> Adapted:
        """The object as a function that states its claim.

        Raises:
            UsageError: the claim or the relation cannot be read, or the adapter itself fails.
        """
        module, _, attribute = self.wrap.partition(":")
        try:
            made = getattr(import_module(module), attribute)(target)
        except DpauditError:
            raise
        except Exception as error:
            if self.extra:
                raise
            raise UsageError(sentence(f"The adapter {self.wrap} of {self.of} failed: {described(error)}")) from error
        if not isinstance(made, Adapted):
            raise UsageError(
                f"The adapter {self.wrap} of {self.of} returned {type(made).__name__!r}; it must return an Adapted "
                "of dpaudit.adapters."
            )
        return made


OWN = (
    Adapter(
        "opendp", "dpaudit.subjects.adapters.opendp:wrap", "OpenDP", "opendp", "measurements, at map(d_in)", "opendp"
    ),
    Adapter(
        "diffprivlib", "dpaudit.subjects.adapters.diffprivlib:wrap", "diffprivlib", "diffprivlib",
        "mechanisms, and functions of tools", "diffprivlib",
    ),
    Adapter(
        "pydp", "dpaudit.subjects.adapters.pydp:wrap", "python-dp", "python-dp",
        "algorithms, numerical mechanisms, partition selections", "python-dp",
    ),
    Adapter(
        "pipeline_dp", "dpaudit.subjects.adapters.pipeline_dp:wrap", "pipeline-dp", "pipeline-dp",
        "aggregations (AggregateParams), with the budget that `wrap` is given", "pipeline-dp",
    ),
)
"""The adapters of dpaudit."""


@lru_cache(maxsize=1)
def registered() -> tuple[Adapter, ...]:
    """The adapters of other packages, by name.

    Raises:
        UsageError: two of them, or one of them and one of dpaudit's, have the same name.
    """
    found: dict[str, Adapter] = {one.of: one for one in OWN}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        package = point.dist.name if point.dist is not None else ""
        one = Adapter(point.name, point.value, point.name, package, f"objects of {point.name}")
        if found.setdefault(one.of, one) != one:
            raise UsageError(
                f"Adapters of {one.of} are registered twice ({GROUP}), as {found[one.of].wrap} and as {one.wrap}; "
                "uninstall one of the packages."
            )
    return tuple(one for one in found.values() if not one.extra)


def adapter_of(names: Iterable[str]) -> Adapter | None:
    """The adapter of an object; None for none.

    Args:
        names: full names of its class and those that it derives from, or of the function: "mylib.noise.Laplace".
    """
    for name in names:
        top = name.partition(".")[0]
        if top in _NOBODYS or top.startswith("_dpaudit_user_"):
            continue
        own = next((one for one in OWN if one.of == top), None)
        fitting = [one for one in registered() if name == one.of or name.startswith(f"{one.of}.")]
        if fitting or own is not None:
            return max(fitting, key=lambda one: len(one.of), default=own)
    return None


def known() -> tuple[Adapter, ...]:
    """All adapters: dpaudit's own, then the registered ones.

    Raises:
        UsageError: as `registered`.
    """
    return (*OWN, *registered())
