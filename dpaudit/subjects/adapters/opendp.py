"""OpenDP: measurements, whose `map` gives the claim and whose input metric gives the relation."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from dpaudit.errors import DatasetError, UsageError
from dpaudit.language import (
    ADD_REMOVE_ONE,
    REPLACE_ONE,
    AnswersL1,
    AnswersL2,
    AnswersLInf,
    Claim,
    Relation,
)
from dpaudit.subjects.adapters.base import Adapted, Transformed, library, only_record, version_of

_RECORDS = ("SymmetricDistance", "InsertDeleteDistance")
"""Metrics that count records added and removed."""
_CHANGES = ("ChangeOneDistance", "HammingDistance")
"""Metrics that count records changed."""
_ANSWERS: dict[str, type[AnswersL1 | AnswersL2 | AnswersLInf]] = {
    "AbsoluteDistance": AnswersL1,
    "L1Distance": AnswersL1,
    "L2Distance": AnswersL2,
    "LInfDistance": AnswersLInf,
}
_DELTA = 0.01
"""Where a claim is a curve and nothing is said, it is tested at the ε that it states for this δ: runs see it well."""


def wrap(
    measurement: Any,
    *,
    d_in: float | None = None,
    at: float | None = None,
    into: Callable[[list[Any]], object] | None = None,
    read: Callable[[Any], object] | None = None,
    name: str = "OpenDP measurement",
) -> Adapted:
    """A measurement of OpenDP, at the claim that `measurement.map(d_in)` states.

    | input metric | datasets | relation |
    | --- | --- | --- |
    | symmetric, insert-delete | records | add-remove-one, d_in times; of known size: replace-one, d_in/2 times |
    | change-one, Hamming | records | replace-one, d_in times |
    | discrete | one value | replace-one |
    | absolute, L1, L2, L∞ | answers | answers-l1, -l2, -linf with reach d_in |

    Args:
        measurement: an `opendp.mod.Measurement`.
        d_in: distance of the inputs; 1 without it, 2 where records are counted and their number is known.
        at: ε at which a claim of zCDP, or a privacy profile, is tested; without it √(2ρ), or where δ is 0.01.
        into: the list of records → the measurement's argument, where that is not the list or the value itself.
        read: the output → what is audited, for outputs that are not values (queryables).
        name: as in reports.

    Raises:
        UsageError: it is no measurement, or its metric or measure has no counterpart here.
    """
    mod = library("opendp.mod", "OpenDP", "opendp")
    if not isinstance(measurement, mod.Measurement):
        kind = type(measurement)
        raise UsageError(
            f"This {kind.__module__}.{kind.__name__} makes no private release; chain a measurement to it (>>), or "
            "audit the stability of a transformation with `dpaudit stability`."
        )
    metric, known = _kind(measurement.input_metric), _size(measurement.input_domain)
    d_in = _distance(measurement, metric, known, d_in)
    relation = _relation(measurement, metric, known, d_in)
    d_out = measurement.map(d_in)
    claim = _claim(measurement, d_out, relation, at)
    shown = d_out if isinstance(d_out, int | float | tuple) else "a privacy profile"
    source = (
        f"OpenDP {version_of('opendp')}: map({d_in!r}) = {shown} of {_words(measurement.input_domain)}, "
        f"{_words(measurement.input_metric)}, {_words(measurement.output_measure)}"
    )
    argument = into or _Argument(name, metric, str(measurement.input_carrier_type), known)

    def draw(dataset: Sequence[object], rng: Generator, size: int) -> list[object]:
        value = argument(list(dataset))
        outputs = [measurement(value) for _ in range(size)]
        return outputs if read is None else [read(output) for output in outputs]

    return Adapted(name, claim, source, draw, reproducible=False, portable=False)


_OUTPUTS = {
    "AbsoluteDistance": "absolute", "L1Distance": "l1", "L2Distance": "l2", "LInfDistance": "linf",
    "SymmetricDistance": "symmetric", "InsertDeleteDistance": "insert-delete", "ChangeOneDistance": "change-one",
    "HammingDistance": "hamming", "DiscreteDistance": "discrete",
}
"""Metrics of outputs by OpenDP's names."""
_UNORDERED = ("SymmetricDistance", "ChangeOneDistance")
"""Metrics of datasets whose records have no order."""


