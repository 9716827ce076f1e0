"""NaN, infinities and −0.0 are records: every way in tries them, compares them as records, and writes them down.

What leaks here leaks without any noise, so that no seed decides a verdict: a FAIL is refuted by any number of samples,
and a function that ignores such records has a Laplace mechanism's exact ε. False alarms of the latter: α = 0.001 each.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from numpy.random import Generator, SeedSequence, default_rng

import dpaudit
from dpaudit import strategies as dst
from dpaudit.adversary import Pair
from dpaudit.adversary.pairs.description import parse_records
from dpaudit.adversary.pairs.minimize import minimize, simplicity
from dpaudit.adversary.pairs.mutations import mutations
from dpaudit.adversary.pairs.starting_pairs import starting_pairs
from dpaudit.cli import commands
from dpaudit.interpret import law, sample
from dpaudit.language import (
    ADD_REMOVE_ONE,
    ANSWERS_L1,
    ANSWERS_L2,
    ANSWERS_LINF,
    PRIVATE_ROWS,
    REPLACE_ONE,
    Bernoulli,
    Dataset,
    Mechanism,
    Multiset,
    Relation,
)
from dpaudit.language.records import RecordFloat, as_record, plain_record
from dpaudit.language.relation import as_records, plain_records
from dpaudit.plans.request import Request
from dpaudit.results.datasets import as_dataset, dataset_from_json, dataset_to_json, json_text, parse_dataset
from dpaudit.results.model import Verdict
from dpaudit.subjects.target import function_target

NAN, INF, ZERO = math.nan, math.inf, -0.0
quick = settings(max_examples=60)
FLOATS = st.sampled_from([NAN, -NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 5e-324, 1.7e308, 0.1])
VALUES = FLOATS | st.integers(-2, 2) | st.sampled_from(["NaN", "nan", "", None])
RECORDS = VALUES | st.tuples(FLOATS, VALUES) | st.tuples(st.tuples(FLOATS), st.lists(FLOATS, max_size=2).map(tuple))
DATASETS = st.lists(RECORDS, max_size=5).map(tuple)


# --- functions that tell such records apart; each is told from others by what it looks at alone -----------------------


def has_nan(data: list[float], rng: Generator) -> str:
    return "one is NaN" if any(x != x for x in data) else "none is"


def noisy_has_nan(data: list[float], rng: Generator, size: int) -> Any:
    return np.isnan(np.array(data, dtype=float)).any() + rng.laplace(0, 0.2, size)


def has_infinity(data: list[float], rng: Generator) -> bool:
    return any(math.isinf(x) for x in data)


def has_minus_zero(data: list[float], rng: Generator) -> int:
    return sum(x == 0 and math.copysign(1, x) < 0 for x in data)


def more_than_one_nan(data: list[float], rng: Generator) -> bool:
    return sum(math.isnan(x) for x in data) > 1


def guarded_sum(data: list[float], rng: Generator, size: int) -> Any:
    """1-DP: what is no number counts as 0, and all lies in [0, 1]."""
    return np.clip(np.nan_to_num(np.array(data, dtype=float)), 0, 1).sum() + rng.laplace(0, 1, size)


def clipped_sum(data: list[float], rng: Generator, size: int) -> Any:
    """NaN survives np.clip and sum; the output is NaN then."""
    return np.clip(np.array(data, dtype=float), 0, 1).sum() + rng.laplace(0, 1, size)


LEAKS: list[Callable[..., Any]] = [has_nan, noisy_has_nan, has_infinity, has_minus_zero, more_than_one_nan]
CHEAP: dict[str, Any] = {"runs": 5_000, "seed": 0}


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[[str], Any]:
    """The exit code, and what was printed, of a command line in a folder with this module's functions in my.py."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DPAUDIT_STORE", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "200")
    Path("my.py").write_text(Path(__file__).read_text(encoding="utf-8"), encoding="utf-8")

    def run(line: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["dpaudit", *shlex.split(line)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            commands.main()
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out + said.err

    return run


@pytest.mark.slow(fast=["has_nan"])
@pytest.mark.parametrize("leak", LEAKS, ids=lambda f: f.__name__)
def test_a_described_range_holds_them_and_the_leak_is_found(leak: Any, typed: Any) -> None:
    code, said = typed(f"check my.py:{leak.__name__} --epsilon 1 --data 'floats(0, 1)' --size 5 --runs 5000")
    assert code == 1
    assert "FAIL" in said
    assert "a column of floats can contain" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("leak", "option"),
    [(has_nan, "allow_nan"), (has_infinity, "allow_infinity"), (has_minus_zero, "allow_negative_zero")],
)
def test_what_is_left_out_is_not_tried(leak: Any, option: str) -> None:
    seen: list[Any] = []
    left_out = {"allow_nan": math.isnan, "allow_infinity": math.isinf, "allow_negative_zero": _is_minus_zero}[option]

    def looked_at(data: list[float], rng: Generator) -> Any:
        seen.extend(data)
        return leak(data, rng) if rng.random() < 0.5 else rng.random()

    dpaudit.audit(looked_at, 1.0, data=f"floats(0, 1, {option}=False)", size=3, **{**CHEAP, "runs": 500})
    assert len(seen) > 1_000
    assert not any(map(left_out, seen))
    assert any(math.isnan(x) or math.isinf(x) for x in seen)


@pytest.mark.slow(fast=["'?{\"float\": \"nan\"}, 0.5?' \"?0.5, 0.5?\""])
@pytest.mark.parametrize("pair", ["'[NaN, 0.5]' '[0.5, 0.5]'", "@left.json @right.json",
                                  '\'{"multiset": [[NaN, 1], [0.5, 1]]}\' \'{"multiset": [[0.5, 2]]}\'',
                                  '\'[{"float": "nan"}, 0.5]\' "[0.5, 0.5]"'])  # fmt: skip
def test_pairs_hold_nan_and_the_shown_command_makes_the_result_again(pair: str, typed: Any) -> None:
    Path("left.json").write_text("[NaN, 0.5]", encoding="utf-8")
    Path("right.json").write_text("[0.5, 0.5]", encoding="utf-8")
    code, said = typed(f"check my.py:has_nan --epsilon 1 --pair {pair} --runs 3000 --json a.json --html a.html")
    assert code == 1
    assert "‹NaN" in said
    # strict JSON, which other readers take
    kept = json.loads(Path("a.json").read_text(encoding="utf-8"), parse_constant=lambda name: pytest.fail(name))
    again = kept["command"].removeprefix("dpaudit ")
    assert "NaN" in again
    assert typed(f"{again} --json b.json")[0] == 1
    other = json.loads(Path("b.json").read_text(encoding="utf-8"))
    del kept["timings"], other["timings"]
    assert kept == other
    code, said = typed(f"replay {kept['audits'][0]['replay']}")
    assert code == 1
    assert "Reproduced: the same result." in said


def test_zeros_of_two_signs_are_a_pair_and_two_nan_are_none(typed: Any) -> None:
    assert typed("check my.py:has_minus_zero --epsilon 1 --pair '[0.0]' '[-0.0]' --runs 3000")[0] == 1
    code, said = typed("check my.py:has_nan --epsilon 1 --pair '[NaN, [NaN]]' '[NaN, [NaN]]' --runs 3000")
    assert code == 2
    assert "The two datasets are equal" in said
    code, said = typed("check my.py:has_nan --epsilon 1 --pair '[NaN, NaN, 1]' '[NaN, 0, 2]' --runs 3000")
    assert code == 2
    assert "2 replace-one steps apart" in said


# --- Python, Hypothesis, pytest ---------------------------------------------------------------------------------------


@pytest.mark.slow(fast=["has_nan"])
@pytest.mark.parametrize("leak", LEAKS, ids=lambda f: f.__name__)
def test_python_finds_the_leak(leak: Any) -> None:
    assert dpaudit.audit(leak, 1.0, data="floats(-5, 5)", size=3, **CHEAP).verdict is Verdict.FAIL


@pytest.mark.parametrize("given_pair", [([NAN], [0.5]), (np.array([NAN]), np.array([0.5])), ([0.5], [np.float32(NAN)])])
def test_python_takes_a_pair_and_its_call_is_python(given_pair: Any) -> None:
    result = dpaudit.audit(has_nan, 1.0, pair=given_pair, **CHEAP)
    assert result.verdict is Verdict.FAIL
    assert dpaudit.Result.from_json(result.to_json()) == result
    assert "float('nan')" in result.command
    again = eval(result.command, {"dpaudit": dpaudit, "has_nan": has_nan, "np": np})
    assert again.audits == result.audits


@pytest.mark.slow
def test_a_guarded_function_passes_and_its_bound_is_below_its_epsilon() -> None:
    result = dpaudit.audit(guarded_sum, 1.0, data="floats(0, 1)", size=3, **CHEAP)
    assert result.verdict is Verdict.PASS
    assert result.epsilon_lower is not None
    assert result.epsilon_lower <= 1


@pytest.mark.slow
@pytest.mark.parametrize("data", ["floats(0, 1)", st.floats()])
def test_clip_then_sum_is_refuted(data: Any) -> None:
    assert dpaudit.audit(clipped_sum, 1.0, data=data, size=5, **CHEAP).verdict is Verdict.FAIL


@pytest.mark.slow(fast=["has_nan-strategy1", "has_minus_zero-*"])
@pytest.mark.parametrize(
    ("leak", "strategy"),
    [
        (has_nan, st.floats()), (has_nan, st.floats(0, 1) | st.just(NAN)), (has_infinity, st.floats()),
        (has_minus_zero, st.sampled_from([0.0, -0.0])), (has_nan, dst.records_of("floats(0, 1)")),
        (has_nan, dst.neighbours(ADD_REMOVE_ONE, "floats(0, 1)")),
        (has_nan, st.tuples(st.just((NAN, 0.5)), st.just((0.5, 0.5))).map(lambda sides: dst.Neighbours(*sides))),
    ],
)  # fmt: skip
def test_strategies_keep_what_they_draw(leak: Any, strategy: SearchStrategy[Any]) -> None:
    relation = "add-remove-one" if "add-remove-one" in repr(strategy) else "replace-one"
    result = dpaudit.audit(leak, 1.0, data=strategy, relation=relation, **CHEAP)
    assert result.verdict is Verdict.FAIL


def test_a_strategy_without_them_gives_none() -> None:
    seen: list[float] = []

    @quick
    @given(dst.datasets(st.floats(0, 1)))
    def look(dataset: Any) -> None:
        seen.extend(dataset)

    look()
    assert seen
    assert all(0 <= x <= 1 for x in seen)


@pytest.mark.slow(only=["inf", "minus zero"])
@pytest.mark.parametrize("kind", ["nan", "inf", "minus zero"])
def test_described_strategies_give_all_three_as_plain_floats(kind: str) -> None:
    test = {"nan": math.isnan, "inf": math.isinf, "minus zero": _is_minus_zero}[kind]
    seen: list[float] = []

    @settings(quick, max_examples=200)
    @given(dst.neighbours(REPLACE_ONE, "floats(0, 1)"), dst.datasets("tuples(floats(0, 1), just('x'))"))
    def look(pair: Any, dataset: Any) -> None:
        seen.extend((*pair.left, *pair.right, *(record[0] for record in dataset)))

    look()
    assert set(map(type, seen)) == {float}
    assert any(map(test, seen))


@pytest.mark.slow
def test_the_plugin(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml("[tool.dpaudit]\n")
    pytester.makepyfile(
        """
        import math
        import numpy as np
        import pytest
        from hypothesis import strategies as st

        def leak(data, rng, size):
            return np.isnan(np.array(data)).any() + rng.laplace(0, 0.2, size)

        def ignore(data, rng, size):
            return len(data) + rng.laplace(0, 1, size)

        @pytest.mark.parametrize("more", [
            {"pair": ([math.nan, 0.5], [0.5, 0.5])}, {"data": "floats(0, 1)", "size": 5}, {"data": st.floats()},
        ])
        def test_leak(dp_audit, more):
            dp_audit(leak, epsilon=1.0, **more)

        def test_ignore(dp_audit):
            dp_audit(ignore, epsilon=1.0, pair=([math.nan, -0.0], [0.0, -0.0]))
        """
    )
    ran = pytester.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider", "--dp-runs=1000")
    ran.assert_outcomes(passed=1, failed=3)
    text = ran.stdout.str()
    assert text.count("PrivacyViolation") >= 3
    assert text.count("NaN") >= 3


# --- mechanisms in dpaudit's language ---------------------------------------------------------------------------------


class Plain(Mechanism):
    """Says whether it sees plain floats: NaN that differs from itself, −0.0 that equals 0, nothing of another class."""

    def run(self, dataset: Any) -> Any:
        values = [part for x in dataset for part in (x if isinstance(x, tuple) else (x,))]
        plain = all(type(x) is float for x in values)
        nan = any(x != x for x in values)
        zero = any(x == 0 and math.copysign(1, x) < 0 for x in values)
        yield Bernoulli(0.5)
        return plain, nan, zero


@pytest.mark.parametrize("dataset", [(NAN, -0.0), ((NAN, -0.0), (1.0,)), Multiset.of([NAN, -0.0])])
def test_mechanisms_see_plain_floats(dataset: Any) -> None:
    assert law(Plain(), as_dataset(dataset)).as_dict() == {(True, True, True): 1.0}
    assert sample(Plain(), as_dataset(dataset), 10).counts == {(True, True, True): 10}
    ran = function_target(lambda data, rng: repr([type(x) for x in data]), "f", "").runs(
        as_dataset((NAN, -0.0)), 1, SeedSequence(0)
    )
    assert ran.counts == {repr([float, float]): 1}


def test_a_mechanism_is_refuted_exactly() -> None:
    class HasNaN(Mechanism):
        def run(self, dataset: Any) -> Any:
            return (yield Bernoulli(0.9 if any(x != x for x in dataset) else 0.5))

    result = dpaudit.audit(HasNaN(), 1.0, pair=([NAN, -0.0], [0.0, -0.0]), **CHEAP)
    assert result.verdict is Verdict.FAIL
    assert result.epsilon_exact == pytest.approx(math.log(5))
    assert dpaudit.Result.from_json(result.to_json()) == result


# --- comparisons ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "relation", [REPLACE_ONE, ADD_REMOVE_ONE, ANSWERS_LINF, ANSWERS_L1, ANSWERS_L2, PRIVATE_ROWS], ids=lambda r: r.name
)
@quick
@given(st.data())
def test_relations_are_reflexive(relation: Relation, data: st.DataObject) -> None:
    if relation is PRIVATE_ROWS:
        rows = st.tuples(FLOATS, VALUES, st.sampled_from(["priv", "pub"]))
        dataset: Dataset = tuple(data.draw(st.lists(rows, max_size=4)))
    elif relation.of_records:
        dataset = data.draw(DATASETS)
    else:
        dataset = tuple(data.draw(st.lists(FLOATS, max_size=4)))
    # other objects with the same values: identity must play no part
    again = pickle.loads(pickle.dumps(dataset))
    assert relation.distance(dataset, again) == relation.distance(as_records(dataset), again) == 0
    assert relation.refusal(dataset, again) == ""
    assert relation.related(copy.deepcopy(dataset), dataset)


@quick
@given(DATASETS, RECORDS, st.data())
def test_one_changed_record_is_one_step(dataset: Any, record: Any, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(dataset)))
    more = (*dataset[:at], record, *dataset[at:])
    assert ADD_REMOVE_ONE.distance(dataset, more) == 1
    other = data.draw(RECORDS)
    changed = (*dataset[:at], other, *dataset[at:])
    same = dataset_to_json((record,)) == dataset_to_json((other,)) and repr(record) == repr(other)
    distance = REPLACE_ONE.distance(more, changed)
    assert distance in (0, 1)
    assert distance == 0 if same else distance == 1 or record == other
    assert REPLACE_ONE.distance(more, changed) == REPLACE_ONE.distance(as_records(changed), as_records(more))


