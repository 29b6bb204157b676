"""Proofs that prove less: signatures of less or compared in part, makers that leave their key unused.

Python; runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.python.guards import assigned_in, source
from gate.protections.traits import SIGNED, Fact, lapse, trait
from gate.protections.vocabulary import is_body, is_constant_time, is_secret

_MACS: Final = frozenset({"new", "digest", "update", "hmac_digest", "HMAC"})


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


def signed_facts(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Fact]:
    """``hmac.new(key, stamp + b"." + body)``: what was sent is signed, and nothing can take its place."""
    made = assigned_in(node)
    for one in ast.walk(node):
        if not (isinstance(one, ast.Call) and last_name(one) in _MACS and _is_mac(one, made)):
            continue
        words = {word for arg in (*one.args, *(k.value for k in one.keywords)) for word in _words(arg, made)}
        if any(is_body(word) for word in words):
            yield trait("integrity", SIGNED, source(one), one.lineno, of="hmac", form="argument")


def _is_mac(call: ast.Call, made: dict[str, ast.expr]) -> bool:
    of = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    of = made.get(of.id, of) if isinstance(of, ast.Name) else of
    return any(isinstance(one, ast.Name) and one.id.lower() == "hmac" for one in ast.walk(of))


def _words(value: ast.expr, made: dict[str, ast.expr], deep: int = 3) -> Iterator[str]:
    """Names used in it, and in what its names were set to."""
    for one in ast.walk(value):
        if isinstance(one, ast.Name):
            yield one.id
            if deep and one.id in made:
                yield from _words(made[one.id], made, deep - 1)
        elif isinstance(one, ast.Attribute):
            yield one.attr


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
