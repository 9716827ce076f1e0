"""What a test says of its audit: the arguments of `dp_audit(…)`, over those of `@pytest.mark.dp(…)`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

import pytest

from dpaudit.errors import UsageError
from dpaudit.options import CHECK, PARAMETERS

_OWN = ("allow_inconclusive",)
KEYWORDS = (*("parameters" if option is PARAMETERS else option.key for option in CHECK if option.test), *_OWN)
"""Keyword arguments of `dp_audit` and of the marker."""
SAMPLES_KEYWORDS = (
    "epsilon", "delta", "relation", "paired", "blocks", "ordered", "name", "time", "bits", "min_power", *_OWN
)
"""Keyword arguments of `dp_samples`."""
STABLE_KEYWORDS = ("metric", "relation", "pair", "data", "size", "any_order", "read", "pairs", "time")
"""Keyword arguments of `dp_stable`."""
_ELSEWHERE = {
    "seed": "it is set for the session: --dp-seed, or seed in [tool.dpaudit]",
    "alpha": "it is shared over all tests: --dp-alpha, or alpha in [tool.dpaudit]",
    "jobs": "it is set for the project: jobs in [tool.dpaudit]; pytest -n runs tests in parallel",
    "cluster": "it is set for the project: cluster in [tool.dpaudit]",
    "evidence": "it is set for the session: --dp-evidence",
}
_WHERE = ("pair", "data")


def checked(
    given: Mapping[str, object], what: str, *, keywords: tuple[str, ...] = KEYWORDS
) -> dict[str, object]:
    """The arguments, if all of them are known.

    Args:
        given: keyword arguments.
        what: who takes them, for the message: "dp_audit" or "@pytest.mark.dp".
        keywords: those that it takes.

    Raises:
        UsageError: one is not, with the closest that is.
    """
    for key in given:
        if key in _ELSEWHERE:
            raise UsageError(f"{what} takes no {key}: {_ELSEWHERE[key]}.")
        if key not in keywords:
            close = difflib.get_close_matches(key, keywords, n=1)
            hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(keywords)}."
            raise UsageError(f"{what} has no argument {key!r}; {hint}")
    return dict(given)


def of_markers(markers: Iterable[pytest.Mark]) -> dict[str, object]:
    """The arguments of the marks that apply to a test; the closest to it wins.

    Args:
        markers: marks `dp`, closest first (test, class, module).

    Raises:
        UsageError: one has positional or unknown arguments.
    """
    arguments: dict[str, object] = {}
    for mark in markers:
        if mark.args:
            raise UsageError(
                f"@pytest.mark.dp takes keyword arguments, such as epsilon=1.0, and not {_shown(mark.args[0])}; the "
                "function to audit is given to dp_audit."
            )
        arguments = merged(checked(mark.kwargs, "@pytest.mark.dp"), over=arguments, first=True)
    return arguments


def merged(given: Mapping[str, object], *, over: Mapping[str, object], first: bool = False) -> dict[str, object]:
    """Both; where both say something, `given` wins (with `first`, `over` does).

    A pair replaces data and its size, and data replaces a pair: they are two ways to say the same.
    """
    strong, weak = (over, given) if first else (given, over)
    if any(strong.get(key) is not None for key in _WHERE):
        weak = {key: value for key, value in weak.items() if key not in _WHERE and (key != "size" or "data" in strong)}
    return {**weak, **strong}


def _shown(value: object) -> str:
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else repr(value)[:40]
