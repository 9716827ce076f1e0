"""Markdown for a pull request: the tally, a table of all claims, and folded details of each unexpected verdict.

GitHub rejects comments of more than 65,536 characters. The text is kept below that many bytes; rows without problems
are left out first. Text from users is escaped, so it is never read as Markdown or HTML.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from dpaudit.report import stability, utility, wording
from dpaudit.report.short import audit_text, phrase, what_matters
from dpaudit.results.faults import Fault, fault
from dpaudit.results.model import Audit, Result, UtilityAudit, Verdict
from dpaudit.results.plain import flat, one_line, visible
from dpaudit.results.stability import StabilityRecord

MOST = 65_536
"""GitHub's limit on the characters of a comment; used here as a limit on bytes of UTF-8."""
_APART = "<!-- -->"
"""Put after @ and # so that GitHub neither mentions anyone nor links an issue or address."""
_MOST_DETAILS = 8_000  # bytes of one folded block
_CLAIMS = "| Verdict | Audit | Claim (ε, δ) | Lower bound on ε | Exact ε |\n|---|---|---|--:|--:|\n"
_GUARANTEES = "| Verdict | Utility | Guarantee | Guaranteed | Success |\n|---|---|---|--:|--:|\n"
_DISTANCES = "| Verdict | Function | Claim | Distance | Allowed |\n|---|---|---|--:|--:|\n"
_SPARED = 400  # bytes for the lines that count what was left out
_Kind = TypeVar("_Kind", Audit, UtilityAudit)
_SIGNS = {Verdict.FAIL: "❌", Verdict.PASS: "✅", Verdict.INCONCLUSIVE: "⚠️"}
_MARKUP = re.compile(r"[\\`*_\[\]|~$<>&@#]|(?<=:)//")


