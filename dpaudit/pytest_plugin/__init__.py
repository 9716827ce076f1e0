"""The pytest plugin: audits of differential privacy in a test suite.

    def test_noisy_count(dp_audit):
        dp_audit(noisy_count, epsilon=1.0, pair=([0, 1, 1], [0, 1, 0]))

`dp_audit(f, …)` audits a function f(dataset, rng) or f(dataset, rng, size), or a mechanism, and fails the test where
the claim is refuted. A mark on the test, its class or its module holds what several audits have in common:

    @pytest.mark.dp(epsilon=1.0, delta=1e-6, relation="add-remove-one", data="integers(0, 1)")
    def test_noisy_counts(dp_audit):
        dp_audit(noisy_count)
        dp_audit(noisy_sum, epsilon=2.0)

`dp_samples(D_outputs, Dprime_outputs, epsilon=1.0)` audits outputs that another system recorded in the same way, and
`dp_stable(f, 2)` the stability of a deterministic function, which takes no share of α.

The mark gives defaults and makes no audit: a test that bears it and audits nothing fails, because it would state what
nothing has tested. What one mistaken test costs is bounded: the error α is the session's, shared over the tests that
were collected and not deselected. Seeds are fixed, so the same suite has the same outcome every time; where data is a
Hypothesis strategy, pairs that Hypothesis's example database kept from earlier versions of a function are tried too.

This module is loaded in every run of pytest, and so imports nothing but pytest and a few small modules of dpaudit;
numpy and the engine come with the first test that asks for `dp_audit`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

import pytest

from dpaudit.errors import DpauditError
from dpaudit.options import DEFAULT_ALPHA
from dpaudit.pytest_plugin.arguments import KEYWORDS, of_markers
from dpaudit.pytest_plugin.record import Record
from dpaudit.pytest_plugin.session import MARK, audits, own_mark, session_of, test_name
from dpaudit.pytest_plugin.settings import DEFAULT_RUNS
from dpaudit.pytest_plugin.table import summary

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from dpaudit.pytest_plugin.auditor import Auditor, SamplesAuditor
    from dpaudit.pytest_plugin.session import Session
    from dpaudit.pytest_plugin.stable import StabilityAuditor

_PENDING = pytest.StashKey[list[Record]]()
_MADE = pytest.StashKey[list[Record]]()
_DEFAULTS = pytest.StashKey[dict[str, object]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the session; `[tool.dpaudit]` has their defaults."""
    group = parser.getgroup("dpaudit", "audits of differential privacy")
    group.addoption("--dp-seed", type=int, metavar="N", help="random seed; the same seed gives the same outcome (0)")
    group.addoption(
        "--dp-alpha", type=float, metavar="A",
        help=f"family-wise error rate of the session, shared over its tests ({DEFAULT_ALPHA})",
    )
    group.addoption(
        "--dp-runs", type=int, metavar="N", help=f"most samples per dataset and pair of an audit ({DEFAULT_RUNS:,})"
    )
    group.addoption(
        "--dp-time", type=float, metavar="SECONDS",
        help="time limit of each audit; an audit that it ends depends on the machine (none)",
    )
    group.addoption("--dp-items", type=int, metavar="N", help="share alpha over N tests, even if fewer are collected")
    group.addoption("--dp-report", metavar="DIR", help="write all audits to DIR/index.html and DIR/result.json")
    group.addoption(
        "--dp-evidence", metavar="FILE",
        help="accumulate e-values across sessions in FILE; every session draws new samples",
    )
    group.addoption(
        "--dp-session", type=int, metavar="N", help="repeat session N of the evidence file, without changing the file"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(epsilon, delta, relation, pair, data, …): defaults of dp_audit in this test; "
        f"any of {', '.join(KEYWORDS)}.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the tests that share α, without deselected ones."""
    session_of(session.config).collected(session.items)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """The line on shares of α, below the number of tests."""
    state = session_of(config)
    wanted = state.tests and state.trouble is None and config.get_verbosity() >= 0
    return [state.shared(state.items)] if wanted else []


@pytest.fixture
def dp_audit(request: pytest.FixtureRequest) -> Auditor:
    """Audit a claim: `dp_audit(f, epsilon=1.0, delta=0.0, relation="replace-one", pair=(S, T))`.

    Fails the test where the claim is refuted (with the pair, the event and the command that makes the audit again),
    where the runs could not decide (unless `allow_inconclusive=True`), and where `f` raises.

    Args:
        f: f(dataset, rng) → one output, f(dataset, rng, size) → that many, a mechanism, a name of the catalogue, or an
            object of OpenDP, diffprivlib, python-dp or pipeline-dp.
        epsilon, delta, relation: the claim; without them a mechanism's or an object's own, or a function's `f.claim`.
        pair: two neighbouring datasets to tell apart.
        data, size: instead of a pair, what records are ("integers(0, 1)") and how many, to let dpaudit find pairs; or a
            Hypothesis strategy of records, or of pairs.
        groups, runs, time, call_time, bits, min_power, black_box, certify, stop_at_refutation, parameters: as in
            `dpaudit.audit`.
        allow_inconclusive: let an audit pass that could not decide.

    Returns:
        The result; `result.audits[0]` has the bounds.
    """
    # numpy and the engine, now that they are needed
    from dpaudit.pytest_plugin.auditor import Auditor

    return Auditor(*_what_an_auditor_has(request))


@pytest.fixture
def dp_samples(request: pytest.FixtureRequest) -> SamplesAuditor:
    """Audit a claim on recorded outputs: `dp_samples(D_outputs, Dprime_outputs, epsilon=1.0, delta=0.0)`.

    Fails the test as `dp_audit` does. Every output is used once; the same outputs give the same verdict in every
    session, and no evidence accumulates over sessions.

    Args:
        D_outputs, Dprime_outputs: outputs of the mechanism on D and on D′, at least 10 of each: arrays, series, frames
            or lists.
        epsilon, delta, relation: the claim.
        paired, blocks, ordered, name, time, bits, min_power: as in `dpaudit.audit_samples`.
        allow_inconclusive: let an audit pass that could not decide.

    Returns:
        The result; `result.epsilon_lower` is the lower confidence bound on ε.
    """
    from dpaudit.pytest_plugin.auditor import SamplesAuditor

    return SamplesAuditor(*_what_an_auditor_has(request))


@pytest.fixture
def dp_stable(request: pytest.FixtureRequest) -> StabilityAuditor:
    """Audit the stability of a deterministic function: `dp_stable(f, 2, data="integers(0, 100)")`.

    Fails the test where two neighbouring datasets have outputs that are farther apart than claimed (with the pair and
    both outputs), and where nothing could be tried. Nothing is sampled, so it takes no share of α, and the mark `dp`
    has no defaults for it.

    Args:
        f: f(dataset), the name of one, or a transformation of OpenDP.
        stability: c, or a map from the distance of two datasets to the largest distance of their outputs.
        metric, relation, pair, data, size, any_order, read, pairs, time: as in `dpaudit.audit_stability`.

    Returns:
        The result; `result.distance` is the largest distance.
    """
    from dpaudit.pytest_plugin.stable import StabilityAuditor

    item: pytest.Item = request.node
    return StabilityAuditor(session_of(item.config), test_name(item), item.user_properties.extend)


def _what_an_auditor_has(
    request: pytest.FixtureRequest,
) -> tuple[Session, str, dict[str, object], Callable[[Record], None]]:
    """The session, the test, the arguments of its marks, and what keeps its audits."""
    item: pytest.Item = request.node
    state = session_of(item.config)
    if not audits(item):
        pytest.fail(
            f"{item.nodeid} got {request.fixturename} by request.getfixturevalue, so it has no share of α; mark it "
            "with @pytest.mark.dp.",
            pytrace=False,
        )

    def keep(record: Record) -> None:
        made = item.stash.setdefault(_MADE, [])
        made.append(record)
        item.stash.setdefault(_PENDING, []).append(record)
        item.user_properties += record.properties(len(made))

    return state, test_name(item), item.stash.get(_DEFAULTS, {}), keep


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Read the marks; a mistake in one is an error of the test, in one sentence."""
    if not audits(item):
        return
    item.stash[_MADE] = []
    trouble = None
    try:
        item.stash[_DEFAULTS] = of_markers(item.iter_markers(MARK))
    except DpauditError as error:
        trouble = str(error)
    if trouble is not None:
        pytest.fail(trouble, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A test that is marked and audits nothing must not pass for one that was audited."""
    outcome = yield
    if own_mark(item) and not item.stash[_MADE]:
        pytest.fail(
            f"{item.name} is marked dp and audited nothing: take the fixture dp_audit and call dp_audit(f), or "
            "dp_samples for recorded outputs.",
            pytrace=False,
        )
    return outcome


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send what was audited along with the report: so it reaches the process that writes, also from xdist's workers."""
    report = yield
    pending = item.stash.get(_PENDING, [])
    if pending:
        vars(report)["dp_audits"] = [record.to_plain() for record in pending]
        pending.clear()
    return report


class _Collector:
    """Gathers the audits of all reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._state = session_of(config)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for value in getattr(report, "dp_audits", ()):
            self._state.records.append(Record.from_plain(value))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Listen to reports, in the process that writes."""
    if not session_of(session.config).worker:
        session.config.pluginmanager.register(_Collector(session.config), "dpaudit-collector")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the evidence and the report."""
    state = session_of(session.config)
    state.finished()
    if state.complaint is not None and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """The table of audits; with -q the totals alone."""
    state = session_of(config)
    if not state.records:
        return
    verbosity = config.get_verbosity()
    if verbosity >= -1:
        shared = state.shared(state.records[0].items)
        width = config.get_terminal_writer().fullwidth
        title, *lines = summary(state.records, shared, width=width, quiet=verbosity < 0)
        if title:
            terminalreporter.section(title)
        for line in lines:
            terminalreporter.line(line)
        if state.settings.report is not None and state.complaint is None:
            terminalreporter.line(f"dp: report in {state.settings.report / 'index.html'}")
    if state.complaint is not None:
        terminalreporter.line(f"dp: {state.complaint}", red=True)
