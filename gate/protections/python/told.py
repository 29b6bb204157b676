"""Settings and calls of Python whose value says what they still protect, each by its name.

What new passwords are made with, what an audit's log takes, which origins a pattern lets in, how long the
database keeps whose rows are shown. Runs in the limited child.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gate.languages.naming import snake
from gate.protections.audits import audit_strength, is_audit
from gate.protections.conditions import last_name
from gate.protections.facts import Strength
from gate.protections.origins import is_origins, origin_strength
from gate.protections.python.guards import source
from gate.protections.row_settings import row_strengths
from gate.protections.strengths import kept, random_strength

Constants = Mapping[str, ast.expr]
_HASHERS: Final = "what new passwords are made with"
_FAST: Final = ("md5", "sha1", "unsalted", "plain", "crypt_password", "des_crypt", "lmhash", "nthash", "hex_")
_SLOW: Final = ("argon2", "bcrypt", "scrypt", "pbkdf2")
_DRAWN: Final = frozenset({"choice", "choices"})
_CLASSES: Final = {
    "digits": 10, "ascii_letters": 52, "ascii_lowercase": 26, "ascii_uppercase": 26, "hexdigits": 16,
}  # fmt: skip
_MOST: Final = 10**30


def told_in(nodes: Iterable[ast.AST], known: Constants) -> Iterator[Strength]:
    """Such values below some nodes. ``known``: names of the file that are assigned once."""
    for top in nodes:
        for node in ast.walk(top):
            yield from _of_node(node, known)


def _of_node(node: ast.AST, known: Constants) -> Iterator[Strength]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield from _set(name, value)
        case ast.Dict():
            yield from _audits(node)
        case ast.Call():
            for keyword in node.keywords:
                if keyword.arg:
                    yield from _set(keyword.arg, keyword.value)
            yield from _drawn(node, known)
            yield from _levelled(node)
        case ast.Constant(value=str() as text):
            yield from row_strengths(text, node.lineno)


def _set(name: str, value: ast.expr) -> Iterator[Strength]:
    if is_origins(name):
        texts = [n.value for n in ast.walk(value) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        yield from origin_strength(name, texts, value.lineno)
    elif snake(name) in ("password_hashers", "schemes"):
        first = value.elts[0] if isinstance(value, ast.List | ast.Tuple) and value.elts else None
        word = snake(str(first.value).rpartition(".")[2]) if isinstance(first, ast.Constant) else ""
        fast, slow = any(one in word for one in _FAST), any(one in word for one in _SLOW)
        if first is not None and (fast or slow) and not (slow and "sha1" in word):
            yield kept(_HASHERS, not fast, source(first), first.lineno)


def _audits(node: ast.Dict) -> Iterator[Strength]:
    """``"shop.audit": {"handlers": ["audit"], "level": "INFO"}``."""
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(value, ast.Dict) and is_audit(str(key.value)):
            said = {
                str(k.value): v.value
                for k, v in zip(value.keys, value.values, strict=True)
                if isinstance(k, ast.Constant) and isinstance(v, ast.Constant)
            }
            if "level" in said:
                yield audit_strength(str(key.value), str(said["level"]), source(value), value.lineno)


def _levelled(call: ast.Call) -> Iterator[Strength]:
    """``audit.setLevel(logging.ERROR)``."""
    if last_name(call) == "setLevel" and len(call.args) == 1 and isinstance(call.func, ast.Attribute):
        of, level = call.func.value, call.args[0]
        word = str(level.value) if isinstance(level, ast.Constant) else last_name(level)
        if is_audit(source(of)):
            yield audit_strength(source(of), word, source(call), call.lineno)


def _drawn(call: ast.Call, known: Constants) -> Iterator[Strength]:
    """``"".join(secrets.choice(DIGITS) for _ in range(6))``, ``secrets.randbelow(10**6)``."""
    if last_name(call) == "randbelow" and len(call.args) == 1:
        many = _number(call.args[0], known)
        if many and many > 1:
            yield random_strength(math.log2(many), source(call), call.lineno)
    elif last_name(call) == "join" and len(call.args) == 1:
        made = call.args[0]
        if not isinstance(made, ast.GeneratorExp | ast.ListComp) or len(made.generators) != 1:
            return
        turns, inner = made.generators[0].iter, made.elt
        if not (
            isinstance(inner, ast.Call)
            and last_name(inner) in _DRAWN
            and source(inner.func)[:8] == "secrets."
        ):
            return
        letters = _letters(inner.args[0], known) if inner.args else 0
        is_range = isinstance(turns, ast.Call) and last_name(turns) == "range" and len(turns.args) == 1
        length = _number(turns.args[0], known) if is_range and isinstance(turns, ast.Call) else None
        if letters > 1 and length and length > 0:
            yield random_strength(math.log2(letters) * length, source(call), call.lineno)


def _number(expr: ast.expr, known: Constants) -> float | None:
    match expr:
        case ast.Constant(value=int() as number):
            return float(number) if number < _MOST else None
        case ast.Name(id=name) if name in known and not isinstance(known[name], ast.Name):
            return _number(known[name], known)
        case ast.BinOp(
            left=ast.Constant(value=int() as a), op=ast.Pow(), right=ast.Constant(value=int() as b)
        ):
            return float(a**b) if 0 < a <= 100 and 0 <= b <= 12 else None
    return None


def _letters(expr: ast.expr, known: Constants) -> int:
    """How many different letters a text of the source has; 0 where nobody can say."""
    match expr:
        case ast.Constant(value=str() as text):
            return len({*text})
        case ast.Name(id=name) if name in known and not isinstance(known[name], ast.Name):
            return _letters(known[name], known)
        case ast.Attribute(attr=attr) | ast.Name(id=attr):
            return _CLASSES.get(attr, 0)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            both = _letters(left, known), _letters(right, known)
            return sum(both) if all(both) else 0
    return 0
