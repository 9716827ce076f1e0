"""Kill `dpaudit` with SIGKILL at random moments, and look at what it leaves behind.

Half of the kills come from outside, at a random moment of the run. The other half are aimed at writes: the process
kills itself at a random one of its own file operations (opening a file to write to it, writing, which is then cut in
the middle, syncing, renaming, removing). Every run is a fork of this process, which has imported everything, so that a
kill costs what the audit costs.

The command line alone is killed, or one that is supervised, as the console script is: its supervisor from outside, or
the process that it supervises. Of the latter all results must be there in the end, or a crash told with exit code 4.
"""

from __future__ import annotations

import contextlib
import io
import json
import mmap
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from dpaudit import journal
from dpaudit.cli import commands, console_script
from dpaudit.results import json_form
from dpaudit.results.model import Result, Verdict

SUBJECTS = '''
from dataclasses import dataclass
import math
from dpaudit.language import Categorical, Claim, Mechanism

def f(data, rng):
    return int(data[0]) if rng.random() < .73 else 1 - int(data[0])

def g(data, rng):
    return int(data[0]) if rng.random() < .6 else 1 - int(data[0])

@dataclass(frozen=True)
class Leaky(Mechanism):
    """The mean of bits by randomised response at 2.0, which it claims to be 1.0 of."""

    @property
    def claim(self):
        return Claim(1.0)

    def run(self, dataset):
        bits = [int(bit) for bit in dataset]
        out = 0
        for bit in bits[:4]:
            flipped = yield Categorical((0, 1), (1 - 1 / (1 + math.exp(2.0)), 1 / (1 + math.exp(2.0))))
            out += bit ^ flipped
        return out
'''
"""The file that is audited: two functions that keep ε = 1, and a mechanism whose claim `verify` refutes."""

PAIR = "--epsilon 1 --pair [1] [0] --runs 1000 --jobs 1"
COMMANDS = {
    "check": f"check m.py:f m.py:g {PAIR} --seed {{seed}} --html r.html --json r.json --junit r.xml --sarif r.sarif "
    "--markdown r.md --events r.ndjson",
    "verify": "verify m.py:Leaky --domain 2 --size 6 --ordered --groups 1 --jobs 1 --json v.json --report out",
    "--evidence": f"check m.py:f m.py:g {PAIR} --seed {{seed}} --evidence n.json --json n.json",
}
_PATIENCE = 120.0
"""Seconds after which a run that was not killed is taken to hang."""


@dataclass
class Left:
    """What was found after the kills of one command.

    Args:
        kills: processes that were killed.
        ended: processes that had ended before.
        broken: files that were neither the old nor a new one, with what is wrong.
        lost: evidence that was gone.
        wrong: verdicts that a later run, with what was left behind, got wrong.
        temporary: temporary files that were left.
        silent: supervised runs that neither had all results nor told of a crash.
    """

    kills: int = 0
    ended: int = 0
    broken: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    temporary: int = 0
    silent: list[str] = field(default_factory=list)


def begin(folder: Path) -> None:
    """Make the folder in which everything is run, and every file once."""
    (folder / "m.py").write_text(SUBJECTS, encoding="utf-8")
    (folder / "home").mkdir()
    for seed, name in enumerate(("check", "verify")):
        _expect(folder, COMMANDS[name].format(seed=seed))
    _expect(folder, COMMANDS["--evidence"].format(seed=0).replace("--evidence n.json ", ""))


