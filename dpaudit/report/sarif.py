"""SARIF 2.1.0: a rule for each kind of fault, a result for each claim that is not in order, at the mechanism's text.

What passes is no result; the run's properties count the verdicts. The same result gives the same text, except for
`startTimeUtc` and `endTimeUtc`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from dpaudit.report import stability, wording
from dpaudit.report.bug_classes import OWN, BugClass, bug_class, known_bug_of, leaks_besides
from dpaudit.report.short import audit_text, headline, phrase
from dpaudit.results.faults import Fault, exit_code, fault
from dpaudit.results.model import Audit, Location, Result, UtilityAudit, Verdict
from dpaudit.results.plain import in_json, one_line, visible
from dpaudit.results.stability import StabilityRecord

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"


def to_sarif(result: Result, *, expect: bool = False) -> str:
    """The result as SARIF 2.1.0.

    Paths are below the working directory, which `%SRCROOT%` stands for: write it where the repository begins.

    Args:
        result: of any command.
        expect: whether a verdict that the catalogue expects is suppressed, and one that it does not expect a result
            (as `--expect` has it).
    """
    findings = [item for audit in result.every for item in _findings(audit, expect=expect)]
    rules: dict[str, BugClass] = {}
    effects: dict[str, dict[str, str]] = {}
    for audit, kind in findings:
        rules.setdefault(kind.id, kind)
        known_bug = known_bug_of(audit) if kind.id not in OWN else None
        if known_bug is not None:
            effects.setdefault(kind.id, {})[audit.name] = known_bug.effect
    order = {name: i for i, name in enumerate(rules)}
    return _log(
        [_rule(kind, effects.get(kind.id, {})) for kind in rules.values()],
        _invocation(result, expect=expect),
        [_result(audit, kind, order[kind.id], expect=expect) for audit, kind in findings],
        {
            "verdicts": dict(sorted(Counter(phrase(audit) for audit in result.every).items())),
            "seed": result.seed,
            "alpha": result.alpha,
        },
        result.environment,
    )


def stability_to_sarif(result: StabilityRecord) -> str:
    """An audit of stability as SARIF 2.1.0: a result unless it passes."""
    kind = {Verdict.FAIL: OWN["stability-claim-violated"], Verdict.INCONCLUSIVE: OWN["inconclusive"]}.get(
        result.verdict
    )
    words = stability.verdict_phrase(result)
    findings: list[dict[str, object]] = []
    if kind is not None:
        said = one_line(f"{result.name}: {words}: {result.reason}", most=1500)
        facts = {
            "verdict": result.verdict.value, "reasonCode": result.reason_code.value, "claim": result.claim,
            "distance": result.distance, "allowed": result.allowed, "replay": result.replay,
            "details": stability.stability_text(result),
        }
        findings.append({
            "ruleId": kind.id,
            "ruleIndex": 0,
            "level": kind.level,
            "message": {"text": _message(f"{said} Reproduce with: {result.command}")},
            "locations": [_location(result)],
            "partialFingerprints": _fingerprint(kind.id, result.name, result.claim),
            "properties": {name: visible(value) for name, value in facts.items() if value is not None},
        })
    invocation: dict[str, object] = {
        "commandLine": visible(result.command), "executionSuccessful": True, "exitCode": result.exit_code,
    }  # fmt: skip
    rules = [] if kind is None else [_rule(kind, {})]
    return _log(rules, invocation, findings, {"verdicts": {words: 1}, "seed": result.seed}, result.environment)


def _log(
    rules: list[dict[str, object]], invocation: dict[str, object], results: list[dict[str, object]],
    properties: dict[str, object], environment: Mapping[str, str],
) -> str:
    """A SARIF log with one run."""
    version = environment.get("dpaudit", "unknown")
    driver: dict[str, object] = {
        "name": "dpaudit",
        "version": visible(version),
        **({"semanticVersion": version} if _is_semantic(version) else {}),
        "rules": rules,
    }
    run: dict[str, object] = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The working directory of dpaudit."}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {
            **properties,
            "environment": {visible(name): visible(text) for name, text in sorted(environment.items())},
        },
    }
    value = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return in_json(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _findings(audit: Audit | UtilityAudit, *, expect: bool) -> Iterable[tuple[Audit | UtilityAudit, BugClass]]:
    """The findings of one audit; with `expect` also expected ones, as suppressed findings."""
    problem = fault(audit, expect=expect) or fault(audit)
    if problem is not None:
        yield audit, bug_class(audit, problem)
    if leaks_besides(audit):
        yield audit, OWN["floating-point-vulnerability"]


def _rule(kind: BugClass, effects: dict[str, str]) -> dict[str, object]:
    """A rule; for the corpus, with the effect of the bug in each of its mechanisms here."""
    lines = [f"{name}: {effect}" for name, effect in sorted(effects.items())]
    return {
        "id": kind.id,
        "name": kind.name,
        "shortDescription": {"text": _message(kind.short)},
        "fullDescription": {"text": _message(kind.full)},
        "help": {
            "text": _message("\n".join([kind.full, *lines, kind.remedy])),
            "markdown": _message("\n\n".join([kind.full, *(["\n".join(f"- {line}" for line in lines)] if lines else []),
                                              kind.remedy])),
        },
        "defaultConfiguration": {"level": kind.level},
        "properties": {"tags": ["differential-privacy", *kind.tags], "precision": kind.precision,
                       "problem.severity": {"note": "recommendation"}.get(kind.level, kind.level)},
    }  # fmt: skip


def _result(audit: Audit | UtilityAudit, kind: BugClass, index: int, *, expect: bool) -> dict[str, object]:
    leak = kind is OWN["floating-point-vulnerability"]
    again = wording.replay_command(audit)
    name = wording.full_name(audit)
    of = "" if isinstance(audit, Audit) else "utility of "
    said = f"{of}{name}: {phrase(audit)}: {headline(audit)}. {audit.reason}"
    if leak and isinstance(audit, Audit) and leaks_besides(audit):
        said = f"{name}: {wording.floating_point_sentence(audit)}."
    text = f"{one_line(said, most=1500)} Reproduce with: {again}"
    entry: dict[str, object] = {
        "ruleId": kind.id,
        "ruleIndex": index,
        # a FAIL is an error, even if its class is a warning
        "level": "error" if fault(audit) is Fault.REFUTED else kind.level,
        "message": {"text": _message(text)},
        "locations": [_location(audit)],
        "partialFingerprints": _fingerprint(kind.id, audit.name, audit.case, audit.claim.statement),
        "properties": _facts(audit),
    }
    if expect and audit.as_expected and fault(audit) is not None and fault(audit, expect=True) is None:
        entry["suppressions"] = [{"kind": "external", "justification": "The catalogue expects this verdict."}]
    return entry


def _fingerprint(*words: str) -> dict[str, str]:
    return {"dpauditClaim/v1": hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()[:32]}


def _facts(audit: Audit | UtilityAudit) -> dict[str, object]:
    facts: dict[str, object] = {
        "verdict": audit.verdict.value,
        "evidence": audit.evidence.value,
        "claim": audit.claim.statement,
        "confidence": audit.confidence,
        "replay": audit.replay,
        "expected": audit.expected,
        "details": audit_text(audit, again=wording.replay_command(audit)),
    }
    if isinstance(audit, Audit):
        infinite = wording.exact_is_infinite(audit)
        facts |= {
            "epsilonClaimed": audit.claim.epsilon,
            "deltaClaimed": audit.claim.delta,
            "epsilonLower": audit.epsilon_lower,
            "epsilonExact": "infinite" if infinite else audit.epsilon_exact,
        }
    else:
        facts["probabilityPromised"] = audit.claim.probability
    return {
        name: visible(value) if isinstance(value, str) else value for name, value in facts.items() if value is not None
    }


def _location(audit: Audit | UtilityAudit | StabilityRecord) -> dict[str, object]:
    """Where the mechanism's source code is, and its name; the name alone where that is not known."""
    where = audit.location
    name = {"name": visible(audit.name), "fullyQualifiedName": visible(where.name if where else audit.name)}
    logical: dict[str, object] = {"logicalLocations": [{**name, "kind": "function"}]}
    if where is None:
        return logical
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(visible(_from_here(where)), safe="/"), "uriBaseId": _ROOT},
            "region": {"startLine": where.line, "endLine": where.end_line},
        },
        **logical,
    }


