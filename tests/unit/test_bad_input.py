"""Bad input through the real command line: one clear sentence, the right exit code, and what was computed is kept."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Register, Typed

from dpaudit.adversary import Learner
from dpaudit.audit import runner
from dpaudit.audit.target import Target
from dpaudit.reporting import json_form

pytestmark = pytest.mark.filterwarnings("error")

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


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder of bad (and some good) files in which the commands are typed."""
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
        "wrong.json": '{"format_version": "1.0"}',
        "nan.json": '{"format_version": "1.0", "seed": NaN}',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "zeros.py").write_bytes(b"\x00\x00")
    (tmp_path / "folder").mkdir()
    return tmp_path


NAMES = [
    ("chek u.py:fair", "Did you mean 'check'?"),
    ("nosuch", "No such command 'nosuch'"),
    ("check", "Nothing to check"),
    ("check --all Response", "not several"),
    ("check --corpus Response", "not several"),
    ("check --all --corpus", "not several"),
    ("list --corpu", "--corpus"),
    ("check Respons", "Did you mean Response?"),
    ("check response", "Did you mean Response?"),
    ("check Zzzzzz", "`dpaudit list` shows all names"),
    ("show Choise", "Did you mean Choice?"),
    ("check Empty", "has no cases"),
    ("check Broken", "There is no audit called 'Broken'"),
    ("check NoClass", "is no plan"),
    ("show NoClass", "is no mechanism class"),
    ("show Broken", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
    ("check u.py:fair --epsilonn 1", "--epsilon"),
    ("check u.py:fair --nosuch", "No such option: --nosuch"),
    ("show", "Missing argument 'NAME'"),
    ("list extra", "extra"),
    ("check u.py:fair u.py:fair --epsilon 1 --pair [0] [1]", "u.py:fair is named twice"),
    ("check u.py:fair --epsilon 1 --pair [0] [1] --expect", "a function of your own has none"),
]

NUMBERS = [
    (f"--{option} {value}", f"--{option}")
    for option, values in {
        "epsilon": ("abc", "nan", "inf", "-1"),
        "delta": ("abc", "nan", "inf", "-0.5", "1.5"),
        "alpha": ("x", "nan", "inf", "0", "-1", "0.5", "1", "1e-320"),
        "runs": ("x", "nan", "inf", "1.5", "0", "-5"),
        "time": ("x", "nan", "inf", "0", "-1"),
        "jobs": ("x", "nan", "1.5", "0", "-1"),
        "seed": ("x", "nan", "inf", "1.5", "-1"),
    }.items()
    for value in values
]

CLAIMS_AND_PAIRS = [
    ("--pair [0] [1]", "What does fair claim? Give --epsilon"),
    ("--epsilon 1", "Give --pair"),
    ("--epsilon 1 --pair [0]", "requires 2 arguments"),
    ("--epsilon 1 --pair [0 [1]", "'[0' is not a dataset in JSON"),
    ("--epsilon 1 --pair '' [1]", "not a dataset in JSON"),
    ("--epsilon 1 --pair @missing.json @one.json", "missing.json: No such file"),
    ("--epsilon 1 --pair @binary.json @one.json", "binary.json: it is not UTF-8 text"),
    ("--epsilon 1 --pair @broken.json @one.json", "broken.json is not a dataset in JSON"),
    ("--epsilon 1 --pair @folder @one.json", "folder: Is a directory"),
    ("--epsilon 1 --pair @empty.json @one.json", "empty.json is not a dataset in JSON"),
    ("--epsilon 1 --pair @number.json @one.json", "a list of records, not 3"),
    ("--epsilon 1 --pair 3 [1]", "a list of records, not 3"),
    ("--epsilon 1 --pair '{\"a\": 1}' [1]", "a list of records"),
    ("--epsilon 1 --pair '[{\"a\": 1}]' [1]", "not an object"),
    ("--epsilon 1 --pair '\"abc\"' '\"abd\"'", "a list of records"),
    ("--epsilon 1 --pair [NaN] [1]", "NaN is not a number"),
    ("--epsilon 1 --pair [-Infinity] [1]", "-Infinity is not a number"),
    ("--epsilon 1 --pair [1e999] [1]", "1e999 is not a number"),
    ("--epsilon 1 --pair " + "[" * 6000 + " [1]", "is not a dataset in JSON"),
    ("--epsilon 1 --pair '{\"multiset\": 3}' [1]", "A multiset is written"),
    ("--epsilon 1 --pair '{\"multiset\": [[0, 1.5]]}' [1]", "multiplicity of 0"),
    ("--epsilon 1 --pair '{\"multiset\": [[0, -1]]}' [1]", "multiplicity of 0"),
    ("--epsilon 1 --pair '{\"multiset\": [[0, 1], [0, 1]]}' [1]", "lists 0 twice"),
    ("--epsilon 1 --pair '{\"multiset\": [[0, 1], [\"a\", 1]]}' [1]", "cannot form a multiset"),
    ("--epsilon 1 --pair [] []", "are equal"),
    ("--epsilon 1 --pair [0,1] [0,1]", "are equal"),
    ("--epsilon 1 --pair [] [1]", "replace-one"),
    ("--epsilon 1 --pair [1] [1,2]", "replace-one"),
    ("--epsilon 1 --pair [1,2] [3,4]", "are 2 replace-one steps apart"),
    ("--epsilon 1 --pair [1,2] [3,4] --relation add-remove-one:3", "are 4 add-remove-one steps apart"),
    ("--epsilon 1 --pair [1] [2] --relation nope", "no relation called 'nope'"),
    ("--epsilon 1 --pair [1] [2] --relation replace-one:0", "size of a group must be at least 1"),
    ("--epsilon 1 --pair [1] [2] --relation replace-one:x", "size of a group must be a whole number"),
    ("--epsilon 1 --pair [1] [2] --relation replace-one:", "size of a group must be a whole number"),
    ("--epsilon 1 --data 'integers(0, ' --size 3", "describes no data"),
    ("--epsilon 1 --data 'integers(9, 0)'", "with low < high"),
    ("--epsilon 1 --data 'floats(1, 1)'", "with low < high"),
    ("--epsilon 1 --data 'floats(0, 1e400)'", "range of floats must be finite"),
    ("--epsilon 1 --data 'integers(0, 1.5)'", "describes no data"),
    ("--epsilon 1 --data 'integers(0, 99999999999999999999)'", "64 bits"),
    ("--epsilon 1 --data 'nosuch(0, 1)'", "describes no data"),
    ("--epsilon 1 --data 'integers(low=0, high=1)'", "describes no data"),
    ("--epsilon 1 --data '__import__(\"os\").mkdir(\"pwned\")'", "describes no data"),
    ("--epsilon 1 --data 'integers(__import__(\"os\").mkdir(\"pwned\"), 5)'", "describes no data"),
    ("--epsilon 1 --data 'sampled_from([])'", "describes no data"),
    ("--epsilon 1 --data 'sampled_from([1, 1])'", "different records"),
    ("--epsilon 1 --data 'sampled_from([{1: 2}, {3: 4}])'", "describes no data"),
    ("--epsilon 1 --data 'tuples()'", "describes no data"),
    ("--epsilon 1 --data ''", "describes no data"),
    ("--epsilon 1 --data 'integers(0, 9)' --pair [0] [1]", "not both"),
    ("--epsilon 1 --pair [0] [1] --size 3", "goes with --data"),
    ("--epsilon 1 --size 3", "goes with --data"),
    ("--epsilon 1 --data 'integers(0, 9)' --size 0", "--size must be at least 1"),
    ("--epsilon 1 --data 'integers(0, 9)' --size -3", "--size must be at least 1"),
    ("--epsilon 1 --data 'integers(0, 9)' --size x", "--size"),
    ("--epsilon 1 --data 'integers(0, 9)' --size nan", "--size"),
    ("--epsilon 1 --data 'integers(0, 9)' --size 2 --relation replace-one:3", "raise --size"),
    (f"{ASKED} --param epsilon=1", "a function has no parameters"),
    (f"{ASKED} --param epsilon", "--param takes NAME=VALUE"),
    (f"{ASKED} --param =1", "--param takes NAME=VALUE"),
    (f"{ASKED} --html folder", "it is a folder"),
    (f"{ASKED} --html ''", "it is a folder"),
    (f"{ASKED} --html missing/x.html", "there is no folder missing"),
    (f"{ASKED} --html /proc/x.html", "Cannot write /proc/x.html"),
    (f"{ASKED} --html -", "writes a file"),
    (f"{ASKED} --json folder", "it is a folder"),
    (f"{ASKED} --json zero.json/x", "there is no folder"),
    (f"{ASKED} --json same --html same", "cannot both write"),
    (f"{ASKED} --certify=3", "--certify"),
    (f"{ASKED} --bits=x", "--bits"),
    (f"{ASKED} --black-box=yes", "--black-box"),
    (f"{ASKED} --evidence", "requires an argument"),
    (f"{ASKED} --evidence missing.json", "missing.json: No such file"),
    (f"{ASKED} --evidence folder", "folder: Is a directory"),
    (f"{ASKED} --evidence binary.json", "not UTF-8"),
    (f"{ASKED} --evidence broken.json", "broken.json: this is not JSON"),
    (f"{ASKED} --evidence number.json", "not an object with a result"),
    (f"{ASKED} --evidence other_version.json", "'9.0' cannot be read"),
]

OBJECTS = [
    ("nofile.py:f", "There is no file nofile.py"),
    ("no_such_module:f", "There is no module 'no_such_module'"),
    ("no.such.module:f", "There is no module 'no.such.module'"),
    ("..up:f", "cannot be imported"),
    ("u.py:", "names no object"),
    (":f", "names no object"),
    ("u.py", "names no object"),
    ("u.py:fairr", "Did you mean fair?"),
    ("u.py:fair.more", "There is no 'more'"),
    ("syntax.py:f", "syntax.py cannot be imported: SyntaxError"),
    ("zeros.py:f", "zeros.py cannot be imported"),
    ("raising.py:f", "RuntimeError: at import"),
    ("exiting.py:f", "exiting.py cannot be imported: SystemExit: 3"),
    ("missing_import.py:f", "No module named 'no_such_module_at_all'"),
    ("endless.py:f", "RecursionError"),
    ("u.py:number", "is a int"),
    ("u.py:np", "is a module"),
    ("u.py:zero", "takes (nothing)"),
    ("u.py:one", "takes (d)"),
    ("u.py:four", "takes (a, b, c, d)"),
    ("u.py:keyword", "takes (d, rng, more)"),
    ("u.py:yields", "is a generator function"),
    ("u.py:awaits", "is a coroutine function"),
    ("math:floor", "takes (x)"),
    ("builtins:dict", "no readable signature"),
    ("m.py:Flip --param epsilo=1", "has no parameter 'epsilo'; did you mean epsilon?"),
    ("m.py:Flip --param zzz=1", "it has epsilon"),
    ("m.py:flip --param epsilo=1", "did you mean epsilon?"),
    ("m.py:Flip --param epsilon=-1", "epsilon is negative"),
    ("m.py:flip --param epsilon=-1", "epsilon is negative"),
    ("m.py:Needs", "'weight'"),
    ("m.py:plain --param x=1", "it has none"),
]


@pytest.mark.usefixtures("files", "catalogue")
@pytest.mark.parametrize(
    ("line", "says"),
    NAMES
    + [(f"check u.py:fair {ASKED} {words}", says) for words, says in NUMBERS]
    + [(f"check u.py:fair {words}", says) for words, says in CLAIMS_AND_PAIRS]
    + [(f"check {words} {ASKED}", says) for words, says in OBJECTS]
    + [(f"check Response {words}", says) for words, says in [("--param epsilo=1", "mean epsilon?"),
       ("--param epsilon=-1", "epsilon must be above 0"), ("--pair [0] [0]", "are equal")]],
    ids=lambda text: text[:60],
)
def test_usage(typed: Typed, files: Path, line: str, says: str) -> None:
    before = sorted(p.name for p in files.iterdir() if p.suffix != ".pyc" and p.name != "__pycache__")
    said = typed(line)
    assert said.code == 2
    assert says in said.sentence
    assert said.sentence.endswith((".", "?"))
    assert said.out == ""
    assert before == sorted(p.name for p in files.iterdir() if p.name != "__pycache__"), "nothing is left behind"


def test_no_words_show_the_help(typed: Typed) -> None:
    said = typed("")
    assert said.code == 2
    assert "check" in said.out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("report", "Missing argument 'RESULTS.json'"),
        ("report missing.json", "No such file"),
        ("report folder", "Is a directory"),
        ("report binary.json", "not UTF-8"),
        ("report broken.json", "broken.json: this is not JSON"),
        ("report empty.json", "empty.json: this is not JSON"),
        ("report number.json", "not an object with a result"),
        ("report other_version.json", "'9.0' cannot be read"),
        ("report wrong.json", "is missing"),
        ("report nan.json", "NaN is no JSON number"),
        ("replay", "Missing argument 'ID'"),
        ("replay 123456789abc", "There is no store"),
    ],
)
def test_reports_and_replays(typed: Typed, line: str, says: str) -> None:
    said = typed(line)
    assert said.code == 2
    assert says in said.err
    assert said.err.startswith("dpaudit: ")
    assert len(said.err.splitlines()) == 1
    assert said.out == ""


