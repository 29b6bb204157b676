"""What one Python file deletes in loops, and where it computes how much stays. In the limited child."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from gate.prescreen.identities.names import words_of
from gate.prescreen.python_ast.scanner import parse

_DELETES: Final = frozenset({"rmtree", "unlink", "rmdir", "removedirs"})
_OF_OS: Final = frozenset({"remove", "unlink", "rmdir", "removedirs"})
_KEPT: Final = frozenset(
    {"keep", "keeps", "retain", "retained", "retention", "backups", "generations", "copies"}
)
_OPERATORS: Final = (
    ast.Sub,
    ast.RShift,
    ast.FloorDiv,
    ast.Div,
    ast.Mod,
    ast.Mult,
    ast.LShift,
    ast.BitAnd,
    ast.BitXor,
)
_MILD: Final = frozenset(
    {"tmp", "temp", "temporary", "cache", "caches", "build", "dist", "lock", "pid", "socket", "stale"}
)
_MOST: Final = 200
_DEEPEST: Final = 4


class Taken(msgspec.Struct, frozen=True):
    """A loop of ``function`` over ``over`` in which something is deleted."""

    function: str
    over: str
    line: int


class Kept(msgspec.Struct, frozen=True):
    """``name`` says how much stays, and is computed by ``text``."""

    name: str
    text: str
    line: int


class Deletions(msgspec.Struct, frozen=True):
    """``asks``: parameters of functions that delete, by which they are told how much stays."""

    taken: list[Taken]
    kept: list[Kept]
    asks: list[str]


def read(path: str, data: bytes, options: Mapping[str, Any]) -> Deletions:
    """The loops that delete, and the counts of what stays."""
    del options
    try:
        tree = parse(path, data).tree
    except (SyntaxError, ValueError):
        return Deletions([], [], [])
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    deleting: set[str] = set()
    for _ in range(_DEEPEST):
        deleting |= {
            name for name, node in functions.items() if any(_deletes(n, deleting) for n in ast.walk(node))
        }
    taken = [
        one for name, node in functions.items() if name in deleting for one in _loops(name, node, deleting)
    ]
    asks = [arg.arg for name in deleting for arg in functions[name].args.args if _is_kept(arg.arg)]
    return Deletions(taken[:_MOST], [*_computed(tree)][:_MOST], asks)


def _deletes(node: ast.AST, deleting: set[str]) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        name, of = node.func.attr, node.func.value
        is_os = isinstance(of, ast.Name) and of.id == "os"
        return name in _DELETES or (is_os and name in _OF_OS)
    return isinstance(node.func, ast.Name) and (node.func.id in deleting or node.func.id in _DELETES)


def _loops(name: str, function: ast.AST, deleting: set[str]) -> Iterator[Taken]:
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.AsyncFor) and any(_deletes(n, deleting) for n in ast.walk(node)):
            over = ast.unparse(node.iter)
            if _MILD.isdisjoint(words_of(f"{over} {name}").split("-")):
                yield Taken(name, _followed(over, function), node.iter.lineno)


def _followed(over: str, function: ast.AST) -> str:
    """The text of what is looped over, with what a local name of it was set to."""
    texts = [
        ast.unparse(node.value) for node in ast.walk(function)
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == over for t in node.targets)
    ]  # fmt: skip
    return " | ".join([*texts[:4]] or [over])[:400]


def _computed(tree: ast.AST) -> Iterator[Kept]:
    for node in ast.walk(tree):
        targets: list[ast.expr]
        if isinstance(node, ast.AugAssign):
            targets, value, moves = [node.target], node.value, isinstance(node.op, _OPERATORS)
        elif isinstance(node, ast.Assign):
            targets, value, moves = (
                node.targets,
                node.value,
                any(isinstance(n, _OPERATORS) for n in ast.walk(node.value)),
            )
        else:
            continue
        for target in targets:
            name = (
                target.attr
                if isinstance(target, ast.Attribute)
                else target.id
                if isinstance(target, ast.Name)
                else ""
            )
            if moves and _is_kept(name) and not isinstance(value, ast.Constant):
                yield Kept(name, ast.unparse(node)[:200], node.lineno)


def _is_kept(name: str) -> bool:
    return not _KEPT.isdisjoint(words_of(name).split("-"))
