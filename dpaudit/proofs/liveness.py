"""Which variables a loop carries from one turn to the next."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def live_at_head(loop: ast.For, after: Sequence[ast.stmt]) -> frozenset[str]:
    """Variables that may be read, in a later turn or after the loop, before they are assigned again."""
    done = _statements(after, frozenset(), frozenset(), frozenset())
    head: frozenset[str] = _statements(loop.orelse, done, done, done)
    while True:
        body = _statements(loop.body, head, done, head) - _assigned(loop.target)
        wider = head | body | _read(loop.target)
        if wider == head:
            return head
        head = wider


def changed_lists(loop: ast.For) -> frozenset[str]:
    """Names of variables that a loop appends to."""
    found = set()
    for node in ast.walk(loop):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend")):
                found.add(name)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and isinstance(node.op, ast.Add):
            found.add(node.target.id)
    return frozenset(found)


def _read(node: ast.AST) -> frozenset[str]:
    return frozenset(
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    )


def _assigned(target: ast.expr) -> frozenset[str]:
    """Names that an assignment sets as a whole."""
    if isinstance(target, ast.Name):
        return frozenset({target.id})
    if isinstance(target, ast.Tuple | ast.List):
        return frozenset().union(*(_assigned(each) for each in target.elts))
    return frozenset()


def _statements(
    statements: Sequence[ast.stmt], out: frozenset[str], broken: frozenset[str], continued: frozenset[str]
) -> frozenset[str]:
    live = out
    for statement in reversed(statements):
        live = _statement(statement, live, broken, continued)
    return live


def _statement(
    statement: ast.stmt, out: frozenset[str], broken: frozenset[str], continued: frozenset[str]
) -> frozenset[str]:
    match statement:
        case ast.Assign(targets=targets, value=value):
            killed = frozenset().union(*(_assigned(target) for target in targets))
            return (out - killed) | _read(value) | frozenset().union(*(_read(target) for target in targets))
        case ast.AnnAssign(target=target, value=value):
            killed = _assigned(target) if value is not None else frozenset()
            return (out - killed) | _read(target) | (_read(value) if value is not None else frozenset())
        case ast.AugAssign(target=target, value=value):
            return out | _read(value) | _read(target) | _assigned(target)
        case ast.If(test=test, body=body, orelse=orelse):
            return _read(test) | _statements(body, out, broken, continued) | _statements(
                orelse, out, broken, continued
            )
        case ast.For(target=target, iter=values, body=body, orelse=orelse):
            end = _statements(orelse, out, broken, continued)
            head = end
            for _ in range(len(list(ast.walk(statement)))):
                wider = head | (_statements(body, head, out, head) - _assigned(target))
                if wider == head:
                    break
                head = wider
            return head | _read(values) | _read(target)
        case ast.While(test=test, body=body, orelse=orelse):
            head = _statements(orelse, out, broken, continued) | _read(test)
            for _ in range(len(list(ast.walk(statement)))):
                wider = head | _statements(body, head, out, head)
                if wider == head:
                    break
                head = wider
            return head
        case ast.Return(value=value):
            return _read(value) if value is not None else frozenset()
        case ast.Break():
            return broken
        case ast.Continue():
            return continued
        case ast.Expr() | ast.Assert() | ast.Pass():
            return out | _read(statement)
        case _:
            # anything else may read every name in it, and assigns nothing for certain
            return out | _read(statement)
