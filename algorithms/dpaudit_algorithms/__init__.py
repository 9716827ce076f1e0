"""Reference implementations, one file per algorithm; the entry point `dpaudit.algorithms` finds them by their cards."""

GAMES: dict[str, str] = {"digit": "dpaudit_algorithms.lower_bounds.hard_databases:DigitGuessing"}
"""The entry point `dpaudit.games`: games against any mechanism (`dpaudit check … --game`)."""
