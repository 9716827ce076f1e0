"""What results are made of: claims, pairs, events, bounds, and chains of neighbours, as plain frozen dataclasses.

Part of the published form, see `dpaudit.results.model`, which has all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from dpaudit.results.kinds import Count, NonNegative, Ordinal, Probability

Json: TypeAlias = Any
"""A value of plain JSON: None, bool, int, float, str, list, dict (finite numbers only)."""


@dataclass(frozen=True)
class Location:
    """Where a mechanism's source code is."""

    file: str
    """Below the working directory, or below the folder that its package is imported from; parts with "/" between them.
    Never absolute."""
    line: Ordinal
    """First line of its `run`, function or class; from 1."""
    end_line: Ordinal
    """Its last line."""
    name: str
    """Of the function or class, with its module: "dpaudit_algorithms.interior_points.rec_prefix.RecPrefix"."""


@dataclass(frozen=True)
class ClaimRecord:
    """The claim an audit tested: δ allowed at ε, under a relation, for groups of `group` records."""

    epsilon: NonNegative
    """ε of the claim."""
    delta: Probability
    """δ of the claim; 0 for pure differential privacy."""
    relation: str
    """The neighbouring relation, e.g. replace-one."""
    group: Ordinal
    """How many records a neighbour may differ in (1 unless this is a group-privacy claim)."""
    statement: str
    """One sentence as a person reads it, e.g. "(1, 1e-06)-DP under replace-one, Thm 7.8"."""


@dataclass(frozen=True)
class PairRecord:
    """Two datasets; `left` and `right` are JSON forms that `--pair` reads back."""

    label: str
    """Short name of the pair."""
    source: str
    """specified, extreme, random, found, shrunk, exhaustive, given, or recorded."""
    distance: Count
    """How many steps of the relation lie between the two datasets; 0 where only recorded outputs of them are known."""
    left: Json
    """The left dataset, in a form that `--pair` reads back: any JSON; {"multiset": [[value, count], ...]} is a
    multiset; {"float": "nan"}, {"float": "inf"} and {"float": "-inf"} are the floats that plain JSON lacks.
    {"recorded": name, "outputs": n} is a dataset of which only n recorded outputs are known."""
    right: Json
    """The right dataset, in the same form as `left`."""
    columns: list[str] | None = None
    """Names of the cells of a record, where the records are rows of a frame or of a 2-D array."""


@dataclass(frozen=True)
class EventRecord:
    """A set of outputs: a sentence, and a JSON form from which it is rebuilt."""

    description: str
    """The event as a sentence."""
    spec: Json
    """The form from which dpaudit rebuilds the event: any JSON."""


@dataclass(frozen=True)
class AssumptionRecord:
    """One assumption of the statistics, and whether it held.

    Args:
        name: "varies" (the output is not always the same), "independent" (samples do not depend on each other),
            "seeded" (the generator that is passed in is used), "input" (the input is not changed), "neighbours" (the
            datasets of recorded outputs are neighbours).
        holds: None where it could not be tested.
        text: what was seen; where the verdict rests on it, the remedy.
    """

    name: str
    holds: bool | None
    text: str


@dataclass(frozen=True)
class Bounds:
    """The intervals in which the numbers of exact evidence lie, in interval arithmetic, rounded outward.

    Args:
        epsilon_low, epsilon_high: enclose the smallest ε at the claimed δ; None when infinite. Where outcomes that the
            other dataset lacks take up the claimed δ to within a relative 1e-11, so that ε may be infinite, the lower
            one is that at a δ larger by so much, and the upper one holds if they take up no more than the claimed δ.
        delta_low, delta_high: enclose the smallest δ at the claimed ε.
        rounded: what the program rounded to doubles, in words: then the intervals are those of the program with these
            rounded numbers. [] where it rounded nothing, and they are certain; None where that was not watched.
    """

    epsilon_low: float | None
    epsilon_high: float | None
    delta_low: float
    delta_high: float
    rounded: list[str] | None = None

    @property
    def certain(self) -> bool:
        """Whether nothing was rounded."""
        return self.rounded is not None and not self.rounded


@dataclass(frozen=True)
class ChainLink:
    """Two neighbours of a chain, and their privacy loss.

    Args:
        epsilon: the smallest ε at the δ that is claimed for neighbours; None when infinite, or without a law.
        delta: the smallest δ at the ε that is claimed for neighbours; None without a law or density.
        bounds: where both lie for certain.
        loss: log-likelihood ratio of the group's event between the two datasets, in the direction in which it is
            positive for the ends; those of all links add up to that of the ends. None if unknown or infinite.
        impossible: whether it is infinite: the event is impossible on the farther dataset.
        estimate: a lower estimate of ε from the samples of the search, without confidence; None if computed exactly.
        exceeds: whether the exact law refutes the claim for neighbours here.
    """

    pair: PairRecord
    """The two neighbours."""
    epsilon: float | None
    delta: float | None
    bounds: Bounds | None = None
    loss: float | None = None
    impossible: bool = False
    estimate: float | None = None
    exceeds: bool = False


@dataclass(frozen=True)
class Chain:
    """The chain of neighbours at whose ends the claim for a group was tested.

    Args:
        single: what is claimed of neighbours.
        stated: what is claimed of groups of as many as there are links.
        tight: what `single` gives for its ends, link by link: (kε, δ·Σ_{i<k} e^{iε}).
        pair: both ends.
        epsilon: the smallest ε at the δ of `stated`; None when infinite, or without a law.
        delta: the smallest δ at the ε of `stated`; None without a law or density.
        exceeded: whether `stated` is refuted at its ends.
        tight_exceeded: whether `tight` is: then some link refutes `single`. None where runs do not say.
        named: the link, from 1, that is most likely to refute `single`: it needs most. None where no link stands out.
        walked: chains whose ends were compared.
    """

    single: ClaimRecord
    stated: ClaimRecord
    tight: ClaimRecord
    pair: PairRecord
    epsilon: float | None
    delta: float | None
    exceeded: bool
    tight_exceeded: bool | None
    named: Ordinal | None
    walked: Count
    links: list[ChainLink]
    """Its links, in order."""