@pytest.mark.usefixtures("files")
def test_a_report_that_cannot_be_written(typed: Typed) -> None:
    assert typed(f"check u.py:fair {ASKED} --json good.json").code == 0
    said = typed("report good.json --html folder")
    assert said.code == 2
    assert "Cannot write folder" in said.sentence


@pytest.mark.usefixtures("files")
def test_evidence_that_cannot_be_carried_over(typed: Typed) -> None:
    assert typed(f"check u.py:fair {ASKED} --json r.json").code == 0
    said = typed(f"check u.py:fair {ASKED} --evidence r.json --json again.json")
    assert said.code == 2
    assert "r.json was made with seed 0 too" in said.sentence
    assert "choose another --seed." in said.sentence
    assert said.out == ""
    assert not Path("again.json").exists()
    result = json.loads(Path("r.json").read_text())
    for audit in result["audits"]:
        audit["sequential"] = None
    Path("without.json").write_text(json.dumps(result), encoding="utf-8")
    said = typed(f"check u.py:fair {ASKED} --seed 1 --evidence without.json")
    assert said.code == 2
    assert "without.json holds no e-values to carry over" in said.sentence


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("option", ["--certify", "--bits", "--black-box", "--seed 1 --evidence r.json"])
def test_a_crash_under_every_option(typed: Typed, option: str) -> None:
    assert typed(f"check u.py:raises u.py:fair {ASKED} --json r.json").code == 4
    said = typed(f"check u.py:raises u.py:fair {ASKED} {option} --json s.json")
    assert said.code == 4
    assert said.err == ""
    audits = json.loads(Path("s.json").read_text())["audits"]
    assert [(a["verdict"], a["crashed"]) for a in audits] == [("inconclusive", True), ("pass", False)]