def _from_here(where: Location) -> str:
    """The file below the working directory, if its package is imported from there; else as it is."""
    package, slash, _ = where.file.partition("/")
    module = package if slash else package.removesuffix(".py")
    here = Path.cwd()
    if (here / where.file).is_file() or not where.name.startswith(f"{module}."):
        return where.file
    try:
        spec = sys.modules[module].__spec__ if module in sys.modules else find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return where.file
    if spec is None or not spec.has_location or spec.origin is None:
        return where.file
    top = Path(spec.origin).resolve().parents[1 if slash else 0] / where.file
    if not top.is_file() or not top.is_relative_to(here) or {"site-packages", "dist-packages"} & set(top.parts):
        return where.file
    return top.relative_to(here).as_posix()


def _invocation(result: Result, *, expect: bool) -> dict[str, object]:
    code = exit_code(result, expect=expect)
    notifications = []
    if result.interrupted:
        text = "Interrupted: audits that had not ended are missing."
        notifications.append({"level": "error", "message": {"text": text}})
    begun = _instant(result.timings.started)
    took = timedelta(seconds=max(result.timings.seconds, 0.0))
    times = {} if begun is None else {"startTimeUtc": _utc(begun), "endTimeUtc": _utc(begun + took)}
    return {
        "commandLine": visible(result.command),
        "executionSuccessful": code not in (4, 130),
        "exitCode": code,
        **times,
        **({"toolExecutionNotifications": notifications} if notifications else {}),
    }


def _instant(text: str) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant.astimezone(UTC) if instant.tzinfo is not None else instant.replace(tzinfo=UTC)


def _utc(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def _is_semantic(version: str) -> bool:
    parts = version.split(".")
    return len(parts) == 3 and all(part.isdecimal() and part == str(int(part)) for part in parts)


def _message(text: str) -> str:
    """A message string: braces, which stand for arguments in it, doubled; nothing in it is a link."""
    return visible(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")
