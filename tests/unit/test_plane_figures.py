"""What drawings in the plane are made of: regions by halfplanes, dials, records."""

from __future__ import annotations

import math
import random

import pytest

from dpaudit_audits.half_spaces.plane_figures import box_around, dial, only_one_has, records, region

SQUARE = (-1.0, -1.0, 1.0, 1.0)


def _area(corners: list[tuple[float, float]]) -> float:
    pairs = zip(corners, corners[1:] + corners[:1], strict=True)
    return abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in pairs)) / 2


def test_regions_of_halfplanes() -> None:
    assert _area(region([], SQUARE)) == 4
    assert _area(region([(0, 1, 0)], SQUARE)) == pytest.approx(2)
    assert _area(region([(0, 1, 1)], SQUARE)) == pytest.approx(2)
    assert _area(region([(0, 1, 0), (0, 0, 1)], SQUARE)) == pytest.approx(1)
    assert region([(3, 1, 0)], SQUARE) == []


def test_a_region_has_the_share_of_random_points() -> None:
    rng = random.Random(5)
    for _ in range(20):
        planes = [(rng.uniform(-0.5, 0.5), rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(3)]
        points = [(rng.uniform(-1, 1), rng.uniform(-1, 1)) for _ in range(4_000)]
        share = sum(all(a * x + b * y >= w for w, a, b in planes) for x, y in points) / len(points)
        # 5 standard deviations of a share: 20 of them are missed with probability below 2e-5
        assert _area(region(planes, SQUARE)) / 4 == pytest.approx(share, abs=5 * math.sqrt(0.25 / len(points)))


@pytest.mark.parametrize("number", [4, 13, 120, 5_027])
def test_a_dial_has_all_the_mass(number: int) -> None:
    angles = [2 * math.pi * i / number for i in range(number)]
    left = [1 / number] * number
    right = [1.0] + [0.0] * (number - 1)
    panel = dial("t", angles, left, right, [i == 0 for i in range(number)])
    styles = {layer.style: layer for layer in panel.layers if layer.label}
    assert styles.keys() == {"left", "right", "event"}
    # one bar for the one angle that right gives, pointing inward at angle 0
    right_x = [x for x in styles["right"].x if x is not None]
    assert len(right_x) == 4
    assert min(right_x) < 0.6


def test_records_are_counted_and_what_differs_is_marked() -> None:
    layers = records([("one", "dot", [(0, 0), (0, 0), (1, 2)]), ("none", "ring", [])], [(1, 2), (1, 2)])
    assert [layer.label for layer in layers] == ["one", "differs"]
    assert layers[0].sizes == [2, 1]
    assert only_one_has((1, 2, 2), (1, 2, 3)) == [2, 3]
    assert only_one_has((1, 2), (2, 1)) == []


def test_a_box_holds_its_places() -> None:
    x0, y0, x1, y1 = box_around([(0, 0), (4, 1)])
    assert x0 < 0 < 4 < x1
    assert y0 < 0 < 1 < y1
    assert x1 - x0 == pytest.approx(y1 - y0)