@pytest.mark.usefixtures("files")
def test_replay_of_an_unknown_id(typed: Typed) -> None:
    assert typed(f"check u.py:fair {ASKED} --json r.json").code == 0
    known = json.loads(Path("r.json").read_text())["audits"][0]["replay"]
    said = typed(f"replay {known[:-1]}z")
    assert said.code == 2
    assert f"Did you mean {known}?" in said.sentence


@pytest.mark.usefixtures("files")
def test_a_corrupt_store(typed: Typed) -> None:
    Path(".dpaudit").mkdir()
    Path(".dpaudit/audits.sqlite3").write_text("this is no database, " * 100)
    said = typed("replay 123456789abc")
    assert said.code == 2
    assert "cannot be read" in said.sentence
    said = typed(f"check u.py:fair {ASKED} --json r.json")
    assert said.code == 0, "a result does not depend on whether it can be stored"
    assert "cannot be written" in said.sentence
    assert json_form.from_json(Path("r.json").read_text(), where="r.json").audits


@pytest.mark.usefixtures("files")
def test_a_store_that_is_a_folder(typed: Typed) -> None:
    Path(".dpaudit/audits.sqlite3").mkdir(parents=True)
    assert "There is no store" in typed("replay 123456789abc").sentence
    assert "cannot be written" in typed(f"check u.py:fair {ASKED}").sentence


