"""JUnit XML: one test suite for the run, one test case for each claim and each utility guarantee.

Its counts agree with the exit code: a refuted claim is a failure; one that crashed, or that the budget could not
decide, is an error, because the test came to no answer; nothing is skipped. `properties` of a test case are an
extension that most readers know and the others pass over; what a person needs is in the failure and in `system-out`.

The same result gives the same text, except for the attributes `time` and `timestamp`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from dpaudit.report import stability, wording
from dpaudit.report.short import audit_text, what_matters
from dpaudit.results.faults import Fault, fault
from dpaudit.results.model import Audit, Result, UtilityAudit, Verdict
from dpaudit.results.plain import one_line, visible
from dpaudit.results.stability import StabilityRecord

_FAILURES = {Fault.REFUTED, Fault.UNEXPECTED}


def to_junit(result: Result, *, expect: bool = False) -> str:
    """The result as JUnit XML, of the form that Jenkins, GitLab and GitHub's actions read.

    Args:
        result: of any command.
        expect: whether a verdict that the catalogue expects is a success, whatever it is (as `--expect` has it).
    """
    suite = Element("testsuite", name="dpaudit")
    _properties(
        suite,
        {
            "command": result.command,
            "seed": str(result.seed),
            "alpha": str(result.alpha),
            "interrupted": "true" if result.interrupted else None,
            **dict(sorted(result.environment.items())),
        },
    )
    kinds: Counter[str] = Counter()
    names: Counter[tuple[str, str]] = Counter()
    for audit in result.every:
        kinds.update([_add_case(suite, audit, result, names, expect=expect)])
    if result.interrupted:
        case = SubElement(suite, "testcase", classname="dpaudit", name="the whole run", time="0.000")
        SubElement(case, "error", type="interrupted", message="Interrupted: audits that had not ended are missing.")
        kinds.update(["error"])
    return _document(suite, kinds, result.timings.seconds, _timestamp(result))


def stability_to_junit(result: StabilityRecord) -> str:
    """An audit of stability as JUnit XML: one test case."""
    suite = Element("testsuite", name="dpaudit")
    about = {"command": result.command, "seed": str(result.seed), **dict(sorted(result.environment.items()))}
    _properties(suite, about)
    case = SubElement(
        suite, "testcase", classname=one_line(result.name, most=200), name="stability",
        time=f"{max(result.seconds, 0.0):.3f}",
    )
    facts = {
        "verdict": result.verdict.value, "claim": result.claim, "distance": result.distance, "allowed": result.allowed,
        "pairs": str(result.pairs), "replay": result.replay,
    }
    _properties(case, facts)
    kind = {Verdict.FAIL: "failure", Verdict.INCONCLUSIVE: "error", Verdict.PASS: ""}[result.verdict]
    text = stability.stability_text(result)
    if kind:
        problem = Fault.REFUTED if kind == "failure" else Fault.INCONCLUSIVE
        message = one_line(f"{result.verdict.value.upper()}: {result.reason}", most=500)
        SubElement(case, kind, type=str(problem), message=message).text = visible(text)
    else:
        SubElement(case, "system-out").text = visible(text)
    return _document(suite, Counter([kind]), result.seconds, "")


def _document(suite: Element, kinds: Counter[str], seconds: float, timestamp: str) -> str:
    """The text of a suite, with its counts."""
    counts = {
        "tests": str(kinds.total()),
        "failures": str(kinds["failure"]),
        "errors": str(kinds["error"]),
        "skipped": "0",
        "time": f"{max(seconds, 0.0):.3f}",
    }
    suite.attrib.update(counts | ({"timestamp": timestamp} if timestamp else {}))
    root = Element("testsuites", {"name": "dpaudit"} | {key: counts[key] for key in counts if key != "skipped"})
    root.append(suite)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _add_case(
    suite: Element, audit: Audit | UtilityAudit, result: Result, names: Counter[tuple[str, str]], *, expect: bool
) -> str:
    """Append a test case; what it came to: "failure", "error" or ""."""
    classname = one_line(audit.name, most=200)
    name = one_line(audit.case, most=200) or ("claim" if isinstance(audit, Audit) else "guarantee")
    name = name if isinstance(audit, Audit) else f"utility: {name}"
    names[classname, name] += 1
    if (number := names[classname, name]) > 1:
        name += f" ({number})"
    seconds = result.timings.audits.get(audit.replay, 0.0)
    case = SubElement(suite, "testcase", classname=classname, name=name, time=f"{max(seconds, 0.0):.3f}")
    _properties(case, _facts(audit, result))
    problem, text = fault(audit, expect=expect), audit_text(audit, again=wording.replay_command(audit))
    kind = "failure" if problem in _FAILURES else "error" if problem is not None else ""
    if problem is not None:
        expectation = f" {wording.expectation(audit)}" if expect and audit.as_expected is False else ""
        message = one_line(f"{audit.verdict.value.upper()}{expectation}: {what_matters(audit, problem)}", most=500)
        SubElement(case, kind, type=str(problem), message=message).text = visible(text)
    else:
        phrase = audit.verdict.value.upper()
        as_expected = ", as expected" if audit.as_expected and phrase != "PASS" else ""
        SubElement(case, "system-out").text = visible(f"{phrase}{as_expected}\n{text}")
    return kind


def _facts(audit: Audit | UtilityAudit, result: Result) -> dict[str, str | None]:
    """What a program may want of a test case."""
    facts: dict[str, str | None] = {
        "verdict": audit.verdict.value,
        "evidence": audit.evidence.value,
        "claim": audit.claim.statement,
        "expected": audit.expected,
    }
    if isinstance(audit, Audit):
        facts |= {
            "epsilon_claimed": repr(audit.claim.epsilon),
            "delta_claimed": repr(audit.claim.delta),
            "epsilon_lower": None if audit.epsilon_lower is None else repr(audit.epsilon_lower),
            "epsilon_exact": "infinite" if wording.exact_is_infinite(audit) else _number(audit.epsilon_exact),
            "floating_point_leaks": "true" if wording.leaks(audit) else None,
        }
    else:
        worst = audit.deciding
        facts |= {
            "probability_guaranteed": repr(audit.claim.probability),
            "probability_exact": None if worst is None else _number(worst.exact),
            "probability_low": None if worst is None else _number(worst.low),
            "probability_high": None if worst is None else _number(worst.high),
        }
    how = {"confidence": repr(audit.confidence), "runs": str(audit.runs), "seed": str(result.seed)}
    return {**facts, **how, "replay": audit.replay}


def _number(value: float | None) -> str | None:
    return None if value is None else repr(value)


def _properties(parent: Element, values: Mapping[str, str | None]) -> None:
    properties = SubElement(parent, "properties")
    for name, value in values.items():
        if value is not None:
            SubElement(properties, "property", name=visible(name), value=one_line(value))


def _timestamp(result: Result) -> str:
    """When it began, in UTC and without saying so, as the form wants it; "" where that cannot be read."""
    try:
        started = datetime.fromisoformat(result.timings.started)
    except ValueError:
        return ""
    started = started.astimezone(UTC) if started.tzinfo is not None else started
    return started.replace(tzinfo=None).isoformat(timespec="seconds")
