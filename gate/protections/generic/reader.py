"""Reads the protections of one file of Go, Java, Kotlin, C#, Ruby, PHP or Rust. Runs in the limited child.

One reader for all of them: their grammars call functions, classes, annotations and conditions by names that
are alike, and what protects is told by its vocabulary.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.sensitive_calls.grammar import Parsed
from gate.languages.sensitive_calls.table import languages
from gate.languages.tree_sitter_parse import walk
from gate.protections.facts import Family, FileFacts, Guard, Unit, Weakness
from gate.protections.generic.conditions import short_name_of
from gate.protections.generic.order import order_strengths
from gate.protections.generic.refusals import Refusals, statements
from gate.protections.generic.tokens import token_strengths
from gate.protections.generic.weaknesses import excepted, is_before, named_weaknesses
from gate.protections.overall.facts import overall_facts
from gate.protections.overall.tree_sitter import tree_sitter_script
from gate.protections.traits import with_traits
from gate.protections.tree_sitter.members import members_in
from gate.protections.tree_sitter.moving import moving_facts
from gate.protections.tree_sitter.shapes import (
    arguments,
    assigned,
    callee,
    is_call,
    line_of,
    text_of,
)
from gate.protections.tree_sitter.strengths import Constants, constants_in, strengths_in
from gate.protections.tree_sitter.traits import tree_sitter_traits
from gate.protections.vocabulary import family_of, is_check, is_opening

LANGUAGES: Final = {
    ".go": "go", ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".cs": "csharp", ".rb": "ruby",
    ".php": "php",
    ".rs": "rust",
}  # fmt: skip
"""Endings that this reads, with the language's name in rules/sensitive-calls."""
_MOST: Final = 2_000
_WORDS: Final = 2_000
_GUARDS: Final = 200
_LINE: Final = 20_000
_FUNCTIONS: Final = frozenset({
    "function_declaration", "method_declaration", "constructor_declaration", "function_definition", "method",
    "singleton_method", "function_item", "local_function_statement",
})  # fmt: skip
_CLASSES: Final = frozenset({
    "class_declaration", "class", "module", "object_declaration", "record_declaration", "struct_declaration",
    "interface_declaration", "trait_declaration", "impl_item",
})  # fmt: skip
_MARKS: Final = frozenset({"annotation", "marker_annotation", "attribute", "attribute_item"})
_ROUTES: Final = frozenset({
    "get_mapping", "post_mapping", "put_mapping", "delete_mapping", "patch_mapping", "request_mapping",
    "http_get",
    "http_post", "http_put", "http_delete", "http_patch", "route", "get", "post", "put", "delete", "patch",
})  # fmt: skip
_ASKED: Final = (
    "http.ResponseWriter",
    "gin.Context",
    "echo.Context",
    "fiber.Ctx",
    "HttpServletRequest",
    "HttpRequest",
)
_MORE: Final[dict[str, Family]] = {
    "secured": "authorisation", "deny_all": "authorisation", "is_granted": "authorisation",
    "security": "authorisation",
    "validate_anti_forgery_token": "csrf", "auto_validate_antiforgery_token": "csrf",
    "throttle": "rate limit",
    "enable_web_security": "authorisation", "enable_method_security": "authorisation",
}  # fmt: skip
"""Annotations whose names say too little to the vocabulary."""


def read(path: str, data: bytes, options: Mapping[str, object]) -> FileFacts:
    """For scan_isolated. ``options["tests"]`` names the paths that only tests run: nothing is read there."""
    tests = options.get("tests")
    is_test = isinstance(tests, list) and path in tests
    if is_test or max(map(len, data.split(b"\n")), default=0) > _LINE:
        return FileFacts()
    sys.setrecursionlimit(20_000)
    language = languages()[LANGUAGES[PurePosixPath(path).suffix]]
    root = Parsed(language, language.grammar(path), data).root
    units = [*_units(root)]
    if len(units) > _MOST:
        raise ValueError("more functions than are compared")
    traits = tree_sitter_traits(root, _FUNCTIONS)
    overall = overall_facts(tree_sitter_script(root, _FUNCTIONS))
    moving = moving_facts(root, PurePosixPath(path).suffix, path, lambda n: [*_marks(n)])
    return replace(
        moving,
        units=tuple(with_traits(units, traits)),
        overall=overall,
        members=tuple(members_in(root))[:_MOST],
    )


