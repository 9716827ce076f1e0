"""The journal: an audit that was interrupted ends as if it had not been, and no forged or damaged row is believed."""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import random
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from helpers import Rows
from numpy.random import SeedSequence

import dpaudit
from dpaudit import journal as journals
from dpaudit.cli.run import audit_texts, finish
from dpaudit.engine import kept_audits, orchestrator
from dpaudit.engine.kept_audits import KeptAudits
from dpaudit.errors import ReportError, UsageError
from dpaudit.evidence import kept_laws, law_table, worst_pair
from dpaudit.evidence.kept_comparisons import KeptComparisons
from dpaudit.evidence.kept_laws import KeptLaws, Part
from dpaudit.evidence.side_by_side import Work
from dpaudit.evidence.sweep import Swept, exceeds, sweep
from dpaudit.evidence.worst_pair import Subject
from dpaudit.interpret import LawCache, Outputs
from dpaudit.interpret.stored import from_bytes, size_in_bytes, to_bytes
from dpaudit.journal import AUDIT, COMPARISONS, LAWS, SAMPLES, Journal, Place
from dpaudit.language import BOTTOM, Claim, Mechanism
from dpaudit.outputs.canonical import NAN, Exited, Raised, Structure, TookLonger
from dpaudit.outputs.plain_values import NotPlainError, decoded, encoded, typed
from dpaudit.outputs.ranges import IntegerRange
from dpaudit.plans.chain_jobs import all_jobs
from dpaudit.plans.job import PrivacyJob
from dpaudit.plans.plan import Scope
from dpaudit.plans.request import Request, WorstCaseMode
from dpaudit.report import files
from dpaudit.report.files import Outputs as ReportFiles
from dpaudit.results import json_form
from dpaudit.results.model import Result
from dpaudit.results.stream import CheckFinished, Event, Notice
from dpaudit.subjects.code_key import code_key
from dpaudit.subjects.kept_samples import KeptSamples
from dpaudit.subjects.recorded import Recorded
from dpaudit.subjects.runner import Runner
from dpaudit.subjects.target import FunctionTarget, Unit, function_target
from dpaudit.user_key import new_user_secret, user_secret
from dpaudit.whole_files import write_file


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory of the test's own; the journal is in it, and everything is written at once."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("DPAUDIT_JOURNAL", str(folder / "journal.sqlite3"))
    monkeypatch.setenv("DPAUDIT_STORE", str(folder / "store.sqlite3"))
    monkeypatch.setattr(journals, "WRITTEN_EVERY", 0.0)
    monkeypatch.setattr(journals, "WRITTEN_FROM", 0.0)
    return folder


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is audited, each time it is."""
    names: list[str] = []
    evidence = orchestrator._evidence

    def counting(work: Any, *rest: Any) -> Any:
        names.append(work.job.target.name)
        return evidence(work, *rest)

    monkeypatch.setattr(orchestrator, "_evidence", counting)
    return names


@contextmanager
def _rows(home: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(home / "journal.sqlite3")) as connection, connection:
        yield connection


def _number(home: Path, kind: str = "%") -> int:
    if not (home / "journal.sqlite3").exists():
        return 0
    with _rows(home) as connection:
        number: int = connection.execute("SELECT COUNT(*) FROM rows1 WHERE kind LIKE ?", (kind,)).fetchone()[0]
        return number


# --- output distributions ---


SCOPE = Scope((0, 1), 5, ordered=True)
SIZES = [4, 8, 16, 4]


def swept(home: Path, mechanism: Mechanism | None = None) -> Swept:
    """A sweep of the scope, with what the journal has."""
    law_table.forget()
    with closing(Journal("dpaudit verify", home / "journal.sqlite3")) as journal:
        steps = sweep(mechanism or Rows(), SCOPE, Claim(1.0), Runner(journal=journal), "rows", LawCache())
        try:
            while True:
                next(steps)
        except StopIteration as end:
            law_table.forget()
            found: Swept = end.value
            return found


def interrupted(monkeypatch: pytest.MonkeyPatch, home: Path, mechanism: Mechanism | None = None) -> str:
    """A sweep that is interrupted after three of four parts; the key of what it leaves in the journal."""
    laws, made = law_table._laws, [0]

    def counting(*args: Any) -> Any:
        made[0] += 1
        if made[0] > 3:
            raise KeyboardInterrupt
        return laws(*args)

    with monkeypatch.context() as patch:
        patch.setattr(law_table, "_laws", counting)
        with pytest.raises(KeyboardInterrupt):
            swept(home, mechanism)
    with _rows(home) as connection:
        ((key,),) = connection.execute("SELECT DISTINCT key FROM rows1").fetchall()
    return str(key)


def test_what_was_kept_is_used_and_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = swept(home)
    assert expected.cache == ""
    interrupted(monkeypatch, home)
    computed: list[int] = []
    laws = law_table._laws

    def counting(*args: Any) -> Any:
        computed.append(len(args[1]))
        return laws(*args)

    monkeypatch.setattr(law_table, "_laws", counting)
    found = swept(home)
    # of each of three parts one law is computed again, to hold it against what was read
    assert computed == [1, 1, 1, 4]
    assert found.cache.startswith("the first 28 of 32 output distributions read from the journal")
    assert replace(found, cache="") == expected
    assert _number(home) == 0, "what is complete needs no rows any more"
    assert expected.worst is not None
    assert exceeds(expected.worst, Claim(1.0))


class Bomb:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (Path(os.environ["HOME"]) / "ran", "code ran")


def _private(number: int) -> Part:
    """A part that says that the mechanism gives the same on every dataset: the claim would be proved."""
    half = np.full((SIZES[number], 2), 0.5)
    return Part((("bit", 0), ("bit", 1)), ("", ""), half, half)


def _forged(body: Callable[[bytes, int], bytes]) -> Callable[[sqlite3.Connection], None]:
    """Change the content of every row, and nothing else."""
    def forge(connection: sqlite3.Connection) -> None:
        for number, old in connection.execute("SELECT first, body FROM rows1").fetchall():
            connection.execute("UPDATE rows1 SET body = ? WHERE first = ?", (body(old, number), number))

    return forge


def _signed(secret: bytes) -> Callable[[sqlite3.Connection], None]:
    def forge(connection: sqlite3.Connection) -> None:
        for key, number in connection.execute("SELECT key, first FROM rows1").fetchall():
            body = kept_laws._packed(_private(number))
            about = json.dumps([journals._FORMAT, LAWS, key, number, SIZES[number]])
            checksum = journals.keyed_checksum(secret, about, body)
            changed = (body, checksum, number)
            connection.execute("UPDATE rows1 SET body = ?, checksum = ? WHERE first = ?", changed)

    return forge


def _objects() -> bytes:
    """A numpy archive with a pickle in it."""
    archive = io.BytesIO()
    np.savez(archive, outcomes=np.array([Bomb()], dtype=object))
    return archive.getvalue()


FORGERIES: dict[str, Callable[[sqlite3.Connection], None]] = {
    "nothing": _forged(lambda good, number: b""),
    "a pickle that runs code": _forged(lambda good, number: pickle.dumps(Bomb())),
    "noise": _forged(lambda good, number: random.Random(1).randbytes(5000)),
    "half of it": _forged(lambda good, number: good[: len(good) // 2]),
    "more than it": _forged(lambda good, number: good + b"\0"),
    "another law under the old checksum": _forged(lambda good, number: kept_laws._packed(_private(number))),
    "another law, signed with no key": _signed(b""),
    "another law, signed with another key": _signed(bytes(32)),
    "objects in an archive": _forged(lambda good, number: _objects()),
    "a checksum that is no bytes": lambda rows: rows.execute("UPDATE rows1 SET checksum = 3") and None,
    "a body that is no bytes": lambda rows: rows.execute("UPDATE rows1 SET body = 'text'") and None,
    "rows of another place": lambda rows: rows.execute("UPDATE rows1 SET first = 3 - first") and None,
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_or_damaged_row_is_refused_reported_and_made_again(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(monkeypatch, home)
    with _rows(home) as connection:
        FORGERIES[name](connection)
    found = swept(home)
    assert "output distributions in the journal were refused" in found.cache
    assert found.worst is not None
    assert exceeds(found.worst, Claim(1.0)), "the claim is wrong whatever a row says"
    assert not (home / "ran").exists()
    assert swept(home).cache == "", "the rows are gone"


def test_no_byte_of_a_row_can_be_changed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, rng = interrupted(monkeypatch, home), random.Random(20)
    with _rows(home) as connection:
        (good,) = connection.execute("SELECT body FROM rows1 WHERE first = 1").fetchone()
    with closing(Journal("dpaudit verify", home / "journal.sqlite3")) as journal:
        assert len(KeptLaws(journal, key, SIZES).parts) == 3
        for _ in range(200):
            at, bit = rng.randrange(len(good)), 1 << rng.randrange(8)
            with _rows(home) as connection:
                changed = good[:at] + bytes([good[at] ^ bit]) + good[at + 1 :]
                connection.execute("UPDATE rows1 SET body = ? WHERE first = 1", (changed,))
            assert KeptLaws(journal, key, SIZES).parts == {}, f"byte {at}"
        with _rows(home) as connection:
            connection.execute("UPDATE rows1 SET body = ? WHERE first = 1", (good,))
        assert len(KeptLaws(journal, key, SIZES).parts) == 3
        assert KeptLaws(journal, key, [3, 8, 16, 4]).trouble, "it is about other datasets"


def test_rows_of_another_table_are_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that keeps the claim has honest laws; they are not those of the one that does not."""
    honest = interrupted(monkeypatch, home, Rows(1.0))
    with _rows(home) as connection:
        rows = connection.execute("SELECT * FROM rows1").fetchall()
        connection.execute("DELETE FROM rows1")
    key = interrupted(monkeypatch, home)
    assert key != honest
    with _rows(home) as connection:
        connection.execute("DELETE FROM rows1")
        moved = [(kind, key, *rest) for kind, _, *rest in rows]
        connection.executemany("INSERT INTO rows1 VALUES (?, ?, ?, ?, ?, ?, ?, ?)", moved)
    found = swept(home)
    assert "refused" in found.cache
    assert found.worst is not None
    assert exceeds(found.worst, Claim(1.0))


