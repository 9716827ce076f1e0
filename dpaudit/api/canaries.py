"""Audits of training by canaries: scores of canaries in and out of the data, and guesses from one training run.

Every bound in these results says what it assumes. Those that assume a trade-off family never decide a verdict on
(ε, δ).
"""

from __future__ import annotations

import dataclasses
import json
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from dpaudit.api.arguments import ClaimLike, in_pythons_words, stated_claim
from dpaudit.api.call_text import call_text
from dpaudit.api.functions import audit_recorded
from dpaudit.api.result import Result
from dpaudit.errors import DatasetError, ReportError, UsageError
from dpaudit.language.checks import at_least, number, positive, probability, whole
from dpaudit.options import ALPHA, DEFAULT_ALPHA, DEFAULT_MIN_POWER, DELTA, EPSILON, MIN_POWER, Door
from dpaudit.report.numbers import count, lower, nearest, percent, small, stated, upper
from dpaudit.results import json_form
from dpaudit.results.model import Json, Verdict
from dpaudit.stats import gdp, membership, one_run
from dpaudit.stats.arrays import FloatArray
from dpaudit.stats.membership import Band, Interval
from dpaudit.subjects.recorded import Recorded, recorded_outputs
from dpaudit.whole_files import write_file

__all__ = ["Bound", "Guesses", "GuessesResult", "ScoresResult", "audit_guesses", "audit_scores", "count_guesses"]

Method = Literal["binomial", "f-dp"]

FORMAT_VERSION = "1.0"
"""Of the JSON form of these results, major.minor."""
RELATION = "add-remove-one"
FPRS = (0.001, 0.01, 0.1)
"""False positive rates at which `ScoresResult` has the true positive rate."""
THRESHOLDS_SHARE = 0.8
"""Of alpha, for the bound at all thresholds; the rest is for the events that the engine learns."""
POWER = 0.9
_WIDTH, _LABEL = 80, 12
_UNFAIR = 1e-9
"""Probability of so uneven numbers of canaries in and out by fair coins, below which the coins were not fair."""
_DRAWN = 400
"""Most points of the trade-off curve in JSON."""
_COINS = (
    "Every canary was included by its own fair coin, independently of the others; the guesses were made without "
    "knowing the coins, and their number was fixed before the run."
)
_INDEPENDENT = "The scores are independent draws, as those of one canary in each training run are."
_THRESHOLDS, _LEARNED = "all thresholds of the scores at once", "events learned on some of the scores"
_FAMILY = (
    "ε follows from μ only if the trade-off curve of the mechanism is Gaussian, which is not tested; no verdict on "
    "(ε, δ) rests on it."
)


@dataclass(frozen=True)
class Bound:
    """A lower confidence bound, and what it assumes.

    Args:
        name: what it was made from.
        epsilon: lower bound on ε at `delta`; None for no bound on ε (δ = 0 in the Gaussian family).
        delta: at which ε is bounded.
        mu: lower bound on μ: being μ-GDP for a smaller μ is refuted; None where it is about ε alone.
        confidence: with which it holds, by itself.
        assumes: what it assumes, in words.
        decides: whether the verdict may rest on it.
    """

    name: str
    epsilon: float | None
    delta: float
    mu: float | None
    confidence: float
    assumes: str
    decides: bool


