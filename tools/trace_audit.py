"""How much of dpaudit one audit runs: functions, files, calls between files, changes of package.

    python tools/trace_audit.py

audits a noisy sum on a given pair, as a user of the command line does, and prints four numbers. A reader who follows
one audit through the code meets that many functions and files, and goes from one to another that often.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = f"{ROOT / 'dpaudit'}{os.sep}"
FUNCTION = """
def noisy_sum(data, rng):
    return sum(data) + rng.laplace()
"""
COMMAND = ["check", "my.py:noisy_sum", "--epsilon", "1", "--pair", "[0,1,1]", "[0,1,0]"]


@dataclass
class Trace:
    """What was called in dpaudit, import time left out.

    Args:
        functions: code objects that ran.
        edges: caller and callee, both in dpaudit.
    """

    functions: set[CodeType] = field(default_factory=set)
    edges: set[tuple[CodeType, CodeType]] = field(default_factory=set)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call; for `sys.setprofile`."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE) or code.co_name == "<module>":
            return
        self.functions.add(code)
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(PACKAGE):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_name != "<module>":
            self.edges.add((caller.f_code, code))

    @property
    def counts(self) -> dict[str, int]:
        """The four numbers, by what they count."""
        files = {code.co_filename for code in self.functions}
        between = {(a.co_filename, b.co_filename) for a, b in self.edges if a.co_filename != b.co_filename}
        packages = {(a, b) for a, b in between if _package(a) != _package(b)}
        return {
            "functions": len(self.functions),
            "files": len(files),
            "calls from one file to another": len(between),
            "of these from one package to another": len(packages),
        }


def _package(file: str) -> str:
    """The package or the single module below dpaudit/ that a file belongs to."""
    return file.removeprefix(PACKAGE).partition(os.sep)[0]


@contextlib.contextmanager
def _in_a_folder() -> Iterator[None]:
    """A folder of its own with the function, and nothing kept outside it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "my.py").write_text(FUNCTION, encoding="utf-8")
        os.environ["XDG_CACHE_HOME"] = folder
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def traced() -> Trace:
    """The trace of one audit.

    Raises:
        RuntimeError: the audit did not end with exit code 0.
    """
    from dpaudit.cli.commands import main

    trace, code = Trace(), object()
    with _in_a_folder(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        sys.argv[1:] = COMMAND
        sys.setprofile(trace)
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        finally:
            sys.setprofile(None)
    if code:
        raise RuntimeError(f"dpaudit {' '.join(COMMAND)} ended with exit code {code}")
    return trace


if __name__ == "__main__":
    for what, number in traced().counts.items():
        print(f"{number:5} {what}")
