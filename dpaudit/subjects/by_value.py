"""Pickle functions by value: for a worker process, for a fresh one, and to copy them with their state."""

from __future__ import annotations

import io
from collections import ChainMap
from collections.abc import Callable
from types import CodeType
from typing import ClassVar

import cloudpickle


def dumps(value: object) -> bytes:
    """The value as `cloudpickle.dumps` pickles it, except that code keeps the name of its file.

    cloudpickle 3.1.3 and later write "<dynamic-code>" in its place, so an exception in a copied function could not be
    reported with the file that raised it.
    """
    with io.BytesIO() as file:
        _Pickler(file).dump(value)
        return file.getvalue()


def _reduced(code: CodeType) -> tuple[Callable[..., CodeType], tuple[object, ...]]:
    make, parts = cloudpickle.Pickler.dispatch_table[CodeType](code)[:2]
    return _made, (make, parts, code.co_filename)


def _made(make: Callable[..., CodeType], parts: tuple[object, ...], filename: str) -> CodeType:
    return make(*parts).replace(co_filename=filename)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    dispatch_table: ClassVar[object] = ChainMap({CodeType: _reduced}, cloudpickle.Pickler.dispatch_table)
