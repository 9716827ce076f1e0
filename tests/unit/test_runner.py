"""Units of work: their order, the time limit, and what swallows it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import numpy as np
import psutil
import pytest
from audit_toys import Response
from numpy.random import Generator, SeedSequence

from dpaudit.errors import MechanismError, TimeLimitError
from dpaudit.subjects import runner
from dpaudit.subjects.executors import Shared, Workers, packed
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import MechanismTarget, Unit, function_target, load_object


def units(number: int, runs: int = 100) -> list[Unit]:
    return [Unit((0,), runs, SeedSequence([1, i])) for i in range(number)]


def noisy(dataset: Any, rng: Generator, size: int) -> Any:
    return rng.normal(size=size)


TARGET = function_target(noisy, "noisy", "here")


def one(dataset: Any, rng: Generator) -> float:
    return float(rng.normal())


def test_in_order_on_one_process() -> None:
    found = [outputs.reals for outputs in Runner().run(TARGET, units(5))]
    expected = [np.random.default_rng(unit.seed).normal(size=100) for unit in units(5)]
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.usefixtures("pool")
def test_workers_that_have_started_find_modules_beside_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Runner(2)
    assert running.are_ready()
    (tmp_path / "beside.py").write_text("def shift(x): return x + 1\n", encoding="utf-8")
    text = "import beside\ndef f(data, rng, size): return beside.shift(rng.normal(size=size))\n"
    (tmp_path / "f_of_beside.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    f, _ = load_object(f"{tmp_path / 'f_of_beside.py'}:f")
    found = [outputs.reals for outputs in running.run(function_target(f, "f", "here"), units(3), 300)]
    running.close()
    assert [len(reals) for reals in found] == [100, 100, 100]


@pytest.mark.slow
@pytest.mark.usefixtures("pool")
def test_in_order_on_two() -> None:
    def here(dataset: Any, rng: Generator, size: int) -> Any:
        return [os.getpid()] * size

    one = [outputs.reals for outputs in Runner(1).run(TARGET, units(7), 700)]
    two = [outputs.reals for outputs in Runner(2).run(TARGET, units(7), 700)]
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    where = [set(outputs.counts) for outputs in Runner(2).run(function_target(here, "here", "here"), units(6), 600)]
    assert where[0] == {os.getpid()}
    assert os.getpid() not in set.union(*where[1:]), "the pool did start"


@pytest.mark.slow
@pytest.mark.usefixtures("pool")
def test_a_crash_in_a_worker_names_the_function() -> None:
    parent = os.getpid()

    def falls(dataset: Any, rng: Generator, size: int) -> Any:
        if os.getpid() != parent:
            raise SystemExit(3)
        return [0] * size

    with pytest.raises(MechanismError, match=r"falls called sys\.exit\(3\)"):
        list(Runner(2).run(function_target(falls, "falls", "here"), units(4), 400))


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.usefixtures("pool")
def test_a_worker_that_dies_is_replaced(times: int, tmp_path: Path) -> None:
    """The machine ends workers, for want of memory for instance, also of what is done alone: it is done again."""
    parent = os.getpid()

    def killed(dataset: Any, rng: Generator) -> float:
        if os.getpid() != parent and dataset == [2] and len(died := list(tmp_path.iterdir())) < times:
            (tmp_path / str(len(died))).write_text("")
            os.kill(os.getpid(), signal.SIGKILL)
        return float(rng.normal())

    target = function_target(killed, "killed", "here")
    several = [Unit((i,), 100, SeedSequence([1, i])) for i in range(6)]
    alone = [outputs.reals for outputs in Runner(1).run(target, several, 600)]
    running = Runner(2)
    found = [outputs.reals for outputs in running.run(target, several, 600)]
    running.close()
    assert len(list(tmp_path.iterdir())) == times
    assert all(np.array_equal(a, b) for a, b in zip(alone, found, strict=True))


@pytest.mark.parametrize("at", [2, 3, 7])
@pytest.mark.usefixtures("pool")
def test_a_worker_that_has_died_when_a_call_is_submitted(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool refuses the call: it is submitted to the next one, and nobody waits for what was never sent."""
    submit, calls = Workers.submit, list[int]()

    def dies_before(self: Workers, *args: Any) -> Any:
        calls.append(len(calls))
        if len(calls) == at:
            pool: Any = self._pool
            os.kill(next(iter(pool._processes)), signal.SIGKILL)
            while pool._flags.broken is None:
                time.sleep(0.01)
        return submit(self, *args)

    target = function_target(one, "one", "here")
    alone = [outputs.reals for outputs in Runner(1).run(target, units(6), 600)]
    running = Runner(2, seconds=60)
    running.are_ready()
    monkeypatch.setattr(Workers, "submit", dies_before)
    found = [outputs.reals for outputs in running.run(target, units(6), 600)]
    running.close()
    assert len(calls) > at
    assert all(np.array_equal(a, b) for a, b in zip(alone, found, strict=True))


