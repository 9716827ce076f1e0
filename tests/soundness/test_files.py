"""What dpaudit writes and reads back: files are whole whatever happens, and no forged or damaged one is believed."""

from __future__ import annotations

import errno
import io
import json
import os
import resource
import shlex
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers import Rows
from rich.console import Console

from dpaudit import whole_files
from dpaudit.cli import commands
from dpaudit.cli.run import audit_texts
from dpaudit.engine import orchestrator
from dpaudit.errors import ReportError
from dpaudit.plans.request import Request
from dpaudit.report import files, html, sarif
from dpaudit.report.console import ConsoleReporter
from dpaudit.report.files import Outputs
from dpaudit.report.html import to_html
from dpaudit.results import json_form
from dpaudit.results.earlier import with_earlier
from dpaudit.results.model import Audit, Result, Verdict
from dpaudit.whole_files import encoded, refuse_unwritable_file, write_file

OLD, NEW = "the old one\n", "the new one, which is longer\n" * 3000


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory of the test's own."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "DPAUDIT_STORE", "DPAUDIT_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    return folder


# -- one writer


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    file, link = tmp_path / "r.json", tmp_path / "link.json"
    write_file(file, OLD)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~umask
    file.chmod(0o640)
    link.symlink_to("r.json")
    write_file(link, NEW)
    assert file.read_text() == NEW
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "r.json"]


def test_a_link_to_nothing_makes_the_file_that_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/r.json")
    write_file(tmp_path / "link", NEW)
    assert (tmp_path / "there" / "r.json").read_text() == NEW


