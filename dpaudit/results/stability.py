"""The result of an audit of stability, as a plain frozen dataclass: what `dpaudit stability --json` writes.

It has the verdicts and exit codes of audits of privacy, and a form of its own: it has a distance where they have ε, and
no statistics.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Self

import msgspec

from dpaudit.errors import ReportError
from dpaudit.results.json_form import plain_fields
from dpaudit.results.kinds import Count, NonNegative, Version
from dpaudit.results.model import Verdict
from dpaudit.results.plain import in_json
from dpaudit.results.records import Location, PairRecord

__all__ = ["FORMAT_VERSION", "StabilityCode", "StabilityRecord", "shown_number"]

FORMAT_VERSION = "1.0"
"""Version of the JSON form, major.minor."""
_SHOWN_DIGITS = 20


def shown_number(value: Fraction) -> str:
    """A whole number, a double as Python writes it, a fraction, or the double next to a long fraction."""
    try:
        decimal = float(value)
    except OverflowError:
        decimal = math.inf
    if value.denominator == 1 and len(str(value)) <= _SHOWN_DIGITS:
        return str(value)
    if math.isfinite(decimal) and Fraction(decimal) == value:
        return repr(decimal)
    fraction = str(value)
    if len(fraction) <= _SHOWN_DIGITS:
        return fraction
    return f"about {decimal!r}" if math.isfinite(decimal) else f"more than {sys.float_info.max:.3g}"


class StabilityCode(StrEnum):
    """What kind of reason a verdict has."""

    EXCEEDS = "exceeds"
    """The outputs on a pair are farther apart than is claimed."""
    ROUNDING = "rounding"
    """They are, by no more than the rounding of floats."""
    INFINITE = "infinite"
    """They have no finite distance: NaN, or lists of different lengths."""
    RAISES = "raises"
    """The function raises on one of two neighbouring datasets."""
    PROVED = "proved"
    """No pair of a finite domain violates the claim; all were tried."""
    NOT_VIOLATED = "not_violated"
    """No pair that was tried violates it."""
    NOTHING_TRIED = "nothing_tried"
    """The function returned on no pair that was tried."""


@dataclass(frozen=True, kw_only=True)
class StabilityRecord:
    """One claim of stability, tried on pairs of datasets, with its verdict."""

    format_version: Version = FORMAT_VERSION
    """Version of the JSON form, major.minor."""
    name: str
    """Name of the function."""
    verdict: Verdict
    """fail: the claim is violated, for certain. pass: proved on a finite domain, or no violation was found.
    inconclusive: `reason` is the remedy."""
    reason: str
    """One or two sentences: why this verdict."""
    reason_code: StabilityCode
    """What kind of reason it is, for programs."""
    claim: str
    """The claim as a sentence."""
    relation: str
    """The neighbouring relation of the inputs."""
    any_order: bool
    """Whether D and D′ may list their records in different orders."""
    metric: str
    """How far two outputs are apart."""
    pair: PairRecord | None
    """The pair with the violation, or else with the largest distance; None where there is none."""
    outputs: list[str]
    """What the function returned on D and on D′, as text."""
    distance: str | None
    """The exact distance of these outputs, e.g. "3", "1/3", "√5", "infinite"; None where there is no pair."""
    distance_float: NonNegative | None
    """The double next to it; None where it is infinite or there is none."""
    allowed: str | None
    """The distance that the claim allows on this pair, exactly."""
    allowed_float: NonNegative | None
    """The double next to it."""
    excess_float: NonNegative | None
    """By how much the distance exceeds it, as a double; None where it does not, or infinitely."""
    pairs: Count
    """Pairs on which the distance was computed."""
    skipped: Count
    """Pairs with a dataset that the function refuses, or on both of which it raised."""
    proved: bool
    """Whether every pair of a finite domain was tried."""
    domain: str | None
    """That domain, in words."""
    notes: list[str] = field(default_factory=list)
    """What else a reader should know."""
    source: str
    """Where the function, or its claim, is defined."""
    location: Location | None = None
    """Where its source code is; None where it cannot be read."""
    seed: Count
    """The one seed of the search."""
    command: str
    """What to type to get this result again."""
    replay: str
    """Id for `dpaudit replay`."""
    environment: dict[str, str]
    """dpaudit, python, numpy, … versions."""
    seconds: NonNegative = 0.0
    """Wall-clock seconds; all that differs between two runs of one seed."""

    @property
    def exit_code(self) -> int:
        """What `dpaudit stability` exits with: 1 for FAIL, 3 for INCONCLUSIVE, 0 for PASS."""
        return {Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 3, Verdict.PASS: 0}[self.verdict]

    def to_json(self) -> str:
        """The result as JSON text, indented by 2, ending in a newline; `from_json` reads it back.

        Raises:
            ReportError: it holds what JSON cannot.
        """
        plain = plain_fields(self, self.__dataclass_fields__, "result")
        return in_json(json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The result that `to_json`, or `dpaudit stability --json`, wrote.

        Raises:
            ReportError: the text is none.
        """
        try:
            return msgspec.convert(json.loads(text), type=cls)
        except (ValueError, msgspec.ValidationError) as error:
            raise ReportError(f"This is not a result of `dpaudit stability --json`: {error}.") from None
