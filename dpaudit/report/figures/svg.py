"""From a matplotlib figure to an SVG element that belongs to its page.

Figures are drawn in sentinel colours and with text as text; here the sentinels become CSS variables (so that
a figure follows light and dark mode), identifiers get a prefix (so that several figures fit one page), and what
could differ between two runs, or is not seen, goes.
"""

from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from io import StringIO
from itertools import groupby, pairwise
from typing import Any, Final, TypeAlias

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH, HEIGHT = 343, 262
"""Natural size of a figure in CSS pixels: one fits a telephone without being made smaller, three stand in a row on a
desktop."""

CLAIM: Final = "#01c1a1"
EVIDENCE: Final = "#01e1d1"
LEFT: Final = "#01d1d2"
RIGHT: Final = "#01c2d2"
INK: Final = "#011a1b"
GRID: Final = "#019d9e"
PAPER: Final = "#01fafb"
"""Colours that no figure uses for themselves; each stands for the CSS variable below.

LEFT and RIGHT are of D and D′. They differ in lightness too, and never by colour alone."""

_VARIABLES: Mapping[str, str] = {
    CLAIM: "var(--claim, #1a5fb4)",
    EVIDENCE: "var(--evidence, #a8470a)",
    LEFT: "var(--left, #4b2a80)",
    RIGHT: "var(--right, #c77316)",
    INK: "var(--ink, currentColor)",
    GRID: "var(--grid, #ccc)",
    PAPER: "var(--paper, #fff)",
}

TITLES: Final[Mapping[str, str]] = {
    "profile": "Privacy profile: δ against ε",
    "tradeoff": "Trade-off curve: errors of the best tests",
    "loss": "Privacy loss",
    "outputs": "Output under D and D′",
    "evidence": "Evidence against the claim",
    "bound": "Clopper–Pearson bound on ε",
}
"""Name of a plot → its title."""

Style: TypeAlias = dict[str, Any]
"""Keyword arguments of matplotlib's artists."""

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
    "axes.facecolor": "none",
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

CLAIM_STYLE: Final[Style] = {"color": CLAIM, "linestyle": (0, (5, 2.2)), "linewidth": 2.0}
EXACT_STYLE: Final[Style] = {"color": EVIDENCE, "linestyle": "-", "linewidth": 1.8}
CERTIFIED_STYLE: Final[Style] = {
    **{"color": EVIDENCE, "linestyle": (0, (1, 1.2)), "linewidth": 1.6},
    **{"marker": "^", "markersize": 5.5, "markerfacecolor": PAPER, "markeredgewidth": 1.2},
}
"""Of lines: claimed, exact, certified from below."""
LEFT_BARS: Final[Style] = {"facecolor": LEFT, "edgecolor": LEFT, "linewidth": 0.9}
RIGHT_BARS: Final[Style] = {"facecolor": PAPER, "edgecolor": RIGHT, "hatch": "////", "linewidth": 1.1}
"""Of D and D′: filled, and hatched."""

