"""Where in a manifest or a lock file a name stands: a lock has thousands of names to look up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from gate.model.location import Location
from gate.prescreen.interface import Source
from gate.regex import regex

_WORDS: Final = regex(r"[\w-]+")
_SEPARATORS: Final = str.maketrans("_.", "--")
_SEARCHES: Final = 300


def line_naming(source: Source, needle: str) -> Location:
    """The first changed line that names it, else the first that does, else the file."""
    lines = _Lines.of(source.head).naming(needle) if needle else ()
    best = next((n for n in lines if source.changed.touches(n)), lines[0] if lines else None)
    return Location(path=source.path, line=best)


class _Lines:
    """The lines of a manifest by the words on them: a lock file has thousands of names to look up."""

    def __init__(self, data: bytes) -> None:
        self._text = _plain(data.decode("utf-8", "replace"))
        self._words: dict[str, list[int]] = {}
        self._searches = 0
        for number, line in enumerate(self._text.split("\n"), 1):
            for word in dict.fromkeys(_WORDS.findall(line)):
                self._words.setdefault(word, []).append(number)

    @classmethod
    @lru_cache(maxsize=4)
    def of(cls, data: bytes) -> _Lines:
        """The lines of these bytes, read once."""
        return cls(data)

    def naming(self, needle: str) -> Sequence[int]:
        """The lines with this word, or (for the first few hundred askings) with this text in them."""
        plain = _plain(needle)
        found = self._words.get(plain)
        if found is not None:
            return found
        self._searches += 1
        at = self._text.find(plain) if self._searches <= _SEARCHES else -1
        return (self._text.count("\n", 0, at) + 1,) if at >= 0 else ()


def _plain(text: str) -> str:
    r"""Lower case, one separator, line ends as ``\n``: names are equal as the index compares them."""
    return "\n".join(text.splitlines()).lower().translate(_SEPARATORS)
