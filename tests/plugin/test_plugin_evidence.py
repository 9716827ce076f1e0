"""E-values continued from session to session in a file.

Verdicts are of fixed seeds and repeat exactly.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from plugin_runs import Ran, Runs

from dpaudit.errors import UsageError
from dpaudit.pytest_plugin import evidence
from dpaudit.pytest_plugin.evidence import KEPT, Evidence, Row
from dpaudit.pytest_plugin.record import Record, SessionEvidence

RECORD = Record(
    test="test_a.py::test_one", call=1, name="f", verdict="pass", phrase="PASS · not refuted", claim="(1.0, 0)",
    bound="≥ 0.5", epsilon_lower=0.5, runs=100, alpha=1e-4, seed=7, replay="abc", again="pytest", items=3,
    session=SessionEvidence("k", "f against 1-DP", 7, 0.25, 0.5),
)
# exactly 1-DP, and 0.8 is claimed: a session of so few runs shows little
WEAK = """
@pytest.mark.dp(epsilon=0.8, pair=PAIR, runs=400, min_power=float("inf"))
def test_weak(dp_audit):
    dp_audit(respond)
"""
EVIDENCE = "--dp-evidence=sessions.json"


def rows(runs: Runs, name: str = "sessions.json") -> list[list[float]]:
    """All rows of the only entry."""
    (keys,) = json.loads((runs.folder / name).read_text())["tests"].values()
    (entry,) = keys.values()
    found: list[list[float]] = entry["rows"]
    return found


def logs(ran: Ran) -> tuple[float, float]:
    """ln of the e-value of the session's own runs, and of all sessions."""
    (audit,) = ran.audits
    (value,) = json.loads(audit["result"])["audits"]
    return value["sequential"]["log_e"] - value["sequential"]["prior"], value["sequential"]["log_e"]


@pytest.mark.slow
def test_sessions_multiply_until_they_refute(runs: Runs) -> None:
    sessions: list[Ran] = []
    while len(sessions) < 25 and (not sessions or sessions[-1].outcomes == {"passed": 1}):
        sessions.append(runs(None if sessions else WEAK, EVIDENCE, "--dp-report=out"))
        assert f"session {len(sessions)} of sessions.json" in sessions[-1].text
    own = [logs(ran)[0] for ran in sessions]
    totals = [logs(ran)[1] for ran in sessions]
    assert len(sessions) > 2, "one session shows too little"
    assert sessions[-1].outcomes == {"failed": 1}, "all of them together do not"
    assert "in addition to earlier results" in sessions[-1].text
    assert totals == pytest.approx(np.cumsum(own)), "whatever a session showed is in the product"
    assert [row[0] for row in rows(runs)] == list(range(1, len(sessions) + 1)), "the session that failed is written too"
    assert len({row[1] for row in rows(runs)}) == len(sessions), "every session has runs of its own"

    # it stays refuted until the text changes
    assert runs(None, EVIDENCE).outcomes == {"failed": 1}
    # and a session can be made again, from what there was before it; the file is left as it is
    before = (runs.folder / "sessions.json").read_text()
    (again,) = set(re.findall(r"E  +again   (pytest .*)", sessions[-1].text))
    assert again.endswith(f"{EVIDENCE} --dp-session={len(sessions)}")
    made_again = runs(None, *shlex.split(again)[1:])
    assert made_again.numbers == sessions[-1].numbers
    assert (runs.folder / "sessions.json").read_text() == before

    corrected = runs(WEAK.replace("dp_audit(respond)", "dp_audit(respond, epsilon=1.0)"), EVIDENCE)
    assert corrected.outcomes == {"passed": 1}, "another claim begins anew"
    keys = json.loads((runs.folder / "sessions.json").read_text())["tests"]["test_suite.py::test_weak"]
    assert sorted(len(entry["rows"]) for entry in keys.values()) == [1, len(sessions) + 1]