def test_the_two_zeros_and_nan_by_hand() -> None:
    assert REPLACE_ONE.distance((0.0, (NAN, -0.0)), (-0.0, (NAN, -0.0))) == 1
    assert REPLACE_ONE.distance((0, 0.0), (0.0, 0)) == 0
    assert REPLACE_ONE.distance((NAN,), (float("nan"),)) == 0
    assert REPLACE_ONE.distance((NAN,), ("nan",)) == 1
    assert ADD_REMOVE_ONE.distance(as_dataset([NAN, NAN]), as_dataset([NAN])) == 1
    assert ADD_REMOVE_ONE.distance(as_dataset(Multiset.of([NAN, 1.0])), (1.0,)) == 1
    # an answer that is no number is no number of steps away from another one
    assert ANSWERS_L1.distance((NAN, 1.0), (NAN, 2.0)) == 1
    assert ANSWERS_L1.distance((INF, 1.0), (INF, 1.0)) == 0
    for answer, other in itertools.permutations((NAN, INF, -INF, 1.0), 2):
        assert ANSWERS_LINF.distance((answer,), (other,)) is None


@quick
@given(st.lists(FLOATS | st.integers(-2, 2), max_size=6))
def test_records_have_one_order_and_agree_with_their_hashes(values: list[Any]) -> None:
    records = [as_record(value) for value in values]
    for a, b in itertools.product(records, repeat=2):
        assert (a < b) + (a == b) + (a > b) == 1
        assert (a <= b, a >= b, a != b) == (a == b or a < b, a == b or a > b, (a == b) is False)
        assert a != b or hash(a) == hash(b)
        assert (simplicity(a) == simplicity(b)) == (a == b)
    ordered = sorted(records)
    assert all(a <= b for a, b in itertools.pairwise(ordered))
    assert Multiset.of(records) == Multiset.of(reversed(records))
    assert [repr(plain_record(x)) for x in records] == [repr(float(x) if isinstance(x, float) else x) for x in values]


