"""The package imports what it offers when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dpaudit


def test_every_name_is_found_and_is_what_its_module_has() -> None:
    for name in dpaudit.__all__:
        assert name in dir(dpaudit)
        if name in dpaudit._MODULES:
            assert getattr(dpaudit, name) is sys.modules[dpaudit._MODULES[name]]
        else:
            assert getattr(dpaudit, name) is getattr(sys.modules[dpaudit._WHERE[name]], name)
    assert {*dpaudit._WHERE, *dpaudit._MODULES} == set(dpaudit.__all__)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="module 'dpaudit' has no attribute 'check'"):
        _ = dpaudit.check  # type: ignore[attr-defined]


def test_the_package_alone_is_light() -> None:
    script = "import sys, dpaudit.config; print({'numpy', 'scipy'} & set(sys.modules), 'audit' in dir(dpaudit))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "set() True"
