"""Patterns with a memory that conditions ask, and names of the language that a module takes for itself.

Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import walk
from gate.prescreen.meanings.facts import Meaning
from gate.protections.tree_sitter.functions import function_around
from gate.protections.tree_sitter.shapes import arguments, callee, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_GLOBALS: Final = frozenset({
    "Math", "Date", "JSON", "crypto", "Number", "String", "Array", "Object", "RegExp", "parseInt",
    "isNaN", "Boolean", "Set", "Map", "encodeURIComponent", "decodeURIComponent", "Symbol", "BigInt",
    "Uint8Array", "atob", "btoa", "structuredClone",
})  # fmt: skip
_ELSEWHERE: Final = regex(
    r"\brequire\(|\bglobalThis\b|\bwindow\.|\bself\.|\bglobal\.|\bimport\(|\bwebcrypto\b"
)
_OWN: Final = regex(r"^['\"]\.{1,2}/")
_STATEFUL: Final = regex(r"^/.*/[a-z]*[gy][a-z]*$")
_FLAGS: Final = regex(r"^['\"`][a-z]*[gy][a-z]*['\"`]$")
_PATCHED: Final = regex(
    r"^(?:Math\.random|Date\.now|JSON\.(?:parse|stringify)|Object\.(?:freeze|is|keys)|Number\.is\w+|Array\.isArray"
    r"|(?:require\\(['\"](?:node:)?crypto['\"]\\)|crypto|globalThis\.crypto)\.(?:getRandomValues|randomUUID|randomBytes|timingSafeEqual|verify|randomInt)"
    r"|(?:RegExp|String|Array|Set|Map)\.prototype\.(?:test|exec|includes|has|every|some|startsWith|endsWith|indexOf|filter"
    r"|find|match|get))$"
)
_LOOPS: Final = frozenset({"while_statement", "do_statement", "for_statement"})


def meanings(root: Node) -> Iterator[Meaning]:
    """Of one module."""
    nodes = [*walk(root, frozenset())]
    yield from _patterns(nodes)
    yield from _names(root, nodes)
    for node in nodes:
        left = node.child_by_field_name("left") if node.type == "assignment_expression" else None
        if left is not None and _PATCHED.match(text_of(left)) and not _is_optional(node):
            yield Meaning("name", text_of(left), line_of(node), "replaced for the whole program", uses=1)


def _is_optional(node: Node) -> bool:
    """A filling for what an old browser lacks stands behind a condition."""
    at = node.parent
    while at is not None:
        if at.type in ("if_statement", "ternary_expression", "binary_expression", "logical_expression"):
            return True
        at = at.parent
    return False


def _patterns(nodes: list[Node]) -> Iterator[Meaning]:
    made = {name: node for node in nodes for name in _held(node)}
    settled: set[str] = set()
    for node in nodes:
        left = node.child_by_field_name("left") if node.type == "assignment_expression" else None
        if left is not None and text_of(left).endswith(".lastIndex"):
            settled.add(text_of(left).rpartition(".")[0])
    for name, node in made.items():
        if name not in settled and "." not in name and _is_exported(name, node, nodes):
            yield Meaning("pattern", name, line_of(node), text_of(node)[:120], asks="export")
    searched = {
        (callee(node).removesuffix(".exec"), function_around(node).id)
        for node in nodes
        if made and node.type == "call_expression" and callee(node).endswith(".exec")
        and _is_loop(node, anywhere=True)
    }  # fmt: skip
    for node in nodes if made else ():
        name, _, method = callee(node).rpartition(".") if node.type == "call_expression" else ("", "", "")
        declared = made.get(name)
        if declared is None or name in settled or method not in ("test", "exec"):
            continue
        inside = function_around(node)
        if (name, inside.id) in searched or _is_loop(node, anywhere=False):
            continue
        if inside != function_around(declared) and _holds(_reach(declared), inside):
            yield Meaning("pattern", name, line_of(node), text_of(declared)[:120])
            settled.add(name)


def _held(node: Node) -> Iterator[str]:
    """Under which names a pattern with a memory is asked: a constant, an entry of one, a field of a class."""
    value = node.child_by_field_name("value")
    if value is None or not _keeps_place(value):
        return
    named = node.child_by_field_name("name") or node.child_by_field_name("key")
    named = named or node.child_by_field_name("property")
    name = text_of(named).strip("'\"")
    if node.type == "variable_declarator":
        yield name
    elif node.type == "pair":
        at = node.parent
        while at is not None and at.type in ("object", "call_expression", "arguments", "as_expression"):
            at = at.parent
        if at is not None and at.type == "variable_declarator":
            yield f"{text_of(at.child_by_field_name('name'))}.{name}"
    elif node.type in ("field_definition", "public_field_definition"):
        owner = node.parent.parent if node.parent is not None else None
        yield f"this.{name}"
        if owner is not None and (called := text_of(owner.child_by_field_name("name"))):
            yield f"{called}.{name}"


def _reach(declared: Node) -> Node:
    """Where a name holds: the function, the class or the file around it."""
    at = declared.parent
    while at is not None and at.parent is not None:
        if at.type == "class_body":
            return function_around(at)
        at = at.parent
    return function_around(declared)


def _is_exported(name: str, declared: Node, nodes: list[Node]) -> bool:
    """``export const P``, ``export { P }``, ``module.exports = { P }``, ``exports.P = P``."""
    at = declared.parent
    if at is not None and at.parent is not None and at.parent.type == "export_statement":
        return True
    for node in nodes:
        if node.type == "export_specifier" and text_of(node.child_by_field_name("name")) == name:
            return True
        left = node.child_by_field_name("left") if node.type == "assignment_expression" else None
        if left is not None and text_of(left) in (
            "module.exports",
            f"exports.{name}",
            f"module.exports.{name}",
        ):
            given = node.child_by_field_name("right")
            if given is not None and any(text_of(one) == name for one in walk(given, frozenset())):
                return True
    return False


def _keeps_place(value: Node) -> bool:
    if value.type == "regex":
        return bool(_STATEFUL.match(text_of(value)))
    if value.type == "new_expression" and text_of(value.child_by_field_name("constructor")) == "RegExp":
        given = arguments(value)
        return len(given) > 1 and bool(_FLAGS.match(text_of(given[1])))
    return False


def _is_loop(node: Node, *, anywhere: bool) -> bool:
    """``while (pattern.test(text))`` goes from place to place on purpose; ``exec`` does so in any loop."""
    at = node
    while at.parent is not None and at.parent.type != "program":
        if at.parent.type in _LOOPS and (anywhere or at.parent.child_by_field_name("condition") == at):
            return True
        if at.parent.type == "statement_block" and not anywhere:
            return False
        if "function" in at.parent.type or at.parent.type == "method_definition":
            return False
        at = at.parent
    return False


def _holds(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def _names(root: Node, nodes: list[Node]) -> Iterator[Meaning]:
    """Names of the language that the module declares at its top, or imports from a file of the project."""
    taken: dict[str, tuple[int, str]] = {}
    for statement in root.named_children:
        inner = statement.named_children[-1] if statement.type == "export_statement" else statement
        if statement.type == "import_statement":
            source = text_of(statement.child_by_field_name("source"))
            if _OWN.match(source):
                for node in walk(statement, frozenset()):
                    if node.type == "identifier" and text_of(node) in _GLOBALS:
                        taken[text_of(node)] = line_of(statement), source
        elif inner.type in ("lexical_declaration", "variable_declaration"):
            for one in inner.named_children:
                name = text_of(one.child_by_field_name("name"))
                value = text_of(one.child_by_field_name("value"))
                if name in _GLOBALS and value and not _ELSEWHERE.search(value):
                    taken[name] = line_of(one), value[:80]
        elif inner.type == "function_declaration":
            name = text_of(inner.child_by_field_name("name"))
            if name in _GLOBALS:
                taken[name] = line_of(inner), f"function {name}"
    for name, (line, said) in taken.items():
        uses = sum(n.type == "identifier" and text_of(n) == name for n in nodes) - 1
        yield Meaning("name", name, line, said, uses=uses)
