"""Routes behind their guard: where what is registered first decides (gin, fiber, axum).

The guard is still there, and nothing that it does has changed; it has moved behind what it guarded.
Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Final

from tree_sitter import Node

from gate.dataclass import dataclass
from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.facts import WHO, Strength
from gate.protections.strengths import kept
from gate.protections.tree_sitter.shapes import arguments, callee, is_call, line_of, text_of
from gate.protections.vocabulary import family_of

_GUARDED: Final = "routes behind their guard"
_VERBS: Final = frozenset({
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "Any", "Handle", "Get", "Post", "Put",
    "Patch", "Delete", "All", "Add",
})  # fmt: skip
_LAYERS: Final = frozenset({"layer", "route_layer"})
_ASKING: Final = ("require", "ensure", "verify", "guard", "protect", "restrict", "check_key", "check_token")
"""How the names of middleware begin that lets only some in, whatever they look at."""
_DEPTH: Final = 200


@dataclass
class _Groups:
    """Routers of one function by their name: how their paths begin, and whether a guard stands there."""

    prefix: dict[str, str] = field(default_factory=dict)
    guarded: dict[str, bool] = field(default_factory=dict)
    told: list[Strength] = field(default_factory=list)


def order_strengths(node: Node) -> Iterator[Strength]:
    """Of one function, in Go and Rust."""
    text = text_of(node)
    if "Router::new" in text:
        yield from _chained(node)
    elif ".Use(" in text and not any(
        one in text for one in ("mux.NewRouter", "chi.", "Group(func", "Route(")
    ):
        yield from _registered(node, all_at_once="echo.New" in text)


def _asks(node: Node) -> bool:
    """Does something that is registered ask who somebody is, or what they may?"""
    names = [text_of(n) for n in walk(node, frozenset()) if "identifier" in n.type]
    return any(family_of(name) in WHO or snake(name).startswith(_ASKING) for name in names)


def _registered(node: Node, *, all_at_once: bool) -> Iterator[Strength]:
    calls = sorted((n for n in walk(node, frozenset()) if is_call(n)), key=lambda n: n.start_byte)
    uses = [n for n in calls if callee(n).endswith(".Use") and any(map(_asks, arguments(n)))]
    if not uses:
        return
    groups = _Groups()
    if all_at_once:
        groups.guarded = {callee(n).rpartition(".")[0]: True for n in uses}
    for call in calls:
        owner, _, method = callee(call).rpartition(".")
        given = arguments(call)
        first = text_of(given[0]).strip('"`') if given and "string" in given[0].type else ""
        if method == "Group" and owner:
            name = _assigned_to(call)
            groups.prefix[name] = groups.prefix.get(owner, "") + first
            groups.guarded[name] = groups.guarded.get(owner, False) or any(map(_asks, given[1:]))
        elif method == "Use" and call in uses:
            groups.guarded[owner] = True
        elif method in _VERBS and first.startswith("/"):
            holds = groups.guarded.get(owner, False) or any(map(_asks, given[1:-1]))
            path = f"{method} {groups.prefix.get(owner, '')}{first}"
            yield kept(f"{_GUARDED}: {path}", holds, text_of(call), line_of(call))
            if holds:
                groups.told.append(_handed(groups, owner, True, call))
        else:
            for one in given:
                if text_of(one) in groups.prefix:
                    holds = groups.guarded[text_of(one)]
                    groups.told.append(_handed(groups, text_of(one), holds, call))
    for what in sorted({one.what for one in groups.told}):
        yield min((one for one in groups.told if one.what == what), key=lambda one: one.amount)


def _handed(groups: _Groups, name: str, holds: bool, call: Node) -> Strength:
    """What is registered on a group elsewhere: by the group as a whole."""
    what = f"{_GUARDED}: all below {groups.prefix.get(name, '')}"
    return kept(what, holds, text_of(call), line_of(call))


def _assigned_to(call: Node) -> str:
    above = call.parent
    while above is not None and above.type == "expression_list":
        above = above.parent
    left = above.child_by_field_name("left") if above is not None else None
    return text_of(left) if left is not None else ""


def _chained(node: Node) -> Iterator[Strength]:
    """``Router::new().route(...).layer(guard)``: a layer guards what stands before it."""
    calls = [n for n in walk(node, frozenset()) if is_call(n)]
    if not any(_method(n) in _LAYERS and any(map(_asks, arguments(n))) for n in calls):
        return
    for call in calls:
        given = arguments(call)
        if _method(call) != "route" or len(given) < 2 or "string" not in given[0].type:
            continue
        holds = _is_layered(call)
        if holds is not None:
            path = text_of(given[0]).strip('"')
            shown = f".route({', '.join(map(text_of, given))})"
            yield kept(f"{_GUARDED}: {path}", holds, shown, line_of(given[0]))


def _method(call: Node) -> str:
    called = call.child_by_field_name("function")
    of = called.child_by_field_name("field") if called is not None else None
    return text_of(of)


def _is_layered(call: Node) -> bool | None:
    """Does a guard's layer stand behind a route, in its chain or one that holds it?"""
    at: Node | None = call
    for _ in range(_DEPTH):
        at = at.parent if at is not None else None
        if at is None or at.type == "let_declaration":
            return None
        if at.type == "call_expression" and _method(at) in _LAYERS and any(map(_asks, arguments(at))):
            return True
        if at.type in ("block", "function_item", "expression_statement"):
            return False
    return None
