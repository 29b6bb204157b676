"""Mappings by ``id()`` that outlive what they hold, answers kept for everybody, names that are taken.

Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import walk
from gate.prescreen.meanings.facts import Meaning
from gate.protections.tree_sitter.shapes import line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_BUILTINS: Final = frozenset({
    "isinstance", "issubclass", "len", "any", "all", "min", "max", "sum", "sorted", "abs", "hasattr",
    "callable", "int", "bool", "hash", "set", "frozenset", "eval", "exec", "compile", "open", "getattr",
})  # fmt: skip
_REQUESTS: Final = {
    "flask": ("request", "session", "g"), "quart": ("request", "session", "g"), "bottle": ("request",),
    "flask_login": ("current_user",), "flask_jwt_extended": ("get_jwt_identity", "current_user", "get_jwt"),
    "flask_security": ("current_user",), "crum": ("get_current_user", "get_current_request"),
    "starlette_context": ("context",), "sanic": ("request",),
}  # fmt: skip
_CURRENT: Final = regex(
    r"^(?:get_)?current_(?:user|request|tenant|account|org|organi[sz]ation|session|member)$"
)
_PER_CALL: Final = regex(r"^(?:contextvars\.)?ContextVar\(|^(?:threading\.)?local\(\)$")
_MEMO: Final = regex(
    r"^@(?:functools\.)?(?:lru_cache|cache|memoi[sz]ed?)(?:\(|$)|^@(?:cachetools\.(?:func\.)?)?(?:cached|\w+_cache)\("
)
_OUTLIVES: Final = regex(r"^(?:self|cls)\.\w+$")
_PATCHED: Final = regex(
    r"^(?:builtins\.\w+|hmac\.(?:compare_digest|digest|new)|secrets\.\w+|hashlib\.\w+|uuid\.uuid4|time\.(?:time|time_ns)"
    r"|random\.(?:SystemRandom|random|randint|choice)|jwt\.decode|bcrypt\.checkpw|os\.urandom)$"
)
_ID: Final = regex(r"^id\((\w+)\)$")
_EMPTY: Final = regex(
    r"^(?:\{\}|dict\(\)|(?:collections\.)?(?:OrderedDict|defaultdict)\(.*\)|LRU\w*\(.*\)|TTLCache\(.*\))$"
)


def meanings(root: Node) -> Iterator[Meaning]:
    """Of one module."""
    functions = [node for node in walk(root, frozenset()) if node.type == "function_definition"]
    kept = _kept_mappings(root)
    whole = text_of(root)
    for function in functions:
        yield from _identities(function, kept, whole)
    yield from _answers(root, functions)
    for node in walk(root, frozenset()):
        left = text_of(node.child_by_field_name("left")) if node.type == "assignment" else ""
        if _PATCHED.match(left):
            yield Meaning("name", left, line_of(node), "replaced for the whole program", uses=1)
    yield from _names(root)


def _kept_mappings(root: Node) -> set[str]:
    """Mappings of the module that begin empty."""
    found = set()
    for statement in root.named_children:
        for one in statement.named_children:
            if one.type == "assignment":
                value = text_of(one.child_by_field_name("right"))
                if _EMPTY.match(value):
                    found.add(text_of(one.child_by_field_name("left")))
    return found


def _identities(function: Node, kept: set[str], whole: str) -> Iterator[Meaning]:
    """A value that is stored under ``id(x)`` and handed out by it, while nothing keeps ``x`` alive."""
    body = function.child_by_field_name("body")
    nodes = [*walk(body, frozenset({"class_definition"}))] if body is not None else []
    keys: dict[str, str] = {}
    for node in nodes:
        if node.type == "assignment" and (match := _ID.match(text_of(node.child_by_field_name("right")))):
            keys[text_of(node.child_by_field_name("left"))] = match[1]
    for node in nodes:
        mapping, key, value, stored = _stored(node)
        match = _ID.match(key)
        of = match[1] if match else keys.get(key, "")
        if not of or not (mapping in kept or _OUTLIVES.match(mapping)):
            continue
        if re.search(rf"\b{re.escape(of)}\b(?!\s*[.\[])", _without_calls(value)) or not _is_given(
            function, of
        ):
            continue
        read = stored is None or _is_read(nodes, mapping, key, stored) or _is_read_elsewhere(whole, mapping)
        if read and not _is_let_go(whole, mapping):
            yield Meaning("identity", mapping, line_of(node), f"{mapping}[{key}] for {of}")
            return


def _stored(node: Node) -> tuple[str, str, str, Node | None]:
    """Mapping, key and value of ``m[k] = v``, with what stands at its left, and of ``m.setdefault(k, v)``."""
    left = node.child_by_field_name("left") if node.type == "assignment" else None
    if left is not None and left.type == "subscript":
        mapping, key = left.child_by_field_name("value"), left.child_by_field_name("subscript")
        return text_of(mapping), text_of(key), text_of(node.child_by_field_name("right")), left
    called = text_of(node.child_by_field_name("function")) if node.type == "call" else ""
    given = node.child_by_field_name("arguments")
    if called.endswith(".setdefault") and given is not None and given.named_child_count == 2:
        key, value = given.named_children
        return called.removesuffix(".setdefault"), text_of(key), text_of(value), None
    return "", "", "", None


@lru_cache(maxsize=64)
def _is_read_elsewhere(whole: str, mapping: str) -> bool:
    """Is it handed out by the address of another method's argument?"""
    name = re.escape(mapping)
    return bool(re.search(rf"{name}\.get\(id\(|{name}\[id\(\w+\)\](?!\s*=[^=])", whole))


