"""`dpaudit verify`: proofs and refutations over small scopes, from the command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typed_commands import Typed

import dpaudit
from dpaudit.engine import orchestrator
from dpaudit.errors import UsageError
from dpaudit.language import Bernoulli, Claim, Mechanism, Multiplicity
from dpaudit.plans.request import Request, VerifyMode
from dpaudit.results.model import EvidenceKind, Verdict
from dpaudit_algorithms.foundations.a_dist import ADist

COIN = '''
import math
from dataclasses import dataclass
from dpaudit.language import Categorical, Claim, Mechanism

@dataclass(frozen=True)
class Coin(Mechanism):
    """Says whether there is a 1, truthfully with probability 1 - lie."""
    lie: float = 0.25

    @property
    def claim(self):
        return Claim(math.log(3))

    def run(self, dataset):
        truth = any(record == 1 for record in dataset)
        return Categorical((truth, not truth), (1 - self.lie, self.lie))

def plain(dataset, rng):
    return 0
'''


@pytest.fixture
def coin(tmp_path: Path) -> str:
    path = tmp_path / "coin.py"
    path.write_text(COIN)
    return f"{path}:Coin"


def verified(target: Any, domain: int | None, size: int, groups: int = 1, **more: Any) -> Any:
    return orchestrator.run(Request((target,), verify=VerifyMode(domain, size, groups), **more)).audits


@pytest.mark.slow
def test_a_claim_that_holds_is_proved(typed: Typed) -> None:
    done = typed("verify", "LearnThresholds", "--domain", "4", "--size", "3", "--groups", "2", "-v")
    assert done.code == 0
    assert done.out.count("PASS · proved  LearnThresholds") == 2
    assert "all 1,008 replace-one pairs of multisets of 3 records from {" in " ".join(done.out.split())
    assert "The worst pair needs ε ≥ " in " ".join(done.out.split())


def test_a_claim_that_fails_shows_its_smallest_pair() -> None:
    (audit,) = verified("ADist", 2, 8)
    assert audit.verdict is Verdict.FAIL
    assert audit.evidence is EvidenceKind.EXHAUSTIVE
    assert audit.proof is not None
    assert audit.proof.epsilon_low == pytest.approx(1.851525, abs=1e-6)
    assert audit.proof.epsilon_low <= audit.proof.epsilon_high <= audit.proof.epsilon_low + 1e-14
    (note,) = audit.notes
    enough = "3 records are enough to refute the claim: {0×3} against {0×2, 1×1} needs ε ≥ 1.5298"
    assert note.sentence.startswith(enough)
    # with two records nothing is refuted
    assert verified("ADist", 2, 2)[0].verdict is Verdict.PASS
    assert verified("ADist", 2, 3)[0].verdict is Verdict.FAIL


def test_the_corrected_version_is_proved() -> None:
    (audit,) = verified("ADistCorrected", 2, 8)
    assert audit.verdict is Verdict.PASS
    assert audit.proof is not None
    assert audit.proof.epsilon_most < 1


def test_equality_is_said(coin: str) -> None:
    (audit,) = verified(coin, 2, 3)
    assert audit.verdict is Verdict.PASS
    assert "(met with equality)" in audit.reason


def test_a_mechanism_of_ones_own_and_a_parameter(typed: Typed, coin: str) -> None:
    line = ["--data", "sampled_from([0, 1, 5])", "--size", "2", "--param", "lie=0.2", "--groups", "1"]
    done = typed("verify", coin, *line)
    assert done.code == 1
    assert "FAIL  Coin · every pair of 2 records" in done.out
    assert "1 record is enough to refute the claim" in " ".join(done.out.split())


def test_the_order_of_rows(coin: str) -> None:
    (audit,) = orchestrator.run(Request((coin,), verify=VerifyMode(2, 3, 1, ordered=True))).audits
    assert audit.proof is not None
    assert audit.proof.datasets == 8
    assert audit.proof.pairs == 12


@pytest.mark.slow
def test_every_verified_algorithm_has_a_verdict() -> None:
    from dpaudit.plans import registry

    proved = refuted = 0
    for name in registry.names(registry.ALGORITHMS):
        if registry.plan(name).small is None:
            continue
        (audit,) = verified(name, 3, 3)
        assert audit.proof is not None, name
        proved += audit.verdict is Verdict.PASS
        refuted += audit.verdict is Verdict.FAIL
    assert proved >= 10
    assert refuted >= 1


def test_from_python() -> None:
    result = dpaudit.verify("ADistCorrected", domain=2, size=5, groups=2, parameters={"delta": 0.01})
    assert [audit.verdict for audit in result.audits] == [Verdict.PASS, Verdict.PASS]
    assert [audit.claim.group for audit in result.audits] == [1, 2]
    proof = result.audits[0].proof
    assert proof is not None
    assert (proof.datasets, proof.pairs) == (6, 5)
    printed = ADist(1.0, 0.05, Multiplicity((0, 1)))
    assert dpaudit.verify(printed, data="booleans()", size=4, epsilon=2.0).audits[0].verdict is Verdict.PASS


def test_replay_and_json(typed: Typed, tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    done = typed("verify", "ExponentialMechanism", "--domain", "3", "--size", "3", "--groups", "1", "--json", str(out))
    assert done.code == 0
    (audit,) = json.loads(out.read_text())["audits"]
    assert audit["proof"]["pairs"] == 18
    again = typed("replay", audit["replay"])
    assert again.code == 0
    assert "Reproduced: the same result." in again.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["LaplaceMechanism"], "The output distributions of LaplaceMechanism cannot be computed on a small domain"),
        (["LearnThresholds", "--size", "0"], "--size must be"),
        (["LearnThresholds", "--domain", "0"], "--domain must be"),
        (["LearnThresholds", "--groups", "0"], "--groups must be"),
        (["ADist", "--data", "floats(0, 1)"], "infinitely many"),
        (["ADist", "--data", "integers(0, 3)", "--domain", "4"], "Give --domain or --data, not both."),
        (["NoSuchThing"], "NoSuchThing"),
    ],
)
def test_bad_usage_is_one_sentence(typed: Typed, words: list[str], sentence: str) -> None:
    done = typed("verify", *words)
    assert done.code == 2
    assert sentence in " ".join(done.err.split())
    assert "Traceback" not in done.err


@dataclass(frozen=True)
class Concentrated(Mechanism):
    """Claims what is not said by one (ε, δ)."""

    @property
    def claim(self) -> Claim:
        return Claim.zcdp(0.1, epsilon=1.0)

    def run(self, dataset: Any) -> Bernoulli:
        return Bernoulli(0.5 if sum(dataset) else 0.6)


def test_a_claim_of_more_than_one_point_is_not_proved_by_one() -> None:
    with pytest.raises(UsageError, match=r"give claim 'zcdp\(0\.1\)' .* or epsilon and delta"):
        dpaudit.verify(Concentrated(), domain=2, size=2)
    assert dpaudit.verify(Concentrated(), "zcdp(0.1)", domain=2, size=2).audits[0].reason_code == "proved_curve"
    assert dpaudit.verify(Concentrated(), domain=2, size=2, epsilon=0.3, delta=0.0).audits[0].verdict is Verdict.PASS


def test_a_scope_too_large_says_so() -> None:
    (audit,) = verified("LearnThresholds", 100, 9)
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert "make the domain or the size smaller" in audit.reason


def test_a_function_has_no_law(typed: Typed, coin: str) -> None:
    done = typed("verify", coin.replace(":Coin", ":plain"), "--epsilon", "1")
    assert done.code == 2
    assert "needs a Mechanism" in " ".join(done.err.split())


@pytest.mark.slow
def test_check_enumerates_a_small_scope_unasked(typed: Typed, coin: str) -> None:
    """4³ sequences of described records are few: what runs cannot prove the laws prove."""
    done = typed("check", coin, "--data", "integers(0, 3)", "--size", "3", "--runs", "2000")
    assert done.code == 0
    assert "PASS · proved  Coin" in done.out
    assert "all 288 replace-one pairs of sequences of 3 records from {0, 1, 2, 3}" in " ".join(done.out.split())
    few = ("--data", "integers(0, 3)", "--size", "3", "--runs", "2000")
    refuted = typed("check", coin, *few, "--param", "lie=0.2", "-v")
    assert refuted.code == 1
    assert "the worst pair needs ε ≥ 1.386" in " ".join(refuted.out.split())
    for more in (("--size", "8"), ("--size", "3", "--black-box")):
        seen = typed("check", coin, "--data", "integers(0, 3)", *more, "--runs", "2000")
        assert "PASS · not refuted" in seen.out


@pytest.mark.slow
def test_a_failure_on_one_dataset_is_found_by_a_scope_that_nobody_asked_for() -> None:
    @dataclass(frozen=True)
    class Picky(Mechanism):
        """Fails on all zeros, which no starting pair of three different values need be."""

        @property
        def claim(self) -> Claim:
            return Claim(1.0)

        def run(self, dataset: Any) -> Any:
            if list(dataset) == [1, 1, 2]:
                raise ValueError("this one is too much")
            return Bernoulli(0.5)

    (audit,) = dpaudit.audit(Picky(), data="integers(0, 3)", size=3, runs=2000).audits
    assert audit.verdict is Verdict.FAIL
    assert audit.evidence is EvidenceKind.EXHAUSTIVE
    (note,) = [note for note in audit.notes if note.code == "exact_failures"]
    assert "raises ValueError with probability" in note.sentence
    assert "too much" in note.sentence
