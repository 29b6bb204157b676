"""What a program was started with, as gVisor tells it; paths and addresses."""

from __future__ import annotations

import re
from typing import Any, Final

from gate.inside.observer import network, process
from gate.inside.observer.text import text_of
from gate.regex import regex
from gate.tracing.readers.gvisor import log, wire

_WORDS: Final = 64
_WORD_BYTES: Final = 4096
_ARGV_BYTES: Final = 16 << 10
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_LISTS: Final = ", ".join(
    rf"0x[0-9a-f]+ (?:\[(?P<{name}>(?:{_QUOTED}(?:, {_QUOTED})*)?)\]|\{{error copying vector: [a-z ]+\}})"
    for name in ("argv", "envv")
)
_EXECVE: Final = regex(rf"0x[0-9a-f]+ (?P<path>.*?), {_LISTS}", re.DOTALL)
_EXECVEAT: Final = regex(
    rf"(?:AT_FDCWD|-?\w+) (?P<dir>.*?), 0x[0-9a-f]+ (?P<path>.*?), {_LISTS}, .*", re.DOTALL
)
_WORD: Final = regex(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = regex(rb"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)", re.DOTALL)
_SHORT: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def exec_fields(fields: wire.Fields, cwd: str) -> dict[str, Any]:
    """Fields of an ``exec`` line from the packet that names the program."""
    raw, folder = text_of(wire.text(fields, 6)), text_of(wire.text(fields, 5))
    path = absolute_path(folder or cwd, raw) if raw else folder
    if path.startswith("memfd:"):
        path = "/" + path
    return _told(path, cwd, wire.texts(fields, 7), wire.texts(fields, 8))


def logged_exec(said: log.Logged, cwd: str) -> dict[str, Any]:
    """The same from a line of the log. Raises AmbiguousLineError."""
    found = (_EXECVE if said.call == "execve" else _EXECVEAT).fullmatch(said.arguments)
    if found is None:
        raise log.AmbiguousLineError(f"{said.call} can be read in two ways")
    folder, raw = logged_text(found["dir"] if said.call == "execveat" else ""), logged_text(found["path"])
    argv, environment = (
        [_unquoted(word) for word in _WORD.findall(found[key] or "")] for key in ("argv", "envv")
    )
    return _told(absolute_path(folder or cwd, raw) if raw else folder, cwd, argv, environment)


def _unquoted(word: str) -> bytes:
    """A Go string literal (strconv.Quote) as bytes."""
    return _ESCAPE.sub(_escaped, word.encode("utf-8", "surrogatepass"))


def _escaped(found: re.Match[bytes]) -> bytes:
    kind, digits = found[1][:1], found[1][1:]
    if kind == b"x":
        return bytes([int(digits, 16)])
    if kind in b"uU":
        return chr(int(digits, 16)).encode("utf-8", "surrogatepass")
    return _SHORT.get(kind, kind)


def _told(path: str, cwd: str, words: list[bytes], environment: list[bytes]) -> dict[str, Any]:
    argv, left = [], _ARGV_BYTES
    for word in words[:_WORDS]:
        if left <= 0:
            break
        argv.append(text_of(word[: min(left, _WORD_BYTES)]))
        left -= len(word) + 1
    said: dict[str, Any] = {"path": path, "cwd": cwd, "argv": argv, "argc": len(words)}
    return said | {"envc": len(environment), "env": _environment(environment)}


def address_fields(raw: bytes, cwd: str) -> dict[str, Any]:
    """Fields of a ``struct sockaddr``; a Unix socket's path made absolute. Raises UnreadableError."""
    found = network.address_fields(raw)
    if found["family"] == "AF_UNIX" and found["addr"] and not found["addr"].startswith("@"):
        found["addr"] = absolute_path(cwd, found["addr"])
    return found


def absolute_path(folder: str, path: str) -> str:
    """A path made absolute; links and dots stay."""
    if path.startswith("/"):
        return path
    return f"{folder.rstrip('/')}/{path}" if path else folder


def logged_text(raw: str) -> str:
    """A log line's text in the trace's spelling (it was UTF-8; bytes that were not are lost)."""
    return text_of(raw.encode("utf-8", "surrogatepass"))


def _environment(raw: list[bytes]) -> dict[str, str]:
    """Only variables that change what runs or where data goes, as the other tracer keeps them."""
    out: dict[str, str] = {}
    for word in raw[:1024]:
        name, _, value = word[:1024].partition(b"=")
        if len(name) < 64 and len(out) < 64 and process.ENVIRONMENT.fullmatch(name):
            out[text_of(name)] = text_of(value)
    return out
