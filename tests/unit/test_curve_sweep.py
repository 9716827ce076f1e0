"""Whole curves on finite domains: `dpaudit verify` with a claim that is a curve, exactly at its boundary."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import norm

import dpaudit
from dpaudit.errors import UsageError
from dpaudit.evidence import curve_sweep
from dpaudit.evidence.curves import Margins, within_bounds
from dpaudit.language import (
    Bernoulli,
    Claim,
    Curve,
    GaussianDP,
    Mechanism,
    Profile,
    Program,
    Renyi,
    TradeOff,
    ZeroConcentrated,
    exp,
)
from dpaudit.report import plain_words, wording
from dpaudit.results.json_form import from_json, to_json
from dpaudit.results.model import Audit, EvidenceKind, Verdict
from dpaudit.stats.log_bounds import LogBounds

TRUE, LIE = math.e / (1 + math.e), 1 / (1 + math.e)
MU = 2 * float(norm.ppf(TRUE))


def divergence(order: float) -> float:
    """Of randomised response with ε = 1."""
    return math.log(TRUE**order * LIE ** (1 - order) + LIE**order * TRUE ** (1 - order)) / (order - 1)


@dataclass(frozen=True)
class Responses(Mechanism):
    """Randomised response of every record, with ε = 1."""

    curve: Curve

    @property
    def claim(self) -> Claim:
        """The curve."""
        return Claim.of(self.curve)

    def run(self, dataset: tuple[int, ...]) -> Program:
        """The number of answers 1."""
        total = 0
        for record in dataset:
            total += int((yield Bernoulli(exp(1) / (1 + exp(1)) if record else 1 / (1 + exp(1)))))
        return total


@dataclass(frozen=True)
class Rare(Mechanism):
    """One bit of probability e^-744 or e^-747: no double holds them, and their ratio is e^3."""

    curve: Curve

    @property
    def claim(self) -> Claim:
        """The curve."""
        return Claim.of(self.curve)

    def run(self, dataset: tuple[int, ...]) -> Program:
        """The bit."""
        return (yield Bernoulli(exp(-744 - 3 * sum(dataset))))


def verified(mechanism: Mechanism, size: int = 1, **more: object) -> Audit:
    result = dpaudit.verify(mechanism, data="integers(0, 1)", size=size, progress=False, **more)  # type: ignore[arg-type]
    assert from_json(to_json(result), where="x").audits == result.audits
    return result.audits[0]


@pytest.mark.parametrize(
    ("curve", "verdict"),
    [
        (GaussianDP(MU), Verdict.PASS),
        (GaussianDP(MU * (1 - 1e-6)), Verdict.FAIL),
        (Renyi({2: divergence(2), 8: divergence(8)}), Verdict.PASS),
        (Renyi({2: divergence(2), 8: 0.999 * divergence(8)}), Verdict.FAIL),
        (Renyi({2: 0.999 * divergence(2), 8: divergence(8)}), Verdict.FAIL),
        (Renyi({math.inf: 1.0}), Verdict.PASS),
        # the largest D_α/α is 0.46211, as α → 1
        (ZeroConcentrated(0.4622), Verdict.PASS),
        (ZeroConcentrated(0.4620), Verdict.FAIL),
        (TradeOff({0: 1, LIE: LIE, 1: 0}), Verdict.PASS),
        (TradeOff({0: 1, 1.0001 * LIE: 1.0001 * LIE, 1: 0}), Verdict.FAIL),
        (Profile({0: TRUE - LIE, 1: 0}), Verdict.PASS),
        (Profile({0: TRUE - LIE, 0.9999: 0}), Verdict.FAIL),
    ],
    ids=lambda one: one.text[:30] if isinstance(one, Curve) else one.value,
)
def test_a_curve_is_proved_or_refuted_at_its_boundary(curve: Curve, verdict: Verdict) -> None:
    audit = verified(Responses(curve))
    assert (audit.verdict, audit.evidence) == (verdict, EvidenceKind.EXHAUSTIVE)
    assert audit.curve is not None
    assert plain_words.meaning(audit)
    if verdict is Verdict.PASS:
        assert audit.reason_code == "proved_curve"
        assert wording.verdict_phrase(audit) == "PASS · proved"
        assert f"satisfy all of {curve.label}" in audit.reason


@pytest.mark.parametrize("curve", [Renyi({2: 1.0}), Renyi({math.inf: 3.0}), ZeroConcentrated(4.5), GaussianDP(0.1)])
def test_a_ratio_of_probabilities_that_no_double_holds_accuses_nobody(curve: Curve) -> None:
    """In doubles one of the two is 0, so that every divergence would be infinite."""
    audit = verified(Rare(curve))
    assert (audit.verdict, audit.reason_code) == (Verdict.PASS, "proved_curve")
    sampled = dpaudit.audit(Rare(curve), pair=((0,), (1,)), runs=500, progress=False).audit
    assert (sampled.verdict, sampled.evidence) == (Verdict.PASS, EvidenceKind.EXACT)


def test_a_ratio_of_probabilities_that_no_double_holds_refutes() -> None:
    audit = verified(Rare(Renyi({math.inf: 2.99})))
    assert audit.verdict is Verdict.FAIL
    assert audit.curve is not None
    assert audit.curve.exact == pytest.approx(3.0)


@pytest.mark.parametrize(("curve", "worst"), [(ZeroConcentrated(5.0), 0.4621), (ZeroConcentrated(0.1), 0.4621)])
def test_the_worst_of_many_pairs_is_reported(curve: Curve, worst: float) -> None:
    """A sum of answers needs no more than one of them: its worst pair is that of a dataset of one value."""
    audit = verified(Responses(curve), 3, claim=curve)
    alone = verified(Responses(curve), 1)
    assert alone.curve is not None
    assert alone.curve.exact == pytest.approx(worst, abs=1e-4)
    assert audit.curve is not None
    assert audit.curve.exact is not None
    assert audit.curve.exact <= alone.curve.exact
    # every pair by brute force
    least = [
        float((Margins.of(curve, LogBounds.of_doubles(p, p, q, q)).low[:-1] / curve_sweep.ORDERS).max())
        for p, q in zip(_sums(3)[:-1], _sums(3)[1:], strict=True)
    ]
    assert audit.curve.exact == pytest.approx(max(least), rel=1e-6)


def _sums(n: int) -> list[np.ndarray]:
    """The distribution of the number of answers 1, for 0 to n records 1."""
    one, zero = np.array([LIE, TRUE]), np.array([TRUE, LIE])
    distributions = []
    for ones in range(n + 1):
        total = np.array([1.0])
        for i in range(n):
            total = np.convolve(total, one if i < ones else zero)
        distributions.append(total)
    return distributions


def test_what_intervals_do_not_decide_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probabilities that are known to 1 % alone prove no claim that is met with equality, and refute none."""
    wide = LogBounds.about([[TRUE, LIE]], [[LIE, TRUE]], error=0.01)
    assert within_bounds(GaussianDP(MU), wide[0]).keeps is None
    assert within_bounds(GaussianDP(1.1 * MU), wide[0]).keeps is True
    assert within_bounds(GaussianDP(0.9 * MU), wide[0]).keeps is False
    monkeypatch.setattr(LogBounds, "of_doubles", lambda *ends: wide)
    monkeypatch.setattr(curve_sweep, "MOST_UNDECIDED", 0)
    audit = verified(Responses(GaussianDP(MU)))
    assert (audit.verdict, audit.reason_code) == (Verdict.INCONCLUSIVE, "curve_undecided")
    monkeypatch.setattr(curve_sweep, "MOST_UNDECIDED", 1)
    assert verified(Responses(GaussianDP(MU))).verdict is Verdict.PASS


def test_groups_have_the_claim_that_follows() -> None:
    result = dpaudit.verify(
        Responses(GaussianDP(MU)), data="integers(0, 1)", size=2, groups=2, progress=False
    )
    assert [audit.verdict for audit in result.audits] == [Verdict.PASS, Verdict.PASS]
    assert result.audits[1].curve is not None
    assert result.audits[1].curve.claimed == pytest.approx(2 * MU)
    with pytest.raises(UsageError, match="Leave groups out with groups 1"):
        dpaudit.verify(Responses(Renyi({2: 1.0})), data="integers(0, 1)", size=2, groups=2, progress=False)


def test_zcdp_at_one_epsilon_says_how_to_compare_all_of_it() -> None:
    with pytest.raises(UsageError, match=r"give claim 'zcdp\(0\.5\)'"):
        dpaudit.verify(
            Responses(GaussianDP(1.0)), Claim.zcdp(0.5, epsilon=1.0), data="integers(0, 1)", size=1, progress=False
        )
