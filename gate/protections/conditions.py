"""Conditions of Python in normal form: alternatives of atoms, each with a sign.

Atoms leave out what a renaming changes (``user.is_admin`` and ``current_user.is_admin`` are both
``is_admin``) and keep what decides. Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import product
from typing import Final

from gate.languages.unparse import unparsed
from gate.protections.facts import Family
from gate.protections.vocabulary import family_of
from gate.regex import regex

Term = frozenset[str]
"""Atoms that hold together."""
_MOST: Final = 16
_DEPTH: Final = 4
_NEGATED: Final[dict[type[ast.cmpop], str]] = {
    ast.NotEq: "==",
    ast.IsNot: "is",
    ast.NotIn: "in",
    ast.GtE: "<",
}
_PLAIN: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "==", ast.Is: "is", ast.In: "in", ast.Lt: "<", ast.Gt: ">", ast.LtE: ">",
}  # fmt: skip
_USERS: Final = frozenset(
    {"user", "current_user", "user_id", "current_user_id", "uid", "viewer", "principal"}
)
_KEPT: Final = 60
_WORD: Final = regex(r"[A-Za-z_]\w*")


class Conditions:
    """Reads the conditions of one function. ``local`` holds what its names are assigned, where only once."""

    def __init__(self, local: Mapping[str, ast.expr]) -> None:
        self._local = local

    def terms(self, test: ast.expr, holds: bool = True, depth: int = 0) -> list[Term]:
        """The ways in which ``test`` is ``holds``; all atoms of one way hold together."""
        match test:
            case ast.UnaryOp(op=ast.Not()):
                return self.terms(test.operand, not holds, depth)
            case ast.NamedExpr():
                return self.terms(test.value, holds, depth)
            case ast.Await():
                return self.terms(test.value, holds, depth)
            case ast.Call(func=ast.Name(id="bool"), args=[only]):
                return self.terms(only, holds, depth)
            case ast.Call(func=ast.Name(id="any" | "all" as name), args=[ast.Tuple() | ast.List() as many]):
                parts = [self.terms(value, holds, depth) for value in many.elts]
                return either(parts) if (name == "any") is holds else both(parts)
            case ast.BoolOp():
                parts = [self.terms(value, holds, depth) for value in test.values]
                alternatives = isinstance(test.op, ast.Or) is holds
                return either(parts) if alternatives else both(parts)
            case ast.Compare(ops=[ast.Eq() | ast.Is()], comparators=[ast.Constant(value=bool() as wanted)]):
                return self.terms(test.left, holds is wanted, depth)
            case ast.Compare() if len(test.ops) > 1:
                sides = [test.left, *test.comparators]
                pairs = [
                    ast.Compare(left=a, ops=[op], comparators=[b])
                    for a, op, b in zip(sides, test.ops, sides[1:], strict=False)
                ]
                parts = [self.terms(pair, holds, depth) for pair in pairs]
                return both(parts) if holds else either(parts)
            case ast.Name() if (
                depth < _DEPTH and test.id in self._local and family_of(test.id) in (None, "place")
            ):
                return self.terms(self._local[test.id], holds, depth + 1)
        return [frozenset({self.atom(test, holds)})]

    def atom(self, test: ast.expr, holds: bool) -> str:
        """One condition with its sign: ``-is_admin``, ``+path in allowed_paths``."""
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compared(test, holds)
        if isinstance(test, ast.Constant):
            return "+true" if bool(test.value) is holds else "+false"
        return ("+" if holds else "-") + shown(test)

    def _compared(self, test: ast.Compare, holds: bool) -> str:
        op, left, right = test.ops[0], test.left, test.comparators[0]
        if type(op) in _NEGATED or isinstance(op, ast.LtE):
            holds = not holds
        word = _NEGATED.get(type(op)) or _PLAIN[type(op)]
        if word in ("==", "is") and isinstance(right, ast.Constant):
            if right.value is None or right.value is False:
                return ("-" if holds else "+") + shown(left)
            if right.value is True:
                return ("+" if holds else "-") + shown(left)
        return comparison(shown(left), "==" if word == "is" else word, shown(right), holds)


def comparison(left: str, word: str, right: str, holds: bool) -> str:
    """An atom that compares; which side was written first makes no difference to ``==``, ``<`` and ``>``."""
    if word == "==":
        left, right = sorted((left, right))
    elif word == ">":
        left, word, right = right, "<", left
    return f"{'+' if holds else '-'}{left} {word} {right}"


def family_of_atom(atom: str) -> Family | None:
    """The family of protections that one atom speaks of; somebody's thing against who asks is ownership."""
    found = next((family for word in _WORD.findall(atom) if (family := family_of(word))), None)
    if found is None and " == " in atom:
        left, _, right = atom[1:].partition(" == ")
        other = right if left == "user" else left if right == "user" else ""
        if other and other[0] not in "'\"0123456789{":
            return "authorisation"
    return found


