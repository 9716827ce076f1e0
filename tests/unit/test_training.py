"""Audits of DP-SGD: each known bug is found by its check, a correct loop is not accused, transcripts are kept whole.

Statistical tests have fixed seeds; each says how often a correct audit fails it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpaudit.errors import DpauditError, ParameterError, ReportError, UsageError
from dpaudit.training import BUGS, SGDClaim, SGDTranscript, TranscriptAudit, audit_transcript, checks, train

RECORDS = 63
CLAIM = SGDClaim(1.0, 2.0, 1 / 8, 400, denominator=8)
"""With the canary there are 64 records and batches of 8."""
FOUND_BY = {
    "clip-after-averaging": "contribution",
    "unscaled-noise": "noise",
    "noise-per-microbatch": "noise",
    "shuffled-batches": "sampling",
    "secret-batch-size": "scale",
    "accumulation": "sampling",
    "seeded-noise": "reuse",
}


def recorded(
    claim: SGDClaim = CLAIM, *, bug: str | None = None, seed: int = 0, runs: int = 1, features: int = 15
) -> SGDTranscript:
    """Runs of the reference loop, as many on D as on D′."""
    rng = np.random.default_rng([seed, 99])
    inputs, labels = rng.normal(size=(RECORDS, features)), rng.integers(0, 2, RECORDS).astype(float)
    transcript = SGDTranscript(claim, records=RECORDS)
    for run in range(runs):
        for canary_in in (True, False):
            loop = np.random.default_rng([seed, run, canary_in])
            train(claim, inputs, labels, loop, canary_in=canary_in, transcript=transcript, bug=bug)
    return transcript


def projections(
    claim: SGDClaim, rng: np.random.Generator, steps: int, *, std: float | None = None, size: float = 1.0
) -> SGDTranscript:
    """A transcript of projections alone: a loop whose noise has another scale, or whose canary another size."""
    transcript = SGDTranscript(claim)
    std = claim.noise_std if std is None else std
    for canary_in in (True, False):
        transcript.begin(canary_in=canary_in)
        inside = (rng.random(steps) < claim.sampling_rate) & canary_in
        for value in rng.normal(0.0, std, steps) + inside * size * claim.clip_norm:
            transcript.step(value / claim.denominator)
    return transcript


def names(audit: TranscriptAudit) -> list[str]:
    return [check.name for check in audit.findings]


def test_every_bug_has_a_source_and_its_check() -> None:
    assert set(BUGS) == set(FOUND_BY)
    assert all((bug.what and bug.effect and "issue" in bug.source) or "pull" in bug.source for bug in BUGS.values())


@pytest.mark.parametrize("bug", BUGS)
def test_a_known_bug_is_found(bug: str) -> None:
    audit = audit_transcript(recorded(bug=bug))
    assert FOUND_BY[bug] in names(audit), audit
    assert audit[FOUND_BY[bug]].remedy


def test_the_correct_loop_is_not_accused() -> None:
    # false alarm with probability at most 0.001
    audit = audit_transcript(recorded())
    assert names(audit) == []
    assert "no finding, which is no proof" in str(audit)
    made = {check.name for check in audit.checks if check.made}
    assert made == {
        "contribution", "noise", "scale", "denominator", "sampling", "steps", "reuse", "step-epsilon",
    }  # fmt: skip


def test_the_secret_denominator_is_also_read() -> None:
    audit = audit_transcript(recorded(bug="secret-batch-size"))
    assert "divides by 7 on D′, and by 8" in audit["denominator"].says


def test_hints_say_what_the_noise_looks_like() -> None:
    claim = replace(CLAIM, clip_norm=3.0)
    assert "each of 4 parts" in checks.noise(recorded(claim, bug="noise-per-microbatch"), 0.001).says
    unscaled = checks.noise(recorded(claim, bug="unscaled-noise"), 0.001).says
    assert "as if it was not multiplied by the clip norm, or each of 9 parts" in unscaled


def test_where_noise_repeats_nothing_else_is_accused() -> None:
    audit = audit_transcript(recorded(bug="seeded-noise"))
    assert names(audit) == ["reuse"]
    assert not audit["noise"].made


@pytest.mark.parametrize("period", [1, 3])
def test_noise_that_repeats_within_a_run_is_found(period: int) -> None:
    # a key that is not split, or a generator that is made anew in every epoch
    rng = np.random.default_rng(5)
    transcript = SGDTranscript(CLAIM)
    transcript.begin(canary_in=False)
    noise = rng.normal(0.0, CLAIM.noise_std, (period, 6))
    for step in range(60):
        transcript.step(noise[step % period] / CLAIM.denominator, np.eye(6)[0], others=0)
    assert checks.reuse(transcript, 0.001).found


def test_repeated_noise_of_projections_is_found_behind_the_canary() -> None:
    rng = np.random.default_rng(6)
    noise = rng.normal(0.0, CLAIM.noise_std, 40)
    transcript = SGDTranscript(CLAIM)
    for canary_in in (True, False):
        transcript.begin(canary_in=canary_in)
        for value in noise + canary_in * CLAIM.clip_norm * (rng.random(40) < 0.5):
            transcript.step(value / CLAIM.denominator)
    assert checks.reuse(transcript, 0.001).found


def test_more_noise_than_claimed_is_no_violation() -> None:
    # false alarm with probability at most 60 · 0.001
    rng = np.random.default_rng(7)
    for seed in range(30):
        assert names(audit_transcript(projections(CLAIM, rng, 90, std=3 * CLAIM.noise_std))) == []
        transcript = recorded(replace(CLAIM, noise_multiplier=3.0, steps=90), seed=seed)
        transcript.claim = replace(CLAIM, steps=90)
        assert names(audit_transcript(transcript)) == []


def test_tails_and_limits_are_exact() -> None:
    stats = pytest.importorskip("scipy.stats")
    for successes, trials, chance in ((0, 5, 0.2), (3, 10, 0.1), (10, 10, 0.7), (40, 400, 0.12)):
        assert checks._at_least(successes, trials, chance) == pytest.approx(
            stats.binom.sf(successes - 1, trials, chance)
        )
        assert checks._binomial_pmf(trials, chance) == pytest.approx(
            stats.binom.pmf(np.arange(trials + 1), trials, chance)
        )
    low, high = checks._std_lower(30.0, 20, 0.01), checks._std_upper(30.0, 20, 0.01)
    assert 30.0 / low**2 == pytest.approx(stats.chi2.ppf(0.99, 20))
    assert 30.0 / high**2 == pytest.approx(stats.chi2.ppf(0.01, 20))


def test_accumulated_batches_are_found_in_projections_alone() -> None:
    transcript = recorded(replace(CLAIM, noise_multiplier=0.5, steps=1600), bug="accumulation")
    transcript._rows["sampled"] = [-1] * len(transcript)
    assert checks.contribution(transcript, 0.001).found


def test_gradients_of_others_along_the_canary_withhold_a_check() -> None:
    rng = np.random.default_rng(8)
    transcript = projections(CLAIM, rng, 300)
    transcript._rows["projection"] = [value + 2.0 for value in transcript._rows["projection"]]
    audit = audit_transcript(transcript)
    for name in ("contribution", "step-epsilon"):
        assert not audit[name].made
        assert "others=" in audit[name].says


def test_a_canary_of_twice_the_clip_norm_is_found_in_projections() -> None:
    rng = np.random.default_rng(9)
    claim = SGDClaim(0.5, 1.0, 0.5, 300)
    assert checks.contribution(projections(claim, rng, 300, size=2.0), 0.001).found


@pytest.mark.slow
def test_direct_checks_keep_their_error() -> None:
    # each of nine rates is above 0.05 + 3 standard errors with probability 0.0013, at the boundary of its null
    alpha, repeats = 0.05, 1500
    claim = SGDClaim(1.0, 2.0, 1 / 8, 64, denominator=8)
    tests = (checks.contribution, checks.noise, checks.scale, checks.sampling, checks.reuse)
    found: dict[str, int] = {}
    rng = np.random.default_rng(3)
    for repeat in range(repeats):
        transcript = recorded(claim, seed=repeat, features=3)
        for test in tests:
            check = test(transcript, alpha)
            assert check.made
            found[check.name] = found.get(check.name, 0) + check.found
        alone = projections(claim, rng, 64)
        for test in (checks.contribution, checks.noise, checks.reuse):
            name = f"{test.__name__} of projections"
            found[name] = found.get(name, 0) + test(alone, alpha).found
    most = alpha + 3 * (alpha * (1 - alpha) / repeats) ** 0.5
    assert {name: count / repeats for name, count in found.items() if count / repeats > most} == {}


def test_steps_and_sampling_are_counted() -> None:
    claim = SGDClaim(1.0, 1.0, 0.25, 3)
    transcript = SGDTranscript(claim)
    for canary_in in (True, False):
        transcript.begin(canary_in=canary_in)
        for step in range(4):
            transcript.step(0.1 * step + canary_in, sampled=2 * canary_in)
    audit = audit_transcript(transcript, alpha=0.05)
    assert "4 noisy gradients; the accountant counted 3" in audit["steps"].says
    assert "2 times in one batch" in audit["sampling"].says
    assert {"steps", "sampling"} <= set(names(audit))


def test_many_runs_bound_epsilon_of_a_run() -> None:
    # false alarm with probability at most 0.001
    claim = SGDClaim(0.6, 2.0, 1 / 8, 4, denominator=8)
    audit = audit_transcript(recorded(claim, runs=120, features=3), epsilon=2.5, delta=1e-2)
    check = audit["run-epsilon"]
    assert check.made
    assert not check.found
    assert check.result is not None
    assert check.result.epsilon_lower is not None
    assert "where ε = 2.5 was claimed" in check.says
    # the canary's gradient is 8 clip norms long in every batch
    broken = audit_transcript(
        recorded(claim, bug="clip-after-averaging", runs=120, features=3), epsilon=0.3, delta=1e-2
    )
    assert "run-epsilon" in names(broken)


def test_lengths_of_runs_do_not_distinguish_them() -> None:
    # runs on D′ were stopped half-way
    rng = np.random.default_rng(4)
    claim = SGDClaim(1.0, 1.0, 0.01, 40)
    transcript = SGDTranscript(claim)
    for run in range(240):
        canary_in = run % 2 == 0
        transcript.begin(canary_in=canary_in)
        for value in rng.normal(0.0, claim.noise_std, 40 if canary_in else 20):
            transcript.step(value)
    assert not audit_transcript(transcript, epsilon=0.1, delta=1e-3, alpha=0.01)["run-epsilon"].found


def test_the_profile_of_a_step_agrees_with_dp_accounting() -> None:
    distributions = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    for sigma, q in ((1.0, 1.0), (1.0, 0.125), (0.5, 0.01), (0.7, 0.9)):
        peer = distributions.from_gaussian_mechanism(sigma, sampling_prob=q, value_discretization_interval=1e-3)
        epsilons = np.array([0.0, 0.1, 0.5, 1.0, 2.0])
        ours = SGDClaim(sigma, 3.0, q, 1).step_delta(epsilons)
        assert ours == pytest.approx([peer.get_delta_for_epsilon(epsilon) for epsilon in epsilons], abs=1e-6)


def test_the_profile_of_a_step_agrees_with_its_output_distributions() -> None:
    # on a grid of outputs, in both directions
    sigma, q = 0.8, 0.3
    grid = np.linspace(-8, 9, 170_001)
    out = np.exp(-(grid**2) / (2 * sigma**2)) / (sigma * np.sqrt(2 * np.pi)) * (grid[1] - grid[0])
    into = (1 - q) * out + q * np.exp((2 * grid - 1) / (2 * sigma**2)) * out
    for epsilon in (0.0, 0.2, 1.0):
        larger = max(
            np.maximum(into - np.exp(epsilon) * out, 0).sum(), np.maximum(out - np.exp(epsilon) * into, 0).sum()
        )
        assert float(SGDClaim(sigma, 1.0, q, 1).step_delta(epsilon)) == pytest.approx(larger, abs=1e-6)


def test_the_claim_of_a_whole_run_is_dp_accountings() -> None:
    accounting = pytest.importorskip("dp_accounting")
    claim = SGDClaim(1.0, 2.0, 0.125, 40)
    event = accounting.SelfComposedDpEvent(
        accounting.PoissonSampledDpEvent(0.125, accounting.GaussianDpEvent(1.0)), 40
    )
    assert claim.event == event
    assert SGDClaim.from_event(event, clip_norm=2.0) == claim
    assert claim.epsilon(1e-5) == pytest.approx(accounting.pld.PLDAccountant().compose(event).get_epsilon(1e-5))
    with pytest.raises(UsageError, match="shuffled batches"):
        SGDClaim(1.0, 2.0, 0.125, 40, "shuffled").epsilon(1e-5)
    with pytest.raises(UsageError, match="Gaussian event"):
        SGDClaim.from_event(accounting.LaplaceDpEvent(1.0), clip_norm=1.0)


def test_a_transcript_is_saved_and_loaded(tmp_path: Path) -> None:
    transcript = recorded(SGDClaim(1.0, 2.0, 1 / 8, 20, denominator=8))
    transcript.save(tmp_path / "runs.npz")
    loaded = SGDTranscript.load(tmp_path / "runs.npz")
    assert repr(loaded) == "SGDTranscript(2 runs, 20 steps on D, 20 steps on D′)".replace("20 steps on D′", "20 on D′")
    assert loaded.claim == transcript.claim
    assert loaded.records == RECORDS
    for name in ("run", "canary_in", "projection", "rest", "fingerprint", "sampled", "batch_size", "divided_by"):
        assert np.array_equal(getattr(loaded, name), getattr(transcript, name), equal_nan=name == "rest"), name
    assert str(audit_transcript(loaded)) == str(audit_transcript(transcript))
    loaded.begin(canary_in=True)
    loaded.step(np.ones(16), np.ones(16))
    assert int(loaded.run[-1]) == 2


def test_files_that_are_no_transcripts_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    (tmp_path / "text.npz").write_text("no")
    for name, words in (("other.npz", "not a transcript"), ("text.npz", "not a transcript"), ("none.npz", "read")):
        with pytest.raises(ReportError, match=words):
            SGDTranscript.load(tmp_path / name)


def test_gradients_are_containers_of_arrays() -> None:
    claim = SGDClaim(1.0, 1.0, 1.0, 2, denominator=2.0)
    transcript = SGDTranscript(claim)
    transcript.begin(canary_in=True)
    noisy = {"w": np.array([[3.0], [4.0]]), "b": 1.0}
    transcript.step(noisy, [np.array([6.0, 8.0]), np.zeros(1)], others=(1.0, 1.0, 0))
    # the sum (6, 8, 2) without (1, 1, 0), along (0.6, 0.8, 0)
    assert transcript.projection[0] == pytest.approx(8.6)
    assert transcript.rest[0] == pytest.approx(25 + 49 + 4 - 8.6**2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.ones(3), np.ones(2)), "3 entries and the canary's gradient 2"),
        ((np.ones(3), np.zeros(3)), "is zero"),
        ((np.ones(3),), "Give the canary's gradient"),
        ((np.array([np.nan]),), "infinite or NaN"),
        (("abc",), "must be an array"),
    ],
)
def test_a_step_that_cannot_be_used_is_refused(arguments: tuple[object, ...], words: str) -> None:
    transcript = SGDTranscript(CLAIM)
    with pytest.raises(UsageError, match="begin"):
        transcript.step(1.0)
    transcript.begin(canary_in=False)
    with pytest.raises(UsageError, match=words):
        transcript.step(*arguments)
    with pytest.raises(UsageError, match="canary_in=False"):
        transcript.step(1.0, sampled=1)
    assert len(transcript) == 0


def test_parameters_outside_their_range_are_refused() -> None:
    unknown: dict[str, Any] = {"sampling": "uniform"}
    bad = ((0.0, 1.0, 0.5, 1), (1.0, -1.0, 0.5, 1), (1.0, 1.0, 1.5, 1), (1.0, 1.0, 0.5, 0))
    for sigma, clip_norm, rate, steps in bad:
        with pytest.raises(ParameterError):
            SGDClaim(sigma, clip_norm, rate, steps)
    with pytest.raises(ParameterError, match="poisson, without-replacement, shuffled"):
        SGDClaim(1.0, 1.0, 0.5, 10, **unknown)
    with pytest.raises(DpauditError, match="no steps"):
        audit_transcript(SGDTranscript(CLAIM))
    with pytest.raises(ParameterError, match="alpha"):
        audit_transcript(recorded(SGDClaim(1.0, 2.0, 1 / 8, 4, denominator=8)), alpha=0.7)
    with pytest.raises(DpauditError, match="clip-after-averaging"):
        recorded(bug="clip-after-average")


def test_recording_imports_no_engine() -> None:
    code = (
        "import sys, dpaudit.training as t; r = t.SGDTranscript(t.SGDClaim(1, 1, 1, 1)); r.begin(canary_in=True); "
        "r.step(1.0); print([n for n in sys.modules if n.startswith(('dpaudit.engine', 'sklearn', 'torch', 'jax'))])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_an_audit_is_printed_and_written(tmp_path: Path) -> None:
    claim = replace(CLAIM, steps=100)
    transcript = SGDTranscript(claim)
    for canary_in in (True, False):
        transcript.begin(canary_in=canary_in)
        rng = np.random.default_rng(canary_in)
        for _ in range(100):
            transcript.step(rng.normal(0, claim.noise_std / 2) / claim.denominator)
    audit = audit_transcript(transcript)
    lines = str(audit).splitlines()
    assert "1 finding (α = 0.001)" in lines[0]
    assert max(map(len, lines)) <= 100
    assert sum("FOUND" in line for line in lines) == 1
    value = json.loads(audit.to_json())
    assert value["findings"] == ["noise"]
    assert value["claim"]["clip_norm"] == claim.clip_norm
    assert {check["name"]: check["epsilon_lower"] is not None for check in value["checks"]}["step-epsilon"]
    audit.save(tmp_path / "audit.json")
    assert json.loads((tmp_path / "audit.json").read_text(encoding="utf-8")) == value
    for path in ("no/audit.json", "audit.txt"):
        with pytest.raises(ReportError, match="Cannot write"):
            audit.save(tmp_path / path)
    with pytest.raises(TypeError, match=r"assert not audit\.findings"):
        bool(audit)