def test_laws_that_are_signed_but_are_not_the_programs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the program was changed in a way that its key does not see: one law of every part is computed again."""
    key = interrupted(monkeypatch, home)
    with closing(Journal("dpaudit verify", home / "journal.sqlite3")) as journal:
        kept = KeptLaws(journal, key, SIZES)
        for number in range(3):
            kept.keep(number, _private(number))
        assert len(KeptLaws(journal, key, SIZES).parts) == 3
    found = swept(home)
    assert "its probabilities differ from those of this program" in found.cache
    assert found.worst is not None
    assert exceeds(found.worst, Claim(1.0))


def test_a_key_that_others_can_read_signs_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(monkeypatch, home)
    key = home / ".local" / "state" / "dpaudit" / "cache.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = key.read_bytes()
    key.chmod(0o644)
    assert "refused" in swept(home).cache
    interrupted(monkeypatch, home)
    assert key.read_bytes() != before
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert "read from the journal" in swept(home).cache


# --- values and outputs ---


@dataclass(frozen=True)
class Own:
    """An outcome that only its class can make."""

    x: int


VALUES: list[Any] = [
    None, True, 1, -1, 2**5000, 1.5, -0.0, 5e-324, float("inf"), "", "x\ud800", "1", b"", b"\xff", (), BOTTOM, NAN,
    (1, (2.0, "a", None)), frozenset({1, (2,)}), IntegerRange(3, 2**70), (BOTTOM, (True, 0)), Fraction(1, 3),
    Raised("ValueError", "f.py:3", None, "no 3"), TookLonger("0.5 s"), Exited("exit code 3"),
    Structure("dict", (("a", 1), (2, (3.5, Structure("masked", ()))))),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back_as_they_were(value: Any) -> None:
    again = decoded(json.loads(json.dumps(encoded(value))))
    assert typed(again) == typed(value)
    assert repr(again) == repr(value)
    if isinstance(value, Raised):
        assert isinstance(again, Raised)
        assert (again.where, again.message) == (value.where, value.message)
    part = Part((value, "other"), ("", "list"), np.array([[0.25, 0.75]]), np.array([[0.25, 0.75]]))
    ((back, other), forms, low, high, _) = kept_laws._unpacked(kept_laws._packed(part))
    assert typed(back) == typed(value)
    assert (other, forms, low.tolist(), high.tolist()) == ("other", ("", "list"), [[0.25, 0.75]], [[0.25, 0.75]])


@pytest.mark.parametrize("value", [Own(1), (1, Own(2)), np.float32(1.0), Structure("dict", (("a", Own(1)),))], ids=repr)
def test_other_values_are_not_kept(value: Any, home: Path) -> None:
    with pytest.raises(NotPlainError):
        encoded(value)
    half = np.ones((1, 1))
    with closing(Journal("dpaudit verify", home / "journal.sqlite3")) as journal:
        KeptLaws(journal, "key", [1]).keep(0, Part((value,), ("",), half, half))
    assert _number(home) == 0


def _odd(data: Any, rng: np.random.Generator) -> Any:
    """Outputs of all kinds."""
    at = int(rng.integers(8))
    match at:
        case 0:
            raise ValueError(f"no {rng.integers(3)}")
        case 1:
            return [1, 2.5, float("nan")]
        case 2:
            return {"a": float(rng.normal()), "b": "x"}
        case 3:
            return np.array([rng.normal(), 1.0])
        case 4:
            return np.float32(rng.normal())
        case 5:
            return float(rng.normal())
        case 6:
            return (float("inf"), "text", int(rng.integers(5)))
    return None


def test_outputs_come_back_as_they_were() -> None:
    target = function_target(_odd, "odd", "here")
    outputs = target.runs((0,), 300, SeedSequence([1, 2]))
    again = from_bytes(to_bytes(outputs))
    assert outputs.first is not None
    assert again.first is not None
    for one, other in ((outputs, again), (outputs.first, again.first)):
        assert list(one.counts.items()) == list(other.counts.items())
        assert repr(one.others) == repr(other.others)
        assert [block.tolist() for block in one.blocks] == [block.tolist() for block in other.blocks]
        assert one.forms == other.forms
    content = to_bytes(outputs)
    for size in (0, 5, 100, len(content) - 1):
        with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
            from_bytes(content[:size])


@pytest.mark.parametrize(
    "outputs",
    [
        Outputs({(i, 0.1 * i, f"word {i}"): 1 + i % 3 for i in range(5_000)}),
        Outputs({}, others=tuple((i**0.5, None) for i in range(5_000))),
        Outputs({}, (np.arange(6_000.0).reshape(-1, 3), np.arange(4_000.0))),
    ],
    ids=["counts", "others", "blocks"],
)
def test_what_outputs_take_is_estimated_without_listing_them(outputs: Outputs) -> None:
    assert size_in_bytes(outputs) == pytest.approx(len(to_bytes(outputs)), rel=0.3)
    assert size_in_bytes(Outputs({(1, object()): 1})) == math.inf


def test_two_processes_that_make_the_key_at_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As two audits side by side do: both write with one key, and the rows of both are good."""
    path = home / ".local" / "state" / "dpaudit" / "cache.key"
    path.parent.mkdir(parents=True)

    def meanwhile(number: int) -> bytes:
        write_file(path, b"o" * 32, mode=0o600)
        return b"m" * number

    monkeypatch.setattr(secrets, "token_bytes", meanwhile)
    assert new_user_secret() == user_secret() == b"o" * 32
    assert [one.name for one in path.parent.iterdir()] == ["cache.key"]


