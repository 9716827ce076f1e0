"""The audits of the algorithms, on the same paths; the entry point `dpaudit.audits` finds the plans."""

COMPARISONS: dict[str, str] = {"interior-points": "dpaudit_audits.interior_points.interior_points:InteriorPoints"}
"""The entry point `dpaudit.comparisons`: comparisons of several algorithms on the same inputs."""
