"""Mechanisms that end, crash or hang the command line's process: never a silent 0, and the other audits' results stand.

Every test runs the console script in a process of its own; nothing is forked from the process that runs the tests.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from dpaudit import supervision
from dpaudit.cli import console_script
from dpaudit.engine import orchestrator
from dpaudit.engine.resumed import resumed
from dpaudit.language import Bernoulli, Claim, Mechanism
from dpaudit.plans.request import Request
from dpaudit.results.model import Verdict
from dpaudit.results.stream import AuditFinished, AuditStarted, CheckFinished

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the supervisor forks")

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 240.0
"""Seconds after which a command is taken to hang."""

SUBJECTS = """
import atexit, ctypes, os, signal, sys, threading, time
from dataclasses import dataclass
from dpaudit.language import Bernoulli, Claim, Mechanism

CALLS = [0]

def good(data, rng, size): return rng.laplace(sum(data), 1.0, size)
def bad(data, rng, size): return rng.laplace(sum(data), 0.2, size)
def zero(data, rng): os._exit(0)
def three(data, rng): os._exit(3)
def segfault(data, rng): ctypes.string_at(0)
def killed(data, rng): os.kill(os.getpid(), signal.SIGKILL)

def late(data, rng):
    CALLS[0] += 1
    if CALLS[0] >= 1000: os._exit(0)
    return int(rng.integers(5))

def hangs(data, rng):
    for number in signal.valid_signals():
        try: signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True: time.sleep(1)

def closes_files(data, rng):
    os.closerange(3, 256)
    return int(rng.integers(5))

def exits_at_the_end(data, rng, size):
    atexit.register(os._exit, 0)
    return rng.laplace(sum(data), 0.2, size)

def ends_reports(data, rng, size):
    os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    return rng.laplace(sum(data), 0.2, size)

def slow(data, rng):
    with open("pid.txt", "w") as file: file.write(str(os.getpid()))
    time.sleep(0.05)
    return int(rng.integers(5))

class Exits:
    def __reduce__(self): raise SystemExit(0)
    def __call__(self, data, rng): return int(rng.integers(5))

@dataclass(frozen=True)
class Dies(Mechanism):
    @property
    def claim(self): return Claim(1.0)
    def run(self, data):
        bit = yield Bernoulli(0.5)
        if sum(data) > 1: os._exit(0)
        return bit