@pytest.mark.usefixtures("files")
def test_a_disk_that_is_full(typed: Typed) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    said = typed(f"check u.py:fair {ASKED} --html /dev/full --json r.json")
    assert said.code == 2
    assert "No space left" in said.sentence
    assert "PASS" in said.out
    assert Path("r.json").exists(), "the other report is written all the same"


def test_tables_that_cannot_be_loaded(typed: Typed, register: Register) -> None:
    register([ImportError("gone")], [{}])
    said = typed("list")
    assert said.code == 2
    assert "ImportError: gone" in said.sentence
    register([{"A": "a:A"}, {"A": "b:A"}], [{}])
    assert "registered twice" in typed("list").sentence
    register([3], [{}])
    assert "cannot be loaded" in typed("list").sentence


CRASHES = [
    ("raises", "raises raised ValueError: no such luck."),
    ("raises_nothing", "raises_nothing raised ValueError."),
    ("raises_lines", "raises_lines raised ValueError: line one line two line three."),
    ("raises_mute", "raises_mute raised Mute."),
    ("rarely", "rarely raised ZeroDivisionError: rare."),
    ("one_side", "one_side raised KeyError: 'one'."),
    ("a_dict", "An output of type dict cannot be counted"),
    ("a_set", "An output of type set cannot be counted"),
    ("nested", "An output of type set cannot be counted"),
    ("an_object", "equals nothing but itself"),
    ("nan", "NaN or an infinite number"),
    ("inf", "NaN or an infinite number"),
    ("nan_tuple", "NaN or an infinite number"),
    ("nans", "NaN or an infinite number"),
    ("too_few", "asked for 5 outputs and returned 4"),
    ("only_one", "returned one int"),
    ("a_scalar", "returned one ndarray"),
    ("a_string", "returned one str"),
    ("complexes", "returned a complex number"),
    ("many_complexes", "returned a complex number"),
    ("exits", "exits called sys.exit(0)"),
    ("exits_saying", "exits_saying called sys.exit('bye')"),
    ("deep", "deep recursed too deeply."),
    ("stops", "stops raised StopIteration."),
    ("closes", "closes raised GeneratorExit."),
]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("name", "says"), CRASHES, ids=[name for name, _ in CRASHES])
def test_a_function_that_crashes(typed: Typed, name: str, says: str) -> None:
    said = typed(f"check u.py:{name} {ASKED}")
    assert said.code == 4
    assert said.out.startswith("INCONCLUSIVE")
    assert "the mechanism crashed" in said.out
    assert says in said.reason
    assert said.reason.endswith(".")
    assert "Traceback" not in said.out + said.err
    assert said.err == ""


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Exits", "Exits called sys.exit(1)"),
        ("Bulky", "Bulky raised IndexError: bulk fell over."),
    ],
)
def test_a_mechanism_that_crashes(typed: Typed, name: str, says: str) -> None:
    said = typed(f"check m.py:{name} {ASKED}")
    assert said.code == 4
    assert says in said.reason
    assert said.err == ""


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", ["nothing", "kinds", "lengths", "shapes", "mutates", "huge"])
def test_odd_but_good(typed: Typed, name: str) -> None:
    said = typed(f"check u.py:{name} {ASKED} --json r.json --html r.html")
    assert said.code == 0
    assert said.err == ""
    event = json.loads(Path("r.json").read_text())["audits"][0]["event"]
    if name == "mutates":
        assert event["spec"]["atoms"] in ([], [2]), "every run gets a fresh list"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", ["spins", "sleeps", "stubborn"])
