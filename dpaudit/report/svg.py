"""From a matplotlib figure to an SVG element that belongs to its page.

Figures are drawn in sentinel colours and with text as text; here the sentinels become CSS variables (so that
a figure follows light and dark mode), identifiers get a prefix (so that several figures fit one page), and
everything that could differ between two runs goes.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from html import escape
from io import StringIO
from typing import Any, Final

from matplotlib import rc_context
from matplotlib.figure import Figure

from dpaudit.report.compact_svg import compact

WIDTH, HEIGHT = 440, 270
"""Natural size of a figure in CSS pixels: three stand in a row on a desktop, one fits a telephone."""

CLAIM: Final = "#01c1a1"
EVIDENCE: Final = "#01e1d1"
INK: Final = "#011a1b"
GRID: Final = "#019d9e"
PAPER: Final = "#01fafb"
"""Colours that no figure uses for themselves; each stands for the CSS variable below."""

_VARIABLES: Mapping[str, str] = {
    CLAIM: "var(--claim, #1a5fb4)",
    EVIDENCE: "var(--evidence, #a8470a)",
    INK: "var(--ink, currentColor)",
    GRID: "var(--grid, #ccc)",
    PAPER: "var(--paper, #fff)",
}

RC: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dpaudit",
    "text.parse_math": False,  # an outcome may be called "$1"
    "font.family": "DejaVu Sans",
    "font.size": 11.5,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 11.5,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "hatch.linewidth": 1.1,
    "lines.solid_capstyle": "butt",
    "path.simplify": False,
}
"""Settings under which figures are drawn and saved; a user's matplotlibrc has no say."""

CLAIM_STYLE: Final[dict[str, Any]] = {"color": CLAIM, "linestyle": (0, (5, 2.2)), "linewidth": 2.0}
EXACT_STYLE: Final[dict[str, Any]] = {"color": EVIDENCE, "linestyle": "-", "linewidth": 1.8}
CERTIFIED_STYLE: Final[dict[str, Any]] = {
    **{"color": EVIDENCE, "linestyle": (0, (1, 1.2)), "linewidth": 1.6},
    **{"marker": "^", "markersize": 5.5, "markerfacecolor": PAPER, "markeredgewidth": 1.2},
}
"""Of lines: claimed, exact, certified from below."""

_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold; a browser shows what it cannot read as the same sign."""
_TAG = re.compile(r"<[^>]+>")
_LONG_DECIMAL = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_FONT = re.compile(r"font: ([\d.]+)px [^;\"]*|font-size: ([\d.]+)px; font-family: [^;\"]*")
_REFERENCE = re.compile(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"")
_NO_METADATA: Final = {"Date": None, "Creator": None, "Format": None, "Type": None}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure whose unit is one CSS pixel at its natural size.  Call it within `rc_context(RC)`."""
    return Figure(figsize=(width / 72, height / 72), dpi=72, facecolor="none")


def to_svg(figure: Figure, *, prefix: str, title: str, description: str) -> str:
    """The figure as one `<svg role="img">` element; all its ids begin with `prefix`."""
    buffer = StringIO()
    with rc_context(RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the page's fonts draw the text, and have more signs
        figure.savefig(buffer, format="svg", metadata=_NO_METADATA, facecolor="none", edgecolor="none")
    text = _UNPRINTABLE.sub("\ufffd", buffer.getvalue())
    title, description = (_UNPRINTABLE.sub("\ufffd", words) for words in (title, description))
    body = text[text.index(">", text.index("<svg")) + 1 : text.rindex("</svg>")]
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    # matplotlib's one style rule is for "*": inlined, it would reach the whole page.
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    for sentinel, variable in _VARIABLES.items():
        body = body.replace(sentinel, variable)
    # in order, so that the same figure has the same names; matplotlib's are long
    used = dict.fromkeys(a or b for a, b in _REFERENCE.findall(body))
    names = {identifier: f"{prefix}-{number}" for number, identifier in enumerate(used, 1)}
    body = compact(_TAG.sub(lambda tag: _clean_tag(tag.group(), names), body))
    width, height = (round(inches * 72) for inches in figure.get_size_inches())
    return (
        f'<svg class="figure" role="img" aria-labelledby="{prefix}-title {prefix}-desc" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" stroke-linejoin="round">\n'
        f'<title id="{prefix}-title">{escape(title)}</title>\n'
        f'<desc id="{prefix}-desc">{escape(description)}</desc>\n'
        f"{body}\n</svg>"
    )


def _clean_tag(tag: str, names: Mapping[str, str]) -> str:
    tag = re.sub(r' id="([^"]*)"', lambda m: f' id="{names[m[1]]}"' if m[1] in names else "", tag)
    tag = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{names[m[1]]})", tag)
    tag = re.sub(r'xlink:href="#([^"]+)"', lambda m: f'href="#{names[m[1]]}"', tag)
    # The page's own font; a text's width is only estimated, so nothing is placed by the end of a text.
    tag = _FONT.sub(lambda m: f"font-size: {m[1] or m[2]}px", tag)
    return _LONG_DECIMAL.sub(lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), tag)