@pytest.mark.parametrize("step", ["open", "write", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_writer_that_fails_leaves_the_old_file(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "r.json"
    write_file(file, OLD)

    def fails(*args: Any, **more: Any) -> Any:
        raise error

    monkeypatch.setattr(whole_files.os, step, fails)
    with pytest.raises(type(error)):
        write_file(file, NEW)
    monkeypatch.undo()
    assert file.read_text() == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_a_disk_that_fills_up_on_the_way(tmp_path: Path) -> None:
    """A real limit of the system (no file above 4,096 bytes), in a process of its own."""
    file = tmp_path / "r.json"
    write_file(file, OLD)
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            write_file(file, NEW)
        except OSError as error:
            os._exit(error.errno)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == errno.EFBIG
    assert file.read_text() == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_pipes_and_devices_are_written_to_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        write_file("/dev/full", NEW)
    write_file("/dev/null", NEW)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refuse_unwritable_file(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_file(pipe, NEW)
    reader.join(10)
    assert got == [NEW]
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_stdout_by_name_is_no_file_to_replace(name: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/stdout")
    words = [sys.executable, "-c", f"from dpaudit.whole_files import write_file; write_file({name!r}, 'said')"]
    said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said.stdout == "said"
    with (tmp_path / "out.txt").open("w") as out:
        subprocess.run(words, cwd=tmp_path, stdout=out, check=True)
        assert os.fstat(out.fileno()).st_ino == (tmp_path / "out.txt").stat().st_ino
    assert (tmp_path / "out.txt").read_text() == "said"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text(OLD)
    for place in (tmp_path, tmp_path / "loop", tmp_path / "missing" / "x", tmp_path / "file" / "x"):
        for function in (refuse_unwritable_file, lambda path: write_file(path, NEW)):
            with pytest.raises(OSError):  # noqa: PT011  # which one depends on the place
                function(place)
    refuse_unwritable_file(tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "loop"]


def test_half_of_a_surrogate_pair_is_escaped_as_json_escapes_it(tmp_path: Path) -> None:
    text = json.dumps({"a": "x\ud800y", "ε": "😀"}, ensure_ascii=False)
    write_file(tmp_path / "x.json", text)
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == json.loads(text)
    assert json.loads(encoded(text, "ascii")) == json.loads(text), "also beyond the first 65,536 characters"


def test_what_killed_writers_left_is_removed_an_hour_later(tmp_path: Path) -> None:
    names = ("r.json.0123456789abcdef", "r.json.fedcba9876543210", "r.json.x")
    old, fresh, foreign = (tmp_path / f".{name}.tmp" for name in names)
    for path in (old, fresh, foreign):
        path.write_text("half")
        if path != fresh:
            os.utime(path, (1e9, 1e9))
    write_file(tmp_path / "r.json", NEW)
    assert (old.exists(), fresh.exists(), foreign.exists()) == (False, True, True)


# -- the command line

FUNCTIONS = """
import os
def f(data, rng):
    return int(data[0]) if rng.random() < .73 else 1 - int(data[0])
def g(data, rng):
    if os.path.exists("interrupt"): raise KeyboardInterrupt
    if os.path.exists("crash"): raise ValueError("crash")
    while os.path.exists("sleep"): pass
    return int(data[0]) if rng.random() < .6 else 1 - int(data[0])
"""
ASKED = "check m.py:f m.py:g --epsilon 1 --pair [1] [0] --runs 400 --jobs 1 --min-power inf"
Typed = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def typed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Typed:
    """Run the real entry point in a folder with two functions: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(FUNCTIONS)

    def line(text: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["dpaudit", *shlex.split(text)])
        with pytest.raises(SystemExit) as ended:
            commands.main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return line


def seeds(path: str = "n.json") -> dict[str, list[int]]:
    """The seeds whose samples are in the evidence of a file, by function; those of several audits in a row."""
    found: dict[str, list[int]] = {}
    for audit in files.read(path).audits:
        if audit.sequential is not None:
            found.setdefault(audit.name, []).extend(audit.sequential.seeds)
    return found


@pytest.mark.slow(fast=["interrupt-*"])
@pytest.mark.parametrize(("trouble", "code"), [("interrupt", 130), ("sleep", 3), ("crash", 4)])
def test_evidence_of_earlier_runs_is_not_lost(trouble: str, code: int, typed: Typed) -> None:
    again = f"{ASKED} --evidence n.json --json n.json"
    assert typed(f"{ASKED} --seed 1 --json n.json")[0] == 0
    first = {audit.name: audit.sequential.log_e for audit in files.read("n.json").audits if audit.sequential}
    Path(trouble).write_text("")
    assert typed(f"{again} --seed 2 {'--time 1' if trouble == 'sleep' else ''}")[0] == code
    # an audit that ends before its first sample carries what there was; one that never began is kept as it is
    begun = [] if trouble == "interrupt" else [2]
    assert seeds() == {"f": [1, 2], "g": [1, *begun]}
    assert typed("report n.json --quiet")[0] == 0
    (kept,) = [audit for audit in files.read("n.json").audits if audit.name == "g" and audit.sequential is not None]
    assert any("Kept from an earlier result, made with seed 1" in note.sentence for note in kept.notes) == (not begun)
    assert kept.sequential is not None
    assert kept.sequential.log_e == first["g"]
    Path(trouble).unlink()
    assert typed(f"{again} --seed 3")[0] == 0
    assert seeds() == {"f": [1, 2, 3], "g": [1, *begun, 3]}
    assert len(files.read("n.json").audits) == 2, "what is superseded goes"


def test_a_full_disk_in_the_second_run_leaves_the_file_of_the_first(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert typed(f"{ASKED} --seed 1 --json n.json --quiet")[0] == 0
    before = Path("n.json").read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(whole_files.os, "fsync", full)
    code, out, err = typed(f"{ASKED} --seed 2 --evidence n.json --json ./n.json --markdown x.md --quiet")
    assert code == 2
    assert err.splitlines() == [
        f"dpaudit: Cannot write {name}: No space left on device." for name in ("./n.json", "x.md")
    ]
    assert "PASS" in out, "what was found is shown all the same"
    assert Path("n.json").read_bytes() == before
    assert not list(Path().glob(".*.tmp"))


def test_a_changed_function_begins_anew_and_the_old_evidence_goes(typed: Typed) -> None:
    assert typed(f"{ASKED} --seed 1 --json n.json")[0] == 0
    Path("m.py").write_text(FUNCTIONS.replace(".73", ".72"))
    assert typed(f"{ASKED} --seed 2 --evidence n.json --json n.json")[0] == 0
    assert seeds() == {"f": [2], "g": [1, 2]}


@pytest.mark.slow
def test_two_runs_on_one_file_at_the_same_time_lose_nothing() -> None:
    """The file is read again when it is written: what another run has added since stays."""
    def session(seed: int) -> Result:
        return orchestrator.run(Request((bit,), seed=seed, epsilon=0.85, pair=((1,), (0,)), runs=400))

    one, two = session(1), session(2)
    both = with_earlier(two, one)
    assert [audit.sequential.seeds for audit in both.audits if audit.sequential is not None] == [[2], [1]]
    assert with_earlier(both, one).audits == both.audits, "an audit is kept once"


def bit(data: Any, rng: Any) -> int:
    """Randomised response."""
    return int(data[0]) if rng.random() < 0.7 else 1 - int(data[0])


@pytest.mark.slow
def test_one_report_that_cannot_be_written_leaves_the_others(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("")
    forms = "--json r.json --html r.html --sarif r.sarif --markdown r.md --report out"
    code, _, err = typed(f"{ASKED} {forms} --junit /dev/full --quiet")
    assert (code, err) == (2, "dpaudit: Cannot write /dev/full: No space left on device.\n")
    for name in ("r.json", "r.html", "r.sarif", "r.md", "out/index.html", "out/result.json"):
        assert Path(name).stat().st_size > 100

    def bug(*args: Any, **more: Any) -> str:
        raise RuntimeError("a bug")

    monkeypatch.setattr(html, "to_html", bug)
    monkeypatch.setattr(sarif, "to_sarif", bug)
    code, _, err = typed("report r.json --html s.html --sarif s.sarif --markdown s.md --report out2")
    assert code == 4
    assert [line.split(";")[0] for line in err.splitlines()] == [
        "dpaudit: Cannot write --html s.html: dpaudit itself failed (RuntimeError: a bug)",
        "dpaudit: Cannot write --sarif s.sarif: dpaudit itself failed (RuntimeError: a bug)",
    ]
    assert Path("s.md").exists()
    assert Path("out2/index.html").exists()
    assert not Path("s.html").exists()


@pytest.mark.slow
def test_a_log_of_events_on_a_full_disk_keeps_whole_lines(typed: Typed, tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
        sys.argv = ["dpaudit", *f"{ASKED} --events e.ndjson --quiet".split()]
        try:
            commands.main()
        except SystemExit as ended:
            os._exit(ended.code if isinstance(ended.code, int) else 70)
        os._exit(70)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    text = (tmp_path / "e.ndjson").read_text()
    assert 0 < len(text) <= 3000
    assert text.endswith("\n")
    for line in text.splitlines():
        json.loads(line)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code"),
    [(f"{ASKED} --json r.json", 2), ("list", 2), ("--version", 2), (f"{ASKED} --json - --markdown r.json", 2)],
)
def test_stdout_on_a_full_disk(line: str, code: int, typed: Typed, tmp_path: Path, home: Path) -> None:
    """In a process of its own: Python ends with a code of its own where it cannot flush stdout."""
    words = [sys.executable, "-m", "dpaudit.cli.commands", *line.split()]
    with Path("/dev/full").open("w") as full:
        said = subprocess.run(words, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert said.returncode == code
    assert "dpaudit: Cannot write to stdout: No space left on device." in said.stderr.splitlines()[-1]
    assert "Traceback" not in said.stderr
    if "r.json" in line:
        assert (tmp_path / "r.json").stat().st_size > 100, "the file is written all the same"


@pytest.mark.parametrize("home_is", ["", "file", "missing"])
def test_the_command_line_without_a_home(home_is: str, typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("file").write_text("")
    monkeypatch.setenv("HOME", str(Path("file").resolve()) if home_is == "file" else home_is)
    code, out, err = typed("verify ExponentialMechanism --domain 3 --size 2 --groups 1 --jobs 1 --quiet")
    assert (code, err) == (0, "")
    assert "PASS · proved" in out


# -- results that are read back


def _first(value: dict[str, Any]) -> dict[str, Any]:
    audit: dict[str, Any] = value["audits"][0]
    return audit


def _set(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(audit: dict[str, Any]) -> None:
        at: Any = audit
        for part in path[:-1]:
            at = at[part]
        at[path[-1]] = to(at[path[-1]]) if callable(to) else to

    return change


LIES: list[tuple[str, Callable[[dict[str, Any]], None], str]] = [
    ("refuted", _set("verdict", to="pass"), "verdict: pass, but its counts refute"),
    ("refuted", _set("verdict", to="inconclusive"), "verdict: inconclusive, but its counts refute"),
    ("refuted", _set("sampled", 0, "epsilon_lower_clopper_pearson", to=lambda e: e + 0.01), "is above the"),
    ("refuted", _set("sampled", 0, "epsilon_lower", to=lambda e: e + 0.2), "is above what"),
    ("refuted", _set("sampled", 0, "alpha", to=0.3), "confidence: 0.999, but its tests use"),
    ("refuted", _set("epsilon_lower", to=lambda e: e + 0.01), "epsilon_lower: "),
    ("refuted", _set("sequential", "log_peak", to=1.0), "log_peak: 1.0 is below log_e"),
    ("kept", _set("verdict", to="fail"), "verdict: fail, but nothing in its evidence refutes"),
    ("kept", _set("sequential", "refuted_at", to=100), "refuted_at: 100, but an e-value"),
    ("kept", _set("sampled", 0, "n", to=1), "is more than n = 1"),
    ("kept", _set("sampled", to=[]), "epsilon_lower"),
    ("kept", _set("crashed", to=True), "verdict: pass, but the mechanism crashed"),
    ("proved", _set("verdict", to="fail"), "verdict: fail, but nothing in its evidence refutes"),
    ("proved", _set("scope", to=None), "no scope is stated"),
    ("proved", _set("exact", 0, "delta", to=0.9), "exact[0]."),
    ("disproved", _set("verdict", to="pass"), "verdict: pass, but its exact ε and δ refute"),
    ("disproved", _set("verdict", to="inconclusive"), "verdict: inconclusive, but its exact"),
    ("disproved", _set("exact", 0, "delta", to=0.0), "exact[0].delta: 0.0, but"),
]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """Real results: a claim refuted and one not, by samples; one proved and one disproved, by all pairs."""
    home, os.environ["HOME"] = os.environ.get("HOME", ""), tempfile.mkdtemp()
    try:
        def of(target: Any, **more: Any) -> Result:
            return orchestrator.run(Request((target,), pair=((1,), (0,)), seed=3, **more))

        found = {
            "refuted": of(bit, epsilon=0.3, runs=4000),
            "kept": of(bit, epsilon=1.0, runs=2000),
        }
        proved = orchestrator.run(Request((Rows(1.0),), data="integers(0, 1)", size=3, runs=400))
        disproved = orchestrator.run(Request((Rows(2.0),), data="integers(0, 1)", size=3, runs=400))
        return found | {"proved": proved, "disproved": disproved}
    finally:
        os.environ["HOME"] = home


@pytest.mark.slow
def test_honest_results_are_read_back(results: dict[str, Result]) -> None:
    verdicts = {name: (one.audits[0].verdict, one.audits[0].evidence.value) for name, one in results.items()}
    assert verdicts == {
        "refuted": (Verdict.FAIL, "sampled"), "kept": (Verdict.PASS, "sampled"),
        "proved": (Verdict.PASS, "exhaustive"), "disproved": (Verdict.FAIL, "exhaustive"),
    }
    for name, result in results.items():
        assert json_form.from_json(json_form.to_json(result), where=name) == result


@pytest.mark.slow(only=["refuted-change-verdict: pass, but its counts refute"])
@pytest.mark.parametrize(("name", "lie", "says"), LIES)
def test_a_result_that_contradicts_itself_is_refused(
    name: str, lie: Callable[[dict[str, Any]], None], says: str, results: dict[str, Result]
) -> None:
    value = json_form.to_object(results[name])
    lie(_first(value))
    with pytest.raises(ReportError, match=r"^r\.json ") as refused:
        json_form.from_json(json.dumps(value), where="r.json")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_lie_is_refused_wherever_a_result_is_read(typed: Typed, results: dict[str, Result]) -> None:
    value = json_form.to_object(results["refuted"])
    _first(value)["verdict"] = "pass"
    Path("lie.json").write_text(json.dumps(value))
    for line in ("report lie.json --html x.html", f"{ASKED} --evidence lie.json --seed 9"):
        code, out, err = typed(line)
        assert (code, out) == (2, "")
        says = "dpaudit: lie.json contradicts itself, so it is not what dpaudit wrote: audits[0].verdict: pass"
        assert err.startswith(says)
        assert len(err.splitlines()) == 1
    assert not Path("x.html").exists()


def test_replacing_counts_refutes_what_they_refute(results: dict[str, Result]) -> None:
    """Counts alone decide: bounds of 0 beside counts that refute do not hide them."""
    audit: Audit = results["refuted"].audits[0]
    quiet = replace(
        audit, verdict=Verdict.PASS, sequential=None, epsilon_lower=0.0, epsilon_lower_clopper_pearson=0.0,
        sampled=[replace(one, epsilon_lower=0.0, epsilon_lower_clopper_pearson=0.0) for one in audit.sampled],
    )
    assert quiet.sampled
    text = json_form.to_json(replace(results["refuted"], audits=[quiet]))
    with pytest.raises(ReportError, match="its counts refute the claim"):
        json_form.from_json(text, where="r.json")


def _many(n: int, x: int, y: int) -> Callable[[dict[str, Any]], None]:
    def change(audit: dict[str, Any]) -> None:
        audit["sampled"][0] |= {"x": x, "n": n, "y": y, "m": n}

    return change


@pytest.mark.parametrize("n", [10**9, 10**18, 10**400])
def test_counts_beyond_any_audit_take_no_time(n: int, results: dict[str, Result]) -> None:
    """They are held against simpler bounds, and numbers that no bound can be computed of are refused."""
    value = json_form.to_object(results["kept"])
    _many(n, n // 2, 2 * n // 5)(_first(value))
    with pytest.raises(ReportError, match=r"^r\.json contradicts itself|is too large for a float"):
        json_form.from_json(json.dumps(value), where="r.json")
    _first(value)["verdict"] = "pass"
    _first(value)["sampled"][0] |= {"epsilon_lower": 5.0}
    with pytest.raises(ReportError):
        json_form.from_json(json.dumps(value), where="r.json")


def test_every_report_says_what_came_from_the_cache(results: dict[str, Result]) -> None:
    (audit,) = results["proved"].audits
    assert audit.proof is not None
    assert audit.proof.cache == ""
    said = "the first 4 of 8 output distributions read from the cache"
    result = replace(results["proved"], audits=[replace(audit, proof=replace(audit.proof, cache=said))])
    out = io.StringIO()
    ConsoleReporter(Console(file=out, width=200), Console(file=io.StringIO()), quiet=False).show(result)
    for text in (out.getvalue(), to_html(result), json_form.to_json(result)):
        assert said in text
    assert audit_texts(result) == audit_texts(results["proved"]), "a replay need not find the same cache"


def test_outputs_of_one_name_are_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.json").symlink_to("n.json")
    assert files.same_file("n.json", "./n.json")
    assert files.same_file("n.json", "link.json")
    assert not files.same_file("n.json", None)
    assert not files.same_file("-", "-")
    assert Outputs(json="-").take_stdout