@pytest.mark.slow
@pytest.mark.usefixtures("pool")
def test_a_unit_that_always_ends_its_worker_is_an_error() -> None:
    parent = os.getpid()

    def kills(dataset: Any, rng: Generator) -> float:
        if dataset == [3] and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return float(rng.normal())

    running, found = Runner(2), []
    several = [Unit((i,), 100, SeedSequence([1, i])) for i in range(6)]
    stream = running.run(function_target(kills, "kills", "here"), several, 600)
    with pytest.raises(MechanismError, match="kills ended its worker process 4 times"):
        found.extend(outputs.runs for outputs in stream)
    running.close()
    assert found == [100, 100, 100], "all units before it are good"


@pytest.mark.slow
@pytest.mark.usefixtures("pool")
def test_what_is_done_ahead_and_not_needed_is_counted() -> None:
    def slow(dataset: Any, rng: Generator) -> float:
        time.sleep(0.01)
        return float(rng.normal())

    running, target = Runner(2), function_target(slow, "slow", "here")
    stream = running.run(target, units(50, 20), 1_000)
    taken = sum(next(stream).runs for _ in range(5))
    stream.close()
    running.close()
    assert 0 < running.unused <= taken


class Threads:
    """An executor that notes how many calls there are that have not ended."""

    capacity, losses = 2, 4

    def __init__(self) -> None:
        self.pool, self.open, self.most = ThreadPoolExecutor(self.capacity), 0, 0

    def submit(self, function: Any, *args: Any) -> Future[Any]:
        self.open += 1
        self.most = max(self.most, self.open)
        future = self.pool.submit(function, *args)
        future.add_done_callback(lambda _: setattr(self, "open", self.open - 1))
        return future

    def share(self, value: object) -> Shared:
        content = packed(value)
        return Shared(str(hash(content)), content)

    def check(self) -> None:
        pass

    def drop(self) -> None:
        with suppress(Empty):
            while True:
                self.pool._work_queue.get_nowait()

    def close(self) -> None:
        self.pool.shutdown()


def test_workers_have_enough_to_do_while_outputs_are_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the longest pause before, twice over; and what has not begun when the outputs suffice never does."""
    def slow(dataset: Any, rng: Generator) -> float:
        time.sleep(0.005)
        return float(rng.normal())

    monkeypatch.setattr(runner, "TASK", 0.02)
    executor, target = Threads(), function_target(slow, "slow", "here")
    running = Runner(2, executor=executor, pace={"slow": 0.005}, _ready=[executor.submit(int)])
    alone = [outputs.reals.tolist() for outputs in Runner().run(target, units(40, 20))]
    stream = running.run(target, units(40, 20), 800)
    found = [next(stream).reals.tolist() for _ in range(15)]
    before, executor.most = executor.most, 0
    time.sleep(0.3)
    found += [next(stream).reals.tolist() for _ in range(10)]
    assert executor.most > max(2 * before, 8)
    stream.close()
    assert executor.pool._work_queue.empty()
    assert running.unused < 20 * 15
    assert found == alone[:25]
    running.close()


@pytest.mark.slow
@pytest.mark.usefixtures("pool")
def test_large_values_reach_workers_by_a_file() -> None:
    table = np.random.default_rng(1).normal(size=100_000)

    def looks_up(dataset: Any, rng: Generator) -> float:
        return float(table[rng.integers(len(table))])

    running, target = Runner(2), function_target(looks_up, "looks_up", "here")
    found = [outputs.reals for outputs in running.run(target, units(4), 400)]
    assert isinstance(running.executor, Workers)
    assert running.executor._folder is not None
    (file,) = Path(running.executor._folder.name).iterdir()
    running.close()
    assert not file.exists()
    alone = [outputs.reals for outputs in Runner(1).run(target, units(4), 400)]
    assert all(np.array_equal(a, b) for a, b in zip(alone, found, strict=True))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_workers_end_with_the_process_that_started_them() -> None:
    program = """
import os, time
from dpaudit.subjects import runner
from dpaudit.subjects.executors import Shared, Workers, packed

workers = Workers(2)
print(*{workers.submit(os.getpid).result() for _ in range(50)}, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        workers = [int(number) for number in process.stdout.readline().split()]
        assert workers
        process.kill()
    end = time.monotonic() + 10
    while any(psutil.pid_exists(number) for number in workers) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(psutil.pid_exists(number) for number in workers)


@pytest.mark.usefixtures("pool")
def test_what_cannot_be_pickled_is_named() -> None:
    lock = threading.Lock()

    def holds(dataset: Any, rng: Generator, size: int) -> Any:
        with lock:
            return [0] * size

    with pytest.raises(MechanismError, match="holds raised TypeError: cannot pickle"):
        list(Runner(2).run(function_target(holds, "holds", "here"), units(4), 400))


def test_no_pool_for_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(Runner, "workers", never)
    assert len(list(Runner(8).run(TARGET, units(20), 2_000))) == 20


@pytest.mark.parametrize(
    "wait",
    [lambda: time.sleep(30), lambda: [None for _ in iter(int, 1)], lambda: _stubborn()],
    ids=["sleeps", "spins", "stubborn"],
)
def test_the_limit_interrupts(wait: Any) -> None:
    begun = time.monotonic()
    with pytest.raises(TimeLimitError), Runner(1, 0.1).limited():
        wait()
    assert time.monotonic() - begun < 5
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def _stubborn() -> None:
    while True:
        try:
            time.sleep(30)
        except Exception:
            continue


def test_even_a_bare_except_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "INSIST", 0.05)

    def once() -> None:
        try:
            time.sleep(30)
        except BaseException:
            time.sleep(30)

    with pytest.raises(TimeLimitError), Runner(1, 0.05).limited():
        once()


