"""What `dp_audit` and the mark do to a test: it passes, or fails in a few lines.

Verdicts are of fixed seeds and repeat exactly. That a correct mechanism fails on one of them had probability at most
0.001 for each run of pytest when the seed was chosen.
"""

from __future__ import annotations

import pytest
from plugin_runs import FEW, Runs


@pytest.mark.slow
def test_an_engineers_path(runs: Runs) -> None:
    five_lines = """
def test_noisy_count(dp_audit):
    dp_audit(noisy_count, epsilon=1.0, data="integers(0, 1)", size=4)
"""
    broken = "def noisy_count(dataset, rng):\n    return sum(dataset) + rng.laplace(0, 0.5)\n"
    first = runs(broken + five_lines)
    assert first.outcomes == {"failed": 1}
    # the claim, the lower bound, a pair of the size that is asked for, the event, and the same again
    shown = ("1-DP under replace-one", "ε ≥ 1.", "D   [", "(4 records)", "P[output ", "again   pytest")
    assert all(said in first.text for said in shown)
    corrected = broken.replace("0.5", "1.0")
    second = runs(corrected + five_lines)
    assert second.outcomes == {"passed": 1}
    assert [audit["phrase"] for audit in second.audits] == ["PASS · not refuted"]


def test_what_comes_back_is_the_result(runs: Runs) -> None:
    ran = runs(
        """
def test_bound(dp_audit):
    result = dp_audit(respond, epsilon=1.0, delta=0.0, relation="replace-one", pair=PAIR)
    assert result.audits[0].verdict == "pass"
    assert 0.2 < result.audits[0].epsilon_lower <= 1.0
    assert result.command.startswith("pytest test_suite.py::test_bound ")
""",
        FEW,
    )
    assert ran.outcomes == {"passed": 1}


def test_a_refuted_claim_is_a_failed_assertion(runs: Runs) -> None:
    ran = runs(
        """
def test_it(dp_audit):
    with pytest.raises(AssertionError, match="ε ≥ "):
        dp_audit(respond_loudly, epsilon=1.0, pair=PAIR)
""",
        FEW,
    )
    assert ran.outcomes == {"passed": 1}


@pytest.mark.slow
def test_what_cannot_be_decided_does_not_pass(runs: Runs) -> None:
    ran = runs(
        """
def test_refused(dp_audit):
    dp_audit(respond, epsilon=9.0, pair=PAIR)

def test_allowed(dp_audit):
    assert dp_audit(respond, epsilon=9.0, pair=PAIR, allow_inconclusive=True).audits[0].verdict == "inconclusive"

@pytest.mark.dp(allow_inconclusive=True)
def test_allowed_by_the_mark(dp_audit):
    dp_audit(respond, epsilon=9.0, pair=PAIR)
""",
        FEW,
    )
    assert ran.outcomes == {"failed": 1, "passed": 2}
    assert "raise runs (--dp-runs) to at least" in ran.text
    assert [audit["phrase"] for audit in ran.audits] == ["INCONCLUSIVE"] * 3


def test_a_mechanism_that_raises_is_named(runs: Runs) -> None:
    ran = runs(
        """
def looks_up(dataset, rng):
    return {}[dataset[0]]

def test_it(dp_audit):
    dp_audit(looks_up, epsilon=1.0, pair=PAIR, allow_inconclusive=True)
"""
    )
    assert ran.outcomes == {"failed": 1}
    assert "MechanismError: looks_up raised KeyError" in ran.text
    assert ">       dp_audit(looks_up, epsilon=1.0" in ran.text, "the user's line is shown"
    assert "engine.py" not in ran.text, "and none of dpaudit's"
    assert "auditor.py" not in ran.text


MISTAKES = {
    "dp_audit(respond, pair=PAIR)": "What does respond claim? Give epsilon",
    "dp_audit(respond, epsilon=1.0)": "Which datasets should respond be tested on? Give pair=",
    "dp_audit(respond, epsilon=1.0, pairs=PAIR)": "dp_audit has no argument 'pairs'; did you mean pair?",
    "dp_audit(respond, epsilon=1.0, wood=PAIR)": "dp_audit has no argument 'wood'; it takes epsilon, delta,",
    "dp_audit(respond, epsilon=1.0, pair=PAIR, seed=1)": "dp_audit takes no seed: it is set for the session: --dp-seed",
    "dp_audit(respond, epsilon=1.0, pair=[0, 1, 1])": "pair must be two datasets, such as",
    "dp_audit(respond, epsilon=1.0, pair=([0, 1], [1, 0]))": "set their relation with relation.",
    "dp_audit(respond, epsilon=-1.0, pair=PAIR)": "epsilon must be",
    "dp_audit(respond, epsilon=1.0, relation='replace', pair=PAIR)": "replace",
    "dp_audit(respond, epsilon=1.0, data=5)": "data is a description such as",
    "dp_audit(respond, epsilon=1.0, pair=PAIR, size=3)": "size sets the number of records of found pairs; it needs",
    "dp_audit(lambda rows: 0, epsilon=1.0, pair=PAIR)": "dpaudit calls it as f(dataset, rng)",
    "dp_audit('NoSuchThing')": "There is no algorithm called 'NoSuchThing'.",
}


