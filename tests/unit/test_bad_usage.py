"""Bad words through the real command line: one clear sentence, exit code 2, and nothing is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_files import ASKED
from typed_commands import Register, Typed, in_a_process

pytestmark = pytest.mark.filterwarnings("error")

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
    ("check Broken", "Broken has no audits"),
    ("check NoClass", "is no plan"),
    ("show NoClass", "is no mechanism class"),
    ("show Broken", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
    ("check u.py:fair --epsilonn 1", "--epsilon"),
    ("check u.py:fair --nosuch", "No such option: --nosuch"),
    ("show", "Missing argument 'NAME'"),
    ("list ''", "'' is no word to look for"),
    ("list --corpus=", "--corpus"),
    ("show ''", "There is no algorithm called ''"),
    ("show folder", "There is no algorithm called 'folder'"),
    ("check ''", "There is no algorithm called ''"),
    ("check folder", "There is no algorithm called 'folder'"),
    ("check u.py:fair --version", "No such option: --version"),
    ("check u.py:fair u.py:fair --epsilon 1 --pair [0] [1]", "u.py:fair is given twice"),
    ("check u.py:fair --epsilon 1 --pair [0] [1] --expect", "your own function has none"),
]

NUMBERS = [
    (f"--{option} {value}", f"--{option}")
    for option, values in {
        "epsilon": ("''", "abc", "nan", "inf", "-1"),
        "delta": ("''", "abc", "nan", "inf", "-0.5", "1.5"),
        "alpha": ("''", "x", "nan", "inf", "0", "-1", "0.5", "1", "1e-320"),
        "runs": ("''", "x", "nan", "inf", "1.5", "0", "-5"),
        "time": ("''", "x", "nan", "inf", "0", "-1"),
        "jobs": ("''", "x", "nan", "1.5", "0", "-1"),
        "seed": ("''", "x", "nan", "inf", "1.5", "-1"),
    }.items()
    for value in values
]

CLAIMS_AND_PAIRS = [
    ("--pair [0] [1]", "What does fair claim? Give --epsilon"),
    ("--epsilon 1 --data integers(0,1) --relation add-remove-one:10001", "at most 10,000; give --pair"),
    ('--epsilon 1 --pair \'{"multiset":[[1,9223372036854775808]]}\' [1]', "at most 9,223,372,036,854,775,807 records"),
    ("--epsilon 1", "Give --pair"),
    ("--epsilon 1 --pair [0]", "requires 2 arguments"),
    ("--epsilon 1 --pair [0 [1]", "'[0' is not a dataset in JSON"),
    ("--epsilon 1 --pair '' [1]", "not a dataset in JSON"),
    ("--epsilon 1 --pair @ [1]", "'@' names no file"),
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
    ("--epsilon 1 --pair [1e999] [1]", "1e999 is too large for a float"),
    ("--epsilon 1 --pair [NaN] [NaN]", "The two datasets are equal"),
    ("--epsilon 1 --pair '[{\"float\": \"1.5\"}]' [1]", "not an object"),
    ("--epsilon 1 --pair " + "[" * 6000 + " [1]", "is not a dataset in JSON"),
    ("--epsilon 1 --pair '{\"multiset\": 3}' [1]", "A multiset is written"),
    ("--epsilon 1 --pair '{\"multiset\": [[0, 1.5]]}' [1]", "multiplicity of 0"),
    ("--epsilon 1 --pair '{\"multiset\": [[0, -1]]}' [1]", "multiplicity of 0"),
    ("--epsilon 1 --pair '{\"multiset\": [[0, 1], [0, 1]]}' [1]", "lists 0 twice"),
    ("--epsilon 1 --pair '{\"multiset\": [[0, 1], [\"a\", 1]]}' [1]", "cannot form a multiset"),
    ("--epsilon 1 --pair [0] [1] -q -v", "give --quiet or --verbose, not both"),
    ("--epsilon 1 --pair [0] [1] -v -q", "give --quiet or --verbose, not both"),
    ("--epsilon 1 --pair [] []", "are equal"),
    ("--epsilon 1 --pair [0,1] [0,1]", "are equal"),
    ("--epsilon 1 --pair [] [1]", "replace-one"),
    ("--epsilon 1 --pair [1] [1,2]", "replace-one"),
    ("--epsilon 1 --pair [1,2] [3,4]", "are 2 replace-one steps apart"),
    ("--epsilon 1 --pair [1,2] [3,4] --relation add-remove-one:3", "are 4 add-remove-one steps apart"),
    ("--epsilon 1 --pair [1] [2] --relation ''", "no relation called ''"),
    ("--epsilon 1 --pair [1] [2] --relation nope", "no relation called 'nope'"),
    ("--epsilon 1 --pair [1] [2] --relation add/remove", "Did you mean add-remove-one?"),
    ("--epsilon 1 --pair [1] [2] --relation substitution", "Did you mean replace-one?"),
    ("--epsilon 1 --pair [1] [2] --relation unbounded", "Did you mean add-remove-one?"),
    ("--epsilon 1 --pair [1] [2] --relation bounded", "Did you mean replace-one?"),
    ("--epsilon 1 --pair [1] [2] --relation replace-one:0", "size of a group must be at least 1"),
    ("--epsilon 1 --pair [1] [2] --relation replace-one:x", "size of a group must be a whole number"),
    ("--epsilon 1 --pair [1] [2] --relation replace-one:", "size of a group must be a whole number"),
    ("--epsilon 1 --data 'integers(0, ' --size 3", "is not a description of data"),
    ("--epsilon 1 --data 'integers(9, 0)'", "with low < high"),
    ("--epsilon 1 --data 'floats(1, 1)'", "with low < high"),
    ("--epsilon 1 --data 'floats(0, 1e400)'", "range of floats must be finite"),
    ("--epsilon 1 --data 'integers(0, 1.5)'", "is not a description of data"),
    ("--epsilon 1 --data 'integers(0, 99999999999999999999)'", "64 bits"),
    ("--epsilon 1 --data 'nosuch(0, 1)'", "is not a description of data"),
    ("--epsilon 1 --data 'integers(low=0, high=1)'", "is not a description of data"),
    ("--epsilon 1 --data '__import__(\"os\").mkdir(\"pwned\")'", "is not a description of data"),
    ("--epsilon 1 --data 'integers(__import__(\"os\").mkdir(\"pwned\"), 5)'", "is not a description of data"),
    ("--epsilon 1 --data 'sampled_from([])'", "is not a description of data"),
    ("--epsilon 1 --data 'sampled_from([1, 1])'", "distinct records"),
    ("--epsilon 1 --data 'sampled_from([{1: 2}, {3: 4}])'", "is not a description of data"),
    (
        "--epsilon 1 --data 'frame(age=integers(0, 9), city=sampled_from(\"ab\"))'",
        "is not a description of data, because of sampled_from(\"ab\");",
    ),
    ("--epsilon 1 --data 'tuples(booleans(), nosuch(3))'", "is not a description of data, because of nosuch(3);"),
    ("--epsilon 1 --data 'tuples()'", "is not a description of data"),
    ("--epsilon 1 --data ''", "is not a description of data"),
    ("--epsilon 1 --data 'integers(0, 9)' --pair [0] [1]", "not both"),
    ("--epsilon 1 --pair [0] [1] --size 3", "it needs --data"),
    ("--epsilon 1 --size 3", "it needs --data"),
    ("--epsilon 1 --data 'integers(0, 9)' --size 0", "--size must be at least 1"),
    ("--epsilon 1 --data 'integers(0, 9)' --size -3", "--size must be at least 1"),
    ("--epsilon 1 --data 'integers(0, 9)' --size x", "--size"),
    ("--epsilon 1 --data 'integers(0, 9)' --size ''", "--size"),
    ("--epsilon 1 --data folder", "is not a description of data"),
    ("--epsilon 1 --data 'integers(0, 9)' --size nan", "--size"),
    ("--epsilon 1 --data 'integers(0, 9)' --size 2 --relation replace-one:3", "raise --size"),
    (f"{ASKED} --param epsilon=1", "a function has no parameters"),
    (f"{ASKED} --param epsilon", "--param takes NAME=VALUE"),
    (f"{ASKED} --param ''", "--param takes NAME=VALUE"),
    (f"{ASKED} --param =1", "--param takes NAME=VALUE"),
    (f"{ASKED} --html folder", "it is a folder"),
    (f"{ASKED} --html ''", "--html '' names no file"),
    (f"{ASKED} --html u.py", "--html would overwrite u.py, which is read here"),
    (f"{ASKED} --json u.py", "--json would overwrite u.py, which is read here"),
    ("--epsilon 1 --pair @zero.json @one.json --html one.json", "--html would overwrite one.json"),
    (f"{ASKED} --html missing/x.html", "there is no folder missing"),
    (f"{ASKED} --html /proc/x.html", "Cannot write /proc/x.html"),
    (f"{ASKED} --html -", "writes a file"),
    (f"{ASKED} --json folder", "it is a folder"),
    (f"{ASKED} --json ''", "--json '' names no file"),
    (f"{ASKED} --json zero.json/x", "there is no folder"),
    (f"{ASKED} --json same --html same", "cannot both write"),
    (f"{ASKED} --json same --html ./same", "cannot both write"),
    (f"{ASKED} --certify=3", "--certify"),
    (f"{ASKED} --bits=x", "--bits"),
    (f"{ASKED} --black-box=yes", "--black-box"),
    (f"{ASKED} --evidence", "requires an argument"),
    (f"{ASKED} --evidence ''", "'' names no file to read"),
    (f"{ASKED} --evidence -", "Cannot read -: No such file"),
    (f"{ASKED} --evidence empty.json", "empty.json: this is not JSON"),
    (f"{ASKED} --evidence wrong.json", "not a result of `dpaudit check --json`: object missing required field `seed`"),
    (f"{ASKED} --evidence missing.json", "missing.json: No such file"),
    (f"{ASKED} --evidence folder", "folder: Is a directory"),
    (f"{ASKED} --evidence binary.json", "not UTF-8"),
    (f"{ASKED} --evidence broken.json", "broken.json: this is not JSON"),
    (f"{ASKED} --evidence number.json", "expected `object`, got `int`"),
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
    ("u.py:number", "is an int, which dpaudit cannot audit"),
    ("u.py:np", "is the module numpy, which dpaudit cannot audit"),
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


def test_tables_that_cannot_be_loaded(typed: Typed, register: Register) -> None:
    register([ImportError("gone")], [{}])
    said = typed("list")
    assert said.code == 2
    assert "ImportError: gone" in said.sentence
    register([{"A": "a:A"}, {"A": "b:A"}], [{}])
    assert "registered twice" in typed("list").sentence
    register([3], [{}])
    assert "cannot be loaded" in typed("list").sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        (f"check u.py:fairr {ASKED}", 2, "Did you mean fair?"),
        (f"check u.py:fair {ASKED} --runs nan", 2, "--runs"),
    ],
)
def test_usage_in_a_process(files: Path, line: str, code: int, says: str) -> None:
    ended = in_a_process(line, files)
    assert ended.returncode == code
    assert says in ended.stderr
    assert ended.stderr.startswith("dpaudit: ")
    assert ended.stdout == ""
