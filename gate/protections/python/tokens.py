"""Proofs of who somebody is that prove nothing, in Python. Runs in the limited child.

A token that is decoded and never verified, a key that the token itself brings, a password of the program's
own, a check whose answer is kept under a part of the proof. All of them are told where they are new, whatever
stood there before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.python.guards import source
from gate.protections.traits import Fact, lapse
from gate.protections.vocabulary import (
    BROUGHT_KEYS,
    is_constant_time,
    is_granting,
    is_owner,
    is_proof,
    is_verifier,
)

_DECODERS: Final = frozenset({"b64decode", "urlsafe_b64decode", "base64url_decode", "standard_b64decode"})
_WHO: Final = frozenset(
    {"sub", "acc", "uid", "email", "username", "login", "scope", "scopes", "groups", "admin"}
)
_HEX: Final = frozenset("0123456789abcdef")
_SHORTEST: Final = 32
_KEEPING: Final = frozenset({"get", "setdefault", "pop", "set", "get_or_set", "setex"})


def token_facts(node: ast.FunctionDef | ast.AsyncFunctionDef, digests: frozenset[str]) -> Iterator[Fact]:
    """What a function takes for a proof that is none. ``digests``: constants of the module (digests_in)."""
    yield from _unverified(node)
    given = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    for one in ast.walk(node):
        yield from _own_password(one, digests)
        yield from _brought_key(one)
        yield from _part_as_key(one, given)


def _unverified(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Fact]:
    """``json.loads(urlsafe_b64decode(part))["sub"]``, and nothing in the function verifies anything."""
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    names = {last_name(one) for one in calls}
    if "loads" not in names or names.isdisjoint(_DECODERS) or any(map(is_verifier, names)):
        return
    if not any(last_name(of) == "loads" and _has_decoder(of, node) for of in calls):
        return
    who = next((one for one in ast.walk(node) if _says_who(one)), None)
    if who is not None:
        line = getattr(who, "lineno", node.lineno)
        yield lapse("authentication", "decoded, never verified", source(who), line, anew=True)


def _has_decoder(loads: ast.Call, node: ast.AST) -> bool:
    names = {one.id for arg in loads.args for one in ast.walk(arg) if isinstance(one, ast.Name)}
    inside = [
        one.value
        for one in ast.walk(node)
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and one.targets[0].id in names
    ]
    return any(
        isinstance(one, ast.Call) and last_name(one) in _DECODERS
        for part in (*loads.args, *inside)
        for one in ast.walk(part)
    )


def _says_who(node: ast.AST) -> bool:
    name = _read_key(node)
    return name is not None and (name in _WHO or is_owner(name) or is_granting(name))


def _read_key(node: ast.AST) -> str | None:
    """``found["sub"]`` and ``found.get("sub")``, read."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Load()):
            return name
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            return name
    return None


def _brought_key(node: ast.AST) -> Iterator[Fact]:
    """``header["jwk"]``: the key of whoever wrote the token."""
    if _read_key(node) in BROUGHT_KEYS and "header" in source(node).lower():
        line = getattr(node, "lineno", 1)
        yield lapse("authentication", "the token brings its own key", source(node), line, anew=True)


def digests_in(body: Iterable[ast.stmt]) -> frozenset[str]:
    """Names of a module's constants that are digests written in the source."""
    return frozenset(
        one.targets[0].id
        for one in body
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and _is_digest(one.value)
    )


def _own_password(node: ast.AST, digests: frozenset[str]) -> Iterator[Fact]:
    """``compare_digest(sha256(given).hexdigest(), "5e88…")``: who knows that one word is let in."""
    sides: list[ast.expr] = []
    if isinstance(node, ast.Call) and is_constant_time(last_name(node)):
        sides = node.args[:2]
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        sides = [node.left, node.comparators[0]]
        if not any(isinstance(s, ast.Call) and last_name(s) in ("hexdigest", "digest") for s in sides):
            return
    if any(_is_digest(side) or (isinstance(side, ast.Name) and side.id in digests) for side in sides):
        line = getattr(node, "lineno", 1)
        yield lapse("authentication", "a secret that stands in the source", source(node), line, anew=True)


def _is_digest(side: ast.expr) -> bool:
    if isinstance(side, ast.Call) and last_name(side) in ("fromhex", "unhexlify") and len(side.args) == 1:
        side = side.args[0]
    text = side.value if isinstance(side, ast.Constant) else None
    text = text.decode("ascii", "replace") if isinstance(text, bytes) else text
    return isinstance(text, str) and len(text) >= _SHORTEST and _HEX.issuperset(text.lower())


def _part_as_key(node: ast.AST, given: set[str]) -> Iterator[Fact]:
    """``kept.get(token[:32])``: all tokens that begin alike have one answer."""
    match node:
        case ast.Subscript(value=of, slice=key):
            pass
        case ast.Call(func=ast.Attribute(attr=name, value=of), args=[key, *_]) if name in _KEEPING:
            pass
        case _:
            return
    if isinstance(of, ast.Subscript) or not isinstance(key, ast.Subscript):
        return
    if (
        isinstance(key.slice, ast.Slice)
        and isinstance(key.value, ast.Name)
        and _is_proof(key.value.id, given)
    ):
        text = f"{source(of)}[{source(key)}]"
        yield lapse("authentication", "kept by a part of the proof", text, node.lineno, anew=True)


def _is_proof(name: str, given: set[str]) -> bool:
    return is_proof(snake(name)) or (name in given and "token" in name.lower())
