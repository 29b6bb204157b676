"""Variables of nginx that hold another one: ``map``, ``set`` and the named groups of patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gate.regex import regex

_VARIABLE: Final = regex(r"\$\{?(\w{1,80})\}?")
_GROUP: Final = regex(r"\(\?P?<(\w{1,80})>")
_DEEP: Final = 4

Sources = Mapping[str, str]
"""By the name of a variable, the text that it is made of."""


def sources_of(directives: Iterable[tuple[list[str], str]]) -> dict[str, str]:
    """What each variable is made of; directives with the block that they stand in, and blocks with none.

    What a map chooses among constants says nothing of what it asked about.
    """
    found: dict[str, str] = {}
    for words, block in directives:
        around = block.split()
        if words[:1] == ["set"] and len(words) > 2 and words[1].startswith("$"):
            found[words[1].strip("${}")] = " ".join(words[2:])
        elif around[:1] == ["map"] and len(around) > 2 and any("$" in value for value in words[1:]):
            target = around[-1].strip("${}")
            found[target] = " ".join((found.get(target, ""), *around[1:-1], *words[1:])).strip()
        elif words[:1] == ["if"] and len(words) > 1:
            asked = _VARIABLE.search(words[1])
            names = _GROUP.findall(" ".join(words)) if asked else []
            found |= {name: f"${asked[1]}" for name in names if asked}
    return found


def resolved(text: str, sources: Sources) -> str:
    """The same text with what its variables are made of."""
    for _ in range(_DEEP):
        names = [name for name in dict.fromkeys(_VARIABLE.findall(text)) if name in sources]
        more = [sources[name] for name in names if sources[name] not in text]
        if not more:
            break
        text = " ".join((text, *more))
    return text