@dataclass(frozen=True, repr=False)
class _CanaryResult:
    """What results of scores and of guesses have in common.

    Args:
        verdict: FAIL: the claim is refuted. PASS: it is not, though violations of it would have been detected.
            INCONCLUSIVE: `reason` says what is missing.
        reason: why, in words.
        epsilon, delta: the claim; epsilon is None where nothing, or μ, is claimed.
        alpha: the error of the verdict, and of each figure by itself.
        epsilon_lower: lower confidence bound on ε at `delta`, by what may decide the verdict; None where there is none.
        bounds: all bounds, with their assumptions.
        call: how to get the result again.
    """

    verdict: Verdict
    reason: str
    epsilon: float | None
    delta: float
    alpha: float
    epsilon_lower: float | None
    bounds: list[Bound]
    call: str

    kind: ClassVar[str]

    @property
    def exit_code(self) -> int:
        """What the command line exits with: 1 for FAIL, 3 for INCONCLUSIVE, else 0."""
        return {Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 3, Verdict.PASS: 0}[self.verdict]

    @property
    def confidence(self) -> float:
        """1 − alpha."""
        return 1 - self.alpha

    def __bool__(self) -> NoReturn:
        raise TypeError("A result has no truth value; compare result.verdict with dpaudit's Verdict, or its text.")

    def to_json(self) -> str:
        """The result as JSON: "kind", "format_version", and the fields; infinite numbers are null."""
        return json.dumps(self._object(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the JSON form into a file.

        Raises:
            ReportError: its name does not end in .json, or it cannot be written.
        """
        if Path(path).suffix.lower() != ".json":
            raise ReportError(f"Cannot write {path}: its name must end in .json.")
        try:
            write_file(path, self.to_json())
        except OSError as error:
            raise ReportError(f"Cannot write {path}: {error.strerror or error}.") from None

    def __str__(self) -> str:
        """What the command line prints, 80 columns wide."""
        alpha = f"{small(self.alpha)}, of the verdict; every further figure has this error by itself"
        rows = [("", self.reason), *self._rows(), ("alpha", alpha)]
        return "\n".join([f"{self.verdict.upper()}  {self._title()}", *(_row(*row) for row in rows)])

    def __repr__(self) -> str:
        bound = "" if self.epsilon_lower is None else f"; ε ≥ {lower(self.epsilon_lower, self.epsilon)}"
        return f"<dpaudit.{type(self).__name__} {self.verdict.upper()}: {self._title()}{bound}>"

    def _title(self) -> str:
        raise NotImplementedError

    def _rows(self) -> list[tuple[str, str]]:
        """The bounds, and under those that assume the same, what it is."""
        rows = []
        for place, bound in enumerate(self.bounds):
            label = "bound" if bound.decides else "if GDP"
            claimed = f" (claim {stated(self.epsilon)})" if self.epsilon is not None and bound.decides else ""
            numbers = " and ".join(filter(None, (
                "" if bound.mu is None else f"μ ≥ {lower(bound.mu)}",
                "" if bound.epsilon is None
                else f"ε ≥ {lower(bound.epsilon, self.epsilon if bound.decides else None)} at δ = {small(bound.delta)}",
            )))
            rows.append((label, f"{numbers} with {percent(bound.confidence)} confidence{claimed}, by {bound.name}"))
            if place + 1 == len(self.bounds) or self.bounds[place + 1].assumes != bound.assumes:
                rows.append(("assumes", bound.assumes))
        return rows

    def _object(self) -> dict[str, Json]:
        fields: dict[str, Json] = {"kind": self.kind, "format_version": FORMAT_VERSION}
        for one in dataclasses.fields(self):
            fields[one.name] = _plain(getattr(self, one.name))
        return fields


@dataclass(frozen=True, repr=False)
class ScoresResult(_CanaryResult):
    """The audit of scores of canaries, by `audit_scores`.

    Args:
        n_in, n_out: scores of each kind.
        auroc: area under the ROC curve, with limits at 1 − alpha.
        tpr_at_fpr: (FPR, TPR with limits at 1 − alpha) for each FPR of `FPRS`.
        tradeoff: errors at every threshold, with a band that holds at all of them at once, at 1 − alpha.
        samples: the engine's audit of the scores as recorded samples, at a share of alpha: D is "in". Its verdict is
            about the events that it learned; the verdict here counts the bound at all thresholds too.
    """

    n_in: int = 0
    n_out: int = 0
    auroc: Interval = field(kw_only=True)
    tpr_at_fpr: list[tuple[float, Interval]] = field(kw_only=True)
    tradeoff: Band = field(kw_only=True)
    samples: Result = field(kw_only=True)

    kind: ClassVar[str] = "scores"

    def _title(self) -> str:
        return f"scores of {count(self.n_in)} canaries in the data and {count(self.n_out)} left out"

    def _rows(self) -> list[tuple[str, str]]:
        def shown(one: Interval) -> str:
            return f"{nearest(one.estimate)} [{lower(one.low)}, {upper(one.high)}]"

        rates = "; ".join(f"{shown(tpr)} at FPR {small(fpr)}" for fpr, tpr in self.tpr_at_fpr)
        rows = [*super()._rows(), ("AUROC", shown(self.auroc)), ("TPR", rates)]
        if self.auroc.high < 0.5:
            rows.append(("note", "Scores are lower for canaries in the data: negate them, so that high means in."))
        return rows

    def _object(self) -> dict[str, Json]:
        fields = super()._object()
        fields["samples"] = json_form.to_object(self.samples)
        return fields


@dataclass(frozen=True, repr=False)
class GuessesResult(_CanaryResult):
    """The audit of guesses from one training run, by `audit_guesses`.

    Args:
        n: canaries.
        guessed: guesses; the auditor abstained on the others.
        correct: guesses that are right.
        mu: the claim, where it is μ-GDP.
        method: by which theorem: "binomial" or "f-dp".
        p_value: of the claim; None where nothing is claimed.
        detectable_epsilon: the least ε (or μ, for a claim of μ-GDP) that would have been detected with probability 0.9,
            if every guess were right as often as it allows for each canary alone; None where nothing is claimed, or no
            number of right guesses refutes.
    """

    n: int = 0
    guessed: int = 0
    correct: int = 0
    mu: float | None = None
    method: Method = "binomial"
    p_value: float | None = None
    detectable_epsilon: float | None = None

    kind: ClassVar[str] = "guesses"

    def _title(self) -> str:
        return f"{count(self.correct)} of {count(self.guessed)} guesses right, {count(self.n)} canaries in one run"


class Guesses(NamedTuple):
    """Numbers for `audit_guesses`, which takes them as `audit_guesses(*guesses)`."""

    n: int
    guessed: int
    correct: int


@in_pythons_words
def audit_scores(
    in_scores: object,
    out_scores: object,
    claim: ClaimLike | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    relation: str | None = None,
    alpha: float = DEFAULT_ALPHA,
    seed: int = 0,
    time: float | None = None,
    min_power: float = DEFAULT_MIN_POWER,
    name: str = "scores of canaries",
    progress: bool | None = None,
) -> ScoresResult:
    """Audit a claim on scores of canaries: how strongly each looks like a member of the training data.

    The claim is tested twice, with shares of alpha: at all thresholds of the scores at once, and by events that the
    engine learns on some of the scores and counts on the others (as `audit_samples`). Neither assumes a family of
    distributions. Both assume that scores are independent, as those of one canary in each of many training runs are;
    for many canaries in one run use `count_guesses` and `audit_guesses`.

    Args:
        in_scores: scores of canaries in the training data, at least 10: an array, series or list of numbers. Higher
            means "in"; negate a loss.
        out_scores: scores of canaries that were left out.
        claim: ε, (ε, δ) or a `Claim`; None with `epsilon` for those parts, or for bounds without a verdict.
        epsilon, delta, relation: parts of the claim. A canary is in or out: the relation is add-remove-one by default.
        alpha: the error of the verdict, and that of each further figure, in (0, 0.5).
        seed: of the engine's order of the scores.
        time, min_power, progress: as of `audit`.
        name: of the mechanism, in reports.

    Returns:
        Verdict, bounds, AUROC, TPR at low FPR, the trade-off curve with a simultaneous band, and the engine's result.

    Raises:
        DpauditError: of one of its kinds, for anything that cannot be used as given.
        Interrupted: by the keyboard.
    """
    given = dict(locals())
    recorded = recorded_outputs(in_scores, out_scores, name=name, labels=("in_scores", "out_scores"))
    call = call_text(audit_scores, given)
    return audit_recorded_scores(
        recorded, claim, epsilon=epsilon, delta=delta, relation=relation, alpha=alpha, seed=seed, time=time,
        min_power=min_power, progress=progress, call=call,
    )


def audit_recorded_scores(
    recorded: Recorded,
    claim: ClaimLike | None = None,
    *,
    epsilon: float | None,
    delta: float | None,
    relation: str | None,
    alpha: float,
    progress: bool | None,
    call: str,
    door: Door = "Python",
    **settings: Any,
) -> ScoresResult:
    """`audit_scores` of scores that have been read: those of canaries in the data are the outputs on D."""
    inside, outside = (_scores(values, label) for values, label in zip(recorded.both, recorded.labels, strict=True))
    alpha = _alpha(alpha)
    stated = stated_claim(claim, epsilon, delta, relation)
    whole_claim = stated.get("claim")
    if whole_claim is None and stated["relation"] is None:
        stated["relation"] = RELATION
    epsilon, delta = (
        (whole_claim.epsilon, whole_claim.delta) if whole_claim is not None
        else (stated["epsilon"], 0.0 if stated["delta"] is None else probability(DELTA, stated["delta"]))
    )
    result = audit_recorded(
        recorded, progress=progress, call=call, door=door, alpha=alpha * (1 - THRESHOLDS_SHARE), **settings, **stated
    )
    audit = result.audit
    share = alpha * THRESHOLDS_SHARE
    errors = membership.upper_errors(inside, outside, alpha=share)
    best = errors.best(delta)
    bounds, bound, refuted = [], None, False
    broken = audit.crashed or any(one.holds is False for one in audit.assumptions)
    if not broken:
        bounds = [
            Bound(_THRESHOLDS, best.epsilon, delta, None, 1 - share, _INDEPENDENT, True),
            *(
                [] if audit.epsilon_lower is None
                else [Bound(_LEARNED, audit.epsilon_lower, delta, None, audit.confidence, _INDEPENDENT, True)]
            ),
            _in_family(membership.upper_errors(inside, outside, alpha=alpha).mu, delta, alpha, _INDEPENDENT),
        ]
        bound = max(best.epsilon, audit.epsilon_lower or 0.0)
        refuted = epsilon is not None and best.epsilon > epsilon
    verdict, reason = audit.verdict, audit.reason
    if refuted:
        verdict, reason = Verdict.FAIL, _threshold_sentence(best, inside, outside, epsilon or 0.0, delta)
    elif epsilon is None and not broken:
        verdict = Verdict.INCONCLUSIVE
        reason = _unclaimed(door)
    return ScoresResult(
        verdict, reason, epsilon, delta, alpha, bound, bounds, call, inside.size, outside.size,
        auroc=membership.auroc(inside, outside, alpha=alpha),
        tpr_at_fpr=[(fpr, membership.tpr_at_fpr(inside, outside, fpr, alpha=alpha)) for fpr in FPRS],
        tradeoff=membership.tradeoff_band(inside, outside, alpha=alpha),
        samples=result,
    )


def _unclaimed(door: Door) -> str:
    return f"No ε is claimed: the bounds stand for themselves. Give {EPSILON.called(door)} for a verdict."


def _threshold_sentence(
    best: membership.Best, inside: FloatArray, outside: FloatArray, epsilon: float, delta: float
) -> str:
    """Why a threshold refutes."""
    event = f"score {'≥' if best.above else '<'} {best.threshold:.6g}"
    counts = [int(((one >= best.threshold) == best.above).sum()) for one in (inside, outside)]
    totals = [inside.size, outside.size]
    places = ["in the data", "left out"]
    if not best.above:
        counts, totals, places = counts[::-1], totals[::-1], places[::-1]
    return (
        f"{event} for {count(counts[0])} of {count(totals[0])} canaries {places[0]} and {count(counts[1])} of "
        f"{count(totals[1])} {places[1]}: more than (ε, δ) = ({stated(epsilon)}, {small(delta)}) allows."
    )


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
        claim: ε, (ε, δ) or a `Claim`; None with `epsilon` or `mu`, or for bounds without a verdict.
        epsilon, delta: parts of the claim, for adding or removing one canary.
        mu: claim μ-GDP instead; δ says where ε is bounded.
        alpha: the error of the verdict, and of each bound, in (0, 0.5).
        method: "binomial" for the theorem of Steinke, Nasr and Jagielski, "f-dp" for that of Mahloujifar, Melis and
            Chaudhuri on the trade-off curve of (ε, δ), which is sharper where n δ is large. None for the one that takes
            fewer right guesses to refute the claim, which does not depend on `correct`. μ-GDP is tested by "f-dp".
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
    alpha = _alpha(alpha)
    if min_power != math.inf and number(MIN_POWER, min_power) < 1:
        raise UsageError("{} must be at least 1, not {}.", MIN_POWER, min_power)
    stated = stated_claim(claim, epsilon, delta, None)
    whole_claim = stated.get("claim")
    epsilon, delta = (
        (whole_claim.epsilon, whole_claim.delta) if whole_claim is not None
        else (stated["epsilon"], 0.0 if stated["delta"] is None else probability(DELTA, stated["delta"]))
    )
    if epsilon is not None and at_least(EPSILON, epsilon, 0) > _MOST_EPSILON:
        raise UsageError("{} must be at most {:g}, not {}.", EPSILON, _MOST_EPSILON, epsilon)
    if mu is not None:
        positive("mu", mu)
        if epsilon is not None:
            raise UsageError("Claim {} or mu, not both; with mu, {} says where ε is bounded.", EPSILON, DELTA)
        if method == "binomial":
            raise UsageError("The claim of μ-GDP is tested by method='f-dp'; leave method out.")
    if method not in (None, "binomial", "f-dp"):
        raise UsageError(f"method must be 'binomial' or 'f-dp', not {method!r}.")
    tests = {one: _Test(n, guessed, delta, alpha, one, mu) for one in _METHODS if mu is None or one == "f-dp"}
    at = 1.0 if epsilon is None else epsilon
    chosen: Method = method if method is not None else min(tests, key=lambda one: tests[one].critical(at))
    test = tests[chosen]
    bound = None if mu is not None else test.epsilon_lower(correct)
    bounds = [] if bound is None else [Bound(_METHODS[chosen], bound, delta, None, 1 - alpha, _COINS, True)]
    lowest_mu = one_run.mu_lower(n, guessed, correct, alpha=alpha)
    if mu is not None:
        bounds.append(Bound(_METHODS["f-dp"], None, delta, lowest_mu, 1 - alpha, _COINS, True))
    bounds.append(_in_family(lowest_mu, delta, alpha, _COINS))
    claimed = epsilon if mu is None else mu
    p_value = detectable = None
    if claimed is None:
        verdict = Verdict.INCONCLUSIVE
        reason = _unclaimed(door)
    else:
        p_value, detectable = test.p_value(claimed, correct), test.detectable(claimed)
        verdict, reason = _decided(test, claimed, correct, p_value, detectable, min_power, door)
    return GuessesResult(
        verdict, reason, epsilon, delta, alpha, bound, bounds, call, n, guessed, correct, mu,
        chosen, p_value, detectable,
    )


_MOST_EPSILON = 700.0
_METHODS: dict[Method, str] = {"binomial": "the binomial theorem", "f-dp": "the f-DP theorem"}


@dataclass(frozen=True)
class _Test:
    """A test of a claim by the number of right guesses."""

    n: int
    guessed: int
    delta: float
    alpha: float
    method: Method
    mu: float | None

    def rejects(self, claimed: float, correct: int) -> bool:
        """Whether so many right guesses refute ε = `claimed` at δ, or `claimed`-GDP."""
        if self.method == "binomial":
            return self.p_value(claimed, correct) <= self.alpha
        return one_run.impossible(self.n, self.guessed, correct, self._curve(claimed), self.alpha)

    def p_value(self, claimed: float, correct: int) -> float:
        if self.method == "binomial":
            return one_run.p_value(self.n, self.guessed, correct, epsilon=claimed, delta=self.delta)
        return one_run.tail_bound(self.n, self.guessed, correct, self._curve(claimed))

    def _curve(self, claimed: float) -> one_run.InverseOfPower:
        if self.mu is not None:
            return one_run.gaussian_curve(claimed)
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
        if critical > self.guessed:
            return None
        # P(Bin(guessed, right) >= critical) = POWER
        right = float(special.betaincinv(critical, self.guessed - critical + 1, POWER))
        if right >= 1:
            return None
        return float(special.logit(right)) if self.mu is None else gdp.mu_of_guesses(self.guessed / self.n, right)


def _decided(
    test: _Test, claimed: float, correct: int, p_value: float, detectable: float | None, min_power: float, door: Door
) -> tuple[Verdict, str]:
    """The verdict on a claim, and why."""
    letter = "ε" if test.mu is None else "μ"
    what = (
        f"({stated(claimed)}, {small(test.delta)})-DP mechanism" if test.mu is None
        else f"{stated(claimed)}-GDP mechanism"
    )
    if test.rejects(claimed, correct):
        return Verdict.FAIL, (
            f"{count(correct)} of {count(test.guessed)} guesses are right; those about a {what} are right so often "
            f"with probability at most {upper(p_value)}."
        )
    if min_power == math.inf:
        return Verdict.PASS, f"Not refuted (p = {nearest(p_value)}), which is not a proof."
    if detectable is None or detectable > min_power * claimed:
        seen = (
            "no number of right guesses would refute it" if detectable is None
            else f"only {letter} ≥ {upper(detectable)} would have been detected with probability 0.9, even if every "
            "guess were as good as it can be"
        )
        return Verdict.INCONCLUSIVE, (
            f"Not refuted (p = {nearest(p_value)}), but {seen}. Use more canaries and make more guesses, fixed before "
            f"the run, or a larger alpha; or change {MIN_POWER.called(door)} ({stated(min_power)})."
        )
    return Verdict.PASS, (
        f"Not refuted (p = {nearest(p_value)}), which is not a proof; {letter} ≥ {upper(detectable)} would have been "
        "detected with probability 0.9, if every guess were as good as it can be."
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
    inside, outside = _scores(in_scores, "in_scores"), _scores(out_scores, "out_scores")
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


def _row(label: str, text: str) -> str:
    indent = " " * (_LABEL if label else 2)
    return textwrap.fill(
        text, _WIDTH, initial_indent=f"  {label:<{_LABEL - 2}}" if label else indent, subsequent_indent=indent,
        break_on_hyphens=False, break_long_words=False,
    )


def _alpha(alpha: float) -> float:
    if probability(ALPHA, alpha, open_ends=True) >= 0.5:
        raise UsageError("{} must be below 0.5, not {}.", ALPHA, alpha)
    return float(alpha)


def _in_family(mu: float, delta: float, alpha: float, also: str) -> Bound:
    """The bound that holds if the trade-off curve is Gaussian."""
    epsilon = gdp.epsilon_of(mu, delta)
    shown = epsilon if math.isfinite(epsilon) else None
    return Bound("the Gaussian trade-off curve", shown, delta, mu, 1 - alpha, f"{_FAMILY} {also}", False)


def _scores(values: object, label: str) -> FloatArray:
    """Scores as floats.

    Raises:
        DatasetError: they are no numbers, or one is NaN.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DatasetError(f"{label} must be numbers, one for each canary.") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or not array.size:
        raise DatasetError(f"{label} must have one score for each canary, not the shape {array.shape}.")
    if (bad := int(np.isnan(array).sum())) > 0:
        raise DatasetError(
            f"{label} has {count(bad)} scores that are NaN; give every canary a number, by a rule that does not depend "
            "on whether it was in the data."
        )
    return array


def _plain(value: object) -> Json:
    """A field as JSON holds it."""
    if isinstance(value, Result):
        return None
    if isinstance(value, Band):
        kept = _kept(value.threshold.size)
        return {one.name: _plain(getattr(value, one.name)[kept].tolist()) for one in dataclasses.fields(value)}
    if dataclasses.is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    if isinstance(value, Verdict):
        return value.value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    raise TypeError(type(value).__name__)


def _kept(size: int) -> list[int]:
    """Places of the points of a curve that are drawn: all, or more at both ends than between."""
    if size <= _DRAWN:
        return list(range(size))
    near = np.unique(np.geomspace(1, size // 2, _DRAWN // 2).astype(int)) - 1
    return [int(place) for place in np.unique(np.concatenate([near, size - 1 - near]))]