def _without_calls(text: str) -> str:
    """The value without what it gives to calls: ``work(x)`` keeps nothing of ``x``, ``(x, work())`` does."""
    return re.sub(r"(?<=[\w\]])\([^()]*\)", "()", text)


def _is_given(function: Node, name: str) -> bool:
    return bool(re.search(rf"\b{re.escape(name)}\b", text_of(function.child_by_field_name("parameters"))))


def _is_read(nodes: list[Node], mapping: str, key: str, stored: Node) -> bool:
    for node in nodes:
        if node.type == "subscript" and node != stored and text_of(node) == f"{mapping}[{key}]":
            return True
        if node.type == "call" and text_of(node.child_by_field_name("function")) == f"{mapping}.get":
            return True
    return False


@lru_cache(maxsize=64)
def _is_let_go(whole: str, mapping: str) -> bool:
    """Is an entry taken out when what it belongs to ends?"""
    if re.search(r"\bweakref\b|\bfinalize\(|__del__", whole):
        return True
    return bool(re.search(rf"{re.escape(mapping)}\.pop\(|del {re.escape(mapping)}\[(?!next\()", whole))


def _answers(root: Node, functions: list[Node]) -> Iterator[Meaning]:
    """Functions whose answers are kept for all, and that read who asks elsewhere than in arguments."""
    names: set[str] = set()
    for node in walk(root, frozenset({"function_definition"})):
        if node.type == "assignment" and _PER_CALL.match(text_of(node.child_by_field_name("right"))):
            names.add(text_of(node.child_by_field_name("left")))
        elif node.type == "import_from_statement":
            brought = (one.child_by_field_name("alias") or one for one in node.named_children[1:])
            names |= {text_of(one) for one in brought if _CURRENT.match(text_of(one))}
            wanted = _REQUESTS.get(text_of(node.child_by_field_name("module_name")), ())
            names |= {
                name for name in wanted if re.search(rf"\b{name}\b", text_of(node).partition(" import ")[2])
            }
    for function in functions if names else ():
        parent = function.parent
        if parent is None or parent.type != "decorated_definition":
            continue
        kept = [text_of(one) for one in parent.named_children if one.type == "decorator"]
        if not any(_MEMO.match(one) for one in kept):
            continue
        body = function.child_by_field_name("body")
        given = text_of(function.child_by_field_name("parameters"))
        used = (
            {text_of(n) for n in walk(body, frozenset()) if n.type == "identifier"}
            if body is not None
            else set()
        )
        read = sorted(name for name in names & used if not re.search(rf"\b{name}\b", given))
        if read:
            name = text_of(function.child_by_field_name("name"))
            yield Meaning("kept", name, line_of(function), f"{name} reads {', '.join(read)}")


def _names(root: Node) -> Iterator[Meaning]:
    """Built-in names that the module defines, or takes from a module of its own, and its functions use."""
    taken: dict[str, tuple[int, str]] = {}
    for statement in root.named_children:
        inner = statement.named_children[-1] if statement.type == "decorated_definition" else statement
        if inner.type == "function_definition":
            name = text_of(inner.child_by_field_name("name"))
            taken |= {name: (line_of(inner), f"def {name}")} if name in _BUILTINS else {}
        elif statement.type == "expression_statement" and statement.named_children:
            one = statement.named_children[0]
            name = text_of(one.child_by_field_name("left")) if one.type == "assignment" else ""
            taken |= {name: (line_of(one), text_of(one)[:80])} if name in _BUILTINS else {}
        elif statement.type == "import_from_statement":
            source = text_of(statement.child_by_field_name("module_name"))
            for node in statement.named_children[1:] if source.startswith(".") else ():
                name = text_of(node.child_by_field_name("alias") or node)
                taken |= {name: (line_of(statement), f"from {source}")} if name in _BUILTINS else {}
    for name, (line, said) in taken.items():
        pattern = rf"(?<![\w.]){name}\("
        body = "\n".join(text_of(one) for one in root.named_children if one.start_point[0] + 1 != line)
        yield Meaning("name", name, line, said, uses=len(re.findall(pattern, body)))
