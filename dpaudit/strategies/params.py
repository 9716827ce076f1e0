"""Parameters of mechanisms as Hypothesis strategies."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from dpaudit.errors import DpauditError, ParameterError, UsageError
from dpaudit.language import Mechanism
from dpaudit.plans import registry
from dpaudit.subjects.target import all_known

TRIES = 3
"""Attempts to draw the parameters of one example before it is rejected."""
REFUSALS = 100
"""Number of rejected draws, without any accepted one, that raises an error."""

_DELTAS = st.integers(1, 9).map(lambda digits: 10.0**-digits) | st.floats(1e-3, 0.25)
_BY_NAME: dict[str, SearchStrategy[object]] = {
    "epsilon": st.floats(0.05, 4.0),
    "delta": _DELTAS,
    "delta_prime": _DELTAS,
    "rho": st.floats(0.01, 2.0),
    "beta": st.floats(0.01, 0.5),
}
"""The strategies for these names, which also replace an instance's own value."""
_BY_TYPE: dict[object, SearchStrategy[object]] = {
    bool: st.booleans(),
    int: st.integers(1, 16),
    float: st.floats(0.1, 4.0),
}


def mechanism_params(
    mechanism: type[Mechanism] | Mechanism | str, **fields: object
) -> SearchStrategy[dict[str, Any]]:
    """A strategy for valid parameters of a mechanism, as keyword arguments of its class.

    For an algorithm of the catalogue the parameters are those of the instances in its audits, for an instance its own,
    except for epsilon (in [0.05, 4]), delta and delta_prime (10⁻⁹ to 0.25), rho and beta, which are drawn. For other
    classes all fields without a default are drawn: these names as above, other floats from [0.1, 4], whole numbers from
    1 to 16, booleans.

    Args:
        mechanism: a class, an instance, or a name in the catalogue.
        fields: for any field a strategy, or a fixed value.

    Raises:
        ParameterError: an unknown field, or a field for which dpaudit has no strategy; when examples are drawn, the
            mechanism rejects all drawn parameters.
        UnknownNameError: no such name.
    """
    cls, known = _templates(mechanism)
    if not dataclasses.is_dataclass(cls):
        raise UsageError(f"{cls.__name__} is not a dataclass, so its parameters are unknown; draw them yourself.")
    all_known(cls.__name__, cls, fields)
    given = {name: _strategy(value) for name, value in fields.items()}
    drawn = [{**_of_template(template), **given} for template in known] or [{**_of_class(cls, given), **given}]
    return st.one_of([_accepted(cls, st.fixed_dictionaries(each), _Tally()) for each in drawn])


def mechanisms(mechanism: type[Mechanism] | Mechanism | str, **fields: object) -> SearchStrategy[Mechanism]:
    """Instances of a mechanism, with parameters as in `mechanism_params`.

    Raises:
        ParameterError, UnknownNameError: as `mechanism_params`.
    """
    cls, _ = _templates(mechanism)
    return mechanism_params(mechanism, **fields).map(lambda parameters: cls(**parameters))


@dataclasses.dataclass
class _Tally:
    """Counts the parameters that a mechanism accepted and rejected so far."""

    accepted: int = 0
    refused: int = 0
    last: str = ""


@st.composite
def _accepted(
    draw: DrawFn, cls: type[Mechanism], parameters: SearchStrategy[dict[str, object]], tally: _Tally
) -> dict[str, object]:
    for _ in range(TRIES):
        chosen = draw(parameters)
        try:
            cls(**chosen)
        except DpauditError as error:
            tally.refused += 1
            tally.last = str(error)
        else:
            tally.accepted += 1
            return chosen
    if not tally.accepted and tally.refused >= REFUSALS:
        raise ParameterError(
            f"{cls.__name__} rejected all {tally.refused} drawn parameters, the last because: {tally.last} Specify "
            f"what to draw, as in mechanism_params({cls.__name__}, {_first_field(cls)}=…)."
        )
    return reject()


def _templates(mechanism: type[Mechanism] | Mechanism | str) -> tuple[type[Mechanism], list[Mechanism]]:
    """The class, and the instances that supply the other parameters."""
    if isinstance(mechanism, Mechanism):
        return type(mechanism), [mechanism]
    if isinstance(mechanism, str):
        name: str | None = registry.canonical_name(mechanism)
        cls = registry.algorithm(mechanism)
    else:
        cls = mechanism
        where = f"{cls.__module__}:{cls.__qualname__}"
        tables = (registry.names(group) for group in (registry.ALGORITHMS, registry.CORPUS))
        name = next((n for table in tables for n, place in table.items() if place == where), None)
    if name is None or name not in registry.names(registry.AUDITS):
        return cls, []
    same = [case.mechanism for case in registry.plan(name).cases() if type(case.mechanism) is cls]
    return cls, list({repr(each): each for each in same}.values())


def _of_template(template: Mechanism) -> dict[str, SearchStrategy[object]]:
    values = {f.name: getattr(template, f.name) for f in _fields(type(template))}
    return {
        name: _BY_NAME[name] if name in _BY_NAME and isinstance(value, float) else st.just(value)
        for name, value in values.items()
    }


def _of_class(cls: type[Mechanism], given: Mapping[str, object]) -> dict[str, SearchStrategy[object]]:
    hints = typing.get_type_hints(cls)
    strategies = {}
    for field in _fields(cls):
        defaulted = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        if defaulted or field.name in given:
            continue
        kind = hints[field.name]
        strategy = _BY_NAME.get(field.name) if kind is float else None
        if strategy is None:
            strategy = _BY_TYPE.get(kind)
        if strategy is None:
            shown = getattr(kind, "__name__", kind)
            raise ParameterError(
                f"There is no default strategy for {field.name}, a {shown}; specify one, as in "
                f"mechanism_params({cls.__name__}, {field.name}=…)."
            )
        strategies[field.name] = strategy
    return strategies


def _strategy(value: object) -> SearchStrategy[object]:
    return value if isinstance(value, SearchStrategy) else st.just(value)


def _fields(cls: type[Mechanism]) -> Iterable[dataclasses.Field[object]]:
    return [field for field in dataclasses.fields(cls) if field.init]  # type: ignore[arg-type]  # the caller checked


def _first_field(cls: type[Mechanism]) -> str:
    return next((field.name for field in _fields(cls)), "field")