# --- samples ---


class Stopped(Exception):
    """Ends a run in its middle."""


def noisy(data: Any, rng: np.random.Generator) -> float:
    """A function of a dataset and a generator."""
    return float(data[0] + rng.laplace())


def vectors(data: Any, rng: np.random.Generator, size: int) -> Any:
    """A vectorised function."""
    return data[0] + rng.normal(size=(size, 2))


def _units(sizes: list[int]) -> list[Unit]:
    return [Unit((which,), size, SeedSequence([7, which, at])) for at, size in enumerate(sizes) for which in (0, 1)]


def _run(home: Path, target: FunctionTarget, sizes: list[int], stop: int | None = None) -> tuple[list[Outputs], int]:
    """The outputs of units, and how many samples were read; stopped after so many units."""
    found: list[Outputs] = []
    with closing(Journal("dpaudit check", home / "journal.sqlite3")) as journal:
        runner = Runner(journal=journal)
        runner.kept = KeptSamples(journal, target, code_key(target.subject))
        stream = runner.run(target, _units(sizes), 2 * sum(sizes))
        try:
            for outputs in stream:
                found.append(outputs)
                if len(found) == stop:
                    break
        finally:
            stream.close()
            runner.kept.write()
        return found, runner.kept.read


def _same(some: list[Outputs], others: list[Outputs]) -> bool:
    return [to_bytes(one) for one in some] == [to_bytes(one) for one in others]