def test_mistakes_are_one_sentence_each(runs: Runs) -> None:
    tests = [f"def test_{i}(dp_audit):\n    {line}\n" for i, line in enumerate(MISTAKES)]
    ran = runs("\n".join(tests))
    assert ran.outcomes == {"failed": len(MISTAKES)}
    for line, said in MISTAKES.items():
        _, _, after = ran.text.partition(f">       {line}\n")
        shown = after.splitlines()[0]
        assert said in shown, (line, shown)
    assert "auditor.py" not in ran.text
    assert not ran.audits


@pytest.mark.slow
def test_marks_give_defaults_and_the_closest_wins(runs: Runs) -> None:
    ran = runs(
        """
pytestmark = pytest.mark.dp(epsilon=3.0, pair=PAIR, min_power=float("inf"))

def test_of_the_module(dp_audit):
    dp_audit(respond_loudly)

@pytest.mark.dp(epsilon=2.0)
class TestClass:
    @pytest.mark.dp(epsilon=1.0)
    def test_own(self, dp_audit):
        assert dp_audit(respond).audits[0].claim.epsilon == 1.0

    def test_of_the_class(self, dp_audit):
        assert dp_audit(respond).audits[0].claim.epsilon == 2.0

    def test_the_call_wins(self, dp_audit):
        assert dp_audit(respond, epsilon=1.5).audits[0].claim.epsilon == 1.5

    @pytest.mark.dp(data="integers(0, 1)", size=1)
    def test_data_replaces_a_pair(self, dp_audit):
        assert dp_audit(respond).audits[0].pair.source == 'found'

    @pytest.mark.dp(data="integers(0, 1)", size=1)
    def test_a_pair_replaces_data(self, dp_audit):
        assert dp_audit(respond, pair=PAIR).audits[0].pair.source == 'given'

def test_plain():
    "no audit, and none wanted: the mark is the module's"
""",
        FEW,
    )
    assert ran.outcomes == {"passed": 7}, ran.text


def test_a_marked_test_that_audits_nothing_fails(runs: Runs) -> None:
    ran = runs(
        """
@pytest.mark.dp(epsilon=1.0)
def test_silent():
    pass

@pytest.mark.dp(epsilon=1.0)
def test_forgot(dp_audit):
    pass

@pytest.mark.dp(epsilon=1.0)
def test_skipped(dp_audit):
    pytest.skip("not today")
"""
    )
    assert ran.outcomes == {"failed": 2, "skipped": 1}
    assert "test_silent is marked dp and audited nothing: take the fixture dp_audit" in ran.text


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("epsilom=1.0", "@pytest.mark.dp has no argument 'epsilom'; did you mean epsilon?"),
        ("1.0", "@pytest.mark.dp takes keyword arguments, such as epsilon=1.0, and not 1.0"),
        ("respond, epsilon=1.0", "and not respond; the function to audit is given to dp_audit."),
        ("alpha=0.1", "@pytest.mark.dp takes no alpha: it is shared over all tests"),
    ],
)
def test_mistakes_in_a_mark(runs: Runs, mark: str, said: str) -> None:
    ran = runs(f"@pytest.mark.dp({mark})\ndef test_it(dp_audit):\n    dp_audit(respond, epsilon=1.0, pair=PAIR)\n")
    assert ran.outcomes == {"errors": 1}
    assert said in ran.text
    assert "Traceback" not in ran.text
    assert "plugin" not in ran.text.partition("ERRORS")[2], "no line of the plugin's own is shown"


def test_the_fixture_is_asked_for_too_late(runs: Runs) -> None:
    ran = runs("def test_it(request):\n    request.getfixturevalue('dp_audit')\n")
    assert ran.outcomes == {"failed": 1}
    assert "has no share of α; mark it with @pytest.mark.dp." in ran.text


