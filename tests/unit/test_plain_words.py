"""A FAIL in one sentence, and the hints that its numbers suggest."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import example_results as examples
import pytest

from dpaudit.report.numbers import apart, percent
from dpaudit.report.plain_words import hints, sentence
from dpaudit.results.model import Audit, EventRecord, EvidenceKind, ExactEvidence, PairRecord, Verdict
from dpaudit.results.notes import Assumption


def sampled(
    x: int, y: int, n: int = 781, *, epsilon: float = 1.0, delta: float = 0.0, event: str = "output > 0.93",
    **claim: Any,
) -> Audit:
    """A FAIL by these counts, more likely under D′."""
    audit = examples.fail()
    record = EventRecord(event, {})
    (evidence,) = (one for one in audit.sampled if one.pair == audit.pair)
    evidence = replace(evidence, event=record, x=x, n=n, y=y, m=n, direction="right/left", family="half-line")
    return replace(
        audit, event=record, sampled=[evidence], exact=[], epsilon_exact=None, delta_exact=None,
        claim=replace(audit.claim, epsilon=epsilon, delta=delta, statement=f"{epsilon:g}-DP", **claim),
    )


def exact(p: float, q: float, *, epsilon: float = 1.0, delta: float = 0.0, event: str = "output is 4") -> Audit:
    """A FAIL by these exact probabilities, more likely under D."""
    audit = sampled(0, 0, epsilon=epsilon, delta=delta, event=event)
    assert audit.pair is not None
    need = None if q == 0 else math.log((p - delta) / q)
    evidence = ExactEvidence(audit.pair, "left/right", audit.event, need, p - math.exp(epsilon) * q, p, q)
    return replace(
        audit, evidence=EvidenceKind.EXACT, sampled=[], exact=[evidence], epsilon_exact=need, delta_exact=evidence.delta
    )


def test_counts_against_a_ratio() -> None:
    assert sentence(sampled(453, 49)) == (
        "P[output > 0.93] is about 0.58 under D′ and 0.063 under D: about 9.2 times as likely, where ε = 1 allows 2.72 "
        "times (99.9 % confidence)."
    )


def test_counts_against_delta() -> None:
    assert sentence(sampled(453, 49, delta=1e-6)) == (
        "P[output > 0.93] is about 0.58 under D′ and 0.063 under D, where (ε, δ) = (1, 1e-06) allows at most about "
        "0.17 (99.9 % confidence)."
    )


def test_an_event_that_never_occurred() -> None:
    assert sentence(sampled(190, 0)) == (
        "P[output > 0.93] is about 0.24 under D′, but the event never occurred in 781 samples of D: more than the "
        "2.72 times that ε = 1 allows (99.9 % confidence)."
    )
    text = sentence(sampled(190, 0, delta=1e-6))
    assert str(text).endswith("of D: more than (ε, δ) = (1, 1e-06) allows (99.9 % confidence).")


@pytest.mark.parametrize(
    ("audit", "end"),
    [
        (sampled(520, 300, epsilon=0.0), "about 1.7 times as likely, where ε = 0 allows no difference"),
        (sampled(700, 2, group=2, epsilon=2.0), "where ε = 2 for groups of 2 allows 7.39 times"),
        (sampled(9_000, 1, 10_000, epsilon=8.0), "about 9,000 times as likely, where ε = 8 allows 2,981 times"),
        (sampled(10**8, 1, 10**8, epsilon=15.0), "about e^18.4 times as likely, where ε = 15 allows e^15 times"),
    ],
)
def test_other_claims(audit: Audit, end: str) -> None:
    assert end in str(sentence(audit))


def test_a_claim_of_zcdp() -> None:
    audit = sampled(453, 49, delta=0.02)
    audit = replace(audit, claim=replace(audit.claim, statement="0.1-zCDP under replace-one, tested at (1, 0.02)"))
    assert "where 0.1-zCDP (at ε = 1) allows at most about 0.19" in str(sentence(audit))


def test_a_claim_that_allows_nothing_beyond_the_other_probability() -> None:
    assert sentence(sampled(195, 88, n=312, epsilon=0.0, delta=1e-15)) == (
        "P[output > 0.93] is about 0.62 under D′ and 0.28 under D, where (ε, δ) = (0, 1e-15) allows at most about 0.28 "
        "(99.9 % confidence)."
    )


def test_exact_probabilities() -> None:
    assert sentence(exact(0.5, 0.0677)) == (
        "P[output is 4] is 0.5 under D and 0.0677 under D′: 7.38 times as likely, where ε = 1 allows 2.72 times "
        "(computed exactly)."
    )
    assert sentence(exact(0.00123, 0.0)) == (
        "P[output is 4] is 0.00123 under D and 0 under D′, which no finite ε allows (computed exactly)."
    )
    assert sentence(exact(0.3, 0.01, delta=0.1)) == (
        "P[output is 4] is 0.3 under D and 0.01 under D′, where (ε, δ) = (1, 0.1) allows at most 0.127 (computed "
        "exactly)."
    )


def test_an_event_without_a_closed_form() -> None:
    assert sentence(examples.density()) == (
        "Some event is more likely under D than (ε, δ) = (1, 0.1) allows, by 0.14 (computed from the densities)."
    )


def test_nothing_is_said_of_what_is_not_refuted_or_not_shown_by_the_counts() -> None:
    for make in (examples.proved, examples.not_refuted, examples.inconclusive, examples.crashed, examples.prior):
        assert sentence(make()) is None
        assert hints(make()) == []
    # the e-process refuted; these counts alone do not
    assert sentence(sampled(100, 60)) is None


def test_a_long_description_stands_elsewhere() -> None:
    assert str(sentence(sampled(453, 49, event="output is one of " + "x" * 60))).startswith("P[the event] is about")


def test_rounding_hides_no_order() -> None:
    assert apart(0.16649, 0.16642) == ("0.1665", "0.1664")
    assert apart(0.99996, 0.2) == ("0.99996", "0.2")
    assert apart(1.0, 0.0) == ("1", "0")
    # a ratio is rounded down, but stays above what is allowed
    assert "about 2.8 times" in str(sentence(sampled(569, 200)))
    assert "about 2.72 times as likely, where ε = 1 allows 2.72" not in str(sentence(sampled(2_719_000, 10**6, 10**7)))
    assert percent(0.9996957, digits=1) == "99.96 %"


# -- hints


def test_twice_the_claim() -> None:
    (hint,) = hints(sampled(530, 75))
    assert hint.startswith("The estimate of ε, 2, is about 2 × the claim: check the sensitivity and the scale")
    (hint,) = hints(exact(0.5, 0.5 * math.exp(-3)))
    assert hint == "ε is about 3 × the claim: check the sensitivity and the scale of the noise."


@pytest.mark.parametrize("audit", [sampled(530, 122), sampled(20, 3, 70), sampled(453, 61, group=2), sampled(700, 1)])
def test_no_multiple_where_the_numbers_do_not_say_which(audit: Audit) -> None:
    assert hints(audit) == []


def test_an_output_that_repeats() -> None:
    note = Assumption("varies", "The output never varied on either dataset.").record("Python")
    assert hints(replace(sampled(781, 0), notes=[note])) == [
        "The output repeats exactly: is the generator seeded inside, or is no noise added?"
    ]


def test_an_output_of_one_dataset_alone() -> None:
    (hint,) = hints(sampled(400, 0, event="key 'x' is present"))
    assert hint == (
        "In these samples D′ has an output that D never gives: is a key, a length or a count released without noise?"
    )
    (hint,) = hints(exact(0.2, 0.0))
    assert hint.startswith("D has an output that D′ never gives")
    note = Assumption("seeded", "It never used the given generator.").record("Python")
    (hint,) = hints(replace(sampled(781, 0), notes=[note]))
    assert hint.endswith("is the generator seeded inside?")
    (hint,) = hints(sampled(781, 0))
    assert hint.endswith("is the noise missing, or far too small?")
    # δ may allow it
    assert hints(exact(0.2, 0.0, delta=0.1)) == []


def test_failures_and_exact_values() -> None:
    failing = sampled(400, 0, event="output is raises ValueError")
    assert str(sentence(failing)).startswith("P[it raises ValueError] is about 0.51 under D′")
    assert hints(failing) == [
        "It raises ValueError more often under D′, and an attacker sees that: can it be avoided for every dataset?"
    ]
    (hint,) = hints(sampled(400, 10, event="output = 0.75"))
    assert hint.startswith("The event is a single exact value")


def test_the_pair() -> None:
    far = PairRecord("far", "shrunk", 1, [0, 1, 1], [0, 1, 1_000_000])
    assert hints(replace(sampled(400, 7), pair=far))[-1] == (
        "The changed record, 1000000, is far from the others: is the input clipped?"
    )
    empty = PairRecord("empty", "shrunk", 1, [], [1])
    assert hints(replace(sampled(400, 7), pair=empty))[-1] == "D is empty: is that case handled differently?"


def test_bits_have_a_note_of_their_own() -> None:
    assert examples.bits_counted().verdict is Verdict.FAIL
    assert hints(examples.bits_counted()) == []
