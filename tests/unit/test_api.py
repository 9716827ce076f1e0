"""`dpaudit.audit`, and the contract of the JSON that `--json -` writes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import audit_toys
import numpy as np
import pytest
from audit_toys import PAIR, Response, response, responses
from numpy.random import Generator
from typed_commands import Typed

import dpaudit
from dpaudit.adversary import Pair
from dpaudit.api.functions import Settings
from dpaudit.cli import run
from dpaudit.errors import DatasetError, DpauditError, PairError, UsageError
from dpaudit.language import ADD_REMOVE_ONE, REPLACE_ONE, Multiset
from dpaudit.plans.command import command_line
from dpaudit.plans.plan import Case, Plan
from dpaudit.plans.request import Request
from dpaudit.results.datasets import as_dataset, dataset_from_json, dataset_to_json, parse_dataset
from dpaudit.results.model import Result, Verdict
from dpaudit.results.reasons import TooFewSamples

CONTRACT = [
    "name", "verdict", "evidence", "claim", "epsilon_lower", "epsilon_exact", "detectable_epsilon", "confidence",
    "runs", "pair", "event", "replay", "expected",
]  # fmt: skip


def test_a_function() -> None:
    result = dpaudit.audit(responses, epsilon=1.0, pair=([0], [1]), runs=20_000)
    assert isinstance(result, Result)
    assert result.audits[0].verdict is Verdict.PASS
    assert dpaudit.audit(responses, epsilon=0.5, pair=([0], [1]), runs=20_000).audits[0].verdict is Verdict.FAIL


@pytest.mark.slow
def test_a_lambda_a_mechanism_and_a_name(catalogue: None) -> None:
    assert dpaudit.audit(lambda d, rng: 0, epsilon=0.0, pair=PAIR, runs=500).audits[0].name == "<lambda>"
    assert dpaudit.audit(Response(2.0), pair=PAIR, runs=500).audits[0].claim.epsilon == 2.0
    assert len(dpaudit.audit("Response").audits) == 3
    changed = dpaudit.audit(Response(2.0), pair=PAIR, runs=500, parameters={"epsilon": 1.0})
    assert changed.audits[0].epsilon_exact == pytest.approx(1.0)


@pytest.mark.slow
def test_every_setting_reaches_the_request() -> None:
    result = dpaudit.audit(
        response, epsilon=1.0, delta=0.1, relation="replace-one:2", data="booleans()", size=3, runs=500, time=60.0,
        alpha=0.01, seed=9, jobs=2,
    )
    assert result.seed == 9
    assert result.alpha == 0.01
    assert result.timings.jobs == 2
    assert result.audits[0].claim.group == 2
    assert result.command == (
        "dpaudit.audit(response, epsilon=1.0, delta=0.1, relation='replace-one:2', data='booleans()', size=3, "
        "runs=500, time=60.0, alpha=0.01, seed=9)"
    )


def test_the_same_settings_for_functions_that_pass_them_on() -> None:
    given = inspect.signature(dpaudit.audit).parameters.values()
    assert [p.name for p in given if p.kind is p.KEYWORD_ONLY] == list(Settings.__annotations__)


def test_errors_are_of_one_tree() -> None:
    calls: tuple[Callable[[], Result], ...] = (
        lambda: dpaudit.audit(response, pair=PAIR),
        lambda: dpaudit.audit(response, epsilon=-1.0, pair=PAIR),
        lambda: dpaudit.audit(response, epsilon=1.0, pair=([0], [0])),
        lambda: dpaudit.audit(response, epsilon=1.0, pair=(3, [0])),
        lambda: dpaudit.audit("NoSuchName"),
        lambda: dpaudit.audit("nothing.py:f", epsilon=1.0, pair=PAIR),
        lambda: dpaudit.audit(3, epsilon=1.0, pair=PAIR),  # type: ignore[arg-type]
    )
    for call in calls:
        with pytest.raises(DpauditError):
            call()
    with pytest.raises(PairError):
        dpaudit.audit(response, epsilon=1.0, pair=([0, 1], [1, 0]))


def test_an_interrupt_is_raised() -> None:
    def interrupts(dataset: Any, rng: Generator) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        dpaudit.audit(interrupts, epsilon=1.0, pair=PAIR)
    assert isinstance(raised.value, dpaudit.Interrupted)
    assert raised.value.result.interrupted
    assert str(raised.value) == "interrupted before any audit had ended"
    assert len(raised.value.result) == 0


def test_an_interrupt_holds_what_had_ended(catalogue: None, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Response.run
    runs = iter(range(10**6))

    def run(self: Response, dataset: Any) -> Any:
        if self.claim == dpaudit.Claim(0.5) and next(runs) > 3:
            raise KeyboardInterrupt
        return real(self, dataset)

    monkeypatch.setattr(Response, "run", run)
    with pytest.raises(dpaudit.Interrupted, match=r"2 audits had ended, and are in \.result") as raised:
        dpaudit.audit("Response")
    assert [one.verdict for one in raised.value.result] == [Verdict.PASS, Verdict.PASS, Verdict.INCONCLUSIVE]


@pytest.mark.slow(only=["claim5-*"])
@pytest.mark.parametrize(
    ("claim", "more", "tested"),
    [
        (1.0, {}, dpaudit.Claim(1.0)),
        (np.float64(1), {"relation": "add-remove-one"}, dpaudit.Claim(1.0, relation=ADD_REMOVE_ONE)),
        (1, {"relation": "replace-one:2"}, dpaudit.Claim(1.0, relation=REPLACE_ONE.group(2))),
        ((1.0, 1e-6), {}, dpaudit.Claim(1.0, 1e-6)),
        (dpaudit.Claim(1.0, 0.1, ADD_REMOVE_ONE), {}, dpaudit.Claim(1.0, 0.1, ADD_REMOVE_ONE)),
        (dpaudit.Claim.zcdp(0.5, epsilon=1.0), {}, dpaudit.Claim.zcdp(0.5, epsilon=1.0)),
    ],
)
def test_a_claim_in_its_forms(claim: Any, more: dict[str, Any], tested: dpaudit.Claim) -> None:
    pair = ([0], [0, 1]) if tested.relation == ADD_REMOVE_ONE else ([0], [1])
    record = dpaudit.audit(lambda data, rng: 0, claim, pair=pair, runs=300, **more).claim
    assert (record.epsilon, record.delta, record.statement) == (tested.epsilon, tested.delta, str(tested))


def test_a_claim_of_numbers_is_the_whole_claim_of_a_mechanism() -> None:
    mechanism = Response(2.0)
    assert dpaudit.audit(mechanism, 3.0, pair=PAIR, runs=300).claim.statement == "3-DP under replace-one"
    assert dpaudit.audit(mechanism, pair=PAIR, runs=300).claim.epsilon == 2.0


@pytest.mark.slow
def test_zcdp_of_a_function_is_refuted_and_not_refuted() -> None:
    # Gaussian noise of deviation 1 on a count is 1/2-zCDP. A true claim fails with probability at most 0.001.
    def count(data: list[int], rng: Generator, size: int) -> Any:
        return sum(data) + rng.normal(0, 1, size)

    found = [
        dpaudit.audit(count, dpaudit.Claim.zcdp(rho, epsilon=1.0), pair=([0, 1], [0, 0]), runs=20_000).verdict
        for rho in (0.5, 0.2)
    ]
    assert found == [Verdict.PASS, Verdict.FAIL]


@pytest.mark.parametrize(
    ("claim", "more", "says"),
    [
        (1.0, {"epsilon": 1.0}, "given twice"),
        (1.0, {"delta": 0.1}, "given twice"),
        (dpaudit.Claim(1.0), {"relation": "replace-one"}, "given twice"),
        ("1", {}, "A claim is ε"),
        (True, {}, "A claim is ε"),
        ((1.0,), {}, "A claim is ε"),
        ((1.0, 2.0), {}, "^delta must lie in"),
        (1.0, {"pair": None, "data": "integers(0, 0)"}, r"^data 'integers\(0, 0\)' is not a description of data"),
        (-1.0, {}, "at least 0"),
        (None, {}, "What does response claim"),
        (1.0, {"pair": None}, "Which datasets"),
        (1.0, {"pair": [[0]]}, "pair must hold two datasets"),
        (1.0, {"pair": None, "data": 3}, "or a Hypothesis strategy, not 3"),
    ],
)
def test_what_is_refused_in_pythons_words(claim: Any, more: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        dpaudit.audit(response, claim, **{"pair": PAIR, "runs": 300, **more})


def test_reasons_are_in_pythons_words_and_values_beside_them() -> None:
    # a δ that 300 runs can never show
    few = dpaudit.audit(response, 1e-9, pair=PAIR, runs=2)
    assert "--" not in few.audits[0].reason, few.audits[0].reason
    assert "runs" in few.audits[0].reason
    assert few.audits[0].reason_code == "too_few_samples"
    values: dict[str, Any] = few.audits[0].reason_values
    assert TooFewSamples(**values).sentence("Python") == few.audits[0].reason
    assert " raise --runs to at least" in TooFewSamples(**values).sentence("command line")
    assert " raise runs (--dp-runs) to at least" in TooFewSamples(**values).sentence("pytest")


@pytest.mark.slow
def test_the_call_is_what_gives_the_same_result_again() -> None:
    result = dpaudit.audit(responses, (1.0, 0.0), pair=([0], [1]), runs=2_000, seed=4, jobs=1)
    assert result.command == "dpaudit.audit(responses, (1.0, 0.0), pair=([0], [1]), runs=2000, seed=4)"
    again = eval(result.command, {"dpaudit": dpaudit, "responses": responses})
    assert again.audits == result.audits
    huge = dpaudit.audit(responses, 1.0, pair=([0] * 500, [0] * 499 + [1]), runs=300)
    assert huge.command == "dpaudit.audit(responses, 1.0, pair=…, runs=300, seed=0)"
    shown = str(result)
    assert "Reproduce with: dpaudit.audit(responses, (1.0, 0.0)" in shown

    class Responder:
        def __call__(self, data: list[int], rng: Generator, size: int) -> Any:
            return responses(data, rng, size)

    of_object = dpaudit.audit(Responder(), 1.0, pair=([0], [1]), runs=300)
    assert of_object.command == "dpaudit.audit(<Responder object>, 1.0, pair=([0], [1]), runs=300, seed=0)"
    assert "dpaudit replay" not in shown + result.to_html(), "nothing was stored, so nothing can be replayed"


def test_every_function_returns_a_result(catalogue: None) -> None:
    for result, call in (
        (dpaudit.verify(Response(1.0), domain=2, size=1), "dpaudit.verify(Response("),
        (dpaudit.worst(Response(1.0), data="integers(0, 1)", size=1), "dpaudit.worst(Response("),
    ):
        assert isinstance(result, dpaudit.Result)
        assert result.command.startswith(call)
        assert result.verdict is Verdict.PASS


# --- datasets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "dataset"),
    [
        ([0, 1], (0, 1)),
        (np.array([0, 1]), (0, 1)),
        (np.array([[0.5, 1], [2, 3]]), ((0.5, 1.0), (2.0, 3.0))),
        ([np.int64(3), np.float32(0.5), np.bool_(True)], (3, 0.5, True)),
        ([[1, [2]], (3,)], ((1, (2,)), (3,))),
        ((v for v in "ab"), ("a", "b")),
        (Multiset.of((1, 1)), Multiset.of((1, 1))),
        ([], ()),
    ],
)
def test_datasets_of_python(given: Any, dataset: Any) -> None:
    found = as_dataset(given)
    assert found == dataset
    assert all(type(v) in (int, float, bool, tuple, str) for v in found)


@pytest.mark.parametrize("given", [3, None, [{}], [{1}], [[{"a": 1}]]])
def test_no_datasets(given: Any) -> None:
    with pytest.raises(DatasetError):
        as_dataset(given)


@pytest.mark.parametrize(
    "text", ["[]", "[0, 1.5, true, null, \"a\", [1, [2, 3]]]", '{"multiset": [[0, 3], [1, 745000]]}', "[1e300]"]
)
def test_json_datasets_come_back(text: str, tmp_path: Path) -> None:
    dataset = parse_dataset(text)
    assert dataset_to_json(dataset) == json.loads(text)
    assert dataset_from_json(dataset_to_json(dataset)) == dataset
    (tmp_path / "d.json").write_text(text)
    assert parse_dataset(f"@{tmp_path / 'd.json'}") == dataset


# --- the contract -----------------------------------------------------------------------------------------------


USER = "import numpy as np\ndef f(d, rng, size): return np.where(rng.random(size) < 0.75, d[0], 1 - d[0])\n"


@pytest.mark.parametrize(
    ("line", "code", "verdict", "evidence"),
    [
        ("u.py:f --epsilon 0.5 --pair [0] [1]", 1, "fail", "sampled"),
        ("u.py:f --epsilon 2 --pair [0] [1]", 0, "pass", "sampled"),
        ("u.py:f --epsilon 30 --pair [0] [1]", 3, "inconclusive", "sampled"),
        ("Choice", 0, "pass", "exact"),
    ],
)
@pytest.mark.usefixtures("catalogue")
def test_the_contract(typed: Typed, tmp_path: Path, line: str, code: int, verdict: str, evidence: str) -> None:
    (tmp_path / "u.py").write_text(USER)
    said = typed(f"check {line} --runs 5000 --seed 3 --json -")
    assert said.code == code
    result = json.loads(said.out)
    assert list(result)[:4] == ["format_version", "seed", "alpha", "command"]
    assert result["format_version"].split(".")[0] == "2"
    assert (result["seed"], result["alpha"]) == (3, 0.001)
    (audit,) = result["audits"]
    assert list(audit)[: len(CONTRACT)] == CONTRACT
    assert (audit["verdict"], audit["evidence"]) == (verdict, evidence)
    assert {"epsilon", "delta", "relation"} <= set(audit["claim"])
    assert audit["confidence"] == 0.999
    assert set(audit["pair"]) == {"label", "source", "distance", "left", "right", "columns"}
    assert set(audit["event"]) == {"description", "spec"}
    assert set(audit["event"]["spec"]) == {"atoms", "ranges", "intervals", "weights"}
    assert 0 < audit["runs"] <= 2 * 5000
    assert (audit["runs"] == 2 * 5000) is (verdict != "fail"), "a refutation stops early"
    assert audit["expected"] == ("pass" if line == "Choice" else None)
    assert (audit["epsilon_exact"] is None) == (line != "Choice")
    assert audit["epsilon_lower"] >= 0
    assert len(audit["replay"]) == 12
    assert f"dpaudit replay {audit['replay']}" in said.err, "the result is shown on stderr, stdout is taken"


def test_json_on_stdout_is_what_the_file_gets(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "u.py").write_text(USER)
    line = "check u.py:f --epsilon 2 --pair [0] [1] --runs 500"
    out = json.loads(typed(f"{line} --json - -q").out)
    typed(f"{line} --json r.json")
    kept = json.loads((tmp_path / "r.json").read_text())
    del out["timings"], kept["timings"]
    assert out == kept


@pytest.mark.usefixtures("catalogue")
@pytest.mark.parametrize(
    ("line", "only"),
    [
        ("check Response", "privacy"),
        ("check Response --privacy", "privacy"),
        ("check Response --utility", "utility"),
        ("check Response --privacy --utility", None),
        ("check --all", None),
        ("check --all --privacy", "privacy"),
        ("check --all --utility", "utility"),
    ],
)
def test_names_are_audited_for_privacy_and_the_catalogue_for_both(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, line: str, only: str | None
) -> None:
    seen: list[Request] = []
    monkeypatch.setattr(run, "finish", lambda request, outputs, **more: seen.append(request))
    typed(line)
    (request,) = seen
    assert request.only == only
    words = command_line(request).split()
    parts = [word for word in ("--privacy", "--utility") if word in words]
    assert parts == {"privacy": [], "utility": ["--utility"], None: ["--privacy", "--utility"]}[only]


@pytest.mark.slow(only=["check Response --expect-0", "check Response Choice --expect-0"])
@pytest.mark.usefixtures("catalogue")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("check Response", 1),
        ("check Response --expect", 0),
        ("check Choice --expect", 0),
        ("check Response Choice --expect", 0),
        ("check Response --expect --epsilon 0.5", 1),
    ],
)
def test_expected_verdicts(typed: Typed, line: str, code: int) -> None:
    assert typed(line).code == code


@pytest.mark.parametrize(
    ("claimed", "expected", "code"),
    [
        (1.0, Verdict.PASS, 0),
        (1.0, Verdict.FAIL, 1),
        (1.0, Verdict.INCONCLUSIVE, 1),
        (0.5, Verdict.FAIL, 0),
        (0.5, Verdict.PASS, 1),
        (None, Verdict.INCONCLUSIVE, 0),
        (None, Verdict.PASS, 3),
    ],
)
def test_what_is_not_as_expected(
    typed: Typed, register: Any, monkeypatch: pytest.MonkeyPatch, claimed: float | None, expected: Verdict, code: int
) -> None:
    mechanism = Response(1.0, 30.0 if claimed is None else claimed)
    case = Case("only", mechanism, (Pair(*PAIR),), runs=500, exact=claimed is not None, expected=expected)
    monkeypatch.setattr(audit_toys, "ONLY", Plan("Response", lambda: (case,)), raising=False)
    register([{"Response": "audit_toys:Response"}], [{"Response": "audit_toys:ONLY"}])
    assert typed("check Response --expect").code == code


@pytest.mark.usefixtures("catalogue")
def test_list_and_show(typed: Typed, register: Any) -> None:
    register([{"Response": "audit_toys:Response"}], [{"Response": "audit_toys:RESPONSE"}])
    assert "  Response  " in typed("list randomised response").out
    assert "Randomised response" in typed("show Response").out
    said = typed("show Response --verbose")
    assert said.code == 0
    assert all(f" {parameter}" in said.out for parameter in ("epsilon", "claimed"))
    assert "claims too little: 0.5-DP under replace-one, expected fail" in said.out


def test_a_name_in_the_wrong_case_is_no_guess(typed: Typed, catalogue: None) -> None:
    with pytest.raises(UsageError, match="Did you mean Response"):
        dpaudit.audit("response")
