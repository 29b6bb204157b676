"""Matches names in code with the entries of a language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from gate.dataclass import dataclass
from gate.languages.sensitive_calls.names import (
    Bindings,
    Chain,
    chains,
    closer,
    module_parts,
    resolved,
)
from gate.languages.sensitive_calls.table import CallEntry, Language, shared
from gate.model.sensitive import SensitiveKind, Way
from gate.regex import regex

_CALL: Final = regex(
    rb"\s*(?:!\s*)?(?:\?\.\s*)?(?:::\s*)?(?:<[\w\s,.:&\[\]?*]{0,200}>\s*)?(?:\{[^{}]{0,200}\}\s*)?(?P<open>[(`])"
)
_BARE: Final = regex(rb"[ \t]*(?![ \t]|[=:.,;)\]}|&?<>*/+]|->|\Z|\n|-[ \t])|[ \t]*(?:\n|\Z|;)")
_DEFINING: Final = regex(
    rb"(?:\b(?:def|function|func|fn|fun|sub|class|struct|interface|trait|type|defp|defmacro|macro|let|procedure)"
    rb"|&)[ \t*]+\Z"
)
_BORROWED: Final = regex(rb"\b(?:in|del|is)\s+\Z")
_DESTRUCTURED: Final = regex(rb"\{[^{}.]{0,500}\}\s*=\s*\Z")
_NOT_HANDED: Final = regex(rb"\s*(?:\.|\?\.|=(?![=>])|:)")
_NEW: Final = regex(rb"\bnew\s+\Z")
_EMPTY: Final = regex(rb"\s*\(\s*\)")
_NOT_WHOLE: Final = regex(rb"\s*(?:[.\[]|\?\.|::|=(?![=>])|\|=)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A sensitive name or node: bytes of the text, what it can do, how it is written."""

    start: int
    end: int
    kind: SensitiveKind
    call: str
    way: Way = "call"
    """As SensitiveCall.way. Languages that are read by names alone tell ``call`` and ``read``."""
    fed: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Of a reference (Reference.names): no sensitive call by itself."""
    here: bool = False
    """Reference.here."""
    beside: bool = False
    """It counts where the text has another one of its kind."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pattern:
    parts: tuple[str, ...]
    kind: SensitiveKind
    use: str
    """The entry's field: ``calls``, ``whole``, ``empty``, ``modules`` or ``words``."""
    unless: re.Pattern[bytes] | None
    given: re.Pattern[bytes] | None
    imported: bool
    lazy: bool = False
    beside: bool = False


@cache
def _patterns(language: Language) -> tuple[dict[str, tuple[_Pattern, ...]], frozenset[bytes]]:
    """Patterns by their last part, and all the words a name must have one of."""
    by_last: dict[str, list[_Pattern]] = {}
    words: set[bytes] = set()
    for entry in language.entries:
        for use, written in _written(entry):
            parts = _parts(written.lower() if language.syntax.fold else written)
            unless = re.compile(entry.unless.encode()) if entry.unless else None
            given = re.compile(entry.given.encode()) if entry.given else None
            pattern = _Pattern(
                parts=parts,
                kind=entry.kind,
                use=use,
                unless=unless,
                given=given,
                imported=entry.imported,
                lazy=entry.lazy or entry.beside,
                beside=entry.beside,
            )
            by_last.setdefault(parts[-1], []).append(pattern)
            words.add(next(part for part in reversed(parts) if part != "*").removesuffix("()").encode())
    words |= {name.encode() for name in shared()[0]}
    return {last: tuple(group) for last, group in by_last.items()}, frozenset(words)


def _written(entry: CallEntry) -> Iterator[tuple[str, str]]:
    for use in ("calls", "whole", "empty", "modules", "words"):
        yield from ((use, written) for written in getattr(entry, use))


