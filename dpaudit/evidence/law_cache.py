"""Output distributions that an interrupted run computed, kept in the user's cache for the next one.

A file holds numbers and plain outcomes: one line of JSON (format, version, keyed checksum), then a numpy archive that
is read without pickle. What a file says becomes part of a proof, so a checksum that anybody can compute is not enough:
it is keyed (HMAC-SHA256) with a random secret that is kept apart from the cache, in the user's state folder, readable
by the user alone. Whoever can read that can also change dpaudit itself. See decisions/0039.

Nothing depends on the cache. A file that is damaged, of another version or of somebody else is not used and is written
anew; without a home directory, or on a full or read-only disk, nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import io
import json
import os
import secrets
import stat
import time
import zipfile
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpaudit.language import BOTTOM
from dpaudit.outputs.ranges import IntegerRange
from dpaudit.stats.arrays import FloatArray
from dpaudit.whole_files import write_file

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


FORMAT, VERSION = "dpaudit output distributions", 3
KEPT_EVERY = 10.0
"""Seconds of work after which distributions in the making are kept."""
_SECRET_BYTES = 32
_ROUNDING = 1e-9
_BROKEN = (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError, EOFError, OSError,
           zipfile.BadZipFile)


class KeptLaws:
    """The file of one table.

    Args:
        key: of the table: everything that its distributions depend on.
        sizes: how many datasets each part of it is about.
    """

    def __init__(self, key: str, sizes: Sequence[int]) -> None:
        self._key, self._sizes = key, sizes
        folder = _folder("XDG_CACHE_HOME", ".cache")
        self._path = None if folder is None else folder / "laws" / f"{key}.laws"
        self._written = time.monotonic()
        self._any = False
        self.trouble = ""
        """Why a file that was there is not used; "" where it is, or where there is none."""
        self.parts: dict[int, Part] = self._read()

    def keep(self, parts: Mapping[int, Part], *, now: bool = False) -> None:
        """Write them, now and then; what cannot be kept is no reason to stop."""
        if self._path is None or not parts or (not now and time.monotonic() - self._written < KEPT_EVERY):
            return
        if now and not self._any and time.monotonic() - self._written < 1:
            return
        try:
            payload = _packed(parts)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            checksum = self._checksum(payload, _secret() or _new_secret())
            header = {"format": FORMAT, "version": VERSION, "checksum": checksum}
            write_file(self._path, json.dumps(header).encode() + b"\n" + payload)
            self._any = True
        except _NotPlainError:
            # an outcome that only its own class can make
            self._path = None
        except OSError:
            pass
        self._written = time.monotonic()

    def drop(self) -> None:
        """The table is complete, or what was kept is not what the program gives."""
        if self._any and self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def refuse(self, why: str) -> None:
        """What was read is not to be used."""
        self.parts, self.trouble = {}, why

    def _read(self) -> dict[int, Part]:
        if self._path is None or not os.path.lexists(self._path):
            return {}
        if not self._path.is_file():
            # a pipe or a device would be read for ever
            self._path, self.trouble = None, "it is no file"
            return {}
        self._any = True
        try:
            line, _, payload = self._path.read_bytes().partition(b"\n")
        except OSError as error:
            self.trouble = f"it cannot be read ({error.strerror or error})"
            return {}
        try:
            header = json.loads(line)
            version, checksum = header["version"], header["checksum"]
            if header["format"] != FORMAT:
                raise ValueError(header["format"])
            if version != VERSION:
                self.trouble = f"it is of version {version!r}, and this dpaudit reads {VERSION}"
                return {}
            secret = _secret()
            if secret is None or not hmac.compare_digest(self._checksum(payload, secret), str(checksum)):
                self.trouble = "its checksum is not that of its content, or not made with this user's key"
                return {}
            parts = _unpacked(payload)
        except _BROKEN:
            self.trouble = "it is damaged"
            return {}
        if not all(0 <= i < len(self._sizes) and _plausible(part, self._sizes[i]) for i, part in parts.items()):
            self.trouble = "it holds no probabilities of these datasets"
            return {}
        return parts

    def _checksum(self, payload: bytes, secret: bytes) -> str:
        about = f"{FORMAT} {VERSION} {self._key}\n".encode()
        return hmac.new(secret, about + payload, hashlib.sha256).hexdigest()


class _NotPlainError(Exception):
    """An outcome is not made of plain values."""


def _folder(variable: str, below_home: str) -> Path | None:
    """dpaudit's folder of one kind; None where there is no home directory to put it in."""
    given = os.environ.get(variable, "")
    if os.path.isabs(given):
        return Path(given) / "dpaudit"
    home = os.path.expanduser("~")
    return Path(home) / below_home / "dpaudit" if os.path.isabs(home) and os.path.isdir(home) else None


