"""All neighbouring relations by name."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from dpaudit.errors import ParameterError, UnknownNameError
from dpaudit.language.answers import ANSWERS_L1, ANSWERS_L2, ANSWERS_LINF, Answers
from dpaudit.language.checks import positive, whole
from dpaudit.language.private_rows import PRIVATE_ROWS
from dpaudit.language.relation import ADD_REMOVE_ONE, REPLACE_ONE, Relation
from dpaudit.language.users import USERS, Users

_BY_NAME: dict[str, Relation] = {
    relation.kind: relation
    for relation in (REPLACE_ONE, ADD_REMOVE_ONE, ANSWERS_LINF, ANSWERS_L1, ANSWERS_L2, PRIVATE_ROWS, USERS)
}

_OTHER_NAMES = {
    ("add", "remov", "delet", "unbounded"): ADD_REMOVE_ONE.kind,
    ("repl", "subst", "chang", "bounded", "swap"): REPLACE_ONE.kind,
}
"""Parts of what textbooks call the two common relations; the first row that fits counts."""


def relation_names() -> tuple[str, ...]:
    """The names that `relation_named` accepts, without group sizes."""
    return tuple(_BY_NAME)


def relation_named(text: str) -> Relation:
    """The relation with this name.

    "replace-one", "add-remove-one", "answers-linf", "answers-l1", "answers-l2", "private-rows", "users". For groups of
    three: "replace-one:3". For answers that one record moves by 0.25: "answers-l1@0.25". Where a column of frames says
    whose a record is: "users:customer".

    Raises:
        UnknownNameError: no such relation.
        ParameterError: a group size that is not a whole number ≥ 1, or a reach that is not a number above 0.
    """
    if (users := _users_of(text.strip())) is not None:
        return users
    named, colon, size = text.strip().lower().partition(":")
    kind, at, reach = named.partition("@")
    relation = _BY_NAME.get(kind)
    if relation is None or (at and not isinstance(relation, Answers)):
        raise UnknownNameError("relation", text, tuple(_meant(kind)))
    if at and isinstance(relation, Answers):
        relation = replace(relation, reach=_reach(reach))
    if not colon:
        return relation
    return relation.group(whole("the size of a group", int(size) if size.isdecimal() else size, least=1))


def _users_of(text: str) -> Users | None:
    """The relation of "users:column" or "users:column:3", whose column keeps its case; None for any other text."""
    kind, _, rest = text.partition(":")
    if kind.lower() != USERS.kind or not rest or rest.isdecimal():
        return None
    column, _, size = rest.rpartition(":")
    if not column or not size.isdecimal():
        return replace(USERS, column=rest)
    return replace(USERS, column=column).group(whole("the size of a group", int(size), least=1))


def _meant(kind: str) -> list[str]:
    """The relations that a text may mean: those like it, or by the field's other names; all where none is."""
    for words, relation in _OTHER_NAMES.items():
        if kind and any(word in kind for word in words):
            return [relation]
    return get_close_matches(kind, _BY_NAME, n=2) or list(_BY_NAME)


def _reach(text: str) -> float:
    try:
        return positive("the reach of a record", float(text))
    except ValueError:
        raise ParameterError(f"The reach of a record must be a number above 0, not {text!r}.") from None