_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold; a browser shows what it cannot read as the same sign."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_FONT = re.compile(r"font: ([\d.]+)px [^;]*|font-size: ([\d.]+)px; font-family: [^;]*")
_REFERENCE = re.compile(r"(?<=url\(#)[^)]+|(?<=^#).+")
_TOLERANCE: Final = 2
"""How far, in tenths of a CSS pixel, a point that is left out may be from the line that is drawn without it."""
_NO_METADATA: Final = {"Date": None, "Creator": None, "Format": None, "Type": None}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure whose unit is one CSS pixel at its natural size.  Call it within `rc_context(RC)`."""
    return Figure(figsize=(width / 72, height / 72), dpi=72, facecolor="none")


def add_legend(figure: Figure, axes: Axes, *, last: str = "") -> None:
    """A legend of what has a label on the axes, in one row above them.

    Args:
        last: the label that is named last, wherever it is drawn.
    """
    handles, labels = axes.get_legend_handles_labels()
    # bars of no outcome have no colour
    drawn = [(label, one) for label, one in zip(labels, handles, strict=True) if not isinstance(one, tuple) or len(one)]
    named = dict(drawn)
    if last in named:
        named[last] = named.pop(last)
    figure.legend(
        named.values(), named, loc="upper left", bbox_to_anchor=(axes.get_position().x0, 1.0), ncols=len(named) or 1,
        frameon=False, fontsize=11, borderaxespad=0.1, borderpad=0.2, columnspacing=1.3, handlelength=1.9,
        handletextpad=0.5,
    )


def to_svg(figure: Figure, *, prefix: str, title: str, description: str) -> str:
    """The figure as one `<svg role="img">` element; all its ids begin with `prefix`."""
    for axes in figure.axes:
        # grid lines end at the axes: without clipping they can be one path with the ticks
        for line in (*axes.get_xgridlines(), *axes.get_ygridlines()):
            line.set_clip_on(False)
    buffer = StringIO()
    with rc_context(RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the page's fonts draw the text, and have more signs
        figure.savefig(buffer, format="svg", metadata=_NO_METADATA, facecolor="none", edgecolor="none")
    body = _smaller(ET.fromstring(_UNPRINTABLE.sub("\ufffd", buffer.getvalue())), prefix)
    title, description = (escape(_UNPRINTABLE.sub("\ufffd", words), quote=False) for words in (title, description))
    width, height = (round(inches * 72) for inches in figure.get_size_inches())
    return (
        f'<svg class="figure" role="img" aria-labelledby="{prefix}-t {prefix}-d" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" stroke-linejoin="round">\n'
        f'<title id="{prefix}-t">{title}</title>\n<desc id="{prefix}-d">{description}</desc>\n{body}\n</svg>'
    )


def _smaller(root: ET.Element, prefix: str) -> str:
    """What matplotlib drew, in a quarter of its bytes: a report has hundreds of figures.

    Nothing that is seen moves by more than a fifth of a CSS pixel. Groups without attributes and shapes without paint
    go, numbers have one decimal, points of a line that lie on their neighbours' connection go, and ticks, lines and
    marks of one style are one path. Every definition and every element begins a line.
    """
    for element in root.iter():
        _tidy(element)
    definitions = {part.get("id", ""): part for defs in root.iter("defs") for part in defs}
    shapes = _joined(_shapes(root), definitions)
    # in order, so that the same figure has the same names
    names: dict[str, str] = {}

    def named(reference: re.Match[str]) -> str:
        return names.setdefault(reference[0], f"{prefix}-{len(names) + 1}")

    for part in (inner for shape in shapes for inner in shape.iter()):
        for key, value in part.items():
            if key in ("href", "clip-path", "style"):
                part.set(key, _REFERENCE.sub(named, value))
    for name, short in names.items():
        definitions[name].set("id", short)
    lines = [ET.tostring(element, encoding="unicode").replace(" />", "/>") for element in shapes]
    if names:
        used = [ET.tostring(definitions[name], encoding="unicode").replace(" />", "/>") for name in names]
        lines = ["<defs>", *used, "</defs>", *lines]
    return "\n".join(lines)


def _tidy(element: ET.Element) -> None:
    """Names without namespaces, the page's own font and colours, and numbers of one decimal."""
    element.tag = element.tag.rpartition("}")[2]
    element.tail = None
    if element.tag != "text":
        element.text = None
    given = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
    if element.tag == "g":
        given.pop("id", None)
    if given.get("transform", "").startswith("rotate(-0 "):
        del given["transform"]
    for name in [name for name in ("x", "y", "width", "height", "transform") if name in given]:
        given[name] = _NUMBER.sub(lambda m: _decimal(10 * float(m[0])), given[name])
    if "d" in given:
        given["d"] = _path(given["d"])
    if "style" in given:
        # a text's width is only estimated, so nothing is placed by the end of a text
        style = _FONT.sub(lambda m: f"font-size: {m[1] or m[2]}px", given["style"])
        parts = [part.strip().replace(": ", ":", 1) for part in style.split(";")]
        given["style"] = ";".join(part for part in parts if part and part != "stroke-dashoffset:0")
    for sentinel, variable in _VARIABLES.items():
        given |= {key: given[key].replace(sentinel, variable) for key in ("style", "fill") if key in given}
    element.attrib.clear()
    element.attrib.update(given)


def _shapes(parent: ET.Element) -> Iterator[ET.Element]:
    """What is drawn, in order, without groups that say nothing and paths that are not painted."""
    for child in parent:
        style = child.get("style", "")
        if child.tag == "g" and not child.attrib:
            yield from _shapes(child)
        elif child.tag == "g":
            child[:] = list(_shapes(child))
            yield child
        elif child.tag in ("text", "use") or (child.tag == "path" and ("fill:none" not in style or "stroke:" in style)):
            yield child


