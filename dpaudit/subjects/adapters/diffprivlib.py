"""diffprivlib: mechanisms at their `epsilon`, `delta` and `sensitivity`, and functions of `tools` at their `epsilon`.

Runs are seeded through `random_state`, so that an audit is reproducible; without one diffprivlib draws from the
system's generator (`seeded=False`), by the same formulas.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState

from dpaudit.errors import UsageError
from dpaudit.language import (
    ADD_REMOVE_ONE,
    REPLACE_ONE,
    AnswersL1,
    AnswersLInf,
    Claim,
    Relation,
    relation_named,
)
from dpaudit.options import EPSILON
from dpaudit.subjects.adapters.base import Adapted, library, only_record, version_of

_NUMBERS = ("Laplace", "Gaussian", "GaussianDiscrete", "Geometric", "Uniform")
"""Mechanisms on one number, and what derives from them: staircase, snapping, truncated, folded and bounded ones."""
_SCORES = ("Exponential",)
"""Mechanisms that choose by scores, and what derives from them (permute and flip)."""
_LABELS = ("Binary", "ExponentialCategorical")
"""Mechanisms on one label, and what derives from them."""
_TOOLS: dict[str, Relation] = {
    **dict.fromkeys(
        ("mean", "nanmean", "var", "nanvar", "std", "nanstd", "sum", "nansum", "count_nonzero"), REPLACE_ONE
    ),
    **dict.fromkeys(("quantile", "percentile", "median"), REPLACE_ONE),
    **dict.fromkeys(("histogram", "histogram2d", "histogramdd"), ADD_REMOVE_ONE),
}
"""Relations for which the noise of `diffprivlib.tools` is calibrated, as the source computes sensitivities; the
documentation names none. Means, variances and sums use (upper − lower), and the number of records as public; histograms
use 1 in all, which one replaced record exceeds."""


def wrap(
    target: Any,
    *,
    relation: str | Relation | None = None,
    read: Callable[[Any], object] | None = None,
    seeded: bool = True,
    name: str | None = None,
    **arguments: Any,
) -> Adapted:
    """A mechanism of diffprivlib, or a function with an `epsilon` and a `random_state`, such as those of its tools.

    | object | datasets | relation |
    | --- | --- | --- |
    | mechanisms on numbers | one answer | answers-l1 with reach the sensitivity |
    | exponential mechanism, permute and flip | the utilities, in place of the object's own | answers-linf, likewise |
    | binary and categorical mechanisms | one label | replace-one |
    | functions of `diffprivlib.tools` | records; None is NaN | see `_TOOLS`; for other functions it must be given |

    Args:
        target: the mechanism, or the function f(array, epsilon=…, random_state=…, …).
        relation: of neighbours, in place of the one above.
        read: the output → what is audited; of a histogram the counts without it.
        seeded: whether runs are seeded; otherwise diffprivlib's default generator is used, and the audit is not
            reproducible.
        name: as in reports; the class's or function's name without it.
        arguments: of a function: epsilon, bounds, ….

    Raises:
        UsageError: what it claims, or for which neighbours, is not known.
    """
    mechanisms = library("diffprivlib.mechanisms", "diffprivlib", "diffprivlib")
    stated = relation_named(relation) if isinstance(relation, str) else relation
    if isinstance(target, functools.partial):
        target, arguments = target.func, {**target.keywords, **arguments}
    if isinstance(target, type):
        raise UsageError(f"{target.__name__} is a class of diffprivlib; give an instance, made with its epsilon.")
    if callable(target) and not isinstance(target, mechanisms.base.DPMechanism):
        return _function(target, arguments, stated, read, name, seeded=seeded)
    named = name or f"diffprivlib {type(target).__name__}"
    if arguments:
        raise UsageError(f"{named} has its parameters already; leave {', '.join(arguments)} out.")
    release, own, attributes = _release(target, named, mechanisms)
    claim = Claim(float(target.epsilon), float(target.delta), stated or own)

    def draw(dataset: Sequence[object], rng: Generator, size: int) -> list[object]:
        one = release(list(dataset), _state(rng, seeded=seeded))
        outputs = [one() for _ in range(size)]
        return outputs if read is None else [read(output) for output in outputs]

    source = f"diffprivlib {version_of('diffprivlib')}: {attributes} of {_shown(target)}"
    return Adapted(named, claim, source, draw, reproducible=seeded)


def _state(rng: Generator, *, seeded: bool) -> RandomState | None:
    """The legacy form of a generator, on the same stream of bits."""
    return RandomState(rng.bit_generator) if seeded else None


def _release(
    target: Any, name: str, mechanisms: Any
) -> tuple[Callable[[list[Any], RandomState | None], Callable[[], object]], Relation, str]:
    """(dataset, random state) → what draws one output; the relation; the attributes that say what is claimed."""

    def of(*names: str) -> bool:
        return isinstance(target, tuple(getattr(mechanisms, one) for one in names))

    if of(*_NUMBERS):
        whole = of("Geometric", "GaussianDiscrete")

        def noisy(dataset: list[Any], state: RandomState | None) -> Callable[[], object]:
            value = only_record(dataset, name)
            return functools.partial(_remade(target, state).randomise, int(value) if whole else float(value))

        if not target.sensitivity > 0:
            raise UsageError(f"{name} has sensitivity {target.sensitivity!r}, so that no two answers are neighbours.")
        return noisy, AnswersL1(reach=float(target.sensitivity)), "epsilon, delta, sensitivity"
    if of(*_SCORES):
        if target.monotonic:
            raise UsageError(
                f"{name} is made for monotonic utilities, which no relation of dpaudit's describes; wrap a function of "
                "records that computes them (wrap(f, epsilon=…, relation='add-remove-one'))."
            )

        def chosen(dataset: list[Any], state: RandomState | None) -> Callable[[], object]:
            scores = [float(score) for score in dataset]
            extra = {} if len(scores) == len(target.utility) else {"candidates": None, "measure": None}
            return _remade(target, state, utility=scores, **extra).randomise  # type: ignore[no-any-return]

        return chosen, AnswersLInf(reach=float(target.sensitivity)), "epsilon, sensitivity"
    if of(*_LABELS):

        def answered(dataset: list[object], state: RandomState | None) -> Callable[[], object]:
            return functools.partial(_remade(target, state).randomise, only_record(dataset, name))

        return answered, REPLACE_ONE, "epsilon"
    raise UsageError(
        f"What {name} is claimed for cannot be read off it (its input or output is no number, score or label); wrap a "
        "function of records: wrap(f, epsilon=…, relation='replace-one')."
    )


def _remade(target: Any, state: RandomState | None, **changes: Any) -> Any:
    """The same mechanism with another random state, made from the parameters that its class names."""
    kind = type(target)
    names = [key for key in inspect.signature(kind).parameters if hasattr(target, key)]
    taken = inspect.signature(kind).parameters
    given = {key: getattr(target, key) for key in names} | {k: v for k, v in changes.items() if k in taken}
    return kind(**{**given, "random_state": state})


def _shown(target: object) -> str:
    """Its class and parameters; the random state is another one in every run."""
    shown = {
        key: getattr(target, key)
        for key in inspect.signature(type(target)).parameters
        if key != "random_state" and hasattr(target, key)
    }
    return f"{type(target).__name__}({', '.join(f'{key}={value!r}' for key, value in shown.items())})"


def _function(
    function: Callable[..., object],
    arguments: dict[str, Any],
    relation: Relation | None,
    read: Callable[[Any], object] | None,
    name: str | None,
    *,
    seeded: bool,
) -> Adapted:
    kind = getattr(function, "__name__", type(function).__name__)
    tool = str(getattr(function, "__module__", "")).startswith("diffprivlib.tools")
    named = name or (f"diffprivlib tools.{kind}" if tool else kind)
    parameters = inspect.signature(function).parameters
    epsilon = arguments.get("epsilon", parameters["epsilon"].default if "epsilon" in parameters else None)
    if not isinstance(epsilon, int | float) or "random_state" not in parameters:
        raise UsageError(
            "{} must be a function f(array, epsilon=…, random_state=…) with a number for epsilon; audit others as "
            "f(dataset, rng) with {}.",
            named, EPSILON,
        )
    needed = {"histogram": "range", "histogram2d": "range", "histogramdd": "range", "count_nonzero": "epsilon"}
    bounds = needed.get(kind, "bounds")
    if tool and bounds not in {**arguments, "epsilon": epsilon}:
        raise UsageError(
            f"{named} takes {bounds} from the data where none is given, which it warns of itself; audit "
            f"dpaudit.subjects.adapters.diffprivlib.wrap({kind}, epsilon={epsilon:g}, {bounds}=(…, …))."
        )
    own = relation or (_TOOLS.get(kind) if tool else None)
    if own is None:
        raise UsageError(f"For which neighbours {named} is private must be said: relation='replace-one', or another.")
    stated = "" if relation is not None else (
        f"The documentation of diffprivlib {version_of('diffprivlib')} names no relation for tools.{kind}; "
        f"{own.name} is what its sensitivity is computed for."
    )
    reader = read or ((lambda output: output[0]) if tool and kind.startswith("histogram") else None)

    def draw(dataset: Sequence[object], rng: Generator, size: int) -> list[object]:
        state = _state(rng, seeded=seeded)
        array = np.array([math.nan if record is None else record for record in dataset])
        outputs = [function(array.copy(), **{**arguments, "random_state": state}) for _ in range(size)]
        return outputs if reader is None else [reader(output) for output in outputs]

    delta = arguments.get("delta", 0.0)
    shown = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    source = f"diffprivlib {version_of('diffprivlib')}: {'tools.' if tool else ''}{kind}({shown}), at its epsilon"
    notes = (stated,) if stated else ()
    return Adapted(named, Claim(float(epsilon), float(delta), own), source, draw, notes, reproducible=seeded)