@pytest.mark.slow
def test_a_changed_text_begins_anew(runs: Runs) -> None:
    first = runs(WEAK, EVIDENCE, "--dp-report=out")
    own, total = logs(runs(None, EVIDENCE, "--dp-report=out"))
    assert total == pytest.approx(own + logs(first)[0])
    changed = (
        "def respond(dataset, rng, size):\n    return np.where(rng.random(size) < 0.73, dataset[0], 1 - dataset[0])\n"
    )
    own, total = logs(runs(changed + WEAK, EVIDENCE, "--dp-report=out"))
    assert total == own
    (keys,) = json.loads((runs.folder / "sessions.json").read_text())["tests"].values()
    assert sorted(len(entry["rows"]) for entry in keys.values()) == [1, 2], "what there was is kept"


@pytest.mark.slow
def test_under_xdist_the_same_file(runs: Runs) -> None:
    runs(WEAK, EVIDENCE)
    words = [sys.executable, "-m", "pytest", "-n", "1", "-p", "no:cacheprovider", "--dp-evidence=two.json"]
    subprocess.run(words, cwd=runs.folder, capture_output=True, check=True, timeout=300)
    assert (runs.folder / "sessions.json").read_text() == (runs.folder / "two.json").read_text()


def test_what_was_refuted_once_stays_refuted(runs: Runs) -> None:
    runs(WEAK, EVIDENCE)
    path = runs.folder / "sessions.json"
    (session, seed, log_e, _, alpha) = rows(runs)[0]
    value = json.loads(path.read_text())
    (keys,) = value["tests"].values()
    # the product reached a million on its way, and fell again
    next(iter(keys.values()))["rows"] = [[session, seed, log_e, math.log(1e6), alpha]]
    path.write_text(json.dumps(value))
    ran = runs(None, EVIDENCE)
    assert ran.outcomes == {"failed": 1}
    assert "The claim was refuted in session 1, when the accumulated e-value reached 1.0e+06" in ran.text
    assert ran.audits[0]["verdict"] == "fail"


@pytest.mark.slow
def test_a_run_of_few_tests_uses_no_more_alpha_than_one_of_all(runs: Runs) -> None:
    tests = WEAK + WEAK.replace("test_weak", "test_other")
    runs(tests, EVIDENCE)
    few = runs(None, EVIDENCE, "-k", "other")
    assert few.audits[0]["items"] == 2
    assert "shared over 2 tests" in few.text
    tests_kept = json.loads((runs.folder / "sessions.json").read_text())["tests"]
    assert [len(next(iter(keys.values()))["rows"]) for keys in tests_kept.values()] == [2, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not a complete evidence file"),
        ("[]", "is not a complete evidence file"),
        ('{"format_version": "2.0", "sessions": -1, "items": 1, "tests": {}}', "is not a complete evidence file"),
        (
            '{"format_version": "2.0", "sessions": 1, "items": 1, "tests": {"a": {"k": {"about": "", "rows": '
            '[[1, 2, NaN, 0]]}}}}',
            "is not a complete evidence file",
        ),
        ('{"format_version": "1.1"}', "is of format 1.1, and this dpaudit reads 2.0"),
        ("\udcff", "it is not UTF-8 text"),
    ],
)
def test_a_file_that_is_none_is_refused_before_anything_runs(runs: Runs, text: str, said: str) -> None:
    (runs.folder / "sessions.json").write_bytes(text.encode(errors="surrogateescape"))
    ran = runs(WEAK, EVIDENCE)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert said in ran.text
    assert "Traceback" not in ran.text
    assert not ran.audits
    assert (runs.folder / "sessions.json").read_bytes() == text.encode(errors="surrogateescape")


def test_a_session_that_there_was_not(runs: Runs) -> None:
    ran = runs(WEAK, EVIDENCE, "--dp-session=3")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "has 0 sessions; there is no --dp-session=3 to repeat." in ran.text


def test_evidence_that_cannot_be_written_is_no_success(runs: Runs) -> None:
    (runs.folder / "file").write_text("")
    ran = runs(WEAK, "--dp-evidence=file/sessions.json")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "file/sessions.json" in ran.text