def test_a_limit_that_comes_while_it_is_lifted_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    set_timer = signal.setitimer

    def late(which: int, seconds: float, interval: float = 0.0) -> Any:
        if not seconds:
            signal.raise_signal(signal.SIGALRM)
        return set_timer(which, seconds, interval)

    monkeypatch.setattr(signal, "setitimer", late)
    with Runner(seconds=50).limited():
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_limit_that_comes_while_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    set_timer = signal.setitimer

    def early(which: int, seconds: float, interval: float = 0.0) -> Any:
        before = set_timer(which, seconds, interval)
        if seconds:
            signal.raise_signal(signal.SIGALRM)
        return before

    monkeypatch.setattr(signal, "setitimer", early)
    with pytest.raises(TimeLimitError), Runner(seconds=50).limited():
        pytest.fail("the limit had come")
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_handler_of_before_is_put_back() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with Runner(1, 5.0).limited():
        assert signal.getsignal(signal.SIGALRM) is not before
    assert signal.getsignal(signal.SIGALRM) is before
    with pytest.raises(ValueError, match="mine"), Runner(1, 5.0).limited():
        raise ValueError("mine")
    assert signal.getsignal(signal.SIGALRM) is before


def test_what_was_yielded_before_the_limit_is_good() -> None:
    calls: list[int] = []

    def slow(dataset: Any, rng: Generator, size: int) -> Any:
        calls.append(1)
        if len(calls) > 3:
            time.sleep(30)
        return [0] * size

    stream = Runner(1, 0.2).run(function_target(slow, "slow", "here"), units(9))
    assert [next(stream).runs for _ in range(3)] == [100] * 3
    with pytest.raises(TimeLimitError):
        next(stream)


def test_the_limit_is_over_everything_a_runner_does() -> None:
    limited = Runner(1, 0.05)
    time.sleep(0.06)
    with pytest.raises(TimeLimitError):
        list(limited.run(TARGET, units(1)))


@pytest.mark.parametrize("seconds", [None, 1e8, 1e300])
def test_no_limit(seconds: float | None) -> None:
    found = Runner(1, seconds)
    assert found.left is None
    with found.limited():
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_in_another_thread_the_limit_is_checked_before() -> None:
    caught: list[BaseException] = []

    def work() -> None:
        limited = Runner(1, 0.05)
        try:
            for _ in limited.run(MechanismTarget("Response", "here", Response()), units(10_000)):
                pass
        except TimeLimitError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert len(caught) == 1


def test_an_early_end_of_listening_is_fine() -> None:
    stream = Runner(1, 5.0).run(TARGET, units(3))
    next(stream)
    stream.close()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


class Slow:
    """Takes a while to be finalised."""

    def __del__(self) -> None:
        """Until the first interrupt, which Python drops here."""
        end = time.monotonic() + 2
        while time.monotonic() < end:
            pass


def waits() -> None:
    Slow()
    time.sleep(5)


def test_a_limit_that_comes_in_a_finaliser_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.unraisablehook
    said: list[Any] = []
    sys.unraisablehook = said.append
    try:
        with pytest.raises(TimeLimitError), Runner(seconds=0.2).limited():
            waits()
        assert not said, "the interrupt was told"
        with Runner(seconds=60).limited():
            Raises()
        assert len(said) == 1, "other errors are told"
        assert sys.unraisablehook == said.append
    finally:
        sys.unraisablehook = before


class Raises:
    """Fails when it is finalised."""

    def __del__(self) -> None:
        """Its own error."""
        raise ValueError


GROWS = """
import time
from dpaudit.subjects.executors import Workers

def wait(seconds):
    time.sleep(seconds)
    return "waited"

def grow(size):
    time.kept = b"x" * size
    return "grown"

workers = Workers(2)
first = [workers.submit(wait, 0.6) for _ in range(4)]
later = [workers.submit(grow, 400_000_000) for _ in range(2)] + [workers.submit(wait, 0.6) for _ in range(8)]
print(*(each.result() for each in [*first, *later]))
workers.close()
"""


@pytest.mark.slow
def test_a_worker_whose_memory_grows_is_replaced_without_a_word() -> None:
    ran = subprocess.run([sys.executable, "-c", GROWS], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["waited"] * 4 + ["grown"] * 2 + ["waited"] * 8
    assert not ran.stderr
