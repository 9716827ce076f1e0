"""`[tool.dpaudit]` in pyproject.toml: defaults of a project, for the command line and for pytest alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.options import CHECK, KINDS, REPORT, Option

SETTINGS: Mapping[str, Option] = MappingProxyType(
    {option.key: option for option in (*CHECK, REPORT) if option.setting}
)
"""What `[tool.dpaudit]` may set, by key."""


@dataclass(frozen=True)
class Config:
    """The settings of a project.

    Args:
        values: by key of `SETTINGS`; keys that the file does not name are absent.
        path: the file that they come from; None where there is none.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None


def read(folder: Path | None = None) -> Config:
    """The settings of the nearest pyproject.toml that has a `[tool.dpaudit]`, from a folder upwards.

    Args:
        folder: where to begin; the working directory without it.

    Raises:
        UsageError: the file cannot be read, or holds an unknown key or a value of another kind.
    """
    start = (folder or Path.cwd()).resolve()
    for place in (start, *start.parents):
        path = place / "pyproject.toml"
        if path.is_file():
            table = _table(path)
            if table is not None:
                return Config(MappingProxyType({key: _checked(path, key, value) for key, value in table.items()}), path)
    return Config()


def _table(path: Path) -> dict[str, object] | None:
    import tomllib  # as much as the rest of what every start imports; most folders have no file to read

    try:
        tool = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"Cannot read {path}: {error}.") from None
    table = tool.get("dpaudit") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"[tool.dpaudit] of {path} must be a table, not {table!r}.")
    return table


def _checked(path: Path, key: str, value: object) -> object:
    if key not in SETTINGS:
        import difflib

        closest = difflib.get_close_matches(key, SETTINGS, n=1)
        hint = f"did you mean {closest[0]}?" if closest else f"it may have {', '.join(SETTINGS)}."
        raise UsageError(f"[tool.dpaudit] of {path} has no setting {key!r}; {hint}")
    kind = KINDS[SETTINGS[key].kind]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise UsageError(f"{key} in [tool.dpaudit] of {path} must be of type {kind.__name__}, not {value!r}.")
    return value
