"""Options whose value decides, in Python: arguments, keys of dictionaries, assignments, addresses, patterns.

Runs in the limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gate.protections.conditions import last_name
from gate.protections.facts import Strength
from gate.protections.options import left_out, option_of, option_strength, parameters_of
from gate.protections.python.guards import source

_DEPTH: Final = 6
_GUARDED: Final = frozenset(
    {"algorithms", "autoescape", "httponly", "secure", "samesite", "audience", "issuer"}
)
"""Arguments that guards.py reads: their loss is told there."""
_MATCHING: Final = frozenset({"fullmatch", "match", "search"})
_SEALING: Final = frozenset({"encrypt", "decrypt"})
_LINES: Final = frozenset({"M", "MULTILINE"})
_VERBOSE: Final = frozenset({"X", "VERBOSE"})

Constants = Mapping[str, ast.expr]


def options_in(nodes: Iterable[ast.AST], known: Constants) -> Iterator[Strength]:
    """The options below some nodes. ``known``: names of the file that are assigned once."""
    for top in nodes:
        for node in ast.walk(top):
            yield from _of_node(node, known)


def _of_node(node: ast.AST, known: Constants) -> Iterator[Strength]:
    match node:
        case ast.Assign(targets=[target], value=value):
            yield from _named(_target(target), value, node, known)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _named(_target(target), value, node, known)
        case ast.Dict():
            yield from _entries(node, known)
        case ast.Call():
            yield from _called(node, known)
        case ast.If(test=test) | ast.Assert(test=test):
            yield from _matched(test, known)
        case ast.Return(value=ast.expr() as value):
            yield from _matched(value, known)
        case ast.Constant(value=str() as text) if "://" in text:
            yield from parameters_of(text, node.lineno)


def _target(target: ast.expr) -> str:
    if isinstance(target, ast.Subscript):
        key = target.slice
        return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
    return last_name(target)


def _named(name: str, value: ast.expr, node: ast.AST, known: Constants) -> Iterator[Strength]:
    if not name or option_of(name) is None:
        return
    text = source(node) if not isinstance(node, ast.expr) else f"{name}: {source(node)}"
    made = option_strength(name, _values(value, known), text, getattr(node, "lineno", 1))
    if made is not None:
        yield made


def _entries(node: ast.Dict, known: Constants) -> Iterator[Strength]:
    names: list[str] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            names.append(key.value)
            yield from _named(key.value, value, value, known)
    if len(names) == len(node.keys):
        yield from left_out(names, node.lineno)


def _called(call: ast.Call, known: Constants) -> Iterator[Strength]:
    for keyword in call.keywords:
        if keyword.arg and keyword.arg not in _GUARDED:
            yield from _named(keyword.arg, keyword.value, keyword, known)
    name = last_name(call)
    if len(call.args) == 2 and isinstance(call.args[0], ast.Constant):  # setattr-like, setFeature
        yield from _named(str(call.args[0].value), call.args[1], call.args[1], known)
    elif len(call.args) == 2 and isinstance(call.args[0], ast.Attribute):  # ldap.set_option
        if name in ("set_option", "setOption"):
            yield from _named(call.args[0].attr, call.args[1], call, known)
    elif len(call.args) == 1 and name.lower().startswith("set"):
        yield from _named(name[3:].strip("_"), call.args[0], call.args[0], known)
    elif len(call.args) == 3 and name in _SEALING and isinstance(call.func, ast.Attribute):
        made = option_strength("associated data", _values(call.args[2], known), source(call), call.lineno)
        if made is not None:
            yield made


def _values(value: ast.expr, known: Constants, depth: int = 0) -> list[str] | None:
    """The values that are written: one, or those of a list; None where nobody can say."""
    if depth > _DEPTH:
        return None
    match value:
        case ast.Constant(value=bytes() as raw):
            return [raw.decode("latin-1")]
        case ast.Constant():
            return [str(value.value)]
        case ast.List() | ast.Tuple() | ast.Set():
            found = [_values(one, known, depth + 1) for one in value.elts]
            return None if None in found else [text for one in found if one is not None for text in one]
        case ast.Call(args=[inner]) if last_name(value) in ("frozenset", "set", "tuple", "list"):
            return _values(inner, known, depth + 1)
        case ast.Name() if value.id in known:
            return _values(known[value.id], known, depth + 1)
        case ast.Attribute():
            return [value.attr]
        case ast.Name() if value.id[:1].isupper():  # an imported class, as SafeLoader
            return [value.id]
    return None


def _matched(test: ast.expr, known: Constants) -> Iterator[Strength]:
    """``if not ALLOWED.fullmatch(name): raise``: is all of a text looked at, or only some line of it?"""
    for call in ast.walk(test):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
            continue
        method, of = call.func.attr, call.func.value
        if method not in _MATCHING:
            continue
        flags: list[ast.expr] = []
        pattern: ast.expr = of
        if last_name(of) in ("re", "regex") and len(call.args) > 1:
            pattern, flags = call.args[0], [*call.args[2:], *(k.value for k in call.keywords)]
        for _ in range(2):
            if isinstance(pattern, ast.Name | ast.Attribute) and last_name(pattern) in known:
                pattern = known[last_name(pattern)]
        if isinstance(pattern, ast.Call) and last_name(pattern) == "compile" and pattern.args:
            flags += [*pattern.args[1:], *(k.value for k in pattern.keywords)]
            pattern = pattern.args[0]
        text = pattern.value if isinstance(pattern, ast.Constant) else None
        if method != "fullmatch" and not isinstance(text, str):
            continue
        whole = method == "fullmatch" or _is_anchored(
            str(text), method, {last_name(n) for f in flags for n in ast.walk(f)}
        )
        made = option_strength("whole match", ["whole" if whole else "part"], source(call), call.lineno)
        if made is not None:
            yield made


def _is_anchored(text: str, method: str, flags: set[str]) -> bool:
    """Does a pattern begin and end where the text does? ``^`` and ``$`` are those of lines with MULTILINE."""
    head = text.partition(")")[0] if text.startswith("(?") else ""
    lines = bool(flags & _LINES) or "m" in head.lstrip("(?")[:6]
    if flags & _VERBOSE:
        text = "".join(line.partition("#")[0].strip() for line in text.splitlines())
    text = text.removeprefix(f"{head})") if head else text
    begins = method == "match" or text.startswith("\\A") or (text.startswith("^") and not lines)
    return begins and (text.endswith(("\\Z", "\\z")) or (text.endswith("$") and not lines))
