"""Caddy's configuration: which requests a guard asks who they are, whom the server trusts, what it sends.

A directive has a matcher: none (all requests), a path, or ``@name`` with conditions. A guard that got one
more condition asks fewer; a path that it no longer names is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from gate.infrastructure.facts import Fact, FileFacts, Width
from gate.infrastructure.server_widths import header_widths
from gate.regex import regex

_TOKEN: Final = regex(r"#[^\n]*|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|\n|[^\s\"`]+")
_GUARDS: Final = frozenset(
    {"basic_auth", "basicauth", "forward_auth", "authorize", "authenticate", "jwtauth", "authp", "oidc"}
)
_GROUPS: Final = frozenset({"handle", "handle_path", "route"})
_ANSWERS: Final = frozenset({"reverse_proxy", "php_fastcgi", "file_server"})
_MODES: Final = {"require_and_verify": 0.0, "require": 1.0, "verify_if_given": 2.0, "request": 3.0}
_PRIVATE: Final = ("192.168.0.0/16", "172.16.0.0/12", "10.0.0.0/8", "127.0.0.1/8", "fd00::/8", "::1")
_HEADERS: Final = frozenset(
    {"strict-transport-security", "x-frame-options", "x-content-type-options", "referrer-policy"}
)
_DEEPEST: Final = 40


class _Node(NamedTuple):
    """One directive with its words, and what stands in its block."""

    words: list[str]
    line: int
    inside: list[_Node]

    @property
    def name(self) -> str:
        """Its first word."""
        return self.words[0].lower() if self.words else ""


def is_caddyfile(path: str) -> bool:
    """By its name: ``Caddyfile``, ``Caddyfile.prod``, ``shop.caddy``, ``shop.caddyfile``."""
    name = PurePosixPath(path).name.lower()
    return name.startswith("caddyfile") or name.endswith((".caddy", ".caddyfile"))


def caddy_facts(text: str, path: str) -> FileFacts:
    """The guards, trusted proxies, headers and sites of one file."""
    subjects: list[str] = []
    found: list[Fact | Width] = []
    for site in _parsed(text):
        label = "_".join(site.words) or "options"
        if not site.inside:
            continue
        subjects.append(f"{path} {label}")
        matchers = {one.words[0]: one for one in site.inside if one.name.startswith("@")}
        found += _block(site.inside, f"{path} {label}", matchers, path)
        found += _beside(site.inside, matchers, f"{path} {label}")
    return FileFacts.of(found, [*subjects, *(one.subject for one in found if isinstance(one, Fact))])


def _parsed(text: str) -> list[_Node]:
    """A file's blocks. A site without braces, alone in its file, holds the rest of the file."""
    top: list[_Node] = []
    stack: list[list[_Node]] = [top]
    words: list[str] = []
    line = first = 1
    for match in _TOKEN.finditer(text):
        mark = match[0]
        if mark == "\n":
            if words:
                stack[-1].append(_Node(words, first, []))
                words = []
            line += 1
        elif mark == "{" and len(stack) < _DEEPEST:
            made = _Node(words, first if words else line, [])
            stack[-1].append(made)
            stack.append(made.inside)
            words = []
        elif mark == "}" and not words:
            if len(stack) > 1:
                stack.pop()
        elif not mark.startswith("#"):
            first = line if not words else first
            words.append(mark.strip('"`'))
            line += mark.count("\n")
    if words:
        stack[-1].append(_Node(words, first, []))
    if top and not any(one.inside for one in top[:1]) and "." in "".join(top[0].words):
        return [_Node(top[0].words, top[0].line, top[1:])]
    return top