def test_a_function_that_hangs(typed: Typed, name: str) -> None:
    said = typed(f"check u.py:{name} {ASKED} --time 0.2 --json r.json")
    assert said.code == 3
    assert "the time limit of 0.2 s ran out first; raise --time or lower --runs." in said.reason
    assert json.loads(Path("r.json").read_text())["audits"][0]["verdict"] == "inconclusive"


@pytest.mark.usefixtures("files")
def test_a_function_that_hangs_in_a_worker(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "WORTH_A_POOL", 0)
    # a pool takes over where a batch has more than one unit a side
    monkeypatch.setattr(Target, "chunk", 100)
    monkeypatch.setenv("PARENT", str(os.getpid()))
    line = f"check u.py:sleeps_in_a_worker {ASKED} --jobs 2 --time 3 --json r.json"
    said = typed(line)
    assert said.code == 3
    assert "the time limit of 3 s ran out first" in said.reason
    assert json.loads(Path("r.json").read_text())["timings"]["seconds"] < 10


@pytest.mark.usefixtures("files")
def test_a_long_time_limit_is_none(typed: Typed) -> None:
    assert typed(f"check u.py:fair {ASKED} --time 1e300").code == 0


@pytest.mark.usefixtures("files")
def test_a_huge_claim(typed: Typed) -> None:
    said = typed("check u.py:fair --epsilon 1e308 --pair [0] [1] --runs 500 --json r.json --html r.html")
    assert said.code == 3
    assert said.err == ""
    assert "audit a smaller ε or use an exact law." in said.reason
    assert typed("check m.py:Flip --epsilon 1e308 --pair [0] [1] --runs 500 --html r.html").code == 0


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("subject", ["u.py:prints", "m.py:Prints"])
def test_printing_does_not_corrupt_json(typed: Typed, subject: str) -> None:
    said = typed(f"check {subject} {ASKED} --json - --quiet")
    assert said.code == 0
    assert json.loads(said.out)["audits"][0]["verdict"] == "pass"
    assert "noise" in said.err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("quiet", ["", "--quiet"])
