"""Certificates: what a proof's arithmetic rests on, as JSON values."""

from __future__ import annotations

import functools
import hashlib
import inspect
import platform
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.extras import installed_version
from dpaudit.proofs.alignment import Aligned, Constraint
from dpaudit.proofs.forms import Draw, Part
from dpaudit.proofs.neighbours import Vector

VERSION = 1


def head(target: Any, name: str, scope: str, claimed: Fraction | str) -> dict[str, Any]:
    """What a certificate says about the program."""
    parameters = "" if inspect.isfunction(target) else repr(target)
    if type(target) is functools.partial:
        parameters = ", ".join(f"{key}={value!r}" for key, value in target.keywords.items())
        target = target.func
    code = target if inspect.isfunction(target) or inspect.ismethod(target) else type(target)
    try:
        source = inspect.getsource(code)
    except (OSError, TypeError):
        source = ""
    return {
        "version": VERSION, "program": name, "parameters": parameters,
        "source_sha256": hashlib.sha256(source.encode()).hexdigest(), "scope": scope, "claimed": str(claimed),
        "versions": {"dpaudit": installed_version("dpaudit"), "python": platform.python_version(),
                     "numpy": np.__version__},
    }


def certificate_of_paths(
    target: Any, name: str, scope: str, claimed: Fraction, aligned: Sequence[Aligned], parts: Sequence[Part] = ()
) -> dict[str, Any]:
    """The certificate of a proof path by path."""
    return {
        **head(target, name, scope, claimed), "kind": "paths",
        "epsilon": str(max((each.cost for each in aligned), default=Fraction(0))),
        "paths": [
            {
                **aligned_rows(each.draws, each.constraints, each.vectors, each.shifts)
            }
            for each in aligned
        ],
        **of_parts(parts),
    }


def of_parts(parts: Sequence[Part]) -> dict[str, Any]:
    """The certificates of what is proved by itself, by its number."""
    return {"parts": [part.certificate for part in parts]} if parts else {}


def aligned_rows(
    draws: Sequence[Draw], constraints: Sequence[Constraint], vectors: Sequence[Vector], shifts: Sequence[Vector]
) -> dict[str, Any]:
    """Draws and rows of a path, with a shift for each difference."""
    return {
        "draws": [
            {
                "kind": draw.kind, "scale": str(draw.scale), "line": str(draw.place),
                **({"part": draw.part.number} if draw.part is not None else {}),
            }
            for draw in draws
        ],
        "rows": [
            {
                "equal": row.equal, "line": str(row.place),
                "noise": {str(index): str(coefficient) for index, coefficient in row.noise.items()},
            }
            for row in constraints
        ],
        "differences": [[str(value) for value in vector] for vector in vectors],
        "shifts": [[str(value) for value in shift] for shift in shifts],
    }
