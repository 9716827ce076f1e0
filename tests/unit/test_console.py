"""The terminal: whole outputs against snapshots, and what goes where."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import replace

import example_results
import pytest
from rich.console import Console

from dpaudit.report import wording
from dpaudit.report.console import ConsoleReporter, render_card, render_corpus, render_list
from dpaudit.results import stream
from dpaudit.results.model import Result

EXAMPLES = example_results.every()


def _console(width: int = 80, *, terminal: bool = False, colour: bool = False) -> Console:
    return Console(
        file=io.StringIO(),
        width=width,
        force_terminal=terminal,
        no_color=not colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
    )


def _text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _stream(result: Result) -> list[stream.Event]:
    events: list[stream.Event] = [stream.CheckStarted(len(result.audits), result.seed, result.alpha)]
    for audit in result.every:
        events += [
            stream.AuditStarted(audit.name, audit.case, audit.claim.statement, 10),
            stream.Progress(4, 10, "certifying, pair 2 of 5, 400,000 of 1,000,000 runs", 0.71),
            stream.AuditFinished(audit, 1.25),
        ]
    return [*events, stream.CheckFinished(result)]


def _run(result: Result, out: Console, err: Console, *, quiet: bool = False, verbose: bool = False) -> None:
    with ConsoleReporter(out, err, quiet=quiet, verbose=verbose) as reporter:
        for event in _stream(result):
            reporter.on(event)


@pytest.mark.parametrize("name", EXAMPLES)
def test_whole_output(name: str, snapshot: Callable[[str, str], None]) -> None:
    out, err = _console(), _console()
    _run(EXAMPLES[name], out, err)
    text = _text(out)
    assert _text(err) == ""  # not a terminal: no progress
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert all(line == line.rstrip() for line in text.splitlines())
    snapshot(f"console_{name}.txt", text)


@pytest.mark.parametrize("name", ["fail", "estimated", "floats", "prior", "inconclusive", "utility_alone"])
def test_verbose(name: str, snapshot: Callable[[str, str], None]) -> None:
    out = _console()
    _run(EXAMPLES[name], out, _console(), verbose=True)
    text = _text(out)
    assert max(map(len, text.splitlines())) <= 80
    snapshot(f"console_{name}_verbose.txt", text)


def test_the_verdict_of_a_single_audit_is_said_once() -> None:
    out = _console()
    _run(EXAMPLES["fail"], out, _console())
    assert _text(out).count("FAIL") == 1


def test_a_longer_search_is_offered_where_one_stopped() -> None:
    stopped = EXAMPLES["fail"]
    for result, offered in (
        (stopped, True), (replace(stopped, command="dpaudit check X --certify"), False), (EXAMPLES["proved"], False)
    ):
        out = _console()
        _run(result, out, _console())
        assert ("--certify uses all samples" in _text(out)) is offered


def test_the_remedy_of_floating_point_is_said_once_and_only_where_it_is_needed() -> None:
    out = _console()
    _run(EXAMPLES["floats"], out, _console())
    assert _text(out).count("rng.geometric(p) -") == 1
    for name in ("not_refuted", "fail"):
        out = _console()
        _run(EXAMPLES[name], out, _console())
        assert "floats" not in _text(out)


def test_colour(snapshot: Callable[[str, str], None]) -> None:
    out = _console(terminal=True, colour=True)
    _run(EXAMPLES["fail"], out, _console())
    snapshot("console_fail_colour.txt", _text(out))
    assert "\x1b[1;31mFAIL\x1b[0m" in _text(out)


def test_quiet_is_one_line_an_audit() -> None:
    out, err = _console(width=120), _console(terminal=True)
    _run(EXAMPLES["several"], out, err, quiet=True)
    assert _text(out).splitlines() == [
        "FAIL  NoisyMax · paper constants  NOT as expected (expected PASS)",
        "PASS · proved  ExponentialMechanism · every pair of [3]^2",
        "PASS · not refuted  noisy_mean",
        "INCONCLUSIVE  LearnThresholds · group of 2  NOT as expected (expected PASS)  "
        "The smallest violation that 4,000 runs can show is ε = 5.2; give --runs 2000000 or more.",
        "FAIL  SVT3 · as printed",
        "PASS · not refuted  RecPrefix · |X| = 1024",
    ]
    assert _text(err) == ""


def test_progress_is_on_stderr_and_leaves_stdout_alone() -> None:
    out, plain, err = _console(), _console(), _console(terminal=True)
    _run(EXAMPLES["several"], out, err)
    _run(EXAMPLES["several"], plain, _console())
    assert _text(out) == _text(plain)
    assert "NoisyMax 1/6" in _text(err)
    assert "ε ≥ 0.71" in _text(err)


def test_progress_bar_is_taken_away_when_something_raises() -> None:
    err = _console(terminal=True)
    with pytest.raises(ZeroDivisionError), ConsoleReporter(_console(), err, quiet=False) as reporter:  # noqa: PT012
        reporter.on(stream.AuditStarted("A", "b", "c", 3))
        raise ZeroDivisionError
    assert _text(err).endswith(("\x1b[?25h", "\x1b[2K"))  # cursor shown again, line erased


def test_interrupted() -> None:
    out, err = _console(), _console()
    with ConsoleReporter(out, err, quiet=False) as reporter:
        reporter.on(stream.CheckStarted(6, 1, 0.001))
        reporter.on(stream.CheckFinished(replace(EXAMPLES["fail"], interrupted=True)))
    assert _text(err) == "Interrupted: 1 of 6 audits ended; their results stand.\n"
    assert "seed 20250711, family-wise error 0.001 over this audit" in _text(out)


def test_show_is_what_the_stream_showed() -> None:
    streamed, shown = _console(), _console()
    _run(EXAMPLES["several"], streamed, _console())
    ConsoleReporter(shown, _console(), quiet=False).show(EXAMPLES["several"])
    assert _text(shown) == _text(streamed)


def test_an_encoding_without_greek() -> None:
    buffer = io.BytesIO()
    file = io.TextIOWrapper(buffer, encoding="ascii")
    console = Console(file=file, width=80, color_system=None)
    _run(EXAMPLES["several"], console, _console())
    file.flush()
    assert b"epsilon >= 1.37 at delta = 1e-06 with 99.9 % confidence (claim 1.0)" in buffer.getvalue()


def test_bounds_are_rounded_to_the_side_on_which_they_are_true() -> None:
    audit = replace(
        example_results.fail(), epsilon_lower=1.00049, detectable_epsilon=1.00001, confidence=0.99916667
    )
    out = _console()
    _run(example_results.result(audit), out, _console(), verbose=True)
    assert "ε ≥ 1.0004 at δ = 1e-06 with 99.916 % confidence (claim 1.0)" in _text(out)
    assert "a violation of ε ≥ 1.01" in _text(out)


FAMILIES = [
    (
        "interior-points", "Interior points of a dataset, by three algorithms that are not the same.",
        [
            ("RecPrefix", "PASS", "FAIL 7", "(ε, δ)", "RecPrefix: private interior point by recursion"),
            ("InteriorPointFromThresholdsCorrected", "not private", "", "(2ε, (1 + e^ε)δ)-DP for some", "Long"),
        ],
    ),
    ("pac", "Learners.", [("ADist", "FAIL 21,22", "", "[ε], δ", "Stable choice of the best solution")]),
]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_list(width: int, snapshot: Callable[[str, str], None]) -> None:
    out = _console(width)
    out.print(render_list(FAMILIES, "3 of 3 algorithms."))
    assert max(map(len, _text(out).splitlines())) <= width
    snapshot(f"console_list_{width}.txt", _text(out))


CORPUS = [
    (
        "NoisyHistogramWrongScale",
        "wrong noise scale",
        "The scale is the inverse of what it should be: 1/ε-DP, which for ε < 1 is far too little noise.",
        "10 = 1/ε: one count moves by 1, and its noise has scale 0.1",
        "Example, Author and Writer, Finding Broken Mechanisms (2018), §6.2, Algorithm 9",
    ),
    (
        "NoisyHistogram",
        "correct",
        "None: one count moves by 1, and its noise has scale 1/ε.",
        "0.1 = ε: a noisy count outside the two true ones has densities in the ratio e^ε",
        "Example, Author and Writer, Finding Broken Mechanisms (2018), §6.2, Algorithm 8",
    ),
]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_corpus(width: int, snapshot: Callable[[str, str], None]) -> None:
    out = _console(width)
    out.print(render_corpus(CORPUS))
    assert max(map(len, _text(out).splitlines())) <= width
    snapshot(f"console_corpus_{width}.txt", _text(out))


def test_a_pass_with_a_leak_says_so_wherever_it_says_pass() -> None:
    quiet, whole = _console(), _console(width=200)
    _run(EXAMPLES["floats"], quiet, _console(), quiet=True)
    _run(EXAMPLES["floats"], whole, _console())
    assert _text(quiet).splitlines() == [
        "PASS · not refuted  LaplaceTextbook · counts 0 and 1  floating-point vulnerability",
        "FAIL  LaplaceTextbook · counts 0 and 1",
    ]
    assert "LaplaceTextbook · counts 0 and 1  floating-point vulnerability\n" in _text(whole)
    assert "\nfloating-point vulnerability, not counted: LaplaceTextbook · counts 0 and 1\n" in _text(whole)
    assert _text(whole).count("reveal more than is claimed (not counted).") == 1


@pytest.mark.parametrize(
    ("bound", "says"),
    [
        (1.35, "Clopper–Pearson alone: ε ≥ 1.35\n"),
        (1.00001, "Clopper–Pearson alone: ε ≥ 1.00001\n"),
        (1.0, "Clopper–Pearson alone: ε ≥ 1, which does not refute the claim by itself\n"),
        (0.99996, "Clopper–Pearson alone: ε ≥ 0.999, which does not refute the claim by itself\n"),
        (None, "Clopper–Pearson alone: no bound, as no event was counted on fresh samples\n"),
    ],
)
def test_a_fail_by_runs_shows_the_clopper_pearson_bound(bound: float | None, says: str) -> None:
    out = _console(width=120)
    audit = replace(example_results.fail(), epsilon_lower_clopper_pearson=bound)
    _run(example_results.result(audit), out, _console(), verbose=True)
    assert says in _text(out)


@pytest.mark.parametrize(
    ("last", "peak", "refuted_at", "says"),
    [
        (7.3399, 7.3399, 1_800, "2.1 × 10⁷ against the claim; refuted after 1,800 samples per dataset"),
        (3.3467, 3.3467, None, "2,200 against the claim after 5,000 samples per dataset; 2,230 refutes"),
        (3.3468, 3.3468, 1_800, "2,220 against the claim; refuted after 1,800 samples per dataset"),
        (2.0, 3.5, 1_800, "100 against the claim; refuted at 3,100 after 1,800 samples per dataset"),
        (0.0, 0.0, None, "1 against the claim after 5,000 samples per dataset; 2,230 refutes"),
        (-0.04, 0.0, None, "0.91 against the claim after 5,000 samples per dataset; 2,230 refutes"),
        (2_345.67, 2_345.67, 40, "4.6 × 10²³⁴⁵ against the claim; refuted after 40 samples per dataset"),
    ],
)
def test_e_values_are_rounded_down(last: float, peak: float, refuted_at: int | None, says: str) -> None:
    audit = example_results.fail()
    assert audit.sequential is not None
    sequential = replace(
        audit.sequential,
        log_e=last * math.log(10),
        log_peak=peak * math.log(10),
        refuted_at=refuted_at,
        runs=5_000,
    )
    assert wording.evidence_sentence(replace(audit, sequential=sequential)) == says


def test_carried_evidence_names_the_seeds() -> None:
    audit = example_results.prior()
    assert audit.sequential is not None
    text = wording.evidence_sentence(audit)
    assert text is not None
    assert "140 of it from earlier results (seeds in all: 1, 2, 20250711)" in text
    many = replace(audit, sequential=replace(audit.sequential, seeds=list(range(9))))
    unrefuted = replace(audit, sequential=replace(audit.sequential, refuted_at=None))
    assert "20250711), after 2,310 samples per dataset; 2,230 refutes" in (wording.evidence_sentence(unrefuted) or "")
    assert "(seeds in all: 0, 1, 2, 3, 4, 5 and 3 more)" in (wording.evidence_sentence(many) or "")


def test_empty_list_and_card() -> None:
    out = _console()
    out.print(render_list([], ""))
    out.print(render_corpus([]))
    out.print(render_card([]))
    assert _text(out).strip() == ""


def test_card(snapshot: Callable[[str, str], None]) -> None:
    out = _console()
    differs = (
        "1. Step 4 does not say what happens on a tie; the first maximum wins, as above.\n2. Nothing else."
    )
    out.print(
        render_card(
            [("name", "RecPrefix"), ("claim", "(ε, δ)-DP, [replace-one]"), ("differs", differs), ("", "")]
        )
    )
    snapshot("console_card.txt", _text(out))
