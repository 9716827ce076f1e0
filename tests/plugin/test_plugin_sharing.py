"""How α, seeds and settings are shared over a session, and that an audit can be made again alone.

Verdicts are of fixed seeds and repeat exactly.
"""

from __future__ import annotations

import math
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from plugin_runs import FEW, SUITE, Runs

from dpaudit.plans.request import DEFAULT_ALPHA, LEAST_ALPHA
from dpaudit.pytest_plugin import settings
from dpaudit.pytest_plugin.settings import Settings, audit_seed, call_share, item_share

FOUR = """
def test_one(dp_audit):
    dp_audit(respond, epsilon=1.0, pair=PAIR)

@pytest.mark.parametrize("epsilon", [1.0, 1.2])
def test_two(dp_audit, epsilon):
    dp_audit(respond, epsilon=epsilon, pair=PAIR)

@pytest.mark.dp(epsilon=1.0)
def test_loud(dp_audit):
    dp_audit(respond_loudly, pair=PAIR)

def test_plain():
    pass
"""


def test_constants_are_the_engines() -> None:
    # repeated, because importing the engine takes a second in every run of pytest
    assert settings.DEFAULT_ALPHA == DEFAULT_ALPHA
    assert settings.LEAST_ALPHA == LEAST_ALPHA


def test_what_a_test_may_err_with_is_never_exceeded_by_its_audits() -> None:
    shares = [call_share(1.0, k) for k in range(1, 100_000)]
    assert all(a > b for a, b in pairwise(shares))
    assert 0.9999 < sum(shares) < 1
    assert math.isclose(item_share(0.001, 8) * 8, 0.001)


def test_seeds_differ_between_tests_and_not_between_machines() -> None:
    assert audit_seed(0, "tests/test_count.py::test_noisy", 1, 0) == 2957914549
    seeds = {
        audit_seed(s, name, call, session) for s in (0, 1) for name in "ab" for call in (1, 2) for session in (0, 1)
    }
    assert len(seeds) == 16


@pytest.mark.slow
def test_alpha_is_shared_over_what_is_collected(runs: Runs) -> None:
    ran = runs(FOUR, FEW)
    assert ran.outcomes == {"passed": 4, "failed": 1}
    assert ran.text.count("dp: α = 0.001 shared over 4 tests: 0.00025 each; seed 0") == 2
    assert {audit["alpha"] for audit in ran.audits} == {call_share(0.001 / 4, 1)}
    assert len({audit["seed"] for audit in ran.audits}) == 4


@pytest.mark.slow(only=["options0-*", "options2-*"])
@pytest.mark.parametrize(
    ("options", "left"),
    [(("-k", "two"), 2), (("-m", "dp"), 1), (("--deselect", "test_suite.py::test_loud"), 3), (("-k", "plain"), 0)],
)
def test_what_is_deselected_has_no_share(runs: Runs, options: tuple[str, ...], left: int) -> None:
    ran = runs(FOUR, FEW, *options)
    assert [audit["items"] for audit in ran.audits] == [left] * left
    assert ("dp:" in ran.text) == (left > 0)


@pytest.mark.slow
def test_several_audits_of_one_test_share_its_share(runs: Runs) -> None:
    ran = runs(
        """
def test_three(dp_audit):
    for epsilon in (1.0, 1.0, 1.2):
        dp_audit(respond, epsilon=epsilon, pair=PAIR)
""",
        FEW,
        "--dp-alpha=0.01",
    )
    assert [audit["alpha"] for audit in ran.audits] == [call_share(0.01, k) for k in (1, 2, 3)]
    assert len({audit["seed"] for audit in ran.audits}) == 3, "the same claim twice is two audits of runs of their own"
    for row in ("test_three (1)", "test_three (2)", "test_three (3)"):
        assert row in ran.text


@pytest.mark.slow
def test_the_same_every_time_and_made_again_alone(runs: Runs) -> None:
    first, second = runs(FOUR, FEW), runs(None, FEW)
    assert first.numbers == second.numbers
    loud = next(audit for audit in first.audits if audit["test"].endswith("test_loud"))
    (again,) = re.findall(r"E  +again   (pytest .*)", first.text)
    assert again == loud["again"]
    assert again == "pytest test_suite.py::test_loud --dp-seed=0 --dp-alpha=0.00025 --dp-runs=600"
    alone = runs(None, *shlex.split(again)[1:])
    assert alone.numbers == [line for line in first.numbers if line[0].endswith("test_loud")]
    other = runs(None, "--dp-seed=1", *shlex.split(again)[1:2], FEW)
    assert other.audits[0]["seed"] != loud["seed"]


@pytest.mark.slow
def test_again_from_another_folder(runs: Runs) -> None:
    runs.pytester.mkdir("tests").joinpath("test_below.py").write_text(
        SUITE + "def test_it(dp_audit):\n    dp_audit(respond_loudly, epsilon=1.0, pair=PAIR)\n"
    )
    there = runs(None, FEW, "tests/test_below.py")
    runs.monkeypatch.chdir(runs.folder / "tests")
    here = runs(None, FEW, "test_below.py")
    assert there.numbers == here.numbers, "the seed is of the node id, whose paths begin at the root"
    assert " tests/test_below.py::test_it " in there.audits[0]["again"]
    assert " test_below.py::test_it " in here.audits[0]["again"]


