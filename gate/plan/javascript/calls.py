"""Which lines of JavaScript and TypeScript can act, told from the words of the text: hints, as for Python.

Runs in the limited child (gate/languages/limited_child.py), except for the table of names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gate.languages.javascript import Word, bare_words, read
from gate.plan.javascript.bindings import Names
from gate.regex import regex

ACTS: Final = {
    "start a process": r"""child_process\.(exec|execFile|spawn)(Sync)? | child_process\.fork | cluster\.fork
        | Deno\.(Command|run) | Bun\.(spawn|spawnSync|\$)
        | (execa|cross-spawn|tinyexec|shelljs|zx|node-pty)(\.[\w$]+)?""",
    "reach the network": r"""fetch | https?\.(get|request|createServer) | http2\.(connect|create\w*Server)
        | net\.(connect|createConnection|createServer|Socket|Server) | tls\.(connect|createServer|TLSSocket)
        | dgram\.createSocket | dns(\.promises)?\.(lookup\w*|resolve\w*|reverse|Resolver)
        | WebSocket | XMLHttpRequest | EventSource | navigator\.sendBeacon | RTCPeerConnection
        | Deno\.(connect\w*|listen\w*|serve|resolveDns) | Bun\.(connect|listen|serve|udpSocket)
        | (ws|axios|got|ky|undici|superagent|needle|request|ofetch)(\.[\w.]+)?
        | (node-fetch|node-fetch-native|cross-fetch)(\.[\w.]+)?
        | (socket\.io-client|nodemailer|ssh2)(\.[\w.]+)?""",
    "run code that it is given": r"""eval | Function | importScripts | (worker_threads\.)?(Shared)?Worker
        | vm\.(runIn\w+|Script|compileFunction|SourceTextModule|createScript)
        | (.+\.)?_compile | v8\.deserialize | node-serialize\.unserialize""",
    "load native code": r"""process\.(binding|_linkedBinding|dlopen) | Deno\.dlopen | bun:ffi\.\w+
        | (ffi-napi|koffi|ffi-rs)\.\w+""",
    "delete files": r"""fs(\.promises)?\.(rm|rmdir|unlink)(Sync)? | Deno\.remove(Sync)? | (rimraf|del)(\.\w+)?
        | fs-extra\.(remove|emptyDir|rm|unlink|rmdir)(Sync)?""",
    "signal other processes": r"process\.kill | Deno\.kill",
}
"""What a call to such a name can do, in the words that are used for Python (reader.py)."""
_ACTS: Final = tuple((what, regex(names, re.VERBOSE)) for what, names in ACTS.items())
_PACKAGES: Final = frozenset(("ws", "got", "ky", "needle", "request", "del"))
"""Packages whose names much else has (a parameter, a socket): these act only where the text loads them."""
_WRITES: Final = regex(
    r"(?:fs|fs-extra)(?:\.promises)?\.(?:writeFile|appendFile|copyFile|rename|symlink|link|cp|outputFile|open)(?:Sync)?"
    r"|fs\.createWriteStream|Bun\.write|Deno\.(?:writeTextFile|writeFile|copyFile|rename|symlink|open)(?:Sync)?"
)
_HIDDEN: Final = regex(r"(?:^|[/\\~])\.[A-Za-z_][\w.-]*(?:$|[/\\])")
_CALLED: Final = regex(r"\.(?:call|apply|bind)$")
_BEFORE_DEFINED: Final = frozenset(
    ("{", "}", ";", ",", "async", "static", "*", "get", "set", "public", "private", "protected", "override")
)
MOST_ACTS: Final = 20_000
"""Of one file; which of them are on changed lines is told from all."""
_SPAN: Final = 4000
"""Words of an argument list that are looked at."""

Act = tuple[int, int, str]


def read_acts(path: str, data: bytes, options: Mapping[str, object]) -> tuple[Act, ...]:
    """What ``acting_lines`` says of one file, for scan_isolated."""
    del options
    return acting_lines(_decoded(data), path)


def read_bare_acts(path: str, data: bytes, options: Mapping[str, object]) -> tuple[Act, ...]:
    """The same by bare words, in time that is linear in the text: more is told than is there."""
    del path, options
    return _first(_bare(_decoded(data)))


def acting_lines(source: str, path: str = "") -> tuple[Act, ...]:
    """``(first line, last line, what a call there can do)``, 1-based and inclusive, at most
    MOST_ACTS.
    """
    reading = read(source, path)
    found = _found(Names(reading.words))
    if reading.doubtful:
        known = {(first, what) for first, _, what in found}
        found |= {act for act in _bare(source) if (act[0], act[2]) not in known}
    return _first(found)


def _bare(source: str) -> set[Act]:
    return _found(Names(bare_words(source), bare=True))


def _first(found: set[Act]) -> tuple[Act, ...]:
    return tuple(sorted(found)[:MOST_ACTS])


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _found(names: Names) -> set[Act]:
    for _ in _expressions(names):
        pass  # names may be bound behind the function that uses them
    found = {act for at, name, end in _expressions(names) for act in _told(names, at, name, end)}
    return found | set(_made(names))


def _expressions(names: Names) -> Iterator[tuple[int, str, int]]:
    """Where an expression with a name begins, the name, and the index behind it."""
    for at, word in enumerate(names.words):
        if word.value == "import" and word.kind == "name":
            names.imports(at)
        if (word.kind == "name" or word.value == "(") and not names.is_member(at):
            name, end = names.named(at)
            if name:
                names.bind(at, name, end)
                yield at, name, end


def _made(names: Names) -> Iterator[Act]:
    """``[].constructor.constructor("...")``: a function from a text, whatever stands in front."""
    for at, word in enumerate(names.words):
        twice = word.value == "constructor" and names.has(at + 1, ".") and names.has(at + 2, "constructor")
        if twice and names.has(at + 3, "(", "?."):
            yield word.line, names.words[at + 3].line, "run code that it is given"


def _told(names: Names, at: int, name: str, end: int) -> Iterator[Act]:
    """What the call can do whose function is named so, if it is one."""
    if name.startswith("native.node"):
        yield names.words[at].line, names.words[end - 1].line, "load native code"
        return
    package = name.split(".", 1)[0]
    if package in _PACKAGES and not names.is_loaded(package):
        return
    opens = _arguments(names, end)
    if opens is None and not names.has(at, "new"):
        return
    close = names.closing.get(opens, opens) if opens is not None else end - 1
    if opens is not None and _is_defined(names, at, close):
        return
    inside = names.words[opens + 1 : min(close, opens + _SPAN)] if opens is not None else []
    what = _what(_CALLED.sub("", name), inside)
    if what is not None:
        yield names.words[at].line, names.words[close].line, what


def _what(name: str, inside: list[Word]) -> str | None:
    """``inside``: the words between the brackets of the call."""
    first = inside[0].kind if inside else ""
    loads = name in ("require", "import") and first in (
        "name",
        "text",
        "template",
    )  # what is made at run time
    if loads or (name in ("setTimeout", "setInterval") and first in ("text", "template")):
        return "run code that it is given"
    if _WRITES.fullmatch(name) and any(_is_hidden(word) for word in inside):
        return "write hidden files"
    return next((what for what, known in _ACTS if known.fullmatch(name)), None)


def _arguments(names: Names, end: int) -> int | None:
    """Where a call's brackets open, behind ``?.`` or the types of TypeScript; a template is an argument."""
    if names.kind(end) == "template":
        return end
    end += 1 if names.has(end, "?.", "!") else 0
    if names.has(end, "<"):
        for n in range(end + 1, end + 60):
            if names.has(n, ">") and names.has(n + 1, "("):
                return n + 1
            if names.has(n, ";", ")", "&&", "||"):
                return None
    return end if names.has(end, "(") else None


def _is_defined(names: Names, at: int, close: int) -> bool:
    """``function f() {``, and a method ``f() {`` of a class or an object, are no calls."""
    if names.bare:  # what stands in front or behind may be a comment's
        return False
    if names.has(at - 1, "function") or (names.has(at - 1, "*") and names.has(at - 2, "function")):
        return True
    alone = at == 0 or names.words[at - 1].value in _BEFORE_DEFINED
    return alone and names.has(close + 1, "{", ":") and names.kind(at) == "name"


def _is_hidden(word: Word) -> bool:
    return word.kind in ("text", "template") and bool(_HIDDEN.search(word.value))
