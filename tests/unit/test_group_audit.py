"""`--groups`: claims for groups, tested at the ends of chains of neighbours."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_toys import NoisySum, Response
from numpy.random import Generator
from typed_commands import Typed

import dpaudit
from dpaudit.engine import orchestrator
from dpaudit.errors import DpauditError, UsageError
from dpaudit.language import REPLACE_ONE, Claim, Mechanism
from dpaudit.plans.request import Request
from dpaudit.report import chains
from dpaudit.results import json_form
from dpaudit.results.datasets import dataset_from_json
from dpaudit.results.model import Audit, EvidenceKind, Result, Verdict
from dpaudit.testing import LeakyResponse
from dpaudit_algorithms.corpus.misprinted_group import GroupPrivacyMisprinted
from dpaudit_algorithms.foundations.group_privacy import GroupPrivacy

BITS: dict[str, Any] = {"data": "integers(0, 1)", "size": 5}


def holds(audit: Audit) -> None:
    """Every link of its chain is a pair of neighbours, in order, and the ends are as far apart as there are links."""
    found = audit.chain
    assert found is not None
    sides = [(dataset_from_json(link.pair.left), dataset_from_json(link.pair.right)) for link in found.links]
    assert all(REPLACE_ONE.distance(*pair) == 1 for pair in sides)
    assert all(link.pair.distance == 1 for link in found.links)
    assert all(before[1] == after[0] for before, after in pairwise(sides))
    assert REPLACE_ONE.distance(sides[0][0], sides[-1][1]) == len(sides) == found.stated.group
    assert (found.pair.left, found.pair.right) == (found.links[0].pair.left, found.links[-1].pair.right)


@pytest.mark.slow
def test_a_misprinted_claim_for_groups_is_seen_though_every_pair_of_neighbours_keeps_its_own() -> None:
    result = dpaudit.audit("GroupPrivacyMisprinted", groups=3)
    assert [(audit.case, audit.verdict) for audit in result.audits] == [
        ("group of 2, by a chain", Verdict.FAIL), ("group of 3, by a chain", Verdict.FAIL),
    ]  # fmt: skip
    epsilon, delta = 1.0, 0.02
    for k, audit in enumerate(result.audits, 2):
        holds(audit)
        assert audit.chain is not None
        assert (audit.claim.epsilon, audit.claim.delta) == (k * epsilon, k * delta)
        # by hand: δ·(e^{kε} − 1)/(e^ε − 1)
        assert audit.delta_exact == pytest.approx(delta * math.expm1(k * epsilon) / math.expm1(epsilon), rel=1e-9)
        assert audit.evidence is EvidenceKind.EXACT
        assert (audit.chain.exceeded, audit.chain.tight_exceeded, audit.chain.named) == (True, False, None)
        assert not any(link.exceeds for link in audit.chain.links)
    assert all(audit.runs == 0 for audit in result.audits)
    # no audit of neighbours can see it: they all keep (ε, δ), and the groups keep Theorem 3.7
    single, pairs, triples = dpaudit.verify("GroupPrivacyMisprinted", size=6, groups=3).audits
    assert (single.verdict, single.evidence) == (Verdict.PASS, EvidenceKind.EXHAUSTIVE)
    assert (pairs.verdict, triples.verdict) == (Verdict.FAIL, Verdict.FAIL), "verify tests what is stated of groups"
    as_printed = dpaudit.verify(GroupPrivacy(epsilon, delta), data="integers(0, 1)", size=6, groups=3)
    assert all(audit.verdict is Verdict.PASS for audit in as_printed.audits)


@pytest.mark.slow
def test_the_best_that_groups_can_do_keeps_both_and_meets_one() -> None:
    for audit in dpaudit.audit(GroupPrivacy(0.5, 0.01), groups=4, **BITS).audits:
        holds(audit)
        assert audit.verdict is Verdict.PASS
        assert audit.chain is not None
        assert (audit.chain.exceeded, audit.chain.tight_exceeded, audit.chain.named) == (False, False, None)
    pure = dpaudit.audit(GroupPrivacy(0.5, 0.0, 0.01), groups=3, **BITS).audits[1]
    assert pure.epsilon_exact == pytest.approx(1.5, abs=1e-9)
    assert pure.chain is not None
    assert [link.epsilon for link in pure.chain.links] == pytest.approx([0.5] * 3, abs=1e-9)
    losses = [link.loss for link in pure.chain.links]
    assert None not in losses
    assert math.fsum(loss for loss in losses if loss is not None) == pytest.approx(1.5, abs=1e-9)


@dataclass(frozen=True)
class Grown(GroupPrivacy):
    """Needs a tenth more δ of neighbours than it claims."""

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon, self.delta / 1.1)


def test_a_group_that_keeps_theorem_3_7_and_exceeds_its_links_refutes_the_claim_for_neighbours() -> None:
    (audit,) = dpaudit.audit(Grown(1.0, 0.022), groups=2, **BITS).audits
    holds(audit)
    found = audit.chain
    assert found is not None
    assert found.stated.delta == pytest.approx(2 * math.exp(2) * 0.02)
    assert (found.exceeded, found.tight_exceeded) == (False, True)
    assert found.named is not None
    named = found.links[found.named - 1]
    assert named.exceeds
    # the verdict is that of the link, which the claim for groups rests on
    assert audit.verdict is Verdict.FAIL
    assert (audit.claim.epsilon, audit.claim.delta, audit.claim.group) == (1.0, pytest.approx(0.02), 1)
    assert audit.pair is not None
    assert (audit.pair.left, audit.pair.right) == (named.pair.left, named.pair.right)
    assert audit.delta_exact == pytest.approx(0.022, rel=1e-9)
    assert f": link {found.named} refutes the claim for neighbours" in chains.sentence(found)
    assert any("satisfy the claim for groups" in note.sentence for note in audit.notes)


def test_what_both_refute_is_said_of_the_group_and_a_link_is_named() -> None:
    (audit,) = dpaudit.audit(GroupPrivacy(1.0, 0.0, 0.01), epsilon=0.5, groups=2, **BITS).audits
    assert audit.verdict is Verdict.FAIL
    assert audit.claim.group == 2
    assert audit.epsilon_exact == pytest.approx(2.0, abs=1e-9)
    assert audit.chain is not None
    assert (audit.chain.exceeded, audit.chain.tight_exceeded) == (True, True)
    assert audit.chain.named in (1, 2)


def test_densities_are_walked_like_laws() -> None:
    result = dpaudit.audit(NoisySum(0.5), groups=3, **BITS)
    assert [audit.epsilon_exact for audit in result.audits] == pytest.approx([1.0, 1.5], abs=1e-9)
    for audit in result.audits:
        holds(audit)
        assert audit.verdict is Verdict.PASS
        assert audit.chain is not None
        assert [link.epsilon for link in audit.chain.links] == pytest.approx([0.5] * audit.claim.group, abs=1e-9)


# --- functions ------------------------------------------------------------------------------------------------------


def grown(dataset: Any, rng: Generator, size: int) -> Any:
    """`GroupPrivacy` at ε = 0.7, δ = 0, p(0) = 0.01, of at most five ones."""
    return rng.random(size) < 0.01 * math.exp(0.7 * min(5, sum(dataset)))


@pytest.mark.slow
def test_a_function_is_refuted_on_fresh_runs_and_a_link_is_named_by_estimates() -> None:
    (audit,) = dpaudit.audit(grown, epsilon=0.4, groups=2, runs=40_000, **BITS).audits
    holds(audit)
    assert audit.verdict is Verdict.FAIL
    assert audit.evidence is EvidenceKind.SAMPLED
    assert audit.epsilon_lower is not None
    assert 0.8 < audit.epsilon_lower <= 1.4
    found = audit.chain
    assert found is not None
    assert (found.exceeded, found.tight_exceeded) == (True, True), "what exceeds Theorem 3.7 exceeds the links too"
    assert found.named in (1, 2)
    assert all(link.estimate is not None and link.epsilon is None and not link.exceeds for link in found.links)
    assert "by the estimates" in chains.sentence(found)


@pytest.mark.slow
def test_a_function_that_keeps_its_claim_is_not_refuted() -> None:
    """False alarm: at most 0.1 %."""
    result = dpaudit.audit(grown, epsilon=0.7, groups=3, runs=5_000, size=3, data="integers(0, 1)", seed=4)
    for audit in result.audits:
        holds(audit)
        assert audit.verdict is Verdict.PASS
        assert audit.chain is not None
        assert (audit.chain.exceeded, audit.chain.tight_exceeded, audit.chain.named) == (False, None, None)
    assert result.audits[0].confidence == 0.999
    counted = [evidence.alpha for audit in result.audits for evidence in audit.sampled]
    bet = [audit.sequential.alpha for audit in result.audits if audit.sequential is not None]
    assert len(bet) == 2
    assert sum(counted) + sum(bet) <= 0.001 * (1 + 1e-9)


@pytest.mark.slow
def test_a_black_box_is_walked_by_runs() -> None:
    (audit,) = dpaudit.audit(GroupPrivacyMisprinted(), groups=2, black_box=True, **BITS).audits
    assert audit.verdict is Verdict.FAIL
    assert audit.evidence is EvidenceKind.SAMPLED
    assert audit.chain is not None
    # (kε, kδ) is less than its links give, so nothing follows for these
    assert audit.chain.tight_exceeded is None
    assert audit.exact == []


USER = "def f(d, rng, size): return rng.random(size) < 0.1 + 0.05 * min(9, sum(d))\n"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result_whatever_the_number_of_workers(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "u.py").write_text(USER)
    # whole audits go to the pool at once
    monkeypatch.setattr(orchestrator, "WORTH_A_POOL", 0)
    texts = []
    for jobs in (1, 2):
        subject = "u.py:f --epsilon 0.5 --data 'integers(0, 1)' --size 4 --runs 1000"
        typed(f"check {subject} --groups 3 --seed 3 --jobs {jobs} --json r.json -q")
        read = json_form.from_json((tmp_path / "r.json").read_text(), where="r.json")
        texts.append([json.dumps(audit) for audit in json_form.to_object(read)["audits"]])
        assert len(read.audits) == 2
        assert "--groups 3" in read.command
    assert texts[0] == texts[1]


def test_replay(typed: Typed) -> None:
    said = typed("check GroupPrivacyMisprinted --groups 2 --json -")
    assert said.code == 1
    (audit,) = json.loads(said.out)["audits"]
    again = typed(f"replay {audit['replay']}")
    assert "Reproduced" in again.err
    assert again.code == 1


# --- what mechanisms state, and what is refused ---------------------------------------------------------------------


def test_group_claims() -> None:
    assert GroupPrivacy(0.5, 0.01).group_claim(3) == Claim(0.5, 0.01).group(3)
    assert GroupPrivacyMisprinted().group_claim(3) == Claim(3.0, 0.06, REPLACE_ONE.group(3))
    assert replace(GroupPrivacyMisprinted(), delta=0.5).group_claim(3) == Claim(3.0, 1.0, REPLACE_ONE.group(3))

    class Silent(Mechanism):
        def run(self, dataset: Any) -> int:
            return 0

    assert Silent().group_claim(2) is None


@dataclass(frozen=True)
class Astray(GroupPrivacy):
    """What it states of groups is about neighbours."""

    def group_claim(self, k: int) -> Claim:
        return self.claim


def test_a_given_claim_is_not_what_the_mechanism_states_of_groups() -> None:
    (audit,) = dpaudit.audit(GroupPrivacyMisprinted(), epsilon=1.0, delta=0.03, groups=2, **BITS).audits
    assert audit.claim.delta == pytest.approx(2 * math.exp(2) * 0.03)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: dpaudit.audit(Astray(1.0, 0.1), groups=2, **BITS), "make it one under replace-one:2"),
        (lambda: dpaudit.audit(Response(), groups=2, pair=([0], [1])), "its largest dataset has 1"),
        (lambda: dpaudit.audit(Response(), groups=3, data="booleans()", size=2), "size is 2; raise size"),
        (lambda: dpaudit.audit("ExponentialZCDP", groups=2), "give epsilon and delta"),
        (lambda: dpaudit.audit("NoisyHist1", groups=2), "is about records"),
        (lambda: dpaudit.audit(LeakyResponse(), groups=2, relation="replace-one:2", **BITS), "give replace-one"),
        (lambda: dpaudit.audit(GroupPrivacy(1.0, 0.1), groups=2), "Which datasets"),
        (lambda: dpaudit.audit(grown, groups=2, **BITS), "What does grown claim"),
    ],
)
def test_refused(call: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        call()


@pytest.mark.parametrize("groups", [1, 0, -2, True, 2.5])
def test_groups_are_of_two_at_least(groups: Any) -> None:
    with pytest.raises(DpauditError, match="--groups must be"):
        Request(("Response",), groups=groups)


@pytest.mark.parametrize("words", ["--groups 1", "--groups x", "--groups 1.5", "--groups ''"])
def test_bad_words(typed: Typed, words: str) -> None:
    said = typed(f"check GroupPrivacy {words}")
    assert said.code == 2
    assert "--groups" in said.sentence


def test_what_no_dataset_suits_is_inconclusive() -> None:
    class Picky(Response):
        def run(self, dataset: Any) -> Any:
            raise ValueError("not these")

    (audit,) = dpaudit.audit(Picky(), groups=2, data="booleans()", size=3).audits
    assert audit.verdict is Verdict.INCONCLUSIVE
    assert audit.crashed
    assert "not these" in audit.reason
    assert audit.chain is None


@pytest.mark.slow
def test_reports_of_a_walk(typed: Typed) -> None:
    said = typed("check GroupPrivacyMisprinted --groups 2 --html r.html")
    text = " ".join(said.out.split())
    assert "the claim for groups is false, and the claim for neighbours is not refuted" in text
    assert np.isin(["link", "change", "exact"], text.split()).all()
    page = Path("r.html").read_text()
    assert "Chain of neighbours" in page
    assert "Links of the chain" in page
    result: Result = json_form.from_json(typed("check GroupPrivacy --groups 2 --json -").out, where="r.json")
    assert result.audits[0].chain is not None