"""
PAIR = ("--epsilon", "1", "--pair", "[1]", "[0]", "--runs", "2000", "--quiet", "--seed", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "u.py").write_text(SUBJECTS)
    (tmp_path / "imported.py").write_text("import os\nos._exit(0)\n")
    return tmp_path


def _environment(folder: Path) -> dict[str, str]:
    names = ("DPAUDIT_ONE_PROCESS", "DPAUDIT_TRACEBACK", "XDG_CACHE_HOME", "XDG_STATE_HOME")
    kept = {key: value for key, value in os.environ.items() if key not in names}
    return {**kept, "HOME": str(folder), "DPAUDIT_STORE": str(folder / "store.sqlite3"), "PYTHONDONTWRITEBYTECODE": "1"}


def _interruptible() -> None:
    """Interrupts are ignored in what a shell runs in the background, and these tests send some."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _started(folder: Path, *words: str, **more: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "dpaudit", *words], cwd=folder, env=_environment(folder), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=_interruptible, **more,
    )  # fmt: skip


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command to its end; whatever it leaves behind is ended, and a hang is an error."""
    process = _started(folder, *words)
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"{words} hangs: {out}{err}") from None
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def audits(folder: Path, name: str = "r.json") -> dict[str, dict[str, Any]]:
    return {audit["name"]: audit for audit in json.loads((folder / name).read_text())["audits"]}


def test_the_console_script_is_the_supervisor() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"dpaudit": "dpaudit.cli.console_script:main"}


ENDS = {
    "zero": "zero (given pairs) ended dpaudit's process with os._exit(0).",
    "three": "three (given pairs) ended dpaudit's process with os._exit(3).",
    "segfault": "segfault (given pairs) ended dpaudit's process by signal SIGSEGV.",
    "killed": (
        "killed (given pairs) ended dpaudit's process by signal SIGKILL (the system does that when memory runs out)."
    ),
    "late": "late (given pairs) ended dpaudit's process with os._exit(0).",
}


@pytest.mark.slow(fast=["three-1"])
@pytest.mark.parametrize(("name", "jobs"), [*((name, "1") for name in ENDS), ("killed", "2")])
def test_a_process_that_ends_is_a_crash(name: str, jobs: str, folder: Path) -> None:
    """In the first call (`zero`) and on the thousandth (`late`); with one case nothing is sent to worker processes."""
    ran = run(folder, "check", f"u.py:{name}", *PAIR, "--jobs", jobs, "--json", "r.json", "--junit", "r.xml")
    assert ran.returncode == 4, ran.stderr
    assert f"dpaudit: {ENDS[name]}\n" in ran.stderr
    found = audits(folder)[name]
    assert (found["verdict"], found["crashed"], found["reason"]) == ("inconclusive", True, ENDS[name])
    assert "os._exit" in (folder / "r.xml").read_text() or "signal" in (folder / "r.xml").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_other_audits_stand(jobs: str, folder: Path) -> None:
    names = ("bad", "zero", "good", "segfault")
    outputs = ("--json", "r.json", "--html", "r.html", "--events", "e.ndjson", "--markdown", "r.md")
    ran = run(folder, "check", *(f"u.py:{name}" for name in names), *PAIR, "--jobs", jobs, *outputs)
    assert ran.returncode == 4, ran.stderr
    found = audits(folder)
    assert tuple(found) == names
    assert [found[name]["verdict"] for name in names] == ["fail", "inconclusive", "pass", "inconclusive"]
    assert [found[name]["crashed"] for name in names] == [False, True, False, True]
    # every audit is shown once, in order, as where nothing died
    assert [line.split("  ")[1].split()[0] for line in ran.stdout.splitlines()] == list(names)
    events = [json.loads(line) for line in (folder / "e.ndjson").read_text().splitlines()]
    assert [event["sequence"] for event in events] == list(range(len(events)))
    assert [event["name"] for event in events if event["event"] == "audit_started"] == list(names)
    assert [event["audit"]["name"] for event in events if event["event"] == "audit_finished"] == list(names)
    assert (folder / "r.html").read_text().rstrip().endswith("</html>")
    assert "segfault" in (folder / "r.md").read_text()


@pytest.mark.slow
def test_results_are_those_of_a_run_in_which_nothing_died(folder: Path) -> None:
    """The same command, once with a mechanism that dies and once, with its text changed, with one that raises."""
    line = ("check", "u.py:bad", "u.py:zero", "u.py:good", *PAIR, "--jobs", "1", "--json", "r.json")
    assert run(folder, *line).returncode == 4
    died = audits(folder)
    text = SUBJECTS.replace("def zero(data, rng): os._exit(0)", "def zero(data, rng): raise ValueError")
    (folder / "u.py").write_text(text)
    assert run(folder, *line).returncode == 4
    raised = audits(folder)
    assert died["zero"] != raised["zero"]
    for name in ("bad", "good"):
        before, after = ({**found[name], "location": None} for found in (died, raised))
        for one in (before, after):
            # evidence is about the program's text, which differs
            (one["sequential"] or {}).pop("key", None)
        assert before == after


@pytest.mark.slow
def test_an_import_that_ends_the_process(folder: Path) -> None:
    ran = run(folder, "check", "imported.py:f", *PAIR, "--json", "r.json")
    assert ran.returncode == 4
    assert ran.stderr == "dpaudit: The import of imported.py ended dpaudit's process with os._exit(0).\n"
    assert not (folder / "r.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("stubborn", [False, True])
def test_an_import_that_does_not_end(folder: Path, stubborn: bool) -> None:
    ignored = "import signal\nfor one in (signal.SIGALRM, signal.SIGINT): signal.signal(one, signal.SIG_IGN)\n"
    (folder / "h.py").write_text((ignored if stubborn else "") + "import time\ntime.sleep(600)\n")
    ran = run(folder, "check", "h.py:f", *PAIR, "--time", "1")
    if stubborn:
        said = "The import of h.py did not react to the time limit, so dpaudit's process was killed."
    else:
        said = "The time limit ran out before the first audit; nothing was run."
    assert (ran.stderr, ran.returncode) == (f"dpaudit: {said}\n", 4 if stubborn else 3)


@pytest.mark.slow
def test_reports_that_end_the_process_are_written_once_more(folder: Path) -> None:
    outputs = ("--json", "r.json", "--markdown", "r.md", "--events", "e.ndjson")
    ran = run(folder, "check", "u.py:good", "u.py:ends_reports", *PAIR, "--jobs", "1", *outputs)
    assert ran.returncode == 1, ran.stderr
    assert "A report ended dpaudit's process by signal SIGKILL" in ran.stderr
    verdicts = {name: audit["verdict"] for name, audit in audits(folder).items()}
    assert verdicts == {"good": "pass", "ends_reports": "fail"}
    assert "ends_reports" in (folder / "r.md").read_text()
    events = [json.loads(line) for line in (folder / "e.ndjson").read_text().splitlines()]
    assert [event["sequence"] for event in events] == list(range(len(events)))
    assert [event["event"] for event in events].count("check_finished") == 1
    assert len(ran.stdout.splitlines()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("command", ["verify", "worst"])
def test_a_mechanism_of_exact_laws(command: str, folder: Path) -> None:
    data = ("--data", "integers(0, 1)", "--size", "2", *(("--groups", "1") if command == "verify" else ()))
    ran = run(folder, command, "u.py:Dies", *data, "--quiet", "--json", "r.json")
    assert ran.returncode == 4, ran.stderr
    assert "ended dpaudit's process with os._exit(0)." in ran.stderr
    assert audits(folder)["Dies"]["crashed"]
    assert audits(folder)["Dies"]["verdict"] == "inconclusive"


@pytest.mark.slow
def test_a_hang_with_all_signals_ignored(folder: Path) -> None:
    line = ("check", "u.py:bad", "u.py:hangs", *PAIR, "--jobs", "1", "--time", "8", "--json", "r.json")
    begun = time.monotonic()
    ran = run(folder, *line)
    assert time.monotonic() - begun < 60
    assert ran.returncode == 4, ran.stderr
    why = "hangs (given pairs) did not react to the time limit, so dpaudit's process was killed."
    assert why in ran.stderr
    found = audits(folder)
    assert found["bad"]["verdict"] == "fail"
    assert (found["hangs"]["crashed"], found["hangs"]["reason"]) == (True, why)


@pytest.mark.slow
def test_a_hang_in_a_worker_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Side by side there is a process for every case, in the Python API too."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(orchestrator, "WORTH_A_POOL", -1.0)
    monkeypatch.setattr("dpaudit.evidence.side_by_side.LIMIT_GRACE", 1.0)
    targets = ("u.py:bad", "u.py:hangs", "u.py:good")
    request = Request(targets, epsilon=1.0, pair=([1], [0]), runs=2000, jobs=2, time=15.0)
    (end,) = [event for event in orchestrator.check(request) if isinstance(event, CheckFinished)]
    found = {audit.name: audit for audit in end.result.audits}
    assert found["bad"].verdict is Verdict.FAIL
    assert found["hangs"].crashed
    assert found["hangs"].reason == "hangs did not react to the time limit, so its worker process was killed."
    assert not found["good"].crashed


@pytest.mark.slow
def test_old_evidence_stays_whole(folder: Path) -> None:
    first = run(folder, "check", "u.py:good", "u.py:bad", *PAIR, "--json", "n.json")
    assert first.returncode == 1
    before = audits(folder, "n.json")
    text = SUBJECTS.replace("def bad(data, rng, size): return", "def bad(data, rng, size): os._exit(0); return")
    (folder / "u.py").write_text(text)
    again = ("--jobs", "1", "--evidence", "n.json", "--json", "n.json")
    ran = run(folder, "check", "u.py:good", "u.py:bad", *PAIR[:-1], "2", *again)
    assert ran.returncode == 4, ran.stderr
    content = json.loads((folder / "n.json").read_text())["audits"]
    seeds = {seed for audit in content if audit["name"] == "good" for seed in audit["sequential"]["seeds"]}
    assert seeds == {1, 2}
    kept = [audit for audit in content if audit["name"] == "bad" and audit["sequential"] is not None]
    assert [audit["sequential"]["key"] for audit in kept] == [before["bad"]["sequential"]["key"]]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [("closes_files", 0), ("exits_at_the_end", 1)])
def test_what_does_no_harm(name: str, code: int, folder: Path) -> None:
    """The exit code is told before anything else of the mechanism's can run."""
    ran = run(folder, "check", f"u.py:{name}", *PAIR, "--jobs", "1", "--json", "r.json")
    assert ran.returncode == code, ran.stderr
    assert not audits(folder)[name]["crashed"]


