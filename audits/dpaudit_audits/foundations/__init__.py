"""What to try against `dpaudit_algorithms.foundations`."""