def _parts(written: str) -> tuple[str, ...]:
    if "/" not in written:
        return tuple(written.split("."))
    folder, _, rest = written.rpartition("/")
    first, *more = rest.split(".")
    return (f"{folder}/{first}", *more)


def named(
    language: Language,
    text: bytes,
    code: bytes,
    bindings: Bindings,
    declares: Callable[[int, int], bool],
) -> Iterator[Hit]:
    """Every sensitive name in the code. ``declares`` says whether the name at two bytes is a declaration."""
    by_last, words = _patterns(language)
    searched = code
    if language.syntax.fold:
        searched = code.lower()
        names: dict[str, frozenset[tuple[str, ...]]] = {}
        for name, meanings in bindings.names.items():
            folded = {tuple(part.lower() for part in bound) for bound in meanings}
            names[name.lower()] = names.get(name.lower(), frozenset()) | folded
        bindings = Bindings(names=names, stars=bindings.stars)
    known = {part for group in by_last.values() for pattern in group for part in pattern.parts}
    aliases = {
        name.encode()
        for name in bindings.names
        if any(not known.isdisjoint(meaning) for meaning in resolved((name,), bindings))
    }
    for chain in chains(text, searched, words | aliases):
        hit = _hit(language, by_last, (searched, text), chain, bindings)
        if hit is not None and not declares(chain.start, chain.end):
            yield hit


def _hit(
    language: Language,
    by_last: dict[str, tuple[_Pattern, ...]],
    texts: tuple[bytes, bytes],
    chain: Chain,
    bindings: Bindings,
) -> Hit | None:
    code = texts[0]
    written = ".".join(chain.parts)
    for parts in resolved(chain.parts, bindings):
        for length in range(1, len(parts) + 1):
            head = tuple(part.lstrip("$@") if part[:1] in "$@" else part for part in parts[:length])
            ends = length == len(parts)
            made = parts[length:] in (("new",), ("init",))
            for pattern in (*by_last.get(head[-1], ()), *by_last.get("*", ())):
                if _fits(pattern, head) and (
                    (made and pattern.use == "calls") or _used(language, pattern, texts, chain, ends=ends)
                ):
                    way: Way = "make" if pattern.lazy else "call"
                    end = _end(code, chain.end)
                    return Hit(
                        start=chain.start,
                        end=end,
                        kind=pattern.kind,
                        call=written,
                        way=way,
                        beside=pattern.beside,
                    )
    secret = next((part for part in chain.parts if part.lstrip("$") in shared()[0]), None)
    if secret is not None and not language.syntax.fold:
        return Hit(start=chain.start, end=chain.end, kind=SensitiveKind.CREDENTIALS, call=written)
    return None


def _fits(pattern: _Pattern, head: tuple[str, ...]) -> bool:
    wanted = pattern.parts
    if len(wanted) == 1:
        return head == wanted or (pattern.use == "words" and head[-1] == wanted[0])
    if wanted[0] == "*":
        wanted = wanted[1:]
        if len(head) <= len(wanted):
            return False
    if len(head) < len(wanted):
        return False
    return all(want in ("*", part) for want, part in zip(wanted, head[-len(wanted) :], strict=True))


def _used(
    language: Language, pattern: _Pattern, texts: tuple[bytes, bytes], chain: Chain, *, ends: bool
) -> bool:
    """True where the name stands as the pattern needs it: called, or named at all, or taken as a whole."""
    code, text = texts
    if pattern.unless and pattern.unless.search(text[chain.end : _end(code, chain.end)]):
        return False
    if pattern.given and not pattern.given.search(text[chain.end : _end(code, chain.end)]):
        return False
    before = code[max(0, chain.start - 40) : chain.start]
    if pattern.use == "empty":
        return ends and bool(_EMPTY.match(text, chain.end))
    if pattern.use == "modules":
        return ends and not _NOT_HANDED.match(code, chain.end)
    if pattern.use == "whole":
        return ends and not _NOT_WHOLE.match(code, chain.end) and not _borrowed(code, chain.start)
    if pattern.use == "words":
        return True
    if len(pattern.parts) > 1 and pattern.parts[0] != "*":
        return True
    if not ends:
        return False
    if _DEFINING.search(before) or (language.syntax.colon and before.endswith(b":")):
        return False
    called = _CALL.match(code, chain.end) or _NEW.search(before)
    return bool(called) or (language.syntax.bare and bool(_BARE.match(code, chain.end)))


