"""Numbers as reports write them: rounding never crosses a claim."""

from __future__ import annotations

from dpaudit.report.numbers import exactly, lower, nearest, upper


def test_bounds_are_rounded_outwards() -> None:
    assert lower(1.9499) == "1.94"
    assert upper(1.0411) == "1.05"


def test_rounding_stays_on_its_side_of_the_claim() -> None:
    assert nearest(1.00049, 1.0) == "1.0005"
    assert lower(1.0004, 1.0) == "1.0004"
    assert exactly(0.99999986, 1.0) == "0.9999999"
    assert exactly(0.99999999, 1.0) == "0.99999999"


def test_the_rounding_of_a_sum_is_no_violation() -> None:
    assert exactly(1.0000000000000002, 1.0) == "1"
    assert exactly(1.9999978583, 1.0) == "1.999998"
