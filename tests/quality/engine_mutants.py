"""Mutation testing with a fixed list: small mistakes in the engine and in algorithms, which tests must notice.

A mutant replaces one piece of text in one file, so that one property on which a verdict rests no longer holds. Run

    python tests/quality/engine_mutants.py            # all of them, some fifteen minutes on one core
    python tests/quality/engine_mutants.py S4 A10     # some
    python tests/quality/engine_mutants.py --fast     # with the tests that `pytest` runs, without the slow ones
    python tests/quality/engine_mutants.py --list

The script copies the code and the tests to a temporary folder, applies one mutant at a time there and runs the tests
that are named with it; processes that a test starts import the copy too. A mutant is killed if one of them fails. The
exit code is 1 if a mutant survives, 2 if the tests fail without any mutant or the list does not fit the code.
`test_engine_mutants.py` checks in every test run that it does: a mutant whose `old` text does not occur exactly once in
its file is an error, and so is one that names a test that does not exist. Where you change such a text, change the
mutant too, so that it makes the same mistake.

Mutants of mechanisms (is a wrong algorithm refuted?) are in `test_mutants.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("dpaudit", "algorithms", "audits", "tests", "tools", "docs", "README.md", "pyproject.toml")
"""What the temporary folder has of the repository: the code, the tests, and the files that some tests read."""
SECONDS = 600
"""A mutant whose tests take longer is killed: a test run with it would not end."""
NONE_COLLECTED = 5
"""Exit code of pytest where no test has the marks that are asked for."""
PRELOADED = (
    "numpy",
    "scipy.stats",
    "scipy.optimize",
    "scipy.signal",
    "scipy.linalg",
    "flint",
    "hypothesis",
    "joblib",
    "cloudpickle",
    "sklearn.ensemble",
    "statsmodels.stats.proportion",
    "jinja2",
    "jsonschema",
)
"""What every test run imports: it takes longer than most of the tests, so it is done once, before the first one."""


@dataclass(frozen=True)
class Mutant:
    """One mistake.

    Args:
        id: a letter for the place and a number. S and L: statistics; D: audits of DP-SGD; A: evidence, engine, plans
            and subjects; R: recorded outputs; E: events and outputs; T: traces; I: interpreters;
            C: the command line; M: algorithms.
        breaks: the property that no longer holds.
        file: path in the repository.
        old: text that occurs exactly once in the file.
        new: what is put in its place.
        tests: files below `tests/`, or tests in them (`file.py::test_name`), at least one of which must fail.
    """

    id: str
    breaks: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def part(self) -> str:
        """The room of dpaudit, or the source root, that it changes."""
        top, second, *_ = self.file.split("/")
        return f"{top}/{second}" if "." not in second else top

    def mutated(self, root: Path) -> str:
        """The file's text with the mistake in it.

        Raises:
            ValueError: `old` does not occur exactly once, so the list no longer fits the code.
        """
        text = (root / self.file).read_text(encoding="utf-8")
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{self.id}: the text to replace occurs {times} times in {self.file}, not once.")
        return text.replace(self.old, self.new)


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "S1",
        "the Clopper–Pearson bound splits alpha over both limits (x side)",
        "dpaudit/stats/clopper_pearson.py",
        "excess = lower(x, n, alpha=alpha / 2) - delta",
        "excess = lower(x, n, alpha=alpha) - delta",
        ("unit/test_clopper_pearson.py::test_epsilon_lower_is_the_ratio_of_two_one_sided_limits",),
    ),
    Mutant(
        "S2",
        "the lower limit of a probability is the Clopper-Pearson one",
        "dpaudit/stats/clopper_pearson.py",
        "successes, runs - successes + 1, alpha",
        "successes, runs - successes, alpha",
        ("unit/test_clopper_pearson.py::test_interval_agrees_with_statsmodels",),
    ),
    Mutant(
        "S3",
        "statistics that are equal up to rounding count as equal",
        "dpaudit/stats/score_test.py",
        "threshold * (1 - _TIE)",
        "threshold * (1 + _TIE)",
        ("unit/test_score_test.py::test_region_is_where_the_statistic_is_as_large",),
    ),
    Mutant(
        "S4",
        "a decision pays for its confidence set",
        "dpaudit/stats/score_test.py",
        ("    level = alpha - berger_boos\n    return supremum"),
        ("    level = alpha\n    return supremum"),
        ("unit/test_score_test.py::test_the_error_of_the_confidence_set_is_paid_for",),
    ),
    Mutant(
        "S5",
        "an interval of epsilon is tested by the region of its lower end",
        "dpaudit/stats/score_test.py",
        "Region(n, m, math.exp(start), delta, value)",
        "Region(n, m, math.exp(stop), delta, value)",
        (
            "unit/test_score_test.py::test_epsilon_lower_covers_by_enumeration",
            "unit/test_score_test.py::test_epsilon_lower_inverts_the_brute_force_p_value",
        ),
    ),
    Mutant(
        "S6",
        "a bound wants a peak at every smaller epsilon",
        "dpaudit/stats/eprocess.py",
        "length = int(reached.size if reached.all() else np.argmin(reached))",
        "length = int(np.flatnonzero(reached)[-1] + 1) if reached.any() else 0",
        ("unit/test_eprocess.py::test_bound_wants_a_peak_at_every_smaller_epsilon",),
    ),
    Mutant(
        "S7",
        "the alternative of a batch is a function of earlier samples",
        "dpaudit/stats/eprocess.py",
        "(p, q), (q2, p2) = (((e.x + 0.5) / (e.n + 1), (e.y + 0.5) / (e.m + 1)) for e in past)",
        "(p, q), (q2, p2) = (((e.x + x + 0.5) / (e.n + n + 1), (e.y + y + 0.5) / (e.m + m + 1)) for e in past)",
        ("soundness/test_sequential_assumptions.py::test_whatever_came_before_a_batch_multiplies_by_at_most_one_under_the_claim",),
    ),
    Mutant(
        "S8",
        "an alternative weighs each dataset by its own number of samples",
        "dpaudit/stats/eprocess.py",
        "weight = n / m",
        "weight = 1.0",
        ("unit/test_eprocess.py::test_expectation_of_a_batch_is_at_most_one_under_the_claim",),
    ),
    Mutant(
        "S9",
        "an exact epsilon is infinite only where more than delta is impossible (doubles)",
        "dpaudit/stats/hockey_stick.py",
        "math.fsum(p[impossible]) > delta",
        "math.fsum(p[impossible]) >= delta",
        ("unit/test_hockey_stick.py::test_epsilon_at_is_the_worst_event",),
    ),
    Mutant(
        "S10",
        "a bound pays for its confidence set",
        "dpaudit/stats/score_test.py",
        ("    level = alpha - berger_boos\n    # Above"),
        ("    level = alpha\n    # Above"),
        (
            "unit/test_score_test.py::test_epsilon_lower_covers_by_enumeration",
            "unit/test_score_test.py::test_epsilon_lower_inverts_the_brute_force_p_value",
            "unit/test_score_test.py::test_epsilon_lower_is_below_the_first_epsilon_that_is_not_rejected",
        ),
    ),
    Mutant(
        "S11",
        "the upper limit of a probability is one-sided at the stated error",
        "dpaudit/stats/clopper_pearson.py",
        "betainccinv(successes + 1, runs - successes, alpha)",
        "betainccinv(successes, runs - successes + 1, alpha)",
        ("unit/test_clopper_pearson.py::test_interval_agrees_with_statsmodels",),
    ),
    Mutant(
        "S12",
        "the Clopper–Pearson bound splits alpha over both limits (y side)",
        "dpaudit/stats/clopper_pearson.py",
        "math.log(excess / upper(y, m, alpha=alpha / 2))",
        "math.log(excess / upper(y, m, alpha=alpha))",
        ("unit/test_clopper_pearson.py::test_epsilon_lower_is_the_ratio_of_two_one_sided_limits",),
    ),
    Mutant(
        "S13",
        "the confidence bound subtracts delta",
        "dpaudit/stats/clopper_pearson.py",
        "excess = lower(x, n, alpha=alpha / 2) - delta",
        "excess = lower(x, n, alpha=alpha / 2)",
        ("unit/test_clopper_pearson.py::test_epsilon_lower_is_the_ratio_of_two_one_sided_limits",),
    ),
    Mutant(
        "S14",
        "fractional counts are refused",
        "dpaudit/stats/clopper_pearson.py",
        "operator.index(successes), operator.index(runs)",
        "int(successes), int(runs)",
        ("unit/test_clopper_pearson.py::test_bad_arguments_are_refused",),
    ),
    Mutant(
        "S15",
        "a p-value pays for its confidence set",
        "dpaudit/stats/score_test.py",
        "return min(1.0, supremum(region, ratio, delta, segment) + berger_boos)",
        "return min(1.0, supremum(region, ratio, delta, segment))",
        ("unit/test_score_test.py::test_p_value_against_brute_force",),
    ),
    Mutant(
        "S16",
        "the confidence rectangle has the stated error on its p side",
        "dpaudit/stats/score_test.py",
        "p_low, p_high = interval(x, n, alpha=error / 2)",
        "p_low, p_high = interval(x, n, alpha=100 * error)",
        ("unit/test_score_test.py::test_p_value_against_brute_force",),
    ),
    Mutant(
        "S17",
        "the supremum is bounded between the points where it is computed",
        "dpaudit/stats/score_test.py",
        "return min(1.0, max(best, resolved))",
        "return min(1.0, best)",
        ("unit/test_score_test.py::test_p_value_against_brute_force",),
    ),
    Mutant(
        "S18",
        "the supremum is bounded on both sides of a point",
        "dpaudit/stats/score_test.py",
        "_tangent_bound(region, ratio, p, q, half), _tangent_bound(region, ratio, p, q, -half)",
        "_tangent_bound(region, ratio, p, q, half), _tangent_bound(region, ratio, p, q, half)",
        ("unit/test_score_test.py::test_p_value_against_brute_force",),
    ),
    Mutant(
        "S19",
        "binomial tails that are left out of a sum are added to it",
        "dpaudit/stats/score_test.py",
        "total * (1 + rounding) + 4 * _NEGLECTED, 1.0",
        "total * (1 + rounding), 1.0",
        ("unit/test_score_test.py::test_region_probability_is_the_binomial_sum",),
    ),
    Mutant(
        "S20",
        "whole intervals of epsilon are rejected, not their ends",
        "dpaudit/stats/score_test.py",
        "if rejected(bound, bound + step):",
        "if rejected(bound + step, bound + step):",
        ("unit/test_score_test.py::test_epsilon_lower_inverts_the_brute_force_p_value",),
    ),
    Mutant(
        "S21",
        "an interval of epsilon is tested under the null hypothesis of its upper end",
        "dpaudit/stats/score_test.py",
        "ratio = math.exp(stop)",
        "ratio = math.exp(start)",
        ("unit/test_score_test.py::test_epsilon_lower_covers_by_enumeration",),
    ),
    Mutant(
        "S22",
        "the closest point of the line weighs each dataset by its own number of samples",
        "dpaudit/stats/boundary.py",
        "left, right = n + y, (m + x) / ratio",
        "left, right = m + y, (n + x) / ratio",
        ("unit/test_score_test.py::test_statistic_agrees_with_the_cubic",),
    ),
    Mutant(
        "S23",
        "what strategies share out they had before",
        "dpaudit/stats/eprocess.py",
        "shared = np.logaddexp(self._members + math.log1p(-_SHARED), self.log_values + math.log(_SHARED))",
        "shared = np.logaddexp(self._members, self.log_values + math.log(_SHARED))",
        ("soundness/test_sequential_assumptions.py::test_whatever_came_before_a_batch_multiplies_by_at_most_one_under_the_claim",),
    ),
    Mutant(
        "S24",
        "an e-process rejects at ln(1/alpha)",
        "dpaudit/stats/eprocess.py",
        "reached = np.asarray(log_peaks) >= math.log(1 / alpha)",
        "reached = np.asarray(log_peaks) >= math.log(0.5 / alpha)",
        ("unit/test_eprocess.py::test_bound_wants_a_peak_at_every_smaller_epsilon",),
    ),
    Mutant(
        "S25",
        "runs in both events are in the second too",
        "dpaudit/stats/eprocess.py",
        "+ both[0] * np.log1p(stake * (left + s - t * ratio))",
        "+ both[0] * np.log1p(stake * (left + s))",
        ("unit/test_eprocess.py::test_expectation_with_two_events_is_at_most_one_under_the_claim",),
    ),
    Mutant(
        "S26",
        "no factor of an e-value is negative",
        "dpaudit/stats/eprocess.py",
        "stake = np.minimum(strength, most)",
        "stake = np.minimum(strength, 1.2 * most)",
        ("unit/test_eprocess.py::test_expectation_of_a_batch_is_at_most_one_under_the_claim",),
    ),
    Mutant(
        "S27",
        "the weights of the strategies sum to 1",
        "dpaudit/stats/eprocess.py",
        "[(1 - _SUGGESTED) / SIGNALS.size] * SIGNALS.size",
        "[1 / SIGNALS.size] * SIGNALS.size",
        ("unit/test_eprocess.py::test_process_is_the_average_of_its_strategies",),
    ),
    Mutant(
        "S28",
        "the exact epsilon subtracts delta",
        "dpaudit/stats/hockey_stick.py",
        "np.concatenate((p[:k], -q[:k], [-delta]))",
        "np.concatenate((p[:k], -q[:k], [0.0]))",
        ("unit/test_hockey_stick.py::test_epsilon_at_is_the_worst_event",),
    ),
    Mutant(
        "S29",
        "a pair is compared in both directions",
        "dpaudit/stats/hockey_stick.py",
        "return np.maximum(profile(p, q, epsilons), profile(q, p, epsilons))",
        "return profile(p, q, epsilons)",
        ("unit/test_hockey_stick.py::test_profile_is_the_divergence_at_each_epsilon",),
    ),
    Mutant(
        "S30",
        "the optimal event attains the divergence",
        "dpaudit/stats/hockey_stick.py",
        "return _excess(p, q, epsilon) > 0",
        "return _excess(p, q, epsilon) >= 0",
        ("unit/test_hockey_stick.py::test_divergence_is_the_best_event",),
    ),
    Mutant(
        "S31",
        "probabilities that do not sum to 1 are refused",
        "dpaudit/stats/hockey_stick.py",
        "_SUM_TOLERANCE = 1e-9",
        "_SUM_TOLERANCE = 1e-3",
        ("unit/test_hockey_stick.py::test_what_is_no_law_is_refused",),
    ),
    Mutant(
        "S32",
        "the doubles around an interval contain it (from below)",
        "dpaudit/stats/enclosure.py",
        "low if arb(low) <= number else math.nextafter(low, -math.inf)",
        "low",
        ("unit/test_enclosure.py::test_the_doubles_around_a_ball_contain_it",),
    ),
    Mutant(
        "S33",
        "an exact epsilon is infinite only where more than delta is impossible",
        "dpaudit/stats/enclosure.py",
        "if outside > allowed:",
        "if outside >= allowed:",
        ("unit/test_enclosure.py::test_epsilon_contains_brute_force_over_all_events",),
    ),
    Mutant(
        "S34",
        "the lower end of an epsilon holds for every law in the intervals",
        "dpaudit/stats/enclosure.py",
        "low = outward(best).low",
        "low = float(best.mid())",
        ("unit/test_enclosure.py::test_an_enclosure_holds_for_every_law_in_wide_intervals",),
    ),
    Mutant(
        "S35",
        "the upper end of an epsilon holds for every law in the intervals",
        "dpaudit/stats/enclosure.py",
        "if delta_at(p, q, above) <= allowed:",
        "if delta_at(p, q, above).mid() <= allowed:",
        (
            (
                "unit/test_enclosure.py::test_an_outcome_known_less_well_than_the_best_event_counts_with_a"
                "ll_that_it_may_have"
            ),
        ),
    ),
    Mutant(
        "S36",
        "a claim bounds the trade-off curve from both directions",
        "dpaudit/stats/tradeoff.py",
        "np.exp(-epsilon) * (rest - at)",
        "rest - np.exp(epsilon) * at",
        ("unit/test_tradeoff.py::test_the_curve_of_a_claim_is_its_profile",),
    ),
    Mutant(
        "S37",
        "what so many samples can show at most depends on delta",
        "dpaudit/stats/power.py",
        "math.log1p(-delta) - math.log(-math.expm1(exponent))",
        "-math.log(-math.expm1(exponent))",
        ("unit/test_power.py::test_largest_certifiable_with_a_delta",),
    ),
    Mutant(
        "S38",
        "the detectable epsilon is detected with the stated power",
        "dpaudit/stats/power.py",
        "if _probability(region, truth(middle), q) >= power:",
        "if _probability(region, truth(middle), q) >= power / 2:",
        ("unit/test_power.py::test_detectable_epsilon_is_where_the_power_is_reached",),
    ),
    Mutant(
        "S39",
        "the bound on the loss of noise encloses it from above",
        "dpaudit/stats/noise_profile.py",
        "min(1.0, outward(high).high)",
        "min(1.0, float(high.mid()))",
        ("unit/test_noise_profile.py::test_geometric_draws_are_exact",),
    ),
    Mutant(
        "S40",
        "ranks of equal outputs are shared when calls are compared",
        "dpaudit/stats/kruskal_wallis.py",
        "np.cumsum(ties) - (ties - 1) / 2",
        "np.cumsum(ties)",
        ("unit/test_kruskal_wallis.py::test_it_is_the_same_as_scipys",),
    ),
    Mutant(
        "D1",
        "the squares of noise across the canary have as many degrees of freedom as coordinates",
        "dpaudit/training/checks.py",
        "int((transcript.dimension[known] - 1).sum() + outside.sum())",
        "int(transcript.dimension[known].sum() + outside.sum())",
        ("unit/test_training.py::test_direct_checks_keep_their_error",),
    ),
    Mutant(
        "D2",
        "a loop with more noise than claimed is not accused of a canary that adds too much",
        "dpaudit/training/checks.py",
        "std = max(claim.noise_std, _std_upper(squares, freedom, alpha / 2))",
        "std = claim.noise_std",
        ("unit/test_training.py::test_more_noise_than_claimed_is_no_violation",),
    ),
    Mutant(
        "D3",
        "the test of the noise's scale has both of its tails",
        "dpaudit/training/checks.py",
        "2 * float(min(special.fdtr",
        "float(min(special.fdtr",
        ("unit/test_training.py::test_direct_checks_keep_their_error",),
    ),
    Mutant(
        "D4",
        "the number of batches with the canary has the binomial tail of the claimed rate",
        "dpaudit/training/checks.py",
        "float(special.betainc(successes, trials - successes + 1, chance))",
        "float(special.betainc(successes + 1, trials - successes, chance)) if successes < trials else 0.0",
        ("unit/test_training.py::test_tails_and_limits_are_exact",),
    ),
    Mutant(
        "S61",
        "limits for all thresholds at once have less than alpha each",
        "dpaudit/stats/bands.py",
        "level = local_level(n, alpha) * _weights(held)",
        "level = alpha * _weights(held)",
        ("unit/test_bands.py::test_all_limits_hold_together",),
    ),
    Mutant(
        "S62",
        "the one-run bound pays for delta twice per canary",
        "dpaudit/stats/one_run.py",
        "tail + 2 * n * delta * steepest",
        "tail + n * delta * steepest",
        ("unit/test_one_run.py::test_p_value_is_the_published_one",),
    ),
    Mutant(
        "S63",
        "the recursion of the f-DP theorem moves as many right guesses as wrong ones allow",
        "dpaudit/stats/one_run.py",
        "right += i / (guessed - i) * (least - wrong)",
        "right += (i + 1) / (guessed - i) * (least - wrong)",
        ("unit/test_one_run.py::test_recursion_is_the_linear_program",),
    ),
    Mutant(
        "S64",
        "the bound on mu takes upper limits of both errors",
        "dpaudit/stats/gdp.py",
        "return mu_of_errors(upper(y, m, alpha=alpha / 2), ",
        "return mu_of_errors(y / m, ",
        ("unit/test_gdp.py::test_exact_error_of_the_bound_from_counts",),
    ),
    Mutant(
        "S65",
        "the best threshold has upper limits of both errors",
        "dpaudit/stats/membership.py",
        "fpr=bands.upper_limits(positives, outside.size, alpha=alpha / 2)",
        "fpr=np.maximum(positives, 1) / outside.size",
        ("unit/test_membership.py::test_the_best_threshold_by_trying_all",),
    ),
    Mutant(
        "S66",
        "scores that contradict independence have no bounds",
        "dpaudit/api/scores.py",
        "    if not (audit.crashed or any(one.holds is False for one in audit.assumptions)):",
        "    if True:",
        ("unit/test_canaries.py::test_scores_that_were_drawn_from_a_store_have_no_bound",),
    ),
    Mutant(
        "S83",
        "a trade-off function is compared with upper limits of both errors",
        "dpaudit/stats/membership.py",
        "gaps = least - self.fnr",
        "gaps = 1.1 * least - self.fnr",
        ("unit/test_membership.py::test_a_curve_is_exceeded_where_a_bound_says_so",),
    ),
    Mutant(
        "S84",
        "all scores are used only where no block has two of one kind",
        "dpaudit/api/scores.py",
        "alone = recorded.blocks is not None and all(",
        "alone = recorded.blocks is not None and any(",
        ("unit/test_canaries.py::test_one_score_of_each_block_is_used",),
    ),
    Mutant(
        "S41",
        "a distance exceeds a claim only where it is larger, exactly",
        "dpaudit/evidence/output_distance.py",
        "return self.value > (limit * limit if self.squared else limit)",
        "return float(self) > float(limit)",
        ("unit/test_output_distance.py",),
    ),
    Mutant(
        "S42",
        "the square of an l2 distance is compared with the square of the claim",
        "dpaudit/evidence/output_distance.py",
        "(limit * limit if self.squared else limit)",
        "limit",
        ("unit/test_output_distance.py", "unit/test_stability.py"),
    ),
    Mutant(
        "S43",
        "a function whose outputs vary is refused before it is accused",
        "dpaudit/evidence/stability.py",
        "findings.worst = search.confirmed(search.minimized(worst) if job.pair is None else worst)",
        "findings.worst = search.minimized(worst) if job.pair is None else worst",
        ("unit/test_stability.py::test_rare_randomness_is_refused_before_it_accuses",),
    ),
    Mutant(
        "S44",
        "a domain is proved only where every pair of it was tried",
        "dpaudit/evidence/stability.py",
        "if len(self.tried) == len(pairs):",
        "if self.tried:",
        ("unit/test_stability.py::test_a_search_that_is_cut_short_proves_nothing",),
    ),
    Mutant(
        "S45",
        "a user whose records change is two steps",
        "dpaudit/language/users.py",
        "different = len(mine) + len(others) - 2 * len(same)",
        "different = len({*mine, *others}) - len(same)",
        ("unit/test_relation.py::test_users_distance_is_the_shortest_chain",),
    ),
    Mutant(
        "S46",
        "users whose records come in another order are not the same",
        "dpaudit/language/users.py",
        "return different + 2 * self._out_of_order(tuple(left), tuple(right), frozenset(same))",
        "return different",
        ("unit/test_relation.py::test_users_whose_records_interleave_differently",),
    ),
    Mutant(
        "S70",
        "a trade-off function given as a function is replaced by one below it",
        "dpaudit/language/curves.py",
        "return cls(_below(grid, np.minimum(np.maximum(values, 0.0), 1 - grid)).tolist())",
        "return cls(zip(grid.tolist(), np.minimum(np.maximum(values, 0.0), 1 - grid).tolist(), strict=True))",
        ("unit/test_curves.py::test_a_smooth_tradeoff_function_is_taken_from_below",),
    ),
    Mutant(
        "S71",
        "the Rényi region holds for events and their complements in both directions",
        "dpaudit/language/zcdp.py",
        "np.logaddexp(log_q - extra * happens, log_not_q - extra * not_happens),",
        "np.logaddexp(log_p + extra * happens, log_not_p + extra * not_happens),",
        ("unit/test_curves.py::test_renyi_allows_exactly_the_bits_within_its_divergence",),
    ),
    Mutant(
        "S72",
        "every batch of a curve is tested at a point of the claim",
        "dpaudit/stats/eprocess.py",
        "else (_grid([point[0]]), point[1])",
        "else (_grid([point[0]]), 0.9 * point[1])",
        ("unit/test_eprocess.py::test_a_point_takes_the_place_of_the_grid",),
    ),
    Mutant(
        "S90",
        "a divergence from above takes the lower ends of q",
        "dpaudit/stats/log_bounds.py",
        "_divergences(bounds.p_high, bounds.q_low, orders, up=True)",
        "_divergences(bounds.p_high, bounds.q_high, orders, up=True)",
        ("unit/test_log_bounds.py::test_wide_bounds_hold_whatever_the_probabilities_are",),
    ),
    Mutant(
        "S91",
        "the least μ from above takes the upper ends of p in their own order",
        "dpaudit/stats/log_bounds.py",
        "high = _needed(_sums(bounds.p_high, order, up=True)",
        "high = _needed(_sums(bounds.p_low, order, up=True)",
        ("unit/test_log_bounds.py::test_wide_bounds_hold_whatever_the_probabilities_are",),
    ),
    Mutant(
        "S92",
        "probabilities that doubles lost may have any ratio",
        "dpaudit/stats/log_bounds.py",
        "lost = one < LEAST",
        "lost = one < 0",
        ("unit/test_log_bounds.py::test_probabilities_that_no_double_holds_keep_their_ratio",),
    ),
    Mutant(
        "S93",
        "a curve is proved on a domain only if every pair keeps all of it for certain",
        "dpaudit/engine/verdict.py",
        "(whole is None or whole.keeps is not True)",
        "(whole is None or whole.keeps is False)",
        ("unit/test_curve_sweep.py::test_what_intervals_do_not_decide_is_inconclusive",),
    ),
    Mutant(
        "L1",
        "arithmetic of intervals is rounded outward",
        "dpaudit/stats/enclosed.py",
        "interval = does(a.interval, b.interval)",
        "interval = does(a.interval.mid(), b.interval.mid())",
        ("soundness/test_enclosed.py::test_arithmetic_contains_the_exact_value",),
    ),
    Mutant(
        "L2",
        "operands of an interval keep their order",
        "dpaudit/stats/enclosed.py",
        "interval = does(a.interval, b.interval)",
        "interval = does(self.interval, there.interval)",
        ("soundness/test_enclosed.py::test_arithmetic_contains_the_exact_value",),
    ),
    Mutant(
        "L3",
        "functions of an interval hold for all of it",
        "dpaudit/stats/enclosed.py",
        "interval = does(x.interval)",
        "interval = does(x.interval.mid())",
        ("soundness/test_enclosed.py::test_functions_contain_the_exact_value",),
    ),
    Mutant(
        "L4",
        "intervals that overlap are not compared without a note",
        "dpaudit/stats/enclosed.py",
        '        self.roundings.note("a comparison of two numbers that are too close to distinguish")\n',
        "",
        ("soundness/test_enclosed.py::test_what_intervals_leave_open_is_noted",),
    ),
    Mutant(
        "L5",
        "only the same computation gives the same number",
        "dpaudit/stats/enclosed.py",
        "    for one in of:\n        image",
        "    for one in sorted(of, key=lambda one: one.origin):\n        image",
        ("soundness/test_enclosed.py::test_other_computations_are_other_numbers",),
    ),
    Mutant(
        "L6",
        "a parameter is the decimal that it was written as",
        "dpaudit/stats/enclosed.py",
        "return Enclosed(Fraction(repr(number)), roundings)",
        "return Enclosed(Fraction(number), roundings)",
        ("soundness/test_enclosed.py::test_parameters_are_decimals",),
    ),
    Mutant(
        "L7",
        "a double of many digits is noted where an exact number meets it",
        "dpaudit/stats/enclosed.py",
        "if not short(value):\n            roundings",
        "if not math.isfinite(value):\n            roundings",
        ("soundness/test_enclosed.py::test_parameters_are_decimals",),
    ),
    Mutant(
        "L8",
        "a number that is made a float is noted",
        "dpaudit/stats/enclosed.py",
        '        self.roundings.note("a number of the program, converted to a double")\n',
        "",
        ("soundness/test_enclosed.py::test_a_program_that_rounds_is_not_certain",),
    ),
    Mutant(
        "L9",
        "the message of an exception tells no outcomes apart",
        "dpaudit/outputs/canonical.py",
        'where: str = field(default="", compare=False)',
        'where: str = ""',
        ("soundness/test_failures_of_mechanisms.py::test_the_exact_output_distribution",),
    ),
    Mutant(
        "L10",
        "values of two types that are equal are refused in either order",
        "dpaudit/outputs/canonical.py",
        "if before != text:",
        "if before is not None and before != text:",
        ("soundness/test_odd_outputs.py::test_equal_values_that_can_be_distinguished_are_no_pass",),
    ),
    Mutant(
        "L11",
        "forms that differ between the datasets are told",
        "dpaudit/outputs/form.py",
        "                if before != text:\n",
        "                if before is None:\n",
        ("soundness/test_forms.py::test_types_in_exact_output_distributions",),
    ),
    Mutant(
        "L12",
        "a claim's numbers are floats",
        "dpaudit/language/claim.py",
        "                object.__setattr__(self, name, float(value))",
        "                object.__setattr__(self, name, value)",
        ("unit/test_claim.py::test_numbers_of_other_types_are_the_floats_that_they_are",),
    ),
    Mutant(
        "I1",
        "a mechanism that ends with another has fresh samples",
        "dpaudit/interpret/sample.py",
        "tally.merge(_sample(end.mechanism, end.dataset, size, rng, watch, known.inside))",
        "tally.merge(_sample(end.mechanism, end.dataset, size, default_rng(0), watch, known.inside))",
        ("soundness/test_sample_counts.py::test_a_mechanism_that_ends_with_another_has_fresh_samples",),
    ),
    Mutant(
        "I2",
        "all samples of a branch of a split draw go on",
        "dpaudit/interpret/sample.py",
        "times) for v, times in others)",
        "1) for v, times in others)",
        ("unit/test_sample.py::test_continuations_and_tail_calls",),
    ),
    Mutant(
        "I3",
        "composed claims must imply the stated one, not the other way round",
        "dpaudit/interpret/ledger.py",
        "return self.composed.implies(self.claim) or",
        "return self.claim.implies(self.composed) or",
        ("unit/test_ledger.py",),
    ),
    Mutant(
        "I4",
        "claims are taken for groups of the size in which a pair differs",
        "dpaudit/interpret/loss_breakdown.py",
        "claim is None or claim.relation.size > 1 else claim.group(group)",
        "claim is None or claim.relation.size > 1 else claim",
        (
            "unit/test_loss_breakdown_report.py",
            "unit/test_loss_breakdown.py",
        ),
    ),
    Mutant(
        "I5",
        "noise is moved by the difference of what was released",
        "dpaudit/interpret/released.py",
        "gap = type(a.draws[at]), other + shift - centre",
        "gap = type(a.draws[at]), other - shift - centre",
        ("unit/test_released.py",),
    ),
    Mutant(
        "I6",
        "samples of all branches and parts are kept",
        "dpaudit/interpret/sample.py",
        ("        self.others.extend(other.others)\n"),
        ("        self.others = list(other.others) or self.others\n"),
        (
            "soundness/test_sample_counts.py::test_samples_of_all_branches_are_put_together",
            "soundness/test_sample_counts.py::test_outputs_of_every_kind_are_counted_once",
        ),
    ),
    Mutant(
        "I7",
        "a range of integers grows at the right end",
        "dpaudit/interpret/law.py",
        "np.pad(self.dense, (self.low - new_low, new_high - end))",
        "np.pad(self.dense, (new_high - end, self.low - new_low))",
        ("unit/test_law.py",),
    ),
    Mutant(
        "I8",
        "a part without a claim is not free",
        "dpaudit/interpret/ledger.py",
        "if not known or len(known) < len(claims) or",
        "if not known or",
        ("unit/test_ledger.py::test_an_unmarked_draw_is_not_accounted_for",),
    ),
    Mutant(
        "I9",
        "a tree is complete only if every part is",
        "dpaudit/interpret/ledger.py",
        "return all(part.complete for part in self.parts)",
        "return any(part.complete for part in self.parts)",
        ("unit/test_ledger.py::test_an_unmarked_draw_is_not_accounted_for",),
    ),
    Mutant(
        "I10",
        "of two runs the ledger shows the dearer one",
        "dpaudit/interpret/ledger.py",
        "return self if (losses[0].epsilon, losses[0].delta) >= (losses[1].epsilon, losses[1].delta) else other",
        "return other if (losses[0].epsilon, losses[0].delta) >= (losses[1].epsilon, losses[1].delta) else self",
        ("unit/test_ledger.py::test_the_dearest_run_counts",),
    ),
    Mutant(
        "I11",
        "labels of a draw may repeat: their probabilities add up",
        "dpaudit/interpret/law.py",
        "np.add.at(self.dense, values.astype(np.int64) - self.low, mass * probs)",
        "self.dense[values.astype(np.int64) - self.low] += mass * probs",
        ("unit/test_law.py::test_repeated_labels_lose_no_mass",),
    ),
    Mutant(
        "I12",
        "datasets that are equal for Python and not alike share no law",
        "dpaudit/outputs/fingerprint.py",
        "return thing, fingerprint(thing, every_field=True)",
        "return thing",
        ("unit/test_law.py::test_the_cache_keeps_apart_what_is_equal_and_not_the_same",),
    ),
    Mutant(
        "I13",
        "a law in doubles is not in intervals",
        "dpaudit/interpret/law.py",
        "key: Hashable = (arithmetic, key_of(mechanism), key_of(dataset))",
        "key: Hashable = (key_of(mechanism), key_of(dataset))",
        ("unit/test_enclosures.py::test_a_cache_that_has_the_law_in_doubles_gives_no_doubles_for_intervals",),
    ),
    Mutant(
        "I14",
        "an event that is closed contains its end",
        "dpaudit/interpret/enclosures.py",
        "return strict + _at(event.noise, event.t) if event.closed else strict",
        "return strict",
        ("unit/test_enclosures.py::test_intervals_agree_with_doubles_and_sum_to_one",),
    ),
    Mutant(
        "I15",
        "the mass beyond a bound of clipped noise is on the bound",
        "dpaudit/interpret/enclosures.py",
        "return _above(noise.base, t) + _at(noise.base, t)",
        "return _above(noise.base, t)",
        ("unit/test_enclosures.py::test_intervals_agree_with_doubles_and_sum_to_one",),
    ),
    Mutant(
        "I16",
        "intervals of a softmax use the coefficient as it is given",
        "dpaudit/interpret/enclosures.py",
        "weights = {score: ((to_interval(score) - top) * coefficient).exp() for score in set(scores)}",
        "weights = {score: ((to_interval(score) - top) * coefficient / 2).exp() for score in set(scores)}",
        ("unit/test_enclosures.py::test_intervals_agree_with_doubles_and_sum_to_one",),
    ),
    Mutant(
        "I17",
        "state between the calls of a mechanism is noticed",
        "dpaudit/interpret/walk.py",
        "if paths > 1:",
        "if paths > 1_000_000:",
        ("unit/test_walk.py::test_other_randomness_is_caught",),
    ),
    Mutant(
        "I18",
        "use of a global generator is noticed",
        "dpaudit/interpret/walk.py",
        "if now == self._before:",
        "if True:",
        ("unit/test_walk.py::test_other_randomness_is_caught",),
    ),
    Mutant(
        "I19",
        "every sample of a split draw goes on",
        "dpaudit/interpret/sample.py",
        "yield from ((value, 1) for value in self.others)",
        "yield from ()",
        ("unit/test_sample.py::test_others_reach_through_parts",),
    ),
    Mutant(
        "I20",
        "a bulk gives as many outputs as it was asked for",
        "dpaudit/interpret/sample.py",
        "if outputs.runs != runs:",
        "if outputs.runs > runs:",
        ("unit/test_sample.py::test_bulk_with_a_wrong_number_of_outputs",),
    ),
    Mutant(
        "I21",
        "an outcome that many samples share is counted for each",
        "dpaudit/interpret/sample.py",
        "self.add(objects[at], times)",
        "self.add(objects[at], 1)",
        ("unit/test_sample.py::test_bulk_of_every_form",),
    ),
    Mutant(
        "I22",
        "merged counts add up",
        "dpaudit/interpret/sample.py",
        "            self._count(value, count)",
        "            self.counts[value] = count",
        (
            "unit/test_sample.py::test_runs_in_a_part_share_too",
            "unit/test_sample.py::test_tallies_merge",
        ),
    ),
    Mutant(
        "I23",
        "laws over unions of outcomes keep each side apart",
        "dpaudit/interpret/law.py",
        "p[np.searchsorted(values, left.values)] = left.probs",
        "p[np.searchsorted(values, left.values)] = left.probs.max()",
        ("unit/test_law.py::test_align",),
    ),
    Mutant(
        "I24",
        "the loss along a path is from D to D′",
        "dpaudit/interpret/loss_breakdown.py",
        "return math.log(p[at]) - math.log(q[at]) if q[at] > 0 else math.inf",
        "return math.log(q[at]) - math.log(p[at]) if q[at] > 0 else math.inf",
        ("unit/test_loss_breakdown.py::test_two_counts_composed",),
    ),
    Mutant(
        "I25",
        "constants in the defaults of a function are noted",
        "dpaudit/interpret/parameters.py",
        "    for value in function.__defaults__ or ():\n",
        "    for value in ():\n",
        ("soundness/test_enclosed.py::test_a_program_that_rounds_is_not_certain",),
    ),
    Mutant(
        "I26",
        "functions that round are noted by name",
        "dpaudit/interpret/parameters.py",
        "for called in _rounding_calls(code, function.__globals__):",
        "for called in ():",
        ("soundness/test_enclosed.py::test_a_program_that_rounds_is_not_certain",),
    ),
    Mutant(
        "I27",
        "what a dataclass rounds when it is made is noted",
        "dpaudit/interpret/parameters.py",
        "    if set(held) == set(parts) and all(held[name] is part for name, part in parts.items()):\n",
        "    if True:\n",
        ("soundness/test_enclosed.py::test_a_program_that_rounds_is_not_certain",),
    ),
    Mutant(
        "I28",
        "the first distributions on exact numbers are compared with those on doubles",
        "dpaudit/interpret/law.py",
        "if self._number > COMPARED and self._number & (self._number - 1) and not fails and not compared:",
        "if not fails:",
        ("soundness/test_odd_outputs.py::test_a_program_that_behaves_differently_on_exact_numbers",),
    ),
    Mutant(
        "I29",
        "a failure on exact numbers is compared with doubles, also of a later distribution",
        "dpaudit/interpret/law.py",
        "if self._number > COMPARED and self._number & (self._number - 1) and not fails and not compared:",
        "if self._number > COMPARED and self._number & (self._number - 1) and not compared:",
        ("soundness/test_odd_outputs.py::test_a_program_that_fails_late_on_exact_numbers",),
    ),
    Mutant(
        "I30",
        "equal outputs of two datasets that an attacker can distinguish are refused",
        "dpaudit/interpret/law.py",
        "kinds = self._kinds.setdefault((image, exact), Kinds())",
        "kinds = Kinds()",
        ("soundness/test_odd_outputs.py::test_equal_values_that_can_be_distinguished_are_not_proved",),
    ),
    Mutant(
        "I31",
        "lack of memory is no outcome",
        "dpaudit/interpret/walk.py",
        "_NOT_ITS_OWN = (DpauditError, MemoryError, RecursionError)",
        "_NOT_ITS_OWN = (DpauditError, RecursionError)",
        ("soundness/test_failures_of_mechanisms.py::test_what_says_nothing_about_the_program_is_no_outcome",),
    ),
    Mutant(
        "I32",
        "a program that goes on after a part has failed is not taken for a failure",
        "dpaudit/interpret/walk.py",
        "        except StopIteration:\n            pass\n        except Exception as error:\n            if error",
        "        except StopIteration:\n            return\n        except Exception as error:\n            if error",
        ("soundness/test_failures_of_mechanisms.py::test_catching_a_part_s_failure_is_refused",),
    ),
    Mutant(
        "I33",
        "nothing follows on a draw that has failed",
        "dpaudit/interpret/walk.py",
        "    if type(value) is Raised:\n        return value\n    try:\n        return draw",
        "    try:\n        return draw",
        ("soundness/test_failures_of_mechanisms.py::test_the_exact_output_distribution",),
    ),
    Mutant(
        "I34",
        "exact output distributions hold the forms of outputs",
        "dpaudit/interpret/law.py",
        "    return form(output)\n",
        '    return ""\n',
        ("soundness/test_forms.py::test_types_in_exact_output_distributions",),
    ),
    Mutant(
        "I35",
        "the types beside released noise are compared",
        "dpaudit/interpret/released.py",
        "return (type(output).__name__, *[",
        'return ("tuple", *[',
        ("soundness/test_forms.py::test_types_beside_released_noise",),
    ),
    Mutant(
        "I36",
        "the form of a sub-mechanism's output goes on with it where it is the output",
        "dpaudit/interpret/law.py",
        'self._add(value, mass * p, part.forms.get(value, ""))\n\n    def add_all(self, values: Values, probs: Iter',
        'self._add(value, mass * p, "")\n\n    def add_all(self, values: Values, probs: Iter',
        ("soundness/test_forms.py::test_types_in_exact_output_distributions",),
    ),
    Mutant(
        "I37",
        "fields that == leaves out make another mechanism",
        "dpaudit/outputs/fingerprint.py",
        "return thing, fingerprint(thing, every_field=True)",
        "return thing, fingerprint(thing)",
        ("soundness/test_mechanisms_that_look_equal.py::test_each_part_of_a_mechanism_has_its_own_distribution",),
    ),
    Mutant(
        "I38",
        "classes of one name are two",
        "dpaudit/outputs/fingerprint.py",
        "return thing, fingerprint(thing, every_field=True)",
        "return fingerprint(thing, every_field=True)",
        ("soundness/test_mechanisms_that_look_equal.py::test_each_audit_of_a_command_is_of_its_own_mechanism",),
    ),
    Mutant(
        "I39",
        "lambdas of one name are two",
        "dpaudit/outputs/fingerprint.py",
        "return (thing.__module__, thing.__qualname__, _code(thing.__code__),",
        "return (thing.__module__, thing.__qualname__,",
        ("soundness/test_mechanisms_that_look_equal.py::test_a_function_is_known_by_its_code_and_not_by_its_name",),
    ),
    Mutant(
        "I40",
        "the distributions of a pair are compared with those on doubles",
        "dpaudit/interpret/law.py",
        "and not fails and not compared:",
        "and not fails:",
        ("soundness/test_odd_outputs.py::test_the_distributions_of_a_pair_are_compared_however_many_came_before",),
    ),
    Mutant(
        "I41",
        "a place whose content a program has changed is run again",
        "dpaudit/interpret/known_paths.py",
        "return not self._may_change or fingerprint(self.node, every_field=True) == self._content",
        "return True",
        ("soundness/test_known_paths.py::test_the_outputs_are_those_of_the_program",),
    ),
    Mutant(
        "I42",
        "a place is known once two runs agree",
        "dpaudit/interpret/known_paths.py",
        "AGREEING = 2",
        "AGREEING = 1",
        ("soundness/test_known_paths.py::test_a_program_that_changes_between_blocks_is_found",),
    ),
    Mutant(
        "I43",
        "paths are of one dataset",
        "dpaudit/interpret/known_paths.py",
        "key = key_of(dataset)",
        "key = 0",
        ("soundness/test_known_paths.py::test_a_target_remembers_them_for_each_dataset_and_its_copies_begin_anew",),
    ),
    Mutant(
        "I44",
        "what else is there is compared with what was found",
        "dpaudit/interpret/known_paths.py",
        "if self._seen and image != self._image:",
        "if False:",
        ("soundness/test_known_paths.py::test_a_program_that_changes_between_blocks_is_found",),
    ),
    Mutant(
        "I45",
        "values that are equal and not the same are not counted as one",
        "dpaudit/interpret/sample.py",
        "if known is not None and self.kinds.get(outcome) != kinds:",
        "if False:",
        ("soundness/test_equal_values_in_a_program.py::test_no_program_is_sent_the_one_for_the_other",),
    ),
    Mutant(
        "I46",
        "runs that found other fields do not agree",
        "dpaudit/interpret/known_paths.py",
        "self._seen = self._seen + 1 if content == self._content else 1",
        "self._seen = self._seen + 1",
        ("soundness/test_known_paths.py::test_the_outputs_are_those_of_the_program",),
    ),
    Mutant(
        "A1",
        "interim analyses share their part of alpha",
        "dpaudit/plans/alpha_shares.py",
        "self.analyses / tests / (INTERIM_ANALYSES - 1)",
        "self.analyses / tests",
        ("soundness/test_sequential_assumptions.py::test_all_that_may_reject_in_a_case_uses_its_alpha_and_no_more",),
    ),
    Mutant(
        "A2",
        "the shares of a case sum to alpha",
        "dpaudit/plans/alpha_shares.py",
        "0.02 * alpha, 0.3 * alpha)",
        "0.02 * alpha, 0.4 * alpha)",
        ("soundness/test_sequential_assumptions.py::test_all_that_may_reject_in_a_case_uses_its_alpha_and_no_more",),
    ),
    Mutant(
        "A3",
        "bit patterns of several pairs are paid for",
        "dpaudit/evidence/sequential.py",
        "return max(peaks, default=0.0) - math.log(max(1, len(self.tracks)))",
        "return max(peaks, default=0.0)",
        ("soundness/test_sequential_assumptions.py::test_bit_patterns_of_several_pairs_share_alpha",),
    ),
    Mutant(
        "A4",
        "an event is tested on samples that have not taught it",
        "dpaudit/evidence/sequential.py",
        (
            "                _multiply(track, samples, job, bits=bits)\n"
            "                track.learner.add(*samples)\n"
        ),
        (
            "                track.learner.add(*samples)\n"
            "                _multiply(track, samples, job, bits=bits)\n"
        ),
        ("soundness/test_sequential_assumptions.py::test_an_alternative_does_not_change_when_the_hits_of_its_own_batch_do",),
    ),
    Mutant(
        "A5",
        "a claim is refuted only where the bound on epsilon reaches it",
        "dpaudit/evidence/sequential.py",
        "mean = np.minimum.accumulate(mean)",
        "mean = mean + 0.0",
        ("soundness/test_sequential_assumptions.py::test_a_claim_is_refuted_where_the_bound_reaches_it",),
    ),
    Mutant(
        "A6",
        "certifying samples come from streams that no search has used",
        "dpaudit/evidence/sampled.py",
        "track.index, CERTIFY, number, whole)",
        "track.index, 0, number, whole)",
        ("soundness/test_sample_counts.py::test_certifying_samples_come_from_streams_that_no_search_has_used",),
    ),
    Mutant(
        "A6b",
        "certifying samples come from streams that no learning has used",
        "dpaudit/evidence/sampled.py",
        "track.index, CERTIFY, number, whole)",
        "track.index, 1, number, whole)",
        ("soundness/test_sample_counts.py::test_no_state_of_a_generator_is_used_twice",),
    ),
    Mutant(
        "A7",
        "every certifying batch has a stream of its own",
        "dpaudit/evidence/sampled.py",
        "track.index, CERTIFY, number, whole)",
        "track.index, CERTIFY, 0, whole)",
        ("soundness/test_sample_counts.py::test_no_state_of_a_generator_is_used_twice",),
    ),
    Mutant(
        "A8",
        "an interim analysis has its own share of alpha, not that of the last one",
        "dpaudit/evidence/sampled.py",
        "alpha = state.shares.at_analysis(analysis, tests)",
        "alpha = state.shares.at_analysis(INTERIM_ANALYSES - 1, tests)",
        ("soundness/test_sample_counts.py::test_the_error_of_every_analysis_is_its_share",),
    ),
    Mutant(
        "A9",
        "confidence bounds of several pairs share the error (caller)",
        "dpaudit/evidence/sampled.py",
        ("budget=budget, tests=len(tracks), certify=certify\n        ):"),
        ("budget=budget, tests=1, certify=certify\n        ):"),
        ("soundness/test_sample_counts.py::test_the_error_of_every_analysis_is_its_share",),
    ),
    Mutant(
        "A10",
        "a direction is named for the dataset on which the event is more likely",
        "dpaudit/evidence/sampled.py",
        "direction=RIGHT_LEFT if learned.reverse else LEFT_RIGHT",
        "direction=LEFT_RIGHT if learned.reverse else RIGHT_LEFT",
        ("soundness/test_sequential_assumptions.py::test_a_direction_is_named_for_the_dataset_on_which_the_event_is_more_likely",),
    ),
    Mutant(
        "A11",
        "a claim is refuted by a bound above it, not by one that equals it",
        "dpaudit/engine/verdict.py",
        "best is not None and best.epsilon_lower > claim.epsilon)",
        "best is not None and best.epsilon_lower >= claim.epsilon)",
        ("soundness/test_sample_counts.py::test_a_claim_is_refuted_by_a_bound_above_it_and_by_no_other",),
    ),
    Mutant(
        "A12",
        "samples that can certify the claim at most refute nothing",
        "dpaudit/engine/verdict.py",
        "if most > claim.epsilon:",
        "if most >= claim.epsilon:",
        ("soundness/test_sample_counts.py::test_samples_that_can_certify_the_claim_at_most_refute_nothing",),
    ),
    Mutant(
        "A13",
        "both datasets have streams of their own",
        "dpaudit/evidence/sampling.py",
        "batch.index, which, batch.phase",
        "batch.index, 0, batch.phase",
        ("soundness/test_sample_counts.py::test_no_state_of_a_generator_is_used_twice",),
    ),
    Mutant(
        "A14",
        "audits of one request share its alpha",
        "dpaudit/engine/orchestrator.py",
        "request.alpha * job.tests / max(1, tests)",
        "request.alpha",
        ("soundness/test_sequential_assumptions.py::test_audits_of_one_request_share_its_alpha",),
    ),
    Mutant(
        "A15",
        "evidence that several audits carry over counts once",
        "dpaudit/engine/prior_evidence.py",
        "_cut(known.log_e + log_e - prior)",
        "_cut(known.log_e + log_e)",
        ("unit/test_prior_evidence.py::test_what_was_carried_to_two_cases_counts_once",),
    ),
    Mutant(
        "A16",
        "every block of a batch has a stream of its own",
        "dpaudit/subjects/block_seeds.py",
        "np.arange(blocks.start, blocks.stop, dtype=np.uint32)",
        "np.zeros(len(blocks), dtype=np.uint32)",
        ("soundness/test_sample_counts.py::test_no_state_of_a_generator_is_used_twice",),
    ),
    Mutant(
        "A17",
        "the shares of a bound that uses all samples sum to at most alpha",
        "dpaudit/plans/alpha_shares.py",
        "part = 1.0 if not counts else 0.2 if certify else 0.68",
        "part = 1.0 if not counts else 0.4 if certify else 0.68",
        ("soundness/test_sequential_assumptions.py::test_all_that_may_reject_in_a_case_uses_its_alpha_and_no_more",),
    ),
    Mutant(
        "A18",
        "the test of bit patterns is paid for",
        "dpaudit/plans/alpha_shares.py",
        "apart = 0.0 if bits else 0.04 * alpha",
        "apart = 0.04 * alpha",
        ("soundness/test_sequential_assumptions.py::test_all_that_may_reject_in_a_case_uses_its_alpha_and_no_more",),
    ),
    Mutant(
        "A19",
        "confidence bounds of several pairs share the error",
        "dpaudit/plans/alpha_shares.py",
        "self.final / tests if analysis == INTERIM_ANALYSES - 1",
        "self.final if analysis == INTERIM_ANALYSES - 1",
        ("soundness/test_sequential_assumptions.py::test_all_that_may_reject_in_a_case_uses_its_alpha_and_no_more",),
    ),
    Mutant(
        "A20",
        "the evidence of several pairs is averaged, not summed",
        "dpaudit/evidence/sequential.py",
        "np.logaddexp.reduce(members, axis=0) - math.log(len(members))",
        "np.logaddexp.reduce(members, axis=0)",
        ("soundness/test_sequential_assumptions.py::test_evidence_of_several_pairs_is_their_average",),
    ),
    Mutant(
        "A21",
        "evidence of earlier results says nothing about larger epsilons",
        "dpaudit/evidence/sequential.py",
        "mean[: self.at + 1] += self.prior.log_e",
        "mean += self.prior.log_e",
        ("soundness/test_sequential_assumptions.py::test_evidence_of_earlier_results_speaks_about_the_claim_and_smaller_epsilons",),
    ),
    Mutant(
        "A22",
        "bit patterns are tested against before they teach",
        "dpaudit/evidence/sequential.py",
        (
            "        if track.runs:\n"
            "            track.learned_bits = choose(track.bits, job.claim)\n"
            "            update(track.bits_process, track.learned_bits, samples)\n"
            "        track.bits.add(*samples)\n"
        ),
        (
            "        track.bits.add(*samples)\n"
            "        if track.runs:\n"
            "            track.learned_bits = choose(track.bits, job.claim)\n"
            "            update(track.bits_process, track.learned_bits, samples)\n"
        ),
        ("soundness/test_sequential_assumptions.py::test_bit_patterns_are_tested_before_they_teach",),
    ),
    Mutant(
        "A23",
        "every pair has random streams of its own",
        "dpaudit/evidence/sequential.py",
        "Batch(track.pair, size, track.index, LEARN, batch)",
        "Batch(track.pair, size, 0, LEARN, batch)",
        ("soundness/test_sample_counts.py::test_no_state_of_a_generator_is_used_twice",),
    ),
    Mutant(
        "A24",
        "the samples of both datasets are counted",
        "dpaudit/evidence/sequential.py",
        "state.runs += sum(outputs.runs for outputs in samples)\n            done += size",
        "state.runs += samples[0].runs\n            done += size",
        ("soundness/test_sample_counts.py::test_counts_are_those_of_the_samples_that_came_after_learning",),
    ),
    Mutant(
        "A25",
        "a test counts on the dataset where its event is more likely",
        "dpaudit/evidence/sequential.py",
        "top, bottom = reversed(samples) if learned.reverse else samples",
        "top, bottom = samples",
        (
            "soundness/test_sample_counts.py::test_counts_are_those_of_the_samples_that_came_after_learning",
            "soundness/test_sequential_assumptions.py::test_a_direction_is_named_for_the_dataset_on_which_the_event_is_more_likely",
        ),
    ),
    Mutant(
        "A26",
        "hits are counted by dataset",
        "dpaudit/evidence/sampled.py",
        "numerator, denominator = (1, 0) if learned.reverse else (0, 1)",
        "numerator, denominator = (0, 0) if learned.reverse else (0, 1)",
        ("soundness/test_sample_counts.py::test_counts_are_those_of_the_samples_that_came_after_learning",),
    ),
    Mutant(
        "A27",
        "a confidence bound counts fresh samples alone",
        "dpaudit/evidence/sampled.py",
        "hits, sampled, done, shown = [0, 0], [0, 0], 0, [Tally(), Tally()]",
        (
            "hits, sampled, done, shown = [learned.y, learned.x] if learned.reverse else [learned.x, learned.y], "
            "[learned.n, learned.n], learned.n, [Tally(), Tally()]"
        ),
        ("soundness/test_sample_counts.py::test_counts_are_those_of_the_samples_that_came_after_learning",),
    ),
    Mutant(
        "A28",
        "a confidence bound is weighed at its own share of alpha",
        "dpaudit/evidence/sampled.py",
        "epsilon_lower=score_test.epsilon_lower(x, n, y, m, delta=claim.delta, alpha=alpha)",
        "epsilon_lower=score_test.epsilon_lower(x, n, y, m, delta=claim.delta, alpha=0.05)",
        ("soundness/test_sample_counts.py::test_bounds_and_p_values_are_those_of_the_counts",),
    ),
    Mutant(
        "A29",
        "a confidence bound stops only at interim analyses",
        "dpaudit/evidence/sampled.py",
        "                bound = clopper_pearson.epsilon_lower(*trail[-1], delta=delta, alpha=alpha)\n",
        (
            "                bound = clopper_pearson.epsilon_lower(*trail[-1], delta=delta, alpha=alpha)\n"
            "                evidence = (trail[-1], alpha)\n"
        ),
        (
            (
                "soundness/test_sample_counts.py::test_a_confidence_bound_that_is_cut_short_is_that_of_the_last"
                "_interim_analysis"
            ),
        ),
    ),
    Mutant(
        "A29b",
        "which event is certified does not depend on e-values that differ by chance",
        "dpaudit/evidence/sampled.py",
        "learners = [track.learner, track.bits] if state.counted else [track.learner]",
        "learners = [_learner(state, track)]",
        ("unit/test_sequential.py::test_bits_that_count_take_no_certificate_from_what_shows_more",),
    ),
    Mutant(
        "A29c",
        "bit patterns that count are learned from all samples",
        "dpaudit/evidence/sequential.py",
        "bits = state.counted or (not",
        "bits = track.runs < BITS_RUNS and (not",
        ("unit/test_sequential.py::test_bits_that_count_are_learned_from_all_samples",),
    ),
    Mutant(
        "A30",
        "the alternative of a counted batch is a function of earlier samples",
        "dpaudit/evidence/sampled.py",
        "process.update(fresh, past=seen.counts, point=seen.point)",
        "process.update(fresh, past=_with(seen, *fresh).counts, point=seen.point)",
        ("soundness/test_sequential_assumptions.py::test_an_alternative_does_not_change_when_the_hits_of_its_own_batch_do",),
    ),
    Mutant(
        "A31",
        "time that ran out is no PASS",
        "dpaudit/engine/verdict.py",
        "if findings.cut_short or (findings.collected is not None and findings.collected.cut_short):",
        "if findings.cut_short:",
        ("soundness/test_sample_counts.py::test_time_that_runs_out_while_certifying_is_no_pass",),
    ),
    Mutant(
        "A32",
        "a failure is no PASS",
        "dpaudit/engine/verdict.py",
        ("    if findings.crash is not None:\n        return Crash(findings.crash)\n"),
        "",
        ("soundness/test_sample_counts.py::test_a_failure_while_certifying_is_no_pass",),
    ),
    Mutant(
        "A33",
        "evidence is exact only where every pair has exact distributions",
        "dpaudit/engine/verdict.py",
        "every = findings.exact and len(findings.exact) >= len(job.pairs)",
        "every = bool(findings.exact)",
        ("soundness/test_exact_evidence.py::test_evidence_is_called_exact_only_where_every_pair_is",),
    ),
    Mutant(
        "A34",
        "a bound is never rounded up",
        "dpaudit/results/reasons.py",
        'return f"{math.floor(bound * scale) / scale:.{digits}g}"',
        'return f"{math.ceil(bound * scale) / scale:.{digits}g}"',
        ("unit/test_verdict.py::test_a_bound_is_never_rounded_up",),
    ),
    Mutant(
        "A35",
        "exact evidence looks in both directions",
        "dpaudit/evidence/exact.py",
        (
            "    for direction in (LEFT_RIGHT, RIGHT_LEFT):\n"
            "        p, q = comparison.oriented(direction)\n        epsilon"
        ),
        (
            "    for direction in (LEFT_RIGHT,):\n"
            "        p, q = comparison.oriented(direction)\n        epsilon"
        ),
        (
            "soundness/test_exact_evidence.py::test_the_worse_direction_is_found_and_named",
            "soundness/test_exact_evidence.py::test_a_violation_in_either_direction_refutes",
        ),
    ),
    Mutant(
        "A36",
        "exact evidence refutes where both of its bounds exceed the claim",
        "dpaudit/results/refutation.py",
        "return more and evidence.bounds.delta_low > claim.delta * (1 + allowed)",
        "return more or evidence.bounds.delta_low > claim.delta * (1 + TOLERANCE)",
        ("unit/test_density.py::test_bounds_refute_only_where_both_exceed_the_claim",),
    ),
    Mutant(
        "A37",
        "the bounds on an exact epsilon are of both directions",
        "dpaudit/evidence/exact.py",
        "epsilons = [epsilon_at(a, b, delta) for a, b in ((p, q), (q, p))]",
        "epsilons = [epsilon_at(a, b, claim.delta) for a, b in ((p, q),)]",
        (
            "soundness/test_exact_evidence.py::test_the_worse_direction_is_found_and_named",
            "soundness/test_exact_evidence.py::test_a_violation_in_either_direction_refutes",
        ),
    ),
    Mutant(
        "A38",
        "the label of a direction says which distribution is on top",
        "dpaudit/evidence/exact.py",
        "return (self.left, self.right) if direction == LEFT_RIGHT else (self.right, self.left)",
        "return (self.left, self.right) if direction != LEFT_RIGHT else (self.right, self.left)",
        ("soundness/test_exact_evidence.py::test_the_worse_direction_is_found_and_named",),
    ),
    Mutant(
        "A39",
        "a proof looks at every pair in both directions",
        "dpaudit/evidence/sweep.py",
        "for left, right, top, bottom in ((i, j, p, q), (j, i, q, p)):",
        "for left, right, top, bottom in ((i, j, p, q),):",
        ("unit/test_sweep.py::test_the_worst_pair_is_that_of_brute_force",),
    ),
    Mutant(
        "A40",
        "the bound of a pair is an upper bound",
        "dpaudit/evidence/sweep.py",
        "np.maximum(laws[1][left] - ratio * laws[0][right], 0.0).sum(axis=1)",
        "np.maximum(laws[0][left] - ratio * laws[1][right], 0.0).sum(axis=1)",
        ("unit/test_sweep.py::test_no_pair_is_passed_over_where_doubles_around_its_laws_are_far_apart",),
    ),
    Mutant(
        "A41",
        "a sweep without its last pair proves nothing",
        "dpaudit/evidence/exact_evidence.py",
        "if not swept.complete:",
        "if not swept.complete and swept.worst is None:",
        ("soundness/test_exact_evidence.py::test_a_scope_of_which_some_pairs_were_not_compared_is_not_proved",),
    ),
    Mutant(
        "A42",
        "a scope that exceeds the claim is refuted",
        "dpaudit/evidence/exact_evidence.py",
        "refutes = exceeds(worst, job.claim)",
        "refutes = False",
        ("unit/test_verify.py::test_a_claim_that_fails_shows_its_smallest_pair",),
    ),
    Mutant(
        "A43",
        "declared symmetries are tried before they are used",
        "dpaudit/evidence/symmetries.py",
        "if difference is not None:",
        "if False:",
        ("unit/test_symmetries.py::test_a_rule_for_ties_is_caught",),
    ),
    Mutant(
        "A44",
        "laws in a table are rounded outward",
        "dpaudit/evidence/law_table.py",
        "max(0.0, around.low), min(1.0, around.high)",
        "max(0.0, around.high), min(1.0, around.low)",
        ("unit/test_sweep.py::test_laws_in_a_table_contain_the_exact_ones",),
    ),
    Mutant(
        "A45",
        "evidence of the same samples is refused",
        "dpaudit/engine/prior_evidence.py",
        "if seed in evidence.seeds:",
        "if False:",
        ("unit/test_prior_evidence.py::test_the_same_runs_twice_are_refused",),
    ),
    Mutant(
        "A46",
        "evidence is about one claim",
        "dpaudit/engine/prior_evidence.py",
        "claim = [float(job.claim.epsilon).hex(), float(job.claim.delta).hex(), job.claim.relation.name]",
        "claim = [float(job.claim.epsilon).hex(), 0.0, job.claim.relation.name]",
        ("unit/test_prior_evidence.py::test_what_an_e_value_is_about",),
    ),
    Mutant(
        "A47",
        "the two datasets of a batch are kept separate",
        "dpaudit/evidence/sampling.py",
        "left, right = self._of_dataset(), self._of_dataset()",
        "left = right = self._of_dataset()",
        (
            "soundness/test_sample_counts.py::test_counts_are_those_of_the_samples_that_came_after_learning",
            "soundness/test_sample_counts.py::test_outputs_of_every_kind_are_counted_once",
        ),
    ),
    Mutant(
        "A48",
        "what an earlier process has audited is not audited again",
        "dpaudit/engine/resumed.py",
        "        ended, dict(before.lost)",
        "        {}, dict(before.lost)",
        ("soundness/test_processes_that_die.py::test_what_an_earlier_process_has_done",),
    ),
    Mutant(
        "A49",
        "the time limit counts from the first process",
        "dpaudit/engine/resumed.py",
        "before.seconds, before.interrupted, goes_on=True",
        "0.0, before.interrupted, goes_on=True",
        ("soundness/test_processes_that_die.py::test_what_an_earlier_process_has_done",),
    ),
    Mutant(
        "A50",
        "after an interrupt that killed the process nothing more is audited",
        "dpaudit/engine/orchestrator.py",
        "            if resumed.interrupted:\n                raise KeyboardInterrupt\n",
        "",
        ("soundness/test_processes_that_die.py::test_what_an_earlier_process_has_done",),
    ),
    Mutant(
        "A51",
        "an exception that comes of the interrupt of a slow call is no other outcome",
        "dpaudit/subjects/call_time.py",
        "        if not over:\n            raise\n",
        "        raise\n",
        ("soundness/test_call_time.py::test_what_swallows_everything_is_told_again",),
    ),
    Mutant(
        "A52",
        "calls that are timed do not put off the time limit over all of them",
        "dpaudit/subjects/call_time.py",
        "signal.setitimer(signal.ITIMER_REAL, max(limit - time.monotonic(), 1e-6), interval)",
        "signal.setitimer(signal.ITIMER_REAL, left, interval)",
        ("soundness/test_call_time.py::test_the_time_limit_goes_on_meanwhile",),
    ),
    Mutant(
        "A53",
        "evidence is about one limit of the time of a call",
        "dpaudit/engine/prior_evidence.py",
        "limit = [] if seconds is None else [seconds]",
        "limit: list[float] = []",
        ("unit/test_prior_evidence.py::test_what_an_e_value_is_about",),
    ),
    Mutant(
        "A54",
        "the latest samples are repeated in a fresh process",
        "dpaudit/evidence/assumptions.py",
        "return [*self.earliest, *self.latest]",
        "return self.earliest",
        ("soundness/test_fresh_process.py::test_state_that_shows_after_thousands_of_calls",),
    ),
    Mutant(
        "A55",
        "randomness that is not the generator's refutes nothing",
        "dpaudit/evidence/assumptions.py",
        "if not (_agree(there, fresh.repeat(seeds, left)) or _agree(there, fresh.anew().repeat(seeds, left))):",
        "if False:",
        ("soundness/test_fresh_process.py::test_randomness_that_is_not_the_generators_refutes_nothing",),
    ),
    Mutant(
        "A56",
        "only outputs that differ in a fresh process change the record",
        "dpaudit/evidence/assumptions.py",
        "if there is None or _agree(outputs, there):",
        "if there is not None and _agree(outputs, there):",
        ("soundness/test_fresh_process.py::test_a_function_that_does_not_run_there_is_audited_all_the_same",),
    ),
    Mutant(
        "A57",
        "a fresh process loads the function's file anew",
        "dpaudit/subjects/fresh_process.py",
        "        with _by_reference():\n",
        "        with suppress():\n",
        ("soundness/test_fresh_process.py::test_what_is_drawn_once_for_a_process",),
    ),
    Mutant(
        "A58",
        "the signs of zeros are compared in both directions",
        "dpaudit/evidence/assumptions.py",
        "for one, other in ((0, 1), (1, 0)):\n            low =",
        "for one, other in ((0, 1),):\n            low =",
        ("soundness/test_odd_outputs.py::test_the_sign_of_zero",),
    ),
    Mutant(
        "A59",
        "the signs of zeros are held against the claim",
        "dpaudit/evidence/assumptions.py",
        "if low > claim.epsilon:\n                return (",
        "if low > 2 * claim.epsilon + 1:\n                return (",
        ("soundness/test_odd_outputs.py::test_the_signs_of_zeros_are_held_against_the_claim",),
    ),
    Mutant(
        "A60",
        "a pass needs outputs of which at most one in a hundred is not read",
        "dpaudit/engine/verdict.py",
        "UNREAD = 0.01",
        "UNREAD = 0.5",
        ("soundness/test_odd_outputs.py::test_a_few_outputs_that_are_not_read_are_inconclusive",),
    ),
    Mutant(
        "A61",
        "a symmetry of outcomes alone is not used",
        "dpaudit/evidence/symmetries.py",
        "    return same\n",
        "    return True\n",
        ("soundness/test_forms.py::test_symmetries_of_outcomes_alone",),
    ),
    Mutant(
        "A62",
        "an interrupt in a finaliser prints nothing",
        "dpaudit/subjects/user_errors.py",
        "return lambda one: None if issubclass(one.exc_type, kind) else before(one)",
        "return lambda one: before(one)",
        ("unit/test_runner.py::test_a_limit_that_comes_in_a_finaliser_prints_nothing",),
    ),
    Mutant(
        "A63",
        "two functions of one factory have ids of their own",
        "dpaudit/plans/jobs.py",
        "distinct.append(replace(job, replay=again) if times else job)",
        "distinct.append(job)",
        (
            "unit/test_engine.py::test_functions_of_one_factory_have_ids_of_their_own",
            "unit/test_engine.py::test_two_instances_of_one_class_have_ids_of_their_own",
        ),
    ),
    Mutant(
        "A64",
        "types of exact numbers are not those of outputs",
        "dpaudit/evidence/law_table.py",
        "if table.differing and not doubles:",
        "if not doubles and not table.outcomes:",
        ("soundness/test_forms.py::test_types_of_exact_numbers_are_not_compared",),
    ),
    Mutant(
        "A65",
        "the kept forms of a distribution are compared with those of the program",
        "dpaudit/evidence/law_table.py",
        "return {(value, text): (low, high) for value, text, low, high in each if high > 0}",
        'return {(value, ""): (low, high) for value, text, low, high in each if high > 0}',
        ("soundness/test_forms.py::test_forms_that_were_kept_are_compared",),
    ),
    Mutant(
        "E1",
        "intervals are open below and closed above",
        "dpaudit/adversary/events/event.py",
        'ends[:, 0], scores, side="left") - 1',
        'ends[:, 0], scores, side="right") - 1',
        ("unit/test_event.py::test_intervals_are_open_below_and_closed_above",),
    ),
    Mutant(
        "E2",
        "outputs that are neither numbers nor outcomes are counted",
        "dpaudit/adversary/events/event.py",
        "np.count_nonzero(self.marks(values))) for values in outputs.uncounted)",
        "np.count_nonzero(self.marks(values))) for values in outputs.blocks)",
        ("unit/test_event.py",),
    ),
    Mutant(
        "E3",
        "every range of whole numbers of an event holds its members",
        "dpaudit/adversary/events/event.py",
        "return at >= 0 and value in self.ranges[at]",
        "return at > 0 and value in self.ranges[at]",
        (
            "unit/test_event.py",
            "unit/test_range_laws.py",
        ),
    ),
    Mutant(
        "E4",
        "a linear score has its bias",
        "dpaudit/outputs/columns.py",
        "scores, size = np.full(length, self.bias)",
        "scores, size = np.full(length, 0.0)",
        ("unit/test_features.py::test_what_does_not_fit_has_no_score",),
    ),
    Mutant(
        "E5",
        "an output that cannot be read has no score",
        "dpaudit/outputs/columns.py",
        ("        scores[unread] = np.nan\n"),
        "",
        ("unit/test_classifiers.py::test_trees_score_nothing_that_was_not_read",),
    ),
    Mutant(
        "E6",
        "of two events all outputs are counted",
        "dpaudit/adversary/events/event.py",
        "*((values, None) for values in outputs.uncounted)):",
        "*((values, None) for values in outputs.blocks)):",
        ("unit/test_event.py::test_two_events_are_counted_together",),
    ),
    Mutant(
        "E7",
        "scores are learned on other folds than those they count",
        "dpaudit/adversary/events/blocks.py",
        "[fold for fold in range(FOLDS) if fold not in folds]",
        "list(range(FOLDS))",
        ("unit/test_learner.py::test_counts_are_honest_where_there_is_nothing_to_find",),
    ),
    Mutant(
        "E8",
        "a table has no score for values that it does not know",
        "dpaudit/outputs/columns.py",
        "return np.where(known[at] == keys, points[at], np.nan)",
        "return points[at]",
        ("unit/test_features.py::test_tables_know_their_values_alone",),
    ),
    Mutant(
        "E9",
        "an array of one number is read as that number",
        "dpaudit/outputs/columns.py",
        "        return _rows(values, 1)",
        "        return _rows(values, 1) if np.ndim(values) == 1 else np.full((len(values), 1), np.nan)",
        ("soundness/test_sample_counts.py::test_an_array_of_one_number_is_read_as_its_number_is",),
    ),
    Mutant(
        "E10",
        "an outcome that comes again is counted again",
        "dpaudit/adversary/events/blocks.py",
        "self._times[:, :, at] += block.times",
        "self._times[:, :, at] = block.times",
        ("soundness/test_learned_counts.py::test_learned_counts_are_those_of_the_event",),
    ),
    Mutant(
        "E11",
        "cells and intervals have the same closed ends",
        "dpaudit/adversary/events/scales.py",
        'np.searchsorted(self.edges, scores, side="left"))',
        'np.searchsorted(self.edges, scores, side="right"))',
        ("soundness/test_learned_counts.py::test_cells_hold_the_outputs_that_have_a_score_and_no_others",),
    ),
    Mutant(
        "E12",
        "an output without a score is in no cell",
        "dpaudit/adversary/events/scales.py",
        "return np.where(np.isnan(scores), cells,",
        "return np.where(np.isnan(scores), cells - 1,",
        ("soundness/test_learned_counts.py::test_cells_hold_the_outputs_that_have_a_score_and_no_others",),
    ),
    Mutant(
        "E12b",
        "a threshold on a mean of scores keeps as many outputs as it had on each of them",
        "dpaudit/adversary/events/scales.py",
        "if self.sample is None or math.isinf(edge):",
        "if True:",
        ("unit/test_learner.py::test_a_threshold_on_a_mean_of_scores_keeps_as_many_outputs_as_it_had_on_each",),
    ),
    Mutant(
        "E13",
        "of both directions an event is on offer with its own counts",
        "dpaudit/adversary/events/candidates.py",
        "(x, n), (y, m) = samples[::-1] if backwards else samples",
        "(x, n), (y, m) = samples",
        (
            "soundness/test_learned_counts.py::test_learned_counts_are_those_of_the_event",
            "soundness/test_learned_counts.py::test_swapping_the_datasets_swaps_the_direction_alone",
        ),
    ),
    Mutant(
        "E14",
        "the learned counts are those of the event",
        "dpaudit/adversary/events/learner.py",
        "(x, n), (y, m) = samples[::-1] if chosen.reverse else samples",
        "(x, n), (y, m) = samples",
        ("soundness/test_learned_counts.py::test_learned_counts_are_those_of_the_event",),
    ),
    Mutant(
        "E15",
        "blocks are counted once",
        "dpaudit/adversary/events/learner.py",
        ("        self._uncounted = []\n\n    def _block"),
        ("\n    def _block"),
        ("soundness/test_learned_counts.py::test_learned_counts_are_those_of_the_event",),
    ),
    Mutant(
        "E15b",
        "what a fit has counted is not counted again",
        "dpaudit/adversary/events/learner.py",
        "            self._fitted = pool\n            self._uncounted = []\n",
        "            self._fitted = pool\n",
        ("soundness/test_learned_counts.py::test_learned_counts_are_those_of_the_event",),
    ),
    Mutant(
        "E16",
        "extrapolated shares follow the direction",
        "dpaudit/adversary/events/candidates.py",
        "predicted.swapped() if backwards else predicted",
        "predicted",
        ("unit/test_tail_extrapolation.py::test_an_extrapolation_is_for_the_dataset_on_which_an_event_is_more_likely",),
    ),
    Mutant(
        "E17",
        "shrunk shares are between 0 and 1 of their own dataset",
        "dpaudit/adversary/events/empirical_bayes.py",
        "return order, Prediction(left / sizes[0], right / sizes[1], error)",
        "return order, Prediction(left / sizes[1], right / sizes[0], error)",
        ("unit/test_empirical_bayes.py",),
    ),
    Mutant(
        "E19",
        "every fold is counted by a model that did not see it",
        "dpaudit/adversary/events/fitting.py",
        "linear(encoder, js, sample.columns, sample.without(fold))",
        "linear(encoder, js, sample.columns, sample.whole)",
        ("unit/test_learner.py::test_counts_are_honest_where_there_is_nothing_to_find",),
    ),
    Mutant(
        "E20",
        "an atom of an event is counted as often as it came",
        "dpaudit/adversary/events/event.py",
        "hits = sum(outputs.counts.get(atom, 0) for atom in self.atoms)",
        "hits = sum(1 for atom in self.atoms if atom in outputs.counts)",
        ("unit/test_event.py",),
    ),
    Mutant(
        "E21",
        "the expected bound mistrusts training shares",
        "dpaudit/adversary/events/optimistic_bound.py",
        "betaincinv(q + 1, np.maximum(runs - q, 1e-9), 1 - alpha / 2)",
        "betaincinv(q + 1, np.maximum(runs - q, 1e-9), alpha / 2)",
        ("unit/test_learner.py::test_the_expected_bound_is_clopper_pearson_s_on_shares_moved_against_it",),
    ),
    Mutant(
        "E22",
        "the share of outputs that are not read is one of all outputs",
        "dpaudit/adversary/events/learner.py",
        "        total += sum(int(block.times.sum()) for block in self._rows if block.shape is not None)\n",
        "",
        ("soundness/test_odd_outputs.py::test_a_few_outputs_that_are_not_read_are_inconclusive",),
    ),
    Mutant(
        "E23",
        "values of any type that come often are read",
        "dpaudit/adversary/events/learner.py",
        "name = unread(value) if often < FEW_ALIKE else None",
        "name = unread(value)",
        ("soundness/test_odd_outputs.py::test_few_values_of_any_type_are_counted",),
    ),
    Mutant(
        "E24",
        "a Decimal is read as its number",
        "dpaudit/outputs/columns.py",
        "isinstance(value, int | float | Fraction | Decimal)",
        "isinstance(value, int | float | Fraction)",
        ("unit/test_features.py::test_values_that_are_read_as_numbers",),
    ),
    Mutant(
        "E25",
        "a date is read as its day",
        "dpaudit/outputs/columns.py",
        "return 86_400.0 * value.toordinal()",
        "return 86_400.0 * value.month",
        ("unit/test_features.py::test_every_day_is_another_number",),
    ),
    Mutant(
        "E26",
        "bytes are read letter by letter",
        "dpaudit/outputs/columns.py",
        'return tuple(value.decode("latin-1"))',
        "return (value,)",
        ("unit/test_features.py::test_flat",),
    ),
    Mutant(
        "E27",
        "members of a set are read in one order in every process",
        "dpaudit/outputs/columns.py",
        "return tuple(sorted(value, key=_rank))",
        "return tuple(value)",
        ("unit/test_features.py::test_members_of_a_set_have_one_order",),
    ),
    Mutant(
        "E28",
        "what doubles round in sums and differences is no event",
        "dpaudit/outputs/columns.py",
        "    return np.where(np.isfinite(rounded), rounded, values)",
        "    return values",
        ("soundness/test_rounding.py::test_private_functions_whose_numbers_are_related",),
    ),
    Mutant(
        "E29",
        "whole numbers are added exactly",
        "dpaudit/outputs/columns.py",
        "return np.where(_whole(rows).all(axis=1), total, coarse(total, size))",
        "return coarse(total, size)",
        ("soundness/test_rounding.py::test_whole_numbers_are_added_exactly",),
    ),
    Mutant(
        "E30",
        "a learned score is read to so many bits",
        "dpaudit/outputs/columns.py",
        "        return coarse(scores, size)",
        "        return scores",
        ("soundness/test_rounding.py::test_columns_that_are_constant_in_the_reals",),
    ),
    Mutant(
        "E31",
        "a few seldom words are read",
        "dpaudit/adversary/events/learner.py",
        "            rare.clear()",
        "            rare.copy()",
        ("soundness/test_odd_outputs.py::test_seldom_words_beside_noise",),
    ),
    Mutant(
        "E32",
        "a threshold holds for no output without the number",
        "dpaudit/adversary/events/keyed.py",
        "                    columns[:, i] = numbers\n",
        "                    columns[:, i] = np.nan_to_num(numbers)\n",
        ("unit/test_named_parts.py::test_a_threshold_holds_for_no_output_without_the_number",),
    ),
    Mutant(
        "E33",
        "parts of dicts are compared by key",
        "dpaudit/outputs/columns.py",
        "    if not has_names(outcome):\n        return list",
        "    if True:\n        return list",
        ("unit/test_named_parts.py::test_a_key_that_is_missing_does_not_mix_the_types_of_others",),
    ),
    Mutant(
        "A66",
        "worker processes find the modules beside a user's file",
        "dpaudit/subjects/executors.py",
        "    sys.path[:] = path\n",
        "    sys.path[:] = sys.path\n",
        ("unit/test_runner.py::test_workers_that_have_started_find_modules_beside_a_file",),
    ),
    Mutant(
        "R1",
        "every recorded output is used once",
        "dpaudit/subjects/recorded.py",
        "begin, end = self._used[which], self._used[which] + size",
        "begin, end = 0, size",
        (
            "unit/test_recorded.py::test_every_value_is_handed_out_once",
            "unit/test_recorded.py::test_an_audit_uses_every_value_once",
        ),
    ),
    Mutant(
        "R2",
        "no more recorded outputs are handed out than there are",
        "dpaudit/subjects/recorded.py",
        "        if end > self.total:\n",
        "        if False:\n",
        ("unit/test_recorded.py::test_every_value_is_handed_out_once",),
    ),
    Mutant(
        "R3",
        "recorded outputs of unequal numbers are used up together",
        "dpaudit/subjects/recorded.py",
        "places = order[len(order) * begin // self.total : len(order) * end // self.total]",
        "places = order[begin:end]",
        ("unit/test_recorded.py::test_every_value_is_handed_out_once",),
    ),
    Mutant(
        "R4",
        "the order of recorded outputs is drawn from the seed",
        "dpaudit/subjects/recorded.py",
        "rng = default_rng([seed, _ORDER])\n        sizes",
        "rng = default_rng([_ORDER])\n        sizes",
        ("unit/test_recorded.py::test_the_seed_fixes_the_order_and_the_result",),
    ),
    Mutant(
        "R5",
        "of a block one output is used",
        "dpaudit/subjects/recorded.py",
        "places = np.sort(mixed[first])",
        "places = np.sort(mixed)",
        ("unit/test_recorded.py::test_one_value_of_every_block",),
    ),
    Mutant(
        "R6",
        "which output of a block is used is a fair draw",
        "dpaudit/subjects/recorded.py",
        "mixed = default_rng([seed, _CHOICE]).permutation(len(every))",
        "mixed = np.arange(len(every))",
        ("unit/test_recorded.py::test_one_value_of_every_pair_by_a_fair_draw",),
    ),
    Mutant(
        "R7",
        "paired outputs on D and D′ are one block",
        "dpaudit/subjects/recorded.py",
        "blocks = np.arange(len(both[0])), np.arange(len(both[1]))",
        "blocks = np.arange(len(both[0])), len(both[0]) + np.arange(len(both[1]))",
        ("unit/test_recorded.py::test_one_value_of_every_pair_by_a_fair_draw",),
    ),
    Mutant(
        "R8",
        "a replay is held against all recorded outputs",
        "dpaudit/subjects/recorded.py",
        "for begin in range(0, len(values), 1 << 16):",
        "for begin in range(0, min(len(values), 1), 1 << 16):\n            values = values[:1]",
        ("unit/test_recorded.py::test_another_value_gives_another_id",),
    ),
    Mutant(
        "R9",
        "integers beside floats are floats",
        "dpaudit/subjects/recorded.py",
        'if sorted(kinds) in (["f", "i"], ["f", "u"]):',
        "if False:",
        ("unit/test_recorded.py::test_how_numbers_are_stored_says_nothing",),
    ),
    Mutant(
        "R10",
        "single precision beside double says nothing",
        "dpaudit/subjects/recorded.py",
        'if left.dtype.kind == right.dtype.kind == "f" and left.dtype != right.dtype:',
        "if False:",
        ("unit/test_recorded.py::test_precision_and_booleans_say_nothing",),
    ),
    Mutant(
        "R11",
        "arrays of different forms on D and D′ are refused",
        "dpaudit/subjects/recorded.py",
        "if None not in forms and forms[0] != forms[1]:",
        "if False:",
        (
            "unit/test_samples_command.py::test_bad_files_are_one_sentence",
            "unit/test_recorded.py::test_files_have_one_form",
        ),
    ),
    Mutant(
        "R12",
        "whether a number of a stream is a float does not depend on its batch",
        "dpaudit/subjects/recorded.py",
        "np.array(values) if kinds == {float} else values",
        "as_array(values)",
        ("unit/test_recorded.py::test_a_number_of_a_stream_is_the_same_in_every_batch",),
    ),
    Mutant(
        "R13",
        "an output of a stream is used once",
        "dpaudit/subjects/recorded.py",
        "taken = [queue.popleft() for _ in range(size)]",
        "taken = [queue[at] for at in range(size)]",
        ("unit/test_recorded.py::test_a_stream_is_read_as_it_is_needed",),
    ),
    Mutant(
        "R14",
        "files that come are examined for copies",
        "dpaudit/subjects/recorded.py",
        "self.first[which].extend(values[: max(0, KEPT - len(self.first[which]))])",
        "pass",
        ("unit/test_recorded.py::test_files_that_contradict_independence_give_no_bound",),
    ),
    Mutant(
        "R15",
        "outputs of a file that comes are used in an order drawn from the seed",
        "dpaudit/subjects/recorded.py",
        "rng = default_rng([seed, _ORDER, len(self.read)])",
        "rng = default_rng([0, _ORDER, len(self.read)])",
        ("unit/test_recorded.py::test_files_are_used_once_and_to_their_ends",),
    ),
    Mutant(
        "R16",
        "a file that comes has the form of the first",
        "dpaudit/subjects/recorded.py",
        "        _refuse_unlike((self._form[0], values), (self._form[1], name))\n",
        "",
        ("unit/test_recorded.py::test_files_have_one_form",),
    ),
    Mutant(
        "R17",
        "no batch of followed files holds outputs that wait for others",
        "dpaudit/evidence/sampling.py",
        "size = min(ready, _next(done))\n            yield",
        "size = max(ready, _next(done))\n            yield",
        (
            "unit/test_recorded.py::test_files_are_used_once_and_to_their_ends",
            "unit/test_recorded.py::test_no_more_of_the_files_than_is_planned",
        ),
    ),
    Mutant(
        "R18",
        "at the end of followed files all outputs are used",
        "dpaudit/evidence/sampling.py",
        "    if rest := min(files.ready, most - done):\n        yield rest\n",
        "",
        ("unit/test_recorded.py::test_small_files_share_a_batch",),
    ),
    Mutant(
        "R19",
        "followed files are used as far as is planned",
        "dpaudit/evidence/sampling.py",
        "(ready := min(files.ready, most - done))",
        "(ready := files.ready)",
        ("unit/test_recorded.py::test_no_more_of_the_files_than_is_planned",),
    ),
    Mutant(
        "R20",
        "no event is counted on files that nobody waits for",
        "dpaudit/evidence/sequential.py",
        "    state.ended = state.ended or files is not None\n",
        "",
        ("unit/test_recorded.py::test_what_files_show_depends_on_their_order_alone",),
    ),
    Mutant(
        "R21",
        "where no event is counted, the e-process has all of α, and no more",
        "dpaudit/plans/alpha_shares.py",
        "part = 1.0 if not counts else",
        "part = 2.0 if not counts else",
        ("unit/test_recorded.py::test_what_files_show_depends_on_their_order_alone",),
    ),
    Mutant(
        "R22",
        "a stream is examined when it ends",
        "dpaudit/engine/orchestrator.py",
        "            findings.assumptions = examine_recorded(recorded)\n",
        "            pass\n",
        ("unit/test_recorded.py::test_files_that_contradict_independence_give_no_bound",),
    ),
    Mutant(
        "R23",
        "an output that is drawn from a store contradicts independence",
        "dpaudit/evidence/recorded.py",
        "            value = stored_value(own, other)\n",
        "            value = None\n",
        ("unit/test_recorded.py::test_values_drawn_from_a_store_give_no_bound",),
    ),
    Mutant(
        "R24",
        "a stretch that occurs twice contradicts independence",
        "dpaudit/evidence/recorded.py",
        "    if 2 * width > n:\n        return None\n",
        "    if True:\n        return None\n",
        (
            "unit/test_recorded.py::test_copies_of_a_stretch_give_no_bound",
            "unit/test_recorded.py::test_files_that_contradict_independence_give_no_bound",
        ),
    ),
    Mutant(
        "R25",
        "outputs that depend on those before contradict independence",
        "dpaudit/evidence/recorded.py",
        "if values is not None and not _sorted(values) and abs(score := _serial(values)) >= SERIAL:",
        "if values is not None and not _sorted(values) and abs(score := _serial(values)) >= math.inf:",
        ("unit/test_recorded.py::test_outputs_that_depend_on_the_one_before_give_no_bound",),
    ),
    Mutant(
        "R26",
        "the same random numbers on D and D′ contradict independence",
        "dpaudit/evidence/recorded.py",
        "    if not continuous or len(shared) < SHARED or",
        "    if True or not continuous or len(shared) < SHARED or",
        ("unit/test_recorded.py::test_the_same_recording_twice_gives_no_bound",),
    ),
    Mutant(
        "R27",
        "windows of as many equal values as chance gives are no copies",
        "dpaudit/evidence/recorded.py",
        "width = math.ceil((2 * math.log(n) - math.log(2 * COPIES)) / -math.log(collision))",
        "width = math.ceil(math.log(n) / -math.log(collision))",
        ("unit/test_recorded.py::test_independent_samples_are_not_accused",),
    ),
    Mutant(
        "R28",
        "windows that overlap are no copies",
        "dpaudit/evidence/recorded.py",
        "apart = order[ends] - order[starts] >= width",
        "apart = order[ends] - order[starts] >= 1",
        ("unit/test_recorded.py::test_a_long_run_of_a_frequent_value_is_no_copy",),
    ),
    Mutant(
        "R29",
        "a file that is evidence already counts no more",
        "dpaudit/plans/recorded_files.py",
        "        return known is not None or (self.wanted is not None and digest not in self.wanted)\n",
        "        return self.wanted is not None and digest not in self.wanted\n",
        ("unit/test_recorded.py::test_a_folder_that_grows",),
    ),
    Mutant(
        "R30",
        "a file that is equal to an earlier one is not left out without a word",
        "dpaudit/plans/recorded_files.py",
        "if known is not None and not _same_place(known, source):",
        "if False:",
        ("unit/test_recorded.py::test_a_folder_that_grows",),
    ),
    Mutant(
        "R31",
        "a file that changed since it was evidence is refused",
        "dpaudit/plans/recorded_files.py",
        "if source in self.used.values() and self.wanted is None:",
        "if False:",
        ("unit/test_recorded.py::test_a_file_that_changed_is_no_new_evidence",),
    ),
    Mutant(
        "R32",
        "a missing cell of a table is an output",
        "dpaudit/plans/recorded_files.py",
        "skip_blank_lines=False",
        "skip_blank_lines=True",
        ("unit/test_recorded.py::test_a_missing_cell_is_an_output",),
    ),
    Mutant(
        "R33",
        "a file of outputs on one dataset holds none on the other",
        "dpaudit/plans/recorded_files.py",
        '    if others:\n        raise DatasetError(\n            f"{word} stands',
        '    if False:\n        raise DatasetError(\n            f"{word} stands',
        ("unit/test_recorded.py::test_a_table_of_both_is_not_one_of_two",),
    ),
    Mutant(
        "R34",
        "a replay needs the same recordings",
        "dpaudit/plans/recorded_files.py",
        "    if list(recorded.digests) != list(digests):\n",
        "    if False:\n",
        ("unit/test_recorded.py::test_a_replay_needs_the_same_outputs",),
    ),
    Mutant(
        "R35",
        "a replay of followed files needs the same files",
        "dpaudit/plans/recorded_files.py",
        "            if not same:\n                raise _changed(source)\n",
        "",
        ("unit/test_samples_command.py::test_a_folder_is_followed_until_the_claim_is_refuted",),
    ),
    Mutant(
        "R36",
        "a file that is followed is read when it is complete",
        "dpaudit/plans/recorded_files.py",
        "if before.get(file) == now[file]:",
        "if True:",
        ("unit/test_samples_command.py::test_a_file_that_is_being_written_is_waited_for",),
    ),
    Mutant(
        "R37",
        "a followed file is read once",
        "dpaudit/plans/recorded_files.py",
        "                done[file] = now[file]\n",
        "                pass\n",
        ("unit/test_samples_command.py::test_a_folder_is_followed_until_it_is_idle",),
    ),
    Mutant(
        "R38",
        "a followed file that changes is an error",
        "dpaudit/plans/recorded_files.py",
        "if now.get(file, done[file]) != done[file]:",
        "if False:",
        ("unit/test_samples_command.py::test_a_file_that_changes_is_an_error",),
    ),
    Mutant(
        "C1",
        "a process that ended without an exit code is no success",
        "dpaudit/cli/console_script.py",
        "return _End(code if code >= 0 else None, status, late, interrupted)",
        "return _End(max(code, 0), status, late, interrupted)",
        ("soundness/test_processes_that_die.py::test_a_process_that_does_not_react_is_killed",),
    ),
    Mutant(
        "C2",
        "an audit that its process did not survive is recorded",
        "dpaudit/cli/console_script.py",
        'before.lost[running["replay"]] = sentence',
        "return CRASHED",
        ("soundness/test_processes_that_die.py::test_what_is_kept_of_processes_that_died",),
    ),
    Mutant(
        "C3",
        "audits that ended before a second death are kept",
        "dpaudit/cli/console_script.py",
        "before.ended += frames(bytes(self._kept))",
        "before.ended = frames(bytes(self._kept))",
        ("soundness/test_processes_that_die.py::test_what_is_kept_of_processes_that_died",),
    ),
    Mutant(
        "C4",
        "where nothing can go on the exit code is that of a crash",
        "dpaudit/cli/console_script.py",
        "            elif numbers.phase == LOADING or unexplained:\n                return CRASHED\n",
        "            elif numbers.phase == LOADING or unexplained:\n                return 0\n",
        ("soundness/test_processes_that_die.py::test_where_there_is_nothing_to_go_on_with",),
    ),
    Mutant(
        "C5",
        "a process that does not react to its time limit is killed",
        "dpaudit/cli/console_script.py",
        "if numbers.limit and now > numbers.limit:",
        "if numbers.limit < 0 and now > numbers.limit:",
        ("soundness/test_processes_that_die.py::test_a_process_that_does_not_react_is_killed",),
    ),
    Mutant(
        "C6",
        "a second interrupt is counted",
        "dpaudit/cli/console_script.py",
        "if since and now - last > TOGETHER:",
        "if since and now < last:",
        ("soundness/test_processes_that_die.py::test_a_process_that_does_not_react_is_killed",),
    ),
    Mutant(
        "C7",
        "an audit that is cut in the pipe is left out",
        "dpaudit/supervision.py",
        "if at + _FRAME.size + length > len(content):",
        "if at + _FRAME.size > len(content):",
        ("soundness/test_processes_that_die.py::test_a_cut_frame_is_left_out",),
    ),
    Mutant(
        "C8",
        "a process that a mechanism has forked tells nothing",
        "dpaudit/supervision.py",
        "return os.getpid() == self._process",
        "return True",
        ("soundness/test_processes_that_die.py::test_a_process_that_a_mechanism_has_forked_says_nothing",),
    ),
    Mutant(
        "C9",
        "an interrupt that arrives twice counts once",
        "dpaudit/supervision.py",
        "if now - self._interrupted > TOGETHER:",
        "if now >= self._interrupted:",
        ("soundness/test_processes_that_die.py::test_an_interrupt_that_arrives_twice_counts_once",),
    ),
    Mutant(
        "C10",
        "the supervisor is told when the time limit comes",
        "dpaudit/supervision.py",
        "one.set_limit(time.monotonic() + left)",
        "one.set_limit(0.0)",
        ("soundness/test_processes_that_die.py::test_the_supervisor_knows_the_time_limit",),
    ),
    Mutant(
        "M1",
        "the exponential mechanism weighs scores by ε/2",
        "algorithms/dpaudit_algorithms/foundations/exponential_mechanism.py",
        "self.quality(S).softmax(self.epsilon / 2)",
        "self.quality(S).softmax(self.epsilon)",
        ("unit/test_exponential_mechanism.py::test_two_solutions_approach_epsilon",),
    ),
    Mutant(
        "M2",
        "A_dist adds noise of scale 1/ε to the gap",
        "algorithms/dpaudit_algorithms/foundations/a_dist.py",
        "Laplace(gap, 1 / self.epsilon)",
        "Laplace(gap, 1.1 / self.epsilon)",
        ("unit/test_a_dist.py::test_worst_pair_needs_twice_epsilon",),
    ),
    Mutant(
        "M3",
        "the corrected A_dist adds noise of scale 2/ε",
        "algorithms/dpaudit_algorithms/foundations/a_dist.py",
        "Laplace(gap, 2 / self.epsilon)",
        "Laplace(gap, 1 / self.epsilon)",
        ("unit/test_a_dist.py::test_threshold_of_the_corrected_version_needs_its_two",),
    ),
    Mutant(
        "M4",
        "the choosing mechanism adds noise of scale 4/ε to the optimum",
        "algorithms/dpaudit_algorithms/foundations/choosing.py",
        "Laplace(optimum, 4 / self.epsilon)",
        "Laplace(optimum, 2 / self.epsilon)",
        ("unit/test_choosing.py::test_law_by_hand",),
    ),
    Mutant(
        "M5",
        "the Laplace mechanism rounded has scale k/ε",
        "algorithms/dpaudit_algorithms/foundations/laplace_mechanism.py",
        "scale = self.query.sensitivity / self.epsilon",
        "scale = 0.9 * self.query.sensitivity / self.epsilon",
        ("unit/test_laplace_mechanism.py::test_rounded_attains_epsilon",),
    ),
    Mutant(
        "M6",
        "AboveThreshold adds noise of scale 4/ε to answers",
        "algorithms/dpaudit_algorithms/foundations/above_threshold.py",
        "Laplace(answer, 4 / self.epsilon)",
        "Laplace(answer, 2 / self.epsilon)",
        ("contract/test_algorithms.py::test_contract[AboveThreshold-bulk]",),
    ),
    Mutant(
        "M7",
        "the vectorised AboveThreshold draws one threshold for each run",
        "algorithms/dpaudit_algorithms/foundations/above_threshold.py",
        "rng.laplace(0, 2 / self.epsilon, (size, 1))",
        "rng.laplace(0, 1 / self.epsilon, (size, 1))",
        ("contract/test_algorithms.py::test_contract[AboveThreshold-bulk]",),
    ),
    Mutant(
        "M8",
        "RecPrefix leaves out the 2k greatest records",
        "algorithms/dpaudit_algorithms/interior_points/rec_prefix.py",
        "S.smallest(len(S) - 2 * k)",
        "S.smallest(len(S) - k)",
        ("unit/test_rec_prefix.py::test_law_of_the_printed_steps_composed",),
    ),
    Mutant(
        "M9",
        "RecConcave chooses from both families",
        "algorithms/dpaudit_algorithms/interior_points/rec_concave.py",
        "B = yield self.a_dist.on(u_B)",
        "B = A",
        ("unit/test_rec_concave.py::test_two_calls_by_hand",),
    ),
    Mutant(
        "M10",
        "NumericSparse draws a new threshold after each release",
        "algorithms/dpaudit_algorithms/generalization/numeric_sparse.py",
        "                noisy = T + (yield Laplace(0, noise.threshold))  # T̂_count",
        "                noisy = noisy + 0 * (yield Laplace(0, noise.threshold))  # T̂_count",
        ("unit/test_numeric_sparse.py::test_samples_of_run_follow_the_law",),
    ),
    Mutant(
        "M11",
        "one record of the composition changes one answer",
        "algorithms/dpaudit_algorithms/foundations/composition.py",
        "seen + (answer == LIKELY_1)",
        "seen + (answer != LIKELY_1)",
        ("unit/test_composition.py::test_interactions_have_the_law_of_the_whole_transcript",),
    ),
    Mutant(
        "M12",
        "LearnPoints outputs a uniform point after ⊥",
        "algorithms/dpaudit_algorithms/pac/learn_points.py",
        "        j = yield self.chooser.on(S)  # steps 1 and 2, corrected\n"
        "        if j is BOTTOM:\n"
        "            return Uniform(range(self.domain))",
        "        j = yield self.chooser.on(S)  # steps 1 and 2, corrected\n"
        "        if j is BOTTOM:\n"
        "            return Uniform(range(1, self.domain))",
        ("unit/test_learn_points.py::test_law_mixes_the_random_concept",),
    ),
    Mutant(
        "S94",
        "a probability that is rounded to 0 is no violation",
        "dpaudit/evidence/exact.py",
        'lost = np.maximum(left, right) < LEAST',
        'lost = np.minimum(left, right) < 0',
        ("soundness/test_rare_outcomes.py::test_a_probability_that_is_rounded_to_zero_is_no_violation",),
    ),
    Mutant(
        "K1",
        "a copy of a command has a process of its own",
        "dpaudit/subjects/command.py",
        '    if origin != os.getpid():\n',
        '    if origin is not None:\n',
        ("unit/test_commands_as_mechanisms.py::test_a_copy_has_a_process_of_its_own_and_workers_share_one",),
    ),
    Mutant(
        "K2",
        "a dataset is sent when it has changed",
        "dpaudit/subjects/command.py",
        'return self._sent is prepared or (self._sent is not None and self._sent.json == prepared.json)',
        'return self._sent is prepared or (self._sent is not None and self._sent == prepared)',
        ("unit/test_commands_as_mechanisms.py::test_the_dataset_is_sent_when_it_changes",),
    ),
    Mutant(
        "K3",
        "a path in an output is that of no dataset",
        "dpaudit/subjects/command.py",
        'output = output.replace(path.encode(), placeholder.encode())',
        'output = output.replace(path.encode(), path.encode())',
        ("unit/test_commands_as_mechanisms.py::test_any_name_of_a_program_and_no_shell",),
    ),
    Mutant(
        "K4",
        "an answer that was interrupted is not taken for the next one",
        "dpaudit/subjects/command.py",
        '        if self._busy or self._process is None:\n',
        '        if self._process is None:\n',
        ("unit/test_commands_as_mechanisms.py::test_what_is_left_of_a_request_is_no_answer_to_the_next",),
    ),
    Mutant(
        "K7",
        "a death takes no other output that was requested ahead",
        "dpaudit/subjects/command.py",
        '            begin += len(answers)\n',
        '            begin += len(ahead)\n',
        ("unit/test_commands_as_mechanisms.py::test_a_death_takes_no_other_output_that_was_requested_ahead",),
    ),
    Mutant(
        "K8",
        "what a program prints beside its answers is no answer",
        "dpaudit/subjects/command.py",
        'if self._answered and (early := self._printed(out)):',
        'if not self._answered and (early := self._printed(out)):',
        ("unit/test_commands_as_mechanisms.py::"
         "test_what_is_printed_after_an_answer_is_no_answer_to_the_next_request",),
    ),
    Mutant(
        "K5",
        "an interrupt waits until a process that is started is known",
        "dpaudit/subjects/command.py",
        '            with _uninterrupted():\n                self._process = subprocess.Popen(',
        '            with suppress():\n                self._process = subprocess.Popen(',
        ("unit/test_commands_as_mechanisms.py::test_an_interrupt_while_a_process_is_started_waits",),
    ),
    Mutant(
        "K6",
        "evidence on a program does not accumulate",
        "dpaudit/subjects/code_key.py",
        '        if isinstance(value, Command):\n            raise',
        '        if value is Command:\n            raise',
        ("unit/test_commands_as_mechanisms.py::test_evidence_on_a_program_does_not_accumulate",),
    ),
    Mutant(
        "T1",
        "a trace is silent where coins or samples are drawn",
        "dpaudit/traces/tracing.py",
        "for draws in run.draws if draws.is_other), None)",
        "for draws in () if draws.is_other), None)",
        ("quality/test_traced_functions.py::test_no_private_function_is_accused",),
    ),
    Mutant(
        "T2",
        "a trace says nothing of two heavy tails of different scale",
        "dpaudit/traces/costs.py",
        "return abs(factor) / each if each else math.inf",
        "return abs(factor) / (each or 1.0)",
        ("quality/test_traced_functions.py::test_no_private_function_is_accused",),
    ),
    Mutant(
        "T3",
        "draws are pushed farther than a claim lets locations lie apart",
        "dpaudit/traces/tracing.py",
        "far = max(FAR, FAR_OF_EPSILON * self.claim.epsilon)",
        "far = FAR",
        ("quality/test_traced_functions.py::test_no_private_function_is_accused",),
    ),
    Mutant(
        "T4",
        "a number that is clipped is charged for what its bounds show",
        "dpaudit/traces/tracing.py",
        "within = self._ends(one)",
        "within = (-math.inf, math.inf)",
        ("quality/test_traced_functions.py::test_no_private_function_is_accused",),
    ),
    Mutant(
        "T5",
        "an alarm is withdrawn if the same draws give another output",
        "dpaudit/traces/tracing.py",
        "if self.alarms and not self._repeats():",
        "if not self.alarms and not self._repeats():",
        ("quality/test_traced_functions.py::test_no_private_function_is_accused",),
    ),
    Mutant(
        "T6",
        "whole numbers on a line by chance are no linear output",
        "dpaudit/traces/linear.py",
        "if len(y) - design.shape[1] < 2 * SPARE or np.abs(steps - np.round(steps)).max() > 1e-6:",
        "if len(y) - design.shape[1] < 0:",
        ("quality/test_traced_functions.py::test_no_private_function_is_accused",),
    ),
    Mutant(
        "T7",
        "a trace notices that a generator of the function's own was used",
        "dpaudit/traces/executions.py",
        "own = tape.own_randomness or _states(own_generators) != before",
        "own = tape.own_randomness",
        ("quality/test_traced_functions.py::test_no_private_function_is_accused",),
    ),
    Mutant(
        "T8",
        "a trace notices a generator that the system seeds",
        "dpaudit/traces/hooks.py",
        "if a is None:\n            tape.own_randomness = True",
        "if a is not None:\n            tape.own_randomness = True",
        ("quality/test_traced_functions.py::test_no_private_function_is_accused",),
    ),
    Mutant(
        "T9",
        "a shift of the noise within the claim is no alarm",
        "dpaudit/traces/tracing.py",
        "needed <= self.claim.epsilon * (1 + SAME) + SAME",
        "needed <= self.claim.epsilon * (1 - SAME) - SAME",
        ("quality/test_traced_functions.py::test_no_private_function_is_accused",),
    ),
    Mutant(
        "T10",
        "a shift of Laplace noise by one scale costs 1",
        "dpaudit/traces/costs.py",
        "if family in (\"laplace\", \"logistic\"):\n        return 1.0, 1.0",
        "if family in (\"laplace\", \"logistic\"):\n        return 0.5, 0.5",
        ("unit/test_traces.py::test_an_audit_shows_the_alarm_and_its_values",),
    ),
    Mutant(
        "T11",
        "draws of D are replayed on D′",
        "dpaudit/traces/recorder.py",
        "drawn[: len(kept)] = kept",
        "drawn[: len(kept)] = drawn[: len(kept)]",
        ("unit/test_traces.py::test_frozen_draws_are_replayed_with_another_scale_and_location",),
    ),
)


def main(words: Sequence[str] | None = None) -> int:
    """Run some mutants; the exit code."""
    parser = argparse.ArgumentParser(description="Apply small mistakes to the engine and see whether tests notice.")
    parser.add_argument("ids", nargs="*", help="which mutants; all without any")
    parser.add_argument("--list", action="store_true", help="say what there is, and run nothing")
    parser.add_argument("--fast", action="store_true", help="leave out the tests that are marked slow")
    parser.add_argument("--table", action="store_true", help="print a Markdown table of parts at the end")
    asked = parser.parse_args(words)
    if unknown := set(asked.ids) - {mutant.id for mutant in MUTANTS}:
        parser.error(f"there is no mutant {', '.join(sorted(unknown))}; see --list")
    chosen = [mutant for mutant in MUTANTS if not asked.ids or mutant.id in asked.ids]
    if asked.list:
        for mutant in chosen:
            print(f"{mutant.id:4}  {mutant.file:44}  {mutant.breaks}")
        return 0
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    for name in PRELOADED:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        root = _copy(Path(folder).resolve())
        os.environ["PYTHONPATH"] = os.pathsep.join(sources(root))
        if not (where := imported_by_processes()).startswith(str(root)):
            print(f"Processes that tests start import another dpaudit: {where}")
            return 2
        return _run(chosen, root, marks="not slow" if asked.fast else "", table=asked.table)


def sources(root: Path) -> list[str]:
    """Where Python finds the packages of a copy of the repository; before those that are installed."""
    return [str(root), str(root / "algorithms"), str(root / "audits")]


def imported_by_processes() -> str:
    """The file of the dpaudit that a process imports which is started from here, as the tests of the console script do.

    A mutant of a module that only such processes import would survive if that were not the copy.
    """
    words = [sys.executable, "-c", "import dpaudit; print(dpaudit.__file__)"]
    return subprocess.run(words, cwd="/", capture_output=True, text=True, check=False).stdout.strip()


def _run(chosen: Sequence[Mutant], root: Path, *, marks: str, table: bool) -> int:
    """Run mutants in a copy of the repository, with the tests of some marks, and print what becomes of each."""
    begun = time.monotonic()
    tests = tuple(dict.fromkeys(test for mutant in chosen for test in mutant.tests))
    if (failed := _first_failure(root, tests, marks)) is not None:
        print(f"The tests fail without any mutant: {failed}")
        return 2
    print(f"{len(tests)} tests pass without any mutant ({time.monotonic() - begun:.0f} s).")
    survived = []
    for mutant in chosen:
        try:
            text = mutant.mutated(root)
        except ValueError as error:
            print(error)
            return 2
        file, begun = root / mutant.file, time.monotonic()
        original = file.read_text(encoding="utf-8")
        file.write_text(text, encoding="utf-8")
        failed = _first_failure(root, mutant.tests, marks)
        file.write_text(original, encoding="utf-8")
        if failed is None:
            survived.append(mutant.id)
        says = f"killed by {failed}" if failed is not None else "SURVIVED"
        print(f"{mutant.id:4}  {time.monotonic() - begun:5.1f} s  {mutant.breaks}: {says}", flush=True)
    print(f"{len(chosen) - len(survived)} of {len(chosen)} mutants killed.", *survived)
    if table:
        print(_table(chosen, survived))
    return 1 if survived else 0


def _table(chosen: Sequence[Mutant], survived: Sequence[str]) -> str:
    """Mutants and how many are killed, by the part of the code that they change."""
    lines = ["| part | mutants | killed |", "| --- | --: | --: |"]
    for part in sorted({mutant.part for mutant in chosen}):
        ids = [mutant.id for mutant in chosen if mutant.part == part]
        lines.append(f"| `{part}` | {len(ids)} | {len(set(ids) - set(survived))} |")
    return "\n".join([*lines, f"| all | {len(chosen)} | {len(chosen) - len(survived)} |"])


def _copy(folder: Path) -> Path:
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def _first_failure(root: Path, tests: Sequence[str], marks: str) -> str | None:
    """The first test that fails in a process of its own, or what else ends it; None where all pass or none is left."""
    said = root / "said.txt"
    process = os.fork()
    if process == 0:
        os.setsid()
        _test(root, tests, marks, said)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            if os.waitstatus_to_exitcode(status) in (0, NONE_COLLECTED):
                return None
            lines = said.read_text(encoding="utf-8", errors="replace").splitlines()
            short = [line.split(" - ")[0].split("::", 1)[-1] for line in lines if line.startswith(("FAILED", "ERROR"))]
            return short[0] if short else "\n".join(["the end of the process", *lines[-20:]])
        time.sleep(0.05)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return f"its time, {SECONDS} s"


def _test(root: Path, tests: Sequence[str], marks: str, said: Path) -> None:
    """Run tests of the copy with the code of the copy, and end the process; 0 where all pass."""
    code = 70
    try:
        os.chdir(root)
        sys.path[:0] = sources(root)
        with said.open("w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            import pytest

            names = [f"tests/{test}" for test in tests]
            code = int(pytest.main(["-x", "-q", "-n", "0", "-m", marks, "--tb=line", "-p", "no:cacheprovider", *names]))
            module = sys.modules.get("dpaudit")
            if module is None or not str(module.__file__).startswith(str(root)):
                print("FAILED ::these tests imported another dpaudit")
                code = 70
            sys.stdout.flush()
    finally:
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
