"""Mechanisms in other programs: what they get, what their output is, how they fail, and that they end."""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from numpy.random import default_rng

import dpaudit
from dpaudit.errors import DatasetError, DpauditError, MechanismError, OutputError, UsageError
from dpaudit.language.containers import Array, Column, Frame
from dpaudit.outputs.canonical import Exited, TookLonger, canonical
from dpaudit.plans.command import command_line
from dpaudit.plans.request import Request
from dpaudit.subjects.code_key import NoKeyError, code_key
from dpaudit.subjects.command import SEEDS, Command, Prepared, _restored, end_commands
from dpaudit.subjects.target import function_target

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs of these tests are scripts of sh and Python")

SERVER = '''\
import json, os, random, sys, time

mode, data, asked = sys.argv[1], None, 0
if mode == "stubborn":
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    request, asked = json.loads(line), asked + 1
    given = "dataset" in request
    data, size = request.get("dataset", data), request["size"]
    rng = random.Random(request["seed"])
    noisy = [sum(data) + rng.choice((-1, 1)) * rng.expovariate(float(sys.argv[2])) if mode == "laplace" else 0
             for _ in range(size)]
    if mode == "laplace":
        print(json.dumps(noisy), flush=True)
    elif mode == "dies":
        print("no more of this", file=sys.stderr)
        sys.exit(3)
    elif mode == "fragile" and request["seed"] % 5 == 0:
        sys.exit(3)
    elif mode == "talks" and asked % 5 == 0:
        print("[1]\\n[2]", flush=True)
    elif mode == "late":
        print("[1]", flush=True)
        time.sleep(0.05)
        print("[7]", flush=True)
    elif mode == "hangs":
        time.sleep(1000)
    elif mode == "raw":
        print(sys.argv[2], flush=True)
    else:
        print(json.dumps([[os.getpid(), given, data, request["seed"]]] * size), flush=True)
if mode == "stubborn":
    time.sleep(1000)
'''
RNG = default_rng(0)


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """No process of a test outlives it."""
    yield
    end_commands()


@pytest.fixture
def server(tmp_path: Path) -> Any:
    """Makes commands that run the server in a mode."""
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")

    def made(*words: str, persistent: str = "single") -> Any:
        return dpaudit.command(
            f"'{sys.executable}' -S '{tmp_path / 'server.py'}' {' '.join(words)}", persistent=persistent
        )

    return made


def script(folder: Path, text: str, name: str = "mechanism") -> str:
    """A script of sh, as a word of a command."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return "'" + str(path).replace("'", "'\\''") + "'"


def gone(process: int, *, within: float = 5.0) -> bool:
    """Whether a process has ended."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        state = Path(f"/proc/{process}/stat")
        if state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


# -- a command that is started for every sample


@pytest.mark.parametrize(
    ("printed", "output"),
    [
        ("3", 3), ("3.0", 3.0), ("-1.5e3", -1500.0), ("[1, 2.5]", [1, 2.5]), ('{"a": null}', {"a": None}),
        ('"yes"', "yes"), ("yes", "yes"), (".5", 0.5), ("+2", 2.0), ("-inf", float("-inf")), ("1_000", "1_000"),
        ("true", True), ("two words", "two words"), ("1\n2", "1\n2"), ("", ""),
    ],
)
def test_stdout_is_read_as_json_else_a_number_else_text(printed: str, output: object, tmp_path: Path) -> None:
    program = script(tmp_path, f"cat <<'END'\n{printed}\nEND" if printed else ":")
    read = dpaudit.command(program)([], RNG)
    assert read == output
    assert type(read) is type(output)


@pytest.mark.parametrize("name", ["a b", "it's", 'quo"te', "größe-数", "$(echo x); `y`"])
def test_any_name_of_a_program_and_no_shell(name: str, tmp_path: Path) -> None:
    program = script(tmp_path, 'printf "%s|" "$@"', name)
    f = dpaudit.command(f"{program} '$HOME' '`id`; ls > x' 'größe' --in={{dataset}}")
    assert f([1], RNG) == "$HOME|`id`; ls > x|größe|--in={dataset}|"
    assert os.listdir(tmp_path) == [name]


