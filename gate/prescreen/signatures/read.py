"""Functions and calls of one file, in languages whose compilers do not tell parameters apart.

Compilers refuse a call whose values go to parameters of other types; these languages do not. Runs in the
limited child.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gate.languages.tree_sitter_parse import parse
from gate.prescreen.python_ast.scanner import parse as parse_python

if TYPE_CHECKING:
    from tree_sitter import Node

_GRAMMARS: Final = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    ".rb": "tree_sitter_ruby",
    ".php": "tree_sitter_php:language_php",
}
SUFFIXES: Final = (".py", *_GRAMMARS)
_FUNCTIONS: Final = frozenset({
    "function_declaration", "method_definition", "function_definition", "method_declaration", "method",
    "singleton_method", "generator_function_declaration",
})  # fmt: skip
_CALLS: Final = frozenset({
    "call_expression", "function_call_expression", "member_call_expression", "scoped_call_expression", "call",
})  # fmt: skip
_OWN: Final = frozenset({"self", "cls", "this", "$this", "super"})
_MOST: Final = 200_000
_MOST_FOUND: Final = 3_000


class Function(msgspec.Struct, frozen=True):
    """``parameters``: those that a value may be given to by its place, in order; ``self`` is none."""

    name: str
    parameters: list[str]
    line: int


class Call(msgspec.Struct, frozen=True):
    """``on``: the name before the dot. ``given``: the texts of what stands at places."""

    name: str
    on: str
    given: list[str]
    line: int


class Signatures(msgspec.Struct, frozen=True):
    """What one file defines and calls."""

    functions: list[Function]
    calls: list[Call]


def read(path: str, data: bytes, options: Mapping[str, Any]) -> Signatures:
    """The functions and the calls with values at places; of a text that cannot be read, none."""
    del options
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".py":
        try:
            tree = parse_python(path, data).tree
        except (SyntaxError, ValueError):
            return Signatures([], [])
        return Signatures([*_functions(tree)], [*_calls(tree)][:_MOST_FOUND])
    if suffix not in _GRAMMARS:
        return Signatures([], [])
    return _of_tree(parse(data, _GRAMMARS[suffix]))


def _functions(tree: ast.AST) -> Iterator[Function]:
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, within = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = within
            if isinstance(child, ast.ClassDef):
                inner = f"{within}{child.name}."
                if fields := _fields(child):
                    yield Function(f"{within}{child.name}", fields, child.lineno)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [arg.arg for arg in (*child.args.posonlyargs, *child.args.args)]
                names = names[1:] if within and names[:1] and names[0] in _OWN else names
                yield Function(f"{within}{child.name}", names, child.lineno)
            waiting.append((child, inner))


def _fields(node: ast.ClassDef) -> list[str]:
    """Fields of a data class or a named tuple: what its calls give by place."""
    marks = [ast.unparse(one) for one in node.decorator_list]
    made = any(one.partition("(")[0].endswith(("dataclass", "define", "frozen", "attr.s")) for one in marks)
    named = any(ast.unparse(base).endswith("NamedTuple") for base in node.bases)
    if not (made or named) or any("kw_only=True" in one for one in marks):
        return []
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]
    return [one.target.id for one in fields if isinstance(one.target, ast.Name)]


def _calls(tree: ast.AST) -> Iterator[Call]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        given = [ast.unparse(arg)[:200] for arg in node.args]
        if isinstance(node.func, ast.Name):
            yield Call(node.func.id, "", given, node.lineno)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            yield Call(node.func.attr, node.func.value.id, given, node.lineno)


def _of_tree(root: Node) -> Signatures:
    functions: list[Function] = []
    calls: list[Call] = []
    waiting: list[tuple[Node, str]] = [(root, "")]
    count = 0
    while waiting and count < _MOST and len(calls) < _MOST_FOUND:
        node, within = waiting.pop()
        count += 1
        inner = within
        if node.type in ("class_declaration", "class") and (name := node.child_by_field_name("name")):
            inner = f"{within}{_text(name)}."
        value = node.child_by_field_name("value") if node.type == "variable_declarator" else None
        if value is not None and value.type in ("arrow_function", "function_expression"):
            functions += _function(node.child_by_field_name("name"), value, within)
        elif node.type in _FUNCTIONS:
            functions += _function(node.child_by_field_name("name"), node, within)
        elif node.type in _CALLS:
            calls += _call(node)
        waiting += [(child, inner) for child in reversed(node.named_children)]
    return Signatures(functions, calls)


def _function(name: Node | None, node: Node, within: str) -> list[Function]:
    given = node.child_by_field_name("parameters")
    if name is None or given is None:
        return []
    names = []
    for one in given.named_children:
        if "comment" in one.type or "keyword" in one.type or "block" in one.type:
            continue
        inner = next(
            (n for field in ("left", "pattern", "name") if (n := one.child_by_field_name(field))), one
        )
        names.append(_text(inner).lstrip("$&*"))
    return [Function(f"{within}{_text(name)}", names, node.start_point[0] + 1)]


def _call(node: Node) -> list[Call]:
    arguments = node.child_by_field_name("arguments")
    if arguments is None or not arguments.named_children:
        return []
    callee = (
        node.child_by_field_name("function")
        or node.child_by_field_name("method")
        or node.child_by_field_name("name")
    )
    if callee is None:
        return []
    of = (
        node.child_by_field_name("receiver")
        or node.child_by_field_name("object")
        or node.child_by_field_name("scope")
    )
    if callee.type == "member_expression":
        of, prop = callee.child_by_field_name("object"), callee.child_by_field_name("property")
        callee = prop if prop is not None else callee
    given = [_text(one)[:200] for one in arguments.named_children if "comment" not in one.type]
    on = _text(of) if of is not None else ""
    return [Call(_text(callee), on, given, node.start_point[0] + 1)] if len(on) < 60 else []


def _text(node: Node) -> str:
    return " ".join((node.text or b"").decode("utf-8", "replace").split())
