"""Less of an SVG that looks the same: what matplotlib writes in ten kilobytes fits in two.

Nothing that is seen moves by more than a fifth of a CSS pixel: groups without attributes and shapes without paint go,
numbers have one decimal, points of a line that lie on its neighbours' connection go, ticks and rules of one style are
one path, and neighbours of one style share a group.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Final

_POINT = tuple[int, int]
"""A position in tenths of a pixel."""
_TOLERANCE: Final = 2.0
"""How far, in tenths of a pixel, a point that is left out may be from the line that is drawn without it."""
_THIN: Final = 0.8
"""A line so thin may lose its clipping to an axis that it lies on: the axis covers what then stands out."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_COMMAND = re.compile(r"([MLCQz])([^MLCQz]*)")


def compact(body: str) -> str:
    """The children of an `<svg>`, as matplotlib writes them without names of other namespaces, in fewer bytes.

    Ids keep their names and references; the same text gives the same text.
    """
    root = ET.fromstring(f"<svg>{body}</svg>")
    boxes = {clip.get("id", ""): _box(clip) for clip in root.iter("clipPath")}
    shapes = {path.get("id", ""): path for defs in root.iter("defs") for path in defs.iter("path")}
    children = list(_flat(root))
    for child in children:
        if child.tag != "defs":
            _round(child)
            _unclip(child, boxes)
    root[:] = _grouped(_merged(children, shapes))
    text = "".join(ET.tostring(child, encoding="unicode") for child in _needed(root))
    return text.replace(" />", "/>")


def _flat(parent: ET.Element) -> Iterable[ET.Element]:
    """What is drawn, in order, without groups that say nothing."""
    for child in parent:
        child.tail = None
        if child.tag == "g" and not child.attrib:
            yield from _flat(child)
        elif child.tag == "g":
            child[:] = list(_flat(child))
            child.text = None
            if len(child):
                yield child
        elif child.tag == "defs":
            for inner in child.iter():
                inner.text = inner.tail = None
                _tidy_style(inner)
                if "d" in inner.attrib:
                    inner.set("d", re.sub(r"(?<=[A-Za-z])\s+|\s+(?=[A-Za-z-])", "", inner.get("d", "").strip()))
            yield child
        else:
            _tidy_style(child)
            if child.tag != "path" or not _unseen(child):
                yield child


def _tidy_style(element: ET.Element) -> None:
    style = element.get("style")
    if style is not None:
        parts = [part.strip().replace(": ", ":", 1) for part in style.split(";")]
        element.set("style", ";".join(part for part in parts if part and part != "stroke-dashoffset:0"))


def _unseen(path: ET.Element) -> bool:
    style = path.get("style", "")
    return "fill:none" in style and "stroke:" not in style


def _round(element: ET.Element) -> None:
    for part in element.iter():
        if part.get("transform", "").startswith("rotate(-0 "):
            del part.attrib["transform"]
        for name in ("x", "y", "transform"):
            if name in part.attrib:
                part.set(name, _NUMBER.sub(lambda m: _tenths(round(float(m[0]) * 10)), part.get(name, "")))
        if "d" in part.attrib and not re.search("[CQ]", part.get("d", "")):
            part.set("d", _written(_lines(part.get("d", ""))))


def _lines(d: str) -> list[tuple[list[_POINT], bool]]:
    """The polylines of a path, thinned, each with whether it is closed."""
    found: list[tuple[list[_POINT], bool]] = []
    for command, numbers in _COMMAND.findall(d):
        if command == "z":
            found[-1] = (found[-1][0], True)
            continue
        values = [round(float(n) * 10) for n in _NUMBER.findall(numbers)]
        points = list(zip(values[::2], values[1::2], strict=True))
        if command == "M":
            found.append(([], False))
        found[-1][0].extend(points)
    return [(_thinned(points), closed) for points, closed in found]


def _thinned(points: Sequence[_POINT]) -> list[_POINT]:
    """Douglas and Peucker's: the farthest point of a stretch stays, if it is farther than the tolerance."""
    kept = {0, len(points) - 1}
    stack = [(0, len(points) - 1)]
    while stack:
        first, last = stack.pop()
        distances = [_distance(points[i], points[first], points[last]) for i in range(first + 1, last)]
        if distances and max(distances) > _TOLERANCE:
            middle = first + 1 + distances.index(max(distances))
            kept.add(middle)
            stack += [(first, middle), (middle, last)]
    return [points[i] for i in sorted(kept)]


def _distance(point: _POINT, start: _POINT, stop: _POINT) -> float:
    """From a point to a segment."""
    (x, y), (a, b), (c, d) = point, start, stop
    square = (c - a) ** 2 + (d - b) ** 2
    along = min(max(((x - a) * (c - a) + (y - b) * (d - b)) / square, 0.0), 1.0) if square else 0.0
    ends: float = ((x - a - along * (c - a)) ** 2 + (y - b - along * (d - b)) ** 2) ** 0.5
    return ends


