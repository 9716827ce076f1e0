"""A mechanism in another program: a command that prints its output, or a process that answers requests.

| `persistent` | the command is | an output is |
| --- | --- | --- |
| None | started once for every sample | all of its stdout |
| "batch" | started once, and asked for many outputs at a time | an element of its answer |
| "single" | started once, and asked for one output at a time | the element of its answer |

A command that is started for every sample gets the dataset as a file, whose path replaces `{dataset}` (JSON) or
`{dataset.csv}` (CSV), or as JSON on its stdin if it has neither; `{seed}` becomes a whole number below 2^53. Its stdout
is read as JSON, else as a number, else as text.

A persistent command reads one JSON object per line, `{"dataset": [0, 1], "size": 3, "seed": 17}`, and answers each with
one line, a JSON list of `size` outputs. `dataset` is left out while it is the same as in the request before. The next
requests may come before an answer is read. Its stdin ends when the audit ends.

A command is split into words as a shell does it, and started without a shell. That it ends with another exit code
than 0, or by a signal, is an outcome, because an attacker sees it; where many outputs were asked for at once, it is an
error, as an exception of a function that takes a size is.
"""

from __future__ import annotations

import atexit
import csv
import io
import json
import math
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar
from uuid import uuid4

from numpy.random import Generator

from dpaudit.errors import DatasetError, MechanismError, OutputError, UsageError
from dpaudit.language.containers import Container, Frame
from dpaudit.options import PERSISTENT
from dpaudit.outputs.canonical import Exited
from dpaudit.outputs.failures import one_line
from dpaudit.subjects.user_errors import first_lines

SEEDS = 1 << 53
"""Seeds are below this, so that every language reads them exactly from JSON."""
INSIDE = "DPAUDIT_FRESH_PROCESS"
"""Set in the server of `fresh_process`, which is ended with all processes of its group."""
PATIENCE = 5.0
"""Seconds after which the user hears that a persistent command has not answered its first request."""
GRACE = 0.5
"""Seconds that a persistent command has to end after its stdin has ended, before it is killed."""
AHEAD = 32
"""Requests for one output that are sent before the first of them is answered: far less than a pipe holds. Waking
another process takes most of the time of a request that is sent alone."""
LONGEST_NAME = 80
"""Characters of a command in reports."""
_SHOWN = 60
_READ = 1 << 18
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?(inf(inity)?|nan)", re.IGNORECASE)
_ONE_LINE = (
    "a persistent command answers with one line, a JSON list of outputs, and prints nothing else on its stdout."
)
_FILES = {"{dataset}": "json", "{dataset.csv}": "csv"}
"""What is replaced by the path of a file, and its format."""
_SEED = "{seed}"


