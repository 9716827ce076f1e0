"""One outcome or record as plain JSON, and as a text that is not too long to be read."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from dpaudit.outputs.canonical import shown

LONGEST, SHOWN = 1_000, 160
"""The text of an outcome that is longer than this is cut to so many characters: a hypothesis class has thousands."""


def jsonable(value: Any, *, abridge: bool = False) -> Any:
    """Plain JSON for an outcome or record; what JSON cannot hold is shown by its repr, `abridged` if that is wanted."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if isinstance(value, tuple | list):
        return [jsonable(part, abridge=abridge) for part in value]
    return abridged(shown(value)) if abridge else shown(value)


def abridged(text: str) -> str:
    """The text itself, or where it is long its beginning and what tells it from others that begin so."""
    if len(text) <= LONGEST:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[:SHOWN]}… ({len(text):,} characters, {digest})"
