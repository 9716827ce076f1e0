"""audit_scores, audit_guesses and count_guesses: verdicts, what they say, and what they refuse."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typed_commands import Typed

import dpaudit
from dpaudit.errors import DpauditError
from dpaudit.results.model import Verdict


def normal(mean: float, n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(mean, 1, n), rng.normal(0, 1, n)


def test_scores_that_refute() -> None:
    result = dpaudit.audit_scores(*normal(2.0), epsilon=1, delta=1e-5, alpha=0.05)
    assert (result.verdict, result.exit_code) == (Verdict.FAIL, 1)
    assert result.epsilon_lower is not None
    assert result.epsilon_lower > 2
    assert "canaries" in result.reason
    thresholds, events, gaussian = result.bounds
    assert thresholds.decides
    assert events.decides
    assert not gaussian.decides
    assert "not tested" in gaussian.assumes
    assert thresholds.confidence + events.confidence == pytest.approx(2 - 0.05)  # they share alpha
    assert result.epsilon_lower == max(thresholds.epsilon or 0, events.epsilon or 0)
    assert result.samples.audit.claim.relation == "add-remove-one"


def test_scores_that_do_not_refute() -> None:
    result = dpaudit.audit_scores(*normal(0.0, 2_000), epsilon=1, alpha=0.05)
    assert (result.verdict, result.exit_code) == (Verdict.PASS, 0)
    assert result.auroc.low < 0.5 < result.auroc.high


def test_the_gaussian_bound_alone_refutes_nothing() -> None:
    """ε = 3 is below the Gaussian bound and above every other one."""
    result = dpaudit.audit_scores(*normal(1.2, 1_000), epsilon=3, delta=1e-5, alpha=0.05)
    assert result.bounds[-1].epsilon is not None
    assert result.bounds[-1].epsilon > 3
    assert result.verdict is not Verdict.FAIL


def test_a_claim_of_zcdp_is_tested_at_its_epsilon() -> None:
    claim = dpaudit.Claim.zcdp(0.1, epsilon=0.5)
    result = dpaudit.audit_scores(*normal(2.0), claim, alpha=0.05)
    assert (result.verdict, result.epsilon, result.delta) == (Verdict.FAIL, 0.5, claim.delta)


def test_a_column_of_scores_is_scores() -> None:
    inside, outside = normal(2.0)
    column = dpaudit.audit_scores(inside[:, None], outside[:, None], epsilon=1, alpha=0.05)
    assert column.epsilon_lower == dpaudit.audit_scores(inside, outside, epsilon=1, alpha=0.05).epsilon_lower


def test_scores_without_a_claim() -> None:
    result = dpaudit.audit_scores(*normal(2.0), delta=1e-5, alpha=0.05)
    assert (result.verdict, result.exit_code, result.epsilon) == (Verdict.INCONCLUSIVE, 3, None)
    assert result.epsilon_lower is not None
    assert result.epsilon_lower > 1


def test_scores_that_were_drawn_from_a_store_have_no_bound() -> None:
    rng = np.random.default_rng(0)
    stored, out = normal(3.0, 30)
    result = dpaudit.audit_scores(rng.choice(stored, 500), rng.choice(out, 500), epsilon=1, alpha=0.05)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.bounds == []
    assert result.epsilon_lower is None


def test_a_low_score_that_means_in_is_noted() -> None:
    inside, outside = normal(-2.0)
    assert "negate them" in str(dpaudit.audit_scores(inside, outside, alpha=0.05))


def test_the_same_seed_gives_the_same_json(tmp_path: Path) -> None:
    one, two = (dpaudit.audit_scores(*normal(1.0), epsilon=1, alpha=0.05, seed=3) for _ in range(2))
    first, second = json.loads(one.to_json()), json.loads(two.to_json())
    for value in (first, second):
        value["samples"] = [audit | {"timings": None} for audit in value["samples"]["audits"]]
    assert first == second
    one.save(tmp_path / "scores.json")
    with pytest.raises(DpauditError, match=r"must end in .json or .html"):
        one.save(tmp_path / "scores.txt")
    assert json.loads((tmp_path / "scores.json").read_text())["kind"] == "scores"
    assert len(first["tradeoff"]["fpr"]) <= 401


def test_guesses_that_refute() -> None:
    result = dpaudit.audit_guesses(1000, 300, 240, epsilon=0.5, delta=1e-5, alpha=0.05)
    assert (result.verdict, result.exit_code, result.method) == (Verdict.FAIL, 1, "binomial")
    assert result.epsilon_lower == pytest.approx(1.1417, abs=1e-4)
    assert result.p_value is not None
    assert result.p_value < 0.001
    assert str(result) == (
        "FAIL  240 of 300 guesses right, 1,000 canaries in one run\n"
        "  240 of 300 guesses are right; those about a (0.5, 1e-05)-DP mechanism are\n"
        "  right so often with probability at most 0.000286.\n"
        "  bound     ε ≥ 1.14 at δ = 1e-05 with 95 % confidence (claim 0.5), by the\n"
        "            binomial theorem\n"
        "  assumes   Every canary was included by its own fair coin, independently of the\n"
        "            others; the guesses were made without knowing the coins, and their\n"
        "            number was fixed before the run.\n"
        "  if GDP    μ ≥ 0.477 and ε ≥ 1.89 at δ = 1e-05 with 95 % confidence, by the\n"
        "            Gaussian trade-off curve\n"
        "  assumes   ε follows from μ only if the trade-off curve of the mechanism is\n"
        "            Gaussian, which is not tested; no verdict on (ε, δ) rests on it.\n"
        "            Every canary was included by its own fair coin, independently of the\n"
        "            others; the guesses were made without knowing the coins, and their\n"
        "            number was fixed before the run.\n"
        "  claim     (0.5, 1e-05)-DP under add-remove-one\n"
        "  alpha     0.05, of the verdict; every further figure has this error by itself"
    )


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [({"epsilon": 1.2}, Verdict.PASS), ({"epsilon": 0.2, "min_power": math.inf, "alpha": 1e-6}, Verdict.PASS),
     ({"mu": 0.4}, Verdict.FAIL), ({"mu": 0.5}, Verdict.PASS), ({}, Verdict.INCONCLUSIVE)],
)
def test_verdicts_on_guesses(claim: dict[str, Any], verdict: Verdict) -> None:
    assert dpaudit.audit_guesses(1000, 300, 240, **{"delta": 1e-5, "alpha": 0.05, **claim}).verdict is verdict


def test_too_few_guesses_are_inconclusive() -> None:
    result = dpaudit.audit_guesses(1000, 20, 14, epsilon=1, alpha=0.05)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "more canaries" in result.reason
    assert dpaudit.audit_guesses(1000, 0, 0, epsilon=1).verdict is Verdict.INCONCLUSIVE


def test_the_method_does_not_depend_on_the_data() -> None:
    """It is chosen by the number of right guesses that would refute, which the data have no part in."""
    for delta, method in ((1e-5, "binomial"), (1e-3, "f-dp")):
        for correct in (0, 150, 300):
            result = dpaudit.audit_guesses(1000, 300, correct, epsilon=1, delta=delta, alpha=0.05)
            assert result.method == method


def test_the_detectable_epsilon_is_detected_with_probability_nine_tenths() -> None:
    from scipy import special, stats

    result = dpaudit.audit_guesses(1000, 300, 150, epsilon=1, alpha=0.05)
    assert result.detectable_epsilon is not None
    right = special.expit(result.detectable_epsilon)
    verdicts = [dpaudit.audit_guesses(1000, 300, k, epsilon=1, alpha=0.05).verdict for k in range(200, 301)]
    critical = 200 + verdicts.index(Verdict.FAIL)
    assert stats.binom.sf(critical - 1, 300, right) == pytest.approx(0.9, abs=1e-6)


def test_json_of_guesses() -> None:
    value = json.loads(dpaudit.audit_guesses(1000, 300, 240, alpha=0.05).to_json())
    assert value["kind"] == "guesses"
    assert value["bounds"][1]["epsilon"] is None  # δ = 0 and Gaussian noise: no ε is finite
    assert value["call"] == "dpaudit.audit_guesses(1000, 300, 240, alpha=0.05)"


def test_a_result_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="verdict"):
        bool(dpaudit.audit_guesses(10, 5, 5))


def test_guesses_are_the_highest_and_the_lowest_scores() -> None:
    inside, outside = np.array([5.0, 4.0, 0.5]), np.array([4.5, 1.0, 0.0])
    assert dpaudit.count_guesses(inside, outside, guess_in=2) == (6, 2, 1)
    assert dpaudit.count_guesses(inside, outside, guess_in=2, guess_out=3) == (6, 5, 3)


def test_equal_scores_are_guessed_by_chance() -> None:
    """All scores equal: 100 guesses "in" of 1,000 canaries; half is right, within 4 standard deviations."""
    n, guessed, correct = dpaudit.count_guesses(np.zeros(500), np.zeros(500), guess_in=100)
    assert (n, guessed) == (1000, 100)
    assert 30 <= correct <= 70


def test_coins_that_were_not_fair_are_refused() -> None:
    with pytest.raises(DpauditError, match="fair coin"):
        dpaudit.count_guesses(np.zeros(900), np.zeros(100), guess_in=100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"guessed": 11}, "There are 10 canaries, so there cannot be 11 guesses."),
        ({"correct": 9}, "Of 8 guesses, 9 cannot be right."),
        ({"guessed": 2.5}, "guessed must be a whole number, not 2.5."),
        ({"alpha": 0}, "alpha must lie strictly between 0 and 1, not 0."),
        ({"alpha": 0.7}, "alpha must be below 0.5, not 0.7."),
        ({"epsilon": -1.0}, "epsilon must be at least 0, not -1.0."),
        ({"epsilon": 1.0, "mu": 1.0}, "Claim epsilon or mu, not both; with mu, delta says where ε is bounded."),
        ({"mu": 1.0, "method": "binomial"}, "The claim of μ-GDP is tested by method='f-dp'; leave method out."),
        ({"method": "guess"}, "method must be 'binomial' or 'f-dp', not 'guess'."),
        ({"min_power": 0.5}, "min_power must be at least 1, not 0.5."),
        ({"delta": 2}, "delta must lie in [0, 1], not 2."),
    ],
)
def test_what_guesses_refuse(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"n": 10, "guessed": 8, "correct": 6, **arguments}
    with pytest.raises(DpauditError, match=f"^{re.escape(message)}$"):
        dpaudit.audit_guesses(**given)


@pytest.mark.parametrize(
    ("scores", "message"),
    [([1.0] * 3, "at least"), ([math.nan] * 20, "NaN"), (["a"] * 20, "numbers"), (np.zeros((20, 2)), "shape")],
)
def test_what_scores_refuse(scores: object, message: str) -> None:
    with pytest.raises(DpauditError, match=message):
        dpaudit.audit_scores(scores, np.arange(20.0), epsilon=1)


# --- claims that are curves ---


@pytest.mark.parametrize("claim", [dpaudit.GaussianDP(1.0), "gdp(1.0)"])
def test_a_curve_that_scores_refute(claim: Any) -> None:
    result = dpaudit.audit_scores(*normal(2.0), claim, alpha=0.05)
    assert (result.verdict, result.mu, result.claim) == (Verdict.FAIL, 1.0, "1-GDP under add-remove-one")
    assert result.reason.startswith('The attack "in if score ≥ ')
    assert "1-GDP leaves a false negative rate of at least" in result.reason
    thresholds = result.bounds[0]
    assert thresholds.mu is not None
    assert thresholds.mu > 1
    assert result.epsilon is not None
    assert result.epsilon_lower is not None


def test_a_curve_that_scores_do_not_refute() -> None:
    result = dpaudit.audit_scores(*normal(1.0, 1_000), dpaudit.GaussianDP(1.1), alpha=0.05)
    assert (result.verdict, result.exit_code) == (Verdict.PASS, 0)


def test_a_curve_that_is_wrong_where_its_reported_point_is_right() -> None:
    """N(1, 1) against N(0, 1) keeps the (ε, δ) of half of a profile; the other point refutes it."""
    wrong, right = (0.0, 0.2), (2.0, 0.06)
    pair = normal(1.0, 5_000)
    result = dpaudit.audit_scores(*pair, dpaudit.Profile([wrong, right]), alpha=0.05)
    assert result.verdict is Verdict.FAIL
    assert dpaudit.audit_scores(*pair, right, alpha=0.05).verdict is Verdict.PASS


def test_a_claim_is_given_once() -> None:
    with pytest.raises(DpauditError, match="given twice"):
        dpaudit.audit_scores(*normal(1.0), dpaudit.GaussianDP(1.0), epsilon=1)
    with pytest.raises(DpauditError, match="Claim epsilon or mu, not both"):
        dpaudit.audit_guesses(1000, 300, 240, dpaudit.GaussianDP(1.0), mu=1.0)
    with pytest.raises(DpauditError, match="a curve is tested by method='f-dp'"):
        dpaudit.audit_guesses(1000, 300, 240, dpaudit.Profile({0: 0.1}), method="binomial")


def test_a_curve_of_guesses() -> None:
    """μ-GDP as a curve is what `mu` claims; a profile of one point is (ε, δ) by the same theorem."""
    for mu in (0.4, 0.6):
        by_name = dpaudit.audit_guesses(1000, 300, 240, mu=mu, alpha=0.05)
        by_curve = dpaudit.audit_guesses(1000, 300, 240, dpaudit.GaussianDP(mu), alpha=0.05)
        assert (by_curve.verdict, by_curve.p_value) == (by_name.verdict, by_name.p_value)
    for epsilon in (0.8, 1.5):
        by_name = dpaudit.audit_guesses(1000, 300, 240, epsilon=epsilon, delta=0.01, method="f-dp", alpha=0.05)
        by_curve = dpaudit.audit_guesses(1000, 300, 240, dpaudit.Profile({epsilon: 0.01}), alpha=0.05)
        assert (by_curve.verdict is Verdict.FAIL) == (by_name.verdict is Verdict.FAIL)
        assert by_curve.p_value == pytest.approx(by_name.p_value, rel=1e-9)


def test_the_power_of_a_curve_is_that_of_its_guesses() -> None:
    """For μ-GDP as a profile: as many guesses are right as Gaussian noise of twice μ allows."""
    from scipy import special, stats

    from dpaudit.api.guesses import _Test
    from dpaudit.stats import gdp

    mu, n, guessed = 0.4, 1000, 300
    claim = dpaudit.Profile({e: gdp.delta_of(mu, e) for e in np.linspace(0, 3, 61).tolist()})
    test = _Test(n, guessed, 0.0, 0.05, "f-dp", claim)
    threshold = 1.0
    for _ in range(60):  # of both kinds of guesses together, a share of 0.3
        threshold += special.ndtr(mu / 2 - threshold) + special.ndtr(-mu / 2 - threshold) - guessed / n
    right = special.ndtr(mu / 2 - threshold) * n / guessed
    assert test.power(1.0) == pytest.approx(stats.binom.sf(test.critical(0.0) - 1, guessed, right), abs=0.02)
    assert test.power(1.0) < test.power(2.0) < test.power(4.0)


# --- pairs and blocks ---


def test_pairs_use_every_score_for_limits_at_all_thresholds() -> None:
    """Each limit is of one error, so it does not matter that the scores of a pair depend on each other."""
    rng = np.random.default_rng(0)
    shared = rng.normal(0, 1, 400)
    pair = shared + rng.normal(2, 0.1, 400), shared + rng.normal(0, 0.1, 400)
    paired = dpaudit.audit_scores(*pair, epsilon=1, alpha=0.05, paired=True)
    assert (paired.n_in, paired.n_out) == (400, 400)
    assert paired.bounds[0].epsilon == dpaudit.audit_scores(*pair, epsilon=1, alpha=0.05).bounds[0].epsilon
    assert paired.bounds[0].assumes.startswith("Pairs of scores are independent")
    assert paired.samples.audit.runs <= 400
    assert paired.call.endswith("paired=True)")


def test_one_score_of_each_block_is_used() -> None:
    inside, outside = normal(2.0, 400)
    labels = [f"run {i // 2}" for i in range(400)], [f"other {i}" for i in range(400)]
    result = dpaudit.audit_scores(inside, outside, epsilon=1, alpha=0.05, blocks=labels)
    assert (result.n_in, result.n_out) == (200, 400)
    assert result.bounds[0].assumes.startswith("Scores of different blocks are independent")


def test_scores_that_look_paired_are_noted() -> None:
    shared = np.random.default_rng(0).normal(0, 1, 300)
    noise = normal(0.2, 300)
    result = dpaudit.audit_scores(shared + noise[0], shared + noise[1], epsilon=1, alpha=0.05)
    assert "declare them paired" in " ".join(str(result).split())


# --- the page ---


def data_of(page: str) -> Any:
    from dpaudit.report.html import embedded_json

    return json.loads(embedded_json(page))


def test_the_page_of_scores(tmp_path: Path) -> None:
    result = dpaudit.audit_scores(*normal(2.0), dpaudit.GaussianDP(1.0), alpha=0.05)
    page = result.to_html()
    assert page.count("<svg class=\"figure\"") == 2
    for words in ("Trade-off curve of the attack", "ROC curve", "95 % band", "claim", "1-GDP under add-remove-one",
                  "TPR at FPR 0.001", "ε follows from μ only if", "The scores are independent draws",
                  "dpaudit.audit_scores(in_scores, out_scores, dpaudit.GaussianDP(mu=1.0), alpha=0.05, seed=0)"):
        assert words in page, words
    assert "://" not in page
    data = data_of(page)
    assert data["kind"] == "scores"
    assert "timings" not in data["samples"]
    assert page == dpaudit.audit_scores(*normal(2.0), dpaudit.GaussianDP(1.0), alpha=0.05).to_html()
    result.save(tmp_path / "scores.html")
    assert (tmp_path / "scores.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize("claim", [{}, {"epsilon": 1.0}, {"mu": 0.4}, {"claim": dpaudit.Profile({0: 0.3, 1: 0.1})}])
def test_the_page_of_guesses(claim: dict[str, Any]) -> None:
    result = dpaudit.audit_guesses(1000, 300, 240, alpha=0.05, **claim)
    page = result.to_html()
    assert "240 of 300 guesses right" in page
    assert ("claim-line" in page.partition("<main")[2]) == (result.epsilon is not None or result.mu is not None)
    assert "None" not in page
    assert data_of(page)["verdict"] == result.verdict.value


def test_the_page_of_scores_without_bounds() -> None:
    rng = np.random.default_rng(0)
    stored, out = normal(3.0, 30)
    page = dpaudit.audit_scores(rng.choice(stored, 500), rng.choice(out, 500), epsilon=1, alpha=0.05).to_html()
    assert "INCONCLUSIVE" in page


def test_a_page_shows_what_a_user_wrote_as_text() -> None:
    from dataclasses import replace

    result = replace(dpaudit.audit_guesses(10, 5, 4), call="dpaudit scores '<script>alert(1)</script>\u202e'")
    page = result.to_html()
    assert "<script>" not in page
    assert "\u202e" not in page


# --- the command line ---


def test_the_page_of_the_command_line(typed: Typed, tmp_path: Path) -> None:
    for name, scores in zip(("in", "out"), normal(2.0), strict=True):
        np.save(tmp_path / f"{name}.npy", scores)
    said = typed(f"scores {tmp_path}/in.npy {tmp_path}/out.npy --claim gdp(1) --paired --html {tmp_path}/page.html")
    assert said.code == 1
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "--paired --claim &#39;gdp(1)&#39;</code>" in page
    said = typed("guesses --canaries 10 --guessed 8 --correct 2 --html -")
    assert (said.code, said.sentence) == (2, "--html writes a file, not stdout; name one.")


def test_scores_on_the_command_line(typed: Typed, tmp_path: Path) -> None:
    for name, scores in zip(("in", "out"), normal(2.0), strict=True):
        np.save(tmp_path / f"{name}.npy", scores)
    said = typed(f"scores {tmp_path}/in.npy {tmp_path}/out.npy --epsilon 1 --alpha 0.05 --json {tmp_path}/result.json")
    assert said.code == 1
    assert said.out == f"{dpaudit.audit_scores(*normal(2.0), epsilon=1, alpha=0.05)}\n"
    value = json.loads((tmp_path / "result.json").read_text())
    assert value["call"].startswith("dpaudit scores ")
    assert value["verdict"] == "fail"


def test_guesses_on_the_command_line(typed: Typed) -> None:
    line = "guesses --canaries 1000 --guessed 300 --correct 240 --delta 1e-05 --alpha 0.05"
    said = typed(f"{line} --epsilon 0.5")
    assert (said.code, said.err) == (1, "")
    assert "ε ≥ 1.14" in said.out
    value = json.loads(typed(f"{line} --epsilon 3 --min-power 1 --json -").out)
    assert value["verdict"] == "inconclusive"
    assert "--min-power" in value["reason"]
    assert value["call"] == f"dpaudit {line} --epsilon 3.0 --min-power 1.0".replace(
        "--delta 1e-05 --alpha 0.05 --epsilon 3.0", "--epsilon 3.0 --delta 1e-05 --alpha 0.05"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("guesses --canaries 10 --guessed 8 --correct 9", "Of 8 guesses, 9 cannot be right."),
        ("guesses --canaries 10 --guessed 8 --correct 2 --method x", "method must be 'binomial' or 'f-dp', not 'x'."),
        ("scores no.npy out.npy", "Cannot read no.npy: No such file or directory."),
    ],
)
def test_what_the_commands_refuse(typed: Typed, line: str, message: str) -> None:
    said = typed(line)
    assert (said.code, said.out, said.sentence) == (2, "", message)