@pytest.mark.slow
def test_settings_of_the_project_and_options_over_them(runs: Runs) -> None:
    runs.settings('alpha = 0.01\nseed = 5\nruns = 700\nreport = "out"')
    tests = "def test_it(dp_audit):\n    dp_audit(respond, epsilon=1.0, pair=PAIR)\n"
    ran = runs(tests)
    assert "dp: α = 0.01 for 1 test; seed 5" in ran.text
    assert ran.audits[0]["runs"] == 1400
    assert (runs.folder / "out" / "index.html").is_file()
    ran = runs(None, "--dp-alpha=0.02", "--dp-seed=6", "--dp-runs=800")
    assert "dp: α = 0.02 for 1 test; seed 6" in ran.text
    assert ran.audits[0]["runs"] == 1600


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--dp-alpha=0.7",), "--dp-alpha must be at least 1e-100 and below 0.5, not 0.7."),
        (("--dp-seed=-1",), "--dp-seed must be a whole number of at least 0, not -1."),
        (("--dp-runs=0",), "--dp-runs must be a whole number of at least 1, not 0."),
        (("--dp-time=nan",), "--dp-time must be a positive number of seconds, not nan."),
        (("--dp-items=3",), "--dp-items=3 shares α over fewer; raise it to at least 4."),
        (("--dp-session=1",), "name the file with --dp-evidence."),
    ],
)
def test_options_that_cannot_be(runs: Runs, options: tuple[str, ...], said: str) -> None:
    ran = runs(FOUR, *options)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert said in ran.text
    assert "Traceback" not in ran.text
    assert not ran.audits


def test_a_project_file_that_cannot_be_used(runs: Runs) -> None:
    runs.settings("sed = 5")
    ran = runs(FOUR)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "has no setting 'sed'; did you mean seed?" in ran.text
    assert runs("def test_plain():\n    pass\n").outcomes == {"passed": 1}, "without audits nobody asks for it"


def test_settings_are_read_from_the_nearest_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.dpaudit]\nreport = "reports"\ntime = 3\n')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    given = {"dp_evidence": "sessions.json"}
    found = Settings.read(given.get, root=below, here=below)
    assert found == Settings(report=tmp_path / "reports", time=3.0, evidence=below / "sessions.json")


@pytest.mark.slow
def test_under_xdist_as_without(runs: Runs) -> None:
    alone = runs(FOUR, FEW, "--dp-report=one")
    options = ["-n", "2", "-p", "no:cacheprovider", FEW, "--dp-report=two", "--junitxml=j.xml"]
    words = [sys.executable, "-m", "pytest", *options]
    side_by_side = subprocess.run(words, cwd=runs.folder, capture_output=True, text=True, check=False, timeout=300)
    table = alone.text[alone.text.index("= dp audits =") :].splitlines()[1:8]
    assert table[0].startswith("test ")
    assert table[-1] == "dp: α = 0.001 shared over 4 tests: 0.00025 each; seed 0"
    assert "\n".join(table) in side_by_side.stdout, side_by_side.stdout + side_by_side.stderr
    one, two = ((runs.folder / name / "result.json").read_text() for name in ("one", "two"))

    def stable(text: str) -> str:
        return re.sub(r'"timings": .*', "", text, flags=re.DOTALL).replace(" -n 2", "")

    commands = re.compile(r'"command": "pytest [^"]*"')
    assert commands.sub("", stable(one)) == commands.sub("", stable(two))
    assert '<property name="dp.verdict" value="fail" />' in (runs.folder / "j.xml").read_text()


@pytest.mark.slow
def test_groups_of_xdist_do_not_change_seeds(runs: Runs) -> None:
    tests = """
@pytest.mark.xdist_group("mail@example")
def test_it(dp_audit):
    dp_audit(respond, epsilon=1.0, pair=PAIR)
"""
    alone = runs(tests, FEW, "--junitxml=a.xml")
    assert alone.outcomes == {"passed": 1}
    words = [sys.executable, "-m", "pytest", "-n", "1", "--dist=loadgroup", FEW, "--junitxml=b.xml"]
    subprocess.run(words, cwd=runs.folder, capture_output=True, check=True, timeout=300)
    seeds = [re.findall(r'"dp.seed" value="(\d+)"', (runs.folder / name).read_text()) for name in ("a.xml", "b.xml")]
    assert seeds[0] == seeds[1] == [str(alone.audits[0]["seed"])]


def test_a_suite_without_audits_imports_nothing_heavy(runs: Runs) -> None:
    (runs.folder / "test_plain.py").write_text("def test_plain():\n    pass\n")
    script = """
import sys
import pytest
code = pytest.main(["--co", "-q", "-p", "no:cacheprovider"])
heavy = {"numpy", "scipy", "sklearn", "joblib", "rich", "jinja2", "matplotlib", "dpaudit.api", "dpaudit.engine"}
assert "dpaudit.pytest_plugin" in sys.modules
print("imported:", sorted(heavy & set(sys.modules)), int(code))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=runs.folder, capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout.splitlines()[-1] == "imported: [] 0"
