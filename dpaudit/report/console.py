"""The terminal: results on stdout as they come, progress on stderr while they are made.

What is on stdout depends on the results alone, so it can be compared byte for byte; it reads the same
without colour and in 80 columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from dpaudit.report import chains, loss_breakdown, utility, wording
from dpaudit.report.comparison import comparison_block
from dpaudit.report.datasets import Excerpt, compare
from dpaudit.report.numbers import stated
from dpaudit.report.progress import TerminalBar
from dpaudit.report.terminal_text import Rows, columns, for_encoding, render_card, render_corpus, render_list
from dpaudit.results import stream
from dpaudit.results.model import Audit, EvidenceKind, PairRecord, Result, UtilityAudit, Verdict

__all__ = ["ConsoleReporter", "audit_block", "render_card", "render_corpus", "render_list", "summary"]

_STYLES = {Verdict.FAIL: "bold red", Verdict.PASS: "bold green", Verdict.INCONCLUSIVE: "bold yellow"}
_LABELS = 10
_MARKS = {True: "✓", False: "✗", None: ""}
MOST_ATTEMPTS = 4
"""Kinds of inputs of a guarantee that are shown, the worst first."""


class ConsoleReporter:
    """Shows the engine's stream, event by event: results on one console, progress on the other.

    Progress appears only when `console_err` is a terminal. With `quiet`, stdout has one line for each audit
    and nothing else. Use it as a context manager (or call `close`), so that an exception on the way leaves no
    half-drawn progress bar.
    """

    def __init__(self, console_out: Console, console_err: Console, *, quiet: bool) -> None:
        self._out = console_out
        self._err = console_err
        self._quiet = quiet
        self._progress = TerminalBar(console_err)
        self._announced = 0
        self._begun = 0

    def __enter__(self) -> Self:
        """The reporter itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the progress bar away, whatever happened."""
        self.close()

    def count(self, event: stream.Event) -> None:
        """Take note of an event that another process has shown."""
        if isinstance(event, stream.CheckStarted):
            self._announced = event.audits
        self._begun += isinstance(event, stream.AuditStarted)

    def on(self, event: stream.Event) -> None:
        """Show one event of the stream."""
        match event:
            case stream.CheckStarted(audits=audits):
                self._announced = audits
            case stream.AuditStarted():
                self._begin(event)
            case stream.Progress():
                self._progress.advance(event)
            case stream.AuditFinished(audit=audit):
                self.close()
                if self._quiet:
                    # one line each, however narrow the terminal: `grep` and `wc -l` must be able to count
                    line = for_encoding(_quiet_line(audit), self._out.encoding)
                    self._out.print(line, soft_wrap=True)
                else:
                    self._block(audit, wording.replay_command(audit))
            case stream.CheckFinished(result=result):
                self.close()
                if result.interrupted:
                    of = f" of {self._announced}" if self._announced else ""
                    ended = f"Interrupted: {len(result.every)}{of} audits ended; their results stand."
                    self._err.print(Text(ended, "bold"))
                if not self._quiet:
                    self._out.print(summary(result))

    def show(self, result: Result) -> None:
        """Show a result that was read from a file, as if it had just been made."""
        for audit in result.every:
            if self._quiet:
                self.on(stream.AuditFinished(audit, 0.0))
            else:
                self._block(audit, wording.again(result, audit))
        self.on(stream.CheckFinished(result))
        if result.comparison is not None and not self._quiet:
            self._out.print(comparison_block(result))

    def close(self) -> None:
        """Take the progress bar away."""
        self._progress.close()

    def _block(self, audit: Audit | UtilityAudit, again: str) -> None:
        block = audit_block(audit, again=again) if isinstance(audit, Audit) else utility_block(audit, again=again)
        self._out.print(block)
        self._out.print()

    def _begin(self, event: stream.AuditStarted) -> None:
        self.close()
        self._begun += 1
        if not self._quiet and self._err.is_terminal:
            self._progress.begin(event, place=f"{self._begun}/{self._announced}" if self._announced > 1 else "")


def audit_block(audit: Audit, *, again: str | None = None) -> Rows:
    """One audit as a block: verdict, evidence, and the command that repeats it (`again`)."""
    block = Rows(label_width=_LABELS)
    block.line(_verdict_line(audit), indent=0)
    headline = wording.headline(audit)
    block.line(headline, style="bold" if audit.verdict is Verdict.FAIL else "")
    for sentence in (wording.certified_sentence(audit), wording.exact_sentence(audit)):
        if sentence and sentence not in headline:
            block.line(sentence)
    if wording.refuted_by_runs(audit) and (alone := wording.clopper_pearson_sentence(audit)) is not None:
        block.line(alone)
    block.labelled("claim", audit.claim.statement)
    if (scope := wording.scope_line(audit)) is not None:
        block.labelled("domain", scope)
    if audit.evidence is not EvidenceKind.EXHAUSTIVE or audit.verdict is not Verdict.PASS:
        _add_event(block, audit)
    if audit.chain is not None:
        for number, line in enumerate((chains.sentence(audit.chain), *chains.terminal_table(audit.chain))):
            block.labelled("" if number else "chain", line)
    if (evidence := wording.evidence_sentence(audit)) is not None:
        block.labelled("e-value", evidence)
    if (floats := wording.floating_point_sentence(audit)) is not None:
        block.labelled("floats", floats)
    if (detectable := wording.detectable_sentence(audit)) is not None:
        block.labelled("power", detectable)
    if (loss := loss_breakdown.sentence(audit)) is not None:
        block.labelled("loss", loss)
        for line in loss_breakdown.terminal_table(audit):
            block.labelled("", line)
    block.labelled("reason", audit.reason)
    for note in audit.notes:
        block.labelled("note", note.sentence)
    if (expectation := wording.expectation(audit)) is not None:
        block.line(expectation, style="" if audit.as_expected else "bold red")
    block.line(f"Reproduce with: {again or wording.replay_command(audit)}")
    return block


def utility_block(audit: UtilityAudit, *, again: str | None = None) -> Rows:
    """One utility guarantee as a block, laid out as an audit of privacy is."""
    block = Rows(label_width=_LABELS)
    block.line(_verdict_line(audit), indent=0)
    block.line(utility.headline(audit), style="bold" if audit.verdict is Verdict.FAIL else "")
    block.labelled("guarantee", f"{audit.claim.statement} ({audit.claim.place})")
    worst = audit.deciding
    shown = [audit.attempts.index(worst)] if worst is not None else []
    shown += [i for i in range(len(audit.attempts)) if i not in shown][: MOST_ATTEMPTS - len(shown)]
    for i in shown:
        one = audit.attempts[i]
        runs = f"; {utility.runs_sentence(one)}" if one.runs else ""
        block.labelled("inputs" if i == shown[0] else "", f"{one.instances}: {utility.success(one)}{runs}")
    if len(shown) < len(audit.attempts):
        left = len(audit.attempts) - len(shown)
        block.labelled("", f"… and {left} more {'kind' if left == 1 else 'kinds'} of inputs, all of them in the JSON")
    block.labelled("reason", audit.reason)
    for note in audit.notes:
        block.labelled("note", note.sentence)
    if (expectation := wording.expectation(audit)) is not None:
        block.line(expectation, style="" if audit.as_expected else "bold red")
    block.line(f"Reproduce with: {again or wording.replay_command(audit)}")
    return block


def summary(result: Result) -> Rows:
    """The end of the output: a table of several audits, the tally, seed and error."""
    block = Rows(label_width=_LABELS)
    if len(result.audits) > 1:
        _add_table(block, result)
    if len(result.every) > 1 and result.utility:
        _add_utility_table(block, result)
    block.line(Text(wording.title(result), "bold"), indent=0)
    if len(result.every) > 1 and (expected := wording.expected_total(result.every)) is not None:
        block.line(expected, indent=0)
    if len(result.audits) > 1 and (leaking := wording.leaking(result.audits)) is not None:
        block.line(leaking, indent=0)
    block.line(wording.error_sentence(result), indent=0)
    return block


def _verdict_line(audit: Audit | UtilityAudit) -> Text:
    of = "" if isinstance(audit, Audit) else "utility of "
    return Text.assemble(
        (_phrase(audit), _STYLES[audit.verdict]), f"  {of}", (wording.full_name(audit), "bold")
    )


def _phrase(audit: Audit | UtilityAudit) -> str:
    return wording.verdict_phrase(audit) if isinstance(audit, Audit) else utility.verdict_phrase(audit)


def _quiet_line(audit: Audit | UtilityAudit) -> Text:
    line = _verdict_line(audit)
    if isinstance(audit, Audit) and wording.leaks_beside(audit):
        line.append(f"  {wording.VULNERABLE}")
    if audit.as_expected is False:
        line.append(f"  {wording.expectation(audit)}")
    return line


def _add_event(block: Rows, audit: Audit) -> None:
    if audit.pair is not None:
        pair = audit.pair
        block.labelled("pair", wording.pair_name(pair))
        # the label of a pair that was searched for does not name its datasets
        if audit.verdict is Verdict.FAIL or pair.source == "found":
            _add_datasets(block, pair)
    exact = wording.reported_exact(audit)
    if audit.event is not None or exact is not None:
        # an exact event was computed, not learned
        learned = wording.deciding(audit) if exact is None else None
        block.labelled("event", wording.event_phrase(audit.event, wording.more_likely_under(audit), learned))
        if exact is not None and exact.event is not None:
            block.labelled("", wording.probabilities_sentence(exact))
        if (evidence := wording.deciding(audit)) is not None:
            if exact is not None and (evidence.event, evidence.pair) != (exact.event, exact.pair):
                where = "" if evidence.pair == exact.pair else f" ({evidence.pair.label})"
                dataset = f"{wording.more_likely_dataset(evidence)}{where}"
                block.labelled("samples", wording.event_phrase(evidence.event, dataset, evidence))
            block.labelled("", wording.counts_sentence(evidence))


def _add_datasets(block: Rows, pair: PairRecord) -> None:
    """Both datasets, one under the other, with ‹ › around the differences."""
    for part in compare(pair.left, pair.right, columns=pair.columns, limit=12):
        if part.columns:
            for line in part.lines():
                block.labelled("", Text.assemble(*((piece.text, "bold" if piece.changed else "") for piece in line)))
            continue
        for name, excerpt in (("D ", part.left), ("D′", part.right)):
            head = f"{name} {part.name}: " if part.name else f"{name} "
            block.labelled("", Text.assemble(head, _dataset(excerpt)))


def _dataset(excerpt: Excerpt) -> Text:
    text = Text("[" if excerpt.bracketed else "")
    for number, piece in enumerate(excerpt.pieces):
        text.append(", " if number else "")
        text.append(f"‹{piece.text}›" if piece.changed else piece.text, "bold" if piece.changed else "")
    text.append("]" if excerpt.bracketed else "")
    text.append(f"  ({excerpt.size})" if excerpt.size else "", "dim")
    return text


def _add_utility_table(block: Rows, result: Result) -> None:
    cells = [("verdict", "claim", "success", "exp.")]
    for audit in result.utility:
        success = "" if audit.deciding is None else utility.success(audit.deciding)
        cells.append((_phrase(audit), utility.guaranteed(audit), success, _MARKS[audit.as_expected]))
    _add_lines(block, cells, "utility", result.utility)


def _add_table(block: Rows, result: Result) -> None:
    cells = [("verdict", "claim", "bound", "exact", "exp.")]
    for audit in result.audits:
        certified = wording.certified_epsilon(audit)
        numbers = (
            stated(audit.claim.epsilon),
            f"≥ {certified}" if certified else "",
            wording.exact_epsilon(audit) or "",
        )
        cells.append((wording.verdict_phrase(audit), *numbers, _MARKS[audit.as_expected]))
    _add_lines(block, cells, "audit", result.audits)


def _add_lines(
    block: Rows, cells: Sequence[Sequence[str]], what: str, audits: Sequence[Audit | UtilityAudit]
) -> None:
    """A table: a row of cells for each audit, and its name beside it."""
    heading, *lines = columns(cells)
    table = Rows(label_width=max(map(cell_len, [heading, *lines])) + 2)
    table.labelled(heading, Text(what, "dim"), indent=0)
    for audit, line in zip(audits, lines, strict=True):
        label = Text(line)
        label.stylize(_STYLES[audit.verdict], 0, len(_phrase(audit)))
        table.labelled(label, wording.full_name(audit), indent=0)
    block.rows += table.rows
    block.line("", indent=0)
