"""Entries of constants and objects that decide who may set or see what, in Python. Runs in the child."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.python.guards import source
from gate.protections.traits import HIDDEN, LAST, Fact, lapse, trait
from gate.protections.vocabulary import family_of, is_editable, is_granting, is_hiding, is_owner, is_secret

_POWERFUL: Final = frozenset(
    {"admin", "administrator", "owner", "root", "superuser", "super_admin", "sysadmin"}
)
_FIXED: Final = ("default", "fixed", "base", "common", "server", "claims", "state", "row", "record")
"""Names of what no request sends."""
_WRAPS: Final = ("frozenset", "set", "tuple", "list", "MappingProxyType", "dict")


def constant_facts(statement: ast.stmt) -> Iterator[Fact]:
    """``EDITABLE = ("name", "role")``, ``HIDDEN = {"authorization"}``, ``ROLES = {"partner": "admin"}``."""
    name, value = _set(statement)
    if not name or value is None:
        return
    if isinstance(value, ast.Call) and last_name(value) in _WRAPS and value.args:
        value = value.args[0]
    entries = [*_texts(value)]
    if is_editable(name):
        for text, node in entries:
            if is_granting(text):
                key = f"{name} may set {text}"
                yield lapse("authorisation", key, f"{name}: {text}", node.lineno, needs=(name,))
    elif is_hiding(name):
        for text, node in entries:
            if is_secret(text):
                atom = f"{HIDDEN}{snake(text)}"
                yield trait("setting", atom, f"{name}: {text}", node.lineno, of=name)
    elif isinstance(value, ast.Dict) and family_of(name) == "authorisation":
        yield from _powers(name, value)


def _powers(name: str, value: ast.Dict) -> Iterator[Fact]:
    """Entries of a table of roles that make an administrator of something."""
    for key, item in zip(value.keys, value.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(item, ast.Constant):
            continue
        word = snake(str(item.value))
        if word in _POWERFUL and word != snake(str(key.value)):
            text = f"{name}: {key.value!s} is {item.value!s}"
            yield lapse("authorisation", text, text, item.lineno, needs=(name,))


def object_facts(node: ast.AST) -> Iterator[Fact]:
    """``{**sent, "owner": user.id}`` sets the owner whatever was sent; the other order lets it be sent."""
    for one in ast.walk(node):
        if not isinstance(one, ast.Dict) or None not in one.keys:
            continue
        last = max(at for at, key in enumerate(one.keys) if key is None)
        spread = {last_name(v).lower() for k, v in zip(one.keys, one.values, strict=True) if k is None}
        if all(any(word in name for word in _FIXED) for name in spread):
            continue
        for at, key in enumerate(one.keys):
            name = str(key.value) if isinstance(key, ast.Constant) else ""
            if not name or isinstance(one.values[at], ast.Constant) or not _is_fixed(name):
                continue
            if at > last:
                yield trait("authorisation", f"{LAST}{name}", source(one), one.lineno, of="\0")
            else:
                key_text = f"what is sent sets {name}"
                needs = (f"{LAST}{name}",)
                yield lapse("authorisation", key_text, source(one), one.lineno, needs=needs)


def _is_fixed(name: str) -> bool:
    return is_owner(name) or is_granting(name)


def _set(statement: ast.stmt) -> tuple[str, ast.expr | None]:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return name, value
    return "", None


def _texts(value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    many = value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else []
    many = [key for key in value.keys if key is not None] if isinstance(value, ast.Dict) else many
    for item in many:
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            yield item.value, item
