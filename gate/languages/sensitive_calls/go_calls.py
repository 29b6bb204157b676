"""The sensitive calls of a Go text that its names alone do not show: methods of an HTTP client that the text
declares (``c.http.Do(request)``), what is put into a request, variables that steer.

Go is not run by any probe, so a request that only gets one header more would be plainly inert otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.sensitive_calls.go_files import own_files
from gate.languages.sensitive_calls.grammar import Parsed
from gate.languages.sensitive_calls.matching import Hit
from gate.languages.sensitive_calls.steering import steered
from gate.languages.sensitive_calls.table import Language
from gate.languages.tree_sitter_parse import walk
from gate.model.sensitive import SensitiveKind
from gate.regex import regex

_TYPED: Final = {
    "parameter_declaration": ("identifier",),
    "field_declaration": ("field_identifier",),
    "var_spec": ("identifier",),
}
"""Declarations that give names a type, and what those names are."""
_MADE: Final = frozenset({"short_var_declaration", "assignment_statement"})
_VERBS: Final = frozenset({"Get", "Head", "PostForm", "Post", "Do"})
_PUTS: Final = frozenset({"Set", "Add"})
_REQUEST_METHODS: Final = frozenset({"SetBasicAuth", "AddCookie"})
_REQUEST_FIELDS: Final = regex(r"\.(?:Body|GetBody|URL|URL\.(?:RawQuery|Host|Path|User)|Host|Header)\Z")
_NEW_REQUEST: Final = regex(r"\bNewRequest(?:WithContext)?\s*\(|\bhttp\.Request\s*\{")
_REQUEST_TYPE: Final = regex(r"\*?http\.Request\Z")
_ADDRESS: Final = regex(r"[\"`](?:https?|wss?)://")
_MEDIA_TYPE: Final = regex(r"\A[\"`][\w.+-]+/[\w.+-]+")
_SETS: Final = frozenset({"os.Setenv", "syscall.Setenv", "unix.Setenv"})
_MOST_WRITTEN: Final = 80


def go_hits(parsed: Parsed, language: Language, written: list[Hit], *, shipped: bool) -> Iterator[Hit]:
    """``written``, the hits by the words alone, and what the declarations show besides. ``shipped``: no test,
    no sample.
    """
    del language
    own = own_files(parsed) if any(hit.kind is SensitiveKind.DELETION for hit in written) else frozenset()
    written = [hit for hit in written if hit.kind is not SensitiveKind.DELETION or hit.start not in own]
    yield from written
    if not shipped:
        return  # tests send requests to themselves all the time
    reader = _Reader(parsed)
    told = {(hit.start, hit.kind) for hit in written}
    found = [hit for hit in reader.sent() if (hit.start, hit.kind) not in told]
    yield from found
    yield from reader.steers()
    if any(hit.kind is SensitiveKind.NETWORK for hit in (*written, *found)):
        yield from reader.puts()


class _Reader:
    """One text. Names are followed by what the text declares them as, whatever the scope."""

    def __init__(self, parsed: Parsed) -> None:
        self._text = parsed.text
        self._nodes = tuple(walk(parsed.root, frozenset()))
        http = {name for name, paths in parsed.bindings().names.items() if ("net/http",) in paths} | {"http"}
        self._uses_http = b'"net/http' in parsed.text
        word = "|".join(sorted(re.escape(name) for name in http))
        self._client = re.compile(rf"(?:\*|&|new\()?(?:{word})\.(?:Client\b|DefaultClient\b)")
        self._clients: set[str] = set()
        self._requests: set[str] = set()
        self._queries: set[str] = set()
        for node in self._nodes:
            self._learn(node)

    def _said(self, node: Node | None) -> str:
        if node is None:
            return ""
        return self._text[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _learn(self, node: Node) -> None:
        if node.type in _TYPED:
            kind = self._said(node.child_by_field_name("type"))
            names = [self._said(child) for child in node.named_children if child.type in _TYPED[node.type]]
            if self._client.match(kind):
                self._clients.update(names)
            elif _REQUEST_TYPE.match(kind) and node.type != "parameter_declaration":
                self._requests.update(names)
        elif node.type in _MADE:
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            first = self._said(left).partition(",")[0].strip().rpartition(".")[2]
            said = self._said(right)
            if self._client.match(said):
                self._clients.add(first)
            elif _NEW_REQUEST.search(said[:200]):
                self._requests.add(first)
            elif said.endswith(".URL.Query()") or said.startswith("url.Values{"):
                self._queries.add(first)

    def _called(self, node: Node) -> tuple[str, str, list[Node]]:
        """Receiver and method of a call as written, and its arguments."""
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or function.type != "selector_expression" or given is None:
            return "", "", []
        operand = self._said(function.child_by_field_name("operand"))
        return operand, self._said(function.child_by_field_name("field")), list(given.named_children)

    def sent(self) -> Iterator[Hit]:
        """Calls that send a request over a client that the text declares, or one of that shape."""
        if not self._uses_http:
            return
        for node in self._nodes:
            if node.type != "call_expression":
                continue
            receiver, method, given = self._called(node)
            if method not in _VERBS or not given:
                continue
            name = receiver.rpartition(".")[2]
            texts = [self._said(one) for one in given]
            asks = method == "Do" and len(given) == 1 and texts[0] in self._requests
            posts = method == "Post" and len(given) == 3 and _MEDIA_TYPE.match(texts[1])
            if name in self._clients or asks or posts or (method != "Do" and _ADDRESS.match(texts[0])):
                yield self._hit(node, f"{receiver}.{method}")

    def puts(self) -> Iterator[Hit]:
        """Statements that put a value into a request: a header, a cookie, the body, the query."""
        for node in self._nodes:
            if node.type == "call_expression":
                receiver, method, _ = self._called(node)
                owner, _, last = receiver.rpartition(".")
                header = method in _PUTS and last == "Header" and bool(owner)
                if header or method in _REQUEST_METHODS or (method in _PUTS and receiver in self._queries):
                    yield self._hit(node, f"{receiver}.{method}")
            elif node.type == "assignment_statement":
                left = self._said(node.child_by_field_name("left"))
                place = left.partition("[")[0]
                if place.partition(".")[0] in self._requests and _REQUEST_FIELDS.search(place):
                    yield self._hit(node, left)

    def steers(self) -> Iterator[Hit]:
        """Variables that are set and steer: a proxy, whom is trusted, what is loaded."""
        for node in self._nodes:
            if (
                node.type != "call_expression"
                or self._said(node.child_by_field_name("function")) not in _SETS
            ):
                continue
            given = self._called(node)[2]
            kind = steered(self._said(given[0]).strip('"`')) if given else None
            if kind is not None:
                yield self._hit(node, self._said(node.child_by_field_name("function")), kind)

    def _hit(self, node: Node, call: str, kind: SensitiveKind = SensitiveKind.NETWORK) -> Hit:
        said = " ".join(call.split())[:_MOST_WRITTEN]
        return Hit(start=node.start_byte, end=node.end_byte, kind=kind, call=said)
