"""Requests: what is refused, and the cases and ids that they come to."""

from __future__ import annotations

from typing import Any

import audit_toys
import pytest
from audit_toys import PAIR, Choice, Response, response
from numpy.random import Generator
from typed_commands import Register

from dpaudit.adversary import Pair
from dpaudit.errors import DatasetError, PairError, ParameterError, UnknownNameError, UsageError
from dpaudit.language import ADD_REMOVE_ONE, REPLACE_ONE, Claim
from dpaudit.options import DEFAULT_RUNS
from dpaudit.plans.job import TESTS_OF_FOUND_PAIRS, GivenPairs
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.plan import Case, Plan
from dpaudit.plans.request import Request
from dpaudit.results.model import Verdict


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"seed": -1}, "--seed must be at least 0"),
        ({"seed": 1.5}, "--seed must be a whole number"),
        ({"seed": True}, "--seed must be a whole number"),
        ({"jobs": 0}, "--jobs must be at least 1"),
        ({"alpha": 0.5}, "below 0.5"),
        ({"alpha": 0.0}, "at least 1e-100"),
        ({"alpha": float("nan")}, "--alpha must be finite"),
        ({"runs": 0}, "--runs must be at least 1"),
        ({"time": 0.0}, "--time must be above 0"),
        ({"epsilon": -0.1}, "--epsilon must be at least 0"),
        ({"epsilon": "1"}, "--epsilon must be a number"),
        ({"delta": 1.1}, "--delta must lie in"),
        ({"data": "booleans()", "size": 0}, "--size must be at least 1"),
        ({"size": 3}, "it needs --data"),
        ({"groups": 1}, "--groups must be at least 2"),
        ({"pair": PAIR, "data": "booleans()"}, "not both"),
    ],
)
def test_refused(more: dict[str, Any], says: str) -> None:
    with pytest.raises((UsageError, ParameterError), match=says):
        Request(("Response",), **more)


def test_nothing_and_the_same_twice() -> None:
    with pytest.raises(UsageError, match="Nothing to check"):
        Request(())
    with pytest.raises(UsageError, match="a is given twice"):
        Request(("a", "b", "a"))


@pytest.mark.usefixtures("catalogue")
def test_a_catalogue_name_is_all_its_cases() -> None:
    jobs = jobs_of(Request(("Response", "Choice")))
    assert [(job.target.name, job.label) for job in jobs] == [
        ("Response", "exact and sampled"),
        ("Response", "every pair"),
        ("Response", "claims too little"),
        ("Choice", "three options"),
    ]
    assert [job.expected for job in jobs] == [Verdict.PASS, Verdict.PASS, Verdict.FAIL, Verdict.PASS]
    assert [job.claim for job in jobs] == [Claim(1.0), Claim(1.0), Claim(0.5), Claim(1.0)]
    assert [job.tests for job in jobs] == [1, 0, 1, 1]
    assert [job.runs for job in jobs] == [2_000, 0, 2_000, 2_000]
    assert jobs[1].scope is not None
    assert jobs[0].target.source == "Warner, Randomized response (1965), section 2"
    assert jobs[3].target.source == "audit_toys"


@pytest.mark.usefixtures("catalogue")
def test_names_are_exact() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean Response\?"):
        jobs_of(Request(("response",)))


@pytest.mark.usefixtures("catalogue")
def test_runs_do_not_make_an_exact_audit_a_sampled_one() -> None:
    jobs = jobs_of(Request(("Response",), runs=77))
    assert [job.runs for job in jobs] == [77, 0, 77]


@pytest.mark.usefixtures("catalogue")
@pytest.mark.parametrize("more", [{"epsilon": 2.0}, {"parameters": {"epsilon": 2.0}}, {"pair": PAIR}])
def test_an_expectation_holds_for_the_catalogue_s_own_question_only(more: dict[str, Any]) -> None:
    assert all(job.expected is None for job in jobs_of(Request(("Response",), **more)))


@pytest.mark.usefixtures("catalogue")
def test_the_claim_follows_the_parameters() -> None:
    jobs = jobs_of(Request(("Response",), parameters={"epsilon": 2.0}))
    assert [job.claim.epsilon for job in jobs] == [2.0, 2.0, 0.5]
    assert all(job.target.subject.epsilon == 2.0 for job in jobs)  # type: ignore[union-attr]


def test_the_claim_of_a_group_follows_the_parameters(register: Register) -> None:
    pair = Pair((0, 0), (1, 1))
    case = Case("groups", Choice(1.0, 2), (pair,), Claim(1.0).group(2))
    audit_toys.GROUPS = Plan("Choice", lambda: (case,))  # type: ignore[attr-defined]
    register([{"Choice": "audit_toys:Choice"}], [{"Choice": "audit_toys:GROUPS"}])
    (job,) = jobs_of(Request(("Choice",), parameters={"epsilon": 3.0}))
    assert job.claim == Claim(6.0, 0.0, REPLACE_ONE.group(2))


@pytest.mark.usefixtures("catalogue")
def test_a_pair_replaces_the_cases() -> None:
    (job,) = jobs_of(Request(("Response",), pair=((1,), (0,))))
    assert job.label == "given pairs"
    assert [(p.left, p.right, p.source) for p in job.pairs] == [((1,), (0,), "given")]
    assert isinstance(job, GivenPairs)