def test_neighbours_over_a_domain_with_nan() -> None:
    domain = (0.0, -0.0, NAN)
    for relation in (REPLACE_ONE, ADD_REMOVE_ONE):
        for dataset in relation.scope(domain, 2, ordered=False):
            found = list(relation.neighbours(dataset, domain))
            assert all(relation.distance(dataset, other) == 1 for other in found)
    assert len(REPLACE_ONE.scope(domain, 2, ordered=False)) == 6
    assert len(set(REPLACE_ONE.neighbours((NAN, 0.0), domain))) == 4
    rows = ((NAN, 1, "priv"), (0.0, 1, "priv"), (NAN, 1, "pub"))
    assert list(PRIVATE_ROWS.neighbours(rows[:1], rows)) == [((0.0, 1, "priv"),)]


# --- JSON, text and the search ----------------------------------------------------------------------------------------


@quick
@given(DATASETS, st.booleans())
def test_datasets_come_back_from_json_and_from_text(dataset: Any, counted: bool) -> None:
    dataset = as_dataset(dataset)
    if counted:
        dataset = as_dataset([x for x in dataset if isinstance(x, int | float)])
        dataset = Multiset.of(dataset)
    written = json.dumps(dataset_to_json(dataset), allow_nan=False)
    for back in (dataset_from_json(json.loads(written)), parse_dataset(written), parse_dataset(
        json_text(dataset_to_json(dataset))
    )):
        assert back == dataset
        assert repr(back) == repr(dataset)
    assert as_dataset(plain_records(dataset)) == dataset
    image = Request(("f",), pair=(dataset, dataset)).image()
    json.dumps(image, allow_nan=False)