def _block(
    nodes: Sequence[_Node], who: str, matchers: Mapping[str, _Node], path: str, depth: int = 0
) -> Iterator[Fact | Width]:
    for node in nodes if depth < _DEEPEST else ():
        name, rest = node.name, node.words[1:]
        text = " ".join(node.words)[:120]
        if name in _GUARDS:
            yield Fact("guard", "authentication", f"{who} {name}", node.line, text)
            paths, conditions = _matched(node, matchers)
            asked = f"{text} ({', '.join([*paths, *conditions])})"[:160] if paths or conditions else text
            if paths:
                yield Width("covered", f"{who} {name} paths", node.line, asked, members=paths)
            yield Width("weaker", f"{who} {name} when", node.line, asked, measure=float(len(conditions)))
        elif name == "trusted_proxies":
            members = [one for word in rest if word != "static" for one in _networks(word)]
            yield Width("trusted", f"{who} {name}", node.line, text, members=members)
        elif name == "mode" and rest[:1] and rest[0] in _MODES:
            yield Width("weaker", f"{who} client_auth", node.line, text, measure=_MODES[rest[0]])
        elif name == "reverse_proxy":
            loose = any(one.name == "tls_insecure_skip_verify" for one in _all(node.inside))
            to = f"{text}{' tls_insecure_skip_verify' if loose else ''}"
            yield Width("weaker", f"{who} upstream verified", node.line, to, measure=float(loose))
        elif (
            name == "admin"
            and rest[:1]
            and not rest[0].startswith(("localhost", "127.", "off", "unix", "[::1]"))
        ):
            yield Fact("grant", "engine-open", f"{path} admin", node.line, text)
        elif name == "header":
            yield from _headers(node, who)
        if name == "route":
            yield from _ahead(node, who)
        yield from _block(node.inside, who, matchers, path, depth + 1)


def _all(nodes: Sequence[_Node]) -> Iterator[_Node]:
    for node in nodes:
        yield node
        yield from _all(node.inside)


def _networks(word: str) -> tuple[str, ...]:
    return _PRIVATE if word == "private_ranges" else (word,)


def _matched(node: _Node, matchers: Mapping[str, _Node]) -> tuple[list[str], list[str]]:
    """The paths that a directive is for, and the other conditions on it."""
    first = node.words[1] if len(node.words) > 1 else ""
    if first.startswith("/"):
        return [first], []
    one = matchers.get(first)
    if one is None:
        return [], []
    parts = [one.words[1:]] if len(one.words) > 1 else [part.words for part in one.inside]
    paths = [word for part in parts if part[:1] == ["path"] for word in part[1:]]
    return paths, [" ".join(part) for part in parts if part and part[0] != "path"]


def _headers(node: _Node, who: str) -> Iterator[Fact | Width]:
    rows = [one.words for one in node.inside] or [
        node.words[2:] if node.words[1:2] and node.words[1][:1] in "@/*" else node.words[1:]
    ]
    for words in rows:
        header = words[0].lower().lstrip("+?>") if len(words) > 1 else ""
        if header == "content-security-policy":
            yield Fact("guard", "content-policy", who, node.line, " ".join(words)[:120])
        elif header in _HEADERS:
            yield Fact("guard", "response-header", f"{who} {header}", node.line, " ".join(words)[:120])
        if header:
            yield from header_widths(header, words[1], who, node.line)


def _ahead(route: _Node, who: str) -> Iterator[Fact]:
    """What answers before the guard: the directives of ``route`` are taken as they stand."""
    guard = next((n for n, one in enumerate(route.inside) if one.name in _GUARDS), None)
    for one in route.inside[: guard or 0]:
        if any(each.name in _ANSWERS for each in _all([one])):
            text = " ".join(one.words)[:120]
            yield Fact(
                "grant", "route-unguarded", f"{who} ahead {text}", one.line, f"{text} before the guard"
            )


def _beside(nodes: Sequence[_Node], matchers: Mapping[str, _Node], who: str) -> Iterator[Fact]:
    """A group of routes without a guard for a path below one that another group, or a guard, keeps."""
    groups = [one for one in nodes if one.name in _GROUPS]
    kept = [path for one in nodes if one.name in _GUARDS for path in _matched(one, matchers)[0]]
    open_groups: list[_Node] = []
    for group in groups:
        if any(one.name in _GUARDS for one in _all(group.inside)):
            kept += _matched(group, matchers)[0]
        else:
            open_groups.append(group)
    for group in open_groups:
        for path in _matched(group, matchers)[0]:
            over = next((one for one in kept if one.endswith("*") and path.startswith(one.rstrip("*"))), "")
            if over and any(one.name in _ANSWERS for one in _all(group.inside)):
                text = f"{group.name} {path} without the guard of {over}"
                yield Fact("grant", "route-unguarded", f"{who} {path}", group.line, text)