@pytest.mark.slow
def test_sys_exit_where_nobody_expects_it(folder: Path) -> None:
    text = SUBJECTS + "\nclass Named(type):\n"
    text += "    def __instancecheck__(cls, one): raise SystemExit(0)\n"
    text += "    @property\n    def __name__(cls): raise SystemExit(0)\n"
    text += "class Odd(metaclass=Named):\n    def __call__(self, data, rng): return 0\nodd = Odd()\n"
    (folder / "u.py").write_text(text)
    ran = run(folder, "check", "u.py:odd", *PAIR, "--jobs", "1")
    assert ran.returncode == 4
    assert "sys.exit(0)" in ran.stderr


def _children(process: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_bytes().rpartition(b")")[2].split()[1]) == process:
                found.append(int(stat.parent.name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


@pytest.fixture
def slow(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A command in the middle of an audit, after one that has ended, and the process that audits."""
    line = ("check", "u.py:bad", "u.py:slow", *PAIR, "--jobs", "1", "--json", "r.json")
    process = _started(folder, *line)
    until = time.monotonic() + LIMIT
    pid = folder / "pid.txt"
    while not (pid.exists() and pid.read_text()):
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.05)
    yield process, int(pid.read_text())
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.mark.slow
def test_an_interrupt_of_the_supervisor_alone(slow: tuple[subprocess.Popen[str], int], folder: Path) -> None:
    process, _ = slow
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, err
    assert "1 of 2 audits ended" in err
    assert list(audits(folder)) == ["bad"]


def test_an_interrupt_of_both(slow: tuple[subprocess.Popen[str], int], folder: Path) -> None:
    """As Ctrl-C in a terminal: it counts once."""
    process, _ = slow
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, err
    assert list(audits(folder)) == ["bad"]


@linux
@pytest.mark.slow
def test_a_second_interrupt_of_a_process_that_does_not_react(folder: Path) -> None:
    line = "    while True: time.sleep(1)"
    text = SUBJECTS.replace(line, f"    open('on.txt', 'w').close()\n{line}")
    (folder / "u.py").write_text(text)
    process = _started(folder, "check", "u.py:bad", "u.py:hangs", *PAIR, "--jobs", "1", "--json", "r.json")
    until = time.monotonic() + LIMIT
    while not (folder / "on.txt").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, err
    assert list(audits(folder)) == ["bad"]


@pytest.mark.slow
@linux
def test_sigterm_ends_both(slow: tuple[subprocess.Popen[str], int]) -> None:
    process, auditing = slow
    assert _children(process.pid) == [auditing]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=LIMIT)
    assert process.returncode == -signal.SIGTERM
    assert not _alive(auditing)


@pytest.mark.slow
@linux
def test_the_supervisor_takes_the_other_with_it(slow: tuple[subprocess.Popen[str], int]) -> None:
    process, auditing = slow
    process.kill()
    process.wait(LIMIT)
    until = time.monotonic() + 10
    while _alive(auditing):
        assert time.monotonic() < until
        time.sleep(0.02)


@linux
@pytest.mark.slow
def test_ctrl_z_stops_both_and_takes_no_time(folder: Path) -> None:
    """Both are of one process group, so that a terminal stops and continues both."""
    line = ("check", "u.py:slow", *PAIR, "--jobs", "1", "--time", "4", "--json", "r.json")
    process = _started(folder, *line)
    until = time.monotonic() + LIMIT
    while not (folder / "pid.txt").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGSTOP)
    time.sleep(4 + supervision.LIMIT_GRACE + 1)
    os.killpg(process.pid, signal.SIGCONT)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 3, err
    assert not audits(folder)["slow"]["crashed"]


@linux
@pytest.mark.slow
def test_worker_processes_of_a_dead_process_are_ended(folder: Path) -> None:
    text = SUBJECTS + """
def leaves(data, rng):
    import subprocess
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    with open("child.txt", "w") as file: file.write(str(child.pid))
    os._exit(0)
"""
    (folder / "u.py").write_text(text)
    assert run(folder, "check", "u.py:leaves", *PAIR, "--jobs", "1").returncode == 4
    assert not _alive(int((folder / "child.txt").read_text()))


@pytest.mark.slow
def test_nobody_supervises_python(folder: Path) -> None:
    """A program that calls dpaudit is its user's: what ends it ends it."""
    program = "import dpaudit, u; dpaudit.audit(u.three, epsilon=1.0, pair=([1], [0]), runs=100)"
    words = [sys.executable, "-c", program]
    ran = subprocess.run(words, cwd=folder, env=_environment(folder), timeout=LIMIT, check=False)
    assert ran.returncode == 3


def test_a_cut_frame_is_left_out() -> None:
    page, (read, write) = supervision.Page(), os.pipe()
    one = supervision.Supervised(page, write, None)
    one.keep(b"first")
    one.keep(b"")
    one.keep(b"third")
    content = os.read(read, 1000)
    os.close(read)
    os.close(write)
    assert supervision.frames(content) == [b"first", b"", b"third"]
    assert supervision.frames(content[:-1]) == [b"first", b""]
    assert supervision.frames(content[:2]) == []


def test_the_page() -> None:
    page = supervision.Page()
    one = supervision.Supervised(page, -1, None)
    one.running(replay="abc", name="ε" * 10_000)
    assert page.said()["replay"] == "abc"
    assert page.said()["name"].startswith("εε")
    one.tell(code=3, phase=supervision.WRITING)
    one.set_limit(5.0)
    assert page.read() == supervision.Numbers(limit=5.0, phase=supervision.WRITING, code=3)
    one.running()
    assert page.said() == {}
    page.clear()
    assert page.read() == supervision.Numbers()


@pytest.fixture
def of_this_process(monkeypatch: pytest.MonkeyPatch) -> tuple[supervision.Page, supervision.Supervised]:
    """A page, and this process as one that is supervised; nobody waits for it."""
    page = supervision.Page()
    one = supervision.Supervised(page, -1, None)
    monkeypatch.setattr(supervision, "_supervised", one)
    return page, one


def test_the_supervisor_knows_the_time_limit(
    of_this_process: tuple[supervision.Page, supervision.Supervised],
) -> None:
    page, _ = of_this_process
    before = time.monotonic()
    with supervision.until(50.0):
        assert before + 50 <= page.read().limit <= time.monotonic() + 50
    assert page.read().limit == 0


def test_a_process_that_a_mechanism_has_forked_says_nothing(
    of_this_process: tuple[supervision.Page, supervision.Supervised], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its exit code, and what it runs, are not those of dpaudit's process."""
    page, one = of_this_process
    assert supervision.supervised() is one
    monkeypatch.setattr(os, "getpid", lambda: -1)
    one.tell(code=0)
    one.running(replay="abc")
    one.keep(b"an audit")
    with supervision.until(50.0):
        assert page.read() == supervision.Numbers()
    assert page.said() == {}
    assert supervision.supervised() is None


def test_an_interrupt_that_arrives_twice_counts_once(
    of_this_process: tuple[supervision.Page, supervision.Supervised], monkeypatch: pytest.MonkeyPatch
) -> None:
    page, one = of_this_process
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with pytest.raises(KeyboardInterrupt):
        one.interrupt(signal.SIGINT, None)
    now += supervision.TOGETHER / 2
    try:
        one.interrupt(signal.SIGINT, None)
    except KeyboardInterrupt:
        pytest.fail("it counts twice")
    assert page.read().interrupted == now
    now += 2 * supervision.TOGETHER
    with pytest.raises(KeyboardInterrupt):
        one.interrupt(signal.SIGINT, None)


@pytest.mark.parametrize("why", ["late", "interrupted", "terminated"])
def test_a_process_that_does_not_react_is_killed(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is not killed ends by itself, with exit code 0 and too late."""
    for name, value in (("TICK", 0.01), ("LIMIT_GRACE", 0.02), ("INTERRUPT_GRACE", 0.02), ("TOGETHER", -1.0)):
        monkeypatch.setattr(console_script, name, value)
    supervisor = console_script._Supervisor()
    numbers = supervision.Numbers(phase=supervision.AUDITING, interrupted=float("inf"))
    supervisor._page.write(replace(numbers, limit=time.monotonic() - 1) if why == "late" else numbers)
    (kept, pipe), (wake, signals) = os.pipe(), os.pipe()
    os.set_blocking(wake, False)
    ignores = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(5)"
    with subprocess.Popen([sys.executable, "-S", "-c", ignores], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        sent = {"late": [], "interrupted": [signal.SIGINT] * 2, "terminated": [signal.SIGTERM]}[why]
        os.write(signals, bytes(sent))
        end = supervisor._watch(process.pid, kept, wake)
        process.returncode = end.status
    for handle in (kept, pipe, wake, signals):
        os.close(handle)
    assert os.WIFSIGNALED(end.status)
    assert os.WTERMSIG(end.status) == signal.SIGKILL
    assert (end.code, end.late, end.interrupted) == (None, why == "late", why == "interrupted")
    assert supervisor._terminated == (why == "terminated")


@pytest.fixture
def supervisor(monkeypatch: pytest.MonkeyPatch) -> console_script._Supervisor:
    """One that leaves the process that runs the tests, its children and its terminal alone."""
    monkeypatch.setattr(console_script, "_prctl", lambda *_: None)
    for name in ("_end_children", "_tidy_terminal"):
        monkeypatch.setattr(console_script, name, lambda: None)
    return console_script._Supervisor()


def _plays(supervisor: console_script._Supervisor, *ends: tuple[int, dict[str, str], bytes, int | None]) -> list[Any]:
    """Processes that end so, one after another, each (phase, what was running, kept, exit code); what each is given."""
    given: list[Any] = []

    def one(before: supervision.Before | None) -> console_script._End:
        given.append(before and replace(before, ended=list(before.ended), lost=dict(before.lost)))
        phase, running, kept, code = ends[len(given) - 1]
        supervisor._page.write(supervision.Numbers(phase=phase))
        supervisor._page.say(running)
        supervisor._kept[:] = supervision._FRAME.pack(len(kept)) + kept if kept else b""
        return console_script._End(code, 0, late=False, interrupted=False)

    supervisor._one = one  # type: ignore[method-assign]
    return given


def test_what_is_kept_of_processes_that_died(
    supervisor: console_script._Supervisor, capsys: pytest.CaptureFixture[str]
) -> None:
    died = [(supervision.AUDITING, {"replay": f"id of {name}", "name": name}, name.encode(), None) for name in "fg"]
    given = _plays(supervisor, *died, (supervision.WRITING, {}, b"", 3))
    assert supervisor.run() == 3
    first, second, third = given
    assert first is None
    sentence = "{} ended dpaudit's process with os._exit(0)."
    assert (second.ended, second.lost) == ([b"f"], {"id of f": sentence.format("f")})
    assert third.ended == [b"f", b"g"]
    assert third.lost == {f"id of {name}": sentence.format(name) for name in "fg"}
    assert capsys.readouterr().err == "".join(f"dpaudit: {sentence.format(name)}\n" for name in "fg")


def test_where_there_is_nothing_to_go_on_with(supervisor: console_script._Supervisor) -> None:
    given = _plays(supervisor, (supervision.LOADING, {}, b"", None))
    assert supervisor.run() == 4
    assert given == [None]


@pytest.mark.parametrize("phase", [supervision.AUDITING, supervision.WRITING])
def test_a_process_that_ends_beside_the_audits_is_begun_again_once(
    phase: int, supervisor: console_script._Supervisor
) -> None:
    given = _plays(supervisor, *[(phase, {}, b"", None)] * 2)
    assert supervisor.run() == 4
    assert len(given) == 2


@dataclass(frozen=True)
class First(Mechanism):
    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, data: Any) -> Any:
        return (yield Bernoulli(0.5))


class Second(First):
    """Another name, and so another audit."""


class Third(First):
    """As well."""


@pytest.mark.parametrize("interrupted", [False, True])
def test_what_an_earlier_process_has_done(interrupted: bool) -> None:
    request = Request((First(), Second(), Third()), pair=([1], [0]), runs=200)
    first, second, third = (event.audit for event in orchestrator.check(request) if isinstance(event, AuditFinished))
    kept = pickle.dumps((replace(first, reason="kept"), 1.0))
    known = resumed(supervision.Before([kept], {second.replay: "It died."}, 1000.0, 7, interrupted))
    events = list(orchestrator.check(request, resumed=known))
    told = [event for event in events if known.reported(event)]
    assert told[0] is events[0]
    started = [event.replay for event in told if isinstance(event, AuditStarted)]
    assert started == [first.replay, second.replay]
    # the second one, which is a crash, is not told yet
    assert [event.audit.replay for event in told if isinstance(event, AuditFinished)] == [first.replay]
    end = events[-1]
    assert isinstance(end, CheckFinished)
    assert end.result.interrupted == interrupted
    assert end.result.timings is not None
    assert end.result.timings.seconds >= 1000
    found = {audit.replay: audit for audit in end.result.audits}
    assert found[first.replay].reason == "kept"
    assert (found[second.replay].crashed, found[second.replay].reason) == (True, "It died.")
    assert list(found) == [first.replay, second.replay, *([] if interrupted else [third.replay])]