def _units(root: Node) -> Iterator[Unit]:
    functions = [n for n in walk(root, frozenset()) if n.type in _FUNCTIONS and n.child_by_field_name("name")]
    classes = [n for n in walk(root, frozenset()) if n.type in _CLASSES and n.is_named]
    skip = frozenset(n.id for n in (*functions, *classes))
    known = constants_in(root)
    seen: dict[str, int] = {}
    for node in functions:
        name = _named(node)
        seen[name] = seen.get(name, 0) + 1
        yield _function(node, name if seen[name] == 1 else f"{name} #{seen[name]}", known, skip - {node.id})
    for node in classes:
        if node.type != "impl_item" and node.child_by_field_name("name") is not None:
            yield _class(node, known, skip - {node.id})
    reader = Refusals(skip=skip)
    reader.read(root)
    yield _unit(root, "", "module", [], reader, known, skip)


def _named(node: Node) -> str:
    """A function's name behind those of its classes, or of Go's receiver."""
    names = [text_of(node.child_by_field_name("name"))]
    receiver = node.child_by_field_name("receiver")
    if receiver is not None:
        names.append(text_of(receiver).strip("()* ").rpartition(" ")[2].lstrip("*").partition("[")[0])
    above = node.parent
    while above is not None:
        if above.type in _CLASSES:
            names.append(_class_name(above))
        above = above.parent
    return ".".join(reversed(names))


def _class_name(node: Node) -> str:
    return text_of(node.child_by_field_name("name") or node.child_by_field_name("type")).replace(".", " ")


def _marks(node: Node) -> Iterator[tuple[str, Node]]:
    """A declaration's annotations and attributes by name; Rust's stand before it."""
    found: list[Node] = []
    for child in node.children:
        if child.type in ("modifiers", "attribute_list"):
            found += walk(child, frozenset({"annotation", "marker_annotation", "attribute"}))
    before = node.prev_named_sibling
    while before is not None and (before.type == "attribute_item" or "comment" in before.type):
        found += [before] if before.type == "attribute_item" else []
        before = before.prev_named_sibling
    for mark in found:
        if mark.type in _MARKS:
            name = text_of(mark).strip("@#[] ").partition("(")[0].strip()
            yield short_name_of(name), mark


def _marked(node: Node, form: str) -> Iterator[Guard | Weakness]:
    for name, mark in _marks(node):
        plain = snake(name).removesuffix("_attribute")
        weak = [*named_weaknesses(plain, mark)]
        yield from weak
        family = _MORE.get(plain) or family_of(plain)
        if family is not None and not weak and plain != "authentication_principal":
            text = " ".join(text_of(mark).strip("@#[]").split())[:160]
            yield Guard(
                family=family,
                form="class" if form == "class" else "decorator",
                must=(f"-{text}",),
                text=text_of(mark)[:160],
                line=line_of(mark),
            )


def _function(node: Node, name: str, known: Constants, skip: frozenset[int]) -> Unit:
    short = snake(name.rpartition(".")[2].partition(" #")[0].strip("?!"))
    marks = {snake(mark) for mark, _ in _marks(node)}
    asked = text_of(node.child_by_field_name("parameters"))
    route = (
        bool(marks & _ROUTES)
        or any(word in asked for word in _ASKED)
        or ("Controller." in name and not _is_private(node))
    )
    fallback: Family | None = (family_of(short) or "validation") if is_check(short) and not route else None
    reader = Refusals(fallback=fallback, skip=skip, raises=node.type != "function_declaration")
    facts = [*_marked(node, "decorator"), *(_extracted(node) if route else ())]
    body = node.child_by_field_name("body") or next(
        (n for n in node.named_children if n.type == "function_body"), None
    )
    if body is not None:
        reader.read(body)
    unit = _unit(node, name, "function", facts, reader, known, skip)
    measured = (*unit.strengths, *order_strengths(node), *token_strengths(node))
    return replace(unit, route=route, check=fallback is not None, strengths=measured)


def _is_private(node: Node) -> bool:
    """Does a method of Ruby stand behind ``private``?"""
    before = node.prev_named_sibling
    while before is not None:
        if text_of(before) in ("private", "protected"):
            return True
        before = before.prev_named_sibling
    return False


def _extracted(node: Node) -> Iterator[Guard]:
    """Parameters that only somebody who may can give: ``headers: AdminHeaders`` of Rocket and Axum."""
    for one in node.children_by_field_name("parameters"):
        for parameter in one.named_children:
            kind = parameter.child_by_field_name("type")
            name = text_of(kind)
            plain = kind is not None and "generic" not in kind.type
            if parameter.type == "parameter" and plain and (family := family_of(name)) is not None:
                yield Guard(
                    family=family, form="parameter", must=(f"-{name}",), text=text_of(parameter)[:160],
                    line=line_of(parameter),
                )  # fmt: skip


