"""The folder of bad (and some good) files in which lines are typed: the fixture `files` writes it."""

from __future__ import annotations

from pathlib import Path

FUNCTIONS = '''
import asyncio, os, sys, time
import numpy as np

def fair(d, rng): return int(rng.random() < 0.5)
def raises(d, rng): raise ValueError("no such luck")
def raises_nothing(d, rng): raise ValueError
def raises_lines(d, rng): raise ValueError("line one\\nline two\\n   line three")
class Mute(Exception):
    def __str__(self): raise RuntimeError
def raises_mute(d, rng): raise Mute
def rarely(d, rng):
    if rng.random() < 0.005: raise ZeroDivisionError("rare")
    return 0
def one_side(d, rng):
    if d[0] == 1: raise KeyError("one")
    return 0
def a_dict(d, rng): return {"a": 1}
def a_set(d, rng): return {1}
def nested(d, rng): return [[1], {2}]
def an_object(d, rng): return object()
def nan(d, rng): return float("nan")
def inf(d, rng): return float("inf")
def nan_tuple(d, rng): return (1.0, float("nan"))
def nans(d, rng, size): return np.full(size, np.nan)
def kinds(d, rng): return 1.5 if rng.random() < 0.5 else "no"
def lengths(d, rng): return np.zeros(2 + int(rng.random() < 0.5))
def shapes(d, rng): return rng.random() if rng.random() < 0.5 else rng.random(2)
def too_few(d, rng, size): return [0] * (size - 1)
def only_one(d, rng, size): return 3
def a_scalar(d, rng, size): return np.array(3.0)
def a_string(d, rng, size): return "a" * size
def nothing(d, rng): return None
def complexes(d, rng): return complex(rng.random(), 1)
def many_complexes(d, rng, size): return rng.random(size) + 1j
def spins(d, rng):
    while True: pass
def sleeps(d, rng): time.sleep(60)
def stubborn(d, rng):
    while True:
        try: time.sleep(60)
        except Exception: pass
def sleeps_in_a_worker(d, rng, size):
    if os.getpid() != int(os.environ["PARENT"]): time.sleep(60)
    return rng.integers(0, 2, size)
def exits(d, rng): sys.exit(0)
def exits_saying(d, rng): sys.exit("bye")
def prints(d, rng):
    print("noise")
    return int(rng.random() < 0.5)
def mutates(d, rng):
    d.append(3)
    return len(d)
def deep(d, rng): return deep(d, rng)
def interrupts(d, rng): raise KeyboardInterrupt
def stops(d, rng): raise StopIteration
def closes(d, rng): raise GeneratorExit
def huge(d, rng): return 10**400 + int(rng.integers(60))
def yields(d, rng): yield 1
async def awaits(d, rng): return 1
def zero(): return 0
def one(d): return 0
def four(a, b, c, d): return 0
def keyword(d, rng, *, more): return 0
number = 3
'''

MECHANISMS = '''
import math, sys
from dataclasses import dataclass
from dpaudit.language import Bernoulli, Categorical, Claim, Laplace, Mechanism

@dataclass(frozen=True)
class Flip(Mechanism):
    epsilon: float = 1.0
    def __post_init__(self):
        if self.epsilon < 0: raise ValueError("epsilon is negative")
    @property
    def claim(self): return Claim(self.epsilon)
    def run(self, d): return Categorical((d[0], 1 - d[0]), (0.5, 0.5))

@dataclass(frozen=True)
class Needs(Flip):
    weight: float = None
    def __post_init__(self):
        if self.weight is None: raise TypeError("missing 1 required argument: 'weight'")

@dataclass(frozen=True)
class Exits(Flip):
    def run(self, d): sys.exit(1)

@dataclass(frozen=True)
class Bulky(Flip):
    def run(self, d): return Laplace(0, 1)
    def bulk(self, d, size, rng): raise IndexError("bulk fell over")

@dataclass(frozen=True)
class Prints(Flip):
    def run(self, d):
        print("noise")
        return Categorical((0, 1), (0.5, 0.5))

class Plain(Mechanism):
    def run(self, d): return 0

flip = Flip()
plain = Plain()
'''

ASKED = "--epsilon 1 --pair [0] [1] --runs 1000 --jobs 1"

"""Options of a quick check of any of them."""


def write_files(folder: Path) -> None:
    """Put them there."""
    texts = {
        "u.py": FUNCTIONS,
        "m.py": MECHANISMS,
        "syntax.py": "def f(:\n",
        "raising.py": "raise RuntimeError('at import')\n",
        "exiting.py": "import sys\nsys.exit(3)\n",
        "interrupting.py": "raise KeyboardInterrupt\n",
        "missing_import.py": "import no_such_module_at_all\n",
        "endless.py": "def f(): f()\nf()\n",
        "broken.json": "[1, 2",
        "number.json": "3",
        "empty.json": "",
        "zero.json": "[0]",
        "one.json": "[1]",
        "other_version.json": '{"format_version": "9.0"}',
        "wrong.json": '{"format_version": "2.0"}',
        "nan.json": '{"format_version": "2.0", "seed": NaN}',
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "binary.json").write_bytes(b"\xff\xfe\x00")
    (folder / "zeros.py").write_bytes(b"\x00\x00")
    (folder / "folder").mkdir()
