"""`dpaudit samples`: recorded outputs on the command line."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from typed_commands import Typed

needs_pyarrow = pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    np.save(tmp_path / "D.npy", rng.laplace(1, 1, 900))
    np.save(tmp_path / "E.npy", rng.laplace(0, 1, 700))
    return tmp_path


def arriving(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Make a text standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def lines(n: int, *, shift: float = 1.0) -> str:
    rng = np.random.default_rng(2)
    return "".join(
        f"{json.dumps({'dataset': name, 'output': float(rng.laplace(mean, 1))})}\n"
        for _ in range(n) for name, mean in (("D", shift), ("Dprime", 0.0))
    )


def test_a_claim_is_refuted_and_replayed(typed: Typed, recordings: Path) -> None:
    refuted = typed("samples D.npy E.npy --epsilon 0.2 --json r.json --html r.html --sarif r.sarif --junit r.xml")
    assert refuted.code == 1
    assert "D.npy  (900 recorded outputs)" in refuted.out
    audit = json.loads((recordings / "r.json").read_text())["audits"][0]
    assert audit["pair"]["left"] == {"recorded": "D.npy", "outputs": 900}
    assert audit["pair"]["source"] == "recorded"
    assert audit["location"] is None
    page = (recordings / "r.html").read_text()
    assert "900 recorded outputs" in page
    assert "taken on trust" in page
    assert typed(f"replay {audit['replay']} --quiet").code == 1
    assert typed("report r.json --quiet").code == 0
    np.save(recordings / "E.npy", np.arange(700.0))
    changed = typed(f"replay {audit['replay']}")
    assert changed.code == 2
    assert "the SHA-256 of E.npy has changed" in changed.err


def test_a_bound_without_a_claim_is_no_fault(typed: Typed, recordings: Path) -> None:
    ran = typed("samples D.npy E.npy --alpha 0.05 --quiet --json r.json")
    assert ran.code == 0
    assert ran.out.startswith("BOUND  recorded outputs")
    assert typed("report r.json --quiet").out == ran.out


def test_the_command_line_says_what_was_asked(typed: Typed, recordings: Path) -> None:
    typed("samples D.npy E.npy --epsilon 1 --delta 0.01 --name count --ordered --most 600 --json r.json --quiet")
    command = json.loads((recordings / "r.json").read_text())["command"]
    assert command == (
        "dpaudit samples D.npy E.npy --epsilon 1.0 --delta 0.01 --ordered --name count --most 600 --seed 0"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("D.npy", "D.npy does not say which outputs are of D and which of D′"),
        ("D.npy none.npy", "Cannot read none.npy: No such file"),
        ("D.npy E.npy E.npy", "not 3"),
        ("D.npy E.npy --blocks run", "an array has none"),
        ("D.npy E.npy --paired", "Paired outputs come in equal numbers, not 900 of D.npy and 700 of E.npy"),
        ("D.npy E.npy --json D.npy", "D.npy"),
        ("D.npy E.npy --epsilon -1", "epsilon"),
    ],
)
def test_mistakes_are_one_sentence(typed: Typed, recordings: Path, words: str, said: str) -> None:
    ran = typed(f"samples {words}")
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1


BAD: dict[str, bytes] = {
    "empty.npy": b"",
    "empty.npz": b"",
    "empty.csv": b"",
    "empty.parquet": b"",
    "empty.ndjson": b"",
    "blank.csv": b"\n\n\n",
    "header.csv": b"output\n",
    "ragged.csv": b"1,2\n3\n4,5,6\n",
    "bytes.csv": b"output\n\xff\xfe\n",
    "text.csv": b"output\nyes\n" * 20,
    "semicolons.csv": b"a;b\n" + b"1;2\n" * 20,
    "text.npy": b"1\n2\n",
    "text.npz": b"1\n2\n",
    "text.parquet": b"1\n2\n",
    "cut.parquet": b"PAR1\x15\x04",
    "cut.npz": b"PK\x03\x04",
    "x.npy.gz": b"",
    "deep.ndjson": b"[" * 100_000,
    "digits.ndjson": b"1" + b"0" * 5_000,
    "unhashable.ndjson": b'{"dataset": ["D"], "output": 1}',
    "one.ndjson": b"[1, 2, 3]\n",
}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("empty.npy E.npy", "There is nothing in empty.npy"),
        ("empty.npz E.npy", "There is nothing in empty.npz"),
        ("empty.csv E.npy", "There is nothing in empty.csv"),
        ("empty.parquet E.npy", "There is nothing in empty.parquet"),
        ("empty.ndjson E.npy", "There is nothing in empty.ndjson"),
        ("blank.csv E.npy", "There is nothing in blank.csv"),
        ("header.csv E.npy", "There are 0 outputs of header.csv"),
        ("ragged.csv E.npy", "Cannot read ragged.csv"),
        ("bytes.csv E.npy", "Cannot read bytes.csv"),
        ("text.csv E.npy", "The outputs of text.csv are text and those of E.npy are numbers"),
        ("semicolons.csv E.npy", "those of E.npy are numbers"),
        ("text.npy E.npy", "it is no .npy file"),
        ("npz.npy E.npy", "it is no .npy file"),
        ("text.npz E.npy", "it is no .npz file"),
        ("text.npz", "it is no .npz file"),
        ("cut.npz E.npy", "Cannot read cut.npz"),
        ("text.parquet E.npy", "it is no .parquet file"),
        pytest.param("cut.parquet E.npy", "Cannot read cut.parquet", marks=needs_pyarrow),
        ("x.npy.gz E.npy", "Decompress it first"),
        ("cut.npy E.npy", "Cannot read cut.npy"),
        ("zero.npy E.npy", "are one number"),
        ("none.npy E.npy", "There are 0 outputs"),
        ("objects.npy E.npy", "it holds Python objects"),
        ("objects.npz", "it holds Python objects"),
        ("vectors.npy E.npy", "arrays of numbers of shape (2,) and those of E.npy are numbers"),
        ("vectors.npy cubes.npy", "shape (2,) and those of cubes.npy are arrays of numbers of shape (2, 2)"),
        ("complex.npy E.npy", "of the type complex"),
        ("deep.ndjson E.npy", "Line 1 of deep.ndjson is not JSON"),
        ("digits.ndjson E.npy", "Line 1 of digits.ndjson"),
        ("one.ndjson E.npy", "There is 1 output of one.ndjson"),
        ("unhashable.ndjson", "names the dataset ['D']"),
        ("both.csv --blocks dataset", "There are 0 outputs of D′"),
        ("both.csv --blocks output --column output", "There are 0 outputs of D′"),
        ("loop.npy E.npy", "Cannot read loop.npy"),
        ("- -", "Standard input is read once"),
        ("D.npy E.npy --most 0", "--most must be at least 1"),
    ],
)
def test_bad_files_are_one_sentence(typed: Typed, recordings: Path, words: str, said: str) -> None:
    for name, content in BAD.items():
        (recordings / name).write_bytes(content)
    rng = np.random.default_rng(0)
    np.save("zero.npy", np.float64(3))
    np.save("none.npy", np.zeros(0))
    np.save("objects.npy", np.array([1, "a"] * 20, dtype=object), allow_pickle=True)
    np.savez("objects.npz", allow_pickle=True, D=np.array([1, "a"] * 20, dtype=object), Dprime=np.zeros(30))
    np.save("vectors.npy", rng.normal(size=(30, 2)))
    np.save("cubes.npy", rng.normal(size=(30, 2, 2)))
    np.save("complex.npy", rng.normal(size=30) * 1j)
    np.savez("npz.npz", rng.normal(size=30))
    (recordings / "npz.npz").rename(recordings / "npz.npy")
    (recordings / "cut.npy").write_bytes((recordings / "D.npy").read_bytes()[:1_000])
    (recordings / "both.csv").write_text("dataset,output\n" + "D,1\n" * 20)
    (recordings / "loop.npy").symlink_to("loop.npy")
    ran = typed(f"samples {words} --epsilon 1")
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.parametrize("most", ["", "--most 50"])
def test_closed_standard_input(typed: Typed, monkeypatch: pytest.MonkeyPatch, most: str) -> None:
    monkeypatch.setattr("sys.stdin", None)
    ran = typed(f"samples - --epsilon 1 {most}")
    assert ran.code == 2
    assert "Standard input is closed" in ran.err


def test_standard_input(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    arriving(monkeypatch, lines(500))
    ran = typed("samples - --epsilon 0.2 --quiet --json r.json")
    assert ran.code == 1
    replay = json.loads(Path("r.json").read_text())["audits"][0]["replay"]
    arriving(monkeypatch, lines(500))
    assert typed(f"replay {replay} --quiet").code == 1
    arriving(monkeypatch, lines(501))
    assert "the SHA-256 of standard input has changed" in typed(f"replay {replay}").err
    rows = [json.loads(line) for line in lines(500).splitlines()]
    arriving(monkeypatch, "dataset,output\n" + "".join(f"{row['dataset']},{row['output']!r}\n" for row in rows))
    table = typed("samples - --epsilon 0.2 --json t.json")
    assert table.code == 1
    bounds = [json.loads(Path(name).read_text())["audits"][0]["epsilon_lower"] for name in ("r.json", "t.json")]
    assert bounds[0] == bounds[1]


def test_a_stream_ends_when_the_claim_is_refuted(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    arriving(monkeypatch, lines(5_000))
    ran = typed("samples - --epsilon 0.2 --most 5000 --json r.json")
    assert ran.code == 1
    audit = json.loads(Path("r.json").read_text())["audits"][0]
    assert audit["runs"] < 4_000
    assert "a stream cannot be read again" in typed(f"replay {audit['replay']}").err


def test_a_stream_that_ends_too_soon(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    arriving(monkeypatch, lines(60))
    ran = typed("samples - --epsilon 1 --most 5000")
    assert ran.code == 3
    assert "The stream ended after" in ran.out
    arriving(monkeypatch, '{"dataset": "D", "output": 1}\n{"dataset": "X", "output": 1}\n')
    wrong = typed("samples - --epsilon 1 --most 5000")
    assert wrong.code == 2
    assert "Line 2 of standard input has the dataset 'X'" in wrong.err


def test_a_stream_that_repeats_gives_no_bound(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers, which only a stretch of them gives away."""
    rng = np.random.default_rng(0)
    some = [(name, int(one)) for one in rng.integers(0, 50, 40) for name in ("D", "Dprime")]
    stream = "".join(f"{json.dumps({'dataset': name, 'output': one + 9 * (name == 'D')})}\n" for name, one in some * 20)
    arriving(monkeypatch, stream)
    ran = typed("samples - --epsilon 0.2 --most 600 --json r.json")
    assert ran.code == 3
    assert json.loads(Path("r.json").read_text())["audits"][0]["reason_code"] == "assumption_violated"


