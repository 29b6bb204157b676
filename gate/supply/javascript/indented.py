"""Indented tables, as pnpm and yarn write their locks: a plain subset of YAML, read line by line.

Keys and values are texts; ``{a: b}`` and ``[a, b]`` on one line become a table and a list. Blocks of text and
everything else of YAML is not understood and skipped. In linear time, whatever the text. Never raises.
"""

from __future__ import annotations

from typing import Final

Value = str | list[str] | dict[str, "Value"]
Table = dict[str, Value]
_DEEPEST: Final = 30


def read_indented(text: str) -> Table:
    """The whole text as one table. Yarn's first format has ``key value`` and several keys before a colon:
    such a line is a key as it stands.
    """
    top: Table = {}
    levels: list[tuple[int, Table]] = [(-1, top)]
    for line in text.split("\n"):
        bare = line.strip()
        if not bare or bare.startswith(("#", "---", "- ")):
            continue
        indent = len(line) - len(line.lstrip(" "))
        while len(levels) > 1 and levels[-1][0] >= indent:
            levels.pop()
        table = levels[-1][1]
        key, value = _split(bare)
        if value == "" and bare.endswith(":") and len(levels) < _DEEPEST:
            below: Table = {}
            table[key] = below
            levels.append((indent, below))
        else:
            table[key] = _value(value)
    return top


def _split(line: str) -> tuple[str, str]:
    """Key and value of ``key: value``, ``key:`` and ``key value``; keys may be quoted, and hold colons
    then.
    """
    if line[0] in "'\"":
        key, end = _quoted(line, 0)
        if line[end : end + 1] == "," and line.endswith(":"):
            return line[:-1], ""
        return key, line[end:].lstrip(":").strip()
    for at, letter in enumerate(line):
        if letter == ":" and line[at + 1 : at + 2] in ("", " "):
            return line[:at], line[at + 1 :].strip()
    if line.endswith(":"):
        return line[:-1], ""
    key, _, value = line.partition(" ")
    return key, value.strip()


def _quoted(text: str, at: int) -> tuple[str, int]:
    """The quoted text that begins there, and the index behind it."""
    quote = text[at]
    out: list[str] = []
    n = at + 1
    while n < len(text):
        if text[n] == "\\" and quote == '"':
            out.append(text[n + 1 : n + 2])
            n += 2
        elif text[n] == quote and quote == "'" and text[n + 1 : n + 2] == "'":
            out.append("'")
            n += 2
        elif text[n] == quote:
            return "".join(out), n + 1
        else:
            out.append(text[n])
            n += 1
    return "".join(out), n


def _value(text: str) -> Value:
    if text.startswith("{") and text.endswith("}"):
        pairs = (_split(part) for part in _parts(text[1:-1]))
        return {key: _plain(value) for key, value in pairs}
    if text.startswith("[") and text.endswith("]"):
        return [_plain(part) for part in _parts(text[1:-1])]
    return _plain(text)


def _plain(text: str) -> str:
    return _quoted(text, 0)[0] if text[:1] in ("'", '"') else text


def _parts(text: str) -> list[str]:
    """Between commas that stand in no quotes."""
    parts: list[str] = []
    start = at = 0
    while at < len(text):
        if text[at] in "'\"":
            at = _quoted(text, at)[1]
            continue
        if text[at] == ",":
            parts.append(text[start:at].strip())
            start = at + 1
        at += 1
    return [part for part in (*parts, text[start:].strip()) if part]
