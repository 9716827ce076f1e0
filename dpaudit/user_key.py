"""A secret of this user, with which checksums are made that nobody else can make.

What was computed in an earlier process becomes evidence in a later one, so a checksum that anybody can compute is not
enough: it is keyed with a random secret that is kept apart from the files, in the user's state folder, readable by the
user alone. Whoever can read that can also change dpaudit itself. See decisions/0039.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from pathlib import Path

from dpaudit.whole_files import write_file

_BYTES = 32


def keyed_checksum(secret: bytes, about: str, content: bytes) -> bytes:
    """The checksum of a content, and of what it is about."""
    head = about.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(len(head).to_bytes(8, "big") + head + content, key=secret, digest_size=32).digest()


def user_folder(variable: str, below_home: str) -> Path | None:
    """dpaudit's folder of one kind; None where there is no home directory to put it in."""
    given = os.environ.get(variable, "")
    if os.path.isabs(given):
        return Path(given) / "dpaudit"
    home = os.path.expanduser("~")
    # without one it is the root folder
    there = os.path.isabs(home) and home != os.sep and os.path.isdir(home)
    return Path(home) / below_home / "dpaudit" if there else None


def secret_file() -> Path | None:
    """Where the secret is kept; None without a home directory."""
    folder = user_folder("XDG_STATE_HOME", ".local/state")
    return None if folder is None else folder / "cache.key"


def user_secret() -> bytes | None:
    """The secret; None where there is none that nobody else could have read."""
    path = secret_file()
    with contextlib.suppress(OSError):
        if path is not None:
            status = path.stat()
            own = not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & 0o077)
            if stat.S_ISREG(status.st_mode) and status.st_size == _BYTES and own:
                return path.read_bytes()
    return None


def new_user_secret() -> bytes:
    """A new secret, kept; the one of another process that makes it at the same time.

    Raises:
        OSError: it cannot be.
    """
    path = secret_file()
    if path is None:
        raise FileNotFoundError("no home directory")
    path.parent.mkdir(parents=True, exist_ok=True)
    secret = secrets.token_bytes(_BYTES)
    own = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    write_file(own, secret, mode=0o600)
    try:
        if os.path.lexists(path) and user_secret() is None:
            path.unlink(missing_ok=True)
        # unlike a rename, a link does not replace what another process has put there meanwhile
        os.link(own, path)
    except FileExistsError:
        return user_secret() or secret
    except OSError:
        # a file system without links
        os.replace(own, path)
    finally:
        own.unlink(missing_ok=True)
    return secret
