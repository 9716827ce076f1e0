"""A smaller SVG shows the same: lines within a fifth of a pixel, order, paint, and nothing that was seen is gone."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest

from dpaudit.report.compact_svg import _corners, _lines, _written, compact

STROKE = "fill: none; stroke: var(--ink, currentColor); stroke-width: 0.8"
_Point = tuple[float, float]


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
    drawn = _written(_lines("M " + " L ".join(f"{x:.2f} {y:.2f}" for x, y in points)))
    corners = [(x / 10, y / 10) for x, y in _corners(drawn)]
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
    assert compact(f'<path d="{d}" style="{STROKE}"/>').partition('d="')[2].partition('"')[0] == short


def test_what_is_not_seen_goes_and_what_is_seen_stays() -> None:
    text = compact(
        f'''<g><g><path d="M 0 0 L 9 9" style="fill: none"/></g><g/><g><path d="M 0 0 L 9 0" style="{STROKE}"/></g>
        <text x="1.26" y="2" transform="rotate(-0 1.26 2)">a &lt; b</text>
        <path d="M 0 0 L 9 9" style="fill: red"/></g>'''
    )
    assert text == (
        '<path d="M0 0h9" style="fill:none;stroke:var(--ink, currentColor);stroke-width:0.8"/>'
        '<text x="1.3" y="2">a &lt; b</text><path d="M0 0l9 9" style="fill:red"/>'
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


def test_a_clip_that_cuts_stays() -> None:
    clip = '<defs><clipPath id="c"><rect x="0" y="0" width="10" height="10"/></clipPath></defs>'
    for d, width, cut in (("M 0 5 L 10 5", 0.7, False), ("M 0 5 L 12 5", 0.7, True), ("M 0 5 L 10 5", 1.6, True)):
        text = compact(f'<path d="{d}" clip-path="url(#c)" style="stroke: red; stroke-width: {width}"/>' + clip)
        assert ("clip-path" in text) is ("<clipPath" in text) is cut
