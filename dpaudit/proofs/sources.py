"""The source of a running function, checked against its bytecode."""

from __future__ import annotations

import ast
import functools
import linecache
import types
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dpaudit.proofs.results import Place, Unsupported


@dataclass(frozen=True, eq=False)
class Source:
    """A function's syntax tree.

    Args:
        node: the function or lambda.
        file: its file's name, as its code has it.
    """

    node: ast.FunctionDef | ast.Lambda
    file: str

    def place(self, node: ast.AST) -> Place:
        """The line of a node."""
        return _place(self.file, getattr(node, "lineno", self.node.lineno))


@functools.lru_cache(maxsize=4096)
def _place(file: str, line: int) -> Place:
    return Place(Path(file).name, line, linecache.getline(file, line).strip())


def source_of(function: types.FunctionType) -> Source:
    """The syntax tree from which a function was compiled.

    Raises:
        Unsupported: its source cannot be read, or does not compile to the bytecode that runs.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    if not lines:
        raise Unsupported(
            f"The source of {function.__qualname__} cannot be read.", "Define it in a file, not interactively."
        )
    try:
        nodes_at, codes = _compiled("".join(lines), code.co_filename)
    except (SyntaxError, ValueError):
        raise Unsupported(f"The source of {function.__qualname__} does not compile.") from None
    if not any(_alike(code, other) for other in codes.get((code.co_firstlineno, code.co_name), ())):
        raise Unsupported(
            f"The file of {function.__qualname__} is not the source of the function that runs.",
            "Import it anew; a function that another function or a decorator made cannot be followed.",
        )
    nodes = nodes_at.get((code.co_firstlineno, code.co_name), [])
    if len(nodes) != 1:
        raise Unsupported(
            f"{len(nodes)} functions called {code.co_name} begin on line {code.co_firstlineno}.",
            "Put each on a line of its own.",
        )
    node = nodes[0]
    if not isinstance(node, ast.FunctionDef | ast.Lambda):
        raise Unsupported("An asynchronous function cannot be followed.")
    return Source(node, code.co_filename)


@lru_cache(maxsize=64)
def _compiled(
    text: str, file: str
) -> tuple[dict[tuple[int, str], list[ast.AST]], dict[tuple[int, str], list[types.CodeType]]]:
    tree = ast.parse(text)
    nodes: dict[tuple[int, str], list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            nodes.setdefault((first, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            nodes.setdefault((node.lineno, "<lambda>"), []).append(node)
    codes: dict[tuple[int, str], list[types.CodeType]] = {}
    waiting = [compile(text, file, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)
        waiting += [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return nodes, codes


def _alike(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two code objects do the same."""
    same = (
        one.co_code == other.co_code and one.co_names == other.co_names and one.co_varnames == other.co_varnames
        and one.co_freevars == other.co_freevars and one.co_cellvars == other.co_cellvars
        and one.co_flags == other.co_flags and one.co_argcount == other.co_argcount
        and one.co_kwonlyargcount == other.co_kwonlyargcount and len(one.co_consts) == len(other.co_consts)
        and one.co_exceptiontable == other.co_exceptiontable
    )
    return same and all(
        _alike(mine, theirs) if isinstance(mine, types.CodeType) and isinstance(theirs, types.CodeType)
        else type(mine) is type(theirs) and repr(mine) == repr(theirs)
        for mine, theirs in zip(one.co_consts, other.co_consts, strict=True)
    )