def kill(folder: Path, name: str, times: int, *, seed: int, supervised: bool = False) -> Left:
    """Run one command until so many runs were killed, every other one in the middle of a write, or a file is broken.

    A supervised command has its supervisor killed from outside, and the process that it supervises in a write.
    """
    rng, left = random.Random(seed), Left()
    seconds, operations = _measured(folder, COMMANDS[name].format(seed=10_000 + seed))
    while left.kills < times and not left.broken:
        number = left.kills + left.ended
        before = _contents(folder)
        line = COMMANDS[name].format(seed=20_000 + 1_000 * seed + number)
        at = rng.randrange(operations) if number % 2 else None
        (folder / "err.txt").unlink(missing_ok=True)
        child = _start(folder, line, at=at, supervised=supervised)
        if at is None:
            time.sleep(rng.random() * seconds)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        status = _wait(child)
        told = (folder / "err.txt").read_text(encoding="utf-8")
        killed = os.WIFSIGNALED(status) or "SIGKILL" in told
        left.kills += killed
        left.ended += not killed
        _look(folder, before, f"{name}, kill {number}", left)
        if killed and not os.WIFSIGNALED(status):
            left.silent += _silent(folder, line, os.WEXITSTATUS(status), f"{name}, kill {number}")
        if name == "verify" and number % 8 == 7:
            # what was killed leaves output distributions in the journal, and the next run builds on them
            _expect(folder, COMMANDS[name])
            result = _result(folder / "v.json")
            if [audit.verdict for audit in result.audits] != [Verdict.FAIL]:
                left.wrong.append(f"{name}, after kill {number}: {result.audits[0].verdict}")
    left.temporary = sum(1 for path in folder.rglob("*.tmp"))
    return left


def _silent(folder: Path, line: str, code: int, when: str) -> list[str]:
    """What is wrong with the exit code of a command that went on without the process that was killed."""
    result = _result(folder / line.partition("--json ")[2].split()[0])
    crashed = [audit.name for audit in result.audits if audit.crashed]
    verdicts = {audit.verdict for audit in result.audits}
    # after many sessions an audit has too little power left for a PASS
    right = 4 if crashed else 1 if Verdict.FAIL in verdicts else 3 if Verdict.INCONCLUSIVE in verdicts else 0
    if code not in (right, 4):
        return [f"{when}: exit code {code}, crashed: {crashed}"]
    names = {word.removeprefix("m.py:") for word in line.split() if word.startswith("m.py:")}
    if code != 4 and not names <= {audit.name for audit in result.audits}:
        return [f"{when}: exit code {code}, and an audit is missing"]
    return []


_OF_SQLITE = ("-journal", "-wal", "-shm")
"""Files beside a database, with what is not yet in it; its integrity is checked with them."""


def _look(folder: Path, before: dict[Path, bytes], when: str, left: Left) -> None:
    """Every file is the one from before, or a whole new one."""
    after = _contents(folder)
    for path in before.keys() - after.keys():
        if path.suffix != ".tmp" and not path.name.endswith(_OF_SQLITE):
            left.broken.append(f"{when}: {path.name} is gone")
    for path, content in after.items():
        if before.get(path) == content or path.name.endswith(_OF_SQLITE):
            continue
        trouble = _trouble(path, content)
        if trouble:
            left.broken.append(f"{when}: {path.name}: {trouble}")
    evidence = folder / "n.json"
    if evidence in before and not left.broken:
        old, new = _seeds(json_form.from_json(before[evidence].decode(), where="n.json")), _seeds(_result(evidence))
        left.lost += [f"{when}: {key}" for key in old if not old[key] <= new.get(key, set())]


