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

from dpaudit.report import alignment, chains, loss_breakdown, plain_words, utility, wording
from dpaudit.report.comparison import comparison_block
from dpaudit.report.datasets import Excerpt, compare
from dpaudit.report.numbers import stated
from dpaudit.report.progress import TerminalBar
from dpaudit.report.terminal_text import Rows, columns, for_encoding, render_card, render_corpus, render_list
from dpaudit.results import stream
from dpaudit.results.model import Audit, EvidenceKind, PairRecord, Result, UtilityAudit, Verdict
from dpaudit.results.notes import Interrupted
from dpaudit.results.plain import flat

__all__ = ["ConsoleReporter", "audit_block", "render_card", "render_corpus", "render_list", "summary"]

_STYLES = {Verdict.FAIL: "bold red", Verdict.PASS: "bold green", Verdict.INCONCLUSIVE: "bold yellow"}
_LABELS = 10
_WORST = ("worst_pair_keeps_claim", "worst_chain_keeps_claim")
_MARKS = {True: "✓", False: "✗", None: ""}
MOST_ATTEMPTS = 4
"""Kinds of inputs of a guarantee that are shown, the worst first."""


class ConsoleReporter:
    """Shows the engine's stream, event by event: results on one console, progress on the other.

    Progress appears only when `console_err` is a terminal. With `quiet`, stdout has one line for each audit
    and nothing else; with `verbose`, it also says how each verdict was made. Use it as a context manager (or call
    `close`), so that an exception on the way leaves no half-drawn progress bar.
    """

    def __init__(self, console_out: Console, console_err: Console, *, quiet: bool, verbose: bool = False) -> None:
        self._out = console_out
        self._err = console_err
        self._quiet = quiet
        self._verbose = verbose
        self._explained = False
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
            case stream.Notice(text=text):
                if not self._quiet:
                    self._progress.say(text)
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
                    self._err.print(Text(_interrupted(result, self._announced), "bold"))
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
        if isinstance(audit, Audit):
            block = audit_block(audit, again=again, verbose=self._verbose, explained=self._explained)
            self._explained = self._explained or wording.leaks_beside(audit) or wording.refuted_by_bits(audit)
        else:
            block = utility_block(audit, again=again, verbose=self._verbose)
        self._out.print(block)
        self._out.print()

    def _begin(self, event: stream.AuditStarted) -> None:
        self.close()
        self._begun += 1
        if not self._quiet and self._err.is_terminal:
            self._progress.begin(event, place=f"{self._begun}/{self._announced}" if self._announced > 1 else "")


