"""Output distributions that an interrupted run computed, kept in the journal for the next one.

A row holds numbers and plain outcomes: a numpy archive that is read without pickle. What it says becomes part of a
proof; the journal's checksums are keyed with a secret of this user. See decisions/0039.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpaudit.journal import LAWS, Journal, Place
from dpaudit.outputs.plain_values import NotPlainError, decoded, encoded, typed
from dpaudit.stats.arrays import FloatArray

Floats = FloatArray


class Part(NamedTuple):
    """The output distributions of some datasets; no outcome is listed twice with the same form.

    Args:
        outcomes, forms: what every column holds, and what the outcome leaves out of it (`output_form`).
        low, high: ends of the probabilities, shape (datasets, columns).
        rounded: what the program rounded to doubles on the way.
    """

    outcomes: tuple[Hashable, ...]
    forms: tuple[str, ...]
    low: Floats
    high: Floats
    rounded: tuple[str, ...] = ()


_ROUNDING = 1e-9
_BROKEN = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, EOFError, OSError,
           zipfile.BadZipFile)


class KeptLaws:
    """What the journal holds of one table.

    Args:
        journal: where they are kept.
        key: of the table: everything that its distributions depend on.
        sizes: how many datasets each part of it is about.
    """

    def __init__(self, journal: Journal, key: str, sizes: Sequence[int]) -> None:
        self._journal, self._key, self._sizes = journal, key, sizes
        self.trouble = ""
        """Why rows that were there are not used; "" where they are, or where there are none."""
        self.parts: dict[int, Part] = self._read()

    def keep(self, number: int, part: Part) -> None:
        """Keep a part; an outcome that only its own class can make is no reason to stop."""
        if self._journal.is_off:
            return
        try:
            body = _packed(part)
        except NotPlainError:
            return
        self._journal.keep(LAWS, self._key, Place(number, self._sizes[number]), body)

    def drop(self) -> None:
        """The table is complete, or what was kept is not what the program gives."""
        self._journal.forget(LAWS, [self._key])

    def refuse(self, why: str) -> None:
        """What was read is not to be used."""
        self.parts, self.trouble = {}, why

    def _read(self) -> dict[int, Part]:
        parts: dict[int, Part] = {}
        for place in self._journal.places(LAWS, self._key):
            body = self._journal.body(LAWS, self._key, place)
            if body is None:
                self.trouble = self._journal.trouble
                return {}
            try:
                part = _unpacked(body)
            except _BROKEN:
                self.trouble = "it is damaged"
                return {}
            number = place.first
            if not (0 <= number < len(self._sizes) and _plausible(part, self._sizes[number])):
                self.trouble = "it holds no probabilities of these datasets"
                return {}
            parts[number] = part
        return parts


def _plausible(part: Part, datasets: int) -> bool:
    outcomes, forms, low, high, rounded = part
    if len(forms) != len(outcomes) or not all(isinstance(text, str) for text in (*rounded, *forms)):
        return False
    if not (low.shape == high.shape == (datasets, len(outcomes)) and low.dtype == high.dtype == np.float64):
        return False
    ordered = np.all((low >= 0) & (low <= high) & (high <= 1))
    whole = np.all(low.sum(axis=1) <= 1 + _ROUNDING) and np.all(high.sum(axis=1) >= 1 - _ROUNDING)
    return bool(ordered and whole and len(set(zip(outcomes, forms, strict=True))) == len(outcomes))


def _packed(part: Part) -> bytes:
    """A part as a numpy archive.

    Raises:
        NotPlainError: an outcome is not made of plain values.
    """
    outcomes = [encoded(value) for value in part.outcomes]
    if [typed(decoded(one)) for one in outcomes] != [typed(value) for value in part.outcomes]:
        raise NotPlainError
    texts = {"outcomes": outcomes, "forms": part.forms, "rounded": part.rounded}
    arrays: dict[str, Any] = {
        name: np.frombuffer(json.dumps(text).encode(), np.uint8) for name, text in texts.items()
    }
    archive = io.BytesIO()
    # all of them are bytes and numbers, so nothing is pickled (numpy before 2.2 would keep `allow_pickle` as an array)
    np.savez(archive, **arrays, low=part.low, high=part.high)
    return archive.getvalue()


def _unpacked(payload: bytes) -> Part:
    with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
        return Part(
            tuple(decoded(one) for one in json.loads(archive["outcomes"].tobytes())),
            tuple(json.loads(archive["forms"].tobytes())),
            archive["low"],
            archive["high"],
            tuple(json.loads(archive["rounded"].tobytes())),
        )