def transformation(made: Any, *, name: str = "OpenDP transformation") -> Transformed:
    """A transformation of OpenDP, with the stability that its `map` states.

    Args:
        made: an `opendp.mod.Transformation`.
        name: as in reports.

    Raises:
        UsageError: it is no transformation, or one of its metrics has no counterpart here.
    """
    mod = library("opendp.mod", "OpenDP", "opendp")
    if isinstance(made, mod.Measurement):
        raise UsageError("A measurement is random and has a claim of privacy: audit it with `dpaudit check`.")
    if not isinstance(made, mod.Transformation):
        raise UsageError(f"This {type(made).__name__} is no transformation; chain one, such as >> dp.t.then_sum().")
    metric, known = _kind(made.input_metric), _size(made.input_domain)
    reach = _distance(made, metric, known, None)
    relation = _relation(made, metric, known, reach)
    output = _OUTPUTS.get(_kind(made.output_metric))
    if output is None:
        raise UsageError(f"{_words(made.output_metric)} has no counterpart among the output metrics of dpaudit.")
    domain = _words(made.input_domain)
    columns = re.match(r"NPArray2Domain\(.*?num_columns=(\d+)", domain)
    argument = (
        _Argument(name, metric, str(made.input_carrier_type), known)
        if columns is None
        else lambda dataset: np.array(dataset, dtype=float).reshape(-1, int(columns[1]))
    )

    def transform(dataset: list[Any]) -> object:
        value = argument(dataset)
        with warnings.catch_warnings():
            # of what is no member it says why, for each
            warnings.simplefilter("ignore")
            member = made.input_domain.member(value)
        if not member:
            # what the map states is about members alone
            raise DatasetError(f"{value!r} is no member of {domain}, so {name} states nothing about it.")
        return made(value)

    return Transformed(
        name,
        f"OpenDP {version_of('opendp')}: map of {domain}, {_words(made.input_metric)} → "
        f"{_words(made.output_metric)}",
        transform,
        relation,
        metric in _UNORDERED,
        output,
        lambda steps: made.map(type(reach)(steps * reach)),
        known if metric not in _ANSWERS else None,
        _described(domain) if columns is None else f"tuples({', '.join([_FINITE] * int(columns[1]))})",
    )


_FINITE = "floats(-100, 100, allow_nan=False, allow_infinity=False)"
"""Values that are not finite are in few domains; `data=` adds them."""


def _described(domain: str) -> str | None:
    """A description of the records of a vector domain of bounded or unbounded values; None for any other."""
    match = re.match(r"(?:VectorDomain\()?AtomDomain\((.*?T=\w+)\)", domain)
    if match is None:
        return None
    bounds, atom = re.search(r"bounds=\[([^,\]]+), ([^\]]+)\]", match[1]), match[1].rpartition("T=")[2]
    if atom == "bool":
        return "booleans()"
    if atom == "String":
        return "sampled_from(['', 'a', 'b', 'c'])"
    if re.fullmatch(r"[iu]\d+|[iu]size", atom):
        low, high = (bounds[1], bounds[2]) if bounds else (str(-100 if atom[0] == "i" else 0), "100")
        return f"integers({low}, {high})"
    if atom.startswith("f"):
        return _FINITE.replace("-100, 100", f"{bounds[1]}, {bounds[2]}") if bounds else _FINITE
    return None


def _kind(described: object) -> str:
    """ "AbsoluteDistance" of AbsoluteDistance(f64)."""
    return _words(described).partition("(")[0]


def _words(described: object) -> str:
    """Its description on one line, which is part of the id of a replay."""
    return " ".join(str(described).split())


def _size(domain: object) -> int | None:
    """The number of records that a domain fixes; None where it fixes none."""
    match = re.search(r"^VectorDomain\(.*size=(\d+)", _words(domain))
    return int(match[1]) if match else None


