"""Web servers and pages: who has to log in, which headers are sent, what is escaped, checked or handed on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

from gate.infrastructure.cache_keys import nginx_key
from gate.infrastructure.facts import Fact, FileFacts, Width
from gate.infrastructure.server_variables import resolved, sources_of
from gate.infrastructure.server_widths import directive_widths, logged
from gate.regex import regex

_HEADERS: Final = frozenset(
    ("strict-transport-security", "x-frame-options", "x-content-type-options", "referrer-policy")
)
_ASKS: Final = frozenset(
    ("auth_basic", "auth_request", "auth_jwt", "ssl_verify_client", "deny", "basicauth", "basic_auth")
)
_TOKEN: Final = regex(r"#[^\n]*|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[{};]|[^\s{};\"'#]+|\n")
_ADDRESS: Final = regex(r"^\w{1,10}://\[?([0-9a-fA-F.:]{7,39}?)\]?(?::\d+)?(?:/|$)")
_TAG: Final = regex(r"<(script|link)\b([^>]{0,2000})>", re.IGNORECASE)
_PLACE: Final = regex(r"\b(?:src|href)\s*=\s*[\"']?((?:https?:)?//[^\"'\s>]{1,500})", re.IGNORECASE)
_ACTION: Final = regex(
    r"<(?:form|button|input)\b[^>]{0,1000}?\b(?:form)?action\s*=\s*[\"']?((?:https?:)?//[^\"'\s>]{1,500})",
    re.IGNORECASE,
)
_SCRIPT: Final = regex(r"<script\b[^>]{0,1000}>(.{0,200000}?)</script", re.IGNORECASE | re.DOTALL)
_SENDING: Final = regex(
    r"(?:sendBeacon|fetch|axios(?:\.\w+)?|\.open|\.post|\.src\s*=|\.action\s*=|WebSocket|importScripts)\s*\(?[^;]{0,80}?"
    r"[\"'`](?P<address>(?:https?:|wss?:)?//[^\"'`\s]{3,300})"
)
_PERSONAL: Final = regex(
    r"document\s*\.\s*cookie|localStorage|sessionStorage|\.value\b|FormData|\bkey(?:down|press|up)\b|\.serialize(?:Array)?\s*\("
    r"|new\s+URLSearchParams"
)
_POLICY: Final = regex(r"<meta\b[^>]{0,200}content-security-policy", re.IGNORECASE)
_FORM: Final = regex(r"<form\b", re.IGNORECASE)
_FORM_TOKEN: Final = regex(
    r"\{%-?\s*csrf_token\s*-?%\}|\bcsrf_token\(\)|\bhidden_tag\(\)|@csrf\b|authenticity_token|\bcsrf_field\(\)"
)
_SHOWN: Final = regex(r"\{\{-?\s*([^{}|\n]{1,200}?)\s*((?:\|[^{}\n]{0,200}?)?)-?\}\}")
_RAW: Final = regex(r"\|\s*(?:safe|safeseq|raw|unsafe|noescape)\b")


def server_facts(text: str, path: str) -> FileFacts:
    """Nginx and what is written like it (directives, blocks, semicolons)."""
    found = [*_directives(text, path)]
    return FileFacts.of(found, [path, *(one.subject for one in found if isinstance(one, Fact))])


def _directives(text: str, path: str) -> Iterator[Fact | Width]:
    every = [*_split(text)]
    sources = sources_of((words, block) for words, block, _, _ in every)
    for words, block, opens, at in every:
        if opens:
            continue
        yield from _directive(words, path, at)
        if words[0].lower() == "log_format":
            said = resolved(" ".join(words[1:]), sources)
            yield from logged(said, " ".join(words), path, at)
        yield from directive_widths(words, path, block, at)
        yield from nginx_key(words, path, block, at)


def _split(text: str) -> Iterator[tuple[list[str], str, bool, int]]:
    """Directives: their words, the block around them, whether they open one, their line."""
    line, words, at = 1, list[str](), 1
    blocks: list[str] = []
    for match in _TOKEN.finditer(text):
        mark = match[0]
        if mark == "\n":
            line += 1
            continue
        if mark.startswith("#"):
            continue
        if mark in "{};":
            if words:
                yield words, blocks[-1] if blocks else "", mark == "{", at
            if mark == "{":
                blocks.append(" ".join(words))
            elif mark == "}" and blocks:
                blocks.pop()
            words = []
            continue
        if not words:
            at = line
        words.append(mark[1:-1] if mark[0] in "\"'" and mark[-1] == mark[0] else mark)
        line += mark.count("\n")


def _directive(words: list[str], path: str, line: int) -> Iterator[Fact]:
    name, rest = words[0].lower(), words[1:]
    text = " ".join(words)[:120]
    if name == "add_header" and rest:
        header = rest[0].lower()
        if header == "content-security-policy":
            yield Fact("guard", "content-policy", path, line, text)
        elif header in _HEADERS:
            yield Fact("guard", "response-header", f"{path} {header}", line, text)
    elif name in _ASKS and rest[:1] != ["off"]:
        yield Fact("guard", "authentication", f"{path} {name}", line, text)
    elif name in ("limit_req", "limit_conn"):
        yield Fact("guard", "rate-limit", f"{path} {name}", line, text)
    elif name in ("proxy_pass", "mirror", "fastcgi_pass", "uwsgi_pass", "grpc_pass") and rest:
        address = _ADDRESS.match(rest[0])
        if address and _is_public(address[1]):
            yield Fact("grant", "sent-elsewhere", rest[0], line, text)
    elif name == "proxy_ssl_verify" and rest[:1] == ["on"]:
        yield Fact("guard", "transport", f"{path} {name}", line, text)


def _is_public(text: str) -> bool:
    """The documentation networks stand for the real thing in tests and samples."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    documented = text.startswith(("192.0.2.", "198.51.100.", "203.0.113.", "2001:db8:"))
    return address.is_global or documented