@dataclass(frozen=True)
class Prepared:
    """A dataset as commands read it; written once, however often it is sent.

    Args:
        records: as a mechanism sees them; rows are tuples.
        columns: their names, if the dataset is a frame; () otherwise.
    """

    records: tuple[Any, ...]
    columns: tuple[str, ...] = ()

    @cached_property
    def json(self) -> str:
        """A JSON list of the records: an object for each row of a frame, with null for a missing value.

        NaN and infinities in other datasets are written NaN, Infinity and -Infinity, as Python's json does.
        """
        rows: Sequence[object] = self.records
        if self.columns:
            rows = [dict(zip(self.columns, map(_cell, row), strict=True)) for row in self.records]
        try:
            return json.dumps(rows)
        except (TypeError, ValueError):
            odd = next(row for row in rows if not _is_json(row))
            raise DatasetError(f"A command reads its dataset as JSON, which cannot hold the record {odd!r}.") from None

    @cached_property
    def csv(self) -> str:
        """One record per line; a frame's column names come first, and a missing value is empty."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        if self.columns:
            writer.writerow(self.columns)
            writer.writerows([map(_cell, row) for row in self.records])
        else:
            writer.writerows(row if isinstance(row, tuple) else (row,) for row in self.records)
        return written.getvalue()


def _cell(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def command(text: str, *, persistent: str | None = None) -> Command:
    """A command as a function that `dpaudit.audit` and `dp_audit` take.

    Args:
        text: the command, such as "./my-mechanism {dataset} --seed {seed}"; it is split into words as a shell does it,
            and started without a shell.
        persistent: "batch" or "single" for a process that answers requests (see this module); None for a command
            that is started once for every sample.

    Returns:
        A function f(dataset, rng), or f(dataset, rng, size) with "batch".

    Raises:
        UsageError: there is no such program, or the text is not a command of this kind.
    """
    if not isinstance(text, str):
        raise UsageError(f"A command is one text, such as './my-mechanism {{dataset}}', not {text!r}.")
    if persistent not in _KINDS:
        raise UsageError("{} must be batch or single, not {!r}.", PERSISTENT, persistent)
    return _KINDS[persistent](text)


class Command(ABC):
    """A command as a function; each copy that is made in the process of its origin has a process of its own.

    Args:
        text: the command.
    """

    persistent: ClassVar[str | None]
    unseeded: ClassVar[str] = (
        "It does not follow the seed that it is given, so results are not reproducible; seed its generator with "
        '{seed}, or with the "seed" of every request.'
    )
    dependent: ClassVar[str] = (
        "Earlier requests influence later ones ({}), so the samples are not independent and no bound on ε is valid; "
        'keep no state between requests, and seed the generator anew with the "seed" of every request, or from the '
        "operating system."
    )

    def __init__(self, text: str) -> None:
        try:
            self.words = tuple(shlex.split(text))
        except ValueError as error:
            reason = str(error)[:1].lower() + str(error)[1:]
            raise UsageError(f"The command {text!r} cannot be split into words: {reason}.") from None
        if not self.words:
            raise UsageError("The command is empty; write a program and its arguments.")
        if shutil.which(self.words[0]) is None:
            raise UsageError(_no_program(self.words[0]))
        self.text = text
        self._token: object = uuid4().hex
        self._key: object = object()
        self._folder: tempfile.TemporaryDirectory[str] | str | None = None
        weakref.finalize(self, _forget, self._key)

    @abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> object:
        """Outputs, in one of the forms of functions."""

    @property
    def __name__(self) -> str:
        """Of the instance, as a function has one."""
        return one_line(self.text, most=LONGEST_NAME)

    @property
    def reproducible(self) -> bool:
        """Whether it is told a seed."""
        return self.persistent is not None or any(_SEED in word for word in self.words)

    @property
    def spelled(self) -> str:
        """As Python makes it."""
        extra = f", persistent={self.persistent!r}" if self.persistent is not None else ""
        return f"dpaudit.command({self.text!r}{extra})"

    @property
    def source(self) -> str:
        """For the report."""
        return "a command" if self.persistent is None else f"a persistent command ({self.persistent})"

    def __repr__(self) -> str:
        return self.spelled

    def __reduce__(self) -> tuple[object, ...]:
        """For a copy.

        In the process that pickles it, a copy has a process of its own, in the state after its start. In another
        process (a worker) all copies share one, so that it is not started again for every unit of samples.
        """
        return _restored, (type(self), self.text, self._token, os.getpid(), self._files())

    def prepared(self, records: Iterable[Any], container: Container | None = None) -> Prepared:
        """A dataset in the form that is sent.

        Args:
            records: as a mechanism sees them.
            container: what a function in Python would get them in.
        """
        columns = container.fields if isinstance(container, Frame) else ()
        return Prepared(tuple(records), columns)

    def _line(self) -> _Line:
        """What is open for this command in this thread."""
        place = (self._key, threading.get_ident())
        line = _lines.get(place)
        if line is None or line.owner != os.getpid():
            line = _lines[place] = _Line(self.text)
        return line

    def _files(self) -> str | None:
        """The folder for files of datasets, of which worker processes make folders of their own; None for none."""
        if not any(placeholder in word for word in self.words for placeholder in _FILES):
            return None
        if self._folder is None or (isinstance(self._folder, str) and not os.path.isdir(self._folder)):
            self._folder = tempfile.TemporaryDirectory(prefix="dpaudit-")
        return self._folder if isinstance(self._folder, str) else self._folder.name


def _restored(kind: type[Command], text: str, token: object, origin: int, folder: str | None) -> Command:
    made = kind(text)
    if origin != os.getpid():
        made._key = made._token = token
        made._folder = folder
    return made


class OneShot(Command):
    """A command that is started for every sample."""

    persistent = None

    def __call__(self, dataset: object, rng: Generator) -> object:
        """One output.

        Raises:
            DatasetError: the dataset cannot be written.
            UsageError: the program cannot be started.
        """
        prepared = _prepared(self, dataset)
        line, words, stdin = self._line(), self.words, None
        seeded = any(_SEED in word for word in words)
        if seeded:
            seed = str(rng.integers(SEEDS))
            words = tuple(word.replace(_SEED, seed) for word in words)
        folder = self._files()
        if folder is None:
            stdin = f"{prepared.json}\n".encode()
        else:
            paths = line.written(prepared, folder, [one for one in _FILES if any(one in word for word in words)])
            for placeholder, path in paths.items():
                words = tuple(word.replace(placeholder, path) for word in words)
        output, code = line.run(words, stdin)
        said = line.show_errors()
        if code:
            return Exited(_ending(code), said)
        if folder is not None:
            # where the harness keeps a file is no part of an output
            for placeholder, path in paths.items():
                output = output.replace(path.encode(), placeholder.encode())
        return _value(output)


class Single(Command):
    """A persistent command that is asked for one output at a time."""

    persistent = "single"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        _refuse_placeholders(self)

    def __call__(self, dataset: object, rng: Generator) -> object:
        """One output.

        Raises:
            DatasetError, UsageError: as of a `OneShot`.
            OutputError: the answer is not a list of one output.
        """
        return next(self.each(dataset, rng, 1))

    def each(self, dataset: object, rng: Generator, size: int) -> Iterator[object]:
        """The outputs of `size` calls; some are requested before others are answered, which saves most of the time.

        Raises:
            DatasetError, UsageError, OutputError: as of a call.
        """
        seeds = rng.integers(SEEDS, size=size).tolist()
        for answer in self._line().ask_each(self.words, _prepared(self, dataset), seeds):
            yield answer if isinstance(answer, Exited) else answer[0]


class Batch(Command):
    """A persistent command that is asked for many outputs at a time."""

    persistent = "batch"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        _refuse_placeholders(self)

    def __call__(self, dataset: object, rng: Generator, size: int) -> list[Any]:
        """`size` outputs.

        Raises:
            DatasetError, UsageError: as of a `OneShot`.
            OutputError: the answer is not a list of `size` outputs.
            MechanismError: the command ended instead of answering.
        """
        answer = self._line().ask(self.words, _prepared(self, dataset), size, int(rng.integers(SEEDS)))
        if isinstance(answer, Exited):
            raise MechanismError(
                "{} ended with {} ({}) when it was asked for {}, and a failure takes all outputs of a request with it; "
                "ask for one output at a time ({} single) to have failures counted as outcomes.",
                self.__name__, answer.error, answer.where, _counted(size), PERSISTENT,
            )
        return answer


_KINDS: dict[str | None, type[Command]] = {None: OneShot, "single": Single, "batch": Batch}


class _Line:
    """A command's process, files and stderr, in one thread of one process.

    Args:
        text: the command.
    """

    def __init__(self, text: str) -> None:
        self.owner = os.getpid()
        self._name = one_line(text, most=_SHOWN)
        self._process: subprocess.Popen[bytes] | None = None
        self._sent: Prepared | None = None
        self._answered = self._busy = False
        self._written: dict[str, Prepared] = {}
        self._errors = _append_only()

    # -- a command that is started for every sample

    def written(self, prepared: Prepared, folder: str, placeholders: Iterable[str]) -> dict[str, str]:
        """The paths of the files of a dataset, by placeholder.

        They have the same names for every dataset: otherwise a path in an output would tell two datasets apart.
        """
        own = os.path.join(folder, str(os.getpid()))
        paths = {}
        for placeholder in placeholders:
            form = _FILES[placeholder]
            path = paths[placeholder] = os.path.join(own, f"dataset.{form}")
            if self._written.get(placeholder) is not prepared:
                os.makedirs(own, exist_ok=True)
                with open(path, "w", encoding="utf-8", newline="") as file:
                    file.write(prepared.json if form == "json" else prepared.csv)
                self._written[placeholder] = prepared
        return paths

    def run(self, words: Sequence[str], stdin: bytes | None) -> tuple[bytes, int]:
        """What the command prints, and its exit code, negative for a signal."""
        self._process = None
        try:
            self._start(words, subprocess.DEVNULL if stdin is None else subprocess.PIPE)
            assert self._process is not None
            output, _ = self._process.communicate(stdin)
            return output, self._process.returncode
        except BaseException:
            self.end()
            raise

    # -- a persistent command

    def ask(self, words: Sequence[str], prepared: Prepared, size: int, seed: int) -> list[Any] | Exited:
        """`size` outputs, or how the command ended instead.

        Raises:
            OutputError: it answered something else.
        """
        if self._busy or self._process is None:
            # an answer that was interrupted may still come
            self.end()
            self._start(words, subprocess.PIPE)
            self._sent, self._answered = None, False
        given = "" if self._has(prepared) else f'"dataset": {prepared.json}, '
        answers = self._exchange(f'{{{given}"size": {size}, "seed": {seed}}}\n', 1)
        if not answers:
            return self._ended()
        self._sent = prepared
        return self._outputs(answers[0], size)

    def ask_each(self, words: Sequence[str], prepared: Prepared, seeds: Sequence[int]) -> Iterator[list[Any] | Exited]:
        """The answers to requests for one output each, `AHEAD` of which are sent at once.

        Where the command ends instead of answering one of them, those after it are sent again, to a new process.

        Raises:
            OutputError: it answered something else.
        """
        begin = 0
        while begin < len(seeds):
            if self._busy or self._process is None or not self._has(prepared):
                # the request with the dataset is sent alone: it may be longer than a pipe holds
                yield self.ask(words, prepared, 1, seeds[begin])
                begin += 1
                continue
            ahead = seeds[begin : begin + AHEAD]
            answers = self._exchange("".join(f'{{"size": 1, "seed": {seed}}}\n' for seed in ahead), len(ahead))
            for answer in answers:
                yield self._outputs(answer, 1)
            begin += len(answers)
            if len(answers) < len(ahead):
                yield self._ended()
                begin += 1

    def _has(self, prepared: Prepared) -> bool:
        """Whether the process has been sent this dataset last."""
        return self._sent is prepared or (self._sent is not None and self._sent.json == prepared.json)

    def _exchange(self, requests: str, lines: int) -> list[bytes]:
        """The lines that answer requests; fewer where the command ends."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        self._busy = True
        try:
            into, out = process.stdin.fileno(), process.stdout.fileno()
            if self._answered and (early := self._printed(out)):
                raise OutputError(
                    f"{self._name} printed {early!r}, which answers no request; {_ONE_LINE}"
                )
            rest = memoryview(requests.encode())
            while rest:
                rest = rest[os.write(into, rest) :]
            if not self._answered:
                self._await_first(out)
                self._answered = True
            parts = [os.read(out, _READ)]
            missing = lines - parts[0].count(b"\n")
            while parts[-1] and (missing > 0 or not parts[-1].endswith(b"\n")):
                parts.append(os.read(out, _READ))
                missing -= parts[-1].count(b"\n")
        except BrokenPipeError:
            return []
        except BaseException:
            self.end()
            raise
        answers = b"".join(parts).split(b"\n", lines)
        # what follows the last answer is shown with it, in the error that it is
        unasked = answers.pop()
        if len(answers) == lines:
            if unasked:
                answers[-1] += b"\n" + unasked
            self._busy = False
            self.show_errors()
        return answers

    def _printed(self, out: int) -> str:
        """What is there to be read before anything was asked for; it would be taken for the next answer."""
        if not _readable(out, 0.0):
            return ""
        return one_line(os.read(out, _READ).decode("utf-8", "backslashreplace"), most=_SHOWN)

    def _await_first(self, out: int) -> None:
        """Tell the user, after a while, why a command may not answer."""
        if not _readable(out, PATIENCE):
            self.show_errors()
            print(
                f"dpaudit: {self._name} has not answered its first request for {PATIENCE:g} s. A persistent command "
                "reads one line per request, without waiting for the end of its input, and must flush its stdout "
                "after each answer.",
                file=sys.stderr,
            )

    def _ended(self) -> Exited:
        """How the command ended that does not answer; what it left is ended too."""
        process = self._process
        assert process is not None
        with suppress(subprocess.TimeoutExpired):
            # it has closed its stdout, and usually is about to end
            process.wait(GRACE)
        code = process.poll()
        self.end()
        said = self.show_errors()
        return Exited("its stdout closed" if code is None else _ending(code), said)

    def _outputs(self, answer: bytes, size: int) -> list[Any]:
        """The outputs in an answer.

        Raises:
            OutputError: it is no list of so many.
        """
        text = answer.decode("utf-8", "backslashreplace")
        try:
            outputs = json.loads(text)
        except (ValueError, RecursionError):
            lines = len(text.splitlines())
            shown = repr(one_line(text, most=_SHOWN))
            what = f"{lines} lines, {shown}" if lines > 1 else f"{shown}, which is not JSON"
            self.end()
            raise OutputError(
                f"{self._name} answered a request with {what}; {_ONE_LINE}"
            ) from None
        if not isinstance(outputs, list) or len(outputs) != size:
            got = f"a list of {len(outputs)}" if isinstance(outputs, list) else repr(one_line(text, most=_SHOWN))
            self.end()
            raise OutputError(
                f"{self._name} was asked for {_counted(size)} and answered with {got}; answer with a JSON list of "
                f'{size}, as the "size" of the request says.'
            )
        return outputs

    # -- both

    def show_errors(self) -> str:
        """Show what the command has written to stderr since it was asked; its last line, in words."""
        if self._errors is None or not (size := os.fstat(self._errors).st_size):
            return "no message on stderr"
        text = os.pread(self._errors, min(size, 1 << 16), max(0, size - (1 << 16))).decode("utf-8", "backslashreplace")
        os.ftruncate(self._errors, 0)
        first_lines(self._name).write(text if text.endswith("\n") else f"{text}\n")
        lines = [line for line in text.splitlines() if line.strip()]
        return f"stderr: {one_line(lines[-1])}" if lines else "no message on stderr"

    def _start(self, words: Sequence[str], stdin: int) -> None:
        """Start the command, in a session of its own, so that all its processes can be ended."""
        try:
            with _uninterrupted():
                self._process = subprocess.Popen(
                    words, stdin=stdin, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0,
                    start_new_session=_own_group(),
                )
        except OSError as error:
            raise UsageError(f"The command {self._name} cannot be started: {error.strerror or error}.") from None
        except ValueError as error:
            raise UsageError(f"The command {self._name} cannot be started: {error}.") from None

    def end(self, *, grace: float = 0.0) -> None:
        """End the command's processes, if any; it has so many seconds to end by itself."""
        with _uninterrupted():
            process, self._process, self._busy = self._process, None, False
            if process is not None and self.owner == os.getpid():
                _end(process, grace)

    def close(self, *, grace: float = 0.0) -> None:
        """End the command, and let go of its files."""
        self.end(grace=grace)
        self._written = {}
        if self._errors is not None and self.owner == os.getpid():
            with suppress(OSError):
                os.close(self._errors)
        self._errors = None


