"""Guards in programs of Elixir and Lua (Phoenix, OpenResty): plugs, pipelines, checks and refusals.

They decide who gets through as a server's settings do, and are compared like these: a plug that is gone, a
route that left its pipeline, a refusal under one more condition.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from gate.infrastructure.facts import Fact, FileFacts, Width
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_CHECK: Final = regex(
    r"(?i)(?:^|[._:])(?:\w*(?:authenticat|authori[sz]|require_?|ensure_?|permit|verif|protect_from|csrf|login_required|bodyguard)\w*"
    r"|\w*auth|check_?(?:pass|pw|token|sig|role|access|hash)\w*|valid_(?:password|token|signature)\w*\??|secure_compare|basic_auth"
    r"|constant_time\w*|jwt\w*|has_role\w*|can\?|owns?\?|current_user!?|put_secure_browser_headers|rate_limit\w*|limit_req\w*)$"
)
_ASKS: Final = regex(r"(?i)auth|require|ensure|admin|role|permit|login|session_user|verif|csrf|forgery|limit")
_REFUSES: Final = regex(
    r"(?i)\bhalt\b|\bexit\s*\(\s*(?:40[13]|ngx\.HTTP_(?:UNAUTHORIZED|FORBIDDEN)|429)|:(?:unauthorized|forbidden)|\b40[13]\b|\berror\s*\("
)
_VERBS: Final = frozenset(
    {"get", "post", "put", "patch", "delete", "options", "head", "resources", "live", "forward", "match"}
)
_BRANCHES: Final = frozenset({"if", "unless"})
_LONGEST: Final = 5_000
_MOST: Final = 20_000


def is_guarding(path: str) -> bool:
    """A program of one of these languages; of a test it says nothing."""
    return path.lower().endswith((".ex", ".lua")) and "test" not in path.lower()


def program_guards(text: str, path: str) -> FileFacts:
    """What a file asks, refuses and routes. Limited child only."""
    from gate.languages.tree_sitter_parse import parse, without_long_lines

    elixir = path.lower().endswith(".ex")
    data = without_long_lines(text.encode("utf-8", "replace"), _LONGEST)
    root = parse(data, "tree_sitter_elixir" if elixir else "tree_sitter_lua")
    look = _Look(path=path, facts=[], subjects=[path], seen=Counter())
    for found in _elixir(root, look) if elixir else _lua(root, look):
        look.facts.append(found)
    return FileFacts.of(look.facts, look.subjects)


class _Look(NamedTuple):
    path: str
    facts: list[Fact | Width]
    subjects: list[str]
    seen: Counter[str]

    def check(self, where: str, name: str, node: Node) -> Fact:
        """One check of a function; the second of a name is another one."""
        self.seen[f"{where} {name}"] += 1
        count = self.seen[f"{where} {name}"]
        return Fact("guard", "authentication", f"{where} {name} {count}", _line(node), _text(node)[:120])


def _nodes(root: Node, kind: str, look: _Look) -> Iterator[tuple[Node, str]]:
    """Every node with the function that it stands in."""
    todo = [(root, look.path)]
    count = 0
    while todo and count < _MOST:
        node, where = todo.pop()
        count += 1
        name = _defined(node, kind)
        if name:
            where = f"{look.path} {name}"
            look.subjects.append(where)
        yield node, where
        todo += [(child, where) for child in reversed(node.named_children)]


def _defined(node: Node, kind: str) -> str:
    if kind == "lua":
        named = node.child_by_field_name("name") if "function_d" in node.type else None
        return _text(named) if named is not None else ""
    if node.type == "call" and _target(node) in ("def", "defp", "defmacro", "pipeline"):
        given = _given(node)
        return re.split(r"[\s(]", _text(given[0]).lstrip(":"))[0] if given else ""
    return ""


def _lua(root: Node, look: _Look) -> Iterator[Fact | Width]:
    for node, where in _nodes(root, "lua", look):
        if node.type == "function_call":
            name = _text(node.child_by_field_name("name")).replace(":", ".")
            if _CHECK.search(name):
                yield look.check(where, name, node)
        if node.type in ("if_statement", "elseif_statement") and node.named_child_count > 1:
            yield from _refusal(node.named_children[0], node.named_children[1], where)


def _elixir(root: Node, look: _Look) -> Iterator[Fact | Width]:
    guarded = _pipelines(root)
    for node, where in _nodes(root, "elixir", look):
        if node.type != "call":
            continue
        name, given = _target(node), _given(node)
        if name == "plug" and given:
            yield from _plug(given[0], where, look, node)
        elif name in _BRANCHES and given:
            block = next((one for one in node.named_children if one.type == "do_block"), None)
            if block is not None:
                yield from _refusal(given[0], block, where)
        elif name == "scope":
            yield from _scope(node, guarded, look)
        elif _CHECK.search(name) and name != "require":
            yield look.check(where, name, node)


def _plug(first: Node, where: str, look: _Look, node: Node) -> Iterator[Fact | Width]:
    text = _text(first)
    name = re.split(r"\s+when\s+", text)[0].split(",")[0].strip()
    if not _ASKS.search(name) and not _CHECK.search(name):
        return
    yield look.check(where, f"plug {name}".replace(" ", "_"), node)
    said = _text(node)
    only = re.search(
        r"\bwhen\s+action\s+(?:in\s+(?P<in>[\[~].*)|==\s*(?P<one>:\w+)|(?P<not>not\s+in\b.*))", said
    )
    named = re.findall(r"\w+", (only["in"] or only["one"] or "").partition("]")[0]) if only else []
    if named:
        yield Width("covered", f"{where} plug {name} actions", _line(node), said[:120], members=named)
    yield Width(
        "weaker", f"{where} plug {name} when", _line(node), said[:120], measure=float(" when " in said)
    )


def _refusal(test: Node, body: Node, where: str) -> Iterator[Width]:
    """A refusal: one more condition beside it refuses fewer."""
    if not _REFUSES.search(_text(body)[:600]):
        return
    asked = [*_conjuncts(test)]
    for one in asked:
        subject = f"{where} refusal {_text(one).replace(' ', '')[:200]}"
        yield Width("weaker", subject, _line(test), _text(test)[:120], measure=float(len(asked)))


def _conjuncts(test: Node) -> Iterator[Node]:
    while test.type == "parenthesized_expression" and test.named_child_count == 1:
        test = test.named_children[0]
    signs = {child.type for child in test.children if not child.is_named}
    if signs & {"and", "&&"} and test.named_child_count == 2:
        yield from _conjuncts(test.named_children[0])
        yield from _conjuncts(test.named_children[1])
    else:
        yield test


def _pipelines(root: Node) -> set[str]:
    """Names of pipelines that ask who somebody is."""
    found: set[str] = set()
    todo = [root]
    while todo:
        node = todo.pop()
        if node.type == "call" and _target(node) == "pipeline":
            given = _given(node)
            plugs = re.findall(r"\bplug\b[ (]+([:\w.]+)", _text(node))
            if given and any(
                _CHECK.search(one) and "forgery" not in one and "browser" not in one for one in plugs
            ):
                found.add(_text(given[0]).lstrip(":"))
        todo += node.named_children
    return found


def _scope(
    node: Node, guarded: set[str], look: _Look, outer: tuple[str, str, bool] = ("", "", False), depth: int = 0
) -> Iterator[Fact]:
    """Routes of a scope: which of them are behind a pipeline that asks."""
    if depth == 0 and _inside_scope(node):
        return
    prefix, alias, asks = outer
    given = _given(node)
    texts = [_text(one).strip('"') for one in given if one.type == "string"]
    aliases = [_text(one) for one in given if one.type == "alias"]
    prefix, alias = (
        prefix + (texts[0] if texts else ""),
        ".".join(part for part in (alias, *aliases[:1]) if part),
    )
    block = next((one for one in node.named_children if one.type == "do_block"), None)
    calls = [one for one in block.named_children if one.type == "call"] if block is not None else []
    for one in calls:
        if _target(one) == "pipe_through":
            asks = asks or bool({name.lstrip(":") for name in re.findall(r":?\w+", _text(one))} & guarded)
    for one in calls:
        name, words = _target(one), _given(one)
        if name == "scope" and depth < 10:
            yield from _scope(one, guarded, look, (prefix, alias, asks), depth + 1)
        elif name in _VERBS and len(words) > 1:
            handler = f"{alias}.{_text(words[1])}".strip(".")
            action = _text(words[2]) if len(words) > 2 and words[2].type == "atom" else ""
            subject = f"route {name} {handler} {action}".strip()
            look.subjects.append(subject)
            place = prefix.rstrip("/") + "/" + _text(words[0]).strip('"').lstrip("/")
            said = f"{name} {place} to {handler} {action}"
            if asks:
                yield Fact("guard", "authentication", subject, _line(one), said)


def _inside_scope(node: Node) -> bool:
    at = node.parent
    while at is not None:
        if at.type == "call" and _target(at) == "scope":
            return True
        at = at.parent
    return False


def _target(node: Node) -> str:
    return _text(node.named_children[0]) if node.named_children else ""


def _given(node: Node) -> list[Node]:
    found = next((one for one in node.named_children if one.type == "arguments"), None)
    return list(found.named_children) if found is not None else []


def _text(node: Node | None) -> str:
    return " ".join(((node.text or b"") if node is not None else b"").decode("utf-8", "replace").split())


def _line(node: Node) -> int:
    return node.start_point[0] + 1
