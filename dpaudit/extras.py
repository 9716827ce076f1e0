"""What is installed: the version of a package, and the pip command for the packages of an extra."""

from __future__ import annotations

from collections.abc import Collection


def install_command(extra: str, only: Collection[str] | None = None) -> str:
    """The pip command for the packages of an extra, in versions that go together.

    The command names the packages and not ``dpaudit[extra]``: where dpaudit was installed from a checkout, that name
    would be looked up in an index.

    Args:
        extra: an extra of dpaudit, e.g. ``"opendp"``.
        only: names of packages to which the command is limited; None: all of the extra.

    Returns:
        For example ``pip install 'opendp>=0.14'``; where dpaudit is on the path but not installed, the command for its
        checkout.
    """
    # this module is imported at every start, and seldom used
    import shlex
    from importlib import metadata

    from packaging.requirements import Requirement

    try:
        requirements = metadata.requires("dpaudit") or []
    except metadata.PackageNotFoundError:
        return f"pip install -e '.[{extra}]'"
    wanted = []
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or not requirement.marker.evaluate({"extra": extra}):
            continue
        if only is None or requirement.name in only:
            wanted.append(f"{requirement.name}{requirement.specifier}")
    return f"pip install {shlex.join(wanted)}"


def installed_version(package: str) -> str:
    """The version of a package of this environment; "unknown" where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # as above

    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
