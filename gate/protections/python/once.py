"""What is good once, in Python: a function that takes a token and ends it.

A refresh token, a reset code or an invitation that is looked up and stays is good for whoever has a copy.
Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.protections.conditions import last_name
from gate.protections.facts import Strength
from gate.protections.once import ENDED_BY, ONCE, ends, is_about, is_given, is_used
from gate.protections.python.guards import source
from gate.protections.strengths import kept


def once_strengths(node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> Iterator[Strength]:
    """Is what one function is given good once?"""
    given = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    tokens = [name for name in given if is_given(name)]
    if not tokens or not is_used(node.name) or not is_about(f"{owner} {node.name} {' '.join(tokens)}"):
        return
    about = _derived(node, {*tokens})
    for one in ast.walk(node):
        if _is_end(one, about):
            yield kept(ONCE, True, source(one), getattr(one, "lineno", node.lineno))
            return
    if not _is_handed_on(node, about):
        yield kept(ONCE, False, f"def {node.name}({', '.join(given)})", node.lineno)


def _derived(node: ast.AST, names: set[str]) -> set[str]:
    """The names that hold what was looked up by the token, and the token itself."""
    for one in ast.walk(node):
        match one:
            case ast.Assign(targets=targets, value=value) if _mentions(value, names):
                names |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            case ast.NamedExpr(target=ast.Name(id=name), value=value) if _mentions(value, names):
                names.add(name)
    return names - {"self", "cls"}


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(node))


def _is_end(one: ast.AST, about: set[str]) -> bool:
    match one:
        case ast.Delete():
            return _mentions(one, about)
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target]):
            named = target.attr if isinstance(target, ast.Attribute) else source(target.slice)
            return _mentions(target, about) and ends(named, ENDED_BY)
        case ast.Call():
            texts = [a.value for a in one.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            said = [k.arg for k in one.keywords if k.arg and ends(k.arg, ENDED_BY)]
            by_name = ends(last_name(one)) or bool(said) or any(_is_statement(text) for text in texts)
            return by_name and _mentions(one, about)
    return False


def _is_statement(text: str) -> bool:
    """SQL that deletes, or marks something as used."""
    words = text.lower().split()
    return words[:2] == ["delete", "from"] or (words[:1] == ["update"] and ends(text, ENDED_BY))


def _is_handed_on(node: ast.AST, about: set[str]) -> bool:
    """Does a function of the program get the token, which may end it?"""
    for one in ast.walk(node):
        if isinstance(one, ast.Call) and any(_mentions(arg, about) for arg in one.args):
            own = isinstance(one.func, ast.Attribute) and source(one.func.value) in ("self", "cls")
            if own and last_name(one) not in ("open", "get"):
                return True
    return False
