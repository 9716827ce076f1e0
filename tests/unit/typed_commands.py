"""What typing a command gives, and the types of the fixtures that type it.

Not in conftest.py: of several modules of that name only one can be imported by name.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True)
class Said:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one sentence on stderr."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("dpaudit: ")
        assert "Traceback" not in self.err
        return lines[0].removeprefix("dpaudit: ")

    @property
    def reason(self) -> str:
        """The sentence under the verdict of the last audit on stdout, as one line: the reason of an INCONCLUSIVE."""
        blocks = re.findall(r"^(?:FAIL|PASS|INCONCLUSIVE)\b.*\n((?:  .*\n)+?)  claim ", self.out, re.MULTILINE)
        return " ".join(blocks[-1].split())


Typed: TypeAlias = Callable[..., Said]
Register: TypeAlias = Callable[..., None]


def in_a_process(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line typed in a process of its own."""
    words = [sys.executable, "-m", "dpaudit.cli.commands", *shlex.split(line)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
