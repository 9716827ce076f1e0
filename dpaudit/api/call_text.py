"""The call that made a result, as text: what to type in Python to get it again."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping

from dpaudit.language import REPLACE_ONE, Claim, Curve, Dataset, Mechanism, Multiset, Profile, Renyi, TradeOff
from dpaudit.language.containers import Array, Container, Frame
from dpaudit.results.given_data import GivenPair, Table
from dpaudit.results.model import Result
from dpaudit.subjects.command import Command

_LEFT_OUT = frozenset({"jobs", "cluster", "progress"})
"""What the result does not depend on."""
_RECORDED = frozenset({"D_outputs", "Dprime_outputs", "blocks", "in_scores", "out_scores"})
"""What may be of any length, and is named instead."""
_LONGEST = 400
"""Characters of one argument; a longer one is not written out."""


def call_text(function: Callable[..., object], given: Mapping[str, object]) -> str:
    """E.g. "dpaudit.audit(noisy_count, 1.0, pair=([0, 1, 1], [0, 1, 0]), seed=0)".

    Args:
        function: one of those in `dpaudit.api.functions`.
        given: its arguments by name; those that are what they are by default are left out, but for the seed.
    """
    words: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        value = given[name]
        if name in _LEFT_OUT or (name != "seed" and _same(value, parameter.default)):
            continue
        text = name if name in _RECORDED else _target(value) if not words else _shown(value)
        positional = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        words.append(text if positional else f"{name}={text}")
    return f"dpaudit.{function.__name__}({', '.join(words)})"


def _same(value: object, default: object) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _target(value: object) -> str:
    if isinstance(value, str | int | Mechanism | Command):
        return repr(value)
    # an object is not what its class is: `dpaudit.audit(Adder, 1.0)` would be another call
    return getattr(value, "__name__", f"<{type(value).__name__} object>")


def _shown(value: object) -> str:
    if isinstance(value, Result):
        return "…"
    if isinstance(value, Claim):
        text = _claim(value)
    elif isinstance(value, Curve):
        text = _curve(value)
    elif isinstance(value, GivenPair):
        text = f"({', '.join(_dataset(one, value.container) for one in value.datasets)})"
    elif isinstance(value, Table):
        text = _dataset(value.records, value.container)
    elif callable(value):
        # a function, such as a reader; a lambda has no name to write
        name = _target(value)
        text = name if name.isidentifier() else "…"
    else:
        text = repr(value)
    return text if len(text) <= _LONGEST else "…"


def _dataset(dataset: Dataset, container: Container | None) -> str:
    """A dataset as Python makes it; "…" where its dtypes are not those that the library would choose."""
    if isinstance(dataset, Multiset):
        return repr(dataset)
    records = list(dataset)
    match container:
        case None:
            return _written(records)
        case Array(dtype=dtype):
            of = f", dtype={dtype!r}" if not records or dtype not in _DEFAULT else ""
            return f"np.array({_written(records)}{of})"
        case Frame(index=None, library=library, columns=columns, series=series) if records:
            if any(column.dtype.lower() not in _DEFAULT for column in columns):
                return "…"
            module = {"pandas": "pd", "polars": "pl"}[library]
            if series:
                return f"{module}.Series({_written(records)})"
            cells = (_written([record[i] for record in records]) for i in range(len(columns)))
            named = (f"{column.name!r}: {cell}" for column, cell in zip(columns, cells, strict=True))
            return f"{module}.DataFrame({{{', '.join(named)}}})"
    return "…"


_DEFAULT = frozenset({"int64", "float64", "bool", "str", "boolean", "string"})


def _written(record: object) -> str:
    """Records as Python reads them: `nan` and `inf` are no names of its own."""
    if isinstance(record, float) and not math.isfinite(record):
        return f"float({str(record)!r})"
    if isinstance(record, list | tuple):
        inner = ", ".join(map(_written, record))
        return f"[{inner}]" if isinstance(record, list) else f"({inner},)" if len(record) == 1 else f"({inner})"
    return repr(record)


def _curve(curve: Curve) -> str:
    match curve:
        case Renyi(orders=pairs):
            return f"dpaudit.Renyi({_by_key(pairs)})"
        case TradeOff(vertices=pairs):
            return f"dpaudit.TradeOff({_by_key(pairs)})"
        case Profile(lines=pairs, name=name):
            return repr(name) if name.startswith("dp-sgd(") else f"dpaudit.Profile({_by_key(pairs)})"
    return f"dpaudit.{curve!r}"


def _by_key(pairs: Iterable[tuple[float, float]]) -> str:
    return f"{{{', '.join(f'{_written(a)}: {b!r}' for a, b in pairs)}}}"


def _claim(claim: Claim) -> str:
    if claim.curve is not None:
        under = "" if claim.relation == REPLACE_ONE else f", relation=relation_named({claim.relation.name!r})"
        return f"dpaudit.Claim.of({_curve(claim.curve)}{under})"
    relation = "" if claim.relation == REPLACE_ONE else f", relation=relation_named({claim.relation.name!r})"
    if claim.rho is not None:
        return f"dpaudit.Claim.zcdp({claim.rho!r}, epsilon={claim.epsilon!r}{relation})"
    return f"dpaudit.Claim({claim.epsilon!r}, {claim.delta!r}{relation})"
