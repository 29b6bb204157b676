"""Which files coding agents take instructions from: those by their name, and those that they are sent to.

``AGENTS.md`` says "read docs/guide.md first", or ``@docs/guide.md``: then the guide is part of it. A guide
for agents by its own name counts as well, wherever it lies.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from typing import Final

from gate.model.change import Tree
from gate.regex import regex

_WHO: Final = r"(?:ai|llms?|agents?|coding-agents?|assistants?|copilot|claude|cursor|codex|gemini)"
_WHAT: Final = (
    r"(?:guides?|guidelines?|guidance|instructions?|rules|conventions?|policy|policies|handbook|notes)"
)
_GUIDE: Final = regex(
    rf"(?:^|/)(?:{_WHO}[-_ ]{_WHAT}|(?:working-with|for|with)[-_ ]{_WHO})\.(?:mdc?|mdx|txt|rst|adoc)$",
    re.IGNORECASE,
)
_NAMED: Final = regex(r"[\w@.~/-]{1,200}\.(?:md|mdc|mdx|txt|rst|adoc)\b", re.IGNORECASE)
_PROSE: Final = (".md", ".mdc", ".mdx", ".txt", ".rst", ".adoc")
_FILES: Final = 30
_LONGEST: Final = 1 << 17


def is_guide(path: str) -> bool:
    """Is this a guide for coding agents by its own name?"""
    return bool(_GUIDE.search(path)) and not re.search(r"(?:^|/)(?:tests?|fixtures|node_modules)/", path)


def read_by_agents(tree: Tree, is_agents: Callable[[str], object], wanted: Iterable[str]) -> frozenset[str]:
    """Of ``wanted`` paths those that a file for agents of this side names, also through one of them."""
    left = {path for path in wanted if path.lower().endswith(_PROSE)}
    if not left:
        return frozenset()
    paths = {entry.path for entry in tree.entries() if entry.size <= _LONGEST}
    waiting = sorted(path for path in paths if is_agents(path) and path.lower().endswith(_PROSE))[:_FILES]
    seen = set(waiting)
    found: set[str] = set()
    for _ in range(3):
        named: list[str] = []
        for path, data in tree.read_many(tuple(waiting)):
            for word in _NAMED.findall(data.decode("utf-8", "replace")):
                named += [one for one in _resolved(path, word) if one in paths and one not in seen]
        waiting = sorted(set(named))[:_FILES]
        seen.update(waiting)
        found.update(left.intersection(waiting))
        if not waiting:
            break
    return frozenset(found)


def _resolved(path: str, word: str) -> tuple[str, str]:
    bare = word.lstrip("@").removeprefix("./")
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), bare))
    return beside, posixpath.normpath(bare.lstrip("/"))
