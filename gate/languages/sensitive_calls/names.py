"""Finds dotted names (``a.b().c``) in code whose strings and comments are blanked, and what they stand for.

One way for all languages: ``.``, ``?.``, ``!.``, ``::``, ``->`` and PHP's backslash join a name; arguments
between are written ``()``; a subscript with a constant text is a member.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.regex import regex

_WORD: Final = rb"[A-Za-z_$@\x80-\xff][\w$\x80-\xff]*"
_JOIN: Final = rb"(?:\?\.|!\.|\?->|->|::|\.|\\)"
_NAME: Final = regex(_WORD)
_TAIL: Final = regex(rb"(?:\s{0,200}%(j)s\s{0,200}%(w)s)*" % {b"j": _JOIN, b"w": _WORD})
_SPLIT: Final = regex(rb"\s*%s\s*" % _JOIN)
_LAST: Final = regex(rb"(%s)\s*\Z" % _WORD)
_JOINED: Final = regex(rb"%s\s*\Z" % _JOIN)
_LITERAL: Final = regex(rb"\[\s*(['\"`])([A-Za-z_]\w*)\1\s*\]")
_LOADERS: Final = frozenset({b"require", b"import", b"__import__", b"import_module"})
_TEXT: Final = regex(rb"\s*['\"`]([^'\"`\s]{1,200})['\"`]")
_AWAITED: Final = regex(rb"\s*await\s+(?:import|require)\s*\(.*\)\s*", re.DOTALL)
_BACK: Final = 4_000
"""Bytes looked back over for the start of a chain."""
_LINKS: Final = 24
_HOPS: Final = 3
_MEANINGS: Final = 64
"""Of one name, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chain:
    """One name as written: its parts, and where it begins and ends in the text."""

    parts: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Bindings:
    """What names stand for through imports and plain assignments: ``run`` is ``subprocess.run``.

    A name has every meaning that some scope of the file gives it: an import in one function must not hide
    what the name is in another. ``stars`` are the modules imported whole.
    """

    names: Mapping[str, frozenset[tuple[str, ...]]] = field(default_factory=dict)
    stars: tuple[tuple[str, ...], ...] = ()


def with_members(text: bytes, code: bytearray) -> None:
    """Write constant subscripts (``process["env"]``) into the blanked code as members, in place."""
    for match in _LITERAL.finditer(text):
        before = bytes(code[max(0, match.start() - 60) : match.start()]).rstrip()
        if before and (before[-1:].isalnum() or before[-1:] in b"_)]$"):
            member = b"." + match[2]
            code[match.start() : match.end()] = member.ljust(match.end() - match.start())


def chains(text: bytes, code: bytes, interesting: frozenset[bytes]) -> Iterator[Chain]:
    """Every name with a part among ``interesting``, in text order, its receivers included."""
    done = 0
    for match in _NAME.finditer(code):
        word = match[0]
        if match.start() < done or not (
            word in interesting or word.lstrip(b"$@") in interesting or not word.isascii()
        ):
            continue
        start = match.start()
        before: tuple[bytes, ...] = ()
        joined = _JOINED.search(code[max(0, start - 200) : start])
        if joined is not None and joined[0].strip() != b"\\":
            before, start = _receiver(text, code, max(0, start - 200) + joined.start())
        elif joined is not None:
            before, start = _namespace(code, start)
        tail = _TAIL.match(code, match.end())
        done = tail.end() if tail else match.end()
        parts = [part for part in _SPLIT.split(code[match.start() : done]) if part]
        yield Chain(parts=tuple(_plain(part) for part in (*before, *parts)), start=start, end=done)


def _namespace(code: bytes, start: int) -> tuple[tuple[bytes, ...], int]:
    """PHP's namespaces before a name: parts, and where they begin."""
    window = max(0, start - 300)
    found = re.search(rb"(?:[A-Za-z_]\w*)?(?:\\[A-Za-z_]\w*)*\\\Z", code[window:start])
    if found is None:
        return (), start
    return tuple(part for part in found[0].split(b"\\") if part), window + found.start()


def _plain(part: bytes) -> str:
    return plain_name(part.decode("utf-8", "replace"))