def _class(node: Node, known: Constants, skip: frozenset[int]) -> Unit:
    facts = [*_marked(node, "class")]
    body = node.child_by_field_name("body") or next(
        (n for n in node.named_children if n.type == "class_body"), None
    )
    for one in statements(body):
        facts += _before(one)
        pair = next((p for n in walk(one, frozenset()) if (p := _listed(n)) is not None), None)
        if pair is not None and "csrf" in snake(_class_name(node)):
            facts += excepted("except", pair)
    reader = Refusals(skip=skip)
    if body is not None:
        reader.read(body)
    bases = [text_of(n).strip("<:() ") for n in node.named_children if "super" in n.type or "base" in n.type]
    unit = _unit(node, _class_name(node), "class", facts, reader, known, skip)
    return replace(unit, bases=tuple(bases))


def _listed(node: Node) -> Node | None:
    """The list of ``$except = [...]``."""
    if node.type != "property_element" or not text_of(node).startswith("$except"):
        return None
    return node.child_by_field_name("default_value")


def _before(node: Node) -> Iterator[Guard]:
    """Ruby's ``before_action :authenticate, only: [:edit]``, and calls by themselves in a class's body."""
    name = (
        short_name_of(callee(node)) if is_call(node) else text_of(node) if node.type == "identifier" else ""
    )
    if not name:
        return
    given = arguments(node) if is_call(node) else []
    texts = [text_of(one) for one in given]
    pairs = {short_name_of(text_of(p[0])): p[1] for one in given if (p := assigned(one)) is not None}
    if not is_before(name):
        family = family_of(name) or ("csrf" if name == "protect_from_forgery" else None)
        if family is not None and not is_opening(name) and not snake(name).startswith("skip"):
            yield Guard(
                family=family, form="class", must=(f"-{name}",), text=text_of(node)[:160], line=line_of(node)
            )
        return
    for text in texts:
        word = text.lstrip(":").strip("!?'\"")
        family = family_of(word)
        if family is None or not text.startswith((":", "'", '"')):
            continue
        made = Guard(
            family=family, form="class", must=(f"-{word}",), text=text_of(node)[:160], line=line_of(node)
        )
        but: tuple[str, ...] = tuple(f"+skips {action}" for action in _symbols(pairs.get("except")))
        only: list[tuple[str, ...]] = [
            (f"+skips all but {action}",) for action in _symbols(pairs.get("only"))
        ]
        for context in only or [but]:
            yield replace(made, context=context)


def _symbols(node: Node | None) -> list[str]:
    """``:edit`` and ``:update`` of ``[:edit, :update]`` and of ``%i[edit update]``."""
    if node is None:
        return []
    kinds = ("simple_symbol", "bare_symbol")
    return [":" + text_of(n).lstrip(":") for n in walk(node, frozenset()) if n.type in kinds]


def _unit(
    node: Node, name: str, kind: str, facts: list[Guard | Weakness], reader: Refusals, known: Constants,
    skip: frozenset[int],
) -> Unit:  # fmt: skip
    whole = kind == "function"
    words = [*_words(node)] if whole else []
    calls = {short_name_of(callee(n)) for n in _own(node, skip) if is_call(n)}
    pairs = {zlib.crc32(f"{a}\0{b}".encode("utf-8", "replace")) for a, b in pairwise(words)}
    guards = [*(f for f in facts if isinstance(f, Guard)), *reader.guards]
    weak = [*(f for f in facts if isinstance(f, Weakness)), *reader.weaknesses]
    return Unit(
        name=name,
        kind="function" if whole else "class" if kind == "class" else "module",
        line=node.start_point[0] + 1 if node.parent is not None else 1,
        guards=tuple(guards)[:_GUARDS],
        weaknesses=tuple(weak)[:_GUARDS],
        strengths=tuple(strengths_in(node, name, known, skip))[:_GUARDS],
        calls=tuple(sorted(calls))[:_WORDS],
        tokens=tuple(sorted(pairs)[:_WORDS]),
        digest=zlib.crc32(text_of(node).encode("utf-8", "replace")) if whole else 0,
        tested=tuple(sorted(reader.tested))[:_WORDS],
        plain=tuple(reader.plain)[:_WORDS],
        acts=tuple(reader.acts)[:_WORDS],
        mentions=tuple(sorted(set(words)))[:_WORDS],
        coarse=True,
    )


def _own(node: Node, skip: frozenset[int]) -> Iterator[Node]:
    """The nodes of a unit, other units left out."""
    todo = [node]
    while todo:
        at = todo.pop()
        if at.id in skip and at.id != node.id:
            continue
        yield at
        todo += at.named_children


def _words(node: Node) -> Iterator[str]:
    for inner in walk(node, frozenset()):
        if (
            not inner.named_child_count and ("identifier" in inner.type or inner.type in ("name", "constant"))
        ) or ("string" in inner.type and len(text_of(inner)) <= 60):
            yield text_of(inner)
        elif inner.type.endswith("_statement"):
            yield inner.type
