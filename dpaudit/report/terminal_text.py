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
_WIDE, _NARROW = 120, 80
"""Columns from which on `dpaudit list` has titles too, and below which its columns are close together."""
_PRIVACY, _UTILITY, _NAME, _CLAIM = 11, 10, 24, 27
"""Columns of a listed algorithm; a longer name or claim takes from what follows."""



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
    """Families of (name, what it is about, rows of (name, privacy, utility, claim, title)): a line for each row.

    A line that does not fit ends in "…"; the title is there where the terminal is wide.
    """

    families: Sequence[tuple[str, str, Sequence[tuple[str, str, str, str, str]]]]
    end: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """A heading for each family, and its rows in columns that are the same in all families."""
        if not self.families:
            return
        wide = options.max_width >= _WIDE
        # in a narrow terminal there is room for a whole name, which somebody wants to type
        indent, gap = ("  ", "  ") if options.max_width >= _NARROW else ("", " ")

        def line(name: str, privacy: str, utility: str, claim: str, title: str) -> str:
            # verdicts come first, as in a check's lines: names are of all lengths
            head = f"{indent}{privacy:<{_PRIVACY}}{gap}{utility:<{_UTILITY}}{gap}{name:<{_NAME}}  "
            return head + (f"{_cut(claim, _CLAIM):<{_CLAIM}}  {title}" if wide else claim)

        yield self._fitted(Text(line("algorithm", "privacy", "utility", "claim as printed", "title"), "dim"), options)
        for family, about, several in self.families:
            yield Text()
            yield self._fitted(Text.assemble((family, "bold"), (f"  {about}", "dim")), options)
            for row in several:
                yield self._fitted(Text(line(*row)), options)
        yield Text()
        block = Rows()
        block.line(self.end, indent=0)
        yield block

    @staticmethod
    def _fitted(text: Text, options: ConsoleOptions) -> Text:
        shown = for_encoding(text, options.encoding)
        if shown.cell_len > options.max_width:
            dots = for_encoding(Text("…"), options.encoding)
            shown.truncate(max(options.max_width - dots.cell_len, 1), overflow="crop")
            shown.append(dots.plain)
        shown.rstrip()
        return shown


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


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


def render_list(families: Sequence[tuple[str, str, Sequence[tuple[str, str, str, str, str]]]], end: str) -> Listing:
    """What `dpaudit list` prints: families as `Listing` has them, and the lines beneath."""
    return Listing(families, end)


def render_corpus(rows: Sequence[Sequence[str]]) -> CorpusListing:
    """What `dpaudit list --corpus` prints: rows of (name, bug or "correct", effect, true epsilon, source)."""
    return CorpusListing(rows)


def render_card(card_rows: Sequence[tuple[str, str]]) -> CardText:
    """What `dpaudit show` prints: (heading, text) pairs. Give it to `Console.print`."""
    return CardText(card_rows)
