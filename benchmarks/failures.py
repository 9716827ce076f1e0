"""What is left when `dpaudit check`, its workers, a scheduler or a network fails, and the command is given again.

python benchmarks/failures.py [--quick] [--write] [--kills N]

Needs Linux and distributed; a network is cut in namespaces, which needs root. `--write` puts the table into
failures.md. Progress on stderr.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import random
import select
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from local_cluster import DaskCluster, dask_cluster, end, marked, processes, seconds_until_gone, started

from dpaudit.cli.run import audit_texts
from dpaudit.interpret.stored import from_bytes
from dpaudit.results import json_form

QUICK = "--quick" in sys.argv
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 12 if QUICK else 200
"""Of the command."""
IN_WRITES = KILLS // 4
"""Of them while the journal is written, at least."""
WORKER_KILLS = 3 if QUICK else 25
"""Of workers, of each kind."""
SCHEDULERS, FROZEN, CUTS = (1, 1, 1) if QUICK else (5, 2, 2)
AT_ONCE = 3
"""Commands that are killed at the same time, each with a journal of its own: their function sleeps."""
LEFT_AFTER = 10.0
"""Seconds after a kill in which all processes of a command must be gone."""
SAID_WITHIN = 60.0
"""Seconds in which it must be said that a scheduler is gone."""
MOST = 400.0
"""Seconds after which a command is taken to hang."""
RUNS = 500
CALL = 0.006
FUNCTION = '''
import os, struct, time

LOG = {log!r}

def f(data, rng):
    time.sleep({call})
    value = float(data[0] + rng.laplace())
    handle = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, struct.pack("<qd", os.getpid(), value))
    os.close(handle)
    return value
'''
"""What is audited; it notes every call, with its output, which no other call has."""
ANOTHER = """
def g(data, rng):
    return f(data, rng)

def h(data, rng):
    return f(data, rng)