def of_path(
    language: Language, path: tuple[str, ...], *, called: bool, given: bytes = b"", everyday: bool = True
) -> SensitiveKind | None:
    """What a name can do that is known to stand for ``path``; ``called``: it is called or handed on.

    ``given`` are the arguments as written. Without ``everyday``, entries that count only for what
    was imported are left out.
    """
    by_last, _ = _patterns(language)
    for pattern in (*by_last.get(path[-1], ()), *by_last.get("*", ())):
        if pattern.use not in ("calls", "words") or pattern.beside or (pattern.imported and not everyday):
            continue
        if not _fits(pattern, path) or not (called or (len(pattern.parts) > 1 and pattern.parts[0] != "*")):
            continue
        if pattern.unless and pattern.unless.search(given):
            continue
        if pattern.given and not pattern.given.search(given):
            continue
        return pattern.kind
    return None


def _borrowed(code: bytes, start: int) -> bool:
    """True where only named parts are taken: ``X in env``, ``const { X } = env``."""
    before = code[max(0, start - 600) : start]
    return bool(_BORROWED.search(before[-40:]) or _DESTRUCTURED.search(before))


def _end(code: bytes, end: int) -> int:
    called = _CALL.match(code, end)
    return closer(code, called.start("open")) + 1 if called and called["open"] == b"(" else end


@cache
def _phrases(language: Language) -> tuple[tuple[SensitiveKind, re.Pattern[bytes]], ...]:
    return tuple(
        (entry.kind, _phrase(written, fold=language.syntax.fold))
        for entry in language.entries
        for written in entry.phrases
    )


def _phrase(written: str, *, fold: bool) -> re.Pattern[bytes]:
    """Words in this order with only space between; ``*`` is anything within one statement."""
    pattern = rb"(?<![\w.$])" if written[0].isalnum() else b""
    space = b""
    for word in written.split():
        if word == "*":
            pattern, space = pattern + rb"\b[^;]{0,2000}?", b""
            continue
        start = rb"\b" if not space and word[0].isalnum() else b""
        pattern, space = pattern + space + start + re.escape(word.encode()), rb"\s+"
    return re.compile(pattern + (rb"\b" if written[-1].isalnum() else b""), re.IGNORECASE if fold else 0)


def phrased(language: Language, code: bytes) -> Iterator[Hit]:
    """Every sensitive phrase in the code."""
    for kind, pattern in _phrases(language):
        for match in pattern.finditer(code):
            call = " ".join(match[0].decode("utf-8", "replace").split())
            yield Hit(start=match.start(), end=match.end(), kind=kind, call=call[:80])


@cache
def _patterned(language: Language) -> tuple[tuple[SensitiveKind, re.Pattern[bytes]], ...]:
    return tuple(
        (entry.kind, re.compile(written.encode(), re.MULTILINE))
        for entry in language.entries
        for written in entry.patterns
    )


def patterned(language: Language, lines: bytes) -> Iterator[Hit]:
    """What the entries' regular expressions find in the text without its comments."""
    for kind, pattern in _patterned(language):
        for match in pattern.finditer(lines):
            call = " ".join(match[0].decode("utf-8", "replace").split())
            yield Hit(start=match.start(), end=match.end(), kind=kind, call=call[:80])


def star_modules(modules: list[str]) -> tuple[tuple[str, ...], ...]:
    """The modules imported whole, as parts."""
    return tuple(dict.fromkeys(parts for module in modules if (parts := module_parts(module))))
