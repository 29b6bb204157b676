"""The door of the limited child: one file read as flows."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from gate.languages.child_worker import share
from gate.languages.limited_child import PER_FILE
from gate.taint.facts import FileFlows
from gate.taint.language import Language
from gate.taint.languages import LANGUAGES
from gate.taint.table import lowered
from gate.taint.walk import Walk

_SHARE: Final = 0.6
"""Of a file's processor time, for following values."""
_NESTED: Final = 4000


def language_of(path: str) -> Language | None:
    """The language of a file by its ending."""
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())


_BY_SUFFIX: Final = {suffix: one for one in LANGUAGES for suffix in one.suffixes}


def read(path: str, data: bytes, options: Mapping[str, object]) -> FileFlows:
    """All flows of one file. RecursionError and MemoryError are the child's business."""
    del options
    language = language_of(path)
    if language is None:
        return FileFlows([], [], [], [])
    sys.setrecursionlimit(_NESTED)
    suffix = PurePosixPath(path).suffix.lower()
    grammar = language.grammar
    if language.name == "javascript":
        grammar = {".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx"}.get(
            suffix, grammar
        )
    program = lowered(data, grammar)
    text = data.decode("utf-8", "replace")
    until = time.process_time() + _SHARE * share(PER_FILE, len(data))
    return Walk(language, text, until).read(program)
