"""Kinds of numbers and words in results, with the ranges that the schema states and a reader checks."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Ordinal: TypeAlias = Annotated[int, Meta(ge=1)]
NonNegative: TypeAlias = Annotated[float, Meta(ge=0)]
Positive: TypeAlias = Annotated[float, Meta(gt=0)]
Probability: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Level: TypeAlias = Annotated[float, Meta(gt=0, le=1)]
Direction: TypeAlias = Annotated[str, Meta(pattern="^(left/right|right/left)$")]
Version: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9]+\.[0-9]+$")]
