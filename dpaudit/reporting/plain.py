"""Text of unknown origin (names, outputs, datasets) made fit for formats that other programs read."""

from __future__ import annotations

import re

_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufdd0-\ufdef\ud800-\udfff]"
    "|[" + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)) + "]"
)
"""Control characters, halves of surrogate pairs and what is no character, which XML cannot hold; marks that change the
direction of what follows, or that nobody sees."""


def visible(text: str) -> str:
    """The text with everything that cannot be seen, or cannot stand in XML, as an escape: "\\x00", "\\ud800"."""
    return _UNFIT.sub(lambda found: _escape(ord(found[0])), text)


def one_line(text: str, *, most: int | None = None) -> str:
    """`visible`, without line breaks and doubled blanks; cut with "…" to so many characters."""
    line = " ".join(visible(text).split())
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
