"""Proofs that prove less: signatures compared in part, makers that leave their key unused, in Python.

Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.protections.conditions import last_name
from gate.protections.python.guards import source
from gate.protections.traits import Fact, lapse
from gate.protections.vocabulary import is_constant_time, is_secret, snake


def proof_facts(node: ast.AST) -> Iterator[Fact]:
    """``compare_digest(given, expected[:len(given)])``: an empty proof is a proof."""
    for one in ast.walk(node):
        sides: list[ast.expr] = []
        if isinstance(one, ast.Call) and is_constant_time(last_name(one)):
            sides = one.args[:2]
        elif isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.Eq | ast.NotEq):
            sides = [one.left, one.comparators[0]]
        if len(sides) == 2 and any(_is_cut(side, other) for side, other in (sides, sides[::-1])):
            key = "compared as far as what is given"
            line = getattr(one, "lineno", 1)
            yield lapse("authentication", key, source(one), line, modest=False)


def _is_cut(side: ast.expr, other: ast.expr) -> bool:
    """``expected[:len(given)]`` against ``given``."""
    if not isinstance(side, ast.Subscript) or not isinstance(side.slice, ast.Slice):
        return False
    bound = side.slice.upper
    if not isinstance(bound, ast.Call) or last_name(bound) != "len" or len(bound.args) != 1:
        return False
    return ast.dump(bound.args[0]) == ast.dump(other) and not isinstance(other, ast.Constant)


def table_facts(statement: ast.stmt) -> Iterator[Fact]:
    """A table of functions that take a key: one that does not use it makes what anybody can make."""
    match statement:
        case ast.Assign(targets=[target], value=ast.Dict() as value):
            name = last_name(target)
        case ast.AnnAssign(target=target, value=ast.Dict() as value):
            name = last_name(target)
        case _:
            return
    made = [
        (key, item)
        for key, item in zip(value.keys, value.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(item, ast.Lambda)
    ]
    if not any(_keys(item) & _used(item) for _, item in made):
        return
    for key, item in made:
        if _keys(item) and not _keys(item) & _used(item):
            text = f"{name}[{key.value!r}]: {source(item)}"
            yield lapse(
                "authentication", f"{name}: {key.value!r} uses no key", text, item.lineno, needs=(name,),
                modest=False,
            )  # fmt: skip


def _keys(made: ast.Lambda) -> set[str]:
    names = {arg.arg for arg in made.args.args}
    return {name for name in names if snake(name) == "key" or snake(name).endswith("_key") or is_secret(name)}


def _used(made: ast.Lambda) -> set[str]:
    return {one.id for one in ast.walk(made.body) if isinstance(one, ast.Name)}