def test_the_dataset_comes_as_a_file_or_on_stdin(tmp_path: Path) -> None:
    program = script(tmp_path, 'cat "$@"')
    records = [1, 2.5, "ä", None, (3, True)]
    plain = [1, 2.5, "ä", None, [3, True]]
    assert dpaudit.command(program)(records, RNG) == plain
    assert dpaudit.command(f"{program} {{dataset}}")(records, RNG) == plain
    assert dpaudit.command(f"{program} {{dataset.csv}}")(records[:4], RNG) == '1\n2.5\nä\n""'


def test_frames_are_objects_and_csv_with_a_header(tmp_path: Path) -> None:
    program = script(tmp_path, 'cat "$@"')
    frame = Frame("pandas", (Column("age", "float64"), Column("sex", "str")))
    records = ((18.0, "f"), (float("nan"), "m"))
    json_form, csv_form = (
        function_target(dpaudit.command(f"{program} {word}"), "f", "", container=frame)
        for word in ("", "{dataset.csv}")
    )
    assert json_form.outcome(json_form.given(records)(), RNG) == [
        {"age": 18.0, "sex": "f"}, {"age": None, "sex": "m"}
    ]
    assert csv_form.outcome(csv_form.given(records)(), RNG) == "age,sex\n18.0,f\n,m"


def test_rows_of_arrays_are_lists() -> None:
    prepared = dpaudit.command("cat").prepared(((1, 2), (3, 4)), Array("int64", (2,)))
    assert json.loads(prepared.json) == [[1, 2], [3, 4]]


def test_what_json_cannot_hold_is_named() -> None:
    with pytest.raises(DatasetError, match=r"cannot hold the record b'x'"):
        dpaudit.command("cat")([1, b"x"], RNG)
    with pytest.raises(DatasetError, match="gets a list of records, not int"):
        dpaudit.command("cat")(3, RNG)


def test_a_change_of_the_dataset_is_seen_and_its_file_keeps_its_name(tmp_path: Path) -> None:
    f = dpaudit.command(script(tmp_path, 'cat "$1"; echo "$1" >> "$0.paths"') + " {dataset}")
    assert [f(data, RNG) for data in ([1], [1], [2], [1])] == [[1], [1], [2], [1]]
    paths = (tmp_path / "mechanism.paths").read_text(encoding="utf-8").split()
    assert len(set(paths)) == 1
    del f
    gc.collect()
    assert not Path(paths[0]).exists()


def test_the_seed_is_from_the_generator() -> None:
    f = dpaudit.command("echo {seed} {seed}")
    one, other = (f([], default_rng(5)) for _ in range(2))
    assert one == other
    first, second = map(int, str(one).split())
    assert first == second < SEEDS
    assert f([], default_rng(6)) != one
    assert f.reproducible
    assert not dpaudit.command("echo 1").reproducible


def test_an_exit_code_and_a_signal_are_outcomes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = script(tmp_path, 'case "$1" in 3) echo no such record >&2; exit 3;; *) kill -9 $$;; esac')
    target = function_target(dpaudit.command(f"{program} 3"), "f", "")
    outcome = target.outcome(target.given(())(), RNG)
    assert outcome == Exited("exit code 3")
    assert canonical(outcome) == outcome
    assert (repr(outcome), outcome.where) == ("ends with exit code 3", "stderr: no such record")
    killed = dpaudit.command(f"{program} 9")([], RNG)
    assert killed == Exited("signal SIGKILL")
    assert killed != outcome
    assert pickle.loads(pickle.dumps(outcome)).where == outcome.where
    assert capsys.readouterr().err == "no such record\n"


