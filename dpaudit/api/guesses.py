"""Audits of guesses from one training run: which canaries it had."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special, stats

from dpaudit.api.arguments import ClaimLike, in_pythons_words
from dpaudit.api.call_text import call_text
from dpaudit.api.canaries import (
    POWER,
    RELATION,
    CanaryClaim,
    GuessesResult,
    checked_alpha,
    checked_scores,
    in_family,
    unclaimed,
)
from dpaudit.engine.orchestrator import environment
from dpaudit.errors import UsageError
from dpaudit.language import Claim, Curve, GaussianDP
from dpaudit.language.checks import number, positive, probability, whole
from dpaudit.options import DEFAULT_ALPHA, DEFAULT_MIN_POWER, DELTA, EPSILON, MIN_POWER, Door
from dpaudit.report.numbers import count, nearest, small, stated, upper
from dpaudit.results.canaries import Bound, Method
from dpaudit.results.model import Verdict
from dpaudit.stats import gdp, one_run

__all__ = ["Guesses", "audit_guesses", "audited_guesses", "count_guesses"]

_UNFAIR = 1e-9
"""Probability of so uneven numbers of canaries in and out by fair coins, below which the coins were not fair."""
_COINS = (
    "Every canary was included by its own fair coin, independently of the others; the guesses were made without "
    "knowing the coins, and their number was fixed before the run."
)
_MOST_EPSILON = 700.0
_METHODS: dict[Method, str] = {"binomial": "the binomial theorem", "f-dp": "the f-DP theorem"}


class Guesses(NamedTuple):
    """Numbers for `audit_guesses`, which takes them as `audit_guesses(*guesses)`."""

    n: int
    guessed: int
    correct: int


@in_pythons_words
def audit_guesses(
    n: int,
    guessed: int,
    correct: int,
    claim: ClaimLike | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    mu: float | None = None,
    alpha: float = DEFAULT_ALPHA,
    method: Method | None = None,
    min_power: float = DEFAULT_MIN_POWER,
) -> GuessesResult:
    """Audit a claim on guesses from one training run (Steinke, Nasr and Jagielski 2023; Mahloujifar et al. 2024).

    Every canary was included by its own fair coin, the mechanism ran once, and from its output the coins of some
    canaries were guessed. The bounds assume this of the coins, and that the number of guesses was fixed before; of the
    mechanism they assume nothing.

    Args:
        n: canaries.
        guessed: guesses; on the others there was none.
        correct: guesses that are right.
        claim: ε, (ε, δ), a `Claim`, a curve such as `GaussianDP(0.5)` or its text, or an object of dp-accounting; None
            with `epsilon` or `mu`, or for bounds without a verdict.
        epsilon, delta: parts of the claim, for adding or removing one canary.
        mu: claim μ-GDP instead; δ says where ε is bounded.
        alpha: the error of the verdict, and of each bound, in (0, 0.5).
        method: "binomial" for the theorem of Steinke, Nasr and Jagielski, "f-dp" for that of Mahloujifar, Melis and
            Chaudhuri on the trade-off curve of (ε, δ), which is sharper where n δ is large. None for the one that takes
            fewer right guesses to refute the claim, which does not depend on `correct`. Curves are tested by "f-dp".
        min_power: PASS requires that a violation of this multiple of the claimed ε (or μ) would have been detected with
            probability 0.9, if every guess were right as often as it allows; `math.inf` for no requirement.

    Returns:
        Verdict, p-value, bounds on ε and μ.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
    """
    return audited_guesses(
        n, guessed, correct, claim, epsilon=epsilon, delta=delta, mu=mu, alpha=alpha, method=method,
        min_power=min_power, call=call_text(audit_guesses, dict(locals())),
    )


def audited_guesses(
    n: int,
    guessed: int,
    correct: int,
    claim: ClaimLike | None = None,
    *,
    epsilon: float | None,
    delta: float | None,
    mu: float | None,
    alpha: float,
    method: Method | None,
    min_power: float,
    call: str,
    door: Door = "Python",
) -> GuessesResult:
    """`audit_guesses`, for a front end."""
    n, guessed, correct = whole("n", n, least=1), whole("guessed", guessed, least=0), whole("correct", correct, least=0)
    if guessed > n:
        raise UsageError(f"There are {count(n)} canaries, so there cannot be {count(guessed)} guesses.")
    if correct > guessed:
        raise UsageError(f"Of {count(guessed)} guesses, {count(correct)} cannot be right.")
    alpha = checked_alpha(alpha)
    if min_power != math.inf and number(MIN_POWER, min_power) < 1:
        raise UsageError("{} must be at least 1, not {}.", MIN_POWER, min_power)
    if mu is not None:
        if claim is not None or epsilon is not None:
            raise UsageError("Claim {} or mu, not both; with mu, {} says where ε is bounded.", EPSILON, DELTA)
        claim = GaussianDP(positive("mu", mu))
    bounded_at = 0.0 if delta is None else probability(DELTA, delta)
    claimed = CanaryClaim.of(claim, epsilon, None if mu is not None else delta, None)
    if method not in (None, "binomial", "f-dp"):
        raise UsageError(f"method must be 'binomial' or 'f-dp', not {method!r}.")
    curve = claimed.curve
    if curve is not None and method == "binomial":
        what = "μ-GDP" if claimed.mu is not None else "a curve"
        raise UsageError(f"The claim of {what} is tested by method='f-dp'; leave method out.")
    epsilon = None if claimed.claim is None or curve is not None else claimed.claim.epsilon
    if epsilon is not None and epsilon > _MOST_EPSILON:
        raise UsageError("{} must be at most {:g}, not {}.", EPSILON, _MOST_EPSILON, epsilon)
    delta = claimed.delta if curve is None else bounded_at
    tests = {one: _Test(n, guessed, delta, alpha, one, curve) for one in _METHODS if curve is None or one == "f-dp"}
    level = 1.0 if epsilon is None else epsilon
    chosen = min(tests, key=lambda one: tests[one].critical(level)) if method is None else method
    test = tests[chosen]
    bound = None if curve is not None else test.epsilon_lower(correct)
    bounds = [] if bound is None else [Bound(_METHODS[chosen], bound, delta, None, 1 - alpha, _COINS, True)]
    lowest_mu = one_run.mu_lower(n, guessed, correct, alpha=alpha)
    if claimed.mu is not None:
        bounds.append(Bound(_METHODS["f-dp"], None, delta, lowest_mu, 1 - alpha, _COINS, True))
    bounds.append(in_family(lowest_mu, delta, alpha, _COINS))
    p_value = detectable = None
    if claimed.claim is None:
        verdict, reason = Verdict.INCONCLUSIVE, unclaimed(door)
    else:
        level = claimed.mu or level
        p_value, detectable = test.p_value(level, correct), test.detectable(level)
        verdict, reason = _decided(test, level, correct, p_value, detectable, min_power, door)
    return GuessesResult(
        verdict=verdict, reason=reason, claim=claimed.text, relation=claimed.relation, epsilon=epsilon, delta=delta,
        mu=claimed.mu, alpha=alpha, epsilon_lower=bound, bounds=bounds, call=call, environment=environment(), n=n,
        guessed=guessed, correct=correct, method=chosen, p_value=p_value, detectable_epsilon=detectable,
    )


@dataclass(frozen=True)
class _Test:
    """A test of a claim by the number of right guesses: of ε at δ, of μ-GDP, or of another curve.

    `claimed` in its methods is ε or μ; of another curve it says nothing.
    """

    n: int
    guessed: int
    delta: float
    alpha: float
    method: Method
    curve: Curve | None

    @property
    def gaussian(self) -> bool:
        """Whether the claim is one of μ-GDP."""
        return isinstance(self.curve, GaussianDP)

    def rejects(self, claimed: float, correct: int) -> bool:
        """Whether so many right guesses refute the claim."""
        if self.method == "binomial":
            return self.p_value(claimed, correct) <= self.alpha
        return one_run.impossible(self.n, self.guessed, correct, self._curve(claimed), self.alpha)

    def p_value(self, claimed: float, correct: int) -> float:
        if self.method == "binomial":
            return one_run.p_value(self.n, self.guessed, correct, epsilon=claimed, delta=self.delta)
        return one_run.tail_bound(self.n, self.guessed, correct, self._curve(claimed))

    def _curve(self, claimed: float) -> one_run.InverseOfPower:
        if self.gaussian:
            return one_run.gaussian_curve(claimed)
        if self.curve is not None:
            return one_run.profile_curve(_points(self.curve))
        return one_run.approximate_curve(claimed, self.delta)

    def epsilon_lower(self, correct: int) -> float:
        bound = one_run.epsilon_lower if self.method == "binomial" else one_run.curve_epsilon_lower
        return bound(self.n, self.guessed, correct, delta=self.delta, alpha=self.alpha)

    def critical(self, claimed: float) -> int:
        """The least number of right guesses that refutes; one more than there are guesses where none does."""
        if not self.guessed or not self.rejects(claimed, self.guessed):
            return self.guessed + 1
        low, high = 0, self.guessed
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.rejects(claimed, middle) else (middle, high)
        return high

    def detectable(self, claimed: float) -> float | None:
        """The least ε or μ for which independent canaries, each guessed as well as it allows, refute with `POWER`."""
        critical = self.critical(claimed)
        if critical > self.guessed or (self.curve is not None and not self.gaussian):
            return None
        # P(Bin(guessed, right) >= critical) = POWER
        right = float(special.betaincinv(critical, self.guessed - critical + 1, POWER))
        if right >= 1:
            return None
        return gdp.mu_of_guesses(self.guessed / self.n, right) if self.gaussian else float(special.logit(right))

    def power(self, factor: float) -> float:
        """With which probability a mechanism with `factor` times the privacy loss of the curve is refuted.

        Its canaries are independent, and each is guessed as well as the trade-off function f allows: guesses "in" with
        FPR a, and as many guesses "out" by symmetry, are a share a + 1 − f(a) of all canaries, and 1 − f(a) are right.
        """
        critical = self.critical(0.0)
        if critical > self.guessed:
            return 0.0
        assert self.curve is not None
        curve, share = one_run.profile_curve(_points(self.curve.scaled(factor))), self.guessed / self.n
        # f is its own inverse, so the a of a power 1 − f(a) is what `curve` gives
        power = optimize.brentq(lambda power: curve(power) + power - share, 0.0, 1.0)
        return float(stats.binom.sf(critical - 1, self.guessed, min(1.0, power / share)))


def _points(curve: Curve) -> list[tuple[float, float]]:
    return CanaryClaim(Claim.of(curve), 0.0, RELATION).points


def _decided(
    test: _Test, claimed: float, correct: int, p_value: float, detectable: float | None, min_power: float, door: Door
) -> tuple[Verdict, str]:
    """The verdict on a claim, and why."""
    letter = "μ" if test.gaussian else "ε"
    if test.curve is None:
        what = f"a ({stated(claimed)}, {small(test.delta)})-DP mechanism"
    else:
        what = f"a {test.curve.label} mechanism" if test.gaussian else "a mechanism with this claim"
    if test.rejects(claimed, correct):
        return Verdict.FAIL, (
            f"{count(correct)} of {count(test.guessed)} guesses are right; those about {what} are right so often "
            f"with probability at most {upper(p_value)}."
        )
    if min_power == math.inf:
        return Verdict.PASS, f"Not refuted (p = {nearest(p_value)}), which is not a proof."
    if test.curve is not None and not test.gaussian:
        power = test.power(min_power)
        seen = (
            f"{min_power:g} times its privacy loss would have been detected with probability {small(power)}, if "
            "every guess were as good as it can be"
        )
        detected = power >= POWER
    elif detectable is None:
        seen, detected = "no number of right guesses would refute it", False
    else:
        detected = detectable <= min_power * claimed
        seen = (
            f"{'' if detected else 'only '}{letter} ≥ {upper(detectable)} would have been detected with probability "
            f"0.9, {'if' if detected else 'even if'} every guess were as good as it can be"
        )
    if detected:
        return Verdict.PASS, f"Not refuted (p = {nearest(p_value)}), which is not a proof; {seen}."
    return Verdict.INCONCLUSIVE, (
        f"Not refuted (p = {nearest(p_value)}), but {seen}. Use more canaries and make more guesses, fixed before "
        f"the run, or a larger alpha; or change {MIN_POWER.called(door)} ({stated(min_power)})."
    )


@in_pythons_words
def count_guesses(
    in_scores: ArrayLike, out_scores: ArrayLike, *, guess_in: int, guess_out: int = 0, seed: int = 0
) -> Guesses:
    """Guesses from the scores of one training run: the highest scores are guessed "in", the lowest "out".

    Both numbers have to be fixed before the scores are seen: the best of several tries is not a valid bound.

    Args:
        in_scores, out_scores: scores of canaries that were in the data, and that were left out, by fair coins.
        guess_in: how many canaries, those with the highest scores, are guessed to be in.
        guess_out: how many, those with the lowest scores, are guessed to be out.
        seed: of the order of equal scores, which must not depend on the coins.

    Returns:
        (n, guessed, correct) for `audit_guesses`.

    Raises:
        DpauditError: there are fewer canaries, a score is NaN, or so uneven numbers of canaries in and out show that
            the coins were not fair.
    """
    inside, outside = checked_scores(in_scores, "in_scores"), checked_scores(out_scores, "out_scores")
    guess_in, guess_out = whole("guess_in", guess_in, least=0), whole("guess_out", guess_out, least=0)
    n = inside.size + outside.size
    if guess_in + guess_out > n:
        raise UsageError(f"There are {count(n)} canaries, so there cannot be {count(guess_in + guess_out)} guesses.")
    uneven = float(stats.binomtest(inside.size, n).pvalue)
    if uneven < _UNFAIR:
        raise UsageError(
            f"{count(inside.size)} of {count(n)} canaries were in, which fair coins give with probability "
            f"{small(uneven)}: bounds from guesses assume that every canary was included by its own fair coin."
        )
    was_in = np.repeat([True, False], [inside.size, outside.size])
    scores = np.concatenate([inside, outside])
    ties = np.random.default_rng(whole("seed", seed, least=0)).permutation(n)
    was_in = was_in[np.lexsort((ties, scores))]
    correct = int(was_in[n - guess_in :].sum()) + int((~was_in[:guess_out]).sum())
    return Guesses(n, guess_in + guess_out, correct)