@pytest.mark.parametrize("function", [noisy, vectors, _odd])
@pytest.mark.parametrize("stop", [1, 4, 7])
def test_samples_are_read_and_the_rest_is_drawn(
    function: Any, stop: int, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpaudit.subjects.kept_samples.WORTH_KEEPING", 1e12)
    target, sizes = function_target(function, "f", "here"), [5, 23, 100, 40]
    expected, read = _run(home / "elsewhere", target, sizes)
    assert read == 0
    _run(home, target, sizes, stop)
    found, read = _run(home, target, sizes)
    assert _same(found, expected)
    assert read == sum(unit.runs for unit in _units(sizes)[:stop])
    again, read = _run(home, target, sizes)
    assert _same(again, expected)
    assert read == 2 * sum(sizes)


def test_parts_that_are_cut_in_other_ways(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever parts of a unit are kept, its outputs are the same, and nothing that is kept is drawn again."""
    target, rng = function_target(noisy, "f", "here"), random.Random(3)
    unit = Unit((0,), 237, SeedSequence([7, 1]))
    (expected,) = Runner().run(target, [unit])
    drawn: list[int] = []
    runs = FunctionTarget.runs

    def counting(self: Any, dataset: Any, size: int, *rest: Any) -> Any:
        drawn.append(size)
        return runs(self, dataset, size, *rest)

    for trial in range(60):
        with closing(Journal("dpaudit check", home / f"{trial}.sqlite3")) as journal:
            kept = KeptSamples(journal, target, code_key(noisy))
            ends = sorted({0, 237, *(10 * rng.randrange(24) for _ in range(rng.randrange(6)))})
            saved = 0
            for first, end in pairwise(ends):
                if rng.random() < 0.6:
                    saved += end - first
                    part = replace(unit, runs=end - first, first=first)
                    kept.keep(part, target.runs(unit.dataset, part.runs, unit.seed, first), 1.0)
            # parts of a unit of another size: its last block is shorter, and is no part of this one
            other = replace(unit, runs=233, first=0)
            kept.keep(other, target.runs(unit.dataset, 233, unit.seed), 1.0)
            kept.write()
            journal.write()
            runner = Runner(journal=journal)
            runner.kept = again = KeptSamples(journal, target, code_key(noisy))
            drawn.clear()
            with monkeypatch.context() as patch:
                patch.setattr(FunctionTarget, "runs", counting)
                (found,) = runner.run(target, [unit], 237)
            assert _same([found], [expected])
            assert again.read == saved
            assert sum(drawn) == 237 - saved


def _made(text: str, name: str = "f") -> Any:
    space: dict[str, Any] = {"__name__": "somewhere"}
    exec(compile(text, "somewhere.py", "exec"), space)
    return space[name]


TEXT = """
SCALE = 1.0
def helper(x): return x + 0
def f(data, rng): return helper(data[0]) + SCALE * rng.laplace()
"""


@pytest.mark.parametrize(("what", "hits"), [
    (TEXT, True), ("\n\n# a comment\n" + TEXT, True), (TEXT.replace("1.0", "2.0"), False),
    (TEXT.replace("x + 0", "x + 1"), False), (TEXT.replace("laplace", "normal"), False),
], ids=["the same", "other lines", "a global", "a helper", "its code"])
def test_changed_code_finds_nothing(what: str, hits: bool, home: Path) -> None:
    _run(home, function_target(_made(TEXT), "f", "here"), [20])
    _, read = _run(home, function_target(_made(what), "f", "here"), [20])
    assert read == (40 if hits else 0)


def test_other_datasets_seeds_and_forms_find_nothing(home: Path) -> None:
    target = function_target(noisy, "f", "here")
    unit = Unit((0,), 20, SeedSequence([1]))
    with closing(Journal("dpaudit check", home / "journal.sqlite3")) as journal:
        kept = KeptSamples(journal, target, code_key(noisy))
        kept.keep(unit, target.runs((0,), 20, unit.seed), 1.0)
        kept.write()
        journal.write()
        kept = KeptSamples(journal, target, code_key(noisy))
        assert kept.next(unit)[1] is not None
        for other in (
            replace(unit, dataset=(1,)), replace(unit, dataset=(0.0,)), replace(unit, dataset=(0, 0)),
            replace(unit, seed=SeedSequence([2])), replace(unit, seed=SeedSequence([1], spawn_key=(0,))),
            replace(unit, runs=10), replace(unit, runs=15),
        ):
            assert kept.next(other)[1] is None, other
        assert kept.next(replace(unit, runs=25))[0] == Place(0, 20)
        framed = KeptSamples(journal, replace(target, vectorised=True), code_key(noisy))
        assert framed.next(unit)[1] is None


def test_large_quick_outputs_are_not_kept(home: Path) -> None:
    """They are drawn again as quickly as they are read."""
    _run(home, function_target(vectors, "f", "here"), [50_000])
    assert _number(home) == 0


# --- audits ---


def slow(data: Any, rng: np.random.Generator) -> float:
    """A function that takes a while."""
    time.sleep(0.0005)
    return float(data[0] + rng.laplace())


def own(data: Any, rng: np.random.Generator) -> float:
    """It draws part of its noise elsewhere."""
    time.sleep(0.0005)
    return float(data[0] + random.gauss() + 0 * rng.random())


def _request(*functions: Any, **more: Any) -> Request:
    return Request(functions, epsilon=1.5, pair=((0,), (1,)), runs=400, **more)


def _events(request: Request, stop_at: int | None = None) -> tuple[Result | None, list[Event]]:
    """The result and the events; interrupted at the event of that number as if the process had been killed."""
    events: list[Event] = []
    stream = orchestrator.check(request)
    for event in stream:
        events.append(event)
        if len(events) == stop_at:
            stream.close()
            return None, events
    assert isinstance(events[-1], CheckFinished)
    return events[-1].result, events


def test_an_audit_goes_on_where_it_was_stopped(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("DPAUDIT_JOURNAL", "off")
        expected, events = _events(_request(slow))
    assert expected is not None
    for stop in (10, 20, len(events) - 2):
        _events(_request(slow), stop)
    before = _number(home, SAMPLES)
    assert before
    found, events = _events(_request(slow))
    assert found is not None
    assert audit_texts(found) == audit_texts(expected)
    said = [event.text for event in events if isinstance(event, Notice)]
    assert any("samples were drawn by an earlier run" in text for text in said)
    assert _number(home) == 0


@pytest.mark.parametrize("scores", [False, True])
def test_a_search_for_the_worst_pair_goes_on(*, scores: bool, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mode = WorstCaseMode(8, 6, None, scores, False, 60, False)
    request = Request(("ExponentialMechanism",), epsilon=0.01, worst_case=mode)
    made: list[Subject] = []
    needed = worst_pair.needed

    def counted(subject: Subject, *about: Any) -> float:
        made.append(subject)
        return needed(subject, *about)

    monkeypatch.setattr(worst_pair, "needed", counted)
    with monkeypatch.context() as patch:
        patch.setenv("DPAUDIT_JOURNAL", "off")
        expected, _ = _events(request)
    alone = len(made)
    made.clear()
    _events(request, 8)
    kept = _number(home, COMPARISONS)
    assert kept
    stopped = len(made)
    found, _ = _events(request)
    assert found is not None
    assert expected is not None
    assert audit_texts(found) == audit_texts(expected)
    # but for the last, of which nothing was written
    assert alone <= len(made) <= alone + 2
    assert 3 <= stopped < alone
    assert _number(home) == 0


def test_a_forged_comparison_decides_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mode = WorstCaseMode(8, 6, None, False, False, 30, False)
    request = Request(("ExponentialMechanism",), epsilon=0.01, worst_case=mode)
    _events(request, 20)
    monkeypatch.setattr(KeptComparisons, "find", lambda *_: 100.0)
    found, _ = _events(request)
    assert found is not None
    exact = found.audits[0].epsilon_exact
    assert exact is not None
    assert exact < 10


def test_another_number_of_workers_finds_the_same(home: Path, pool: list[str]) -> None:
    _events(_request(slow), 20)
    found, events = _events(_request(slow, jobs=2))
    assert any(isinstance(event, Notice) and "earlier run" in event.text for event in events)
    assert found is not None
    alone, _ = _events(_request(slow))
    assert alone is not None
    assert audit_texts(found) == audit_texts(alone)
    assert pool


def test_randomness_of_its_own_is_not_kept(home: Path) -> None:
    """What was begun would be done anew, so that quick outputs would be more frequent."""
    _events(_request(own), 30)
    assert _number(home, SAMPLES) == 0


def test_audits_that_were_finished_are_not_made_again(
    home: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    request = _request(slow, noisy)
    with monkeypatch.context() as patch:
        patch.setenv("DPAUDIT_JOURNAL", "off")
        expected, _ = _events(request)
    stream = orchestrator.check(request)
    for event in stream:
        if type(event).__name__ == "AuditFinished":
            break
    stream.close()
    assert _number(home, "audit") == 1
    made.clear()
    found, events = _events(request)
    assert Notice("An audit was finished by an earlier run, which did not end.") in events
    assert made == ["noisy"]
    assert found is not None
    assert expected is not None
    assert audit_texts(found) == audit_texts(expected)
    assert _number(home) == 0


def test_an_audit_of_another_case_is_not_taken(home: Path) -> None:
    """Of the same name and id: pairs and claims are code of a plan, which may have changed meanwhile."""
    request = _request(slow, noisy)
    audit = orchestrator.run(_request(noisy)).audits[0]
    work = [Work(job, 0.001) for job in all_jobs(request)]
    with closing(Journal("dpaudit check", home / "journal.sqlite3")) as journal:
        kept = KeptAudits(journal, request, {}, work)
        assert kept.find(work[1], journal) is None
        kept.keep(work[1], audit, 3.0, journal)
        assert kept.find(work[1], journal) == (audit, 3.0)
        job = work[1].job
        assert isinstance(job, PrivacyJob)
        (pair,) = job.pairs
        for other in (replace(job, pairs=(replace(pair, right=(2,)),)), replace(job, claim=Claim(1.0))):
            changed = [work[0], replace(work[1], job=other)]
            assert KeptAudits(journal, request, {}, changed).find(changed[1], journal) is None
        assert KeptAudits(journal, request, {"numpy": "next"}, work).find(work[1], journal) is None
        assert KeptAudits(journal, request, {}, work).find(work[1], journal) is not None


def test_a_long_audit_is_written_when_it_ends(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its samples are deleted then, and the other audits may run in workers, for hours."""
    for name in ("WRITTEN_EVERY", "WRITTEN_FROM"):
        monkeypatch.setattr(journals, name, 1e9)
    request = _request(slow, noisy)
    audit = orchestrator.run(_request(noisy)).audits[0]
    work = [Work(job, 0.001) for job in all_jobs(request)]
    with closing(Journal("dpaudit check", home / "journal.sqlite3")) as journal:
        kept = KeptAudits(journal, request, {}, work)
        kept.keep(work[0], audit, 0.1, journal)
        assert _number(home, "audit") == 0
        kept.keep(work[1], audit, 3.0, journal)
        assert _number(home, "audit") == 2


def test_a_command_that_is_killed_while_it_writes_has_lost_nothing(
    home: Path, made: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is kept of an audit is deleted when its report is there, not before."""
    request, report = _request(slow), ReportFiles(json=str(home / "result.json"))

    def killed(*_: Any, **__: Any) -> Any:
        raise SystemExit("killed")

    def full(*_: Any, **__: Any) -> Any:
        return [ReportError("The disk is full.")]

    monkeypatch.setattr(kept_audits, "WRITTEN_FROM", 0.0)
    for fails in (killed, full):
        with monkeypatch.context() as patch:
            patch.setattr(files, "write", fails)
            with pytest.raises((SystemExit, typer.Exit)):
                finish(request, report, quiet=True)
        assert made == ["slow"]
        assert _number(home) == _number(home, AUDIT) == 1
    with pytest.raises(typer.Exit):
        finish(request, report, quiet=True)
    assert made == ["slow"]
    assert _number(home) == 0
    found, _ = _events(request)
    assert found is not None
    assert audit_texts(json_form.from_json((home / "result.json").read_text(), where="")) == audit_texts(found)
    capsys.readouterr()


def test_a_replay_is_not_what_it_is_compared_with(
    home: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    request = _request(slow)
    monkeypatch.setattr(kept_audits, "WRITTEN_FROM", 0.0)
    held: list[Callable[[], None]] = []
    (finished,) = [one for one in orchestrator.check(request, afterwards=held) if isinstance(one, CheckFinished)]
    assert _number(home, AUDIT) == 1
    made.clear()
    list(orchestrator.check(request, only=finished.result.audits[0].replay))
    assert made == ["slow"]
    held[0]()
    assert _number(home) == 0


def test_an_audit_of_recorded_outputs_is_not_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them may have arrived meanwhile."""
    monkeypatch.setattr(kept_audits, "WRITTEN_FROM", 0.0)
    recorded = Recorded([0, 1] * 60, [1, 0] * 60)
    list(orchestrator.check(Request((recorded.name,), recorded=recorded, epsilon=1.0), afterwards=[]))
    assert _number(home, AUDIT) == 0


# --- the file ---


def _no_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "")


def _home_is_a_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("HOME", str(home / "file"))


def _folder_is_a_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "here").write_text("")
    monkeypatch.setenv("DPAUDIT_JOURNAL", str(home / "here" / "journal.sqlite3"))


def _it_is_a_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "journal.sqlite3").mkdir()


