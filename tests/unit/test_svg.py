"""A smaller SVG shows the same: lines within a fifth of a pixel, order, paint, and nothing that was seen is gone."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from dpaudit.report.figures.page import page_figures
from dpaudit.report.figures.svg import _path, _smaller

STROKE = "fill: none; stroke: var(--ink, currentColor); stroke-width: 0.8"
_Point = tuple[float, float]


def compact(body: str) -> str:
    return _smaller(ET.fromstring(f"<svg>{body}</svg>"), "p")


def _corners(d: str) -> list[_Point]:
    """The points of a path of one curve."""
    corners: list[_Point] = []
    for command, rest in re.findall(r"([Mlhv])([^Mlhvz]*)", d):
        steps = [float(n) for n in re.findall(r"-?(?:\d+(?:\.\d+)?|\.\d+)", rest)]
        if command in "hv":
            steps = [steps[0], 0.0] if command == "h" else [0.0, steps[0]]
        for dx, dy in zip(steps[::2], steps[1::2], strict=True):
            x, y = corners[-1] if corners else (0.0, 0.0)
            corners.append((x + dx, y + dy))
    return corners


def _away(point: _Point, line: list[_Point]) -> float:
    def segment(a: _Point, b: _Point) -> float:
        dx, dy = b[0] - a[0], b[1] - a[1]
        square = dx * dx + dy * dy
        t = min(max(((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / square, 0), 1) if square else 0
        return float(((point[0] - a[0] - t * dx) ** 2 + (point[1] - a[1] - t * dy) ** 2) ** 0.5)

    return min(segment(a, b) for a, b in pairwise(line)) if len(line) > 1 else segment(line[0], line[0])


@pytest.mark.parametrize("seed", range(100, 120))
def test_a_line_moves_by_less_than_a_pixel_shows(seed: int) -> None:
    rng = random.Random(seed)
    points = [(rng.uniform(-5, 440), rng.uniform(-5, 270))]
    for _ in range(rng.choice([1, 2, 80])):
        x, y = points[-1]
        points.append((x + rng.choice([0, 3.5]), y + rng.choice([0, 0.01, 0.4, -7, 60]) * rng.random()))
    corners = _corners(_path("M " + " L ".join(f"{x:.2f} {y:.2f}" for x, y in points)))
    assert len(dict.fromkeys(corners)) <= len(points)
    assert max(_away(point, corners) for point in points) < 0.3
    assert max(_away(corner, points) for corner in corners) < 0.1
    assert max(abs(a - b) for a, b in zip(corners[0] + corners[-1], points[0] + points[-1], strict=True)) < 0.06


@pytest.mark.parametrize(
    ("d", "short"),
    [
        ("M 0 0 L 10 0 L 20 0 L 20 5.55", "M0 0h20v5.6"),
        ("M 1 1 L 2 2.04 L 3 3", "M1 1l2 2"),
        ("M 0 0 L -0.5 0.5 L 3 -7 z", "M0 0l-.5 .5 3.5-7.5z"),
        ("M 5 5", "M5 5"),
        ("M 5 5 L 5 5", "M5 5v0"),
    ],
)
def test_paths(d: str, short: str) -> None:
    assert _path(d) == short


def test_what_is_not_seen_goes_and_what_is_seen_stays() -> None:
    text = compact(
        f'''<g><g><path d="M 0 0 L 9 9" style="fill: none"/></g><g/><g><path d="M 0 0 L 9 0" style="{STROKE}"/></g>
        <text x="1.26" y="2" transform="rotate(-0 1.26 2)">a &lt; b</text>
        <path d="M 0 0 L 9 9" style="fill: red"/></g>'''
    )
    assert text == (
        '<path d="M0 0h9" style="fill:none;stroke:var(--ink, currentColor);stroke-width:0.8"/>\n'
        '<text x="1.3" y="2">a &lt; b</text>\n<path d="M0 0l9 9" style="fill:red"/>'
    )


def test_ticks_and_rules_are_one_path_up_to_what_lies_between() -> None:
    tick = '<g><use href="#t" x="{}" y="2" style="stroke: red"/></g>'
    defs = '<defs><path id="t" d="M 0 0 \nL 0 3 \n" style="stroke: red"/></defs>'
    area = '<path d="M 0 0 L 9 9 L 0 9 z" style="fill: blue"/>'
    text = compact(defs + tick.format(1) + "<text>1</text>" + tick.format(2) + area + tick.format(3))
    assert re.findall(r' d="([^"]*)"', text) == ["M1 2v3M2 2v3", "M0 0l9 9h-9z", "M3 2v3"]
    assert "<defs>" not in text


def test_see_through_shapes_stay_apart() -> None:
    shade = '<path d="M 0 0 L 9 9 L 0 9 z" style="fill: blue; opacity: 0.5"/>'
    assert compact(shade * 2).count("<path") == 2
    assert compact(shade.replace("; opacity: 0.5", "") * 2).count("<path") == 1


def test_clips_and_marks_keep_their_definitions_under_short_names() -> None:
    defs = '<defs><clipPath id="long"><rect x="0" y="0" width="10" height="10"/></clipPath></defs>'
    defs += '<defs><path id="mark" d="M 0 0 L 1 1 z"/><path id="unused" d="M 0 0 L 1 1 z"/></defs>'
    drawn = '<path d="M 0 5 L 12 5" clip-path="url(#long)" style="stroke: red"/><use href="#mark" x="1"/>'
    text = compact(defs + drawn)
    assert re.findall(r' id="([^"]*)"', text) == ["p-1", "p-2"]
    assert '<clipPath id="p-1"' in text
    assert 'clip-path="url(#p-1)"' in text
    assert '<use href="#p-2"' in text


def test_marks_of_one_kind_are_one_path_with_a_mark_at_every_vertex() -> None:
    defs = '<defs><path id="mark" d="M 0 0 L 1 1 z" style="stroke: red"/></defs>'
    places = [(1.5, 2.0), (4.0, 2.0), (4.0, 1.0)]
    marks = "".join(f'<g><use href="#mark" x="{x}" y="{y}" style="fill: blue"/></g>' for x, y in places)
    text = compact(defs + marks)
    path = re.search(r'<path d="(M[^"]*)" style="fill:none;marker:url\(#p-1\)"/>', text)
    assert path is not None
    assert _corners(path[1]) == places
    assert '<marker id="p-1" overflow="visible" markerUnits="userSpaceOnUse" style="fill:blue">' in text
    assert "<use" not in text
    assert compact(defs + marks[: marks.index("</g>") + 4]).count("<use") == 1


def test_texts_in_a_row_say_once_in_which() -> None:
    text = compact("".join(f'<g><text x="{x}" y="9" style="fill: red">{x}</text></g>' for x in (1, 2)))
    assert text == '<g style="fill:red" transform="translate(0 9)"><text x="1">1</text><text x="2">2</text></g>'


def test_figures_of_a_page_share_definitions_styles_and_repeated_elements() -> None:
    body = """<defs>
<clipPath id="{0}-1"><rect x="0" y="0" width="9" height="9"/></clipPath>
</defs>
<path d="M0 0h1h2h3h4h5h6h7h8h9" style="fill:none;stroke:var(--ink, currentColor)"/>
<path d="M0 0{0}" clip-path="url(#{0}-1)" style="fill:red"/>"""
    head = '<svg class="figure" width="4" height="3" stroke-linejoin="round">\n<title id="{0}-t">T</title>\n'
    head += "<desc>D</desc>\n"
    figures = [f"{head}{body}\n</svg>".format(name) for name in ("h1", "h2", "h3")]
    page = page_figures(figures)
    assert [page.drawn[figure] for figure in figures] == [
        f'<svg class="figure"><title id="{name}-t">T</title><desc>D</desc>'
        f'<use href="#e1"/><path d="M0 0{name}" class="f2"/></svg>'
        for name in ("h1", "h2", "h3")
    ]
    assert page.rules == ".f1 { fill:none;stroke:var(--ink) }\n.f2 { clip-path:url(#d1);fill:red }"
    assert page.shared.count('<clipPath id="d1">') == page.shared.count('<path id="e1" d="M0 0h1h2h3h4h5h6h7h8h9"') == 1
