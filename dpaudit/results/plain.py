"""Text of unknown origin (names, outputs, datasets, messages of errors), made fit to be shown and to be read.

What is not known to come from dpaudit itself goes through here before it is shown, whatever the format: no output can
move a cursor, forge a line, or turn the direction of what follows.
"""

from __future__ import annotations

import json
import re

_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufdd0-\ufdef\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
    "|[" + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)) + "]"
)
"""Control characters, halves of surrogate pairs and what is no character, which XML cannot hold; marks that change the
direction of what follows, or that nobody sees."""


def visible(text: str) -> str:
    """The text with everything that cannot be seen, or cannot stand in XML, as an escape: "\\x00", "\\ud800"."""
    return _UNFIT.sub(lambda match: _escape(ord(match[0])), text)


def flat(text: str) -> str:
    """`visible`, with breaks of lines and tabs as escapes too: what has one line keeps it."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def in_json(text: str) -> str:
    """JSON whose strings hold as JSON's own escapes what cannot be seen, or what UTF-8 has not: the same value."""
    return _UNFIT.sub(lambda match: json.dumps(match[0])[1:-1], text)


def one_line(text: str, *, most: int | None = None) -> str:
    """`visible`, without line breaks and doubled blanks; cut with "…" to so many characters."""
    line = " ".join(visible(text).split())
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