def is_user(expr: ast.expr) -> bool:
    """``request.user``, ``current_user.id``, ``session["user_id"]``: who asks."""
    if isinstance(expr, ast.Attribute) and expr.attr in ("id", "pk", "uuid"):
        return is_user(expr.value)
    if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute) and expr.func.attr == "get":
        named = [str(one.value) for one in expr.args[:1] if isinstance(one, ast.Constant)]
        return last_name(expr.func.value) == "session" and not _USERS.isdisjoint(named)
    if isinstance(expr, ast.Subscript) and isinstance(expr.slice, ast.Constant):
        return last_name(expr.value) == "session" and str(expr.slice.value) in _USERS
    if isinstance(expr, ast.Attribute):
        return expr.attr in _USERS and last_name(expr.value) in ("request", "g", "self", "info", "context")
    return isinstance(expr, ast.Name) and expr.id in _USERS


def last_name(expr: ast.AST) -> str:
    """``route`` of ``app.route``, of ``app.route(...)`` and of ``route``; empty where there is none."""
    while isinstance(expr, ast.Call | ast.Subscript | ast.Await):
        expr = expr.value if isinstance(expr, ast.Subscript | ast.Await) else expr.func
    if isinstance(expr, ast.Attribute):
        return expr.attr
    return expr.id if isinstance(expr, ast.Name) else ""


def shown(expr: ast.expr) -> str:
    """An expression without what a renaming changes: the last names, and constants."""
    if is_user(expr):
        return "user"
    match expr:
        case ast.Name():
            return expr.id
        case ast.Attribute():
            if expr.attr in ("id", "pk", "name", "data", "value", "text", "method", "get"):
                return f"{shown(expr.value)}.{expr.attr}"
            return expr.attr
        case ast.Constant():
            return repr(expr.value)[:_KEPT]
        case ast.Await():
            return shown(expr.value)
        case ast.Subscript(slice=ast.Constant()):
            return f"{shown(expr.value)}[{shown(expr.slice)}]"
        case ast.Call():
            return _call(expr)
        case ast.Tuple() | ast.List() | ast.Set():
            return "{" + ", ".join(sorted(shown(item) for item in expr.elts[:_MOST])) + "}"
    return " ".join(unparsed(expr).split())[:_KEPT]


def _call(call: ast.Call) -> str:
    name = shown(call.func)
    if name.endswith(".get") and call.args and isinstance(call.args[0], ast.Constant):
        return f"{name.removesuffix('.get')}[{shown(call.args[0])}]"
    if family_of(name) is None:
        return " ".join(unparsed(call).split())[:_KEPT]
    given = [shown(value) for value in call.args if isinstance(value, ast.Constant)]
    return f"{name}({', '.join(given)})" if given else name


def either(parts: list[list[Term]]) -> list[Term]:
    """Any way of any part."""
    return [term for part in parts for term in part][:_MOST]


def both(parts: list[list[Term]]) -> list[Term]:
    """Every combination of one way of each part."""
    size = 1
    for part in parts:
        size *= len(part)
    if size > _MOST:  # too many ways: one alternative that holds all of their atoms
        return [frozenset(atom for part in parts for term in part for atom in term)]
    return [frozenset().union(*chosen) for chosen in product(*parts)]