def to_markdown(result: Result, *, expect: bool = False, most: int = MOST) -> str:
    """The result as Markdown, for a comment or a job summary.

    Args:
        result: of any command.
        expect: whether any verdict that the catalogue expects is accepted (as with `--expect`).
        most: largest size in bytes of UTF-8, at least 4,000.
    """
    head = f"## dpaudit: {_text(wording.title(result))}\n\n"
    if result.interrupted:
        head += "**Interrupted**: this report has the audits that had ended; their results are complete.\n\n"
    expected = wording.expected_total(result.every)
    if expected is not None:
        head += f"**{_text(expected)}**. " if "NOT" in expected else f"{_text(expected.capitalize())}. "
    head += f"{_text(_sentence(wording.error_sentence(result)))}\n\n"
    foot = f"To reproduce this result:\n\n{_block(flat(result.command), 2_000)}\n"
    left = most - len((head + foot).encode())
    wrong = [(audit, problem) for audit in result.every if (problem := fault(audit, expect=expect)) is not None]
    # at least half of the space is for the tables
    folded, used = _fitting([_details(audit, problem) for audit, problem in wrong], left // 2 - _SPARED)
    more = len(wrong) - len(folded)
    details = "".join(folded)
    if more:
        details += f"… and {more:,} more with an unexpected verdict.\n\n"
    left -= used + _SPARED
    # guarantees are few; claims get the space that they leave
    guarantees = _table(
        result.utility, _GUARANTEES, _guarantee_row, left // 2 if result.audits else left, expect=expect
    )
    claims = _table(result.audits, _CLAIMS, _row, left - len(guarantees.encode()), expect=expect)
    return head + claims + guarantees + details + foot


def stability_to_markdown(result: StabilityRecord) -> str:
    """An audit of stability as Markdown, for a comment or a job summary."""
    words = stability.verdict_phrase(result)
    shown = f"**{words}**" if result.verdict is Verdict.FAIL else words
    cells = [
        f"{_SIGNS[result.verdict]} {shown}", f"<code>{_text(one_line(result.name, most=120))}</code>",
        _text(one_line(result.claim, most=300)), _text(one_line(stability.distance(result), most=80)),
        _text(one_line(stability.allowed(result), most=80)),
    ]
    head = f"## dpaudit: {_text(result.name)}: {words}\n\n{_text(stability.assurance(result))}\n\n"
    summary = html.escape(one_line(f"{result.name}: {result.reason}", most=300), quote=False)
    text = _block(stability.stability_text(result), _MOST_DETAILS)
    folded = f"<details><summary>{_unlinked(summary)}</summary>\n\n{text}\n</details>\n\n"
    foot = f"To reproduce this result:\n\n{_block(flat(result.command), 2_000)}\n"
    return f"{head}{_DISTANCES}| {' | '.join(cells)} |\n\n{folded}{foot}"


def _table(
    audits: Sequence[_Kind], heading: str, row: Callable[[_Kind, bool], str], left: int, *, expect: bool
) -> str:
    """Unexpected verdicts come first and are left out last."""
    if not audits:
        return ""
    order = sorted(range(len(audits)), key=lambda i: (fault(audits[i], expect=expect) is None, i))
    kept, _ = _fitting([row(audits[i], expect) for i in order], left - len(heading.encode()) - _SPARED)
    more = len(audits) - len(kept)
    return heading + "".join(kept) + (f"| … | … and {more:,} more | | | |\n" if more else "") + "\n"


def _row(audit: Audit, expect: bool) -> str:
    certified, exact = wording.certified_epsilon(audit), wording.exact_epsilon(audit)
    cells = [
        _verdict(audit, expect=expect),
        _name(audit),
        _text(wording.claimed(audit)),
        f"≥ {certified}" if certified else "–",
        exact or "–",
    ]
    return f"| {' | '.join(cells)} |\n"


def _guarantee_row(audit: UtilityAudit, expect: bool) -> str:
    success = utility.success(audit.deciding) if audit.deciding is not None else "–"
    goal = _text(one_line(audit.claim.goal, most=120))
    cells = [_verdict(audit, expect=expect), _name(audit), goal, utility.guaranteed(audit), _text(success)]
    return f"| {' | '.join(cells)} |\n"


def _verdict(audit: Audit | UtilityAudit, *, expect: bool) -> str:
    """Sign and words; with `expect`, the sign says whether the verdict is the expected one."""
    problem = fault(audit, expect=expect)
    sign = _SIGNS[audit.verdict]
    if expect and audit.as_expected is not None and problem is not Fault.INCONCLUSIVE:
        sign = _SIGNS[Verdict.PASS] if problem is None else _SIGNS[Verdict.FAIL]
    if problem is Fault.CRASHED:
        sign = "💥"
    notes = [note for note in (wording.expectation(audit),) if note]
    if isinstance(audit, Audit) and wording.rounds(audit):
        notes.append(wording.ROUNDS)
    if isinstance(audit, Audit) and wording.leaks_beside(audit):
        notes.append(wording.VULNERABLE)
    words = f"**{phrase(audit)}**" if audit.verdict is Verdict.FAIL else phrase(audit)
    return f"{sign} {', '.join([words, *map(_text, notes)])}"


def _name(audit: Audit | UtilityAudit) -> str:
    case = f" · {_text(one_line(audit.case, most=120))}" if audit.case else ""
    return f"<code>{_text(one_line(audit.name, most=120))}</code>{case}"


def _details(audit: Audit | UtilityAudit, problem: Fault) -> str:
    """An unexpected verdict, folded, in the words of the other reports."""
    of = "" if isinstance(audit, Audit) else "utility of "
    said = one_line(f"{wording.full_name(audit)}: {what_matters(audit, problem)}", most=300)
    summary = html.escape(f"{of}{said}", quote=False)
    text = audit_text(audit, again=wording.replay_command(audit))
    word = {Fault.UNEXPECTED: "unexpected verdict", Fault.CRASHED: "crashed"}.get(problem, audit.verdict.value)
    heading = f"<summary><b>{word.upper()}</b> {_unlinked(summary)}</summary>"
    return f"<details>{heading}\n\n{_block(text, _MOST_DETAILS)}\n</details>\n\n"


def _block(text: str, most: int) -> str:
    """Preformatted text; in this element nothing is read as Markdown, and nobody is mentioned."""
    shown = visible(text)
    if len(shown.encode()) > most:
        shown = f"{shown.encode()[: most - 3].decode(errors='ignore')}…"
    return f"<pre>\n{html.escape(shown, quote=False)}\n</pre>\n"


def _fitting(parts: Sequence[str], left: int) -> tuple[list[str], int]:
    """The first parts that fit, and their size."""
    used = 0
    for number, part in enumerate(parts):
        size = len(part.encode())
        if used + size > left:
            return list(parts[:number]), used
        used += size
    return list(parts), used


def _text(text: str) -> str:
    """A line of text, escaped."""
    return _MARKUP.sub(_escaped, one_line(text))


def _escaped(character: re.Match[str]) -> str:
    match character[0]:
        case "<" | ">" | "&" as sign:
            return html.escape(sign)
        case "@" | "#" as sign:
            return f"{sign}{_APART}"
        case "//":
            return f"/{_APART}/"
        case sign:
            return f"\\{sign}"


def _unlinked(text: str) -> str:
    """Without mentions of users or links to issues."""
    return text.replace("@", f"@{_APART}").replace("#", f"#{_APART}")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
