"""Translated texts of gettext's catalogues: each translation by the text that it stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.prescreen.identities.written import Written

_MOST: Final = 60_000


def catalogue(text: str) -> Iterator[Written]:
    """``msgid`` is the key, ``msgstr`` (also of plurals) the value. Texts over several lines are one."""
    key, kind, parts, start = "", "", [""], 1
    for number, line in enumerate([*text.split("\n")[:_MOST], "msgid"], 1):
        stripped = line.strip()
        word, _, rest = stripped.partition(" ")
        if word.startswith(("msgid", "msgstr", "msgctxt")):
            if kind == "msgid":
                key = "".join(parts)
            elif kind == "msgstr" and key:
                yield Written((key[:200],), "".join(parts), start)
            kind = "msgid" if word == "msgid" else "msgstr" if word.startswith("msgstr") else ""
            parts, start = [_bare(rest)], number
        elif stripped.startswith('"'):
            parts.append(_bare(stripped))


def _bare(text: str) -> str:
    try:
        value = ast.literal_eval(text) if text.startswith('"') and len(text) < 10_000 else ""
    except (SyntaxError, ValueError, MemoryError):
        return text.strip('"')
    return value if isinstance(value, str) else ""
