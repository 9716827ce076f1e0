"""Numbers as reports write them: rounding never crosses a claim."""

from __future__ import annotations

import math

from dpaudit.report.numbers import exactly, lower, nearest, power_below, power_rounded, power_text, upper


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


def test_powers_of_ten_without_carets() -> None:
    exponents = (0.0, 0.5, 3.4, 5.99, 6.0, 16.7084, 2345.67, -0.04, -3.5, -7.0)
    assert [power_below(x) for x in exponents] == [
        *("1", "3.1", "2,500", "970,000", "1 × 10⁶", "5.1 × 10¹⁶", "4.6 × 10²³⁴⁵", "0.91", "3.1 × 10⁻⁴", "1 × 10⁻⁷"),
    ]
    above, below = (power_rounded(3.3467, up=up) for up in (True, False))
    assert (power_text(above), power_text(below)) == ("2,230", "2,220")
    # their order stays visible
    assert power_below(3.3468, below) == "2,220"
    assert power_below(3.3467, above) == "2,200"


def test_a_bound_that_is_the_next_double_above_the_claim_is_shown_as_the_claim() -> None:
    for claim in (0.28, 1.0, 4.0):
        assert lower(math.nextafter(claim, math.inf), claim) == lower(claim, claim) == f"{claim:g}"
    assert lower(1.0001, 1.0) == "1.0001"
