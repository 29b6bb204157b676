"""What comes too late or is left undone, in Python: decoding behind a check, sessions that live on.

Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.python.guards import source
from gate.protections.traits import ENDED, Fact, lapse, trait

_DECODERS: Final = frozenset({
    "unquote", "unquote_plus", "unescape", "b64decode", "urlsafe_b64decode", "normalize", "normpath",
    "expandvars", "expanduser", "unhexlify", "fromhex", "realpath",
})  # fmt: skip
_OVER: Final = (
    "passw", "logout", "log_out", "sign_out", "signout", "reset", "revoke", "deactivat", "disable_user",
    "ban_",
)  # fmt: skip
_OPEN: Final = ("session", "token", "refresh", "remember", "cookie", "store", "login")
_ENDING: Final = (
    "revoke", "invalidate", "end_", "destroy", "flush", "delete", "clear", "logout", "expire", "pop",
    "remove",
    "discard", "terminate", "purge",
)  # fmt: skip
_LINKS: Final = ("reset", "verif", "invit", "confirm", "magic", "activat", "mail", "login_link")
_HOSTS: Final = ("request_host", "host", "get_host", "http_host", "forwarded_host", "host_url", "url_root",
                 "build_absolute_uri", "base_url")  # fmt: skip


def lapse_facts(node: ast.FunctionDef | ast.AsyncFunctionDef, about: str) -> Iterator[Fact]:
    """What one function does too late, and what it ends. ``about``: its folder's and its file's name."""
    yield from _decoded_late(node)
    name = f"{snake(about)} {snake(node.name)}"
    if any(word in name for word in _OVER):
        yield from _ended(node)
    if any(word in snake(node.name) for word in _LINKS):
        yield from _from_host(node)


def _decoded_late(node: ast.AST) -> Iterator[Fact]:
    """``if ".." in name: raise`` and then ``unquote(name)``: the check has looked at another text."""
    checks = [
        one
        for one in ast.walk(node)
        if isinstance(one, ast.If) and any(isinstance(n, ast.Raise | ast.Return) for n in one.body)
    ]
    if not checks:
        return
    for one in ast.walk(node):
        if not isinstance(one, ast.Call) or last_name(one) not in _DECODERS or not one.args:
            continue
        given = one.args[0]
        if not isinstance(given, ast.Name):
            continue
        before = [c for c in checks if (c.end_lineno or c.lineno) < one.lineno]
        if any(given.id in {n.id for n in ast.walk(c.test) if isinstance(n, ast.Name)} for c in before):
            key = f"{last_name(one)} behind the check of what it reads"
            yield lapse("place", key, source(one), one.lineno, needs=(last_name(one),))


def _ended(node: ast.AST) -> Iterator[Fact]:
    for one in ast.walk(node):
        ends = ""
        if isinstance(one, ast.Delete):
            ends = source(one)
        elif isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant) and not one.value.value:
            ends = " ".join(source(target) for target in one.targets)
        elif isinstance(one, ast.Call) and any(word in snake(last_name(one)) for word in _ENDING):
            ends = source(one.func) + "".join(f" {source(arg)}" for arg in one.args[:1])
        kind = next((word for word in _OPEN if word in snake(ends)), "") if ends else ""
        if kind:
            yield trait("authentication", ENDED, source(one), getattr(one, "lineno", 1))


def _from_host(node: ast.AST) -> Iterator[Fact]:
    """``f"https://{request_host}/reset/..."``: whoever sends the request names the server."""
    made = {
        target.id: one.value
        for one in ast.walk(node)
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    for one in ast.walk(node):
        if not isinstance(one, ast.JoinedStr):
            continue
        for at, part in enumerate(one.values):
            before = one.values[at - 1] if at else None
            start = str(before.value) if isinstance(before, ast.Constant) else ""
            if not isinstance(part, ast.FormattedValue) or (at and not start.endswith("://")):
                continue
            value = part.value
            value = made.get(value.id, value) if isinstance(value, ast.Name) else value
            words = {snake(last_name(n)) for n in ast.walk(value) if isinstance(n, ast.Name | ast.Attribute)}
            if words & set(_HOSTS) and "request" in " ".join(words | {snake(source(value))}):
                yield lapse("place", "a link to the host that was asked", source(one), one.lineno)
