# ruff: noqa: E501  # tables of words
"""Command lines made at random from the real commands and options, and the rules that none of them may break.

A line is drawn from a seed alone. Most of it is right, so that the odd part is reached: values that are no numbers, too
large, NaN, empty, of control characters or halves of surrogate pairs; files that are missing, folders, binary or nested
too deeply. Where the odd part is certainly wrong the line must end with exit code 2 and one sentence.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from unittest import mock

import typer

from dpaudit.cli import commands
from dpaudit.report.files import Outputs

SECONDS = 20
"""After which a line is interrupted, as by Ctrl-C."""
FILES = {
    "u.py": """
import os
def good(d, rng): return len(d) + rng.laplace(0, 1)
def coin(d, rng): return int(rng.random() < 0.5)
def bad(d, rng, size): return [len(d) + sum(map(bool, d))] * size
def odd(d, rng): return "\\x1b[31m\\u202e" + str(rng.integers(2)) + "\\n\\ud800[red]"
def raises(d, rng): raise ValueError("\\x1b[2J\\u202e [bold]no\\n")
def exits(d, rng): raise SystemExit(0)
def zero(): return 0
number = 3
""",
    "m.py": """
from dataclasses import dataclass, fields
from dpaudit.language import Categorical, Claim, Mechanism
@dataclass(frozen=True)
class Flip(Mechanism):
    epsilon: float = 1.0
    @property
    def claim(self): return Claim(self.epsilon)
    def run(self, d): return Categorical((0, 1), (0.25, 0.75) if len(d) % 2 else (0.75, 0.25))