def audit_block(
    audit: Audit, *, again: str | None = None, verbose: bool = False, explained: bool = False
) -> Rows:
    """One audit as a block: verdict, what it means, what shows it, and the command that repeats it (`again`).

    Args:
        audit: of any verdict.
        again: the command; that of the store without it.
        verbose: whether to say how the verdict was made, too.
        explained: whether a block before this one said what a floating-point vulnerability is.
    """
    block = Rows(label_width=_LABELS)
    verdict = _verdict_line(audit)
    if audit.crashed and audit.verdict is not Verdict.FAIL:
        verdict.append("  the mechanism crashed")
    block.line(verdict, indent=0)
    failed = audit.verdict is Verdict.FAIL
    plain = plain_words.meaning(audit)
    bounds = plain_words.bounds(audit, verbose=verbose)
    if plain is not None:
        block.line(plain, style="bold" if failed else "")
    elif bounds:
        # a FAIL that no single event shows
        block.line(bounds.pop(0), style="bold" if failed else "")
    # a search for the worst pair shows it, whatever the verdict
    if (failed or verbose or audit.reason_code in _WORST) and audit.pair is not None:
        _add_pair(block, audit.pair, verbose=verbose)
    if failed or verbose:
        _add_event(block, audit, said=plain is not None, verbose=verbose)
    for number, bound in enumerate(bounds):
        block.labelled("" if number else "bound", bound)
    for number, hint in enumerate(plain_words.hints(audit)):
        block.labelled("" if number else "hint", hint)
    block.labelled("claim", audit.claim.statement)
    if (scope := wording.scope_line(audit)) is not None and (verbose or audit.proof is not None):
        block.labelled("domain", scope)
    if (sides := wording.two_sides(audit)) is not None:
        block.labelled("two sides", sides)
    if audit.alignment is not None and wording.is_proved(audit):
        for number, line in enumerate(alignment.lines(alignment.noise_lines(audit.alignment))):
            block.labelled("" if number else "noise", line)
    if audit.chain is not None and (failed or verbose):
        for number, line in enumerate((chains.sentence(audit.chain), *chains.terminal_table(audit.chain))):
            block.labelled("" if number else "chain", line)
    if (detectable := wording.detectable_sentence(audit)) is not None and (verbose or _power_matters(audit)):
        block.labelled("power", detectable)
    if (assumed := wording.assumed(audit)) is not None:
        block.labelled("assumes", assumed)
    for number, line in enumerate(_floats(audit, verbose=verbose, explained=explained)):
        block.labelled("" if number else "floats", line)
    if (failed or verbose) and (loss := loss_breakdown.sentence(audit)) is not None:
        block.labelled("loss", loss)
        for line in loss_breakdown.terminal_table(audit):
            block.labelled("", line)
    if verbose:
        _add_details(block, audit)
    elif plain_words.reason_adds(audit):
        block.labelled("reason", audit.reason)
    for note in audit.notes:
        if verbose or note.code not in plain_words.DETAILS:
            block.labelled("note", note.sentence)
    if (expectation := wording.expectation(audit)) is not None:
        block.line(expectation, style="" if audit.as_expected else "bold red")
    block.line(f"Reproduce with: {again or wording.replay_command(audit)}")
    return block


def _power_matters(audit: Audit) -> bool:
    """Whether a reader must know what would have been detected: where nothing was, by samples."""
    tested = audit.verdict is not Verdict.FAIL and audit.reason_code != "no_claim"
    return tested and audit.evidence is EvidenceKind.SAMPLED


def _floats(audit: Audit, *, verbose: bool, explained: bool) -> list[str]:
    """What the bits of floating-point outputs reveal, once in full; nothing where that decides nothing."""
    said = wording.floating_point_sentence(audit)
    if said is None:
        return []
    full = wording.leaks_beside(audit) or wording.refuted_by_bits(audit)
    lines = list(wording.floating_point_lines(audit)) if full and not explained else []
    return [*lines, said] if verbose else lines


def _add_details(block: Rows, audit: Audit) -> None:
    """How the verdict was made."""
    if (evidence := wording.evidence_sentence(audit)) is not None:
        block.labelled("e-value", evidence)
    block.labelled("reason", audit.reason)


def utility_block(audit: UtilityAudit, *, again: str | None = None, verbose: bool = False) -> Rows:
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
    if verbose or audit.verdict is not Verdict.FAIL:
        # the headline of a FAIL says the same
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
    if len(result.every) != 1 or result.comparison is not None:
        # the block of a single audit begins with its verdict
        block.line(Text(wording.title(result), "bold"), indent=0)
    if len(result.every) > 1 and (expected := wording.expected_total(result.every)) is not None:
        block.line(expected, indent=0)
    if len(result.audits) > 1 and (leaking := wording.leaking(result.audits)) is not None:
        block.line(leaking, indent=0)
    if (longer := wording.certify_sentence(result)) is not None:
        block.line(longer, indent=0)
    block.line(wording.error_sentence(result), indent=0)
    return block


def _interrupted(result: Result, announced: int) -> str:
    """What is left of an interrupted run."""
    partial = sum(any(note.code == Interrupted.code for note in audit.notes) for audit in result.every)
    if partial and len(result.every) == 1:
        return "Interrupted: the result shows what the audit had until then."
    of = f" of {announced}" if announced else ""
    last = "; the last result shows what its audit had until then" if partial else ""
    return f"Interrupted: {len(result.every) - partial}{of} audits ended; their results stand{last}."


def _verdict_line(audit: Audit | UtilityAudit) -> Text:
    of = "" if isinstance(audit, Audit) else "utility of "
    line = Text.assemble(
        (_phrase(audit), _STYLES[audit.verdict]), f"  {of}", (wording.full_name(audit), "bold")
    )
    if isinstance(audit, Audit) and wording.leaks_beside(audit):
        line.append(f"  {wording.VULNERABLE}")
    return line