def _trouble(path: Path, content: bytes) -> str:
    """What is wrong with a file of dpaudit's; "" where it is whole."""
    try:
        text = "" if path.suffix in (".sqlite3", ".key", ".tmp") else content.decode()
        match path.suffix:
            case ".json":
                json_form.from_json(text, where=path.name)
                return "" if text.endswith("}\n") else "its end is missing"
            case ".html":
                return "" if text.rstrip().endswith("</html>") else "its end is missing"
            case ".xml":
                ElementTree.fromstring(content)
            case ".sarif":
                json.loads(text)
            case ".md":
                return "" if text.endswith("\n") and len(text) > 100 else "its end is missing"
            case ".sqlite3":
                with contextlib.closing(sqlite3.connect(path)) as connection:
                    (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
                return "" if answer == "ok" else answer
            case ".key":
                return "" if len(content) == 32 else "it is cut"
            case ".ndjson":
                # a log grows: its last line may be cut, and no other
                for line in text.splitlines()[: None if text.endswith("\n") else -1]:
                    json.loads(line)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _seeds(result: Result) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for audit in result.audits:
        if audit.sequential is not None:
            found.setdefault(audit.sequential.key, set()).update(audit.sequential.seeds)
    return found


def _result(path: Path) -> Result:
    return json_form.from_json(path.read_text(encoding="utf-8"), where=path.name)


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


def _expect(folder: Path, line: str) -> None:
    status = _wait(_start(folder, line))
    assert os.WIFEXITED(status), line
    assert os.WEXITSTATUS(status) in (0, 1), f"{line}: exit {os.WEXITSTATUS(status)}"


def _measured(folder: Path, line: str) -> tuple[float, int]:
    """Seconds that a run takes, and how many file operations it makes."""
    counter = folder / "operations.txt"
    begun = time.monotonic()
    status = _wait(_start(folder, line, count=counter))
    assert os.WIFEXITED(status)
    seconds, operations = time.monotonic() - begun, int(counter.read_text())
    counter.unlink()
    return seconds, operations


def _start(
    folder: Path, line: str, *, at: int | None = None, count: Path | None = None, supervised: bool = False
) -> int:
    """A forked process that runs the command line in the folder; its id.

    Args:
        at: the file operation at which it kills itself.
        count: where it writes how many file operations it made.
        supervised: whether it has a supervisor, whose process this is then.
    """
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        os.environ |= {
            "HOME": str(folder / "home"), "DPAUDIT_STORE": str(folder / "store.sqlite3"),
            "DPAUDIT_JOURNAL": str(folder / "journal.sqlite3"),
        }
        for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
            os.environ.pop(name, None)
        sys.stdout = io.TextIOWrapper(io.FileIO(os.devnull, "w"))
        sys.stderr = io.TextIOWrapper(io.FileIO("err.txt", "a"))
        # write the journal as often as can be, so that there is much to kill
        journal.WRITTEN_EVERY = journal.WRITTEN_FROM = 0.0
        sys.argv = ["dpaudit", *line.split()]
        made = _armed(at)
        try:
            (console_script.main if supervised else commands.main)()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        if count is not None:
            count.write_text(str(next(made)))
    finally:
        os._exit(code)


def _armed(at: int | None) -> Iterator[int]:
    """Make every file operation count, and the one of that number the last; gives how many there were."""
    seen, once = [0], mmap.mmap(-1, 1)

    def counted(own: Callable[..., Any], writes: Callable[..., bool]) -> Callable[..., Any]:
        def operation(*args: Any, **more: Any) -> Any:
            if writes(*args):
                # a process that goes on after this one counts from the beginning, and lives
                if seen[0] == at and not once[0]:
                    once[0] = 1
                    if own is _WRITE:
                        _WRITE(args[0], bytes(args[1])[: len(args[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                seen[0] += 1
            return own(*args, **more)

        return operation

    os.write = counted(os.write, lambda handle, *_: handle > 2)
    os.open = counted(os.open, lambda path, flags, *_: bool(flags & os.O_CREAT))
    for name in ("fsync", "replace", "unlink", "ftruncate"):
        setattr(os, name, counted(getattr(os, name), lambda *_: True))

    def total() -> Iterator[int]:
        while True:
            yield seen[0]

    return total()


_WRITE = os.write


def _wait(child: int) -> int:
    begun = time.monotonic()
    while time.monotonic() - begun < _PATIENCE:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            # what it has supervised ends with it, a moment later
            while _exists(child) and time.monotonic() - begun < _PATIENCE:
                time.sleep(0.002)
            return status
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the run hangs")


def _exists(group: int) -> bool:
    """Whether a process group has a process."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