def _written(lines: Iterable[tuple[list[_POINT], bool]]) -> str:
    text = ""
    for points, closed in lines:
        text += f"M{_pair(*points[0])}"
        command = ""
        for (a, b), (x, y) in pairwise(points):
            if x == a or y == b:
                command = "v" if x == a else "h"
                text += f"{command}{_tenths(y - b if x == a else x - a)}"
                continue
            step = _pair(x - a, y - b)
            # a letter need not be said twice
            text += f"l{step}" if command != "l" else step if step[0] == "-" else f" {step}"
            command = "l"
        text += "z" if closed else ""
    return text


def _pair(x: int, y: int) -> str:
    second = _tenths(y)
    return _tenths(x) + (second if second[0] == "-" else f" {second}")


def _tenths(value: int) -> str:
    """A number of tenths as SVG reads it, in as few signs as it takes."""
    whole, rest = divmod(abs(value), 10)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole if whole or not rest else ''}{f'.{rest}' if rest else ''}"


def _box(clip: ET.Element) -> tuple[float, float, float, float] | None:
    rect = clip.find("rect")
    if rect is None:
        return None
    x, y, width, height = (float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def _unclip(element: ET.Element, boxes: dict[str, tuple[float, float, float, float] | None]) -> None:
    """Drop a clip-path that cuts nothing off, or nothing that is seen."""
    for part in element.iter("path"):
        box = boxes.get(part.get("clip-path", "")[5:-1])
        width = re.search(r"stroke-width:([\d.]+)", part.get("style", ""))
        if box is None or (width is not None and float(width[1]) > _THIN) or re.search("[CQ]", part.get("d", "")):
            continue
        left, top, right, bottom = (10 * side for side in box)
        if all(left - 1 <= x <= right + 1 and top - 1 <= y <= bottom + 1 for x, y in _corners(part.get("d", ""))):
            del part.attrib["clip-path"]


def _corners(d: str) -> Iterable[_POINT]:
    """The points of a path that `_written` wrote."""
    x = y = 0
    for command, rest in re.findall(r"([Mlhvz])([^Mlhvz]*)", d):
        steps = [round(float(n) * 10) for n in re.findall(r"-?(?:\d+(?:\.\d+)?|\.\d+)", rest)]
        if command == "z":
            continue
        if command == "M":
            x, y = steps
        elif command == "h":
            x += steps[0]
        elif command == "v":
            y += steps[0]
        for dx, dy in zip(steps[::2], steps[1::2], strict=True) if command == "l" else ():
            x, y = x + dx, y + dy
            yield x, y
        yield x, y


def _merged(children: Sequence[ET.Element], shapes: dict[str, ET.Element]) -> list[ET.Element]:
    """Ticks and straight lines of one style as one path each, where only such and texts stand between them."""
    out: list[ET.Element] = []
    open_: dict[tuple[str | None, str | None], ET.Element] = {}
    for child in children:
        drawn = child
        if child.tag == "use":
            tick = shapes.get(child.get("href", "")[1:])
            stroke = re.fullmatch(r"M(-?[\d.]+)[ ,]?(-?[\d.]+)L(-?[\d.]+)[ ,]?(-?[\d.]+)", _d(tick))
            if tick is not None and stroke is not None:
                x, y = float(child.get("x", "0")), float(child.get("y", "0"))
                a, b, c, d = (float(number) for number in stroke.groups())
                ends = [(round(10 * (x + a)), round(10 * (y + b))), (round(10 * (x + c)), round(10 * (y + d)))]
                style = f"fill:none;{tick.get('style', '')}"
                drawn = ET.Element("path", {"d": _written([(ends, False)]), "style": style})
        if drawn.tag == "path" and re.fullmatch(r"M[^Mlhvz]*[lhv][^Mlhvz]*", _d(drawn)):
            key = drawn.get("style"), drawn.get("clip-path")
            if key in open_ and "opacity" not in (key[0] or ""):
                open_[key].set("d", _d(open_[key]) + _d(drawn))
                continue
            open_[key] = drawn
        elif drawn.tag not in ("text", "defs"):
            open_.clear()
        out.append(drawn)
    return out


def _grouped(children: Iterable[ET.Element]) -> Iterable[ET.Element]:
    """Neighbouring texts, and marks, of one style in a group that has the style; neighbouring paths as one."""
    for (tag, style, _), run in groupby(children, key=lambda c: (c.tag, c.get("style"), c.get("clip-path"))):
        members = list(run)
        if tag == "path" and style is not None and "opacity" not in style:
            # opaque and of one colour: what is drawn twice is as if drawn once
            members[0].set("d", "".join(map(_d, members)))
            del members[1:]
        if len(members) < 2 or tag not in ("text", "use") or style is None:
            yield from members
            continue
        for member in members:
            del member.attrib["style"]
        group = ET.Element("g", {"style": style})
        group.extend(members)
        yield group


def _d(path: ET.Element | None) -> str:
    return path.get("d", "") if path is not None else ""


def _needed(root: ET.Element) -> Iterable[ET.Element]:
    """The children, without definitions that nothing refers to."""
    text = "".join(ET.tostring(child, encoding="unicode") for child in root)
    used = {a or b for a, b in re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', text)}
    for child in root:
        if child.tag == "defs":
            child[:] = [part for part in child if part.get("id") in used]
            if not len(child):
                continue
        yield child