def test_a_given_claim_goes_over_the_mechanism_s() -> None:
    (job,) = jobs_of(Request((Response(),), epsilon=0.7, delta=0.1, relation="add-remove-one", pair=((), (1,))))
    assert job.claim == Claim(0.7, 0.1, ADD_REMOVE_ONE)
    (job,) = jobs_of(Request((Response(),), pair=PAIR))
    assert job.claim == Claim(1.0)


def test_a_function_needs_a_claim_and_a_pair() -> None:
    with pytest.raises(UsageError, match="What does response claim"):
        jobs_of(Request((response,), pair=PAIR))
    with pytest.raises(UsageError, match="Which datasets should response be tested on"):
        jobs_of(Request((response,), epsilon=1.0))
    (job,) = jobs_of(Request((response,), epsilon=1.0, pair=PAIR))
    assert job.runs == DEFAULT_RUNS
    assert job.expected is None


def test_pairs_must_be_related() -> None:
    with pytest.raises(PairError, match="are 2 replace-one steps apart"):
        jobs_of(Request((response,), epsilon=1.0, pair=((0, 0), (1, 1))))
    jobs_of(Request((response,), epsilon=1.0, pair=((0, 0), (1, 1)), relation="replace-one:2"))


def test_an_unrelated_pair_of_a_plan_names_its_algorithm(register: Register) -> None:
    case = Case("wrong", Choice(), (Pair((0, 0), (1, 1)),))
    audit_toys.WRONG = Plan("Choice", lambda: (case,))  # type: ignore[attr-defined]
    register([{"Choice": "audit_toys:Choice"}], [{"Choice": "audit_toys:WRONG"}])
    with pytest.raises(PairError, match="Choice: The two datasets"):
        jobs_of(Request(("Choice",)))


@pytest.mark.parametrize("relation", ["replace-one", "add-remove-one", "replace-one:3", "add-remove-one:2"])
def test_data_gives_related_pairs(relation: str) -> None:
    wanted = Request((response,), epsilon=1.0, data="integers(0, 9)", size=5, relation=relation, seed=4)
    (job,) = jobs_of(wanted)
    assert all(1 <= pair.distance(job.claim.relation) <= job.claim.relation.size for pair in job.pairs)
    sources = [pair.source for pair in job.pairs]
    assert set(sources) == {"random", "extreme"}
    assert job.tests == TESTS_OF_FOUND_PAIRS
    assert jobs_of(wanted)[0].pairs == job.pairs
    other = jobs_of(Request((response,), epsilon=1.0, data="integers(0, 9)", size=5, relation=relation, seed=5))
    assert other[0].pairs != job.pairs


def test_bad_data() -> None:
    with pytest.raises(DatasetError, match="is not a description of data"):
        jobs_of(Request((response,), epsilon=1.0, data="nothing"))


@pytest.mark.usefixtures("catalogue")
def test_parameters_that_nothing_takes() -> None:
    with pytest.raises(ParameterError, match="Response has no parameter 'epsilo'; did you mean epsilon"):
        jobs_of(Request(("Response",), parameters={"epsilo": 1.0}))
    with pytest.raises(UsageError, match="a function has no parameters"):
        jobs_of(Request((response,), epsilon=1.0, pair=PAIR, parameters={"x": 1}))
    # one of the algorithms takes it
    jobs = jobs_of(Request(("Response", "Choice"), parameters={"options": 4}))
    assert jobs[-1].target.subject == Choice(1.0, 4)


def test_ids_differ_where_anything_does_that_the_result_depends_on() -> None:
    base: dict[str, Any] = {"epsilon": 1.0, "pair": PAIR}

    def identifier(**more: Any) -> str:
        return jobs_of(Request((response,), **{**base, **more}))[0].replay

    changes: list[dict[str, Any]] = [
        {}, {"epsilon": 1.1}, {"delta": 0.1}, {"seed": 1}, {"alpha": 0.01}, {"runs": 5}, {"time": 9.0},
        {"pair": ((1,), (0,))}, {"relation": "replace-one:2"}, {"groups": 2},
    ]
    found = [identifier(**change) for change in changes]
    assert len(set(found)) == len(found)
    assert identifier(jobs=7) == found[0], "the number of workers changes nothing"


def test_ids_of_functions_do_not_depend_on_where_they_lie_in_memory() -> None:
    def made() -> Any:
        def same(dataset: Any, rng: Generator) -> int:
            return 0

        return same

    first, second = made(), made()
    assert repr(first) != repr(second)
    ids = {jobs_of(Request((f,), epsilon=1.0, pair=PAIR))[0].replay for f in (first, second)}
    assert len(ids) == 1


def test_two_functions_of_one_name_have_two_ids(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("def f(d, rng): return 0\n")
    jobs = jobs_of(Request(("a.py:f", "b.py:f"), epsilon=1.0, pair=PAIR))
    assert jobs[0].replay != jobs[1].replay


def test_a_claim_of_zcdp_stays_one_unless_numbers_are_given() -> None:
    (job,) = jobs_of(Request(("ExponentialZCDP",)))
    assert job.claim.rho == pytest.approx(1 / 8)
    assert job.expected is Verdict.PASS
    (job,) = jobs_of(Request(("ExponentialZCDP",), epsilon=0.2))
    assert job.claim.rho is None
    assert job.expected is None