def test_of_stderr_the_first_lines_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    f = dpaudit.command(script(tmp_path, "echo debug >&2; echo 1", "talks"))
    assert [f([], RNG) for _ in range(20)] == [1] * 20
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("debug\n") == 10
    assert "prints from here on is not shown" in shown.err


def test_large_datasets_do_not_block(tmp_path: Path) -> None:
    records = list(range(100_000))
    assert dpaudit.command("cat")(records, RNG) == records
    # one that does not read its input
    assert dpaudit.command("echo 1")(records, RNG) == 1


@pytest.mark.parametrize(
    ("text", "persistent", "sentence"),
    [
        ("", None, "The command is empty; write a program and its arguments."),
        ("cat 'x", None, "The command \"cat 'x\" cannot be split into words: no closing quotation."),
        ("no-such-thing {dataset}", None, "There is no program 'no-such-thing' on the PATH."),
        ("./no/such", None, "There is no file './no/such'."),
        ("cat", "yes", "persistent must be batch or single, not 'yes'."),
        ("cat {dataset}", "batch", "leave {dataset} or persistent out."),
        ("cat {seed}", "single", "leave {seed} or persistent out."),
    ],
)
def test_what_is_no_command_is_one_sentence(text: str, persistent: str | None, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        dpaudit.command(text, persistent=persistent)
    assert sentence in raised.value.at("Python")


def test_a_file_that_is_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mech").write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"\./mech is not executable: run chmod \+x \./mech, or name its interpreter"):
        dpaudit.command("./mech")
    Path("mech").chmod(0o755)
    with pytest.raises(UsageError, match=r"no program 'sub' on the PATH\.$"):
        dpaudit.command("sub")
    Path("sub").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=r"Did you mean \./sub\?"):
        dpaudit.command("sub")
    Path("mech").write_bytes(b"\x00\x01")
    with pytest.raises(UsageError, match=r"The command \./mech cannot be started: Exec format error\."):
        dpaudit.command("./mech")([], RNG)


# -- a persistent command


def test_the_dataset_is_sent_when_it_changes(server: Any) -> None:
    f = server("echo")
    given = [f(data, RNG) for data in ([0, 1], [0, 1], [1], [1], [0, 1])]
    assert [row[1] for row in given] == [True, False, True, False, True]
    assert [row[2] for row in given] == [[0, 1], [0, 1], [1], [1], [0, 1]]
    assert len({row[0] for row in given}) == 1
    assert len({row[3] for row in given}) == 5
    # 1 and True are equal, and not the same record
    assert json.dumps([f([value], RNG)[2] for value in (1, True)]) == "[[1], [true]]"


def test_many_outputs_of_one_request(server: Any) -> None:
    f = server("laplace", "1", persistent="batch")
    outputs = f([1, 1], default_rng(1), 1000)
    assert len(outputs) == 1000
    assert f([1, 1], default_rng(1), 1000) == outputs
    assert function_target(f, "f", "").vectorised
    assert not function_target(server("echo"), "f", "").vectorised


def test_a_death_is_an_outcome_of_one_output_and_an_error_of_many(server: Any) -> None:
    one, many = server("dies"), server("dies", persistent="batch")
    # and it is started again
    assert [one([0], RNG) for _ in range(2)] == [Exited("exit code 3")] * 2
    with pytest.raises(MechanismError, match=(
        r"ended with exit code 3 \(stderr: no more of this\) when it was asked for 5 outputs, and a failure takes all "
        r"outputs of a request with it; ask for one output at a time \(--persistent single\)"
    )):
        many([0], RNG, 5)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("hello", "answered a request with 'hello', which is not JSON; a persistent command answers with one line"),
        ("'[1]\n[2]'", "answered a request with 2 lines, '[1] [2]'"),
        ("7", "was asked for 2 outputs and answered with '7'; answer with a JSON list of 2"),
        ("[1,2,3]", "was asked for 2 outputs and answered with a list of 3"),
    ],
)
def test_a_malformed_answer_is_one_sentence(answer: str, sentence: str, server: Any) -> None:
    with pytest.raises(OutputError) as raised:
        server("raw", answer, persistent="batch")([0], RNG, 2)
    assert sentence in str(raised.value)


