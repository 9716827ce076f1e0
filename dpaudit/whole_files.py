"""Write files whole: the old one or the new one is there, at whatever moment a process, a disk or a machine gives up.

Everything that dpaudit writes goes through `write_file`, but for the store (SQLite has its own guarantees) and the log
of events, which is meant to be read while it grows.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import stat
import time
from pathlib import Path

NEW_FILE = 0o666
"""Permissions of a new file, before the umask."""
_STREAMS = ("/dev/fd/", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/")
_LONGEST = 40
"""Characters of a file's name that its temporary name repeats: names may be as long as a file system allows."""
_ABANDONED = 3600.0
"""Seconds after which a temporary file has no writer any more."""
_MOST_LINKS = 40


def encoded(text: str, encoding: str = "utf-8") -> bytes:
    """Text as bytes; what the encoding lacks, such as half of a surrogate pair, is escaped as JSON does: \\ud800."""
    return text.encode(encoding, "dpaudit-escape")


def write_file(path: str | Path, data: str | bytes, *, mode: int = NEW_FILE) -> None:
    """Put a file in the place of an older one: written under a temporary name beside it, synced, then renamed.

    A symbolic link stays, and the file that it leads to is replaced. Pipes, devices and /dev/stdout are written to as
    they are, because there is no older content to keep. A file that is replaced keeps its permissions.

    Args:
        path: where to; its folder must be there.
        data: text is written as UTF-8, see `encoded`.
        mode: permissions of a file that was not there, before the umask.

    Raises:
        OSError: it cannot be written. The old file is untouched, and nothing is left beside it.
    """
    content = encoded(data) if isinstance(data, str) else data
    target = _place(Path(path))
    if target is None:
        with Path(path).open("wb", buffering=0) as stream:
            _write_all(stream.fileno(), content)
        return
    beside, handle = _temporary(target, mode)
    try:
        try:
            _write_all(handle, content)
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(handle, stat.S_IMODE(target.stat().st_mode))
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(target.parent)
    _sweep(target)


def read_file(path: str | Path) -> str:
    """The text of a file, or of a pipe; devices such as /dev/zero may have no end and are not read.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8.
    """
    with Path(path).open(encoding="utf-8") as stream:
        if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode) and not stream.isatty():
            raise OSError(errno.EINVAL, "it is a device", str(path))
        return stream.read()


def refuse_unwritable_file(path: str | Path) -> None:
    """Find out beforehand whether `write_file` can begin; nothing is left behind.

    Raises:
        OSError: it cannot.
    """
    target = _place(Path(path))
    if target is None:
        # opening a pipe would wait for its reader
        if not Path(path).is_fifo():
            os.close(os.open(path, os.O_WRONLY))
        return
    if target.exists() and not os.access(target, os.W_OK):
        # renaming would replace it all the same, but whoever made it read-only does not want that
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    beside, handle = _temporary(target, NEW_FILE)
    os.close(handle)
    beside.unlink()


def _place(path: Path) -> Path | None:
    """The file that is to be replaced, where links lead; None for what is written to as it is.

    Raises:
        OSError: a folder, or links that go round.
    """
    for _ in range(_MOST_LINKS):
        here = Path(os.path.realpath(path.parent), path.name)
        if str(here).startswith(_STREAMS):
            return None
        try:
            kind = os.lstat(here).st_mode
        except FileNotFoundError:
            return here
        if stat.S_ISLNK(kind):
            path = here.parent / os.readlink(here)
            continue
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        return here if stat.S_ISREG(kind) else None
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _temporary(target: Path, mode: int) -> tuple[Path, int]:
    """A new file beside another one: a name that no process has, and a handle to write to it."""
    beside = target.with_name(f".{target.name[:_LONGEST]}.{os.urandom(8).hex()}.tmp")
    return beside, os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)


def _write_all(handle: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _sync_folder(folder: Path) -> None:
    """So that the new name outlives a loss of power; the file is whole without that, and some systems refuse it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(target: Path) -> None:
    """Remove what killed writers of this file left beside it."""
    begin = f".{target.name[:_LONGEST]}."
    with contextlib.suppress(OSError):
        for other in os.scandir(target.parent):
            name = other.name
            if name.startswith(begin) and name.endswith(".tmp") and len(name) == len(begin) + 20:
                with contextlib.suppress(OSError):
                    if time.time() - other.stat(follow_symlinks=False).st_mtime > _ABANDONED:
                        os.unlink(other.path)


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)), error.end


codecs.register_error("dpaudit-escape", _escape)