def test_evidence_of_a_folder(typed: Typed, tmp_path: Path) -> None:
    for name in ("D", "E"):
        (tmp_path / name).mkdir()

    def record(day: int) -> None:
        rng = np.random.default_rng(day)
        np.save(tmp_path / f"D/{day}.npy", rng.laplace(1, 1, 60))
        np.save(tmp_path / f"E/{day}.npy", rng.laplace(0, 1, 60))

    record(1)
    words = "samples D E --epsilon 0.4 --name count --json e.json --quiet"
    codes = [typed(words).code]
    for day in range(2, 6):
        record(day)
        codes.append(typed(f"{words} --evidence e.json").code)
    assert codes[0] == 3
    assert codes[-1] == 1
    again = typed(f"{words} --evidence e.json")
    assert again.code == 2
    assert "there is nothing new" in again.err


# -- files that are read as they come


@pytest.fixture
def coming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Makes files come into D and E while they are followed: one of each in every round."""
    for name in ("D", "E"):
        (tmp_path / name).mkdir()
    waiting: list[Callable[[], object]] = []

    def record(*days: int, n: int = 60) -> None:
        for day in days:
            rng = np.random.default_rng(day)
            for name, mean in (("D", 1), ("E", 0)):
                outputs = rng.laplace(mean, 1, n)
                waiting.append(lambda name=name, day=day, outputs=outputs: np.save(tmp_path / f"{name}/{day}", outputs))

    def sleep(seconds: float) -> None:
        for _ in range(2):
            if waiting:
                waiting.pop(0)()

    monkeypatch.setattr("dpaudit.plans.recorded_files.time.sleep", sleep)
    yield record
    waiting.clear()


def test_a_folder_is_followed_until_the_claim_is_refuted(typed: Typed, coming: Callable[..., None]) -> None:
    coming(1, 2, 3, 4, 5, 6, 7, 8, 9)
    ran = typed("samples D E --epsilon 0.2 --follow 0.05 --json r.json")
    assert ran.code == 1
    assert "event     output" in ran.out
    audit = json.loads(Path("r.json").read_text())["audits"][0]
    used = len(list(Path("D").iterdir()))
    assert 1 < used < 9
    assert audit["sequential"]["refuted_at"] <= 60 * used
    # later files do not matter for a replay, nor does the folder that they are named from
    assert typed(f"replay {audit['replay']} --quiet").code == 1
    first = next(note for note in audit["notes"] if note["code"] == "recorded_evidence")["values"]["files"][0]
    np.save(first.split()[0], np.zeros(60))
    assert "the SHA-256 of D/1.npy has changed" in typed(f"replay {audit['replay']}").err


def test_a_folder_is_followed_until_it_is_idle(typed: Typed, coming: Callable[..., None]) -> None:
    coming(1, 2)
    words = "samples D E --epsilon 1.5 --name count --follow 0.05 --json e.json --quiet"
    ran = typed(words)
    assert ran.code == 3
    assert "No new file came for 50 ms, and the 120 samples per dataset do not refute the claim" in ran.out
    replay = json.loads(Path("e.json").read_text())["audits"][0]["replay"]
    assert "the same result" in typed(f"replay {replay}").err
    coming(3)
    assert "and the 60 samples per dataset" in typed(f"{words} --evidence e.json").out
    audit = json.loads(Path("e.json").read_text())["audits"][0]
    assert len(audit["sequential"]["seeds"]) == 2
    assert len(next(note for note in audit["notes"] if note["code"] == "recorded_evidence")["values"]["files"]) == 6
    assert typed("samples D E --follow 0.01 --alpha 0.05 --quiet").out.startswith("BOUND")
    limited = typed("samples D E --epsilon 3 --follow inf --time 0.7 --quiet")
    assert limited.code == 3
    assert "So far the " in limited.out


def test_a_folder_with_files_of_both(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.plans.recorded_files.BETWEEN_ROUNDS", 0.01)
    (tmp_path / "both").mkdir()
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "both/1.npz", D=rng.laplace(1, 1, 200), Dprime=rng.laplace(0, 1, 200))
    (tmp_path / "both/2.ndjson").write_text(lines(200))
    ran = typed("samples both --epsilon 0.2 --follow 0.1 --quiet --json r.json")
    assert ran.code == 1


def test_an_interrupt_of_what_is_followed_keeps_what_there_is(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, mean in (("D", 1), ("E", 0)):
        (tmp_path / name).mkdir()
        np.save(tmp_path / f"{name}/1.npy", np.random.default_rng(mean).laplace(mean, 1, 100))
    rounds = iter([False, False, True])

    def sleep(seconds: float) -> None:
        if next(rounds):
            raise KeyboardInterrupt

    monkeypatch.setattr("dpaudit.plans.recorded_files.time.sleep", sleep)
    ran = typed("samples D E --epsilon 3 --follow inf --json r.json")
    assert ran.code == 130
    audit = json.loads(Path("r.json").read_text())["audits"][0]
    assert audit["sequential"]["runs"] == 100
    assert audit["verdict"] == "inconclusive"


def test_a_file_that_is_being_written_is_waited_for(typed: Typed, coming: Callable[..., None]) -> None:
    """It is there with half of its outputs in the first round, and with all of them from the second on."""
    coming(1, n=30)
    coming(1)
    ran = typed("samples D E --epsilon 3 --follow 0.05 --quiet")
    assert "and the 60 samples per dataset" in ran.out


def test_a_file_that_changes_is_an_error(typed: Typed, coming: Callable[..., None]) -> None:
    coming(1, 2)
    coming(1, n=61)
    ran = typed("samples D E --epsilon 3 --follow 0.05")
    assert "D/1.npy has changed since it was read" in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("D E --follow 1 --paired", "without pairs and blocks; read them once for these, without --follow"),
        ("D E --follow 1 --blocks x", "without pairs and blocks"),
        ("D D --follow 1", "Both folders are the same one"),
        ("D none --follow 1", "--follow waits for new files in folders, and none is none"),
        ("- --follow 1", "--follow waits for new files in folders, and - is none"),
        ("D E --follow -1", "--follow must be at least 0"),
        ("D E --follow nan", "--follow must be at least 0"),
    ],
)
def test_what_cannot_be_followed(typed: Typed, coming: Callable[..., None], words: str, said: str) -> None:
    ran = typed(f"samples {words} --epsilon 1")
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1