@pytest.mark.slow
def test_in_fixtures_and_classes(runs: Runs) -> None:
    ran = runs(
        """
import unittest

@pytest.fixture
def claimed(dp_audit):
    return dp_audit(respond, epsilon=1.0, pair=PAIR)

def test_by_a_fixture(claimed):
    assert claimed.audits

class TestOld(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _take(self, dp_audit):
        self.dp_audit = dp_audit

    def test_it(self):
        self.dp_audit(respond, epsilon=1.0, pair=PAIR)
""",
        FEW,
    )
    assert ran.outcomes == {"passed": 2}
    assert len(ran.audits) == 2


@pytest.mark.slow
def test_mechanisms_names_and_groups(runs: Runs) -> None:
    ran = runs(
        """
import dataclasses, math
from dpaudit.language import Bernoulli, Claim, Mechanism

@dataclasses.dataclass(frozen=True)
class Response(Mechanism):
    epsilon: float = 1.0

    @property
    def claim(self):
        return Claim(self.epsilon)

    def run(self, dataset):
        lie = yield Bernoulli(1 / (1 + math.exp(self.epsilon)))
        return dataset[0] != lie

def test_its_own_claim(dp_audit):
    dp_audit(Response(1.0), pair=PAIR)

def test_by_law(dp_audit):
    dp_audit(Response(1.0), epsilon=0.999, pair=PAIR)

def test_groups(dp_audit):
    found = dp_audit(respond, epsilon=1.0, data="integers(0, 1)", size=2, groups=2, min_power=float("inf"))
    assert len(found.audits) == 1

def test_of_the_catalogue(dp_audit):
    dp_audit("LaplaceMechanism", runs=2000)
""",
        FEW,
    )
    assert ran.outcomes == {"passed": 3, "failed": 1}, ran.text
    bounds = {audit["test"].rpartition("::")[2]: audit["bound"] for audit in ran.audits}
    assert bounds["test_by_law"] == "= 1"


def test_recorded_outputs_are_audited(runs: Runs) -> None:
    ran = runs(
        """
RNG = np.random.default_rng(1)
LEFT, RIGHT = RNG.laplace(1, 1, 600), RNG.laplace(0, 1, 500)

@pytest.mark.dp(epsilon=1.0, pair=PAIR, min_power=4)
def test_kept(dp_samples):
    result = dp_samples(LEFT, RIGHT)
    assert result.audits[0].runs == 1100

def test_refuted(dp_samples):
    dp_samples(LEFT, RIGHT, epsilon=0.1)

def test_unclaimed(dp_samples):
    dp_samples(LEFT, RIGHT)

def test_mistyped(dp_samples):
    dp_samples(LEFT, RIGHT, epsilon=1.0, pairs=True)
""",
    )
    assert ran.outcomes == {"passed": 1, "failed": 3}
    assert "600 recorded outputs" in ran.text
    assert "()" not in ran.text
    assert "What is claimed of these outputs?" in ran.text
    assert "dp_samples has no argument 'pairs'; did you mean paired?" in ran.text


def test_stability(runs: Runs) -> None:
    ran = runs(
        """
def total(xs):
    return sum(xs)

def test_holds(dp_stable):
    assert dp_stable(total, 9, data="integers(0, 9)").distance == "9"
    dp_stable(total, 9, relation="add-remove-one", data="integers(0, 9)")

def test_violated(dp_stable):
    dp_stable(total, 8, data="integers(0, 9)")

def test_users(dp_stable):
    dp_stable(len, 2, relation="users", data="tuples(integers(0, 2), integers(0, 9))")

def test_mistakes(dp_stable):
    for words in ({"epsilon": 1.0}, {"metrik": "l1"}, {"seed": 1}, {"metric": "l7", "data": "booleans()"}, {}):
        with pytest.raises(DpauditError) as caught:
            dp_stable(total, 8, **words)
        print(caught.value)
    assert 0
from dpaudit.errors import DpauditError
""",
        "--junitxml=r.xml",
    )
    assert ran.outcomes == {"passed": 1, "failed": 3}
    assert "The outputs are 9 apart, where 8 is allowed." in ran.text
    assert "::test_violated --dp-seed=0" in ran.text
    assert "dp: α" not in ran.text, "it takes no share"
    for said in (
        "dp_stable has no argument 'epsilon'; it takes metric, ", "did you mean metric?", "dp_stable takes no seed",
        "metric must be absolute", "Which datasets should total be tested on? Give data 'integers(0, 100)'",
    ):  # fmt: skip
        assert said in ran.text
    assert "stable.py" not in ran.text, "no line of the plugin's own is shown"