@pytest.mark.parametrize("description", ["floats(0, 1)", "floats(-3, 2)", "tuples(floats(0, 1), booleans())",
                                         "lists(floats(0, 1), 0, 3)", "sampled_from([nan, -0.0, 0.0, inf, [nan, 1]])",
                                         "tuples(just(nan), floats(0, 1))"])  # fmt: skip
@pytest.mark.parametrize("relation", [REPLACE_ONE, ADD_REMOVE_ONE, REPLACE_ONE.group(2)], ids=lambda r: r.name)
def test_searches_stay_related_different_and_inside(description: str, relation: Relation) -> None:
    records = parse_records(description)
    rng = default_rng(3)
    pairs = starting_pairs(relation, records, 4, rng)
    pairs += [other for pair in pairs[::5] for other in mutations(pair, relation, records, rng, 4)]
    asked: list[Pair] = []
    for pair in pairs[::7]:
        minimize(pair, lambda other: asked.append(other) is None, relation=relation, records=records, budget=40)
    for pair in (*pairs, *asked):
        assert relation.distance(pair.left, pair.right)
        assert all(records.contains(value) for side in (pair.left, pair.right) for value in side)
    leaves = str([(pair.left, pair.right) for pair in pairs[:40]])
    assert "nan" in leaves


def test_the_first_pairs_tried_hold_them() -> None:
    first = starting_pairs(REPLACE_ONE, parse_records("floats(0, 1)"), 5, default_rng(0))[:20]
    shown = str([pair.right for pair in first])
    for record in ("nan", "inf", "-inf", "-0.0"):
        assert record in shown


@pytest.mark.parametrize("value", [NAN, -0.0])
def test_record_floats_survive_copies_and_processes(value: float) -> None:
    record = as_record(value)
    assert type(record) is RecordFloat
    for other in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert type(other) is RecordFloat
        assert other == record
        assert hash(other) == hash(record)
    assert str(record) == str(value)


def _is_minus_zero(x: float) -> bool:
    return x == 0 and math.copysign(1, x) < 0
