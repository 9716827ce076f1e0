"""Audit plan for a group-privacy claim with a missing factor."""

from __future__ import annotations

import math

from dpaudit.adversary.pairs.pair import Pair
from dpaudit.language import Mechanism, Multiset
from dpaudit.plans.plan import Case, Plan, Scope
from dpaudit.results.model import Verdict
from dpaudit_algorithms.corpus.misprinted_group import GroupPrivacyMisprinted
from dpaudit_audits.corpus.oracle import Oracle

RECORDS = 5


def cases() -> tuple[Case, ...]:
    """Groups of 2 and 3 violate the stated claim; all neighbours, and groups under Theorem 3.7, satisfy theirs."""
    mechanism = GroupPrivacyMisprinted()
    return (
        *(
            Case(f"group of {k}", mechanism, (_pair(k),), mechanism.group_claim(k), expected=Verdict.FAIL)
            for k in (2, 3)
        ),
        Case("one record", mechanism, (_pair(1),)),
        Case(f"every pair of {RECORDS} records", mechanism, runs=0, scope=Scope((0, 1), RECORDS)),
        *(
            Case(
                f"every group of {k} of {RECORDS} records, by Theorem 3.7",
                mechanism,
                claim=mechanism.claim.group(k),
                runs=0,
                scope=Scope((0, 1), RECORDS),
            )
            for k in (2, 3)
        ),
    )


def _pair(ones: int) -> Pair:
    left, right = Multiset.counted({0: RECORDS}), Multiset.counted({0: RECORDS - ones, 1: ones})
    return Pair(left, right, f"no ones against {ones}")


def oracle() -> Oracle:
    """Pr[True] is (1 + e^ε)·δ with two ones and 0 with no ones."""
    mechanism = GroupPrivacyMisprinted()
    p = (1 + math.exp(mechanism.epsilon)) * mechanism.delta
    return Oracle.of_laws({True: 0.0, False: 1.0}, {True: p, False: 1 - p})


def small(domain: int, records: int) -> tuple[Mechanism, Scope]:
    """A small instance; records are 0 or 1 for every domain."""
    return GroupPrivacyMisprinted(), Scope((0, 1), records)


PLAN = Plan("GroupPrivacyMisprinted", cases, small)