def test_an_interrupt_keeps_what_is_finished(typed: Typed, quiet: str) -> None:
    said = typed(f"check u.py:fair u.py:interrupts {ASKED} {quiet} --json - --html r.html")
    assert said.code == 130
    assert "nterrupted" in said.err
    result = json.loads(said.out)
    assert [audit["name"] for audit in result["audits"]] == ["fair"]
    assert result["interrupted"] is True
    assert Path("r.html").exists()
    assert typed(f"replay {result['audits'][0]['replay']}").code == 0, "it was stored"


@pytest.mark.usefixtures("files")
def test_an_interrupt_while_a_file_is_imported(typed: Typed) -> None:
    said = typed(f"check interrupting.py:f {ASKED}")
    assert said.code == 130
    assert said.sentence == "Interrupted."


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("moment", ["AuditStarted", "Progress", "AuditFinished", "CheckFinished"])
def test_an_interrupt_while_something_is_shown(typed: Typed, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    from dpaudit.reporting.console import ConsoleReporter

    shown = ConsoleReporter.on

    def on(self: ConsoleReporter, event: Any) -> None:
        if type(event).__name__ == moment and not getattr(event, "result", None):
            raise KeyboardInterrupt
        if moment == type(event).__name__ == "CheckFinished":
            raise KeyboardInterrupt
        shown(self, event)

    monkeypatch.setattr(ConsoleReporter, "on", on)
    said = typed(f"check u.py:fair {ASKED} --json r.json")
    assert said.code == 130
    result = json.loads(Path("r.json").read_text())
    assert result["interrupted"] is True
    assert len(result["audits"]) == (moment in ("AuditFinished", "CheckFinished"))


@pytest.mark.usefixtures("files")
def test_a_crash_keeps_the_results_before_and_after_it(typed: Typed) -> None:
    said = typed(f"check u.py:fair u.py:raises m.py:Flip {ASKED} --json r.json --html r.html")
    assert said.code == 4
    result = json_form.from_json(Path("r.json").read_text(), where="r.json")
    assert [(a.name, a.verdict.value, a.crashed) for a in result.audits] == [
        ("fair", "pass", False),
        ("raises", "inconclusive", True),
        ("Flip", "pass", False),
    ]
    assert "raises raised ValueError" in Path("r.html").read_text()


@pytest.mark.usefixtures("files")
def test_a_bug_of_our_own_keeps_the_other_results(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    certify = Learner.certify
    calls: list[int] = []

    def broken(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise AssertionError("not\nthought of")
        return certify(*args, **kwargs)

    monkeypatch.setattr(Learner, "certify", broken)
    said = typed(f"check u.py:fair u.py:nothing m.py:Flip {ASKED} --json r.json")
    assert said.code == 4
    assert said.err == ""
    audits = json.loads(Path("r.json").read_text())["audits"]
    assert [a["verdict"] for a in audits] == ["pass", "inconclusive", "pass"]
    assert audits[1]["reason"] == (
        "dpaudit itself failed (AssertionError: not thought of); DPAUDIT_TRACEBACK=1 shows where."
    )


def test_a_bug_before_the_audits_is_one_sentence(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpaudit.audit import engine

    def broken(*args: Any) -> Any:
        raise AssertionError("not thought of")

    monkeypatch.setattr(engine, "jobs_of", broken)
    said = typed("check Response")
    assert said.code == 4
    assert said.sentence.startswith("dpaudit itself failed (AssertionError: not thought of)")


# --- through a real process -------------------------------------------------------------------------------------


def _process(line: str, folder: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "dpaudit.cli", *shlex.split(line)]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=60, **more)


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        (f"check u.py:fairr {ASKED}", 2, "Did you mean fair?"),
        (f"check u.py:fair {ASKED} --runs nan", 2, "--runs"),
    ],
)
def test_usage_in_a_process(files: Path, line: str, code: int, says: str) -> None:
    ended = _process(line, files)
    assert ended.returncode == code
    assert says in ended.stderr
    assert ended.stderr.startswith("dpaudit: ")
    assert ended.stdout == ""


def test_a_crash_in_a_process(files: Path) -> None:
    ended = _process(f"check u.py:prints u.py:exits {ASKED} --json - --quiet", files)
    assert ended.returncode == 4
    assert [audit["crashed"] for audit in json.loads(ended.stdout)["audits"]] == [False, True]
    assert set(ended.stderr.split()) == {"noise"}
