"""Tables of keys, in Python: whoever knows one of them makes proofs. Runs in the limited child.

An entry that is empty where the environment names no key, or that is written in the source, is a key that
everybody has: whether base had the entry makes no difference.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.conditions import last_name
from gate.protections.python.guards import source
from gate.protections.traits import Fact, lapse
from gate.regex import regex

_RING: Final = regex(
    r"(?:^|_)keys$|key_?ring$|key_fallbacks$|(?:sign|hmac|jwt|session|cookie|old|previous)\w*_secrets$"
)
_CERTAIN: Final = regex(
    r"key_fallbacks$|key_?ring$|(?:signing|hmac|verif\w+|jwt_signing|old_secret|previous_secret)_keys$|_secrets$"
)
"""Names of tables in which any text is a key; ``JWT_KEYS`` may as well name claims."""
_SECRET: Final = regex(r"key|secret|token|hmac|salt")
_KEY: Final = regex(r"(?:^|_)key(?:_|$)|secret|hmac")
"""Names of what signs, among what an environment has."""
_PUBLIC: Final = ("-----BEGIN PUBLIC", "-----BEGIN CERT", "ssh-", "http", "age1", "{{", "<")
_ADDING: Final = frozenset({"append", "add", "update", "extend", "insert", "setdefault"})


def keyring_facts(statement: ast.stmt) -> Iterator[Fact]:
    """Entries of a table of keys that everybody knows."""
    match statement:
        case ast.Assign(targets=[target], value=value):
            yield from _entries(target, value)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.AugAssign(target=target, value=value)
        ):
            yield from _entries(target, value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=of, attr=name)) as call) if name in _ADDING:
            alone = name in ("append", "add", "insert", "setdefault")
            for value in call.args[-1:] if alone else call.args:
                entry = ast.List(elts=[value], ctx=ast.Load()) if alone else value
                yield from _entries(of, entry)


def _entries(target: ast.expr, value: ast.expr) -> Iterator[Fact]:
    single = isinstance(target, ast.Subscript) or not isinstance(
        value, ast.List | ast.Tuple | ast.Dict | ast.DictComp | ast.ListComp | ast.BinOp
    )
    name = last_name(target.value if isinstance(target, ast.Subscript) else target)
    plain = snake(name)
    if not _RING.search(plain):
        return
    for one in [value] if single else _values(value):
        if (isinstance(target, ast.Subscript) or not single) and (text := _known(one, plain)) is not None:
            shown = f"{name}: {text}"
            key = f"{name} has a key that everybody knows"
            yield lapse("authentication", key, shown, one.lineno)


def _values(value: ast.expr) -> Iterator[ast.expr]:
    match value:
        case ast.Dict():
            yield from value.values
        case ast.List() | ast.Tuple():
            for one in value.elts:
                yield from _values(one) if isinstance(one, ast.List | ast.Tuple) else [one]
        case ast.DictComp():
            yield value.value
        case ast.ListComp():
            yield value.elt
        case ast.BinOp():
            yield from _values(value.left)
            yield from _values(value.right)


def _known(value: ast.expr, ring: str) -> str | None:
    """What makes an entry known to everybody; None where nothing does."""
    plain = value
    while isinstance(plain, ast.Call) and isinstance(plain.func, ast.Attribute) and plain.func.attr in (
        "encode", "strip",
    ):  # fmt: skip
        plain = plain.func.value
    if isinstance(plain, ast.Constant) and isinstance(plain.value, str | bytes):
        text = plain.value if isinstance(plain.value, str) else plain.value.decode("latin-1")
        certain = _CERTAIN.search(ring) is not None and not text.startswith(_PUBLIC)
        return "a text of the source" if certain else None
    if isinstance(plain, ast.BoolOp):
        last = plain.values[-1]
        literal = isinstance(last, ast.Constant) and isinstance(last.value, str | bytes)
        return source(plain) if literal and any(_asks(one) for one in plain.values) else None
    for call in ast.walk(plain):
        if isinstance(call, ast.Call) and _asks(call):
            rest = [*call.args[1:], *(k.value for k in call.keywords if k.arg == "default")]
            if any(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in rest):
                return source(call)
    return None


def _asks(value: ast.expr) -> bool:
    """Does it ask the environment for a key?"""
    for call in ast.walk(value):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        of = last_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        called = last_name(call)
        if called in ("getenv", "env", "config") or (
            called in ("get", "pop", "str") and of in ("environ", "env")
        ):
            return _SECRET.search(snake(source(call.args[0]))) is not None
    return False


def empty_key_facts(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Fact]:
    """``[settings["KEY"], settings.get("KEY_BEFORE", "")]`` in a function, whose entries nobody filters."""
    tests = [
        test for one in ast.walk(node) if isinstance(one, ast.comprehension) for test in (*one.ifs, None)
    ]
    called = {last_name(one) for one in ast.walk(node) if isinstance(one, ast.Call)}
    if any(tests) or "filter" in called:
        return
    asked = {ast.unparse(one.test) for one in ast.walk(node) if isinstance(one, ast.If | ast.IfExp)}
    for ring in ast.walk(node):
        if not isinstance(ring, ast.List | ast.Tuple | ast.Set) or not 1 < len(ring.elts) < 20:
            continue
        for one in ring.elts:
            name = _unset(one)
            if name and not any(name in test for test in asked):
                shown = source(one)
                yield lapse("authentication", "a key that may be empty", shown, one.lineno, anew=True)


def _unset(value: ast.expr) -> str:
    """The name of a key that is an empty text where it is not set."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and not value.args:
        value = value.func.value
    match value:
        case ast.Call(args=[ast.Constant(value=str() as name), ast.Constant(value="" | b"")]):
            asks = last_name(value) in ("get", "getenv", "env", "pop")
            return name if asks and _KEY.search(snake(name)) else ""
        case ast.BoolOp(op=ast.Or(), values=[ast.Call(args=[ast.Constant(value=str() as name)]), last]):
            empty = isinstance(last, ast.Constant) and last.value in ("", b"")
            return name if empty and _KEY.search(snake(name)) else ""
    return ""
