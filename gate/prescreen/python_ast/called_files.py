"""Files that a change does not touch, and whose functions it newly gives what outsiders decide.

``store.list_notes(self.get_argument("order"))`` in a changed handler makes the query in ``store.py`` a
weakness, though not a line of that file changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from gate.languages.path_roles import is_test
from gate.model.change import Tree
from gate.prescreen.interface import View
from gate.prescreen.python_ast.outside_calls import Passed, callers_of, candidates_in, is_marked
from gate.prescreen.python_ast.stored.tree import STORED_SINKS
from gate.regex import regex

_WORD: Final = regex(rb"\w+")
_DEFINED: Final = regex(rb"^\s*(?:async )?def ([a-z]\w*)\(", re.MULTILINE)
_SINKS: Final = tuple(word.encode() for word in STORED_SINKS)
_MOST: Final = 60


def called_files(views: Sequence[View], tree: Tree, names: frozenset[str]) -> list[tuple[str, bytes]]:
    """The files of ``tree`` outside of ``names`` (those of the change) that these views name, with a call in
    them that may be a sink; empty where no view knows of requests, models or tools.
    """
    texts = [view.text.encode("utf-8", "surrogatepass") for view in views]
    if not any(is_marked(text) for text in texts):
        return []
    said = {word for text in texts for word in _WORD.findall(text)}
    found = [
        (path, text)
        for path, text in candidates_in(tree)
        if path not in names and not is_test(path) and any(word in text for word in _SINKS)
        and _is_named(path, text, said)
    ]  # fmt: skip
    return found[:_MOST]


def _is_named(path: str, text: bytes, said: set[bytes]) -> bool:
    """True where the module or its folder is named, and one of the functions that it defines."""
    stem = path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2].encode()
    defined = {name for name in _DEFINED.findall(text) if name in said}
    return bool(defined) and (stem in said or any(b"_" in name.strip(b"_") for name in defined))


def passed_by(views: Sequence[View], files: Sequence[tuple[str, bytes]]) -> Mapping[str, Passed]:
    """What the views pass to functions of these files that outsiders decide."""
    texts = [(view.path, view.text.encode("utf-8", "surrogatepass")) for view in views]
    return callers_of(texts, dict(files)).passed


def view_of(path: str, text: bytes, of: View) -> View:
    """A file that did not change as a view, so that it can be looked at and quoted."""
    return View(
        path=path, side=of.side, language="python", source=of.source, text=text.decode("utf-8", "replace"),
        file=Path(path),
    )  # fmt: skip
