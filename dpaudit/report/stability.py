"""The result of an audit of stability, on the console and as plain text, and the words that all formats share."""

from __future__ import annotations

from fractions import Fraction
from io import StringIO

from rich.console import Console
from rich.text import Text

from dpaudit.report.datasets import compare
from dpaudit.report.terminal_text import Rows
from dpaudit.results.model import Verdict
from dpaudit.results.plain import flat
from dpaudit.results.stability import StabilityCode, StabilityRecord, shown_number

_STYLES = {Verdict.FAIL: "bold red", Verdict.PASS: "bold green", Verdict.INCONCLUSIVE: "bold yellow"}
_LABELS = 10
_WIDTH = 80
_PHRASES = {
    StabilityCode.ROUNDING: "FAIL · rounding", StabilityCode.PROVED: "PASS · proved",
    StabilityCode.NOT_VIOLATED: "PASS · not refuted",
}


def verdict_phrase(result: StabilityRecord) -> str:
    """FAIL, INCONCLUSIVE, or PASS with the kind of evidence."""
    return _PHRASES.get(result.reason_code, result.verdict.value.upper())


def distance(result: StabilityRecord) -> str:
    """The distance of the outputs, exactly where that is short; "–" where there is no pair."""
    exact = result.distance or "–"
    try:
        return shown_number(Fraction(exact))
    except ValueError:
        # a root, or infinite
        return exact


def allowed(result: StabilityRecord) -> str:
    """The distance that the claim allows, exactly where that is short."""
    return "–" if result.allowed is None else shown_number(Fraction(result.allowed))


def assurance(result: StabilityRecord) -> str:
    """What a verdict is worth."""
    if result.verdict is Verdict.FAIL:
        return "Nothing was sampled: the violation is certain."
    if result.proved:
        return "All pairs of a finite domain were tried: the claim is proved on it."
    if result.verdict is Verdict.PASS:
        return "No violation on the pairs that were tried, which is no proof."
    return "Nothing could be tried: there is no verdict."


def method(result: StabilityRecord) -> list[str]:
    """How the verdict was made, and what it assumes."""
    tried = f"{result.pairs:,} pair{'' if result.pairs == 1 else 's'}"
    neighbours = f"{result.relation}{', with records in any order' if result.any_order else ''}"
    return [
        f"{result.name} was called on both datasets of {tried}, which are neighbours under {neighbours}, and the "
        f"distance of its outputs ({result.metric}) was computed in rational numbers. Nothing was sampled.",
        "The claim is that outputs are at most this far apart on all datasets. A pair with a larger distance is "
        "minimised, and the function is called again on it.",
        "It assumes that the function is deterministic. It was called more than once on some datasets, and its outputs "
        "were the same.",
        f"Function: {result.source}.",
    ]


def quiet_line(result: StabilityRecord) -> str:
    """The verdict on one line."""
    return flat(f"{verdict_phrase(result)}  {result.name} · stability: {result.reason}")


def stability_block(result: StabilityRecord, *, verbose: bool = False) -> Rows:
    """The result as a block, laid out as an audit of privacy is."""
    failed = result.verdict is Verdict.FAIL
    block = Rows(label_width=_LABELS)
    head = Text(verdict_phrase(result), _STYLES[result.verdict])
    head.append(f"  {flat(result.name)} · stability", "bold")
    block.line(head, indent=0)
    block.line(flat(result.reason), style="bold" if failed else "")
    if result.pair is not None and (failed or verbose):
        for number, line in enumerate(_pair_lines(result)):
            block.labelled("" if number else "pair", flat(line))
        for number, (name, output) in enumerate(zip(("D", "D′"), result.outputs, strict=True)):
            block.labelled("" if number else "outputs", f"{name:3}{flat(output)}")
    block.labelled("claim", flat(result.claim))
    if verbose:
        block.labelled("source", flat(result.source))
    for note in result.notes:
        block.labelled("note", flat(note))
    block.line(f"Reproduce with: {flat(result.command)}")
    return block


def stability_text(result: StabilityRecord) -> str:
    """What the command line prints, without colour, 80 columns wide."""
    out = StringIO()
    Console(file=out, width=_WIDTH, color_system=None, force_jupyter=False).print(stability_block(result))
    return out.getvalue().rstrip("\n")


def _pair_lines(result: StabilityRecord) -> list[str]:
    pair = result.pair
    assert pair is not None
    lines: list[str] = []
    for part in compare(pair.left, pair.right, columns=pair.columns, limit=12):
        if part.columns:
            lines += ["".join(piece.text for piece in line) for line in part.lines()]
        else:
            lines += [f"{n:3}{e.text()}  ({e.size})" for n, e in (("D", part.left), ("D′", part.right))]
    return lines
