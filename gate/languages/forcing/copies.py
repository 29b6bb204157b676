"""Instrumented copies of one file, as edits: for the limited child, which reads hostile text."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from gate.languages.forcing.javascript.copy import JavaScriptCopy
from gate.languages.forcing.places import place_of
from gate.languages.forcing.script_conditions import conditions
from gate.languages.forcing.shell_copy import ShellCopy
from gate.languages.tree_sitter_parse import parse
from gate.model.forced import Condition, ForcedCopy

MOST_PACKED: Final = 24_000
"""Characters of a packed copy: it goes through a pipe that nobody reads yet, and on a command line."""
GRAMMARS: Final = {
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
}  # fmt: skip
_PER_FILE: Final = 20


def make_copies(path: str, data: bytes, options: Mapping[str, Any]) -> tuple[ForcedCopy, ...]:
    """For gate/languages/limited_child.py. ``options``: ``targets``, lines and columns by path; ``shell``,
    the paths of shell scripts.
    """
    places: Sequence[Sequence[int]] = options["targets"].get(path, ())[:_PER_FILE]
    if path in options.get("shell", ()):
        root = parse(data, "bash")
        return tuple(
            ForcedCopy(line=line, column=column, ways=(packed,))
            for line, column in places
            if len(packed := pack(ShellCopy(root, place_of(data, line, column)).edits())) <= MOST_PACKED
        )
    grammar = GRAMMARS.get(PurePosixPath(path).suffix)
    if grammar is None:
        return ()
    root = parse(data, grammar)
    found = []
    for line, column in places:
        place = place_of(data, line, column)
        ways: list[str] = []
        module = False
        for both in (False, True):
            copy = JavaScriptCopy(root, place, both=both)
            module = copy.module
            packed = pack(copy.edits())
            if len(packed) <= MOST_PACKED and packed not in ways:
                ways.append(packed)
        found.append(ForcedCopy(line=line, column=column, ways=tuple(ways), module=module))
    return tuple(found)


def read_conditions(path: str, data: bytes, options: Mapping[str, Any]) -> tuple[Condition, ...]:
    """For gate/languages/limited_child.py: the conditions of one file. ``options``: ``shell``, as above."""
    shell = path in options.get("shell", ())
    grammar = "bash" if shell else GRAMMARS.get(PurePosixPath(path).suffix)
    return tuple(conditions(parse(data, grammar), shell=shell)) if grammar else ()


def pack(edits: Iterable[tuple[int, int, str]]) -> str:
    """Edits as a text of letters and digits."""
    raw = json.dumps(list(edits), separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(raw, 9)).decode("ascii")