def _phrase(audit: Audit | UtilityAudit) -> str:
    return wording.verdict_phrase(audit) if isinstance(audit, Audit) else utility.verdict_phrase(audit)


def _quiet_line(audit: Audit | UtilityAudit) -> Text:
    line = _verdict_line(audit)
    if audit.as_expected is False:
        line.append(f"  {wording.expectation(audit)}")
    if audit.verdict is Verdict.INCONCLUSIVE:
        # what to do next is said there, and nowhere else
        line.append(f"  {flat(audit.reason)}")
    return line


def _add_pair(block: Rows, pair: PairRecord, *, verbose: bool) -> None:
    """The two datasets, and the name of the pair if a person gave it one."""
    named = verbose or pair.source == "specified"
    if named:
        block.labelled("pair", wording.pair_name(pair) if verbose else pair.label)
    _add_datasets(block, pair, "" if named else "pair")


def _add_event(block: Rows, audit: Audit, *, said: bool, verbose: bool) -> None:
    """The event, unless the sentence named it, and how often it occurred."""
    exact = wording.reported_exact(audit)
    if audit.event is None and (exact is None or not verbose):
        return
    if verbose or not (said and plain_words.names_event(audit)):
        # an exact event was computed, not learned
        learned = wording.deciding(audit) if exact is None and verbose else None
        block.labelled("event", wording.event_phrase(audit.event, wording.more_likely_under(audit), learned))
    if exact is not None and exact.event is not None and (verbose or not said):
        block.labelled("", wording.probabilities_sentence(exact))
    evidence = wording.deciding(audit)
    if evidence is None or not (verbose or audit.evidence is EvidenceKind.SAMPLED):
        return
    label = "counts"
    if exact is not None and (evidence.event, evidence.pair) != (exact.event, exact.pair):
        where = "" if evidence.pair == exact.pair else f" ({evidence.pair.label})"
        dataset = f"{wording.more_likely_dataset(evidence)}{where}"
        block.labelled("samples", wording.event_phrase(evidence.event, dataset, evidence))
        label = ""
    block.labelled(label, wording.counts_sentence(evidence))


def _add_datasets(block: Rows, pair: PairRecord, label: str) -> None:
    """Both datasets, one under the other, with ‹ › around the differences."""
    for part in compare(pair.left, pair.right, columns=pair.columns, limit=12):
        if part.columns:
            for line in part.lines():
                block.labelled(label, Text.assemble(*((piece.text, "bold" if piece.changed else "") for piece in line)))
                label = ""
            continue
        for name, excerpt in (("D ", part.left), ("D′", part.right)):
            head = f"{name} {part.name}: " if part.name else f"{name} "
            block.labelled(label, Text.assemble(head, _dataset(excerpt)))
            label = ""


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
        if audit.curve is not None:
            # an ε alone says nothing of a curve
            exact = (wording.curve_exact(audit) or "").removeprefix("exact ")
            numbers = (audit.curve.allowance, wording.curve_bound(audit) or "", exact)
        # the tally below says what is proved for every dataset
        phrase = wording.verdict_phrase(audit).removesuffix(" for every dataset")
        cells.append((phrase, *numbers, _MARKS[audit.as_expected]))
    _add_lines(block, cells, "audit", result.audits)


def _add_lines(
    block: Rows, cells: Sequence[Sequence[str]], what: str, audits: Sequence[Audit | UtilityAudit]
) -> None:
    """A table: a row of cells for each audit, and its name beside it."""
    heading, *lines = columns(cells)
    table = Rows(label_width=max(map(cell_len, [heading, *lines])) + 2)
    table.labelled(heading, Text(what, "dim"), indent=0)
    for audit, row, line in zip(audits, cells[1:], lines, strict=True):
        label = Text(line)
        label.stylize(_STYLES[audit.verdict], 0, len(row[0]))
        table.labelled(label, wording.full_name(audit), indent=0)
    block.rows += table.rows
    block.line("", indent=0)
