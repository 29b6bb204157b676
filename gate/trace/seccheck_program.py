"""What a program was started with, as gVisor tells it; and its paths."""

from __future__ import annotations

from typing import Any, Final

from gate.sandbox.observer import process
from gate.trace import seccheck_wire as wire
from gate.trace.events import text_of

_WORDS: Final = 64
_WORD_BYTES: Final = 4096
_ARGV_BYTES: Final = 16 << 10


def exec_fields(fields: wire.Fields, cwd: str) -> dict[str, Any]:
    """Fields of an ``exec`` line from the packet that names the program."""
    raw, folder = text_of(wire.text(fields, 6)), text_of(wire.text(fields, 5))
    path = joined(folder or cwd, raw) if raw else folder
    if path.startswith("memfd:"):
        path = "/" + path
    words, environment = wire.texts(fields, 7), wire.texts(fields, 8)
    argv, left = [], _ARGV_BYTES
    for word in words[:_WORDS]:
        if left <= 0:
            break
        argv.append(text_of(word[: min(left, _WORD_BYTES)]))
        left -= len(word) + 1
    said: dict[str, Any] = {"path": path, "cwd": cwd, "argv": argv, "argc": len(words)}
    return said | {"envc": len(environment), "env": _environment(environment)}


def joined(folder: str, path: str) -> str:
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
