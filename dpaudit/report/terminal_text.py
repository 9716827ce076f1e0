"""Text laid out for a terminal: rows, lists and cards that read well in 80 columns and without colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from dpaudit.results.plain import flat, visible

_ASCII = str.maketrans(
    {"ε": "epsilon", "δ": "delta", "α": "alpha", "∞": "inf", "⊥": "bottom", "≥": ">=", "≤": "<=", "×": "x"}
    | {"·": "-", "–": "-", "−": "-", "…": "...", "→": "->", "‹": "<", "›": ">", "✓": "yes", "✗": "NO", "²": "^2"}
    | {"“": '"', "”": '"'}
)

CORRECT = "correct"
"""Shown in place of the bug of a mechanism that has none."""
_LEAST_TEXT = 50  # columns beside a name in which sentences still read well
_CORPUS_INDENT = 4


def for_encoding(text: Text, encoding: str) -> Text:
    """The text as a terminal may have it: what cannot be seen, or moves the cursor, is escaped.

    Where the encoding lacks a sign it is an ASCII spelling: an old pipe must not crash us.
    """
    if visible(text.plain) != text.plain:
        text = Text.assemble(*((visible(part.plain), part.style) for part in _uniform_parts(text)))
    try:
        text.plain.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return Text.assemble(*((_spelled(part.plain), part.style) for part in _uniform_parts(text)))
    return text


def _spelled(plain: str) -> str:
    return plain.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def _uniform_parts(text: Text) -> Iterable[Text]:
    if not text.spans:
        return [text]
    cuts = sorted({0, len(text), *(span.start for span in text.spans), *(span.end for span in text.spans)})
    parts = []
    for part in text.divide(cuts[1:-1]):
        part.style = part.spans[0].style if part.spans else text.style
        parts.append(part)
    return parts


@dataclass
class Rows:
    """Lines with an indent and perhaps a label, each wrapped under itself."""

    label_width: int = 0
    rows: list[tuple[int, Text, Text]] = field(default_factory=list)

    def line(self, text: str | Text, *, indent: int = 2, style: str = "") -> None:
        """A line that wraps under its own beginning."""
        self.rows.append((indent, Text(), text if isinstance(text, Text) else Text(text, style)))

    def labelled(self, label: str | Text, text: str | Text, *, indent: int = 2) -> None:
        """A line with a label before it; wrapped lines are indented to the text.

        An empty label continues the row above.
        """
        padded = label.copy() if isinstance(label, Text) else Text(label, "dim")
        padded.append(" " * max(self.label_width - padded.cell_len, 1))
        self.rows.append((indent, padded, text if isinstance(text, Text) else Text(text)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The lines, without trailing blanks."""
        for indent, label, raw in self.rows:
            text = for_encoding(raw, options.encoding)
            start = indent + label.cell_len
            if start == 0 and "\n" in text.plain:
                # a break of line there could forge a line of ours
                text = Text.assemble(*((flat(part.plain), part.style) for part in _uniform_parts(text)))
            lines = text.wrap(console, max(options.max_width - start, 20))
            for number, line in enumerate(lines or [Text()]):
                line.rstrip()
                head = (
                    Text(" " * indent) + for_encoding(label, options.encoding)
                    if number == 0
                    else Text(" " * start)
                )
                whole = head + line
                whole.rstrip()
                yield whole


def columns(rows: Sequence[Sequence[str]], *, gap: int = 2, indent: int = 0) -> list[str]:
    """Rows of cells as aligned lines."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        lines.append(" " * indent + (" " * gap).join(cells).rstrip())
    return lines


@dataclass(frozen=True)
class Listing:
    """Entries of (name, title, claim, source): one line each where all fit, else a block each."""

    rows: Sequence[Sequence[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One table of aligned lines, or two or three lines for an entry."""
        if not self.rows:
            return
        lines = columns([("name", "title", "claim", "source"), *self.rows])
        if max(map(cell_len, lines)) <= options.max_width:
            for number, line in enumerate(lines):
                yield for_encoding(Text(line, "dim" if number == 0 else ""), options.encoding)
            return
        width = max(cell_len(row[0]) for row in self.rows)
        block = Rows(label_width=min(width, 24) + 2)
        for name, title, claim, source in self.rows:
            block.labelled(name, title, indent=0)
            block.labelled("", f"{claim} · {source}" if source else claim, indent=0)
        yield block


@dataclass(frozen=True)
class CorpusListing:
    """Entries of (name, bug or "correct", effect, true epsilon, source): a block each, as the effect is a sentence."""

    rows: Sequence[Sequence[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Name and bug on one line, the rest beneath the bug where there is room, else beneath the name."""
        width = max((cell_len(row[0]) for row in self.rows), default=0) + 2
        wide = options.max_width >= width + _LEAST_TEXT
        block = Rows(label_width=width if wide else _CORPUS_INDENT)
        for name, bug, effect, epsilon, source in self.rows:
            what = Text(bug, "" if bug == CORRECT else "bold")
            if wide:
                block.labelled(Text(name, "bold"), what, indent=0)
            else:
                block.line(Text.assemble((name, "bold"), "  ", what), indent=0)
            for text in (effect, f"true ε: {epsilon}", Text(source, "dim")):
                block.labelled("", text, indent=0)
        yield block


@dataclass(frozen=True)
class CardText:
    """(heading, text) pairs: short texts beside their heading, long or many-line ones beneath it."""

    rows: Sequence[tuple[str, str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The card."""
        width = max((cell_len(heading) for heading, _ in self.rows), default=0) + 2
        block = Rows(label_width=min(width, 22))
        for heading, text in self.rows:
            first, *rest = text.splitlines() or [""]
            block.labelled(heading, first, indent=0)
            for line in rest:
                block.labelled("", line, indent=0)
        yield block


def render_list(rows: Sequence[Sequence[str]]) -> Listing:
    """What `dpaudit list` prints: rows of (name, title, claim, source). Give it to `Console.print`."""
    return Listing(rows)


def render_corpus(rows: Sequence[Sequence[str]]) -> CorpusListing:
    """What `dpaudit list --corpus` prints: rows of (name, bug or "correct", effect, true epsilon, source)."""
    return CorpusListing(rows)


def render_card(card_rows: Sequence[tuple[str, str]]) -> CardText:
    """What `dpaudit show` prints: (heading, text) pairs. Give it to `Console.print`."""
    return CardText(card_rows)