def _secret_file() -> Path | None:
    folder = _folder("XDG_STATE_HOME", ".local/state")
    return None if folder is None else folder / "cache.key"


def _secret() -> bytes | None:
    """The key of this user's checksums; None where there is none that nobody else could have read."""
    path = _secret_file()
    with contextlib.suppress(OSError):
        if path is not None:
            status = path.stat()
            own = not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o077)
            if stat.S_ISREG(status.st_mode) and status.st_size == _SECRET_BYTES and own:
                return path.read_bytes()
    return None


def _new_secret() -> bytes:
    """A new key, kept.

    Raises:
        OSError: it cannot be.
    """
    path = _secret_file()
    if path is None:
        raise FileNotFoundError("no home directory")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    secret = secrets.token_bytes(_SECRET_BYTES)
    write_file(path, secret, mode=0o600)
    return secret


def _plausible(part: Part, datasets: int) -> bool:
    outcomes, forms, low, high, rounded = part
    if len(forms) != len(outcomes) or not all(isinstance(text, str) for text in (*rounded, *forms)):
        return False
    if not (low.shape == high.shape == (datasets, len(outcomes)) and low.dtype == high.dtype == np.float64):
        return False
    ordered = np.all((low >= 0) & (low <= high) & (high <= 1))
    whole = np.all(low.sum(axis=1) <= 1 + _ROUNDING) and np.all(high.sum(axis=1) >= 1 - _ROUNDING)
    return bool(ordered and whole and len(set(zip(outcomes, forms, strict=True))) == len(outcomes))


def _packed(parts: Mapping[int, Part]) -> bytes:
    """Parts as a numpy archive.

    Raises:
        _NotPlainError: an outcome is not made of plain values.
    """
    arrays: dict[str, Any] = {}
    for i, part in parts.items():
        encoded = [_encoded(value) for value in part.outcomes]
        if [_typed(_decoded(one)) for one in encoded] != [_typed(value) for value in part.outcomes]:
            raise _NotPlainError
        texts = {"outcomes": encoded, "forms": part.forms, "rounded": part.rounded}
        arrays |= {f"{i}.{name}": np.frombuffer(json.dumps(text).encode(), np.uint8) for name, text in texts.items()}
        arrays |= {f"{i}.low": part.low, f"{i}.high": part.high}
    archive = io.BytesIO()
    # all of them are bytes and numbers, so nothing is pickled (numpy before 2.2 would keep `allow_pickle` as an array)
    np.savez(archive, **arrays)
    return archive.getvalue()


def _unpacked(payload: bytes) -> dict[int, Part]:
    with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
        numbers = sorted({int(name.partition(".")[0]) for name in archive.files})
        return {
            i: Part(
                tuple(_decoded(one) for one in json.loads(archive[f"{i}.outcomes"].tobytes())),
                tuple(json.loads(archive[f"{i}.forms"].tobytes())),
                archive[f"{i}.low"],
                archive[f"{i}.high"],
                tuple(json.loads(archive[f"{i}.rounded"].tobytes())),
            )
            for i in numbers
        }


def _encoded(value: Hashable) -> list[object]:
    """A plain value as JSON that says its type."""
    kind = type(value)
    match value:
        case None | str() | bool() if kind in (type(None), str, bool):
            return ["plain", value]
        case int() if kind is int:
            return ["int", hex(value)]
        case float() if kind is float:
            return ["float", value.hex()]
        case bytes() if kind is bytes:
            return ["bytes", value.hex()]
        case tuple() if kind is tuple:
            return ["tuple", [_encoded(part) for part in value]]
        case frozenset() if kind is frozenset:
            return ["frozenset", [_encoded(part) for part in value]]
        case IntegerRange() if kind is IntegerRange:
            return ["range", hex(value.start), hex(value.stop)]
    if value is BOTTOM:
        return ["bottom"]
    raise _NotPlainError


def _decoded(value: list[Any]) -> Hashable:
    kind, *rest = value
    match kind:
        case "plain":
            plain: Hashable = rest[0]
            return plain
        case "int":
            return int(rest[0], 16)
        case "float":
            return float.fromhex(rest[0])
        case "bytes":
            return bytes.fromhex(rest[0])
        case "tuple":
            return tuple(_decoded(part) for part in rest[0])
        case "frozenset":
            return frozenset(_decoded(part) for part in rest[0])
        case "range":
            return IntegerRange(int(rest[0], 16), int(rest[1], 16))
        case "bottom":
            return BOTTOM
    raise ValueError(kind)


def _typed(value: object) -> object:
    """A value with the types of its parts, so that 1, 1.0 and True differ."""
    if type(value) is tuple or type(value) is frozenset:
        return (type(value), type(value)(_typed(part) for part in value))
    return (type(value), value)
