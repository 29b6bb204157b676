"""Finds the strings of a Python text without an interpreter that knows its grammar, down to their fields.

f-strings as PEP 701 has them (Python 3.12: any expression, with the same quotes, backslashes, comments and
new lines) and template strings (PEP 750, 3.14), which are written the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.regex import regex

_WORD: Final = regex(r"[^\W\d]\w*")
_PREFIXES: Final = frozenset(("r", "b", "u", "f", "t", "br", "rb", "fr", "rf", "tr", "rt"))
_OPEN, _CLOSE = "([{", ")]}"
_DEEPEST: Final = 60


class UnreadableError(Exception):
    """No Python of any version, as far as this goes."""


@dataclass(frozen=True, slots=True)
class Field:
    """One ``{...}``: where its expression stands, conversion letter, parts of its format, text of ``=``."""

    start: int
    end: int
    conversion: str
    spec: tuple[str | Field, ...] | None
    debug: str


@dataclass(frozen=True, slots=True)
class Text:
    """One string token. ``parts`` only of f-strings: literal text as written, and fields."""

    start: int
    end: int
    prefix: str
    quote: str
    parts: tuple[str | Field, ...] | None
    line_start: int
    """Number of the logical line it stands on: strings of one group share it."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, an operator or a bracket outside strings and comments. ``depth``: open brackets before it."""

    start: int
    text: str
    depth: int
    first: bool
    """The first of its logical line."""


def tokens(source: str, at: int = 0, end: int | None = None) -> Iterator[Token | Text]:
    """All tokens from ``at`` on. Raises UnreadableError."""
    end = len(source) if end is None else end
    depth, line, first = 0, 0, True
    while at < end:
        char = source[at]
        if char in " \t\f\r":
            at += 1
        elif char == "\\":
            at += 2
        elif char == "#":
            at = _line_end(source, at, end)
        elif char == "\n":
            if not depth:
                line, first = line + 1, True
            at += 1
        elif (text := string_at(source, at, end, line, 0)) is not None:
            yield text
            at, first = text.end, False
        else:
            word = _WORD.match(source, at, end)
            token = Token(at, word[0] if word else char, depth, first)
            depth += (char in _OPEN) - (char in _CLOSE)
            first = char == ";" and not depth
            yield token
            at += len(token.text)


def string_at(source: str, at: int, end: int, line: int, deep: int) -> Text | None:
    """The string that begins there, if one does. Raises UnreadableError."""
    word = _WORD.match(source, at, end)
    prefix = word[0].lower() if word else ""
    after = at + len(prefix)
    if (prefix and prefix not in _PREFIXES) or source[after : after + 1] not in ("'", '"'):
        return None
    if deep > _DEEPEST:
        raise UnreadableError
    quote = source[after]
    if source.startswith(quote * 3, after):
        quote *= 3
    after += len(quote)
    if "f" in prefix or "t" in prefix:
        parts, after = _parts(source, after, end, quote, "r" in prefix, deep)
        return Text(at, after, prefix, quote, parts, line)
    return Text(at, _plain_end(source, after, end, quote), prefix, quote, None, line)


def _line_end(source: str, at: int, end: int) -> int:
    found = source.find("\n", at, end)
    return end if found < 0 else found


def _plain_end(source: str, at: int, end: int, quote: str) -> int:
    while at < end:
        if source[at] == "\\":
            at += 2
        elif source.startswith(quote, at):
            return at + len(quote)
        elif source[at] == "\n" and len(quote) == 1:
            raise UnreadableError
        else:
            at += 1
    raise UnreadableError


def _parts(
    source: str, at: int, end: int, quote: str, raw: bool, deep: int
) -> tuple[tuple[str | Field, ...], int]:
    """Literal text and fields up to the closing quote, and where that ends."""
    out: list[str | Field] = []
    text: list[str] = []
    while at < end:
        char = source[at]
        if source.startswith(quote, at):
            _flush(out, text)
            return tuple(out), at + len(quote)
        if char == "\\":
            step = _escape(source, at, raw)
            text.append(source[at : at + step])
            at += step
        elif char in "{}" and source.startswith(char * 2, at):
            text.append(char)
            at += 2
        elif char == "{":
            _flush(out, text)
            field, at = _field(source, at + 1, end, quote, raw, deep)
            out.append(field)
        elif char == "}" or (char == "\n" and len(quote) == 1):
            raise UnreadableError
        else:
            text.append(char)
            at += 1
    raise UnreadableError


def _flush(out: list[str | Field], text: list[str]) -> None:
    if text:
        out.append("".join(text))
        text.clear()


def _escape(source: str, at: int, raw: bool) -> int:
    """How many characters belong to the backslash there."""
    following = source[at + 1 : at + 2]
    if following in ("{", "}"):
        return 1
    if not raw and source.startswith("N{", at + 1):
        close = source.find("}", at)
        if close > 0:
            return close + 1 - at
    return 2


def _field(source: str, at: int, end: int, quote: str, raw: bool, deep: int) -> tuple[Field, int]:
    """The field whose expression begins at ``at``, and where its closing brace ends."""
    start = at
    at, last = _expression_end(source, at, end, deep)
    stop, debug = at, ""
    if source[last] == "=" and source[last - 1] not in "=!<>":
        debug, stop = source[start:stop], last
    conversion = ""
    if source[at] == "!":
        word = _WORD.match(source, at + 1)
        conversion = word[0] if word else ""
        if conversion not in ("r", "s", "a"):
            raise UnreadableError
        at += 2
        while at < end and source[at] in " \t\n":
            at += 1
    spec: tuple[str | Field, ...] | None = None
    if source.startswith(":", at):
        spec, at = _spec(source, at + 1, end, quote, raw, deep)
    if not source.startswith("}", at):
        raise UnreadableError
    return Field(start, stop, conversion, spec, debug), at + 1


def _expression_end(source: str, at: int, end: int, deep: int) -> tuple[int, int]:
    """Where ``!``, ``:`` or ``}`` ends the expression, and its last character that is no blank or comment."""
    depth, last = 0, at
    while at < end:
        char = source[at]
        if not depth and (char in ":}" or (char == "!" and not source.startswith("!=", at))):
            return at, last
        if char == "#":
            at = _line_end(source, at, end)
        elif (text := string_at(source, at, end, 0, deep + 1)) is not None:
            at = text.end
            last = at - 1
        else:
            depth += (char in _OPEN) - (char in _CLOSE)
            word = _WORD.match(source, at, end)
            at += len(word[0]) if word else 2 if source.startswith("!=", at) else 1
            last = last if char.isspace() else at - 1
    raise UnreadableError


def _spec(
    source: str, at: int, end: int, quote: str, raw: bool, deep: int
) -> tuple[tuple[str | Field, ...], int]:
    """The parts of a format specification, and where the brace that ends it stands."""
    out: list[str | Field] = []
    text: list[str] = []
    if deep > _DEEPEST:
        raise UnreadableError
    while at < end:
        char = source[at]
        if char == "}":
            _flush(out, text)
            return tuple(out), at
        if char == "{":
            _flush(out, text)
            field, at = _field(source, at + 1, end, quote, raw, deep + 1)
            out.append(field)
        elif source.startswith(quote, at) or (char == "\n" and len(quote) == 1):
            raise UnreadableError
        else:
            step = _escape(source, at, raw) if char == "\\" else 1
            text.append(source[at : at + step])
            at += step
    raise UnreadableError