_lines: dict[tuple[object, int], _Line] = {}
"""What is open, by the key of a command and the thread."""


def end_commands() -> None:
    """End the commands that this thread has started."""
    here = threading.get_ident()
    _close([place for place in list(_lines) if place[1] == here], grace=GRACE)


def _forget(key: object) -> None:
    """End what belongs to a command that is gone."""
    _close([place for place in list(_lines) if place[0] is key])


def _close(places: Iterable[tuple[object, int]], *, grace: float = 0.0) -> None:
    for place in places:
        with _uninterrupted():
            if (line := _lines.pop(place, None)) is not None:
                line.close(grace=grace)


atexit.register(lambda: _close(list(_lines), grace=GRACE))


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """End a process and those that it has started."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    if process.returncode is None:
        _await_end(process.pid, grace)
        with suppress(OSError):
            if _own_group():
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    process.wait()


def _own_group() -> bool:
    """Whether commands are groups of processes of their own, which can be ended at once."""
    return hasattr(os, "killpg") and INSIDE not in os.environ


def _await_end(pid: int, grace: float) -> None:
    """Wait for a process to end by itself, without taking its exit code: its number stays taken."""
    if not hasattr(os, "waitid"):
        return
    end = time.monotonic() + grace
    while time.monotonic() < end:
        with suppress(ChildProcessError):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                time.sleep(0.005)
                continue
        return


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Interrupts and timers wait: a process that is being started, or ended, would be lost and never end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    numbers = [number for name in ("SIGALRM", "SIGINT") if (number := getattr(signal, name, None)) is not None]
    kept = {number: signal.signal(number, note) for number in numbers}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
    for number in came[:1]:
        if callable(handler := kept[number]):
            handler(number, sys._getframe())


def _readable(out: int, seconds: float) -> bool:
    """Whether a read would return within so many seconds; it does at the end of the output, too."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(out, select.POLLIN)
    return bool(poll.poll(1000 * seconds))


