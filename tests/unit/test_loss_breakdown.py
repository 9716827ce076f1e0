"""Privacy loss by part: one execution path on both datasets, against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import toy_mechanisms as toys
from numpy.typing import NDArray

from dpaudit.engine import orchestrator
from dpaudit.interpret import LossTerm, law, loss_breakdown
from dpaudit.language import (
    Bernoulli,
    Claim,
    IntegerRange,
    Laplace,
    Mechanism,
    Product,
    Program,
    Softmax,
    Uniform,
)
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.request import Request
from dpaudit.results.json_form import from_json, to_json
from dpaudit.stats import hockey_stick
from dpaudit_algorithms.foundations.composition import BasicComposition
from dpaudit_algorithms.interior_points.rec_concave import RecConcave, RecConcaveCorrected
from dpaudit_audits.interior_points.rec_concave import PRINTED_T, three_calls


def event(*wanted: Any) -> Callable[[Any], NDArray[np.bool_]]:
    """The event of a few outcomes."""

    def marks(values: Any) -> NDArray[np.bool_]:
        return np.array([any(w in v if isinstance(v, IntegerRange) else v == w for w in wanted) for v in values])

    return marks


def follow(mechanism: Mechanism, left: Any, right: Any, *wanted: Any, **options: Any) -> LossTerm:
    found = loss_breakdown(mechanism, left, right, event(*wanted), **options)
    assert found is not None
    return found


def exact(term: LossTerm) -> float:
    """ε of a node at the δ that it claims."""
    claim = term.entry.claim or term.entry.composed
    return hockey_stick.epsilon_at_symmetric(term.left, term.right, claim.delta if claim else 0.0)


def leaves(term: LossTerm) -> list[LossTerm]:
    return [leaf for part in term.parts for leaf in leaves(part)] if term.parts else [term]


@dataclass(frozen=True)
class Counts(Mechanism):
    """Two noisy counts, each held against a number; whether both are at least 1."""

    first: float
    second: float

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Program:
        a = yield (Laplace(sum(dataset), 1 / self.first) >= 1).spending(Claim(self.first))
        b = yield (Laplace(sum(dataset), 1 / self.second) >= 1).spending(Claim(self.second))
        return a, b


def test_two_counts_composed() -> None:
    """Pr[n + Lap(1/ε) ≥ 1] is 1/2 where n = 1 and e^{−ε}/2 where n = 0: the loss of every count is its ε."""
    found = follow(Counts(0.5, 0.25), (1,), (0,), (True, True))
    assert found.entry.claim == Claim(1.0)
    assert found.entry.composed == Claim(0.75)
    assert exact(found) == pytest.approx(0.75, rel=1e-12)
    assert found.loss == pytest.approx(0.75, rel=1e-12)
    assert [(part.entry.claim, part.value) for part in found.parts] == [(Claim(0.5), True), (Claim(0.25), True)]
    assert [exact(part) for part in found.parts] == pytest.approx([0.5, 0.25], rel=1e-12)
    assert [part.loss for part in found.parts] == pytest.approx([0.5, 0.25], rel=1e-12)
    assert found.share == 1
    # the other way round privacy is gained by the same event
    assert follow(Counts(0.5, 0.25), (0,), (1,), (True, True)).loss == pytest.approx(-0.75, rel=1e-12)


@dataclass(frozen=True)
class Choice(Mechanism):
    """The exponential mechanism on two solutions with scores x and 0."""

    epsilon: float

    @property
    def claim(self) -> Claim:
        return Claim(self.epsilon)

    def run(self, dataset: Any) -> Any:
        return Softmax(np.array([float(dataset[0]), 0.0]), self.epsilon / 2).spending(Claim(self.epsilon))


@dataclass(frozen=True)
class FlipThenChoose(Mechanism):
    """A fair coin that nobody needs, then a choice: the output says which solution, not how the coin fell."""

    def run(self, dataset: Any) -> Program:
        yield Bernoulli(0.25).spending(Claim(0.1))
        return Choice(1.0).on(dataset)


def test_the_exponential_mechanism_inside() -> None:
    """Solution 0 has probability e^{x/2}/(e^{x/2} + 1): its ratio between x = 1 and x = 0 is 2/(1 + e^{−1/2})."""
    found = follow(FlipThenChoose(), (1,), (0,), 0)
    loss = math.log(2 / (1 + math.exp(-0.5)))
    coin, choice = found.parts
    assert coin.value is False
    assert (coin.loss, exact(coin)) == (0, 0)
    assert choice.entry.text == "Choice"
    assert choice.loss == pytest.approx(loss, rel=1e-12)
    # the other solution, of probability 1/(e^{1/2} + 1) against 1/2, is the worse direction
    assert exact(choice) == pytest.approx(math.log((1 + math.exp(0.5)) / 2), rel=1e-12)
    assert found.entry.claim is None
    assert found.entry.composed == Claim(1.1)
    # tails have three quarters of the outcome's probability
    assert found.share == pytest.approx(0.75, rel=1e-12)


def three(version: type[RecConcave] | type[RecConcaveCorrected], T: int, base: int) -> Mechanism:
    r, steps = three_calls(0.5, 1e-9, T)
    return version(T, steps, r, 0.5, 0.5, 1e-9, base=base)


@pytest.mark.parametrize(("T", "base"), [(4096, 4), (PRINTED_T, 32)])
def test_three_calls_spend_what_was_found_by_hand(T: int, base: int) -> None:
    """Finding 3, ε = 1/2: every A_dist 2ε, the choices ε(1 − p) with p about 1/4, 0.375ε and 0.875ε."""
    found = follow(three(RecConcave, T, base), (1,), (0,), *range(2048, 2304), claim=Claim(4.5, 9e-9))
    assert exact(found) == pytest.approx(4.9115028, rel=1e-7)
    assert 2048 <= found.value <= 2303
    middle, a, b, last = found.parts
    inner, inner_a, inner_b, inner_last = middle.parts
    assert [part.entry.text for part in (middle, a, b)] == ["RecConcave", "ADist", "ADist"]
    assert (middle.value, repr(a.value), inner.value, repr(inner_a.value), inner_last.value) == (8, "⊥", 0, "⊥", 8)
    for a_dist in (a, b, inner_a, inner_b):
        assert a_dist.entry.claim == Claim(0.5, 1e-9)
        assert exact(a_dist) == pytest.approx(1.0, abs=1e-4)
        assert a_dist.loss == pytest.approx(1.0, abs=1e-4)
        assert a_dist.parts == ()
    assert last.loss == pytest.approx(0.875 * 0.5, abs=0.02)
    # "up to": while [4, 8] rises, so does what the scores are divided by
    assert 0.375 * 0.5 - 0.03 < inner_last.loss < 0.375 * 0.5
    assert inner.loss == pytest.approx(0.75 * 0.5, abs=0.04)
    # but for the 3e-9 of δ that its claim allows
    assert exact(inner) == pytest.approx(inner.loss, abs=1e-7)
    # one path has nearly all of the probability, so that its loss is nearly that of the event
    assert found.share > 0.99
    assert found.loss == pytest.approx(math.log(6.40775e-4 / 4.71694e-6), abs=0.02)
    assert found.loss == pytest.approx(sum(leaf.loss for leaf in leaves(found)), rel=1e-12)


def test_the_corrected_version_keeps_to_every_claim() -> None:
    found = follow(three(RecConcaveCorrected, 4096, 4), (1,), (0,), *range(2048, 2304))

    def held(term: LossTerm) -> None:
        assert term.entry.claim is not None
        assert exact(term) <= term.entry.claim.epsilon * (1 + 1e-9)
        for part in term.parts:
            held(part)

    held(found)


@pytest.mark.parametrize("k", [2, 5])
def test_losses_add_up_to_the_ratio_of_the_path(k: int) -> None:
    mechanism = BasicComposition(0.3, 1e-3, k)
    found = follow(mechanism, (1,), (0,), (k,))
    assert len(leaves(found)) == k
    assert sum(leaf.loss for leaf in leaves(found)) == pytest.approx(found.loss, rel=1e-12)
    # all k answers "likely 1" are the only path
    p, q = (law(mechanism, side).as_dict()[(k,)] for side in ((1,), (0,)))
    assert found.loss == pytest.approx(math.log(p / q), rel=1e-12)


@dataclass(frozen=True)
class Anything(Mechanism):
    """What a function of the dataset asks for."""

    program: Callable[[Any], Any]

    @property
    def claim(self) -> Claim:
        return Claim(1.0)

    def run(self, dataset: Any) -> Any:
        return self.program(dataset)


def test_programs_that_part_are_not_compared_inside() -> None:
    def ends_earlier(dataset: Any) -> Program:
        a = yield Bernoulli(0.5).spending(Claim(0.1))
        if dataset[0]:
            yield Bernoulli(0.5).spending(Claim(0.1))
        return a

    def other_output(dataset: Any) -> Program:
        a = yield Bernoulli(0.5).spending(Claim(0.1))
        return a ^ bool(dataset[0])

    def draws_last(dataset: Any) -> Program:
        a = yield Bernoulli(0.5).spending(Claim(0.1))
        return Bernoulli(0.5) if dataset[0] else a

    for program, why in (
        (ends_earlier, "ends earlier"), (other_output, "a different output"), (draws_last, "with a draw"),
    ):
        found = follow(Anything(program), (1,), (0,), True)
        assert found.parts == ()
        assert found.remark.startswith("its parts cannot be compared")
        assert why in found.remark
        # but the whole is
        assert found.loss == pytest.approx(0.0, abs=1e-12)
        assert exact(found) == pytest.approx(0.0, abs=1e-12)
    assert "continues" in follow(Anything(ends_earlier), (0,), (1,), True).remark


def test_another_mechanism_on_the_other_dataset_is_compared_but_not_opened() -> None:
    def program(dataset: Any) -> Program:
        return (yield Choice(1.0 if dataset[0] else 0.5).on((2,)))

    (part,) = follow(Anything(program), (1,), (0,), 0).parts or (None,)
    assert part is None, "nothing in it has a claim of its own on both datasets"

    def mixed(dataset: Any) -> Program:
        yield Bernoulli(0.5).spending(Claim(0.1))
        return (yield Choice(1.0).on((2,)) if dataset[0] else Bernoulli(0.5).map(int))

    _, part = follow(Anything(mixed), (1,), (0,), 0).parts
    assert part.remark == "a mechanism on one dataset, a draw on the other"
    assert part.entry.claim is None
    assert part.loss == pytest.approx(math.log(2 / (1 + math.exp(-1))), rel=1e-12)


def test_a_hidden_draw_that_one_dataset_cannot_give_is_not_blamed() -> None:
    """Half of the records are drawn and never shown: no path of the one is a path of the other, but the output is
    nearly private."""

    def program(dataset: Any) -> Program:
        shown = yield Uniform(tuple((x, dataset[0]) for x in range(2)))
        return (yield (Laplace(shown[1], 1.0) >= 1).spending(Claim(1.0)))

    found = follow(Anything(program), (1,), (0,), True)
    assert found.parts == ()
    assert "impossible on the other dataset" in found.remark
    assert found.loss == pytest.approx(1.0, rel=1e-12)


def test_what_is_impossible_on_the_other_dataset_has_an_infinite_loss() -> None:
    def program(dataset: Any) -> Program:
        a = yield Bernoulli(0.5).spending(Claim(0.5))
        b = yield Bernoulli(0.1 * dataset[0]).spending(Claim(0.5, 0.1))
        yield Bernoulli(0.5).spending(Claim(0.5))
        return a, b

    found = follow(Anything(program), (1,), (0,), (True, True), (True, False), leak=True)
    assert found.value == (True, True)
    assert found.loss == math.inf
    assert [part.loss for part in found.parts] == [0, math.inf]
    assert "impossible on the other dataset" in found.remark
    # where δ pays for that, a finite loss is what there is to show
    assert follow(Anything(program), (1,), (0,), (True, True), (True, False)).value == (True, False)


def test_a_draw_and_what_follows_is_one_draw() -> None:
    def program(dataset: Any) -> Program:
        a = yield Uniform((0, 1)).spending(Claim(0.0)).then(lambda v: Choice(1.0).on((v + dataset[0],)))
        b = yield (Laplace(dataset[0], 1.0) >= 1).spending(Claim(1.0))
        return a, b

    first, second = follow(Anything(program), (1,), (0,), (0, True)).parts
    assert first.remark == "treated as one draw"
    assert first.entry.composed == Claim(1.0)
    assert first.entry.text == "Uniform, then Choice"
    assert first.parts == ()
    # by the mean over v of e^{s/2}/(e^{s/2} + 1) with s = v + x
    one, two, zero = (1 / (1 + math.exp(-s / 2)) for s in (1, 2, 0))
    assert first.loss == pytest.approx(math.log((one + two) / (zero + one)), rel=1e-12)
    assert second.entry.text.startswith("Laplace(")
    assert second.entry.text.endswith(") ≥ 1")


def test_independent_draws_are_opened() -> None:
    def program(dataset: Any) -> Program:
        part = (Laplace(dataset[0], 2.0) >= 1).spending(Claim(0.5))
        return (yield Product((part, part)))

    (product,) = follow(Anything(program), (1,), (0,), (True, True)).parts
    assert product.entry.text == "independent draws"
    assert product.entry.composed == Claim(1.0)
    assert [part.loss for part in product.parts] == pytest.approx([0.5, 0.5], rel=1e-12)
    assert exact(product) == pytest.approx(1.0, rel=1e-12)


def test_groups_claim_for_groups() -> None:
    found = follow(Counts(0.5, 0.25), (1, 1), (0, 0), (True, True), group=2, claim=Claim(2.0))
    assert found.entry.claim == Claim(2.0)
    assert [part.entry.claim for part in found.parts] == [Claim(0.5).group(2), Claim(0.25).group(2)]


def test_what_is_too_much_work_is_not_opened() -> None:
    found = follow(Counts(0.5, 0.25), (1,), (0,), (True, True), work=3)
    assert found.parts == ()
    assert found.remark == "not opened: too many draws"
    assert exact(found) == pytest.approx(0.75, rel=1e-12)


def test_the_most_likely_path_is_the_one_shown() -> None:
    """Where the likeliest draws are impossible on the other dataset and others are not even a tenth as likely, nothing
    is opened: those would not show where the loss comes from."""

    def program(dataset: Any) -> Program:
        rare = yield Bernoulli(0.05 if dataset[0] else 0.5).spending(Claim(3.0))
        if rare:
            return "out"
        yield Bernoulli(1.0 if dataset[0] else 0.0).spending(Claim(0.5))
        return "out"

    found = follow(Anything(program), (1,), (0,), "out")
    assert found.parts == ()
    assert found.remark == "its parts cannot be compared: its most likely draws are impossible on the other dataset"
    assert found.loss == pytest.approx(0.0, abs=1e-12)


def test_outcomes_are_not_confused_with_their_parts() -> None:
    """A law of whole numbers does not hold (1,), however numpy compares them."""

    def program(dataset: Any) -> Program:
        a = yield Bernoulli(0.5).spending(Claim(0.5))
        return Uniform(range(3)) if a else (1,)

    found = follow(Anything(program), (1,), (0,), (1,))
    assert found.value == (1,)
    assert [part.value for part in found.parts] == [False]
    assert found.share == 1


def test_an_event_without_probability_has_no_path() -> None:
    assert loss_breakdown(Counts(0.5, 0.25), (1,), (0,), event("never")) is None


def test_a_leaf_stays_closed() -> None:
    found = follow(toys.RandomizedResponse(0.5), 1, 0, 1)
    assert found.parts == ()
    assert found.remark == ""
    assert found.loss == pytest.approx(0.5, rel=1e-9)


@pytest.mark.slow
def test_the_audit_holds_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    every = jobs_of
    label = "three calls, every constant as printed"
    monkeypatch.setattr(orchestrator, "all_jobs", lambda r: [job for job in every(r) if job.label == label])
    result = orchestrator.run(Request(targets=("RecConcave",)))
    (found,) = result.audits
    assert found.loss_breakdown is not None
    assert found.loss_breakdown.direction == "right/left"
    assert found.loss_breakdown.share > 0.99
    root = found.ledger[0]
    assert root.exact_epsilon == found.epsilon_exact
    assert root.exact_delta == pytest.approx(found.delta_exact, rel=1e-9)
    assert (root.epsilon, root.composed_epsilon) == pytest.approx((4.5, 4.5))
    # every line has what its parts lose
    for at, row in enumerate(found.ledger):
        below = found.ledger[at + 1 :]
        inside = below[: next((i for i, other in enumerate(below) if other.depth <= row.depth), len(below))]
        parts = [part.loss or 0.0 for part in inside if part.depth == row.depth + 1]
        if parts:
            assert row.loss == pytest.approx(sum(parts), rel=1e-12)
    assert all(b.depth <= a.depth + 1 for a, b in pairwise(found.ledger))
    assert from_json(to_json(result), where="result.json") == result
    assert result.audits[0].ledger == orchestrator.run(Request(targets=("RecConcave",))).audits[0].ledger


def test_the_bound_is_of_the_dearest_draws() -> None:
    """The path that ends at once uses one part, others two; the claim has to cover those."""

    def program(dataset: Any) -> Program:
        a = yield (Laplace(dataset[0], 1.0) >= 1).spending(Claim(1.0))
        if a:
            return a
        yield Bernoulli(0.5).spending(Claim(0.5))
        return a

    result = orchestrator.run(Request(targets=(Anything(program),), pair=((1,), (0,)), runs=100))
    (found,) = result.audits
    root = found.ledger[0]
    assert root.value == "True"
    assert len(found.ledger) == 2
    assert root.composed_epsilon == pytest.approx(1.5)