def test_what_cannot_be_distinguished_is_no_evidence_later(runs: Runs) -> None:
    ran = runs(
        """
import threading

class Mechanism:
    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, dataset, rng, size):
        return respond(dataset, rng, size)

def test_it(dp_audit):
    dp_audit(Mechanism(), epsilon=1.0, pair=PAIR, runs=400, min_power=float("inf"))
""",
        EVIDENCE,
        "--dp-report=out",
    )
    assert ran.outcomes == {"passed": 1}
    assert ran.audits[0]["session"] is None
    (audit,) = json.loads(ran.audits[0]["result"])["audits"]
    assert audit["notes"][-1]["sentence"] == (
        "Evidence does not accumulate across sessions here: it is unknown what the function computes, as it holds an "
        "object of _thread.lock, whose content is not known."
    )


@pytest.mark.slow
def test_confidence_bounds_of_later_sessions_use_the_alpha_that_the_first_left(runs: Runs) -> None:
    ran = [runs(None if session else WEAK, EVIDENCE, "--dp-report=out") for session in range(3)]
    audits = [json.loads(one.audits[0]["result"])["audits"][0] for one in ran]
    share = ran[0].audits[0]["alpha"]
    assert [audit["sequential"]["alpha"] / share for audit in audits] == pytest.approx([0.63] * 3)
    (first, *later) = [max(counts["alpha"] for counts in audit["sampled"]) / share for audit in audits]
    assert first == pytest.approx(0.3)
    assert later == pytest.approx([0.3 * 0.01 / 2, 0.3 * 0.01 / 6])
    # a share that was smaller once stays so: --dp-alpha is raised, and nothing is won by it
    raised = runs(None, EVIDENCE, "--dp-report=out", "--dp-alpha=0.01")
    (audit,) = json.loads(raised.audits[0]["result"])["audits"]
    assert audit["sequential"]["alpha"] / share == pytest.approx(0.63)


# --- the file ---


def test_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "below" / "sessions.json"
    first = evidence.read(path).after([RECORD, replace(RECORD, test="test_ü.py::test[a b]", session=None)])
    first.write()
    assert evidence.read(path) == first
    assert [p.name for p in path.parent.iterdir()] == ["sessions.json"], "nothing is left beside it"
    later = replace(RECORD, items=9, session=SessionEvidence("k", "f against 1-DP", 8, -1.5, 0.5))
    second = first.after([later, later])
    second.write()
    assert evidence.read(path) == second
    assert (second.sessions, second.items) == (2, 9)
    rows = [Row(1, 7, 0.25, 0.5, 1.0), Row(2, 8, -1.5, 0.5, 1.0)]
    assert second.entries[RECORD.test]["k"][1] == rows, "the same samples once"
    assert len(path.read_text().splitlines()) == len(first._text().splitlines()) + 1, "a line a session"


def test_carried_is_what_was_before(tmp_path: Path) -> None:
    file = Evidence(tmp_path / "e").after([RECORD])
    file = file.after([replace(RECORD, session=SessionEvidence("k", "", 8, -1.0, 0.25))])
    prior = file.prior(RECORD.test, "k", session=3)
    assert prior is not None
    assert (prior.log_e, prior.seeds, prior.log_peak, prior.peaked) == (-0.75, (7, 8), 0.5, 1)
    earlier = file.prior(RECORD.test, "k", session=2)
    assert earlier is not None
    assert earlier.seeds == (7,)
    assert file.prior(RECORD.test, "k", session=1) is None
    assert file.prior(RECORD.test, "other", session=3) is None
    assert file.prior("another test", "k", session=3) is None


def test_what_nobody_adds_to_is_dropped_in_time(tmp_path: Path) -> None:
    file = Evidence(tmp_path / "e").after([RECORD])
    other = replace(RECORD, test="test_b.py::test_two")
    for seed in range(KEPT - 1):
        file = file.after([replace(other, session=SessionEvidence("k", "", seed, 0.0, 0.0))])
    assert RECORD.test in file.entries
    file = file.after([replace(other, session=SessionEvidence("k", "", KEPT, 0.0, 0.0))])
    assert list(file.entries) == [other.test]


def test_infinite_logarithms_stay_numbers(tmp_path: Path) -> None:
    file = Evidence(tmp_path / "e").after([replace(RECORD, session=SessionEvidence("k", "", 1, -math.inf, math.inf))])
    file.write()
    assert evidence.read(tmp_path / "e") == file


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot read the evidence file"):
        evidence.read(tmp_path)
