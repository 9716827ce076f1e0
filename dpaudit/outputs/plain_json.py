"""An outcome or record as plain JSON, and as a string of readable length."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from dpaudit.outputs.canonical import shown

LONGEST, SHOWN = 1_000, 160
"""Longer strings of outcomes are truncated to SHOWN characters: a hypothesis class has thousands."""


def jsonable(value: object, *, abridge: bool = False) -> Any:
    """Plain JSON for an outcome or record; values that JSON does not support become their repr, optionally `abridged`.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if isinstance(value, tuple | list):
        return [jsonable(part, abridge=abridge) for part in value]
    return abridged(shown(value)) if abridge else shown(value)


def abridged(text: str) -> str:
    """The text itself, or if it is long its beginning with its length and a digest."""
    if len(text) <= LONGEST:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[:SHOWN]}… ({len(text):,} characters, {digest})"
