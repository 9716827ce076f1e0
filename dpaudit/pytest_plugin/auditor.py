"""The value of the fixture `dp_audit`: audits a function, records what came out, and raises where the claim falls."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NoReturn

from dpaudit.api.arguments import on_found_pairs
from dpaudit.api.outcomes import refusal
from dpaudit.api.result import Result
from dpaudit.engine import orchestrator
from dpaudit.engine.prior_evidence import evidence_key
from dpaudit.errors import DpauditError, MechanismError, UsageError
from dpaudit.language import Mechanism
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.request import PriorEvidence, Request
from dpaudit.plans.subject import name_of, refuse_half
from dpaudit.pytest_plugin.arguments import SAMPLES_KEYWORDS, checked, merged
from dpaudit.pytest_plugin.evidence import PriorEvidence as Before
from dpaudit.pytest_plugin.record import Record, SessionEvidence
from dpaudit.pytest_plugin.session import Session
from dpaudit.pytest_plugin.settings import audit_seed, call_share
from dpaudit.report import wording
from dpaudit.report.numbers import lower
from dpaudit.results import json_form
from dpaudit.results.given_data import given_pair, table_of
from dpaudit.results.model import Audit, Verdict
from dpaudit.results.notes import EvidenceOfSeveral, EvidenceOfUnknown, Note
from dpaudit.results.reasons import EarlierRefutation
from dpaudit.subjects.adapters import adapted
from dpaudit.subjects.recorded import RECORDED, recorded_outputs

_HOW_TO_CLAIM = "Give epsilon (and delta and relation if needed) to dp_audit or to @pytest.mark.dp."
_HOW_TO_PLACE = 'Give pair=([0, 1, 1], [0, 1, 0]), or data="integers(0, 100)" to let dpaudit search for pairs.'


class _Audits:
    """The audits of one test.

    Args:
        session: of this process.
        test: node id.
        defaults: arguments of the test's marks.
        keep: is called with every audit.
    """

    def __init__(
        self, session: Session, test: str, defaults: dict[str, object], keep: Callable[[Record], None]
    ) -> None:
        self._session = session
        self._test = test
        self._defaults = defaults
        self._keep = keep
        self._calls = 0

    def _judged(self, audited: Callable[[], tuple[Result, bool]]) -> Result:
        """The result of an audit, unless it fails the test.

        Args:
            audited: makes it, and says whether it may be inconclusive.
        """
        __tracebackhide__ = True
        failure: Exception | None = None
        try:
            result, allowed = audited()
        except DpauditError as error:
            error.args = (error.at("pytest"),)
            failure = error
        if failure is not None:
            # without the frames of dpaudit's own code, which are no help
            raise failure.with_traceback(None)
        self._judge(result, allow_inconclusive=allowed)
        return result

    def _audit(self, requested: Callable[[int, float], Request], *, again: bool = False) -> Result:
        """Run, record, and apply refutations of earlier sessions.

        Args:
            requested: makes the request of a seed and a share of α.
            again: whether every session audits the same samples, which are no new evidence.
        """
        session = self._session
        if session.trouble is not None:
            raise UsageError(session.trouble)
        self._calls += 1
        alpha = call_share(session.share, self._calls)
        seed = audit_seed(session.settings.seed, self._test, self._calls, 0 if again else session.number)
        request = requested(seed, alpha)
        request, key, before, note = (request, None, None, None) if again else self._with_prior(request)
        result = Result.of(orchestrator.run(request))
        said = [self._said(audit, before, note) for audit in result.audits]
        result = dataclasses.replace(result, audits=said, command=session.again(self._test))
        for audit in result.audits:
            self._keep(self._record(audit, result, request, key))
        return result

    def _with_prior(self, request: Request) -> tuple[Request, str | None, Before | None, Note | None]:
        """The request with the evidence of earlier sessions, its key, that evidence, and a note if there is no key."""
        session = self._session
        if session.evidence is None:
            return request, None, None, None
        jobs = [job for job in jobs_of(request) if job.tests] if request.groups is None else []
        if len(jobs) != 1:
            return request, None, None, EvidenceOfSeveral(None if request.groups is not None else len(jobs))
        key = evidence_key(jobs[0], bits=request.bits)
        if key.unknown is not None:
            return request, None, None, EvidenceOfUnknown(key.unknown)
        before = session.evidence.prior(self._test, key.text, session=session.number)
        if before is None:
            return request, key.text, None, None
        if request.seed in before.seeds:
            raise UsageError(
                f"The evidence file already has samples of seed {request.seed} for {self._test}, which are no new "
                "evidence; choose another --dp-seed."
            )
        prior = {key.text: PriorEvidence(before.log_e, before.seeds, alpha=before.alpha)}
        name = session.settings.evidence.name if session.settings.evidence is not None else None
        return dataclasses.replace(request, prior=prior, prior_from=name), key.text, before, None

    def _said(self, audit: Audit, before: Before | None, note: Note | None) -> Audit:
        """An audit with its note; a refutation of an earlier session is final."""
        notes = audit.notes if note is None else [*audit.notes, note.record("pytest")]
        audit = dataclasses.replace(audit, notes=notes)
        evidence = audit.sequential
        if before is None or evidence is None or audit.verdict is Verdict.FAIL:
            return audit
        if before.log_peak < math.log(1 / evidence.alpha):
            return audit
        reason = EarlierRefutation(before.peaked, before.log_peak, evidence.alpha)
        return dataclasses.replace(
            audit, verdict=Verdict.FAIL, reason=reason.sentence("pytest"), reason_code=reason.code,
            reason_values=reason.values("pytest"),
        )

    def _record(self, audit: Audit, result: Result, request: Request, key: str | None) -> Record:
        session = self._session
        exact = wording.exact_epsilon(audit)
        if exact is not None:
            bound = f"= {exact}"
        elif audit.epsilon_lower is not None:
            bound = f"≥ {lower(audit.epsilon_lower, audit.claim.epsilon)}"
        else:
            bound = "none"
        evidence = audit.sequential
        added = None
        if key is not None and evidence is not None:
            about = f"{audit.name} against {audit.claim.statement}"
            own = evidence.log_e - evidence.prior
            added = SessionEvidence(key, about, request.seed, own, evidence.log_peak, evidence.alpha)
        alone = dataclasses.replace(result, audits=[audit])
        return Record(
            test=self._test,
            call=self._calls,
            name=audit.name,
            verdict=audit.verdict.value,
            phrase="ERROR" if audit.crashed else wording.verdict_phrase(audit),
            claim=wording.claimed(audit),
            bound=bound,
            epsilon_lower=audit.epsilon_lower,
            runs=audit.runs,
            alpha=request.alpha,
            seed=request.seed,
            replay=audit.replay,
            again=session.again(self._test),
            items=session.items,
            leaks=wording.leaks_beside(audit),
            session=added,
            result=json_form.to_json(alone) if session.settings.report is not None else None,
        )

    def _judge(self, result: Result, *, allow_inconclusive: bool) -> None:
        """Raise unless the claims stand."""
        __tracebackhide__ = True
        again = self._session.again(self._test)
        crashed = next((audit for audit in result.audits if audit.crashed), None)
        if crashed is not None and not any(audit.verdict is Verdict.FAIL for audit in result.audits):
            _crash(crashed, again)
        verbose = self._session.config.get_verbosity() > 0
        error = refusal(result, again=again, allow_inconclusive=allow_inconclusive, verbose=verbose)
        if error is not None:
            raise error


class Auditor(_Audits):
    """Audits functions and mechanisms in one test; see the fixture `dp_audit` for what it takes."""

    def __repr__(self) -> str:
        # pytest shows it above every failure
        return "dp_audit"

    def __call__(
        self, f: str | Callable[..., object] | Mechanism, /, *, allow_inconclusive: bool | None = None, **given: object
    ) -> Result:
        """Audit `f`, and return what came out unless it fails the test."""
        __tracebackhide__ = True

        def audited() -> tuple[Result, bool]:
            words: dict[str, Any] = merged(checked(given, "dp_audit"), over=self._defaults)
            allowed = _allowed(words, allow_inconclusive)
            return self._audit(lambda seed, alpha: self._request(adapted(f), words, seed=seed, alpha=alpha)), allowed

        return self._judged(audited)

    def _request(
        self, f: str | Callable[..., object] | Mechanism, words: dict[str, Any], *, seed: int, alpha: float
    ) -> Request:
        settings = self._session.settings
        pair, data = words.pop("pair", None), words.pop("data", None)
        placed = pair is not None or data is not None
        claimed = any(words.get(key) is not None for key in ("epsilon", "claim"))
        refuse_half(f, claimed=claimed, placed=placed, how_to_claim=_HOW_TO_CLAIM, how_to_place=_HOW_TO_PLACE)
        if not placed and not isinstance(f, str):
            raise UsageError(f"On which datasets should {name_of(f)} be tried? {_HOW_TO_PLACE}")
        runs = words.pop("runs", None)
        runs = settings.runs if runs is None and not isinstance(f, str) else runs
        table = table_of(data)
        described = table.name if table is not None else data if isinstance(data, str) else None
        size = words.pop("size", None)
        if pair is not None and not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise UsageError(f"pair must be two datasets, such as ([0, 1, 1], [0, 1, 0]), not {pair!r}.")
        placed_at = None if pair is None else given_pair(*pair)
        request = Request(
            targets=(f,),
            seed=seed,
            alpha=alpha,
            runs=runs,
            time=words.pop("time", settings.time),
            call_time=words.pop("call_time", settings.call_time),
            jobs=settings.jobs,
            cluster=settings.cluster,
            pair=None if placed_at is None else placed_at.datasets,
            data=described,
            container=placed_at.container if placed_at is not None else None if table is None else table.container,
            table=None if table is None else table.records,
            size=None if data is not None and described is None else size,
            parameters=words.pop("parameters", None) or {},
            bits=words.pop("bits", settings.bits),
            min_power=words.pop("min_power", settings.min_power),
            only="privacy",
            door="pytest",
            **words,
        )
        if data is None or described is not None:
            return request
        # as Hypothesis does for its own tests; a place for each audit, so that no test depends on which others ran
        place = f"{self._test} {self._calls}"
        return on_found_pairs(request, f, data, size=size, placed=pair is not None, kept_for=place)


class SamplesAuditor(_Audits):
    """Audits recorded outputs in one test; see the fixture `dp_samples` for what it takes."""

    def __repr__(self) -> str:
        return "dp_samples"

    def __call__(
        self, D_outputs: object, Dprime_outputs: object, /, *, allow_inconclusive: bool | None = None, **given: object
    ) -> Result:
        """Audit recorded outputs, and return what came out unless it fails the test."""
        __tracebackhide__ = True

        def audited() -> tuple[Result, bool]:
            own = checked(given, "dp_samples", keywords=SAMPLES_KEYWORDS)
            # a mark may have defaults for functions, too
            words: dict[str, Any] = {
                **{key: value for key, value in self._defaults.items() if key in SAMPLES_KEYWORDS}, **own
            }
            allowed = _allowed(words, allow_inconclusive)
            if words.get("epsilon") is None:
                raise UsageError("What is claimed of these outputs? Give epsilon to dp_samples or to @pytest.mark.dp.")
            settings = self._session.settings
            recorded = recorded_outputs(
                D_outputs, Dprime_outputs, name=words.pop("name", RECORDED), paired=words.pop("paired", False),
                blocks=words.pop("blocks", None), shuffled=not words.pop("ordered", False),
            )
            words = {"time": settings.time, "bits": settings.bits, "min_power": settings.min_power, **words}
            return self._audit(
                lambda seed, alpha: Request(
                    targets=(recorded.name,), recorded=recorded, certify=True, seed=seed, alpha=alpha, door="pytest",
                    **words,
                ),
                again=True,
            ), allowed

        return self._judged(audited)


def _allowed(words: dict[str, Any], given: bool | None) -> bool:
    """Whether an audit may be inconclusive: as the call says, or else the mark; it is taken out of the words."""
    marked = bool(words.pop("allow_inconclusive", False))
    return marked if given is None else given


def _crash(audit: Audit, again: str) -> NoReturn:
    __tracebackhide__ = True
    raise MechanismError(f"{audit.reason}\n  again   {again}")
