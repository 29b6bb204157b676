"""A password is stored as it was typed.

Whoever gets the database, a backup of it or one row has everybody's password.

Store what a password hash gives: argon2, scrypt, bcrypt or PBKDF2.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

_NAME = regex(r"^(?:new_?)?(?:user_?)?(?:password|passwd|pwd)$", re.IGNORECASE)
_WRITES = regex(r"^\s*(?:insert\s+into|replace\s+into|update\b.*\bset\b.*passw)", re.IGNORECASE | re.DOTALL)
_HASHES = regex(r"hash|crypt|derive|digest|pbkdf|argon|scrypt|encode_password|make_password|hexdigest")


@rule(
    "py.password-stored",
    "Password stored as it is",
    severity="medium",
    confidence="medium",
    topic="crypto",
    cwe=(256, 522, 312),
    why="Whoever reads the database has every user's password.",
    fix="Store the result of argon2, scrypt, bcrypt or PBKDF2 with a salt of its own.",
)
def check(module: Module) -> Iterator[Hit]:
    """INSERT and UPDATE whose parameters hold a password that no hash function saw."""
    flow = Flow(module)
    for call in module.methods("execute"):
        query = module.text_of(call.args[0]) if call.args else None
        if query is None or len(call.args) < 2 or not _WRITES.match(query):
            continue
        if any(_plain(module, flow, value) for value in _values(call.args[1])):
            yield Hit(node=call, message="A password is stored as it is.")


def _values(given: ast.expr) -> list[ast.expr]:
    if isinstance(given, ast.Tuple | ast.List):
        return given.elts
    return given.values if isinstance(given, ast.Dict) else []


def _plain(module: Module, flow: Flow, value: ast.expr) -> bool:
    match value:
        case ast.Name():
            name = value.id
        case ast.Attribute():
            name = value.attr
        case ast.Subscript():
            name = module.text_of(value.slice) or ""
        case _:
            return False
    return bool(_NAME.match(name)) and not any(_HASHES.search(c) for c in flow.trace(value).calls)