def test_what_is_left_of_a_request_is_no_answer_to_the_next(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever interrupts a request between its parts."""
    f = server("echo")
    first = f([0], RNG)
    line = f._line()

    def interrupted(requests: str, lines: int) -> list[bytes]:
        os.write(line._process.stdin.fileno(), requests.encode())
        line._busy = True
        raise KeyboardInterrupt

    monkeypatch.setattr(line, "_exchange", interrupted)
    with pytest.raises(KeyboardInterrupt):
        f([1], RNG)
    monkeypatch.undo()
    answer = f([2], RNG)
    assert answer[2] == [2]
    assert answer[0] != first[0]


def test_outputs_that_are_requested_ahead_are_those_of_single_calls(server: Any) -> None:
    f = server("laplace", "1", persistent="single")
    ahead, alone = default_rng(3), default_rng(3)
    assert list(f.each([0, 1], ahead, 100)) == [f([0, 1], alone) for _ in range(100)]
    assert ahead.integers(SEEDS) == alone.integers(SEEDS)


def test_a_death_takes_no_other_output_that_was_requested_ahead(server: Any) -> None:
    f = server("fragile", persistent="single")
    outputs = list(f.each([0], default_rng(3), 200))
    seeds = default_rng(3).integers(SEEDS, size=200).tolist()
    assert [isinstance(output, Exited) for output in outputs] == [seed % 5 == 0 for seed in seeds]
    assert [output[3] for output in outputs if not isinstance(output, Exited)] == [s for s in seeds if s % 5]


def test_a_line_too_many_is_refused_where_outputs_are_requested_ahead(server: Any) -> None:
    f = server("talks", persistent="single")
    with pytest.raises(OutputError, match=r"answered a request with \d+ lines|which answers no request"):
        list(f.each([0], default_rng(3), 200))


def test_what_is_printed_after_an_answer_is_no_answer_to_the_next_request(server: Any) -> None:
    f = server("late")
    f([0], RNG)
    time.sleep(0.5)
    with pytest.raises(OutputError, match=r"printed '\[7\]', which answers no request; a persistent"):
        f([0], RNG)


def test_what_ends_at_once_says_so(tmp_path: Path) -> None:
    f = dpaudit.command(script(tmp_path, "exit 0"), persistent="single")
    assert f([0], RNG) == Exited("exit code 0")


def test_a_copy_has_a_process_of_its_own_and_workers_share_one(server: Any) -> None:
    f = server("echo")
    own = f([0], RNG)[0]
    copies = [pickle.loads(pickle.dumps(f)) for _ in range(2)]
    assert len({own, *(copy([0], RNG)[0] for copy in copies)}) == 3
    # in a worker, every unit of samples comes with a command of its own
    elsewhere: list[Any] = [_restored(type(f), f.text, "token", -1, None) for _ in range(2)]
    assert len({copy([0], RNG)[0] for copy in elsewhere}) == 1


# -- they end


def test_commands_end_with_the_audit_and_with_their_last_reference(server: Any) -> None:
    f, g = server("echo"), server("stubborn")
    first, second = f([0], RNG)[0], g([0], RNG)[0]
    del f
    gc.collect()
    assert gone(first)
    end_commands()
    assert gone(second)


def test_an_interrupted_request_ends_its_process_and_its_children(tmp_path: Path) -> None:
    text = script(tmp_path, f"sleep 1000 & echo $! > '{tmp_path}/child'; echo $$ > '{tmp_path}/own'; wait")
    for f in (dpaudit.command(text), dpaudit.command(text, persistent="single")):
        target = function_target(f, "f", "", call_time=1.0)
        outcome = target.outcome(target.given(())(), RNG)
        assert outcome == TookLonger("1 s")
        assert outcome.where == "its process was ended"
        for name in ("own", "child"):
            assert gone(int((tmp_path / name).read_text(encoding="utf-8")))


def test_an_interrupt_while_a_process_is_started_waits(monkeypatch: pytest.MonkeyPatch, server: Any) -> None:
    started: list[int] = []
    popen = subprocess.Popen

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        made = popen(*args, **kwargs)
        started.append(made.pid)
        signal.raise_signal(signal.SIGINT)
        return made

    f = server("stubborn")
    monkeypatch.setattr(subprocess, "Popen", interrupted)
    # it is ignored in what a shell starts in the background
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            f([0], RNG)
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    end_commands()
    assert gone(started[0])


# -- requests, and audits


def test_a_request_with_a_command_is_written_and_read() -> None:
    for persistent in (None, "batch", "single"):
        made = dpaudit.command("cat 'a b'", persistent=persistent)
        request = Request((made,), epsilon=1.0, pair=((0,), (1,)))
        read = Request.from_json(request.to_json())
        (target,) = read.targets
        assert isinstance(target, Command)
        assert (target.text, target.persistent) == (made.text, persistent)
        assert read.image() == request.image()
        assert command_line(read).startswith("dpaudit check --command 'cat '\"'\"'a b'\"'\"''")
        assert ("--persistent batch" in command_line(read)) == (persistent == "batch")
    assert replace(request, targets=(dpaudit.command("cat"),)).image() != request.image()


def test_evidence_on_a_program_does_not_accumulate() -> None:
    with pytest.raises(NoKeyError, match="it runs another program, cat"):
        code_key(dpaudit.command("cat"))


def test_it_is_shown_as_it_is_made() -> None:
    assert repr(dpaudit.command("cat", persistent="batch")) == "dpaudit.command('cat', persistent='batch')"
    assert repr(dpaudit.command("cat")) == "dpaudit.command('cat')"
    assert dpaudit.command("cat x").__name__ == "cat x"


def test_audits_of_a_program(server: Any) -> None:
    """The false-alarm rate of the correct one is 0.001."""
    for rate, verdict in (("1", "pass"), ("0.4", "pass"), ("3", "fail")):
        result = dpaudit.audit(
            server("laplace", rate, persistent="batch"), 1.0, pair=([0, 1, 1], [0, 1, 0]), runs=3000
        )
        assert result.verdict == verdict, rate
    assert "dpaudit.audit(dpaudit.command(" in result.command


def test_a_program_that_always_fails_is_not_sampled(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    text = script(tmp_path, f"echo 1 >> '{calls}'; exit 2")
    result = dpaudit.audit(dpaudit.command(text), 1.0, pair=([0], [1]))
    assert result.audit.crashed
    assert "ends with exit code 2 in every call (no message on stderr)" in result.audit.reason
    assert len(calls.read_text(encoding="utf-8").split()) < 20


def test_the_time_of_many_outputs_is_not_limited(server: Any) -> None:
    with pytest.raises(UsageError) as raised:
        dpaudit.audit(server("echo", persistent="batch"), 1.0, pair=([0], [1]), call_time=1.0)
    assert "ask for one at a time (persistent single)" in str(raised.value)


def test_state_between_requests_is_found(tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text(
        "import json, random, sys\nrng = random.Random(1)\nfor line in sys.stdin:\n"
        "    print(json.dumps([rng.gauss(0, 1) for _ in range(json.loads(line)['size'])]), flush=True)\n",
        encoding="utf-8",
    )
    f = dpaudit.command(f"'{sys.executable}' -S '{tmp_path / 'kept.py'}'", persistent="batch")
    result = dpaudit.audit(f, 1.0, pair=([0], [1]), runs=1000)
    assert result.verdict == "inconclusive"
    assert "Earlier requests influence later ones" in result.audit.reason


def test_prepared_datasets_are_values() -> None:
    assert Prepared((1, 2)) == Prepared((1, 2))
    with pytest.raises(DpauditError):
        _ = Prepared((object(),)).json
