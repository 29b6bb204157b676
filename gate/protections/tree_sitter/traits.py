"""What protects beside guards and conditions in languages that tree-sitter reads. Runs in the limited child.

Queries that bind an owner's column, the order of an object's parts, entries of constants, patterns of paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.facts import QUERY
from gate.protections.makers import maker_facts
from gate.protections.queries import bound_columns
from gate.protections.traits import GUARDED, HIDDEN, KNOWN, LAST, OWNED, Fact, lapse, trait
from gate.protections.tree_sitter.answers import answer_facts
from gate.protections.tree_sitter.keyrings import keyring_facts
from gate.protections.tree_sitter.left_out import left_out
from gate.protections.tree_sitter.makers import file_words
from gate.protections.tree_sitter.shapes import (
    arguments,
    assigned,
    callee,
    is_call,
    line_of,
    short_name,
    text_of,
)
from gate.protections.tree_sitter.written import written_facts
from gate.protections.vocabulary import (
    BROUGHT_KEYS,
    family_of,
    is_editable,
    is_granting,
    is_hiding,
    is_owner,
    is_secret,
)

_FIXED: Final = (
    "default",
    "fixed",
    "base",
    "common",
    "initial",
    "options",
    "config",
    "state",
    "row",
    "record",
)
_POWERFUL: Final = frozenset({"admin", "administrator", "owner", "root", "superuser", "super_admin"})
_MATCHERS: Final = frozenset({
    "request_matchers", "ant_matchers", "mvc_matchers", "path_matchers", "security_matcher", "matchers",
    "add_path_patterns", "authorize",
})  # fmt: skip
_DEEP: Final = ("/**", "/:path*", "/(.*)", "/{*path}")
_SHALLOW: Final = ("/*", "/:path", "/", "")
_ENTRIES: Final = 200


def tree_sitter_traits(root: Node, functions: frozenset[str]) -> dict[int, list[Fact]]:
    """By the line of the outermost function that holds them, a node of one of the types; 0 for the module."""
    found: dict[int, list[Fact]] = {}
    todo = [(root, 0)]
    while todo:
        node, at = todo.pop()
        inner = at or (line_of(node) if node.type in functions else 0)
        if inner and not at:
            found.setdefault(inner, []).extend((*written_facts(node), *answer_facts(node)))
        for fact in _of_node(node):
            found.setdefault(inner, []).append(fact)
        todo += [(child, inner) for child in node.named_children]
    if made := [*maker_facts(file_words(root))]:
        found.setdefault(0, []).extend(made)
    return found


def _of_node(node: Node) -> Iterator[Fact]:
    yield from keyring_facts(node)
    if "string" in node.type and node.parent is not None and "string" not in node.parent.type:
        yield from _query(node)
        yield from _pattern(node)
    elif node.type == "object":
        yield from _order(node)
    elif node.type == "call_expression":
        yield from _listener(node)
    elif node.type == "member_expression":
        yield from _brought_key(node)
    elif (pair := assigned(node)) is not None:
        name = short_name(pair[0])
        if is_editable(name) or is_hiding(name):
            yield from _entries(name, pair[1])
        elif family_of(name) == "authorisation":
            yield from _powers(name, pair[1])


def _query(node: Node) -> Iterator[Fact]:
    text = text_of(node)
    if any(is_owner(name) for name in bound_columns(text.strip("'\"`"))):
        shown = text[text.lower().rindex("where") :]
        yield trait("authorisation", OWNED, shown, line_of(node), of=QUERY, form="argument")


def _pattern(node: Node) -> Iterator[Fact]:
    """``"/admin/**"`` of what guards paths, and the shorter pattern that leaves what is below open."""
    path = text_of(node).strip("'\"`")
    if not path.startswith("/") or len(path) < 3 or not _is_matched(node):
        return
    for one in left_out(path):
        key = f"{one} is left out of what is guarded"
        yield lapse("authentication", key, path, line_of(node), needs=("matcher",))
    for end in _DEEP:
        if path.endswith(end):
            atom = f"{GUARDED}{path.removesuffix(end)}"
            yield trait("authorisation", atom, path, line_of(node))
            return
    for end in _SHALLOW:
        if path.endswith(end):
            stem = path.removesuffix(end)
            key = f"only one level below {stem} is guarded"
            yield lapse("authorisation", key, path, line_of(node), needs=(f"{GUARDED}{stem}",))
            return


def _is_matched(node: Node) -> bool:
    """Does a text stand in what says which paths are guarded, and are they not open to all?"""
    above = node.parent
    for _ in range(4):
        if above is None:
            return False
        if is_call(above):
            if snake(callee(above).rpartition(".")[2]) not in _MATCHERS:
                return False
            outer = above.parent
            return outer is None or not snake(callee(outer).rpartition(".")[2]).startswith(("permit", "anon"))
        if (pair := assigned(above)) is not None:
            return short_name(pair[0]) == "matcher"
        above = above.parent
    return False


def _order(node: Node) -> Iterator[Fact]:
    """``{...sent, ownerId: user.id}`` sets the owner whatever was sent; the other order lets it be sent."""
    parts = [one for one in node.named_children if one.type != "comment"]
    spread = [at for at, one in enumerate(parts) if one.type == "spread_element"]
    if spread and all(_is_ours(parts[at]) for at in spread):
        return
    for at, one in enumerate(parts):
        pair = assigned(one)
        name = short_name(pair[0]) if pair is not None else text_of(one) if "shorthand" in one.type else ""
        constant = pair is not None and (pair[1].type in ("string", "number", "true", "false", "null"))
        if not name or constant or not (is_owner(name) or is_granting(name)):
            continue
        if not spread or at > spread[-1]:
            kind = LAST if spread else KNOWN
            yield trait("authorisation", f"{kind}{name}", text_of(node), line_of(node))
        else:
            key, needs = f"what is sent sets {name}", (f"{LAST}{name}", f"{KNOWN}{name}")
            yield lapse("authorisation", key, text_of(node), line_of(node), needs=needs)


def _listener(node: Node) -> Iterator[Fact]:
    """``window.addEventListener("message", ...)`` that never asks where the message is from (CWE-346)."""
    if callee(node) not in ("window.addEventListener", "addEventListener", "globalThis.addEventListener"):
        return
    given = arguments(node)
    if len(given) < 2 or text_of(given[0]).strip("'\"`") != "message" or "=>" not in text_of(given[1])[:80]:
        return
    text = text_of(given[1])
    if "origin" not in text and ".source" in text:
        yield lapse("authentication", "answers messages of anybody", text, line_of(node), anew=True)


def _brought_key(node: Node) -> Iterator[Fact]:
    """``header.jwk``: the key of whoever wrote the token (RFC 7515, 4.1)."""
    of, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    if of is None or name is None or text_of(name) not in BROUGHT_KEYS:
        return
    if text_of(of).lower().endswith("header"):
        yield lapse("authentication", "the token brings its own key", text_of(node), line_of(node), anew=True)


def _is_ours(spread: Node) -> bool:
    return any(word in snake(text_of(spread)) for word in _FIXED)


def _texts(value: Node) -> Iterator[tuple[str, Node]]:
    for node in [*walk(value, frozenset())][:_ENTRIES]:
        if "string" in node.type and node.parent is not None and "string" not in node.parent.type:
            yield text_of(node).strip("'\"`"), node


def _entries(name: str, value: Node) -> Iterator[Fact]:
    """``const EDITABLE = ["name", "role"]``, ``new Set(["authorization"])``."""
    if "function" in value.type or "lambda" in value.type:
        return
    for text, node in _texts(value):
        if is_editable(name) and is_granting(text):
            key = f"{name} may set {text}"
            yield lapse("authorisation", key, f"{name}: {text}", line_of(node), needs=(name,))
        elif is_hiding(name) and is_secret(text) and len(text) < 60:
            atom = f"{HIDDEN}{snake(text)}"
            yield trait("setting", atom, f"{name}: {text}", line_of(node), of=name)


def _powers(name: str, value: Node) -> Iterator[Fact]:
    """``const ROLES = {partner: "admin"}``: entries of a table that make an administrator of something."""
    for one in value.named_children:
        pair = assigned(one)
        if pair is None or "string" not in pair[1].type:
            continue
        key, word = text_of(pair[0]).strip("'\"`"), snake(text_of(pair[1]).strip("'\"`"))
        if word in _POWERFUL and word != snake(key):
            text = f"{name}: {key} is {word}"
            yield lapse("authorisation", text, text, line_of(one), needs=(name,))


def given_paths(call: Node | None) -> list[str]:
    """The texts that a call is given."""
    given = arguments(call) if call is not None and is_call(call) else []
    return [text_of(one).strip("'\"`") for one in given if "string" in one.type]