""",
    "syntax.py": "def f(:\n",
    "raising.py": "raise RuntimeError('\\x1b[31mat import\\u202e')\n",
    "broken.json": "[1, 2",
    "zeros.json": "[0, 0, 1]",
    "deep.json": "[" * 5_000 + "]" * 5_000,
    "long.json": "[" + "9" * 5_000 + "]",
    "empty.json": "",
    "wrong.json": '{"format_version": "2.0"}',
    "newer.json": '{"format_version": "9.0"}',
    "list.json": "[[]]",
    "nan.json": '{"format_version": "2.0", "seed": NaN}',
    "hostile.json": '{"format_version": "2.0", "\\u202e": "\\u001b[2J"}',
}
_BYTES = {name: text.encode() for name, text in FILES.items()} | dict.fromkeys(("binary", "binary.py"), b"\xff\xfe\x00\x80")
GOOD_NUMBERS = ["1", "0", "0.5", "2", "1e-6", "3"]
NO_NUMBERS = ["", " ", "x", "1,5", "--", "1e", "0x10", "½", "1 2", "\x1b[31m", "\u202e1", "\udcff", "None", "[1]", "{}"]
ODD_NUMBERS = [
    *("nan", "inf", "-inf", "-1", "-0.0", "1e308", "1e-320", "1e400", "0.1", "1_000", "٣"),
    *("9" * 25, "9" * 400, "9" * 5_000, "-" + "9" * 25, "1e5", "+1", "00", "1.0", "2147483648"),
]
DATASETS = [
    *("[0]", "[1]", "[0,1,1]", "[0,1,0]", "[]", '["a"]', "[null]", "[true]", "[[1,2]]", '{"multiset":[[1,2]]}'),
    *("@zeros.json", '{"multiset":[]}', "[1e300]", "[-0.0]", "[0.1]", '[""]', '["\\ud800"]', '["\x1b[31m"]'),
]
NO_DATASETS = [
    *("", " ", "x", "{}", "[", "3", "null", '"a"', "[{}]", "[1e999]", "@", "@missing", "@folder", "@binary", "@broken.json"),
    *("@deep.json", "@long.json", "[" * 3_000, '{"multiset":[[1]]}', '{"multiset":3}', '{"multiset":[[1,1],[1,1]]}'),
    *('{"multiset":[[1,"x"]]}', '{"multiset":[[1,-1]]}', "[1,]", "[\x00]", "\udcff", "@\udcff", "@" + "a" * 5_000, "\u202e[1]"),
]
WORDS = [
    *("", " ", "x", "-", ".", "/", "\x1b[31mred", "\u202egnp", "\udcff", "\u200b", "a" * 5_000, "\n", "[red]", "{}", "%s"),
    *("{0.__class__}", "\\", "'", '"', "$(x)", "~", "*", "ε", "💥", "null", "NaN", "__import__('os')", "0" * 1_000, "a\tb"),
]
DESCRIPTIONS = [
    *("integers(0, 3)", "integers(0,1)", "floats(0, 1)", "booleans()", "choices('a', 'b')", "tuples(integers(0,1), floats(0,1))"),
    *("integers(3, 0)", "integers()", "integers(0, 10**400)", "floats(nan, 1)", "floats(0, inf)", "text()", "integers(0, 1"),
    *("lists(" * 300 + ")" * 300, "integers('a', 2)", "integers(0, 1e3)", "integers(-1)", "a.b", "lambda: 0", "1", "()"),
]
PARAMETERS = [
    *("epsilon=1", "epsilon=0.5", "epsilon=-1", "epsilon=nan", "epsilon=", "epsilon", "=1", "=", "a b=1", "size=2**9999"),
    *("epsilon=[1]", "epsilon='x'", "size=2**10", "epsilon=" + "(" * 500, "epsilon=" + "9" * 5_000, "nope=1", "ε=1", "x=\x1b"),
    *("epsilon=" + "-" * 3_000 + "1", "epsilon=1e999", "epsilon={}", "epsilon=None", "epsilon=10**9", "epsilon=\udcff"),
]
PLACES = [
    *("out.json", "out.txt", "-", "", " ", "folder", "missing/out", "/", "u.py", "zeros.json", "\udcff.json", "a" * 300),
    *("\x1b[31m.json", "\u202e.json", "/dev/full", "/dev/null", "locked/out", "a/../out", "./out.json", "broken.json"),
]
TARGETS = ["u.py:good", "u.py:coin", "u.py:bad", "u.py:odd", "u.py:raises", "u.py:exits", "m.py:Flip", "LaplaceMechanism"]
NO_TARGETS = [
    *("u.py:zero", "u.py:number", "u.py:missing", "u.py:", ":good", "u.py", "missing.py:f", "folder:f", "syntax.py:f", ":"),
    *("raising.py:f", "binary.py:f", "os:path", "no_such_module:f", "a.b.c:d", "u.py:a.b", "NoSuchAlgorithm", "laplace"),
]
RELATIONS = ["replace-one", "add-remove-one", "replace-one:2", "replace-one:0", "add-remove-one:9999999999999999999999"]


@dataclass(frozen=True)
class Line:
    """A command line.

    Args:
        words: after "dpaudit".
        at_fault: whether it holds something that is certainly wrong.
    """

    words: tuple[str, ...]
    at_fault: bool


@dataclass(frozen=True)
class Ended:
    """How a line ended.

    Args:
        code: the exit code.
        broken: the rules that it broke.
        said: the end of what it wrote onto stderr.
    """

    code: int
    broken: tuple[str, ...]
    said: str


def line(seed: int) -> Line:
    """The line of a seed."""
    made = _Maker(random.Random(seed))
    return made.line()


class _Maker:
    """Draws the words of one line."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.at_fault = False
        self.faults: set[str] = set()
        """Options whose last value is certainly wrong: an earlier one is not read."""

    def line(self) -> Line:
        make = self.rng.choices(
            [self.check, self.verify, self.worst, self.compare, self.reads, self.replay, self.other, self.noise],
            [40, 12, 12, 8, 10, 5, 8, 5],
        )[0]
        # no shell passes on a NUL
        words = tuple(word.replace("\x00", "\x01") for word in make())
        return Line(words, self.at_fault or bool(self.faults))

    def some(self, chance: float) -> bool:
        return self.rng.random() < chance

    def wrong(self, words: list[str]) -> str:
        self.at_fault = True
        return self.rng.choice(words)

    def number(self, option: str) -> list[str]:
        kind = self.rng.random()
        if kind < 0.07:
            word = self.rng.choice(NO_NUMBERS)
            self.faults.add(option)
            return [option, word]
        return self.right(option, self.rng.choice(GOOD_NUMBERS if kind < 0.75 else ODD_NUMBERS))

    def right(self, option: str, word: str) -> list[str]:
        self.faults.discard(option)
        return [option, word]

    def dataset(self) -> str:
        return self.wrong(NO_DATASETS) if self.some(0.1) else self.rng.choice(DATASETS)

    def any_of(self, words: list[str]) -> str:
        return self.rng.choice(words if self.some(0.8) else WORDS)

    def targets(self) -> list[str]:
        found = [self.rng.choice(TARGETS) for _ in range(self.rng.choice((1, 1, 1, 1, 2, 3)))]
        if self.some(0.1):
            found.append(self.rng.choice([*NO_TARGETS, *WORDS]))
        return found if self.some(0.97) else []

    def options(self, numbers: list[str], *, most: int = 4) -> list[str]:
        words: list[str] = []
        for _ in range(self.rng.randint(0, most)):
            kind = self.rng.random()
            if kind < 0.5:
                words += self.number(self.rng.choice(numbers))
            elif kind < 0.6:
                words += ["--relation", self.any_of(RELATIONS)]
            elif kind < 0.7:
                words += ["--param", self.any_of(PARAMETERS)]
            elif kind < 0.9:
                form = self.rng.choice([field.name for field in fields(Outputs)])
                words += [f"--{form}", self.any_of(PLACES)]
            elif kind < 0.93:
                words.append(self.wrong(["--no-such-option", "--epsilonn", "-z", "--all=3"]))
            else:
                words += [self.rng.choice(["-q", "--quiet"])]
        return words

    def quick(self) -> list[str]:
        """So that what is right ends soon; what was said of them before is overridden."""
        return self.right("--time", "0.3") if self.some(0.97) else []

    def check(self) -> list[str]:
        words = ["check", *self.targets(), *(self.number("--epsilon") if self.some(0.3) else ["--epsilon", "1"])]
        how = self.rng.random()
        if how < 0.6:
            words += ["--pair", self.dataset(), self.dataset()]
        elif how < 0.8:
            words += ["--data", self.any_of(DESCRIPTIONS)]
        elif how < 0.85:
            words += ["--game", self.any_of(["digit:2", "digit:-1", "digit", "digit:x", "nope:2", "digit:" + "9" * 30])]
        words += self.options(["--delta", "--size", "--runs", "--time", "--alpha", "--seed", "--jobs", "--groups"])
        for flag in ("--certify", "--bits", "--no-bits", "--black-box", "--privacy", "--utility", "--expect"):
            words += [flag] if self.some(0.04) else []
        words += ["--evidence", self.any_of([*FILES, *PLACES])] if self.some(0.08) else []
        words += self.right("--runs", self.rng.choice(("1", "20", "100"))) if self.some(0.9) else []
        words += self.right("--jobs", "1") if self.some(0.95) else []
        return words + self.quick()

    def verify(self) -> list[str]:
        words = ["verify", *self.targets()]
        words += ["--data", self.any_of(DESCRIPTIONS)] if self.some(0.4) else []
        words += self.options(["--domain", "--size", "--groups", "--epsilon", "--delta", "--time", "--jobs"])
        words += [flag for flag in ("--ordered", "--no-symmetries") if self.some(0.1)]
        words += self.right("--size", "2") if self.some(0.8) else []
        words += self.right("--domain", "2") if self.some(0.5) else []
        return [*words, *self.right("--jobs", "1"), *self.quick()]

    def worst(self) -> list[str]:
        words = ["worst", *self.targets()]
        words += ["--data", self.any_of(DESCRIPTIONS)] if self.some(0.4) else []
        words += ["--case", self.any_of(["main"])] if self.some(0.1) else []
        words += self.options(["--domain", "--size", "--pairs", "--epsilon", "--delta", "--time", "--seed"])
        words += [flag for flag in ("--ordered", "--scores", "--realised") if self.some(0.1)]
        words += self.right("--size", "2") if self.some(0.8) else []
        return words + self.quick()

    def compare(self) -> list[str]:
        words = ["compare", self.rng.choice(["interior-points", "interior-point", *WORDS])]
        words += ["--n", self.rng.choice(["10", "10,20", ",", "0", "-1", "x", "", "9" * 30, "1e3", "10,,20", "٣"])]
        words += self.options(["--runs", "--alpha", "--time", "--seed", "--jobs"])
        return [*words, *self.right("--runs", "1"), *self.right("--jobs", "1"), *self.right("--time", "0.1")]

    def reads(self) -> list[str]:
        words = ["report", self.any_of([*FILES, *PLACES, "missing.json", "@x"])]
        return words + self.options(["--jobs"])

    def replay(self) -> list[str]:
        return ["replay", self.rng.choice([*WORDS, "0123456789ab", "f" * 12]), *self.options(["--jobs"])]

    def other(self) -> list[str]:
        name = self.rng.choice(["RecPrefix", "LaplaceMechanism", "recprefix", *WORDS])
        return self.rng.choice(
            [
                ["list"], ["list", "--corpus"], ["show", name], ["show", name, "--n"], ["--version"], ["--help"], [],
                ["show", name, "--n", "--param", self.any_of(PARAMETERS)], ["--show-config"], ["check", "--help"],
                ["example", self.any_of([p for p in PLACES if p != "u.py"])], ["list", name], ["help"], [name],
            ]
        )  # fmt: skip

    def noise(self) -> list[str]:
        everything = [*WORDS, *NO_NUMBERS, *PLACES, *PARAMETERS, "check", "--pair", "--epsilon", "--json", "--", "-"]
        return [self.rng.choice(everything) for _ in range(self.rng.randint(1, 6))]


