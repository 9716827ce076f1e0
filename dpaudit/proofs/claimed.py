"""The scopes of a mechanism's own claim."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from dpaudit.adversary import Pair
from dpaudit.language.answers import Answers as AnswersRelation
from dpaudit.language.claim import Claim
from dpaudit.language.mechanism import Mechanism
from dpaudit.language.relation import AddRemoveOne, ReplaceOne
from dpaudit.proofs.exact import exactly
from dpaudit.proofs.program import answers_queries
from dpaudit.proofs.scopes import Answers, Domain, Moves, Queries, Records, Scope, ScopeOfClaim, Stream

ANSWERS = 5
"""Answers of a scope, where a mechanism has no loop over a stream."""


def answers_of(pairs: Iterable[Pair]) -> int:
    """The number of answers in the datasets of some pairs, if it is one."""
    lengths = {len(one) for pair in pairs for one in (pair.left, pair.right)}
    return max(1, lengths.pop()) if len(lengths) == 1 else ANSWERS


def scope_of_function(
    claim: Claim, *, size: int | None, between: tuple[float, float] | None = None, domain: tuple[Hashable, ...] = ()
) -> Scope | None:
    """The scope of a claim of a function f(data, rng), whose datasets have one size; None where there is none.

    Args:
        claim: of the function.
        size: number of records, or answers; None where it is not one number.
        between: bounds of real records; None for others.
        domain: a finite domain of records; () where there is none.

    Raises:
        ParameterError: there is no such scope, such as one of equal records.
    """
    relation = claim.relation
    if not size:
        return None
    if isinstance(relation, AnswersRelation):
        by = relation.size * exactly(relation.reach)
        moves: dict[str, Moves] = {"answers-linf": "each", "answers-l1": "total"}
        return Answers(size, moves[relation.kind], by) if relation.kind in moves else None
    if type(relation) is not ReplaceOne or relation.size != 1:
        return None
    if between is not None:
        return Records(size, *between)
    return Domain(size, domain) if len(domain) > 1 else None


def scopes_of_claim(
    mechanism: Mechanism, claim: Claim | None = None, *, domain: tuple[Hashable, ...] = (), records: int = 0,
    answers: int = ANSWERS,
) -> tuple[ScopeOfClaim, ...]:
    """The scopes that a claim covers, the widest first; none where its relation has no scope.

    Args:
        mechanism: what is claimed to be private.
        claim: by default the mechanism's own.
        domain: a finite domain of records; () where there is none.
        records: size of the datasets over it.
        answers: number of answers, where the datasets are vectors of answers.
    """
    claim = claim if claim is not None else mechanism.claim
    if claim is None:
        return ()
    relation, group = claim.relation, claim.relation.size
    if isinstance(relation, AnswersRelation):
        # a group moves answers as far as its records do together
        by = group * exactly(relation.reach)
        if relation.kind == "answers-linf":
            return Stream(by), Answers(answers, by=by)
        if relation.kind == "answers-l1":
            return (Answers(answers, "total", by),)
        return ()
    found: list[ScopeOfClaim] = []
    if type(relation) is ReplaceOne and answers_queries(mechanism):
        found.append(Stream(group))
    # what queries and quality functions state holds under the relation of the mechanism's own claim
    own = mechanism.claim
    if own is not None and type(relation) is type(own.relation) and type(relation) in (ReplaceOne, AddRemoveOne):
        found.append(Queries(relation.kind, group))
    if group == 1 and len(domain) > 1 and records:
        if type(relation) is ReplaceOne:
            found.append(Domain(records, domain))
        elif type(relation) is AddRemoveOne:
            found.append(Domain(records, domain, "add-remove-one"))
    return tuple(found)