def plain_name(word: str) -> str:
    """The name as an interpreter reads it."""
    # Python reads full-width and other compatible letters as the plain ones (PEP 3131).
    return word if word.isascii() else unicodedata.normalize("NFKC", word)


def _receiver(text: bytes, code: bytes, end: int) -> tuple[tuple[bytes, ...], int]:
    """What stands before a joiner at ``end``: parts, and where they begin. ``?`` is what has no name."""
    parts: list[bytes] = []
    for _ in range(_LINKS):
        window = max(0, end - _BACK)
        left, group = _brackets(code, end, window)
        if left is None:
            return (b"?", *reversed(parts)), end
        word = _LAST.search(code[max(window, left - 300) : left])
        if word is None:
            return (_awaited(text, code, group) or b"?", *reversed(parts)), group[0] if group else left
        called = group is not None and code[group[0] : group[0] + 1] == b"("
        loaded = _TEXT.match(text, group[0] + 1) if called and group and word[1] in _LOADERS else None
        parts.append(loaded[1] if loaded else word[1] + (b"()" if called else b""))
        end = max(window, left - 300) + word.start(1)
        joined = _JOINED.search(code[max(0, end - 200) : end])
        if joined is None:
            return tuple(reversed(parts)), end
        end = max(0, end - 200) + joined.start()
    return (b"?", *reversed(parts)), end


def _brackets(code: bytes, end: int, window: int) -> tuple[int | None, tuple[int, int] | None]:
    """Where the word before a joiner ends, brackets after it skipped, and the first pair of them."""
    left = window + len(code[window:end].rstrip())
    group: tuple[int, int] | None = None
    while left > window and code[left - 1 : left] in (b")", b"]"):
        open_at = _opener(code, left - 1, window)
        if open_at is None:
            return None, None
        group, left = (open_at, left - 1), open_at
        left = window + len(code[window:left].rstrip())
    return left, group


def _awaited(text: bytes, code: bytes, group: tuple[int, int] | None) -> bytes | None:
    """The module of ``(await import("m"))``."""
    if group is None or not _AWAITED.fullmatch(code, group[0] + 1, group[1]):
        return None
    loaded = _TEXT.match(text, text.find(b"(", group[0] + 1) + 1)
    return loaded[1] if loaded else None


def _opener(code: bytes, close: int, window: int) -> int | None:
    """Where the bracket opens that closes at ``close``, or None within the window."""
    depth = 0
    for at in range(close, window - 1, -1):
        byte = code[at]
        if byte in b")]}":
            depth += 1
        elif byte in b"([{":
            depth -= 1
            if depth == 0:
                return at
    return None


def closer(code: bytes, at: int, limit: int = 20_000) -> int:
    """Where the bracket ends that opens at ``at``; ``at`` itself where it does not within ``limit`` bytes."""
    depth = 0
    for here in range(at, min(len(code), at + limit)):
        byte = code[here]
        if byte in b"([{":
            depth += 1
        elif byte in b")]}":
            depth -= 1
            if depth == 0:
                return here
    return at


def resolved(parts: tuple[str, ...], bindings: Bindings) -> tuple[tuple[str, ...], ...]:
    """What a name may stand for: with its first part replaced by all that it is bound to; as written where it
    is bound to nothing. A name that stands for another bound one is followed a few times.
    """
    if parts[0] in bindings.names:
        found: dict[tuple[str, ...], None] = {}
        todo = [(parts, 0)]
        while todo and len(found) < _MEANINGS:
            here, hops = todo.pop()
            for bound in sorted(bindings.names.get(here[0], ())) if hops < _HOPS else ():
                meaning = (*bound, *here[1:])
                if meaning not in found:
                    found[meaning] = None
                    todo.append((meaning, hops + 1))
        return tuple(found)
    if len(parts) == 1 and bindings.stars:
        return (parts, *((*module, *parts) for module in bindings.stars))
    return (parts,)


def module_parts(module: str) -> tuple[str, ...]:
    """``os/exec`` is one part, ``std::process`` two: a name's parts as an entry writes them."""
    plain = module.strip("\"'`<>").removeprefix("node:").strip("\\")
    if "/" in plain:
        return (plain,)
    return tuple(part for part in re.split(r"::|\\|\.", plain) if part)
