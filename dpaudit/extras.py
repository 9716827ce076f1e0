"""What an extra of dpaudit installs, as a pip command of those packages."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from importlib import metadata


def install_command(extra: str, only: Collection[str] | None = None) -> str:
    """The pip command for the packages of an extra, in versions that go together.

    The command names the packages and not ``dpaudit[extra]``: where dpaudit was installed from a checkout, that name
    would be looked up in an index.

    Args:
        extra: an extra of dpaudit, e.g. ``"opendp"``.
        only: names of packages to which the command is limited; None: all of the extra.

    Returns:
        For example ``pip install 'opendp>=0.14'``.
    """
    from packaging.requirements import Requirement  # this module is imported with every error

    wanted = []
    for requirement in map(Requirement, metadata.requires("dpaudit") or []):
        if requirement.marker is None or not requirement.marker.evaluate({"extra": extra}):
            continue
        if only is None or requirement.name in only:
            wanted.append(f"{requirement.name}{requirement.specifier}")
    return f"pip install {shlex.join(wanted)}"
