"""Keys under which answers of checks and counts of attempts are kept, in Python.

Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.python.guards import assigned_in, source
from gate.protections.traits import KEPT, Fact, lapse, trait
from gate.protections.vocabulary import family_of, is_check, is_owner, is_proof

_COUNTS: Final = ("limit", "throttl", "attempt", "tries", "try", "lock", "failure")
_LOOKING: Final = frozenset({"get", "set", "setdefault", "pop", "incr", "hit", "get_or_set", "setex"})
_SENT: Final = frozenset({"headers", "cookies", "args", "query_params", "META", "user_agent"})


def key_facts(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Fact]:
    """What the key of a check's cache is made of, and what a limit's key takes from the request."""
    checks = is_check(node.name) or family_of(node.name) is not None
    counts = any(word in snake(node.name) for word in _COUNTS)
    if not checks and not counts:
        return
    given = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    made = assigned_in(node)
    for holder, key in _kept(node):
        value = made.get(key.id, key) if isinstance(key, ast.Name) else key
        names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} & given
        if checks and not counts and len(given - {"self", "cls"}) > 1:
            for name in sorted(names):
                text = f"{holder}[{source(value)}]"
                yield trait("authorisation", f"{KEPT}{name}", text, node.lineno, of=holder)
        for part in _sent(value) if counts or family_of(node.name) == "rate limit" else ():
            key_text = f"a limit is counted by {source(part)}"
            yield lapse("rate limit", key_text, source(value), value.lineno, needs=(holder,))


def _kept(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What is looked up where: once for each holder and key."""
    seen: set[tuple[str, str]] = set()
    for one in ast.walk(node):
        match one:
            case ast.Subscript(value=of, slice=key) if not isinstance(key, ast.Slice | ast.Constant):
                holder = last_name(of)
            case ast.Call(func=ast.Attribute(attr=name, value=of), args=[key, *_]) if name in _LOOKING:
                holder = last_name(of)
            case _:
                continue
        told = (holder, ast.dump(key))
        if holder and holder not in _SENT and not isinstance(key, ast.Constant) and told not in seen:
            seen.add(told)
            yield holder, key


def _sent(value: ast.expr) -> Iterator[ast.expr]:
    """Parts of a key that whoever sends the request chooses; a proof or an owner's name is none."""
    for one in ast.walk(value):
        match one:
            case ast.Call(func=ast.Attribute(value=of), args=[ast.Constant(value=named), *_]):
                pass
            case ast.Subscript(value=of, slice=ast.Constant(value=named)):
                pass
            case _:
                continue
        name = str(named).lower()
        known = is_proof(name) or is_owner(name) or "forward" in name or "real-ip" in name
        if last_name(of) in _SENT and ("agent" in name or not known):
            yield one
