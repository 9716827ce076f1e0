"""Hypothesis strategies for datasets, pairs of neighbours and parameters, and the search for the worst pair with them.

    from hypothesis import given
    from dpaudit import strategies as dst

    @given(dst.neighbours("replace-one", "integers(0, 9)"))
    def test_a_record_counts_once(pair):
        assert abs(sum(pair.left) - sum(pair.right)) <= 9

An audit inside such a test would have a separate error probability in every example. To test a claim, pass a strategy
to `dpaudit.audit(f, …, data=…)`: the search runs in Hypothesis, and its result is audited once, on fresh samples.
"""

from dpaudit.errors import MissingPackageError

try:
    import hypothesis  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise MissingPackageError("dpaudit.strategies", "Hypothesis", "hypothesis") from None

from dpaudit.strategies.datasets import datasets, records_of
from dpaudit.strategies.neighbours import Neighbours, neighbours
from dpaudit.strategies.params import mechanism_params, mechanisms
from dpaudit.strategies.search import database_key, find_pairs

__all__ = [
    "Neighbours",
    "database_key",
    "datasets",
    "find_pairs",
    "mechanism_params",
    "mechanisms",
    "neighbours",
    "records_of",
]