"""
"""For three audits in one command."""
HEAD = """\
`dpaudit check f.py:f` of a function of {call} ms a call, {runs} samples per dataset ({long} where something else than
the command fails), is killed at a moment that is uniform over its time, or between the beginning and the end of a write
of the journal ({after} more kills that were meant for a write came just after it, and are in the same rows), and given
again until it ends. Killed are the command's own process, the one that it supervises and that audits, or all of them.
The digest is that of the result as JSON, without timings, of the same command that nothing happened to ({seeds} seeds).
The function notes every call with its output, which is compared with the rows of the journal just after the kill; calls
that examine the function do not count. Processes are looked for until {left} s after a kill, or after the end. Workers
are killed 2 to 5 s after one another (dask: 1 to 4 s, three audits: 8 to 14 s). A scheduler that is gone must be said
within a minute, with exit code 3, and the command is given again with another cluster. An audit that saw several kinds
of kills counts in the row of each.
"""
TELLS = '''
import os, sys

told = int(os.environ["DPAUDIT_TOLD"])
from dpaudit import journal

write = journal.Journal.write

def tells(self):
    if not self._rows:
        return write(self)
    os.write(told, b"<")
    write(self)
    os.write(told, b">")

journal.Journal.write = tells

from dpaudit.cli.console_script import main
main()
'''
"""The command, which says when it begins and has ended to write the journal."""


# --- a command that is given again until it ends ---


@dataclass
class Found:
    """What was found of one kind of failure."""

    times: int = 0
    audits: int = 0
    same: int = 0
    kept: int = 0
    """Samples that the journal held after a kill, of all kills together."""
    twice: int = 0
    lost: int = 0
    damaged: int = 0
    left: int = 0
    gone: float = 0.0
    said: float | None = None
    faults: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Put together."""
        for name in ("times", "audits", "same", "kept", "twice", "lost", "damaged", "left"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.gone = max(self.gone, other.gone)
        if other.said is not None:
            self.said = max(self.said or 0.0, other.said)
        self.faults += other.faults


class Command:
    """A command in a folder of its own, with its journal and the calls of its function.

    Args:
        folder: which is made.
        seed: of the audit.
        words: such as --jobs 4.
        runs: of each dataset.
        prefix: words before the command.
    """

    def __init__(
        self, folder: Path, seed: int, words: Sequence[str], *, runs: int = RUNS, prefix: Sequence[str] = ()
    ) -> None:
        folder.mkdir(parents=True)
        self.folder, self.seed, self.words, self.runs, self.prefix = folder, seed, list(words), runs, list(prefix)
        self.log, self.journal, self.result = folder / "calls", folder / "journal.sqlite3", folder / "r.json"
        text = FUNCTION.format(log=str(self.log), call=CALL) + ANOTHER
        (folder / "f.py").write_text(text, encoding="utf-8")
        (folder / "tells.py").write_text(TELLS, encoding="utf-8")
        self.mark = f"failures-{os.getpid()}-{folder.name}"
        self.process: subprocess.Popen[bytes] | None = None
        self._number = 0
        self.began = 0
        """Calls before the command was given the last time."""

    def start(self, told: int | None = None) -> subprocess.Popen[bytes]:
        """Give the command."""
        self._number += 1
        self.output.unlink(missing_ok=True)
        self.result.unlink(missing_ok=True)
        self.began = len(self.calls())
        what = ["-m", "dpaudit"] if told is None else [str(self.folder / "tells.py")]
        command = [
            *self.prefix, sys.executable, *what, "check", "f.py:f", "--epsilon", "3.5", "--pair", "[0]", "[1]",
            "--runs", str(self.runs), "--seed", str(self.seed), "--json", "r.json", *self.words,
        ]
        (self.folder / "tmp").mkdir(exist_ok=True)
        env = marked(
            self.mark, HOME=str(self.folder / "home"), DPAUDIT_JOURNAL=str(self.journal),
            TMPDIR=str(self.folder / "tmp"), **({} if told is None else {"DPAUDIT_TOLD": str(told)}),
        )
        for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "DPAUDIT_STORE"):
            env.pop(name, None)
        (self.folder / "home").mkdir(exist_ok=True)
        self.process = started(command, self.folder, env, self.output.name, pass_fds=() if told is None else (told,))
        return self.process

    @property
    def output(self) -> Path:
        """What the command says."""
        return self.folder / f"output{self._number}"

    def calls(self) -> list[tuple[int, float]]:
        """(process, output) of every call."""
        content = self.log.read_bytes() if self.log.exists() else b""
        return list(struct.iter_unpack("<qd", content[: len(content) // 16 * 16]))

    def digest(self) -> str:
        """Of the result; "" without one."""
        if not self.result.exists():
            return ""
        result = json_form.from_json(self.result.read_text(encoding="utf-8"), where="r.json")
        return hashlib.sha256("\n".join(audit_texts(result)).encode()).hexdigest()[:12]

    def rows(self) -> tuple[set[float], bool, str]:
        """The samples that the journal holds, whether it holds an audit, and what is wrong with it; a copy is read."""
        copy = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            for suffix in ("", "-wal"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(f"{self.journal}{suffix}", copy / f"copy{suffix}")
            if not (copy / "copy").exists():
                return set(), False, ""
            with contextlib.closing(sqlite3.connect(copy / "copy")) as connection:
                try:
                    (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
                    bodies = connection.execute("SELECT size, body FROM rows1 WHERE kind = 'samples'").fetchall()
                    (audits,) = connection.execute("SELECT COUNT(*) FROM rows1 WHERE kind = 'audit'").fetchone()
                except sqlite3.OperationalError as error:
                    # it was killed while it made the tables
                    return set(), False, "" if "no such table" in str(error) else str(error)
            values: set[float] = set()
            for size, body in bodies:
                found = from_bytes(body).reals.tolist()
                if len(found) != size:
                    return values, False, f"a row of {size} samples has {len(found)}"
                values.update(found)
            return values, audits > 0, "" if answer == "ok" else answer
        finally:
            shutil.rmtree(copy)

    def audit_process(self) -> int | None:
        """The process that audits, which the command's own supervises."""
        assert self.process is not None
        parents = {at: _parent(at) for at in processes(self.mark)}
        return next((at for at, parent in parents.items() if parent == self.process.pid), None)


def _parent(process: int) -> int:
    with contextlib.suppress(OSError, ValueError):
        return int(Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    return 0


@dataclass(frozen=True)
class Undisturbed:
    """What a command gives that nothing happens to.

    Args:
        digest: of its result.
        repeated: outputs of calls that are made more than once, to examine the function.
        seconds: that it takes.
    """

    digest: str
    repeated: frozenset[float]
    seconds: float


def undisturbed(folder: Path, seed: int, runs: int, more: Sequence[str] = ()) -> Undisturbed:
    """Run a command to its end, in one process."""
    command = Command(folder, seed, [*more, "--jobs", "1"], runs=runs)
    begun = time.monotonic()
    code = command.start().wait(MOST)
    assert code in (0, 1, 3), command.output.read_text(encoding="utf-8")
    times = Counter(value for _, value in command.calls())
    repeated = frozenset(value for value, number in times.items() if number > 1)
    # the comparison must say something
    assert len(repeated) < 0.3 * len(times), f"{len(repeated)} of {len(times)} outputs came more than once"
    return Undisturbed(command.digest(), repeated, time.monotonic() - begun)


# --- kills of the command ---


class Chains:
    """Commands that are killed and given again, until there were enough kills of every kind.

    Args:
        folder: for their folders.
        wanted: by kind and way of running, how many kills.
        expected: by seed.
        words: by way of running.
    """

    def __init__(
        self, folder: Path, wanted: dict[tuple[str, str], int], expected: dict[int, Undisturbed],
        words: dict[str, list[str]],
    ) -> None:
        self.folder, self.expected, self.words = folder, expected, words
        self.wanted = Counter(wanted)
        self.found = {key: Found() for key in wanted}
        self._lock = threading.Lock()
        self._writes = deque([0.004], maxlen=50)
        """Seconds that writing the journal took."""

    def run(self) -> dict[tuple[str, str], Found]:
        """All of them."""
        ways = sorted({way for _, way in self.wanted})
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for each in [pool.submit(self._one_of_many, number, ways) for number in range(AT_ONCE)]:
                each.result()
        return self.found

    def _one_of_many(self, number: int, ways: list[str]) -> None:
        rng, chain = random.Random(number), 0
        while True:
            way = ways[(number + chain) % len(ways)]
            left = [one for one in ways if any(self.wanted[kind, one] > 0 for kind, _ in self.found)]
            if not left:
                return
            way = way if way in left else left[0]
            seed = chain % len(self.expected)
            self._chain(Command(self.folder / f"chain{number}-{chain}", seed, self.words[way]), way, rng)
            chain += 1

    def _kind(self, way: str, rng: random.Random) -> str | None:
        with self._lock:
            left = [kind for kind, one in self.found if one == way and self.wanted[kind, one] > 0]
        return rng.choice(left) if left else None

    def _chain(self, command: Command, way: str, rng: random.Random) -> None:
        """One audit, killed again and again."""
        expected, kept, own = self.expected[command.seed], set[float](), Found()
        kinds = []
        while True:
            kind = self._kind(way, rng)
            killed = self._killed(command, kind, rng, expected.seconds) if kind else command.start().wait(MOST) < 0
            if way == THREE_AUDITS:
                # workers write too, until they see that their parent is gone
                time.sleep(2.0)
            now, ended, trouble = command.rows()
            if killed:
                _go_on(command)
            gone = seconds_until_gone(command.mark, LEFT_AFTER)
            here = Found(gone=gone or 0.0)
            if gone is None:
                here.left = len(processes(command.mark))
                here.faults.append(f"{kind} ({way}): left: {processes(command.mark)}")
                end(command.mark)
            again = {value for _, value in command.calls()[command.began :]} & (kept - expected.repeated)
            here.twice = len(again)
            here.damaged = bool(trouble)
            if trouble:
                here.faults.append(f"{kind} ({way}): journal: {trouble}")
            if again:
                here.faults.append(
                    f"{kind} ({way}), after {kinds}, seed {command.seed}: {len(again)} of {len(kept)} samples of the "
                    f"journal drawn again: {command.output.read_text(encoding='utf-8')[-500:]}"
                )
            if killed and kind:
                # of an audit that has ended only its result is kept, until the command's own is written
                written = ended or command.digest() == expected.digest
                here.lost = len(kept - now) if not written and way != THREE_AUDITS else 0
                if here.lost:
                    here.faults.append(
                        f"{kind} ({way}), after {kinds}: {here.lost} of {len(kept)} samples are no longer kept"
                    )
                here.times, here.kept, kept = 1, len(now), now
                kinds.append(kind)
                with self._lock:
                    self.found[kind, way].add(here)
                    self.wanted[kind, way] -= 1
                continue
            own.add(here)
            break
        digest = command.digest()
        same = digest == expected.digest
        with self._lock:
            # an audit is of all kinds of kills that it has seen
            for kind in set(kinds) or {next(kind for kind, one in self.found if one == way)}:
                found = self.found[kind, way]
                found.audits += bool(kinds)
                found.same += bool(kinds) and same
                found.add(own)
                own = Found()
            if not same:
                found.faults.append(
                    f"{way}, seed {command.seed}, after {kinds}: digest {digest or 'none'} instead of "
                    f"{expected.digest}: {command.output.read_text(encoding='utf-8')[-500:]}"
                )
            if now:
                found.faults.append(f"{way}: {len(now)} samples are in the journal of an audit that has ended")
            left = sum(max(0, number) for number in self.wanted.values())
        say(f"{way}, {len(kinds)} kills: {'the same' if same else 'ANOTHER RESULT'}; {left} kills to go")
        if same and not now:
            shutil.rmtree(command.folder)

    def _killed(self, command: Command, kind: str, rng: random.Random, seconds: float) -> bool:
        """Give the command and kill it; whether it had not ended before."""
        if kind == "in a write of the journal":
            return self._killed_in_a_write(command, rng)
        process = command.start()
        try:
            process.wait(rng.uniform(0.2, max(3.0, 0.9 * seconds)))
            return False
        except subprocess.TimeoutExpired:
            pass
        audits = command.audit_process() or process.pid
        if kind == "command":
            process.send_signal(signal.SIGKILL)
        elif kind == "all processes":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            # the journal is looked at before anybody goes on
            process.send_signal(signal.SIGSTOP)
            os.kill(audits, signal.SIGKILL)
            _wait_until_dead(audits)
            return True
        process.wait()
        _wait_until_dead(audits)
        return True

    def _killed_in_a_write(self, command: Command, rng: random.Random) -> bool:
        """Kill the process that audits between the beginning and the end of a write, and its supervisor."""
        heard, told = os.pipe()
        os.set_blocking(heard, False)
        process = command.start(told)
        os.close(told)
        try:
            number = rng.randrange(1, 5)
            begun = time.monotonic()
            while (audits := command.audit_process()) is None:
                time.sleep(0.01)
                if process.poll() is not None:
                    return False
            writes, open_since = 0, 0.0
            while time.monotonic() - begun < MOST:
                ready, _, _ = select.select([heard], [], [], 0.2)
                if not ready:
                    if process.poll() is not None:
                        return False
                    continue
                said = os.read(heard, 100)
                if not said:
                    process.wait()
                    return False
                for byte in said:
                    if byte == ord("<"):
                        writes, open_since = writes + 1, time.monotonic()
                    else:
                        self._writes.append(time.monotonic() - open_since)
                if writes >= number and said[-1:] == b"<":
                    with self._lock:
                        usual = sorted(self._writes)[len(self._writes) // 2]
                    time.sleep(max(0.0, rng.uniform(0, usual) - (time.monotonic() - open_since)))
                    os.kill(audits, signal.SIGKILL)
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    _wait_until_dead(audits)
                    with contextlib.suppress(BlockingIOError):
                        if b">" in os.read(heard, 100):
                            # it had just ended
                            AFTER_WRITES.append(1)
                            self.wanted["in a write of the journal", _way_of(command, self.words)] += 1
                    return True
            raise AssertionError("the run hangs")
        finally:
            os.close(heard)


AFTER_WRITES: list[int] = []
"""Kills that were meant for a write, and came just after it."""


def _way_of(command: Command, words: dict[str, list[str]]) -> str:
    return next(way for way, each in words.items() if each == command.words)


def _wait_until_dead(process: int) -> None:
    for _ in range(2000):
        try:
            state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            return
        if state in "ZX":
            return
        time.sleep(0.005)


def _go_on(command: Command) -> None:
    """Let a supervisor that was stopped say what has happened."""
    process = command.process
    assert process is not None
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            # with several audits it makes the others first
            process.wait(MOST)


# --- kills of workers ---


def worker_kills(
    folder: Path, words: Sequence[str], workers: Callable[[Command], list[int]], seed: int, expected: Undisturbed,
    runs: int, pause: tuple[float, float], kills: int = WORKER_KILLS,
) -> Found:
    """Audits to their end while random workers are killed."""
    found, rng, number = Found(), random.Random(seed), 0
    while found.times < kills:
        command = Command(folder / f"workers{seed}-{number}", seed, words, runs=runs)
        number += 1
        process = command.start()
        begun = time.monotonic()
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(*pause))
            drew = {at for at, _ in command.calls()[-200:]}
            living = [at for at in workers(command) if at in drew]
            if process.poll() is None and living and found.times < kills:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rng.choice(living), signal.SIGKILL)
                    found.times += 1
            if time.monotonic() - begun > MOST:
                found.faults.append(f"{words}: the audit hangs")
                end(command.mark)
        found.audits += 1
        if command.digest() == expected.digest:
            found.same += 1
        else:
            found.faults.append(f"{words}: {command.output.read_text(encoding='utf-8')[-800:]}")
        _look_at_the_end(command, found)
        say(f"workers, {words}: {found.times} kills, {found.same} of {found.audits} the same")
    return found


def _loky_workers(command: Command) -> list[int]:
    return [at for at, line in processes(command.mark).items() if "popen_loky" in line]


def _look_at_the_end(command: Command, found: Found) -> None:
    """What is left of a command that has ended."""
    gone = seconds_until_gone(command.mark, LEFT_AFTER)
    if gone is None:
        found.left += len(processes(command.mark))
        found.faults.append(f"left: {processes(command.mark)}")
        end(command.mark)
    found.gone = max(found.gone, gone or 0.0)
    _, _, trouble = command.rows()
    if trouble:
        found.damaged += 1
        found.faults.append(f"journal: {trouble}")


# --- schedulers ---


def scheduler_failures(folder: Path, kind: str, times: int, expected: dict[int, Undisturbed], runs: int) -> Found:
    """Audits whose scheduler is killed or stopped, and that go on with another one."""
    found, rng = Found(), random.Random(kind)
    mark = f"failures-{os.getpid()}-{kind}"
    clusters = [DaskCluster(folder / f"{kind}0", f"{mark}0", 2)]
    try:
        for number in range(times):
            cluster, want = clusters[-1], expected[number % len(expected)]
            command = Command(folder / f"scheduler-{kind}{number}", number % len(expected), [], runs=runs)
            command.words = ["--cluster", cluster.address]
            process = command.start()
            _until_workers_draw(command)
            time.sleep(rng.uniform(1.5, 4.0))
            assert process.poll() is None, "the audit ended too early"
            cluster.scheduler.send_signal(signal.SIGKILL if kind == "killed" else signal.SIGSTOP)
            begun, said = time.monotonic(), None
            while process.poll() is None and time.monotonic() - begun < MOST:
                if said is None and _says(command):
                    said = time.monotonic() - begun
                time.sleep(0.1)
            said = time.monotonic() - begun if said is None and _says(command) else said
            found.times += 1
            if said is None or said > SAID_WITHIN:
                found.faults.append(f"scheduler {kind}: said after {said} s: {command.output.read_text()[-800:]}")
            found.said = max(found.said or 0.0, said or MOST)
            if process.poll() != 3:
                found.faults.append(f"scheduler {kind}: exit code {process.poll()} instead of 3")
            kept, _, _ = command.rows()
            found.kept += len(kept)
            _look_at_the_end(command, found)
            clusters.append(DaskCluster(folder / f"{kind}{number + 1}", f"{mark}{number + 1}", 2))
            cluster.end()
            command.words = ["--cluster", clusters[-1].address]
            command.start().wait(MOST)
            found.audits += 1
            again = {value for _, value in command.calls()[command.began :]} & (kept - want.repeated)
            found.twice += len(again)
            if command.digest() == want.digest:
                found.same += 1
            else:
                found.faults.append(f"after a scheduler was {kind}: {command.output.read_text()[-800:]}")
            say(f"scheduler {kind}: said after {said and round(said, 1)} s, {len(kept)} samples kept, "
                f"{len(again)} drawn again, {'the same' if command.digest() == want.digest else 'ANOTHER RESULT'}")
    finally:
        for one in clusters:
            one.end()
    return found


def _says(command: Command) -> bool:
    text = " ".join(command.output.read_text(encoding="utf-8", errors="replace").split())
    return "does not answer any more" in text


def _until_workers_draw(command: Command, number: int = 1) -> None:
    """Wait until so many processes other than the command's have called the function."""
    begun = time.monotonic()
    while len({at for at, _ in command.calls()} - {command.audit_process()}) < number:
        assert time.monotonic() - begun < MOST, command.output.read_text(encoding="utf-8")
        assert command.process is not None
        assert command.process.poll() is None, "the audit ended too early"
        time.sleep(0.1)


# --- a network that is cut ---


@contextlib.contextmanager
def namespaces() -> Iterator[tuple[list[str], list[str], Callable[[], None]] | None]:
    """Two network namespaces with a line between them: words that run a command in each, and what cuts the line.

    Nothing outside of them is touched; None where they cannot be made.
    """
    near, far = (f"dpaudit{os.getpid()}{which}" for which in "ab")

    def does(*words: str) -> bool:
        try:
            return subprocess.run(words, check=False, capture_output=True, timeout=10).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            return False

    try:
        made = all(does(*words.split()) for words in (
            f"ip netns add {near}", f"ip netns add {far}",
            f"ip -n {near} link add line0 type veth peer name line1 netns {far}",
            f"ip -n {near} addr add 10.199.7.1/24 dev line0", f"ip -n {far} addr add 10.199.7.2/24 dev line1",
            f"ip -n {near} link set lo up", f"ip -n {far} link set lo up",
            f"ip -n {near} link set line0 up", f"ip -n {far} link set line1 up",
        ))
        runs = [["ip", "netns", "exec", one] for one in (near, far)]
        yield (runs[0], runs[1], lambda: None if does("ip", "-n", far, "link", "set", "line1", "down") else 1 / 0) if (
            made
        ) else None
    finally:
        for one in (near, far):
            does("ip", "netns", "del", one)


def partitions(folder: Path, expected: dict[int, Undisturbed], runs: int) -> Found | None:
    """Audits during which one of two workers cannot be reached any more."""
    found = Found()
    for number in range(CUTS):
        with namespaces() as made:
            if made is None:
                return None
            near, far, cut = made
            mark = f"failures-{os.getpid()}-cut{number}"
            try:
                cluster = DaskCluster(folder / f"cut{number}", mark, 1, host="10.199.7.1", prefix=near)
                cluster.add(1, far, host="10.199.7.2")
                want = expected[number % len(expected)]
                command = Command(
                    folder / f"partition{number}", number % len(expected), ["--cluster", cluster.address], runs=runs,
                    prefix=near,
                )
                process = command.start()
                _until_workers_draw(command, 2)
                time.sleep(1.0)
                assert process.poll() is None, "the audit ended too early"
                cut()
                begun = time.monotonic()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(MOST)
                found.times += 1
                found.audits += 1
                if command.digest() == want.digest:
                    found.same += 1
                else:
                    found.faults.append(f"network cut: {command.output.read_text(encoding='utf-8')[-800:]}")
                say(f"network cut: ended {time.monotonic() - begun:.0f} s later, "
                    f"{'the same' if command.digest() == want.digest else 'ANOTHER RESULT'}")
                _look_at_the_end(command, found)
            finally:
                end(mark)
    return found


# --- all of them ---


def say(text: str) -> None:
    """Progress."""
    print(f"{time.monotonic() - BEGUN:6.0f} s  {text}", file=sys.stderr, flush=True)


BEGUN = time.monotonic()
SEEDS = 3
THREE = ["f.py:g", "f.py:h"]
"""More audits: the first runs on all workers, and the others side by side."""
THREE_AUDITS = "4 workers, three audits"
LONG = 1_200
"""Samples per dataset of audits during which something else fails."""


KINDS = ("command", "process that audits", "all processes")


def shares(ways: Sequence[str]) -> dict[tuple[str, str], int]:
    """How many kills there are to be of each kind."""
    wanted = {("in a write of the journal", way): -(-IN_WRITES // len(ways)) for way in ways}
    rest = KILLS - sum(wanted.values()) - max(1, KILLS // 20) * len(KINDS)
    cells = [(kind, way) for kind in KINDS for way in ways]
    wanted |= {cell: rest // len(cells) + (at < rest % len(cells)) for at, cell in enumerate(cells)}
    return {cell: number for cell, number in wanted.items() if number}


def measured(folder: Path) -> tuple[list[tuple[str, str, Found | str]], list[str]]:
    """(what failed, on what, what was found) of every kind, and what is not as it must be."""
    rows: list[tuple[str, str, Found | str]] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        expected, expected_long, expected_three = (
            dict(enumerate(pool.map(
                lambda seed, runs=runs, more=more: undisturbed(folder / f"{runs}{len(more)}-{seed}", seed, runs, more),
                range(SEEDS),
            )))
            for runs, more in ((RUNS, []), (LONG, []), (RUNS, THREE))
        )
    for of in (expected, expected_long, expected_three):
        say(f"undisturbed: {[one.digest for one in of.values()]}, {of[0].seconds:.0f} s")
    with dask_cluster(folder / "cluster", f"failures-{os.getpid()}-cluster", 3) as cluster:
        words = {"one process": ["--jobs", "1"], "4 workers": ["--jobs", "4"], "dask": ["--cluster", cluster.address]}
        found = Chains(folder, shares(list(words)), expected, words).run()
        three = {(kind, THREE_AUDITS): max(1, KILLS // 20) for kind in KINDS}
        found |= Chains(folder / "three", three, expected_three, {THREE_AUDITS: [*THREE, "--jobs", "4"]}).run()
        kinds = list(dict.fromkeys(kind for kind, _ in found))
        rows += [(f"SIGKILL: {kind}", way, found[kind, way]) for kind in kinds
                 for way in [*words, THREE_AUDITS] if (kind, way) in found]
        rows.append(("SIGKILL: a worker", "4 workers", worker_kills(
            folder, ["--jobs", "4"], _loky_workers, 0, expected_long[0], LONG, (2, 5)
        )))
        rows.append(("SIGKILL: a worker", THREE_AUDITS, worker_kills(
            folder, [*THREE, "--jobs", "4"], _loky_workers, 2, expected_three[2], RUNS, (8, 14), WORKER_KILLS // 3
        )))
        rows.append(("SIGKILL: a worker", "dask", worker_kills(
            folder, ["--cluster", cluster.address], lambda _: cluster.workers, 1, expected_long[1], LONG, (1, 4)
        )))
    for kind, times in (("killed", SCHEDULERS), ("frozen", FROZEN)):
        what = "SIGKILL: the scheduler" if kind == "killed" else "SIGSTOP: the scheduler"
        rows.append((what, "dask", scheduler_failures(folder, kind, times, expected_long, LONG)))
    cut = partitions(folder, expected_long, LONG)
    rows.append(("the network of one of two workers is cut", "dask", cut or (
        "not tried: network namespaces cannot be made here, which needs root"
    )))
    return rows, [fault for _, _, one in rows if isinstance(one, Found) for fault in one.faults]


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, prefix="failures-") as name:
        rows, faults = measured(Path(name))
    import dask

    heads = (
        "what", "samples drawn by", "times", "audits that saw it", "the same digest", "samples kept, of all times",
        "kept samples drawn again", "kept samples lost", "journals damaged", "processes left", "longest until gone, s",
        "longest until said, s",
    )
    lines = [
        "# Failures",
        "",
        f"`python benchmarks/failures.py{' --quick' if QUICK else ''} --write`; {os.cpu_count()} cores, "
        f"{platform.machine()}, Python {platform.python_version()}, dask {dask.__version__}.",
        "",
        HEAD.format(
            call=f"{1000 * CALL:g}", runs=RUNS, long=f"{LONG:,}", after=len(AFTER_WRITES), seeds=SEEDS,
            left=f"{LEFT_AFTER:g}",
        ),
        f"| {' | '.join(heads)} |",
        f"|{' --- |' * len(heads)}",
    ]
    for what, way, found in rows:
        if isinstance(found, str):
            lines.append(f"| {what} | {way} | {found} |{' |' * 9}")
            continue
        said = "–" if found.said is None else f"{found.said:.1f}"
        lines.append(
            f"| {what} | {way} | {found.times} | {found.audits} | {found.same} | {found.kept or '–'} | {found.twice} | "
            f"{found.lost} | {found.damaged} | {found.left} | {found.gone:.1f} | {said} |"
        )
    if faults:
        lines += ["", "## Not as it must be", "", *(f"- {fault}" for fault in faults)]
    print("\n".join(lines))
    if "--write" in sys.argv:
        Path(__file__).with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    say("done")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
