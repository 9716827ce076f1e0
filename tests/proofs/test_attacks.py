"""Programs that are less private than claimed are never proved."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pytest

from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Unknown
from dpaudit.proofs.scopes import Stream
from tests.proofs import attacks_streams


def programs(module: ModuleType, prefix: str) -> list[Any]:
    return [
        each for name, each in vars(module).items()
        if name.startswith(prefix) and inspect.isfunction(each) and each.__module__ == module.__name__
    ]


@pytest.mark.parametrize("program", programs(attacks_streams, "s"), ids=lambda each: each.__name__)
def test_streams(program: Any) -> None:
    assert isinstance(prove(program, Stream(), epsilon=2, refute=False), Unknown)