def _it_is_a_pipe(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(home / "journal.sqlite3")


def _it_is_text(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "journal.sqlite3").write_text("something else\n" * 1000)


def _the_disk_is_full(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPAUDIT_JOURNAL", "/dev/full")


def _it_is_off(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPAUDIT_JOURNAL", "off")


@pytest.mark.parametrize("without", [
    _no_home, _home_is_a_file, _folder_is_a_file, _it_is_a_folder, _it_is_a_pipe, _it_is_text, _the_disk_is_full,
    _it_is_off,
])
def test_nothing_depends_on_the_journal(
    without: Callable[[Path, pytest.MonkeyPatch], None], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("DPAUDIT_JOURNAL", "off")
        expected, _ = _events(_request(slow))
    without(home, monkeypatch)
    found, events = _events(_request(slow))
    assert expected is not None
    assert found is not None
    assert audit_texts(found) == audit_texts(expected)
    said = [event.text for event in events if isinstance(event, Notice)]
    assert any("was not used" in text for text in said) == (without is not _it_is_off), said


def test_short_audits_do_not_touch_the_disk(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "WRITTEN_EVERY", 1.0)
    monkeypatch.setattr(journals, "WRITTEN_FROM", 60.0)
    monkeypatch.setattr(kept_audits, "WRITTEN_FROM", 60.0)
    dpaudit.audit(noisy, epsilon=1.5, pair=((0,), (1,)), runs=50, progress=False)
    assert not list(home.iterdir())


def test_it_is_listed_pruned_exported_and_added(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert journals.contents() == []
    assert journals.prune() == (0, 0)
    _events(_request(slow), 20)
    (kept,) = journals.contents()
    assert kept.samples > 0
    assert "slow" in kept.command
    assert journals.prune(older=3600) == (0, 0)
    number = journals.export(tmp_path / "copy.sqlite3")
    assert number == _number(home)
    with pytest.raises(UsageError, match="is there already"):
        journals.export(tmp_path / "copy.sqlite3")
    assert journals.prune()[0] == number
    assert journals.contents() == []
    # another user's, on another machine: taken over, it is this user's
    monkeypatch.setenv("HOME", str(tmp_path))
    assert journals.add(tmp_path / "copy.sqlite3") == number
    _, events = _events(_request(slow))
    assert any(isinstance(event, Notice) and "earlier run" in event.text for event in events)
    (tmp_path / "text").write_text("no journal")
    for wrong in ("text", "missing"):
        with pytest.raises(UsageError):
            journals.add(tmp_path / wrong)
