"""What is computed from noisy numbers costs what releasing them costs, and no less."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.language import Claim
from dpaudit.proofs.check import check_certificate
from dpaudit.proofs.prove import prove
from dpaudit.proofs.results import Proof, Unknown
from dpaudit.proofs.scopes import Answers, Records, Scope, Stream

FIVE = Records(5, 0, 1)


def rounded(records: Any, rng: Any) -> int:
    return round(sum(records) + rng.laplace(0, 1))


def whole_and_not_negative(records: Any, rng: Any) -> int:
    return max(0, int(sum(records) + rng.laplace(0, 1)))


def as_text(records: Any, rng: Any) -> str:
    return f"mean {np.mean(records) + rng.laplace(0, 1 / len(records)):.2f}"


def in_a_dict(records: Any, rng: Any) -> dict[str, float]:
    return {"mean": round(float(np.mean(records) + rng.laplace(0, 1 / len(records))), 3)}


def of_a_ratio(records: Any, rng: Any) -> float:
    total = sum(min(max(x, 0), 1) for x in records) + rng.laplace(0, 2)
    count = len(records) + rng.laplace(0, 2)
    return float(total / max(count, 1))


def shares(records: Any, rng: Any) -> Any:
    counts, _ = np.histogram(records, bins=4, range=(0, 1))
    noisy = np.clip(counts + rng.laplace(0, 2, size=4), 0, None)
    return noisy / noisy.sum()


def rounded_counts(records: Any, rng: Any) -> Any:
    counts, _ = np.histogram(records, bins=4, range=(0, 1))
    return np.round(counts + rng.laplace(0, 2, size=4)).astype(int)


def softmax(answers: Any, rng: Any) -> Any:
    # only differences are released, so a shift of all answers by the same number is free
    noisy = np.array(answers) + rng.laplace(0, 3, size=3)
    powers = np.exp(noisy - np.max(noisy))
    return powers / powers.sum()


def middle(answers: Any, rng: Any) -> float:
    return float(np.median(np.array(answers) + rng.laplace(0, 3, size=3)))


def spread(answers: Any, rng: Any) -> float:
    noisy = np.array(answers) + rng.laplace(0, 3, size=3)
    return float(noisy.std() + noisy.var() ** 2)


def second_query_by_a_rounded_first(records: Any, rng: Any) -> float:
    if round(sum(records) + rng.laplace(0, 2)) % 2 == 0:
        return float(sum(records) + rng.laplace(0, 2))
    return float(records[0] + rng.laplace(0, 2))


def loop_on_what_was_released(records: Any, rng: Any) -> list[int]:
    n = min(abs(round(sum(records) + rng.laplace(0, 1))), 3)
    return [1 if n > place else 0 for place in range(3)]


def square(records: Any, rng: Any) -> float:
    noisy = sum(records) + rng.laplace(0, 1)
    return float(noisy**2)


CASES: list[tuple[Callable[..., Any], Scope, Fraction]] = [
    (rounded, FIVE, Fraction(1)), (whole_and_not_negative, FIVE, Fraction(1)), (as_text, FIVE, Fraction(1)),
    (in_a_dict, FIVE, Fraction(1)), (of_a_ratio, FIVE, Fraction(1, 2)), (shares, FIVE, Fraction(1)),
    (rounded_counts, FIVE, Fraction(1)), (softmax, Answers(3), Fraction(2, 3)), (middle, Answers(3), Fraction(1)),
    (spread, Answers(3), Fraction(1)), (second_query_by_a_rounded_first, FIVE, Fraction(1)),
    (loop_on_what_was_released, FIVE, Fraction(1)), (square, FIVE, Fraction(1)),
]


@pytest.mark.parametrize(("program", "scope", "epsilon"), CASES, ids=lambda each: getattr(each, "__name__", ""))
def test_costs_what_releasing_the_noisy_numbers_costs(program: Any, scope: Any, epsilon: Fraction) -> None:
    outcome = prove(program, scope, epsilon=1, refute=False)
    assert isinstance(outcome, Proof), outcome
    assert outcome.epsilon == epsilon
    assert check_certificate(json.loads(json.dumps(outcome.certificate))) is None
    assert isinstance(prove(program, scope, epsilon=epsilon * Fraction(999, 1000), refute=False), Unknown)


def test_a_mean_of_noisy_sum_and_count_when_one_record_is_added() -> None:
    scope = Records(4, 0, 1, relation="add-remove-one")
    outcome = prove(of_a_ratio, scope, epsilon=1, refute=False)
    assert isinstance(outcome, Proof)
    assert outcome.epsilon == 1


def test_gaussian_noise() -> None:
    def shown(records: Any, rng: Any) -> str:
        return f"{sum(records) + rng.normal(0, 4.3):.1f}"

    outcome = prove(shown, FIVE, claim=Claim(1.0, 1e-5), refute=False)
    assert isinstance(outcome, Proof)
    assert outcome.mu_squared == Fraction(1, 1) / Fraction("4.3") ** 2


def test_a_wrong_function_is_noticed_by_the_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpaudit.proofs import postprocessing

    wrong = postprocessing.Pure(lambda x: math.exp(x) + 1, "math.exp", "float")
    monkeypatch.setitem(postprocessing._PURE, id(math.exp), wrong)
    monkeypatch.setattr(postprocessing, "is_followed", lambda callee: callee is math.exp)

    def exponential(records: Any, rng: Any) -> float:
        return math.exp(sum(records) + rng.laplace(0, 1))

    monkeypatch.setattr(
        postprocessing, "called", lambda interpreter, callee, args, keywords: postprocessing.computed(
            interpreter, wrong.name, wrong.function, args, wrong.made
        )
    )
    outcome = prove(exponential, FIVE, epsilon=1, refute=False)
    assert isinstance(outcome, Unknown)
    assert "does not do what was followed" in outcome.reason


def test_streams_name_the_remedy() -> None:
    def rounds(answers: Any, rng: Any) -> list[int]:
        out = []
        for answer in answers:
            out.append(round(answer + rng.laplace(0, 1)))
            break
        return out

    assert isinstance(prove(rounds, Answers(3), epsilon=1, refute=False), Proof)
    assert isinstance(prove(rounds, Stream(), epsilon=1, refute=False), Unknown)