def _distance(measurement: Any, metric: str, known: int | None, d_in: float | None) -> float:
    """d_in as the type that the metric counts in."""
    if d_in is None:
        d_in = 2 if metric in _RECORDS and known is not None else 1
    if str(measurement.input_distance_type).startswith("f"):
        return float(d_in)
    if int(d_in) != d_in:
        raise UsageError(f"{metric} counts in whole numbers; d_in cannot be {d_in!r}.")
    return int(d_in)


def _relation(measurement: Any, metric: str, known: int | None, d_in: float) -> Relation:
    if metric in _RECORDS and known is None:
        return ADD_REMOVE_ONE.group(int(d_in))
    if metric in _RECORDS:
        if d_in < 2:
            raise UsageError(
                f"All datasets of {_words(measurement.input_domain)} have {known} records, so that two are at least 2 "
                f"apart by {metric}; d_in must be 2 or more, not {d_in!r}."
            )
        return REPLACE_ONE.group(int(d_in) // 2)
    if metric in _CHANGES:
        return REPLACE_ONE.group(int(d_in))
    if metric == "DiscreteDistance":
        return REPLACE_ONE
    if metric in _ANSWERS and "monotonic" not in _words(measurement.input_metric):
        return _ANSWERS[metric](reach=float(d_in))
    raise UsageError(
        f"{_words(measurement.input_metric)} has no counterpart among dpaudit's relations; chain a transformation "
        "before it whose input metric is symmetric, change-one, discrete, absolute, L1, L2 or L∞ without monotonicity."
    )


def _claim(measurement: Any, d_out: Any, relation: Relation, at: float | None) -> Claim:
    measure = _words(measurement.output_measure)
    if measure == "MaxDivergence":
        return Claim(float(d_out), 0.0, relation)
    if measure == "Approximate(MaxDivergence)":
        epsilon, delta = d_out
        return Claim(float(epsilon), float(delta), relation)
    if measure == "ZeroConcentratedDivergence":
        return Claim.zcdp(float(d_out), epsilon=math.sqrt(2 * d_out) if at is None else at, relation=relation)
    if measure == "SmoothedMaxDivergence":
        epsilon = d_out.epsilon(_DELTA) if at is None else at
        return Claim(float(epsilon), float(d_out.delta(epsilon)), relation)
    raise UsageError(
        f"A claim under {measure} is none that dpaudit tests; convert it (make_zCDP_to_approxDP, make_fix_delta) or "
        "measure under MaxDivergence, Approximate(MaxDivergence), ZeroConcentratedDivergence or SmoothedMaxDivergence."
    )


class _Argument:
    """A dataset as what the measurement takes: the list of records, the vector of answers, or the one value."""

    def __init__(self, name: str, metric: str, carrier: str, known: int | None) -> None:
        self.name, self.metric, self.known = name, metric, known
        vector = re.fullmatch(r"Vec<(\w+)>", carrier)
        self.vector, self.atom = vector is not None, vector[1] if vector else carrier

    def __call__(self, dataset: list[Any]) -> object:
        whole = self.metric == "DiscreteDistance" or not self.vector
        value = only_record(dataset, self.name) if whole else dataset
        if self.known is not None and len(value) != self.known:
            raise DatasetError(f"{self.name} takes {self.known} records, as its domain says; not {len(value)}.")
        if isinstance(value, list | tuple):
            return [self._cast(one) for one in value]
        return self._cast(value)

    def _cast(self, value: Any) -> object:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if self.atom.startswith("f") and number:
            return float(value)
        if re.fullmatch(r"[iu]\d+|[iu]size", self.atom) and number and float(value).is_integer():
            return int(value)
        if (self.atom == "bool" and isinstance(value, bool)) or (self.atom == "String" and isinstance(value, str)):
            return value
        if self.atom.startswith("f") or self.atom in ("bool", "String") or re.fullmatch(r"[iu]\d+|[iu]size", self.atom):
            raise DatasetError(f"{self.name} takes records of type {self.atom}, not {value!r}.")
        return value
