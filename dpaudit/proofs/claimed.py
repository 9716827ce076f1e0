"""The scopes of a mechanism's own claim."""

from __future__ import annotations

from collections.abc import Hashable

from dpaudit.language.answers import Answers as AnswersRelation
from dpaudit.language.mechanism import Mechanism
from dpaudit.language.relation import AddRemoveOne, ReplaceOne
from dpaudit.proofs.program import answers_queries
from dpaudit.proofs.scopes import Answers, Domain, Scope, Stream

ANSWERS = 5
"""Answers of a scope, where a mechanism has no loop over a stream."""


def scopes_of_claim(
    mechanism: Mechanism, *, domain: tuple[Hashable, ...] = (), records: int = 0, answers: int = ANSWERS
) -> tuple[Scope, ...]:
    """The scopes that a mechanism's claim covers, the widest first; none where its relation has no scope.

    Args:
        mechanism: with a claim.
        domain: a finite domain of records; () where there is none.
        records: size of the datasets over it.
        answers: number of answers, where the datasets are vectors of answers.
    """
    claim = mechanism.claim
    if claim is None or claim.relation.size != 1:
        return ()
    relation = claim.relation
    if isinstance(relation, AnswersRelation):
        if relation.kind == "answers-linf":
            return Stream(relation.reach), Answers(answers, by=relation.reach)
        if relation.kind == "answers-l1":
            return (Answers(answers, "one", relation.reach),)
        return ()
    found: list[Scope] = []
    if answers_queries(mechanism):
        found += [Stream(), Answers(len(getattr(mechanism, "queries", ())))]
    if len(domain) > 1 and records:
        if type(relation) is ReplaceOne:
            found.append(Domain(records, domain))
        elif type(relation) is AddRemoveOne:
            found.append(Domain(records, domain, "add-remove-one"))
    return tuple(found)
