"""Datasets that a program sees through queries and quality functions alone, whose sensitivities are taken as stated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from dpaudit.language.mechanism import Mechanism
from dpaudit.language.query import Query
from dpaudit.language.scores import Scores
from dpaudit.proofs.exact import exactly
from dpaudit.proofs.forms import Form
from dpaudit.proofs.functions import Piecewise
from dpaudit.proofs.interpreter import key_of
from dpaudit.proofs.results import Unsupported
from dpaudit.proofs.scopes import Asked, Queries, Stated
from dpaudit.proofs.values import Unseen

MOST = 64
"""Answers of a query, or solutions of a quality function, beyond which it is not followed."""


def asked(mechanism: Mechanism, scope: Queries, follow: Callable[[Unseen], Any]) -> Asked:
    """The scope of the answers that a mechanism gets from its queries.

    Args:
        mechanism: what is claimed to be private.
        scope: of its claim.
        follow: follows all paths of the mechanism on a dataset.

    Raises:
        Unsupported: it looks at the dataset in another way, or its queries say too little.
    """
    found: dict[object, tuple[int, Stated]] = {}

    def answer(subject: Any) -> tuple[Form, ...]:
        key = key_of(subject)
        if key not in found:
            found[key] = sum(each.k for _, each in found.values()), _stated(subject, scope)
        first, stated = found[key]
        return _numbers(first, first + stated.k)

    follow(Unseen(answer))
    if not found:
        raise Unsupported("The program asks no query.")
    every = tuple(stated for _, stated in found.values())
    return Asked(sum(each.k for each in every), asked=every, queries=scope)


def unseen(scope: Asked) -> Unseen:
    """The dataset, as a program gets it."""
    places = {key_of(each.subject): block[0] for each, block in zip(scope.asked, scope.blocks, strict=True)}

    def answer(subject: Any) -> tuple[Form, ...]:
        found = places.get(key_of(subject))
        if found is None:
            raise Unsupported("A query is made anew in every run.", "Make it a field of the mechanism.")
        return _numbers(found.start, found.stop)

    return Unseen(answer)


def answered_by(mechanism: Mechanism, answers: Any) -> Unseen:
    """A dataset for which a mechanism's method `answers` gives some answers, and no query by itself."""

    def answer(subject: Any) -> Any:
        if subject is not mechanism:
            raise Unsupported("A query is asked by itself, beside the method that asks all.")
        return answers

    return Unseen(answer)


@contextmanager
def answered(scope: Asked, answers: tuple[float, ...]) -> Iterator[object]:
    """A dataset on which the queries of a scope have given answers, in a real run.

    Within the block, their classes look for it; queries of any other dataset are answered as always.
    """
    dataset = object()
    given = {
        key_of(each.subject): answers[block[0].start:block[0].stop]
        for each, block in zip(scope.asked, scope.blocks, strict=True)
    }
    kinds = dict.fromkeys(type(each.subject) for each in scope.asked)
    own = {kind: vars(kind).get("__call__") for kind in kinds}

    def replaced(former: Any) -> Any:
        def call(self: Any, data: Any) -> Any:
            if data is not dataset:
                return former(self, data)
            mine = given[key_of(self)]
            return mine if isinstance(self, Query) else Scores(mine)

        return call

    try:
        for kind in kinds:
            kind.__call__ = replaced(kind.__call__)
        yield dataset
    finally:
        for kind, method in own.items():
            if method is None:
                del kind.__call__
            else:
                kind.__call__ = method


def _numbers(start: int, stop: int) -> tuple[Form, ...]:
    return tuple(
        Form(records={index: Piecewise.identity(None, None)}, is_mixed=True) for index in range(start, stop)
    )


def _stated(subject: Any, scope: Queries) -> Stated:
    name = type(subject).__name__
    if isinstance(subject, Query) and scope.relation != "replace-one":
        raise Unsupported(f"{name} states its sensitivity under replace-one, and the claim is for {scope.relation}.")
    size = subject.coordinates if isinstance(subject, Query) else subject.n_solutions
    if not isinstance(size, int) or not 1 <= size <= MOST:
        what = "answers" if isinstance(subject, Query) else "solutions"
        raise Unsupported(f"{name} has {'no fixed number of' if size is None else f'{size:,}'} {what}; "
                          f"up to {MOST} are followed.")
    sensitivity: Fraction = exactly(subject.sensitivity)
    if sensitivity <= 0:
        raise Unsupported(f"{name} states no sensitivity above 0.")
    return Stated(subject, size, "total" if isinstance(subject, Query) else "each", sensitivity)
