"""Recorded outputs: each is used once, what they assume is said, and data that contradict it give no bound."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.random import SeedSequence

import dpaudit
from dpaudit import Result
from dpaudit.engine import orchestrator
from dpaudit.errors import DatasetError, DpauditError, NoMoreOutputsError, UsageError
from dpaudit.evidence.sampling import following
from dpaudit.plans.recorded_files import again, read_recorded
from dpaudit.plans.request import Request
from dpaudit.results.model import Audit, Verdict
from dpaudit.subjects.recorded import (
    D_PRIME,
    Arrival,
    D,
    Followed,
    Recorded,
    RecordedFiles,
    RecordedTarget,
    Stream,
    recorded_outputs,
)

SEED = SeedSequence(0)


def laplace(seed: int, n: int, m: int, shift: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.laplace(shift, 1, n), rng.laplace(0, 1, m)


# -- each value once


@pytest.mark.parametrize(("n", "m"), [(100, 100), (100, 1_000), (997, 123), (10, 11)])
def test_every_value_is_handed_out_once(n: int, m: int) -> None:
    target = RecordedTarget(recorded_outputs(np.arange(n), 10_000 + np.arange(m)), seed=3)
    assert target.total == min(n, m)
    seen: list[list[object]] = [[], []]
    sizes = [5, *([1] * (target.total - 7)), 2]
    for size in sizes:
        for which, dataset in enumerate((D, D_PRIME)):
            outputs = target.runs(dataset, size, SEED)
            # no dataset runs ahead of the other by more than one value
            assert abs(outputs.runs - size * (n, m)[which] / target.total) < 1
            seen[which] += [value for value, times in outputs.each() for _ in range(times)]
    assert sorted(seen[0]) == list(range(n))
    assert sorted(seen[1]) == [10_000 + i for i in range(m)]
    with pytest.raises(DatasetError, match="no more than"):
        target.runs(D, 1, SEED)


def test_an_audit_uses_every_value_once(monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[object] = []
    inner = RecordedTarget.runs

    def runs(self: RecordedTarget, dataset: object, size: int, seed: SeedSequence, first: int = 0) -> object:
        outputs = inner(self, dataset, size, seed, first)
        handed.extend(outputs.blocks[0].tolist())
        return outputs

    monkeypatch.setattr(RecordedTarget, "runs", runs)
    left, right = laplace(1, 600, 1_500)
    result = dpaudit.audit_samples(left, right, 3.0)
    assert sorted(handed) == sorted([*left.tolist(), *right.tolist()])
    assert result.audit.runs == 2_100
    counts = result.audit.sampled[0]
    assert {counts.n, counts.m} == {400, 1_000}
    assert counts.runs_trained == 200


def test_the_seed_fixes_the_order_and_the_result() -> None:
    left, right = laplace(2, 300, 300)
    first, same, other = (dpaudit.audit_samples(left, right, 0.2, seed=seed) for seed in (4, 4, 5))
    assert first.audit == same.audit
    assert first.audit.replay != other.audit.replay
    orders = [recorded_outputs(left, right).orders(seed) for seed in (4, 5)]
    for one, another in zip(*orders, strict=True):
        assert (one != another).any()
    ordered = RecordedTarget(recorded_outputs(left, right, shuffled=False), seed=9)
    assert ordered.runs(D, 7, SEED).reals.tolist() == left[:7].tolist()


def test_another_value_gives_another_id() -> None:
    left, right = laplace(2, 50, 50)
    changed = left.copy()
    changed[7] += 1
    first, other = (dpaudit.audit_samples(one, right, 1.0) for one in (left, changed))
    assert first.audit.replay != other.audit.replay


def test_one_value_of_every_block() -> None:
    labels = np.repeat(np.arange(40), 5)
    recorded = recorded_outputs(np.arange(200), np.arange(200, 400), blocks=(labels, labels + 20))
    left, right = recorded.orders(1)
    used = [*labels[left].tolist(), *(labels[right] + 20).tolist()]
    # 60 blocks, of which both datasets have 20
    assert sorted(used) == list(range(60))
    names = [f"run {label}" for label in labels]
    named = recorded_outputs(np.arange(200), np.arange(200, 400), blocks=(names, names))
    assert sum(map(len, named.orders(1))) == 40


def test_one_value_of_every_pair_by_a_fair_draw() -> None:
    recorded = recorded_outputs(np.arange(1_000), np.arange(1_000), paired=True)
    left, right = recorded.orders(1)
    assert sorted([*left, *right]) == list(range(1_000))
    # binomial, at 1e-9
    assert 400 < len(left) < 600
    assert not np.array_equal(left, recorded.orders(2)[0])


@pytest.mark.parametrize(
    ("left", "right", "options", "said"),
    [
        ([1.0] * 9, [1.0] * 20, {}, "There are 9 outputs of D; an audit needs at least 10"),
        ("D.npy", [1.0] * 20, {}, "must be an array, a series, a frame or a list"),
        (3.2, [1.0] * 20, {}, "must be an array"),
        (np.float64(3.2), [1.0] * 20, {}, "are one number"),
        ([1.0] * 20, [1.0] * 30, {"paired": True}, "come in equal numbers, not 20 of D and 30 of D′"),
        ([1.0] * 20, [1.0] * 20, {"blocks": (range(20), range(19))}, "20 outputs of D′ and 19 labels"),
        ([1.0] * 20, [1.0] * 20, {"blocks": ([0] * 20, [1] * 20)}, "leaves 1 outputs of D"),
        ([1.0] * 20, [1.0] * 20, {"paired": True, "blocks": (range(20), range(20))}, "not both"),
        ([1.0] * 20, [1.0] * 20, {"blocks": [0] * 20}, "labels of blocks as a pair"),
        ([1.0] * 20, [1.0] * 20, {"blocks": (None, None)}, "labels of blocks as a pair"),
    ],
)
def test_what_is_refused(left: object, right: object, options: dict[str, object], said: str) -> None:
    with pytest.raises(DpauditError, match=said):
        dpaudit.audit_samples(left, right, 1.0, **options)  # type: ignore[arg-type]


# -- outputs of all kinds


@pytest.mark.parametrize("kind", ["str", "tuple", "dict", "int", "vector", "bool"])
def test_outputs_of_every_kind_are_tested(kind: str) -> None:
    """A bit that is told with probability 0.9: ε = ln 9 = 2.2."""
    rng = np.random.default_rng(5)
    bits = [(rng.random(400) < p).tolist() for p in (0.9, 0.1)]
    make = {
        "str": lambda bit: "yes" if bit else "no",
        "tuple": lambda bit: (int(bit), "x"),
        "dict": lambda bit: {"a": int(bit), "b": None},
        "int": int,
        "vector": lambda bit: [float(bit) + 0.25, 1.5],
        "bool": bool,
    }[kind]
    left, right = ([make(bit) for bit in of] for of in bits)
    both = (np.array(left), np.array(right)) if kind == "vector" else (left, right)
    result = dpaudit.audit_samples(*both, 0.5)
    assert result.verdict is Verdict.FAIL
    assert result.epsilon_lower is not None
    assert 0.9 < result.epsilon_lower < np.log(9)


def test_frames_and_series() -> None:
    pandas = pytest.importorskip("pandas")
    left, right = laplace(1, 400, 400, 2.0)
    array = dpaudit.audit_samples(left, right, 0.5)
    series = dpaudit.audit_samples(pandas.Series(left), pandas.DataFrame({"x": right}), 0.5)
    assert series.epsilon_lower == array.epsilon_lower
    mixed = pandas.DataFrame({"x": left, "y": "a"}), pandas.DataFrame({"x": right, "y": "a"})
    assert dpaudit.audit_samples(*mixed, 0.5).verdict is Verdict.FAIL


def test_how_numbers_are_stored_says_nothing() -> None:
    """Whole numbers that one dataset has as integers and the other as floats."""
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, 5, 500), rng.integers(0, 5, 500).astype(float)
    assert dpaudit.audit_samples(left, right, 1.0).verdict is Verdict.PASS
    assert dpaudit.audit_samples(left.tolist(), [*right[:-1].tolist(), 2], 1.0).verdict is Verdict.PASS


# -- what is claimed


def test_precision_and_booleans_say_nothing() -> None:
    """One recording in single precision, or in booleans, is post-processing of both."""
    left, right = laplace(1, 40, 40)
    both = recorded_outputs(left.astype(np.float32), right).both
    assert [np.asarray(one).dtype for one in both] == [np.float32, np.float32]
    for other in (np.zeros(20, dtype=np.int64), np.zeros(20)):
        given, same = recorded_outputs(np.ones(20, dtype=bool), other).both
        assert [np.asarray(one).dtype for one in (given, same)] == [other.dtype, other.dtype]


def test_a_missing_cell_is_an_output(tmp_path: Path) -> None:
    """To leave blank lines out would choose outputs by their values, and accuse."""
    pytest.importorskip("pandas")
    (tmp_path / "D.csv").write_text("output\n" + "1.5\n\n" * 20)
    np.save(tmp_path / "E.npy", np.zeros(30))
    left = np.asarray(read_recorded(RecordedFiles((str(tmp_path / "D.csv"), str(tmp_path / "E.npy")))).left)
    assert len(left) == 39
    assert np.isnan(left).sum() == 19


def test_a_number_of_a_stream_is_the_same_in_every_batch() -> None:
    """Not a float because another one of its batch is: that would depend on the dataset."""
    lines = iter([(0, 1)] * 120 + [(1, 1), (1, 2.5)] * 60)
    target = RecordedTarget(recorded_outputs_of(Stream(lines)), 0, 100)
    kinds = [{type(value) for value, _ in target.runs(which, 60, SEED).each()} for which in (D, D_PRIME)]
    assert kinds == [{int}, {int, float}]


def recorded_outputs_of(stream: Stream) -> Recorded:
    return Recorded([], [], stream=stream)


def test_without_a_claim_there_is_a_bound_and_no_verdict() -> None:
    left, right = laplace(1, 1_000, 1_000, 2.0)
    result = dpaudit.audit_samples(left, right, alpha=0.05)
    audit = result.audit
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert audit.reason_code == "no_claim"
    assert result.exit_code == 0
    assert audit.epsilon_lower is not None
    assert 1.0 < audit.epsilon_lower < 2.0
    assert f"ε ≥ {audit.epsilon_lower:.2f}"[:7] in audit.reason
    assert audit.claim.statement == "none; δ = 0"
    # it can be read back, though its counts refute ε = 0
    assert Result.from_json(result.to_json()).audit == audit
    assert str(result).startswith("BOUND")
    at_delta = dpaudit.audit_samples(left, right, delta=0.3, alpha=0.05)
    assert at_delta.audit.epsilon_lower is not None
    assert at_delta.audit.epsilon_lower < audit.epsilon_lower
    nothing = dpaudit.audit_samples(*laplace(1, 100, 100, 0.0))
    assert "no ε > 0" in nothing.reason


def test_a_claim_with_too_few_outputs_is_inconclusive_with_a_number() -> None:
    result = dpaudit.audit_samples(*laplace(1, 12, 12, 0.0), 3.0)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.audit.reason_code == "too_few_samples"
    assert "record at least" in result.reason
    weak = dpaudit.audit_samples(*laplace(1, 200, 200, 0.0), 0.2)
    assert weak.audit.reason_code == "low_power"
    assert "record about" in weak.reason


def test_what_is_assumed_is_said() -> None:
    records = {record.name: record for record in dpaudit.audit_samples(*laplace(1, 100, 100), 1.0).audit.assumptions}
    assert records["independent"].holds is None
    assert "taken on trust" in records["independent"].text
    assert records["neighbours"].holds is None
    assert "not checked" in records["neighbours"].text


# -- what data say of independence


def test_values_drawn_from_a_store_give_no_bound() -> None:
    rng = np.random.default_rng(1)
    left, right = (rng.choice(rng.normal(0, 1, 1_000), 5_000) for _ in range(2))
    result = dpaudit.audit_samples(left, right, 0.1)
    assert result.audit.reason_code == "assumption_violated"
    assert "hand over the stored values themselves" in result.reason
    assert result.epsilon_lower is None


def test_scalars_of_numpy_are_numbers() -> None:
    """As a list comprehension over a function of numpy collects them."""
    left, right = laplace(0, 100, 100)
    for kind in (np.float64, np.float32):
        both = recorded_outputs([kind(one) for one in left], right.tolist()).both
        assert [np.asarray(one).dtype for one in both] == [kind, kind]
    whole = recorded_outputs([np.int64(1), np.float64(2.5)] * 10, [1.0] * 10).left
    assert np.array_equal(whole, [1.0, 2.5] * 10)
    rng = np.random.default_rng(0)
    resampled = dpaudit.audit_samples(list(rng.choice(left, 1_000)), list(rng.choice(right, 1_000)), 1.0)
    assert resampled.audit.reason_code == "assumption_violated"


def test_what_is_masked_is_missing() -> None:
    masked = np.ma.masked_less(np.arange(20.0), 5)
    assert recorded_outputs(masked, np.arange(20.0)).left[:6] == [None] * 5 + [5.0]


def test_lists_of_whole_numbers_are_examined() -> None:
    bits = np.repeat(np.random.default_rng(0).integers(0, 2, (2, 100)), 10, axis=1)
    assert dpaudit.audit_samples(*bits.tolist(), 1.0).audit.reason_code == "assumption_violated"


def test_copies_of_a_stretch_give_no_bound() -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 3, 1_000)
    twice = np.concatenate([bits, rng.integers(0, 3, 100), bits])
    result = dpaudit.audit_samples(twice, rng.integers(0, 3, 2_000), 1.0)
    assert "from number 1 on are repeated from number 1,101 on" in result.reason
    assert dpaudit.audit_samples(rng.integers(0, 3, 3_000), bits, 1.0).verdict is Verdict.PASS


def test_a_long_run_of_a_frequent_value_is_no_copy() -> None:
    """Windows that overlap are equal in a run of equal values."""
    rng = np.random.default_rng(0)
    left, right = ((rng.random(1_000) < 0.09).astype(int) for _ in range(2))
    left[300:650] = 0
    assert dpaudit.audit_samples(left, right, 3.0).audit.reason_code != "assumption_violated"


def test_outputs_that_depend_on_the_one_before_give_no_bound() -> None:
    left, right = laplace(1, 300, 300)
    rounded = np.repeat(np.round(left), 5)
    result = dpaudit.audit_samples(rounded, np.round(right), 1.0)
    assert "recorded one after another are correlated" in result.reason
    assert result.audit.reason_code == "assumption_violated"
    assert result.epsilon_lower is None
    labels = np.repeat(np.arange(300), 5), np.arange(300, 600)
    declared = dpaudit.audit_samples(rounded, np.round(right), 1.0, blocks=labels)
    assert declared.audit.reason_code != "assumption_violated"
    assert not any(note.code == "assumption" for note in declared.audit.notes)


def test_the_same_recording_twice_gives_no_bound() -> None:
    left, _ = laplace(1, 500, 10)
    assert "with the same seeds" in dpaudit.audit_samples(left, left, 1.0).reason
    rounded = np.round(left)
    assert "are the same, one by one" in dpaudit.audit_samples(rounded, rounded, 1.0).reason
    # in pairs half of which are equal, one of each is used
    right = np.where(np.arange(500) % 2, left, left + 1)
    assert dpaudit.audit_samples(left, right, 1.0).audit.reason_code == "assumption_violated"
    assert dpaudit.audit_samples(left, right, 1.0, paired=True).audit.reason_code != "assumption_violated"


def test_order_and_pairs_that_matter_are_noted() -> None:
    left, right = laplace(1, 2_000, 2_000)
    notes = dpaudit.audit_samples(np.sort(left), right, 2.0).audit.notes
    assert any("The outputs of D are sorted" in note.sentence for note in notes)
    notes = dpaudit.audit_samples(left, left + right, 2.0).audit.notes
    assert any("declare them paired" in note.sentence for note in notes)
    notes = dpaudit.audit_samples(left, right, 2.0).audit.notes
    assert [note.code for note in notes] == ["recorded_evidence"]


@pytest.mark.parametrize("kind", ["normal", "bits", "categories", "rounded", "decimals"])
def test_independent_samples_are_not_accused(kind: str) -> None:
    """200 recordings of each kind; by chance one is contradicted with probability below 1e-3."""
    from dpaudit.evidence.recorded import dependence, examine_recorded

    rng = np.random.default_rng(11)
    make = {
        "normal": lambda: rng.normal(0, 1, 400),
        "bits": lambda: rng.integers(0, 2, 400),
        "categories": lambda: rng.choice(["a", "b", "c"], 400, p=[0.8, 0.15, 0.05]),
        "rounded": lambda: np.round(rng.normal(0, 1, 400), 1),
        # of which some repeat
        "decimals": lambda: np.array([float(f"{x:.5g}") for x in rng.normal(0, 1, 400)]),
    }[kind]
    for _ in range(200):
        recorded = recorded_outputs(make(), make())
        assert all(record.holds is None for record in examine_recorded(recorded))
        assert not dependence(recorded)


# -- files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_formats_hold_the_same_outputs(folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    left, right = laplace(1, 60, 40)
    np.save("D.npy", left)
    np.save("E.npy", right)
    np.savez("both.npz", D=left, Dprime=right)
    np.savetxt("D.csv", left, fmt="%.17g")
    pandas.DataFrame({"output": right}).to_csv("E.csv", index=False)
    rows = [("D", x) for x in left.tolist()] + [("Dprime", x) for x in right.tolist()]
    pandas.DataFrame(rows, columns=["dataset", "output"]).to_csv("both.csv", index=False)
    Path("both.ndjson").write_text("".join(f"{json.dumps({'dataset': d, 'output': x})}\n" for d, x in rows))
    Path("D.jsonl").write_text("".join(f"{x!r}\n" for x in left.tolist()))
    Path("Ds").mkdir()
    np.save("Ds/1.npy", left[:20])
    np.save("Ds/2.npy", left[20:])
    for files in (
        ("D.npy", "E.npy"), ("both.npz",), ("D.csv", "E.csv"), ("both.csv",), ("both.ndjson",), ("D.jsonl", "E.npy"),
        ("Ds", "E.npy"),
    ):
        recorded = read_recorded(RecordedFiles(files))
        assert np.array_equal(recorded.left, left), files
        assert np.array_equal(recorded.right, right), files
        assert len(recorded.digests) == len(files) + (files[0] == "Ds")


def test_large_arrays_stay_on_the_disk(folder: Path) -> None:
    np.save("D.npy", np.arange(1000.0))
    left = read_recorded(RecordedFiles(("D.npy", "D.npy"))).left
    assert isinstance(left, np.ndarray)
    assert isinstance(left.base, np.memmap)


def test_columns_and_blocks_of_tables(folder: Path) -> None:
    pytest.importorskip("pandas")
    lines = [f"{'D' if i % 2 else 'Dprime'},{i},{i // 10}" for i in range(400)]
    Path("t.csv").write_text("\n".join(["dataset,score,run", *lines]))
    recorded = read_recorded(RecordedFiles(("t.csv",), column="score", blocks="run"))
    assert recorded.left[0] == 1
    assert sum(map(len, recorded.orders(0))) == 40
    with pytest.raises(DatasetError, match="has the columns dataset, score, run, and no 'scores'"):
        read_recorded(RecordedFiles(("t.csv",), column="scores"))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.ndjson", '{"dataset": "D", "output": 1}\n{"output": 1}\n', 'have a "dataset" and some have none'),
        ("a.ndjson", '{"dataset": "A", "output": 1}\n', "names the dataset 'A'"),
        ("a.ndjson", '{"dataset": "D"}\n', "Line 1 of a.ndjson has no 'output'"),
        ("a.ndjson", "{\n", "Line 1 of a.ndjson is not JSON"),
        ("a.ndjson", "\n", "There are no outputs in a.ndjson"),
        ("a.ndjson", "1\n2\n", "does not say which outputs are of D"),
        ("a.npy", "nothing", "Cannot read a.npy"),
        ("a.txt", "1\n", "a.txt is none of .npy"),
    ],
)
def test_files_that_cannot_be_used(folder: Path, name: str, text: str, said: str) -> None:
    Path(name).write_text(text)
    with pytest.raises(DatasetError, match=said):
        read_recorded(RecordedFiles((name,)))


def test_a_table_of_both_is_not_one_of_two(folder: Path) -> None:
    Path("both.ndjson").write_text('{"dataset": "D", "output": 1}\n{"dataset": "Dprime", "output": 2}\n' * 20)
    Path("D.ndjson").write_text('{"dataset": "D", "output": 1}\n' * 20)
    np.save("E.npy", np.arange(20))
    with pytest.raises(DatasetError, match=r"both.ndjson stands for the outputs on D, and names the dataset 'Dprime'"):
        read_recorded(RecordedFiles(("both.ndjson", "E.npy")))
    with pytest.raises(DatasetError, match=r"D.ndjson stands for the outputs on D′, and names the dataset 'D'"):
        read_recorded(RecordedFiles(("E.npy", "D.ndjson")))
    assert len(read_recorded(RecordedFiles(("D.ndjson", "E.npy"))).left) == 20


def test_a_file_that_changed_is_no_new_evidence(folder: Path) -> None:
    np.save("D.npy", np.arange(20))
    np.save("E.npy", np.arange(30))
    words = RecordedFiles(("D.npy", "E.npy"))
    first = read_recorded(words).recordings
    with pytest.raises(UsageError, match=r"D.npy is part of the earlier evidence already"):
        read_recorded(words, used=first)
    np.save("D.npy", np.arange(21))
    with pytest.raises(UsageError, match=r"D.npy has changed since it became part of the earlier evidence"):
        read_recorded(words, used=first)


def test_a_replay_needs_the_same_outputs(folder: Path) -> None:
    left, right = laplace(1, 60, 40)
    np.save("D.npy", left)
    np.save("E.npy", right)
    words = RecordedFiles(("D.npy", "E.npy"))
    digests = read_recorded(words).digests
    assert again(words, digests).digests == digests
    np.save("E.npy", left)
    with pytest.raises(UsageError, match=r"the SHA-256 of E.npy has changed"):
        again(words, digests)
    Path("E.npy").unlink()
    with pytest.raises(UsageError, match=r"cannot be read again: Cannot read E.npy: No such file"):
        again(words, digests)


# -- streams


def test_a_stream_is_read_as_it_is_needed() -> None:
    read: list[int] = []

    def lines() -> object:
        for i in range(10_000):
            read.append(i)
            yield i % 2, i

    stream = Stream(lines())  # type: ignore[arg-type]
    assert stream.take(0, 3) == [0, 2, 4]
    assert stream.take(1, 3) == [1, 3, 5]
    assert len(read) == 100
    assert stream.take(1, 100)[-1] == 205
    assert len(read) == 206
    with pytest.raises(NoMoreOutputsError, match="after 5,000 outputs of D′"):
        stream.take(1, 5_000)


def test_numbers_of_a_stream_are_floats_if_one_is() -> None:
    stream = Stream(iter([(0, 1), (1, 2.5), (0, 3)]))
    assert list(map(type, stream.take(0, 2))) == [float, float]


# -- files that are read as they come


def arrived(files: list[tuple[object, object]]) -> Followed:
    """A folder into which these files come, with a round without any after each."""
    every = [Arrival(left, right, f"{at}.npy", f"{at:064}") for at, (left, right) in enumerate(files)]
    return Followed(iter([part for one in every for part in (one, None)]), idle=0.0)


def audit_of(files: Followed, **options: object) -> Audit:
    recorded = Recorded([], [], stream=files)
    request = Request(targets=("m",), recorded=recorded, **options)  # type: ignore[arg-type]
    return orchestrator.run(request).audits[0]


def test_files_are_used_once_and_to_their_ends() -> None:
    """Of D there are more outputs than of D′; those without a partner are not used."""
    every = [(np.arange(at * 10, at * 10 + 10), -1.0 - np.arange(at * 8, at * 8 + 8)) for at in range(8)]
    files = arrived(every)
    target = RecordedTarget(Recorded([], [], stream=files), 3)
    seen: list[list[float]] = [[], []]
    ends = []
    for size in following(files, seed=3, most=10**9):
        if size is None:
            ends.append(len(seen[0]))
            continue
        for which, dataset in enumerate((D, D_PRIME)):
            seen[which] += [value for value, times in target.runs(dataset, size, SEED).each() for _ in range(times)]
    assert ends == [8 * at for at in range(1, 9)]
    assert len(set(seen[0])) == 64
    assert set(seen[0]) < set(range(80))
    assert sorted(seen[1]) == [-64.0 + at for at in range(64)]
    # of a file all are used before the next, in an order drawn from the seed
    assert set(seen[0][:8]) < set(range(10))
    assert seen[0][:8] != sorted(seen[0][:8])
    orders = []
    for seed in (3, 4):
        again_files = arrived(every)
        next(again_files.coming(seed))
        orders.append(again_files.take(0, 8))
    assert seen[0][:8] == orders[0] != orders[1]


@pytest.mark.parametrize("most", [1, 7, 23, 1_000])
def test_no_more_of_the_files_than_is_planned(most: int) -> None:
    files = arrived([(np.arange(40), np.arange(40)) for _ in range(3)])
    target = RecordedTarget(Recorded([], [], stream=files), 0)
    done = 0
    for size in following(files, seed=0, most=most):
        if size is not None:
            assert target.runs(D, size, SEED).runs == target.runs(D_PRIME, size, SEED).runs == size
            done += size
    assert done == min(most, 120)


def test_small_files_share_a_batch() -> None:
    """Of a few outputs no event need be learned anew; at the end they are used."""
    files = arrived([([0.0], [1.0])] * 1_005)
    target = RecordedTarget(Recorded([], [], stream=files), 0)
    sizes = []
    for size in following(files, seed=0, most=10**9):
        if size is not None:
            sizes.append(size)
            target.runs(D, size, SEED)
            target.runs(D_PRIME, size, SEED)
    assert sum(sizes) == 1_005
    assert len(sizes) < 400
    assert sizes[-1] < max(sizes)


def test_what_files_show_depends_on_their_order_alone() -> None:
    def parts(n: int) -> list[tuple[object, object]]:
        left, right = laplace(3, 600, 600)
        return [(left[at : at + 20], right[at : at + 20]) for at in range(0, 20 * n, 20)]

    first, second = (audit_of(arrived(parts(20)), epsilon=0.2, alpha=0.05) for _ in range(2))
    assert first.verdict is Verdict.FAIL
    assert first.sequential is not None
    assert first.sequential.runs < 400
    assert first.event is not None
    assert first == second
    # with files that come later it would have stopped in the same place
    assert first == audit_of(arrived(parts(30)), epsilon=0.2, alpha=0.05)
    # nothing is counted, although there are outputs that wait
    short = audit_of(arrived([laplace(3, 400, 400)]), epsilon=0.2, alpha=0.05, runs=390)
    assert short.verdict is Verdict.FAIL
    assert short.sampled == []
    assert "also_crashed" not in {note.code for note in short.notes}
    assert short.runs < 700
    open_audit = audit_of(arrived(parts(20)), epsilon=3.0)
    assert open_audit.verdict is Verdict.INCONCLUSIVE
    assert open_audit.reason_code == "followed_not_refuted"
    assert open_audit.sequential is not None
    assert open_audit.sequential.runs == 400
    assert open_audit.sequential.alpha == pytest.approx(0.95e-3)
    other = audit_of(arrived(parts(20)), epsilon=3.0, seed=1)
    assert other.sequential is not None
    assert other.sequential.log_e != open_audit.sequential.log_e


def test_without_a_claim_no_file_is_left_out() -> None:
    left, right = laplace(3, 400, 400)
    files = arrived([(left[at : at + 20], right[at : at + 20]) for at in range(0, 400, 20)])
    audit = audit_of(files, alpha=0.05, certify=True)
    assert audit.reason_code == "no_claim"
    assert audit.sequential is not None
    assert audit.sequential.runs == 400
    assert audit.epsilon_lower is not None
    assert 0.3 < audit.epsilon_lower < 1


def test_files_that_contradict_independence_give_no_bound() -> None:
    """A file that was copied, of whole numbers, which show it only together."""
    rng = np.random.default_rng(0)
    one = [(rng.integers(0, 50, 40), rng.integers(10, 60, 40))]
    assert audit_of(arrived(one * 12), epsilon=0.2).reason_code == "assumption_violated"
    left, right = laplace(0, 300, 300)
    assert audit_of(arrived([(left, right), (left, right)]), epsilon=3.0).reason_code == "assumption_violated"


def test_files_have_one_form() -> None:
    whole = audit_of(arrived([(np.arange(30), np.arange(30) + 0.5), (np.arange(30) * 1.5, np.arange(30))]), epsilon=1.0)
    assert not whole.crashed
    assert whole.reason_code != "crash"
    for other in (np.zeros((30, 2)), np.array(["a"] * 30)):
        crashed = audit_of(arrived([(np.arange(30), np.arange(30)), (other, other)]), epsilon=1.0)
        assert crashed.reason_code == "crash"
        assert "The outputs of 0.npy are numbers and those of 1.npy are" in crashed.reason
    vectors = np.random.default_rng(0).normal(size=(2, 200, 3))
    assert audit_of(arrived([(vectors[0], vectors[1])]), epsilon=5.0).reason_code == "followed_not_refuted"
    assert audit_of(arrived([]), epsilon=1.0).reason_code == "followed_not_refuted"


# -- evidence that accumulates


def test_evidence_of_other_outputs_multiplies() -> None:
    first = dpaudit.audit_samples(*laplace(1, 80, 80), 0.3, name="m", alpha=0.05)
    second = dpaudit.audit_samples(*laplace(2, 80, 80), 0.3, name="m", alpha=0.05, evidence=first)
    parts = [result.audit.sequential for result in (first, second)]
    assert parts[0] is not None
    assert parts[1] is not None
    assert parts[1].prior == pytest.approx(parts[0].log_e)
    assert len(parts[1].seeds) == 2
    with pytest.raises(UsageError, match="is of the outputs of D already"):
        dpaudit.audit_samples(*laplace(1, 80, 80), 0.3, name="m", evidence=second)
    with pytest.raises(UsageError, match="counts for the same mechanism alone; name it with name"):
        dpaudit.audit_samples(*laplace(3, 80, 80), 0.3, evidence=second)
    with pytest.raises(UsageError, match="it is about m against"):
        dpaudit.audit_samples(*laplace(3, 80, 80), 0.3, name="another", evidence=second)


def test_a_folder_that_grows(folder: Path) -> None:
    for name in ("D", "Dprime"):
        Path(name).mkdir()
    for day in (1, 2):
        for name, outputs in zip(("D", "Dprime"), laplace(day, 30, 30), strict=True):
            np.save(f"{name}/{day}.npy", outputs)
    words = RecordedFiles(("D", "Dprime"))
    both = read_recorded(words)
    assert len(both.left) == 60
    first = both.recordings
    np.save("D/3.npy", laplace(3, 20, 20)[0])
    with pytest.raises(UsageError, match="All files of Dprime are part of the earlier evidence already"):
        read_recorded(words, used=first)
    np.save("Dprime/3.npy", laplace(3, 20, 20)[1])
    new = read_recorded(words, used=first)
    assert (len(new.left), len(new.right)) == (20, 20)
    # an equal file of another name is a copy, or came out equal: to leave it out would choose outputs by their values
    Path("D/4.npy").write_bytes(Path("D/1.npy").read_bytes())
    with pytest.raises(UsageError, match=r"D/4.npy has the same contents as D/1.npy"):
        read_recorded(words, used=first)
    Path("D/4.npy").unlink()
    # an audit of the folder as it was can be repeated
    assert len(again(words, both.digests).left) == 60
    assert len(again(words, new.digests, used=first).left) == 20
    np.save("D/2.npy", laplace(4, 90, 20)[0])
    with pytest.raises(UsageError, match=r"D/2.npy has changed since it became part"):
        read_recorded(words, used=first)
