"""What the functions of `dpaudit.api.functions` take, made into what a request holds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from numbers import Real
from typing import Any, ParamSpec, TypeAlias, TypeVar

from dpaudit.errors import DpauditError, UsageError
from dpaudit.language import Claim, Curve, Mechanism
from dpaudit.language.accounting import is_accounting
from dpaudit.options import DEFAULT_RUNS
from dpaudit.plans.jobs import jobs_of
from dpaudit.plans.registry import in_catalogue
from dpaudit.plans.request import Request
from dpaudit.plans.subject import own_claim, resolved, tested_claim
from dpaudit.results.given_data import GivenPair, given_pair
from dpaudit.results.stream import Event
from dpaudit.subjects.recorded import Recorded

Target: TypeAlias = str | Callable[..., object] | Mechanism
"""A catalogue name or file.py:object, a function, or a mechanism."""
ClaimLike: TypeAlias = Claim | Curve | float | str | tuple[float, float]
"""A claim, a curve such as `GaussianDP(0.5)`, ε, (ε, δ), or an event, distribution or accountant of dp-accounting."""
_P = ParamSpec("_P")
_R = TypeVar("_R")


def in_pythons_words(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Errors name arguments where they name options."""

    @wraps(function)
    def said(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except DpauditError as error:
            error.args = (error.at("Python"),)
            raise

    return said


def cluster_address(given: object) -> str | None:
    """The address of `cluster=`.

    Raises:
        UsageError: it is no cluster of dask, no client of one, and no address.
    """
    if given is None or isinstance(given, str):
        return given
    scheduler = getattr(given, "scheduler", None)
    address = getattr(given, "scheduler_address", None) or getattr(scheduler, "address", None)
    if not isinstance(address, str):
        raise UsageError("cluster must be a dask cluster or client, or an address, such as tcp://host:8786 or ray.")
    return address


def pair_of(given: object) -> GivenPair:
    """The two datasets of `pair=`.

    Raises:
        UsageError: they are not two.
        DatasetError: one is no dataset, or they do not go together.
    """
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
        raise UsageError("pair must hold two datasets, as in pair=([0, 1, 1], [0, 1, 0]).")
    return given_pair(given[0], given[1])


def stated_claim(
    claim: ClaimLike | None, epsilon: float | None, delta: float | None, relation: str | None
) -> dict[str, Any]:
    """The claim as fields of a request.

    Raises:
        UsageError: it is given twice, or is none.
    """
    if claim is None:
        return {"epsilon": epsilon, "delta": delta, "relation": relation}
    if isinstance(claim, Curve) or (isinstance(claim, str) and "(" in claim) or is_accounting(claim):
        if epsilon is not None or delta is not None:
            raise UsageError("The claim is given twice; leave epsilon and delta out, or the claim.")
        return {"epsilon": None, "claim": claim, "relation": relation}
    if epsilon is not None or delta is not None or (relation is not None and isinstance(claim, Claim)):
        raise UsageError("The claim is given twice; leave epsilon, delta and relation out, or the claim.")
    if isinstance(claim, Claim):
        if claim.rho is not None or claim.curve is not None:
            return {"claim": claim}
        return {"epsilon": claim.epsilon, "delta": claim.delta, "relation": claim.relation.name}
    numbers = tuple(claim) if isinstance(claim, tuple | list) else (claim, 0.0)
    if len(numbers) != 2 or not all(isinstance(n, Real) and not isinstance(n, bool) for n in numbers):
        raise UsageError(
            f"A claim is ε, (ε, δ) or a dpaudit.Claim, a curve such as dpaudit.GaussianDP(0.5), or "
            f"an event of dp-accounting, not {claim!r}."
        )
    return {"epsilon": float(numbers[0]), "delta": float(numbers[1]), "relation": relation}


HOW_TO_CLAIM = "Give ε, (ε, δ), a dpaudit.Claim or a curve such as dpaudit.GaussianDP(0.5) as the second argument."
HOW_TO_PLACE = (
    "Give pair=([0, 1, 1], [0, 1, 0]), or data='integers(0, 100)' to let dpaudit find pairs."
)
SEARCH_SHARE = 1 / 3
"""Of a time limit what a search through a strategy may take; the rest is the audit's, however soon the search ends."""


def on_found_pairs(
    request: Request,
    target: Target,
    data: object,
    *,
    size: int | None,
    placed: bool,
    kept_for: str | None = None,
    tell: Callable[[Event], object] | None = None,
) -> Request:
    """The request on the pairs that a search through a Hypothesis strategy found worst; the audit's runs are fresh.

    Args:
        request: without data.
        target: as given.
        data: a strategy of records, or of pairs.
        size: records of a dataset, at most.
        placed: whether a pair or a game is given too.
        kept_for: for whom Hypothesis's example database keeps the worst pairs, a test for instance; None to keep
            nothing and to begin with nothing, so that the pairs are a function of the request.
        tell: is called with how far the search is.

    Raises:
        UsageError: what does not go with a strategy is given too, it is none, or it gives no pair.
    """
    # whoever has a strategy has imported this; it need not be installed
    hypothesis = sys.modules.get("hypothesis.strategies")
    if hypothesis is None or not isinstance(data, hypothesis.SearchStrategy):
        raise UsageError(
            "data is a description such as 'integers(0, 100)', a table (a DataFrame, an array or a file), or a "
            f"Hypothesis strategy, not {data!r}."
        )
    if placed:
        raise UsageError("data describes the records of datasets to search for; leave pair and game out.")
    if request.groups is not None:
        raise UsageError(
            "Group privacy needs a description of records, such as data='integers(0, 100)'. With a "
            f"strategy, leave groups out and give relation='replace-one:{request.groups}'."
        )
    from dpaudit.strategies import database_key, find_pairs
    from dpaudit.strategies.search import drawn_container

    if in_catalogue(target):
        first = jobs_of(request)[0]
        value, claim = first.target.subject, first.claim
        assert not isinstance(value, Recorded)
    else:
        own = resolved(request, target)
        value, claim = own.value, tested_claim(request, own_claim(own.value), own.name)
    pairs = find_pairs(
        value,
        data,
        claim.relation,
        claim,
        seed=request.seed,
        runs=request.runs or DEFAULT_RUNS,
        key=None if kept_for is None else database_key(target, claim, where=kept_for),
        size=size,
        call_time=request.call_time,
        time=None if request.time is None else request.time * SEARCH_SHARE,
        tell=tell,
    )
    if not pairs:
        raise UsageError(f"The strategy {data!r} generates no two datasets that are {claim.relation.name} neighbours.")
    left = None if request.time is None else request.time * (1 - SEARCH_SHARE)
    return replace(request, pairs=tuple(pairs), time=left, container=drawn_container(data))