def _joined(shapes: Iterable[ET.Element], definitions: dict[str, ET.Element]) -> list[ET.Element]:
    """Ticks and straight lines of one style as one path, where only such and texts are between them.

    Neighbouring paths of one style are one path too, neighbouring texts of one style a group, and neighbouring marks of
    one kind a path of markers, which is added to the definitions.
    """
    paths: list[ET.Element] = []
    lines: dict[object, ET.Element] = {}
    for shape in shapes:
        tick = definitions.get(shape.get("href", "")[1:])
        if tick is not None and re.fullmatch(r"M0 0[hv][^a-z]*", tick.get("d", "")):
            at = f"M{_pair(complex(float(shape.get('x', 0)), float(shape.get('y', 0))) * 10)}"
            d = tick.get("d", "").replace("M0 0", at)
            shape = ET.Element("path", {"d": d, "style": f"fill:none;{tick.get('style', '')}"})
        style, d = shape.get("style", ""), shape.get("d", "")
        straight = re.fullmatch(r"M[^a-z]*([lhv])[^a-z]*", d)
        # what belongs to one axis is often alike in figures whose other axis differs
        key = style, shape.get("clip-path"), straight and straight[1]
        # opaque and of one colour: what is drawn twice is as if drawn once
        if shape.tag == "path" and "opacity" not in style:
            last = paths[-1] if paths and paths[-1].tag == "path" and not straight else None
            same = last is not None and (last.get("style", ""), last.get("clip-path")) == key[:2]
            into = last if same else lines.get(key) if straight else None
            if into is not None:
                into.set("d", into.get("d", "") + d)
                continue
        if straight:
            lines[key] = shape
        elif shape.tag != "text":
            lines.clear()
        paths.append(shape)
    out: list[ET.Element] = []
    for (tag, style, mark), run in groupby(paths, key=lambda one: (one.tag, one.get("style", ""), one.get("href", ""))):
        members = list(run)
        if len(members) > 1 and tag == "use" and all({*one.attrib} <= {"href", "x", "y", "style"} for one in members):
            members = [_marked(members, style, mark[1:], definitions)]
        elif len(members) > 1 and tag in ("text", "use") and style:
            for member in members:
                del member.attrib["style"]
            group = ET.Element("g", {"style": style})
            group.extend(members)
            _align(group)
            members = [group]
        out += members
    return out


def _align(texts: ET.Element) -> None:
    """Where all texts of a group are in one row, or one column, the group says in which."""
    if all("transform" not in text.attrib for text in texts):
        for axis, where in (("y", "0 {}"), ("x", "{}")):
            at = {text.get(axis, "0") for text in texts}
            if len(at) == 1 and "transform" not in texts.attrib:
                texts.set("transform", f"translate({where.format(*at)})")
                for text in texts:
                    text.attrib.pop(axis, None)


def _marked(
    marks: Sequence[ET.Element], style: str, name: str, definitions: dict[str, ET.Element]
) -> ET.Element:
    """Marks of one kind as the vertices of one path that is itself not painted."""
    marker = ET.Element("marker", {"id": "", "overflow": "visible", "markerUnits": "userSpaceOnUse", "style": style})
    marker.append(ET.Element("path", {k: v for k, v in definitions[name].attrib.items() if k != "id"}))
    marks_name = f"{name}-marks-{len(definitions)}"
    definitions[marks_name] = marker
    at = [complex(*(10 * float(mark.get(axis, 0)) for axis in ("x", "y"))) for mark in marks]
    d = f"M{_pair(at[0])}l" + " ".join(_pair(b - a) for a, b in pairwise(at))
    return ET.Element("path", {"d": d, "style": f"fill:none;marker:url(#{marks_name})"})


def _path(d: str) -> str:
    """A path in steps from point to point, each as short as it can be written; curves as they are."""
    if re.search("[CQ]", d):
        d = _NUMBER.sub(lambda m: f"{round(float(m[0]), 2):g}", d.strip())
        return re.sub(r"(?<=[A-Za-z])\s+|\s+(?=[A-Za-z-])", "", d)
    text = ""
    for subpath in d.split("M")[1:]:
        numbers = [round(10 * float(number)) for number in _NUMBER.findall(subpath)]
        points = _thinned([complex(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)])
        text += f"M{_pair(points[0])}"
        command = ""
        for step in (b - a for a, b in pairwise(points)):
            before, command = command, "l" if step.real and step.imag else "h" if step.real else "v"
            if command != "l":
                text += f"{command}{_decimal(step.real or step.imag)}"
            else:
                # a letter need not be repeated
                text += f"{command if before != command else '' if step.real < 0 else ' '}{_pair(step)}"
        text += "z" if "z" in subpath else ""
    return text


def _thinned(points: Sequence[complex]) -> list[complex]:
    """Douglas and Peucker's: the farthest point of a stretch stays, if it is farther than the tolerance."""
    start, along = points[0], points[-1] - points[0]
    nearest = [start + along * min(max(((p - start) / along).real, 0), 1) if along else start for p in points]
    away = [abs(p - on) for p, on in zip(points, nearest, strict=True)]
    at = away.index(max(away))
    if away[at] > _TOLERANCE:
        return _thinned(points[: at + 1])[:-1] + _thinned(points[at:])
    return [start, points[-1]] if len(points) > 1 else [start]


def _pair(tenths: complex) -> str:
    second = _decimal(tenths.imag)
    return _decimal(tenths.real) + (second if second[0] == "-" else f" {second}")


def _decimal(tenths: float) -> str:
    """A number as SVG reads it, in as few signs as it takes."""
    whole, rest = divmod(abs(round(tenths)), 10)
    sign = "-" if round(tenths) < 0 else ""
    return f"{sign}{whole if whole or not rest else ''}{f'.{rest}' if rest else ''}"