def page_facts(text: str, path: str) -> FileFacts:
    """HTML and templates of the Jinja and Django kind."""
    facts = [*_page(text, path)]
    subjects = [path, *(fact.subject for fact in facts)]
    places = (_PLACE.search(match[2]) for match in _TAG.finditer(text))
    if _FORM.search(text):
        subjects.append(f"{path} form")
    subjects.extend(_without_version(place[1]) for place in places if place)
    return FileFacts(facts=facts, subjects=subjects)


def _page(text: str, path: str) -> Iterator[Fact]:
    for match in _TAG.finditer(text):
        place = _PLACE.search(match[2])
        if place and match[1].lower() == "script":
            host = _host(place[1])
            yield Fact(
                "grant", "script-elsewhere", f"{path} script {host}", _line(text, match), place[1][:120]
            )
        if place and re.search(r"\bintegrity\s*=", match[2], re.IGNORECASE):
            yield Fact("guard", "integrity", _without_version(place[1]), _line(text, match), place[1][:120])
    for match in _ACTION.finditer(text):
        yield Fact(
            "grant", "form-elsewhere", f"{path} form {_host(match[1])}", _line(text, match), match[0][:120]
        )
    yield from _inline(text, path)
    if policy := _POLICY.search(text):
        yield Fact("guard", "content-policy", path, _line(text, policy), policy[0][:80])
    if _FORM.search(text) and (mark := _FORM_TOKEN.search(text)):
        yield Fact("guard", "csrf-token", f"{path} form", _line(text, mark), mark[0][:80])
    for match in _SHOWN.finditer(text):
        value = " ".join(match[1].split())
        sort, what = ("grant", "unescaped") if _RAW.search(match[2]) else ("guard", "escaped")
        yield Fact(
            "grant" if sort == "grant" else "guard",
            what,
            f"{path} {value}",
            _line(text, match),
            match[0][:120],
        )


_CATALOGUES: Final = frozenset(
    {"api.github.com", "raw.githubusercontent.com", "registry.npmjs.org", "pypi.org", "crates.io"}
)
"""Pages of a project ask these what is released; without a log-in they keep nothing."""


def _inline(text: str, path: str) -> Iterator[Fact]:
    """Scripts in the page that read what visitors type or are known by, and send it to another origin."""
    for script in _SCRIPT.finditer(text):
        code = script[1]
        sent = _SENDING.search(code)
        host = _host(sent["address"]) if sent else ""
        if sent and host not in _CATALOGUES and _PERSONAL.search(code):
            yield Fact("grant", "typed-sent", f"{path} sends to {host}", _line(text, script), sent[0][:120])


def _host(address: str) -> str:
    return address.partition("//")[2].partition("/")[0].partition("?")[0].lower()


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1


def _without_version(place: str) -> str:
    """An address without the digits of its version: an update is the same script."""
    return re.sub(r"[@/-]v?\d[\w.+-]*", "", place.partition("?")[0])
