"""Audits of stability: violations are found, shrunk and exact; what cannot be audited is one sentence."""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typed_commands import Typed

import dpaudit
from dpaudit.engine.stability import run_stability
from dpaudit.errors import MechanismError, OutputError, PairError, ParameterError, UsageError
from dpaudit.language import ADD_REMOVE_ONE, REPLACE_ONE, USERS
from dpaudit.language.unordered import unordered
from dpaudit.plans.stability import StabilityRequest
from dpaudit.report.files import stability_text
from dpaudit.report.html import embedded_json
from dpaudit.results.model import Verdict
from dpaudit.results.stability import StabilityCode, StabilityRecord

ADD = "add-remove-one"


def total(xs: list[int]) -> int:
    return sum(xs)


def clipped(xs: list[float]) -> float:
    return sum(min(max(x, 0.0), 1.0) for x in xs)


def doubled(xs: list[int]) -> list[int]:
    return [x for x in xs for _ in range(2)]


def paired(xs: list[int]) -> list[tuple[int, int]]:
    """Pairs of records; the last is dropped if there is an odd number (OpenDP, issue 2950)."""
    xs = xs[: len(xs) // 2 * 2]
    return list(zip(xs[::2], xs[1::2], strict=True))


def histogram(xs: list[int]) -> dict[int, int]:
    return dict(Counter(xs))


@pytest.mark.parametrize(
    ("f", "stability", "settings", "distance", "records"),
    [
        (total, 5, {"relation": ADD, "data": "integers(0, 9)"}, "6", 1),
        (total, 8, {"data": "integers(0, 9)"}, "9", 2),
        (doubled, 1, {"relation": ADD, "metric": "symmetric", "data": "integers(0, 9)"}, "2", 1),
        (paired, 1, {"relation": ADD, "metric": "symmetric", "data": "integers(0, 9)"}, "2", 5),
        (histogram, 1, {"metric": "l1", "data": "integers(0, 9)"}, "2", 2),
        (histogram, 1.4, {"metric": "l2", "data": "integers(0, 9)"}, "√2", 2),
        (total, lambda d: 10 * d - 2, {"relation": "replace-one:3", "data": "integers(0, 9)"}, "9", 2),
        (np.median, 0.5, {"data": "integers(0, 9)", "size": 3}, None, 6),
        (len, 2, {"relation": "users", "data": "tuples(integers(0, 2), integers(0, 9))"}, "3", 3),
        (total, Fraction(1, 3), {"data": "booleans()"}, "1", 2),
    ],
)
def test_violations_are_found_and_shrunk(
    f: Any, stability: Any, settings: dict[str, Any], distance: str | None, records: int
) -> None:
    result = dpaudit.audit_stability(f, stability, **settings)
    assert result.verdict is Verdict.FAIL
    assert result.reason_code is StabilityCode.EXCEEDS
    assert result.exit_code == 1
    assert result.pair is not None
    left, right = result.pair.left, result.pair.right
    assert len(left) + len(right) == records
    if distance is not None:
        assert result.distance == distance
    assert result.distance_float is not None
    assert result.allowed_float is not None
    assert result.distance_float > result.allowed_float
    # the pair shows it
    again = dpaudit.audit_stability(
        f, stability, pair=(_records(left), _records(right)),
        **{name: value for name, value in settings.items() if name not in ("data", "size")},
    )
    assert again.verdict is Verdict.FAIL
    assert again.distance == result.distance


def _records(dataset: list[Any]) -> list[Any]:
    return [tuple(record) if isinstance(record, list) else record for record in dataset]


@pytest.mark.parametrize(
    ("f", "stability", "settings"),
    [
        (total, 9, {"data": "integers(0, 9)"}),
        (doubled, 2, {"relation": ADD, "metric": "symmetric", "data": "integers(0, 9)"}),
        (histogram, 2, {"metric": "l1", "data": "integers(0, 9)"}),
        (sorted, 1, {"metric": "symmetric", "relation": ADD, "data": "floats(0, 1)"}),
        (len, 1, {"relation": ADD, "data": "floats(0, 1)", "any_order": True}),
        (lambda xs: len({user for user, _ in xs}), 1,
         {"relation": "users", "data": "tuples(integers(0, 4), integers(0, 9))"}),
    ],
)
def test_claims_that_hold_are_not_refuted(f: Any, stability: Any, settings: dict[str, Any]) -> None:
    result = dpaudit.audit_stability(f, stability, pairs=800, **settings)
    assert result.verdict is Verdict.PASS
    assert result.reason_code is StabilityCode.NOT_VIOLATED
    assert "No violation was found on the 800 pairs tried" in result.reason
    assert "This is not a proof" in result.reason
    assert result.exit_code == 0


def test_a_small_domain_is_proved() -> None:
    result = dpaudit.audit_stability(total, 1, relation=ADD, data="booleans()", size=None)
    assert result.reason_code is StabilityCode.PROVED
    assert result.proved
    # pairs of bit strings of at most 6 bits, one of them without one bit of the other: the deletions of all strings
    strings = [bits for n in range(7) for bits in product((0, 1), repeat=n)]
    pairs = sum(len({bits[:i] + bits[i + 1 :] for i in range(len(bits))}) for bits in strings)
    assert result.pairs == pairs
    assert result.domain == f"all {pairs:,} pairs of datasets of at most 6 records, each one of 2 values"
    refuted = dpaudit.audit_stability(lambda xs: sum(xs) % 4, 2, relation=ADD, data="booleans()")
    assert (refuted.verdict, refuted.distance) == (Verdict.FAIL, "3")
    assert refuted.pair is not None
    assert sorted(map(len, (refuted.pair.left, refuted.pair.right))) == [3, 4]


def test_a_search_that_is_cut_short_proves_nothing() -> None:
    begun = Counter[int]()

    def slow(xs: list[int]) -> int:
        begun[0] += 1
        time.sleep(0.01)
        return len(xs)

    result = dpaudit.audit_stability(slow, 1, relation=ADD, data="booleans()", time=0.1)
    assert begun[0] < 60
    assert (result.verdict, result.reason_code) == (Verdict.PASS, StabilityCode.NOT_VIOLATED)
    assert not result.proved
    assert result.domain is None


def test_rounding_is_said_to_be_rounding() -> None:
    result = dpaudit.audit_stability(clipped, 1, relation=ADD, data="floats(0, 1, allow_nan=False)")
    assert (result.verdict, result.reason_code) == (Verdict.FAIL, StabilityCode.ROUNDING)
    assert result.excess_float is not None
    assert 0 < result.excess_float < 1e-12
    assert "by the rounding of floats" in result.reason
    assert result.exact_distance is not None
    assert result.exact_distance - 1 == Fraction(result.excess_float)
    # with room for it the claim is not refuted
    assert dpaudit.audit_stability(
        clipped, 1 + 1e-9, relation=ADD, data="floats(0, 1, allow_nan=False)", pairs=500
    ).verdict is Verdict.PASS


def test_a_real_violation_is_preferred_to_rounding() -> None:
    def off_by_little(xs: list[float]) -> float:
        # beyond rounding, though small: what a sum of rationals tells
        return sum(xs) * (1 + 2**-35)

    result = dpaudit.audit_stability(
        off_by_little, 1, relation=ADD, data="floats(0, 1, allow_nan=False, allow_infinity=False)"
    )
    assert result.reason_code is StabilityCode.EXCEEDS
    assert result.pair is not None
    assert len(result.pair.left) + len(result.pair.right) == 1


def test_the_order_of_floats_matters() -> None:
    given: dict[str, Any] = {"relation": ADD, "pair": ([1e16, 1.0, -1e16], [1e16, -1e16, 1.0])}
    with pytest.raises(PairError, match="2 add-remove-one steps apart"):
        dpaudit.audit_stability(total, 0.5, **given)
    result = dpaudit.audit_stability(total, 0.5, any_order=True, **given)
    assert (result.verdict, result.distance, result.reason_code) == (Verdict.FAIL, "1", StabilityCode.ROUNDING)


def test_nan_is_found() -> None:
    def naive(xs: list[float]) -> float:
        return float(np.clip(np.array(xs, dtype=float), 0, 5).sum())

    result = dpaudit.audit_stability(naive, 5, relation=ADD, data="floats(0, 5)")
    assert (result.verdict, result.reason_code) == (Verdict.FAIL, StabilityCode.INFINITE)
    assert (result.distance, result.distance_float, result.exact_distance) == ("infinite", None, None)
    assert "the output is NaN on D′ alone" in result.reason
    assert result.pair is not None
    assert result.pair.right == [{"float": "nan"}]


def test_lists_of_other_lengths_have_no_distance() -> None:
    result = dpaudit.audit_stability(list, 1, metric="l1", relation=ADD, data="integers(0, 3)")
    assert (result.verdict, result.reason_code) == (Verdict.FAIL, StabilityCode.INFINITE)
    assert "entries on D" in result.reason


def test_an_exception_on_one_dataset_is_a_violation() -> None:
    def inverse(xs: list[int]) -> float:
        return 1 / xs[0]

    result = dpaudit.audit_stability(inverse, 9, data="integers(0, 9)")
    assert (result.verdict, result.reason_code) == (Verdict.FAIL, StabilityCode.RAISES)
    assert "alone the call raised ZeroDivisionError: division by zero" in result.reason
    assert result.pair is not None
    assert sorted([*result.pair.left, *result.pair.right])[0] == 0


def test_a_function_that_always_raises() -> None:
    def broken(xs: list[int]) -> float:
        raise KeyError("age")

    with pytest.raises(MechanismError, match="raises KeyError on both datasets of every pair"):
        dpaudit.audit_stability(broken, 1, data="integers(0, 9)", pairs=50)


def test_randomness_is_refused() -> None:
    random = Random(0)

    def noisy(xs: list[int]) -> float:
        return sum(xs) + random.random()

    with pytest.raises(UsageError, match=r"noisy is not deterministic: on \[.*\] it returned .* and then"):
        dpaudit.audit_stability(noisy, 1, data="integers(0, 9)")


def test_rare_randomness_is_refused_before_it_accuses() -> None:
    calls = Counter[int]()

    def sometimes(xs: list[int]) -> float:
        calls[0] += 1
        return 100 if calls[0] == 200 else 0

    with pytest.raises(UsageError, match="is not deterministic"):
        dpaudit.audit_stability(sometimes, 1, data="integers(0, 9)")


def test_a_function_gets_a_copy() -> None:
    def emptied(xs: list[int]) -> int:
        found = sum(xs)
        xs.clear()
        return found

    assert dpaudit.audit_stability(emptied, 9, data="integers(0, 9)", pairs=200).verdict is Verdict.PASS


def test_frames_and_tables() -> None:
    pd = pytest.importorskip("pandas")

    def spent(df: Any) -> float:
        return float(df["spent"].clip(0, 10).sum())

    described = "frame(who=integers(0, 3), spent=integers(0, 10))"
    result = dpaudit.audit_stability(spent, 10, relation="users:who", data=described)
    assert result.verdict is Verdict.FAIL
    assert result.pair is not None
    assert result.pair.columns == ["who", "spent"]
    table = pd.DataFrame({"who": [1, 2, 2], "spent": [3, 10, 10]})
    found = dpaudit.audit_stability(spent, 10, relation="users:who", data=table)
    assert found.verdict is Verdict.FAIL
    assert dpaudit.audit_stability(spent, 10, relation=ADD, data=table, pairs=200).verdict is Verdict.PASS


def test_outputs_are_read() -> None:
    class Model:
        def __init__(self, mean: float) -> None:
            self.mean = mean

    def fit(xs: list[int]) -> Model:
        return Model(sum(xs) / 2)

    result = dpaudit.audit_stability(fit, 4, relation=ADD, data="integers(0, 9)", read=lambda model: model.mean)
    assert (result.verdict, result.distance) == (Verdict.FAIL, "9/2")
    with pytest.raises(OutputError, match="give metric l1"):
        dpaudit.audit_stability(fit, 4, relation=ADD, data="integers(0, 9)", read=lambda model: [model.mean])


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: dpaudit.audit_stability(total, data="integers(0, 9)"), UsageError, "What does total claim"),
        (lambda: dpaudit.audit_stability(total, 1), UsageError, "Which datasets should total be tested on"),
        (lambda: dpaudit.audit_stability(total, -1, data="booleans()"), ParameterError, "must be a number ≥ 0"),
        (lambda: dpaudit.audit_stability(total, math.nan, data="booleans()"), ParameterError, "must be a number ≥ 0"),
        (lambda: dpaudit.audit_stability(total, True, data="booleans()"), UsageError, "stability is a number such as"),
        (lambda: dpaudit.audit_stability(total, 1, data="booleans()", metric="l3"), UsageError, "metric must be abs"),
        (lambda: dpaudit.audit_stability(histogram, 1, data="booleans()"), OutputError, "a dict; give metric l1"),
        (lambda: dpaudit.audit_stability(lambda xs, rng: 0, 1, data="booleans()"), UsageError, "takes xs, rng"),
        (lambda: dpaudit.audit_stability("ADist", 1), UsageError, "is an algorithm of the catalogue"),
        (lambda: dpaudit.audit_stability(total, 1, data=3), UsageError, "data is a description such as"),
        (lambda: dpaudit.audit_stability(total, 1, data="booleans()", relation="users", any_order=True),
         ParameterError, "under replace-one and add-remove-one, not users"),
        (lambda: dpaudit.audit_stability(total, lambda d: "x", data="booleans()"), UsageError, "gives 'x' at 1"),
        (lambda: dpaudit.audit_stability(total, lambda d: 1 / 0, data="booleans()"), UsageError, "map of total raised"),
        (lambda: dpaudit.audit_stability(total, 1, pair=([1], [1])), PairError, "are equal"),
    ],
)
def test_what_cannot_be_is_one_sentence(call: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()


def test_assert_stable() -> None:
    assert dpaudit.assert_stable(total, 9, data="integers(0, 9)", pairs=100).verdict is Verdict.PASS
    with pytest.raises(dpaudit.StabilityViolation, match="The outputs are 6 apart, where 5 is allowed") as caught:
        dpaudit.assert_stable(total, 5, relation=ADD, data="integers(0, 9)")
    assert isinstance(caught.value, AssertionError)
    assert caught.value.result.distance == "6"
    with pytest.raises(TypeError, match="no truth value"):
        bool(caught.value.result)


def test_the_result_is_written_and_read(tmp_path: Path) -> None:
    result = dpaudit.audit_stability(clipped, 1, relation=ADD, data="floats(0, 1)")
    assert dpaudit.StabilityResult.from_json(result.to_json()) == result
    result.save(tmp_path / "r.json")
    value = json.loads((tmp_path / "r.json").read_text())
    assert (value["format_version"], value["verdict"], value["claim"]) == (
        "1.0", "fail", "clipped is 1-stable (absolute) under add-remove-one"
    )
    assert result.command == (
        "dpaudit.audit_stability(clipped, 1, relation='add-remove-one', data='floats(0, 1)', seed=0)"
    )
    assert result.location is not None
    assert result.location.name.endswith("clipped")


def test_the_same_seed_gives_the_same_result() -> None:
    first, second = (
        dpaudit.audit_stability(paired, 1, metric="symmetric", relation=ADD, data="integers(0, 9)", seed=3)
        for _ in range(2)
    )
    assert {**vars(first), "seconds": 0} == {**vars(second), "seconds": 0}


def test_the_command_line(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPAUDIT_STORE", str(tmp_path / "store.sqlite3"))
    Path("mine.py").write_text("def total(xs):\n    return sum(xs)\n")
    line = "stability mine.py:total --at-most 5 --relation add-remove-one --data 'integers(0, 9)'"
    said = typed(f"{line} --json r.json")
    assert said.code == 1
    assert "FAIL  total · stability\n  The outputs are 6 apart, where 5 is allowed." in said.out
    assert "outputs   D  0\n            D′ 6" in said.out
    value = json.loads(Path("r.json").read_text())
    assert value["command"] == f"dpaudit {line} --seed 0"
    again = typed(f"replay {value['replay']}")
    assert (again.code, "Reproduced: the same result." in again.err) == (1, True)
    Path("mine.py").write_text("def total(xs):\n    return 2 * sum(xs)\n")
    other = typed(f"replay {value['replay']}")
    assert (other.code, "NOT reproduced" in other.err) == (4, True)
    quiet = typed("stability mine.py:total --at-most 18 --data 'integers(0, 9)' --quiet --pairs 50")
    assert quiet.code == 0
    assert quiet.out.startswith("PASS · not refuted  total · stability: No violation was found on the 50 pairs")
    piped = typed("stability mine.py:total --at-most 18 --data 'integers(0, 9)' --pairs 50 --json -")
    assert json.loads(piped.out)["verdict"] == "pass"
    assert typed("stability mine.py:total --data 'integers(0, 9)'").code == 2


def test_a_request_is_written_and_read() -> None:
    request = StabilityRequest(
        "mine.py:f", at_most="1/3", metric="l1", relation="users", pair=(((0, 1),), ()), seed=3, read="mine.py:g"
    )
    assert StabilityRequest.from_json(request.to_json()) == request
    with pytest.raises(UsageError, match="cannot be serialised"):
        StabilityRequest(total, at_most="1").to_json()
    with pytest.raises(UsageError, match="not a request written by dpaudit"):
        StabilityRequest.from_json("{}")


def test_time_ends_a_search() -> None:
    result = run_stability(
        StabilityRequest(total, at_most="9", data="integers(0, 9)", pairs=10**9, time=0.2)
    )
    assert result.verdict is Verdict.PASS
    assert "pairs tried in 200 ms;" in result.reason


def test_a_call_that_never_returns_is_ended() -> None:
    def hangs(xs: list[int]) -> int:
        while sum(xs) == 9:
            pass
        return sum(xs)

    result = run_stability(StabilityRequest(hangs, at_most="9", data="integers(0, 9)", pairs=10**9, time=0.5))
    assert result.verdict is not Verdict.FAIL
    assert result.seconds < 30


def test_what_a_function_prints_is_no_part_of_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    def prints(xs: list[int]) -> int:
        print("a line")
        return sum(xs)

    assert dpaudit.audit_stability(prints, 9, data="integers(0, 9)", pairs=50).verdict is Verdict.PASS
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("a line\n") == 10


def test_a_function_that_exits() -> None:
    def exits(xs: list[int]) -> int:
        raise SystemExit(3)

    with pytest.raises(MechanismError, match=r"exits called sys.exit\(3\)"):
        dpaudit.audit_stability(exits, 9, data="integers(0, 9)")


@pytest.mark.parametrize("base", [ADD_REMOVE_ONE, REPLACE_ONE])
def test_unordered_relations_are_those_of_multisets(base: Any) -> None:
    relation = unordered(base)
    datasets = [records for n in range(4) for records in product((0, 1), repeat=n)]
    for left, right in product(datasets, repeat=2):
        orders = {
            distance for one in permutations(left) for other in permutations(right)
            if (distance := base.distance(one, other)) is not None
        }
        expected = None if not orders else 0 if left == right else max(1, min(orders))
        assert relation.distance(left, right) == expected
    for start in datasets:
        near = list(relation.neighbours(start, (0, 1)))
        assert len(near) == len(set(near))
        assert {d for d in near if len(d) < 4} == {d for d in datasets if relation.distance(start, d) == 1}
    with pytest.raises(ParameterError, match="not users"):
        unordered(USERS)


def test_every_report_of_one_audit(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.py").write_text("def total(xs):\n    return sum(xs)\n", encoding="utf-8")
    reports = "--html r.html --junit r.xml --sarif r.sarif --markdown r.md"
    said = typed(f"stability f.py:total --at-most 8 --data integers(0,9) --json r.json {reports}")
    assert said.code == 1
    page = Path("r.html").read_text(encoding="utf-8")
    assert "The outputs are 9 apart, where 8 is allowed." in page
    held = StabilityRecord.from_json(embedded_json(page))
    written = StabilityRecord.from_json(Path("r.json").read_text(encoding="utf-8"))
    assert held == replace(written, seconds=0.0)
    (case,) = ElementTree.parse("r.xml").findall("testsuite/testcase")
    assert [child.tag for child in case] == ["properties", "failure"]
    (run,) = json.loads(Path("r.sarif").read_text(encoding="utf-8"))["runs"]
    (finding,) = run["results"]
    assert finding["ruleId"] == "stability-claim-violated"
    place = finding["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("f.py", 1)
    assert "| ❌ **FAIL** | <code>total</code> |" in Path("r.md").read_text(encoding="utf-8")
    # what was written makes the same reports
    before = {name: Path(name).read_text(encoding="utf-8") for name in ("r.html", "r.xml", "r.sarif", "r.md")}
    assert typed(f"report r.json {reports}").code == 0
    assert before == {name: Path(name).read_text(encoding="utf-8") for name in before}
    assert "FAIL  total · stability" in typed("report r.json").out
    assert "has no --events" in typed("report r.json --events -").err
    again = typed(f"replay {written.replay} --markdown -")
    assert (again.code, again.out) == (1, before["r.md"])
    assert typed("stability f.py:total --at-most 8 --data integers(0,9) --html f.py").code == 2


@pytest.mark.parametrize("claim", [8, 9, 100])
def test_reports_of_any_verdict(claim: int) -> None:
    result = dpaudit.audit_stability(total, claim, data="integers(0, 9)", size=1)
    assert result.verdict.value.upper() in result.to_html()
    assert "<h2" not in result._repr_html_()
    refused = dpaudit.audit_stability(total, claim, data="booleans()", time=1e-9)
    assert refused.verdict is Verdict.INCONCLUSIVE
    for option in ("--html", "--junit", "--sarif", "--markdown", "--json"):
        assert stability_text(refused, option)
        assert stability_text(result, option)
    assert '"inconclusive"' in stability_text(refused, "--sarif")
    assert "<error " in stability_text(refused, "--junit")


def test_a_name_is_no_markup() -> None:
    def _(xs: list[int]) -> int:
        return sum(xs)

    _.__name__ = _.__qualname__ = "<b>@you</b> [x](http://y)"
    result = dpaudit.audit_stability(_, 1, data="integers(0, 9)")
    text = stability_text(result, "--markdown")
    assert "<b>" not in result.to_html() + text
    # in preformatted text nothing is read as Markdown
    assert "@you" not in re.sub(r"(?s)<pre>.*?</pre>", "", text)
    ElementTree.fromstring(stability_text(result, "--junit"))
