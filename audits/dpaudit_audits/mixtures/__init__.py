"""What to try against `dpaudit_algorithms.mixtures`."""