def _append_only() -> int | None:
    """A file without a name for stderr, to which every process appends, so that it can be emptied."""
    if not hasattr(os, "pread"):
        return None
    made, path = tempfile.mkstemp(prefix="dpaudit-")
    os.close(made)
    try:
        return os.open(path, os.O_RDWR | os.O_APPEND)
    finally:
        os.unlink(path)


def _prepared(of: Command, dataset: object) -> Prepared:
    """A dataset that was prepared, or one that somebody calls the function with."""
    if isinstance(dataset, Prepared):
        return dataset
    given = dataset.tolist() if hasattr(dataset, "tolist") else dataset
    if not isinstance(given, list | tuple):
        raise DatasetError(f"A command gets a list of records, not {type(dataset).__name__}.")
    return of.prepared(given)


def _value(output: bytes) -> object:
    """What a command has printed: JSON, else a number, else text."""
    text = output.decode("utf-8", "backslashreplace").removesuffix("\n").removesuffix("\r")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        stripped = text.strip()
        return float(stripped) if _NUMBER.fullmatch(stripped) else text


def _ending(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _counted(size: int) -> str:
    return "1 output" if size == 1 else f"{size:,} outputs"


def _no_program(word: str) -> str:
    path = Path(word)
    if os.sep in word and path.is_file():
        return f"{word} is not executable: run chmod +x {shlex.quote(word)}, or name its interpreter before it."
    here = Path(f"./{word}")
    hint = f" Did you mean ./{word}?" if os.sep not in word and here.is_file() else ""
    where = "no file" if os.sep in word else "no program"
    return f"There is {where} {word!r}{'' if os.sep in word else ' on the PATH'}.{hint}"


def _refuse_placeholders(given: Command) -> None:
    """Refuse what only a command that is started for every sample has.

    Raises:
        UsageError: it has a placeholder.
    """
    used = next((one for one in (*_FILES, _SEED) if any(one in word for word in given.words)), None)
    if used is not None:
        raise UsageError(
            "A persistent command reads its dataset and its seed from the requests on its stdin; leave {} or {} out.",
            used, PERSISTENT,
        )
