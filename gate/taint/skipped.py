"""Checks of a signature or a secret that are only made where the sender gave one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.regex import regex
from gate.taint.names import ENDS
from gate.taint.program import Node
from gate.taint.values import Atom, Value

if TYPE_CHECKING:
    from gate.taint.expressions import Expressions

_SECRET: Final = regex(
    r"signature|(?:^|[^a-z])sig(?:$|[^a-z])|hmac|verif|digest|csrf|xsrf|(?:^|[^a-z])mac(?:$|[^a-z])"
    r"|timing_?safe|hash_?equals|secure_?compare|constant_?time|fixed_?time|api_?key|secret",
    re.IGNORECASE,
)
_SIGNED: Final = regex(r"signature|hmac|(?:^|[^a-z])sig(?:$|[^a-z])", re.IGNORECASE)
_EMPTY: Final = frozenset({"", "null", "nil", "undefined", "None"})
_ABSENT: Final = frozenset({"isempty", "isblank", "isnullorempty", "isnullorwhitespace", "empty",
                            "empty?", "nil?", "blank?", "is_null"})  # fmt: skip
_PRESENT: Final = frozenset({"isset", "present?", "hastext", "haslength", "isnotempty", "isnotblank"})
_DIFFERS: Final = frozenset({"!=", "!==", "<>"})


def skipped(walk: Expressions, node: Node) -> Value | None:
    """What a request may leave away so that ``if (given && !valid(given)) refuse`` refuses nothing; None
    where the condition is no such check, or where what is missing is refused before or beside it.
    """
    test, then, other = node.parts
    if other.parts and _ends(other):
        return None
    waved = _waved(walk, test, then)
    if waved is not None:
        return waved
    parts = list(_both(test))
    if len(parts) == 1 and _is_asked(parts[0]) is not None:
        inner = _only(then)
        if inner is None or inner.kind != "if" or (inner.parts[2].parts and not other.parts):
            return None
        parts, then = [*parts, *_both(inner.parts[0])], inner.parts[1]
    if len(parts) < 2 or not _ends(then):
        return None
    asked, *checks = parts
    given = _is_asked(asked)
    if given is None:
        return None
    value = walk.quiet(given)
    atoms = {atom for atom in value.whole() if atom[0] == "s" and atom not in walk.present}
    for check in checks:
        refused = _refused(check)
        words = " ".join([*_words(given), *(_words(refused) if refused is not None else ()), *_texts(atoms)])
        if refused is None or not _SECRET.search(words):
            continue
        used = {atom for part in refused.parts for atom in walk.quiet(part).whole()}
        if atoms & used:
            return Value({atom: tags for atom, tags in value.whole().items() if atom in atoms})
    return None


def _waved(walk: Expressions, test: Node, then: Node) -> Value | None:
    """``if (!signature) return next()``: a middleware that hands on what has no signature."""
    given = test.parts[0] if test.kind == "not" else _absent(test)
    step = _only(then)
    call = step.parts[0] if step is not None and step.kind == "return" and step.parts else None
    if given is None or call is None or call.kind != "call" or call.parts[0].text != "next":
        return None
    if len(call.parts) > 1 or given.kind not in ("name", "member", "index", "call"):
        return None
    value = walk.quiet(given)
    atoms = {atom: tags for atom, tags in value.whole().items() if atom[0] == "s"}
    words = " ".join([*_words(given), *_texts(set(atoms)), value.path])
    return Value(atoms) if atoms and _SIGNED.search(words) else None


def refuses_absent(walk: Expressions, node: Node) -> set[Atom]:
    """What is there for certain behind this ``if``, because its absence ends the way."""
    test, then, _ = node.parts
    found: set[Atom] = set()
    if not _ends(then):
        return found
    for part in _either(test):
        absent = part.parts[0] if part.kind == "not" else _absent(part)
        if absent is not None and absent.kind in ("name", "member", "index", "call"):
            found |= set(walk.quiet(_is_asked(absent) or absent).whole())
    return found


def _is_asked(node: Node) -> Node | None:
    """Of a condition that something is there, what."""
    if node.kind in ("name", "member", "index"):
        return node
    if node.kind == "test" and node.text in _DIFFERS and _is_empty(node.parts[-1]):
        return node.parts[0]
    if node.kind == "not":
        return _absent(node.parts[0])
    if node.kind == "call" and (node.parts[0].text if node.parts else "").lower() in _PRESENT:
        return _subject(node)
    return None


def _absent(node: Node) -> Node | None:
    if node.kind == "test" and node.text in ("==", "===") and _is_empty(node.parts[-1]):
        return node.parts[0]
    if node.kind == "call" and (node.parts[0].text if node.parts else "").lower() in _ABSENT:
        return _subject(node)
    return None


def _subject(call: Node) -> Node | None:
    callee = call.parts[0]
    return call.parts[1] if len(call.parts) > 1 else (callee.parts[0] if callee.parts else None)


def _refused(node: Node) -> Node | None:
    """Of a condition that a check fails, the check."""
    if node.kind == "not" and node.parts[0].kind in ("call", "test"):
        return node.parts[0]
    if node.kind == "test" and node.text in _DIFFERS and not _is_empty(node.parts[-1]):
        return node
    if node.kind == "test" and node.text in ("==", "===") and node.parts[-1].text in ("false", "0"):
        return node.parts[0]
    return None


def _is_empty(node: Node) -> bool:
    return node.kind in ("const", "name") and node.text.strip("'\"`") in _EMPTY


def _both(node: Node) -> Iterator[Node]:
    for part in node.parts if node.kind == "and" else ():
        yield from _both(part)
    if node.kind != "and":
        yield node


def _either(node: Node) -> Iterator[Node]:
    for part in node.parts if node.kind == "or" else ():
        yield from _either(part)
    if node.kind != "or":
        yield node


def _only(node: Node) -> Node | None:
    while node.kind == "block" and len(node.parts) == 1:
        node = node.parts[0]
    return node if node.kind != "block" else None


def _ends(node: Node) -> bool:
    while node.kind == "block" and node.parts:
        node = node.parts[-1]
    name = node.parts[0].text.lower() if node.kind == "call" and node.parts else ""
    return node.kind in ("return", "throw") or name in ENDS or name == "halt"


def _words(node: Node) -> Iterator[str]:
    yield node.text
    for part in node.parts:
        yield from _words(part)


def _texts(atoms: set[Atom]) -> Iterator[str]:
    for atom in atoms:
        yield atom[3]
