"""What a command line names, before the engine is imported: a name that is mistyped is answered at once."""

from __future__ import annotations

from collections.abc import Iterable

from dpaudit.errors import UsageError
from dpaudit.plans import registry


def named_targets(
    targets: list[str] | None, *, every: bool, corpus: bool, command: str | None = None
) -> tuple[str, ...]:
    """The targets of `dpaudit check`: those that are named, or all of the catalogue or the corpus; none for a command.

    Raises:
        UsageError: more than one of these.
    """
    if sum((every, corpus, bool(targets), command is not None)) > 1:
        raise UsageError("Give names, --all, --corpus or --command, not several of them.")
    whole = [group for group, wanted in ((registry.ALGORITHMS, every), (registry.CORPUS, corpus)) if wanted]
    return tuple(registry.names(whole[0])) if whole else tuple(targets or ())


def refuse_unknown(targets: Iterable[str]) -> None:
    """Refuse what is neither a name of the catalogue nor the place of a function or mechanism.

    Raises:
        UnknownNameError: the first of them, with the closest names.
    """
    for target in targets:
        if registry.in_catalogue(target):
            registry.canonical_name(target)