_COMMAND: Any = typer.main.get_command(commands.app)
"""Made once: it takes longer than most lines."""


@contextlib.contextmanager
def folder(place: Path) -> Iterator[None]:
    """The folder in which lines are run, as it stands before each."""
    before, path, store = Path.cwd(), list(sys.path), os.environ.get("DPAUDIT_STORE")
    write_files(place)
    os.chdir(place)
    os.environ["DPAUDIT_STORE"] = str(place / "store.db")
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path
        os.environ.pop("DPAUDIT_STORE")
        if store is not None:
            os.environ["DPAUDIT_STORE"] = store


def write_files(place: Path) -> None:
    """Put the files there, as they were."""
    for name, data in _BYTES.items():
        file = place / name
        # a look is cheaper than to write
        if not file.is_file() or file.read_bytes() != data:
            file.write_bytes(data)
    (place / "folder").mkdir(exist_ok=True)
    (place / "locked").mkdir(exist_ok=True)
    (place / "locked").chmod(0o500)


def run(made: Line) -> Ended:
    """Run a line in this process, in the folder.

    Args:
        made: the line.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict") for _ in range(2))
    code: Any = None
    broken = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(sys, "argv", ["dpaudit", *made.words]))
        stack.enter_context(mock.patch.object(sys, "stdout", out))
        stack.enter_context(mock.patch.object(sys, "stderr", err))
        stack.enter_context(mock.patch.object(typer.main, "get_command", return_value=_COMMAND))
        stack.enter_context(_interrupted_after(SECONDS))
        try:
            commands.main()
        except SystemExit as ended:
            code = ended.code
        except BaseException as error:
            broken.append(f"raised {type(error).__name__}: {error}")
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "replace"))  # type: ignore[attr-defined]
    said, complained = texts
    if code not in (0, 1, 2, 3, 4, 130) and not broken:
        broken.append(f"exit code {code!r}")
    if "Traceback" in said + complained:
        broken.append("a traceback")
    if "itself failed" in said + complained:
        broken.append("dpaudit itself failed")
    if any(sign in said + complained for sign in "\x1b\u202e\u200b\x07"):
        broken.append("a sign that is not shown escaped")
    if made.at_fault and code != 2 and not {"-h", "--help", "--version", "--show-config"} & set(made.words):
        broken.append(f"exit code {code!r} where the line is at fault")
    # warnings of parts that the line asked for, such as a lost store, may stand before it
    if code == 2 and set(made.words) - {"--"} and not complained.startswith("dpaudit: "):
        broken.append("exit code 2 without a sentence")
    return Ended(code if isinstance(code, int) else -1, tuple(broken), complained[-600:])


@contextlib.contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """As Ctrl-C would, should a line be asked for more than it is given time for."""

    def stop(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
